/* VIR0: writes a sealed module to a file.
 *
 * A plan comes first: the strings, files and initializers that rows still use, renumbered in order of first use, and the number of
 * entries of each section. Then the size of each section is known, and the file is written once, in place. O(rows, texts). Scratch:
 * 4 bytes for each byte of text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vir0.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ALIGNMENT 64u

typedef struct writer {
  const vyre_module *module;
  uint32_t *strings;                      /* old -> new, or 0 if unused */
  uint32_t *scopes;                       /* old -> new, or 0 if unused */
  uint32_t *initializers;                 /* old -> new + 1 */
  uint32_t *next_initializer;             /* new -> old */
  uint32_t counts[VYRE_VIR0_KIND__COUNT]; /* entries of each section */
  uint32_t strings_end;
  bool has_entities;
  bool out_of_memory;
} writer;

/* Allocates `count` zeroed words. Returns NULL if `count` is 0 or memory runs out. */
static uint32_t *
words_new(writer *w, uint32_t count)
{
  const vyre_allocator *allocator = &w->module->allocator;
  if (count == 0 || w->out_of_memory)
    return NULL;
  uint32_t *words = allocator->resize(allocator->user, NULL, 0, count * sizeof(*words));
  if (words)
    memset(words, 0, count * sizeof(*words));
  else
    w->out_of_memory = true;
  return words;
}

static void
words_free(const writer *w, uint32_t *words, uint32_t count)
{
  const vyre_allocator *allocator = &w->module->allocator;
  if (words)
    allocator->resize(allocator->user, words, count * sizeof(*words), 0);
}

/* ---- the plan ---- */

static void
use_string(writer *w, uint32_t string)
{
  if (string == 0 || w->strings[string])
    return;
  w->strings[string] = w->strings_end;
  w->strings_end += (uint32_t)strlen(w->module->texts + string) + 1;
}

static uint32_t
new_string(const writer *w, uint32_t string)
{
  return string ? w->strings[string] : 0;
}

static const table_extra *
extra_at(const writer *w, uint32_t row)
{
  uint32_t extra = table_side(w->module, COLUMN_EXTRA, row);
  return extra ? &w->module->extras[extra] : NULL;
}

/* Returns whether the row has an entry in the section `kind`, which is that of programs or of buffers. */
static bool
has_info(const writer *w, uint32_t row, const table_extra *extra, vyre_vir0_kind kind)
{
  const vyre_module *m = w->module;
  if (kind == VYRE_VIR0_PROGRAMS)
    return table_op_is(m, row, VYRE_OP_program) && extra->info < m->program_count;
  return table_op_is(m, row, VYRE_OP_buffer) && extra->info < m->buffer_count;
}

static bool
is_written(const writer *w, uint32_t row, const table_extra *extra)
{
  return extra && (extra->spec_id != UINT32_MAX || extra->decoration_count || has_info(w, row, extra, VYRE_VIR0_PROGRAMS) ||
                   has_info(w, row, extra, VYRE_VIR0_BUFFERS));
}

static void
plan_extra(writer *w, uint32_t row, const table_extra *extra)
{
  const vyre_module *m = w->module;
  w->counts[VYRE_VIR0_EXTRAS]++;
  w->counts[VYRE_VIR0_DECORATION_WORDS] += extra->decoration_count;
  if (has_info(w, row, extra, VYRE_VIR0_PROGRAMS)) {
    const vyre_program_info *info = &m->programs[extra->info].info;
    use_string(w, info->entry);
    w->counts[VYRE_VIR0_PROGRAMS]++;
    w->counts[VYRE_VIR0_PROGRAM_WORDS] += info->modes.count;
  } else if (has_info(w, row, extra, VYRE_VIR0_BUFFERS)) {
    uint32_t initializer = m->buffers[extra->info].initializer;
    w->counts[VYRE_VIR0_BUFFERS]++;
    if (initializer < m->initializer_count && !w->initializers[initializer]) {
      w->next_initializer[w->counts[VYRE_VIR0_INITIALIZERS]] = initializer;
      w->initializers[initializer] = ++w->counts[VYRE_VIR0_INITIALIZERS];
      w->counts[VYRE_VIR0_INITIALIZER_WORDS] += m->initializers[initializer].count;
    }
  }
}

