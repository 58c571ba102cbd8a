/* Images, texel buffers and samplers of a kernel. They are created with the kernel, filled from a step's ranges, and copied back.
 *
 * Images stay in the general layout, which allows copies, sampling and stores. This is simple, but not the fastest way.
 *
 * limits: one level, one sample.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>

enum { MOST_TEXEL_BYTES = 16, DEPTH_FORMAT = 3 /* r32f */ };

static const struct {
  const char *name;
  vyre_kind kind;
  uint32_t lanes;
  VkFormat vulkan;
} formats[] = {
#define VYRE_TEXEL(number, name, kind, lanes, vulkan) [number] = {name, VYRE_##kind, lanes, VK_FORMAT_##vulkan},
#include "vyre/texels.def"
};

static const VkDescriptorType descriptor_types[VYRE_SLOT__COUNT] = {
    [VYRE_SLOT_STORAGE] = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    [VYRE_SLOT_UNIFORM] = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
    [VYRE_SLOT_STORAGE_TEXELS] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
    [VYRE_SLOT_UNIFORM_TEXELS] = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
    [VYRE_SLOT_STORAGE_IMAGE] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
    [VYRE_SLOT_SAMPLED_IMAGE] = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
    [VYRE_SLOT_COMBINED] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
    [VYRE_SLOT_SAMPLER] = VK_DESCRIPTOR_TYPE_SAMPLER,
};

VkDescriptorType
vulkan_descriptor_type(vyre_slot_kind kind)
{
  return descriptor_types[kind];
}

static bool
is_texels(vyre_slot_kind kind)
{
  return kind == VYRE_SLOT_STORAGE_TEXELS || kind == VYRE_SLOT_UNIFORM_TEXELS;
}

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static VkFormat
format_of(const vyre_image *image)
{
  return image->is_depth ? VK_FORMAT_D32_SFLOAT : formats[image->format].vulkan;
}

static VkImageUsageFlags
usage_of(vyre_slot_kind kind)
{
  return VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
         (kind == VYRE_SLOT_STORAGE_IMAGE ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT);
}

static VkFormatFeatureFlags
features_of(const vyre_target *target, vyre_slot_kind kind, const vyre_image *image)
{
  VkFormatProperties properties;
  target->instance.call.vkGetPhysicalDeviceFormatProperties(target->choice.handle, format_of(image), &properties);
  return is_texels(kind) ? properties.bufferFeatures : properties.optimalTilingFeatures;
}

static VkImageCreateInfo
create_info(vyre_slot_kind kind, const vyre_image *image)
{
  static const VkImageType types[] = {VK_IMAGE_TYPE_1D, VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D, VK_IMAGE_TYPE_2D};
  return (VkImageCreateInfo){
      .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
      .flags = image->dim == VYRE_IMAGE_CUBE ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0,
      .imageType = types[image->dim],
      .format = format_of(image),
      .extent = {image->extent[0], image->extent[1], image->extent[2]},
      .mipLevels = 1,
      .arrayLayers = image->layers,
      .samples = VK_SAMPLE_COUNT_1_BIT,
      .tiling = VK_IMAGE_TILING_OPTIMAL,
      .usage = usage_of(kind),
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
      .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
  };
}

/* Returns whether the image is valid: a known format, and axes and layers that fit its dimension. */
static bool
is_image(vyre_slot_kind kind, const vyre_image *image)
{
  const uint32_t format_count = sizeof formats / sizeof formats[0];
  const uint32_t *extent = image->extent;
  if (image->format == 0 || image->format >= format_count || (image->is_depth && image->format != DEPTH_FORMAT) || extent[0] == 0)
    return false;
  if (is_texels(kind))
    return true;
  const uint32_t cube = image->dim == VYRE_IMAGE_CUBE ? 6 : 1;
  return image->dim < VYRE_IMAGE__COUNT && extent[1] != 0 && extent[2] != 0 && (image->dim != VYRE_IMAGE_1D || extent[1] == 1) &&
         (image->dim == VYRE_IMAGE_3D || extent[2] == 1) && (cube == 1 || extent[0] == extent[1]) && image->layers != 0 &&
         image->layers % cube == 0 && (image->arrayed || image->layers == cube) && (image->dim != VYRE_IMAGE_3D || !image->arrayed);
}

