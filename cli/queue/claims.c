/* Claims jobs: new ones, and those of lost workers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t
lease_of(const worker *w)
{
  return w->base->options.queue_lease.value * 1000;
}

/* ---- reading replies ----------------------------------------------------------------------------------------------------- */

/* Adds the entry [ID, [FIELD, VALUE, ...]] of the stream.  An entry that was deleted is nil, and is skipped. */
static void
add_claim(worker *w, const redisReply *entry)
{
  if (entry->type != REDIS_REPLY_ARRAY || entry->elements < 2 || w->count == MOST_CLAIMS)
    return;
  const redisReply *id = entry->element[0], *fields = entry->element[1];
  claim *c = &w->claims[w->count];
  *c = (claim){.tries = 1};
  snprintf(c->id, sizeof c->id, "%s", id->str ? id->str : "");
  if (fields->type == REDIS_REPLY_ARRAY && fields->elements >= 2 && fields->element[1]->str)
    snprintf(c->job, sizeof c->job, "%s", fields->element[1]->str);
  w->count++;
}

static void
add_claims(worker *w, const redisReply *entries)
{
  for (size_t i = 0; entries->type == REDIS_REPLY_ARRAY && i < entries->elements; i++)
    add_claim(w, entries->element[i]);
}

/* Reads the records and inputs of the claims.  A job that was cancelled has none, and ends. */
static vyre_status
read_records(worker *w)
{
  remote_commands get = {0};
  redisReply **replies = NULL;
  remote_part parts[MOST_CLAIMS + 2] = {{"HMGET", 5}, {w->queue.all, strlen(w->queue.all)}};
  for (uint32_t i = 0; i < w->count; i++)
    parts[i + 2] = (remote_part){w->claims[i].job, strlen(w->claims[i].job)};
  vyre_status status = remote_add(&get, parts, w->count + (size_t)2);
  if (!status)
    status = remote_run(w->queue.server, &get, &replies);
  for (uint32_t i = 0; i < w->count && !status; i++) {
    claim *c = &w->claims[i];
    c->record = replies[0]->element[i];
    replies[0]->element[i] = NULL;
    c->is_ended = c->record->type != REDIS_REPLY_STRING || !queue_parse_record(c->record->str, &c->is);
    if (c->is_ended)
      c->is = (queue_record){0};
  }
  remote_replies_free(replies, get.count);
  remote_commands_free(&get);
  return status;
}

static vyre_status
read_inputs(worker *w)
{
  remote_commands get = {0};
  redisReply **replies = NULL;
  remote_part parts[MOST_CLAIMS + 1] = {{"MGET", 4}};
  char(*keys)[REMOTE_KEY] = malloc(w->count * sizeof *keys);
  if (!keys)
    return VYRE_OUT_OF_MEMORY("for inputs");
  for (uint32_t i = 0; i < w->count; i++) {
    remote_key(w->queue.server, "input", w->claims[i].is_ended ? "-" : w->claims[i].is.input, keys[i]);
    parts[i + 1] = (remote_part){keys[i], strlen(keys[i])};
  }
  vyre_status status = remote_add(&get, parts, w->count + (size_t)1);
  if (!status)
    status = remote_run(w->queue.server, &get, &replies);
  for (uint32_t i = 0; i < w->count && !status; i++) {
    const redisReply *one = replies[0]->element[i];
    if (one->type == REDIS_REPLY_STRING)
      status = vyre_bytes_append(&w->claims[i].bytes, one->str, one->len);
    w->counts.bytes_in += w->claims[i].bytes.size;
  }
  remote_replies_free(replies, get.count);
  remote_commands_free(&get);
  free(keys);
  return status;
}

/* ---- jobs of lost workers ------------------------------------------------------------------------------------------------ */

/* Reads how often each job was started after its first claim. */
static vyre_status
read_tries(worker *w)
{
  remote_commands ask = {0};
  redisReply **replies = NULL;
  remote_part parts[MOST_CLAIMS + 2] = {{"HMGET", 5}, {w->queue.started, strlen(w->queue.started)}};
  if (w->count == 0)
    return VYRE_OK;
  for (uint32_t i = 0; i < w->count; i++)
    parts[i + 2] = (remote_part){w->claims[i].job, strlen(w->claims[i].job)};
  vyre_status status = remote_add(&ask, parts, w->count + (size_t)2);
  if (!status)
    status = remote_run(w->queue.server, &ask, &replies);
  for (uint32_t i = 0; i < w->count && !status; i++) {
    const redisReply *one = replies[0]->element[i];
    w->claims[i].tries = 2 + (one->type == REDIS_REPLY_STRING ? strtoull(one->str, NULL, 10) : 0);
  }
  remote_replies_free(replies, ask.count);
  remote_commands_free(&ask);
  return status;
}

vyre_status
claims_start(const worker *w, const claim *c)
{
  redisReply *reply;
  VYRE_TRY(remote_ask(w->queue.server, &reply, "HINCRBY", w->queue.started, c->job, "1", NULL));
  freeReplyObject(reply);
  return VYRE_OK;
}

enum { RECLAIMED = 8 /* jobs that are claimed at once; the server looks at ten times as many */ };

/* Claims jobs whose lease has ended, from *cursor on, which moves.  Each call looks at a part of the claimed jobs, so that many
 * workers with many jobs do not look at all of them again and again. */
