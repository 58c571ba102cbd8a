/* Common subexpression elimination.  Removes a row that an equal row dominates, and forwards its uses to the nearest such row.
 *
 * Visits rows in program order, and records for each class (cid) the last row that was kept.  An equal row before that one
 * either dominates it, so that it would not have been kept, or is no longer visible.  So one row for each class finds the
 * nearest equal row in all scopes.  Loads and gets are equal by their versions, subgroup rows by the active lanes.  Classes look
 * through removed rows, so one run removes a whole chain.  The kept row keeps its own name and line.  O(rows).
 *
 * Limits: a row in one arm is not merged with a row in the other arm, or with a row after both.
 *
 * Requires: dominance, classes.  Preserves: versions, because only values are removed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  const uint32_t rows = v->rows;
  uint32_t *kept = host->alloc(ctx, sizeof(uint32_t) * rows); /* by class, the row kept last, 0 if it is the first */
  uint32_t *forward = host->alloc(ctx, sizeof(uint32_t) * rows);
  uint64_t merged = 0;
  *out = VYRE_UNCHANGED;
  if (!kept || !forward)
    return host->out_of_memory(ctx);
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t first = v->canonical[row], last = kept[first] ? kept[first] : first;
    forward[row] = row;
    if (first == row)
      continue;
    if (!vyre_row_dominates(v, last, row)) {
      kept[first] = row;
      continue;
    }
    forward[row] = last;
    host->rewrite(module, row, VYRE_ROW(VYRE_OP_null, 0, 0), 0, 0, 0, 0, 0); /* a value contains no rows */
    merged++;
  }
  host->count(ctx, "rows merged", merged);
  if (merged == 0)
    return VYRE_OK;
  host->forward(module, forward);
  *out = VYRE_CHANGED;
  return VYRE_OK;
}

static const vyre_pass cse = {
    .struct_size = sizeof(vyre_pass),
    .name = "cse",
    .long_name = "common-subexpressions",
    .summary = "replace a row by the nearest equal row that dominates it",
    .help = "Rows are equal by cid's exact comparison: values, loads and gets of the same version, subgroup rows with the same\n"
            "active lanes.  An equal row dominates if it is before the row, in the same region or in one around it.",
    .requires_ = VYRE_DOMINANCE | VYRE_CLASSES,
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("cse", "1.0", &cse)
