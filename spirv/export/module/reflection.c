/* Writes the reflection of the input (spirv/import/module/reflection.c) after the programs, with the ids of the output.
 *
 * An instruction is dropped if it uses a variable, struct or entry point that was not written, or a dropped instruction.  If
 * several structs of the input became one, it has the decorations of the first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/debug/debug.h"
#include "spirv/export/memory/memory.h"

#include <string.h>

/* Returns the id of the struct at the steps from the pointee of a variable, or 0 if there is none. */
static uint32_t
find_struct(vyre_spv *s, const uint32_t *words, uint32_t count)
{
  const uint32_t row = vyre_spv_made_of(s, VYRE_SPV_A_VARIABLE_ROW, words[0], 0)->id;
  if (!row)
    return 0;
  vyre_type_id type = s->imm[row];
  uint32_t mode = vyre_spv_has_layout(s, row) ? VYRE_MODE_BLOCK : VYRE_MODE_BARE;
  for (uint32_t k = 1; k < count; k++) {
    const vyre_type_info info = vyre_type_get(s->module, type);
    const bool is_array = info.form == VYRE_FORM_ARRAY && words[k] == VYRE_REFLECTED_ELEMENT;
    if (!is_array && (info.form != VYRE_FORM_STRUCT || words[k] >= info.count))
      return 0;
    if (mode == VYRE_MODE_BLOCK && !(is_array && vyre_spv_is_descriptor_array(s, type)))
      mode = VYRE_MODE_LAYOUT;
    type = is_array ? info.element : info.members[words[k]].type;
  }
  return type >= 256 && vyre_type_get(s->module, type).form == VYRE_FORM_STRUCT
             ? vyre_spv_made_of(s, VYRE_SPV_A_TYPE, type, mode)->id
             : 0;
}

/* Returns the id of the entry point of that name. */
static uint32_t
find_entry(vyre_spv *s, const char *name)
{
  uint32_t program = name ? vyre_module_input(s->module, s->input)->first_program : 0;
  while (program) {
    const vyre_program_info *info = vyre_program_info_of(s->module, (vyre_row){program});
    const char *entry = info->entry ? vyre_string_text(s->module, info->entry) : vyre_row_name(s->module, (vyre_row){program});
    if (entry && strcmp(entry, name) == 0)
      return vyre_spv_made_of(s, VYRE_SPV_AN_ENTRY, program, 0)->id;
    program = info->next_program;
  }
  return 0;
}

/* Returns the id of the extended instruction set with that name.  Declares the set if it is new. */
static uint32_t
find_set(vyre_spv *s, const char *name)
{
  size_t length;
  for (size_t at = 0; at < s->imports.count; at += s->imports.data[at] >> 16) {
    const char *known = vyre_words_string(s->imports.data + at + 2, (s->imports.data[at] >> 16) - 2, &length);
    if (known && strcmp(known, name) == 0)
      return s->imports.data[at + 1];
  }
  const uint32_t id = s->next_id++;
  vyre_spv_text(s, &s->imports, SpvOpExtInstImport, &id, 1, name);
  return id;
}

static bool
is_value(uint32_t type)
{
  return type < 256 && vyre_kind_is_scalar(VYRE_TYPE_KIND((vyre_type)type));
}

/* Returns the id of an operand, or 0 if it was not written. */
static uint32_t
operand(vyre_spv *s, uint32_t kind, const uint32_t *words, uint32_t count)
{
  size_t length;
  switch (kind) {
  case VYRE_REFLECTED_STRING:
    return vyre_spv_string(s, words[0]);
  case VYRE_REFLECTED_VARIABLE:
    return vyre_spv_made_of(s, VYRE_SPV_A_DEBUG_VARIABLE, words[0], 0)->id;
  case VYRE_REFLECTED_BUILTIN:
    return vyre_spv_builtin(s, words[0]);
  case VYRE_REFLECTED_TYPE:
    return is_value(words[0]) || words[0] == VYRE_TYPE(VYRE_VOID, 1) ? vyre_spv_value_type(s, (vyre_type)words[0]) : 0;
  case VYRE_REFLECTED_STRUCT:
    return find_struct(s, words, count);
  case VYRE_REFLECTED_CONSTANT:
    return count == 3 && is_value(words[0])
               ? vyre_spv_scalar(s, VYRE_TYPE_KIND((vyre_type)words[0]), words[1] | (uint64_t)words[2] << 32)
               : 0;
  case VYRE_REFLECTED_ENTRY:
    return find_entry(s, vyre_words_string(words, count, &length));
  case VYRE_REFLECTED_INSTRUCTION:
    return vyre_spv_made_of(s, VYRE_SPV_A_REFLECTED, words[0], 0)->id;
  default:
    return 0;
  }
}

