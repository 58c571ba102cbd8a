/* The Vulkan target's own state.  Everything stays in this folder.
 *
 * volk's function pointers belong to the process, and a second open with another library would change them under the first; so a
 * target copies what it calls while it holds the lock of `open`, and uses its copies alone.
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
  PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT vkGetPhysicalDeviceCalibrateableTimeDomainsEXT; /* NULL: there is none */
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

/* Extensions of a device that kernels may use, and those of the target itself. */
typedef enum vulkan_extension {
  VULKAN_EXTENSION_ATOMIC_FLOAT,
  VULKAN_EXTENSION_ATOMIC_FLOAT_2,
  VULKAN_EXTENSION_SUBGROUP_BALLOT, /* of modules from before SPIR-V 1.3 */
  VULKAN_EXTENSION_SUBGROUP_VOTE,
  VULKAN_EXTENSION_ZERO_WORKGROUP,
  VULKAN_EXTENSION_DOT_PRODUCT,
  VULKAN_EXTENSION_CALIBRATED_TIMESTAMPS,
  VULKAN_EXTENSION_MEMORY_BUDGET,
  VULKAN_EXTENSION_EXECUTABLES, /* of a target that only looks at kernels */
  VULKAN_EXTENSION__COUNT
} vulkan_extension;

/* One chain of Vulkan's structs: it points into itself, and is not to be moved. */
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

/* What compiled kernels are good for. */
typedef struct vulkan_identity {
  uint32_t vendor, device, driver_version;
  uint8_t uuid[VK_UUID_SIZE]; /* of pipeline caches */
} vulkan_identity;

typedef enum vulkan_queue_role {
  VULKAN_COMPUTE,
  VULKAN_TRANSFER, /* of a family that copies alone, so that copies go on beside kernels; not every device has one */
  VULKAN_QUEUES
} vulkan_queue_role;

typedef struct vulkan_device_choice {
  VkPhysicalDevice handle;
  vulkan_identity identity;
  uint32_t queue_families[VULKAN_QUEUES];
  bool has_transfer;
  uint64_t timestamp_mask; /* the bits of a timestamp that count; 0: the compute queue has none */
  VkPhysicalDeviceLimits limits;
  uint32_t extensions; /* bits by vulkan_extension */
  vyre_device_info info;
} vulkan_device_choice;

/* Memory of the device that the host reads and writes as fast as its own. */
#define VULKAN_SHARED                                                                                                 \
  (VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | \
   VK_MEMORY_PROPERTY_HOST_CACHED_BIT)

typedef struct vulkan_buffer {
  VkBuffer handle;
  VkDeviceMemory memory;
  uint64_t size;                   /* as asked for; the Vulkan buffer is rounded up to whole words */
  uint64_t serial;                 /* no other buffer of this target ever has it */
  void *mapped;                    /* NULL: the host does not see it */
  uint64_t batches[VULKAN_QUEUES]; /* the last ones that name it, of submissions that were begun */
} vulkan_buffer;

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
  uint64_t serial;                  /* no other kernel of this target ever has it */
  vulkan_descriptor *descriptors;   /* of all slots, in order */
  uint32_t kinds[VYRE_SLOT__COUNT]; /* descriptors of each kind */
  bool has_images;
  bool has_addresses;          /* it may be given buffers by address */
  VkDescriptorSetLayout *sets; /* by set number; those without a slot are empty */
  uint32_t set_count;
  VkPipelineLayout layout;
  VkPipeline pipeline;
} vulkan_kernel;

/* The driver's cache for one compilation. */
typedef struct vulkan_cached {
  VkPipelineCache handle; /* none: nothing is kept */
  bool is_found;          /* what was kept is in it */
} vulkan_cached;

/* The steps of a sequence from some position on, as commands that were recorded once: recording.c. */
typedef struct vulkan_recording {
  target_recorded base; /* first */
  VkCommandPool pool;
  VkCommandBuffer *commands; /* owned: one, or more where there are many launches */
  uint32_t command_count, command_capacity;
  bool is_part; /* the host has to look what is left when it is done */
  VkDescriptorPool descriptors;
  VkQueryPool queries; /* a timestamp at the start and after each launch; 0: nobody asked */
  uint32_t *stamped;   /* owned: the step of each launch */
  uint32_t stamp_capacity, stamp_count, query_count;
  vulkan_hazards needs, left; /* what must be ordered before it, and what it leaves */
  target_position end;        /* where the next one begins */
} vulkan_recording;

