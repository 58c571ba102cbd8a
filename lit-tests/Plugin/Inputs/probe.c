/* A plugin with passes that use analyses, report them, and claim to preserve them falsely.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

#include <stdio.h>

/* ---- hoist: moves rows that a loop does not change before the loop --------------------------------------------------------
 *
 * Visits inner loops first and each body in program order, so that operands move before their users. */

static bool
is_invariant(const vyre_view *v, uint32_t row, uint32_t loop)
{
  return vyre_row_may_move(v, row, loop) && !vyre_loops_contain(v, loop, v->a[row]) && !vyre_loops_contain(v, loop, v->b[row]) &&
         !vyre_loops_contain(v, loop, v->c[row]);
}

static vyre_status
hoist(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  for (uint32_t loop = vyre_loops_innermost_first(v); loop; loop = vyre_loops_next(v, loop)) {
    for (uint32_t row = vyre_body_first(v, loop), next; row; row = next) {
      next = vyre_body_next(v, loop, row);
      if (!is_invariant(v, row, loop))
        continue;
      ctx->host->move_before(module, row, loop);
      ctx->host->count(ctx, "rows", 1);
      *out = VYRE_CHANGED;
    }
  }
  return VYRE_OK;
}

/* ---- merge: replaces a row by the nearest equal row that dominates it; O(rows^2) ------------------------------------------- */

static bool
are_equal(const vyre_view *v, const uint32_t *fwd, uint32_t x, uint32_t y)
{
  return v->op[x] == v->op[y] && v->imm[x] == v->imm[y] && v->imm_hi[x] == v->imm_hi[y] && v->version[x] == v->version[y] &&
         fwd[v->a[x]] == fwd[v->a[y]] && fwd[v->b[x]] == fwd[v->b[y]] && fwd[v->c[x]] == fwd[v->c[y]];
}

static vyre_status
merge(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t *fwd = (uint32_t *)ctx->host->alloc(ctx, v->rows * sizeof(uint32_t));
  *out = VYRE_UNCHANGED;
  if (!fwd)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t y = 1; y < v->rows; y++) {
    fwd[y] = y;
    for (uint32_t x = y - 1; x > 0 && vyre_row_is_value(v, y) && fwd[y] == y; x--)
      if (vyre_row_dominates(v, x, y) && are_equal(v, fwd, x, y))
        fwd[y] = fwd[x];
    if (fwd[y] != y) {
      ctx->host->count(ctx, "rows", 1);
      *out = VYRE_CHANGED;
    }
  }
  if (*out == VYRE_CHANGED)
    ctx->host->forward(module, fwd);
  return VYRE_OK;
}

/* ---- reports -------------------------------------------------------------------------------------------------------------- */

static vyre_status
show_loops(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  char text[128];
  *out = VYRE_UNCHANGED;
  for (uint32_t loop = vyre_loops_innermost_first(v); loop; loop = vyre_loops_next(v, loop)) {
    uint32_t exit = v->loop_exit[loop], rows = 0;
    for (uint32_t row = vyre_body_first(v, loop); row; row = vyre_body_next(v, loop, row))
      rows++;
    snprintf(text, sizeof(text), "%s, %u rows in it, %s, exit: %s", v->loop[loop] ? "inner" : "outer", rows,
             vyre_loop_surely_runs(v, loop) ? "surely runs" : "may not run",
             exit ? vyre_op_info_of(v, VYRE_ROW_OP(v->op[exit]))->text : "none");
    ctx->host->remark(ctx, loop, text);
  }
  return VYRE_OK;
}

static vyre_status
show_levels(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  char text[64];
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    snprintf(text, sizeof(text), "level %u, depth %u", v->level[row], v->depth[row]);
    ctx->host->remark(ctx, row, text);
  }
  return VYRE_OK;
}

/* Follows `version` back through joins to writes and the program's start, and counts writes, joins and edges. */
static void
follow(const vyre_view *v, uint32_t version, uint8_t *seen, uint32_t *writes, uint32_t *joins, uint32_t *edges)
{
  const vyre_join *join = vyre_join_of(v, version);
  if (!join) {
    *writes += (vyre_op_flags_of(v, version) & VYRE_OP_WRITES) != 0;
    return;
  }
  if (seen[version & ~VYRE_JOIN]++)
    return;
  ++*joins;
  for (uint32_t part = 0; part < join->count; part++) {
    ++*edges;
    follow(v, v->parts[join->first + part].version, seen, writes, joins, edges);
  }
}

