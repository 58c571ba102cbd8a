/* Subgroup rows: OpGroupNonUniform*, or the instructions of the KHR extensions before SPIR-V 1.3.
 *
 * Strict programs need guards.  An inactive or missing lane gives 0, so a value of another lane is only used if a ballot contains
 * the lane. A broadcast with an index that differs between lanes is a shuffle.  A cluster larger than the subgroup is the subgroup.
 * Devices still choose the order of float sums, and which of two zeros is the minimum.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

#define VERSION_1_3 0x10300u
#define VERSION_1_5 0x10500u
#define U32         VYRE_TYPE(VYRE_U32, 1)
#define BOOL        VYRE_TYPE(VYRE_BOOL, 1)

/* An op's instructions and capability, or 0 if there is none. */
typedef struct group_form {
  uint16_t code, float_code, bool_code, khr; /* khr: before SPIR-V 1.3 */
  uint16_t capability;
} group_form;

#define CODE_FLOAT float_code
#define CODE_BOOL  bool_code

static const group_form forms[] = {
#define SPV_GROUP(op, instruction, form, capability_)                \
  [VYRE_OP_##op - VYRE_OP_subgroup_elect].code = SpvOp##instruction, \
                  [VYRE_OP_##op - VYRE_OP_subgroup_elect].capability = SpvCapability##capability_,
#define SPV_GROUP_ALSO(op, instruction, form, kinds) [VYRE_OP_##op - VYRE_OP_subgroup_elect].CODE_##kinds = SpvOp##instruction,
#define SPV_GROUP_KHR(op, instruction, form)         [VYRE_OP_##op - VYRE_OP_subgroup_elect].khr = SpvOp##instruction,
#include "spirv/ops.def"
};

static const uint8_t groups[] = {
#define SPV_GROUP_OPERATION(group, operation) [VYRE_GROUP_##group] = SpvGroupOperation##operation,
#include "spirv/ops.def"
};

/* The current row. */
typedef struct subgroup {
  vyre_spv *s;
  vyre_opcode op;
  vyre_type type, value; /* of the result; of operand a */
  uint32_t type_id, value_id, bool_id, u32_id;
  uint32_t a, b; /* ids, or 0 */
  uint32_t imm;
} subgroup;

static uint32_t
literal(const subgroup *g, uint32_t value)
{
  return vyre_spv_u32(g->s, value);
}

/* Unsigned arithmetic and comparisons. */
static uint32_t
unsigned_op(const subgroup *g, uint32_t opcode, uint32_t a, uint32_t b)
{
  return vyre_spv_op2(g->s, opcode, g->u32_id, a, b);
}

static uint32_t
compare(const subgroup *g, uint32_t opcode, uint32_t a, uint32_t b)
{
  return vyre_spv_op2(g->s, opcode, g->bool_id, a, b);
}

static uint32_t
choose(const subgroup *g, vyre_type type, uint32_t condition, uint32_t yes, uint32_t no)
{
  return vyre_spv_select(g->s, type, condition, BOOL, yes, no);
}

/* ---- instructions and their capabilities ---- */

static void
require_capability(vyre_spv *s, uint32_t capability)
{
  vyre_spv_need(s, capability, UINT32_MAX, capability == SpvCapabilityGroupNonUniformRotateKHR ? "SPV_KHR_subgroup_rotate" : NULL);
}

static const group_form *
form_of(vyre_opcode op)
{
  return &forms[op - VYRE_OP_subgroup_elect];
}

/* Appends the instruction of an op with its scope and operands, without trailing operands of 0. */
static uint32_t
group_op(const subgroup *g, vyre_opcode op, uint32_t type, uint32_t a, uint32_t b, uint32_t c)
{
  const uint32_t operands[4] = {literal(g, SpvScopeSubgroup), a, b, c};
  require_capability(g->s, form_of(op)->capability);
  return vyre_spv_op(g->s, form_of(op)->code, type, operands, a == 0 ? 1 : b == 0 ? 2 : c == 0 ? 3 : 4);
}

/* Appends the row's own instruction. */
static uint32_t
plain(const subgroup *g)
{
  return group_op(g, g->op, g->type_id, g->a, g->b, 0);
}

static uint32_t
shuffle(const subgroup *g, uint32_t lane)
{
  return group_op(g, VYRE_OP_subgroup_shuffle, g->value_id, g->a, lane, 0);
}

static uint32_t
built_in(const subgroup *g, vyre_opcode what)
{
  return vyre_spv_place(g->s, what);
}

/* Appends an operation over the lanes that the row's imm selects. */
static uint32_t
arithmetic(const subgroup *g, uint32_t opcode, uint32_t type, uint32_t imm, uint32_t value)
{
  const uint32_t group = VYRE_GROUP_OF(imm);
  const bool clustered = group == VYRE_GROUP_CLUSTERED;
  const uint32_t scope = literal(g, SpvScopeSubgroup), size = clustered ? literal(g, VYRE_GROUP_CLUSTER(imm)) : 0;
  const uint32_t operands[4] = {scope, groups[group], value, size};
  require_capability(g->s, clustered ? SpvCapabilityGroupNonUniformClustered : SpvCapabilityGroupNonUniformArithmetic);
  return vyre_spv_op(g->s, opcode, type, operands, clustered ? 4 : 3);
}

/* ---- before SPIR-V 1.3 ---- */

static uint32_t
write_khr(const subgroup *g)
{
  const uint32_t operands[2] = {g->a, g->b}, opcode = form_of(g->op)->khr;
  const bool votes = form_of(g->op)->capability == SpvCapabilityGroupNonUniformVote;
  if (!opcode || (g->op == VYRE_OP_subgroup_alleq && g->value != BOOL)) {
    vyre_spv_fail(g->s, "%s needs SPIR-V 1.3, this module is 1.%u\nFix: compile the shader for Vulkan 1.1 or later",
                  vyre_op_infos[g->op].text, g->s->version >> 8 & 0xffu);
    return 0;
  }
  vyre_spv_need(g->s, votes ? SpvCapabilitySubgroupVoteKHR : SpvCapabilitySubgroupBallotKHR, UINT32_MAX,
                votes ? "SPV_KHR_subgroup_vote" : "SPV_KHR_shader_ballot");
  return vyre_spv_op(g->s, opcode, g->type_id, operands, g->b ? 2 : 1);
}

/* ---- values of other lanes ---- */

/* Returns whether the lane exists and is active. */
static uint32_t
is_active(const subgroup *g, uint32_t lane)
{
  const uint32_t everyone = vyre_spv_constant(g->s, BOOL, 1);
  const uint32_t mask = group_op(g, VYRE_OP_subgroup_ballot, vyre_spv_value_type(g->s, VYRE_TYPE(VYRE_U32, 4)), everyone, 0, 0);
  const uint32_t inside = compare(g, SpvOpULessThan, lane, built_in(g, VYRE_OP_subgroup_size));
  const uint32_t safe = choose(g, U32, inside, lane, literal(g, 0));
  const uint32_t bit = group_op(g, VYRE_OP_subgroup_ballot_bit, g->bool_id, mask, safe, 0);
  return compare(g, SpvOpLogicalAnd, inside, bit);
}

/* Returns the lane whose value this lane gets.  Sets *out_condition to the condition that there is one, or to 0 if it only depends
 * on whether that lane is active. */
static uint32_t
source_lane(const subgroup *g, uint32_t *out_condition)
{
  const uint32_t own = built_in(g, VYRE_OP_subgroup_lane);
  uint32_t inside = 0, turned;
  *out_condition = 0;
  switch ((uint32_t)g->op) {
  case VYRE_OP_subgroup_shuffle_xor:
    return unsigned_op(g, SpvOpBitwiseXor, own, g->b);
  case VYRE_OP_subgroup_shuffle_up:
    *out_condition = compare(g, SpvOpULessThanEqual, g->b, own);
    return unsigned_op(g, SpvOpISub, own, g->b);
  case VYRE_OP_subgroup_shuffle_down: /* the sum may wrap */
    turned = unsigned_op(g, SpvOpIAdd, own, g->b);
    *out_condition = compare(g, SpvOpUGreaterThanEqual, turned, own);
    return turned;
  case VYRE_OP_subgroup_rotate: {
    const uint32_t one = literal(g, 1);
    inside = unsigned_op(g, SpvOpISub, built_in(g, VYRE_OP_subgroup_size), one);
    if (VYRE_GROUP_OF(g->imm) == VYRE_GROUP_CLUSTERED) /* both are one less than a power of two, so this is the minimum */
      inside = unsigned_op(g, SpvOpBitwiseAnd, inside, literal(g, VYRE_GROUP_CLUSTER(g->imm) - 1));
    turned = unsigned_op(g, SpvOpBitwiseAnd, unsigned_op(g, SpvOpIAdd, own, g->b), inside);
    return unsigned_op(g, SpvOpBitwiseOr, unsigned_op(g, SpvOpBitwiseAnd, own, vyre_spv_op1(g->s, SpvOpNot, g->u32_id, inside)),
                       turned);
  }
  case VYRE_OP_subgroup_quad_broadcast:
    *out_condition = compare(g, SpvOpULessThan, g->b, literal(g, 4));
    return unsigned_op(g, SpvOpIAdd, unsigned_op(g, SpvOpBitwiseAnd, own, literal(g, ~3u)), g->b);
  case VYRE_OP_subgroup_quad_swap:
    return unsigned_op(g, SpvOpBitwiseXor, own, unsigned_op(g, SpvOpIAdd, g->b, literal(g, 1)));
  default: /* broadcast, shuffle */
    return g->b;
  }
}

static uint32_t
guarded_move(const subgroup *g)
{
  uint32_t condition;
  const uint32_t lane = source_lane(g, &condition);
  uint32_t active = is_active(g, lane);
  if (condition)
    active = compare(g, SpvOpLogicalAnd, active, condition);
  const uint32_t safe = choose(g, U32, active, lane, built_in(g, VYRE_OP_subgroup_lane));
  const uint32_t null = vyre_spv_null(g->s, g->type_id);
  return choose(g, g->type, active, shuffle(g, safe), null);
}

/* Writes a move in a relaxed program.  A rotation is a shuffle if the module lacks the capability for it, as most devices do. */
static uint32_t
write_move(const subgroup *g, bool constant_index)
{
  const bool any_index = constant_index || g->s->version >= VERSION_1_5;
  uint32_t unused;
  switch ((uint32_t)g->op) {
  case VYRE_OP_subgroup_broadcast:
    if (any_index)
      return plain(g);
    return vyre_spv_declares(g->s, SpvCapabilitySubgroupBallotKHR) ? write_khr(g) : shuffle(g, g->b);
  case VYRE_OP_subgroup_quad_broadcast:
    return any_index ? plain(g) : shuffle(g, source_lane(g, &unused));
  case VYRE_OP_subgroup_rotate:
    if (!vyre_spv_declares(g->s, SpvCapabilityGroupNonUniformRotateKHR))
      return shuffle(g, source_lane(g, &unused));
    return group_op(g, g->op, g->type_id, g->a, g->b,
                    VYRE_GROUP_OF(g->imm) == VYRE_GROUP_CLUSTERED ? literal(g, VYRE_GROUP_CLUSTER(g->imm)) : 0);
  default:
    return plain(g);
  }
}

/* ---- reductions and scans ---- */

/* Ignores NaN, unless all values are NaN. */
static uint32_t
minmax(const subgroup *g, uint32_t opcode, uint32_t imm)
{
  static const uint64_t infinities[] = {0x7c00, 0x7f800000, 0x7ff0000000000000u},
                        nans[] = {0x7e00, 0x7fc00000, 0x7ff8000000000000u};
  const uint32_t which = (uint32_t)(VYRE_TYPE_KIND(g->type) - VYRE_F16);
  const uint64_t sign = UINT64_C(1) << (vyre_kind_bits(VYRE_TYPE_KIND(g->type)) - 1);
  const uint64_t identity = infinities[which] | (g->op == VYRE_OP_subgroup_fmax ? sign : 0);
  const vyre_type bools = VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(g->type));
  const uint32_t bools_id = vyre_spv_value_type(g->s, bools);
  const uint32_t nan = vyre_spv_op1(g->s, SpvOpIsNan, bools_id, g->a);
  const uint32_t value = vyre_spv_op3(g->s, SpvOpSelect, g->type_id, nan, vyre_spv_constant(g->s, g->type, identity), g->a);
  const uint32_t result = arithmetic(g, opcode, g->type_id, imm, value);
  if (VYRE_GROUP_OF(imm) == VYRE_GROUP_EXCLUSIVE) /* whose first value is a number */
    return result;
  const uint32_t numbers = vyre_spv_op1(g->s, SpvOpLogicalNot, bools_id, nan);
  const uint32_t some = arithmetic(g, SpvOpGroupNonUniformLogicalOr, bools_id, imm, numbers);
  return vyre_spv_op3(g->s, SpvOpSelect, g->type_id, some, result, vyre_spv_constant(g->s, g->type, nans[which]));
}

static uint32_t
combine(const subgroup *g, uint32_t imm)
{
  const vyre_kind kind = VYRE_TYPE_KIND(g->type);
  const group_form *f = form_of(g->op);
  const uint32_t opcode = vyre_kind_is_float(kind) && f->float_code ? f->float_code : kind == VYRE_BOOL ? f->bool_code : f->code;
  if (g->s->strict && (g->op == VYRE_OP_subgroup_fmin || g->op == VYRE_OP_subgroup_fmax))
    return minmax(g, opcode, imm);
  return arithmetic(g, opcode, g->type_id, imm, g->a);
}

static uint32_t
write_combination(const subgroup *g)
{
  if (!g->s->strict || VYRE_GROUP_OF(g->imm) != VYRE_GROUP_CLUSTERED)
    return combine(g, g->imm);
  const uint32_t whole = combine(g, VYRE_GROUP(VYRE_GROUP_REDUCE, 0));
  const uint32_t size = built_in(g, VYRE_OP_subgroup_size);
  const uint32_t fits = compare(g, SpvOpULessThanEqual, literal(g, VYRE_GROUP_CLUSTER(g->imm)), size);
  const vyre_spv_branching branching = vyre_spv_if_begin(g->s, fits);
  const uint32_t part = combine(g, g->imm);
  return vyre_spv_if_end(g->s, branching, g->type_id, part, whole);
}

/* ---- ballots ---- */

static uint32_t
write_bit(const subgroup *g, uint32_t lane)
{
  if (!g->s->strict)
    return group_op(g, VYRE_OP_subgroup_ballot_bit, g->type_id, g->a, lane, 0);
  const uint32_t inside = compare(g, SpvOpULessThan, lane, built_in(g, VYRE_OP_subgroup_size));
  const uint32_t safe = choose(g, U32, inside, lane, literal(g, 0));
  const uint32_t bit = group_op(g, VYRE_OP_subgroup_ballot_bit, g->type_id, g->a, safe, 0);
  return compare(g, SpvOpLogicalAnd, inside, bit);
}

static uint32_t
count_bits(const subgroup *g, uint32_t imm)
{
  const uint32_t operands[3] = {literal(g, SpvScopeSubgroup), groups[VYRE_GROUP_OF(imm)], g->a};
  require_capability(g->s, SpvCapabilityGroupNonUniformBallot);
  return vyre_spv_op(g->s, SpvOpGroupNonUniformBallotBitCount, g->u32_id, operands, 3);
}

/* Strict: all ones if no bit is set. */
static uint32_t
find_bit(const subgroup *g)
{
  const uint32_t found = plain(g);
  if (!g->s->strict)
    return found;
  const uint32_t zero = literal(g, 0), some = compare(g, SpvOpINotEqual, count_bits(g, 0), zero);
  return choose(g, U32, some, found, literal(g, UINT32_MAX));
}

/* Compares floats by value: zeros are equal, and NaN equals nothing. */
static uint32_t
equal_numbers(const subgroup *g)
{
  const uint32_t lanes = VYRE_TYPE_LANES(g->value), bools_id = vyre_spv_value_type(g->s, VYRE_TYPE(VYRE_BOOL, lanes));
  const uint32_t zero = vyre_spv_constant(g->s, g->value, 0);
  const uint32_t is_zero = vyre_spv_op2(g->s, SpvOpFOrdEqual, bools_id, g->a, zero);
  const uint32_t value = vyre_spv_op3(g->s, SpvOpSelect, g->value_id, is_zero, zero, g->a);
  uint32_t number = vyre_spv_op1(g->s, SpvOpLogicalNot, bools_id, vyre_spv_op1(g->s, SpvOpIsNan, bools_id, g->a));
  if (lanes > 1)
    number = vyre_spv_op1(g->s, SpvOpAll, g->bool_id, number);
  const uint32_t equal = group_op(g, VYRE_OP_subgroup_alleq, g->bool_id, value, 0, 0);
  const uint32_t all = group_op(g, VYRE_OP_subgroup_all, g->bool_id, number, 0, 0);
  return compare(g, SpvOpLogicalAnd, equal, all);
}

static uint32_t
write_row(const subgroup *g, bool constant_index)
{
  switch ((uint32_t)g->op) {
  case VYRE_OP_subgroup_elect:
  case VYRE_OP_subgroup_all:
  case VYRE_OP_subgroup_any:
  case VYRE_OP_subgroup_first:
  case VYRE_OP_subgroup_ballot:
    return plain(g);
  case VYRE_OP_subgroup_alleq:
    return g->s->strict && vyre_kind_is_float(VYRE_TYPE_KIND(g->value)) ? equal_numbers(g) : plain(g);
  case VYRE_OP_subgroup_inverse_ballot: /* lanes may have different masks */
    return g->s->strict ? write_bit(g, built_in(g, VYRE_OP_subgroup_lane)) : plain(g);
  case VYRE_OP_subgroup_ballot_bit:
    return write_bit(g, g->b);
  case VYRE_OP_subgroup_ballot_count:
    return count_bits(g, g->imm);
  case VYRE_OP_subgroup_ballot_findlsb:
  case VYRE_OP_subgroup_ballot_findmsb:
    return find_bit(g);
  default:
    if (g->op >= VYRE_OP_subgroup_add)
      return write_combination(g);
    return g->s->strict ? guarded_move(g) : write_move(g, constant_index);
  }
}

uint32_t
vyre_spv_subgroup(vyre_spv *s, uint32_t row)
{
  const uint32_t a = s->a[row], b = s->b[row];
  subgroup g = {.s = s, .op = vyre_spv_opcode(s, row), .type = vyre_spv_row_type(s, row), .imm = s->imm[row]};
  g.value = vyre_spv_row_type(s, a);
  g.type_id = vyre_spv_value_type(s, g.type);
  g.u32_id = vyre_spv_value_type(s, U32);
  g.bool_id = vyre_spv_value_type(s, BOOL);
  if (a) {
    g.value_id = vyre_spv_value_type(s, g.value);
    g.a = vyre_spv_value(s, a);
  }
  if (b)
    g.b = vyre_spv_value(s, b);
  if (s->version < VERSION_1_3)
    return write_khr(&g);
  return write_row(&g, b && (vyre_spv_opcode(s, b) == VYRE_OP_const || vyre_spv_opcode(s, b) == VYRE_OP_spec));
}
