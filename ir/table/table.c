/* Memory of a module: columns that grow in place, arrays, hash sets; creating, clearing, destroying and copying a module.
 *
 * The committed part of columns grows by a factor, so the cost of a row is constant on average. Addresses change only when room.c
 * makes more room. A failure lasts until vyre_module_clear: it sets capacity to the number of rows, so making a row needs no other
 * check.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "base/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DOUBLE_BELOW ((size_t)16 * TABLE_PAGE)

void
table_fail(vyre_module *module)
{
  module->failed = true;
  module->capacity = module->view.rows;
}

void
vyre_module_fail(vyre_module *module, const char *format, ...)
{
  va_list arguments;
  if (module->fault[0])
    return;
  va_start(arguments, format);
  vsnprintf(module->fault, sizeof(module->fault), format, arguments);
  va_end(arguments);
  table_fail(module);
}

const char *
vyre_module_fault(const vyre_module *module)
{
  return module->fault[0] ? module->fault : NULL;
}

void *
table_resize(vyre_module *module, void *memory, size_t old_size, size_t new_size)
{
  void *resized = module->allocator.resize(module->allocator.user, memory, old_size, new_size);
  if (resized || new_size == 0)
    module->heap_bytes += new_size - old_size;
  return resized;
}

/* Returns the rows that fit into a stretch with that many committed bytes. */
static uint32_t
rows_in(const vyre_module *module, size_t bytes)
{
  size_t rows = (bytes - TABLE_STAGGER) / sizeof(uint32_t);
  return rows < module->room ? (uint32_t)rows : module->room;
}

static bool
commit_column(vyre_module *module, uint32_t column, size_t bytes)
{
  if (module->committed[column] >= bytes)
    return true;
  char *stretch = module->space + column * module->stretch;
  if (!table_commit(&module->allocator, stretch, &module->accessible[column], module->committed[column], bytes))
    return false;
  module->committed[column] = bytes;
  return true;
}

/* Returns the committed size that follows `bytes`: twice as much, or a quarter more for large sizes, as nothing is copied. */
static size_t
next_size(const vyre_module *module, size_t bytes)
{
  size_t grown = bytes == 0 ? TABLE_PAGE : bytes < DOUBLE_BELOW ? bytes * 2 : bytes + bytes / 4 / TABLE_PAGE * TABLE_PAGE;
  return grown < module->stretch ? grown : module->stretch;
}

/* Returns whether there is address space for another row. Makes more if columns may move now. */
static bool
has_room(vyre_module *module)
{
  const uint32_t rows = module->view.rows, need = rows + rows / 4 + 1;
  if (rows < module->room)
    return true;
  module->rows_failed = rows >= module->max_rows || !module->building;
  if (!module->rows_failed && table_need_room(module, need, need * 2))
    return true;
  table_fail(module);
  return false;
}

bool
table_grow(vyre_module *module)
{
  if (module->failed || !has_room(module))
    return false;
  size_t bytes = next_size(module, module->committed[COLUMN_SIDE - 1]);
  for (uint32_t column = 0; column < COLUMN__COUNT; column++) {
    bool grows = column < COLUMN_SIDE || (column >= COLUMN_ANALYSIS && module->committed[column]);
    if (grows && !commit_column(module, column, bytes)) {
      table_fail(module);
      return false;
    }
  }
  module->capacity = rows_in(module, bytes);
  return true;
}

bool
table_grow_to(vyre_module *module, uint32_t rows)
{
  module->written |= TABLE_WROTE_TABLE;
  if (!module->failed && rows > module->room && !table_need_room(module, rows, table_room_for(rows)))
    table_fail(module);
  while (module->capacity < rows && table_grow(module))
    ;
  return !module->failed;
}

bool
table_grow_side(vyre_module *module, table_column column, uint32_t row)
{
  if (module->failed || row >= module->view.rows)
    return false;
  size_t bytes = module->committed[column];
  while (bytes == 0 || rows_in(module, bytes) <= row)
    bytes = next_size(module, bytes);
  if (!commit_column(module, column, bytes)) {
    table_fail(module);
    return false;
  }
  module->side[column] = row + 1;
  return true;
}

