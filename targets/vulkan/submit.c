/* Submits a sequence: the copies before its steps, the steps, and the copies after them, with one wait. Very many launches are
 * submitted as several batches. Only repeats with very many iterations need more waits.
 *
 * Each queue has a timeline semaphore, whose value is the number of its last finished batch. Batches of the compute queue and the
 * transfer queue wait for each other by these numbers. Within a queue, hazards.h orders the commands.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>

/* ---- objects of a submission --------------------------------------------------------------------------------------------- */

static vyre_status
make_commands(vyre_target *target, vulkan_submission *submission, vulkan_queue_role role)
{
  const VkCommandPoolCreateInfo pool = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
      .queueFamilyIndex = target->choice.queue_families[role],
  };
  VYRE_TRY(VULKAN_CALL(target, vkCreateCommandPool, (target->device, &pool, NULL, &submission->pools[role]), "for one sequence"));
  const VkCommandBufferAllocateInfo commands = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = submission->pools[role],
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 2,
  };
  VkCommandBuffer both[2];
  VYRE_TRY(VULKAN_CALL(target, vkAllocateCommandBuffers, (target->device, &commands, both), "for one sequence"));
  submission->before[role] = both[0];
  submission->after[role] = both[1];
  return VYRE_OK;
}

static vyre_status
fill(vyre_target *target, target_work *work)
{
  vulkan_submission *submission = vulkan_submission_of(work);
  VYRE_TRY(make_commands(target, submission, VULKAN_COMPUTE));
  if (target->choice.has_transfer)
    VYRE_TRY(make_commands(target, submission, VULKAN_TRANSFER));
  if (!target->choice.timestamp_mask)
    return VYRE_OK;
  const VkQueryPoolCreateInfo queries = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
      .queryType = VK_QUERY_TYPE_TIMESTAMP,
      .queryCount = 2,
  };
  return VULKAN_CALL(target, vkCreateQueryPool, (target->device, &queries, NULL, &submission->queries), "for two timestamps");
}

static void
destroy_objects(vyre_target *target, vulkan_submission *submission)
{
  const struct VolkDeviceTable *call = &target->call;
  if (submission->queries)
    call->vkDestroyQueryPool(target->device, submission->queries, NULL);
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    if (submission->pools[i])
      call->vkDestroyCommandPool(target->device, submission->pools[i], NULL);
  vulkan_buffer_destroy(target, &submission->up);
  vulkan_buffer_destroy(target, &submission->down);
  vulkan_buffer_destroy(target, &submission->control);
}

static void
destroy(vyre_target *target, target_work *work)
{
  const vyre_allocator *allocator = &target->base.allocator;
  vulkan_submission *submission = vulkan_submission_of(work);
  vulkan_settle(target);
  if (!target->base.hangs)
    destroy_objects(target, submission);
  vyre_release(allocator, submission->places, sizeof *submission->places * submission->place_capacity);
  vyre_release(allocator, submission->sets, sizeof *submission->sets * submission->set_capacity);
  vyre_release(allocator, submission->first_sets, sizeof *submission->first_sets * submission->step_capacity);
}

static vyre_status
ensure_control(vyre_target *target, vulkan_submission *submission)
{
  VYRE_TRY(vulkan_control_ensure(target));
  const uint64_t size = vulkan_control_size(&submission->work.sequence);
  if (size <= submission->control.size)
    return VYRE_OK;
  target_recorded_destroy_all(target, &submission->work); /* recordings use the old control buffer */
  vulkan_buffer_destroy(target, &submission->control);
  return vulkan_buffer_create(target, 2 * size,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                  VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &submission->control);
}

/* Returns whether the copies should run on the transfer queue, because they may overlap with running kernels. */
static bool
is_better_apart(const vyre_target *target, const vulkan_submission *submission)
{
  const vulkan_queue *compute = &target->queues[VULKAN_COMPUTE];
  return submission->work.is_begun && target->choice.has_transfer && !submission->work.is_controlled &&
         compute->submitted > compute->done;
}

