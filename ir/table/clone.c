/* Copies rows within a program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

static uint32_t
mapped(const uint32_t *map, uint32_t map_rows, uint32_t row)
{
  return row < map_rows && row && map[row] ? map[row] : row;
}

/* Copies the side data of a row in a region. */
static void
copy_side(vyre_module *module, uint32_t from, uint32_t to)
{
  static const table_column plain[] = {COLUMN_NAME, COLUMN_LINE, COLUMN_PLACE};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    table_set_side(module, plain[i], to, table_side(module, plain[i], from));
  if (table_side(module, COLUMN_NAME, from))
    module->names_dirty = true;
  uint32_t count;
  const uint32_t *words = vyre_row_decorations(module, (vyre_row){from}, &count);
  if (count)
    vyre_row_set_decorations(module, (vyre_row){to}, words, count);
}

vyre_row
vyre_row_clone(vyre_module *module, vyre_row row, vyre_row before, uint32_t *map, uint32_t map_rows)
{
  uint32_t *const *column = module->column;
  for (uint32_t from = row.id; from; from = vyre_row_after(&module->view, from, row.id)) {
    const bool is_root = from == row.id;
    const uint32_t region = is_root ? column[COLUMN_PARENT][before.id] : map[column[COLUMN_PARENT][from]];
    const uint32_t to = table_new_row(module, region, is_root ? before.id : 0, column[COLUMN_OP][from], column[COLUMN_IMM][from],
                                      column[COLUMN_IMM_HI][from], mapped(map, map_rows, column[COLUMN_A][from]),
                                      mapped(map, map_rows, column[COLUMN_B][from]), mapped(map, map_rows, column[COLUMN_C][from]));
    if (!to)
      return VYRE_NONE;
    copy_side(module, from, to);
    table_normalize(module, to);
    map[from] = to;
  }
  return (vyre_row){map[row.id]};
}
