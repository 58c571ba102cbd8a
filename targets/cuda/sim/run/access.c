/* Loads, stores and fences.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

/* ---- addresses ----------------------------------------------------------------------------------------------------------- */

static const char *
space_name(ptx_word space)
{
  return space ? ptx_word_text(space) : "generic";
}

static bool
place_shared(ptx_bundle *b, uint64_t offset, uint32_t size, ptx_place *out)
{
  ptx_block *block = b->warp->block;
  if (offset < PTX_SHARED_START || offset - PTX_SHARED_START > b->machine->shared_bytes ||
      b->machine->shared_bytes - (offset - PTX_SHARED_START) < size)
    return false;
  *out = (ptx_place){.data = block->shared + (offset - PTX_SHARED_START),
                     .poison = block->shared_poison + (offset - PTX_SHARED_START),
                     .is_shared = true};
  return true;
}

static bool
place_lane(ptx_bundle *b, uint32_t lane, uint64_t offset, uint32_t size, ptx_place *out)
{
  const uint32_t bytes = b->machine->kernel->lane_bytes;
  const size_t start = (size_t)lane * b->machine->kernel->lane_stride;
  if (offset > bytes || bytes - offset < size)
    return false;
  *out = (ptx_place){.data = b->warp->memory + start + offset, .poison = b->warp->memory_poison + start + offset};
  return true;
}

static bool
place_parameter(ptx_bundle *b, uint32_t lane, uint64_t offset, uint32_t size, bool is_write, ptx_place *out)
{
  const uint32_t bytes = b->machine->kernel->info.parameter_bytes;
  if (offset >= PTX_LANE_PARAMETERS)
    return place_lane(b, lane, offset - PTX_LANE_PARAMETERS, size, out);
  if (is_write || offset > bytes || bytes - offset < size)
    return false;
  /* A parameter of the kernel, which is read-only. */
  out->data = (unsigned char *)(uintptr_t)b->machine->launch->parameters + offset;
  out->poison = NULL;
  out->is_shared = out->is_device = out->is_common = false;
  return true;
}

static bool
place_device(ptx_bundle *b, uint64_t address, uint32_t size, bool is_write, ptx_place *out)
{
  const ptx_memory *memory = &b->machine->launch->memory;
  *out = (ptx_place){.data = memory->find ? memory->find(memory->user, address, size, is_write) : NULL, .is_device = true};
  out->is_common = out->data && memory->is_common && memory->is_common(memory->user);
  return out->data != NULL;
}

static bool
is_in(uint64_t address, uint64_t window)
{
  return address >= window && address - window < PTX_WINDOW_SIZE;
}

static bool
place(ptx_bundle *b, uint32_t lane, uint64_t address, uint32_t size, bool is_write, ptx_place *out)
{
  switch ((ptx_word)b->insn->space) {
  case PTX_shared:
    return place_shared(b, address, size, out);
  case PTX_local:
    return address >= PTX_LOCAL_START && place_lane(b, lane, address - PTX_LOCAL_START, size, out);
  case PTX_param:
    return place_parameter(b, lane, address, size, is_write, out);
  case PTX_const:
    return !is_write && place_device(b, address, size, false, out);
  case PTX_global:
    return place_device(b, address, size, is_write, out);
  default:
    break;
  }
  if (is_in(address, PTX_SHARED_WINDOW))
    return place_shared(b, address - PTX_SHARED_WINDOW, size, out);
  if (is_in(address, PTX_LOCAL_WINDOW))
    return address - PTX_LOCAL_WINDOW >= PTX_LOCAL_START &&
           place_lane(b, lane, address - PTX_LOCAL_WINDOW - PTX_LOCAL_START, size, out);
  if (is_in(address, PTX_PARAM_WINDOW))
    return place_parameter(b, lane, address - PTX_PARAM_WINDOW, size, is_write, out);
  return place_device(b, address, size, is_write, out);
}

