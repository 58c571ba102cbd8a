/* Checks the commands of sequences of passes.  Each command has the barriers that it needs and no others, and a second run of a
 * sequence makes no new objects.  Runs on the real device, and on a simulated one with its own memory and transfer queue.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "../vulkan/fake_vulkan.h"
#include "bundle.h"
#include "program.h"
#include "vyre/passmgr.h"
#include "vyre/vir0.h"

/* The second library binds at most 64 KiB at once, so no rules of passes and few rows. */
static const char *const libraries[] = {"unittests/libfake-vulkan.so", "unittests/libfake-vulkan-discrete.so"};
static vyre_registry *registry;

static void
check(vyre_status status)
{
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

static int
prepare(void **state)
{
  (void)state;
  check(vyre_registry_create(NULL, &registry));
  check(vyre_registry_load_folder(registry, test_file("lib/vyre/passes"), VYRE_ORIGIN_CORE));
  return 0;
}

static int
finish(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

static vyre_device *
open_device(const char *library)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file("%s", library)};
  vyre_device *device;
  check(vyre_device_open(&vyre_target_vulkan, &options, NULL, &device));
  return device;
}

/* Runs the passes on the device, or as plain C if `device` is NULL. */
static vyre_bytes
run(const char *passes, uint32_t rows, uint32_t program_rows, vyre_device *device, uint64_t *out_sequences)
{
  vyre_module *module;
  vyre_pipeline *pipeline;
  vyre_report *report;
  vyre_bytes bytes = {0};
  check(vyre_module_create(NULL, 1u << 20, &module));
  while (vyre_module_view(module)->rows < rows)
    bench_grow(module, program_rows, BENCH_DEEPEST);
  check(vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &pipeline));
  check(vyre_report_create(NULL, &report));
  check(vyre_pipeline_run(
      pipeline, module,
      &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = device, .report = report}));
  check(vyre_vir0_write(module, NULL, 0, &bytes));
  *out_sequences = vyre_report_count(report, "(device)", "sequences");
  vyre_report_destroy(report);
  vyre_pipeline_destroy(pipeline);
  vyre_module_destroy(module);
  return bytes;
}

static void
run_as_plain(const char *passes, uint32_t rows, uint32_t program_rows, vyre_device *device, uint64_t *out_sequences)
{
  uint64_t none;
  vyre_bytes plain = run(passes, rows, program_rows, NULL, &none), there = run(passes, rows, program_rows, device, out_sequences);
  assert_int_equal(none, 0);
  assert_int_equal(plain.size, there.size);
  assert_memory_equal(plain.data, there.data, plain.size);
  vyre_bytes_free(&plain);
  vyre_bytes_free(&there);
}

/* Checks the hazards of a run.  With `is_exact`, also checks that each barrier is necessary, by omitting it.  This is for runs of
 * few commands whose results the host reads from staging. */
static void
watch(const char *library, const char *passes, uint32_t rows, uint32_t program_rows, bool is_exact)
{
  const watcher *it = fake_vulkan_open(test_file("%s", library))->watcher;
  watch_report report;
  uint64_t sequences;
  it->begin(0);
  vyre_device *device = open_device(library);
  run_as_plain(passes, rows, program_rows, device, &sequences);
  assert_true(sequences > 0);
  watch_check(it->end(), is_exact, &report);
  check(vyre_device_close(device));
  print_message("%s %s: %u commands, %u barriers of %u parts, %u hazards, %u idle\n", library, passes, report.commands,
                report.barriers, report.parts, report.hazards, report.idle);
  if (report.hazards || report.idle)
    fail_msg("%s, %u rows: %s", passes, rows, report.text);
  assert_true(report.commands > 3 && report.barriers > 1);
}

TEST(sequences_have_only_the_barriers_that_they_need)
{
  static const char *const texts[] = {"limits", "canon", "canon,cf", "shash,cid", "canon,no-op,dce,cid", "simplify"};
  for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (uint32_t k = 0; k < (i < 5 ? 2u : 1u); k++)
      watch(libraries[k], texts[i], 40, 20, k == 1);
  watch(libraries[0], "canon,cf,pm,shash,cid,simplify,dce", 500, 250, false);
}

/* The second run only records commands, and is one submission and one wait. */
TEST(a_second_run_makes_no_new_objects)
{
  for (uint32_t i = 0; i < 2; i++) {
    const char *passes = i == 0 ? "canon,cf,pm" : "canon,cf";
    uint32_t (*count)(const char *) = fake_vulkan_open(test_file("%s", libraries[i]))->count;
    uint64_t sequences;
    count(NULL);
    vyre_device *device = open_device(libraries[i]);
    run_as_plain(passes, 120, 60, device, &sequences);
    assert_true(count("vkCreate") > 0);
    count(NULL);
    run_as_plain(passes, 120, 60, device, &sequences);
    assert_int_equal(sequences, 1);
    assert_int_equal(count("vkQueueSubmit"), 1);
    assert_int_equal(count("vkWaitSemaphores"), 1);
    assert_int_equal(count("vkBeginCommandBuffer"), 2);
    assert_int_equal(count("vkCreate") + count("vkAllocate") + count("vkMapMemory") + count("vkUpdateDescriptorSets"), 0);
    check(vyre_device_close(device));
  }
}

TEST_MAIN(prepare, finish)
