/* VIR0: reads the side tables. Every count is checked against the bytes before it is used, and every id against its range. Lists of
 * SPIR-V instructions are checked, because the exporter copies them unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vir0.h"
#include "vyre/opaque.h"

#include <string.h>

/* A section of words that consecutive entries share. */
typedef struct vir0_words {
  uint32_t kind, used;
} vir0_words;

static vyre_status
no_memory(const vir0_reader *r)
{
  return vyre_module_status(r->module);
}

/* Copies the next `count` words of the section. */
static vyre_status
copy_words(vir0_reader *r, vir0_words *from, uint32_t count, uint32_t *to)
{
  const vir0_part *part = &r->parts[from->kind];
  if (count > part->count - from->used)
    return vir0_damaged(r, from->kind, part->count, "it ends, but %u more words are needed", count - (part->count - from->used));
  if (count)
    memcpy(to, part->data + (size_t)from->used * sizeof(*to), count * sizeof(*to));
  from->used += count;
  return VYRE_OK;
}

static vyre_status
copy_list(vir0_reader *r, vir0_words *from, uint32_t count, vyre_word_list *list)
{
  const vir0_part *part = &r->parts[from->kind];
  if (count <= part->count - from->used && !table_array_grow(r->module, &list->words, &list->capacity, count, sizeof(*list->words)))
    return no_memory(r);
  VYRE_TRY(copy_words(r, from, count, list->words));
  list->count = count;
  return VYRE_OK;
}

static vyre_status
check_all_used(const vir0_reader *r, const vir0_words *from)
{
  if (from->used != r->parts[from->kind].count)
    return vir0_damaged(r, from->kind, from->used, "the words from here on belong to no entry");
  return VYRE_OK;
}

/* Checks that the list consists of whole instructions of at least `least` words. */
static vyre_status
check_instructions(const vir0_reader *r, const vir0_words *from, const vyre_word_list *list, uint32_t least)
{
  for (uint32_t at = 0, count; at < list->count; at += count) {
    count = list->words[at] >> 16;
    if (count < least || count > list->count - at)
      return vir0_damaged(r, from->kind, from->used - list->count + at, "0x%08x does not start a whole instruction",
                          list->words[at]);
  }
  return VYRE_OK;
}

static vyre_status
check_string(const vir0_reader *r, uint32_t kind, uint32_t entry, uint32_t string)
{
  return vir0_is_string(r->module, string) ? VYRE_OK : vir0_damaged(r, kind, entry, "%u is not a string", string);
}

vyre_status
vir0_read_strings(vir0_reader *r)
{
  vyre_module *m = r->module;
  const vir0_part *part = &r->parts[VYRE_VIR0_STRINGS];
  if (part->count == 0)
    return VYRE_OK;
  if (part->data[0] || part->data[part->count - 1])
    return vir0_damaged(r, VYRE_VIR0_STRINGS, part->data[0] ? 0 : part->count - 1, "a zero byte is missing");
  if (!table_array_grow(m, &m->texts, &m->texts_capacity, part->count, 1))
    return no_memory(r);
  memcpy(m->texts, part->data, part->count);
  m->texts_size = part->count;
  if (!table_index_strings(m))
    return m->failed ? no_memory(r) : vir0_damaged(r, VYRE_VIR0_STRINGS, 0, "a text is empty or duplicated");
  return VYRE_OK;
}

