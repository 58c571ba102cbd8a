/* Remainders from existing quotients: if x / y and x % y are both computed, the remainder becomes x - x / y * y.
 *
 * GPUs have no integer division: a quotient takes about twenty instructions, and a remainder as many.  Given the quotient, the
 * remainder is a product and a difference, if these cost less by the cost model.  An `smod`, which has the divisor's sign, then
 * adds the divisor if the signs differ.  The quotient must dominate the remainder, or the remainder the quotient.  In the second
 * case a new quotient is inserted before the remainder, and `simplify` merges the two.  O(rows), and for each remainder the
 * quotients of its dividend.
 *
 * Limits: only divisors that an invocation computes, because drivers divide by a specialization constant as by a literal,
 * perhaps with a mask.  Only relaxed programs, in which a division by zero is undefined: in a strict program x % 0 is 0, and x -
 * x / 0 * 0 is x.  Equal operands must be one row, which `simplify` and `cse` ensure.
 *
 * Requires: dominance.  Preserves: versions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/pinned.h"

enum { MOST_QUOTIENTS = 16 }; /* visited for one dividend */
enum { DEEPEST = 4 };         /* levels of a divisor's operands that are visited */

typedef struct finder {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  const bool *pinned; /* by row, whether it is pinned (pinned.h) */
  uint32_t *last;     /* by row, the last quotient whose dividend is the row, 0 if there is none */
  uint32_t *before;   /* by quotient, the previous quotient with the same dividend, 0 if there is none */
} finder;

/* Returns the division op whose quotient the remainder op needs, or 0 if the op is not a remainder. */
static uint32_t
quotient_op(uint32_t op)
{
  switch (op) {
  case VYRE_OP_umod:
    return VYRE_OP_udiv;
  case VYRE_OP_srem:
  case VYRE_OP_smod:
    return VYRE_OP_sdiv;
  default:
    return 0;
  }
}

/* Returns a quotient of the remainder's operands that dominates the remainder or is dominated by it, or 0 if there is none. */
static uint32_t
quotient_of(const finder *f, uint32_t row)
{
  const vyre_view *v = f->v;
  const uint32_t wanted = quotient_op(VYRE_ROW_OP(v->op[row]));
  uint32_t seen = 0;
  for (uint32_t q = f->last[v->a[row]]; q && seen < MOST_QUOTIENTS; q = f->before[q], seen++)
    if (VYRE_ROW_OP(v->op[q]) == wanted && v->b[q] == v->b[row] && (vyre_row_dominates(v, q, row) || vyre_row_dominates(v, row, q)))
      return q;
  return 0;
}

/* Returns whether the row is computed from literals and specialization constants only, within DEEPEST levels. */
static bool
is_fixed(const vyre_view *v, uint32_t row, uint32_t depth)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]), a = v->a[row], b = v->b[row], c = v->c[row];
  if (op == VYRE_OP_const || op == VYRE_OP_spec)
    return true;
  return vyre_row_is_pure(v, row) && a && depth < DEEPEST && is_fixed(v, a, depth + 1) && (!b || is_fixed(v, b, depth + 1)) &&
         (!c || is_fixed(v, c, depth + 1));
}

static uint32_t
issue_of(const finder *f, uint32_t op, vyre_type type)
{
  vyre_cost cost = {.struct_size = sizeof(cost)};
  f->host->cost(f->ctx, op, type, &cost);
  return cost.issue;
}

/* Returns whether the replacement of a remainder costs less than the remainder. */
static bool
pays(const finder *f, uint32_t op, vyre_type type)
{
  uint32_t spent = issue_of(f, VYRE_OP_mul, type) + issue_of(f, VYRE_OP_sub, type);
  if (op == VYRE_OP_smod)
    spent += issue_of(f, VYRE_OP_xor, type) + issue_of(f, VYRE_OP_slt, type) + issue_of(f, VYRE_OP_ne, type) +
             issue_of(f, VYRE_OP_and, VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(type))) + issue_of(f, VYRE_OP_add, type) +
             issue_of(f, VYRE_OP_select, type);
  return spent < issue_of(f, op, type);
}

/* Returns whether the remainder may be replaced: its divisor is unknown to the driver, division by zero is undefined, and no
 * type's length depends on the row. */
