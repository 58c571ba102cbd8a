/* Implements interpreted.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "interpreted.h"

#include "vyre/ir.h"
#include "vyre/spirv.h"

#include <string.h>

enum { MOST_KERNELS = 512 };

static vyre_module *modules[MOST_KERNELS]; /* of the compiled kernels, owned until close */
static uint32_t module_count;

static vyre_status
open(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out)
{
  vyre_target_options checked = options ? *options : (vyre_target_options){.struct_size = sizeof(vyre_target_options)};
  checked.validate = true;
  return vyre_target_cpu.open(&checked, allocator, out);
}

static vyre_status
close(vyre_target *target)
{
  vyre_status status = vyre_target_cpu.close(target);
  while (module_count)
    vyre_module_destroy(modules[--module_count]);
  return status;
}

static void
describe(const vyre_target *target, vyre_device_info *out)
{
  vyre_target_cpu.describe(target, out);
  out->forms = 1u << VYRE_KERNEL_SPIRV;
}

/* Returns the program of the entry point, because a module may have several. */
static uint32_t
find_program(const vyre_module *module, const char *entry)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t program = v->first[0];
  while (v->next[program] && strcmp(vyre_row_name(module, (vyre_row){program}), entry) != 0)
    program = v->next[program];
  return program;
}

static vyre_status
compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out)
{
  vyre_module *module;
  if (module_count == MOST_KERNELS)
    return VYRE_ERROR(VYRE_CODE_INPUT, "too many kernels");
  VYRE_TRY(vyre_module_create(NULL, 1u << 20, &module));
  modules[module_count++] = module;
  VYRE_TRY(vyre_spirv_read(module, desc->code, desc->size, desc->label));
  VYRE_TRY(vyre_module_seal(module, NULL));
  const vyre_kernel_program program = {.module = module, .row = find_program(module, desc->entry)};
  vyre_kernel_desc as_vir = *desc;
  as_vir.form = VYRE_KERNEL_VIR;
  as_vir.code = &program;
  as_vir.size = sizeof program;
  return vyre_target_cpu.compile(target, &as_vir, out);
}

const vyre_target_ops *
interpreted_target(void)
{
  static vyre_target_ops table;
  table = vyre_target_cpu;
  table.name = "interpreted";
  table.open = open;
  table.close = close;
  table.describe = describe;
  table.compile = compile;
  return &table;
}
