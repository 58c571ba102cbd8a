/* Sparse conditional constants (Wegman and Zadeck 1991) with copies: a value is unknown yet, a literal or another row's, or its
 * own.
 *
 * Optimistic: what a loop carries is taken to be what came in until something else comes around.  A row's value may be that of a
 * row which does not dominate it; who uses that must ask.  Each node changes at most a few times, and then only its users are asked
 * again: O(rows + sources).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "solve.h"

#include "../state/lanes.h"

/* Bits of a node's state; in the lowest, how often it changed. */
enum { WAITS = 128, VISITED = 64, MOVES = SOLVE_MOVES, CHANGES = 7, MOST_CHANGES = 4 };

/* A row or phi that looks at a node's value. */
typedef struct use {
  uint32_t of, user;
  uint32_t next; /* of the same node; 0: none */
} use;

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

/* The scalar that lane k of a vector's row is, where the row was put together of scalars; 0: not known. */
static uint32_t
scalar_at(const flow *f, uint32_t row, uint32_t k)
{
  if (row >= f->rows)
    return 0;
  const uint32_t source = lanes_source(f->v, row, &k);
  return lanes_of(f->v, source) == 1 ? source : 0;
}

/* The vector that a join, insert or shuffle puts together again from its own lanes; 0: it is none. */
static uint32_t
whole_of(const flow *f, uint32_t row)
{
  const vyre_view *v = f->v;
  uint32_t whole = 0;
  for (uint32_t k = 0; k < lanes_of(v, row); k++) {
    uint32_t at = k, source = lanes_source(v, row, &at);
    if (lanes_of(v, source) == 1)
      source = lanes_before(v, source, &at);
    if (source == 0 || at != k || (k > 0 && source != whole))
      return 0;
    whole = source;
  }
  return whole != row && VYRE_ROW_TYPE(v->op[whole]) == VYRE_ROW_TYPE(v->op[row]) ? whole : 0;
}

/* The operand of a tuple row that a `part` is; 0: it is none. */
static uint32_t
part_of(const flow *f, uint32_t row)
{
  const vyre_view *v = f->v;
  uint32_t tuple = v->a[row], part = v->imm[row];
  for (; flow_op(f, tuple) == VYRE_OP_tuple; tuple = v->c[tuple], part -= 2)
    if (part < 2 || VYRE_TUPLE_COUNT(v->imm[tuple]) <= 3)
      return part == 0 ? v->a[tuple] : part == 1 ? v->b[tuple] : v->c[tuple];
  return 0;
}

/* The row that a lane or what puts lanes together is, as its operand stands there now.  That one's value is not looked at: nobody
 * would say when it changes.  0: none. */
static uint32_t
put_together(const solution *s, uint32_t row)
{
  const vyre_view *v = s->f->v;
  const uint32_t a = v->a[row];
  const uint32_t op = flow_op(s->f, row);
  if (op == VYRE_OP_join || op == VYRE_OP_insert || op == VYRE_OP_shuffle)
    return whole_of(s->f, row);
  if (op != VYRE_OP_lane || !(VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) || v->imm[row] >= VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[a])))
    return 0;
  return scalar_at(s->f, s->value[a], v->imm[row]);
}

static const memory_load *
known_load(const solution *s, uint32_t row)
{
  return FLOW_AT(memory_load, s->loads->loads, s->loads->of[row]);
}

/* The row whose value this one has, by its op and what its operands are; 0: none is known. */
static uint32_t
copied(const solution *s, uint32_t row)
{
  const vyre_view *v = s->f->v;
  switch (flow_op(s->f, row)) {
  case VYRE_OP_get:
    return s->f->def[row];
  case VYRE_OP_load:
    return known_load(s, row)->row;
  case VYRE_OP_part:
    return part_of(s->f, row);
  case VYRE_OP_select: {
    const solve_literal *condition = solve_literal_of(s, s->value[v->a[row]]);
    if (s->value[v->b[row]] == s->value[v->c[row]])
      return v->b[row];
    if (!condition || VYRE_TYPE_LANES(condition->type) > 1)
      return 0;
    return condition->lanes[0] ? v->b[row] : v->c[row];
  }
  default:
    return 0;
  }
}

