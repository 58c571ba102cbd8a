/* Runs several rounds of the same passes in one submission.
 *
 * Rows that a pass removes stay as gaps until the host seals the table after the last round, so no row gets another number between
 * rounds.  All rounds share the memory of side columns, which is cleared between them.  Each round has its own counters.
 *
 * In a fixpoint, a program leaves after a round that does not change it.  The step after a round (changes.vir) compares the columns
 * with copies from before the round, and hides the rows of unchanged programs.  Later rounds skip hidden rows as they skip
 * removed ones, so the rounds of a program end on the device.  The host gets the number of rounds that changed each program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sequence_parts.h"

#include <string.h>

enum {
  BLOCK = 256, /* invocations of a workgroup of changes.vir */
  LAST = 1,    /* bits of a step's mode, as in changes.vir */
  HIDE = 2,
  UNTIL_UNCHANGED = 4,
  COPY = 8
};

/* Lists the columns of the table that the passes write, op first.  Without until_unchanged, op is enough.  Returns false if op or
 * room is missing. */
static bool
list_columns(sequence *s)
{
  sequence_turns *t = &s->turns;
  t->columns = 1;
  bool has_op = false;
  for (uint32_t i = 0; i < s->block_count; i++) {
    const sequence_block *b = &s->blocks[i];
    if (!b->column || b->column->analysis)
      continue;
    const bool is_op = b->column->column == offsetof(vyre_view, op);
    if (!is_op && !(b->is_read_back && s->rounds->until_unchanged))
      continue;
    if (!is_op && t->columns == SEQUENCE_CHANGES)
      return false;
    t->blocks[is_op ? 0 : t->columns++] = i;
    has_op |= is_op;
  }
  return has_op;
}

static uint64_t
groups_of(const sequence *s)
{
  return (s->rows.view->rows + UINT64_C(1) * BLOCK - 1) / BLOCK;
}

/* Returns the block of the versions, or NULL if no phase reads them. */
static const sequence_block *
find_versions(const sequence *s)
{
  for (uint32_t i = 0; i < s->block_count; i++)
    if (s->blocks[i].column && s->blocks[i].column->column == offsetof(vyre_view, version))
      return &s->blocks[i];
  return NULL;
}

/* Sets the bit of each row that a join or its parts name. */
static bool
find_named(sequence *s)
{
  sequence_turns *t = &s->turns;
  const vyre_view *v = s->rows.view;
  t->named_words = (v->rows + 31) / 32;
  t->named = sequence_allocate(s, t->named_words, sizeof *t->named);
  for (uint32_t i = 1; i < v->join_count && t->named; i++) {
    const vyre_join *join = &v->joins[i];
    t->named[join->row / 32] |= 1u << join->row % 32;
    for (uint32_t k = 0; k < join->count; k++) {
      const vyre_part *part = &v->parts[join->first + k];
      const uint32_t version = (part->version & VYRE_JOIN) ? 0 : part->version;
      t->named[version / 32] |= 1u << version % 32;
      t->named[part->edge / 32] |= 1u << part->edge % 32;
    }
  }
  return t->named != NULL;
}

vyre_status
vyre_rounds_begin(sequence *s, bool *out_fits)
{
  const vyre_device_info *info = &s->device->info;
  sequence_turns *t = &s->turns;
  const sequence_rounds *r = s->rounds;
  *out_fits = true;
  if (!r)
    return VYRE_OK;
  *out_fits = info->max_invocations >= BLOCK && info->max_groups[0] >= groups_of(s);
  if (!r->until_unchanged && !r->checks_versions)
    return VYRE_OK;
  const vyre_view *v = s->rows.view;
  *out_fits = *out_fits && list_columns(s) && (!r->checks_versions || find_versions(s));
  t->programs = s->rows.programs + 1;
  t->starts = sequence_allocate(s, t->programs, sizeof *t->starts);
  t->changed = sequence_allocate(s, t->programs, sizeof *t->changed);
  if (!t->starts || !t->changed || (r->checks_versions && !find_named(s)))
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t program = v->first[0], i = 0; program; program = v->next[program])
    t->starts[i++] = program;
  return VYRE_OK;
}

void
vyre_rounds_end(sequence *s)
{
  const sequence_turns *t = &s->turns;
  if (t->programs && s->rounds->until_unchanged)
    memcpy(s->rounds->changed, t->changed, (t->programs - 1) * sizeof *t->changed);
  if (t->programs && s->rounds->checks_versions)
    s->rounds->lost = t->changed[t->programs - 1];
}

void
vyre_rounds_place_kept(sequence *s)
{
  sequence_turns *t = &s->turns;
  t->starts_at = s->words;
  t->named_at = t->starts_at + t->programs;
  s->words = t->named_at + t->named_words;
}

/* Returns whether the memory has no contents before and after a round, so that all rounds can share it. */
static bool
is_cleared(const sequence_block *b)
{
  return !b->column && !b->is_constant && !b->is_kept && !b->is_read_back && !b->is_uploaded && b->start == 0;
}

