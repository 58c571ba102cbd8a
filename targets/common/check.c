/* Checks a whole sequence against the interface and the device's limits before any of it runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <inttypes.h>

vyre_status
target_range_get(const vyre_target *target, const vyre_range *range, const char *what, uint32_t index, target_buffer **out,
                 uint64_t *out_size)
{
  *out = NULL;
  *out_size = 0;
  target_buffer *buffer = target_buffer_get(target, range->buffer);
  if (!buffer)
    return vyre_status_note(target_no_such_buffer(target, range->buffer.id), "while checking %s %u", what, index);
  uint64_t size = range->size || range->offset > buffer->size ? range->size : buffer->size - range->offset;
  if (size == 0 || range->offset > buffer->size || size > buffer->size - range->offset)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: %s %u has %" PRIu64 " bytes at offset %" PRIu64 " of a buffer of %" PRIu64 " bytes\n"
                      "Fix: use a range inside its buffer that is not empty",
                      target_base_of_const(target)->hooks->name, what, index, size, range->offset, buffer->size);
  *out = buffer;
  *out_size = size;
  return VYRE_OK;
}

static vyre_status
check_written(const vyre_target *target, const target_buffer *buffer, const char *what, uint32_t index)
{
  if (!buffer->kept)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s %u writes to kept data\nFix: write to a buffer that is not kept",
                    target_base_of_const(target)->hooks->name, what, index);
}

static vyre_status
check_fill(const vyre_target *target, const vyre_fill *fill, uint32_t index)
{
  target_buffer *buffer;
  uint64_t size;
  VYRE_TRY(target_range_get(target, &fill->range, "fill", index, &buffer, &size));
  if (fill->range.offset % 4 || (size % 4 && fill->range.offset + size != buffer->size))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: fill %u has offset %" PRIu64 " and size %" PRIu64 ", which are not whole words\n"
                      "Fix: use multiples of 4, or fill up to the buffer's end",
                      target_base_of_const(target)->hooks->name, index, fill->range.offset, size);
  return check_written(target, buffer, "fill", index);
}

/* Checks a range of words that the target itself reads. */
static vyre_status
check_words(const vyre_target *target, const vyre_range *range, uint32_t words, const char *what, uint32_t index)
{
  target_buffer *buffer;
  uint64_t size;
  VYRE_TRY(target_range_get(target, range, what, index, &buffer, &size));
  if (size >= 4 * (uint64_t)words && range->offset % 4 == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: %s %u has %" PRIu64 " bytes at offset %" PRIu64 "\nFix: use %u words at an offset that is a multiple of 4",
                    target_base_of_const(target)->hooks->name, what, index, size, range->offset, words);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

static vyre_status
check_binding(const vyre_target *target, const target_kernel *kernel, uint32_t slot_index, uint32_t descriptor,
              uint32_t range_index, const vyre_range *range)
{
  const target_base *base = target_base_of_const(target);
  target_buffer *buffer;
  uint64_t size;
  VYRE_TRY(target_range_get(target, range, "buffer", range_index, &buffer, &size));
  const vyre_kernel_slot *slot = &kernel->slots[slot_index];
  if (target_slot_is_written(slot))
    VYRE_TRY(check_written(target, buffer, "buffer", range_index));
  if (target_slot_has_texels(slot->kind))
    return base->hooks->check_texels ? base->hooks->check_texels(target, kernel, slot_index, descriptor, range->offset, size)
                                     : VYRE_OK;
  const vyre_device_info *info = &base->info;
  bool is_uniform = slot->kind == VYRE_SLOT_UNIFORM;
  uint64_t limit = is_uniform ? info->max_uniform : info->max_storage;
  uint32_t align = is_uniform ? info->uniform_align : info->storage_align;
  if (size > limit)
    return TARGET_REJECTED(
        "%s: set %u binding %u has %" PRIu64 " bytes, but the device '%s' binds at most %" PRIu64 " as a %s buffer\n"
        "Fix: use a smaller range, or another device",
        base->hooks->name, slot->set, slot->binding, size, info->name, limit, is_uniform ? "uniform" : "storage");
  if (align && range->offset % align)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: set %u binding %u starts at byte %" PRIu64 " of its buffer, but the device '%s' needs a multiple of %u\n"
                      "Fix: align the range, or use a separate buffer",
                      base->hooks->name, slot->set, slot->binding, range->offset, info->name, align);
  return VYRE_OK;
}

static vyre_status
check_bindings(const vyre_target *target, const target_kernel *kernel, const vyre_step *step)
{
  const target_base *base = target_base_of_const(target);
  if (step->buffer_count != kernel->range_count || step->push_size != kernel->push_size || (step->buffer_count && !step->buffers) ||
      (step->push_size && !step->push))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: kernel '%s' has %u buffers and %u bytes of push constants, but its step has %u and %u\n"
                      "Fix: pass one buffer for each descriptor except samplers, and all push constants",
                      base->hooks->name, kernel->label, kernel->range_count, kernel->push_size,
                      step->buffers ? step->buffer_count : 0, step->push ? step->push_size : 0);
  uint32_t descriptor = 0, range = 0;
  for (uint32_t i = 0; i < kernel->slot_count; i++) {
    const vyre_slot_kind kind = kernel->slots[i].kind;
    for (uint32_t k = 0; kind != VYRE_SLOT_PUSH && k < target_slot_count(&kernel->slots[i]); k++, descriptor++) {
      if (kind == VYRE_SLOT_SAMPLER)
        continue;
      VYRE_TRY(vyre_status_note(check_binding(target, kernel, i, descriptor, range, &step->buffers[range]), "in kernel '%s'",
                                kernel->label));
      range++;
    }
  }
  return VYRE_OK;
}

