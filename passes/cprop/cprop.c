/* Constants and copies through variables, memory and branches: uses of a row become uses of a literal or of an earlier row.
 *
 *   conditions     in the regions that a condition guards, its uses become literals, and so do conditions that follow from it
 *                  (known.c)
 *   variables      a `get` becomes the value that was set: across joins where all reachable arms agree, and across loops that
 *                  leave the variable unchanged (solve.c).  A variable that is not unset is zero at the
 *                  start of its program.
 *   branches       an arm that a known condition makes unreachable contributes nothing
 *   vectors        a lane becomes the scalar that was put into the vector; a row of all lanes of a vector in order becomes that
 *                  vector; a part of a tuple becomes the operand (lanes.h)
 *
 * Conditions are replaced first, so that the solver sees literals.  A condition is known in a region, for single uses.  A solved
 * value is known at all uses.
 *
 * The pass changes uses only.  It does not move or remove rows.  dce removes unused rows, and dbe removes branches on literals.  A
 * value replaces an operand only where the value's row is visible.
 *
 * cprop<conditions> replaces conditions only: the solver finds little that `simplify` did not.
 *
 * Limits: floats are not folded in a program whose float mode is not round-to-nearest with denormals (host->fold_given).  A
 * vector literal that is not a splat is not used.  Specialization constants are never known.  O(rows + parts of joins), and
 * loops are walked again for values that change in them.
 *
 * Requires: versions, dominance.  Preserves: versions, unless an operand of an opaque row changes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "known.h"
#include "solve.h"

typedef struct changer {
  const solution *s;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *constant; /* by literal, its const row in the current program */
  uint32_t program;
  uint64_t literals, copies;
  bool versions; /* versions are preserved */
} changer;

static bool
is_splat(const solve_literal *l)
{
  for (uint32_t lane = 1; lane < VYRE_TYPE_LANES(l->type); lane++)
    if (l->lanes[lane] != l->lanes[0])
      return false;
  return true;
}

/* Returns the const row of a splat in the current program, or 0 if memory runs out. */
static uint32_t
constant_of(changer *c, uint32_t value, const solve_literal *l)
{
  uint32_t *constant = &c->constant[value - c->s->literals];
  if (*constant < c->program || c->v->parent[*constant] != c->program)
    *constant = c->host->constant(c->module, c->v->first[c->program], l->type, l->lanes[0]);
  return *constant;
}

/* Returns the operand's value.  The solution maps a row of all lanes of a vector to another row, which may have a value itself. */
static uint32_t
value_of(const solution *s, uint32_t operand)
{
  uint32_t value = s->value[operand];
  while (value < s->rows) {
    const uint32_t next = s->value[value];
    const solve_literal *l = solve_literal_of(s, next);
    if (next == value || next == 0 || (l ? !is_splat(l) : next >= s->rows))
      break;
    value = next;
  }
  return value;
}

/* Returns whether `row` may have the literal as an operand.  The verifier rejects a workgroup whose side is the literal 0, but not
 * one whose side is an expression over specialization constants that is always 0. */
static bool
accepts_literal(const changer *c, uint32_t row, const solve_literal *l)
{
  return is_splat(l) && (l->lanes[0] != 0 || vyre_op_of(c->v, row) != VYRE_OP_workgroup);
}

/* Returns the row that should replace the operand of `row`, or the operand itself if no better row is known. */
static uint32_t
find_better_operand(changer *c, uint32_t row, uint32_t operand)
{
  const uint32_t value = value_of(c->s, operand);
  const solve_literal *l = solve_literal_of(c->s, value);
  if (l) {
    const uint32_t constant = accepts_literal(c, row, l) ? constant_of(c, value, l) : 0;
    return constant ? constant : operand;
  }
  return value && value < c->s->rows && vyre_row_dominates(c->v, value, row) ? value : operand;
}

static void
change_operands(changer *c, uint32_t row)
{
  const uint32_t operands[3] = {c->v->a[row], c->v->b[row], c->v->c[row]};
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t operand = operands[i], op = vyre_op_of(c->v, operand);
    if (c->s->value[operand] == operand || op == VYRE_OP_const || op == VYRE_OP_var)
      continue;
    const uint32_t better = find_better_operand(c, row, operand);
    if (better == operand)
      continue;
    c->host->set_operand(c->module, row, i, better);
    c->versions &= !vyre_op_is_opaque(VYRE_ROW_OP(c->v->op[row])); /* a new handle may be another memory, with another version */
    if (VYRE_ROW_OP(c->v->op[better]) == VYRE_OP_const)
      c->literals++;
    else
      c->copies++;
  }
}

/* Replaces operands of reachable rows, and of paths in any place, because text writes a path where it is used. */
static vyre_status
change_uses(changer *c)
{
  const solution *s = c->s;
  const uint32_t *value = s->value, *of_a = c->v->a, *of_b = c->v->b, *of_c = c->v->c;
  c->constant = c->host->alloc(s->ctx, sizeof(uint32_t) * s->literal.count);
  if (!c->constant)
    return c->host->out_of_memory(s->ctx);
  for (uint32_t row = 1; row < s->rows; row++) {
    const uint32_t op = vyre_op_of(c->v, row);
    if (op == VYRE_OP_program)
      c->program = row;
    const uint32_t a = of_a[row], b = of_b[row], d = of_c[row];
    if (((value[a] ^ a) | (value[b] ^ b) | (value[d] ^ d)) != 0 && (value[row] != 0 || op == VYRE_OP_at))
      change_operands(c, row);
  }
  return VYRE_OK;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  solution s;
  memory m;
  uint64_t conditional = 0;
  *out = VYRE_UNCHANGED;
  changer c = {.s = &s, .host = host, .module = module, .v = host->view(module), .versions = true};
  VYRE_TRY(known_replace(ctx, module, &conditional));
  if (!host->param(ctx, "conditions")) {
    VYRE_TRY(memory_make(&m, ctx, module));
    VYRE_TRY(solve(&s, &m));
    VYRE_TRY(change_uses(&c));
  }
  if (c.versions)
    host->preserved(ctx, VYRE_VERSIONS);
  host->count(ctx, "uses known from conditions", conditional);
  host->count(ctx, "uses made literals", c.literals);
  host->count(ctx, "uses of copies", c.copies);
  *out = conditional || c.literals || c.copies ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_param params[] = {{
    .struct_size = sizeof(vyre_param),
    .type = VYRE_PARAM_FLAG,
    .name = "conditions",
    .summary = "only replace uses known from conditions; use after simplify",
}};

static const vyre_pass cprop = {
    .struct_size = sizeof(vyre_pass),
    .flags = VYRE_PASS_SKIPS_REMOVED,
    .name = "cprop",
    .long_name = "const-prop",
    .summary = "propagate constants and copies through variables, memory and branches",
    .help = "A get becomes the value that was set, and a load the value that was stored, if every reachable path brings the same\n"
            "value.  In the regions that a condition guards, the condition and facts that follow from it become literals.  Only\n"
            "uses change: dce removes the rows that are then unused.",
    .params = params,
    .param_count = 1,
    .requires_ = VYRE_VERSIONS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("cprop", "1.0", &cprop)
