/* Times and statistics, summed by name over many runs.
 *
 * A failed allocation loses an entry of the report, but never fails the run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "passmgr/registry/context.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "report.h"

vyre_status
vyre_report_create(const vyre_allocator *allocator, vyre_report **out)
{
  if (!allocator)
    allocator = vyre_allocator_default();
  *out = vyre_allocate(allocator, sizeof(**out));
  if (!*out)
    return VYRE_OUT_OF_MEMORY("for the report");
  (*out)->allocator = *allocator;
  (*out)->created = clock_now();
  return VYRE_OK;
}

vyre_status
vyre_report_create_like(const vyre_report *like, const vyre_allocator *allocator, vyre_report **out)
{
  VYRE_TRY(vyre_report_create(allocator, out));
  (*out)->keeps_events = like->keeps_events;
  return VYRE_OK;
}

static uint32_t
counter_count(void)
{
  uint32_t count = 0;
  while (vyre_target_counters[count].name)
    count++;
  return count;
}

static void
release_metered(const vyre_allocator *allocator, metered *m)
{
  vyre_release_text(allocator, m->target);
  vyre_release_text(allocator, m->device);
  vyre_release_text(allocator, m->driver);
  vyre_release(allocator, m->values, counter_count() * sizeof(*m->values));
}

void
vyre_report_destroy(vyre_report *report)
{
  if (!report)
    return;
  vyre_allocator allocator = report->allocator;
  for (uint32_t i = 0; i < report->time_count; i++)
    vyre_release_text(&allocator, report->times[i].name);
  for (uint32_t i = 0; i < report->count_count; i++) {
    vyre_release_text(&allocator, report->counts[i].pass);
    vyre_release_text(&allocator, report->counts[i].name);
  }
  for (uint32_t i = 0; i < report->meter_count; i++)
    release_metered(&allocator, &report->meters[i]);
  for (uint32_t i = 0; i < report->event_count; i++)
    vyre_release_text(&allocator, report->events[i].name);
  vyre_release(&allocator, report->events, report->event_capacity * sizeof(event));
  vyre_release(&allocator, report->threads, report->thread_capacity * sizeof(uint32_t));
  vyre_release(&allocator, report->meters, report->meter_capacity * sizeof(metered));
  vyre_release(&allocator, report->times, report->time_capacity * sizeof(timed));
  vyre_release(&allocator, report->counts, report->count_capacity * sizeof(counted));
  vyre_release(&allocator, report, sizeof(*report));
}

static timed *
find_timed(vyre_report *report, const char *name)
{
  for (uint32_t i = 0; i < report->time_count; i++)
    if (strcmp(report->times[i].name, name) == 0)
      return &report->times[i];
  if (!vyre_grow(&report->allocator, &report->times, &report->time_capacity, report->time_count + 1, sizeof(timed)))
    return NULL;
  char *copy = vyre_copy_text(&report->allocator, name);
  if (!copy)
    return NULL;
  timed *entry = &report->times[report->time_count++];
  *entry = (timed){.name = copy};
  return entry;
}

/* Returns the index of the thread in report->threads, and appends the thread if it is new. */
static uint32_t
find_thread(vyre_report *report, uint32_t id)
{
  for (uint32_t i = report->thread_count; i-- > 0;)
    if (report->threads[i] == id)
      return i;
  if (!vyre_grow(&report->allocator, &report->threads, &report->thread_capacity, report->thread_count + 1, sizeof(uint32_t)))
    return 0;
  report->threads[report->thread_count] = id;
  return report->thread_count++;
}

/* Appends an event.  Its `thread` is a thread id, which becomes an index in report->threads. */
static void
add_event(vyre_report *report, event what)
{
  if (!report->keeps_events ||
      !vyre_grow(&report->allocator, &report->events, &report->event_capacity, report->event_count + 1, sizeof(event)))
    return;
  what.thread = find_thread(report, what.thread);
  what.name = vyre_copy_text(&report->allocator, what.name);
  if (what.name)
    report->events[report->event_count++] = what;
}

void
vyre_report_keep_events(vyre_report *report)
{
  report->keeps_events = true;
}

