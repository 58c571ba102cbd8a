/* Vectors and matrices of floats.  Operations are in the interpreter's order, and each is rounded to the kind.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

typedef struct vector {
  reg x[4];
} vector;

typedef struct matrix {
  vyre_kind kind;
  uint32_t columns, rows;
  reg at[4][4]; /* column, row */
} matrix;

static vector
read_vector(gen *g, uint32_t row)
{
  vector v = {{{0}}};
  for (uint32_t k = 0; row && k < lanes_of(g, row); k++)
    v.x[k] = pgen_number_of(g, row, k);
  return v;
}

static reg
mul(gen *g, vyre_kind kind, reg a, reg b)
{
  return pgen_float_op(g, kind, "mul", a, b, true);
}

static reg
add(gen *g, vyre_kind kind, reg a, reg b)
{
  return pgen_float_op(g, kind, "add", a, b, true);
}

static reg
sub(gen *g, vyre_kind kind, reg a, reg b)
{
  return pgen_float_op(g, kind, "sub", a, b, true);
}

static reg
dot(gen *g, vyre_kind kind, const reg *a, const reg *b, uint32_t lanes)
{
  reg sum = mul(g, kind, a[0], b[0]);
  for (uint32_t k = 1; k < lanes; k++)
    sum = add(g, kind, sum, mul(g, kind, a[k], b[k]));
  return sum;
}

static reg
unary(gen *g, vyre_kind kind, const char *name, reg a)
{
  char text[64];
  const bool wide = kind == VYRE_F64;
  a = pgen_in_register(g, wide ? REG_64 : REG_32, a);
  return pgen_make(g, wide ? REG_64 : REG_32, pgen_format(text, "%s.%s", name, wide ? "f64" : "f32"), REGS(a));
}

static reg
norm(gen *g, vyre_kind kind, const reg *a, uint32_t lanes)
{
  return lanes == 1 ? unary(g, kind, "abs", a[0]) : pgen_float_unary(g, kind, "sqrt", dot(g, kind, a, a, lanes), true);
}

static reg
choose(gen *g, vyre_kind kind, reg yes, reg no, reg p)
{
  return pgen_select(g, kind == VYRE_F64 ? REG_64 : REG_32, yes, no, p);
}

static void
refract(gen *g, vyre_kind kind, const vector *i, const vector *n, reg eta, uint32_t lanes, vector *out)
{
  const reg one = pgen_number_literal(kind, 1.0), zero = pgen_number_literal(kind, 0.0);
  const reg cosine = dot(g, kind, n->x, i->x, lanes);
  const reg sine2 = sub(g, kind, one, mul(g, kind, cosine, cosine));
  const reg k = sub(g, kind, one, mul(g, kind, mul(g, kind, eta, eta), sine2));
  const reg root = pgen_float_unary(g, kind, "sqrt", k, true), bend = add(g, kind, mul(g, kind, eta, cosine), root);
  const reg none = pgen_float_compare(g, kind, "lt", k, zero);
  for (uint32_t l = 0; l < lanes; l++) {
    const reg bent = mul(g, kind, bend, n->x[l]);
    out->x[l] = choose(g, kind, zero, sub(g, kind, mul(g, kind, eta, i->x[l]), bent), none);
  }
}

/* ---- two results ------------------------------------------------------------------------------------------------------------ */

/* Writes frexp or modf in f64; both are exact. */
static void
split(gen *g, uint32_t row, vyre_kind kind)
{
  const uint32_t a = g->v->a[row];
  for (uint32_t k = 0; k < lanes_of(g, a); k++) {
    const reg x = pgen_in_register(g, REG_64, pgen_widen(g, kind, pgen_number_of(g, a, k)));
    reg first, second;
    if (op_of(g, row) == VYRE_OP_frexp) {
      pgen_frexp(g, x, &first, &second);
    } else {
      const reg whole = MAKE64(g, "cvt.rzi.f64.f64", x);
      const reg infinite = PRED(g, "setp.eq.f64", MAKE64(g, "abs.f64", x), f64_lit(__builtin_inf()));
      const reg rest = pgen_select(g, REG_64, f64_lit(0.0), MAKE64(g, "sub.rn.f64", x, whole), infinite);
      first = pgen_copysign(g, rest, x);
      second = pgen_float_result(g, row, kind, pgen_narrow(g, kind, whole));
    }
    pgen_define_part(g, row, 0, k, pgen_float_result(g, row, kind, pgen_narrow(g, kind, first)));
    pgen_define_part(g, row, 1, k, second);
  }
}

