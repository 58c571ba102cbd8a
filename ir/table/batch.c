/* Combines many modules to one, and extracts them: rows by an offset, names by their texts, types by a list for each entry.
 *
 * Equal types of different entries are one type in the batch, as passes expect. An entry's list has the order of its types, which
 * VIR0 and SPIR-V show. Adding and extracting copy a range of rows with the same functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/batch.h"

#include <string.h>

#include "table.h"

/* The entry's inputs are followed by one for programs without an input. */
typedef struct batch_entry {
  uint32_t first_input, inputs;
  uint32_t first_type, types; /* range of the list */
  uint32_t first_initializer, initializers;
} batch_entry;

typedef struct batch_scope {
  vyre_scope from, there;
} batch_scope;

struct vyre_batch {
  vyre_module *module;
  batch_entry *entries;
  uint32_t entry_count, entry_capacity;
  vyre_type_id *types; /* of the entries, one entry after another */
  uint32_t type_count, type_capacity;
  uint32_t *places; /* by type: the last position in `types`; valid only if that element is the type */
  uint32_t place_capacity;
  vyre_member *members; /* of the current type */
  uint32_t member_capacity;
  batch_scope *scopes; /* of the current copy */
  uint32_t scope_count, scope_capacity;
  uint32_t *scope_places; /* by scope: the last position in `scopes`; valid only if that element is the scope */
  uint32_t scope_place_capacity;
};

/* A copy of a range of rows to another module, where inputs, types, strings and scopes have other numbers. */
typedef struct copy {
  vyre_batch *batch;
  const vyre_module *from;
  vyre_module *to;
  const batch_entry *entry;
  bool extracts;              /* out of the batch; otherwise into it */
  bool is_part;               /* a part of a module that is put together again: names stay as they are */
  uint32_t first, end, start; /* the rows, and the first one in `to` */
  uint32_t from_input, to_input, from_initializer, to_initializer;
} copy;

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static uint32_t
row_there(const copy *c, uint32_t row)
{
  return row >= c->first && row < c->end ? row - c->first + c->start : 0;
}

/* Links the programs after those that `to` already has. */
static void
link_programs(const copy *c)
{
  uint32_t *const *column = c->to->column;
  const uint32_t before = column[COLUMN_LAST][0];
  if (c->first == c->end)
    return;
  uint32_t last = c->start;
  while (column[COLUMN_NEXT][last])
    last = column[COLUMN_NEXT][last];
  column[COLUMN_PREV][c->start] = before;
  if (before)
    column[COLUMN_NEXT][before] = c->start;
  else
    column[COLUMN_FIRST][0] = c->start;
  column[COLUMN_LAST][0] = last;
}

static bool
copy_columns(const copy *c)
{
  const uint32_t rows = c->end - c->first;
  if (rows > TABLE_MAX_ROWS - c->start || !table_grow_to(c->to, c->start + rows)) {
    table_fail(c->to);
    return false;
  }
  c->to->view.rows = c->start + rows;
  for (uint32_t column = 0; column < COLUMN_SIDE; column++) {
    const uint32_t *from = c->from->column[column] + c->first;
    uint32_t *to = c->to->column[column] + c->start;
    if (column <= COLUMN_IMM_HI)
      memcpy(to, from, rows * sizeof(*to));
    for (uint32_t i = 0; i < rows && column > COLUMN_IMM_HI; i++)
      to[i] = row_there(c, from[i]);
  }
  link_programs(c);
  return true;
}

/* ---- types ------------------------------------------------------------------------------------------------------------------- */

static vyre_string
text_there(const copy *c, vyre_string text)
{
  const char *name = text ? c->from->texts + text : "";
  return vyre_string_intern(c->to, name, strlen(name));
}

static bool
is_listed(const copy *c, vyre_type_id type)
{
  const uint32_t place = c->batch->places[type - VYRE_FIRST_TYPE];
  return place - c->entry->first_type < c->entry->types && c->batch->types[place] == type;
}

