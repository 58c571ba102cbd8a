/* Docs at plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

enum {
  SCANNED = 1024,     /* elements that a workgroup scans */
  LEVELS_AT_ONCE = 64 /* in a dispatch by program */
};

static uint32_t
groups_of(uint32_t count, uint32_t each)
{
  return (count + each - 1) / each;
}

static plan_entry *
add(plan *p, plan_kind kind)
{
  if (p->count == p->capacity) {
    p->capacity = p->capacity ? p->capacity * 2 : 64;
    p->entries = realloc(p->entries, p->capacity * sizeof *p->entries);
  }
  p->entries[p->count] = (plan_entry){.kind = kind};
  return &p->entries[p->count++];
}

static void
add_step(plan *p, uint32_t kernel, uint32_t groups, const uint32_t *push, uint32_t count)
{
  plan_entry *e = add(p, PLAN_STEP);
  e->kernel = kernel;
  e->groups = groups;
  memcpy(e->push, push, count * sizeof *push);
}

void
plan_free(plan *p)
{
  free(p->entries);
  *p = (plan){0};
}

/* ---- the arena ----------------------------------------------------------------------------------------------------------- */

static uint32_t
direction_order(kernel_direction direction)
{
  return direction == KERNEL_INWARD || direction == KERNEL_OUTWARD ? BY_DEPTH : 0;
}

static bool
goes_back(kernel_direction direction)
{
  return direction == KERNEL_DOWN || direction == KERNEL_OUTWARD;
}

/* The direction of the phases in `levels`. */
static kernel_direction
direction_of(const kernel_file *file, uint32_t levels)
{
  uint32_t inner = levels + 1;
  while (file->steps[inner].kind != KERNEL_RUN)
    inner++;
  return file->functions[file->steps[inner].phase].direction;
}

/* The order of a phase, or of those in `levels`. */
static uint32_t
order_of(const kernel_file *file, uint32_t step, kernel_direction direction)
{
  const kernel_step *s = &file->steps[step];
  return s->kind == KERNEL_LEVELS && s->times ? BY_OWN : direction_order(direction);
}

/* The kernel that takes a step by program; NULL: it goes level by level. */
static const kernel_device_kernel *
kernel_by_program(const phases *p, const kernel_device *device, uint32_t step, bool by_program)
{
  const kernel_step *s = &p->file.steps[step];
  const bool is_levels = s->kind == KERNEL_LEVELS;
  return by_program ? kernel_device_find(device, is_levels, true, is_levels ? step : s->phase) : NULL;
}

uint32_t
plan_find_orders(const phases *p, const kernel_device *device, bool by_program)
{
  const kernel_file *file = &p->file;
  uint32_t orders = 0;
  for (uint32_t i = 0; i < file->step_count; i++) {
    const kernel_step *s = &file->steps[i];
    if (s->kind != KERNEL_RUN && s->kind != KERNEL_LEVELS)
      continue;
    const kernel_direction direction = s->kind == KERNEL_RUN ? file->functions[s->phase].direction : direction_of(file, i);
    const bool whole = kernel_by_program(p, device, i, by_program) != NULL;
    if (direction != KERNEL_FLAT)
      orders |= 1u << (order_of(file, i, direction) | (whole ? BY_PROGRAM : 0));
    if (s->kind == KERNEL_LEVELS)
      i = s->end - 1;
  }
  return orders;
}

static uint32_t
take(plan_arena *arena, uint32_t words)
{
  const uint32_t at = arena->words;
  arena->words += words;
  return at;
}

void
plan_lay(const phases *p, const phases_memory *m, const vyre_view *v, uint32_t orders, plan_arena *out)
{
  uint8_t memory[KERNEL_MOST_NAMES];
  *out = (plan_arena){.words = KERNEL_ARENA_NOWHERE + 1, .rows = v->rows};
  for (uint32_t row = v->first[0]; row; row = v->next[row])
    out->programs++;
  out->head = take(out, kernel_memory(&p->file, memory) * 2);
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    out->memory[i] = memory[i] == UINT8_MAX ? 0 : take(out, m->counts[i]);
  out->op = take(out, v->rows); /* as it was: phases may change theirs */
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t *key = i == BY_DEPTH ? v->depth : v->level;
    out->keys[i] = take(out, v->rows);
    for (uint32_t row = 1; row < v->rows && key; row++)
      out->levels[i] = key[row] >= out->levels[i] ? key[row] + 1 : out->levels[i];
  }
  for (uint32_t i = 0; i < p->file.step_count; i++)
    if (p->file.steps[i].kind == KERNEL_LEVELS && p->file.steps[i].times)
      out->own = out->memory[p->file.steps[i].name];
  for (uint32_t i = 0; i < ORDERS; i++) {
    plan_order *o = &out->orders[i];
    o->is_used = orders >> i & 1;
    if (!o->is_used)
      continue;
    o->keys = i == BY_OWN ? out->own : i & BY_PROGRAM ? take(out, v->rows) : out->keys[i & BY_DEPTH];
    o->ranks = take(out, v->rows);
    o->starts = take(out, v->rows + 1);
    o->order = take(out, v->rows);
    o->firsts = take(out, out->programs + 1);
    o->sums = take(out, groups_of(v->rows + 1, SCANNED));
  }
}

/* ---- orders -------------------------------------------------------------------------------------------------------------- */

static void
add_scan(plan *p, uint32_t at, uint32_t count, uint32_t sums)
{
  const uint32_t push[] = {at, count, sums}, blocks = groups_of(count, SCANNED);
  add_step(p, SCAN, blocks, push, 3);
  if (blocks == 1)
    return;
  const uint32_t of_sums[] = {at, blocks, sums};
  add_step(p, SCAN_SUMS, 1, of_sums, 3);
  add_step(p, SCAN_ADD, groups_of(count, KERNEL_WORKGROUP), push, 3);
}

