/* vyre-queue collect: writes the outputs of finished jobs as vyre-passmgr would have written them.
 *
 * The jobs are those of one set of settings, in the order of their names.  An output whose checksum is wrong is removed with its
 * job, so that the job can be submitted again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre_queue.h"

#include "base/grow.h"
#include "cli/options/console.h"
#include "cli/outputs/output_cache.h"
#include "cli/outputs/outputs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GROUP = 64 };

typedef struct job {
  char hash[REMOTE_HASH];
  char *name; /* owned */
} job;

typedef struct jobs {
  const queue *queue;
  const char *settings;    /* the chosen ones, or "" until a job is found */
  char first[REMOTE_HASH]; /* the settings of the first job, if none are chosen */
  bool is_mixed;           /* other jobs have other settings, and none are chosen */
  job *items;
  uint32_t count, capacity;
  char **wanted; /* names of inputs, sorted, or NULL for all jobs */
  uint32_t wanted_count;
} jobs;

static int
compare_names(const void *left, const void *right)
{
  return strcmp(*(char *const *)left, *(char *const *)right);
}

static int
compare_jobs(const void *left, const void *right)
{
  const job *a = left, *b = right;
  const int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->hash, b->hash);
}

static vyre_status
keep_job(void *user, const redisReply *field, const redisReply *value)
{
  jobs *j = user;
  queue_record record;
  if (!value->str || !queue_parse_record(value->str, &record))
    return VYRE_OK;
  if (!j->settings[0] && !j->first[0])
    memcpy(j->first, record.settings, sizeof j->first);
  if (strcmp(record.settings, j->settings[0] ? j->settings : j->first) != 0) {
    j->is_mixed |= !j->settings[0];
    return VYRE_OK;
  }
  if (j->wanted && !bsearch(&record.name, j->wanted, j->wanted_count, sizeof *j->wanted, compare_names))
    return VYRE_OK;
  if (!vyre_grow(NULL, &j->items, &j->capacity, j->count + (uint64_t)1, sizeof *j->items))
    return VYRE_OUT_OF_MEMORY("for the jobs");
  job *to = &j->items[j->count];
  snprintf(to->hash, sizeof to->hash, "%s", field->str);
  to->name = strdup(record.name);
  j->count += to->name != NULL;
  return to->name ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the jobs");
}

/* Reads the chosen jobs, sorted, each once. */
static vyre_status
read_jobs(jobs *j)
{
  VYRE_TRY(queue_each(j->queue, j->queue->all, keep_job, j));
  if (j->is_mixed)
    return VYRE_ERROR(VYRE_CODE_USAGE, "the queue has jobs with several settings, whose outputs have the same names\n"
                                       "Fix: repeat the options of vyre-queue submit, such as -O, to choose the jobs");
  if (j->count == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "the queue has no job with these options and inputs\n"
                                       "Fix: give the inputs and options of vyre-queue submit, or leave them out for all jobs");
  qsort(j->items, j->count, sizeof *j->items, compare_jobs);
  uint32_t kept = 1;
  for (uint32_t i = 1; i < j->count; i++)
    if (strcmp(j->items[i].hash, j->items[kept - 1].hash) == 0)
      free(j->items[i].name);
    else
      j->items[kept++] = j->items[i];
  j->count = kept;
  return VYRE_OK;
}

/* ---- the command line of the jobs ---------------------------------------------------------------------------------------- */

/* The options of the jobs, and the user's options for outputs. */
typedef struct command {
  vyre_bytes settings; /* lines end with zero bytes */
  const char **argv;   /* owned array */
  int argc;
  tool_options options;
} command;

static vyre_status
read_settings(const queue *q, const char *hash, vyre_bytes *out)
{
  char key[REMOTE_KEY];
  redisReply *reply;
  remote_key(q->server, "settings", hash, key);
  VYRE_TRY(remote_ask(q->server, &reply, "GET", key, NULL));
  vyre_status status = reply->type == REDIS_REPLY_STRING
                           ? vyre_bytes_append(out, reply->str, reply->len)
                           : VYRE_ERROR(VYRE_CODE_INPUT, "the queue has lost the settings of the jobs\n"
                                                         "Fix: submit the jobs again");
  freeReplyObject(reply);
  return status;
}

