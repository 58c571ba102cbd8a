/* The ring: slots of items.  The host owns a slot that is EMPTY, DONE or FAULT, otherwise the kernel does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

static vyre_status
check(const void *image, size_t size)
{
  VYRE_TRY(words_check(image, size, "ring"));
  if (size == 0 || size % VYRE_MEGA_SLOT_BYTES || size / VYRE_MEGA_SLOT_BYTES > VYRE_MEGA_MOST_SLOTS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: a ring has %zu bytes, but needs 1 to %d slots of %d\n"
                      "Fix: use a ring of vyre_mega_ring_encode",
                      size, VYRE_MEGA_MOST_SLOTS, VYRE_MEGA_SLOT_BYTES);
  return VYRE_OK;
}

static vyre_status
check_slot(const void *image, size_t size, uint64_t slot)
{
  VYRE_TRY(check(image, size));
  if (slot >= size / VYRE_MEGA_SLOT_BYTES)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: a ring of %zu slots has no slot %" PRIu64 "\nFix: use more slots",
                      size / VYRE_MEGA_SLOT_BYTES, slot);
  const uint32_t state = word_acquire(image, (size_t)slot * VYRE_MEGA_SLOT_WORDS);
  if (state >= VYRE_MEGA_STATE__COUNT)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: slot %" PRIu64 " has the state %" PRIu32 ", which does not exist\nFix: use a ring that only "
                      "kernels and these functions write",
                      slot, state);
  return VYRE_OK;
}

size_t
vyre_mega_ring_size(uint32_t slots)
{
  return slots > VYRE_MEGA_MOST_SLOTS ? 0 : (size_t)slots * VYRE_MEGA_SLOT_BYTES;
}

vyre_status
vyre_mega_ring_encode(uint32_t slots, void *image, size_t size)
{
  VYRE_TRY(words_check_just(image, size, vyre_mega_ring_size(slots), "ring"));
  memset(image, 0, size);
  return VYRE_OK;
}

vyre_status
vyre_mega_ring_validate(const void *image, size_t size, uint32_t slots)
{
  VYRE_TRY(words_check_just(image, size, vyre_mega_ring_size(slots), "ring"));
  for (uint32_t slot = 0; slot < slots; slot++)
    VYRE_TRY(check_slot(image, size, slot));
  return VYRE_OK;
}

/* ---- publishing ---------------------------------------------------------------------------------------------------------- */

static bool
is_free(uint32_t state)
{
  return state == VYRE_MEGA_EMPTY || state == VYRE_MEGA_DONE || state == VYRE_MEGA_FAULT;
}

static vyre_status
check_publish(const void *image, size_t size, uint64_t slot, const vyre_mega_item *item, bool has_io)
{
  VYRE_TRY(check_slot(image, size, slot));
  const uint32_t state = word_acquire(image, (size_t)slot * VYRE_MEGA_SLOT_WORDS);
  if (!is_free(state))
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: slot %" PRIu64 " is %s\nFix: use a slot that is EMPTY, DONE or FAULT", slot,
                      vyre_mega_state_text(state));
  const bool may =
      vyre_mega_op_is_builtin(item->op) || (has_io && (item->op == VYRE_MEGA_OP_LOAD_MISS || item->op == VYRE_MEGA_OP_PROGRAM));
  if (vyre_mega_op_is_system(item->op) && !may)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the op code 0x%" PRIx32 " is reserved\nFix: use 8 to 0xffef, or a code from 0x10000 "
                      "on without the high bit",
                      item->op);
  if (item->tenant >= VYRE_MEGA_TENANTS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: tenant %" PRIu32 ", but there are only %d\n"
                      "Fix: choose a smaller number",
                      item->tenant, VYRE_MEGA_TENANTS);
  if (item->priority >= VYRE_MEGA_LEVELS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: priority %" PRIu32 ", but there are only %d\n"
                      "Fix: choose a smaller number",
                      item->priority, VYRE_MEGA_LEVELS);
  return VYRE_OK;
}

