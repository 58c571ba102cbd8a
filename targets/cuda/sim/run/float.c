/* Float arithmetic. Each operation rounds once, in the mode of its words.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/eval.h"

#include <fenv.h>
#include <math.h>

typedef enum operation { ADD, SUBTRACT, MULTIPLY, FUSE, DIVIDE, ROOT } operation;

static const uint64_t canonical_f64 = UINT64_C(0x7ff8000000000000);

float
ptx_flushed(float value)
{
  return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static int
host_rounding(const ptx_insn *i)
{
  switch (i->round) {
  case PTX_rz:
    return FE_TOWARDZERO;
  case PTX_rm:
    return FE_DOWNWARD;
  case PTX_rp:
    return FE_UPWARD;
  default:
    return FE_TONEAREST;
  }
}

/* The operands are volatile, so that the compiler keeps the operation between the changes of the rounding mode. */
#define COMPUTE(name, type, fuse, root)                                             \
  static type name(operation op, volatile type a, volatile type b, volatile type c) \
  {                                                                                 \
    switch (op) {                                                                   \
    case ADD:                                                                       \
      return a + b;                                                                 \
    case SUBTRACT:                                                                  \
      return a - b;                                                                 \
    case MULTIPLY:                                                                  \
      return a * b;                                                                 \
    case FUSE:                                                                      \
      return fuse(a, b, c);                                                         \
    case DIVIDE:                                                                    \
      return a / b;                                                                 \
    default:                                                                        \
      return root(a);                                                               \
    }                                                                               \
  }
COMPUTE(compute_f32, float, fmaf, sqrtf)
COMPUTE(compute_f64, double, fma, sqrt)

static uint64_t
finish_f32(const ptx_insn *i, float value)
{
  if (ptx_has(i, PTX_ftz))
    value = ptx_flushed(value);
  if (ptx_has(i, PTX_sat))
    value = value > 0 ? value < 1 ? value : 1 : 0; /* also makes a NaN 0 */
  return isnan(value) ? 0x7fffffff : ptx_float_bits(value);
}

static uint64_t
do_f32(const ptx_insn *i, operation op, const uint64_t *s)
{
  float x[3] = {0};
  for (uint32_t k = 0; k < i->s_count; k++)
    x[k] = ptx_has(i, PTX_ftz) ? ptx_flushed(ptx_as_float(s[k])) : ptx_as_float(s[k]);
  const int mode = host_rounding(i);
  if (mode == FE_TONEAREST)
    return finish_f32(i, compute_f32(op, x[0], x[1], x[2]));
  fesetround(mode);
  volatile float result = compute_f32(op, x[0], x[1], x[2]);
  fesetround(FE_TONEAREST);
  return finish_f32(i, result);
}

static uint64_t
do_f64(const ptx_insn *i, operation op, const uint64_t *s)
{
  double x[3] = {0};
  for (uint32_t k = 0; k < i->s_count; k++)
    x[k] = ptx_as_double(s[k]);
  const int mode = host_rounding(i);
  if (mode != FE_TONEAREST)
    fesetround(mode);
  volatile double result = compute_f64(op, x[0], x[1], x[2]);
  if (mode != FE_TONEAREST)
    fesetround(FE_TONEAREST);
  return isnan(result) ? canonical_f64 : ptx_double_bits(result);
}

/* Computes with 16-bit floats. Their products are exact in double, and sums are rounded to odd, so there is one rounding. */
static uint64_t
do_half(const ptx_insn *i, operation op, const uint64_t *s, uint32_t shift)
{
  const ptx_word type = (ptx_word)i->type[0];
  const bool flushes = ptx_has(i, PTX_ftz);
  double x[3] = {0}, result;
  for (uint32_t k = 0; k < i->s_count; k++)
    x[k] = ptx_float_value(type, s[k] >> shift, flushes);
  if (op == ADD || op == SUBTRACT)
    result = ptx_sum_to_odd(x[0], op == ADD ? x[1] : -x[1]);
  else
    result = op == MULTIPLY ? x[0] * x[1] : ptx_sum_to_odd(x[0] * x[1], x[2]);
  if (ptx_has(i, PTX_sat))
    result = result > 0 ? result < 1 ? result : 1 : 0;
  if (ptx_has(i, PTX_relu) && !(result > 0) && !isnan(result))
    result = 0;
  uint64_t bits = ptx_float_round(type, result, PTX_rn);
  if (flushes && !(bits & 0x7c00))
    bits &= 0x8000;
  return bits << shift;
}

