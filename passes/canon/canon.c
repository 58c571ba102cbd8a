/* Canonical operand order, so that equal values look equal.
 *
 *   commuting ops:  a literal goes right (and becomes an immediate where the op takes one); else the smaller row goes left
 *   comparisons:    a literal goes right, the comparison mirrored; between two rows only `<` and `<=` are left
 *
 * One sweep in program order; a row is rewritten in place, none is made or moved.  O(rows).
 * Limits: comparisons with a literal keep their direction (x >= 4 and x > 3 stay two forms); constants of several lanes that are no
 * splat are rows like others.
 *
 * requires: nothing      preserves: versions, loops, dominance
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

/* The comparison with its operands exchanged; of two, the one with the smaller number (<, <=) is canonical.  0: it is none, or
 * commutes. */
static const uint16_t mirrored[VYRE_OP__COUNT] = {
    [VYRE_OP_ult] = VYRE_OP_ugt,   [VYRE_OP_ule] = VYRE_OP_uge,   [VYRE_OP_ugt] = VYRE_OP_ult,   [VYRE_OP_uge] = VYRE_OP_ule,
    [VYRE_OP_slt] = VYRE_OP_sgt,   [VYRE_OP_sle] = VYRE_OP_sge,   [VYRE_OP_sgt] = VYRE_OP_slt,   [VYRE_OP_sge] = VYRE_OP_sle,
    [VYRE_OP_flt] = VYRE_OP_fgt,   [VYRE_OP_fle] = VYRE_OP_fge,   [VYRE_OP_fgt] = VYRE_OP_flt,   [VYRE_OP_fge] = VYRE_OP_fle,
    [VYRE_OP_fult] = VYRE_OP_fugt, [VYRE_OP_fule] = VYRE_OP_fuge, [VYRE_OP_fugt] = VYRE_OP_fult, [VYRE_OP_fuge] = VYRE_OP_fule,
};

/* Whether the row's operands are to change places.  Bits, no branches: which way they stand cannot be foretold. */
static bool
is_reversed(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]), a = v->a[row], b = v->b[row];
  const bool commutes = (v->op_infos[op].flags & VYRE_OP_COMMUTES) != 0, has_mirror = mirrored[op] != 0;
  const bool has_imm = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  const bool wrong = (commutes & (a > b)) | (has_mirror & (mirrored[op] < op)) | vyre_row_is_const(v, a);
  return (commutes | has_mirror) & wrong & !has_imm & !vyre_row_is_const(v, b);
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint64_t swapped = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (!is_reversed(v, row))
      continue;
    const uint32_t op = VYRE_ROW_OP(v->op[row]), after = mirrored[op] ? mirrored[op] : op;
    const uint32_t word = VYRE_ROW(after, VYRE_ROW_TYPE(v->op[row]), VYRE_ROW_FLAGS(v->op[row]));
    ctx->host->rewrite(module, row, word, v->imm[row], v->imm_hi[row], v->b[row], v->a[row], v->c[row]);
    swapped++;
  }
  ctx->host->count(ctx, "operands exchanged", swapped);
  *out = swapped ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass canon = {
    .struct_size = sizeof(vyre_pass),
    .name = "canon",
    .long_name = "canonicalize",
    .summary = "literals right, operands of commuting ops in one order, comparisons one way",
    .help = "add(4, x) becomes add(x, 4) with the 4 as an immediate; of two rows the earlier one goes left where the op commutes;\n"
            "x > y becomes y < x.  So equal values look equal.",
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("canon", "1.0", &canon)
