/* Rows that compute on one lane, or that arrange lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lower.h"

static const char *
name_of(vyre_kind kind)
{
  static const char *const names[VYRE_KIND__COUNT] = {
      [VYRE_BOOL] = "bool", [VYRE_I8] = "i8",   [VYRE_U8] = "u8",   [VYRE_I16] = "i16", [VYRE_U16] = "u16", [VYRE_I32] = "i32",
      [VYRE_U32] = "u32",   [VYRE_I64] = "i64", [VYRE_U64] = "u64", [VYRE_F16] = "f16", [VYRE_F32] = "f32", [VYRE_F64] = "f64",
  };
  return names[kind] ? names[kind] : "this type";
}

/* ---- ops ------------------------------------------------------------------------------------------------------------------ */

static operand
emit_native(lowerer *l, uint32_t number, operand x, operand y, operand z, operand d)
{
  const uint32_t flags = program_native_at(number).to == VYRE_F32 ? PROGRAM_IS_FLOAT : 0;
  return lower_emit(l, (PROGRAM_NATIVE + number) | flags, false, (instruction){.x = x, .y = y, .z = z, .j = d});
}

static operand
emit_eval(lowerer *l, uint32_t op, vyre_kind from, vyre_kind to, operand x, operand y, operand z)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  const bool is_wide = lower_is_wide(from), is_field = op == VYRE_OP_ubfe || op == VYRE_OP_sbfe;
  const operand unused = lower_constant(l, 0, is_wide);
  instruction how = {.x = x, .y = info->operands > 1 ? y : unused, .z = info->operands > 2 ? z : unused};
  if (is_field && is_wide) {
    how.y = lower_op(l, l->program, VYRE_OP_convert, VYRE_U32, VYRE_U64, y, y, y);
    how.z = lower_op(l, l->program, VYRE_OP_convert, VYRE_U32, VYRE_U64, z, z, z);
  }
  how.i = op;
  how.j = (uint32_t)from | (uint32_t)to << 8 | (is_wide ? PROGRAM_WIDE_OPERANDS : 0);
  how.k = (uint32_t)info->klass | (uint32_t)info->compares << 8;
  return lower_emit(l, PROGRAM_EVAL, lower_is_wide(to), how);
}

operand
lower_op(lowerer *l, uint32_t row, uint32_t op, vyre_kind from, vyre_kind to, operand x, operand y, operand z)
{
  const operand unused = lower_word(l, 0);
  const uint32_t number = program_native_find(op, from, to, 0), operands = vyre_op_infos[op].operands;
  if (number != UINT32_MAX && (from != VYRE_F16 || !l->has_no_halves))
    return emit_native(l, number, x, operands > 1 ? y : unused, operands > 2 ? z : unused, unused);
  if (program_evaluates(op, from, to))
    return emit_eval(l, op, from, to, x, y, z);
  lower_fail(l, row, "'%s' on %s is not interpreted on devices\nFix: compile the program", vyre_op_infos[op].text, name_of(from));
  return unused;
}

/* Returns a lane of an operand: a scalar has one lane for all. */
static operand
lane_of(const lowerer *l, uint32_t row, uint32_t lane)
{
  return lower_lane(l, row, VYRE_TYPE_LANES(code_row_type(l->v, row)) > 1 ? lane : 0);
}

static vyre_kind
kind_of(const lowerer *l, uint32_t row)
{
  return VYRE_TYPE_KIND(code_row_type(l->v, row));
}

static uint32_t
lanes_of(const lowerer *l, uint32_t row)
{
  return VYRE_TYPE_LANES(code_row_type(l->v, row));
}

static operand
right_of(lowerer *l, uint32_t row, uint32_t lane)
{
  const vyre_kind kind = VYRE_TYPE_KIND(code_right_type(l->v, row));
  if (code_has_literal(l->v, row))
    return lower_constant(l, vyre_row_imm(l->v, row), lower_is_wide(kind));
  return l->v->b[row] ? lane_of(l, l->v->b[row], lane) : lower_word(l, 0);
}