bool
ptx_reach_place(ptx_bundle *b, uint32_t lane, uint64_t address, uint32_t size, bool is_write, bool is_strong, ptx_place *out)
{
  const ptx_memory *memory = &b->machine->launch->memory;
  if (address & (size - 1))
    return ptx_fail(b->machine, b->warp, lane, b->insn, PTX_FAULT_MISALIGNED, address,
                    "%s of %u bytes at an address that is not a multiple of %u", is_write ? "a write" : "a read", size, size);
  if (!place(b, lane, address, size, is_write, out))
    return ptx_fail(b->machine, b->warp, lane, b->insn, PTX_FAULT_ADDRESS, address, "%s of %u bytes outside of %s memory",
                    is_write ? "a write" : "a read", size, space_name((ptx_word)b->insn->space));
  if (out->is_device && memory->note)
    memory->note(memory->user, address, size, is_write, is_strong);
  return !out->is_shared || ptx_note_shared(b, lane, (uint64_t)(out->data - b->warp->block->shared), size, is_write, is_strong);
}

/* ---- bytes --------------------------------------------------------------------------------------------------------------- */

/* Loads bytes atomically, because a host thread may access them. */
uint64_t
ptx_get_bytes(const unsigned char *data, uint32_t bytes)
{
  switch (bytes) {
  case 1:
    return *data;
  case 2:
    return __atomic_load_n((const uint16_t *)(const void *)data, __ATOMIC_RELAXED);
  case 4:
    return __atomic_load_n((const uint32_t *)(const void *)data, __ATOMIC_RELAXED);
  default:
    return __atomic_load_n((const uint64_t *)(const void *)data, __ATOMIC_RELAXED);
  }
}

void
ptx_put_bytes(ptx_machine *m, unsigned char *data, uint64_t value, uint32_t bytes)
{
  m->changes += ptx_get_bytes(data, bytes) != ptx_low(value, bytes * 8);
  switch (bytes) {
  case 1:
    *data = (unsigned char)value;
    break;
  case 2:
    __atomic_store_n((uint16_t *)(void *)data, (uint16_t)value, __ATOMIC_RELAXED);
    break;
  case 4:
    __atomic_store_n((uint32_t *)(void *)data, (uint32_t)value, __ATOMIC_RELAXED);
    break;
  default:
    __atomic_store_n((uint64_t *)(void *)data, value, __ATOMIC_RELAXED);
    break;
  }
}

static bool
has_poison(const bool *poison, uint32_t bytes)
{
  for (uint32_t i = 0; poison && i < bytes; i++)
    if (poison[i])
      return true;
  return false;
}

/* Returns whether an access is strong. A weak store may become visible to other lanes only after a fence. */
static bool
is_strong(const ptx_insn *insn)
{
  return insn->order && insn->order != PTX_weak;
}

static bool
load_lane(ptx_bundle *b, uint32_t lane, uint64_t address, uint32_t *poisoned)
{
  const ptx_insn *insn = b->insn;
  const ptx_word type = (ptx_word)insn->type[0];
  const uint32_t bytes = ptx_bits(type) / 8, count = insn->vector ? insn->vector : 1;
  ptx_place at;
  if (!ptx_reach_place(b, lane, address, bytes * count, false, is_strong(insn), &at))
    return false;
  if (at.is_device && b->warp->pending >> lane & 1)
    ptx_finish_overlapping(b->machine, b->warp, lane, address, bytes * count);
  for (uint32_t k = 0; k < count; k++) {
    uint64_t value = ptx_get_bytes(at.data + k * bytes, bytes);
    if (at.is_device && is_strong(insn))
      ptx_forget_read(b->warp->block, address + k * bytes); /* later weak loads must not return older values */
    else if (at.is_device && b->machine->is_weak)
      value = ptx_read_again(b->warp->block, address + k * bytes, bytes, value);
    ptx_write(b, k, lane, ptx_is_signed(type) ? (uint64_t)ptx_signed(value, bytes * 8) : value);
    if (!at.poison || !has_poison(at.poison + k * bytes, bytes))
      continue;
    if (bytes == 2 && is_strong(insn)) /* a loop of cas, which takes the place of exch for 16 bits, starts with this load */
      memset(at.poison + k * bytes, false, bytes);
    else
      poisoned[k] |= 1u << lane;
  }
  return true;
}

