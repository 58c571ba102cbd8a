/* Measures the megakernel: the cost of an item from publication to its end, the rate of items, and the time to start and stop.
 * The ways are a live kernel, a launch for each item, launches of many items, and plain C as the baseline.
 *
 *   bench-mega [-target=NAME] [-device=NAME] [-rounds=N] [-slots=N] [-groups=N] [-items=N]
 *   bench-mega -rows                     rows of the kernel, before default<O2> and after it
 *
 * No kernel is live while other ways are measured, because a device would share its time between them.  Medians are of wall
 * time, and ratios are of medians of one run.  An item adds 1 to a word of the results.  The baseline does the same: as many
 * threads as processors process items of an existing array with an atomic addition each, and allocate nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "base/clock.h"
#include "vyre/ir.h"
#include "vyre/megakernel.h"
#include "vyre/passmgr.h"
#include "vyre/text.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char bench_name[] = "bench-mega";

enum { MOST_ROUNDS = 10001, WORDS = 64, MOST_THREADS = 64, PUBLISHERS = 4, REPEATS = 11, WARM = 10 };

typedef struct setup {
  const vyre_target_ops *ops;
  vyre_target *target;
  vyre_mega *once, *each, *persistent; /* `once` and `persistent` have all slots, `each` has one */
  vyre_mega_mirror *mirror, *one;
  vyre_mega_live *live;
  vyre_mega_item *items;
  vyre_mega_stats stats; /* sum over all live kernels */
  uint32_t slots, groups, rounds, many, threads, words[WORDS];
} setup;

static void
start_live(setup *s)
{
  bench_check(vyre_mega_live_start(
      s->persistent, &(vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = WORDS}, &s->live));
  bench_check(vyre_mega_live_set(s->live, VYRE_MEGA_QUOTAS, UINT32_MAX));
}

static void
stop_live(setup *s)
{
  vyre_mega_stats stats;
  bench_check(vyre_mega_live_stop(s->live, NULL, &stats));
  s->live = NULL;
  s->stats.kernel_launches += stats.kernel_launches;
  s->stats.bytes_moved += stats.bytes_moved;
}

/* ---- the ways: each runs `count` items to their end, and returns the nanoseconds ------------------------------------------- */

/* Publishes the items to a live kernel.  Waits for the last item by its ticket, and for the others by a drain. */
static uint64_t
live(setup *s, uint32_t count)
{
  const uint64_t start = clock_now();
  vyre_mega_ticket ticket;
  vyre_mega_slot slot;
  for (uint32_t i = 0; i < count; i++)
    for (bool published = false; !published;) {
      bench_check(vyre_mega_live_publish(s->live, &s->items[i], i + 1 < count ? NULL : &ticket, &published));
      if (!published)
        sched_yield();
    }
  bench_check(vyre_mega_live_wait(s->live, ticket, &slot));
  if (count > 1)
    bench_check(vyre_mega_live_drain(s->live));
  return clock_now() - start;
}

/* Publishes `count` items to the mirror and runs them by one launch.  Uses existing buffers.  Returns the nanoseconds, with the
 * upload of the slots and the readback of the results. */
static uint64_t
launch(setup *s, uint32_t count)
{
  const uint64_t start = clock_now();
  for (uint32_t i = 0; i < count; i++)
    bench_check(vyre_mega_mirror_publish(s->mirror, i, &s->items[i]));
  bench_check(vyre_mega_mirror_dispatch(s->mirror, (vyre_range){0}, NULL));
  return clock_now() - start;
}

static uint64_t
launch_each(setup *s, uint32_t count)
{
  const uint64_t start = clock_now();
  for (uint32_t i = 0; i < count; i++) {
    bench_check(vyre_mega_mirror_publish(s->one, 0, &s->items[i]));
    bench_check(vyre_mega_mirror_dispatch(s->one, (vyre_range){0}, NULL));
  }
  return clock_now() - start;
}

typedef struct worker {
  setup *s;
  uint32_t first, count;
  pthread_t thread;
} worker;

static void *
work(void *user)
{
  const worker *w = user;
  for (uint32_t i = w->first; i < w->count; i += w->s->threads)
    __atomic_fetch_add(&w->s->words[w->s->items[i].args[1] % WORDS], w->s->items[i].args[0], __ATOMIC_RELAXED);
  return NULL;
}

