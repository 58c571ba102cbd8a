/* The state graph: the alias class of every var, buffer, path and opaque row of a program, and the classes that each row writes.
 *
 * Barriers and ordered atomics write all storage or all workgroup classes, and async waits all classes that async copies touch.
 * These groups are classes of their own, and the last write of a class is that of the class or of one of its groups. So the cost of
 * a barrier does not depend on the number of buffers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include "vyre/opaque.h"

#include <string.h>

/* ---- classes ------------------------------------------------------------------------------------------------------------- */

static uint32_t
add_class(versions *k, uint32_t row, bool is_var)
{
  state *s = versions_append(k, &k->states);
  if (!s)
    return 0;
  *s = (state){.row = row, .sources = is_var ? 1 : SOURCES, .last_use = is_var ? 0 : UINT32_MAX};
  return k->states.count - 1;
}

static uint32_t
group_of(const versions *k, uint32_t buffer)
{
  vyre_space space = VYRE_BUFFER_SPACE(k->view->imm_hi[buffer]);
  return space == VYRE_SPACE_STORAGE     ? GROUP_STORAGE
         : space == VYRE_SPACE_WORKGROUP ? GROUP_WORKGROUP
         : space == VYRE_SPACE_HANDLE    ? GROUP_IMAGES
                                         : GROUP_NONE;
}

/* Returns whether nothing can write the buffer. All buffers of its class are push constants or constant tables then. */
static bool
is_never_written(const versions *k, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(k->view->imm_hi[buffer]);
  return space == VYRE_SPACE_PUSH || space == VYRE_SPACE_CONSTANT;
}

/* A class's initial state is its first buffer, which precedes the others. */
static void
note_buffer(versions *k, uint32_t row)
{
  const uint32_t first = k->aliases[row] & ~VYRE_ALIAS_SHARED;
  if (first == row)
    k->class_of[row] = add_class(k, row, false);
  if (k->out_of_memory)
    return;
  k->class_of[row] = k->class_of[first];
  state *s = versions_state(k, k->class_of[row]);
  s->memory = !is_never_written(k, row);
  s->shared |= (k->aliases[row] & VYRE_ALIAS_SHARED) != 0;
  if (group_of(k, row))
    s->group = group_of(k, row);
}

/* ---- the classes that a row writes --------------------------------------------------------------------------------------- */

static uint32_t
named_groups(uint32_t semantics, uint32_t *classes, uint32_t count)
{
  if (semantics & 0x40u) /* UniformMemory: storage buffers */
    classes[count++] = GROUP_STORAGE;
  if (semantics & 0x100u) /* WorkgroupMemory */
    classes[count++] = GROUP_WORKGROUP;
  if (semantics & 0x800u) /* ImageMemory */
    classes[count++] = GROUP_IMAGES;
  return count;
}

/* Returns whether accesses of other invocations may come between this access and the next one through the path. */
static bool
is_shared_access(const versions *k, uint32_t row, uint32_t path)
{
  const vyre_view *v = k->view;
  if (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT))
    return true;
  while (VYRE_ROW_OP(v->op[path]) == VYRE_OP_at)
    path = v->a[path];
  return (k->aliases[path] & VYRE_ALIAS_SHARED) != 0;
}

bool
versions_is_handle(const versions *k, uint32_t path)
{
  while (VYRE_ROW_OP(k->view->op[path]) == VYRE_OP_at)
    path = k->view->a[path];
  return VYRE_BUFFER_SPACE(k->view->imm_hi[path]) == VYRE_SPACE_HANDLE;
}

/* Returns the class that an opaque row accesses, or that an opaque value leads to: that of an image, or EVERYTHING. */
static uint32_t
opaque_class(const versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t a = v->a[row];
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[a]));
  if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_load || kind == VYRE_PATH)
    return versions_is_handle(k, a) ? versions_class_of(k, a) : (uint32_t)EVERYTHING;
  const bool passes_on = vyre_op_is_opaque(VYRE_ROW_OP(v->op[row])) && kind == VYRE_OPAQUE;
  return passes_on ? k->class_of[a] : (uint32_t)EVERYTHING;
}

static uint32_t
opaque_writes(const versions *k, uint32_t row, uint32_t op, uint32_t *classes)
{
  const uint32_t klass = k->class_of[row];
  classes[0] = klass == EVERYTHING ? (uint32_t)GROUP_OPAQUE : klass;
  if (op == VYRE_OP_opaque_read) { /* of an image that other invocations write at the same time */
    const uint32_t flags = VYRE_ROW_FLAGS(k->view->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT);
    return flags || (klass != EVERYTHING && versions_state(k, klass)->shared) ? 1 : 0;
  }
  if (op == VYRE_OP_opaque || op == VYRE_OP_verbatim)
    classes[0] = GROUP_OPAQUE;
  return 1;
}

static uint32_t own_writes(const versions *k, uint32_t row, uint32_t *classes);

/* Returns the number of classes that a row writes, at most 5. */
static uint32_t
writes_of(const versions *k, uint32_t row, uint32_t classes[5])
{
  uint32_t count = own_writes(k, row, classes);
  for (uint32_t i = 0; k->reads_everything && i < count; i++)
    if (versions_state(k, classes[i])->memory || classes[i] < FIRST_CLASS) {
      classes[count] = EVERYTHING;
      return count + 1;
    }
  return count;
}

