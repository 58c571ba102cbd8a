/* Allocates and frees buffers, one or many at once. Freed buffers go into the pool, and allocations use it first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <inttypes.h>

target_buffer *
target_buffer_get(const vyre_target *target, vyre_device_buffer buffer)
{
  return target_handles_get(&target_base_of_const(target)->buffers, buffer.id);
}

vyre_status
target_no_such_buffer(const vyre_target *target, uint64_t id)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: %" PRIu64 " is not a buffer of this target, or it was freed\n"
                    "Fix: use a buffer that was allocated and not freed",
                    target_base_of_const(target)->hooks->name, id);
}

vyre_status
target_buffer_destroy(vyre_target *target, target_buffer *buffer)
{
  target_base *base = target_base_of(target);
  vyre_status status = base->hooks->destroy(target, buffer->memory);
  vyre_release(&base->allocator, buffer, sizeof *buffer);
  return status;
}

/* ---- allocating ---------------------------------------------------------------------------------------------------------- */

static vyre_status
check_size(const target_base *base, uint64_t size)
{
  if (size == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: a buffer of 0 bytes\nFix: give it a size of at least 1 byte", base->hooks->name);
  if (size > base->info.max_buffer)
    return TARGET_REJECTED("%s: a buffer of %" PRIu64 " bytes, but the device '%s' allocates at most %" PRIu64 " at once\n"
                           "Fix: use smaller buffers, or another device",
                           base->hooks->name, size, base->info.name, base->info.max_buffer);
  return VYRE_OK;
}

/* Allocates memory. If the device fails, frees the pool and kept sets without holders, and tries again. */
static vyre_status
create_memory(vyre_target *target, uint64_t size, void **out)
{
  target_base *base = target_base_of(target);
  vyre_status status = base->hooks->create(target, size, out);
  if (!status || base->lost || (!base->pool && base->bytes_idle == 0))
    return status;
  vyre_status given_back = target_kept_trim(target, 0);
  given_back = vyre_status_join(given_back, target_pool_trim(target, 0));
  if (given_back)
    return vyre_status_join(status, given_back);
  vyre_status_free(status);
  return base->hooks->create(target, size, out);
}

static vyre_status
create_buffer(vyre_target *target, uint64_t size, void *imported, target_buffer **out)
{
  target_base *base = target_base_of(target);
  target_buffer *buffer = vyre_allocate(&base->allocator, sizeof *buffer);
  if (!buffer)
    return VYRE_OUT_OF_MEMORY("for a buffer of a target");
  *buffer = (target_buffer){.size = size, .is_imported = imported != NULL};
  vyre_status status =
      imported ? base->hooks->import(target, imported, size, &buffer->memory) : create_memory(target, size, &buffer->memory);
  if (status)
    vyre_release(&base->allocator, buffer, sizeof *buffer);
  else
    *out = buffer;
  return status;
}

/* Makes a handle of the buffer. If that fails, the pool gets the buffer back. */
static vyre_status
publish(vyre_target *target, target_buffer *buffer, vyre_device_buffer *out)
{
  target_base *base = target_base_of(target);
  vyre_status status = target_add(base, &base->counters.bytes_live, buffer->size, "bytes of live buffers");
  if (!status) {
    status = target_handles_add(base, &base->buffers, buffer, &out->id);
    if (status)
      base->counters.bytes_live -= buffer->size;
  }
  if (status)
    return vyre_status_join(status, target_pool_put(target, buffer));
  base->counters.buffers_live++;
  return VYRE_OK;
}

vyre_status
target_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out)
{
  target_base *base = target_base_of(target);
  *out = (vyre_device_buffer){0};
  VYRE_TRY(target_ready(target));
  VYRE_TRY(check_size(base, size));
  target_buffer *buffer;
  vyre_status status = target_pool_allocate(base, size, &buffer);
  if (status)
    return vyre_status_join(status, target_buffer_destroy(target, buffer));
  if (buffer)
    base->counters.reuses++;
  else
    VYRE_TRY(create_buffer(target, size, NULL, &buffer));
  return publish(target, buffer, out);
}

vyre_status
target_allocate_many(vyre_target *target, const uint64_t *sizes, uint32_t count, vyre_device_buffer *out)
{
  for (uint32_t i = 0; i < count; i++)
    out[i] = (vyre_device_buffer){0};
  for (uint32_t i = 0; i < count; i++) {
    vyre_status status = target_allocate(target, sizes[i], &out[i]);
    if (!status)
      continue;
    status = vyre_status_note(status, "while allocating buffer %u of %u", i, count);
    for (uint32_t k = 0; k < i; k++) {
      status = vyre_status_join(status, target_free(target, out[k]));
      out[k] = (vyre_device_buffer){0};
    }
    return status;
  }
  return VYRE_OK;
}

vyre_status
target_import(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out)
{
  target_base *base = target_base_of(target);
  *out = (vyre_device_buffer){0};
  VYRE_TRY(target_ready(target));
  if (!base->hooks->import)
    return TARGET_REJECTED("%s: the device '%s' cannot use memory of the caller as a buffer\n"
                           "Fix: allocate a buffer and upload the data",
                           base->hooks->name, base->info.name);
  VYRE_TRY(check_size(base, size));
  if (!data)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: a buffer over memory at NULL\nFix: pass the address of its first byte",
                      base->hooks->name);
  if (base->info.storage_align && (uintptr_t)data % base->info.storage_align)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: a buffer over memory at %p, which is not aligned to %u bytes\n"
                      "Fix: align the memory to %u bytes",
                      base->hooks->name, data, base->info.storage_align, base->info.storage_align);
  target_buffer *buffer;
  VYRE_TRY(create_buffer(target, size, data, &buffer));
  return publish(target, buffer, out);
}

/* ---- freeing ------------------------------------------------------------------------------------------------------------- */

vyre_status
target_buffer_release(vyre_target *target, vyre_device_buffer handle)
{
  target_base *base = target_base_of(target);
  target_buffer *buffer = target_buffer_get(target, handle);
  target_handles_remove(&base->buffers, handle.id);
  buffer->kept = NULL;
  vyre_status status = target_subtract(base, &base->counters.bytes_live, buffer->size, "bytes of live buffers");
  status = vyre_status_join(status, target_subtract(base, &base->counters.buffers_live, 1, "live buffers"));
  return vyre_status_join(status, target_pool_put(target, buffer));
}

vyre_status
target_free(vyre_target *target, vyre_device_buffer handle)
{
  const target_base *base = target_base_of(target);
  const target_buffer *buffer = target_buffer_get(target, handle);
  if (!buffer)
    return target_no_such_buffer(target, handle.id);
  if (buffer->kept)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: buffer %" PRIu64 " belongs to a kept set\nFix: drop the set instead", base->hooks->name,
                      handle.id);
  if (buffer->in_flight)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: buffer %" PRIu64 " is used by a submission in flight\nFix: wait for the submission first",
                      base->hooks->name, handle.id);
  return target_buffer_release(target, handle);
}

vyre_status
target_free_many(vyre_target *target, const vyre_device_buffer *buffers, uint32_t count)
{
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count; i++)
    status = vyre_status_join(status, vyre_status_note(target_free(target, buffers[i]), "while freeing buffer %u of %u", i, count));
  return status;
}