/* What one sequence needs while it runs, and what stays of it for the next one. */
typedef struct vulkan_submission {
  target_work work; /* first */
  VkCommandPool pools[VULKAN_QUEUES];
  VkCommandBuffer before[VULKAN_QUEUES], after[VULKAN_QUEUES]; /* copies; recorded each time */
  VkQueryPool queries;                                         /* two timestamps, if the queue has them */
  vulkan_buffer up, down;                                      /* staging: mapped */
  vulkan_buffer control;
  uint64_t *places; /* owned: of uploads in staging; all ones: the host writes it itself */
  uint32_t place_capacity;
  VkDescriptorSet *sets; /* of the recording that is made: of all steps in order, a step's own by number; then one a repeat */
  uint32_t set_capacity;
  uint32_t *first_sets; /* a step's first one; one element more for the repeats' */
  uint32_t step_capacity;

  /* The sequence that runs. */
  vulkan_recording *recording;
  uint64_t down_size;            /* of reads in staging; after them is what the host reads of control */
  bool is_apart;                 /* its copies have a queue of their own */
  target_position recorded_from; /* where what is recorded now began */
  vulkan_queue_role last_queue;  /* where it ends, */
  uint64_t last_batch;           /* and with which batch */
} vulkan_submission;

static inline vulkan_submission *
vulkan_submission_of(target_work *work)
{
  return (vulkan_submission *)(void *)work;
}

/* A queue and what was given to it.  Each batch signals its number. */
typedef struct vulkan_queue {
  VkQueue handle;
  VkSemaphore timeline;
  uint64_t submitted, done; /* batches; `done` as far as the host has looked */
  vulkan_hazards hazards;   /* of all that was recorded for it */
} vulkan_queue;

struct vyre_target {
  target_base base; /* first */
  vulkan_instance instance;
  vulkan_device_choice choice;
  VkPhysicalDeviceMemoryProperties memory;
  vulkan_features features; /* that are enabled */
  uint32_t timeout;         /* seconds; 0: no limit */
  bool is_shared;           /* buffers lie in memory that the host sees as fast as its own */
  bool tells_host_time;     /* timestamps can be told by the host's clock */
  target_files cache;       /* where compiled kernels are kept */
  uint32_t most_iterations; /* VULKAN_MOST_ITERATIONS; tests set fewer */
  VkDevice device;
  struct VolkDeviceTable call;
  vulkan_queue queues[VULKAN_QUEUES];
  uint64_t serials;         /* so many were given */
  uint64_t addresses_batch; /* the last compute batch with kernels that may use any buffer, begun by somebody */
  VkCommandBuffer command;  /* the one that is being recorded, */
  vulkan_hazards *hazards;  /* and what orders it */
  target_kernel *control;   /* control.c's; NULL until it is needed */
  bool was_left;            /* a device that hung was left: nothing of the instance can be destroyed */
};

/* It was opened for that, and its driver can. */
static inline bool
vulkan_tells_statistics(const vyre_target *target)
{
  return target->features.executables.pipelineExecutableInfo;
}

/* ---- result.c: every VkResult becomes a status here ---------------------------------------------------------------------- */

