/* Runs of passes done twice: what a pass leaves depends on the module and its parameters alone, and not on what it did before, the
 * time or where memory lies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "passmgr/resident/resident.h"
#include "run.h"

/* Of a copy, here.  `r` is as it was before. */
vyre_status
vyre_run_twin(run *r, const vyre_node *node, uint64_t *out_hash)
{
  vyre_result result;
  run twin = *r;
  twin.options = (vyre_pipeline_options){
      .check_changed = r->options.check_changed, .cost_model = r->options.cost_model, .denies_files = r->options.denies_files};
  twin.fresh = 0;
  twin.is_chosen = false;
  VYRE_TRY(vyre_module_clone(r->module, &twin.module));
  vyre_module_drop_analyses(twin.module, VYRE_ANALYSES | VYRE_COLUMNS, false);
  vyre_status status = vyre_run_make_analyses(&twin, vyre_run_requirements(&twin, node->record));
  if (!status)
    status = vyre_run_call(&twin, node->record, vyre_node_values(r->pipeline, node), &result);
  if (!status && result == VYRE_CHANGED)
    status = vyre_run_settle_change(&twin);
  *out_hash = status ? 0 : vyre_run_hash_module(twin.module);
  r->host = twin.host; /* it may have been opened */
  if (r->host)
    vyre_device_forget(r->host, DEVICE_ALL);
  vyre_module_destroy(twin.module);
  return vyre_status_note(status, "when it ran over a copy first");
}

vyre_status
vyre_run_check_twin(const run *r, const vyre_node *node, uint64_t hash)
{
  if (vyre_run_hash_module(r->module) == hash)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "pass '%s' (%s) left another module when it ran over the same once more\n"
                    "Fix: what a pass does depends on the module and its parameters alone",
                    node->record->pass.name, node->record->plugin->path);
}
