/* Early loads: a load of push constants moves out of all control, to before the construct of the program's top that it is in.
 *
 * Push constants are there at the start, nothing can write them, and drivers keep them in registers: the load costs nothing where
 * it did not run before.  Within an arm it costs a branch, because drivers make a `select` of an `if` only where its arms load
 * nothing, and equal loads in two arms are two.  A load moves with the steps of its path.  O(rows + loads * depth).
 *
 * Limits: paths of literal steps in bounds; nothing volatile or decorated.  Other memory stays: a uniform block may be unbound
 * where no invocation uses it.
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

static bool
may_be_early(const vyre_host *host, const vyre_module *module, const vyre_view *v, uint32_t row)
{
  const uint32_t path = v->a[row], buffer = vyre_buffer_of(v, path);
  return VYRE_ROW_OP(v->op[buffer]) == VYRE_OP_buffer && VYRE_BUFFER_SPACE(v->imm_hi[buffer]) == VYRE_SPACE_PUSH &&
         (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) == 0 && is_literal_path(v, path) &&
         host->in_bounds(module, path);
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
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  uint64_t moved = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_load || VYRE_ROW_OP(v->op[v->parent[row]]) == VYRE_OP_program ||
        !may_be_early(host, module, v, row))
      continue;
    uint32_t construct = v->parent[row];
    while (VYRE_ROW_OP(v->op[v->parent[construct]]) != VYRE_OP_program)
      construct = v->parent[construct];
    host->move_before(module, row, construct);
    move_path(host, module, v, v->a[row], row);
    moved++;
  }
  host->count(ctx, "loads moved", moved);
  *out = moved ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass early = {
    .struct_size = sizeof(vyre_pass),
    .name = "early",
    .summary = "loads of push constants before the control that they are in",
    .run = run,
};
VYRE_PLUGIN("early", "1.0", &early)