bool
table_grow_analysis(vyre_module *module, table_column column)
{
  if (!module->failed && !commit_column(module, column, module->committed[COLUMN_OP]))
    table_fail(module);
  return !module->failed;
}

bool
table_array_grow(vyre_module *module, void *array, uint32_t *capacity, uint64_t count, size_t size)
{
  const uint32_t old = *capacity;
  if (module->failed)
    return false;
  if (!vyre_grow(&module->allocator, array, capacity, count, size)) {
    table_fail(module);
    return false;
  }
  module->heap_bytes += (size_t)(*capacity - old) * size;
  return true;
}

void
table_array_free(vyre_module *module, void *array, uint32_t *capacity, size_t size)
{
  void *memory;
  memcpy(&memory, array, sizeof(memory));
  if (memory)
    table_resize(module, memory, *capacity * size, 0);
  memory = NULL;
  memcpy(array, &memory, sizeof(memory));
  *capacity = 0;
}

bool
table_set_enlarge(vyre_module *module, table_set *set, uint64_t (*hash)(const vyre_module *module, uint32_t entry))
{
  if (module->failed)
    return false;
  table_set grown = {.capacity = set->capacity ? set->capacity * 4 : 64};
  if (grown.capacity > set->capacity)
    grown.slots = table_resize(module, NULL, 0, (size_t)grown.capacity * sizeof(*grown.slots));
  if (!grown.slots) {
    table_fail(module);
    return false;
  }
  memset(grown.slots, 0, (size_t)grown.capacity * sizeof(*grown.slots));
  for (uint32_t i = 0; i < set->capacity; i++)
    if (set->slots[i])
      table_set_add(&grown, hash(module, set->slots[i]), set->slots[i]);
  table_set_free(module, set);
  *set = grown;
  return true;
}

void
table_set_free(vyre_module *module, table_set *set)
{
  if (set->slots)
    table_resize(module, set->slots, set->capacity * sizeof(*set->slots), 0);
  *set = (table_set){0};
}

void
table_set_clear(table_set *set)
{
  if (set->count)
    memset(set->slots, 0, set->capacity * sizeof(*set->slots));
  set->count = 0;
}

/* ---- module ---- */

vyre_status
vyre_module_create(const vyre_allocator *allocator, uint32_t max_rows, vyre_module **out)
{
  *out = NULL;
  if (!allocator)
    allocator = vyre_allocator_default();
  vyre_module *module = allocator->resize(allocator->user, NULL, 0, sizeof(*module));
  if (!module)
    return VYRE_OUT_OF_MEMORY("for a module");
  memset(module, 0, sizeof(*module));
  module->allocator = *allocator;
  module->heap_bytes = sizeof(*module);
  module->max_rows = max_rows == 0 || max_rows > TABLE_MAX_ROWS ? TABLE_MAX_ROWS : max_rows;
  module->view = (vyre_view){
      .struct_size = sizeof(vyre_view),
      .op_infos = vyre_op_infos,
      .op_count = VYRE_OP__COUNT,
      .op_info_stride = sizeof(vyre_op_info),
  }; /* row 0 needs room like any other */
  module->building = true;
  module->growth = VYRE_MODULE_GROWTH;
  if (!table_need_room(module, 1, TABLE_ROOM_LEAST)) {
    vyre_module_destroy(module);
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "out of memory: the address space does not suffice for a module\nFix: allow more (ulimit -v)");
  }
  if (!table_grow(module)) {
    vyre_module_destroy(module);
    return VYRE_OUT_OF_MEMORY("for a module's first rows");
  }
  module->view.rows = 1; /* committed memory is zero, so row 0 exists */
  module->sealed = module->only_lost = true;
  module->moved_from = UINT32_MAX;
  module->written = UINT32_MAX;
  module->tops = 1; /* programs have 0 until their tops are found */
  *out = module;
  return VYRE_OK;
}

