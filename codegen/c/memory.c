/* Loads and stores.  Out of bounds a load yields zero, and a store does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

void
cgen_load(cgen *g, uint32_t row)
{
  const vyre_kind kind = cgen_kind(g, row), plain = cgen_plain(kind);
  const uint32_t lanes = cgen_lanes(g, row);
  const bool narrow = kind != VYRE_BOOL && vyre_kind_bits(kind) < 32;
  cgen_place p;
  if (!cgen_place_of(g, row, g->v->a[row], &p))
    return;
  const bool bounded = cgen_put_bounds(g, &p, code_extent(&p.at, lanes, kind), true);
  cgen_open_place(g, &p);
  if (bounded && !p.at.never && lanes > 1) {
    cgen_begin_line(g);
    cgen_mark(g, &g->marks, CGEN_MARK_LINE);
    cgen_put(g, "const bool in_%u = ", row - g->program);
    cgen_put_bounds(g, &p, code_extent(&p.at, lanes, kind), false);
    cgen_put(g, ";\n");
  }
  for (uint32_t k = 0; k < lanes; k++) {
    cgen_begin_definition(g, row, kind, UINT32_MAX, lanes > 1 ? k : UINT32_MAX);
    if (bounded && !p.at.never) {
      if (narrow)
        cgen_put(g, "(%s)(", cgen_type_name(kind));
      if (lanes > 1)
        cgen_put(g, "in_%u", row - g->program);
      else
        cgen_put_bounds(g, &p, code_extent(&p.at, lanes, kind), false);
      cgen_put(g, " ? ");
    }
    if (!p.at.never) {
      cgen_call(g, "load", plain);
      cgen_put_address(g, &p, (uint64_t)k * p.at.lane_stride);
      cgen_put(g, bounded ? ") : " : ")");
    }
    if (bounded)
      cgen_literal(g, kind, 0);
    cgen_put(g, narrow && bounded && !p.at.never ? ");\n" : ";\n");
  }
}

void
cgen_store(cgen *g, uint32_t row)
{
  const uint32_t value = g->v->b[row], lanes = cgen_lanes(g, value);
  const vyre_kind kind = cgen_kind(g, value);
  cgen_place p;
  if (!cgen_place_of(g, row, g->v->a[row], &p) || p.at.never)
    return;
  const bool bounded = cgen_put_bounds(g, &p, code_extent(&p.at, lanes, kind), true);
  cgen_open_place(g, &p);
  if (bounded) {
    cgen_begin_line(g);
    cgen_put(g, "if (");
    cgen_put_bounds(g, &p, code_extent(&p.at, lanes, kind), false);
    cgen_put(g, lanes > 1 ? ") {\n" : ")\n");
    g->indent++;
  }
  for (uint32_t k = 0; k < lanes; k++) {
    cgen_begin_line(g);
    cgen_call(g, "store", cgen_plain(kind));
    cgen_put_address(g, &p, (uint64_t)k * p.at.lane_stride);
    cgen_put(g, ", ");
    cgen_value(g, value, k, false);
    cgen_put(g, ");\n");
  }
  g->indent -= bounded;
  if (bounded && lanes > 1)
    cgen_line(g, "}");
}
