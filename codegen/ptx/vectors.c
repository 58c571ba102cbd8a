/* Vectors and matrices of floats, by the operations of codegen/common/vectors.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

static code_number
pack(reg r)
{
  return (code_number){{(uint64_t)r.klass << 32 | r.number, r.bits}};
}

static reg
unpack(code_number n)
{
  return (reg){(reg_class)(n.words[0] >> 32), (uint32_t)n.words[0], n.words[1]};
}

static code_number
binary(void *user, vyre_kind kind, vyre_opcode op, code_number a, code_number b)
{
  return pack(pgen_float_op(user, kind, op == VYRE_OP_fdiv ? "div" : vyre_op_infos[op].text, unpack(a), unpack(b), true));
}

static code_number
unary(void *user, vyre_kind kind, vyre_opcode op, code_number a)
{
  char text[64];
  const reg_class klass = kind == VYRE_F64 ? REG_64 : REG_32;
  if (op == VYRE_OP_sqrt)
    return pack(pgen_float_unary(user, kind, "sqrt", unpack(a), true));
  const reg x = pgen_in_register(user, klass, unpack(a));
  return pack(pgen_make(user, klass,
                        pgen_format(text, "%s.%s", op == VYRE_OP_neg ? "neg" : "abs", kind == VYRE_F64 ? "f64" : "f32"), REGS(x)));
}

static code_number
is_less(void *user, vyre_kind kind, code_number a, code_number b)
{
  return pack(pgen_float_compare(user, kind, "lt", unpack(a), unpack(b)));
}

static code_number
choose(void *user, vyre_kind kind, code_number condition, code_number yes, code_number no)
{
  return pack(pgen_select(user, kind == VYRE_F64 ? REG_64 : REG_32, unpack(yes), unpack(no), unpack(condition)));
}

static code_number
literal(void *user, vyre_kind kind, double value)
{
  (void)user;
  return pack(pgen_number_literal(kind, value));
}

static code_math
math_of(gen *g, vyre_kind kind)
{
  return (code_math){g, kind, binary, unary, is_less, choose, literal};
}

static void
read_vector(gen *g, uint32_t row, code_number out[4])
{
  for (uint32_t k = 0; row && k < lanes_of(g, row); k++)
    out[k] = pack(pgen_number_of(g, row, k));
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
  code_number a[4], b[4];
  read_vector(g, g->v->a[row], a);
  read_vector(g, g->v->b[row], b);
  for (uint32_t k = 0; k < lanes_of(g, g->v->b[row]); k++)
    for (uint32_t i = 0; i < lanes_of(g, g->v->a[row]); i++)
      pgen_define_part(g, row, k, i,
                       pgen_float_result(g, row, kind, pgen_float_op(g, kind, "mul", unpack(a[i]), unpack(b[k]), false)));
}

/* ---- vectors and matrices ------------------------------------------------------------------------------------------------- */

bool
pgen_vector(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const vyre_kind kind = kind_of(g, g->v->a[row]);
  code_number a[4] = {0}, b[4] = {0}, c[4] = {0}, r[4];
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
  const code_math math = math_of(g, kind);
  read_vector(g, g->v->a[row], a);
  read_vector(g, g->v->b[row], b);
  read_vector(g, g->v->c[row], c);
  code_vector_op(&math, op, lanes_of(g, g->v->a[row]), a, b, c, r);
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    pgen_define(g, row, k, pgen_float_result(g, row, kind, unpack(r[k])));
  return true;
}

static bool
read_matrix(gen *g, uint32_t tuple, uint32_t user, vyre_kind *kind, code_matrix *out)
{
  const vyre_type type = VYRE_TUPLE_TYPE(g->v->imm[tuple]);
  *kind = VYRE_TYPE_KIND(type);
  *out = (code_matrix){.columns = VYRE_TUPLE_COUNT(g->v->imm[tuple]), .rows = VYRE_TYPE_LANES(type)};
  if (!vyre_kind_is_float(*kind) || out->columns == 0 || out->columns > 4)
    return pgen_fail(g, user, "internal error: a matrix of unknown type\nFix: report this as a bug of vyre");
  for (uint32_t k = 0; k < out->columns; k++)
    for (uint32_t i = 0; i < out->rows; i++)
      out->at[k][i] = pack(pgen_number(g, *kind, pgen_flushed(g, *kind, pgen_part(g, tuple, k, i))));
  return true;
}

static void
transpose(gen *g, uint32_t row, const code_matrix *m)
{
  for (uint32_t k = 0; k < m->rows; k++) /* bits, not values: a NaN keeps its own */
    for (uint32_t i = 0; i < m->columns; i++)
      pgen_define_part(g, row, k, i, pgen_part(g, g->v->a[row], i, k));
}

bool
pgen_matrix(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  vyre_kind kind;
  code_matrix m, other = {0}, r;
  code_number v[4] = {0};
  if (op < VYRE_OP_matvec || op > VYRE_OP_inverse || op == VYRE_OP_outer)
    return false;
  if (!read_matrix(g, op == VYRE_OP_vecmat ? b : a, row, &kind, &m) ||
      (op == VYRE_OP_matmat && !read_matrix(g, b, row, &kind, &other)))
    return true;
  if (op == VYRE_OP_transpose) {
    transpose(g, row, &m);
    return true;
  }
  if (op == VYRE_OP_matvec || op == VYRE_OP_vecmat)
    read_vector(g, op == VYRE_OP_matvec ? b : a, v);
  const code_math math = math_of(g, kind);
  code_matrix_op(&math, op, &m, v, &other, &r);
  for (uint32_t k = 0; k < r.columns; k++)
    for (uint32_t i = 0; i < r.rows; i++) {
      const reg result = pgen_float_result(g, row, kind, unpack(r.at[k][i]));
      if (op == VYRE_OP_matmat || op == VYRE_OP_inverse)
        pgen_define_part(g, row, k, i, result);
      else
        pgen_define(g, row, i, result);
    }
  return true;
}
