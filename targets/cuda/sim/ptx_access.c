/* Loads and stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_machine.h"

/* ---- where it is --------------------------------------------------------------------------------------------------------- */

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
  *out = (ptx_place){block->shared + (offset - PTX_SHARED_START), block->shared_poison + (offset - PTX_SHARED_START), true};
  return true;
}

static bool
place_lane(ptx_bundle *b, uint32_t lane, uint64_t offset, uint32_t size, ptx_place *out)
{
  const uint32_t bytes = b->machine->kernel->lane_bytes;
  if (offset > bytes || bytes - offset < size)
    return false;
  *out =
      (ptx_place){b->warp->memory + (size_t)lane * bytes + offset, b->warp->memory_poison + (size_t)lane * bytes + offset, false};
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
  /* Only read: a parameter of the kernel's. */
  out->data = (unsigned char *)(uintptr_t)b->machine->launch->parameters + offset;
  out->poison = NULL;
  out->is_shared = false;
  return true;
}

static bool
place_device(ptx_bundle *b, uint64_t address, uint32_t size, bool is_write, ptx_place *out)
{
  const ptx_memory *memory = &b->machine->launch->memory;
  *out = (ptx_place){memory->find ? memory->find(memory->user, address, size, is_write) : NULL, NULL, false};
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
ptx_find_place(ptx_bundle *b, uint32_t lane, uint64_t address, uint32_t size, uint32_t align, bool is_write, ptx_place *out)
{
  if (address & (align - 1))
    return ptx_fail(b->machine, b->warp, lane, b->insn, PTX_FAULT_MISALIGNED, address,
                    "%s of %u bytes at an address that is no multiple of %u", is_write ? "a write" : "a read", size, align);
  if (!place(b, lane, address, size, is_write, out))
    return ptx_fail(b->machine, b->warp, lane, b->insn, PTX_FAULT_ADDRESS, address, "%s of %u bytes outside of %s memory",
                    is_write ? "a write" : "a read", size, space_name((ptx_word)b->insn->space));
  return true;
}

/* ---- bytes --------------------------------------------------------------------------------------------------------------- */

/* Whole at once where a host thread may look on. */
static uint64_t
get_bytes(const unsigned char *data, uint32_t bytes)
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

static void
put_bytes(unsigned char *data, uint64_t value, uint32_t bytes)
{
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

bool
ptx_load(ptx_bundle *b)
{
  const ptx_insn *insn = b->insn;
  const ptx_word type = (ptx_word)insn->type[0];
  const uint32_t bytes = ptx_bits(type) / 8, count = insn->vector ? insn->vector : 1;
  const bool extends = ptx_is_signed(type);
  if (!ptx_check_poison(b, insn->s[0], b->mask, "an address"))
    return false;
  const uint64_t *base = ptx_row(b, insn->s[0]);
  uint32_t poisoned[PTX_DESTINATIONS] = {0};
  uint64_t addresses[PTX_WARP];
  memcpy(addresses, base, sizeof addresses); /* the base may be the destination */
  b->machine->counts.loads += (uint32_t)__builtin_popcount(b->mask);
  PTX_EACH_LANE(lane, b->mask)
  {
    ptx_place at;
    if (!ptx_find_place(b, lane, addresses[lane] + (uint64_t)insn->offset, bytes * count, bytes * count, false, &at))
      return false;
    for (uint32_t k = 0; k < count; k++) {
      const uint64_t value = get_bytes(at.data + k * bytes, bytes);
      ptx_write(b, k, lane, extends ? (uint64_t)ptx_signed(value, bytes * 8) : value);
      if (at.poison && has_poison(at.poison + k * bytes, bytes))
        poisoned[k] |= 1u << lane;
    }
  }
  for (uint32_t k = 0; k < count; k++)
    ptx_set_poison(b, k, b->mask, poisoned[k]);
  return true;
}

bool
ptx_store(ptx_bundle *b)
{
  const ptx_insn *insn = b->insn;
  const uint32_t bytes = ptx_bits((ptx_word)insn->type[0]) / 8, count = insn->vector ? insn->vector : 1;
  if (!ptx_check_poison(b, insn->s[0], b->mask, "an address"))
    return false;
  const uint64_t *base = ptx_row(b, insn->s[0]);
  b->machine->counts.stores += (uint32_t)__builtin_popcount(b->mask);
  PTX_EACH_LANE(lane, b->mask)
  {
    ptx_place at;
    if (!ptx_find_place(b, lane, base[lane] + (uint64_t)insn->offset, bytes * count, bytes * count, true, &at))
      return false;
    for (uint32_t k = 0; k < count; k++) {
      const bool is_poisoned = ptx_poison_of(b, insn->s[1 + k]) >> lane & 1;
      if (!at.poison && is_poisoned)
        return ptx_check_poison(b, insn->s[1 + k], 1u << lane, "a value that is stored");
      put_bytes(at.data + k * bytes, ptx_read(b, 1 + k, lane), bytes);
      for (uint32_t i = 0; at.poison && i < bytes; i++)
        at.poison[k * bytes + i] = is_poisoned;
    }
  }
  return true;
}

bool
ptx_fence(ptx_bundle *b)
{
  (void)b;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return true;
}