static void
lower_lanes(lowerer *l, uint32_t row)
{
  operand r[4];
  const vyre_opcode op = code_op(l->v, row);
  const uint32_t lanes = lanes_of(l, row);
  for (uint32_t k = 0; k < lanes; k++) {
    const operand third = l->v->c[row] ? lane_of(l, l->v->c[row], k) : lower_word(l, 0);
    r[k] = lower_op(l, row, op, kind_of(l, l->v->a[row]), kind_of(l, row), lane_of(l, l->v->a[row], k), right_of(l, row, k), third);
  }
  lower_define(l, row, r, lanes);
}

static void
lower_select_row(lowerer *l, uint32_t row)
{
  operand r[4];
  const vyre_view *v = l->v;
  for (uint32_t k = 0; k < lanes_of(l, row); k++)
    r[k] = lower_select(l, lane_of(l, v->a[row], k), lane_of(l, v->b[row], k), lane_of(l, v->c[row], k),
                        lower_is_wide(kind_of(l, row)));
  lower_define(l, row, r, lanes_of(l, row));
}

/* ---- lanes ---------------------------------------------------------------------------------------------------------------- */

static void
lower_const(lowerer *l, uint32_t row)
{
  operand r[4];
  uint64_t bits = 0;
  if (!code_constant(&l->w, row, &bits)) {
    lower_fail(l, row, "a constant without a value\nFix: report this as a bug of vyre");
    return;
  }
  for (uint32_t k = 0; k < lanes_of(l, row); k++)
    r[k] = lower_constant(l, bits, lower_is_wide(kind_of(l, row)));
  lower_define(l, row, r, lanes_of(l, row));
}

static void
lower_join(lowerer *l, uint32_t row)
{
  const uint32_t ids[3] = {l->v->a[row], l->v->b[row], l->v->c[row]};
  operand r[4];
  uint32_t count = 0;
  for (uint32_t i = 0; i < 3; i++)
    for (uint32_t k = 0; ids[i] && k < lanes_of(l, ids[i]) && count < 4; k++)
      r[count++] = lower_lane(l, ids[i], k);
  lower_define(l, row, r, count);
}

static void
lower_shuffle(lowerer *l, uint32_t row)
{
  const uint32_t ids[2] = {l->v->a[row], l->v->b[row]};
  operand r[4];
  for (uint32_t k = 0; k < lanes_of(l, row); k++) {
    const uint32_t from = VYRE_SHUFFLE_LANE(l->v->imm[row], k), side = ids[from >> 2];
    const bool exists = side && (from & 3u) < lanes_of(l, side);
    r[k] = exists ? lower_lane(l, side, from & 3u) : lower_constant(l, 0, lower_is_wide(kind_of(l, row)));
  }
  lower_define(l, row, r, lanes_of(l, row));
}

static void
lower_dynamic_lane(lowerer *l, uint32_t row)
{
  const uint32_t from = l->v->a[row];
  const bool is_wide = lower_is_wide(kind_of(l, row));
  const operand index = right_of(l, row, 0);
  operand r = lower_constant(l, 0, is_wide);
  if (code_has_literal(l->v, row))
    r = l->v->imm[row] < lanes_of(l, from) ? lower_lane(l, from, l->v->imm[row]) : r;
  else
    for (uint32_t k = 0; k < lanes_of(l, from); k++)
      r = lower_select(l, lower_u32(l, VYRE_OP_eq, index, lower_word(l, k)), lower_lane(l, from, k), r, is_wide);
  lower_define(l, row, &r, 1);
}

static void
lower_insert(lowerer *l, uint32_t row)
{
  operand r[4];
  const operand value = lower_lane(l, l->v->b[row], 0), index = lower_lane(l, l->v->c[row], 0);
  for (uint32_t k = 0; k < lanes_of(l, row); k++)
    r[k] = lower_select(l, lower_u32(l, VYRE_OP_eq, index, lower_word(l, k)), value, lower_lane(l, l->v->a[row], k),
                        lower_is_wide(kind_of(l, row)));
  lower_define(l, row, r, lanes_of(l, row));
}

