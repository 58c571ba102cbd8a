/* Compiled kernels, in this process and on disk (targets/common/files.h).
 *
 * The driver's linker compiles the text to a cubin for one architecture. The cubin is cached under the hash of the text, the
 * driver's version and the architecture. Without a cache the driver gets the text, and may use a cache of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { LOG_SIZE = 8192 };

void
cuda_cache_identify(vyre_target *target)
{
  const uint32_t identity[TARGET_FILES_IDENTITY / sizeof(uint32_t)] = {target->choice.sm, (uint32_t)target->library.version};
  memcpy(target->files.identity, identity, sizeof identity);
}

vyre_status
cuda_cache_open(vyre_target *target, const vyre_target_options *options)
{
  target->files = (target_files){.allocator = &target->base.allocator,
                                 .target = "cuda",
                                 .ending = ".cubin",
                                 .magic = {'v', 'y', 'r', 'e', 'c', 'u', 'b', 'n'},
                                 .version = 1};
  return target_files_open(&target->files, options);
}

/* ---- the driver's compiler ----------------------------------------------------------------------------------------------- */

/* The error log of the driver's compiler. */
typedef struct log {
  char text[LOG_SIZE];
  cuda_jit_option options[2];
  void *values[2];
} log;

static void
begin_log(log *l)
{
  l->text[0] = '\0';
  l->options[0] = CUDA_JIT_ERROR_LOG;
  l->options[1] = CUDA_JIT_ERROR_LOG_SIZE;
  l->values[0] = l->text;
  l->values[1] = (void *)(uintptr_t)sizeof l->text;
}

static vyre_status
add_log(vyre_status status, log *l)
{
  l->text[sizeof l->text - 1] = '\0';
  return status && l->text[0] ? vyre_status_note(status, "the driver's compiler reports: %s", l->text) : status;
}

/* Loads zero-terminated text, or a cubin. */
static vyre_status
load(vyre_target *target, const char *label, const void *image, cuda_module *out)
{
  log l;
  begin_log(&l);
  const cuda_result result = target->library.call.cuModuleLoadDataEx(out, image, 2, l.options, l.values);
  return add_log(cuda_status(target, result, "cuModuleLoadDataEx", "compiling kernel '%s' for sm_%u", label, target->choice.sm),
                 &l);
}

/* Compiles the text to a cubin, loads it, and writes it to the cache. */
static vyre_status
finish_link(vyre_target *target, const char *label, const char *text, const uint64_t key[2], cuda_link link, cuda_module *out)
{
  void *cubin = NULL;
  size_t size = 0;
  char name[128];
  snprintf(name, sizeof name, "%s", label);
  VYRE_TRY(CUDA_CALL(target, cuLinkAddData_v2,
                     (link, CUDA_JIT_INPUT_PTX, (void *)(uintptr_t)text, strlen(text) + 1, name, 0, NULL, NULL),
                     "compiling kernel '%s' for sm_%u", label, target->choice.sm));
  VYRE_TRY(CUDA_CALL(target, cuLinkComplete, (link, &cubin, &size), "compiling kernel '%s' for sm_%u", label, target->choice.sm));
  VYRE_TRY(load(target, label, cubin, out));
  target->linked_bytes = size;
  if (target_files_are_kept(&target->files) && size <= TARGET_FILES_MOST)
    target_files_write(&target->files, key, cubin, size);
  return VYRE_OK;
}

static vyre_status
link_and_keep(vyre_target *target, const char *label, const char *text, const uint64_t key[2], cuda_module *out)
{
  const cuda_api *call = &target->library.call;
  cuda_link link;
  log l;
  begin_log(&l);
  VYRE_TRY(CUDA_CALL(target, cuLinkCreate_v2, (2, l.options, l.values, &link), "compiling kernel '%s'", label));
  vyre_status status = add_log(finish_link(target, label, text, key, link, out), &l);
  const bool is_loaded = !status;
  const cuda_result ended = call->cuLinkDestroy(link);
  status = vyre_status_join(status, cuda_status(target, ended, "cuLinkDestroy", "compiling kernel '%s'", label));
  if (is_loaded && status && !target->base.lost)
    call->cuModuleUnload(*out); /* the caller does not get the module */
  return status;
}

vyre_status
cuda_module_load(vyre_target *target, const char *label, const char *text, const uint64_t key[2], cuda_module *out)
{
  void *cubin;
  uint64_t size;
  if (key && target->base.statistics_only)
    return link_and_keep(target, label, text, key, out);
  if (!key || !target_files_are_kept(&target->files))
    return load(target, label, text, out);
  if (target_files_read(&target->files, key, NULL, NULL, &cubin, &size)) {
    vyre_status status = load(target, label, cubin, out);
    vyre_release(&target->base.allocator, cubin, size + 1);
    target->base.counters.cache_hits += !status;
    if (!status || target->base.lost)
      return status;
    target_files_remark_status(&target->files, status, "the kernel is compiled again");
  }
  target->base.counters.cache_misses++;
  return link_and_keep(target, label, text, key, out);
}

/* ---- in this process ----------------------------------------------------------------------------------------------------- */

static vyre_status
load_text(vyre_target *target, const vyre_kernel_desc *desc, const uint64_t key[2], cuda_module *out)
{
  char *text = vyre_allocate(&target->base.allocator, desc->size + 1);
  if (!text)
    return VYRE_OUT_OF_MEMORY("for a kernel's PTX");
  memcpy(text, desc->code, desc->size);
  text[desc->size] = '\0';
  vyre_status status = cuda_module_load(target, desc->label, text, key, out);
  vyre_release(&target->base.allocator, text, desc->size + 1);
  return status;
}

static vyre_status
make_loaded(vyre_target *target, const vyre_kernel_desc *desc, const uint64_t key[2], cuda_loaded **out)
{
  cuda_loaded *loaded = vyre_allocate(&target->base.allocator, sizeof *loaded);
  if (!loaded)
    return VYRE_OUT_OF_MEMORY("for a CUDA module");
  *loaded = (cuda_loaded){.next = target->loaded, .key = {key[0], key[1]}, .users = 1};
  vyre_status status = load_text(target, desc, key, &loaded->module);
  if (status) {
    vyre_release(&target->base.allocator, loaded, sizeof *loaded);
    return status;
  }
  target->loaded = *out = loaded;
  return VYRE_OK;
}

vyre_status
cuda_loaded_acquire(vyre_target *target, const vyre_kernel_desc *desc, cuda_loaded **out)
{
  const XXH128_hash_t hash = XXH3_128bits(desc->code, desc->size);
  const uint64_t key[2] = {hash.low64, hash.high64};
  cuda_loaded *loaded = target->base.statistics_only ? NULL : target->loaded; /* kernels for statistics are compiled anew */
  while (loaded && memcmp(loaded->key, key, sizeof key) != 0)
    loaded = loaded->next;
  if (!loaded)
    return make_loaded(target, desc, key, out);
  loaded->users++;
  *out = loaded;
  return VYRE_OK;
}

vyre_status
cuda_loaded_release(vyre_target *target, cuda_loaded *loaded)
{
  if (--loaded->users)
    return VYRE_OK;
  cuda_loaded **at = &target->loaded;
  while (*at != loaded)
    at = &(*at)->next;
  *at = loaded->next;
  vyre_status status =
      target->base.lost || target->base.hangs ? VYRE_OK : CUDA_CALL(target, cuModuleUnload, (loaded->module), "releasing a kernel");
  vyre_release(&target->base.allocator, loaded, sizeof *loaded);
  return status;
}
