/* Values of conditions that follow from sets of variables near by.
 *
 * A loop runs once if its second iteration leaves at once.  So its test is computed with the values that the first iteration
 * leaves in variables.
 *
 * The header of a body is its rows up to the first `if`, if none of them has an effect but on variables.  A `get` there sees a
 * `set` before it in the header, or the value of the previous iteration, or in the first iteration the value from before the loop.
 * Values are followed back through rows that fold, up to a bounded number.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

#include "cleaner.h"

enum { MOST_ROWS = 256, MOST_VALUES = 32 }; /* visited for one condition */

enum { FIRST = 1, SECOND = 2 }; /* iterations */

typedef struct search {
  const vyre_host *host;
  const vyre_module *module;
  const vyre_view *v;
  uint32_t loop, test; /* `test` is the `if` at the end of the header; both are 0 for a condition */
  bool continues;
  uint32_t rows, values; /* rows and values that may still be visited */
} search;

static bool
spend_one(uint32_t *left)
{
  if (*left == 0)
    return false;
  --*left;
  return true;
}

/* Returns whether the row may be visited.  Rows that text writes where they are used are free, because their number depends on how
 * the module was made. */
static bool
may_visit(search *q, uint32_t row)
{
  return !cleaner_has_place(q->v, row) || vyre_op_of(q->v, row) == VYRE_OP_tuple || spend_one(&q->rows);
}

/* ---- sets ---------------------------------------------------------------------------------------------------------------- */

/* Returns whether the construct may set the variable.  Returns true if it has more rows than may be visited. */
static bool
may_set(search *q, uint32_t construct, uint32_t var)
{
  const vyre_view *v = q->v;
  for (uint32_t row = vyre_body_first(v, construct); row; row = vyre_body_next(v, construct, row))
    if (!may_visit(q, row) || (vyre_op_of(v, row) == VYRE_OP_set && v->a[row] == var))
      return true;
  return false;
}

/* Finds the last `set` of the variable from `row` back to the first row of its region.  *out is 0 if there is none.  Of an `if` on
 * a literal, only the arm that runs counts.  Returns false if the `set` is not known. */
static bool
last_set(search *q, uint32_t row, uint32_t var, uint32_t *out)
{
  const vyre_view *v = q->v;
  for (*out = 0; row; row = v->prev[row]) {
    if (!may_visit(q, row))
      return false;
    if (vyre_op_of(v, row) == VYRE_OP_set && v->a[row] == var) {
      *out = row;
      return true;
    }
    if (vyre_op_of(v, row) == VYRE_OP_if && vyre_row_is_const(v, v->a[row])) {
      const uint32_t arm = v->imm[v->a[row]] ? v->first[row] : v->last[row];
      if (!last_set(q, v->last[arm], var, out) || *out)
        return *out != 0;
    } else if ((vyre_op_flags_of(v, row) & VYRE_OP_REGIONS) != 0 && may_set(q, row, var)) {
      return false;
    }
  }
  return true;
}

/* Returns the last `set` of the first iteration, 0 if it is not known or there is none. */
static uint32_t
set_by_trip(search *q, uint32_t var)
{
  const vyre_view *v = q->v;
  const uint32_t body = v->first[q->loop], continuing = v->last[q->loop];
  uint32_t set;
  if (!last_set(q, v->last[continuing], var, &set) || set || q->continues)
    return set;
  return last_set(q, v->last[body], var, &set) ? set : 0;
}

/* Returns the last `set` before the row, 0 if it is not known or there is none.  *zero is true if nothing was set since the start
 * of the program and the variable is zero there. */
