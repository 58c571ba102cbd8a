/* A sequence on a device: all memory lies in one buffer of words, the arena (docs/gpu-passes.md, "On a device"); offsets are in
 * words.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sequence_parts.h"

#include <string.h>

enum {
  FIRST_WORD = 2, /* of the arena: one that is 0, one that takes what nobody wants */
  PUSH = 6,       /* words of push constants that kernels take at most */
  WORKGROUP = 64, /* invocations of a kernel: phases.h */
  FEW_WALKS = 4   /* over all rows, which a phase may take for a row that nothing else settles */
};

/* ---- where everything is ------------------------------------------------------------------------------------------------- */

static uint64_t
lay(sequence *s, uint64_t words)
{
  const uint64_t at = s->words;
  s->words += words;
  return at;
}

/* Heads come first, then what compares remember, then memory, then orders. */
vyre_status
vyre_arena_lay_out(sequence *s, bool *out_fits)
{
  s->words = FIRST_WORD;
  for (uint32_t i = 0; i < s->count; i++) {
    sequence_member *m = &s->members[i];
    m->compares = sequence_take(s, m->whiles, sizeof *m->compares);
    if (!m->compares)
      return VYRE_OUT_OF_MEMORY("for a sequence of passes");
    m->head = (uint32_t)lay(s, 2 * m->pass.phases->memory_count);
    for (uint32_t k = 0; k < m->whiles; k++) {
      m->compares[k] = (uint32_t)lay(s, 2 * compare_phases.memory_count);
      m->words[k] = (uint32_t)lay(s, 2);
    }
  }
  for (uint32_t i = 0; i < s->block_count; i++)
    s->blocks[i].at = lay(s, s->blocks[i].words);
  for (uint32_t i = 0; i < s->plan.order_count; i++) {
    plan_order *o = &s->plan.orders[i];
    o->rows_at = (uint32_t)lay(s, s->rows.view->rows - 1);
    o->starts_at = o->by_program ? (uint32_t)lay(s, o->levels + 1) : 0;
    o->firsts_at = o->by_program ? (uint32_t)lay(s, o->programs + 1) : 0;
  }
  const uint64_t bytes = s->words * sizeof(uint32_t);
  const uint32_t most = s->device->info.max_iterations;
  if (most && s->rows.view->rows > most / FEW_WALKS) {
    *out_fits = false;
    return VYRE_OK;
  }
  *out_fits = s->words <= UINT32_MAX && bytes <= s->device->info.max_storage && bytes <= s->device->info.max_buffer;
  return VYRE_OK;
}

static void
put_head(uint32_t *arena, uint32_t head, uint32_t memory, uint64_t at, uint64_t words)
{
  arena[head + 2 * memory] = (uint32_t)at;
  arena[head + 2 * memory + 1] = (uint32_t)words;
}

/* A compare takes row 1, whose elements of its side columns are the two words. */
static void
put_compare(const sequence *s, uint32_t *arena, const sequence_member *m, uint32_t number)
{
  for (uint32_t i = 0; i < compare_phases.memory_count; i++) {
    const char *name = compare_phases.memory[i].name;
    if (strcmp(name, "counted") == 0)
      put_head(arena, m->compares[number], i, s->blocks[m->counters[number]].at, 1);
    else
      put_head(arena, m->compares[number], i, m->words[number] - (strcmp(name, "added") == 0 ? 0 : 1), 2);
  }
}

/* The arena up to the first block. */
static uint32_t *
make_heads(const sequence *s, uint64_t words)
{
  uint32_t *arena = sequence_take(s, words, sizeof *arena);
  for (uint32_t i = 0; i < s->count && arena; i++) {
    const sequence_member *m = &s->members[i];
    for (uint32_t k = 0; k < m->pass.phases->memory_count; k++)
      put_head(arena, m->head, k, s->blocks[m->blocks[k]].at, s->blocks[m->blocks[k]].words);
    for (uint32_t k = 0; k < m->whiles; k++)
      put_compare(s, arena, m, k);
  }
  return arena;
}

/* ---- transfers ----------------------------------------------------------------------------------------------------------- */

