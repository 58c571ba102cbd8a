/* Launches: checks of their limits, and the execution of kernels.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

static cuda_result
check_sizes(const sim_function *function, const unsigned grid[3], const unsigned block[3])
{
  static const uint32_t most_grid[3] = {0x7fffffff, 65535, 65535}, most_block[3] = {1024, 1024, 64};
  const char *name = function->info.name;
  for (int i = 0; i < 3; i++) {
    if (grid[i] == 0 || grid[i] > most_grid[i])
      return SIM_REFUSE(CUDA_INVALID_VALUE, "launch of %s: %u blocks along axis %d, but 1 to %u are allowed", name, grid[i], i,
                        most_grid[i]);
    if (block[i] == 0 || block[i] > most_block[i])
      return SIM_REFUSE(CUDA_INVALID_VALUE, "launch of %s: %u threads along axis %d, but 1 to %u are allowed", name, block[i], i,
                        most_block[i]);
    if (function->info.required[i] && block[i] != function->info.required[i])
      return SIM_REFUSE(CUDA_INVALID_VALUE, "launch of %s: %u threads along axis %d, but the kernel requires %u", name, block[i], i,
                        function->info.required[i]);
  }
  const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
  const uint32_t most = function->info.most_threads && function->info.most_threads < 1024 ? function->info.most_threads : 1024;
  if (threads > most)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "launch of %s: a block has %llu threads, but at most %u are allowed", name,
                      (unsigned long long)threads, most);
  return CUDA_OK;
}

static cuda_result
check_limits(const sim_function *function, const unsigned grid[3], const unsigned block[3], unsigned dynamic_shared,
             bool is_cooperative)
{
  const char *name = function->info.name;
  SIM_TRY(check_sizes(function, grid, block));
  if ((uint64_t)function->info.shared_bytes + dynamic_shared > sim.device.block_shared)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "launch of %s: %u bytes of shared memory, but a block may have %u", name,
                      function->info.shared_bytes + dynamic_shared, sim.device.block_shared);
  const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2], threads = (uint64_t)block[0] * block[1] * block[2];
  const uint64_t resident = sim_occupancy(function, threads, dynamic_shared);
  if (resident == 0)
    return SIM_REFUSE(CUDA_LAUNCH_OUT_OF_RESOURCES, "launch of %s: a block of %llu threads with %u registers each does not fit",
                      name, (unsigned long long)threads, function->info.registers);
  if (is_cooperative && blocks > resident * sim.device.processors)
    return SIM_REFUSE(CUDA_COOPERATIVE_LAUNCH_TOO_LARGE, "cooperative launch of %s: %llu blocks, but only %llu fit at once", name,
                      (unsigned long long)blocks, (unsigned long long)resident * sim.device.processors);
  return CUDA_OK;
}

static cuda_result
copy_parameters(const sim_function *function, void **parameters, sim_work *work)
{
  work->parameters = sim_allocate(function->info.parameter_bytes);
  for (uint32_t i = 0; i < function->info.parameter_count; i++) {
    uint32_t offset, size;
    if (!parameters || !parameters[i])
      return SIM_REFUSE(CUDA_INVALID_VALUE, "launch of %s: parameter %u of %u is missing", function->info.name, i,
                        function->info.parameter_count);
    ptx_kernel_parameter(function->kernel, i, &offset, &size);
    memcpy((char *)work->parameters + offset, parameters[i], size);
  }
  return CUDA_OK;
}

cuda_result
sim_launch_work(cuda_function function, const unsigned int grid[3], const unsigned int block[3], unsigned int dynamic_shared,
                void **parameters, void **extra, bool is_cooperative, sim_work **out)
{
  SIM_FOUND(sim_function, found, sim_object_get(SIM_FUNCTION, function));
  if (extra)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "launch of %s: the simulator does not support parameters as one buffer",
                      found->info.name);
  SIM_TRY(check_limits(found, grid, block, dynamic_shared, is_cooperative));
  char label[SIM_LABEL / 2];
  snprintf(label, sizeof label, "kernel %s", found->info.name);
  sim_work *work = sim_work_new(SIM_LAUNCH, label);
  work->function = found;
  found->module->references++;
  memcpy(work->grid, grid, sizeof work->grid);
  memcpy(work->block, block, sizeof work->block);
  work->dynamic_shared = dynamic_shared;
  work->is_cooperative = is_cooperative;
  const cuda_result copied = copy_parameters(found, parameters, work);
  if (copied) {
    sim_work_release(work);
    return copied;
  }
  *out = work;
  return CUDA_OK;
}

static cuda_result
launch(cuda_function function, const unsigned int grid[3], const unsigned int block[3], unsigned int dynamic_shared,
       cuda_stream stream, void **parameters, void **extra, bool is_cooperative)
{
  sim_work *work;
  SIM_FOUND(sim_stream, given, sim_stream_get(stream));
  SIM_TRY(sim_launch_work(function, grid, block, dynamic_shared, parameters, extra, is_cooperative, &work));
  return sim_submit(given, work);
}

SIM_ENTRY(cuLaunchKernel, SIM_CURRENT,
          (cuda_function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
           unsigned int block_y, unsigned int block_z, unsigned int dynamic_shared, cuda_stream stream, void **parameters,
           void **extra),
          (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared, stream, parameters, extra))
{
  return launch(function, (unsigned[]){grid_x, grid_y, grid_z}, (unsigned[]){block_x, block_y, block_z}, dynamic_shared, stream,
                parameters, extra, false);
}

SIM_ENTRY(cuLaunchCooperativeKernel, SIM_CURRENT,
          (cuda_function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
           unsigned int block_y, unsigned int block_z, unsigned int dynamic_shared, cuda_stream stream, void **parameters),
          (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared, stream, parameters))
{
  return launch(function, (unsigned[]){grid_x, grid_y, grid_z}, (unsigned[]){block_x, block_y, block_z}, dynamic_shared, stream,
                parameters, NULL, true);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* The state of a running kernel. The callbacks of ptx_run (find, is_common, note and goes_on) run without the lock. */
