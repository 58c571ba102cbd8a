/* Items of a program that is compiled while the kernel is live: later items run compiled, with the results of interpreted ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"

#include "vyre/ir.h"
#include "vyre/megakernel_programs.h"
#include "vyre/text.h"
#include "vyre/view.h"

#include "../hang.h"
#include "programs.h"

#include <pthread.h>

enum { LANES = 4, GROUPS = 2, WORDS = LANES * GROUPS, FLIGHT = 4 };

/* Each item changes each word by its old value, so that a lost, doubled or partial item shows. */
static const char steps_text[] = "program @steps workgroup(4, 1, 1) {\n"
                                 "  buffer %x : u32[] storage rw set(0) binding(0)\n"
                                 "  buffer %p : u32 push\n"
                                 "  store %x[gid.x], add(mul(load(%x[gid.x]), 3u32), add(gid.x, load(%p)))\n"
                                 "}\n";
static const char adds_text[] = "program @adds workgroup(4, 1, 1) {\n"
                                "  buffer %sum : u32[] storage rw set(0) binding(0)\n"
                                "  atomic_add %sum[0], add(gid.x, 1u32)\n"
                                "}\n";
static const char traps_text[] = "program @traps workgroup(4, 1, 1) {\n"
                                 "  buffer %x : u32[] storage rw set(0) binding(0)\n"
                                 "  if eq(load(%x[0]), 77u32) { trap }\n"
                                 "  store %x[gid.x], 5u32\n"
                                 "}\n";

typedef struct run {
  vyre_target *target, *other;
  vyre_mega_programs *p;
  uint32_t remarks;
  char remark[256];
} run;

static void
count_remark(void *user, const char *text)
{
  run *r = user;
  __atomic_fetch_add(&r->remarks, 1, __ATOMIC_RELAXED);
  snprintf(r->remark, sizeof r->remark, "%s", text);
}

/* Starts a kernel.  With faults, both devices fail again and again. */
static void
start_run(run *r, uint32_t compile_after, bool has_faults)
{
  *r = (run){.target = world_target(), .other = frail_second()};
  frail_of(r->target)->every = has_faults ? 7 : 0;
  frail_of(r->other)->every = has_faults ? 3 : 0;
  frail_of(r->target)->most = frail_of(r->other)->most = 8;
  const vyre_mega_programs_options options = {.struct_size = sizeof options,
                                              .memory = 4 << 20,
                                              .scratch = 16 << 10,
                                              .groups = 2,
                                              .slice = has_faults ? 4 : 0,
                                              .compile_target = r->other,
                                              .compile_after = compile_after,
                                              .remark = count_remark,
                                              .remark_user = r};
  ok(vyre_mega_programs_start(&frail_ops, r->target, &options, &r->p));
}

/* Stops the kernel.  Stores the numbers of items that ended DONE by the kernel's counter, and of those that ran each way. */
static void
stop_run(run *r, vyre_mega_control *control, vyre_mega_programs_counts *counts)
{
  vyre_mega_programs_count(r->p, counts);
  ok(vyre_mega_programs_stop(r->p, control, NULL));
  world_target_end(r->target);
  frail_end_second(r->other);
}

static uint32_t
add_text(run *r, const char *text)
{
  vyre_module *module = parse_program(text);
  uint32_t number;
  ok(vyre_mega_programs_register(r->p, module, (vyre_row){vyre_module_view(module)->first[0]}, NULL, &number));
  vyre_module_destroy(module);
  return number;
}

/* The buffers of @steps, and the words that they must have. */
typedef struct memory {
  vyre_mega_range ranges[2];
  uint32_t wanted[WORDS];
} memory;

static void
make_state(run *r, memory *s)
{
  const uint32_t push = 7;
  *s = (memory){0};
  ok(vyre_mega_programs_allocate(r->p, sizeof s->wanted, &s->ranges[0]));
  ok(vyre_mega_programs_allocate(r->p, sizeof push, &s->ranges[1]));
  ok(vyre_mega_programs_write(r->p, s->ranges[1], &push));
}

static vyre_mega_program_item
item_of(uint32_t program, const memory *s)
{
  return (vyre_mega_program_item){.program = program, .buffers = s->ranges, .buffer_count = 2, .groups = {GROUPS, 1, 1}};
}

static void
expect_step(memory *s)
{
  for (uint32_t i = 0; i < WORDS; i++)
    s->wanted[i] = s->wanted[i] * 3 + i + 7;
}

