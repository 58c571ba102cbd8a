/* Vector and matrix functions of floats.
 *
 * Their order is fixed and each operation is rounded to the kind, so that a code generator can repeat them:
 *
 *     dot      ((x0*y0 + x1*y1) + x2*y2) + x3*y3; one lane: x0*y0          norm      one lane: |x|; otherwise sqrt(dot(x, x))
 *     matvec   ((c0*v0 + c1*v1) + c2*v2) + c3*v3, lane by lane             normalize each lane x / norm(x)
 *     cross    x[i]*y[j] - x[j]*y[i]                                       reflect   i - (2*dot(n, i))*n
 *     det      by the first column, minors in the same way                 inverse   cofactors, each divided by the determinant
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "scalar.h"

/* ---- vectors as doubles: every operation rounded to the kind -------------------------------------------------------- */

typedef struct vec {
  double x[4];
} vec;

static vec
read_vec(vyre_kind kind, const vyre_value *value, uint32_t lanes)
{
  vec v = {{0}};
  for (uint32_t i = 0; value && i < lanes; i++)
    v.x[i] = double_of_lane(kind, value->lane[i]);
  return v;
}

static void
write_vec(vyre_kind kind, const double *x, uint32_t lanes, vyre_value *out)
{
  for (uint32_t i = 0; i < lanes; i++)
    out->lane[i] = lane_of_double(kind, x[i]);
}

static double
mul(vyre_kind kind, double x, double y)
{
  return round_to_kind(kind, x * y);
}

static double
add(vyre_kind kind, double x, double y)
{
  return round_to_kind(kind, x + y);
}

static double
dot(vyre_kind kind, const double *x, const double *y, uint32_t lanes)
{
  double sum = mul(kind, x[0], y[0]);
  for (uint32_t i = 1; i < lanes; i++)
    sum = add(kind, sum, mul(kind, x[i], y[i]));
  return sum;
}

static double
norm(vyre_kind kind, const double *x, uint32_t lanes)
{
  return lanes == 1 ? fabs(x[0]) : round_to_kind(kind, sqrt(dot(kind, x, x, lanes)));
}

static void
refract(vyre_kind kind, const double *incident, const double *normal, double eta, uint32_t lanes, double *out)
{
  const double cosine = dot(kind, normal, incident, lanes);
  const double sine2 = add(kind, 1.0, -mul(kind, cosine, cosine));
  const double k = add(kind, 1.0, -mul(kind, mul(kind, eta, eta), sine2));
  const double bend = add(kind, mul(kind, eta, cosine), round_to_kind(kind, sqrt(k)));
  for (uint32_t i = 0; i < lanes; i++)
    out[i] = k < 0.0 ? 0.0 : add(kind, mul(kind, eta, incident[i]), -mul(kind, bend, normal[i]));
}

static bool
split(const row_eval *row, vyre_kind kind, const double *x, uint32_t lanes)
{
  for (uint32_t i = 0; i < lanes; i++) {
    if (row->op == VYRE_OP_modf) {
      double whole;
      const double fraction = modf(x[i], &whole);
      row->out[0].lane[i] = lane_of_double(kind, fraction);
      row->out[1].lane[i] = lane_of_double(kind, whole);
    } else {
      int exponent = 0;
      const double significand = isfinite(x[i]) ? frexp(x[i], &exponent) : x[i];
      row->out[0].lane[i] = lane_of_double(kind, significand);
      row->out[1].lane[i] = (uint64_t)(int64_t)exponent & bits_mask(32);
    }
  }
  return true;
}

bool
vyre_eval_vector(const row_eval *row)
{
  const vyre_kind kind = VYRE_TYPE_KIND(row->operands[0].type);
  if (!vyre_kind_is_float(kind))
    return false;
  const uint32_t lanes = lanes_of(&row->operands[0]);
  const vec x = read_vec(kind, row->operands[0].value, lanes), y = read_vec(kind, row->operands[1].value, lanes);
  const vec z = read_vec(kind, row->operands[2].value, lanes);
  vec r = {{0}};
  switch ((uint32_t)row->op) {
  case VYRE_OP_frexp:
  case VYRE_OP_modf:
    return split(row, kind, x.x, lanes);
  case VYRE_OP_dot:
    r.x[0] = dot(kind, x.x, y.x, lanes);
    break;
  case VYRE_OP_norm:
    r.x[0] = norm(kind, x.x, lanes);
    break;
  case VYRE_OP_distance:
    for (uint32_t i = 0; i < lanes; i++)
      r.x[i] = add(kind, x.x[i], -y.x[i]);
    r.x[0] = norm(kind, r.x, lanes);
    break;
  case VYRE_OP_cross:
    for (uint32_t i = 0; i < 3; i++) {
      const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
      r.x[i] = mul(kind, x.x[j], y.x[k]) - mul(kind, x.x[k], y.x[j]);
    }
    break;
  case VYRE_OP_normalize:
    for (uint32_t i = 0; i < lanes; i++)
      r.x[i] = x.x[i] / norm(kind, x.x, lanes);
    break;
  case VYRE_OP_faceforward:
    for (uint32_t i = 0; i < lanes; i++)
      r.x[i] = dot(kind, z.x, y.x, lanes) < 0.0 ? x.x[i] : -x.x[i];
    break;
  case VYRE_OP_reflect: {
    const double twice = mul(kind, 2.0, dot(kind, y.x, x.x, lanes));
    for (uint32_t i = 0; i < lanes; i++)
      r.x[i] = x.x[i] - mul(kind, twice, y.x[i]);
    break;
  }
  case VYRE_OP_refract:
    refract(kind, x.x, y.x, z.x[0], lanes, r.x);
    break;
  case VYRE_OP_outer: { /* column k: x * y[k] */
    const vec factors = read_vec(kind, row->operands[1].value, lanes_of(&row->operands[1]));
    for (uint32_t k = 0; k < lanes_of(&row->operands[1]); k++) {
      for (uint32_t i = 0; i < lanes; i++)
        r.x[i] = x.x[i] * factors.x[k];
      write_vec(kind, r.x, lanes, &row->out[k]);
    }
    return true;
  }
  default:
    return false;
  }
  write_vec(kind, r.x, VYRE_TYPE_LANES(row->type), row->out);
  return true;
}