static bool
is_candidate(const finder *f, uint32_t row)
{
  const vyre_view *v = f->v;
  return vyre_row_is_pure(v, row) && !f->pinned[row] && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 &&
         !is_fixed(v, v->b[row], 0) && pays(f, VYRE_ROW_OP(v->op[row]), VYRE_ROW_TYPE(v->op[row])) &&
         (v->imm[vyre_program_of(v, row)] & VYRE_PROGRAM_RELAXED) != 0;
}

static uint32_t
insert_binary(const finder *f, uint32_t before, uint32_t op, vyre_type type, uint32_t a, uint32_t b)
{
  return f->host->insert_row(f->module, before, VYRE_ROW(op, type, 0), 0, 0, a, b, 0);
}

static uint32_t
insert_compare_with_zero(const finder *f, uint32_t before, uint32_t op, uint32_t a)
{
  const vyre_type type = VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(VYRE_ROW_TYPE(f->v->op[a])));
  return f->host->insert_row(f->module, before, VYRE_ROW(op, type, VYRE_ROW_IMM), 0, 0, a, 0, 0);
}

/* Replaces the remainder by operations on the quotient.  Returns false if memory runs out. */
static bool
expand_remainder(const finder *f, uint32_t row, uint32_t quotient)
{
  const vyre_host *host = f->host;
  const vyre_view *v = f->v;
  const uint32_t x = v->a[row], y = v->b[row];
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  if (quotient > row)
    quotient = insert_binary(f, row, quotient_op(VYRE_ROW_OP(v->op[row])), type, x, y);
  const uint32_t product = quotient ? insert_binary(f, row, VYRE_OP_mul, type, quotient, y) : 0;
  if (product && VYRE_ROW_OP(v->op[row]) != VYRE_OP_smod) {
    host->rewrite(f->module, row, VYRE_ROW(VYRE_OP_sub, type, 0), 0, 0, x, product, 0);
    return true;
  }
  const uint32_t rest = product ? insert_binary(f, row, VYRE_OP_sub, type, x, product) : 0;
  const uint32_t signs = rest ? insert_binary(f, row, VYRE_OP_xor, type, rest, y) : 0;
  const uint32_t differ = signs ? insert_compare_with_zero(f, row, VYRE_OP_slt, signs) : 0;
  const uint32_t some = differ ? insert_compare_with_zero(f, row, VYRE_OP_ne, rest) : 0;
  const uint32_t adjusts = some ? insert_binary(f, row, VYRE_OP_and, VYRE_ROW_TYPE(v->op[differ]), differ, some) : 0;
  const uint32_t sum = adjusts ? insert_binary(f, row, VYRE_OP_add, type, rest, y) : 0;
  if (sum)
    host->rewrite(f->module, row, VYRE_ROW(VYRE_OP_select, type, 0), 0, 0, adjusts, sum, rest);
  return sum != 0;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  const uint32_t rows = v->rows;
  finder f = {.ctx = ctx, .host = ctx->host, .module = module, .v = v};
  uint64_t found = 0;
  *out = VYRE_UNCHANGED;
  f.pinned = pinned_find(ctx, module);
  f.last = ctx->host->alloc(ctx, sizeof(uint32_t) * rows);
  f.before = ctx->host->alloc(ctx, sizeof(uint32_t) * rows);
  if (!f.pinned || !f.last || !f.before)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if ((op != VYRE_OP_udiv && op != VYRE_OP_sdiv) || !vyre_row_is_pure(v, row))
      continue;
    f.before[row] = f.last[v->a[row]];
    f.last[v->a[row]] = row;
  }
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    const uint32_t quotient = quotient_op(op) && is_candidate(&f, row) ? quotient_of(&f, row) : 0;
    if (quotient && !expand_remainder(&f, row, quotient))
      return ctx->host->out_of_memory(ctx);
    found += quotient != 0;
  }
  ctx->host->count(ctx, "remainders replaced", found);
  *out = found ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass remainder_ = {
    .struct_size = sizeof(vyre_pass),
    .name = "remainder",
    .summary = "compute remainders from existing quotients",
    .requires_ = VYRE_DOMINANCE,
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("remainder", "1.0", &remainder_)
