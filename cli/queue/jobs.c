/* Processes the jobs of a queue with the options of their settings.
 *
 * A worker keeps the tool for the settings of its last jobs, because loading passes takes longer than a small job.  A job that was
 * claimed before runs in a process of its own: it may have crashed the worker.  If that process crashes, too, the job is released
 * for another try, and set aside after MOST_TRIES.  A job whose workers are lost without a crash is set aside after MOST_LOSSES.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include "base/clock.h"
#include "base/grow.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- results ------------------------------------------------------------------------------------------------------------- */

enum { SEND_BYTES = 4 << 20 };

vyre_status
jobs_send(worker *w)
{
  w->sent = clock_now();
  if (w->is_server_lost)
    return VYRE_OK;
  vyre_status status = queue_send_ends(&w->queue, &w->ends);
  w->is_server_lost = status != VYRE_OK;
  return status;
}

/* Keeps the first error, after which the worker ends. */
static void
lose(worker *w, vyre_status why)
{
  w->lost = vyre_status_join(w->lost, why);
}

/* Appends a result, and sends results when they are many or old. */
static void
end_job(worker *w, claim *c, const queue_result *result, const vyre_bytes *entry)
{
  vyre_status status = queue_add_end(&w->queue, result, entry, &w->ends);
  c->is_ended = true;
  w->counts.done += result->end == QUEUE_DONE;
  w->counts.failed += result->end == QUEUE_FAILED;
  w->counts.aside += result->end == QUEUE_ASIDE;
  w->counts.hits += result->is_hit;
  w->counts.bytes_out += entry->size;
  if (!status && (w->ends.commands.wire.size > SEND_BYTES || clock_now() - w->sent > UINT64_C(1000000000)))
    status = jobs_send(w);
  if (status)
    lose(w, status);
}

static queue_result
result_of(const claim *c, queue_end end, int code, const char *message)
{
  return (queue_result){.id = c->id, .job = c->job, .message = message, .code = code, .tries = c->tries, .end = end};
}

static void
fail_job(worker *w, claim *c, queue_end end, int code, const char *message)
{
  const queue_result result = result_of(c, end, code, message);
  end_job(w, c, &result, &(vyre_bytes){0});
}

/* Returns the messages of an input that failed. */
static vyre_status
print_failure(const work *of, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_append(out, of->said.data ? of->said.data : "", of->said.size));
  if (of->status)
    VYRE_TRY(vyre_bytes_printf(out, "vyre-passmgr: error: %s\n", vyre_status_text(of->status)));
  return VYRE_OK;
}

static void
fail_with(worker *w, claim *c, vyre_status why)
{
  vyre_bytes text = {0};
  vyre_status status = print_failure(&(work){.status = why}, &text);
  if (status)
    lose(w, status);
  else
    fail_job(w, c, QUEUE_FAILED, (int)vyre_status_code(why), text.data);
  vyre_bytes_free(&text);
}

static void
release_job(worker *w, claim *c)
{
  vyre_status status = claims_add_release(w, c, &w->ends.commands);
  c->is_ended = true;
  w->counts.released++;
  if (status)
    lose(w, status);
}

/* Stores the reproducer that was written for the job. */
static vyre_status
keep_reproducer(worker *w, const claim *c)
{
  char path[PATH_MAX], key[REMOTE_KEY];
  vyre_bytes text = {0};
  vyre_status status = VYRE_OK;
  DIR *folder = w->reproducers[0] ? opendir(w->reproducers) : NULL;
  for (const struct dirent *file; folder && (file = readdir(folder));) {
    if (file->d_name[0] == '.' || (size_t)snprintf(path, sizeof path, "%s/%s", w->reproducers, file->d_name) >= sizeof path)
      continue;
    text.size = 0;
    status = vyre_status_join(status, vyre_file_read_as(path, VYRE_FILE_PLAIN, &text));
    unlink(path);
  }
  if (folder)
    closedir(folder);
  remote_key(w->queue.server, "reproducer", c->job, key);
  if (!status && text.size)
    status = remote_add(&w->ends.commands, (const remote_part[]){{"SET", 3}, {key, strlen(key)}, {text.data, text.size}}, 3);
  vyre_bytes_free(&text);
  return status;
}

