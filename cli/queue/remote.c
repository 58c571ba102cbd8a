/* Docs at remote.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote.h"

#include "base/clock.h"
#include "base/grow.h"
#include "vyre/io.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_NAME = 100, MOST_IDLE = 256, ATTEMPT = 10 /* seconds for one attempt */ };

static const char scheme[] = "redis://";

struct remote {
  char host[256], user[MOST_NAME], name[MOST_NAME], server[300]; /* server: HOST:PORT */
  uint16_t port;
  vyre_bytes password; /* empty without one */
  remote_options options;
  pthread_mutex_t lock;
  redisContext *idle[MOST_IDLE]; /* connections that no thread uses */
  uint32_t idle_count;
  pid_t owner; /* the process that opened the connections in `idle` */
  atomic_uint_least64_t reconnections;
};

/* ---- places -------------------------------------------------------------------------------------------------------------- */

bool
remote_is_place(const char *text)
{
  return strncmp(text, scheme, sizeof scheme - 1) == 0;
}

static vyre_status
wrong_place(const char *place, const char *why)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "'%.200s' is not a place on a Redis server: %s\nFix: write redis://HOST[:PORT]/NAME", place,
                    why);
}

/* Copies a part of the place.  Returns whether it has 1 to size - 1 characters. */
static bool
copy_part(const char *from, size_t length, char *to, size_t size)
{
  if (length == 0 || length >= size)
    return false;
  memcpy(to, from, length);
  to[length] = '\0';
  return true;
}

static vyre_status
parse_place(const char *place, remote *r)
{
  const char *at = place + sizeof scheme - 1, *slash = strchr(at, '/'), *end = slash ? slash : at + strlen(at);
  const char *user = memchr(at, '@', (size_t)(end - at));
  if (user && memchr(at, ':', (size_t)(user - at)))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "the place on a Redis server has a password, which other users can see in the list of processes\n"
                      "Fix: write the password into a file, and name the file with -redis-password=FILE");
  if (user && !copy_part(at, (size_t)(user - at), r->user, sizeof r->user))
    return wrong_place(place, "its user is empty or too long");
  at = user ? user + 1 : at;
  const char *close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
  const char *colon = memchr(close ? close : at, ':', (size_t)(end - (close ? close : at)));
  const char *host_end = close ? close : colon ? colon : end;
  if (!copy_part(at + (close != NULL), (size_t)(host_end - at) - (close != NULL), r->host, sizeof r->host))
    return wrong_place(place, "its host is empty or too long");
  unsigned long port = 6379;
  char *rest = NULL;
  if (colon && ((port = strtoul(colon + 1, &rest, 10)) == 0 || port > UINT16_MAX || rest != end))
    return wrong_place(place, "its port is not a number from 1 to 65535");
  r->port = (uint16_t)port;
  if (!slash || !copy_part(slash + 1, strlen(slash + 1), r->name, sizeof r->name))
    return wrong_place(place, "it has no name, or one of more than 99 characters");
  if (r->name[strcspn(r->name, "/{}*?[]\\ \t\r\n")])
    return wrong_place(place, "its name has one of the characters / { } * ? [ ] \\ or a blank");
  snprintf(r->server, sizeof r->server, close ? "[%s]:%u" : "%s:%u", r->host, (unsigned)r->port);
  return VYRE_OK;
}

const char *
remote_name(const remote *r)
{
  return r->name;
}

const char *
remote_server(const remote *r)
{
  return r->server;
}

uint64_t
remote_reconnections(const remote *r)
{
  return r->reconnections;
}

void
remote_key(const remote *r, const char *kind, const char *id, char out[REMOTE_KEY])
{
  snprintf(out, REMOTE_KEY, id ? "vyre:{%s}:%s:%s" : "vyre:{%s}:%s", r->name, kind, id);
}

void
remote_print_hash(const uint64_t hash[2], char out[REMOTE_HASH])
{
  snprintf(out, REMOTE_HASH, "%016" PRIx64 "%016" PRIx64, hash[1], hash[0]);
}

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

vyre_status
remote_print_part(remote_part part, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "$%zu\r\n", part.size));
  VYRE_TRY(vyre_bytes_append(out, part.data, part.size));
  return vyre_bytes_append(out, "\r\n", 2);
}

