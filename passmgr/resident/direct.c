/* A sequence on the CPU: steps are calls of the phases' C functions, and buffers are the host's memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sequence_parts.h"

#include <string.h>

/* Words of host_words: an empty table is bound to NOTHING, so all of its reads are zero.  Words of compares follow. */
enum { NOTHING = 0, FIRST_WORD = 1 };

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static vyre_status
import_words(sequence *s, void *data, uint64_t words)
{
  const vyre_target_ops *ops = s->device->ops;
  return ops->import(s->device->target, data, words * sizeof(uint32_t), &s->buffers[s->buffer_count++]);
}

static vyre_range
all_of(const sequence *s, uint32_t buffer)
{
  return (vyre_range){.buffer = s->buffers[buffer]};
}

static vyre_range
part_of(const sequence *s, uint32_t buffer, uint64_t first, uint64_t words)
{
  return (vyre_range){s->buffers[buffer], first * sizeof(uint32_t), words * sizeof(uint32_t)};
}

/* The buffers of blocks, orders and host_words have consecutive numbers. */
static uint32_t
order_buffer(const sequence *s, uint32_t order)
{
  return s->block_count + order;
}

static uint32_t
words_buffer(const sequence *s)
{
  return s->block_count + s->plan.order_count;
}

static vyre_status
import_memory(sequence *s)
{
  const uint64_t words = FIRST_WORD + 2 * (uint64_t)s->while_count;
  s->buffers = sequence_allocate(s, s->block_count + s->plan.order_count + 1, sizeof *s->buffers);
  s->host_words = sequence_allocate(s, words, sizeof *s->host_words);
  if (!s->buffers || !s->host_words)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t i = 0; i < s->block_count; i++) {
    const sequence_block *b = &s->blocks[i];
    VYRE_TRY(b->words ? import_words(s, b->host, b->words) : import_words(s, &s->host_words[NOTHING], 1));
  }
  for (uint32_t i = 0; i < s->plan.order_count; i++)
    VYRE_TRY(import_words(s, s->plan.orders[i].rows, s->rows.view->rows - 1));
  uint32_t at = FIRST_WORD;
  for (uint32_t i = 0; i < s->count; i++)
    for (uint32_t k = 0; k < s->members[i].whiles; k++, at += 2)
      s->members[i].words[k] = at;
  return import_words(s, s->host_words, words);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* Fills the step with the phase's `rows` function: group g is row g + 1, or counts from the last row. */
static vyre_status
call_rows(const sequence *s, const plan_step *from, const vyre_phase *phase, vyre_step *out)
{
  const uint32_t rows = s->rows.view->rows;
  out->groups[0] = rows - 1;
  out->first = vyre_plan_is_downward(phase) ? rows - from->first - from->count : from->first - 1;
  out->count = from->count;
  return vyre_device_function(s->device, &phase->rows, phase->rows, phase->direction != VYRE_DIRECTION_FLAT, phase->use_count,
                              s->members[from->pass].context->record->pass.name, &out->kernel);
}

static vyre_status
call_listed(const sequence *s, const plan_step *from, const vyre_phase *phase, vyre_range *list, vyre_step *out)
{
  *list = part_of(s, order_buffer(s, from->order), from->first, from->count);
  out->groups[0] = from->count;
  out->buffer_count++;
  return vyre_device_function(s->device, &phase->listed, phase->listed, false, phase->use_count + 1,
                              s->members[from->pass].context->record->pass.name, &out->kernel);
}

/* Fills the step with a compare.  It runs for row 1, whose elements of the two side columns are the words of the compare. */
static vyre_status
call_compare(const sequence *s, const plan_step *from, vyre_range *ranges, vyre_step *out)
{
  const sequence_member *m = &s->members[from->pass];
  const vyre_phase *phase = &compare_phases.phases[0];
  for (uint32_t i = 0; i < phase->use_count; i++) {
    const char *name = compare_phases.memory[phase->uses[i]].name;
    ranges[i] = strcmp(name, "counted") == 0
                    ? all_of(s, m->counters[from->number])
                    : part_of(s, words_buffer(s), m->words[from->number] - (strcmp(name, "added") == 0 ? 0 : 1), 2);
  }
  out->groups[0] = 1;
  return vyre_device_function(s->device, &phase->rows, phase->rows, true, phase->use_count, "(compare)", &out->kernel);
}

static vyre_status
make_step(const sequence *s, const plan_step *from, vyre_step *out)
{
  const sequence_member *m = &s->members[from->pass];
  const vyre_phase *phase = from->kind == PLAN_COMPARE ? &compare_phases.phases[0] : &m->pass.phases->phases[from->number];
  vyre_range *ranges = sequence_allocate(s, phase->use_count + 1, sizeof *ranges);
  if (!ranges)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  out->buffers = ranges;
  out->buffer_count = phase->use_count;
  out->groups[1] = out->groups[2] = 1;
  out->beside = from->beside;
  if (from->kind == PLAN_COMPARE)
    return call_compare(s, from, ranges, out);
  for (uint32_t i = 0; i < phase->use_count; i++)
    ranges[i] = all_of(s, m->blocks[phase->uses[i]]);
  return from->kind == PLAN_ROWS ? call_rows(s, from, phase, out) : call_listed(s, from, phase, &ranges[phase->use_count], out);
}

vyre_status
vyre_direct_build(sequence *s)
{
  const plan *p = &s->plan;
  VYRE_TRY(import_memory(s));
  s->steps = sequence_allocate(s, p->step_count, sizeof *s->steps);
  s->until = sequence_allocate(s, p->repeat_count, sizeof *s->until);
  if (!s->steps || !s->until)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t i = 0; i < p->step_count; i++)
    VYRE_TRY(make_step(s, &p->steps[i], &s->steps[i]));
  for (uint32_t i = 0; i < p->repeat_count; i++)
    s->until[i] = part_of(s, words_buffer(s), s->members[p->repeats[i].pass].words[p->repeats[i].number] + 1, 1);
  return VYRE_OK;
}

vyre_status
vyre_direct_end(sequence *s)
{
  return s->buffer_count ? s->device->ops->free_many(s->device->target, s->buffers, s->buffer_count) : VYRE_OK;
}
