/* Handlers with barriers for the whole grid: their items compute what the handler computes alone, on targets with such barriers and
 * in segments.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"

#include "vyre/io.h"
#include "vyre/ir.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include "live_items.h"

enum { SLOTS = 24, WORDS = 96, TOTAL = 160, OWN = 162, NEXT = 192 };
enum { STAGES = 3 + 3 + 4 + 2 + 1 }; /* segments of four functions, and the end of items */

#ifdef MEGA_CPU
struct vyre_c_dispatch;
uint32_t grid_once(const struct vyre_c_dispatch *dispatch);
uint32_t grid_priority(const struct vyre_c_dispatch *dispatch);
uint32_t grid_persistent(const struct vyre_c_dispatch *dispatch);
extern uint32_t (*const grid_once_stages[STAGES])(const struct vyre_c_dispatch *dispatch);
extern uint32_t (*const grid_priority_stages[STAGES])(const struct vyre_c_dispatch *dispatch);
extern uint32_t (*const grid_persistent_stages[STAGES])(const struct vyre_c_dispatch *dispatch);
#endif

#define SIGNATURE                                                                                                                \
  "(%control : path u32[], %ring : path u32[], %debug : path u32[], %io : path u32[], %base : u32, %op : u32, %a0 : u32, %a1 : " \
  "u32, %a2 : u32) -> u32 {\n"

static const vyre_mega_handler handlers[] = {{8, "sum"}, {9, "@meet"}, {10, "settle"}, {11, "stop"}, {12, "@sum"}};

/* Returns the text of grid.vir. */
static const char *
source_text(void)
{
  static vyre_bytes text;
  if (!text.data)
    ok(vyre_file_read_as(GRID_VIR, VYRE_FILE_TEXT, &text));
  return text.data;
}

/* The program that runs @sum alone for the items that do not return early. */
static const char alone[] =
    "program @alone workgroup(1, 1, 1) {\n"
    "  buffer %control : u32[] storage rw set(0) binding(0)\n"
    "  buffer %ring : u32[] storage rw set(0) binding(1)\n"
    "  %base = shl(gid.x, 4u32)\n"
    "  %op = load %ring[add(%base, 1u32)]\n"
    "  %tenant = load %ring[add(%base, 2u32)]\n"
    "  %a0 = load %ring[add(%base, 4u32)]\n"
    "  %is_other = and(ne(%op, 8u32), ne(%op, 12u32))\n"
    "  if or(or(ne(load(%ring[%base]), 1u32), %is_other), or(ne(%tenant, 0u32), uge(%a0, 100u32))) { return }\n"
    "  %r = @sum(%control, %ring, %ring, %ring, %base, %op, %a0, load(%ring[add(%base, 5u32)]), "
    "load(%ring[add(%base, 6u32)]))\n"
    "}\n";

static vyre_mega_program
program_of(vyre_mega_build build)
{
  return (vyre_mega_program){.build = build, .source = source_text(), .handlers = handlers, .handler_count = 5};
}

static bool is_compiled; /* the test runs with the functions of vyre-megac */

/* Sets the functions that vyre-megac has made of grid.vir. */
static void
set_native(vyre_mega_options *options)
{
#ifdef MEGA_CPU
  static const struct {
    uint32_t (*run)(const struct vyre_c_dispatch *);
    uint32_t (*const *stages)(const struct vyre_c_dispatch *);
  } natives[VYRE_MEGA_BUILD__COUNT] = {[VYRE_MEGA_ONCE] = {grid_once, grid_once_stages},
                                       [VYRE_MEGA_BY_PRIORITY] = {grid_priority, grid_priority_stages},
                                       [VYRE_MEGA_PERSISTENT] = {grid_persistent, grid_persistent_stages}};
  if (!is_compiled)
    return;
  options->native.run = natives[options->program.build].run;
  options->stages = natives[options->program.build].stages;
  options->stage_count = STAGES;
#else
  (void)options;
#endif
}

/* Runs a test, and on a CPU again with compiled handlers. */
static void
in_each_form(void (*check)(void))
{
  check();
#ifdef MEGA_CPU
  is_compiled = true;
  check();
  is_compiled = false;
#endif
}

