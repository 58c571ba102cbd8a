/* Runs neighbouring GPU passes as one sequence on a device.  The output is the same as that of separate runs, bit for bit.
 *
 * All passes are prepared first, then the device runs them, then each is ended.  Dead rows are removed and the table is sealed
 * once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "choose.h"
#include "base/clock.h"
#include "base/grow.h"
#include "phases.h"
#include "resident.h"
#include "passmgr/runner/run.h"
#include "schedule.h"
#include "sequence.h"

#include <inttypes.h>

typedef struct fused {
  run *r;
  schedule_member members[SCHEDULE_MOST];
  vyre_context *contexts; /* owned */
  uint32_t count;
  uint32_t wanted;    /* analyses and columns that are required at the start */
  uint32_t preserved; /* analyses and columns that are valid at the end */
  bool changed;       /* a pass changed the module */
  bool round_changed; /* a pass changed the module since this was reset */
  sequence_rounds rounds;
} fused;

bool
vyre_run_is_observed(const vyre_pipeline_options *o)
{
  return o->verify_each || o->run_twice || o->observe;
}

static bool
is_on_host(const run *r)
{
  return r->options.device->threads > 0;
}

static const vyre_node *
node_of(const fused *f, uint32_t member)
{
  const uint32_t node = f->members[member].node;
  return node ? &f->r->pipeline->nodes[node] : NULL;
}

/* Copies the members, except providers whose column is still valid, and sets the ends of rounds.  Returns the analyses and columns
 * that the members require at the start. */
static uint32_t
select_members(fused *f, const schedule *s)
{
  uint32_t wanted = 0, made = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const vyre_pass_record *record = s->members[i].record;
    if (s->members[i].node == 0 && s->members[i].unless_fresh && (record->pass.provides & f->r->fresh))
      continue;
    f->members[f->count++] = s->members[i];
    f->rounds.ends[s->members[i].round] = f->count;
    wanted |= vyre_schedule_requirements(record, is_on_host(f->r)) & ~made;
    made |= record->pass.provides;
  }
  return wanted;
}

/* Returns the number of the member's run in the pipeline.  A provider has the number of the pass after it. */
static uint64_t
run_number_of(const fused *f, uint32_t member)
{
  uint64_t number = f->r->number + (f->members[member].node == 0);
  for (uint32_t i = 0; i <= member; i++)
    number += f->members[i].node != 0;
  return number;
}

static vyre_status
add_note(const fused *f, uint32_t member, vyre_status status)
{
  return vyre_status_note(status, "in pass '%s', run %" PRIu64 " of the pipeline", f->members[member].record->pass.name,
                          run_number_of(f, member));
}

/* Ends the run of a member without an error. */
static void
end_context(fused *f, uint32_t member)
{
  vyre_context_settle(&f->contexts[member], NULL);
  vyre_context_return_scratch(&f->contexts[member]);
}

static void
end_contexts(fused *f, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++)
    end_context(f, i);
}

/* Ends the run of a member with its status.  Even if that is NULL, the module may have an error. */
static vyre_status
end_call(fused *f, uint32_t member, vyre_status status)
{
  vyre_context *context = &f->contexts[member];
  return add_note(f, member, vyre_run_finish_call(f->r, context->record, context, status));
}

/* Returns the index of the member that is the same pass in an earlier round, or `member` if there is none. */
static uint32_t
find_earlier(const fused *f, uint32_t member)
{
  const schedule_member *m = &f->members[member];
  uint32_t i = 0;
  while (i < member && (f->members[i].node != m->node || f->members[i].record != m->record || f->members[i].round == m->round))
    i++;
  return i;
}

static vyre_status
begin_one(fused *f, uint32_t member)
{
  const uint32_t earlier = find_earlier(f, member);
  const vyre_pass_record *record = f->members[member].record;
  if (earlier < member)
    return vyre_phases_begin_again(&f->contexts[member], &f->contexts[earlier]);
  vyre_stopwatch watch = {0};
  vyre_run_start(f->r, &watch, "(prepare)");
  vyre_foreign_call call;
  vyre_run_enter(record, run_number_of(f, member), &call);
  vyre_status status = vyre_phases_begin(&f->contexts[member], f->r->module);
  vyre_run_leave(record, &call);
  vyre_run_stop(f->r, &watch, 0, false);
  return status;
}

