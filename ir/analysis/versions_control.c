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
  uint32_t end;     /* the last row in it */
  uint32_t loop;    /* the innermost loop at this row, including the row itself */
  uint32_t lanes;   /* region: the row that is the current state of active lanes */
  uint32_t target;  /* construct: the outermost construct that a jump in it ends, or itself; 0 for the program */
  uint32_t changes; /* the number of changes when the region or its construct began */
  uint32_t first;   /* loop: its first merges, those at its first head, in `merges` */
  uint32_t heads;   /* loop: the number of these merges */
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

static place *
place_of(const versions *k, uint32_t row)
{
  return (place *)k->places.data + versions_class(k, row);
}

/* ---- states of classes --------------------------------------------------------------------------------------------------- */

static merge *
merge_at(const versions *k, uint32_t index)
{
  return (merge *)k->merges.data + index;
}

/* Changes the state of a class in the current region. */
static void
set_state(versions *k, uint32_t klass, uint32_t value)
{
  state *s = versions_state(k, klass);
  change *c = versions_change(k, s->change);
  if (s->change >= k->region_changes && c->run == 0) {
    c->value = value;
    return;
  }
  c = versions_append(k, &k->changes);
  if (!c)
    return;
  *c = (change){klass, value, s->change, k->edges.count, 0};
  s->change = k->changes.count - 1;
}

/* Ends the changes from `first` on, and their runs. */
static void
end_changes(versions *k, uint32_t first)
{
  run *runs = k->runs.data;
  for (uint32_t i = k->changes.count; i-- > first;) {
    const change *c = versions_change(k, i);
    versions_state(k, c->klass)->change = c->before;
    for (uint32_t r = c->run, next; r; r = next) {
      next = runs[r].next;
      runs[r].next = 0;
      runs[r].end = k->edges.count;
    }
  }
  k->changes.count = first;
}

/* Adds an edge. Runs begin with the edge for the states that changed in the construct since its last edge to `to`, and that are
 * used after it. Changes before that edge have runs. O(new runs). */
static void
add_edge(versions *k, uint32_t to, uint32_t from)
{
  edge *e = versions_append(k, &k->edges);
  if (!e)
    return;
  place *p = place_of(k, to);
  const uint32_t number = k->edges.count - 1, first = k->runs.count;
  uint32_t i = k->changes.count;
  while (i > p->changes && versions_change(k, i - 1)->edges > p->last_edge)
    i--;
  for (; i < k->changes.count; i++) {
    change *c = versions_change(k, i);
    run *r = versions_state(k, c->klass)->last_use >= p->used ? versions_append(k, &k->runs) : NULL;
    if (!r)
      continue;
    *r = (run){c->klass, c->value, number, 0, c->run, 0};
    c->run = k->runs.count - 1;
  }
  *e = (edge){from, 0, first, k->runs.count};
  if (p->edge_count++)
    ((edge *)k->edges.data)[p->last_edge].next = number;
  else
    p->first_edge = number;
  p->last_edge = number;
}

static void
add_merge(versions *k, uint32_t row, uint32_t klass)
{
  merge *m = versions_append(k, &k->merges);
  if (!m)
    return;
  state *s = versions_state(k, klass);
  *m = (merge){.row = row, .klass = klass, .before = versions_change(k, s->change)->value};
  s->merge = k->merges.count - 1;
}

/* Appends a run to the list of its merge. */
static void
link_run(const versions *k, merge *m, uint32_t number)
{
  run *runs = k->runs.data;
  uint32_t outer = m->last_run;
  while (runs[outer].end <= runs[number].edge)
    outer = runs[outer].outer;
  runs[number].outer = outer;
  if (m->last_run)
    runs[m->last_run].next = number;
  else
    m->first_run = number;
  m->last_run = number;
}

/* Lists the runs of the edges to the row at the merges there. Those from `first` on were made for the row. Makes the others. */
static void
fill_merges(versions *k, uint32_t row, uint32_t first)
{
  const edge *edges = k->edges.data;
  const run *runs = k->runs.data;
  for (uint32_t e = place_of(k, row)->first_edge; e; e = edges[e].next)
    for (uint32_t i = edges[e].first_run; i < edges[e].end_run; i++) {
      const state *s = versions_state(k, runs[i].klass);
      if (s->merge < first)
        add_merge(k, row, runs[i].klass);
      if (k->out_of_memory)
        return;
      link_run(k, merge_at(k, s->merge), i);
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
      add_edge(w->k, region, row);
  }
  if (!has_default)
    add_edge(w->k, row, row);
}

/* Makes the merges at a loop's first head. Each class that the loop writes and that is used later has one, even if no edge brings a
 * state, because each iteration may end by a jump out of the loop. So rows in the loop never have the version before it. */