static world *
start(vyre_mega_build build, uint32_t passes)
{
  vyre_mega_options options = {.struct_size = sizeof options, .program = program_of(build), .slots = SLOTS, .passes = passes};
  set_native(&options);
  return world_with(options, WORDS);
}

/* Returns whether the target runs barriers for the whole grid in one launch. */
static bool
is_native(void)
{
  vyre_device_info info;
  ok(device_open());
  MEGA_TARGET.describe(device, &info);
  return (info.capabilities & VYRE_TARGET_GRID_BARRIERS) != 0;
}

/* ---- the handler alone --------------------------------------------------------------------------------------------------- */

/* Runs @sum over the items of the ring by the interpreter, and changes the control image as it does. */
static void
run_alone(const world *w, uint32_t *control)
{
  vyre_bytes text = {0};
  vyre_module *module;
  vyre_verify_errors errors = {0};
  ok(vyre_bytes_printf(&text, "%s%s", source_text(), alone));
  ok(vyre_module_create(NULL, 0, &module));
  ok(vyre_text_parse(module, text.data, text.size, "alone", (vyre_diagnostics){0}));
  ok(vyre_verify(module, &errors));
  const vyre_view *v = vyre_module_view(module);
  vyre_binding bindings[2] = {{.data = control, .size = vyre_mega_control_size(WORDS)},
                              {.data = w->ring, .size = vyre_mega_ring_size(SLOTS)}};
  uint32_t count = 0;
  for (uint32_t row = v->first[v->first[0]]; row && count < 2; row = v->next[row])
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer)
      bindings[count++].buffer = (vyre_row){row};
  ok(vyre_interp_run(module,
                     &(vyre_dispatch){.program = {v->first[0]}, .groups = {SLOTS, 1, 1}, .bindings = bindings, .binding_count = 2},
                     &(vyre_interp_options){.struct_size = sizeof(vyre_interp_options)}, NULL));
  vyre_verify_errors_free(&errors);
  vyre_module_destroy(module);
  vyre_bytes_free(&text);
}

/* Publishes 17 items of @sum, of which one returns early, one fails, and one belongs to a masked tenant, and items of other
 * handlers between them. */
static void
publish_sums(world *w)
{
  for (uint32_t i = 0; i < 16; i++)
    put(w, 23 - i, ITEM(.op = i % 3 ? 8 : 12, .priority = 2, .args = {i + 1, i, (i * 5 + 3) % 16}));
  put(w, 0, ITEM(.op = 1, .priority = 2, .args = {77, 250}));
  put(w, 1, ITEM(.op = 8, .priority = 2, .args = {100, 20, 20}));
  put(w, 3, ITEM(.op = 9, .priority = 2));
  put(w, 4, ITEM(.op = 77, .priority = 2));
  put(w, 5, ITEM(.op = 8, .tenant = 5, .priority = 2, .args = {50, 21, 21}));
  w->control[VYRE_MEGA_MASKS + 5] = 0;
}

static void
check_sums(const world *w, const uint32_t *wanted)
{
  for (uint32_t i = 160; i < 250; i++)
    if (w->control[i] != wanted[i])
      fail_msg("control word %u is %u, but %u if the handler runs alone", i, w->control[i], wanted[i]);
  for (uint32_t i = 0; i < 16; i++)
    if (i + 1 == 7)
      is_fault(w, 23 - i, 300);
    else
      is_done(w, 23 - i);
  is_done(w, 0);
  is_fault(w, 1, 300);
  is_done(w, 3);
  is_fault(w, 4, VYRE_MEGA_REASON_OP);
  assert_int_equal(state_of(w, 5), VYRE_MEGA_PUBLISHED);
  assert_int_equal(w->control[250], 77);
  assert_int_equal(w->control[VYRE_MEGA_DONE_COUNT], 17);
  assert_int_equal(w->control[VYRE_MEGA_FAULT_COUNT], 3);
  assert_int_equal(w->control[VYRE_MEGA_METRICS + 8], 10);
  assert_int_equal(w->control[VYRE_MEGA_METRICS + 12], 5);
  assert_int_equal(w->control[VYRE_MEGA_METRICS + 9], 1);
  assert_int_equal(w->control[VYRE_MEGA_QUOTAS], VYRE_MEGA_QUOTA - 20);
}

