/* Fills, uploads and reads.
 *
 * Fills are memsets. Uploads are copied to pinned memory before the call returns, so a submission in flight does not use the
 * caller's bytes. Reads go to pinned memory, and to the caller after the wait. Adjacent ranges are merged into one copy. Imported
 * memory of a caller that waits is pinned already, so its uploads are direct. Reads are not, because a failed sequence must not
 * write the caller's memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <inttypes.h>
#include <string.h>

enum { PLACE_ALIGN = 16 };

cuda_address
cuda_range_address(const vyre_target *target, const vyre_range *range, uint64_t *out_size)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  *out_size = target_range_size(buffer, range);
  return ((const cuda_buffer *)buffer->memory)->address + range->offset;
}

/* ---- staging ------------------------------------------------------------------------------------------------------------- */

/* Appends a copy at the next place, or extends the last copy if both ranges are neighbours. Advances `at`. The device
 * copies directly from `direct` if it is not NULL. */
static void
add_copy(const vyre_target *target, const vyre_range *range, const void *direct, cuda_copy *copies, uint32_t *count, uint64_t *at)
{
  cuda_copy *last = *count ? &copies[*count - 1] : NULL;
  uint64_t size;
  const cuda_address address = cuda_range_address(target, range, &size);
  if (direct) {
    copies[(*count)++] = (cuda_copy){range->buffer, address, 0, size, direct};
    return;
  }
  if (last && !last->direct && last->buffer.id == range->buffer.id && last->address + last->size == address) {
    last->size += size;
    *at += size;
    return;
  }
  *at = (*at + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
  copies[(*count)++] = (cuda_copy){range->buffer, address, *at, size, NULL};
  *at += size;
}

/* Grows pinned memory. Captured graphs contain the address, so growing destroys them. */
static vyre_status
ensure(vyre_target *target, cuda_submission *submission, cuda_pinned *pinned, uint64_t size)
{
  if (size > pinned->size)
    target_recorded_destroy_all(target, &submission->work);
  return cuda_pinned_ensure(target, pinned, size);
}

vyre_status
cuda_plan_copies(vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const uint64_t control = submission->work.is_controlled ? cuda_control_size(sequence) : 0;
  uint64_t up = control, down = control;
  if (!vyre_grow(&target->base.allocator, &submission->uploads, &submission->upload_capacity, sequence->upload_count,
                 sizeof(cuda_copy)) ||
      !vyre_grow(&target->base.allocator, &submission->reads, &submission->read_capacity, sequence->read_count, sizeof(cuda_copy)))
    return VYRE_OUT_OF_MEMORY("for a CUDA submission");
  submission->upload_count = submission->read_count = 0;
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    const vyre_upload *upload = &sequence->uploads[i];
    add_copy(target, &upload->range, cuda_direct(target, &submission->work, upload) ? upload->data : NULL, submission->uploads,
             &submission->upload_count, &up);
  }
  for (uint32_t i = 0; i < sequence->read_count; i++)
    add_copy(target, &sequence->reads[i].range, NULL, submission->reads, &submission->read_count, &down);
  VYRE_TRY(ensure(target, submission, &submission->up, up));
  return ensure(target, submission, &submission->down, down);
}

/* A walk over the ranges in the order of add_copy, which finds their places in staging memory. */
typedef struct walk {
  const cuda_copy *copy;
  uint64_t done; /* bytes of this copy */
} walk;

/* Returns the place of the next range in staging memory, or NULL if the device copies the caller's memory. */
static char *
next_place(walk *w, void *staging, uint64_t size)
{
  if (w->done == w->copy->size) {
    w->copy++;
    w->done = 0;
  }
  char *place = w->copy->direct ? NULL : (char *)staging + w->copy->place + w->done;
  w->done += size;
  return place;
}

void
cuda_stage_uploads(const vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  walk w = {submission->uploads, 0};
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    const vyre_range *range = &sequence->uploads[i].range;
    const uint64_t size = target_range_size(target_buffer_get(target, range->buffer), range);
    char *to = next_place(&w, submission->up.host, size);
    if (to)
      memcpy(to, sequence->uploads[i].data, size);
    submission->work.timing.bytes_up += size;
  }
  for (uint32_t i = 0; i < sequence->fill_count; i++) {
    const vyre_range *range = &sequence->fills[i].range;
    submission->work.timing.bytes_filled += target_range_size(target_buffer_get(target, range->buffer), range);
  }
}

void
cuda_copy_reads(const vyre_target *target, target_work *work)
{
  const cuda_submission *submission = cuda_submission_of(work);
  const vyre_sequence *sequence = &work->sequence;
  walk w = {submission->reads, 0};
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    const vyre_range *range = &sequence->reads[i].range;
    const uint64_t size = target_range_size(target_buffer_get(target, range->buffer), range);
    memcpy(sequence->reads[i].data, next_place(&w, submission->down.host, size), size);
    work->timing.bytes_down += size;
  }
}

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

/* Fills whole words, then the remaining bytes at the buffer's end. */
static vyre_status
enqueue_fill(vyre_target *target, const cuda_submission *submission, const vyre_fill *fill)
{
  uint64_t size;
  const cuda_address address = cuda_range_address(target, &fill->range, &size);
  const uint64_t words = size / 4;
  if (words)
    VYRE_TRY(
        CUDA_CALL(target, cuMemsetD32Async, (address, fill->value, words, submission->stream), "filling %" PRIu64 " words", words));
  for (uint64_t i = 4 * words; i < size; i++)
    VYRE_TRY(CUDA_CALL(target, cuMemsetD8Async, (address + i, (unsigned char)(fill->value >> 8 * (i % 4)), 1, submission->stream),
                       "filling the last bytes of a buffer"));
  return VYRE_OK;
}

vyre_status
cuda_enqueue_uploads(vyre_target *target, const cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  for (uint32_t i = 0; i < sequence->fill_count; i++)
    VYRE_TRY(enqueue_fill(target, submission, &sequence->fills[i]));
  for (uint32_t i = 0; i < submission->upload_count; i++) {
    const cuda_copy *copy = &submission->uploads[i];
    const char *from = copy->direct ? copy->direct : (const char *)submission->up.host + copy->place;
    VYRE_TRY(CUDA_CALL(target, cuMemcpyHtoDAsync_v2, (copy->address, from, copy->size, submission->stream),
                       "uploading %" PRIu64 " bytes", copy->size));
  }
  return VYRE_OK;
}

vyre_status
cuda_enqueue_reads(vyre_target *target, const cuda_submission *submission)
{
  for (uint32_t i = 0; i < submission->read_count; i++) {
    const cuda_copy *copy = &submission->reads[i];
    char *to = (char *)submission->down.host + copy->place;
    VYRE_TRY(CUDA_CALL(target, cuMemcpyDtoHAsync_v2, (to, copy->address, copy->size, submission->stream),
                       "reading %" PRIu64 " bytes", copy->size));
  }
  return VYRE_OK;
}
