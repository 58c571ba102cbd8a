/* A sequence runs: what is before its steps, its steps, what is after them, given to the device at once, and waited for once.  Very
 * many launches are given in several batches, one after the other; only repeats of very many iterations take more waits.
 *
 * Each queue has a timeline semaphore, whose value is the number of its last batch that is done.  Where copies have a queue of
 * their own, batches of one queue wait for those of the other by their numbers; within a queue hazards.h orders what needs order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>

/* ---- results ------------------------------------------------------------------------------------------------------------- */

static void
copy_results(vyre_target *target, vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  vyre_timing *timing = &submission->timing;
  vulkan_copy_reads(target, submission);
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    sequence->ends[i] = sequence->repeats[i].until.buffer.id ? vulkan_control_repeat(submission, i) : (vyre_repeat_end){0};
    timing->bytes_down += sizeof sequence->ends[i];
  }
  for (uint32_t i = 0; i < sequence->step_count && sequence->step_ns; i++)
    sequence->step_ns[i] = submission->step_ns[i];
  /* Those of steps that took their groups from a buffer were counted on the device. */
  timing->launches =
      target_sequence_end(sequence, sequence->ends) + (submission->is_controlled ? vulkan_control_launches(submission) : 0);
}

/* ---- batches ------------------------------------------------------------------------------------------------------------- */

static vulkan_queue_role
other(vulkan_queue_role role)
{
  return role == VULKAN_COMPUTE ? VULKAN_TRANSFER : VULKAN_COMPUTE;
}

/* One batch, after that batch of the other queue (0: of none). */
static vyre_status
give(vyre_target *target, vulkan_submission *submission, vulkan_queue_role role, uint64_t after, const VkCommandBuffer *commands,
     uint32_t count)
{
  static const VkPipelineStageFlags stages[] = {[VULKAN_COMPUTE] = VK_PIPELINE_STAGE_TRANSFER_BIT |
                                                                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                                                   VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                                                [VULKAN_TRANSFER] = VK_PIPELINE_STAGE_TRANSFER_BIT};
  vulkan_queue *queue = &target->queues[role];
  VYRE_TRY(vulkan_queue_follow(target, queue));
  const uint64_t number = queue->submitted + 1;
  const VkTimelineSemaphoreSubmitInfo numbers = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .waitSemaphoreValueCount = after != 0,
      .pWaitSemaphoreValues = &after,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &number,
  };
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .pNext = &numbers,
      .waitSemaphoreCount = after != 0,
      .pWaitSemaphores = after ? &target->queues[other(role)].timeline : NULL,
      .pWaitDstStageMask = after ? &stages[role] : NULL,
      .commandBufferCount = count,
      .pCommandBuffers = commands,
      .signalSemaphoreCount = 1,
      .pSignalSemaphores = &queue->timeline,
  };
  /* The driver does not run what the validation layer refuses. */
  VYRE_TRY(vulkan_take_messages(target->instance.messages, VYRE_OK));
  VYRE_TRY(VULKAN_CALL(target, vkQueueSubmit, (queue->handle, 1, &info, VK_NULL_HANDLE), "submitting %u steps",
                       submission->sequence.step_count));
  queue->submitted = number;
  vulkan_hazards_submitted(&queue->hazards, number);
  submission->last_queue = role;
  submission->last_batch = number;
  submission->timing.batches++;
  return VYRE_OK;
}

/* ---- what others use ----------------------------------------------------------------------------------------------------- */

typedef void range_user(vyre_target *target, vulkan_queue_role role, const vyre_range *range, uint64_t *number);

/* Calls `use` for each range that is used on that queue before the steps, by them, or after them. */
static void
for_ranges(vyre_target *target, const vulkan_submission *submission, range_user *use, uint64_t *numbers)
{
  const vyre_sequence *sequence = &submission->sequence;
  const vulkan_queue_role copies = submission->is_apart ? VULKAN_TRANSFER : VULKAN_COMPUTE;
  for (uint32_t i = 0; i < sequence->fill_count; i++)
    use(target, copies, &sequence->fills[i].range, &numbers[copies]);
  for (uint32_t i = 0; i < sequence->upload_count; i++)
    use(target, copies, &sequence->uploads[i].range, &numbers[copies]);
  for (uint32_t i = 0; i < sequence->read_count; i++)
    use(target, copies, &sequence->reads[i].range, &numbers[copies]);
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    for (uint32_t k = 0; k < sequence->steps[i].buffer_count; k++)
      use(target, VULKAN_COMPUTE, &sequence->steps[i].buffers[k], &numbers[VULKAN_COMPUTE]);
    use(target, VULKAN_COMPUTE, &sequence->steps[i].indirect, &numbers[VULKAN_COMPUTE]);
  }
  for (uint32_t i = 0; i < sequence->repeat_count; i++)
    use(target, VULKAN_COMPUTE, &sequence->repeats[i].until, &numbers[VULKAN_COMPUTE]);
}

