/* Kernels: PTX text to a function of a module.
 *
 * Kernels of one text share one module.  Where the options name a folder, the driver's linker makes a cubin of the text, which is
 * kept there; else the driver is given the text.  What its compiler says is in the error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- modules ------------------------------------------------------------------------------------------------------------- */

vyre_status
cuda_module_load(vyre_target *target, const char *label, const char *text, cuda_module *out)
{
  char log[CUDA_LOG_SIZE] = "";
  cuda_jit_option options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  const cuda_result result = target->library.call.cuModuleLoadDataEx(out, text, 2, options, values);
  log[sizeof log - 1] = '\0';
  vyre_status status =
      cuda_status(target, result, "cuModuleLoadDataEx", "compiling kernel '%s' for sm_%u", label, target->choice.sm);
  return status && log[0] ? vyre_status_note(status, "the driver's compiler says: %s", log) : status;
}

static vyre_status
load_text(vyre_target *target, const vyre_kernel_desc *desc, cuda_module *out)
{
  char *text = target_resize(&target->base.allocator, NULL, 0, desc->size + 1);
  if (!text)
    return VYRE_OUT_OF_MEMORY("for a kernel's PTX");
  memcpy(text, desc->code, desc->size);
  text[desc->size] = '\0';
  vyre_status status = cuda_module_load(target, desc->label, text, out);
  target_resize(&target->base.allocator, text, desc->size + 1, 0);
  return status;
}

static vyre_status
make_loaded(vyre_target *target, const vyre_kernel_desc *desc, XXH128_hash_t key, cuda_loaded **out)
{
  cuda_loaded *loaded = target_resize(&target->base.allocator, NULL, 0, sizeof *loaded);
  if (!loaded)
    return VYRE_OUT_OF_MEMORY("for a CUDA module");
  *loaded = (cuda_loaded){.next = target->loaded, .key = {key.low64, key.high64}, .users = 1};
  vyre_status status = load_text(target, desc, &loaded->module);
  if (status) {
    target_resize(&target->base.allocator, loaded, sizeof *loaded, 0);
    return status;
  }
  target->loaded = *out = loaded;
  return VYRE_OK;
}

static vyre_status
take_loaded(vyre_target *target, const vyre_kernel_desc *desc, cuda_loaded **out)
{
  const XXH128_hash_t key = XXH3_128bits(desc->code, desc->size);
  cuda_loaded *loaded = target->loaded;
  while (loaded && (loaded->key[0] != key.low64 || loaded->key[1] != key.high64))
    loaded = loaded->next;
  if (!loaded)
    return make_loaded(target, desc, key, out);
  loaded->users++;
  *out = loaded;
  return VYRE_OK;
}

static vyre_status
give_loaded(vyre_target *target, cuda_loaded *loaded)
{
  if (--loaded->users)
    return VYRE_OK;
  cuda_loaded **at = &target->loaded;
  while (*at != loaded)
    at = &(*at)->next;
  *at = loaded->next;
  vyre_status status = target->base.lost || target->hangs ? VYRE_OK
                                                          : cuda_status(target, target->library.call.cuModuleUnload(loaded->module),
                                                                        "cuModuleUnload", "releasing a kernel");
  target_resize(&target->base.allocator, loaded, sizeof *loaded, 0);
  return status;
}

/* ---- hooks --------------------------------------------------------------------------------------------------------------- */

vyre_status
cuda_check_kernel(vyre_target *target, const vyre_kernel_desc *desc)
{
  cuda_text text;
  VYRE_TRY(cuda_text_read(desc, &text));
  if (text.meets && !(target->base.info.capabilities & VYRE_TARGET_GRID_BARRIERS))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' has barriers for the whole grid, and the device '%s' has no cooperative launches\n"
                      "Fix: split it there into two kernels, or use another device",
                      desc->label, target->base.info.name);
  return VYRE_OK;
}

/* The compiled kernel may take fewer invocations than the device does, for want of registers. */
static vyre_status
check_function(vyre_target *target, const vyre_kernel_desc *desc, cuda_kernel *kernel)
{
  const cuda_api *call = &target->library.call;
  const uint32_t lanes = desc->workgroup[0] * desc->workgroup[1] * desc->workgroup[2];
  int most = 0, blocks = 0;
  VYRE_TRY(cuda_status(target, call->cuFuncGetAttribute(&most, CUDA_FUNCTION_MAX_THREADS, kernel->function), "cuFuncGetAttribute",
                       "asking what kernel '%s' takes", desc->label));
  if (most >= 0 && lanes > (uint32_t)most)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' has a workgroup of %u invocations, and as compiled for '%s' it can have %d\n"
                      "Fix: make the workgroup smaller, or use fewer registers",
                      desc->label, lanes, target->base.info.name, most);
  if (!kernel->text.meets)
    return VYRE_OK;
  VYRE_TRY(cuda_status(target, call->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel->function, (int)lanes, 0),
                       "cuOccupancyMaxActiveBlocksPerMultiprocessor", "asking how many workgroups of kernel '%s' are there at once",
                       desc->label));
  kernel->most_blocks = (uint64_t)(blocks < 0 ? 0 : blocks) * target->choice.multiprocessors;
  return VYRE_OK;
}

static vyre_status
fill_kernel(vyre_target *target, const vyre_kernel_desc *desc, cuda_kernel *kernel)
{
  VYRE_TRY(target_kernel_init(target, desc, &kernel->base));
  VYRE_TRY(cuda_text_read(desc, &kernel->text));
  VYRE_TRY(take_loaded(target, desc, &kernel->loaded));
  kernel->serial = ++target->serials;
  VYRE_TRY(cuda_status(target, target->library.call.cuModuleGetFunction(&kernel->function, kernel->loaded->module, desc->entry),
                       "cuModuleGetFunction", "asking for the entry '%s' of kernel '%s'", desc->entry, desc->label));
  return check_function(target, desc, kernel);
}

vyre_status
cuda_release(vyre_target *target, target_kernel *base)
{
  cuda_kernel *kernel = (cuda_kernel *)(void *)base;
  vyre_status status = kernel->loaded ? give_loaded(target, kernel->loaded) : VYRE_OK;
  target_kernel_free(target, &kernel->base);
  target_resize(&target->base.allocator, kernel, sizeof *kernel, 0);
  return status;
}

vyre_status
cuda_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out)
{
  cuda_kernel *kernel = target_resize(&target->base.allocator, NULL, 0, sizeof *kernel);
  if (!kernel)
    return VYRE_OUT_OF_MEMORY("for a CUDA kernel");
  *kernel = (cuda_kernel){0};
  vyre_status status = fill_kernel(target, desc, kernel);
  if (status)
    return vyre_status_join(status, cuda_release(target, &kernel->base));
  *out = &kernel->base;
  return VYRE_OK;
}
