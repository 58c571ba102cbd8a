/* Fills, uploads and reads.
 *
 * The host itself copies an upload into a mapped, idle buffer before the submission. All other uploads go through staging. The host
 * also copies reads from mapped buffers if it waits for the sequence at once. Reads of a begun sequence always go through staging,
 * because a later sequence may change the buffer before the wait. Consecutive copies of a buffer become one command.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

static const uint64_t BY_HOST = UINT64_MAX; /* instead of an offset in staging */

/* ---- host or staging ----------------------------------------------------------------------------------------------------- */

static bool
overlap(const vyre_target *target, const vyre_range *a, const vyre_range *b)
{
  if (a->buffer.id != b->buffer.id)
    return false;
  const target_buffer *buffer = target_buffer_get(target, a->buffer);
  return a->offset < b->offset + target_range_size(buffer, b) && b->offset < a->offset + target_range_size(buffer, a);
}

/* Returns whether the host copies an upload. False if the device writes the same bytes earlier in the sequence. */
static bool
is_upload_by_host(const vyre_target *target, const vulkan_submission *submission, uint32_t index)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const vyre_range *range = &sequence->uploads[index].range;
  const vulkan_buffer *buffer = vulkan_buffer_get(target, range->buffer);
  bool is_free = buffer->mapped && vulkan_buffer_is_idle(target, buffer);
  for (uint32_t i = 0; i < sequence->fill_count && is_free; i++)
    is_free = !overlap(target, &sequence->fills[i].range, range);
  for (uint32_t i = 0; i < index && is_free; i++)
    is_free = submission->places[i] == BY_HOST || !overlap(target, &sequence->uploads[i].range, range);
  return is_free;
}

static bool
is_read_by_host(const vyre_target *target, const vulkan_submission *submission, uint32_t index)
{
  return !submission->work.is_begun && vulkan_buffer_get(target, submission->work.sequence.reads[index].range.buffer)->mapped;
}

static uint64_t
size_of(const vyre_target *target, const vyre_range *range)
{
  return target_range_size(target_buffer_get(target, range->buffer), range);
}

vyre_status
vulkan_plan_copies(vyre_target *target, vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  uint64_t up = 0, down = 0;
  if (!vyre_grow(&target->base.allocator, &submission->places, &submission->place_capacity, sequence->upload_count,
                 sizeof *submission->places))
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    submission->places[i] = is_upload_by_host(target, submission, i) ? BY_HOST : up;
    if (submission->places[i] != BY_HOST)
      up += vulkan_padded(size_of(target, &sequence->uploads[i].range));
  }
  for (uint32_t i = 0; i < sequence->read_count; i++)
    if (!is_read_by_host(target, submission, i))
      down += vulkan_padded(size_of(target, &sequence->reads[i].range));
  submission->down_size = down;
  if (submission->work.is_controlled)
    down += vulkan_control_read_size(sequence);
  VYRE_TRY(vulkan_staging_ensure(target, &submission->up, up, false));
  return vulkan_staging_ensure(target, &submission->down, down, true);
}

bool
vulkan_is_by_host(const vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  bool is_by_host = sequence->fill_count == 0 && sequence->step_count == 0 && sequence->read_count == 0;
  for (uint32_t i = 0; i < sequence->upload_count && is_by_host; i++)
    is_by_host = submission->places[i] == BY_HOST;
  return is_by_host;
}

/* ---- regions ------------------------------------------------------------------------------------------------------------- */

enum { MOST_REGIONS = 1024 /* in a command */ };

/* Copies between one buffer and a staging buffer, collected for one command. */
typedef struct regions {
  vyre_target *target;
  VkBuffer staging, buffer;
  bool is_upload;
  uint64_t first, end; /* range of the buffer that contains all copies */
  uint32_t count;
  VkBufferCopy copies[MOST_REGIONS];
} regions;