static vyre_status
check_part(const target_base *base, const target_kernel *kernel, const vyre_step *step)
{
  if (step->first == 0 && step->count == 0)
    return VYRE_OK;
  if (!(base->info.capabilities & VYRE_TARGET_PARTS))
    return TARGET_REJECTED("%s: kernel '%s': the device '%s' cannot run a part of the workgroups\nFix: run all of them",
                           base->hooks->name, kernel->label, base->info.name);
  uint64_t groups = (uint64_t)step->groups[0] * step->groups[1];
  groups = step->groups[2] && groups > UINT64_MAX / step->groups[2] ? UINT64_MAX : groups * step->groups[2];
  if (step->count && step->first <= groups && step->count <= groups - step->first && step->indirect.buffer.id == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: kernel '%s' has a part of %" PRIu64 " workgroups from number %" PRIu64 " of %" PRIu64 "%s\n"
                    "Fix: use a part of the grid that is not empty, and no indirect groups",
                    base->hooks->name, kernel->label, step->count, step->first, groups,
                    step->indirect.buffer.id ? ", with indirect groups" : "");
}

static vyre_status
check_step(const vyre_target *target, const vyre_step *step)
{
  const target_base *base = target_base_of_const(target);
  const target_kernel *kernel = target_kernel_get(target, step->kernel);
  if (!kernel)
    return target_no_such_kernel(target, step->kernel.id);
  VYRE_TRY(check_bindings(target, kernel, step));
  for (uint32_t i = 0; i < 3; i++) {
    if (step->groups[i] > base->info.max_groups[i])
      return TARGET_REJECTED("%s: kernel '%s' has %u workgroups in %c, but the device '%s' allows at most %u\n"
                             "Fix: use fewer workgroups",
                             base->hooks->name, kernel->label, step->groups[i], "xyz"[i], base -> info.name,
                             base->info.max_groups[i]);
  }
  VYRE_TRY(check_part(base, kernel, step));
  if (step->indirect.buffer.id == 0)
    return VYRE_OK;
  if (!(base->info.capabilities & VYRE_TARGET_INDIRECT))
    return TARGET_REJECTED("%s: kernel '%s' has indirect groups, which the device '%s' does not support\n"
                           "Fix: read the buffer on the host, and pass the number of groups",
                           base->hooks->name, kernel->label, base->info.name);
  return check_words(target, &step->indirect, 3, "the buffer of indirect groups", 0);
}

/* ---- sequences ----------------------------------------------------------------------------------------------------------- */

static vyre_status
check_repeats(const vyre_target *target, const vyre_sequence *sequence)
{
  const char *name = target_base_of_const(target)->hooks->name;
  uint32_t next = 0;
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    if (repeat->first < next || repeat->count == 0 || repeat->first > sequence->step_count ||
        repeat->count > sequence->step_count - repeat->first || repeat->times == 0)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: repeat %u has %u steps from step %u of %u steps, %u times\n"
                        "Fix: use existing steps after those of earlier repeats, and at least one iteration",
                        name, i, repeat->count, repeat->first, sequence->step_count, repeat->times);
    next = repeat->first + repeat->count;
    if (repeat->until.buffer.id)
      VYRE_TRY(check_words(target, &repeat->until, 1, "the word that ends repeat", i));
  }
  return VYRE_OK;
}

static vyre_status
no_array(const vyre_target *target, const char *what)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: a sequence has %s, but their pointer is NULL\nFix: pass as many as the count, or set the count to 0",
                    target_base_of_const(target)->hooks->name, what);
}

static vyre_status
check_arrays(const vyre_target *target, const vyre_sequence *sequence)
{
  if (sequence->fill_count && !sequence->fills)
    return no_array(target, "fills");
  if (sequence->upload_count && !sequence->uploads)
    return no_array(target, "uploads");
  if (sequence->step_count && !sequence->steps)
    return no_array(target, "steps");
  if (sequence->read_count && !sequence->reads)
    return no_array(target, "reads");
  if (sequence->repeat_count && (!sequence->repeats || !sequence->ends))
    return no_array(target, "repeats or their ends");
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    if (!sequence->uploads[i].data)
      return no_array(target, "bytes to upload");
  }
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    if (!sequence->reads[i].data)
      return no_array(target, "bytes to read");
  }
  return VYRE_OK;
}

vyre_status
target_check_sequence(const vyre_target *target, const vyre_sequence *sequence)
{
  target_buffer *buffer;
  uint64_t size;
  VYRE_TRY(check_arrays(target, sequence));
  if (sequence->step_count && target_base_of_const(target)->statistics_only)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: a sequence has steps, but the target was opened for statistics only\n"
                      "Fix: run the steps on a target that was opened without the option for statistics",
                      target_base_of_const(target)->hooks->name);
  for (uint32_t i = 0; i < sequence->fill_count; i++)
    VYRE_TRY(check_fill(target, &sequence->fills[i], i));
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    VYRE_TRY(target_range_get(target, &sequence->uploads[i].range, "upload", i, &buffer, &size));
    VYRE_TRY(check_written(target, buffer, "upload", i));
  }
  for (uint32_t i = 0; i < sequence->step_count; i++)
    VYRE_TRY(vyre_status_note(check_step(target, &sequence->steps[i]), "while checking step %u", i));
  VYRE_TRY(check_repeats(target, sequence));
  for (uint32_t i = 0; i < sequence->read_count; i++)
    VYRE_TRY(target_range_get(target, &sequence->reads[i].range, "read", i, &buffer, &size));
  return VYRE_OK;
}
