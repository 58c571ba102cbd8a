/* Computes analyses into columns of the caller. The module uses it to make them, and the verifier to compare.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_ANALYSES_H
#define VYRE_IR_ANALYSES_H

#include "table/table.h"
#include "versions.h"

/* A column of an analysis. The index is its table_column less COLUMN_ANALYSIS. */
typedef struct analysis_column {
  uint32_t analysis;
  const char *what; /* the beginning of a message: "<what> %x is ..." */
} analysis_column;

enum { ANALYSIS_COLUMNS = COLUMN__COUNT - COLUMN_ANALYSIS };
extern const analysis_column vyre_analysis_columns[ANALYSIS_COLUMNS];

/* Computes analyses of a sealed, verified module. Each of their columns has an element for each row; other columns are not used and
 * may be NULL. The graph gets the joins of versions. */
VYRE_MUST_USE vyre_status vyre_analyses_compute(const vyre_module *module, uint32_t analyses,
                                                uint32_t *const columns[ANALYSIS_COLUMNS], vyre_state_graph *graph);

/* Returns the analyses of which the view has columns. */
uint32_t vyre_analyses_shown(const vyre_view *view);

#endif