void
vyre_module_reserve(vyre_module *module, uint32_t rows)
{
  module->building = true;
  table_wish_room(module, rows);
}

/* Larger memory is freed at once. */
#define KEPT_MOST ((size_t)16 << 20)

/* Replaces the kept memory by `bytes` bytes, or frees it if that is 0. If memory runs out, the module fails. */
static void
replace_kept(vyre_module *module, size_t bytes)
{
  if (module->kept)
    table_resize(module, module->kept, module->kept_bytes, 0);
  module->kept = bytes ? table_resize(module, NULL, 0, bytes) : NULL;
  module->kept_bytes = module->kept ? bytes : 0;
  if (bytes && !module->kept)
    table_fail(module);
}

void *
vyre_module_borrow(vyre_module *module, size_t least, size_t *out_bytes)
{
  *out_bytes = 0;
  if (module->lent)
    return NULL;
  if (module->kept_bytes < least)
    replace_kept(module, least);
  module->lent = module->kept != NULL;
  *out_bytes = module->kept_bytes;
  return module->kept;
}

void
vyre_module_return_room(vyre_module *module, size_t wanted)
{
  module->lent = false;
  if (wanted > KEPT_MOST || module->kept_bytes > KEPT_MOST)
    replace_kept(module, 0);
  else if (wanted > module->kept_bytes)
    replace_kept(module, wanted);
}

void
vyre_module_destroy(vyre_module *module)
{
  if (!module)
    return;
  table_clear_side(module);
  table_set_free(module, &module->strings);
  table_set_free(module, &module->consts);
  table_set_free(module, &module->type_set);
  table_set_free(module, &module->scope_set);
  table_array_free(module, &module->scopes, &module->scope_capacity, sizeof(*module->scopes));
  table_array_free(module, &module->texts, &module->texts_capacity, 1);
  table_array_free(module, &module->types, &module->type_capacity, sizeof(*module->types));
  table_array_free(module, &module->members, &module->member_capacity, sizeof(*module->members));
  table_array_free(module, &module->inputs, &module->input_capacity, sizeof(*module->inputs));
  table_array_free(module, &module->programs, &module->program_capacity, sizeof(*module->programs));
  table_array_free(module, &module->buffers, &module->buffer_capacity, sizeof(*module->buffers));
  table_array_free(module, &module->extras, &module->extra_capacity, sizeof(*module->extras));
  table_array_free(module, &module->decoration_words, &module->decoration_capacity, sizeof(uint32_t));
  table_array_free(module, &module->initializer_words, &module->initializer_word_capacity, sizeof(uint32_t));
  table_array_free(module, &module->initializers, &module->initializer_capacity, sizeof(*module->initializers));
  replace_kept(module, 0);
  vyre_allocator allocator = module->allocator;
  vyre_state_graph_free(&module->graph, &allocator);
  if (module->space)
    table_release_room(module);
  allocator.resize(allocator.user, module, sizeof(*module), 0);
}

void
vyre_module_clear(vyre_module *module)
{
  vyre_module_drop_analyses(module, VYRE_ANALYSES | VYRE_COLUMNS, false);
  table_clear_side(module);
  table_set_clear(&module->strings);
  table_set_clear(&module->consts);
  table_set_clear(&module->type_set);
  module->texts_size = 0;
  module->type_count = 0;
  module->member_count = 0;
  for (uint32_t column = COLUMN_SIDE; column < COLUMN_ANALYSIS; column++) {
    if (module->side[column])
      memset(module->column[column], 0, module->side[column] * sizeof(uint32_t));
    module->side[column] = 0;
  }
  for (uint32_t column = 0; column < COLUMN_SIDE; column++)
    module->column[column][0] = 0;
  module->view.rows = 1;
  module->capacity = rows_in(module, module->committed[COLUMN_SIDE - 1]);
  module->building = true;
  module->failed = false;
  module->rows_failed = false;
  module->fault[0] = '\0';
  module->sealed = module->only_lost = true;
  module->sealed_rows = module->moved_to = 0;
  module->moved_from = UINT32_MAX;
  module->written = UINT32_MAX;
  module->names_dirty = false;
}

