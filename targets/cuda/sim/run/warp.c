/* Runs lanes of a warp: evaluations, branches, calls and ends.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

void
ptx_bundle_at(ptx_machine *m, ptx_warp *warp, uint32_t lane, ptx_bundle *out)
{
  const uint32_t index = warp->function[lane];
  const ptx_frame *frame = &m->kernel->frames[index];
  *out = (ptx_bundle){
      .machine = m,
      .warp = warp,
      .mask = 1u << lane,
      .insn = &m->code[warp->pc[lane]],
      .function = m->module->functions[index],
      .registers = warp->registers + (size_t)frame->register_base * PTX_WARP,
      .poison = warp->poison + frame->register_base,
      .constants = m->constants[index],
      .lane_base = frame->lane_base,
  };
}

bool
ptx_check_poison(ptx_bundle *b, uint32_t slot, uint32_t lanes, const char *what)
{
  const uint32_t bad = ptx_poison_of(b, slot) & lanes;
  if (!bad)
    return true;
  return ptx_fail(b->machine, b->warp, (uint32_t)__builtin_ctz(bad), b->insn, PTX_FAULT_POISON, 0,
                  "%s depends on data that was never written", what);
}

/* ---- evaluation ---------------------------------------------------------------------------------------------------------- */

/* Returns the lanes whose result is poisoned, of `lanes` with a poisoned operand. A poisoned operand of selp, and, or or does not
 * count if it cannot affect the result. */
static uint32_t
poison_left(const ptx_bundle *b, uint32_t lanes)
{
  const ptx_insn *insn = b->insn;
  uint32_t left = lanes;
  if (insn->eval == ptx_eval_selp) {
    PTX_EACH_LANE(lane, lanes & ~ptx_poison_of(b, insn->s[2]))
    if (!(ptx_poison_of(b, insn->s[ptx_read(b, 2, lane) ? 0 : 1]) >> lane & 1))
      left &= ~(1u << lane);
  } else if (insn->eval == ptx_eval_and || insn->eval == ptx_eval_or) {
    const uint64_t decides = insn->eval == ptx_eval_and ? 0 : ptx_low(UINT64_MAX, insn->d_bits[0]);
    PTX_EACH_LANE(lane, lanes)
    for (uint32_t k = 0; k < 2; k++)
      if (!(ptx_poison_of(b, insn->s[k]) >> lane & 1) && ptx_read(b, k, lane) == decides)
        left &= ~(1u << lane);
  }
  return left;
}

static void
evaluate(ptx_bundle *b)
{
  const ptx_insn *insn = b->insn;
  const uint64_t *rows[PTX_SOURCES];
  const uint32_t count = insn->s_count;
  uint32_t poisoned = 0;
  for (uint32_t k = 0; k < count; k++) {
    rows[k] = ptx_row(b, insn->s[k]);
    poisoned |= ptx_poison_of(b, insn->s[k]);
  }
  poisoned &= b->mask;
  if (poisoned)
    poisoned = poison_left(b, poisoned);
  PTX_EACH_LANE(lane, b->mask)
  {
    uint64_t s[PTX_SOURCES], d[PTX_DESTINATIONS];
    for (uint32_t k = 0; k < count; k++)
      s[k] = rows[k][lane];
    for (uint32_t k = 0; insn->negated >> k; k++)
      if (insn->negated >> k & 1)
        s[k] = !s[k];
    insn->eval(insn, s, d);
    for (uint32_t k = 0; k < insn->d_count; k++)
      ptx_write(b, k, lane, d[k]);
  }
  for (uint32_t k = 0; k < insn->d_count; k++)
    ptx_set_poison(b, k, b->mask, poisoned);
}

static uint64_t
nanoseconds(const ptx_machine *m)
{
  const uint64_t hz = m->launch->clock_hz ? m->launch->clock_hz : 1000000000;
  return m->ticks / hz * 1000000000 + m->ticks % hz * 1000000000 / hz;
}