static bool
can_have(const vyre_target *target, vyre_slot_kind kind, const vyre_image *image)
{
  if (kind == VYRE_SLOT_STORAGE_TEXELS || kind == VYRE_SLOT_UNIFORM_TEXELS)
    return image->extent[0] <= target->choice.limits.maxTexelBufferElements &&
           (features_of(target, kind, image) & (kind == VYRE_SLOT_STORAGE_TEXELS ? VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT
                                                                                 : VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT));
  const VkImageCreateInfo info = create_info(kind, image);
  VkImageFormatProperties limits;
  return target->instance.call.vkGetPhysicalDeviceImageFormatProperties(
             target->choice.handle, info.format, info.imageType, info.tiling, info.usage, info.flags, &limits) == VK_SUCCESS &&
         info.extent.width <= limits.maxExtent.width && info.extent.height <= limits.maxExtent.height &&
         info.extent.depth <= limits.maxExtent.depth && info.arrayLayers <= limits.maxArrayLayers;
}

static vyre_status
check_image(const vyre_target *target, const vyre_kernel_desc *desc, const vyre_kernel_slot *slot, const vyre_image *image)
{
  static const char *const kinds[VYRE_SLOT__COUNT] = {
      [VYRE_SLOT_STORAGE_TEXELS] = "storage texels", [VYRE_SLOT_UNIFORM_TEXELS] = "uniform texels",
      [VYRE_SLOT_STORAGE_IMAGE] = "a storage image", [VYRE_SLOT_SAMPLED_IMAGE] = "a sampled image",
      [VYRE_SLOT_COMBINED] = "a sampled image",
  };
  const uint32_t *extent = image->extent;
  if (!is_image(slot->kind, image))
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "vulkan: kernel '%s': set %u binding %u is not a valid image: format %u, dimension %u, %u x %u x %u texels, %u layers\n"
        "Fix: give it a format, and axes and layers that fit its dimension",
        desc->label, slot->set, slot->binding, image->format, (uint32_t)image->dim, extent[0], extent[1], extent[2], image->layers);
  if (can_have(target, slot->kind, image))
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "vulkan: kernel '%s': set %u binding %u is %s of %s%s, %u x %u x %u texels, %u layers, which the device '%s' "
                    "does not support\nFix: make it smaller, or choose another device",
                    desc->label, slot->set, slot->binding, kinds[slot->kind], image->is_depth ? "depth " : "",
                    formats[image->format].name, extent[0], extent[1], extent[2], image->layers, target->base.info.name);
}

vyre_status
vulkan_check_images(const vyre_target *target, const vyre_kernel_desc *desc, const vyre_kernel_slot *slot)
{
  if (!target_slot_has_texels(slot->kind))
    return VYRE_OK;
  if (!slot->images)
    return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: kernel '%s': set %u binding %u is an image without size and format\nFix: give both",
                      desc->label, slot->set, slot->binding);
  for (uint32_t i = 0; i < target_slot_count(slot); i++)
    VYRE_TRY(check_image(target, desc, slot, &slot->images[i]));
  return VYRE_OK;
}

/* ---- creation and destruction -------------------------------------------------------------------------------------------- */

static vyre_status
create_texels(vyre_target *target, vyre_slot_kind kind, vulkan_image *image)
{
  const VkBufferUsageFlags texel_usage =
      kind == VYRE_SLOT_STORAGE_TEXELS ? VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT : VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
  VYRE_TRY(vulkan_buffer_create(target, image->size,
                                texel_usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, 0,
                                VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &image->texels));
  VkBufferViewCreateInfo view = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
      .buffer = image->texels.handle,
      .format = format_of(&image->shape),
      .range = image->size,
  };
  return VULKAN_CALL(target, vkCreateBufferView, (target->device, &view, NULL, &image->texel_view), "for %u texels",
                     image->shape.extent[0]);
}

static VkImageAspectFlags
aspect_of(const vyre_image *image)
{
  return image->is_depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
}

static vyre_status
create_image(vyre_target *target, vyre_slot_kind kind, vulkan_image *image)
{
  static const VkImageViewType plain[] = {VK_IMAGE_VIEW_TYPE_1D, VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_3D,
                                          VK_IMAGE_VIEW_TYPE_CUBE};
  static const VkImageViewType arrayed[] = {VK_IMAGE_VIEW_TYPE_1D_ARRAY, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_IMAGE_VIEW_TYPE_3D,
                                            VK_IMAGE_VIEW_TYPE_CUBE_ARRAY};
  const struct VolkDeviceTable *call = &target->call;
  const vyre_image *shape = &image->shape;
  const VkImageCreateInfo info = create_info(kind, shape);
  VYRE_TRY(VULKAN_CALL(target, vkCreateImage, (target->device, &info, NULL, &image->handle), "for an image of %" PRIu64 " bytes",
                       image->size));
  VkMemoryRequirements needs;
  VkMemoryPropertyFlags flags;
  call->vkGetImageMemoryRequirements(target->device, image->handle, &needs);
  VYRE_TRY(vulkan_memory_allocate(target, &needs, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, image->size, &image->memory, &flags));
  VYRE_TRY(VULKAN_CALL(target, vkBindImageMemory, (target->device, image->handle, image->memory, 0),
                       "for an image of %" PRIu64 " bytes", image->size));
  VkImageViewCreateInfo view = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
      .image = image->handle,
      .viewType = shape->arrayed ? arrayed[shape->dim] : plain[shape->dim],
      .format = info.format,
      .subresourceRange = {aspect_of(shape), 0, 1, 0, shape->layers},
  };
  return VULKAN_CALL(target, vkCreateImageView, (target->device, &view, NULL, &image->view), "for an image of %" PRIu64 " bytes",
                     image->size);
}

