/* The host's side of an IO queue: reads, writes and fences of files and pipes, with io_uring and without it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../test.h"
#include "vyre/megakernel_io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { FILE_BYTES = 10000, REGION = 4096, REGIONS = 8, FILES = 6 };
enum { PLAIN, SINK, PIPE_OUT, PIPE_IN, FOLDER, NONE }; /* numbers of files */

/* A queue with a pump, files and memory. */
typedef struct bench {
  uint32_t queue[VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_WORDS];
  unsigned char memory[REGIONS][REGION], content[FILE_BYTES];
  int files[FILES], sink;
  vyre_mega_pump *pump;
  vyre_mega_pump_stats stats;
  uint32_t ended;
} bench;

static void
ok(vyre_status status)
{
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

static int
temporary(void)
{
  char name[] = "/tmp/vyre-pump-XXXXXX";
  const int file = mkstemp(name);
  assert_true(file >= 0);
  unlink(name);
  return file;
}

static void
count_ended(void *user)
{
  __atomic_fetch_add(&((bench *)user)->ended, 1, __ATOMIC_RELAXED);
}

static void
start(bench *b, vyre_mega_pump_options options)
{
  vyre_mega_region regions[REGIONS];
  for (uint32_t i = 0; i < REGIONS; i++)
    regions[i] = (vyre_mega_region){.data = b->memory[i], .size = REGION};
  options.files = b->files;
  options.file_count = FILES;
  options.regions = regions;
  options.region_count = REGIONS;
  options.ended = count_ended;
  options.user = b;
  ok(vyre_mega_pump_start(b->queue, sizeof b->queue, &options, &b->pump));
}

static bench *
make(const vyre_mega_pump_options *options)
{
  bench *b = calloc(1, sizeof *b);
  assert_non_null(b);
  for (uint32_t i = 0; i < FILE_BYTES; i++)
    b->content[i] = (unsigned char)(i * 7 + i / 256);
  b->files[PLAIN] = temporary();
  b->files[SINK] = temporary();
  assert_int_equal(write(b->files[PLAIN], b->content, FILE_BYTES), FILE_BYTES);
  assert_int_equal(pipe(&b->files[PIPE_OUT]), 0);
  b->files[FOLDER] = open("/tmp", O_RDONLY | O_DIRECTORY);
  b->files[NONE] = -1;
  start(b, *options);
  return b;
}

static void
finish(bench *b)
{
  vyre_mega_pump_stop(b->pump, &b->stats);
  b->pump = NULL;
}

static void
destroy(bench *b)
{
  if (b->pump)
    finish(b);
  for (uint32_t i = 0; i < FILES - 1; i++)
    close(b->files[i]);
  free(b);
}

static void
publish(bench *b, uint32_t slot, vyre_mega_io request)
{
  ok(vyre_mega_io_publish(b->queue, sizeof b->queue, slot, &request));
}

static vyre_mega_io
read_request(bench *b, uint32_t slot)
{
  vyre_mega_io request;
  ok(vyre_mega_io_read(b->queue, sizeof b->queue, slot, &request));
  return request;
}

/* Waits for the end of a request, frees its slot, and returns the request. */
static vyre_mega_io
await(bench *b, uint32_t slot)
{
  vyre_mega_io request = read_request(b, slot);
  for (; request.state != VYRE_MEGA_IO_OK && request.state != VYRE_MEGA_IO_ERROR; request = read_request(b, slot))
    sched_yield();
  ok(vyre_mega_io_recycle(b->queue, sizeof b->queue, slot));
  return request;
}

static void
await_state(bench *b, uint32_t slot, uint32_t state)
{
  while (read_request(b, slot).state != state)
    sched_yield();
}

static void
ends_with(bench *b, uint32_t slot, int64_t result)
{
  const vyre_mega_io request = await(b, slot);
  assert_int_equal(request.state, result < 0 ? VYRE_MEGA_IO_ERROR : VYRE_MEGA_IO_OK);
  assert_int_equal(request.bytes, result < 0 ? -result : result);
}

#define READ(file, region, at, size) READ_AS(0, file, region, at, size)
#define READ_AS(number, file, region, at, size)                                                                \
  (vyre_mega_io)                                                                                               \
  {                                                                                                            \
    .op = VYRE_MEGA_IO_READ, .source = file, .destination = region, .offset = at, .bytes = size, .tag = number \
  }
#define WRITE(region, file, at, size)                                                            \
  (vyre_mega_io)                                                                                 \
  {                                                                                              \
    .op = VYRE_MEGA_IO_WRITE, .source = region, .destination = file, .offset = at, .bytes = size \
  }
#define FENCE                \
  (vyre_mega_io)             \
  {                          \
    .op = VYRE_MEGA_IO_FENCE \
  }

static const vyre_mega_pump_options *
ways(void **state)
{
  return *state;
}

static void
files_are_read_and_written(void **state)
{
  bench *b = make(ways(state));
  for (uint32_t i = 0; i < REGIONS; i++)
    publish(b, i * 9, READ_AS(i + 50, PLAIN, i, 100 * i, REGION - i));
  for (uint32_t i = 0; i < REGIONS; i++) {
    const vyre_mega_io request = await(b, i * 9);
    assert_int_equal(request.state, VYRE_MEGA_IO_OK);
    assert_int_equal(request.bytes, REGION - i);
    assert_int_equal(request.tag, i + 50);
    assert_memory_equal(b->memory[i], b->content + 100 * i, REGION - i);
  }
  for (uint32_t i = 0; i < REGIONS; i++)
    publish(b, i, WRITE(i, SINK, REGION * i, 1000));
  for (uint32_t i = 0; i < REGIONS; i++) {
    unsigned char got[1000];
    ends_with(b, i, 1000);
    assert_int_equal(pread(b->files[SINK], got, 1000, REGION * i), 1000);
    assert_memory_equal(got, b->memory[i], 1000);
  }
  finish(b);
  assert_int_equal(b->stats.is_uring, !ways(state)->is_plain);
  assert_int_equal(b->stats.reads, REGIONS);
  assert_int_equal(b->stats.writes, REGIONS);
  assert_int_equal(b->stats.bytes_read, REGIONS * REGION - 28);
  assert_int_equal(b->stats.bytes_written, REGIONS * 1000);
  assert_int_equal(b->stats.bytes_bounced, 0);
  assert_int_equal(b->stats.errors, 0);
  assert_int_equal(b->stats.calls, ways(state)->part ? b->stats.continued + 2 * REGIONS : 2 * REGIONS);
  assert_true(b->stats.registered == (b->stats.is_uring ? b->stats.calls : 0));
  assert_true(b->ended >= 1);
  destroy(b);
}

static void
a_read_at_the_end_of_a_file_is_short(void **state)
{
  bench *b = make(ways(state));
  publish(b, 0, READ(PLAIN, 0, FILE_BYTES - 10, 100));
  publish(b, 1, READ(PLAIN, 1, FILE_BYTES, 100));
  publish(b, 2, READ(PLAIN, 1, 0, 0));
  ends_with(b, 0, 10);
  ends_with(b, 1, 0);
  ends_with(b, 2, 0);
  assert_memory_equal(b->memory[0], b->content + FILE_BYTES - 10, 10);
  assert_int_equal(b->memory[0][10], 0);
  destroy(b);
}

static void
short_reads_are_continued(void **state)
{
  bench *b = make(ways(state));
  publish(b, 5, READ(PIPE_OUT, 3, 999 /* a pipe has no offsets */, 300));
  for (uint32_t i = 0; i < 3; i++) {
    await_state(b, 5, VYRE_MEGA_CLAIMED);
    assert_int_equal(write(b->files[PIPE_IN], b->content + 100 * i, 100), 100);
    for (uint32_t k = 0; k < 50; k++) /* gives the pump time for a partial read */
      sched_yield();
  }
  ends_with(b, 5, 300);
  assert_memory_equal(b->memory[3], b->content, 300);
  publish(b, 5, READ(PIPE_OUT, 3, 0, 300));
  assert_int_equal(write(b->files[PIPE_IN], b->content, 77), 77);
  close(b->files[PIPE_IN]);
  ends_with(b, 5, 77);
  b->files[PIPE_IN] = open("/dev/null", O_WRONLY);
  destroy(b);
}

/* Reads may return EAGAIN. */
static void
nonblocking_pipes_are_waited_for(void **state)
{
  bench *b = make(ways(state));
  assert_int_equal(fcntl(b->files[PIPE_OUT], F_SETFL, O_NONBLOCK), 0);
  publish(b, 5, READ(PIPE_OUT, 3, 0, 100));
  publish(b, 6, FENCE);
  await_state(b, 6, VYRE_MEGA_CLAIMED); /* the read has begun */
  for (uint32_t i = 0; i < 5; i++) {    /* gives the pump time to try again */
    publish(b, 7, READ(PLAIN, 0, 0, 10));
    ends_with(b, 7, 10);
  }
  assert_int_equal(read_request(b, 5).state, VYRE_MEGA_CLAIMED);
  assert_int_equal(write(b->files[PIPE_IN], b->content, 100), 100);
  ends_with(b, 5, 100);
  ends_with(b, 6, 0);
  destroy(b);
}

static void
errors_have_their_errno(void **state)
{
  bench *b = make(ways(state));
  const int full = open("/dev/full", O_WRONLY);
  const struct {
    vyre_mega_io request;
    int error;
  } cases[] = {{READ(FILES, 0, 0, 10), EBADF},          {READ(NONE, 0, 0, 10), EBADF},
               {READ(PIPE_IN, 0, 0, 10), EBADF}, /* which is write-only */
               {READ(FOLDER, 0, 0, 10), EISDIR},        {READ(PLAIN, REGIONS, 0, 10), EFAULT},
               {READ(PLAIN, 0, 0, REGION + 1), ERANGE}, {READ(PLAIN, 0, INT64_MAX, 10), EINVAL},
               {WRITE(0, FILES, 0, 10), EBADF},         {WRITE(REGIONS, SINK, 0, 10), EFAULT},
               {WRITE(0, SINK, 0, UINT32_MAX), ERANGE}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
    publish(b, i, cases[i].request);
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
    ends_with(b, i, -cases[i].error);
  publish(b, 0, READ(PLAIN, 0, 0, 10)); /* the pump continues */
  ends_with(b, 0, 10);
  finish(b);
  assert_int_equal(b->stats.errors, sizeof cases / sizeof *cases);
  b->files[SINK] = (close(b->files[SINK]), full);
  start(b, *ways(state));
  publish(b, 0, WRITE(0, SINK, 0, 10));
  ends_with(b, 0, -ENOSPC);
  destroy(b);
}

/* The write returns EPIPE and raises no signal. */
static void
a_write_to_a_closed_pipe_is_an_error(void **state)
{
  bench *b = make(ways(state));
  close(b->files[PIPE_OUT]);
  publish(b, 3, WRITE(0, PIPE_IN, 0, 10));
  ends_with(b, 3, -EPIPE);
  b->files[PIPE_OUT] = open("/dev/null", O_RDONLY);
  destroy(b);
}

static void
requests_end_in_any_order_but_fences_wait(void **state)
{
  bench *b = make(ways(state));
  publish(b, 0, READ_AS(1, PIPE_OUT, 0, 0, 10)); /* waits for data in the pipe */
  publish(b, 63, READ_AS(2, PLAIN, 1, 0, 20));
  publish(b, 1, FENCE);
  const vyre_mega_io later = await(b, 63);
  assert_int_equal(later.tag, 2);
  await_state(b, 1, VYRE_MEGA_CLAIMED);
  publish(b, 2, READ(PLAIN, 2, 0, 30)); /* requests after the fence do not wait for it */
  ends_with(b, 2, 30);
  assert_int_equal(read_request(b, 0).state, VYRE_MEGA_CLAIMED);
  assert_int_equal(read_request(b, 1).state, VYRE_MEGA_CLAIMED);
  assert_int_equal(write(b->files[PIPE_IN], b->content, 10), 10);
  ends_with(b, 1, 0);
  assert_int_equal(read_request(b, 0).state, VYRE_MEGA_IO_OK); /* the read ends before the fence */
  ends_with(b, 0, 10);
  publish(b, 7, FENCE); /* no earlier requests */
  ends_with(b, 7, 0);
  finish(b);
  assert_int_equal(b->stats.fences, 2);
  destroy(b);
}

/* The fence is in a low slot, so the pump may see it before the read in a high slot, which was published earlier. */
static void
fences_wait_for_earlier_requests_in_any_slot(void **state)
{
  bench *b = make(ways(state));
  for (uint32_t i = 0; i < 300; i++) {
    memset(b->memory[0], 0, REGION);
    publish(b, 63 - i % 2, READ(PLAIN, 0, i, REGION));
    publish(b, i % 2, FENCE);
    ends_with(b, i % 2, 0);
    assert_int_equal(read_request(b, 63 - i % 2).state, VYRE_MEGA_IO_OK);
    assert_memory_equal(b->memory[0], b->content + i, REGION);
    ends_with(b, 63 - i % 2, REGION);
  }
  destroy(b);
}

static void
abandoned_requests_are_cancelled(void **state)
{
  bench *b = make(ways(state));
  unsigned char got[10];
  publish(b, 4, READ(PIPE_OUT, 0, 0, 10));
  publish(b, 5, FENCE);
  await_state(b, 5, VYRE_MEGA_CLAIMED);
  ok(vyre_mega_io_abandon(b->queue, sizeof b->queue, 5));
  await_state(b, 5, VYRE_MEGA_EMPTY);
  assert_int_equal(read_request(b, 4).state, VYRE_MEGA_CLAIMED);
  ok(vyre_mega_io_abandon(b->queue, sizeof b->queue, 4));
  await_state(b, 4, VYRE_MEGA_EMPTY);
  assert_int_equal(write(b->files[PIPE_IN], b->content, 10), 10);
  publish(b, 4, READ(PLAIN, 1, 0, 10));
  ends_with(b, 4, 10);
  assert_int_equal(read(b->files[PIPE_OUT], got, 10), 10); /* the bytes are still in the pipe */
  publish(b, 4, READ(PIPE_OUT, 0, 0, 10));
  publish(b, 6, FENCE);
  await_state(b, 6, VYRE_MEGA_CLAIMED);
  finish(b); /* cancels requests in flight */
  ends_with(b, 4, -ECANCELED);
  assert_int_equal(b->stats.cancelled, 4);
  assert_int_equal(b->stats.errors, 0);
  destroy(b);
}

/* The pump cancels the request of the overwritten slot, and continues. */
static void
an_overwritten_slot_does_not_disturb_others(void **state)
{
  bench *b = make(ways(state));
  uint32_t *word = b->queue + 4 * VYRE_MEGA_IO_WORDS + 6;
  unsigned char got[10];
  publish(b, 4, READ(PIPE_OUT, 0, 0, 10));
  await_state(b, 4, VYRE_MEGA_CLAIMED);
  __atomic_store_n(word, 99, __ATOMIC_RELEASE);
  publish(b, 5, READ(PLAIN, 1, 0, 10));
  ends_with(b, 5, 10);
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 99)
    sched_yield();
  ends_with(b, 4, -EIO);
  publish(b, 4, READ(PLAIN, 2, 20, 30));
  ends_with(b, 4, 30);
  assert_int_equal(write(b->files[PIPE_IN], b->content, 10), 10);
  assert_int_equal(read(b->files[PIPE_OUT], got, 10), 10); /* the bytes are still in the pipe */
  finish(b);
  assert_int_equal(b->stats.reads, 2);
  assert_int_equal(b->stats.cancelled, 1);
  destroy(b);
}

/* ---- many ---------------------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 200 };

typedef struct asker {
  bench *b;
  uint32_t first;
  bool is_wrong;
} asker;

static void *
publish_many(void *user)
{
  asker *a = user;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    const uint32_t slot = a->first * 16 + i % 16, at = i * 31 % 5000;
    vyre_mega_io request = READ_AS(i, PLAIN, a->first, at, 1 + i % REGION);
    vyre_status status = vyre_mega_io_publish(a->b->queue, sizeof a->b->queue, slot, &request);
    do {
      sched_yield();
      status = vyre_status_join(status, vyre_mega_io_read(a->b->queue, sizeof a->b->queue, slot, &request));
    } while (!status && request.state != VYRE_MEGA_IO_OK && request.state != VYRE_MEGA_IO_ERROR);
    a->is_wrong |= status || request.state != VYRE_MEGA_IO_OK || request.tag != i || request.bytes != 1 + i % REGION ||
                   memcmp(a->b->memory[a->first], a->b->content + at, request.bytes) != 0;
    status = vyre_status_join(status, vyre_mega_io_recycle(a->b->queue, sizeof a->b->queue, slot));
    a->is_wrong |= status != NULL;
    vyre_status_free(status);
  }
  return NULL;
}

static void
threads_may_publish_requests(void **state)
{
  bench *b = make(ways(state));
  asker askers[THREADS];
  pthread_t threads[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    askers[i] = (asker){.b = b, .first = i};
    assert_int_equal(pthread_create(&threads[i], NULL, publish_many, &askers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_false(askers[i].is_wrong);
  finish(b);
  assert_int_equal(b->stats.reads, THREADS * ROUNDS);
  destroy(b);
}

TEST(the_pump_works_without_liburing)
{
  bench *b = make(&(vyre_mega_pump_options){.struct_size = sizeof(vyre_mega_pump_options), .library = "libvyre-has-none.so"});
  publish(b, 0, READ(PLAIN, 0, 0, 10));
  ends_with(b, 0, 10);
  finish(b);
  assert_false(b->stats.is_uring);
  destroy(b);
  vyre_mega_pump *pump;
  vyre_status status =
      vyre_mega_pump_start(NULL, 32, &(vyre_mega_pump_options){.struct_size = sizeof(vyre_mega_pump_options)}, &pump);
  assert_non_null(strstr(vyre_status_text(status), "no IO queue"));
  vyre_status_free(status);
  assert_null(pump);
  vyre_mega_pump_stop(NULL, NULL);
}

#define EACH_WAY(test)     \
  TEST_OF(test, by_uring); \
  TEST_OF(test, in_parts); \
  TEST_OF(test, plain);    \
  TEST_OF(test, plain_in_parts)

static vyre_mega_pump_options by_uring = {.struct_size = sizeof by_uring},
                              in_parts = {.struct_size = sizeof in_parts, .part = 1000},
                              plain = {.struct_size = sizeof plain, .is_plain = true},
                              plain_in_parts = {.struct_size = sizeof plain_in_parts, .is_plain = true, .part = 1000};
EACH_WAY(files_are_read_and_written);
EACH_WAY(a_read_at_the_end_of_a_file_is_short);
EACH_WAY(short_reads_are_continued);
EACH_WAY(nonblocking_pipes_are_waited_for);
EACH_WAY(errors_have_their_errno);
EACH_WAY(a_write_to_a_closed_pipe_is_an_error);
EACH_WAY(requests_end_in_any_order_but_fences_wait);
EACH_WAY(fences_wait_for_earlier_requests_in_any_slot);
EACH_WAY(abandoned_requests_are_cancelled);
EACH_WAY(an_overwritten_slot_does_not_disturb_others);
EACH_WAY(threads_may_publish_requests);
