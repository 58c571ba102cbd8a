/* The CPU target: threads, faults, options and memory.  The conformance suite tests the behavior that targets have in common.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include <fenv.h>
#include <pthread.h>
#include <time.h>

#include "../module.h"
#include "../test_allocator.h"
#include "../messages.h"

static const vyre_target_ops *const ops = &vyre_target_cpu;

enum { GROUPS = 100000 };

static vyre_target *
open_with(uint32_t threads)
{
  const vyre_target_options options = {.struct_size = sizeof options, .threads = threads};
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  return target;
}

/* ---- kernels with the interface of vyre_c_write -------------------------------------------------------------------------- */

static uint32_t most_calls, calls_of[CPU_MOST_PARTS]; /* number of calls, and workgroups of each */

static void
note_call(const vyre_c_dispatch *d)
{
  const uint32_t at = __atomic_fetch_add(&most_calls, 1, __ATOMIC_RELAXED);
  if (at < CPU_MOST_PARTS)
    calls_of[at] = (uint32_t)d->count;
}

/* Stores a word for each workgroup, and adds it to a sum that workgroups share. */
static uint32_t
scatter(const vyre_c_dispatch *d)
{
  uint32_t *out = d->buffers[0].data, *sums = d->buffers[1].data;
  const uint32_t *push = d->buffers[2].data;
  note_call(d);
  for (uint64_t g = d->first; g < d->first + d->count; g++) {
    out[g] = (uint32_t)(g * 2654435761u) ^ push[0];
    __atomic_fetch_add(&sums[g % 7], out[g], __ATOMIC_RELAXED);
  }
  return 0;
}

/* Computes each word from the word before it. */
static uint32_t
chain(const vyre_c_dispatch *d)
{
  uint32_t *out = d->buffers[0].data;
  note_call(d);
  for (uint64_t g = d->first; g < d->first + d->count; g++)
    out[g] = g ? out[g - 1] * 3 + (uint32_t)g : 1;
  return 0;
}

/* Returns fault N at workgroup 1000 * N, for N from 1. */
static uint32_t
stop(const vyre_c_dispatch *d)
{
  for (uint64_t g = d->first; g < d->first + d->count; g++)
    if (g && g % 1000 == 0)
      return (uint32_t)(g / 1000);
  return 0;
}

/* Computes the least denormal float by a multiplication. */
static uint32_t
halve(const vyre_c_dispatch *d)
{
  float *out = d->buffers[0].data;
  note_call(d);
  for (uint64_t g = d->first; g < d->first + d->count; g++) {
    volatile float twice = 0x1p-148f;
    out[g] = twice * 0.5f;
  }
  return 0;
}

static const vyre_kernel_slot slots[] = {
    {.kind = VYRE_SLOT_STORAGE}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}, {.kind = VYRE_SLOT_PUSH}};

static vyre_status
run_kernel(vyre_target *target, vyre_kernel_function function, const vyre_range buffers[2], uint64_t first, uint64_t count)
{
  const vyre_kernel_desc desc = {.label = "kernel",
                                 .form = VYRE_KERNEL_C,
                                 .code = &function,
                                 .size = sizeof function,
                                 .workgroup = {8, 1, 1},
                                 .slots = slots,
                                 .slot_count = 3,
                                 .push_size = 4};
  const uint32_t push = 0x5a5a;
  vyre_step step = {.buffers = buffers,
                    .buffer_count = 2,
                    .push = &push,
                    .push_size = 4,
                    .groups = {GROUPS / 4, 2, 2},
                    .first = first,
                    .count = count};
  assert_ok(ops->compile(target, &desc, &step.kernel));
  return ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1}, NULL);
}

