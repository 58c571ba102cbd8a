/* Programs of one operation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_program.h"

#include "vyre/ir.h"
#include "vyre/view.h"

#include <stdio.h>
#include <string.h>

static vyre_kind
memory_kind(vyre_kind kind)
{
  return kind == VYRE_BOOL ? VYRE_U32 : kind;
}

static uint32_t
scalar_size(vyre_kind kind)
{
  return vyre_kind_bits(memory_kind(kind)) / 8;
}

/* ---- programs --------------------------------------------------------------------------------------------------------------- */

static vyre_row
element(vyre_builder *b, vyre_row buffer, vyre_row first, uint32_t k)
{
  return vyre_build_at(b, buffer, vyre_build_imm(b, VYRE_OP_add, first, k));
}

/* Loads a scalar or vector that begins at `first`. */
static vyre_row
load_value(vyre_builder *b, vyre_row buffer, vyre_row first, uint32_t k, vyre_type type)
{
  vyre_row lanes[4];
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++) {
    lanes[i] = vyre_build_load(b, element(b, buffer, first, k + i), 0);
    if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
      lanes[i] = vyre_build_imm(b, VYRE_OP_ne, lanes[i], 0);
  }
  return vyre_build_join(b, lanes, VYRE_TYPE_LANES(type));
}

static void
store_value(vyre_builder *b, vyre_row buffer, vyre_row first, uint32_t k, vyre_type type, vyre_row value)
{
  const bool is_bool = VYRE_TYPE_KIND(type) == VYRE_BOOL;
  const vyre_row one = is_bool ? vyre_build_const(b, VYRE_TYPE(VYRE_U32, 1), 1) : value;
  const vyre_row zero = is_bool ? vyre_build_const(b, VYRE_TYPE(VYRE_U32, 1), 0) : value;
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++) {
    vyre_row lane = VYRE_TYPE_LANES(type) > 1 ? vyre_build_lane(b, value, i) : value;
    if (is_bool)
      lane = vyre_build_select(b, lane, one, zero);
    vyre_build_store(b, element(b, buffer, first, k + i), lane, 0);
  }
}

static vyre_row
load_operand(vyre_builder *b, const vyre_eval_operand *operand, vyre_row buffer, vyre_row first)
{
  vyre_row parts[4];
  for (uint32_t p = 0; p < operand->parts; p++)
    parts[p] = load_value(b, buffer, first, 4 * p, operand->part_type);
  return operand->parts ? vyre_build_tuple(b, parts, operand->parts) : load_value(b, buffer, first, 0, operand->type);
}

vyre_kind
op_operand_kind(const vyre_eval_operand *operand)
{
  return VYRE_TYPE_KIND(operand->parts ? operand->part_type : operand->type);
}

static vyre_row
array_of(vyre_builder *b, vyre_kind kind, uint32_t binding)
{
  const vyre_type_id type = vyre_type_runtime_array(b->module, VYRE_TYPE(memory_kind(kind), 1), 0);
  return vyre_build_buffer(b, type, VYRE_SPACE_STORAGE, 0, 0, binding);
}

void
op_program_build(vyre_module *module, const op_trial *t, uint32_t number)
{
  char name[32];
  vyre_builder b;
  vyre_row operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE}, buffers[4] = {VYRE_NONE, VYRE_NONE, VYRE_NONE, VYRE_NONE};
  snprintf(name, sizeof name, "p%u", number);
  vyre_build_program(module, name, t->modes, vyre_module_add_input(module, ""), &b);
  const vyre_row width = vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), 32), one = vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), 1);
  vyre_build_workgroup(&b, width, one, one);
  for (uint32_t k = 0; k < 4; k++)
    if (k == 3 || t->sample.operands[k].value)
      buffers[k] = array_of(&b, k < 3 ? op_operand_kind(&t->sample.operands[k]) : VYRE_TYPE_KIND(t->part_types[0]), k);
  const vyre_row second = t->op == VYRE_OP_frexp ? array_of(&b, VYRE_I32, 4) : buffers[3];
  const vyre_row invocation = vyre_build_lane(&b, vyre_build_invocation(&b, VYRE_OP_gid), 0);
  const vyre_row first = vyre_build_imm(&b, VYRE_OP_mul, invocation, OP_SCALARS);
  for (uint32_t k = 0; k < 3; k++)
    if (t->literal && k == 1)
      operands[k] = vyre_build_const(&b, t->sample.operands[k].type, t->bits);
    else if (t->sample.operands[k].value)
      operands[k] = load_operand(&b, &t->sample.operands[k], buffers[k], first);
  const bool several = VYRE_TYPE_KIND(t->sample.type) == VYRE_TUPLE;
  const uint32_t imm = several                    ? VYRE_TUPLE_OF(t->parts, t->op == VYRE_OP_frexp ? 0 : t->part_types[0])
                                          : t->op == VYRE_OP_shuffle ? t->sample.imm
                       : t->op == VYRE_OP_const   ? 1
                                                  : 0;
  const vyre_row row = vyre_build(&b, t->op, t->sample.type, 0, imm, 0, operands[0], operands[1], operands[2]);
  for (uint32_t p = 0; p < t->parts; p++)
    store_value(&b, p == 1 ? second : buffers[3], first, 4 * p, t->part_types[p],
                several ? vyre_build_part(&b, row, p, t->part_types[p]) : row);
}

