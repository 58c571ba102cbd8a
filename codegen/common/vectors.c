/* Functions on vectors and matrices, as operations on one lane in the interpreter's order.  The generator does each operation and
 * rounds it to the kind.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

typedef const code_math math;
typedef code_number number;

static number
mul(math *m, number a, number b)
{
  return m->binary(m->user, m->kind, VYRE_OP_mul, a, b);
}

static number
add(math *m, number a, number b)
{
  return m->binary(m->user, m->kind, VYRE_OP_add, a, b);
}

static number
sub(math *m, number a, number b)
{
  return m->binary(m->user, m->kind, VYRE_OP_sub, a, b);
}

static number
divide(math *m, number a, number b)
{
  return m->binary(m->user, m->kind, VYRE_OP_fdiv, a, b);
}

static number
negate(math *m, number a)
{
  return m->unary(m->user, m->kind, VYRE_OP_neg, a);
}

static number
dot(math *m, const number *a, const number *b, uint32_t lanes)
{
  number sum = mul(m, a[0], b[0]);
  for (uint32_t k = 1; k < lanes; k++)
    sum = add(m, sum, mul(m, a[k], b[k]));
  return sum;
}

static number
norm(math *m, const number *a, uint32_t lanes)
{
  return lanes == 1 ? m->unary(m->user, m->kind, VYRE_OP_fabs, a[0])
                    : m->unary(m->user, m->kind, VYRE_OP_sqrt, dot(m, a, a, lanes));
}

static void
refract(math *m, const number *i, const number *n, number eta, uint32_t lanes, number *out)
{
  const number one = m->literal(m->user, m->kind, 1.0), zero = m->literal(m->user, m->kind, 0.0);
  const number cosine = dot(m, n, i, lanes);
  const number sine2 = sub(m, one, mul(m, cosine, cosine));
  const number k = sub(m, one, mul(m, mul(m, eta, eta), sine2));
  const number root = m->unary(m->user, m->kind, VYRE_OP_sqrt, k), bend = add(m, mul(m, eta, cosine), root);
  const number none = m->is_less(m->user, m->kind, k, zero);
  for (uint32_t l = 0; l < lanes; l++) {
    const number bent = mul(m, bend, n[l]);
    out[l] = m->choose(m->user, m->kind, none, zero, sub(m, mul(m, eta, i[l]), bent));
  }
}

void
code_vector_op(const code_math *m, vyre_opcode op, uint32_t lanes, const code_number a[4], const code_number b[4],
               const code_number c[4], code_number out[4])
{
  switch ((uint32_t)op) {
  case VYRE_OP_dot:
    out[0] = dot(m, a, b, lanes);
    return;
  case VYRE_OP_norm:
    out[0] = norm(m, a, lanes);
    return;
  case VYRE_OP_distance:
    for (uint32_t k = 0; k < lanes; k++)
      out[k] = sub(m, a[k], b[k]);
    out[0] = norm(m, out, lanes);
    return;
  case VYRE_OP_cross:
    for (uint32_t i = 0; i < 3; i++) {
      const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
      const number right = mul(m, a[k], b[j]);
      out[i] = sub(m, mul(m, a[j], b[k]), right);
    }
    return;
  case VYRE_OP_normalize: {
    const number length = norm(m, a, lanes);
    for (uint32_t k = 0; k < lanes; k++)
      out[k] = divide(m, a[k], length);
    return;
  }
  case VYRE_OP_faceforward: {
    const number away = m->is_less(m->user, m->kind, dot(m, c, b, lanes), m->literal(m->user, m->kind, 0.0));
    for (uint32_t k = 0; k < lanes; k++)
      out[k] = m->choose(m->user, m->kind, away, a[k], negate(m, a[k]));
    return;
  }
  case VYRE_OP_reflect: {
    const number twice = mul(m, dot(m, b, a, lanes), m->literal(m->user, m->kind, 2.0));
    for (uint32_t k = 0; k < lanes; k++)
      out[k] = sub(m, a[k], mul(m, twice, b[k]));
    return;
  }
  default:
    refract(m, a, b, c[0], lanes, out);
    return;
  }
}

/* ---- matrices by columns ---------------------------------------------------------------------------------------------------- */

static void
matrix_times(math *m, const code_matrix *x, const number *v, number *out)
{
  for (uint32_t i = 0; i < x->rows; i++) {
    out[i] = mul(m, x->at[0][i], v[0]);
    for (uint32_t k = 1; k < x->columns; k++)
      out[i] = add(m, out[i], mul(m, x->at[k][i], v[k]));
  }
}

/* Returns the matrix without one column and one row. */
static code_matrix
minor_of(const code_matrix *x, uint32_t column, uint32_t line)
{
  code_matrix out = {.columns = x->columns - 1, .rows = x->rows - 1};
  for (uint32_t k = 0, to = 0; k < x->columns; k++) {
    if (k == column)
      continue;
    for (uint32_t i = 0, next = 0; i < x->rows; i++)
      if (i != line)
        out.at[to][next++] = x->at[k][i];
    to++;
  }
  return out;
}

/* Returns the determinant, expanded along the first column.  Recurses at most 4 deep. */
static number
determinant(math *m, const code_matrix *x)
{
  number sum = x->at[0][0];
  for (uint32_t i = 0; x->columns > 1 && i < x->rows; i++) {
    const code_matrix rest = minor_of(x, 0, i);
    const number part = mul(m, x->at[0][i], determinant(m, &rest));
    sum = i == 0 ? part : i & 1 ? sub(m, sum, part) : add(m, sum, part);
  }
  return sum;
}

static void
inverse(math *m, const code_matrix *x, code_matrix *out)
{
  const number whole = determinant(m, x);
  *out = (code_matrix){.columns = x->columns, .rows = x->rows};
  for (uint32_t k = 0; k < x->columns; k++)
    for (uint32_t i = 0; i < x->rows; i++) {
      const code_matrix rest = minor_of(x, i, k); /* transposed */
      const number cofactor = x->columns == 1 ? m->literal(m->user, m->kind, 0.0) : determinant(m, &rest);
      out->at[k][i] = divide(m, (i + k) & 1 ? negate(m, cofactor) : cofactor, whole);
    }
}

void
code_matrix_op(const code_math *m, vyre_opcode op, const code_matrix *x, const code_number v[4], const code_matrix *other,
               code_matrix *out)
{
  *out = (code_matrix){.columns = 1, .rows = 1};
  switch ((uint32_t)op) {
  case VYRE_OP_matvec:
    matrix_times(m, x, v, out->at[0]);
    out->rows = x->rows;
    return;
  case VYRE_OP_vecmat:
    for (uint32_t k = 0; k < x->columns; k++)
      out->at[0][k] = dot(m, v, x->at[k], x->rows);
    out->rows = x->columns;
    return;
  case VYRE_OP_matmat:
    for (uint32_t k = 0; k < other->columns; k++)
      matrix_times(m, x, other->at[k], out->at[k]);
    out->columns = other->columns;
    out->rows = x->rows;
    return;
  case VYRE_OP_determinant:
    out->at[0][0] = determinant(m, x);
    return;
  default:
    inverse(m, x, out);
    return;
  }
}