static vyre_range
words_at(const sequence *s, uint64_t at, uint64_t words)
{
  return (vyre_range){s->device->arena, at * sizeof(uint32_t), words * sizeof(uint32_t)};
}

static void
upload(sequence *s, uint64_t at, uint64_t words, const void *data)
{
  if (words)
    s->uploads[s->upload_count++] = (vyre_upload){words_at(s, at, words), data};
}

static vyre_status
list_transfers(sequence *s)
{
  const uint64_t head_words = s->block_count ? s->blocks[0].at : FIRST_WORD;
  uint32_t *heads = make_heads(s, head_words);
  s->uploads = sequence_take(s, 1 + s->block_count + 3 * (size_t)s->plan.order_count, sizeof *s->uploads);
  s->reads = sequence_take(s, s->block_count, sizeof *s->reads);
  if (!heads || !s->uploads || !s->reads)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  s->fill = (vyre_fill){words_at(s, 0, s->words), 0};
  s->fill_count = 1;
  upload(s, 0, head_words, heads);
  for (uint32_t i = 0; i < s->block_count; i++) {
    const sequence_block *b = &s->blocks[i];
    if (b->goes_up)
      upload(s, b->at, b->words, b->host);
    if (b->comes_down && b->words)
      s->reads[s->read_count++] = (vyre_read){words_at(s, b->at, b->words), b->host};
  }
  for (uint32_t i = 0; i < s->plan.order_count; i++) {
    const plan_order *o = &s->plan.orders[i];
    upload(s, o->rows_at, s->rows.view->rows - 1, o->rows);
    if (o->by_program) {
      upload(s, o->starts_at, o->levels + 1, o->starts);
      upload(s, o->firsts_at, o->programs + 1, o->firsts);
    }
  }
  return VYRE_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* What the step's kernel is given, which `groups` workgroups share. */
static const vyre_phase_kernel *
kernel_of(const sequence *s, const plan_step *step, uint32_t push[PUSH], uint32_t *out_groups)
{
  const sequence_member *m = &s->members[step->pass];
  const vyre_phases *phases = m->pass.phases;
  const plan_order *o = step->kind == PLAN_LIST || step->kind == PLAN_PROGRAMS ? &s->plan.orders[step->order] : NULL;
  *out_groups = (step->count + WORKGROUP - 1) / WORKGROUP;
  push[0] = m->head;
  push[1] = step->first;
  push[2] = step->count;
  switch (step->kind) {
  case PLAN_ROWS:
    return &phases->row_kernels[step->number];
  case PLAN_LIST:
    push[1] += o->rows_at;
    return &phases->row_kernels[step->number];
  case PLAN_PROGRAMS:
    *out_groups = o->programs;
    push[1] = o->rows_at;
    push[2] = o->starts_at;
    push[3] = o->firsts_at;
    push[4] = step->first;
    push[5] = step->count;
    return step->of_levels ? &phases->level_kernels[step->number] : &phases->program_kernels[step->number];
  default:
    push[0] = m->compares[step->number];
    push[1] = push[2] = 1;
    return &compare_phases.row_kernels[0];
  }
}

static vyre_status
make_steps(sequence *s)
{
  const plan *p = &s->plan;
  vyre_range *whole = sequence_take(s, 1, sizeof *whole);
  uint32_t(*push)[PUSH] = sequence_take(s, p->step_count, sizeof *push);
  s->steps = sequence_take(s, p->step_count, sizeof *s->steps);
  s->until = sequence_take(s, p->repeat_count, sizeof *s->until);
  if (!whole || !push || !s->steps || !s->until)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  *whole = words_at(s, 0, s->words);
  for (uint32_t i = 0; i < p->step_count; i++) {
    vyre_step *step = &s->steps[i];
    const vyre_phase_kernel *kernel = kernel_of(s, &p->steps[i], push[i], &step->groups[0]);
    VYRE_TRY(vyre_device_kernel(s->device, kernel, s->members[p->steps[i].pass].context->record->pass.name, &step->kernel));
    step->groups[1] = step->groups[2] = 1;
    step->buffers = whole;
    step->buffer_count = 1;
    step->push = push[i];
    step->push_size = sizeof push[i];
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
  VYRE_TRY(list_transfers(s));
  return make_steps(s);
}