vyre_status
remote_add_printed(remote_commands *to, const remote_part *parts, size_t count, const vyre_bytes *printed, size_t more)
{
  const size_t before = to->wire.size;
  vyre_status status = vyre_bytes_printf(&to->wire, "*%zu\r\n", count + more);
  for (size_t i = 0; i < count && !status; i++)
    status = remote_print_part(parts[i], &to->wire);
  if (!status && more)
    status = vyre_bytes_append(&to->wire, printed->data, printed->size);
  to->count += !status;
  return vyre_bytes_undo(&to->wire, before, status);
}

vyre_status
remote_add(remote_commands *to, const remote_part *parts, size_t count)
{
  return remote_add_printed(to, parts, count, NULL, 0);
}

static vyre_status
add_list(remote_commands *to, va_list texts)
{
  remote_part parts[32];
  size_t count = 0;
  for (const char *text; (text = va_arg(texts, const char *));)
    parts[count++] = (remote_part){text, strlen(text)};
  return remote_add(to, parts, count);
}

vyre_status
remote_add_texts(remote_commands *to, ...)
{
  va_list texts;
  va_start(texts, to);
  vyre_status status = add_list(to, texts);
  va_end(texts);
  return status;
}

void
remote_commands_free(remote_commands *commands)
{
  vyre_bytes_free(&commands->wire);
  commands->count = 0;
}

void
remote_replies_free(redisReply **replies, uint32_t count)
{
  for (uint32_t i = 0; replies && i < count; i++)
    if (replies[i])
      freeReplyObject(replies[i]);
  free(replies);
}

/* ---- errors of the server ------------------------------------------------------------------------------------------------ */

/* Returns whether the server may execute the command later: it starts, another server becomes the main one, or a script runs. */
static bool
is_temporary(const char *text)
{
  static const char *const begins[] = {"LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "BUSY "};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(text, begins[i], strlen(begins[i])) == 0)
      return true;
  return false;
}

/* The errors of a server that a user can correct. */
static const struct {
  const char *part, *what, *fix;
} known[] = {
    {"OOM ", "has no memory left (maxmemory)",
     "raise maxmemory, or remove finished queues with vyre-queue cancel -all. Then run the "
     "same command again: nothing is lost"},
    {"MISCONF", "cannot write its file, so it accepts no changes",
     "free disk space for the server. Then run the same command again: "
     "nothing is lost"},
    {"WRONGPASS", "refuses the password or the user", "correct the file of -redis-password, and the user in redis://USER@HOST"},
    {"invalid password", "refuses the password", "correct the file of -redis-password"},
    {"without any password", "has no password, but one is given", "leave out -redis-password"},
    {"no password is set", "has no password, but one is given", "leave out -redis-password"},
    {"NOAUTH", "requires a password", "write it into a file, and name the file with -redis-password=FILE"},
    {"NOPERM", "does not allow this user the commands that vyre needs", "allow them: ACL SETUSER NAME ~vyre:* +@all"},
    {"MOVED", "is part of a cluster, and another server has this queue", "name the server that the message names"},
};

static vyre_status
server_error(const remote *r, const char *text)
{
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strstr(text, known[i].part))
      return VYRE_ERROR(VYRE_CODE_DEVICE, "the Redis server %s %s: %.200s\nFix: %s", r->server, known[i].what, text, known[i].fix);
  return VYRE_ERROR(VYRE_CODE_DEVICE, "the Redis server %s reports an error: %.300s\nFix: correct the server's configuration",
                    r->server, text);
}

static vyre_status
no_answer(const remote *r, const char *why)
{
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "the Redis server %s does not answer: %.120s\n"
                    "Fix: start the server, or name another one. Then run the same command again: nothing is lost",
                    r->server, why);
}

/* ---- connections --------------------------------------------------------------------------------------------------------- */

static redisReply *
call(redisContext *c, const remote_commands *commands)
{
  void *reply = NULL;
  if (redisAppendFormattedCommand(c, commands->wire.data, commands->wire.size) != REDIS_OK || redisGetReply(c, &reply) != REDIS_OK)
    return NULL;
  return reply;
}

