/* The state graph: the edges to the exits of constructs and to heads, and the active lanes of each row.
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
  uint32_t jump;   /* the index of the frame of jump[row] */
} frame;

typedef struct walk {
  versions *k;
  const vyre_view *v;
  vector frames;
  vector found; /* edges in program order */
} walk;

static frame *
top_frame(const walk *w)
{
  return (frame *)w->frames.data + (w->frames.count - 1);
}

bool
versions_is_head(const vyre_view *v, uint32_t region)
{
  const uint32_t before = v->prev[region];
  switch (VYRE_ROW_OP(v->op[region])) {
  case VYRE_OP_body:
    return true;
  case VYRE_OP_region:
    return VYRE_ROW_OP(v->op[v->parent[region]]) == VYRE_OP_loop;
  case VYRE_OP_case:
    return before && v->last[before] && VYRE_ROW_OP(v->op[v->last[before]]) == VYRE_OP_fallthrough;
  default:
    return false;
  }
}

static void
add_edge(walk *w, uint32_t to, uint32_t from, uint32_t at)
{
  edge *e = versions_append(w->k, &w->found);
  if (e)
    *e = (edge){to, from, at};
}

static void
open_switch(walk *w, uint32_t row)
{
  const vyre_view *v = w->v;
  bool has_default = false;
  for (uint32_t region = v->first[row]; region; region = v->next[region]) {
    has_default = has_default || (v->imm[region] & VYRE_CASE_DEFAULT) != 0 || v->a[region] == 0;
    if (versions_is_head(v, region))
      add_edge(w, region, row, row);
  }
  if (!has_default)
    add_edge(w, row, row, row);
}

/* Returns the index of the frame that a new top frame jumps to. A walk outward takes jumps that do not go too far, and parents
 * otherwise, in O(log depth) steps: Myers, "An Applicative Random-Access Stack" (1983). */
static uint32_t
jump_of(const walk *w)
{
  const frame *frames = w->frames.data;
  const uint32_t outer = w->frames.count > 1 ? w->frames.count - 2 : 0, near = frames[outer].jump, far = frames[near].jump;
  return outer - near == near - far ? far : outer;
}

static void
open_row(walk *w, uint32_t row)
{
  const vyre_view *v = w->v;
  const uint32_t op = versions_op(w->k, row);
  frame *f = versions_append(w->k, &w->frames);
  if (!f)
    return;
  *f = (frame){row, w->k->ends[row], w->frames.count > 1 ? f[-1].loop : 0, row, row, 0};
  f->jump = jump_of(w);
  w->k->jump[row] = ((const frame *)w->frames.data)[f->jump].row;
  if (vyre_row_is_loop(v, row)) {
    f->loop = row;
    add_edge(w, v->first[row], row, row);
  }
  if (op == VYRE_OP_for)
    add_edge(w, row, row, row);
  if (op == VYRE_OP_switch)
    open_switch(w, row);
}

/* Records that a jump in the top region, or in a construct in it, ends `target`. The construct around the region keeps the
 * outermost target. */
static void
note_target(const walk *w, uint32_t target)
{
  if (w->frames.count > 1 && target < top_frame(w)[-1].target)
    top_frame(w)[-1].target = target;
}