/* The last batch of the other queue that names the buffer. */
static void
find_last(vyre_target *target, vulkan_queue_role role, const vyre_range *range, uint64_t *number)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  if (buffer) {
    const uint64_t last = ((const vulkan_buffer *)buffer->memory)->batches[other(role)];
    *number = last > *number ? last : *number;
  }
}

static void
note_use(vyre_target *target, vulkan_queue_role role, const vyre_range *range, uint64_t *number)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  if (buffer)
    ((vulkan_buffer *)buffer->memory)->batches[role] = *number;
}

static bool
has_addresses(const vyre_target *target, const vyre_sequence *sequence)
{
  bool found = false;
  for (uint32_t i = 0; i < sequence->step_count && !found; i++)
    found = vulkan_kernel_get(target, sequence->steps[i].kernel)->has_addresses;
  return found;
}

/* What was begun may still run when the next one is: it says which buffers that one finds in use. */
static void
note_begun(vyre_target *target, const vulkan_submission *submission)
{
  uint64_t numbers[VULKAN_QUEUES];
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    numbers[i] = target->queues[i].submitted;
  if (!submission->is_begun)
    return;
  for_ranges(target, submission, note_use, numbers);
  if (has_addresses(target, &submission->sequence))
    target->addresses_batch = target->queues[VULKAN_COMPUTE].submitted;
}

/* The numbers that its copies, and its steps, have to wait for on the other queue: what the host knows to be done at least, so that
 * the device sees it too. */
static void
find_others(vyre_target *target, const vulkan_submission *submission, uint64_t out[VULKAN_QUEUES])
{
  out[VULKAN_COMPUTE] = target->queues[VULKAN_TRANSFER].done;
  out[VULKAN_TRANSFER] = target->queues[VULKAN_COMPUTE].done;
  if (!target->choice.has_transfer)
    return;
  for_ranges(target, submission, find_last, out);
  if (out[VULKAN_TRANSFER] < target->addresses_batch)
    out[VULKAN_TRANSFER] = target->addresses_batch;
  if (has_addresses(target, &submission->sequence))
    out[VULKAN_COMPUTE] = target->queues[VULKAN_TRANSFER].submitted;
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* How far each queue has come, if it is not known to be done. */
static vyre_status
look(vyre_target *target)
{
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++) {
    vulkan_queue *queue = &target->queues[i];
    if (queue->submitted > queue->done)
      VYRE_TRY(VULKAN_CALL(target, vkGetSemaphoreCounterValue, (target->device, queue->timeline, &queue->done),
                           "asking how far a queue has come"));
    vulkan_hazards_waited(&queue->hazards, queue->done);
  }
  return VYRE_OK;
}

/* Copies on their own queue, before the steps. */
static vyre_status
copy_before(vyre_target *target, vulkan_submission *submission, uint64_t others[VULKAN_QUEUES])
{
  bool has_commands;
  VYRE_TRY(vulkan_record_begin(target, submission->before[VULKAN_TRANSFER], true, &target->queues[VULKAN_TRANSFER].hazards));
  vulkan_record_before(target, submission, &has_commands);
  VYRE_TRY(vulkan_record_end(target, submission));
  if (!has_commands)
    return VYRE_OK;
  VYRE_TRY(give(target, submission, VULKAN_TRANSFER, others[VULKAN_TRANSFER], &submission->before[VULKAN_TRANSFER], 1));
  others[VULKAN_COMPUTE] = submission->last_batch;
  return VYRE_OK;
}

static vyre_status
copy_after(vyre_target *target, vulkan_submission *submission)
{
  VYRE_TRY(vulkan_record_begin(target, submission->after[VULKAN_TRANSFER], true, &target->queues[VULKAN_TRANSFER].hazards));
  vulkan_record_after(target, submission, true);
  VYRE_TRY(vulkan_record_end(target, submission));
  return give(target, submission, VULKAN_TRANSFER, target->queues[VULKAN_COMPUTE].submitted, &submission->after[VULKAN_TRANSFER],
              1);
}

