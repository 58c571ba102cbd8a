/* The nodes of a pipeline that contain others: repeat, fixpoint and groups.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "retire.h"
#include "run.h"

#include <inttypes.h>
#include <stdio.h>

/* Reports that a fixpoint reached its maximum of rounds, as its on-limit parameter says. */
static vyre_status
report_limit(run *r, uint32_t id, const uint64_t *values)
{
  if (values[VYRE_FIXPOINT_ON_LIMIT] == VYRE_ON_LIMIT_QUIET)
    return VYRE_OK;
  vyre_bytes text = {.allocator = vyre_module_allocator(r->module)};
  vyre_status status = vyre_print_node(r->pipeline, id, true, &text);
  char message[600];
  if (!status)
    snprintf(message, sizeof(message), "%.400s still %s in round %" PRIu64, text.data,
             values[VYRE_FIXPOINT_WHILE] == VYRE_WHILE_BRANCHES ? "left branches on constants" : "changed the module",
             values[VYRE_FIXPOINT_MAX]);
  if (!status && values[VYRE_FIXPOINT_ON_LIMIT] == VYRE_ON_LIMIT_ERROR)
    status = VYRE_ERROR(VYRE_CODE_INPUT, "%s\nFix: raise max, or set on-limit=warn", message);
  if (!status && r->options.diagnostics.emit) {
    const vyre_diagnostic diagnostic = {.severity = VYRE_WARNING,
                                        .file = vyre_context_file(r->module, 0),
                                        .message = message,
                                        .fix = "raise max, or set on-limit=quiet if this is expected"};
    r->options.diagnostics.emit(r->options.diagnostics.user, &diagnostic);
  }
  vyre_bytes_free(&text);
  return status;
}

static uint32_t
left_of(uint64_t rounds)
{
  return rounds < UINT32_MAX ? (uint32_t)rounds : UINT32_MAX;
}

static vyre_status
run_rounds(run *r, uint32_t id, vyre_retirement *retirement, bool *out_changed)
{
  const uint64_t *values = vyre_node_values(r->pipeline, &r->pipeline->nodes[id]);
  const uint64_t max = values[VYRE_FIXPOINT_MAX];
  uint64_t round = 0;
  bool changed = true, has_lost = false; /* if rounds lost versions, later rounds run one by one */
  if (retirement->by_branches)
    VYRE_TRY(vyre_retirement_end_round(retirement, true, &changed)); /* programs without such branches have no round */
  while (changed && round < max) {
    fused_rounds fused = {.changed = retirement->changed};
    VYRE_TRY(vyre_run_fused_rounds(r, id, has_lost ? 1 : left_of(max - round), &fused));
    has_lost |= fused.lost;
    *out_changed |= fused.any;
    round += fused.rounds;
    if (fused.rounds) {
      VYRE_TRY(vyre_retirement_end_rounds(retirement, fused.rounds, fused.again, round < max, &changed));
      continue;
    }
    changed = false;
    round++;
    vyre_retirement_begin_round(retirement);
    VYRE_TRY(vyre_run_children(r, id, &changed));
    *out_changed |= changed;
    if (changed)
      VYRE_TRY(vyre_retirement_end_round(retirement, round < max, &changed));
  }
  vyre_report_count_add(r->options.report, "fixpoint", "rounds", round);
  if (changed)
    vyre_report_count_add(r->options.report, "fixpoint", "limits reached", 1);
  return changed ? report_limit(r, id, values) : VYRE_OK;
}

static vyre_status
run_fixpoint(run *r, uint32_t id, bool *out_changed)
{
  const uint64_t *values = vyre_node_values(r->pipeline, &r->pipeline->nodes[id]);
  vyre_retirement retirement;
  VYRE_TRY(vyre_retirement_begin(r, values[VYRE_FIXPOINT_WHILE] == VYRE_WHILE_BRANCHES, &retirement));
  r->fixpoints++;
  vyre_status status = run_rounds(r, id, &retirement, out_changed);
  r->fixpoints--;
  return vyre_status_join(status, vyre_retirement_end(&retirement, status == VYRE_OK));
}

static vyre_status
run_repeat(run *r, uint32_t id, bool *out_changed)
{
  const uint64_t times = r->pipeline->values[r->pipeline->nodes[id].values];
  bool has_lost = false;
  for (uint64_t i = 0; i < times;) {
    fused_rounds fused = {0};
    VYRE_TRY(vyre_run_fused_rounds(r, id, has_lost ? 1 : left_of(times - i), &fused));
    has_lost |= fused.lost;
    *out_changed |= fused.any;
    i += fused.rounds;
    if (fused.rounds)
      continue;
    VYRE_TRY(vyre_run_children(r, id, out_changed));
    i++;
  }
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