static void
visit_jump(walk *w, uint32_t row)
{
  const vyre_view *v = w->v;
  const uint32_t op = versions_op(w->k, row), loop = top_frame(w)->loop;
  switch (op) {
  case VYRE_OP_return:
  case VYRE_OP_trap:
    note_target(w, 0);
    break;
  case VYRE_OP_break:
    add_edge(w, loop, row, row);
    note_target(w, loop);
    break;
  case VYRE_OP_continue:
    add_edge(w, v->last[loop], row, row); /* the body of a `for`, the continuing region of a `loop` */
    note_target(w, loop);
    break;
  case VYRE_OP_breakif:
    add_edge(w, loop, row, row);
    break;
  case VYRE_OP_leave:
    add_edge(w, v->a[row], row, row);
    note_target(w, v->a[row]);
    break;
  case VYRE_OP_fallthrough:
    add_edge(w, v->next[v->parent[row]], row, row);
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
  const uint32_t last = v->last[region->row], op = last ? versions_op(w->k, last) : VYRE_OP_null;
  if (v->parent[region->row] && ((vyre_op_infos[op].flags & VYRE_OP_ENDS) == 0 || op == VYRE_OP_breakif))
    add_edge(w, after_region(v, region->row), region->row, region->end);
}

/* Closes a construct that was popped. The top frame is the region that contains it. */
static void
close_construct(const walk *w, const frame *construct)
{
  note_target(w, construct->target);
  if (construct->target < construct->row || vyre_row_is_loop(w->v, construct->row))
    top_frame(w)->lanes = construct->row;
}

static void
close_until(walk *w, uint32_t row)
{
  while (w->frames.count && top_frame(w)->end < row && !w->k->out_of_memory) {
    const frame closed = *top_frame(w);
    w->frames.count--;
    if (versions_is_region(w->k, closed.row))
      close_region(w, &closed);
    else
      close_construct(w, &closed);
  }
}

static void
visit(walk *w, uint32_t row)
{
  const uint32_t flags = vyre_op_infos[versions_op(w->k, row)].flags;
  if ((flags & (VYRE_OP_REGION | VYRE_OP_REGIONS)) != 0)
    open_row(w, row);
  else if ((flags & VYRE_OP_ENDS) != 0)
    visit_jump(w, row);
  else if ((flags & VYRE_OP_CONVERGENT) != 0 && vyre_op_has_version(&vyre_op_infos[versions_op(w->k, row)]))
    w->k->out->version[row] = top_frame(w)->lanes;
}

/* Sorts edges by target, then in program order. */
static void
sort_edges(versions *k, const vector *found)
{
  const edge *all = found->data;
  uint32_t first = 0;
  k->edges.count = 0;
  while (k->edges.capacity < found->count)
    if (!versions_grow(k, &k->edges))
      return;
  edge *sorted = k->edges.data;
  for (uint32_t i = 0; i < k->stop_count; i++) /* the stops include all targets of edges: constructs and loop or case heads */
    k->edge_count[k->stops[i]] = 0;
  for (uint32_t i = 0; i < found->count; i++)
    k->edge_count[all[i].to]++;
  for (uint32_t i = 0; i < k->stop_count; i++) {
    const uint32_t row = k->stops[i];
    k->edge_first[row] = first;
    first += k->edge_count[row];
    k->edge_count[row] = 0;
  }
  for (uint32_t i = 0; i < found->count; i++)
    sorted[k->edge_first[all[i].to] + k->edge_count[all[i].to]++] = all[i];
}

/* The rows in a row follow it. */
static void
find_ends(versions *k)
{
  const vyre_view *v = k->view;
  for (uint32_t i = k->stop_count; i-- > 0;) {
    const uint32_t row = k->stops[i], last = v->last[row];
    k->ends[row] = last == 0 ? row : v->last[last] == 0 ? last : k->ends[last];
  }
}

void
versions_follow_control(versions *k)
{
  find_ends(k);
  walk w = {.k = k, .v = k->view, .frames = k->frames, .found = k->found};
  w.frames.count = w.found.count = 0;
  for (uint32_t i = 0; i < k->stop_count && !k->out_of_memory; i++) {
    if (w.frames.count && top_frame(&w)->end < k->stops[i])
      close_until(&w, k->stops[i]);
    if (!k->out_of_memory)
      visit(&w, k->stops[i]);
  }
  close_until(&w, UINT32_MAX);
  if (!k->out_of_memory)
    sort_edges(k, &w.found);
  k->frames = w.frames; /* their memory is reused for the next program */
  k->found = w.found;
}
