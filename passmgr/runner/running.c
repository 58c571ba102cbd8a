/* Records which plugin's code a thread executes, and in which pass run.  The message after a crash or a timeout names both.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Read by a signal handler, so it must not be allocated lazily at its first use. */
static _Thread_local __attribute__((tls_model("initial-exec"))) vyre_plugin_code running;

static vyre_plugin_code *copy; /* borrowed, updated with `running`; NULL without vyre_plugin_code_copy */

static void
update_copy(void)
{
  if (copy)
    *copy = running;
}

void
vyre_plugin_code_copy(vyre_plugin_code *where)
{
  copy = where;
}

vyre_plugin_code
vyre_plugin_code_running(void)
{
  return running;
}

void
vyre_plugin_code_load(const char *path)
{
  running = (vyre_plugin_code){.path = path};
  update_copy();
}

/* Returns whether the pass is vyre's own.  Only passes of other plugins have a name with a dot. */
static bool
is_core(const vyre_pass_record *record)
{
  return !strchr(record->pass.name, '.');
}

void
vyre_run_enter(const vyre_pass_record *record, uint64_t number, vyre_foreign_call *out)
{
  if (is_core(record))
    vyre_environment_enter(&out->floats);
  else
    vyre_foreign_begin(out);
  running =
      (vyre_plugin_code){record->pass.name, record->plugin->plugin.name, record->plugin->path, number, copy ? clock_now() : 0};
  update_copy();
}

void
vyre_run_leave(const vyre_pass_record *record, const vyre_foreign_call *call)
{
  if (is_core(record))
    vyre_environment_leave(&call->floats);
  else
    vyre_foreign_end(call);
  running = (vyre_plugin_code){.run = running.run};
  update_copy();
}

void
vyre_run_clear(void)
{
  running = (vyre_plugin_code){0};
  update_copy();
}

bool
vyre_run_is_own(const vyre_pass_record *record)
{
  return strcmp(record->plugin->plugin.name, "vyre") == 0;
}

bool
vyre_run_is_selected(const run *r, const vyre_pass_record *record, uint64_t number)
{
  const vyre_pipeline_options *o = &r->options;
  return !o->wants_run || vyre_run_is_own(record) || o->wants_run(o->wants_user, number, record->pass.name);
}

vyre_status
vyre_run_print(const run *r, const vyre_node *node, uint64_t number)
{
  const vyre_pipeline_options *o = &r->options;
  if (!o->print_runs || !o->print)
    return VYRE_OK;
  vyre_bytes line = {.allocator = vyre_module_allocator(r->module)};
  vyre_status status = vyre_bytes_printf(&line, "run %" PRIu64 ": ", number);
  if (!status)
    status = vyre_print_node(r->pipeline, (uint32_t)(node - r->pipeline->nodes), false, &line);
  if (!status)
    status = vyre_bytes_printf(&line, vyre_run_is_selected(r, node->record, number) ? "\n" : " (skipped)\n");
  if (!status)
    o->print(o->print_user, line.data, line.size);
  vyre_bytes_free(&line);
  return status;
}

void
vyre_run_print_work(const run *r, const char *what, const char *of)
{
  char line[80];
  if (!r->options.print_work || !r->options.print)
    return;
  const int length = snprintf(line, sizeof line, "  %.30s%.40s\n", what, of);
  r->options.print(r->options.print_user, line, (size_t)length);
}

void
vyre_run_print_dropped(const run *r, uint32_t analyses)
{
  for (uint32_t i = 0; i < VYRE_ANALYSIS_COUNT; i++)
    if (analyses & vyre_analyses[i].bit)
      vyre_run_print_work(r, "drops ", vyre_analyses[i].name);
}

void
vyre_run_print_result(const run *r, bool changed)
{
  vyre_run_print_work(r, changed ? "changed" : "unchanged", "");
}

void
vyre_run_print_skipped(const run *r)
{
  vyre_run_print_work(r, "skipped: ", "nothing changed since it last ran");
}
