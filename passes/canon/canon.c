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

static bool
is_const(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_const;
}

/* The comparison with its operands exchanged; VYRE_OP_null: it is none, or commutes. */
static uint32_t
mirrored(uint32_t op)
{
  switch (op) {
  case VYRE_OP_ult:
    return VYRE_OP_ugt;
  case VYRE_OP_ule:
    return VYRE_OP_uge;
  case VYRE_OP_ugt:
    return VYRE_OP_ult;
  case VYRE_OP_uge:
    return VYRE_OP_ule;
  case VYRE_OP_slt:
    return VYRE_OP_sgt;
  case VYRE_OP_sle:
    return VYRE_OP_sge;
  case VYRE_OP_sgt:
    return VYRE_OP_slt;
  case VYRE_OP_sge:
    return VYRE_OP_sle;
  case VYRE_OP_flt:
    return VYRE_OP_fgt;
  case VYRE_OP_fle:
    return VYRE_OP_fge;
  case VYRE_OP_fgt:
    return VYRE_OP_flt;
  case VYRE_OP_fge:
    return VYRE_OP_fle;
  case VYRE_OP_fult:
    return VYRE_OP_fugt;
  case VYRE_OP_fule:
    return VYRE_OP_fuge;
  case VYRE_OP_fugt:
    return VYRE_OP_fult;
  case VYRE_OP_fuge:
    return VYRE_OP_fule;
  default:
    return VYRE_OP_null;
  }
}

static bool
is_greater(uint32_t op)
{
  switch (op) {
  case VYRE_OP_ugt:
  case VYRE_OP_uge:
  case VYRE_OP_sgt:
  case VYRE_OP_sge:
  case VYRE_OP_fgt:
  case VYRE_OP_fge:
  case VYRE_OP_fugt:
  case VYRE_OP_fuge:
    return true;
  default:
    return false;
  }
}

/* The op that the row has once its operands changed places; VYRE_OP_null: they stay. */
static uint32_t
op_after_swap(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]), a = v->a[row], b = v->b[row];
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM || is_const(v, b))
    return VYRE_OP_null;
  if (v->op_infos[op].flags & VYRE_OP_COMMUTES)
    return is_const(v, a) || a > b ? op : VYRE_OP_null;
  return is_const(v, a) || is_greater(op) ? mirrored(op) : VYRE_OP_null;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint64_t swapped = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = op_after_swap(v, row);
    if (op == VYRE_OP_null)
      continue;
    const uint32_t word = VYRE_ROW(op, VYRE_ROW_TYPE(v->op[row]), VYRE_ROW_FLAGS(v->op[row]));
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
