/* The lists of targets/vulkan/hazards.h by themselves: random commands, batches, waits of the host, and commands that were recorded
 * by themselves, against the model of watch_log.h, which is held against what the specification says first.
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
  BUFFERS = 3,
};

/* ---- the model by itself ------------------------------------------------------------------------------------------------- */

static void
add_command(watch_log *log, uint32_t queue, uint64_t first, uint64_t end, VkPipelineStageFlags stage, VkAccessFlags access)
{
  watch_add(log, WATCH_COMMAND, queue, "command");
  watch_add_use(log, (watch_use){1, first, end, stage, access, (access & (FILL | STORE)) != 0});
}

static void
add_barrier(watch_log *log, uint32_t queue, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
  watch_entry *entry = watch_add(log, WATCH_BARRIER, queue, "barrier");
  entry->from = from;
  entry->to = to;
}

static void
add_value(watch_log *log, watch_kind kind, uint32_t queue, uint64_t value)
{
  watch_add(log, kind, queue, "batch")->value = value;
}

static void
expect(watch_log *log, bool has_hazards, uint32_t idle)
{
  watch_report report;
  watch_check(log, true, &report);
  if ((report.hazards != 0) != has_hazards || report.idle != idle)
    fail_msg("%u hazards, %u idle: %s", report.hazards, report.idle, report.text);
  watch_free(log);
}

TEST(the_model_knows_what_a_hazard_is)
{
  watch_log log = {0};
  add_command(&log, 0, 0, 8, TRANSFER, FILL); /* nothing between a write and a read */
  add_command(&log, 0, 4, 12, COMPUTE, LOAD);
  expect(&log, true, 0);
  add_command(&log, 0, 0, 8, TRANSFER, FILL); /* other bytes */
  add_command(&log, 0, 8, 12, COMPUTE, LOAD);
  expect(&log, false, 0);
  add_command(&log, 0, 0, 8, COMPUTE, LOAD); /* two reads, and a barrier for nothing */
  add_barrier(&log, 0, COMPUTE, TRANSFER);
  add_command(&log, 0, 0, 8, TRANSFER, COPY);
  expect(&log, false, 1);
  add_command(&log, 0, 0, 8, COMPUTE, LOAD); /* a write after a read needs order alone */
  add_barrier(&log, 0, COMPUTE, TRANSFER);
  add_command(&log, 0, 0, 8, TRANSFER, FILL);
  expect(&log, false, 0);
  add_command(&log, 0, 0, 8, TRANSFER, FILL); /* order alone is not enough for a write after a write */
  add_barrier(&log, 0, TRANSFER, COMPUTE);
  add_command(&log, 0, 0, 8, COMPUTE, STORE);
  expect(&log, true, 0);
}

static void
add_memory_barrier(watch_log *log, uint64_t first, uint64_t end, VkPipelineStageFlags from, VkPipelineStageFlags to,
                   VkAccessFlags from_access, VkAccessFlags to_access)
{
  add_barrier(log, 0, from, to);
  watch_add_part(log, (watch_part){1, first, end, from_access, to_access, false});
}

