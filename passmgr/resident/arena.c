/* A sequence on a device: all memory is in one buffer, the arena (docs/gpu-passes.md, "On a device").  Offsets are in words.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"
#include "sequence_parts.h"

#include <string.h>

enum {
  FIRST_WORD = 2,        /* after the word for reads out of bounds and the word for scatters out of bounds */
  CONSTANTS = 0x76797265 /* domain of constants in `keep`: an arbitrary number */
};

/* ---- the layout ---------------------------------------------------------------------------------------------------------- */

static uint64_t
place_words(sequence *s, uint64_t words)
{
  const uint64_t at = s->words;
  s->words += words;
  return at;
}

/* Assigns the columns their places, which they keep between sequences.  Returns false if no place is left. */
static bool
place_columns(sequence *s)
{
  vyre_device *device = s->device;
  for (uint32_t i = 0; i < s->block_count; i++) {
    sequence_block *b = &s->blocks[i];
    uint32_t at = 0;
    if (!b->column)
      continue;
    while (at < device->column_count && device->columns[at].column != b->column->column)
      at++;
    if (at == DEVICE_COLUMNS)
      return false;
    if (at == device->column_count)
      device->columns[device->column_count++] = (device_column){b->column->column, b->column->analysis, false};
    b->number = at;
    b->at = FIRST_WORD + (uint64_t)at * s->rows.view->rows;
  }
  return true;
}

static bool
place_heads(sequence *s)
{
  for (uint32_t i = 0; i < s->count; i++) {
    sequence_member *m = &s->members[i];
    m->compares = sequence_allocate(s, m->whiles, sizeof *m->compares);
    if (!m->compares)
      return false;
    m->head = (uint32_t)place_words(s, 2 * m->pass.phases->memory_count);
    for (uint32_t k = 0; k < m->whiles; k++) {
      m->compares[k] = (uint32_t)place_words(s, 2 * compare_phases.memory_count);
      m->words[k] = (uint32_t)place_words(s, 2);
    }
  }
  return true;
}

/* The order of the arena: columns, heads with the words of compares, other memory, orders. */
vyre_status
vyre_arena_lay_out(sequence *s, bool *out_fits)
{
  const vyre_device_info *info = &s->device->info;
  const uint32_t rows = s->rows.view->rows;
  *out_fits = place_columns(s) && rows <= vyre_device_most_rows(s->device) && vyre_plan_rows_fit(&s->rows);
  s->words = s->heads = FIRST_WORD + (uint64_t)s->device->column_count * rows;
  if (!place_heads(s))
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  s->heads_end = s->words;
  for (uint32_t i = 0; i < s->block_count; i++)
    if (!s->blocks[i].column && !s->blocks[i].is_constant)
      s->blocks[i].at = place_words(s, s->blocks[i].words);
  s->orders = s->words;
  for (uint32_t i = 0; i < s->plan.order_count; i++) {
    plan_order *o = &s->plan.orders[i];
    o->rows_at = (uint32_t)place_words(s, rows - 1);
    o->starts_at = o->by_program ? (uint32_t)place_words(s, o->levels + 1) : 0;
    o->firsts_at = o->by_program ? (uint32_t)place_words(s, o->programs + 1) : 0;
  }
  const uint64_t bytes = s->words * sizeof(uint32_t);
  *out_fits = *out_fits && s->words <= UINT32_MAX && bytes <= info->max_storage && bytes <= info->max_buffer;
  return VYRE_OK;
}

/* ---- constants ----------------------------------------------------------------------------------------------------------- */

/* Returns the size of a pass's constants.  They begin at word 1, because word 0 is the result of reads out of bounds. */
static uint64_t
constant_words(const sequence *s, const sequence_member *m)
{
  uint64_t words = 1;
  for (uint32_t i = 0; i < m->pass.phases->memory_count; i++)
    words += s->blocks[m->blocks[i]].is_constant ? s->blocks[m->blocks[i]].words : 0;
  return words;
}

/* Uploads the pass's constants, unless the device still has the same ones. */
static vyre_status
keep_constants(sequence *s, sequence_member *m)
{
  const uint64_t words = constant_words(s, m);
  uint32_t *all = words > 1 ? sequence_allocate(s, words, sizeof *all) : NULL, *at = all;
  if (words == 1)
    return VYRE_OK;
  if (!all)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t i = 0; i < m->pass.phases->memory_count; i++) {
    const sequence_block *b = &s->blocks[m->blocks[i]];
    if (!b->is_constant || b->words == 0)
      continue;
    memcpy(at + 1, b->host, b->words * sizeof *at);
    at += b->words;
  }
  return s->device->ops->keep(s->device->target, CONSTANTS, &(vyre_static){all, words * sizeof *all}, 1, &m->constants, NULL);
}

