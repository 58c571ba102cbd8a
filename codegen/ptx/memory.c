/* Loads and stores: in bounds they touch the buffer's bytes, else a load gives zero and a store does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

static uint64_t
extent(const place *p, uint32_t lanes, vyre_kind kind)
{
  return (uint64_t)(lanes - 1) * p->lane_stride + pgen_scalar_size(kind);
}

/* How it lies in memory: a bool has 4 bytes. */
static const char *
unit_of(vyre_kind kind)
{
  switch (pgen_scalar_size(kind)) {
  case 1:
    return "u8";
  case 2:
    return kind == VYRE_F16 ? "b16" : "u16";
  case 8:
    return "b64";
  default:
    return "b32";
  }
}

static void
put_address(gen *g, address a)
{
  pgen_put(g, a.offset ? "[%%d%u+%" PRIu64 "]" : "[%%d%u]", a.base.number, a.offset);
}

static void
put_guard(gen *g, reg guard)
{
  if (guard.klass)
    pgen_put(g, "\t@%%p%u ", guard.number);
  else
    pgen_put(g, "\t");
}

reg
pgen_load_scalar(gen *g, const char *how, vyre_kind kind, address a, reg guard)
{
  const reg_class klass = kind == VYRE_BOOL ? REG_32 : class_of(kind);
  const reg to = pgen_new(g, klass);
  if (guard.klass)
    pgen_move(g, to, lit(0));
  put_guard(g, guard);
  pgen_put(g, "%s.%s.%s ", how, a.space, unit_of(kind));
  pgen_put_reg(g, to);
  pgen_put(g, ", ");
  put_address(g, a);
  pgen_put(g, ";\n");
  return kind == VYRE_BOOL ? PRED(g, "setp.ne.u32", to, lit(0)) : to;
}

void
pgen_store_scalar(gen *g, const char *how, vyre_kind kind, address a, reg value, reg guard)
{
  if (kind == VYRE_BOOL)
    value = MAKE32(g, "selp.u32", lit(1), lit(0), value);
  value = pgen_in_register(g, class_of(kind == VYRE_BOOL ? VYRE_U32 : kind), value);
  put_guard(g, guard);
  pgen_put(g, "%s.%s.%s ", how, a.space, unit_of(kind));
  put_address(g, a);
  pgen_put(g, ", ");
  pgen_put_reg(g, value);
  pgen_put(g, ";\n");
}

/* Only what others may see while it runs has an order at all. */
static const char *
manner(const gen *g, uint32_t row, const place *p, const char *op, char text[64])
{
  const uint32_t flags = VYRE_ROW_FLAGS(g->v->op[row]), access = g->v->imm_hi[p->buffer];
  const bool shared = p->space == VYRE_SPACE_STORAGE || p->space == VYRE_SPACE_WORKGROUP;
  if (shared && ((flags & VYRE_ROW_VOLATILE) || (access & VYRE_ACCESS_VOLATILE)))
    return pgen_format(text, "%s.volatile", op);
  if (shared && ((flags & VYRE_ROW_COHERENT) || (access & VYRE_ACCESS_COHERENT)))
    return pgen_format(text, "%s.relaxed.%s", op, p->space == VYRE_SPACE_STORAGE ? "gpu" : "cta");
  return pgen_format(text, "%s", op);
}

void
pgen_load(gen *g, uint32_t row)
{
  const vyre_kind kind = kind_of(g, row);
  const uint32_t lanes = lanes_of(g, row);
  char how[64];
  place p;
  if (!pgen_place_of(g, row, g->v->a[row], &p))
    return;
  if (p.never) {
    for (uint32_t k = 0; k < lanes; k++)
      pgen_define(g, row, k, pgen_literal(g, kind, 0));
    return;
  }
  pgen_open_place(g, &p);
  const reg guard = pgen_in_bounds(g, &p, extent(&p, lanes, kind));
  const address a = pgen_address(g, &p);
  manner(g, row, &p, "ld", how);
  for (uint32_t k = 0; k < lanes; k++)
    pgen_define(g, row, k, pgen_load_scalar(g, how, kind, pgen_address_after(g, a, (uint64_t)k * p.lane_stride), guard));
}

void
pgen_store(gen *g, uint32_t row)
{
  const uint32_t value = g->v->b[row], lanes = lanes_of(g, value);
  const vyre_kind kind = kind_of(g, value);
  char how[64];
  place p;
  if (!pgen_place_of(g, row, g->v->a[row], &p) || p.never)
    return;
  pgen_open_place(g, &p);
  const reg guard = pgen_in_bounds(g, &p, extent(&p, lanes, kind));
  const address a = pgen_address(g, &p);
  manner(g, row, &p, "st", how);
  for (uint32_t k = 0; k < lanes; k++)
    pgen_store_scalar(g, how, kind, pgen_address_after(g, a, (uint64_t)k * p.lane_stride), pgen_value(g, value, k), guard);
}
