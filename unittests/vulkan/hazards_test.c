/* Tests targets/vulkan/hazards.h alone: barriers of random commands, batches, waits of the host, and separately recorded commands
 * are checked by the model of watch_log.h.  The model is first compared with the specification.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "hazards.h" /* which has no prototypes of Vulkan's functions */

#include "watch_log.h"

enum {
  TRANSFER = VK_PIPELINE_STAGE_TRANSFER_BIT,
  COMPUTE = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
  INDIRECT = VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
  FILL = VK_ACCESS_TRANSFER_WRITE_BIT,
  COPY = VK_ACCESS_TRANSFER_READ_BIT,
  LOAD = VK_ACCESS_SHADER_READ_BIT,
  STORE = VK_ACCESS_SHADER_WRITE_BIT,
  INDIRECT_READ = VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
  BUFFERS = 3,
};

/* ---- the model alone ----------------------------------------------------------------------------------------------------- */

/* An entry of a log over one resource. */
typedef struct made {
  watch_kind kind;
  uint32_t queue;
  uint64_t first, end;           /* bytes of a command or a memory barrier; empty for an execution barrier */
  VkPipelineStageFlags from, to; /* `from` is also a command's stage */
  VkAccessFlags before, after;   /* `before` is also a command's access */
  uint64_t value;
  uint32_t group;
} made;

/* clang-format off */
#define USE_OF(stage, access, first_byte, end_byte, of, beside) \
  {.kind = WATCH_COMMAND, .queue = of, .first = first_byte, .end = end_byte, .from = stage, .before = access, .group = beside}
#define USE(stage, access)             USE_OF(stage, access, 0, 8, 0, 0)
#define BARRIER(stage1, stage2)        {.kind = WATCH_BARRIER, .from = stage1, .to = stage2}
#define MEMORY(bytes, stage1, stage2, access1, access2) \
  {.kind = WATCH_BARRIER, .end = bytes, .from = stage1, .to = stage2, .before = access1, .after = access2}
#define BATCH(is, of, number)          {.kind = WATCH_##is, .queue = of, .value = number}

enum { MOST_MADE = 5, GOOD = 0, HAZARD, IDLE };