static uint64_t
plain(setup *s, uint32_t count)
{
  worker workers[MOST_THREADS];
  const uint64_t start = clock_now();
  for (uint32_t i = 0; i < s->threads; i++) {
    workers[i] = (worker){.s = s, .first = i, .count = count};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
      exit(3);
  }
  for (uint32_t i = 0; i < s->threads; i++)
    pthread_join(workers[i].thread, NULL);
  return clock_now() - start;
}

static const struct {
  const char *name;
  uint64_t (*run)(setup *s, uint32_t count);
  uint32_t most; /* items; more would take too long */
  bool is_live;
} ways[] = {{"live", live, UINT32_MAX, true},
            {"one launch of all", launch, UINT32_MAX, false},
            {"a launch an item", launch_each, 64, false},
            {"plain C, threads made for it", plain, UINT32_MAX, false}};

enum { WAYS = sizeof ways / sizeof *ways };

/* ---- tables -------------------------------------------------------------------------------------------------------------- */

/* Measures the way `rounds` times, and sorts the times.  No other way runs at that time. */
static void
measure(setup *s, uint32_t k, uint32_t count, uint64_t *times, uint32_t rounds)
{
  if (ways[k].is_live)
    start_live(s);
  for (uint32_t i = 0; i < WARM; i++)
    ways[k].run(s, count);
  for (uint32_t i = 0; i < rounds; i++)
    times[i] = ways[k].run(s, count);
  if (ways[k].is_live)
    stop_live(s);
  bench_sort(times, rounds);
}

static void
print_latency(setup *s)
{
  uint64_t *times = bench_allocate(s->rounds, sizeof *times);
  printf("From publication to the end, one item, %" PRIu32 " times:\n\n", s->rounds);
  printf("| way | median us | p99 us | x live |\n| --- | ---: | ---: | ---: |\n");
  double first = 0;
  for (uint32_t k = 0; k < WAYS; k++) {
    measure(s, k, 1, times, s->rounds);
    const double median = (double)times[s->rounds / 2] / 1e3;
    first = k ? first : median;
    printf("| %s | %.1f | %.1f | %.2f |\n", ways[k].name, median, (double)times[s->rounds * 99 / 100] / 1e3, median / first);
  }
  free(times);
}

static uint64_t
median_of(setup *s, uint32_t k, uint32_t count)
{
  uint64_t times[REPEATS];
  measure(s, k, count, times, REPEATS);
  return times[REPEATS / 2];
}

static void
print_many(setup *s)
{
  printf("\nItems at once, and how many end a second (median of %d):\n\n| items |", REPEATS);
  for (uint32_t k = 0; k < WAYS; k++)
    printf(" %s |", ways[k].name);
  printf(" live x launch |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (uint32_t count = 1; count <= s->slots; count *= 4) {
    uint64_t times[WAYS] = {0};
    printf("| %" PRIu32 " |", count);
    for (uint32_t k = 0; k < WAYS; k++) {
      times[k] = count <= ways[k].most ? median_of(s, k, count) : 0;
      if (times[k])
        printf(" %.0f |", (double)count * 1e9 / (double)times[k]);
      else
        printf(" - |");
    }
    printf(" %.2f |\n", (double)times[1] / (double)times[0]);
  }
}

/* ---- many threads -------------------------------------------------------------------------------------------------------- */

static void *
publish_part(void *user)
{
  const worker *w = user;
  for (uint32_t i = w->first; i < w->count; i += PUBLISHERS)
    for (bool published = false; !published;) {
      bench_check(vyre_mega_live_publish(w->s->live, &w->s->items[i % w->s->slots], NULL, &published));
      if (!published)
        sched_yield();
    }
  return NULL;
}

static void
print_stream(setup *s)
{
  worker publishers[PUBLISHERS];
  start_live(s);
  const uint64_t start = clock_now();
  for (uint32_t i = 0; i < PUBLISHERS; i++) {
    publishers[i] = (worker){.s = s, .first = i, .count = s->many};
    if (pthread_create(&publishers[i].thread, NULL, publish_part, &publishers[i]) != 0)
      exit(3);
  }
  for (uint32_t i = 0; i < PUBLISHERS; i++)
    pthread_join(publishers[i].thread, NULL);
  bench_check(vyre_mega_live_drain(s->live));
  const double seconds = (double)(clock_now() - start) / 1e9;
  stop_live(s);
  printf("\n%" PRIu32 " items of %d threads through the ring: %.2f s, %.0f a second\n", s->many, PUBLISHERS, seconds,
         (double)s->many / seconds);
}

