/* The Vulkan target's state. Only this folder uses it.
 *
 * volk's function pointers are process-wide, and a second `open` with another library overwrites them. So a target copies the
 * functions that it calls while it holds the lock of `open`, and calls only its copies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_VULKAN_H
#define VYRE_TARGETS_VULKAN_H

#include "../common/base.h"
#include "../common/files.h"
#include "../common/work.h"
#include "hazards.h"
#include "leaks.h"

#include <volk.h>

typedef struct vulkan_instance_functions {
#define VULKAN_INSTANCE_SYM(name) PFN_##name name;
#include "symbols.def"
  PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT vkGetPhysicalDeviceCalibrateableTimeDomainsEXT; /* may be NULL */
} vulkan_instance_functions;

/* Messages of the validation layer since the last vulkan_collect_messages. */
typedef struct vulkan_messages {
  uint32_t count;
  size_t length;
  char text[4096]; /* the first messages, a line each */
} vulkan_messages;

/* The library, the instance and the messenger, which suffice to list devices. */
typedef struct vulkan_instance {
  void *library;
  VkInstance handle;
  vulkan_instance_functions call;
  VkDebugUtilsMessengerEXT messenger;
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger;
  vulkan_messages *messages; /* owned; NULL without validation */
} vulkan_instance;

/* Device extensions that kernels or the target may use. */
typedef enum vulkan_extension {
  VULKAN_EXTENSION_ATOMIC_FLOAT,
  VULKAN_EXTENSION_ATOMIC_FLOAT_2,
  VULKAN_EXTENSION_SUBGROUP_BALLOT, /* this and the next extension are for modules older than SPIR-V 1.3 */
  VULKAN_EXTENSION_SUBGROUP_VOTE,
  VULKAN_EXTENSION_ZERO_WORKGROUP,
  VULKAN_EXTENSION_DOT_PRODUCT,
  VULKAN_EXTENSION_CALIBRATED_TIMESTAMPS,
  VULKAN_EXTENSION_MEMORY_BUDGET,
  VULKAN_EXTENSION_EXECUTABLES, /* only for a target that is opened for statistics */
  VULKAN_EXTENSION__ENABLED,    /* the extensions from here on only describe the device, and are not enabled */
  VULKAN_EXTENSION_AMD_CORES = VULKAN_EXTENSION__ENABLED,
  VULKAN_EXTENSION_AMD_ACTIVE_CORES,
  VULKAN_EXTENSION_ARM_CORES,
  VULKAN_EXTENSION_NV_MULTIPROCESSORS,
  VULKAN_EXTENSION__COUNT
} vulkan_extension;

/* A chain of Vulkan structs. It contains pointers into itself, so it must not be copied. */
typedef struct vulkan_features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics;
  VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT atomics2;
  VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeaturesKHR zeros;
  VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dots;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables;
} vulkan_features;

/* The device and driver for which compiled kernels are valid. */
typedef struct vulkan_identity {
  uint32_t vendor, device, driver_version;
  uint8_t uuid[VK_UUID_SIZE]; /* pipelineCacheUUID */
} vulkan_identity;

typedef enum vulkan_queue_role {
  VULKAN_COMPUTE,
  VULKAN_TRANSFER, /* a family that can only copy, so that copies overlap with kernels; optional */
  VULKAN_QUEUES
} vulkan_queue_role;

typedef struct vulkan_device_choice {
  VkPhysicalDevice handle;
  vulkan_identity identity;
  uint32_t queue_families[VULKAN_QUEUES];
  bool has_transfer;
  uint64_t timestamp_mask; /* valid bits of a timestamp, or 0 if the compute queue has no timestamps */
  VkPhysicalDeviceLimits limits;
  uint32_t extensions; /* a bit for each vulkan_extension */
  vyre_device_info info;
} vulkan_device_choice;

/* Properties of device memory that the host reads and writes as fast as its own memory. */
#define VULKAN_SHARED                                                                                                 \
  (VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | \
   VK_MEMORY_PROPERTY_HOST_CACHED_BIT)

typedef struct vulkan_buffer {
  VkBuffer handle;
  VkDeviceMemory memory;
  uint64_t size;                   /* requested bytes; the Vulkan buffer is rounded up to whole words */
  uint64_t serial;                 /* unique among all buffers that this target ever made */
  void *mapped;                    /* or NULL if the host cannot access the buffer */
  uint64_t batches[VULKAN_QUEUES]; /* on each queue, the last batch of a begun submission that names the buffer */
} vulkan_buffer;

