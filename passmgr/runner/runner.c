/* Runs a pipeline.  Computes the required analyses before each pass and checks its status and result after it.  Seals, verifies,
 * prints, times and counts.
 *
 * A changed module is sealed here, or after the next pass if that accepts removed rows.  Both give the same result, so printing,
 * timing and verifying do not change it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "passmgr/registry/context.h"
#include "base/clock.h"
#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "passmgr/resident/choose.h"
#include "base/grow.h"
#include "parts.h"
#include "passmgr/resident/phases.h"
#include "run.h"
#include "passmgr/resident/resident.h"
#include "passmgr/resident/schedule.h"
#include "passmgr/resident/sequence.h"
#include "vyre/environment.h"
#include "vyre/text.h"
#include "vyre/verify.h"

void
vyre_run_start(run *r, vyre_stopwatch *watch, const char *name)
{
  if (name[0] == '(' && strcmp(name, "(look)") != 0 && strcmp(name, "(compare)") != 0) /* work of the manager, not a pass */
    vyre_run_print_work(r, name, "");
  if (!r->options.report)
    return;
  vyre_stopwatch_start(watch, r->watch, name);
  r->watch = watch;
}

void
vyre_run_stop(run *r, const vyre_stopwatch *watch, uint64_t number, bool changed)
{
  if (!r->options.report)
    return;
  vyre_report_stop_run(r->options.report, watch, number, changed);
  r->watch = watch->outer;
}

/* ---- inspecting the module ------------------------------------------------------------------------------------------------ */

