/* Tracks the memory that commands of one queue use, and records the barriers that order them, but no redundant ones.
 *
 * vulkan_hazards_use declares the bytes that the next command uses. vulkan_hazards_sync then records the barrier that the command
 * needs after earlier commands, if any. Two uses of the same bytes need a barrier if one of them writes (Vulkan 1.2 specification,
 * 7.1). The barrier makes written bytes available and visible. A write after reads gets only an execution dependency. Bytes that
 * a barrier already made visible to a stage need no second barrier for that stage.
 *
 * An execution dependency orders all commands of its stages, not only those for which it was recorded. Commands that it orders
 * need no other one. This includes dependencies in a reusable recording, which has its own list.
 *
 * The commands before a recording are unknown while it is recorded. So its list collects in `needs` the uses of bytes that the
 * recording did not write earlier. Their barrier is recorded when the recording is submitted. Barriers inside the recording also
 * order commands before it. After a barrier from COMPUTE to TRANSFER, for example, a copy is ordered after all earlier kernels.
 * So the copy's need has COMPUTE in `given`, and needs a barrier only after an earlier copy. `through` is the equivalent for the
 * whole list.
 *
 * A new use replaces earlier uses that it covers. Beyond VULKAN_FEW_USES, the uses of a buffer are joined, so that the cost of a
 * use is bounded by the number of buffers. Joined uses may cause redundant barriers, but none is missing.
 *
 * Threads: a list belongs to the thread that uses its target. Errors: if memory runs out, no_memory is set until
 * vulkan_hazards_dropped. The commands that were recorded meanwhile must not be submitted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_VULKAN_HAZARDS_H
#define VYRE_TARGETS_VULKAN_HAZARDS_H

#include "vyre/status.h"

#include <volk.h>

enum { VULKAN_FEW_USES = 64 };

/* A use of bytes of a buffer, of a whole image or, if both are 0, of any memory. */
typedef struct vulkan_use {
  VkBuffer buffer;
  VkImage image;
  uint64_t first, end;
  VkPipelineStageFlags stages;
  VkAccessFlags access;
  bool writes;
  VkPipelineStageFlags seen_stages; /* stages that a later barrier ordered after this use */
  VkAccessFlags seen_access;        /* accesses to which a later barrier made the written bytes visible */
  VkPipelineStageFlags given;       /* for a need: stages whose commands before the list are ordered before this use */
  uint32_t turn;                    /* number of the command; commands with the same number are not ordered */
  uint64_t batch;                   /* number of the submitted batch, or 0 if not submitted yet */
} vulkan_use;

enum { VULKAN_STAGES = 4 };

typedef struct vulkan_hazards {
  const vyre_allocator *allocator;
  struct vulkan_hazards *needs; /* borrowed: collects the uses that earlier commands must be ordered before, or NULL */
  vulkan_use *uses;             /* owned */
  uint32_t count, capacity;
  uint32_t next; /* index of the first use of the next command */
  uint32_t turn;
  uint32_t few;                                /* number of uses above which uses are joined */
  VkPipelineStageFlags through[VULKAN_STAGES]; /* by known stage: the stages ordered after that stage's commands before the list */
  VkBufferMemoryBarrier *barriers;             /* owned: room for the next barrier */
  uint32_t barrier_capacity;
  bool no_memory;
} vulkan_hazards;

/* Makes an empty list. Borrows the allocator. */
void vulkan_hazards_init(vulkan_hazards *hazards, const vyre_allocator *allocator, vulkan_hazards *needs);
void vulkan_hazards_free(vulkan_hazards *hazards);
/* Declare bytes or an image that the next command uses. Buffer 0 means any memory. */
void vulkan_hazards_use(vulkan_hazards *hazards, VkBuffer buffer, uint64_t first, uint64_t size, VkPipelineStageFlags stages,
                        VkAccessFlags access);
void vulkan_hazards_use_image(vulkan_hazards *hazards, VkImage image, VkPipelineStageFlags stages, VkAccessFlags access);
/* Records the barrier for the declared uses of the next command. If `is_beside`, it may overlap with the command before it. */
void vulkan_hazards_sync(vulkan_hazards *hazards, PFN_vkCmdPipelineBarrier record, VkCommandBuffer command, bool is_beside);
/* Insert a recording with its own list: enter records the barrier before it, leave adds its uses. */
void vulkan_hazards_enter(vulkan_hazards *hazards, const vulkan_hazards *needs, PFN_vkCmdPipelineBarrier record,
                          VkCommandBuffer command);
void vulkan_hazards_leave(vulkan_hazards *hazards, const vulkan_hazards *left);
/* Marks all uses that were not submitted yet as submitted with this batch. */
void vulkan_hazards_submitted(vulkan_hazards *hazards, uint64_t batch);
/* Ignores all barriers so far, because recorded commands are not submitted. After no_memory, the next command waits for all earlier
 * ones. */
void vulkan_hazards_dropped(vulkan_hazards *hazards);
/* Removes reads of that batch and earlier ones, because the host has waited for them. */
void vulkan_hazards_waited(vulkan_hazards *hazards, uint64_t batch);
/* Remove uses within these bytes or of the image, because the caller orders them or destroys the object. */
void vulkan_hazards_forget(vulkan_hazards *hazards, VkBuffer buffer, uint64_t first, uint64_t size);
void vulkan_hazards_forget_image(vulkan_hazards *hazards, VkImage image);

#endif