void
vyre_stopwatch_start(vyre_stopwatch *watch, vyre_stopwatch *outer, const char *name)
{
  *watch = (vyre_stopwatch){.name = name, .outer = outer, .wall = clock_now(), .cpu = clock_read(CLOCK_THREAD_CPUTIME_ID)};
}

/* If nested watches have the same name, only the outer watch counts the total time. */
static bool
is_within_its_like(const vyre_stopwatch *watch)
{
  const vyre_stopwatch *outer = watch->outer;
  while (outer && strcmp(outer->name, watch->name) != 0)
    outer = outer->outer;
  return outer != NULL;
}

void
vyre_report_stop_run(vyre_report *report, const vyre_stopwatch *watch, uint64_t number, bool changed)
{
  timed *entry = report ? find_timed(report, watch->name) : NULL;
  if (!entry)
    return;
  const uint64_t end = clock_now(), wall = end - watch->wall, cpu = clock_read(CLOCK_THREAD_CPUTIME_ID) - watch->cpu;
  entry->wall += wall - watch->inner_wall;
  entry->cpu += cpu - watch->inner_cpu;
  entry->total += is_within_its_like(watch) ? 0 : wall;
  vyre_report_run_add(report, watch->name, changed);
  if (watch->outer) {
    watch->outer->inner_wall += wall;
    watch->outer->inner_cpu += cpu;
  }
  add_event(report, (event){(char *)watch->name, watch->wall, end, number, (uint32_t)gettid(), EVENT_WORK, changed});
}

void
vyre_report_stop(vyre_report *report, const vyre_stopwatch *watch)
{
  vyre_report_stop_run(report, watch, 0, false);
}

void
vyre_report_add_input(vyre_report *report, const char *path, const vyre_stopwatch *watch)
{
  if (report)
    add_event(report, (event){(char *)path, watch->wall, clock_now(), 0, (uint32_t)gettid(), EVENT_INPUT, false});
}

void
vyre_report_run_add(vyre_report *report, const char *pass, bool changed)
{
  timed *entry = report ? find_timed(report, pass) : NULL;
  if (!entry)
    return;
  entry->runs++;
  entry->changed += changed;
}

void
vyre_report_skip_add(vyre_report *report, const char *pass)
{
  timed *entry = report ? find_timed(report, pass) : NULL;
  if (entry)
    entry->skipped++;
}

void
vyre_report_device_add(vyre_report *report, const char *pass, uint64_t start, uint64_t nanoseconds)
{
  timed *entry = report ? find_timed(report, pass) : NULL;
  if (!entry)
    return;
  entry->device += nanoseconds;
  add_event(report, (event){(char *)pass, start, start + nanoseconds, 0, (uint32_t)gettid(), EVENT_DEVICE, false});
}

uint64_t
vyre_report_wall_ns(const vyre_report *report, const char *name)
{
  uint64_t ns = 0;
  for (uint32_t i = 0; i < report->time_count; i++)
    ns += strcmp(report->times[i].name, name) == 0 ? report->times[i].wall : 0;
  return ns;
}

uint64_t
vyre_report_device_ns(const vyre_report *report)
{
  uint64_t sum = 0;
  for (uint32_t i = 0; i < report->time_count; i++)
    sum += report->times[i].device;
  return sum;
}

uint64_t
vyre_report_runs(const vyre_report *report, const char *pass, uint64_t *out_changed)
{
  *out_changed = 0;
  for (uint32_t i = 0; i < report->time_count; i++)
    if (strcmp(report->times[i].name, pass) == 0) {
      *out_changed = report->times[i].changed;
      return report->times[i].runs;
    }
  return 0;
}

void
vyre_report_add_time(vyre_report *report, const char *what, uint64_t start, uint64_t nanoseconds)
{
  char name[64];
  snprintf(name, sizeof(name), "(%.60s)", what);
  timed *entry = find_timed(report, name);
  if (!entry)
    return;
  entry->wall += nanoseconds;
  entry->total += nanoseconds;
  entry->runs++;
  add_event(report, (event){name, start, start + nanoseconds, 0, (uint32_t)gettid(), EVENT_WORK, false});
}

