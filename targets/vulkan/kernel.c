/* Compiles a kernel: descriptor set layouts from its slots, a pipeline layout, specialization, and a compute pipeline.
 *
 * Drivers and the validation layer do not check the words that they read. So check_code checks the header, that instructions and
 * functions are complete, and that the entry point exists. The importer checks the contents of instructions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>

enum {
  SPIRV_MAGIC = 0x07230203,
  SPIRV_HEADER_WORDS = 5,
  SPIRV_OP_ENTRY_POINT = 15,
  SPIRV_OP_CAPABILITY = 17,
  SPIRV_OP_FUNCTION = 54,
  SPIRV_OP_FUNCTION_END = 56,
  SPIRV_MODEL_GLCOMPUTE = 5,
  SPIRV_CAPABILITY_ADDRESSES = 5347,
};

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static uint32_t
word_at(const void *code, size_t index)
{
  uint32_t word;
  memcpy(&word, (const char *)code + index * 4, 4); /* the code may be unaligned */
  return word;
}

/* The state of a walk over the words. */
typedef struct code_walk {
  uint32_t function; /* id of the entry point's function, or 0 if the entry point was not found yet */
  bool is_inside;    /* whether the walk is inside a function */
  bool has_function; /* whether the entry point's function has begun */
} code_walk;

/* Visits the instruction of `length` words at word `at`. Returns false if a function begins or ends at an invalid place. */
static bool
walk_instruction(const vyre_kernel_desc *desc, size_t at, size_t length, code_walk *walk)
{
  const void *code = desc->code;
  size_t entry_size = strlen(desc->entry) + 1;
  switch (word_at(code, at) & 0xffffu) {
  case SPIRV_OP_ENTRY_POINT:
    if (length >= 4 && word_at(code, at + 1) == SPIRV_MODEL_GLCOMPUTE && entry_size <= (length - 3) * 4 &&
        memcmp((const char *)code + (at + 3) * 4, desc->entry, entry_size) == 0)
      walk->function = word_at(code, at + 2);
    return true;
  case SPIRV_OP_FUNCTION:
    if (walk->is_inside || length != 5)
      return false;
    walk->is_inside = true;
    walk->has_function = walk->has_function || (walk->function != 0 && word_at(code, at + 2) == walk->function);
    return true;
  case SPIRV_OP_FUNCTION_END:
    if (!walk->is_inside)
      return false;
    walk->is_inside = false;
    return true;
  default:
    return true;
  }
}

static vyre_status
check_code(const vyre_kernel_desc *desc)
{
  size_t words = desc->size / 4;
  if (desc->size % 4 || words < SPIRV_HEADER_WORDS || word_at(desc->code, 0) != SPIRV_MAGIC)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' is not SPIR-V: %zu bytes%s\n"
                      "Fix: give a SPIR-V module in this machine's byte order, made of whole words",
                      desc->label, desc->size, desc->size % 4 ? ", not a multiple of 4" : " without its magic number and header");
  code_walk walk = {0};
  for (size_t at = SPIRV_HEADER_WORDS; at < words;) {
    size_t length = word_at(desc->code, at) >> 16;
    if (length == 0 || length > words - at || !walk_instruction(desc, at, length, &walk))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "vulkan: kernel '%s': invalid instruction at word %zu (opcode %u, %zu words, %zu words left)\n"
                        "Fix: the module is cut off or damaged; make it again",
                        desc->label, at, word_at(desc->code, at) & 0xffffu, length, words - at);
    at += length;
  }
  if (walk.function == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' has no compute entry point '%s'\n"
                      "Fix: name an entry point of the module",
                      desc->label, desc->entry);
  if (walk.is_inside || !walk.has_function)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' ends before the function of entry point '%s' does\n"
                      "Fix: the module is cut off or damaged; make it again",
                      desc->label, desc->entry);
  return VYRE_OK;
}

/* Returns whether the kernel can access buffers by address. Its words must have been checked. */
static bool
has_addresses(const vyre_kernel_desc *desc)
{
  for (size_t at = SPIRV_HEADER_WORDS; (word_at(desc->code, at) & 0xffffu) == SPIRV_OP_CAPABILITY; at += 2)
    if (word_at(desc->code, at + 1) == SPIRV_CAPABILITY_ADDRESSES)
      return true;
  return false;
}

