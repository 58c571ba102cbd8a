/* The journal: the rows that were edited, under marks, so that who has seen the module before need not look at all of it again.
 *
 * Rows are kept through seal, which drops those that are gone; what kinds of rows went is kept by mark.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

uint32_t
vyre_module_journal_mark(vyre_module *module)
{
  table_journal *j = &module->journal;
  if (!table_array_grow(module, &j->marks, &j->mark_capacity, (uint64_t)j->mark_count + 1, sizeof(*j->marks)))
    return j->before + j->mark_count;
  j->marks[j->mark_count++] = (table_mark){.first = j->row_count};
  return j->before + j->mark_count;
}

void
vyre_module_journal_read(const vyre_module *module, uint32_t mark, vyre_edits *out)
{
  const table_journal *j = &module->journal;
  *out = (vyre_edits){.struct_size = sizeof(*out)};
  if (mark <= j->before || mark > j->before + j->mark_count)
    return;
  const uint32_t at = mark - j->before - 1, first = j->marks[at].first;
  out->rows = j->rows ? j->rows + first : NULL;
  out->count = j->row_count - first;
  out->own = (at + 1 < j->mark_count ? j->marks[at + 1].first : j->row_count) - first;
  out->own_kinds = j->marks[at].kinds;
  for (uint32_t i = at + 1; i < j->mark_count; i++)
    out->kinds |= j->marks[i].kinds;
}

void
vyre_module_journal_forget(vyre_module *module, uint32_t mark)
{
  table_journal *j = &module->journal;
  if (mark <= j->before + 1)
    return;
  const uint32_t end = j->before + j->mark_count;
  if (mark > end) {
    *j = (table_journal){j->rows, 0, j->row_capacity, j->marks, 0, j->mark_capacity, 0};
    return;
  }
  const uint32_t marks = mark - j->before - 1, rows = j->marks[marks].first;
  j->before += marks;
  j->mark_count -= marks;
  j->row_count -= rows;
  memmove(j->marks, j->marks + marks, j->mark_count * sizeof(*j->marks));
  if (j->row_count)
    memmove(j->rows, j->rows + rows, j->row_count * sizeof(*j->rows));
  for (uint32_t i = 0; i < j->mark_count; i++)
    j->marks[i].first -= rows;
}

void
vyre_module_journal_note(vyre_module *module, uint32_t kinds)
{
  table_note(module, 0, kinds);
}

void
table_note_edit(vyre_module *module, uint32_t row, uint32_t kinds)
{
  table_journal *j = &module->journal;
  j->marks[j->mark_count - 1].kinds |= kinds;
  if (row == 0 || (j->row_count > j->marks[j->mark_count - 1].first && j->rows[j->row_count - 1] == row))
    return;
  if (table_array_grow(module, &j->rows, &j->row_capacity, (uint64_t)j->row_count + 1, sizeof(*j->rows)))
    j->rows[j->row_count++] = row;
}

/* A volatile or coherent load counts as a write: what comes behind it is another state. */
static bool
is_write(uint32_t word)
{
  const uint32_t flags = table_word_flags(word);
  return (flags & VYRE_OP_WRITES) != 0 ||
         ((flags & VYRE_OP_READS) != 0 && (VYRE_ROW_FLAGS(word) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0);
}

uint32_t
table_kind_moved(uint32_t word)
{
  if (table_word_flags(word) & (VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS))
    return VYRE_EDIT_MOVED_CONTROL;
  return is_write(word) ? VYRE_EDIT_MOVED_EFFECT : VYRE_EDIT_MOVED_VALUE;
}

uint32_t
table_kind_gone(uint32_t word)
{
  const uint32_t flags = table_word_flags(word);
  if (flags & (VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS))
    return VYRE_EDIT_GONE_CONTROL;
  if (VYRE_ROW_OP(word) == VYRE_OP_set)
    return VYRE_EDIT_GONE_SET;
  if (is_write(word))
    return VYRE_EDIT_GONE_WRITE;
  return flags & VYRE_OP_READS ? VYRE_EDIT_GONE_READ : VYRE_EDIT_GONE_VALUE;
}

uint32_t
table_kind_rewritten(uint32_t from, uint32_t to)
{
  const uint32_t gone = table_kind_gone(from);
  const bool is_other = gone != table_kind_gone(to) || (gone == VYRE_EDIT_GONE_CONTROL && VYRE_ROW_OP(from) != VYRE_ROW_OP(to));
  return is_other ? gone | table_kind_moved(to) : 0;
}

void
table_remap_journal(vyre_module *module, const uint32_t *map)
{
  table_journal *j = &module->journal;
  uint32_t kept = 0, mark = 0;
  for (uint32_t i = 0; i < j->row_count; i++) {
    for (; mark < j->mark_count && j->marks[mark].first == i; mark++)
      j->marks[mark].first = kept;
    j->rows[kept] = map[j->rows[i]];
    kept += j->rows[kept] != 0;
  }
  for (; mark < j->mark_count; mark++)
    j->marks[mark].first = kept;
  j->row_count = kept;
}
