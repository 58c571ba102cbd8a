/* The IO queue.  A slot has one owner.  EMPTY: any requester.  PUBLISHED: the first server that claims it.  CLAIMED: that
 * server.  OK and ERROR: the requester again, or the server if the requester gave up.
 *
 * A device's atomics need not be atomic with the host: a failing one writes back the value that it read, over a store of the
 * host.  So lanes of a device only load and store the queue, and exclude each other by control words (VYRE_MEGA_IO_CLAIMS).
 * Only threads of the host use compare and swap.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <errno.h>
#include <string.h>

enum { MOST_ERRNO = 4095 };

static vyre_status
check(const void *image, size_t size)
{
  VYRE_TRY(words_check(image, size, "IO queue"));
  if (size == 0 || size % VYRE_MEGA_IO_BYTES || size / VYRE_MEGA_IO_BYTES > VYRE_MEGA_IO_SLOTS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: an IO queue has %zu bytes, but needs 1 to %d slots of %d\n"
                      "Fix: use a queue of vyre_mega_io_encode",
                      size, VYRE_MEGA_IO_SLOTS, VYRE_MEGA_IO_BYTES);
  return VYRE_OK;
}

static bool
is_state(uint32_t state)
{
  return state < VYRE_MEGA_STATE__COUNT || state == VYRE_MEGA_IO_OK || state == VYRE_MEGA_IO_ERROR;
}

static const char *
state_text(uint32_t state)
{
  return state == VYRE_MEGA_IO_OK ? "OK" : state == VYRE_MEGA_IO_ERROR ? "ERROR" : vyre_mega_state_text(state);
}

static vyre_status
check_slot(const void *image, size_t size, uint32_t slot)
{
  VYRE_TRY(check(image, size));
  if (slot >= size / VYRE_MEGA_IO_BYTES)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: an IO queue of %zu slots has no slot %" PRIu32 "\nFix: use one of its slots",
                      size / VYRE_MEGA_IO_BYTES, slot);
  const uint32_t state = word_acquire(image, (size_t)slot * VYRE_MEGA_IO_WORDS + IO_STATE);
  if (!is_state(state))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: IO slot %" PRIu32 " has the state %" PRIu32 ", which does not exist\nFix: use a queue that only "
                      "kernels and these functions write",
                      slot, state);
  return VYRE_OK;
}

static vyre_status
refuse(uint32_t slot, uint32_t state, const char *wanted)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: IO slot %" PRIu32 " is %s\nFix: use a slot that is %s", slot, state_text(state),
                    wanted);
}

size_t
vyre_mega_io_size(uint32_t slots)
{
  return slots > VYRE_MEGA_IO_SLOTS ? 0 : (size_t)slots * VYRE_MEGA_IO_BYTES;
}

vyre_status
vyre_mega_io_encode(uint32_t slots, void *image, size_t size)
{
  VYRE_TRY(words_check_just(image, size, vyre_mega_io_size(slots), "IO queue"));
  memset(image, 0, size);
  return VYRE_OK;
}

vyre_status
vyre_mega_io_validate(const void *image, size_t size)
{
  VYRE_TRY(check(image, size));
  for (uint32_t slot = 0; slot < size / VYRE_MEGA_IO_BYTES; slot++)
    VYRE_TRY(check_slot(image, size, slot));
  return VYRE_OK;
}

vyre_status
vyre_mega_io_read(const void *image, size_t size, uint32_t slot, vyre_mega_io *out)
{
  const size_t base = (size_t)slot * VYRE_MEGA_IO_WORDS;
  memset(out, 0, sizeof *out);
  VYRE_TRY(check_slot(image, size, slot));
  out->state = word_acquire(image, base + IO_STATE);
  out->op = word_get(image, base + IO_OP);
  out->source = word_get(image, base + IO_SOURCE);
  out->destination = word_get(image, base + IO_DESTINATION);
  out->offset = word_get(image, base + IO_LOW) | (uint64_t)word_get(image, base + IO_HIGH) << 32;
  out->bytes = word_get(image, base + IO_BYTES);
  out->tag = word_get(image, base + IO_TAG);
  return VYRE_OK;
}

vyre_status
vyre_mega_io_publish(void *image, size_t size, uint32_t slot, const vyre_mega_io *request)
{
  const size_t base = (size_t)slot * VYRE_MEGA_IO_WORDS;
  VYRE_TRY(check_slot(image, size, slot));
  if (request->op < VYRE_MEGA_IO_READ || request->op > VYRE_MEGA_IO_FENCE)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: there is no IO operation %" PRIu32 "\n"
                      "Fix: use READ, WRITE or FENCE",
                      request->op);
  if (!word_swap(image, base + IO_STATE, VYRE_MEGA_EMPTY, VYRE_MEGA_CLAIMED))
    return refuse(slot, word_acquire(image, base + IO_STATE), "EMPTY");
  word_put(image, base + IO_OP, request->op);
  word_put(image, base + IO_SOURCE, request->source);
  word_put(image, base + IO_DESTINATION, request->destination);
  word_put(image, base + IO_LOW, (uint32_t)request->offset);
  word_put(image, base + IO_HIGH, (uint32_t)(request->offset >> 32));
  word_put(image, base + IO_BYTES, request->bytes);
  word_put(image, base + IO_TAG, request->tag);
  word_release(image, base + IO_STATE, VYRE_MEGA_PUBLISHED);
  return VYRE_OK;
}

/* Frees a slot that was given up.  Called by servers: after they wrote OK or ERROR, and for PUBLISHED slots, which have no
 * claimer yet. */
