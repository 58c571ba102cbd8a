/* Sequences of passes on a device that is lost.  After the first loss, the device is opened again and the result is the same.  A
 * second loss is an error or, if the device was chosen by cost, the passes run as plain C.  On a device with little memory, a
 * module runs in parts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "../vulkan/fake_vulkan.h"
#include "bundle.h"
#include "passmgr/resident/choose.h"
#include "program.h"
#include "passmgr/resident/resident.h"
#include "vyre/text.h"
#include "vyre/vir0.h"

static const char *const passes_there[] = {"canon", "cf", "pm", "dce", "simplify"};
static const char pipeline_text[] = "canon,cf,dce,pm,simplify,dce";
enum { ROWS = 3000, MANY_ROWS = 12000 /* enough that a device may pay */, CHAIN = 30, MOST_LINES = 500 };

static vyre_registry *registry;
static void (*lose)(uint32_t first, uint32_t count);
static void (*say)(const fake_vulkan_says *says);
static uint32_t remarks;
static uint32_t first_rows = 300; /* rows of the first random program; other programs have 300 */

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
  const fake_vulkan *fake = fake_vulkan_open(test_file("unittests/libfake-vulkan.so"));
  assert_non_null(fake);
  lose = fake->lose;
  say = fake->say;
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

static void
check_remark(void *user, const char *text)
{
  (void)user;
  remarks++;
  if (!strstr(text, "was lost twice, so passes continue on the CPU"))
    fail_msg("%s", text);
}

typedef struct result {
  vyre_status status;
  vyre_bytes bytes; /* the module as VIR0, if there is no error */
  uint64_t recoveries, sequences, waits;
  vyre_bytes stats;
  uint32_t messages;
} result;

static void
count_message(void *user, const vyre_diagnostic *diagnostic)
{
  (void)diagnostic;
  ++*(uint32_t *)user;
}

static void
count_text(void *user, const char *text, size_t length)
{
  (void)text;
  (void)length;
  ++*(uint32_t *)user;
}

/* Fills the module with random programs of `rows` rows.  If `rows` is 0, adds a program with a chain of variables, which needs more
 * iterations of dce than one submission has.  canon swaps its operands first. */
static void
fill_module(vyre_module *module, uint32_t rows)
{
  char text[4096];
  while (vyre_module_view(module)->rows < rows)
    bench_grow(module, vyre_module_view(module)->rows == 1 ? first_rows : 300, BENCH_DEEPEST);
  if (rows)
    return;
  int size = snprintf(text, sizeof text,
                      "program @chain workgroup(1, 1, 1) {\n"
                      "  buffer %%out : u32[] storage rw set(0) binding(0)\n  var %%v0 : u32\n"
                      "  %%k = add 5u32, gid.x\n  set %%v0, %%k\n");
  for (int i = 1; i < CHAIN; i++)
    size += snprintf(text + size, sizeof text - (size_t)size, "  var %%v%d : u32\n  set %%v%d, get %%v%d\n", i, i, i - 1);
  size += snprintf(text + size, sizeof text - (size_t)size, "  store %%out[0u32], get %%v%d\n}\n", CHAIN - 1);
  check(vyre_text_parse(module, text, (size_t)size, "chain", (vyre_diagnostics){0}));
}

/* Adds the module's rows to the count. */
static vyre_status
count_look(void *user, const vyre_observation *at)
{
  *(uint32_t *)user += vyre_module_view(at->module)->rows;
  return VYRE_OK;
}

static result
run_with(const char *passes, uint32_t rows, vyre_pipeline_options options)
{
  result r = {0};
  vyre_module *module;
  vyre_pipeline *pipeline;
  vyre_report *report;
  check(vyre_module_create(NULL, 1u << 20, &module));
  fill_module(module, rows);
  check(vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &pipeline));
  check(vyre_report_create(NULL, &report));
  options.report = report;
  options.diagnostics = (vyre_diagnostics){count_message, &r.messages};
  options.print = count_text;
  options.print_user = options.observe_user = &r.messages;
  r.status = vyre_pipeline_run(pipeline, module, &options);
  if (!r.status)
    check(vyre_vir0_write(module, NULL, 0, &r.bytes));
  r.recoveries = vyre_report_count(report, "(device)", "recoveries");
  r.sequences = vyre_report_count(report, "(device)", "sequences");
  r.waits = vyre_report_count(report, "(device)", "host waits");
  check(vyre_report_stats(report, VYRE_STATS_TEXT, &r.stats));
  vyre_report_destroy(report);
  vyre_pipeline_destroy(pipeline);
  vyre_module_destroy(module);
  return r;
}

static result
run(const char *passes, uint32_t rows, vyre_device *device, bool no_fuse)
{
  result r = run_with(passes, rows,
                      (vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = device, .no_fuse = no_fuse});
  vyre_bytes_free(&r.stats);
  return r;
}

