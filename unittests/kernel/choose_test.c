/* Chooses by measured costs whether passes run on a device or as plain C.  The results are the same.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "grown.h"
#include "passmgr/resident/choose.h"

enum { ROWS = 12000 /* enough that a device may pay for three passes, and few enough for its limits */ };

static const vyre_target_ops *const here[] = {&vyre_target_cpu, NULL}, *const there[] = {&vyre_target_cpu, &vyre_target_vulkan,
                                                                                         NULL};
static const double much = 1e12;

static vyre_registry *registry;
static char name[256]; /* of a device */
static uint64_t *seen; /* set to the count of sweeps.seen by a run whose passes are not fused; NULL if runs are fused */

static void
note_name(void *user, const vyre_device_info *info)
{
  (void)user;
  if (info->usable)
    snprintf(name, sizeof name, "%s", info->name);
}

static int
load_passes(void **state)
{
  static const char *const passes[] = {"canon", "cf", "cid", "pm", "shash", "dce", "simplify"};
  (void)state;
  assert_ok(vyre_registry_create(NULL, &registry));
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    assert_ok(vyre_registry_load(registry, test_file("lib/vyre/passes/%s.so", passes[i]), VYRE_ORIGIN_CORE));
  assert_ok(vyre_registry_load(registry, test_file("lit-tests/plugins/sweeps.so"), VYRE_ORIGIN_OUTSIDE));
  assert_ok(vyre_target_vulkan.list(NULL, note_name, NULL));
  assert_true(name[0]);
  return 0;
}

