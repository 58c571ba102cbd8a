/* Versions: which reads see the same state.  What a version is stands in docs/ir.md, "Versions".
 *
 * Each program is walked twice in program order.  The first walk gives every var and buffer its alias class and lists the writes;
 * the second keeps, by class, the row whose state is current.  What a region changes is logged once and undone at its end, so that
 * each arm starts from the state before the construct; what was undone is what the construct writes, and gets its row as join
 * behind it.  A head (body, continuing region, case that can be fallen into) needs what the construct will write beforehand: the
 * listed writes within it.
 *
 * Barriers and ordered atomics write all storage or all workgroup classes, waits all that async copies touch: these groups are
 * classes of their own, and a read takes its class's row or one of its groups', whichever was written last.  So a barrier costs the
 * same for any number of buffers.
 *
 * Which lanes are active is a class too, which subgroup rows read.  Each region begins with a state of it.  Behind a construct it
 * is the state in front again, for lanes meet there; but not behind a loop, nor where a jump leads out of the construct.
 *
 * O(rows), and at each construct what is written in it: rows times nesting.  48 bytes a write and a class beside 4 bytes a row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions.h"

#include "vyre/opaque.h"

#include <stdlib.h>
#include <string.h>

/* The first classes of each program: all storage memory, all workgroup memory, all that async copies read or write, which lanes are
 * active. */
enum {
  GROUP_NONE = 0,
  GROUP_STORAGE = 1,
  GROUP_WORKGROUP = 2,
  GROUP_ASYNC = 3,
  LANES = 4,
  GROUP_IMAGES = 5,
  GROUP_OPAQUE = 6,
  EVERYTHING = 7,
  FIRST_CLASS = 8
};

typedef struct state {
  uint32_t row;   /* whose state it is */
  uint32_t time;  /* when that was noted; greater is later */
  uint32_t group; /* a barrier that names the group writes this class */
  uint32_t stamp; /* last construct whose list of writes has it */
  bool async;     /* a wait writes this class */
  bool shared;    /* of images: coherent or volatile */
  bool memory;    /* an opaque row writes this class */
} state;

typedef struct write_event {
  uint32_t row, klass;
  uint32_t before; /* 1 + index of the write of this class before; 0: none */
} write_event;

typedef struct undo {
  uint32_t klass, row, time;
} undo;

/* An open construct or region. */
typedef struct frame {
  uint32_t row;
  uint32_t base;   /* region: first entry of the log; construct: first entry of `written` */
  uint32_t time;   /* when it was entered */
  uint32_t passed; /* writes before it */
  uint32_t end;    /* the last row in it */
  uint32_t loop;   /* the innermost loop there, the row itself counted */
  uint32_t target; /* construct: the outermost that a jump in it ends, itself if none leads further out */
} frame;

/* A growing array. */
typedef struct vector {
  void *data;
  size_t size; /* of an element */
  uint32_t count, capacity;
} vector;

typedef struct versions {
  const vyre_module *module;
  const vyre_view *view;
  const vyre_allocator *allocator;
  uint32_t *out;           /* by row: the version of those that have one */
  uint32_t *class_of;      /* by row: of vars, buffers and paths */
  uint8_t *type_is_shared; /* by type id: a member is coherent or volatile */
  vector states, events, log, written, frames, buffers;
  uint32_t time;
  uint32_t passed;       /* writes that the second walk has passed */
  bool reads_everything; /* the program has opaque rows that may read any memory */
  bool out_of_memory;
} versions;

/* A new element, zeroed; NULL: out of memory, which is remembered. */
static void *
append(versions *k, vector *list)
{
  char *element;
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity ? list->capacity * 2 : 64;
    void *data = k->allocator->resize(k->allocator->user, list->data, list->capacity * list->size, capacity * list->size);
    if (!data || capacity < list->capacity) {
      k->out_of_memory = true;
      return NULL;
    }
    list->data = data;
    list->capacity = capacity;
  }
  element = (char *)list->data + list->count++ * list->size;
  memset(element, 0, list->size);
  return element;
}

static state *
state_of(const versions *k, uint32_t klass)
{
  return (state *)k->states.data + klass;
}

/* ---- classes ------------------------------------------------------------------------------------------------------------- */

typedef struct buffer_key {
  uint64_t binding; /* set and binding, or what no other has */
  uint32_t row;
  bool aliased;
} buffer_key;

static int
by_binding(const void *left, const void *right)
{
  const buffer_key *l = left, *r = right;
  if (l->binding != r->binding)
    return l->binding < r->binding ? -1 : 1;
  return (l->row > r->row) - (l->row < r->row);
}