static void
check_state(run *r, const memory *s)
{
  uint32_t words[WORDS];
  ok(vyre_mega_programs_read(r->p, s->ranges[0], words));
  assert_memory_equal(words, s->wanted, sizeof words);
}

static void
step(run *r, uint32_t program, memory *s)
{
  assert_int_equal(run_item(r->p, item_of(program, s)).state, VYRE_MEGA_DONE);
  expect_step(s);
  check_state(r, s);
}

TEST(later_items_run_compiled_after_a_call)
{
  run r;
  memory s;
  vyre_mega_control control;
  vyre_mega_programs_counts counts;
  start_run(&r, 0, false);
  make_state(&r, &s);
  const uint32_t program = add_text(&r, steps_text);
  for (uint32_t i = 0; i < 3; i++)
    step(&r, program, &s);
  ok(vyre_mega_programs_compile(r.p, program));
  ok(vyre_mega_programs_compile(r.p, program)); /* changes nothing */
  for (uint32_t i = 0; i < 5; i++)
    step(&r, program, &s);
  vyre_mega_program_item part = item_of(program, &s); /* a part of a grid stays interpreted */
  part.first = 2;
  part.count = 3;
  assert_int_equal(run_item(r.p, part).state, VYRE_MEGA_DONE);
  for (uint32_t i = 2; i < 5; i++)
    s.wanted[i] = s.wanted[i] * 3 + i + 7;
  check_state(&r, &s);
  vyre_mega_program_item short_push = item_of(program, &s); /* accesses out of bounds are defined for an interpreted item */
  vyre_mega_range ranges[] = {s.ranges[0], {s.ranges[1].at, 0}};
  short_push.buffers = ranges;
  assert_int_equal(run_item(r.p, short_push).state, VYRE_MEGA_DONE);
  for (uint32_t i = 0; i < WORDS; i++)
    s.wanted[i] = s.wanted[i] * 3 + i;
  check_state(&r, &s);
  refused(vyre_mega_programs_compile(r.p, program + 1), "not registered");
  stop_run(&r, &control, &counts);
  assert_int_equal(counts.items, 5);
  assert_int_equal(counts.compiled, 5);
  assert_int_equal(control.done, 10);
  assert_int_equal(r.remarks, 0);
}

TEST(later_items_run_compiled_after_a_number_of_items)
{
  run r;
  memory s;
  vyre_mega_control control;
  vyre_mega_programs_counts counts = {0};
  uint32_t items = 0;
  start_run(&r, 3, false);
  make_state(&r, &s);
  const uint32_t program = add_text(&r, steps_text);
  for (; counts.compiled < 4; items++) {
    step(&r, program, &s);
    vyre_mega_programs_count(r.p, &counts);
  }
  stop_run(&r, &control, &counts);
  assert_true(counts.items >= 3);
  assert_int_equal(counts.items + counts.compiled, items);
  assert_int_equal(control.done, items);
}

/* Items of a compiled and of an interpreted program, in flight at the same time, add to one word. */
TEST(items_of_both_kinds_share_memory)
{
  run r;
  vyre_mega_range range;
  vyre_mega_control control;
  vyre_mega_programs_counts counts;
  uint32_t sum, items = 0;
  start_run(&r, 0, false);
  const uint32_t programs[2] = {add_text(&r, adds_text), add_text(&r, adds_text)};
  ok(vyre_mega_programs_compile(r.p, programs[1]));
  ok(vyre_mega_programs_allocate(r.p, 4, &range));
  for (uint32_t round = 0; round < 6; round++) {
    vyre_mega_program_ticket tickets[FLIGHT];
    for (uint32_t k = 0; k < FLIGHT; k++, items++) {
      const vyre_mega_program_item item = {
          .program = programs[(round + k / 2) % 2], .buffers = &range, .buffer_count = 1, .groups = {GROUPS, 1, 1}};
      for (bool published = false; !published; sched_yield())
        ok(vyre_mega_programs_publish(r.p, &item, &tickets[k], &published));
    }
    for (uint32_t k = 0; k < FLIGHT; k++) {
      vyre_mega_slot slot;
      ok(vyre_mega_programs_wait(r.p, tickets[k], &slot));
      assert_int_equal(slot.state, VYRE_MEGA_DONE);
    }
    hang_progress();
  }
  ok(vyre_mega_programs_read(r.p, range, &sum));
  stop_run(&r, &control, &counts);
  assert_int_equal(sum, items * (WORDS * (WORDS + 1) / 2));
  assert_int_equal(counts.items, items / 2);
  assert_int_equal(counts.compiled, items / 2);
}

