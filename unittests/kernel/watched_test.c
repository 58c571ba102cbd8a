/* Sequences of passes as a device is given them: each command has the barriers that it needs and no other, and what ran before
 * costs the driver nothing but the commands that are new.  On the device that there is, and on one with memory and a queue of its
 * own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>

#include "../vulkan/fake_vulkan.h"
#include "../vulkan/watcher.h"
#include "grown.h"

/* The second binds at most 64 KiB at once: no rules of passes, and few rows. */
static const char *const libraries[] = {"unittests/libfake-vulkan.so", "unittests/libfake-vulkan-discrete.so"};
static vyre_registry *registry;

static int
prepare(void **state)
{
  (void)state;
  registry = core_registry();
  return 0;
}

static int
finish(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

static void *
find(const char *library, const char *name)
{
  void *handle = dlopen(test_file("%s", library), RTLD_NOW | RTLD_LOCAL), *symbol = handle ? dlsym(handle, name) : NULL;
  assert_non_null(symbol);
  return symbol;
}

static vyre_device *
open_device(const char *library)
{
  const vyre_target_options options = {.library = test_file("%s", library)};
  vyre_device *device;
  assert_ok(vyre_device_open(&vyre_target_vulkan, &options, NULL, &device));
  return device;
}

/* Runs the passes as plain C and on the device, with the same result.  Returns the number of sequences on the device. */
static uint64_t
run_as_plain(const char *passes, uint32_t rows, uint32_t program_rows, vyre_device *device)
{
  vyre_report *report;
  assert_ok(vyre_report_create(NULL, &report));
  vyre_bytes plain = run_grown(registry, passes, rows, program_rows, &(vyre_pipeline_options){.report = report});
  assert_int_equal(vyre_report_count(report, "(device)", "sequences"), 0);
  assert_same_bytes(plain,
                    run_grown(registry, passes, rows, program_rows, &(vyre_pipeline_options){.device = device, .report = report}));
  const uint64_t sequences = vyre_report_count(report, "(device)", "sequences");
  vyre_report_destroy(report);
  return sequences;
}

/* `is_exact`: each barrier is left out once, which is for few commands, all of whose results the host reads from staging. */
static void
watch(const char *library, const char *passes, uint32_t rows, uint32_t program_rows, bool is_exact)
{
  fake_vulkan_watcher_function get;
  void *symbol = find(library, "fake_vulkan_watcher");
  memcpy(&get, &symbol, sizeof get);
  const watcher *it = get();
  watch_report report;
  it->begin(0);
  vyre_device *device = open_device(library);
  assert_true(run_as_plain(passes, rows, program_rows, device) > 0);
  watch_check(it->end(), is_exact, &report);
  assert_ok(vyre_device_close(device));
  print_message("%s %s: %u commands, %u barriers of %u parts, %u hazards, %u idle\n", library, passes, report.commands,
                report.barriers, report.parts, report.hazards, report.idle);
  if (report.hazards || report.idle)
    fail_msg("%s, %u rows: %s", passes, rows, report.text);
  assert_true(report.commands > 3 && report.barriers > 1);
}

TEST(sequences_have_the_barriers_that_they_need)
{
  static const char *const texts[] = {"limits", "canon", "canon,cf", "shash,cid", "canon,no-op,dce,cid", "simplify"};
  for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (uint32_t k = 0; k < (i < 5 ? 2u : 1u); k++)
      watch(libraries[k], texts[i], 40, 20, k == 1);
  watch(libraries[0], "canon,cf,pm,shash,cid,simplify,dce", 500, 250, false);
}

/* Once more the same: what is made is there, and a sequence is one submission and one wait. */
TEST(what_ran_before_is_submitted_alone)
{
  for (uint32_t i = 0; i < 2; i++) {
    const char *passes = i == 0 ? "canon,cf,pm" : "canon,cf";
    fake_vulkan_count_function count;
    void *symbol = find(libraries[i], "fake_vulkan_count");
    memcpy(&count, &symbol, sizeof count);
    count(NULL);
    vyre_device *device = open_device(libraries[i]);
    run_as_plain(passes, 120, 60, device);
    assert_true(count("vkCreate") > 0);
    count(NULL);
    assert_int_equal(run_as_plain(passes, 120, 60, device), 1);
    assert_int_equal(count("vkQueueSubmit"), 1);
    assert_int_equal(count("vkWaitSemaphores"), 1);
    assert_int_equal(count("vkBeginCommandBuffer"), 2);
    assert_int_equal(count("vkCreate") + count("vkAllocate") + count("vkMapMemory") + count("vkUpdateDescriptorSets"), 0);
    assert_ok(vyre_device_close(device));
  }
}

TEST_MAIN(prepare, finish)