static uint32_t
add_class(versions *k, uint32_t row, uint32_t group)
{
  state *s = append(k, &k->states);
  if (!s)
    return 0;
  s->row = row;
  s->time = 1;
  s->group = group;
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

/* Buffers of one (set, binding) are one class; so are all aliased ones of storage and uniform space, and all aliased ones of
 * another space.  A class's entry state is its first row. */
static void
make_buffer_classes(versions *k)
{
  const vyre_view *v = k->view;
  buffer_key *keys = k->buffers.data;
  uint32_t aliased[VYRE_SPACE__COUNT] = {0};
  uint32_t n = k->buffers.count;
  if (n > 1)
    qsort(keys, n, sizeof *keys, by_binding);
  for (uint32_t i = 0, end; i < n; i = end) {
    vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[keys[i].row]);
    uint32_t klass = 0, home = space == VYRE_SPACE_UNIFORM ? (uint32_t)VYRE_SPACE_STORAGE : (uint32_t)space;
    bool any = false;
    for (end = i; end < n && keys[end].binding == keys[i].binding; end++)
      any = any || keys[end].aliased;
    if (any && home < VYRE_SPACE__COUNT)
      klass = aliased[home];
    if (klass == 0)
      klass = add_class(k, keys[i].row, GROUP_NONE);
    if (k->out_of_memory)
      return;
    if (any && home < VYRE_SPACE__COUNT)
      aliased[home] = klass;
    for (uint32_t j = i; j < end; j++) {
      state *s = state_of(k, klass);
      s->memory = true;
      s->shared |= (v->imm_hi[keys[j].row] & (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)) != 0;
      if (keys[j].row < s->row)
        s->row = keys[j].row;
      if (group_of(k, keys[j].row))
        s->group = group_of(k, keys[j].row);
      k->class_of[keys[j].row] = klass;
    }
  }
}

static void
note_buffer(versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  buffer_key *key = append(k, &k->buffers);
  if (!key)
    return;
  key->row = row;
  key->aliased = (v->imm_hi[row] & VYRE_ACCESS_ALIASED) != 0;
  key->binding = UINT64_MAX - row;
  if (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_HANDLE) {
    const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)k->module, (vyre_row){row});
    if (info)
      key->binding = (uint64_t)(info->set & INT32_MAX) << 32 | info->binding;
  }
}

/* ---- what a row writes --------------------------------------------------------------------------------------------------- */

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

/* Whether other invocations' accesses come between this one and the next through the path. */
static bool
is_shared_access(const versions *k, uint32_t row, uint32_t path)
{
  const vyre_view *v = k->view;
  if (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT))
    return true;
  while (VYRE_ROW_OP(v->op[path]) == VYRE_OP_at)
    path = v->a[path];
  return (v->imm_hi[path] & (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)) != 0 || k->type_is_shared[v->imm[path]];
}

static bool
is_handle(const versions *k, uint32_t path)
{
  while (VYRE_ROW_OP(k->view->op[path]) == VYRE_OP_at)
    path = k->view->a[path];
  return VYRE_BUFFER_SPACE(k->view->imm_hi[path]) == VYRE_SPACE_HANDLE;
}

/* The class of what an opaque row accesses, or of what an opaque value leads to: an image's, or everything. */
static uint32_t
opaque_class(const versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t a = v->a[row];
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[a]));
  if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_load || kind == VYRE_PATH)
    return is_handle(k, a) ? k->class_of[a] : (uint32_t)EVERYTHING;
  const bool passes_on = vyre_op_is_opaque(VYRE_ROW_OP(v->op[row])) && kind == VYRE_OPAQUE;
  return passes_on ? k->class_of[a] : (uint32_t)EVERYTHING;
}

static uint32_t
opaque_writes(const versions *k, uint32_t row, uint32_t op, uint32_t *classes)
{
  const uint32_t klass = k->class_of[row];
  classes[0] = klass == EVERYTHING ? (uint32_t)GROUP_OPAQUE : klass;
  if (op == VYRE_OP_opaque_read) { /* of an image that others write to meanwhile */
    const uint32_t flags = VYRE_ROW_FLAGS(k->view->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT);
    return flags || (klass != EVERYTHING && state_of(k, klass)->shared) ? 1 : 0;
  }
  if (op == VYRE_OP_opaque || op == VYRE_OP_verbatim)
    classes[0] = GROUP_OPAQUE;
  return 1;
}

static uint32_t own_writes(const versions *k, uint32_t row, uint32_t *classes);

/* The classes that a row writes, 5 at most. */
static uint32_t
writes_of(const versions *k, uint32_t row, uint32_t classes[5])
{
  uint32_t count = own_writes(k, row, classes);
  for (uint32_t i = 0; k->reads_everything && i < count; i++)
    if (state_of(k, classes[i])->memory || classes[i] < FIRST_CLASS) {
      classes[count] = EVERYTHING;
      return count + 1;
    }
  return count;
}

