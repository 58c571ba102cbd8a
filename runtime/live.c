/* The interface of a live kernel: start, publish, poll, stop.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "live.h"
#include "base/options.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 256 };

/* ---- start and stop ------------------------------------------------------------------------------------------------------ */

static bool
has_priorities(const vyre_mega *mega)
{
  return mega->options.program.build == VYRE_MEGA_PERSISTENT_BY_PRIORITY;
}

static vyre_mega_way
choose_way(const vyre_mega *mega, uint32_t slice)
{
  if (!(mega->info.capabilities & VYRE_TARGET_IMPORT))
    return VYRE_MEGA_MIRRORED;
  /* Items with barriers for the whole grid run after a launch. */
  const bool has_slices = slice || mega->stage_count || !(mega->info.capabilities & VYRE_TARGET_ASYNC);
  return has_slices ? VYRE_MEGA_SLICED : VYRE_MEGA_MAPPED;
}

static vyre_status
make_images(vyre_mega_live *live)
{
  const long page = sysconf(_SC_PAGESIZE);
  const vyre_mega_control_desc desc = {.tenants = live->options.tenants ? live->options.tenants : VYRE_MEGA_TABLE,
                                       .slots = live->slots,
                                       .observables = live->options.observables};
  const size_t sizes[MEGA_BUFFERS] = {vyre_mega_control_size(desc.observables), vyre_mega_ring_size(live->slots),
                                      VYRE_MEGA_DEBUG_BYTES, VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_BYTES};
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    live->sizes[k] = sizes[k];
    live->pages[k] = (sizes[k] + (size_t)page - 1) / (size_t)page * (size_t)page;
    live->images[k] = aligned_alloc((size_t)page, live->pages[k] ? live->pages[k] : (size_t)page);
    if (!live->images[k])
      return VYRE_OUT_OF_MEMORY("for a live megakernel");
    memset(live->images[k], 0, live->pages[k]);
  }
  VYRE_TRY(vyre_mega_control_encode(&desc, live->images[0], sizes[0]));
  VYRE_TRY(vyre_mega_control_set(live->images[0], sizes[0], VYRE_MEGA_SLICE,
                                 live->way == VYRE_MEGA_MAPPED ? 0
                                 : live->options.slice         ? live->options.slice
                                                               : LIVE_SLICE));
  for (uint32_t i = 0; i <= VYRE_MEGA_LEVELS; i++)
    VYRE_TRY(vyre_mega_control_word(live->images[0], sizes[0], VYRE_MEGA_PARTITIONS + i, &live->first[i]));
  return VYRE_OK;
}

static vyre_status
make_lists(vyre_mega_live *live)
{
  live->owners = calloc(live->slots, sizeof *live->owners);
  live->turns = calloc(live->slots, sizeof *live->turns);
  live->there = calloc(live->slots, sizeof *live->there);
  live->is_set = calloc(live->sizes[0] / 4, sizeof *live->is_set);
  live->down = malloc(live->sizes[0] + live->sizes[1]);
  return live->owners && live->turns && live->there && live->is_set && live->down ? VYRE_OK
                                                                                  : VYRE_OUT_OF_MEMORY("for a live megakernel");
}

/* Makes the fifth buffer over the live kernel's own memory, or for MIRRORED a separate one. */
static vyre_status
make_memory(vyre_mega_live *live)
{
  const vyre_mega *m = live->mega;
  vyre_range *range = &live->row.buffers[MEGA_BUFFERS];
  VYRE_TRY(live->way == VYRE_MEGA_MIRRORED ? m->ops->allocate(m->target, live->memory.size, &range->buffer)
                                           : m->ops->import(m->target, live->memory.image, live->memory.size, &range->buffer));
  live->has_buffer[MEGA_BUFFERS] = true;
  range->size = live->memory.size;
  live->stats.device_allocation_events++;
  live->stats.device_allocation_bytes += range->size;
  return VYRE_OK;
}

