/* Copies, scalar by scalar: each in its own bounds, as both sides may lie in memory in ways of their own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

#define DEEPEST 64u

/* One side: where the path leads, and what the way from there to the scalar adds. */
typedef struct side {
  cgen_place place;
  uint64_t fixed;
  uint32_t lane_stride;
  uint64_t strides[DEEPEST]; /* by loop */
} side;

typedef struct copy {
  uint32_t row, depth; /* loops around */
  side to, from;
} copy;

static void
put_offset(cgen *g, const copy *c, const side *s, const char *name, uint64_t more)
{
  cgen_put(g, "%s", name);
  for (uint32_t i = 0; i < c->depth; i++)
    if (s->strides[i])
      cgen_put(g, " + %" PRIu64 " * k_%u", s->strides[i], i);
  if (s->fixed + more)
    cgen_put(g, " + %" PRIu64, s->fixed + more);
}

/* " && to + 4 <= x_n" */
static void
put_measure(cgen *g, const copy *c, const side *s, const char *name, uint64_t more)
{
  cgen_put(g, "%s_in", name);
  if (!code_is_outside(&g->memory, s->place.at.buffer) || s->place.at.vouched)
    return;
  cgen_put(g, " && ");
  put_offset(g, c, s, name, more);
  cgen_put(g, " <= ");
  cgen_put_size(g, &s->place);
}

static void
copy_lane(cgen *g, const copy *c, vyre_kind kind, uint32_t lane)
{
  const uint32_t size = vyre_kind_bytes(kind);
  const bool narrow = kind != VYRE_BOOL && size < 4;
  const uint64_t to = (uint64_t)lane * c->to.lane_stride, from = (uint64_t)lane * c->from.lane_stride;
  cgen_begin_line(g);
  cgen_put(g, "if (");
  put_measure(g, c, &c->to, "to", to + size);
  cgen_put(g, ")\n");
  g->indent++;
  cgen_begin_line(g);
  cgen_call(g, "store", cgen_plain(kind));
  cgen_put_base(g, &c->to.place);
  cgen_put(g, " + ");
  put_offset(g, c, &c->to, "to", to);
  cgen_put(g, ", ");
  if (!c->from.place.at.never) {
    if (narrow)
      cgen_put(g, "(%s)(", cgen_type_name(kind));
    put_measure(g, c, &c->from, "of", from + size);
    cgen_put(g, " ? ");
    cgen_call(g, "load", cgen_plain(kind));
    cgen_put_base(g, &c->from.place);
    cgen_put(g, " + ");
    put_offset(g, c, &c->from, "of", from);
    cgen_put(g, ") : ");
  }
  cgen_literal(g, kind, 0);
  cgen_put(g, narrow && !c->from.place.at.never ? "));\n" : ");\n");
  g->indent--;
}

static void copy_type(cgen *g, copy *c, vyre_type_id type);

static void
copy_struct(cgen *g, copy *c, const vyre_type_info *info)
{
  for (uint32_t k = 0; k < info->count; k++) {
    const vyre_type_id part = info->members[k].type;
    const uint64_t to = c->to.fixed, from = c->from.fixed;
    c->to.fixed += code_member_offset(&g->memory, c->to.place.at.buffer, info, k);
    c->from.fixed += code_member_offset(&g->memory, c->from.place.at.buffer, info, k);
    c->to.lane_stride = c->from.lane_stride = part < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)part)) : 0;
    copy_type(g, c, part);
    c->to.fixed = to;
    c->from.fixed = from;
  }
}

/* Types nest: there is one `copy` for all levels, and a level's frame is small. */
static void
copy_type(cgen *g, copy *c, vyre_type_id type)
{
  if (type < 256) {
    for (uint32_t k = 0; k < VYRE_TYPE_LANES((vyre_type)type); k++)
      copy_lane(g, c, VYRE_TYPE_KIND((vyre_type)type), k);
    return;
  }
  const vyre_type_info info = vyre_type_get(g->module, type);
  const uint64_t count = code_count_of(&g->memory, type);
  if (info.form == VYRE_FORM_STRUCT) {
    copy_struct(g, c, &info);
    return;
  }
  if (count == 0 || c->depth == DEEPEST)
    return;
  c->to.strides[c->depth] = code_part_stride(&g->memory, c->to.place.at.buffer, &info, &c->to.lane_stride);
  c->from.strides[c->depth] = code_part_stride(&g->memory, c->from.place.at.buffer, &info, &c->from.lane_stride);
  cgen_line(g, "for (size_t k_%u = 0; k_%u < %" PRIu64 "u; k_%u++) {", c->depth, c->depth, count, c->depth);
  c->depth++;
  g->indent++;
  copy_type(g, c, info.element);
  g->indent--;
  c->depth--;
  cgen_line(g, "}");
}

/* "const bool to_in = i < 4u;" and "const size_t to = 4 * (size_t)i;" */
static void
begin_side(cgen *g, const side *s, const char *name)
{
  const cgen_place *p = &s->place;
  if (p->at.never)
    return;
  cgen_open_place(g, p);
  cgen_begin_line(g);
  cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "const bool %s_in = ", name);
  if (!cgen_put_terms(g, p, false)) /* each scalar is measured by itself */
    cgen_put(g, "true");
  cgen_put(g, ";\n");
  cgen_begin_line(g);
  cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "const size_t %s = ", name);
  cgen_put_offset(g, &s->place, 0);
  cgen_put(g, ";\n");
}

void
cgen_copy(cgen *g, uint32_t row)
{
  copy c = {.row = row};
  if (!cgen_place_of(g, row, g->v->a[row], &c.to.place) || !cgen_place_of(g, row, g->v->b[row], &c.from.place) ||
      c.to.place.at.never)
    return;
  if (c.to.place.at.choices || c.from.place.at.choices) {
    cgen_fail(g, row, "a copy of arrays of buffers\nFix: copy what is in each");
    return;
  }
  c.to.lane_stride = c.to.place.at.lane_stride;
  c.from.lane_stride = c.from.place.at.lane_stride;
  cgen_line(g, "{");
  g->indent++;
  begin_side(g, &c.to, "to");
  begin_side(g, &c.from, "of");
  copy_type(g, &c, c.to.place.at.type);
  g->indent--;
  cgen_line(g, "}");
}
