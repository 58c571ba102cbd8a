/* Checks that a pass is deterministic: runs it over a copy first, and compares the two modules.  The result of a pass may depend
 * only on the module and its parameters, not on earlier runs, the time or addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

/* Runs on the CPU.  Leaves `r` unchanged, except that r->host may be opened. */
vyre_status
vyre_run_twin(run *r, const vyre_node *node, uint64_t *out_hash)
{
  vyre_result result;
  run twin = *r;
  twin.options = (vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options),
                                         .check_changed = r->options.check_changed,
                                         .cost_model = r->options.cost_model,
                                         .denies_files = r->options.denies_files};
  twin.fresh = 0;
  twin.is_chosen = false;
  VYRE_TRY(vyre_module_clone(r->module, &twin.module));
  vyre_module_drop_analyses(twin.module, VYRE_ANALYSES | VYRE_COLUMNS, false);
  vyre_status status = vyre_run_make_analyses(&twin, vyre_run_requirements(&twin, node->record));
  if (!status)
    status = vyre_run_call(&twin, node->record, vyre_node_values(r->pipeline, node), &result);
  if (!status && result == VYRE_CHANGED)
    status = vyre_run_settle_change(&twin, NULL);
  *out_hash = status ? 0 : vyre_run_hash_module(twin.module);
  r->host = twin.host; /* may have been opened by the call */
  vyre_module_destroy(twin.module);
  return vyre_status_note(status, "when it ran over a copy first");
}

vyre_status
vyre_run_check_twin(const run *r, const vyre_node *node, uint64_t hash)
{
  if (vyre_run_hash_module(r->module) == hash)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "pass '%s' (%s) produced a different module when it ran twice over the same module\n"
                    "Fix: let the pass depend only on the module and its parameters, not on static state, time or addresses",
                    node->record->pass.name, node->record->plugin->path);
}
