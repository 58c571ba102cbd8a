/* A report's statistics as lines of text, as JSON, and in Prometheus' text exposition format 0.0.4.
 *
 * The names, kinds and texts of a target's counters come from vyre_target_counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
print_text(const vyre_report *report, vyre_bytes *out)
{
  if (report->count_count == 0 && report->meter_count == 0)
    VYRE_TRY(vyre_bytes_printf(out, "no pass counted anything\n"));
  for (uint32_t i = 0; i < report->count_count; i++)
    VYRE_TRY(vyre_bytes_printf(out, "%12" PRIu64 "  %s: %s\n", report->counts[i].amount, report->counts[i].pass,
                               report->counts[i].name));
  for (uint32_t i = 0; i < report->meter_count; i++) {
    const metered *m = &report->meters[i];
    for (uint32_t k = 0; vyre_target_counters[k].name; k++)
      if (m->values[k])
        VYRE_TRY(vyre_bytes_printf(out, "%12" PRIu64 "  (%s, %s): %s\n", m->values[k], m->target, m->device,
                                   vyre_target_counters[k].name));
  }
  return VYRE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
json_counts(const vyre_report *report, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "  \"counts\": ["));
  for (uint32_t i = 0; i < report->count_count; i++) {
    VYRE_TRY(vyre_bytes_printf(out, "%s\n    {", i ? "," : ""));
    VYRE_TRY(vyre_json_member("", "pass", report->counts[i].pass, out));
    VYRE_TRY(vyre_json_member(", ", "what", report->counts[i].name, out));
    VYRE_TRY(vyre_bytes_printf(out, ", \"amount\": %" PRIu64 "}", report->counts[i].amount));
  }
  return vyre_bytes_printf(out, "\n  ],\n");
}

static vyre_status
print_json(const vyre_report *report, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "{\n  \"version\": 1,\n"));
  VYRE_TRY(vyre_report_json_times(report, out));
  VYRE_TRY(vyre_bytes_printf(out, ",\n"));
  VYRE_TRY(json_counts(report, out));
  VYRE_TRY(vyre_bytes_printf(out, "  \"targets\": ["));
  for (uint32_t i = 0; i < report->meter_count; i++) {
    const metered *m = &report->meters[i];
    VYRE_TRY(vyre_bytes_printf(out, "%s\n    {", i ? "," : ""));
    VYRE_TRY(vyre_json_member("", "target", m->target, out));
    VYRE_TRY(vyre_json_member(", ", "device", m->device, out));
    VYRE_TRY(vyre_json_member(", ", "driver", m->driver, out));
    for (uint32_t k = 0; vyre_target_counters[k].name; k++)
      VYRE_TRY(vyre_bytes_printf(out, ",\n     \"%s\": %" PRIu64, vyre_target_counters[k].name, m->values[k]));
    VYRE_TRY(vyre_bytes_printf(out, "}"));
  }
  return vyre_bytes_printf(out, "\n  ]\n}\n");
}

/* ---- Prometheus ---------------------------------------------------------------------------------------------------------- */

/* Writes one label of a sample, after `before`, which ends with "{" for the first label. */
static vyre_status
label(vyre_bytes *out, const char *before, const char *name, const char *value)
{
  VYRE_TRY(vyre_bytes_printf(out, "%s%s=\"", before, name));
  for (; *value; value++) {
    if (*value == '\n')
      VYRE_TRY(vyre_bytes_printf(out, "\\n"));
    else
      VYRE_TRY(vyre_bytes_printf(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value));
  }
  return vyre_bytes_append(out, "\"", 1);
}

static vyre_status
family(vyre_bytes *out, const char *name, const char *type, const char *text)
{
  return vyre_bytes_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, text, name, type);
}

/* Appends a time in seconds.  Uses integers, because the program's locale may have a decimal comma. */
static vyre_status
seconds(vyre_bytes *out, uint64_t nanoseconds)
{
  return vyre_bytes_printf(out, "} %" PRIu64 ".%09" PRIu64 "\n", nanoseconds / 1000000000, nanoseconds % 1000000000);
}

