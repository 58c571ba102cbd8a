/* Debug information of NonSemantic.Shader.DebugInfo.100: functions and blocks of rows, inlined calls, types, and module-scope
 * variables.
 *
 * The input's instructions (words.h) are written in their order, before the functions.  An instruction with an operand that was not
 * written is dropped, and so are its users.  A module-scope variable is written at the end, when it is known whether it is used.
 * Scopes and lines precede the instructions of rows, by the same rule as OpLine: a block begins without them.
 *
 * Cost: linear in the kept instructions of the input, and in the scopes of rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/debug/debug.h"

#include <string.h>

static uint32_t *
slot(vyre_spv *s, uint32_t what, uint32_t key)
{
  return &vyre_spv_made_of(s, what, key, 0)->id;
}

/* Returns the kept instruction with that id, or NULL if there is none. */
static const uint32_t *
find_kept(vyre_spv *s, uint32_t id)
{
  const uint32_t at = *slot(s, VYRE_SPV_A_KEPT, id);
  return at ? s->debug->words + at - 1 : NULL;
}

uint32_t
vyre_spv_debug_put(vyre_spv *s, vyre_spv_words *to, uint32_t instruction, const uint32_t *operands, size_t count)
{
  const uint32_t id = s->next_id++, head[4] = {s->debug_void, id, s->debug_set, instruction};
  if (count + 5 > 0xffff)
    return 0;
  vyre_spv_push(s, to, (uint32_t)(count + 5) << 16 | SpvOpExtInst);
  vyre_spv_append(s, to, head, 4);
  vyre_spv_append(s, to, operands, count);
  return id;
}

/* Returns DebugInfoNone, which is written once. */
static uint32_t
debug_none(vyre_spv *s)
{
  uint32_t id = *slot(s, VYRE_SPV_A_DEBUG, 0);
  if (!id) {
    id = vyre_spv_debug_put(s, &s->globals, 0, NULL, 0);
    *slot(s, VYRE_SPV_A_DEBUG, 0) = id;
  }
  return id;
}

/* Returns the id that was written for an operand, or 0. */
static uint32_t
operand(vyre_spv *s, char kind, uint32_t word)
{
  switch (kind) {
  case 's':
    return vyre_spv_string(s, word);
  case 't':
    return word ? *slot(s, VYRE_SPV_A_DEBUG, word) : s->debug_void;
  case 'd':
    return word ? *slot(s, VYRE_SPV_A_DEBUG, word) : 0;
  case 'b':
    return vyre_spv_scalar(s, VYRE_BOOL, word != 0);
  case 'v':
    word = word ? *slot(s, VYRE_SPV_A_DEBUG_VARIABLE, word) : 0;
    return word ? word : debug_none(s);
  case 'n':
    return word == VYRE_DEBUG_NONE ? debug_none(s) : vyre_spv_u32(s, word);
  default:
    return vyre_spv_u32(s, word);
  }
}

/* Writes a debug instruction that was kept from the input.  Replaces its ids by those of the output. */
static void
write(vyre_spv *s, const uint32_t *words)
{
  const uint32_t count = (words[0] >> 16) - 5;
  vyre_spv_words *made = &s->marks;
  const size_t start = made->count;
  bool right = vyre_words_debug_fits(words[4], count);
  for (uint32_t k = 0; k < count && right; k++) {
    const uint32_t id = operand(s, vyre_words_debug_kind(words[4], k), words[5 + k]);
    vyre_spv_push(s, made, id);
    right = id != 0;
  }
  const uint32_t id = right ? vyre_spv_debug_put(s, &s->globals, words[4], count ? made->data + start : NULL, count) : 0;
  *slot(s, VYRE_SPV_A_DEBUG, words[2]) = id;
  made->count = start;
}

