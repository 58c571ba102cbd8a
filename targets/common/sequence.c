/* Copies of sequences for submissions in flight, and the ends and launches of a sequence.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <string.h>

/* ---- copies -------------------------------------------------------------------------------------------------------------- */

static size_t
rounded(size_t size)
{
  return (size + 15u) & ~(size_t)15u;
}

/* Copies `size` bytes to the next place in the copy, and returns the place. */
static void *
put(void *copy, size_t *at, const void *from, size_t size)
{
  void *to = (char *)copy + *at;
  *at += rounded(size);
  if (size)
    memcpy(to, from, size);
  return to;
}

vyre_status
target_sequence_copy(const vyre_target *target, const vyre_sequence *from, void **out_memory, size_t *out_size, vyre_sequence *out)
{
  const vyre_sequence sequence = *from;
  size_t size = 16 + rounded(sizeof *sequence.fills * sequence.fill_count) +
                rounded(sizeof *sequence.uploads * sequence.upload_count) + rounded(sizeof *sequence.steps * sequence.step_count) +
                rounded(sizeof *sequence.reads * sequence.read_count) + rounded(sizeof *sequence.repeats * sequence.repeat_count);
  for (uint32_t i = 0; i < sequence.step_count; i++)
    size += rounded(sizeof(vyre_range) * sequence.steps[i].buffer_count) + rounded(sequence.steps[i].push_size);
  void *copy = target_resize(&target_base_of_const(target)->allocator, NULL, 0, size);
  if (!copy)
    return VYRE_OUT_OF_MEMORY("for a submission in flight");
  size_t at = 0;
  vyre_step *steps = put(copy, &at, sequence.steps, sizeof *sequence.steps * sequence.step_count);
  for (uint32_t i = 0; i < sequence.step_count; i++) {
    steps[i].buffers = put(copy, &at, sequence.steps[i].buffers, sizeof(vyre_range) * sequence.steps[i].buffer_count);
    steps[i].push = put(copy, &at, sequence.steps[i].push, sequence.steps[i].push_size);
  }
  *out = sequence;
  out->steps = steps;
  out->fills = put(copy, &at, sequence.fills, sizeof *sequence.fills * sequence.fill_count);
  out->uploads = put(copy, &at, sequence.uploads, sizeof *sequence.uploads * sequence.upload_count);
  out->reads = put(copy, &at, sequence.reads, sizeof *sequence.reads * sequence.read_count);
  out->repeats = put(copy, &at, sequence.repeats, sizeof *sequence.repeats * sequence.repeat_count);
  *out_memory = copy;
  *out_size = size;
  return VYRE_OK;
}

/* ---- the end of a sequence ----------------------------------------------------------------------------------------------- */

/* Returns the step after the last one that ran: a repeat whose word did not become 0 ends the steps. */
static uint32_t
find_end(const vyre_sequence *sequence, const vyre_repeat_end *ends)
{
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    if (sequence->repeats[i].until.buffer.id && ends[i].word != 0)
      return sequence->repeats[i].first + sequence->repeats[i].count;
  }
  return sequence->step_count;
}

uint32_t
target_sequence_end(const vyre_sequence *sequence, vyre_repeat_end *ends)
{
  const uint32_t end = find_end(sequence, ends);
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    if (!repeat->until.buffer.id)
      ends[i] = (vyre_repeat_end){repeat->first < end ? repeat->times : 0, 0};
  }
  uint32_t launches = 0, repeat = 0;
  for (uint32_t i = 0; i < end; i++) {
    const vyre_step *step = &sequence->steps[i];
    while (repeat < sequence->repeat_count && i >= sequence->repeats[repeat].first + sequence->repeats[repeat].count)
      repeat++;
    const bool repeats = repeat < sequence->repeat_count && i >= sequence->repeats[repeat].first;
    if (!step->indirect.buffer.id && step->groups[0] && step->groups[1] && step->groups[2])
      launches += repeats ? ends[repeat].iterations : 1;
  }
  return launches;
}

uint64_t
target_sequence_launches(const vyre_sequence *sequence, uint32_t step, uint32_t repeat, uint32_t most_iterations)
{
  uint64_t launches = sequence->step_count - step;
  for (uint32_t i = repeat; i < sequence->repeat_count; i++) {
    const vyre_repeat *r = &sequence->repeats[i];
    const bool is_bound = r->until.buffer.id && r->times > most_iterations;
    launches += r->count * (uint64_t)(is_bound ? most_iterations : r->times);
  }
  return launches;
}
