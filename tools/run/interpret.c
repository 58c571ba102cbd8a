/* Runs a program on the interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INVOCATIONS (UINT64_C(1) << 32)

/* Finds the input whose memory is bound to a buffer.  *out is UINT32_MAX if -bind leaves the buffer without memory. */
static vyre_status
find_memory(const run_setup *setup, const run_program *program, const run_inputs *inputs, const run_buffer *buffer, uint32_t *out)
{
  const run_setting *setting = run_setting_find(&setup->binds, buffer);
  *out = run_inputs_find(inputs, buffer);
  if (!setting)
    return VYRE_OK;
  *out = UINT32_MAX;
  if (strcmp(setting->value, "none") == 0)
    return VYRE_OK;
  for (uint32_t i = 0; i < program->buffer_count; i++)
    if (run_buffer_is(&program->buffers[i], setting->value, strlen(setting->value)))
      *out = run_inputs_find(inputs, &program->buffers[i]);
  if (*out == UINT32_MAX)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-bind %.*s: no buffer '%s'\nFix: name a buffer of this program, or none",
                      (int)setting->name_length, setting->name, setting->value);
  return VYRE_OK;
}

/* Binds each descriptor of the program's buffer rows.  With `out` NULL only counts. */
static vyre_status
bind_rows(const run_setup *setup, const run_program *program, const run_inputs *inputs, const run_results *results,
          vyre_binding *out, uint32_t *out_count)
{
  const vyre_view *view = vyre_module_view(program->module);
  *out_count = 0;
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[row]);
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer || space > VYRE_SPACE_PUSH)
      continue;
    const vyre_buffer_info *info = vyre_buffer_info_of(program->module, (vyre_row){row});
    for (uint32_t k = 0; k < program->buffer_count; k++) {
      const run_buffer *buffer = &program->buffers[k];
      const run_buffer wanted = {.space = space, .set = info->set, .binding = info->binding, .element = buffer->element};
      uint32_t memory;
      if (!run_buffer_same(buffer, &wanted))
        continue;
      VYRE_TRY(find_memory(setup, program, inputs, buffer, &memory));
      if (out && memory != UINT32_MAX)
        out[*out_count] = (vyre_binding){{row}, results->items[memory], inputs->items[memory].size, buffer->element};
      else if (out)
        out[*out_count] = (vyre_binding){{row}, NULL, 0, buffer->element};
      ++*out_count;
    }
  }
  return VYRE_OK;
}

/* Copies the results of shared memory to each buffer that is bound to it. */
static vyre_status
share_results(const run_setup *setup, const run_program *program, const run_inputs *inputs, run_results *results)
{
  for (uint32_t k = 0; k < program->buffer_count; k++) {
    const uint32_t own = run_inputs_find(inputs, &program->buffers[k]);
    uint32_t memory;
    VYRE_TRY(find_memory(setup, program, inputs, &program->buffers[k], &memory));
    if (memory == own || memory == UINT32_MAX)
      continue;
    const size_t size = inputs->items[own].size < inputs->items[memory].size ? inputs->items[own].size : inputs->items[memory].size;
    memcpy(results->items[own], results->items[memory], size);
  }
  return VYRE_OK;
}

/* Limits the number of invocations, because more would take hours. */
static vyre_status
check_grid(const run_program *program, const run_inputs *inputs)
{
  uint64_t left = MOST_INVOCATIONS;
  for (int i = 0; i < 3; i++)
    left = left / (program->workgroup[i] ? program->workgroup[i] : 1) / inputs->groups[i];
  if (left)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "-groups %" PRIu32 ",%" PRIu32 ",%" PRIu32 ": with %" PRIu32 " x %" PRIu32 " x %" PRIu32
                    " invocations each these are more than the %" PRIu64 " that the interpreter supports\n"
                    "Fix: run fewer groups, or choose a device with -target",
                    inputs->groups[0], inputs->groups[1], inputs->groups[2], program->workgroup[0], program->workgroup[1],
                    program->workgroup[2], MOST_INVOCATIONS);
}

vyre_status
run_check_plain(const run_program *program, const char *fix)
{
  if (program->pointer_count)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: uses addresses of buffers, which the interpreter does not support\nFix: %s",
                      program->path, fix);
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const run_buffer *buffer = &program->buffers[i];
    char name[128];
    run_buffer_describe(buffer, name, sizeof name);
    if (buffer->kind > VYRE_SLOT_UNIFORM)
      return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s is an image or a sampler, which the interpreter does not support\nFix: %s",
                        program->path, name, fix);
  }
  return VYRE_OK;
}

vyre_status
run_interpret(const run_setup *setup, const run_program *program, const run_inputs *inputs, run_results *results,
              vyre_interp_stats *stats)
{
  VYRE_TRY(check_grid(program, inputs));
  VYRE_TRY(run_check_plain(program, "choose a device with -target"));
  const vyre_interp_options interp = {.struct_size = sizeof interp,
                                      .steps = setup->steps,
                                      .subgroup = setup->subgroup,
                                      .report_undefined = setup->report_undefined,
                                      .check_bounds = setup->check_bounds,
                                      .check_races = setup->check_races,
                                      .weigh = setup->weigh,
                                      .unset = setup->unset,
                                      .cost_model = setup->cost_model};
  uint32_t count;
  VYRE_TRY(bind_rows(setup, program, inputs, results, NULL, &count));
  vyre_binding *bindings = calloc((size_t)count + 1, sizeof *bindings);
  if (!bindings)
    return VYRE_OUT_OF_MEMORY("for the buffers");
  VYRE_TRY(bind_rows(setup, program, inputs, results, bindings, &count)); /* cannot fail: the first call checked names */
  const vyre_dispatch dispatch = {
      .program = program->row,
      .groups = {inputs->groups[0], inputs->groups[1], inputs->groups[2]},
      .bindings = bindings,
      .binding_count = count,
      .specs = program->specs,
      .spec_count = program->spec_count,
  };
  vyre_status status = vyre_interp_run(program->module, &dispatch, &interp, stats);
  free(bindings);
  return status ? status : share_results(setup, program, inputs, results);
}

vyre_status
run_results_copy(const run_inputs *inputs, run_results *out)
{
  *out = (run_results){0};
  out->items = calloc((size_t)inputs->count + 1, sizeof *out->items);
  if (!out->items)
    return VYRE_OUT_OF_MEMORY("for the results");
  out->count = inputs->count;
  for (uint32_t i = 0; i < inputs->count; i++) {
    out->items[i] = calloc(1, inputs->items[i].size + 3); /* push constants are passed in whole words */
    if (!out->items[i])
      return VYRE_ERROR(VYRE_CODE_INPUT, "out of memory for a result of %zu bytes\nFix: make the buffers smaller with -size",
                        inputs->items[i].size);
    memcpy(out->items[i], inputs->items[i].initial, inputs->items[i].size);
  }
  return VYRE_OK;
}

void
run_results_free(run_results *results)
{
  for (uint32_t i = 0; i < results->count; i++)
    free(results->items[i]);
  free(results->items);
  *results = (run_results){0};
}
