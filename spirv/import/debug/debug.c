/* Source lines, and the functions and blocks that contain them: OpLine, and NonSemantic.Shader.DebugInfo.100.
 *
 * Debug instructions before the functions do not affect optimization.  The input keeps them as words (words.h) if all of their
 * operands precede them.  Other debug instructions are dropped, and so are their users.  A scope of the table refers to one of the
 * kept instructions.  Inlined rows have the call's position around their own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

enum { SET_SHADER_DEBUG = 3 }; /* state.h: ID_SET */

bool
import_is_nonsemantic(const import *m, const uint32_t *words)
{
  return (words[0] & 0xffffu) == SpvOpExtInst && words[0] >> 16 >= 5 && words[3] < m->bound && m->ids[words[3]].kind == ID_SET &&
         m->ids[words[3]].value >= 2;
}

/* Returns the number of an instruction of NonSemantic.Shader.DebugInfo.100, or UINT32_MAX for other instructions. */
static uint32_t
number_of(const import *m, const uint32_t *words)
{
  return import_is_nonsemantic(m, words) && m->ids[words[3]].value == SET_SHADER_DEBUG ? words[4] : UINT32_MAX;
}

bool
import_is_debug(const import *m, const uint32_t *words, uint32_t instruction, uint32_t count)
{
  return words[0] >> 16 >= count && number_of(m, words) == instruction;
}

/* ---- kept instructions ---- */

/* Gets the form in which an operand is kept.  Returns false if the operand is not of that kind. */
static bool
keep_operand(const import *m, char kind, uint32_t id, uint32_t *out)
{
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  *out = id;
  switch (kind) {
  case 's':
    return info->kind == ID_STRING;
  case 't':
    if (info->kind == ID_TYPE && info->t->form == FORM_VOID) {
      *out = 0;
      return true;
    }
    return import_kept_number(m, id) != UINT32_MAX;
  case 'd':
    return import_kept_number(m, id) != UINT32_MAX;
  case 'b':
    *out = info->kind == ID_CONSTANT && (m->words[info->def] & 0xffffu) == SpvOpConstantTrue;
    return *out || (info->kind == ID_CONSTANT && (m->words[info->def] & 0xffffu) == SpvOpConstantFalse);
  case 'v':
    *out = info->kind == ID_GLOBAL ? id : 0;
    return true;
  default:
    if (import_literal(m, id, out))
      return true;
    *out = kind == 'n' ? VYRE_DEBUG_NONE : 0;
    return kind != 'c';
  }
}

static bool
keep(import *m, const uint32_t *words, uint32_t operands)
{
  vyre_word_list *kept = &vyre_module_input(m->module, m->input)->kept;
  const uint32_t before = kept->count, head[5] = {(operands + 5) << 16 | SpvOpExtInst, 0, words[2], 0, words[4]};
  if (!vyre_words_debug_fits(words[4], operands))
    return false;
  vyre_word_list_append(m->module, kept, head, 5);
  for (uint32_t k = 0; k < operands; k++) {
    uint32_t word;
    if (!keep_operand(m, vyre_words_debug_kind(words[4], k), words[5 + k], &word)) {
      kept->count = before;
      return false;
    }
    vyre_word_list_append(m->module, kept, &word, 1);
  }
  return true;
}

/* Returns whether the variable may become a buffer row.  Private variables and built-ins do not. */
static bool
is_of_memory(const import *m, const uint32_t *words, uint32_t count)
{
  const id_info *info = &m->ids[count > 12 && words[12] < m->bound ? words[12] : 0];
  const uint32_t class_ = info->kind == ID_GLOBAL ? m->words[info->def + 3] : SpvStorageClassPrivate;
  return class_ != SpvStorageClassPrivate && class_ != SpvStorageClassInput && class_ != SpvStorageClassOutput;
}

void
import_keep_debug(import *m, const uint32_t *words, uint32_t count)
{
  const uint32_t number = number_of(m, words);
  if (number == UINT32_MAX || (number >= VYRE_DEBUG_INLINED_AT && number <= VYRE_DEBUG_EXPRESSION && number != VYRE_DEBUG_LOCAL))
    return; /* not kept: the scopes and values of rows are made from these instructions */
  if (number == VYRE_DEBUG_GLOBAL && !is_of_memory(m, words, count))
    import_drop(m, "private variables and built-ins of " VYRE_DEBUG_SET);
  else if (keep(m, words, count - 5))
    m->ids[words[2]].value = 1 + number;
  else
    import_drop(m, "some of " VYRE_DEBUG_SET);
}

/* ---- positions ---- */

static bool
is_scope(const import *m, uint32_t id)
{
  const uint32_t number = import_kept_number(m, id);
  return number != UINT32_MAX && vyre_words_debug_parent(number) != 0;
}