static int
end_passes(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

/* Counts of the device. */
typedef struct figures {
  uint64_t sequences, launches, up, down;
} figures;

/* Returns a module after the pipeline, in its binary form.  `out` may be NULL. */
static vyre_bytes
run(const char *text, uint32_t rows, uint32_t rows_a_program, vyre_device *device, figures *out)
{
  vyre_report *report;
  assert_ok(vyre_report_create(NULL, &report));
  vyre_bytes bytes =
      run_grown(registry, text, rows, rows_a_program,
                &(vyre_pipeline_options){
                    .struct_size = sizeof(vyre_pipeline_options), .device = device, .report = report, .no_fuse = seen != NULL});
  if (out)
    *out = (figures){vyre_report_count(report, "(device)", "sequences"), vyre_report_count(report, "(device)", "kernels launched"),
                     vyre_report_count(report, "(device)", "bytes up"), vyre_report_count(report, "(device)", "bytes down")};
  if (seen)
    *seen = vyre_report_count(report, "sweeps.seen", "sum of analyses");
  vyre_report_destroy(report);
  return bytes;
}

/* Asserts that a run with the device has the result of plain C.  Returns the device's counts. */
static figures
run_and_compare(const char *text, uint32_t rows, uint32_t rows_a_program, vyre_device *device)
{
  figures f;
  assert_same_bytes(run(text, rows, rows_a_program, NULL, NULL), run(text, rows, rows_a_program, device, &f));
  return f;
}

static vyre_device *
open_auto(const vyre_target_ops *const *targets, const vyre_target_options *options, double owed)
{
  vyre_device *device;
  assert_ok(vyre_device_open_auto(targets, options, NULL, &device));
  device->owed = owed;
  return device;
}

/* Returns the device `name`, which the first run opens if it may pay. */
static vyre_device *
open_named(void)
{
  return open_auto(there,
                   &(vyre_target_options){.struct_size = sizeof(vyre_target_options), .device = name, .validate = test_validates()},
                   much);
}

TEST(small_work_opens_no_device)
{
  vyre_device *device = open_auto(there, NULL, 0);
  run_and_compare("canon,cf,pm", 500, 500, device);
  assert_true(!device->is_tried && device->owed == 0);
  device->plain_count = 0; /* measurements on a busy machine may be wrong */
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  assert_true(!device->is_tried && device->owed > 0);
  assert_ok(vyre_device_close(device));
}

TEST(a_cpu_is_not_chosen_as_device)
{
  vyre_device *device = open_auto(here, NULL, much);
  assert_int_equal(run_and_compare("canon,cf,pm", ROWS, 500, device).sequences, 0);
  assert_true(device->is_tried && !device->ops);
  assert_ok(vyre_device_close(device));
  device = open_auto(there, NULL, much);
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  assert_true(device->is_tried && (!device->ops || device->info.kind != VYRE_DEVICE_CPU));
  assert_ok(vyre_device_close(device));
}

TEST(a_simulator_is_chosen_only_by_its_name)
{
  static const vyre_target_ops *const simulated[] = {&vyre_target_cuda, NULL};
  const vyre_target_options by_library = {.struct_size = sizeof by_library, .library = test_file("lib/libvyre-cuda-sim.so")},
                            by_name = {.struct_size = sizeof by_name, .device = "sim"};
  vyre_device *device = open_auto(simulated, &by_library, much);
  assert_int_equal(run_and_compare("canon,cf,pm", ROWS, 500, device).sequences, 0);
  assert_true(device->is_tried && !device->ops);
  assert_ok(vyre_device_close(device));
  device = open_auto(simulated, &by_name, much);
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  assert_true(device->is_tried && device->ops == &vyre_target_cuda);
  assert_ok(vyre_device_close(device));
}

/* Returns a device with measured costs of a launch and a visit.  Tries again if other work on the machine hides them. */
static vyre_device *
open_measured(void)
{
  enum { MOST_TRIES = 50 };
  for (uint32_t tries = 0;; tries++) {
    vyre_device *device = open_named();
    run_and_compare("canon,cf,pm", ROWS, 500, device);
    if ((device->costs.launch > 0 && device->costs.visit > 0) || tries == MOST_TRIES)
      return device;
    assert_ok(vyre_device_close(device));
  }
}

TEST(costs_decide_where_passes_run)
{
  vyre_device *device = open_measured();
  assert_true(device->ops && device->costs.wait > 0 && device->costs.launch > 0 && device->costs.visit > 0);
  device->costs = (device_costs){0};
  device->plain_count = 0;
  assert_int_equal(run_and_compare("canon,cf,pm", ROWS, 500, device).sequences, 1);
  assert_true(device->costs.visit > 0); /* learned from the sequence */
  device->costs = (device_costs){.wait = much};
  device->plain_count = 0;
  assert_int_equal(run_and_compare("canon,cf,pm", ROWS, 500, device).sequences, 0);
  assert_int_equal(device->plain_count, 3);
  assert_true(device->plain[0].row > 0 && device->plain[0].row < 20000); /* ns; all rows take more */
  device->costs = (device_costs){0};
  for (uint32_t i = 0; i < device->plain_count; i++) /* one pass is slow as plain C */
    device->plain[i].row = i == 1 ? 1000 : 0;
  assert_int_equal(run_and_compare("canon,cf,pm", ROWS, 500, device).sequences, 1);
  assert_ok(vyre_device_close(device));
}

/* Records that the first pass of the text takes `ns` nanoseconds for each row as plain C. */
static void
learn_here(vyre_device *device, const char *text, uint64_t ns)
{
  const vyre_pass_record *other;
  vyre_choose_learn_here(device, vyre_registry_find(registry, text, strcspn(text, ","), &other), 1, ns);
}

/* Predicted launches are exact, except for simplify, which has its own levels.  Predicted bytes are those of columns. */
TEST(predicted_work_of_a_sequence_is_near_the_real_work)
{
  static const struct {
    const char *text;
    uint32_t rows_a_program, slack; /* launches: percent */
    bool by_program;                /* kernels run by program, otherwise by level */
  } cases[] = {{"canon,cf,pm", 500, 0, true}, {"canon,cf,pm", ROWS, 0, true}, {"canon,cf,pm", 500, 0, false},
               {"shash", 500, 0, true},       {"shash", ROWS, 0, true},       {"shash", 500, 0, false},
               {"simplify", 500, 20, true},   {"simplify", 500, 20, false},   {"simplify", ROWS, 20, false}};
  vyre_device *device = open_named();
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  const uint32_t known = device->info.max_iterations, bound = known ? known : UINT32_MAX;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    figures f;
    device->costs = (device_costs){0};
    device->info.max_iterations = cases[i].by_program ? 0 : bound;
    learn_here(device, cases[i].text, 1000);
    vyre_bytes out = run(cases[i].text, ROWS, cases[i].rows_a_program, device, &f);
    vyre_bytes_free(&out);
    const uint64_t launches = (uint64_t)device->asked.launches, slack = f.launches * cases[i].slack / 100;
    assert_int_equal(f.sequences, 1);
    assert_in_range(launches, f.launches - slack, f.launches + slack);
    assert_in_range((uint64_t)device->asked.bytes_up, f.up / 3, f.up);
    assert_in_range((uint64_t)device->asked.bytes_down, f.down - f.down / 50, f.down);
  }
  assert_ok(vyre_device_close(device));
}

