/* Host memory that fails once, at each allocation of a submission: it is an error, and the target goes on as if nothing had been.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../test.h"
#include "messages.h"
#include "sweep.h"
#include "vyre/target.h"

#include "mix.h"

enum { BUFFERS = 40 };

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static int32_t left = -1; /* allocations that go well before one that fails; negative: all do */

static void *
resize(void *user, void *data, size_t old_size, size_t size)
{
  (void)user;
  if (size == 0) {
    free(data);
    return NULL;
  }
  return size > old_size && left >= 0 && left-- == 0 ? NULL : realloc(data, size);
}

typedef struct fixture {
  vyre_target *target;
  vyre_range ranges[BUFFERS];
  mix_push pushes[2 * BUFFERS];
  vyre_step steps[2 * BUFFERS];
  vyre_upload uploads[BUFFERS];
  vyre_read reads[BUFFERS];
  uint32_t before[BUFFERS], after[BUFFERS];
  vyre_sequence sequence;
} fixture;

/* Each buffer's word becomes twice itself and one, in their order, and then once more, so that each of these waits for another. */
static void
open_fixture(fixture *f)
{
  vyre_allocator allocator = *vyre_allocator_default();
  vyre_kernel kernel;
  allocator.resize = resize;
  memset(f, 0, sizeof *f);
  assert_ok(ops->open(NULL, &allocator, &f->target));
  assert_ok(ops->compile(f->target, &mix_kernel, &kernel));
  for (uint32_t i = 0; i < BUFFERS; i++) {
    assert_ok(ops->allocate(f->target, 4, &f->ranges[i].buffer));
    f->before[i] = i;
    f->uploads[i] = (vyre_upload){f->ranges[i], &f->before[i]};
    f->reads[i] = (vyre_read){f->ranges[i], &f->after[i]};
  }
  for (uint32_t i = 0; i < 2 * BUFFERS; i++) {
    f->pushes[i] = (mix_push){0, 2, 1};
    f->steps[i] = mix_step(kernel, &f->ranges[i % BUFFERS], &f->pushes[i]);
  }
  f->sequence = (vyre_sequence){.uploads = f->uploads,
                                .upload_count = BUFFERS,
                                .steps = f->steps,
                                .step_count = 2 * BUFFERS,
                                .reads = f->reads,
                                .read_count = BUFFERS};
}

static void
check(fixture *f)
{
  memset(f->after, 0, sizeof f->after);
  assert_ok(ops->submit(f->target, &f->sequence, NULL));
  for (uint32_t i = 0; i < BUFFERS; i++)
    assert_int_equal(f->after[i], 4 * i + 3);
}

TEST(a_target_goes_on_after_memory_failed_once)
{
  fixture f;
  open_fixture(&f);
  left = INT32_MAX;
  assert_ok(ops->submit(f.target, &f.sequence, NULL));
  const int32_t places = INT32_MAX - left, stride = (int32_t)sweep_stride((uint32_t)places);
  left = -1;
  assert_ok(ops->close(f.target));
  int32_t failed = 0;
  for (int32_t place = 0; place < places; place += stride) {
    open_fixture(&f);
    left = place;
    vyre_status status = ops->submit(f.target, &f.sequence, NULL);
    assert_true(left < 0);
    left = -1;
    if (status) {
      assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
      failed++;
    }
    vyre_status_free(status);
    check(&f);
    f.sequence.step_count = 1; /* other commands, which find the list as it was left */
    f.sequence.read_count = 1;
    assert_ok(ops->submit(f.target, &f.sequence, NULL));
    assert_int_equal(f.after[0], 1);
    assert_ok(ops->close(f.target));
  }
  assert_true(failed * stride > 10);
}
