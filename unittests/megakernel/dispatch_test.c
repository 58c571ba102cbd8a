/* Dispatches: images, results, resident buffers, batches and mirrors, their costs, and the reuse of memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "mega.h"

/* Sizes of the images with one slot and no observables. */
enum { CONTROL = 640, RING = 64, DEBUG = 1028, IO = 2048, INPUT = CONTROL + RING + DEBUG + IO };

static const way plain = {"plain", 1, false, 0, false};

static world *
start(uint32_t slots, uint32_t observables, bool reports_control)
{
  world *w = world_with(
      (vyre_mega_options){
          .struct_size = sizeof(vyre_mega_options), .slots = slots, .workgroup = 1, .reports_control = reports_control},
      observables);
  assert_int_equal(vyre_mega_slots(w->mega), slots);
  return w;
}

static vyre_mega_row
upload(world *w)
{
  vyre_mega_row row = {0};
  ok(world_upload(w, &row));
  return row;
}

/* Asserts that the statistics are equal, except for times and waits. */
static void
stats_are(vyre_mega_stats stats, vyre_mega_stats wanted)
{
  wanted.latency_ns = stats.latency_ns;
  wanted.sync_points = stats.sync_points;
  assert_memory_equal(&stats, &wanted, sizeof stats);
}

static void
sizes_are(const vyre_mega_output *output, size_t control, size_t ring, size_t debug, size_t io)
{
  const size_t sizes[] = {control, ring, debug, io};
  for (uint32_t k = 0; k < 4; k++)
    assert_int_equal(output->images[k].size, sizes[k]);
}

static uint32_t
word_of(const vyre_bytes *image, uint32_t word)
{
  return ((const uint32_t *)(const void *)image->data)[word];
}

/* ---- images of the host -------------------------------------------------------------------------------------------------- */

TEST(a_dispatch_returns_four_images_and_statistics)
{
  world *w = start(1, 0, false);
  vyre_mega_stats stats;
  put(w, 0, ITEM(.op = 0));
  const vyre_mega_input input = input_of(w);
  ok(vyre_mega_dispatch(w->mega, &input, &w->output, &stats));
  assert_int_equal(w->output.count, 4);
  sizes_are(&w->output, CONTROL, RING, DEBUG, IO);
  assert_int_equal(word_of(&w->output.images[1], 0), VYRE_MEGA_DONE);
  vyre_mega_stats wanted = {.input_bytes = INPUT,
                            .output_bytes = INPUT,
                            .readback_bytes = INPUT,
                            .bytes_moved = 2 * INPUT,
                            .device_allocation_bytes = INPUT,
                            .device_allocation_events = 4,
                            .output_buffers = 4,
                            .kernel_launches = 1};
  stats_are(stats, wanted);
  assert_true(stats.latency_ns > 0);
  const uint64_t waits = stats.sync_points;
  assert_true(waits <= 1);
  /* With the same sizes, nothing is allocated on the host or the device. */
  const char *at[4];
  for (uint32_t k = 0; k < 4; k++)
    at[k] = w->output.images[k].data;
  ok(vyre_mega_dispatch(w->mega, &input, &w->output, &stats));
  wanted.device_allocation_events = wanted.device_allocation_bytes = 0;
  stats_are(stats, wanted);
  assert_int_equal(stats.sync_points, waits);
  for (uint32_t k = 0; k < 4; k++)
    assert_ptr_equal(w->output.images[k].data, at[k]);
  ok(vyre_mega_dispatch(w->mega, &input, &w->output, NULL));
  world_free(w);
}

TEST(observables_are_read_back)
{
  world *w = start(2, 5, false);
  put(w, 0, ITEM(.op = 1, .args = {42, 164}));
  put(w, 1, ITEM(.op = 1, .args = {42, 165}));
  go(w);
  assert_int_equal(w->results.images[0].size, 660);
  is_done(w, 0);
  is_fault(w, 1, VYRE_MEGA_REASON_WORD);
  assert_int_equal(w->control[164], 42);
  world_free(w);
}

