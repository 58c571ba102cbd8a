/* Sparse conditional constants (Wegman and Zadeck 1991) with copies: a value is unknown yet, a literal or another row's, or its
 * own.
 *
 * Optimistic: what a loop carries is taken to be what came in until something else comes around.  A row's value may be that of a
 * row which does not dominate it; who uses that must ask.  The walk settles each row when it first comes to it.  Only what another
 * trip of a loop may change has users noted, which are asked again; each node changes at most a few times: O(rows + sources).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "solve.h"

#include "../state/lanes.h"
#include "branch.h"

/* Bits of a node's state; in the lowest, how often it changed.  VARIES: another trip of a loop may change it again. */
enum {
  WAITS = 128,
  VISITED = SOLVE_VISITED,
  MOVES = SOLVE_MOVES,
  VARIES = 16,
  DIFFERS = SOLVE_DIFFERS,
  CHANGES = 7,
  MOST_CHANGES = 4
};

/* A row or phi that looks at a node's value. */
typedef struct use {
  uint32_t user;
  uint32_t next; /* of the same node; 0: none */
} use;

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

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
    return lanes_whole(s->f->v, row);
  if (op != VYRE_OP_lane || !(VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM))
    return 0;
  return s->value[a] < s->f->rows ? lanes_scalar(v, s->value[a], v->imm[row]) : 0;
}

static const memory_load *
known_load(const solution *s, uint32_t row)
{
  return FLOW_AT(memory_load, s->loads->known, s->loads->of[row]);
}

/* The row whose value this one has, by its op and what its operands are; 0: none is known. */
static uint32_t
copied(const solution *s, uint32_t row)
{
  const vyre_view *v = s->f->v;
  switch (flow_op(s->f, row)) {
  case VYRE_OP_get:
    return s->f->of[row];
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
  const vyre_absorbs absorbs = (vyre_absorbs)v->op_infos[flow_op(s->f, row)].absorbs;
  if (absorbs == VYRE_ABSORBS_NONE || vyre_kind_is_float(VYRE_TYPE_KIND(type)))
    return 0;
  const uint64_t literal = vyre_absorbs_bits(absorbs, VYRE_TYPE_KIND(type));
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM)
    return vyre_row_imm(v, row) == literal ? solve_splat(s, type, literal) : 0;
  for (uint32_t i = 0; i < 2; i++) {
    bool all = given[i] != NULL;
    for (uint32_t lane = 0; all && lane < VYRE_TYPE_LANES(type); lane++)
      all = given[i][lane] == literal;
    if (all)
      return solve_splat(s, type, literal);
  }
  return 0;
}

/* What an integer or bool row is whose two operands are one value; 0: none.  The rules *-self (pm) say the same of one row. */
static uint32_t
of_equals(solution *s, uint32_t row)
{
  const vyre_view *v = s->f->v;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const vyre_self self = (vyre_self)v->op_infos[flow_op(s->f, row)].self;
  const bool of_floats = vyre_kind_is_float(VYRE_TYPE_KIND(type));
  if (self == VYRE_SELF_NONE || of_floats || v->b[row] == 0 || s->value[v->a[row]] != s->value[v->b[row]])
    return 0;
  return self == VYRE_SELF_LEFT ? s->value[v->a[row]] : solve_splat(s, type, self == VYRE_SELF_ONE);
}

/* Whether the row folds although each of its operands is its own value: they are one, or a literal that decides alone. */
static bool
folds_alone(const vyre_view *v, uint32_t row)
{
  return v->a[row] == v->b[row] ||
         ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0 && v->op_infos[VYRE_ROW_OP(v->op[row])].absorbs != VYRE_ABSORBS_NONE);
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
    const uint32_t value = s->value[operands[i]];
    if (operands[i] == 0 || VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[operands[i]])) == VYRE_TUPLE)
      continue;
    if (value == 0)
      return 0; /* not before it is known */
    if (value >= s->literals) {
      given[i] = solve_literal_of(s, value)->lanes;
      some = true;
    } else {
      whole = false;
    }
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
    return s->value[s->f->of[row]];
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
  const flow *f = s->f;
  uint32_t value = 0, next;
  for (uint32_t i = FLOW_AT(flow_block, f->blocks, flow_phi_of(f, node)->block)->in; i; i = next) {
    const flow_edge *edge = FLOW_AT(flow_edge, f->edges, i);
    const uint32_t source = edge->taken ? s->value[flow_source(f, edge, node)] : 0;
    next = edge->next_in;
    if (source && value && value != source)
      return node;
    value = source ? source : value;
  }
  return value;
}