/* ---- memory ----------------------------------------------------------------------------------------------------------------- */

void
op_memory_put(op_memory *m, const op_trial *t, uint32_t invocation)
{
  for (uint32_t k = 0; k < 3; k++) {
    const vyre_eval_operand *operand = &t->sample.operands[k];
    const uint32_t size = scalar_size(op_operand_kind(operand));
    for (uint32_t i = 0; operand->value && i < OP_SCALARS; i++)
      memcpy(m->bytes[k] + (invocation * OP_SCALARS + i) * size, &t->sample.values[k][i / 4].lane[i % 4], size);
  }
}

uint64_t
op_memory_result(const op_memory *m, const op_trial *t, uint32_t invocation, uint32_t part, uint32_t lane)
{
  const uint32_t size = scalar_size(VYRE_TYPE_KIND(t->part_types[part]));
  const uint32_t buffer = t->op == VYRE_OP_frexp && part == 1 ? 4 : 3, at = invocation * OP_SCALARS + 4 * part + lane;
  uint64_t bits = 0;
  memcpy(&bits, m->bytes[buffer] + at * size, size);
  return bits;
}

void
op_memory_bind(op_memory *m, const vyre_module *module, vyre_dispatch *dispatch, vyre_binding bindings[OP_BINDINGS])
{
  const vyre_view *v = vyre_module_view(module);
  dispatch->bindings = bindings;
  dispatch->binding_count = 0;
  for (uint32_t row = v->first[dispatch->program.id]; row; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer)
      continue;
    const uint32_t binding = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){row})->binding;
    bindings[dispatch->binding_count++] = (vyre_binding){{row}, m->bytes[binding], sizeof m->bytes[0], 0};
  }
}

/* ---- all operations --------------------------------------------------------------------------------------------------------- */

/* Finds the types of the parts of the result. */
static void
find_parts(op_trial *t)
{
  const vyre_eval_operand *a = &t->sample.operands[0], *b = &t->sample.operands[1];
  const vyre_type type = a->parts ? a->part_type : a->type;
  t->parts = VYRE_TYPE_KIND(t->sample.type) != VYRE_TUPLE ? 1
             : t->op == VYRE_OP_outer                     ? VYRE_TYPE_LANES(b->type)
             : a->parts                                   ? a->parts
                                                          : 2;
  for (uint32_t p = 0; p < 4; p++)
    t->part_types[p] = VYRE_TYPE_KIND(t->sample.type) != VYRE_TUPLE ? t->sample.type : type;
  if (t->op == VYRE_OP_frexp)
    t->part_types[1] = VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type));
}

/* Returns the next kind after `to` that convert or bitcast can produce, or 0 if there is none. */
static uint32_t
next_kind(vyre_opcode op, vyre_kind from, uint32_t to)
{
  for (to++; to <= VYRE_F64; to++)
    if (to != VYRE_BOOL && (op == VYRE_OP_convert || vyre_kind_bits((vyre_kind)to) == vyre_kind_bits(from)))
      return to;
  return 0;
}

bool
op_trial_begin(op_trial *t, uint32_t modes, vyre_opcode op, vyre_kind kind, uint32_t lanes, bool literal)
{
  *t = (op_trial){.modes = modes, .op = op, .kind = kind, .literal = literal};
  eval_shape(&t->sample, op, kind, lanes);
  if (literal && (!(vyre_op_infos[op].flags & VYRE_OP_TAKES_IMM) || t->sample.operands[1].parts))
    return false;
  if (literal)
    t->bits = eval_cut(op_operand_kind(&t->sample.operands[1]), eval_random());
  find_parts(t);
  return true;
}

void
op_trial_for_each(op_visitor visit, void *user, uint32_t modes, vyre_kind kind, bool with_literals)
{
  op_trial t;
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const bool free_result = op == VYRE_OP_convert || op == VYRE_OP_bitcast;
    const bool is_matrix = op >= VYRE_OP_matvec && op <= VYRE_OP_inverse, crosses = op == VYRE_OP_cross || op == VYRE_OP_outer;
    if (!eval_accepts((vyre_opcode)op, kind) || op == VYRE_OP_const)
      continue;
    for (uint32_t literal = 0; literal < (with_literals ? 2u : 1u); literal++) {
      const uint32_t turn = (op + kind + literal) % 4, lanes = is_matrix || crosses ? 2 + turn % 3 : 1 + turn;
      const bool scalar = op == VYRE_OP_splat || op == VYRE_OP_shuffle || op == VYRE_OP_lane || op == VYRE_OP_insert;
      if (!op_trial_begin(&t, modes, (vyre_opcode)op, kind, scalar ? 4 : lanes, literal != 0))
        continue;
      for (uint32_t to = free_result ? next_kind((vyre_opcode)op, kind, 0) : 1; to;
           to = free_result ? next_kind((vyre_opcode)op, kind, to) : 0) {
        if (free_result) {
          t.sample.type = VYRE_TYPE(to, lanes);
          find_parts(&t);
        }
        visit(user, &t);
      }
    }
  }
}