TEST(only_control_is_read_back_on_request)
{
  world *w = start(1, 0, true);
  vyre_mega_stats stats;
  put(w, 0, ITEM(.op = 0));
  const vyre_mega_input input = input_of(w);
  ok(vyre_mega_readback(w->mega, &input, &w->output, &w->results, &stats));
  assert_int_equal(stats.output_buffers, 1);
  assert_int_equal(stats.readback_bytes, CONTROL);
  assert_int_equal(stats.bytes_moved, INPUT + CONTROL);
  assert_int_equal(w->results.images[0].size, CONTROL);
  assert_int_equal(w->results.images[1].size, 0);
  assert_int_equal(w->results.control.done, 1);
  world_free(w);
}

TEST(a_missing_io_queue_is_empty)
{
  world *w = start(1, 0, false);
  vyre_mega_io request;
  put(w, 0, ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {3}));
  vyre_mega_input input = input_of(w);
  input.io = NULL;
  for (uint32_t i = 0; i < 2; i++) { /* the queue is empty at each dispatch */
    ok(vyre_mega_dispatch(w->mega, &input, &w->output, NULL));
    assert_int_equal(w->output.images[3].size, 2048);
    ok(vyre_mega_io_read(w->output.images[3].data, 2048, 0, &request));
    assert_int_equal(request.source, 3);
    ok(vyre_mega_io_read(w->output.images[3].data, 2048, 1, &request));
    assert_int_equal(request.state, VYRE_MEGA_EMPTY);
  }
  input.io = w->io;
  input.io_size = 32;
  ok(vyre_mega_dispatch(w->mega, &input, &w->output, NULL));
  assert_int_equal(w->output.images[3].size, 32);
  world_free(w);
}

TEST(wrong_images_never_reach_the_device)
{
  world *w = start(2, 0, false);
  vyre_mega_stats stats = {.input_bytes = 99};
  const vyre_mega_input good = input_of(w);
  ok(vyre_mega_dispatch(w->mega, &good, &w->output, NULL));
  const struct {
    size_t control, ring, debug, io;
    const char *message;
  } cases[] = {{636, 2 * RING, DEBUG, IO, "636 bytes"},
               {CONTROL, RING, DEBUG, IO, "needs 128"},
               {CONTROL, 2 * RING, 1024, IO, "needs 1028"},
               {CONTROL, 2 * RING, DEBUG, 48, "48 bytes"},
               {CONTROL, 2 * RING, DEBUG, IO, "state 12"}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_mega_input bad = good;
    w->ring[16] = i == 4 ? 12 : VYRE_MEGA_EMPTY; /* 12 is not a state */
    bad.control_size = cases[i].control;
    bad.ring_size = cases[i].ring;
    bad.debug_size = cases[i].debug;
    bad.io_size = cases[i].io;
    refused(vyre_mega_dispatch(w->mega, &bad, &w->output, &stats), cases[i].message);
  }
  stats_are(stats, (vyre_mega_stats){0});
  /* The results of the last good dispatch are unchanged. */
  assert_int_equal(w->output.count, 4);
  assert_int_equal(w->output.images[1].size, 128);
  world_free(w);
}

TEST(partitions_are_validated_in_builds_by_priority)
{
  for (uint32_t by_priority = 0; by_priority < 2; by_priority++) {
    const vyre_mega_build build = by_priority ? VYRE_MEGA_BY_PRIORITY : VYRE_MEGA_ONCE;
    world *w = world_in_way(&plain, (vyre_mega_program){.build = build}, 10, 0);
    const vyre_mega_input input = input_of(w);
    w->control[134] = 9;
    vyre_status status = vyre_mega_dispatch(w->mega, &input, &w->output, NULL);
    if (by_priority)
      refused(status, "word 134");
    else
      ok(status);
    world_free(w);
  }
}

