/* The work of sequences that a device runs asynchronously, their shapes, and recordings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- shapes -------------------------------------------------------------------------------------------------------------- */

vyre_status
target_shape_begin(vyre_target *target, uint64_t most_words)
{
  target_base *base = target_base_of(target);
  base->shape.count = 0;
  return vyre_grow(&base->allocator, &base->shape.words, &base->shape.capacity, most_words, sizeof *base->shape.words)
             ? VYRE_OK
             : VYRE_OUT_OF_MEMORY(base->hooks->work->memory);
}

void
target_shape_put(vyre_target *target, uint64_t word)
{
  target_shape *shape = &target_base_of(target)->shape;
  shape->words[shape->count++] = word;
}

void
target_shape_put_bytes(vyre_target *target, const void *data, size_t size)
{
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, (const char *)data + at, size - at < sizeof word ? size - at : sizeof word);
    target_shape_put(target, word);
  }
}

void
target_shape_end(vyre_target *target)
{
  target_shape *shape = &target_base_of(target)->shape;
  shape->hash = XXH3_64bits(shape->words, sizeof *shape->words * shape->count);
}

void
target_shape_free(const target_base *base, target_shape *shape)
{
  vyre_release(&base->allocator, shape->words, sizeof *shape->words * shape->capacity);
  *shape = (target_shape){0};
}

/* ---- recordings ---------------------------------------------------------------------------------------------------------- */

target_recorded *
target_recorded_find(const target_base *base, const target_work *work)
{
  const target_shape *shape = &base->shape;
  target_recorded *found = work->recorded;
  while (found && (found->shape.hash != shape->hash || found->shape.count != shape->count ||
                   memcmp(found->shape.words, shape->words, sizeof *shape->words * shape->count) != 0))
    found = found->next;
  return found;
}

void
target_recorded_destroy(vyre_target *target, target_recorded *recorded)
{
  const target_base *base = target_base_of(target);
  base->hooks->work->destroy_recorded(target, recorded);
  target_shape_free(base, &recorded->shape);
  vyre_release(&base->allocator, recorded, base->hooks->work->recorded_size);
}

/* Destroys the rest of a list of recordings. */
static void
destroy_from(vyre_target *target, target_recorded **at)
{
  while (*at) {
    target_recorded *recorded = *at;
    *at = recorded->next;
    target_recorded_destroy(target, recorded);
  }
}

void
target_recorded_destroy_all(vyre_target *target, target_work *work)
{
  destroy_from(target, &work->recorded);
}

vyre_status
target_recorded_make(vyre_target *target, target_work *work, target_recorded **out)
{
  const target_base *base = target_base_of(target);
  const size_t size = sizeof *base->shape.words * base->shape.count;
  target_recorded **at = &work->recorded;
  for (uint32_t i = 1; *at && i < TARGET_MOST_RECORDED; i++)
    at = &(*at)->next;
  destroy_from(target, at);
  target_recorded *recorded = vyre_allocate(&base->allocator, base->hooks->work->recorded_size);
  uint64_t *words = vyre_allocate(&base->allocator, size);
  if (!recorded || !words) {
    vyre_release(&base->allocator, recorded, base->hooks->work->recorded_size);
    vyre_release(&base->allocator, words, size);
    return VYRE_OUT_OF_MEMORY(base->hooks->work->memory);
  }
  memcpy(words, base->shape.words, size);
  recorded->shape = (target_shape){words, base->shape.count, base->shape.count, base->shape.hash};
  *out = recorded;
  return VYRE_OK;
}

void
target_recorded_use(target_work *work, target_recorded *recorded)
{
  target_recorded **at = &work->recorded;
  while (*at && *at != recorded)
    at = &(*at)->next;
  if (*at)
    *at = recorded->next;
  recorded->next = work->recorded;
  work->recorded = recorded;
}

/* ---- take and return ----------------------------------------------------------------------------------------------------- */