vyre_status
vyre_print_module(const vyre_module *module, const vyre_pipeline_options *options, bool analyses)
{
  if (!options->print)
    return VYRE_OK;
  vyre_bytes text = {.allocator = vyre_module_allocator(module)};
  vyre_status status =
      vyre_text_print(module, &(vyre_text_options){.struct_size = sizeof(vyre_text_options), .analyses = analyses}, &text);
  if (!status)
    options->print(options->print_user, text.data ? text.data : "", text.size);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
vyre_module_check(const vyre_module *module, const vyre_pipeline_options *options)
{
  vyre_pipeline_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_pipeline_options"));
  const vyre_allocator *allocator = vyre_module_allocator(module);
  vyre_verify_errors errors = {.allocator = allocator};
  vyre_status status = vyre_verify(module, &errors);
  if (status && o.print) {
    vyre_bytes text = {.allocator = allocator};
    vyre_status printed = vyre_verify_print(module, &errors, &text);
    if (!printed)
      o.print(o.print_user, text.data ? text.data : "", text.size);
    vyre_bytes_free(&text);
    status = vyre_status_join(status, printed);
  }
  vyre_verify_errors_free(&errors);
  return status;
}

/* Sets *out to r->module if no program is set aside.  Otherwise sets *out to a copy in which these programs have their rows. */
static vyre_status
begin_whole(const run *r, vyre_module **out)
{
  *out = r->module;
  if (!r->aside)
    return VYRE_OK;
  VYRE_TRY(vyre_module_clone(r->module, out));
  vyre_module_drop_analyses(*out, VYRE_ANALYSES | VYRE_COLUMNS, false);
  vyre_status status = VYRE_OK;
  for (const run_aside *aside = r->aside; aside && !status; aside = aside->outer)
    status = vyre_module_put_back(*out, aside->rows);
  if (status)
    vyre_module_destroy(*out);
  return status;
}

static void
end_whole(const run *r, vyre_module *whole)
{
  if (whole != r->module)
    vyre_module_destroy(whole);
}

/* Calls options.observe.  `what` is the node as text, or NULL at the start of the pipeline. */
static vyre_status
show(run *r, vyre_observe_when when, const vyre_node *node, const char *what, bool changed)
{
  if (!r->options.observe)
    return VYRE_OK;
  vyre_module *whole;
  VYRE_TRY(begin_whole(r, &whole));
  const vyre_observation at = {when, whole, r->number, node ? node->record->pass.name : NULL, what, changed};
  vyre_stopwatch watch;
  vyre_run_start(r, &watch, "(look)");
  vyre_status status = r->options.observe(r->options.observe_user, &at);
  end_whole(r, whole);
  if (!status)
    vyre_run_stop(r, &watch, 0, false);
  return status;
}

uint64_t
vyre_run_hash_module(const vyre_module *module)
{
  const vyre_view *view = vyre_module_view(module);
  const uint32_t *const columns[] = {view->op,     view->imm,  view->imm_hi, view->a,     view->b,   view->c,
                                     view->parent, view->prev, view->next,   view->first, view->last};
  uint64_t hash = view->rows;
  for (size_t column = 0; column < sizeof(columns) / sizeof(columns[0]); column++) {
    for (uint32_t row = 0; row < view->rows; row++) {
      hash = (hash ^ columns[column][row]) * UINT64_C(0x9e3779b97f4a7c15);
      hash ^= hash >> 29;
    }
  }
  return hash;
}

/* ---- one pass ------------------------------------------------------------------------------------------------------------ */

static uint64_t
hash_if_checked(run *r)
{
  vyre_stopwatch watch = {0};
  if (!r->options.check_changed)
    return 0;
  vyre_run_start(r, &watch, "(compare)");
  const uint64_t hash = vyre_run_hash_module(r->module);
  vyre_run_stop(r, &watch, 0, false);
  return hash;
}

static vyre_status
check_claim(run *r, const vyre_pass_record *record, uint64_t before, vyre_result result)
{
  if (result > VYRE_CHANGED)
    return VYRE_ERROR(VYRE_CODE_INPUT, "pass '%s' (%s) returned result %u, which is neither unchanged nor changed" VYRE_PASS_FIX,
                      record->pass.name, record->plugin->path, result);
  if (record->pass.provides && result == VYRE_CHANGED)
    return VYRE_ERROR(VYRE_CODE_INPUT, "pass '%s' (%s) provides a column, but reported that it changed the module" VYRE_PASS_FIX,
                      record->pass.name, record->plugin->path);
  if (r->options.check_changed && result == VYRE_UNCHANGED && hash_if_checked(r) != before)
    return VYRE_ERROR(VYRE_CODE_INPUT, "pass '%s' (%s) reported that it changed nothing, but it changed the module" VYRE_PASS_FIX,
                      record->pass.name, record->plugin->path);
  return VYRE_OK;
}

vyre_context
vyre_run_context(run *r, const vyre_pass_record *record, const uint64_t *values)
{
  vyre_context context = {
      .base = {.struct_size = sizeof(vyre_pass_ctx), .host = vyre_host_table()},
      .allocator = vyre_module_allocator(r->module),
      .record = record,
      .values = values,
      .texts = r->pipeline->texts,
      .module = r->module,
      .options = r->options,
  };
  vyre_module_forget_tops(r->module);
  vyre_context_borrow_scratch(&context);
  return context;
}

vyre_status
vyre_run_finish_call(run *r, const vyre_pass_record *record, vyre_context *context, vyre_status status)
{
  if (!vyre_context_settle(context, status) && status)
    status = VYRE_ERROR(VYRE_CODE_INPUT, "plugin '%s' pass '%s' failed without a message" VYRE_PASS_FIX,
                        record->plugin->plugin.name, record->pass.name);
  vyre_context_return_scratch(context);
  const char *fault = vyre_module_fault(r->module);
  if (fault)
    status = vyre_status_join(VYRE_ERROR(VYRE_CODE_INPUT, "plugin '%s' pass '%s' (%s) made an invalid call of its host: %s%s",
                                         record->plugin->plugin.name, record->pass.name, record->plugin->path, fault,
                                         strstr(fault, "\nFix: ") ? "" : VYRE_PASS_FIX),
                              status);
  /* Builders record a failed allocation only in the module. */
  return status ? status : vyre_module_status(r->module);
}

vyre_schedule_options
vyre_run_schedule_options(const run *r)
{
  const vyre_device *device = r->options.device;
  return (vyre_schedule_options){.struct_size = sizeof(vyre_schedule_options),
                                 .on_device = true,
                                 .on_host = device->threads > 0,
                                 .forms = device->info.forms,
                                 .no_fuse = r->options.no_fuse};
}

static bool
runs_on_device(const run *r, const vyre_pass_record *record)
{
  if (!r->options.device || (r->options.device->choices && !r->is_chosen))
    return false;
  const vyre_schedule_options where = vyre_run_schedule_options(r);
  return vyre_schedule_fits(record, &where);
}

uint32_t
vyre_run_requirements(const run *r, const vyre_pass_record *record)
{
  return runs_on_device(r, record) ? vyre_schedule_requirements(record, r->options.device->threads > 0)
         : record->pass.run        ? record->pass.requires_
                                   : vyre_schedule_requirements(record, true);
}

/* Runs the phases on the device, or on the CPU if the device has no room for the rows.  Then removes deleted rows from their
 * regions. */
static vyre_status
run_phases(run *r, vyre_context *context, vyre_result *out)
{
  static const vyre_target_options one_thread = {.struct_size = sizeof one_thread, .threads = 1};
  bool is_done = false;
  VYRE_TRY(vyre_phases_begin(context, r->module));
  if (runs_on_device(r, context->record))
    VYRE_TRY(vyre_sequence_run(r->options.device, context, 1, NULL, r->module, &is_done));
  if (!is_done && !r->host)
    VYRE_TRY(vyre_context_own(&context->base,
                              vyre_device_open(&vyre_target_cpu, &one_thread, vyre_module_allocator(r->module), &r->host)));
  if (!is_done) {
    r->is_chosen = false;
    VYRE_TRY(vyre_sequence_run(r->host, context, 1, NULL, r->module, &is_done));
  }
  VYRE_TRY(vyre_phases_end(context, r->module, out));
  if (*out == VYRE_CHANGED)
    vyre_module_settle_rows(r->module);
  return VYRE_OK;
}

/* Runs the pass and records its time for the next choice between device and CPU. */
static vyre_status
run_and_learn(run *r, vyre_context *context, vyre_result *out)
{
  const vyre_pass_record *record = context->record;
  vyre_device *chosen = r->options.device && r->options.device->choices && record->pass.phases ? r->options.device : NULL;
  const bool there = runs_on_device(r, record);
  const uint32_t rows = vyre_module_view(r->module)->rows;
  const uint64_t start = chosen ? clock_now() : 0;
  vyre_status status = there || !record->pass.run ? run_phases(r, context, out) : record->pass.run(&context->base, r->module, out);
  if (chosen && there && r->is_chosen && !status)
    vyre_choose_learn_there(chosen, clock_now() - start);
  else if (chosen && !there && !status)
    vyre_choose_learn_here(chosen, record, rows, clock_now() - start);
  return status;
}

/* Returns an error if the module has a row that is newer than the op sets that the plugin supports. */
static vyre_status
check_opset(const run *r, const vyre_pass_record *record)
{
  const vyre_plugin *plugin = &record->plugin->plugin;
  const vyre_view *view = vyre_module_view(r->module);
  const uint32_t row = plugin->opset_max < VYRE_OPSET_VERSION ? vyre_opset_first_newer(view, plugin->opset_max) : 0;
  if (!row)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "plugin '%s' %s (%s) supports op sets up to %u, but row %u, %s, needs a newer one\n"
                    "Fix: build the plugin with the headers of this version of vyre, after adding support for the new operations",
                    plugin->name, plugin->version, record->plugin->path, plugin->opset_max, row,
                    vyre_op_infos[VYRE_ROW_OP(view->op[row])].text);
}

