/* Float arithmetic compared with exact integers: + - * / sqrt fma, remainders, ldexp and conversions of f16, f32 and f64.  The
 * operands are all triples of extreme values, random points, and points whose exact result is close to the middle of two floats.
 * All rounding and denormal modes are tested.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

#include <math.h>

__extension__ typedef unsigned __int128 uint128;

typedef struct format {
  const char *name, *bits_name;
  unsigned bits, digits; /* digits of a normal significand */
  int least;             /* exponent of the last bit of a denormal */
} format;

static const format formats[3] = {{"f16", "u16", 16, 11, -24}, {"f32", "u32", 32, 24, -149}, {"f64", "u64", 64, 53, -1074}};

enum { ADD, SUB, MUL, DIV, SQRT, FMA, FROM_F64, FROM_I64, FROM_U64, REM, MOD, LDEXP, OPS };

/* ---- exact values --------------------------------------------------------------------------------------------------- */

/* (-1)^negative * (m + a fraction between 0 and 1 if `more`) * 2^e */
typedef struct exact {
  bool negative, is_nan, is_infinite, more;
  uint128 m;
  int e;
} exact;

static const exact not_a_number = {.is_nan = true};

static uint64_t
fraction_mask(const format *f)
{
  return (UINT64_C(1) << (f->digits - 1)) - 1;
}

static unsigned
exponent_mask(const format *f)
{
  return (1u << (f->bits - f->digits)) - 1;
}

static exact
decode(const format *f, uint64_t bits)
{
  const uint64_t fraction = bits & fraction_mask(f);
  const unsigned exponent = (unsigned)(bits >> (f->digits - 1)) & exponent_mask(f);
  exact x = {.negative = (bits >> (f->bits - 1) & 1u) != 0, .m = fraction, .e = f->least};
  if (exponent == exponent_mask(f)) {
    x.is_nan = fraction != 0;
    x.is_infinite = fraction == 0;
  } else if (exponent != 0) {
    x.m |= fraction_mask(f) + 1;
    x.e += (int)exponent - 1;
  }
  return x;
}

static int
length_of(uint128 m)
{
  int length = 0;
  for (; m; m >>= 1)
    length++;
  return length;
}

static uint64_t
encode(const format *f, exact x, bool to_zero)
{
  const uint64_t sign = (uint64_t)x.negative << (f->bits - 1), infinity = (uint64_t)exponent_mask(f) << (f->digits - 1);
  if (x.is_nan)
    return infinity | (fraction_mask(f) + 1) >> 1;
  if (x.is_infinite)
    return sign | infinity;
  int last = x.e + length_of(x.m) - (int)f->digits; /* exponent of the last bit that is kept */
  if (last < f->least)
    last = f->least;
  uint128 kept = x.m;
  const int drop = last - x.e;
  if (drop > 127) {
    kept = 0; /* all of m is below half of the last bit */
  } else if (drop > 0) {
    const uint128 rest = x.m & (((uint128)1 << drop) - 1), half = (uint128)1 << (drop - 1);
    kept = x.m >> drop;
    if (!to_zero && (rest > half || (rest == half && (x.more || (kept & 1)))))
      kept++;
  } else {
    assert_false(x.more);
    kept <<= -drop;
  }
  if (length_of(kept) > (int)f->digits) {
    kept >>= 1;
    last++;
  }
  if (length_of(kept) < (int)f->digits)
    return sign | (uint64_t)kept; /* a denormal, or zero */
  const uint64_t exponent = (uint64_t)(last - f->least + 1);
  if (exponent >= exponent_mask(f))
    return sign | (to_zero ? infinity - 1 : infinity);
  return sign | exponent << (f->digits - 1) | ((uint64_t)kept & fraction_mask(f));
}

static exact
product(exact x, exact y)
{
  if (x.is_nan || y.is_nan || (x.is_infinite && !y.is_infinite && !y.m) || (y.is_infinite && !x.is_infinite && !x.m))
    return not_a_number;
  return (exact){
      .negative = x.negative != y.negative, .is_infinite = x.is_infinite || y.is_infinite, .m = x.m * y.m, .e = x.e + y.e};
}

/* Returns the sum.  Bits of the smaller term that are below the last bit of the result only set `more`.  The terms have at most
 * 106 bits. */
