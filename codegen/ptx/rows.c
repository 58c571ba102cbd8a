/* Dispatches rows to their functions, and moves lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "base/grow.h"

/* ---- registers of a row
 * ----------------------------------------------------------------------------------------------------- */

static uint32_t
size_of(const gen *g, uint32_t row)
{
  return kind_of(g, row) == VYRE_TUPLE ? 4 * VYRE_TUPLE_COUNT(g->v->imm[row]) : lanes_of(g, row);
}

static reg *
slot(gen *g, uint32_t row, uint32_t k)
{
  static reg nowhere;
  uint32_t *first = &g->values[row - g->program];
  const uint32_t size = size_of(g, row);
  if (*first == 0) {
    if (!vyre_grow(vyre_module_allocator(g->module), &g->regs, &g->reg_capacity, (uint64_t)g->reg_count + size + 1,
                   sizeof(*g->regs))) {
      g->w.status = g->w.status ? g->w.status : VYRE_OUT_OF_MEMORY(g->w.task);
      return &nowhere;
    }
    g->reg_count += g->reg_count == 0; /* index 0 means none */
    *first = g->reg_count;
    memset(g->regs + *first, 0, size * sizeof(*g->regs));
    g->reg_count += size;
  }
  return k < size ? &g->regs[*first + k] : &nowhere;
}

void
pgen_define(gen *g, uint32_t row, uint32_t lane, reg r)
{
  *slot(g, row, lane) = r;
}

void
pgen_define_part(gen *g, uint32_t row, uint32_t part, uint32_t lane, reg r)
{
  *slot(g, row, 4 * part + lane) = r;
}

reg
pgen_value(gen *g, uint32_t row, uint32_t lane)
{
  uint64_t bits;
  if (code_constant(&g->w, row, &bits))
    return pgen_literal(g, kind_of(g, row), bits);
  return *slot(g, row, lane);
}

reg
pgen_part(gen *g, uint32_t row, uint32_t part, uint32_t lane)
{
  if (op_of(g, row) == VYRE_OP_tuple)
    return pgen_value(g, vyre_tuple_part(g->v, row, part), lane);
  return *slot(g, row, 4 * part + lane);
}

reg
pgen_right(gen *g, uint32_t row, uint32_t lane)
{
  if (has_literal(g, row))
    return pgen_literal(g, pgen_right_kind(g, row), vyre_row_imm(g->v, row));
  return pgen_value(g, g->v->b[row], lane);
}

/* ---- composition ---------------------------------------------------------------------------------------------------------- */

static void
join(gen *g, uint32_t row)
{
  const uint32_t operands[3] = {g->v->a[row], g->v->b[row], g->v->c[row]};
  uint32_t count = 0;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t i = 0; operands[k] && i < lanes_of(g, operands[k]); i++)
      pgen_define(g, row, count++, pgen_value(g, operands[k], i));
}

static void
shuffle(gen *g, uint32_t row)
{
  for (uint32_t i = 0; i < lanes_of(g, row); i++) {
    const uint32_t from = VYRE_SHUFFLE_LANE(g->v->imm[row], i), side = from < 4 ? g->v->a[row] : g->v->b[row];
    pgen_define(g, row, i, pgen_value(g, side, from & 3u));
  }
}

static void
lane(gen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind kind = kind_of(g, row);
  uint64_t index = 0;
  if (code_right_constant(&g->w, row, &index)) {
    pgen_define(g, row, 0, index < lanes_of(g, a) ? pgen_value(g, a, (uint32_t)index) : pgen_literal(g, kind, 0));
    return;
  }
  reg value = pgen_literal(g, kind, 0);
  for (uint32_t k = 0; k < lanes_of(g, a); k++) {
    const reg here = PRED(g, "setp.eq.u32", pgen_right(g, row, 0), lit(k));
    value = pgen_select(g, class_of(kind), pgen_value(g, a, k), value, here);
  }
  pgen_define(g, row, 0, value);
}

static void
insert(gen *g, uint32_t row)
{
  uint64_t index = 0;
  const bool constant = code_constant(&g->w, g->v->c[row], &index);
  for (uint32_t k = 0; k < lanes_of(g, row); k++) {
    const reg old = pgen_value(g, g->v->a[row], k), new = pgen_value(g, g->v->b[row], 0);
    if (constant) {
      pgen_define(g, row, k, index == k ? new : old);
      continue;
    }
    const reg here = PRED(g, "setp.eq.u32", pgen_value(g, g->v->c[row], 0), lit(k));
    pgen_define(g, row, k, pgen_select(g, class_of(kind_of(g, row)), new, old, here));
  }
}

static void
choose(gen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row];
  for (uint32_t k = 0; k < lanes_of(g, row); k++) {
    const reg p = pgen_value(g, a, lanes_of(g, a) > 1 ? k : 0), no = pgen_value(g, g->v->c[row], k);
    pgen_define(g, row, k, pgen_select(g, class_of(kind_of(g, row)), pgen_value(g, g->v->b[row], k), no, p));
  }
}