static void
outer(gen *g, uint32_t row, vyre_kind kind)
{
  const vector a = read_vector(g, g->v->a[row]), b = read_vector(g, g->v->b[row]);
  for (uint32_t k = 0; k < lanes_of(g, g->v->b[row]); k++)
    for (uint32_t i = 0; i < lanes_of(g, g->v->a[row]); i++)
      pgen_define_part(g, row, k, i, pgen_float_result(g, row, kind, pgen_float_op(g, kind, "mul", a.x[i], b.x[k], false)));
}

/* ---- vectors ---------------------------------------------------------------------------------------------------------------- */

static void
compute(gen *g, uint32_t row, vyre_kind kind, uint32_t lanes, vector *r)
{
  const vector a = read_vector(g, g->v->a[row]), b = read_vector(g, g->v->b[row]), c = read_vector(g, g->v->c[row]);
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_dot:
    r->x[0] = dot(g, kind, a.x, b.x, lanes);
    return;
  case VYRE_OP_norm:
    r->x[0] = norm(g, kind, a.x, lanes);
    return;
  case VYRE_OP_distance:
    for (uint32_t k = 0; k < lanes; k++)
      r->x[k] = sub(g, kind, a.x[k], b.x[k]);
    r->x[0] = norm(g, kind, r->x, lanes);
    return;
  case VYRE_OP_cross:
    for (uint32_t i = 0; i < 3; i++) {
      const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
      const reg right = mul(g, kind, a.x[k], b.x[j]);
      r->x[i] = sub(g, kind, mul(g, kind, a.x[j], b.x[k]), right);
    }
    return;
  case VYRE_OP_normalize: {
    const reg length = norm(g, kind, a.x, lanes);
    for (uint32_t k = 0; k < lanes; k++)
      r->x[k] = pgen_float_op(g, kind, "div", a.x[k], length, true);
    return;
  }
  case VYRE_OP_faceforward: {
    const reg away = pgen_float_compare(g, kind, "lt", dot(g, kind, c.x, b.x, lanes), pgen_number_literal(kind, 0.0));
    for (uint32_t k = 0; k < lanes; k++)
      r->x[k] = choose(g, kind, a.x[k], unary(g, kind, "neg", a.x[k]), away);
    return;
  }
  case VYRE_OP_reflect: {
    const reg twice = mul(g, kind, dot(g, kind, b.x, a.x, lanes), pgen_number_literal(kind, 2.0));
    for (uint32_t k = 0; k < lanes; k++)
      r->x[k] = sub(g, kind, a.x[k], mul(g, kind, twice, b.x[k]));
    return;
  }
  default:
    refract(g, kind, &a, &b, c.x[0], lanes, r);
    return;
  }
}

bool
pgen_vector(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const vyre_kind kind = kind_of(g, g->v->a[row]);
  vector r = {{{0}}};
  if (op == VYRE_OP_frexp || op == VYRE_OP_modf) {
    split(g, row, kind);
    return true;
  }
  if (op == VYRE_OP_outer) {
    outer(g, row, kind);
    return true;
  }
  if (op < VYRE_OP_dot || op > VYRE_OP_refract)
    return false;
  compute(g, row, kind, lanes_of(g, g->v->a[row]), &r);
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    pgen_define(g, row, k, pgen_float_result(g, row, kind, r.x[k]));
  return true;
}

/* ---- matrices by columns ---------------------------------------------------------------------------------------------------- */

static bool
read_matrix(gen *g, uint32_t tuple, uint32_t user, matrix *out)
{
  const vyre_type type = VYRE_TUPLE_TYPE(g->v->imm[tuple]);
  *out = (matrix){.kind = VYRE_TYPE_KIND(type), .columns = VYRE_TUPLE_COUNT(g->v->imm[tuple]), .rows = VYRE_TYPE_LANES(type)};
  if (!vyre_kind_is_float(out->kind) || out->columns == 0 || out->columns > 4)
    return pgen_fail(g, user, "internal error: a matrix of unknown type\nFix: report this as a bug of vyre");
  for (uint32_t k = 0; k < out->columns; k++)
    for (uint32_t i = 0; i < out->rows; i++)
      out->at[k][i] = pgen_number(g, out->kind, pgen_flushed(g, out->kind, pgen_part(g, tuple, k, i)));
  return true;
}

