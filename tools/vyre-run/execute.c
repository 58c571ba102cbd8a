/* Running a program over a copy of the inputs: on the interpreter, or as one sequence on a device.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double
milliseconds(const struct timespec *from)
{
  struct timespec to;
  clock_gettime(CLOCK_MONOTONIC, &to);
  return (double)(to.tv_sec - from->tv_sec) * 1e3 + (double)(to.tv_nsec - from->tv_nsec) / 1e6;
}

/* The index of a buffer among the inputs, which have all. */
static uint32_t
find_input(const run_inputs *inputs, const run_buffer *buffer)
{
  uint32_t i = 0;
  while (i + 1 < inputs->count && !run_buffer_same(inputs->items[i].buffer, buffer))
    i++;
  return i;
}

#define MOST_INVOCATIONS (UINT64_C(1) << 32)

/* ---- the interpreter ----------------------------------------------------------------------------------------------------- */

/* The input whose memory a buffer is given; UINT32_MAX: none, it is left unbound. */
static vyre_status
find_memory(const run_options *options, const run_program *program, const run_inputs *inputs, const run_buffer *buffer,
            uint32_t *out)
{
  const run_setting *setting = run_setting_find(&options->binds, buffer);
  *out = find_input(inputs, buffer);
  if (!setting)
    return VYRE_OK;
  *out = UINT32_MAX;
  if (strcmp(setting->value, "none") == 0)
    return VYRE_OK;
  for (uint32_t i = 0; i < program->buffer_count; i++)
    if (run_buffer_is(&program->buffers[i], setting->value, strlen(setting->value)))
      *out = find_input(inputs, &program->buffers[i]);
  if (*out == UINT32_MAX)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-bind %.*s: no buffer '%s'\nFix: name a buffer whose memory it has as well, or none",
                      (int)setting->name_length, setting->name, setting->value);
  return VYRE_OK;
}

/* Every row of the program that is a buffer with bytes from outside, each of its descriptors bound.  `out` NULL: only counts. */
static vyre_status
bind_rows(const run_options *options, const run_program *program, const run_inputs *inputs, const run_results *results,
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
      VYRE_TRY(find_memory(options, program, inputs, buffer, &memory));
      if (out && memory != UINT32_MAX)
        out[*out_count] = (vyre_binding){{row}, results->items[memory], inputs->items[memory].size, buffer->element};
      else if (out)
        out[*out_count] = (vyre_binding){{row}, NULL, 0, buffer->element};
      ++*out_count;
    }
  }
  return VYRE_OK;
}

/* A buffer that shares another's memory gets its results. */
static vyre_status
share_results(const run_options *options, const run_program *program, const run_inputs *inputs, run_results *results)
{
  for (uint32_t k = 0; k < program->buffer_count; k++) {
    const uint32_t own = find_input(inputs, &program->buffers[k]);
    uint32_t memory;
    VYRE_TRY(find_memory(options, program, inputs, &program->buffers[k], &memory));
    if (memory == own || memory == UINT32_MAX)
      continue;
    const size_t size = inputs->items[own].size < inputs->items[memory].size ? inputs->items[own].size : inputs->items[memory].size;
    memcpy(results->items[own], results->items[memory], size);
  }
  return VYRE_OK;
}

/* More would take hours; a device has its own limits. */
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
                    " invocations each these are more than the %" PRIu64 " that the interpreter runs\n"
                    "Fix: fewer of them, or choose a device with -target",
                    inputs->groups[0], inputs->groups[1], inputs->groups[2], program->workgroup[0], program->workgroup[1],
                    program->workgroup[2], MOST_INVOCATIONS);
}

/* The interpreter is given plain buffers alone. */
static vyre_status
check_plain(const run_program *program)
{
  if (program->pointer_count)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: uses addresses of buffers, which the interpreter does not have\n"
                      "Fix: choose a device with -target",
                      program->path);
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const run_buffer *buffer = &program->buffers[i];
    char name[128];
    run_buffer_describe(buffer, name, sizeof name);
    if (buffer->kind > VYRE_SLOT_UNIFORM)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: %s is an image or a sampler, which the interpreter does not have\nFix: choose a device "
                        "with -target",
                        program->path, name);
  }
  return VYRE_OK;
}