/* A literal that the row is whatever its other operand may be: and with 0, or with all ones, an integer times 0; 0: none. */
static uint32_t
absorbed(solution *s, uint32_t row, const uint64_t *const given[3])
{
  const vyre_view *v = s->f->v;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const uint32_t op = flow_op(s->f, row);
  const uint64_t ones = op == VYRE_OP_or ? UINT64_MAX >> (64 - vyre_kind_bits(VYRE_TYPE_KIND(type))) : 0;
  if (op != VYRE_OP_and && op != VYRE_OP_or && (op != VYRE_OP_mul || !vyre_kind_is_int(VYRE_TYPE_KIND(type))))
    return 0;
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM)
    return vyre_row_imm(v, row) == ones ? solve_splat(s, type, ones) : 0;
  for (uint32_t i = 0; i < 2; i++) {
    bool all = given[i] != NULL;
    for (uint32_t lane = 0; all && lane < VYRE_TYPE_LANES(type); lane++)
      all = given[i][lane] == ones;
    if (all)
      return solve_splat(s, type, ones);
  }
  return 0;
}

/* What an integer or bool row is whose two operands are one value; 0: none.  The rules *-self (pm) say the same of one row. */
static uint32_t
of_equals(solution *s, uint32_t row)
{
  const vyre_view *v = s->f->v;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  if (v->b[row] == 0 || s->value[v->a[row]] != s->value[v->b[row]])
    return 0;
  switch (flow_op(s->f, row)) {
  case VYRE_OP_sub:
    return vyre_kind_is_int(VYRE_TYPE_KIND(type)) ? solve_splat(s, type, 0) : 0;
  case VYRE_OP_xor:
  case VYRE_OP_usubsat:
  case VYRE_OP_ssubsat:
  case VYRE_OP_uabsdiff:
  case VYRE_OP_sabsdiff:
  case VYRE_OP_umod:
  case VYRE_OP_srem:
  case VYRE_OP_smod:
  case VYRE_OP_ne:
  case VYRE_OP_ult:
  case VYRE_OP_ugt:
  case VYRE_OP_slt:
  case VYRE_OP_sgt:
    return solve_splat(s, type, 0);
  case VYRE_OP_eq:
  case VYRE_OP_ule:
  case VYRE_OP_uge:
  case VYRE_OP_sle:
  case VYRE_OP_sge:
    return solve_splat(s, type, 1);
  case VYRE_OP_and:
  case VYRE_OP_or:
  case VYRE_OP_umin:
  case VYRE_OP_umax:
  case VYRE_OP_smin:
  case VYRE_OP_smax:
    return s->value[v->a[row]];
  default:
    return 0;
  }
}

static uint32_t
folded(solution *s, uint32_t row)
{
  const vyre_view *v = s->f->v;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  const uint64_t *given[3] = {NULL, NULL, NULL};
  bool some = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  bool whole = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) != VYRE_TUPLE;
  for (uint32_t i = 0; i < 3; i++) {
    const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[operands[i]]));
    if (operands[i] == 0 || kind == VYRE_TUPLE)
      continue;
    const uint32_t value = s->value[operands[i]];
    const solve_literal *l = solve_literal_of(s, value);
    if (value == 0)
      return 0; /* not before it is known */
    given[i] = l ? l->lanes : NULL;
    whole &= l != NULL;
    some |= l != NULL;
  }
  const uint32_t equals = of_equals(s, row);
  if (equals || !some)
    return equals ? equals : row;
  solve_literal result = {.type = VYRE_ROW_TYPE(v->op[row])};
  if (whole && s->f->ctx->host->fold_given(s->module, row, given, result.lanes))
    return solve_literal_value(s, &result);
  const uint32_t known = absorbed(s, row, given);
  return known ? known : row;
}

/* The value of a row that has that of another, by what stands above. */
static uint32_t
copy_value(solution *s, uint32_t row)
{
  const uint32_t of = copied(s, row), same = of ? 0 : put_together(s, row);
  if (of)
    return s->value[of];
  if (same)
    return flow_op(s->f, same) == VYRE_OP_const ? s->value[same] : same;
  return s->f->v->op_infos[flow_op(s->f, row)].fold == VYRE_FOLD_EXACT ? folded(s, row) : row;
}

static uint32_t
row_value(solution *s, uint32_t row)
{
  switch (flow_op(s->f, row)) {
  case VYRE_OP_set:
    return s->value[s->f->v->b[row]];
  case VYRE_OP_load:
    if (known_load(s, row)->is_literal)
      return solve_splat(s, VYRE_ROW_TYPE(s->f->v->op[row]), known_load(s, row)->bits);
    return copy_value(s, row);
  case VYRE_OP_get:
  case VYRE_OP_part:
  case VYRE_OP_select:
  case VYRE_OP_lane:
  case VYRE_OP_join:
  case VYRE_OP_insert:
  case VYRE_OP_shuffle:
    return copy_value(s, row);
  default:
    return folded(s, row);
  }
}

