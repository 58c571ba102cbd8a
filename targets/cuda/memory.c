/* Device memory, imported memory, and pinned memory for copies.
 *
 * If the device has no memory left, the objects of unused submissions are freed and the allocation is retried. targets/common
 * does the same with the pool and with kept sets without holders. Otherwise the error has the requested, held and free bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- device memory ------------------------------------------------------------------------------------------------------- */

static vyre_status
no_memory(vyre_target *target, cuda_result result, uint64_t size, const char *api)
{
  size_t left = 0, total = 0;
  const target_counters *counters = &target->base.counters;
  const cuda_result asked = target->library.call.cuMemGetInfo_v2(&left, &total);
  char room[64] = "an unknown number of";
  if (asked == CUDA_OK)
    snprintf(room, sizeof room, "%" PRIu64 " of %" PRIu64, (uint64_t)left, (uint64_t)total);
  return cuda_status(target, result, api,
                     "allocating %" PRIu64 " bytes: this target holds %" PRIu64 " in buffers, %" PRIu64 " in its pool and %" PRIu64
                     " for sequences, and the device has %s bytes left",
                     size, counters->bytes_live, counters->bytes_pooled, target->bytes_staged, room);
}

vyre_status
cuda_memory_allocate(vyre_target *target, uint64_t size, cuda_address *out)
{
  *out = 0;
  target->base.counters.allocations++;
  cuda_result result = target->library.call.cuMemAlloc_v2(out, size);
  if (result == CUDA_OUT_OF_MEMORY && target->base.unused) {
    target_works_destroy(target);
    target->base.counters.allocations++;
    result = target->library.call.cuMemAlloc_v2(out, size);
  }
  return result == CUDA_OUT_OF_MEMORY ? no_memory(target, result, size, "cuMemAlloc_v2")
                                      : cuda_status(target, result, "cuMemAlloc_v2", "allocating %" PRIu64 " bytes", size);
}

/* Frees device memory. Does nothing if the context is lost, or if running work may still use the memory. */
vyre_status
cuda_memory_free(vyre_target *target, cuda_address address)
{
  if (target->base.lost || target->base.hangs)
    return VYRE_OK;
  return CUDA_CALL(target, cuMemFree_v2, (address), "freeing device memory");
}

/* ---- hooks --------------------------------------------------------------------------------------------------------------- */

static vyre_status
make_buffer(vyre_target *target, cuda_buffer buffer, void **out)
{
  cuda_buffer *made = vyre_allocate(&target->base.allocator, sizeof *made);
  if (!made)
    return VYRE_OUT_OF_MEMORY("for a CUDA buffer");
  *made = buffer;
  if (made->imported) {
    made->serial = ++target->serials;
    made->next = target->imports;
    target->imports = made;
  }
  *out = made;
  return VYRE_OK;
}

vyre_status
cuda_create(vyre_target *target, uint64_t size, void **out)
{
  cuda_buffer buffer = {.size = size};
  VYRE_TRY(cuda_memory_allocate(target, size, &buffer.address));
  vyre_status status = make_buffer(target, buffer, out);
  return status ? vyre_status_join(status, cuda_memory_free(target, buffer.address)) : VYRE_OK;
}

static vyre_status
unregister(vyre_target *target, void *data)
{
  if (target->base.lost || target->base.hangs)
    return VYRE_OK;
  return CUDA_CALL(target, cuMemHostUnregister, (data), "unregistering imported memory");
}

vyre_status
cuda_destroy(vyre_target *target, void *memory)
{
  cuda_buffer *buffer = memory;
  cuda_buffer **at = &target->imports;
  while (*at && *at != buffer)
    at = &(*at)->next;
  if (*at)
    *at = buffer->next;
  vyre_status status = buffer->imported ? unregister(target, buffer->imported) : cuda_memory_free(target, buffer->address);
  vyre_release(&target->base.allocator, buffer, sizeof *buffer);
  return status;
}

vyre_status
cuda_import(vyre_target *target, void *data, uint64_t size, void **out)
{
  cuda_buffer buffer = {.size = size, .imported = data};
  VYRE_TRY(CUDA_CALL(target, cuMemHostRegister_v2, (data, size, CUDA_HOST_REGISTER_MAPPED), "importing %" PRIu64 " bytes", size));
  vyre_status status =
      CUDA_CALL(target, cuMemHostGetDevicePointer_v2, (&buffer.address, data, 0), "importing %" PRIu64 " bytes", size);
  if (!status)
    status = make_buffer(target, buffer, out);
  return status ? vyre_status_join(status, unregister(target, data)) : VYRE_OK;
}

const cuda_buffer *
cuda_direct(const vyre_target *target, const target_work *work, const vyre_upload *upload)
{
  const uint64_t size = target_range_size(target_buffer_get(target, upload->range.buffer), &upload->range);
  const uintptr_t first = (uintptr_t)upload->data;
  const cuda_buffer *at = work->is_begun ? NULL : target->imports;
  while (at && (first < (uintptr_t)at->imported || first - (uintptr_t)at->imported + size > at->size))
    at = at->next;
  return at;
}

vyre_status
cuda_find_address(vyre_target *target, vyre_device_buffer handle, uint64_t *out)
{
  *out = 0;
  if (!target_buffer_get(target, handle))
    return target_no_such_buffer(target, handle.id);
  *out = cuda_buffer_get(target, handle)->address;
  target->has_addresses = true;
  return VYRE_OK;
}

/* ---- pinned memory ------------------------------------------------------------------------------------------------------- */

void
cuda_pinned_destroy(vyre_target *target, cuda_pinned *pinned)
{
  if (pinned->host && !target->base.lost && !target->base.hangs)
    target->library.call.cuMemFreeHost(pinned->host);
  target->bytes_staged -= pinned->size;
  *pinned = (cuda_pinned){0};
}

vyre_status
cuda_pinned_ensure(vyre_target *target, cuda_pinned *pinned, uint64_t size)
{
  if (size <= pinned->size)
    return VYRE_OK;
  const uint64_t grown = target_staging_size(size);
  cuda_pinned_destroy(target, pinned);
  target->base.counters.allocations++;
  VYRE_TRY(CUDA_CALL(target, cuMemHostAlloc, (&pinned->host, grown, CUDA_HOST_ALLOC_MAPPED),
                     "allocating %" PRIu64 " bytes of pinned memory", grown));
  pinned->size = grown;
  target->bytes_staged += grown;
  return VYRE_OK;
}