/* Numbers a scope after the scopes that it names. */
static void
use_scope(writer *w, vyre_scope scope)
{
  if (scope == 0 || w->scopes[scope])
    return;
  const vyre_scope_info *info = &w->module->scopes[scope].info;
  use_scope(w, info->caller); /* at most VYRE_SCOPE_DEPTH deep */
  use_scope(w, info->variable);
  use_scope(w, info->values);
  w->scopes[scope] = ++w->counts[VYRE_VIR0_FILES];
  w->has_entities |= info->entity != 0;
  use_string(w, info->file);
}

static void
plan_rows(writer *w)
{
  const vyre_module *m = w->module;
  uint32_t rows = m->view.rows;
  for (uint32_t row = 1; row < rows; row++) {
    uint32_t name = table_side(m, COLUMN_NAME, row), line = table_side(m, COLUMN_LINE, row);
    uint32_t place = line ? table_side(m, COLUMN_PLACE, row) : 0;
    const table_extra *extra = extra_at(w, row);
    use_string(w, name);
    if (name)
      w->counts[VYRE_VIR0_NAME] = rows;
    if (line)
      w->counts[VYRE_VIR0_LINE] = rows;
    if (place)
      w->counts[VYRE_VIR0_PLACE] = rows;
    use_scope(w, place >> TABLE_PLACE_BITS);
    if (is_written(w, row, extra))
      plan_extra(w, row, extra);
  }
}

static void
make_plan(writer *w)
{
  const vyre_module *m = w->module;
  w->strings = words_new(w, m->texts_size);
  w->scopes = words_new(w, m->scope_count);
  w->initializers = words_new(w, m->initializer_count);
  w->next_initializer = words_new(w, m->initializer_count);
  if (w->out_of_memory)
    return;
  w->strings_end = 1;
  for (uint32_t kind = VYRE_VIR0_OP; kind <= VYRE_VIR0_LAST; kind++)
    w->counts[kind] = m->view.rows;
  plan_rows(w);
  w->counts[VYRE_VIR0_SCOPES] = w->has_entities ? w->counts[VYRE_VIR0_FILES] : 0;
  w->counts[VYRE_VIR0_TYPES] = m->type_count;
  for (uint32_t i = 0; i < m->type_count; i++) {
    const table_type *type = &m->types[i];
    use_string(w, type->info.name);
    if (type->info.form != VYRE_FORM_STRUCT && type->info.form != VYRE_FORM_WORDS)
      continue;
    w->counts[VYRE_VIR0_MEMBERS] += type->info.count;
    for (uint32_t k = 0; k < type->info.count; k++)
      use_string(w, m->members[type->members + k].name);
  }
  w->counts[VYRE_VIR0_INPUTS] = m->input_count;
  for (uint32_t i = 0; i < m->input_count; i++) {
    const vyre_input *input = &m->inputs[i];
    use_string(w, input->path);
    w->counts[VYRE_VIR0_INPUT_WORDS] += input->capabilities.count + input->extensions.count + input->kept.count;
  }
  w->counts[VYRE_VIR0_STRINGS] = w->strings_end > 1 ? w->strings_end : 0;
}

static void
free_plan(writer *w)
{
  const vyre_module *m = w->module;
  words_free(w, w->strings, m->texts_size);
  words_free(w, w->scopes, m->scope_count);
  words_free(w, w->initializers, m->initializer_count);
  words_free(w, w->next_initializer, m->initializer_count);
}

/* ---- sections: each function writes its entries at `to`, which is at a multiple of 4 in the writer's memory ---- */

static uint32_t *
put_words(uint32_t *to, const uint32_t *words, uint32_t count)
{
  if (count)
    memcpy(to, words, count * sizeof(*to));
  return to + count;
}

static void
fill_column(const writer *w, uint32_t kind, uint32_t *to)
{
  const vyre_module *m = w->module;
  uint32_t rows = m->view.rows;
  if (kind <= VYRE_VIR0_LAST)
    memcpy(to, m->column[COLUMN_OP + (kind - VYRE_VIR0_OP)], rows * sizeof(*to));
  for (uint32_t row = 1; kind == VYRE_VIR0_NAME && row < rows; row++)
    to[row] = new_string(w, table_side(m, COLUMN_NAME, row));
  for (uint32_t row = 1; kind >= VYRE_VIR0_LINE && row < rows; row++) {
    uint32_t line = table_side(m, COLUMN_LINE, row), place = line ? table_side(m, COLUMN_PLACE, row) : 0;
    uint32_t scope = place >> TABLE_PLACE_BITS;
    to[row] = kind == VYRE_VIR0_LINE ? line
              : scope                ? w->scopes[scope] << TABLE_PLACE_BITS | (place & ((1u << TABLE_PLACE_BITS) - 1))
                                     : place;
  }
}

