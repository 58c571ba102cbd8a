/* Measures the errors of sin, exp, pow and similar functions of an f32 (codegen/ptx/math/singles.h), computed with the host's
 * arithmetic, by libm in double.  Reports each function's greatest error in units in the last place of the right result.
 * unit-ptx-ops runs the same operations as PTX, on far fewer arguments.
 *
 * VYRE_STEP=N in the environment tries one random argument of N neighbours; 1 tries all 2^32.  The default is 251 times
 * VYRE_SHARE.  For magnitudes outside of 2^-32 to 2^32, where functions are nearly linear, constant or periodic, one of 16 N is
 * tried.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"
#include "run_ptx.h"

#include "eval/scalar.h"

#include <math.h>

typedef float number;
typedef uint32_t word;
typedef bool truth;
typedef int machine; /* has no state */

/* ---- a host's arithmetic ---------------------------------------------------------------------------------------------------- */

#define OPERATION(type, name, parameters, value) \
  static inline type name parameters             \
  {                                              \
    (void)g;                                     \
    return value;                                \
  }

static inline uint32_t
shifted(uint32_t low, uint32_t high, uint32_t by)
{
  const uint64_t both = (uint64_t)high << 32 | low;
  return by >= 32 ? low : (uint32_t)(both << by >> 32);
}

OPERATION(float, n_lit, (machine * g, float v), v)
OPERATION(float, n_add, (machine * g, float a, float b), a + b)
OPERATION(float, n_sub, (machine * g, float a, float b), a - b)
OPERATION(float, n_mul, (machine * g, float a, float b), a *b)
OPERATION(float, n_div, (machine * g, float a, float b), a / b)
OPERATION(float, n_fma, (machine * g, float a, float b, float c), fmaf(a, b, c))
OPERATION(float, n_rsqrt_wide, (machine * g, float a), (float)(1.0 / sqrt((double)a)))
OPERATION(float, n_sqrt, (machine * g, float a), sqrtf(a))
OPERATION(float, n_abs, (machine * g, float a), fabsf(a))
OPERATION(float, n_neg, (machine * g, float a), -a)
OPERATION(float, n_near, (machine * g, float a), rintf(a))
OPERATION(float, n_trunc, (machine * g, float a), truncf(a))
OPERATION(uint32_t, n_to_word, (machine * g, float a), fabsf(a) < 0x1p31f ? (uint32_t)(int32_t)rintf(a) : 0)
OPERATION(float, n_of_int, (machine * g, uint32_t a), (float)(int32_t)a)
OPERATION(float, n_of_unsigned, (machine * g, uint32_t a), (float)a)
OPERATION(bool, n_lt, (machine * g, float a, float b), a < b)
OPERATION(bool, n_gt, (machine * g, float a, float b), a > b)
OPERATION(bool, n_eq, (machine * g, float a, float b), !(a < b) && !(a > b) && !isunordered(a, b))
OPERATION(bool, n_ltu, (machine * g, float a, float b), !(a >= b))
OPERATION(bool, n_nan, (machine * g, float a), isnan(a) != 0)
OPERATION(float, n_pick, (machine * g, bool p, float a, float b), p ? a : b)
OPERATION(uint32_t, n_word, (machine * g, float a), bits_of_float(a))
OPERATION(float, n_of_word, (machine * g, uint32_t a), float_of_bits(a))
OPERATION(uint32_t, w_lit, (machine * g, uint32_t a), a)
OPERATION(uint32_t, w_add, (machine * g, uint32_t a, uint32_t b), a + b)
OPERATION(uint32_t, w_sub, (machine * g, uint32_t a, uint32_t b), a - b)
OPERATION(uint32_t, w_mul, (machine * g, uint32_t a, uint32_t b), a *b)
OPERATION(uint32_t, w_mul_high, (machine * g, uint32_t a, uint32_t b), (uint32_t)((uint64_t)a *b >> 32))
OPERATION(uint32_t, w_and, (machine * g, uint32_t a, uint32_t b), a &b)
OPERATION(uint32_t, w_or, (machine * g, uint32_t a, uint32_t b), a | b)
OPERATION(uint32_t, w_xor, (machine * g, uint32_t a, uint32_t b), a ^ b)
OPERATION(uint32_t, w_shl, (machine * g, uint32_t a, uint32_t by), a << by)
OPERATION(uint32_t, w_shr, (machine * g, uint32_t a, uint32_t by), a >> by)
OPERATION(uint32_t, w_sar, (machine * g, uint32_t a, uint32_t by), (uint32_t)((int32_t)a >> by))
OPERATION(uint32_t, w_clz, (machine * g, uint32_t a), a ? (uint32_t)__builtin_clz(a) : 32)
OPERATION(uint32_t, w_funnel, (machine * g, uint32_t low, uint32_t high, uint32_t by), shifted(low, high, by))
OPERATION(uint32_t, w_pick, (machine * g, bool p, uint32_t a, uint32_t b), p ? a : b)
OPERATION(bool, w_lt, (machine * g, uint32_t a, uint32_t b), a < b)
OPERATION(bool, w_eq, (machine * g, uint32_t a, uint32_t bits), a == bits)
OPERATION(bool, w_negative, (machine * g, uint32_t a), a >> 31 != 0)
OPERATION(bool, t_and, (machine * g, bool a, bool b), a &&b)
OPERATION(bool, t_or, (machine * g, bool a, bool b), a || b)
OPERATION(bool, t_xor, (machine * g, bool a, bool b), a != b)
OPERATION(bool, t_not, (machine * g, bool a), !a)