static vyre_status
refuse(const vyre_target *target, const vyre_kernel_desc *desc, const char *what, uint64_t wanted, uint64_t limit, const char *fix)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: kernel '%s' needs %" PRIu64 " %s, the device '%s' allows %" PRIu64 "\nFix: %s",
                    desc->label, wanted, what, target->base.info.name, limit, fix);
}

static vyre_status
check_slots(const vyre_target *target, const vyre_kernel_desc *desc)
{
  const VkPhysicalDeviceLimits *limits = &target->choice.limits;
  uint64_t counts[VYRE_SLOT__COUNT] = {0};
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    const vyre_kernel_slot *slot = &desc->slots[i];
    counts[slot->kind] += target_slot_count(slot);
    if (slot->set >= limits->maxBoundDescriptorSets)
      return refuse(target, desc, "descriptor sets", (uint64_t)slot->set + 1, limits->maxBoundDescriptorSets,
                    "use lower set numbers");
  }
  const uint64_t storage_images = counts[VYRE_SLOT_STORAGE_TEXELS] + counts[VYRE_SLOT_STORAGE_IMAGE];
  const uint64_t sampled_images = counts[VYRE_SLOT_UNIFORM_TEXELS] + counts[VYRE_SLOT_SAMPLED_IMAGE] + counts[VYRE_SLOT_COMBINED];
  const struct {
    const char *what;
    uint64_t wanted;
    uint32_t limit;
  } limited[] = {
      {"storage buffers", counts[VYRE_SLOT_STORAGE], limits->maxPerStageDescriptorStorageBuffers},
      {"uniform buffers", counts[VYRE_SLOT_UNIFORM], limits->maxPerStageDescriptorUniformBuffers},
      {"storage images", storage_images, limits->maxPerStageDescriptorStorageImages},
      {"sampled images", sampled_images, limits->maxPerStageDescriptorSampledImages},
      {"samplers", counts[VYRE_SLOT_SAMPLER] + counts[VYRE_SLOT_COMBINED], limits->maxPerStageDescriptorSamplers},
  };
  for (size_t i = 0; i < sizeof limited / sizeof limited[0]; i++)
    if (limited[i].wanted > limited[i].limit)
      return refuse(target, desc, limited[i].what, limited[i].wanted, limited[i].limit, "use fewer of them, or another device");
  for (uint32_t i = 0; i < desc->slot_count; i++)
    VYRE_TRY(vulkan_check_images(target, desc, &desc->slots[i]));
  return VYRE_OK;
}

vyre_status
vulkan_check_kernel(vyre_target *target, const vyre_kernel_desc *desc)
{
  VYRE_TRY(check_code(desc));
  VYRE_TRY(vulkan_check_needs(target, desc));
  return check_slots(target, desc);
}

/* ---- layouts ------------------------------------------------------------------------------------------------------------- */

static vyre_status
create_set_layout(vyre_target *target, vulkan_kernel *kernel, uint32_t set, VkDescriptorSetLayoutBinding *bindings)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->base.slot_count; i++) {
    if (kernel->base.slots[i].set != set)
      continue;
    bindings[count++] = (VkDescriptorSetLayoutBinding){
        .binding = kernel->base.slots[i].binding,
        .descriptorType = vulkan_descriptor_type(kernel->base.slots[i].kind),
        .descriptorCount = target_slot_count(&kernel->base.slots[i]),
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
    };
  }
  VkDescriptorSetLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = count,
      .pBindings = bindings,
  };
  return VULKAN_CALL(target, vkCreateDescriptorSetLayout, (target->device, &info, NULL, &kernel->sets[set]),
                     "for set %u of kernel '%s', %u bindings", set, kernel->base.label, count);
}

