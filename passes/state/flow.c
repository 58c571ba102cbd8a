/* The flow graph: one walk in program order, from stop to stop, that keeps for each variable the node whose value it has.
 *
 * What a region changes is undone at its end, so that each arm starts from the state in front of the construct.  At each edge the
 * phis of the block that it leads to get the state as it is there.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "flow.h"

#include <string.h>

/* A `set`, in program order. */
typedef struct event {
  uint32_t row, variable;
  uint32_t before; /* index of the last one of this variable; 0: none */
} event;

typedef struct undo {
  uint32_t variable, node;
} undo;

/* An open region or control row. */
typedef struct frame {
  uint32_t row, last; /* the last row in it */
  uint32_t log;       /* region: entries of the log when it was opened */
  uint32_t head;      /* loop: where a trip begins, or is decided on */
  uint32_t next;      /* loop: where `continue` goes */
  uint32_t after;     /* control: behind it */
  uint32_t passed;    /* control: sets in front of it */
  uint32_t loop;      /* the outermost one that holds it or is it; 0: none */
} frame;

typedef struct walk {
  flow *f;
  const vyre_view *v;
  const flow_stops *stops;
  flow_list events, log, frames;
  uint32_t passed; /* sets that the walk has passed */
  uint32_t block;  /* at hand */
} walk;

bool
flow_grow(flow *f, flow_list *list, uint32_t more)
{
  const uint32_t most = UINT32_MAX / 2, twice = list->capacity < most ? list->capacity * 2 : UINT32_MAX, least = 16;
  uint32_t capacity = list->count + more;
  capacity = capacity > twice ? capacity : twice;
  capacity = capacity > least ? capacity : least;
  void *data = list->count <= UINT32_MAX - more ? f->ctx->host->alloc(f->ctx, capacity * list->size) : NULL;
  if (!data) {
    f->out_of_memory = true;
    return false;
  }
  if (list->count)
    memcpy(data, list->data, list->count * list->size);
  list->data = data;
  list->capacity = capacity;
  return true;
}

vyre_status
flow_find_stops(vyre_pass_ctx *ctx, const vyre_view *view, flow_stops *out)
{
  const uint32_t stop = VYRE_OP_READS | VYRE_OP_WRITES | VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS;
  uint32_t *rows = ctx->host->alloc(ctx, sizeof(uint32_t) * view->rows), count = 0;
  if (!rows)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 1; row < view->rows; row++) {
    rows[count] = row;
    count += (vyre_op_flags_of(view, row) & stop) != 0;
  }
  *out = (flow_stops){rows, count};
  return VYRE_OK;
}

static frame *
top(const walk *w)
{
  return FLOW_AT(frame, w->frames, w->frames.count - 1);
}

static frame *
frame_of(const walk *w, uint32_t construct)
{
  frame *f = top(w);
  while (f->row && f->row != construct)
    f--;
  return f;
}

static frame *
loop_around(const walk *w)
{
  frame *f = top(w);
  while (f->row && !vyre_row_is_loop(w->f->v, f->row))
    f--;
  return f;
}

/* ---- blocks, phis, edges ------------------------------------------------------------------------------------------------- */

static uint32_t
new_block(walk *w, uint32_t begin, bool repeats)
{
  flow_block *b = flow_append(w->f, &w->f->blocks);
  if (!b)
    return 0;
  b->begin = begin;
  b->repeats = repeats;
  return w->f->blocks.count - 1;
}

static flow_variable *
variable(const walk *w, uint32_t index)
{
  return FLOW_AT(flow_variable, w->f->variables, index);
}

/* A block with a phi for each variable that the construct writes, if a get can come yet: behind where it stands, or anywhere in the
 * outermost loop around it. */