static vyre_type_id
type_there(const copy *c, vyre_type_id type)
{
  if (type < VYRE_FIRST_TYPE)
    return type;
  if (!c->extracts)
    return type - VYRE_FIRST_TYPE < c->entry->types ? c->batch->types[c->entry->first_type + type - VYRE_FIRST_TYPE] : 0;
  return type - VYRE_FIRST_TYPE < c->from->type_count && is_listed(c, type)
             ? VYRE_FIRST_TYPE + c->batch->places[type - VYRE_FIRST_TYPE] - c->entry->first_type
             : 0;
}

/* Makes a type. When adding, equal types become one, unless this entry has both. */
static vyre_type_id
copy_type(const copy *c, const table_type *type)
{
  vyre_batch *b = c->batch;
  vyre_type_info info = type->info;
  const uint32_t count = info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_WORDS ? info.count : 0;
  if (!table_array_grow(b->module, &b->members, &b->member_capacity, count, sizeof(*b->members)))
    return 0;
  for (uint32_t i = 0; i < count; i++) {
    b->members[i] = c->from->members[type->members + i];
    b->members[i].name = text_there(c, b->members[i].name);
    b->members[i].type = type_there(c, b->members[i].type);
  }
  info.element = type_there(c, info.element);
  info.count_row = row_there(c, info.count_row);
  info.name = text_there(c, info.name);
  const vyre_type_id known = c->extracts ? 0 : table_add_type(c->to, &info, b->members, false);
  const uint32_t capacity = b->place_capacity;
  if (!table_array_grow(b->module, &b->places, &b->place_capacity, (uint64_t)b->module->type_count + 1, sizeof(*b->places)))
    return 0;
  memset(b->places + capacity, 0, (b->place_capacity - capacity) * sizeof(*b->places));
  return known && !is_listed(c, known) ? known : table_add_type(c->to, &info, b->members, true);
}

/* Adds the types and makes the entry's list of them. */
static bool
add_types(const copy *c, batch_entry *entry)
{
  vyre_batch *b = c->batch;
  if (!table_array_grow(b->module, &b->types, &b->type_capacity, (uint64_t)b->type_count + c->from->type_count, sizeof(*b->types)))
    return false;
  for (uint32_t i = 0; i < c->from->type_count; i++) {
    const vyre_type_id type = copy_type(c, &c->from->types[i]);
    if (!type)
      return false;
    b->places[type - VYRE_FIRST_TYPE] = b->type_count;
    b->types[b->type_count++] = type;
    entry->types++;
  }
  return true;
}

static void
find_types(const copy *c)
{
  const batch_entry *e = c->entry;
  for (uint32_t i = 0; i < e->types; i++)
    c->batch->places[c->batch->types[e->first_type + i] - VYRE_FIRST_TYPE] = e->first_type + i;
}

static bool
extract_types(const copy *c)
{
  const batch_entry *e = c->entry;
  for (uint32_t i = 0; i < e->types; i++)
    if (!copy_type(c, &c->from->types[c->batch->types[e->first_type + i] - VYRE_FIRST_TYPE]))
      return false;
  return true;
}

/* Renumbers the type ids in the payloads of rows. */
static void
copy_type_ids(const copy *c)
{
  uint32_t *const *column = c->to->column;
  for (uint32_t row = c->start; row < c->to->view.rows; row++) {
    const uint32_t op = VYRE_ROW_OP(column[COLUMN_OP][row]);
    if (op == VYRE_OP_at)
      column[COLUMN_IMM_HI][row] = type_there(c, column[COLUMN_IMM_HI][row]);
    else if (op == VYRE_OP_buffer || op == VYRE_OP_var || vyre_op_is_opaque(op))
      column[COLUMN_IMM][row] = type_there(c, column[COLUMN_IMM][row]);
  }
}

/* ---- beside the columns ------------------------------------------------------------------------------------------------------ */

