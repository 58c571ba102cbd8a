/* The meaning of pure ops on values.
 *
 * lanes.c has lane by lane ops, vector.c vectors and matrices, undefined.c the undefined cases. This file has ops that move lanes
 * and bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"
#include "vyre/eval.h"
#include "vyre/ir.h"

#include "internal.h"
#include "lanes.h"
#include "row.h"
#include "scalar.h"

typedef enum sort {
  SORT_NONE,     /* does not depend on its operands alone */
  SORT_LANES,    /* lanes.c */
  SORT_COMPOSE,  /* moves lanes */
  SORT_INT_PAIR, /* integers, two results */
  SORT_PACK,
  SORT_VECTOR, /* floats, across lanes */
  SORT_MATRIX,
  SORT_INT_DOT,
} sort;

/* Classifies an op. The switch lacks a default, so that the compiler warns about a new op. */
static sort
sort_of(vyre_opcode op)
{
  /* clang-format off */
  switch (op) {
  case VYRE_OP_null: case VYRE_OP_program: case VYRE_OP_workgroup: case VYRE_OP_spec: case VYRE_OP_var: case VYRE_OP_buffer:
  case VYRE_OP_region: case VYRE_OP_body: case VYRE_OP_case: case VYRE_OP_if: case VYRE_OP_for: case VYRE_OP_loop: case VYRE_OP_switch:
  case VYRE_OP_block: case VYRE_OP_return: case VYRE_OP_break: case VYRE_OP_continue: case VYRE_OP_leave: case VYRE_OP_fallthrough:
  case VYRE_OP_breakif: case VYRE_OP_trap: case VYRE_OP_barrier: case VYRE_OP_at: case VYRE_OP_load: case VYRE_OP_store:
  case VYRE_OP_copy: case VYRE_OP_length: case VYRE_OP_get: case VYRE_OP_set: case VYRE_OP_atomic_load: case VYRE_OP_atomic_store:
  case VYRE_OP_atomic_exchange: case VYRE_OP_atomic_compare_exchange: case VYRE_OP_atomic_add: case VYRE_OP_atomic_sub:
  case VYRE_OP_atomic_umin: case VYRE_OP_atomic_umax: case VYRE_OP_atomic_smin: case VYRE_OP_atomic_smax: case VYRE_OP_atomic_and:
  case VYRE_OP_atomic_or: case VYRE_OP_atomic_xor:
  case VYRE_OP_atomic_fadd: case VYRE_OP_atomic_fmin: case VYRE_OP_atomic_fmax: case VYRE_OP_async_copy: case VYRE_OP_async_wait: case VYRE_OP_gid: case VYRE_OP_lid:
  case VYRE_OP_wid: case VYRE_OP_groups: case VYRE_OP_lindex: case VYRE_OP_tuple: case VYRE_OP_part:
  case VYRE_OP_subgroup_lane: case VYRE_OP_subgroup_id: case VYRE_OP_subgroup_size: case VYRE_OP_subgroups:
  case VYRE_OP_subgroup_eq_mask: case VYRE_OP_subgroup_ge_mask: case VYRE_OP_subgroup_gt_mask: case VYRE_OP_subgroup_le_mask:
  case VYRE_OP_subgroup_lt_mask: case VYRE_OP_subgroup_elect: case VYRE_OP_subgroup_all: case VYRE_OP_subgroup_any:
  case VYRE_OP_subgroup_alleq: case VYRE_OP_subgroup_broadcast: case VYRE_OP_subgroup_first: case VYRE_OP_subgroup_ballot:
  case VYRE_OP_subgroup_inverse_ballot: case VYRE_OP_subgroup_ballot_bit: case VYRE_OP_subgroup_ballot_count:
  case VYRE_OP_subgroup_ballot_findlsb: case VYRE_OP_subgroup_ballot_findmsb: case VYRE_OP_subgroup_shuffle:
  case VYRE_OP_subgroup_shuffle_xor: case VYRE_OP_subgroup_shuffle_up: case VYRE_OP_subgroup_shuffle_down:
  case VYRE_OP_subgroup_rotate: case VYRE_OP_subgroup_quad_broadcast: case VYRE_OP_subgroup_quad_swap: case VYRE_OP_subgroup_add:
  case VYRE_OP_subgroup_mul: case VYRE_OP_subgroup_umin: case VYRE_OP_subgroup_umax: case VYRE_OP_subgroup_smin:
  case VYRE_OP_subgroup_smax: case VYRE_OP_subgroup_fmin: case VYRE_OP_subgroup_fmax: case VYRE_OP_subgroup_and:
  case VYRE_OP_subgroup_or: case VYRE_OP_subgroup_xor: case VYRE_OP_verbatim: case VYRE_OP_opaque:
  case VYRE_OP_opaque_pure: case VYRE_OP_opaque_read: case VYRE_OP_opaque_write:
    return SORT_NONE;
  case VYRE_OP_add: case VYRE_OP_sub: case VYRE_OP_mul: case VYRE_OP_neg: case VYRE_OP_udiv: case VYRE_OP_sdiv: case VYRE_OP_fdiv:
  case VYRE_OP_umod: case VYRE_OP_srem: case VYRE_OP_smod: case VYRE_OP_frem: case VYRE_OP_fmod: case VYRE_OP_fma: case VYRE_OP_sabs:
  case VYRE_OP_fabs: case VYRE_OP_ssign: case VYRE_OP_fsign: case VYRE_OP_umin: case VYRE_OP_umax: case VYRE_OP_smin: case VYRE_OP_smax:
  case VYRE_OP_fmin: case VYRE_OP_fmax: case VYRE_OP_nmin: case VYRE_OP_nmax: case VYRE_OP_uclamp: case VYRE_OP_sclamp:
  case VYRE_OP_fclamp: case VYRE_OP_nclamp: case VYRE_OP_umulhi: case VYRE_OP_smulhi: case VYRE_OP_uaddsat: case VYRE_OP_saddsat:
  case VYRE_OP_usubsat: case VYRE_OP_ssubsat: case VYRE_OP_umulsat: case VYRE_OP_smulsat: case VYRE_OP_uabsdiff: case VYRE_OP_sabsdiff:
  case VYRE_OP_rotl: case VYRE_OP_rotr: case VYRE_OP_and: case VYRE_OP_or: case VYRE_OP_xor: case VYRE_OP_not: case VYRE_OP_shl:
  case VYRE_OP_ushr: case VYRE_OP_sshr: case VYRE_OP_bitcount: case VYRE_OP_bitrev: case VYRE_OP_findlsb: case VYRE_OP_findumsb:
  case VYRE_OP_findsmsb: case VYRE_OP_ubfe: case VYRE_OP_sbfe: case VYRE_OP_eq: case VYRE_OP_ne: case VYRE_OP_ult: case VYRE_OP_ule:
  case VYRE_OP_ugt: case VYRE_OP_uge: case VYRE_OP_slt: case VYRE_OP_sle: case VYRE_OP_sgt: case VYRE_OP_sge: case VYRE_OP_feq:
  case VYRE_OP_fne: case VYRE_OP_flt: case VYRE_OP_fle: case VYRE_OP_fgt: case VYRE_OP_fge: case VYRE_OP_fone: case VYRE_OP_fueq:
  case VYRE_OP_fult: case VYRE_OP_fule: case VYRE_OP_fugt: case VYRE_OP_fuge: case VYRE_OP_isnan: case VYRE_OP_isinf:
  case VYRE_OP_convert: case VYRE_OP_quantize16: case VYRE_OP_round: case VYRE_OP_roundeven: case VYRE_OP_trunc: case VYRE_OP_floor:
  case VYRE_OP_ceil: case VYRE_OP_fract: case VYRE_OP_sqrt: case VYRE_OP_rsqrt: case VYRE_OP_radians: case VYRE_OP_degrees:
  case VYRE_OP_sin: case VYRE_OP_cos: case VYRE_OP_tan: case VYRE_OP_asin: case VYRE_OP_acos: case VYRE_OP_atan: case VYRE_OP_sinh:
  case VYRE_OP_cosh: case VYRE_OP_tanh: case VYRE_OP_asinh: case VYRE_OP_acosh: case VYRE_OP_atanh: case VYRE_OP_exp: case VYRE_OP_exp2:
  case VYRE_OP_log: case VYRE_OP_log2: case VYRE_OP_atan2: case VYRE_OP_pow: case VYRE_OP_step: case VYRE_OP_fmix:
  case VYRE_OP_smoothstep: case VYRE_OP_ldexp: case VYRE_OP_select:
    return SORT_LANES;
  case VYRE_OP_const: case VYRE_OP_join: case VYRE_OP_splat: case VYRE_OP_lane: case VYRE_OP_insert: case VYRE_OP_shuffle:
  case VYRE_OP_any: case VYRE_OP_all: case VYRE_OP_bitcast: case VYRE_OP_bfi:
    return SORT_COMPOSE;
  case VYRE_OP_uaddc: case VYRE_OP_usubb: case VYRE_OP_umulx: case VYRE_OP_smulx:
    return SORT_INT_PAIR;
  case VYRE_OP_packsnorm4x8: case VYRE_OP_packunorm4x8: case VYRE_OP_packsnorm2x16: case VYRE_OP_packunorm2x16:
  case VYRE_OP_packhalf2x16: case VYRE_OP_unpacksnorm4x8: case VYRE_OP_unpackunorm4x8: case VYRE_OP_unpacksnorm2x16:
  case VYRE_OP_unpackunorm2x16: case VYRE_OP_unpackhalf2x16:
    return SORT_PACK;
  case VYRE_OP_frexp: case VYRE_OP_modf: case VYRE_OP_dot: case VYRE_OP_norm: case VYRE_OP_distance: case VYRE_OP_cross:
  case VYRE_OP_normalize: case VYRE_OP_faceforward: case VYRE_OP_reflect: case VYRE_OP_refract: case VYRE_OP_outer:
    return SORT_VECTOR;
  case VYRE_OP_matvec: case VYRE_OP_vecmat: case VYRE_OP_matmat: case VYRE_OP_transpose: case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    return SORT_MATRIX;
  case VYRE_OP_sdot: case VYRE_OP_udot: case VYRE_OP_sudot:
    return SORT_INT_DOT;
  }
  /* clang-format on */
  return SORT_NONE;
}