static vyre_status
create_layout(vyre_target *target, vulkan_kernel *kernel)
{
  size_t bindings_size = sizeof(VkDescriptorSetLayoutBinding) * ((size_t)kernel->base.slot_count + 1);
  VkDescriptorSetLayoutBinding *bindings = vyre_allocate(&target->base.allocator, bindings_size);
  if (!bindings)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  vyre_status status = VYRE_OK;
  for (uint32_t set = 0; set < kernel->set_count && !status; set++)
    status = create_set_layout(target, kernel, set, bindings);
  vyre_release(&target->base.allocator, bindings, bindings_size);
  if (status)
    return status;
  VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = kernel->base.push_size};
  VkPipelineLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .setLayoutCount = kernel->set_count,
      .pSetLayouts = kernel->sets,
      .pushConstantRangeCount = kernel->base.push_size ? 1 : 0,
      .pPushConstantRanges = &push,
  };
  return VULKAN_CALL(target, vkCreatePipelineLayout, (target->device, &info, NULL, &kernel->layout), "for kernel '%s'",
                     kernel->base.label);
}

/* ---- the pipeline -------------------------------------------------------------------------------------------------------- */

/* Stores the low `size` bytes of `bits` as a number of that size in the host's byte order. */
static void
put_bits(unsigned char *to, uint32_t size, uint64_t bits)
{
  uint8_t b1 = (uint8_t)bits;
  uint16_t b2 = (uint16_t)bits;
  uint32_t b4 = (uint32_t)bits;
  const void *from = size == 1 ? &b1 : size == 2 ? (const void *)&b2 : size == 4 ? (const void *)&b4 : &bits;
  memcpy(to, from, size);
}

static vyre_status
create_pipeline(vyre_target *target, const vyre_kernel_desc *desc, VkShaderModule module, vulkan_kernel *kernel)
{
  vulkan_cached cached;
  size_t entries_size = sizeof(VkSpecializationMapEntry) * ((size_t)desc->spec_count + 1);
  size_t data_size = 8 * ((size_t)desc->spec_count + 1);
  char *memory = vyre_allocate(&target->base.allocator, entries_size + data_size);
  if (!memory)
    return VYRE_OUT_OF_MEMORY("for a kernel's specialization constants");
  VkSpecializationMapEntry *entries = (VkSpecializationMapEntry *)(void *)memory;
  unsigned char *data = (unsigned char *)memory + entries_size;
  for (uint32_t i = 0; i < desc->spec_count; i++) {
    entries[i] = (VkSpecializationMapEntry){.constantID = desc->specs[i].id, .offset = i * 8, .size = desc->specs[i].size};
    put_bits(data + (size_t)i * 8, desc->specs[i].size, desc->specs[i].bits);
  }
  VkSpecializationInfo specialization = {
      .mapEntryCount = desc->spec_count,
      .pMapEntries = entries,
      .dataSize = (size_t)desc->spec_count * 8,
      .pData = data,
  };
  VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .flags = vulkan_has_statistics(target) ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR : 0,
      .stage =
          {
              .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
              .stage = VK_SHADER_STAGE_COMPUTE_BIT,
              .module = module,
              .pName = desc->entry,
              .pSpecializationInfo = desc->spec_count ? &specialization : NULL,
          },
      .layout = kernel->layout,
  };
  vulkan_cache_begin(target, desc, &cached);
  const uint64_t start = clock_now();
  vyre_status status =
      VULKAN_CALL(target, vkCreateComputePipelines, (target->device, cached.handle, 1, &info, NULL, &kernel->pipeline),
                  "for entry point '%s' of kernel '%s'", desc->entry, kernel->base.label);
  kernel->base.compile_ns = clock_now() - start;
  vulkan_cache_end(target, desc, &cached, !status);
  vyre_release(&target->base.allocator, memory, entries_size + data_size);
  return status;
}

static vyre_status
create_module(vyre_target *target, const vyre_kernel_desc *desc, VkShaderModule *out)
{
  uint32_t *words = target_resize(&target->base.allocator, NULL, 0, desc->size); /* an aligned copy */
  if (!words)
    return VYRE_OUT_OF_MEMORY("for a kernel's words");
  memcpy(words, desc->code, desc->size);
  VkShaderModuleCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = desc->size,
      .pCode = words,
  };
  vyre_status status = VULKAN_CALL(target, vkCreateShaderModule, (target->device, &info, NULL, out), "for kernel '%s', %zu bytes",
                                   desc->label, desc->size);
  vyre_release(&target->base.allocator, words, desc->size);
  return status;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

