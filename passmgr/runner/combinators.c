/* The nodes of a pipeline that contain others: repeat, fixpoint and groups.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "base/grow.h"
#include "vyre/batch.h"
#include "vyre/view.h"

#include <inttypes.h>
#include <stdio.h>

/* Reports that a fixpoint reached its maximum of rounds, as its on-limit parameter says. */
static vyre_status
report_limit(run *r, uint32_t id, uint64_t max, uint64_t on_limit)
{
  if (on_limit == VYRE_ON_LIMIT_QUIET)
    return VYRE_OK;
  vyre_bytes text = {.allocator = vyre_module_allocator(r->module)};
  vyre_status status = vyre_print_node(r->pipeline, id, true, &text);
  if (!status && on_limit == VYRE_ON_LIMIT_ERROR)
    status =
        VYRE_ERROR(VYRE_CODE_INPUT, "%.400s still changed the module in round %" PRIu64 "\nFix: raise max, or set on-limit=warn",
                   text.data, max);
  if (!status && r->options.diagnostics.emit) {
    char message[600];
    snprintf(message, sizeof(message), "%.400s still changed the module in round %" PRIu64, text.data, max);
    const vyre_diagnostic diagnostic = {.severity = VYRE_WARNING,
                                        .file = vyre_context_file(r->module, 0),
                                        .message = message,
                                        .fix = "raise max, or set on-limit=quiet if this is expected"};
    r->options.diagnostics.emit(r->options.diagnostics.user, &diagnostic);
  }
  vyre_bytes_free(&text);
  return status;
}

static bool
is_branch_on_constant(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  return (op == VYRE_OP_if || op == VYRE_OP_switch || op == VYRE_OP_breakif) && vyre_op_of(v, v->a[row]) == VYRE_OP_const;
}

/* Sets done[i] if program i has no branch on a constant.  Returns the number of programs that have one. */
static uint32_t
find_done(const vyre_view *v, bool *done)
{
  uint32_t left = 0;
  for (uint32_t program = v->first[0], i = 0; program; program = v->next[program], i++) {
    const uint32_t end = vyre_program_end(v, program);
    uint32_t row = program;
    while (row < end && !is_branch_on_constant(v, row))
      row++;
    done[i] = row == end;
    left += !done[i];
  }
  return left;
}

/* Drops analyses, because programs are set aside or put back. */
static void
forget_module(run *r)
{
  vyre_module_drop_analyses(r->module, r->fresh, r->options.check_changed);
  r->fresh = 0;
  r->changes++;
}

/* Runs a round over the programs that are not done.  So the result for a program does not depend on the other programs of the
 * module. */
static vyre_status
run_others(run *r, uint32_t id, const bool *done, bool *out_changed)
{
  run_aside aside = {.outer = r->aside};
  forget_module(r);
  VYRE_TRY(vyre_module_set_aside(r->module, done, &aside.rows));
  r->aside = &aside;
  vyre_status status = vyre_run_children(r, id, out_changed);
  r->aside = aside.outer;
  forget_module(r);
  status = vyre_status_join(status, vyre_module_put_back(r->module, aside.rows));
  vyre_aside_destroy(aside.rows);
  return status;
}

static vyre_status
run_fixpoint_of(run *r, uint32_t id, bool *done, uint32_t programs, bool *out_changed)
{
  const uint64_t *values = vyre_node_values(r->pipeline, &r->pipeline->nodes[id]);
  const uint64_t max = values[VYRE_FIXPOINT_MAX];
  uint64_t round = 0;
  uint32_t left = programs;
  bool changed = true;
  while (changed && round < max) {
    changed = false;
    round++;
    VYRE_TRY(left == programs ? vyre_run_children(r, id, &changed) : run_others(r, id, done, &changed));
    *out_changed |= changed;
    if (changed && values[VYRE_FIXPOINT_AGAIN] == VYRE_AGAIN_BRANCHES) {
      left = find_done(vyre_module_view(r->module), done);
      changed = left > 0;
    }
  }
  vyre_report_count_add(r->options.report, "fixpoint", "rounds", round);
  if (changed)
    vyre_report_count_add(r->options.report, "fixpoint", "limits reached", 1);
  return changed ? report_limit(r, id, max, values[VYRE_FIXPOINT_ON_LIMIT]) : VYRE_OK;
}

static vyre_status
run_fixpoint(run *r, uint32_t id, bool *out_changed)
{
  const vyre_allocator *allocator = vyre_module_allocator(r->module);
  const uint32_t programs = vyre_count_programs(vyre_module_view(r->module));
  bool *done = vyre_allocate(allocator, (programs + 1) * sizeof *done);
  if (!done)
    return VYRE_OUT_OF_MEMORY("to run a pipeline");
  r->fixpoints++;
  vyre_status status = run_fixpoint_of(r, id, done, programs, out_changed);
  r->fixpoints--;
  vyre_release(allocator, done, (programs + 1) * sizeof *done);
  return status;
}

static vyre_status
run_repeat(run *r, uint32_t id, bool *out_changed)
{
  for (uint64_t i = 0; i < r->pipeline->values[r->pipeline->nodes[id].values]; i++)
    VYRE_TRY(vyre_run_children(r, id, out_changed));
  return VYRE_OK;
}

static vyre_status
run_node(run *r, uint32_t id, bool *out_changed)
{
  const vyre_node *node = &r->pipeline->nodes[id];
  bool changed = false;
  vyre_stopwatch watch = {0};
  if (node->kind == VYRE_NODE_PASS)
    return vyre_run_pass(r, id, out_changed);
  vyre_run_start(r, &watch, node->kind == VYRE_NODE_FIXPOINT ? "(fixpoint)" : "(repeat)");
  VYRE_TRY(node->kind == VYRE_NODE_FIXPOINT ? run_fixpoint(r, id, &changed) : run_repeat(r, id, &changed));
  vyre_run_stop(r, &watch, 0, changed);
  *out_changed |= changed;
  return VYRE_OK;
}

vyre_status
vyre_run_children(run *r, uint32_t id, bool *out_changed)
{
  uint32_t child = r->pipeline->nodes[id].first, next;
  while (child) {
    VYRE_TRY(vyre_run_fused(r, child, out_changed, &next));
    if (next == child) {
      VYRE_TRY(run_node(r, child, out_changed));
      next = r->pipeline->nodes[child].next;
    }
    child = next;
  }
  return vyre_run_seal(r);
}