/* The device's objects for a texel buffer or an image of a kernel. */
typedef struct vulkan_image {
  vyre_image shape;
  uint64_t size; /* bytes of the texels without gaps */
  VkImage handle;
  VkDeviceMemory memory;
  VkImageView view;
  vulkan_buffer texels; /* the texel buffer, instead of the image, for texel slots */
  VkBufferView texel_view;
} vulkan_image;

typedef struct vulkan_descriptor {
  uint32_t slot, element;
  uint32_t range; /* index into the step's buffers; unused for samplers */
  vulkan_image image;
  VkSampler sampler; /* the slot's sampler; only element 0 has it */
} vulkan_descriptor;

typedef struct vulkan_kernel {
  target_kernel base;               /* must be first */
  uint64_t serial;                  /* unique among all kernels that this target ever made */
  vulkan_descriptor *descriptors;   /* owned: those of all slots, in order */
  uint32_t kinds[VYRE_SLOT__COUNT]; /* number of descriptors of each kind */
  bool has_images;
  bool has_addresses;          /* whether the kernel may access buffers by address */
  VkDescriptorSetLayout *sets; /* owned, by set number; sets without a slot are empty */
  uint32_t set_count;
  VkPipelineLayout layout;
  VkPipeline pipeline;
} vulkan_kernel;

/* The pipeline cache of one compilation. */
typedef struct vulkan_cached {
  VkPipelineCache handle; /* or VK_NULL_HANDLE for no cache */
  bool is_found;          /* whether the cache has data from a file */
} vulkan_cached;

/* Recorded commands for the steps of a sequence from one position on: recording.c. */
typedef struct vulkan_recording {
  target_recorded base; /* must be first */
  VkCommandPool pool;
  VkCommandBuffer *commands; /* owned; several if there are many launches */
  uint32_t command_count, command_capacity;
  bool is_part; /* whether the host must check for remaining steps when the commands are done */
  VkDescriptorPool descriptors;
  VkQueryPool queries; /* timestamps at the start and after each launch, or VK_NULL_HANDLE if none were requested */
  uint32_t *stamped;   /* owned: the step of each launch */
  uint32_t stamp_capacity, stamp_count, query_count;
  vulkan_hazards needs, left; /* uses that earlier commands must be ordered before, and uses that later commands see */
  target_position end;        /* where the next recording begins */
} vulkan_recording;

/* The objects of one submission in flight, which later submissions reuse. */
typedef struct vulkan_submission {
  target_work work; /* must be first */
  VkCommandPool pools[VULKAN_QUEUES];
  VkCommandBuffer before[VULKAN_QUEUES], after[VULKAN_QUEUES]; /* copies; recorded for each submission */
  VkQueryPool queries;                                         /* two timestamps, if the queue has timestamps */
  vulkan_buffer up, down;                                      /* mapped staging buffers */
  vulkan_buffer control;                                       /* see control.c */
  uint64_t *places; /* owned: offset of each upload in staging, or UINT64_MAX if the host copies it directly */
  uint32_t place_capacity;
  VkDescriptorSet *sets; /* owned; while recording: the sets of each step in order, then one for each repeat */
  uint32_t set_capacity;
  uint32_t *first_sets; /* owned: index of each step's first set, then that of the repeats' */
  uint32_t step_capacity;

  /* The current sequence. */
  vulkan_recording *recording;
  uint64_t down_size;            /* bytes of reads in staging; a copy of control's first words follows */
  bool is_apart;                 /* whether the copies run on the transfer queue */
  target_position recorded_from; /* where the current recording begins */
  vulkan_queue_role last_queue;  /* queue of the last batch */
  uint64_t last_batch;           /* number of the last batch on that queue */
} vulkan_submission;

static inline vulkan_submission *
vulkan_submission_of(target_work *work)
{
  return (vulkan_submission *)(void *)work;
}

/* A queue and its batches. Each batch signals its number. */
typedef struct vulkan_queue {
  VkQueue handle;
  VkSemaphore timeline;
  uint64_t submitted, done; /* numbers of the last submitted batch and of the last one known to be done */
  vulkan_hazards hazards;   /* uses by all commands that were recorded for the queue */
} vulkan_queue;

