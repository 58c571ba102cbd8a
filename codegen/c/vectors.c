/* Functions on vectors and matrices, and rows with several results.  A matrix is a tuple of its columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

/* ---- operands ------------------------------------------------------------------------------------------------------------- */

static void
put_lanes(cgen *g, uint32_t row)
{
  for (uint32_t k = 0; k < cgen_lanes(g, row); k++) {
    cgen_put(g, k ? ", " : "");
    cgen_float_operand(g, row, k, false);
  }
}

static vyre_type
column_type(const cgen *g, uint32_t matrix)
{
  return cgen_is(g, matrix, VYRE_OP_tuple) ? cgen_row_type(g, vyre_tuple_part(g->v, matrix, 0))
                                           : VYRE_TUPLE_TYPE(g->v->imm[matrix]);
}

static uint32_t
columns_of(const cgen *g, uint32_t matrix)
{
  return VYRE_TUPLE_COUNT(g->v->imm[matrix]);
}

/* Writes one element of a matrix, as it is in memory if `moved`, otherwise as an operand. */
static void
put_element(cgen *g, uint32_t matrix, uint32_t column, uint32_t lane, bool moved)
{
  const vyre_type type = column_type(g, matrix);
  const uint32_t part = cgen_is(g, matrix, VYRE_OP_tuple) ? vyre_tuple_part(g->v, matrix, column) : 0;
  const bool half = !moved && VYRE_TYPE_KIND(type) == VYRE_F16;
  if (part) {
    (moved ? cgen_value : cgen_float_operand)(g, part, lane, false);
    return;
  }
  if (half)
    cgen_call(g, "value", VYRE_F16);
  cgen_put_name(g, matrix, column, VYRE_TYPE_LANES(type) > 1 ? lane : UINT32_MAX);
  cgen_put(g, half ? ")" : "");
}

static void
call_counted(cgen *g, const char *name, uint32_t count, vyre_kind kind)
{
  const char numbered[8] = {name[0], name[1], name[2], name[3] ? name[3] : (char)('0' + count),
                            name[3] ? (char)('0' + count) : '\0'};
  cgen_call(g, numbered, kind);
}

static void
put_dot(cgen *g, uint32_t a, uint32_t b)
{
  call_counted(g, "dot", cgen_lanes(g, a), cgen_kind(g, a));
  put_lanes(g, a);
  cgen_put(g, ", ");
  put_lanes(g, b);
  cgen_put(g, ")");
}

static void
put_norm(cgen *g, uint32_t a)
{
  call_counted(g, "norm", cgen_lanes(g, a), cgen_kind(g, a));
  put_lanes(g, a);
  cgen_put(g, ")");
}

static void
put_product(cgen *g, uint32_t a, uint32_t i, uint32_t b, uint32_t k)
{
  cgen_call(g, "times", cgen_kind(g, a));
  cgen_float_operand(g, a, i, false);
  cgen_put(g, ", ");
  cgen_float_operand(g, b, k, false);
  cgen_put(g, ")");
}

/* ---- vectors -------------------------------------------------------------------------------------------------------------- */

static void
put_distance(cgen *g, uint32_t a, uint32_t b)
{
  call_counted(g, "norm", cgen_lanes(g, a), cgen_kind(g, a));
  for (uint32_t k = 0; k < cgen_lanes(g, a); k++) {
    cgen_put(g, k ? ", " : "");
    cgen_call(g, "minus", cgen_kind(g, a));
    cgen_float_operand(g, a, k, false);
    cgen_put(g, ", ");
    cgen_float_operand(g, b, k, false);
    cgen_put(g, ")");
  }
  cgen_put(g, ")");
}

static void
put_faceforward(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_view *v = g->v;
  put_dot(g, v->c[row], v->b[row]);
  cgen_put(g, " < %s ? ", cgen_kind(g, row) == VYRE_F32 ? "0.0f" : "0.0");
  cgen_float_operand(g, v->a[row], lane, true);
  cgen_put(g, " : -(");
  cgen_float_operand(g, v->a[row], lane, false);
  cgen_put(g, ")");
}

