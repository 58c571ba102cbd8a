/* Runs a program on a copy of the inputs: on the interpreter, or as one sequence on a device.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the interpreter ----------------------------------------------------------------------------------------------------- */

static vyre_status
run_interpreter(const run_options *options, const run_program *program, const run_inputs *inputs, run_results *results)
{
  run_setup setup = options->setup; /* borrows the lists */
  setup.weigh = options->time;
  setup.cost_model = options->costs;
  vyre_interp_stats stats = {0};
  VYRE_TRY(run_subgroup_size(options, program, &setup.subgroup));
  const uint64_t start = clock_now();
  VYRE_TRY(run_interpret(&setup, program, inputs, results, &stats));
  if (options->time)
    printf("time: %s on the interpreter: %.3f ms, %" PRIu64 " rows\nwork: %s: %" PRIu64 ", by the cost model\n", program->path,
           (double)(clock_now() - start) / 1e6, stats.rows, program->path, stats.work);
  return VYRE_OK;
}

/* ---- a target ------------------------------------------------------------------------------------------------------------ */

static vyre_status
allocate_lists(const run_program *program, run_dispatch *run)
{
  size_t count = (size_t)program->buffer_count + 1;
  run->buffers = calloc(count, sizeof *run->buffers);
  run->uploads = calloc(count, sizeof *run->uploads);
  run->reads = calloc(count, sizeof *run->reads);
  return run->buffers && run->uploads && run->reads ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the buffers");
}

static vyre_status
add_buffer(const run_program *program, uint32_t index, size_t size, unsigned char *data, run_dispatch *run)
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

/* Sets each pointer to the address of its buffer, or back to its initial value after the run. */
static vyre_status
set_pointers(const run_program *program, const run_inputs *inputs, run_results *results, const run_dispatch *run, bool is_address)
{
  if (program->pointer_count && !run->ops->address)
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "%s: uses addresses of buffers, which the target %s does not support\nFix: choose another target with -target",
        program->path, run->ops->name);
  for (uint32_t i = 0; i < program->pointer_count; i++) {
    const run_pointer *pointer = &program->pointers[i];
    const uint32_t input = run_inputs_find(inputs, &program->buffers[pointer->holder]);
    uint64_t value = run_scalar_get(inputs->items[input].initial + pointer->offset, VYRE_U64);
    if (is_address)
      VYRE_TRY(run->ops->address(run->target, run->buffers[pointer->target], &value));
    run_scalar_put(results->items[input] + pointer->offset, VYRE_U64, value);
  }
  return VYRE_OK;
}

vyre_status
run_dispatch_make(const run_options *options, const vyre_target_ops *ops, vyre_target *target, const run_program *program,
                  const run_inputs *inputs, run_results *results, run_dispatch *run)
{
  *run = (run_dispatch){.ops = ops, .target = target};
  VYRE_TRY(allocate_lists(program, run));
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const bool has_data = program->buffers[i].kind != VYRE_SLOT_SAMPLER;
    const uint32_t input = has_data ? run_inputs_find(inputs, &program->buffers[i]) : 0;
    VYRE_TRY(add_buffer(program, i, has_data ? inputs->items[input].size : 0, has_data ? results->items[input] : NULL, run));
  }
  VYRE_TRY(set_pointers(program, inputs, results, run, true));
  return run_parts_make(options, program, inputs->groups, run);
}

void
run_dispatch_free(run_dispatch *run)
{
  free(run->buffers);
  free(run->uploads);
  free(run->reads);
  run_parts_free(run);
}

static void
print_times(const run_program *program, const run_dispatch *run, const vyre_timing *timing, const uint64_t *times)
{
  uint64_t kernel_ns = 0;
  for (uint32_t i = 0; i < run->step_count; i++)
    kernel_ns += times[i];
  printf("time: %s on %s: %.3f ms (recording %.3f, submitting %.3f, waiting %.3f), of these on the device %.3f ms, of these the "
         "kernel %.3f ms; %u launch%s, %u wait%s, %" PRIu64 " bytes up, %" PRIu64 " down\n",
         program->path, run->ops->name, (double)timing->host_ns / 1e6, (double)timing->record_ns / 1e6,
         (double)timing->submit_ns / 1e6, (double)timing->wait_ns / 1e6, (double)timing->device_ns / 1e6, (double)kernel_ns / 1e6,
         timing->launches, timing->launches == 1 ? "" : "es", timing->waits, timing->waits == 1 ? "" : "s", timing->bytes_up,
         timing->bytes_down);
  if (run->step_count > 1)
    printf("segments: %s on %s: %u, cut at barriers for the whole grid; %" PRIu64 " bytes are kept between them\n", program->path,
           run->ops->name, run->step_count, run->kept);
}

static vyre_status
submit(const run_options *options, const run_program *program, const run_inputs *inputs, run_results *results,
       const run_dispatch *run)
{
  vyre_sequence sequence = {
      .uploads = run->uploads,
      .upload_count = run->upload_count,
      .steps = run->steps,
      .step_count = run->step_count,
      .reads = run->reads,
      .read_count = run->read_count,
  };
  vyre_timing timing;
  uint64_t *times = options->time ? calloc(run->step_count, sizeof *times) : NULL;
  if (options->time && !times)
    return VYRE_OUT_OF_MEMORY("for the times of kernels");
  sequence.step_ns = times;
  vyre_status status =
      vyre_status_note(run->ops->submit(run->target, &sequence, &timing),
                       "-groups sets the amount of work, -timeout the limit for its time; -target=interpreter -undefined=report "
                       "stops at undefined behavior; -validate enables checks");
  if (!status)
    status = set_pointers(program, inputs, results, run, false);
  if (!status && options->time)
    print_times(program, run, &timing, times);
  free(times);
  return status;
}

static vyre_status
run_device(const run_options *options, run_target ops, const run_program *program, const run_inputs *inputs, run_results *results)
{
  vyre_target *target;
  run_dispatch run;
  VYRE_TRY(run_device_open(options, ops, &target));
  if (options->megakernel) {
    vyre_status ended = run_megakernel(options, ops, target, program, inputs, results);
    return vyre_status_join(ended, ops->close(target));
  }
  vyre_status status = run_dispatch_make(options, ops, target, program, inputs, results, &run);
  if (!status)
    status = submit(options, program, inputs, results, &run);
  if (options->report)
    vyre_report_target_add(options->report, ops, target);
  status = vyre_status_join(status, ops->close(target));
  run_dispatch_free(&run);
  return status;
}

/* ---- both ---------------------------------------------------------------------------------------------------------------- */

vyre_status
run_execute(const run_options *options, run_target target, const run_program *program, const run_inputs *inputs, run_results *out)
{
  vyre_status status = run_results_copy(inputs, out);
  if (!status)
    status = target ? run_device(options, target, program, inputs, out) : run_interpreter(options, program, inputs, out);
  if (!status)
    return VYRE_OK;
  run_results_free(out);
  return vyre_status_note(status, "while running '%s' of %s on %s", program->entry, program->path, run_target_name(target));
}
