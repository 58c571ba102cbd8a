/* Detects data races, as run.h defines them, while a program runs in lockstep.
 *
 * Time counts the rows that access or order memory. Each granule of memory (a word, or less if types are smaller) has a cell. The
 * cell has the last plain write. It also has three reads and three atomic writes since then: the last one, the last one by another
 * invocation of its workgroup, and the last one by another workgroup. These suffice: an access ordered after the last of a kind is
 * ordered after all earlier ones, except those of the last's own invocation and workgroup, which the other two cover.
 *
 * Order is kept as times. Everything a workgroup did before `met` is ordered before the next accesses of its invocations. The same
 * holds for the grid and `grid_met`, and for a subgroup and `lanes_met`. Everything that any invocation did up to `acquired` is
 * ordered before the next accesses of one invocation. A release stores its time in the granule, and an acquire reads it. If the
 * order is in doubt, it is assumed.
 *
 * The accesses of an async copy stay at their cells until its wait, and race with every conflicting access. Then they count as
 * accesses of the invocation.
 *
 * Cost: O(bytes accessed), 128 bytes for each granule touched.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "races.h"

#include <string.h>

/* One access being checked. */
typedef struct access {
  const buffer_state *buffer;
  const uint8_t *place;
  uint64_t invocation;
  stamp by;
  uint64_t floor; /* earlier accesses were to other memory at the same address */
  unsigned kind;
  bool writes, is_atomic;
} access;

static uint32_t
group_number(const interp *ip, const uint32_t group[3])
{
  return (group[2] * ip->dispatch->groups[1] + group[1]) * ip->dispatch->groups[0] + group[0];
}

static stamp
stamp_now(const interp *ip, uint64_t invocation, bool is_atomic)
{
  const uint32_t i = (uint32_t)invocation;
  const uint32_t group = ip->together ? i / ip->per_group : group_number(ip, ip->group);
  const uint64_t local = ip->together ? i % ip->per_group : i;
  return (stamp){ip->races->now << 17 | local << 1 | is_atomic, ip->races->row, group};
}

/* ---- order ---------------------------------------------------------------------------------------------------------- */

static bool
same_subgroup(const interp *ip, stamp s, stamp t)
{
  return s.group == t.group && local_of(s) / ip->subgroup == local_of(t) / ip->subgroup;
}

static bool
is_ordered(const interp *ip, stamp before, const access *a)
{
  const races *r = ip->races;
  const uint64_t time = time_of(before);
  if (time < a->floor || time == 0 || same_invocation(before, a->by) || time <= r->acquired[a->invocation])
    return true;
  if (time < r->grid_met[a->kind] || (same_subgroup(ip, before, a->by) && time < r->lanes_met[a->invocation][a->kind]))
    return true;
  return before.group == a->by.group && time < r->met[ip->together ? before.group : 0][a->kind];
}

static bool
conflicts(const interp *ip, stamp before, bool wrote, const access *a)
{
  if ((!wrote && !a->writes) || ((before.when & 1u) && a->is_atomic))
    return false;
  return !is_ordered(ip, before, a);
}

static const stamp *
conflict_in(const interp *ip, const latest *l, bool wrote, const access *a)
{
  return conflicts(ip, l->last, wrote, a)   ? &l->last
         : conflicts(ip, l->near, wrote, a) ? &l->near
         : conflicts(ip, l->far, wrote, a)  ? &l->far
                                            : NULL;
}

static void
record_latest(latest *l, stamp s)
{
  if (time_of(l->last) != 0 && !same_invocation(l->last, s)) {
    const bool far_is_near = time_of(l->far) != 0 && l->far.group == s.group && !same_invocation(l->far, s);
    if (l->last.group == s.group) {
      l->near = l->last;
    } else {
      l->near = far_is_near ? l->far : (stamp){0};
      l->far = l->last;
    }
  }
  l->last = s;
}

static void
note_access(cell *c, stamp s, bool writes, bool is_atomic)
{
  if (!writes) {
    record_latest(&c->read, s);
  } else if (is_atomic) {
    record_latest(&c->atomic, s);
  } else { /* ordered after all others, as is any later access */
    c->written = s;
    c->read = c->atomic = (latest){0};
  }
}

/* ---- reports -------------------------------------------------------------------------------------------------------- */