/* Writes one lane of reflect(i, n, dot(n, i)) or refract(i, n, eta, dot(n, i)). */
static void
put_bent(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_view *v = g->v;
  cgen_call(g, vyre_op_infos[cgen_op(g, row)].text, cgen_kind(g, row));
  cgen_float_operand(g, v->a[row], lane, false);
  cgen_put(g, ", ");
  cgen_float_operand(g, v->b[row], lane, false);
  cgen_put(g, ", ");
  if (v->c[row]) {
    cgen_float_operand(g, v->c[row], 0, false);
    cgen_put(g, ", ");
  }
  put_dot(g, v->b[row], v->a[row]);
  cgen_put(g, ")");
}

static void
put_cross(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row], b = g->v->b[row], j = (lane + 1) % 3, k = (lane + 2) % 3;
  put_product(g, a, j, b, k);
  cgen_put(g, " - ");
  put_product(g, a, k, b, j);
}

/* ---- matrices ------------------------------------------------------------------------------------------------------------- */

/* Writes a line of the matrix times a vector: a value's lanes, or a column of another matrix. */
static void
put_line_times(cgen *g, uint32_t matrix, uint32_t line, uint32_t other, uint32_t column)
{
  const uint32_t columns = columns_of(g, matrix);
  call_counted(g, "dot", columns, VYRE_TYPE_KIND(column_type(g, matrix)));
  for (uint32_t k = 0; k < columns; k++) {
    put_element(g, matrix, k, line, false);
    cgen_put(g, ", ");
  }
  for (uint32_t k = 0; k < columns; k++) {
    if (column == UINT32_MAX)
      cgen_float_operand(g, other, k, false);
    else
      put_element(g, other, column, k, false);
    cgen_put(g, k + 1 < columns ? ", " : ")");
  }
}

/* Writes the determinant of the matrix without one column and one line.  UINT32_MAX removes none. */
static void
put_determinant(cgen *g, uint32_t matrix, uint32_t column, uint32_t line)
{
  const uint32_t columns = columns_of(g, matrix);
  bool any = false;
  call_counted(g, "det", columns - (column != UINT32_MAX), VYRE_TYPE_KIND(column_type(g, matrix)));
  for (uint32_t k = 0; k < columns; k++)
    for (uint32_t i = 0; i < columns; i++) {
      if (k == column || i == line)
        continue;
      cgen_put(g, any ? ", " : "");
      put_element(g, matrix, k, i, false);
      any = true;
    }
  cgen_put(g, ")");
}

static void
put_row_vector(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row], matrix = g->v->b[row];
  call_counted(g, "dot", cgen_lanes(g, a), cgen_kind(g, a));
  put_lanes(g, a);
  for (uint32_t i = 0; i < cgen_lanes(g, a); i++) {
    cgen_put(g, ", ");
    put_element(g, matrix, lane, i, false);
  }
  cgen_put(g, ")");
}

bool
cgen_vector(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_view *v = g->v;
  const vyre_opcode op = cgen_op(g, row);
  if (op < VYRE_OP_dot || op > VYRE_OP_determinant)
    return false;
  cgen_open_result(g, cgen_kind(g, row), false);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_dot: put_dot(g, v->a[row], v->b[row]); break;
  case VYRE_OP_norm: put_norm(g, v->a[row]); break;
  case VYRE_OP_distance: put_distance(g, v->a[row], v->b[row]); break;
  case VYRE_OP_cross: put_cross(g, row, lane); break;
  case VYRE_OP_normalize: cgen_float_operand(g, v->a[row], lane, true); cgen_put(g, " / "); put_norm(g, v->a[row]); break;
  case VYRE_OP_faceforward: put_faceforward(g, row, lane); break;
  case VYRE_OP_reflect: case VYRE_OP_refract: put_bent(g, row, lane); break;
  case VYRE_OP_matvec: put_line_times(g, v->a[row], lane, v->b[row], UINT32_MAX); break;
  case VYRE_OP_vecmat: put_row_vector(g, row, lane); break;
  default: put_determinant(g, v->a[row], UINT32_MAX, UINT32_MAX); break;
  }
  /* clang-format on */
  cgen_put(g, ")");
  return true;
}

/* ---- several results ------------------------------------------------------------------------------------------------------ */

uint32_t
cgen_parts(const cgen *g, uint32_t row, vyre_type *out_type, uint32_t k)
{
  const vyre_type common = VYRE_TUPLE_TYPE(g->v->imm[row]), operand = cgen_row_type(g, g->v->a[row]);
  switch ((uint32_t)cgen_op(g, row)) {
  case VYRE_OP_frexp:
    *out_type = k ? VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(operand)) : operand;
    return 2;
  case VYRE_OP_uaddc:
  case VYRE_OP_usubb:
  case VYRE_OP_umulx:
  case VYRE_OP_smulx:
  case VYRE_OP_modf:
    *out_type = operand;
    return 2;
  default:
    *out_type = common;
    return VYRE_TUPLE_COUNT(g->v->imm[row]);
  }
}