static void
lower_vote(lowerer *l, uint32_t row)
{
  const vyre_opcode op = code_op(l->v, row) == VYRE_OP_any ? VYRE_OP_or : VYRE_OP_and;
  operand r = lower_lane(l, l->v->a[row], 0);
  for (uint32_t k = 1; k < lanes_of(l, l->v->a[row]); k++)
    r = lower_op(l, row, op, VYRE_BOOL, VYRE_BOOL, r, lower_lane(l, l->v->a[row], k), r);
  lower_define(l, row, &r, 1);
}

/* Rearranges bits: splits each source lane, or joins source lanes, in words and parts of words. */
static void
lower_bitcast(lowerer *l, uint32_t row)
{
  const uint32_t from = l->v->a[row], lanes = lanes_of(l, row);
  const uint32_t in = vyre_kind_bits(kind_of(l, from)), out = vyre_kind_bits(kind_of(l, row));
  operand r[4];
  for (uint32_t k = 0; k < lanes; k++) {
    const uint32_t bit = k * out;
    const operand lane = lower_lane(l, from, bit / in);
    if (out == in) {
      r[k] = lane;
    } else if (out == 64) { /* of lanes with 32 bits, or with 16 or 8 */
      r[k] = lower_register(l, true);
      for (uint32_t half = 0; half < 2; half++) {
        operand word = lower_word(l, 0);
        for (uint32_t at = 0; at < 32; at += in) {
          const operand piece = lower_lane(l, from, (bit + half * 32 + at) / in);
          word = at ? lower_u32(l, VYRE_OP_or, word, lower_u32(l, VYRE_OP_shl, piece, lower_word(l, at))) : piece;
        }
        lower_move(l, half ? lower_high(r[k]) : r[k], word, false);
      }
    } else if (out > in) {
      r[k] = lane;
      for (uint32_t at = in; at < out; at += in)
        r[k] = lower_u32(l, VYRE_OP_or, r[k], lower_u32(l, VYRE_OP_shl, lower_lane(l, from, (bit + at) / in), lower_word(l, at)));
    } else {
      const uint32_t at = bit % in;
      const operand word = at >= 32 ? lower_high(lane) : lane;
      r[k] = word;
      if (out < 32)
        r[k] = lower_u32(l, VYRE_OP_and, at % 32 ? lower_u32(l, VYRE_OP_ushr, word, lower_word(l, at % 32)) : word,
                         lower_word(l, (1u << out) - 1));
    }
  }
  lower_define(l, row, r, lanes);
}

/* ---- several operands or results ------------------------------------------------------------------------------------------ */

static operand
native_of(lowerer *l, uint32_t row, vyre_kind from, vyre_kind to, uint32_t part, const operand in[4])
{
  const uint32_t number = program_native_find(code_op(l->v, row), from, to, part);
  if (number != UINT32_MAX)
    return emit_native(l, number, in[0], in[1], in[2], in[3]);
  lower_fail(l, row, "'%s' on %s is not interpreted on devices\nFix: compile the program", vyre_op_infos[code_op(l->v, row)].text,
             name_of(from));
  return lower_word(l, 0);
}

static void
lower_pack(lowerer *l, uint32_t row)
{
  const uint32_t a = l->v->a[row];
  operand in[4], r[4];
  for (uint32_t k = 0; k < 4; k++)
    in[k] = k < lanes_of(l, a) ? lower_lane(l, a, k) : lower_word(l, 0);
  for (uint32_t k = 0; k < lanes_of(l, row); k++)
    r[k] = native_of(l, row, kind_of(l, a), kind_of(l, row), k, in);
  lower_define(l, row, r, lanes_of(l, row));
}

static void
lower_bitfield_insert(lowerer *l, uint32_t row)
{
  const uint32_t field = l->v->c[row];
  const vyre_kind kind = kind_of(l, row);
  const operand offset = lower_part(l, field, 0, 0), count = lower_part(l, field, 1, 0);
  operand r[4];
  for (uint32_t k = 0; k < lanes_of(l, row); k++) {
    const operand in[4] = {lane_of(l, l->v->a[row], k), lane_of(l, l->v->b[row], k), offset, count};
    if (vyre_kind_bits(kind) == 32)
      r[k] = native_of(l, row, kind, kind, 0, in);
    else
      r[k] =
          lower_emit(l, PROGRAM_EVAL, lower_is_wide(kind),
                     (instruction){.x = in[0],
                                   .y = in[1],
                                   .z = offset,
                                   .i = VYRE_OP_bfi,
                                   .k = count,
                                   .j = (uint32_t)kind | (uint32_t)kind << 8 | (lower_is_wide(kind) ? PROGRAM_WIDE_OPERANDS : 0)});
  }
  lower_define(l, row, r, lanes_of(l, row));
}