static void
free_given_up(void *image, uint32_t slot)
{
  const size_t base = (size_t)slot * VYRE_MEGA_IO_WORDS;
  const uint32_t state = word_acquire(image, base + IO_STATE);
  const bool is_open = state == VYRE_MEGA_PUBLISHED || state == VYRE_MEGA_IO_OK || state == VYRE_MEGA_IO_ERROR;
  if (is_open && word_acquire(image, base + IO_OP) == VYRE_MEGA_IO_GIVEN_UP)
    word_swap(image, base + IO_STATE, state, VYRE_MEGA_EMPTY);
}

/* Ends a slot with an invalid state by an error for its requester, so that the other slots continue. */
static void
end_damaged(void *image, uint32_t slot)
{
  const size_t base = (size_t)slot * VYRE_MEGA_IO_WORDS;
  const uint32_t state = word_acquire(image, base + IO_STATE);
  if (is_state(state))
    return;
  word_put(image, base + IO_BYTES, EIO);
  word_swap(image, base + IO_STATE, state, VYRE_MEGA_IO_ERROR);
}

vyre_status
vyre_mega_io_poll(void *image, size_t size, uint32_t *out, uint32_t *out_count)
{
  *out_count = 0;
  VYRE_TRY(check(image, size));
  for (uint32_t slot = 0; slot < size / VYRE_MEGA_IO_BYTES; slot++) {
    end_damaged(image, slot);
    free_given_up(image, slot);
    if (word_acquire(image, (size_t)slot * VYRE_MEGA_IO_WORDS + IO_STATE) == VYRE_MEGA_PUBLISHED)
      out[(*out_count)++] = slot;
  }
  return VYRE_OK;
}

vyre_status
vyre_mega_io_claim(void *image, size_t size, uint32_t slot, bool *out_claimed)
{
  *out_claimed = false;
  VYRE_TRY(check_slot(image, size, slot));
  *out_claimed = word_swap(image, (size_t)slot * VYRE_MEGA_IO_WORDS + IO_STATE, VYRE_MEGA_PUBLISHED, VYRE_MEGA_CLAIMED);
  return VYRE_OK;
}

static vyre_status
check_complete(void *image, size_t size, const uint32_t *slots, const int64_t *results, uint32_t i)
{
  VYRE_TRY(check_slot(image, size, slots[i]));
  const uint32_t state = word_acquire(image, (size_t)slots[i] * VYRE_MEGA_IO_WORDS + IO_STATE);
  if (state != VYRE_MEGA_CLAIMED)
    return refuse(slots[i], state, "CLAIMED");
  if (results[i] > UINT32_MAX || results[i] < -(int64_t)MOST_ERRNO)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: IO slot %" PRIu32 " has the invalid result %" PRId64 "\n"
                      "Fix: pass the bytes moved, or -errno",
                      slots[i], results[i]);
  for (uint32_t k = 0; k < i; k++)
    if (slots[k] == slots[i])
      return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: IO slot %" PRIu32 " is completed twice\nFix: pass each slot once", slots[i]);
  return VYRE_OK;
}

vyre_status
vyre_mega_io_complete(void *image, size_t size, const uint32_t *slots, const int64_t *results, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(check_complete(image, size, slots, results, i));
  for (uint32_t i = 0; i < count; i++) {
    const size_t base = (size_t)slots[i] * VYRE_MEGA_IO_WORDS;
    word_put(image, base + IO_BYTES, (uint32_t)(results[i] < 0 ? -results[i] : results[i]));
    word_release(image, base + IO_STATE, results[i] < 0 ? VYRE_MEGA_IO_ERROR : VYRE_MEGA_IO_OK);
    free_given_up(image, slots[i]);
  }
  return VYRE_OK;
}

vyre_status
vyre_mega_io_recycle(void *image, size_t size, uint32_t slot)
{
  const size_t at = (size_t)slot * VYRE_MEGA_IO_WORDS + IO_STATE;
  VYRE_TRY(check_slot(image, size, slot));
  const uint32_t state = word_acquire(image, at);
  if (state != VYRE_MEGA_IO_OK && state != VYRE_MEGA_IO_ERROR)
    return refuse(slot, state, "OK or ERROR");
  word_release(image, at, VYRE_MEGA_EMPTY);
  return VYRE_OK;
}

vyre_status
vyre_mega_io_abandon(void *image, size_t size, uint32_t slot)
{
  const size_t base = (size_t)slot * VYRE_MEGA_IO_WORDS;
  VYRE_TRY(check_slot(image, size, slot));
  const uint32_t state = word_acquire(image, base + IO_STATE);
  if (state == VYRE_MEGA_EMPTY || word_acquire(image, base + IO_OP) == VYRE_MEGA_IO_GIVEN_UP)
    return refuse(slot, state, "requested");
  if (state == VYRE_MEGA_IO_OK || state == VYRE_MEGA_IO_ERROR)
    return vyre_mega_io_recycle(image, size, slot);
  word_release(image, base + IO_OP, VYRE_MEGA_IO_GIVEN_UP);
  return VYRE_OK;
}
