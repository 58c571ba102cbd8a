/* Constants and copies through variables, memory and branches: uses of a row become uses of what it is.
 *
 *   conditions     in the regions that a condition guards it is a literal, and so is what follows from it (known.c)
 *   variables      a `get` is the value that was set: over joins where all arms that can run agree, and around loops that leave a
 *                  variable as it was (flow.c, solve.c).  A variable is zero at the start of its program.
 *   branches       an arm that a known condition shuts out contributes nothing
 *   vectors        a lane is the scalar that was put in there; all lanes of a vector, put together, are that vector; a part of a
 *                  tuple is that operand (lanes.h)
 *
 * Conditions come first, and are uses of literals when the rest begins: what a condition says holds in a region, for each use by
 * itself; what is solved holds of a value, wherever it is used.
 *
 * Uses change, nothing else: no row is moved or taken out.  What nobody uses any more is dce's, what is a branch on a literal
 * dbe's. A value is used where its row is visible; of two gets of one phi the second becomes the first.
 *
 * Limits: no float fold where a program's float mode is not round to nearest with denormals kept (host->fold_given); a literal of
 * several lanes that is no splat is nobody's operand.  Specialization constants are never known.  O(rows + sources of phis).
 *
 * requires: versions, dominance      preserves: versions, but where an opaque row gets another operand
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "known.h"
#include "number.h"

/* What becomes of a row's uses, in bits. */
enum {
  FATE_CHANGES = 1, /* they may be another's */
  FATE_LEADS = 2    /* its value is no row that can be used: where it is the first of that value, others become this one */
};

typedef struct changer {
  solution *s;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint8_t *fate;          /* by row */
  flow_list leading;      /* rows, uint32_t, of FATE_LEADS */
  const uint32_t *number; /* by node */
  uint32_t *leader;       /* by number: the first visible row seen with that value */
  uint32_t *constant;     /* by literal: its const row in the program at hand */
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

static bool
is_usable(const solution *s, uint32_t value)
{
  return value < s->f->rows && flow_op(s->f, value) != VYRE_OP_set && flow_op(s->f, value) != VYRE_OP_var;
}

/* What rows of that value are found under. */
static uint32_t
key_of(const changer *c, uint32_t value)
{
  return c->number && c->number[value] && c->number[value] < c->s->literals ? c->number[value] : value;
}

/* What the operand is: the solution says of a row put together of lanes another row, which may be a third one itself. */
static uint32_t
value_of(const solution *s, uint32_t operand)
{
  uint32_t value = s->value[operand];
  while (value < s->f->rows) {
    const uint32_t next = s->value[value];
    const solve_literal *l = solve_literal_of(s, next);
    if (next == value || next == 0 || (l ? !is_splat(l) : !is_usable(s, next)))
      break;
    value = next;
  }
  return value;
}

/* The row that stands for the operand where `row` uses it; the operand itself: none better is known. */
static uint32_t
better_operand(changer *c, uint32_t row, uint32_t operand)
{
  const uint32_t value = value_of(c->s, operand);
  const solve_literal *l = solve_literal_of(c->s, value);
  if (l) {
    const uint32_t constant = constant_of(c, value, l);
    return constant ? constant : operand;
  }
  const uint32_t to = is_usable(c->s, value) ? value : c->leader[key_of(c, value)];
  return to && vyre_row_dominates(c->v, to, row) ? to : operand;
}

/* The first row of a value that no row stands for: later ones become it where it is visible. */
static void
lead(changer *c, uint32_t row)
{
  uint32_t *leader = &c->leader[key_of(c, c->s->value[row])];
  if (flow_op(c->s->f, row) != VYRE_OP_get && flow_op(c->s->f, row) != VYRE_OP_load)
    return;
  if (*leader == 0 || !vyre_row_dominates(c->v, *leader, row))
    *leader = row;
}

static void
change_operands(changer *c, uint32_t row)
{
  const uint32_t operands[3] = {c->v->a[row], c->v->b[row], c->v->c[row]};
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t better = c->fate[operands[i]] & FATE_CHANGES ? better_operand(c, row, operands[i]) : operands[i];
    if (better == operands[i])
      continue;
    c->host->set_operand(c->module, row, i, better);
    c->versions &= !vyre_op_is_opaque(VYRE_ROW_OP(c->v->op[row])); /* which memory it accesses, its handle says */
    if (VYRE_ROW_OP(c->v->op[better]) == VYRE_OP_const)
      c->literals++;
    else
      c->copies++;
  }
}

/* Whether the row's operands may become others: it runs; or it is a path, whose place is no matter: text has it where it is used.
 */
