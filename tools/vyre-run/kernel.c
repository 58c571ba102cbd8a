/* A program as a kernel: its description in the form that a target takes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "vyre/ptx.h"

#include <stdlib.h>
#include <string.h>

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
vyre_status
run_subgroup_size(const run_options *options, const run_program *program, uint32_t *out)
{
  const run_target targets[] = {options->target, options->compare ? options->compare_target : NULL};
  *out = options->setup.subgroup;
  for (uint32_t i = 0; i < 2 && *out == 0 && knows_subgroups(program); i++) {
    vyre_device_info info = {.forms = 1u << VYRE_KERNEL_VIR};
    if (targets[i])
      VYRE_TRY(run_device_describe(options, targets[i], &info));
    if (!(info.forms >> VYRE_KERNEL_VIR & 1))
      *out = info.subgroup;
  }
  return VYRE_OK;
}

/* ---- slots --------------------------------------------------------------------------------------------------------------- */

static vyre_status
allocate_lists(const run_program *program, run_kernel *kernel)
{
  const size_t count = (size_t)program->buffer_count + 1;
  kernel->slots = calloc(count, sizeof *kernel->slots);
  kernel->images = calloc(count, sizeof *kernel->images);
  kernel->ranges = calloc(count, sizeof *kernel->ranges);
  kernel->specs = calloc((size_t)program->spec_count + 1, sizeof *kernel->specs);
  return kernel->slots && kernel->images && kernel->ranges && kernel->specs ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a kernel");
}

/* Its slot, or its index in the slot of its array. */
static void
add_descriptor(const run_buffer *buffer, run_kernel *kernel)
{
  vyre_image *image = &kernel->images[kernel->descriptor_count++];
  *image = buffer->image;
  if (buffer->element == 0)
    kernel->slots[kernel->slot_count++] = (vyre_kernel_slot){
        .set = buffer->set, .binding = buffer->binding, .kind = buffer->kind, .sampler = buffer->sampler, .images = image};
  kernel->slots[kernel->slot_count - 1].count++;
}

static void
add_slots(const run_program *program, run_kernel *kernel)
{
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const run_buffer *buffer = &program->buffers[i];
    if (buffer->space == VYRE_SPACE_PUSH) {
      kernel->desc.push_size = (uint32_t)((buffer->shape.fixed + 3) & ~(uint64_t)3); /* the data has room for whole words */
      continue;
    }
    if (buffer->path)
      continue;
    add_descriptor(buffer, kernel);
    if (buffer->kind != VYRE_SLOT_SAMPLER)
      kernel->ranges[kernel->range_count++] = i;
  }
}

/* ---- code ---------------------------------------------------------------------------------------------------------------- */

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
find_slot(const run_program *program, const run_kernel *kernel, vyre_row row, uint32_t *out_range)
{
  const vyre_buffer_info *info = vyre_buffer_info_of(program->module, row);
  uint32_t slot = 0;
  *out_range = 0;
  while (slot + 1 < kernel->slot_count && (kernel->slots[slot].set != info->set || kernel->slots[slot].binding != info->binding))
    *out_range += kernel->slots[slot++].count;
  return slot;
}

/* Slots are by set and binding, and a kernel of PTX has its buffers as they are declared. */
static vyre_status
order_slots(const run_program *program, run_kernel *kernel)
{
  vyre_kernel_slot *slots = calloc((size_t)kernel->slot_count + 1, sizeof *slots);
  uint32_t *ranges = calloc((size_t)kernel->range_count + 1, sizeof *ranges);
  uint32_t slot_count = 0, range_count = 0;
  for (vyre_row row; slots && ranges && (row = vyre_ptx_buffer_row(program->module, program->row, slot_count)).id;) {
    uint32_t first;
    const vyre_kernel_slot slot = kernel->slots[find_slot(program, kernel, row, &first)];
    memcpy(ranges + range_count, kernel->ranges + first, sizeof *ranges * slot.count);
    slots[slot_count++] = slot;
    range_count += slot.count;
  }
  if (slots && ranges) {
    memcpy(kernel->slots, slots, sizeof *slots * slot_count);
    memcpy(kernel->ranges, ranges, sizeof *ranges * range_count);
  }
  const bool is_done = slots && ranges;
  free(slots);
  free(ranges);
  return is_done ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the buffers");
}