TEST(the_model_knows_what_a_memory_barrier_does)
{
  watch_log log = {0};
  add_command(&log, 0, 0, 8, TRANSFER, FILL);
  add_memory_barrier(&log, 0, 8, TRANSFER, COMPUTE, FILL, LOAD);
  add_command(&log, 0, 0, 8, COMPUTE, LOAD);
  expect(&log, false, 0);
  add_command(&log, 0, 0, 8, TRANSFER, FILL);
  add_memory_barrier(&log, 0, 4, TRANSFER, COMPUTE, FILL, LOAD); /* half of the bytes */
  add_command(&log, 0, 0, 8, COMPUTE, LOAD);
  expect(&log, true, 0);
  add_command(&log, 0, 0, 8, TRANSFER, FILL);
  add_memory_barrier(&log, 0, 8, COMPUTE, COMPUTE, FILL, LOAD); /* after another stage */
  add_command(&log, 0, 0, 8, COMPUTE, LOAD);
  expect(&log, true, 0);
  add_command(&log, 0, 0, 8, TRANSFER, FILL);
  add_memory_barrier(&log, 0, 8, TRANSFER, COMPUTE, FILL, VK_ACCESS_UNIFORM_READ_BIT); /* to another access */
  add_command(&log, 0, 0, 8, COMPUTE, LOAD);
  expect(&log, true, 0);
  add_command(&log, 0, 0, 8, TRANSFER, FILL); /* a chain: the second barrier makes visible what the first made available */
  add_memory_barrier(&log, 0, 8, TRANSFER, COMPUTE, FILL, 0);
  add_memory_barrier(&log, 0, 8, COMPUTE, INDIRECT, 0, VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
  add_command(&log, 0, 0, 8, INDIRECT, VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
  expect(&log, false, 0);
  add_command(&log, 0, 0, 8, TRANSFER, FILL); /* what was written over needs no order with who reads the later write */
  add_memory_barrier(&log, 0, 8, TRANSFER, COMPUTE, FILL, STORE);
  add_command(&log, 0, 0, 8, COMPUTE, STORE);
  add_memory_barrier(&log, 0, 8, COMPUTE, TRANSFER, STORE, COPY);
  add_command(&log, 0, 0, 8, TRANSFER, COPY);
  expect(&log, false, 0);
}

TEST(the_model_knows_queues_and_the_host)
{
  watch_log log = {0};
  for (uint32_t waits = 0; waits < 2; waits++) {
    add_command(&log, 1, 0, 8, TRANSFER, FILL);
    add_value(&log, WATCH_SIGNAL, 1, 3);
    if (waits)
      add_value(&log, WATCH_WAIT, 0, 3);
    add_command(&log, 0, 0, 8, COMPUTE, LOAD);
    expect(&log, !waits, 0);
  }
  add_command(&log, 1, 0, 8, TRANSFER, FILL); /* an earlier batch is waited for */
  add_value(&log, WATCH_SIGNAL, 1, 3);
  add_value(&log, WATCH_WAIT, 0, 2);
  add_command(&log, 0, 0, 8, COMPUTE, LOAD);
  expect(&log, true, 0);
  for (uint32_t writes = 0; writes < 2; writes++) { /* the host's wait orders reads, and makes nothing visible */
    add_command(&log, 0, 0, 8, COMPUTE, writes ? STORE : LOAD);
    add_value(&log, WATCH_SIGNAL, 0, 1);
    add_value(&log, WATCH_KNOWN, 0, 1);
    add_command(&log, 0, 0, 8, TRANSFER, FILL);
    expect(&log, writes, 0);
  }
  for (uint32_t apart = 0; apart < 2; apart++) { /* steps that are beside each other, and what is before and after them */
    add_command(&log, 0, 0, 8, TRANSFER, FILL);
    add_memory_barrier(&log, 0, 8, TRANSFER, COMPUTE, FILL, STORE);
    for (uint32_t i = 0; i < 2; i++) {
      add_command(&log, 0, 0, 8, COMPUTE, STORE);
      log.entries[log.entry_count - 1].group = apart ? i + 1 : 1;
    }
    expect(&log, apart, 0);
  }
}

/* ---- the lists against it ------------------------------------------------------------------------------------------------ */

static watch_log *recorded; /* by the function that the list calls */

static VKAPI_ATTR void VKAPI_CALL
record(VkCommandBuffer command, VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t memory_count,
       const VkMemoryBarrier *memory, uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
       const VkImageMemoryBarrier *images)
{
  (void)command;
  (void)images;
  assert_int_equal(flags, 0);
  assert_int_equal(image_count, 0);
  add_barrier(recorded, 0, from, to);
  for (uint32_t i = 0; i < memory_count; i++)
    watch_add_part(recorded, (watch_part){WATCH_ANY, 0, UINT64_MAX, memory[i].srcAccessMask, memory[i].dstAccessMask, false});
  for (uint32_t i = 0; i < buffer_count; i++)
    watch_add_part(recorded,
                   (watch_part){(uint32_t)(uintptr_t)buffers[i].buffer, buffers[i].offset, buffers[i].offset + buffers[i].size,
                                buffers[i].srcAccessMask, buffers[i].dstAccessMask, false});
}

/* MANY: so many that a list joins them, and some of any memory, whose barriers need not be exact. */
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

/* A kernel that may use whatever there is. */
static void
use_any(fixture *f)
{
  vulkan_hazards_use(f->list, VK_NULL_HANDLE, 0, UINT64_MAX, COMPUTE, LOAD | STORE);
  watch_add_use(&f->commands, (watch_use){WATCH_ANY, 0, UINT64_MAX, COMPUTE, LOAD | STORE, true});
}

/* A copy, or a kernel, which may take its groups from a buffer that it does not use besides. */
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
    const watch_use use = {BUFFERS, 0, 4, INDIRECT, VK_ACCESS_INDIRECT_COMMAND_READ_BIT, false};
    vulkan_hazards_use(f->list, (VkBuffer)(uintptr_t)use.resource, 0, 4, use.stage, use.access);
    watch_add_use(&f->commands, use);
  }
}

