/* Removes the rows of programs from a module, and puts them back.
 *
 * The rows in a program are adjacent and refer only to each other and to the program's row, so one offset renumbers all of them.
 * Types, texts, inputs and other tables stay in the module, and the cells of the side columns still refer to them.  Rows that give
 * lengths of array types stay in the program, because types name them, and its workgroup size, because each program has one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/batch.h"

#include "base/grow.h"
#include "table.h"
#include "vyre/view.h"

typedef struct place {
  uint32_t program; /* the program's row when the rows were removed */
  uint32_t rows;    /* number of removed rows */
  uint32_t at;      /* the first of them among the removed rows of all programs */
  bool taken;
} place;

struct vyre_aside {
  vyre_allocator allocator;
  place *places;     /* of all programs of the module */
  uint32_t count;    /* number of places */
  uint32_t rows;     /* removed rows of all programs */
  uint32_t types;    /* number of types in the module */
  uint32_t *lengths; /* by type: the row that gives its length, or 0 */
  uint32_t *cells;   /* by column, the cells of the removed rows */
};

static size_t
cells_size(const vyre_aside *aside)
{
  return (size_t)COLUMN_ANALYSIS * aside->rows * sizeof(uint32_t);
}

void
vyre_aside_destroy(vyre_aside *aside)
{
  if (!aside)
    return;
  const vyre_allocator allocator = aside->allocator;
  vyre_release(&allocator, aside->places, aside->count * sizeof *aside->places);
  vyre_release(&allocator, aside->lengths, aside->types * sizeof *aside->lengths);
  vyre_release(&allocator, aside->cells, cells_size(aside));
  vyre_release(&allocator, aside, sizeof *aside);
}

static void *
allocate(vyre_aside *aside, size_t size, bool *fits)
{
  void *memory = size ? vyre_allocate(&aside->allocator, size) : NULL;
  *fits &= memory || !size;
  return memory;
}

/* Lists the programs and lengths.  Returns NULL if memory runs out. */
static vyre_aside *
make(const vyre_module *module, const bool *taken)
{
  const vyre_view *v = &module->view;
  const vyre_allocator *allocator = vyre_module_allocator(module);
  vyre_aside *aside = vyre_allocate(allocator, sizeof *aside);
  bool fits = true;
  if (!aside)
    return NULL;
  *aside = (vyre_aside){.allocator = *allocator, .types = module->type_count, .count = vyre_count_programs(v)};
  aside->places = allocate(aside, aside->count * sizeof *aside->places, &fits);
  aside->lengths = allocate(aside, aside->types * sizeof *aside->lengths, &fits);
  for (uint32_t program = v->first[0], i = 0; program && fits; program = v->next[program], i++) {
    aside->places[i] = (place){program, taken[i] ? vyre_program_end(v, program) - program - 1 : 0, aside->rows, taken[i]};
    aside->rows += aside->places[i].rows;
  }
  for (uint32_t i = 0; i < aside->types && fits; i++)
    aside->lengths[i] = module->types[i].info.count_row;
  aside->cells = allocate(aside, cells_size(aside), &fits);
  if (fits)
    return aside;
  vyre_aside_destroy(aside);
  return NULL;
}

static void
keep_cells(const vyre_module *module, vyre_aside *aside, const place *from)
{
  for (uint32_t column = 0; column < COLUMN_ANALYSIS; column++)
    for (uint32_t k = 0; k < from->rows; k++) {
      const uint32_t row = from->program + 1 + k;
      aside->cells[column * aside->rows + from->at + k] =
          column < COLUMN_SIDE ? module->column[column][row] : table_side(module, (table_column)column, row);
    }
}

/* Removes the rows of a program.  Keeps its workgroup size, the rows that `stays` selects, and their operands. */
static void
remove_rows(vyre_module *module, const place *from, bool *stays)
{
  const vyre_view *v = &module->view;
  for (uint32_t row = from->program + from->rows; row > from->program; row--) {
    if (stays[row] || table_op_is(module, row, VYRE_OP_workgroup))
      stays[v->a[row]] = stays[v->b[row]] = stays[v->c[row]] = stays[v->parent[row]] = true;
    else
      module->column[COLUMN_OP][row] = VYRE_ROW(VYRE_OP_null, 0, 0);
  }
}