static uint64_t
arithmetic(const ptx_insn *i, operation op, const uint64_t *s)
{
  switch ((ptx_word)i->type[0]) {
  case PTX_f32:
    return do_f32(i, op, s);
  case PTX_f64:
    return do_f64(i, op, s);
  case PTX_f16:
  case PTX_bf16:
    return do_half(i, op, s, 0);
  default:
    return do_half(i, op, s, 0) | do_half(i, op, s, 16);
  }
}

PTX_VALUE(fadd, arithmetic(i, ADD, s))
PTX_VALUE(fsub, arithmetic(i, SUBTRACT, s))
PTX_VALUE(fmul, arithmetic(i, MULTIPLY, s))
PTX_VALUE(fma, arithmetic(i, FUSE, s))

/* div.approx returns 0 for divisors above 2^126, as documented. Otherwise the exact quotient is within the documented error. */
void
ptx_eval_fdiv(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  if (ptx_has(i, PTX_approx) && isfinite(ptx_as_float(s[1])) && fabsf(ptx_as_float(s[1])) > 0x1p126f) {
    const float a = ptx_as_float(s[0]), b = ptx_as_float(s[1]);
    d[0] = isnan(a) || isinf(a) ? 0x7fffffff : (uint64_t)(signbit(a) != signbit(b)) << 31;
    return;
  }
  d[0] = arithmetic(i, DIVIDE, s);
}

void
ptx_eval_rcp(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint64_t operands[2] = {i->type[0] == PTX_f32 ? ptx_float_bits(1) : ptx_double_bits(1), s[0]};
  ptx_insn divide = *i;
  divide.s_count = 2;
  d[0] = arithmetic(&divide, DIVIDE, operands);
}

PTX_VALUE(sqrt, arithmetic(i, ROOT, s))

/* ---- approximations ------------------------------------------------------------------------------------------------------ */

static float
operand_f32(const ptx_insn *i, uint64_t bits)
{
  return ptx_has(i, PTX_ftz) ? ptx_flushed(ptx_as_float(bits)) : ptx_as_float(bits);
}

/* Computes in double and rounds once, which is within all documented errors. */
static uint64_t
approximate(const ptx_insn *i, double (*function)(double), const uint64_t *s)
{
  const ptx_word type = (ptx_word)i->type[0];
  if (type == PTX_f32)
    return finish_f32(i, (float)function((double)operand_f32(i, s[0])));
  const uint64_t low = ptx_float_round(type, function(ptx_float_value(type, s[0], false)), PTX_rn);
  if (type != PTX_f16x2)
    return low;
  return low | ptx_float_round(type, function(ptx_float_value(type, s[0] >> 16, false)), PTX_rn) << 16;
}

static double
reciprocal_root(double x)
{
  return 1 / sqrt(x);
}

void
ptx_eval_rsqrt(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  if (i->type[0] == PTX_f64) {
    const double result = reciprocal_root(ptx_as_double(s[0]));
    d[0] = isnan(result) ? canonical_f64 : ptx_double_bits(result);
  } else {
    d[0] = approximate(i, reciprocal_root, s);
  }
}

/* Computes rcp or rsqrt of f64 with .approx.ftz, which use only the upper word of the operand and of the result. */
static uint64_t
coarse(uint64_t bits, bool is_root)
{
  const uint64_t upper = UINT64_C(0xffffffff00000000);
  double value = ptx_as_double(bits & upper);
  if (fpclassify(value) == FP_SUBNORMAL)
    value = copysign(0, value);
  double result = is_root ? reciprocal_root(value) : 1 / value;
  if (fpclassify(result) == FP_SUBNORMAL)
    result = copysign(0, result);
  return isnan(result) ? canonical_f64 : ptx_double_bits(result) & upper;
}

PTX_VALUE(coarse_rcp, coarse(s[0], false))
PTX_VALUE(coarse_rsqrt, coarse(s[0], true))
PTX_VALUE(sin, approximate(i, sin, s))
PTX_VALUE(cos, approximate(i, cos, s))
PTX_VALUE(lg2, approximate(i, log2, s))
PTX_VALUE(ex2, approximate(i, exp2, s))
PTX_VALUE(tanh, approximate(i, tanh, s))

