/* The result types of ops.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include "vyre/ir.h"

enum result_form { OF_A, OF_B, FIXED, LANE, JOINED, TWO, MIXED, OUTER, MATMAT, TRANSPOSED, INVERSE, DETERMINANT, MATVEC, VECMAT };

#define BOOL  FIXED, VYRE_TYPE(VYRE_BOOL, 1)
#define U32   FIXED, VYRE_TYPE(VYRE_U32, 1)
#define U32X4 FIXED, VYRE_TYPE(VYRE_U32, 4)
#define F32X2 FIXED, VYRE_TYPE(VYRE_F32, 2)
#define F32X4 FIXED, VYRE_TYPE(VYRE_F32, 4)

/* Ops with a rule of their own. The result of any other op has the type of operand a. */
static const struct {
  uint8_t form;
  vyre_type type; /* for FIXED */
} results[VYRE_OP__COUNT] = {
    [VYRE_OP_length] = {U32},
    [VYRE_OP_join] = {JOINED, 0},
    [VYRE_OP_lane] = {LANE, 0},
    [VYRE_OP_select] = {OF_B, 0},
    [VYRE_OP_uaddc] = {TWO, 0},
    [VYRE_OP_usubb] = {TWO, 0},
    [VYRE_OP_umulx] = {TWO, 0},
    [VYRE_OP_smulx] = {TWO, 0},
    [VYRE_OP_any] = {BOOL},
    [VYRE_OP_all] = {BOOL},
    [VYRE_OP_packsnorm4x8] = {U32},
    [VYRE_OP_packunorm4x8] = {U32},
    [VYRE_OP_packsnorm2x16] = {U32},
    [VYRE_OP_packunorm2x16] = {U32},
    [VYRE_OP_packhalf2x16] = {U32},
    [VYRE_OP_unpacksnorm4x8] = {F32X4},
    [VYRE_OP_unpackunorm4x8] = {F32X4},
    [VYRE_OP_unpacksnorm2x16] = {F32X2},
    [VYRE_OP_unpackunorm2x16] = {F32X2},
    [VYRE_OP_unpackhalf2x16] = {F32X2},
    [VYRE_OP_frexp] = {MIXED, 0},
    [VYRE_OP_modf] = {TWO, 0},
    [VYRE_OP_dot] = {LANE, 0},
    [VYRE_OP_norm] = {LANE, 0},
    [VYRE_OP_distance] = {LANE, 0},
    [VYRE_OP_matvec] = {MATVEC, 0},
    [VYRE_OP_vecmat] = {VECMAT, 0},
    [VYRE_OP_matmat] = {MATMAT, 0},
    [VYRE_OP_transpose] = {TRANSPOSED, 0},
    [VYRE_OP_outer] = {OUTER, 0},
    [VYRE_OP_determinant] = {DETERMINANT, 0},
    [VYRE_OP_inverse] = {INVERSE, 0},
    [VYRE_OP_subgroup_elect] = {BOOL},
    [VYRE_OP_subgroup_all] = {BOOL},
    [VYRE_OP_subgroup_any] = {BOOL},
    [VYRE_OP_subgroup_alleq] = {BOOL},
    [VYRE_OP_subgroup_ballot] = {U32X4},
    [VYRE_OP_subgroup_inverse_ballot] = {BOOL},
    [VYRE_OP_subgroup_ballot_bit] = {BOOL},
    [VYRE_OP_subgroup_ballot_count] = {U32},
    [VYRE_OP_subgroup_ballot_findlsb] = {U32},
    [VYRE_OP_subgroup_ballot_findmsb] = {U32},
};

static typed
one_value(uint32_t kind, uint32_t lanes)
{
  return (typed){VYRE_TYPE(kind, lanes), 0};
}

static typed
tuple_of_parts(uint32_t count, vyre_type type)
{
  return (typed){VYRE_TYPE(VYRE_TUPLE, 1), VYRE_TUPLE_OF(count, type)};
}

typed
result_of(vyre_opcode op, const typed operands[3])
{
  const vyre_type a = operands[0].type, b = operands[1].type;
  const vyre_type column = VYRE_TUPLE_TYPE(operands[0].imm), right = VYRE_TUPLE_TYPE(operands[1].imm);
  const uint32_t columns = VYRE_TUPLE_COUNT(operands[0].imm), rights = VYRE_TUPLE_COUNT(operands[1].imm);
  if ((uint32_t)op >= VYRE_OP__COUNT)
    return (typed){a, 0};
  if (vyre_op_is_invocation(op))
    return (typed){vyre_invocation_type(op), 0};
  switch ((enum result_form)results[op].form) {
  case OF_A:
    return (typed){result_uniform(&vyre_op_infos[op], a), 0};
  case OF_B:
    return (typed){b, 0};
  case FIXED:
    return (typed){results[op].type, 0};
  case LANE:
    return one_value(VYRE_TYPE_KIND(a), 1);
  case JOINED:
    return one_value(VYRE_TYPE_KIND(a), result_joined_lanes(operands));
  case TWO:
    return tuple_of_parts(2, a);
  case MIXED:
    return tuple_of_parts(2, 0);
  case OUTER:
    return tuple_of_parts(VYRE_TYPE_LANES(b), a);
  case MATMAT:
    return tuple_of_parts(rights, column);
  case TRANSPOSED:
    return tuple_of_parts(VYRE_TYPE_LANES(column), VYRE_TYPE(VYRE_TYPE_KIND(column), columns));
  case INVERSE:
    return tuple_of_parts(columns, column);
  case DETERMINANT:
    return one_value(VYRE_TYPE_KIND(column), 1);
  case MATVEC:
    return (typed){column, 0};
  case VECMAT:
    return one_value(VYRE_TYPE_KIND(right), rights);
  }
  return (typed){0, 0};
}
