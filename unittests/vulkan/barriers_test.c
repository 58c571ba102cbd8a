/* Barriers of the Vulkan target: random sequences through a library that watches the device's commands.  Every hazard has its
 * barrier, no barrier is idle (watch_log.h states how strictly), and results follow the contract.  The tests run on lavapipe, and
 * on a simulated device with its own memory and a second queue.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "bundle.h"
#include "fake_vulkan.h"
#include "../messages.h"
#include "vyre/target.h"

#include "watch.inc"

enum { BUFFERS = 4, WORDS = 16, MOST_STEPS = 6, MOST_BEGUN = 5, GROUPS = 3 /* the buffer of indirect groups */ };

static const vyre_target_ops *const ops = &vyre_target_vulkan;

typedef struct push {
  uint32_t at, from, factor, is_beside;
} push;

/* A random sequence with its arrays. */
typedef struct drawn {
  vyre_fill fills[2];
  vyre_upload uploads[3];
  uint32_t data[3][WORDS];
  vyre_step steps[MOST_STEPS];
  push pushes[MOST_STEPS];
  vyre_range ranges[MOST_STEPS][2];
  vyre_repeat repeat;
  vyre_repeat_end end;
  vyre_read reads[3];
  uint32_t got[3][WORDS], expected[3][WORDS];
  vyre_sequence sequence;
} drawn;

typedef struct fixture {
  const watcher *watcher;
  vyre_target *target;
  bool is_shared;
  vyre_kernel kernel;
  vyre_device_buffer buffers[BUFFERS];
  uint32_t resources[BUFFERS];
  uint32_t words[BUFFERS][WORDS]; /* contents by the model */
  uint32_t random;
} fixture;

static uint32_t
draw(fixture *f, uint32_t below)
{
  f->random = f->random * 1664525u + 1013904223u;
  return (f->random >> 10) % below;
}

static void
open_fixture(fixture *f, const char *path)
{
  static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE},
                                           {.binding = 1, .kind = VYRE_SLOT_STORAGE, .is_read_only = true}};
  const vyre_kernel_desc desc = {.label = "watch",
                                 .code = watch_words,
                                 .size = sizeof watch_words,
                                 .entry = "main",
                                 .workgroup = {1, 1, 1},
                                 .slots = slots,
                                 .slot_count = 2,
                                 .push_size = sizeof(push)};
  const vyre_target_options options = {.struct_size = sizeof options, .library = path};
  const fake_vulkan *fake = fake_vulkan_open(path);
  assert_non_null(fake);
  f->watcher = fake->watcher;
  f->watcher->begin(sizeof(push));
  assert_ok(ops->open(&options, NULL, &f->target));
  assert_ok(ops->compile(f->target, &desc, &f->kernel));
  vyre_device_info info;
  ops->describe(f->target, &info);
  f->is_shared = info.capabilities & VYRE_TARGET_SHARED;
  for (uint32_t i = 0; i < BUFFERS; i++) {
    const uint64_t size = sizeof f->words[i];
    assert_ok(ops->allocate(f->target, size, &f->buffers[i]));
    f->resources[i] = f->watcher->last_resource();
    memset(f->words[i], 0, size);
    const vyre_fill fill = {{f->buffers[i], 0, 0}, i == GROUPS};
    for (uint32_t k = 0; k < WORDS; k++)
      f->words[i][k] = fill.value;
    assert_ok(ops->submit(f->target, &(vyre_sequence){.fills = &fill, .fill_count = 1}, NULL));
  }
}

static vyre_range
draw_range(fixture *f, uint32_t buffers)
{
  const uint32_t first = draw(f, WORDS);
  return (vyre_range){f->buffers[draw(f, buffers)], 4 * (uint64_t)first, 4 * (uint64_t)(1 + draw(f, WORDS - first))};
}

/* ---- the model ----------------------------------------------------------------------------------------------------------- */

static uint32_t *
words_of(fixture *f, const vyre_range *range)
{
  uint32_t i = 0;
  while (f->buffers[i].id != range->buffer.id)
    i++;
  return &f->words[i][range->offset / 4];
}

