/* The state graph: the walk over control, which finds edges, merges of states, versions of reads, and the active lanes of each row.
 *
 * The set of active lanes is a state, which subgroup rows see. Each region begins with a new state, its own row. After an `if`,
 * `switch` or `block` the state before it holds again, because the lanes have reconverged. But after a loop, or if a jump in the
 * construct leaves more than the construct, it is a new state: the construct's row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

/* An open construct or region. */
typedef struct frame {
  uint32_t row;
  uint32_t end;    /* the last row in it */
  uint32_t loop;   /* the innermost loop at this row, including the row itself */
  uint32_t lanes;  /* region: the row that is the current state of active lanes */
  uint32_t target; /* construct: the outermost construct that a jump in it ends, or itself; 0 for the program */
  uint32_t first;  /* loop: its first merges, those at its first head, in `merges` */
  uint32_t heads;  /* loop: the number of these merges */
} frame;

typedef struct walk {
  versions *k;
  const vyre_view *v;
  uint32_t next_event; /* index of the first write after the current row */
  uint32_t next_write; /* its row, or UINT32_MAX */
  uint32_t end;        /* the last row in the top frame */
} walk;

static frame *
top_frame(const walk *w)
{
  return (frame *)w->k->frames.data + (w->k->frames.count - 1);
}

/* ---- states of classes --------------------------------------------------------------------------------------------------- */

static merge *
merge_at(const versions *k, uint32_t index)
{
  return (merge *)k->merges.data + index;
}

/* Changes the state of a class in the current region, at whose end the state before it is restored. */
static void
set_state(versions *k, uint32_t klass, uint32_t value)
{
  state *s = versions_state(k, klass);
  if (s->saved <= k->region_mark) {
    saved_state *saved = versions_append(k, &k->saved);
    if (!saved)
      return;
    *saved = (saved_state){klass, s->value, s->saved};
    s->saved = k->saved.count;
  }
  s->value = value;
}

/* Restores the states before the current region, which began with `mark` saved states. */
static void
restore_states(versions *k, uint32_t mark)
{
  const saved_state *saved = k->saved.data;
  for (uint32_t i = k->saved.count; i-- > mark;) {
    state *s = versions_state(k, saved[i].klass);
    s->value = saved[i].value;
    s->saved = saved[i].saved;
  }
  k->saved.count = mark;
}

/* Adds an edge, which brings the states that changed since the construct `since`, or a region of it, began, and that are used after
 * the edge. */
static void
add_edge(versions *k, uint32_t to, uint32_t from, uint32_t since)
{
  edge *e = versions_append(k, &k->edges);
  if (!e)
    return;
  const uint32_t number = k->edges.count - 1, first = k->brought.count;
  for (uint32_t i = k->mark[since]; i < k->saved.count; i++) {
    const uint32_t klass = ((const saved_state *)k->saved.data)[i].klass;
    state *s = versions_state(k, klass);
    brought_state *b = s->stamp != number && s->last_use >= k->used[to] ? versions_append(k, &k->brought) : NULL;
    s->stamp = number;
    if (b)
      *b = (brought_state){klass, s->value, number, 0};
  }
  *e = (edge){from, 0, first, k->brought.count};
  if (k->edge_count[to]++)
    ((edge *)k->edges.data)[k->edge_last[to]].next = number;
  else
    k->edge_first[to] = number;
  k->edge_last[to] = number;
}

static void
add_merge(versions *k, uint32_t row, uint32_t klass)
{
  merge *m = versions_append(k, &k->merges);
  if (!m)
    return;
  *m = (merge){.row = row, .klass = klass, .before = versions_state(k, klass)->value};
  versions_state(k, klass)->merge = k->merges.count - 1;
  k->joins_at[row] = 0;
}

/* Lists what the edges to the row bring, at the merges there. Those from `first` on were made for the row. Makes the others. */
static void
fill_merges(versions *k, uint32_t row, uint32_t first)
{
  const edge *edges = k->edges.data;
  for (uint32_t e = k->edge_first[row]; e && !k->out_of_memory; e = edges[e].next)
    for (uint32_t i = edges[e].first; i < edges[e].end && !k->out_of_memory; i++) {
      brought_state *brought = k->brought.data;
      const state *s = versions_state(k, brought[i].klass);
      if (s->merge < first)
        add_merge(k, row, brought[i].klass);
      if (k->out_of_memory)
        return;
      merge *m = merge_at(k, s->merge);
      if (m->last)
        brought[m->last].next = i;
      else
        m->first = i;
      m->last = i;
    }
}

/* The merges from `first` to the last one become the current states of their classes. */
static void
set_merges(versions *k, uint32_t first)
{
  for (uint32_t i = first, end = k->merges.count; i < end && !k->out_of_memory; i++)
    set_state(k, merge_at(k, i)->klass, VYRE_JOIN | i);
}

/* ---- control ------------------------------------------------------------------------------------------------------------- */

/* Returns whether control can enter the case other than from before its `switch`. */
static bool
is_case_head(const vyre_view *v, uint32_t region)
{
  const uint32_t before = v->prev[region];
  return before && v->last[before] && VYRE_ROW_OP(v->op[v->last[before]]) == VYRE_OP_fallthrough;
}