static void
fill_strings(const writer *w, char *to)
{
  const vyre_module *m = w->module;
  for (uint32_t string = 1; string < m->texts_size; string++)
    if (w->strings[string])
      memcpy(to + w->strings[string], m->texts + string, strlen(m->texts + string) + 1);
}

static void
fill_scopes(const writer *w, uint32_t kind, uint32_t *to)
{
  for (uint32_t i = 1; i < w->module->scope_count; i++) {
    const vyre_scope_info *info = &w->module->scopes[i].info;
    const uint32_t words[VIR0_SCOPE_WORDS] = {
        info->entity, w->scopes[info->caller], info->call_line, info->call, w->scopes[info->variable],
        info->index,  w->scopes[info->values], info->order,     info->depth};
    const uint32_t place = w->scopes[i] - 1;
    if (w->scopes[i] && kind == VYRE_VIR0_FILES)
      to[place] = new_string(w, info->file);
    else if (w->scopes[i])
      put_words(to + (size_t)place * VIR0_SCOPE_WORDS, words, VIR0_SCOPE_WORDS);
  }
}

static void
fill_types(const writer *w, uint32_t kind, uint32_t *to)
{
  const vyre_module *m = w->module;
  for (uint32_t i = 0; i < m->type_count; i++) {
    const table_type *type = &m->types[i];
    const vyre_type_info *t = &type->info;
    if (kind == VYRE_VIR0_TYPES) {
      const uint32_t words[VIR0_TYPE_WORDS] = {
          t->form, t->flags, t->element, t->count, t->count_row, t->stride, t->align, t->size, new_string(w, t->name)};
      to = put_words(to, words, VIR0_TYPE_WORDS);
      continue;
    }
    for (uint32_t k = 0; (t->form == VYRE_FORM_STRUCT || t->form == VYRE_FORM_WORDS) && k < t->count; k++) {
      const vyre_member *member = &m->members[type->members + k];
      const uint32_t words[VIR0_MEMBER_WORDS] = {new_string(w, member->name), member->type, member->offset, member->access};
      to = put_words(to, words, VIR0_MEMBER_WORDS);
    }
  }
}

static void
fill_inputs(const writer *w, uint32_t kind, uint32_t *to)
{
  for (uint32_t i = 0; i < w->module->input_count; i++) {
    const vyre_input *input = &w->module->inputs[i];
    if (kind == VYRE_VIR0_INPUTS) {
      const uint32_t words[VIR0_INPUT_WORDS] = {
          new_string(w, input->path), input->spirv_version,    input->addressing, input->memory,
          input->capabilities.count,  input->extensions.count, input->kept.count};
      to = put_words(to, words, VIR0_INPUT_WORDS);
      continue;
    }
    to = put_words(to, input->capabilities.words, input->capabilities.count);
    to = put_words(to, input->extensions.words, input->extensions.count);
    to = put_words(to, input->kept.words, input->kept.count);
  }
}

static void
fill_program(const writer *w, uint32_t kind, const vyre_program_info *info, uint32_t **to)
{
  const uint32_t words[VIR0_PROGRAM_WORDS] = {info->input < w->module->input_count ? info->input : UINT32_MAX,
                                              new_string(w, info->entry), info->modes.count};
  if (kind == VYRE_VIR0_PROGRAMS)
    *to = put_words(*to, words, VIR0_PROGRAM_WORDS);
  else
    *to = put_words(*to, info->modes.words, info->modes.count);
}

static void
fill_buffer(const writer *w, const vyre_buffer_info *info, uint32_t **to)
{
  bool initialized = info->initializer < w->module->initializer_count;
  const uint32_t words[VIR0_BUFFER_WORDS] = {info->set, info->binding, info->spirv_id,
                                             initialized ? w->initializers[info->initializer] - 1 : UINT32_MAX};
  *to = put_words(*to, words, VIR0_BUFFER_WORDS);
}

