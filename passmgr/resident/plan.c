/* Makes the plan of a sequence.  plan.h describes the plan.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "base/grow.h"
#include "vyre/plugin.h"
#include "vyre/view.h"

#include <string.h>

enum {
  ROWS_A_THREAD = 4096,  /* least rows that are worth a thread */
  FEW_PROGRAMS = 16,     /* fewer programs do not fill a device with a workgroup each */
  SMALL_PROGRAM = 1024,  /* rows; a level of such a program does not fill a device, either */
  LARGE_PROGRAM = 4096,  /* rows; a workgroup takes too long for a larger program */
  PART_OF_ITERATIONS = 8 /* an invocation for one row may use this part of the iterations that the driver allows */
};

/* Returns the most joins and parts of a construct.  They are neighbours, and an invocation visits all of them. */
static uint32_t
most_joins(const vyre_view *v)
{
  uint32_t at_hand = 0, most = 0;
  for (uint32_t i = 1; i < v->join_count; i++) {
    const vyre_join *join = &v->joins[i];
    at_hand = (join->row == join[-1].row ? at_hand : 0) + 1 + 2 * join->count;
    most = at_hand > most ? at_hand : most;
  }
  return most;
}

/* Returns the greatest depth of nested rows.  A row's parent is the row before it or a row around that row. */
static uint32_t
deepest(const vyre_view *v)
{
  uint32_t depth = 0, most = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    uint32_t before = row - 1;
    for (depth++; before && before != v->parent[row]; before = v->parent[before])
      depth--;
    most = depth > most ? depth : most;
  }
  return most;
}

void
vyre_plan_rows_count(plan_rows *r)
{
  const vyre_view *v = r->view;
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    const uint32_t end = vyre_program_end(v, program);
    r->largest = end - program > r->largest ? end - program : r->largest;
    r->programs++;
  }
  r->by_program = r->largest <= (r->programs >= FEW_PROGRAMS ? LARGE_PROGRAM : SMALL_PROGRAM) && r->most_iterations == 0;
  r->walk = r->most_iterations ? most_joins(v) + deepest(v) : 0;
}

bool
vyre_plan_rows_fit(const plan_rows *r)
{
  return r->walk <= r->most_iterations / PART_OF_ITERATIONS;
}

void
vyre_plan_rows_part(plan_rows *r, uint32_t threads)
{
  const vyre_view *v = r->view;
  const uint32_t most = v->rows / ROWS_A_THREAD + 1;
  uint32_t largest = 0;
  r->threads = threads > most ? most : threads;
  r->threads = r->threads > PLAN_MOST_PARTS ? PLAN_MOST_PARTS : r->threads;
  if (r->threads < 2)
    return;
  const uint32_t wanted = v->rows / r->threads + 1;
  uint32_t count = 0;
  r->parts[0] = 1;
  for (uint32_t program = v->first[0]; program && count + 1 < r->threads; program = v->next[program])
    if (program - r->parts[count] >= wanted)
      r->parts[++count] = program;
  r->parts[++count] = v->rows;
  for (uint32_t i = 0; i < count; i++)
    largest = r->parts[i + 1] - r->parts[i] > largest ? r->parts[i + 1] - r->parts[i] : largest;
  /* Otherwise one program has most of the rows.  The second bound is for two parts, where 2 * wanted exceeds all rows. */
  r->part_count = largest <= 2 * wanted && largest <= v->rows - v->rows / 4 ? count : 0;
}

/* ---- facts of phases ----------------------------------------------------------------------------------------------------- */

static bool
is_by_depth(uint32_t direction)
{
  return direction == VYRE_DIRECTION_INWARD || direction == VYRE_DIRECTION_OUTWARD;
}

bool
vyre_plan_is_downward(const vyre_phase *phase)
{
  return phase->direction == VYRE_DIRECTION_DOWN || phase->direction == VYRE_DIRECTION_OUTWARD;
}

/* Returns the step's phase, or the first phase in a step of levels or a repeat. */
static const vyre_phase *
phase_of(const vyre_phases *phases, uint32_t step)
{
  while (phases->steps[step].kind != VYRE_STEP_RUN)
    step++;
  return &phases->phases[phases->steps[step].phase];
}