/* Prepares all members.  On failure no context remains open. */
static vyre_status
begin_all(fused *f)
{
  for (uint32_t i = 0; i < f->count; i++) {
    const vyre_pass_record *record = f->members[i].record;
    const vyre_node *node = node_of(f, i);
    vyre_module_show_analyses(f->r->module, vyre_schedule_requirements(record, is_on_host(f->r)));
    f->contexts[i] = vyre_run_context(f->r, record, node ? vyre_node_values(f->r->pipeline, node) : NULL);
    vyre_status status = begin_one(f, i);
    if (status) {
      end_contexts(f, 0, i);
      return end_call(f, i, status);
    }
  }
  return VYRE_OK;
}

/* Reports the counters and the result of a member and calls its `finish`, as if it had run alone. */
static vyre_status
end_one(fused *f, uint32_t member)
{
  run *r = f->r;
  vyre_context *context = &f->contexts[member];
  const vyre_pass *pass = &context->record->pass;
  const vyre_node *node = node_of(f, member);
  vyre_result result = VYRE_UNCHANGED;
  vyre_status printed = node ? vyre_run_print(r, node, run_number_of(f, member)) : VYRE_OK;
  if (printed)
    return end_call(f, member, printed);
  if (node && vyre_run_is_settled(r, node)) {
    vyre_report_skip_add(r->options.report, pass->name);
    vyre_run_print_skipped(r);
    end_context(f, member);
    return VYRE_OK;
  }
  vyre_module_show_analyses(r->module, vyre_schedule_requirements(context->record, is_on_host(r)));
  vyre_foreign_call call;
  vyre_run_enter(context->record, run_number_of(f, member), &call);
  vyre_status status = vyre_phases_end(context, r->module, &result);
  vyre_run_leave(context->record, &call);
  const bool changed = result == VYRE_CHANGED;
  if (r->options.report)
    vyre_report_run_add(r->options.report, pass->name, changed);
  f->preserved &= changed ? pass->preserves | context->preserved : UINT32_MAX;
  f->preserved |= pass->provides;
  r->fresh |= pass->provides;
  f->changed |= changed;
  f->round_changed |= changed;
  if (node) {
    vyre_run_print_result(r, changed);
    r->changes += changed;
    r->settled[node - r->pipeline->nodes] = changed ? 0 : r->changes + 1;
  }
  return end_call(f, member, status);
}

/* Ends the members from `first` to `end`.  On failure no context remains open. */
static vyre_status
end_members(fused *f, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    vyre_status status = end_one(f, i);
    if (status) {
      end_contexts(f, i + 1, f->count);
      return status;
    }
  }
  return VYRE_OK;
}

static vyre_status
report_no_change(const fused *f, uint32_t last)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "the sequence of passes that ends with '%s' reports no change, but the module changed" VYRE_PASS_FIX,
                    f->members[last].record->pass.name);
}

static vyre_status
seal_changes(fused *f, uint64_t before)
{
  run *r = f->r;
  if (!f->changed && r->options.check_changed && vyre_run_hash_module(r->module) != before)
    return report_no_change(f, f->count - 1);
  if (!f->changed)
    return VYRE_OK;
  vyre_module_settle_rows(r->module);
  r->preserved = f->preserved;
  return vyre_run_settle_change(r, NULL);
}

/* Marks columns that the members provide as lost.  Preparing the members cleared them if passes are checked (check_changed), so a
 * pass that requires a valid one gets it computed again. */
static void
lose_columns(const fused *f)
{
  for (uint32_t i = 0; i < f->count; i++)
    f->r->options.device->pending |= f->members[i].record->pass.provides;
}

/* Runs the members without ending them.  If *out_fits is false, nothing ran and no context is open, as on failure. */
static vyre_status
run_members(fused *f, bool *out_fits)
{
  run *r = f->r;
  VYRE_TRY(begin_all(f));
  vyre_module_show_analyses(r->module, f->wanted);
  vyre_stopwatch watch = {0};
  const uint64_t asked = r->options.device->choices ? clock_now() : 0;
  vyre_run_start(r, &watch, "(sequence)");
  vyre_status status =
      vyre_sequence_run(r->options.device, f->contexts, f->count, f->rounds.count > 1 ? &f->rounds : NULL, r->module, out_fits);
  if (r->options.device->choices && !status && *out_fits)
    vyre_choose_learn_there(r->options.device, clock_now() - asked);
  vyre_run_stop(r, &watch, 0, false);
  if (status || !*out_fits) {
    lose_columns(f);
    end_contexts(f, 1, f->count);
    return end_call(f, 0, status);
  }
  return VYRE_OK;
}

