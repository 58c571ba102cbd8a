/* Submissions of targets/common: checks of kernels and sequences, begin and wait, loss, counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../messages.h"
#include "fake.h"

static const uint32_t code[] = {1, 2, 3};
static const vyre_kernel_slot slots[] = {{.binding = 0, .kind = VYRE_SLOT_STORAGE, .count = 2},
                                         {.binding = 1, .kind = VYRE_SLOT_UNIFORM}};
static const vyre_kernel_desc good = {.label = "sum",
                                      .code = code,
                                      .size = sizeof code,
                                      .entry = "main",
                                      .workgroup = {1, 1, 1},
                                      .slots = slots,
                                      .slot_count = 2,
                                      .push_size = 4};

typedef struct fixture {
  vyre_target *target;
  vyre_device_buffer buffer;
  vyre_kernel kernel;
  vyre_range ranges[3];
  vyre_step step;
} fixture;

/* Opens a target with a buffer, a kernel and a valid step. */
static void
open_fixture(fixture *f, bool is_async)
{
  f->target = fake_open(is_async, NULL);
  assert_ok(target_allocate(f->target, 256, &f->buffer));
  assert_ok(target_compile(f->target, &good, &f->kernel));
  f->ranges[0] = (vyre_range){f->buffer, 0, 16};
  f->ranges[1] = (vyre_range){f->buffer, 16, 16};
  f->ranges[2] = (vyre_range){f->buffer, 64, 64};
  f->step =
      (vyre_step){.kernel = f->kernel, .buffers = f->ranges, .buffer_count = 3, .push = code, .push_size = 4, .groups = {2, 3, 4}};
}

static vyre_status
submit_step(const fixture *f)
{
  return target_submit(f->target, &(vyre_sequence){.steps = &f->step, .step_count = 1}, NULL);
}

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

/* Limits and requirements of this target, which the conformance suite does not know. */
TEST(limits_of_kernels_are_checked)
{
  static const vyre_kernel_slot many = {.count = 1 << 20 | 1}, most[] = {{.count = 1 << 20}, {.binding = 1}};
  static const char *const words[][2] = {{"no entry point", "set code"},
                                         {"5 invocations in z of a workgroup", "allows 4"},
                                         {"65 invocations in x of a workgroup", "allows 64"},
                                         {"1048577 descriptors", "at most"},
                                         {"1048577 descriptors", "allows"}};
  vyre_target *target = fake_open(false, NULL);
  vyre_kernel_desc bad[] = {good, good, good, good, good};
  bad[0].entry = NULL;
  bad[1].workgroup[2] = 5;
  bad[2].workgroup[0] = 65;
  bad[3].slots = &many;
  bad[3].slot_count = 1;
  bad[4].slots = most;
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_fails(target_supports(target, &bad[i]), VYRE_CODE_INPUT, words[i][0], words[i][1]);
    bad[i].label = NULL;
    assert_fails(target_supports(target, &bad[i]), VYRE_CODE_INPUT, words[i][0], "(no name)");
  }
  assert_ok(target_supports(target, &good));
  assert_ok(fake_close(target));
}

TEST(limits_of_steps_are_checked)
{
  fixture f;
  vyre_device_buffer large;
  open_fixture(&f, false);
  const fixture was = f;
  assert_ok(target_allocate(f.target, 2052, &large));
  assert_ok(submit_step(&f));
  f.ranges[2].offset = 16;
  assert_fails(submit_step(&f), VYRE_CODE_INPUT, "set 0 binding 1", "multiple of 64");
  f.ranges[2] = (vyre_range){large, 0, 260};
  assert_fails(submit_step(&f), VYRE_CODE_INPUT, "260 bytes", "at most 256 as a uniform");
  f.ranges[2] = was.ranges[2];
  f.ranges[0] = (vyre_range){large, 0, 0};
  assert_fails(submit_step(&f), VYRE_CODE_INPUT, "2052 bytes", "at most 2048 as a storage");
  f.ranges[0] = was.ranges[0];
  f.step.count = 1;
  assert_fails(submit_step(&f), VYRE_CODE_INPUT, "cannot run a part of the workgroups", "run all");
  target_base_of(f.target)->info.capabilities = VYRE_TARGET_PARTS;
  assert_ok(submit_step(&f));
  f.step.indirect = (vyre_range){f.buffer, 0, 0};
  assert_fails(submit_step(&f), VYRE_CODE_INPUT, "with indirect groups", "no indirect groups");
  f.step.count = 0;
  assert_fails(submit_step(&f), VYRE_CODE_INPUT, "has indirect groups", "pass the number of groups");
  assert_ok(fake_close(f.target));
}

/* ---- begin and wait ------------------------------------------------------------------------------------------------------ */

