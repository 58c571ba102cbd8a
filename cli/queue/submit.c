/* vyre-queue submit, cancel, and the settings of jobs.
 *
 * An input is stored once by the hash of its bytes.  It is stored before its job, and jobs are added by a script that skips known
 * ones, so the command can be interrupted and repeated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre_queue.h"

#include "base/files/names.h"
#include "cli/inputs/hasher.h"
#include "cli/options/console.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vyre/io.h"
#include "vyre/passmgr.h"

enum { GROUP = 256, GROUP_BYTES = 8 << 20 };

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

void
settings_hash(const vyre_bytes *settings, char out[REMOTE_HASH])
{
  hasher h;
  uint64_t hash[2];
  hasher_begin(&h);
  hasher_add(&h, settings->data, settings->size);
  hasher_end(&h, hash);
  remote_print_hash(hash, out);
}

bool
settings_are_given(const tool_options *o)
{
  vyre_bytes text = {0};
  vyre_status status = options_print_shaping(o, &text);
  const bool given = status || text.size || o->passes || o->passes_file || o->emit || o->load.count;
  vyre_status_free(status);
  vyre_bytes_free(&text);
  return given;
}

/* Appends the canonical text of the pipeline.  Loads the plugins, which also checks them. */
static vyre_status
print_pipeline(const tool_options *o, vyre_bytes *out)
{
  vyre_registry *registry = NULL;
  vyre_pipeline *pipeline = NULL;
  vyre_bytes file = {0};
  const char *path = o->passes && o->passes[0] == '@' ? o->passes + 1 : o->passes_file;
  vyre_status status = vyre_registry_create(NULL, &registry);
  if (!status)
    status = vyre_registry_load_core(registry);
  for (uint32_t i = 0; i < o->load.count && !status; i++)
    status = vyre_registry_load(registry, o->load.names[i], VYRE_ORIGIN_OUTSIDE);
  if (!status && path)
    status = vyre_file_read_as(path, VYRE_FILE_TEXT, &file);
  const char *text = path ? (file.data ? file.data : "") : o->passes;
  if (!status)
    status = vyre_pipeline_parse(registry, text, strlen(text), path ? path : "-passes", &pipeline);
  if (!status)
    status = vyre_pipeline_print(pipeline, out);
  vyre_bytes_free(&file);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  return status;
}

/* Refuses options that a worker would not accept from a job. */
static vyre_status
check_lines(const vyre_bytes *text)
{
  char line[256];
  for (const char *at = text->size ? text->data : ""; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    if (!options_is_safe(line))
      return VYRE_ERROR(VYRE_CODE_USAGE, "a job cannot have the option '%.60s'\nFix: leave it out, or give it to the workers",
                        line);
  }
  return VYRE_OK;
}

/* Reads a plugin's file and computes its hash. */
static vyre_status
read_plugin(const char *path, vyre_bytes *out, char sha[QUEUE_SHA])
{
  VYRE_TRY(vyre_file_read_as(path, VYRE_FILE_PLAIN, out));
  queue_sha256(out, sha);
  return VYRE_OK;
}

/* Stores a value unless the server has it. */
static vyre_status
store(const queue *q, const char *kind, const char *id, const vyre_bytes *bytes)
{
  char key[REMOTE_KEY];
  remote_commands set = {0};
  redisReply **replies = NULL;
  remote_key(q->server, kind, id, key);
  const remote_part parts[] = {{"SET", 3}, {key, strlen(key)}, {bytes->data ? bytes->data : "", bytes->size}, {"NX", 2}};
  vyre_status status = remote_add(&set, parts, 4);
  if (!status)
    status = remote_run(q->server, &set, &replies);
  remote_replies_free(replies, set.count);
  remote_commands_free(&set);
  return status;
}

vyre_status
settings_print(const queue *to, const tool_options *o, vyre_bytes *out)
{
  vyre_bytes pipeline = {0};
  if (o->plugin_dir.count)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-plugin-dir does not describe jobs\nFix: name each plugin with -load=FILE");
  VYRE_TRY(options_print_shaping(o, out));
  if (o->emit)
    VYRE_TRY(vyre_bytes_printf(out, "-emit=%s\n", o->emit));
  VYRE_TRY(check_lines(out));
  vyre_status status = o->passes || o->passes_file ? print_pipeline(o, &pipeline) : VYRE_OK;
  if (!status && pipeline.size)
    status = vyre_bytes_printf(out, "-passes=%.*s\n", (int)pipeline.size, pipeline.data);
  vyre_bytes_free(&pipeline);
  for (uint32_t i = 0; i < o->load.count && !status; i++) {
    char sha[QUEUE_SHA];
    vyre_bytes bytes = {0};
    status = read_plugin(o->load.names[i], &bytes, sha);
    if (!status && to)
      status = store(to, "plugin", sha, &bytes);
    if (!status)
      status = vyre_bytes_printf(out, "plugin %s %s\n", sha, path_name(o->load.names[i]));
    vyre_bytes_free(&bytes);
  }
  return status;
}

