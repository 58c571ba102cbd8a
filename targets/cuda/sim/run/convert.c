/* Comparisons and conversions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/eval.h"

#include <fenv.h>
#include <math.h>

static bool
is_float(ptx_word type)
{
  const ptx_class class = ptx_class_of(type);
  return class == PTX_CLASS_FLOAT || class == PTX_CLASS_PACKED || class == PTX_CLASS_OTHER;
}

/* ---- comparisons --------------------------------------------------------------------------------------------------------- */

static bool
compare_order(ptx_word what, bool is_less, bool is_equal)
{
  switch (what) {
  case PTX_eq:
  case PTX_equ:
    return is_equal;
  case PTX_ne:
  case PTX_neu:
    return !is_equal;
  case PTX_lt:
  case PTX_ltu:
  case PTX_lo:
    return is_less;
  case PTX_le:
  case PTX_leu:
  case PTX_ls:
    return is_less || is_equal;
  case PTX_gt:
  case PTX_gtu:
  case PTX_hi:
    return !is_less && !is_equal;
  default: /* ge, geu, hs */
    return !is_less;
  }
}

static bool
compare(const ptx_insn *i, ptx_word type, uint64_t a, uint64_t b)
{
  const ptx_word what = (ptx_word)i->what;
  if (!is_float(type)) {
    const uint32_t bits = ptx_bits(type);
    return compare_order(what, ptx_is_signed(type) ? ptx_signed(a, bits) < ptx_signed(b, bits) : a < b, a == b);
  }
  const double x = ptx_float_value(type, a, ptx_has(i, PTX_ftz)), y = ptx_float_value(type, b, ptx_has(i, PTX_ftz));
  const bool is_unordered = isnan(x) || isnan(y);
  if (what == PTX_num || what == PTX_nan)
    return is_unordered == (what == PTX_nan);
  if (is_unordered)
    return what >= PTX_equ && what <= PTX_geu;
  return compare_order(what, x < y, x == y);
}

static bool
combine(const ptx_insn *i, bool is_true, uint64_t with)
{
  switch (i->with) {
  case PTX_and:
    return is_true && with;
  case PTX_or:
    return is_true || with;
  case PTX_xor:
    return is_true != (with != 0);
  default:
    return is_true;
  }
}

/* The second predicate is the inverse comparison, combined in the same way. In packed types, it is that of the upper half. */
void
ptx_eval_setp(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const ptx_word type = (ptx_word)i->type[0];
  const uint64_t with = i->s_count > 2 ? s[2] : 0;
  if (type == PTX_f16x2 || type == PTX_bf16x2) {
    d[0] = combine(i, compare(i, type, s[0] & 0xffff, s[1] & 0xffff), with);
    d[1] = combine(i, compare(i, type, s[0] >> 16, s[1] >> 16), with);
    return;
  }
  const bool is_true = compare(i, type, s[0], s[1]);
  d[0] = combine(i, is_true, with);
  d[1] = combine(i, !is_true, with);
}

void
ptx_eval_set(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const bool is_true = combine(i, compare(i, (ptx_word)i->type[1], s[0], s[1]), i->s_count > 2 ? s[2] : 0);
  d[0] = !is_true ? 0 : i->type[0] == PTX_f32 ? ptx_float_bits(1) : UINT32_MAX;
}

/* ---- conversions --------------------------------------------------------------------------------------------------------- */

static uint64_t
extended(ptx_word type, uint64_t value)
{
  const uint32_t bits = ptx_bits(type);
  return ptx_is_signed(type) ? (uint64_t)ptx_signed(value, bits) : ptx_low(value, bits);
}

static uint64_t
integer_to_integer(const ptx_insn *i, ptx_word to, ptx_word from, uint64_t value)
{
  const uint32_t bits = ptx_bits(to);
  const bool is_negative = ptx_is_signed(from) && ptx_signed(value, ptx_bits(from)) < 0;
  value = extended(from, value);
  if (!ptx_has(i, PTX_sat))
    return extended(to, value);
  const uint64_t most = ptx_is_signed(to) ? (UINT64_C(1) << (bits - 1)) - 1 : ptx_low(UINT64_MAX, bits);
  if (!is_negative)
    return value > most ? most : value;
  if (!ptx_is_signed(to))
    return 0;
  const int64_t least = -(int64_t)most - 1;
  return (int64_t)value < least ? (uint64_t)least : value;
}