vyre_status
vyre_module_set_aside(vyre_module *module, const bool *taken, vyre_aside **out)
{
  *out = NULL;
  VYRE_TRY(vyre_module_status(module));
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "programs can be set aside only from a sealed module");
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const uint32_t rows = module->view.rows;
  vyre_aside *aside = make(module, taken);
  bool *stays = vyre_allocate(allocator, rows * sizeof *stays);
  vyre_status status = aside && stays ? VYRE_OK : VYRE_OUT_OF_MEMORY("to set programs aside");
  if (!status) {
    for (uint32_t i = 0; i < aside->types; i++)
      stays[aside->lengths[i]] = true;
    for (uint32_t i = 0; i < aside->count; i++) {
      keep_cells(module, aside, &aside->places[i]);
      remove_rows(module, &aside->places[i], stays);
    }
    module->sealed = aside->rows == 0;
    status = vyre_module_seal(module, NULL);
  }
  vyre_release(allocator, stays, rows * sizeof *stays);
  if (status)
    vyre_aside_destroy(aside);
  else
    *out = aside;
  return status;
}

/* Appends the rows of a place as the only rows in a program. */
static void
put_rows(vyre_module *module, const vyre_aside *aside, const place *from, uint32_t program)
{
  const uint32_t start = module->view.rows, offset = start - from->program - 1;
  if (from->rows > TABLE_MAX_ROWS - start || !table_grow_to(module, start + from->rows)) {
    table_fail(module);
    return;
  }
  module->view.rows = start + from->rows;
  for (uint32_t column = 0; column < COLUMN_ANALYSIS; column++) {
    const uint32_t *cells = aside->cells + column * aside->rows + from->at;
    for (uint32_t k = 0; k < from->rows; k++) {
      const uint32_t moved = cells[k] == from->program ? program : cells[k] + offset;
      if (column >= COLUMN_SIDE)
        table_set_side(module, (table_column)column, start + k, cells[k]);
      else
        module->column[column][start + k] = column < COLUMN_A || cells[k] == 0 ? cells[k] : moved;
    }
  }
  uint32_t last = start;
  while (from->rows && module->column[COLUMN_NEXT][last])
    last = module->column[COLUMN_NEXT][last];
  module->column[COLUMN_FIRST][program] = from->rows ? start : 0;
  module->column[COLUMN_LAST][program] = from->rows ? last : 0;
}

/* Sets the length rows of types to the rows that were appended from `start` on. */
static void
put_lengths(vyre_module *module, const vyre_aside *aside, uint32_t start)
{
  for (uint32_t i = 0; i < aside->types; i++) {
    const uint32_t row = aside->lengths[i];
    uint32_t low = 0, high = aside->count; /* the place of the row is in [low, high), in the order of rows */
    while (row && high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      *(aside->places[middle].program <= row ? &low : &high) = middle;
    }
    if (!row || low == high || !aside->places[low].taken)
      continue;
    module->types[i].info.count_row = start + aside->places[low].at + row - aside->places[low].program - 1;
  }
  table_find_lengths(module);
}

vyre_status
vyre_module_put_back(vyre_module *module, const vyre_aside *aside)
{
  const vyre_view *v = &module->view;
  VYRE_TRY(vyre_module_seal(module, NULL));
  if (vyre_count_programs(v) != aside->count)
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "a pass added or removed a program");
  const uint32_t start = v->rows;
  uint32_t program = v->first[0];
  for (uint32_t i = 0; i < aside->count && !module->failed; i++) {
    if (aside->places[i].taken)
      put_rows(module, aside, &aside->places[i], program);
    program = v->next[program];
  }
  if (!module->failed)
    put_lengths(module, aside, start);
  module->sealed = module->only_lost = aside->rows == 0;
  module->names_dirty |= module->side[COLUMN_NAME] != 0;
  module->tops++;
  return vyre_module_seal(module, NULL);
}
