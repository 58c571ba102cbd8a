/* Prints a report's times as a table, as JSON, or as a trace of events.
 *
 * Prints with integers, because the program's locale may have a decimal comma.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report.h"
#include "base/clock.h"

#include "passmgr/registry/context.h"
#include "base/json.h"
#include "vyre/environment.h"

#include <inttypes.h>

/* ---- a table ------------------------------------------------------------------------------------------------------------- */

static vyre_status
print_milliseconds(vyre_bytes *out, uint64_t nanoseconds)
{
  const uint64_t micros = (nanoseconds + 500) / 1000;
  return vyre_bytes_printf(out, "%8" PRIu64 ".%03" PRIu64 " ", micros / 1000, micros % 1000);
}

/* Appends a line: own time, its percentage of the total, CPU time, and time with nested work. */
static vyre_status
print_time(vyre_bytes *out, const timed *of, uint64_t all)
{
  const uint64_t tenths = all ? (uint64_t)(1000.0 * (double)of->wall / (double)all + 0.5) : 0;
  VYRE_TRY(print_milliseconds(out, of->wall));
  VYRE_TRY(vyre_bytes_printf(out, "%4" PRIu64 ".%" PRIu64 " ", tenths / 10, tenths % 10));
  VYRE_TRY(print_milliseconds(out, of->cpu));
  return print_milliseconds(out, of->total);
}

static timed
sum_times(const vyre_report *report)
{
  timed sum = {0};
  for (uint32_t i = 0; i < report->time_count; i++) {
    sum.wall += report->times[i].wall;
    sum.cpu += report->times[i].cpu;
    sum.device += report->times[i].device;
  }
  sum.total = sum.wall;
  return sum;
}

static vyre_status
print_times(const vyre_report *report, vyre_bytes *out)
{
  const timed sum = sum_times(report);
  VYRE_TRY(vyre_bytes_printf(out, "%12s %6s %12s %12s %8s %8s  %s\n", "wall ms", "%", "cpu ms", "total ms", "runs", "changed",
                             "pass (or the manager's work)"));
  for (uint32_t i = 0; i < report->time_count; i++) {
    const timed *entry = &report->times[i];
    VYRE_TRY(print_time(out, entry, sum.wall));
    VYRE_TRY(vyre_bytes_printf(out, "%8" PRIu64 " %8" PRIu64 "  %s", entry->runs, entry->changed, entry->name));
    if (entry->skipped)
      VYRE_TRY(vyre_bytes_printf(out, " (skipped %" PRIu64 ")", entry->skipped));
    if (entry->device)
      VYRE_TRY(vyre_bytes_printf(out, " (on the device %" PRIu64 ".%03" PRIu64 " ms)", entry->device / 1000000,
                                 entry->device / 1000 % 1000));
    VYRE_TRY(vyre_bytes_printf(out, "\n"));
  }
  VYRE_TRY(print_time(out, &sum, sum.wall));
  VYRE_TRY(vyre_bytes_printf(out, "%8s %8s  total\n", "", ""));
  VYRE_TRY(print_milliseconds(out, clock_now() - report->created));
  return vyre_bytes_printf(out, "%50s passed\n", "");
}

vyre_status
vyre_report_times(const vyre_report *report, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  size_t before = out->size;
  return vyre_bytes_undo(out, before, print_times(report, out));
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

vyre_status
vyre_report_json_times(const vyre_report *report, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "  \"passes\": ["));
  for (uint32_t i = 0; i < report->time_count; i++) {
    const timed *t = &report->times[i];
    VYRE_TRY(vyre_bytes_printf(out, "%s\n    {\"name\": ", i ? "," : ""));
    VYRE_TRY(vyre_json_text(t->name, out));
    VYRE_TRY(vyre_bytes_printf(out,
                               ", \"runs\": %" PRIu64 ", \"changed\": %" PRIu64 ", \"skipped\": %" PRIu64 ", \"wall_ns\": %" PRIu64
                               ", \"cpu_ns\": %" PRIu64 ", \"total_ns\": %" PRIu64 ", \"device_ns\": %" PRIu64 "}",
                               t->runs, t->changed, t->skipped, t->wall, t->cpu, t->total, t->device));
  }
  return vyre_bytes_printf(out, "\n  ]");
}