static void
assert_as_plain(const char *passes, uint32_t rows, result *r)
{
  result plain = run(passes, rows, NULL, false);
  check(r->status);
  assert_int_equal(r->bytes.size, plain.bytes.size);
  assert_memory_equal(r->bytes.data, plain.bytes.data, plain.bytes.size);
  vyre_bytes_free(&r->bytes);
  vyre_bytes_free(&plain.bytes);
}

static int
compare_lines(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines other than the device's.  Returns their number. */
static uint32_t
sort_lines(vyre_bytes *stats, char *lines[MOST_LINES])
{
  uint32_t count = 0;
  check(vyre_bytes_append(stats, "", 1));
  for (char *line = strtok(stats->data, "\n"); line; line = strtok(NULL, "\n")) {
    assert_true(count < MOST_LINES);
    if (!strstr(line, "(device)"))
      lines[count++] = line;
  }
  qsort(lines, count, sizeof *lines, compare_lines);
  return count;
}

static void
assert_same_stats(vyre_bytes *a, vyre_bytes *b)
{
  char *lines_a[MOST_LINES], *lines_b[MOST_LINES];
  const uint32_t count = sort_lines(a, lines_a);
  assert_int_equal(sort_lines(b, lines_b), count);
  assert_true(count > 1);
  for (uint32_t i = 0; i < count; i++)
    assert_string_equal(lines_a[i], lines_b[i]);
}

static vyre_device *
open_device(void)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file("unittests/libfake-vulkan.so")};
  vyre_device *device;
  check(vyre_device_open(&vyre_target_vulkan, &options, NULL, &device));
  return device;
}

/* One device is lost at each submission of a run, with fused passes and pass by pass. */
TEST(a_device_that_is_lost_once_is_opened_again)
{
  static const struct {
    const char *passes;
    uint32_t rows;
  } cases[] = {{pipeline_text, ROWS}, {"canon,dce", 0}, {"shash,cid,cse,cid,no-op,cse,canon,cf", ROWS}};
  vyre_device *device = open_device();
  for (uint32_t i = 0; i < 12; i++) {
    const char *passes = cases[i / 4].passes;
    const uint32_t rows = cases[i / 4].rows;
    const bool no_fuse = i % 2;
    device->lazy_bytes = i & 2 ? 0 : UINT64_MAX; /* with 0, columns are read back late */
    lose(0, 0);
    result whole = run_with(
        passes, rows, (vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = device, .no_fuse = no_fuse});
    assert_as_plain(passes, rows, &whole);
    assert_int_equal(whole.recoveries, 0);
    assert_true(whole.sequences > 0 && whole.waits >= whole.sequences + (rows ? 0 : CHAIN / 8 - 1));
    for (uint32_t at = 0; at < whole.waits; at++) {
      lose(at, 1);
      result r =
          run_with(passes, rows,
                   (vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = device, .no_fuse = no_fuse});
      assert_as_plain(passes, rows, &r);
      assert_int_equal(r.recoveries, 1);
      assert_int_equal(r.sequences, whole.sequences);
      vyre_bytes stats = {0};
      check(vyre_bytes_append(&stats, whole.stats.data, whole.stats.size));
      assert_same_stats(&stats, &r.stats);
      vyre_bytes_free(&stats);
      vyre_bytes_free(&r.stats);
    }
    vyre_bytes_free(&whole.stats);
  }
  check(vyre_device_close(device));
}

TEST(a_second_loss_of_the_device_is_an_error)
{
  vyre_device *device = open_device();
  lose(0, 2);
  result r = run(pipeline_text, ROWS, device, false);
  assert_int_equal(vyre_status_code(r.status), VYRE_CODE_DEVICE);
  if (!strstr(vyre_status_text(r.status), "VK_ERROR_DEVICE_LOST") ||
      !strstr(vyre_status_text(r.status), "opened again for a second try"))
    fail_msg("%s", vyre_status_text(r.status));
  vyre_status_free(r.status);
  assert_int_equal(r.recoveries, 1);
  r = run(pipeline_text, ROWS, device, false); /* the next run opens the device again */
  assert_as_plain(pipeline_text, ROWS, &r);
  assert_int_equal(r.recoveries, 1);
  check(vyre_device_close(device));
}

/* Sets the device's costs to 0, and those of plain C to much. */
static void
prefer_the_device(vyre_device *device)
{
  const vyre_pass_record *other;
  device->costs = (device_costs){0};
  for (size_t i = 0; i < sizeof passes_there / sizeof *passes_there; i++)
    vyre_choose_learn_here(device, vyre_registry_find(registry, passes_there[i], strlen(passes_there[i]), &other), 1, 1000000);
}

