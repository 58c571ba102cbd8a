/* Sweeps: a pass's phases over the rows, in the order that their directions ask for.
 *
 *   one thread     program order, or from the last row: each operand before its users, each region before what is in it
 *   levels         phases that take turns go level by level, over a list of rows in the order of their levels
 *   more threads   each takes whole programs; where one program is most of the module, parts of a level
 *
 * Barriers stand between phases.  A phase gives the same bytes in any of these ways, because it does only what phases may
 * (docs/gpu-passes.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
  MOST_THREADS = 64,
  MOST_USES = 65,       /* and the list */
  ROWS_A_THREAD = 4096, /* fewer are not worth a thread */
};

/* Rows in the order of their levels, or depths. */
typedef struct order {
  uint32_t *list, *starts; /* starts[k]: where level k begins, up to starts[levels] */
  uint32_t levels;
} order;

typedef struct sweep {
  vyre_context *context;
  const vyre_view *view;
  const vyre_phases *phases;
  vyre_c_buffer *memory;
  uint32_t threads;
  bool is_parted;                   /* threads take whole programs: */
  uint32_t parts[MOST_THREADS + 1]; /* the first rows of what each takes, and where the last part ends */
  order by_level, by_depth;
  bool is_rewired; /* a phase that may write operands has run */
  /* in levels: */
  const order *order;
  uint32_t level;
} sweep;

/* ---- threads ------------------------------------------------------------------------------------------------------------- */

typedef struct part {
  uint32_t (*run)(const vyre_c_dispatch *dispatch);
  vyre_c_dispatch dispatch;
  pthread_t thread;
  bool is_own; /* it has a thread of its own */
} part;

static void *
run_part(void *user)
{
  const part *p = user;
  if (p->dispatch.count)
    p->run(&p->dispatch);
  return NULL;
}

/* All of them, the first one here; a thread that cannot be had is done without. */
static void
run_parts(part *parts, uint32_t count)
{
  for (uint32_t i = 1; i < count; i++)
    parts[i].is_own = pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) == 0;
  for (uint32_t i = 0; i < count; i++)
    if (!parts[i].is_own)
      run_part(&parts[i]);
  for (uint32_t i = 0; i < count; i++)
    if (parts[i].is_own)
      pthread_join(parts[i].thread, NULL);
}

/* Parts of whole programs, of about as many rows each. */
static void
part_rows(sweep *s)
{
  const vyre_view *v = s->view;
  uint32_t count = 0, largest = 0;
  const uint32_t most = v->rows / ROWS_A_THREAD + 1;
  s->threads = s->threads > most ? most : s->threads;
  const uint32_t wanted = v->rows / s->threads + 1;
  s->parts[0] = 1;
  for (uint32_t program = v->first[0]; program && count + 1 < s->threads; program = v->next[program])
    if (program - s->parts[count] >= wanted)
      s->parts[++count] = program;
  s->parts[++count] = v->rows;
  for (uint32_t i = 0; i < count; i++)
    largest = s->parts[i + 1] - s->parts[i] > largest ? s->parts[i + 1] - s->parts[i] : largest;
  for (; count < s->threads; count++)
    s->parts[count + 1] = v->rows;
  /* Else one program is most of it; of two parts each may have as much as twice its half, which is all. */
  s->is_parted = s->threads > 1 && largest <= 2 * wanted && largest <= v->rows - v->rows / 4;
}

/* ---- a phase ------------------------------------------------------------------------------------------------------------- */

static uint32_t
bind(const sweep *s, const vyre_phase *phase, vyre_c_buffer buffers[MOST_USES])
{
  for (uint32_t i = 0; i < phase->use_count; i++)
    buffers[i] = s->memory[phase->uses[i]];
  return phase->use_count;
}

/* A call with the whole grid is alone with its memory (c.h), so that its atomics are plain. */
static void
run_listed(const sweep *s, const vyre_phase *phase, const order *by, uint32_t level)
{
  uint32_t *list = by->list + by->starts[level];
  const uint32_t count = by->starts[level + 1] - by->starts[level];
  const uint32_t most = count / ROWS_A_THREAD + 1, threads = s->threads < most ? s->threads : most;
  vyre_c_buffer buffers[MOST_USES];
  part parts[MOST_THREADS] = {0};
  buffers[bind(s, phase, buffers)] = (vyre_c_buffer){list, sizeof *list * count};
  for (uint32_t i = 0; i < threads; i++) {
    const uint64_t from = (uint64_t)count * i / threads, to = (uint64_t)count * (i + 1) / threads;
    parts[i] = (part){.run = phase->listed, .dispatch = {{count, 1, 1}, from, to - from, buffers}};
  }
  run_parts(parts, threads);
}