typedef struct random_costs {
  device_costs of;
  double plain[3]; /* ns for each row in each pass as plain C */
} random_costs;

/* A fixpoint of two or three rounds has two submissions at most: two rounds, and the rest. */
TEST(rounds_are_one_submission_if_the_device_wins)
{
  static const char *const passes[] = {"canon", "cf", "pm"};
  vyre_device *device = open_named();
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  for (uint32_t wins = 0; wins < 2; wins++) {
    device->costs = (device_costs){.wait = wins ? 0 : much};
    device->plain_count = 0;
    for (size_t k = 0; k < 3; k++)
      learn_here(device, passes[k], 1000);
    assert_int_equal(run_and_compare("repeat<4>(canon,cf,pm)", ROWS, 500, device).sequences, wins);
    device->costs = (device_costs){.wait = wins ? 0 : much};
    const uint64_t sequences = run_and_compare("fixpoint(canon,cf,pm)", ROWS, 500, device).sequences;
    assert_in_range(sequences, wins, 2 * wins);
  }
  assert_ok(vyre_device_close(device));
}

/* The estimate of rounds is that of their passes, with the steps between rounds. */
TEST(predicted_work_of_rounds_is_near_the_real_work)
{
  static const char *const passes[] = {"canon", "cf", "pm"};
  vyre_device *device = open_named();
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  device->costs = (device_costs){0};
  device->plain_count = 0;
  for (size_t k = 0; k < 3; k++)
    learn_here(device, passes[k], 1000);
  figures f = run_and_compare("fixpoint<max=2;on-limit=quiet>(canon,cf,pm)", ROWS, 500, device);
  assert_int_equal(f.sequences, 1);
  assert_in_range((uint64_t)device->asked.launches, f.launches, f.launches + 1);
  assert_in_range((uint64_t)device->asked.bytes_up, f.up / 3, f.up);
  assert_in_range((uint64_t)device->asked.bytes_down, f.down - f.down / 50, f.down);
  device->costs = (device_costs){.launch = 1e6 / (double)(f.launches / 2)}; /* 2 ms in all */
  for (size_t k = 0; k < 3; k++)
    learn_here(device, passes[k], 20); /* 1.4 ms in all */
  assert_int_equal(run_and_compare("fixpoint<max=2;on-limit=quiet>(canon,cf,pm)", ROWS, 500, device).sequences, 0);
  assert_ok(vyre_device_close(device));
}

/* Returns costs of which none, some or all matter. */
static random_costs
make_costs(uint64_t *state)
{
  random_costs c;
  double *const all[] = {&c.of.wait,  &c.of.launch, &c.of.byte_up, &c.of.byte_down,
                         &c.of.visit, &c.plain[0],  &c.plain[1],   &c.plain[2]};
  static const double most[] = {4e6, 1e5, 60, 60, 200, 2000, 2000, 2000};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    const uint32_t random = (uint32_t)(*state >> 33);
    *all[i] = random % 4 == 0 ? 0 : most[i] * (random >> 8 & 1023) / 1023;
  }
  return c;
}

