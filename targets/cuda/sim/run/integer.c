/* Integer arithmetic.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/eval.h"

__extension__ typedef unsigned __int128 u128;

static bool
is_signed(const ptx_insn *i)
{
  return ptx_is_signed((ptx_word)i->type[0]);
}

static uint64_t
saturated_s32(int64_t value)
{
  return (uint64_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

/* Sign-extends a value of a signed type. */
static uint64_t
extended(const ptx_insn *i, uint64_t value)
{
  return is_signed(i) ? (uint64_t)ptx_signed(value, ptx_width(i)) : value;
}

static bool
is_below(const ptx_insn *i, uint64_t a, uint64_t b)
{
  return is_signed(i) ? ptx_signed(a, ptx_width(i)) < ptx_signed(b, ptx_width(i)) : a < b;
}

/* s[2] is the carry, if there is one. */
void
ptx_eval_add(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  if (ptx_has(i, PTX_sat)) {
    d[0] = saturated_s32(ptx_signed(s[0], 32) + ptx_signed(s[1], 32));
    return;
  }
  const u128 sum = (u128)s[0] + s[1] + (i->s_count > 2 ? s[2] : 0);
  d[0] = extended(i, ptx_low((uint64_t)sum, bits));
  d[1] = (uint64_t)(sum >> bits) & 1;
}

/* The carry is 1 after a borrow. */
void
ptx_eval_sub(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  if (ptx_has(i, PTX_sat)) {
    d[0] = saturated_s32(ptx_signed(s[0], 32) - ptx_signed(s[1], 32));
    return;
  }
  const u128 difference = (u128)s[0] - s[1] - (i->s_count > 2 ? s[2] : 0);
  d[0] = extended(i, ptx_low((uint64_t)difference, bits));
  d[1] = (uint64_t)(difference >> bits) & 1;
}

/* Returns the low 64 bits of the full product, and stores the part above the type's width. */
static uint64_t
product(const ptx_insn *i, uint64_t a, uint64_t b, uint64_t *high)
{
  const uint32_t bits = ptx_width(i);
  u128 all = (u128)a * b;
  if (is_signed(i))
    all = (u128)ptx_signed(a, bits) * (u128)ptx_signed(b, bits); /* the signed product modulo 2^128 */
  *high = (uint64_t)(all >> bits);
  return (uint64_t)all;
}

void
ptx_eval_mul(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  uint64_t high;
  const uint64_t low = product(i, s[0], s[1], &high);
  d[0] = ptx_has(i, PTX_wide) ? low : extended(i, ptx_low(ptx_has(i, PTX_hi) ? high : low, ptx_width(i)));
}

void
ptx_eval_mad(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  uint64_t high;
  const uint64_t low = product(i, s[0], s[1], &high);
  if (ptx_has(i, PTX_wide)) {
    d[0] = low + s[2];
    return;
  }
  const uint64_t part = ptx_low(ptx_has(i, PTX_hi) ? high : low, bits);
  if (ptx_has(i, PTX_sat)) {
    d[0] = saturated_s32(ptx_signed(part, 32) + ptx_signed(s[2], 32));
    return;
  }
  const u128 sum = (u128)part + s[2] + (i->s_count > 3 ? s[3] : 0);
  d[0] = extended(i, ptx_low((uint64_t)sum, bits));
  d[1] = (uint64_t)(sum >> bits) & 1;
}

/* Returns the upper or lower 32 bits of the 48-bit product of 24-bit operands. */
void
ptx_eval_mul24(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const bool has_sum = i->s_count > 2;
  int64_t all;
  if (is_signed(i))
    all = ptx_signed(ptx_low(s[0], 24), 24) * ptx_signed(ptx_low(s[1], 24), 24);
  else
    all = (int64_t)(ptx_low(s[0], 24) * ptx_low(s[1], 24));
  const uint64_t part = ptx_low((uint64_t)all >> (ptx_has(i, PTX_hi) ? 16 : 0), 32);
  if (ptx_has(i, PTX_sat))
    d[0] = saturated_s32(ptx_signed(part, 32) + ptx_signed(s[2], 32));
  else
    d[0] = extended(i, ptx_low(part + (has_sum ? s[2] : 0), 32));
}

