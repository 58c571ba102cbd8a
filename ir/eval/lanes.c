/* Lane by lane ops as loops over arrays of lanes.
 *
 * Each family is one always-inlined function with a constant width or kind, so that every loop is compiled for its width and can be
 * vectorized. Integers are zero-extended in u64. Signed operations use sign_extend, and no signed arithmetic can overflow.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"
#include "scalar.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define EACH(expression)               \
  do {                                 \
    for (size_t i = 0; i < n; i++)     \
      out[i] = (uint64_t)(expression); \
    return true;                       \
  } while (0)

/* ---- one lane of ops that need more than an expression -------------------------------------------------------------- */

static ALWAYS_INLINE uint64_t
signed_divide(unsigned bits, uint64_t x, uint64_t y)
{
  const int64_t l = sign_extend(bits, x), r = sign_extend(bits, y);
  if (r == 0)
    return bits_mask(bits);
  if (r == -1) /* also MIN / -1 = MIN, because the negation wraps */
    return (0 - x) & bits_mask(bits);
  return (uint64_t)(l / r) & bits_mask(bits);
}

static ALWAYS_INLINE uint64_t
signed_remainder(unsigned bits, uint64_t x, uint64_t y)
{
  const int64_t l = sign_extend(bits, x), r = sign_extend(bits, y);
  return r == 0 || r == -1 ? 0 : (uint64_t)(l % r) & bits_mask(bits);
}

static ALWAYS_INLINE uint64_t
signed_modulo(unsigned bits, uint64_t x, uint64_t y)
{
  const uint64_t remainder = signed_remainder(bits, x, y);
  const bool adjust = remainder != 0 && ((remainder ^ y) >> (bits - 1) & 1) != 0;
  return (adjust ? remainder + y : remainder) & bits_mask(bits);
}

static ALWAYS_INLINE uint64_t
bit_reverse(unsigned bits, uint64_t x)
{
  x = (x & UINT64_C(0x5555555555555555)) << 1 | (x >> 1 & UINT64_C(0x5555555555555555));
  x = (x & UINT64_C(0x3333333333333333)) << 2 | (x >> 2 & UINT64_C(0x3333333333333333));
  x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4 | (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
  return __builtin_bswap64(x) >> (64 - bits);
}

static ALWAYS_INLINE uint64_t
lowest_bit(unsigned bits, uint64_t x)
{
  return x ? (uint64_t)__builtin_ctzll(x) : bits_mask(bits);
}

static ALWAYS_INLINE uint64_t
highest_bit(unsigned bits, uint64_t x)
{
  return x ? (uint64_t)(63 - __builtin_clzll(x)) : bits_mask(bits);
}

/* Returns the number of bits of a field. A field that does not fit is truncated at the top; one that starts past the top is
 * empty. */
static ALWAYS_INLINE uint64_t
clamp_count(unsigned bits, uint64_t offset, uint64_t count)
{
  if (offset >= bits)
    return 0;
  return count < bits - offset ? count : bits - offset;
}

static ALWAYS_INLINE uint64_t
bitfield_extract(unsigned bits, bool is_signed, uint64_t x, uint64_t offset, uint64_t count)
{
  const uint64_t width = clamp_count(bits, offset, count);
  if (width == 0)
    return 0;
  const uint64_t field = x >> offset & bits_mask((unsigned)width);
  return is_signed ? (uint64_t)sign_extend((unsigned)width, field) & bits_mask(bits) : field;
}

static ALWAYS_INLINE uint64_t
high_product(unsigned bits, bool is_signed, uint64_t x, uint64_t y)
{
  return (uint64_t)(product_of(bits, is_signed, x, y) >> bits) & bits_mask(bits);
}

/* Saturates an exact result to `bits` bits. Signed results have 65 bits, or 128 for a product. */
static ALWAYS_INLINE uint64_t
saturate_signed(unsigned bits, int128 exact)
{
  const int128 top = (int128)(bits_mask(bits) >> 1);
  return (uint64_t)(exact > top ? top : exact < -top - 1 ? -top - 1 : exact) & bits_mask(bits);
}

static ALWAYS_INLINE uint64_t
saturate_unsigned(unsigned bits, uint128 exact)
{
  return exact > bits_mask(bits) ? bits_mask(bits) : (uint64_t)exact;
}

static ALWAYS_INLINE uint64_t
rotate_left(unsigned bits, uint64_t x, uint64_t count)
{
  const unsigned left = (unsigned)count & (bits - 1), right = (bits - left) & (bits - 1);
  return (x << left | x >> right) & bits_mask(bits);
}

uint64_t
vyre_eval_bitfield_insert(unsigned bits, uint64_t base, uint64_t insert, uint64_t offset, uint64_t count)
{
  const uint64_t width = clamp_count(bits, offset, count);
  if (width == 0)
    return base;
  const uint64_t field = bits_mask((unsigned)width) << offset;
  return (base & ~field) | (insert << offset & field);
}

/* ---- integers and bool ---------------------------------------------------------------------------------------------- */

#define S(x) sign_extend(bits, x)

static ALWAYS_INLINE bool
bit_lanes(vyre_opcode op, unsigned bits, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)
{
  const uint64_t mask = bits_mask(bits);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_and: EACH(a[i] & b[i]);
  case VYRE_OP_or: EACH(a[i] | b[i]);
  case VYRE_OP_xor: EACH(a[i] ^ b[i]);
  case VYRE_OP_not: EACH(~a[i] & mask);
  case VYRE_OP_eq: EACH(a[i] == b[i]);
  case VYRE_OP_ne: EACH(a[i] != b[i]);
  default: return false;
  }
  /* clang-format on */
}

