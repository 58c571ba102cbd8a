/* Finds where the vars of a program may need phis, before the program is written.
 *
 * A var may need a phi after a construct that sets it, if the var is live there: a `get` may follow before the next `set`.  It may
 * need one at a loop's header if it is live there, and a `set` may lead to the back edge.  The walk that writes the program then
 * carries the values (phis.c), and leaves out phis whose values are equal.
 *
 * The survey lists the events.  One walk over the events, from last to first, has a bit by var.  At the start of an outermost loop
 * it returns to the loop's end if a header has live vars that its back edge did not include.  That is at most once more than loops
 * are nested.  If that takes more than MOST_WORK, all vars are assumed.
 * Source: Kam and Ullman, "Global Data Flow Analysis and Iterative Algorithms", 1976.
 *
 * The same walk finds which sets may lead to a back edge.  "Control may reach the back edge of this loop" flows backward like
 * liveness, from the back edge, so it is a bit of the same sets.
 *
 * Cost: events, and constructs * vars / 64, for each walk.  Most programs have at most 64 vars, so the walk is compiled a second
 * time for their size of a set.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"

#include "vyre/view.h"

/* The sets of vars of an open construct. */
enum {
  SETS,  /* that it sets; of a `loop`, that the current region sets */
  AFTER, /* live after it */
  HEAD,  /* live where it branches: at the start of any arm or case */
  NEXT,  /* a loop: live at its continue target; a switch: live at the start of the following case */
  ROUND, /* a loop: set on a path to its back edge */
  LATER, /* a `loop`: that its continuing region sets */
  LIVE_SETS
};

enum { MOST_WORK = 1 << 24, ROW_WORK = 64 }; /* events and words of sets that are visited, and more for each row of the program */

enum { MOST_LOOPS = 64 }; /* nested loops with a bit in a set; deeper ones count all of their sets as ROUND */

enum { SMALL_WORDS = 2 }; /* of a set, if there are at most 64 vars */

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* An open construct, or in the first frame the program. */
typedef struct frame {
  uint32_t row;
  vyre_opcode op;
  uint32_t loop; /* its number, in the order of the walk */
  bool falls;    /* the case being visited falls through to the following one */
} frame;

/* The functions have the number of words as a parameter, so that it is a constant in the walk for SMALL_WORDS. */
typedef struct liveness {
  vyre_spv *s;
  size_t words; /* of a set: bits of vars, and a last word with a bit by loop depth: control may reach its back edge */
  frame *frames;
  uint64_t *sets; /* by frame: LIVE_SETS sets */
  uint64_t *top;  /* the sets of the innermost frame */
  frame *inner;   /* the innermost frame */
  uint64_t *live;
  uint64_t *headers;   /* by loop: live at its header */
  uint32_t loop_count; /* so far */
  uint32_t loop_depth;
  uint64_t *rounds[MOST_LOOPS]; /* by loop depth: the loop's ROUND */
  size_t outer_event;           /* the end of the outermost loop */
  size_t outer_joins;           /* number of words in `joins` there */
  uint64_t work;
  bool is_exact; /* otherwise all vars count as live at back edges */
  bool repeats;  /* the assumption about a back edge was too small */
} liveness;

/* Returns a set of the innermost frame. */
static ALWAYS_INLINE uint64_t *
set_of(const liveness *l, uint32_t which, size_t words)
{
  return l->top + which * words;
}

/* Returns a set of an open frame. */
static ALWAYS_INLINE uint64_t *
set_at(const liveness *l, const frame *f, uint32_t which, size_t words)
{
  return l->sets + ((size_t)(f - l->frames) * LIVE_SETS + which) * words;
}

/* Returns the bit of the innermost loop in the last word of a set, or 0 if it is nested deeper than MOST_LOOPS. */
static uint64_t
loop_bit(const liveness *l)
{
  return l->loop_depth <= MOST_LOOPS ? UINT64_C(1) << (l->loop_depth - 1) : 0;
}

