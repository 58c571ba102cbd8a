/* Functions on vectors and matrices, by the operations of codegen/common/vectors.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lower.h"

static code_number
pack(operand o)
{
  return (code_number){{o, 0}};
}

static operand
unpack(code_number n)
{
  return (operand)n.words[0];
}

static code_number
binary(void *user, vyre_kind kind, vyre_opcode op, code_number a, code_number b)
{
  lowerer *l = user;
  return pack(lower_op(l, l->program, op, kind, kind, unpack(a), unpack(b), unpack(a)));
}

static code_number
unary(void *user, vyre_kind kind, vyre_opcode op, code_number a)
{
  return binary(user, kind, op, a, a);
}

static code_number
is_less(void *user, vyre_kind kind, code_number a, code_number b)
{
  lowerer *l = user;
  return pack(lower_op(l, l->program, VYRE_OP_flt, kind, VYRE_BOOL, unpack(a), unpack(b), unpack(a)));
}

static code_number
choose(void *user, vyre_kind kind, code_number condition, code_number yes, code_number no)
{
  return pack(lower_select(user, unpack(condition), unpack(yes), unpack(no), lower_is_wide(kind)));
}

static code_number
literal(void *user, vyre_kind kind, double value)
{
  uint64_t bits = 0;
  const uint32_t small = (uint32_t)value;
  /* 0, 1 and 2 of each kind: an exponent alone */
  if (kind == VYRE_F64)
    bits = small ? (UINT64_C(1022) + small) << 52 : 0;
  else if (kind == VYRE_F32)
    bits = small ? (UINT64_C(126) + small) << 23 : 0;
  else
    bits = small ? (UINT64_C(14) + small) << 10 : 0;
  return pack(lower_constant(user, bits, lower_is_wide(kind)));
}

static void
read_vector(const lowerer *l, uint32_t row, code_number out[4])
{
  for (uint32_t k = 0; row && k < VYRE_TYPE_LANES(code_row_type(l->v, row)); k++)
    out[k] = pack(lower_lane(l, row, k));
}

static vyre_kind
read_matrix(const lowerer *l, uint32_t tuple, code_matrix *out)
{
  const vyre_type type = VYRE_TUPLE_TYPE(l->v->imm[tuple]);
  *out = (code_matrix){.columns = VYRE_TUPLE_COUNT(l->v->imm[tuple]), .rows = VYRE_TYPE_LANES(type)};
  for (uint32_t k = 0; k < out->columns && k < 4; k++)
    for (uint32_t i = 0; i < out->rows; i++)
      out->at[k][i] = pack(lower_part(l, tuple, k, i));
  return VYRE_TYPE_KIND(type);
}

static code_math
math_of(lowerer *l, vyre_kind kind)
{
  return (code_math){l, kind, binary, unary, is_less, choose, literal};
}

static void
define_columns(lowerer *l, uint32_t row, const code_matrix *m)
{
  operand r[16] = {0};
  for (uint32_t k = 0; k < m->columns; k++)
    for (uint32_t i = 0; i < m->rows; i++)
      r[k * 4 + i] = unpack(m->at[k][i]);
  lower_define(l, row, r, 16);
}

/* Writes transpose, which moves bits, and outer, whose column k is a * b[k]. */
static void
lower_columns(lowerer *l, uint32_t row)
{
  const uint32_t a = l->v->a[row], b = l->v->b[row];
  code_matrix m, r = {0};
  code_number x[4], y[4];
  if (code_op(l->v, row) == VYRE_OP_transpose) {
    read_matrix(l, a, &m);
    r = (code_matrix){.columns = m.rows, .rows = m.columns};
    for (uint32_t k = 0; k < r.columns; k++)
      for (uint32_t i = 0; i < r.rows; i++)
        r.at[k][i] = m.at[i][k];
  } else {
    r = (code_matrix){.columns = VYRE_TYPE_LANES(code_row_type(l->v, b)), .rows = VYRE_TYPE_LANES(code_row_type(l->v, a))};
    read_vector(l, a, x);
    read_vector(l, b, y);
    for (uint32_t k = 0; k < r.columns; k++)
      for (uint32_t i = 0; i < r.rows; i++)
        r.at[k][i] = binary(l, VYRE_TYPE_KIND(code_row_type(l->v, a)), VYRE_OP_mul, x[i], y[k]);
  }
  define_columns(l, row, &r);
}

void
lower_vector(lowerer *l, uint32_t row)
{
  const vyre_opcode op = code_op(l->v, row);
  const uint32_t a = l->v->a[row], b = l->v->b[row];
  code_number x[4] = {0}, y[4] = {0}, z[4] = {0}, results[4];
  operand r[4] = {0};
  if (op == VYRE_OP_transpose || op == VYRE_OP_outer) {
    lower_columns(l, row);
    return;
  }
  if (op <= VYRE_OP_refract) {
    const code_math math = math_of(l, VYRE_TYPE_KIND(code_row_type(l->v, a)));
    read_vector(l, a, x);
    read_vector(l, b, y);
    read_vector(l, l->v->c[row], z);
    code_vector_op(&math, op, VYRE_TYPE_LANES(code_row_type(l->v, a)), x, y, z, results);
    for (uint32_t k = 0; k < VYRE_TYPE_LANES(code_row_type(l->v, row)); k++)
      r[k] = unpack(results[k]);
    lower_define(l, row, r, 4);
    return;
  }
  code_matrix m, other = {0}, result;
  const code_math math = math_of(l, read_matrix(l, op == VYRE_OP_vecmat ? b : a, &m));
  if (op == VYRE_OP_matmat)
    read_matrix(l, b, &other);
  if (op == VYRE_OP_matvec || op == VYRE_OP_vecmat)
    read_vector(l, op == VYRE_OP_matvec ? b : a, x);
  code_matrix_op(&math, op, &m, x, &other, &result);
  define_columns(l, row, &result);
}
