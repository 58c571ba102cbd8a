/* Decides whether the solver may find more than `simplify` did.
 *
 * `simplify` replaces reads of a known write, and folds rows with literal operands.  The solver finds more only if a join of states
 * has a known value, or if a branch on a literal makes edges unreachable (known.c).  Without such a branch, a join of known value
 * depends on a join at a head of a loop, which `simplify` treats as unknown.  A quick test of these joins excludes most programs:
 * the value differs from iteration to iteration (i + 1), or is computed from a load.  For the other programs, the scan computes the
 * values of joins as the solver does, but over all edges, and for rows in the order of their ids.  It visits again only the few
 * rows whose values depend on joins, until no value changes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

enum { MOST_VISITS = 16 }; /* of a row.  A longer chain of joins is left to the solver */
enum { MOST_STEPS = 256 }; /* rows and joins that the test of a join at a loop visits */

/* ---- joins at loops ------------------------------------------------------------------------------------------------------ */

/* The result of the test of a join.  OPEN_ROW: the test is not finished, and the value on the loop's entry edge is not a
 * literal.  VARIES: no row before the join has its value, and no `get` of it is known. */
enum { UNTESTED, OPEN, OPEN_ROW, VARIES, MAY_BE_KNOWN };

typedef struct test {
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint8_t *joins; /* by join */
  uint32_t left;  /* rows and joins that may still be visited */
} test;

static bool varies(test *t, uint32_t index);
static bool is_own(test *t, uint32_t row);

/* Returns the version from which a join with equal parts comes. */
static uint32_t
source_of(test *t, uint32_t version)
{
  const vyre_view *v = t->v;
  for (; (version & VYRE_JOIN) != 0 && t->left > 0; t->left--) {
    const vyre_join *join = vyre_join_of(v, version);
    const vyre_part *parts = v->parts + join->first;
    if (join->count == 0) /* no edge leads there */
      return version;
    for (uint32_t i = 1; i < join->count; i++)
      if (parts[i].version != parts[0].version)
        return version;
    version = parts[0].version;
  }
  return version;
}

/* Returns whether the row's value cannot be a literal. */
static bool
is_unknown(test *t, uint32_t row)
{
  const vyre_view *v = t->v;
  if (is_own(t, row))
    return true;
  const uint32_t version = vyre_op_of(v, row) == VYRE_OP_get ? source_of(t, v->version[row]) : 0;
  return (version & VYRE_JOIN) != 0 && t->joins[version & ~VYRE_JOIN] == OPEN_ROW;
}

/* Returns whether the row's value cannot be a literal or another row, because it depends on a load or on a join that varies. */
static bool
is_own(test *t, uint32_t row)
{
  const vyre_view *v = t->v;
  const uint32_t op = vyre_op_of(v, row);
  const vyre_op_info *info = vyre_op_info_of(v, op);
  if (t->left == 0)
    return false;
  t->left--;
  if (op == VYRE_OP_get) {
    const uint32_t version = source_of(t, v->version[row]);
    return (version & VYRE_JOIN) != 0 && varies(t, version & ~VYRE_JOIN);
  }
  if (op == VYRE_OP_const || op == VYRE_OP_var || op == VYRE_OP_select)
    return false;
  if (info->fold != VYRE_FOLD_EXACT || op == VYRE_OP_lane)
    return info->fold != VYRE_FOLD_EXACT || is_own(t, v->a[row]);
  const bool of_floats = vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])));
  const bool has_laws = !of_floats && v->b[row] != 0; /* equal operands, or a literal one, may decide */
  if (has_laws && info->self != VYRE_SELF_NONE)
    return false;
  if (has_laws && info->absorbs != VYRE_ABSORBS_NONE)
    return is_unknown(t, v->a[row]) && is_unknown(t, v->b[row]);
  return is_unknown(t, v->a[row]) || (v->b[row] && is_unknown(t, v->b[row])) || (v->c[row] && is_unknown(t, v->c[row]));
}

/* Returns whether the version is a variable's literal, with its bits: a literal that is set, or zero at the start. */
static bool
is_literal(const vyre_view *v, uint32_t version, uint64_t *out)
{
  const uint32_t op = vyre_op_of(v, version), row = op == VYRE_OP_set ? v->b[version] : version;
  *out = op == VYRE_OP_set ? vyre_row_imm(v, row) : 0;
  return op == VYRE_OP_set ? vyre_row_is_const(v, row) : vyre_var_is_zero(v, version);
}