bool
vyre_eval_is_lanewise(vyre_opcode op)
{
  return sort_of(op) == SORT_LANES;
}

/* ---- lane by lane --------------------------------------------------------------------------------------------------- */

/* Returns the lanes of a value operand. The scalars of ubfe and the condition of select are repeated for every lane. */
static const uint64_t *
spread(const vyre_eval_operand *operand, uint32_t lanes, bool scalar_counts_for_all, vyre_value *scratch)
{
  if (!operand->value || !scalar_counts_for_all || lanes_of(operand) != 1)
    return operand->value ? operand->value->lane : scratch->lane;
  for (uint32_t i = 0; i < lanes; i++)
    scratch->lane[i] = operand->value->lane[0];
  return scratch->lane;
}

static bool
eval_lanes(const row_eval *row)
{
  vyre_value scratch[3] = {{{0}}};
  const bool field = row->op == VYRE_OP_ubfe || row->op == VYRE_OP_sbfe;
  const uint32_t lanes = VYRE_TYPE_LANES(row->type);
  const uint64_t *a = spread(&row->operands[0], lanes, row->op == VYRE_OP_select, &scratch[0]);
  const uint64_t *b = spread(&row->operands[1], lanes, field, &scratch[1]);
  const uint64_t *c = spread(&row->operands[2], lanes, field, &scratch[2]);
  return vyre_eval_lanes(row->op, VYRE_TYPE_KIND(row->operands[0].type), VYRE_TYPE_KIND(row->type), a, b, c, row->out[0].lane,
                         lanes);
}