/* Changes the floating-point environment.  New threads inherit it. */
static void
round_down_and_flush_denormals(void)
{
  fesetround(FE_DOWNWARD);
#if defined(__x86_64__)
  uint32_t control;
  __asm__ volatile("stmxcsr %0" : "=m"(control));
  control |= 0x8040u; /* FTZ, DAZ */
  __asm__ volatile("ldmxcsr %0" : : "m"(control));
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  control |= UINT64_C(1) << 24; /* FZ */
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

/* ---- tests --------------------------------------------------------------------------------------------------------------- */

/* Runs the whole grid, then a part of it, and reads both buffers. */
static void
run_all(uint32_t threads, vyre_kernel_function function, uint32_t *out, uint32_t sums[8])
{
  vyre_target *target = open_with(threads);
  vyre_range buffers[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
  assert_ok(ops->allocate(target, GROUPS * sizeof *out, &buffers[0].buffer));
  assert_ok(ops->allocate(target, 8 * sizeof *sums, &buffers[1].buffer));
  const vyre_fill fills[] = {{buffers[0], 0}, {buffers[1], 0}};
  assert_ok(ops->submit(target, &(vyre_sequence){.fills = fills, .fill_count = 2}, NULL));
  assert_ok(run_kernel(target, function, buffers, 0, 0));
  assert_ok(run_kernel(target, function, buffers, 777, 60000));
  assert_ok(vyre_target_read(ops, target, buffers[0].buffer, 0, 0, out));
  assert_ok(vyre_target_read(ops, target, buffers[1].buffer, 0, 0, sums));
  assert_ok(ops->close(target));
}

TEST(bytes_are_the_same_for_any_number_of_threads)
{
  static const uint32_t threads[] = {1, 2, 3, 8, 64, 0};
  const vyre_kernel_function functions[] = {{scatter, false}, {chain, true}};
  uint32_t *one = malloc(GROUPS * sizeof *one), *more = malloc(GROUPS * sizeof *more), one_sums[8], more_sums[8];
  for (uint32_t f = 0; f < 2; f++) {
    run_all(1, functions[f], one, one_sums);
    assert_int_not_equal(one[GROUPS - 1], 0);
    for (uint32_t i = 0; i < sizeof threads / sizeof *threads; i++) {
      run_all(threads[i], functions[f], more, more_sums);
      assert_memory_equal(one, more, GROUPS * sizeof *one);
      assert_memory_equal(one_sums, more_sums, sizeof one_sums);
    }
  }
  free(one);
  free(more);
}

TEST(kernels_compute_in_the_default_floating_point_environment)
{
  static uint32_t out[GROUPS], sums[8];
  round_down_and_flush_denormals();
  most_calls = 0;
  run_all(4, (vyre_kernel_function){halve, false}, out, sums);
  const int rounding = fegetround();
  fesetenv(FE_DFL_ENV);
  assert_int_equal(rounding, FE_DOWNWARD);
  assert_true(most_calls > 1);
  for (uint32_t g = 0; g < GROUPS; g++)
    assert_int_equal(out[g], 1);
}

/* The parts cover all workgroups.  Kernels that run in order, and small grids, are one part. */
TEST(large_grids_are_split_among_threads)
{
  vyre_target *target = open_with(4);
  vyre_range buffers[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
  uint64_t sum = 0;
  assert_ok(ops->allocate(target, GROUPS * sizeof(uint32_t), &buffers[0].buffer));
  assert_ok(ops->allocate(target, 64, &buffers[1].buffer));
  most_calls = 0;
  assert_ok(run_kernel(target, (vyre_kernel_function){scatter, false}, buffers, 0, 0));
  assert_int_equal(most_calls, 16); /* four for each thread, to balance their load */
  for (uint32_t i = 0; i < most_calls; i++)
    sum += calls_of[i];
  assert_int_equal(sum, GROUPS);
  most_calls = 0;
  assert_ok(run_kernel(target, (vyre_kernel_function){chain, true}, buffers, 0, 0));
  assert_int_equal(most_calls, 1);
  most_calls = 0;
  assert_ok(run_kernel(target, (vyre_kernel_function){scatter, false}, buffers, 5, 1000));
  assert_int_equal(most_calls, 1);
  assert_int_equal(calls_of[0], 1000);
  assert_ok(ops->close(target));
}

/* Each of four parts waits until all have begun, so each thread runs one.  The caller's part is short, the others are long. */
typedef struct meeting {
  pthread_barrier_t barrier;
  pthread_t caller;
  _Atomic uint64_t sums[4];
} meeting;

static void
meet_and_count(void *user, uint32_t part)
{
  meeting *m = user;
  pthread_barrier_wait(&m->barrier);
  const uint64_t rounds = pthread_equal(pthread_self(), m->caller) ? 1 : 1000000;
  for (uint64_t i = 0; i < rounds; i++)
    m->sums[part]++;
  m->sums[part] = 7;
}

TEST(the_pool_returns_after_all_parts)
{
  cpu_pool *pool;
  meeting m = {.caller = pthread_self()};
  assert_ok(cpu_pool_open(vyre_allocator_default(), 4, &pool));
  assert_int_equal(cpu_pool_threads(pool), 4);
  assert_int_equal(pthread_barrier_init(&m.barrier, NULL, 4), 0);
  for (uint32_t turn = 0; turn < 5; turn++) {
    for (uint32_t i = 0; i < 4; i++)
      m.sums[i] = 0;
    cpu_pool_run(pool, 4, meet_and_count, &m);
    for (uint32_t i = 0; i < 4; i++)
      assert_int_equal(m.sums[i], 7);
  }
  pthread_barrier_destroy(&m.barrier);
  cpu_pool_close(pool);
}

/* Among several faults, the result does not depend on the order of threads. */
TEST(the_fault_of_the_first_group_is_reported)
{
  for (uint32_t threads = 1; threads <= 8; threads++) {
    vyre_target *target = open_with(threads);
    vyre_range buffers[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
    assert_ok(ops->allocate(target, 64, &buffers[0].buffer));
    assert_ok(ops->allocate(target, 64, &buffers[1].buffer));
    assert_fails(run_kernel(target, (vyre_kernel_function){stop, false}, buffers, 0, 0), VYRE_CODE_INPUT, "kernel 'kernel'",
                 "fault 1:");
    assert_fails(run_kernel(target, (vyre_kernel_function){stop, false}, buffers, 5500, 90000), VYRE_CODE_INPUT, "kernel 'kernel'",
                 "fault 6:");
    assert_ok(run_kernel(target, (vyre_kernel_function){stop, false}, buffers, 5001, 900));
    assert_ok(ops->close(target));
  }
}

/* Runs for more than a second. */
static uint32_t
linger(const vyre_c_dispatch *d)
{
  struct timespec start, now;
  note_call(d);
  clock_gettime(CLOCK_MONOTONIC, &start);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 1100);
  return 0;
}

/* The target checks the time after each step, so the second step does not begin. */
TEST(a_sequence_ends_at_its_timeout)
{
  const vyre_target_options options = {.struct_size = sizeof options, .threads = 1, .timeout = 1};
  const vyre_kernel_function function = {linger, true};
  const vyre_kernel_desc desc = {
      .label = "slow", .form = VYRE_KERNEL_C, .code = &function, .size = sizeof function, .workgroup = {1, 1, 1}};
  vyre_target *target;
  vyre_step steps[2] = {{.groups = {1, 1, 1}}};
  assert_ok(ops->open(&options, NULL, &target));
  assert_ok(ops->compile(target, &desc, &steps[0].kernel));
  steps[1] = steps[0];
  most_calls = 0;
  assert_fails(ops->submit(target, &(vyre_sequence){.steps = steps, .step_count = 2}, NULL), VYRE_CODE_DEVICE,
               "did not finish within 1 seconds", "kernel 'slow'");
  assert_int_equal(most_calls, 1);
  assert_ok(ops->close(target));
}

TEST(open_checks_its_options)
{
  vyre_device_info info;
  vyre_target *target;
  vyre_target_options good[] = {{.device = "0"}, {.device = "cpu"}, {.device = ""}, {.device = "2 threads", .threads = 2}};
  for (uint32_t i = 0; i < sizeof good / sizeof *good; i++) {
    good[i].struct_size = sizeof good[i];
    assert_ok(ops->open(&good[i], NULL, &target));
    assert_ok(ops->close(target));
  }
  const vyre_target_options other = {.struct_size = sizeof other, .device = "Radeon"},
                            library = {.struct_size = sizeof library, .library = "libvulkan.so.1"};
  assert_fails(ops->open(&other, NULL, &target), VYRE_CODE_DEVICE, "cpu: no device 'Radeon'", "0: CPU");
  assert_null(target);
  assert_fails(ops->open(&library, NULL, &target), VYRE_CODE_DEVICE, "cpu: cannot open 'libvulkan.so.1'", "has no library");
  target = open_with(1u << 31);
  ops->describe(target, &info);
  assert_non_null(strstr(info.name, "256 threads"));
  assert_ok(ops->close(target));
}

/* A multiple of 4 bytes suffices. */
TEST(unaligned_imports_are_refused)
{
  static _Alignas(16) unsigned char bytes[64];
  vyre_target *target = open_with(1);
  vyre_device_buffer buffer;
  assert_fails(ops->import(target, bytes + 2, 32, &buffer), VYRE_CODE_INPUT, "cpu: a buffer over memory at",
               "not aligned to 4 bytes");
  assert_ok(ops->import(target, bytes + 4, 32, &buffer));
  assert_ok(ops->close(target));
}

TEST(functions_that_cannot_be_called_are_refused)
{
  static const vyre_kernel_slot two[] = {{.kind = VYRE_SLOT_PUSH}, {.kind = VYRE_SLOT_PUSH}};
  vyre_kernel_function function = {scatter, false};
  vyre_kernel_desc desc = {.label = "two",
                           .form = VYRE_KERNEL_C,
                           .code = &function,
                           .size = sizeof function,
                           .workgroup = {1, 1, 1},
                           .slots = two,
                           .slot_count = 2};
  vyre_target *target = open_with(1);
  vyre_kernel kernel;
  assert_fails(ops->supports(target, &desc), VYRE_CODE_INPUT, "cpu: kernel 'two'", "2 slots of push constants");
  assert_fails(ops->compile(target, &desc, &kernel), VYRE_CODE_INPUT, "cpu: kernel 'two'", "2 slots of push constants");
  desc.slot_count = 1;
  assert_ok(ops->supports(target, &desc));
  function.run = NULL;
  assert_fails(ops->compile(target, &desc, &kernel), VYRE_CODE_INPUT, "cpu: kernel 'two'", "no function");
  assert_ok(ops->close(target));
}

/* Runs a kernel of each form and a repeat. */
static vyre_status
work_with(vyre_target *target, const vyre_module *module)
{
  vyre_range buffers[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
  static uint64_t shared[8];
  uint32_t left = 3;
  vyre_kernel_function function = {scatter, false};
  vyre_repeat_end end;
  const vyre_kernel_desc desc = {.form = VYRE_KERNEL_C,
                                 .code = &function,
                                 .size = sizeof function,
                                 .workgroup = {1, 1, 1},
                                 .slots = slots,
                                 .slot_count = 3,
                                 .push_size = 4};
  const vyre_kernel_spec spec = {7, 4, 5};
  vyre_kernel_program program = {.module = module, .row = vyre_module_view(module)->first[0]};
  const vyre_kernel_desc interpreted = {.form = VYRE_KERNEL_VIR,
                                        .code = &program,
                                        .size = sizeof program,
                                        .workgroup = {1, 1, 1},
                                        .slots = slots,
                                        .slot_count = 1,
                                        .specs = &spec,
                                        .spec_count = 1};
  vyre_step steps[] = {
      {.buffers = buffers, .buffer_count = 2, .push = &left, .push_size = 4, .groups = {16, 1, 1}},
      {.buffers = buffers, .buffer_count = 1, .groups = {2, 1, 1}},
  };
  const vyre_repeat repeat = {0, 1, 2, {{0}, 0, 0}};
  VYRE_TRY(ops->allocate(target, 64, &buffers[0].buffer));
  VYRE_TRY(ops->import(target, shared, sizeof shared, &buffers[1].buffer));
  VYRE_TRY(ops->compile(target, &desc, &steps[0].kernel));
  VYRE_TRY(ops->compile(target, &interpreted, &steps[1].kernel));
  return ops->submit(target, &(vyre_sequence){.steps = steps, .step_count = 2, .repeats = &repeat, .repeat_count = 1, .ends = &end},
                     NULL);
}

static vyre_status
open_and_work(const vyre_allocator *allocator, void *module)
{
  vyre_target *target;
  VYRE_TRY(ops->open(NULL, allocator, &target));
  vyre_status status = work_with(target, module);
  return vyre_status_join(status, ops->close(target));
}

TEST(running_out_of_host_memory_anywhere_leaves_nothing)
{
  vyre_module *module = parse("program @p workgroup(1, 1, 1) {\n"
                              "  spec %n : u32 = 1u32 id(7)\n"
                              "  buffer %x : u32[] storage rw set(0) binding(0)\n"
                              "  store %x[gid.x], %n\n"
                              "}\n");
  assert_in_range(test_each_failure(open_and_work, module, true, 1), 10, 100);
  vyre_module_destroy(module);
}