static vyre_status
call_pass(run *r, const vyre_pass_record *record, const uint64_t *values, vyre_result *out)
{
  *out = VYRE_UNCHANGED;
  VYRE_TRY(check_opset(r, record));
  vyre_context context = vyre_run_context(r, record, values);
  vyre_foreign_call call;
  vyre_run_enter(record, r->number, &call);
  vyre_status status = run_and_learn(r, &context, out);
  vyre_run_leave(record, &call);
  r->preserved = record->pass.preserves | context.preserved;
  return vyre_run_finish_call(r, record, &context, status);
}

vyre_status
vyre_run_call(run *r, const vyre_pass_record *record, const uint64_t *values, vyre_result *out)
{
  const uint64_t before = hash_if_checked(r);
  if (r->options.device)
    r->options.device->pending &= ~record->pass.provides;
  VYRE_TRY(call_pass(r, record, values, out));
  VYRE_TRY(check_claim(r, record, before, *out));
  r->fresh |= record->pass.provides;
  return VYRE_OK;
}

/* Reads pending columns back from the device.  Computes those that it lost again, without reporting the pass a second time. */
static vyre_status
fetch_columns(run *r, uint32_t wanted)
{
  vyre_device *device = r->options.device;
  const uint32_t pending = device ? device->pending & wanted & r->fresh : 0;
  uint32_t missing;
  if (pending == 0)
    return VYRE_OK;
  VYRE_TRY(vyre_sequence_fetch(device, r->module, pending, r->options.report, &missing));
  if (missing == 0)
    return VYRE_OK;
  vyre_report *report = r->options.report;
  const uint64_t lazy_bytes = device->lazy_bytes;
  r->fresh &= ~missing;
  r->options.report = NULL;
  device->lazy_bytes = UINT64_MAX; /* the columns are read back at once */
  vyre_status status = vyre_run_make_analyses(r, missing);
  device->lazy_bytes = lazy_bytes;
  r->options.report = report;
  return status;
}