static double
to_integral(double value, ptx_word round)
{
  switch (round) {
  case PTX_rzi:
    return trunc(value);
  case PTX_rmi:
    return floor(value);
  case PTX_rpi:
    return ceil(value);
  default:
    return nearbyint(value);
  }
}

/* Converts with clamping. A NaN becomes 0, or if either type has 64 bits, only the top bit. */
static uint64_t
float_to_integer(const ptx_insn *i, ptx_word to, ptx_word from, uint64_t bits)
{
  const double value = to_integral(ptx_float_value(from, bits, ptx_has(i, PTX_ftz)), (ptx_word)i->round);
  const uint32_t width = ptx_bits(to);
  if (isnan(value))
    return from != PTX_f64 && width < 64 ? 0 : extended(to, UINT64_C(1) << (width - 1));
  if (ptx_is_signed(to)) {
    const double most = ldexp(1, (int)width - 1);
    if (value >= most)
      return (UINT64_C(1) << (width - 1)) - 1;
    return value < -most ? (uint64_t)(-(int64_t)((UINT64_C(1) << (width - 1)) - 1) - 1) : (uint64_t)(int64_t)value;
  }
  if (value >= ldexp(1, (int)width))
    return ptx_low(UINT64_MAX, width);
  return value <= 0 ? 0 : (uint64_t)value;
}

static uint64_t
finish(const ptx_insn *i, ptx_word to, double value, ptx_word round)
{
  if (ptx_has(i, PTX_sat))
    value = value > 0 ? value < 1 ? value : 1 : 0;
  if (ptx_has(i, PTX_relu) && !isnan(value) && !(value > 0))
    value = 0;
  if (to == PTX_f64)
    return isnan(value) ? UINT64_C(0x7ff8000000000000) : ptx_double_bits(value);
  const uint64_t bits = ptx_float_round(to, value, round);
  if (to == PTX_f32 && ptx_has(i, PTX_ftz) && !(bits & 0x7f800000))
    return bits & 0x80000000;
  return bits;
}

/* Converts with one rounding. For f32 and f16, an integer that does not fit a double is first rounded to odd. */
static uint64_t
integer_to_float(const ptx_insn *i, ptx_word to, ptx_word from, uint64_t bits)
{
  const bool is_signed = ptx_is_signed(from);
  const ptx_word round = (ptx_word)i->round;
  volatile int64_t as_signed = (int64_t)extended(from, bits);
  volatile uint64_t as_unsigned = bits;
  const int mode = to != PTX_f64     ? FE_TOWARDZERO
                   : round == PTX_rz ? FE_TOWARDZERO
                   : round == PTX_rm ? FE_DOWNWARD
                   : round == PTX_rp ? FE_UPWARD
                                     : FE_TONEAREST;
  fesetround(mode);
  volatile double value = is_signed ? (double)as_signed : (double)as_unsigned;
  fesetround(FE_TONEAREST);
  double exact = value;
  if (to != PTX_f64) {
    const bool is_exact = fabs(exact) < 0x1p53 || (is_signed ? (int64_t)exact == as_signed : (uint64_t)exact == as_unsigned);
    if (!is_exact)
      exact = ptx_as_double(ptx_double_bits(exact) | 1);
  }
  return finish(i, to, exact, round);
}

static uint64_t
float_to_float(const ptx_insn *i, ptx_word to, ptx_word from, uint64_t bits)
{
  double value = ptx_float_value(from, bits, from == PTX_f32 && ptx_has(i, PTX_ftz));
  if (i->round >= PTX_rni && i->round <= PTX_rpi)
    value = to_integral(value, (ptx_word)i->round);
  return finish(i, to, value, (ptx_word)i->round);
}

void
ptx_eval_cvt(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const ptx_word to = (ptx_word)i->type[0], from = (ptx_word)i->type[1];
  const uint64_t bits = ptx_low(s[0], ptx_bits(from));
  if (is_float(from))
    d[0] = is_float(to) ? float_to_float(i, to, from, bits) : float_to_integer(i, to, from, bits);
  else
    d[0] = is_float(to) ? integer_to_float(i, to, from, bits) : integer_to_integer(i, to, from, bits);
}

/* The first operand becomes the upper half. */
void
ptx_eval_cvt_pair(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const ptx_word to = i->type[0] == PTX_f16x2 ? PTX_f16 : PTX_bf16;
  d[0] = float_to_float(i, to, PTX_f32, s[0]) << 16 | float_to_float(i, to, PTX_f32, s[1]);
}
