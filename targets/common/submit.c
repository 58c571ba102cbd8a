/* Submissions: in one call, or begun and waited for.
 *
 * A submission in flight pins its buffers and kernels: it increments their `in_flight` counts until it is finished. A target
 * without `start` does the work in `begin`, and the ticket holds the result.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"
#include "vyre/environment.h"
#include "work.h"

#include <inttypes.h>
#include <sched.h>
#include <time.h>

enum { SPINS = 100 /* polls before a thread sleeps between them */ };

typedef struct target_ticket {
  void *work;         /* of the hooks, or NULL if it is finished */
  vyre_status status; /* owned; the result of finished work */
  vyre_timing timing;
  uint64_t **holds; /* the counts that this submission incremented */
  size_t hold_count, hold_size;
  uint64_t host_ns; /* spent in `begin` */
} target_ticket;

static void
add_counters(target_base *base, const vyre_timing *timing)
{
  base->counters.waits += timing->waits;
  base->counters.batches += timing->batches;
  base->counters.launches += timing->launches;
  base->counters.bytes_up += timing->bytes_up;
  base->counters.bytes_down += timing->bytes_down;
  base->counters.bytes_filled += timing->bytes_filled;
  base->counters.record_ns += timing->record_ns;
  base->counters.submit_ns += timing->submit_ns;
  base->counters.wait_ns += timing->wait_ns;
  base->counters.device_ns += timing->device_ns;
}

/* Records a driver call for a sequence. Without a sequence, the call is a wait. */
static void
note_run(const vyre_target *target, const vyre_sequence *sequence)
{
  const target_kernel *first = sequence && sequence->step_count ? target_kernel_get(target, sequence->steps[0].kernel) : NULL;
  target_call_hook(target_base_of_const(target), VYRE_DRIVER_RUNS, first ? first->label : "");
}

/* Runs a checked sequence. */
static vyre_status
run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  VYRE_OWN_ENVIRONMENT;
  target_base *base = target_base_of(target);
  const uint64_t allocations = base->counters.allocations;
  *timing = (vyre_timing){0};
  note_run(target, sequence);
  vyre_status status = base->hooks->run(target, sequence, timing);
  target_call_end();
  timing->allocations = (uint32_t)(base->counters.allocations - allocations);
  add_counters(base, timing);
  return status;
}

vyre_status
target_submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  target_base *base = target_base_of(target);
  vyre_timing own;
  if (timing)
    *timing = (vyre_timing){0};
  const uint64_t start = clock_now();
  VYRE_TRY(target_ready(target));
  VYRE_TRY(target_check_sequence(target, sequence));
  base->counters.submits++;
  vyre_status status = run(target, sequence, &own);
  own.host_ns = clock_now() - start;
  base->counters.host_ns += own.host_ns;
  VYRE_TRY(status);
  if (timing)
    *timing = own;
  return VYRE_OK;
}

/* ---- tickets ------------------------------------------------------------------------------------------------------------- */

typedef struct holding {
  const vyre_target *target;
  target_ticket *ticket;
} holding;

static void
hold(void *user, const vyre_range *range, bool is_step)
{
  (void)is_step;
  const holding *held = user;
  target_buffer *buffer = target_buffer_get(held->target, range->buffer);
  if (buffer) /* optional ranges may have no buffer */
    held->ticket->holds[held->ticket->hold_count++] = &buffer->in_flight;
}

/* Pins the buffers and kernels of a checked sequence. */
static vyre_status
hold_all(vyre_target *target, const vyre_sequence *sequence, target_ticket *ticket)
{
  const target_base *base = target_base_of(target);
  size_t most = (size_t)sequence->fill_count + sequence->upload_count + sequence->read_count + sequence->repeat_count + 1;
  for (uint32_t i = 0; i < sequence->step_count; i++)
    most += (size_t)sequence->steps[i].buffer_count + 2;
  ticket->hold_size = sizeof *ticket->holds * most;
  ticket->holds = vyre_allocate(&base->allocator, ticket->hold_size);
  if (!ticket->holds)
    return VYRE_OUT_OF_MEMORY("for a submission in flight");
  target_each_range(sequence, hold, &(holding){target, ticket});
  for (uint32_t i = 0; i < sequence->step_count; i++)
    ticket->holds[ticket->hold_count++] = &target_kernel_get(target, sequence->steps[i].kernel)->in_flight;
  for (size_t i = 0; i < ticket->hold_count; i++)
    ++*ticket->holds[i];
  return VYRE_OK;
}

static void
release_all(const target_base *base, target_ticket *ticket)
{
  for (size_t i = 0; i < ticket->hold_count; i++)
    --*ticket->holds[i];
  vyre_release(&base->allocator, ticket->holds, ticket->hold_size);
  ticket->holds = NULL;
  ticket->hold_count = 0;
}

/* Waits and stores the result in the ticket. */
static void
finish(vyre_target *target, target_ticket *ticket)
{
  VYRE_OWN_ENVIRONMENT;
  target_base *base = target_base_of(target);
  if (ticket->work) {
    const uint64_t allocations = base->counters.allocations;
    note_run(target, NULL);
    ticket->status = base->hooks->finish(target, ticket->work, &ticket->timing);
    target_call_end();
    ticket->timing.allocations += (uint32_t)(base->counters.allocations - allocations);
    ticket->work = NULL;
    add_counters(base, &ticket->timing);
  }
  release_all(base, ticket);
}

