/* Contraction: a * b + c, a * b - c and c - a * b become one `fma`, which rounds once where they round twice.
 *
 * A product is contracted where its sum is its only use, and where neither of the two is `exact` (SPIR-V's NoContraction).  The
 * product that is subtracted, and what is subtracted from one, is negated: no rounding, and no instruction where operands have a
 * sign.  Of a sum of two products the left one is contracted.  The product's row is left to dce.  O(rows).
 *
 * Limits: floats alone, lane by lane; not what is made whole of several operations (dot, fmix, products of matrices); no row that a
 * type's length uses.  It changes what floats are, so it is in no default pipeline.
 *
 * requires: nothing      preserves: versions
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/pinned.h"

enum { MANY = 2 };

typedef struct contractor {
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  const bool *pinned; /* by row */
  uint8_t *uses;      /* by row: 0, 1 or MANY */
} contractor;

static void
count_use(const contractor *k, uint32_t row)
{
  if (k->uses[row] < MANY)
    k->uses[row]++;
}

static bool
may_round_otherwise(const vyre_view *v, uint32_t row)
{
  const uint32_t word = v->op[row];
  return vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_ROW_TYPE(word))) && vyre_row_is_pure(v, row) &&
         (VYRE_ROW_FLAGS(word) & VYRE_ROW_EXACT) == 0;
}

static bool
is_product(const contractor *k, uint32_t row)
{
  return VYRE_ROW_OP(k->v->op[row]) == VYRE_OP_mul && k->uses[row] == 1 && !k->pinned[row] && may_round_otherwise(k->v, row);
}

static bool
has_literal(const vyre_view *v, uint32_t row)
{
  return (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
}

/* The row's right operand, a row for a literal, too; 0: out of memory. */
static uint32_t
right_of(const contractor *k, uint32_t row)
{
  const vyre_view *v = k->v;
  return has_literal(v, row) ? k->host->constant(k->module, row, VYRE_ROW_TYPE(v->op[row]), vyre_row_imm(v, row)) : v->b[row];
}

/* The negated value, before the row that uses it; 0: out of memory. */
static uint32_t
negated(const contractor *k, uint32_t row, uint32_t before)
{
  const uint32_t type = VYRE_ROW_TYPE(k->v->op[row]);
  return k->host->insert_row(k->module, before, VYRE_ROW(VYRE_OP_neg, type, 0), 0, 0, row, 0, 0);
}

/* The sum becomes an fma of the product; `product` is one of its operands. */
static void
contract_sum(const contractor *k, uint32_t sum, uint32_t product)
{
  const vyre_view *v = k->v;
  const bool subtracts = VYRE_ROW_OP(v->op[sum]) == VYRE_OP_sub, from_left = product == v->a[sum];
  const uint32_t relaxed = VYRE_ROW_FLAGS(v->op[sum]) & VYRE_ROW_FLAGS(v->op[product]) & VYRE_ROW_RELAXED;
  uint32_t a = v->a[product], b = right_of(k, product), c = from_left ? right_of(k, sum) : v->a[sum];
  if (subtracts && from_left)
    c = negated(k, c, sum);
  else if (subtracts)
    a = negated(k, a, sum);
  if (a && b && c)
    k->host->rewrite(k->module, sum, VYRE_ROW(VYRE_OP_fma, VYRE_ROW_TYPE(v->op[sum]), relaxed), 0, 0, a, b, c);
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  const uint32_t rows = v->rows;
  contractor k = {.host = ctx->host, .module = module, .v = v};
  uint64_t sums = 0;
  *out = VYRE_UNCHANGED;
  k.pinned = pinned_find(ctx, module);
  k.uses = ctx->host->alloc(ctx, rows);
  if (!k.pinned || !k.uses)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 1; row < rows; row++) {
    count_use(&k, v->a[row]);
    count_use(&k, v->b[row]);
    count_use(&k, v->c[row]);
  }
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if ((op != VYRE_OP_add && op != VYRE_OP_sub) || !may_round_otherwise(v, row))
      continue;
    const uint32_t product = is_product(&k, v->a[row]) ? v->a[row] : v->b[row];
    if (!is_product(&k, product))
      continue;
    contract_sum(&k, row, product);
    sums++;
  }
  ctx->host->count(ctx, "sums of a product", sums);
  *out = sums ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass contract = {
    .struct_size = sizeof(vyre_pass),
    .name = "contract",
    .summary = "products and their sums as fma, which rounds once",
    .help = "a * b + c becomes fma(a, b, c), where the sum is the product's only use and neither is `exact` (NoContraction).\n"
            "Results differ from the program's own in their last bits, so no default pipeline has it.",
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("contract", "1.0", &contract)
