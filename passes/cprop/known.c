/* Conditional constants.  In the then region of `if %c`, %c is true, and so are both operands of an `and`.  After `if %c {
 * return }`, %c is false.  Where `eq %x, 4` is true, %x is 4.  In a case with a single label, the selector is the label. This
 * does not hold for floats: a value equal to 0.0 may be -0.0.
 *
 * A comparison is also kept as a fact: the outcomes (less, equal, greater, unordered) that its operands can have.  Another
 * comparison of the same two rows, or of the same row with another literal, may follow from the fact.  A `for` gives the fact
 * that its index is less than its bound.
 *
 * One walk in program order.  The facts of a region are dropped at its end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

enum {
  LESS = VYRE_COMPARES_LESS,
  EQUAL = VYRE_COMPARES_EQUAL,
  GREATER = VYRE_COMPARES_GREATER,
  UNORDERED = VYRE_COMPARES_UNORDERED,
  ALL_INT = LESS | EQUAL | GREATER,
  ALL_FLOAT = ALL_INT | UNORDERED
};
enum { MOST_FACTS = 16, DEEPEST = 32 };

/* A row's known literal.  `before` is the row's entry in the enclosing scope, 0 if there is none. */
typedef struct literal {
  uint32_t row, before;
  vyre_type type;
  uint64_t bits;
  uint32_t constant; /* its const row, 0 until a use needs it */
} literal;

/* The possible outcomes of comparing `a` with `b`, or with the literal `bits` if b is 0. */
typedef struct fact {
  uint32_t a, b, before;
  uint32_t outcomes, order; /* bits of vyre_compares */
  uint64_t bits;
} fact;

typedef struct frame {
  uint32_t row, last;
  uint32_t literals, facts; /* lengths of the lists when the region was opened */
} frame;

typedef struct walk {
  vyre_pass_ctx *ctx;
  bool out_of_memory;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *literal_of, *fact_of; /* by row, its newest entry in `literals` or `facts`, 0 if there is none */
  bool *ends;                     /* by region, whether control never reaches its end */
  list literals, facts, frames;
  uint32_t rows; /* at the start of the walk; constants added later have no elements */
  uint32_t program;
  uint64_t changed;
} walk;

static void *
append(walk *w, list *l)
{
  void *new = list_append(w->ctx, l);
  w->out_of_memory |= !new;
  return new;
}

/* ---- facts --------------------------------------------------------------------------------------------------------------- */

static uint32_t
mirrored(uint32_t outcomes)
{
  return (outcomes & (EQUAL | UNORDERED)) | ((outcomes & LESS) ? GREATER : 0) | ((outcomes & GREATER) ? LESS : 0);
}

/* Reads the row as a comparison of scalars, with the earlier operand on the left.  Returns false if it is not such a comparison,
 * or compares literals. */
static bool
read_compare(const walk *w, uint32_t row, fact *out)
{
  const vyre_view *v = w->v;
  const uint32_t a = v->a[row], b = v->b[row], compares = vyre_op_info_of(v, VYRE_ROW_OP(v->op[row]))->compares;
  *out = (fact){.a = a, .b = b, .outcomes = VYRE_COMPARES_OUTCOMES(compares), .order = VYRE_COMPARES_ORDER(compares)};
  if (compares == 0 || VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[row])) > 1 || !vyre_row_is_pure(v, row))
    return false;
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) {
    out->bits = vyre_row_imm(v, row);
  } else if (a > b) {
    *out = (fact){b, a, 0, mirrored(out->outcomes), out->order, 0};
  }
  return out->a < w->rows && (out->b || VYRE_ROW_OP(v->op[out->a]) != VYRE_OP_const);
}

static uint32_t
all_outcomes(uint32_t order)
{
  return order == VYRE_COMPARES_FLOAT ? ALL_FLOAT : ALL_INT;
}

static void
add_fact(walk *w, fact new)
{
  fact *f = append(w, &w->facts);
  if (!f)
    return;
  *f = new;
  f->before = w->fact_of[new.a];
  w->fact_of[new.a] = w->facts.count - 1;
}