static vyre_status
store_settings(const queue *q, const tool_options *o, char out[REMOTE_HASH])
{
  vyre_bytes settings = {0};
  vyre_status status = settings_print(q, o, &settings);
  settings_hash(&settings, out);
  if (!status)
    status = store(q, "settings", out, &settings);
  vyre_bytes_free(&settings);
  return status;
}

/* ---- jobs ---------------------------------------------------------------------------------------------------------------- */

/* Adds jobs that are not known.  KEYS: jobs, all, results, counts, started.  ARGV: 1 to submit failed jobs again; job, record; ...
 */
static const char add[] = "local new = 0\n"
                          "for i = 2, #ARGV, 2 do\n"
                          "  local add = redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1]) == 1\n"
                          "  if not add and ARGV[1] == '1' then\n"
                          "    local result = redis.call('HGET', KEYS[3], ARGV[i])\n"
                          "    local word = result and string.match(result, '^%a+')\n"
                          "    if word == 'failed' or word == 'aside' then\n"
                          "      redis.call('HDEL', KEYS[3], ARGV[i])\n"
                          "      redis.call('HDEL', KEYS[5], ARGV[i])\n"
                          "      redis.call('HINCRBY', KEYS[4], word, -1)\n"
                          "      add = true\n"
                          "    end\n"
                          "  end\n"
                          "  if add then\n"
                          "    redis.call('XADD', KEYS[1], '*', 'job', ARGV[i])\n"
                          "    new = new + 1\n"
                          "  end\n"
                          "end\n"
                          "return new";

/* Inputs that are submitted together. */
typedef struct group {
  const queue *queue;
  const char *settings;
  bool retries;
  const char *names[GROUP];
  vyre_bytes bytes[GROUP];
  char inputs[GROUP][REMOTE_HASH];
  uint32_t count;
  size_t size;
  uint64_t added, all;
} group;

/* Stores the inputs that the server does not have. */
static vyre_status
store_inputs(group *g)
{
  remote_commands ask = {0}, set = {0};
  redisReply **has = NULL, **replies = NULL;
  char key[REMOTE_KEY];
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < g->count && !status; i++) {
    remote_key(g->queue->server, "input", g->inputs[i], key);
    status = remote_add_texts(&ask, "EXISTS", key, NULL);
  }
  if (!status)
    status = remote_run(g->queue->server, &ask, &has);
  for (uint32_t i = 0; i < g->count && !status; i++) {
    remote_key(g->queue->server, "input", g->inputs[i], key);
    if (has[i]->integer == 0)
      status = remote_add(&set, (const remote_part[]){{"SET", 3}, {key, strlen(key)}, {g->bytes[i].data, g->bytes[i].size}}, 3);
  }
  if (!status && set.count)
    status = remote_run(g->queue->server, &set, &replies);
  remote_replies_free(has, ask.count);
  remote_replies_free(replies, set.count);
  remote_commands_free(&ask);
  remote_commands_free(&set);
  return status;
}

static vyre_status
add_jobs(group *g)
{
  const queue *q = g->queue;
  remote_part parts[9 + 2 * GROUP] = {{"EVAL", 4},
                                      {add, sizeof add - 1},
                                      {"5", 1},
                                      {q->jobs, strlen(q->jobs)},
                                      {q->all, strlen(q->all)},
                                      {q->results, strlen(q->results)},
                                      {q->counts, strlen(q->counts)},
                                      {q->started, strlen(q->started)},
                                      {g->retries ? "1" : "0", 1}};
  static char jobs[GROUP][REMOTE_HASH];
  vyre_bytes records[GROUP] = {{0}};
  remote_commands commands = {0};
  redisReply **replies = NULL;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < g->count && !status; i++) {
    hasher h;
    uint64_t hash[2];
    hasher_begin(&h);
    hasher_add_text(&h, g->settings);
    hasher_add_text(&h, g->inputs[i]);
    hasher_add_text(&h, g->names[i]);
    hasher_end(&h, hash);
    remote_print_hash(hash, jobs[i]);
    status = vyre_bytes_printf(&records[i], "%s %s %s", g->settings, g->inputs[i], g->names[i]);
    parts[9 + 2 * i] = (remote_part){jobs[i], REMOTE_HASH - 1};
    parts[10 + 2 * i] = (remote_part){records[i].data, records[i].size};
  }
  if (!status)
    status = remote_add(&commands, parts, 9 + 2 * (size_t)g->count);
  if (!status)
    status = remote_run(q->server, &commands, &replies);
  if (!status)
    g->added += (uint64_t)replies[0]->integer;
  for (uint32_t i = 0; i < g->count; i++)
    vyre_bytes_free(&records[i]);
  remote_replies_free(replies, commands.count);
  remote_commands_free(&commands);
  return status;
}