/* Sends the password.  Leaves the connection with an error, or returns the server's error. */
static vyre_status
authenticate(const remote *r, redisContext *c)
{
  remote_commands auth = {0};
  const remote_part parts[3] = {
      {"AUTH", 4}, {r->user, strlen(r->user)}, {r->password.data ? r->password.data : "", r->password.size}};
  if (!r->password.size)
    return VYRE_OK;
  vyre_status status = r->user[0] ? remote_add(&auth, parts, 3) : remote_add(&auth, (const remote_part[]){parts[0], parts[2]}, 2);
  redisReply *reply = status ? NULL : call(c, &auth);
  if (reply && reply->type == REDIS_REPLY_ERROR && !is_temporary(reply->str))
    status = server_error(r, reply->str);
  if (reply)
    freeReplyObject(reply);
  remote_commands_free(&auth);
  return status;
}

/* Opens a connection.  *out is NULL if the server does not answer; `why` receives the reason. */
static vyre_status
connect_once(const remote *r, char why[128], redisContext **out)
{
  const uint32_t seconds = r->options.wait < ATTEMPT ? r->options.wait : ATTEMPT;
  const struct timeval limit = {.tv_sec = seconds ? seconds : 1};
  redisContext *c = redisConnectWithTimeout(r->host, r->port, limit);
  *out = NULL;
  if (!c)
    return VYRE_OUT_OF_MEMORY("for a connection");
  if (!c->err)
    redisSetTimeout(c, limit);
  if (!c->err)
    redisEnableKeepAlive(c);
  vyre_status status = c->err ? VYRE_OK : authenticate(r, c);
  if (c->err)
    snprintf(why, 128, "%s", c->errstr);
  if (c->err || status)
    redisFree(c);
  else
    *out = c;
  return status;
}

/* Returns a connection that no thread uses, or NULL. */
static redisContext *
take_idle(remote *r)
{
  pthread_mutex_lock(&r->lock);
  if (r->owner != getpid()) /* the connections belong to the parent */
    while (r->idle_count)
      redisFree(r->idle[--r->idle_count]);
  r->owner = getpid();
  redisContext *c = r->idle_count ? r->idle[--r->idle_count] : NULL;
  pthread_mutex_unlock(&r->lock);
  return c;
}

static void
put_back(remote *r, redisContext *c)
{
  pthread_mutex_lock(&r->lock);
  const bool has_room = r->idle_count < MOST_IDLE;
  if (has_room)
    r->idle[r->idle_count++] = c;
  pthread_mutex_unlock(&r->lock);
  if (!has_room)
    redisFree(c);
}

/* Sends the commands over a connection.  Returns false, and frees the connection, if the replies are not complete. */
static bool
exchange(remote *r, redisContext *c, const remote_commands *commands, redisReply **replies, char why[128])
{
  bool is_complete = redisAppendFormattedCommand(c, commands->wire.data, commands->wire.size) == REDIS_OK;
  for (uint32_t i = 0; i < commands->count && is_complete; i++) {
    void *reply = NULL;
    is_complete = redisGetReply(c, &reply) == REDIS_OK;
    replies[i] = reply;
  }
  if (is_complete)
    put_back(r, c);
  else {
    snprintf(why, 128, "%s", c->errstr);
    redisFree(c);
  }
  return is_complete;
}

/* Returns the first reply that is an error, or NULL. */
static const redisReply *
first_error(redisReply *const *replies, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    if (replies[i]->type == REDIS_REPLY_ERROR)
      return replies[i];
  return NULL;
}

static void
clear_replies(redisReply **replies, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    if (replies[i])
      freeReplyObject(replies[i]);
  memset(replies, 0, count * sizeof *replies);
}

vyre_status
remote_run(remote *r, const remote_commands *commands, redisReply ***out)
{
  const uint64_t end = clock_now() + r->options.wait * UINT64_C(1000000000);
  redisReply **replies = calloc(commands->count + (size_t)1, sizeof *replies);
  char why[128] = "";
  *out = NULL;
  if (!replies)
    return VYRE_OUT_OF_MEMORY("for replies");
  vyre_status status = VYRE_OK;
  for (uint64_t pause = 10000000;; pause = pause < 500000000 ? pause * 2 : pause) {
    redisContext *c = take_idle(r);
    if (!c)
      status = connect_once(r, why, &c);
    if (status)
      break;
    if (c && exchange(r, c, commands, replies, why)) {
      const redisReply *error = first_error(replies, commands->count);
      if (!error) {
        *out = replies;
        return VYRE_OK;
      }
      if (!is_temporary(error->str)) {
        status = server_error(r, error->str);
        break;
      }
      snprintf(why, sizeof why, "%.120s", error->str);
    } else {
      r->reconnections++;
    }
    clear_replies(replies, commands->count);
    if (clock_now() + pause > end) {
      status = no_answer(r, why);
      break;
    }
    nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL);
  }
  clear_replies(replies, commands->count);
  free(replies);
  return status;
}