typedef struct launched {
  sim_context *context;
  sim_map *map;
  const sim_op *op;       /* the kernel's operation */
  uint32_t recent;        /* index of the memory of the last access in the map */
  uint8_t **marks;        /* the accesses to each memory of the map, made at the first use; NULL if none are recorded */
  uint64_t until;         /* deadline of the watchdog in nanoseconds, or 0 */
  bool is_late;           /* whether the deadline has passed */
  uint64_t address, size; /* of the failed access */
} launched;

static void *
find(void *user, uint64_t address, uint64_t size, bool is_write)
{
  launched *l = user;
  if (l->recent >= l->map->count || !sim_memory_has(l->map->memories[l->recent], address, size))
    l->recent = sim_memories_before(l->map->memories, l->map->count, address) - 1; /* UINT32_MAX if there is none */
  const sim_memory *memory = l->recent < l->map->count ? l->map->memories[l->recent] : NULL;
  if (memory && !sim_memory_has(memory, address, size))
    memory = NULL;
  if (!memory || atomic_load_explicit(&memory->is_freed, memory_order_relaxed) || (memory->is_const && is_write)) {
    l->address = address;
    l->size = size;
    return NULL;
  }
  return memory->bytes + (address - memory->address);
}

/* Returns whether the host shares the memory that `find` returned last. */
static bool
is_common(void *user)
{
  const launched *l = user;
  return sim_is_host(l->map->memories[l->recent]);
}

/* Records an access to the memory that `find` returned last. */
static void
note(void *user, uint64_t address, uint64_t size, bool is_write, bool is_strong)
{
  launched *l = user;
  const sim_memory *memory = l->map->memories[l->recent];
  const int mark = is_write ? is_strong ? SIM_WRITES_STRONGLY : SIM_WRITES : is_strong ? SIM_READS_STRONGLY : SIM_READS;
  if (!l->marks[l->recent])
    l->marks[l->recent] = sim_allocate(memory->size);
  uint8_t *marks = l->marks[l->recent] + (address - memory->address);
  for (uint64_t i = 0; i < size; i++)
    marks[i] |= (uint8_t)mark;
}

/* Returns whether another stream or the host may still change the memory for which the kernel waits. */
static bool
may_change(const launched *l)
{
  const sim_context *context = l->context;
  for (uint32_t i = 0; i < l->map->count; i++)
    if (sim_is_host(l->map->memories[i]))
      return true;
  pthread_mutex_lock(&sim.lock);
  bool result = !sim.waiting; /* a host thread that does not wait may submit more to other streams */
  for (uint32_t i = 0; i < SIM_STREAMS && !result; i++) {
    const sim_op *op = context->queues[i].stream ? context->queues[i].stream->first : NULL;
    sim_clock before = op ? op->clock : (sim_clock){{0}};
    before.at[i] = 0;
    result = op && op != l->op && sim_is_done(context, &before);
  }
  pthread_mutex_unlock(&sim.lock);
  return result;
}