/* ---- heads --------------------------------------------------------------------------------------------------------------- */

typedef struct head_words {
  uint32_t *words;
  uint64_t first; /* offset in the arena */
} head_words;

static void
put_head(const head_words *h, uint32_t head, uint32_t memory, uint64_t at, uint64_t words)
{
  h->words[head - h->first + 2 * memory] = (uint32_t)at;
  h->words[head - h->first + 2 * memory + 1] = (uint32_t)words;
}

/* Writes the head of a compare.  It runs for row 1, whose elements of the two side columns are the words of the compare. */
static void
put_compare(const sequence *s, const head_words *h, const sequence_member *m, uint32_t number)
{
  for (uint32_t i = 0; i < compare_phases.memory_count; i++) {
    const char *name = compare_phases.memory[i].name;
    if (strcmp(name, "counted") == 0)
      put_head(h, m->compares[number], i, s->blocks[m->counters[number]].at, 1);
    else
      put_head(h, m->compares[number], i, m->words[number] - (strcmp(name, "added") == 0 ? 0 : 1), 2);
  }
}

static uint32_t *
make_heads(const sequence *s)
{
  const head_words h = {sequence_allocate(s, s->heads_end - s->heads, sizeof(uint32_t)), s->heads};
  for (uint32_t i = 0; i < s->count && h.words; i++) {
    const sequence_member *m = &s->members[i];
    uint64_t constant = 1;
    for (uint32_t k = 0; k < m->pass.phases->memory_count; k++) {
      const sequence_block *b = &s->blocks[m->blocks[k]];
      put_head(&h, m->head, k, b->is_constant ? constant : b->at, b->words);
      constant += b->is_constant ? b->words : 0;
    }
    for (uint32_t k = 0; k < m->whiles; k++)
      put_compare(s, &h, m, k);
  }
  return h.words;
}

/* ---- transfers ----------------------------------------------------------------------------------------------------------- */

static vyre_range
words_at(const sequence *s, uint64_t at, uint64_t words)
{
  return (vyre_range){s->device->arena, at * sizeof(uint32_t), words * sizeof(uint32_t)};
}

static void
add_upload(sequence *s, uint64_t at, uint64_t words, const void *data)
{
  if (words)
    s->uploads[s->upload_count++] = (vyre_upload){words_at(s, at, words), data};
}

static void
add_fill(sequence *s, uint64_t at, uint64_t words)
{
  s->fills[s->fill_count++] = (vyre_fill){words_at(s, at, words), 0};
}

/* Returns whether the memory is all zero, as fills make it on the device. */
static bool
is_zero(const sequence_block *b)
{
  const uint32_t *words = b->host;
  uint32_t all = 0;
  for (uint64_t i = 0; i < b->words; i++)
    all |= words[i];
  return all == 0;
}

/* Lists the transfers of blocks.  Valid columns are not uploaded.  Columns that a pass of the sequence provides begin as zeros. */
static void
list_blocks(sequence *s)
{
  for (uint32_t i = 0; i < s->block_count; i++) {
    const sequence_block *b = &s->blocks[i];
    if (b->column && !b->is_uploaded)
      add_fill(s, b->at, b->words);
    else if (b->is_uploaded && !(b->column ? s->device->columns[b->number].holds : is_zero(b)))
      add_upload(s, b->at, b->words, b->host);
    if (b->is_read_back && b->words)
      s->reads[s->read_count++] = (vyre_read){words_at(s, b->at, b->words), b->host};
  }
}