static void
publish(void *image, size_t slot, const vyre_mega_item *item)
{
  const size_t base = slot * VYRE_MEGA_SLOT_WORDS;
  word_put(image, base + VYRE_MEGA_SLOT_OP, item->op);
  word_put(image, base + VYRE_MEGA_SLOT_TENANT, item->tenant);
  word_put(image, base + VYRE_MEGA_SLOT_PRIORITY, item->priority);
  for (uint32_t i = 0; i < VYRE_MEGA_ARGS; i++)
    word_put(image, base + VYRE_MEGA_SLOT_ARGS + i, item->args[i]);
  word_release(image, base + VYRE_MEGA_SLOT_STATUS, VYRE_MEGA_PUBLISHED);
}

vyre_status
vyre_mega_publish(void *image, size_t size, uint32_t slot, const vyre_mega_item *item)
{
  VYRE_TRY(check_publish(image, size, slot, item, false));
  publish(image, slot, item);
  return VYRE_OK;
}

vyre_status
vyre_mega_publish_io(void *image, size_t size, uint32_t slot, const vyre_mega_item *item)
{
  VYRE_TRY(check_publish(image, size, slot, item, true));
  publish(image, slot, item);
  return VYRE_OK;
}

vyre_status
vyre_mega_publish_many(void *image, size_t size, uint32_t first, const vyre_mega_item *items, uint32_t count)
{
  VYRE_TRY(check(image, size));
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(vyre_status_note(check_publish(image, size, (uint64_t)first + i, &items[i], false), "item %" PRIu32, i));
  for (uint32_t i = 0; i < count; i++)
    publish(image, (size_t)first + i, &items[i]);
  return VYRE_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

vyre_status
vyre_mega_slot_read(const void *image, size_t size, uint32_t slot, vyre_mega_slot *out)
{
  const size_t base = (size_t)slot * VYRE_MEGA_SLOT_WORDS;
  memset(out, 0, sizeof *out);
  VYRE_TRY(check_slot(image, size, slot));
  out->state = (vyre_mega_state)word_acquire(image, base);
  out->item.op = word_get(image, base + VYRE_MEGA_SLOT_OP);
  out->item.tenant = word_get(image, base + VYRE_MEGA_SLOT_TENANT);
  out->item.priority = word_get(image, base + VYRE_MEGA_SLOT_PRIORITY);
  for (uint32_t i = 0; i < VYRE_MEGA_ARGS; i++)
    out->item.args[i] = word_get(image, base + VYRE_MEGA_SLOT_ARGS + i);
  out->reason = out->state == VYRE_MEGA_FAULT ? word_get(image, base + VYRE_MEGA_SLOT_REASON) : 0;
  return VYRE_OK;
}

vyre_status
vyre_mega_ring_count(const void *image, size_t size, uint32_t out[VYRE_MEGA_STATE__COUNT])
{
  uint32_t counts[VYRE_MEGA_STATE__COUNT] = {0};
  memset(out, 0, sizeof counts);
  VYRE_TRY(check(image, size));
  for (size_t slot = 0; slot < size / VYRE_MEGA_SLOT_BYTES; slot++) {
    VYRE_TRY(check_slot(image, size, slot));
    const uint32_t state = word_acquire(image, slot * VYRE_MEGA_SLOT_WORDS);
    counts[state < VYRE_MEGA_STATE__COUNT ? state : VYRE_MEGA_FAULT]++;
  }
  memcpy(out, counts, sizeof counts);
  return VYRE_OK;
}

vyre_status
vyre_mega_recycle(void *image, size_t size, uint32_t slot)
{
  VYRE_TRY(check_slot(image, size, slot));
  const uint32_t state = word_acquire(image, (size_t)slot * VYRE_MEGA_SLOT_WORDS);
  if (state != VYRE_MEGA_DONE && state != VYRE_MEGA_FAULT)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: slot %" PRIu32 " is %s\nFix: wait until the slot is DONE or FAULT", slot,
                      vyre_mega_state_text(state));
  word_release(image, (size_t)slot * VYRE_MEGA_SLOT_WORDS, VYRE_MEGA_EMPTY);
  return VYRE_OK;
}
