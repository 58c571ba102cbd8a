/* See watch_log.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, SETS = 8, BINDINGS = 64 };

/* ---- objects ------------------------------------------------------------------------------------------------------------- */

typedef struct variable {
  uint32_t set, binding;
  bool is_read_only, is_uniform;
} variable;

/* Variables of a module.  A pipeline has a copy of its module's. */
typedef struct shader {
  variable variables[SETS * BINDINGS];
  uint32_t count;
} shader;

typedef struct bound {
  uint32_t resource;
  uint64_t first, end;
} bound;

typedef struct set {
  bound bindings[BINDINGS];
} set;

typedef struct commands {
  watch_log log;
  shader *pipeline;
  set sets[SETS]; /* copied when they are bound, because they are written before */
  uint32_t beside;
  const shader *last; /* the pipeline of the previous dispatch */
} commands;

typedef enum object_kind { BUFFER, IMAGE, VIEW, SHADER, PIPELINE, SET, COMMANDS, SEMAPHORE } object_kind;

typedef struct object {
  object_kind kind;
  uint64_t handle;
  uint32_t number; /* number of the resource, of the view's resource, or of the semaphore's queue */
  uint64_t size;   /* bytes of a buffer */
  void *data;      /* owned */
} object;

static object objects[MOST];
static uint32_t object_count, resource_count, queue_count, beside_size;
static bool watches;
static watch_log log_;
static watch_use host_reads[16];
static uint32_t host_read_count;

/* Returns the last object with the handle, because handles are reused, or NULL. */
static object *
find(object_kind kind, uint64_t handle)
{
  for (uint32_t i = object_count; i-- > 0;)
    if (objects[i].kind == kind && objects[i].handle == handle)
      return &objects[i];
  return NULL;
}

static object *
add(object_kind kind, uint64_t handle, uint32_t number, size_t size)
{
  object *old = find(kind, handle);
  if (object_count == MOST)
    abort();
  object *at = old ? old : &objects[object_count++];
  if (kind == COMMANDS && old)
    watch_free(&((commands *)at->data)->log);
  free(old ? old->data : NULL);
  *at = (object){.kind = kind, .handle = handle, .number = number, .data = size ? calloc(1, size) : NULL};
  if (size && !at->data)
    abort();
  return at;
}

static void
add_resource(object_kind kind, uint64_t handle, uint64_t size, bool is_staging)
{
  add(kind, handle, ++resource_count, 0)->size = size;
  if (is_staging && resource_count < 64)
    log_.staging |= (uint64_t)1 << resource_count;
}

#define HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

/* Hooked functions of the device; `real` has the functions that the hooks call. */
/* clang-format off */
#define HOOKS(X)                                                                                                     \
  X(vkCreateBuffer)                                                                                                  \
  X(vkCreateImage)                                                                                                   \
  X(vkCreateImageView)                                                                                               \
  X(vkCreateBufferView)                                                                                              \
  X(vkCreateShaderModule)                                                                                            \
  X(vkCreateComputePipelines)                                                                                        \
  X(vkCreateSemaphore)                                                                                               \
  X(vkUpdateDescriptorSets)                                                                                          \
  X(vkBeginCommandBuffer)                                                                                            \
  X(vkCmdBindPipeline) X(vkCmdBindDescriptorSets) X(vkCmdPushConstants) X(vkCmdDispatch) X(vkCmdDispatchIndirect)    \
      X(vkCmdFillBuffer) X(vkCmdUpdateBuffer) X(vkCmdCopyBuffer) X(vkCmdCopyBufferToImage) X(vkCmdCopyImageToBuffer) \
          X(vkCmdPipelineBarrier) X(vkQueueSubmit) X(vkWaitSemaphores) X(vkGetSemaphoreCounterValue)