void
vyre_report_count_add(vyre_report *report, const char *pass, const char *name, uint64_t amount)
{
  if (!report || !name)
    return;
  for (uint32_t i = 0; i < report->count_count; i++) {
    counted *entry = &report->counts[i];
    if (strcmp(entry->pass, pass) == 0 && strcmp(entry->name, name) == 0) {
      entry->amount += amount;
      return;
    }
  }
  if (!vyre_grow(&report->allocator, &report->counts, &report->count_capacity, report->count_count + 1, sizeof(counted)))
    return;
  counted entry = {vyre_copy_text(&report->allocator, pass), vyre_copy_text(&report->allocator, name), amount};
  if (!entry.pass || !entry.name) {
    vyre_release_text(&report->allocator, entry.pass);
    vyre_release_text(&report->allocator, entry.name);
    return;
  }
  report->counts[report->count_count++] = entry;
}

static metered *
find_metered(vyre_report *report, const char *target, const char *device, const char *driver)
{
  for (uint32_t i = 0; i < report->meter_count; i++) {
    metered *entry = &report->meters[i];
    if (strcmp(entry->target, target) == 0 && strcmp(entry->device, device) == 0 && strcmp(entry->driver, driver) == 0)
      return entry;
  }
  if (!vyre_grow(&report->allocator, &report->meters, &report->meter_capacity, report->meter_count + 1, sizeof(metered)))
    return NULL;
  const size_t size = counter_count() * sizeof(uint64_t);
  metered made = {vyre_copy_text(&report->allocator, target), vyre_copy_text(&report->allocator, device),
                  vyre_copy_text(&report->allocator, driver), vyre_allocate(&report->allocator, size)};
  if (!made.target || !made.device || !made.driver || !made.values) {
    release_metered(&report->allocator, &made);
    return NULL;
  }
  memset(made.values, 0, size);
  report->meters[report->meter_count] = made;
  return &report->meters[report->meter_count++];
}

static void
add_counter(void *user, const char *name, uint64_t value)
{
  metered *to = user;
  for (uint32_t i = 0; vyre_target_counters[i].name; i++)
    if (strcmp(vyre_target_counters[i].name, name) == 0)
      to->values[i] += value;
}

void
vyre_report_target_add(vyre_report *report, const vyre_target_ops *ops, const vyre_target *target)
{
  vyre_device_info info = {0};
  ops->describe(target, &info);
  metered *entry = find_metered(report, ops->name, info.name, info.driver);
  if (entry)
    ops->metrics(target, add_counter, entry);
}

void
vyre_report_add(vyre_report *to, const vyre_report *from)
{
  for (uint32_t i = 0; i < from->time_count; i++) {
    timed *entry = find_timed(to, from->times[i].name);
    if (!entry)
      continue;
    entry->wall += from->times[i].wall;
    entry->cpu += from->times[i].cpu;
    entry->total += from->times[i].total;
    entry->runs += from->times[i].runs;
    entry->changed += from->times[i].changed;
    entry->skipped += from->times[i].skipped;
    entry->device += from->times[i].device;
  }
  for (uint32_t i = 0; i < from->event_count; i++) {
    event copy = from->events[i];
    copy.thread = from->threads[copy.thread];
    add_event(to, copy);
  }
  for (uint32_t i = 0; i < from->count_count; i++)
    vyre_report_count_add(to, from->counts[i].pass, from->counts[i].name, from->counts[i].amount);
  for (uint32_t i = 0; i < from->meter_count; i++) {
    const metered *other = &from->meters[i];
    metered *entry = find_metered(to, other->target, other->device, other->driver);
    for (uint32_t k = 0; entry && vyre_target_counters[k].name; k++)
      entry->values[k] += other->values[k];
  }
}

uint64_t
vyre_report_count(const vyre_report *report, const char *pass, const char *name)
{
  for (uint32_t i = 0; i < report->count_count; i++)
    if (strcmp(report->counts[i].pass, pass) == 0 && strcmp(report->counts[i].name, name) == 0)
      return report->counts[i].amount;
  return 0;
}
