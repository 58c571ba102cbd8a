/* Docs at queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

#include "base/files/depfile.h"
#include "vyre/io.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

vyre_status
queue_open(const char *place, const char *password, uint64_t wait, queue *out)
{
  const remote_options options = {.password = password, .wait = (uint32_t)wait, .is_queue = true};
  *out = (queue){0};
  VYRE_TRY(remote_open(place, &options, &out->server));
  remote_key(out->server, "jobs", NULL, out->jobs);
  remote_key(out->server, "all", NULL, out->all);
  remote_key(out->server, "results", NULL, out->results);
  remote_key(out->server, "counts", NULL, out->counts);
  remote_key(out->server, "started", NULL, out->started);
  return VYRE_OK;
}

void
queue_close(queue *q)
{
  remote_close(q->server);
  *q = (queue){0};
}

vyre_status
queue_exists(const queue *q, bool *out)
{
  redisReply *reply;
  VYRE_TRY(remote_ask(q->server, &reply, "EXISTS", q->jobs, NULL));
  *out = reply->integer == 1;
  freeReplyObject(reply);
  return VYRE_OK;
}

vyre_status
queue_create(const queue *q)
{
  static const char script[] = "local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')\n"
                               "if made.err and not string.find(made.err, 'BUSYGROUP') then return made end\n"
                               "return 1";
  redisReply *reply;
  VYRE_TRY(remote_ask(q->server, &reply, "EVAL", script, "1", q->jobs, QUEUE_GROUP, NULL));
  freeReplyObject(reply);
  return VYRE_OK;
}

vyre_status
queue_absent(const queue *q)
{
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "the Redis server %s has no queue '%s'\nFix: submit jobs with vyre-queue submit, or correct the name",
                    remote_server(q->server), remote_name(q->server));
}

/* Copies the hash at the start of the text.  Returns whether a blank follows it. */
static bool
copy_hash(const char *text, char out[REMOTE_HASH])
{
  if (strspn(text, "0123456789abcdef") != REMOTE_HASH - 1 || text[REMOTE_HASH - 1] != ' ')
    return false;
  memcpy(out, text, REMOTE_HASH - 1);
  out[REMOTE_HASH - 1] = '\0';
  return true;
}

bool
queue_parse_record(const char *text, queue_record *out)
{
  if (!copy_hash(text, out->settings) || !copy_hash(text + REMOTE_HASH, out->input))
    return false;
  out->name = text + 2 * (size_t)REMOTE_HASH;
  return *out->name != '\0';
}

const char *const queue_end_words[3] = {"done", "failed", "aside"};

bool
queue_parse_result(const char *text, queue_result *out, char output[REMOTE_HASH])
{
  char end[8];
  const char *message = strchr(text, '\n');
  *out = (queue_result){.message = message ? message + 1 : ""};
  if (sscanf(text, "%7s %d %32s %" SCNu64, end, &out->code, output, &out->tries) != 4)
    return false;
  if (output[0] == '-')
    output[0] = '\0';
  for (out->end = QUEUE_DONE; out->end <= QUEUE_ASIDE; out->end++)
    if (strcmp(end, queue_end_words[out->end]) == 0)
      return true;
  return false;
}

/* KEYS: jobs, all, results, counts; the output of each job.  ARGV: id, job, result, name of the count, 1 for a hit; ...  Changes
 * nothing for a job that is done if the server refused to store its output. */
static const char finish[] =
    "for i = 5, #KEYS do\n"
    "  local at = (i - 5) * 5\n"
    "  local id, job, word = ARGV[at + 1], ARGV[at + 2], ARGV[at + 4]\n"
    "  local is_known = redis.call('HEXISTS', KEYS[2], job) == 1\n"
    "  if not is_known or word ~= 'done' or redis.call('EXISTS', KEYS[i]) == 1 then\n"
    "    if is_known and redis.call('HSETNX', KEYS[3], job, ARGV[at + 3]) == 1 then\n"
    "      redis.call('HINCRBY', KEYS[4], word, 1)\n"
    "      if ARGV[at + 5] == '1' then redis.call('HINCRBY', KEYS[4], 'hits', 1) end\n"
    "    end\n"
    "    if redis.call('XACK', KEYS[1], 'workers', id) == 1 then redis.call('HINCRBY', KEYS[4], 'acknowledged', 1) end\n"
    "    redis.call('XDEL', KEYS[1], id)\n"
    "  end\n"
    "end\n"
    "return 1";

