/* Opening of the CUDA target, loss of its context, and recovery.  A kernel that does not end is abandoned.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"
#include "target.h"

#include "bundle.h"
#include "sweep.h"

static const vyre_target_ops *const ops = &vyre_target_cuda;

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

static vyre_status
open_and_close(const char *library, const char *device)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = library, .device = device};
  vyre_target *target;
  VYRE_TRY(ops->open(&options, NULL, &target));
  return ops->close(target);
}

TEST(a_missing_library_symbol_and_device_have_three_messages)
{
  test_refused(open_and_close("/nowhere/libcuda.so.1", NULL), "cuda: no library: ");
  test_refused(open_and_close("libc.so.6", NULL), "cuda: no symbol: the library 'libc.so.6' lacks cuInit");
  setenv("VYRE_CUDA_SIM_DEVICES", "0", 1);
  test_refused(open_and_close(test_file(SIMULATOR), NULL), "cuda: no device: ");
  unsetenv("VYRE_CUDA_SIM_DEVICES");
  test_ok(open_and_close(test_file(SIMULATOR), NULL));
}

static void
count_device(void *user, const vyre_device_info *info)
{
  uint32_t *count = user;
  assert_int_equal(info->index, *count);
  ++*count;
}

TEST(devices_are_listed_and_opened_by_index_kind_or_name)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(SIMULATOR)};
  uint32_t count = 0;
  setenv("VYRE_CUDA_SIM_DEVICES", "3", 1);
  test_ok(ops->list(&options, count_device, &count));
  assert_int_equal(count, 3);
  test_ok(open_and_close(test_file(SIMULATOR), "2"));
  test_ok(open_and_close(test_file(SIMULATOR), "discrete"));
  test_ok(open_and_close(test_file(SIMULATOR), "simulated"));
  test_refused(open_and_close(test_file(SIMULATOR), "3"), "none that fits '3'; there are: 0 '");
  test_refused(open_and_close(test_file(SIMULATOR), "integrated"), "none that fits 'integrated'");
  unsetenv("VYRE_CUDA_SIM_DEVICES");
}

/* The options name no library, because the simulator is in the folder of vyre's own libraries. */
TEST(the_simulator_is_a_device)
{
  const vyre_target_options options = {.struct_size = sizeof options, .device = "sim"};
  vyre_target *target;
  vyre_device_info info;
  test_ok(ops->open(&options, NULL, &target));
  ops->describe(target, &info);
  assert_true(info.usable);
  assert_true(info.capabilities & VYRE_TARGET_EMULATED);
  assert_true(info.capabilities & VYRE_TARGET_GRID_BARRIERS);
  assert_int_equal(info.forms, 1u << VYRE_KERNEL_PTX);
  assert_int_equal(info.subgroup, 32);
  assert_string_equal(info.architecture, "sm_80");
  assert_true(info.budget <= info.memory && info.budget > 0);
  test_ok(ops->close(target));
}

/* Each call of the target restores the thread's current context. */
TEST(the_context_of_the_embedder_stays_current)
{
  sim.clear();
  vyre_target *target = test_open(NULL);
  const uint64_t pushed = sim.count("cuCtxPushCurrent_v2"), popped = sim.count("cuCtxPopCurrent_v2");
  assert_int_equal(popped, pushed + 1); /* creating a context also pushes it */
  test_buffer(target, 4, 1);
  assert_int_equal(sim.count("cuCtxPopCurrent_v2") - popped, sim.count("cuCtxPushCurrent_v2") - pushed);
  test_close(target);
}

/* ---- loss ---------------------------------------------------------------------------------------------------------------- */