static uint32_t
own_writes(const versions *k, uint32_t row, uint32_t *classes)
{
  const vyre_view *v = k->view;
  uint32_t op = VYRE_ROW_OP(v->op[row]), semantics;
  switch (op) {
  case VYRE_OP_set:
  case VYRE_OP_store:
    classes[0] = k->class_of[v->a[row]];
    return 1;
  case VYRE_OP_copy:
    classes[0] = k->class_of[v->a[row]];
    classes[1] = k->class_of[v->b[row]];
    return classes[0] != classes[1] && is_shared_access(k, row, v->b[row]) ? 2 : 1;
  case VYRE_OP_async_copy: /* it happens between here and its wait: what is read or written on the way is another state */
    classes[0] = k->class_of[v->a[row]];
    classes[1] = k->class_of[v->b[row]];
    return classes[0] != classes[1] ? 2 : 1;
  case VYRE_OP_async_wait:
    classes[0] = GROUP_ASYNC;
    return 1;
  case VYRE_OP_load:
    classes[0] = k->class_of[v->a[row]];
    return !is_handle(k, v->a[row]) && is_shared_access(k, row, v->a[row]) ? 1 : 0;
  case VYRE_OP_barrier:
    semantics = VYRE_ORDER_SEMANTICS(v->imm[row]);
    /* One that orders nothing still lines invocations up, and what they wrote before may be seen. */
    return named_groups((semantics & 0x1eu) ? semantics : 0x940u, classes, 0);
  case VYRE_OP_verbatim:
  case VYRE_OP_opaque:
  case VYRE_OP_opaque_read:
  case VYRE_OP_opaque_write:
    return opaque_writes(k, row, op, classes);
  default:
    if (!vyre_op_is_atomic(op))
      return 0;
    classes[0] = k->class_of[v->a[row]];
    semantics = VYRE_ORDER_SEMANTICS(v->imm[row]);
    return (semantics & 0x1eu) ? named_groups(semantics, classes, 1) : 1;
  }
}

/* ---- first walk: classes and writes -------------------------------------------------------------------------------------- */

static void
note_writes(versions *k, uint32_t row)
{
  uint32_t classes[5];
  uint32_t n = writes_of(k, row, classes);
  for (uint32_t i = 0; i < n; i++) {
    write_event *event = append(k, &k->events);
    if (!event)
      return;
    event->row = row;
    event->klass = classes[i];
    event->before = state_of(k, classes[i])->stamp;
    state_of(k, classes[i])->stamp = k->events.count;
    if (VYRE_ROW_OP(k->view->op[row]) == VYRE_OP_async_copy)
      state_of(k, classes[i])->async = true;
  }
}

static void
note_opaque(versions *k, uint32_t row)
{
  if (VYRE_ROW_OP(k->view->op[row]) != VYRE_OP_var)
    k->class_of[row] = opaque_class(k, row);
  k->reads_everything |= VYRE_ROW_OP(k->view->op[row]) == VYRE_OP_opaque_read && k->class_of[row] == EVERYTHING;
}

/* Vars and buffers stand directly in the program, before what uses them: classes are made from the program's own children, then its
 * rows are gone through. */
static void
prepare_program(versions *k, uint32_t program, uint32_t end)
{
  const vyre_view *v = k->view;
  k->states.count = k->events.count = k->buffers.count = 0;
  k->reads_everything = false;
  for (uint32_t i = 0; i < FIRST_CLASS; i++)
    add_class(k, 0, GROUP_NONE);
  for (uint32_t row = v->first[program]; row && !k->out_of_memory; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_var)
      k->class_of[row] = add_class(k, row, GROUP_NONE);
    else if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer)
      note_buffer(k, row);
  }
  make_buffer_classes(k);
  for (uint32_t row = program + 1; row < end && !k->out_of_memory; row++) {
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_at)
      k->class_of[row] = k->class_of[v->a[row]];
    else if (vyre_op_is_opaque(VYRE_ROW_OP(v->op[row])) || VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) == VYRE_OPAQUE)
      note_opaque(k, row);
  }
  for (uint32_t row = program + 1; row < end && !k->out_of_memory; row++)
    note_writes(k, row);
  for (uint32_t i = 0; i < k->states.count; i++)
    state_of(k, i)->stamp = 0;
}

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
    undo *u = append(k, &k->log);
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
  frame *f = append(k, &k->frames);
  if (!f)
    return;
  while (v->last[last])
    last = v->last[last];
  *f = (frame){row, region ? k->log.count : k->written.count, k->time, k->passed, last, 0, row};
  f->loop = is_loop(v, row) ? row : k->frames.count > 1 ? f[-1].loop : 0;
  if (is_head(v, row))
    write_head(k, row, f[-1].passed, f[-1].end); /* the construct's frame is below */
  if (region)
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
      uint32_t *written = append(k, &k->written);
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
  if (construct->target < construct->row || is_loop(k->view, construct->row))
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
  if (op == VYRE_OP_load && is_handle(k, v->a[row])) { /* nothing writes to a handle; what it leads to is another matter */
    uint32_t path = v->a[row];
    while (VYRE_ROW_OP(v->op[path]) == VYRE_OP_at)
      path = v->a[path];
    return path;
  }
  return current_row(k, state_of(k, k->class_of[v->a[row]]));
}