static uint32_t
new_join(walk *w, uint32_t begin, const frame *construct, uint32_t stands, uint32_t loop)
{
  const uint32_t block = new_block(w, begin, loop != 0), first = w->f->phis.count, behind = loop ? loop : stands;
  for (uint32_t i = construct->passed; i < w->events.count && !w->f->out_of_memory; i++) {
    const event *e = FLOW_AT(event, w->events, i);
    if (e->row > construct->last)
      break;
    if (e->before >= construct->passed || variable(w, e->variable)->last_get < behind)
      continue; /* not the construct's first set of this variable, or nobody asks */
    flow_phi *phi = flow_append(w->f, &w->f->phis);
    if (phi)
      *phi = (flow_phi){e->variable, block};
  }
  if (w->f->out_of_memory)
    return 0;
  FLOW_AT(flow_block, w->f->blocks, block)->phi_first = first;
  FLOW_AT(flow_block, w->f->blocks, block)->phis = w->f->phis.count - first;
  return block;
}

static void
add_edge(walk *w, uint32_t from, uint32_t to, uint32_t label)
{
  flow *f = w->f;
  flow_edge *edge = flow_append(f, &f->edges);
  flow_block *source = FLOW_AT(flow_block, f->blocks, from), *target = FLOW_AT(flow_block, f->blocks, to);
  if (!edge || !flow_reserve(f, &f->sources, target->phis))
    return;
  *edge = (flow_edge){.to = to, .next_in = target->in, .next_out = source->out, .label = label, .sources = f->sources.count};
  source->out = target->in = f->edges.count - 1;
  const flow_phi *phis = FLOW_AT(flow_phi, f->phis, target->phi_first);
  uint32_t *nodes = FLOW_AT(uint32_t, f->sources, f->sources.count);
  for (uint32_t i = 0; i < target->phis; i++)
    nodes[i] = variable(w, phis[i].variable)->node;
  f->sources.count += target->phis;
}

static void
give(walk *w, uint32_t index, uint32_t node)
{
  undo *u = flow_append(w->f, &w->log);
  if (!u)
    return;
  *u = (undo){index, variable(w, index)->node};
  variable(w, index)->node = node;
}

/* From here on rows stand in that block. */
static void
enter(walk *w, uint32_t block)
{
  flow_block *b = FLOW_AT(flow_block, w->f->blocks, block);
  uint32_t *order = flow_append(w->f, &w->f->order);
  if (!order)
    return;
  *order = block;
  b->place = w->f->order.count - 1;
  w->block = block;
  for (uint32_t i = b->phi_first; i < b->phi_first + b->phis; i++)
    give(w, FLOW_AT(flow_phi, w->f->phis, i)->variable, w->f->rows + i);
}

/* The row decides where control goes from the block. */
static void
ends_block(walk *w, uint32_t block, uint32_t row)
{
  FLOW_AT(flow_block, w->f->blocks, block)->decides = row;
  w->f->of[row] = block;
}

/* ---- constructs ---------------------------------------------------------------------------------------------------------- */

static bool
has_default(const walk *w, uint32_t row)
{
  for (uint32_t region = w->v->first[row]; region; region = w->v->next[region])
    if (w->v->imm[region] & VYRE_CASE_DEFAULT || w->v->a[region] == 0)
      return true;
  return false;
}

static void
open_construct(walk *w, uint32_t row)
{
  const uint32_t here = w->block, op = flow_op(w->f, row), around = top(w)->loop;
  const uint32_t loop = around == 0 && vyre_row_is_loop(w->v, row) ? row : around;
  frame own = {.row = row, .last = w->v->end[row], .passed = w->passed + 1, .loop = loop};
  frame *fr = flow_append(w->f, &w->frames);
  if (!fr)
    return;
  own.after = new_join(w, w->v->next[row], &own, own.last, around);
  if (op == VYRE_OP_for) {
    own.head = own.next = new_join(w, 0, &own, row, loop);
    new_block(w, w->v->first[w->v->first[row]], true);
  } else if (op == VYRE_OP_loop) {
    own.head = new_join(w, w->v->first[w->v->first[row]], &own, row, loop);
    own.next = new_join(w, w->v->first[w->v->last[row]], &own, row, loop);
  }
  if (w->f->out_of_memory)
    return;
  *fr = own;
  ends_block(w, here, row);
  FLOW_AT(flow_block, w->f->blocks, own.after)->joins = op == VYRE_OP_if ? row : 0;
  if (own.head)
    add_edge(w, here, own.head, row);
  if (op == VYRE_OP_for)
    FLOW_AT(flow_block, w->f->blocks, own.head)->decides = row;
  if (op == VYRE_OP_switch && !has_default(w, row))
    add_edge(w, here, own.after, row);
}