/* Returns whether the row surely changes the value of the join: it adds a literal other than 0, or folds to another literal than
 * the one from before the loop. */
static bool
is_step(test *t, uint32_t row, uint32_t index)
{
  const vyre_view *v = t->v;
  const uint32_t op = vyre_op_of(v, row), word = v->op[row], a = v->a[row];
  if ((VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM) == 0 || vyre_op_of(v, a) != VYRE_OP_get ||
      source_of(t, v->version[a]) != (VYRE_JOIN | index))
    return false;
  if ((op == VYRE_OP_add || op == VYRE_OP_sub) && !vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_ROW_TYPE(word))))
    return vyre_row_imm(v, row) != 0;
  const uint32_t front = source_of(t, v->parts[v->joins[index].first].version);
  uint64_t bits, result[4];
  if ((front & VYRE_JOIN) != 0 || !is_literal(v, front, &bits))
    return false;
  const uint64_t lanes[4] = {bits, bits, bits, bits}, *const given[3] = {lanes, NULL, NULL};
  return t->host->fold_given(t->module, row, given, result) && result[0] != bits;
}

/* Returns whether the parts of a join that are rows surely differ from each other, or from the value of `head`.  `head` is a join
 * at the head of a loop around them, or 0.  Its value is a literal or a row before the loop. */
static bool
parts_differ(test *t, const vyre_join *join, uint32_t head)
{
  const vyre_view *v = t->v;
  uint32_t own = 0;
  uint64_t bits = 0, first = 0;
  bool has_literal = false;
  for (uint32_t i = 0; i < join->count; i++) {
    const uint32_t version = source_of(t, v->parts[join->first + i].version);
    if ((version & VYRE_JOIN) != 0)
      continue;
    const uint32_t op = vyre_op_of(v, version);
    if (op != VYRE_OP_set && op != VYRE_OP_var)
      return true; /* a write to memory; a `get` reads only variables */
    if (is_literal(v, version, &bits)) {
      if (own || (has_literal && bits != first))
        return true;
      has_literal = true;
      first = bits;
      continue;
    }
    const uint32_t row = op == VYRE_OP_set ? v->b[version] : version;
    const bool is_later = head && row > v->joins[head].row;
    if (is_later && is_step(t, row, head))
      return true;
    if (op == VYRE_OP_set && !is_own(t, row))
      continue;
    if (is_later || has_literal || (own && own != row))
      return true;
    own = row;
  }
  return false;
}

/* Returns whether two parts are different rows, if all parts of the join are rows.  `simplify` makes equal rows one. */
static bool
rows_differ(test *t, const vyre_join *join)
{
  const vyre_view *v = t->v;
  uint32_t first = 0;
  for (uint32_t i = 0; i < join->count; i++) {
    const uint32_t version = source_of(t, v->parts[join->first + i].version);
    if ((version & VYRE_JOIN) != 0) /* no steps are left */
      return false;
    const uint32_t row = vyre_op_of(v, version) == VYRE_OP_set ? v->b[version] : version;
    if (first && row != first)
      return true;
    first = row;
  }
  return false;
}

/* Returns whether the join is at the head of a loop's body. */
static bool
is_front(const vyre_view *v, uint32_t index)
{
  const uint32_t row = v->joins[index].row, around = v->parent[row];
  return vyre_row_is_loop(v, around) && v->first[around] == row;
}

/* Returns whether the join is VARIES. */
static bool
varies(test *t, uint32_t index)
{
  const vyre_view *v = t->v;
  const vyre_join *join = &v->joins[index];
  const bool is_loop = vyre_row_is_loop(v, v->parent[join->row]);
  uint32_t head = is_front(v, index) ? index : 0;
  bool result = false, has_join = false;
  if (t->joins[index] != UNTESTED || t->left == 0)
    return t->joins[index] == VARIES;
  t->left--;
  const uint32_t front = head && join->count ? source_of(t, v->parts[join->first].version) : VYRE_JOIN;
  const bool is_row = (front & VYRE_JOIN) == 0 && vyre_op_of(v, front) == VYRE_OP_set && is_own(t, v->b[front]);
  t->joins[index] = is_row ? OPEN_ROW : OPEN;
  for (uint32_t i = 0; i < join->count && !result; i++) {
    const uint32_t version = source_of(t, v->parts[join->first + i].version), part = version & ~VYRE_JOIN;
    if ((version & VYRE_JOIN) == 0)
      continue;
    has_join = true;
    result = varies(t, part);
    if (head == 0 && (t->joins[part] == OPEN || t->joins[part] == OPEN_ROW) && is_front(v, part))
      head = part;
  }
  result = result || (!has_join && !is_loop && rows_differ(t, join)) || parts_differ(t, join, head);
  t->joins[index] = result ? VARIES : MAY_BE_KNOWN;
  return result;
}