/* Returns the possible outcomes of comparing a row with the literal `to`, given those of comparing it with `from`. */
static uint32_t
outcomes_for_literal(uint32_t outcomes, uint64_t from, uint64_t to)
{
  uint32_t result = 0;
  if (from == to)
    return outcomes;
  if (from < to) {
    result = (outcomes & (LESS | EQUAL)) ? LESS : 0;
    return (outcomes & GREATER) ? result | (to - from > 1 ? LESS : 0) | EQUAL | GREATER : result;
  }
  result = (outcomes & (GREATER | EQUAL)) ? GREATER : 0;
  return (outcomes & LESS) ? result | (from - to > 1 ? GREATER : 0) | EQUAL | LESS : result;
}

/* Returns the outcomes that the fact leaves possible for the comparison, in one order of numbers. */
static uint32_t
outcomes_left_by(const walk *w, const fact *f, const fact *compare, uint32_t order)
{
  if (f->b != compare->b || (f->order & compare->order) == 0 || (f->order & order) == 0)
    return all_outcomes(compare->order);
  if (f->b || f->bits == compare->bits)
    return f->outcomes;
  if (compare->order == VYRE_COMPARES_FLOAT)
    return ALL_FLOAT;
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(w->v->op[f->a]));
  const uint64_t bias = order == VYRE_COMPARES_SIGNED ? UINT64_C(1) << (vyre_kind_bits(kind) - 1) : 0;
  return outcomes_for_literal(f->outcomes, f->bits ^ bias, compare->bits ^ bias);
}

/* ---- literals ------------------------------------------------------------------------------------------------------------ */

static void
add_literal(walk *w, uint32_t row, uint64_t bits)
{
  literal *l = append(w, &w->literals);
  if (!l)
    return;
  *l = (literal){row, w->literal_of[row], VYRE_ROW_TYPE(w->v->op[row]), bits, 0};
  w->literal_of[row] = w->literals.count - 1;
}

/* Returns whether the facts decide the comparison in one order of numbers, and if so, adds its literal.  The orders are
 * separate, because less as signed numbers does not imply less as unsigned numbers. */
static bool
decide_comparison(walk *w, uint32_t row, const fact *compare, uint32_t order)
{
  uint32_t possible = all_outcomes(compare->order), seen = 0;
  for (uint32_t i = w->fact_of[compare->a]; i && seen < MOST_FACTS; i = LIST_AT(fact, w->facts, i)->before, seen++)
    possible &= outcomes_left_by(w, LIST_AT(fact, w->facts, i), compare, order);
  if (seen == 0 || possible == 0)
    return false; /* no facts, or contradicting ones because the region is unreachable */
  const bool always = (possible & ~compare->outcomes) == 0;
  if (always || (possible & compare->outcomes) == 0)
    add_literal(w, row, always);
  return always || (possible & compare->outcomes) == 0;
}

static void
look_up_comparison(walk *w, uint32_t row)
{
  fact compare;
  if (!read_compare(w, row, &compare))
    return;
  if (compare.order != VYRE_COMPARES_EITHER)
    decide_comparison(w, row, &compare, compare.order);
  else if (!decide_comparison(w, row, &compare, VYRE_COMPARES_UNSIGNED))
    decide_comparison(w, row, &compare, VYRE_COMPARES_SIGNED);
}