static vyre_status
run_interpreter(const run_options *options, const run_program *program, const run_inputs *inputs, run_results *results)
{
  VYRE_TRY(check_grid(program, inputs));
  VYRE_TRY(check_plain(program));
  vyre_interp_options interp = {.steps = options->steps.value,
                                .report_undefined = options->report_undefined,
                                .check_bounds = options->check_bounds,
                                .check_races = options->check_races,
                                .weigh = options->time,
                                .cost_model = options->costs};
  VYRE_TRY(run_subgroup_size(options, program, &interp.subgroup));
  uint32_t count;
  VYRE_TRY(bind_rows(options, program, inputs, results, NULL, &count));
  vyre_binding *bindings = calloc((size_t)count + 1, sizeof *bindings);
  if (!bindings)
    return VYRE_OUT_OF_MEMORY("for the buffers");
  VYRE_TRY(bind_rows(options, program, inputs, results, bindings, &count)); /* whose names are right by now */
  vyre_dispatch dispatch = {
      .program = program->row,
      .groups = {inputs->groups[0], inputs->groups[1], inputs->groups[2]},
      .bindings = bindings,
      .binding_count = count,
      .specs = program->specs,
      .spec_count = program->spec_count,
  };
  vyre_interp_stats stats = {0};
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  vyre_status status = vyre_interp_run(program->module, &dispatch, &interp, &stats);
  if (!status && options->time)
    printf("time: %s on the interpreter: %.3f ms, %" PRIu64 " rows\nwork: %s: %" PRIu64 ", by the cost model\n", program->path,
           milliseconds(&start), stats.rows, program->path, stats.work);
  free(bindings);
  return status ? status : share_results(options, program, inputs, results);
}

/* ---- a target ------------------------------------------------------------------------------------------------------------ */

/* What one submission is made of; each list has an element for each of the program's buffers. */
typedef struct device_run {
  run_kernel kernel;
  const vyre_target_ops *ops;
  vyre_target *target;
  vyre_range *ranges;
  vyre_upload *uploads;
  vyre_read *reads;
  vyre_device_buffer *buffers; /* of each of the program's; none of samplers and push constants */
  uint32_t upload_count, read_count;
  const void *push;
} device_run;

static vyre_status
allocate_lists(const run_program *program, device_run *run)
{
  size_t count = (size_t)program->buffer_count + 1;
  run->buffers = calloc(count, sizeof *run->buffers);
  run->ranges = calloc(count, sizeof *run->ranges);
  run->uploads = calloc(count, sizeof *run->uploads);
  run->reads = calloc(count, sizeof *run->reads);
  return run->buffers && run->ranges && run->uploads && run->reads ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the buffers");
}

static vyre_status
add_buffer(const run_program *program, uint32_t index, size_t size, unsigned char *data, device_run *run)
{
  const run_buffer *buffer = &program->buffers[index];
  if (buffer->space == VYRE_SPACE_PUSH) {
    run->push = data;
    return VYRE_OK;
  }
  if (buffer->kind == VYRE_SLOT_SAMPLER)
    return VYRE_OK;
  char name[128];
  run_buffer_describe(buffer, name, sizeof name);
  vyre_device_buffer device;
  VYRE_TRY(vyre_status_note(run->ops->allocate(run->target, size, &device),
                            "for %s; -size sets its size, -device= chooses a device", name));
  run->buffers[index] = device;
  const vyre_range range = {device, 0, size};
  run->uploads[run->upload_count++] = (vyre_upload){range, data};
  if (buffer->is_writable)
    run->reads[run->read_count++] = (vyre_read){range, data};
  return VYRE_OK;
}

/* Every pointer gets the address of what it leads to, or, once that address is freed, what it held at first. */
static vyre_status
set_pointers(const run_program *program, const run_inputs *inputs, run_results *results, const device_run *run, bool is_address)
{
  if (program->pointer_count && !run->ops->address)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: uses addresses of buffers, which the target %s does not have\nFix: choose another target with -target",
                      program->path, run->ops->name);
  for (uint32_t i = 0; i < program->pointer_count; i++) {
    const run_pointer *pointer = &program->pointers[i];
    const uint32_t input = find_input(inputs, &program->buffers[pointer->holder]);
    uint64_t value = run_scalar_get(inputs->items[input].initial + pointer->offset, VYRE_U64);
    if (is_address)
      VYRE_TRY(run->ops->address(run->target, run->buffers[pointer->target], &value));
    run_scalar_put(results->items[input] + pointer->offset, VYRE_U64, value);
  }
  return VYRE_OK;
}