static bool
goes_down(const vyre_phase *phase)
{
  return phase->direction == VYRE_DIRECTION_DOWN || phase->direction == VYRE_DIRECTION_OUTWARD;
}

/* By any number of threads if it is flat, else by one, or each a part of whole programs. */
static void
run_rows(const sweep *s, const vyre_phase *phase)
{
  const bool is_flat = phase->direction == VYRE_DIRECTION_FLAT;
  const uint32_t rows = s->view->rows, threads = is_flat || s->is_parted ? s->threads : 1;
  vyre_c_buffer buffers[MOST_USES];
  part parts[MOST_THREADS] = {0};
  bind(s, phase, buffers);
  for (uint32_t i = 0; i < threads; i++) {
    uint32_t from = s->parts[i], to = s->parts[i + 1];
    if (!s->is_parted) {
      from = 1 + (uint32_t)((uint64_t)(rows - 1) * i / threads);
      to = 1 + (uint32_t)((uint64_t)(rows - 1) * (i + 1) / threads);
    }
    const uint32_t first = goes_down(phase) ? rows - to : from - 1;
    parts[i] = (part){.run = phase->rows, .dispatch = {{rows - 1, 1, 1}, first, to - from, buffers}};
  }
  run_parts(parts, threads);
}

/* ---- levels -------------------------------------------------------------------------------------------------------------- */

/* A counting sort. */
static bool
make_order(const sweep *s, const uint32_t *key, order *out)
{
  const vyre_host *host = s->context->base.host;
  vyre_pass_ctx *ctx = &s->context->base;
  const uint32_t rows = s->view->rows;
  uint32_t levels = 0;
  for (uint32_t row = 1; row < rows; row++)
    levels = key[row] >= levels ? key[row] + 1 : levels;
  out->list = host->alloc(ctx, sizeof(uint32_t) * rows);
  out->starts = host->alloc(ctx, sizeof(uint32_t) * (levels + 2));
  if (!out->list || !out->starts)
    return false;
  out->levels = levels;
  for (uint32_t row = 1; row < rows; row++)
    out->starts[key[row] + 2]++;
  for (uint32_t level = 1; level <= levels; level++)
    out->starts[level + 1] += out->starts[level];
  for (uint32_t row = 1; row < rows; row++)
    out->list[out->starts[key[row] + 1]++] = row;
  return true;
}

/* What a directed phase goes by.  NULL: no memory. */
static const order *
order_of(sweep *s, const vyre_phase *phase)
{
  const bool by_depth = phase->direction == VYRE_DIRECTION_INWARD || phase->direction == VYRE_DIRECTION_OUTWARD;
  order *by = by_depth ? &s->by_depth : &s->by_level;
  if (by->list || make_order(s, by_depth ? s->view->depth : s->view->level, by))
    return by;
  return NULL;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

static vyre_status run_steps(sweep *s, uint32_t at, uint32_t end);

static bool
writes_operands(const sweep *s, const vyre_phase *phase)
{
  bool writes = false;
  for (uint32_t i = 0; i < phase->use_count; i++) {
    const uint32_t *column = s->memory[phase->uses[i]].data;
    writes |= phase->writes[i] && (column == s->view->a || column == s->view->b || column == s->view->c);
  }
  return writes;
}

/* Whether they are levels: operands have lower ones. */
static bool
are_levels(const vyre_view *v, const uint32_t *level)
{
  uint32_t wrong = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
    wrong |=
        (a && level[a] >= level[row]) | (b && level[b] >= level[row]) | (c && level[c] >= level[row]) | (level[row] >= v->rows);
  }
  return !wrong;
}

static bool
goes_by_operands(const vyre_phase *phase)
{
  return phase->direction == VYRE_DIRECTION_UP || phase->direction == VYRE_DIRECTION_DOWN;
}

static bool
goes_by_rows(const sweep *s, const vyre_phase *phase)
{
  return s->threads == 1 || s->is_parted || phase->direction == VYRE_DIRECTION_FLAT || !s->view->level ||
         (s->is_rewired && !are_levels(s->view, s->view->level));
}