vyre_status
live_make_buffers(vyre_mega_live *live)
{
  const vyre_mega *m = live->mega;
  live->losses = m->losses;
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    vyre_range *range = &live->row.buffers[k];
    VYRE_TRY(live->way == VYRE_MEGA_MIRRORED ? m->ops->allocate(m->target, live->sizes[k], &range->buffer)
                                             : m->ops->import(m->target, live->images[k], live->pages[k], &range->buffer));
    live->has_buffer[k] = true;
    range->size = live->sizes[k];
    live->stats.device_allocation_events++;
    live->stats.device_allocation_bytes += range->size;
  }
  return live->memory.image ? make_memory(live) : VYRE_OK;
}

bool
live_may_be_written(const vyre_mega_live *live)
{
  const vyre_mega *m = live->mega;
  return live->way != VYRE_MEGA_MIRRORED && m->ops->hangs && m->ops->hangs(m->target);
}

/* Frees the live kernel.  Leaks the images if an abandoned kernel may still write them. */
static vyre_status
free_live(vyre_mega_live *live)
{
  const bool is_left = live_may_be_written(live);
  vyre_status status = VYRE_OK;
  vyre_mega_pump_stop(live->pump, NULL);
  for (uint32_t k = 0; k < MEGA_MOST_BUFFERS; k++) {
    if (live->has_buffer[k] && live->losses == live->mega->losses)
      status = vyre_status_join(status, live->mega->ops->free(live->mega->target, live->row.buffers[k].buffer));
    if (!is_left && k < MEGA_BUFFERS)
      free(live->images[k]);
  }
  live_memory_free(live);
  pthread_cond_destroy(&live->woken);
  pthread_mutex_destroy(&live->lock);
  free(live->owners);
  free(live->turns);
  free(live->regions);
  free(live->there);
  free(live->is_set);
  free(live->down);
  free(live);
  return status;
}

/* Called by the pump's thread. */
static void
io_ended(void *user)
{
  vyre_mega_live *live = user;
  __atomic_fetch_add((uint32_t *)live->images[0] + VYRE_MEGA_DOORBELL, 1, __ATOMIC_SEQ_CST);
  live_wake(live);
}

static vyre_status
start_pump(vyre_mega_live *live)
{
  vyre_mega_pump_options options;
  if (!live->options.io)
    return VYRE_OK;
  VYRE_TRY(vyre_options_read(&options, sizeof options, live->options.io, "vyre_mega_pump_options"));
  options.ended = io_ended;
  options.user = live;
  live->region_count = options.region_count;
  live->regions = calloc(options.region_count + 1, sizeof *live->regions);
  if (!live->regions)
    return VYRE_OUT_OF_MEMORY("for a live megakernel");
  const vyre_range *data = &live->options.data;
  for (uint32_t i = 0; i < options.region_count; i++) {
    const vyre_mega_region *region = &options.regions[i];
    const bool is_inside = region->size <= data->size && region->at <= data->size - region->size;
    live->regions[i] = *region;
    if (live->way == VYRE_MEGA_MIRRORED && (!is_inside || region->size % 4 || region->at % 4))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: region %" PRIu32 " is not whole words within the data buffer of %" PRIu64 " bytes: %" PRIu64
                        " bytes at offset %" PRIu64 "\n"
                        "Fix: choose whole words within the options' `data`, because %s has separate memory",
                        i, data->size, region->size, region->at, live->mega->ops->name);
  }
  return vyre_mega_pump_start(live->images[3], live->sizes[3], &options, &live->pump);
}

static vyre_status
begin(vyre_mega_live *live)
{
  VYRE_TRY(make_images(live));
  VYRE_TRY(make_lists(live));
  VYRE_TRY(live_memory_start(live));
  VYRE_TRY(mega_compile(live->mega));
  VYRE_TRY(live_make_buffers(live));
  VYRE_TRY(start_pump(live));
  if (live->way == VYRE_MEGA_MIRRORED)
    VYRE_TRY(live_upload(live));
  if (pthread_create(&live->thread, NULL, live_drive, live) != 0)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "megakernel: cannot create a thread for the live kernel\nFix: use fewer threads");
  return VYRE_OK;
}

vyre_status
vyre_mega_live_start(vyre_mega *mega, const vyre_mega_live_options *options, vyre_mega_live **out)
{
  return live_start(mega, options, &(live_memory){0}, out);
}

