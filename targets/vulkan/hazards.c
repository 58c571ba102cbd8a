/* Tracks memory uses, and records barriers.  hazards.h describes the rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "hazards.h"

#include "../common/base.h"

#include <string.h>

/* The pipeline stages of the commands that the target records. */
static const VkPipelineStageFlags known_stages[VULKAN_STAGES] = {VK_PIPELINE_STAGE_TRANSFER_BIT,
                                                                 VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                                                 VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_PIPELINE_STAGE_HOST_BIT};
static const VkAccessFlags writing = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_WRITE_BIT;

void
vulkan_hazards_init(vulkan_hazards *hazards, const vyre_allocator *allocator, vulkan_hazards *needs)
{
  *hazards = (vulkan_hazards){.allocator = allocator, .needs = needs, .few = VULKAN_FEW_USES};
}

void
vulkan_hazards_free(vulkan_hazards *hazards)
{
  vyre_release(hazards->allocator, hazards->uses, sizeof *hazards->uses * hazards->capacity);
  vyre_release(hazards->allocator, hazards->barriers, sizeof *hazards->barriers * hazards->barrier_capacity);
  vulkan_hazards_init(hazards, hazards->allocator, hazards->needs);
}

/* ---- uses ---------------------------------------------------------------------------------------------------------------- */

static bool
is_same_memory(const vulkan_use *a, const vulkan_use *b)
{
  return a->buffer == b->buffer && a->image == b->image;
}

static bool
is_any_memory(const vulkan_use *use)
{
  return !use->buffer && !use->image;
}

static bool
covers(const vulkan_use *a, const vulkan_use *b)
{
  return is_any_memory(a) || (is_same_memory(a, b) && a->first <= b->first && a->end >= b->end);
}

static bool
overlaps(const vulkan_use *a, const vulkan_use *b)
{
  return is_any_memory(a) || is_any_memory(b) || (is_same_memory(a, b) && a->first < b->end && b->first < a->end);
}

/* Returns whether `new` makes `old` redundant: each command that must wait for `old` also waits for `new`. */
static bool
replaces(const vulkan_use *new, const vulkan_use *old)
{
  return covers(new, old) && (new->writes || (!old->writes && (old->stages & ~new->stages) == 0));
}

static void
add(vulkan_hazards *hazards, const vulkan_use *use)
{
  if (use->first >= use->end)
    return;
  if (vyre_grow(hazards->allocator, &hazards->uses, &hazards->capacity, hazards->count + 1, sizeof *hazards->uses))
    hazards->uses[hazards->count++] = *use;
  else
    hazards->no_memory = true;
}

/* Joins uses of the same memory and turn: its reads, and its writes. */
static void
join(vulkan_hazards *hazards)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < hazards->count; i++) {
    const vulkan_use *use = &hazards->uses[i];
    uint32_t at = 0;
    while (at < kept && !(is_same_memory(&hazards->uses[at], use) && hazards->uses[at].writes == use->writes &&
                          hazards->uses[at].turn == use->turn))
      at++;
    vulkan_use *to = &hazards->uses[at];
    if (at == kept) {
      hazards->uses[kept++] = *use;
      continue;
    }
    to->first = use->first < to->first ? use->first : to->first;
    to->end = use->end > to->end ? use->end : to->end;
    to->stages |= use->stages;
    to->access |= use->access;
    to->seen_stages &= use->seen_stages;
    to->seen_access &= use->seen_access;
    to->given &= use->given;
    to->batch = use->batch && to->batch ? (use->batch > to->batch ? use->batch : to->batch) : 0;
  }
  hazards->count = kept;
  if (2 * kept > hazards->few)
    hazards->few = 4 * kept;
}

static const uint32_t JOINED = UINT32_MAX; /* the turn of a need whose range may have unused bytes */