static void
forget_sequence(const target_base *base, target_work *work)
{
  vyre_release(&base->allocator, work->copy, work->copy_size);
  vyre_status_free(work->status);
  work->copy = NULL;
  work->status = VYRE_OK;
  work->sequence = (vyre_sequence){0};
}

static void
destroy_work(vyre_target *target, target_work *work)
{
  const target_base *base = target_base_of(target);
  target_recorded_destroy_all(target, work);
  base->hooks->work->destroy(target, work);
  forget_sequence(base, work);
  vyre_release(&base->allocator, work->step_ns, sizeof *work->step_ns * work->step_ns_capacity);
  vyre_release(&base->allocator, work, base->hooks->work->size);
}

static vyre_status
make_work(vyre_target *target, target_work **out)
{
  const target_base *base = target_base_of(target);
  target_work *work = vyre_allocate(&base->allocator, base->hooks->work->size);
  if (!work)
    return VYRE_OUT_OF_MEMORY(base->hooks->work->memory);
  vyre_status status = base->hooks->work->fill(target, work);
  if (status)
    destroy_work(target, work);
  else
    *out = work;
  return status;
}

static void
find_controlled(target_work *work)
{
  const vyre_sequence *sequence = &work->sequence;
  work->is_controlled = false;
  work->first_controlled = UINT32_MAX;
  for (uint32_t i = 0; i < sequence->step_count; i++)
    work->is_controlled |= sequence->steps[i].indirect.buffer.id != 0;
  for (uint32_t i = sequence->repeat_count; i-- > 0;) {
    if (!sequence->repeats[i].until.buffer.id)
      continue;
    work->is_controlled = true;
    work->first_controlled = sequence->repeats[i].first;
  }
}

static vyre_status
prepare(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work *work)
{
  const target_base *base = target_base_of(target);
  work->sequence = *sequence;
  work->at = (target_position){0};
  work->is_begun = is_begun;
  work->is_first = true;
  work->is_done = false;
  work->timing = (vyre_timing){0};
  find_controlled(work);
  if (is_begun)
    VYRE_TRY(target_sequence_copy(target, sequence, &work->copy, &work->copy_size, &work->sequence));
  if (sequence->step_ns) {
    if (!vyre_grow(&base->allocator, &work->step_ns, &work->step_ns_capacity, sequence->step_count, sizeof *work->step_ns))
      return VYRE_OUT_OF_MEMORY("for the times of steps");
    memset(work->step_ns, 0, sizeof *work->step_ns * sequence->step_count);
  }
  return base->hooks->work->prepare(target, work);
}

/* Takes the unused work that has a recording for base.shape; otherwise the last used one. */
static target_work *
find_unused(target_base *base)
{
  target_work **at = &base->unused;
  while (*at && !target_recorded_find(base, *at))
    at = &(*at)->next;
  if (!*at)
    at = &base->unused;
  target_work *found = *at;
  if (found)
    *at = found->next;
  return found;
}

vyre_status
target_work_acquire(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out)
{
  target_base *base = target_base_of(target);
  const target_work wanted = {.sequence = *sequence, .is_first = true, .is_begun = is_begun};
  VYRE_TRY(base->hooks->work->make_shape(target, &wanted));
  target_work *work = find_unused(base);
  if (!work)
    VYRE_TRY(make_work(target, &work));
  vyre_status status = prepare(target, sequence, is_begun, work);
  if (status)
    target_work_release(target, work);
  else
    *out = work;
  return status;
}

void
target_work_release(vyre_target *target, target_work *work)
{
  target_base *base = target_base_of(target);
  if (base->hangs) {
    destroy_work(target, work); /* its device objects stay */
    return;
  }
  forget_sequence(base, work);
  work->next = base->unused;
  base->unused = work;
}

void
target_works_destroy(vyre_target *target)
{
  target_base *base = target_base_of(target);
  while (base->unused) {
    target_work *work = base->unused;
    base->unused = work->next;
    destroy_work(target, work);
  }
}