static vyre_status
read_scopes(vir0_reader *r)
{
  vyre_module *m = r->module;
  const vir0_part *files = &r->parts[VYRE_VIR0_FILES], *rest = &r->parts[VYRE_VIR0_SCOPES];
  if (rest->count && rest->count != files->count)
    return vir0_damaged(r, VYRE_VIR0_SCOPES, 0, "%u scopes, of %u files", rest->count, files->count);
  if (files->count == 0)
    return VYRE_OK;
  if (!table_array_grow(m, &m->scopes, &m->scope_capacity, (uint64_t)files->count + 1, sizeof(*m->scopes)))
    return no_memory(r);
  m->scopes[0] = (table_scope){0};
  for (uint32_t i = 0; i < files->count; i++) {
    vyre_scope_info info = {.file = vir0_word(files, i)};
    if (rest->count) {
      const size_t at = (size_t)i * VIR0_SCOPE_WORDS;
      info.entity = vir0_word(rest, at);
      info.caller = vir0_word(rest, at + 1);
      info.call_line = vir0_word(rest, at + 2);
      info.call = vir0_word(rest, at + 3);
      info.variable = vir0_word(rest, at + 4);
      info.index = vir0_word(rest, at + 5);
      info.values = vir0_word(rest, at + 6);
      info.order = vir0_word(rest, at + 7);
      info.depth = vir0_word(rest, at + 8);
    }
    m->scopes[i + 1] = (table_scope){info, 0};
    if ((info.file == 0 && info.entity == 0 && info.variable == 0) || !vir0_is_string(m, info.file))
      return vir0_damaged(r, VYRE_VIR0_FILES, i, "%u is not a string", info.file);
  }
  m->scope_count = files->count + 1;
  if (!table_index_scopes(m))
    return m->failed     ? no_memory(r)
           : rest->count ? vir0_damaged(r, VYRE_VIR0_SCOPES, 0, "a scope is duplicated, or precedes a scope that it names")
                         : vir0_damaged(r, VYRE_VIR0_FILES, 0, "a file is duplicated");
  return VYRE_OK;
}

/* ---- types ---- */

/* Checks that a type's alignment and size are those that the layout gives. */
static vyre_status
check_size(const vir0_reader *r, uint32_t index, const vyre_type_info *info, const vyre_member *members)
{
  vyre_type_info sized = *info;
  table_size_type(r->module, &sized, members);
  if (sized.align != info->align || sized.size != info->size)
    return vir0_damaged(r, VYRE_VIR0_TYPES, index, "alignment %u and size %u should be %u and %u", info->align, info->size,
                        sized.align, sized.size);
  return VYRE_OK;
}

static vyre_status
check_words(const vir0_reader *r, uint32_t index, const vyre_type_info *info, const vyre_member *members)
{
  if (info->flags > UINT16_MAX || info->element >= 256 + index || info->stride > VYRE_MODE_BLOCK || info->count_row || info->name)
    return vir0_damaged(r, VYRE_VIR0_TYPES, index, "it has fields that words do not have");
  for (uint32_t i = 0; i < info->count; i++) {
    VYRE_TRY(check_string(r, VYRE_VIR0_TYPES, index, members[i].name));
    if (members[i].type >= 256 + index || members[i].access >= VYRE_WORD__COUNT)
      return vir0_damaged(r, VYRE_VIR0_TYPES, index, "word %u is of kind %u and type %u", i, members[i].access, members[i].type);
  }
  return check_size(r, index, info, members);
}

/* Checks that a type is one that the functions that make types can make. */
static vyre_status
check_type(const vir0_reader *r, uint32_t index, const vyre_type_info *info, const vyre_member *members)
{
  static const uint32_t flags[] = {0, VYRE_TYPE_ROW_MAJOR, VYRE_TYPE_RUNTIME, VYRE_TYPE_BLOCK | VYRE_TYPE_BUFFER_BLOCK};
  const vyre_module *m = r->module;
  uint32_t form = info->form, id = 256 + index;
  VYRE_TRY(check_string(r, VYRE_VIR0_TYPES, index, info->name));
  if (form == VYRE_FORM_WORDS)
    return check_words(r, index, info, members);
  if (form < VYRE_FORM_MATRIX || form > VYRE_FORM_STRUCT || (info->flags & ~flags[form]))
    return vir0_damaged(r, VYRE_VIR0_TYPES, index, "form %u with flags 0x%x is invalid", form, info->flags);
  bool no_length = (info->flags & VYRE_TYPE_RUNTIME) || info->count_row;
  if (info->count_row >= m->view.rows || (form != VYRE_FORM_ARRAY && info->count_row) ||
      ((info->flags & VYRE_TYPE_RUNTIME) && info->count_row) || (form == VYRE_FORM_ARRAY && no_length && info->count))
    return vir0_damaged(r, VYRE_VIR0_TYPES, index, "it has the lengths %u and row %u", info->count, info->count_row);
  if (form != VYRE_FORM_STRUCT && info->element >= (form == VYRE_FORM_MATRIX ? 256 : id))
    return vir0_damaged(r, VYRE_VIR0_TYPES, index, "its element is type %u, which does not precede it", info->element);
  if (form != VYRE_FORM_STRUCT ? info->name != 0 : info->element != 0)
    return vir0_damaged(r, VYRE_VIR0_TYPES, index, "it has fields that its form does not have");
  for (uint32_t i = 0; form == VYRE_FORM_STRUCT && i < info->count; i++) {
    VYRE_TRY(check_string(r, VYRE_VIR0_TYPES, index, members[i].name));
    if (members[i].type >= id)
      return vir0_damaged(r, VYRE_VIR0_TYPES, index, "member %u is of type %u, which does not precede it", i, members[i].type);
  }
  return check_size(r, index, info, members);
}

