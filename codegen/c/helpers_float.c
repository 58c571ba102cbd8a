/* Texts of helper functions on floats.  $T is the type in which a kind is computed, double for f16.  Each step of an f16
 * computation is rounded to f16 ($R), as in the interpreter.
 *
 * Functions of libm compute in double.  Their arguments are volatile, so that compilers do not fold calls with their own
 * library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define LIBM(name)                                                                                      \
  {                                                                                                     \
#name, VYRE_F64, "double\nNAME(double a)\n{\n  volatile double x = a;\n  return " #name "(x);\n}\n" \
  }
#define LIBM2(name)                                                                                                         \
  {                                                                                                                         \
#name, VYRE_F64, "double\nNAME(double a, double b)\n{\n  volatile double x = a, y = b;\n  return " #name "(x, y);\n}\n" \
  }

const cgen_helper cgen_float_helpers[] = {
    /* ---- bits ---- */
    {"bits", VYRE_F32, "uint32_t\nNAME(float a)\n{\n  uint32_t bits;\n  memcpy(&bits, &a, sizeof bits);\n  return bits;\n}\n"},
    {"bits", VYRE_F64, "uint64_t\nNAME(double a)\n{\n  uint64_t bits;\n  memcpy(&bits, &a, sizeof bits);\n  return bits;\n}\n"},
    {"of_bits", VYRE_F32, "float\nNAME(uint32_t bits)\n{\n  float a;\n  memcpy(&a, &bits, sizeof a);\n  return a;\n}\n"},
    {"of_bits", VYRE_F64, "double\nNAME(uint64_t bits)\n{\n  double a;\n  memcpy(&a, &bits, sizeof a);\n  return a;\n}\n"},
    /* converts an f16's bits to a number */
    {"value", VYRE_F16,
     "double\nNAME(uint16_t half)\n{\n  const uint64_t exponent = half >> 10 & 31u, fraction = half & 0x3ffu;\n"
     "  const double magnitude = exponent == 31  ? (double)(fraction ? NAN : INFINITY)\n"
     "                           : exponent == 0 ? (double)fraction * 0x1p-24\n"
     "                                           : #of_bits_f64((exponent + 1008u) << 52 | fraction << 42);\n"
     "  return half & 0x8000u ? -magnitude : magnitude;\n}\n"},
    /* a result: rounded to its kind, NaN made canonical */
    {"result", VYRE_F32, "float\nNAME(float a)\n{\n  return isnan(a) ? #of_bits_f32(0x7fc00000u) : a;\n}\n"},
    {"result", VYRE_F64, "double\nNAME(double a)\n{\n  return isnan(a) ? #of_bits_f64(UINT64_C(0x7ff8000000000000)) : a;\n}\n"},
    {"round", VYRE_F32, "float\nNAME(double a)\n{\n  return #result_f32((float)a);\n}\n"},
    {"round", VYRE_F64, "double\nNAME(double a)\n{\n  return #result_f64(a);\n}\n"},
    /* rounds by adding and subtracting a power of two whose last bit has the weight of the half's last bit */
    {"result", VYRE_F16,
     "uint16_t\nNAME(double a)\n{\n  const uint64_t exponents = UINT64_C(0x7ff) << 52, least = UINT64_C(1009) << 52;\n"
     "  const uint32_t sign = signbit(a) ? 0x8000u : 0u;\n  const double magnitude = fabs(a);\n"
     "  const uint64_t exponent = #bits_f64(magnitude) & exponents;\n"
     "  if (isnan(a))\n    return 0x7e00u;\n"
     "  if (magnitude >= 65504.0)\n    return (uint16_t)(sign | (magnitude < 65520.0 ? 0x7bffu : 0x7c00u));\n"
     "  const double power = #of_bits_f64((exponent > least ? exponent : least) + (UINT64_C(42) << 52));\n"
     "  const double rounded = (magnitude + power) - power;\n"
     "  if (rounded < 0x1p-14)\n    return (uint16_t)(sign | (uint32_t)(rounded * 0x1p24));\n"
     "  return (uint16_t)(sign | (uint32_t)((#bits_f64(rounded) >> 42) - (UINT64_C(1008) << 10)));\n}\n"},
    {"round", VYRE_F16, "uint16_t\nNAME(double a)\n{\n  return #result_f16(a);\n}\n"},
    {"nearest", VYRE_F16, "double\nNAME(double a)\n{\n  return isnan(a) ? a : #value_f16(#result_f16(a));\n}\n"},
    /* ---- one lane ---- */
    {"fsign", VYRE_VOID, "$T\nNAME($T a)\n{\n  return isnan(a) ? 0.0$f : a > 0.0$f ? 1.0$f : a < 0.0$f ? -1.0$f : a;\n}\n"},
    {"fmin", VYRE_VOID,
     "$T\nNAME($T a, $T b)\n{\n  if (isnan(a) || isnan(b))\n    return isnan(a) ? b : a;\n"
     "  if (a == b)\n    return signbit(a) ? a : b;\n  return a < b ? a : b;\n}\n"},
    {"fmax", VYRE_VOID,
     "$T\nNAME($T a, $T b)\n{\n  if (isnan(a) || isnan(b))\n    return isnan(a) ? b : a;\n"
     "  if (a == b)\n    return signbit(a) ? b : a;\n  return a > b ? a : b;\n}\n"},
    {"fclamp", VYRE_VOID, "$T\nNAME($T a, $T low, $T high)\n{\n  return @fmin(@fmax(a, low), high);\n}\n"},
    {"step", VYRE_VOID, "$T\nNAME($T edge, $T a)\n{\n  return a < edge ? 0.0$f : 1.0$f;\n}\n"},
    {"fmix", VYRE_VOID, "$T\nNAME($T a, $T b, $T t)\n{\n  const $T left = $R(a * $R(1.0$f - t));\n  return left + $R(b * t);\n}\n"},
    {"smoothstep", VYRE_VOID,
     "$T\nNAME($T low, $T high, $T a)\n{\n  const $T ratio = $R($R(a - low) / $R(high - low));\n"
     "  const $T t = @fmin(@fmax(ratio, 0.0$f), 1.0$f);\n  const $T slope = $R(3.0$f - $R(2.0$f * t));\n"
     "  return $R(t * t) * slope;\n}\n"},
    {"quantize16", VYRE_VOID,
     "$T\nNAME($T a)\n{\n  return isnan(a)            ? a\n"
     "         : fabs((double)a) < 0x1p-14 ? copysign$f(0.0$f, a)\n"
     "                                     : ($T)#value_f16(#result_f16((double)a));\n}\n"},
    {"fmodulo", VYRE_F64, /* sign of b, also for zero */
     "double\nNAME(double a, double b)\n{\n  const double r = fmod(a, b);\n  if (r == 0.0)\n    return copysign(0.0, b);\n"
     "  return !signbit(r) != !signbit(b) ? r + b : r;\n}\n"},
    {"fract", VYRE_F64, "double\nNAME(double a)\n{\n  return a - floor(a);\n}\n"},
    {"rsqrt", VYRE_F64, "double\nNAME(double a)\n{\n  return 1.0 / sqrt(a);\n}\n"},
    {"radians", VYRE_F64, "double\nNAME(double a)\n{\n  return a * (3.14159265358979323846 / 180.0);\n}\n"},
    {"degrees", VYRE_F64, "double\nNAME(double a)\n{\n  return a * (180.0 / 3.14159265358979323846);\n}\n"},
    {"scale", VYRE_F64,
     "double\nNAME(double a, uint32_t exponent)\n{\n  const int n = (int32_t)exponent;\n"
     "  return ldexp(a, n > 5000 ? 5000 : n < -5000 ? -5000 : n);\n}\n"},
    {"fraction", VYRE_F64, "double\nNAME(double a)\n{\n  double whole;\n  return modf(a, &whole);\n}\n"},
    {"whole", VYRE_F64, "double\nNAME(double a)\n{\n  double whole;\n  (void)modf(a, &whole);\n  return whole;\n}\n"},
    {"significand", VYRE_F64, "double\nNAME(double a)\n{\n  int exponent;\n  return isfinite(a) ? frexp(a, &exponent) : a;\n}\n"},
    {"exponent", VYRE_F64,
     "uint32_t\nNAME(double a)\n{\n  int exponent = 0;\n  if (isfinite(a))\n    (void)frexp(a, &exponent);\n"
     "  return (uint32_t)exponent;\n}\n"},
    LIBM(sin),
    LIBM(cos),
    LIBM(tan),
    LIBM(asin),
    LIBM(acos),
    LIBM(atan),
    LIBM(sinh),
    LIBM(cosh),
    LIBM(tanh),
    LIBM(asinh),
    LIBM(acosh),
    LIBM(atanh),
    LIBM(exp),
    LIBM(exp2),
    LIBM(log),
    LIBM(log2),
    LIBM2(atan2),
    LIBM2(pow),
    /* ---- to integers: rounds toward zero and saturates; NaN becomes 0 ---- */
    {"of_float_i", VYRE_VOID,
     "$U\nNAME(double a)\n{\n  const double bound = $C;\n  if (isnan(a))\n    return 0;\n"
     "  if (a >= bound)\n    return ($U)(($U) ~($U)0 >> 1);\n"
     "  return a <= -bound ? ($U)(($U)1 << ($N - 1)) : ($U)($S)a;\n}\n"},
    {"of_float_u", VYRE_VOID,
     "$U\nNAME(double a)\n{\n  const double bound = 2.0 * $C;\n  if (isnan(a))\n    return 0;\n"
     "  if (a >= bound)\n    return ($U) ~($U)0;\n  return a <= 0.0 ? ($U)0 : ($U)a;\n}\n"},
    /* ---- packing ---- */
    {"pack", VYRE_F32,
     "uint32_t\nNAME(float a, float low, float scale)\n{\n"
     "  return (uint32_t)(int32_t)rintf(#fmin_f32(#fmax_f32(a, low), 1.0f) * scale);\n}\n"},
    {"unpack", VYRE_F32,
     "float\nNAME(float field, float scale)\n{\n  const float a = field / scale;\n  return a < -1.0f ? -1.0f : a;\n}\n"},
    /* ---- several lanes; sums from the first lane to the last ---- */
    {"dot1", VYRE_VOID, "$T\nNAME($T a0, $T b0)\n{\n  return $R(a0 * b0);\n}\n"},
    {"dot2", VYRE_VOID, "$T\nNAME($T a0, $T a1, $T b0, $T b1)\n{\n  return $R($R(a0 * b0) + $R(a1 * b1));\n}\n"},
    {"dot3", VYRE_VOID,
     "$T\nNAME($T a0, $T a1, $T a2, $T b0, $T b1, $T b2)\n{\n"
     "  return $R($R($R(a0 * b0) + $R(a1 * b1)) + $R(a2 * b2));\n}\n"},
    {"dot4", VYRE_VOID,
     "$T\nNAME($T a0, $T a1, $T a2, $T a3, $T b0, $T b1, $T b2, $T b3)\n{\n"
     "  return $R($R($R($R(a0 * b0) + $R(a1 * b1)) + $R(a2 * b2)) + $R(a3 * b3));\n}\n"},
    {"norm1", VYRE_VOID, "$T\nNAME($T a)\n{\n  return fabs$f(a);\n}\n"},
    {"norm2", VYRE_VOID, "$T\nNAME($T a, $T b)\n{\n  return $R(sqrt$f(@dot2(a, b, a, b)));\n}\n"},
    {"norm3", VYRE_VOID, "$T\nNAME($T a, $T b, $T c)\n{\n  return $R(sqrt$f(@dot3(a, b, c, a, b, c)));\n}\n"},
    {"norm4", VYRE_VOID, "$T\nNAME($T a, $T b, $T c, $T d)\n{\n  return $R(sqrt$f(@dot4(a, b, c, d, a, b, c, d)));\n}\n"},
    {"minus", VYRE_VOID, "$T\nNAME($T a, $T b)\n{\n  return $R(a - b);\n}\n"},
    {"times", VYRE_VOID, "$T\nNAME($T a, $T b)\n{\n  return $R(a * b);\n}\n"},
    /* one lane; `dot` is the dot product of n and i */
    {"reflect", VYRE_VOID, "$T\nNAME($T i, $T n, $T dot)\n{\n  return i - $R($R(2.0$f * dot) * n);\n}\n"},
    {"refract", VYRE_VOID,
     "$T\nNAME($T i, $T n, $T eta, $T cosine)\n{\n  const $T sine2 = $R(1.0$f - $R(cosine * cosine));\n"
     "  const $T k = $R(1.0$f - $R($R(eta * eta) * sine2));\n  const $T bend = $R($R(eta * cosine) + $R(sqrt$f(k)));\n"
     "  return k < 0.0$f ? 0.0$f : $R($R(eta * i) - $R(bend * n));\n}\n"},
    /* determinants by columns, expanded along the first column; so are the minors */
    {"det1", VYRE_VOID, "$T\nNAME($T a)\n{\n  return a;\n}\n"},
    {"det2", VYRE_VOID, "$T\nNAME($T a0, $T a1, $T b0, $T b1)\n{\n  return $R($R(a0 * b1) - $R(a1 * b0));\n}\n"},
    {"det3", VYRE_VOID,
     "$T\nNAME($T a0, $T a1, $T a2, $T b0, $T b1, $T b2, $T c0, $T c1, $T c2)\n{\n"
     "  const $T sum = $R($R(a0 * @det2(b1, b2, c1, c2)) - $R(a1 * @det2(b0, b2, c0, c2)));\n"
     "  return $R(sum + $R(a2 * @det2(b0, b1, c0, c1)));\n}\n"},
    {"det4", VYRE_VOID,
     "$T\nNAME($T a0, $T a1, $T a2, $T a3, $T b0, $T b1, $T b2, $T b3, $T c0, $T c1, $T c2, $T c3, $T d0, $T d1, $T d2, $T d3)\n{\n"
     "  $T sum = $R(a0 * @det3(b1, b2, b3, c1, c2, c3, d1, d2, d3));\n"
     "  sum = $R(sum - $R(a1 * @det3(b0, b2, b3, c0, c2, c3, d0, d2, d3)));\n"
     "  sum = $R(sum + $R(a2 * @det3(b0, b1, b3, c0, c1, c3, d0, d1, d3)));\n"
     "  return $R(sum - $R(a3 * @det3(b0, b1, b2, c0, c1, c2, d0, d1, d2)));\n}\n"},
    {NULL, 0, NULL}};