/* Parses the settings, the options of outputs, and the names of jobs as a command line of vyre-passmgr. */
static vyre_status
make_command(const tool_options *given, const jobs *j, const char *settings, command *out)
{
  VYRE_TRY(read_settings(j->queue, settings, &out->settings));
  out->argv = calloc((size_t)j->count + out->settings.size / 2 + 8, sizeof *out->argv);
  if (!out->argv)
    return VYRE_OUT_OF_MEMORY("for the jobs");
  out->argv[out->argc++] = "vyre-queue";
  for (char *line = out->settings.size ? out->settings.data : NULL; line && *line;) {
    char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');
    *end = '\0';
    if (line[0] == '-')
      out->argv[out->argc++] = line;
    line = next;
  }
  const char *const texts[] = {given->outdir ? "-outdir" : NULL, given->outdir, given->output ? "-o" : NULL, given->output,
                               given->in_place ? "-in-place" : NULL};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i])
      out->argv[out->argc++] = texts[i];
  out->argv[out->argc++] = "--";
  for (uint32_t i = 0; i < j->count; i++)
    out->argv[out->argc++] = j->items[i].name;
  return options_parse(out->argc, (char **)(uintptr_t)out->argv, NULL, &out->options);
}

/* ---- outputs ------------------------------------------------------------------------------------------------------------- */

typedef struct collecting {
  const jobs *jobs;
  command *command;
  outputs outputs;
  archive_output archive;
  const char *reproducers; /* a folder, or NULL */
  uint64_t written, failed, unfinished;
  int code;
} collecting;

/* Prints the messages and returns the exit code of an input that failed. */
static void
report(collecting *to, const char *name, vyre_status why)
{
  const int code = console_complain("vyre-queue", vyre_status_note(why, "input '%s'", name));
  to->failed++;
  to->code = to->code ? to->code : code;
}

static vyre_status
write_reproducer(const collecting *to, const job *from)
{
  char key[REMOTE_KEY], path[PATH_MAX];
  redisReply *reply;
  remote_key(to->jobs->queue->server, "reproducer", from->hash, key);
  VYRE_TRY(remote_ask(to->jobs->queue->server, &reply, "GET", key, NULL));
  vyre_status status = VYRE_OK;
  if (mkdir(to->reproducers, 0777) != 0 && errno != EEXIST)
    status =
        VYRE_ERROR(VYRE_CODE_INPUT, "cannot create the folder '%s': %s\nFix: name a folder that can be written in -reproducers",
                   to->reproducers, strerror(errno));
  snprintf(path, sizeof path, "%s/%s.reproducer.vir", to->reproducers, from->hash);
  if (!status && reply->type == REDIS_REPLY_STRING) {
    status = vyre_file_write(path, reply->str, reply->len);
    fprintf(stderr, "vyre-queue: reproducer of '%s': %s\n", from->name, path);
  }
  freeReplyObject(reply);
  return status;
}

/* Removes a damaged output with its job and result, so that the job can be submitted again. */
static vyre_status
forget(const collecting *to, const job *from, const char *output)
{
  static const char script[] = "redis.call('HDEL', KEYS[1], ARGV[1])\n"
                               "if redis.call('HDEL', KEYS[2], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[3], 'done', -1) end\n"
                               "return redis.call('DEL', KEYS[4])";
  const queue *q = to->jobs->queue;
  char key[REMOTE_KEY];
  redisReply *reply;
  remote_key(q->server, "output", output, key);
  VYRE_TRY(remote_ask(q->server, &reply, "EVAL", script, "4", q->all, q->results, q->counts, key, from->hash, NULL));
  freeReplyObject(reply);
  return VYRE_ERROR(VYRE_CODE_INPUT, "its output on the server is damaged, and was removed\n"
                                     "Fix: run vyre-queue submit, a worker and vyre-queue collect again");
}

static vyre_status
write_output(collecting *to, uint32_t index, work *w)
{
  const char *path;
  if (w->said.size)
    fwrite(w->said.data, 1, w->said.size, stderr);
  to->written++;
  if (to->archive.from) {
    archive_output_keep(&to->archive, &to->command->options.archives, to->jobs->items[index].name, &w->output);
    return VYRE_OK;
  }
  VYRE_TRY(outputs_choose(&to->outputs, index, w->kind, &path));
  return vyre_file_write(path, w->output.data, w->output.size);
}

/* Writes the output of a finished job.  `entry` is the reply for its output. */
static vyre_status
end_one(collecting *to, uint32_t index, const queue_result *result, const char *output, const redisReply *entry)
{
  const job *from = &to->jobs->items[index];
  uint64_t key[2] = {0};
  work w = {.path = from->name};
  if (result->end != QUEUE_DONE) {
    const char *text = result->message;
    const size_t length = strlen(text), end = length && text[length - 1] == '\n';
    to->failed++;
    to->code = to->code ? to->code : result->code;
    fprintf(stderr, "vyre-queue: the job '%s' %s:\n%.*s\n", from->name, result->end == QUEUE_ASIDE ? "was set aside" : "failed",
            (int)(length - end), text);
    return to->reproducers && result->end == QUEUE_ASIDE ? write_reproducer(to, from) : VYRE_OK;
  }
  sscanf(output, "%16" SCNx64 "%16" SCNx64, &key[1], &key[0]);
  vyre_status status = VYRE_OK;
  if (entry->type != REDIS_REPLY_STRING || !output_entry_unpack(entry->str, entry->len, key, &w))
    status = forget(to, from, output);
  else
    status = write_output(to, index, &w);
  if (status)
    report(to, from->name, status);
  vyre_bytes_free(&w.said);
  vyre_bytes_free(&w.output);
  return VYRE_OK;
}

