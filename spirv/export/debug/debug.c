/* Debug information: the input's kept instructions, lines, and the names of ids without rows.
 *
 * The input's OpSource instructions are written first, with their strings.  A line in a file of that name uses its string.
 * Variables, types and values get their names when they are written (vyre_spv_describe).  The entry point and the built-ins get
 * names only if others have names, so that a module without names gets none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/debug/debug.h"

#include <string.h>

/* Returns the text after `skip` words of an instruction in the input's debug list, or NULL if it is not terminated in the
 * instruction. */
static const char *
text_of(const uint32_t *words, uint32_t skip)
{
  const uint32_t count = words[0] >> 16;
  size_t length;
  return vyre_words_string(words + skip, count > skip ? count - skip : 0, &length);
}

/* Returns the index of the string with that id, or UINT32_MAX if there is none. */
static uint32_t
find_string(vyre_spv *s, uint32_t id)
{
  const vyre_word_list *debug = s->debug;
  uint32_t at = s->debug_set ? vyre_spv_made_of(s, VYRE_SPV_A_KEPT, id, 0)->id - 1 : 0;
  for (; at < debug->count; at = s->debug_set ? UINT32_MAX : at + (debug->words[at] >> 16)) {
    const uint32_t *words = debug->words + at;
    if ((words[0] & 0xffff) == SpvOpString && words[0] >> 16 > 2 && words[1] == id)
      return at;
  }
  return UINT32_MAX;
}

uint32_t
vyre_spv_string(vyre_spv *s, uint32_t id)
{
  const uint32_t known = vyre_spv_made_of(s, VYRE_SPV_A_STRING, id, 0)->id, at = known ? 0 : find_string(s, id);
  const char *text = at < s->debug->count ? text_of(s->debug->words + at, 2) : NULL;
  uint32_t made = 0;
  if (known || at == UINT32_MAX || !text)
    return known;
  for (size_t i = 0; i + 1 < s->files.count && !made; i += 2) /* a line may have written it */
    if (strcmp(vyre_string_text(s->module, s->files.data[i]), text) == 0)
      made = s->files.data[i + 1];
  if (!made) {
    made = s->next_id++;
    vyre_spv_text(s, &s->strings, SpvOpString, &made, 1, text);
  }
  vyre_spv_push(s, &s->kept_strings, at);
  vyre_spv_push(s, &s->kept_strings, made);
  return vyre_spv_made_of(s, VYRE_SPV_A_STRING, id, 0)->id = made;
}

/* Returns whether the source was written with its text, so that an OpSourceContinued may follow. */
static bool
write_source(vyre_spv *s, const uint32_t *words)
{
  const uint32_t count = words[0] >> 16, file = count > 3 ? vyre_spv_string(s, words[3]) : 0;
  const bool has_text = file && count > 4 && text_of(words, 4);
  const uint32_t operands[3] = {words[1], words[2], file};
  if (!has_text) {
    vyre_spv_instruction(s, &s->strings, SpvOpSource, operands, file ? 3 : 2);
    return false;
  }
  vyre_spv_push(s, &s->strings, words[0]);
  vyre_spv_append(s, &s->strings, operands, 3);
  vyre_spv_append(s, &s->strings, words + 4, count - 4);
  return true;
}

void
vyre_spv_debug(vyre_spv *s, const vyre_input *input)
{
  const vyre_word_list *debug = &input->kept;
  bool may_continue = false;
  s->debug = debug;
  for (uint32_t at = 0; at < debug->count && !s->strip; at += debug->words[at] >> 16) {
    const uint32_t *words = debug->words + at, count = words[0] >> 16, op = words[0] & 0xffff;
    if (op == SpvOpSource && count >= 3)
      may_continue = write_source(s, words);
    else if (op == SpvOpSourceExtension || (op == SpvOpSourceContinued && may_continue))
      vyre_spv_append(s, &s->strings, words, count);
    else if (op == SpvOpModuleProcessed)
      vyre_spv_append(s, &s->processed, words, count);
    else if (vyre_words_is_debug(words) && !s->debug_set)
      vyre_spv_begin_debug(s);
    may_continue = may_continue && (op == SpvOpSource || op == SpvOpSourceContinued);
  }
}

uint32_t
vyre_spv_string_of(vyre_spv *s, vyre_string file)
{
  for (size_t i = 0; i < s->files.count; i += 2)
    if (s->files.data[i] == file)
      return s->files.data[i + 1];
  const char *text = vyre_string_text(s->module, file);
  uint32_t id = 0;
  for (size_t i = 0; i + 1 < s->kept_strings.count && !id; i += 2)
    if (strcmp(text_of(s->debug->words + s->kept_strings.data[i], 2), text) == 0)
      id = s->kept_strings.data[i + 1];
  if (!id) {
    id = s->next_id++;
    vyre_spv_text(s, &s->strings, SpvOpString, &id, 1, text);
  }
  vyre_spv_push(s, &s->files, file);
  vyre_spv_push(s, &s->files, id);
  return id;
}

/* Writes an OpLine or OpNoLine, if neither position has a scope. */
static void
put_line(vyre_spv *s, vyre_string file)
{
  const uint32_t operands[3] = {s->here.line ? vyre_spv_string_of(s, file) : 0, s->here.line, s->here.column};
  if (s->here.line)
    vyre_spv_instruction(s, &s->code, SpvOpLine, operands, 3);
  else
    vyre_spv_instruction(s, &s->code, SpvOpNoLine, NULL, 0);
}

void
vyre_spv_new_line(vyre_spv *s, uint32_t row)
{
  vyre_string file = 0;
  vyre_spv_position to = {0};
  if (vyre_row_line(s->module, (vyre_row){row}, &file, &to.line, &to.column))
    to.scope = vyre_row_scope(s->module, (vyre_row){row});
  if (to.line == s->here.line && (to.line == 0 || (to.column == s->here.column && to.scope == s->here.scope)))
    return;
  if (s->here.line && to.line && s->code.count == s->line_end) { /* the last line has no instructions */
    s->code.count = s->line_start;
    s->here = s->before;
  }
  s->before = s->here;
  s->line_start = s->code.count;
  s->here = to;
  if (!s->debug_set || row == s->program || !vyre_spv_debug_place(s, &s->before, &to))
    put_line(s, file);
  s->line_end = s->code.count;
}

void
vyre_spv_other_names(vyre_spv *s)
{
  static const char *const places[VYRE_SPV_PLACES] = {
#define SPV_BUILTIN(op, builtin, lanes, glsl) [VYRE_OP_##op - VYRE_OP_gid] = #glsl,
#include "spirv/ops.def"
  };
  if (s->names.count == 0 || s->strip)
    return;
  for (uint32_t i = 0; i < VYRE_SPV_PLACES; i++)
    if (s->builtins[i])
      vyre_spv_text(s, &s->names, SpvOpName, &s->builtins[i], 1, places[i]);
}
