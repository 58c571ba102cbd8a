/* What a sequence needs while it runs: recordings, command buffers for its copies, staging, a copy of what it is.
 *
 * They stay for the next sequence, and grow when it needs more.  Several that were begun have one each; of those that are not used
 * the one is taken that has the sequence's steps recorded already.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

/* ---- made and destroyed -------------------------------------------------------------------------------------------------- */

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
fill_submission(vyre_target *target, vulkan_submission *submission)
{
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
forget_sequence(const vyre_allocator *allocator, vulkan_submission *submission)
{
  vyre_release(allocator, submission->copy, submission->copy_size);
  vyre_status_free(submission->status);
  submission->copy = NULL;
  submission->status = VYRE_OK;
  submission->sequence = (vyre_sequence){0};
  submission->recording = NULL;
}

static void
destroy_submission(vyre_target *target, vulkan_submission *submission)
{
  const vyre_allocator *allocator = &target->base.allocator;
  vulkan_settle(target);
  vulkan_recordings_destroy(target, submission);
  if (!target->hangs)
    destroy_objects(target, submission);
  forget_sequence(allocator, submission);
  vyre_release(allocator, submission->places, sizeof *submission->places * submission->place_capacity);
  vyre_release(allocator, submission->sets, sizeof *submission->sets * submission->set_capacity);
  vyre_release(allocator, submission->first_sets, sizeof *submission->first_sets * submission->step_capacity);
  vyre_release(allocator, submission->step_ns, sizeof *submission->step_ns * submission->step_ns_capacity);
  vyre_release(allocator, submission, sizeof *submission);
}

static vyre_status
make_submission(vyre_target *target, vulkan_submission **out)
{
  vulkan_submission *submission = vyre_take(&target->base.allocator, sizeof *submission);
  if (!submission)
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  vyre_status status = fill_submission(target, submission);
  if (status)
    destroy_submission(target, submission);
  else
    *out = submission;
  return status;
}

void
vulkan_submission_give(vyre_target *target, vulkan_submission *submission)
{
  if (target->hangs) {
    destroy_submission(target, submission); /* its objects stay */
    return;
  }
  forget_sequence(&target->base.allocator, submission);
  submission->next = target->unused;
  target->unused = submission;
}

void
vulkan_submissions_destroy(vyre_target *target)
{
  while (target->unused) {
    vulkan_submission *submission = target->unused;
    target->unused = submission->next;
    destroy_submission(target, submission);
  }
}

/* ---- taken --------------------------------------------------------------------------------------------------------------- */

static vyre_status
ensure_control(vyre_target *target, vulkan_submission *submission)
{
  VYRE_TRY(vulkan_control_ensure(target));
  const uint64_t size = vulkan_control_size(&submission->sequence);
  if (size <= submission->control.size)
    return VYRE_OK;
  vulkan_recordings_destroy(target, submission); /* they name it */
  vulkan_buffer_destroy(target, &submission->control);
  return vulkan_buffer_create(target, 2 * size,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                  VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &submission->control);
}

static void
find_controlled(vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  submission->is_controlled = false;
  submission->first_controlled = UINT32_MAX;
  for (uint32_t i = 0; i < sequence->step_count; i++)
    submission->is_controlled |= sequence->steps[i].indirect.buffer.id != 0;
  for (uint32_t i = sequence->repeat_count; i-- > 0;) {
    if (!sequence->repeats[i].until.buffer.id)
      continue;
    submission->is_controlled = true;
    submission->first_controlled = sequence->repeats[i].first;
  }
}

/* Copies go by their own queue where that lets them go on beside what is running. */
static bool
is_better_apart(const vyre_target *target, const vulkan_submission *submission)
{
  const vulkan_queue *compute = &target->queues[VULKAN_COMPUTE];
  return submission->is_begun && target->choice.has_transfer && !submission->is_controlled && compute->submitted > compute->done;
}

static vyre_status
prepare(vyre_target *target, const vyre_sequence *sequence, bool is_begun, vulkan_submission *submission)
{
  submission->sequence = *sequence;
  submission->at = (vulkan_position){0};
  submission->is_begun = is_begun;
  submission->is_first = true;
  submission->is_done = false;
  submission->timing = (vyre_timing){0};
  find_controlled(submission);
  submission->is_apart = is_better_apart(target, submission);
  if (is_begun)
    VYRE_TRY(target_sequence_copy(target, sequence, &submission->copy, &submission->copy_size, &submission->sequence));
  if (sequence->step_ns) {
    if (!vyre_grow(&target->base.allocator, &submission->step_ns, &submission->step_ns_capacity, sequence->step_count,
                   sizeof *submission->step_ns))
      return VYRE_OUT_OF_MEMORY("for the times of steps");
    memset(submission->step_ns, 0, sizeof *submission->step_ns * sequence->step_count);
  }
  if (submission->is_controlled)
    VYRE_TRY(ensure_control(target, submission));
  return vulkan_plan_copies(target, submission);
}

/* The unused one with these steps, else the one that was used last. */
static vulkan_submission *
find_unused(vyre_target *target)
{
  vulkan_submission **at = &target->unused;
  while (*at && !vulkan_recording_find(target, *at))
    at = &(*at)->next;
  if (!*at)
    at = &target->unused;
  vulkan_submission *found = *at;
  if (found)
    *at = found->next;
  return found;
}

vyre_status
vulkan_submission_take(vyre_target *target, const vyre_sequence *sequence, bool is_begun, vulkan_submission **out)
{
  const vulkan_submission wanted = {.sequence = *sequence};
  VYRE_TRY(vulkan_shape_make(target, &wanted));
  vulkan_submission *submission = find_unused(target);
  if (!submission)
    VYRE_TRY(make_submission(target, &submission));
  vyre_status status = prepare(target, sequence, is_begun, submission);
  if (status)
    vulkan_submission_give(target, submission);
  else
    *out = submission;
  return status;
}