/* What is before the steps on the compute queue, and what is after them. */
static vyre_status
record_around(vyre_target *target, vulkan_submission *submission)
{
  vulkan_queue *queue = &target->queues[VULKAN_COMPUTE];
  const vulkan_recording *recording = submission->recording;
  const bool copies = !submission->is_apart;
  bool has_commands;
  VYRE_TRY(vulkan_record_begin(target, submission->before[VULKAN_COMPUTE], true, &queue->hazards));
  vulkan_stamp(target, submission, false);
  if (submission->is_first && copies)
    vulkan_record_before(target, submission, &has_commands);
  vulkan_hazards_enter(&queue->hazards, &recording->needs, target->call.vkCmdPipelineBarrier, target->command);
  VYRE_TRY(vulkan_record_end(target, submission));
  VYRE_TRY(vulkan_record_begin(target, submission->after[VULKAN_COMPUTE], true, &queue->hazards));
  vulkan_hazards_leave(&queue->hazards, &recording->left);
  if (copies)
    vulkan_record_after(target, submission, submission->at.step == submission->sequence.step_count);
  vulkan_stamp(target, submission, true);
  return vulkan_record_end(target, submission);
}

/* All of it at once, or, of many launches, a batch for each command buffer. */
static vyre_status
give_steps(vyre_target *target, vulkan_submission *submission, uint64_t after)
{
  const vulkan_recording *recording = submission->recording;
  VkCommandBuffer commands[3];
  uint32_t count = 0;
  commands[count++] = submission->before[VULKAN_COMPUTE];
  for (uint32_t i = 0; i < recording->command_count; i++) {
    commands[count++] = recording->commands[i];
    if (i + 1 == recording->command_count)
      commands[count++] = submission->after[VULKAN_COMPUTE];
    VYRE_TRY(give(target, submission, VULKAN_COMPUTE, i == 0 ? after : 0, commands, count));
    count = 0;
  }
  return VYRE_OK;
}

static vyre_status
reset_commands(vyre_target *target, const vulkan_submission *submission)
{
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    if (submission->pools[i])
      VYRE_TRY(VULKAN_CALL(target, vkResetCommandPool, (target->device, submission->pools[i], 0), "to record a sequence"));
  return VYRE_OK;
}

static vyre_status
record_and_give(vyre_target *target, vulkan_submission *submission)
{
  const uint64_t start = clock_now();
  uint64_t others[VULKAN_QUEUES];
  find_others(target, submission, others);
  VYRE_TRY(reset_commands(target, submission));
  if (!submission->is_first) /* whose shape it was taken by */
    VYRE_TRY(vulkan_shape_make(target, submission));
  VYRE_TRY(vulkan_recording_take(target, submission));
  if (submission->is_apart && submission->is_first)
    VYRE_TRY(copy_before(target, submission, others));
  VYRE_TRY(record_around(target, submission));
  const uint64_t recorded = clock_now();
  VYRE_TRY(give_steps(target, submission, others[VULKAN_COMPUTE]));
  if (submission->is_apart && submission->sequence.read_count && submission->at.step == submission->sequence.step_count)
    VYRE_TRY(copy_after(target, submission));
  submission->timing.record_ns += recorded - start;
  submission->timing.submit_ns += clock_now() - recorded;
  return VYRE_OK;
}

static vyre_status
wait_for(vyre_target *target, vulkan_submission *submission)
{
  const uint64_t limit = target->timeout ? (uint64_t)target->timeout * 1000000000u : UINT64_MAX, start = clock_now();
  vulkan_queue *queue = &target->queues[submission->last_queue];
  const VkSemaphoreWaitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
      .semaphoreCount = 1,
      .pSemaphores = &queue->timeline,
      .pValues = &submission->last_batch,
  };
  VkResult result = target->call.vkWaitSemaphores(target->device, &info, limit);
  if (result != VK_SUCCESS)
    target->base.lost = true; /* what was submitted may still be running: its buffers may not be used again */
  else if (queue->done < submission->last_batch)
    queue->done = submission->last_batch;
  vulkan_hazards_waited(&queue->hazards, queue->done);
  target->hangs = target->hangs || result == VK_TIMEOUT;
  submission->timing.wait_ns += clock_now() - start;
  return vulkan_status(target, result, "vkWaitSemaphores", "waiting for %u steps", submission->sequence.step_count);
}

