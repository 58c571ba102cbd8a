/* IO by io_uring.  The library is opened at run time.  If the library or the kernel's support is missing or forbidden, the
 * pump uses the plain engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pump.h"
#include "vyre/environment.h"

#include <dlfcn.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 2 * VYRE_MEGA_IO_SLOTS /* for each slot a part and its cancellation */, MOST_REGIONS = 1024, WAIT_NS = 100000 };

typedef struct pump_uring {
  void *library;
#define URING_SYM(result, name, parameters) result(*name) parameters;
#include "uring_symbols.def"
  struct io_uring ring;
  bool has_regions; /* registered */
} pump_uring;

static bool
load(pump_uring *u, const char *library)
{
  u->library = dlopen(library ? library : "liburing.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!u->library)
    return false;
  void *symbol;
#define URING_SYM(result, name, parameters)         \
  symbol = dlsym(u->library, #name);                \
  memcpy((void *)&u->name, &symbol, sizeof symbol); \
  if (!symbol)                                      \
    return false;
#include "uring_symbols.def"
  return true;
}

/* Returns whether the operating system supports the operations that the engine uses.  Linux before 5.6 does not. */
static bool
can_all(pump_uring *u)
{
  struct io_uring_probe *probe = u->io_uring_get_probe_ring(&u->ring);
  const bool can = probe && io_uring_opcode_supported(probe, IORING_OP_READ) && io_uring_opcode_supported(probe, IORING_OP_WRITE) &&
                   io_uring_opcode_supported(probe, IORING_OP_ASYNC_CANCEL);
  if (probe)
    u->io_uring_free_probe(probe);
  return can;
}

/* Registers the regions.  If the system refuses, for example because of the limit of locked memory, bytes are moved without
 * registration. */
static void
register_regions(pump_uring *u, const vyre_mega_pump_options *o)
{
  struct iovec vectors[MOST_REGIONS];
  if (o->region_count == 0 || o->region_count > MOST_REGIONS)
    return;
  for (uint32_t i = 0; i < o->region_count; i++)
    vectors[i] = (struct iovec){o->regions[i].data, (size_t)o->regions[i].size};
  u->has_regions = u->io_uring_register_buffers(&u->ring, vectors, o->region_count) == 0;
}

static bool
open_uring(vyre_mega_pump *p)
{
  VYRE_FOREIGN_CALL;
  pump_uring *u = calloc(1, sizeof *u);
  p->uring = u;
  if (!u)
    return false;
  const bool has_ring = load(u, p->options.library) && u->io_uring_queue_init(ENTRIES, &u->ring, 0) == 0;
  if (has_ring && can_all(u)) {
    register_regions(u, &p->options);
    return true;
  }
  if (has_ring)
    u->io_uring_queue_exit(&u->ring);
  if (u->library)
    dlclose(u->library);
  free(u);
  return false;
}

static void
close_uring(vyre_mega_pump *p)
{
  VYRE_FOREIGN_CALL;
  p->uring->io_uring_queue_exit(&p->uring->ring);
  dlclose(p->uring->library);
  free(p->uring);
}

/* Returns a free entry.  If there is none, submits earlier entries first.  Returns NULL if the system does not accept them. */
static struct io_uring_sqe *
get_entry(pump_uring *u)
{
  struct io_uring_sqe *entry = io_uring_get_sqe(&u->ring);
  if (entry)
    return entry;
  u->io_uring_submit(&u->ring);
  return io_uring_get_sqe(&u->ring);
}

static void
begin_part(vyre_mega_pump *p, uint32_t slot, uint32_t bytes)
{
  pump_uring *u = p->uring;
  pump_work *work = &p->works[slot];
  struct io_uring_sqe *entry = get_entry(u);
  const uint64_t offset = work->is_stream ? UINT64_MAX : work->offset; /* the stream's current position */
  work->is_given = entry != NULL;
  if (!entry)
    return;
  if (u->has_regions && pump_is_write(work))
    io_uring_prep_write_fixed(entry, work->file, work->data, bytes, offset, (int)work->region);
  else if (u->has_regions)
    io_uring_prep_read_fixed(entry, work->file, work->data, bytes, offset, (int)work->region);
  else if (pump_is_write(work))
    io_uring_prep_write(entry, work->file, work->data, bytes, offset);
  else
    io_uring_prep_read(entry, work->file, work->data, bytes, offset);
  p->stats.registered += u->has_regions;
  io_uring_sqe_set_data64(entry, slot);
}

static void
cancel(vyre_mega_pump *p, uint32_t slot)
{
  struct io_uring_sqe *entry = get_entry(p->uring);
  p->works[slot].is_given_up = entry != NULL;
  if (!entry)
    return;
  io_uring_prep_cancel64(entry, slot, 0);
  io_uring_sqe_set_data64(entry, VYRE_MEGA_IO_SLOTS);
}

static void
advance(vyre_mega_pump *p)
{
  pump_uring *u = p->uring;
  struct io_uring_cqe *cqes[ENTRIES];
  struct __kernel_timespec time = {.tv_nsec = WAIT_NS};
  for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++)
    if (p->works[slot].is_there && p->works[slot].left && !p->works[slot].is_given)
      pump_begin_part(p, slot);
  u->io_uring_submit(&u->ring); /* entries that the system does not accept now are submitted the next time */
  u->io_uring_wait_cqe_timeout(&u->ring, cqes, &time);
  const unsigned count = u->io_uring_peek_batch_cqe(&u->ring, cqes, ENTRIES);
  for (unsigned i = 0; i < count; i++) {
    const uint64_t slot = io_uring_cqe_get_data64(cqes[i]);
    const int result = cqes[i]->res;
    if (slot < VYRE_MEGA_IO_SLOTS)
      pump_part_ended(p, (uint32_t)slot, result);
    if (result == -EAGAIN)
      pump_rest(WAIT_NS / 1000);
  }
  io_uring_cq_advance(&u->ring, count);
}

const pump_engine pump_by_uring = {open_uring, close_uring, begin_part, cancel, advance};