/* A case ends before the first entry without a stage and a value. */
static const struct {
  uint32_t outcome;
  const char *what;
  made entries[MOST_MADE];
} cases[] = {
    {HAZARD, "nothing between a write and a read", {USE(TRANSFER, FILL), USE_OF(COMPUTE, LOAD, 4, 12, 0, 0)}},
    {GOOD, "other bytes", {USE(TRANSFER, FILL), USE_OF(COMPUTE, LOAD, 8, 12, 0, 0)}},
    {IDLE, "a barrier between two reads", {USE(COMPUTE, LOAD), BARRIER(COMPUTE, TRANSFER), USE(TRANSFER, COPY)}},
    {GOOD, "a write after a read needs order alone", {USE(COMPUTE, LOAD), BARRIER(COMPUTE, TRANSFER), USE(TRANSFER, FILL)}},
    {HAZARD, "a write after a write needs more", {USE(TRANSFER, FILL), BARRIER(TRANSFER, COMPUTE), USE(COMPUTE, STORE)}},
    {GOOD, "a memory barrier", {USE(TRANSFER, FILL), MEMORY(8, TRANSFER, COMPUTE, FILL, LOAD), USE(COMPUTE, LOAD)}},
    {HAZARD, "of half of the bytes", {USE(TRANSFER, FILL), MEMORY(4, TRANSFER, COMPUTE, FILL, LOAD), USE(COMPUTE, LOAD)}},
    {HAZARD, "after another stage", {USE(TRANSFER, FILL), MEMORY(8, COMPUTE, COMPUTE, FILL, LOAD), USE(COMPUTE, LOAD)}},
    {HAZARD, "to another access",
     {USE(TRANSFER, FILL), MEMORY(8, TRANSFER, COMPUTE, FILL, VK_ACCESS_UNIFORM_READ_BIT), USE(COMPUTE, LOAD)}},
    {GOOD, "the second barrier makes visible what the first one made available",
     {USE(TRANSFER, FILL), MEMORY(8, TRANSFER, COMPUTE, FILL, 0), MEMORY(8, COMPUTE, INDIRECT, 0, INDIRECT_READ),
      USE(INDIRECT, INDIRECT_READ)}},
    {GOOD, "a read of a later write needs no order with the earlier one",
     {USE(TRANSFER, FILL), MEMORY(8, TRANSFER, COMPUTE, FILL, STORE), USE(COMPUTE, STORE), MEMORY(8, COMPUTE, TRANSFER, STORE, COPY),
      USE(TRANSFER, COPY)}},
    {HAZARD, "two queues", {USE_OF(TRANSFER, FILL, 0, 8, 1, 0), BATCH(SIGNAL, 1, 3), USE(COMPUTE, LOAD)}},
    {GOOD, "a semaphore", {USE_OF(TRANSFER, FILL, 0, 8, 1, 0), BATCH(SIGNAL, 1, 3), BATCH(WAIT, 0, 3), USE(COMPUTE, LOAD)}},
    {HAZARD, "of an earlier batch", {USE_OF(TRANSFER, FILL, 0, 8, 1, 0), BATCH(SIGNAL, 1, 3), BATCH(WAIT, 0, 2), USE(COMPUTE, LOAD)}},
    {GOOD, "the host's wait orders reads", {USE(COMPUTE, LOAD), BATCH(SIGNAL, 0, 1), BATCH(KNOWN, 0, 1), USE(TRANSFER, FILL)}},
    {HAZARD, "and makes nothing visible", {USE(COMPUTE, STORE), BATCH(SIGNAL, 0, 1), BATCH(KNOWN, 0, 1), USE(TRANSFER, FILL)}},
    {GOOD, "steps that are beside each other",
     {USE(TRANSFER, FILL), MEMORY(8, TRANSFER, COMPUTE, FILL, STORE), USE_OF(COMPUTE, STORE, 0, 8, 0, 1),
      USE_OF(COMPUTE, STORE, 0, 8, 0, 1)}},
    {HAZARD, "and steps that are not",
     {USE(TRANSFER, FILL), MEMORY(8, TRANSFER, COMPUTE, FILL, STORE), USE_OF(COMPUTE, STORE, 0, 8, 0, 1),
      USE_OF(COMPUTE, STORE, 0, 8, 0, 2)}},
};
/* clang-format on */

static void
add_made(watch_log *log, const made *m)
{
  watch_entry *entry = watch_add(log, m->kind, m->queue, "entry");
  entry->value = m->value;
  entry->group = m->group;
  if (m->kind == WATCH_COMMAND)
    watch_add_use(log, (watch_use){1, m->first, m->end, m->from, m->before, (m->before & (FILL | STORE)) != 0});
  if (m->kind != WATCH_BARRIER)
    return;
  entry->from = m->from;
  entry->to = m->to;
  if (m->end)
    watch_add_part(log, (watch_part){1, m->first, m->end, m->before, m->after, false});
}

TEST(the_model_follows_the_specification)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    watch_log log = {0};
    watch_report report;
    for (const made *m = cases[i].entries; m < cases[i].entries + MOST_MADE && (m->from || m->value); m++)
      add_made(&log, m);
    watch_check(&log, true, &report);
    if ((report.hazards != 0) != (cases[i].outcome == HAZARD) || report.idle != (cases[i].outcome == IDLE))
      fail_msg("%s: %u hazards, %u idle: %s", cases[i].what, report.hazards, report.idle, report.text);
    watch_free(&log);
  }
}

/* ---- the lists compared with the model ----------------------------------------------------------------------------------- */

static watch_log *recorded; /* written by record() */