/* Adds the bytes of `use` that no earlier command of the list writes. Extends an adjacent need of the same kind if there is one. */
static void
add_need(vulkan_hazards *needs, vulkan_use use)
{
  for (uint32_t i = 0; i < needs->count; i++) {
    const vulkan_use need = needs->uses[i];
    if (!need.writes || need.turn == JOINED || need.turn == use.turn || is_any_memory(&use) || !overlaps(&need, &use))
      continue;
    if (use.first < need.first) {
      vulkan_use part = use;
      part.end = need.first;
      add_need(needs, part);
    }
    if (use.end <= need.end)
      return;
    use.first = need.end;
  }
  for (uint32_t i = 0; i < needs->count; i++) {
    vulkan_use *need = &needs->uses[i];
    if (!is_same_memory(need, &use) || need->stages != use.stages || need->access != use.access || need->given != use.given ||
        use.first > need->end || need->first > use.end)
      continue;
    need->first = use.first < need->first ? use.first : need->first;
    need->end = use.end > need->end ? use.end : need->end;
    need->turn = need->turn == JOINED ? JOINED : use.turn;
    return;
  }
  add(needs, &use);
  if (needs->count <= needs->few)
    return;
  for (uint32_t i = 0; i < needs->count; i++)
    needs->uses[i].turn = JOINED;
  join(needs);
}

/* Adds a use of the next command. Merges it with adjacent or overlapping uses of the same kind. */
static void
add_new(vulkan_hazards *hazards, vulkan_use use)
{
  for (uint32_t i = hazards->next; i < hazards->count;) {
    const vulkan_use other = hazards->uses[i++];
    if (!is_same_memory(&other, &use) || other.stages != use.stages || other.access != use.access || other.first > use.end ||
        use.first > other.end)
      continue;
    use.first = other.first < use.first ? other.first : use.first;
    use.end = other.end > use.end ? other.end : use.end;
    hazards->uses[--i] = hazards->uses[--hazards->count];
    i = hazards->next;
  }
  add(hazards, &use);
}

void
vulkan_hazards_use(vulkan_hazards *hazards, VkBuffer buffer, uint64_t first, uint64_t size, VkPipelineStageFlags stages,
                   VkAccessFlags access)
{
  const vulkan_use use = {
      .buffer = buffer, .first = first, .end = first + size, .stages = stages, .access = access, .writes = (access & writing) != 0};
  add_new(hazards, use);
}

void
vulkan_hazards_use_image(vulkan_hazards *hazards, VkImage image, VkPipelineStageFlags stages, VkAccessFlags access)
{
  const vulkan_use use = {.image = image, .end = 1, .stages = stages, .access = access, .writes = (access & writing) != 0};
  add_new(hazards, use);
}

/* ---- barriers ------------------------------------------------------------------------------------------------------------ */

typedef struct collected {
  VkPipelineStageFlags from, to;
  VkAccessFlags any_from, any_to; /* for images and for any memory */
  uint32_t buffers;
} collected;

static bool
is_ordered(const vulkan_use *old, const vulkan_use *new)
{
  const bool is_after = (new->stages & ~old->seen_stages) == 0 || (old->stages & ~new->given) == 0;
  return is_after && (!old->writes || (new->access & ~old->seen_access) == 0);
}

/* Notes an execution dependency. It also orders commands that were already ordered before stages in `from`. */
static void
pass_barrier(vulkan_hazards *hazards, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
  for (uint32_t i = 0; i < hazards->next; i++) {
    vulkan_use *use = &hazards->uses[i];
    if ((use->stages & ~from) == 0 || (use->seen_stages & from))
      use->seen_stages |= to;
  }
  for (uint32_t i = 0; i < VULKAN_STAGES; i++)
    if ((known_stages[i] | hazards->through[i]) & from)
      hazards->through[i] |= to;
}

/* Adds a dependency of `new` on `old` to the barrier. */
static void
collect(vulkan_hazards *hazards, vulkan_use *old, const vulkan_use *new, collected *all)
{
  all->from |= old->stages;
  all->to |= new->stages;
  if (old->writes && !old->buffer) {
    all->any_from |= old->access & writing;
    all->any_to |= new->access;
  } else if (old->writes) {
    for (uint32_t i = 0; i < all->buffers; i++) {
      VkBufferMemoryBarrier *barrier = &hazards->barriers[i];
      if (barrier->buffer == old->buffer && barrier->offset == old->first && barrier->size == old->end - old->first) {
        barrier->dstAccessMask |= new->access;
        old->seen_access |= new->access;
        return;
      }
    }
    if (!vyre_grow(hazards->allocator, &hazards->barriers, &hazards->barrier_capacity, all->buffers + 1,
                   sizeof *hazards->barriers)) {
      hazards->no_memory = true;
      return;
    }
    hazards->barriers[all->buffers++] = (VkBufferMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = old->access & writing,
        .dstAccessMask = new->access,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = old->buffer,
        .offset = old->first,
        .size = old->end - old->first,
    };
  }
  old->seen_access |= new->access;
}

