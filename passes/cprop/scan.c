/* Decides whether the solver may find more than `simplify` did.
 *
 * `simplify` replaces reads of a known write, and folds rows with literal operands.  The solver finds more only if a join of states
 * has a known value, or if a branch on a literal makes edges unreachable.  The scan computes the values of joins as the solver
 * does, but over all edges, and for rows in the order of their ids.  It visits again only the few rows whose values depend on
 * joins, until no value changes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

enum { MOST_VISITS = 16 }; /* of a row.  A longer chain of joins is left to the solver */

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

/* Computes the values of a program's rows that depend on a join.  Selects the program if it has a branch on a literal.  Appends
 * the rows that have another value than themselves, except declarations, to `rows`. */
static void
visit_program(solution *s, uint32_t program, bool *programs, uint32_t *rows, uint32_t *count)
{
  const vyre_view *v = s->v;
  uint32_t *value = s->value;
  for (uint32_t row = program, end = vyre_program_end(v, program); row < end; row++) {
    const uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
    switch (vyre_op_of(v, row)) {
    case VYRE_OP_const: /* resolve_parts has computed some */
      value[row] = value[row] ? value[row] : row;
      continue;
    case VYRE_OP_if:
    case VYRE_OP_switch:
    case VYRE_OP_breakif:
      value[row] = row;
      if (vyre_op_of(v, a) != VYRE_OP_const)
        continue;
      programs[program] = true;
      return;
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

/* Updates the joins.  Returns whether a value changed.  Selects the programs with such a join if `programs` is not NULL. */
static bool
update_joins(solution *s, bool *programs)
{
  bool changed = false;
  for (uint32_t i = 1; i < s->v->join_count; i++) {
    uint32_t *value = &s->value[s->rows + i];
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

vyre_status
scan_joins(vyre_pass_ctx *ctx, vyre_module *module, bool *programs, bool *out)
{
  solution s;
  VYRE_TRY(solve_begin(&s, ctx, module));
  uint32_t *rows = ctx->host->alloc(ctx, sizeof *rows * s.rows);
  if (!rows)
    return ctx->host->out_of_memory(ctx);
  uint32_t count = 0;
  resolve_parts(&s);
  for (uint32_t program = s.v->first[0]; program; program = s.v->next[program])
    if (!programs[program])
      visit_program(&s, program, programs, rows, &count);
  for (uint32_t visit = 0; !s.out_of_memory && update_joins(&s, visit == MOST_VISITS ? programs : NULL) && visit < MOST_VISITS;
       visit++)
    visit_again(&s, rows, &count);
  for (uint32_t i = 0; i < count; i++)
    if (vyre_op_of(s.v, rows[i]) == VYRE_OP_get)
      programs[vyre_program_of(s.v, rows[i])] = true;
  *out = false;
  for (uint32_t program = s.v->first[0]; program; program = s.v->next[program])
    *out |= programs[program];
  return s.out_of_memory ? ctx->host->out_of_memory(ctx) : VYRE_OK;
}
