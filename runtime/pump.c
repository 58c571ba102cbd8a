/* The thread that serves an IO queue: it claims requests, passes them to an engine in parts, and completes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pump.h"
#include "base/options.h"
#include "vyre/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SHORT_REST = 20, LONG_REST = 500 /* microseconds */ };

void
pump_rest(uint32_t microseconds)
{
  nanosleep(&(struct timespec){.tv_nsec = (long)microseconds * 1000}, NULL);
}

/* ---- the end of a request ------------------------------------------------------------------------------------------------ */

static uint64_t
bit(uint32_t slot)
{
  return UINT64_C(1) << slot;
}

static void
count_end(vyre_mega_pump_stats *s, const pump_work *work, int64_t result)
{
  if (result < 0)
    ++*(work->is_given_up ? &s->cancelled : &s->errors);
  else
    ++*(work->op == VYRE_MEGA_IO_FENCE ? &s->fences : pump_is_write(work) ? &s->writes : &s->reads);
}

static void
end(vyre_mega_pump *p, uint32_t slot, int64_t result)
{
  pump_work *work = &p->works[slot];
  count_end(&p->stats, work, result);
  work->is_there = false;
  p->under_way &= ~bit(slot);
  p->ended++;
  /* This pump has claimed the slot, so completing it cannot fail. */
  vyre_status_free(vyre_mega_io_complete(p->queue, p->size, &slot, &result, 1));
  for (uint32_t i = 0; i < VYRE_MEGA_IO_SLOTS; i++) {
    pump_work *fence = &p->works[i];
    if (!fence->is_there || !(fence->waits_for & bit(slot)))
      continue;
    fence->waits_for &= ~bit(slot);
    if (fence->waits_for == 0)
      end(p, i, 0);
  }
}

/* ---- parts --------------------------------------------------------------------------------------------------------------- */

void
pump_begin_part(vyre_mega_pump *p, uint32_t slot)
{
  pump_work *work = &p->works[slot];
  const uint32_t most = p->options.part ? p->options.part : PUMP_MOST_PART;
  work->is_given = true;
  p->stats.calls++;
  p->engine->begin_part(p, slot, work->left < most ? work->left : most);
}

void
pump_part_ended(vyre_mega_pump *p, uint32_t slot, int64_t result)
{
  pump_work *work = &p->works[slot];
  work->is_given = false;
  if (result > 0) {
    work->moved += (uint32_t)result;
    work->left -= (uint32_t)result;
    work->data += result;
    work->offset += (uint64_t)result;
    *(pump_is_write(work) ? &p->stats.bytes_written : &p->stats.bytes_read) += (uint64_t)result;
  }
  const bool is_over = result > 0 ? work->left == 0 : result != -EINTR && result != -EAGAIN;
  if (work->is_given_up && !is_over)
    end(p, slot, -ECANCELED);
  else if (is_over)
    end(p, slot, result < 0 ? result : result == 0 && pump_is_write(work) ? -EIO : (int64_t)work->moved);
  else {
    p->stats.continued += result > 0;
    pump_begin_part(p, slot);
  }
}

/* ---- requests ------------------------------------------------------------------------------------------------------------ */

static bool
may(int file, bool is_write)
{
  const int flags = fcntl(file, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != (is_write ? O_RDONLY : O_WRONLY);
}

/* Checks a request and fills `work`.  Returns 0, or an errno if there is nothing to do. */
static int
prepare(const vyre_mega_pump *p, const vyre_mega_io *request, pump_work *work)
{
  const vyre_mega_pump_options *o = &p->options;
  const bool is_write = request->op == VYRE_MEGA_IO_WRITE;
  const uint32_t file = is_write ? request->destination : request->source,
                 region = is_write ? request->source : request->destination;
  if (request->op != VYRE_MEGA_IO_READ && !is_write)
    return EINVAL;
  if (file >= o->file_count || !may(o->files[file], is_write)) /* a poll of a pipe would not report the wrong access mode */
    return EBADF;
  if (region >= o->region_count)
    return EFAULT;
  if (request->bytes > o->regions[region].size)
    return ERANGE;
  if (request->offset > (uint64_t)INT64_MAX - request->bytes)
    return EINVAL;
  *work = (pump_work){.is_there = true,
                      .op = request->op,
                      .is_stream = lseek(o->files[file], 0, SEEK_CUR) < 0 && errno == ESPIPE,
                      .file = o->files[file],
                      .data = o->regions[region].data,
                      .offset = request->offset,
                      .left = request->bytes,
                      .region = region};
  return 0;
}

static void
begin(vyre_mega_pump *p, uint32_t slot, const vyre_mega_io *request)
{
  pump_work *work = &p->works[slot];
  const bool is_given_up = request->op == VYRE_MEGA_IO_GIVEN_UP;
  const int error = is_given_up ? ECANCELED : prepare(p, request, work);
  p->under_way |= bit(slot);
  if (error) {
    *work = (pump_work){.is_there = true, .is_given_up = is_given_up, .op = request->op, .file = -1};
    end(p, slot, -error);
  } else if (work->left == 0) {
    end(p, slot, 0);
  } else {
    pump_begin_part(p, slot);
  }
}

static void
begin_fence(vyre_mega_pump *p, uint32_t slot)
{
  p->works[slot] = (pump_work){.is_there = true, .op = VYRE_MEGA_IO_FENCE, .file = -1, .waits_for = p->under_way & ~bit(slot)};
  p->under_way |= bit(slot);
  if (p->works[slot].waits_for == 0)
    end(p, slot, 0);
}

/* Claims the slot if it is PUBLISHED. */
static bool
claim_request(vyre_mega_pump *p, uint32_t slot, vyre_mega_io *out)
{
  bool is_mine = false;
  vyre_status_free(vyre_mega_io_claim(p->queue, p->size, slot, &is_mine));
  if (is_mine)
    vyre_status_free(vyre_mega_io_read(p->queue, p->size, slot, out));
  return is_mine;
}

/* Claims new requests.  A fence begins after one more walk, which sees all requests that were published before the fence. */
static bool
claim_requests(vyre_mega_pump *p)
{
  uint64_t fences = 0;
  bool has_new = false;
  do {
    const uint64_t begun = fences;
    uint32_t slots[VYRE_MEGA_IO_SLOTS], count = 0;
    vyre_mega_io request;
    fences = 0;
    vyre_status_free(vyre_mega_io_poll(p->queue, p->size, slots, &count));
    for (uint32_t i = 0; i < count; i++) {
      if ((p->under_way & bit(slots[i])) != 0 || !claim_request(p, slots[i], &request))
        continue; /* an overwritten slot's new request waits for the end of the old one */
      has_new = true;
      if (request.op == VYRE_MEGA_IO_FENCE)
        fences |= bit(slots[i]);
      else
        begin(p, slots[i], &request);
    }
    for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++)
      if (begun & bit(slot))
        begin_fence(p, slot);
  } while (fences);
  return has_new;
}