void
plan_orders(const plan_arena *a, plan *out)
{
  for (uint32_t i = 0; i < ORDERS; i++) {
    const plan_order *o = &a->orders[i];
    const bool by_program = (i & BY_PROGRAM) != 0;
    const uint32_t push[8] = {a->rows - 1, a->op, a->keys[i & BY_DEPTH], o->keys, o->ranks, o->starts, o->order, o->firsts};
    const uint32_t groups = groups_of(a->rows - 1, KERNEL_WORKGROUP);
    if (!o->is_used)
      continue;
    if (by_program) {
      uint32_t from_0[8];
      memcpy(from_0, push, sizeof push);
      from_0[0] = a->rows;
      add_step(out, ORDER_MARK, groups_of(a->rows, KERNEL_WORKGROUP), from_0, 8);
      add_scan(out, o->keys, a->rows, o->sums);
      add_step(out, ORDER_WIDEN, groups, push, 8);
      add_scan(out, o->firsts, a->programs + 1, o->sums);
    }
    add_step(out, by_program ? ORDER_COUNT_PROGRAMS : ORDER_COUNT, groups, push, 8);
    add_scan(out, o->starts, a->rows + 1, o->sums);
    add_step(out, ORDER_PLACE, groups, push, 8);
  }
}

/* ---- the sequence -------------------------------------------------------------------------------------------------------- */

typedef struct planner {
  const phases *p;
  const kernel_device *device;
  const plan_arena *arena;
  uint32_t *const *starts;
  bool by_program;
  const uint32_t *level; /* that is at hand: where its rows begin; after it, where they end; NULL: none */
  uint32_t order;        /* where those are counted from */
  plan *out;
} planner;

static uint32_t
number_of(const planner *w, const kernel_device_kernel *kernel)
{
  return ORDER__COUNT + (uint32_t)(kernel - w->device->kernels);
}

static void
add_listed(planner *w, uint32_t function, uint32_t first, uint32_t count)
{
  const uint32_t push[] = {w->arena->head, first, count};
  const kernel_device_kernel *kernel = kernel_device_find(w->device, false, false, function);
  add_step(w->out, number_of(w, kernel), groups_of(count, KERNEL_WORKGROUP), push, 3);
}

static void
add_by_program(planner *w, const kernel_device_kernel *kernel, kernel_direction direction)
{
  const plan_order *o = &w->arena->orders[direction_order(direction) | BY_PROGRAM];
  const uint32_t levels = w->arena->levels[direction_order(direction) & BY_DEPTH];
  for (uint32_t level = 0; level < levels; level += LEVELS_AT_ONCE) {
    const uint32_t push[] = {w->arena->head, o->order, o->starts, o->firsts, level, LEVELS_AT_ONCE};
    add_step(w->out, number_of(w, kernel), w->arena->programs, push, 6);
  }
}

static void plan_steps(planner *w, uint32_t first, uint32_t end);

/* One level after the other: the phase, or the steps from `first` to `end` where there are such. */
static void
add_levels(planner *w, uint32_t which, kernel_direction direction, uint32_t function, uint32_t first, uint32_t end)
{
  const uint32_t *starts = w->starts[which];
  uint32_t levels = 0;
  while (starts[levels] < w->arena->rows - 1)
    levels++;
  w->order = w->arena->orders[which].order;
  for (uint32_t i = 0; i < levels; i++) {
    w->level = starts + (goes_back(direction) ? levels - 1 - i : i);
    if (first < end)
      plan_steps(w, first, end);
    else
      add_listed(w, function, w->order + w->level[0], w->level[1] - w->level[0]);
  }
  w->level = NULL;
}

static void
plan_step(planner *w, uint32_t step)
{
  const kernel_step *s = &w->p->file.steps[step];
  const bool is_levels = s->kind == KERNEL_LEVELS;
  const kernel_direction direction = is_levels ? direction_of(&w->p->file, step) : w->p->file.functions[s->phase].direction;
  const kernel_device_kernel *whole = kernel_by_program(w->p, w->device, step, w->by_program);
  if (w->level)
    add_listed(w, s->phase, w->order + w->level[0], w->level[1] - w->level[0]);
  else if (direction == KERNEL_FLAT)
    add_listed(w, s->phase, 1, w->arena->rows - 1);
  else if (whole)
    add_by_program(w, whole, direction);
  else
    add_levels(w, order_of(&w->p->file, step, direction), direction, s->phase, is_levels ? step + 1 : 0, is_levels ? s->end : 0);
}

static void
plan_steps(planner *w, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const kernel_step *s = &w->p->file.steps[i];
    if (s->kind == KERNEL_RUN || s->kind == KERNEL_LEVELS) {
      plan_step(w, i);
    } else {
      const uint32_t at = w->out->count;
      plan_entry *e = add(w->out, s->kind == KERNEL_REPEAT ? PLAN_REPEAT : PLAN_REPEAT_WHILE);
      e->times = s->times;
      e->word = s->kind == KERNEL_REPEAT_WHILE ? w->arena->memory[s->name] : 0;
      plan_steps(w, i + 1, s->end);
      w->out->entries[at].end = w->out->count;
    }
    i = s->kind == KERNEL_RUN ? i : s->end - 1;
  }
}

void
plan_sequence(const phases *p, const kernel_device *device, const plan_arena *arena, uint32_t *const starts[ORDERS],
              bool by_program, plan *out)
{
  planner w = {p, device, arena, starts, by_program, NULL, 0, out};
  plan_steps(&w, 0, p->file.step_count);
}