/* ---- again --------------------------------------------------------------------------------------------------------------- */

/* Sets, gets and phis come before all others, so that what was one value in two operands changes in both before that is asked. */
static void
wait_for(solution *s, uint32_t node)
{
  const bool is_copy = node >= s->f->rows || flow_op(s->f, node) == VYRE_OP_set || flow_op(s->f, node) == VYRE_OP_get;
  uint32_t *waiting = s->state[node] & WAITS ? NULL : flow_append(s->f, is_copy ? &s->copies : &s->others);
  if (!waiting)
    return;
  *waiting = node;
  s->state[node] |= WAITS;
}

/* 0: none waits. */
static uint32_t
next_waiting(solution *s)
{
  flow_list *waiting = s->copies.count ? &s->copies : &s->others;
  return waiting->count ? *FLOW_AT(uint32_t, *waiting, --waiting->count) : 0;
}

static uint32_t
node_value(solution *s, uint32_t node)
{
  return node < s->f->rows ? row_value(s, node) : phi_value(s, node);
}

/* Asks a node again.  Who uses it and was not visited yet will be, when control comes there. */
static void
update(solution *s, uint32_t node)
{
  uint32_t value = s->value[node] == node ? node : node_value(s, node);
  if (value == s->value[node])
    return;
  if ((s->state[node] & CHANGES) >= MOST_CHANGES)
    value = node;
  s->state[node] = (uint8_t)(s->state[node] | DIFFERS) + 1;
  s->value[node] = value;
  for (uint32_t i = s->users ? s->users[node] : 0; i; i = FLOW_AT(use, s->uses, i)->next) {
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
  e->taken = true;
  if (to->place > s->place) { /* the walk comes there yet */
    to->reached = true;
    return;
  }
  for (uint32_t i = 0; i < to->phis && to->reached; i++)
    wait_for(s, s->f->rows + to->phi_first + i);
  uint32_t *fresh = to->reached ? NULL : flow_append(s->f, &s->fresh);
  if (fresh)
    *fresh = e->to;
  to->reached = true;
}

static void
leave_block(solution *s, uint32_t block)
{
  const flow_block *b = FLOW_AT(flow_block, s->f->blocks, block);
  const uint32_t row = b->decides;
  const bool is_head = row && flow_op(s->f, row) == VYRE_OP_for && s->f->of[row] != block;
  const bool decides = row && (is_head || flow_op(s->f, row) != VYRE_OP_for);
  uint32_t label = 0;
  const bool known = decides && branch_label(s, row, &label);
  for (uint32_t edge = b->out; edge; edge = FLOW_AT(flow_edge, s->f->edges, edge)->next_out)
    if (!known || FLOW_AT(flow_edge, s->f->edges, edge)->label == label)
      take(s, edge);
}

/* ---- the first visit ----------------------------------------------------------------------------------------------------- */

/* Whether the row's value may turn out to be another's, or a literal: what sees a variable or memory, what is made of such, or of
 * literals. */
static bool
may_move(const solution *s, uint32_t row, uint32_t op, bool moves)
{
  const vyre_view *v = s->f->v;
  const uint32_t a = v->a[row];
  if (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE))
    return false;
  switch (op) {
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
    return moves || flow_op(s->f, a) == VYRE_OP_const || lanes_whole(s->f->v, row) != 0;
  default:
    return v->op_infos[op].fold == VYRE_FOLD_EXACT && (moves || flow_op(s->f, a) == VYRE_OP_const);
  }
}

/* Room for lists of users: few programs have loops. */
static bool
take_users(solution *s)
{
  s->users = s->f->ctx->host->alloc(s->f->ctx, sizeof(uint32_t) * s->literals);
  s->f->out_of_memory |= !s->users;
  return s->users && flow_append(s->f, &s->uses);
}

