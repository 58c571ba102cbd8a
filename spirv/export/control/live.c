/* Finds where the vars of a program may need phis, before the program is written.
 *
 * A var may need a phi after a construct that sets it, if the var is live there: a `get` may follow before the next `set`.  It may
 * need one at a loop's header if it is live there, and a `set` may lead to the back edge.  The walk that writes the program then
 * carries the values (phis.c), and leaves out phis whose values are equal.
 *
 * The survey lists the events: gets, sets, jumps, and the starts and ends of constructs and regions.  One walk over the events,
 * from last to first, has a bit by var.  It is repeated if more vars turn out to be live at the header of a loop than its back edge
 * assumed.  That is at most once more than loops are nested.  If that takes more than MOST_WORK, the last walk assumes all vars.
 * Source: Kam and Ullman, "Global Data Flow Analysis and Iterative Algorithms", 1976.
 *
 * The same walk finds which sets may lead to a back edge.  "Control may reach the back edge of this loop" flows backward like
 * liveness, from the back edge, so it is a bit of the same sets.
 *
 * Cost: events, and constructs * vars / 64, for each walk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"

#include "vyre/view.h"

#include <string.h>

/* The sets of vars of an open construct or region. */
enum {
  SETS,  /* that it sets */
  AFTER, /* a construct: live after it */
  HEAD,  /* live where it branches: at the start of any arm or case */
  NEXT,  /* a loop: live at its continue target; a switch: live at the start of the following case */
  ROUND, /* a loop: set on a path to its back edge */
  LIVE_SETS
};

enum { MOST_WORK = 1 << 24, ROW_WORK = 64 }; /* words of sets in all walks, and more for each row of the program */

enum { MOST_LOOPS = 64 }; /* nested loops with a bit in a set; deeper ones count all of their sets as ROUND */

typedef struct frame {
  uint32_t row, loop; /* loop: its number, in the order of the walk */
  bool falls;         /* a case that falls through to the following one */
} frame;

typedef struct liveness {
  vyre_spv *s;
  const uint32_t *vars; /* by number */
  uint32_t count;       /* vars */
  size_t words;         /* of a set: bits of vars, and a last word with a bit by loop depth: control may reach its back edge */
  frame *frames;
  uint64_t *sets;          /* by depth: LIVE_SETS sets */
  uint32_t depth, deepest; /* frames, and room for them */
  uint64_t *live;
  uint64_t *headers;   /* by loop: live at its header */
  uint32_t loop_count; /* so far */
  uint32_t loop_depth;
  uint32_t loops[MOST_LOOPS]; /* by loop depth: the loop's frame */
  bool is_exact;              /* otherwise all vars count as live at back edges */
  bool repeats;               /* the assumption about a back edge was too small */
} liveness;

static uint64_t *
set_of(const liveness *l, uint32_t depth, uint32_t which)
{
  return l->sets + ((size_t)depth * LIVE_SETS + which) * l->words;
}

/* Returns the last word of a set, which has a bit by loop depth. */
static uint64_t *
back_edges_of(const liveness *l, uint64_t *set)
{
  return set + l->words - 1;
}

/* Returns the bit of the innermost loop, or 0 if it is nested deeper than MOST_LOOPS. */
static uint64_t
loop_bit(const liveness *l)
{
  return l->loop_depth <= MOST_LOOPS ? UINT64_C(1) << (l->loop_depth - 1) : 0;
}

static void
copy(const liveness *l, uint64_t *to, const uint64_t *from)
{
  memcpy(to, from, l->words * sizeof *to);
}

static void
clear(const liveness *l, uint64_t *to)
{
  memset(to, 0, l->words * sizeof *to);
}

static void
add(const liveness *l, uint64_t *to, const uint64_t *from)
{
  for (size_t i = 0; i < l->words; i++)
    to[i] |= from[i];
}

static void
fill(const liveness *l, uint64_t *to)
{
  clear(l, to);
  for (uint32_t i = 0; i < l->count; i++)
    to[i / 64] |= UINT64_C(1) << (i & 63);
}