static bool
writes_operands(const vyre_phases *phases, const vyre_phase *phase)
{
  bool writes = false;
  for (uint32_t i = 0; i < phase->use_count; i++) {
    const vyre_phase_memory *memory = &phases->memory[phase->uses[i]];
    writes |= phase->writes[i] && memory->kind == VYRE_MEMORY_COLUMN && memory->name[0] >= 'a' && memory->name[0] <= 'c' &&
              memory->name[1] == 0;
  }
  return writes;
}

bool
vyre_plan_writes_operands(const vyre_phases *phases)
{
  bool writes = false;
  for (uint32_t i = 0; i < phases->phase_count; i++)
    writes |= writes_operands(phases, &phases->phases[i]);
  return writes;
}

/* Returns whether a phase may have written operands when the step begins.  In a repeat around the step, later steps run before it,
 * too. */
static bool
is_rewired(const plan_pass *pass, uint32_t step)
{
  const vyre_phases *phases = pass->phases;
  bool is = pass->is_rewired;
  uint32_t end = step;
  for (uint32_t i = 0; i < step; i++)
    if (phases->steps[i].kind >= VYRE_STEP_REPEAT && phases->steps[i].end > step && phases->steps[i].end > end)
      end = phases->steps[i].end;
  for (uint32_t i = 0; i < end; i++)
    is |= phases->steps[i].kind == VYRE_STEP_RUN && writes_operands(phases, &phases->phases[phases->steps[i].phase]);
  return is;
}

bool
vyre_plan_is_level(const vyre_view *v, const uint32_t *level, uint32_t row)
{
  const uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
  return !((a && level[a] >= level[row]) | (b && level[b] >= level[row]) | (c && level[c] >= level[row]) | (level[row] >= v->rows));
}

bool
vyre_plan_are_levels(const vyre_view *v, const uint32_t *level)
{
  bool are = true;
  for (uint32_t row = 1; row < v->rows; row++)
    are &= vyre_plan_is_level(v, level, row);
  return are;
}

uint32_t
vyre_plan_number_of_while(const vyre_phases *phases, uint32_t step)
{
  uint32_t number = 0;
  for (uint32_t i = 0; i < step; i++)
    number += phases->steps[i].kind == VYRE_STEP_REPEAT_WHILE;
  return number;
}

/* ---- forms of steps ------------------------------------------------------------------------------------------------------- */

/* Returns whether the step runs as PLAN_ROWS: a flat phase, or on the CPU a phase in program order. */
static bool
runs_by_rows(const plan *p, const plan_pass *pass, uint32_t step)
{
  const plan_rows *r = p->rows;
  if (phase_of(pass->phases, step)->direction == VYRE_DIRECTION_FLAT)
    return true;
  return r->on_host && pass->phases->steps[step].kind == VYRE_STEP_RUN &&
         (r->threads < 2 || r->part_count || !r->view->level || is_rewired(pass, step));
}

/* Returns whether the step runs with a workgroup for each program. */
static bool
runs_by_program(const plan *p, const plan_pass *pass, uint32_t step)
{
  const vyre_phases *phases = pass->phases;
  const bool is_levels = phases->steps[step].kind == VYRE_STEP_LEVELS;
  return !p->rows->on_host && p->rows->by_program &&
         (is_levels ? pass->kernels->levels[step] : pass->kernels->programs[phases->steps[step].phase]).code;
}

/* Returns the first step that visits rows in levels, or step_count if all phases are flat. */
static uint32_t
first_directed(const vyre_phases *phases)
{
  uint32_t step = 0;
  while (step < phases->step_count &&
         (phases->steps[step].kind > VYRE_STEP_LEVELS || phase_of(phases, step)->direction == VYRE_DIRECTION_FLAT))
    step++;
  return step;
}

/* All directed phases of such a pass use one order (vyre-kernelc). */
bool
vyre_plan_runs_whole(const plan_rows *rows, const plan_pass *pass)
{
  return !rows->on_host && rows->by_program && VYRE_HAS(vyre_phase_kernels, pass->kernels, pass) && pass->kernels->pass &&
         pass->kernels->pass->code && first_directed(pass->phases) < pass->phases->step_count;
}