/* ---- composition ---------------------------------------------------------------------------------------------------- */

static void
join(const row_eval *row)
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < 3; k++) {
    const vyre_eval_operand *part = &row->operands[k];
    for (uint32_t i = 0; part->value && i < lanes_of(part) && count < 4; i++)
      row->out[0].lane[count++] = part->value->lane[i];
  }
}

static void
shuffle(const row_eval *row)
{
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(row->type); i++) {
    const uint32_t from = VYRE_SHUFFLE_LANE(row->imm, i);
    const vyre_eval_operand *side = &row->operands[from >> 2];
    row->out[0].lane[i] = (from & 3u) < lanes_of(side) ? lane_of(side, from & 3u) : 0;
  }
}

/* Concatenates the bits of the lanes, lane 0 lowest, and splits them again. */
static void
bitcast(const row_eval *row)
{
  const uint32_t from = vyre_kind_bits(VYRE_TYPE_KIND(row->operands[0].type)), to = vyre_kind_bits(VYRE_TYPE_KIND(row->type));
  uint8_t bytes[32] = {0};
  for (uint32_t i = 0; i < lanes_of(&row->operands[0]); i++)
    for (uint32_t k = 0; k < from / 8; k++)
      bytes[i * (from / 8) + k] = (uint8_t)(lane_of(&row->operands[0], i) >> (8 * k));
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(row->type); i++) {
    row->out[0].lane[i] = 0;
    for (uint32_t k = 0; k < to / 8; k++)
      row->out[0].lane[i] |= (uint64_t)bytes[i * (to / 8) + k] << (8 * k);
  }
}