vyre_status
remote_ask(remote *r, redisReply **out, ...)
{
  remote_commands commands = {0};
  redisReply **replies = NULL;
  va_list texts;
  va_start(texts, out);
  vyre_status status = add_list(&commands, texts);
  va_end(texts);
  *out = NULL;
  if (!status)
    status = remote_run(r, &commands, &replies);
  if (!status)
    *out = replies[0];
  free(replies);
  remote_commands_free(&commands);
  return status;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

/* Returns the value of a field of INFO, "name:value", and its length. */
static const char *
info_field(const char *info, const char *name, size_t *out_length)
{
  const char *at = strstr(info, name);
  at = at ? at + strlen(name) : "";
  *out_length = strcspn(at, "\r\n");
  return at;
}

/* Refuses a server without the commands of a queue, and one that evicts keys. */
static vyre_status
check_server(remote *r)
{
  redisReply *info;
  size_t length;
  VYRE_TRY(remote_ask(r, &info, "INFO", NULL));
  const char *text = info->str ? info->str : "", *version = info_field(text, "redis_version:", &length);
  char *rest = NULL;
  const unsigned long major = strtoul(version, &rest, 10), minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
  vyre_status status = VYRE_OK;
  if (major < 6 || (major == 6 && minor < 2))
    status = VYRE_ERROR(VYRE_CODE_DEVICE,
                        "the Redis server %s has version %.*s, which cannot reclaim the jobs of lost workers\n"
                        "Fix: use Redis 6.2 or newer, which has XAUTOCLAIM",
                        r->server, (int)length, length ? version : "?");
  const char *policy = info_field(text, "maxmemory_policy:", &length);
  if (!status && strncmp(policy, "allkeys-", 8) == 0)
    status = VYRE_ERROR(VYRE_CODE_DEVICE,
                        "the Redis server %s may evict jobs: its maxmemory-policy is %.*s\n"
                        "Fix: set it to noeviction: redis-cli CONFIG SET maxmemory-policy noeviction",
                        r->server, (int)length, policy);
  freeReplyObject(info);
  return status;
}

static vyre_status
read_password(remote *r)
{
  if (!r->options.password)
    return VYRE_OK;
  vyre_status status = vyre_file_read_as(r->options.password, VYRE_FILE_TEXT, &r->password);
  if (status)
    return vyre_status_add_fix(status, VYRE_CODE_USAGE, "name a file with the password in -redis-password");
  while (r->password.size && strchr("\r\n", r->password.data[r->password.size - 1]))
    r->password.size--;
  if (!r->password.size)
    return VYRE_ERROR(VYRE_CODE_USAGE, "the file '%s' of -redis-password is empty\nFix: write the password into it",
                      r->options.password);
  return VYRE_OK;
}

/* Connects once, so that a server that is absent is reported at once. */
static vyre_status
connect_first(remote *r)
{
  char why[128] = "";
  redisContext *c;
  VYRE_TRY(connect_once(r, why, &c));
  if (!c)
    return no_answer(r, why);
  put_back(r, c);
  redisReply *reply;
  VYRE_TRY(remote_ask(r, &reply, "PING", NULL));
  freeReplyObject(reply);
  return r->options.is_queue ? check_server(r) : VYRE_OK;
}

vyre_status
remote_open(const char *place, const remote_options *options, remote **out)
{
  *out = NULL;
  if (!remote_is_place(place))
    return wrong_place(place, "it does not begin with redis://");
  remote *r = calloc(1, sizeof *r);
  if (!r)
    return VYRE_OUT_OF_MEMORY("for a connection");
  pthread_mutex_init(&r->lock, NULL);
  r->options = *options;
  r->owner = getpid();
  vyre_status status = parse_place(place, r);
  if (!status)
    status = read_password(r);
  if (!status)
    status = connect_first(r);
  if (status)
    remote_close(r);
  else
    *out = r;
  return status;
}

void
remote_close(remote *r)
{
  if (!r)
    return;
  while (r->idle_count)
    redisFree(r->idle[--r->idle_count]);
  pthread_mutex_destroy(&r->lock);
  vyre_bytes_free(&r->password);
  free(r);
}