static bool
is_fallen_into(const walk *w, uint32_t region)
{
  const uint32_t before = w->v->prev[region];
  return flow_op(w->f, region) == VYRE_OP_case && before && flow_op(w->f, w->v->last[before]) == VYRE_OP_fallthrough;
}

/* The block that the region begins; a case that is fallen into has had it since the case before. */
static uint32_t
case_block(walk *w, uint32_t region, const frame *construct)
{
  const uint32_t begin = w->v->first[region];
  if (w->f->of[region] == 0)
    w->f->of[region] = is_fallen_into(w, region) ? new_join(w, begin, construct, region, construct->loop)
                                                 : new_block(w, begin, construct->loop != 0);
  return w->f->of[region];
}

static void
open_region(walk *w, uint32_t region)
{
  const frame construct = *top(w);
  const uint32_t control = construct.row;
  uint32_t block;
  frame *fr = flow_append(w->f, &w->frames);
  if (!fr)
    return;
  *fr = (frame){.row = region, .last = w->v->end[region], .log = w->log.count, .loop = construct.loop};
  switch (flow_op(w->f, control)) {
  case VYRE_OP_for:
    enter(w, construct.head);
    add_edge(w, construct.head, construct.after, control);
    block = construct.head + 1; /* made right behind it: flow_head_of */
    add_edge(w, construct.head, block, region);
    break;
  case VYRE_OP_loop:
    block = region == w->v->first[control] ? construct.head : construct.next;
    break;
  default: /* a program has no control row around it */
    block = case_block(w, region, &construct);
    if (control && !w->f->out_of_memory)
      add_edge(w, w->f->of[control], block, region);
    break;
  }
  if (w->f->out_of_memory)
    return;
  w->f->of[region] = block;
  enter(w, block);
}

/* Where control goes from the end of the region. */
static uint32_t
end_of(const walk *w, const frame *construct, uint32_t region)
{
  switch (flow_op(w->f, construct->row)) {
  case VYRE_OP_for:
    return construct->head;
  case VYRE_OP_loop:
    return region == w->v->first[construct->row] ? construct->next : construct->head;
  default:
    return construct->after;
  }
}

static void
close_until(walk *w, uint32_t row)
{
  while (top(w)->row && top(w)->last < row && !w->f->out_of_memory) {
    const frame closed = *top(w);
    w->frames.count--;
    if (vyre_op_flags_of(w->v, closed.row) & VYRE_OP_REGIONS) {
      enter(w, closed.after);
      continue;
    }
    if (top(w)->row && (w->v->last[closed.row] == 0 || (vyre_op_flags_of(w->v, w->v->last[closed.row]) & VYRE_OP_ENDS) == 0))
      add_edge(w, w->block, end_of(w, top(w), closed.row), 0);
    while (w->log.count > closed.log) {
      const undo *u = FLOW_AT(undo, w->log, --w->log.count);
      variable(w, u->variable)->node = u->node;
    }
  }
}

static void
visit_jump(walk *w, uint32_t row)
{
  const uint32_t here = w->block;
  ends_block(w, here, row);
  switch (flow_op(w->f, row)) {
  case VYRE_OP_break:
    add_edge(w, here, loop_around(w)->after, row);
    break;
  case VYRE_OP_continue:
    add_edge(w, here, loop_around(w)->next, row);
    break;
  case VYRE_OP_leave:
    add_edge(w, here, frame_of(w, w->v->a[row])->after, row);
    break;
  case VYRE_OP_breakif:
    add_edge(w, here, loop_around(w)->after, row);
    add_edge(w, here, loop_around(w)->head, 0);
    break;
  case VYRE_OP_fallthrough: {
    const frame construct = *frame_of(w, w->v->parent[w->v->parent[row]]);
    const uint32_t into = case_block(w, w->v->next[w->v->parent[row]], &construct);
    if (!w->f->out_of_memory)
      add_edge(w, here, into, row);
    break;
  }
  default: /* the invocation ends */
    break;
  }
}