#define SET(g, variable, value) ((variable) = (value))
#define WHEN(g, p, statement) \
  do {                        \
    if (p)                    \
      statement;              \
  } while (0)

#include "codegen/ptx/math/singles.h"

#include "codegen/ptx/math/single_angles.h"

/* ---- errors ----------------------------------------------------------------------------------------------------------------- */

typedef struct greatest {
  double error;
  uint32_t a, b;
} greatest;

/* Returns the error in units in the last place of an f32 at the right result, 1e30 if it is of another class or sign. */
static double
error_of(float is, double want)
{
  const double most = 0x1.ffffffp127; /* the least number that rounds to infinity */
  if (isnan(want) || isnan(is))
    return isnan(want) && isnan(is) ? 0.0 : 1e30;
  if ((signbit(want) != 0) != (signbit(is) != 0))
    return 1e30;
  if (isinf(is) || fabs(want) >= most)
    return isinf(is) && fabs(want) >= 0x1.fffffcp127 ? 0.0 : isinf(want) ? 1e30 : fabs((double)is - want) / 0x1p104;
  const uint64_t exponent = bits_of_double(want) >> 52 & 0x7ff, least = 1023 - 126;
  return fabs((double)is - want) / double_of_bits(((exponent > least ? exponent : least) - 23) << 52);
}

static void
note(greatest *all, uint32_t a, uint32_t b, float is, double want)
{
  const double error = error_of(is, want);
  if (error > all->error)
    *all = (greatest){error, a, b};
}

static double
rsqrt_wanted(double x)
{
  return (double)(float)(1.0 / sqrt(x));
}

static const struct unary {
  vyre_opcode op;
  float (*is)(machine *g, float x);
  double (*want)(double x);
} unaries[] = {{VYRE_OP_rsqrt, s_rsqrt, rsqrt_wanted},
               {VYRE_OP_sin, s_sin, sin},
               {VYRE_OP_cos, s_cos, cos},
               {VYRE_OP_tan, s_tan, tan},
               {VYRE_OP_asin, s_asin, asin},
               {VYRE_OP_acos, s_acos, acos},
               {VYRE_OP_atan, s_atan, atan},
               {VYRE_OP_sinh, s_sinh, sinh},
               {VYRE_OP_cosh, s_cosh, cosh},
               {VYRE_OP_tanh, s_tanh, tanh},
               {VYRE_OP_asinh, s_asinh, asinh},
               {VYRE_OP_acosh, s_acosh, acosh},
               {VYRE_OP_atanh, s_atanh, atanh},
               {VYRE_OP_exp, s_exp, exp},
               {VYRE_OP_exp2, s_exp2, exp2},
               {VYRE_OP_log, s_log, log},
               {VYRE_OP_log2, s_log2, log2}};

