/* What type a row has that the text does not say: by its op's rule, and for rule OWN by a case each.
 *
 * Only what is needed to know the type is asked of the operands; whether they are right otherwise is the verifier's to say.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "table/subgroup.h"
#include "vyre/opaque.h"

#define SCALAR(kind) VYRE_TYPE(kind, 1)

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
  if (vyre_op_is_opaque(op_of(p, tuple))) {
    const vyre_type_id type = vyre_part_type_id(p->module, (vyre_row){tuple}, part);
    return type < 256 ? (vyre_type)type : SCALAR(VYRE_OPAQUE);
  }
  while (op_of(p, tuple) == VYRE_OP_tuple) {
    uint32_t count = VYRE_TUPLE_COUNT(p->view->imm[tuple]);
    if (part < 2 || count <= 3) {
      uint32_t row = part == 0 ? p->view->a[tuple] : part == 1 ? p->view->b[tuple] : p->view->c[tuple];
      return part < count ? text_type_of(p, row) : VYRE_VOID;
    }
    tuple = p->view->c[tuple];
    part -= 2;
  }
  uint32_t imm = p->view->imm[tuple];
  if (part >= VYRE_TUPLE_COUNT(imm))
    return VYRE_VOID;
  if (op_of(p, tuple) == VYRE_OP_frexp) {
    vyre_type type = text_type_of(p, p->view->a[tuple]);
    return part == 0 ? type : VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type));
  }
  return VYRE_TUPLE_TYPE(imm);
}

/* Columns and column type of a matrix; false after a message. */
static bool
matrix_of(text_parser *p, const text_token *at, const text_operand *operand, uint32_t *out_columns, vyre_type *out_column)
{
  uint32_t imm = p->view->imm[operand->row];
  *out_columns = VYRE_TUPLE_COUNT(imm);
  *out_column = VYRE_TUPLE_TYPE(imm);
  bool good =
      VYRE_TYPE_KIND(operand->type) == VYRE_TUPLE && *out_columns >= 2 && *out_columns <= 4 && VYRE_TYPE_LANES(*out_column) > 1;
  char text[160];
  if (!good)
    text_error(p, operand->start, operand->length, NULL, "%.*s takes a matrix, a tuple of 2 to 4 equal vectors; this is %s",
               (int)at->length, p->lexer.text + at->start, text_describe(p, operand, text));
  return good;
}

static bool
infer_matrix(text_parser *p, vyre_opcode op, const text_token *at, const text_operand *operands, vyre_type *out_type,
             uint32_t *out_imm)
{
  uint32_t columns, right;
  vyre_type column, right_column;
  *out_type = SCALAR(VYRE_TUPLE);
  if (op == VYRE_OP_outer) {
    *out_imm = VYRE_TUPLE_OF(VYRE_TYPE_LANES(operands[1].type), operands[0].type);
    return true;
  }
  if (!matrix_of(p, at, &operands[0], &columns, &column))
    return false;
  if (op == VYRE_OP_matmat) {
    if (!matrix_of(p, at, &operands[1], &right, &right_column))
      return false;
    columns = right;
  } else if (op == VYRE_OP_transpose) {
    right = VYRE_TYPE_LANES(column);
    column = VYRE_TYPE(VYRE_TYPE_KIND(column), columns);
    columns = right;
  } else if (op == VYRE_OP_determinant) {
    *out_type = SCALAR(VYRE_TYPE_KIND(column));
    return true;
  }
  *out_imm = VYRE_TUPLE_OF(columns, column);
  return true;
}

static bool
infer_join(text_parser *p, const text_token *at, const text_operand *operands, uint32_t count, vyre_type *out_type)
{
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < count; i++)
    lanes += VYRE_TYPE_LANES(operands[i].type);
  if (lanes > 4)
    return text_error(p, at->start, at->length, NULL, "a join of %u lanes: at most 4", lanes);
  *out_type = VYRE_TYPE(VYRE_TYPE_KIND(operands[0].type), lanes);
  return true;
}