static void
flush(regions *r)
{
  vyre_target *target = r->target;
  if (r->count == 0)
    return;
  for (uint32_t i = 0; i < r->count; i++) {
    const VkBufferCopy *copy = &r->copies[i];
    vulkan_uses(target, r->buffer, r->is_upload ? copy->dstOffset : copy->srcOffset, copy->size, VK_PIPELINE_STAGE_TRANSFER_BIT,
                r->is_upload ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_TRANSFER_READ_BIT);
    if (!r->is_upload)
      vulkan_uses(target, r->staging, copy->dstOffset, copy->size, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
  }
  vulkan_sync(target, false);
  target->call.vkCmdCopyBuffer(target->command, r->is_upload ? r->staging : r->buffer, r->is_upload ? r->buffer : r->staging,
                               r->count, r->copies);
  r->count = 0;
}

static void
add_region(regions *r, VkBuffer buffer, uint64_t at, uint64_t place, uint64_t size)
{
  const bool overlaps = r->is_upload && at < r->end && r->first < at + size; /* regions of a command are unordered */
  if (r->count && (buffer != r->buffer || overlaps || r->count == MOST_REGIONS))
    flush(r);
  r->first = r->count == 0 || at < r->first ? at : r->first;
  r->end = r->count == 0 || at + size > r->end ? at + size : r->end;
  r->buffer = buffer;
  r->copies[r->count++] =
      (VkBufferCopy){.srcOffset = r->is_upload ? place : at, .dstOffset = r->is_upload ? at : place, .size = size};
}

/* ---- fills and uploads --------------------------------------------------------------------------------------------------- */

static void
record_fills(vyre_target *target, vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  for (uint32_t i = 0; i < sequence->fill_count; i++) {
    const vyre_range *range = &sequence->fills[i].range;
    const uint64_t size = size_of(target, range), words = (size + 3u) & ~(uint64_t)3u;
    const VkBuffer buffer = vulkan_buffer_get(target, range->buffer)->handle;
    vulkan_uses(target, buffer, range->offset, words, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
    vulkan_sync(target, false);
    target->call.vkCmdFillBuffer(target->command, buffer, range->offset, words, sequence->fills[i].value);
    submission->work.timing.bytes_filled += size;
  }
}

void
vulkan_record_before(vyre_target *target, vulkan_submission *submission, bool *out_commands)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  regions r = {.target = target, .staging = submission->up.handle, .is_upload = true};
  *out_commands = sequence->fill_count != 0;
  record_fills(target, submission);
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    const vyre_range *range = &sequence->uploads[i].range;
    const vulkan_buffer *buffer = vulkan_buffer_get(target, range->buffer);
    const uint64_t size = size_of(target, range), place = submission->places[i];
    submission->work.timing.bytes_up += size;
    if (place == BY_HOST) {
      memcpy((char *)buffer->mapped + range->offset, sequence->uploads[i].data, size);
      continue;
    }
    memcpy((char *)submission->up.mapped + place, sequence->uploads[i].data, size);
    add_region(&r, buffer->handle, range->offset, place, size);
    *out_commands = true;
  }
  flush(&r);
}

/* ---- reads --------------------------------------------------------------------------------------------------------------- */

static void
record_reads(vyre_target *target, vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  regions r = {.target = target, .staging = submission->down.handle};
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    const vyre_range *range = &sequence->reads[i].range;
    const uint64_t size = size_of(target, range);
    if (is_read_by_host(target, submission, i))
      continue;
    add_region(&r, vulkan_buffer_get(target, range->buffer)->handle, range->offset, place, size);
    place += vulkan_padded(size);
  }
  flush(&r);
  for (uint32_t i = 0; i < sequence->read_count; i++)
    if (is_read_by_host(target, submission, i))
      vulkan_uses_range(target, &sequence->reads[i].range, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

void
vulkan_record_after(vyre_target *target, vulkan_submission *submission, bool is_end)
{
  uint64_t size = is_end ? submission->down_size : 0;
  if (submission->work.is_controlled) {
    const VkBufferCopy copy = {.dstOffset = submission->down_size, .size = vulkan_control_read_size(&submission->work.sequence)};
    size = copy.dstOffset + copy.size;
    vulkan_uses(target, submission->control.handle, 0, copy.size, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    vulkan_uses(target, submission->down.handle, copy.dstOffset, copy.size, VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_ACCESS_TRANSFER_WRITE_BIT);
    vulkan_sync(target, false);
    target->call.vkCmdCopyBuffer(target->command, submission->control.handle, submission->down.handle, 1, &copy);
  }
  if (is_end)
    record_reads(target, submission);
  vulkan_uses(target, submission->down.handle, 0, size, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  vulkan_sync(target, false);
  if (submission->down.handle) /* staging is used again only after the wait */
    vulkan_hazards_forget(target->hazards, submission->down.handle, 0, UINT64_MAX);
}

void
vulkan_copy_reads(const vyre_target *target, target_work *work)
{
  const vulkan_submission *submission = vulkan_submission_of(work);
  const vyre_sequence *sequence = &work->sequence;
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    const vyre_range *range = &sequence->reads[i].range;
    const uint64_t size = size_of(target, range);
    work->timing.bytes_down += size;
    if (is_read_by_host(target, submission, i)) {
      memcpy(sequence->reads[i].data, (const char *)vulkan_buffer_get(target, range->buffer)->mapped + range->offset, size);
      continue;
    }
    memcpy(sequence->reads[i].data, (const char *)submission->down.mapped + place, size);
    place += vulkan_padded(size);
  }
}