/* Places the counters `loses_versions`, those of each round together. */
static void
place_losses(sequence *s)
{
  sequence_turns *t = &s->turns;
  t->lost_at = s->words;
  t->losers = 0;
  for (uint32_t round = 0; s->rounds && round < s->rounds->count; round++)
    for (uint32_t i = 0; i < s->block_count; i++)
      if (s->blocks[i].is_loss_of_versions && s->blocks[i].round == round) {
        s->blocks[i].at = s->words++;
        t->losers += round == 0;
      }
}

/* Places the memory that all rounds share after the memory that each pass has for itself. */
void
vyre_rounds_place_zeros(sequence *s)
{
  sequence_turns *t = &s->turns;
  t->changed_at = s->words;
  s->words += t->programs;
  place_losses(s);
  for (uint32_t i = 0; i < s->block_count; i++) {
    sequence_block *b = &s->blocks[i];
    if (b->column || b->is_constant || b->is_kept || (s->rounds && (is_cleared(b) || b->is_loss_of_versions)))
      continue;
    b->at = s->words;
    s->words += b->words;
  }
  t->clear_at = t->clear_end = s->words;
  for (uint32_t round = 0; s->rounds && round < s->rounds->count; round++) {
    uint64_t at = t->clear_at;
    for (uint32_t i = 0; i < s->block_count; i++)
      if (is_cleared(&s->blocks[i]) && s->blocks[i].round == round) {
        s->blocks[i].at = at;
        at += s->blocks[i].words;
      }
    t->clear_end = at > t->clear_end ? at : t->clear_end;
  }
  s->words = t->clear_end;
}

void
vyre_rounds_place_copies(sequence *s)
{
  s->turns.before = s->words;
  s->words += (uint64_t)s->turns.columns * s->rows.view->rows;
}

static uint32_t
what_of(const sequence *s, const plan_step *step)
{
  if (step->kind == PLAN_COPY)
    return COPY;
  return (step->number == s->rounds->count ? LAST : 0) | (step->kind == PLAN_HIDE ? HIDE : 0) |
         (s->rounds->until_unchanged ? UNTIL_UNCHANGED : 0);
}

vyre_status
vyre_rounds_make_step(sequence *s, const plan_step *from, vyre_step *step)
{
  enum { OFFSETS = 12, WORDS = OFFSETS + 2 * SEQUENCE_CHANGES };
  const sequence_turns *t = &s->turns;
  const uint64_t rows = s->rows.view->rows,
                 lost = t->lost_at + (uint64_t)t->losers * (from->kind == PLAN_COPY ? 0 : from->number - 1);
  uint32_t *push = sequence_allocate(s, WORDS, sizeof *push);
  vyre_range *arena = sequence_allocate(s, 1, sizeof *arena);
  if (!push || !arena)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  const uint32_t words[OFFSETS] = {(uint32_t)rows,
                                   t->columns ? t->programs - 1 : 0,
                                   (uint32_t)t->starts_at,
                                   (uint32_t)t->changed_at,
                                   from->number,
                                   what_of(s, from),
                                   (uint32_t)t->clear_at,
                                   from->number < s->rounds->count ? (uint32_t)(t->clear_end - t->clear_at) : 0,
                                   t->named ? (uint32_t)find_versions(s)->at : 0,
                                   (uint32_t)t->named_at,
                                   (uint32_t)lost,
                                   t->named ? t->losers : 0};
  memcpy(push, words, sizeof words);
  for (uint32_t i = 0; i < SEQUENCE_CHANGES && t->columns; i++) {
    const uint32_t column = i < t->columns ? i : 0;
    push[OFFSETS + i] = (uint32_t)s->blocks[t->blocks[column]].at;
    push[OFFSETS + SEQUENCE_CHANGES + i] = (uint32_t)(t->before + column * rows);
  }
  *arena = vyre_arena_range(s, 0, s->words);
  *step = (vyre_step){.groups = {(uint32_t)groups_of(s), 1, 1},
                      .buffers = arena,
                      .buffer_count = 1,
                      .push = push,
                      .push_size = WORDS * sizeof *push};
  return vyre_device_program(s->device, &vyre_program_round, BLOCK, WORDS * sizeof *push, &step->kernel);
}

void
vyre_rounds_add_steps(sequence *s, uint32_t pass)
{
  const sequence_rounds *r = s->rounds;
  const bool hides = s->turns.columns != 0;
  for (uint32_t i = 0; r && i < r->count; i++) {
    const bool is_last = i + 1 == r->count;
    if (pass + 1 != r->ends[i] || (!hides && (is_last || s->turns.clear_at == s->turns.clear_end)))
      continue;
    vyre_plan_add_own(&s->plan, PLAN_ROUND, pass, i + 1);
    if (!is_last && hides)
      vyre_plan_add_own(&s->plan, PLAN_HIDE, pass, i + 1);
  }
}