static vyre_status
reclaim(worker *w, char cursor[CLAIM_ID])
{
  char idle[24], count[12];
  redisReply *reply;
  const uint32_t threads = w->base->options.threads;
  snprintf(idle, sizeof idle, "%" PRIu64, lease_of(w));
  snprintf(count, sizeof count, "%" PRIu32, threads > RECLAIMED ? threads : RECLAIMED);
  VYRE_TRY(remote_ask(w->queue.server, &reply, "XAUTOCLAIM", w->queue.jobs, QUEUE_GROUP, w->consumer, idle, cursor, "COUNT", count,
                      NULL));
  snprintf(cursor, CLAIM_ID, "%s", reply->elements ? reply->element[0]->str : "0-0");
  if (reply->elements > 1)
    add_claims(w, reply->element[1]);
  freeReplyObject(reply);
  w->counts.reclaimed += w->count;
  return read_tries(w);
}

/* ---- new jobs ------------------------------------------------------------------------------------------------------------ */

/* `from` is ">" for jobs that no worker has claimed, and "0" for those of this worker whose reply was lost with a connection. */
static vyre_status
claim_from(worker *w, const char *from, uint32_t most, uint32_t milliseconds)
{
  char count[12], block[12];
  redisReply *reply;
  snprintf(count, sizeof count, "%" PRIu32, most);
  snprintf(block, sizeof block, "%" PRIu32, milliseconds);
  VYRE_TRY(remote_ask(w->queue.server, &reply, "XREADGROUP", "GROUP", QUEUE_GROUP, w->consumer, "COUNT", count, "BLOCK", block,
                      "STREAMS", w->queue.jobs, from, NULL));
  if (reply->type == REDIS_REPLY_ARRAY && reply->elements && reply->element[0]->elements == 2)
    add_claims(w, reply->element[0]->element[1]);
  freeReplyObject(reply);
  return VYRE_OK;
}

vyre_status
claims_fetch(worker *w, uint32_t most, uint32_t milliseconds)
{
  static uint64_t next; /* the time of the next search for jobs of lost workers */
  static char cursor[CLAIM_ID] = "0-0";
  const uint64_t begun = clock_now();
  claims_free(w);
  if (begun >= next) {
    VYRE_TRY(reclaim(w, cursor));
    if (w->count == 0 && strcmp(cursor, "0-0") == 0)
      next = begun + lease_of(w) * 250000; /* a quarter of the lease, in nanoseconds */
  }
  most = most < MOST_CLAIMS ? most : MOST_CLAIMS;
  if (w->count == 0)
    VYRE_TRY(claim_from(w, ">", most, milliseconds));
  if (w->count == 0) {
    VYRE_TRY(claim_from(w, "0", most, 1));
    VYRE_TRY(read_tries(w));
  }
  if (w->count) {
    VYRE_TRY(read_records(w));
    VYRE_TRY(read_inputs(w));
  }
  w->counts.idle_ns += clock_now() - begun;
  return VYRE_OK;
}

vyre_status
claims_is_drained(const worker *w, bool *out)
{
  redisReply *reply;
  VYRE_TRY(remote_ask(w->queue.server, &reply, "XLEN", w->queue.jobs, NULL));
  *out = reply->integer == 0;
  freeReplyObject(reply);
  return VYRE_OK;
}

vyre_status
claims_add_release(const worker *w, const claim *c, remote_commands *to)
{
  char idle[24];
  snprintf(idle, sizeof idle, "%" PRIu64, lease_of(w));
  return remote_add_texts(to, "XCLAIM", w->queue.jobs, QUEUE_GROUP, QUEUE_RELEASED, "0", c->id, "IDLE", idle, "JUSTID", NULL);
}

void
claims_free(worker *w)
{
  for (uint32_t i = 0; i < w->count; i++) {
    vyre_bytes_free(&w->claims[i].bytes);
    if (w->claims[i].record)
      freeReplyObject(w->claims[i].record);
  }
  w->count = 0;
}

/* ---- leases -------------------------------------------------------------------------------------------------------------- */

/* Renews the leases of a consumer.  KEYS: jobs.  ARGV: group, consumer. */
static const char renew[] = "local held = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 2000, ARGV[2])\n"
                            "for _, one in ipairs(held) do\n"
                            "  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, one[1], 'JUSTID')\n"
                            "end\n"
                            "return #held";

/* Removes the consumer, and others that were lost ten minutes ago, if they hold no jobs.  KEYS: jobs.  ARGV: group, consumer. */
static const char leave[] = "for _, one in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do\n"
                            "  if one[4] == 0 and (one[2] == ARGV[2] or one[6] > 600000) then\n"
                            "    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], one[2])\n"
                            "  end\n"
                            "end\n"
                            "return 1";

vyre_status
claims_leave(const worker *w)
{
  redisReply *reply;
  VYRE_TRY(remote_ask(w->queue.server, &reply, "EVAL", leave, "1", w->queue.jobs, QUEUE_GROUP, w->consumer, NULL));
  freeReplyObject(reply);
  return VYRE_OK;
}

/* Renews the leases until the parent ends.  Without a server it tries again: the leases may end meanwhile, which is harmless. */
static _Noreturn void
renew_leases(worker *w)
{
  const uint64_t pause = lease_of(w) / 3;
  for (;;) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)(pause / 1000), .tv_nsec = (long)(pause % 1000) * 1000000}, NULL);
    redisReply *reply = NULL;
    vyre_status status = remote_ask(w->queue.server, &reply, "EVAL", renew, "1", w->queue.jobs, QUEUE_GROUP, w->consumer, NULL);
    if (reply)
      freeReplyObject(reply);
    vyre_status_free(status);
  }
}

vyre_status
claims_keep_leases(worker *w)
{
  static isolated keeper; /* lives until the worker ends */
  VYRE_TRY(isolate_begin(0, &keeper));
  if (keeper.pid == 0)
    renew_leases(w);
  return VYRE_OK;
}