static void
destroy_objects(vyre_target *target, vulkan_kernel *kernel)
{
  const struct VolkDeviceTable *call = &target->call;
  if (kernel->pipeline)
    call->vkDestroyPipeline(target->device, kernel->pipeline, NULL);
  if (kernel->layout)
    call->vkDestroyPipelineLayout(target->device, kernel->layout, NULL);
  for (uint32_t i = 0; kernel->sets && i < kernel->set_count; i++) {
    if (kernel->sets[i])
      call->vkDestroyDescriptorSetLayout(target->device, kernel->sets[i], NULL);
  }
  for (uint32_t i = 0; kernel->descriptors && i < kernel->base.descriptor_count; i++)
    vulkan_image_destroy(target, &kernel->descriptors[i]);
}

vyre_status
vulkan_release(vyre_target *target, target_kernel *item)
{
  vulkan_kernel *kernel = (vulkan_kernel *)(void *)item;
  const vyre_allocator *allocator = &target->base.allocator;
  vulkan_settle(target);
  if (!target->base.hangs)
    destroy_objects(target, kernel);
  vyre_release(allocator, kernel->sets, sizeof *kernel->sets * kernel->set_count);
  vyre_release(allocator, kernel->descriptors, sizeof *kernel->descriptors * kernel->base.descriptor_count);
  target_kernel_free(target, &kernel->base);
  vyre_release(allocator, kernel, sizeof *kernel);
  return vulkan_collect_messages(target->instance.messages, VYRE_OK);
}

static vyre_status
allocate_arrays(vyre_target *target, vulkan_kernel *kernel)
{
  for (uint32_t i = 0; i < kernel->base.slot_count; i++) {
    if (kernel->base.slots[i].set >= kernel->set_count)
      kernel->set_count = kernel->base.slots[i].set + 1;
  }
  if (kernel->set_count == 0)
    return VYRE_OK;
  kernel->sets = vyre_allocate(&target->base.allocator, sizeof *kernel->sets * kernel->set_count);
  kernel->descriptors = vyre_allocate(&target->base.allocator, sizeof *kernel->descriptors * kernel->base.descriptor_count);
  return kernel->sets && kernel->descriptors ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
}

/* Fills the descriptors in order, and creates their images and samplers unless the target only reports statistics. */
static vyre_status
fill_descriptors(vyre_target *target, const vyre_kernel_desc *desc, vulkan_kernel *kernel)
{
  uint32_t at = 0, range = 0;
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    const vyre_kernel_slot *slot = &desc->slots[i];
    const uint32_t first = at;
    for (uint32_t element = 0; element < target_slot_count(slot); element++, at++) {
      kernel->descriptors[at].slot = i;
      kernel->descriptors[at].element = element;
      kernel->descriptors[at].range = range;
      range += slot->kind != VYRE_SLOT_SAMPLER;
      kernel->kinds[slot->kind]++;
    }
    kernel->has_images |= target_slot_has_texels(slot->kind);
    if (!target->base.statistics_only)
      VYRE_TRY(vulkan_images_create(target, kernel, slot, first));
  }
  return VYRE_OK;
}

static vyre_status
fill_kernel(vyre_target *target, const vyre_kernel_desc *desc, vulkan_kernel *kernel)
{
  VYRE_TRY(target_kernel_init(target, desc, &kernel->base));
  kernel->serial = ++target->serials;
  kernel->has_addresses = has_addresses(desc);
  VYRE_TRY(allocate_arrays(target, kernel));
  VYRE_TRY(fill_descriptors(target, desc, kernel));
  VYRE_TRY(create_layout(target, kernel));
  VkShaderModule module = VK_NULL_HANDLE;
  vyre_status status = create_module(target, desc, &module);
  /* Messages of the validation layer end the compilation before the driver creates the pipeline. */
  status = vulkan_collect_messages(target->instance.messages, status);
  if (!status)
    status = create_pipeline(target, desc, module, kernel);
  if (module)
    target->call.vkDestroyShaderModule(target->device, module, NULL);
  return vulkan_collect_messages(target->instance.messages, status);
}

vyre_status
vulkan_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out)
{
  vulkan_kernel *kernel = vyre_allocate(&target->base.allocator, sizeof *kernel);
  if (!kernel)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  vyre_status status = fill_kernel(target, desc, kernel);
  if (status)
    return vyre_status_join(status, vulkan_release(target, &kernel->base));
  *out = &kernel->base;
  return VYRE_OK;
}