/* ---- the end of a work --------------------------------------------------------------------------------------------------- */

vyre_status
target_work_status(target_work *work)
{
  vyre_status status = work->status;
  work->status = VYRE_OK;
  return status;
}

static void
write_results(const vyre_target *target, target_work *work)
{
  const target_work_hooks *hooks = target_base_of_const(target)->hooks->work;
  const vyre_sequence *sequence = &work->sequence;
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    sequence->ends[i] = sequence->repeats[i].until.buffer.id ? hooks->repeat_end(work, i) : (vyre_repeat_end){0};
    work->timing.bytes_down += sizeof sequence->ends[i];
  }
  for (uint32_t i = 0; i < sequence->step_count && sequence->step_ns; i++)
    sequence->step_ns[i] = work->step_ns[i];
  /* The launches of indirect steps were counted on the device. */
  work->timing.launches =
      target_sequence_end(sequence, sequence->ends) + (work->is_controlled ? hooks->controlled_launches(work) : 0);
}

vyre_status
target_work_finish(vyre_target *target, void *item, vyre_timing *timing)
{
  const target_work_hooks *hooks = target_base_of(target)->hooks->work;
  const uint32_t allocations = timing->allocations; /* the caller counts them */
  target_work *work = item;
  vyre_status status = hooks->complete(target, work);
  if (!status) {
    hooks->take_reads(target, work);
    write_results(target, work);
  }
  *timing = work->timing;
  timing->allocations = allocations;
  target_work_release(target, work);
  return status;
}

vyre_status
target_work_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  target_work *work;
  VYRE_TRY(target_base_of(target)->hooks->work->begin(target, sequence, false, &work));
  return target_work_finish(target, work, timing);
}

vyre_status
target_work_start(vyre_target *target, const vyre_sequence *sequence, void **out)
{
  target_work *work;
  VYRE_TRY(target_base_of(target)->hooks->work->begin(target, sequence, true, &work));
  *out = work;
  return VYRE_OK;
}

/* ---- ranges -------------------------------------------------------------------------------------------------------------- */

void
target_each_range(const vyre_sequence *sequence, target_range_use *use, void *user)
{
  for (uint32_t i = 0; i < sequence->fill_count; i++)
    use(user, &sequence->fills[i].range, false);
  for (uint32_t i = 0; i < sequence->upload_count; i++)
    use(user, &sequence->uploads[i].range, false);
  for (uint32_t i = 0; i < sequence->read_count; i++)
    use(user, &sequence->reads[i].range, false);
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    for (uint32_t k = 0; k < sequence->steps[i].buffer_count; k++)
      use(user, &sequence->steps[i].buffers[k], true);
    use(user, &sequence->steps[i].indirect, true);
  }
  for (uint32_t i = 0; i < sequence->repeat_count; i++)
    use(user, &sequence->repeats[i].until, true);
}

vyre_status
target_too_many_groups(const vyre_target *target, const vyre_sequence *sequence, uint32_t index)
{
  const vyre_step *step = &sequence->steps[index];
  return vyre_status_note(VYRE_ERROR(VYRE_CODE_INPUT,
                                     "%s: kernel '%s': the buffer of indirect groups has more than %" PRIu32 " x %" PRIu32
                                     " x %" PRIu32
                                     ", the limit of the step\nFix: write fewer groups into the buffer, or raise the step's groups",
                                     target_base_of_const(target)->hooks->name, target_kernel_get(target, step->kernel)->label,
                                     step->groups[0], step->groups[1], step->groups[2]),
                          "in step %" PRIu32, index);
}

uint64_t
target_staging_size(uint64_t size)
{
  uint64_t grown = 4096;
  while (grown < size && grown <= UINT64_MAX / 2)
    grown *= 2;
  return grown < size ? size : grown;
}