TEST(a_begun_sequence_holds_its_objects)
{
  fixture f;
  open_fixture(&f, true);
  target_base *base = target_base_of(f.target);
  vyre_device_buffer other;
  unsigned char data[16] = {9}, got[16] = {0}, later[16] = {0};
  assert_ok(target_allocate(f.target, 16, &other));
  const vyre_upload upload = {{f.buffer, 0, 16}, data};
  const vyre_read read = {{f.buffer, 0, 16}, got}, read_later = {{f.buffer, 0, 16}, later};
  const vyre_sequence sequence = {
      .uploads = &upload, .upload_count = 1, .steps = &f.step, .step_count = 1, .reads = &read, .read_count = 1};
  vyre_ticket first, second;
  bool done = true;
  assert_ok(target_begin(f.target, &sequence, &first));
  assert_ok(target_begin(f.target, &(vyre_sequence){.reads = &read_later, .read_count = 1}, &second));
  assert_int_equal(base->counters.in_flight, 2);
  assert_fails(target_free(f.target, f.buffer), VYRE_CODE_INPUT, "used by a submission in flight", "wait");
  assert_fails(target_release(f.target, f.kernel), VYRE_CODE_INPUT, "'sum'", "wait");
  assert_ok(target_free(f.target, other));
  assert_ok(target_poll(f.target, first, &done));
  assert_false(done);
  assert_ok(target_poll(f.target, first, &done));
  assert_true(done);
  vyre_timing timing;
  assert_ok(target_wait(f.target, first, &timing));
  assert_int_equal(got[0], 10);
  assert_int_equal(timing.waits, 1);
  assert_int_equal(timing.launches, 1);
  assert_int_equal(timing.bytes_up, 16);
  assert_int_equal(timing.bytes_down, 16);
  assert_true(timing.host_ns > 0);
  assert_fails(target_wait(f.target, first, &timing), VYRE_CODE_INPUT, "not a submission in flight", "wait once");
  assert_fails(target_poll(f.target, first, &done), VYRE_CODE_INPUT, "not a submission in flight", "");
  assert_ok(target_release(f.target, f.kernel));
  assert_fails(target_free(f.target, f.buffer), VYRE_CODE_INPUT, "in flight", "wait"); /* the second sequence holds it */
  assert_ok(target_flush(f.target));
  assert_int_equal(later[0], 10);
  assert_ok(target_free(f.target, f.buffer));
  assert_ok(target_poll(f.target, second, &done));
  assert_true(done);
  assert_ok(target_wait(f.target, second, NULL));
  assert_int_equal(base->counters.in_flight, 0);
  assert_int_equal(base->counters.waits, 2);
  assert_int_equal(base->counters.submits, 2);
  assert_ok(fake_close(f.target));
}

/* Each kind of entry has its own buffer. */
TEST(each_entry_holds_its_buffer)
{
  fixture f;
  open_fixture(&f, true);
  target_base_of(f.target)->info.capabilities = VYRE_TARGET_INDIRECT;
  vyre_device_buffer buffers[6];
  static const uint64_t sizes[] = {16, 16, 16, 16, 16, 16};
  unsigned char data[16] = {0}, got[16];
  assert_ok(target_allocate_many(f.target, sizes, 6, buffers));
  const vyre_fill fill = {{buffers[0], 0, 0}, 0};
  const vyre_upload upload = {{buffers[1], 0, 0}, data};
  const vyre_read read = {{buffers[2], 0, 0}, got};
  const vyre_repeat repeat = {0, 1, 1, {buffers[3], 0, 0}};
  vyre_repeat_end end;
  f.ranges[1].buffer = buffers[4];
  f.ranges[1].offset = 0;
  f.step.indirect = (vyre_range){buffers[5], 0, 0};
  const vyre_sequence sequence = {&fill, 1, &upload, 1, &f.step, 1, &read, 1, &repeat, 1, &end, NULL};
  vyre_ticket ticket;
  assert_ok(target_begin(f.target, &sequence, &ticket));
  for (uint32_t i = 0; i < 6; i++)
    assert_fails(target_free(f.target, buffers[i]), VYRE_CODE_INPUT, "used by a submission in flight", "wait");
  assert_ok(target_wait(f.target, ticket, NULL));
  assert_ok(target_free_many(f.target, buffers, 6));
  assert_ok(fake_close(f.target));
}

TEST(wait_reports_errors_of_a_begun_sequence)
{
  for (uint32_t round = 0; round < 2; round++) {
    fixture f;
    open_fixture(&f, round == 0);
    const vyre_sequence sequence = {.steps = &f.step, .step_count = 1};
    vyre_ticket ticket, other;
    vyre_timing timing;
    if (round == 0) {
      fake_of(f.target)->run_fails = true;
      assert_fails(target_begin(f.target, &sequence, &ticket), VYRE_CODE_DEVICE, "nothing starts", "");
      assert_int_equal(ticket.id, 0);
      fake_of(f.target)->run_fails = false;
      assert_ok(target_begin(f.target, &sequence, &ticket));
      fake_of(f.target)->run_fails = true;
    } else { /* a target without `start` runs the sequence in begin */
      fake_of(f.target)->run_fails = true;
      assert_ok(target_begin(f.target, &sequence, &ticket));
      bool done = false;
      assert_ok(target_poll(f.target, ticket, &done));
      assert_true(done);
    }
    assert_ok(target_flush(f.target));
    assert_fails(target_wait(f.target, ticket, &timing), VYRE_CODE_DEVICE, "nothing runs", "");
    assert_int_equal(timing.waits, 0);
    assert_int_equal(target_base_of(f.target)->counters.waits, 1); /* a failed wait counts */
    fake_of(f.target)->run_fails = false;
    assert_ok(target_begin(f.target, &sequence, &other)); /* close waits for it */
    const uint32_t runs = fake_of(f.target)->runs;
    f.step.buffer_count = 1;
    assert_fails(target_begin(f.target, &sequence, &ticket), VYRE_CODE_INPUT, "has 3 buffers", "");
    assert_int_equal(fake_of(f.target)->runs, runs);
    f.step.buffer_count = 3;
    assert_ok(fake_close(f.target));
  }
}

