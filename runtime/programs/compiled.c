/* The kernel of a registered program: its code in the target's form, and dispatches of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compiled.h"

#include "base/round.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/verify.h"
#include "vyre/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- keeping -------------------------------------------------------------------------------------------------------------- */

/* Removes the other programs of a module, and makes the program strict: it has no undefined rows, and its memory starts at zero. */
static vyre_status
isolate(vyre_module *module, vyre_row program)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t *modes = (uint32_t *)(uintptr_t)v->imm, *accesses = (uint32_t *)(uintptr_t)v->imm_hi;
  for (uint32_t row = v->first[0], next; row; row = next) {
    next = v->next[row];
    if (row != program.id && code_op(v, row) == VYRE_OP_program)
      vyre_row_kill(module, (vyre_row){row});
  }
  modes[program.id] &= ~(uint32_t)VYRE_PROGRAM_RELAXED;
  for (uint32_t row = program.id + 1; row < vyre_program_end(v, program.id); row++)
    if (code_op(v, row) == VYRE_OP_var || code_op(v, row) == VYRE_OP_buffer)
      accesses[row] &= ~(uint32_t)VYRE_ACCESS_UNSET;
  return vyre_module_seal(module, NULL);
}

static void
free_kernel(program_kernel *k)
{
  vyre_module_destroy(k->module);
  vyre_bytes_free(&k->code);
  free(k->values);
  free(k->slots);
  free(k);
}

static vyre_status
keep(program_kernel *k, const vyre_module *module, vyre_row program)
{
  vyre_spec_value *values = calloc((size_t)k->how.spec_count + 1, sizeof *values);
  if (!values)
    return VYRE_OUT_OF_MEMORY("for a program");
  if (k->how.spec_count)
    memcpy(values, k->how.specs, k->how.spec_count * sizeof *values);
  k->how.specs = k->values = values;
  VYRE_TRY(vyre_module_clone(module, &k->module));
  VYRE_TRY(isolate(k->module, program));
  k->program = (vyre_row){vyre_module_view(k->module)->first[0]};
  return VYRE_OK;
}

vyre_status
program_kernel_make(const vyre_module *module, vyre_row program, const program_lowering *how, program_table *table,
                    program_kernel **out)
{
  program_kernel *k = calloc(1, sizeof *k);
  *out = NULL;
  if (!k)
    return VYRE_OUT_OF_MEMORY("for a program");
  *k = (program_kernel){.how = *how, .slots = table->slots, .slot_count = table->slot_count};
  memcpy(k->size, table->size, sizeof k->size);
  table->slots = NULL;
  for (uint32_t i = 0; i < k->slot_count; i++)
    for (uint32_t n = 0; n < k->slots[i].count && !k->slots[i].is_read_only; n++)
      k->written |= UINT64_C(1) << (k->slots[i].first + n);
  vyre_status status = keep(k, module, program);
  if (status)
    free_kernel(k);
  else
    *out = k;
  return status;
}

vyre_status
program_kernel_destroy(const program_device *device, program_kernel *k)
{
  if (!k)
    return VYRE_OK;
  vyre_status status = k->kernel.id ? device->ops->release(device->target, k->kernel) : VYRE_OK;
  free_kernel(k);
  return status;
}

/* ---- compiling ------------------------------------------------------------------------------------------------------------ */

static bool
uses_subgroups(uint32_t op)
{
  return vyre_op_is_subgroup(op) || (vyre_op_is_invocation(op) && op >= VYRE_OP_subgroup_lane);
}

