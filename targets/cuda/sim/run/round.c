/* The values of floats and their rounding, also for types that the host lacks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/eval.h"

#include <fenv.h>
#include <math.h>

/* A float format of 16 bits. */
typedef struct format {
  int32_t mantissa, exponent; /* bits */
} format;

static const format half = {10, 5}, brain = {7, 8};

static double
small_value(format f, uint64_t bits, bool flushes)
{
  const int32_t bias = (1 << (f.exponent - 1)) - 1;
  const int32_t exponent = (int32_t)(bits >> f.mantissa) & ((1 << f.exponent) - 1);
  const double fraction = (double)ptx_low(bits, (uint32_t)f.mantissa);
  double value;
  if (exponent == (1 << f.exponent) - 1)
    value = fraction != 0 ? (double)NAN : (double)INFINITY;
  else if (exponent == 0)
    value = flushes ? 0 : ldexp(fraction, 1 - bias - f.mantissa);
  else
    value = ldexp(fraction + (double)(1 << f.mantissa), exponent - bias - f.mantissa);
  return bits >> 15 & 1 ? -value : value;
}

double
ptx_float_value(ptx_word type, uint64_t bits, bool flushes)
{
  float value;
  switch (type) {
  case PTX_f16:
  case PTX_f16x2:
    return small_value(half, bits & 0xffff, flushes);
  case PTX_bf16:
  case PTX_bf16x2:
    return small_value(brain, bits & 0xffff, false);
  case PTX_f32:
    value = ptx_as_float(bits);
    return flushes && fpclassify(value) == FP_SUBNORMAL ? copysign(0, (double)value) : (double)value;
  default:
    return ptx_as_double(bits);
  }
}

/* Returns whether a value rounds to the next larger magnitude. `rest` is the truncated part, and `half_rest` is half a unit. */
static bool
rounds_up(uint64_t quotient, uint64_t rest, uint64_t half_rest, bool is_negative, ptx_word round)
{
  switch (round) {
  case PTX_rz:
    return false;
  case PTX_rm:
    return is_negative && rest;
  case PTX_rp:
    return !is_negative && rest;
  default:
    return rest > half_rest || (rest == half_rest && quotient & 1);
  }
}

static uint64_t
small_round(format f, double value, ptx_word round)
{
  const uint64_t bits = ptx_double_bits(value), sign = bits >> 63 << 15;
  const uint64_t infinity = ptx_low(UINT64_MAX, (uint32_t)f.exponent) << f.mantissa;
  const int32_t bias = (1 << (f.exponent - 1)) - 1, least = 1 - bias - f.mantissa; /* exponent of the lowest bit */
  if (isnan(value))
    return 0x7fff;
  if (isinf(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  int32_t exponent;
  const double fraction = frexp(fabs(value), &exponent); /* 0.5 to 1 */
  const uint64_t significand = (uint64_t)ldexp(fraction, 53);
  int32_t low = exponent - 1 - f.mantissa;
  if (low < least)
    low = least;
  const int32_t shift = low - (exponent - 53);
  uint64_t quotient = 0, rest = 1, half_rest = 2;
  if (shift < 54) {
    quotient = significand >> shift; /* shift is at least 42 */
    rest = ptx_low(significand, (uint32_t)shift);
    half_rest = UINT64_C(1) << (shift - 1);
  }
  quotient += rounds_up(quotient, rest, half_rest, sign, round);
  const uint64_t result = ((uint64_t)(low - least) << f.mantissa) + quotient;
  if (result < infinity)
    return sign | result;
  const bool stays = round == PTX_rz || (round == PTX_rm && !sign) || (round == PTX_rp && sign);
  return sign | (infinity - stays);
}

static int
host_rounding(ptx_word round)
{
  return round == PTX_rz ? FE_TOWARDZERO : round == PTX_rm ? FE_DOWNWARD : round == PTX_rp ? FE_UPWARD : FE_TONEAREST;
}

uint64_t
ptx_float_round(ptx_word type, double value, ptx_word round)
{
  if (type == PTX_f16 || type == PTX_f16x2)
    return small_round(half, value, round);
  if (type == PTX_bf16 || type == PTX_bf16x2)
    return small_round(brain, value, round);
  if (isnan(value))
    return 0x7fffffff;
  volatile double from = value; /* keeps the conversion between the changes of the rounding mode */
  const int mode = host_rounding(round);
  if (mode != FE_TONEAREST)
    fesetround(mode);
  volatile float to = (float)from;
  if (mode != FE_TONEAREST)
    fesetround(FE_TONEAREST);
  return ptx_float_bits(to);
}

/* If the rounded sum is inexact and its lowest bit is 0, returns its neighbor in the direction of the exact sum. */
double
ptx_sum_to_odd(double a, double b)
{
  const double sum = a + b;
  if (!isfinite(sum))
    return sum;
  const double of_b = sum - a, of_a = sum - of_b;
  const double error = (a - of_a) + (b - of_b);
  const uint64_t bits = ptx_double_bits(sum);
  if (error == 0 || bits & 1)
    return sum;
  const bool is_away = (error > 0) == (sum > 0); /* whether the exact sum has a larger magnitude */
  return ptx_as_double(is_away ? bits + 1 : bits - 1);
}