static vyre_status
submit_group(group *g)
{
  vyre_status status = g->count ? store_inputs(g) : VYRE_OK;
  if (!status && g->count)
    status = add_jobs(g);
  for (uint32_t i = 0; i < g->count; i++)
    vyre_bytes_free(&g->bytes[i]);
  g->all += g->count;
  g->count = 0;
  g->size = 0;
  return status;
}

static vyre_status
read_input(group *g, const tool_options *o, const char *name)
{
  vyre_bytes *bytes = &g->bytes[g->count];
  hasher h;
  uint64_t hash[2];
  if (strcmp(name, "-") == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "standard input has no name, which a job needs\nFix: name a file");
  VYRE_TRY(archives_read(&o->archives, name, bytes));
  VYRE_TRY(queue_check_input(name, bytes, o->compile.language));
  hasher_begin(&h);
  hasher_add(&h, bytes->data, bytes->size);
  hasher_end(&h, hash);
  remote_print_hash(hash, g->inputs[g->count]);
  g->names[g->count] = name;
  return VYRE_OK;
}

vyre_status
command_submit(queue_line *line, const queue *q, int *out_code)
{
  static group g;
  char settings[REMOTE_HASH];
  const tool_options *o = &line->options;
  VYRE_TRY(store_settings(q, o, settings));
  VYRE_TRY(queue_create(q));
  g = (group){.queue = q, .settings = settings, .retries = line->retries};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < o->inputs.count && !status; i++) {
    vyre_status why = read_input(&g, o, o->inputs.names[i]);
    g.size += why ? 0 : g.bytes[g.count].size;
    if (why) {
      vyre_bytes_free(&g.bytes[g.count]);
      *out_code = *out_code ? *out_code : (int)vyre_status_code(why);
      *out_code = console_complain("vyre-queue", vyre_status_note(why, "input '%s'", o->inputs.names[i]));
    } else if (++g.count == GROUP || g.size > GROUP_BYTES) {
      status = submit_group(&g);
    }
  }
  status = vyre_status_join(status, status ? VYRE_OK : submit_group(&g));
  if (!status)
    printf("%" PRIu64 " job%s: %" PRIu64 " new, %" PRIu64 " known\n", g.all, g.all == 1 ? "" : "s", g.added, g.all - g.added);
  return status;
}

/* ---- cancel -------------------------------------------------------------------------------------------------------------- */

static vyre_status
remove_job(void *user, const redisReply *field, const redisReply *value)
{
  static const char script[] =
      "if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return redis.call('HDEL', KEYS[1], ARGV[1]) end\n"
      "return 0";
  const queue *q = user;
  redisReply *reply;
  (void)value;
  VYRE_TRY(remote_ask(q->server, &reply, "EVAL", script, "2", q->all, q->results, field->str, NULL));
  freeReplyObject(reply);
  return VYRE_OK;
}

/* Removes all keys of the queue. */
static vyre_status
remove_everything(const queue *q)
{
  char pattern[REMOTE_KEY], cursor[24] = "0";
  remote_key(q->server, "*", NULL, pattern);
  do {
    redisReply *found, *removed = NULL;
    VYRE_TRY(remote_ask(q->server, &found, "SCAN", cursor, "MATCH", pattern, "COUNT", "1000", NULL));
    snprintf(cursor, sizeof cursor, "%s", found->element[0]->str);
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < found->element[1]->elements && !status; i++) {
      status = remote_ask(q->server, &removed, "UNLINK", found->element[1]->element[i]->str, NULL);
      if (removed)
        freeReplyObject(removed);
      removed = NULL;
    }
    freeReplyObject(found);
    VYRE_TRY(status);
  } while (strcmp(cursor, "0") != 0);
  return VYRE_OK;
}

vyre_status
command_cancel(queue_line *line, const queue *q)
{
  redisReply *reply;
  VYRE_TRY(remote_ask(q->server, &reply, "XTRIM", q->jobs, "MAXLEN", "0", NULL)); /* workers end: no job is left */
  const long long count = reply->integer;
  freeReplyObject(reply);
  VYRE_TRY(queue_each(q, q->all, remove_job, (void *)(uintptr_t)q));
  if (line->all)
    VYRE_TRY(remove_everything(q));
  printf("%lld job%s cancelled%s\n", count, count == 1 ? "" : "s", line->all ? ", and the queue removed" : "");
  return VYRE_OK;
}