/* Returns whether uses of a `get` of a join may be replaced. */
static bool
may_replace(test *t, uint32_t get)
{
  const vyre_view *v = t->v;
  t->left = MOST_STEPS;
  const uint32_t version = source_of(t, v->version[get]);
  if ((version & VYRE_JOIN) != 0)
    return !varies(t, version & ~VYRE_JOIN);
  const uint32_t row = vyre_op_of(v, version) == VYRE_OP_set ? v->b[version] : version;
  return row == version || vyre_row_is_const(v, row) || vyre_row_dominates(v, row, get);
}

/* Selects in `out` the programs with a `get` of a join that may have a known value.  `out` has an element for each row.  Returns
 * whether there are any. */
static bool
test_gets(test *t, bool *out)
{
  const vyre_view *v = t->v;
  bool any = false;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (vyre_op_of(v, row) == VYRE_OP_get && (v->version[row] & VYRE_JOIN) != 0 && may_replace(t, row))
      out[vyre_program_of(v, row)] = any = true;
  }
  return any;
}

/* ---- values of joins ----------------------------------------------------------------------------------------------------- */

/* Computes the literal of a const operand. */
static void
resolve(solution *s, uint32_t operand)
{
  if (vyre_op_of(s->v, operand) == VYRE_OP_const && s->value[operand] < s->literals)
    s->value[operand] = solve_row(s, operand);
}

/* Computes the literals that sets bring to joins, also those of later sets, which a back edge brings to a loop's header.  The
 * literals of other const rows are needed only by rows that depend on a join. */
static void
resolve_parts(solution *s)
{
  const vyre_view *v = s->v;
  for (uint32_t i = 0; i < v->part_count; i++) {
    const uint32_t version = v->parts[i].version;
    if ((version & VYRE_JOIN) == 0 && vyre_op_of(v, version) == VYRE_OP_set)
      resolve(s, v->b[version]);
  }
}

/* Returns whether the value of an operand depends on a join. */
static bool
is_affected(const solution *s, uint32_t operand)
{
  const uint32_t op = vyre_op_of(s->v, operand);
  return s->value[operand] != operand && op != VYRE_OP_const && op != VYRE_OP_var;
}

/* Returns the value on which all parts of a join agree, or the join itself if they differ.  All edges are reachable. */
static uint32_t
value_of_join(const solution *s, uint32_t index)
{
  const vyre_join *join = &s->v->joins[index];
  const vyre_part *end = s->v->parts + join->first + join->count;
  uint32_t value = 0;
  for (const vyre_part *part = end - join->count; part < end; part++) {
    const uint32_t brought = solve_state(s, part->version);
    if (brought && value && brought != value)
      return s->rows + index;
    value = brought ? brought : value;
  }
  return value;
}

/* Returns the row's value.  Loads are unknown, because no value of a join decides which memory they read, and the solution has no
 * memory (s->m).  The value of an unknown join is the `get` itself, so that the rows that use it need no visit. */
static uint32_t
value_of(solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const uint32_t op = vyre_op_of(v, row), join = op == VYRE_OP_get ? v->version[row] ^ VYRE_JOIN : VYRE_JOIN;
  if (op == VYRE_OP_load)
    return row;
  if ((join & VYRE_JOIN) != 0)
    return solve_row(s, row);
  const uint32_t value = value_of_join(s, join);
  s->value[s->rows + join] = value;
  return value >= s->rows && value < s->literals ? row : value;
}

/* Computes the values of a program's rows that depend on a join.  Appends the rows that have another value than themselves, except
 * declarations, to `rows`. */