vyre_status
live_start(vyre_mega *mega, const vyre_mega_live_options *options, const live_memory *memory, vyre_mega_live **out)
{
  const vyre_mega_build build = mega->options.program.build;
  *out = NULL;
  vyre_mega_live_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_mega_live_options"));
  if (build != VYRE_MEGA_PERSISTENT && build != VYRE_MEGA_PERSISTENT_BY_PRIORITY)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: a live kernel needs a persistent build\n"
                                       "Fix: set `build` to VYRE_MEGA_PERSISTENT or VYRE_MEGA_PERSISTENT_BY_PRIORITY");
  if (mega->form == VYRE_KERNEL_VIR)
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "megakernel: the target '%s' interprets these handlers, and a live kernel needs compiled ones\n"
        "Fix: use another target (vyre-mega -target=vulkan), or compile the handlers with vyre-megac and set `native`",
        mega->ops->name);
  if (mega_has_data(mega) && o.data.buffer.id == 0 && !memory->image)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: the program needs a data buffer\nFix: set the options' `data`");
  if (has_priorities(mega) && mega->options.slots < VYRE_MEGA_LEVELS)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: %" PRIu32 " slots are fewer than the %d priorities\nFix: use more slots",
                      mega->options.slots, VYRE_MEGA_LEVELS);
  vyre_mega_live *live = calloc(1, sizeof *live);
  if (!live)
    return VYRE_OUT_OF_MEMORY("for a live megakernel");
  live->mega = mega;
  live->options = o;
  live->memory = *memory;
  live->slots = mega->options.slots;
  live->way = choose_way(mega, o.slice);
  live->started = clock_now();
  live->row.buffers[MEGA_BUFFERS] = o.data;
  pthread_mutex_init(&live->lock, NULL);
  pthread_cond_init(&live->woken, NULL);
  vyre_status status = begin(live);
  if (status)
    return vyre_status_join(status, free_live(live));
  *out = live;
  return VYRE_OK;
}

static vyre_status
failure_of(const vyre_mega_live *live)
{
  return VYRE_ERROR(live->code, "%s", live->message);
}

/* Stops the pump.  The driving thread counts the bytes that it copied itself. */
static void
stop_pump(vyre_mega_live *live, vyre_mega_pump_stats *out)
{
  const uint64_t bounced = live->io_stats.bytes_bounced;
  vyre_mega_pump_stop(live->pump, &live->io_stats);
  live->pump = NULL;
  live->io_stats.bytes_bounced = bounced;
  if (out)
    *out = live->io_stats;
}

vyre_status
vyre_mega_live_stop(vyre_mega_live *live, vyre_mega_control *control, vyre_mega_stats *stats)
{
  return vyre_mega_live_stop_io(live, control, stats, NULL);
}

vyre_status
vyre_mega_live_stop_io(vyre_mega_live *live, vyre_mega_control *control, vyre_mega_stats *stats, vyre_mega_pump_stats *io)
{
  vyre_status status = vyre_mega_control_set(live->images[0], live->sizes[0], VYRE_MEGA_SHUTDOWN, 1);
  __atomic_store_n(&live->stops, true, __ATOMIC_SEQ_CST);
  live_wake(live);
  pthread_join(live->thread, NULL);
  stop_pump(live, io);
  if (live->failed)
    status = vyre_status_join(status, failure_of(live));
  live->stats.latency_ns = clock_now() - live->started;
  if (stats)
    *stats = live->stats;
  if (control)
    status = vyre_status_join(status, vyre_mega_control_decode(live->images[0], live->sizes[0], control));
  return vyre_status_join(status, free_live(live));
}

vyre_mega_way
vyre_mega_live_way(const vyre_mega_live *live)
{
  return live->way;
}

/* ---- publishing ---------------------------------------------------------------------------------------------------------- */

static uint32_t
status_of(const vyre_mega_live *live, uint32_t slot)
{
  return __atomic_load_n((const uint32_t *)live->images[1] + (size_t)slot * VYRE_MEGA_SLOT_WORDS, __ATOMIC_ACQUIRE);
}

static bool
has_ended(uint32_t state)
{
  return state == VYRE_MEGA_DONE || state == VYRE_MEGA_FAULT;
}

bool
live_has_ended(const vyre_mega_live *live, uint32_t slot)
{
  return !vyre_mega_state_is_active(status_of(live, slot));
}

