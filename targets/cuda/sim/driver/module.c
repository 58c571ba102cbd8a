/* Modules, their variables and their functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

void
sim_module_release(sim_module *module)
{
  if (--module->references)
    return;
  for (uint32_t i = 0; i < module->global_count; i++)
    if (module->globals[i] && !module->globals[i]->is_freed)
      sim_memory_free(module->globals[i]);
  for (uint32_t i = 0; i < module->global_count; i++)
    if (module->globals[i])
      sim_memory_release(module->globals[i]);
  while (module->functions) {
    sim_function *function = module->functions;
    module->functions = function->next;
    free(function);
  }
  ptx_module_free(module->ptx);
  free(module->globals);
  free(module->addresses);
  free(module);
}

static cuda_result
make_globals(sim_module *module)
{
  module->global_count = ptx_global_count(module->ptx);
  module->globals = sim_allocate(module->global_count * sizeof *module->globals);
  module->addresses = sim_allocate(module->global_count * sizeof *module->addresses);
  for (uint32_t i = 0; i < module->global_count; i++) {
    const ptx_global *global = ptx_global_get(module->ptx, i);
    const uint64_t size = global->size ? global->size : 1;
    if (size > sim.device.memory - sim.allocated)
      return CUDA_OUT_OF_MEMORY;
    const cuda_result result = sim_memory_new(module->object.context, SIM_GLOBAL, size, NULL, &module->globals[i]);
    if (result)
      return result;
    sim_memory *memory = module->globals[i];
    sim_memory_retain(memory);
    sim.allocated += size;
    memory->is_const = global->is_const;
    module->addresses[i] = memory->address;
    memset(memory->bytes, 0, size);
    if (global->initial)
      memcpy(memory->bytes, global->initial, global->size);
  }
  return CUDA_OK;
}

SIM_ENTRY(cuModuleLoadDataEx, SIM_CURRENT | SIM_UNSAFE,
          (cuda_module * module, const void *image, unsigned int count, cuda_jit_option *options, void **values),
          (module, image, count, options, values))
{
  sim_jit jit;
  char *text;
  ptx_module *ptx;
  if (!module || !image)
    return CUDA_INVALID_VALUE;
  cuda_result result = sim_jit_options(count, options, values, &jit);
  if (result == CUDA_OK)
    result = sim_image_text(image, &text);
  if (result)
    return result;
  result = sim_ptx_compile(text, &jit, &ptx);
  free(text);
  if (result)
    return result;
  sim_module *made = sim_object_new(SIM_MODULE, sim_context_current(), sizeof *made);
  made->references = 1;
  made->ptx = ptx;
  result = make_globals(made);
  if (result) {
    sim_object_hide(made);
    sim_module_release(made);
    return result;
  }
  *module = sim_handle(made);
  return CUDA_OK;
}

SIM_ENTRY(cuModuleLoadData, SIM_CURRENT | SIM_UNSAFE, (cuda_module * module, const void *image), (module, image))
{
  return work_cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

void
sim_module_close(void *module)
{
  sim_module *gone = module;
  for (sim_function *function = gone->functions; function; function = function->next)
    sim_object_hide(function);
  sim_object_hide(gone);
  gone->is_unloaded = true;
  sim_module_release(gone);
}

SIM_ENTRY(cuModuleUnload, SIM_CURRENT | SIM_UNSAFE, (cuda_module module), (module))
{
  SIM_FOUND(sim_module, gone, sim_object_get(SIM_MODULE, module));
  const char *user = sim_pending_launch(gone);
  if (user)
    sim_report("cuModuleUnload: the host has not waited for %s, which uses the module", user);
  sim_module_close(gone);
  return CUDA_OK;
}

SIM_ENTRY(cuModuleGetFunction, SIM_CURRENT, (cuda_function * function, cuda_module module, const char *name),
          (function, module, name))
{
  sim_module *found = sim_object_get(SIM_MODULE, module);
  if (!found || !function || !name)
    return found ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  const ptx_kernel *kernel = ptx_kernel_find(found->ptx, name);
  if (!kernel)
    return CUDA_NOT_FOUND;
  sim_function *made = found->functions;
  while (made && made->kernel != kernel)
    made = made->next;
  if (!made) {
    made = sim_object_new(SIM_FUNCTION, found->object.context, sizeof *made);
    made->module = found;
    made->kernel = kernel;
    ptx_kernel_describe(kernel, &made->info);
    made->next = found->functions;
    found->functions = made;
  }
  *function = sim_handle(made);
  return CUDA_OK;
}

SIM_ENTRY(cuModuleGetGlobal_v2, SIM_CURRENT, (cuda_address * address, size_t *size, cuda_module module, const char *name),
          (address, size, module, name))
{
  sim_module *found = sim_object_get(SIM_MODULE, module);
  if (!found || !name)
    return found ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  for (uint32_t i = 0; i < found->global_count; i++) {
    const ptx_global *global = ptx_global_get(found->ptx, i);
    if (strcmp(global->name, name) != 0)
      continue;
    if (address)
      *address = found->addresses[i];
    if (size)
      *size = global->size;
    return CUDA_OK;
  }
  return CUDA_NOT_FOUND;
}

/* ---- functions ----------------------------------------------------------------------------------------------------------- */

static uint32_t
most_threads(const sim_function *function)
{
  uint32_t threads = sim_most_warps(&sim.device, function->info.registers) * 32;
  if (threads > 1024)
    threads = 1024;
  return function->info.most_threads && function->info.most_threads < threads ? function->info.most_threads : threads;
}

SIM_ENTRY(cuFuncGetAttribute, SIM_CURRENT, (int *value, cuda_function_attribute attribute, cuda_function function),
          (value, attribute, function))
{
  const sim_function *found = sim_object_get(SIM_FUNCTION, function);
  if (!found || !value)
    return found ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  switch (attribute) {
  case CUDA_FUNCTION_MAX_THREADS:
    *value = (int)most_threads(found);
    return CUDA_OK;
  case CUDA_FUNCTION_SHARED:
    *value = (int)found->info.shared_bytes;
    return CUDA_OK;
  case CUDA_FUNCTION_LOCAL:
    *value = (int)found->info.local_bytes;
    return CUDA_OK;
  case CUDA_FUNCTION_REGISTERS:
    *value = (int)(found->info.registers < 255 ? found->info.registers : 255);
    return CUDA_OK;
  }
  return SIM_REFUSE(CUDA_INVALID_VALUE, "cuFuncGetAttribute: the simulator does not support attribute %d", (int)attribute);
}

uint32_t
sim_occupancy(const sim_function *function, uint64_t threads, uint64_t dynamic_shared)
{
  const ptx_kernel_info *info = &function->info;
  if (info->most_threads && threads > info->most_threads)
    return 0;
  return sim_blocks(&sim.device, info->registers, threads, info->shared_bytes + dynamic_shared);
}

SIM_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, SIM_CURRENT,
          (int *count, cuda_function function, int block, size_t dynamic_shared), (count, function, block, dynamic_shared))
{
  const sim_function *found = sim_object_get(SIM_FUNCTION, function);
  if (!found || !count || block <= 0)
    return found ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  *count = (int)sim_occupancy(found, (uint64_t)block, dynamic_shared);
  return CUDA_OK;
}