static VKAPI_ATTR void VKAPI_CALL
record(VkCommandBuffer command, VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t memory_count,
       const VkMemoryBarrier *memory, uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
       const VkImageMemoryBarrier *images)
{
  (void)command;
  (void)images;
  assert_int_equal(flags, 0);
  assert_int_equal(image_count, 0);
  add_made(recorded, &(made){.kind = WATCH_BARRIER, .from = from, .to = to});
  for (uint32_t i = 0; i < memory_count; i++)
    watch_add_part(recorded, (watch_part){WATCH_ANY, 0, UINT64_MAX, memory[i].srcAccessMask, memory[i].dstAccessMask, false});
  for (uint32_t i = 0; i < buffer_count; i++)
    watch_add_part(recorded,
                   (watch_part){(uint32_t)(uintptr_t)buffers[i].buffer, buffers[i].offset, buffers[i].offset + buffers[i].size,
                                buffers[i].srcAccessMask, buffers[i].dstAccessMask, false});
}

/* MANY adds so many uses that a list joins them, and some of any memory.  The barriers of MANY need not be exact. */
typedef enum round_kind { ALONE, REPLAYED, MANY } round_kind;

typedef struct fixture {
  round_kind kind;
  uint32_t random, width; /* words of each buffer */
  vulkan_hazards queue, needs, left, *list;
  watch_log log, commands;
  uint64_t submitted;
} fixture;

static uint32_t
draw(fixture *f, uint32_t below)
{
  f->random = f->random * 1664525u + 1013904223u;
  return (f->random >> 10) % below;
}

static void
use_one(fixture *f, uint32_t buffers, VkPipelineStageFlags stage, VkAccessFlags access)
{
  const uint32_t buffer = 1 + draw(f, buffers), first = draw(f, f->width),
                 size = 1 + draw(f, f->width - first < 8 ? f->width - first : 8);
  const watch_use use = {buffer, 4 * (uint64_t)first, 4 * (uint64_t)(first + size), stage, access, (access & (FILL | STORE)) != 0};
  vulkan_hazards_use(f->list, (VkBuffer)(uintptr_t)buffer, use.first, use.end - use.first, stage, access);
  watch_add_use(&f->commands, use);
}

/* Adds a kernel that may use any memory. */
static void
use_any(fixture *f)
{
  vulkan_hazards_use(f->list, VK_NULL_HANDLE, 0, UINT64_MAX, COMPUTE, LOAD | STORE);
  watch_add_use(&f->commands, (watch_use){WATCH_ANY, 0, UINT64_MAX, COMPUTE, LOAD | STORE, true});
}

/* Adds a copy or a kernel.  A kernel may read its groups from a buffer that it does not use otherwise. */
static void
use_some(fixture *f)
{
  static const VkAccessFlags accesses[] = {LOAD | STORE, LOAD, VK_ACCESS_UNIFORM_READ_BIT};
  if (draw(f, 3) == 0) {
    use_one(f, BUFFERS, TRANSFER, draw(f, 2) ? FILL : COPY);
    return;
  }
  const bool is_indirect = draw(f, 4) == 0;
  for (uint32_t i = 1 + draw(f, 3); i > 0; i--)
    use_one(f, is_indirect ? BUFFERS - 1 : BUFFERS, COMPUTE, accesses[draw(f, 3)]);
  if (is_indirect) {
    const watch_use use = {BUFFERS, 0, 4, INDIRECT, INDIRECT_READ, false};
    vulkan_hazards_use(f->list, (VkBuffer)(uintptr_t)use.resource, 0, 4, use.stage, use.access);
    watch_add_use(&f->commands, use);
  }
}