/* Computes an analysis, or runs the pass that provides the column.  The requirements of that pass must be fresh. */
static vyre_status
make_one(run *r, const vyre_analysis *analysis)
{
  char name[32] = "";
  vyre_result unchanged;
  vyre_stopwatch watch = {0};
  if (r->options.report || r->options.print_work)
    snprintf(name, sizeof(name), "(%s)", analysis->name);
  vyre_run_start(r, &watch, name);
  if (analysis->bit & VYRE_COLUMNS) {
    const vyre_pass_record *provider = vyre_registry_provider(r->pipeline->registry, analysis->bit);
    const bool is_chosen = r->is_chosen;
    r->is_chosen = false; /* the choice is about the pass that requires the column */
    VYRE_TRY(fetch_columns(r, vyre_run_requirements(r, provider)));
    vyre_module_show_analyses(r->module, vyre_run_requirements(r, provider));
    vyre_status status = vyre_run_call(r, provider, NULL, &unchanged);
    r->is_chosen = is_chosen;
    vyre_run_stop(r, &watch, 0, false);
    return vyre_status_note(status, "in pass '%s', which provides %s", provider->pass.name, analysis->name);
  }
  VYRE_TRY(vyre_module_make_analyses(r->module, analysis->bit));
  r->fresh |= analysis->bit;
  vyre_run_stop(r, &watch, 0, false);
  return VYRE_OK;
}

vyre_status
vyre_run_make_analyses(run *r, uint32_t wanted)
{
  uint32_t needed = wanted & ~r->fresh;
  for (uint32_t i = VYRE_ANALYSIS_COUNT; i-- > 0;)
    if (needed & vyre_analyses[i].bit & VYRE_COLUMNS)
      needed |= vyre_run_requirements(r, vyre_registry_provider(r->pipeline->registry, vyre_analyses[i].bit)) & ~r->fresh;
  for (uint32_t i = 0; i < VYRE_ANALYSIS_COUNT; i++)
    if (needed & vyre_analyses[i].bit)
      VYRE_TRY(make_one(r, &vyre_analyses[i]));
  VYRE_TRY(fetch_columns(r, wanted)); /* a provider may have left its column on the device */
  vyre_module_show_analyses(r->module, wanted);
  return VYRE_OK;
}

vyre_status
vyre_run_choose(run *r, const vyre_pass_record *const *passes, uint32_t count, uint32_t rounds)
{
  const choice what = {passes, count, rounds};
  vyre_device *device = r->options.device;
  r->is_chosen = false;
  if (!device || !device->choices || !vyre_choose_may(device, &what, r->module, (r->fresh & VYRE_LEVELS) != 0))
    return VYRE_OK;
  VYRE_TRY(vyre_run_make_analyses(r, VYRE_LEVELS));
  r->is_chosen = vyre_choose(device, &what, r->module);
  return VYRE_OK;
}

/* ---- after a pass -------------------------------------------------------------------------------------------------------- */

/* Sealing renumbers rows, which invalidates every analysis except versions.  Sealing renumbers versions, too, but loses them if one
 * names a removed row. */
vyre_status
vyre_run_seal(run *r)
{
  const uint32_t held = r->fresh;
  if (vyre_module_is_sealed(r->module))
    return VYRE_OK;
  vyre_stopwatch watch = {0};
  vyre_run_start(r, &watch, "(seal)");
  VYRE_TRY(vyre_module_seal(r->module, NULL));
  vyre_run_stop(r, &watch, 0, false);
  r->fresh &= vyre_module_lost_versions(r->module) ? 0 : VYRE_VERSIONS;
  vyre_module_drop_analyses(r->module, held & ~r->fresh, r->options.check_changed);
  return VYRE_OK;
}