/* Writes a section that has an entry for each row with extras. */
static void
fill_extras(const writer *w, uint32_t kind, uint32_t *to)
{
  const vyre_module *m = w->module;
  for (uint32_t row = 1; row < m->view.rows; row++) {
    const table_extra *extra = extra_at(w, row);
    if (!is_written(w, row, extra))
      continue;
    bool program = has_info(w, row, extra, VYRE_VIR0_PROGRAMS), buffer = has_info(w, row, extra, VYRE_VIR0_BUFFERS);
    if (kind == VYRE_VIR0_EXTRAS) {
      const uint32_t words[VIR0_EXTRA_WORDS] = {row, extra->spec_id, extra->decoration_count, program || buffer};
      to = put_words(to, words, VIR0_EXTRA_WORDS);
    } else if (kind == VYRE_VIR0_DECORATION_WORDS && extra->decoration_count) {
      to = put_words(to, m->decoration_words + extra->decorations, extra->decoration_count);
    } else if (program && (kind == VYRE_VIR0_PROGRAMS || kind == VYRE_VIR0_PROGRAM_WORDS)) {
      fill_program(w, kind, &m->programs[extra->info].info, &to);
    } else if (buffer && kind == VYRE_VIR0_BUFFERS) {
      fill_buffer(w, &m->buffers[extra->info], &to);
    }
  }
}

static void
fill_section(const writer *w, uint32_t kind, char *start)
{
  const vyre_module *m = w->module;
  uint32_t *to = (uint32_t *)(void *)start;
  switch (kind) {
  case VYRE_VIR0_STRINGS:
    fill_strings(w, start);
    break;
  case VYRE_VIR0_FILES:
  case VYRE_VIR0_SCOPES:
    fill_scopes(w, kind, to);
    break;
  case VYRE_VIR0_TYPES:
  case VYRE_VIR0_MEMBERS:
    fill_types(w, kind, to);
    break;
  case VYRE_VIR0_INPUTS:
  case VYRE_VIR0_INPUT_WORDS:
    fill_inputs(w, kind, to);
    break;
  case VYRE_VIR0_INITIALIZERS:
  case VYRE_VIR0_INITIALIZER_WORDS:
    for (uint32_t i = 0; i < w->counts[VYRE_VIR0_INITIALIZERS]; i++) {
      const table_initializer *initializer = &m->initializers[w->next_initializer[i]];
      if (kind == VYRE_VIR0_INITIALIZERS)
        *to++ = initializer->count;
      else if (initializer->count)
        to = put_words(to, m->initializer_words + initializer->offset, initializer->count);
    }
    break;
  default:
    if (kind <= VYRE_VIR0_PLACE)
      fill_column(w, kind, to);
    else
      fill_extras(w, kind, to);
    break;
  }
}

/* ---- the file ---- */

static vyre_status
check_named(const vyre_vir0_named *named, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    size_t length = named[i].name ? strlen(named[i].name) : 0;
    bool right = length > 0 && length < VYRE_VIR0_NAME_BYTES;
    for (size_t k = 0; right && k < length; k++)
      right = named[i].name[k] >= ' ' && named[i].name[k] <= '~';
    for (uint32_t k = 0; right && k < i; k++)
      right = strcmp(named[i].name, named[k].name) != 0;
    if (!right)
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "'%.32s' cannot be the name of a section of VIR0\nFix: use unique names of 1 to 23 printable characters",
                        length ? named[i].name : "");
  }
  return VYRE_OK;
}

/* Checks that the module does not nest deeper than a reader accepts. */
static vyre_status
check_depth(writer *w)
{
  const vyre_module *m = w->module;
  uint32_t *depths = words_new(w, m->type_count);
  if (w->out_of_memory)
    return VYRE_OUT_OF_MEMORY("to write VIR0");
  uint32_t type = depths ? vir0_deep_type(m, depths) : 0, row = vir0_deep_row(m);
  words_free(w, depths, m->type_count);
  if (type || row)
    return VYRE_ERROR(VYRE_CODE_INPUT, "VIR0 allows %s to nest %u deep, but %s %u nests deeper\nFix: nest less, or write .vir",
                      type ? "types" : "rows", type ? VIR0_MAX_TYPE_DEPTH : VIR0_MAX_ROW_DEPTH, type ? "type" : "row",
                      type ? type : row);
  return VYRE_OK;
}