static void
visit(walk *w, uint32_t row)
{
  const uint32_t flags = vyre_op_flags_of(w->v, row);
  if (flags & VYRE_OP_REGION) {
    open_region(w, row);
    return;
  }
  if (flags & VYRE_OP_REGIONS) {
    open_construct(w, row);
    return;
  }
  switch (flow_op(w->f, row)) {
  case VYRE_OP_get:
    w->f->of[row] = variable(w, w->f->of[w->v->a[row]])->node;
    break;
  case VYRE_OP_set:
    w->passed++;
    give(w, w->f->of[w->v->a[row]], row);
    break;
  default:
    if (flags & VYRE_OP_ENDS)
      visit_jump(w, row);
    break;
  }
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------ */

/* The variable of a get or set; NULL: out of memory. */
static flow_variable *
accessed(walk *w, uint32_t row)
{
  const uint32_t var = w->v->a[row];
  if (w->f->of[var])
    return variable(w, w->f->of[var]);
  flow_variable *new = flow_append(w->f, &w->f->variables);
  if (!new)
    return NULL;
  *new = (flow_variable){.row = var, .node = var};
  w->f->of[var] = w->f->variables.count - 1;
  return new;
}

static void
note_accesses(walk *w)
{
  for (uint32_t i = 0; i < w->stops->count; i++) {
    const uint32_t row = w->stops->rows[i], op = flow_op(w->f, row);
    if (op != VYRE_OP_get && op != VYRE_OP_set)
      continue;
    flow_variable *var = accessed(w, row);
    event *e = op == VYRE_OP_set && var ? flow_append(w->f, &w->events) : NULL;
    if (w->f->out_of_memory)
      return;
    if (e) {
      *e = (event){row, w->f->of[var->row], var->last_set};
      var->last_set = w->events.count - 1;
    } else {
      var->last_get = row;
    }
  }
}

static void
follow_control(walk *w)
{
  for (uint32_t i = 0; i < w->stops->count && !w->f->out_of_memory; i++) {
    const uint32_t row = w->stops->rows[i];
    if (top(w)->last < row)
      close_until(w, row);
    if (!w->f->out_of_memory)
      visit(w, row);
  }
  if (!w->f->out_of_memory)
    close_until(w, UINT32_MAX);
}

vyre_status
flow_make(flow *f, vyre_pass_ctx *ctx, const vyre_view *view, const flow_stops *stops)
{
  walk w = {.f = f, .v = view, .stops = stops};
  *f = (flow){.ctx = ctx, .v = view, .rows = view->rows};
  f->blocks.size = sizeof(flow_block);
  f->edges.size = sizeof(flow_edge);
  f->phis.size = sizeof(flow_phi);
  f->variables.size = sizeof(flow_variable);
  f->sources.size = sizeof(uint32_t);
  f->order.size = sizeof(uint32_t);
  w.events.size = sizeof(event);
  w.log.size = sizeof(undo);
  w.frames.size = sizeof(frame);
  f->of = ctx->host->alloc(ctx, sizeof(uint32_t) * f->rows);
  f->out_of_memory = !f->of;
  const struct {
    flow_list *list;
    uint32_t stops; /* for each element, as a rule */
  } lists[] = {{&f->blocks, 2}, {&f->edges, 2}, {&f->order, 2},     {&f->sources, 2},
               {&f->phis, 4},   {&w.events, 3}, {&f->variables, 8}, {&w.frames, 32}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0] && !f->out_of_memory; i++)
    if (flow_reserve(f, lists[i].list, stops->count / lists[i].stops + 1))
      flow_append(f, lists[i].list); /* element 0 */
  if (!f->out_of_memory)
    note_accesses(&w);
  if (!f->out_of_memory)
    follow_control(&w);
  return f->out_of_memory ? ctx->host->out_of_memory(ctx) : VYRE_OK;
}