static void
end_failed(worker *w, claim *c, work *of)
{
  const int code = of->status ? (int)vyre_status_code(of->status) : of->reported_code;
  const bool is_crash = w->is_apart && of->status;
  vyre_bytes text = {0};
  const bool is_worker_fault = is_crash || (of->status && code == VYRE_CODE_DEVICE);
  vyre_status status = print_failure(of, &text);
  if (!status && is_worker_fault && c->tries < MOST_TRIES) {
    release_job(w, c);
    if (!w->is_apart) /* the worker has no device any more */
      status = vyre_status_note(VYRE_ERROR(VYRE_CODE_DEVICE, "%s", vyre_status_text(of->status)), "job '%s', which is released",
                                c->is.name);
  } else if (!status) {
    if (is_worker_fault)
      status = keep_reproducer(w, c);
    if (!status)
      fail_job(w, c, is_worker_fault ? QUEUE_ASIDE : QUEUE_FAILED, code, text.data);
  }
  if (status)
    lose(w, status);
  vyre_bytes_free(&text);
}

static void
end_done(worker *w, claim *c, work *of)
{
  char output[REMOTE_HASH];
  vyre_bytes entry = {0};
  queue_result result = result_of(c, QUEUE_DONE, 0, NULL);
  remote_print_hash(c->key.hash, output);
  result.output = output;
  vyre_status status = output_entry_pack(&c->key, of, &entry);
  if (status)
    lose(w, status);
  else
    end_job(w, c, &result, &entry);
  vyre_bytes_free(&entry);
}

/* Receives a finished input of the tool. */
static void
deliver(tool *t, uint32_t index)
{
  worker *w = t->deliver_user;
  work *of = &t->works[index];
  claim *c = &w->running[index];
  if (of->status || (of->reported_code && !of->has_output))
    end_failed(w, c, of);
  else
    end_done(w, c, of);
  if (of->report)
    vyre_report_add(t->report, of->report);
  vyre_report_destroy(of->report);
  of->report = NULL;
  vyre_status_free(of->status);
  of->status = VYRE_OK;
  vyre_bytes_free(&of->said);
  vyre_bytes_free(&of->output);
  for (note i = 0; i < NOTE__COUNT; i++)
    vyre_bytes_free(&of->notes[i]);
}

/* ---- the tool of settings ------------------------------------------------------------------------------------------------ */

void
jobs_free(worker *w)
{
  if (!w->tool)
    return;
  if (w->has_devices)
    vyre_status_free(tool_close_devices(w->tool));
  output_cache_end(&w->cache);
  w->cache = (output_cache){0};
  w->tool->report = NULL; /* the worker's */
  tool_free(w->tool);
  options_free(&w->tool->options);
  free(w->tool);
  free(w->arguments.all);
  w->arguments = (arguments){0};
  vyre_bytes_free(&w->text);
  w->tool = NULL;
  w->is_loaded = w->has_devices = false;
  w->settings[0] = '\0';
}

static vyre_status
append_argument(worker *w, char *argument)
{
  arguments *to = &w->arguments;
  if (!vyre_grow(NULL, &to->all, &to->capacity, to->count + (uint64_t)1, sizeof *to->all))
    return VYRE_OUT_OF_MEMORY("for the options of a job");
  to->all[to->count++] = argument;
  return VYRE_OK;
}

static bool
is_allowed(const worker *w, const char *sha)
{
  const name_list *allowed = &w->base->options.queue_plugins;
  for (uint32_t i = 0; i < allowed->count; i++)
    if (strcmp(allowed->names[i], sha) == 0)
      return true;
  return false;
}

