/* Data beside the columns: names, lines, spec ids, decorations, inputs, programs, buffers, initializers.
 *
 * Names and source locations are columns (scopes.c has the scopes of lines). A row with any other data has one `extra` entry.
 * Entries of dropped rows stay until the module is cleared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

#define PLACE_COLUMN_MAX ((1u << TABLE_PLACE_BITS) - 1u)

static bool
is_row(const vyre_module *module, vyre_row row)
{
  return row.id != 0 && row.id < module->view.rows;
}

table_extra *
table_extra_of(vyre_module *module, uint32_t row)
{
  uint32_t extra = table_side(module, COLUMN_EXTRA, row);
  if (extra)
    return &module->extras[extra];
  uint32_t next = module->extra_count ? module->extra_count : 1;
  if (!table_array_grow(module, &module->extras, &module->extra_capacity, (uint64_t)next + 1, sizeof(*module->extras)))
    return NULL;
  table_set_side(module, COLUMN_EXTRA, row, next);
  if (module->failed)
    return NULL;
  module->extras[next] = (table_extra){.spec_id = UINT32_MAX, .info = UINT32_MAX};
  module->extra_count = next + 1;
  return &module->extras[next];
}

static const table_extra *
find_extra(const vyre_module *module, vyre_row row)
{
  uint32_t extra = is_row(module, row) ? table_side(module, COLUMN_EXTRA, row.id) : 0;
  return extra ? &module->extras[extra] : NULL;
}

/* ---- names, source locations ---- */

void
vyre_row_set_name_string(vyre_module *module, vyre_row row, vyre_string name)
{
  if (!is_row(module, row))
    return;
  table_set_side(module, COLUMN_NAME, row.id, name);
  if (name)
    module->names_dirty = true;
}

void
vyre_row_set_name(vyre_module *module, vyre_row row, const char *name, size_t length)
{
  if (is_row(module, row))
    vyre_row_set_name_string(module, row, vyre_string_intern(module, name, length));
}

const char *
vyre_row_name(const vyre_module *module, vyre_row row)
{
  uint32_t name = is_row(module, row) ? table_side(module, COLUMN_NAME, row.id) : 0;
  return name ? module->texts + name : NULL;
}

static const uint32_t *
side_column(const vyre_module *module, table_column column, uint32_t *out_rows)
{
  *out_rows = module->side[column];
  return module->column[column];
}

const vyre_string *
vyre_module_names(const vyre_module *module, uint32_t *out_rows)
{
  return side_column(module, COLUMN_NAME, out_rows);
}

const uint32_t *
vyre_module_lines(const vyre_module *module, uint32_t *out_rows)
{
  return side_column(module, COLUMN_LINE, out_rows);
}

void
vyre_row_set_place(vyre_module *module, vyre_row row, vyre_scope scope, uint32_t line, uint32_t column)
{
  if (!is_row(module, row))
    return;
  if (column > PLACE_COLUMN_MAX)
    column = PLACE_COLUMN_MAX;
  table_set_side(module, COLUMN_LINE, row.id, line);
  table_set_side(module, COLUMN_PLACE, row.id, line ? scope << TABLE_PLACE_BITS | column : 0);
}

bool
vyre_row_line(const vyre_module *module, vyre_row row, vyre_string *out_file, uint32_t *out_line, uint32_t *out_column)
{
  uint32_t line = is_row(module, row) ? table_side(module, COLUMN_LINE, row.id) : 0;
  uint32_t place = line ? table_side(module, COLUMN_PLACE, row.id) : 0;
  *out_file = place >> TABLE_PLACE_BITS ? module->scopes[place >> TABLE_PLACE_BITS].info.file : 0;
  *out_line = line;
  *out_column = place & PLACE_COLUMN_MAX;
  return line != 0;
}

vyre_scope
vyre_row_scope(const vyre_module *module, vyre_row row)
{
  return is_row(module, row) ? table_side(module, COLUMN_PLACE, row.id) >> TABLE_PLACE_BITS : 0;
}

/* ---- spec ids, decorations ---- */

void
vyre_row_set_spec_id(vyre_module *module, vyre_row row, uint32_t spec_id)
{
  if (!is_row(module, row) || (spec_id == UINT32_MAX && !find_extra(module, row)))
    return;
  table_extra *extra = table_extra_of(module, row.id);
  if (extra)
    extra->spec_id = spec_id;
}

uint32_t
vyre_row_spec_id(const vyre_module *module, vyre_row row)
{
  const table_extra *extra = find_extra(module, row);
  return extra ? extra->spec_id : UINT32_MAX;
}

