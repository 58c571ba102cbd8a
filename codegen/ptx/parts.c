/* Remainders, exponents and signs of f64.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/ptx/math/doubles.h"

#define SIGN (UINT64_C(1) << 63)

reg
pgen_copysign(gen *g, reg magnitude, reg sign)
{
  magnitude = MAKE64(g, "and.b64", pgen_in_register(g, REG_64, magnitude), lit(~SIGN));
  return MAKE64(g, "or.b64", magnitude, MAKE64(g, "and.b64", sign, lit(SIGN)));
}

void
pgen_frexp(gen *g, reg x, reg *out_significand, reg *out_exponent)
{
  const reg small = test64(g, "lt", abs64(g, x), f64_lit(0x1p-1022));
  const reg normal = pick64(g, small, mul64(g, x, f64_lit(0x1p54)), x);
  const reg field = MAKE32(g, "cvt.u32.u64", MAKE64(g, "bfe.u64", normal, lit(52), lit(11)));
  const reg bias = MAKE32(g, "selp.s32", lit(1022 + 54), lit(1022), small);
  const reg fraction = MAKE64(g, "and.b64", normal, lit(~(UINT64_C(0x7ff) << 52)));
  const reg significand = MAKE64(g, "or.b64", fraction, lit(UINT64_C(1022) << 52));
  /* zeros, infinities and NaNs are their own significand */
  const reg zero = test64(g, "eq", x, f64_lit(0.0));
  const reg none = PRED(g, "or.pred", zero, test64(g, "geu", abs64(g, x), f64_lit(INFINITE)));
  *out_significand = pick64(g, none, x, significand);
  *out_exponent = MAKE32(g, "selp.b32", lit(0), MAKE32(g, "sub.s32", field, bias), none);
}

/* Returns the biased exponent of a positive number, which may be denormal. */
static reg
exponent_of(gen *g, reg x)
{
  const reg small = test64(g, "lt", x, f64_lit(0x1p-1022));
  const reg normal = pick64(g, small, mul64(g, x, f64_lit(0x1p54)), x);
  const reg field = MAKE64(g, "shr.u64", normal, lit(52));
  return MAKE64(g, "sub.s64", field, pick64(g, small, lit(54), lit(0)));
}

/* Returns |x| mod |y|, exactly.  Each iteration subtracts a multiple of t = |y| 2^k, with k such that the quotient has fewer
 * than 53 bits.  The remainder of such a division is exact.  Usually the quotient has at most 49 bits.
 *
 * k is at most 2046, twice the greatest exponent of a power in f64.  The quotient then has at most 52 bits, because the
 * exponents of the greatest number and of the least denormal are 2097 apart. */
static reg
magnitude(gen *g, reg x, reg y)
{
  const uint32_t again = pgen_new_label(g), done = pgen_new_label(g);
  const reg r = pgen_copy(g, REG_64, abs64(g, x)), by = abs64(g, y);
  const reg last = exponent_of(g, by);
  /* For an infinity, a zero or a NaN the caller ignores the result or needs all of r. */
  pgen_branch_if(g, test64(g, "equ", r, f64_lit(INFINITE)), done);
  pgen_branch_if(g, test64(g, "equ", by, f64_lit(0.0)), done);
  pgen_label(g, again);
  pgen_branch_unless(g, test64(g, "ge", r, by), done);
  const reg apart = MAKE64(g, "sub.s64", exponent_of(g, r), last);
  const reg k = MAKE64(g, "min.s64", MAKE64(g, "max.s64", MAKE64(g, "sub.s64", apart, lit(48)), lit(0)), lit(2046));
  /* 2^k as two factors, each of at most 2^1023 */
  const reg half = MAKE64(g, "shr.u64", k, lit(1)), rest = MAKE64(g, "sub.u64", k, half);
  const reg low = MAKE64(g, "shl.b64", MAKE64(g, "add.u64", half, lit(1023)), lit(52));
  const reg high = MAKE64(g, "shl.b64", MAKE64(g, "add.u64", rest, lit(1023)), lit(52));
  const reg t = mul64(g, mul64(g, by, low), high);
  const reg quotient = MAKE64(g, "cvt.rzi.f64.f64", MAKE64(g, "div.rz.f64", r, t));
  pgen_move(g, r, fma64(g, neg64(g, quotient), t, r)); /* at least 0, because the quotient is rounded toward zero */
  pgen_branch(g, again);
  pgen_label(g, done);
  return r;
}

reg
pgen_remainder(gen *g, vyre_kind kind, reg x, reg y, bool of_right)
{
  const reg infinite = test64(g, "eq", abs64(g, x), f64_lit(INFINITE)), zero = test64(g, "eq", y, f64_lit(0.0));
  const reg nan_x = test64(g, "nan", x, x), nan_y = test64(g, "nan", y, y), nans = PRED(g, "or.pred", nan_x, nan_y);
  const reg none = PRED(g, "or.pred", PRED(g, "or.pred", infinite, zero), nans);
  reg r = pgen_copysign(g, magnitude(g, x, y), x);
  if (of_right) {
    const reg apart = PRED(g, "setp.lt.s64", MAKE64(g, "xor.b64", r, y), lit(0));
    const reg moved = pick64(g, apart, pgen_wide_op(g, kind, "add", r, y), r);
    const reg zero_of_y = pgen_copysign(g, r, y);
    r = pick64(g, test64(g, "eq", r, f64_lit(0.0)), zero_of_y, moved);
  }
  return pick64(g, none, lit(UINT64_C(0x7ff8000000000000)), r);
}