static void
copy_words(vyre_module *to, vyre_word_list *list, const vyre_word_list *from)
{
  vyre_word_list_append(to, list, from->words, from->count);
}

static bool
copy_input(const copy *c, const vyre_input *input)
{
  const uint32_t index = vyre_module_add_input(c->to, vyre_string_text(c->from, input->path));
  if (index == UINT32_MAX)
    return false;
  const vyre_string remark = text_there(c, input->remark), dropped = text_there(c, input->dropped),
                    stages = text_there(c, input->stages);
  vyre_input *made = vyre_module_input(c->to, index);
  made->spirv_version = input->spirv_version;
  made->addressing = input->addressing;
  made->memory = input->memory;
  made->remark = remark;
  made->dropped = dropped;
  made->stages = stages;
  copy_words(c->to, &made->capabilities, &input->capabilities);
  copy_words(c->to, &made->extensions, &input->extensions);
  copy_words(c->to, &made->kept, &input->kept);
  return !c->to->failed;
}

static bool
copy_initializers(const copy *c)
{
  for (uint32_t i = 0; i < c->entry->initializers; i++) {
    uint32_t count;
    const uint32_t *words = vyre_module_initializer(c->from, c->from_initializer + i, &count);
    if (vyre_module_add_initializer(c->to, words, count) == UINT32_MAX)
      return false;
  }
  return true;
}

static void
copy_names(const copy *c)
{
  const uint32_t *cells = c->from->column[COLUMN_NAME];
  const uint32_t held = c->from->side[COLUMN_NAME], end = held < c->end ? held : c->end;
  for (uint32_t row = c->first; row < end && (row = table_next_cell(cells, row, end)) < end; row++)
    table_set_side(c->to, COLUMN_NAME, row_there(c, row), text_there(c, cells[row]));
}

/* Copies a scope once, with the scopes that it names. */
static vyre_scope
scope_there(const copy *c, vyre_scope scope)
{
  vyre_batch *b = c->batch;
  if (scope == 0)
    return 0;
  const uint32_t place = b->scope_places[scope];
  if (place < b->scope_count && b->scopes[place].from == scope)
    return b->scopes[place].there;
  vyre_scope_info info = vyre_scope_get(c->from, scope);
  info.file = text_there(c, info.file);
  info.caller = scope_there(c, info.caller); /* at most VYRE_SCOPE_DEPTH deep */
  info.variable = scope_there(c, info.variable);
  info.values = scope_there(c, info.values);
  const vyre_scope there = vyre_scope_intern(c->to, &info);
  if (table_array_grow(b->module, &b->scopes, &b->scope_capacity, (uint64_t)b->scope_count + 1, sizeof(*b->scopes))) {
    b->scope_places[scope] = b->scope_count;
    b->scopes[b->scope_count++] = (batch_scope){scope, there};
  }
  return there;
}

static void
copy_lines(const copy *c)
{
  vyre_batch *b = c->batch;
  const uint32_t *cells = c->from->column[COLUMN_LINE];
  const uint32_t held = c->from->side[COLUMN_LINE], end = held < c->end ? held : c->end, places = b->scope_place_capacity;
  b->scope_count = 0;
  if (!table_array_grow(b->module, &b->scope_places, &b->scope_place_capacity, c->from->scope_count, sizeof(*b->scope_places)))
    return;
  if (b->scope_place_capacity > places)
    memset(b->scope_places + places, 0, (b->scope_place_capacity - places) * sizeof(*b->scope_places));
  for (uint32_t row = c->first; row < end && (row = table_next_cell(cells, row, end)) < end; row++) {
    vyre_string file;
    uint32_t line, column;
    vyre_row_line(c->from, (vyre_row){row}, &file, &line, &column);
    const vyre_scope there = scope_there(c, vyre_row_scope(c->from, (vyre_row){row}));
    vyre_row_set_place(c->to, (vyre_row){row_there(c, row)}, there, line, column);
  }
}