static bool
try_publish(run *r, const vyre_mega_program_item *item, vyre_mega_program_ticket *ticket)
{
  bool published;
  ok(vyre_mega_programs_publish(r->p, item, ticket, &published));
  return published;
}

static void
finish(run *r, vyre_mega_program_ticket ticket)
{
  vyre_mega_slot slot;
  ok(vyre_mega_programs_wait(r->p, ticket, &slot));
  assert_int_equal(slot.state, VYRE_MEGA_DONE);
}

/* An interpreted and a compiled item are not in flight together if they share written memory. */
TEST(items_of_both_kinds_wait_for_each_other)
{
  run r;
  vyre_mega_range range, free_range;
  vyre_mega_control control;
  vyre_mega_programs_counts counts;
  vyre_mega_program_ticket first, second;
  uint32_t sum;
  start_run(&r, 0, false);
  const uint32_t programs[2] = {add_text(&r, adds_text), add_text(&r, adds_text)};
  ok(vyre_mega_programs_compile(r.p, programs[1]));
  ok(vyre_mega_programs_allocate(r.p, 4, &range));
  ok(vyre_mega_programs_allocate(r.p, 4, &free_range));
  vyre_mega_program_item interpreted = {
      .program = programs[0], .buffers = &range, .buffer_count = 1, .groups = {GROUPS, 1, 1}, .tenant = 5};
  vyre_mega_program_item compiled = {.program = programs[1], .buffers = &range, .buffer_count = 1, .groups = {GROUPS, 1, 1}};
  ok(vyre_mega_live_set(vyre_mega_programs_live(r.p), VYRE_MEGA_MASKS + 5, 0));
  assert_true(try_publish(&r, &interpreted, &first)); /* the mask keeps the item in flight */
  assert_false(try_publish(&r, &compiled, &second));
  ok(vyre_mega_live_set(vyre_mega_programs_live(r.p), VYRE_MEGA_MASKS + 5, 1));
  while (!try_publish(&r, &compiled, &second)) /* before the end of the other item was read */
    sched_yield();
  finish(&r, second);
  finish(&r, first);
  frail *f = frail_of(r.other);
  __atomic_store_n(&f->is_held, true, __ATOMIC_RELEASE);
  assert_true(try_publish(&r, &compiled, &second));
  while (!__atomic_load_n(&f->waits, __ATOMIC_ACQUIRE)) /* the dispatch has its copy of the buffer */
    sched_yield();
  assert_false(try_publish(&r, &interpreted, &first));
  interpreted.buffers = &free_range;
  assert_true(try_publish(&r, &interpreted, &first));
  finish(&r, first);
  __atomic_store_n(&f->is_held, false, __ATOMIC_RELEASE);
  finish(&r, second);
  interpreted.buffers = &range;
  assert_true(try_publish(&r, &interpreted, &first));
  finish(&r, first);
  ok(vyre_mega_programs_read(r.p, range, &sum));
  stop_run(&r, &control, &counts);
  assert_int_equal(sum, 4 * (WORDS * (WORDS + 1) / 2));
  assert_int_equal(counts.compiled, 2);
}

TEST(masks_and_quotas_hold_for_compiled_items)
{
  run r;
  memory s;
  vyre_mega_control control;
  vyre_mega_programs_counts counts;
  vyre_mega_program_ticket ticket;
  vyre_mega_slot slot;
  bool published = false, ended;
  start_run(&r, 0, false);
  make_state(&r, &s);
  const uint32_t program = add_text(&r, steps_text);
  vyre_mega_program_item item = item_of(program, &s);
  item.tenant = 5;
  ok(vyre_mega_programs_compile(r.p, program));
  ok(vyre_mega_live_set(vyre_mega_programs_live(r.p), VYRE_MEGA_QUOTAS + 5, 1));
  ok(vyre_mega_live_set(vyre_mega_programs_live(r.p), VYRE_MEGA_MASKS + 5, 0));
  while (!published)
    ok(vyre_mega_programs_publish(r.p, &item, &ticket, &published));
  ok(vyre_mega_programs_wait_for(r.p, ticket, 20000000, &slot, &ended));
  assert_false(ended);
  check_state(&r, &s);
  ok(vyre_mega_live_set(vyre_mega_programs_live(r.p), VYRE_MEGA_MASKS + 5, 1));
  ok(vyre_mega_programs_wait(r.p, ticket, &slot));
  assert_int_equal(slot.state, VYRE_MEGA_DONE);
  expect_step(&s);
  refused(vyre_mega_programs_poll(r.p, ticket, &slot, &ended), "is stale");
  slot = run_item(r.p, item);
  assert_int_equal(slot.state, VYRE_MEGA_FAULT);
  assert_int_equal(slot.reason, VYRE_MEGA_REASON_QUOTA);
  check_state(&r, &s);
  stop_run(&r, &control, &counts);
  assert_int_equal(counts.compiled, 1);
  assert_int_equal(counts.items, 0);
}

