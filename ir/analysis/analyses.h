/* Analyses into columns of the caller's: what ir/analysis/analyses.c makes and the verifier compares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_ANALYSES_H
#define VYRE_IR_ANALYSES_H

#include "table/table.h"
#include "versions.h"

/* A column of an analysis; its index is its table_column less COLUMN_ANALYSIS. */
typedef struct analysis_column {
  uint32_t analysis;
  const char *what; /* "<what> of %x is ..." */
} analysis_column;

enum { ANALYSIS_COLUMNS = COLUMN__COUNT - COLUMN_ANALYSIS };
extern const analysis_column vyre_analysis_columns[ANALYSIS_COLUMNS];

/* Makes VYRE_ANALYSES of a sealed, verified module: each column of theirs has an element a row; those of others are not touched
 * and may be NULL.  The graph gets the joins of versions. */
VYRE_MUST_USE vyre_status vyre_analyses_compute(const vyre_module *module, uint32_t analyses,
                                                uint32_t *const columns[ANALYSIS_COLUMNS], vyre_state_graph *graph);

/* Those that the view has columns of. */
uint32_t vyre_analyses_shown(const vyre_view *view);

#endif
