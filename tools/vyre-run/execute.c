/* Running a program over a copy of the inputs: on the interpreter, or as one sequence on a device.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "vyre/ptx.h"

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

static bool
knows_subgroups(const run_program *program)
{
  const vyre_view *view = vyre_module_view(program->module);
  const uint32_t end = view->next[program->row.id] ? view->next[program->row.id] : view->rows;
  for (uint32_t row = program->row.id; row < end; row++) {
    const uint32_t op = VYRE_ROW_OP(view->op[row]);
    if (vyre_op_is_subgroup(op) || (vyre_op_is_invocation(op) && op >= VYRE_OP_subgroup_lane))
      return true;
  }
  return false;
}

/* Lanes of a subgroup where .vir is run: as told; else, where it makes a difference, as a device of the other run has them that
 * cannot choose.  0: the default. */
static vyre_status
subgroup_size(const run_options *options, const run_program *program, uint32_t *out)
{
  const run_target targets[] = {options->target, options->compare ? options->compare_target : NULL};
  *out = options->subgroup;
  for (uint32_t i = 0; i < 2 && *out == 0 && knows_subgroups(program); i++) {
    vyre_device_info info = {.forms = 1u << VYRE_KERNEL_VIR};
    if (targets[i])
      VYRE_TRY(run_device_describe(options, targets[i], &info));
    if (!(info.forms >> VYRE_KERNEL_VIR & 1))
      *out = info.subgroup;
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
  vyre_interp_options interp = {.steps = options->steps,
                                .report_undefined = options->report_undefined,
                                .check_bounds = options->check_bounds,
                                .check_races = options->check_races};
  VYRE_TRY(subgroup_size(options, program, &interp.subgroup));
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
    printf("time: %s on the interpreter: %.3f ms, %" PRIu64 " rows\n", program->path, milliseconds(&start), stats.rows);
  free(bindings);
  return status ? status : share_results(options, program, inputs, results);
}

/* ---- a target ------------------------------------------------------------------------------------------------------------ */

/* What one submission is made of; each list has an element for each of the program's buffers. */
typedef struct device_run {
  const vyre_target_ops *ops;
  vyre_target *target;
  vyre_kernel_slot *slots;
  vyre_image *images; /* one for each descriptor */
  vyre_range *ranges;
  vyre_upload *uploads;
  vyre_read *reads;
  vyre_kernel_spec *specs;
  vyre_device_buffer *buffers; /* of each of the program's; none of samplers and push constants */
  uint32_t slot_count, descriptor_count, range_count, upload_count, read_count;
  const void *push;
  uint32_t push_size;
  vyre_kernel_program vir; /* of a kernel of that form */
  vyre_bytes ptx;          /* likewise */
} device_run;

static vyre_status
allocate_lists(const run_program *program, device_run *run)
{
  size_t count = (size_t)program->buffer_count + 1;
  run->slots = calloc(count, sizeof *run->slots);
  run->buffers = calloc(count, sizeof *run->buffers);
  run->images = calloc(count, sizeof *run->images);
  run->ranges = calloc(count, sizeof *run->ranges);
  run->uploads = calloc(count, sizeof *run->uploads);
  run->reads = calloc(count, sizeof *run->reads);
  run->specs = calloc((size_t)program->spec_count + 1, sizeof *run->specs);
  return run->slots && run->buffers && run->images && run->ranges && run->uploads && run->reads && run->specs
             ? VYRE_OK
             : VYRE_OUT_OF_MEMORY("for the buffers");
}

/* Its slot, or its index in the slot of its array. */
static void
add_descriptor(const run_buffer *buffer, device_run *run)
{
  vyre_image *image = &run->images[run->descriptor_count++];
  *image = buffer->image;
  if (buffer->element == 0)
    run->slots[run->slot_count++] = (vyre_kernel_slot){
        .set = buffer->set, .binding = buffer->binding, .kind = buffer->kind, .sampler = buffer->sampler, .images = image};
  run->slots[run->slot_count - 1].count++;
}

static vyre_status
add_buffer(const run_program *program, uint32_t index, size_t size, unsigned char *data, device_run *run)
{
  const run_buffer *buffer = &program->buffers[index];
  if (buffer->space == VYRE_SPACE_PUSH) {
    run->push = data;
    run->push_size = (uint32_t)((buffer->shape.fixed + 3) & ~(uint64_t)3); /* the data has room for whole words */
    return VYRE_OK;
  }
  if (!buffer->path)
    add_descriptor(buffer, run);
  if (buffer->kind == VYRE_SLOT_SAMPLER)
    return VYRE_OK;
  char name[128];
  run_buffer_describe(buffer, name, sizeof name);
  vyre_device_buffer device;
  VYRE_TRY(vyre_status_note(run->ops->allocate(run->target, size, &device),
                            "for %s; -size sets its size, -device= chooses a device", name));
  run->buffers[index] = device;
  const vyre_range range = {device, 0, size};
  if (!buffer->path)
    run->ranges[run->range_count++] = range;
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

static uint32_t
spec_size(const run_program *program, uint32_t id)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_spec && vyre_row_spec_id(program->module, (vyre_row){row}) == id)
      return run_scalar_size(VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row])));
  }
  return 4;
}