void
vyre_spv_begin_debug(vyre_spv *s)
{
  const vyre_word_list *all = s->debug;
  for (uint32_t at = 0; at < all->count; at += all->words[at] >> 16) {
    const uint32_t *words = all->words + at;
    const bool is_string = (words[0] & 0xffffu) == SpvOpString && words[0] >> 16 > 2;
    if (vyre_words_is_debug(words) || is_string)
      *slot(s, VYRE_SPV_A_KEPT, words[is_string ? 1 : 2]) = at + 1;
  }
  s->debug_set = s->next_id++;
  s->debug_void = vyre_spv_value_type(s, VYRE_TYPE(VYRE_VOID, 1));
  vyre_spv_text(s, &s->imports, SpvOpExtInstImport, &s->debug_set, 1, VYRE_DEBUG_SET);
  for (uint32_t at = 0; at < all->count; at += all->words[at] >> 16)
    if (vyre_words_is_debug(all->words + at) && all->words[at + 4] != VYRE_DEBUG_GLOBAL)
      write(s, all->words + at);
}

void
vyre_spv_end_debug(vyre_spv *s)
{
  const vyre_word_list *all = s->debug;
  for (uint32_t at = 0; at < all->count && s->debug_set; at += all->words[at] >> 16) {
    const uint32_t *words = all->words + at;
    if (vyre_words_is_debug(words) && words[4] == VYRE_DEBUG_GLOBAL && words[0] >> 16 > 12 && words[12] &&
        *slot(s, VYRE_SPV_A_DEBUG_VARIABLE, words[12]))
      write(s, words);
  }
}

void
vyre_spv_debug_variable(vyre_spv *s, uint32_t row, uint32_t spirv_id, uint32_t id)
{
  if (s->debug->count == 0 || !spirv_id) /* no kept instruction can use it */
    return;
  *slot(s, VYRE_SPV_A_DEBUG_VARIABLE, spirv_id) = id;
  *slot(s, VYRE_SPV_A_VARIABLE_ROW, spirv_id) = row;
}

/* ---- scopes ---- */

uint32_t
vyre_spv_debug_entity(vyre_spv *s, const vyre_scope_info *info)
{
  const uint32_t *words = info->entity ? find_kept(s, info->entity) : NULL;
  if (words && vyre_words_is_debug(words) && words[4] == VYRE_DEBUG_LOCAL)
    words = find_kept(s, words[5 + VYRE_DEBUG_LOCAL_PARENT]);
  return words && vyre_words_is_debug(words) && vyre_words_debug_parent(words[4]) ? *slot(s, VYRE_SPV_A_DEBUG, words[2]) : 0;
}

uint32_t
vyre_spv_debug_local(vyre_spv *s, const vyre_scope_info *info)
{
  const uint32_t *words = info->entity ? find_kept(s, info->entity) : NULL;
  return words && vyre_words_is_debug(words) && words[4] == VYRE_DEBUG_LOCAL ? *slot(s, VYRE_SPV_A_DEBUG, info->entity) : 0;
}

/* Returns the DebugInlinedAt of a scope, or 0 if it was not inlined.  They nest at most VYRE_SCOPE_DEPTH deep. */
static uint32_t
inlined_at(vyre_spv *s, const vyre_scope_info *info)
{
  const vyre_scope_info caller = vyre_scope_get(s->module, info->caller);
  const uint32_t scope = vyre_spv_debug_entity(s, &caller);
  if (!scope)
    return 0;
  const uint64_t key = (uint64_t)info->caller << 32 | info->call_line;
  uint32_t id = vyre_spv_made_of(s, VYRE_SPV_AN_INLINED_AT, key, info->call)->id;
  if (!id) {
    const uint32_t around = inlined_at(s, &caller), operands[3] = {vyre_spv_u32(s, info->call_line), scope, around};
    id = vyre_spv_debug_put(s, &s->globals, VYRE_DEBUG_INLINED_AT, operands, around ? 3 : 2);
    vyre_spv_made_of(s, VYRE_SPV_AN_INLINED_AT, key, info->call)->id = id;
  }
  return id;
}

