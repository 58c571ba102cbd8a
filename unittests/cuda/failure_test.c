/* The CUDA target with a failing driver.  Each call of each function fails once.  The error names the function and the code, no
 * host memory stays allocated, and the next target works.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../test_allocator.h"
#include "target.h"

#include "bundle.h"
#include "../messages.h"

static const vyre_target_ops *const ops = &vyre_target_cuda;
static test_memory memory; /* of the target */

/* ---- all functions of the target ----------------------------------------------------------------------------------------- */

typedef struct things {
  vyre_target *target;
  vyre_kernel kernels[TEST_KERNELS];
  vyre_range x, y;
} things;

/* Submits a sequence several times, so that later rounds launch its graph and change parameters. */
static vyre_status
use_graphs(const things *t)
{
  for (uint32_t round = 0; round < 4; round++) {
    uint32_t out[2] = {0};
    const uint32_t words[2] = {3, 4};
    const vyre_fill fill = {t->y, 9};
    const vyre_upload upload = {test_words(t->x.buffer, 0, 2), words};
    const vyre_step step = test_step(t->kernels[TEST_DIGIT], &t->x, 1, &round);
    const vyre_read read = {test_words(t->x.buffer, 0, 2), out};
    const vyre_sequence sequence = {&fill, 1, &upload, 1, &step, 1, &read, 1, NULL, 0, NULL, NULL};
    VYRE_TRY(ops->submit(t->target, &sequence, NULL));
    assert_int_equal(out[0], 9 + round);
    assert_int_equal(out[1], 4);
  }
  return VYRE_OK;
}

/* Begins sequences with a repeat, a grid from a buffer, and step times. */
static vyre_status
use_control(const things *t)
{
  const uint32_t words[4] = {2, 1, 1, 5};
  const vyre_upload upload = {test_words(t->x.buffer, 0, 4), words};
  const vyre_range aligned = test_words(t->y.buffer, 0, 1);
  vyre_step steps[] = {test_step(t->kernels[TEST_DOWN], &aligned, 1, NULL), test_step(t->kernels[TEST_MARK], &t->y, 2, NULL)};
  steps[1].indirect = test_words(t->x.buffer, 0, 3);
  const vyre_repeat repeat = {0, 1, 20, aligned};
  const vyre_fill fill = {t->y, 3};
  static vyre_repeat_end end; /* static, because close writes the results if a call fails before the wait */
  static uint64_t times[2];
  const vyre_sequence sequence = {&fill, 1, &upload, 1, steps, 2, NULL, 0, &repeat, 1, &end, times};
  vyre_ticket tickets[2];
  bool is_done = false;
  for (uint32_t i = 0; i < 2; i++)
    VYRE_TRY(ops->begin(t->target, &sequence, &tickets[i]));
  while (!is_done)
    VYRE_TRY(ops->poll(t->target, tickets[1], &is_done));
  for (uint32_t i = 0; i < 2; i++)
    VYRE_TRY(ops->wait(t->target, tickets[i], NULL));
  assert_int_equal(end.iterations, 3);
  return VYRE_OK;
}

static vyre_status
use_memory(const things *t)
{
  static _Alignas(4096) uint32_t page[1024];
  vyre_device_buffer imported, odd;
  const uint32_t word = 6;
  VYRE_TRY(ops->import(t->target, page, sizeof page, &imported));
  VYRE_TRY(vyre_target_write(ops, t->target, imported, 0, 4, &word));
  assert_int_equal(page[0], 6);
  VYRE_TRY(ops->free(t->target, imported));
  VYRE_TRY(ops->allocate(t->target, 7, &odd));
  const vyre_fill fill = {test_range(odd), 0x01020304};
  return ops->submit(t->target, &(vyre_sequence){.fills = &fill, .fill_count = 1}, NULL);
}

static vyre_status
use_meeting(const things *t)
{
  const vyre_range both[] = {t->x, t->y};
  const vyre_step step = {.kernel = t->kernels[TEST_MEET], .buffers = both, .buffer_count = 2, .groups = {2, 1, 1}};
  return ops->submit(t->target, &(vyre_sequence){.steps = &step, .step_count = 1}, NULL);
}

