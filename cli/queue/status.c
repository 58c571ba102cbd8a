/* vyre-queue status.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre_queue.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vyre/io.h"

enum { SHOWN_FAILURES = 20, ALIVE_MS = 60000 /* a worker without a sign of life for this time counts as lost */ };

typedef struct progress {
  uint64_t jobs, done, failed, aside, hits, acknowledged, waiting, running, workers;
} progress;

vyre_status
queue_each(const queue *q, const char *key, hash_visit visit, void *user)
{
  char cursor[24] = "0";
  do {
    redisReply *found;
    VYRE_TRY(remote_ask(q->server, &found, "HSCAN", key, cursor, "COUNT", "1000", NULL));
    snprintf(cursor, sizeof cursor, "%s", found->element[0]->str);
    const redisReply *pairs = found->element[1];
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i + 1 < pairs->elements && !status; i += 2)
      status = visit(user, pairs->element[i], pairs->element[i + 1]);
    freeReplyObject(found);
    VYRE_TRY(status);
  } while (strcmp(cursor, "0") != 0);
  return VYRE_OK;
}

static uint64_t
number_of(const redisReply *reply)
{
  return reply->type == REDIS_REPLY_INTEGER ? (uint64_t)reply->integer : reply->str ? strtoull(reply->str, NULL, 10) : 0;
}

/* Counts the workers that renewed their leases lately.  A consumer is a list of names and values: name, pending, idle. */
static uint64_t
count_workers(const redisReply *consumers)
{
  uint64_t count = 0;
  for (size_t i = 0; i < consumers->elements; i++) {
    const redisReply *one = consumers->element[i];
    const bool is_worker = one->elements >= 6 && one->element[1]->str && strcmp(one->element[1]->str, QUEUE_RELEASED) != 0;
    count += is_worker && one->element[5]->integer < ALIVE_MS;
  }
  return count;
}

/* Returns the number of jobs that workers hold.  The summary of XPENDING has a list of consumers and their counts as its last part.
 */
static uint64_t
count_claimed(const redisReply *summary)
{
  uint64_t count = 0;
  const redisReply *consumers = summary->elements == 4 ? summary->element[3] : summary;
  for (size_t i = 0; consumers != summary && i < consumers->elements; i++)
    if (strcmp(consumers->element[i]->element[0]->str, QUEUE_RELEASED) != 0)
      count += number_of(consumers->element[i]->element[1]);
  return count;
}

static vyre_status
read_progress(const queue *q, progress *out)
{
  remote_commands ask = {0};
  redisReply **replies = NULL;
  vyre_status status = remote_add_texts(&ask, "HLEN", q->all, NULL);
  if (!status)
    status = remote_add_texts(&ask, "HMGET", q->counts, "done", "failed", "aside", "hits", "acknowledged", NULL);
  if (!status)
    status = remote_add_texts(&ask, "XLEN", q->jobs, NULL);
  if (!status)
    status = remote_add_texts(&ask, "XPENDING", q->jobs, QUEUE_GROUP, NULL);
  if (!status)
    status = remote_add_texts(&ask, "XINFO", "CONSUMERS", q->jobs, QUEUE_GROUP, NULL);
  if (!status)
    status = remote_run(q->server, &ask, &replies);
  if (!status) {
    redisReply *const *counts = replies[1]->element;
    const uint64_t left = number_of(replies[2]), claimed = count_claimed(replies[3]);
    *out = (progress){.jobs = number_of(replies[0]),
                      .done = number_of(counts[0]),
                      .failed = number_of(counts[1]),
                      .aside = number_of(counts[2]),
                      .hits = number_of(counts[3]),
                      .acknowledged = number_of(counts[4]),
                      .running = claimed < left ? claimed : left,
                      .workers = count_workers(replies[4])};
    out->waiting = left - out->running;
  }
  remote_replies_free(replies, ask.count);
  remote_commands_free(&ask);
  return status;
}

/* ---- failures ------------------------------------------------------------------------------------------------------------ */

typedef struct listing {
  const queue *queue;
  vyre_bytes *out;
  uint64_t count;
  bool is_json;
} listing;