/* High halves, saturation, differences, rotation. */
static ALWAYS_INLINE bool
wide_lanes(vyre_opcode op, unsigned bits, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)
{
  const uint64_t mask = bits_mask(bits);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_umulhi: EACH(high_product(bits, false, a[i], b[i]));
  case VYRE_OP_smulhi: EACH(high_product(bits, true, a[i], b[i]));
  case VYRE_OP_uaddsat: EACH(a[i] > mask - b[i] ? mask : a[i] + b[i]);
  case VYRE_OP_usubsat: EACH(a[i] > b[i] ? a[i] - b[i] : 0);
  case VYRE_OP_umulsat: EACH(saturate_unsigned(bits, product_of(bits, false, a[i], b[i])));
  case VYRE_OP_saddsat: EACH(saturate_signed(bits, (int128)S(a[i]) + S(b[i])));
  case VYRE_OP_ssubsat: EACH(saturate_signed(bits, (int128)S(a[i]) - S(b[i])));
  case VYRE_OP_smulsat: EACH(saturate_signed(bits, (int128)product_of(bits, true, a[i], b[i])));
  case VYRE_OP_uabsdiff: EACH(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
  case VYRE_OP_sabsdiff: EACH((S(a[i]) > S(b[i]) ? a[i] - b[i] : b[i] - a[i]) & mask);
  case VYRE_OP_rotl: EACH(rotate_left(bits, a[i], b[i]));
  case VYRE_OP_rotr: EACH(rotate_left(bits, a[i], 0 - b[i]));
  default: return bit_lanes(op, bits, a, b, out, n);
  }
  /* clang-format on */
}