static bool
is_subset(const liveness *l, const uint64_t *part, const uint64_t *whole)
{
  uint64_t more = 0;
  for (size_t i = 0; i < l->words; i++)
    more |= part[i] & ~whole[i];
  return more == 0;
}

/* ---- joins ---- */

/* Records the joins at a construct or a region: the vars in both sets. */
static void
record_joins(liveness *l, uint32_t row, const uint64_t *a, const uint64_t *b)
{
  vyre_spv *const s = l->s;
  const size_t start = s->joins.count;
  for (size_t i = 0; i < l->words - 1; i++) {
    for (uint64_t left = a[i] & b[i]; left; left &= left - 1) {
      if (s->joins.count == start) {
        vyre_spv_push(s, &s->joins, row);
        vyre_spv_push(s, &s->joins, 0);
      }
      vyre_spv_push(s, &s->joins, l->vars[i * 64 + (uint32_t)__builtin_ctzll(left)]);
    }
  }
  if (s->joins.count > start && !vyre_spv_failed(s))
    s->joins.data[start + 1] = (uint32_t)(s->joins.count - start - 2);
}

/* ---- starts and ends ---- */

static void
push_frame(liveness *l, uint32_t row)
{
  vyre_spv *const s = l->s;
  if (l->depth == l->deepest) {
    const uint32_t deepest = l->deepest ? l->deepest * 2 : 16;
    frame *frames = vyre_spv_memory(s, deepest * sizeof *frames);
    uint64_t *sets = vyre_spv_memory(s, (size_t)deepest * LIVE_SETS * l->words * sizeof *sets);
    if (!frames || !sets)
      return;
    if (l->deepest) {
      memcpy(frames, l->frames, l->deepest * sizeof *frames);
      memcpy(sets, l->sets, (size_t)l->deepest * LIVE_SETS * l->words * sizeof *sets);
    }
    l->frames = frames;
    l->sets = sets;
    l->deepest = deepest;
  }
  l->frames[l->depth] = (frame){.row = row};
  clear(l, set_of(l, l->depth, SETS));
  l->depth++;
}

static void
begin_loop(liveness *l, uint32_t depth)
{
  frame *const f = &l->frames[depth];
  uint64_t *const next = set_of(l, depth, NEXT);
  f->loop = l->loop_count++;
  clear(l, set_of(l, depth, ROUND));
  if (l->is_exact)
    copy(l, next, l->headers + f->loop * l->words);
  else
    fill(l, next);
  if (vyre_spv_opcode(l->s, f->row) == VYRE_OP_for) /* the header has an edge out of the loop */
    add(l, next, l->live);
  if (l->loop_depth < MOST_LOOPS)
    l->loops[l->loop_depth] = depth;
  l->loop_depth++;
  if (l->is_exact)
    *back_edges_of(l, next) |= *back_edges_of(l, l->live) | loop_bit(l);
  else
    *back_edges_of(l, next) = l->loop_depth < MOST_LOOPS ? loop_bit(l) * 2 - 1 : UINT64_MAX;
}

static bool
has_default(const vyre_spv *s, uint32_t construct)
{
  for (uint32_t region = s->first[construct]; region; region = s->next[region])
    if (s->imm[region] & VYRE_CASE_DEFAULT)
      return true;
  return false;
}

/* Enters a construct from its end. */
static void
enter_construct(liveness *l, uint32_t row)
{
  const uint32_t depth = l->depth;
  push_frame(l, row);
  if (vyre_spv_failed(l->s))
    return;
  copy(l, set_of(l, depth, AFTER), l->live);
  const vyre_opcode op = vyre_spv_opcode(l->s, row);
  if (op == VYRE_OP_for || op == VYRE_OP_loop)
    begin_loop(l, depth);
  else if (op == VYRE_OP_switch && !has_default(l->s, row))
    copy(l, set_of(l, depth, HEAD), l->live);
  else
    clear(l, set_of(l, depth, HEAD));
}

