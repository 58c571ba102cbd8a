/* Early loads: a load of push constants or of a uniform block moves out of all control, to before the construct of the program's
 * top that it is in.
 *
 * They are there at the start, nothing can write them, and drivers keep push constants in registers.  Within an arm a load costs a
 * branch, because drivers make a `select` of an `if` only where its arms load nothing, and equal loads in two arms are two.  A load
 * moves with the steps of its path.  O(rows + loads * depth).
 *
 * A uniform block may be unbound where no invocation uses it, so a load of one moves only where a load of the same block stands at
 * the program's top in front of the construct; and only where no memory that can be written may be the same.
 *
 * Limits: paths of literal steps in bounds; nothing volatile, coherent or decorated; no element of an array of descriptors.
 *
 * requires: nothing      preserves: nothing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

/* Whether the row is a step by a literal of a path that only such steps lead to. */
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
  /* Of uniform blocks; NULL: there was none yet. */
  uint32_t *alias; /* by row */
  bool *written;   /* by first buffer of a class: there is other memory in it; by program: a row touches all memory */
  uint32_t *used;  /* by buffer: a load of it at the program's top, the last one so far; 0: none */
} mover;

/* What uniform blocks need to be known; false: out of memory. */
static bool
look_at_memory(mover *m)
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

/* The construct of the program's top that the row is in; 0: it is there itself. */
static uint32_t
construct_of(const vyre_view *v, uint32_t row)
{
  uint32_t construct = 0;
  for (; VYRE_ROW_OP(v->op[v->parent[row]]) != VYRE_OP_program; row = v->parent[row])
    construct = v->parent[row];
  return construct;
}

static void
move_path(const vyre_host *host, vyre_module *module, const vyre_view *v, uint32_t path, uint32_t before)
{
  for (; VYRE_ROW_OP(v->op[path]) == VYRE_OP_at; before = path, path = v->a[path]) {
    if (VYRE_ROW_OP(v->op[v->parent[path]]) == VYRE_OP_program)
      return; /* the steps in front of it are there, too */
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
    const uint32_t buffer = VYRE_ROW_OP(v->op[row]) == VYRE_OP_load ? vyre_buffer_of(v, v->a[row]) : 0;
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
    if (VYRE_ROW_OP(v->op[buffer]) != VYRE_OP_buffer || (space != VYRE_SPACE_PUSH && space != VYRE_SPACE_UNIFORM))
      continue;
    const uint32_t construct = construct_of(v, row);
    if (space == VYRE_SPACE_UNIFORM && !m.alias && !look_at_memory(&m))
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
    .summary = "loads of push constants and uniform blocks before the control that they are in",
    .run = run,
};
VYRE_PLUGIN("early", "1.0", &early)
