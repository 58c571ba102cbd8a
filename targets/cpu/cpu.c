/* The CPU target: its table, open and close, memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"
#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* The offset of the data: after the struct, aligned for every type. */
#define HEAD (sizeof(max_align_t) > sizeof(cpu_memory) ? sizeof(max_align_t) : sizeof(cpu_memory))

static vyre_status
create(vyre_target *target, uint64_t size, void **out_memory)
{
  cpu_memory *memory = NULL;
  if (size <= SIZE_MAX - HEAD)
    memory = target_resize(&target->base.allocator, NULL, 0, HEAD + (size_t)size);
  if (!memory)
    return vyre_status_mark_out_of_memory(
        VYRE_ERROR(VYRE_CODE_INPUT, "cpu: out of memory for a buffer of %" PRIu64 " bytes\nFix: use smaller buffers", size));
  target->base.counters.allocations++;
  *memory = (cpu_memory){(unsigned char *)memory + HEAD, HEAD + (size_t)size};
  *out_memory = memory;
  return VYRE_OK;
}

static vyre_status
import(vyre_target *target, void *data, uint64_t size, void **out_memory)
{
  (void)size;
  cpu_memory *memory = vyre_allocate(&target->base.allocator, sizeof *memory);
  if (!memory)
    return VYRE_OUT_OF_MEMORY("for a buffer over the caller's memory");
  *memory = (cpu_memory){data, sizeof *memory};
  *out_memory = memory;
  return VYRE_OK;
}

static vyre_status
destroy(vyre_target *target, void *memory)
{
  vyre_release(&target->base.allocator, memory, ((const cpu_memory *)memory)->size);
  return VYRE_OK;
}

/* ---- the device ---------------------------------------------------------------------------------------------------------- */

/* Returns a size that the system reports, or 0 if it does not. */
static uint64_t
size_of(int what)
{
  const long size = sysconf(what);
  return size > 0 ? (uint64_t)size : 0;
}

static void
fill_info(vyre_device_info *out, uint32_t threads)
{
  const uint64_t memory = size_of(_SC_PHYS_PAGES) * size_of(_SC_PAGESIZE);
  *out = (vyre_device_info){
      .kind = VYRE_DEVICE_CPU,
      .usable = true,
      .capabilities =
          VYRE_TARGET_GRID_BARRIERS | VYRE_TARGET_IMPORT | VYRE_TARGET_PARTS | VYRE_TARGET_INDIRECT | VYRE_TARGET_DEVICE_TIME,
      .forms = 1u << VYRE_KERNEL_C | 1u << VYRE_KERNEL_VIR,
      .features = 2 * VYRE_DEVICE_SUBGROUP_TYPES - 1,
      .storage_atomics = 2 * VYRE_DEVICE_ATOMIC_F64_MINMAX - 1,
      .shared_atomics = 2 * VYRE_DEVICE_ATOMIC_F64_MINMAX - 1,
      .subgroup_operations = 2 * VYRE_DEVICE_SUBGROUP_QUAD - 1,
      .float_controls = VYRE_FLOAT_CONTROLS_ALL,
      .free_float_controls = true,
      .memory = memory,
      .budget = memory,
      .max_buffer = memory,
      .max_storage = memory,
      .max_uniform = memory,
      .max_push = 65536,
      .max_shared = 4u << 20, /* the limit in docs/c.md */
      .max_workgroup = {65536, 65536, 65536},
      .max_invocations = 65536,
      .max_groups = {INT32_MAX, 65535, 65535}, /* their product is below 2^63 */
      .storage_align = sizeof(uint32_t),       /* of 32-bit scalars; callers align ranges of wider ones */
      .uniform_align = sizeof(uint64_t),
      .subgroup = CPU_SUBGROUP,
      .compute_units = threads,
  };
#ifdef _SC_LEVEL1_DCACHE_SIZE
  out->l1_cache = size_of(_SC_LEVEL1_DCACHE_SIZE);
  out->l2_cache = size_of(_SC_LEVEL2_CACHE_SIZE);
#endif
  snprintf(out->name, sizeof out->name, "CPU, %" PRIu32 " thread%s", threads, threads == 1 ? "" : "s");
  snprintf(out->driver, sizeof out->driver, "compiled C, and vyre's interpreter for programs of .vir");
}

static vyre_status
check_options(const vyre_target_options *options, const char *name)
{
  if (options->library)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "cpu: cannot open '%s': this target has no library\nFix: leave out the library",
                      options->library);
  if (options->device && strcmp(options->device, "0") != 0 && !target_name_contains(name, options->device))
    return VYRE_ERROR(VYRE_CODE_DEVICE, "cpu: no device '%s': the only device is 0: %s\nFix: choose this device, or leave it out",
                      options->device, name);
  return VYRE_OK;
}

static const target_hooks hooks = {
    .name = "cpu",
    .create = create,
    .destroy = destroy,
    .compile = cpu_compile,
    .release = cpu_release,
    .run = cpu_run,
    .check_kernel = cpu_check_kernel,
    .import = import,
};

static vyre_status
close_target(vyre_target *target)
{
  if (!target)
    return VYRE_OK;
  const vyre_allocator allocator = target->base.allocator;
  vyre_status status = target_base_close(target);
  cpu_pool_close(target->pool);
  vyre_release(&allocator, target, sizeof *target);
  return status;
}

static vyre_status
open_target(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out)
{
  const vyre_allocator *own = allocator ? allocator : vyre_allocator_default();
  *out = NULL;
  vyre_target_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_target_options"));
  vyre_target *target = vyre_allocate(own, sizeof *target);
  if (!target)
    return VYRE_OUT_OF_MEMORY("for a CPU target");
  target_base_init(&target->base, &hooks, own);
  target->validate = o.validate;
  target->base.timeout = o.timeout;
  target->base.is_shared = o.shared;
  target->base.statistics_only = o.statistics;
  vyre_status status = cpu_pool_open(own, o.threads, &target->pool);
  if (!status) {
    fill_info(&target->base.info, cpu_pool_threads(target->pool));
    status = check_options(&o, target->base.info.name);
  }
  if (status)
    return vyre_status_join(status, close_target(target));
  *out = target;
  return VYRE_OK;
}

const vyre_target_ops vyre_target_cpu = {
    .struct_size = sizeof(vyre_target_ops),
    .name = "cpu",
    .open = open_target,
    .close = close_target,
    TARGET_OPERATIONS,
    .import = locked_import,
    .summary = "this machine's processors: programs of .vir by the interpreter, passes as compiled C",
};