/* Enters a region from its end: control goes to the end of the construct or, in a loop, to where it continues. */
static void
enter_region(liveness *l, uint32_t row)
{
  const uint32_t around = l->depth - 1, construct = l->frames[around].row;
  const bool is_loop = vyre_row_is_loop(l->s->view, construct);
  push_frame(l, row);
  if (vyre_spv_failed(l->s))
    return;
  copy(l, l->live, set_of(l, around, is_loop ? NEXT : AFTER));
}

/* Leaves the body of a loop by its start, which is the header. */
static void
leave_body(liveness *l, uint32_t row, uint32_t around)
{
  const frame *const f = &l->frames[around];
  const bool is_for = vyre_spv_opcode(l->s, f->row) == VYRE_OP_for;
  uint64_t *const header = l->headers + f->loop * l->words;
  if (is_for)
    add(l, l->live, set_of(l, around, AFTER));
  *back_edges_of(l, l->live) &= ~loop_bit(l);
  l->repeats |= l->is_exact && !is_subset(l, l->live, is_for ? set_of(l, around, NEXT) : header);
  copy(l, header, l->live);
  record_joins(l, row, set_of(l, around, l->loop_depth > MOST_LOOPS ? SETS : ROUND), l->live);
}

/* Leaves a region by its start. */
static void
leave_region(liveness *l, uint32_t row)
{
  const uint32_t depth = --l->depth, around = depth - 1, construct = l->frames[around].row;
  const uint64_t *const sets = set_of(l, depth, SETS);
  const vyre_opcode op = vyre_spv_opcode(l->s, construct);
  add(l, set_of(l, around, SETS), sets);
  if (op == VYRE_OP_switch) {
    uint64_t *const next = set_of(l, around, NEXT);
    if (l->frames[depth].falls) /* an earlier case that falls through to this one may set any of them */
      record_joins(l, l->s->next[row], next, next);
    copy(l, next, l->live);
  }
  if (op != VYRE_OP_for && op != VYRE_OP_loop) {
    add(l, set_of(l, around, HEAD), l->live);
  } else if (row == l->s->first[construct]) {
    if (op == VYRE_OP_loop) /* the joins where it continues */
      record_joins(l, l->s->next[row], sets, set_of(l, around, NEXT));
    leave_body(l, row, around);
  } else { /* the continuing region */
    copy(l, set_of(l, around, NEXT), l->live);
  }
}

/* Leaves a construct by its start. */
static void
leave_construct(liveness *l, uint32_t row)
{
  const uint32_t depth = --l->depth;
  const uint64_t *const sets = set_of(l, depth, SETS);
  if (vyre_row_is_loop(l->s->view, row))
    l->loop_depth--;
  else
    copy(l, l->live, set_of(l, depth, HEAD));
  record_joins(l, row, sets, set_of(l, depth, AFTER));
  add(l, set_of(l, depth - 1, SETS), sets);
}

/* ---- events ---- */

static uint32_t
loop_around(const liveness *l)
{
  uint32_t depth = l->depth - 1;
  while (depth > 0 && !vyre_row_is_loop(l->s->view, l->frames[depth].row))
    depth--;
  return depth;
}

static uint32_t
depth_of(const liveness *l, uint32_t construct)
{
  uint32_t depth = l->depth - 1;
  while (depth > 0 && l->frames[depth].row != construct)
    depth--;
  return depth;
}

/* The vars live before a jump are those live at its target. */
static void
visit_jump(liveness *l, uint32_t row, vyre_opcode op)
{
  switch (op) {
  case VYRE_OP_continue:
    copy(l, l->live, set_of(l, loop_around(l), NEXT));
    return;
  case VYRE_OP_fallthrough:
    l->frames[l->depth - 1].falls = true;
    copy(l, l->live, set_of(l, l->depth - 2, NEXT));
    return;
  case VYRE_OP_break:
  case VYRE_OP_leave:
    copy(l, l->live, set_of(l, op == VYRE_OP_break ? loop_around(l) : depth_of(l, l->s->a[row]), AFTER));
    return;
  case VYRE_OP_breakif:
    add(l, l->live, set_of(l, loop_around(l), AFTER));
    return;
  default: /* a return or a trap */
    clear(l, l->live);
    return;
  }
}