static vyre_status
read_types(vir0_reader *r)
{
  static_assert(sizeof(vyre_member) == VIR0_MEMBER_WORDS * 4, "members are copied");
  vyre_module *m = r->module;
  const vir0_part *types = &r->parts[VYRE_VIR0_TYPES], *members = &r->parts[VYRE_VIR0_MEMBERS];
  if (types->count > UINT32_MAX - 256)
    return vir0_damaged(r, VYRE_VIR0_TYPES, types->count, "more types than there are ids");
  if (!table_array_grow(m, &m->types, &m->type_capacity, types->count, sizeof(*m->types)) ||
      !table_array_grow(m, &m->members, &m->member_capacity, members->count, sizeof(*m->members)))
    return no_memory(r);
  if (members->count)
    memcpy(m->members, members->data, (size_t)members->count * sizeof(*m->members));
  m->member_count = members->count;
  uint32_t used = 0;
  for (uint32_t i = 0; i < types->count; i++) {
    uint32_t words[VIR0_TYPE_WORDS];
    memcpy(words, types->data + (size_t)i * sizeof(words), sizeof(words));
    vyre_type_info info = {
        (vyre_type_form)words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], NULL, words[8]};
    uint32_t count = info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_WORDS ? info.count : 0;
    if (count > members->count - used)
      return vir0_damaged(r, VYRE_VIR0_TYPES, i, "it has %u members, but %u are left", count, members->count - used);
    VYRE_TRY(check_type(r, i, &info, count ? m->members + used : NULL));
    m->types[i] = (table_type){info, used, 0, 0};
    m->type_count = i + 1;
    used += count;
  }
  if (used != members->count)
    return vir0_damaged(r, VYRE_VIR0_MEMBERS, used, "the members from here on belong to no struct");
  if (types->count) {
    uint32_t *depths = NULL, capacity = 0;
    if (!table_array_grow(m, &depths, &capacity, types->count, sizeof(*depths)))
      return no_memory(r);
    uint32_t deep = vir0_deep_type(m, depths);
    table_array_free(m, &depths, &capacity, sizeof(*depths));
    if (deep)
      return vir0_damaged(r, VYRE_VIR0_TYPES, deep - 256, "types nest more than %u deep", VIR0_MAX_TYPE_DEPTH);
  }
  return table_index_types(m) ? VYRE_OK : no_memory(r);
}

/* ---- inputs, programs, buffers ---- */

static vyre_status
read_inputs(vir0_reader *r)
{
  vyre_module *m = r->module;
  const vir0_part *part = &r->parts[VYRE_VIR0_INPUTS];
  vir0_words words = {VYRE_VIR0_INPUT_WORDS, 0};
  if (!table_array_grow(m, &m->inputs, &m->input_capacity, part->count, sizeof(*m->inputs)))
    return no_memory(r);
  for (uint32_t i = 0; i < part->count; i++) {
    uint32_t w[VIR0_INPUT_WORDS];
    memcpy(w, part->data + (size_t)i * sizeof(w), sizeof(w));
    VYRE_TRY(check_string(r, VYRE_VIR0_INPUTS, i, w[0]));
    vyre_input *input = &m->inputs[i];
    *input = (vyre_input){.path = w[0], .spirv_version = w[1], .addressing = w[2], .memory = w[3]};
    m->input_count = i + 1; /* from now on the module frees its lists */
    VYRE_TRY(copy_list(r, &words, w[4], &input->capabilities));
    VYRE_TRY(copy_list(r, &words, w[5], &input->extensions));
    VYRE_TRY(check_instructions(r, &words, &input->extensions, 1));
    VYRE_TRY(copy_list(r, &words, w[6], &input->kept));
    VYRE_TRY(check_instructions(r, &words, &input->kept, 1));
  }
  return check_all_used(r, &words);
}

