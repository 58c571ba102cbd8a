/* Live kernels whose items read and write files: LOAD_MISS with a pump, and a handler that publishes writes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"
#include "live_items.h"
#include "vyre/megakernel_io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS = 16, REGIONS = 16, REGION_WORDS = 64, REGION = REGION_WORDS * 4, FILE_WORDS = 4096, OBSERVABLES = 64, ROUNDS = 4 };
enum { PLAIN, PIPE_OUT, PIPE_IN, SINK, FILES };

typedef struct living {
  world *w;
  uint32_t *memory; /* of the regions; it is the data buffer if the target can import memory */
  vyre_range data;
  int files[FILES];
  vyre_mega_pump_options io;
  bool is_imported;
} living;

static int
temporary(void)
{
  char name[] = "/tmp/vyre-live-XXXXXX";
  const int file = mkstemp(name);
  assert_true(file >= 0);
  unlink(name);
  return file;
}

static vyre_status
make_data(living *l)
{
  l->data.size = REGIONS * REGION;
  return l->is_imported ? ops->import(l->w->target, l->memory, REGIONS * REGION, &l->data.buffer)
                        : ops->allocate(l->w->target, REGIONS * REGION, &l->data.buffer);
}

static vyre_status
remake(void *user, vyre_mega_row *rows, uint32_t count)
{
  living *l = user;
  for (uint32_t i = 0; i < count; i++) {
    VYRE_TRY(make_data(l));
    rows[i].buffers[4] = l->data;
  }
  return VYRE_OK;
}

static void
make_io(living *l, bool is_plain)
{
  static vyre_mega_region regions[REGIONS];
  for (uint32_t i = 0; i < REGIONS; i++)
    regions[i] = (vyre_mega_region){l->memory + i * REGION_WORDS, REGION, i * REGION};
  l->io = (vyre_mega_pump_options){.struct_size = sizeof(vyre_mega_pump_options),
                                   .files = l->files,
                                   .file_count = FILES,
                                   .regions = regions,
                                   .region_count = REGIONS,
                                   .is_plain = is_plain};
}

#ifndef MEGA_CPU /* a live kernel cannot interpret handlers */
/* A handler that stores a word in a region, and publishes its write to a file.  Each region has its own slot of the IO queue, which
 * must be EMPTY or completed. */
#ifdef MEGA_CUDA
#define SCOPE "cross_device"
#else
#define SCOPE "device"
#endif
static const char save_text[] = "func @save(%control : path u32[], %ring : path u32[], %debug : path u32[], %io : path u32[],\n"
                                "          %data : path u32[], %base : u32, %op : u32, %a0 : u32, %a1 : u32, %a2 : u32) -> u32 {\n"
                                "  %at = shl(add(%a1, 40u32), 3u32)\n"
                                "  %state = atomic_load %io[add(%at, 6u32)] " SCOPE " acquire uniform_memory\n"
                                "  if not(or(eq(%state, 0u32), eq(%state, 16u32))) { return 300u32 }\n"
                                "  atomic_store %io[add(%at, 6u32)], 2u32 " SCOPE "\n"
                                "  store %data[mul(%a1, 64u32)], %a2\n"
                                "  atomic_store %io[%at], 2u32 " SCOPE "\n"
                                "  store %io[add(%at, 1u32)], %a1\n"
                                "  store %io[add(%at, 2u32)], %a0\n"
                                "  store %io[add(%at, 3u32)], mul(%a1, 4u32)\n"
                                "  store %io[add(%at, 4u32)], 0u32\n"
                                "  store %io[add(%at, 5u32)], 4u32\n"
                                "  atomic_store %io[add(%at, 6u32)], 1u32 " SCOPE " release uniform_memory\n"
                                "  return 0u32\n"
                                "}\n";
static const vyre_mega_handler save = {8, "save"};
#endif
static uint32_t seen[REGIONS * REGION_WORDS]; /* the data buffer after the end */