static vyre_status
use(vyre_target *target)
{
  things t = {.target = target};
  vyre_device_buffer x, y;
  VYRE_TRY(ops->allocate(target, 64, &x));
  VYRE_TRY(ops->allocate(target, 64, &y));
  t.x = test_range(x);
  t.y = test_range(y);
  for (uint32_t i = 0; i < TEST_BELL; i++)
    VYRE_TRY(ops->compile(target, test_kernel_desc((test_kernel)i), &t.kernels[i]));
  VYRE_TRY(ops->compile(target, test_kernel_desc(TEST_MEET), &t.kernels[TEST_MEET]));
  VYRE_TRY(use_graphs(&t));
  VYRE_TRY(use_control(&t));
  VYRE_TRY(use_memory(&t));
  return use_meeting(&t);
}

static bool looks; /* targets are opened for statistics of kernels */

static void
count_figure(void *user, const vyre_kernel_figure *figure)
{
  uint32_t *count = user;
  *count += figure->u64 != 0 || strcmp(figure->name, "Local memory") == 0 || strcmp(figure->name, "Shared memory") == 0;
}

/* Compiles a text twice, because a target for statistics has no cache. */
static vyre_status
use_statistics(vyre_target *target)
{
  const uint64_t before = sim.count("cuLinkComplete");
  for (uint32_t i = 0; i < 2; i++) {
    vyre_kernel kernel;
    uint32_t count = 0;
    VYRE_TRY(ops->compile(target, test_kernel_desc(TEST_DIGIT), &kernel));
    VYRE_TRY(ops->statistics(target, kernel, count_figure, &count));
    assert_int_equal(count, 6);
    assert_int_equal(sim.count("cuLinkComplete") - before, i + 1);
  }
  return VYRE_OK;
}

static char folder[] = "/tmp/vyre-cuda-failure-XXXXXX";

static vyre_status
open_use_close(void)
{
  const vyre_allocator allocator = test_allocator(&memory, 0);
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_file(SIMULATOR), .cache = folder, .timeout = 60, .statistics = looks};
  vyre_target *target;
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder); /* empties the cache, so that kernels are compiled */
  assert_int_equal(system(command), 0);
  vyre_status status = ops->open(&options, &allocator, &target);
  if (!status) {
    status = looks ? use_statistics(target) : use(target);
    status = vyre_status_join(status, ops->close(target));
  }
  if (memory.out)
    fail_msg("%d bytes are left: %s", (int)memory.out, status ? vyre_status_text(status) : "no error");
  return status;
}

/* ---- the sweep ----------------------------------------------------------------------------------------------------------- */

static const char *const names[] = {
#define CUDA_SYM(name, parameters) #name,
#include "targets/cuda/api/symbols.def"
};

static bool
is_one_of(const char *name, const char *const *all, size_t count)
{
  bool is = false;
  for (size_t i = 0; i < count; i++)
    is = is || strcmp(all[i], name) == 0;
  return is;
}

/* Functions whose failure may return no error.  A failed destruction leaves the object to the context's end, an allocation is tried
 * again after idle memory is freed, and error names are optional. */
static const char *const silent[] = {"cuCtxDestroy_v2",    "cuMemFreeHost",  "cuStreamDestroy_v2", "cuEventDestroy_v2",
                                     "cuGraphExecDestroy", "cuGraphDestroy", "cuGetErrorName",     "cuGetErrorString",
                                     "cuMemAlloc_v2",      "cuMemFree_v2"};
/* Functions whose failure leaves objects to the context's end.  After a failed wait the device may still use them, and after a
 * failed end of a capture nothing can be freed. */
static const char *const leaving_all[] = {"cuEventQuery", "cuEventSynchronize", "cuStreamEndCapture"};

TEST(the_target_works_without_failures)
{
  sim.make_fail(NULL, 0, CUDA_OK);
  sim.clear();
  test_ok(open_use_close());
  assert_string_equal(sim.messages(), "");
}

