/* The Vulkan target's own state.  Everything stays in this folder.
 *
 * volk's function pointers belong to the process, and a second open with another library would change them under the first; so a
 * target copies what it calls while it holds the lock of `open`, and uses its copies alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_VULKAN_H
#define VYRE_TARGETS_VULKAN_H

#include "leaks.h"
#include "vyre/target.h"

#include <volk.h>

typedef struct vulkan_instance_functions {
#define VULKAN_INSTANCE_SYM(name) PFN_##name name;
#include "symbols.def"
} vulkan_instance_functions;

/* Messages of the API's checks since they were last taken. */
typedef struct vulkan_messages {
  uint32_t count;
  size_t length;
  char text[4096]; /* the first ones, a line each */
} vulkan_messages;

/* The library, the instance, the messenger: all that is needed to look at devices. */
typedef struct vulkan_instance {
  void *library;
  VkInstance handle;
  vulkan_instance_functions call;
  VkDebugUtilsMessengerEXT messenger;
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger;
  vulkan_messages *messages; /* owned; NULL unless checked */
} vulkan_instance;

/* Extensions of a device that kernels may use. */
typedef enum vulkan_extension {
  VULKAN_EXTENSION_ATOMIC_FLOAT,
  VULKAN_EXTENSION_ATOMIC_FLOAT_2,
  VULKAN_EXTENSION_SUBGROUP_BALLOT, /* of modules from before SPIR-V 1.3 */
  VULKAN_EXTENSION_SUBGROUP_VOTE,
  VULKAN_EXTENSION__COUNT
} vulkan_extension;

/* One chain of Vulkan's structs: it points into itself, and is not to be moved. */
typedef struct vulkan_features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics;
  VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT atomics2;
} vulkan_features;

typedef struct vulkan_device_choice {
  VkPhysicalDevice handle;
  uint32_t queue_family;
  uint64_t timestamp_mask; /* the bits of a timestamp that count; 0: the queue has none */
  VkPhysicalDeviceLimits limits;
  uint32_t extensions; /* bits by vulkan_extension */
  vyre_device_info info;
} vulkan_device_choice;

typedef struct vulkan_buffer {
  VkBuffer handle;
  VkDeviceMemory memory;
  uint64_t size; /* as asked for; the Vulkan buffer is rounded up to whole words */
} vulkan_buffer;

/* A mapped buffer that grows and stays: `size` bytes at `mapped`. */
typedef struct vulkan_staging {
  vulkan_buffer buffer;
  void *mapped;
} vulkan_staging;

/* The device's objects for a kernel's slot of texels or an image. */
typedef struct vulkan_image {
  vyre_image shape;
  uint64_t size; /* bytes of its texels without gaps */
  VkImage handle;
  VkDeviceMemory memory;
  VkImageView view;
  vulkan_buffer texels; /* instead, of texel slots */
  VkBufferView texel_view;
} vulkan_image;

typedef struct vulkan_descriptor {
  uint32_t slot, element;
  uint32_t range; /* which of the step's; samplers have none */
  vulkan_image image;
  VkSampler sampler; /* the slot's, at its element 0 */
} vulkan_descriptor;

typedef struct vulkan_kernel {
  char *label; /* owned */
  vyre_kernel_slot *slots;
  uint32_t slot_count;
  vulkan_descriptor *descriptors; /* of all slots, in order */
  uint32_t descriptor_count, range_count;
  uint32_t kinds[VYRE_SLOT__COUNT]; /* descriptors of each kind */
  bool has_images;
  uint32_t push_size;
  VkDescriptorSetLayout *sets; /* by set number; those without a slot are empty */
  uint32_t set_count;
  VkPipelineLayout layout;
  VkPipeline pipeline;
} vulkan_kernel;

/* Handle numbers: generation << 32 | place + 1.  A place is used again with the next generation. */
typedef struct vulkan_place {
  void *item; /* NULL: free */
  uint32_t generation;
  uint32_t next_free; /* place + 1; 0: none */
} vulkan_place;

typedef struct vulkan_handles {
  vulkan_place *places;
  uint32_t count, capacity;
  uint32_t first_free; /* place + 1; 0: none */
} vulkan_handles;

struct vyre_target {
  vyre_allocator allocator;
  vulkan_instance instance;
  vulkan_device_choice choice;
  VkPhysicalDeviceMemoryProperties memory;
  vulkan_features features; /* that are enabled */
  uint32_t timeout;         /* seconds; 0: no limit */
  VkDevice device;
  struct VolkDeviceTable call;
  VkQueue queue;
  VkCommandPool commands;
  VkCommandBuffer command;
  VkFence fence;
  VkQueryPool queries; /* two timestamps, if the queue has them */
  VkDescriptorPool descriptors;
  uint32_t descriptor_sets, descriptor_kinds[VYRE_SLOT__COUNT]; /* what the pool holds */
  vulkan_staging up, down;
  vulkan_handles buffers, kernels;
  uint32_t allocations; /* of memory, ever */
  bool lost;
  bool hangs; /* something still runs: nothing of the device can be destroyed */
};

/* ---- result.c: every VkResult becomes a status here ---------------------------------------------------------------------- */

