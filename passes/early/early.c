/* Early loads: a load of push constants or of a uniform block moves out of all control flow, to before the construct at the top
 * level of the program that contains it.
 *
 * Such memory is set before the program starts, no row can write it, and drivers keep push constants in registers.  A load in an
 * arm costs a branch, because drivers turn an `if` into a `select` only if its arms load nothing.  Equal loads in two arms cost
 * two loads.  A load moves with the steps of its path.  O(rows + loads * depth).
 *
 * A uniform block may be unbound if no invocation uses it.  So a load of a block moves only if a load of the same block is at
 * the top level before the construct, and only if no writable memory may alias it.
 *
 * Limits: paths of literal steps in bounds.  Volatile, coherent and decorated loads, and elements of arrays of descriptors, do
 * not move.
 *
 * Requires: nothing.  Preserves: nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

/* Returns whether all steps of the path are literals. */
static bool
is_literal_path(const vyre_view *v, uint32_t path)
{
  for (; VYRE_ROW_OP(v->op[path]) == VYRE_OP_at; path = v->a[path])
    if ((VYRE_ROW_FLAGS(v->op[path]) & VYRE_ROW_IMM) == 0)
      return false;
  return true;
}

typedef struct mover {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  /* for uniform blocks, NULL until one is loaded: */
  uint32_t *alias; /* by row, the alias class of a buffer */
  bool *written;   /* by alias class, whether it contains other memory; by program, whether a row may access any memory */
  uint32_t *used;  /* by buffer, its last load at the program's top level so far, 0 if there is none */
} mover;

/* Collects the facts about memory that uniform blocks need.  Returns false if memory runs out. */
static bool
summarize_memory(mover *m)
{
  const vyre_view *v = m->v;
  m->alias = m->host->alloc(m->ctx, sizeof(uint32_t) * v->rows);
  m->written = m->host->alloc(m->ctx, sizeof(bool) * v->rows);
  m->used = m->host->alloc(m->ctx, sizeof(uint32_t) * v->rows);
  if (!m->alias || !m->written || !m->used || !m->host->aliases(m->module, m->alias))
    return false;
  for (uint32_t row = 1, program = 0; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    program = op == VYRE_OP_program ? row : program;
    if (op == VYRE_OP_opaque)
      m->written[program] = true;
    else if (op == VYRE_OP_buffer &&
             (VYRE_BUFFER_SPACE(v->imm_hi[row]) != VYRE_SPACE_UNIFORM || (m->alias[row] & VYRE_ALIAS_SHARED) != 0))
      m->written[m->alias[row] & ~VYRE_ALIAS_SHARED] = true;
  }
  return true;
}

/* Returns whether no memory that may be written aliases the uniform block, and it is not an array of descriptors. */
static bool
is_constant(const mover *m, uint32_t buffer)
{
  return !m->written[m->v->parent[buffer]] && !m->written[m->alias[buffer] & ~VYRE_ALIAS_SHARED] &&
         m->host->descriptor_steps(m->module, buffer) == 0;
}

static bool
is_candidate(const mover *m, uint32_t row)
{
  return (VYRE_ROW_FLAGS(m->v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) == 0 &&
         is_literal_path(m->v, m->v->a[row]) && m->host->in_bounds(m->module, m->v->a[row]);
}

/* Returns the construct at the program's top level that contains the row, or 0 if the row is at the top level. */
static uint32_t
construct_of(const vyre_view *v, uint32_t row)
{
  uint32_t construct = 0;
  for (; VYRE_ROW_OP(v->op[v->parent[row]]) != VYRE_OP_program; row = v->parent[row])
    construct = v->parent[row];
  return construct;
}

/* Moves the steps of the path, up to one that is at the top level, to before the row `before`. */
static void
move_path(const vyre_host *host, vyre_module *module, const vyre_view *v, uint32_t path, uint32_t before)
{
  for (; VYRE_ROW_OP(v->op[path]) == VYRE_OP_at; before = path, path = v->a[path]) {
    if (VYRE_ROW_OP(v->op[v->parent[path]]) == VYRE_OP_program)
      return; /* the steps before it are at the top level, too */
    host->move_before(module, path, before);
  }
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  mover m = {.ctx = ctx, .host = ctx->host, .module = module, .v = ctx->host->view(module)};
  const vyre_view *v = m.v;
  uint64_t moved = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_load)
      continue;
    const uint32_t buffer = vyre_buffer_of(v, v->a[row]);
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
    if (VYRE_ROW_OP(v->op[buffer]) != VYRE_OP_buffer || (space != VYRE_SPACE_PUSH && space != VYRE_SPACE_UNIFORM))
      continue;
    const uint32_t construct = construct_of(v, row);
    if (space == VYRE_SPACE_UNIFORM && !m.alias && !summarize_memory(&m))
      return ctx->host->out_of_memory(ctx);
    if (construct == 0 && space == VYRE_SPACE_UNIFORM)
      m.used[buffer] = row;
    if (construct == 0 || (space == VYRE_SPACE_UNIFORM && (m.used[buffer] == 0 || !is_constant(&m, buffer))) ||
        !is_candidate(&m, row))
      continue;
    m.host->move_before(module, row, construct);
    move_path(m.host, module, v, v->a[row], row);
    moved++;
  }
  ctx->host->count(ctx, "loads moved", moved);
  *out = moved ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass early = {
    .struct_size = sizeof(vyre_pass),
    .name = "early",
    .summary = "move loads of push constants and uniform blocks before all control flow",
    .run = run,
};
VYRE_PLUGIN("early", "1.0", &early)