static living *
start_ring(uint32_t slots, bool is_plain, uint32_t every)
{
  uint32_t words[FILE_WORDS];
  living *l = calloc(1, sizeof *l);
  assert_non_null(l);
  l->w = world_make(slots, 0);
  l->memory = aligned_alloc(4096, REGIONS * REGION);
  memset(l->memory, 0, REGIONS * REGION);
  vyre_device_info info;
  ops->describe(l->w->target, &info);
  l->is_imported = info.capabilities & VYRE_TARGET_IMPORT;
  ok(make_data(l));
  for (uint32_t i = 0; i < FILE_WORDS; i++)
    words[i] = i * 3 + 1;
  l->files[PLAIN] = temporary();
  l->files[SINK] = temporary();
  assert_int_equal(write(l->files[PLAIN], words, sizeof words), sizeof words);
  assert_int_equal(pipe(&l->files[PIPE_OUT]), 0);
  make_io(l, is_plain);
  vyre_mega_options options = {.struct_size = sizeof options,
                               .program = {.build = VYRE_MEGA_PERSISTENT},
                               .slots = slots,
                               .recovery = {.remake = remake, .user = l}};
#ifndef MEGA_CPU
  options.program.source = save_text;
  options.program.handlers = &save;
  options.program.handler_count = 1;
  options.program.has_data = true;
#endif
  ok(vyre_mega_create(ops, l->w->target, &options, &l->w->mega));
  frail_of(l->w->target)->every = every;
  frail_of(l->w->target)->most = 4;
  live_go(l->w, (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options),
                                         .observables = OBSERVABLES,
                                         .slice = every ? 8 : 0,
                                         .data = l->data,
                                         .io = &l->io});
  return l;
}

static living *
start(bool is_plain)
{
  return start_ring(SLOTS, is_plain, 0);
}

static void
stop(living *l, vyre_mega_pump_stats *stats)
{
  ok(vyre_mega_live_stop_io(l->w->live, NULL, NULL, stats));
  ok(vyre_mega_destroy(l->w->mega));
  l->w->mega = NULL;
  frail_of(l->w->target)->every = 0;
  ok(vyre_target_read(ops, l->w->target, l->data.buffer, 0, sizeof seen, seen));
  ok(ops->free(l->w->target, l->data.buffer));
  world_free(l->w);
  for (uint32_t i = 0; i < FILES; i++)
    close(l->files[i]);
  free(l->memory);
  free(l);
}

static vyre_mega_item
load(uint32_t file, uint32_t region, uint32_t bytes, uint32_t offset, uint32_t patience)
{
  return ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {file, region, bytes, offset, 0, patience});
}

/* Asserts that the region has these words of the file. */
static void
region_is(const living *l, uint32_t region, uint32_t first, uint32_t words)
{
  if (l->is_imported) /* tests check other buffers after the end of the kernel */
    for (uint32_t i = 0; i < words; i++)
      assert_int_equal(l->memory[region * REGION_WORDS + i], (first + i) * 3 + 1);
}

/* Returns whether processes of this machine may use io_uring.  Does not use the pump. */
static bool
machine_has_uring(void)
{
  struct io_uring_params params = {0};
  void *library = dlopen("liburing.so.2", RTLD_NOW | RTLD_LOCAL);
  const int ring = (int)syscall(SYS_io_uring_setup, 1, &params), error = errno;
  if (!library || ring < 0)
    print_message("  this machine has no io_uring: %s\n", library ? strerror(error) : dlerror());
  if (library)
    dlclose(library);
  if (ring >= 0)
    close(ring);
  return library && ring >= 0;
}

TEST(items_read_files)
{
  const bool has_uring = machine_has_uring();
  vyre_mega_pump_stats stats;
  for (uint32_t is_plain = 0; is_plain < 2; is_plain++) {
    living *l = start(is_plain);
    vyre_mega_ticket tickets[REGIONS];
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
      for (uint32_t i = 0; i < REGIONS; i++)
        tickets[i] = live_publish(l->w, load(PLAIN, i, REGION, (round * REGIONS + i) * 40 * 4, UINT32_MAX));
      for (uint32_t i = 0; i < REGIONS; i++) {
        const vyre_mega_slot slot = live_wait(l->w, tickets[i]);
        assert_int_equal(slot.state, VYRE_MEGA_DONE);
        assert_int_equal(slot.item.args[10], REGION);
        region_is(l, i, (round * REGIONS + i) * 40, REGION_WORDS);
      }
    }
    const bool is_mirrored = live_is_mirrored(l->w);
    stop(l, &stats);
    assert_int_equal(stats.reads, 4 * REGIONS);
    assert_int_equal(stats.bytes_read, 4 * REGIONS * REGION);
    assert_int_equal(stats.bytes_bounced, is_mirrored ? 4 * REGIONS * REGION : 0);
    if (stats.is_uring != (has_uring && !is_plain))
      fail_msg("the pump uses %s; the test did %sask for pread, and the machine %s io_uring", stats.is_uring ? "io_uring" : "pread",
               is_plain ? "" : "not ", has_uring ? "has" : "has no");
    for (uint32_t i = 0; i < REGIONS * REGION_WORDS; i++)
      assert_int_equal(seen[i], ((3 * REGIONS + i / REGION_WORDS) * 40 + i % REGION_WORDS) * 3 + 1);
  }
}

