/* Dispatching: images, results, buffers on the device, batches; what is used again, and what each costs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "mega.h"

#define ITEM(...) ((vyre_mega_item){__VA_ARGS__})

/* The sizes of one slot and no observables: 640, 64, 1,028 and 2,048 bytes. */
enum { INPUT = 3780 };

static const way plain = {"plain", 1, false, 0, false};

static vyre_mega *
make(world *w, bool reports_control)
{
  const vyre_mega_options options = {.slots = w->slots, .workgroup = 1, .reports_control = reports_control};
  vyre_mega *mega;
  ok(vyre_mega_create(ops, w->target, &options, &mega));
  assert_int_equal(vyre_mega_slots(mega), w->slots);
  return mega;
}

/* The images on the device. */
static vyre_mega_row
upload(world *w)
{
  const vyre_mega_input input = input_of(w);
  const void *data[] = {input.control, input.ring, input.debug, input.io};
  const uint64_t sizes[] = {input.control_size, input.ring_size, input.debug_size, input.io_size};
  vyre_mega_row row = {0};
  for (uint32_t k = 0; k < 4; k++) {
    row.buffers[k].size = sizes[k];
    ok(ops->allocate(w->target, sizes[k], &row.buffers[k].buffer));
    ok(vyre_target_write(ops, w->target, row.buffers[k].buffer, 0, sizes[k], data[k]));
  }
  return row;
}

/* ---- images of the host's ------------------------------------------------------------------------------------------------ */

