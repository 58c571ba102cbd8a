/* The entries of tables of operations: they take the target's lock, so that several threads may use an open target.
 *
 * A thread that waits for the device alone keeps the lock and blocks in the driver, at no extra cost.
 * As soon as another thread has once found the lock taken, `submit` and `wait` poll instead, and release the lock between polls.
 * Then one thread's work on the device delays no call of another thread for longer than a poll. A target without asynchronous
 * submissions (the CPU's) runs one sequence at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

void
target_lock(const vyre_target *target)
{
  target_base *base = (target_base *)(uintptr_t)target;
  if (pthread_mutex_trylock(&base->lock) == 0)
    return;
  base->is_shared = true;
  pthread_mutex_lock(&base->lock);
}

void
target_unlock(const vyre_target *target)
{
  pthread_mutex_unlock(&((target_base *)(uintptr_t)target)->lock);
}

/* Calls a function of this folder while the thread has the lock. */
#define LOCKED(target, call)                 \
  do {                                       \
    target_lock(target);                     \
    return target_unlock_with(target, call); \
  } while (0)

/* ---- handles ------------------------------------------------------------------------------------------------------------- */

vyre_status
locked_supports(vyre_target *target, const vyre_kernel_desc *desc)
{
  LOCKED(target, target_supports(target, desc));
}

vyre_status
locked_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out)
{
  LOCKED(target, target_allocate(target, size, out));
}

vyre_status
locked_free(vyre_target *target, vyre_device_buffer buffer)
{
  LOCKED(target, target_free(target, buffer));
}

vyre_status
locked_allocate_many(vyre_target *target, const uint64_t *sizes, uint32_t count, vyre_device_buffer *out)
{
  LOCKED(target, target_allocate_many(target, sizes, count, out));
}

vyre_status
locked_free_many(vyre_target *target, const vyre_device_buffer *buffers, uint32_t count)
{
  LOCKED(target, target_free_many(target, buffers, count));
}

vyre_status
locked_import(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out)
{
  LOCKED(target, target_import(target, data, size, out));
}

vyre_status
locked_compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out)
{
  LOCKED(target, target_compile(target, desc, out));
}

vyre_status
locked_release(vyre_target *target, vyre_kernel kernel)
{
  LOCKED(target, target_release(target, kernel));
}

vyre_status
locked_keep(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, vyre_device_buffer *out,
            bool *out_found)
{
  LOCKED(target, target_keep(target, domain, parts, count, out, out_found));
}

vyre_status
locked_drop(vyre_target *target, const vyre_device_buffer *parts, uint32_t count)
{
  LOCKED(target, target_drop(target, parts, count));
}

vyre_status
locked_statistics(vyre_target *target, vyre_kernel kernel, void (*emit)(void *user, const vyre_kernel_figure *figure), void *user)
{
  LOCKED(target, target_statistics(target, kernel, emit, user));
}

/* ---- submissions --------------------------------------------------------------------------------------------------------- */

static vyre_status
submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  const target_base *base = target_base_of(target);
  vyre_ticket ticket;
  if (!base->is_shared || !base->hooks->start)
    return target_submit(target, sequence, timing);
  if (timing)
    *timing = (vyre_timing){0};
  VYRE_TRY(target_begin(target, sequence, &ticket));
  return target_wait(target, ticket, timing);
}

vyre_status
locked_submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  LOCKED(target, submit(target, sequence, timing));
}

vyre_status
locked_begin(vyre_target *target, const vyre_sequence *sequence, vyre_ticket *out)
{
  LOCKED(target, target_begin(target, sequence, out));
}

vyre_status
locked_poll(vyre_target *target, vyre_ticket ticket, bool *out_done)
{
  LOCKED(target, target_poll(target, ticket, out_done));
}

vyre_status
locked_wait(vyre_target *target, vyre_ticket ticket, vyre_timing *timing)
{
  LOCKED(target, target_wait(target, ticket, timing));
}

vyre_status
locked_flush(vyre_target *target)
{
  LOCKED(target, target_flush(target));
}

/* ---- the device ---------------------------------------------------------------------------------------------------------- */

void
locked_describe(const vyre_target *target, vyre_device_info *out)
{
  target_lock(target);
  target_describe(target, out);
  target_unlock(target);
}

vyre_status
locked_recover(vyre_target *target)
{
  LOCKED(target, target_recover(target));
}

void
locked_metrics(const vyre_target *target, void (*emit)(void *user, const char *name, uint64_t value), void *user)
{
  target_lock(target);
  const target_counters counters = target_base_of_const(target)->counters;
  target_unlock(target);
  target_emit_counters(&counters, emit, user);
}

void
locked_reset_metrics(vyre_target *target)
{
  target_lock(target);
  target_reset_metrics(target);
  target_unlock(target);
}
