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

typedef struct timed {
  char *name; /* owned */
  uint64_t nanoseconds, runs, changed;
  uint64_t skipped; /* it would have found what it found before */
  uint64_t device;  /* nanoseconds of its kernels */
} timed;

typedef struct counted {
  char *pass, *name; /* owned */
  uint64_t amount;
} counted;

struct vyre_report {
  vyre_allocator allocator;
  timed *times; /* in the order of their first run */
  uint32_t time_count, time_capacity;
  counted *counts;
  uint32_t count_count, count_capacity;
};

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

static vyre_status
print_stats(const vyre_report *report, vyre_bytes *out)
{
  if (report->count_count == 0)
    return vyre_bytes_printf(out, "no pass counted anything\n");
  for (uint32_t i = 0; i < report->count_count; i++)
    VYRE_TRY(vyre_bytes_printf(out, "%12" PRIu64 "  %s: %s\n", report->counts[i].amount, report->counts[i].pass,
                               report->counts[i].name));
  return VYRE_OK;
}

vyre_status
vyre_report_stats(const vyre_report *report, vyre_bytes *out)
{
  size_t before = out->size;
  return vyre_bytes_undo(out, before, print_stats(report, out));
}