/* What all sources agree on that come over edges which are taken. */
static uint32_t
phi_value(const solution *s, uint32_t node)
{
  uint32_t value = 0;
  for (uint32_t i = flow_phi_of(s->f, node)->source; i; i = FLOW_AT(flow_source, s->f->sources, i)->next) {
    const flow_source *source = FLOW_AT(flow_source, s->f->sources, i);
    if (!FLOW_AT(flow_edge, s->f->edges, source->edge)->taken || s->value[source->node] == 0)
      continue;
    if (value && value != s->value[source->node])
      return node;
    value = s->value[source->node];
  }
  return value;
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------ */

/* Sets, gets and phis wait in front, all others at the end of one array: they come first, so that what was one value in two
 * operands changes in both before that is asked. */
static void
wait_for(solution *s, uint32_t node)
{
  if (s->state[node] & WAITS)
    return;
  s->state[node] |= WAITS;
  if (node >= s->f->rows || flow_op(s->f, node) == VYRE_OP_set || flow_op(s->f, node) == VYRE_OP_get)
    s->waiting[s->copies_waiting++] = node;
  else
    s->waiting[s->literals - ++s->others_waiting] = node;
}

/* 0: none waits. */
static uint32_t
next_waiting(solution *s)
{
  if (s->copies_waiting)
    return s->waiting[--s->copies_waiting];
  return s->others_waiting ? s->waiting[s->literals - s->others_waiting--] : 0;
}

/* Who uses the node and was not visited yet will be, when control comes there. */
static void
update(solution *s, uint32_t node)
{
  const bool is_row = node < s->f->rows;
  uint32_t value = is_row ? row_value(s, node) : phi_value(s, node);
  if (value == s->value[node] || s->value[node] == node)
    return;
  if ((s->state[node] & CHANGES) >= MOST_CHANGES)
    value = node;
  s->state[node]++;
  s->value[node] = value;
  for (uint32_t i = s->users[node]; i; i = FLOW_AT(use, s->uses, i)->next) {
    const uint32_t user = FLOW_AT(use, s->uses, i)->user;
    if (s->state[user] & VISITED)
      wait_for(s, user);
  }
}

static void
take(solution *s, uint32_t edge)
{
  flow_edge *e = FLOW_AT(flow_edge, s->f->edges, edge);
  flow_block *to = FLOW_AT(flow_block, s->f->blocks, e->to);
  if (e->taken)
    return;
  e->taken = 1;
  if (to->place > s->place) { /* the walk comes there yet */
    to->reached = 1;
    return;
  }
  for (uint32_t i = 0; i < to->phis && to->reached; i++)
    wait_for(s, s->f->rows + to->phi_first + i);
  if (!to->reached)
    s->fresh[s->fresh_count++] = e->to;
  to->reached = 1;
}

/* Whether the case has that label. */
static bool
has_label(const flow *f, uint32_t labels, uint64_t selector)
{
  const vyre_view *v = f->v;
  for (; flow_op(f, labels) == VYRE_OP_tuple; labels = v->c[labels]) {
    if (vyre_row_imm(v, v->a[labels]) == selector || vyre_row_imm(v, v->b[labels]) == selector)
      return true;
    if (VYRE_TUPLE_COUNT(v->imm[labels]) < 3)
      return false;
  }
  return labels && vyre_row_imm(v, labels) == selector;
}

/* The region that a switch enters; the switch: none. */
static uint32_t
entered(const flow *f, uint32_t row, uint64_t selector)
{
  const vyre_view *v = f->v;
  uint32_t fallback = row;
  for (uint32_t region = v->first[row]; region; region = v->next[region]) {
    if (has_label(f, v->a[region], selector))
      return region;
    if (v->imm[region] & VYRE_CASE_DEFAULT || v->a[region] == 0)
      fallback = region;
  }
  return fallback;
}

static bool
is_less(const solve_literal *from, const solve_literal *to)
{
  const vyre_kind kind = VYRE_TYPE_KIND(from->type);
  const uint64_t bias = vyre_kind_is_signed(kind) ? UINT64_C(1) << (vyre_kind_bits(kind) - 1) : 0; /* signed order as unsigned */
  return (from->lanes[0] ^ bias) < (to->lanes[0] ^ bias);
}

/* The label of the one edge that is taken from a block that this row ends.  False: any may be. */
static bool
known_label(const solution *s, uint32_t row, uint32_t *out)
{
  const vyre_view *v = s->f->v;
  const uint32_t a = s->value[v->a[row]], b = s->value[v->b[row]];
  const solve_literal *left = solve_literal_of(s, a), *right = solve_literal_of(s, b);
  switch (flow_op(s->f, row)) {
  case VYRE_OP_if:
    *out = left && left->lanes[0] ? v->first[row] : v->last[row];
    return left != NULL;
  case VYRE_OP_switch:
    *out = left ? entered(s->f, row, left->lanes[0]) : 0;
    return left != NULL;
  case VYRE_OP_breakif:
    *out = left && left->lanes[0] ? row : 0;
    return left != NULL;
  case VYRE_OP_for: /* no trip at all: from a constant that is not less; the index is not known behind the first */
    *out = row;
    return left && right && !is_less(left, right);
  default:
    return false;
  }
}

static void
leave_block(solution *s, uint32_t block)
{
  const flow_block *b = FLOW_AT(flow_block, s->f->blocks, block);
  const uint32_t row = b->decides;
  const bool is_head = row && flow_op(s->f, row) == VYRE_OP_for && s->f->block[row] != block;
  const bool decides = row && (is_head || flow_op(s->f, row) != VYRE_OP_for);
  uint32_t label = 0;
  const bool known = decides && known_label(s, row, &label);
  for (uint32_t edge = b->out; edge; edge = FLOW_AT(flow_edge, s->f->edges, edge)->next)
    if (!known || FLOW_AT(flow_edge, s->f->edges, edge)->label == label)
      take(s, edge);
}

static void
visit_block(solution *s, uint32_t block)
{
  const flow_block *b = FLOW_AT(flow_block, s->f->blocks, block);
  for (uint32_t i = 0, phi = s->f->rows + b->phi_first; i < b->phis; i++, phi++) {
    update(s, phi);
    s->state[phi] |= VISITED;
  }
  for (uint32_t row = b->begin; row; row = s->f->v->next[row]) {
    if (s->state[row] & MOVES)
      update(s, row);
    s->state[row] |= VISITED;
    if (row == b->decides)
      break;
  }
  leave_block(s, block);
}

static void
visit_node(solution *s, uint32_t node)
{
  s->state[node] &= (uint8_t)~WAITS;
  const uint32_t block = node < s->f->rows ? s->f->block[node] : flow_phi_of(s->f, node)->block;
  if (!FLOW_AT(flow_block, s->f->blocks, block)->reached)
    return;
  if (s->state[node] & MOVES)
    update(s, node);
  if (node >= s->f->rows || (vyre_op_flags_of(s->f->v, node) & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) == 0)
    return;
  leave_block(s, block);
  if (flow_op(s->f, node) == VYRE_OP_for)
    leave_block(s, flow_head_of(s->f, node));
}

/* ---- setting up ---------------------------------------------------------------------------------------------------------- */

/* Whether the row's value may turn out to be another's, or a literal: what sees a variable or memory, what is made of such, or of
 * literals. */
static bool
may_move(const solution *s, uint32_t row, uint32_t op, bool moves)
{
  const vyre_view *v = s->f->v;
  const uint32_t a = v->a[row];
  if (op == VYRE_OP_set)
    return (s->state[v->b[row]] & MOVES) != 0;
  if (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE))
    return false;
  switch (op) {
  case VYRE_OP_get:
    return true;
  case VYRE_OP_load:
    return s->loads->of[row] != 0;
  case VYRE_OP_part:
    return part_of(s->f, row) != 0;
  case VYRE_OP_select:
    return moves || v->b[row] == v->c[row] || flow_op(s->f, a) == VYRE_OP_const;
  case VYRE_OP_lane:
    return moves || flow_op(s->f, a) == VYRE_OP_const || put_together(s, row) != 0;
  case VYRE_OP_join:
  case VYRE_OP_insert:
  case VYRE_OP_shuffle:
    return moves || flow_op(s->f, a) == VYRE_OP_const || whole_of(s->f, row) != 0;
  default:
    return v->op_infos[op].fold == VYRE_FOLD_EXACT && (moves || flow_op(s->f, a) == VYRE_OP_const);
  }
}

