/* Counts by CUDA's simulator the cost of sequences of passes, cold and warm.  A warm sequence is one graph and one wait, and
 * allocates, compiles and records nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "grown.h"
#include "target.h"

#include <inttypes.h>

enum { ROWS = 400, MANY = 20 /* rows of each of many programs */ };

static vyre_registry *registry;

static int
prepare(void **state)
{
  registry = core_registry();
  return test_find_simulator(state);
}

static int
finish(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

/* Runs the passes on the device, or as plain C if it is NULL. */
static vyre_bytes
run(const char *passes, uint32_t rows_a_program, vyre_device *device)
{
  return run_grown(registry, passes, ROWS, rows_a_program,
                   &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = device});
}

enum { WAITS, GRAPHS, KERNELS, LAUNCHES, UP, DOWN, FILLED, DEVICE, PINNED, LOADS, LINKS, CAPTURES, INSTANTIATED, COUNTED };
static const char *const counted[COUNTED] = {"waits",
                                             "graphs",
                                             "kernels",
                                             "cuLaunchKernel",
                                             "bytes_up",
                                             "bytes_down",
                                             "bytes_filled",
                                             "device_bytes",
                                             "pinned_bytes",
                                             "cuModuleLoadDataEx",
                                             "cuLinkCreate_v2",
                                             "cuStreamBeginCapture_v2",
                                             "cuGraphInstantiateWithFlags"};

typedef struct costs {
  uint64_t of[COUNTED];
} costs;

static costs
costs_of(const char *passes, uint32_t rows_a_program, vyre_device *device, const vyre_bytes *plain)
{
  costs c;
  for (uint32_t i = 0; i < COUNTED; i++)
    c.of[i] = sim.count(counted[i]);
  vyre_bytes there = run(passes, rows_a_program, device);
  for (uint32_t i = 0; i < COUNTED; i++) {
    assert_true(sim.count(counted[i]) != UINT64_MAX);
    c.of[i] = sim.count(counted[i]) - c.of[i];
  }
  assert_int_equal(there.size, plain->size);
  assert_memory_equal(there.data, plain->data, plain->size);
  vyre_bytes_free(&there);
  return c;
}

static void
print_costs(const char *passes, const char *when, const costs *c)
{
  print_message("%-28s %-8s", passes, when);
  for (uint32_t i = WAITS; i <= PINNED; i++)
    print_message(" %s %" PRIu64, counted[i], c->of[i]);
  print_message("\n");
}

/* A pipeline, its number of sequences, and the most kernels of a warm run.  All levels of a small program are one kernel. */
typedef struct passes_text {
  const char *text;
  uint32_t sequences, kernels;
} passes_text;

/* Runs a pipeline cold, then twice to record graphs, then warm, and checks the counts. */
static void
compare(const passes_text *what, uint32_t rows_a_program)
{
  enum { TIMES = 4 };
  static const char *const words[TIMES] = {"cold", "recorded", "recorded", "warm"};
  const char *passes = what->text;
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(SIMULATOR), .validate = true};
  vyre_device *device;
  costs c[TIMES];
  sim.clear();
  assert_ok(vyre_device_open(&vyre_target_cuda, &options, NULL, &device));
  vyre_bytes plain = run(passes, rows_a_program, NULL);
  for (uint32_t i = 0; i < TIMES; i++) {
    c[i] = costs_of(passes, rows_a_program, device, &plain);
    print_costs(passes, words[i], &c[i]);
  }
  const costs *cold = &c[0], *warm = &c[TIMES - 1];
  assert_int_equal(cold->of[WAITS],
                   what->sequences + test_metric(device->target, "kept_misses")); /* each constant is a separate upload */
  assert_true(cold->of[LAUNCHES] > 0 && cold->of[LAUNCHES] == cold->of[KERNELS] && cold->of[LOADS] > 0 && cold->of[DEVICE] > 0);
  assert_int_equal(cold->of[GRAPHS], 0);
  assert_int_equal(warm->of[WAITS], what->sequences);
  assert_in_range(warm->of[KERNELS], 1, what->kernels);
  assert_int_equal(warm->of[GRAPHS], what->sequences);
  for (uint32_t i = DEVICE; i < COUNTED; i++)
    assert_int_equal(warm->of[i], 0);
  assert_int_equal(warm->of[LAUNCHES], 0);
  assert_int_equal(warm->of[KERNELS], cold->of[KERNELS]);
  assert_int_equal(warm->of[DOWN], cold->of[DOWN]);
  assert_int_equal(warm->of[FILLED], cold->of[FILLED]);
  assert_true(warm->of[UP] <= cold->of[UP]); /* rules and facts of ops stay on the device */
  vyre_bytes_free(&plain);
  assert_ok(vyre_device_close(device));
  assert_string_equal(sim.messages(), "");
}

static const passes_text sequences[] = {
    {"canon", 1, 1},  {"canon,cf,pm", 1, 3}, {"shash,cid", 1, 2}, {"canon,cf,shash,cid", 1, 4},
    {"limits", 1, 1}, {"dce", 1, 1},         {"simplify", 1, 80}, {"canon,cf,shash,cid,pm,dce", 1, 6}};

TEST(a_warm_sequence_of_one_program_costs_a_graph_and_a_wait)
{
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
    compare(&sequences[i], ROWS);
}

TEST(a_warm_sequence_of_many_programs_costs_a_graph_and_a_wait)
{
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
    compare(&sequences[i], MANY);
}

TEST_MAIN(prepare, finish)