/* Writes the outputs of jobs from `first` on. */
static vyre_status
collect_group(collecting *to, uint32_t first, uint32_t count)
{
  const queue *q = to->jobs->queue;
  remote_part parts[GROUP + 2] = {{"HMGET", 5}, {q->results, strlen(q->results)}};
  remote_commands ask = {0}, get = {0};
  redisReply **results = NULL, **entries = NULL;
  queue_result ends[GROUP];
  char hashes[GROUP][REMOTE_HASH] = {{0}}, key[REMOTE_KEY];
  bool is_finished[GROUP] = {0};
  for (uint32_t i = 0; i < count; i++)
    parts[i + 2] = (remote_part){to->jobs->items[first + i].hash, REMOTE_HASH - 1};
  vyre_status status = remote_add(&ask, parts, count + (size_t)2);
  if (!status)
    status = remote_run(q->server, &ask, &results);
  for (uint32_t i = 0; i < count && !status; i++) {
    const redisReply *one = results[0]->element[i];
    is_finished[i] = one->type == REDIS_REPLY_STRING && queue_parse_result(one->str, &ends[i], hashes[i]);
    to->unfinished += !is_finished[i];
    remote_key(q->server, "output", hashes[i][0] ? hashes[i] : "-", key);
    status = remote_add_texts(&get, "GET", key, NULL);
  }
  if (!status)
    status = remote_run(q->server, &get, &entries);
  for (uint32_t i = 0; i < count && !status; i++)
    if (is_finished[i])
      status = end_one(to, first + i, &ends[i], hashes[i], entries[i]);
  remote_replies_free(results, ask.count);
  remote_replies_free(entries, get.count);
  remote_commands_free(&ask);
  remote_commands_free(&get);
  return status;
}

static vyre_status
collect_all(collecting *to)
{
  const tool_options *o = &to->command->options;
  bool is_written;
  VYRE_TRY(archive_output_begin(&o->archives, o->output, o->inputs.names[0], &to->archive));
  VYRE_TRY(outputs_prepare(o, &to->outputs));
  for (uint32_t i = 0; i < to->jobs->count; i += GROUP)
    VYRE_TRY(collect_group(to, i, to->jobs->count - i < GROUP ? to->jobs->count - i : GROUP));
  VYRE_TRY(archive_output_write(&to->archive, o->output, &is_written));
  if (to->unfinished == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%" PRIu64 " of %" PRIu32 " jobs are not finished, and have no output\n"
                    "Fix: start workers, wait until vyre-queue status shows no job that waits or is claimed, and collect again",
                    to->unfinished, to->jobs->count);
}

/* Sorts the names of the inputs that the user gave. */
static vyre_status
choose_names(const tool_options *o, jobs *j)
{
  if (!o->inputs.count)
    return VYRE_OK;
  j->wanted = malloc(o->inputs.count * sizeof *j->wanted);
  if (!j->wanted)
    return VYRE_OUT_OF_MEMORY("for the inputs");
  memcpy(j->wanted, o->inputs.names, o->inputs.count * sizeof *j->wanted);
  j->wanted_count = o->inputs.count;
  qsort(j->wanted, j->wanted_count, sizeof *j->wanted, compare_names);
  return VYRE_OK;
}

static vyre_status
choose_settings(const tool_options *o, char out[REMOTE_HASH])
{
  vyre_bytes settings = {0};
  out[0] = '\0';
  if (!settings_are_given(o))
    return VYRE_OK;
  vyre_status status = settings_print(NULL, o, &settings);
  settings_hash(&settings, out);
  vyre_bytes_free(&settings);
  return status;
}

vyre_status
command_collect(queue_line *line, const queue *q, int *out_code)
{
  char settings[REMOTE_HASH] = "";
  jobs j = {.queue = q, .settings = settings};
  static command c;
  collecting to = {.jobs = &j, .command = &c, .reproducers = line->reproducers};
  vyre_status status = choose_settings(&line->options, settings);
  if (!status)
    status = choose_names(&line->options, &j);
  if (!status)
    status = read_jobs(&j);
  if (!status)
    status = make_command(&line->options, &j, settings[0] ? settings : j.first, &c);
  if (!status)
    status = collect_all(&to);
  *out_code = to.code;
  outputs_free(&to.outputs);
  archive_output_free(&to.archive);
  options_free(&c.options);
  free(c.argv);
  vyre_bytes_free(&c.settings);
  for (uint32_t i = 0; i < j.count; i++)
    free(j.items[i].name);
  free(j.items);
  free(j.wanted);
  return status;
}