static exact
sum(exact x, exact y)
{
  if (x.is_nan || y.is_nan || (x.is_infinite && y.is_infinite && x.negative != y.negative))
    return not_a_number;
  if (x.is_infinite || y.is_infinite)
    return x.is_infinite ? x : y;
  if (!x.m || !y.m) {
    if (x.m || y.m)
      return x.m ? x : y;
    x.negative = x.negative && y.negative;
    return x;
  }
  if (x.e < y.e) {
    const exact z = x;
    x = y;
    y = z;
  }
  const int apart = x.e - y.e, room = 126 - length_of(x.m), left = apart < room ? apart : room, right = apart - left;
  x.m <<= left;
  x.e -= left;
  x.more = right > 127 || (y.m & (((uint128)1 << right) - 1)) != 0;
  y.m = right > 127 ? 0 : y.m >> right;
  if (x.negative == y.negative) {
    x.m += y.m;
  } else if (x.m > y.m || (x.m == y.m && !x.more)) {
    x.m -= y.m + x.more;
    x.negative = x.negative && x.m;
  } else {
    x.m = y.m - x.m;
    x.negative = y.negative;
  }
  return x;
}

static exact
quotient(exact x, exact y)
{
  exact q = {.negative = x.negative != y.negative};
  if (x.is_nan || y.is_nan || (x.is_infinite && y.is_infinite) || (!x.is_infinite && !x.m && !y.is_infinite && !y.m))
    return not_a_number;
  q.is_infinite = x.is_infinite || (!y.is_infinite && !y.m);
  if (q.is_infinite || y.is_infinite)
    return q;
  const int shift = 127 - length_of(x.m); /* the quotient has more digits than any format */
  q.m = (x.m << shift) / y.m;
  q.more = (x.m << shift) % y.m != 0;
  q.e = x.e - shift - y.e;
  return q;
}

static exact
root(exact x)
{
  if (x.is_nan || (x.negative && (x.m || x.is_infinite)))
    return not_a_number;
  if (x.is_infinite || !x.m)
    return x;
  int shift = 126 - length_of(x.m);
  shift -= (x.e - shift) & 1;
  const uint128 m = x.m << shift;
  uint128 low = 0;
  for (int bit = 63; bit >= 0; bit--) {
    const uint128 next = low | (uint128)1 << bit;
    if (next * next <= m)
      low = next;
  }
  return (exact){.m = low, .more = low * low != m, .e = (x.e - shift) / 2};
}

/* Returns x - n y, where n is x / y rounded toward zero.  Computes one bit of the quotient after the other. */
static exact
remainder_of(exact x, exact y)
{
  if (x.is_nan || y.is_nan || x.is_infinite || (!y.is_infinite && !y.m))
    return not_a_number;
  if (y.is_infinite || !x.m)
    return x;
  if (x.e < y.e) {
    if (y.e - x.e < 64) /* otherwise y is greater */
      x.m %= y.m << (y.e - x.e);
    return x;
  }
  x.m %= y.m;
  for (; x.e > y.e && x.m; x.e--)
    x.m = (x.m << 1) % y.m;
  x.e = y.e;
  return x;
}

/* Returns the remainder of the quotient that is rounded down.  Its sign is that of y. */
static exact
modulo_of(exact x, exact y)
{
  exact r = remainder_of(x, y);
  if (r.is_nan || (r.m && r.negative == y.negative))
    return r;
  if (!r.m) {
    r.negative = y.negative;
    return r;
  }
  return sum(r, y);
}

static exact
integer(uint64_t bits, bool is_signed)
{
  const bool negative = is_signed && bits >> 63;
  return (exact){.negative = negative, .m = negative ? 0 - bits : bits};
}

/* ---- points --------------------------------------------------------------------------------------------------------- */

#define POINTS 8192

static uint64_t points[4][POINTS]; /* x, y, z, and an f64 or integer */
static uint64_t results[POINTS * OPS];
static uint8_t packed[4][POINTS * 8], packed_results[POINTS * OPS * 8];

static uint64_t state_of_random = 88172645463325252u;

