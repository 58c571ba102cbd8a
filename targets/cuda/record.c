/* Produces the commands of a sequence in order: uploads, steps with their repeats, and reads.
 *
 * One walk serves all modes (cuda_mode), so a graph has the same commands as the stream.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <inttypes.h>
#include <string.h>

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

static vyre_status
enqueue_launch(vyre_target *target, const cuda_submission *submission, const cuda_launch *launch, const char *label)
{
  void *parameters[3];
  for (uint32_t i = 0; i < launch->parameter_count; i++)
    parameters[i] = (char *)(uintptr_t)launch->data + launch->offsets[i]; /* the driver only reads them */
  const uint32_t *grid = launch->grid, *block = launch->block;
  if (launch->is_cooperative)
    return CUDA_CALL(target, cuLaunchCooperativeKernel,
                     (launch->function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, submission->stream, parameters),
                     "launching kernel '%s' of %u x %u x %u workgroups", label, grid[0], grid[1], grid[2]);
  return CUDA_CALL(
      target, cuLaunchKernel,
      (launch->function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, submission->stream, parameters, NULL),
      "launching kernel '%s' of %u x %u x %u workgroups", label, grid[0], grid[1], grid[2]);
}

vyre_status
cuda_enqueue_launch(vyre_target *target, cuda_submission *submission, const cuda_launch *launch, const char *label)
{
  if (submission->mode == CUDA_UPDATED)
    return cuda_node_update(target, submission, launch);
  VYRE_TRY(enqueue_launch(target, submission, launch, label));
  return submission->mode == CUDA_CAPTURED ? cuda_node_add(target, submission, launch) : VYRE_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

enum { PART_WIDTH = 1 << 30, PUSH_ALIGN = 16 };

/* Finds the blocks of the launch. A part has a linear grid, whose excess blocks do nothing. */
static void
find_grid(const vyre_step *step, uint32_t out[3])
{
  memcpy(out, step->groups, sizeof step->groups);
  if (step->count == 0)
    return;
  out[0] = step->count < PART_WIDTH ? (uint32_t)step->count : PART_WIDTH;
  out[1] = (uint32_t)((step->count + PART_WIDTH - 1) / PART_WIDTH);
  out[2] = 1;
}

static bool
is_empty(const vyre_step *step)
{
  return step->groups[0] == 0 || step->groups[1] == 0 || step->groups[2] == 0;
}

vyre_status
cuda_check_step(const vyre_target *target, const vyre_step *step)
{
  const cuda_kernel *kernel = cuda_kernel_get(target, step->kernel);
  const vyre_device_info *info = &target->base.info;
  uint32_t grid[3];
  if (is_empty(step))
    return VYRE_OK;
  find_grid(step, grid);
  const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
  if (kernel->text.has_grid_barriers && blocks > kernel->most_blocks)
    return TARGET_REJECTED("cuda: kernel '%s' has barriers for the whole grid of %" PRIu64
                           " workgroups, but the device '%s' runs at most %" PRIu64 " at once\n"
                           "Fix: use fewer workgroups, or smaller ones",
                           kernel->base.label, blocks, info->name, kernel->most_blocks);
  if (step->count && step->count / PART_WIDTH >= info->max_groups[1])
    return TARGET_REJECTED("cuda: kernel '%s' has a part of %" PRIu64 " workgroups, too many for a launch\nFix: run smaller parts",
                           kernel->base.label, step->count);
  return VYRE_OK;
}

/* Computes the parameters as vyre/ptx.h specifies. */
static vyre_status
fill_parameters(vyre_target *target, cuda_submission *submission, uint32_t index, cuda_launch *launch)
{
  const vyre_step *step = &submission->work.sequence.steps[index];
  const uint32_t buffers = PUSH_ALIGN, push = buffers + (uint32_t)sizeof(vyre_ptx_buffer) * step->buffer_count;
  const uint32_t size = (push + step->push_size + 7) / 8 * 8;
  if (!vyre_grow(&target->base.allocator, &submission->data, &submission->data_capacity, size / 8, 8))
    return VYRE_OUT_OF_MEMORY("for a kernel's parameters");
  char *data = (char *)submission->data;
  const uint64_t dispatch = cuda_has_dispatch(target, submission, index) ? cuda_control_dispatch(submission, index) : 0;
  memset(data, 0, size);
  memcpy(data, &dispatch, sizeof dispatch);
  launch->offsets[launch->parameter_count++] = 0;
  for (uint32_t i = 0; i < step->buffer_count; i++) {
    vyre_ptx_buffer buffer;
    buffer.address = cuda_range_address(target, &step->buffers[i], &buffer.bytes);
    memcpy(data + buffers + sizeof buffer * i, &buffer, sizeof buffer);
  }
  if (step->buffer_count)
    launch->offsets[launch->parameter_count++] = buffers;
  if (step->push_size) {
    memcpy(data + push, step->push, step->push_size);
    launch->offsets[launch->parameter_count++] = push;
  }
  launch->data = data;
  launch->size = size;
  return VYRE_OK;
}

static vyre_status
enqueue_step(vyre_target *target, cuda_submission *submission, uint32_t index)
{
  const vyre_step *step = &submission->work.sequence.steps[index];
  const cuda_kernel *kernel = cuda_kernel_get(target, step->kernel);
  cuda_launch launch = {.function = kernel->function, .is_cooperative = kernel->text.has_grid_barriers};
  if (step->indirect.buffer.id)
    VYRE_TRY(cuda_control_enqueue_prepare(target, submission, index));
  if (!is_empty(step)) {
    find_grid(step, launch.grid);
    memcpy(launch.block, kernel->base.workgroup, sizeof launch.block);
    VYRE_TRY(fill_parameters(target, submission, index, &launch));
    VYRE_TRY(cuda_enqueue_launch(target, submission, &launch, kernel->base.label));
  }
  return cuda_stamp_step(target, submission, index);
}

/* ---- repeats ------------------------------------------------------------------------------------------------------------- */

/* Enqueues the remaining iterations of the submission's current repeat, at most most_iterations if it has `until`, and advances
 * the position. */
static vyre_status
enqueue_repeat(vyre_target *target, cuda_submission *submission)
{
  target_position *at = &submission->work.at;
  const vyre_repeat *repeat = &submission->work.sequence.repeats[at->repeat];
  const bool has_until = repeat->until.buffer.id != 0;
  const uint32_t left = repeat->times - at->iteration, most = target->most_iterations,
                 end = at->iteration + (has_until && left > most ? most : left);
  while (at->iteration < end) {
    for (uint32_t i = 0; i < repeat->count; i++)
      VYRE_TRY(enqueue_step(target, submission, repeat->first + i));
    at->iteration++;
    if (has_until)
      VYRE_TRY(cuda_control_enqueue_end(target, submission, at->repeat, at->iteration == end));
  }
  *at = (target_position){repeat->first + repeat->count, at->repeat + 1, 0};
  return VYRE_OK;
}

static vyre_status
enqueue_steps(vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  target_position *at = &submission->work.at;
  while (at->step < sequence->step_count) {
    if (at->repeat == sequence->repeat_count || at->step != sequence->repeats[at->repeat].first)
      VYRE_TRY(enqueue_step(target, submission, at->step++));
    else
      VYRE_TRY(enqueue_repeat(target, submission));
  }
  return VYRE_OK;
}

/* ---- the sequence -------------------------------------------------------------------------------------------------------- */

vyre_status
cuda_record(vyre_target *target, cuda_submission *submission)
{
  const bool enqueues = submission->mode != CUDA_UPDATED;
  const uint64_t control = submission->work.is_controlled ? cuda_control_size(&submission->work.sequence) : 0;
  if (enqueues && submission->work.is_first)
    VYRE_TRY(cuda_enqueue_uploads(target, submission));
  if (enqueues && control)
    VYRE_TRY(CUDA_CALL(target, cuMemcpyHtoDAsync_v2, (submission->control, submission->up.host, control, submission->stream),
                       "uploading %" PRIu64 " bytes of control memory", control));
  VYRE_TRY(cuda_stamps_begin(target, submission));
  VYRE_TRY(enqueue_steps(target, submission));
  if (enqueues && control)
    VYRE_TRY(CUDA_CALL(target, cuMemcpyDtoHAsync_v2, (submission->down.host, submission->control, control, submission->stream),
                       "reading %" PRIu64 " bytes of control memory", control));
  return enqueues ? cuda_enqueue_reads(target, submission) : VYRE_OK;
}