struct vyre_target {
  target_base base; /* must be first */
  vulkan_instance instance;
  vulkan_device_choice choice;
  VkPhysicalDeviceMemoryProperties memory;
  vulkan_features features; /* the enabled ones */
  bool is_shared;           /* whether buffers are in memory with VULKAN_SHARED */
  bool has_host_time;       /* whether device timestamps can be converted to the host's clock */
  target_files cache;       /* files of compiled kernels */
  uint32_t most_iterations; /* VULKAN_MOST_ITERATIONS; tests set fewer */
  VkDevice device;
  struct VolkDeviceTable call;
  vulkan_queue queues[VULKAN_QUEUES];
  uint64_t serials;         /* the last assigned serial */
  uint64_t addresses_batch; /* the last compute batch of a begun submission whose kernels may use any buffer */
  VkCommandBuffer command;  /* the command buffer that is being recorded */
  vulkan_hazards *hazards;  /* the hazards of `command` */
  target_kernel *control;   /* control.c's kernel; NULL until the first use */
  bool was_left;            /* whether a hanging device was abandoned, so that the instance cannot be destroyed */
};

/* Returns whether the target was opened for statistics and the driver reports them. */
static inline bool
vulkan_has_statistics(const vyre_target *target)
{
  return target->features.executables.pipelineExecutableInfo;
}

/* ---- result.c: turns each VkResult into a status ------------------------------------------------------------------------- */

/* Returns OK for VK_SUCCESS only. `format` is the request, for the message. Records a lost device if `target` is not NULL. */
vyre_status vulkan_status(vyre_target *target, VkResult result, const char *api, const char *format, ...) VYRE_PRINTF(4, 5);
/* Calls a function of the device. */
#define VULKAN_CALL(target, function, arguments, ...) \
  vulkan_status((target), (target)->call.function arguments, #function, __VA_ARGS__)
vyre_status vulkan_no_device(void);
/* Returns `status` joined with an error that has the validation layer's messages since the last call, if there are any. */
vyre_status vulkan_collect_messages(vulkan_messages *messages, vyre_status status);

/* ---- instance.c ---------------------------------------------------------------------------------------------------------- */

/* Lock volk's process-wide function pointers. `open`, `list` and `recover` hold the lock while they load and copy them. */
void vulkan_lock(void);
void vulkan_unlock(void);
/* Requires the lock. On failure, frees everything that was made. */
vyre_status vulkan_instance_open(const vyre_target_options *options, const vyre_allocator *allocator, vulkan_instance *out);
vyre_status vulkan_instance_close(vulkan_instance *instance, const vyre_allocator *allocator);

/* ---- device.c ------------------------------------------------------------------------------------------------------------ */

vyre_status vulkan_devices_get(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice **out,
                               uint32_t *out_count);
vyre_status vulkan_device_choose(const vulkan_instance *instance, const vyre_allocator *allocator, const char *wanted,
                                 vulkan_device_choice *out);
/* Opens the device and gets its queues and functions. Requires the lock. */
vyre_status vulkan_device_open(vyre_target *target);
void vulkan_device_close(vyre_target *target);
/* Creates the queue's timeline semaphore at the first batch. A device that only compiles may lack such semaphores. */
vyre_status vulkan_queue_follow(vyre_target *target, vulkan_queue *queue);
/* Waits until a lost device is idle. Must precede the destruction of objects. Does nothing if the device hangs. */
void vulkan_settle(vyre_target *target);

/* ---- features.c, needs.c ------------------------------------------------------------------------------------------------- */

vyre_status vulkan_find_extensions(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice *choice);
/* Stores the names of the chosen extensions and returns their number. */
uint32_t vulkan_extension_names(const vulkan_device_choice *choice, const char *out[VULKAN_EXTENSION__COUNT]);
void vulkan_features_get(const vulkan_instance *instance, const vulkan_device_choice *choice, vulkan_features *out);
void vulkan_features_choose(const vulkan_device_choice *choice, const vulkan_features *has, vulkan_features *out);
void vulkan_features_describe(const vulkan_instance *instance, const vulkan_features *has, vulkan_device_choice *choice);
/* Checks that the device has the features that a kernel needs. The words must be whole instructions. */
vyre_status vulkan_check_needs(const vyre_target *target, const vyre_kernel_desc *desc);

/* ---- memory.c: hooks, and the target's own buffers ---------------------------------------------------------------------- */

/* Adds the device's memory, and the part that this process may use now, to the device info. */
void vulkan_budget_describe(const vulkan_instance *instance, vulkan_device_choice *choice);
/* Returns an out-of-memory error if `size` exceeds the memory that the type's heap has left for this process. If the driver does
 * not report that, the heap's size is the limit. */
vyre_status vulkan_check_budget(vyre_target *target, uint32_t memory_type, uint64_t size);
vyre_status vulkan_create(vyre_target *target, uint64_t size, void **out);
vyre_status vulkan_destroy(vyre_target *target, void *memory);
vyre_status vulkan_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
/* Returns the Vulkan buffer of a valid handle. */
static inline vulkan_buffer *
vulkan_buffer_get(const vyre_target *target, vyre_device_buffer buffer)
{
  return target_buffer_get(target, buffer)->memory;
}
/* Allocates memory for `size` bytes, with all of `needed` and preferably all of `liked`. If that fails, frees unused submissions
 * and tries once more. */
vyre_status vulkan_memory_allocate(vyre_target *target, const VkMemoryRequirements *needs, VkMemoryPropertyFlags needed,
                                   VkMemoryPropertyFlags liked, uint64_t size, VkDeviceMemory *out,
                                   VkMemoryPropertyFlags *out_flags);
/* Creates a buffer with its memory. Maps it if `needed` has HOST_VISIBLE, or if its memory is shared (VULKAN_SHARED). */
vyre_status vulkan_buffer_create(vyre_target *target, uint64_t size, VkBufferUsageFlags usage, VkMemoryPropertyFlags needed,
                                 VkMemoryPropertyFlags liked, vulkan_buffer *out);
void vulkan_buffer_destroy(vyre_target *target, vulkan_buffer *buffer);
/* Makes a staging buffer at least `size` bytes large. If the buffer has to grow, its contents are lost. */
vyre_status vulkan_staging_ensure(vyre_target *target, vulkan_buffer *staging, uint64_t size, bool for_reading);
/* Returns whether no begun submission in flight uses the buffer, so that the host may read and write it. */
bool vulkan_buffer_is_idle(const vyre_target *target, const vulkan_buffer *buffer);

/* ---- images.c ------------------------------------------------------------------------------------------------------------ */

VkDescriptorType vulkan_descriptor_type(vyre_slot_kind kind);
vyre_status vulkan_check_images(const vyre_target *target, const vyre_kernel_desc *desc, const vyre_kernel_slot *slot);
vyre_status vulkan_images_create(vyre_target *target, vulkan_kernel *kernel, const vyre_kernel_slot *slot, uint32_t first);
void vulkan_image_destroy(vyre_target *target, vulkan_descriptor *descriptor);
vyre_status vulkan_check_texels(const vyre_target *target, const target_kernel *kernel, uint32_t slot_index, uint32_t descriptor,
                                uint64_t offset, uint64_t size);
void vulkan_record_images(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step, bool is_filled);
void vulkan_use_images(vyre_target *target, const vulkan_kernel *kernel);

/* ---- kernel.c: hooks ----------------------------------------------------------------------------------------------------- */

vyre_status vulkan_check_kernel(vyre_target *target, const vyre_kernel_desc *desc);
vyre_status vulkan_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out);
vyre_status vulkan_release(vyre_target *target, target_kernel *kernel);