static vyre_status
prepare(vyre_target *target, target_work *work)
{
  vulkan_submission *submission = vulkan_submission_of(work);
  submission->recording = NULL;
  submission->is_apart = is_better_apart(target, submission);
  if (work->is_controlled)
    VYRE_TRY(ensure_control(target, submission));
  return vulkan_plan_copies(target, submission);
}

const target_work_hooks vulkan_works = {
    .size = sizeof(vulkan_submission),
    .recorded_size = sizeof(vulkan_recording),
    .memory = "for a Vulkan submission",
    .fill = fill,
    .destroy = destroy,
    .begin = vulkan_begin,
    .complete = vulkan_complete,
    .take_reads = vulkan_copy_reads,
    .prepare = prepare,
    .make_shape = vulkan_shape_make,
    .destroy_recorded = vulkan_recording_destroy,
    .repeat_end = vulkan_control_repeat,
    .controlled_launches = vulkan_control_launches,
};

/* ---- batches ------------------------------------------------------------------------------------------------------------- */

static vulkan_queue_role
other_queue(vulkan_queue_role role)
{
  return role == VULKAN_COMPUTE ? VULKAN_TRANSFER : VULKAN_COMPUTE;
}

/* Submits a batch, which waits for batch `after` of the other queue unless that is 0. */
static vyre_status
submit_batch(vyre_target *target, vulkan_submission *submission, vulkan_queue_role role, uint64_t after,
             const VkCommandBuffer *commands, uint32_t count)
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
      .pWaitSemaphores = after ? &target->queues[other_queue(role)].timeline : NULL,
      .pWaitDstStageMask = after ? &stages[role] : NULL,
      .commandBufferCount = count,
      .pCommandBuffers = commands,
      .signalSemaphoreCount = 1,
      .pSignalSemaphores = &queue->timeline,
  };
  /* Nothing that the validation layer rejected is submitted. */
  VYRE_TRY(vulkan_collect_messages(target->instance.messages, VYRE_OK));
  VYRE_TRY(VULKAN_CALL(target, vkQueueSubmit, (queue->handle, 1, &info, VK_NULL_HANDLE), "submitting %u steps",
                       submission->work.sequence.step_count));
  queue->submitted = number;
  vulkan_hazards_submitted(&queue->hazards, number);
  submission->last_queue = role;
  submission->last_batch = number;
  submission->work.timing.batches++;
  return VYRE_OK;
}

/* ---- order between queues ------------------------------------------------------------------------------------------------ */

typedef struct range_user {
  vyre_target *target;
  const vulkan_submission *submission;
  uint64_t *numbers; /* of batches, for each queue */
} range_user;

/* Returns the queue that uses a range of a step or of a copy. */
static vulkan_queue_role
role_of(const range_user *user, bool is_step)
{
  return !is_step && user->submission->is_apart ? VULKAN_TRANSFER : VULKAN_COMPUTE;
}

/* Raises the number of the range's queue to the last batch of the other queue that names the buffer. */
static void
find_last(void *user, const vyre_range *range, bool is_step)
{
  const range_user *u = user;
  const vulkan_queue_role role = role_of(u, is_step);
  const target_buffer *buffer = target_buffer_get(u->target, range->buffer);
  const uint64_t last = buffer ? ((const vulkan_buffer *)buffer->memory)->batches[other_queue(role)] : 0;
  if (last > u->numbers[role])
    u->numbers[role] = last;
}

static void
note_use(void *user, const vyre_range *range, bool is_step)
{
  const range_user *u = user;
  const vulkan_queue_role role = role_of(u, is_step);
  const target_buffer *buffer = target_buffer_get(u->target, range->buffer);
  if (buffer)
    ((vulkan_buffer *)buffer->memory)->batches[role] = u->numbers[role];
}