static vyre_status
submit(const run_options *options, const run_program *program, const run_inputs *inputs, run_results *results, device_run *run)
{
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const bool has_data = program->buffers[i].kind != VYRE_SLOT_SAMPLER;
    const uint32_t input = has_data ? find_input(inputs, &program->buffers[i]) : 0;
    VYRE_TRY(add_buffer(program, i, has_data ? inputs->items[input].size : 0, has_data ? results->items[input] : NULL, run));
  }
  VYRE_TRY(set_pointers(program, inputs, results, run, true));
  VYRE_TRY(run_kernel_describe(options, run->ops, run->target, program, &run->kernel));
  for (uint32_t i = 0; i < run->kernel.range_count; i++)
    run->ranges[i].buffer = run->buffers[run->kernel.ranges[i]];
  vyre_step step = {
      .buffers = run->ranges,
      .buffer_count = run->kernel.range_count,
      .push = run->push,
      .push_size = run->kernel.desc.push_size,
      .groups = {inputs->groups[0], inputs->groups[1], inputs->groups[2]},
  };
  VYRE_TRY(run_kernel_compile(run->ops, run->target, &run->kernel, &step.kernel));
  vyre_sequence sequence = {
      .uploads = run->uploads,
      .upload_count = run->upload_count,
      .steps = &step,
      .step_count = 1,
      .reads = run->reads,
      .read_count = run->read_count,
  };
  vyre_timing timing;
  uint64_t kernel_ns = 0;
  if (options->time)
    sequence.step_ns = &kernel_ns;
  VYRE_TRY(
      vyre_status_note(run->ops->submit(run->target, &sequence, &timing),
                       "-groups sets how much work it is, -timeout how long it may take; -target=interpreter -undefined=report "
                       "stops at what is undefined; -validate asks for checks"));
  VYRE_TRY(set_pointers(program, inputs, results, run, false));
  if (options->time)
    printf("time: %s on %s: %.3f ms (recording %.3f, submitting %.3f, waiting %.3f), of these on the device %.3f ms, of these the "
           "kernel %.3f ms; %u launch%s, %u wait%s, %" PRIu64 " bytes up, %" PRIu64 " down\n",
           program->path, run->ops->name, (double)timing.host_ns / 1e6, (double)timing.record_ns / 1e6,
           (double)timing.submit_ns / 1e6, (double)timing.wait_ns / 1e6, (double)timing.device_ns / 1e6, (double)kernel_ns / 1e6,
           timing.launches, timing.launches == 1 ? "" : "es", timing.waits, timing.waits == 1 ? "" : "s", timing.bytes_up,
           timing.bytes_down);
  return VYRE_OK;
}

static vyre_status
run_device(const run_options *options, run_target target, const run_program *program, const run_inputs *inputs,
           run_results *results)
{
  if (options->binds.count)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-bind: on a device each buffer has memory of its own\nFix: run it on the interpreter: "
                                       "-target=interpreter");
  device_run run = {.ops = target};
  VYRE_TRY(run_device_open(options, target, &run.target));
  vyre_status status = allocate_lists(program, &run);
  if (!status)
    status = submit(options, program, inputs, results, &run);
  if (options->report)
    vyre_report_target_add(options->report, run.ops, run.target);
  status = vyre_status_join(status, run.ops->close(run.target));
  free(run.buffers);
  free(run.ranges);
  free(run.uploads);
  free(run.reads);
  run_kernel_free(&run.kernel);
  return status;
}

/* ---- both ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
copy_inputs(const run_inputs *inputs, run_results *results)
{
  results->items = calloc((size_t)inputs->count + 1, sizeof *results->items);
  if (!results->items)
    return VYRE_OUT_OF_MEMORY("for the results");
  results->count = inputs->count;
  for (uint32_t i = 0; i < inputs->count; i++) {
    results->items[i] = calloc(1, inputs->items[i].size + 3); /* push constants go out in whole words */
    if (!results->items[i])
      return VYRE_ERROR(VYRE_CODE_INPUT, "out of memory for a result of %zu bytes\nFix: make the buffers smaller with -size",
                        inputs->items[i].size);
    memcpy(results->items[i], inputs->items[i].initial, inputs->items[i].size);
  }
  return VYRE_OK;
}

vyre_status
run_execute(const run_options *options, run_target target, const run_program *program, const run_inputs *inputs, run_results *out)
{
  *out = (run_results){0};
  vyre_status status = copy_inputs(inputs, out);
  if (!status)
    status = target ? run_device(options, target, program, inputs, out) : run_interpreter(options, program, inputs, out);
  if (!status)
    return VYRE_OK;
  run_results_free(out);
  return vyre_status_note(status, "while running '%s' of %s on %s", program->entry, program->path, run_target_name(target));
}

void
run_results_free(run_results *results)
{
  for (uint32_t i = 0; i < results->count; i++)
    free(results->items[i]);
  free(results->items);
  *results = (run_results){0};
}
