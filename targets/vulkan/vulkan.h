/* The Vulkan target's own state.  Everything stays in this folder.
 *
 * volk's function pointers belong to the process, and a second open with another library would change them under the first; so a
 * target copies what it calls while it holds the lock of `open`, and uses its copies alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_VULKAN_H
#define VYRE_TARGETS_VULKAN_H

#include "../common/base.h"
#include "leaks.h"

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

/* Extensions of a device that kernels may use, and the last one, which this target does. */
typedef enum vulkan_extension {
  VULKAN_EXTENSION_ATOMIC_FLOAT,
  VULKAN_EXTENSION_ATOMIC_FLOAT_2,
  VULKAN_EXTENSION_SUBGROUP_BALLOT, /* of modules from before SPIR-V 1.3 */
  VULKAN_EXTENSION_SUBGROUP_VOTE,
  VULKAN_EXTENSION_MEMORY_BUDGET,
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

/* What compiled kernels are good for. */
typedef struct vulkan_identity {
  uint32_t vendor, device, driver_version;
  uint8_t uuid[VK_UUID_SIZE]; /* of pipeline caches */
} vulkan_identity;

typedef struct vulkan_device_choice {
  VkPhysicalDevice handle;
  vulkan_identity identity;
  uint32_t queue_family;
  uint32_t transfer_family; /* of a queue for transfers alone; UINT32_MAX: there is none */
  uint64_t timestamp_mask;  /* the bits of a timestamp that count; 0: the queue has none */
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
  target_kernel base;               /* first */
  vulkan_descriptor *descriptors;   /* of all slots, in order */
  uint32_t kinds[VYRE_SLOT__COUNT]; /* descriptors of each kind */
  bool has_images;
  VkDescriptorSetLayout *sets; /* by set number; those without a slot are empty */
  uint32_t set_count;
  VkPipelineLayout layout;
  VkPipeline pipeline;
} vulkan_kernel;

/* Where compiled kernels are kept. */
typedef struct vulkan_cache {
  char *folder; /* owned; NULL: nowhere */
  size_t folder_size;
  int descriptor;  /* of it; -1: not open */
  bool is_written; /* a file was */
  bool is_told;    /* that it cannot be made or written */
  void (*remark)(void *user, const char *text);
  void *remark_user;
} vulkan_cache;

/* The driver's cache for one compilation. */
typedef struct vulkan_cached {
  VkPipelineCache handle; /* none: nothing is kept */
  bool is_found;          /* what was kept is in it */
} vulkan_cached;

/* What a submission needs of each kind. */
typedef struct vulkan_plan {
  uint64_t up_size, down_size;            /* staging */
  uint32_t sets, kinds[VYRE_SLOT__COUNT]; /* descriptors */
  bool is_controlled;                     /* some of its steps run or not as a buffer says: control.c */
  uint32_t first_controlled;              /* from this step on all are dispatched indirectly */
} vulkan_plan;

/* Where recording goes on: at the start of an iteration, or at a step that is in no repeat. */
typedef struct vulkan_position {
  uint32_t step, repeat, iteration; /* the next repeat that is not done, and how often its steps are already recorded */
} vulkan_position;

/* What one sequence needs while it runs, and what stays of it for the next one. */
typedef struct vulkan_submission {
  struct vulkan_submission *next; /* unused ones */
  VkCommandPool commands;
  VkCommandBuffer command;
  VkFence fence;
  VkQueryPool queries; /* two timestamps, if the queue has them */
  VkDescriptorPool descriptors;
  uint32_t descriptor_sets, descriptor_kinds[VYRE_SLOT__COUNT]; /* what the pool holds */
  vulkan_staging up, down;
  vulkan_buffer control;
  VkDescriptorSet *sets; /* of all steps in order, a step's own by number; then one for each repeat */
  uint32_t set_capacity;
  uint32_t *first_sets; /* a step's first one; one element more for the repeats' */
  uint32_t step_capacity;

  /* The sequence that runs. */
  vyre_sequence sequence; /* its arrays are the caller's, or */
  void *copy;             /* in here; NULL: the caller's */
  size_t copy_size;
  vulkan_plan plan;
  vulkan_position at;
  bool is_done;
  vyre_status status; /* owned; of what went wrong before the wait */
  vyre_timing timing;
} vulkan_submission;

struct vyre_target {
  target_base base; /* first */
  vulkan_instance instance;
  vulkan_device_choice choice;
  VkPhysicalDeviceMemoryProperties memory;
  vulkan_features features; /* that are enabled */
  uint32_t timeout;         /* seconds; 0: no limit */
  vulkan_cache cache;
  VkDevice device;
  struct VolkDeviceTable call;
  VkQueue queue;
  vulkan_submission *unused;
  VkCommandBuffer command; /* the one that is being recorded */
  target_kernel *control;  /* control.c's; NULL until it is needed */
  bool hangs;              /* something still runs: nothing of the device can be destroyed */
  bool was_left;           /* a device that hung was left: nothing of the instance can be destroyed */
};

/* ---- result.c: every VkResult becomes a status here ---------------------------------------------------------------------- */

/* OK for success codes.  `format` says what was asked for.  Device loss is remembered if `target` is not NULL. */
vyre_status vulkan_status(vyre_target *target, VkResult result, const char *api, const char *format, ...) VYRE_PRINTF(4, 5);
vyre_status vulkan_no_device(void);
/* `status`, or the messages of the API's checks since the last call. */
vyre_status vulkan_take_messages(vulkan_messages *messages, vyre_status status);

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
/* Before anything of a lost device is destroyed: waits until nothing uses it any more. */
void vulkan_settle(vyre_target *target);

/* ---- features.c, needs.c ------------------------------------------------------------------------------------------------- */

vyre_status vulkan_find_extensions(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice *choice);
uint32_t vulkan_extension_names(const vulkan_device_choice *choice, const char *out[VULKAN_EXTENSION__COUNT]); /* how many */
void vulkan_features_get(const vulkan_instance *instance, const vulkan_device_choice *choice, vulkan_features *out);
void vulkan_features_choose(const vulkan_device_choice *choice, const vulkan_features *has, vulkan_features *out);
void vulkan_features_describe(const vulkan_instance *instance, const vulkan_features *has, vulkan_device_choice *choice);
/* For a kernel whose instructions are known to be within its words. */
vyre_status vulkan_check_needs(const vyre_target *target, const vyre_kernel_desc *desc);

/* ---- budget.c ------------------------------------------------------------------------------------------------------------ */

/* The device's memory, and what of it this process may have now. */
void vulkan_budget_describe(const vulkan_instance *instance, vulkan_device_choice *choice);
/* An error where so many bytes of a memory type are more than is left for this process, or than its heap has where the driver does
 * not say what is left. */
vyre_status vulkan_check_budget(vyre_target *target, uint32_t memory_type, uint64_t size);

/* ---- memory.c: hooks, and buffers of the target's own ------------------------------------------------------------------- */

vyre_status vulkan_create(vyre_target *target, uint64_t size, void **out);
vyre_status vulkan_destroy(vyre_target *target, void *memory);
vyre_status vulkan_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
/* Of a buffer that is there. */
static inline vulkan_buffer *
vulkan_buffer_get(const vyre_target *target, vyre_device_buffer buffer)
{
  return target_buffer_get(target, buffer)->memory;
}
vyre_status vulkan_memory_allocate(vyre_target *target, const VkMemoryRequirements *needs, VkMemoryPropertyFlags needed,
                                   VkMemoryPropertyFlags liked, uint64_t size, VkDeviceMemory *out);
/* All or nothing. */
vyre_status vulkan_buffer_create(vyre_target *target, uint64_t size, VkBufferUsageFlags usage, VkMemoryPropertyFlags needed,
                                 VkMemoryPropertyFlags liked, vulkan_buffer *out);
void vulkan_buffer_destroy(vyre_target *target, vulkan_buffer *buffer);
vyre_status vulkan_staging_ensure(vyre_target *target, vulkan_staging *staging, uint64_t size, bool for_reading);
void vulkan_staging_destroy(vyre_target *target, vulkan_staging *staging);

/* ---- images.c ------------------------------------------------------------------------------------------------------------ */

VkDescriptorType vulkan_descriptor_type(vyre_slot_kind kind);
vyre_status vulkan_check_images(const vyre_target *target, const vyre_kernel_desc *desc, const vyre_kernel_slot *slot);
vyre_status vulkan_images_create(vyre_target *target, vulkan_kernel *kernel, const vyre_kernel_slot *slot, uint32_t first);
void vulkan_image_destroy(vyre_target *target, vulkan_descriptor *descriptor);
vyre_status vulkan_check_texels(const vyre_target *target, const target_kernel *kernel, uint32_t slot_index, uint32_t descriptor,
                                uint64_t offset, uint64_t size);
void vulkan_record_images(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step, bool is_filled);

/* ---- kernel.c: hooks ----------------------------------------------------------------------------------------------------- */

vyre_status vulkan_check_kernel(vyre_target *target, const vyre_kernel_desc *desc);
vyre_status vulkan_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out);
vyre_status vulkan_release(vyre_target *target, target_kernel *kernel);

