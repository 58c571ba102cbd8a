/* Copies and fills, and the calls that submit them.
 *
 * Pageable host memory is read and written before the call returns, as the CUDA programming guide describes. Pinned and registered
 * memory is read and written in stream order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sim_work *
sim_work_new(sim_work_kind kind, const char *label)
{
  static uint64_t made;
  sim_work *work = sim_allocate(sizeof *work);
  work->kind = kind;
  work->references = 1;
  snprintf(work->label, sizeof work->label, "%s (%s, number %llu)", label, sim_call_name(sim_called_now),
           (unsigned long long)++made);
  return work;
}

void
sim_work_release(sim_work *work)
{
  if (--work->references)
    return;
  if (work->to.memory)
    sim_memory_release(work->to.memory);
  if (work->from.memory)
    sim_memory_release(work->from.memory);
  if (work->function)
    sim_module_release(work->function->module);
  free(work->staged);
  free(work->parameters);
  free(work);
}

static bool
is_there(const sim_place *place, const sim_work *work)
{
  if (place->memory && place->memory->is_freed) {
    sim_report("%s uses memory %u, which was freed", work->label, place->memory->number);
    return false;
  }
  return true;
}

bool
sim_work_check(const sim_work *work)
{
  if (work->function && work->function->module->is_unloaded) {
    sim_report("%s uses a module that was unloaded", work->label);
    return false;
  }
  return is_there(&work->to, work) && is_there(&work->from, work);
}

static uint8_t *
bytes_of(const sim_place *place)
{
  return place->memory ? place->memory->bytes + place->offset : place->host;
}

static void
note(const sim_place *place, const sim_work *work, uint8_t access, sim_uses *uses, uint32_t node)
{
  if (place->memory)
    sim_uses_add(uses, place->memory, place->offset, work->size, access, node);
}

static void
fill(uint8_t *to, uint32_t value, uint32_t width, uint64_t size)
{
  for (uint64_t i = 0; i < size; i += width)
    memcpy(to + i, &value, width); /* assumes a little-endian host, like the device */
}

static void
count_copy(const sim_work *work)
{
  const bool is_up = !work->from.memory || sim_is_host(work->from.memory);
  const bool is_down = !work->to.memory || sim_is_host(work->to.memory);
  *(is_up ? &sim.counters.bytes_up : is_down ? &sim.counters.bytes_down : &sim.counters.bytes_within) += work->size;
}

cuda_result
sim_work_run(sim_context *context, sim_work *work, sim_uses *uses, uint32_t node)
{
  if (!sim_work_check(work))
    return CUDA_ILLEGAL_ADDRESS;
  SIM_TRY(sim_called(work->kind == SIM_LAUNCH ? SIM_CALL_run_kernel
                     : work->kind == SIM_COPY ? SIM_CALL_run_copy
                                              : SIM_CALL_run_fill));
  if (work->kind == SIM_LAUNCH)
    return sim_launch_run(context, work, uses, node);
  note(&work->to, work, SIM_WRITES, uses, node);
  note(&work->from, work, SIM_READS, uses, node);
  if (work->kind == SIM_COPY)
    count_copy(work);
  else
    sim.counters.bytes_filled += work->size;
  pthread_mutex_unlock(&sim.lock);
  if (work->kind == SIM_COPY)
    memmove(bytes_of(&work->to), bytes_of(&work->from), work->size);
  else
    fill(bytes_of(&work->to), work->value, work->width, work->size);
  pthread_mutex_lock(&sim.lock);
  return CUDA_OK;
}

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

static bool
get_device(uint64_t address, uint64_t size, const char *what, sim_place *out)
{
  sim_memory *memory = sim_memory_at(sim_context_current(), address, size, what);
  if (!memory)
    return false;
  *out = (sim_place){.memory = memory, .offset = address - memory->address};
  sim_memory_retain(memory);
  return true;
}

static bool
get_host(const void *host, uint64_t size, const char *what, sim_place *out)
{
  sim_memory *memory;
  if (!host) {
    sim_report("%s: %s is NULL", sim_call_name(sim_called_now), what);
    return false;
  }
  if (!sim_pinned_at(sim_context_current(), host, size, what, &memory))
    return false;
  *out = (sim_place){.host = (uint8_t *)(uintptr_t)host};
  if (memory) {
    *out = (sim_place){.memory = memory, .offset = (uint64_t)((const uint8_t *)host - memory->host)};
    sim_memory_retain(memory);
  }
  return true;
}

/* Returns false and invalidates the capture if a capturing stream copies pageable memory. */
static bool
may_capture(const sim_stream *stream, const sim_place *place)
{
  if (!stream->capture || place->memory)
    return true;
  sim_capture_forbid(stream->capture, CUDA_STREAM_CAPTURE_UNSUPPORTED, "the host's memory is not pinned");
  return false;
}

static cuda_result
drop(sim_work *work, cuda_result result)
{
  sim_work_release(work);
  return result;
}

