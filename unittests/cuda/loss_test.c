/* The CUDA target after an error that ends its context: a new context is made.  A kernel that does not end is left.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

static const vyre_target_ops *const ops = &vyre_target_cuda;

/* It works as if it had just been opened. */
static void
assert_works(vyre_target *target)
{
  const uint32_t push = 2;
  uint32_t out = 0;
  const vyre_range range = test_range(test_buffer(target, 1, 5));
  const vyre_step step = test_step(test_compile(target, TEST_DIGIT), &range, 1, &push);
  const vyre_read read = {range, &out};
  test_ok(ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1, .reads = &read, .read_count = 1}, NULL));
  assert_int_equal(out, 17);
}

static void
a_lost_context_is_made_anew(void **state)
{
  (void)state;
  setenv("VYRE_CUDA_SIM_STICKY", "context", 1);
  vyre_target *target = test_open(NULL);
  const vyre_device_buffer before = test_buffer(target, 4, 1);
  uint32_t out;
  assert_works(target);
  test_refused(test_run_wild(target), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  assert_true(ops->is_lost(target));
  vyre_device_buffer none;
  test_refused(ops->allocate(target, 4, &none), "was lost in an earlier call");
  test_ok(ops->recover(target));
  assert_false(ops->is_lost(target));
  assert_int_equal(test_metric(target, "recoveries"), 1);
  test_refused(vyre_target_read(ops, target, before, 0, 4, &out), "no buffer of this target");
  assert_works(target);
  test_ok(ops->close(target)); /* the simulator has its messages of the wild access */
}

/* Of whatever call says it: and what to do about it is told. */
static void
errors_that_end_a_context_are_told_from_others(void **state)
{
  (void)state;
  static const struct {
    cuda_result code;
    bool is_end;
    const char *name, *fix;
  } cases[] = {{CUDA_NOT_PERMITTED, false, "CUDA_ERROR_NOT_PERMITTED (800)", "Fix: choose another device"},
               {CUDA_LAUNCH_FAILED, true, "CUDA_ERROR_LAUNCH_FAILED (719)", "to find the access; recover the target"}};
  setenv("VYRE_CUDA_SIM_STICKY", "context", 1);
  vyre_target *target = test_open(NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_device_buffer buffer;
    assert_true(sim.make_fail("cuMemAlloc_v2", 1, cases[i].code));
    vyre_status status = ops->allocate(target, 64, &buffer);
    sim.make_fail(NULL, 0, CUDA_OK);
    assert_non_null(strstr(vyre_status_text(status), cases[i].fix));
    test_refused(status, cases[i].name);
    assert_int_equal(ops->is_lost(target), cases[i].is_end);
  }
  test_ok(ops->recover(target));
  assert_works(target);
  test_ok(ops->close(target));
}

/* What was begun before fails when it is waited for. */
static void
what_was_begun_is_lost_too(void **state)
{
  (void)state;
  setenv("VYRE_CUDA_SIM_STICKY", "context", 1);
  vyre_target *target = test_open(NULL);
  const vyre_range range = test_range(test_buffer(target, 1, 5));
  const uint32_t push = 1;
  const vyre_step step = test_step(test_compile(target, TEST_DIGIT), &range, 1, &push);
  uint32_t out = 88;
  const vyre_read read = {range, &out};
  vyre_ticket ticket;
  vyre_status status = test_run_wild(target);
  test_refused(status, "700");
  test_refused(ops->begin(target, &(vyre_sequence){.steps = &step, .step_count = 1, .reads = &read, .read_count = 1}, &ticket),
               "was lost");
  assert_int_equal(out, 88);
  test_ok(ops->close(target));
}

static void
a_kernel_that_does_not_end_is_left(void **state)
{
  (void)state;
  static _Alignas(4096) _Atomic uint32_t words[1024];
  setenv("VYRE_CUDA_SIM_STICKY", "context", 1);
  const vyre_target_options options = {.timeout = 1};
  vyre_target *target = test_open(&options);
  vyre_device_buffer bell;
  words[0] = 0;
  test_ok(ops->import(target, (void *)words, sizeof words, &bell));
  const vyre_range range = test_range(bell);
  const vyre_step step = test_step(test_compile(target, TEST_BELL), &range, 1, NULL);
  test_refused(ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1}, NULL), "CUDA_ERROR_TIMEOUT");
  assert_true(ops->is_lost(target));
  test_ok(ops->recover(target));
  assert_works(target);
  words[0] = 1; /* so that the process can end */
  while (words[1] == 0) {
  }
  test_ok(ops->close(target));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lost_context_is_made_anew),
      cmocka_unit_test(errors_that_end_a_context_are_told_from_others),
      cmocka_unit_test(what_was_begun_is_lost_too),
      cmocka_unit_test(a_kernel_that_does_not_end_is_left),
  };
  return cmocka_run_group_tests_name("cuda/loss", tests, test_find_simulator, NULL);
}