/* Returns the start of the memory that contains the location. */
static const uint8_t *
start_of(const buffer_state *buffer, const uint8_t *place)
{
  for (uint32_t i = 0; i < buffer->descriptor_count; i++) {
    const descriptor *d = &buffer->descriptors[i];
    if (d->data && (uintptr_t)place - (uintptr_t)d->data < d->size)
      return d->data;
  }
  return buffer->data;
}

static bool
report_race(interp *ip, const access *a, stamp before, bool wrote, bool is_pending)
{
  const uint64_t distance = (uint64_t)(a->place - start_of(a->buffer, a->place));
  const uint64_t byte = a->buffer->step ? distance % a->buffer->step : distance;
  const uint32_t i = local_of(before), g = before.group, *groups = ip->dispatch->groups;
  const uint32_t local[3] = {i % ip->local[0], i / ip->local[0] % ip->local[1], i / ip->local[0] / ip->local[1]};
  const uint32_t group[3] = {g % groups[0], g / groups[0] % groups[1], g / groups[0] / groups[1]};
  char buffer[INTERP_TEXT], row[INTERP_TEXT], who[INTERP_TEXT];
  return interp_fail(ip, ip->races->row, a->invocation,
                     is_pending ? "wait for the async copy before the access (and let a barrier order it for others)"
                                : "put a barrier that orders this memory between the two, or make both accesses atomic",
                     "data race on byte %llu of %s: %s by %s of %s, then %s%s, with nothing that orders the two, by",
                     (unsigned long long)byte, interp_describe_buffer(ip, a->buffer->row, buffer),
                     is_pending ? (wrote ? "written until its wait" : "read until its wait")
                     : wrote    ? "written"
                                : "read",
                     interp_describe_row(ip, before.row, row), interp_describe_invocation(ip, local, group, who),
                     a->writes ? "written" : "read", a->is_atomic ? " atomically" : "");
}

static bool
check_pending(interp *ip, const cell *c, const access *a)
{
  const races *r = ip->races;
  for (uint32_t id = c->pending; id; id = r->asyncs[id - 1].next_of_cell) {
    const async_access *other = &r->asyncs[id - 1];
    const bool itself = same_invocation(other->by, a->by) && time_of(other->by) == r->now;
    if (!itself && (other->writes || a->writes))
      return report_race(ip, a, other->by, other->writes, true);
  }
  return true;
}

static bool
check_cell(interp *ip, const cell *c, const access *a)
{
  const stamp *before = conflicts(ip, c->written, true, a) ? &c->written : conflict_in(ip, &c->atomic, true, a);
  if (before)
    return report_race(ip, a, *before, true, false);
  before = conflict_in(ip, &c->read, false, a);
  if (before)
    return report_race(ip, a, *before, false, false);
  return !c->pending || check_pending(ip, c, a);
}

/* ---- accesses ------------------------------------------------------------------------------------------------------- */

static bool
add_pending(interp *ip, cell *c, const access *a)
{
  races *r = ip->races;
  const uint32_t id = races_new_async(ip);
  if (!id)
    return false;
  r->asyncs[id - 1] = (async_access){c, a->by, c->pending, r->newest[a->invocation], r->copies[a->invocation], a->writes};
  c->pending = r->newest[a->invocation] = id;
  return true;
}

static vyre_space
space_of(const interp *ip, const buffer_state *buffer)
{
  return VYRE_BUFFER_SPACE(ip->view->imm_hi[buffer->row]);
}

bool
interp_race_touch(interp *ip, const buffer_state *buffer, uint64_t invocation, const uint8_t *place, uint32_t size, race_access how)
{
  races *r = ip->races;
  const vyre_space space = space_of(ip, buffer);
  if (space == VYRE_SPACE_CONSTANT || space == VYRE_SPACE_PUSH || (space == VYRE_SPACE_PRIVATE && !r->has_async))
    return true; /* not shared with other invocations, or never written */
  access a = {.buffer = buffer,
              .invocation = invocation,
              .by = stamp_now(ip, invocation, (how & RACE_ATOMIC) != 0),
              .floor = buffer->owned ? r->start : 0,
              .kind = space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM ? STORAGE : WORKGROUP,
              .writes = (how & RACE_WRITE) != 0,
              .is_atomic = (how & RACE_ATOMIC) != 0};
  const uint64_t from = (uint64_t)(uintptr_t)place, granule = UINT64_C(1) << r->granule_shift;
  for (uint64_t at = from & ~(granule - 1); at < from + size; at += granule) {
    cell *c = races_cell(ip, at);
    a.place = at < from ? place : place + (at - from);
    if (!c || !check_cell(ip, c, &a) || (r->is_async && !add_pending(ip, c, &a)))
      return false;
    if (!r->is_async)
      note_access(c, a.by, a.writes, a.is_atomic);
  }
  return true;
}

