/* Writes a workgroup in two parts, so that compilers can vectorize the first.  Its invocations pass all comparisons of the
 * grid index with uniform limits.
 *
 *     const uint32_t n_r5 = ...                                          uniform rows precede both parts
 *     uint32_t inside = 64u;
 *     inside = vyre_inside_u64(inside, n_r5, wx * 64u);                  if (i >= n) return;
 *     inside = vyre_inside_u64(inside, vyre_length_u64(...), wx * 64u);  y[i] = ...
 *     for (uint32_t lx = 0; lx < inside; lx++)        the program without these checks
 *     for (uint32_t lx = inside; lx < 64u; lx++)      the program
 *
 * Only for small programs without loops and a one-dimensional workgroup.  Compilers do not vectorize others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define MOST_ROWS 400u

static bool
may_be_split(const cgen *g)
{
  const uint32_t size = g->local[0];
  if (g->wide || size == 1 || size != g->count || (size & (size - 1)) != 0 || g->end - g->program > MOST_ROWS)
    return false;
  for (uint32_t row = g->program + 1; row < g->end; row++)
    if (vyre_row_is_loop(g->v, row) || cgen_is(g, row, VYRE_OP_switch))
      return false;
  return true;
}

/* Returns whether the memory at the path is read-only. */
static bool
is_constant_memory(const cgen *g, uint32_t path)
{
  while (cgen_is(g, path, VYRE_OP_at))
    path = g->v->a[path];
  const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[path]);
  const bool is_read_alone = space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH || (g->v->imm_hi[path] & VYRE_ACCESS_NO_WRITE);
  return code_is_outside(&g->w, path) && is_read_alone && cgen_is_alone(g, path);
}

static bool
is_uniform(const cgen *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const vyre_opcode op = cgen_op(g, row);
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  if (op == VYRE_OP_buffer)
    return true;
  if (v->parent[row] != g->program || (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0)
    return false;
  if (vyre_op_is_invocation(op) && op != VYRE_OP_wid && op != VYRE_OP_groups)
    return false;
  for (size_t i = 0; i < 3; i++)
    if (operands[i] > g->program && !g->uniform[operands[i] - g->program])
      return false;
  if (op == VYRE_OP_load)
    return is_constant_memory(g, v->a[row]);
  return op == VYRE_OP_at || op == VYRE_OP_length || (vyre_op_infos[op].flags & VYRE_OP_PURE) != 0;
}

/* Writes "inside = vyre_inside_u64(inside, ". */
static void
begin_limit(cgen *g)
{
  cgen_begin_line(g);
  cgen_put(g, "inside = ");
  cgen_call(g, "inside", VYRE_U64);
  cgen_put(g, "inside, ");
}

static void
end_limit(cgen *g)
{
  cgen_put(g, ", wx * %uu);\n", g->local[0]);
}

/* Adds the limit of an access to a runtime array at the grid index. */
static bool
limit_access(cgen *g, uint32_t row)
{
  const vyre_opcode op = cgen_op(g, row);
  cgen_place p;
  if (cgen_form_of(g, row) != CODE_NAMED || (op != VYRE_OP_load && op != VYRE_OP_store && !vyre_op_is_atomic(op)) ||
      !cgen_place_of(g, row, g->v->a[row], &p))
    return false;
  uint8_t *known = &g->known[p.at.buffer - g->program];
  if (*known || p.at.never || p.at.chosen || !p.at.open || p.at.open_literal || p.at.vouched ||
      !cgen_is_grid_index(g, p.at.terms[0].index))
    return false;
  *known = true;
  begin_limit(g);
  cgen_put_open_length(g, &p);
  end_limit(g);
  return true;
}

/* Adds the limit of a comparison such as i < n, of the grid index with a uniform value.  Its result is known for smaller
 * indices. */
static bool
limit_comparison(cgen *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t compares = vyre_op_infos[cgen_op(g, row)].compares, a = v->a[row], b = v->b[row];
  if (VYRE_COMPARES_ORDER(compares) != VYRE_COMPARES_UNSIGNED || cgen_form_of(g, row) == CGEN_UNUSED)
    return false;
  const bool left = cgen_is_grid_index(g, a), right = b != 0 && cgen_is_grid_index(g, b);
  const uint32_t limit = left ? b : a;
  if (left == right || (limit && !g->uniform[limit - g->program]))
    return false;
  g->known[row - g->program] = (compares & (left ? VYRE_COMPARES_LESS : VYRE_COMPARES_GREATER)) != 0 ? CGEN_TRUE : CGEN_FALSE;
  begin_limit(g);
  if (left)
    cgen_right(g, row, 0, false);
  else
    cgen_value(g, a, 0, false);
  end_limit(g);
  return true;
}

void
cgen_put_inside(cgen *g)
{
  const size_t start = g->w.out->size;
  bool any = false;
  if (!may_be_split(g))
    return;
  for (uint32_t row = g->program + 1; row < g->end; row++) {
    g->uniform[row - g->program] = is_uniform(g, row);
    if (g->uniform[row - g->program] && g->v->parent[row] == g->program)
      cgen_statement(g, row);
  }
  cgen_line(g, "uint32_t inside = %uu;", g->local[0]);
  for (uint32_t row = g->program + 1; row < g->end && !g->w.status; row++)
    any = limit_access(g, row) || limit_comparison(g, row) || any;
  g->split = any;
  if (any || g->w.status)
    return;
  cgen_cut(g, start);
}