/* ---- loss ---------------------------------------------------------------------------------------------------------------- */

TEST(a_lost_device_is_recovered)
{
  fixture f;
  open_fixture(&f, true);
  target_base *base = target_base_of(f.target);
  vyre_device_buffer kept, again;
  vyre_ticket ticket;
  assert_ok(target_keep(f.target, 0, &(vyre_static){"abc", 3}, 1, &kept, NULL));
  assert_fails(target_recover(f.target), VYRE_CODE_INPUT, "was not lost", "");
  assert_ok(target_begin(f.target, &(vyre_sequence){.steps = &f.step, .step_count = 1}, &ticket));
  fake_of(f.target)->run_loses = true;
  assert_fails(submit_step(&f), VYRE_CODE_DEVICE, "nothing runs", "");
  assert_true(target_is_lost(f.target));
  assert_fails(submit_step(&f), VYRE_CODE_DEVICE, "was lost in an earlier call", "recover");
  assert_fails(target_allocate(f.target, 16, &again), VYRE_CODE_DEVICE, "was lost", "");
  assert_fails(target_supports(f.target, &good), VYRE_CODE_DEVICE, "was lost", "");
  assert_fails(target_keep(f.target, 0, &(vyre_static){"abc", 3}, 1, &again, NULL), VYRE_CODE_DEVICE, "was lost", "");
  assert_ok(target_recover(f.target));
  assert_false(target_is_lost(f.target));
  assert_int_equal(fake_of(f.target)->made, fake_of(f.target)->freed);
  assert_int_equal(base->counters.recoveries, 1);
  assert_int_equal(base->counters.bytes_live + base->counters.bytes_kept + base->counters.in_flight, 0);
  assert_fails(target_free(f.target, f.buffer), VYRE_CODE_INPUT, "not a buffer", "");
  assert_fails(target_release(f.target, f.kernel), VYRE_CODE_INPUT, "not a kernel", "");
  assert_fails(target_wait(f.target, ticket, NULL), VYRE_CODE_INPUT, "not a submission", "");
  bool found = true;
  assert_ok(target_keep(f.target, 0, &(vyre_static){"abc", 3}, 1, &again, &found));
  assert_false(found);
  assert_int_not_equal(again.id, kept.id);
  assert_ok(fake_close(f.target));
  open_fixture(&f, false); /* a target without `reopen` cannot recover */
  fake_of(f.target)->run_loses = true;
  assert_fails(submit_step(&f), VYRE_CODE_DEVICE, "nothing runs", "");
  assert_fails(target_recover(f.target), VYRE_CODE_DEVICE, "cannot open it again", "close");
  assert_ok(target_free(f.target, f.buffer)); /* memory of a lost device is not pooled */
  assert_int_equal(fake_of(f.target)->freed, 1);
  assert_ok(fake_close(f.target));
}

/* ---- counters ------------------------------------------------------------------------------------------------------------ */

static void
take_counter(void *user, const char *name, uint64_t value)
{
  uint64_t *sum = user;
  sum[0]++;
  if (strcmp(name, "launches") == 0)
    sum[1] = value;
  if (strcmp(name, "bytes_filled") == 0)
    sum[2] = value;
}

TEST(counters_are_named_and_count_since_open)
{
  fixture f;
  open_fixture(&f, false);
  const vyre_fill fill = {{f.buffer, 0, 0}, 7};
  vyre_timing timing;
  for (uint32_t i = 0; i < 3; i++)
    assert_ok(
        target_submit(f.target, &(vyre_sequence){.fills = &fill, .fill_count = 1, .steps = &f.step, .step_count = 1}, &timing));
  assert_int_equal(timing.launches, 1);
  uint64_t seen[3] = {0};
  locked_metrics(f.target, take_counter, seen);
  assert_int_equal(seen[0], sizeof(target_counters) / sizeof(uint64_t));
  assert_int_equal(seen[1], 3);
  assert_int_equal(seen[2], 3 * 256);
  vyre_device_info info;
  target_describe(f.target, &info);
  assert_string_equal(info.name, "a fake");
  assert_ok(fake_close(f.target));
}
