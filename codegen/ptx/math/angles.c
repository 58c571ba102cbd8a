/* sin, cos, tan and their inverses, of f64.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/ptx/math/doubles.h"

#define PI      0x1.921fb54442d18p+1
#define HALF_PI 0x1.921fb54442d18p+0

/* ---- sine, cosine ----------------------------------------------------------------------------------------------------------- */

/* Returns sin r for |r| <= pi / 4, by the Taylor series. */
static reg
sin_of(gen *g, reg r, reg square)
{
  static const double series[] = {1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
                                  1.0 / 362880.0,          -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0};
  const reg p = pgen_polynomial(g, square, series, sizeof(series) / sizeof(*series));
  return fma64(g, mul64(g, square, r), p, r);
}

static reg
cos_of(gen *g, reg square)
{
  static const double series[] = {-1.0 / 6402373705728000.0,
                                  1.0 / 20922789888000.0,
                                  -1.0 / 87178291200.0,
                                  1.0 / 479001600.0,
                                  -1.0 / 3628800.0,
                                  1.0 / 40320.0,
                                  -1.0 / 720.0,
                                  1.0 / 24.0,
                                  -0.5,
                                  1.0};
  return pgen_polynomial(g, square, series, sizeof(series) / sizeof(*series));
}

/* Subtracts the nearest multiple of pi / 2 from x, in three parts, and stores which multiple, modulo 4.  The parts are too
 * short for x above 2^30.  The angle is then inaccurate, but still an angle. */
static reg
reduce(gen *g, reg x, reg *out_quadrant)
{
  const reg k = MAKE64(g, "cvt.rni.f64.f64", mul64(g, x, f64_lit(2.0 / PI)));
  reg r = fma64(g, k, f64_lit(-HALF_PI), x);
  r = fma64(g, k, f64_lit(-0x1.1a62633145c07p-54), r);
  r = fma64(g, k, f64_lit(0x1.f1976b7ed8fbcp-110), r);
  const reg far = test64(g, "gt", abs64(g, r), f64_lit(0.8));
  *out_quadrant = MAKE32(g, "cvt.u32.u64", MAKE64(g, "cvt.rni.s64.f64", k));
  return pick64(g, far, f64_lit(0.0), r);
}

reg
pgen_sin_cos(gen *g, vyre_opcode op, reg x)
{
  reg quadrant;
  const reg r = reduce(g, x, &quadrant), square = mul64(g, r, r), sine = sin_of(g, r, square), cosine = cos_of(g, square);
  if (op == VYRE_OP_cos)
    quadrant = MAKE32(g, "add.u32", quadrant, lit(1));
  const reg odd = PRED(g, "setp.ne.u32", MAKE32(g, "and.b32", quadrant, lit(1)), lit(0));
  const reg turned = PRED(g, "setp.ne.u32", MAKE32(g, "and.b32", quadrant, lit(2)), lit(0));
  /* sin of infinity is NaN, and a zero keeps its sign */
  const reg finite = test64(g, "lt", abs64(g, x), f64_lit(INFINITE));
  reg value;
  if (op == VYRE_OP_tan) {
    const reg over = pick64(g, odd, neg64(g, cosine), sine);
    value = div64(g, over, pick64(g, odd, sine, cosine));
  } else {
    value = pick64(g, odd, cosine, sine);
    value = pick64(g, turned, neg64(g, value), value);
  }
  if (op != VYRE_OP_cos)
    value = pick64(g, test64(g, "eq", x, f64_lit(0.0)), x, value);
  return pick64(g, finite, value, lit(UINT64_C(0x7ff8000000000000)));
}

/* ---- inverses --------------------------------------------------------------------------------------------------------------- */

/* Returns atan t for t from 0 to 1.  For t above sqrt(2) - 1, it is pi / 4 + atan((t - 1) / (t + 1)). */
static reg
atan_of(gen *g, reg t)
{
  static const double series[] = {-1.0 / 47.0, 1.0 / 45.0, -1.0 / 43.0, 1.0 / 41.0, -1.0 / 39.0, 1.0 / 37.0,
                                  -1.0 / 35.0, 1.0 / 33.0, -1.0 / 31.0, 1.0 / 29.0, -1.0 / 27.0, 1.0 / 25.0,
                                  -1.0 / 23.0, 1.0 / 21.0, -1.0 / 19.0, 1.0 / 17.0, -1.0 / 15.0, 1.0 / 13.0,
                                  -1.0 / 11.0, 1.0 / 9.0,  -1.0 / 7.0,  1.0 / 5.0,  -1.0 / 3.0};
  const reg far = test64(g, "gt", t, f64_lit(0x1.a827999fcef32p-2));
  const reg under = add64(g, t, f64_lit(1.0)), moved = div64(g, sub64(g, t, f64_lit(1.0)), under);
  const reg u = pick64(g, far, moved, t), square = mul64(g, u, u);
  const reg p = pgen_polynomial(g, square, series, sizeof(series) / sizeof(*series));
  const reg near = fma64(g, mul64(g, square, u), p, u);
  return pick64(g, far, add64(g, near, f64_lit(PI / 4.0)), near);
}

reg
pgen_atan2(gen *g, reg y, reg x)
{
  const reg ay = abs64(g, y), ax = abs64(g, x), steep = test64(g, "gt", ay, ax);
  const reg less = pick64(g, steep, ax, ay), more = pick64(g, steep, ay, ax);
  /* Equal operands have the ratio 1, for infinity / infinity.  For y = 0, `t` replaces the ratio by 0, also for 0 / 0. */
  const reg quotient = div64(g, less, more), ratio = pick64(g, test64(g, "eq", less, more), f64_lit(1.0), quotient);
  const reg t = pick64(g, test64(g, "eq", ay, f64_lit(0.0)), f64_lit(0.0), ratio);
  const reg flat = atan_of(g, t);
  const reg angle = pick64(g, steep, sub64(g, f64_lit(HALF_PI), flat), flat);
  const reg left = PRED(g, "setp.lt.s64", x, lit(0));
  const reg whole = pick64(g, left, sub64(g, f64_lit(PI), angle), angle);
  const reg nan_x = test64(g, "nan", x, x), nan_y = test64(g, "nan", y, y);
  const reg none = PRED(g, "or.pred", nan_x, nan_y), value = pgen_copysign(g, whole, y);
  return pick64(g, none, add64(g, x, y), value);
}

reg
pgen_atan(gen *g, reg x)
{
  return pgen_atan2(g, x, pgen_copy(g, REG_64, f64_lit(1.0)));
}