/* Adds a random command, before which the list records its barrier. */
static void
add_random_command(fixture *f, bool is_atomic, bool is_beside)
{
  f->commands = (watch_log){0};
  watch_add(&f->commands, WATCH_COMMAND, 0, "command");
  if (is_atomic)
    use_one(f, BUFFERS, COMPUTE, LOAD | STORE);
  else if (f->kind == MANY && draw(f, 40) == 0)
    use_any(f);
  else
    use_some(f);
  vulkan_hazards_sync(f->list, record, VK_NULL_HANDLE, is_beside);
  recorded->group_count += !is_beside;
  watch_add(recorded, WATCH_COMMAND, 0, "command")->group = recorded->group_count;
  for (uint32_t i = 0; i < f->commands.use_count; i++)
    watch_add_use(recorded, f->commands.uses[i]);
  watch_free(&f->commands);
}

/* Adds random commands.  Commands beside each other are atomics. */
static void
add_random_commands(fixture *f, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t others = draw(f, 6) == 0 ? 1 + draw(f, 3) : 0;
    add_random_command(f, others != 0, false);
    for (uint32_t k = 0; k < others; k++)
      add_random_command(f, true, true);
  }
}

static void
submit_batch(fixture *f)
{
  vulkan_hazards_submitted(&f->queue, ++f->submitted);
  watch_add(&f->log, WATCH_SIGNAL, 0, "batch")->value = f->submitted;
  if (draw(f, 2)) {
    const uint64_t done = f->submitted - (f->submitted > 1 && draw(f, 2));
    vulkan_hazards_waited(&f->queue, done);
    watch_add(&f->log, WATCH_KNOWN, 0, "batch")->value = done;
  }
}

/* Runs commands that were recorded once `times` times, each time with other commands before and after. */
static void
replay(fixture *f, uint32_t times)
{
  const vyre_allocator *allocator = vyre_allocator_default();
  watch_log own = {0};
  vulkan_hazards_init(&f->needs, allocator, NULL);
  vulkan_hazards_init(&f->left, allocator, &f->needs);
  f->list = &f->left;
  recorded = &own;
  add_random_commands(f, f->kind == MANY ? 100 : 1 + draw(f, 6));
  f->list = &f->queue;
  recorded = &f->log;
  for (uint32_t i = 0; i < times; i++) {
    add_random_commands(f, draw(f, 3));
    vulkan_hazards_enter(&f->queue, &f->needs, record, VK_NULL_HANDLE);
    watch_append(&f->log, &own, 0);
    vulkan_hazards_leave(&f->queue, &f->left);
    add_random_commands(f, draw(f, 2));
    submit_batch(f);
  }
  vulkan_hazards_free(&f->needs);
  vulkan_hazards_free(&f->left);
  watch_free(&own);
}

/* Runs `count` rounds, and requires more than `least` barriers. */
static void
run_rounds(round_kind kind, uint32_t count, uint32_t least)
{
  watch_report all = {0};
  for (uint32_t round = 0; round < count; round++) {
    fixture f = {.kind = kind, .random = round, .width = kind == MANY ? 256 : 8};
    vulkan_hazards_init(&f.queue, vyre_allocator_default(), NULL);
    f.list = &f.queue;
    recorded = &f.log;
    for (uint32_t i = 0; i < 5; i++) {
      if (kind != ALONE)
        replay(&f, 1 + draw(&f, 3));
      add_random_commands(&f, kind == MANY ? 100 : 8);
      submit_batch(&f);
    }
    watch_report report;
    watch_check(&f.log, kind != MANY, &report);
    if (report.hazards || report.idle)
      fail_msg("round %u: %u hazards, %u idle: %s", round, report.hazards, report.idle, report.text);
    all.barriers += report.barriers;
    all.parts += report.parts;
    all.pure += report.pure;
    vulkan_hazards_free(&f.queue);
    watch_free(&f.log);
  }
  assert_true(all.barriers > least && (kind == MANY || (all.parts > least && all.pure > 50)));
}

TEST(barriers_of_a_list_are_needed_and_complete)
{
  run_rounds(ALONE, 200, 1000);
}

TEST(barriers_of_recordings_are_needed_and_complete)
{
  run_rounds(REPLAYED, 100, 1000);
}

TEST(barriers_of_joined_uses_are_complete)
{
  run_rounds(MANY, 5, 500);
}