static vyre_status
run_phase(sweep *s, const vyre_phase *phase)
{
  if (s->order) {
    run_listed(s, phase, s->order, s->level);
    return VYRE_OK;
  }
  if (goes_by_rows(s, phase)) {
    run_rows(s, phase);
    return VYRE_OK;
  }
  const order *by = order_of(s, phase);
  if (!by)
    return s->context->base.host->out_of_memory(&s->context->base);
  for (uint32_t i = 0; i < by->levels; i++)
    run_listed(s, phase, by, goes_down(phase) ? by->levels - 1 - i : i);
  return VYRE_OK;
}

static const vyre_phase *
first_phase(const sweep *s, uint32_t at, uint32_t end)
{
  for (; at < end; at++)
    if (s->phases->steps[at].kind == VYRE_STEP_RUN)
      return &s->phases->phases[s->phases->steps[at].phase];
  return NULL;
}

static vyre_status
run_levels(sweep *s, const vyre_phase_step *step, uint32_t at)
{
  const uint32_t end = step->end;
  const vyre_host *host = s->context->base.host;
  const vyre_phase *phase = first_phase(s, at, end);
  const uint32_t *own = step->times ? s->memory[step->memory].data : NULL;
  order made = {0};
  if (!phase)
    return VYRE_OK;
  if (own && !are_levels(s->view, own))
    return host->error(&s->context->base, 0, "it gives a row a level that is not above those of its operands");
  if (!own && s->is_rewired && goes_by_operands(phase) && !are_levels(s->view, s->view->level))
    return host->error(&s->context->base, 0,
                       "its phases gave rows other operands, and go by levels after it that are those of the old ones");
  const order *by = !own ? order_of(s, phase) : make_order(s, own, &made) ? &made : NULL;
  if (!by)
    return host->out_of_memory(&s->context->base);
  for (uint32_t i = 0; i < by->levels; i++) {
    s->order = by;
    s->level = goes_down(phase) ? by->levels - 1 - i : i;
    vyre_status status = run_steps(s, at, end);
    s->order = NULL;
    VYRE_TRY(status);
  }
  return VYRE_OK;
}

/* What goes on so long has no end: each iteration says something new of some row. */
static vyre_status
run_while(sweep *s, const vyre_phase_step *step, uint32_t at)
{
  const uint32_t *counter = s->memory[step->memory].data;
  const uint64_t most = 64 + 4 * (uint64_t)s->view->rows;
  char message[200];
  for (uint64_t i = 0; i < most; i++) {
    const uint32_t before = *counter;
    VYRE_TRY(run_steps(s, at, step->end));
    if (*counter == before)
      return VYRE_OK;
  }
  snprintf(message, sizeof message, "its phases still add to counter '%s' in iteration %llu", s->phases->memory[step->memory].name,
           (unsigned long long)most);
  return s->context->base.host->error(&s->context->base, 0, message);
}

static vyre_status
run_steps(sweep *s, uint32_t at, uint32_t end)
{
  while (at < end) {
    const vyre_phase_step *step = &s->phases->steps[at];
    switch ((vyre_phase_step_kind)step->kind) {
    case VYRE_STEP_RUN:
      VYRE_TRY(run_phase(s, &s->phases->phases[step->phase]));
      s->is_rewired |= writes_operands(s, &s->phases->phases[step->phase]);
      at++;
      continue;
    case VYRE_STEP_LEVELS:
      VYRE_TRY(run_levels(s, step, at + 1));
      break;
    case VYRE_STEP_REPEAT:
      for (uint32_t i = 0; i < step->times; i++)
        VYRE_TRY(run_steps(s, at + 1, step->end));
      break;
    case VYRE_STEP_REPEAT_WHILE:
      VYRE_TRY(run_while(s, step, at + 1));
      break;
    }
    at = step->end;
  }
  return VYRE_OK;
}

vyre_status
vyre_phases_sweep(vyre_context *context, const vyre_view *view, const vyre_phases *phases, vyre_c_buffer *memory)
{
  const uint32_t threads = context->options.threads;
  sweep s = {.context = context, .view = view, .phases = phases, .memory = memory};
  if (view->rows < 2)
    return VYRE_OK;
  s.threads = threads == 0 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
  part_rows(&s);
  return run_steps(&s, 0, phases->step_count);
}