/* Returns whether the file has this checksum. */
static bool
has_sha(const char *path, const char *sha)
{
  vyre_bytes bytes = {0};
  char found[QUEUE_SHA] = "";
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_PLAIN, &bytes);
  if (!status)
    queue_sha256(&bytes, found);
  vyre_status_free(status);
  vyre_bytes_free(&bytes);
  return strcmp(found, sha) == 0;
}

/* Writes the plugin to `path`, if the bytes on the server have the checksum. */
static vyre_status
fetch_plugin(worker *w, const char *sha, const char *path)
{
  char key[REMOTE_KEY], found[QUEUE_SHA] = "";
  redisReply *reply;
  remote_key(w->queue.server, "plugin", sha, key);
  VYRE_TRY(remote_ask(w->queue.server, &reply, "GET", key, NULL));
  if (reply->type == REDIS_REPLY_STRING)
    queue_sha256(&(vyre_bytes){.data = reply->str, .size = reply->len}, found);
  vyre_status status =
      strcmp(found, sha) == 0
          ? vyre_file_write_as(path, VYRE_FILE_PLAIN, reply->str, reply->len)
          : VYRE_ERROR(VYRE_CODE_USAGE, "the queue has no plugin with the SHA-256 %s\nFix: submit the job again", sha);
  freeReplyObject(reply);
  return status;
}

/* Makes the plugin of a line "plugin SHA256 NAME" an option of the tool, if the worker accepts it. */
static vyre_status
add_plugin(worker *w, const char *line)
{
  char folder[PATH_MAX], path[PATH_MAX + QUEUE_SHA + 64], sha[QUEUE_SHA];
  if (strspn(line, "0123456789abcdef") != QUEUE_SHA - 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "the job names a plugin without its SHA-256\nFix: submit the job again");
  snprintf(sha, sizeof sha, "%.*s", QUEUE_SHA - 1, line);
  if (!is_allowed(w, sha))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "the job needs the plugin '%.200s', which the worker does not accept\n"
                      "Fix: start workers with -queue-plugin=%s, and submit the job again with -retry",
                      line + QUEUE_SHA - 1 + (line[QUEUE_SHA - 1] == ' '), sha);
  const char *cache = vyre_cache_folder(w->base->options.on.cache_dir, folder, sizeof folder);
  if (!cache)
    return VYRE_ERROR(VYRE_CODE_USAGE, "the worker has no folder for plugins of jobs\nFix: name one with -cache-dir=DIR");
  for (const char *slash = strchr(cache + 1, '/');; slash = strchr(slash + 1, '/')) { /* creates the folder and those above it */
    snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - cache) : (int)strlen(cache), cache);
    if (mkdir(path, 0777) != 0 && errno != EEXIST && !slash)
      return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create the folder '%s': %s\nFix: name a folder that can be written in -cache-dir",
                        path, strerror(errno));
    if (!slash)
      break;
  }
  snprintf(path, sizeof path, "-load=%s/%s.so", cache, sha);
  if (!has_sha(path + strlen("-load="), sha))
    VYRE_TRY(fetch_plugin(w, sha, path + strlen("-load=")));
  char *copy = strdup(path);
  if (!copy || !vyre_grow(NULL, &w->base->options.responses.texts, &w->base->options.responses.capacity,
                          w->base->options.responses.count + (uint64_t)1, sizeof(char *))) {
    free(copy);
    return VYRE_OUT_OF_MEMORY("for a plugin");
  }
  w->base->options.responses.texts[w->base->options.responses.count++] = copy; /* freed with the options */
  return append_argument(w, copy);
}

/* Makes the line an argument of the tool, if a job may have it. */
static vyre_status
add_line(worker *w, char *line)
{
  static const char plugin[] = "plugin ";
  if (strncmp(line, plugin, sizeof plugin - 1) == 0)
    return add_plugin(w, line + sizeof plugin - 1);
  if (!options_is_safe(line))
    return VYRE_ERROR(VYRE_CODE_USAGE, "a job must not have the option '%.60s'\nFix: give it to the workers", line);
  return arguments_replace(line, w->argc, w->argv) ? VYRE_OK : append_argument(w, line);
}