void
vyre_row_set_decorations(vyre_module *module, vyre_row row, const uint32_t *words, uint32_t count)
{
  if (!is_row(module, row))
    return;
  uint32_t *op = &module->column[COLUMN_OP][row.id];
  module->written |= 1u << COLUMN_OP;
  *op &= ~((uint32_t)VYRE_ROW_DECO << 24);
  table_extra *extra = NULL;
  if (count || find_extra(module, row))
    extra = table_extra_of(module, row.id);
  if (!extra)
    return;
  if (count > extra->decoration_count) {
    /* the words may be another row's, in the array that may move */
    uintptr_t inside = (uintptr_t)words - (uintptr_t)module->decoration_words;
    uint64_t needed = (uint64_t)module->decoration_count + count;
    if (!table_array_grow(module, &module->decoration_words, &module->decoration_capacity, needed, sizeof(uint32_t)))
      return;
    if (inside < module->decoration_count * sizeof(uint32_t))
      words = module->decoration_words + inside / sizeof(uint32_t);
    extra->decorations = module->decoration_count;
    module->decoration_count = (uint32_t)needed;
  }
  if (count) {
    memmove(module->decoration_words + extra->decorations, words, count * sizeof(uint32_t));
    *op |= (uint32_t)VYRE_ROW_DECO << 24;
  }
  extra->decoration_count = count;
}

const uint32_t *
vyre_row_decorations(const vyre_module *module, vyre_row row, uint32_t *out_count)
{
  const table_extra *extra = find_extra(module, row);
  *out_count = extra ? extra->decoration_count : 0;
  return *out_count ? module->decoration_words + extra->decorations : NULL;
}

/* ---- inputs ---- */

uint32_t
vyre_module_add_input(vyre_module *module, const char *path)
{
  uint32_t index = module->input_count;
  vyre_string name = vyre_string_intern(module, path ? path : "", path ? strlen(path) : 0);
  if (!table_array_grow(module, &module->inputs, &module->input_capacity, (uint64_t)index + 1, sizeof(*module->inputs)))
    return UINT32_MAX;
  module->inputs[index] = (vyre_input){.path = name};
  module->input_count++;
  return index;
}

uint32_t
vyre_module_input_count(const vyre_module *module)
{
  return module->input_count;
}

vyre_input *
vyre_module_input(vyre_module *module, uint32_t index)
{
  if (index < module->input_count)
    return &module->inputs[index];
  module->no_input = (vyre_input){0};
  return &module->no_input;
}

void
vyre_word_list_append(vyre_module *module, vyre_word_list *list, const uint32_t *words, uint32_t count)
{
  bool stand_in = list == &module->no_program.info.modes || list == &module->no_input.capabilities ||
                  list == &module->no_input.extensions || list == &module->no_input.kept;
  if (stand_in || count == 0)
    return;
  if (!table_array_grow(module, &list->words, &list->capacity, (uint64_t)list->count + count, sizeof(uint32_t)))
    return;
  memcpy(list->words + list->count, words, count * sizeof(uint32_t));
  list->count += count;
}

/* ---- side data of program and buffer rows ---- */

bool
table_add_program_info(vyre_module *module, uint32_t row, uint32_t input)
{
  uint32_t index = module->program_count;
  if (!table_array_grow(module, &module->programs, &module->program_capacity, (uint64_t)index + 1, sizeof(*module->programs)))
    return false;
  table_extra *extra = table_extra_of(module, row);
  if (!extra)
    return false;
  module->programs[index] = (table_program){.info.input = input};
  module->program_count++;
  extra->info = index;
  return true;
}

bool
table_add_buffer_info(vyre_module *module, uint32_t row, uint32_t set, uint32_t binding)
{
  uint32_t index = module->buffer_count;
  if (!table_array_grow(module, &module->buffers, &module->buffer_capacity, (uint64_t)index + 1, sizeof(*module->buffers)))
    return false;
  table_extra *extra = table_extra_of(module, row);
  if (!extra)
    return false;
  module->buffers[index] = (vyre_buffer_info){.set = set, .binding = binding, .initializer = UINT32_MAX};
  module->buffer_count++;
  extra->info = index;
  return true;
}

table_program *
table_no_program(vyre_module *module)
{
  module->no_program = (table_program){0};
  return &module->no_program;
}

vyre_program_info *
vyre_program_info_of(vyre_module *module, vyre_row program)
{
  module->kept_analyses = 0; /* the caller may change the data */
  return &table_program_of(module, program.id)->info;
}

void
table_link_inputs(vyre_module *module)
{
  for (uint32_t i = 0; i < module->input_count; i++)
    module->inputs[i].first_program = 0;
  for (uint32_t row = module->view.last[0]; row; row = module->view.prev[row]) {
    vyre_program_info *info = vyre_program_info_of(module, (vyre_row){row});
    if (info->input >= module->input_count)
      continue;
    info->next_program = module->inputs[info->input].first_program;
    module->inputs[info->input].first_program = row;
  }
}