/* Returns the use with `given` set from the list's barriers so far. */
static vulkan_use
with_given(const vulkan_hazards *hazards, vulkan_use use)
{
  for (uint32_t i = 0; i < VULKAN_STAGES; i++)
    if ((use.stages & ~hazards->through[i]) == 0)
      use.given |= known_stages[i];
  return use;
}

/* Removes the bytes that `new` writes from the use `index`, which may split that use in two. Within a turn, this requires that
 * `new` has all stages and accesses of the old use. */
static void
cut_use(vulkan_hazards *hazards, uint32_t index, const vulkan_use *new)
{
  vulkan_use *old = &hazards->uses[index];
  if (!new->writes || is_any_memory(new) || !is_same_memory(old, new) || !overlaps(old, new) || covers(new, old) ||
      (old->turn == new->turn && ((old->stages & ~new->stages) || (old->access & ~new->access))))
    return;
  vulkan_use rest = *old;
  rest.first = new->end;
  if (old->first >= new->first) {
    old->first = new->end;
  } else {
    old->end = new->first;
    add(hazards, &rest);
  }
}

/* Removes uses that `new` makes redundant among the first `count`. Returns the number of remaining ones. */
static uint32_t
replace(vulkan_hazards *hazards, uint32_t count, const vulkan_use *new)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!replaces(new, &hazards->uses[i]))
      hazards->uses[kept++] = hazards->uses[i];
  return kept;
}

/* Adds the uses of the next command, from `next` on, to those of the commands so far. */
static void
settle(vulkan_hazards *hazards)
{
  const uint32_t first = hazards->next, count = hazards->count, new_count = count - first;
  hazards->next = count;
  if (new_count == 0 || hazards->no_memory)
    return;
  for (uint32_t i = first; i < count; i++) {
    hazards->uses[i].turn = hazards->turn;
    const vulkan_use use = hazards->uses[i];
    for (uint32_t k = 0; k < hazards->count; k++)
      if (k < first || k >= count) /* the second parts of split uses are at the end */
        cut_use(hazards, k, &use);
    if (hazards->needs && !use.image) /* images.c orders images after earlier commands */
      add_need(hazards->needs, with_given(hazards, use));
  }
  for (uint32_t i = first; i < count; i++) { /* moves the new uses to the end */
    const vulkan_use use = hazards->uses[i];
    add(hazards, &use);
  }
  hazards->next = hazards->count;
  if (hazards->no_memory)
    return;
  hazards->count -= new_count;
  memmove(&hazards->uses[first], &hazards->uses[count], sizeof *hazards->uses * (hazards->count - first));
  uint32_t kept = hazards->count - new_count;
  for (uint32_t i = kept; i < hazards->count; i++) {
    const vulkan_use use = hazards->uses[i];
    kept = replace(hazards, kept, &use);
  }
  memmove(&hazards->uses[kept], &hazards->uses[hazards->count - new_count], sizeof *hazards->uses * new_count);
  hazards->count = kept += new_count;
  if (kept > hazards->few) {
    for (uint32_t i = 0; i < kept; i++)
      hazards->uses[i].turn = hazards->uses[i].turn == hazards->turn ? hazards->turn : 0;
    join(hazards);
  }
  hazards->next = hazards->count;
}