static uint32_t
set_before(search *q, uint32_t row, uint32_t var, bool *zero)
{
  const vyre_view *v = q->v;
  uint32_t set;
  *zero = false;
  for (;;) {
    if (!last_set(q, v->prev[row], var, &set) || set)
      return set;
    const uint32_t around = v->parent[v->parent[row]], op = vyre_op_of(v, around);
    *zero = around == 0 && vyre_var_is_zero(v, var);
    if (op != VYRE_OP_if && op != VYRE_OP_block)
      return 0;
    row = around;
  }
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static bool value_of(search *q, uint32_t row, uint32_t trip, uint64_t out[4]);

static void
splat(uint64_t bits, uint64_t out[4])
{
  for (uint32_t lane = 0; lane < 4; lane++)
    out[lane] = bits;
}

/* Returns whether the row is in the header.  *out_set is the last `set` of the variable before the row there, or 0. */
static bool
is_in_header(const search *q, uint32_t row, uint32_t var, uint32_t *out_set)
{
  const vyre_view *v = q->v;
  uint32_t at = v->first[v->first[q->loop]];
  for (*out_set = 0; at != row && at != q->test; at = v->next[at])
    *out_set = vyre_op_of(v, at) == VYRE_OP_set && v->a[at] == var ? at : *out_set;
  return at == row;
}

static bool
value_of_get(search *q, uint32_t get, uint32_t trip, uint64_t out[4])
{
  const vyre_view *v = q->v;
  const uint32_t var = v->a[get];
  uint32_t earlier = 0;
  bool zero = false;
  if (q->loop && !is_in_header(q, get, var, &earlier))
    return false;
  if (earlier)
    return value_of(q, v->b[earlier], trip, out);
  const uint32_t set = trip == SECOND ? set_by_trip(q, var) : set_before(q, q->loop ? q->loop : get, var, &zero);
  if (zero)
    splat(0, out);
  return zero || (set && value_of(q, v->b[set], FIRST, out));
}

/* Computes the row's literal in an iteration.  Returns false if it is not known. */
static bool
value_of(search *q, uint32_t row, uint32_t trip, uint64_t out[4])
{
  const vyre_view *v = q->v;
  const uint32_t op = vyre_op_of(v, row), operands[3] = {v->a[row], v->b[row], v->c[row]};
  uint64_t lanes[3][4];
  const uint64_t *given[3] = {NULL, NULL, NULL};
  if (!spend_one(&q->values))
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

/* ---- the header ---------------------------------------------------------------------------------------------------------- */

/* Returns whether the row has no visible effect, except on a variable. */
static bool
is_quiet(const vyre_view *v, uint32_t row)
{
  const uint32_t flags = vyre_op_flags_of(v, row);
  if ((flags & VYRE_OP_PURE) != 0 || vyre_op_of(v, row) == VYRE_OP_set)
    return true;
  if ((flags & (VYRE_OP_READS | VYRE_OP_IDENTITY)) != VYRE_OP_READS || (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_VOLATILE) != 0)
    return false;
  return vyre_op_of(v, row) != VYRE_OP_load || (v->imm_hi[vyre_buffer_of(v, v->a[row])] & VYRE_ACCESS_VOLATILE) == 0;
}

/* Returns the `if` after rows without effect at the start of the body, or 0 if there is none. */
static uint32_t
test_of(search *q)
{
  const vyre_view *v = q->v;
  for (uint32_t row = v->first[v->first[q->loop]]; row && may_visit(q, row); row = v->next[row]) {
    if (vyre_op_of(v, row) == VYRE_OP_if)
      return row;
    if (!is_quiet(v, row))
      return 0;
  }
  return 0;
}

static bool
begins_with_break(const vyre_view *v, uint32_t arm)
{
  return vyre_op_of(v, cleaner_next_placed(v, v->first[arm])) == VYRE_OP_break;
}

uint32_t
known_break(const vyre_host *host, const vyre_module *module, uint32_t loop, bool continues)
{
  const vyre_view *v = host->view(module);
  search q = {
      .host = host, .module = module, .v = v, .loop = loop, .continues = continues, .rows = MOST_ROWS, .values = MOST_VALUES};
  uint64_t condition[4];
  q.test = test_of(&q);
  if (q.test == 0)
    return 0;
  const bool then_breaks = begins_with_break(v, v->first[q.test]), else_breaks = begins_with_break(v, v->last[q.test]);
  if ((!then_breaks && !else_breaks) || !value_of(&q, v->a[q.test], SECOND, condition))
    return 0;
  return (condition[0] ? then_breaks : else_breaks) ? q.test : 0;
}

bool
known_value(const vyre_host *host, const vyre_module *module, uint32_t row, uint64_t *out_bits)
{
  search q = {.host = host, .module = module, .v = host->view(module), .rows = MOST_ROWS, .values = MOST_VALUES};
  uint64_t lanes[4];
  if (!value_of(&q, row, FIRST, lanes))
    return false;
  *out_bits = lanes[0];
  return true;
}