static void
visit(versions *k, uint32_t row)
{
  const vyre_view *v = k->view;
  uint32_t op = VYRE_ROW_OP(v->op[row]);
  uint32_t classes[5], n;
  if (vyre_op_infos[op].flags & (VYRE_OP_REGION | VYRE_OP_REGIONS)) {
    open_row(k, row);
    return;
  }
  if (vyre_op_infos[op].flags & VYRE_OP_ENDS)
    note_jump(k, row);
  else if (vyre_op_has_version(&vyre_op_infos[op]))
    k->out[row] = version_of(k, row, op);
  n = writes_of(k, row, classes);
  k->passed += n;
  for (uint32_t i = 0; i < n; i++)
    write_class(k, classes[i], row);
}

static void
walk_program(versions *k, uint32_t program, uint32_t end)
{
  prepare_program(k, program, end);
  k->frames.count = k->log.count = k->written.count = k->passed = 0;
  k->time = 1;
  for (uint32_t row = program; row < end && !k->out_of_memory; row++) {
    close_until(k, row);
    if (!k->out_of_memory)
      visit(k, row);
  }
}

static void
note_types(versions *k, uint32_t types)
{
  for (vyre_type_id type = 256; type < types; type++) {
    vyre_type_info info = vyre_type_get(k->module, type);
    if (info.form != VYRE_FORM_STRUCT && info.form != VYRE_FORM_WORDS)
      k->type_is_shared[type] = k->type_is_shared[info.element];
    for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count; i++)
      if ((info.members[i].access & (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)) || k->type_is_shared[info.members[i].type])
        k->type_is_shared[type] = 1;
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
  uint32_t types = vyre_type_count(module);
  size_t class_bytes = v->rows * sizeof(uint32_t);
  k.states.size = sizeof(state);
  k.events.size = sizeof(write_event);
  k.log.size = sizeof(undo);
  k.written.size = sizeof(uint32_t);
  k.frames.size = sizeof(frame);
  k.buffers.size = sizeof(buffer_key);
  k.class_of = k.allocator->resize(k.allocator->user, NULL, 0, class_bytes);
  k.type_is_shared = k.allocator->resize(k.allocator->user, NULL, 0, types);
  k.out_of_memory = !k.class_of || !k.type_is_shared;
  if (!k.out_of_memory) {
    memset(k.class_of, 0, class_bytes);
    memset(k.type_is_shared, 0, types);
    note_types(&k, types);
  }
  for (uint32_t program = v->first[0]; program && !k.out_of_memory; program = v->next[program])
    walk_program(&k, program, v->next[program] ? v->next[program] : v->rows);
  if (k.class_of)
    k.allocator->resize(k.allocator->user, k.class_of, class_bytes, 0);
  if (k.type_is_shared)
    k.allocator->resize(k.allocator->user, k.type_is_shared, types, 0);
  free_vector(&k, &k.states);
  free_vector(&k, &k.events);
  free_vector(&k, &k.log);
  free_vector(&k, &k.written);
  free_vector(&k, &k.frames);
  free_vector(&k, &k.buffers);
  return k.out_of_memory ? VYRE_OUT_OF_MEMORY("while making versions") : VYRE_OK;
}

vyre_status
vyre_module_make_versions(vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  size_t bytes = v->rows * sizeof(uint32_t);
  uint32_t *imm_hi = (uint32_t *)v->imm_hi; /* the module is ours to change */
  uint32_t *out;
  vyre_status status;
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "versions of a module that is not sealed");
  out = allocator->resize(allocator->user, NULL, 0, bytes);
  if (!out)
    return VYRE_OUT_OF_MEMORY("while making versions");
  memset(out, 0, bytes);
  status = vyre_versions_compute(module, out);
  for (uint32_t row = 1; row < v->rows && !status; row++)
    if (vyre_op_has_version(&vyre_op_infos[VYRE_ROW_OP(v->op[row])]))
      imm_hi[row] = out[row];
  allocator->resize(allocator->user, out, bytes, 0);
  return status;
}