/* OK for success codes.  `format` says what was asked for.  Device loss is remembered if `target` is not NULL. */
vyre_status vulkan_status(vyre_target *target, VkResult result, const char *api, const char *format, ...) VYRE_PRINTF(4, 5);
vyre_status vulkan_no_device(void);
/* An error if the device was lost before. */
vyre_status vulkan_check_lost(const vyre_target *target);
/* `status`, or the messages of the API's checks since the last call. */
vyre_status vulkan_take_messages(vulkan_messages *messages, vyre_status status);
void *vulkan_resize(const vyre_allocator *allocator, void *memory, size_t old_size, size_t new_size);

/* ---- instance.c ---------------------------------------------------------------------------------------------------------- */

/* Volk's pointers are the process's: open and list hold this lock while they load. */
void vulkan_lock(void);
void vulkan_unlock(void);
/* Under the lock.  Leaves nothing behind on failure. */
vyre_status vulkan_instance_open(const vyre_target_options *options, const vyre_allocator *allocator, vulkan_instance *out);
vyre_status vulkan_instance_close(vulkan_instance *instance, const vyre_allocator *allocator);

/* ---- device.c ------------------------------------------------------------------------------------------------------------ */

vyre_status vulkan_devices_get(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice **out,
                               uint32_t *out_count);
vyre_status vulkan_device_choose(const vulkan_instance *instance, const vyre_allocator *allocator, const char *wanted,
                                 vulkan_device_choice *out);
/* The device, its queue, and what submissions use; under the lock. */
vyre_status vulkan_device_open(vyre_target *target);
void vulkan_device_close(vyre_target *target);

/* ---- features.c, needs.c ------------------------------------------------------------------------------------------------- */

vyre_status vulkan_find_extensions(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice *choice);
uint32_t vulkan_extension_names(const vulkan_device_choice *choice, const char *out[VULKAN_EXTENSION__COUNT]); /* how many */
void vulkan_features_get(const vulkan_instance *instance, const vulkan_device_choice *choice, vulkan_features *out);
void vulkan_features_choose(const vulkan_device_choice *choice, const vulkan_features *has, vulkan_features *out);
void vulkan_features_describe(const vulkan_instance *instance, const vulkan_features *has, vulkan_device_choice *choice);
/* For a kernel whose instructions are known to be within its words. */
vyre_status vulkan_check_needs(const vyre_target *target, const vyre_kernel_desc *desc);

/* ---- memory.c ------------------------------------------------------------------------------------------------------------ */

vyre_status vulkan_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out);
vyre_status vulkan_free(vyre_target *target, vyre_device_buffer buffer);
vyre_status vulkan_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
/* The buffer and the whole range of a range; `what` and `index` name it in messages. */
vyre_status vulkan_range_get(const vyre_target *target, const vyre_range *range, const char *what, uint32_t index,
                             vulkan_buffer **out, uint64_t *out_size);
vyre_status vulkan_memory_allocate(vyre_target *target, const VkMemoryRequirements *needs, VkMemoryPropertyFlags needed,
                                   VkMemoryPropertyFlags liked, uint64_t size, VkDeviceMemory *out);
/* All or nothing. */
vyre_status vulkan_buffer_create(vyre_target *target, uint64_t size, VkBufferUsageFlags usage, VkMemoryPropertyFlags needed,
                                 VkMemoryPropertyFlags liked, vulkan_buffer *out);
void vulkan_buffer_destroy(vyre_target *target, vulkan_buffer *buffer);
vyre_status vulkan_staging_ensure(vyre_target *target, vulkan_staging *staging, uint64_t size, bool for_reading);
void vulkan_memory_close(vyre_target *target);

vyre_status vulkan_handles_add(const vyre_allocator *allocator, vulkan_handles *handles, void *item, uint64_t *out);
void *vulkan_handles_get(const vulkan_handles *handles, uint64_t id); /* NULL: no such */
void vulkan_handles_remove(vulkan_handles *handles, uint64_t id);
void vulkan_handles_free(const vyre_allocator *allocator, vulkan_handles *handles);

/* ---- images.c ------------------------------------------------------------------------------------------------------------ */

static inline uint32_t
vulkan_slot_count(const vyre_kernel_slot *slot)
{
  return slot->count ? slot->count : 1;
}

VkDescriptorType vulkan_descriptor_type(vyre_slot_kind kind);
bool vulkan_slot_has_images(vyre_slot_kind kind);
vyre_status vulkan_check_images(const vyre_target *target, const vyre_kernel_desc *desc, const vyre_kernel_slot *slot);
vyre_status vulkan_images_create(vyre_target *target, vulkan_kernel *kernel, const vyre_kernel_slot *slot, uint32_t first);
void vulkan_image_destroy(vyre_target *target, vulkan_descriptor *descriptor);
vyre_status vulkan_check_texels(const vulkan_kernel *kernel, const vulkan_descriptor *descriptor, uint64_t offset, uint64_t size);
void vulkan_record_images(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step, bool is_filled);

/* ---- kernel.c, submit.c -------------------------------------------------------------------------------------------------- */

vyre_status vulkan_compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out);
vyre_status vulkan_release(vyre_target *target, vyre_kernel kernel);
void vulkan_kernel_destroy(vyre_target *target, vulkan_kernel *kernel);
vyre_status vulkan_submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);

#endif