void
interp_race_row(interp *ip, uint32_t row)
{
  ip->races->now++;
  ip->races->row = row;
  ip->races->is_async = VYRE_ROW_OP(ip->view->op[row]) == VYRE_OP_async_copy;
}

bool
interp_race_plain(interp *ip, uint32_t row, const uint64_t *active, race_access how)
{
  const uint32_t path = ip->view->a[row], typed = how & RACE_WRITE ? ip->view->b[row] : row;
  const path_plan *plan = path_of(ip, path);
  const buffer_state *buffer = &ip->buffers[plan->buffer];
  const vyre_type type = VYRE_ROW_TYPE(ip->view->op[typed]);
  const uint32_t scalar = vyre_kind_bytes(VYRE_TYPE_KIND(type)), lanes = VYRE_TYPE_LANES(type);
  const bool dense = lanes == 1 || plan->lane_stride == scalar;
  const uint64_t *at = plane_of(ip, path);
  interp_race_row(ip, row);
  for_each_active(ip, active, i)
  {
    const uint8_t *place = place_of(buffer, i, at[i], (uint64_t)(lanes - 1) * plan->lane_stride + scalar);
    for (uint32_t k = 0; place && k < (dense ? 1 : lanes); k++)
      if (!interp_race_touch(ip, buffer, i, place + (size_t)k * plan->lane_stride, dense ? lanes * scalar : scalar, how))
        return false;
  }
  return true;
}

/* ---- synchronization ------------------------------------------------------------------------------------------------ */

static void
raise_time(uint64_t *time, uint64_t to)
{
  if (*time < to)
    *time = to;
}

#define ACQUIRES(semantics) (((semantics)&0x1au) != 0) /* acquire, acquire and release, sequentially consistent */
#define RELEASES(semantics) (((semantics)&0x1cu) != 0)

bool
interp_race_atomic(interp *ip, const buffer_state *buffer, uint64_t invocation, const uint8_t *place, uint32_t size, bool writes)
{
  races *r = ip->races;
  const uint32_t semantics = VYRE_ORDER_SEMANTICS(ip->view->imm[r->row]), op = VYRE_ROW_OP(ip->view->op[r->row]);
  if (!interp_race_touch(ip, buffer, invocation, place, size, writes ? RACE_ATOMIC | RACE_WRITE : RACE_ATOMIC))
    return false;
  cell *c = races_cell(ip, (uint64_t)(uintptr_t)place & ~((UINT64_C(1) << r->granule_shift) - 1));
  if (!c)
    return false;
  if (op != VYRE_OP_atomic_store) {
    raise_time(&r->seen[invocation], c->released);
    if (ACQUIRES(semantics))
      raise_time(&r->acquired[invocation], c->released);
  }
  if (writes)
    raise_time(&c->released, RELEASES(semantics) ? r->now : r->fenced[invocation]);
  return true;
}

/* Executes a fence: acquires the releases that were read, and releases everything done so far. */
static void
run_fence(races *r, uint64_t invocation, uint32_t semantics)
{
  if (ACQUIRES(semantics))
    raise_time(&r->acquired[invocation], r->seen[invocation]);
  if (RELEASES(semantics))
    r->fenced[invocation] = r->now;
}

/* Shares the acquired time among the invocations that meet at a barrier. */
static void
share_acquired(races *r, uint64_t first, uint64_t count)
{
  uint64_t most = 0;
  for (uint64_t i = first; i < first + count; i++)
    raise_time(&most, r->acquired[i]);
  for (uint64_t i = first; i < first + count; i++)
    r->acquired[i] = most;
}

/* Returns how many invocations from `first` on meet at a barrier of the scope: the grid, a workgroup or a subgroup. */
static uint32_t
count_meeting(const interp *ip, uint32_t scope, uint32_t first)
{
  const uint32_t left = ip->per_group - first % ip->per_group;
  return scope == 1 ? ip->count : scope == 3 && ip->subgroup < left ? ip->subgroup : left;
}

