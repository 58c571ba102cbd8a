/* Barriers and fences.
 *
 * A grid barrier counts blocks in words of the dispatch.  The last block to arrive begins a new generation, on which the
 * others wait.  A waiting block exits after a fault, because an invocation that ended may never arrive.  A returned
 * invocation still arrives at each later grid barrier, because the barrier of its block waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

const char *
pgen_scope(uint32_t scope)
{
  return scope == 0 ? "sys" : scope == 1 || scope == 5 ? "gpu" : "cta";
}

void
pgen_fence(gen *g, uint32_t semantics, uint32_t scope)
{
  char text[64];
  if ((semantics & PTX_ORDERS) && scope != 4)
    pgen_code(g, pgen_format(text, "fence.%s.%s", semantics & PTX_SEQ_CST ? "sc" : "acq_rel", pgen_scope(scope)), NULL, 0);
}

/* Uses the aligned form, because all invocations of a warp execute the same barrier, though perhaps at different times.  The
 * unaligned `barrier.sync` is wrong here: as drivers' linkers compile it (CUDA 13.0, sm_90), diverged lanes of a warp may
 * leave it one barrier early. */
void
pgen_barrier_of_workgroup(gen *g)
{
  CODE(g, "bar.sync", lit(0));
}

static void
put_grid(gen *g)
{
  const uint32_t meet = pgen_new_label(g), wait = pgen_new_label(g), last = pgen_new_label(g);
  const unsigned d = g->dispatch.number;
  const reg generation = pgen_new(g, REG_32), arrived = pgen_new(g, REG_32);
  const reg now = pgen_new(g, REG_32), fault = pgen_new(g, REG_32), count = pgen_new(g, REG_32);
  if (g->ends_early)
    pgen_label(g, g->next_grid);
  pgen_barrier_of_workgroup(g);
  pgen_branch_unless(g, PRED(g, "setp.eq.u32", pgen_lindex(g), lit(0)), meet);
  pgen_put(g, "\tfence.acq_rel.gpu;\n\tld.relaxed.gpu.global.u32 %%r%u, [%%d%u+40];\n", generation.number, d);
  pgen_put(g, "\tld.global.u32 %%r%u, [%%d%u+24];\n", count.number, d);
  pgen_put(g, "\tatom.acq_rel.gpu.global.add.u32 %%r%u, [%%d%u+36], 1; // grid barrier\n", arrived.number, d);
  pgen_branch_if(g, PRED(g, "setp.eq.u32", MAKE32(g, "add.u32", arrived, lit(1)), count), last);
  pgen_label(g, wait);
  pgen_put(g, "\tnanosleep.u32 64;\n\tld.relaxed.gpu.global.u32 %%r%u, [%%d%u+32];\n", fault.number, d);
  pgen_when(g, PRED(g, "setp.ne.u32", fault, lit(0)), false);
  pgen_code(g, "exit", NULL, 0);
  pgen_put(g, "\tld.acquire.gpu.global.u32 %%r%u, [%%d%u+40];\n", now.number, d);
  pgen_branch_if(g, PRED(g, "setp.eq.u32", now, generation), wait);
  pgen_branch(g, meet);
  pgen_label(g, last);
  pgen_put(g, "\tst.relaxed.gpu.global.u32 [%%d%u+36], 0;\n\tred.release.gpu.global.add.u32 [%%d%u+40], 1;\n", d, d);
  pgen_label(g, meet);
  pgen_barrier_of_workgroup(g);
  if (!g->ends_early)
    return;
  g->next_grid = pgen_new_label(g);
  pgen_branch_if(g, PRED(g, "setp.ne.u32", g->ended, lit(0)), g->next_grid);
}

void
pgen_barrier(gen *g, uint32_t row)
{
  const uint32_t imm = g->v->imm[row], execution = VYRE_ORDER_EXECUTION(imm), memory = VYRE_ORDER_MEMORY(imm);
  const uint32_t semantics = VYRE_ORDER_SEMANTICS(imm);
  if (execution < 2) {
    put_grid(g);
    return;
  }
  /* A PTX barrier orders memory only among its participants. */
  const bool farther = execution == 4 || memory < execution || memory == 5 || (semantics & PTX_SEQ_CST) != 0;
  if (farther)
    pgen_fence(g, semantics, memory);
  if (execution == 3)
    CODE(g, "bar.warp.sync", g->mask);
  else if (execution == 2)
    pgen_barrier_of_workgroup(g);
  if (farther && execution != 4)
    pgen_fence(g, semantics, memory);
}
