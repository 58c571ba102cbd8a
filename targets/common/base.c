/* The state of a target from `open` to `close`, recovery from a loss, and counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"
#include "vyre/environment.h"

#include <inttypes.h>

void *
target_resize(const vyre_allocator *allocator, void *memory, size_t old_size, size_t new_size)
{
  return allocator->resize(allocator->user, memory, old_size, new_size);
}

/* ---- sums ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
wrong_sum(const target_base *base, const char *action, uint64_t bytes, uint64_t sum, const char *what)
{
  return VYRE_ERROR(VYRE_CODE_INTERNAL,
                    "%s: %" PRIu64 " cannot be %s the count of %s, which is %" PRIu64 "\nFix: report this as a bug of vyre",
                    base->hooks->name, bytes, action, what, sum);
}

vyre_status
target_add(const target_base *base, uint64_t *sum, uint64_t bytes, const char *what)
{
  if (bytes > UINT64_MAX - *sum)
    return wrong_sum(base, "added to", bytes, *sum, what);
  *sum += bytes;
  return VYRE_OK;
}

vyre_status
target_subtract(const target_base *base, uint64_t *sum, uint64_t bytes, const char *what)
{
  if (bytes > *sum)
    return wrong_sum(base, "subtracted from", bytes, *sum, what);
  *sum -= bytes;
  return VYRE_OK;
}

/* ---- open and close ------------------------------------------------------------------------------------------------------ */

void
target_base_init(target_base *base, const target_hooks *hooks, const vyre_allocator *allocator)
{
  *base = (target_base){
      .hooks = hooks,
      .allocator = allocator ? *allocator : *vyre_allocator_default(),
      .kept_key_mask = UINT64_MAX,
  };
  pthread_mutex_init(&base->lock, NULL);
}

/* Destroys everything on the device and makes every handle stale. */
static vyre_status
clear(vyre_target *target)
{
  target_base *base = target_base_of(target);
  target_tickets_finish(target);
  target_tickets_forget(target);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < base->kernels.count; i++) {
    if (base->kernels.places[i].item)
      status = vyre_status_join(status, base->hooks->release(target, base->kernels.places[i].item));
  }
  target_handles_free(&base->allocator, &base->kernels);
  target_kept_forget(base);
  for (uint32_t i = 0; i < base->buffers.count; i++) {
    if (base->buffers.places[i].item)
      status = vyre_status_join(status, target_buffer_destroy(target, base->buffers.places[i].item));
  }
  target_handles_free(&base->allocator, &base->buffers);
  base->counters.buffers_live = base->counters.bytes_live = 0;
  return vyre_status_join(status, target_pool_trim(target, 0));
}

vyre_status
target_base_close(vyre_target *target)
{
  vyre_status status = clear(target);
  pthread_mutex_destroy(&target_base_of(target)->lock);
  return status;
}

void
target_describe(const vyre_target *target, vyre_device_info *out)
{
  *out = target_base_of_const(target)->info;
}

/* ---- loss ---------------------------------------------------------------------------------------------------------------- */

bool
target_is_lost(const vyre_target *target)
{
  return target_base_of_const(target)->lost;
}

bool
target_hangs(const vyre_target *target)
{
  return target_base_of_const(target)->hangs;
}

vyre_status
target_ready(const vyre_target *target)
{
  const target_base *base = target_base_of_const(target);
  if (base->hooks->ready)
    return base->hooks->ready(target);
  if (!base->lost)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "%s: the device '%s' was lost in an earlier call\nFix: recover it, or close the target and open it again",
                    base->hooks->name, base->info.name);
}

vyre_status
target_recover(vyre_target *target)
{
  VYRE_FOREIGN_CALL;
  target_base *base = target_base_of(target);
  if (!base->lost)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the device '%s' was not lost\nFix: recover a device only after a loss",
                      base->hooks->name, base->info.name);
  if (!base->hooks->reopen)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "%s: the device '%s' was lost, and this target cannot open it again\nFix: close the target",
                      base->hooks->name, base->info.name);
  vyre_status_free(clear(target)); /* the device is lost, so every error is expected */
  VYRE_TRY(base->hooks->reopen(target));
  base->lost = false;
  base->counters.recoveries++;
  return VYRE_OK;
}

/* ---- counters ------------------------------------------------------------------------------------------------------------ */

const vyre_counter_info vyre_target_counters[] = {
#define TARGET_COUNTER(name, kind, text) {#name, VYRE_COUNTER_##kind, text},
#include "counters.def"
    {NULL, VYRE_COUNTER_TOTAL, NULL},
};

void
target_emit_counters(const target_counters *counters, void (*emit)(void *user, const char *name, uint64_t value), void *user)
{
#define TARGET_COUNTER(name, kind, text) emit(user, #name, counters->name);
#include "counters.def"
}

void
target_reset_metrics(vyre_target *target)
{
  target_counters *counters = &target_base_of(target)->counters;
#define TARGET_COUNTER(name, kind, text)         \
  if (VYRE_COUNTER_##kind != VYRE_COUNTER_LEVEL) \
    counters->name = 0;
#include "counters.def"
}