static uint32_t
own_writes(const versions *k, uint32_t row, uint32_t *classes)
{
  const vyre_view *v = k->view;
  uint32_t op = VYRE_ROW_OP(v->op[row]), semantics, buffer;
  switch (op) {
  case VYRE_OP_set:
  case VYRE_OP_store:
    classes[0] = versions_class_of(k, v->a[row]);
    return 1;
  case VYRE_OP_copy:
    classes[0] = versions_class_of(k, v->a[row]);
    classes[1] = versions_class_of(k, v->b[row]);
    return classes[0] != classes[1] && is_shared_access(k, row, v->b[row]) ? 2 : 1;
  case VYRE_OP_async_copy: /* happens between this row and its wait, so accesses in between see other states */
    classes[0] = versions_class_of(k, v->a[row]);
    classes[1] = versions_class_of(k, v->b[row]);
    return classes[0] != classes[1] ? 2 : 1;
  case VYRE_OP_async_wait:
    classes[0] = GROUP_ASYNC;
    return 1;
  case VYRE_OP_load:
    buffer = vyre_buffer_of(v, v->a[row]);
    classes[0] = k->class_of[buffer];
    return !versions_is_handle(k, buffer) && is_shared_access(k, row, buffer) ? 1 : 0;
  case VYRE_OP_barrier:
    semantics = VYRE_ORDER_SEMANTICS(v->imm[row]);
    /* A barrier that orders nothing still synchronizes invocations, and earlier writes may become visible. */
    return named_groups((semantics & 0x1eu) ? semantics : 0x940u, classes, 0);
  case VYRE_OP_verbatim:
  case VYRE_OP_opaque:
  case VYRE_OP_opaque_read:
  case VYRE_OP_opaque_write:
    return opaque_writes(k, row, op, classes);
  default:
    if (!vyre_op_is_atomic(op))
      return 0;
    classes[0] = versions_class_of(k, v->a[row]);
    semantics = VYRE_ORDER_SEMANTICS(v->imm[row]);
    return (semantics & 0x1eu) ? named_groups(semantics, classes, 1) : 1;
  }
}

/* ---- the walk: classes and writes -------------------------------------------------------------------------------------- */

static void
note_write(versions *k, uint32_t row, uint32_t klass)
{
  write_event *event = versions_append(k, &k->events);
  if (!event)
    return;
  *event = (write_event){row, klass};
  k->writes_groups |= klass < EVERYTHING;
}

static void
note_writes(versions *k, uint32_t row)
{
  uint32_t classes[5];
  uint32_t n = writes_of(k, row, classes);
  for (uint32_t i = 0; i < n; i++) {
    note_write(k, row, classes[i]);
    if (VYRE_ROW_OP(k->view->op[row]) == VYRE_OP_async_copy)
      versions_state(k, classes[i])->async = true;
  }
}

/* Notes the last row of a loop. An inner loop has the last row of the outermost one. O(1) for each region that it ends with. */
static void
note_loop(versions *k, uint32_t row, uint32_t end)
{
  const vyre_view *v = k->view;
  if (row <= k->loop_end)
    return;
  while (v->parent[row] && !v->next[row])
    row = v->parent[row];
  k->loop_end = (v->next[row] ? v->next[row] : end) - 1;
}

/* Notes the writes and the last use of classes by a row. */
static void
note_row(versions *k, uint32_t row, uint32_t end)
{
  const uint32_t op = versions_op(k, row);
  if (op == VYRE_OP_get)
    versions_state(k, k->class_of[k->view->a[row]])->last_use = row > k->loop_end ? row : k->loop_end;
  else if ((vyre_op_infos[op].flags & (VYRE_OP_READS | VYRE_OP_WRITES)) != 0)
    note_writes(k, row);
  else if (vyre_row_is_loop(k->view, row))
    note_loop(k, row, end);
}

static void
note_opaque(versions *k, uint32_t row)
{
  if (VYRE_ROW_OP(k->view->op[row]) != VYRE_OP_var)
    k->class_of[row] = opaque_class(k, row);
  k->reads_everything |= VYRE_ROW_OP(k->view->op[row]) == VYRE_OP_opaque_read && k->class_of[row] == EVERYTHING;
}

/* Finds the classes of opaque rows, and the rows that the second walk visits. */
static void
note_rows(versions *k, uint32_t first, uint32_t end)
{
  const uint32_t stop = VYRE_OP_READS | VYRE_OP_WRITES | VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS;
  const uint32_t *ops = k->view->op;
  uint32_t *stops = k->stops, count = 0;
  for (uint32_t row = first; row < end; row++) {
    const uint32_t op = VYRE_ROW_OP(ops[row]), flags = vyre_op_infos[op].flags;
    stops[count] = row;
    count += (flags & stop) != 0;
    if (vyre_op_is_opaque(op) | (VYRE_TYPE_KIND(VYRE_ROW_TYPE(ops[row])) == VYRE_OPAQUE))
      note_opaque(k, row);
  }
  k->stop_count = count;
}

/* Vars and buffers are direct children of the program and precede their users. So classes are made from the children first, and
 * then all rows are visited. */
void
versions_find_writes(versions *k, uint32_t program, uint32_t end)
{
  const vyre_view *v = k->view;
  k->states.count = k->events.count = 0;
  k->reads_everything = k->writes_groups = false;
  k->loop_end = 0;
  for (uint32_t i = 0; i < FIRST_CLASS; i++)
    add_class(k, 0, false);
  for (uint32_t row = v->first[program]; row && !k->out_of_memory; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_var)
      k->class_of[row] = add_class(k, row, true);
    else if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer)
      note_buffer(k, row);
  }
  if (!k->out_of_memory)
    note_rows(k, program, end);
  for (uint32_t i = 0; i < k->stop_count && !k->out_of_memory; i++)
    note_row(k, k->stops[i], end);
}