/* ---- extreme values --------------------------------------------------------------------------------------------------------- */

enum { MOST_EXTREMES = 48, TRIPLE_EXTREMES = 16 };

static uint32_t
add_signs(uint64_t *out, uint32_t count, uint64_t magnitude, uint64_t sign)
{
  out[count] = magnitude;
  out[count + 1] = magnitude | sign;
  return count + 2;
}

/* Fills the table and returns the count.  Operations of three operands use only the first TRIPLE_EXTREMES. */
static uint32_t
float_extremes(vyre_kind kind, uint64_t out[MOST_EXTREMES])
{
  const uint32_t bits = vyre_kind_bits(kind), digits = kind == VYRE_F16 ? 10 : kind == VYRE_F32 ? 23 : 52;
  const uint64_t unit = UINT64_C(1) << digits, sign = UINT64_C(1) << (bits - 1), infinity = sign - unit;
  const uint64_t one = (infinity >> 1) & ~(unit - 1);
  /* clang-format off */
  const uint64_t magnitudes[] = {
      0, 1, unit - 1, unit, one, infinity - 1, infinity, infinity | unit >> 1, /* of triples */
      2, 3, unit + 1, 2 * unit - 1, 2 * unit,                                  /* at the lower end */
      one - unit, one - 1, one + 1, one + unit / 2, one + unit, one + digits * unit, one + (digits + 1) * unit - 1, /* about 1 */
      infinity - unit, infinity - unit - 1, infinity - unit + 1, infinity | 1, /* at the upper end */
  };
  /* clang-format on */
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++)
    count = add_signs(out, count, magnitudes[i], sign);
  return count;
}

static uint32_t
integer_extremes(vyre_kind kind, uint64_t out[MOST_EXTREMES])
{
  /* exponents for ldexp, and integers that conversions round, each with its negation */
  /* clang-format off */
  static const uint64_t values[] = {
      0, 1, 10, 24, 53, 126, 149, 1022, 1023, 1074, 1075, 2046, 2097, 2098, 2200, 9999, 65519, 65520, 0x1000001, 0x7fffffff,
      UINT64_C(1) << 31, INT64_MAX, UINT64_C(0x20000000000001)};
  /* clang-format on */
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    out[count++] = eval_cut(kind, values[i]);
    out[count++] = eval_cut(kind, 0 - values[i]);
  }
  return count;
}

static uint32_t
extremes_of(const op_trial *t, uint32_t operand, uint64_t out[MOST_EXTREMES])
{
  const vyre_eval_operand *o = &t->sample.operands[operand];
  if (!o->value)
    return 1;
  const vyre_kind kind = op_operand_kind(o);
  const uint32_t count = vyre_kind_is_float(kind) ? float_extremes(kind, out) : integer_extremes(kind, out);
  return t->sample.operands[2].value && count > TRIPLE_EXTREMES ? TRIPLE_EXTREMES : count;
}

/* Returns the number of combinations that an invocation tests: one for each lane of the first operand. */
static uint32_t
lanes_of(const op_trial *t)
{
  return VYRE_TYPE_LANES(t->sample.operands[0].parts ? t->sample.operands[0].part_type : t->sample.operands[0].type);
}

uint32_t
op_extreme_runs(const op_trial *t)
{
  uint64_t values[MOST_EXTREMES];
  const uint32_t all = extremes_of(t, 0, values) * extremes_of(t, 1, values) * extremes_of(t, 2, values);
  const uint32_t each = OP_INVOCATIONS * lanes_of(t);
  return (all + each - 1) / each;
}

void
op_extreme_operands(op_trial *t, uint32_t run, uint32_t invocation)
{
  const uint32_t lanes = lanes_of(t);
  for (uint32_t i = 0; i < OP_SCALARS; i++) {
    uint32_t which = (run * OP_INVOCATIONS + invocation) * lanes + i % 4 + i / 4;
    for (uint32_t k = 0; k < 3; k++) {
      uint64_t values[MOST_EXTREMES] = {0};
      const uint32_t count = extremes_of(t, k, values);
      t->sample.values[k][i / 4].lane[i % 4] = values[which % count];
      which /= count;
    }
  }
}