/* Records the barrier for the uses from `next` on. */
static void
record_barrier(vulkan_hazards *hazards, PFN_vkCmdPipelineBarrier record, VkCommandBuffer command)
{
  collected all = {0};
  for (uint32_t i = hazards->next; i < hazards->count; i++) {
    const vulkan_use *new = &hazards->uses[i];
    for (uint32_t k = 0; k < hazards->next; k++) {
      vulkan_use *old = &hazards->uses[k];
      if ((new->writes || old->writes) && old->turn != hazards->turn && overlaps(old, new) && !is_ordered(old, new))
        collect(hazards, old, new, &all);
    }
  }
  if (!all.from || hazards->no_memory)
    return;
  const VkMemoryBarrier any = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = all.any_from, .dstAccessMask = all.any_to};
  pass_barrier(hazards, all.from, all.to);
  record(command, all.from, all.to, 0, all.any_from ? 1 : 0, &any, all.buffers, hazards->barriers, 0, NULL);
}

void
vulkan_hazards_sync(vulkan_hazards *hazards, PFN_vkCmdPipelineBarrier record, VkCommandBuffer command, bool is_beside)
{
  hazards->turn += !is_beside;
  record_barrier(hazards, record, command);
  settle(hazards);
}

/* ---- lists --------------------------------------------------------------------------------------------------------------- */

void
vulkan_hazards_enter(vulkan_hazards *hazards, const vulkan_hazards *needs, PFN_vkCmdPipelineBarrier record, VkCommandBuffer command)
{
  for (uint32_t i = 0; i < needs->count; i++)
    add(hazards, &needs->uses[i]);
  hazards->turn++;
  record_barrier(hazards, record, command);
  hazards->count = hazards->next;
}

void
vulkan_hazards_leave(vulkan_hazards *hazards, const vulkan_hazards *left)
{
  for (uint32_t i = 0; i < hazards->next; i++) {
    vulkan_use *use = &hazards->uses[i];
    VkPipelineStageFlags all = ~(VkPipelineStageFlags)0, seen = 0;
    for (uint32_t s = 0; s < VULKAN_STAGES; s++) {
      all &= use->stages & known_stages[s] ? left->through[s] : all;
      seen |= use->seen_stages & known_stages[s] ? left->through[s] : 0;
    }
    use->seen_stages |= all | seen;
  }
  for (uint32_t i = 0; i < left->count; i++)
    add(hazards, &left->uses[i]);
  hazards->turn++;
  settle(hazards);
}

void
vulkan_hazards_submitted(vulkan_hazards *hazards, uint64_t batch)
{
  for (uint32_t i = 0; i < hazards->count; i++)
    hazards->uses[i].batch = hazards->uses[i].batch ? hazards->uses[i].batch : batch;
}

/* Replaces the uses by a write of any memory, because memory ran out and uses of submitted commands may be missing. */
static void
restore(vulkan_hazards *hazards)
{
  const vulkan_use anything = {.end = UINT64_MAX,
                               .stages = VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                         VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                               .access = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                               .writes = true};
  hazards->no_memory = false;
  hazards->count = 0;
  if (hazards->capacity) /* otherwise there was no use */
    add(hazards, &anything);
}

void
vulkan_hazards_dropped(vulkan_hazards *hazards)
{
  if (hazards->no_memory)
    restore(hazards);
  for (uint32_t i = 0; i < hazards->count; i++)
    hazards->uses[i].seen_stages = hazards->uses[i].seen_access = 0;
  hazards->next = hazards->count;
}

void
vulkan_hazards_waited(vulkan_hazards *hazards, uint64_t batch)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < hazards->count; i++) {
    const vulkan_use *use = &hazards->uses[i];
    if (use->writes || use->batch == 0 || use->batch > batch)
      hazards->uses[kept++] = *use;
  }
  hazards->count = hazards->next = kept;
}

static void
forget(vulkan_hazards *hazards, const vulkan_use *ordered)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < hazards->count; i++)
    if (!covers(ordered, &hazards->uses[i]))
      hazards->uses[kept++] = hazards->uses[i];
  hazards->count = hazards->next = kept;
}

void
vulkan_hazards_forget(vulkan_hazards *hazards, VkBuffer buffer, uint64_t first, uint64_t size)
{
  forget(hazards, &(vulkan_use){.buffer = buffer, .first = first, .end = size > UINT64_MAX - first ? UINT64_MAX : first + size});
}

void
vulkan_hazards_forget_image(vulkan_hazards *hazards, VkImage image)
{
  forget(hazards, &(vulkan_use){.image = image, .end = 1});
}