static vyre_status
list_transfers(sequence *s)
{
  uint32_t *heads = make_heads(s);
  s->fills = sequence_allocate(s, 2 + s->block_count, sizeof *s->fills);
  s->uploads = sequence_allocate(s, 1 + s->block_count + 3 * (size_t)s->plan.order_count, sizeof *s->uploads);
  s->reads = sequence_allocate(s, s->block_count, sizeof *s->reads);
  if (!heads || !s->fills || !s->uploads || !s->reads)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  add_fill(s, 0, FIRST_WORD);
  if (s->orders > s->heads_end)
    add_fill(s, s->heads_end, s->orders - s->heads_end);
  add_upload(s, s->heads, s->heads_end - s->heads, heads);
  list_blocks(s);
  for (uint32_t i = 0; i < s->plan.order_count; i++) {
    const plan_order *o = &s->plan.orders[i];
    add_upload(s, o->rows_at, s->rows.view->rows - 1, o->rows);
    if (o->by_program) {
      add_upload(s, o->starts_at, o->levels + 1, o->starts);
      add_upload(s, o->firsts_at, o->programs + 1, o->firsts);
    }
  }
  return VYRE_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* Returns the step's kernel, its push constants and its number of workgroups. */
static const vyre_phase_kernel *
kernel_of(const sequence *s, const plan_step *step, uint32_t push[DEVICE_PUSH], uint32_t *out_groups)
{
  const sequence_member *m = &s->members[step->pass];
  const vyre_phase_kernels *kernels = m->pass.kernels;
  const plan_order *o = step->kind >= PLAN_LIST && step->kind <= PLAN_PASS ? &s->plan.orders[step->order] : NULL;
  *out_groups = (step->count + DEVICE_WORKGROUP - 1) / DEVICE_WORKGROUP;
  push[0] = m->head;
  push[1] = step->first;
  push[2] = step->count;
  switch (step->kind) {
  case PLAN_ROWS:
    return &kernels->rows[step->number];
  case PLAN_LIST:
    push[1] += o->rows_at;
    return &kernels->rows[step->number];
  case PLAN_PROGRAMS:
  case PLAN_PASS:
    *out_groups = o->programs;
    push[1] = o->rows_at;
    push[2] = o->starts_at;
    push[3] = o->firsts_at;
    push[4] = step->first;
    push[5] = step->count;
    return step->kind == PLAN_PASS ? kernels->pass
           : step->of_levels       ? &kernels->levels[step->number]
                                   : &kernels->programs[step->number];
  default:
    push[0] = m->compares[step->number];
    push[1] = push[2] = 1;
    return &vyre_phases_kernels(&compare_phases, 1u << kernels->form)->rows[0];
  }
}

/* Returns the arena and the pass's constants.  Without constants, as for a compare, the arena is bound twice. */
static const vyre_range *
buffers_of(const sequence *s, const plan_step *step, vyre_range out[2])
{
  const vyre_device_buffer constants = step->kind == PLAN_COMPARE ? (vyre_device_buffer){0} : s->members[step->pass].constants;
  out[0] = words_at(s, 0, s->words);
  out[1] = constants.id ? (vyre_range){.buffer = constants} : out[0];
  return out;
}

static vyre_status
make_steps(sequence *s)
{
  const plan *p = &s->plan;
  vyre_range(*buffers)[2] = sequence_allocate(s, p->step_count, sizeof *buffers);
  uint32_t(*push)[DEVICE_PUSH] = sequence_allocate(s, p->step_count, sizeof *push);
  s->steps = sequence_allocate(s, p->step_count, sizeof *s->steps);
  s->until = sequence_allocate(s, p->repeat_count, sizeof *s->until);
  if (!buffers || !push || !s->steps || !s->until)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t i = 0; i < p->step_count; i++) {
    vyre_step *step = &s->steps[i];
    const sequence_member *m = &s->members[p->steps[i].pass];
    const vyre_phase_kernel *kernel = kernel_of(s, &p->steps[i], push[i], &step->groups[0]);
    const bool by_program = p->steps[i].kind == PLAN_PROGRAMS || p->steps[i].kind == PLAN_PASS;
    VYRE_TRY(
        vyre_device_kernel(s->device, kernel, m->pass.kernels->form, by_program, m->context->record->pass.name, &step->kernel));
    step->groups[1] = step->groups[2] = 1;
    step->buffers = buffers_of(s, &p->steps[i], buffers[i]);
    step->buffer_count = 2;
    step->push = push[i];
    step->push_size = (by_program ? DEVICE_PUSH : DEVICE_PUSH_ROWS) * sizeof(uint32_t);
    step->beside = p->steps[i].beside;
  }
  for (uint32_t i = 0; i < p->repeat_count; i++)
    s->until[i] = words_at(s, s->members[p->repeats[i].pass].words[p->repeats[i].number] + 1, 1);
  return VYRE_OK;
}

vyre_status
vyre_arena_build(sequence *s)
{
  VYRE_TRY(vyre_device_reserve(s->device, s->words * sizeof(uint32_t)));
  for (uint32_t i = 0; i < s->count; i++)
    VYRE_TRY(keep_constants(s, &s->members[i]));
  VYRE_TRY(list_transfers(s));
  return make_steps(s);
}

vyre_status
vyre_arena_end(sequence *s, bool is_done)
{
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < s->block_count && is_done; i++)
    if (s->blocks[i].column)
      s->device->columns[s->blocks[i].number].holds = true;
  if (!is_done)
    vyre_device_forget(s->device, DEVICE_ALL);
  for (uint32_t i = 0; s->members && i < s->count; i++)
    if (s->members[i].constants.id)
      status = vyre_status_join(status, s->device->ops->drop(s->device->target, &s->members[i].constants, 1));
  return status;
}
