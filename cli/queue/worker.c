/* The main loop of a worker.
 *
 * Results are sent before the next jobs are claimed, so a worker that is lost loses no finished job.  A worker that ends with an
 * error releases its jobs.  A worker that is killed or has lost the server keeps them until their lease ends.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

#include "base/clock.h"
#include "claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The time of the jobs that a worker claims at once. */
#define SHARE_NS UINT64_C(500000000)
enum { WAIT_MS = 500 };

/* Refuses options that the jobs have, and reports that a queue does not have. */
static vyre_status
check_options(const tool_options *o)
{
  const char *given = o->inputs.count                         ? "an input"
                      : o->passes || o->passes_file           ? "a pipeline"
                      : o->emit                               ? "-emit"
                      : o->output || o->outdir || o->in_place ? "an output"
                      : o->output_cache.count                 ? "-output-cache"
                      : o->variants_file || o->spec_file      ? "-variants or -spec-file"
                      : o->watch || o->reproducer || o->bisect || o->reduce || o->run_reproducer
                          ? "-watch, -reproducer, -bisect, -reduce or -run-reproducer"
                      : o->html || o->remarks || o->time_passes || o->time_trace ? "-html, -remarks, -time-passes or -time-trace"
                      : o->stats && o->stats_format != VYRE_STATS_PROMETHEUS     ? "-stats without =prometheus"
                                                                                 : NULL;
  if (given)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-queue does not go with %s\nFix: give inputs, pipeline and form of the output to vyre-queue "
                      "submit, and leave it out here",
                      given);
  for (uint32_t i = 0; i < o->queue_plugins.count; i++)
    if (strspn(o->queue_plugins.names[i], "0123456789abcdef") != QUEUE_SHA - 1 || o->queue_plugins.names[i][QUEUE_SHA - 1])
      return VYRE_ERROR(VYRE_CODE_USAGE, "-queue-plugin=%.100s is not a SHA-256\nFix: write the 64 digits that sha256sum prints",
                        o->queue_plugins.names[i]);
  return VYRE_OK;
}

static vyre_status
begin(worker *w)
{
  const tool_options *o = &w->base->options;
  char host[64] = "";
  bool exists = false;
  VYRE_TRY(check_options(o));
  VYRE_TRY(queue_open(o->queue, o->redis_password, o->redis_wait.value, &w->queue));
  VYRE_TRY(o->queue_stay ? queue_create(&w->queue) : queue_exists(&w->queue, &exists));
  if (!exists && !o->queue_stay)
    return queue_absent(&w->queue);
  gethostname(host, sizeof host - 1);
  snprintf(w->consumer, sizeof w->consumer, "%s:%d:%llx", host, (int)getpid(), (unsigned long long)clock_read(CLOCK_REALTIME));
  if (o->stats)
    VYRE_TRY(vyre_report_create(NULL, &w->base->report));
  w->claims = calloc(MOST_CLAIMS, sizeof *w->claims);
  if (!w->claims)
    return VYRE_OUT_OF_MEMORY("for jobs");
  w->sent = clock_now();
  return claims_keep_leases(w);
}

/* Returns the number of jobs that take about SHARE_NS, by the time of the jobs before. */
static uint32_t
next_share(const worker *w)
{
  const tool_options *o = &w->base->options;
  const uint64_t ended = w->counts.done + w->counts.failed;
  if (o->batch.text)
    return o->batch_most;
  const uint64_t each = ended ? w->counts.busy_ns / ended + 1 : SHARE_NS / 4, share = SHARE_NS / each;
  const uint64_t most = share < MOST_CLAIMS / 4 ? share : MOST_CLAIMS / 4;
  return most < o->threads ? o->threads : (uint32_t)most;
}

/* Processes the claims: neighbors with equal settings together, and each job of a lost worker by itself. */
static vyre_status
run_all(worker *w)
{
  for (uint32_t i = 0, next; i < w->count; i = next) {
    claim *c = &w->claims[i];
    for (next = i + 1;
         next < w->count && c->tries == 1 && w->claims[next].tries == 1 && strcmp(c->is.settings, w->claims[next].is.settings) == 0;
         next++)
      continue;
    if (c->is.settings[0])
      VYRE_TRY(jobs_run(w, c, next - i));
    else /* cancelled */
      VYRE_TRY(queue_add_end(&w->queue, &(queue_result){.id = c->id, .job = c->job}, &(vyre_bytes){0}, &w->ends));
    if (w->lost)
      return VYRE_OK;
  }
  return VYRE_OK;
}

static vyre_status
work_all(worker *w)
{
  const uint64_t quarter = w->base->options.queue_lease.value * 250;
  for (bool is_drained = false; !is_drained;) {
    VYRE_TRY(claims_fetch(w, next_share(w), quarter < WAIT_MS ? (uint32_t)quarter : WAIT_MS));
    VYRE_TRY(run_all(w));
    VYRE_TRY(jobs_send(w));
    VYRE_TRY(metrics_write(w, false));
    if (w->lost)
      break;
    if (w->count == 0 && !w->base->options.queue_stay)
      VYRE_TRY(claims_is_drained(w, &is_drained));
  }
  vyre_status status = w->lost;
  w->lost = VYRE_OK;
  return status;
}

/* Releases the jobs that are not finished. */
static void
release_all(worker *w)
{
  remote_commands release = {0};
  redisReply **replies = NULL;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < w->count && !status; i++)
    if (!w->claims[i].is_ended)
      status = claims_add_release(w, &w->claims[i], &release);
  if (!status && release.count)
    status = remote_run(w->queue.server, &release, &replies);
  remote_replies_free(replies, release.count);
  remote_commands_free(&release);
  vyre_status_free(status);
}

int
queue_work(int argc, char **argv, tool *t)
{
  static worker w; /* static, because other threads may still use it after a pass has ended the main thread */
  w = (worker){.base = t, .argc = argc, .argv = argv};
  vyre_status status = begin(&w);
  if (!status) {
    status = work_all(&w);
    status = vyre_status_join(status, jobs_send(&w));
    if (status && !w.is_server_lost)
      release_all(&w);
    if (!w.is_server_lost)
      status = vyre_status_join(status, claims_leave(&w));
    status = vyre_status_join(status, metrics_write(&w, true));
    if (w.reproducers[0])
      rmdir(w.reproducers);
  }
  jobs_free(&w);
  if (w.claims)
    claims_free(&w);
  free(w.claims);
  queue_ends_free(&w.ends);
  queue_close(&w.queue);
  return tool_complain(status);
}
