/* Atomic operations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

#include <pthread.h>
#include <sched.h>

/* Adds floats. An f32 addition flushes subnormal operands and results, except with .shared (PTX ISA 7.8, atom; seen on an H200). */
static uint64_t
add_floats(const ptx_insn *i, uint64_t a, uint64_t b)
{
  const ptx_word type = (ptx_word)i->type[0];
  static const uint64_t canonical = UINT64_C(0x7ff8000000000000);
  if (type == PTX_f64) {
    const double sum = ptx_as_double(a) + ptx_as_double(b);
    return sum == sum ? ptx_double_bits(sum) : canonical;
  }
  if (type == PTX_f32) {
    const bool keeps = ptx_has(i, PTX_shared);
    const float x = ptx_as_float(a), y = ptx_as_float(b), sum = keeps ? x + y : ptx_flushed(ptx_flushed(x) + ptx_flushed(y));
    return sum == sum ? ptx_float_bits(sum) : 0x7fffffff;
  }
  uint64_t result = 0;
  for (uint32_t shift = 0; shift < ptx_bits(type); shift += 16)
    result |= ptx_float_round(
                  type, ptx_sum_to_odd(ptx_float_value(type, a >> shift, false), ptx_float_value(type, b >> shift, false)), PTX_rn)
              << shift;
  return result;
}

/* Returns the new value of the memory. */
static uint64_t
result_of(const ptx_insn *i, uint64_t old, uint64_t a, uint64_t b)
{
  const ptx_word type = (ptx_word)i->type[0];
  const uint32_t bits = ptx_bits(type);
  const bool is_less = ptx_is_signed(type) ? ptx_signed(a, bits) < ptx_signed(old, bits) : a < old;
  switch ((ptx_word)i->what) {
  case PTX_and:
    return old & a;
  case PTX_or:
    return old | a;
  case PTX_xor:
    return old ^ a;
  case PTX_exch:
    return a;
  case PTX_cas:
    return old == a ? b : old;
  case PTX_inc:
    return old >= a ? 0 : old + 1;
  case PTX_dec:
    return old == 0 || old > a ? a : old - 1;
  case PTX_min:
    return is_less ? a : old;
  case PTX_max:
    return is_less ? old : a;
  default:
    return type >= PTX_f16 && type <= PTX_bf16x2 ? add_floats(i, old, a) : ptx_low(old + a, bits);
  }
}

/* Replaces the bytes at `data` atomically by their new value, and returns the old one. */
#define SWAP(type, data)                                                                                                          \
  type old = __atomic_load_n((type *)(void *)(data), __ATOMIC_RELAXED);                                                           \
  while (!__atomic_compare_exchange_n((type *)(void *)(data), &old, (type)result_of(b->insn, old, x, y), false, __ATOMIC_SEQ_CST, \
                                      __ATOMIC_SEQ_CST))                                                                          \
    ;                                                                                                                             \
  return old

static uint64_t
swap(ptx_bundle *b, unsigned char *data, uint32_t bytes, uint64_t x, uint64_t y)
{
  if (bytes == 2) {
    SWAP(uint16_t, data);
  }
  if (bytes == 4) {
    SWAP(uint32_t, data);
  }
  SWAP(uint64_t, data);
}

/* Does the same in memory that the host shares, but atomically only among kernels. The bytes are read and then written, even if a
 * compare-and-swap fails, so a host write in between is lost. */
static uint64_t
swap_in_common(ptx_bundle *b, unsigned char *data, uint32_t bytes, uint64_t x, uint64_t y)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const bool is_late = ptx_draw(b->machine) % 4 == 0;
  pthread_mutex_lock(&lock);
  const uint64_t old = ptx_get_bytes(data, bytes);
  if (is_late)
    sched_yield();
  ptx_put_bytes(b->machine, data, result_of(b->insn, old, x, y), bytes);
  pthread_mutex_unlock(&lock);
  return old;
}

bool
ptx_atom(ptx_bundle *b)
{
  const ptx_insn *insn = b->insn;
  const uint32_t bytes = ptx_bits((ptx_word)insn->type[0]) / 8;
  if (!ptx_check_poison(b, insn->s[0], b->mask, "an address"))
    return false;
  uint64_t addresses[PTX_WARP];
  memcpy(addresses, ptx_row(b, insn->s[0]), sizeof addresses);
  b->machine->counts.atomics += (uint32_t)__builtin_popcount(b->mask);
  for (uint32_t k = 1; k < insn->s_count; k++)
    if (!ptx_check_poison(b, insn->s[k], b->mask, "an operand of an atomic operation"))
      return false;
  /* The lanes run one after the other, from a drawn lane on. */
  const bool releases = insn->order == PTX_release || insn->order == PTX_acq_rel;
  if (releases)
    ptx_release(b);
  const uint32_t turn = ptx_draw(b->machine) % PTX_WARP;
  for (uint32_t n = 0; n < PTX_WARP; n++) {
    const uint32_t lane = (n + turn) % PTX_WARP;
    ptx_place at;
    if (!(b->mask >> lane & 1))
      continue;
    const uint64_t address = addresses[lane] + (uint64_t)insn->offset;
    if (!ptx_reach_place(b, lane, address, bytes, true, true, &at))
      return false;
    if (at.is_device) {
      ptx_finish_overlapping(b->machine, b->warp, lane, address, bytes);
      ptx_forget_read(b->warp->block, address);
    }
    const uint64_t x = ptx_read(b, 1, lane), y = insn->s_count > 2 ? ptx_read(b, 2, lane) : 0;
    bool was_poisoned = false;
    for (uint32_t k = 0; at.poison && k < bytes; k++) {
      was_poisoned |= at.poison[k];
      at.poison[k] = false;
    }
    if (was_poisoned && insn->what != PTX_exch)
      return ptx_fail(b->machine, b->warp, lane, insn, PTX_FAULT_POISON, addresses[lane],
                      "an atomic operation on memory that was never written");
    const uint64_t old = at.is_common ? swap_in_common(b, at.data, bytes, x, y) : swap(b, at.data, bytes, x, y);
    b->machine->changes += result_of(insn, old, x, y) != old;
    if (insn->d_count) {
      ptx_write(b, 0, lane, ptx_is_signed((ptx_word)insn->type[0]) ? (uint64_t)ptx_signed(old, bytes * 8) : old);
      ptx_set_poison(b, 0, 1u << lane, (uint32_t)was_poisoned << lane);
    }
  }
  if (insn->order == PTX_acquire || insn->order == PTX_acq_rel)
    ptx_acquire(b);
  return true;
}
