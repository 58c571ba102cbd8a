/* Recovery from a failure, chosen by the target's state and not by the error's text:
 *
 *   the device is lost      it is reopened; kernel and buffers are made again by the second try
 *   it was reopened         by another megakernel on the same target: the same follows
 *   memory ran out          buffers that are kept for the next dispatch are freed
 *   any other failure       is reported at once
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"
#include "protocol/words.h"

#include <string.h>

vyre_status
mega_free_kept(vyre_mega *mega)
{
  vyre_status status = VYRE_OK;
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    if (mega->sizes[k])
      status = vyre_status_join(status, mega->ops->free(mega->target, mega->buffers[k]));
    mega->sizes[k] = 0;
  }
  return status;
}

static bool
is_lost(const vyre_mega *mega)
{
  return mega->ops->is_lost && mega->ops->is_lost(mega->target);
}

static void
read_recoveries(void *user, const char *name, uint64_t value)
{
  if (strcmp(name, "recoveries") == 0)
    *(uint64_t *)user = value;
}

static bool
was_made_anew(const vyre_mega *mega, uint64_t *out_recoveries)
{
  *out_recoveries = mega->recoveries;
  if (mega->ops->metrics)
    mega->ops->metrics(mega->target, read_recoveries, out_recoveries);
  return *out_recoveries != mega->recoveries;
}

static void
forget_handles(vyre_mega *mega)
{
  (void)was_made_anew(mega, &mega->recoveries);
  mega->losses++;
  mega->main.kernel = (vyre_kernel){0};
  for (uint32_t i = 0; i < mega->stage_count; i++)
    mega->stages[i].kernel = (vyre_kernel){0};
  mega->stage = mega->kept = (vyre_device_buffer){0};
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
    mega->sizes[k] = 0;
}

void
mega_forget_stale(vyre_mega *mega)
{
  uint64_t recoveries;
  if (was_made_anew(mega, &recoveries))
    forget_handles(mega);
}

static vyre_status
make_anew(vyre_mega *mega, vyre_mega_row *rows, uint32_t count, bool are_theirs)
{
  const vyre_mega_recovery *r = &mega->options.recovery;
  if (is_lost(mega))
    VYRE_TRY(mega->ops->recover(mega->target));
  forget_handles(mega);
  return are_theirs ? r->remake(r->user, rows, count) : VYRE_OK;
}

vyre_status
mega_try_again(vyre_mega *mega, vyre_status status, vyre_mega_row *rows, uint32_t count, bool are_theirs, bool *out_was_lost)
{
  const vyre_mega_recovery *r = &mega->options.recovery;
  uint64_t recoveries;
  const bool was_lost = is_lost(mega) || was_made_anew(mega, &recoveries), can = !was_lost || !are_theirs || r->remake;
  *out_was_lost = false;
  if (r->is_off || !can || (!was_lost && !vyre_status_is_out_of_memory(status)))
    return status;
  vyre_status again = was_lost ? make_anew(mega, rows, count, are_theirs) : mega_free_kept(mega);
  if (again)
    return vyre_status_join(status, again);
  vyre_status_free(status);
  *out_was_lost = was_lost;
  return VYRE_OK;
}

vyre_status
mega_note_again(vyre_status status, bool was_lost)
{
  return vyre_status_note(status, was_lost ? "on a device that was lost, and reopened for a second try"
                                           : "after memory ran out, and kept buffers were freed for a second try");
}

/* Cancels an item's request in the IO queue.  The request's tag shows whether it still belongs to the item. */
static void
abandon_io(void *image, size_t size, uint32_t slot, const uint32_t *words)
{
  const uint32_t request = words[SLOT_REQUEST];
  vyre_mega_io asked;
  if (words[VYRE_MEGA_SLOT_OP] != VYRE_MEGA_OP_LOAD_MISS || request == 0 || request > VYRE_MEGA_IO_SLOTS)
    return;
  /* Cancelling an EMPTY slot fails, which is fine. */
  vyre_status status = vyre_mega_io_read(image, size, request - 1, &asked);
  if (!status && asked.tag == slot)
    status = vyre_mega_io_abandon(image, size, request - 1);
  vyre_status_free(status);
}

uint32_t
mega_end_claimed(void *const images[MEGA_BUFFERS], const size_t sizes[MEGA_BUFFERS], uint32_t slots)
{
  uint32_t *control = images[0], count = 0;
  for (uint32_t i = 0; i < VYRE_MEGA_IO_CLAIM_WORDS; i++)
    __atomic_store_n(&control[VYRE_MEGA_IO_CLAIMS + i], 0, __ATOMIC_RELAXED);
  for (uint32_t slot = 0; slot < slots; slot++) {
    uint32_t *words = (uint32_t *)images[1] + (size_t)slot * VYRE_MEGA_SLOT_WORDS;
    if (__atomic_load_n(&words[VYRE_MEGA_SLOT_STATUS], __ATOMIC_ACQUIRE) != VYRE_MEGA_CLAIMED)
      continue;
    abandon_io(images[3], sizes[3], slot, words);
    __atomic_store_n(&words[VYRE_MEGA_SLOT_REASON], VYRE_MEGA_REASON_LOST, __ATOMIC_RELAXED);
    __atomic_fetch_add(&control[VYRE_MEGA_FAULT_COUNT], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&words[VYRE_MEGA_SLOT_STATUS], VYRE_MEGA_FAULT, __ATOMIC_RELEASE);
    count++;
  }
  return count;
}