/* Records that the condition has the value from here to the end of the region, with the facts that follow. */
static void
assume_condition(walk *w, uint32_t condition, bool value, uint32_t depth)
{
  const vyre_view *v = w->v;
  const uint32_t op = VYRE_ROW_OP(v->op[condition]), a = v->a[condition], b = v->b[condition];
  const bool immediate = (VYRE_ROW_FLAGS(v->op[condition]) & VYRE_ROW_IMM) != 0;
  fact compare;
  if (op == VYRE_OP_const || condition == 0 || depth > DEEPEST)
    return;
  add_literal(w, condition, value);
  if ((op == VYRE_OP_and && value) || (op == VYRE_OP_or && !value)) {
    assume_condition(w, a, value, depth + 1);
    if (!immediate)
      assume_condition(w, b, value, depth + 1);
  } else if (op == VYRE_OP_not) {
    assume_condition(w, a, !value, depth + 1);
  } else if (read_compare(w, condition, &compare)) {
    const bool of_bool = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[a])) == VYRE_BOOL;
    if (!value)
      compare.outcomes = all_outcomes(compare.order) & ~compare.outcomes;
    if (of_bool && immediate)
      assume_condition(w, a, (compare.outcomes == EQUAL) == (vyre_row_imm(v, condition) != 0), depth + 1);
    else if (!of_bool && immediate && compare.order == VYRE_COMPARES_EITHER && compare.outcomes == EQUAL &&
             VYRE_ROW_OP(v->op[a]) != VYRE_OP_const)
      add_literal(w, a, vyre_row_imm(v, condition));
    add_fact(w, compare);
  }
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------ */

static frame *
top(const walk *w)
{
  return LIST_AT(frame, w->frames, w->frames.count - 1);
}

static bool
is_fallen_into(const vyre_view *v, uint32_t region)
{
  const uint32_t before = v->prev[region];
  return before && VYRE_ROW_OP(v->op[v->last[before]]) == VYRE_OP_fallthrough;
}

static void
open_region(walk *w, uint32_t region)
{
  const vyre_view *v = w->v;
  const uint32_t control = v->parent[region];
  switch (VYRE_ROW_OP(v->op[control])) {
  case VYRE_OP_if:
    assume_condition(w, v->a[control], region == v->first[control], 0);
    break;
  case VYRE_OP_switch: {
    const uint32_t label = v->a[region];
    const bool alone = VYRE_ROW_OP(v->op[label]) == VYRE_OP_const && !(v->imm[region] & VYRE_CASE_DEFAULT);
    if (alone && !is_fallen_into(v, region) && VYRE_ROW_OP(v->op[v->a[control]]) != VYRE_OP_const)
      add_literal(w, v->a[control], vyre_row_imm(v, label));
    break;
  }
  case VYRE_OP_for: {
    const vyre_type type = VYRE_ROW_TYPE(v->op[region]);
    fact less = {.a = region, .b = v->b[control], .outcomes = LESS};
    less.order = vyre_kind_is_signed(VYRE_TYPE_KIND(type)) ? VYRE_COMPARES_SIGNED : VYRE_COMPARES_UNSIGNED;
    if (VYRE_ROW_OP(v->op[less.b]) == VYRE_OP_const) {
      less.bits = vyre_row_imm(v, less.b);
      less.b = 0;
    } else { /* the bound has the smaller id */
      less = (fact){less.b, region, 0, GREATER, less.order, 0};
    }
    add_fact(w, less);
    break;
  }
  default:
    break;
  }
}

/* Drops the facts of the region. */
static void
close_region(walk *w, const frame *region)
{
  while (w->literals.count > region->literals) {
    const literal *l = LIST_AT(literal, w->literals, --w->literals.count);
    w->literal_of[l->row] = l->before;
  }
  while (w->facts.count > region->facts) {
    const fact *f = LIST_AT(fact, w->facts, --w->facts.count);
    w->fact_of[f->a] = f->before;
  }
}

/* After an `if` with one arm that never reaches its end, records that the other arm ran. */
static void
close_if(walk *w, uint32_t control)
{
  const bool then_ends = w->ends[w->v->first[control]], else_ends = w->ends[w->v->last[control]];
  if (then_ends && else_ends)
    w->ends[top(w)->row] = true;
  else if (then_ends || else_ends)
    assume_condition(w, w->v->a[control], else_ends, 0);
}

static void
close_until(walk *w, uint32_t row)
{
  while (w->frames.count > 1 && top(w)->last < row && !w->out_of_memory) {
    const frame closed = *top(w);
    const uint32_t control = w->v->parent[closed.row];
    w->frames.count--;
    close_region(w, &closed);
    if (VYRE_ROW_OP(w->v->op[control]) == VYRE_OP_if && closed.row == w->v->last[control])
      close_if(w, control);
  }
}