/* Copies a program's data. When extracting, restores a name that was changed because another entry had it too. */
static void
copy_program(const copy *c, uint32_t row, const table_program *program)
{
  const uint32_t input = program->info.input - c->from_input, inputs = c->entry->inputs;
  const uint32_t input_there = input < inputs ? c->to_input + input : c->extracts ? UINT32_MAX : c->to_input + inputs;
  const vyre_string entry = text_there(c, program->info.entry), given = text_there(c, program->given);
  if (!table_add_program_info(c->to, row, input_there))
    return;
  table_program *made = table_program_of(c->to, row);
  made->info.entry = entry;
  copy_words(c->to, &made->info.modes, &program->info.modes);
  if (c->is_part)
    made->given = given;
  else if (c->extracts && program->given)
    table_set_side(c->to, COLUMN_NAME, row, text_there(c, program->given));
  else if (!c->extracts)
    made->given = table_side(c->to, COLUMN_NAME, row);
}

static void
copy_buffer(const copy *c, uint32_t row, const vyre_buffer_info *buffer)
{
  if (!table_add_buffer_info(c->to, row, buffer->set, buffer->binding))
    return;
  const uint32_t initializer = buffer->initializer - c->from_initializer;
  vyre_buffer_info *made = vyre_buffer_info_of(c->to, (vyre_row){row});
  made->spirv_id = buffer->spirv_id;
  made->initializer = initializer < c->entry->initializers ? c->to_initializer + initializer : UINT32_MAX;
}

/* Copies the other side data. Names are already copied. */
static void
copy_extras(const copy *c)
{
  const vyre_module *from = c->from;
  const uint32_t *cells = from->column[COLUMN_EXTRA];
  const uint32_t held = from->side[COLUMN_EXTRA], end = held < c->end ? held : c->end;
  for (uint32_t row = c->first; row < end && (row = table_next_cell(cells, row, end)) < end; row++) {
    const table_extra *extra = &from->extras[cells[row]];
    const uint32_t there = row_there(c, row);
    vyre_row_set_spec_id(c->to, (vyre_row){there}, extra->spec_id);
    if (extra->decoration_count)
      vyre_row_set_decorations(c->to, (vyre_row){there}, from->decoration_words + extra->decorations, extra->decoration_count);
    if (table_op_is(from, row, VYRE_OP_program) && extra->info < from->program_count)
      copy_program(c, there, &from->programs[extra->info]);
    else if (table_op_is(from, row, VYRE_OP_buffer) && extra->info < from->buffer_count)
      copy_buffer(c, there, &from->buffers[extra->info]);
  }
}

static void
copy_side(const copy *c)
{
  copy_names(c);
  copy_lines(c);
  copy_extras(c);
}

/* ---- a batch ----------------------------------------------------------------------------------------------------------------- */

vyre_status
vyre_batch_create(const vyre_allocator *allocator, vyre_batch **out)
{
  *out = NULL;
  vyre_module *module;
  VYRE_TRY(vyre_module_create(allocator, 0, &module));
  vyre_batch *batch = table_resize(module, NULL, 0, sizeof(*batch));
  if (!batch) {
    vyre_module_destroy(module);
    return VYRE_OUT_OF_MEMORY("for a batch");
  }
  *batch = (vyre_batch){.module = module};
  *out = batch;
  return VYRE_OK;
}

void
vyre_batch_destroy(vyre_batch *batch)
{
  if (!batch)
    return;
  vyre_module *module = batch->module;
  table_array_free(module, &batch->entries, &batch->entry_capacity, sizeof(*batch->entries));
  table_array_free(module, &batch->types, &batch->type_capacity, sizeof(*batch->types));
  table_array_free(module, &batch->places, &batch->place_capacity, sizeof(*batch->places));
  table_array_free(module, &batch->members, &batch->member_capacity, sizeof(*batch->members));
  table_array_free(module, &batch->scopes, &batch->scope_capacity, sizeof(*batch->scopes));
  table_array_free(module, &batch->scope_places, &batch->scope_place_capacity, sizeof(*batch->scope_places));
  table_resize(module, batch, sizeof(*batch), 0);
  vyre_module_destroy(module);
}

