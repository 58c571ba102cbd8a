/* A kernel: descriptor set layouts from its slots, a pipeline layout, specialization, a compute pipeline.
 *
 * Drivers, and the validation layer too, trust what they read, so the words are looked at first: a whole header, whole
 * instructions, whole functions, and among them the entry point that is asked for.  What is inside the instructions is the
 * importer's to check.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>

enum {
  SPIRV_MAGIC = 0x07230203,
  SPIRV_HEADER_WORDS = 5,
  SPIRV_OP_ENTRY_POINT = 15,
  SPIRV_OP_FUNCTION = 54,
  SPIRV_OP_FUNCTION_END = 56,
  SPIRV_MODEL_GLCOMPUTE = 5,
  MOST_DESCRIPTORS = 1 << 20, /* of a kernel, whatever a device says */
};

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static uint32_t
word_at(const void *code, size_t index)
{
  uint32_t word;
  memcpy(&word, (const char *)code + index * 4, 4); /* code may be at any address */
  return word;
}

/* The state of a walk over the words. */
typedef struct code_walk {
  uint32_t function; /* the id of the entry point's function; 0: no such entry point yet */
  bool is_inside;    /* of a function */
  bool has_function; /* the entry point's own was begun */
} code_walk;

/* The instruction at word `at` is `length` words long.  False: a function begins or ends where none can. */
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
                        "vulkan: kernel '%s': the instruction at word %zu (opcode %u, %zu words, %zu are left) cannot be there\n"
                        "Fix: the module is cut off or damaged; make it again",
                        desc->label, at, word_at(desc->code, at) & 0xffffu, length, words - at);
    at += length;
  }
  if (walk.function == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' has no compute entry point '%s'\n"
                      "Fix: name one that it has",
                      desc->label, desc->entry);
  if (walk.is_inside || !walk.has_function)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' ends before the function of entry point '%s' does\n"
                      "Fix: the module is cut off or damaged; make it again",
                      desc->label, desc->entry);
  return VYRE_OK;
}

static vyre_status
refuse(const vyre_target *target, const vyre_kernel_desc *desc, const char *what, uint64_t wanted, uint64_t limit, const char *fix)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: kernel '%s' needs %" PRIu64 " %s, the device '%s' allows %" PRIu64 "\nFix: %s",
                    desc->label, wanted, what, target->choice.info.name, limit, fix);
}

static vyre_status
check_workgroup(const vyre_target *target, const vyre_kernel_desc *desc)
{
  static const char *const axes[] = {"invocations a workgroup in x", "invocations a workgroup in y",
                                     "invocations a workgroup in z"};
  static const char fix[] =
      "make the workgroup smaller (a specialization constant, or the shader's local_size), or use the interpreter";
  const vyre_device_info *info = &target->choice.info;
  uint64_t product = 1;
  for (uint32_t i = 0; i < 3; i++) {
    if (desc->workgroup[i] == 0)
      return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: kernel '%s' has a workgroup of 0 invocations\nFix: give a size of at least 1",
                        desc->label);
    if (desc->workgroup[i] > info->max_workgroup[i])
      return refuse(target, desc, axes[i], desc->workgroup[i], info->max_workgroup[i], fix);
    product *= desc->workgroup[i]; /* below 2^96 only in theory: each is within a limit that the next test keeps small */
    if (product > info->max_invocations)
      return refuse(target, desc, "invocations a workgroup", product, info->max_invocations, fix);
  }
  return VYRE_OK;
}