/* More items than the queue has slots, in several subgroups, claim slots while the pump processes others. */
TEST(more_items_than_queue_slots_read_files)
{
  enum { RING = 512, PATIENCE = 1 << 16 };
  living *l = start_ring(RING, false, 0);
  vyre_mega_pump_stats stats;
  vyre_mega_ticket tickets[RING];
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t i = 0; i < RING; i++)
      tickets[i] = live_publish(l->w, load(PLAIN, i % REGIONS, 4, i * 4, PATIENCE));
    for (uint32_t i = 0; i < RING; i++)
      assert_int_equal(live_wait(l->w, tickets[i]).state, VYRE_MEGA_DONE);
  }
  stop(l, &stats);
  assert_int_equal(stats.reads, ROUNDS * RING);
}

TEST(io_errors_are_faults_with_their_errno)
{
  living *l = start(false);
  vyre_mega_pump_stats stats;
  const struct {
    vyre_mega_item item;
    uint32_t error, bytes;
  } cases[] = {{load(FILES, 0, 4, 0, UINT32_MAX), EBADF, 0},
               {load(PIPE_IN, 0, 4, 0, UINT32_MAX), EBADF, 0},
               {load(PLAIN, REGIONS, 4, 0, UINT32_MAX), EFAULT, 0},
               {load(PLAIN, 0, REGION + 4, 0, UINT32_MAX), ERANGE, 0},
               {load(PLAIN, 0, REGION, FILE_WORDS * 4 - 12, UINT32_MAX), 0, 12},
               {load(PLAIN, 0, REGION, FILE_WORDS * 4, UINT32_MAX), 0, 0}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const vyre_mega_slot slot = live_run(l->w, cases[i].item);
    assert_int_equal(slot.state, cases[i].error ? VYRE_MEGA_FAULT : VYRE_MEGA_DONE);
    assert_int_equal(slot.reason, cases[i].error ? VYRE_MEGA_REASON_IO : 0);
    assert_int_equal(slot.item.args[10], cases[i].error ? cases[i].error : cases[i].bytes);
  }
  stop(l, &stats);
  assert_int_equal(stats.errors, 4);
}

/* A read of an empty pipe does not end, so its item times out.  Its slot of the queue and the pipe are then free for others. */
TEST(reads_of_timed_out_items_are_cancelled)
{
  living *l = start(false);
  vyre_mega_pump_stats stats;
  uint32_t got = 0;
  for (uint32_t i = 0; i < 3; i++) {
    const vyre_mega_slot slot = live_run(l->w, load(PIPE_OUT, 0, 4, 0, 20));
    assert_int_equal(slot.state, VYRE_MEGA_FAULT);
    assert_int_equal(slot.reason, VYRE_MEGA_REASON_IO_PATIENCE);
  }
  const vyre_mega_ticket waiting = live_publish(l->w, load(PIPE_OUT, 1, 4, 0, UINT32_MAX));
  for (uint32_t i = 0; i < 80; i++) /* more than the queue has slots */
    live_do(l->w, load(PLAIN, 2, 4, 4 * i, UINT32_MAX));
  assert_int_equal(write(l->files[PIPE_IN], &(uint32_t){77}, 4), 4);
  assert_int_equal(live_wait(l->w, waiting).state, VYRE_MEGA_DONE);
  assert_int_equal(write(l->files[PIPE_IN], &(uint32_t){88}, 4), 4);
  assert_int_equal(read(l->files[PIPE_OUT], &got, 4), 4);
  assert_int_equal(got, 88);
  const bool is_mirrored = live_is_mirrored(l->w);
  stop(l, &stats);
  assert_true(!is_mirrored || stats.cancelled > 0); /* otherwise a request may be cancelled before the pump sees it */
  assert_int_equal(stats.reads, 81);
  assert_int_equal(stats.errors, 0);
}

