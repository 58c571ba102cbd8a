/* Runs of a pipeline over a large module, in parts of whole programs.
 *
 * Passes work within one program (vyre/batch.h), so the joined results of the parts equal the result of the whole.  The module is
 * replaced after the last part.  A program that is too large for the device is a part by itself, whose passes run on the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "passmgr/pipeline/pipeline.h"
#include "passmgr/resident/resident.h"
#include "run.h"
#include "vyre/batch.h"

#include <string.h>

typedef struct parts {
  const vyre_pipeline *pipeline;
  vyre_module *module; /* the whole */
  vyre_pipeline_options options;
  uint32_t most; /* rows that a part may have, if it has several programs */
  vyre_batch *batch;
  vyre_module *joined;
  bool has_diagnostic; /* a part emitted one */
} parts;

/* Returns whether the pipeline has a `print` pass. */
static bool
has_print(const vyre_pipeline *pipeline)
{
  for (uint32_t i = 0; i < pipeline->node_count; i++) {
    const vyre_node *node = &pipeline->nodes[i];
    if (node->kind == VYRE_NODE_PASS && strcmp(node->record->plugin->plugin.name, "vyre") == 0 &&
        strcmp(node->record->pass.name, "print") == 0)
      return true;
  }
  return false;
}

/* Returns whether to run in parts.  A device that is chosen by cost is excluded: splitting does not make the CPU faster. */
static bool
is_wanted(const vyre_pipeline *pipeline, const vyre_module *module, const vyre_pipeline_options *options)
{
  const vyre_device *device = options->device;
  const vyre_view *view = vyre_module_view(module);
  return device && device->ops && !device->threads && !device->choices && view->rows > vyre_device_part_rows(device) &&
         view->first[0] != view->last[0] && !vyre_run_is_observed(options) && !options->print_runs && !has_print(pipeline);
}

static void
note_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  (void)diagnostic;
  ((parts *)user)->has_diagnostic = true;
}

/* Returns the first row after the part that begins at `first`: as many programs as fit, at least one. */
static uint32_t
find_end(const parts *p, uint32_t first)
{
  const vyre_view *view = vyre_module_view(p->module);
  uint32_t program = first;
  for (;;) {
    const uint32_t next = view->next[program], end = next ? next : view->rows;
    if (program != first && end - first >= p->most)
      return program;
    if (!next)
      return view->rows;
    program = next;
  }
}

static vyre_status
run_part(parts *p, uint32_t first, uint32_t end)
{
  vyre_batch_clear(p->batch);
  VYRE_TRY(vyre_batch_add_part(p->batch, p->module, (vyre_row){first}, (vyre_row){end}));
  VYRE_TRY(vyre_pipeline_run(p->pipeline, vyre_batch_module(p->batch), &p->options));
  return vyre_batch_extract_part(p->batch, 0, end == vyre_module_view(p->module)->rows, p->joined);
}

static vyre_status
run_all(parts *p)
{
  const vyre_allocator *allocator = vyre_module_allocator(p->module);
  const uint32_t rows = vyre_module_view(p->module)->rows;
  VYRE_TRY(vyre_batch_create(allocator, &p->batch));
  VYRE_TRY(vyre_module_create(allocator, 0, &p->joined));
  if (p->options.report)
    VYRE_TRY(vyre_report_create_like(p->options.report, allocator, &p->options.report));
  for (uint32_t first = vyre_module_view(p->module)->first[0], end; first < rows && !p->has_diagnostic; first = end) {
    end = find_end(p, first);
    VYRE_TRY(run_part(p, first, end));
  }
  return VYRE_OK;
}

vyre_status
vyre_parts_run(const vyre_pipeline *pipeline, vyre_module *module, const vyre_pipeline_options *options, bool *out_done)
{
  *out_done = false;
  if (!is_wanted(pipeline, module, options))
    return VYRE_OK;
  vyre_report *report = options->report, *own = NULL;
  parts p = {.pipeline = pipeline, .module = module, .options = *options, .most = vyre_device_part_rows(options->device)};
  p.options.diagnostics = (vyre_diagnostics){note_diagnostic, &p};
  vyre_status status = run_all(&p);
  own = p.options.report != report ? p.options.report : NULL;
  *out_done = !status && !p.has_diagnostic;
  if (*out_done) {
    vyre_module_swap(module, p.joined);
    if (own)
      vyre_report_add(report, own);
  }
  vyre_report_destroy(own);
  vyre_module_destroy(p.joined);
  vyre_batch_destroy(p.batch);
  if (vyre_status_code(status) == VYRE_CODE_DEVICE)
    return status;
  vyre_status_free(status);
  return VYRE_OK;
}