static vyre_status
run_sequence(fused *f, bool *out_fits)
{
  const uint64_t before = f->r->options.check_changed ? vyre_run_hash_module(f->r->module) : 0;
  VYRE_TRY(run_members(f, out_fits));
  if (!*out_fits)
    return VYRE_OK;
  VYRE_TRY(end_members(f, 0, f->count));
  return seal_changes(f, before);
}

/* Returns the number of consecutive selected passes from the node on.  At most SCHEDULE_MOST. */
static uint32_t
count_wanted(const run *r, uint32_t node)
{
  const vyre_node *nodes = r->pipeline->nodes;
  uint32_t count = 0;
  for (; node && count < SCHEDULE_MOST && nodes[node].kind == VYRE_NODE_PASS; node = nodes[node].next)
    if (!vyre_run_is_selected(r, nodes[node].record, r->number + ++count))
      return count - 1;
  return count;
}

/* Sets r->is_chosen if the target is `auto`.  Returns in *out_runs whether the device runs the members. */
static vyre_status
choose_device(const fused *f, uint32_t rounds, bool *out_runs)
{
  const vyre_pass_record *records[SCHEDULE_MOST];
  *out_runs = true;
  if (!f->r->options.device->choices)
    return VYRE_OK;
  for (uint32_t i = 0; i < f->count; i++)
    records[i] = f->members[i].record;
  VYRE_TRY(vyre_run_choose(f->r, records, f->count, rounds));
  *out_runs = f->r->is_chosen;
  return VYRE_OK;
}

vyre_status
vyre_run_fused(run *r, uint32_t node, bool *out_changed, uint32_t *out_next)
{
  const vyre_pipeline *pipeline = r->pipeline;
  const vyre_allocator *allocator = vyre_module_allocator(r->module);
  fused f = {.r = r, .preserved = UINT32_MAX};
  schedule s;
  bool fits;
  *out_next = node;
  if (!r->options.device || vyre_run_is_observed(&r->options) || pipeline->nodes[node].kind != VYRE_NODE_PASS ||
      vyre_run_is_settled(r, &pipeline->nodes[node]))
    return VYRE_OK;
  const vyre_schedule_options options = vyre_run_schedule_options(r);
  vyre_schedule_make(pipeline, node, count_wanted(r, node), options, &s);
  if (s.count < 2)
    return VYRE_OK;
  f.wanted = select_members(&f, &s);
  VYRE_TRY(choose_device(&f, 1, &fits));
  if (!fits)
    return VYRE_OK;
  VYRE_TRY(vyre_run_make_analyses(r, f.wanted));
  f.contexts = vyre_allocate(allocator, f.count * sizeof *f.contexts);
  if (!f.contexts)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  vyre_status status = run_sequence(&f, &fits);
  vyre_release(allocator, f.contexts, f.count * sizeof *f.contexts);
  if (status || !fits)
    return status;
  *out_changed |= f.changed;
  r->number += s.passes;
  *out_next = pipeline->nodes[f.members[f.count - 1].node].next;
  return VYRE_OK;
}

/* ---- rounds -------------------------------------------------------------------------------------------------------------- */

/* Returns the largest number of rounds in a submission.  A choice of the device assumes that all rounds run.  So a fixpoint then
 * has two: a first round that changes the module, and the next one.  The device must be open, because sequences decide about
 * opening. */
static uint32_t
most_rounds(const run *r, uint32_t id)
{
  const vyre_device *device = r->options.device;
  const uint32_t limit = vyre_schedule_most_rounds(r->pipeline, id);
  if (!device->choices)
    return limit;
  return !device->ops ? 0 : r->pipeline->nodes[id].kind == VYRE_NODE_FIXPOINT && limit > 2 ? 2 : limit;
}

/* Makes a schedule of rounds whose passes are all selected. */
static void
schedule_rounds(const run *r, uint32_t id, uint32_t most, schedule *out)
{
  const vyre_schedule_options options = vyre_run_schedule_options(r);
  vyre_schedule_rounds(r->pipeline, id, most, options, out);
  uint32_t selected = 0;
  for (uint32_t i = 0, passes = 0; i < out->count; i++) {
    const schedule_member *m = &out->members[i];
    if (m->node && selected == passes && vyre_run_is_selected(r, m->record, r->number + ++passes))
      selected++;
  }
  if (selected < out->passes)
    vyre_schedule_rounds(r->pipeline, id, selected / (out->passes / out->rounds), options, out);
}