static vyre_status
show_states(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  char text[160];
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (!vyre_op_has_version(vyre_op_info_of(v, vyre_op_of(v, row))) || v->version[row] == 0)
      continue;
    uint8_t *seen = (uint8_t *)ctx->host->alloc(ctx, v->join_count + 1);
    uint32_t writes = 0, joins = 0, edges = 0;
    if (!seen)
      return ctx->host->out_of_memory(ctx);
    follow(v, v->version[row], seen, &writes, &joins, &edges);
    snprintf(text, sizeof(text), "state of %s: %u writes, %u edges, %u joins",
             vyre_op_info_of(v, vyre_op_of(v, vyre_version_row(v, v->version[row])))->text, writes, edges, joins);
    ctx->host->remark(ctx, row, text);
  }
  return VYRE_OK;
}

/* Reports side data of rows: lines, types of memory, decorations and hints. */
static vyre_status
show_data(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *h = ctx->host;
  const vyre_view *v = h->view(module);
  char text[256];
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    const char *file;
    uint32_t column, count, literals[VYRE_HINT_BITS];
    const uint32_t line = h->line(module, row, &file, &column), *words = h->decorations(module, row, &count);
    const uint32_t type = h->path_type(module, row);
    vyre_memory_type info = {.struct_size = sizeof info};
    if (words && !vyre_row_is_loop(v, row)) {
      snprintf(text, sizeof text, "%s is decorated: %u words, first %u", h->name(module, row), count, words[0]);
      h->remark(ctx, row, text);
    }
    if (line && vyre_op_of(v, row) == VYRE_OP_store) {
      snprintf(text, sizeof text, "stored by line %u, column %u of %s", line, column, file);
      h->remark(ctx, row, text);
    }
    if (vyre_row_is_loop(v, row)) {
      const uint32_t hints = h->hints(module, row, literals);
      snprintf(text, sizeof text, "hints 0x%x, literals %u, %u and %u", hints, literals[4], literals[5], literals[7]);
      h->remark(ctx, row, text);
    }
    if (type == 0 || !h->type_info(module, type, &info))
      continue;
    snprintf(text, sizeof text, "type: form %u, %u of stride %u, %u bytes '%s'", info.form, info.count, info.stride, info.size,
             info.name);
    h->remark(ctx, row, text);
    for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count; i++) {
      vyre_memory_member member = {.struct_size = sizeof member};
      if (h->member_info(module, type, i, &member)) {
        snprintf(text, sizeof text, "member %u '%s' at %u, access 0x%x", i, member.name, member.offset, member.access);
        h->remark(ctx, row, text);
      }
    }
  }
  return VYRE_OK;
}

/* Fails if the view has an analysis, because the pass requires none. */
static vyre_status
look(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  if (v->version || v->loop || v->loop_next || v->loop_exit || v->end || v->level || v->depth)
    return ctx->host->error(ctx, 0, "the view has an analysis that the pass does not require");
  return VYRE_OK;
}

/* ---- changes -------------------------------------------------------------------------------------------------------------- */

/* Sets an operand of an add to the add before it in its region, which changes the level of the row. */
static vyre_status
relevel(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t before = 0;
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_add)
      continue;
    if (before && v->parent[row] == v->parent[before] && v->a[row] != before) {
      ctx->host->set_operand(module, row, 0, before);
      *out = VYRE_CHANGED;
      return VYRE_OK;
    }
    before = row;
  }
  return VYRE_OK;
}

#define PASS(id, text, about, needed, kept) \
  static const vyre_pass id##_pass = {      \
      .struct_size = sizeof(vyre_pass), .name = text, .summary = about, .requires_ = (needed), .preserves = (kept), .run = id}

PASS(hoist, "probe.hoist", "move rows that a loop does not change before it", VYRE_LOOPS | VYRE_VERSIONS, VYRE_VERSIONS);
PASS(merge, "probe.merge", "replace rows by equal rows that dominate them", VYRE_DOMINANCE | VYRE_VERSIONS,
     VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE);
PASS(show_loops, "probe.show-loops", "report the loops", VYRE_LOOPS, VYRE_ANALYSES);
PASS(show_levels, "probe.show-levels", "report the rows' levels", VYRE_LEVELS, VYRE_ANALYSES);
PASS(show_states, "probe.show-states", "report the states of reads", VYRE_VERSIONS, VYRE_ANALYSES);
PASS(show_data, "probe.show-data", "report side data", 0, VYRE_ANALYSES);
PASS(look, "probe.look", "fail if an analysis is visible", 0, VYRE_ANALYSES);
PASS(relevel, "probe.relevel", "change a level", 0, VYRE_ANALYSES & ~VYRE_LEVELS);
static const vyre_pass liar_pass = {.struct_size = sizeof(vyre_pass),
                                    .name = "probe.liar",
                                    .summary = "change a level, and claim to preserve it",
                                    .requires_ = VYRE_LEVELS,
                                    .preserves = VYRE_ANALYSES,
                                    .run = relevel};

VYRE_PLUGIN("probe", "1.0", &hoist_pass, &merge_pass, &show_loops_pass, &show_levels_pass, &show_states_pass, &show_data_pass,
            &look_pass, &relevel_pass, &liar_pass)
