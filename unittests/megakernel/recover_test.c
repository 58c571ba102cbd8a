/* Dispatches whose device is lost or runs out of memory: recovery, second tries, and errors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "frail.h"

#include <dlfcn.h>

#ifdef MEGA_CUDA
#include "sim/simulator.h"
#elif !defined(MEGA_CPU)
#include "fake_vulkan.h"
#endif

enum { IMAGES = 660 + 64 * 16 + 1028 + 2048 };

/* Creates a ring of 16 slots with 5 items, each of which adds to its observable. */
static world *
start_with(vyre_mega_recovery recovery)
{
  world *w = world_with((vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .slots = 16, .recovery = recovery}, 5);
  for (uint32_t i = 0; i < 5; i++)
    put(w, i, ITEM(.op = 2, .args = {i + 1, 160 + i}));
  return w;
}

static world *
start(void)
{
  return start_with((vyre_mega_recovery){0});
}

static void
is_right(const vyre_mega_output *output, uint32_t times)
{
  for (uint32_t i = 0; i < 5; i++) {
    uint32_t value;
    ok(vyre_mega_observable(output->images[0].data, output->images[0].size, i, &value));
    assert_int_equal(value, times * (i + 1));
  }
}

static void
refused_with_both(vyre_status status, const char *first, const char *second)
{
  if (!status || !strstr(vyre_status_text(status), second))
    fail_msg("expected '%s', but the message is: %s", second, vyre_status_text(status));
  refused(status, first);
}

static vyre_status
dispatch(world *w)
{
  const vyre_mega_input input = input_of(w);
  return vyre_mega_dispatch(w->mega, &input, &w->output, &w->stats);
}

/* ---- images of the host -------------------------------------------------------------------------------------------------- */

TEST(a_lost_device_is_recovered)
{
  static const struct {
    frail_call call;
    frail_fault fault;
  } cases[] = {{FRAIL_SUBMIT, FRAIL_LOST}, {FRAIL_SUBMIT, FRAIL_LOST_AFTER}, {FRAIL_ALLOCATE, FRAIL_LOST}};
  for (uint32_t i = 0; i < 3; i++) {
    world *w = start();
    if (cases[i].call == FRAIL_SUBMIT) /* allocates the buffers first */
      ok(dispatch(w));
    else
      for (uint32_t k = 0; k < 4; k++)
        ok(vyre_bytes_reserve(&w->output.images[k], 4096));
    const char *at[4];
    for (uint32_t k = 0; k < 4; k++)
      at[k] = w->output.images[k].data;
    frail_plan(w->target, cases[i].call, 0, 1, cases[i].fault);
    ok(dispatch(w));
    is_right(&w->output, 1);
    assert_true(w->stats.was_recovered);
    assert_int_equal(w->stats.device_allocation_events, 4);
    assert_int_equal(w->stats.device_allocation_bytes, IMAGES);
    assert_int_equal(w->stats.input_bytes, IMAGES);
    assert_int_equal(frail_of(w->target)->recoveries, 1);
    assert_int_equal(frail_of(w->target)->calls[FRAIL_COMPILE], 2);
    for (uint32_t k = 0; k < 4; k++)
      assert_ptr_equal(w->output.images[k].data, at[k]);
    ok(dispatch(w));
    assert_false(w->stats.was_recovered);
    assert_int_equal(w->stats.device_allocation_events, 0);
    world_free(w);
  }
}

TEST(a_second_loss_is_an_error_and_keeps_earlier_results)
{
  world *w = start();
  ok(dispatch(w));
  frail_plan(w->target, FRAIL_SUBMIT, 0, 2, FRAIL_LOST_AFTER);
  refused_with_both(dispatch(w), "the device is lost", "reopened for a second try");
  assert_int_equal(frail_of(w->target)->calls[FRAIL_SUBMIT], 3);
  assert_int_equal(w->output.count, 4);
  is_right(&w->output, 1);
  ok(dispatch(w)); /* begins with a lost device */
  assert_true(w->stats.was_recovered);
  is_right(&w->output, 1);
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
  frail_plan(w->target, FRAIL_COMPILE, 0, 1, FRAIL_FAILED);
  refused(dispatch(w), "the call failed");
  ok(dispatch(w)); /* compiles the kernel again */
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
  frail_plan(w->target, FRAIL_RECOVER, 0, 1, FRAIL_FAILED);
  refused_with_both(dispatch(w), "the device is lost", "the device cannot be opened again");
  is_right(&w->output, 1);
  world_free(w);
}