TEST(results_swap_memory_with_outputs)
{
  world *w = start(1, 0, false);
  const char *first[4], *second[4];
  const vyre_mega_input input = input_of(w);
  ok(vyre_mega_readback(w->mega, &input, &w->output, &w->results, &w->stats));
  assert_int_equal(w->stats.output_buffers, 4);
  assert_int_equal(w->stats.output_bytes, w->stats.readback_bytes);
  for (uint32_t k = 0; k < 4; k++) {
    first[k] = w->results.images[k].data;
    assert_int_equal(w->output.images[k].size, 0);
  }
  assert_memory_equal(w->results.images[0].data, w->control, CONTROL); /* without items, the images do not change */
  assert_memory_equal(w->results.images[1].data, w->ring, RING);
  assert_memory_equal(w->results.images[2].data, w->debug, DEBUG);
  assert_memory_equal(w->results.images[3].data, w->io, IO);
  ok(vyre_mega_readback(w->mega, &input, &w->output, &w->results, NULL));
  for (uint32_t k = 0; k < 4; k++) {
    second[k] = w->results.images[k].data;
    assert_ptr_equal(w->output.images[k].data, first[k]);
    assert_int_equal(w->output.images[k].size, 0);
  }
  ok(vyre_mega_readback(w->mega, &input, &w->output, &w->results, NULL));
  for (uint32_t k = 0; k < 4; k++) {
    assert_ptr_equal(w->results.images[k].data, first[k]);
    assert_ptr_equal(w->output.images[k].data, second[k]);
  }
  world_free(w);
}

/* ---- buffers on the device ----------------------------------------------------------------------------------------------- */

TEST(buffers_on_the_device_are_not_uploaded)
{
  world *w = start(1, 0, true);
  vyre_mega_stats stats;
  put(w, 0, ITEM(.op = 0));
  const vyre_mega_row row = upload(w);
  ok(vyre_mega_dispatch_resident(w->mega, &row, &w->output, &stats));
  stats_are(stats, (vyre_mega_stats){.output_bytes = CONTROL,
                                     .readback_bytes = CONTROL,
                                     .bytes_moved = CONTROL,
                                     .output_buffers = 1,
                                     .resident_rows = 1,
                                     .resident_handles = 4,
                                     .kernel_launches = 1});
  assert_int_equal(word_of(&w->output.images[0], 1), 1);
  const char *at = w->output.images[0].data;
  ok(vyre_mega_dispatch_resident(w->mega, &row, &w->output, NULL));
  assert_ptr_equal(w->output.images[0].data, at);
  assert_int_equal(word_of(&w->output.images[0], 1), 1); /* the item does not run again */
  vyre_mega_row bad = row;
  bad.buffers[1].size = 0;
  refused(vyre_mega_dispatch_resident(w->mega, &bad, &w->output, NULL), "its ring has 0 bytes");
  bad = row;
  bad.buffers[0].size = 636;
  refused(vyre_mega_dispatch_resident(w->mega, &bad, &w->output, NULL), "its control has 636 bytes");
  bad = row;
  bad.buffers[2].buffer.id = 0;
  refused(vyre_mega_dispatch_resident(w->mega, &bad, &w->output, NULL), "its debug log");
  world_free(w);
}

