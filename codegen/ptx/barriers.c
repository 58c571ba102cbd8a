/* Barriers and fences.
 *
 * A grid's barrier counts blocks in the dispatch's words: the last one that arrives begins a new generation, which the others wait
 * for.  Who waits gives up when a fault is noted: then some invocation has ended and may never arrive.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

const char *
ptx_scope(uint32_t scope)
{
  return scope == 0 ? "sys" : scope == 1 || scope == 5 ? "gpu" : "cta";
}

void
ptx_fence(gen *g, uint32_t semantics, uint32_t scope)
{
  char text[64];
  if ((semantics & PTX_ORDERS) && scope != 4)
    ptx_code(g, ptx_format(text, "fence.%s.%s", semantics & PTX_SEQ_CST ? "sc" : "acq_rel", ptx_scope(scope)), NULL, 0);
}

static void
put_workgroup(gen *g)
{
  CODE(g, "barrier.sync", lit(0));
}

static void
put_grid(gen *g)
{
  const uint32_t meet = ptx_new_label(g), wait = ptx_new_label(g), last = ptx_new_label(g);
  const unsigned d = g->dispatch.number;
  const reg first = PRED(g, "setp.eq.u32", ptx_lindex(g), lit(0)), generation = ptx_new(g, REG_32), arrived = ptx_new(g, REG_32);
  const reg now = ptx_new(g, REG_32), fault = ptx_new(g, REG_32), count = ptx_new(g, REG_32);
  put_workgroup(g);
  ptx_branch_unless(g, first, meet);
  ptx_put(g, "\tfence.acq_rel.gpu;\n\tld.relaxed.gpu.global.u32 %%r%u, [%%d%u+40];\n", generation.number, d);
  ptx_put(g, "\tld.global.u32 %%r%u, [%%d%u+24];\n", count.number, d);
  ptx_put(g, "\tatom.acq_rel.gpu.global.add.u32 %%r%u, [%%d%u+36], 1;\n", arrived.number, d);
  ptx_branch_if(g, PRED(g, "setp.eq.u32", MAKE32(g, "add.u32", arrived, lit(1)), count), last);
  ptx_label(g, wait);
  ptx_put(g, "\tnanosleep.u32 64;\n\tld.relaxed.gpu.global.u32 %%r%u, [%%d%u+32];\n", fault.number, d);
  ptx_when(g, PRED(g, "setp.ne.u32", fault, lit(0)), false);
  ptx_code(g, "exit", NULL, 0);
  ptx_put(g, "\tld.acquire.gpu.global.u32 %%r%u, [%%d%u+40];\n", now.number, d);
  ptx_branch_if(g, PRED(g, "setp.eq.u32", now, generation), wait);
  ptx_branch(g, meet);
  ptx_label(g, last);
  ptx_put(g, "\tst.relaxed.gpu.global.u32 [%%d%u+36], 0;\n\tred.release.gpu.global.add.u32 [%%d%u+40], 1;\n", d, d);
  ptx_label(g, meet);
  put_workgroup(g);
}

void
ptx_barrier(gen *g, uint32_t row)
{
  const uint32_t imm = g->v->imm[row], execution = VYRE_ORDER_EXECUTION(imm), memory = VYRE_ORDER_MEMORY(imm);
  const uint32_t semantics = VYRE_ORDER_SEMANTICS(imm);
  if (execution < 2) {
    put_grid(g);
    return;
  }
  /* Barriers of PTX order memory for those that meet there. */
  const bool farther = execution == 4 || memory < execution || memory == 5 || (semantics & PTX_SEQ_CST) != 0;
  if (farther)
    ptx_fence(g, semantics, memory);
  if (execution == 3)
    CODE(g, "bar.warp.sync", g->mask);
  else if (execution == 2)
    put_workgroup(g);
  if (farther && execution != 4)
    ptx_fence(g, semantics, memory);
}