static inline vulkan_kernel *
vulkan_kernel_get(const vyre_target *target, vyre_kernel kernel)
{
  return (vulkan_kernel *)(void *)target_kernel_get(target, kernel);
}

/* ---- cache.c ------------------------------------------------------------------------------------------------------------- */

/* Fails for want of memory alone; vulkan_cache_close is called after a failure, too. */
vyre_status vulkan_cache_open(vyre_target *target, const vyre_target_options *options);
void vulkan_cache_close(vyre_target *target);
/* Around the compilation of a kernel: what was kept of it, and keeping what is new.  Whatever goes wrong is a remark. */
void vulkan_cache_begin(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *out);
void vulkan_cache_end(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *cached, bool is_compiled);

/* ---- submission.c -------------------------------------------------------------------------------------------------------- */

/* An unused one, or a new one, with all that the sequence needs.  `is_kept`: its arrays are copied, so that they may go. */
vyre_status vulkan_submission_take(vyre_target *target, const vyre_sequence *sequence, bool is_kept, vulkan_submission **out);
/* For the next sequence; one that still runs on a device that hangs is forgotten instead. */
void vulkan_submission_give(vyre_target *target, vulkan_submission *submission);
void vulkan_submissions_destroy(vyre_target *target);
/* Sizes in staging buffers: multiples of 16 bytes. */
static inline uint64_t
vulkan_padded(uint64_t size)
{
  return (size + 15u) & ~(uint64_t)15u;
}

