/* A cache of compiled kernels on the disk: targets/common/files.h. The data come from vkGetPipelineCacheData.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

vyre_status
vulkan_cache_open(vyre_target *target, const vyre_target_options *options)
{
  target->cache = (target_files){.allocator = &target->base.allocator,
                                 .target = "vulkan",
                                 .ending = ".pipeline",
                                 .magic = {'v', 'y', 'r', 'e', 'p', 'i', 'p', 'e'},
                                 .version = 1};
  return target_files_open(&target->cache, options);
}

void
vulkan_cache_close(vyre_target *target)
{
  target_files_close(&target->cache);
}

/* ---- keys and data ------------------------------------------------------------------------------------------------------- */

static void
add_text(XXH3_state_t *state, const char *text)
{
  XXH3_128bits_update(state, text, strlen(text) + 1);
}

/* Returns a hash of everything from which a pipeline is made. */
static XXH128_hash_t
key_of(const vyre_kernel_desc *desc)
{
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  const uint64_t counts[] = {desc->size, desc->slot_count, desc->spec_count, desc->push_size};
  XXH3_128bits_update(&state, counts, sizeof counts);
  XXH3_128bits_update(&state, desc->code, desc->size);
  add_text(&state, desc->entry);
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    const vyre_kernel_slot *slot = &desc->slots[i];
    const uint32_t words[] = {slot->set, slot->binding, (uint32_t)slot->kind, target_slot_count(slot)};
    XXH3_128bits_update(&state, words, sizeof words);
  }
  for (uint32_t i = 0; i < desc->spec_count; i++) {
    const uint64_t words[] = {desc->specs[i].id, desc->specs[i].size, desc->specs[i].bits};
    XXH3_128bits_update(&state, words, sizeof words);
  }
  return XXH3_128bits_digest(&state);
}

/* Checks Vulkan's standard header of the data. Returns NULL if the data belong to this device, otherwise the error. */
static const char *
find_foreign(const void *user, const unsigned char *data, uint64_t size)
{
  VkPipelineCacheHeaderVersionOne header;
  const vulkan_identity *device = user;
  if (size < sizeof header)
    return "its data are shorter than Vulkan's header";
  memcpy(&header, data, sizeof header);
  if (header.headerSize < sizeof header || header.headerSize > size || header.headerVersion != VK_PIPELINE_CACHE_HEADER_VERSION_ONE)
    return "its data have an unknown header";
  if (header.vendorID != device->vendor || header.deviceID != device->device ||
      memcmp(header.pipelineCacheUUID, device->uuid, sizeof device->uuid) != 0)
    return "its data belong to another device or driver";
  return NULL;
}

/* Gets the data of a pipeline cache. The caller frees *out, also after a failure. */
static vyre_status
get_data(vyre_target *target, const vulkan_cached *cached, const char *label, void **out, size_t *out_size, size_t *out_capacity)
{
  *out_capacity = *out_size = 0;
  VYRE_TRY(VULKAN_CALL(target, vkGetPipelineCacheData, (target->device, cached->handle, out_size, NULL), "for kernel '%s'", label));
  if (*out_size > TARGET_FILES_MOST)
    return VYRE_ERROR(
        VYRE_CODE_DEVICE,
        "vulkan: kernel '%s' has %zu bytes of compiled code, which is too large\nFix: use a smaller kernel, or no cache", label,
        *out_size);
  *out_capacity = *out_size + 1;
  *out = vyre_allocate(&target->base.allocator, *out_capacity);
  if (!*out)
    return VYRE_OUT_OF_MEMORY("for a kernel's compiled code");
  return VULKAN_CALL(target, vkGetPipelineCacheData, (target->device, cached->handle, out_size, *out), "for kernel '%s', %zu bytes",
                     label, *out_size);
}

static void
write_data(vyre_target *target, const vyre_kernel_desc *desc, const vulkan_cached *cached)
{
  void *data = NULL;
  size_t size, capacity;
  vyre_status status = get_data(target, cached, desc->label, &data, &size, &capacity);
  const char *foreign = status ? NULL : find_foreign(&target->choice.identity, data, size);
  if (status) {
    target_files_remark_status(&target->cache, status, "it is not kept");
  } else if (foreign) {
    target_files_remark(&target->cache, "the compiled kernel '%.500s' is not kept: %s", desc->label, foreign);
  } else {
    const XXH128_hash_t key = key_of(desc);
    target_files_write(&target->cache, (const uint64_t[]){key.low64, key.high64}, data, size);
  }
  vyre_release(&target->base.allocator, data, capacity);
}

/* ---- around a compilation ------------------------------------------------------------------------------------------------ */

static VkPipelineCache
create_cache(vyre_target *target, const vyre_kernel_desc *desc, const void *data, uint64_t size, const char *otherwise)
{
  VkPipelineCache made = VK_NULL_HANDLE;
  const VkPipelineCacheCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = (size_t)size, .pInitialData = data};
  vyre_status status = VULKAN_CALL(target, vkCreatePipelineCache, (target->device, &info, NULL, &made),
                                   "for kernel '%s', %" PRIu64 " cached bytes", desc->label, size);
  if (!status)
    return made;
  target_files_remark_status(&target->cache, status, otherwise);
  return VK_NULL_HANDLE;
}

void
vulkan_cache_begin(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *out)
{
  *out = (vulkan_cached){0};
  static_assert(sizeof(vulkan_identity) == TARGET_FILES_IDENTITY, "the identity in files has the same size");
  memcpy(target->cache.identity, &target->choice.identity, sizeof target->cache.identity);
  if (target->base.statistics_only)
    out->handle = create_cache(target, desc, NULL, 0, "the driver may use its own cache"); /* empty, instead of the device's */
  if (!target_files_are_kept(&target->cache))
    return;
  const XXH128_hash_t key = key_of(desc);
  void *data = NULL;
  uint64_t size = 0;
  if (target_files_read(&target->cache, (const uint64_t[]){key.low64, key.high64}, find_foreign, &target->choice.identity, &data,
                        &size)) {
    out->handle = create_cache(target, desc, data, size, "it is compiled again");
    out->is_found = out->handle != VK_NULL_HANDLE;
    vyre_release(&target->base.allocator, data, (size_t)size + 1);
  }
  if (out->is_found) {
    target->base.counters.cache_hits++;
    return;
  }
  target->base.counters.cache_misses++;
  out->handle = create_cache(target, desc, NULL, 0, "it is not kept");
}

void
vulkan_cache_end(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *cached, bool is_compiled)
{
  if (!cached->handle)
    return;
  if (is_compiled && !cached->is_found && !target->base.statistics_only)
    write_data(target, desc, cached);
  target->call.vkDestroyPipelineCache(target->device, cached->handle, NULL);
  cached->handle = VK_NULL_HANDLE;
}