/* Refuses programs whose compiled items would differ from interpreted ones. */
static vyre_status
check_rows(const program_kernel *k, const vyre_device_info *info)
{
  const vyre_view *v = vyre_module_view(k->module);
  const bool has_subgroups = (info->forms >> VYRE_KERNEL_VIR & 1) != 0 || info->subgroup == k->how.subgroup;
  for (uint32_t row = k->program.id; row < vyre_program_end(v, k->program.id); row++) {
    if (code_op(v, row) == VYRE_OP_trap)
      return VYRE_ERROR(VYRE_CODE_INPUT, "the program has a trap, which ends only the item of an interpreted program\n"
                                         "Fix: remove the trap, or leave the program interpreted");
    if (!has_subgroups && uses_subgroups(code_op(v, row)))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "the program was registered for subgroups of %u lanes, but %s has %u\n"
                        "Fix: register the program with `subgroup` %u",
                        (unsigned)k->how.subgroup, info->name, (unsigned)info->subgroup, (unsigned)info->subgroup);
  }
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(k->module, &errors);
  vyre_verify_errors_free(&errors);
  return vyre_status_note(status, "as a strict program");
}

static uint32_t
spec_bytes(const program_kernel *k, uint32_t id)
{
  const vyre_view *v = vyre_module_view(k->module);
  for (uint32_t row = v->first[k->program.id]; row; row = v->next[row])
    if (code_op(v, row) == VYRE_OP_spec && vyre_row_spec_id(k->module, (vyre_row){row}) == id)
      return vyre_kind_bytes(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])));
  return 4;
}

static const char *
entry_of(const program_kernel *k)
{
  const vyre_program_info *info = vyre_program_info_of(k->module, k->program);
  const char *name = vyre_row_name(k->module, k->program);
  return info->entry ? vyre_string_text(k->module, info->entry) : name ? name : "";
}

/* Writes the code in the target's form. */
static vyre_status
write_code(program_kernel *k, const vyre_device_info *info, vyre_kernel_form *out)
{
  const vyre_ptx_options ptx = {.struct_size = sizeof ptx,
                                .name = "main",
                                .specs = k->how.specs,
                                .spec_count = k->how.spec_count,
                                .open_descriptors = k->how.open_descriptors};
  const vyre_spirv_options spirv = {.struct_size = sizeof spirv,
                                    .float_controls = info->free_float_controls ? info->float_controls : 0};
  *out = info->forms >> VYRE_KERNEL_SPIRV & 1 ? VYRE_KERNEL_SPIRV
         : info->forms >> VYRE_KERNEL_PTX & 1 ? VYRE_KERNEL_PTX
                                              : VYRE_KERNEL_VIR;
  if (!(info->forms >> *out & 1))
    return VYRE_ERROR(VYRE_CODE_INPUT, "the target runs neither SPIR-V nor PTX nor .vir\nFix: choose another target");
  if (k->code.size || *out == VYRE_KERNEL_VIR)
    return VYRE_OK;
  if (*out == VYRE_KERNEL_PTX)
    return vyre_ptx_write(k->module, k->program, &ptx, &k->code);
  return vyre_spirv_write(k->module, vyre_program_info_of(k->module, k->program)->input, &spirv, &k->code);
}

/* Returns the bytes of push constants, which are whole words. */
static uint32_t
push_bytes(const program_slot *slot)
{
  return (uint32_t)round_up(slot->least, 4);
}

/* Describes the slots of the kernel, without push constants, and stores their bytes. */
static uint32_t
list_slots(const program_kernel *k, vyre_kernel_slot *out, uint32_t *out_push)
{
  uint32_t count = 0;
  *out_push = 0;
  for (uint32_t i = 0; i < k->slot_count; i++) {
    const program_slot *s = &k->slots[i];
    if (s->is_push)
      *out_push = push_bytes(s);
    else
      out[count++] = (vyre_kernel_slot){.set = s->set,
                                        .binding = s->binding,
                                        .kind = s->is_uniform ? VYRE_SLOT_UNIFORM : VYRE_SLOT_STORAGE,
                                        .count = s->count,
                                        .is_read_only = s->is_read_only};
  }
  return count;
}