static ALWAYS_INLINE void
copy(uint64_t *to, const uint64_t *from, size_t words)
{
  for (size_t i = 0; i < words; i++)
    to[i] = from[i];
}

static ALWAYS_INLINE void
clear(uint64_t *to, size_t words)
{
  for (size_t i = 0; i < words; i++)
    to[i] = 0;
}

static ALWAYS_INLINE void
add(uint64_t *to, const uint64_t *from, size_t words)
{
  for (size_t i = 0; i < words; i++)
    to[i] |= from[i];
}

static void
fill(const liveness *l, uint64_t *to)
{
  clear(to, l->words);
  for (size_t i = 0; i < l->s->vars.count; i++)
    to[i / 64] |= UINT64_C(1) << (i & 63);
}

static ALWAYS_INLINE bool
is_subset(const uint64_t *part, const uint64_t *whole, size_t words)
{
  uint64_t more = 0;
  for (size_t i = 0; i < words; i++)
    more |= part[i] & ~whole[i];
  return more == 0;
}

/* ---- joins ---- */

/* Appends the joins at a construct or a region: the vars in both sets. */
static void
append_joins(vyre_spv *s, uint32_t row, const uint64_t *a, const uint64_t *b, size_t words)
{
  uint32_t *const joins = vyre_spv_reserve(s, &s->joins, 2 + s->vars.count);
  uint32_t count = 0;
  if (!joins)
    return;
  for (size_t i = 0; i < words - 1; i++)
    for (uint64_t left = a[i] & b[i]; left; left &= left - 1)
      joins[2 + count++] = s->vars.data[i * 64 + (uint32_t)__builtin_ctzll(left)];
  joins[0] = row;
  joins[1] = count;
  s->joins.count -= s->vars.count - count;
}

static ALWAYS_INLINE void
record_joins(liveness *l, uint32_t row, const uint64_t *a, const uint64_t *b, size_t words)
{
  uint64_t any = 0;
  for (size_t i = 0; i < words - 1; i++)
    any |= a[i] & b[i];
  if (any)
    append_joins(l->s, row, a, b, words);
}

/* ---- starts and ends ---- */

static ALWAYS_INLINE void
begin_loop(liveness *l, size_t event, size_t words)
{
  frame *const f = l->inner;
  uint64_t *const next = set_of(l, NEXT, words);
  f->loop = l->loop_count++;
  if (l->loop_depth == 0) {
    l->outer_event = event;
    l->outer_joins = l->s->joins.count;
  }
  clear(set_of(l, ROUND, words), words);
  clear(set_of(l, LATER, words), words);
  if (l->is_exact)
    copy(next, l->headers + f->loop * words, words);
  else
    fill(l, next);
  if (f->op == VYRE_OP_for) /* the header has an edge out of the loop */
    add(next, l->live, words);
  if (l->loop_depth < MOST_LOOPS)
    l->rounds[l->loop_depth] = set_of(l, ROUND, words);
  l->loop_depth++;
  if (l->is_exact)
    next[words - 1] |= l->live[words - 1] | loop_bit(l);
  else
    next[words - 1] = l->loop_depth < MOST_LOOPS ? loop_bit(l) * 2 - 1 : UINT64_MAX;
}

static bool
has_default(const vyre_spv *s, uint32_t construct)
{
  for (uint32_t region = s->first[construct]; region; region = s->next[region])
    if (s->imm[region] & VYRE_CASE_DEFAULT)
      return true;
  return false;
}

static bool
is_loop(const frame *f)
{
  return f->op == VYRE_OP_for || f->op == VYRE_OP_loop;
}

