/* What commands of one queue did to memory and what orders them: exactly the barriers that they need, and no others.
 *
 * Each command says what it is about to use (vulkan_hazards_use), then vulkan_hazards_sync records the barrier that these uses need
 * after those of the commands before it, if they need one.  Two uses of the same bytes need one if one of them writes (Vulkan 1.2
 * specification, 7.1: execution and memory dependencies): the bytes that were written are made available and visible; a write after
 * reads alone waits for them, and nothing is flushed.  What a barrier already made visible to a stage needs no other one for it.
 *
 * An execution dependency is of all commands of its stages, whatever it is there for: who is ordered by one needs no other, also
 * where it was recorded in a list of its own.
 *
 * What comes before a recording is not known when it is recorded.  So its list notes in `needs` what its commands use that none of
 * them wrote before, and the barrier for these is recorded when the recording is submitted.  Its own barriers order what came
 * before it, too: after one from COMPUTE to TRANSFER a copy comes after every kernel there was, so the copy's need has COMPUTE in
 * `given`, and wants a barrier only if a copy wrote there before.  `through` is the same for the list as a whole.
 *
 * A list has few uses: what is used anew takes the place of what it covers.  Beyond VULKAN_FEW_USES those of one buffer are joined,
 * so that a use costs the number of buffers at most; then a barrier may stand where none was needed, never the other way round.
 *
 * Threads: a list is its target's.  Errors: without memory the list says so (no_memory) until what was recorded is dropped, which
 * is not to be used.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_VULKAN_HAZARDS_H
#define VYRE_TARGETS_VULKAN_HAZARDS_H

#include "vyre/status.h"

#include <volk.h>

enum { VULKAN_FEW_USES = 64 };

/* A buffer's bytes; a whole image; without either, any bytes there are. */
typedef struct vulkan_use {
  VkBuffer buffer;
  VkImage image;
  uint64_t first, end;
  VkPipelineStageFlags stages;
  VkAccessFlags access;
  bool writes;
  VkPipelineStageFlags seen_stages; /* a barrier after it ordered these, */
  VkAccessFlags seen_access;        /* and made visible to these what it wrote */
  VkPipelineStageFlags given;       /* of what a list needs: barriers of the list order these, of before the list, before it */
  uint32_t turn;                    /* of the command; those of one are beside each other */
  uint64_t batch;                   /* what was given to the queue with it; 0: nothing yet */
} vulkan_use;

enum { VULKAN_STAGES = 4 };

typedef struct vulkan_hazards {
  const vyre_allocator *allocator;
  struct vulkan_hazards *needs; /* notes all uses, whatever came of them; NULL: nobody asks */
  vulkan_use *uses;
  uint32_t count, capacity;
  uint32_t next; /* uses of the next command are at the end, from here on */
  uint32_t turn;
  uint32_t few;                                /* joined beyond */
  VkPipelineStageFlags through[VULKAN_STAGES]; /* what its barriers order after uses from before it, of each stage */
  VkBufferMemoryBarrier *barriers;
  uint32_t barrier_capacity;
  bool no_memory;
} vulkan_hazards;

/* Empty; the allocator stays where it is. */
void vulkan_hazards_init(vulkan_hazards *hazards, const vyre_allocator *allocator, vulkan_hazards *needs);
void vulkan_hazards_free(vulkan_hazards *hazards);
/* The next command uses these; `size` bytes.  Buffer 0: any bytes there are. */
void vulkan_hazards_use(vulkan_hazards *hazards, VkBuffer buffer, uint64_t first, uint64_t size, VkPipelineStageFlags stages,
                        VkAccessFlags access);
void vulkan_hazards_use_image(vulkan_hazards *hazards, VkImage image, VkPipelineStageFlags stages, VkAccessFlags access);
/* The barrier before that command, which is recorded next.  `is_beside`: it does not wait for the command before it. */
void vulkan_hazards_sync(vulkan_hazards *hazards, PFN_vkCmdPipelineBarrier record, VkCommandBuffer command, bool is_beside);
/* Commands that were recorded by themselves come next: the barrier before all of them, by the list of what they need; then what
 * they leave, by their own list. */
void vulkan_hazards_enter(vulkan_hazards *hazards, const vulkan_hazards *needs, PFN_vkCmdPipelineBarrier record,
                          VkCommandBuffer command);
void vulkan_hazards_leave(vulkan_hazards *hazards, const vulkan_hazards *left);
/* All that is there was given to the queue with this batch, or before. */
void vulkan_hazards_submitted(vulkan_hazards *hazards, uint64_t batch);
/* It was not: barriers that were recorded do not count.  Where there was no memory, what comes next waits for all that came before.
 */
void vulkan_hazards_dropped(vulkan_hazards *hazards);
/* The host waited for that batch: what was read in it needs no order any more. */
void vulkan_hazards_waited(vulkan_hazards *hazards, uint64_t batch);
/* Something else ordered all uses of these bytes. */
void vulkan_hazards_forget(vulkan_hazards *hazards, VkBuffer buffer, uint64_t first, uint64_t size);
void vulkan_hazards_forget_image(vulkan_hazards *hazards, VkImage image);

#endif
