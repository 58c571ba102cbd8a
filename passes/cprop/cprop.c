/* Constants and copies through variables, memory and branches: uses of a row become uses of its value.
 *
 *   conditions     in the regions that a condition guards it is a literal, and so are conditions that follow from it (known.c)
 *   variables      a `get` is the value that was set: over joins where all arms that can run agree, and around loops that leave a
 *                  variable as it was (solve.c).  A variable is zero at the start of its program.
 *   branches       an arm that a known condition makes unreachable contributes nothing
 *   vectors        a lane is the scalar that was put in there; a row of all lanes of a vector in order is that vector; a part of a
 *                  tuple is that operand (lanes.h)
 *
 * Conditions come first, and are uses of literals when the rest begins: a condition is known in a region, for single uses;
 * a solved value is known at all of its uses.
 *
 * Uses change, nothing else: no row is moved or removed.  Unused rows are dce's, branches on literals
 * dbe's. A value is used where its row is visible.
 *
 * Limits: no float fold where a program's float mode is not round to nearest with denormals kept (host->fold_given); a literal of
 * several lanes that is no splat is not used.  Specialization constants are never known.  O(rows + parts of joins), and
 * loops again for what changes in them.
 *
 * requires: versions, dominance      preserves: versions, but where an opaque row gets another operand
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "known.h"
#include "solve.h"

typedef struct changer {
  const solution *s;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *constant; /* by literal: its const row in the program at hand */
  uint32_t program;
  uint64_t literals, copies;
  bool versions; /* they hold still */
} changer;

static bool
is_splat(const solve_literal *l)
{
  for (uint32_t lane = 1; lane < VYRE_TYPE_LANES(l->type); lane++)
    if (l->lanes[lane] != l->lanes[0])
      return false;
  return true;
}

/* The const row of a splat; 0: out of memory. */
static uint32_t
constant_of(changer *c, uint32_t value, const solve_literal *l)
{
  uint32_t *constant = &c->constant[value - c->s->literals];
  if (*constant < c->program || c->v->parent[*constant] != c->program)
    *constant = c->host->constant(c->module, c->v->first[c->program], l->type, l->lanes[0]);
  return *constant;
}

/* The operand's value: for a row of all lanes of a vector the solution gives another row, which may have a third one itself. */
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
takes_literal(const changer *c, uint32_t row, const solve_literal *l)
{
  return is_splat(l) && (l->lanes[0] != 0 || vyre_op_of(c->v, row) != VYRE_OP_workgroup);
}

/* The row that replaces the operand where `row` uses it; the operand itself: none better is known. */
static uint32_t
better_operand(changer *c, uint32_t row, uint32_t operand)
{
  const uint32_t value = value_of(c->s, operand);
  const solve_literal *l = solve_literal_of(c->s, value);
  if (l) {
    const uint32_t constant = takes_literal(c, row, l) ? constant_of(c, value, l) : 0;
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
    const uint32_t better = better_operand(c, row, operand);
    if (better == operand)
      continue;
    c->host->set_operand(c->module, row, i, better);
    c->versions &= !vyre_op_is_opaque(VYRE_ROW_OP(c->v->op[row])); /* which memory it accesses, its handle says */
    if (VYRE_ROW_OP(c->v->op[better]) == VYRE_OP_const)
      c->literals++;
    else
      c->copies++;
  }
}

/* Operands of rows that run, and of paths, whose position does not matter: text has them where they are used. */
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
  VYRE_TRY(known_replace(ctx, module, &conditional));
  VYRE_TRY(memory_make(&m, ctx, module));
  VYRE_TRY(solve(&s, &m));
  changer c = {.s = &s, .host = host, .module = module, .v = m.v, .versions = true};
  VYRE_TRY(change_uses(&c));
  if (c.versions)
    host->preserved(ctx, VYRE_VERSIONS);
  host->count(ctx, "uses of what a condition says", conditional);
  host->count(ctx, "uses made literals", c.literals);
  host->count(ctx, "uses of copies", c.copies);
  *out = conditional || c.literals || c.copies ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass cprop = {
    .struct_size = sizeof(vyre_pass),
    .name = "cprop",
    .long_name = "const-prop",
    .summary = "constants and copies through variables, memory and branches",
    .help = "A get becomes the value that was set, a load what was stored, where that is one and the same on every path that can\n"
            "be taken; in the regions that a condition guards, it and what follows from it are literals.  Uses change and\n"
            "nothing else: dce removes unused rows.",
    .requires_ = VYRE_VERSIONS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("cprop", "1.0", &cprop)