/* ---- matrices: columns ---------------------------------------------------------------------------------------------- */

typedef struct matrix {
  vyre_kind kind;
  uint32_t columns, rows;
  double at[4][4]; /* column, row */
} matrix;

static bool
read_matrix(const vyre_eval_operand *operand, matrix *out)
{
  *out =
      (matrix){.kind = VYRE_TYPE_KIND(operand->part_type), .columns = operand->parts, .rows = VYRE_TYPE_LANES(operand->part_type)};
  if (!vyre_kind_is_float(out->kind) || out->columns == 0 || out->columns > 4 || !operand->value)
    return false;
  for (uint32_t k = 0; k < out->columns; k++) {
    const vec column = read_vec(out->kind, &operand->value[k], out->rows);
    memcpy(out->at[k], column.x, sizeof column.x);
  }
  return true;
}

static void
matrix_times(const matrix *m, const double *v, double *out)
{
  for (uint32_t i = 0; i < m->rows; i++) {
    double sum = mul(m->kind, m->at[0][i], v[0]);
    for (uint32_t k = 1; k < m->columns; k++)
      sum = add(m->kind, sum, mul(m->kind, m->at[k][i], v[k]));
    out[i] = sum;
  }
}

/* Returns the matrix without one column and one row. */
static matrix
minor_of(const matrix *m, uint32_t column, uint32_t line)
{
  matrix out = {.kind = m->kind, .columns = m->columns - 1, .rows = m->rows - 1};
  for (uint32_t k = 0, to = 0; k < m->columns; k++) {
    if (k == column)
      continue;
    for (uint32_t i = 0, place = 0; i < m->rows; i++)
      if (i != line)
        out.at[to][place++] = m->at[k][i];
    to++;
  }
  return out;
}

/* Recursion is at most 4 deep, because matrices have at most 4 columns. */
static double
determinant(const matrix *m)
{
  if (m->columns == 1)
    return m->at[0][0];
  double sum = 0.0;
  for (uint32_t i = 0; i < m->rows; i++) {
    const matrix rest = minor_of(m, 0, i);
    const double term = mul(m->kind, m->at[0][i], determinant(&rest));
    sum = i == 0 ? term : add(m->kind, sum, i & 1 ? -term : term);
  }
  return sum;
}

static void
inverse(const matrix *m, vyre_value *out)
{
  const double whole = determinant(m);
  for (uint32_t k = 0; k < m->columns; k++) {
    double column[4];
    for (uint32_t i = 0; i < m->rows; i++) {
      const matrix rest = minor_of(m, i, k); /* transposed */
      const double cofactor = determinant(&rest);
      column[i] = ((i + k) & 1 ? -cofactor : cofactor) / whole;
    }
    write_vec(m->kind, column, m->rows, &out[k]);
  }
}

bool
vyre_eval_matrix(const row_eval *row)
{
  matrix m, other;
  if (!read_matrix(&row->operands[row->op == VYRE_OP_vecmat ? 1 : 0], &m))
    return false;
  vec r = {{0}};
  switch ((uint32_t)row->op) {
  case VYRE_OP_matvec: {
    const vec v = read_vec(m.kind, row->operands[1].value, m.columns);
    matrix_times(&m, v.x, r.x);
    write_vec(m.kind, r.x, m.rows, row->out);
    return true;
  }
  case VYRE_OP_vecmat: {
    const vec v = read_vec(m.kind, row->operands[0].value, m.rows);
    for (uint32_t k = 0; k < m.columns; k++)
      r.x[k] = dot(m.kind, v.x, m.at[k], m.rows);
    write_vec(m.kind, r.x, m.columns, row->out);
    return true;
  }
  case VYRE_OP_matmat:
    if (!read_matrix(&row->operands[1], &other) || other.kind != m.kind || other.rows != m.columns)
      return false;
    for (uint32_t k = 0; k < other.columns; k++) {
      matrix_times(&m, other.at[k], r.x);
      write_vec(m.kind, r.x, m.rows, &row->out[k]);
    }
    return true;
  case VYRE_OP_transpose: /* moves bits: a NaN keeps its payload */
    for (uint32_t k = 0; k < m.rows; k++)
      for (uint32_t i = 0; i < m.columns; i++)
        row->out[k].lane[i] = row->operands[0].value[i].lane[k];
    return true;
  case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    if (m.rows != m.columns)
      return false;
    if (row->op == VYRE_OP_inverse)
      inverse(&m, row->out);
    else
      row->out[0].lane[0] = lane_of_double(m.kind, determinant(&m));
    return true;
  default:
    return false;
  }
}

bool
vyre_eval_is_singular(const vyre_eval_operand *operand)
{
  matrix m;
  return read_matrix(operand, &m) && m.rows == m.columns && determinant(&m) == 0.0;
}
