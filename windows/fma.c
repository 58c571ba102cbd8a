/* Implements fma and fmaf (math.h) with one rounding.  MinGW's functions round twice, but folding needs the exact last bit.
 *
 * Both summands become 128-bit integers with the same scale, and the smaller one is shifted down.  Bits that are shifted out set
 * the lowest bit (a sticky bit).  Then the other summand is at least four times as large, so that the difference loses at most one
 * high bit, and the sticky bit stays below the rounding position.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 wide;

enum { HIGHEST = 124 };

/* The number part * 2^power.  The highest set bit of `part` is bit HIGHEST. */
typedef struct number {
  wide part;
  int power;
  bool is_negative;
} number;

static uint32_t
highest_bit(wide x)
{
  const uint64_t high = (uint64_t)(x >> 64);
  return high ? 127u - (uint32_t)__builtin_clzll(high) : 63u - (uint32_t)__builtin_clzll((uint64_t)x);
}

static number
lift(wide part, int power, bool is_negative)
{
  const int up = HIGHEST - (int)highest_bit(part);
  return (number){part << up, power - up, is_negative};
}

static wide
move_down(wide x, int by)
{
  if (by > HIGHEST)
    return 1;
  const wide moved = x >> by;
  return moved << by == x ? moved : moved | 1;
}

static number
add(number a, number b)
{
  if (a.power < b.power || (a.power == b.power && a.part < b.part)) {
    const number c = a;
    a = b;
    b = c;
  }
  const wide less = move_down(b.part, a.power - b.power);
  a.part = a.is_negative == b.is_negative ? a.part + less : a.part - less;
  return a;
}

/* Rounds to nearest, ties to even, to `bits` significant bits.  Results below 2^least are denormal and have fewer bits. */
static double
round_to(number x, int bits, int least)
{
  const int top = (int)highest_bit(x.part), power = x.power + top;
  const int keep = power < least ? bits - (least - power) : bits, drop = top + 1 - keep;
  wide whole = 0;
  if (drop <= 0) {
    whole = x.part;
  } else if (keep >= 0) {
    const wide half = (wide)1 << (drop - 1), rest = x.part & ((half << 1) - 1);
    whole = keep ? x.part >> drop : 0;
    whole += rest > half || (rest == half && (whole & 1));
  }
  const double value = ldexp((double)(uint64_t)whole, x.power + (drop > 0 ? drop : 0));
  return x.is_negative ? -value : value;
}

static double
fused(double a, double b, double c, int bits, int least)
{
  int pa, pb, pc;
  if (isfinite(a) && isfinite(b) && !isfinite(c))
    return c + c;
  if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0)
    return a * b + c;
  const double fa = frexp(a, &pa), fb = frexp(b, &pb), fc = frexp(c, &pc);
  const uint64_t ma = (uint64_t)fabs(ldexp(fa, 53)), mb = (uint64_t)fabs(ldexp(fb, 53)), mc = (uint64_t)fabs(ldexp(fc, 53));
  number sum = lift((wide)ma * mb, pa + pb - 106, signbit(a) != signbit(b));
  if (mc)
    sum = add(sum, lift(mc, pc - 53, signbit(c)));
  return sum.part ? round_to(sum, bits, least) : 0.0;
}

double
vyre_fma(double a, double b, double c)
{
  return fused(a, b, c, 53, -1022);
}

float
vyre_fmaf(float a, float b, float c)
{
  return (float)fused(a, b, c, 24, -126);
}
