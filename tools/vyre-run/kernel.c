/* Kernels with the options of vyre-run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "vyre/view.h"

static bool
uses_subgroups(const run_program *program)
{
  const vyre_view *view = vyre_module_view(program->module);
  const uint32_t end = vyre_program_end(view, program->row.id);
  for (uint32_t row = program->row.id; row < end; row++) {
    const uint32_t op = VYRE_ROW_OP(view->op[row]);
    if (vyre_op_is_subgroup(op) || (vyre_op_is_invocation(op) && op >= VYRE_OP_subgroup_lane))
      return true;
  }
  return false;
}

vyre_status
run_subgroup_size(const run_options *options, const run_program *program, uint32_t *out)
{
  const run_target targets[] = {options->target, options->compare ? options->compare_target : NULL};
  *out = options->setup.subgroup;
  for (uint32_t i = 0; i < 2 && *out == 0 && uses_subgroups(program); i++) {
    vyre_device_info info = {.forms = 1u << VYRE_KERNEL_VIR};
    if (targets[i])
      VYRE_TRY(run_device_describe(options, targets[i], &info));
    if (!(info.forms >> VYRE_KERNEL_VIR & 1))
      *out = info.subgroup;
  }
  return VYRE_OK;
}

vyre_status
run_kernel_prepare(const run_options *options, const vyre_target_ops *ops, vyre_target *target, const run_program *program,
                   run_kernel *out)
{
  VYRE_TRY(run_kernel_describe(ops, target, program, out));
  return out->desc.form == VYRE_KERNEL_VIR ? run_subgroup_size(options, program, &out->vir.subgroup) : VYRE_OK;
}

vyre_status
run_kernel_compile(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel, vyre_kernel *out)
{
  return vyre_status_note(ops->compile(target, &kernel->desc, out),
                          "-device= chooses another device, -target=interpreter needs none, -validate enables checks");
}
