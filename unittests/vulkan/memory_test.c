/* Failures of host memory, at each allocation in turn.  A target that fails between its opening and its closing leaks nothing,
 * and a target works normally after a failed submission.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "mix.h"
#include "sweep.h"

static test_memory memory;

/* ---- from opening to closing --------------------------------------------------------------------------------------------- */

static vyre_status
use(vyre_target *target)
{
  const mix_push push = {0, 3, 1};
  const vyre_kernel_spec spec = {.id = 7, .size = 4, .bits = 3};
  vyre_kernel_desc desc = mix_kernel;
  vyre_device_buffer buffer;
  vyre_kernel kernel;
  vyre_repeat_end end;
  vyre_ticket ticket;
  desc.specs = &spec;
  desc.spec_count = 1;
  VYRE_TRY(ops->allocate(target, 64, &buffer));
  VYRE_TRY(ops->compile(target, &desc, &kernel));
  const vyre_range range = {buffer, 0, 0};
  const vyre_step step = mix_step(kernel, &range, &push);
  const vyre_repeat repeat = {0, 1, 3, {buffer, 0, 4}};
  vyre_sequence sequence = {.steps = &step, .step_count = 1, .ends = &end};
  VYRE_TRY(ops->submit(target, &sequence, NULL));
  sequence.repeats = &repeat;
  sequence.repeat_count = 1;
  VYRE_TRY(ops->begin(target, &sequence, &ticket));
  return ops->wait(target, ticket, NULL);
}

/* Opens, uses and closes a target whose allocation number `failing` fails.  No allocation fails if `failing` is 0. */
static vyre_status
open_use_close(uint64_t failing)
{
  const vyre_allocator allocator = test_allocator(&memory, failing);
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_library(VULKAN_LIBRARY)};
  vyre_target *target;
  vyre_status status = ops->open(&options, &allocator, &target);
  if (!status) {
    status = use(target);
    status = vyre_status_join(status, ops->close(target));
  }
  assert_int_equal(memory.out, 0);
  return status;
}

TEST(a_target_without_memory_leaks_nothing)
{
  assert_ok(open_use_close(0));
  const uint32_t places = (uint32_t)memory.calls, stride = sweep_stride(places);
  assert_true(places > 5);
  for (uint32_t place = 1; place <= places; place += stride) {
    vyre_status status = open_use_close(place);
    assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
    assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    vyre_status_free(status);
  }
}

/* ---- a submission -------------------------------------------------------------------------------------------------------- */

enum { BUFFERS = 40 };

typedef struct many {
  vyre_target *target;
  vyre_range ranges[BUFFERS];
  vyre_step steps[2 * BUFFERS];
  vyre_upload uploads[BUFFERS];
  vyre_read reads[BUFFERS];
  uint32_t before[BUFFERS], after[BUFFERS];
  vyre_sequence sequence;
} many;

/* Opens a target, and builds a sequence that sets the word of each buffer to twice its value plus one, two times.  Each step of
 * the second time waits for a step of the first time. */
static void
open_many(many *f)
{
  static const mix_push push = {0, 2, 1};
  const vyre_allocator allocator = test_allocator(&memory, 0);
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_library(VULKAN_LIBRARY)};
  vyre_kernel kernel;
  memset(f, 0, sizeof *f);
  assert_ok(ops->open(&options, &allocator, &f->target));
  assert_ok(ops->compile(f->target, &mix_kernel, &kernel));
  for (uint32_t i = 0; i < BUFFERS; i++) {
    assert_ok(ops->allocate(f->target, 4, &f->ranges[i].buffer));
    f->before[i] = i;
    f->uploads[i] = (vyre_upload){f->ranges[i], &f->before[i]};
    f->reads[i] = (vyre_read){f->ranges[i], &f->after[i]};
  }
  for (uint32_t i = 0; i < 2 * BUFFERS; i++)
    f->steps[i] = mix_step(kernel, &f->ranges[i % BUFFERS], &push);
  f->sequence = (vyre_sequence){.uploads = f->uploads,
                                .upload_count = BUFFERS,
                                .steps = f->steps,
                                .step_count = 2 * BUFFERS,
                                .reads = f->reads,
                                .read_count = BUFFERS};
}

static void
check_many(many *f)
{
  memset(f->after, 0, sizeof f->after);
  assert_ok(ops->submit(f->target, &f->sequence, NULL));
  for (uint32_t i = 0; i < BUFFERS; i++)
    assert_int_equal(f->after[i], 4 * i + 3);
  f->sequence.step_count = 1; /* other commands after the same list of uses */
  f->sequence.read_count = 1;
  assert_ok(ops->submit(f->target, &f->sequence, NULL));
  assert_int_equal(f->after[0], 1);
}

/* Submits once while allocation number `failing` fails, if it is not 0.  Returns whether the submission failed. */
static bool
submit_many(uint64_t failing, uint32_t *places)
{
  many f;
  open_many(&f);
  memory.calls = 0;
  memory.fail_at = failing;
  vyre_status status = ops->submit(f.target, &f.sequence, NULL);
  const bool failed = status != VYRE_OK;
  *places = (uint32_t)memory.calls;
  memory.fail_at = 0;
  if (failed)
    assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  vyre_status_free(status);
  check_many(&f);
  assert_ok(ops->close(f.target));
  return failed;
}

TEST(a_target_works_after_memory_failed_once)
{
  uint32_t places, reached, failed = 0;
  assert_false(submit_many(0, &places));
  const uint32_t stride = sweep_stride(places);
  for (uint32_t place = 1; place <= places; place += stride) {
    failed += submit_many(place, &reached);
    assert_true(reached >= place);
  }
  assert_true(failed * stride > 10);
}