#ifndef MEGA_CPU
TEST(handlers_write_files)
{
  living *l = start(false);
  vyre_mega_pump_stats stats;
  const bool is_mirrored = live_is_mirrored(l->w);
  for (uint32_t i = 0; i < 8; i++)
    live_do(l->w, ITEM(.op = 8, .args = {SINK, i, 1000 + i}));
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t got = 0;
    while (pread(l->files[SINK], &got, 4, 4 * i) != 4 || got == 0)
      live_run(l->w, ITEM(.op = 0));
    assert_int_equal(got, 1000 + i);
  }
  stop(l, &stats);
  assert_int_equal(stats.writes, 8);
  assert_int_equal(stats.bytes_bounced, is_mirrored ? 32 : 0);
}
#endif

#ifndef MEGA_CUDA /* a MAPPED kernel is one launch */
static void
hold(living *l)
{
  bool published;
  __atomic_store_n(&frail_of(l->w->target)->is_held, true, __ATOMIC_RELEASE);
  ok(vyre_mega_live_publish(l->w->live, &ITEM(.op = 0), NULL, &published));
  while (!__atomic_load_n(&frail_of(l->w->target)->waits, __ATOMIC_ACQUIRE))
    sched_yield();
}

static void
release(living *l)
{
  __atomic_store_n(&frail_of(l->w->target)->is_held, false, __ATOMIC_RELEASE);
}
#endif

#ifdef MEGA_CPU
/* The slot of the queue becomes EMPTY although the item that published the request is lost. */
TEST(requests_of_a_lost_item_are_given_up)
{
  living *l = start(true);
  vyre_mega_pump_stats stats;
  vyre_mega_io request;
  void *image;
  size_t size;
  hold(l);
  frail_of(l->w->target)->before = 1; /* the data buffer */
  frail_of(l->w->target)->claims_io = true;
  frail_of(l->w->target)->claims = 1;
  release(l);
  const vyre_mega_slot slot = live_run(l->w, load(PIPE_OUT, 0, 4, 0, UINT32_MAX));
  assert_int_equal(slot.state, VYRE_MEGA_FAULT);
  assert_int_equal(slot.reason, VYRE_MEGA_REASON_LOST);
  ok(vyre_mega_live_io(l->w->live, &image, &size));
  do
    ok(vyre_mega_io_read(image, size, 0, &request));
  while (request.state != VYRE_MEGA_EMPTY);
  live_do(l->w, load(PLAIN, 0, 4, 0, UINT32_MAX));
  stop(l, &stats);
  assert_int_equal(stats.reads, 1);
}
#elif !defined(MEGA_CUDA) /* MIRRORED */
/* In one slice, the kernel sees the completion in IO slot 45 and publishes its next request.  The readback of IO slot 40 then
 * fails. */
TEST(a_reported_completion_is_not_reported_again)
{
  enum { ROOM = 1 << 20, TRIES = 10000 };
  living *l = start(true);
  vyre_mega_pump_stats stats;
  char *full = calloc(1, ROOM);
  assert_int_equal(fcntl(l->files[PIPE_IN], F_SETFL, O_NONBLOCK), 0);
  ssize_t size = write(l->files[PIPE_IN], full, ROOM);
  assert_true(size > 0);
  live_do(l->w, ITEM(.op = 8, .args = {PIPE_IN, 5, 1}));
  hold(l);
  const vyre_mega_ticket other = live_publish(l->w, ITEM(.op = 8, .args = {SINK, 0, 2})),
                         again = live_publish(l->w, ITEM(.op = 8, .args = {SINK, 5, 3}));
  const uint32_t before = live_word(l->w, VYRE_MEGA_DOORBELL);
  for (size += 4; size > 0;)
    size -= read(l->files[PIPE_OUT], full, (size_t)size);
  while (live_word(l->w, VYRE_MEGA_DOORBELL) == before)
    sched_yield();
  frail_plan(l->w->target, FRAIL_SUBMIT, 2, 1, FRAIL_NO_MEMORY);
  release(l);
  assert_int_equal(live_wait(l->w, other).state, VYRE_MEGA_DONE);
  assert_int_equal(live_wait(l->w, again).state, VYRE_MEGA_DONE);
  uint32_t got[6] = {0};
  for (uint32_t i = 0; i < TRIES && got[5] != 3; i++) {
    live_run(l->w, ITEM(.op = 0));
    assert_true(pread(l->files[SINK], got, sizeof got, 0) >= 0);
  }
  assert_int_equal(got[0], 2);
  assert_int_equal(got[5], 3);
  stop(l, &stats);
  assert_int_equal(stats.writes, 3);
  free(full);
}
/* An item of a tenant over its share keeps the slice running until the other item times out.  The host first sees the request after
 * its cancellation. */