static void
bitfield_insert(const row_eval *row)
{
  const vyre_value *field = row->operands[2].parts == 2 ? row->operands[2].value : NULL;
  const unsigned bits = vyre_kind_bits(VYRE_TYPE_KIND(row->type));
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(row->type); i++)
    row->out[0].lane[i] = !field ? lane_of(&row->operands[0], i)
                                 : vyre_eval_bitfield_insert(bits, lane_of(&row->operands[0], i), lane_of(&row->operands[1], i),
                                                             field[0].lane[0], field[1].lane[0]);
}

static bool
eval_compose(const row_eval *row)
{
  const vyre_eval_operand *a = &row->operands[0];
  const uint32_t lanes = VYRE_TYPE_LANES(row->type);
  vyre_value *out = row->out;
  switch ((uint32_t)row->op) {
  case VYRE_OP_const:
    for (uint32_t i = 0; i < lanes; i++)
      out->lane[i] = row->literal & bits_mask(vyre_kind_bits(VYRE_TYPE_KIND(row->type)));
    return true;
  case VYRE_OP_splat:
    for (uint32_t i = 0; i < lanes; i++)
      out->lane[i] = lane_of(a, 0);
    return true;
  case VYRE_OP_join:
    join(row);
    return true;
  case VYRE_OP_shuffle:
    shuffle(row);
    return true;
  case VYRE_OP_lane: {
    const uint64_t index = lane_of(&row->operands[1], 0);
    out->lane[0] = index < lanes_of(a) ? lane_of(a, (uint32_t)index) : 0;
    return true;
  }
  case VYRE_OP_insert: {
    const uint64_t index = lane_of(&row->operands[2], 0);
    for (uint32_t i = 0; i < lanes; i++)
      out->lane[i] = i == index ? lane_of(&row->operands[1], 0) : lane_of(a, i);
    return true;
  }
  case VYRE_OP_any:
  case VYRE_OP_all: {
    uint32_t set = 0;
    for (uint32_t i = 0; i < lanes_of(a); i++)
      set += lane_of(a, i) != 0;
    out->lane[0] = row->op == VYRE_OP_any ? set != 0 : set == lanes_of(a);
    return true;
  }
  case VYRE_OP_bitcast:
    bitcast(row);
    return true;
  case VYRE_OP_bfi:
    bitfield_insert(row);
    return true;
  default:
    return false;
  }
}

/* ---- two integer results -------------------------------------------------------------------------------------------- */

static bool
eval_int_pair(const row_eval *row)
{
  const vyre_kind kind = VYRE_TYPE_KIND(row->operands[0].type);
  const unsigned bits = vyre_kind_bits(kind);
  const uint64_t mask = bits_mask(bits);
  if (!vyre_kind_is_int(kind))
    return false;
  for (uint32_t i = 0; i < lanes_of(&row->operands[0]); i++) {
    const uint64_t x = lane_of(&row->operands[0], i), y = lane_of(&row->operands[1], i);
    uint64_t first, second;
    if (row->op == VYRE_OP_uaddc) {
      first = (x + y) & mask;
      second = first < x;
    } else if (row->op == VYRE_OP_usubb) {
      first = (x - y) & mask;
      second = x < y;
    } else {
      const uint128 product = product_of(bits, row->op == VYRE_OP_smulx, x, y);
      first = (uint64_t)product & mask;
      second = (uint64_t)(product >> bits) & mask;
    }
    row->out[0].lane[i] = first;
    row->out[1].lane[i] = second;
  }
  return true;
}

/* ---- packing: f32 lanes and one u32 --------------------------------------------------------------------------------- */