/* A program that cannot be compiled stays interpreted, and one remark reports it. */
TEST(programs_without_a_kernel_stay_interpreted)
{
  run r;
  memory s;
  vyre_mega_control control;
  vyre_mega_programs_counts counts;
  const uint32_t trap[WORDS] = {77};
  start_run(&r, 0, false);
  make_state(&r, &s);
  const uint32_t traps = add_text(&r, traps_text), program = add_text(&r, steps_text);
  const vyre_mega_program_item item = {.program = traps, .buffers = s.ranges, .buffer_count = 1, .groups = {GROUPS, 1, 1}};
  refused(vyre_mega_programs_compile(r.p, traps), "the program has a trap");
  refused(vyre_mega_programs_compile(r.p, traps), "the program has a trap");
  assert_non_null(strstr(r.remark, "stays interpreted: the program has a trap"));
  assert_int_equal(run_item(r.p, item).state, VYRE_MEGA_DONE);
  ok(vyre_mega_programs_write(r.p, s.ranges[0], trap));
  assert_int_equal(run_item(r.p, item).reason, VYRE_MEGA_REASON_TRAP);
  assert_int_equal(r.remarks, 1);
  ok(vyre_mega_programs_write(r.p, s.ranges[0], s.wanted));
  frail_plan(r.other, FRAIL_COMPILE, 0, 1, FRAIL_FAILED);
  refused(vyre_mega_programs_compile(r.p, program), "frail: the call failed");
  step(&r, program, &s);
  assert_int_equal(r.remarks, 2);
  stop_run(&r, &control, &counts);
  assert_int_equal(counts.items, 2);
  assert_int_equal(counts.compiled, 0);
}

/* A dispatch that fails once is repeated.  One that fails again is interpreted, as are later items. */
TEST(failed_dispatches_have_no_effect)
{
  static const frail_fault faults[] = {FRAIL_LOST, FRAIL_LOST_AFTER, FRAIL_NO_MEMORY, FRAIL_FAILED};
  run r;
  memory s;
  vyre_mega_control control;
  vyre_mega_programs_counts counts;
  start_run(&r, 0, false);
  make_state(&r, &s);
  const uint32_t program = add_text(&r, steps_text);
  ok(vyre_mega_programs_compile(r.p, program));
  step(&r, program, &s);
  for (uint32_t i = 0; i < 4; i++) {
    frail_plan(r.other, FRAIL_SUBMIT, 0, 1, faults[i]);
    step(&r, program, &s);
  }
  assert_int_equal(frail_recoveries(r.other), 2);
  assert_int_equal(r.remarks, 0);
  frail_plan(r.other, FRAIL_SUBMIT, 0, 2, FRAIL_LOST_AFTER);
  step(&r, program, &s);
  step(&r, program, &s);
  assert_int_equal(frail_recoveries(r.other), 4);
  stop_run(&r, &control, &counts);
  assert_int_equal(r.remarks, 1);
  assert_int_equal(counts.compiled, 5);
  assert_int_equal(counts.items, 2);
}

/* Both devices are lost and run out of memory while programs are swapped: each item is done once, or is FAULT (LOST) and had no
 * effect if it ran compiled. */