/* Enters a construct from its end. */
static ALWAYS_INLINE void
enter_construct(liveness *l, uint32_t row, size_t event, size_t words)
{
  frame *const f = ++l->inner;
  l->top += LIVE_SETS * words;
  *f = (frame){.row = row, .op = vyre_spv_opcode(l->s, row)};
  l->work += LIVE_SETS * words;
  clear(set_of(l, SETS, words), words);
  clear(set_of(l, HEAD, words), words);
  copy(set_of(l, AFTER, words), l->live, words);
  if (is_loop(f)) {
    begin_loop(l, event, words);
  } else if (f->op == VYRE_OP_switch) {
    copy(set_of(l, NEXT, words), l->live, words);
    if (!has_default(l->s, row))
      copy(set_of(l, HEAD, words), l->live, words);
  }
}

/* Enters a region from its end: control goes to the end of the construct or, in a loop, to where it continues. */
static ALWAYS_INLINE void
enter_region(liveness *l, size_t words)
{
  frame *const f = l->inner;
  f->falls = false;
  copy(l->live, set_of(l, is_loop(f) ? NEXT : AFTER, words), words);
}

/* Leaves a region of a loop by its start.  That of the body is the header. */
static ALWAYS_INLINE void
leave_loop_region(liveness *l, uint32_t row, size_t words)
{
  const frame *const f = l->inner;
  const bool is_for = f->op == VYRE_OP_for;
  uint64_t *const sets = set_of(l, SETS, words), *const next = set_of(l, NEXT, words);
  uint64_t *const later = set_of(l, LATER, words), *const header = l->headers + f->loop * words;
  if (row != l->s->first[f->row]) { /* the continuing region */
    copy(next, l->live, words);
    copy(later, sets, words);
    clear(sets, words);
    return;
  }
  if (is_for)
    add(l->live, set_of(l, AFTER, words), words);
  else /* the joins where it continues */
    record_joins(l, l->s->next[row], sets, next, words);
  add(sets, later, words);
  l->live[words - 1] &= ~loop_bit(l);
  l->repeats |= l->is_exact && !is_subset(l->live, is_for ? next : header, words);
  copy(header, l->live, words);
  record_joins(l, row, l->loop_depth > MOST_LOOPS ? sets : set_of(l, ROUND, words), l->live, words);
}

/* Leaves a region by its start. */
static ALWAYS_INLINE void
leave_region(liveness *l, uint32_t row, size_t words)
{
  const frame *const f = l->inner;
  if (is_loop(f)) {
    leave_loop_region(l, row, words);
    return;
  }
  if (f->op == VYRE_OP_switch) {
    uint64_t *const next = set_of(l, NEXT, words);
    if (f->falls) /* an earlier case that falls through to this one may set any of them */
      record_joins(l, l->s->next[row], next, next, words);
    copy(next, l->live, words);
  }
  add(set_of(l, HEAD, words), l->live, words);
}

/* Leaves a construct by its start. */
static ALWAYS_INLINE void
leave_construct(liveness *l, uint32_t row, size_t words)
{
  const uint64_t *const sets = set_of(l, SETS, words);
  if (is_loop(l->inner))
    l->loop_depth--;
  else
    copy(l->live, set_of(l, HEAD, words), words);
  record_joins(l, row, sets, set_of(l, AFTER, words), words);
  l->inner--;
  l->top -= LIVE_SETS * words;
  add(set_of(l, SETS, words), sets, words);
}

/* ---- events ---- */

static const frame *
loop_around(const liveness *l)
{
  const frame *f = l->inner;
  while (f > l->frames && !is_loop(f))
    f--;
  return f;
}

static const frame *
frame_of(const liveness *l, uint32_t construct)
{
  const frame *f = l->inner;
  while (f > l->frames && f->row != construct)
    f--;
  return f;
}

/* The vars live before a jump are those live at its target. */
static ALWAYS_INLINE void
visit_jump(liveness *l, uint32_t row, size_t words)
{
  switch (vyre_spv_opcode(l->s, row)) {
  case VYRE_OP_continue:
    copy(l->live, set_at(l, loop_around(l), NEXT, words), words);
    return;
  case VYRE_OP_fallthrough:
    l->inner->falls = true;
    copy(l->live, set_of(l, NEXT, words), words);
    return;
  case VYRE_OP_break:
    copy(l->live, set_at(l, loop_around(l), AFTER, words), words);
    return;
  case VYRE_OP_leave:
    copy(l->live, set_at(l, frame_of(l, l->s->a[row]), AFTER, words), words);
    return;
  case VYRE_OP_breakif:
    add(l->live, set_at(l, loop_around(l), AFTER, words), words);
    return;
  default: /* a return or a trap */
    clear(l->live, words);
    return;
  }
}