TEST(a_dispatch_without_memory_is_tried_once_more)
{
  world *w = start();
  frail_plan(w->target, FRAIL_ALLOCATE, 2, 1, FRAIL_NO_MEMORY);
  ok(dispatch(w));
  assert_false(w->stats.was_recovered);
  assert_int_equal(w->stats.device_allocation_events, 6); /* two buffers were freed and allocated again */
  is_right(&w->output, 1);
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_NO_MEMORY);
  ok(dispatch(w));
  assert_int_equal(w->stats.device_allocation_events, 4);
  frail_plan(w->target, FRAIL_SUBMIT, 0, 2, FRAIL_NO_MEMORY);
  refused_with_both(dispatch(w), "no memory is left", "kept buffers were freed");
  assert_int_equal(frail_of(w->target)->recoveries, 0);
  ok(dispatch(w));
  world_free(w);
}

TEST(other_failures_and_wrong_input_are_errors_at_once)
{
  world *w = start();
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_FAILED);
  refused(dispatch(w), "the call failed");
  assert_int_equal(frail_of(w->target)->calls[FRAIL_SUBMIT], 1);
  vyre_mega_input input = input_of(w);
  input.ring_size -= 64;
  refused(vyre_mega_dispatch(w->mega, &input, &w->output, NULL), "ring");
  assert_int_equal(frail_of(w->target)->calls[FRAIL_SUBMIT], 1);
  world_free(w);
}

TEST(recovery_may_be_off)
{
  world *w = start_with((vyre_mega_recovery){.is_off = true});
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_NO_MEMORY);
  refused(dispatch(w), "no memory is left");
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
  refused(dispatch(w), "the device is lost");
  assert_true(frail_of(w->target)->is_lost);
  world_free(w);
}

/* ---- buffers of the caller ----------------------------------------------------------------------------------------------- */

typedef struct remaker {
  world *w;
  uint32_t calls, fails;
} remaker;

static vyre_status
remake_rows(void *user, vyre_mega_row *rows, uint32_t count)
{
  remaker *r = user;
  r->calls++;
  if (r->fails)
    return VYRE_ERROR(VYRE_CODE_INPUT, "remaker: the rows are lost\nFix: keep them");
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(world_upload(r->w, &rows[i]));
  return VYRE_OK;
}

TEST(rows_are_remade_by_their_owner)
{
  for (uint32_t has_remaker = 0; has_remaker < 2; has_remaker++) {
    remaker r = {0};
    world *w = r.w = start_with((vyre_mega_recovery){.remake = has_remaker ? remake_rows : NULL, .user = &r});
    vyre_mega_batch batch = {0};
    for (uint32_t i = 0; i < 3; i++) {
      vyre_mega_row row = {0};
      ok(world_upload(w, &row));
      ok(vyre_mega_batch_add(&batch, &row));
    }
    frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST_AFTER);
    if (!has_remaker) {
      refused(vyre_mega_batch_dispatch(w->mega, &batch, &w->stats), "the device is lost");
      assert_true(frail_of(w->target)->is_lost);
    } else {
      ok(vyre_mega_batch_dispatch(w->mega, &batch, &w->stats));
      assert_true(w->stats.was_recovered);
      assert_int_equal(w->stats.input_bytes, 0);
      for (uint32_t i = 0; i < 3; i++)
        is_right(&batch.outputs[i], 1);
      assert_int_equal(r.calls, 1);
      frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
      ok(vyre_mega_dispatch_resident(w->mega, &batch.rows[0], &w->output, &w->stats)); /* the batch has the new buffers */
      is_right(&w->output, 1);
      assert_int_equal(r.calls, 2);
      r.fails = 1;
      frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
      refused_with_both(vyre_mega_dispatch_resident(w->mega, &batch.rows[0], &w->output, &w->stats), "the device is lost",
                        "the rows are lost");
    }
    vyre_mega_batch_free(&batch);
    world_free(w);
  }
}