static bool
may_change(const changer *c, uint32_t row)
{
  return (c->s->state[row] & SOLVE_VISITED) != 0 || VYRE_ROW_OP(c->v->op[row]) == VYRE_OP_at;
}

static void
change_uses(changer *c, uint32_t rows)
{
  const uint32_t *op = c->v->op, *of_a = c->v->a, *of_b = c->v->b, *of_c = c->v->c;
  const uint8_t *fate = c->fate;
  for (uint32_t row = 1; row < rows; row++) {
    if (VYRE_ROW_OP(op[row]) == VYRE_OP_program)
      c->program = row;
    const uint32_t operands = fate[of_a[row]] | fate[of_b[row]] | fate[of_c[row]];
    if (operands & FATE_CHANGES && may_change(c, row))
      change_operands(c, row);
    if (fate[row] & FATE_LEADS)
      lead(c, row);
  }
}

/* Fills `fate`, but for the changes that a leading row makes.  True: there are others. */
static bool
find_changes(changer *c, uint32_t rows)
{
  const uint8_t *state = c->s->state;
  bool found = false;
  for (uint32_t row = 1; row < rows; row++) {
    if ((state[row] & (SOLVE_MOVES | SOLVE_DIFFERS)) != (SOLVE_MOVES | SOLVE_DIFFERS))
      continue;
    const uint32_t value = c->s->value[row];
    if (value == row || value == 0 || flow_op(c->s->f, row) == VYRE_OP_set)
      continue;
    const solve_literal *l = solve_literal_of(c->s, value);
    const bool leads = !l && !is_usable(c->s, value), changes = l ? is_splat(l) : !leads;
    uint32_t *leading = leads ? flow_append(c->s->f, &c->leading) : NULL;
    c->fate[row] = leads ? FATE_LEADS : changes ? FATE_CHANGES : 0;
    found |= changes;
    if (leading)
      *leading = row;
  }
  return found;
}

/* Whether a row may become one of the same value that leads. */
static bool
find_led(changer *c)
{
  bool found = false;
  for (uint32_t i = 0; i < c->leading.count; i++) {
    const uint32_t row = *FLOW_AT(uint32_t, c->leading, i), op = flow_op(c->s->f, row);
    uint32_t *leader = &c->leader[key_of(c, c->s->value[row])];
    if (*leader || (op != VYRE_OP_get && op != VYRE_OP_load)) {
      c->fate[row] |= FATE_CHANGES;
      found = true;
    }
    *leader = row;
  }
  for (uint32_t i = 0; i < c->leading.count; i++) /* none has been seen yet */
    c->leader[key_of(c, c->s->value[*FLOW_AT(uint32_t, c->leading, i)])] = 0;
  return found;
}

static vyre_status
change(changer *c)
{
  solution *s = c->s;
  flow *f = s->f;
  c->fate = c->host->alloc(f->ctx, f->rows);
  c->constant = c->host->alloc(f->ctx, sizeof(uint32_t) * s->literal.count);
  c->leading.size = sizeof(uint32_t);
  if (!c->fate || !c->constant)
    return c->host->out_of_memory(f->ctx);
  bool found = find_changes(c, f->rows);
  if (f->out_of_memory)
    return c->host->out_of_memory(f->ctx);
  if (c->leading.count) {
    c->leader = c->host->alloc(f->ctx, sizeof(uint32_t) * s->literals);
    if (!c->leader)
      return c->host->out_of_memory(f->ctx);
    VYRE_TRY(number_nodes(s, &c->leading, &c->number));
    found |= find_led(c);
  }
  if (found)
    change_uses(c, f->rows);
  return VYRE_OK;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  flow f;
  solution s;
  memory m;
  flow_stops stops;
  loads known;
  uint64_t conditional = 0;
  *out = VYRE_UNCHANGED;
  VYRE_TRY(flow_find_stops(ctx, host->view(module), &stops)); /* constants that are made are none */
  VYRE_TRY(known_replace(ctx, module, &conditional));
  VYRE_TRY(memory_make(&m, ctx, module));
  VYRE_TRY(loads_follow(&m, &stops, &known));
  VYRE_TRY(flow_make(&f, ctx, host->view(module), &stops));
  VYRE_TRY(solve(&s, &f, module, &known));
  changer c = {.s = &s, .host = host, .module = module, .v = f.v, .versions = true};
  VYRE_TRY(change(&c));
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
            "nothing else: dce takes out what is left over.",
    .requires_ = VYRE_VERSIONS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("cprop", "1.0", &cprop)