TEST(a_dispatch_gives_four_images_and_counts)
{
  world *w = world_make(1, 0);
  vyre_mega *mega = make(w, false);
  vyre_mega_stats stats;
  put(w, 0, ITEM(.op = 0));
  const vyre_mega_input input = input_of(w);
  ok(vyre_mega_dispatch(mega, &input, &w->output, &stats));
  assert_int_equal(w->output.count, 4);
  assert_int_equal(w->output.images[0].size, 640);
  assert_int_equal(w->output.images[1].size, 64);
  assert_int_equal(w->output.images[2].size, 1028);
  assert_int_equal(w->output.images[3].size, 2048);
  assert_int_equal(*(const uint32_t *)(const void *)w->output.images[1].data, VYRE_MEGA_DONE);
  assert_int_equal(stats.input_bytes, INPUT);
  assert_int_equal(stats.output_bytes, INPUT);
  assert_int_equal(stats.readback_bytes, INPUT);
  assert_int_equal(stats.bytes_moved, 2 * INPUT);
  assert_int_equal(stats.device_allocation_bytes, INPUT);
  assert_int_equal(stats.device_allocation_events, 4);
  assert_int_equal(stats.output_buffers, 4);
  assert_int_equal(stats.resident_rows, 0);
  assert_int_equal(stats.resident_handles, 0);
  assert_int_equal(stats.kernel_launches, 1);
  assert_true(stats.latency_ns > 0);
  assert_false(stats.was_recovered);
  const uint64_t waits = stats.sync_points;
  assert_true(waits <= 1);
  /* The same sizes: nothing is allocated, here or there. */
  const char *at[4];
  for (uint32_t k = 0; k < 4; k++)
    at[k] = w->output.images[k].data;
  ok(vyre_mega_dispatch(mega, &input, &w->output, &stats));
  assert_int_equal(stats.device_allocation_events, 0);
  assert_int_equal(stats.device_allocation_bytes, 0);
  assert_int_equal(stats.sync_points, waits);
  for (uint32_t k = 0; k < 4; k++)
    assert_ptr_equal(w->output.images[k].data, at[k]);
  ok(vyre_mega_dispatch(mega, &input, &w->output, NULL));
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(observables_are_bound_and_come_back)
{
  world *w = world_make(2, 5);
  vyre_mega *mega = make(w, false);
  put(w, 0, ITEM(.op = 1, .args = {42, 164}));
  put(w, 1, ITEM(.op = 1, .args = {42, 165}));
  go(w, mega);
  assert_int_equal(w->results.images[0].size, 660);
  is_done(w, 0);
  is_fault(w, 1, VYRE_MEGA_REASON_WORD);
  assert_int_equal(w->control[164], 42);
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(control_alone_comes_back_where_that_is_asked)
{
  world *w = world_make(1, 0);
  vyre_mega *mega = make(w, true);
  vyre_mega_stats stats;
  put(w, 0, ITEM(.op = 0));
  const vyre_mega_input input = input_of(w);
  ok(vyre_mega_readback(mega, &input, &w->output, &w->results, &stats));
  assert_int_equal(stats.output_buffers, 1);
  assert_int_equal(stats.readback_bytes, 640);
  assert_int_equal(stats.bytes_moved, INPUT + 640);
  assert_int_equal(w->results.images[0].size, 640);
  assert_int_equal(w->results.images[1].size, 0);
  assert_int_equal(w->results.control.done, 1);
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(no_io_queue_is_an_empty_one)
{
  world *w = world_make(1, 0);
  vyre_mega *mega = make(w, false);
  vyre_mega_io request;
  put(w, 0, ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {3}));
  vyre_mega_input input = input_of(w);
  input.io = NULL;
  for (uint32_t i = 0; i < 2; i++) { /* it is empty each time */
    ok(vyre_mega_dispatch(mega, &input, &w->output, NULL));
    assert_int_equal(w->output.images[3].size, 2048);
    ok(vyre_mega_io_read(w->output.images[3].data, 2048, 0, &request));
    assert_int_equal(request.source, 3);
    ok(vyre_mega_io_read(w->output.images[3].data, 2048, 1, &request));
    assert_int_equal(request.state, VYRE_MEGA_EMPTY);
  }
  input.io = w->io;
  input.io_size = 32;
  ok(vyre_mega_dispatch(mega, &input, &w->output, NULL));
  assert_int_equal(w->output.images[3].size, 32);
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(images_that_are_wrong_never_reach_the_device)
{
  world *w = world_make(2, 0);
  vyre_mega *mega = make(w, false);
  vyre_mega_stats stats = {.input_bytes = 99};
  const vyre_mega_input good = input_of(w);
  ok(vyre_mega_dispatch(mega, &good, &w->output, NULL));
  vyre_mega_input bad = good;
  bad.control_size = 636;
  refused(vyre_mega_dispatch(mega, &bad, &w->output, &stats), "636 bytes");
  bad = good;
  bad.ring_size = 64;
  refused(vyre_mega_dispatch(mega, &bad, &w->output, &stats), "128 were to be");
  bad = good;
  bad.debug_size = 1024;
  refused(vyre_mega_dispatch(mega, &bad, &w->output, &stats), "1028 were to be");
  bad = good;
  bad.io_size = 48;
  refused(vyre_mega_dispatch(mega, &bad, &w->output, &stats), "48 bytes");
  bad = good;
  w->ring[16] = 12;
  refused(vyre_mega_dispatch(mega, &bad, &w->output, &stats), "state 12");
  assert_int_equal(stats.input_bytes, 0);
  assert_int_equal(stats.kernel_launches, 0);
  /* What the last one left is still there. */
  assert_int_equal(w->output.count, 4);
  assert_int_equal(w->output.images[1].size, 128);
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(partitions_are_looked_at_where_there_are_some)
{
  world *w = world_make(10, 0);
  vyre_mega *mega = mega_make(w, &plain, (vyre_mega_program){.build = VYRE_MEGA_BY_PRIORITY});
  const vyre_mega_input input = input_of(w);
  w->control[134] = 9;
  refused(vyre_mega_dispatch(mega, &input, &w->output, NULL), "word 134");
  ok(vyre_mega_destroy(mega));
  mega = mega_make(w, &plain, (vyre_mega_program){.build = VYRE_MEGA_ONCE});
  ok(vyre_mega_dispatch(mega, &input, &w->output, NULL));
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(results_swap_memory_with_outputs)
{
  world *w = world_make(1, 0);
  vyre_mega *mega = make(w, false);
  const char *first[4], *second[4];
  const vyre_mega_input input = input_of(w);
  ok(vyre_mega_readback(mega, &input, &w->output, &w->results, &w->stats));
  assert_int_equal(w->stats.output_buffers, 4);
  assert_int_equal(w->stats.output_bytes, w->stats.readback_bytes);
  for (uint32_t k = 0; k < 4; k++) {
    first[k] = w->results.images[k].data;
    assert_int_equal(w->output.images[k].size, 0);
  }
  assert_memory_equal(w->results.images[0].data, w->control, 640); /* nothing was to be done: the bytes are what they were */
  assert_memory_equal(w->results.images[1].data, w->ring, 64);
  assert_memory_equal(w->results.images[2].data, w->debug, 1028);
  assert_memory_equal(w->results.images[3].data, w->io, 2048);
  ok(vyre_mega_readback(mega, &input, &w->output, &w->results, NULL));
  for (uint32_t k = 0; k < 4; k++) {
    second[k] = w->results.images[k].data;
    assert_ptr_equal(w->output.images[k].data, first[k]);
    assert_int_equal(w->output.images[k].size, 0);
  }
  ok(vyre_mega_readback(mega, &input, &w->output, &w->results, NULL));
  for (uint32_t k = 0; k < 4; k++) {
    assert_ptr_equal(w->results.images[k].data, first[k]);
    assert_ptr_equal(w->output.images[k].data, second[k]);
  }
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

/* ---- buffers on the device ----------------------------------------------------------------------------------------------- */

TEST(buffers_on_the_device_are_not_uploaded)
{
  world *w = world_make(1, 0);
  vyre_mega *mega = make(w, true);
  vyre_mega_stats stats;
  put(w, 0, ITEM(.op = 0));
  const vyre_mega_row row = upload(w);
  ok(vyre_mega_dispatch_resident(mega, &row, &w->output, &stats));
  assert_int_equal(stats.input_bytes, 0);
  assert_int_equal(stats.readback_bytes, 640);
  assert_int_equal(stats.bytes_moved, 640);
  assert_int_equal(stats.output_bytes, 640);
  assert_int_equal(stats.output_buffers, 1);
  assert_int_equal(stats.resident_rows, 1);
  assert_int_equal(stats.resident_handles, 4);
  assert_int_equal(stats.device_allocation_bytes, 0);
  assert_int_equal(stats.device_allocation_events, 0);
  assert_int_equal(stats.kernel_launches, 1);
  assert_int_equal(((const uint32_t *)(const void *)w->output.images[0].data)[1], 1);
  const char *at = w->output.images[0].data;
  ok(vyre_mega_dispatch_resident(mega, &row, &w->output, NULL));
  assert_ptr_equal(w->output.images[0].data, at);
  assert_int_equal(((const uint32_t *)(const void *)w->output.images[0].data)[1], 1); /* it is done, and stays so */
  vyre_mega_row bad = row;
  bad.buffers[1].size = 0;
  refused(vyre_mega_dispatch_resident(mega, &bad, &w->output, NULL), "its ring has 0 bytes");
  bad = row;
  bad.buffers[0].size = 636;
  refused(vyre_mega_dispatch_resident(mega, &bad, &w->output, NULL), "its control has 636 bytes");
  bad = row;
  bad.buffers[2].buffer.id = 0;
  refused(vyre_mega_dispatch_resident(mega, &bad, &w->output, NULL), "its debug log");
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(a_batch_is_one_submission)
{
  world *w = world_make(1, 1);
  vyre_mega *mega = make(w, true);
  vyre_mega_batch batch = {0};
  vyre_mega_stats stats, single;
  ok(vyre_mega_batch_reserve(&batch, 2));
  const vyre_mega_row *rows = batch.rows;
  const vyre_mega_output *outputs = batch.outputs;
  for (uint32_t i = 0; i < 2; i++) {
    put(w, 0, ITEM(.op = 1, .args = {10 + i, 160}));
    const vyre_mega_row row = upload(w);
    ok(vyre_mega_batch_add(&batch, &row));
    w->ring[0] = 0;
  }
  ok(vyre_mega_dispatch_resident(mega, &batch.rows[0], &w->output, &single));
  ok(vyre_mega_batch_dispatch(mega, &batch, &stats));
  assert_int_equal(stats.resident_rows, 2);
  assert_int_equal(stats.resident_handles, 8);
  assert_int_equal(stats.output_buffers, 2);
  assert_int_equal(stats.readback_bytes, 2 * 644);
  assert_int_equal(stats.output_bytes, 2 * 644);
  assert_int_equal(stats.device_allocation_events, 0);
  assert_int_equal(stats.input_bytes, 0);
  assert_int_equal(stats.kernel_launches, 2);
  assert_int_equal(stats.sync_points, single.sync_points);
  const char *at[2];
  for (uint32_t i = 0; i < 2; i++) {
    at[i] = batch.outputs[i].images[0].data;
    assert_int_equal(((const uint32_t *)(const void *)at[i])[160], 10 + i);
  }
  /* Once more: everything is where it was. */
  ok(vyre_mega_batch_dispatch(mega, &batch, NULL));
  assert_ptr_equal(batch.rows, rows);
  assert_ptr_equal(batch.outputs, outputs);
  for (uint32_t i = 0; i < 2; i++)
    assert_ptr_equal(batch.outputs[i].images[0].data, at[i]);
  vyre_mega_batch_clear(&batch);
  assert_int_equal(batch.count, 0);
  assert_int_equal(batch.capacity, 2);
  for (uint32_t i = 0; i < 2; i++) {
    assert_ptr_equal(batch.outputs[i].images[0].data, at[i]);
    assert_int_equal(batch.outputs[i].images[0].size, 0);
    assert_int_equal(batch.outputs[i].count, 0);
  }
  ok(vyre_mega_batch_dispatch(mega, &batch, &stats));
  const vyre_mega_stats none = {0};
  assert_memory_equal(&stats, &none, sizeof none);
  vyre_mega_batch_free(&batch);
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(a_batch_grows)
{
  vyre_mega_batch batch = {0};
  for (uint32_t i = 0; i < 100; i++)
    ok(vyre_mega_batch_add(&batch, &(vyre_mega_row){.buffers = {{.offset = i}}}));
  assert_int_equal(batch.count, 100);
  for (uint32_t i = 0; i < 100; i++) {
    assert_int_equal(batch.rows[i].buffers[0].offset, i);
    assert_null(batch.outputs[i].images[3].data);
  }
  vyre_mega_batch_free(&batch);
}

static uint32_t
word_of(const vyre_mega_mirror *mirror, uint32_t k, uint32_t word)
{
  size_t size;
  const uint32_t *words = vyre_mega_mirror_image(mirror, k, &size);
  assert_true(word < size / 4);
  return words[word];
}

TEST(a_mirror_takes_up_and_down_what_changed)
{
  enum { SLOTS = 100, ALL = 648 + SLOTS * 64 + 1028 + 2048, OTHERS = 1028 + 2048 };
  world *w = world_make(SLOTS, 0);
  vyre_mega *mega = make(w, false);
  vyre_mega_mirror *mirror;
  vyre_mega_stats stats;
  const vyre_range none = {0};
  refused(vyre_mega_mirror_create(mega, UINT32_MAX, 29, &mirror), "too many observables");
  ok(vyre_mega_mirror_create(mega, 2, 29, &mirror));
  assert_int_equal(word_of(mirror, 0, 134), SLOTS);
  ok(vyre_mega_mirror_publish(mirror, 3, &ITEM(.op = 1, .args = {7, 160})));
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats)); /* the first one takes all */
  assert_int_equal(stats.input_bytes, ALL);
  assert_int_equal(stats.readback_bytes, 648 + 64 + OTHERS);
  assert_int_equal(stats.output_buffers, 4);
  assert_int_equal(stats.device_allocation_events, 0);
  assert_int_equal(word_of(mirror, 1, 48), VYRE_MEGA_DONE);
  assert_int_equal(word_of(mirror, 0, 160), 7);
  /* Now two slots and a word; one slot's tenant is to wait. */
  ok(vyre_mega_mirror_set(mirror, VYRE_MEGA_MASKS + 1, 0));
  ok(vyre_mega_mirror_publish(mirror, 4, &ITEM(.op = 2, .args = {1, 160})));
  ok(vyre_mega_mirror_publish(mirror, 99, &ITEM(.tenant = 1)));
  refused(vyre_mega_mirror_publish(mirror, 99, &ITEM(.op = 0)), "PUBLISHED");
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats));
  assert_int_equal(stats.input_bytes, 4 + 2 * 64);
  assert_int_equal(stats.readback_bytes, 648 + 2 * 64 + OTHERS);
  assert_int_equal(word_of(mirror, 0, 160), 8);
  assert_int_equal(word_of(mirror, 0, 1), 2);
  assert_int_equal(word_of(mirror, 1, 99 * 16), VYRE_MEGA_PUBLISHED);
  ok(vyre_mega_mirror_set(mirror, VYRE_MEGA_MASKS + 1, 1));
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats));
  assert_int_equal(stats.input_bytes, 4);
  assert_int_equal(stats.readback_bytes, 648 + 64 + OTHERS);
  assert_int_equal(word_of(mirror, 1, 99 * 16), VYRE_MEGA_DONE);
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats)); /* nothing changed */
  assert_int_equal(stats.input_bytes, 0);
  assert_int_equal(stats.readback_bytes, 648 + OTHERS);
  ok(vyre_mega_mirror_reset(mirror));
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats));
  assert_int_equal(stats.input_bytes, ALL);
  assert_int_equal(word_of(mirror, 0, 160), 0);
  assert_int_equal(word_of(mirror, 0, 1), 0);
  ok(vyre_mega_mirror_destroy(mirror));
  ok(vyre_mega_destroy(mega));
  world_free(w);
}

TEST(rates_are_bytes_a_second)
{
  assert_true(vyre_mega_rate(1000, 0) == 0);
  assert_true(vyre_mega_rate(1000, 1000) == 1000000000);
  assert_true(vyre_mega_rate(3, 2) == 1500000000);
  assert_true(vyre_mega_rate(UINT64_MAX, 1) == UINT64_MAX);
  assert_true(vyre_mega_rate(UINT64_C(1) << 40, UINT64_C(1) << 40) == 1000000000);
}

TEST_MAIN(NULL, device_end)