static inline vulkan_kernel *
vulkan_kernel_get(const vyre_target *target, vyre_kernel kernel)
{
  return (vulkan_kernel *)(void *)target_kernel_get(target, kernel);
}

/* ---- statistics.c: a hook ------------------------------------------------------------------------------------------------ */

vyre_status vulkan_statistics(vyre_target *target, const target_kernel *kernel,
                              void (*emit)(void *user, const vyre_kernel_figure *figure), void *user);

/* ---- cache.c ------------------------------------------------------------------------------------------------------------- */

/* Fails only if host memory runs out. vulkan_cache_close must follow, also after a failure. */
vyre_status vulkan_cache_open(vyre_target *target, const vyre_target_options *options);
void vulkan_cache_close(vyre_target *target);
/* Enclose the compilation of a kernel: the first loads cached code, the second writes new code. Report errors as remarks only. */
void vulkan_cache_begin(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *out);
void vulkan_cache_end(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *cached, bool is_compiled);

/* ---- record.c: commands -------------------------------------------------------------------------------------------------- */

/* Declare bytes that the next recorded command uses. */
void vulkan_uses(vyre_target *target, VkBuffer buffer, uint64_t first, uint64_t size, VkPipelineStageFlags stages,
                 VkAccessFlags access);
void vulkan_uses_range(vyre_target *target, const vyre_range *range, VkPipelineStageFlags stages, VkAccessFlags access);
/* Records the barrier that the declared uses need: vulkan_hazards_sync. */
void vulkan_sync(vyre_target *target, bool is_beside);
vyre_status vulkan_record_begin(vyre_target *target, VkCommandBuffer command, bool is_once, vulkan_hazards *hazards);
vyre_status vulkan_record_end(vyre_target *target, const vulkan_submission *submission);
/* Records steps from the submission's position on and advances it, until the end or until the host has to wait. Sets *out_more if
 * the command buffer is full before that. */
void vulkan_record_steps(vyre_target *target, vulkan_submission *submission, vulkan_recording *recording, uint64_t *launches,
                         bool *out_more);