TEST(a_batch_is_one_submission)
{
  world *w = start(1, 1, true);
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
  ok(vyre_mega_dispatch_resident(w->mega, &batch.rows[0], &w->output, &single));
  ok(vyre_mega_batch_dispatch(w->mega, &batch, &stats));
  stats_are(stats, (vyre_mega_stats){.output_bytes = 2 * 644,
                                     .readback_bytes = 2 * 644,
                                     .bytes_moved = 2 * 644,
                                     .output_buffers = 2,
                                     .resident_rows = 2,
                                     .resident_handles = 8,
                                     .kernel_launches = 2});
  assert_int_equal(stats.sync_points, single.sync_points);
  const char *at[2];
  for (uint32_t i = 0; i < 2; i++) {
    at[i] = batch.outputs[i].images[0].data;
    assert_int_equal(word_of(&batch.outputs[i].images[0], 160), 10 + i);
  }
  /* A second dispatch reuses all memory. */
  ok(vyre_mega_batch_dispatch(w->mega, &batch, NULL));
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
  ok(vyre_mega_batch_dispatch(w->mega, &batch, &stats));
  stats_are(stats, (vyre_mega_stats){0});
  vyre_mega_batch_free(&batch);
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
mirrored(const vyre_mega_mirror *mirror, uint32_t k, uint32_t word)
{
  size_t size;
  const uint32_t *words = vyre_mega_mirror_image(mirror, k, &size);
  assert_true(word < size / 4);
  return words[word];
}

TEST(a_mirror_transfers_only_changes)
{
  enum { SLOTS = 100, WORDS = CONTROL + 8, OTHERS = DEBUG + IO, ALL = WORDS + SLOTS * RING + OTHERS };
  world *w = start(SLOTS, 0, false);
  vyre_mega_mirror *mirror;
  vyre_mega_stats stats;
  const vyre_range none = {0};
  refused(vyre_mega_mirror_create(w->mega, UINT32_MAX, 29, &mirror), "too many observables");
  ok(vyre_mega_mirror_create(w->mega, 2, 29, &mirror));
  assert_int_equal(mirrored(mirror, 0, 134), SLOTS);
  ok(vyre_mega_mirror_publish(mirror, 3, &ITEM(.op = 1, .args = {7, 160})));
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats)); /* the first dispatch uploads everything */
  assert_int_equal(stats.input_bytes, ALL);
  assert_int_equal(stats.readback_bytes, WORDS + RING + OTHERS);
  assert_int_equal(stats.output_buffers, 4);
  assert_int_equal(stats.device_allocation_events, 0);
  assert_int_equal(mirrored(mirror, 1, 48), VYRE_MEGA_DONE);
  assert_int_equal(mirrored(mirror, 0, 160), 7);
  /* Uploads two slots and a word.  The mask delays the item of one slot. */
  ok(vyre_mega_mirror_set(mirror, VYRE_MEGA_MASKS + 1, 0));
  ok(vyre_mega_mirror_publish(mirror, 4, &ITEM(.op = 2, .args = {1, 160})));
  ok(vyre_mega_mirror_publish(mirror, 99, &ITEM(.tenant = 1)));
  refused(vyre_mega_mirror_publish(mirror, 99, &ITEM(.op = 0)), "PUBLISHED");
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats));
  assert_int_equal(stats.input_bytes, 4 + 2 * RING);
  assert_int_equal(stats.readback_bytes, WORDS + 2 * RING + OTHERS);
  assert_int_equal(mirrored(mirror, 0, 160), 8);
  assert_int_equal(mirrored(mirror, 0, 1), 2);
  assert_int_equal(mirrored(mirror, 1, 99 * 16), VYRE_MEGA_PUBLISHED);
  ok(vyre_mega_mirror_set(mirror, VYRE_MEGA_MASKS + 1, 1));
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats));
  assert_int_equal(stats.input_bytes, 4);
  assert_int_equal(stats.readback_bytes, WORDS + RING + OTHERS);
  assert_int_equal(mirrored(mirror, 1, 99 * 16), VYRE_MEGA_DONE);
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats)); /* nothing is changed */
  assert_int_equal(stats.input_bytes, 0);
  assert_int_equal(stats.readback_bytes, WORDS + OTHERS);
  ok(vyre_mega_mirror_reset(mirror));
  ok(vyre_mega_mirror_dispatch(mirror, none, &stats));
  assert_int_equal(stats.input_bytes, ALL);
  assert_int_equal(mirrored(mirror, 0, 160), 0);
  assert_int_equal(mirrored(mirror, 0, 1), 0);
  ok(vyre_mega_mirror_destroy(mirror));
  world_free(w);
}

TEST(rates_are_bytes_per_second)
{
  assert_true(vyre_mega_rate(1000, 0) == 0);
  assert_true(vyre_mega_rate(1000, 1000) == 1000000000);
  assert_true(vyre_mega_rate(3, 2) == 1500000000);
  assert_true(vyre_mega_rate(UINT64_MAX, 1) == UINT64_MAX);
  assert_true(vyre_mega_rate(UINT64_C(1) << 40, UINT64_C(1) << 40) == 1000000000);
}

TEST_MAIN(NULL, device_end)