vyre_status
queue_add_end(const queue *q, const queue_result *r, const vyre_bytes *entry, queue_ends *to)
{
  char output[REMOTE_KEY];
  vyre_bytes text = {0};
  remote_key(q->server, "output", r->output ? r->output : "-", output);
  vyre_status status = vyre_bytes_printf(&text, "%s %d %s %" PRIu64 "\n%s", queue_end_words[r->end], r->code,
                                         r->output ? r->output : "-", r->tries, r->message ? r->message : "");
#define TEXT(text)     \
  {                    \
    text, strlen(text) \
  }
  const remote_part key = TEXT(output), set[] = {TEXT("SET"), TEXT(output), {entry->data, entry->size}},
                    arguments[] = {TEXT(r->id),
                                   TEXT(r->job),
                                   {text.data, text.size},
                                   TEXT(queue_end_words[r->end]),
                                   TEXT(r->is_hit ? "1" : "0")};
#undef TEXT
  if (!status && entry->size)
    status = remote_add(&to->commands, set, 3);
  if (!status)
    status = remote_print_part(key, &to->keys);
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments && !status; i++)
    status = remote_print_part(arguments[i], &to->arguments);
  to->count += !status;
  vyre_bytes_free(&text);
  return status;
}

/* Appends the command that ends the jobs. */
static vyre_status
add_script(const queue *q, queue_ends *ends)
{
  char count[16];
  snprintf(count, sizeof count, "%" PRIu32, ends->count + 4);
#define TEXT(text)     \
  {                    \
    text, strlen(text) \
  }
  const remote_part parts[] = {
      TEXT("EVAL"), {finish, sizeof finish - 1}, TEXT(count), TEXT(q->jobs), TEXT(q->all), TEXT(q->results), TEXT(q->counts)};
#undef TEXT
  const size_t all = (size_t)ends->count * 6; /* a key and five arguments for each job */
  VYRE_TRY(vyre_bytes_append(&ends->keys, ends->arguments.data, ends->arguments.size));
  return remote_add_printed(&ends->commands, parts, sizeof parts / sizeof *parts, &ends->keys, all);
}

vyre_status
queue_send_ends(const queue *q, queue_ends *ends)
{
  redisReply **replies = NULL;
  vyre_status status = ends->count ? add_script(q, ends) : VYRE_OK;
  if (!status && ends->commands.count)
    status = remote_run(q->server, &ends->commands, &replies);
  remote_replies_free(replies, ends->commands.count);
  ends->commands.wire.size = ends->keys.size = ends->arguments.size = 0;
  ends->commands.count = ends->count = 0;
  return status;
}

void
queue_ends_free(queue_ends *ends)
{
  remote_commands_free(&ends->commands);
  vyre_bytes_free(&ends->keys);
  vyre_bytes_free(&ends->arguments);
  ends->count = 0;
}

/* ---- inputs -------------------------------------------------------------------------------------------------------------- */

typedef struct including {
  uint32_t files;
  bool is_sure;
} including;

static void
count_file(void *user, const char *path, const char *text, bool is_sure)
{
  including *to = user;
  (void)path, (void)text;
  to->files++;
  to->is_sure = to->is_sure && is_sure;
}

vyre_status
queue_check_input(const char *name, const vyre_bytes *bytes, vyre_glsl_language language)
{
  const vyre_input_kind kind = vyre_input_detect_as(name, bytes->data, bytes->size, language);
  including found = {.is_sure = true};
  if (kind != VYRE_INPUT_GLSL && kind != VYRE_INPUT_HLSL)
    return VYRE_OK;
  VYRE_TRY(depfile_each_include(name, bytes, NULL, 0, count_file, &found));
  if (found.files <= 1 && found.is_sure)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "'%.300s' includes files, or has the word 'include', and workers read no files\n"
                    "Fix: compile it to SPIR-V first: vyre-passmgr FILE -o FILE.spv",
                    name);
}

void
queue_sha256(const vyre_bytes *bytes, char out[QUEUE_SHA])
{
  SHA256Data((const uint8_t *)(bytes->data ? bytes->data : ""), bytes->size, out);
}