TEST(a_request_that_the_host_never_saw_frees_its_slot)
{
  living *l = start(true);
  vyre_mega_pump_stats stats;
  for (uint32_t i = 0; i < 64; i++)
    live_run(l->w, ITEM(.op = 0, .tenant = 1));
  hold(l);
  const vyre_mega_ticket given_up = live_publish(l->w, load(PIPE_OUT, 0, 4, 0, 1)),
                         other = live_publish(l->w, ITEM(.op = 0, .tenant = 1));
  release(l);
  assert_int_equal(live_wait(l->w, given_up).reason, VYRE_MEGA_REASON_IO_PATIENCE);
  assert_int_equal(live_wait(l->w, other).state, VYRE_MEGA_DONE);
  for (uint32_t i = 0; i < 80; i++) /* more than the queue has slots */
    live_do(l->w, load(PLAIN, 2, 4, 4 * i, UINT32_MAX));
  stop(l, &stats);
  assert_int_equal(stats.reads, 80);
  assert_int_equal(stats.errors, 0);
}
/* The bytes of a region behind a short read belong to the kernel.  Here, the host has other bytes there. */
TEST(bytes_behind_a_short_read_stay_unchanged)
{
  living *l = start(true);
  live_do(l->w, load(PLAIN, 5, REGION, 4 * 1000, UINT32_MAX));
  l->memory[5 * REGION_WORDS] = 0;
  live_do(l->w, load(PLAIN, 5, 1, 4, UINT32_MAX));
  stop(l, NULL);
  assert_int_equal(seen[5 * REGION_WORDS], ((1000 * 3 + 1) & ~0xff) | (1 * 3 + 1));
}
#endif

/* Every third submission fails. */
TEST(reads_continue_after_device_losses)
{
  living *l = start_ring(SLOTS, true, 3);
  uint32_t done = 0;
  for (uint32_t i = 0; i < 20; i++) {
    const vyre_mega_slot slot = live_run(l->w, load(PLAIN, i % REGIONS, REGION, 4 * i, UINT32_MAX));
    done += slot.state == VYRE_MEGA_DONE && slot.item.args[10] == REGION;
    region_is(l, i % REGIONS, i, REGION_WORDS);
  }
  assert_int_equal(done, 20);
  while (frail_recoveries(l->w->target) < 2) /* the number of items in a launch varies */
    live_run(l->w, ITEM(.op = 0));
  stop(l, NULL);
}

TEST(regions_outside_the_data_are_refused)
{
  living *l = start(true);
  if (live_is_mirrored(l->w)) {
    vyre_mega_live *live;
    static const vyre_mega_region wrong[] = {{NULL, 10, 0}, {NULL, 12, 2}, {NULL, REGION, REGIONS * REGION - 4}};
    vyre_mega *mega;
    ok(vyre_mega_create(
        ops, l->w->target,
        &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .program = {.build = VYRE_MEGA_PERSISTENT}, .slots = SLOTS},
        &mega));
    for (uint32_t i = 0; i < 3; i++) {
      const vyre_mega_pump_options io = {.struct_size = sizeof io, .regions = &wrong[i], .region_count = 1};
      refused(
          vyre_mega_live_start(
              mega, &(vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .io = &io, .data = l->data}, &live),
          "region 0 is");
    }
    ok(vyre_mega_destroy(mega));
  }
  stop(l, NULL);
}

TEST_MAIN(NULL, device_end)