static uint64_t
special(const ptx_bundle *b, uint32_t lane)
{
  const ptx_machine *m = b->machine;
  const ptx_launch *l = m->launch;
  const uint32_t thread = b->warp->index * PTX_WARP + lane;
  switch ((ptx_special)b->insn->target) {
  case PTX_SPECIAL_tid_x:
    return thread % l->block[0];
  case PTX_SPECIAL_tid_y:
    return thread / l->block[0] % l->block[1];
  case PTX_SPECIAL_tid_z:
    return thread / l->block[0] / l->block[1];
  case PTX_SPECIAL_ntid_x:
  case PTX_SPECIAL_ntid_y:
  case PTX_SPECIAL_ntid_z:
    return l->block[b->insn->target - PTX_SPECIAL_ntid_x];
  case PTX_SPECIAL_ctaid_x:
  case PTX_SPECIAL_ctaid_y:
  case PTX_SPECIAL_ctaid_z:
    return b->warp->block->id[b->insn->target - PTX_SPECIAL_ctaid_x];
  case PTX_SPECIAL_nctaid_x:
  case PTX_SPECIAL_nctaid_y:
  case PTX_SPECIAL_nctaid_z:
    return l->grid[b->insn->target - PTX_SPECIAL_nctaid_x];
  case PTX_SPECIAL_laneid:
    return lane;
  case PTX_SPECIAL_warpid:
    return b->warp->index;
  case PTX_SPECIAL_nwarpid:
    return 64;
  case PTX_SPECIAL_smid:
    return (uint64_t)(b->warp->block - m->blocks);
  case PTX_SPECIAL_nsmid:
    return m->resident;
  case PTX_SPECIAL_lanemask_eq:
    return 1u << lane;
  case PTX_SPECIAL_lanemask_le:
    return (2u << lane) - 1;
  case PTX_SPECIAL_lanemask_lt:
    return (1u << lane) - 1;
  case PTX_SPECIAL_lanemask_ge:
    return ~((1u << lane) - 1);
  case PTX_SPECIAL_lanemask_gt:
    return ~((2u << lane) - 1);
  case PTX_SPECIAL_clock:
    return (uint32_t)m->ticks;
  case PTX_SPECIAL_clock_hi:
    return m->ticks >> 32;
  case PTX_SPECIAL_clock64:
    return m->ticks;
  case PTX_SPECIAL_globaltimer:
    return nanoseconds(m);
  case PTX_SPECIAL_globaltimer_lo:
    return (uint32_t)nanoseconds(m);
  case PTX_SPECIAL_globaltimer_hi:
    return nanoseconds(m) >> 32;
  case PTX_SPECIAL_dynamic_smem_size:
    return l->dynamic_shared;
  case PTX_SPECIAL_total_smem_size:
    return m->shared_bytes;
  default: /* gridid */
    return l->seed;
  }
}

static void
read_special(ptx_bundle *b)
{
  PTX_EACH_LANE(lane, b->mask)
  ptx_write(b, 0, lane, special(b, lane));
  ptx_set_poison(b, 0, b->mask, 0);
}

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

/* Copies arguments or results between two frames of a lane. */
static void
pass(ptx_bundle *from, ptx_bundle *to, uint32_t lane, const ptx_passed *source, const ptx_passed *target, uint32_t count)
{
  ptx_warp *warp = from->warp;
  const size_t lane_at = (size_t)lane * from->machine->kernel->lane_stride;
  for (uint32_t k = 0; k < count; k++) {
    if (source[k].is_memory) {
      const size_t here = lane_at + from->lane_base + source[k].offset, there = lane_at + to->lane_base + target[k].offset;
      memcpy(warp->memory + there, warp->memory + here, source[k].size);
      memcpy(warp->memory_poison + there, warp->memory_poison + here, source[k].size);
      continue;
    }
    to->registers[(size_t)target[k].slot * PTX_WARP + lane] = ptx_low(ptx_row(from, source[k].slot)[lane], target[k].bits);
    const uint32_t bit = 1u << lane;
    to->poison[target[k].slot] = (to->poison[target[k].slot] & ~bit) | (ptx_poison_of(from, source[k].slot) & bit);
  }
}

static void
call(ptx_bundle *b)
{
  const ptx_call *c = &b->function->calls[b->insn->target];
  const ptx_function *callee = c->callee;
  PTX_EACH_LANE(lane, b->mask)
  {
    ptx_warp *warp = b->warp;
    ptx_bundle inner;
    warp->calls[(size_t)warp->depth[lane]++ * PTX_WARP + lane] = warp->pc[lane];
    warp->pc[lane] = callee->first;
    warp->function[lane] = callee->index;
    ptx_bundle_at(b->machine, warp, lane, &inner);
    for (uint32_t r = 0; r < callee->register_count; r++)
      inner.poison[r] |= 1u << lane;
    memset(warp->memory_poison + (size_t)lane * b->machine->kernel->lane_stride + inner.lane_base, 1, callee->lane_bytes);
    pass(b, &inner, lane, c->arguments, callee->parameters, c->argument_count);
  }
}