/* Ends the members of the rounds that the pipeline would run one by one.  `valid` is the number of rounds that ran in full.  Sets
 * out->rounds and out->again. */
static vyre_status
end_rounds(fused *f, uint32_t valid, uint32_t changing, fused_rounds *out)
{
  uint32_t first = 0;
  out->again = true;
  while (out->rounds < valid && out->again) {
    const uint32_t end = f->rounds.ends[out->rounds++];
    f->round_changed = false;
    VYRE_TRY(end_members(f, first, end));
    f->changed |= f->round_changed;
    out->again = f->round_changed || !f->rounds.until_unchanged;
    first = end;
    if (!out->again && out->rounds <= changing) {
      end_contexts(f, first, f->count);
      return report_no_change(f, end - 1);
    }
  }
  end_contexts(f, first, f->count);
  return VYRE_OK;
}

/* Marks provided columns as valid if no pass changed the module after their providers.  Neither the host nor the device keeps their
 * contents, so they are computed again when a pass requires them. */
static void
keep_columns(const fused *f, uint32_t provided)
{
  run *r = f->r;
  const uint32_t columns = provided & f->preserved & VYRE_COLUMNS;
  r->fresh |= columns;
  r->options.device->pending |= columns;
}

static vyre_status
run_rounds(fused *f, fused_rounds *out, bool *out_fits)
{
  run *r = f->r;
  const uint64_t before = r->options.check_changed ? vyre_run_hash_module(r->module) : 0;
  const uint32_t programs = vyre_count_programs(vyre_module_view(r->module));
  uint32_t changing = 0, provided = 0, passes = 0;
  VYRE_TRY(run_members(f, out_fits));
  if (!*out_fits)
    return VYRE_OK;
  for (uint32_t i = 0; i < programs && f->rounds.until_unchanged; i++)
    changing = out->changed[i] > changing ? out->changed[i] : changing;
  const bool ended = f->rounds.until_unchanged && changing + 1 < f->rounds.count;
  const uint32_t ran = ended ? changing + 1 : f->rounds.count, lost = f->rounds.lost;
  VYRE_TRY(end_rounds(f, lost && lost < ran ? lost : ran, changing, out));
  out->lost = lost != 0;
  for (uint32_t i = 0; i < f->rounds.ends[out->rounds - 1]; i++) {
    provided |= f->members[i].record->pass.provides;
    passes += f->members[i].node != 0;
  }
  VYRE_TRY(seal_changes(f, before));
  keep_columns(f, provided);
  r->number += passes;
  return VYRE_OK;
}

vyre_status
vyre_run_fused_rounds(run *r, uint32_t id, uint32_t most, fused_rounds *out)
{
  const vyre_allocator *allocator = vyre_module_allocator(r->module);
  fused f = {.r = r, .preserved = UINT32_MAX};
  schedule s;
  bool fits = true;
  out->rounds = 0;
  if (!r->options.device || vyre_run_is_observed(&r->options))
    return VYRE_OK;
  const uint32_t limit = most_rounds(r, id);
  schedule_rounds(r, id, most < limit ? most : limit, &s);
  if (s.rounds == 0)
    return VYRE_OK;
  f.rounds.count = s.rounds;
  f.rounds.until_unchanged = r->pipeline->nodes[id].kind == VYRE_NODE_FIXPOINT;
  f.rounds.checks_versions = s.checks_versions;
  f.rounds.changed = out->changed;
  f.wanted = select_members(&f, &s);
  VYRE_TRY(vyre_run_seal(r));
  VYRE_TRY(choose_device(&f, s.rounds, &fits));
  if (!fits)
    return VYRE_OK;
  VYRE_TRY(vyre_run_make_analyses(r, f.wanted));
  f.contexts = vyre_allocate(allocator, f.count * sizeof *f.contexts);
  if (!f.contexts)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  vyre_status status = run_rounds(&f, out, &fits);
  vyre_release(allocator, f.contexts, f.count * sizeof *f.contexts);
  out->any |= f.changed;
  return status;
}