void
vyre_batch_clear(vyre_batch *batch)
{
  vyre_module_clear(batch->module);
  batch->entry_count = 0;
  batch->type_count = 0;
}

uint32_t
vyre_batch_count(const vyre_batch *batch)
{
  return batch->entry_count;
}

vyre_module *
vyre_batch_module(vyre_batch *batch)
{
  return batch->module;
}

static bool
add_entry(vyre_batch *b, const vyre_module *module, uint32_t first, uint32_t end, bool is_part)
{
  vyre_module *to = b->module;
  if (!table_array_grow(to, &b->entries, &b->entry_capacity, (uint64_t)b->entry_count + 1, sizeof(*b->entries)))
    return false;
  batch_entry *entry = &b->entries[b->entry_count];
  *entry = (batch_entry){to->input_count, module->input_count, b->type_count, 0, to->initializer_count, module->initializer_count};
  const copy c = {.batch = b,
                  .from = module,
                  .to = to,
                  .entry = entry,
                  .is_part = is_part,
                  .first = first,
                  .end = end,
                  .start = to->view.rows,
                  .to_input = entry->first_input,
                  .to_initializer = entry->first_initializer};
  if (!copy_columns(&c) || !add_types(&c, entry) || !copy_initializers(&c))
    return false;
  for (uint32_t i = 0; i < module->input_count; i++)
    if (!copy_input(&c, &module->inputs[i]))
      return false;
  if (vyre_module_add_input(to, NULL) == UINT32_MAX)
    return false;
  copy_type_ids(&c);
  copy_side(&c);
  to->sealed = to->only_lost = false;
  to->tops++;
  to->names_dirty = true;
  b->entry_count += !to->failed;
  return !to->failed;
}

vyre_status
vyre_batch_add(vyre_batch *batch, const vyre_module *module)
{
  VYRE_TRY(vyre_module_status(batch->module));
  VYRE_TRY(vyre_module_status(module));
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "only a sealed module can be added to a batch");
  return add_entry(batch, module, 1, module->view.rows, false) ? VYRE_OK : vyre_module_status(batch->module);
}

/* Returns whether the row is a program or the end of the module. */
static bool
is_border(const vyre_module *module, uint32_t row)
{
  return row == module->view.rows || (row > 0 && row < module->view.rows && table_op_is(module, row, VYRE_OP_program));
}

vyre_status
vyre_batch_add_part(vyre_batch *batch, const vyre_module *module, vyre_row first, vyre_row end)
{
  VYRE_TRY(vyre_module_status(batch->module));
  VYRE_TRY(vyre_module_status(module));
  bool right = vyre_module_is_sealed(module) && first.id < end.id && is_border(module, first.id) && is_border(module, end.id);
  for (uint32_t i = 0; i < module->type_count; i++)
    right = right && module->types[i].info.count_row == 0;
  if (!right)
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "rows %u to %u of a module cannot be added to a batch as a part", first.id, end.id);
  batch->module->growth = module->growth;
  batch->module->keeps_vectors = module->keeps_vectors;
  return add_entry(batch, module, first.id, end.id, true) ? VYRE_OK : vyre_module_status(batch->module);
}