/* Starts a kernel, runs an item, and stops the kernel after a millisecond without work. */
static void
print_start_and_stop(setup *s)
{
  uint64_t starts[REPEATS], stops[REPEATS];
  for (uint32_t i = 0; i < REPEATS; i++) {
    const uint64_t begun = clock_now();
    start_live(s);
    live(s, 1);
    starts[i] = clock_now() - begun;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    const uint64_t stop_start = clock_now();
    stop_live(s);
    stops[i] = clock_now() - stop_start;
  }
  bench_sort(starts, REPEATS);
  bench_sort(stops, REPEATS);
  printf("from start to the end of the first item: median %.0f us; from stop until all resources are freed: median %.0f us, "
         "longest %.0f us (of %d)\n",
         (double)starts[REPEATS / 2] / 1e3, (double)stops[REPEATS / 2] / 1e3, (double)stops[REPEATS - 1] / 1e3, REPEATS);
}

/* ---- the kernel ------------------------------------------------------------------------------------------------------------ */

/* Returns the number of rows of the module before the passes.  Stores the number after the passes in *out_after. */
static uint32_t
rows_of(const vyre_pipeline *pipeline, vyre_mega_build build, bool is_together, uint32_t *out_after)
{
  const vyre_mega_program program = {.build = build};
  const vyre_mega_form form = {.workgroup = 64, .is_together = is_together};
  vyre_bytes text = {0};
  vyre_module *module;
  bench_check(vyre_mega_source(&program, &form, &text));
  bench_check(vyre_module_create(NULL, 1 << 16, &module));
  bench_check(vyre_text_parse(module, text.data, text.size, "megakernel", (vyre_diagnostics){0}));
  const uint32_t before = vyre_module_view(module)->rows;
  bench_check(vyre_pipeline_run(pipeline, module, NULL));
  *out_after = vyre_module_view(module)->rows;
  vyre_module_destroy(module);
  vyre_bytes_free(&text);
  return before;
}

static int
print_rows(void)
{
  static const char *const names[] = {"once", "priority", "persistent", "persistent-priority"};
  static const char passes[] = "default<O2>";
  vyre_registry *registry = bench_registry();
  vyre_pipeline *pipeline;
  bench_check(vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &pipeline));
  printf("| build | lanes | rows | after %s | left |\n| --- | --- | ---: | ---: | ---: |\n", passes);
  for (uint32_t k = 0; k < 2 * VYRE_MEGA_BUILD__COUNT; k++) {
    uint32_t after;
    const uint32_t before = rows_of(pipeline, (vyre_mega_build)(k / 2), k % 2, &after);
    printf("| %s | %s | %" PRIu32 " | %" PRIu32 " | %.1f %% |\n", names[k / 2], k % 2 ? "together" : "alone", before, after,
           100.0 * after / before);
  }
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  return 0;
}

/* ---- start and end ------------------------------------------------------------------------------------------------------- */

typedef struct command_line {
  bench_line line;
  const char *target, *device;
  option_number rounds, slots, groups, items;
  bool rows;
} command_line;

#define AT(field) offsetof(command_line, field)

static const option_row option_rows[] = {
    {.name = "rows", OPTION_FLAG, AT(rows), NULL, "print the rows of the kernel before and after default<O2>, and measure nothing"},
    {.name = "target", OPTION_TEXT, AT(target), "NAME", "measure this target. Default: cpu", OPTION_LAST},
    {.name = "device", OPTION_TEXT, AT(device), "NAME", "measure this device of the target", OPTION_LAST},
    {.name = "rounds",
     OPTION_NUMBER,
     AT(rounds),
     "N",
     "measure the latency N times. Default: 1001",
     OPTION_LAST,
     .least = 1,
     .most = MOST_ROUNDS},
    {.name = "slots",
     OPTION_NUMBER,
     AT(slots),
     "N",
     "use a ring of N slots. Default: 4096",
     OPTION_LAST,
     .least = 1,
     .most = VYRE_MEGA_MOST_SLOTS},
    {.name = "groups",
     OPTION_NUMBER,
     AT(groups),
     "N",
     "run the live kernel in N workgroups. Default: the target chooses",
     OPTION_LAST,
     .most = VYRE_MEGA_MOST_SLOTS},
    {.name = "items",
     OPTION_NUMBER,
     AT(items),
     "N",
     "run N items to measure the rate. Default: 100000, or a full ring on an emulated device",
     OPTION_LAST,
     .most = UINT32_MAX},
    BENCH_HELP_ROWS,
};