/* ---- signs, minimum and maximum ------------------------------------------------------------------------------------------ */

static uint64_t
sign_bits(ptx_word type)
{
  switch (type) {
  case PTX_f16:
  case PTX_bf16:
    return 0x8000;
  case PTX_f32:
    return 0x80000000;
  case PTX_f64:
    return UINT64_C(1) << 63;
  default:
    return 0x80008000;
  }
}

/* With .ftz, replaces subnormals by zeros of their signs. */
static uint64_t
flush_operand(const ptx_insn *i, uint64_t value)
{
  if (!ptx_has(i, PTX_ftz))
    return value;
  if (i->type[0] == PTX_f32)
    return ptx_float_bits(ptx_flushed(ptx_as_float(value)));
  for (uint32_t shift = 0; shift < (i->type[0] == PTX_f16x2 ? 32 : 16); shift += 16)
    if (!(value >> shift & 0x7c00))
      value &= ~(UINT64_C(0x7fff) << shift);
  return value;
}

PTX_VALUE(fabs, flush_operand(i, s[0]) & ~sign_bits((ptx_word)i->type[0]))
PTX_VALUE(fneg, flush_operand(i, s[0]) ^ sign_bits((ptx_word)i->type[0]))

/* Returns the minimum or maximum of two values that are not packed. -0 is less than +0. */
static uint64_t
least_or_greatest(const ptx_insn *i, ptx_word type, uint64_t a, uint64_t b, bool wants_less)
{
  const uint64_t sign = sign_bits(type) & (ptx_bits(type) == 32 && type != PTX_f32 ? 0x8000 : UINT64_MAX);
  const uint64_t canonical = type == PTX_f64 ? canonical_f64 : sign - 1;
  const uint64_t signs = (a ^ b) & sign;
  if (ptx_has(i, PTX_xorsign)) {
    a &= ~sign;
    b &= ~sign;
  }
  const double x = ptx_float_value(type, a, false), y = ptx_float_value(type, b, false);
  uint64_t result;
  if (isnan(x) || isnan(y)) {
    if (ptx_has(i, PTX_NaN) || (isnan(x) && isnan(y)))
      return canonical;
    result = isnan(x) ? b : a;
  } else {
    const bool is_less = x < y || (x == y && signbit(x) && !signbit(y));
    result = is_less == wants_less ? a : b;
  }
  return ptx_has(i, PTX_xorsign) ? result | signs : result;
}

static uint64_t
pick(const ptx_insn *i, const uint64_t *s, bool less)
{
  const ptx_word type = (ptx_word)i->type[0];
  const uint64_t a = flush_operand(i, s[0]), b = flush_operand(i, s[1]);
  if (type != PTX_f16x2 && type != PTX_bf16x2)
    return least_or_greatest(i, type, a, b, less);
  return least_or_greatest(i, type, a & 0xffff, b & 0xffff, less) | least_or_greatest(i, type, a >> 16, b >> 16, less) << 16;
}

PTX_VALUE(fmin, pick(i, s, true))
PTX_VALUE(fmax, pick(i, s, false))

void
ptx_eval_testp(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const int class = i->type[0] == PTX_f32 ? fpclassify(ptx_as_float(s[0])) : fpclassify(ptx_as_double(s[0]));
  switch (i->what) {
  case PTX_finite:
    d[0] = class != FP_NAN && class != FP_INFINITE;
    break;
  case PTX_infinite:
    d[0] = class == FP_INFINITE;
    break;
  case PTX_number:
    d[0] = class != FP_NAN;
    break;
  case PTX_notanumber:
    d[0] = class == FP_NAN;
    break;
  case PTX_normal:
    d[0] = class == FP_NORMAL;
    break;
  default:
    d[0] = class == FP_SUBNORMAL;
    break;
  }
}

/* Combines the first operand's sign and the second operand's magnitude. */
void
ptx_eval_copysign(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint64_t sign = sign_bits((ptx_word)i->type[0]);
  d[0] = (s[0] & sign) | (s[1] & ~sign);
}