static ALWAYS_INLINE bool
int_lanes(vyre_opcode op, unsigned bits, const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out, size_t n)
{
  const uint64_t mask = bits_mask(bits);
  const unsigned top = bits - 1;
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_add: EACH((a[i] + b[i]) & mask);
  case VYRE_OP_sub: EACH((a[i] - b[i]) & mask);
  case VYRE_OP_mul: EACH((a[i] * b[i]) & mask);
  case VYRE_OP_neg: EACH((0 - a[i]) & mask);
  case VYRE_OP_udiv: EACH(b[i] ? a[i] / b[i] : mask);
  case VYRE_OP_umod: EACH(b[i] ? a[i] % b[i] : 0);
  case VYRE_OP_sdiv: EACH(signed_divide(bits, a[i], b[i]));
  case VYRE_OP_srem: EACH(signed_remainder(bits, a[i], b[i]));
  case VYRE_OP_smod: EACH(signed_modulo(bits, a[i], b[i]));
  case VYRE_OP_sabs: EACH((a[i] >> top & 1 ? 0 - a[i] : a[i]) & mask);
  case VYRE_OP_ssign: EACH(a[i] >> top & 1 ? mask : a[i] != 0);
  case VYRE_OP_umin: EACH(a[i] < b[i] ? a[i] : b[i]);
  case VYRE_OP_umax: EACH(a[i] > b[i] ? a[i] : b[i]);
  case VYRE_OP_smin: EACH(S(a[i]) < S(b[i]) ? a[i] : b[i]);
  case VYRE_OP_smax: EACH(S(a[i]) > S(b[i]) ? a[i] : b[i]);
  case VYRE_OP_uclamp: {
    for (size_t i = 0; i < n; i++) {
      const uint64_t low = a[i] > b[i] ? a[i] : b[i];
      out[i] = low < c[i] ? low : c[i];
    }
    return true;
  }
  /* clang-format on */
  case VYRE_OP_sclamp: {
    for (size_t i = 0; i < n; i++) {
      const uint64_t low = S(a[i]) > S(b[i]) ? a[i] : b[i];
      out[i] = S(low) < S(c[i]) ? low : c[i];
    }
    return true;
  }
  case VYRE_OP_shl:
    EACH(a[i] << (b[i] & top) & mask);
  case VYRE_OP_ushr:
    EACH(a[i] >> (b[i] & top));
  case VYRE_OP_sshr:
    EACH((uint64_t)(S(a[i]) >> (b[i] & top)) & mask);
  case VYRE_OP_bitcount:
    EACH(__builtin_popcountll(a[i]));
  case VYRE_OP_bitrev:
    EACH(bit_reverse(bits, a[i]));
  case VYRE_OP_findlsb:
    EACH(lowest_bit(bits, a[i]));
  case VYRE_OP_findumsb:
    EACH(highest_bit(bits, a[i]));
  case VYRE_OP_findsmsb:
    EACH(highest_bit(bits, a[i] >> top & 1 ? ~a[i] & mask : a[i]));
  case VYRE_OP_ubfe:
    EACH(bitfield_extract(bits, false, a[i], b[i], c[i]));
  case VYRE_OP_sbfe:
    EACH(bitfield_extract(bits, true, a[i], b[i], c[i]));
  case VYRE_OP_ult:
    EACH(a[i] < b[i]);
  case VYRE_OP_ule:
    EACH(a[i] <= b[i]);
  case VYRE_OP_ugt:
    EACH(a[i] > b[i]);
  case VYRE_OP_uge:
    EACH(a[i] >= b[i]);
  case VYRE_OP_slt:
    EACH(S(a[i]) < S(b[i]));
  case VYRE_OP_sle:
    EACH(S(a[i]) <= S(b[i]));
  case VYRE_OP_sgt:
    EACH(S(a[i]) > S(b[i]));
  case VYRE_OP_sge:
    EACH(S(a[i]) >= S(b[i]));
  default:
    return wide_lanes(op, bits, a, b, out, n);
  }
}

/* ---- floats --------------------------------------------------------------------------------------------------------- */

static double
float_sign(double x) /* a zero keeps its sign; NaN gives +0 */
{
  if (isnan(x))
    return 0.0;
  return x == 0.0 ? x : x > 0.0 ? 1.0 : -1.0;
}

static double
float_mod(double x, double y) /* sign of y, also for a zero */
{
  const double remainder = fmod(x, y);
  if (remainder == 0.0)
    return copysign(0.0, y);
  return signbit(remainder) != signbit(y) ? remainder + y : remainder;
}

/* Returns the correctly rounded fma. For f16, double is exact wherever the bits that it drops could decide the rounding. */
static ALWAYS_INLINE double
fused(vyre_kind kind, double x, double y, double z)
{
  return kind == VYRE_F32 ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
}

/* Computes fmix operation by operation, each rounded to the kind, so that a code generator can repeat it. */
static ALWAYS_INLINE double
mix(vyre_kind kind, double x, double y, double t)
{
  const double l = round_to_kind(kind, x * round_to_kind(kind, 1.0 - t));
  return l + round_to_kind(kind, y * t);
}

static ALWAYS_INLINE double
smooth(vyre_kind kind, double low, double high, double x)
{
  const double ratio = round_to_kind(kind, round_to_kind(kind, x - low) / round_to_kind(kind, high - low));
  const double t = float_min(float_max(ratio, 0.0), 1.0);
  const double slope = round_to_kind(kind, 3.0 - round_to_kind(kind, 2.0 * t));
  return round_to_kind(kind, t * t) * slope;
}

static double
scale(double x, int64_t exponent)
{
  return ldexp(x, exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : (int)exponent);
}

#define X                 double_of_lane(kind, a[i])
#define Y                 double_of_lane(kind, b[i])
#define Z                 double_of_lane(kind, c[i])
#define FLOAT(expression) EACH(lane_of_double(kind, (expression)))