/* The launch that runs out of memory has claimed an item, which was about to claim a slot of the IO queue. */
TEST(items_begun_by_a_failed_launch_are_faults)
{
  static const uint32_t claimed = VYRE_MEGA_CLAIMED, bits = 7;
  world *w = start();
  vyre_mega_row row = {0};
  uint32_t value;
  ok(world_upload(w, &row));
  ok(vyre_target_write(ops, w->target, row.buffers[1].buffer, 2 * VYRE_MEGA_SLOT_BYTES, 4, &claimed));
  ok(vyre_target_write(ops, w->target, row.buffers[0].buffer, VYRE_MEGA_IO_CLAIMS * 4, 4, &bits));
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_NO_MEMORY);
  ok(vyre_mega_dispatch_resident(w->mega, &row, &w->output, &w->stats));
  const uint32_t *control = (const uint32_t *)(const void *)w->output.images[0].data;
  const uint32_t *ring = (const uint32_t *)(const void *)w->output.images[1].data;
  for (uint32_t i = 0; i < 5; i++) {
    ok(vyre_mega_observable(control, w->output.images[0].size, i, &value));
    assert_int_equal(value, i == 2 ? 0 : i + 1);
    assert_int_equal(ring[i * VYRE_MEGA_SLOT_WORDS], i == 2 ? VYRE_MEGA_FAULT : VYRE_MEGA_DONE);
  }
  assert_int_equal(ring[2 * VYRE_MEGA_SLOT_WORDS + VYRE_MEGA_SLOT_REASON], VYRE_MEGA_REASON_LOST);
  assert_int_equal(control[VYRE_MEGA_FAULT_COUNT], 1);
  assert_int_equal(control[VYRE_MEGA_DONE_COUNT], 4);
  assert_int_equal(control[VYRE_MEGA_IO_CLAIMS], 0);
  assert_false(w->stats.was_recovered);
  world_free(w);
}

static const char take_text[] = "func @take(%control : path u32[], %ring : path u32[], %debug : path u32[], %io : path u32[],\n"
                                "          %data : path u32[], %base : u32, %op : u32, %a0 : u32, %a1 : u32, %a2 : u32) -> u32 {\n"
                                "  store %control[add(%a1, 160u32)], load(%data[%a0])\n"
                                "  return 0u32\n"
                                "}\n";

static vyre_status
remake_data(void *user, vyre_mega_row *rows, uint32_t count)
{
  static const uint32_t data[2] = {11, 22};
  remaker *r = user;
  r->calls++;
  for (uint32_t i = 0; i < count; i++) {
    rows[i].buffers[4] = (vyre_range){.size = 8};
    VYRE_TRY(ops->allocate(r->w->target, 8, &rows[i].buffers[4].buffer));
    VYRE_TRY(vyre_target_write(ops, r->w->target, rows[i].buffers[4].buffer, 0, 8, data));
  }
  return VYRE_OK;
}

TEST(the_data_buffer_is_remade_by_its_owner)
{
  static const vyre_mega_handler handler = {8, "take"};
  const vyre_mega_program program = {.source = take_text, .handlers = &handler, .handler_count = 1, .has_data = true};
  for (uint32_t has_remaker = 0; has_remaker < 2; has_remaker++) {
    remaker r = {0};
    vyre_mega_row row = {0};
    uint32_t value;
    vyre_mega_options options = {.struct_size = sizeof options, .program = program, .slots = 16};
    options.recovery = (vyre_mega_recovery){.remake = has_remaker ? remake_data : NULL, .user = &r};
    world *w = r.w = world_with(options, 5);
    put(w, 3, ITEM(.op = 8, .args = {1, 2}));
    ok(remake_data(&r, &row, 1));
    vyre_mega_input input = input_of(w);
    input.data = row.buffers[4];
    ok(vyre_mega_dispatch(w->mega, &input, &w->output, NULL));
    frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
    vyre_status status = vyre_mega_dispatch(w->mega, &input, &w->output, NULL);
    if (has_remaker)
      ok(status);
    else
      refused(status, "the device is lost");
    ok(vyre_mega_observable(w->output.images[0].data, w->output.images[0].size, 2, &value));
    assert_int_equal(value, 22);
    assert_int_equal(r.calls, 1 + has_remaker);
    world_free(w);
  }
}