/* OK for success codes.  `format` says what was asked for.  Device loss is remembered if `target` is not NULL. */
vyre_status vulkan_status(vyre_target *target, VkResult result, const char *api, const char *format, ...) VYRE_PRINTF(4, 5);
/* Calls a function of the device. */
#define VULKAN_CALL(target, function, arguments, ...) \
  vulkan_status((target), (target)->call.function arguments, #function, __VA_ARGS__)
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
/* What a queue's batches signal, which there is from the first one on: a device that only compiles may have no such semaphores. */
vyre_status vulkan_queue_follow(vyre_target *target, vulkan_queue *queue);
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

/* ---- memory.c: hooks, and buffers of the target's own ------------------------------------------------------------------- */

/* The device's memory, and what of it this process may have now. */
void vulkan_budget_describe(const vulkan_instance *instance, vulkan_device_choice *choice);
/* An error, of memory that ran out, where so many bytes of a memory type are more than is left for this process, or than its heap
 * has where the driver does not say what is left. */
vyre_status vulkan_check_budget(vyre_target *target, uint32_t memory_type, uint64_t size);
vyre_status vulkan_create(vyre_target *target, uint64_t size, void **out);
vyre_status vulkan_destroy(vyre_target *target, void *memory);
vyre_status vulkan_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
/* Of a buffer that is there. */
static inline vulkan_buffer *
vulkan_buffer_get(const vyre_target *target, vyre_device_buffer buffer)
{
  return target_buffer_get(target, buffer)->memory;
}
/* Memory for `size` bytes.  Where there is none, what unused submissions have is given back first. */
vyre_status vulkan_memory_allocate(vyre_target *target, const VkMemoryRequirements *needs, VkMemoryPropertyFlags needed,
                                   VkMemoryPropertyFlags liked, uint64_t size, VkDeviceMemory *out,
                                   VkMemoryPropertyFlags *out_flags);
/* All or nothing.  It is mapped if the host sees it and may read it fast. */
vyre_status vulkan_buffer_create(vyre_target *target, uint64_t size, VkBufferUsageFlags usage, VkMemoryPropertyFlags needed,
                                 VkMemoryPropertyFlags liked, vulkan_buffer *out);
void vulkan_buffer_destroy(vyre_target *target, vulkan_buffer *buffer);
/* A staging buffer of so many bytes at least; what it held is lost if it has fewer. */
vyre_status vulkan_staging_ensure(vyre_target *target, vulkan_buffer *staging, uint64_t size, bool for_reading);
/* Whether the host may write it or read it now: nothing that was begun uses it. */
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

/* Fails for want of memory alone; vulkan_cache_close is called after a failure, too. */
vyre_status vulkan_cache_open(vyre_target *target, const vyre_target_options *options);
void vulkan_cache_close(vyre_target *target);
/* Around the compilation of a kernel: what was kept of it, and keeping what is new.  Whatever goes wrong is a remark. */
void vulkan_cache_begin(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *out);
void vulkan_cache_end(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *cached, bool is_compiled);

/* ---- record.c: commands -------------------------------------------------------------------------------------------------- */

/* The command that is recorded next uses these bytes. */
void vulkan_uses(vyre_target *target, VkBuffer buffer, uint64_t first, uint64_t size, VkPipelineStageFlags stages,
                 VkAccessFlags access);
void vulkan_uses_range(vyre_target *target, const vyre_range *range, VkPipelineStageFlags stages, VkAccessFlags access);
/* The barrier that it needs. */
void vulkan_sync(vyre_target *target, bool is_beside);
vyre_status vulkan_record_begin(vyre_target *target, VkCommandBuffer command, bool is_once, vulkan_hazards *hazards);
vyre_status vulkan_record_end(vyre_target *target, const vulkan_submission *submission);
/* Steps from the submission's position on, to the end, until the host is to wait, or (*out_more) until a command buffer has enough.
 */
void vulkan_record_steps(vyre_target *target, vulkan_submission *submission, vulkan_recording *recording, uint64_t *launches,
                         bool *out_more);

/* ---- copies.c: what goes up and comes down ------------------------------------------------------------------------------- */

/* Sizes in staging buffers: multiples of 16 bytes. */
static inline uint64_t
vulkan_padded(uint64_t size)
{
  return (size + 15u) & ~(uint64_t)15u;
}
/* What goes through staging, and room for it. */
vyre_status vulkan_plan_copies(vyre_target *target, vulkan_submission *submission);
/* Nothing is left to the device: there is no command to wait for. */
bool vulkan_is_by_host(const vulkan_submission *submission);
/* Fills and uploads.  *out_commands: whether there are any; the host does some uploads at once. */
void vulkan_record_before(vyre_target *target, vulkan_submission *submission, bool *out_commands);
/* What the host looks at afterwards.  `is_end`: the steps are all done by then, and the reads follow. */
void vulkan_record_after(vyre_target *target, vulkan_submission *submission, bool is_end);
/* To the caller, once all is done. */
void vulkan_copy_reads(const vyre_target *target, target_work *work);

/* ---- recording.c --------------------------------------------------------------------------------------------------------- */

/* Hooks of works. */
vyre_status vulkan_shape_make(vyre_target *target, const target_work *work);
void vulkan_recording_destroy(vyre_target *target, target_recorded *recorded);
/* The submission's recording of what comes next, whose shape is base.shape, is the one that it has, or a new one; the position
 * goes to its end. */
vyre_status vulkan_recording_take(vyre_target *target, vulkan_submission *submission);

/* ---- timing.c ------------------------------------------------------------------------------------------------------------ */

enum { VULKAN_MOST_STAMPS = 1 << 16 /* launches of a recording whose times are told */ };

/* The start and the end of what is submitted together. */
void vulkan_stamp(vyre_target *target, const vulkan_submission *submission, bool is_end);
/* Before the first step, and after each. */
vyre_status vulkan_stamps_prepare(vyre_target *target, const vulkan_submission *submission, vulkan_recording *recording);
void vulkan_stamps_begin(vyre_target *target, const vulkan_recording *recording);
void vulkan_stamp_step(vyre_target *target, vulkan_recording *recording, uint32_t step);
/* Adds what the stamps say of what is done. */
vyre_status vulkan_stamps_read(vyre_target *target, vulkan_submission *submission);

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
/* The next command takes its groups from the control buffer. */
void vulkan_control_use_groups(vyre_target *target, const vulkan_submission *submission);
void vulkan_control_record_end(vyre_target *target, const vulkan_submission *submission, uint32_t repeat, bool is_last);
/* Where the groups of a step are in the control buffer. */
uint64_t vulkan_control_groups(const vyre_sequence *sequence, uint32_t step);
/* How a repeat stands. */
vyre_repeat_end vulkan_control_repeat(const target_work *work, uint32_t repeat);
/* Kernels whose groups came from a buffer and were not none. */
uint32_t vulkan_control_launches(const target_work *work);
/* An error where a buffer said more groups than its step allows. */
vyre_status vulkan_control_status(const vyre_target *target, const vulkan_submission *submission);

/* ---- submit.c: hooks ----------------------------------------------------------------------------------------------------- */

extern const target_work_hooks vulkan_works;

vyre_status vulkan_begin(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
vyre_status vulkan_poll(vyre_target *target, void *work, bool *out_done);
vyre_status vulkan_complete(vyre_target *target, target_work *work);

#endif
