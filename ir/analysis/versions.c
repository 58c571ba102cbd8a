/* Versions: which reads see the same state.  What a version is stands in docs/ir.md, "Versions".
 *
 * Each program is walked twice in program order.  The first walk (versions_classes.c) gives every var and buffer its alias class
 * and lists the writes; the second keeps, by class, the row whose state is current.  What a region changes is logged once and
 * undone at its end, so that each arm starts from the state before the construct; what was undone is what the construct writes, and
 * gets its row as join behind it.  A head (body, continuing region, case that can be fallen into) needs what the construct will
 * write beforehand: the listed writes within it.  The second walk stops only at rows that read, write, hold rows or jump.
 *
 * Which lanes are active is a class too, which subgroup rows read.  Each region begins with a state of it.  Behind a construct it
 * is the state in front again, for lanes meet there; but not behind a loop, nor where a jump leads out of the construct.
 *
 * O(rows), and at each construct what is written in it: rows times nesting.  48 bytes a write and a class beside 8 bytes a row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include <string.h>

/* ---- second walk: what is current ---------------------------------------------------------------------------------------- */

static frame *
top(const versions *k)
{
  return (frame *)k->frames.data + (k->frames.count - 1);
}

/* From here on the class's state is `row`'s. */
static void
write_class(versions *k, uint32_t klass, uint32_t row)
{
  state *s = state_of(k, klass);
  if (s->time <= top(k)->time) { /* the region's first change of it */
    undo *u = versions_append(k, &k->log);
    if (!u)
      return;
    *u = (undo){klass, s->row, s->time};
  }
  s->row = row;
  s->time = ++k->time;
}

/* The head of a region: everything that the construct writes is the region row's. */
static void
write_head(versions *k, uint32_t region, uint32_t first, uint32_t last_row)
{
  const write_event *events = k->events.data;
  for (uint32_t i = first; i < k->events.count && events[i].row <= last_row && !k->out_of_memory; i++)
    if (events[i].before <= first) /* the first write of its class in the construct */
      write_class(k, events[i].klass, region);
}

static bool
ends_in_fallthrough(const vyre_view *v, uint32_t region)
{
  return region && v->last[region] && VYRE_ROW_OP(v->op[v->last[region]]) == VYRE_OP_fallthrough;
}

/* Whether what runs at the start of the region is not only what stands before its construct. */
static bool
is_head(const vyre_view *v, uint32_t region)
{
  switch (VYRE_ROW_OP(v->op[region])) {
  case VYRE_OP_body:
    return true;
  case VYRE_OP_region:
    return VYRE_ROW_OP(v->op[v->parent[region]]) == VYRE_OP_loop;
  case VYRE_OP_case:
    return ends_in_fallthrough(v, v->prev[region]);
  default:
    return false;
  }
}

static bool
is_loop(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_loop || VYRE_ROW_OP(v->op[row]) == VYRE_OP_for;
}

static void
open_row(versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  bool region = (vyre_op_infos[VYRE_ROW_OP(v->op[row])].flags & VYRE_OP_REGION) != 0;
  uint32_t last = row;
  frame *f = versions_append(k, &k->frames);
  if (!f)
    return;
  while (v->last[last])
    last = v->last[last];
  *f = (frame){row, region ? k->log.count : k->written.count, k->time, k->passed, last, 0, row};
  f->loop = is_loop(v, row) ? row : k->frames.count > 1 ? f[-1].loop : 0;
  if (is_head(v, row))
    write_head(k, row, f[-1].passed, f[-1].end); /* the construct's frame is below */
  if (region && k->has_lanes)
    write_class(k, LANES, row);
}

/* A jump, or what came out of an inner construct, ends `target`: the construct around must know if that is further out. */
static void
note_target(versions *k, uint32_t target)
{
  if (k->frames.count > 1 && target < top(k)[-1].target)
    top(k)[-1].target = target;
}

static void
note_jump(versions *k, uint32_t row)
{
  switch (VYRE_ROW_OP(k->view->op[row])) {
  case VYRE_OP_return:
  case VYRE_OP_trap:
    note_target(k, 0);
    break;
  case VYRE_OP_break:
  case VYRE_OP_continue:
    note_target(k, top(k)->loop);
    break;
  case VYRE_OP_leave:
    note_target(k, k->view->a[row]);
    break;
  default:
    break;
  }
}

/* Undoes what the region changed and gives it to the construct around it. */
static void
close_region(versions *k, const frame *region)
{
  const undo *log = k->log.data;
  uint32_t construct = k->view->parent[region->row];
  for (uint32_t i = k->log.count; i-- > region->base;) {
    state *s = state_of(k, log[i].klass);
    s->row = log[i].row;
    s->time = log[i].time;
    if (s->stamp != construct && log[i].klass != LANES) {
      uint32_t *written = versions_append(k, &k->written);
      if (!written)
        return;
      *written = log[i].klass;
      s->stamp = construct;
    }
  }
  k->log.count = region->base;
}