static vyre_status
check_slots(const vyre_target *target, const vyre_kernel_desc *desc)
{
  const VkPhysicalDeviceLimits *limits = &target->choice.limits;
  uint64_t counts[VYRE_SLOT__COUNT] = {0}, total = 0;
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    const vyre_kernel_slot *slot = &desc->slots[i];
    if (slot->kind >= VYRE_SLOT__COUNT || vulkan_slot_count(slot) > MOST_DESCRIPTORS)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "vulkan: kernel '%s': set %u binding %u is %u descriptors of kind %u\n"
                        "Fix: use a vyre_slot_kind, and at most %d of them",
                        desc->label, slot->set, slot->binding, vulkan_slot_count(slot), (uint32_t)slot->kind, MOST_DESCRIPTORS);
    counts[slot->kind] += vulkan_slot_count(slot);
    total += vulkan_slot_count(slot);
    if (slot->set >= limits->maxBoundDescriptorSets)
      return refuse(target, desc, "descriptor sets", (uint64_t)slot->set + 1, limits->maxBoundDescriptorSets,
                    "use lower set numbers");
    for (uint32_t k = 0; k < i; k++) {
      if (desc->slots[k].set == slot->set && desc->slots[k].binding == slot->binding)
        return VYRE_ERROR(VYRE_CODE_INPUT,
                          "vulkan: kernel '%s' is given set %u binding %u twice\n"
                          "Fix: one slot for each (set, binding)",
                          desc->label, slot->set, slot->binding);
    }
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
      {"descriptors", total, MOST_DESCRIPTORS},
  };
  for (size_t i = 0; i < sizeof limited / sizeof limited[0]; i++)
    if (limited[i].wanted > limited[i].limit)
      return refuse(target, desc, limited[i].what, limited[i].wanted, limited[i].limit, "use fewer of them, or another device");
  for (uint32_t i = 0; i < desc->slot_count; i++)
    VYRE_TRY(vulkan_check_images(target, desc, &desc->slots[i]));
  return VYRE_OK;
}

static vyre_status
check_desc(const vyre_target *target, const vyre_kernel_desc *desc)
{
  VYRE_TRY(vulkan_check_lost(target));
  if (desc->form != VYRE_KERNEL_SPIRV)
    return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: kernel '%s' is not SPIR-V\nFix: this target takes SPIR-V alone", desc->label);
  VYRE_TRY(check_code(desc));
  VYRE_TRY(vulkan_check_needs(target, desc));
  VYRE_TRY(check_workgroup(target, desc));
  VYRE_TRY(check_slots(target, desc));
  if (desc->push_size > target->choice.info.max_push)
    return refuse(target, desc, "bytes of push constants", desc->push_size, target->choice.info.max_push,
                  "move some of them to a uniform buffer");
  if (desc->push_size % 4)
    return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: kernel '%s' has %u bytes of push constants\nFix: give a multiple of 4", desc->label,
                      desc->push_size);
  for (uint32_t i = 0; i < desc->spec_count; i++) {
    uint32_t size = desc->specs[i].size;
    if (size != 1 && size != 2 && size != 4 && size != 8)
      return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: kernel '%s': specialization constant %u is %u bytes\nFix: 1, 2, 4 or 8",
                        desc->label, desc->specs[i].id, size);
  }
  return VYRE_OK;
}

/* ---- layouts ------------------------------------------------------------------------------------------------------------- */

static vyre_status
create_set_layout(vyre_target *target, vulkan_kernel *kernel, uint32_t set, VkDescriptorSetLayoutBinding *bindings)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->slot_count; i++) {
    if (kernel->slots[i].set != set)
      continue;
    bindings[count++] = (VkDescriptorSetLayoutBinding){
        .binding = kernel->slots[i].binding,
        .descriptorType = vulkan_descriptor_type(kernel->slots[i].kind),
        .descriptorCount = vulkan_slot_count(&kernel->slots[i]),
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
    };
  }
  VkDescriptorSetLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = count,
      .pBindings = bindings,
  };
  return vulkan_status(target, target->call.vkCreateDescriptorSetLayout(target->device, &info, NULL, &kernel->sets[set]),
                       "vkCreateDescriptorSetLayout", "for set %u of kernel '%s', %u bindings", set, kernel->label, count);
}