static void
check_items(vyre_mega_build build, world *w)
{
  uint32_t wanted[160 + WORDS];
  for (uint32_t i = 0; build == VYRE_MEGA_BY_PRIORITY && i < 6; i++) /* all slots are of one priority */
    w->control[VYRE_MEGA_PARTITIONS + i] = i < 3 ? 0 : SLOTS;
  publish_sums(w);
  memcpy(wanted, w->control, sizeof wanted);
  run_alone(w, wanted);
  assert_int_equal(wanted[TOTAL], 136);
  go(w);
  check_sums(w, wanted);
  world_free(w);
  hang_progress();
}

TEST(items_compute_what_their_handler_computes_alone)
{
  static const vyre_mega_build builds[] = {VYRE_MEGA_ONCE, VYRE_MEGA_BY_PRIORITY};
  for (uint32_t k = 0; k < 2; k++) {
    for (const way *how = ways; how->name; how++)
      check_items(builds[k], world_in_way(how, program_of(builds[k]), SLOTS, WORDS));
#ifdef MEGA_CPU
    is_compiled = true;
    check_items(builds[k], start(builds[k], 0));
    is_compiled = false;
#endif
  }
}

static void
check_each_segment_is_a_launch_where_the_target_has_no_grid_barriers(void)
{
  world *w = start(VYRE_MEGA_ONCE, 0);
  put(w, 2, ITEM(.op = 9));
  go(w);
  is_done(w, 2);
  /* the kernel, a program for each function or segment, and the end of items */
  assert_int_equal(w->stats.kernel_launches, is_native() && !is_compiled ? 1 + 4 + 1 : 1 + STAGES);
  assert_true(w->stats.sync_points <= 1);
  go(w); /* an ended item does not run again */
  assert_int_equal(w->control[VYRE_MEGA_DONE_COUNT], 1);
  world_free(w);
}

TEST(each_segment_is_a_launch_where_the_target_has_no_grid_barriers)
{
  in_each_form(check_each_segment_is_a_launch_where_the_target_has_no_grid_barriers);
}

/* ---- passes -------------------------------------------------------------------------------------------------------------- */

enum { CHAIN = 12 };

static void
publish_chain(world *w)
{
  w->control[160] = w->control[161 + CHAIN] = 1000;
  for (uint32_t i = 0; i < CHAIN; i++) {
    w->control[161 + i] = 100 + i;
    put(w, 2 * i, ITEM(.op = 10, .args = {0, i}));
  }
}

static void
check_chain(const uint32_t *control, const uint32_t *ring, uint32_t passes)
{
  for (uint32_t i = 0; i < CHAIN; i++) {
    assert_int_equal(control[161 + i], i <= passes ? 100 : 100 + i - passes);
    assert_int_equal(ring[2 * i * 16], passes < CHAIN ? VYRE_MEGA_YIELD : VYRE_MEGA_DONE);
  }
  assert_int_equal(control[151], passes);
}

/* The value 100 moves by one item a pass, and the pass without a change is the last. */
static void
check_passes_repeat_until_no_item_runs_again(void)
{
  world *w = start(VYRE_MEGA_ONCE, 3);
  publish_chain(w);
  go(w);
  check_chain(w->control, w->ring, 3);
  go(w); /* items continue */
  check_chain(w->control, w->ring, 6);
  world_free(w);
  w = start(VYRE_MEGA_ONCE, 40);
  publish_chain(w);
  go(w);
  check_chain(w->control, w->ring, CHAIN);
  assert_true(w->stats.sync_points <= 1);
  world_free(w);
}

TEST(passes_repeat_until_no_item_runs_again)
{
  in_each_form(check_passes_repeat_until_no_item_runs_again);
}