bool
vyre_plan_uses_old_levels(const plan *p, const plan_pass *pass)
{
  const vyre_phases *phases = pass->phases;
  bool does = false;
  for (uint32_t i = 0; i < phases->step_count; i++) {
    const vyre_phase_step *s = &phases->steps[i];
    if (s->kind > VYRE_STEP_LEVELS)
      continue;
    const bool own = s->kind == VYRE_STEP_LEVELS && s->times;
    does = does || (!own && !runs_by_rows(p, pass, i) && !is_by_depth(phase_of(phases, i)->direction) && is_rewired(pass, i));
    if (s->kind == VYRE_STEP_LEVELS)
      i = s->end - 1;
  }
  return does;
}

static const uint32_t *
key_of(const plan *p, const plan_pass *pass, uint32_t step)
{
  const vyre_phase_step *s = &pass->phases->steps[step];
  const bool by_depth = is_by_depth(phase_of(pass->phases, step)->direction), own = s->kind == VYRE_STEP_LEVELS && s->times;
  return own ? pass->memory[s->memory].data : by_depth ? p->rows->view->depth : p->rows->view->level;
}

/* Returns the index of the order with that key, or order_count if the plan has no such order. */
static uint32_t
find_order(const plan *p, const uint32_t *key, bool by_program)
{
  uint32_t i = 0;
  while (i < p->order_count && (p->orders[i].key != key || p->orders[i].by_program != by_program))
    i++;
  return i;
}

/* ---- orders -------------------------------------------------------------------------------------------------------------- */

/* Returns the row after the rows that share levels with `row`, their first row: those of a program, or all. */
static uint32_t
end_of_rows(const vyre_view *v, const plan_order *o, uint32_t row)
{
  return o->by_program ? vyre_program_end(v, row) : v->rows;
}

/* Counts the levels, by program if the order is. */
static void
number_levels(const vyre_view *v, plan_order *o)
{
  uint32_t program = 0;
  for (uint32_t row = 1, end; row < v->rows; row = end) {
    uint32_t most = 0;
    end = end_of_rows(v, o, row);
    for (uint32_t i = row; i < end; i++)
      most = o->key[i] >= most ? o->key[i] + 1 : most;
    o->longest = most > o->longest ? most : o->longest;
    if (o->by_program)
      o->firsts[program++] = o->levels;
    o->levels += most;
  }
  if (o->by_program)
    o->firsts[program] = o->levels;
}

/* Sorts the rows by level, by counting. */
static bool
make_order(const plan *p, plan_order *o)
{
  const vyre_view *v = p->rows->view;
  o->programs = p->rows->programs;
  if (o->by_program) {
    o->firsts = vyre_allocate(p->allocator, (o->programs + 1) * sizeof *o->firsts);
    if (!o->firsts)
      return false;
  }
  number_levels(v, o);
  o->rows = p->allocator->resize(p->allocator->user, NULL, 0, v->rows * sizeof *o->rows);
  o->starts = vyre_allocate(p->allocator, (o->levels + 2) * sizeof *o->starts);
  if (!o->rows || !o->starts)
    return false;
  for (uint32_t row = 1, program = 0, end; row < v->rows; row = end) {
    uint32_t *counts = o->starts + (o->by_program ? o->firsts[program++] : 0) + 2;
    end = end_of_rows(v, o, row);
    for (uint32_t i = row; i < end; i++)
      counts[o->key[i]]++;
  }
  for (uint32_t level = 1; level <= o->levels; level++)
    o->starts[level + 1] += o->starts[level];
  for (uint32_t row = 1, program = 0, end; row < v->rows; row = end) {
    uint32_t *next = o->starts + (o->by_program ? o->firsts[program++] : 0) + 1;
    end = end_of_rows(v, o, row);
    for (uint32_t i = row; i < end; i++)
      o->rows[next[o->key[i]]++] = i;
  }
  return true;
}

