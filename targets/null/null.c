/* The null target: a device with memory but without processors. Sequences fill, write and read its memory; it accepts no kernels.
 *
 * The device "idle" measures the host's work around sequences. It accepts kernels, and neither runs them nor copies memory. A read
 * of a single word receives 1, so counters report changes.
 *
 * This target is the skeleton of a new one. Copy the folder, replace the hooks one by one, and run the conformance suite after
 * each (docs/targets.md). The null target is in no list of targets, because only tests use it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"
#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct vyre_target {
  target_base base; /* must be first */
  bool is_idle;
};

/* The header of a memory block: its size, which freeing needs. */
typedef union null_memory {
  size_t size;
  max_align_t align;
} null_memory;

static vyre_status
create(vyre_target *target, uint64_t size, void **out_memory)
{
  const size_t bytes = sizeof(null_memory) + (size_t)size; /* cannot overflow, because `size` is at most max_buffer */
  null_memory *memory = target_resize(&target->base.allocator, NULL, 0, bytes);
  if (!memory)
    return vyre_status_mark_out_of_memory(
        VYRE_ERROR(VYRE_CODE_INPUT, "null: out of memory for a buffer of %" PRIu64 " bytes\nFix: use smaller buffers", size));
  target->base.counters.allocations++;
  memory->size = bytes;
  *out_memory = memory;
  return VYRE_OK;
}

static vyre_status
destroy(vyre_target *target, void *memory)
{
  vyre_release(&target->base.allocator, memory, ((const null_memory *)memory)->size);
  return VYRE_OK;
}

/* Called only for an idle device: the checks before this hook refuse every kernel if info.forms is empty. */
static vyre_status
compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out)
{
  target_kernel *kernel = vyre_allocate(&target->base.allocator, sizeof *kernel);
  if (!kernel)
    return VYRE_OUT_OF_MEMORY("for a kernel");
  *kernel = (target_kernel){0};
  vyre_status status = target_kernel_init(target, desc, kernel);
  if (status) {
    target_kernel_free(target, kernel);
    vyre_release(&target->base.allocator, kernel, sizeof *kernel);
    return status;
  }
  *out = kernel;
  return VYRE_OK;
}

static vyre_status
release(vyre_target *target, target_kernel *kernel)
{
  target_kernel_free(target, kernel);
  vyre_release(&target->base.allocator, kernel, sizeof *kernel);
  return VYRE_OK;
}

/* Counts what another device would do, and reports a change by each counter. */
static void
run_idle(const vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  for (uint32_t i = 0; i < sequence->repeat_count; i++)
    sequence->ends[i] = (vyre_repeat_end){sequence->repeats[i].times, 0};
  for (uint32_t i = 0; i < sequence->read_count; i++)
    if (target_range_size(target_buffer_get(target, sequence->reads[i].range.buffer), &sequence->reads[i].range) ==
        sizeof(uint32_t))
      *(uint32_t *)sequence->reads[i].data = 1;
  timing->launches = target_sequence_end(sequence, sequence->ends);
  timing->waits = timing->batches = 1;
}

static unsigned char *
bytes_at(const vyre_target *target, const vyre_range *range, uint64_t *out_size)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  *out_size = target_range_size(buffer, range);
  return (unsigned char *)((null_memory *)buffer->memory + 1) + range->offset;
}

/* Runs fills, uploads and reads in this order. There are no steps, because there are no kernels. */
static vyre_status
run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  uint64_t size;
  if (target->is_idle) {
    run_idle(target, sequence, timing);
    return VYRE_OK;
  }
  for (uint32_t i = 0; i < sequence->fill_count; i++) {
    unsigned char *to = bytes_at(target, &sequence->fills[i].range, &size);
    for (uint64_t k = 0; k < size; k++)
      memcpy(to + k, (const unsigned char *)&sequence->fills[i].value + k % 4, 1);
    timing->bytes_filled += size;
  }
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    unsigned char *to = bytes_at(target, &sequence->uploads[i].range, &size);
    memcpy(to, sequence->uploads[i].data, size);
    timing->bytes_up += size;
  }
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    const unsigned char *from = bytes_at(target, &sequence->reads[i].range, &size);
    memcpy(sequence->reads[i].data, from, size);
    timing->bytes_down += size;
  }
  timing->waits = timing->batches = 1;
  return VYRE_OK;
}

static const target_hooks hooks = {
    .name = "null",
    .create = create,
    .destroy = destroy,
    .compile = compile,
    .release = release,
    .run = run,
};

static vyre_status
close_target(vyre_target *target)
{
  if (!target)
    return VYRE_OK;
  const vyre_allocator allocator = target->base.allocator;
  vyre_status status = target_base_close(target);
  vyre_release(&allocator, target, sizeof *target);
  return status;
}

/* Adds the limits of a device with kernels. */
static void
add_kernels(vyre_device_info *info)
{
  info->forms = 1u << VYRE_KERNEL_SPIRV | 1u << VYRE_KERNEL_PTX;
  info->features = VYRE_DEVICE_INT8 | VYRE_DEVICE_INT16 | VYRE_DEVICE_INT64;
  info->max_push = 256;
  info->max_invocations = 1024;
  for (uint32_t i = 0; i < 3; i++) {
    info->max_workgroup[i] = info->max_invocations;
    info->max_groups[i] = INT32_MAX;
  }
}

/* Opens the target. A target with a driver reports here which of three is missing: the library, a symbol, or a device. */
static vyre_status
open_target(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out)
{
  const vyre_allocator *own = allocator ? allocator : vyre_allocator_default();
  *out = NULL;
  vyre_target_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_target_options"));
  vyre_target *target = vyre_allocate(own, sizeof *target);
  if (!target)
    return VYRE_OUT_OF_MEMORY("for a null target");
  target_base_init(&target->base, &hooks, own);
  target->is_idle = o.device && strcmp(o.device, "idle") == 0;
  target->base.info = (vyre_device_info){
      .kind = VYRE_DEVICE_OTHER,
      .usable = true,
      .capabilities = VYRE_TARGET_EMULATED,
      .memory = UINT64_C(1) << 30,
      .budget = UINT64_C(1) << 30,
      .max_buffer = UINT64_C(1) << 30,
      .max_storage = UINT64_C(1) << 30,
      .max_uniform = UINT64_C(1) << 30,
      .storage_align = sizeof(uint64_t),
      .uniform_align = sizeof(uint64_t),
  };
  if (target->is_idle)
    add_kernels(&target->base.info);
  snprintf(target->base.info.name, sizeof target->base.info.name, target->is_idle ? "idle device" : "null device");
  snprintf(target->base.info.driver, sizeof target->base.info.driver, "memory without kernels");
  *out = target;
  return VYRE_OK;
}

const vyre_target_ops vyre_target_null = {
    .struct_size = sizeof(vyre_target_ops),
    .name = "null",
    .open = open_target,
    .close = close_target,
    TARGET_OPERATIONS,
    .summary = "memory without kernels, the skeleton of a target",
};