static ALWAYS_INLINE void
visit_set(liveness *l, uint32_t var, size_t words)
{
  const uint64_t bit = UINT64_C(1) << (var & 63);
  l->live[var / 64] &= ~bit;
  set_of(l, SETS, words)[var / 64] |= bit;
  for (uint64_t left = l->live[words - 1]; left; left &= left - 1)
    l->rounds[__builtin_ctzll(left)][var / 64] |= bit;
}

/* At the start of an outermost loop: returns to its end if the assumption about a back edge was too small. */
static ALWAYS_INLINE bool
return_to_end(liveness *l, size_t *event, size_t words)
{
  if (!l->repeats || l->loop_depth != 1 || !is_loop(l->inner))
    return false;
  copy(l->live, set_of(l, AFTER, words), words);
  l->loop_count = (l->inner--)->loop;
  l->top -= LIVE_SETS * words;
  l->loop_depth = 0;
  l->work += l->outer_event + 1 - *event;
  l->is_exact = l->work < MOST_WORK + (uint64_t)l->s->count * ROW_WORK;
  l->repeats = false;
  l->s->joins.count = l->outer_joins;
  *event = l->outer_event + 1;
  return true;
}

/* Visits the events from last to first. */
static ALWAYS_INLINE void
walk(liveness *l, size_t words)
{
  const uint32_t *const events = l->s->events.data;
  for (size_t i = l->s->events.count; i-- > 0;) {
    const uint32_t what = events[i] / VYRE_SPV_EVENTS; /* a row, or the number of a var */
    switch (events[i] % VYRE_SPV_EVENTS) {
    case VYRE_SPV_GETS:
      l->live[what / 64] |= UINT64_C(1) << (what & 63);
      break;
    case VYRE_SPV_SETS:
      visit_set(l, what, words);
      break;
    case VYRE_SPV_JUMPS:
      visit_jump(l, what, words);
      break;
    case VYRE_SPV_BEGINS_REGION:
      leave_region(l, what, words);
      break;
    case VYRE_SPV_ENDS_REGION:
      enter_region(l, words);
      break;
    case VYRE_SPV_BEGINS:
      if (!return_to_end(l, &i, words))
        leave_construct(l, what, words);
      break;
    default: /* VYRE_SPV_ENDS */
      enter_construct(l, what, i, words);
      break;
    }
  }
}

void
vyre_spv_find_joins(vyre_spv *s)
{
  liveness l = {.s = s, .words = (s->vars.count + 63) / 64 + 1, .work = s->events.count, .is_exact = true};
  const size_t depths = s->deepest + 1, headers = s->loops * l.words;
  l.frames = vyre_spv_memory(s, depths * sizeof *l.frames);
  l.sets = vyre_spv_memory(s, depths * LIVE_SETS * l.words * sizeof *l.sets);
  l.live = vyre_spv_memory(s, l.words * sizeof *l.live);
  l.headers = vyre_spv_memory(s, headers * sizeof *l.headers);
  s->joins.count = 0;
  vyre_spv_push(s, &s->joins, 0); /* index 0 means none */
  if (!l.frames || !l.sets || !l.live || !l.headers)
    return;
  l.inner = l.frames;
  l.top = l.sets;
  l.frames[0] = (frame){.row = s->program, .op = vyre_spv_opcode(s, s->program)};
  clear(l.sets, LIVE_SETS * l.words);
  clear(l.live, l.words);
  clear(l.headers, headers);
  if (l.words == SMALL_WORDS)
    walk(&l, SMALL_WORDS);
  else
    walk(&l, l.words);
}