static void
put_half_of_product(cgen *g, uint32_t row, uint32_t k, uint32_t lane)
{
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  const vyre_kind kind = cgen_kind(g, a);
  if (k)
    cgen_call(g, cgen_is(g, row, VYRE_OP_umulx) ? "umulhi" : "smulhi", kind);
  else
    cgen_put(g, vyre_kind_bits(kind) < 64 ? "(%s)((uint32_t)" : "(%s)(", cgen_type_name(kind));
  cgen_value(g, a, lane, true);
  cgen_put(g, k ? ", " : " * ");
  cgen_value(g, b, lane, true);
  cgen_put(g, ")");
}

/* Writes a sum or its carry, a difference or its borrow. */
static void
put_carry(cgen *g, uint32_t row, uint32_t k, uint32_t lane)
{
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  const vyre_kind kind = cgen_kind(g, a);
  const bool adds = cgen_is(g, row, VYRE_OP_uaddc);
  if (k)
    cgen_call(g, adds ? "carry" : "borrow", kind);
  else
    cgen_put(g, "(%s)(", cgen_type_name(kind));
  cgen_value(g, a, lane, true);
  cgen_put(g, k ? ", " : adds ? " + " : " - ");
  cgen_value(g, b, lane, true);
  cgen_put(g, ")");
}

/* Writes a part of frexp or modf: each part is a helper. */
static void
put_split(cgen *g, uint32_t row, uint32_t k, uint32_t lane)
{
  const vyre_kind kind = cgen_kind(g, g->v->a[row]);
  const bool exponents = cgen_is(g, row, VYRE_OP_frexp), is_float = !exponents || k == 0;
  if (is_float)
    cgen_open_result(g, kind, true);
  cgen_call(g, exponents ? k ? "exponent" : "significand" : k ? "whole" : "fraction", VYRE_F64);
  cgen_float_operand(g, g->v->a[row], lane, false);
  cgen_put(g, is_float ? "))" : ")");
}

static void
put_cofactor(cgen *g, uint32_t row, uint32_t k, uint32_t lane)
{
  const uint32_t matrix = g->v->a[row];
  cgen_open_result(g, VYRE_TYPE_KIND(column_type(g, matrix)), false);
  cgen_put(g, (lane + k) & 1 ? "-" : "");
  put_determinant(g, matrix, lane, k); /* transposed */
  cgen_put(g, " / ");
  put_determinant(g, matrix, UINT32_MAX, UINT32_MAX);
  cgen_put(g, ")");
}

bool
cgen_part_of(cgen *g, uint32_t row, uint32_t k, uint32_t lane)
{
  const vyre_view *v = g->v;
  switch ((uint32_t)cgen_op(g, row)) {
  case VYRE_OP_uaddc:
  case VYRE_OP_usubb:
    put_carry(g, row, k, lane);
    return true;
  case VYRE_OP_umulx:
  case VYRE_OP_smulx:
    put_half_of_product(g, row, k, lane);
    return true;
  case VYRE_OP_frexp:
  case VYRE_OP_modf:
    put_split(g, row, k, lane);
    return true;
  case VYRE_OP_matmat:
    cgen_open_result(g, VYRE_TYPE_KIND(column_type(g, v->a[row])), false);
    put_line_times(g, v->a[row], lane, v->b[row], k);
    cgen_put(g, ")");
    return true;
  case VYRE_OP_transpose:
    put_element(g, v->a[row], lane, k, true);
    return true;
  case VYRE_OP_outer:
    cgen_open_result(g, cgen_kind(g, v->a[row]), false);
    cgen_float_operand(g, v->a[row], lane, true);
    cgen_put(g, " * ");
    cgen_float_operand(g, v->b[row], k, true);
    cgen_put(g, ")");
    return true;
  case VYRE_OP_inverse:
    put_cofactor(g, row, k, lane);
    return true;
  default:
    return cgen_fail(g, row, "'%s' cannot be written as C\nFix: report this as a bug of vyre", vyre_op_infos[cgen_op(g, row)].text);
  }
}