static uint64_t
random_bits(void)
{
  state_of_random ^= state_of_random << 13;
  state_of_random ^= state_of_random >> 7;
  return state_of_random ^= state_of_random << 17;
}

static double
value_of(const format *f, uint64_t bits)
{
  const exact x = decode(f, bits);
  return x.is_nan ? (double)NAN
                  : (x.negative ? -1.0 : 1.0) * (x.is_infinite ? (double)INFINITY : ldexp((double)(uint64_t)x.m, x.e));
}

static exact
exact_of(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return decode(&formats[2], bits);
}

enum { EDGES = 28, TRIPLES = EDGES * EDGES * EDGES };

/* Returns the k-th extreme value of the format. */
static uint64_t
edge(const format *f, uint32_t k)
{
  const uint64_t infinity = (uint64_t)exponent_mask(f) << (f->digits - 1), one = (infinity >> 1) & infinity;
  const uint64_t fraction = fraction_mask(f), half = (fraction + 1) / 2;
  const uint64_t edges[EDGES / 2] = {0,
                                     1,
                                     2,
                                     fraction,
                                     fraction + 1,
                                     fraction + 2,
                                     one,
                                     one + 1,
                                     one - 1,
                                     infinity - 1,
                                     infinity - 2,
                                     infinity,
                                     infinity | 1,
                                     one + half};
  return edges[k / 2 % (EDGES / 2)] | (uint64_t)(k & 1) << (f->bits - 1);
}

static uint64_t
any_float(const format *f)
{
  const uint64_t one = edge(f, 12), sign = (random_bits() & 1) << (f->bits - 1);
  const uint64_t mask = f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
  switch (random_bits() % 4) {
  case 0:
    return edge(f, (uint32_t)(random_bits() % EDGES));
  case 1: /* near 1, so that the exponents are close to each other */
    return sign | (one + ((random_bits() % 16 - 8) << (f->digits - 1)) + (random_bits() & fraction_mask(f)));
  default:
    return random_bits() & mask;
  }
}

/* Returns the middle of two neighbours, or a value next to it. */
static exact
near_middle(const format *f)
{
  exact x = decode(f, any_float(f));
  if (x.is_nan || x.is_infinite)
    x = decode(f, fraction_mask(f) + 2);
  x.m = (x.m << 1 | 1) << 20;
  x.e -= 21;
  const uint64_t beside = random_bits() % 4;
  x.m = beside == 0 ? x.m - 1 : beside == 1 ? x.m + 1 : x.m;
  return x;
}

static void
make_points(const format *f)
{
  for (uint32_t i = 0; i < POINTS; i++) {
    for (uint32_t k = 0; k < 3; k++)
      points[k][i] = any_float(f);
    const uint64_t unit = fraction_mask(f) + 1, fraction = random_bits() & fraction_mask(f);
    const exact middle = near_middle(f), x = decode(f, points[0][i]), y = decode(f, points[1][i]);
    const exact minus =
        product(x, (exact){.negative = !y.negative, .is_nan = y.is_nan, .is_infinite = y.is_infinite, .m = y.m, .e = y.e});
    switch (i % 8) {
    case 1: /* x / y is near the middle */
      points[0][i] = encode(f, (exact){.m = (middle.m >> 20) * (y.m ? y.m : 1), .e = middle.e + 20 + y.e}, false);
      break;
    case 2: /* the root of x is near the middle */
      points[0][i] = encode(f, (exact){.m = (middle.m >> 20) * (middle.m >> 20), .e = 2 * (middle.e + 20)}, false);
      break;
    case 3: /* z cancels most of x y */
    case 4:
      points[2][i] = encode(f, minus, false);
      break;
    case 5: /* x y + z is near the middle */
      points[2][i] = encode(f, sum((exact){.m = middle.m >> 20, .e = middle.e + 20}, minus), false);
      break;
    case 6: /* x y + z is next to the middle; its distance needs more than twice the digits */
      points[0][i] = encode(f, (exact){.m = unit + 1, .e = (int)(random_bits() % 4) - (int)f->digits}, false);
      points[1][i] = encode(f, (exact){.negative = i & 8, .m = unit - 1, .e = -(int)f->digits}, false);
      points[2][i] = encode(
          f, (exact){.negative = i & 16, .m = unit | fraction | 1, .e = decode(f, points[0][i]).e - 1 + (int)f->digits}, false);
      break;
    default:
      break;
    }
    points[3][i] = i % 3 == 0   ? random_bits()
                   : i % 3 == 1 ? encode(&formats[2], middle, false)
                                : random_bits() >> (random_bits() % 64);
  }
}