static void
lower_split(lowerer *l, uint32_t row)
{
  const uint32_t a = l->v->a[row];
  const operand zero = lower_word(l, 0);
  operand r[8] = {0};
  for (uint32_t part = 0; part < 2; part++)
    for (uint32_t k = 0; k < lanes_of(l, a); k++) {
      const operand in[4] = {lower_lane(l, a, k), zero, zero, zero};
      const bool is_exponent = code_op(l->v, row) == VYRE_OP_frexp && part;
      r[part * 4 + k] = native_of(l, row, kind_of(l, a), is_exponent ? VYRE_I32 : kind_of(l, a), part, in);
    }
  lower_define(l, row, r, 8);
}

/* Emits a sum and its carry, a difference and its borrow, or both halves of a product, as passes/cf/fold.vir does. */
static void
lower_pair(lowerer *l, uint32_t row)
{
  const uint32_t a = l->v->a[row], op = code_op(l->v, row);
  const vyre_kind kind = kind_of(l, a);
  const bool is_wide = lower_is_wide(kind);
  operand r[8] = {0};
  for (uint32_t k = 0; k < lanes_of(l, a); k++) {
    const operand x = lower_lane(l, a, k), y = right_of(l, row, k);
    if (op == VYRE_OP_umulx || op == VYRE_OP_smulx) {
      r[k] = lower_op(l, row, VYRE_OP_mul, kind, kind, x, y, x);
      r[4 + k] = lower_op(l, row, op == VYRE_OP_umulx ? VYRE_OP_umulhi : VYRE_OP_smulhi, kind, kind, x, y, x);
      continue;
    }
    const bool adds = op == VYRE_OP_uaddc; /* the carry of x + y is 1 if x > greatest - y */
    r[k] = lower_op(l, row, adds ? VYRE_OP_add : VYRE_OP_sub, kind, kind, x, y, x);
    const operand bound = adds ? lower_op(l, row, VYRE_OP_not, kind, kind, y, y, y) : y;
    const operand over = lower_op(l, row, adds ? VYRE_OP_ugt : VYRE_OP_ult, kind, VYRE_BOOL, x, bound, x);
    r[4 + k] = lower_select(l, over, lower_constant(l, 1, is_wide), lower_constant(l, 0, is_wide), is_wide);
  }
  lower_define(l, row, r, 8);
}

/* Returns component k of an operand of a dot product, extended to 64 bits. */
static operand
component(lowerer *l, uint32_t row, const vyre_dot_shape *shape, bool is_signed, uint32_t k)
{
  const vyre_kind kind = vyre_kind_with_sign(shape->packed ? VYRE_I32 : kind_of(l, row), is_signed);
  operand x = lower_lane(l, row, shape->packed ? 0 : k);
  if (shape->packed)
    x = lower_op(l, row, is_signed ? VYRE_OP_sbfe : VYRE_OP_ubfe, kind, kind, x, lower_word(l, 8 * k), lower_word(l, 8));
  return kind == VYRE_U64 ? x : lower_op(l, row, VYRE_OP_convert, kind, VYRE_U64, x, x, x);
}