static void
check_passes_over_buffers_on_the_device(void)
{
  world *w = start(VYRE_MEGA_ONCE, 40);
  vyre_mega_batch batch = {0};
  vyre_mega_stats stats;
  publish_chain(w);
  for (uint32_t i = 0; i < 3; i++) {
    vyre_mega_row row = {0};
    ok(world_upload(w, &row));
    ok(vyre_mega_batch_add(&batch, &row));
  }
  ok(vyre_mega_batch_dispatch(w->mega, &batch, &stats));
  assert_int_equal(stats.input_bytes, 0);
  for (uint32_t i = 0; i < 3; i++)
    check_chain((const uint32_t *)(const void *)batch.outputs[i].images[0].data,
                (const uint32_t *)(const void *)batch.outputs[i].images[1].data, CHAIN);
  for (uint32_t i = 0; i < 3; i++)
    for (uint32_t k = 0; k < 4; k++)
      ok(ops->free(w->target, batch.rows[i].buffers[k].buffer));
  vyre_mega_batch_free(&batch);
  world_free(w);
}

TEST(passes_over_buffers_on_the_device)
{
  in_each_form(check_passes_over_buffers_on_the_device);
}

/* ---- faults and refusals ------------------------------------------------------------------------------------------------- */

static void
check_packed_operations_are_not_staged(void)
{
  world *w = start(VYRE_MEGA_ONCE, 0);
  vyre_mega_item item = {.op = VYRE_MEGA_OP_PACKED};
  ok(vyre_mega_pack((const vyre_mega_packed[]){{1, {5, 170, 0}}, {9, {0, 0, 0}}}, 2, item.args));
  put(w, 1, item);
  go(w);
  is_fault(w, 1, 1u << 16 | VYRE_MEGA_REASON_OP);
  assert_int_equal(w->control[170], 5);
  world_free(w);
}

TEST(packed_operations_are_not_staged)
{
  in_each_form(check_packed_operations_are_not_staged);
}

static void
check_a_trap_ends_its_item(void)
{
  world *w = start(VYRE_MEGA_ONCE, 0);
  put(w, 1, ITEM(.op = 11, .args = {1}));
  put(w, 2, ITEM(.op = 11, .args = {2}));
  const vyre_mega_input input = input_of(w);
  vyre_device_info info;
  MEGA_TARGET.describe(device, &info);
  if (info.forms & 1u << VYRE_KERNEL_SPIRV) {
    go(w);
    is_fault(w, 1, VYRE_MEGA_REASON_TRAP);
    is_done(w, 2);
  } else {
    vyre_status status = vyre_mega_dispatch(w->mega, &input, &w->output, NULL);
    assert_non_null(status);
    assert_non_null(strstr(vyre_status_text(status), "trap"));
    vyre_status_free(status);
  }
  world_free(w);
}

TEST(a_trap_ends_its_item)
{
  in_each_form(check_a_trap_ends_its_item);
}

TEST(barriers_that_cannot_be_split_are_refused_by_name)
{
  static const char in_loop[] = "func @turns" SIGNATURE "  for %k = 0u32 to %a0 step 1u32 { barrier device }\n  return 0u32\n}\n";
  vyre_mega_options options = {.struct_size = sizeof options,
                               .program = {.source = in_loop, .handlers = &(vyre_mega_handler){8, "turns"}, .handler_count = 1},
                               .slots = SLOTS};
  vyre_target *target = world_target();
  vyre_mega *mega = NULL;
#ifdef MEGA_CPU
  /* The interpreter needs no split. */
  ok(vyre_mega_create(ops, target, &options, &mega));
  ok(vyre_mega_destroy(mega));
  options.native.run = grid_once;
  refused(vyre_mega_create(ops, target, &options, &mega), "a barrier for the whole grid is in a 'for'");
  options.program = program_of(VYRE_MEGA_ONCE);
  options.stages = grid_once_stages;
  options.stage_count = STAGES - 1;
  refused(vyre_mega_create(ops, target, &options, &mega),
          "12 functions, but the handlers with barriers for the whole grid need more");
  options.stage_count = STAGES + 1;
  refused(vyre_mega_create(ops, target, &options, &mega), "need fewer");
#else
  refused(vyre_mega_create(ops, target, &options, &mega), "a barrier for the whole grid is in a 'for'");
  options.program.handlers = NULL;
  options.program.handler_count = 0;
  options.program.fused = "turns";
  vyre_status status = vyre_mega_create(ops, target, &options, &mega);
  assert_non_null(strstr(vyre_status_text(status), "in the handler @turns"));
  vyre_status_free(status);
#endif
  world_target_end(target);
}

