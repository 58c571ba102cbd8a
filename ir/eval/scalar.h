/* Scalars of the evaluator and the interpreter: the bits of one lane, zero-extended in a u64.
 *
 * Floats of every kind are computed in double and rounded once to their kind. For + - * / and sqrt this gives the correctly rounded
 * f16 and f32 result, because double has more than twice their precision and two bits. fma is handled separately.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_EVAL_SCALAR_H
#define VYRE_IR_EVAL_SCALAR_H

#include "vyre/types.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define VYRE_NAN_16 UINT64_C(0x7e00)
#define VYRE_NAN_32 UINT64_C(0x7fc00000)
#define VYRE_NAN_64 UINT64_C(0x7ff8000000000000)

static inline uint64_t
bits_mask(unsigned bits)
{
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static inline int64_t
sign_extend(unsigned bits, uint64_t value)
{
  return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

/* Returns the product of two lanes. Its low 2 * bits bits are exact. */
static inline uint128
product_of(unsigned bits, bool is_signed, uint64_t x, uint64_t y)
{
  return is_signed ? (uint128)((int128)sign_extend(bits, x) * sign_extend(bits, y)) : (uint128)x * y;
}

static inline float
float_of_bits(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t
bits_of_float(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double
double_of_bits(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint64_t
bits_of_double(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double
double_of_half(uint32_t half)
{
  const uint32_t exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  double magnitude;
  if (exponent == 31)
    magnitude = fraction ? (double)NAN : (double)INFINITY;
  else if (exponent == 0)
    magnitude = (double)fraction * 0x1p-24;
  else
    magnitude = double_of_bits((uint64_t)(exponent + 1008u) << 52 | (uint64_t)fraction << 42);
  return half & 0x8000u ? -magnitude : magnitude;
}

/* Rounds a double to a half in the current rounding mode, to nearest even or toward zero. Denormals are kept. The value is not a
 * NaN. Adding and subtracting a power of two, whose last bit has the weight of the half's last bit, rounds there. */
static inline uint64_t
half_of_double(double value)
{
  const uint64_t sign = signbit(value) ? 0x8000u : 0u, exponents = UINT64_C(0x7ff) << 52, least = UINT64_C(1009) << 52; /* 2^-14 */
  const double magnitude = fabs(value);
  const uint64_t exponent = bits_of_double(magnitude) & exponents;
  if (magnitude >= 65504.0) /* the greatest half; from 65520 on infinity, unless rounding toward zero */
    return sign | (magnitude < 65520.0 || (!isinf(value) && fegetround() == FE_TOWARDZERO) ? 0x7bffu : 0x7c00u);
  const double power = double_of_bits((exponent > least ? exponent : least) + (UINT64_C(42) << 52));
  const double rounded = (magnitude + power) - power;
  if (rounded < 0x1p-14)
    return sign | (uint64_t)(rounded * 0x1p24);
  return sign | ((bits_of_double(rounded) >> 42) - (UINT64_C(1008) << 10));
}

/* Returns a lane of a float kind as a double, exactly. */
static inline double
double_of_lane(vyre_kind kind, uint64_t lane)
{
  if (kind == VYRE_F32)
    return (double)float_of_bits((uint32_t)lane);
  return kind == VYRE_F64 ? double_of_bits(lane) : double_of_half((uint32_t)lane);
}

/* Rounds once to the kind. A NaN gets the canonical bits. */
static inline uint64_t
lane_of_double(vyre_kind kind, double value)
{
  if (isnan(value))
    return kind == VYRE_F32 ? VYRE_NAN_32 : kind == VYRE_F64 ? VYRE_NAN_64 : VYRE_NAN_16;
  if (kind == VYRE_F32)
    return bits_of_float((float)value);
  return kind == VYRE_F64 ? bits_of_double(value) : half_of_double(value);
}

static inline double
round_to_kind(vyre_kind kind, double value)
{
  if (kind == VYRE_F32)
    return (double)(float)value;
  return kind == VYRE_F64 || isnan(value) ? value : double_of_half((uint32_t)half_of_double(value));
}

/* Returns the other operand for a NaN. -0 is less than +0. */
static inline double
float_min(double x, double y)
{
  if (isnan(x) || isnan(y))
    return isnan(x) ? y : x;
  if (x == y)
    return signbit(x) ? x : y;
  return x < y ? x : y;
}

static inline double
float_max(double x, double y)
{
  if (isnan(x) || isnan(y))
    return isnan(x) ? y : x;
  if (x == y)
    return signbit(x) ? y : x;
  return x > y ? x : y;
}

#endif