static vyre_status
read_settings(worker *w, const char *settings)
{
  char key[REMOTE_KEY];
  redisReply *reply;
  remote_key(w->queue.server, "settings", settings, key);
  vyre_status status = remote_ask(w->queue.server, &reply, "GET", key, NULL);
  if (status) {
    lose(w, status);
    return VYRE_ERROR(VYRE_CODE_DEVICE, "the settings of the job cannot be read\nFix: start the server");
  }
  status = reply->type == REDIS_REPLY_STRING ? vyre_bytes_append(&w->text, reply->str, reply->len)
                                             : VYRE_ERROR(VYRE_CODE_USAGE, "the queue has lost the settings of the job\n"
                                                                           "Fix: submit the job again");
  freeReplyObject(reply);
  return status;
}

/* Parses the settings and the worker's own options as one command line. */
static vyre_status
parse_settings(worker *w, const char *settings)
{
  VYRE_TRY(read_settings(w, settings));
  VYRE_TRY(append_argument(w, w->argv[0]));
  for (char *line = w->text.size ? w->text.data : NULL; line && *line;) {
    char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');
    *end = '\0';
    VYRE_TRY(add_line(w, line));
    line = next;
  }
  for (int i = 1; i < w->argc; i++)
    VYRE_TRY(append_argument(w, w->argv[i]));
  return options_parse((int)w->arguments.count, w->arguments.all, NULL, &w->tool->options);
}

/* Makes the tool for the settings, unless the worker has it.  An error is one of the jobs. */
static vyre_status
make_tool(worker *w, const char *settings)
{
  if (w->is_loaded && strcmp(w->settings, settings) == 0)
    return VYRE_OK;
  jobs_free(w);
  w->tool = calloc(1, sizeof *w->tool);
  if (!w->tool)
    return VYRE_OUT_OF_MEMORY("for a job");
  w->tool->home = w->base->home;
  VYRE_TRY(parse_settings(w, settings));
  w->tool->options.denies_files = true;
  w->tool->report = w->base->report;
  w->tool->deliver = deliver;
  w->tool->deliver_user = w;
  VYRE_TRY(tool_load(w->tool));
  w->tool->options.output_cache.count = 0;
  VYRE_TRY(output_cache_begin(&w->tool->options, w->tool->registry, w->tool->pipeline, &w->cache));
  snprintf(w->settings, sizeof w->settings, "%s", settings);
  w->is_loaded = true;
  return VYRE_OK;
}

/* ---- processing ---------------------------------------------------------------------------------------------------------- */

/* Ends the jobs whose inputs cannot be used, and those whose outputs exist already. */
static vyre_status
find_hits(worker *w, claim *claims, uint32_t count)
{
  remote_commands ask = {0};
  redisReply **replies = NULL;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && !status; i++) {
    claim *c = &claims[i];
    char output[REMOTE_HASH], key[REMOTE_KEY];
    vyre_status why = queue_check_input(c->is.name, &c->bytes, w->tool->options.compile.language);
    if (why && !c->is_ended)
      fail_with(w, c, why);
    vyre_status_free(why);
    c->key = output_cache_key(&w->cache, &w->tool->options, c->is.name, 0, &c->bytes);
    remote_print_hash(c->key.hash, output);
    remote_key(w->queue.server, "output", output, key);
    status = remote_add_texts(&ask, "EXISTS", key, NULL);
  }
  if (!status)
    status = remote_run(w->queue.server, &ask, &replies);
  for (uint32_t i = 0; i < count && !status; i++) {
    char output[REMOTE_HASH];
    if (claims[i].is_ended || replies[i]->integer != 1)
      continue;
    queue_result result = result_of(&claims[i], QUEUE_DONE, 0, NULL);
    remote_print_hash(claims[i].key.hash, output);
    result.output = output;
    result.is_hit = true;
    end_job(w, &claims[i], &result, &(vyre_bytes){0});
  }
  remote_replies_free(replies, ask.count);
  remote_commands_free(&ask);
  return status;
}