static void
model_step(fixture *f, const vyre_step *step)
{
  const push *values = step->push;
  const uint32_t *groups = step->indirect.buffer.id ? words_of(f, &step->indirect) : step->groups;
  for (uint32_t i = groups[0] * groups[1] * groups[2]; i > 0; i--) {
    uint32_t *at = &words_of(f, &step->buffers[0])[values->at];
    *at = *at * values->factor + words_of(f, &step->buffers[1])[values->from];
  }
}

static void
run_model(fixture *f, drawn *d)
{
  const vyre_sequence *s = &d->sequence;
  for (uint32_t i = 0; i < s->fill_count; i++)
    for (uint32_t k = 0; k < s->fills[i].range.size / 4; k++)
      words_of(f, &s->fills[i].range)[k] = s->fills[i].value;
  for (uint32_t i = 0; i < s->upload_count; i++)
    memcpy(words_of(f, &s->uploads[i].range), s->uploads[i].data, s->uploads[i].range.size);
  for (uint32_t i = 0; i < s->step_count; i++)
    for (uint32_t n = s->repeat_count && i >= d->repeat.first ? d->repeat.times : 1; n > 0; n--)
      model_step(f, &s->steps[i]);
  for (uint32_t i = 0; i < s->read_count; i++)
    memcpy(d->expected[i], words_of(f, &s->reads[i].range), s->reads[i].range.size);
}

/* ---- sequences ----------------------------------------------------------------------------------------------------------- */

/* Draws random steps.  Whole buffers are bound, because storage offsets must be multiples of about 16 words.  Steps beside each
 * other only add, and read a buffer that no step writes. */
static void
draw_steps(fixture *f, drawn *d)
{
  vyre_sequence *s = &d->sequence;
  s->steps = d->steps;
  s->step_count = draw(f, MOST_STEPS);
  for (uint32_t i = 0; i < s->step_count; i++) {
    const bool is_beside = i && d->pushes[i - 1].factor == 1 && !d->steps[i - 1].indirect.buffer.id && draw(f, 2);
    const uint32_t to = draw(f, 2), from = draw(f, 6) == 0 ? 1 - to : 2;
    const bool adds = is_beside || draw(f, 2);
    d->pushes[i] = (push){draw(f, WORDS), draw(f, WORDS), adds && from == 2 ? 1 : 3, is_beside};
    d->ranges[i][0] = (vyre_range){f->buffers[to], 0, 0};
    d->ranges[i][1] = (vyre_range){f->buffers[is_beside ? 2 : from], 0, 0};
    d->pushes[i].factor = is_beside ? 1 : d->pushes[i].factor;
    d->steps[i] = (vyre_step){.kernel = f->kernel,
                              .buffers = d->ranges[i],
                              .buffer_count = 2,
                              .push = &d->pushes[i],
                              .push_size = sizeof(push),
                              .groups = {d->pushes[i].factor == 1 ? 1 + draw(f, 3) : 1, 1, 1},
                              .beside = is_beside};
    if (!is_beside && draw(f, 8) == 0) {
      d->steps[i].groups[0] = d->steps[i].groups[1] = d->steps[i].groups[2] = 1;
      d->steps[i].indirect = (vyre_range){f->buffers[GROUPS], 4 * (uint64_t)draw(f, WORDS - 3), 12};
    }
  }
  if (s->step_count == 0 || draw(f, 4))
    return;
  const uint32_t last = s->step_count - 1; /* repeated, so it follows itself */
  d->repeat = (vyre_repeat){last, 1, 1 + draw(f, 4), {{0}, 0, 0}};
  d->steps[last].beside = false;
  d->pushes[last].is_beside = 0;
  s->repeats = &d->repeat;
  s->repeat_count = 1;
  s->ends = &d->end;
}

