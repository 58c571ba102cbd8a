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
  const uint32_t alias = k->aliases[row - k->first], first = alias & ~VYRE_ALIAS_SHARED;
  const uint32_t klass = first == row ? add_class(k, row, false) : versions_class(k, first);
  if (k->out_of_memory)
    return;
  k->classes[row - k->first] = klass;
  state *s = versions_state(k, klass);
  s->memory = !is_never_written(k, row);
  s->shared |= (alias & VYRE_ALIAS_SHARED) != 0;
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

/* Returns whether accesses of other invocations may come between this access of the buffer and the next one. */
static bool
is_shared_access(const versions *k, uint32_t row, uint32_t buffer)
{
  const uint32_t index = buffer - k->first;
  return (VYRE_ROW_FLAGS(k->view->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0 ||
         (index < k->rows && (k->aliases[index] & VYRE_ALIAS_SHARED) != 0);
}

/* Returns the class that an opaque row accesses, or that an opaque value leads to: that of an image, or EVERYTHING. */
static uint32_t
opaque_class(const versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t a = v->a[row];
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[a]));
  if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_load || kind == VYRE_PATH)
    return versions_is_handle(k, vyre_buffer_of(v, a)) ? versions_class_of(k, a) : (uint32_t)EVERYTHING;
  const bool passes_on = vyre_op_is_opaque(VYRE_ROW_OP(v->op[row])) && kind == VYRE_OPAQUE;
  return passes_on ? versions_class(k, a) : (uint32_t)EVERYTHING;
}

static uint32_t
opaque_writes(const versions *k, uint32_t row, uint32_t op, uint32_t *classes)
{
  const uint32_t klass = versions_class(k, row);
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
    return classes[0] != classes[1] && is_shared_access(k, row, vyre_buffer_of(v, v->b[row])) ? 2 : 1;
  case VYRE_OP_async_copy: /* happens between this row and its wait, so accesses in between see other states */
    classes[0] = versions_class_of(k, v->a[row]);
    classes[1] = versions_class_of(k, v->b[row]);
    return classes[0] != classes[1] ? 2 : 1;
  case VYRE_OP_async_wait:
    classes[0] = GROUP_ASYNC;
    return 1;
  case VYRE_OP_load:
    buffer = vyre_buffer_of(v, v->a[row]);
    classes[0] = versions_class(k, buffer);
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
note_loop(versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  if (row <= k->loop_end)
    return;
  while (v->parent[row] && !v->next[row])
    row = v->parent[row];
  k->loop_end = (v->next[row] ? v->next[row] : k->first + k->rows) - 1;
}

/* Returns whether the row is a load that changes no state, as nearly all loads. */
static bool
is_plain_load(const versions *k, uint32_t row, uint32_t op)
{
  return op == VYRE_OP_load && !is_shared_access(k, row, vyre_buffer_of(k->view, k->view->a[row]));
}

/* Notes the writes and the last use of classes by a row. */
static void
note_row(versions *k, uint32_t row)
{
  const uint32_t op = versions_op(k, row);
  if (op == VYRE_OP_get)
    versions_state(k, versions_class(k, k->view->a[row]))->last_use = row > k->loop_end ? row : k->loop_end;
  else if ((vyre_op_infos[op].flags & (VYRE_OP_READS | VYRE_OP_WRITES)) != 0 && !is_plain_load(k, row, op))
    note_writes(k, row);
  else if (vyre_row_is_loop(k->view, row))
    note_loop(k, row);
}

static void
note_opaque(versions *k, uint32_t row)
{
  uint32_t *klass = &k->classes[row - k->first];
  if (VYRE_ROW_OP(k->view->op[row]) != VYRE_OP_var)
    *klass = opaque_class(k, row);
  k->reads_everything |= VYRE_ROW_OP(k->view->op[row]) == VYRE_OP_opaque_read && *klass == EVERYTHING;
}

static bool
is_opaque_value(uint32_t word)
{
  return VYRE_TYPE_KIND(VYRE_ROW_TYPE(word)) == VYRE_OPAQUE;
}

/* Finds the classes of opaque rows.  Most programs have none. */
static void
note_opaque_rows(versions *k)
{
  const uint32_t *ops = k->view->op + k->first;
  uint32_t any = 0;
  for (uint32_t i = 0; i < k->rows; i++)
    any |= is_opaque_value(ops[i]);
  for (uint32_t i = 0; i < k->stop_count; i++)
    any |= vyre_op_is_opaque(versions_op(k, k->stops[i]));
  for (uint32_t i = 0; any && i < k->rows; i++)
    if (vyre_op_is_opaque(VYRE_ROW_OP(ops[i])) || is_opaque_value(ops[i]))
      note_opaque(k, k->first + i);
}

/* Finds the rows that the second walk visits, and the vars and buffers. */
static void
find_stops(versions *k)
{
  const uint32_t stop = VYRE_OP_READS | VYRE_OP_WRITES | VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS;
  const uint32_t *ops = k->view->op;
  uint32_t *stops = k->stops, count = 0, declared = 0;
  for (uint32_t row = k->first, end = row + k->rows; row < end; row++) {
    const uint32_t op = VYRE_ROW_OP(ops[row]);
    stops[count] = row;
    count += (vyre_op_infos[op].flags & stop) != 0;
    if ((op == VYRE_OP_var) | (op == VYRE_OP_buffer))
      k->declared[declared++] = row;
  }
  k->stop_count = count;
  k->declared_count = declared;
}

/* Makes the classes of vars and buffers, which precede their users. */
static void
note_declared(versions *k)
{
  const uint32_t *op = k->view->op;
  for (uint32_t i = 0; i < k->declared_count && !k->out_of_memory; i++)
    if (VYRE_ROW_OP(op[k->declared[i]]) == VYRE_OP_buffer)
      k->out_of_memory = !aliases_add(&k->alias, k->declared[i]);
  if (!k->out_of_memory)
    aliases_find(&k->alias, k->first, k->aliases);
  for (uint32_t i = 0; i < k->declared_count && !k->out_of_memory; i++) {
    const uint32_t row = k->declared[i];
    if (VYRE_ROW_OP(op[row]) == VYRE_OP_var)
      k->classes[row - k->first] = add_class(k, row, true);
    else
      note_buffer(k, row);
  }
}

void
versions_find_writes(versions *k)
{
  k->states.count = k->events.count = 0;
  k->reads_everything = k->writes_groups = false;
  k->loop_end = 0;
  for (uint32_t i = 0; i < FIRST_CLASS; i++)
    add_class(k, 0, false);
  find_stops(k);
  note_declared(k);
  if (!k->out_of_memory)
    note_opaque_rows(k);
  const uint32_t *stops = k->stops, count = k->stop_count;
  for (uint32_t i = 0; i < count && !k->out_of_memory; i++)
    note_row(k, stops[i]);
}