/* Places one section after `*end`. */
static vyre_vir0_section
place_section(uint32_t kind, const char *name, uint64_t size, uint64_t *end)
{
  vyre_vir0_section s = {.kind = kind, .size = size, .alignment = ALIGNMENT};
  s.offset = (*end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memcpy(s.name, name, strlen(name));
  *end = s.offset + size;
  return s;
}

/* Writes the sections and the section table after the header at `start`. If `start` is NULL, only computes the size. Returns the
 * end of the last section. */
static uint64_t
make_table(const writer *w, const vyre_vir0_named *named, uint32_t named_count, uint32_t sections, char *start)
{
  uint64_t end = sizeof(vyre_vir0_header) + (uint64_t)sections * sizeof(vyre_vir0_section);
  char *to = start ? start + sizeof(vyre_vir0_header) : NULL;
  for (uint32_t i = 1; i < VYRE_VIR0_KIND__COUNT + named_count; i++) {
    const vyre_vir0_named *other = i < VYRE_VIR0_KIND__COUNT ? NULL : &named[i - VYRE_VIR0_KIND__COUNT];
    vyre_vir0_section s;
    if (!other && w->counts[i] == 0)
      continue;
    if (other)
      s = place_section(VYRE_VIR0_NAMED, other->name, other->size, &end);
    else
      s = place_section(i, vir0_kinds[i].name, (uint64_t)w->counts[i] * vir0_kinds[i].entry_size, &end);
    if (!to)
      continue;
    if (other && other->size)
      memcpy(start + s.offset, other->data, other->size);
    else if (!other)
      fill_section(w, i, start + s.offset);
    s.flags = other && other->optional ? VYRE_VIR0_OPTIONAL : 0;
    s.hash = XXH3_64bits(start + s.offset, s.size);
    memcpy(to, &s, sizeof(s));
    to += sizeof(s);
  }
  return end;
}

static vyre_status
write_file(const writer *w, const vyre_vir0_named *named, uint32_t named_count, vyre_bytes *out)
{
  uint32_t sections = named_count;
  for (uint32_t kind = 1; kind < VYRE_VIR0_KIND__COUNT; kind++)
    sections += w->counts[kind] != 0;
  uint64_t size = make_table(w, named, named_count, sections, NULL);
  if (size > SIZE_MAX / 4)
    return VYRE_ERROR(VYRE_CODE_INPUT, "a VIR0 file of %llu bytes is too large\nFix: split the module", (unsigned long long)size);
  /* Sections are filled word by word, so they must be aligned; `out` may contain other bytes before them. */
  size_t shift = (ALIGNMENT - out->size % ALIGNMENT) % ALIGNMENT;
  size_t before = out->size;
  VYRE_TRY(vyre_bytes_reserve(out, before + shift + (size_t)size));
  char *start = out->data + before + shift;
  memset(start, 0, (size_t)size);
  make_table(w, named, named_count, sections, start);
  vyre_vir0_header header = {.magic = {'V', 'I', 'R', '0'},
                             .byte_order = VYRE_VIR0_BYTE_ORDER,
                             .version = VYRE_VIR0_VERSION,
                             .opset = VYRE_OPSET_VERSION,
                             .size = size,
                             .sections = sections,
                             .rows = w->module->view.rows,
                             .header_bytes = sizeof(header),
                             .section_bytes = sizeof(vyre_vir0_section)};
  header.hash =
      XXH3_64bits_withSeed(start + sizeof(header), sections * sizeof(vyre_vir0_section), XXH3_64bits(&header, sizeof(header)));
  memcpy(start, &header, sizeof(header));
  if (shift)
    memmove(out->data + before, start, (size_t)size);
  out->size = before + (size_t)size;
  out->data[out->size] = '\0';
  return VYRE_OK;
}

vyre_status
vyre_vir0_write(const vyre_module *module, const vyre_vir0_named *named, uint32_t count, vyre_bytes *out)
{
  VYRE_TRY(vyre_module_status(module));
  VYRE_TRY(check_named(named, count));
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "only a sealed module can be written as VIR0");
  writer w = {.module = module};
  VYRE_TRY(check_depth(&w));
  make_plan(&w);
  vyre_status status = w.out_of_memory ? VYRE_OUT_OF_MEMORY("to write VIR0") : write_file(&w, named, count, out);
  free_plan(&w);
  return status;
}
