/* Common subexpression elimination: a row is removed where an equal one dominates it, and its uses become uses of the nearest
 * such row.
 *
 * Rows are looked at in program order.  Of each class (cid) the row that was kept last is remembered: an equal row before it either
 * dominates it, and then it was not kept, or is no longer visible.  So one row a class is enough for the nearest one in all
 * scopes.  Loads and gets are equal by their versions, subgroup rows by the active lanes; classes look through rows that are
 * removed themselves, so one run does all of a cascade.  The row that stays keeps its own name and line.  O(rows).
 *
 * Limits: a row in one arm is not merged with one in the other, nor with one after both.
 *
 * requires: dominance, classes      preserves: versions (only values are removed)
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  const uint32_t rows = v->rows;
  uint32_t *kept = host->alloc(ctx, sizeof(uint32_t) * rows); /* by class: the row kept last; 0: its first */
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
    host->rewrite(module, row, VYRE_ROW(VYRE_OP_null, 0, 0), 0, 0, 0, 0, 0); /* a value: it holds no rows */
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
    .summary = "use the nearest equal value that dominates, and drop the row",
    .help = "Equal by cid's exact comparison: values, loads and gets that see the same state, subgroup rows with the same active "
            "lanes.\n"
            "An equal row dominates if it is before the row, in the same region or one around it.",
    .requires_ = VYRE_DOMINANCE | VYRE_CLASSES,
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("cse", "1.0", &cse)