static vyre_status
create_sampler(vyre_target *target, const vyre_kernel_slot *slot, bool is_linear, VkSampler *out)
{
  const VkFilter filter = is_linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  VkSamplerCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
      .magFilter = filter,
      .minFilter = filter,
      .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
      .addressModeU = VK_SAMPLER_ADDRESS_MODE_REPEAT,
      .addressModeV = VK_SAMPLER_ADDRESS_MODE_REPEAT,
      .addressModeW = VK_SAMPLER_ADDRESS_MODE_REPEAT,
      .compareEnable = (slot->sampler & VYRE_SAMPLER_COMPARE) != 0,
      .compareOp = VK_COMPARE_OP_LESS_OR_EQUAL,
  };
  return VULKAN_CALL(target, vkCreateSampler, (target->device, &info, NULL, out), "for set %u binding %u", slot->set,
                     slot->binding);
}

static uint64_t
texel_count(vyre_slot_kind kind, const vyre_image *image)
{
  if (is_texels(kind))
    return image->extent[0];
  return (uint64_t)image->extent[0] * image->extent[1] * image->extent[2] * image->layers;
}

/* Creates the images, texel buffers and sampler of a checked slot for the kernel's descriptors from `first` on. */
vyre_status
vulkan_images_create(vyre_target *target, vulkan_kernel *kernel, const vyre_kernel_slot *slot, uint32_t first)
{
  bool is_linear = (slot->sampler & VYRE_SAMPLER_LINEAR) != 0;
  for (uint32_t i = 0; target_slot_has_texels(slot->kind) && i < target_slot_count(slot); i++) {
    vulkan_image *image = &kernel->descriptors[first + i].image;
    image->shape = slot->images[i];
    image->size = texel_count(slot->kind, &image->shape) * formats[image->shape.format].lanes *
                  (vyre_kind_bits(formats[image->shape.format].kind) / 8);
    VYRE_TRY(is_texels(slot->kind) ? create_texels(target, slot->kind, image) : create_image(target, slot->kind, image));
    is_linear = is_linear && features_of(target, slot->kind, &image->shape) & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
  }
  if (slot->kind == VYRE_SLOT_COMBINED || slot->kind == VYRE_SLOT_SAMPLER)
    return create_sampler(target, slot, is_linear, &kernel->descriptors[first].sampler);
  return VYRE_OK;
}

void
vulkan_image_destroy(vyre_target *target, vulkan_descriptor *descriptor)
{
  const struct VolkDeviceTable *call = &target->call;
  vulkan_image *image = &descriptor->image;
  if (image->texel_view)
    call->vkDestroyBufferView(target->device, image->texel_view, NULL);
  vulkan_buffer_destroy(target, &image->texels);
  if (image->view)
    call->vkDestroyImageView(target->device, image->view, NULL);
  for (uint32_t i = 0; i < VULKAN_QUEUES && image->handle; i++)
    vulkan_hazards_forget_image(&target->queues[i].hazards, image->handle); /* a new image may get this handle */
  if (image->handle)
    call->vkDestroyImage(target->device, image->handle, NULL);
  if (image->memory)
    call->vkFreeMemory(target->device, image->memory, NULL);
  if (descriptor->sampler)
    call->vkDestroySampler(target->device, descriptor->sampler, NULL);
}

/* ---- images and texels of a step ----------------------------------------------------------------------------------------- */