/* The slot of that buffer row's binding, and how many ranges the slots before it have. */
static uint32_t
find_slot(const run_program *program, const device_run *run, vyre_row row, uint32_t *out_range)
{
  const vyre_buffer_info *info = vyre_buffer_info_of(program->module, row);
  uint32_t slot = 0;
  *out_range = 0;
  while (slot + 1 < run->slot_count && (run->slots[slot].set != info->set || run->slots[slot].binding != info->binding))
    *out_range += run->slots[slot++].count;
  return slot;
}

/* Slots are by set and binding, and a kernel of PTX has its buffers as they are declared. */
static vyre_status
order_slots(const run_program *program, device_run *run)
{
  vyre_kernel_slot *slots = calloc((size_t)run->slot_count + 1, sizeof *slots);
  vyre_range *ranges = calloc((size_t)run->range_count + 1, sizeof *ranges);
  uint32_t slot_count = 0, range_count = 0;
  for (vyre_row row; slots && ranges && (row = vyre_ptx_buffer_row(program->module, program->row, slot_count)).id;) {
    uint32_t first;
    const vyre_kernel_slot slot = run->slots[find_slot(program, run, row, &first)];
    memcpy(ranges + range_count, run->ranges + first, sizeof *ranges * slot.count);
    slots[slot_count++] = slot;
    range_count += slot.count;
  }
  if (slots && ranges) {
    memcpy(run->slots, slots, sizeof *slots * slot_count);
    memcpy(run->ranges, ranges, sizeof *ranges * range_count);
  }
  const bool is_done = slots && ranges;
  free(slots);
  free(ranges);
  return is_done ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the buffers");
}

static vyre_status
add_ptx(const run_program *program, device_run *run, vyre_kernel_desc *desc)
{
  const vyre_ptx_options options = {.name = "main", .specs = program->specs, .spec_count = program->spec_count, .is_robust = true};
  VYRE_TRY(vyre_status_note(vyre_ptx_write(program->module, program->row, &options, &run->ptx), "%s, as PTX", program->path));
  VYRE_TRY(order_slots(program, run));
  desc->form = VYRE_KERNEL_PTX;
  desc->code = run->ptx.data;
  desc->size = run->ptx.size;
  desc->entry = options.name;
  return VYRE_OK;
}

/* As the target takes it: SPIR-V or PTX rather than .vir. */
static vyre_status
add_code(const run_options *options, const run_program *program, device_run *run, vyre_kernel_desc *desc)
{
  vyre_device_info info;
  run->ops->describe(run->target, &info);
  if (info.forms >> VYRE_KERNEL_SPIRV & 1) {
    desc->form = VYRE_KERNEL_SPIRV;
    desc->code = program->words.data;
    desc->size = program->words.size;
    return VYRE_OK;
  }
  if (info.forms >> VYRE_KERNEL_PTX & 1)
    return add_ptx(program, run, desc);
  if (!(info.forms >> VYRE_KERNEL_VIR & 1))
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: it runs neither SPIR-V nor PTX nor .vir\nFix: choose another target with -target",
                      run->ops->name);
  run->vir = (vyre_kernel_program){.module = program->module, .row = program->row.id};
  desc->form = VYRE_KERNEL_VIR;
  desc->code = &run->vir;
  desc->size = sizeof run->vir;
  return subgroup_size(options, program, &run->vir.subgroup);
}

static vyre_status
compile(const run_options *options, const run_program *program, device_run *run, vyre_kernel *out)
{
  for (uint32_t i = 0; i < program->spec_count; i++)
    run->specs[i] = (vyre_kernel_spec){
        .id = program->specs[i].id,
        .size = spec_size(program, program->specs[i].id),
        .bits = program->specs[i].bits,
    };
  vyre_kernel_desc desc = {
      .label = program->path,
      .entry = program->entry,
      .workgroup = {program->workgroup[0], program->workgroup[1], program->workgroup[2]},
      .slots = run->slots,
      .slot_count = run->slot_count,
      .specs = run->specs,
      .spec_count = program->spec_count,
      .push_size = run->push_size,
  };
  VYRE_TRY(add_code(options, program, run, &desc));
  return vyre_status_note(run->ops->compile(run->target, &desc, out),
                          "-device= chooses another device, -target=interpreter needs none, -validate asks for checks");
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
  vyre_step step = {
      .buffers = run->ranges,
      .buffer_count = run->range_count,
      .push = run->push,
      .push_size = run->push_size,
      .groups = {inputs->groups[0], inputs->groups[1], inputs->groups[2]},
  };
  VYRE_TRY(compile(options, program, run, &step.kernel));
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
  free(run.slots);
  free(run.buffers);
  free(run.images);
  free(run.ranges);
  free(run.uploads);
  free(run.reads);
  free(run.specs);
  vyre_bytes_free(&run.ptx);
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
