/* The statistics of a worker, in the text format of Prometheus.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include "base/clock.h"

#include <inttypes.h>

enum { EVERY = 2 /* seconds between two files */ };

static vyre_status
print_metric(vyre_bytes *out, const char *name, const char *help, double value)
{
  return vyre_bytes_printf(out, "# HELP vyre_queue_%s %s\n# TYPE vyre_queue_%s counter\nvyre_queue_%s %.9g\n", name, help, name,
                           name, value);
}

static vyre_status
print_counts(const worker *w, vyre_bytes *out)
{
  const worker_counts *c = &w->counts;
  const struct {
    const char *name, *help;
    double value;
  } all[] = {
      {"jobs_done_total", "Jobs that this worker finished, hits included.", (double)c->done},
      {"jobs_failed_total", "Jobs that failed with a message.", (double)c->failed},
      {"jobs_aside_total", "Jobs that were set aside after three tries.", (double)c->aside},
      {"jobs_hit_total", "Jobs whose output existed already.", (double)c->hits},
      {"jobs_released_total", "Jobs that crashed and were released for another try.", (double)c->released},
      {"jobs_reclaimed_total", "Jobs that were claimed from lost workers.", (double)c->reclaimed},
      {"input_bytes_total", "Bytes of inputs that were read.", (double)c->bytes_in},
      {"output_bytes_total", "Bytes of outputs that were stored.", (double)c->bytes_out},
      {"busy_seconds_total", "Time in which jobs were processed.", (double)c->busy_ns / 1e9},
      {"idle_seconds_total", "Time in which jobs were fetched and awaited.", (double)c->idle_ns / 1e9},
      {"reconnections_total", "Connections to the server that were lost.", (double)remote_reconnections(w->queue.server)},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    VYRE_TRY(print_metric(out, all[i].name, all[i].help, all[i].value));
  return VYRE_OK;
}

vyre_status
metrics_write(worker *w, bool is_last)
{
  const tool_options *o = &w->base->options;
  vyre_bytes text = {0};
  if (!w->base->report || (!is_last && clock_now() - w->metered < EVERY * UINT64_C(1000000000)))
    return VYRE_OK;
  if (!is_last && !o->stats_file)
    return VYRE_OK;
  w->metered = clock_now();
  vyre_status status = vyre_report_stats(w->base->report, VYRE_STATS_PROMETHEUS, &text);
  if (!status)
    status = print_counts(w, &text);
  if (!status && o->stats_file)
    status = vyre_file_write(o->stats_file, text.data, text.size);
  else if (!status)
    process_print(NULL, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}