/* ---- a mirror ------------------------------------------------------------------------------------------------------------ */

static uint32_t
observable(const vyre_mega_mirror *mirror, uint32_t number)
{
  size_t size;
  uint32_t value;
  const void *image = vyre_mega_mirror_image(mirror, 0, &size);
  ok(vyre_mega_observable(image, size, number, &value));
  return value;
}

static void
run_on(vyre_mega_mirror *mirror, world *w, uint32_t slot, vyre_mega_item item)
{
  ok(vyre_mega_mirror_publish(mirror, slot, &item));
  ok(vyre_mega_mirror_dispatch(mirror, (vyre_range){0}, &w->stats));
}

TEST(a_mirror_continues_after_a_failure)
{
  static const frail_fault faults[] = {FRAIL_LOST, FRAIL_LOST_AFTER, FRAIL_NO_MEMORY, FRAIL_FAILED};
  for (uint32_t i = 0; i < 4; i++) {
    const bool is_error = faults[i] == FRAIL_FAILED, is_loss = i < 2;
    world *w = start();
    vyre_mega_mirror *mirror;
    ok(vyre_mega_mirror_create(w->mega, 5, 29, &mirror));
    run_on(mirror, w, 0, ITEM(.op = 2, .args = {5, 160}));
    ok(vyre_mega_mirror_publish(mirror, 1, &ITEM(.op = 2, .args = {7, 160})));
    ok(vyre_mega_mirror_set(mirror, VYRE_MEGA_SCRATCH, 3));
    frail_plan(w->target, FRAIL_SUBMIT, 0, 1, faults[i]);
    if (is_error)
      refused(vyre_mega_mirror_dispatch(mirror, (vyre_range){0}, NULL), "the call failed");
    assert_int_equal(observable(mirror, 0), 5);
    ok(vyre_mega_mirror_dispatch(mirror, (vyre_range){0}, &w->stats));
    assert_int_equal(observable(mirror, 0), 12);
    assert_int_equal(w->stats.was_recovered, is_loss);
    assert_int_equal(w->stats.device_allocation_events, is_loss ? 4 : 0);
    assert_int_equal(w->stats.input_bytes, IMAGES);
    run_on(mirror, w, 2, ITEM(.op = 3, .args = {VYRE_MEGA_SCRATCH, 1}));
    assert_int_equal(observable(mirror, 1), 3);
    assert_int_equal(w->stats.input_bytes, 64);
    ok(vyre_mega_mirror_destroy(mirror));
    world_free(w);
  }
}

/* The device is lost in a dispatch of images. */
TEST(a_mirror_notices_a_loss_in_another_dispatch)
{
  world *w = start();
  vyre_mega_mirror *mirror;
  ok(vyre_mega_mirror_create(w->mega, 5, 29, &mirror));
  run_on(mirror, w, 0, ITEM(.op = 2, .args = {5, 160}));
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
  ok(dispatch(w));
  run_on(mirror, w, 1, ITEM(.op = 2, .args = {7, 160}));
  assert_int_equal(observable(mirror, 0), 12);
  assert_int_equal(w->stats.device_allocation_events, 4);
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
  ok(dispatch(w));
  ok(vyre_mega_mirror_destroy(mirror)); /* its buffers are stale, and are not freed */
  world_free(w);
}