/* Moves the last plan's order with that key to *order, if there is one. */
static bool
take_kept(plan *p, plan_order *order)
{
  for (uint32_t i = 0; i < p->kept_count && order->generation; i++) {
    plan_order *kept = &p->kept[i];
    if (kept->generation != order->generation || kept->by_program != order->by_program)
      continue;
    kept->key = order->key;
    *order = *kept;
    *kept = (plan_order){0};
    return true;
  }
  return false;
}

/* Adds the order of a step's levels, unless the plan has it. */
static bool
add_order(plan *p, const plan_pass *pass, uint32_t step, bool by_program)
{
  plan_order wanted = {.key = key_of(p, pass, step), .by_program = by_program, .count = p->rows->view->rows};
  wanted.generation = vyre_module_generation(p->module, wanted.key);
  if (find_order(p, wanted.key, wanted.by_program) < p->order_count)
    return true;
  if (!vyre_grow(p->allocator, &p->orders, &p->order_capacity, p->order_count + 1, sizeof *p->orders))
    return false;
  plan_order *added = &p->orders[p->order_count++];
  *added = wanted;
  return take_kept(p, added) || make_order(p, added);
}

bool
vyre_plan_add_orders(plan *p, const plan_pass *pass)
{
  const vyre_phases *phases = pass->phases;
  if (vyre_plan_runs_whole(p->rows, pass))
    return add_order(p, pass, first_directed(phases), true);
  for (uint32_t i = 0; i < phases->step_count; i++) {
    const vyre_phase_step *s = &phases->steps[i];
    if (s->kind > VYRE_STEP_LEVELS || runs_by_rows(p, pass, i))
      continue;
    if (!add_order(p, pass, i, runs_by_program(p, pass, i)))
      return false;
    if (s->kind == VYRE_STEP_LEVELS)
      i = s->end - 1;
  }
  return true;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

typedef struct planner {
  plan *p;
  const plan_pass *pass;
  uint32_t number;         /* of the pass */
  const plan_order *order; /* of the step of levels around; NULL if there is none */
  uint32_t level;
} planner;

static void
add_step(planner *w, plan_step step)
{
  plan *p = w->p;
  if (step.count == 0 || p->no_memory)
    return;
  if (!vyre_grow(p->allocator, &p->steps, &p->step_capacity, p->step_count + 1, sizeof *p->steps)) {
    p->no_memory = true;
    return;
  }
  step.pass = w->number;
  p->steps[p->step_count++] = step;
}

static void
add_rows(planner *w, uint32_t phase)
{
  const plan_rows *r = w->p->rows;
  if (r->part_count == 0 || w->pass->phases->phases[phase].direction == VYRE_DIRECTION_FLAT) {
    add_step(w, (plan_step){.kind = PLAN_ROWS, .number = phase, .first = 1, .count = r->view->rows - 1});
    return;
  }
  for (uint32_t i = 0; i < r->part_count; i++)
    add_step(
        w, (plan_step){
               .kind = PLAN_ROWS, .number = phase, .beside = i > 0, .first = r->parts[i], .count = r->parts[i + 1] - r->parts[i]});
}

static void
add_level(planner *w, uint32_t phase)
{
  const plan_order *o = w->order;
  add_step(w, (plan_step){.kind = PLAN_LIST,
                          .number = phase,
                          .order = (uint32_t)(o - w->p->orders),
                          .first = o->starts[w->level],
                          .count = o->starts[w->level + 1] - o->starts[w->level]});
}

static void plan_steps(planner *w, uint32_t at, uint32_t end);

/* Appends the phase, or the steps in the step of levels, for each level. */
static void
add_levels(planner *w, uint32_t step, const plan_order *o)
{
  const vyre_phase_step *s = &w->pass->phases->steps[step];
  const bool down = vyre_plan_is_downward(phase_of(w->pass->phases, step));
  w->order = o;
  for (uint32_t i = 0; i < o->levels; i++) {
    w->level = down ? o->levels - 1 - i : i;
    if (s->kind == VYRE_STEP_LEVELS)
      plan_steps(w, step + 1, s->end);
    else
      add_level(w, s->phase);
  }
  w->order = NULL;
}

static void
add_phase(planner *w, uint32_t step)
{
  const plan *p = w->p;
  const vyre_phase_step *s = &w->pass->phases->steps[step];
  if (runs_by_rows(p, w->pass, step)) {
    add_rows(w, s->phase);
    return;
  }
  const bool by_program = runs_by_program(p, w->pass, step), of_levels = s->kind == VYRE_STEP_LEVELS;
  const uint32_t order = find_order(p, key_of(p, w->pass, step), by_program);
  const plan_order *o = &p->orders[order]; /* vyre_plan_add_orders made it */
  if (!by_program) {
    add_levels(w, step, o);
    return;
  }
  for (uint32_t level = 0; level < o->longest; level += PLAN_LEVELS_AT_ONCE)
    add_step(w, (plan_step){.kind = PLAN_PROGRAMS,
                            .number = of_levels ? step : s->phase,
                            .of_levels = of_levels,
                            .order = order,
                            .first = level,
                            .count = PLAN_LEVELS_AT_ONCE});
}

static void
add_while(planner *w, uint32_t step)
{
  plan *p = w->p;
  const uint32_t first = p->step_count, number = vyre_plan_number_of_while(w->pass->phases, step);
  plan_steps(w, step + 1, w->pass->phases->steps[step].end);
  add_step(w, (plan_step){.kind = PLAN_COMPARE, .number = number, .count = 1});
  if (!vyre_grow(p->allocator, &p->repeats, &p->repeat_capacity, p->repeat_count + 1, sizeof *p->repeats)) {
    p->no_memory = true;
    return;
  }
  p->repeats[p->repeat_count++] = (plan_repeat){first, p->step_count - first, w->number, number};
}

static void
plan_steps(planner *w, uint32_t at, uint32_t end)
{
  const vyre_phases *phases = w->pass->phases;
  while (at < end) {
    const vyre_phase_step *s = &phases->steps[at];
    if (s->kind == VYRE_STEP_RUN && w->order)
      add_level(w, s->phase);
    else if (s->kind <= VYRE_STEP_LEVELS)
      add_phase(w, at);
    for (uint32_t i = 0; s->kind == VYRE_STEP_REPEAT && i < s->times; i++)
      plan_steps(w, at + 1, s->end);
    if (s->kind == VYRE_STEP_REPEAT_WHILE)
      add_while(w, at);
    at = s->kind == VYRE_STEP_RUN ? at + 1 : s->end;
  }
}

void
vyre_plan_add(plan *p, const plan_pass *pass, uint32_t number)
{
  planner w = {.p = p, .pass = pass, .number = number};
  if (vyre_plan_runs_whole(p->rows, pass)) {
    const uint32_t order = find_order(p, key_of(p, pass, first_directed(pass->phases)), true);
    add_step(&w, (plan_step){.kind = PLAN_PASS, .order = order, .count = 1});
    return;
  }
  plan_steps(&w, 0, pass->phases->step_count);
}

void
vyre_plan_add_own(plan *p, plan_step_kind kind, uint32_t pass, uint32_t number)
{
  planner w = {.p = p, .number = pass};
  add_step(&w, (plan_step){.kind = kind, .number = number, .count = 1});
}

void
vyre_plan_free_orders(const vyre_allocator *allocator, plan_order *orders, uint32_t count, uint32_t capacity)
{
  for (uint32_t i = 0; i < count; i++) {
    plan_order *o = &orders[i];
    vyre_release(allocator, o->rows, o->count * sizeof *o->rows);
    vyre_release(allocator, o->starts, (o->levels + 2) * sizeof *o->starts);
    vyre_release(allocator, o->firsts, (o->programs + 1) * sizeof *o->firsts);
  }
  vyre_release(allocator, orders, capacity * sizeof *orders);
}

void
vyre_plan_free(plan *p)
{
  vyre_plan_free_orders(p->allocator, p->orders, p->order_count, p->order_capacity);
  vyre_release(p->allocator, p->steps, p->step_capacity * sizeof *p->steps);
  vyre_release(p->allocator, p->repeats, p->repeat_capacity * sizeof *p->repeats);
}