void
ptx_eval_sad(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint64_t difference = is_below(i, s[0], s[1]) ? s[1] - s[0] : s[0] - s[1];
  d[0] = extended(i, ptx_low(s[2] + difference, ptx_width(i)));
}

/* A division by 0 is unspecified; hardware returns all ones. */
void
ptx_eval_div(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  if (!s[1])
    d[0] = UINT64_MAX;
  else if (!is_signed(i))
    d[0] = s[0] / s[1];
  else if (ptx_signed(s[1], bits) == -1)
    d[0] = extended(i, ptx_low(0 - s[0], bits));
  else
    d[0] = (uint64_t)(ptx_signed(s[0], bits) / ptx_signed(s[1], bits));
}

void
ptx_eval_rem(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  if (!s[1])
    d[0] = extended(i, s[0]);
  else if (!is_signed(i))
    d[0] = s[0] % s[1];
  else
    d[0] = ptx_signed(s[1], bits) == -1 ? 0 : (uint64_t)(ptx_signed(s[0], bits) % ptx_signed(s[1], bits));
}

PTX_VALUE(abs, extended(i, ptx_low(ptx_signed(s[0], ptx_width(i)) < 0 ? 0 - s[0] : s[0], ptx_width(i))))
PTX_VALUE(neg, extended(i, ptx_low(0 - s[0], ptx_width(i))))

static uint64_t
relu(const ptx_insn *i, uint64_t value, uint32_t bits)
{
  return ptx_has(i, PTX_relu) && ptx_signed(value, bits) < 0 ? 0 : value;
}

PTX_VALUE(min, relu(i, extended(i, is_below(i, s[0], s[1]) ? s[0] : s[1]), ptx_width(i)))
PTX_VALUE(max, relu(i, extended(i, is_below(i, s[0], s[1]) ? s[1] : s[0]), ptx_width(i)))

/* ---- pairs of 16-bit integers -------------------------------------------------------------------------------------------- */

PTX_VALUE(add_pair, ((s[0] + s[1]) & 0xffff) | (((s[0] >> 16) + (s[1] >> 16)) & 0xffff) << 16)

static uint64_t
pick_half(const ptx_insn *i, uint64_t a, uint64_t b, bool wants_less)
{
  const bool is_less = i->type[0] == PTX_s16x2 ? ptx_signed(a, 16) < ptx_signed(b, 16) : a < b;
  return relu(i, is_less == wants_less ? a : b, 16);
}

static uint64_t
pick_halves(const ptx_insn *i, const uint64_t *s, bool wants_less)
{
  return pick_half(i, s[0] & 0xffff, s[1] & 0xffff, wants_less) | pick_half(i, s[0] >> 16, s[1] >> 16, wants_less) << 16;
}

PTX_VALUE(min_pair, pick_halves(i, s, true))
PTX_VALUE(max_pair, pick_halves(i, s, false))

/* ---- dot products -------------------------------------------------------------------------------------------------------- */

static uint64_t
part_of(uint64_t value, uint32_t k, uint32_t bits, ptx_word type)
{
  const uint64_t part = ptx_low(value >> k * bits, bits);
  return type == PTX_s32 ? (uint64_t)ptx_signed(part, bits) : part;
}

void
ptx_eval_dp4a(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  uint64_t sum = s[2];
  for (uint32_t k = 0; k < 4; k++)
    sum += part_of(s[0], k, 8, (ptx_word)i->type[0]) * part_of(s[1], k, 8, (ptx_word)i->type[1]);
  d[0] = ptx_low(sum, 32);
}

/* Multiplies the first operand's 16-bit halves by the second operand's two lower or upper bytes. */
void
ptx_eval_dp2a(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t first = ptx_has(i, PTX_hi) ? 2 : 0;
  uint64_t sum = s[2];
  for (uint32_t k = 0; k < 2; k++)
    sum += part_of(s[0], k, 16, (ptx_word)i->type[0]) * part_of(s[1], first + k, 8, (ptx_word)i->type[1]);
  d[0] = ptx_low(sum, 32);
}