static bool
end_lanes(ptx_bundle *b, uint32_t lanes)
{
  ptx_finish_stores(b->machine, b->warp, lanes);
  b->machine->changes++;
  b->warp->live &= ~lanes;
  b->warp->block->ended += (uint32_t)__builtin_popcount(lanes);
  if (!b->warp->live)
    b->warp->block->live_warps--;
  return ptx_leave_barriers(b->machine, b->warp->block) && (!b->warp->at_sync || ptx_retry_syncs(b->machine, b->warp));
}

/* Executes `ret` for the lanes of the bundle. Lanes in the kernel's own function end. Returns false after a fault. */
static bool
return_lanes(ptx_bundle *b)
{
  uint32_t ended = 0;
  PTX_EACH_LANE(lane, b->mask)
  {
    ptx_warp *warp = b->warp;
    ptx_bundle outer;
    if (!warp->depth[lane]) {
      ended |= 1u << lane;
      continue;
    }
    const uint32_t at = warp->calls[(size_t)--warp->depth[lane] * PTX_WARP + lane];
    warp->pc[lane] = at;
    for (uint32_t f = 0; f < b->machine->module->function_count; f++) {
      const ptx_function *function = b->machine->module->functions[f];
      if (at >= function->first && at - function->first < function->count)
        warp->function[lane] = f;
    }
    ptx_bundle_at(b->machine, warp, lane, &outer);
    const ptx_call *c = &outer.function->calls[outer.insn->target];
    pass(b, &outer, lane, b->function->results, c->results, c->result_count);
    warp->pc[lane]++;
  }
  return !ended || end_lanes(b, ended);
}

/* ---- one instruction ----------------------------------------------------------------------------------------------------- */

static void
jump(ptx_warp *warp, uint32_t lanes, uint32_t to)
{
  PTX_EACH_LANE(lane, lanes)
  warp->pc[lane] = to;
}

static bool
jump_by_table(ptx_bundle *b)
{
  if (!ptx_check_poison(b, b->insn->s[0], b->mask, "the index of a branch"))
    return false;
  PTX_EACH_LANE(lane, b->mask)
  {
    const uint64_t index = ptx_read(b, 0, lane);
    if (index >= b->insn->target_count)
      return ptx_fail(b->machine, b->warp, lane, b->insn, PTX_FAULT_ADDRESS, index, "the index %llu of a branch with %u targets",
                      (unsigned long long)index, b->insn->target_count);
    b->warp->pc[lane] = b->machine->module->tables[b->insn->target + index];
  }
  return true;
}

static bool
sleep_lanes(ptx_bundle *b)
{
  const uint32_t lane = (uint32_t)__builtin_ctz(b->mask);
  const uint64_t hz = b->machine->launch->clock_hz ? b->machine->launch->clock_hz : 1000000000;
  b->machine->ticks += ptx_read(b, 0, lane) * hz / 1000000000;
  return true;
}

/* Executes an instruction that may change the lanes' control flow, and sets their program counters. */
static bool
act(ptx_bundle *b, uint32_t pc)
{
  ptx_warp *warp = b->warp;
  switch ((ptx_action)b->insn->action) {
  case PTX_DO_BRANCH:
    if (b->machine->is_watching && b->insn->target <= pc)
      ptx_watch(b, b->mask);
    jump(warp, b->mask, b->insn->target);
    return true;
  case PTX_DO_TABLE:
    return jump_by_table(b);
  case PTX_DO_CALL:
    call(b);
    return true;
  case PTX_DO_RETURN:
    return return_lanes(b);
  case PTX_DO_EXIT:
    return end_lanes(b, b->mask);
  case PTX_DO_TRAP:
    return ptx_fail(b->machine, warp, (uint32_t)__builtin_ctz(b->mask), b->insn, PTX_FAULT_TRAP, 0, "trap");
  case PTX_DO_BARRIER:
    return ptx_reach_barrier(b);
  case PTX_DO_WARP:
    return ptx_reach_sync(b);
  default:
    break;
  }
  jump(warp, b->mask, pc + 1);
  return b->insn->action != PTX_DO_SLEEP || sleep_lanes(b);
}