TEST(each_item_is_done_once_while_programs_are_swapped)
{
  run r;
  vyre_mega_control control;
  vyre_mega_programs_counts counts;
  uint32_t done = 0, lost = 0;
#ifdef MEGA_CPU
  const uint32_t rounds = 60;
#else
  const uint32_t rounds = 8;
#endif
  start_run(&r, 6, true);
  for (uint32_t i = 0; i < rounds; i++) {
    static const uint32_t zeros[WORDS];
    const uint32_t program = add_text(&r, steps_text);
    for (uint32_t n = 0; n < 12; n += FLIGHT) {
      vyre_mega_program_ticket tickets[FLIGHT];
      memory states[FLIGHT];
      for (uint32_t k = 0; k < FLIGHT; k++) {
        make_state(&r, &states[k]);
        const vyre_mega_program_item item = item_of(program, &states[k]);
        for (bool published = false; !published;)
          ok(vyre_mega_programs_publish(r.p, &item, &tickets[k], &published));
      }
      for (uint32_t k = 0; k < FLIGHT; k++) {
        uint32_t words[WORDS];
        vyre_mega_slot slot;
        ok(vyre_mega_programs_wait(r.p, tickets[k], &slot));
        ok(vyre_mega_programs_read(r.p, states[k].ranges[0], words));
        expect_step(&states[k]);
        for (uint32_t w = 0; w < WORDS; w++)
          assert_true(words[w] == states[k].wanted[w] || (slot.state == VYRE_MEGA_FAULT && words[w] == zeros[w]));
        if (slot.state == VYRE_MEGA_FAULT)
          assert_int_equal(slot.reason, VYRE_MEGA_REASON_LOST);
        done += slot.state == VYRE_MEGA_DONE;
        lost += slot.state == VYRE_MEGA_FAULT;
        ok(vyre_mega_programs_free(r.p, states[k].ranges[0]));
        ok(vyre_mega_programs_free(r.p, states[k].ranges[1]));
      }
      hang_progress();
    }
    ok(vyre_mega_programs_remove(r.p, program));
  }
  const uint32_t recoveries = frail_recoveries(r.target) + frail_recoveries(r.other);
  stop_run(&r, &control, &counts);
  print_message("%u items: %u done, of which %u compiled; %u lost; %u recoveries; %u remarks\n", done + lost, done,
                (unsigned)counts.compiled, lost, recoveries, r.remarks);
  assert_int_equal(done + lost, rounds * 12);
  assert_int_equal(counts.items + counts.compiled, done);
  assert_true(counts.compiled && counts.items && recoveries > 1);
}

TEST(an_item_that_waits_is_refused_after_the_end_of_the_kernel)
{
  enum { SLOTS = 64 }; /* the default */
  run r;
  memory s;
  vyre_mega_program_ticket ticket;
  vyre_mega_programs_counts counts = {0};
  start_run(&r, 0, false);
  make_state(&r, &s);
  const uint32_t program = add_text(&r, steps_text);
  const vyre_mega_program_item item = item_of(program, &s);
  bool published = false;
  ok(vyre_mega_programs_compile(r.p, program));
  for (uint32_t i = 0; i < SLOTS; i += published)
    ok(vyre_mega_programs_publish(r.p, &item, &ticket, &published));
  while (counts.compiled < SLOTS) /* they keep their places, because nothing polls them */
    vyre_mega_programs_count(r.p, &counts);
  ok(vyre_mega_programs_publish(r.p, &item, &ticket, &published));
  assert_false(published);
  ok(vyre_mega_live_publish(vyre_mega_programs_live(r.p), &(vyre_mega_item){.op = VYRE_MEGA_OP_SHUT_DOWN}, NULL, &published));
  assert_true(published);
  vyre_status status = VYRE_OK;
  while (!status)
    status = vyre_mega_programs_publish(r.p, &item, &ticket, &published);
  refused(status, "was shut down");
  stop_run(&r, NULL, &counts);
}

TEST(a_compile_target_is_needed_and_separate)
{
  vyre_target *target = world_target();
  vyre_mega_programs *p;
  vyre_mega_programs_options options = {.struct_size = sizeof options, .compile_after = 3};
  refused(vyre_mega_programs_start(&frail_ops, target, &options, &p), "a target of their own");
  options.compile_target = target;
  refused(vyre_mega_programs_start(&frail_ops, target, &options, &p), "a target of their own");
  options = (vyre_mega_programs_options){.struct_size = sizeof options, .groups = 1};
  ok(vyre_mega_programs_start(&frail_ops, target, &options, &p));
  vyre_module *module = parse_program(adds_text);
  uint32_t program;
  ok(vyre_mega_programs_register(p, module, (vyre_row){vyre_module_view(module)->first[0]}, NULL, &program));
  vyre_module_destroy(module);
  refused(vyre_mega_programs_compile(p, program), "no target for compiled items");
  ok(vyre_mega_programs_stop(p, NULL, NULL));
  world_target_end(target);
}

TEST_MAIN(NULL, device_end)