static void
visit_set(liveness *l, uint32_t row)
{
  const uint32_t number = l->s->id[l->s->a[row] - l->s->base];
  const uint64_t bit = UINT64_C(1) << (number & 63);
  l->live[number / 64] &= ~bit;
  set_of(l, l->depth - 1, SETS)[number / 64] |= bit;
  for (uint64_t left = *back_edges_of(l, l->live); left; left &= left - 1)
    set_of(l, l->loops[__builtin_ctzll(left)], ROUND)[number / 64] |= bit;
}

static void
visit(liveness *l, uint32_t event)
{
  const uint32_t row = event & ~VYRE_SPV_ENDS;
  const vyre_opcode op = vyre_spv_opcode(l->s, row);
  switch (op) {
  case VYRE_OP_get: {
    const uint32_t number = l->s->id[l->s->a[row] - l->s->base];
    l->live[number / 64] |= UINT64_C(1) << (number & 63);
    return;
  }
  case VYRE_OP_set:
    visit_set(l, row);
    return;
  case VYRE_OP_region:
  case VYRE_OP_body:
  case VYRE_OP_case:
    (event & VYRE_SPV_ENDS ? enter_region : leave_region)(l, row);
    return;
  case VYRE_OP_if:
  case VYRE_OP_for:
  case VYRE_OP_loop:
  case VYRE_OP_switch:
  case VYRE_OP_block:
    (event & VYRE_SPV_ENDS ? enter_construct : leave_construct)(l, row);
    return;
  default:
    visit_jump(l, row, op);
    return;
  }
}

static void
walk(liveness *l)
{
  const vyre_spv_words *const events = &l->s->events;
  l->s->joins.count = 0;
  vyre_spv_push(l->s, &l->s->joins, 0); /* index 0 means none */
  l->repeats = false;
  l->loop_count = l->loop_depth = l->depth = 0;
  clear(l, l->live);
  push_frame(l, l->s->program);
  for (size_t i = events->count; i-- > 0 && !vyre_spv_failed(l->s);)
    visit(l, events->data[i]);
}

/* ---- the survey's part ---- */

void
vyre_spv_event(vyre_spv *s, uint32_t row)
{
  for (; s->open != s->parent[row]; s->open = s->parent[s->open])
    vyre_spv_push(s, &s->events, s->open | VYRE_SPV_ENDS);
  vyre_spv_push(s, &s->events, row);
  if (vyre_op_flags_of(s->view, row) & (VYRE_OP_REGION | VYRE_OP_REGIONS))
    s->open = row;
}

void
vyre_spv_find_joins(vyre_spv *s)
{
  liveness l = {.s = s, .vars = s->vars.data, .count = (uint32_t)s->vars.count, .words = (s->vars.count + 63) / 64 + 1};
  for (; s->open != s->program; s->open = s->parent[s->open])
    vyre_spv_push(s, &s->events, s->open | VYRE_SPV_ENDS);
  for (uint32_t i = 0; i < l.count; i++)
    s->id[l.vars[i] - s->base] = i;
  l.live = vyre_spv_memory(s, l.words * sizeof *l.live);
  l.headers = vyre_spv_memory(s, (size_t)s->loops * l.words * sizeof *l.headers);
  if (!l.live || !l.headers)
    return;
  memset(l.headers, 0, (size_t)s->loops * l.words * sizeof *l.headers);
  const uint64_t most = MOST_WORK + (uint64_t)s->count * ROW_WORK;
  const uint64_t of_walk = s->events.count + (uint64_t)s->nests * l.words * LIVE_SETS;
  uint64_t work = 0;
  for (l.repeats = true; l.repeats && !vyre_spv_failed(s); work += of_walk) {
    l.is_exact = work < most;
    walk(&l);
  }
}
