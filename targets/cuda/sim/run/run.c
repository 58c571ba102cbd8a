/* Runs a launch: several blocks at once, in an order that the seed draws.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Turns of warps between two calls of goes_on, and between two checks for endless loops. */
enum { ASK_EVERY = 4096, SPIN_EVERY = 64 };

/* xorshift64*. The state is not 0. */
uint32_t
ptx_draw(ptx_machine *m)
{
  m->random ^= m->random >> 12;
  m->random ^= m->random << 25;
  m->random ^= m->random >> 27;
  return (uint32_t)(m->random * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

static void
thread_of(const ptx_machine *m, uint32_t index, uint32_t out[3])
{
  out[0] = index % m->launch->block[0];
  out[1] = index / m->launch->block[0] % m->launch->block[1];
  out[2] = index / m->launch->block[0] / m->launch->block[1];
}

bool
ptx_fail(ptx_machine *m, const ptx_warp *warp, uint32_t lane, const ptx_insn *insn, ptx_fault_kind kind, uint64_t address,
         const char *format, ...)
{
  if (m->has_failed)
    return false;
  m->has_failed = true;
  ptx_fault *fault = m->fault;
  *fault = (ptx_fault){.kind = kind, .line = insn ? insn->line : 0, .address = address};
  if (warp) {
    memcpy(fault->block, warp->block->id, sizeof fault->block);
    thread_of(m, warp->index * PTX_WARP + lane, fault->thread);
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault->text, sizeof fault->text, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- memory of a launch -------------------------------------------------------------------------------------------------- */

static uint64_t
constant_value(const ptx_machine *m, const ptx_function *f, const ptx_constant *c)
{
  switch (c->kind) {
  case PTX_CONSTANT_GLOBAL:
    return c->value + m->launch->memory.globals[c->index];
  case PTX_CONSTANT_SHARED:
    return c->value + PTX_SHARED_START + m->kernel->shared_offset[c->index];
  case PTX_CONSTANT_LANE:
    return c->value + m->kernel->frames[f->index].lane_base;
  default:
    return c->value;
  }
}

static bool
make_constants(ptx_machine *m)
{
  m->constants = calloc(m->module->function_count, sizeof *m->constants);
  for (uint32_t i = 0; m->constants && i < m->module->function_count; i++) {
    const ptx_function *f = m->module->functions[i];
    if (!m->kernel->frames[i].is_reached)
      continue;
    m->constants[i] = malloc((f->constant_count * (size_t)PTX_WARP + 1) * sizeof **m->constants);
    if (!m->constants[i])
      return false;
    for (uint32_t c = 0; c < f->constant_count; c++) {
      const uint64_t value = constant_value(m, f, &f->constants[c]);
      for (uint32_t lane = 0; lane < PTX_WARP; lane++)
        m->constants[i][c * PTX_WARP + lane] = value;
    }
  }
  return m->constants != NULL;
}

static bool
make_warp(ptx_machine *m, ptx_warp *warp)
{
  const ptx_kernel *k = m->kernel;
  warp->registers = malloc((size_t)k->register_slots * PTX_WARP * sizeof *warp->registers);
  warp->poison = malloc((size_t)k->register_slots * sizeof *warp->poison);
  warp->calls = malloc((size_t)k->call_depth * PTX_WARP * sizeof *warp->calls);
  warp->memory = aligned_alloc(128, ((size_t)k->lane_stride + 128) * PTX_WARP);
  warp->memory_poison = malloc((size_t)k->lane_stride * PTX_WARP + 1);
  return warp->registers && warp->poison && warp->calls && warp->memory && warp->memory_poison;
}

static bool
make_blocks(ptx_machine *m)
{
  m->blocks = calloc(m->resident, sizeof *m->blocks);
  for (uint32_t i = 0; m->blocks && i < m->resident; i++) {
    ptx_block *block = &m->blocks[i];
    block->shared = aligned_alloc(256, ((size_t)m->shared_bytes + 256) & ~(size_t)255);
    block->shared_poison = malloc((size_t)m->shared_bytes + 1);
    block->shadow = malloc((size_t)m->shared_bytes * sizeof *block->shadow + 1);
    block->released = malloc(m->threads * sizeof *block->released);
    block->acquired = malloc(m->threads * sizeof *block->acquired);
    block->warps = calloc(m->warps, sizeof *block->warps);
    if (!block->shared || !block->shared_poison || !block->shadow || !block->released || !block->acquired || !block->warps)
      return false;
    for (uint32_t w = 0; w < m->warps; w++) {
      block->warps[w].block = block;
      block->warps[w].index = w;
      if (!make_warp(m, &block->warps[w]))
        return false;
    }
  }
  return m->blocks != NULL;
}

static void
free_machine(ptx_machine *m)
{
  for (uint32_t i = 0; m->blocks && i < m->resident; i++) {
    for (uint32_t w = 0; m->blocks[i].warps && w < m->warps; w++) {
      ptx_warp *warp = &m->blocks[i].warps[w];
      free(warp->registers);
      free(warp->poison);
      free(warp->calls);
      free(warp->memory);
      free(warp->memory_poison);
    }
    free(m->blocks[i].warps);
    free(m->blocks[i].shared);
    free(m->blocks[i].shared_poison);
    free(m->blocks[i].shadow);
    free(m->blocks[i].released);
    free(m->blocks[i].acquired);
  }
  free(m->blocks);
  for (uint32_t i = 0; m->constants && i < m->module->function_count; i++)
    free(m->constants[i]);
  free(m->constants);
}

/* ---- blocks -------------------------------------------------------------------------------------------------------------- */

static void
begin_warp(ptx_machine *m, ptx_warp *warp)
{
  const ptx_kernel *k = m->kernel;
  const uint32_t threads = m->threads - warp->index * PTX_WARP;
  warp->live = threads >= PTX_WARP ? UINT32_MAX : (1u << threads) - 1;
  warp->at_barrier = warp->at_sync = warp->pending = warp->spins = 0;
  memset(warp->store_count, 0, sizeof warp->store_count);
  memset(warp->seen, 0, sizeof warp->seen);
  memset(warp->depth, 0, sizeof warp->depth);
  memset(warp->registers, 0xa5, (size_t)k->register_slots * PTX_WARP * sizeof *warp->registers);
  memset(warp->poison, 0xff, (size_t)k->register_slots * sizeof *warp->poison);
  memset(warp->memory, 0xa5, (size_t)k->lane_stride * PTX_WARP);
  memset(warp->memory_poison, 1, (size_t)k->lane_stride * PTX_WARP);
  for (uint32_t lane = 0; lane < PTX_WARP; lane++) {
    warp->pc[lane] = k->function->first;
    warp->function[lane] = k->function->index;
  }
}

static void
begin_block(ptx_machine *m, ptx_block *block)
{
  const uint64_t index = (m->block_first + m->blocks_begun++ * m->block_step) % m->block_count;
  const uint32_t *grid = m->launch->grid;
  block->id[0] = (uint32_t)(index % grid[0]);
  block->id[1] = (uint32_t)(index / grid[0] % grid[1]);
  block->id[2] = (uint32_t)(index / grid[0] / grid[1]);
  block->is_live = true;
  block->live_warps = m->warps;
  block->ended = 0;
  memset(block->shared, 0xa5, m->shared_bytes);
  memset(block->shared_poison, 1, m->shared_bytes);
  memset(block->shadow, 0, m->shared_bytes * sizeof *block->shadow);
  memset(block->released, 0, m->threads * sizeof *block->released);
  memset(block->acquired, 0, m->threads * sizeof *block->acquired);
  block->time = 0;
  ptx_forget_reads(block);
  memset(block->barriers, 0, sizeof block->barriers);
  for (uint32_t w = 0; w < m->warps; w++)
    begin_warp(m, &block->warps[w]);
}

static uint64_t
divisor(uint64_t a, uint64_t b)
{
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Draws the first block and a step that is coprime to the number of blocks, so that the steps visit each block once. */
static void
draw_order(ptx_machine *m)
{
  m->block_first = ptx_draw(m) % m->block_count;
  m->block_step = 1 + ptx_draw(m) % m->block_count;
  while (divisor(m->block_step, m->block_count) != 1)
    m->block_step++;
}

/* Fails with a fault at a waiting lane, because no lane can continue. */
static bool
report_wait(ptx_machine *m)
{
  for (uint32_t i = 0; i < m->resident; i++)
    for (uint32_t w = 0; m->blocks[i].is_live && w < m->warps; w++) {
      const ptx_warp *warp = &m->blocks[i].warps[w];
      const uint32_t waits = warp->live & (warp->at_barrier | warp->at_sync);
      if (!waits)
        continue;
      const uint32_t lane = (uint32_t)__builtin_ctz(waits);
      const ptx_insn *insn = &m->code[warp->pc[lane]];
      if (warp->at_sync >> lane & 1)
        return ptx_fail(m, warp, lane, insn, PTX_FAULT_DIVERGED, 0, "the lane waits for lanes 0x%08x, which do not arrive",
                        warp->sync_mask[lane] & warp->live & ~warp->at_sync);
      const ptx_barrier *barrier = &m->blocks[i].barriers[warp->barrier[lane]];
      return ptx_fail(m, warp, lane, insn, PTX_FAULT_DIVERGED, 0, "%u of %u threads are at barrier %u, and no other arrives",
                      barrier->arrived, barrier->expected, warp->barrier[lane]);
    }
  return ptx_fail(m, NULL, 0, NULL, PTX_FAULT_HANG, 0, "no lane can continue");
}

/* Returns the first warp that can run, from a drawn one on, or NULL if there is none. */
static ptx_warp *
pick_warp(ptx_machine *m)
{
  const uint32_t all = m->resident * m->warps, first = ptx_draw(m) % all;
  for (uint32_t n = 0; n < all; n++) {
    const uint32_t at = first + n < all ? first + n : first + n - all;
    ptx_block *block = &m->blocks[at / m->warps];
    ptx_warp *warp = &block->warps[at % m->warps];
    if (block->is_live && ptx_runnable(warp))
      return warp;
  }
  return NULL;
}

static bool
run(ptx_machine *m)
{
  uint32_t live = 0, turns = 0;
  while (live < m->resident) {
    begin_block(m, &m->blocks[live]);
    live++;
  }
  while (live) {
    ptx_warp *warp = pick_warp(m);
    if (!warp)
      return report_wait(m);
    if (!ptx_run_warp(m, warp))
      return false;
    if (!warp->block->live_warps) {
      warp->block->is_live = false;
      live--;
      if (m->blocks_begun < m->block_count) {
        begin_block(m, warp->block);
        live++;
      }
    }
    if (++turns % SPIN_EVERY == 0 && !ptx_check_spin(m))
      return false;
    if (turns % ASK_EVERY == 0 && m->launch->goes_on && !m->launch->goes_on(m->launch->memory.user, false))
      return ptx_fail(m, warp, 0, &m->code[warp->pc[0]], PTX_FAULT_STOPPED, 0, "the launch was stopped");
  }
  return true;
}

bool
ptx_run(const ptx_launch *launch, ptx_counts *counts, ptx_fault *fault)
{
  ptx_machine m = {.launch = launch, .kernel = launch->kernel, .module = launch->kernel->module, .fault = fault};
  *fault = (ptx_fault){0};
  m.code = m.module->code;
  m.random = (launch->seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  if (!m.random)
    m.random = 1;
  m.threads = launch->block[0] * launch->block[1] * launch->block[2];
  m.warps = (m.threads + PTX_WARP - 1) / PTX_WARP;
  m.shared_bytes = launch->kernel->info.shared_bytes + launch->dynamic_shared;
  m.block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  if (!m.threads || !m.block_count)
    return true;
  m.resident = launch->resident ? launch->resident : 2;
  if (launch->is_cooperative || m.resident > m.block_count)
    m.resident = (uint32_t)m.block_count;
  draw_order(&m);
  m.is_weak = ptx_draw(&m) % 4 != 0;
  const bool is_good =
      make_constants(&m) && make_blocks(&m) ? run(&m) : ptx_fail(&m, NULL, 0, NULL, PTX_FAULT_HANG, 0, "out of memory");
  free_machine(&m);
  if (counts)
    *counts = m.counts;
  return is_good;
}