/* Returns whether the pass after the node accepts the module with removed rows, and requires only analyses in `analyses`. */
static bool
may_seal_later(const run *r, const vyre_node *node, uint32_t analyses)
{
  const vyre_node *next = &r->pipeline->nodes[node->next];
  return node->next && next->kind == VYRE_NODE_PASS && next->record->pass.run &&
         (next->record->pass.flags & VYRE_PASS_SKIPS_REMOVED) != 0 && (next->record->pass.requires_ & ~analyses) == 0 &&
         !r->options.device && !vyre_run_is_observed(&r->options) && vyre_module_has_only_gaps(r->module);
}

vyre_status
vyre_run_settle_change(run *r, const vyre_node *node)
{
  const uint32_t before = r->fresh, with_gaps = before & (r->preserved | VYRE_DOMINANCE); /* the ends of regions stay valid */
  const bool is_later = node && may_seal_later(r, node, with_gaps);
  const bool is_read =
      r->options.verify_each || !vyre_pipeline_is_last(r->pipeline, node); /* moving versions costs more than dropping them */
  r->fresh &= is_later ? with_gaps : is_read ? r->preserved : 0;
  vyre_module_drop_analyses(r->module, before & ~r->fresh, r->options.check_changed); /* before sealing, which keeps the others */
  if (!is_later)
    VYRE_TRY(vyre_run_seal(r));
  vyre_run_print_dropped(r, before & ~r->fresh);
  return VYRE_OK;
}

/* Computes a column that a pass claims to preserve again, and compares the two.  The rows have not been renumbered, because
 * renumbering drops the column. */
static vyre_status
verify_column(run *r, const vyre_analysis *column)
{
  const vyre_view *view = vyre_module_view(r->module);
  const vyre_allocator *allocator = vyre_module_allocator(r->module);
  const size_t bytes = view->rows * sizeof(uint32_t);
  uint32_t *held = vyre_allocate(allocator, bytes);
  if (!held)
    return VYRE_OUT_OF_MEMORY("while comparing a column");
  vyre_module_show_analyses(r->module, column->bit);
  memcpy(held, column->bit == VYRE_HASHES ? view->hash : view->canonical, bytes);
  r->fresh &= ~column->bit;
  vyre_status status = vyre_run_make_analyses(r, column->bit);
  if (!status)
    status = vyre_verify_column(r->module, column->bit, held);
  vyre_release(allocator, held, bytes);
  return status;
}

static vyre_status
verify_after(run *r, const vyre_pass *pass)
{
  vyre_stopwatch watch = {0};
  vyre_run_start(r, &watch, "(verify)");
  VYRE_TRY(vyre_module_check(r->module, &r->options));
  vyre_status status = vyre_verify_analyses(r->module, r->fresh);
  for (uint32_t i = 0; i < VYRE_ANALYSIS_COUNT && !status; i++)
    if (vyre_analyses[i].bit & VYRE_COLUMNS & r->fresh & ~pass->provides)
      status = verify_column(r, &vyre_analyses[i]);
  vyre_run_stop(r, &watch, 0, false);
  return vyre_status_note(status, "after '%s', which declares that it preserves this analysis", pass->name);
}

bool
vyre_run_is_settled(const run *r, const vyre_node *node)
{
  return r->fixpoints > 0 && !vyre_run_is_own(node->record) && r->settled[node - r->pipeline->nodes] == r->changes + 1;
}

/* Runs the pass, after computing its analyses, with the checks that the options request. */
static vyre_status
run_whole(run *r, const vyre_node *node, bool *out_changed)
{
  const vyre_pass_record *record = node->record;
  uint64_t hash = 0;
  const uint32_t needed = vyre_run_requirements(r, record) | vyre_builtin_requires(record, vyre_node_values(r->pipeline, node));
  if ((record->pass.flags & VYRE_PASS_SKIPS_REMOVED) == 0 || (needed & ~r->fresh) != 0)
    VYRE_TRY(vyre_run_seal(r));
  const bool is_twice = r->options.run_twice && !vyre_run_is_own(record);
  if (is_twice) {
    vyre_stopwatch watch = {0};
    vyre_run_start(r, &watch, "(twice)");
    VYRE_TRY(vyre_run_twin(r, node, &hash));
    vyre_run_stop(r, &watch, 0, false);
  }
  r->is_chosen = false;
  if (record->pass.phases)
    VYRE_TRY(vyre_run_choose(r, &record, 1, 1));
  const uint64_t *values = vyre_node_values(r->pipeline, node);
  VYRE_TRY(vyre_run_make_analyses(r, vyre_run_requirements(r, record) | vyre_builtin_requires(record, values)));
  vyre_result result;
  VYRE_TRY(vyre_run_call(r, record, values, &result));
  const bool changed = result == VYRE_CHANGED;
  *out_changed = changed;
  r->changes += changed;
  r->settled[node - r->pipeline->nodes] = changed ? 0 : r->changes + 1;
  if (changed)
    VYRE_TRY(vyre_run_settle_change(r, node));
  if (is_twice)
    VYRE_TRY(vyre_run_check_twin(r, node, hash));
  return r->options.verify_each ? verify_after(r, &record->pass) : VYRE_OK;
}