/* Returns a DebugSource of that file, or 0 if there is none. */
static uint32_t
debug_source(vyre_spv *s, vyre_string file)
{
  uint32_t id = *slot(s, VYRE_SPV_A_SOURCE, file);
  const vyre_word_list *all = s->debug;
  for (uint32_t at = 0; at < all->count && !id; at += all->words[at] >> 16) {
    const uint32_t *words = all->words + at,
                   *string = vyre_words_is_debug(words) && words[4] == VYRE_DEBUG_SOURCE ? find_kept(s, words[5]) : NULL;
    if (!string || (string[0] & 0xffffu) != SpvOpString)
      continue;
    size_t length;
    const char *text = vyre_words_string(string + 2, (string[0] >> 16) - 2, &length);
    if (text && strcmp(text, vyre_string_text(s->module, file)) == 0)
      id = *slot(s, VYRE_SPV_A_DEBUG, words[2]);
  }
  if (!id) {
    const uint32_t string = vyre_spv_string_of(s, file);
    id = vyre_spv_debug_put(s, &s->globals, VYRE_DEBUG_SOURCE, &string, 1);
  }
  *slot(s, VYRE_SPV_A_SOURCE, file) = id;
  return id;
}

bool
vyre_spv_debug_enter(vyre_spv *s, const vyre_spv_position *from, const vyre_scope_info *to)
{
  const vyre_scope_info was = vyre_scope_get(s->module, from->scope);
  const uint32_t scope = vyre_spv_debug_entity(s, to);
  if (from->line && vyre_spv_debug_entity(s, &was) == scope && was.caller == to->caller && was.call == to->call &&
      was.call_line == to->call_line)
    return false;
  const uint32_t operands[2] = {scope, inlined_at(s, to)};
  vyre_spv_debug_put(s, &s->code, VYRE_DEBUG_SCOPE, operands, operands[1] ? 2 : 1);
  return true;
}

bool
vyre_spv_debug_place(vyre_spv *s, const vyre_spv_position *from, const vyre_spv_position *to)
{
  const vyre_scope_info info = vyre_scope_get(s->module, to->scope), was = vyre_scope_get(s->module, from->scope);
  const uint32_t scope = to->line ? vyre_spv_debug_entity(s, &info) : 0;
  const bool had = from->line && vyre_spv_debug_entity(s, &was);
  if (!scope && !had)
    return false;
  if (scope) {
    vyre_spv_debug_enter(s, from, &info);
  } else {
    vyre_spv_debug_put(s, &s->code, VYRE_DEBUG_NO_SCOPE, NULL, 0);
    vyre_spv_debug_put(s, &s->code, VYRE_DEBUG_NO_LINE, NULL, 0);
    return to->line == 0; /* an OpLine follows */
  }
  if (!had || from->line != to->line || from->column != to->column || was.file != info.file) {
    const uint32_t line = vyre_spv_u32(s, to->line), column = vyre_spv_u32(s, to->column);
    const uint32_t operands[5] = {debug_source(s, info.file), line, line, column, column};
    vyre_spv_debug_put(s, &s->code, VYRE_DEBUG_LINE, operands, 5);
  }
  return true;
}

/* Returns the kept instruction of the function around a scope, or NULL if there is none. */
static const uint32_t *
function_of(vyre_spv *s, uint32_t id)
{
  for (const uint32_t *words = find_kept(s, id), *around; words && vyre_words_is_debug(words); words = around) {
    if (words[4] == VYRE_DEBUG_FUNCTION)
      return words;
    const uint32_t parent = vyre_words_debug_parent(words[4]);
    around = parent && parent < (words[0] >> 16) - 5 ? find_kept(s, words[5 + parent]) : NULL;
    if (around >= words) /* outer scopes precede inner ones */
      return NULL;
  }
  return NULL;
}

void
vyre_spv_debug_definition(vyre_spv *s, uint32_t function)
{
  vyre_scope_info info = {0};
  for (uint32_t row = s->program + 1; row < s->end && !info.entity; row++)
    info = vyre_scope_get(s->module, vyre_row_scope(s->module, (vyre_row){row}));
  while (info.caller)
    info = vyre_scope_get(s->module, info.caller);
  const uint32_t *words = info.entity ? function_of(s, info.entity) : NULL;
  const uint32_t operands[2] = {words ? *slot(s, VYRE_SPV_A_DEBUG, words[2]) : 0, function};
  if (!operands[0] || *slot(s, VYRE_SPV_A_DEFINITION, words[2])) /* of two entry points, only one gets it */
    return;
  *slot(s, VYRE_SPV_A_DEFINITION, words[2]) = 1;
  vyre_spv_debug_put(s, &s->code, VYRE_DEBUG_DEFINITION, operands, 2);
}
