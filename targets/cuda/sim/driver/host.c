/* Pinned memory in its own pages, with a guard page before and after, and the caller's memory if it is registered.
 *
 * Mapped memory has a device address that differs from its host address, as drivers may choose. Both addresses refer to the same
 * memory, so that each side sees atomic and volatile writes of the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <sys/mman.h>
#include <unistd.h>

/* Maps the same memory twice: for the device, and for the host between two inaccessible pages. Returns NULL on failure. */
static uint8_t *
map_twice(size_t inside, size_t page, uint8_t **out_pages)
{
  const int file = memfd_create("pinned", MFD_CLOEXEC);
  if (file < 0)
    return NULL;
  uint8_t *pages = MAP_FAILED, *bytes = MAP_FAILED;
  if (ftruncate(file, (off_t)inside) == 0)
    pages = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED)
    bytes = mmap(NULL, inside, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED && mmap(pages + page, inside, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    munmap(bytes, inside);
    bytes = MAP_FAILED;
  }
  close(file);
  if (bytes == MAP_FAILED) {
    if (pages != MAP_FAILED)
      munmap(pages, inside + 2 * page);
    return NULL;
  }
  *out_pages = pages;
  return bytes;
}

void
sim_host_unmap(const sim_memory *memory)
{
  munmap(memory->bytes, memory->page_bytes - 2 * (size_t)sysconf(_SC_PAGESIZE));
  munmap(memory->pages, memory->page_bytes);
}

SIM_ENTRY(cuMemHostAlloc, SIM_CURRENT | SIM_UNSAFE, (void **memory, size_t size, unsigned int flags), (memory, size, flags))
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (!memory || size == 0 || flags & ~7u || size > SIZE_MAX / 2)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuMemHostAlloc: %zu bytes with flags 0x%x", size, flags);
  const size_t inside = (size + page - 1) / page * page;
  uint8_t *pages, *bytes = map_twice(inside, page, &pages);
  if (!bytes)
    return CUDA_OUT_OF_MEMORY;
  sim_memory *made;
  sim_memory_poison(bytes, inside);
  sim_memory_new(sim_context_current(), SIM_PINNED, size, bytes, &made);
  made->host = pages + page;
  made->pages = pages;
  made->page_bytes = inside + 2 * page;
  made->is_portable = flags & CUDA_HOST_ALLOC_PORTABLE;
  made->is_mapped = flags & CUDA_HOST_ALLOC_MAPPED;
  sim.counters.pinned_bytes += size;
  *memory = made->host;
  return CUDA_OK;
}

SIM_ENTRY(cuMemHostRegister_v2, SIM_CURRENT | SIM_UNSAFE, (void *memory, size_t size, unsigned int flags), (memory, size, flags))
{
  if (!memory || size == 0 || flags & ~3u)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuMemHostRegister_v2: %zu bytes with flags 0x%x", size, flags);
  sim_memory *made;
  if (sim_pinned_overlaps(memory, size))
    return CUDA_HOST_MEMORY_ALREADY_REGISTERED;
  sim_memory_new(sim_context_current(), SIM_REGISTERED, size, memory, &made);
  made->host = memory;
  made->is_portable = flags & CUDA_HOST_REGISTER_PORTABLE;
  made->is_mapped = flags & CUDA_HOST_REGISTER_MAPPED;
  return CUDA_OK;
}

/* Reports a host write behind the end of pinned memory. The rest of the last page is poisoned to detect it. */
static void
check_rest(const sim_memory *memory)
{
  const uint64_t inside = memory->page_bytes - 2 * (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t at = memory->size;
  while (at < inside && sim_memory_is_poison(memory->bytes + at))
    at++;
  if (at < inside)
    sim_report("cuMemFreeHost: the host wrote to byte %llu of pinned memory %u, which has %llu, out of its bounds",
               (unsigned long long)at, memory->number, (unsigned long long)memory->size);
}

/* Frees the memory of that kind that begins there. Reports operations that still use it, and waits for them. */
static cuda_result
free_host(void *memory, sim_memory_kind kind, cuda_result none)
{
  sim_context *context = sim_context_current();
  sim_memory *found;
  if (!sim_pinned_at(context, memory, 1, "the memory to free", &found) || !found || found->host != memory || found->kind != kind)
    return SIM_REFUSE(none, "%s: %p is not the start of %s memory", sim_call_name(sim_called_now), memory,
                      kind == SIM_PINNED ? "pinned" : "registered");
  sim_memory_unused(found);
  if (found->references)
    sim_wait_context(found->context);
  if (kind == SIM_PINNED)
    check_rest(found);
  sim_memory_free(found);
  return CUDA_OK;
}

SIM_ENTRY(cuMemFreeHost, SIM_CURRENT | SIM_UNSAFE, (void *memory), (memory))
{
  return free_host(memory, SIM_PINNED, CUDA_INVALID_VALUE);
}

SIM_ENTRY(cuMemHostUnregister, SIM_CURRENT | SIM_UNSAFE, (void *memory), (memory))
{
  return free_host(memory, SIM_REGISTERED, CUDA_HOST_MEMORY_NOT_REGISTERED);
}

SIM_ENTRY(cuMemHostGetDevicePointer_v2, SIM_CURRENT, (cuda_address * address, void *memory, unsigned int flags),
          (address, memory, flags))
{
  sim_memory *found;
  if (!address || flags)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuMemHostGetDevicePointer_v2: flags must be 0");
  if (!sim_pinned_at(sim_context_current(), memory, 1, "the host address", &found) || !found || !found->is_mapped)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuMemHostGetDevicePointer_v2: %p is not in mapped memory", memory);
  *address = found->address + (uint64_t)((const uint8_t *)memory - found->host);
  return CUDA_OK;
}