static vyre_status
print_failure(listing *l, const char *name, const char *job, const queue_result *result)
{
  const char *fix = strstr(result->message, "error: "), *text = fix && !l->is_json ? fix : result->message;
  if (!l->is_json)
    return vyre_bytes_printf(l->out, "%s: %s: %.*s\n", name, result->end == QUEUE_ASIDE ? "set aside" : "failed",
                             (int)strcspn(text, "\n"), text);
  VYRE_TRY(vyre_json_member(l->count == 1 ? "\n    {" : ",\n    {", "name", name, l->out));
  VYRE_TRY(vyre_json_member(", ", "job", job, l->out));
  VYRE_TRY(vyre_json_member(", ", "end", queue_end_words[result->end], l->out));
  VYRE_TRY(vyre_bytes_printf(l->out, ", \"code\": %d, \"tries\": %" PRIu64, result->code, result->tries));
  VYRE_TRY(vyre_json_member(", ", "message", result->message, l->out));
  return vyre_bytes_append(l->out, "}", 1);
}

static vyre_status
list_failure(void *user, const redisReply *field, const redisReply *value)
{
  listing *l = user;
  char output[REMOTE_HASH];
  queue_result result;
  queue_record record;
  redisReply *of;
  if (!queue_parse_result(value->str, &result, output) || result.end == QUEUE_DONE)
    return VYRE_OK;
  if (++l->count > SHOWN_FAILURES && !l->is_json)
    return VYRE_OK;
  VYRE_TRY(remote_ask(l->queue->server, &of, "HGET", l->queue->all, field->str, NULL));
  const bool is_known = of->type == REDIS_REPLY_STRING && queue_parse_record(of->str, &record);
  vyre_status status = print_failure(l, is_known ? record.name : "?", field->str, &result);
  freeReplyObject(of);
  return status;
}

/* ---- output -------------------------------------------------------------------------------------------------------------- */

static vyre_status
print_text(const queue *q, const progress *p, vyre_bytes *out)
{
  listing failures = {.queue = q, .out = out};
  VYRE_TRY(vyre_bytes_printf(out, "queue '%s' on %s\n", remote_name(q->server), remote_server(q->server)));
  const struct {
    const char *what;
    uint64_t count;
  } lines[] = {{"jobs", p->jobs},       {"done", p->done},       {"of these from the cache", p->hits}, {"failed", p->failed},
               {"set aside", p->aside}, {"waiting", p->waiting}, {"claimed by workers", p->running},   {"workers", p->workers}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    VYRE_TRY(vyre_bytes_printf(out, "%10" PRIu64 "  %s\n", lines[i].count, lines[i].what));
  if (p->failed + p->aside)
    VYRE_TRY(queue_each(q, q->results, list_failure, &failures));
  if (failures.count > SHOWN_FAILURES)
    VYRE_TRY(
        vyre_bytes_printf(out, "%" PRIu64 " more: vyre-queue status -format=json lists all\n", failures.count - SHOWN_FAILURES));
  return VYRE_OK;
}

static vyre_status
print_json(const queue *q, const progress *p, vyre_bytes *out)
{
  listing failures = {.queue = q, .out = out, .is_json = true};
  VYRE_TRY(vyre_json_member("{\"version\": 1, ", "queue", remote_name(q->server), out));
  VYRE_TRY(vyre_json_member(", ", "server", remote_server(q->server), out));
  VYRE_TRY(vyre_bytes_printf(out,
                             ", \"jobs\": %" PRIu64 ", \"done\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"failed\": %" PRIu64
                             ", \"aside\": %" PRIu64 ", \"waiting\": %" PRIu64 ", \"claimed\": %" PRIu64 ", \"workers\": %" PRIu64
                             ", \"acknowledged\": %" PRIu64 ",\n  \"failures\": [",
                             p->jobs, p->done, p->hits, p->failed, p->aside, p->waiting, p->running, p->workers, p->acknowledged));
  if (p->failed + p->aside)
    VYRE_TRY(queue_each(q, q->results, list_failure, &failures));
  return vyre_bytes_printf(out, "]}\n");
}

vyre_status
command_status(queue_line *line, const queue *q)
{
  progress p;
  vyre_bytes text = {0};
  VYRE_TRY(read_progress(q, &p));
  vyre_status status = line->status && line->status[0] == 'j' ? print_json(q, &p, &text) : print_text(q, &p, &text);
  if (!status)
    status = vyre_file_write("-", text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}