/* The scalar or vector that a path reaches. */
static bool
infer_access(text_parser *p, const text_token *at, const text_operand *path, vyre_type *out_type)
{
  vyre_type_id type = vyre_path_type(p->module, (vyre_row){path->row});
  *out_type = (vyre_type)type;
  char text[96];
  if (vyre_type_get(p->module, type).form == VYRE_FORM_WORDS) {
    *out_type = SCALAR(VYRE_OPAQUE);
    return true;
  }
  if (type >= 256)
    return text_error(p, path->start, path->length, "go on to a scalar or vector, or copy the whole",
                      "%.*s takes a scalar or vector, this is %s", (int)at->length, p->lexer.text + at->start,
                      text_describe_type(p, type, text));
  return true;
}

/* The types and positions of location and value are both known here. */
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

static bool
infer_own(text_parser *p, vyre_opcode op, const text_token *at, const text_operand *operands, uint32_t count, vyre_type *out_type,
          uint32_t *out_imm)
{
  vyre_type a = count ? operands[0].type : VYRE_VOID;
  vyre_type scalar = VYRE_TYPE(VYRE_TYPE_KIND(a), 1);
  if (op == VYRE_OP_load || vyre_op_is_atomic(op))
    return infer_access(p, at, &operands[0], out_type);
  if (subgroup_is_place(op) || vyre_op_is_subgroup(op)) {
    *out_type = subgroup_type(op, a);
    return true;
  }
  switch (op) {
  case VYRE_OP_gid:
  case VYRE_OP_lid:
  case VYRE_OP_wid:
  case VYRE_OP_groups:
    *out_type = VYRE_TYPE(VYRE_U32, 3);
    return true;
  case VYRE_OP_length:
  case VYRE_OP_lindex:
  case VYRE_OP_packsnorm4x8:
  case VYRE_OP_packunorm4x8:
  case VYRE_OP_packsnorm2x16:
  case VYRE_OP_packunorm2x16:
  case VYRE_OP_packhalf2x16:
    *out_type = SCALAR(VYRE_U32);
    return true;
  case VYRE_OP_unpacksnorm4x8:
  case VYRE_OP_unpackunorm4x8:
    *out_type = VYRE_TYPE(VYRE_F32, 4);
    return true;
  case VYRE_OP_unpacksnorm2x16:
  case VYRE_OP_unpackunorm2x16:
  case VYRE_OP_unpackhalf2x16:
    *out_type = VYRE_TYPE(VYRE_F32, 2);
    return true;
  case VYRE_OP_any:
  case VYRE_OP_all:
    *out_type = SCALAR(VYRE_BOOL);
    return true;
  case VYRE_OP_select:
    *out_type = operands[1].type;
    return true;
  case VYRE_OP_join:
    return infer_join(p, at, operands, count, out_type);
  case VYRE_OP_lane:
  case VYRE_OP_dot:
  case VYRE_OP_norm:
  case VYRE_OP_distance:
    *out_type = scalar;
    return true;
  case VYRE_OP_uaddc:
  case VYRE_OP_usubb:
  case VYRE_OP_umulx:
  case VYRE_OP_smulx:
  case VYRE_OP_modf:
    *out_type = SCALAR(VYRE_TUPLE);
    *out_imm = VYRE_TUPLE_OF(2, a);
    return true;
  case VYRE_OP_frexp:
    *out_type = SCALAR(VYRE_TUPLE);
    *out_imm = VYRE_TUPLE_OF(2, 0);
    return true;
  case VYRE_OP_outer:
  case VYRE_OP_matmat:
  case VYRE_OP_transpose:
  case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    return infer_matrix(p, op, at, operands, out_type, out_imm);
  default: /* get, insert, ubfe, sbfe, bfi, ldexp, refract: the type of a */
    *out_type = a;
    return true;
  }
}

bool
text_infer(text_parser *p, vyre_opcode op, const text_token *at, const text_operand *operands, uint32_t count, vyre_type *out_type,
           uint32_t *out_imm)
{
  *out_type = VYRE_VOID;
  *out_imm = 0;
  switch ((vyre_rule)vyre_op_infos[op].rule) {
  case VYRE_RULE_SAME:
    *out_type = operands[0].type;
    return true;
  case VYRE_RULE_BOOL:
    *out_type = VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(operands[0].type));
    return true;
  case VYRE_RULE_OWN:
    return infer_own(p, op, at, operands, count, out_type, out_imm);
  case VYRE_RULE_VOID:
    return (op != VYRE_OP_store && op != VYRE_OP_atomic_store) || check_store(p, at, operands);
  case VYRE_RULE_FREE:
    break;
  }
  return true;
}