static void
matrix_times(gen *g, const matrix *m, const reg *v, reg *out)
{
  for (uint32_t i = 0; i < m->rows; i++) {
    out[i] = mul(g, m->kind, m->at[0][i], v[0]);
    for (uint32_t k = 1; k < m->columns; k++)
      out[i] = add(g, m->kind, out[i], mul(g, m->kind, m->at[k][i], v[k]));
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
    for (uint32_t i = 0, next = 0; i < m->rows; i++)
      if (i != line)
        out.at[to][next++] = m->at[k][i];
    to++;
  }
  return out;
}

/* Returns the determinant, expanded along the first column.  Recurses at most 4 deep. */
static reg
determinant(gen *g, const matrix *m)
{
  reg sum = m->at[0][0];
  for (uint32_t i = 0; m->columns > 1 && i < m->rows; i++) {
    const matrix rest = minor_of(m, 0, i);
    const reg part = mul(g, m->kind, m->at[0][i], determinant(g, &rest));
    sum = i == 0 ? part : i & 1 ? sub(g, m->kind, sum, part) : add(g, m->kind, sum, part);
  }
  return sum;
}

static void
put_column(gen *g, uint32_t row, const matrix *m, uint32_t k, const reg *x, uint32_t lanes)
{
  for (uint32_t i = 0; i < lanes; i++)
    pgen_define_part(g, row, k, i, pgen_float_result(g, row, m->kind, x[i]));
}

static void
inverse(gen *g, uint32_t row, const matrix *m)
{
  const reg whole = determinant(g, m);
  for (uint32_t k = 0; k < m->columns; k++) {
    reg column[4];
    for (uint32_t i = 0; i < m->rows; i++) {
      const matrix rest = minor_of(m, i, k); /* transposed */
      const reg cofactor = m->columns == 1 ? pgen_number_literal(m->kind, 0.0) : determinant(g, &rest);
      column[i] = pgen_float_op(g, m->kind, "div", (i + k) & 1 ? unary(g, m->kind, "neg", cofactor) : cofactor, whole, true);
    }
    put_column(g, row, m, k, column, m->rows);
  }
}

bool
pgen_matrix(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  matrix m, other;
  reg r[4] = {{0}};
  if (op < VYRE_OP_matvec || op > VYRE_OP_inverse || op == VYRE_OP_outer || !read_matrix(g, op == VYRE_OP_vecmat ? b : a, row, &m))
    return op >= VYRE_OP_matvec && op <= VYRE_OP_inverse && op != VYRE_OP_outer;
  const vector v = op == VYRE_OP_matvec ? read_vector(g, b) : op == VYRE_OP_vecmat ? read_vector(g, a) : (vector){{{0}}};
  switch ((uint32_t)op) {
  case VYRE_OP_matvec:
    matrix_times(g, &m, v.x, r);
    break;
  case VYRE_OP_vecmat:
    for (uint32_t k = 0; k < m.columns; k++)
      r[k] = dot(g, m.kind, v.x, m.at[k], m.rows);
    break;
  case VYRE_OP_matmat:
    for (uint32_t k = 0; read_matrix(g, b, row, &other) && k < other.columns; k++) {
      matrix_times(g, &m, other.at[k], r);
      put_column(g, row, &m, k, r, m.rows);
    }
    return true;
  case VYRE_OP_transpose: /* bits, not values: a NaN keeps its own */
    for (uint32_t k = 0; k < m.rows; k++)
      for (uint32_t i = 0; i < m.columns; i++)
        pgen_define_part(g, row, k, i, pgen_part(g, a, i, k));
    return true;
  case VYRE_OP_determinant:
    r[0] = determinant(g, &m);
    break;
  default:
    inverse(g, row, &m);
    return true;
  }
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    pgen_define(g, row, k, pgen_float_result(g, row, m.kind, r[k]));
  return true;
}