/* Sets the position of the rows that are made from here on. */
static void
set_place(import *m, uint32_t line, uint32_t column)
{
  m->b.scope = line ? vyre_scope_intern(m->module, &m->where) : 0;
  m->b.line = line;
  m->b.column = column;
}

void
import_forget_place(import *m)
{
  m->where = (vyre_scope_info){0};
  set_place(m, 0, 0);
}

import_place
import_enter_call(import *m)
{
  const import_place place = {m->where, m->around, m->b.scope, m->b.line, m->b.column};
  if (m->where.entity) {
    const vyre_scope caller = vyre_scope_intern(m->module, &m->where);
    m->around = (vyre_scope_info){.caller = caller, .call_line = m->b.line, .call = m->epoch_last};
  } else {
    m->around = (vyre_scope_info){0};
  }
  m->where.entity = m->where.caller = 0; /* of the next line */
  return place;
}

void
import_leave_call(import *m, const import_place *place)
{
  m->where = place->where;
  m->around = place->around;
  m->b.scope = place->scope;
  m->b.line = place->line;
  m->b.column = place->column;
}

/* Returns the scope into which the input has inlined code, from the DebugInlinedAt `id` on.  The current call surrounds it. */
static vyre_scope_info
inlined_at(import *m, uint32_t id)
{
  uint32_t chain[VYRE_SCOPE_DEPTH], count = 0;
  for (uint32_t def = m->word_count; id && id < m->bound && count < VYRE_SCOPE_DEPTH; count++) {
    const uint32_t at = m->ids[id].kind == ID_GROUP ? m->ids[id].def : 0, *words = m->words + at;
    if (!at || at >= def || !import_is_debug(m, words, VYRE_DEBUG_INLINED_AT, 7) || !is_scope(m, words[6]))
      break; /* operands precede their users, so there is no cycle */
    chain[count] = def = at;
    id = words[0] >> 16 > 7 ? words[7] : 0;
  }
  vyre_scope_info around = {0};
  if (count < VYRE_SCOPE_DEPTH) /* otherwise there is no room for the surrounding scopes */
    around = m->around;
  while (count-- > 0) {
    const uint32_t *words = m->words + chain[count];
    around.file = m->where.file;
    around.entity = words[6];
    around.caller = vyre_scope_intern(m->module, &around);
    around.call = words[2];
    if (!import_literal(m, words[5], &around.call_line))
      around.call_line = 0;
  }
  return around;
}

static void
set_scope(import *m, uint32_t scope, uint32_t id)
{
  const vyre_scope_info around = id ? inlined_at(m, id) : m->around;
  m->where.entity = is_scope(m, scope) ? scope : 0;
  m->where.caller = around.caller;
  m->where.call_line = around.call_line;
  m->where.call = around.call;
  set_place(m, m->b.line, m->b.column);
}

static void
set_line(import *m, uint32_t file, uint32_t line, uint32_t column)
{
  id_info *info = &m->ids[file < m->bound ? file : 0];
  if (info->kind != ID_STRING)
    return;
  if (!info->value) {
    size_t length = 0;
    uint32_t def = info->def;
    const char *text = import_text(m, def + 2, def + (m->words[def] >> 16), &length);
    info->value = text ? vyre_string_intern(m->module, text, length) : 0;
  }
  m->where.file = info->value;
  set_place(m, line, column);
}

void
import_line(import *m, uint32_t at)
{
  const uint32_t *words = m->words + at, op = words[0] & 0xffffu;
  uint32_t line, column;
  if (op == SpvOpLine && words[0] >> 16 >= 4) {
    m->where.file = 0;
    set_place(m, 0, 0);
    set_line(m, words[1], words[2], words[3]);
  } else if (op == SpvOpNoLine || import_is_debug(m, words, VYRE_DEBUG_NO_LINE, 5)) {
    m->where.file = 0;
    set_place(m, 0, 0);
  } else if (import_is_debug(m, words, VYRE_DEBUG_LINE, 10) && import_kept_number(m, words[5]) == VYRE_DEBUG_SOURCE) {
    const uint32_t *source = m->words + m->ids[words[5]].def;
    if (import_literal(m, words[6], &line) && import_literal(m, words[8], &column))
      set_line(m, source[5], line, column);
  } else if (import_is_debug(m, words, VYRE_DEBUG_SCOPE, 6)) {
    set_scope(m, words[5], words[0] >> 16 > 6 ? words[6] : 0);
  } else if (import_is_debug(m, words, VYRE_DEBUG_NO_SCOPE, 5)) {
    m->where.entity = m->where.caller = m->where.call_line = m->where.call = 0;
    set_place(m, m->b.line, m->b.column);
  }
}