static void
vote(gen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row];
  reg all = pgen_value(g, a, 0);
  for (uint32_t k = 1; k < lanes_of(g, a); k++)
    all = PRED(g, op_of(g, row) == VYRE_OP_any ? "or.pred" : "and.pred", all, pgen_value(g, a, k));
  pgen_define(g, row, 0, all);
}

/* Defines a part of a row with several results.  A part of a tuple row is its operand. */
static void
part(gen *g, uint32_t row)
{
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    pgen_define(g, row, k, pgen_part(g, g->v->a[row], g->v->imm[row], k));
}

/* ---- variables ------------------------------------------------------------------------------------------------------------ */

static void
declare(gen *g, uint32_t row)
{
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    pgen_define(g, row, k, pgen_copy(g, class_of(kind_of(g, row)), pgen_literal(g, kind_of(g, row), 0)));
}

static void
get(gen *g, uint32_t row)
{
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    pgen_define(g, row, k, pgen_copy(g, class_of(kind_of(g, row)), pgen_value(g, g->v->a[row], k)));
}

static void
set(gen *g, uint32_t row)
{
  for (uint32_t k = 0; k < lanes_of(g, g->v->a[row]); k++) {
    const reg value = pgen_value(g, g->v->b[row], k);
    pgen_move(g, pgen_value(g, g->v->a[row], k), value);
  }
}

/* ---- entry ---------------------------------------------------------------------------------------------------------------- */

static void
compute(gen *g, uint32_t row)
{
  for (uint32_t k = 0; k < lanes_of(g, row) && !g->w.status; k++) {
    reg r = {0};
    if (!pgen_float(g, row, k, &r) && !pgen_bits(g, row, k, &r) && !pgen_integer(g, row, k, &r)) {
      pgen_fail(g, row, "'%s' of these types cannot be written as PTX\nFix: report this as a bug of vyre",
                vyre_op_infos[op_of(g, row)].text);
      return;
    }
    pgen_define(g, row, k, r);
  }
}

static void
convert(gen *g, uint32_t row)
{
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    pgen_define(g, row, k, pgen_convert(g, row, k));
}

/* Writes a row without effects. */
static void
pure(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_const: case VYRE_OP_spec: case VYRE_OP_at: case VYRE_OP_tuple: return;
  case VYRE_OP_part: part(g, row); return;
  case VYRE_OP_join: join(g, row); return;
  case VYRE_OP_splat:
    for (uint32_t k = 0; k < lanes_of(g, row); k++)
      pgen_define(g, row, k, pgen_value(g, g->v->a[row], 0));
    return;
  case VYRE_OP_lane: lane(g, row); return;
  case VYRE_OP_insert: insert(g, row); return;
  case VYRE_OP_shuffle: shuffle(g, row); return;
  case VYRE_OP_select: choose(g, row); return;
  case VYRE_OP_any: case VYRE_OP_all: vote(g, row); return;
  case VYRE_OP_convert: convert(g, row); return;
  case VYRE_OP_bitcast: pgen_bitcast(g, row); return;
  case VYRE_OP_length: pgen_length(g, row); return;
  case VYRE_OP_get: get(g, row); return;
  case VYRE_OP_load: pgen_load(g, row); return;
  default: break;
  }
  /* clang-format on */
  if (op >= VYRE_OP_packsnorm4x8 && op <= VYRE_OP_unpackhalf2x16)
    pgen_pack(g, row);
  else if (vyre_op_is_invocation(op))
    pgen_invocation(g, row);
  else if (vyre_op_is_subgroup(op))
    pgen_subgroup(g, row);
  else if (!pgen_integer_pair(g, row) && !pgen_integer_dot(g, row) && !pgen_vector(g, row) && !pgen_matrix(g, row))
    compute(g, row);
}

static void
put_row(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_null: case VYRE_OP_workgroup: case VYRE_OP_buffer: case VYRE_OP_async_wait: return;
  case VYRE_OP_if: case VYRE_OP_for: case VYRE_OP_loop: case VYRE_OP_switch: case VYRE_OP_block: pgen_construct(g, row); return;
  case VYRE_OP_return: case VYRE_OP_break: case VYRE_OP_continue: case VYRE_OP_leave: case VYRE_OP_fallthrough: case VYRE_OP_breakif:
  case VYRE_OP_trap: pgen_jump(g, row); return;
  case VYRE_OP_barrier: pgen_barrier(g, row); return;
  case VYRE_OP_store: pgen_store(g, row); return;
  case VYRE_OP_copy: case VYRE_OP_async_copy: pgen_copy_row(g, row); return; /* an async copy may happen at its start */
  case VYRE_OP_set: set(g, row); return;
  default: break;
  }
  /* clang-format on */
  if (vyre_op_is_atomic(op))
    pgen_atomic(g, row);
  else if (g->w.uses[row - g->program] && op == VYRE_OP_var)
    declare(g, row);
  else if (g->w.uses[row - g->program])
    pure(g, row);
}

void
pgen_region(gen *g, uint32_t region)
{
  for (uint32_t row = g->v->first[region]; row && !g->w.status; row = g->v->next[row])
    put_row(g, row);
}
