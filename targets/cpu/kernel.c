/* Kernels of the CPU target: functions compiled from C, and programs that the interpreter runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include "vyre/ir.h"

#include <inttypes.h>
#include <string.h>

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static vyre_status
check_function(const vyre_kernel_desc *desc)
{
  const vyre_kernel_function *function = desc->code;
  uint32_t push = 0;
  for (uint32_t i = 0; i < desc->slot_count; i++)
    push += desc->slots[i].kind == VYRE_SLOT_PUSH;
  if (!function->run)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cpu: kernel '%s' has no function\nFix: pass the function compiled from C", desc->label);
  if (push > 1)
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "cpu: kernel '%s' has %u slots of push constants\nFix: use at most one, because a program's push constants are one buffer",
        desc->label, push);
  return VYRE_OK;
}

static bool
is_binding_row(const vyre_view *view, uint32_t row)
{
  return VYRE_ROW_OP(view->op[row]) == VYRE_OP_buffer && VYRE_BUFFER_SPACE(view->imm_hi[row]) <= VYRE_SPACE_PUSH;
}

static const vyre_buffer_info *
info_of(const vyre_module *module, uint32_t row)
{
  return vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){row}); /* only reads the module */
}

/* Returns the slot of a buffer row, or slot_count if there is none. A uniform block may use a storage slot, together with other
 * blocks. */
static uint32_t
slot_of(const vyre_module *module, uint32_t row, const vyre_kernel_slot *slots, uint32_t slot_count)
{
  const vyre_space space = VYRE_BUFFER_SPACE(vyre_module_view(module)->imm_hi[row]);
  const vyre_buffer_info *info = info_of(module, row);
  for (uint32_t i = 0; i < slot_count; i++)
    if (slots[i].set == info->set && slots[i].binding == info->binding &&
        (slots[i].kind == VYRE_SLOT_STORAGE || (slots[i].kind == VYRE_SLOT_UNIFORM && space == VYRE_SPACE_UNIFORM)))
      return i;
  return slot_count;
}

/* Checks that a buffer of the program has a slot. */
static vyre_status
check_buffer(const vyre_kernel_desc *desc, const vyre_kernel_program *program, uint32_t row)
{
  const vyre_view *view = vyre_module_view(program->module);
  const char *name = vyre_row_name(program->module, (vyre_row){row});
  if (!is_binding_row(view, row) || VYRE_BUFFER_SPACE(view->imm_hi[row]) == VYRE_SPACE_PUSH)
    return VYRE_OK;
  if (slot_of(program->module, row, desc->slots, desc->slot_count) == desc->slot_count)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cpu: kernel '%s': buffer %%%s of set %" PRIu32 " binding %" PRIu32 " has no slot\n"
                      "Fix: describe a slot of its kind for this set and binding",
                      desc->label, name ? name : "", info_of(program->module, row)->set, info_of(program->module, row)->binding);
  return VYRE_OK;
}

static vyre_status
check_workgroup(const vyre_kernel_desc *desc, const vyre_kernel_program *program, const vyre_spec_value *specs)
{
  uint32_t size[3] = {0};
  if (vyre_workgroup_size(program->module, (vyre_row){program->row}, specs, desc->spec_count, size) &&
      memcmp(size, desc->workgroup, sizeof size) == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "cpu: kernel '%s' is described with workgroups of %u x %u x %u, but its program has %u x %u x %u\n"
                    "Fix: use the program's size with these specialization values",
                    desc->label, desc->workgroup[0], desc->workgroup[1], desc->workgroup[2], size[0], size[1], size[2]);
}

static vyre_spec_value *
copy_specs(const vyre_allocator *allocator, const vyre_kernel_desc *desc)
{
  vyre_spec_value *specs = vyre_allocate(allocator, sizeof *specs * ((size_t)desc->spec_count + 1));
  for (uint32_t i = 0; specs && i < desc->spec_count; i++)
    specs[i] = (vyre_spec_value){desc->specs[i].id, desc->specs[i].bits};
  return specs;
}

static vyre_status
check_program(vyre_target *target, const vyre_kernel_desc *desc)
{
  const vyre_kernel_program *program = desc->code;
  if (!program->module)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cpu: kernel '%s' has no module\nFix: pass the module of its program", desc->label);
  const vyre_view *view = vyre_module_view(program->module);
  const uint32_t lanes = program->subgroup;
  if (!vyre_module_is_sealed(program->module) || program->row == 0 || program->row >= view->rows ||
      VYRE_ROW_OP(view->op[program->row]) != VYRE_OP_program)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cpu: kernel '%s': row %" PRIu32
                      " is not a program of a sealed module\nFix: seal the module, and pass one of its "
                      "program rows",
                      desc->label, program->row);
  if ((lanes & (lanes - 1)) != 0 || lanes > 128)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cpu: kernel '%s' has subgroups of %" PRIu32 " lanes\nFix: use a power of two up to 128, or 0", desc->label,
                      lanes);
  for (uint32_t row = view->first[program->row]; row; row = view->next[row])
    VYRE_TRY(check_buffer(desc, program, row));
  const vyre_allocator *allocator = &target_base_of(target)->allocator;
  vyre_spec_value *specs = copy_specs(allocator, desc);
  if (!specs)
    return VYRE_OUT_OF_MEMORY("for specialization values");
  vyre_status status = check_workgroup(desc, program, specs);
  vyre_release(allocator, specs, sizeof *specs * ((size_t)desc->spec_count + 1));
  return status;
}