/* Makes the folder for the reproducer of a job that may be set aside. */
static vyre_status
make_folder(worker *w)
{
  const char *in = getenv("TMPDIR");
  if (w->reproducers[0])
    return VYRE_OK;
  const int length = snprintf(w->reproducers, sizeof w->reproducers, "%s/vyre-queue-XXXXXX", in && strlen(in) < 40 ? in : "/tmp");
  if (length > 0 && mkdtemp(w->reproducers))
    return VYRE_OK;
  w->reproducers[0] = '\0';
  return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create a temporary folder: %s\nFix: set TMPDIR to a folder that can be written",
                    strerror(errno));
}

/* Processes the inputs of the tool, each in a process of its own if `is_apart` is set. */
static vyre_status
process_claims(worker *w, uint32_t count)
{
  tool *t = w->tool;
  const uint32_t threads = t->options.threads < count ? t->options.threads : count;
  if (w->is_apart) {
    if (w->has_devices) /* a process with devices cannot fork */
      VYRE_TRY(tool_close_devices(t));
    w->has_devices = false;
    tool_process_apart(t, threads);
    free(t->isolations);
    t->isolations = NULL;
    return VYRE_OK;
  }
  if (!w->has_devices)
    VYRE_TRY(tool_open_devices(t, t->options.threads));
  w->has_devices = true;
  tool_process_opened(t, threads);
  return VYRE_OK;
}

/* Gives the claims to the tool as its inputs. */
static vyre_status
run_claims(worker *w, claim *claims, uint32_t count)
{
  tool *t = w->tool;
  const bool is_last = claims->tries >= MOST_TRIES;
  t->options.inputs.count = 0;
  t->works = calloc(count, sizeof *t->works);
  if (!t->works)
    return VYRE_OUT_OF_MEMORY("for the inputs");
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && !status; i++) {
    t->works[i] = (work){.path = claims[i].is.name, .given = &claims[i].bytes, .is_left_out = claims[i].is_ended};
    status = name_list_append(&t->options.inputs, claims[i].is.name);
  }
  t->begun = t->finished = 0;
  t->end = count;
  t->code = 0;
  w->running = claims;
  w->is_apart = t->options.isolate || claims->tries > 1;
  if (!status && is_last)
    status = make_folder(w);
  t->options.reproducer = !status && is_last ? w->reproducers : NULL;
  if (!status)
    status = process_claims(w, count);
  t->options.reproducer = NULL;
  free(t->works);
  t->works = NULL;
  return status;
}

/* Sets the job aside if too many workers were lost with it. */
static bool
is_dangerous(worker *w, claim *c)
{
  char text[200];
  if (c->tries <= MOST_LOSSES)
    return false;
  snprintf(text, sizeof text,
           "vyre-passmgr: error: %" PRIu64 " workers were lost while they ran this job\nFix: limit its memory with "
           "-isolate-memory, or leave it out\n",
           c->tries - 1);
  fail_job(w, c, QUEUE_ASIDE, VYRE_CODE_INPUT, text);
  return true;
}

vyre_status
jobs_run(worker *w, claim *claims, uint32_t count)
{
  const uint64_t begun = clock_now();
  uint32_t due = 0;
  vyre_status status = make_tool(w, claims->is.settings);
  for (uint32_t i = 0; i < count && status && !w->lost; i++)
    if (!claims[i].is_ended)
      fail_with(w, &claims[i], status);
  const bool is_made = !status;
  vyre_status_free(status);
  status = is_made ? find_hits(w, claims, count) : VYRE_OK;
  for (uint32_t i = 0; i < count; i++)
    due += !claims[i].is_ended && !is_dangerous(w, &claims[i]);
  if (!status && is_made && due && claims->tries > 1)
    status = claims_start(w, claims);
  if (!status && is_made && due)
    status = run_claims(w, claims, count);
  w->counts.busy_ns += clock_now() - begun;
  return status;
}