static vyre_status
read_programs(vir0_reader *r)
{
  vyre_module *m = r->module;
  const vir0_part *part = &r->parts[VYRE_VIR0_PROGRAMS];
  vir0_words words = {VYRE_VIR0_PROGRAM_WORDS, 0};
  if (!table_array_grow(m, &m->programs, &m->program_capacity, part->count, sizeof(*m->programs)))
    return no_memory(r);
  for (uint32_t i = 0; i < part->count; i++) {
    uint32_t w[VIR0_PROGRAM_WORDS];
    memcpy(w, part->data + (size_t)i * sizeof(w), sizeof(w));
    VYRE_TRY(check_string(r, VYRE_VIR0_PROGRAMS, i, w[1]));
    if (w[0] >= m->input_count && w[0] != UINT32_MAX)
      return vir0_damaged(r, VYRE_VIR0_PROGRAMS, i, "it is of input %u, but there are %u", w[0], m->input_count);
    m->programs[i] = (table_program){.info = {.input = w[0], .entry = w[1]}};
    m->program_count = i + 1;
    VYRE_TRY(copy_list(r, &words, w[2], &m->programs[i].info.modes));
    VYRE_TRY(check_instructions(r, &words, &m->programs[i].info.modes, 3));
  }
  return check_all_used(r, &words);
}

static vyre_status
read_initializers(vir0_reader *r)
{
  vyre_module *m = r->module;
  const vir0_part *part = &r->parts[VYRE_VIR0_INITIALIZERS], *words = &r->parts[VYRE_VIR0_INITIALIZER_WORDS];
  if (!table_array_grow(m, &m->initializers, &m->initializer_capacity, part->count, sizeof(*m->initializers)) ||
      !table_array_grow(m, &m->initializer_words, &m->initializer_word_capacity, words->count, sizeof(uint32_t)))
    return no_memory(r);
  if (words->count)
    memcpy(m->initializer_words, words->data, (size_t)words->count * sizeof(uint32_t));
  m->initializer_word_count = words->count;
  uint32_t used = 0;
  for (uint32_t i = 0; i < part->count; i++) {
    uint32_t count = vir0_word(part, i);
    if (count > words->count - used)
      return vir0_damaged(r, VYRE_VIR0_INITIALIZERS, i, "it has %u words, but %u are left", count, words->count - used);
    m->initializers[i] = (table_initializer){used, count};
    used += count;
  }
  m->initializer_count = part->count;
  if (used != words->count)
    return vir0_damaged(r, VYRE_VIR0_INITIALIZER_WORDS, used, "the words from here on belong to no entry");
  return VYRE_OK;
}

static vyre_status
read_buffers(vir0_reader *r)
{
  vyre_module *m = r->module;
  const vir0_part *part = &r->parts[VYRE_VIR0_BUFFERS];
  if (!table_array_grow(m, &m->buffers, &m->buffer_capacity, part->count, sizeof(*m->buffers)))
    return no_memory(r);
  for (uint32_t i = 0; i < part->count; i++) {
    uint32_t w[VIR0_BUFFER_WORDS];
    memcpy(w, part->data + (size_t)i * sizeof(w), sizeof(w));
    if (w[3] >= m->initializer_count && w[3] != UINT32_MAX)
      return vir0_damaged(r, VYRE_VIR0_BUFFERS, i, "it has initializer %u, but there are %u", w[3], m->initializer_count);
    m->buffers[i] = (vyre_buffer_info){w[0], w[1], w[2], w[3]};
  }
  m->buffer_count = part->count;
  return VYRE_OK;
}

/* ---- extras: data that few rows have ---- */