/* Of what changes no more, and of what has changed before anybody looks at it, nobody needs to know who does. */
static void
note_use(solution *s, uint32_t of, uint32_t user)
{
  if ((s->state[of] & (VISITED | VARIES)) == VISITED)
    return;
  if (!s->users && !take_users(s))
    return;
  use *u = flow_append(s->f, &s->uses);
  if (!u)
    return;
  *u = (use){user, s->users[of]};
  s->users[of] = s->uses.count - 1;
}

/* What a row's value depends on: its operands; of a load what was stored, of a part that part. */
static void
note_uses(solution *s, uint32_t row, uint32_t copy)
{
  const vyre_view *v = s->f->v;
  const uint32_t of[4] = {v->a[row], v->b[row], v->c[row], copy};
  for (uint32_t i = 0; i < 4; i++)
    if (of[i])
      note_use(s, of[i], row);
}

/* Ops whose rows may be another's value though nothing that they are made of is. */
static const bool is_special[VYRE_OP__ROOM] = {
    [VYRE_OP_const] = true,  [VYRE_OP_var] = true,  [VYRE_OP_get] = true,  [VYRE_OP_load] = true,   [VYRE_OP_part] = true,
    [VYRE_OP_select] = true, [VYRE_OP_lane] = true, [VYRE_OP_join] = true, [VYRE_OP_insert] = true, [VYRE_OP_shuffle] = true};

/* The value of a row that does not move. */
static uint32_t
own_value(solution *s, uint32_t row, uint32_t op)
{
  const vyre_view *v = s->f->v;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  if (op == VYRE_OP_const)
    return solve_splat(s, type, vyre_row_imm(v, row));
  return op == VYRE_OP_var && VYRE_TYPE_KIND(type) <= VYRE_F64 ? solve_splat(s, type, 0) : row; /* at the start */
}