static vyre_status
print_times_json(const vyre_report *report, vyre_bytes *out)
{
  const timed sum = sum_times(report);
  VYRE_TRY(vyre_bytes_printf(out,
                             "{\n  \"version\": 1,\n  \"wall_ns\": %" PRIu64 ",\n  \"cpu_ns\": %" PRIu64
                             ",\n  \"device_ns\": %" PRIu64 ",\n  \"passed_ns\": %" PRIu64 ",\n",
                             sum.wall, sum.cpu, sum.device, clock_now() - report->created));
  VYRE_TRY(vyre_report_json_times(report, out));
  return vyre_bytes_printf(out, "\n}\n");
}

vyre_status
vyre_report_times_json(const vyre_report *report, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  size_t before = out->size;
  return vyre_bytes_undo(out, before, print_times_json(report, out));
}

/* ---- a trace ------------------------------------------------------------------------------------------------------------- */

/* Returns the trace's thread number: 1, 3, 5... for threads in the order of their first event, and the next even number for a
 * thread's device. */
static uint32_t
lane_of(const event *e)
{
  return 2 * e->thread + 1 + (e->kind == EVENT_DEVICE);
}

static vyre_status
print_microseconds(vyre_bytes *out, const char *key, uint64_t nanoseconds)
{
  return vyre_bytes_printf(out, ", \"%s\": %" PRIu64 ".%03" PRIu64, key, nanoseconds / 1000, nanoseconds % 1000);
}

static vyre_status
print_event(const event *e, uint64_t start, vyre_bytes *out)
{
  static const char *const kinds[] = {"pass", "input", "device"};
  const char *kind = e->kind == EVENT_WORK && !e->run ? "manager" : kinds[e->kind];
  VYRE_TRY(vyre_bytes_printf(out, ",\n  {\"ph\": \"X\", \"pid\": 1, \"tid\": %" PRIu32 ", \"cat\": \"%s\", \"name\": ", lane_of(e),
                             kind));
  VYRE_TRY(vyre_json_text(e->name, out));
  VYRE_TRY(print_microseconds(out, "ts", e->start - start));
  VYRE_TRY(print_microseconds(out, "dur", e->end - e->start));
  if (e->run)
    VYRE_TRY(vyre_bytes_printf(out, ", \"args\": {\"run\": %" PRIu64 ", \"changed\": %s}", e->run, e->changed ? "true" : "false"));
  return vyre_bytes_printf(out, "}");
}

static vyre_status
print_trace(const vyre_report *report, vyre_bytes *out)
{
  uint64_t start = UINT64_MAX;
  bool has_device = false;
  VYRE_TRY(vyre_bytes_printf(out, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n  {\"ph\": \"M\", \"pid\": 1, \"name\": "
                                  "\"process_name\", \"args\": {\"name\": \"vyre\"}}"));
  for (uint32_t i = 0; i < report->event_count; i++) {
    start = report->events[i].start < start ? report->events[i].start : start;
    has_device = has_device || report->events[i].kind == EVENT_DEVICE;
  }
  for (uint32_t lane = 1; lane <= 2 * report->thread_count; lane += 2 - has_device)
    VYRE_TRY(vyre_bytes_printf(out,
                               ",\n  {\"ph\": \"M\", \"pid\": 1, \"tid\": %" PRIu32
                               ", \"name\": \"thread_name\", \"args\": {\"name\": \"%s %" PRIu32 "\"}}",
                               lane, lane % 2 ? "thread" : "device of thread", (lane + 1) / 2));
  for (uint32_t i = 0; i < report->event_count; i++)
    VYRE_TRY(print_event(&report->events[i], start, out));
  return vyre_bytes_printf(out, "\n]}\n");
}

vyre_status
vyre_report_trace(const vyre_report *report, vyre_bytes *out)
{
  size_t before = out->size;
  return vyre_bytes_undo(out, before, print_trace(report, out));
}
