/* Implements fake.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "fake.h"

static vyre_status
create(vyre_target *target, uint64_t size, void **out)
{
  fake_target *fake = fake_of(target);
  fake->base.counters.allocations++;
  if (fake->create_fails_after == 0)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "fake: no memory\nFix: use less");
  fake->create_fails_after--;
  fake_memory *memory = malloc(sizeof *memory);
  assert_non_null(memory);
  *memory = (fake_memory){.size = size, .bytes = calloc(1, size)};
  assert_non_null(memory->bytes);
  fake->made++;
  fake->bytes += size;
  *out = memory;
  return VYRE_OK;
}

static vyre_status
import(vyre_target *target, void *data, uint64_t size, void **out)
{
  fake_memory *memory = malloc(sizeof *memory);
  assert_non_null(memory);
  *memory = (fake_memory){.size = size, .bytes = data, .is_imported = true};
  fake_of(target)->made++;
  fake_of(target)->bytes += size;
  *out = memory;
  return VYRE_OK;
}

static vyre_status
destroy(vyre_target *target, void *item)
{
  fake_target *fake = fake_of(target);
  fake_memory *memory = item;
  fake->destroyed[fake->freed++ % FAKE_LOG] = memory->size;
  fake->bytes -= memory->size;
  if (!memory->is_imported)
    free(memory->bytes);
  free(memory);
  if (fake->create_fails_after == 0)
    fake->create_fails_after = 1;
  return VYRE_OK;
}

static vyre_status
compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out)
{
  const vyre_allocator *allocator = &target_base_of(target)->allocator;
  target_kernel *kernel = target_resize(allocator, NULL, 0, sizeof *kernel);
  if (!kernel)
    return VYRE_OUT_OF_MEMORY("for a fake kernel");
  *kernel = (target_kernel){0};
  vyre_status status = target_kernel_init(target, desc, kernel);
  if (status) {
    target_kernel_free(target, kernel);
    target_resize(allocator, kernel, sizeof *kernel, 0);
  } else {
    *out = kernel;
  }
  return status;
}

static vyre_status
release(vyre_target *target, target_kernel *kernel)
{
  target_kernel_free(target, kernel);
  target_resize(&target_base_of(target)->allocator, kernel, sizeof *kernel, 0);
  return VYRE_OK;
}

static unsigned char *
bytes_of(vyre_target *target, const vyre_range *range, uint64_t *out_size)
{
  target_buffer *buffer = target_buffer_get(target, range->buffer);
  *out_size = target_range_size(buffer, range);
  return ((fake_memory *)buffer->memory)->bytes + range->offset;
}

static vyre_status
run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  fake_target *fake = fake_of(target);
  uint64_t size;
  fake->runs++;
  timing->waits = 1;
  if (fake->run_loses)
    fake->base.lost = true;
  if (fake->run_loses || fake->run_fails)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "fake: nothing runs\nFix: try again");
  for (uint32_t i = 0; i < sequence->fill_count; i++) {
    unsigned char *bytes = bytes_of(target, &sequence->fills[i].range, &size);
    for (uint64_t k = 0; k < size; k++)
      bytes[k] = (unsigned char)(sequence->fills[i].value >> 8 * (k % 4));
    timing->bytes_filled += size;
  }
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    unsigned char *bytes = bytes_of(target, &sequence->uploads[i].range, &size);
    memcpy(bytes, sequence->uploads[i].data, size);
    timing->bytes_up += size;
  }
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    for (uint32_t k = 0; k < sequence->steps[i].buffer_count; k++) {
      unsigned char *bytes = bytes_of(target, &sequence->steps[i].buffers[k], &size);
      for (uint64_t at = 0; at < size; at += 4)
        bytes[at]++;
    }
    timing->launches++;
  }
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    unsigned char *bytes = bytes_of(target, &sequence->reads[i].range, &size);
    memcpy(sequence->reads[i].data, bytes, size);
    timing->bytes_down += size;
  }
  for (uint32_t i = 0; i < sequence->repeat_count; i++)
    sequence->ends[i] = (vyre_repeat_end){sequence->repeats[i].times, 0};
  return VYRE_OK;
}

/* ---- begun sequences ----------------------------------------------------------------------------------------------------- */

typedef struct fake_work {
  vyre_sequence sequence; /* the arrays are borrowed from the test */
  bool was_polled;
} fake_work;

static vyre_status
start(vyre_target *target, const vyre_sequence *sequence, void **out)
{
  if (fake_of(target)->run_fails)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "fake: nothing starts\nFix: try again");
  fake_work *work = malloc(sizeof *work);
  assert_non_null(work);
  *work = (fake_work){*sequence, false};
  *out = work;
  return VYRE_OK;
}

/* Reports the sequence as done from the second call on. */
static vyre_status
poll_work(vyre_target *target, void *item, bool *out_done)
{
  (void)target;
  fake_work *work = item;
  *out_done = work->was_polled;
  work->was_polled = true;
  return VYRE_OK;
}

static vyre_status
finish(vyre_target *target, void *item, vyre_timing *timing)
{
  fake_work *work = item;
  vyre_status status = run(target, &work->sequence, timing);
  free(work);
  return status;
}

static vyre_status
reopen(vyre_target *target)
{
  fake_of(target)->run_loses = false;
  return VYRE_OK;
}

static const target_hooks sync_hooks = {
    .name = "fake",
    .create = create,
    .destroy = destroy,
    .compile = compile,
    .release = release,
    .run = run,
};

static const target_hooks async_hooks = {
    .name = "fake",
    .create = create,
    .destroy = destroy,
    .compile = compile,
    .release = release,
    .run = run,
    .import = import,
    .start = start,
    .poll = poll_work,
    .finish = finish,
    .reopen = reopen,
};

vyre_target *
fake_open(bool is_async, const vyre_allocator *allocator)
{
  fake_target *fake = calloc(1, sizeof *fake);
  assert_non_null(fake);
  fake->create_fails_after = UINT32_MAX;
  target_base_init(&fake->base, is_async ? &async_hooks : &sync_hooks, allocator);
  fake->base.info = (vyre_device_info){
      .name = "a fake",
      .usable = true,
      .forms = 1u << VYRE_KERNEL_SPIRV,
      .memory = 32 * 1024,
      .budget = 32 * 1024,
      .max_buffer = 4096,
      .max_storage = 2048,
      .max_uniform = 256,
      .max_push = 16,
      .max_workgroup = {64, 64, 4},
      .max_invocations = 128,
      .max_groups = {1000, 1000, 1000},
      .storage_align = 16,
      .uniform_align = 64,
  };
  return (vyre_target *)(void *)fake;
}

vyre_status
fake_close(vyre_target *target)
{
  fake_target *fake = fake_of(target);
  vyre_status status = target_base_close(target);
  assert_int_equal(fake->made, fake->freed);
  assert_int_equal(fake->bytes, 0);
  free(fake);
  return status;
}