static void
visit_program(solution *s, uint32_t program, uint32_t *rows, uint32_t *count)
{
  const vyre_view *v = s->v;
  uint32_t *value = s->value;
  for (uint32_t row = program, end = vyre_program_end(v, program); row < end; row++) {
    const uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
    switch (vyre_op_of(v, row)) {
    case VYRE_OP_const: /* resolve_parts has computed some */
      value[row] = value[row] ? value[row] : row;
      continue;
    case VYRE_OP_var:
      value[row] = solve_row(s, row);
      continue;
    case VYRE_OP_set:
      value[row] = row;
      resolve(s, b);
      continue;
    case VYRE_OP_get:
      break;
    default:
      if (((value[a] ^ a) | (value[b] ^ b) | (value[c] ^ c)) != 0 && (is_affected(s, a) || is_affected(s, b) || is_affected(s, c)))
        break;
      value[row] = row;
      continue;
    }
    value[row] = row;
    resolve(s, a);
    resolve(s, b);
    resolve(s, c);
    value[row] = value_of(s, row);
    rows[*count] = row;
    *count += value[row] != row;
  }
}

/* Updates the joins of visited programs.  Returns whether a value changed.  Selects the programs with such a join if `programs` is
 * not NULL. */
static bool
update_joins(solution *s, bool *programs)
{
  bool changed = false;
  for (uint32_t i = 1; i < s->v->join_count; i++) {
    uint32_t *value = &s->value[s->rows + i];
    if (s->value[s->v->joins[i].row] == 0)
      continue;
    const uint32_t own = s->rows + i, new = *value == own ? own : value_of_join(s, i);
    changed |= new != *value;
    if (new != *value && programs)
      programs[vyre_program_of(s->v, s->v->joins[i].row)] = true;
    *value = new;
  }
  return changed;
}

/* Updates the values of `rows`, in the order of their ids, and drops rows that became unknown.  Values only change to unknown, so
 * these rows need no further visit. */
static void
visit_again(solution *s, uint32_t *rows, uint32_t *count)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++) {
    const uint32_t row = rows[i];
    s->value[row] = value_of(s, row);
    rows[kept] = row;
    kept += s->value[row] != row;
  }
  *count = kept;
}

/* Returns whether uses of the `get` may be replaced: its value is a literal, or a row that is visible there. */
static bool
is_replaceable(const solution *s, uint32_t get)
{
  const uint32_t value = s->value[get];
  return vyre_op_of(s->v, get) == VYRE_OP_get && (value >= s->rows || vyre_row_dominates(s->v, value, get));
}

/* Selects, of the programs in `tested`, those in which a `get` of a join is known. */
static vyre_status
scan_programs(vyre_pass_ctx *ctx, vyre_module *module, const bool *tested, bool *programs)
{
  solution s;
  VYRE_TRY(solve_begin(&s, ctx, module));
  uint32_t *rows = ctx->host->alloc(ctx, sizeof *rows * s.rows);
  if (!rows)
    return ctx->host->out_of_memory(ctx);
  uint32_t count = 0;
  resolve_parts(&s);
  for (uint32_t program = s.v->first[0]; program; program = s.v->next[program])
    if (tested[program] && !programs[program])
      visit_program(&s, program, rows, &count);
  for (uint32_t visit = 0; !s.out_of_memory && update_joins(&s, visit == MOST_VISITS ? programs : NULL) && visit < MOST_VISITS;
       visit++)
    visit_again(&s, rows, &count);
  for (uint32_t i = 0; i < count; i++)
    if (is_replaceable(&s, rows[i]))
      programs[vyre_program_of(s.v, rows[i])] = true;
  return s.out_of_memory ? ctx->host->out_of_memory(ctx) : VYRE_OK;
}

vyre_status
scan_joins(vyre_pass_ctx *ctx, vyre_module *module, bool *programs, bool *out)
{
  const vyre_view *v = ctx->host->view(module);
  test t = {.host = ctx->host, .module = module, .v = v, .joins = ctx->host->alloc(ctx, v->join_count + 1)};
  bool *tested = ctx->host->alloc(ctx, sizeof *tested * v->rows);
  if (!t.joins || !tested)
    return ctx->host->out_of_memory(ctx);
  if (test_gets(&t, tested))
    VYRE_TRY(scan_programs(ctx, module, tested, programs));
  *out = false;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    *out |= programs[program];
  return VYRE_OK;
}