/* ---- losses -------------------------------------------------------------------------------------------------------------- */

static void
check_staged_items_run_again_after_a_loss(void)
{
  static const frail_fault faults[] = {FRAIL_LOST, FRAIL_LOST_AFTER, FRAIL_NO_MEMORY};
  for (uint32_t i = 0; i < 3; i++) {
    world *w = start(VYRE_MEGA_ONCE, 40);
    publish_chain(w);
    frail_plan(w->target, FRAIL_SUBMIT, 0, 1, faults[i]);
    go(w);
    check_chain(w->control, w->ring, CHAIN);
    assert_int_equal(w->stats.was_recovered, faults[i] != FRAIL_NO_MEMORY);
    world_free(w);
  }
}

TEST(staged_items_run_again_after_a_loss)
{
  in_each_form(check_staged_items_run_again_after_a_loss);
}

/* Each item is done once.  In a ring that the host shares, an item that was claimed during a loss is FAULT instead. */
TEST(live_items_are_done_once_despite_losses)
{
  enum { FLIGHT = 6, ROUNDS = 6 };
#ifdef MEGA_CPU
  is_compiled = true; /* live kernels have no interpreted handlers */
#endif
  world *w = start(VYRE_MEGA_PERSISTENT, 0);
  vyre_mega_ticket tickets[FLIGHT];
  vyre_mega_control control;
  uint32_t lost = 0, done = 0;
  frail_of(w->target)->every = 4;
  frail_of(w->target)->most = 6;
  live_go(w, (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = WORDS});
  assert_int_not_equal(vyre_mega_live_way(w->live), VYRE_MEGA_MAPPED);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    for (uint32_t k = 0; k < FLIGHT; k++)
      tickets[k] = live_publish(w, ITEM(.op = 8, .args = {1, i * FLIGHT % 24 + k, 0}));
    for (uint32_t k = 0; k < FLIGHT; k++) {
      const vyre_mega_slot slot = live_wait(w, tickets[k]);
      if (slot.state == VYRE_MEGA_FAULT)
        assert_int_equal(slot.reason, VYRE_MEGA_REASON_LOST);
      done += slot.state == VYRE_MEGA_DONE;
      lost += slot.state == VYRE_MEGA_FAULT;
    }
  }
  while (frail_recoveries(w->target) < 2) /* the number of items in a launch varies */
    live_do(w, ITEM(.op = 0));
  const uint32_t total = live_word(w, TOTAL);
  assert_true(total >= done && total <= done + lost);
  assert_true(!live_is_mirrored(w) || lost == 0);
  ok(vyre_mega_live_stop(w->live, &control, NULL));
  assert_int_equal(control.metrics[8], done);
  world_free(w);
  is_compiled = false;
}

TEST(a_fused_handler_may_have_barriers)
{
  world *w = world_with((vyre_mega_options){.struct_size = sizeof(vyre_mega_options),
                                            .program = {.source = source_text(), .fused = "@sum"},
                                            .slots = SLOTS},
                        WORDS);
  put(w, 3, ITEM(.op = 1, .args = {5, 0, 1}));
  put(w, 9, ITEM(.op = 99, .args = {6, 1, 0}));
  go(w);
  is_done(w, 3);
  is_done(w, 9);
  assert_int_equal(w->control[TOTAL], 11);
  assert_int_equal(w->control[OWN], 11 * 3 + 5);
  assert_int_equal(w->control[NEXT], 11 * 3 + 6 + 5 + 1);
  world_free(w);
}

TEST_MAIN(NULL, device_end)
