/* Barriers of a block, and .sync instructions of a warp.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

/* ---- barriers of a block ------------------------------------------------------------------------------------------------- */

static bool
is_red(const ptx_insn *insn)
{
  return ptx_has(insn, PTX_red);
}

/* Checks that the lanes of a warp at an aligned barrier are all at the same instruction. */
static bool
check_aligned(ptx_machine *m, ptx_warp *warp, uint32_t lanes)
{
  if (!lanes)
    return true;
  const uint32_t first = (uint32_t)__builtin_ctz(lanes);
  if (!ptx_has(&m->code[warp->pc[first]], PTX_aligned))
    return true;
  PTX_EACH_LANE(lane, lanes)
  if (warp->pc[lane] != warp->pc[first])
    return ptx_fail(m, warp, lane, &m->code[warp->pc[lane]], PTX_FAULT_DIVERGED, 0,
                    "lanes of the warp are at different barriers: this one, and the one in line %u", m->code[warp->pc[first]].line);
  return true;
}

static void
release_lane(ptx_machine *m, ptx_warp *warp, uint32_t lane, const ptx_barrier *barrier)
{
  ptx_bundle b;
  ptx_bundle_at(m, warp, lane, &b);
  if (is_red(b.insn)) {
    ptx_write(&b, 0, lane, b.insn->what == PTX_popc ? barrier->popc : b.insn->what == PTX_and ? barrier->all : barrier->any);
    ptx_set_poison(&b, 0, 1u << lane, 0);
  }
  warp->at_barrier &= ~(1u << lane);
  warp->pc[lane]++;
}

static bool
release(ptx_machine *m, ptx_block *block, uint32_t id)
{
  m->counts.barriers++;
  m->changes++;
  for (uint32_t w = 0; w < m->warps; w++) {
    ptx_warp *warp = &block->warps[w];
    uint32_t here = 0;
    PTX_EACH_LANE(lane, warp->at_barrier)
    if (warp->barrier[lane] == id)
      here |= 1u << lane;
    if (!check_aligned(m, warp, here))
      return false;
    ptx_note_acquire(warp, here);
    PTX_EACH_LANE(lane, here)
    release_lane(m, warp, lane, &block->barriers[id]);
  }
  block->barriers[id] = (ptx_barrier){0};
  return true;
}

/* Returns whether a barrier is complete. A barrier for all threads of a block does not wait for threads that have ended (CUDA C++
 * programming guide, synchronization functions, from sm_70 on). */
static bool
is_complete(const ptx_machine *m, const ptx_block *block, uint32_t id)
{
  const ptx_barrier *barrier = &block->barriers[id];
  const uint32_t ended = barrier->expected == m->threads ? block->ended : 0;
  return barrier->arrived != 0 && barrier->arrived + ended >= barrier->expected;
}

static bool
arrive(ptx_bundle *b, uint32_t lane, uint32_t id, uint32_t expected)
{
  ptx_machine *m = b->machine;
  ptx_barrier *barrier = &b->warp->block->barriers[id];
  if (barrier->expected && barrier->expected != expected)
    return ptx_fail(m, b->warp, lane, b->insn, PTX_FAULT_DIVERGED, 0, "barrier %u is for %u threads here and for %u in line %u", id,
                    expected, barrier->expected, m->code[barrier->pc].line);
  if (!barrier->expected)
    *barrier = (ptx_barrier){.expected = expected, .all = true, .pc = b->warp->pc[lane]};
  if (is_red(b->insn)) {
    const uint32_t k = b->insn->s_count - 1u;
    if (!ptx_check_poison(b, b->insn->s[k], 1u << lane, "a predicate"))
      return false;
    const bool value = ptx_read(b, k, lane);
    barrier->popc += value;
    barrier->all &= value;
    barrier->any |= value;
  }
  ptx_finish_stores(m, b->warp, 1u << lane);
  ptx_note_release(b->warp, 1u << lane);
  barrier->arrived++;
  if (ptx_has(b->insn, PTX_arrive)) {
    b->warp->pc[lane]++;
  } else {
    b->warp->at_barrier |= 1u << lane;
    b->warp->barrier[lane] = id;
  }
  return !is_complete(m, b->warp->block, id) || release(m, b->warp->block, id);
}

bool
ptx_leave_barriers(ptx_machine *m, ptx_block *block)
{
  for (uint32_t id = 0; id < PTX_BARRIERS; id++)
    if (is_complete(m, block, id) && !release(m, block, id))
      return false;
  return true;
}