SIM_ENTRY(cuMemcpyHtoDAsync_v2, SIM_CURRENT, (cuda_address to, const void *from, size_t size, cuda_stream stream),
          (to, from, size, stream))
{
  SIM_FOUND(sim_stream, given, sim_stream_get(stream));
  if (size == 0)
    return CUDA_OK;
  sim_work *work = sim_work_new(SIM_COPY, "a copy from the host");
  work->size = size;
  if (!get_device(to, size, "the destination", &work->to) || !get_host(from, size, "the source", &work->from))
    return drop(work, CUDA_INVALID_VALUE);
  if (!may_capture(given, &work->from))
    return drop(work, CUDA_STREAM_CAPTURE_UNSUPPORTED);
  if (!work->from.memory) {
    work->staged = malloc(size);
    if (!work->staged)
      return drop(work, CUDA_OUT_OF_MEMORY);
    memcpy(work->staged, from, size);
    work->from.host = work->staged;
  }
  return sim_submit(given, work);
}

SIM_ENTRY(cuMemcpyDtoHAsync_v2, SIM_CURRENT, (void *to, cuda_address from, size_t size, cuda_stream stream),
          (to, from, size, stream))
{
  SIM_FOUND(sim_stream, given, sim_stream_get(stream));
  if (size == 0)
    return CUDA_OK;
  sim_work *work = sim_work_new(SIM_COPY, "a copy to the host");
  work->size = size;
  if (!get_device(from, size, "the source", &work->from) || !get_host(to, size, "the destination", &work->to))
    return drop(work, CUDA_INVALID_VALUE);
  if (!may_capture(given, &work->to))
    return drop(work, CUDA_STREAM_CAPTURE_UNSUPPORTED);
  const bool is_pinned = work->to.memory != NULL;
  const cuda_result result = sim_submit(given, work);
  return result || is_pinned ? result : sim_host_wait(given->object.context, &given->clock);
}

SIM_ENTRY(cuMemcpyDtoDAsync_v2, SIM_CURRENT, (cuda_address to, cuda_address from, size_t size, cuda_stream stream),
          (to, from, size, stream))
{
  SIM_FOUND(sim_stream, given, sim_stream_get(stream));
  if (size == 0)
    return CUDA_OK;
  sim_work *work = sim_work_new(SIM_COPY, "a copy on the device");
  work->size = size;
  if (!get_device(to, size, "the destination", &work->to) || !get_device(from, size, "the source", &work->from))
    return drop(work, CUDA_INVALID_VALUE);
  if (to < from + size && from < to + size)
    sim_report("cuMemcpyDtoDAsync_v2: source and destination overlap");
  return sim_submit(given, work);
}

static cuda_result
fill_with(cuda_address to, uint32_t value, uint32_t width, size_t count, cuda_stream stream)
{
  SIM_FOUND(sim_stream, given, sim_stream_get(stream));
  if (count == 0)
    return CUDA_OK;
  if (to % width || count > SIZE_MAX / width)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "%s: the address 0x%llx is not a multiple of %u", sim_call_name(sim_called_now),
                      (unsigned long long)to, width);
  sim_work *work = sim_work_new(SIM_FILL, "a fill");
  work->size = count * width;
  work->value = value;
  work->width = width;
  if (!get_device(to, work->size, "the destination", &work->to))
    return drop(work, CUDA_INVALID_VALUE);
  return sim_submit(given, work);
}

SIM_ENTRY(cuMemsetD8Async, SIM_CURRENT, (cuda_address to, unsigned char value, size_t count, cuda_stream stream),
          (to, value, count, stream))
{
  return fill_with(to, value, 1, count, stream);
}

SIM_ENTRY(cuMemsetD16Async, SIM_CURRENT, (cuda_address to, unsigned short value, size_t count, cuda_stream stream),
          (to, value, count, stream))
{
  return fill_with(to, value, 2, count, stream);
}

SIM_ENTRY(cuMemsetD32Async, SIM_CURRENT, (cuda_address to, unsigned int value, size_t count, cuda_stream stream),
          (to, value, count, stream))
{
  return fill_with(to, value, 4, count, stream);
}

static cuda_result
wait_legacy(cuda_result result)
{
  sim_context *context = sim_context_current();
  return result ? result : sim_host_wait(context, &context->legacy->clock);
}

SIM_ENTRY(cuMemcpyHtoD_v2, SIM_CURRENT | SIM_UNSAFE, (cuda_address to, const void *from, size_t size), (to, from, size))
{
  return wait_legacy(work_cuMemcpyHtoDAsync_v2(to, from, size, NULL));
}

SIM_ENTRY(cuMemcpyDtoH_v2, SIM_CURRENT | SIM_UNSAFE, (void *to, cuda_address from, size_t size), (to, from, size))
{
  return wait_legacy(work_cuMemcpyDtoHAsync_v2(to, from, size, NULL));
}

SIM_ENTRY(cuMemcpyDtoD_v2, SIM_CURRENT | SIM_UNSAFE, (cuda_address to, cuda_address from, size_t size), (to, from, size))
{
  return wait_legacy(work_cuMemcpyDtoDAsync_v2(to, from, size, NULL));
}