/* Runs one of the manager's own passes, which change nothing, over the module with the programs that are set aside. */
static vyre_status
run_over_whole(const run *r, const vyre_node *node)
{
  bool changed;
  run whole = *r;
  VYRE_TRY(begin_whole(r, &whole.module));
  whole.fresh = 0;
  whole.aside = NULL;
  vyre_status status = run_whole(&whole, node, &changed);
  end_whole(r, whole.module);
  return status;
}

static vyre_status
run_pass_between(run *r, const vyre_node *node, const char *what, bool *out_changed)
{
  const char *name = node->record->pass.name;
  bool changed = false;
  VYRE_TRY(show(r, VYRE_OBSERVE_BEFORE, node, what, false));
  if (vyre_run_is_settled(r, node)) {
    vyre_report_skip_add(r->options.report, name);
    vyre_run_print_skipped(r);
  } else {
    vyre_stopwatch watch = {0};
    vyre_run_start(r, &watch, name);
    VYRE_TRY(r->aside && vyre_run_is_own(node->record) ? run_over_whole(r, node) : run_whole(r, node, &changed));
    vyre_run_stop(r, &watch, r->number, changed);
    vyre_run_print_result(r, changed);
  }
  *out_changed |= changed;
  return show(r, VYRE_OBSERVE_AFTER, node, what, changed);
}

vyre_status
vyre_run_pass(run *r, uint32_t id, bool *out_changed)
{
  const vyre_node *node = &r->pipeline->nodes[id];
  r->number++;
  VYRE_TRY(vyre_run_print(r, node, r->number));
  if (!vyre_run_is_selected(r, node->record, r->number))
    return VYRE_OK;
  vyre_bytes what = {.allocator = vyre_module_allocator(r->module)};
  vyre_status status = VYRE_OK;
  if (r->options.observe)
    status = vyre_print_node(r->pipeline, id, false, &what);
  if (!status)
    status = run_pass_between(r, node, what.data ? what.data : "", out_changed);
  vyre_bytes_free(&what);
  return vyre_status_note(status, "in pass '%s', run %" PRIu64 " of the pipeline", node->record->pass.name, r->number);
}

vyre_status
vyre_pipeline_run(const vyre_pipeline *pipeline, vyre_module *module, const vyre_pipeline_options *options)
{
  VYRE_OWN_ENVIRONMENT;
  run r = {.pipeline = pipeline, .module = module};
  VYRE_TRY(vyre_options_read(&r.options, sizeof r.options, options, "vyre_pipeline_options"));
  r.options.check_changed |= r.options.verify_each;
#ifndef NDEBUG
  r.options.check_changed = true;
#endif
  if (!vyre_module_is_sealed(module))
    VYRE_TRY(vyre_module_seal(module, NULL));
  bool is_done;
  vyre_run_clear();
  VYRE_TRY(vyre_parts_run(pipeline, module, &r.options, &is_done));
  if (is_done)
    return VYRE_OK;
  VYRE_TRY(show(&r, VYRE_OBSERVE_START, NULL, NULL, false));
  const vyre_allocator *allocator = vyre_module_allocator(module);
  bool changed = false;
  r.settled = vyre_allocate(allocator, pipeline->node_count * sizeof(*r.settled));
  if (!r.settled)
    return VYRE_OUT_OF_MEMORY("to run a pipeline");
  r.fresh = vyre_module_kept_analyses(module);
  vyre_module_drop_analyses(module, (VYRE_ANALYSES & ~r.fresh) | VYRE_COLUMNS, false); /* the caller may have made some */
  vyre_status status = vyre_run_children(&r, 0, &changed);
  status = vyre_status_join(status, vyre_device_close(r.host));
  vyre_release(allocator, r.settled, pipeline->node_count * sizeof(*r.settled));
  vyre_module_keep_analyses(module, status ? 0 : r.fresh);
  return status ? status : vyre_module_status(module);
}