bool
ptx_reach_barrier(ptx_bundle *b)
{
  const ptx_insn *insn = b->insn;
  const bool has_count = insn->s_count > (is_red(insn) ? 2 : 1);
  if (!ptx_check_poison(b, insn->s[0], b->mask, "a barrier's number") ||
      (has_count && !ptx_check_poison(b, insn->s[1], b->mask, "a barrier's number of threads")))
    return false;
  PTX_EACH_LANE(lane, b->mask)
  {
    const uint64_t id = ptx_read(b, 0, lane), count = has_count ? ptx_read(b, 1, lane) : 0;
    if (id >= PTX_BARRIERS)
      return ptx_fail(b->machine, b->warp, lane, insn, PTX_FAULT_DIVERGED, 0, "there is no barrier %llu", (unsigned long long)id);
    if (has_count && (!count || count % PTX_WARP))
      return ptx_fail(b->machine, b->warp, lane, insn, PTX_FAULT_DIVERGED, 0,
                      "a barrier's number of threads must be a multiple of 32, not %llu", (unsigned long long)count);
    if (!arrive(b, lane, (uint32_t)id, has_count ? (uint32_t)count : b->machine->threads))
      return false;
  }
  return true;
}

/* ---- .sync of a warp ----------------------------------------------------------------------------------------------------- */

/* The lanes that execute a .sync instruction together. Each has its own instruction. */
typedef struct meeting {
  ptx_machine *machine;
  ptx_warp *warp;
  uint32_t members;
  ptx_bundle bundles[PTX_WARP];
} meeting;

static uint64_t
source(meeting *m, uint32_t lane, uint32_t k)
{
  return ptx_read(&m->bundles[lane], k, lane);
}

static uint32_t
poisoned(meeting *m, uint32_t lane, uint32_t k)
{
  return ptx_poison_of(&m->bundles[lane], m->bundles[lane].insn->s[k]) >> lane & 1;
}

static void
result(meeting *m, uint32_t lane, uint32_t k, uint64_t value, bool is_poisoned)
{
  if (k >= m->bundles[lane].insn->d_count)
    return;
  ptx_write(&m->bundles[lane], k, lane, value);
  ptx_set_poison(&m->bundles[lane], k, 1u << lane, (uint32_t)is_poisoned << lane);
}

static void
shuffle(meeting *m, const ptx_insn *insn)
{
  uint64_t value[PTX_WARP] = {0};
  uint32_t poison = 0;
  PTX_EACH_LANE(lane, m->members)
  {
    value[lane] = source(m, lane, 0);
    poison |= poisoned(m, lane, 0) << lane;
  }
  PTX_EACH_LANE(lane, m->members)
  {
    const int32_t from = (int32_t)(source(m, lane, 1) & 31), at = (int32_t)lane;
    const uint32_t c = (uint32_t)source(m, lane, 2), clamp = c & 31, segment = c >> 8 & 31;
    const int32_t most = (int32_t)((lane & segment) | (clamp & ~segment)), least = (int32_t)(lane & segment);
    int32_t j;
    bool is_in;
    switch ((ptx_word)insn->what) {
    case PTX_up:
      j = at - from;
      is_in = j >= most;
      break;
    case PTX_down:
      j = at + from;
      is_in = j <= most;
      break;
    case PTX_bfly:
      j = at ^ from;
      is_in = j <= most;
      break;
    default:
      j = least | (from & ~(int32_t)segment);
      is_in = j <= most;
      break;
    }
    if (!is_in)
      j = at;
    const bool has_value = m->members >> j & 1; /* otherwise the result is undefined */
    const bool is_bad = poisoned(m, lane, 1) | poisoned(m, lane, 2);
    result(m, lane, 0, value[j], !has_value || (poison >> j & 1) || is_bad);
    result(m, lane, 1, is_in, is_bad);
  }
}

static void
vote(meeting *m, const ptx_insn *insn)
{
  uint32_t ballot = 0, poison = 0;
  PTX_EACH_LANE(lane, m->members)
  {
    ballot |= (uint32_t)source(m, lane, 0) << lane;
    poison |= poisoned(m, lane, 0) << lane;
  }
  uint64_t value = ballot;
  if (insn->what == PTX_all)
    value = ballot == m->members;
  else if (insn->what == PTX_any)
    value = ballot != 0;
  else if (insn->what == PTX_uni)
    value = ballot == m->members || ballot == 0;
  PTX_EACH_LANE(lane, m->members)
  result(m, lane, 0, value, poison);
}

static void
match(meeting *m, const ptx_insn *insn)
{
  uint64_t value[PTX_WARP] = {0};
  uint32_t equal[PTX_WARP] = {0}, poison = 0;
  PTX_EACH_LANE(lane, m->members)
  {
    value[lane] = source(m, lane, 0);
    poison |= poisoned(m, lane, 0);
  }
  PTX_EACH_LANE(lane, m->members)
  for (uint32_t other = 0; other < PTX_WARP; other++)
    if (m->members >> other & 1 && value[other] == value[lane])
      equal[lane] |= 1u << other;
  PTX_EACH_LANE(lane, m->members)
  {
    const bool is_all = equal[lane] == m->members;
    result(m, lane, 0, insn->what == PTX_any || is_all ? equal[lane] : 0, poison);
    result(m, lane, 1, is_all, poison);
  }
}