void
interp_race_barrier(interp *ip, uint32_t row, const uint64_t *active)
{
  races *r = ip->races;
  const uint32_t imm = ip->view->imm[row], execution = VYRE_ORDER_EXECUTION(imm);
  const uint32_t memory = VYRE_ORDER_MEMORY(imm), semantics = VYRE_ORDER_SEMANTICS(imm);
  const uint32_t scope = execution == 1 && memory == 2 ? 2 : execution;
  /* wide enough for the invocations that meet */
  const uint32_t order = VYRE_ORDER(scope, scope == 3 && memory == 3 ? 2 : memory, semantics);
  interp_race_row(ip, row);
  for_each_active(ip, active, i) run_fence(r, i, semantics);
  if (scope == 4)
    return;
  for (uint32_t first = 0, count; first < ip->count; first += count) {
    bool here = false;
    count = count_meeting(ip, scope, first);
    for (uint32_t i = first; i < first + count && !here; i++)
      here = (active[i / 64] >> (i % 64) & 1u) != 0;
    if (!here)
      continue;
    share_acquired(r, first, count);
    for (unsigned kind = 0; kind < KINDS; kind++) {
      if (!r->barrier_orders[kind] && !orders_kind(order, kind))
        continue;
      for (uint32_t i = first; scope == 3 && i < first + count; i++)
        r->lanes_met[i][kind] = r->now;
      if (scope != 3)
        *(scope == 1 ? &r->grid_met[kind] : &r->met[first / ip->per_group][kind]) = r->now;
    }
  }
}

/* ---- async copies --------------------------------------------------------------------------------------------------- */

static void
remove_pending(races *r, uint32_t id)
{
  uint32_t *link = &r->asyncs[id - 1].cell->pending;
  while (*link != id)
    link = &r->asyncs[*link - 1].next_of_cell;
  *link = r->asyncs[id - 1].next_of_cell;
}

/* Completes all async copies of the invocation except the latest `left`. */
static void
complete_copies(interp *ip, uint64_t invocation, uint32_t left)
{
  races *r = ip->races;
  uint32_t *link = &r->newest[invocation];
  while (*link) {
    const uint32_t id = *link;
    async_access *a = &r->asyncs[id - 1];
    if (a->number >= r->copies[invocation] - (left < r->copies[invocation] ? left : r->copies[invocation])) {
      link = &a->next_of_invocation; /* numbers count from 0 */
      continue;
    }
    remove_pending(r, id);
    stamp s = stamp_now(ip, invocation, false);
    s.row = a->by.row;
    note_access(a->cell, s, a->writes, false);
    *link = a->next_of_invocation;
    a->next_of_cell = r->async_free;
    r->async_free = id;
  }
}

void
interp_race_wait(interp *ip, uint32_t row, const uint64_t *active)
{
  interp_race_row(ip, row);
  for_each_active(ip, active, i) complete_copies(ip, i, ip->view->imm[row]);
}

void
interp_race_copied(interp *ip, const uint64_t *active)
{
  if (ip->races->is_async)
    for_each_active(ip, active, i) ip->races->copies[i]++;
}

/* ---- workgroups ----------------------------------------------------------------------------------------------------- */

/* Resets the state for other invocations, which are not ordered after anything and have no async copies. */
void
interp_race_workgroup(interp *ip)
{
  races *r = ip->races;
  r->start = ++r->now;
  memset(r->met, 0, r->met_count * sizeof *r->met);
  memset(r->lanes_met, 0, ip->count * sizeof *r->lanes_met);
  memset(r->acquired, 0, ip->count * sizeof *r->acquired);
  memset(r->seen, 0, ip->count * sizeof *r->seen);
  memset(r->fenced, 0, ip->count * sizeof *r->fenced);
  memset(r->copies, 0, ip->count * sizeof *r->copies);
  memset(r->newest, 0, ip->count * sizeof *r->newest);
}

/* Completes async copies that were not waited for. */
void
interp_race_workgroup_ends(interp *ip)
{
  races *r = ip->races;
  r->now++;
  for (uint32_t i = 0; r->has_async && i < ip->count; i++)
    complete_copies(ip, i, 0);
}