static void
report(vyre_opcode op, const greatest *all)
{
  print_message("%-6s %.3f units in the last place, of 0x%08x 0x%08x\n", vyre_op_infos[op].text, all->error, all->a, all->b);
  if (all->error > ulps_of(op))
    fail_msg("%s: an error of %f, of 0x%08x 0x%08x", vyre_op_infos[op].text, all->error, all->a, all->b);
}

/* Returns the next argument after `at`.  Arguments from 2^-32 to 2^32 are denser than others. */
static uint64_t
next_argument(uint64_t at, uint32_t bits, uint32_t step)
{
  const uint32_t exponent = bits >> 23 & 0xff;
  const bool is_dense = exponent >= 127 - 32 && exponent < 127 + 32;
  return at + (step == 1 || is_dense ? step : UINT64_C(16) * step);
}

TEST(functions_of_one_argument_are_within_their_bounds)
{
  const uint32_t step = budget_number("VYRE_STEP", 251 * budget_share());
  for (uint32_t k = 0; k < sizeof unaries / sizeof *unaries; k++) {
    greatest all = {0};
    uint64_t seed = k;
    machine none = 0;
    uint32_t bits = 0;
    for (uint64_t at = 0; at < UINT64_C(1) << 32; at = next_argument(at, bits, step)) {
      bits = (uint32_t)(at + test_random(&seed, step));
      const float x = float_of_bits(bits);
      note(&all, bits, 0, unaries[k].is(&none, x), unaries[k].want((double)x));
    }
    report(unaries[k].op, &all);
  }
}

/* Few arguments have random bits.  Most are chosen so that the results are neither 0 nor infinite. */
TEST(functions_of_two_arguments_are_within_their_bounds)
{
  const uint32_t step = budget_number("VYRE_STEP", 251 * budget_share());
  greatest angle = {0}, power = {0};
  uint64_t seed = 1;
  machine none = 0;
  for (uint64_t at = 0; at < UINT64_C(1) << 32; at += step) {
    const uint32_t a = (uint32_t)((uint64_t)test_random(&seed, UINT32_MAX) << 1 ^ at),
                   b = (uint32_t)((uint64_t)test_random(&seed, UINT32_MAX) << 1 ^ at >> 3);
    const float x = float_of_bits(a), y = float_of_bits(b);
    if (step == 1 || at / step % 8 == 0) {
      note(&angle, a, b, s_atan2(&none, x, y), atan2((double)x, (double)y));
      note(&power, a, b, s_pow(&none, x, y), pow((double)x, (double)y));
    }
    const float near = float_of_bits((a & 0x807fffffu) | (120u + a % 16u) << 23);
    const float much = (float)((double)(int32_t)b * 0x1p-31 * 150.0 / log2(fabs((double)near)));
    note(&angle, bits_of_float(near), b & 0x43ffffffu, s_atan2(&none, near, float_of_bits(b & 0x43ffffffu)),
         atan2((double)near, (double)float_of_bits(b & 0x43ffffffu)));
    note(&power, bits_of_float(fabsf(near)), bits_of_float(much), s_pow(&none, fabsf(near), much),
         pow(fabs((double)near), (double)much));
  }
  report(VYRE_OP_atan2, &angle);
  report(VYRE_OP_pow, &power);
}

TEST(results_of_special_arguments_are_within_the_bounds)
{
  static const float all[] = {0.0f,    1.0f,           0.5f,     2.0f, 3.0f, 0x1p-149f, 0x1p-126f, 0x1.fffffep127f,
                              0x1p24f, 0x1.fffffep23f, INFINITY, NAN};
  enum { COUNT = sizeof all / sizeof *all };
  greatest angle = {0}, power = {0};
  machine none = 0;
  for (uint32_t i = 0; i < 2 * COUNT; i++)
    for (uint32_t k = 0; k < 2 * COUNT; k++) {
      const float x = i % 2 ? -all[i / 2] : all[i / 2], y = k % 2 ? -all[k / 2] : all[k / 2];
      note(&angle, bits_of_float(x), bits_of_float(y), s_atan2(&none, x, y), atan2((double)x, (double)y));
      note(&power, bits_of_float(x), bits_of_float(y), s_pow(&none, x, y), pow((double)x, (double)y));
    }
  report(VYRE_OP_atan2, &angle);
  report(VYRE_OP_pow, &power);
}