void
vyre_module_set_growth(vyre_module *module, uint32_t times)
{
  module->growth = times ? times : 1;
}

uint32_t
vyre_module_growth(const vyre_module *module)
{
  return module->growth;
}

void
vyre_module_set_keeps_vectors(vyre_module *module, bool keeps)
{
  module->keeps_vectors = keeps;
}

bool
vyre_module_keeps_vectors(const vyre_module *module)
{
  return module->keeps_vectors;
}

const vyre_view *
vyre_module_view(const vyre_module *module)
{
  return &module->view;
}

const vyre_allocator *
vyre_module_allocator(const vyre_module *module)
{
  return &module->allocator;
}

vyre_status
vyre_module_status(const vyre_module *module)
{
  if (!module->failed)
    return VYRE_OK;
  if (module->fault[0])
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s%s", module->fault,
                      strstr(module->fault, "\nFix: ") ? "" : "\nFix: correct the caller of the builder");
  if (module->rows_failed && module->view.rows >= module->max_rows)
    return VYRE_ERROR(VYRE_CODE_INPUT, "out of memory: a module has reached its limit of %u rows\nFix: split the module",
                      module->max_rows);
  if (module->rows_failed)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "out of memory: a module has %u rows, and no room for more until it is sealed\n"
                      "Fix: make fewer rows in one pass, or allow more address space (ulimit -v)",
                      module->view.rows);
  return VYRE_ERROR(VYRE_CODE_INPUT, "out of memory for a module of %u rows", module->view.rows);
}

size_t
vyre_module_bytes(const vyre_module *module)
{
  size_t bytes = module->heap_bytes;
  for (uint32_t column = 0; column < COLUMN__COUNT; column++)
    bytes += module->committed[column];
  return bytes;
}

size_t
vyre_module_reserved_bytes(const vyre_module *module)
{
  return table_room_bytes(module);
}

/* Copies the rows and side tables. */
static bool
copy_module(const vyre_module *from, vyre_module *to)
{
  if (!table_grow_to(to, from->view.rows))
    return false;
  to->view.rows = from->view.rows;
  for (uint32_t column = 0; column < COLUMN_ANALYSIS; column++) {
    const uint32_t rows = column < COLUMN_SIDE ? from->view.rows : from->side[column];
    if (column >= COLUMN_SIDE && rows && !table_grow_side(to, (table_column)column, rows - 1))
      return false;
    if (rows)
      memcpy(to->column[column], from->column[column], rows * sizeof(uint32_t));
  }
  to->sealed = from->sealed;
  to->only_lost = from->only_lost;
  to->names_dirty = from->names_dirty;
  to->tops = from->tops + 1; /* more than that of each program */
  return table_clone_side(from, to);
}

vyre_status
vyre_module_clone(const vyre_module *module, vyre_module **out)
{
  *out = NULL;
  VYRE_TRY(vyre_module_status(module));
  vyre_module *copy;
  VYRE_TRY(vyre_module_create(&module->allocator, module->max_rows, &copy));
  vyre_status status = copy_module(module, copy) ? vyre_module_seal(copy, NULL) : vyre_module_status(copy);
  copy->growth = module->growth;
  copy->keeps_vectors = module->keeps_vectors;
  if (status) {
    vyre_module_destroy(copy);
    return vyre_status_note(status, "while copying a module");
  }
  *out = copy;
  return VYRE_OK;
}

void
vyre_module_swap(vyre_module *a, vyre_module *b)
{
  const vyre_module was = *a;
  *a = *b;
  *b = was;
  b->max_rows = a->max_rows;
  b->growth = a->growth;
  b->keeps_vectors = a->keeps_vectors;
  a->max_rows = was.max_rows;
  a->growth = was.growth;
  a->keeps_vectors = was.keeps_vectors;
}