/* Appends the operands of a kept instruction to `made`.  Returns false if one of them was not written. */
static bool
append_operands(vyre_spv *s, const uint32_t *words, uint32_t count, vyre_spv_words *made)
{
  for (uint32_t at = 0; at < count;) {
    const uint32_t kind = words[at] & 0xffu, length = words[at] >> 8;
    if (length == 0 || length >= count - at)
      return false;
    if (kind == VYRE_REFLECTED_LITERAL) {
      vyre_spv_append(s, made, words + at + 1, length);
    } else {
      const uint32_t id = operand(s, kind, words + at + 1, length);
      if (!id)
        return false;
      vyre_spv_push(s, made, id);
    }
    at += 1 + length;
  }
  return true;
}

/* Writes an instruction of a set, after the functions because it may use one.  Its first operand is the set's name. */
static void
write_instruction(vyre_spv *s, const uint32_t *words, uint32_t count)
{
  vyre_spv_words *made = &s->marks;
  size_t length;
  const size_t start = made->count;
  const uint32_t name_words = count > 6 ? words[5] >> 8 : 0;
  const char *name = name_words && name_words < count - 6 ? vyre_words_string(words + 6, name_words, &length) : NULL;
  if (s->strip || !name || strncmp(name, "NonSemantic.", 12) != 0)
    return;
  vyre_spv_push(s, made, vyre_spv_value_type(s, VYRE_TYPE(VYRE_VOID, 1)));
  vyre_spv_push(s, made, 0);
  vyre_spv_push(s, made, 0);
  if (append_operands(s, words + 6 + name_words, count - 6 - name_words, made) && !vyre_spv_failed(s)) {
    const uint32_t id = s->next_id++;
    made->data[start + 1] = id;
    made->data[start + 2] = find_set(s, name);
    vyre_spv_long_instruction(s, &s->code, SpvOpExtInst, made->data + start, made->count - start);
    vyre_spv_made_of(s, VYRE_SPV_A_REFLECTED, words[2], 0)->id = id;
  }
  made->count = start;
}

static void
write_decoration(vyre_spv *s, const uint32_t *words, uint32_t count)
{
  const uint32_t op = words[4], which = op == SpvOpMemberDecorateString ? 2 : 1;
  vyre_spv_words *made = &s->marks;
  const size_t start = made->count;
  if (append_operands(s, words + 5, count - 5, made) && !vyre_spv_failed(s) && made->count - start > which) {
    const uint32_t *operands = made->data + start;
    const uint64_t key = (uint64_t)operands[0] << 32 | operands[which];
    vyre_spv_made *known = vyre_spv_made_of(s, VYRE_SPV_A_DECORATION, key, which == 2 ? 1 + operands[1] : 0);
    if (!known->id)
      vyre_spv_long_instruction(s, &s->decorations, op, operands, made->count - start);
    known->id = 1;
  }
  made->count = start;
}

void
vyre_spv_reflection(vyre_spv *s)
{
  const vyre_word_list *all = s->debug;
  for (uint32_t at = 0; at < all->count && !vyre_spv_failed(s); at += all->words[at] >> 16) {
    const uint32_t *words = all->words + at, count = words[0] >> 16;
    if (!vyre_words_is_reflected(words))
      continue;
    if (words[4] == SpvOpExtInst)
      write_instruction(s, words, count);
    else if (words[4] == SpvOpDecorateString || words[4] == SpvOpMemberDecorateString || words[4] == SpvOpDecorateId)
      write_decoration(s, words, count);
  }
}