static vyre_status
add_ptx(const run_program *program, run_kernel *kernel)
{
  const vyre_ptx_options options = {.name = "main", .specs = program->specs, .spec_count = program->spec_count, .is_robust = true};
  VYRE_TRY(vyre_status_note(vyre_ptx_write(program->module, program->row, &options, &kernel->ptx), "%s, as PTX", program->path));
  VYRE_TRY(order_slots(program, kernel));
  kernel->desc.form = VYRE_KERNEL_PTX;
  kernel->desc.code = kernel->ptx.data;
  kernel->desc.size = kernel->ptx.size;
  kernel->desc.entry = options.name;
  return VYRE_OK;
}

/* As the target takes it: SPIR-V or PTX rather than .vir. */
static vyre_status
add_code(const run_options *options, const vyre_target_ops *ops, vyre_target *target, const run_program *program,
         run_kernel *kernel)
{
  vyre_device_info info;
  vyre_kernel_desc *desc = &kernel->desc;
  ops->describe(target, &info);
  if (info.forms >> VYRE_KERNEL_SPIRV & 1) {
    if (program->words.size == 0) /* not a part of a dispatch: those have words */
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: barriers for the whole grid make several kernels of it on %s\nFix: measure a program without them",
                        program->path, ops->name);
    desc->form = VYRE_KERNEL_SPIRV;
    desc->code = program->words.data;
    desc->size = program->words.size;
    return VYRE_OK;
  }
  if (info.forms >> VYRE_KERNEL_PTX & 1)
    return add_ptx(program, kernel);
  if (!(info.forms >> VYRE_KERNEL_VIR & 1))
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: it runs neither SPIR-V nor PTX nor .vir\nFix: choose another target with -target",
                      ops->name);
  kernel->vir = (vyre_kernel_program){.module = program->module, .row = program->row.id};
  desc->form = VYRE_KERNEL_VIR;
  desc->code = &kernel->vir;
  desc->size = sizeof kernel->vir;
  return run_subgroup_size(options, program, &kernel->vir.subgroup);
}

vyre_status
run_kernel_describe(const run_options *options, const vyre_target_ops *ops, vyre_target *target, const run_program *program,
                    run_kernel *out)
{
  *out = (run_kernel){
      .desc = {.label = program->path,
               .entry = program->entry,
               .workgroup = {program->workgroup[0], program->workgroup[1], program->workgroup[2]}},
  };
  VYRE_TRY(allocate_lists(program, out));
  add_slots(program, out);
  for (uint32_t i = 0; i < program->spec_count; i++)
    out->specs[i] = (vyre_kernel_spec){
        .id = program->specs[i].id,
        .size = spec_size(program, program->specs[i].id),
        .bits = program->specs[i].bits,
    };
  VYRE_TRY(add_code(options, ops, target, program, out));
  out->desc.slots = out->slots;
  out->desc.slot_count = out->slot_count;
  out->desc.specs = out->specs;
  out->desc.spec_count = program->spec_count;
  return VYRE_OK;
}

vyre_status
run_kernel_compile(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel, vyre_kernel *out)
{
  return vyre_status_note(ops->compile(target, &kernel->desc, out),
                          "-device= chooses another device, -target=interpreter needs none, -validate asks for checks");
}

void
run_kernel_free(run_kernel *kernel)
{
  free(kernel->slots);
  free(kernel->images);
  free(kernel->ranges);
  free(kernel->specs);
  vyre_bytes_free(&kernel->ptx);
  *kernel = (run_kernel){0};
}