static bool
has_addresses(const vyre_target *target, const vyre_sequence *sequence)
{
  bool found = false;
  for (uint32_t i = 0; i < sequence->step_count && !found; i++)
    found = vulkan_kernel_get(target, sequence->steps[i].kernel)->has_addresses;
  return found;
}

/* Notes the buffers that a begun submission uses, because it may still be in flight when the next one begins. */
static void
note_begun(vyre_target *target, const vulkan_submission *submission)
{
  uint64_t numbers[VULKAN_QUEUES];
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    numbers[i] = target->queues[i].submitted;
  if (!submission->work.is_begun)
    return;
  target_each_range(&submission->work.sequence, note_use, &(range_user){target, submission, numbers});
  if (has_addresses(target, &submission->work.sequence))
    target->addresses_batch = target->queues[VULKAN_COMPUTE].submitted;
}

/* Stores, for each queue, the batch of the other queue for which the submission must wait. At least waits for the batches that the
 * host knows to be done, so that their writes are visible to the device. */
static void
find_others(vyre_target *target, const vulkan_submission *submission, uint64_t out[VULKAN_QUEUES])
{
  out[VULKAN_COMPUTE] = target->queues[VULKAN_TRANSFER].done;
  out[VULKAN_TRANSFER] = target->queues[VULKAN_COMPUTE].done;
  if (!target->choice.has_transfer)
    return;
  target_each_range(&submission->work.sequence, find_last, &(range_user){target, submission, out});
  if (out[VULKAN_TRANSFER] < target->addresses_batch)
    out[VULKAN_TRANSFER] = target->addresses_batch;
  if (has_addresses(target, &submission->work.sequence))
    out[VULKAN_COMPUTE] = target->queues[VULKAN_TRANSFER].submitted;
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* Updates the number of finished batches of each queue. */
static vyre_status
update_done(vyre_target *target)
{
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++) {
    vulkan_queue *queue = &target->queues[i];
    if (queue->submitted > queue->done)
      VYRE_TRY(VULKAN_CALL(target, vkGetSemaphoreCounterValue, (target->device, queue->timeline, &queue->done),
                           "reading the progress of a queue"));
    vulkan_hazards_waited(&queue->hazards, queue->done);
  }
  return VYRE_OK;
}

/* Submits the fills and uploads on the transfer queue, before the steps. */
static vyre_status
copy_before(vyre_target *target, vulkan_submission *submission, uint64_t others[VULKAN_QUEUES])
{
  bool has_commands;
  VYRE_TRY(vulkan_record_begin(target, submission->before[VULKAN_TRANSFER], true, &target->queues[VULKAN_TRANSFER].hazards));
  vulkan_record_before(target, submission, &has_commands);
  VYRE_TRY(vulkan_record_end(target, submission));
  if (!has_commands)
    return VYRE_OK;
  VYRE_TRY(submit_batch(target, submission, VULKAN_TRANSFER, others[VULKAN_TRANSFER], &submission->before[VULKAN_TRANSFER], 1));
  others[VULKAN_COMPUTE] = submission->last_batch;
  return VYRE_OK;
}

static vyre_status
copy_after(vyre_target *target, vulkan_submission *submission)
{
  VYRE_TRY(vulkan_record_begin(target, submission->after[VULKAN_TRANSFER], true, &target->queues[VULKAN_TRANSFER].hazards));
  vulkan_record_after(target, submission, true);
  VYRE_TRY(vulkan_record_end(target, submission));
  return submit_batch(target, submission, VULKAN_TRANSFER, target->queues[VULKAN_COMPUTE].submitted,
                      &submission->after[VULKAN_TRANSFER], 1);
}