static void
open_switch(walk *w, uint32_t row)
{
  const vyre_view *v = w->v;
  bool has_default = false;
  for (uint32_t region = v->first[row]; region; region = v->next[region]) {
    has_default = has_default || (v->imm[region] & VYRE_CASE_DEFAULT) != 0 || v->a[region] == 0;
    if (is_case_head(v, region))
      add_edge(w->k, region, row, row);
  }
  if (!has_default)
    add_edge(w->k, row, row, row);
}

/* Makes the merges at a loop's first head. Each class that the loop writes and that is used later has one, even if no edge brings a
 * state, because each iteration may end by a jump out of the loop. So rows in the loop never have the version before it. */
static void
open_loop_head(walk *w, frame *loop, uint32_t region)
{
  versions *k = w->k;
  const write_event *events = k->events.data;
  loop->first = k->merges.count;
  for (uint32_t i = w->next_event; i < k->events.count && events[i].row <= loop->end && !k->out_of_memory; i++)
    if (versions_state(k, events[i].klass)->merge < loop->first && versions_state(k, events[i].klass)->last_use >= k->used[region])
      add_merge(k, region, events[i].klass);
  loop->heads = k->merges.count - loop->first;
}

/* Makes the merges of a region that is a head. Only the edges to a loop's first head are not known yet. */
static void
open_head(walk *w, frame *construct, uint32_t region)
{
  versions *k = w->k;
  const uint32_t first = k->merges.count;
  if (!vyre_row_is_loop(w->v, construct->row)) {
    if (w->v->prev[region] && is_case_head(w->v, region))
      fill_merges(k, region, first);
  } else if (w->v->prev[region] == 0) {
    open_loop_head(w, construct, region);
  } else {
    for (uint32_t i = 0; i < construct->heads && !k->out_of_memory; i++)
      add_merge(k, region, merge_at(k, construct->first + i)->klass);
    if (!k->out_of_memory)
      fill_merges(k, region, first);
  }
  set_merges(k, first);
}

/* Opens a region. The top frame is its construct, or there is none if the region is a program. */
static void
open_region(walk *w, uint32_t row)
{
  versions *k = w->k;
  frame *f = versions_append(k, &k->frames);
  if (!f)
    return;
  const uint32_t next = w->v->next[row];
  k->mark[row] = k->region_mark = k->saved.count;
  if (k->frames.count == 1) {
    w->end = vyre_program_end(w->v, row) - 1;
    *f = (frame){.row = row, .end = w->end, .lanes = row};
    return;
  }
  w->end = next ? next - 1 : w->end;
  *f = (frame){.row = row, .end = w->end, .loop = f[-1].loop, .lanes = row};
  open_head(w, f - 1, row);
  if (versions_op(k, f[-1].row) == VYRE_OP_for && !k->out_of_memory)
    add_edge(k, f[-1].row, f[-1].row, row); /* of the test, which sees the states of the head */
}

static void
open_construct(walk *w, uint32_t row)
{
  versions *k = w->k;
  const vyre_view *v = w->v;
  frame *f = versions_append(k, &k->frames);
  if (!f)
    return;
  const bool is_loop = vyre_row_is_loop(v, row);
  w->end = v->next[row] ? v->next[row] - 1 : w->end;
  *f = (frame){.row = row, .end = w->end, .loop = is_loop ? row : f[-1].loop, .target = row};
  k->mark[row] = k->saved.count;
  k->edge_first[row] = k->edge_count[row] = 0;
  k->used[row] = w->end + (f[-1].loop == 0); /* the next iteration of a loop may use a state */
  for (uint32_t region = v->first[row]; region; region = v->next[region]) {
    k->edge_first[region] = k->edge_count[region] = 0;
    k->used[region] = region;
  }
  if (is_loop)
    add_edge(k, v->first[row], row, row);
  if (versions_op(k, row) == VYRE_OP_switch)
    open_switch(w, row);
}

/* Records that a jump in the top region, or in a construct in it, ends `target`. The construct around the region keeps the
 * outermost target. */
static void
note_target(const walk *w, uint32_t target)
{
  if (w->k->frames.count > 1 && target < top_frame(w)[-1].target)
    top_frame(w)[-1].target = target;
}

static void
visit_jump(walk *w, uint32_t row)
{
  const vyre_view *v = w->v;
  versions *k = w->k;
  const uint32_t op = versions_op(k, row), loop = top_frame(w)->loop;
  switch (op) {
  case VYRE_OP_return:
  case VYRE_OP_trap:
    note_target(w, 0);
    break;
  case VYRE_OP_break:
    add_edge(k, loop, row, loop);
    note_target(w, loop);
    break;
  case VYRE_OP_continue:
    add_edge(k, v->last[loop], row, loop); /* the body of a `for`, the continuing region of a `loop` */
    note_target(w, loop);
    break;
  case VYRE_OP_breakif:
    add_edge(k, loop, row, loop);
    break;
  case VYRE_OP_leave:
    add_edge(k, v->a[row], row, v->a[row]);
    note_target(w, v->a[row]);
    break;
  case VYRE_OP_fallthrough:
    add_edge(k, v->next[v->parent[row]], row, v->parent[row]);
    break;
  default:
    break;
  }
}