static void
free_ticket(target_base *base, target_ticket *ticket)
{
  vyre_status_free(ticket->status);
  release_all(base, ticket);
  vyre_release(&base->allocator, ticket, sizeof *ticket);
}

/* Begins the work, or does it if the target has no `start`. */
static vyre_status
start(vyre_target *target, const vyre_sequence *sequence, target_ticket *ticket)
{
  VYRE_OWN_ENVIRONMENT;
  target_base *base = target_base_of(target);
  if (!base->hooks->start) {
    ticket->status = run(target, sequence, &ticket->timing);
    release_all(base, ticket);
    return VYRE_OK;
  }
  const uint64_t allocations = base->counters.allocations;
  note_run(target, sequence);
  vyre_status status = base->hooks->start(target, sequence, &ticket->work);
  target_call_end();
  ticket->timing.allocations = (uint32_t)(base->counters.allocations - allocations);
  return status;
}

vyre_status
target_begin(vyre_target *target, const vyre_sequence *sequence, vyre_ticket *out)
{
  target_base *base = target_base_of(target);
  *out = (vyre_ticket){0};
  const uint64_t begun = clock_now();
  VYRE_TRY(target_ready(target));
  VYRE_TRY(target_check_sequence(target, sequence));
  target_ticket *ticket = vyre_allocate(&base->allocator, sizeof *ticket);
  if (!ticket)
    return VYRE_OUT_OF_MEMORY("for a submission in flight");
  uint64_t id;
  vyre_status status = target_handles_add(base, &base->tickets, ticket, &id);
  if (!status) {
    status = hold_all(target, sequence, ticket);
    if (!status) {
      base->counters.submits++;
      status = start(target, sequence, ticket);
    }
    if (status)
      target_handles_remove(&base->tickets, id);
  }
  if (status) {
    free_ticket(base, ticket);
    return status;
  }
  base->counters.in_flight++;
  ticket->host_ns = clock_now() - begun;
  out->id = id;
  return VYRE_OK;
}

static vyre_status
no_such_ticket(const target_base *base, vyre_ticket ticket)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: %" PRIu64 " is not a submission in flight of this target\n"
                    "Fix: wait once for each ticket that begin returned",
                    base->hooks->name, ticket.id);
}

vyre_status
target_poll(vyre_target *target, vyre_ticket handle, bool *out_done)
{
  VYRE_OWN_ENVIRONMENT;
  const target_base *base = target_base_of(target);
  *out_done = false;
  const target_ticket *ticket = target_handles_get(&base->tickets, handle.id);
  if (!ticket)
    return no_such_ticket(base, handle);
  if (ticket->work)
    return base->hooks->poll(target, ticket->work, out_done);
  *out_done = true;
  return VYRE_OK;
}

/* If the target is shared: polls until the submission is done, and releases the lock between polls. Ends at the target's
 * timeout; the wait that follows reports it. */
static void
share_until_done(vyre_target *target, vyre_ticket handle)
{
  const target_base *base = target_base_of(target);
  const uint64_t begun = clock_now(), limit = base->timeout ? (uint64_t)base->timeout * 1000000000u : UINT64_MAX;
  bool is_done = false;
  for (uint32_t polls = 0; base->is_shared && !is_done; polls++) {
    vyre_status status = target_poll(target, handle, &is_done);
    if (status || clock_now() - begun > limit) {
      vyre_status_free(status); /* the wait returns the error */
      return;
    }
    if (is_done)
      return;
    target_unlock(target);
    if (polls < SPINS)
      sched_yield();
    else
      nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    target_lock(target);
  }
}

vyre_status
target_wait(vyre_target *target, vyre_ticket handle, vyre_timing *timing)
{
  target_base *base = target_base_of(target);
  if (timing)
    *timing = (vyre_timing){0};
  const uint64_t begun = clock_now();
  share_until_done(target, handle);
  target_ticket *ticket = target_handles_get(&base->tickets, handle.id);
  if (!ticket)
    return no_such_ticket(base, handle);
  finish(target, ticket);
  target_handles_remove(&base->tickets, handle.id);
  base->counters.in_flight--;
  vyre_status status = ticket->status;
  ticket->status = VYRE_OK;
  ticket->timing.host_ns = ticket->host_ns + clock_now() - begun;
  base->counters.host_ns += ticket->timing.host_ns;
  if (timing && !status)
    *timing = ticket->timing;
  free_ticket(base, ticket);
  return vyre_status_join(status, target_kept_trim(target, target_kept_budget(base))); /* its kept sets may be removed now */
}

void
target_tickets_finish(vyre_target *target)
{
  const target_base *base = target_base_of(target);
  for (uint32_t i = 0; i < base->tickets.count; i++) {
    if (base->tickets.places[i].item)
      finish(target, base->tickets.places[i].item);
  }
}

void
target_tickets_forget(vyre_target *target)
{
  target_base *base = target_base_of(target);
  for (uint32_t i = 0; i < base->tickets.count; i++) {
    if (base->tickets.places[i].item)
      free_ticket(base, base->tickets.places[i].item);
  }
  target_handles_free(&base->allocator, &base->tickets);
  base->counters.in_flight = 0;
}

vyre_status
target_flush(vyre_target *target)
{
  target_tickets_finish(target);
  return VYRE_OK;
}
