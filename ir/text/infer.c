/* Infers the type of a row from its operands: by table/result.c, or the type of the location for accesses to memory.
 *
 * Only operands that determine the result are checked; the verifier checks the rest.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "table/result.h"
#include "vyre/opaque.h"
#include "vyre/view.h"

vyre_type
text_type_of(const text_parser *p, uint32_t row)
{
  return VYRE_ROW_TYPE(p->view->op[row]);
}

static uint32_t
op_of(const text_parser *p, uint32_t row)
{
  return VYRE_ROW_OP(p->view->op[row]);
}

vyre_type
text_part_type(const text_parser *p, uint32_t tuple, uint32_t part)
{
  const uint32_t op = op_of(p, tuple), imm = p->view->imm[tuple];
  if (!vyre_op_is_opaque(op) && part >= VYRE_TUPLE_COUNT(imm))
    return VYRE_VOID;
  if (op == VYRE_OP_tuple)
    return text_type_of(p, vyre_tuple_part(p->view, tuple, part));
  const vyre_type_id type = vyre_part_type_id(p->module, (vyre_row){tuple}, part);
  return type < 256 ? (vyre_type)type : VYRE_TYPE(VYRE_OPAQUE, 1);
}

/* Returns false after reporting an error. */
static bool
check_matrix(text_parser *p, const text_token *at, const text_operand *operand)
{
  const uint32_t imm = p->view->imm[operand->row], columns = VYRE_TUPLE_COUNT(imm);
  char text[160];
  return (VYRE_TYPE_KIND(operand->type) == VYRE_TUPLE && columns >= 2 && columns <= 4 &&
          VYRE_TYPE_LANES(VYRE_TUPLE_TYPE(imm)) > 1) ||
         text_error(p, operand->start, operand->length, NULL, "%.*s takes a matrix, a tuple of 2 to 4 equal vectors; this is %s",
                    (int)at->length, p->lexer.text + at->start, text_describe(p, operand, text));
}

/* Determines the scalar or vector type of the location. Returns false after reporting an error. */
static bool
infer_access(text_parser *p, const text_token *at, const text_operand *path, vyre_type *out_type)
{
  vyre_type_id type = vyre_path_type(p->module, (vyre_row){path->row});
  *out_type = (vyre_type)type;
  char text[96];
  if (vyre_type_get(p->module, type).form == VYRE_FORM_WORDS) {
    *out_type = VYRE_TYPE(VYRE_OPAQUE, 1);
    return true;
  }
  if (type >= 256)
    return text_error(p, path->start, path->length, "go on to a scalar or vector, or copy the whole",
                      "%.*s takes a scalar or vector, this is %s", (int)at->length, p->lexer.text + at->start,
                      text_describe_type(p, type, text));
  return true;
}

/* Checks that the type of the value is the type of the location. */
static bool
check_store(text_parser *p, const text_token *at, const text_operand *operands)
{
  vyre_type place;
  char place_text[48];
  char value_text[48];
  if (!infer_access(p, at, &operands[0], &place))
    return false;
  return place == operands[1].type || text_error(p, operands[1].start, operands[1].length, NULL, "the location is %s, the value %s",
                                                 vyre_text_type(place, place_text), vyre_text_type(operands[1].type, value_text));
}

/* Checks the operands that determine the result. Returns false after reporting an error. */
static bool
check_operands(text_parser *p, vyre_opcode op, const text_token *at, const text_operand *operands, const typed types[3])
{
  switch ((uint32_t)op) {
  case VYRE_OP_join:
    return result_joined_lanes(types) <= 4 ||
           text_error(p, at->start, at->length, NULL, "a join of %u lanes: at most 4", result_joined_lanes(types));
  case VYRE_OP_matmat:
    return check_matrix(p, at, &operands[0]) && check_matrix(p, at, &operands[1]);
  case VYRE_OP_transpose:
  case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    return check_matrix(p, at, &operands[0]);
  default:
    return true;
  }
}

bool
text_infer(text_parser *p, vyre_opcode op, const text_token *at, const text_operand *operands, uint32_t count, vyre_type *out_type,
           uint32_t *out_imm)
{
  typed types[3] = {{0, 0}, {0, 0}, {0, 0}}, result;
  *out_type = VYRE_VOID;
  *out_imm = 0;
  if (vyre_op_infos[op].rule == VYRE_RULE_VOID)
    return (op != VYRE_OP_store && op != VYRE_OP_atomic_store) || check_store(p, at, operands);
  if (op == VYRE_OP_load || vyre_op_is_atomic(op))
    return infer_access(p, at, &operands[0], out_type);
  for (uint32_t i = 0; i < count; i++)
    types[i] = (typed){operands[i].type, p->view->imm[operands[i].row]};
  if (!check_operands(p, op, at, operands, types))
    return false;
  result = result_of(op, types);
  *out_type = result.type;
  *out_imm = result.imm;
  return true;
}
