/* Takes the rows of programs out of a module, and puts them back where they were.
 *
 * The rows in a program are adjacent and name only each other and the program's row, so they keep the differences of their numbers.
 * Types, texts, inputs and other tables stay in the module, and the cells of the side columns still refer to them.  Rows that give
 * lengths of array types stay in the program, because types name them, and its workgroup size, because each program has one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/batch.h"

#include <string.h>

#include "table.h"
#include "vyre/view.h"

struct vyre_aside {
  struct place {
    uint32_t program; /* its row when the rows were taken, or 0 if they stayed */
    uint32_t rows;    /* taken */
  } * places;         /* of each program of the module */
  uint32_t count;     /* places */
  uint32_t rows;      /* of all programs */
  uint32_t types;     /* of the module */
  uint32_t *lengths;  /* by type: the row that gives its length, if it is taken, or 0 */
  uint32_t *cells;    /* by column, the cells of the taken rows */
};

static size_t
cells_size(const vyre_aside *aside)
{
  return (size_t)COLUMN_ANALYSIS * aside->rows * sizeof(uint32_t);
}

static void
release(vyre_module *module, vyre_aside *aside)
{
  if (aside->places)
    table_resize(module, aside->places, aside->count * sizeof *aside->places, 0);
  if (aside->lengths)
    table_resize(module, aside->lengths, aside->types * sizeof *aside->lengths, 0);
  if (aside->cells)
    table_resize(module, aside->cells, cells_size(aside), 0);
  table_resize(module, aside, sizeof *aside, 0);
}

/* Lists the programs and lengths.  Returns NULL if memory runs out. */
static vyre_aside *
make(vyre_module *module, const bool *taken)
{
  const vyre_view *v = &module->view;
  vyre_aside *aside = table_resize(module, NULL, 0, sizeof *aside);
  if (!aside)
    return NULL;
  *aside = (vyre_aside){.types = module->type_count};
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    aside->count++;
  if (aside->count)
    aside->places = table_resize(module, NULL, 0, aside->count * sizeof *aside->places);
  if (aside->types)
    aside->lengths = table_resize(module, NULL, 0, aside->types * sizeof *aside->lengths);
  bool fits = (aside->places || !aside->count) && (aside->lengths || !aside->types);
  for (uint32_t i = 0; i < aside->types && fits; i++)
    aside->lengths[i] = 0;
  for (uint32_t program = v->first[0], i = 0; program && fits; program = v->next[program], i++) {
    const uint32_t end = vyre_program_end(v, program);
    aside->places[i] = taken[i] ? (struct place){program, end - program - 1} : (struct place){0, 0};
    aside->rows += aside->places[i].rows;
    for (uint32_t k = 0; k < aside->types && taken[i]; k++) {
      const uint32_t row = module->types[k].info.count_row;
      aside->lengths[k] = row > program && row < end ? row : aside->lengths[k];
    }
  }
  if (aside->rows)
    aside->cells = table_resize(module, NULL, 0, cells_size(aside));
  if (fits && (aside->cells || !aside->rows))
    return aside;
  release(module, aside);
  return NULL;
}

static void
keep_cells(const vyre_module *module, vyre_aside *aside, struct place place, uint32_t at)
{
  for (uint32_t column = 0; column < COLUMN_ANALYSIS; column++)
    for (uint32_t k = 0; k < place.rows; k++) {
      const uint32_t row = place.program + 1 + k;
      aside->cells[column * aside->rows + at + k] =
          column < COLUMN_SIDE ? module->column[column][row] : table_side(module, (table_column)column, row);
    }
}

/* Removes the rows of a program, without the row of its workgroup size, those that give lengths, which `stays` selects, and their
 * operands. */
static void
remove_rows(vyre_module *module, struct place place, bool *stays)
{
  const vyre_view *v = &module->view;
  for (uint32_t row = place.program + place.rows; row > place.program; row--) {
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
  const uint32_t rows = module->view.rows;
  vyre_aside *aside = make(module, taken);
  bool *stays = table_resize(module, NULL, 0, rows * sizeof *stays);
  vyre_status status = aside && stays ? VYRE_OK : VYRE_OUT_OF_MEMORY("to set programs aside");
  if (!status) {
    memset(stays, 0, rows * sizeof *stays);
    for (uint32_t i = 0; i < aside->types; i++)
      stays[aside->lengths[i]] = true;
    for (uint32_t i = 0, at = 0; i < aside->count; at += aside->places[i++].rows) {
      keep_cells(module, aside, aside->places[i], at);
      remove_rows(module, aside->places[i], stays);
    }
    module->sealed = aside->rows == 0;
    status = vyre_module_seal(module, NULL);
  }
  if (stays)
    table_resize(module, stays, rows * sizeof *stays, 0);
  if (aside && status)
    release(module, aside);
  else
    *out = aside;
  return status;
}

/* Appends the rows of a place, whose cells begin at `at`, as the only rows in a program. */
static void
put_rows(vyre_module *module, vyre_aside *aside, struct place place, uint32_t at, uint32_t program)
{
  const uint32_t start = module->view.rows, offset = start - place.program - 1;
  if (place.rows > TABLE_MAX_ROWS - start || !table_grow_to(module, start + place.rows)) {
    table_fail(module);
    return;
  }
  module->view.rows = start + place.rows;
  for (uint32_t column = 0; column < COLUMN_ANALYSIS; column++) {
    const uint32_t *cells = aside->cells + column * aside->rows + at;
    for (uint32_t k = 0; k < place.rows; k++) {
      const uint32_t moved = cells[k] == place.program ? program : cells[k] + offset;
      if (column >= COLUMN_SIDE)
        table_set_side(module, (table_column)column, start + k, cells[k]);
      else
        module->column[column][start + k] = column < COLUMN_A || cells[k] == 0 ? cells[k] : moved;
    }
  }
  module->column[COLUMN_FIRST][program] = place.rows ? start : 0;
  uint32_t last = start;
  while (place.rows && module->column[COLUMN_NEXT][last])
    last = module->column[COLUMN_NEXT][last];
  module->column[COLUMN_LAST][program] = place.rows ? last : 0;
  for (uint32_t i = 0; i < aside->types; i++)
    if (aside->lengths[i] > place.program && aside->lengths[i] <= place.program + place.rows)
      module->types[i].info.count_row = aside->lengths[i] + offset;
}

vyre_status
vyre_module_put_back(vyre_module *module, vyre_aside *aside)
{
  const vyre_view *v = &module->view;
  uint32_t program = v->first[0];
  for (uint32_t i = 0, at = 0; i < aside->count && !module->failed; at += aside->places[i++].rows) {
    if (aside->places[i].program)
      put_rows(module, aside, aside->places[i], at, program);
    program = v->next[program];
  }
  table_find_lengths(module);
  module->sealed = module->only_lost = aside->rows == 0;
  module->names_dirty |= module->side[COLUMN_NAME] != 0;
  module->tops_known = false;
  release(module, aside);
  return vyre_module_seal(module, NULL);
}
