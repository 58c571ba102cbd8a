/* Contraction: a * b + c, a * b - c and c - a * b become one `fma`, which rounds once instead of twice.
 *
 * A product is contracted if the sum is its only use and neither row is `exact` (SPIR-V's NoContraction).  For a difference, the
 * subtracted value is negated: `c`, or a factor of the product.  A negation does not round, and costs no instruction if operands
 * have a sign modifier.  Of a sum of two products the left one is contracted.  The product's row is removed.  O(rows).
 *
 * Limits: scalar and lane-by-lane float rows only.  Operations that combine several products (dot, fmix, matrix products) and
 * rows that define a type's length are not contracted.  Results change in their last bits, so the pass is in no default
 * pipeline.
 *
 * Requires: nothing.  Preserves: versions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/pinned.h"

enum { MANY = 2 };

typedef struct contractor {
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  const bool *pinned; /* by row */
  uint8_t *uses;      /* by row, its number of uses: 0, 1 or MANY */
} contractor;

static void
count_use(const contractor *k, uint32_t row)
{
  if (k->uses[row] < MANY)
    k->uses[row]++;
}

static bool
may_contract(const vyre_view *v, uint32_t row)
{
  const uint32_t word = v->op[row];
  return vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_ROW_TYPE(word))) && vyre_row_is_pure(v, row) &&
         (VYRE_ROW_FLAGS(word) & VYRE_ROW_EXACT) == 0;
}

/* Returns whether the row is a product that may be contracted into its only use. */
static bool
is_product(const contractor *k, uint32_t row)
{
  return VYRE_ROW_OP(k->v->op[row]) == VYRE_OP_mul && k->uses[row] == 1 && !k->pinned[row] && may_contract(k->v, row);
}

static bool
has_immediate(const vyre_view *v, uint32_t row)
{
  return (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
}

/* Returns the row's right operand, as a new const row if it is an immediate.  Returns 0 if memory runs out. */
static uint32_t
right_operand(const contractor *k, uint32_t row)
{
  const vyre_view *v = k->v;
  return has_immediate(v, row) ? k->host->constant(k->module, row, VYRE_ROW_TYPE(v->op[row]), vyre_row_imm(v, row)) : v->b[row];
}

/* Inserts a negation of `row` before the row `before`.  Returns 0 if memory runs out. */
static uint32_t
insert_negation(const contractor *k, uint32_t row, uint32_t before)
{
  const uint32_t type = VYRE_ROW_TYPE(k->v->op[row]);
  return k->host->insert_row(k->module, before, VYRE_ROW(VYRE_OP_neg, type, 0), 0, 0, row, 0, 0);
}

/* Rewrites the sum to an fma of its operand `product`, and removes the product. */
static void
contract_sum(const contractor *k, uint32_t sum, uint32_t product)
{
  const vyre_view *v = k->v;
  const bool subtracts = VYRE_ROW_OP(v->op[sum]) == VYRE_OP_sub, from_left = product == v->a[sum];
  const uint32_t relaxed = VYRE_ROW_FLAGS(v->op[sum]) & VYRE_ROW_FLAGS(v->op[product]) & VYRE_ROW_RELAXED;
  uint32_t a = v->a[product], b = right_operand(k, product), c = from_left ? right_operand(k, sum) : v->a[sum];
  if (subtracts && from_left)
    c = insert_negation(k, c, sum);
  else if (subtracts)
    a = insert_negation(k, a, sum);
  if (!a || !b || !c)
    return;
  k->host->rewrite(k->module, sum, VYRE_ROW(VYRE_OP_fma, VYRE_ROW_TYPE(v->op[sum]), relaxed), 0, 0, a, b, c);
  k->host->kill(k->module, product);
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
    if ((op != VYRE_OP_add && op != VYRE_OP_sub) || !may_contract(v, row))
      continue;
    const uint32_t product = is_product(&k, v->a[row]) ? v->a[row] : v->b[row];
    if (!is_product(&k, product))
      continue;
    contract_sum(&k, row, product);
    sums++;
  }
  ctx->host->count(ctx, "sums contracted", sums);
  *out = sums ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass contract = {
    .struct_size = sizeof(vyre_pass),
    .name = "contract",
    .summary = "contract a product and its sum to an fma, which rounds once",
    .help = "a * b + c becomes fma(a, b, c) if the sum is the product's only use and neither is `exact` (NoContraction).\n"
            "Results change in their last bits, so the pass is in no default pipeline.",
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("contract", "1.0", &contract)