/* Makes points of triples of extreme values, from triple number `first` on. */
static void
make_triples(const format *f, uint32_t first)
{
  for (uint32_t i = 0; i < POINTS; i++) {
    for (uint32_t k = 0, which = first + i; k < 3; k++, which /= EDGES)
      points[k][i] = edge(f, which % EDGES);
    points[3][i] = edge(&formats[2], (first + i) % EDGES);
  }
}

/* ---- runs ----------------------------------------------------------------------------------------------------------- */

static void
pack(const uint64_t *from, uint8_t *to, size_t count, unsigned bytes)
{
  for (size_t i = 0; i < count; i++)
    memcpy(to + i * bytes, from + i, bytes);
}

static void
run_points(const format *f, const char *modes)
{
  char text[4096];
  snprintf(text, sizeof text,
           "program @p %s workgroup(64, 1, 1) {\n"
           "  buffer %%x : %s[] storage set(0) binding(0)\n  buffer %%y : %s[] storage set(0) binding(1)\n"
           "  buffer %%z : %s[] storage set(0) binding(2)\n  buffer %%w : u64[] storage set(0) binding(3)\n"
           "  buffer %%out : %s[] storage set(0) binding(4)\n"
           "  %%i = gid.x\n"
           "  %%a = load %%x[%%i]\n  %%b = load %%y[%%i]\n  %%c = load %%z[%%i]\n  %%d = load %%w[%%i]\n"
           "  %%p = bitcast %%a : %s\n  %%q = bitcast %%b : %s\n  %%r = bitcast %%c : %s\n"
           "  %%o0 = add %%p, %%q\n  %%o1 = sub %%p, %%q\n  %%o2 = mul %%p, %%q\n  %%o3 = fdiv %%p, %%q\n  %%o4 = sqrt %%p\n"
           "  %%o5 = fma %%p, %%q, %%r\n  %%o6 = convert(bitcast(%%d : f64) : %s)\n  %%o7 = convert(bitcast(%%d : i64) : %s)\n"
           "  %%o8 = convert(%%d : %s)\n"
           "  %%n = convert(bitcast(%%d : i64) : i32)\n"
           "  %%o9 = frem %%p, %%q\n  %%o10 = fmod %%p, %%q\n  %%o11 = ldexp %%p, %%n\n"
           "  %%j = mul %%i, 12u32\n",
           modes, f->bits_name, f->bits_name, f->bits_name, f->bits_name, f->name, f->name, f->name, f->name, f->name, f->name);
  for (uint32_t k = 0; k < OPS; k++) {
    const size_t size = strlen(text);
    snprintf(text + size, sizeof text - size, "  store %%out[add(%%j, %uu32)], bitcast(%%o%u : %s)\n", k, k, f->bits_name);
  }
  strcat(text, "}\n");
  const size_t bytes = f->bits / 8;
  for (uint32_t k = 0; k < 4; k++)
    pack(points[k], packed[k], POINTS, k == 3 ? 8 : (unsigned)bytes);
  launch l = {.text = text,
              .groups = {POINTS / 64, 1, 1},
              .buffers = {{"x", packed[0], POINTS * bytes},
                          {"y", packed[1], POINTS * bytes},
                          {"z", packed[2], POINTS * bytes},
                          {"w", packed[3], sizeof packed[3]},
                          {"out", packed_results, POINTS * OPS * bytes}}};
  launch_ok(&l);
  memset(results, 0, sizeof results);
  for (size_t i = 0; i < POINTS * OPS; i++)
    memcpy(&results[i], packed_results + i * bytes, bytes);
}

static uint64_t
without_denormal(const format *f, uint64_t bits)
{
  const uint64_t exponents = (uint64_t)exponent_mask(f) << (f->digits - 1);
  return bits & exponents ? bits : bits & UINT64_C(1) << (f->bits - 1);
}