static void
replace_operands(walk *w, uint32_t row)
{
  const uint32_t operands[3] = {w->v->a[row], w->v->b[row], w->v->c[row]};
  for (uint32_t i = 0; i < 3; i++) {
    if (w->literal_of[operands[i]] == 0)
      continue;
    w->changed++;
    literal *l = LIST_AT(literal, w->literals, w->literal_of[operands[i]]);
    if (l->constant == 0)
      l->constant = w->ctx->host->constant(w->module, w->v->first[w->program], l->type, l->bits);
    if (l->constant == 0)
      return; /* the manager reports the error */
    w->ctx->host->set_operand(w->module, row, i, l->constant);
  }
}

static void
visit_region(walk *w, uint32_t row)
{
  frame *f = append(w, &w->frames);
  if (!f)
    return;
  uint32_t last = row; /* the region's last row at any depth; dominance has it, but is not available while rows are edited */
  while (w->v->last[last])
    last = w->v->last[last];
  *f = (frame){row, last, w->literals.count, w->facts.count};
  if (VYRE_ROW_OP(w->v->op[row]) == VYRE_OP_program)
    w->program = row;
  else
    open_region(w, row);
}

/* Returns the first row from `row` on, before `end`, that uses a known literal or may add a fact.  Returns `end` if there is
 * none. */
static uint32_t
next_of_interest(const walk *w, uint32_t row, uint32_t end)
{
  const uint32_t *op = w->v->op, *a = w->v->a, *b = w->v->b, *c = w->v->c, *known = w->literal_of;
  const bool any = w->literals.count > 1 || w->facts.count > 1;
  for (; row < end; row++) {
    const vyre_op_info *info = vyre_op_info_of(w->v, VYRE_ROW_OP(op[row]));
    if ((info->flags & (VYRE_OP_REGION | VYRE_OP_ENDS)) != 0 ||
        (any && (known[a[row]] | known[b[row]] | known[c[row]] | info->compares) != 0))
      break;
  }
  return row;
}

static void
visit(walk *w, uint32_t row)
{
  const vyre_view *v = w->v;
  const uint32_t op = VYRE_ROW_OP(v->op[row]), flags = vyre_op_info_of(v, op)->flags;
  if (op != VYRE_OP_at && op != VYRE_OP_null &&
      (w->literal_of[v->a[row]] | w->literal_of[v->b[row]] | w->literal_of[v->c[row]]) != 0)
    replace_operands(w, row);
  if (flags & VYRE_OP_REGION)
    visit_region(w, row);
  else if (flags & VYRE_OP_ENDS)
    w->ends[top(w)->row] = true;
  else if (w->facts.count > 1 && vyre_op_info_of(v, op)->compares != 0)
    look_up_comparison(w, row);
}

vyre_status
known_replace(vyre_pass_ctx *ctx, vyre_module *module, uint64_t *changed)
{
  const vyre_view *v = ctx->host->view(module);
  const uint32_t rows = v->rows; /* the walk ends before the const rows that the pass appends */
  walk w = {.ctx = ctx, .module = module, .v = v, .rows = rows};
  w.literals.size = sizeof(literal);
  w.facts.size = sizeof(fact);
  w.frames.size = sizeof(frame);
  w.literal_of = ctx->host->alloc(ctx, sizeof(uint32_t) * rows);
  w.fact_of = ctx->host->alloc(ctx, sizeof(uint32_t) * rows);
  w.ends = ctx->host->alloc(ctx, sizeof(bool) * rows);
  w.out_of_memory = !w.literal_of || !w.fact_of || !w.ends;
  if (!w.out_of_memory && append(&w, &w.literals) && append(&w, &w.facts))
    append(&w, &w.frames);
  for (uint32_t row = 1, end; row < rows && !w.out_of_memory;) {
    if (top(&w)->last < row)
      close_until(&w, row);
    end = w.frames.count > 1 ? top(&w)->last + 1 : row + 1; /* the end of the region */
    row = next_of_interest(&w, row, end);
    if (row < end)
      visit(&w, row++);
  }
  *changed += w.changed;
  return w.out_of_memory ? ctx->host->out_of_memory(ctx) : VYRE_OK;
}