static vyre_status
prometheus_counter(const vyre_report *report, uint32_t counter, vyre_bytes *out)
{
  const vyre_counter_info *info = &vyre_target_counters[counter];
  const bool is_time = info->kind == VYRE_COUNTER_NANOSECONDS, is_level = info->kind == VYRE_COUNTER_LEVEL;
  const size_t length = strlen(info->name) - (is_time ? strlen("_ns") : 0);
  char name[64];
  snprintf(name, sizeof name, "vyre_%.*s%s%s", (int)length, info->name, is_time ? "_seconds" : "", is_level ? "" : "_total");
  VYRE_TRY(family(out, name, is_level ? "gauge" : "counter", info->text));
  for (uint32_t i = 0; i < report->meter_count; i++) {
    const metered *m = &report->meters[i];
    VYRE_TRY(vyre_bytes_printf(out, "%s", name));
    VYRE_TRY(label(out, "{", "target", m->target));
    VYRE_TRY(label(out, ",", "device", m->device));
    VYRE_TRY(is_time ? seconds(out, m->values[counter]) : vyre_bytes_printf(out, "} %" PRIu64 "\n", m->values[counter]));
  }
  return VYRE_OK;
}

static vyre_status
prometheus_passes(const vyre_report *report, vyre_bytes *out)
{
  if (report->count_count)
    VYRE_TRY(family(out, "vyre_pass_counts_total", "counter", "what passes and the manager counted"));
  for (uint32_t i = 0; i < report->count_count; i++) {
    VYRE_TRY(label(out, "vyre_pass_counts_total{", "pass", report->counts[i].pass));
    VYRE_TRY(label(out, ",", "what", report->counts[i].name));
    VYRE_TRY(vyre_bytes_printf(out, "} %" PRIu64 "\n", report->counts[i].amount));
  }
  if (report->time_count)
    VYRE_TRY(family(out, "vyre_pass_runs_total", "counter", "how often a pass, or the manager's work in parentheses, ran"));
  for (uint32_t i = 0; i < report->time_count; i++) {
    VYRE_TRY(label(out, "vyre_pass_runs_total{", "pass", report->times[i].name));
    VYRE_TRY(vyre_bytes_printf(out, "} %" PRIu64 "\n", report->times[i].runs));
  }
  if (report->time_count)
    VYRE_TRY(family(out, "vyre_pass_seconds_total", "counter", "wall time of it"));
  for (uint32_t i = 0; i < report->time_count; i++) {
    VYRE_TRY(label(out, "vyre_pass_seconds_total{", "pass", report->times[i].name));
    VYRE_TRY(seconds(out, report->times[i].wall));
  }
  return VYRE_OK;
}

static vyre_status
print_prometheus(const vyre_report *report, vyre_bytes *out)
{
  VYRE_TRY(prometheus_passes(report, out));
  for (uint32_t k = 0; vyre_target_counters[k].name && report->meter_count; k++)
    VYRE_TRY(prometheus_counter(report, k, out));
  return VYRE_OK;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  vyre_status (*print)(const vyre_report *report, vyre_bytes *out);
} forms[] = {[VYRE_STATS_TEXT] = {"text", print_text},
             [VYRE_STATS_JSON] = {"json", print_json},
             [VYRE_STATS_PROMETHEUS] = {"prometheus", print_prometheus}};

vyre_status
vyre_stats_format_parse(const char *text, vyre_stats_format *out)
{
  for (uint32_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (strcmp(forms[i].name, text) == 0) {
      *out = (vyre_stats_format)i;
      return VYRE_OK;
    }
  return VYRE_ERROR(VYRE_CODE_USAGE, "unknown format of statistics '%.100s'\nFix: use text, json or prometheus", text);
}

vyre_status
vyre_report_stats(const vyre_report *report, vyre_stats_format format, vyre_bytes *out)
{
  size_t before = out->size;
  return vyre_bytes_undo(out, before, forms[format].print(report, out));
}