static void
draw_sequence(fixture *f, drawn *d)
{
  memset(d, 0, sizeof *d);
  vyre_sequence *s = &d->sequence;
  s->fills = d->fills;
  s->fill_count = draw(f, 3) == 0 ? 1 + draw(f, 2) : 0;
  for (uint32_t i = 0; i < s->fill_count; i++)
    d->fills[i] = (vyre_fill){draw_range(f, GROUPS), draw(f, 100)};
  s->uploads = d->uploads;
  s->upload_count = draw(f, 4);
  for (uint32_t i = 0; i < s->upload_count; i++) {
    for (uint32_t k = 0; k < WORDS; k++)
      d->data[i][k] = draw(f, 2);
    d->uploads[i] = (vyre_upload){draw_range(f, BUFFERS), d->data[i]};
  }
  draw_steps(f, d);
  s->reads = d->reads;
  s->read_count = draw(f, 4);
  for (uint32_t i = 0; i < s->read_count; i++)
    d->reads[i] = (vyre_read){draw_range(f, BUFFERS), d->got[i]};
}

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static void
check_results(const drawn *d)
{
  for (uint32_t i = 0; i < d->sequence.read_count; i++)
    assert_memory_equal(d->got[i], d->expected[i], d->reads[i].range.size);
}

/* Logs the host's reads of shared memory, which need no copy. */
static void
add_host_reads(const fixture *f, const drawn *d)
{
  for (uint32_t i = 0; i < d->sequence.read_count && f->is_shared; i++)
    for (uint32_t k = 0; k < BUFFERS; k++)
      if (f->buffers[k].id == d->reads[i].range.buffer.id)
        f->watcher->host_reads(f->resources[k], d->reads[i].range.offset, d->reads[i].range.size);
}

static void
submit(fixture *f, drawn *d)
{
  run_model(f, d);
  add_host_reads(f, d);
  assert_ok(ops->submit(f->target, &d->sequence, NULL));
  check_results(d);
}

/* Begins several sequences, and waits for them in any order. */
static void
begin_several(fixture *f)
{
  static drawn all[MOST_BEGUN];
  vyre_ticket tickets[MOST_BEGUN];
  const uint32_t count = 2 + draw(f, MOST_BEGUN - 1);
  for (uint32_t i = 0; i < count; i++) {
    draw_sequence(f, &all[i]);
    run_model(f, &all[i]);
    assert_ok(ops->begin(f->target, &all[i].sequence, &tickets[i]));
    bool done;
    if (draw(f, 4) == 0)
      assert_ok(ops->poll(f->target, tickets[i], &done));
  }
  for (uint32_t left = count; left > 0;) {
    const uint32_t i = draw(f, count);
    if (!tickets[i].id)
      continue;
    assert_ok(ops->wait(f->target, tickets[i], NULL));
    check_results(&all[i]);
    tickets[i].id = 0;
    left--;
  }
}

/* Runs a round, and adds the watcher's counts to `all`. */
static void
run_round(const char *path, uint32_t random, bool begins, watch_report *all)
{
  static drawn d;
  fixture f = {.random = random};
  open_fixture(&f, path);
  for (uint32_t i = 0; i < 5; i++) {
    draw_sequence(&f, &d);
    submit(&f, &d);
    if (draw(&f, 2))
      submit(&f, &d);
    if (begins)
      begin_several(&f);
  }
  watch_report report;
  watch_check(f.watcher->end(), true, &report);
  if (report.hazards || report.idle)
    fail_msg("round %u: %u hazards, %u idle: %s", random, report.hazards, report.idle, report.text);
  all->barriers += report.barriers;
  all->parts += report.parts;
  all->pure += report.pure;
  all->needed_waits += report.needed_waits;
  assert_ok(ops->close(f.target));
}

/* Runs rounds, and returns the number of needed semaphore waits. */
static uint32_t
run_rounds(const char *library, bool begins)
{
  const uint32_t count = 4 + budget_part(begins ? 8 : 16);
  watch_report all = {0};
  for (uint32_t round = 0; round < count; round++)
    run_round(test_file("%s", library), round, begins, &all);
  assert_true(all.barriers > 20 * count / 4 && all.parts > 20 * count / 4 && all.pure > 0);
  return all.needed_waits;
}

TEST(hazards_have_barriers_and_no_barrier_is_idle)
{
  run_rounds(FAKE_VULKAN, false);
}

TEST(hazards_between_sequences_in_flight_have_barriers)
{
  run_rounds(FAKE_VULKAN, true);
}

TEST(hazards_of_staging_have_barriers)
{
  run_rounds(FAKE_DISCRETE, false);
}

TEST(hazards_between_two_queues_have_semaphores)
{
  assert_true(run_rounds(FAKE_DISCRETE, true) > 4 + budget_part(16));
}