TEST(passes_run_as_plain_c_after_a_second_loss_of_a_chosen_device)
{
  static const vyre_target_ops *const targets[] = {&vyre_target_vulkan, NULL};
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_file("unittests/libfake-vulkan.so"), .device = "0", .remark = check_remark};
  for (uint32_t no_fuse = 0; no_fuse < 2; no_fuse++) {
    vyre_device *device;
    remarks = 0;
    lose(0, 0);
    check(vyre_device_open_auto(targets, &options, NULL, &device));
    check(vyre_device_open_target(device, &vyre_target_vulkan));
    device->is_tried = true;
    prefer_the_device(device);
    result r = run(pipeline_text, MANY_ROWS, device, no_fuse);
    assert_as_plain(pipeline_text, MANY_ROWS, &r);
    lose(0, 1);
    prefer_the_device(device);
    r = run(pipeline_text, MANY_ROWS, device, no_fuse);
    assert_as_plain(pipeline_text, MANY_ROWS, &r);
    assert_true(r.recoveries == 1 && remarks == 0 && device->ops);
    lose(0, 2);
    prefer_the_device(device);
    r = run(pipeline_text, MANY_ROWS, device, no_fuse);
    assert_as_plain(pipeline_text, MANY_ROWS, &r);
    assert_int_equal(r.recoveries, 1);
    assert_int_equal(r.sequences, 0);
    assert_int_equal(remarks, 1);
    assert_null(device->ops);
    r = run(pipeline_text, MANY_ROWS, device, no_fuse); /* the device stays closed */
    assert_as_plain(pipeline_text, MANY_ROWS, &r);
    assert_int_equal(remarks, 1);
    check(vyre_device_close(device));
  }
}

/* Returns a device whose memory holds about 1,200 rows at once. */
static vyre_device *
open_small_device(void)
{
  lose(0, 0);
  say(&(fake_vulkan_says){.max_storage = 300 << 10});
  vyre_device *device = open_device();
  assert_in_range(vyre_device_part_rows(device), 1000, 1500);
  return device;
}

TEST(a_module_with_too_many_rows_runs_in_parts)
{
  static const char *const texts[] = {"canon,cf,dce,pm", "default<O2>", "cid,repeat<2>(canon,cf),fixpoint(canon,cf,pm,dce)"};
  vyre_device *small = open_small_device();
  say(&(fake_vulkan_says){0});
  vyre_device *large = open_device();
  for (uint32_t i = 0; i < 3; i++) {
    result whole = run_with(texts[i], 6000, (vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = large});
    result parts = run_with(texts[i], 6000, (vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = small});
    assert_true(parts.sequences >= 5 * (i ? 1 : whole.sequences));
    if (i == 0)
      assert_same_stats(&whole.stats, &parts.stats);
    assert_as_plain(texts[i], 6000, &whole);
    assert_as_plain(texts[i], 6000, &parts);
    vyre_bytes_free(&whole.stats);
    vyre_bytes_free(&parts.stats);
  }
  /* The first program alone has more rows than the device can hold. */
  first_rows = 5000;
  result r = run("canon,cf,dce", 14000, small, false);
  assert_true(14000 > vyre_device_most_rows(small) && r.sequences >= 8);
  assert_as_plain("canon,cf,dce", 14000, &r);
  first_rows = 300;
  r = run("canon,cf,dce", 1000, small, false);
  assert_int_equal(r.sequences, 1);
  assert_as_plain("canon,cf,dce", 1000, &r);
  check(vyre_device_close(small));
  check(vyre_device_close(large));
}

/* Messages and print are for the whole module, and a look callback sees all of it. */
TEST(messages_of_a_module_in_parts_are_those_of_the_whole)
{
  static const char *const texts[] = {"fixpoint<max=1>(canon,cf)", "canon,print,cf", "canon,cf"};
  vyre_device *device = open_small_device();
  for (uint32_t i = 0; i < 3; i++) {
    const bool is_observed = i == 2;
    result plain =
        run_with(texts[i], 6000,
                 (vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .observe = is_observed ? count_look : NULL});
    result r =
        run_with(texts[i], 6000,
                 (vyre_pipeline_options){
                     .struct_size = sizeof(vyre_pipeline_options), .device = device, .observe = is_observed ? count_look : NULL});
    assert_true(plain.messages > 0);
    assert_int_equal(r.messages, plain.messages);
    vyre_bytes_free(&r.stats);
    vyre_bytes_free(&plain.stats);
    vyre_bytes_free(&plain.bytes);
    assert_as_plain(texts[i], 6000, &r);
  }
  check(vyre_device_close(device));
  say(&(fake_vulkan_says){0});
}

TEST(a_device_that_is_lost_in_a_part_is_opened_again)
{
  vyre_device *device = open_small_device();
  lose(3, 1);
  result r = run(pipeline_text, 6000, device, false);
  assert_int_equal(r.recoveries, 1);
  assert_as_plain(pipeline_text, 6000, &r);
  lose(3, 2);
  r = run(pipeline_text, 6000, device, false);
  assert_int_equal(vyre_status_code(r.status), VYRE_CODE_DEVICE);
  vyre_status_free(r.status);
  check(vyre_device_close(device));
  say(&(fake_vulkan_says){0});
}

TEST_MAIN(prepare, finish)