static const bench_usage usage = {.about = "Measures the latency and the rate of a megakernel.\n",
                                  .rows = option_rows,
                                  .count = sizeof option_rows / sizeof *option_rows};

static void
make(setup *s, const char *device)
{
  const vyre_target_options options = {.struct_size = sizeof options, .device = device};
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  s->threads = processors < 1 ? 1 : processors > MOST_THREADS ? MOST_THREADS : (uint32_t)processors;
  bench_check(s->ops->open(&options, NULL, &s->target));
  bench_check(vyre_mega_create(s->ops, s->target, &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .slots = s->slots},
                               &s->once));
  bench_check(vyre_mega_create(s->ops, s->target,
                               &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options),
                                                    .program = {.build = VYRE_MEGA_PERSISTENT},
                                                    .slots = s->slots,
                                                    .groups = s->groups},
                               &s->persistent));
  bench_check(vyre_mega_mirror_create(s->once, WORDS, VYRE_MEGA_TENANTS, &s->mirror));
  bench_check(vyre_mega_mirror_set(s->mirror, VYRE_MEGA_QUOTAS, UINT32_MAX));
  bench_check(
      vyre_mega_create(s->ops, s->target, &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .slots = 1}, &s->each));
  bench_check(vyre_mega_mirror_create(s->each, WORDS, VYRE_MEGA_TENANTS, &s->one));
  bench_check(vyre_mega_mirror_set(s->one, VYRE_MEGA_QUOTAS, UINT32_MAX));
  s->items = bench_allocate(s->slots, sizeof *s->items);
  for (uint32_t i = 0; i < s->slots; i++)
    s->items[i] = (vyre_mega_item){.op = VYRE_MEGA_OP_ADD, .args = {1, VYRE_MEGA_OBSERVABLES + i % WORDS}};
}

int
main(int count, char **arguments)
{
  static const char *const texts[] = {"mapped", "in slices", "mirrored, in slices"};
  command_line line = {.rounds = {.value = 1001}, .slots = {.value = 4096}};
  bench_parse_rows(&usage, count, arguments, &line);
  if (line.rows)
    return print_rows();
  setup s = {.ops = line.target ? bench_target(line.target) : vyre_targets[0],
             .slots = (uint32_t)line.slots.value,
             .groups = (uint32_t)line.groups.value,
             .rounds = (uint32_t)line.rounds.value,
             .many = (uint32_t)line.items.value};
  setvbuf(stdout, NULL, _IOLBF, 0); /* so that measured lines are visible even if a later step fails */
  make(&s, line.device);
  vyre_device_info info;
  s.ops->describe(s.target, &info);
  if (s.many == 0)
    s.many = info.capabilities & VYRE_TARGET_EMULATED ? s.slots : 100000;
  start_live(&s);
  printf("%s: %s; driver: %s; live: %s; a ring of %" PRIu32 " slots; %" PRIu32 " processors\n\n", s.ops->name, info.name,
         info.driver, texts[vyre_mega_live_way(s.live)], s.slots, s.threads);
  stop_live(&s);
  print_latency(&s);
  print_many(&s);
  print_stream(&s);
  print_start_and_stop(&s);
  printf("live, in all: %" PRIu64 " launches, %" PRIu64 " bytes moved\n", s.stats.kernel_launches, s.stats.bytes_moved);
  bench_check(vyre_mega_mirror_destroy(s.mirror));
  bench_check(vyre_mega_mirror_destroy(s.one));
  bench_check(vyre_mega_destroy(s.once));
  bench_check(vyre_mega_destroy(s.each));
  bench_check(vyre_mega_destroy(s.persistent));
  bench_check(s.ops->close(s.target));
  free(s.items);
  return 0;
}
