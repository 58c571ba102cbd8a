/* Compiles and frees kernels, which are functions of CUDA modules. Kernels with the same text share a module (cache.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

/* ---- hooks --------------------------------------------------------------------------------------------------------------- */

vyre_status
cuda_check_kernel(vyre_target *target, const vyre_kernel_desc *desc)
{
  cuda_text text;
  VYRE_TRY(cuda_text_read(desc, &text));
  if (text.has_grid_barriers && !(target->base.info.capabilities & VYRE_TARGET_GRID_BARRIERS))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' has barriers for the whole grid, but the device '%s' has no cooperative launches\n"
                      "Fix: split the kernel at the barriers, or use another device",
                      desc->label, target->base.info.name);
  return VYRE_OK;
}

/* Checks the limits of the compiled kernel, which may be lower than the device's because of its registers. */
static vyre_status
check_function(vyre_target *target, const vyre_kernel_desc *desc, cuda_kernel *kernel)
{
  const uint32_t lanes = desc->workgroup[0] * desc->workgroup[1] * desc->workgroup[2];
  int most = 0, blocks = 0;
  VYRE_TRY(CUDA_CALL(target, cuFuncGetAttribute, (&most, CUDA_FUNCTION_MAX_THREADS, kernel->function),
                     "reading the resources of kernel '%s'", desc->label));
  if (most >= 0 && lanes > (uint32_t)most)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' has a workgroup of %u invocations, but its code for '%s' allows at most %d\n"
                      "Fix: make the workgroup smaller, or use fewer registers",
                      desc->label, lanes, target->base.info.name, most);
  if (!kernel->text.has_grid_barriers)
    return VYRE_OK;
  VYRE_TRY(CUDA_CALL(target, cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, kernel->function, (int)lanes, 0),
                     "computing the occupancy of kernel '%s'", desc->label));
  kernel->most_blocks = (uint64_t)(blocks < 0 ? 0 : blocks) * target->choice.info.compute_units;
  return VYRE_OK;
}

static vyre_status
fill_kernel(vyre_target *target, const vyre_kernel_desc *desc, cuda_kernel *kernel)
{
  VYRE_TRY(target_kernel_init(target, desc, &kernel->base));
  VYRE_TRY(cuda_text_read(desc, &kernel->text));
  const uint64_t start = clock_now();
  VYRE_TRY(cuda_loaded_acquire(target, desc, &kernel->loaded));
  kernel->base.compile_ns = clock_now() - start;
  kernel->code_bytes = target->linked_bytes;
  kernel->serial = ++target->serials;
  VYRE_TRY(CUDA_CALL(target, cuModuleGetFunction, (&kernel->function, kernel->loaded->module, desc->entry),
                     "finding the entry '%s' of kernel '%s'", desc->entry, desc->label));
  return check_function(target, desc, kernel);
}

vyre_status
cuda_release(vyre_target *target, target_kernel *base)
{
  cuda_kernel *kernel = (cuda_kernel *)(void *)base;
  vyre_status status = kernel->loaded ? cuda_loaded_release(target, kernel->loaded) : VYRE_OK;
  target_kernel_free(target, &kernel->base);
  vyre_release(&target->base.allocator, kernel, sizeof *kernel);
  return status;
}

vyre_status
cuda_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out)
{
  cuda_kernel *kernel = vyre_allocate(&target->base.allocator, sizeof *kernel);
  if (!kernel)
    return VYRE_OUT_OF_MEMORY("for a CUDA kernel");
  vyre_status status = fill_kernel(target, desc, kernel);
  if (status)
    return vyre_status_join(status, cuda_release(target, &kernel->base));
  *out = &kernel->base;
  return VYRE_OK;
}

/* ---- statistics ---------------------------------------------------------------------------------------------------------- */

static vyre_status
read_attributes(vyre_target *target, const cuda_kernel *kernel, vyre_kernel_figure *figures, uint32_t count)
{
  static const cuda_function_attribute attributes[] = {CUDA_FUNCTION_REGISTERS, CUDA_FUNCTION_LOCAL, CUDA_FUNCTION_SHARED,
                                                       CUDA_FUNCTION_MAX_THREADS};
  for (uint32_t i = 0; i < count; i++) {
    int value = 0;
    VYRE_TRY(CUDA_CALL(target, cuFuncGetAttribute, (&value, attributes[i], kernel->function),
                       "reading the resources of kernel '%s'", kernel->base.label));
    figures[i].u64 = value < 0 ? 0 : (uint64_t)value;
  }
  return VYRE_OK;
}

vyre_status
cuda_statistics(vyre_target *target, const target_kernel *base, void (*emit)(void *user, const vyre_kernel_figure *figure),
                void *user)
{
  const cuda_kernel *kernel = (const cuda_kernel *)(const void *)base;
  const int lanes = (int)(base->workgroup[0] * base->workgroup[1] * base->workgroup[2]);
  enum { ATTRIBUTES = 4, BLOCKS = ATTRIBUTES, CODE };
  vyre_kernel_figure figures[] = {
      {.name = "Registers", .text = "32-bit registers of an invocation"},
      {.name = "Local memory", .text = "bytes of an invocation: its arrays and spilled registers"},
      {.name = "Shared memory", .text = "bytes of a workgroup"},
      {.name = "Most invocations", .text = "invocations that a workgroup may have, limited by registers"},
      {.name = "Workgroups", .text = "workgroups that a multiprocessor holds at once"},
      {.name = "Code size", .text = "bytes of the cubin that the driver's linker made"}};
  int blocks = 0;
  VYRE_TRY(read_attributes(target, kernel, figures, ATTRIBUTES));
  VYRE_TRY(CUDA_CALL(target, cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, kernel->function, lanes, 0),
                     "computing the occupancy of kernel '%s'", base->label));
  figures[BLOCKS].u64 = blocks < 0 ? 0 : (uint64_t)blocks;
  figures[CODE].u64 = kernel->code_bytes;
  /* The simulator's linker makes no device code. */
  const uint32_t count = target->base.info.capabilities & VYRE_TARGET_EMULATED ? CODE : CODE + 1;
  for (uint32_t i = 0; i < count; i++) {
    figures[i].part = "";
    emit(user, &figures[i]);
  }
  return VYRE_OK;
}