TEST(a_lost_context_is_replaced)
{
  vyre_target *target = test_open(NULL);
  const vyre_device_buffer before = test_buffer(target, 4, 1);
  uint32_t out;
  const vyre_read read = {{before, 0, 4}, &out};
  vyre_ticket ticket;
  test_works(target);
  test_refused(test_run_wild(target), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  assert_true(ops->is_lost(target));
  vyre_device_buffer none;
  test_refused(ops->allocate(target, 4, &none), "was lost in an earlier call");
  test_refused(ops->begin(target, &(vyre_sequence){.reads = &read, .read_count = 1}, &ticket), "was lost");
  test_ok(ops->recover(target));
  assert_false(ops->is_lost(target));
  assert_int_equal(test_metric(target, "recoveries"), 1);
  test_refused(vyre_target_read(ops, target, before, 0, 4, &out), "not a buffer of this target");
  test_works(target);
  test_ok(ops->close(target)); /* test_close would fail, because the simulator reports the wild access */
}

/* Any call may return the error.  The message has a Fix line for it. */
TEST(only_fatal_errors_lose_the_context)
{
  static const struct {
    cuda_result code;
    bool is_end;
    const char *name, *fix;
  } cases[] = {{CUDA_NOT_PERMITTED, false, "CUDA_ERROR_NOT_PERMITTED (800)", "Fix: choose another device"},
               {CUDA_LAUNCH_FAILED, true, "CUDA_ERROR_LAUNCH_FAILED (719)", "to find the access; recover the target"}};
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
  test_works(target);
  test_ok(ops->close(target));
}

/* ---- several in flight --------------------------------------------------------------------------------------------------- */

/* Returns the number of driver calls, except those that need no context. */
static uint64_t
count_calls(void)
{
  uint64_t all = 0;
#define CUDA_SYM(name, parameters) all += sim.count(#name);
#include "targets/cuda/api/symbols.def"
  return all - sim.count("cuGetErrorName") - sim.count("cuGetErrorString");
}

typedef struct flight {
  vyre_target *target;
  _Atomic uint32_t *bell;   /* the first sequence waits for it, and then loses the context */
  vyre_ticket done;         /* done before the loss */
  vyre_ticket lost, others; /* begun after the first sequence, on its buffer and on another one */
  vyre_ticket first;
  uint32_t outs[3]; /* of done, lost and others */
} flight;

static vyre_ticket
begin_digit(vyre_target *target, vyre_kernel kernel, vyre_range range, uint32_t *out)
{
  const uint32_t push = 2;
  const vyre_step step = test_step(kernel, &range, 1, &push);
  const vyre_read read = {test_words(range.buffer, 0, 1), out};
  vyre_ticket ticket;
  test_ok(ops->begin(target, &(vyre_sequence){.steps = &step, .step_count = 1, .reads = &read, .read_count = 1}, &ticket));
  return ticket;
}

static void
begin_flight(flight *f, vyre_target *target)
{
  static _Alignas(4096) _Atomic uint32_t words[1024];
  const vyre_kernel digit = test_compile(target, TEST_DIGIT);
  const vyre_range range = test_range(test_buffer(target, 16, 5));
  vyre_device_buffer bell;
  bool is_done = false;
  *f = (flight){.target = target, .bell = words, .outs = {88, 88, 88}};
  words[0] = words[1] = 0;
  f->done = begin_digit(target, digit, test_range(test_buffer(target, 1, 5)), &f->outs[0]);
  while (!is_done)
    test_ok(ops->poll(target, f->done, &is_done));
  test_ok(ops->import(target, (void *)words, sizeof words, &bell));
  const vyre_range bell_range = test_range(bell);
  const vyre_step steps[] = {test_step(test_compile(target, TEST_BELL), &bell_range, 1, NULL), test_wild_step(target, &range)};
  test_ok(ops->begin(target, &(vyre_sequence){.steps = steps, .step_count = 2}, &f->first));
  f->lost = begin_digit(target, digit, range, &f->outs[1]);
  f->others = begin_digit(target, digit, test_range(test_buffer(target, 1, 5)), &f->outs[2]);
  assert_false(ops->is_lost(target));
}

/* Asserts that a finished sequence has its result, and that the others are errors, without calls of the driver.  Recovers and
 * closes the target. */
static void
assert_flight_ends(flight *f, bool is_first_over)
{
  const uint64_t calls = count_calls();
  const vyre_ticket left[] = {f->lost, f->others, f->first};
  assert_true(ops->is_lost(f->target));
  for (size_t i = 0; i < (is_first_over ? 2 : 3); i++) {
    bool is_done = false;
    test_ok(ops->poll(f->target, left[i], &is_done));
    assert_true(is_done);
    test_refused(ops->wait(f->target, left[i], NULL), "was lost before ");
  }
  test_ok(ops->wait(f->target, f->done, NULL));
  assert_int_equal(f->outs[0], 17);
  assert_int_equal(f->outs[1], 88);
  assert_int_equal(f->outs[2], 88);
  assert_int_equal(count_calls(), calls);
  test_ok(ops->recover(f->target));
  test_works(f->target);
  test_ok(ops->close(f->target));
}

TEST(a_loss_ends_all_sequences_in_flight)
{
  flight f;
  begin_flight(&f, test_open(NULL));
  f.bell[0] = 1;
  test_refused(ops->wait(f.target, f.first, NULL), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  assert_flight_ends(&f, true);
}

TEST(poll_may_detect_a_loss)
{
  flight f;
  bool is_done;
  vyre_status status = VYRE_OK;
  begin_flight(&f, test_open(NULL));
  f.bell[0] = 1;
  while (!status) {
    status = ops->poll(f.target, f.lost, &is_done);
    assert_false(is_done);
  }
  test_refused(status, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  assert_flight_ends(&f, false);
}

/* No sequence was waited for before the loss. */
TEST(a_target_that_is_lost_in_flight_can_be_closed)
{
  flight f;
  begin_flight(&f, test_open(NULL));
  f.bell[0] = 1;
  test_ok(ops->flush(f.target));
  assert_true(ops->is_lost(f.target));
  test_refused(ops->wait(f.target, f.others, NULL), "was lost before ");
  test_ok(ops->close(f.target));
}

/* The second begin first continues the first sequence, whose next part fails. */
TEST(no_sequence_begins_after_a_loss)
{
  vyre_target *target = test_open(NULL);
  target->most_iterations = 2;
  const vyre_range left = test_range(test_buffer(target, 1, 5));
  const vyre_step step = test_step(test_compile(target, TEST_DOWN), &left, 1, NULL);
  const vyre_repeat repeat = {0, 1, 8, left};
  vyre_repeat_end end;
  const vyre_sequence sequence = {.steps = &step, .step_count = 1, .repeats = &repeat, .repeat_count = 1, .ends = &end};
  vyre_ticket first, second;
  test_ok(ops->begin(target, &sequence, &first));
  assert_true(sim.make_fail("cuEventRecord", 1, CUDA_ILLEGAL_ADDRESS)); /* in the second part of the first sequence */
  test_refused(ops->begin(target, &sequence, &second), "was lost in an earlier call");
  sim.make_fail(NULL, 0, CUDA_OK);
  test_refused(ops->wait(target, first, NULL), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  test_ok(ops->recover(target));
  test_works(target);
  test_ok(ops->close(target));
}

TEST(a_kernel_that_does_not_end_is_abandoned)
{
  static _Alignas(4096) _Atomic uint32_t words[1024];
  const vyre_target_options options = {.struct_size = sizeof options, .timeout = 1};
  vyre_target *target = test_open(&options);
  vyre_device_buffer bell;
  words[0] = 0;
  test_ok(ops->import(target, (void *)words, sizeof words, &bell));
  const vyre_range range = test_range(bell);
  const vyre_step step = test_step(test_compile(target, TEST_BELL), &range, 1, NULL);
  test_refused(ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1}, NULL), "CUDA_ERROR_TIMEOUT");
  assert_true(ops->is_lost(target));
  test_ok(ops->recover(target));
  test_works(target);
  words[0] = 1; /* ends the kernel, so that the process can end */
  while (words[1] == 0) {
  }
  test_close(target); /* the new context leaves no memory */
}

/* NVIDIA's drivers usually cannot create a context after one was lost. */
TEST(a_process_that_must_be_restarted_is_reported)
{
  setenv("VYRE_CUDA_SIM_STICKY", "process", 1);
  vyre_target *target = test_open(NULL);
  test_refused(test_run_wild(target), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  for (uint32_t i = 0; i < 2; i++) {
    test_refused(ops->recover(target), "the process must be restarted");
    assert_true(ops->is_lost(target));
  }
  test_ok(ops->close(target));
}

/* Runs each test in its own process, because some tests make new contexts impossible. */
int
main(int argc, char **argv)
{
  return run_alone(argc, argv, test_find_simulator);
}