static void
reduce(meeting *m, const ptx_insn *insn)
{
  const bool is_signed = insn->type[0] == PTX_s32;
  const uint32_t first = (uint32_t)__builtin_ctz(m->members);
  uint64_t all = source(m, first, 0);
  bool poison = poisoned(m, first, 0);
  PTX_EACH_LANE(lane, m->members & (m->members - 1))
  {
    const uint64_t value = source(m, lane, 0);
    const bool is_less = is_signed ? ptx_signed(value, 32) < ptx_signed(all, 32) : value < all;
    poison |= poisoned(m, lane, 0);
    switch ((ptx_word)insn->what) {
    case PTX_add:
      all = ptx_low(all + value, 32);
      break;
    case PTX_min:
      all = is_less ? value : all;
      break;
    case PTX_max:
      all = is_less ? all : value;
      break;
    case PTX_and:
      all &= value;
      break;
    case PTX_or:
      all |= value;
      break;
    default:
      all ^= value;
      break;
    }
  }
  PTX_EACH_LANE(lane, m->members)
  result(m, lane, 0, all, poison);
}

/* Draws the leader, which may be any member. */
static void
elect(meeting *m)
{
  uint32_t leader = ptx_draw(m->machine) % PTX_WARP;
  while (!(m->members >> leader & 1))
    leader = (leader + 1) % PTX_WARP;
  PTX_EACH_LANE(lane, m->members)
  {
    result(m, lane, 0, leader, false);
    result(m, lane, 1, lane == leader, false);
  }
}

/* Executes the .sync instruction of the members, which have all arrived. */
static void
execute_sync(ptx_machine *machine, ptx_warp *warp, uint32_t members)
{
  meeting m = {.machine = machine, .warp = warp, .members = members};
  PTX_EACH_LANE(lane, members)
  ptx_bundle_at(machine, warp, lane, &m.bundles[lane]);
  const ptx_insn *insn = m.bundles[__builtin_ctz(members)].insn;
  switch ((ptx_together)insn->together) {
  case PTX_SYNC_SHUFFLE:
    shuffle(&m, insn);
    break;
  case PTX_SYNC_VOTE:
    vote(&m, insn);
    break;
  case PTX_SYNC_MATCH:
    match(&m, insn);
    break;
  case PTX_SYNC_REDUCE:
    reduce(&m, insn);
    break;
  case PTX_SYNC_ELECT:
    elect(&m);
    break;
  default:
    break;
  }
  if (insn->together == PTX_SYNC_WAIT)
    ptx_note_acquire(warp, members);
  machine->changes++;
  warp->at_sync &= ~members;
  PTX_EACH_LANE(lane, members)
  warp->pc[lane]++;
}

static bool
is_same(const ptx_insn *a, const ptx_insn *b)
{
  return a->together == b->together && a->what == b->what && a->type[0] == b->type[0] && a->d_count == b->d_count;
}

/* Executes the lane's .sync instruction if all lanes of its mask have arrived. */
static bool
try_sync(ptx_machine *m, ptx_warp *warp, uint32_t lane)
{
  const uint32_t members = warp->sync_mask[lane] & warp->live;
  const ptx_insn *insn = &m->code[warp->pc[lane]];
  PTX_EACH_LANE(other, members & warp->at_sync)
  {
    const ptx_insn *its = &m->code[warp->pc[other]];
    /* A lane that does not wait for this one may continue and arrive later. */
    if (!(warp->sync_mask[other] >> lane & 1))
      return true;
    if (warp->sync_mask[other] != warp->sync_mask[lane] || !is_same(insn, its))
      return ptx_fail(m, warp, lane, insn, PTX_FAULT_DIVERGED, 0,
                      "the lane waits for lane %u (mask 0x%08x), which waits in line %u with mask 0x%08x", other,
                      warp->sync_mask[lane], its->line, warp->sync_mask[other]);
  }
  if (!(members & ~warp->at_sync))
    execute_sync(m, warp, members);
  return true;
}

bool
ptx_retry_syncs(ptx_machine *m, ptx_warp *warp)
{
  for (uint32_t lane = 0; lane < PTX_WARP; lane++)
    if (warp->at_sync >> lane & 1 && !try_sync(m, warp, lane))
      return false;
  return true;
}

bool
ptx_reach_sync(ptx_bundle *b)
{
  const uint32_t k = b->insn->s_count - 1u; /* the mask is the last operand */
  if (!ptx_check_poison(b, b->insn->s[k], b->mask, "a mask of lanes"))
    return false;
  if (b->insn->together == PTX_SYNC_WAIT) {
    ptx_finish_stores(b->machine, b->warp, b->mask);
    ptx_note_release(b->warp, b->mask);
  }
  PTX_EACH_LANE(lane, b->mask)
  {
    const uint32_t mask = (uint32_t)ptx_read(b, k, lane);
    if (!(mask >> lane & 1))
      return ptx_fail(b->machine, b->warp, lane, b->insn, PTX_FAULT_DIVERGED, 0, "the mask 0x%08x does not have the lane itself",
                      mask);
    b->warp->sync_mask[lane] = mask;
    b->warp->at_sync |= 1u << lane;
  }
  PTX_EACH_LANE(lane, b->mask)
  if (b->warp->at_sync >> lane & 1 && !try_sync(b->machine, b->warp, lane))
    return false;
  return true;
}
