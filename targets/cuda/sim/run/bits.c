/* Logic, shifts, bit fields, permutations, moves and selections.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/eval.h"

PTX_VALUE(and, s[0] & s[1])
PTX_VALUE(or, s[0] | s[1])
PTX_VALUE(xor, s[0] ^ s[1])
PTX_VALUE(not, ptx_low(~s[0], ptx_width(i)))
PTX_VALUE(cnot, s[0] == 0)

/* Bit k of the table is the result if a, b and c are bits 2, 1 and 0 of k. */
void
ptx_eval_lop3(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  (void)i;
  uint64_t result = 0;
  for (uint32_t k = 0; k < 8; k++)
    if (s[3] >> k & 1)
      result |= (k & 4 ? s[0] : ~s[0]) & (k & 2 ? s[1] : ~s[1]) & (k & 1 ? s[2] : ~s[2]);
  d[0] = ptx_low(result, 32);
}

/* Clamps the shift amount to the width. */
void
ptx_eval_shl(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  d[0] = s[1] >= bits ? 0 : ptx_low(s[0] << s[1], bits);
}

void
ptx_eval_shr(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  if (ptx_is_signed((ptx_word)i->type[0]))
    d[0] = (uint64_t)(ptx_signed(s[0], bits) >> (s[1] >= bits ? bits - 1 : s[1]));
  else
    d[0] = s[1] >= bits ? 0 : s[0] >> s[1];
}

/* Shifts a pair of words, whose lower word is the first operand. */
void
ptx_eval_shf(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint64_t both = s[1] << 32 | s[0];
  const uint32_t by = (uint32_t)(ptx_has(i, PTX_wrap) ? s[2] & 31 : s[2] > 32 ? 32 : s[2]);
  d[0] = ptx_low(ptx_has(i, PTX_r) ? both >> by : by == 32 ? s[0] : both << by >> 32, 32);
}

PTX_VALUE(popc, (uint64_t)__builtin_popcountll(s[0]))
PTX_VALUE(clz, s[0] ? (uint64_t)__builtin_clzll(s[0]) - (64 - ptx_width(i)) : ptx_width(i))

/* Finds the highest 1 bit. In a signed value, finds the highest bit that differs from the sign. */
void
ptx_eval_bfind(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  uint64_t value = s[0];
  if (ptx_is_signed((ptx_word)i->type[0]) && ptx_signed(value, bits) < 0)
    value = ptx_low(~value, bits);
  if (!value)
    d[0] = UINT32_MAX;
  else if (ptx_has(i, PTX_shiftamt))
    d[0] = (uint64_t)__builtin_clzll(value) - (64 - bits);
  else
    d[0] = 63 - (uint64_t)__builtin_clzll(value);
}

/* Finds the n-th 1 bit from a base on, upward if n > 0 and downward if n < 0. If n is 0, finds the base bit itself if it is 1. */
void
ptx_eval_fns(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  (void)i;
  const int32_t offset = (int32_t)(uint32_t)s[2], step = offset < 0 ? -1 : 1;
  uint32_t left = offset == 0 ? 1 : (uint32_t)(offset < 0 ? -(int64_t)offset : offset);
  d[0] = UINT32_MAX;
  if (s[1] > 31)
    return;
  for (int32_t at = (int32_t)s[1]; at >= 0 && at < 32; at += step) {
    if (s[0] >> at & 1 && --left == 0) {
      d[0] = (uint64_t)at;
      return;
    }
    if (offset == 0)
      return;
  }
}

void
ptx_eval_brev(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  uint64_t result = 0;
  for (uint32_t k = 0; k < bits; k++)
    result |= (s[0] >> k & 1) << (bits - 1 - k);
  d[0] = result;
}

/* Extracts a bit field. Position and length have 8 bits. Bits beyond the top are 0 or, in signed types, copies of the field's last
 * bit that exists. */
void
ptx_eval_bfe(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i), at = s[1] & 255, length = s[2] & 255;
  uint64_t field = at >= bits ? 0 : s[0] >> at;
  if (length < 64)
    field = ptx_low(field, length);
  if (ptx_is_signed((ptx_word)i->type[0]) && length) {
    const uint32_t top = at + length - 1 < bits - 1 ? at + length - 1 : bits - 1;
    const uint32_t kept = top >= at ? top - at + 1 : 0; /* bits of the field below the top */
    if (s[0] >> top & 1)
      field = kept >= 64 ? field : field | UINT64_MAX << kept;
    d[0] = (uint64_t)ptx_signed(ptx_low(field, bits), bits);
    return;
  }
  d[0] = ptx_low(field, bits);
}

