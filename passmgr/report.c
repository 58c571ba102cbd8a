/* Times and statistics, summed by name over many runs.
 *
 * Memory that cannot be had loses an entry, never the run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "grow.h"
#include "report.h"

vyre_status
vyre_report_create(const vyre_allocator *allocator, vyre_report **out)
{
  if (!allocator)
    allocator = vyre_allocator_default();
  *out = vyre_take(allocator, sizeof(**out));
  if (!*out)
    return VYRE_OUT_OF_MEMORY("for the report");
  (*out)->allocator = *allocator;
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
  char *copy = vyre_take_text(&report->allocator, name);
  if (!copy)
    return NULL;
  timed *entry = &report->times[report->time_count++];
  *entry = (timed){.name = copy};
  return entry;
}

void
vyre_report_run_add(vyre_report *report, const char *pass, uint64_t nanoseconds, bool changed)
{
  timed *entry = report ? find_timed(report, pass) : NULL;
  if (!entry)
    return;
  entry->nanoseconds += nanoseconds;
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
vyre_report_device_add(vyre_report *report, const char *pass, uint64_t nanoseconds)
{
  timed *entry = report ? find_timed(report, pass) : NULL;
  if (entry)
    entry->device += nanoseconds;
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
vyre_report_add_time(vyre_report *report, const char *what, uint64_t nanoseconds)
{
  char name[64];
  snprintf(name, sizeof(name), "(%.60s)", what);
  vyre_report_run_add(report, name, nanoseconds, false);
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
  counted entry = {vyre_take_text(&report->allocator, pass), vyre_take_text(&report->allocator, name), amount};
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
  metered made = {vyre_take_text(&report->allocator, target), vyre_take_text(&report->allocator, device),
                  vyre_take_text(&report->allocator, driver), vyre_take(&report->allocator, size)};
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
    entry->nanoseconds += from->times[i].nanoseconds;
    entry->runs += from->times[i].runs;
    entry->changed += from->times[i].changed;
    entry->skipped += from->times[i].skipped;
    entry->device += from->times[i].device;
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

/* Milliseconds and percent, by integers: the program's locale may have a decimal comma. */
static vyre_status
print_time(vyre_bytes *out, uint64_t nanoseconds, uint64_t total)
{
  const uint64_t micros = (nanoseconds + 500) / 1000;
  const uint64_t tenths = total ? (uint64_t)(1000.0 * (double)nanoseconds / (double)total + 0.5) : 0;
  return vyre_bytes_printf(out, "%8" PRIu64 ".%03" PRIu64 " %4" PRIu64 ".%" PRIu64, micros / 1000, micros % 1000, tenths / 10,
                           tenths % 10);
}

static vyre_status
print_times(const vyre_report *report, vyre_bytes *out)
{
  uint64_t total = 0;
  for (uint32_t i = 0; i < report->time_count; i++)
    total += report->times[i].nanoseconds;
  VYRE_TRY(vyre_bytes_printf(out, "%12s %6s %8s %8s  %s\n", "wall ms", "%", "runs", "changed", "pass (or the manager's work)"));
  for (uint32_t i = 0; i < report->time_count; i++) {
    const timed *entry = &report->times[i];
    VYRE_TRY(print_time(out, entry->nanoseconds, total));
    VYRE_TRY(vyre_bytes_printf(out, " %8" PRIu64 " %8" PRIu64 "  %s", entry->runs, entry->changed, entry->name));
    if (entry->skipped)
      VYRE_TRY(vyre_bytes_printf(out, " (skipped %" PRIu64 ")", entry->skipped));
    if (entry->device)
      VYRE_TRY(vyre_bytes_printf(out, " (on the device %" PRIu64 ".%03" PRIu64 " ms)", entry->device / 1000000,
                                 entry->device / 1000 % 1000));
    VYRE_TRY(vyre_bytes_printf(out, "\n"));
  }
  VYRE_TRY(print_time(out, total, total));
  return vyre_bytes_printf(out, " %8s %8s  total\n", "", "");
}

vyre_status
vyre_report_times(const vyre_report *report, vyre_bytes *out)
{
  size_t before = out->size;
  return vyre_bytes_undo(out, before, print_times(report, out));
}