/* Cancels requests that were given up, or are no longer claimed because their slots were overwritten. */
static void
cancel(vyre_mega_pump *p, bool all)
{
  for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++) {
    pump_work *work = &p->works[slot];
    vyre_mega_io request = {.op = VYRE_MEGA_IO_GIVEN_UP};
    if (!work->is_there || work->is_given_up)
      continue;
    if (!all)
      vyre_status_free(vyre_mega_io_read(p->queue, p->size, slot, &request));
    if (request.op != VYRE_MEGA_IO_GIVEN_UP && request.state == VYRE_MEGA_CLAIMED)
      continue;
    work->is_given_up = true;
    if (work->is_given)
      p->engine->cancel(p, slot);
    else
      end(p, slot, -ECANCELED);
  }
}

/* ---- the thread ---------------------------------------------------------------------------------------------------------- */

static void
report_ends(vyre_mega_pump *p)
{
  if (p->ended && p->options.ended)
    p->options.ended(p->options.user);
  p->ended = 0;
}

static void *
run(void *user)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_mega_pump *p = user;
  uint32_t rest = SHORT_REST;
  sigset_t no_reader; /* the signal of a write to a pipe without a reader; EPIPE reports that, too */
  sigemptyset(&no_reader);
  sigaddset(&no_reader, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &no_reader, NULL);
  while (!__atomic_load_n(&p->stops, __ATOMIC_ACQUIRE)) {
    const bool has_new = claim_requests(p);
    cancel(p, false);
    if (p->under_way)
      p->engine->advance(p);
    else if (!has_new)
      pump_rest(rest);
    rest = has_new || p->under_way ? SHORT_REST : rest < LONG_REST ? rest * 2 : rest;
    report_ends(p);
  }
  while (p->under_way) {
    cancel(p, true);
    if (p->under_way)
      p->engine->advance(p);
  }
  report_ends(p);
  return NULL;
}

/* ---- start and stop ------------------------------------------------------------------------------------------------------ */

static void
free_pump(vyre_mega_pump *p)
{
  free((void *)(uintptr_t)p->options.files);
  free((void *)(uintptr_t)p->options.regions);
  free(p);
}

static vyre_status
copy_lists(vyre_mega_pump *p)
{
  const vyre_mega_pump_options o = p->options;
  int *files = calloc(o.file_count + 1, sizeof *files);
  vyre_mega_region *regions = calloc(o.region_count + 1, sizeof *regions);
  p->options.files = files;
  p->options.regions = regions;
  if (!files || !regions)
    return VYRE_OUT_OF_MEMORY("for a pump");
  if (o.file_count)
    memcpy(files, o.files, o.file_count * sizeof *files);
  if (o.region_count)
    memcpy(regions, o.regions, o.region_count * sizeof *regions);
  return VYRE_OK;
}

vyre_status
vyre_mega_pump_start(void *queue, size_t size, const vyre_mega_pump_options *options, vyre_mega_pump **out)
{
  *out = NULL;
  vyre_mega_pump_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_mega_pump_options"));
  VYRE_TRY(vyre_mega_io_validate(queue, size));
  vyre_mega_pump *p = calloc(1, sizeof *p);
  if (!p)
    return VYRE_OUT_OF_MEMORY("for a pump");
  *p = (vyre_mega_pump){.queue = queue, .size = size, .options = o, .engine = &pump_by_uring};
  vyre_status status = copy_lists(p);
  if (status) {
    free_pump(p);
    return status;
  }
  p->stats.is_uring = !o.is_plain && p->engine->open(p);
  if (!p->stats.is_uring)
    p->engine = &pump_plain;
  if (pthread_create(&p->thread, NULL, run, p) != 0) {
    p->engine->close(p);
    free_pump(p);
    return VYRE_ERROR(VYRE_CODE_DEVICE, "megakernel: cannot create a thread for IO\nFix: use fewer threads");
  }
  *out = p;
  return VYRE_OK;
}

void
vyre_mega_pump_stop(vyre_mega_pump *p, vyre_mega_pump_stats *stats)
{
  if (!p)
    return;
  __atomic_store_n(&p->stops, true, __ATOMIC_RELEASE);
  pthread_join(p->thread, NULL);
  p->engine->close(p);
  if (stats)
    *stats = p->stats;
  free_pump(p);
}