static bool
goes_on(void *user, bool spins)
{
  launched *l = user;
  if (l->context->stops)
    return false;
  if (l->until && clock_now() > l->until) {
    l->is_late = true;
    return false;
  }
  if (!spins)
    return true;
  if (!may_change(l))
    return false;
  nanosleep(&(struct timespec){0, 20000}, NULL);
  return true;
}

/* Reports a fault and returns its error. */
static cuda_result
report_fault(const launched *l, const sim_work *work, const ptx_fault *fault)
{
  char where[320] = "";
  if (l->context->stops || fault->kind == PTX_FAULT_NONE)
    return CUDA_OK;
  if (fault->kind == PTX_FAULT_ADDRESS && l->size) {
    memcpy(where, ": ", 2);
    sim_memory_explain(l->context, l->address, l->size, where + 2, sizeof where - 2);
  }
  sim_report("%s: line %u, block (%u, %u, %u), thread (%u, %u, %u): %s%s%s", work->label, fault->line, fault->block[0],
             fault->block[1], fault->block[2], fault->thread[0], fault->thread[1], fault->thread[2], fault->text, where,
             l->is_late ? " (the watchdog expired)" : "");
  switch (fault->kind) {
  case PTX_FAULT_ADDRESS:
    return CUDA_ILLEGAL_ADDRESS;
  case PTX_FAULT_MISALIGNED:
    return CUDA_MISALIGNED_ADDRESS;
  case PTX_FAULT_HANG:
  case PTX_FAULT_STOPPED:
    return CUDA_LAUNCH_TIMEOUT;
  default:
    return CUDA_LAUNCH_FAILED;
  }
}

/* Draws the number of blocks that are resident at once: fewer than the grid has, except for a grid of one block. */
static uint32_t
draw_resident(const sim_work *work)
{
  const uint64_t blocks = (uint64_t)work->grid[0] * work->grid[1] * work->grid[2], drawn = 1 + sim_draw(3);
  return (uint32_t)(blocks > drawn ? drawn : blocks > 1 ? blocks - 1 : 1);
}

static void
note_marks(launched *l, sim_uses *uses, uint32_t node)
{
  for (uint32_t i = 0; l->marks && i < l->map->count; i++) {
    if (!l->marks[i])
      continue;
    sim_uses_add(uses, l->map->memories[i], 0, l->map->memories[i]->size, 0, node);
    uses->spans[uses->count - 1].marks = l->marks[i];
  }
  free(l->marks);
}

cuda_result
sim_launch_run(sim_context *context, const sim_work *work, sim_uses *uses, uint32_t node)
{
  launched l = {.context = context, .map = sim_map_get(context), .op = context->queues[uses->place].stream->first};
  ptx_counts counts = {0};
  ptx_fault fault = {0};
  if (!uses->is_alone)
    l.marks = sim_allocate(l.map->count * sizeof *l.marks);
  if (sim.watchdog)
    l.until = clock_now() + sim.watchdog;
  ptx_launch launch = {
      .kernel = work->function->kernel,
      .grid = {work->grid[0], work->grid[1], work->grid[2]},
      .block = {work->block[0], work->block[1], work->block[2]},
      .dynamic_shared = work->dynamic_shared,
      .parameters = work->parameters,
      .memory = {.user = &l,
                 .find = find,
                 .is_common = is_common,
                 .globals = work->function->module->addresses,
                 .note = uses->is_alone ? NULL : note},
      .is_cooperative = work->is_cooperative,
      .resident = draw_resident(work),
      .seed = sim_draw(UINT64_MAX),
      .goes_on = goes_on,
  };
  sim.counters.kernels++;
  pthread_mutex_unlock(&sim.lock);
  const bool is_good = ptx_run(&launch, &counts, &fault);
  pthread_mutex_lock(&sim.lock);
  sim.counters.instructions += counts.instructions;
  note_marks(&l, uses, node);
  const cuda_result result = is_good ? CUDA_OK : report_fault(&l, work, &fault);
  sim_map_release(l.map);
  return result;
}