static vyre_status
create_layout(vyre_target *target, vulkan_kernel *kernel)
{
  size_t bindings_size = sizeof(VkDescriptorSetLayoutBinding) * ((size_t)kernel->slot_count + 1);
  VkDescriptorSetLayoutBinding *bindings = vulkan_resize(&target->allocator, NULL, 0, bindings_size);
  if (!bindings)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  vyre_status status = VYRE_OK;
  for (uint32_t set = 0; set < kernel->set_count && !status; set++)
    status = create_set_layout(target, kernel, set, bindings);
  vulkan_resize(&target->allocator, bindings, bindings_size, 0);
  if (status)
    return status;
  VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = kernel->push_size};
  VkPipelineLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .setLayoutCount = kernel->set_count,
      .pSetLayouts = kernel->sets,
      .pushConstantRangeCount = kernel->push_size ? 1 : 0,
      .pPushConstantRanges = &push,
  };
  return vulkan_status(target, target->call.vkCreatePipelineLayout(target->device, &info, NULL, &kernel->layout),
                       "vkCreatePipelineLayout", "for kernel '%s'", kernel->label);
}

/* ---- the pipeline -------------------------------------------------------------------------------------------------------- */

/* The low `size` bytes of `bits`, as a number of that size in this machine's byte order. */
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
  size_t entries_size = sizeof(VkSpecializationMapEntry) * ((size_t)desc->spec_count + 1);
  size_t data_size = 8 * ((size_t)desc->spec_count + 1);
  char *memory = vulkan_resize(&target->allocator, NULL, 0, entries_size + data_size);
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
  vyre_status status = vulkan_status(
      target, target->call.vkCreateComputePipelines(target->device, VK_NULL_HANDLE, 1, &info, NULL, &kernel->pipeline),
      "vkCreateComputePipelines", "for entry point '%s' of kernel '%s'", desc->entry, kernel->label);
  vulkan_resize(&target->allocator, memory, entries_size + data_size, 0);
  return status;
}

static vyre_status
create_module(vyre_target *target, const vyre_kernel_desc *desc, VkShaderModule *out)
{
  uint32_t *words = vulkan_resize(&target->allocator, NULL, 0, desc->size); /* aligned, whatever the caller's are */
  if (!words)
    return VYRE_OUT_OF_MEMORY("for a kernel's words");
  memcpy(words, desc->code, desc->size);
  VkShaderModuleCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = desc->size,
      .pCode = words,
  };
  vyre_status status = vulkan_status(target, target->call.vkCreateShaderModule(target->device, &info, NULL, out),
                                     "vkCreateShaderModule", "for kernel '%s', %zu bytes", desc->label, desc->size);
  vulkan_resize(&target->allocator, words, desc->size, 0);
  return status;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

void
vulkan_kernel_destroy(vyre_target *target, vulkan_kernel *kernel)
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
  if (kernel->sets)
    vulkan_resize(&target->allocator, kernel->sets, sizeof *kernel->sets * kernel->set_count, 0);
  for (uint32_t i = 0; kernel->descriptors && i < kernel->descriptor_count; i++)
    vulkan_image_destroy(target, &kernel->descriptors[i]);
  if (kernel->descriptors)
    vulkan_resize(&target->allocator, kernel->descriptors, sizeof *kernel->descriptors * kernel->descriptor_count, 0);
  if (kernel->slots)
    vulkan_resize(&target->allocator, kernel->slots, sizeof *kernel->slots * kernel->slot_count, 0);
  if (kernel->label)
    vulkan_resize(&target->allocator, kernel->label, strlen(kernel->label) + 1, 0);
  vulkan_resize(&target->allocator, kernel, sizeof *kernel, 0);
}