static vyre_status
compile(const program_device *device, program_kernel *k, vyre_kernel_slot *slots, vyre_kernel_spec *specs)
{
  vyre_device_info info;
  vyre_kernel_desc desc = {.label = "compiled items", .slots = slots, .specs = specs, .spec_count = k->how.spec_count};
  device->ops->describe(device->target, &info);
  VYRE_TRY(check_rows(k, &info));
  VYRE_TRY(write_code(k, &info, &desc.form));
  k->vir = (vyre_kernel_program){.module = k->module, .row = k->program.id, .subgroup = k->how.subgroup};
  memcpy(desc.workgroup, k->size, sizeof k->size);
  desc.slot_count = list_slots(k, slots, &desc.push_size);
  for (uint32_t i = 0; i < k->how.spec_count; i++)
    specs[i] = (vyre_kernel_spec){k->values[i].id, spec_bytes(k, k->values[i].id), k->values[i].bits};
  desc.entry = desc.form == VYRE_KERNEL_PTX ? "main" : entry_of(k);
  desc.code = desc.form == VYRE_KERNEL_VIR ? (const void *)&k->vir : k->code.data;
  desc.size = desc.form == VYRE_KERNEL_VIR ? sizeof k->vir : k->code.size;
  return device->ops->compile(device->target, &desc, &k->kernel);
}

vyre_status
program_kernel_compile(const program_device *device, program_kernel *k)
{
  vyre_kernel_slot *slots = calloc((size_t)k->slot_count + 1, sizeof *slots);
  vyre_kernel_spec *specs = calloc((size_t)k->how.spec_count + 1, sizeof *specs);
  vyre_status status = slots && specs ? compile(device, k, slots, specs) : VYRE_OUT_OF_MEMORY("for a program");
  free(slots);
  free(specs);
  return status;
}

/* ---- running -------------------------------------------------------------------------------------------------------------- */

/* The lists of a dispatch.  Push constants are not in them. */
typedef struct dispatch {
  vyre_range ranges[PROGRAM_MOST_BUFFERS];
  vyre_upload uploads[PROGRAM_MOST_BUFFERS];
  vyre_read reads[PROGRAM_MOST_BUFFERS];
  uint32_t count, read_count;
  vyre_step step;
} dispatch;

static vyre_status
add_buffer(const program_device *device, dispatch *d, uint64_t size, unsigned char *data, bool is_written)
{
  vyre_range *range = &d->ranges[d->count];
  VYRE_TRY(device->ops->allocate(device->target, size, &range->buffer));
  range->size = size;
  d->uploads[d->count++] = (vyre_upload){*range, data};
  if (is_written)
    d->reads[d->read_count++] = (vyre_read){*range, data};
  return VYRE_OK;
}

static vyre_status
add_buffers(const program_device *device, const program_kernel *k, const vyre_mega_range *buffers, unsigned char *const *data,
            dispatch *d)
{
  for (uint32_t i = 0; i < k->slot_count; i++) {
    const program_slot *s = &k->slots[i];
    for (uint32_t n = s->first; n < s->first + s->count && !s->is_push; n++)
      VYRE_TRY(add_buffer(device, d, buffers[n].size, data[n], !s->is_read_only));
    if (s->is_push) {
      d->step.push = data[s->first];
      d->step.push_size = push_bytes(s);
    }
  }
  return VYRE_OK;
}

vyre_status
program_kernel_run(const program_device *device, const program_kernel *k, const uint32_t groups[3], const vyre_mega_range *buffers,
                   unsigned char *const *data)
{
  const vyre_target_ops *ops = device->ops;
  dispatch d = {.step = {.kernel = k->kernel, .groups = {groups[0], groups[1], groups[2]}}};
  vyre_status status = add_buffers(device, k, buffers, data, &d);
  d.step.buffers = d.ranges;
  d.step.buffer_count = d.count;
  const vyre_sequence sequence = {.uploads = d.uploads,
                                  .upload_count = d.count,
                                  .steps = &d.step,
                                  .step_count = 1,
                                  .reads = d.reads,
                                  .read_count = d.read_count};
  if (!status)
    status = ops->submit(device->target, &sequence, NULL);
  const bool is_lost = ops->is_lost && ops->is_lost(device->target); /* then the buffers are lost, too */
  for (uint32_t i = 0; i < d.count && !is_lost; i++) /* the item is done, so an error of `free` must not repeat it */
    vyre_status_free(ops->free(device->target, d.ranges[i].buffer));
  return status;
}