/* `state` is that of its operands. */
static void
visit_row(solution *s, uint32_t row, uint32_t state)
{
  const vyre_view *v = s->f->v;
  const uint32_t op = flow_op(s->f, row);
  uint32_t copy = 0;
  if (may_move(s, row, op, (state & MOVES) != 0)) {
    if (op == VYRE_OP_load || op == VYRE_OP_part)
      copy = copied(s, row);
    state |= MOVES | s->state[copy];
    s->value[row] = row_value(s, row);
  } else {
    s->value[row] = own_value(s, row, op);
    state &= (v->op_infos[op].flags & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0 ? VARIES : 0; /* it decides where control goes */
  }
  if (state & VARIES)
    note_uses(s, row, copy);
  s->state[row] = (uint8_t)(VISITED | (state & (MOVES | VARIES)) | (s->value[row] != row ? DIFFERS : 0)) + 1;
}

/* A row of which nothing but its operands' values could make another's, and these are their own. */
static void
visit_own(solution *s, uint32_t row, uint32_t state)
{
  const vyre_view *v = s->f->v;
  const vyre_op_info *info = &v->op_infos[flow_op(s->f, row)];
  if (info->fold != VYRE_FOLD_EXACT || (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) != 0)
    state &= (info->flags & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0 ? VARIES : 0;
  if (state & VARIES)
    note_uses(s, row, 0);
  s->value[row] = row;
  s->state[row] = (uint8_t)(VISITED | (state & (MOVES | VARIES))) + 1;
}

/* A set or get: it has the value of the other node. */
static void
visit_copy(solution *s, uint32_t row, uint32_t of)
{
  const uint32_t moves = flow_op(s->f, row) == VYRE_OP_get ? MOVES : 0;
  if (s->state[of] & VARIES)
    note_use(s, of, row);
  s->value[row] = s->value[of];
  s->state[row] = (uint8_t)(VISITED | DIFFERS | moves | (s->state[of] & (MOVES | VARIES))) + 1;
}

/* Rows that follow each other, up to `last` or the end of their region. */
static void
visit_rows(solution *s, uint32_t row, uint32_t last)
{
  const vyre_view *v = s->f->v;
  for (; row; row = row == last ? 0 : v->next[row]) {
    const uint32_t state = s->state[v->a[row]] | s->state[v->b[row]] | s->state[v->c[row]], op = v->op[row];
    if (VYRE_ROW_OP(op) == VYRE_OP_set) {
      visit_copy(s, row, v->b[row]);
    } else if (VYRE_ROW_OP(op) == VYRE_OP_get && (VYRE_ROW_FLAGS(op) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) == 0) {
      visit_copy(s, row, s->f->of[row]);
    } else if ((state & DIFFERS) != 0 || is_special[VYRE_ROW_OP(op)] || ((state & MOVES) != 0 && folds_alone(v, row))) {
      visit_row(s, row, state);
    } else if (state & MOVES) {
      visit_own(s, row, state);
    } else {
      s->value[row] = row;
      s->state[row] = VISITED;
    }
  }
}

static void
visit_phi(solution *s, uint32_t phi, const flow_block *b)
{
  s->value[phi] = phi_value(s, phi);
  s->state[phi] = (s->value[phi] != phi ? VISITED | MOVES | DIFFERS : VISITED | MOVES) + 1;
  if (!b->repeats)
    return;
  s->state[phi] |= VARIES;
  for (uint32_t i = b->in; i; i = FLOW_AT(flow_edge, s->f->edges, i)->next_in)
    note_use(s, flow_source(s->f, FLOW_AT(flow_edge, s->f->edges, i), phi), phi);
}

static void
visit_block(solution *s, uint32_t block)
{
  const flow_block *b = FLOW_AT(flow_block, s->f->blocks, block);
  const vyre_view *v = s->f->v;
  const uint32_t region = b->begin && v->prev[b->begin] == 0 ? v->parent[b->begin] : 0;
  for (uint32_t i = 0; i < b->phis; i++)
    visit_phi(s, s->f->rows + b->phi_first + i, b);
  visit_rows(s, region, region); /* an index, perhaps */
  visit_rows(s, b->begin, b->decides);
  leave_block(s, block);
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------ */

static void
visit_again(solution *s, uint32_t node)
{
  s->state[node] &= (uint8_t)~WAITS;
  if (s->state[node] & MOVES)
    update(s, node);
  if (node >= s->f->rows || (vyre_op_flags_of(s->f->v, node) & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) == 0)
    return;
  leave_block(s, s->f->of[node]);
  if (flow_op(s->f, node) == VYRE_OP_for)
    leave_block(s, flow_head_of(s->f, node));
}

static bool
take_memory(solution *s)
{
  const vyre_host *host = s->f->ctx->host;
  vyre_pass_ctx *ctx = s->f->ctx;
  const size_t nodes = (size_t)s->literals, bytes = nodes * sizeof(uint32_t);
  s->uses.size = sizeof(use);
  s->copies.size = s->others.size = s->fresh.size = sizeof(uint32_t);
  s->value = host->alloc(ctx, bytes);
  s->state = host->alloc(ctx, nodes);
  return s->value && s->state && solve_take_literals(s);
}

/* Blocks in program order, so that most nodes are looked at once: what comes to them is known but for what a loop carries around.
 */
static void
walk(solution *s)
{
  const flow *f = s->f;
  for (uint32_t program = f->v->first[0]; program; program = f->v->next[program])
    FLOW_AT(flow_block, f->blocks, f->of[program])->reached = true;
  for (s->place = 1; s->place < f->order.count && !f->out_of_memory; s->place++) {
    const uint32_t block = *FLOW_AT(uint32_t, f->order, s->place);
    if (FLOW_AT(flow_block, f->blocks, block)->reached)
      visit_block(s, block);
    for (uint32_t node; ((node = next_waiting(s)) != 0 || s->fresh.count) && !f->out_of_memory;)
      if (node)
        visit_again(s, node);
      else
        visit_block(s, *FLOW_AT(uint32_t, s->fresh, --s->fresh.count));
  }
}

vyre_status
solve(solution *s, flow *f, vyre_module *module, const loads *known)
{
  *s = (solution){.f = f, .module = module, .loads = known, .literals = f->rows + f->phis.count};
  if (take_memory(s))
    walk(s);
  else
    f->out_of_memory = true;
  return f->out_of_memory ? f->ctx->host->out_of_memory(f->ctx) : VYRE_OK;
}