/* Records and submits what comes next.  Where that fails, nothing of it runs any more. */
static vyre_status
submit_next(vyre_target *target, vulkan_submission *submission)
{
  const uint32_t batches = submission->timing.batches;
  vyre_status status = record_and_give(target, submission);
  status = vulkan_take_messages(target->instance.messages, status);
  if (submission->timing.batches > batches)
    note_begun(target, submission);
  if (!status) {
    submission->timing.waits++;
    submission->is_first = false;
    return VYRE_OK;
  }
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    vulkan_hazards_dropped(&target->queues[i].hazards);
  if (submission->timing.batches > batches && !target->base.lost)
    status = vyre_status_join(status, wait_for(target, submission));
  return status;
}

/* Where what is left begins, now that what was submitted is done.  False: nothing is left. */
static bool
find_next(vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  vulkan_position *at = &submission->at;
  for (uint32_t i = 0; submission->is_controlled && i < sequence->repeat_count; i++) {
    const vyre_repeat_end end = vulkan_control_repeat(submission, i);
    if (end.word == 0)
      continue;
    if (end.iterations < sequence->repeats[i].times) {
      *at = (vulkan_position){sequence->repeats[i].first, i, end.iterations};
      return true;
    }
    if (at->step == sequence->step_count)
      return false;
    *at = (vulkan_position){sequence->step_count, sequence->repeat_count, 0}; /* the reads are left */
    return true;
  }
  return at->step != sequence->step_count;
}

/* What was submitted is done: submits what is left. */
static void
go_on(vyre_target *target, vulkan_submission *submission)
{
  vyre_status status = vulkan_stamps_read(target, submission);
  if (!status)
    status = vulkan_control_status(target, submission);
  if (!status && find_next(submission)) {
    status = submit_next(target, submission);
    if (!status)
      return;
  }
  submission->status = status;
  submission->is_done = true;
}

/* Of a sequence that needs several submissions all but the last are done before anything else is begun, which is to find what it
 * did. */
static vyre_status
submit_rest(vyre_target *target, vulkan_submission *submission)
{
  while (!submission->is_done && submission->recording->is_part) {
    VYRE_TRY(wait_for(target, submission));
    go_on(target, submission);
  }
  return VYRE_OK;
}

static vyre_status
start(vyre_target *target, const vyre_sequence *sequence, bool is_begun, vulkan_submission **out)
{
  vulkan_submission *submission = *out = NULL;
  vyre_status status = look(target);
  status = status ? status : vulkan_submission_take(target, sequence, is_begun, &submission);
  if (status)
    return vulkan_take_messages(target->instance.messages, status);
  if (vulkan_is_by_host(submission)) {
    bool has_commands;
    vulkan_record_before(target, submission, &has_commands);
    submission->is_done = true;
  } else
    status = submit_next(target, submission);
  if (!status && is_begun)
    status = submit_rest(target, submission);
  status = vulkan_take_messages(target->instance.messages, status);
  if (status)
    vulkan_submission_give(target, submission);
  else
    *out = submission;
  return status;
}

vyre_status
vulkan_start(vyre_target *target, const vyre_sequence *sequence, void **out)
{
  vulkan_submission *submission;
  VYRE_TRY(start(target, sequence, true, &submission));
  *out = submission;
  return VYRE_OK;
}

vyre_status
vulkan_poll(vyre_target *target, void *work, bool *out_done)
{
  vulkan_submission *submission = work;
  if (!submission->is_done) {
    VYRE_TRY(look(target));
    if (target->queues[submission->last_queue].done < submission->last_batch)
      return VYRE_OK;
    go_on(target, submission);
  }
  *out_done = submission->is_done;
  return VYRE_OK;
}

vyre_status
vulkan_finish(vyre_target *target, void *work, vyre_timing *timing)
{
  vulkan_submission *submission = work;
  vyre_status status = VYRE_OK;
  while (!status && !submission->is_done && !target->hangs) {
    status = wait_for(target, submission);
    if (!status)
      go_on(target, submission);
  }
  if (!status && submission->is_done) {
    status = submission->status;
    submission->status = VYRE_OK;
  } else if (!status)
    status = VYRE_ERROR(VYRE_CODE_DEVICE, "vulkan: the device '%s' does not finish what was submitted earlier\nFix: recover it",
                        target->base.info.name);
  status = vulkan_take_messages(target->instance.messages, status);
  if (!status)
    copy_results(target, submission);
  const uint32_t allocations = timing->allocations; /* whoever calls counts them */
  *timing = submission->timing;
  timing->allocations = allocations;
  vulkan_submission_give(target, submission);
  return status;
}

vyre_status
vulkan_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  vulkan_submission *submission;
  VYRE_TRY(start(target, sequence, false, &submission));
  return vulkan_finish(target, submission, timing);
}