static ALWAYS_INLINE bool
compare_lanes(vyre_opcode op, vyre_kind kind, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)
{
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_feq: EACH(X == Y);
  case VYRE_OP_fne: EACH(!(X == Y));
  case VYRE_OP_flt: EACH(X < Y);
  case VYRE_OP_fle: EACH(X <= Y);
  case VYRE_OP_fgt: EACH(X > Y);
  case VYRE_OP_fge: EACH(X >= Y);
  case VYRE_OP_fone: EACH(X < Y || X > Y);
  case VYRE_OP_fueq: EACH(!(X < Y || X > Y));
  case VYRE_OP_fult: EACH(!(X >= Y));
  case VYRE_OP_fule: EACH(!(X > Y));
  case VYRE_OP_fugt: EACH(!(X <= Y));
  case VYRE_OP_fuge: EACH(!(X < Y));
  case VYRE_OP_isnan: EACH(isnan(X) != 0);
  case VYRE_OP_isinf: EACH(isinf(X) != 0);
  default: return false;
  }
  /* clang-format on */
}

/* Ops computed by libm in double and rounded once. */
static ALWAYS_INLINE bool
libm_lanes(vyre_opcode op, vyre_kind kind, const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out, size_t n)
{
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_frem: FLOAT(fmod(X, Y));
  case VYRE_OP_fmod: FLOAT(float_mod(X, Y));
  case VYRE_OP_fract: FLOAT(X - floor(X));
  case VYRE_OP_rsqrt: FLOAT(1.0 / sqrt(X));
  case VYRE_OP_radians: FLOAT(X * (3.14159265358979323846 / 180.0));
  case VYRE_OP_degrees: FLOAT(X * (180.0 / 3.14159265358979323846));
  case VYRE_OP_sin: FLOAT(sin(X));
  case VYRE_OP_cos: FLOAT(cos(X));
  case VYRE_OP_tan: FLOAT(tan(X));
  case VYRE_OP_asin: FLOAT(asin(X));
  case VYRE_OP_acos: FLOAT(acos(X));
  case VYRE_OP_atan: FLOAT(atan(X));
  case VYRE_OP_sinh: FLOAT(sinh(X));
  case VYRE_OP_cosh: FLOAT(cosh(X));
  case VYRE_OP_tanh: FLOAT(tanh(X));
  case VYRE_OP_asinh: FLOAT(asinh(X));
  case VYRE_OP_acosh: FLOAT(acosh(X));
  case VYRE_OP_atanh: FLOAT(atanh(X));
  case VYRE_OP_exp: FLOAT(exp(X));
  case VYRE_OP_exp2: FLOAT(exp2(X));
  case VYRE_OP_log: FLOAT(log(X));
  case VYRE_OP_log2: FLOAT(log2(X));
  case VYRE_OP_atan2: FLOAT(atan2(X, Y));
  case VYRE_OP_pow: FLOAT(pow(X, Y));
  case VYRE_OP_fmix: FLOAT(mix(kind, X, Y, Z));
  case VYRE_OP_smoothstep: FLOAT(smooth(kind, X, Y, Z));
  default: return compare_lanes(op, kind, a, b, out, n);
  }
  /* clang-format on */
}

static ALWAYS_INLINE bool
float_lanes(vyre_opcode op, vyre_kind kind, const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out, size_t n)
{
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_add: FLOAT(X + Y);
  case VYRE_OP_sub: FLOAT(X - Y);
  case VYRE_OP_mul: FLOAT(X * Y);
  case VYRE_OP_neg: FLOAT(-X);
  case VYRE_OP_fdiv: FLOAT(X / Y);
  case VYRE_OP_fma: FLOAT(fused(kind, X, Y, Z));
  case VYRE_OP_fabs: FLOAT(fabs(X));
  case VYRE_OP_fsign: FLOAT(float_sign(X));
  case VYRE_OP_fmin:
  case VYRE_OP_nmin: FLOAT(float_min(X, Y));
  case VYRE_OP_fmax:
  case VYRE_OP_nmax: FLOAT(float_max(X, Y));
  case VYRE_OP_fclamp:
  case VYRE_OP_nclamp: FLOAT(float_min(float_max(X, Y), Z));
  /* SPIR-V leaves the halfway case of Round undefined. Mesa and NVIDIA round to even, and so does vyre. */
  case VYRE_OP_round:
  case VYRE_OP_roundeven: FLOAT(roundeven(X));
  case VYRE_OP_trunc: FLOAT(trunc(X));
  case VYRE_OP_floor: FLOAT(floor(X));
  case VYRE_OP_ceil: FLOAT(ceil(X));
  case VYRE_OP_sqrt: FLOAT(sqrt(X));
  case VYRE_OP_step: FLOAT(Y < X ? 0.0 : 1.0);
  /* A value that would be a denormal half becomes zero: OpQuantizeToF16. */
  case VYRE_OP_quantize16:
    FLOAT(isnan(X) ? X : fabs(X) < 0x1p-14 ? copysign(0.0, X) : double_of_half((uint32_t)half_of_double(X)));
  default: return libm_lanes(op, kind, a, b, c, out, n);
  }
  /* clang-format on */
}

