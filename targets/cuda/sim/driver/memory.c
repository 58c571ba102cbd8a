/* The table of all allocations, and device memory.
 *
 * Device addresses have a bit that host addresses lack. They increase with gaps between allocations and are never reused. Device
 * memory is aligned to 256 bytes, as CUDA guarantees, but never to more.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS UINT64_C(0x0000a00000000000)
#define GAP           UINT64_C(0x10000)
#define ALIGNMENT     256
#define POISON        0xdb
enum { MOST_FREED = 4096 }; /* freed allocations in the table */

static struct {
  sim_memory **entries; /* owned, ordered by address */
  uint32_t count, capacity, freed, made;
  uint64_t next, version;
} table;

void
sim_memory_poison(uint8_t *bytes, uint64_t size)
{
  memset(bytes, POISON, size);
}

bool
sim_memory_is_poison(const uint8_t *byte)
{
  return *byte == POISON;
}

void
sim_memory_retain(sim_memory *memory)
{
  memory->references++;
}

static void
free_bytes(sim_memory *memory)
{
  if (!sim_is_host(memory))
    free(memory->bytes);
  else if (memory->kind == SIM_PINNED && memory->pages)
    sim_host_unmap(memory);
  memory->bytes = NULL;
  memory->pages = NULL;
}

void
sim_memory_release(sim_memory *memory)
{
  if (--memory->references == 0 && memory->is_freed) {
    free_bytes(memory);
    if (!memory->is_in_table)
      free(memory);
  }
}

static void
drop_freed(bool (*is_dropped)(const sim_memory *memory, uint32_t freed_before, const void *user), const void *user)
{
  uint32_t kept = 0, freed = 0;
  for (uint32_t i = 0; i < table.count; i++) {
    sim_memory *memory = table.entries[i];
    if (!memory->is_freed || !is_dropped(memory, freed++, user)) {
      table.entries[kept++] = memory;
      continue;
    }
    table.freed--;
    memory->is_in_table = false;
    if (memory->references == 0)
      free(memory);
  }
  table.count = kept;
}

static bool
is_old(const sim_memory *memory, uint32_t freed_before, const void *user)
{
  (void)memory, (void)user;
  return freed_before < MOST_FREED / 2;
}

static void
enter_table(sim_memory *memory)
{
  if (table.freed > MOST_FREED)
    drop_freed(is_old, NULL);
  sim_grow(&table.entries, &table.capacity, table.count, sizeof *table.entries);
  table.entries[table.count++] = memory;
  table.version++;
  memory->is_in_table = true;
  memory->number = ++table.made;
}

/* Returns a new device address. That of host memory has the host address's offset in a page. */
static uint64_t
allocate_addresses(sim_memory_kind kind, uint64_t size, const uint8_t *bytes)
{
  if (!table.next)
    table.next = FIRST_ADDRESS;
  uint64_t address = (table.next + GAP - 1) / GAP * GAP;
  if (kind == SIM_DEVICE || kind == SIM_GLOBAL)
    address += ALIGNMENT * (1 + 2 * sim_draw(8));
  else
    address += (uintptr_t)bytes & 0xfff;
  table.next = address + size + GAP * (1 + sim_draw(16));
  return address;
}

cuda_result
sim_memory_new(sim_context *context, sim_memory_kind kind, uint64_t size, uint8_t *bytes, sim_memory **out)
{
  if (!bytes)
    bytes = malloc(size);
  if (!bytes)
    return CUDA_OUT_OF_MEMORY;
  sim_memory *memory = sim_allocate(sizeof *memory);
  memory->context = context;
  memory->kind = kind;
  memory->size = size;
  memory->bytes = bytes;
  memory->is_mapped = !sim_is_host(memory);
  memory->address = allocate_addresses(kind, size, bytes);
  enter_table(memory);
  *out = memory;
  return CUDA_OK;
}

static const char *const kinds[] = {"allocation", "pinned memory", "registered memory", "a module's variables in allocation"};

