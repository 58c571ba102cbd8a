/* Constant folding: a row whose operands are literals becomes a `const` row in place.
 *
 * Folds the operations that ops.def marks EXACT: integers, bool, comparisons, conversions, packing, and correctly rounded float
 * operations.  sin, exp, pow and the like are not folded, because their results differ between devices.  A select whose
 * condition is a literal is replaced by the selected operand.  A `part` of a tuple row is replaced by the tuple's operand.  One
 * sweep in program order, so that later rows see each fold.  O(rows).
 *
 * A row of a relaxed program that is undefined for its literals folds to the strict value, which is a refinement. Limits: a
 * vector result that is not a splat is not folded.  Floats are not folded in a program whose float mode is not round-to-nearest
 * with denormals.  Specialization constants are never folded.
 *
 * cf.vir does the same in phases, with its own evaluator, which uses integers only.
 *
 * Requires: nothing.  Preserves: versions, loops, dominance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

typedef struct folder {
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *forward; /* by row, its replacement; NULL until a row is forwarded */
  uint64_t folded, replaced;
} folder;

/* Replaces forwarded operands, and makes a literal right operand an immediate. */
static void
update_operands(folder *f, uint32_t row)
{
  const vyre_view *v = f->v;
  uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
  if (f->forward) {
    a = f->forward[a];
    b = f->forward[b];
    c = f->forward[c];
  }
  const bool immediate = vyre_row_is_const(v, b) && vyre_op_flags_of(v, row) & VYRE_OP_TAKES_IMM;
  if (!immediate && a == v->a[row] && b == v->b[row] && c == v->c[row])
    return;
  const uint32_t old_a = v->a[row], old_b = v->b[row], old_c = v->c[row];
  f->host->rewrite(f->module, row, v->op[row], v->imm[row], v->imm_hi[row], a, b, c);
  f->replaced += (uint64_t)((v->a[row] != old_a) + (v->b[row] != old_b) + (v->c[row] != old_c));
}

/* Forwards the row to the operand that it is known to equal, if any.  All uses follow the row, so the sweep updates them. */
static vyre_status
forward_row(folder *f, vyre_pass_ctx *ctx, uint32_t row)
{
  uint32_t to = fold_known_operand(f->v, row);
  if (to == 0)
    return VYRE_OK;
  if (!f->forward) {
    f->forward = f->host->alloc(ctx, sizeof(uint32_t) * f->v->rows);
    if (!f->forward)
      return f->host->out_of_memory(ctx);
    for (uint32_t i = 0; i < f->v->rows; i++)
      f->forward[i] = i;
  }
  f->forward[row] = to;
  return VYRE_OK;
}

static bool
fold_row(folder *f, uint32_t row)
{
  const bool folded = fold_to_literal(f->host, f->module, row);
  f->folded += folded;
  return folded;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  folder f = {.host = ctx->host, .module = module, .v = v};
  const uint32_t rows = v->rows; /* host->fold checks each program's float mode */
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_const)
      continue;
    if (f.forward || vyre_row_is_const(v, v->b[row]))
      update_operands(&f, row);
    if (fold_may_be_known(v, row) && vyre_row_is_pure(v, row) && !fold_row(&f, row))
      VYRE_TRY(forward_row(&f, ctx, row));
  }
  ctx->host->count(ctx, "rows folded", f.folded);
  ctx->host->count(ctx, "operands replaced", f.replaced);
  *out = f.replaced || f.folded ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

extern const vyre_phases cf_phases;

static const vyre_pass cf = {
    .struct_size = sizeof(vyre_pass),
    .flags = VYRE_PASS_KEEPS_ORDER,
    .name = "cf",
    .long_name = "const-fold",
    .summary = "fold operations on constants whose result is the same on every device",
    .help = "Folds integers, bool, conversions, comparisons, packing, and float operations that IEEE 754 rounds correctly.  Does\n"
            "not fold sin, exp, pow and the like, floats of a program that flushes denormals or rounds toward zero, or\n"
            "specialization constants.",
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE,
    .run = run,
    .phases = &cf_phases,
};
VYRE_PLUGIN("cf", "1.0", &cf)