/* Finds the rows of the entry's programs. Returns false if they are not adjacent. */
static bool
find_rows(const vyre_module *module, const batch_entry *entry, uint32_t *first, uint32_t *end)
{
  uint32_t programs = 0, found = 0;
  *first = *end = module->view.rows;
  for (uint32_t i = 0; i <= entry->inputs; i++)
    for (uint32_t row = module->inputs[entry->first_input + i].first_program; row; programs++) {
      *first = row < *first ? row : *first;
      row = module->programs[module->extras[module->column[COLUMN_EXTRA][row]].info].info.next_program;
    }
  for (uint32_t row = programs ? *first : 0; row && found < programs; found++) {
    const uint32_t input = module->programs[module->extras[module->column[COLUMN_EXTRA][row]].info].info.input;
    if (input - entry->first_input > entry->inputs)
      return false;
    row = module->view.next[row];
    *end = row ? row : module->view.rows;
  }
  return true;
}

/* Marks the module as sealed: rows are in program order, and names are unique. */
static void
finish_module(vyre_module *out)
{
  out->sealed = out->only_lost = true;
  out->names_dirty = false;
  out->tops++;
  table_link_inputs(out);
  table_seal_room(out);
}

vyre_status
vyre_batch_extract(vyre_batch *batch, uint32_t entry, vyre_module *out)
{
  VYRE_TRY(vyre_module_status(batch->module));
  VYRE_TRY(vyre_module_status(out));
  const vyre_module *module = batch->module;
  uint32_t first, end;
  if (entry >= batch->entry_count || !vyre_module_is_sealed(module) || out->view.rows > 1 || out->input_count)
    return VYRE_ERROR(VYRE_CODE_INTERNAL,
                      "entry %u of a batch of %u cannot be taken: the batch's module must be sealed, and the other module empty",
                      entry, batch->entry_count);
  const batch_entry *e = &batch->entries[entry];
  if (!find_rows(module, e, &first, &end))
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "a pass moved programs of other entries between those of entry %u of a batch\nFix: do not use the pass for batches", entry);
  const copy c = {.batch = batch,
                  .from = module,
                  .to = out,
                  .entry = e,
                  .extracts = true,
                  .first = first,
                  .end = end,
                  .start = 1,
                  .from_input = e->first_input,
                  .from_initializer = e->first_initializer};
  find_types(&c);
  bool right = copy_columns(&c) && extract_types(&c) && copy_initializers(&c);
  for (uint32_t i = 0; i < e->inputs && right; i++)
    right = copy_input(&c, &module->inputs[e->first_input + i]);
  if (right) {
    copy_type_ids(&c);
    copy_side(&c);
    finish_module(out);
  }
  return vyre_status_join(vyre_module_status(out), vyre_module_status(batch->module));
}

vyre_status
vyre_batch_extract_part(vyre_batch *batch, uint32_t entry, bool is_last, vyre_module *out)
{
  VYRE_TRY(vyre_module_status(batch->module));
  VYRE_TRY(vyre_module_status(out));
  const vyre_module *module = batch->module;
  const bool is_first = out->view.rows <= 1;
  uint32_t first, end;
  const batch_entry *e = entry < batch->entry_count ? &batch->entries[entry] : NULL;
  if (!e || !vyre_module_is_sealed(module) || out->input_count != (is_first ? 0 : e->inputs) ||
      out->type_count != (is_first ? 0 : e->types) || !find_rows(module, e, &first, &end))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "entry %u of a batch of %u does not continue the module", entry, batch->entry_count);
  const copy c = {.batch = batch,
                  .from = module,
                  .to = out,
                  .entry = e,
                  .extracts = true,
                  .is_part = true,
                  .first = first,
                  .end = end,
                  .start = out->view.rows,
                  .from_input = e->first_input,
                  .from_initializer = e->first_initializer};
  find_types(&c);
  bool right = copy_columns(&c) && (!is_first || (extract_types(&c) && copy_initializers(&c)));
  for (uint32_t i = 0; i < e->inputs && right && is_first; i++)
    right = copy_input(&c, &module->inputs[e->first_input + i]);
  if (right) {
    copy_type_ids(&c);
    copy_side(&c);
    if (is_last)
      finish_module(out);
  }
  return vyre_status_join(vyre_module_status(out), vyre_module_status(batch->module));
}