vyre_status
cpu_check_kernel(vyre_target *target, const vyre_kernel_desc *desc)
{
  return desc->form == VYRE_KERNEL_C ? check_function(desc) : check_program(target, desc);
}

/* ---- compilation --------------------------------------------------------------------------------------------------------- */

static vyre_status
compile_function(vyre_target *target, const vyre_kernel_desc *desc, cpu_kernel *kernel)
{
  const vyre_allocator *allocator = &target_base_of(target)->allocator;
  kernel->function = *(const vyre_kernel_function *)desc->code;
  kernel->buffers = vyre_allocate(allocator, sizeof *kernel->buffers * ((size_t)kernel->base.slot_count + 1));
  kernel->elements = vyre_allocate(allocator, sizeof *kernel->elements * ((size_t)kernel->base.range_count + 1));
  return kernel->buffers && kernel->elements ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a kernel's buffers");
}

/* Returns the number of bindings of the program, and stores them if `out` is not NULL. */
static uint32_t
bind_rows(const cpu_kernel *kernel, cpu_binding *out)
{
  const vyre_module *module = kernel->program.module;
  const vyre_view *view = vyre_module_view(module);
  uint32_t count = 0;
  for (uint32_t row = view->first[kernel->program.row]; row; row = view->next[row]) {
    if (!is_binding_row(view, row))
      continue;
    if (VYRE_BUFFER_SPACE(view->imm_hi[row]) == VYRE_SPACE_PUSH) {
      if (out)
        out[count] = (cpu_binding){row, 0, UINT32_MAX};
      count++;
      continue;
    }
    const uint32_t slot = slot_of(module, row, kernel->base.slots, kernel->base.slot_count);
    uint32_t range = 0;
    for (uint32_t i = 0; i < slot; i++)
      range += kernel->base.slots[i].kind == VYRE_SLOT_PUSH ? 0 : target_slot_count(&kernel->base.slots[i]);
    for (uint32_t k = 0; k < target_slot_count(&kernel->base.slots[slot]); k++, count++)
      if (out)
        out[count] = (cpu_binding){row, k, range + k};
  }
  return count;
}

static vyre_status
compile_program(vyre_target *target, const vyre_kernel_desc *desc, cpu_kernel *kernel)
{
  const vyre_allocator *allocator = &target_base_of(target)->allocator;
  kernel->program = *(const vyre_kernel_program *)desc->code;
  if (kernel->program.subgroup == 0)
    kernel->program.subgroup = CPU_SUBGROUP;
  kernel->spec_count = desc->spec_count;
  kernel->specs = copy_specs(allocator, desc);
  kernel->binding_count = bind_rows(kernel, NULL);
  kernel->bindings = vyre_allocate(allocator, sizeof *kernel->bindings * ((size_t)kernel->binding_count + 1));
  kernel->bound = vyre_allocate(allocator, sizeof *kernel->bound * ((size_t)kernel->binding_count + 1));
  if (!kernel->specs || !kernel->bindings || !kernel->bound)
    return VYRE_OUT_OF_MEMORY("for a kernel's buffers");
  bind_rows(kernel, kernel->bindings);
  return VYRE_OK;
}

static void
release(vyre_target *target, void *memory, size_t size)
{
  vyre_release(&target_base_of(target)->allocator, memory, size);
}

static void
free_kernel(vyre_target *target, cpu_kernel *kernel)
{
  release(target, kernel->push, kernel->base.push_size);
  release(target, kernel->buffers, sizeof *kernel->buffers * ((size_t)kernel->base.slot_count + 1));
  release(target, kernel->elements, sizeof *kernel->elements * ((size_t)kernel->base.range_count + 1));
  release(target, kernel->specs, sizeof *kernel->specs * ((size_t)kernel->spec_count + 1));
  release(target, kernel->bindings, sizeof *kernel->bindings * ((size_t)kernel->binding_count + 1));
  release(target, kernel->bound, sizeof *kernel->bound * ((size_t)kernel->binding_count + 1));
  target_kernel_free(target, &kernel->base);
  release(target, kernel, sizeof *kernel);
}

static vyre_status
compile(vyre_target *target, const vyre_kernel_desc *desc, cpu_kernel *kernel)
{
  VYRE_TRY(target_kernel_init(target, desc, &kernel->base));
  kernel->form = desc->form;
  if (desc->push_size) {
    kernel->push = vyre_allocate(&target_base_of(target)->allocator, desc->push_size);
    if (!kernel->push)
      return VYRE_OUT_OF_MEMORY("for push constants");
  }
  return kernel->form == VYRE_KERNEL_C ? compile_function(target, desc, kernel) : compile_program(target, desc, kernel);
}

vyre_status
cpu_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out)
{
  cpu_kernel *kernel = vyre_allocate(&target_base_of(target)->allocator, sizeof *kernel);
  if (!kernel)
    return VYRE_OUT_OF_MEMORY("for a kernel");
  vyre_status status = compile(target, desc, kernel);
  if (status) {
    free_kernel(target, kernel);
    return status;
  }
  *out = &kernel->base;
  return VYRE_OK;
}

vyre_status
cpu_release(vyre_target *target, target_kernel *kernel)
{
  free_kernel(target, (cpu_kernel *)(void *)kernel);
  return VYRE_OK;
}
