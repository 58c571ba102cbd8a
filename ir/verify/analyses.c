/* Analyses that are claimed to be fresh: made again and compared.
 *
 * O(rows) each, and as much memory again as their columns take.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyses.h"
#include "internal.h"

#include <stdio.h>

/* Levels, depths and hashes are numbers, all others rows. */
static const char *
show_value(const verifier *k, uint32_t analysis, uint32_t value, text_buffer *buffer)
{
  const bool is_row = analysis != VYRE_LEVELS && analysis != VYRE_HASHES;
  if (is_row && value && value < k->rows)
    return vyre_verify_show(k, value, buffer);
  snprintf(buffer->text, sizeof buffer->text, is_row && !value ? "none" : "%u", value);
  return buffer->text;
}

static vyre_status
compare_column(const verifier *k, const analysis_column *column, const uint32_t *held, const uint32_t *wanted)
{
  text_buffer name, is, should;
  for (uint32_t row = 0; row < k->rows; row++)
    if (held[row] != wanted[row])
      return VYRE_ERROR(VYRE_CODE_INPUT, "%s %s is said to be %s, but it is %s", column->what,
                        row ? vyre_verify_show(k, row, &name) : "row 0", show_value(k, column->analysis, held[row], &is),
                        show_value(k, column->analysis, wanted[row], &should));
  return VYRE_OK;
}

vyre_status
vyre_verify_analyses(const vyre_module *module, uint32_t analyses)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const verifier k = {.module = module, .view = v, .rows = v->rows};
  const uint32_t by_row = analyses & VYRE_ANALYSES;
  const size_t bytes = ANALYSIS_COLUMNS * v->rows * sizeof(uint32_t);
  if (by_row & ~module->made)
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "analyses 0x%x are claimed to hold and were never made", by_row & ~module->made);
  if (!by_row)
    return VYRE_OK;
  uint32_t *memory = allocator->resize(allocator->user, NULL, 0, bytes), *columns[ANALYSIS_COLUMNS];
  if (!memory)
    return VYRE_OUT_OF_MEMORY("while comparing analyses");
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS; i++)
    columns[i] = memory + i * (size_t)v->rows;
  vyre_status status = vyre_analyses_compute(module, by_row, columns);
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS && !status; i++)
    if (vyre_analysis_columns[i].analysis & by_row)
      status = compare_column(&k, &vyre_analysis_columns[i], module->column[COLUMN_ANALYSIS + i], columns[i]);
  allocator->resize(allocator->user, memory, bytes, 0);
  return status;
}

vyre_status
vyre_verify_column(const vyre_module *module, uint32_t which, const uint32_t *held)
{
  const vyre_view *v = vyre_module_view(module);
  const verifier k = {.module = module, .view = v, .rows = v->rows};
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS; i++)
    if (vyre_analysis_columns[i].analysis == which && (which & module->made))
      VYRE_TRY(compare_column(&k, &vyre_analysis_columns[i], held, module->column[COLUMN_ANALYSIS + i]));
  return VYRE_OK;
}