/* Records the command buffers before and after the steps on the compute queue. */
static vyre_status
record_around(vyre_target *target, vulkan_submission *submission)
{
  vulkan_queue *queue = &target->queues[VULKAN_COMPUTE];
  const vulkan_recording *recording = submission->recording;
  const bool copies = !submission->is_apart;
  bool has_commands;
  VYRE_TRY(vulkan_record_begin(target, submission->before[VULKAN_COMPUTE], true, &queue->hazards));
  vulkan_stamp(target, submission, false);
  if (submission->work.is_first && copies)
    vulkan_record_before(target, submission, &has_commands);
  vulkan_hazards_enter(&queue->hazards, &recording->needs, target->call.vkCmdPipelineBarrier, target->command);
  VYRE_TRY(vulkan_record_end(target, submission));
  VYRE_TRY(vulkan_record_begin(target, submission->after[VULKAN_COMPUTE], true, &queue->hazards));
  vulkan_hazards_leave(&queue->hazards, &recording->left);
  if (copies)
    vulkan_record_after(target, submission, submission->work.at.step == submission->work.sequence.step_count);
  vulkan_stamp(target, submission, true);
  return vulkan_record_end(target, submission);
}

/* Submits everything on the compute queue as one batch or, with several command buffers of steps, as a batch for each. */
static vyre_status
submit_steps(vyre_target *target, vulkan_submission *submission, uint64_t after)
{
  const vulkan_recording *recording = submission->recording;
  VkCommandBuffer commands[3];
  uint32_t count = 0;
  commands[count++] = submission->before[VULKAN_COMPUTE];
  for (uint32_t i = 0; i < recording->command_count; i++) {
    commands[count++] = recording->commands[i];
    if (i + 1 == recording->command_count)
      commands[count++] = submission->after[VULKAN_COMPUTE];
    VYRE_TRY(submit_batch(target, submission, VULKAN_COMPUTE, i == 0 ? after : 0, commands, count));
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
record_and_submit(vyre_target *target, vulkan_submission *submission)
{
  const uint64_t start = clock_now();
  uint64_t others[VULKAN_QUEUES];
  find_others(target, submission, others);
  VYRE_TRY(reset_commands(target, submission));
  if (!submission->work.is_first) /* target_work_acquire made the first shape */
    VYRE_TRY(vulkan_shape_make(target, &submission->work));
  VYRE_TRY(vulkan_recording_acquire(target, submission));
  if (submission->is_apart && submission->work.is_first)
    VYRE_TRY(copy_before(target, submission, others));
  VYRE_TRY(record_around(target, submission));
  const uint64_t recorded = clock_now();
  VYRE_TRY(submit_steps(target, submission, others[VULKAN_COMPUTE]));
  if (submission->is_apart && submission->work.sequence.read_count &&
      submission->work.at.step == submission->work.sequence.step_count)
    VYRE_TRY(copy_after(target, submission));
  submission->work.timing.record_ns += recorded - start;
  submission->work.timing.submit_ns += clock_now() - recorded;
  return VYRE_OK;
}

static vyre_status
wait_for(vyre_target *target, vulkan_submission *submission)
{
  const uint64_t limit = target->base.timeout ? (uint64_t)target->base.timeout * 1000000000u : UINT64_MAX, start = clock_now();
  vulkan_queue *queue = &target->queues[submission->last_queue];
  const VkSemaphoreWaitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
      .semaphoreCount = 1,
      .pSemaphores = &queue->timeline,
      .pValues = &submission->last_batch,
  };
  VkResult result = target->call.vkWaitSemaphores(target->device, &info, limit);
  if (result != VK_SUCCESS)
    target->base.lost = true; /* commands may still run, so their buffers must not be reused */
  else if (queue->done < submission->last_batch)
    queue->done = submission->last_batch;
  vulkan_hazards_waited(&queue->hazards, queue->done);
  target->base.hangs = target->base.hangs || result == VK_TIMEOUT;
  submission->work.timing.wait_ns += clock_now() - start;
  return vulkan_status(target, result, "vkWaitSemaphores", "waiting for %u steps", submission->work.sequence.step_count);
}

/* Records and submits the next part of the sequence. On failure, waits until submitted batches are done. */
static vyre_status
submit_next(vyre_target *target, vulkan_submission *submission)
{
  const uint32_t batches = submission->work.timing.batches;
  vyre_status status = record_and_submit(target, submission);
  status = vulkan_collect_messages(target->instance.messages, status);
  if (submission->work.timing.batches > batches)
    note_begun(target, submission);
  if (!status) {
    submission->work.timing.waits++;
    submission->work.is_first = false;
    return VYRE_OK;
  }
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    vulkan_hazards_dropped(&target->queues[i].hazards);
  if (submission->work.timing.batches > batches && !target->base.lost)
    status = vyre_status_join(status, wait_for(target, submission));
  return status;
}

/* Moves the position to the remaining part after a finished submission. Returns false if nothing remains. */
static bool
find_next(vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  target_position *at = &submission->work.at;
  for (uint32_t i = 0; submission->work.is_controlled && i < sequence->repeat_count; i++) {
    const vyre_repeat_end end = vulkan_control_repeat(&submission->work, i);
    if (end.word == 0)
      continue;
    if (end.iterations < sequence->repeats[i].times) {
      *at = (target_position){sequence->repeats[i].first, i, end.iterations};
      return true;
    }
    if (at->step == sequence->step_count)
      return false;
    *at = (target_position){sequence->step_count, sequence->repeat_count, 0}; /* only the reads remain */
    return true;
  }
  return at->step != sequence->step_count;
}

/* Continues after a finished submission: reads its results and submits the remaining part, if there is one. */
static void
continue_sequence(vyre_target *target, vulkan_submission *submission)
{
  vyre_status status = vulkan_stamps_read(target, submission);
  if (!status)
    status = vulkan_control_status(target, submission);
  if (!status && find_next(submission)) {
    status = submit_next(target, submission);
    if (!status)
      return;
  }
  submission->work.status = status;
  submission->work.is_done = true;
}

/* Waits for all but the last submission of a sequence, because sequences that begin later must see its effects. */
static vyre_status
submit_rest(vyre_target *target, vulkan_submission *submission)
{
  while (!submission->work.is_done && submission->recording->is_part) {
    VYRE_TRY(wait_for(target, submission));
    continue_sequence(target, submission);
  }
  return VYRE_OK;
}

vyre_status
vulkan_begin(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out)
{
  target_work *work = NULL;
  vyre_status status = update_done(target);
  status = status ? status : target_work_acquire(target, sequence, is_begun, &work);
  if (status)
    return vulkan_collect_messages(target->instance.messages, status);
  vulkan_submission *submission = vulkan_submission_of(work);
  if (vulkan_is_by_host(submission)) {
    bool has_commands;
    vulkan_record_before(target, submission, &has_commands);
    submission->work.is_done = true;
  } else
    status = submit_next(target, submission);
  if (!status && is_begun)
    status = submit_rest(target, submission);
  status = vulkan_collect_messages(target->instance.messages, status);
  if (status)
    target_work_release(target, work);
  else
    *out = work;
  return status;
}

vyre_status
vulkan_poll(vyre_target *target, void *work, bool *out_done)
{
  vulkan_submission *submission = work;
  if (!submission->work.is_done) {
    VYRE_TRY(update_done(target));
    if (target->queues[submission->last_queue].done < submission->last_batch)
      return VYRE_OK;
    continue_sequence(target, submission);
  }
  *out_done = submission->work.is_done;
  return VYRE_OK;
}

vyre_status
vulkan_complete(vyre_target *target, target_work *work)
{
  vulkan_submission *submission = vulkan_submission_of(work);
  vyre_status status = VYRE_OK;
  while (!status && !work->is_done && !target->base.hangs) {
    status = wait_for(target, submission);
    if (!status)
      continue_sequence(target, submission);
  }
  if (!status && work->is_done)
    status = target_work_status(work);
  else if (!status)
    status = VYRE_ERROR(VYRE_CODE_DEVICE, "vulkan: the device '%s' does not finish earlier submissions\nFix: recover it",
                        target->base.info.name);
  return vulkan_collect_messages(target->instance.messages, status);
}
