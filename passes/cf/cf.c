/* Constant folding: a row whose operands are literals becomes a const row in place.
 *
 * Folds what ops.def marks EXACT: integers, bool, compares, conversions, packing, and the correctly rounded float operations.  sin,
 * exp, pow and the like stay: devices differ on them.  Uses of a select whose condition is a literal become uses of the arm it
 * picks, those of a part of a tuple row uses of that operand.  One sweep in program order, so a fold feeds the rows behind it.
 * O(rows).
 *
 * Where a relaxed program's row is undefined on its literals, it gets the strict value: a refinement.
 * Limits: a result of several lanes that is no splat stays.  No float fold in a program whose float mode is not round to nearest
 * with denormals kept.  Specialization constants are never folded.
 *
 * requires: nothing      preserves: versions, loops, dominance
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

typedef struct folder {
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *forward; /* NULL until the first row is forwarded; then an element a row */
  uint64_t folded, forwarded;
} folder;

static bool
may_be_literal(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  return row == 0 || op == VYRE_OP_const || op == VYRE_OP_join || op == VYRE_OP_tuple;
}

/* Asked first, because of most rows the answer is no. */
static bool
may_be_known(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  if (op == VYRE_OP_part)
    return true;
  return v->op_infos[op].fold == VYRE_FOLD_EXACT && may_be_literal(v, v->a[row]) &&
         (op == VYRE_OP_select || (may_be_literal(v, v->b[row]) && may_be_literal(v, v->c[row])));
}

/* What folding made of the operands: forwarded ones are replaced, and a right operand that is now a literal becomes an immediate.
 * True: the row changed. */
static bool
update_operands(folder *f, uint32_t row)
{
  const vyre_view *v = f->v;
  uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
  if (f->forward) {
    a = f->forward[a];
    b = f->forward[b];
    c = f->forward[c];
    f->forwarded += (uint64_t)((a != v->a[row]) + (b != v->b[row]) + (c != v->c[row]));
  }
  const bool immediate = vyre_row_is_const(v, b) && vyre_op_flags_of(v, row) & VYRE_OP_TAKES_IMM;
  if (!immediate && a == v->a[row] && b == v->b[row] && c == v->c[row])
    return false;
  const uint32_t op = v->op[row], old_a = v->a[row], old_b = v->b[row], old_c = v->c[row];
  f->host->rewrite(f->module, row, op, v->imm[row], v->imm_hi[row], a, b, c);
  return op != v->op[row] || old_a != v->a[row] || old_b != v->b[row] || old_c != v->c[row];
}

/* The operand that a row is: the picked arm of a select whose condition is a literal, or a part of a tuple row.  0: none. */
static uint32_t
known_operand(const vyre_view *v, uint32_t row)
{
  uint32_t tuple = v->a[row], part = v->imm[row];
  switch (VYRE_ROW_OP(v->op[row])) {
  case VYRE_OP_select:
    return !vyre_row_is_const(v, v->a[row]) ? 0 : v->imm[v->a[row]] ? v->b[row] : v->c[row];
  case VYRE_OP_part:
    for (; VYRE_ROW_OP(v->op[tuple]) == VYRE_OP_tuple; tuple = v->c[tuple], part -= 2)
      if (part < 2 || VYRE_TUPLE_COUNT(v->imm[tuple]) <= 3)
        return part == 0 ? v->a[tuple] : part == 1 ? v->b[tuple] : v->c[tuple];
    return 0;
  default:
    return 0;
  }
}

/* Every use of such a row becomes a use of its operand: all stand behind it, so the sweep comes to them. */
static vyre_status
forward_row(folder *f, vyre_pass_ctx *ctx, uint32_t row)
{
  uint32_t to = known_operand(f->v, row);
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
  vyre_type type;
  uint64_t lanes[4];
  if (!f->host->fold(f->module, row, &type, lanes))
    return false;
  for (uint32_t lane = 1; lane < VYRE_TYPE_LANES(type); lane++)
    if (lanes[lane] != lanes[0])
      return false;
  f->host->rewrite(f->module, row, VYRE_ROW(VYRE_OP_const, type, 0), (uint32_t)lanes[0], (uint32_t)(lanes[0] >> 32), 0, 0, 0);
  f->folded++;
  return true;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  folder f = {.host = ctx->host, .module = module, .v = v};
  bool changed = false;
  const uint32_t rows = v->rows; /* host->fold knows each program's float mode */
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_const)
      continue;
    if (f.forward || vyre_row_is_const(v, v->b[row]))
      changed |= update_operands(&f, row);
    if (may_be_known(v, row) && vyre_row_is_pure(v, row) && !fold_row(&f, row))
      VYRE_TRY(forward_row(&f, ctx, row));
  }
  ctx->host->count(ctx, "rows folded", f.folded);
  ctx->host->count(ctx, "operands forwarded", f.forwarded);
  *out = changed || f.folded ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass cf = {
    .struct_size = sizeof(vyre_pass),
    .name = "cf",
    .long_name = "const-fold",
    .summary = "fold operations on constants, where the result is one and the same everywhere",
    .help = "Integers, bool, conversions, compares, packing, and float operations that IEEE rounds one way; sin, exp, pow and the\n"
            "like stay, and all floats where a program flushes denormals or rounds toward zero.  Specialization constants are\n"
            "never folded.",
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("cf", "1.0", &cf)
