/* Relaxed precision: marks f32 arithmetic as relaxed (SPIR-V's RelaxedPrecision), so that a driver or `half` may compute it with 16
 * bits.
 *
 * Marks operations on scalars and vectors, and rows that move lanes or select.  O(rows).
 *
 * Limits: loads, variables, matrix operations, comparisons, images and operations on other lanes of a subgroup are not marked, and
 * neither are rows with decorations or that define a type's length.  Results may change, so the pass is in no default pipeline.
 *
 * Requires: nothing.  Preserves: versions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/halves.h"
#include "../state/pinned.h"

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  const bool *pinned = pinned_find(ctx, module);
  uint64_t count = 0;
  *out = VYRE_UNCHANGED;
  if (!pinned)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t word = v->op[row], op = VYRE_ROW_OP(word);
    if (VYRE_TYPE_KIND(VYRE_ROW_TYPE(word)) != VYRE_F32 || (VYRE_ROW_FLAGS(word) & (VYRE_ROW_RELAXED | VYRE_ROW_DECO)) != 0 ||
        pinned[row] || !(halves_computes(op) || halves_moves(op)))
      continue;
    ctx->host->rewrite(module, row, word | VYRE_ROW(0, 0, VYRE_ROW_RELAXED), v->imm[row], v->imm_hi[row], v->a[row], v->b[row],
                       v->c[row]);
    count++;
  }
  ctx->host->count(ctx, "rows relaxed", count);
  *out = count ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass relax = {
    .struct_size = sizeof(vyre_pass),
    .name = "relax",
    .summary = "mark f32 arithmetic as relaxed",
    .help = "Operations on f32 get the flag `relaxed` (RelaxedPrecision): a driver, or the pass `half`, may compute them with 16\n"
            "bits.  Results may change, so the pass is in no default pipeline.",
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("relax", "1.0", &relax)