static bool
is_seen(const sim_memory *memory, const sim_context *context)
{
  return memory->context == context || (memory->is_portable && !memory->is_freed);
}

uint32_t
sim_memories_before(sim_memory *const *memories, uint32_t count, uint64_t address)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (memories[middle]->address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the last allocation that begins at or before the address, or NULL. */
static sim_memory *
last_before(uint64_t address)
{
  const uint32_t count = sim_memories_before(table.entries, table.count, address);
  return count ? table.entries[count - 1] : NULL;
}

void
sim_memory_explain(const sim_context *context, uint64_t address, uint64_t size, char *text, size_t text_size)
{
  const sim_memory *near = last_before(address);
  if (!near || address - near->address > near->size + GAP) {
    const bool is_host = address < UINT64_C(1) << 47;
    snprintf(text, text_size, "0x%llx is not a device address%s", (unsigned long long)address,
             is_host && address > 0xffff ? ", but looks like a host address" : "");
    return;
  }
  const char *state = near->is_freed                                ? ", which was freed"
                      : !is_seen(near, context)                     ? ", which belongs to another context"
                      : !near->is_mapped                            ? ", which is not mapped for kernels"
                      : address + size > near->address + near->size ? ", out of its bounds"
                                                                    : "";
  snprintf(text, text_size, "%llu bytes from byte %llu of %s %u, which has %llu%s", (unsigned long long)size,
           (unsigned long long)(address - near->address), kinds[near->kind], near->number, (unsigned long long)near->size, state);
}

sim_memory *
sim_memory_at(sim_context *context, uint64_t address, uint64_t size, const char *what)
{
  sim_memory *found = last_before(address);
  if (found && !found->is_freed && is_seen(found, context) && found->is_mapped && sim_memory_has(found, address, size))
    return found;
  char text[256];
  sim_memory_explain(context, address, size, text, sizeof text);
  sim_report("%s: %s: %s", sim_call_name(sim_called_now), what, text);
  return NULL;
}

/* Returns whether a range overlaps the memory or, if it is pinned, its pages and guard pages, which contain nothing else. */
static bool
is_near(const sim_memory *memory, const uint8_t *first, const uint8_t *end)
{
  const uint8_t *from = memory->kind == SIM_PINNED ? memory->pages : memory->host;
  return end > from && first < from + (memory->kind == SIM_PINNED ? memory->page_bytes : memory->size);
}

bool
sim_pinned_at(sim_context *context, const void *host, uint64_t size, const char *what, sim_memory **out)
{
  const uint8_t *first = host, *end = first + size;
  *out = NULL;
  for (uint32_t i = 0; i < table.count; i++) {
    sim_memory *memory = table.entries[i];
    if (!sim_is_host(memory) || memory->is_freed || !is_seen(memory, context) || !is_near(memory, first, end))
      continue;
    if (first < memory->host || end > memory->host + memory->size) {
      sim_report("%s: %s: %llu bytes from byte %lld of the host's %s %u, which has %llu, out of its bounds",
                 sim_call_name(sim_called_now), what, (unsigned long long)size, (long long)(first - memory->host),
                 kinds[memory->kind], memory->number, (unsigned long long)memory->size);
      return false;
    }
    *out = memory;
    return true;
  }
  return true;
}

bool
sim_pinned_overlaps(const void *host, uint64_t size)
{
  const uint8_t *first = host;
  for (uint32_t i = 0; i < table.count; i++) {
    const sim_memory *memory = table.entries[i];
    if (sim_is_host(memory) && !memory->is_freed && first < memory->host + memory->size && first + size > memory->host)
      return true;
  }
  return false;
}

/* ---- the map of a context ------------------------------------------------------------------------------------------------ */

sim_map *
sim_map_get(sim_context *context)
{
  if (context->map && context->map->version == table.version) {
    context->map->references++;
    return context->map;
  }
  if (context->map)
    sim_map_release(context->map);
  sim_map *map = sim_allocate(sizeof *map + table.count * sizeof(sim_memory *));
  map->references = 2; /* the context's, and the caller's */
  map->version = table.version;
  for (uint32_t i = 0; i < table.count; i++) {
    sim_memory *memory = table.entries[i];
    if (memory->is_freed || !memory->is_mapped || !is_seen(memory, context))
      continue;
    sim_memory_retain(memory);
    map->memories[map->count++] = memory;
  }
  context->map = map;
  return map;
}

void
sim_map_release(sim_map *map)
{
  if (--map->references)
    return;
  for (uint32_t i = 0; i < map->count; i++)
    sim_memory_release(map->memories[i]);
  free(map);
}

/* ---- freeing ------------------------------------------------------------------------------------------------------------- */

void
sim_memory_free(sim_memory *memory)
{
  memory->is_freed = true;
  table.version++;
  table.freed++;
  if (memory->context->map) {
    sim_map_release(memory->context->map);
    memory->context->map = NULL;
  }
  if (!sim_is_host(memory))
    sim.allocated -= memory->size;
  sim_memory_retain(memory);
  sim_memory_release(memory);
}

static bool
is_of(const sim_memory *memory, uint32_t freed_before, const void *user)
{
  (void)freed_before;
  return memory->context == user;
}

void
sim_memory_close(sim_context *context, bool reports)
{
  if (context->map)
    sim_map_release(context->map);
  context->map = NULL;
  for (uint32_t i = 0; i < table.count; i++) {
    sim_memory *memory = table.entries[i];
    if (memory->context != context || memory->is_freed)
      continue;
    if (reports && memory->kind != SIM_GLOBAL)
      sim_report("cuCtxDestroy_v2: %s %u of %llu bytes was not freed before its context was destroyed",
                 memory->kind == SIM_DEVICE ? "the allocation" : "the pinned memory", memory->number,
                 (unsigned long long)memory->size);
    sim_memory_free(memory);
  }
  drop_freed(is_of, context);
}

SIM_ENTRY(cuMemAlloc_v2, SIM_CURRENT | SIM_UNSAFE, (cuda_address * address, size_t size), (address, size))
{
  if (!address || size == 0)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuMemAlloc_v2: %s", address ? "the size is 0" : "the pointer for the address is NULL");
  sim_memory *memory;
  if (size > sim.device.memory - sim.allocated)
    return CUDA_OUT_OF_MEMORY;
  SIM_TRY(sim_memory_new(sim_context_current(), SIM_DEVICE, size, NULL, &memory));
  sim.allocated += size;
  sim.counters.device_bytes += size;
  sim_memory_poison(memory->bytes, size);
  *address = memory->address;
  return CUDA_OK;
}

SIM_ENTRY(cuMemFree_v2, SIM_CURRENT | SIM_UNSAFE, (cuda_address address), (address))
{
  sim_context *context = sim_context_current();
  sim_memory *memory = sim_memory_at(context, address, 1, "the memory to free");
  if (!memory)
    return CUDA_INVALID_VALUE;
  if (memory->kind != SIM_DEVICE || memory->address != address || memory->context != context)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuMemFree_v2: the address does not come from cuMemAlloc_v2 in this context");
  sim_memory_unused(memory);
  sim_memory_free(memory);
  return CUDA_OK;
}

/* Most drivers wait in calls that free memory, but CUDA does not guarantee it, so this is reported. */
void
sim_memory_unused(sim_memory *memory)
{
  sim_context *context = memory->context;
  const char *user = sim_pending_use(context, memory);
  const sim_uses *uses = sim_uses_unwaited(context, memory);
  if (!user && uses)
    user = uses->label;
  if (user)
    sim_report("%s: memory %u is still used: the host has not waited for %s", sim_call_name(sim_called_now), memory->number, user);
}

SIM_ENTRY(cuMemGetInfo_v2, SIM_CURRENT, (size_t * left, size_t *total), (left, total))
{
  if (!left || !total)
    return CUDA_INVALID_VALUE;
  *left = sim.device.memory - sim.allocated;
  *total = sim.device.memory;
  return CUDA_OK;
}