/* Returns the next entry of programs or buffers for a row of that op. */
static vyre_status
next_info(const vir0_reader *r, uint32_t entry, uint32_t row, uint32_t *programs, uint32_t *buffers, uint32_t *out)
{
  const vyre_module *m = r->module;
  if (table_op_is(m, row, VYRE_OP_program) && *programs < m->program_count)
    *out = (*programs)++;
  else if (table_op_is(m, row, VYRE_OP_buffer) && *buffers < m->buffer_count)
    *out = (*buffers)++;
  else
    return vir0_damaged(r, VYRE_VIR0_EXTRAS, entry, "the section of programs or buffers has no entry for row %u", row);
  return VYRE_OK;
}

static vyre_status
check_decorations(const vir0_reader *r, uint32_t start, uint32_t count)
{
  if (count == 0)
    return VYRE_OK;
  const uint32_t *words = r->module->decoration_words + start;
  for (uint32_t at = 0; at < count; at += 2 + words[at + 1])
    if (count - at < 2 || words[at + 1] > count - at - 2)
      return vir0_damaged(r, VYRE_VIR0_DECORATION_WORDS, start + at, "it is not a whole decoration");
  return VYRE_OK;
}

static vyre_status
read_extras(vir0_reader *r)
{
  vyre_module *m = r->module;
  const vir0_part *part = &r->parts[VYRE_VIR0_EXTRAS], *decorations = &r->parts[VYRE_VIR0_DECORATION_WORDS];
  vir0_words words = {VYRE_VIR0_DECORATION_WORDS, 0};
  uint32_t programs = 0, buffers = 0, before = 0;
  if (!table_array_grow(m, &m->decoration_words, &m->decoration_capacity, decorations->count, sizeof(uint32_t)))
    return no_memory(r);
  m->decoration_count = decorations->count;
  for (uint32_t i = 0; i < part->count; i++) {
    uint32_t w[VIR0_EXTRA_WORDS], start = words.used;
    memcpy(w, part->data + (size_t)i * sizeof(w), sizeof(w));
    if (w[0] <= before || w[0] >= m->view.rows || w[3] > 1)
      return vir0_damaged(r, VYRE_VIR0_EXTRAS, i, "row %u after row %u, of %u; info %u", w[0], before, m->view.rows, w[3]);
    before = w[0];
    table_extra extra = {w[1], start, w[2], UINT32_MAX};
    VYRE_TRY(copy_words(r, &words, w[2], w[2] && m->decoration_words ? m->decoration_words + start : NULL));
    VYRE_TRY(check_decorations(r, start, w[2]));
    if (w[3])
      VYRE_TRY(next_info(r, i, w[0], &programs, &buffers, &extra.info));
    table_extra *made = table_extra_of(m, w[0]);
    if (!made)
      return no_memory(r);
    *made = extra;
  }
  if (programs != m->program_count || buffers != m->buffer_count)
    return vir0_damaged(r, programs != m->program_count ? VYRE_VIR0_PROGRAMS : VYRE_VIR0_BUFFERS,
                        programs != m->program_count ? programs : buffers, "it belongs to no row");
  return check_all_used(r, &words);
}

/* Checks that rows have the flag DECO exactly if they have decorations. */
static vyre_status
check_flags(const vir0_reader *r)
{
  const vyre_module *m = r->module;
  for (uint32_t row = 1; row < m->view.rows; row++) {
    uint32_t extra = table_side(m, COLUMN_EXTRA, row);
    bool decorated = extra && m->extras[extra].decoration_count;
    if (decorated != ((VYRE_ROW_FLAGS(m->view.op[row]) & VYRE_ROW_DECO) != 0))
      return vir0_damaged(r, VYRE_VIR0_OP, row,
                          decorated ? "it has decorations, but not their flag"
                                    : "it has the flag of decorations, but has no decorations");
  }
  return VYRE_OK;
}

vyre_status
vir0_read_tables(vir0_reader *r)
{
  VYRE_TRY(read_scopes(r));
  VYRE_TRY(read_types(r));
  VYRE_TRY(read_inputs(r));
  VYRE_TRY(read_programs(r));
  VYRE_TRY(read_initializers(r));
  VYRE_TRY(read_buffers(r));
  VYRE_TRY(read_extras(r));
  return check_flags(r);
}