/* ---- record.c ------------------------------------------------------------------------------------------------------------ */

/* From the submission's position on, as much as one command buffer takes; the position is where it ends. */
vyre_status vulkan_record(vyre_target *target, vulkan_submission *submission);
/* Each sees all that came before. */
void vulkan_barrier(vyre_target *target, VkPipelineStageFlags to, VkAccessFlags access);

/* ---- control.c ----------------------------------------------------------------------------------------------------------- */

enum { VULKAN_MOST_ITERATIONS = 1024 /* of a repeat until a word is 0, in one command buffer */ };

/* Bytes of the submission's control buffer, and those at its start that the host reads. */
uint64_t vulkan_control_size(const vyre_sequence *sequence);
uint64_t vulkan_control_read_size(const vyre_sequence *sequence);
/* The kernel, if it is not there yet. */
vyre_status vulkan_control_ensure(vyre_target *target);
/* The descriptor set of a step, or of a repeat's word. */
void vulkan_control_write_set(vyre_target *target, const vulkan_submission *submission, const vyre_range *source,
                              VkDescriptorSet set);
void vulkan_control_record_start(vyre_target *target, const vulkan_submission *submission);
void vulkan_control_record_prepare(vyre_target *target, const vulkan_submission *submission, uint32_t step);
void vulkan_control_record_end(vyre_target *target, const vulkan_submission *submission, uint32_t repeat, bool is_last);
/* Where the groups of a step are in the control buffer. */
uint64_t vulkan_control_groups(const vyre_sequence *sequence, uint32_t step);
/* How a repeat stands. */
vyre_repeat_end vulkan_control_repeat(const vulkan_submission *submission, uint32_t repeat);
/* Kernels whose groups came from a buffer and were not none. */
uint32_t vulkan_control_launches(const vulkan_submission *submission);
/* An error where a buffer said more groups than its step allows. */
vyre_status vulkan_control_status(const vyre_target *target, const vulkan_submission *submission);

/* ---- submit.c: hooks ----------------------------------------------------------------------------------------------------- */

vyre_status vulkan_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);
vyre_status vulkan_start(vyre_target *target, const vyre_sequence *sequence, void **out);
vyre_status vulkan_poll(vyre_target *target, void *work, bool *out_done);
vyre_status vulkan_finish(vyre_target *target, void *work, vyre_timing *timing);

#endif