/* Emits the sum of products in 64 bits, whose low bits are exact, and adds the accumulator with saturation. */
static void
lower_dot(lowerer *l, uint32_t row)
{
  const uint32_t a = l->v->a[row], b = l->v->b[row], c = l->v->c[row];
  const vyre_dot_shape shape = vyre_dot_shape_of(code_op(l->v, row), code_row_type(l->v, a));
  const vyre_kind to = vyre_kind_with_sign(kind_of(l, row), shape.left_signed);
  operand sum = lower_constant(l, 0, true);
  for (uint32_t k = 0; k < shape.lanes; k++) {
    const operand x = component(l, a, &shape, shape.left_signed, k), y = component(l, b, &shape, shape.right_signed, k);
    sum = lower_op(l, row, VYRE_OP_add, VYRE_U64, VYRE_U64, sum, lower_op(l, row, VYRE_OP_mul, VYRE_U64, VYRE_U64, x, y, x), sum);
  }
  if (!lower_is_wide(to))
    sum = lower_op(l, row, VYRE_OP_convert, VYRE_U64, to, sum, sum, sum);
  if (c)
    sum = lower_op(l, row, shape.left_signed ? VYRE_OP_saddsat : VYRE_OP_uaddsat, to, to, sum, lower_lane(l, c, 0), sum);
  lower_define(l, row, &sum, 1);
}

static void
lower_part_row(lowerer *l, uint32_t row)
{
  operand r[4];
  for (uint32_t k = 0; k < lanes_of(l, row); k++)
    r[k] = lower_part(l, l->v->a[row], l->v->imm[row], k);
  lower_define(l, row, r, lanes_of(l, row));
}

/* ---- built-ins ------------------------------------------------------------------------------------------------------------ */

static operand
builtin(lowerer *l, uint32_t number)
{
  return lower_emit(l, PROGRAM_BUILTIN, false,
                    (instruction){.x = lower_word(l, 0), .y = lower_word(l, 0), .z = lower_word(l, 0), .i = number});
}

operand
lower_lane_index(lowerer *l)
{
  return builtin(l, PROGRAM_BUILTIN_LINDEX);
}

static operand
local_id(lowerer *l, uint32_t axis)
{
  const operand lane = lower_lane_index(l);
  const operand line = axis == 0 ? lane : lower_u32(l, VYRE_OP_udiv, lane, lower_word(l, l->size[0]));
  if (axis == 2)
    return lower_u32(l, VYRE_OP_udiv, line, lower_word(l, l->size[1]));
  return lower_u32(l, VYRE_OP_umod, line, lower_word(l, l->size[axis]));
}

/* Returns word k of a mask of lanes of the subgroup: those below `to`, without those below `from`. */
static operand
mask_word(lowerer *l, operand to, uint32_t k)
{
  /* Bits 32 k to 32 k + 31 of the mask: all are set, the low ones, or none. */
  const operand first = lower_word(l, 32 * k), past = lower_u32(l, VYRE_OP_usubsat, to, first);
  const operand some = lower_u32(l, VYRE_OP_sub, lower_u32(l, VYRE_OP_shl, lower_word(l, 1), past), lower_word(l, 1));
  return lower_select(l, lower_u32(l, VYRE_OP_uge, past, lower_word(l, 32)), lower_word(l, UINT32_MAX), some, false);
}

static void
lower_mask(lowerer *l, uint32_t row, operand lane)
{
  const operand next = lower_u32(l, VYRE_OP_add, lane, lower_word(l, 1)), all = lower_word(l, l->subgroup);
  operand r[4];
  for (uint32_t k = 0; k < 4; k++) {
    const operand below = mask_word(l, lane, k), up_to = mask_word(l, next, k), size = mask_word(l, all, k);
    switch ((uint32_t)code_op(l->v, row)) {
    case VYRE_OP_subgroup_eq_mask:
      r[k] = lower_u32(l, VYRE_OP_xor, below, up_to);
      break;
    case VYRE_OP_subgroup_ge_mask:
      r[k] = lower_u32(l, VYRE_OP_xor, below, size);
      break;
    case VYRE_OP_subgroup_gt_mask:
      r[k] = lower_u32(l, VYRE_OP_xor, up_to, size);
      break;
    default:
      r[k] = code_op(l->v, row) == VYRE_OP_subgroup_le_mask ? up_to : below;
    }
  }
  lower_define(l, row, r, 4);
}