/* The join behind the construct; called with the region around it on top. */
static void
close_construct(versions *k, const frame *construct)
{
  const uint32_t *written = k->written.data;
  for (uint32_t i = construct->base; i < k->written.count && !k->out_of_memory; i++)
    if (state_of(k, written[i])->row != construct->row)
      write_class(k, written[i], construct->row);
  k->written.count = construct->base;
  note_target(k, construct->target);
  if (k->has_lanes && (construct->target < construct->row || is_loop(k->view, construct->row)))
    write_class(k, LANES, construct->row);
}

static void
close_until(versions *k, uint32_t row)
{
  while (k->frames.count > 1 && top(k)->end < row && !k->out_of_memory) {
    frame closed = *top(k);
    k->frames.count--;
    if (vyre_op_infos[VYRE_ROW_OP(k->view->op[closed.row])].flags & VYRE_OP_REGION)
      close_region(k, &closed);
    else
      close_construct(k, &closed);
  }
}

/* Whose state a read of the class sees. */
static uint32_t
current_row(const versions *k, const state *own)
{
  const state *group = state_of(k, own->group), *async = state_of(k, own->async ? GROUP_ASYNC : GROUP_NONE);
  const state *last = group->time > own->time ? group : own;
  if (own->memory && state_of(k, GROUP_OPAQUE)->time > last->time)
    last = state_of(k, GROUP_OPAQUE);
  return async->time > last->time ? async->row : last->row;
}

static uint32_t
version_of(const versions *k, uint32_t row, uint32_t op)
{
  const vyre_view *v = k->view;
  if (vyre_op_infos[op].flags & VYRE_OP_CONVERGENT)
    return current_row(k, state_of(k, LANES));
  if (op == VYRE_OP_opaque_read)
    return current_row(k, state_of(k, k->class_of[row]));
  if (op == VYRE_OP_load && versions_is_handle(k, v->a[row])) { /* nothing writes to a handle; what it leads to is another matter */
    uint32_t path = v->a[row];
    while (VYRE_ROW_OP(v->op[path]) == VYRE_OP_at)
      path = v->a[path];
    return path;
  }
  return current_row(k, state_of(k, versions_class_of(k, v->a[row])));
}

static void
visit(versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const write_event *events = k->events.data;
  uint32_t op = VYRE_ROW_OP(v->op[row]);
  if (vyre_op_infos[op].flags & (VYRE_OP_REGION | VYRE_OP_REGIONS)) {
    open_row(k, row);
    return;
  }
  if (vyre_op_infos[op].flags & VYRE_OP_ENDS)
    note_jump(k, row);
  else if (vyre_op_has_version(&vyre_op_infos[op]))
    k->out[row] = version_of(k, row, op);
  for (; k->passed < k->events.count && events[k->passed].row == row && !k->out_of_memory; k->passed++)
    write_class(k, events[k->passed].klass, row);
}

static void
walk_program(versions *k, uint32_t program, uint32_t end)
{
  versions_prepare_program(k, program, end);
  k->frames.count = k->log.count = k->written.count = k->passed = 0;
  k->time = 1;
  for (uint32_t i = 0; i < k->stop_count && !k->out_of_memory; i++) {
    close_until(k, k->stops[i]);
    if (!k->out_of_memory)
      visit(k, k->stops[i]);
  }
}

static void
free_vector(const versions *k, vector *list)
{
  if (list->data)
    k->allocator->resize(k->allocator->user, list->data, list->capacity * list->size, 0);
}

vyre_status
vyre_versions_compute(const vyre_module *module, uint32_t *out)
{
  versions k = {.module = module, .view = vyre_module_view(module), .allocator = vyre_module_allocator(module), .out = out};
  const vyre_view *v = k.view;
  size_t class_bytes = v->rows * sizeof(uint32_t);
  k.states.size = sizeof(state);
  k.events.size = sizeof(write_event);
  k.log.size = sizeof(undo);
  k.written.size = sizeof(uint32_t);
  k.frames.size = sizeof(frame);
  k.class_of = k.allocator->resize(k.allocator->user, NULL, 0, class_bytes);
  k.aliases = k.allocator->resize(k.allocator->user, NULL, 0, class_bytes);
  k.stops = k.allocator->resize(k.allocator->user, NULL, 0, class_bytes);
  k.out_of_memory = !k.class_of || !k.stops || !k.aliases || !vyre_aliases_compute(module, k.aliases);
  if (!k.out_of_memory)
    memset(k.class_of, 0, class_bytes);
  memset(out, 0, class_bytes);
  for (uint32_t program = v->first[0]; program && !k.out_of_memory; program = v->next[program])
    walk_program(&k, program, v->next[program] ? v->next[program] : v->rows);
  if (k.class_of)
    k.allocator->resize(k.allocator->user, k.class_of, class_bytes, 0);
  if (k.aliases)
    k.allocator->resize(k.allocator->user, k.aliases, class_bytes, 0);
  if (k.stops)
    k.allocator->resize(k.allocator->user, k.stops, class_bytes, 0);
  free_vector(&k, &k.states);
  free_vector(&k, &k.events);
  free_vector(&k, &k.log);
  free_vector(&k, &k.written);
  free_vector(&k, &k.frames);
  return k.out_of_memory ? VYRE_OUT_OF_MEMORY("while making versions") : VYRE_OK;
}