/* Each megakernel detects its stale handles at its next use or destruction. */
TEST(megakernels_notice_a_loss_in_another_one)
{
  remaker r = {0};
  const vyre_mega_options options = {.struct_size = sizeof options, .slots = 16, .recovery = {.remake = remake_rows, .user = &r}};
  world *w = r.w = start_with(options.recovery);
  vyre_mega *all[4] = {w->mega};
  vyre_mega_mirror *mirrors[2];
  vyre_mega_input input = input_of(w);
  vyre_mega_row row = {0};
  for (uint32_t i = 0; i < 4; i++) {
    if (i)
      ok(vyre_mega_create(ops, w->target, &options, &all[i]));
    ok(vyre_mega_dispatch(all[i], &input, &w->output, NULL));
  }
  for (uint32_t i = 0; i < 2; i++) {
    ok(vyre_mega_mirror_create(all[i + 2], 5, 29, &mirrors[i]));
    run_on(mirrors[i], w, 0, ITEM(.op = 2, .args = {5, 160}));
  }
  ok(world_upload(w, &row));
  frail_plan(w->target, FRAIL_SUBMIT, 0, 1, FRAIL_LOST);
  ok(vyre_mega_dispatch(all[0], &input, &w->output, NULL));
  ok(vyre_mega_dispatch_resident(all[1], &row, &w->output, &w->stats));
  assert_true(w->stats.was_recovered);
  is_right(&w->output, 1);
  assert_int_equal(r.calls, 1);
  ok(vyre_mega_dispatch(all[1], &input, &w->output, &w->stats));
  assert_false(w->stats.was_recovered);
  run_on(mirrors[0], w, 1, ITEM(.op = 2, .args = {7, 160}));
  assert_true(w->stats.was_recovered);
  assert_int_equal(observable(mirrors[0], 0), 12);
  assert_int_equal(frail_of(w->target)->recoveries, 1);
  for (uint32_t i = 0; i < 2; i++)
    ok(vyre_mega_mirror_destroy(mirrors[i]));
  for (uint32_t i = 1; i < 4; i++)
    ok(vyre_mega_destroy(all[i]));
  world_free(w);
}

/* ---- losses that the driver reports -------------------------------------------------------------------------------------- */

#ifndef MEGA_CPU

#ifdef MEGA_CUDA
static void
lose(void *library)
{
  vyre_cuda_sim_fail_function *make_fail;
  void *symbol = dlsym(library, "vyre_cuda_sim_fail");
  memcpy(&make_fail, &symbol, sizeof symbol);
  assert_true(make_fail("run:kernel", 2, 719));
}
#define LOSING MEGA_LIBRARY
#else
static void
lose(void *library)
{
  const fake_vulkan *fake = dlsym(library, "fake_vulkan_functions");
  fake->lose(1, 1);
}
#define LOSING "unittests/libfake-vulkan.so"
#endif

/* Loses the device in the second of three dispatches. */
TEST(a_loss_that_the_driver_reports_is_recovered)
{
  world *w = start();
  vyre_target *target;
  vyre_mega *mega, *other;
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file("%s", LOSING)};
  void *library = dlopen(options.library, RTLD_NOW | RTLD_LOCAL);
  const vyre_mega_input input = input_of(w);
  assert_non_null(library);
  ok(MEGA_TARGET.open(&options, NULL, &target));
  ok(vyre_mega_create(&MEGA_TARGET, target, &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .slots = w->slots},
                      &mega));
  ok(vyre_mega_create(&MEGA_TARGET, target, &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .slots = w->slots},
                      &other));
  lose(library);
  for (uint32_t i = 0; i < 4; i++) { /* the fourth dispatch is of the other megakernel, which recovers, too */
    ok(vyre_mega_dispatch(i < 3 ? mega : other, &input, &w->output, &w->stats));
    assert_int_equal(w->stats.was_recovered, i == 1 || i == 3);
    is_right(&w->output, 1);
  }
  ok(vyre_mega_destroy(other));
  ok(vyre_mega_destroy(mega));
  ok(MEGA_TARGET.close(target));
  dlclose(library);
  world_free(w);
}

#endif

TEST_MAIN(NULL, device_end)