/* ---- copies.c: fills, uploads and reads ---------------------------------------------------------------------------------- */

/* Rounds a size in a staging buffer up to 16 bytes. */
static inline uint64_t
vulkan_padded(uint64_t size)
{
  return (size + 15u) & ~(uint64_t)15u;
}
/* Chooses the copies that go through staging, and makes room for them. */
vyre_status vulkan_plan_copies(vyre_target *target, vulkan_submission *submission);
/* Returns whether the host does the whole sequence, without a command for the device. */
bool vulkan_is_by_host(const vulkan_submission *submission);
/* Records fills and uploads. The host does some uploads immediately. Stores whether there are any commands. */
void vulkan_record_before(vyre_target *target, vulkan_submission *submission, bool *out_commands);
/* Records the copies that the host needs after the steps: the control buffer's first words and, if `is_end`, the reads. */
void vulkan_record_after(vyre_target *target, vulkan_submission *submission, bool is_end);
/* Copies the reads to the caller's memory. All batches must be done. */
void vulkan_copy_reads(const vyre_target *target, target_work *work);

/* ---- recording.c --------------------------------------------------------------------------------------------------------- */

/* Hooks of works. */
vyre_status vulkan_shape_make(vyre_target *target, const target_work *work);
void vulkan_recording_destroy(vyre_target *target, target_recorded *recorded);
/* Selects the submission's recording with the shape base.shape, or makes one. Advances the position to the recording's end. */
vyre_status vulkan_recording_acquire(vyre_target *target, vulkan_submission *submission);

/* ---- timing.c ------------------------------------------------------------------------------------------------------------ */

enum { VULKAN_MOST_STAMPS = 1 << 16 /* a recording with more launches has no step times */ };

/* Records the timestamp at the start or at the end of a submission's batches. */
void vulkan_stamp(vyre_target *target, const vulkan_submission *submission, bool is_end);
/* Prepare and record the timestamps before the first step and after each step. */
vyre_status vulkan_stamps_prepare(vyre_target *target, const vulkan_submission *submission, vulkan_recording *recording);
void vulkan_stamps_begin(vyre_target *target, const vulkan_recording *recording);
void vulkan_stamp_step(vyre_target *target, vulkan_recording *recording, uint32_t step);
/* Reads the timestamps of finished batches and adds them to the timing. */
vyre_status vulkan_stamps_read(vyre_target *target, vulkan_submission *submission);

/* ---- control.c ----------------------------------------------------------------------------------------------------------- */

enum { VULKAN_MOST_ITERATIONS = 1024 /* recorded iterations of a repeat that ends when a word is 0 */ };

/* Return the size of the submission's control buffer, and that of its start, which the host reads. */
uint64_t vulkan_control_size(const vyre_sequence *sequence);
uint64_t vulkan_control_read_size(const vyre_sequence *sequence);
/* Compiles the control kernel at the first use. */
vyre_status vulkan_control_ensure(vyre_target *target);
/* Writes the control kernel's descriptor set for a step's group counts or for a repeat's word. */
void vulkan_control_write_set(vyre_target *target, const vulkan_submission *submission, const vyre_range *source,
                              VkDescriptorSet set);
void vulkan_control_record_start(vyre_target *target, const vulkan_submission *submission);
void vulkan_control_record_prepare(vyre_target *target, const vulkan_submission *submission, uint32_t step);
/* Declares that the next command reads its group counts from the control buffer. */
void vulkan_control_use_groups(vyre_target *target, const vulkan_submission *submission);
void vulkan_control_record_end(vyre_target *target, const vulkan_submission *submission, uint32_t repeat, bool is_last);
/* Returns the offset in bytes of a step's group counts in the control buffer. */
uint64_t vulkan_control_groups(const vyre_sequence *sequence, uint32_t step);
/* Returns a repeat's iterations so far and its word after the last one. */
vyre_repeat_end vulkan_control_repeat(const target_work *work, uint32_t repeat);
/* Returns the number of launches whose group counts came from a buffer and were not 0. */
uint32_t vulkan_control_launches(const target_work *work);
/* Returns an error if group counts in a buffer exceeded the limits of their step. */
vyre_status vulkan_control_status(const vyre_target *target, const vulkan_submission *submission);

/* ---- submit.c: hooks ----------------------------------------------------------------------------------------------------- */

extern const target_work_hooks vulkan_works;

vyre_status vulkan_begin(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
vyre_status vulkan_poll(vyre_target *target, void *work, bool *out_done);
vyre_status vulkan_complete(vyre_target *target, target_work *work);

#endif