/* Copies the parts of its description that the kernel keeps. */
static vyre_status
copy_desc(vyre_target *target, const vyre_kernel_desc *desc, vulkan_kernel *kernel)
{
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    if (desc->slots[i].set >= kernel->set_count)
      kernel->set_count = desc->slots[i].set + 1;
    kernel->descriptor_count += vulkan_slot_count(&desc->slots[i]); /* within the device's limits */
  }
  kernel->push_size = desc->push_size;
  kernel->slot_count = desc->slot_count;
  size_t label_size = strlen(desc->label) + 1;
  kernel->label = vulkan_resize(&target->allocator, NULL, 0, label_size);
  if (!kernel->label)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  memcpy(kernel->label, desc->label, label_size);
  if (desc->slot_count == 0)
    return VYRE_OK;
  kernel->slots = vulkan_resize(&target->allocator, NULL, 0, sizeof *kernel->slots * desc->slot_count);
  kernel->sets = vulkan_resize(&target->allocator, NULL, 0, sizeof *kernel->sets * kernel->set_count);
  if (kernel->sets)
    memset(kernel->sets, 0, sizeof *kernel->sets * kernel->set_count);
  kernel->descriptors = vulkan_resize(&target->allocator, NULL, 0, sizeof *kernel->descriptors * kernel->descriptor_count);
  if (kernel->descriptors)
    memset(kernel->descriptors, 0, sizeof *kernel->descriptors * kernel->descriptor_count);
  if (!kernel->slots || !kernel->sets || !kernel->descriptors)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  memcpy(kernel->slots, desc->slots, sizeof *kernel->slots * desc->slot_count);
  return VYRE_OK;
}

/* A descriptor after the other, with the images and samplers that they need. */
static vyre_status
fill_descriptors(vyre_target *target, vulkan_kernel *kernel)
{
  uint32_t at = 0;
  for (uint32_t i = 0; i < kernel->slot_count; i++) {
    vyre_kernel_slot *slot = &kernel->slots[i];
    const uint32_t first = at;
    for (uint32_t element = 0; element < vulkan_slot_count(slot); element++, at++) {
      kernel->descriptors[at].slot = i;
      kernel->descriptors[at].element = element;
      kernel->descriptors[at].range = kernel->range_count;
      kernel->range_count += slot->kind != VYRE_SLOT_SAMPLER;
      kernel->kinds[slot->kind]++;
    }
    kernel->has_images |= vulkan_slot_has_images(slot->kind);
    VYRE_TRY(vulkan_images_create(target, kernel, slot, first));
    slot->images = NULL; /* the caller's */
  }
  return VYRE_OK;
}

static vyre_status
fill_kernel(vyre_target *target, const vyre_kernel_desc *desc, vulkan_kernel *kernel)
{
  VYRE_TRY(copy_desc(target, desc, kernel));
  VYRE_TRY(fill_descriptors(target, kernel));
  VYRE_TRY(create_layout(target, kernel));
  VkShaderModule module = VK_NULL_HANDLE;
  vyre_status status = create_module(target, desc, &module);
  /* The driver does not compile what the validation layer refuses. */
  status = vulkan_take_messages(target->instance.messages, status);
  if (!status)
    status = create_pipeline(target, desc, module, kernel);
  if (module)
    target->call.vkDestroyShaderModule(target->device, module, NULL);
  return status;
}

vyre_status
vulkan_compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out)
{
  *out = (vyre_kernel){0};
  VYRE_TRY(check_desc(target, desc));
  vulkan_kernel *kernel = vulkan_resize(&target->allocator, NULL, 0, sizeof *kernel);
  if (!kernel)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  *kernel = (vulkan_kernel){0};
  vyre_status status = fill_kernel(target, desc, kernel);
  status = vulkan_take_messages(target->instance.messages, status);
  uint64_t id = 0;
  if (!status)
    status = vulkan_handles_add(&target->allocator, &target->kernels, kernel, &id);
  if (status)
    vulkan_kernel_destroy(target, kernel);
  else
    out->id = id;
  return status;
}

vyre_status
vulkan_release(vyre_target *target, vyre_kernel handle)
{
  vulkan_kernel *kernel = vulkan_handles_get(&target->kernels, handle.id);
  if (!kernel)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: %" PRIu64 " is no kernel of this target, or it was released\n"
                      "Fix: use what compile gave, until it is released",
                      handle.id);
  vulkan_handles_remove(&target->kernels, handle.id);
  vulkan_kernel_destroy(target, kernel);
  return vulkan_take_messages(target->instance.messages, VYRE_OK);
}