/* Its barrier comes first, which the list knows when it has the uses. */
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

/* Some are beside each other: those only do atomics. */
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
give_batch(fixture *f)
{
  vulkan_hazards_submitted(&f->queue, ++f->submitted);
  add_value(&f->log, WATCH_SIGNAL, 0, f->submitted);
  if (draw(f, 2)) {
    const uint64_t done = f->submitted - (f->submitted > 1 && draw(f, 2));
    vulkan_hazards_waited(&f->queue, done);
    add_value(&f->log, WATCH_KNOWN, 0, done);
  }
}

/* Commands that were recorded once run `times` times, with others before them. */
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
    give_batch(f);
  }
  vulkan_hazards_free(&f->needs);
  vulkan_hazards_free(&f->left);
  watch_free(&own);
}

typedef struct totals {
  uint32_t barriers, parts, pure;
} totals;

static void
run_round(fixture *f, uint32_t random, round_kind kind, totals *all)
{
  *f = (fixture){.kind = kind, .random = random, .width = kind == MANY ? 256 : 8};
  vulkan_hazards_init(&f->queue, vyre_allocator_default(), NULL);
  f->list = &f->queue;
  recorded = &f->log;
  for (uint32_t i = 0; i < 5; i++) {
    if (kind != ALONE)
      replay(f, 1 + draw(f, 3));
    add_random_commands(f, kind == MANY ? 100 : 8);
    give_batch(f);
  }
  watch_report report;
  watch_check(&f->log, kind != MANY, &report);
  if (report.hazards || report.idle)
    fail_msg("round %u: %u hazards, %u idle: %s", random, report.hazards, report.idle, report.text);
  all->barriers += report.barriers;
  all->parts += report.parts;
  all->pure += report.pure;
  vulkan_hazards_free(&f->queue);
  watch_free(&f->log);
}

static totals
run_rounds(round_kind kind, uint32_t count)
{
  fixture f;
  totals all = {0};
  for (uint32_t round = 0; round < count; round++)
    run_round(&f, round, kind, &all);
  return all;
}

TEST(each_barrier_of_a_list_is_needed_and_none_is_missing)
{
  const totals all = run_rounds(ALONE, 200);
  assert_true(all.barriers > 1000 && all.parts > 1000 && all.pure > 50);
}

TEST(so_are_those_around_and_in_what_was_recorded_by_itself)
{
  const totals all = run_rounds(REPLAYED, 100);
  assert_true(all.barriers > 1000 && all.parts > 1000 && all.pure > 50);
}

TEST(none_is_missing_where_uses_are_joined)
{
  const totals all = run_rounds(MANY, 5);
  assert_true(all.barriers > 500);
}