static uint64_t
pack_norm(uint64_t lane, float low, float scale, unsigned bits)
{
  const float x = float_of_bits((uint32_t)lane);
  const float clamped = (float)float_min(float_max((double)x, (double)low), 1.0);
  return (uint64_t)(int64_t)rintf(clamped * scale) & bits_mask(bits);
}

static uint64_t
unpack_norm(uint64_t field, bool is_signed, float scale, unsigned bits)
{
  const float value = is_signed ? (float)sign_extend(bits, field) : (float)field;
  const float x = value / scale;
  return bits_of_float(x < -1.0f ? -1.0f : x);
}

static bool
eval_pack(const row_eval *row)
{
  const bool wide = row->op == VYRE_OP_packsnorm2x16 || row->op == VYRE_OP_packunorm2x16 || row->op == VYRE_OP_packhalf2x16 ||
                    row->op == VYRE_OP_unpacksnorm2x16 || row->op == VYRE_OP_unpackunorm2x16 || row->op == VYRE_OP_unpackhalf2x16;
  const unsigned bits = wide ? 16 : 8;
  const float unsigned_scale = wide ? 65535.0f : 255.0f, signed_scale = wide ? 32767.0f : 127.0f;
  uint64_t packed = 0;
  for (unsigned i = 0; i < 32 / bits; i++) {
    const uint64_t x = lane_of(&row->operands[0], i), field = lane_of(&row->operands[0], 0) >> (i * bits) & bits_mask(bits);
    uint64_t unpacked = 0;
    switch ((uint32_t)row->op) {
    case VYRE_OP_packsnorm4x8:
    case VYRE_OP_packsnorm2x16:
      packed |= pack_norm(x, -1.0f, signed_scale, bits) << (i * bits);
      continue;
    case VYRE_OP_packunorm4x8:
    case VYRE_OP_packunorm2x16:
      packed |= pack_norm(x, 0.0f, unsigned_scale, bits) << (i * bits);
      continue;
    case VYRE_OP_packhalf2x16:
      packed |= lane_of_double(VYRE_F16, double_of_lane(VYRE_F32, x)) << (i * bits);
      continue;
    case VYRE_OP_unpacksnorm4x8:
    case VYRE_OP_unpacksnorm2x16:
      unpacked = unpack_norm(field, true, signed_scale, bits);
      break;
    case VYRE_OP_unpackunorm4x8:
    case VYRE_OP_unpackunorm2x16:
      unpacked = unpack_norm(field, false, unsigned_scale, bits);
      break;
    case VYRE_OP_unpackhalf2x16:
      unpacked = lane_of_double(VYRE_F32, double_of_lane(VYRE_F16, field));
      break;
    default:
      return false;
    }
    row->out[0].lane[i] = unpacked;
  }
  if (VYRE_TYPE_KIND(row->operands[0].type) == VYRE_F32)
    row->out[0].lane[0] = packed;
  return true;
}

/* ---- entry ---------------------------------------------------------------------------------------------------------- */

bool
vyre_eval_here(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3],
               vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined)
{
  const row_eval row = {.op = (vyre_opcode)VYRE_ROW_OP(op_word),
                        .type = VYRE_ROW_TYPE(op_word),
                        .imm = imm,
                        .literal = (uint64_t)imm_hi << 32 | imm,
                        .operands = operands,
                        .out = out};
  *out_undefined = false;
  memset(out, 0, sizeof(vyre_value) * VYRE_EVAL_PARTS);
  bool known = false;
  switch (sort_of(row.op)) {
  case SORT_NONE:
    return false;
  case SORT_LANES:
    known = eval_lanes(&row);
    break;
  case SORT_COMPOSE:
    known = eval_compose(&row);
    break;
  case SORT_INT_PAIR:
    known = eval_int_pair(&row);
    break;
  case SORT_PACK:
    known = eval_pack(&row);
    break;
  case SORT_VECTOR:
    known = vyre_eval_vector(&row);
    break;
  case SORT_MATRIX:
    known = vyre_eval_matrix(&row);
    break;
  case SORT_INT_DOT:
    known = vyre_eval_int_dot(&row);
    break;
  }
  if (known)
    *out_undefined = vyre_eval_is_undefined(&row);
  return known;
}

bool
vyre_eval(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3], vyre_value out[VYRE_EVAL_PARTS],
          bool *out_undefined)
{
  VYRE_OWN_ENVIRONMENT;
  return vyre_eval_here(op_word, imm, imm_hi, operands, out, out_undefined);
}