void
ptx_eval_bfi(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i), at = s[2] & 255, length = s[3] & 255;
  const uint64_t ones = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
  const uint64_t mask = at >= bits ? 0 : ptx_low(ones << at, bits);
  d[0] = (s[1] & ~mask) | (at >= bits ? 0 : s[0] << at & mask);
}

/* Makes a mask of `b` ones from bit `a` on. */
void
ptx_eval_bmsk(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const bool wraps = ptx_has(i, PTX_wrap);
  const uint64_t at = wraps ? s[0] & 31 : s[0], length = wraps ? s[1] & 31 : s[1] > 32 ? 32 : s[1];
  d[0] = at >= 32 ? 0 : ptx_low(((UINT64_C(1) << length) - 1) << at, 32);
}

/* Extends the low `b` bits. */
void
ptx_eval_szext(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t length = (uint32_t)(ptx_has(i, PTX_wrap) ? s[1] & 31 : s[1] > 32 ? 32 : s[1]);
  if (length == 0)
    d[0] = 0;
  else
    d[0] = ptx_is_signed((ptx_word)i->type[0]) ? (uint64_t)ptx_signed(s[0], length) : ptx_low(s[0], length);
}

/* Returns the four selectors of a prmt mode, in the format of prmt without a mode. */
static uint32_t
selectors(uint32_t mode, uint32_t n)
{
  static const uint16_t tables[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
      {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
      {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
      {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
      {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
      {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
  };
  return tables[mode - PTX_f4e][n & 3];
}

void
ptx_eval_prmt(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint64_t bytes = s[1] << 32 | s[0];
  const uint32_t picks = i->what ? selectors(i->what, (uint32_t)s[2]) : (uint32_t)s[2];
  uint64_t result = 0;
  for (uint32_t k = 0; k < 4; k++) {
    const uint32_t pick = picks >> 4 * k & 15;
    uint64_t byte = bytes >> 8 * (pick & 7) & 255;
    if (pick & 8) /* replicates the sign */
      byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * k;
  }
  d[0] = result;
}

/* ---- moves --------------------------------------------------------------------------------------------------------------- */

/* Moves a value, unpacks a value to a vector, or packs a vector to a value. The first element is the lowest. */
void
ptx_eval_mov(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint32_t bits = ptx_width(i);
  if (i->d_count > 1) {
    const uint32_t part = bits / i->d_count;
    for (uint32_t k = 0; k < i->d_count; k++)
      d[k] = ptx_low(s[0] >> k * part, part);
    return;
  }
  if (i->s_count > 1) {
    const uint32_t part = bits / i->s_count;
    uint64_t value = 0;
    for (uint32_t k = 0; k < i->s_count; k++)
      value |= ptx_low(s[k], part) << k * part;
    d[0] = value;
    return;
  }
  d[0] = s[0];
}

PTX_VALUE(selp, s[2] ? s[0] : s[1])

void
ptx_eval_slct(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  bool is_first = ptx_signed(s[2], 32) >= 0;
  if (i->type[1] == PTX_f32) /* -0 and flushed subnormals count as 0; a NaN selects the second operand */
    is_first = ptx_float_value(PTX_f32, s[2], ptx_has(i, PTX_ftz)) >= 0;
  d[0] = is_first ? s[0] : s[1];
}

/* ---- generic addresses --------------------------------------------------------------------------------------------------- */

static uint64_t
window_of(const ptx_insn *i)
{
  switch (i->space) {
  case PTX_shared:
    return PTX_SHARED_WINDOW;
  case PTX_local:
    return PTX_LOCAL_WINDOW;
  case PTX_param:
    return PTX_PARAM_WINDOW;
  default:
    return 0; /* generic addresses of global and const memory are the same */
  }
}

void
ptx_eval_cvta(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint64_t window = window_of(i);
  d[0] = ptx_has(i, PTX_to) ? s[0] - window : s[0] + window;
}

void
ptx_eval_isspacep(const ptx_insn *i, const uint64_t *s, uint64_t *d)
{
  const uint64_t window = window_of(i);
  const bool is_windowed = s[0] >= PTX_SHARED_WINDOW && s[0] < PTX_PARAM_WINDOW + PTX_WINDOW_SIZE;
  if (i->space == PTX_global)
    d[0] = !is_windowed;
  else
    d[0] = window && s[0] >= window && s[0] < window + PTX_WINDOW_SIZE;
}