bool
ptx_load(ptx_bundle *b)
{
  const ptx_insn *insn = b->insn;
  if (!ptx_check_poison(b, insn->s[0], b->mask, "an address"))
    return false;
  uint32_t poisoned[PTX_DESTINATIONS] = {0};
  uint64_t addresses[PTX_WARP];
  memcpy(addresses, ptx_row(b, insn->s[0]), sizeof addresses); /* the base may be the destination */
  b->machine->counts.loads += (uint32_t)__builtin_popcount(b->mask);
  PTX_EACH_LANE(lane, b->mask)
  if (!load_lane(b, lane, addresses[lane] + (uint64_t)insn->offset, poisoned))
    return false;
  for (uint32_t k = 0; k < insn->d_count; k++)
    ptx_set_poison(b, k, b->mask, poisoned[k]);
  if (insn->order == PTX_acquire)
    ptx_acquire(b);
  return true;
}

static bool
store_lane(ptx_bundle *b, uint32_t lane, uint64_t address)
{
  const ptx_insn *insn = b->insn;
  const uint32_t bytes = ptx_bits((ptx_word)insn->type[0]) / 8, count = insn->vector ? insn->vector : 1;
  ptx_place at;
  if (!ptx_reach_place(b, lane, address, bytes * count, true, is_strong(insn), &at))
    return false;
  for (uint32_t k = 0; k < count; k++) {
    const bool is_poisoned = ptx_poison_of(b, insn->s[1 + k]) >> lane & 1;
    const uint64_t value = ptx_low(ptx_read(b, 1 + k, lane), bytes * 8);
    if (at.is_device) {
      if (is_poisoned)
        return ptx_check_poison(b, insn->s[1 + k], 1u << lane, "a stored value");
      ptx_store_device(b->machine, b->warp, lane, &(ptx_pending){address + k * bytes, value, at.data + k * bytes, bytes},
                       !is_strong(insn));
      continue;
    }
    ptx_put_bytes(b->machine, at.data + k * bytes, value, bytes);
    memset(at.poison + k * bytes, is_poisoned, bytes);
  }
  return true;
}

bool
ptx_store(ptx_bundle *b)
{
  const ptx_insn *insn = b->insn;
  if (!ptx_check_poison(b, insn->s[0], b->mask, "an address"))
    return false;
  const uint64_t *base = ptx_row(b, insn->s[0]);
  b->machine->counts.stores += (uint32_t)__builtin_popcount(b->mask);
  if (insn->order == PTX_release)
    ptx_release(b);
  PTX_EACH_LANE(lane, b->mask)
  if (!store_lane(b, lane, base[lane] + (uint64_t)insn->offset))
    return false;
  return true;
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

void
ptx_release(ptx_bundle *b)
{
  ptx_finish_stores(b->machine, b->warp, b->mask);
  ptx_note_release(b->warp, b->mask);
  __atomic_thread_fence(__ATOMIC_SEQ_CST); /* for host threads */
}

/* An acquire in the scope of a block keeps earlier reads, because stores of the block already remove the ones that they change. */
void
ptx_acquire(ptx_bundle *b)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  ptx_note_acquire(b->warp, b->mask);
  if (b->insn->scope != PTX_cta)
    ptx_forget_reads(b->warp->block);
}

bool
ptx_fence(ptx_bundle *b)
{
  ptx_release(b);
  ptx_acquire(b);
  return true;
}
