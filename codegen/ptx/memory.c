/* Loads and stores.  Out of bounds a load yields zero, and a store does nothing.  Adjacent lanes are one access, if their
 * address is known to be a multiple of the access's size.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

/* Returns the type of a scalar in memory.  A bool has 4 bytes. */
static const char *
unit_of(vyre_kind kind)
{
  switch (vyre_kind_bytes(kind)) {
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

static void
put_registers(gen *g, const reg *regs, uint32_t count)
{
  if (count > 1)
    pgen_put(g, "{");
  for (uint32_t k = 0; k < count; k++) {
    pgen_put(g, k ? ", " : "");
    pgen_put_reg(g, regs[k]);
  }
  if (count > 1)
    pgen_put(g, "}");
}

/* ".v4" */
static const char *
vector_of(uint32_t count)
{
  return count == 4 ? ".v4" : count == 2 ? ".v2" : "";
}

/* Loads 1, 2 or 4 scalars. */
static void
load_scalars(gen *g, const char *how, vyre_kind kind, address a, reg guard, uint32_t count, reg *out)
{
  for (uint32_t k = 0; k < count; k++) {
    out[k] = pgen_new(g, kind == VYRE_BOOL ? REG_32 : class_of(kind));
    if (guard.klass)
      pgen_move(g, out[k], lit(0));
  }
  put_guard(g, guard);
  pgen_put(g, "%s.%s%s.%s ", how, a.space, vector_of(count), unit_of(kind));
  put_registers(g, out, count);
  pgen_put(g, ", ");
  put_address(g, a);
  pgen_put(g, ";\n");
  for (uint32_t k = 0; k < count && kind == VYRE_BOOL; k++)
    out[k] = PRED(g, "setp.ne.u32", out[k], lit(0));
}

reg
pgen_load_scalar(gen *g, const char *how, vyre_kind kind, address a, reg guard)
{
  reg out;
  load_scalars(g, how, kind, a, guard, 1, &out);
  return out;
}

static void
store_scalars(gen *g, const char *how, vyre_kind kind, address a, reg *values, reg guard, uint32_t count)
{
  for (uint32_t k = 0; k < count; k++) {
    if (kind == VYRE_BOOL)
      values[k] = MAKE32(g, "selp.u32", lit(1), lit(0), values[k]);
    values[k] = pgen_in_register(g, class_of(kind == VYRE_BOOL ? VYRE_U32 : kind), values[k]);
  }
  put_guard(g, guard);
  pgen_put(g, "%s.%s%s.%s ", how, a.space, vector_of(count), unit_of(kind));
  put_address(g, a);
  pgen_put(g, ", ");
  put_registers(g, values, count);
  pgen_put(g, ";\n");
}

void
pgen_store_scalar(gen *g, const char *how, vyre_kind kind, address a, reg value, reg guard)
{
  store_scalars(g, how, kind, a, &value, guard, 1);
}

/* Returns the lanes of the access that begins at `lane`.  Accesses before it have at least as many lanes. */
static uint32_t
together(const gen *g, const place *p, vyre_kind kind, uint32_t lane, uint32_t lanes)
{
  const uint32_t size = vyre_kind_bytes(kind);
  const uint64_t align = pgen_alignment(g, p);
  for (uint32_t count = 4; count > 1 && p->at.lane_stride == size; count /= 2)
    if (lane + count <= lanes && align % (count * size) == 0)
      return count;
  return 1;
}

/* Only memory that other invocations can access has an order. */
const char *
pgen_manner(const gen *g, uint32_t row, const place *p, const char *op, char text[64])
{
  const uint32_t flags = VYRE_ROW_FLAGS(g->v->op[row]), access = p->at.access;
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
  if (!pgen_place_of(g, g->v->a[row], &p))
    return;
  if (p.at.never) {
    for (uint32_t k = 0; k < lanes; k++)
      pgen_define(g, row, k, pgen_literal(g, kind, 0));
    return;
  }
  pgen_open_place(g, &p);
  const reg guard = pgen_in_bounds(g, &p, code_extent(&p.at, lanes, kind));
  const address a = pgen_address(g, &p);
  pgen_manner(g, row, &p, "ld", how);
  for (uint32_t k = 0, count; k < lanes; k += count) {
    reg out[4];
    count = together(g, &p, kind, k, lanes);
    load_scalars(g, how, kind, pgen_address_after(g, a, (uint64_t)k * p.at.lane_stride), guard, count, out);
    for (uint32_t i = 0; i < count; i++)
      pgen_define(g, row, k + i, out[i]);
  }
}

void
pgen_store(gen *g, uint32_t row)
{
  const uint32_t value = g->v->b[row], lanes = lanes_of(g, value);
  const vyre_kind kind = kind_of(g, value);
  char how[64];
  place p;
  if (!pgen_place_of(g, g->v->a[row], &p) || p.at.never)
    return;
  pgen_open_place(g, &p);
  const reg guard = pgen_in_bounds(g, &p, code_extent(&p.at, lanes, kind));
  const address a = pgen_address(g, &p);
  pgen_manner(g, row, &p, "st", how);
  for (uint32_t k = 0, count; k < lanes; k += count) {
    reg values[4];
    count = together(g, &p, kind, k, lanes);
    for (uint32_t i = 0; i < count; i++)
      values[i] = pgen_value(g, value, k + i);
    store_scalars(g, how, kind, pgen_address_after(g, a, (uint64_t)k * p.at.lane_stride), values, guard, count);
  }
}
