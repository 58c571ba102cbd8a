/* VIR0: reads a file into a module: the columns, then the rules between rows.
 *
 * The order is: header and hashes (find.c), strings, columns, side tables (tables.c), program order of the rows, the verifier. Each
 * step rejects deliberate damage, even if hashes are correct. O(bytes).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vir0.h"

#include <string.h>

#include "vyre/verify.h"

/* Checks that a column has a word for each row. */
static vyre_status
check_column(const vir0_reader *r, uint32_t kind)
{
  const vir0_part *part = &r->parts[kind];
  if (part->count != r->header.rows)
    return vir0_damaged(r, kind, 0, "%u words for %u rows", part->count, r->header.rows);
  return VYRE_OK;
}

static vyre_status
read_columns(vir0_reader *r)
{
  vyre_module *m = r->module;
  uint32_t rows = r->header.rows;
  for (uint32_t kind = VYRE_VIR0_OP; kind <= VYRE_VIR0_LAST; kind++)
    VYRE_TRY(check_column(r, kind));
  if (rows == 0)
    return vir0_damaged(r, VYRE_VIR0_OP, 0, "row 0 is missing");
  if (rows > m->max_rows)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "'%s' has %u rows, but the module may have %u\nFix: create the module with a greater max_rows", r->path, rows,
                      m->max_rows);
  if (!table_grow_to(m, rows))
    return vyre_module_status(m);
  m->view.rows = rows;
  for (uint32_t column = 0; column < COLUMN_SIDE; column++)
    memcpy(m->column[column], r->parts[VYRE_VIR0_OP + column].data, rows * sizeof(uint32_t));
  for (uint32_t column = COLUMN_NAME; column <= COLUMN_PLACE; column++) {
    uint32_t kind = VYRE_VIR0_NAME + (column - COLUMN_NAME);
    if (!r->parts[kind].data)
      continue;
    VYRE_TRY(check_column(r, kind));
    if (m->side[column] < rows && !table_grow_side(m, (table_column)column, rows - 1))
      return vyre_module_status(m);
    memcpy(m->column[column], r->parts[kind].data, rows * sizeof(uint32_t));
  }
  return VYRE_OK;
}

/* Checks rules that the verifier does not: row 0 is empty, and the links are in program order. */
static vyre_status
check_rows(const vir0_reader *r)
{
  const vyre_module *m = r->module;
  for (uint32_t column = 0; column < COLUMN_FIRST; column++)
    if (m->column[column][0])
      return vir0_damaged(r, VYRE_VIR0_OP + column, 0, "row 0 must be empty, but has 0x%x there", m->column[column][0]);
  if (!table_is_dense(m))
    return vir0_damaged(r, VYRE_VIR0_PARENT, 0, "the links of rows do not put them in program order");
  uint32_t deep = vir0_deep_row(m);
  if (deep)
    return vir0_damaged(r, VYRE_VIR0_PARENT, deep, "rows nest more than %u deep", VIR0_MAX_ROW_DEPTH);
  return VYRE_OK;
}

static vyre_status
check_names(const vir0_reader *r)
{
  const vyre_module *m = r->module;
  uint32_t rows = m->view.rows;
  for (uint32_t row = 0; row < rows && row < m->side[COLUMN_NAME]; row++)
    if (!vir0_is_string(m, m->column[COLUMN_NAME][row]) || (row == 0 && m->column[COLUMN_NAME][0]))
      return vir0_damaged(r, VYRE_VIR0_NAME, row, "%u is not a string", m->column[COLUMN_NAME][row]);
  for (uint32_t row = 0; row < rows && (row < m->side[COLUMN_LINE] || row < m->side[COLUMN_PLACE]); row++) {
    uint32_t line = table_side(m, COLUMN_LINE, row), place = table_side(m, COLUMN_PLACE, row);
    uint32_t scope = place >> TABLE_PLACE_BITS;
    if ((row == 0 && line) || (line == 0 && place) || (scope && scope >= m->scope_count))
      return vir0_damaged(r, r->parts[VYRE_VIR0_PLACE].data ? VYRE_VIR0_PLACE : VYRE_VIR0_LINE, row,
                          "line %u has the source location 0x%x, and there are %u scopes", line, place,
                          m->scope_count ? m->scope_count - 1 : 0);
  }
  return VYRE_OK;
}

static vyre_status
verify(const vir0_reader *r)
{
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(r->module, &errors);
  vyre_verify_errors_free(&errors);
  return vyre_status_note(status, "while verifying '%s'", r->path);
}

static vyre_status
read_all(vir0_reader *r, const char *const *known, uint32_t known_count)
{
  vyre_module *m = r->module;
  VYRE_TRY(vir0_open(r, known, known_count));
  VYRE_TRY(vir0_read_strings(r));
  VYRE_TRY(read_columns(r));
  VYRE_TRY(check_rows(r));
  VYRE_TRY(vir0_read_tables(r));
  VYRE_TRY(check_names(r));
  m->tops++;
  m->sealed = m->only_lost = true; /* check_rows has checked that rows are dense */
  table_link_inputs(m);
  m->names_dirty = m->side[COLUMN_NAME] != 0;
  VYRE_TRY(vyre_module_seal(m, NULL));
  return verify(r);
}

vyre_status
vyre_vir0_read(vyre_module *module, const void *data, size_t size, const char *path, const char *const *known, uint32_t known_count)
{
  VYRE_TRY(vyre_module_status(module));
  if (module->view.rows > 1 || module->texts_size || module->type_count || module->input_count)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "'%s' has a whole module, but the module to read it into is not empty\nFix: read it into an empty module",
                      path);
  vir0_reader r = {.module = module, .data = data, .path = path, .size = size};
  vyre_status status = read_all(&r, known, known_count);
  if (status)
    vyre_module_clear(module);
  return status;
}
