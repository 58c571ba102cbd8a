/* The functions of singles.h as instructions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/ptx/internal.h"

typedef reg number, word, truth;
typedef gen machine;

/* ---- numbers ---------------------------------------------------------------------------------------------------------------- */

static reg
n_lit(gen *g, float value)
{
  uint32_t bits;
  (void)g;
  memcpy(&bits, &value, sizeof bits);
  return f32_lit(bits);
}

#define UNARY(name, klass, text) \
  static reg name(gen *g, reg a) \
  {                              \
    return klass(g, text, a);    \
  }
#define BINARY(name, klass, text)       \
  static reg name(gen *g, reg a, reg b) \
  {                                     \
    return klass(g, text, a, b);        \
  }

BINARY(n_add, MAKE32, "add.rn.f32")
BINARY(n_sub, MAKE32, "sub.rn.f32")
BINARY(n_mul, MAKE32, "mul.rn.f32")
BINARY(n_div, MAKE32, "div.rn.f32")
UNARY(n_sqrt, MAKE32, "sqrt.rn.f32")
UNARY(n_abs, MAKE32, "abs.f32")
UNARY(n_neg, MAKE32, "neg.f32")
UNARY(n_near, MAKE32, "cvt.rni.f32.f32")
UNARY(n_trunc, MAKE32, "cvt.rzi.f32.f32")
UNARY(n_to_word, MAKE32, "cvt.rni.s32.f32") /* the nearest integer; NaN becomes 0 */
UNARY(n_of_int, MAKE32, "cvt.rn.f32.s32")
UNARY(n_of_unsigned, MAKE32, "cvt.rn.f32.u32")
BINARY(n_lt, PRED, "setp.lt.f32")
BINARY(n_gt, PRED, "setp.gt.f32")
BINARY(n_eq, PRED, "setp.eq.f32")
BINARY(n_ltu, PRED, "setp.ltu.f32") /* true for a NaN too */
BINARY(w_add, MAKE32, "add.u32")
BINARY(w_sub, MAKE32, "sub.u32")
BINARY(w_mul, MAKE32, "mul.lo.u32")
BINARY(w_mul_high, MAKE32, "mul.hi.u32")
BINARY(w_and, MAKE32, "and.b32")
BINARY(w_or, MAKE32, "or.b32")
BINARY(w_xor, MAKE32, "xor.b32")
UNARY(w_clz, MAKE32, "clz.b32")
BINARY(w_lt, PRED, "setp.lt.u32")
BINARY(t_and, PRED, "and.pred")
BINARY(t_or, PRED, "or.pred")
BINARY(t_xor, PRED, "xor.pred")
UNARY(t_not, PRED, "not.pred")

static reg
n_fma(gen *g, reg a, reg b, reg c)
{
  return MAKE32(g, "fma.rn.f32", a, b, c);
}

static reg
n_nan(gen *g, reg a)
{
  return PRED(g, "setp.nan.f32", a, a);
}

static reg
n_pick(gen *g, reg p, reg yes, reg no)
{
  return pgen_select(g, REG_32, yes, no, p);
}

/* Computes in f64. */
static reg
n_rsqrt_wide(gen *g, reg a)
{
  const reg root = MAKE64(g, "sqrt.rn.f64", MAKE64(g, "cvt.f64.f32", a));
  return MAKE32(g, "cvt.rn.f32.f64", MAKE64(g, "div.rn.f64", f64_lit(1.0), root));
}

/* ---- words: the same registers ---------------------------------------------------------------------------------------------- */

static reg
n_word(gen *g, reg a)
{
  (void)g;
  return a;
}

static reg
n_of_word(gen *g, reg a)
{
  (void)g;
  return a.klass == REG_LITERAL ? f32_lit((uint32_t)a.bits) : a;
}

static reg
w_lit(gen *g, uint32_t bits)
{
  (void)g;
  return lit(bits);
}

static reg
w_shl(gen *g, reg a, uint32_t by)
{
  return MAKE32(g, "shl.b32", a, lit(by));
}

static reg
w_shr(gen *g, reg a, uint32_t by)
{
  return MAKE32(g, "shr.u32", a, lit(by));
}

static reg
w_sar(gen *g, reg a, uint32_t by)
{
  return MAKE32(g, "shr.s32", a, lit(by));
}

/* Returns the upper word of high:low << by, for `by` up to 32. */
static reg
w_funnel(gen *g, reg low, reg high, reg by)
{
  return MAKE32(g, "shf.l.clamp.b32", low, high, by);
}

static reg
w_pick(gen *g, reg p, reg yes, reg no)
{
  return pgen_select(g, REG_32, yes, no, p);
}

static reg
w_eq(gen *g, reg a, uint32_t bits)
{
  return PRED(g, "setp.eq.u32", a, lit(bits));
}

static reg
w_negative(gen *g, reg a)
{
  return PRED(g, "setp.lt.s32", a, lit(0));
}

#define SET(g, variable, value) pgen_move((g), (variable), (value))
#define WHEN(g, p, statement)               \
  do {                                      \
    const reg when = (p);                   \
    const uint32_t end = pgen_new_label(g); \
    pgen_branch_unless(g, when, end);       \
    statement;                              \
    pgen_label(g, end);                     \
  } while (0)

#include "codegen/ptx/math/singles.h"

#include "codegen/ptx/math/single_angles.h"

bool
pgen_single(gen *g, vyre_opcode op, reg a, reg b, reg *out)
{
  a = pgen_in_register(g, REG_32, a);
  b = b.klass ? pgen_in_register(g, REG_32, b) : b;
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_rsqrt: *out = s_rsqrt(g, a); return true;
  case VYRE_OP_sin: *out = s_sin(g, a); return true;
  case VYRE_OP_cos: *out = s_cos(g, a); return true;
  case VYRE_OP_tan: *out = s_tan(g, a); return true;
  case VYRE_OP_asin: *out = s_asin(g, a); return true;
  case VYRE_OP_acos: *out = s_acos(g, a); return true;
  case VYRE_OP_atan: *out = s_atan(g, a); return true;
  case VYRE_OP_sinh: *out = s_sinh(g, a); return true;
  case VYRE_OP_cosh: *out = s_cosh(g, a); return true;
  case VYRE_OP_tanh: *out = s_tanh(g, a); return true;
  case VYRE_OP_asinh: *out = s_asinh(g, a); return true;
  case VYRE_OP_acosh: *out = s_acosh(g, a); return true;
  case VYRE_OP_atanh: *out = s_atanh(g, a); return true;
  case VYRE_OP_exp: *out = s_exp(g, a); return true;
  case VYRE_OP_exp2: *out = s_exp2(g, a); return true;
  case VYRE_OP_log: *out = s_log(g, a); return true;
  case VYRE_OP_log2: *out = s_log2(g, a); return true;
  case VYRE_OP_atan2: *out = s_atan2(g, a, b); return true;
  case VYRE_OP_pow: *out = s_pow(g, a, b); return true;
  default: return false;
  }
  /* clang-format on */
}