/* clang-format on */
static struct {
#define X(name) PFN_##name name;
  HOOKS(X)
#undef X
} real;

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *allocator, VkBuffer *out)
{
  VkResult result = real.vkCreateBuffer(device, info, allocator, out);
  const VkBufferUsageFlags by_kernels =
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
  if (result == VK_SUCCESS)
    add_resource(BUFFER, HANDLE(*out), info->size, !(info->usage & by_kernels));
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkCreateImage(VkDevice device, const VkImageCreateInfo *info, const VkAllocationCallbacks *allocator, VkImage *out)
{
  VkResult result = real.vkCreateImage(device, info, allocator, out);
  if (result == VK_SUCCESS)
    add_resource(IMAGE, HANDLE(*out), 1, false);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkCreateImageView(VkDevice device, const VkImageViewCreateInfo *info, const VkAllocationCallbacks *allocator,
                        VkImageView *out)
{
  VkResult result = real.vkCreateImageView(device, info, allocator, out);
  if (result == VK_SUCCESS)
    add(VIEW, HANDLE(*out), find(IMAGE, HANDLE(info->image))->number, 0)->size = 1;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkCreateBufferView(VkDevice device, const VkBufferViewCreateInfo *info, const VkAllocationCallbacks *allocator,
                         VkBufferView *out)
{
  VkResult result = real.vkCreateBufferView(device, info, allocator, out);
  const object *buffer = find(BUFFER, HANDLE(info->buffer));
  if (result == VK_SUCCESS)
    add(VIEW, HANDLE(*out), buffer->number, 0)->size = buffer->size;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkCreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *allocator,
                        VkSemaphore *out)
{
  VkResult result = real.vkCreateSemaphore(device, info, allocator, out);
  if (result == VK_SUCCESS)
    add(SEMAPHORE, HANDLE(*out), queue_count++, 0); /* each queue has one */
  return result;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

enum {
  OP_TYPE_POINTER = 32,
  OP_TYPE_ARRAY = 28,
  OP_TYPE_RUNTIME_ARRAY = 29,
  OP_VARIABLE = 59,
  OP_DECORATE = 71,
  OP_MEMBER_DECORATE = 72,
  BUFFER_BLOCK = 3,
  NON_WRITABLE = 24,
  BINDING = 33,
  DESCRIPTOR_SET = 34,
  UNIFORM_CONSTANT = 0,
  UNIFORM = 2,
  STORAGE_BUFFER = 12,
};

typedef struct id {
  uint32_t set, binding, pointee;
  bool is_read_only, is_buffer_block;
} id;

static void
read_decoration(id *ids, const uint32_t *words, uint32_t at)
{
  const uint32_t value = words[at + 1];
  id *of = &ids[words[1]];
  of->is_read_only |= words[at] == NON_WRITABLE;
  of->is_buffer_block |= words[at] == BUFFER_BLOCK;
  of->set = words[at] == DESCRIPTOR_SET ? value : of->set;
  of->binding = words[at] == BINDING ? value : of->binding;
}

static void
read_variable(const id *ids, const uint32_t *words, shader *out)
{
  const id *of = &ids[words[2]];
  const uint32_t storage = words[3];
  if (storage != UNIFORM && storage != STORAGE_BUFFER && storage != UNIFORM_CONSTANT)
    return;
  uint32_t type = ids[words[1]].pointee;
  while (ids[type].pointee) /* arrays of descriptors */
    type = ids[type].pointee;
  out->variables[out->count++] = (variable){of->set, of->binding, of->is_read_only || ids[type].is_read_only,
                                            storage == UNIFORM && !ids[type].is_buffer_block};
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *allocator,
                           VkShaderModule *out)
{
  VkResult result = real.vkCreateShaderModule(device, info, allocator, out);
  if (result != VK_SUCCESS)
    return result;
  shader *to = add(SHADER, HANDLE(*out), 0, sizeof(shader))->data;
  id *ids = calloc(info->pCode[3], sizeof *ids);
  for (uint32_t at = 5; ids && at < info->codeSize / 4; at += info->pCode[at] >> 16) {
    const uint32_t *words = &info->pCode[at], op = words[0] & 0xffffu;
    if (op == OP_DECORATE)
      read_decoration(ids, words, 2);
    else if (op == OP_MEMBER_DECORATE)
      read_decoration(ids, words, 3);
    else if (op == OP_TYPE_POINTER)
      ids[words[1]].pointee = words[3];
    else if (op == OP_TYPE_ARRAY || op == OP_TYPE_RUNTIME_ARRAY)
      ids[words[1]].pointee = words[2];
    else if (op == OP_VARIABLE)
      read_variable(ids, words, to);
  }
  free(ids);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkPipeline *out)
{
  VkResult result = real.vkCreateComputePipelines(device, cache, count, info, allocator, out);
  for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
    *(shader *)add(PIPELINE, HANDLE(out[i]), 0, sizeof(shader))->data = *(shader *)find(SHADER, HANDLE(info[i].stage.module))->data;
  return result;
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkUpdateDescriptorSets(VkDevice device, uint32_t count, const VkWriteDescriptorSet *writes, uint32_t copy_count,
                             const VkCopyDescriptorSet *copies)
{
  real.vkUpdateDescriptorSets(device, count, writes, copy_count, copies);
  for (uint32_t i = 0; i < count; i++) {
    const VkWriteDescriptorSet *write = &writes[i];
    object *at = find(SET, HANDLE(write->dstSet));
    if (write->dstArrayElement || write->dstBinding >= BINDINGS || write->descriptorCount != 1)
      abort(); /* tests do not use these */
    if (!at)
      at = add(SET, HANDLE(write->dstSet), 0, sizeof(set));
    bound *to = &((set *)at->data)->bindings[write->dstBinding];
    *to = (bound){0};
    if (write->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER || write->descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER) {
      const VkDescriptorBufferInfo *info = write->pBufferInfo;
      *to = (bound){find(BUFFER, HANDLE(info->buffer))->number, info->offset, info->offset + info->range};
    } else if (write->descriptorType != VK_DESCRIPTOR_TYPE_SAMPLER) {
      const bool is_texels = write->descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER ||
                             write->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
      const object *view = find(VIEW, is_texels ? HANDLE(*write->pTexelBufferView) : HANDLE(write->pImageInfo->imageView));
      *to = (bound){view->number, 0, view->size};
    }
  }
}

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

static commands *
commands_of(VkCommandBuffer handle)
{
  return find(COMMANDS, HANDLE(handle))->data;
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkBeginCommandBuffer(VkCommandBuffer handle, const VkCommandBufferBeginInfo *info)
{
  add(COMMANDS, HANDLE(handle), 0, sizeof(commands));
  return real.vkBeginCommandBuffer(handle, info);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdBindPipeline(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline)
{
  commands_of(handle)->pipeline = find(PIPELINE, HANDLE(pipeline))->data;
  real.vkCmdBindPipeline(handle, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdBindDescriptorSets(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t first,
                              uint32_t count, const VkDescriptorSet *sets, uint32_t offset_count, const uint32_t *offsets)
{
  for (uint32_t i = 0; i < count; i++) {
    const object *at = find(SET, HANDLE(sets[i]));
    commands_of(handle)->sets[first + i] = at ? *(set *)at->data : (set){0};
  }
  real.vkCmdBindDescriptorSets(handle, point, layout, first, count, sets, offset_count, offsets);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdPushConstants(VkCommandBuffer handle, VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                         const void *values)
{
  uint32_t last;
  memcpy(&last, (const char *)values + size - sizeof last, sizeof last);
  commands_of(handle)->beside = size == beside_size && last;
  real.vkCmdPushConstants(handle, layout, stages, offset, size, values);
}

static void
add_dispatch(VkCommandBuffer handle, const char *name)
{
  commands *to = commands_of(handle);
  watch_log *log = &to->log;
  const watch_entry *before = log->entry_count ? &log->entries[log->entry_count - 1] : NULL;
  const bool is_beside = beside_size ? to->beside : before && before->group && to->last == to->pipeline;
  log->group_count += !is_beside;
  to->last = to->pipeline;
  watch_add(log, WATCH_COMMAND, 0, name)->group = log->group_count;
  for (uint32_t i = 0; i < to->pipeline->count; i++) {
    const variable *v = &to->pipeline->variables[i];
    const bound *at = &to->sets[v->set].bindings[v->binding];
    const bool writes = !v->is_read_only && !v->is_uniform;
    if (at->resource)
      watch_add_use(log, (watch_use){at->resource, at->first, at->end, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                     v->is_uniform ? VK_ACCESS_UNIFORM_READ_BIT
                                                   : VK_ACCESS_SHADER_READ_BIT | (writes ? VK_ACCESS_SHADER_WRITE_BIT : 0u),
                                     writes});
  }
  to->beside = 0;
}

static void
use(VkCommandBuffer handle, object_kind kind, uint64_t resource, uint64_t first, uint64_t size, VkPipelineStageFlags stage,
    VkAccessFlags access)
{
  const bool writes = access == VK_ACCESS_TRANSFER_WRITE_BIT;
  watch_add_use(&commands_of(handle)->log, (watch_use){find(kind, resource)->number, first, first + size, stage, access, writes});
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdDispatch(VkCommandBuffer handle, uint32_t x, uint32_t y, uint32_t z)
{
  add_dispatch(handle, "dispatch");
  real.vkCmdDispatch(handle, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdDispatchIndirect(VkCommandBuffer handle, VkBuffer buffer, VkDeviceSize offset)
{
  add_dispatch(handle, "indirect dispatch");
  use(handle, BUFFER, HANDLE(buffer), offset, 12, VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
  real.vkCmdDispatchIndirect(handle, buffer, offset);
}

static void
use_by_copy(VkCommandBuffer handle, object_kind kind, uint64_t resource, uint64_t first, uint64_t size, bool writes)
{
  use(handle, kind, resource, first, size, VK_PIPELINE_STAGE_TRANSFER_BIT,
      writes ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_TRANSFER_READ_BIT);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdFillBuffer(VkCommandBuffer handle, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size, uint32_t value)
{
  watch_add(&commands_of(handle)->log, WATCH_COMMAND, 0, "fill");
  use_by_copy(handle, BUFFER, HANDLE(buffer), offset, size, true);
  real.vkCmdFillBuffer(handle, buffer, offset, size, value);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdUpdateBuffer(VkCommandBuffer handle, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size, const void *data)
{
  watch_add(&commands_of(handle)->log, WATCH_COMMAND, 0, "update");
  use_by_copy(handle, BUFFER, HANDLE(buffer), offset, size, true);
  real.vkCmdUpdateBuffer(handle, buffer, offset, size, data);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdCopyBuffer(VkCommandBuffer handle, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *copies)
{
  watch_add(&commands_of(handle)->log, WATCH_COMMAND, 0, "copy");
  for (uint32_t i = 0; i < count; i++) {
    use_by_copy(handle, BUFFER, HANDLE(from), copies[i].srcOffset, copies[i].size, false);
    use_by_copy(handle, BUFFER, HANDLE(to), copies[i].dstOffset, copies[i].size, true);
  }
  real.vkCmdCopyBuffer(handle, from, to, count, copies);
}

/* Returns the bytes of the copied texels, which have 4 bytes each in tests. */
static uint64_t
texel_bytes(const VkBufferImageCopy *copy)
{
  return 4 * (uint64_t)copy->imageExtent.width * copy->imageExtent.height * copy->imageExtent.depth *
         copy->imageSubresource.layerCount;
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdCopyBufferToImage(VkCommandBuffer handle, VkBuffer from, VkImage to, VkImageLayout layout, uint32_t count,
                             const VkBufferImageCopy *copies)
{
  watch_add(&commands_of(handle)->log, WATCH_COMMAND, 0, "copy to an image");
  use_by_copy(handle, BUFFER, HANDLE(from), copies->bufferOffset, texel_bytes(copies), false);
  use_by_copy(handle, IMAGE, HANDLE(to), 0, 1, true);
  real.vkCmdCopyBufferToImage(handle, from, to, layout, count, copies);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdCopyImageToBuffer(VkCommandBuffer handle, VkImage from, VkImageLayout layout, VkBuffer to, uint32_t count,
                             const VkBufferImageCopy *copies)
{
  watch_add(&commands_of(handle)->log, WATCH_COMMAND, 0, "copy from an image");
  use_by_copy(handle, IMAGE, HANDLE(from), 0, 1, false);
  use_by_copy(handle, BUFFER, HANDLE(to), copies->bufferOffset, texel_bytes(copies), true);
  real.vkCmdCopyImageToBuffer(handle, from, layout, to, count, copies);
}

static VKAPI_ATTR void VKAPI_CALL
watch_vkCmdPipelineBarrier(VkCommandBuffer handle, VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags,
                           uint32_t memory_count, const VkMemoryBarrier *memory, uint32_t buffer_count,
                           const VkBufferMemoryBarrier *buffers, uint32_t image_count, const VkImageMemoryBarrier *images)
{
  watch_log *log = &commands_of(handle)->log;
  watch_entry *entry = watch_add(log, WATCH_BARRIER, 0, "barrier");
  entry->from = from;
  entry->to = to;
  for (uint32_t i = 0; i < memory_count; i++)
    watch_add_part(log, (watch_part){WATCH_ANY, 0, UINT64_MAX, memory[i].srcAccessMask, memory[i].dstAccessMask, false});
  for (uint32_t i = 0; i < buffer_count; i++)
    watch_add_part(log,
                   (watch_part){find(BUFFER, HANDLE(buffers[i].buffer))->number, buffers[i].offset,
                                buffers[i].offset + buffers[i].size, buffers[i].srcAccessMask, buffers[i].dstAccessMask, false});
  for (uint32_t i = 0; i < image_count; i++)
    watch_add_part(log, (watch_part){find(IMAGE, HANDLE(images[i].image))->number, 0, 1, images[i].srcAccessMask,
                                     images[i].dstAccessMask, true});
  real.vkCmdPipelineBarrier(handle, from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images);
}

/* ---- queues -------------------------------------------------------------------------------------------------------------- */

/* Logs the host's reads of the staging that the batch wrote. */
static void
read_staging(uint32_t queue, uint32_t first, uint32_t end)
{
  watch_add(&log_, WATCH_COMMAND, queue, "the host's read of staging");
  for (uint32_t i = first; i < end; i++) {
    const watch_use *copied = &log_.uses[i];
    if (copied->writes && copied->resource < 64 && (log_.staging >> copied->resource & 1u))
      watch_add_use(&log_, (watch_use){copied->resource, copied->first, copied->end, VK_PIPELINE_STAGE_HOST_BIT,
                                       VK_ACCESS_HOST_READ_BIT, false});
  }
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkQueueSubmit(VkQueue handle, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
  const VkTimelineSemaphoreSubmitInfo *numbers = infos->pNext;
  const uint32_t queue = find(SEMAPHORE, HANDLE(infos->pSignalSemaphores[0]))->number, first = log_.use_count;
  if (infos->waitSemaphoreCount)
    watch_add(&log_, WATCH_WAIT, queue, "semaphore")->value = numbers->pWaitSemaphoreValues[0];
  for (uint32_t i = 0; i < infos->commandBufferCount; i++)
    watch_append(&log_, &commands_of(infos->pCommandBuffers[i])->log, queue);
  read_staging(queue, first, log_.use_count);
  watch_add(&log_, WATCH_SIGNAL, queue, "batch")->value = numbers->pSignalSemaphoreValues[0];
  return real.vkQueueSubmit(handle, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
  const VkResult result = real.vkWaitSemaphores(device, info, timeout);
  const uint32_t queue = find(SEMAPHORE, HANDLE(info->pSemaphores[0]))->number;
  if (host_read_count)
    watch_add(&log_, WATCH_COMMAND, queue, "the host's read");
  for (uint32_t i = 0; i < host_read_count; i++)
    watch_add_use(&log_, host_reads[i]);
  host_read_count = 0;
  if (result == VK_SUCCESS)
    watch_add(&log_, WATCH_KNOWN, queue, "wait")->value = info->pValues[0];
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
watch_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
  const VkResult result = real.vkGetSemaphoreCounterValue(device, semaphore, value);
  if (result == VK_SUCCESS)
    watch_add(&log_, WATCH_KNOWN, find(SEMAPHORE, HANDLE(semaphore))->number, "value")->value = *value;
  return result;
}

/* ---- entry --------------------------------------------------------------------------------------------------------------- */

static void
begin(uint32_t push_size)
{
  for (uint32_t i = 0; i < object_count; i++) {
    if (objects[i].kind == COMMANDS)
      watch_free(&((commands *)objects[i].data)->log);
    free(objects[i].data);
  }
  object_count = resource_count = queue_count = host_read_count = 0;
  watch_free(&log_);
  beside_size = push_size;
  watches = true;
}

static watch_log *
end(void)
{
  watches = false;
  return &log_;
}

static uint32_t
last_resource(void)
{
  return resource_count;
}

static void
add_host_read(uint32_t resource, uint64_t first, uint64_t size)
{
  if (host_read_count == sizeof host_reads / sizeof *host_reads)
    abort();
  host_reads[host_read_count++] =
      (watch_use){resource, first, first + size, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT, false};
}

const watcher the_watcher = {begin, end, last_resource, add_host_read};

PFN_vkVoidFunction
watcher_wrap(const char *name, PFN_vkVoidFunction function)
{
  if (!watches || !function)
    return function;
#define X(hook)                              \
  if (strcmp(name, #hook) == 0) {            \
    real.hook = (PFN_##hook)function;        \
    return (PFN_vkVoidFunction)watch_##hook; \
  }
  HOOKS(X)
#undef X
  return function;
}