vyre_buffer_info *
vyre_buffer_info_of(vyre_module *module, vyre_row buffer)
{
  module->kept_analyses = 0; /* the caller may change the data */
  const table_extra *extra = find_extra(module, buffer);
  if (extra && extra->info < module->buffer_count && table_op_is(module, buffer.id, VYRE_OP_buffer))
    return &module->buffers[extra->info];
  module->no_buffer = (vyre_buffer_info){.initializer = UINT32_MAX};
  return &module->no_buffer;
}

uint32_t
vyre_module_add_initializer(vyre_module *module, const uint32_t *words, uint32_t count)
{
  uint32_t index = module->initializer_count;
  uint32_t offset = module->initializer_word_count;
  if (!table_array_grow(module, &module->initializer_words, &module->initializer_word_capacity, (uint64_t)offset + count,
                        sizeof(uint32_t)) ||
      !table_array_grow(module, &module->initializers, &module->initializer_capacity, (uint64_t)index + 1,
                        sizeof(*module->initializers)))
    return UINT32_MAX;
  if (count)
    memcpy(module->initializer_words + offset, words, count * sizeof(uint32_t));
  module->initializer_word_count += count;
  module->initializers[index] = (table_initializer){offset, count};
  module->initializer_count++;
  return index;
}

const uint32_t *
vyre_module_initializer(const vyre_module *module, uint32_t index, uint32_t *out_count)
{
  *out_count = index < module->initializer_count ? module->initializers[index].count : 0;
  return *out_count ? module->initializer_words + module->initializers[index].offset : NULL;
}

/* ---- whole tables ---- */

static void
free_words(vyre_module *module, vyre_word_list *list)
{
  table_array_free(module, &list->words, &list->capacity, sizeof(uint32_t));
  list->count = 0;
}

void
table_clear_side(vyre_module *module)
{
  for (uint32_t i = 0; i < module->input_count; i++) {
    free_words(module, &module->inputs[i].capabilities);
    free_words(module, &module->inputs[i].extensions);
    free_words(module, &module->inputs[i].kept);
  }
  for (uint32_t i = 0; i < module->program_count; i++)
    free_words(module, &module->programs[i].info.modes);
  module->input_count = 0;
  module->program_count = 0;
  module->buffer_count = 0;
  module->extra_count = 0;
  module->decoration_count = 0;
  module->initializer_word_count = 0;
  module->initializer_count = 0;
  table_set_clear(&module->scope_set);
  module->scope_count = 0;
  module->last_scope = 0;
}

static void
clone_words(vyre_module *to, vyre_word_list *list)
{
  vyre_word_list from = *list;
  *list = (vyre_word_list){0};
  vyre_word_list_append(to, list, from.words, from.count);
}

#define CLONE_ARRAY(array, array_count, array_capacity)                                                \
  do {                                                                                                 \
    if (from->array_count == 0)                                                                        \
      break;                                                                                           \
    if (!table_array_grow(to, &to->array, &to->array_capacity, from->array_count, sizeof(*to->array))) \
      return false;                                                                                    \
    memcpy(to->array, from->array, from->array_count * sizeof(*to->array));                            \
    to->array_count = from->array_count;                                                               \
  } while (0)

static bool
clone_set(vyre_module *to, const table_set *from, table_set *set)
{
  if (from->capacity == 0)
    return true;
  set->slots = table_resize(to, NULL, 0, from->capacity * sizeof(uint32_t));
  if (!set->slots) {
    table_fail(to);
    return false;
  }
  memcpy(set->slots, from->slots, from->capacity * sizeof(uint32_t));
  set->capacity = from->capacity;
  set->count = from->count;
  return true;
}

bool
table_clone_side(const vyre_module *from, vyre_module *to)
{
  CLONE_ARRAY(texts, texts_size, texts_capacity);
  CLONE_ARRAY(types, type_count, type_capacity);
  CLONE_ARRAY(members, member_count, member_capacity);
  CLONE_ARRAY(scopes, scope_count, scope_capacity);
  CLONE_ARRAY(buffers, buffer_count, buffer_capacity);
  CLONE_ARRAY(extras, extra_count, extra_capacity);
  CLONE_ARRAY(decoration_words, decoration_count, decoration_capacity);
  CLONE_ARRAY(initializer_words, initializer_word_count, initializer_word_capacity);
  CLONE_ARRAY(initializers, initializer_count, initializer_capacity);
  CLONE_ARRAY(inputs, input_count, input_capacity);
  for (uint32_t i = 0; i < to->input_count; i++) {
    clone_words(to, &to->inputs[i].capabilities);
    clone_words(to, &to->inputs[i].extensions);
    clone_words(to, &to->inputs[i].kept);
  }
  CLONE_ARRAY(programs, program_count, program_capacity);
  for (uint32_t i = 0; i < to->program_count; i++)
    clone_words(to, &to->programs[i].info.modes);
  return !to->failed && clone_set(to, &from->strings, &to->strings) && clone_set(to, &from->scope_set, &to->scope_set) &&
         clone_set(to, &from->type_set, &to->type_set);
}
