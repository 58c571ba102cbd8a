/* Recovery: what a failure leaves to try, by what the target says of it and not by its text.
 *
 *   the device is lost   a new one is made; kernel and buffers are made anew and uploaded when the dispatch begins again
 *   memory ran out       what is kept for the next dispatch is given back
 *   anything else        is an error at once
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

vyre_status
mega_give_back(vyre_mega *mega)
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

static vyre_status
make_anew(vyre_mega *mega, vyre_mega_row *rows, uint32_t count, bool are_theirs)
{
  const vyre_mega_recovery *r = &mega->options.recovery;
  VYRE_TRY(mega->ops->recover(mega->target));
  mega->losses++;
  mega->kernel = (vyre_kernel){0};
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
    mega->sizes[k] = 0;
  return are_theirs ? r->remake(r->user, rows, count) : VYRE_OK;
}

vyre_status
mega_try_again(vyre_mega *mega, vyre_status status, vyre_mega_row *rows, uint32_t count, bool are_theirs, bool *out_was_lost)
{
  const vyre_mega_recovery *r = &mega->options.recovery;
  const bool was_lost = is_lost(mega), can = !was_lost || !are_theirs || r->remake;
  *out_was_lost = false;
  if (r->is_off || !can || (!was_lost && !vyre_status_is_out_of_memory(status)))
    return status;
  vyre_status again = was_lost ? make_anew(mega, rows, count, are_theirs) : mega_give_back(mega);
  if (again)
    return vyre_status_join(status, again);
  vyre_status_free(status);
  *out_was_lost = was_lost;
  return VYRE_OK;
}

vyre_status
mega_note_again(vyre_status status, bool was_lost)
{
  return vyre_status_note(status, was_lost ? "on a device that was lost in this dispatch before, and made anew for one more try"
                                           : "after memory had run out before, and what could be was given back for one more try");
}