vyre_status
vulkan_check_texels(const vyre_target *target, const target_kernel *kernel, uint32_t slot_index, uint32_t descriptor,
                    uint64_t offset, uint64_t size)
{
  (void)target;
  const vyre_kernel_slot *slot = &kernel->slots[slot_index];
  const vulkan_image *image = &((const vulkan_kernel *)(const void *)kernel)->descriptors[descriptor].image;
  if (size == image->size && offset % MOST_TEXEL_BYTES == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "vulkan: set %u binding %u needs %" PRIu64 " bytes of texels, but its range has %" PRIu64 " from byte %" PRIu64
                    "\n"
                    "Fix: give a range with the bytes that its size and format need, at a multiple of %d",
                    slot->set, slot->binding, image->size, size, offset, MOST_TEXEL_BYTES);
}

/* Records the transition to the general layout before each step, which discards the contents and waits for all earlier uses. */
static void
record_layout(vyre_target *target, const vulkan_image *image)
{
  VkImageMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
      .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
      .newLayout = VK_IMAGE_LAYOUT_GENERAL,
      .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .image = image->handle,
      .subresourceRange = {aspect_of(&image->shape), 0, 1, 0, image->shape.layers},
  };
  target->call.vkCmdPipelineBarrier(target->command, VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                    VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
  vulkan_hazards_forget_image(target->hazards, image->handle);
}

/* Copies a range of the step into the image if `is_filled`, otherwise the image into the range. */
static void
record_image(vyre_target *target, const vulkan_image *image, const vyre_range *range, bool is_filled)
{
  const struct VolkDeviceTable *call = &target->call;
  const vyre_image *shape = &image->shape;
  const VkBuffer buffer = vulkan_buffer_get(target, range->buffer)->handle;
  const VkAccessFlags range_access = is_filled ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_TRANSFER_WRITE_BIT,
                      image_access = is_filled ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_TRANSFER_READ_BIT;
  if (image->handle && is_filled)
    record_layout(target, image);
  vulkan_uses_range(target, range, VK_PIPELINE_STAGE_TRANSFER_BIT, range_access);
  if (image->handle)
    vulkan_hazards_use_image(target->hazards, image->handle, VK_PIPELINE_STAGE_TRANSFER_BIT, image_access);
  else
    vulkan_uses(target, image->texels.handle, 0, image->size, VK_PIPELINE_STAGE_TRANSFER_BIT, image_access);
  vulkan_sync(target, false);
  if (image->texels.handle) {
    VkBufferCopy copy = {is_filled ? range->offset : 0, is_filled ? 0 : range->offset, image->size};
    call->vkCmdCopyBuffer(target->command, is_filled ? buffer : image->texels.handle, is_filled ? image->texels.handle : buffer, 1,
                          &copy);
    return;
  }
  VkBufferImageCopy copy = {
      .bufferOffset = range->offset,
      .imageSubresource = {aspect_of(shape), 0, 0, shape->layers},
      .imageExtent = {shape->extent[0], shape->extent[1], shape->extent[2]},
  };
  if (is_filled)
    call->vkCmdCopyBufferToImage(target->command, buffer, image->handle, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
  else
    call->vkCmdCopyImageToBuffer(target->command, image->handle, VK_IMAGE_LAYOUT_GENERAL, buffer, 1, &copy);
}

static bool
is_stored(vyre_slot_kind kind)
{
  return kind == VYRE_SLOT_STORAGE_TEXELS || kind == VYRE_SLOT_STORAGE_IMAGE;
}

/* Records copies of the step's ranges into the kernel's images if `is_filled`, otherwise of its storage images back. */
void
vulkan_record_images(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step, bool is_filled)
{
  for (uint32_t i = 0; i < kernel->base.descriptor_count; i++) {
    const vulkan_descriptor *descriptor = &kernel->descriptors[i];
    const vyre_slot_kind kind = kernel->base.slots[descriptor->slot].kind;
    if (target_slot_has_texels(kind) && (is_filled || is_stored(kind)))
      record_image(target, &descriptor->image, &step->buffers[descriptor->range], is_filled);
  }
}

/* Declares that the next command, a dispatch of the kernel, uses its images. */
void
vulkan_use_images(vyre_target *target, const vulkan_kernel *kernel)
{
  for (uint32_t i = 0; i < kernel->base.descriptor_count; i++) {
    const vulkan_image *image = &kernel->descriptors[i].image;
    const vyre_slot_kind kind = kernel->base.slots[kernel->descriptors[i].slot].kind;
    const VkAccessFlags access = VK_ACCESS_SHADER_READ_BIT | (is_stored(kind) ? VK_ACCESS_SHADER_WRITE_BIT : 0u);
    if (image->handle)
      vulkan_hazards_use_image(target->hazards, image->handle, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, access);
    else if (image->texels.handle)
      vulkan_uses(target, image->texels.handle, 0, image->size, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, access);
  }
}