/* Claims a slot that is free, or whose item ended and has no ticket.  Checks the state again after the swap, because others
 * may have published such an item in between. */
static bool
claim_slot(vyre_mega_live *live, uint32_t slot)
{
  uint32_t owner = __atomic_load_n(&live->owners[slot], __ATOMIC_ACQUIRE);
  if (owner == LIVE_TAKEN || (owner == LIVE_FORGOTTEN && !has_ended(status_of(live, slot))))
    return false;
  if (!__atomic_compare_exchange_n(&live->owners[slot], &owner, LIVE_TAKEN, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  if (owner == LIVE_FREE || has_ended(status_of(live, slot)))
    return true;
  __atomic_store_n(&live->owners[slot], LIVE_FORGOTTEN, __ATOMIC_RELEASE);
  return false;
}

/* Claims a slot for items of this priority.  Returns UINT32_MAX if there is none now. */
static uint32_t
find_slot(vyre_mega_live *live, uint32_t priority)
{
  const uint32_t level = has_priorities(live->mega) ? priority : 0;
  const uint32_t first = has_priorities(live->mega) ? live->first[level] : 0;
  const uint32_t count = (has_priorities(live->mega) ? live->first[level + 1] : live->slots) - first;
  const uint32_t start = __atomic_fetch_add(&live->cursors[level], 1, __ATOMIC_RELAXED);
  for (uint32_t n = 0; n < count; n++) {
    const uint32_t slot = first + (start % count + n) % count;
    if (!claim_slot(live, slot))
      continue;
    if (n)
      __atomic_fetch_add(&live->cursors[level], n, __ATOMIC_RELAXED); /* skips the slots that were not free */
    return slot;
  }
  return UINT32_MAX;
}

vyre_status
live_check_end(const vyre_mega_live *live)
{
  if (!__atomic_load_n(&live->ended, __ATOMIC_ACQUIRE))
    return VYRE_OK;
  return live->failed ? failure_of(live) : VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: the kernel was shut down\nFix: start it again");
}

void
live_wake(vyre_mega_live *live)
{
  if (!__atomic_load_n(&live->sleeps, __ATOMIC_SEQ_CST))
    return;
  pthread_mutex_lock(&live->lock);
  pthread_cond_signal(&live->woken);
  pthread_mutex_unlock(&live->lock);
}

vyre_status
vyre_mega_live_publish(vyre_mega_live *live, const vyre_mega_item *item, vyre_mega_ticket *ticket, bool *out_published)
{
  *out_published = false;
  VYRE_TRY(live_check_end(live));
  if (item->op == VYRE_MEGA_OP_LOAD_MISS && live->way == VYRE_MEGA_MIRRORED && !live->pump)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: LOAD_MISS needs IO, but the IO queue is in the device's own memory on %s\n"
                      "Fix: set the options' `io`, or choose a target whose kernels share memory with the host",
                      live->mega->ops->name);
  if (item->priority >= VYRE_MEGA_LEVELS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: priority %" PRIu32 ", but there are only %d\n"
                      "Fix: choose a smaller number",
                      item->priority, VYRE_MEGA_LEVELS);
  const uint32_t slot = find_slot(live, item->priority);
  if (slot == UINT32_MAX)
    return VYRE_OK;
  const uint32_t turn = __atomic_add_fetch(&live->turns[slot], 1, __ATOMIC_RELAXED);
  vyre_status status = vyre_mega_publish_io(live->images[1], live->sizes[1], slot, item);
  if (status || !ticket)
    __atomic_store_n(&live->owners[slot], status ? LIVE_FREE : LIVE_FORGOTTEN, __ATOMIC_RELEASE);
  VYRE_TRY(status);
  if (ticket)
    *ticket = (vyre_mega_ticket){slot, turn};
  *out_published = true;
  __atomic_fetch_add((uint32_t *)live->images[0] + VYRE_MEGA_DOORBELL, 1, __ATOMIC_SEQ_CST);
  live_wake(live);
  return VYRE_OK;
}

/* ---- polling ------------------------------------------------------------------------------------------------------------- */

vyre_status
vyre_mega_live_poll(vyre_mega_live *live, vyre_mega_ticket ticket, vyre_mega_slot *out, bool *out_ended)
{
  *out_ended = false;
  if (ticket.slot >= live->slots || __atomic_load_n(&live->owners[ticket.slot], __ATOMIC_ACQUIRE) != LIVE_TAKEN ||
      __atomic_load_n(&live->turns[ticket.slot], __ATOMIC_RELAXED) != ticket.turn)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the ticket of slot %" PRIu32 " is stale\nFix: do not poll an item after its end", ticket.slot);
  if (!has_ended(status_of(live, ticket.slot)))
    return VYRE_OK;
  VYRE_TRY(vyre_mega_slot_read(live->images[1], live->sizes[1], ticket.slot, out));
  *out_ended = true;
  __atomic_store_n(&live->owners[ticket.slot], LIVE_FREE, __ATOMIC_RELEASE);
  return VYRE_OK;
}

/* Waits, longer after many waits. */
static void
pause_for(uint32_t *spins)
{
  if ((*spins)++ < SPINS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

vyre_status
live_wait_until(vyre_mega_live *live, vyre_mega_ticket ticket, uint64_t deadline, vyre_mega_slot *out, bool *out_ended)
{
  for (uint32_t spins = 0;; pause_for(&spins)) {
    const bool was_over = __atomic_load_n(&live->ended, __ATOMIC_ACQUIRE); /* read before the slot, whose result precedes the end */
    const bool is_late = deadline != UINT64_MAX && clock_now() >= deadline;
    VYRE_TRY(vyre_mega_live_poll(live, ticket, out, out_ended));
    if (*out_ended || is_late)
      return VYRE_OK;
    if (was_over)
      return vyre_status_note(live_check_end(live), "while waiting for an item in slot %" PRIu32, ticket.slot);
  }
}

vyre_status
vyre_mega_live_wait(vyre_mega_live *live, vyre_mega_ticket ticket, vyre_mega_slot *out)
{
  bool ended;
  return live_wait_until(live, ticket, UINT64_MAX, out, &ended);
}

bool
live_is_drained(const vyre_mega_live *live)
{
  for (uint32_t slot = 0; slot < live->slots; slot++)
    if (vyre_mega_state_is_active(status_of(live, slot)))
      return false;
  return true;
}

vyre_status
vyre_mega_live_drain(vyre_mega_live *live)
{
  for (uint32_t spins = 0;; pause_for(&spins)) {
    const bool was_over = __atomic_load_n(&live->ended, __ATOMIC_ACQUIRE);
    if (live_is_drained(live))
      return VYRE_OK;
    if (was_over)
      return live_check_end(live);
  }
}

vyre_status
vyre_mega_live_word(vyre_mega_live *live, uint32_t word, uint32_t *out)
{
  return vyre_mega_control_word(live->images[0], live->sizes[0], word, out);
}

vyre_status
vyre_mega_live_set(vyre_mega_live *live, uint32_t word, uint32_t value)
{
  if (word < VYRE_MEGA_MASKS || (word >= VYRE_MEGA_SERVED && word < VYRE_MEGA_SCRATCH))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: control word %" PRIu32 " cannot be set while the kernel is live\n"
                      "Fix: set a mask, a quota, scratch or an observable, or restart the kernel with other options",
                      word);
  pthread_mutex_lock(&live->lock);
  vyre_status status = vyre_mega_control_set(live->images[0], live->sizes[0], word, value);
  if (!status)
    live->is_set[word] = true;
  pthread_mutex_unlock(&live->lock);
  VYRE_TRY(status);
  __atomic_fetch_add((uint32_t *)live->images[0] + VYRE_MEGA_DOORBELL, 1, __ATOMIC_SEQ_CST);
  live_wake(live);
  return VYRE_OK;
}

vyre_status
vyre_mega_live_io(vyre_mega_live *live, void **out_image, size_t *out_size)
{
  if (live->way == VYRE_MEGA_MIRRORED)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the IO queue is in the device's own memory on %s\n"
                      "Fix: choose a target whose kernels share memory with the host",
                      live->mega->ops->name);
  *out_image = live->images[3];
  *out_size = live->sizes[3];
  return VYRE_OK;
}