static bool
ldexp_lanes(vyre_kind kind, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)
{
  FLOAT(scale(X, sign_extend(32, b[i])));
}

/* ---- conversions ---------------------------------------------------------------------------------------------------- */

/* Truncates toward zero and saturates to the range of the kind. A NaN gives 0. */
static uint64_t
int_of_double(vyre_kind kind, double x)
{
  const unsigned bits = vyre_kind_bits(kind);
  const bool is_signed = vyre_kind_is_signed(kind);
  const double bound = ldexp(1.0, (int)(is_signed ? bits - 1 : bits)); /* one more than the greatest value */
  if (isnan(x))
    return 0;
  if (is_signed) {
    if (x >= bound)
      return bits_mask(bits - 1);
    return x <= -bound ? UINT64_C(1) << (bits - 1) : (uint64_t)(int64_t)x & bits_mask(bits);
  }
  if (x >= bound)
    return bits_mask(bits);
  return x <= 0.0 ? 0 : (uint64_t)x;
}

static uint64_t
float_of_int(vyre_kind from, vyre_kind to, uint64_t x)
{
  const bool is_signed = vyre_kind_is_signed(from);
  const int64_t value = sign_extend(vyre_kind_bits(from), x);
  if (to == VYRE_F32) /* not through double, which would round 64 bits twice */
    return bits_of_float(is_signed ? (float)value : (float)x);
  return lane_of_double(to, is_signed ? (double)value : (double)x);
}

static bool
convert_lanes(vyre_kind from, vyre_kind to, const uint64_t *a, uint64_t *out, size_t n)
{
  if (vyre_kind_is_float(from)) {
    if (vyre_kind_is_float(to))
      EACH(lane_of_double(to, double_of_lane(from, a[i])));
    if (vyre_kind_is_int(to))
      EACH(int_of_double(to, double_of_lane(from, a[i])));
    return false;
  }
  if (!vyre_kind_is_int(from))
    return false;
  if (vyre_kind_is_float(to))
    EACH(float_of_int(from, to, a[i]));
  if (!vyre_kind_is_int(to))
    return false;
  const uint64_t mask = bits_mask(vyre_kind_bits(to));
  const unsigned bits = vyre_kind_bits(from);
  if (vyre_kind_is_signed(from))
    EACH((uint64_t)sign_extend(bits, a[i]) & mask);
  EACH(a[i] & mask);
}

static bool
select_lanes(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out, size_t n)
{
  EACH(a[i] ? b[i] : c[i]);
}

/* ---- entry ---------------------------------------------------------------------------------------------------------- */

bool
vyre_eval_lanes(vyre_opcode op, vyre_kind from, vyre_kind to, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                uint64_t *out, size_t n)
{
  if (op == VYRE_OP_convert)
    return convert_lanes(from, to, a, out, n);
  if (op == VYRE_OP_select)
    return select_lanes(a, b, c, out, n);
  if (op == VYRE_OP_ldexp)
    return vyre_kind_is_float(from) && ldexp_lanes(from, a, b, out, n);
  /* clang-format off */
  switch (from) {
  case VYRE_BOOL: return bit_lanes(op, 1, a, b, out, n);
  case VYRE_I8:
  case VYRE_U8: return int_lanes(op, 8, a, b, c, out, n);
  case VYRE_I16:
  case VYRE_U16: return int_lanes(op, 16, a, b, c, out, n);
  case VYRE_I32:
  case VYRE_U32: return int_lanes(op, 32, a, b, c, out, n);
  case VYRE_I64:
  case VYRE_U64: return int_lanes(op, 64, a, b, c, out, n);
  case VYRE_F16: return float_lanes(op, VYRE_F16, a, b, c, out, n);
  case VYRE_F32: return float_lanes(op, VYRE_F32, a, b, c, out, n);
  case VYRE_F64: return float_lanes(op, VYRE_F64, a, b, c, out, n);
  case VYRE_VOID:
  case VYRE_TUPLE:
  case VYRE_PATH:
  case VYRE_OPAQUE:
  case VYRE_KIND__COUNT: break;
  }
  /* clang-format on */
  return false;
}