/* Executes an instruction after which the lanes continue with the next one. */
static bool
step(ptx_bundle *b)
{
  switch ((ptx_action)b->insn->action) {
  case PTX_DO_EVAL:
    evaluate(b);
    return true;
  case PTX_DO_SPECIAL:
    read_special(b);
    return true;
  case PTX_DO_LOAD:
    return ptx_load(b);
  case PTX_DO_STORE:
    return ptx_store(b);
  case PTX_DO_ATOM:
    return ptx_atom(b);
  case PTX_DO_ACTIVE:
    PTX_EACH_LANE(lane, b->mask)
    ptx_write(b, 0, lane, b->mask);
    ptx_set_poison(b, 0, b->mask, 0);
    return true;
  case PTX_DO_FENCE:
    return ptx_fence(b);
  default:
    return true;
  }
}

static bool
goes_on(ptx_action action)
{
  return action <= PTX_DO_ATOM || action == PTX_DO_ACTIVE || action == PTX_DO_FENCE || action == PTX_DO_NOTHING;
}

/* Stores the lanes whose guard is true. Fails with a fault if the guard is poisoned. */
static bool
guarded(ptx_bundle *b, uint32_t lanes, uint32_t *out)
{
  const uint64_t *row = ptx_row(b, b->insn->guard);
  if (!ptx_check_poison(b, b->insn->guard, lanes, "a guard"))
    return false;
  *out = 0;
  PTX_EACH_LANE(lane, lanes)
  *out |= (uint32_t)((row[lane] != 0) != b->insn->guard_is_negated) << lane;
  return true;
}

/* Runs lanes that are at the same instruction until they diverge, wait, end, may converge with others, or have executed `count`
 * instructions. */
static bool
run_bundle(ptx_machine *m, ptx_warp *warp, uint32_t lanes, uint32_t count)
{
  ptx_bundle b;
  ptx_bundle_at(m, warp, (uint32_t)__builtin_ctz(lanes), &b);
  const bool is_part = lanes != ptx_runnable(warp);
  const uint32_t width = (uint32_t)__builtin_popcount(lanes), first = (uint32_t)__builtin_ctz(lanes);
  uint32_t pc = warp->pc[first];
  bool is_fresh = true;
  for (; count; count--, is_fresh = false) {
    b.insn = &m->code[pc];
    if (b.insn->is_leader && is_part && !is_fresh)
      break;
    b.mask = lanes;
    m->ticks++;
    m->counts.instructions += width;
    if (b.insn->is_guarded && !guarded(&b, lanes, &b.mask))
      return false;
    if (goes_on((ptx_action)b.insn->action)) {
      if (b.mask && !step(&b))
        return false;
      pc++;
      continue;
    }
    if (b.mask == lanes && b.insn->action == PTX_DO_BRANCH) {
      if (m->is_watching && b.insn->target <= pc)
        ptx_watch(&b, lanes);
      pc = b.insn->target;
      continue;
    }
    if (!b.mask) {
      pc++;
      continue;
    }
    jump(warp, lanes & ~b.mask, pc + 1);
    jump(warp, b.mask, pc);
    return act(&b, pc);
  }
  jump(warp, lanes, pc);
  return true;
}

/* Usually chooses the lanes at the first instruction in the text, so that lanes converge. Otherwise chooses those at a drawn lane's
 * instruction. Sometimes chooses only one lane. */
bool
ptx_run_warp(ptx_machine *m, ptx_warp *warp)
{
  const uint32_t runnable = ptx_runnable(warp), drawn = ptx_draw(m);
  uint32_t chosen = (uint32_t)__builtin_ctz(runnable), lanes = 0;
  if (drawn % 8 < 6) {
    PTX_EACH_LANE(lane, runnable)
    if (warp->pc[lane] < warp->pc[chosen])
      chosen = lane;
  } else {
    for (chosen = drawn >> 3 & 31; !(runnable >> chosen & 1);)
      chosen = (chosen + 1) % PTX_WARP;
  }
  if (drawn >> 8 & 31)
    PTX_EACH_LANE(lane, runnable)
  lanes |= (uint32_t)(warp->pc[lane] == warp->pc[chosen]) << lane;
  else lanes = 1u << chosen;
  return run_bundle(m, warp, lanes, 1 + (drawn >> 16 & 255));
}
