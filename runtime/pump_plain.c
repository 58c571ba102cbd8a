/* IO by pread and pwrite, one part after the other.  Streams are used only when they are ready.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pump.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, REST = 100 /* microseconds */ };

static void
begin_part(vyre_mega_pump *p, uint32_t slot, uint32_t bytes)
{
  (void)p;
  (void)slot;
  (void)bytes;
}

static void
nothing(vyre_mega_pump *p, uint32_t slot)
{
  (void)p;
  (void)slot;
}

static bool
is_ready(const pump_work *work)
{
  struct pollfd file = {.fd = work->file, .events = pump_is_write(work) ? POLLOUT : POLLIN};
  return !work->is_stream || poll(&file, 1, 0) != 0;
}

static int64_t
move(const vyre_mega_pump *p, const pump_work *work)
{
  const uint32_t most = work->is_stream ? PIPE_BUF : MOST_BYTES;
  uint32_t bytes = work->left < most ? work->left : most;
  if (p->options.part && bytes > p->options.part)
    bytes = p->options.part;
  const off_t offset = (off_t)work->offset;
  const ssize_t moved = work->is_stream
                            ? pump_is_write(work) ? write(work->file, work->data, bytes) : read(work->file, work->data, bytes)
                        : pump_is_write(work) ? pwrite(work->file, work->data, bytes, offset)
                                              : pread(work->file, work->data, bytes, offset);
  return moved < 0 ? -errno : moved;
}

static void
advance(vyre_mega_pump *p)
{
  bool has_moved = false;
  for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++) {
    const pump_work *work = &p->works[slot];
    if (!work->is_there || !work->is_given)
      continue;
    if (work->is_given_up) {
      pump_part_ended(p, slot, -ECANCELED);
      has_moved = true;
    } else if (is_ready(work)) {
      const int64_t result = move(p, work);
      has_moved |= result != -EAGAIN;
      pump_part_ended(p, slot, result);
    }
  }
  if (!has_moved)
    pump_rest(REST);
}

static bool
open_plain(vyre_mega_pump *p)
{
  (void)p;
  return true;
}

static void
close_plain(vyre_mega_pump *p)
{
  (void)p;
}

const pump_engine pump_plain = {open_plain, close_plain, begin_part, nothing, advance};