/* Returns the construct or region that control enters at the end of the region. */
static uint32_t
after_region(const vyre_view *v, uint32_t region)
{
  const uint32_t construct = v->parent[region];
  if (!vyre_row_is_loop(v, construct))
    return construct;
  return v->next[region] ? v->next[region] : v->first[construct];
}

static void
close_region(walk *w, uint32_t row)
{
  const vyre_view *v = w->v;
  const uint32_t last = v->last[row], op = last ? versions_op(w->k, last) : VYRE_OP_null;
  if ((vyre_op_infos[op].flags & VYRE_OP_ENDS) == 0 || op == VYRE_OP_breakif)
    add_edge(w->k, after_region(v, row), row, row);
  restore_states(w->k, w->k->mark[row]);
}

/* Closes a construct that was popped. The top frame is the region that contains it. */
static void
close_construct(walk *w, const frame *construct)
{
  versions *k = w->k;
  const bool is_loop = vyre_row_is_loop(w->v, construct->row);
  k->region_mark = k->mark[top_frame(w)->row];
  note_target(w, construct->target);
  if (construct->target < construct->row || is_loop)
    top_frame(w)->lanes = construct->row;
  for (uint32_t i = 0; is_loop && i < construct->heads; i++)
    versions_state(k, merge_at(k, construct->first + i)->klass)->merge = construct->first + i;
  if (is_loop)
    fill_merges(k, w->v->first[construct->row], construct->first);
  const uint32_t first = k->merges.count;
  fill_merges(k, construct->row, first);
  set_merges(k, first);
}

/* Closes the constructs and regions that end before the row. The program stays open. */
static void
close_until(walk *w, uint32_t row)
{
  while (w->k->frames.count > 1 && w->end < row && !w->k->out_of_memory) {
    const frame closed = *top_frame(w);
    w->k->frames.count--;
    w->end = top_frame(w)->end;
    if (versions_is_region(w->k, closed.row))
      close_region(w, closed.row);
    else
      close_construct(w, &closed);
  }
}

/* Changes the states that the row writes. */
static void
follow_writes(walk *w, uint32_t row)
{
  versions *k = w->k;
  const write_event *events = k->events.data;
  while (w->next_write == row) {
    set_state(k, events[w->next_event].klass, row);
    w->next_write = ++w->next_event < k->events.count ? events[w->next_event].row : UINT32_MAX;
  }
}

/* ---- reads --------------------------------------------------------------------------------------------------------------- */

/* Finds the version of a read. For a write of memory, finds the version of its class before it. */
static void
find_version(versions *k, uint32_t row, uint32_t op)
{
  const uint32_t path = vyre_buffer_of(k->view, k->view->a[row]);
  if (op == VYRE_OP_load && versions_is_handle(k, path)) { /* nothing writes a handle itself */
    k->out->version[row] = path;
    return;
  }
  const uint32_t version = versions_current(k, op == VYRE_OP_opaque_read ? k->class_of[row] : k->class_of[path]);
  k->out->version[row] = version;
  uint32_t *user = (version & VYRE_JOIN) != 0 ? versions_append(k, &k->users) : NULL;
  if (user)
    *user = row;
}

static void
visit(walk *w, uint32_t row)
{
  versions *k = w->k;
  const uint32_t op = versions_op(k, row);
  const vyre_op_info *info = &vyre_op_infos[op];
  if ((info->flags & VYRE_OP_REGION) != 0)
    open_region(w, row);
  else if ((info->flags & VYRE_OP_REGIONS) != 0)
    open_construct(w, row);
  else if ((info->flags & VYRE_OP_ENDS) != 0)
    visit_jump(w, row);
  else if ((info->flags & VYRE_OP_CONVERGENT) == 0) {
    if (vyre_op_has_version(info) || op == VYRE_OP_store || op == VYRE_OP_copy || (vyre_op_is_atomic(op) && w->v->a[row] != 0))
      find_version(k, row, op);
  } else if (vyre_op_has_version(info))
    k->out->version[row] = top_frame(w)->lanes;
}

void
versions_follow_control(versions *k)
{
  walk w = {.k = k,
            .v = k->view,
            .end = UINT32_MAX,
            .next_write = k->events.count ? ((const write_event *)k->events.data)->row : UINT32_MAX};
  vector *const numbered[] = {&k->edges, &k->brought, &k->merges, &k->joins}; /* number 0 is unused */
  k->frames.count = k->saved.count = k->parts.count = k->users.count = 0;
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
    numbered[i]->count = 0;
    versions_append(k, numbered[i]);
  }
  for (uint32_t i = 0; i < k->stop_count && !k->out_of_memory; i++) {
    const uint32_t row = k->stops[i];
    if (w.end < row)
      close_until(&w, row);
    if (!k->out_of_memory)
      visit(&w, row);
    if (w.next_write == row)
      follow_writes(&w, row);
  }
  close_until(&w, UINT32_MAX);
}