/* The sweep covers all functions, except those that only errors need. */
TEST(each_function_is_called)
{
  sim.clear();
  test_ok(open_use_close());
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const bool is_for_errors = strncmp(names[i], "cuGetError", 10) == 0 || strcmp(names[i], "cuStreamSynchronize") == 0;
    if (!is_for_errors && sim.count(names[i]) == 0)
      fail_msg("%s is never called", names[i]);
  }
}

/* Asserts that only the object of a failed destruction is left until the context ends. */
static void
check_what_is_left(const char *name, int number)
{
  const bool ends = strstr(name, "Destroy") || strstr(name, "Free") || strstr(name, "Unregister") || strstr(name, "Unload");
  const char *messages = sim.messages();
  uint32_t lines = 0;
  for (const char *at = messages; *at; at++)
    lines += *at == '\n';
  if (is_one_of(name, leaving_all, sizeof leaving_all / sizeof *leaving_all))
    return;
  if (looks && strcmp(name, "cuCtxPushCurrent_v2") == 0) /* the failing call may be in close, which then destroys nothing */
    return;
  if (lines > ends)
    fail_msg("%s, call %d, fails and leaves:\n%s", name, number, messages);
}

TEST(each_failing_call_is_named)
{
  enum { MOST_CALLS = 12 /* of each function */ };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    bool failed = true;
    for (uint64_t number = 1; failed && number <= MOST_CALLS; number++) {
      assert_true(sim.make_fail(names[i], number, CUDA_NOT_PERMITTED));
      sim.clear();
      vyre_status status = open_use_close();
      failed = sim.has_failed();
      sim.make_fail(NULL, 0, CUDA_OK);
      const char *text = vyre_status_text(status);
      const bool is_right = status ? strstr(text, names[i]) && strstr(text, "CUDA_ERROR_NOT_PERMITTED (800)") && has_fix(text)
                                   : !failed || is_one_of(names[i], silent, sizeof silent / sizeof *silent);
      if (!is_right)
        fail_msg("%s, call %d: '%s'", names[i], (int)number, status ? text : "no error");
      check_what_is_left(names[i], (int)number);
      vyre_status_free(status);
    }
  }
  test_ok(open_use_close());
}

TEST(each_failing_call_is_named_with_statistics)
{
  looks = true;
  each_failing_call_is_named(state);
  looks = false;
}

/* A failed allocation is tried again if idle memory can be freed.  Otherwise the error states the memory in use. */
TEST(out_of_memory_errors_state_the_memory_in_use)
{
  for (uint64_t number = 1; number <= 4; number++) {
    assert_true(sim.make_fail("cuMemAlloc_v2", number, CUDA_OUT_OF_MEMORY));
    vyre_status status = open_use_close();
    const bool failed = sim.has_failed();
    sim.make_fail(NULL, 0, CUDA_OK);
    if (status)
      test_refused(status, "bytes: this target holds");
    else
      assert_true(failed);
  }
  sim.make_fail("cuMemAlloc_v2", 0, CUDA_OUT_OF_MEMORY);
  vyre_status none = open_use_close();
  assert_true(vyre_status_is_out_of_memory(none));
  vyre_status_free(none);
  test_refused(open_use_close(), "allocating 64 bytes: this target holds 0 in buffers, 0 in its pool");
  sim.make_fail(NULL, 0, CUDA_OK);
}

TEST(memory_of_idle_submissions_is_freed_first)
{
  vyre_target *target = test_open(NULL);
  vyre_device_buffer buffer;
  test_buffer(target, 16, 1);
  const uint64_t streams = sim.count("cuStreamDestroy_v2");
  sim.make_fail("cuMemAlloc_v2", 1, CUDA_OUT_OF_MEMORY);
  test_ok(ops->allocate(target, 128, &buffer));
  assert_true(sim.has_failed());
  sim.make_fail(NULL, 0, CUDA_OK);
  assert_int_equal(sim.count("cuStreamDestroy_v2"), streams + 1);
  test_buffer(target, 16, 2);
  test_close(target);
}

static int
prepare(void **state)
{
  return mkdtemp(folder) ? test_find_simulator(state) : -1;
}

TEST_MAIN(prepare, NULL)
