/* Loops whose second iteration leaves at once: the test at their head, computed with what the first one leaves in variables.
 *
 * The head of a body is its rows up to the first `if`, if none of them has an effect; a `get` there sees what the iteration before
 * left, in the first iteration what was set before the loop.  Values are followed back over rows that fold, to a bounded number.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "once.h"

#include "cleaner.h"

enum { MOST_ROWS = 256, MOST_VALUES = 32 }; /* that are looked at for one loop */

enum { FIRST = 1, SECOND = 2 }; /* iterations */

typedef struct question {
  const vyre_host *host;
  const vyre_module *module;
  const vyre_view *v;
  uint32_t loop, test; /* test: the `if` at the end of the head */
  bool continues;
  uint32_t rows, values; /* left to be looked at */
} question;

static bool
may_look(uint32_t *left)
{
  if (*left == 0)
    return false;
  --*left;
  return true;
}

/* Paths do not count: there are as many as there are users, or one for all. */
static bool
may_look_at(question *q, uint32_t row)
{
  return !cleaner_has_place(q->v, row) || may_look(&q->rows);
}

/* ---- what a variable was set to ------------------------------------------------------------------------------------------ */

/* Whether the variable is set in that construct, or that is not known. */
static bool
may_set(question *q, uint32_t construct, uint32_t var)
{
  const vyre_view *v = q->v;
  for (uint32_t row = vyre_body_first(v, construct); row; row = vyre_body_next(v, construct, row))
    if (!may_look_at(q, row) || (vyre_op_of(v, row) == VYRE_OP_set && v->a[row] == var))
      return true;
  return false;
}

/* The last `set` of the variable among these rows, back to the first of their region, and the rows in them.  False: it is not
 * known.  0: there is none. */
static bool
last_set(question *q, uint32_t row, uint32_t var, uint32_t *out)
{
  const vyre_view *v = q->v;
  for (*out = 0; row; row = v->prev[row]) {
    if (!may_look_at(q, row))
      return false;
    if (vyre_op_of(v, row) == VYRE_OP_set && v->a[row] == var) {
      *out = row;
      return true;
    }
    if ((vyre_op_flags_of(v, row) & VYRE_OP_REGIONS) != 0 && may_set(q, row, var))
      return false;
  }
  return true;
}

/* What the first iteration sets last. */
static uint32_t
set_by_trip(question *q, uint32_t var)
{
  const vyre_view *v = q->v;
  const uint32_t body = v->first[q->loop], continuing = v->last[q->loop];
  uint32_t set;
  if (!last_set(q, v->last[continuing], var, &set) || set || q->continues)
    return set;
  return last_set(q, v->last[body], var, &set) ? set : 0;
}

/* What was set before the loop; `*zero`: nothing since the start of the program, where a variable is zero. */
static uint32_t
set_before(question *q, uint32_t var, bool *zero)
{
  const vyre_view *v = q->v;
  uint32_t row = q->loop, set;
  *zero = false;
  for (;;) {
    if (!last_set(q, v->prev[row], var, &set) || set)
      return set;
    const uint32_t around = v->parent[v->parent[row]], op = vyre_op_of(v, around);
    *zero = around == 0 && vyre_kind_is_scalar(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[var])));
    if (op != VYRE_OP_if && op != VYRE_OP_block)
      return 0;
    row = around;
  }
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static bool value_of(question *q, uint32_t row, uint32_t trip, uint64_t out[4]);

static void
splat(uint64_t bits, uint64_t out[4])
{
  for (uint32_t lane = 0; lane < 4; lane++)
    out[lane] = bits;
}

static bool
is_in_head(const question *q, uint32_t row)
{
  const vyre_view *v = q->v;
  uint32_t at = v->first[v->first[q->loop]];
  while (at != row && at != q->test)
    at = v->next[at];
  return at == row;
}

static bool
value_of_get(question *q, uint32_t get, uint32_t trip, uint64_t out[4])
{
  const vyre_view *v = q->v;
  const uint32_t var = v->a[get];
  bool zero = false;
  if (!is_in_head(q, get))
    return false;
  const uint32_t set = trip == SECOND ? set_by_trip(q, var) : set_before(q, var, &zero);
  if (zero)
    splat(0, out);
  return zero || (set && value_of(q, v->b[set], FIRST, out));
}

/* The literal that the row is in that iteration; false: it is not known. */
static bool
value_of(question *q, uint32_t row, uint32_t trip, uint64_t out[4])
{
  const vyre_view *v = q->v;
  const uint32_t op = vyre_op_of(v, row), operands[3] = {v->a[row], v->b[row], v->c[row]};
  uint64_t lanes[3][4];
  const uint64_t *given[3] = {NULL, NULL, NULL};
  if (!may_look(&q->values))
    return false;
  if (op == VYRE_OP_const)
    splat(vyre_row_imm(v, row), out);
  if (op == VYRE_OP_const || op == VYRE_OP_get)
    return op == VYRE_OP_const || value_of_get(q, row, trip, out);
  if (vyre_op_info_of(v, op)->fold != VYRE_FOLD_EXACT || !vyre_row_is_pure(v, row))
    return false;
  for (uint32_t i = 0; i < 3; i++)
    if (operands[i] && value_of(q, operands[i], trip, lanes[i]))
      given[i] = lanes[i];
  return q->host->fold_given(q->module, row, given, out);
}

/* ---- the head ------------------------------------------------------------------------------------------------------------ */

/* Whether the row has no visible effect if it does not run. */
static bool
may_go(const vyre_view *v, uint32_t row)
{
  const uint32_t flags = vyre_op_flags_of(v, row);
  if ((flags & VYRE_OP_PURE) != 0)
    return true;
  if ((flags & (VYRE_OP_READS | VYRE_OP_IDENTITY)) != VYRE_OP_READS || (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_VOLATILE) != 0)
    return false;
  return vyre_op_of(v, row) != VYRE_OP_load || (v->imm_hi[vyre_buffer_of(v, v->a[row])] & VYRE_ACCESS_VOLATILE) == 0;
}

/* The `if` after rows without effect at the start of the body; 0: none. */
static uint32_t
test_of(question *q)
{
  const vyre_view *v = q->v;
  for (uint32_t row = v->first[v->first[q->loop]]; row && may_look_at(q, row); row = v->next[row]) {
    if (vyre_op_of(v, row) == VYRE_OP_if)
      return row;
    if (!may_go(v, row))
      return 0;
  }
  return 0;
}

static bool
begins_with_break(const vyre_view *v, uint32_t arm)
{
  return vyre_op_of(v, cleaner_next_placed(v, v->first[arm])) == VYRE_OP_break;
}

bool
once_loop(const vyre_host *host, const vyre_module *module, uint32_t loop, bool continues)
{
  const vyre_view *v = host->view(module);
  question q = {
      .host = host, .module = module, .v = v, .loop = loop, .continues = continues, .rows = MOST_ROWS, .values = MOST_VALUES};
  uint64_t condition[4];
  q.test = test_of(&q);
  if (q.test == 0)
    return false;
  const bool then_breaks = begins_with_break(v, v->first[q.test]), else_breaks = begins_with_break(v, v->last[q.test]);
  if ((!then_breaks && !else_breaks) || !value_of(&q, v->a[q.test], SECOND, condition))
    return false;
  return condition[0] ? then_breaks : else_breaks;
}