/* The device runs the sequence only if the counted work of a run costs less than plain C by the same costs, and otherwise not.  It
 * may still run one of the passes, with fewer launches.  The estimate omits small uploads, so the two may differ by a part if they
 * are nearly equal. */
TEST(a_device_that_loses_by_its_model_is_not_chosen)
{
  enum { CASES = 60, FEW = 3000, LEVELS = 7 /* ns for each row */ };
  static const char text[] = "canon,cf,pm";
  static const char *const passes[] = {"canon", "cf", "pm"};
  const double part = 0.02;
  uint64_t seed = 1;
  uint32_t chosen = 0, refused = 0;
  vyre_device *device = open_named();
  run_and_compare(text, ROWS, 500, device);
  device->costs = (device_costs){0};
  device->plain_count = 0;
  for (size_t k = 0; k < 3; k++)
    learn_here(device, passes[k], 1000);
  const figures work = run_and_compare(text, FEW, 500, device);
  const double visits = device->asked.visits, rows = device->rows;
  assert_int_equal(work.sequences, 1);
  for (uint32_t i = 0; i < CASES; i++) {
    const random_costs c = make_costs(&seed);
    const double plain = (c.plain[0] + c.plain[1] + c.plain[2]) * rows,
                 on_device = c.of.wait + c.of.launch * (double)work.launches + c.of.byte_up * (double)work.up +
                             c.of.byte_down * (double)work.down + c.of.visit * visits + LEVELS * rows;
    device->costs = c.of;
    device->plain_count = 0;
    for (size_t k = 0; k < 3; k++)
      learn_here(device, passes[k], (uint64_t)c.plain[k]);
    const figures f = run_and_compare(text, FEW, 500, device);
    if (f.launches == work.launches) {
      chosen++;
      assert_true(on_device * (1 - part) < plain);
    } else {
      refused++;
      assert_true(plain < 1e6 || plain < on_device * (1 + part)); /* less than 1 ms is not worth a device */
    }
  }
  print_message("chosen %u times, refused %u times\n", chosen, refused);
  assert_true(chosen >= 10 && refused >= 10);
  assert_ok(vyre_device_close(device));
}

/* The device has an older copy of the column that cid provides as plain C. */
TEST(columns_that_plain_c_provides_are_uploaded)
{
  const char text[] = "sweeps.seen,cf,pm,shash,cid,sweeps.seen";
  vyre_device *device = open_named();
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  device->costs = (device_costs){0};
  device->plain_count = 0;
  learn_here(device, "sweeps.seen", 1000000);
  learn_here(device, "cf", 1000000);
  learn_here(device, "pm", 1000000);
  learn_here(device, "shash", 1000000);
  learn_here(device, "cid", 0);
  figures f;
  uint64_t in_plain_c, on_device;
  seen = &in_plain_c;
  vyre_bytes out = run(text, ROWS, 500, NULL, &f);
  vyre_bytes_free(&out);
  seen = &on_device;
  out = run(text, ROWS, 500, device, &f);
  vyre_bytes_free(&out);
  seen = NULL;
  assert_int_equal(f.sequences, 5); /* all but cid */
  assert_int_equal(in_plain_c, on_device);
  assert_ok(vyre_device_close(device));
}

TEST(passes_without_room_on_the_device_run_as_plain_c)
{
  vyre_device *device = open_named();
  run_and_compare("canon,cf,pm", ROWS, 500, device);
  device->costs = (device_costs){0};
  device->plain_count = 0;
  device->info.max_storage = 4096;
  assert_int_equal(run_and_compare("canon,cf,pm", ROWS, 500, device).sequences, 0);
  assert_int_equal(device->plain_count, 3); /* they ran as plain C, not by phases */
  assert_ok(vyre_device_close(device));
}

TEST_MAIN(load_passes, end_passes)