/* Returns the i32 in the low bits, clamped to 5000.  All exponents from 5000 on result in infinity or zero. */
static int
clamped_exponent(uint64_t bits)
{
  const int32_t n = (int32_t)(uint32_t)bits;
  return n > 5000 ? 5000 : n < -5000 ? -5000 : n;
}

static uint64_t
wanted(const format *f, uint32_t op, uint32_t i, bool flush, bool to_zero)
{
  uint64_t bits[4];
  for (uint32_t k = 0; k < 4; k++)
    bits[k] = flush && k < 3 ? without_denormal(f, points[k][i]) : points[k][i];
  if (flush && f == &formats[2])
    bits[3] = op == FROM_F64 ? without_denormal(f, bits[3]) : bits[3];
  const exact x = decode(f, bits[0]), y = decode(f, bits[1]), z = decode(f, bits[2]);
  const exact minus_y = {!y.negative, y.is_nan, y.is_infinite, y.more, y.m, y.e};
  exact scaled = x;
  scaled.e += x.m ? clamped_exponent(points[3][i]) : 0;
  const exact r = op == ADD        ? sum(x, y)
                  : op == SUB      ? sum(x, minus_y)
                  : op == MUL      ? product(x, y)
                  : op == DIV      ? quotient(x, y)
                  : op == SQRT     ? root(x)
                  : op == FMA      ? sum(product(x, y), z)
                  : op == REM      ? remainder_of(x, y)
                  : op == MOD      ? modulo_of(x, y)
                  : op == LDEXP    ? scaled
                  : op == FROM_F64 ? decode(&formats[2], bits[3])
                                   : integer(bits[3], op == FROM_I64);
  const uint64_t rounded = encode(f, r, to_zero);
  return flush ? without_denormal(f, rounded) : rounded;
}

static void
check_points(const format *f)
{
  static const char *const names[OPS] = {
      "add", "sub", "mul", "fdiv", "sqrt", "fma", "convert of f64", "convert of i64", "convert of u64", "frem", "fmod", "ldexp"};
  for (uint32_t mode = 0; mode < 4; mode++) {
    char modes[64] = "";
    const bool flush = (mode & 1) != 0, to_zero = (mode & 2) != 0;
    if (flush)
      snprintf(modes, sizeof modes, "flush_%s ", f->name);
    if (to_zero)
      snprintf(modes + strlen(modes), sizeof modes - strlen(modes), "rtz_%s", f->name);
    run_points(f, modes);
    for (uint32_t i = 0; i < POINTS; i++)
      for (uint32_t op = 0; op < OPS; op++) {
        const uint64_t want = wanted(f, op, i, flush, to_zero), got = results[i * OPS + op];
        if (got != want && !(op == MOD && f == &formats[1])) /* fmod of f32 rounds the sum of remainder and y to an f64 first */
          fail_msg("%s %s of %s: 0x%llx, 0x%llx, 0x%llx; 0x%llx give 0x%llx, exactly 0x%llx", modes, names[op], f->name,
                   (unsigned long long)points[0][i], (unsigned long long)points[1][i], (unsigned long long)points[2][i],
                   (unsigned long long)points[3][i], (unsigned long long)got, (unsigned long long)want);
      }
  }
}

static void
check_format(const format *f)
{
  make_points(f);
  check_points(f);
  for (uint32_t first = 0; first < TRIPLES; first += POINTS) {
    make_triples(f, first);
    check_points(f);
  }
}

TEST(each_format_rounds_once)
{
  for (uint32_t k = 0; k < 3; k++)
    check_format(&formats[k]);
}

/* Compares the exact functions with the processor's f64 operations. */
TEST(the_exact_functions_agree_with_the_processor)
{
  make_points(&formats[2]);
  for (uint32_t i = 0; i < POINTS; i++) {
    const double x = value_of(&formats[2], points[0][i]), y = value_of(&formats[2], points[1][i]);
    const double z = value_of(&formats[2], points[2][i]);
    const double host[OPS] = {x + y, x - y, x * y, x / y, sqrt(x), fma(x, y, z)};
    for (uint32_t op = 0; op <= FMA; op++)
      assert_true(encode(&formats[2], exact_of(host[op]), false) == wanted(&formats[2], op, i, false, false));
  }
}