static void
open_loop_head(walk *w, frame *loop, uint32_t region)
{
  versions *k = w->k;
  const write_event *events = k->events.data;
  const uint32_t used = place_of(k, region)->used;
  loop->first = k->merges.count;
  for (uint32_t i = w->next_event; i < k->events.count && events[i].row <= loop->end && !k->out_of_memory; i++)
    if (versions_state(k, events[i].klass)->merge < loop->first && versions_state(k, events[i].klass)->last_use >= used)
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
  k->region_changes = k->changes.count;
  if (k->frames.count == 1) {
    w->end = vyre_program_end(w->v, row) - 1;
    *f = (frame){.row = row, .end = w->end, .lanes = row, .changes = k->changes.count};
    return;
  }
  w->end = next ? next - 1 : w->end;
  *f = (frame){.row = row, .end = w->end, .loop = f[-1].loop, .lanes = row, .changes = k->changes.count};
  open_head(w, f - 1, row);
  if (versions_op(k, f[-1].row) == VYRE_OP_for && !k->out_of_memory)
    add_edge(k, f[-1].row, f[-1].row); /* of the test, which sees the states of the head */
}

/* Appends the place of a construct, or of a region that may be a head. */
static void
add_place(versions *k, uint32_t row, uint32_t used)
{
  place *p = versions_append(k, &k->places);
  if (!p)
    return;
  *p = (place){.changes = k->changes.count, .used = used};
  k->classes[row - k->first] = k->places.count - 1;
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
  *f = (frame){.row = row, .end = w->end, .loop = is_loop ? row : f[-1].loop, .target = row, .changes = k->changes.count};
  add_place(k, row, w->end + (f[-1].loop == 0)); /* the next iteration of a loop may use a state */
  const bool is_switch = versions_op(k, row) == VYRE_OP_switch;
  for (uint32_t region = is_loop || is_switch ? v->first[row] : 0; region; region = v->next[region]) /* others have no heads */
    add_place(k, region, region);
  if (k->out_of_memory)
    return;
  if (is_loop)
    add_edge(k, v->first[row], row);
  if (is_switch)
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
    add_edge(k, loop, row);
    note_target(w, loop);
    break;
  case VYRE_OP_continue:
    add_edge(k, v->last[loop], row); /* the body of a `for`, the continuing region of a `loop` */
    note_target(w, loop);
    break;
  case VYRE_OP_breakif:
    add_edge(k, loop, row);
    break;
  case VYRE_OP_leave:
    add_edge(k, v->a[row], row);
    note_target(w, v->a[row]);
    break;
  case VYRE_OP_fallthrough:
    add_edge(k, v->next[v->parent[row]], row);
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
close_region(walk *w, const frame *region)
{
  const vyre_view *v = w->v;
  const uint32_t row = region->row;
  const uint32_t last = v->last[row], op = last ? versions_op(w->k, last) : VYRE_OP_null;
  if ((vyre_op_infos[op].flags & VYRE_OP_ENDS) == 0 || op == VYRE_OP_breakif)
    add_edge(w->k, after_region(v, row), row);
  end_changes(w->k, region->changes);
}

/* Closes a construct that was popped. The top frame is the region that contains it. */
static void
close_construct(walk *w, const frame *construct)
{
  versions *k = w->k;
  const bool is_loop = vyre_row_is_loop(w->v, construct->row);
  k->region_changes = top_frame(w)->changes;
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
      close_region(w, &closed);
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
  const uint32_t version = versions_current(k, versions_class(k, op == VYRE_OP_opaque_read ? row : path));
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
  if ((info->flags & (VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0) {
    if ((info->flags & VYRE_OP_REGION) != 0)
      open_region(w, row);
    else if ((info->flags & VYRE_OP_REGIONS) != 0)
      open_construct(w, row);
    else
      visit_jump(w, row);
  } else if ((info->flags & VYRE_OP_CONVERGENT) == 0) {
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
  vector *const numbered[] = {&k->changes, &k->edges, &k->runs, &k->merges, &k->joins, &k->values}; /* number 0 is unused */
  k->frames.count = k->places.count = k->parts.count = k->users.count = 0;
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered && !k->out_of_memory; i++) {
    numbered[i]->count = 0;
    versions_append(k, numbered[i]);
  }
  if (!k->out_of_memory) {
    *versions_change(k, 0) = (change){.run = 0};
    *(run *)k->runs.data = (run){.end = UINT32_MAX}; /* never ends, so that walks over runs end with it */
  }
  const uint32_t *stops = k->stops, count = k->stop_count;
  for (uint32_t i = 0; i < count && !k->out_of_memory; i++) {
    const uint32_t row = stops[i];
    if (w.end < row)
      close_until(&w, row);
    if (!k->out_of_memory)
      visit(&w, row);
    if (w.next_write == row)
      follow_writes(&w, row);
  }
  close_until(&w, UINT32_MAX);
}