static void
lower_builtin(lowerer *l, uint32_t row)
{
  const vyre_opcode op = code_op(l->v, row);
  const uint32_t last = l->subgroup - 1;
  operand r[3] = {0};
  uint32_t count = 1;
  switch ((uint32_t)op) {
  case VYRE_OP_lindex:
    r[0] = lower_lane_index(l);
    break;
  case VYRE_OP_subgroup_lane:
    r[0] = lower_u32(l, VYRE_OP_and, lower_lane_index(l), lower_word(l, last));
    break;
  case VYRE_OP_subgroup_id:
    r[0] = lower_u32(l, VYRE_OP_udiv, lower_lane_index(l), lower_word(l, l->subgroup));
    break;
  case VYRE_OP_subgroup_size:
    r[0] = lower_word(l, l->subgroup);
    break;
  case VYRE_OP_subgroups:
    r[0] = lower_word(l, (l->lanes + last) / l->subgroup);
    break;
  case VYRE_OP_gid:
  case VYRE_OP_lid:
  case VYRE_OP_wid:
  case VYRE_OP_groups:
    for (count = 0; count < 3; count++) {
      const operand local = op == VYRE_OP_gid || op == VYRE_OP_lid ? local_id(l, count) : 0;
      r[count] =
          op == VYRE_OP_lid ? local : builtin(l, (op == VYRE_OP_groups ? PROGRAM_BUILTIN_GROUPS : PROGRAM_BUILTIN_WID) + count);
      if (op == VYRE_OP_gid)
        r[count] = lower_u32(l, VYRE_OP_add, lower_u32(l, VYRE_OP_mul, r[count], lower_word(l, l->size[count])), local);
    }
    break;
  default:
    lower_mask(l, row, lower_u32(l, VYRE_OP_and, lower_lane_index(l), lower_word(l, last)));
    return;
  }
  lower_define(l, row, r, count);
}

/* ---- entry ---------------------------------------------------------------------------------------------------------------- */

static void
lower_get(lowerer *l, uint32_t row)
{
  const bool is_wide = lower_is_wide(kind_of(l, row));
  operand r[4];
  for (uint32_t k = 0; k < lanes_of(l, row); k++) {
    r[k] = lower_register(l, is_wide);
    lower_move(l, r[k], lower_lane(l, l->v->a[row], k), is_wide);
  }
  lower_define(l, row, r, lanes_of(l, row));
}

static void
lower_splat(lowerer *l, uint32_t row)
{
  const operand x = lower_lane(l, l->v->a[row], 0), r[4] = {x, x, x, x};
  lower_define(l, row, r, lanes_of(l, row));
}

void
lower_value(lowerer *l, uint32_t row)
{
  const vyre_opcode op = code_op(l->v, row);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_const: case VYRE_OP_spec: lower_const(l, row); return;
  case VYRE_OP_tuple: return;
  case VYRE_OP_get: lower_get(l, row); return;
  case VYRE_OP_part: lower_part_row(l, row); return;
  case VYRE_OP_join: lower_join(l, row); return;
  case VYRE_OP_splat: lower_splat(l, row); return;
  case VYRE_OP_shuffle: lower_shuffle(l, row); return;
  case VYRE_OP_lane: lower_dynamic_lane(l, row); return;
  case VYRE_OP_insert: lower_insert(l, row); return;
  case VYRE_OP_select: lower_select_row(l, row); return;
  case VYRE_OP_any: case VYRE_OP_all: lower_vote(l, row); return;
  case VYRE_OP_bitcast: lower_bitcast(l, row); return;
  case VYRE_OP_bfi: lower_bitfield_insert(l, row); return;
  case VYRE_OP_frexp: case VYRE_OP_modf: lower_split(l, row); return;
  case VYRE_OP_uaddc: case VYRE_OP_usubb: case VYRE_OP_umulx: case VYRE_OP_smulx: lower_pair(l, row); return;
  case VYRE_OP_sdot: case VYRE_OP_udot: case VYRE_OP_sudot: lower_dot(l, row); return;
  /* clang-format on */
  default:
    break;
  }
  if (vyre_op_is_invocation(op))
    lower_builtin(l, row);
  else if (op >= VYRE_OP_packsnorm4x8 && op <= VYRE_OP_unpackhalf2x16)
    lower_pack(l, row);
  else if (op >= VYRE_OP_dot && op <= VYRE_OP_inverse)
    lower_vector(l, row);
  else
    lower_lanes(l, row);
}