static void
note_use(solution *s, uint32_t of, uint32_t user)
{
  if ((s->state[of] & MOVES) == 0)
    return;
  use *u = flow_append(s->f, &s->uses);
  if (u)
    *u = (use){of, user, 0};
}

/* What a row's value depends on: its operands; of a get what it sees, of a load what was stored, of a part that part. */
static void
note_uses(solution *s, uint32_t row, uint32_t op)
{
  const vyre_view *v = s->f->v;
  note_use(s, v->a[row], row);
  note_use(s, v->b[row], row);
  note_use(s, v->c[row], row);
  if (op == VYRE_OP_get || op == VYRE_OP_load || op == VYRE_OP_part)
    note_use(s, copied(s, row), row);
}

/* Values that are known beforehand, and stay; and who looks at the others. */
static void
settle_row(solution *s, uint32_t row)
{
  const vyre_view *v = s->f->v;
  const uint32_t op = flow_op(s->f, row);
  const bool moves = ((s->state[v->a[row]] | s->state[v->b[row]] | s->state[v->c[row]]) & MOVES) != 0;
  if (may_move(s, row, op, moves)) {
    s->state[row] = MOVES;
    note_uses(s, row, op);
    return;
  }
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  s->value[row] = row;
  if (op == VYRE_OP_var && VYRE_TYPE_KIND(type) <= VYRE_F64)
    s->value[row] = solve_splat(s, type, 0); /* what it has at the start */
  else if (op == VYRE_OP_set)
    s->value[row] = s->value[v->b[row]];
  if (moves && (v->op_infos[op].flags & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0)
    note_uses(s, row, op); /* it decides where control goes */
}

static void
settle(solution *s)
{
  const flow *f = s->f;
  for (uint32_t row = 1; row < f->rows; row++) /* those of new literals stand behind all others */
    if (flow_op(f, row) == VYRE_OP_const)
      s->value[row] = solve_splat(s, VYRE_ROW_TYPE(f->v->op[row]), vyre_row_imm(f->v, row));
  for (uint32_t phi = f->rows; phi < s->literals; phi++)
    s->state[phi] = MOVES;
  for (uint32_t row = 1; row < f->rows; row++)
    if (flow_op(f, row) != VYRE_OP_const)
      settle_row(s, row);
  for (uint32_t phi = 1; phi < f->phis.count; phi++)
    for (uint32_t i = FLOW_AT(flow_phi, f->phis, phi)->source; i; i = FLOW_AT(flow_source, f->sources, i)->next)
      note_use(s, FLOW_AT(flow_source, f->sources, i)->node, f->rows + phi);
  for (uint32_t i = s->uses.count; i-- > 1;) { /* lists in the order in which they were noted */
    use *u = FLOW_AT(use, s->uses, i);
    u->next = s->users[u->of];
    s->users[u->of] = i;
  }
}

static bool
take_memory(solution *s)
{
  const vyre_host *host = s->f->ctx->host;
  vyre_pass_ctx *ctx = s->f->ctx;
  const size_t nodes = (size_t)s->literals, bytes = nodes * sizeof(uint32_t);
  s->value = host->alloc(ctx, bytes);
  s->users = host->alloc(ctx, bytes);
  s->state = host->alloc(ctx, nodes);
  s->waiting = host->alloc(ctx, bytes);
  s->fresh = host->alloc(ctx, sizeof(uint32_t) * s->f->blocks.count);
  return s->value && s->users && s->state && s->waiting && s->fresh && flow_append(s->f, &s->uses) && solve_take_literals(s);
}

/* Blocks in program order, so that most nodes are looked at once: what comes to them is known but for what a loop carries around.
 */
static void
walk(solution *s)
{
  const flow *f = s->f;
  for (uint32_t program = f->v->first[0]; program; program = f->v->next[program])
    FLOW_AT(flow_block, f->blocks, f->block[program])->reached = 1;
  for (s->place = 1; s->place < f->order.count && !f->out_of_memory; s->place++) {
    const uint32_t block = *FLOW_AT(uint32_t, f->order, s->place);
    if (FLOW_AT(flow_block, f->blocks, block)->reached)
      visit_block(s, block);
    for (uint32_t node; ((node = next_waiting(s)) != 0 || s->fresh_count) && !f->out_of_memory;)
      if (node)
        visit_node(s, node);
      else
        visit_block(s, s->fresh[--s->fresh_count]);
  }
}

vyre_status
solve(solution *s, flow *f, vyre_module *module, const memory_loads *loads)
{
  *s = (solution){.f = f, .module = module, .loads = loads, .literals = f->rows + f->phis.count};
  s->uses.size = sizeof(use);
  if (take_memory(s))
    settle(s);
  else
    f->out_of_memory = true;
  if (!f->out_of_memory)
    walk(s);
  return f->out_of_memory ? f->ctx->host->out_of_memory(f->ctx) : VYRE_OK;
}
