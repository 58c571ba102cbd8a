/* Docs at place.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include "remote.h"

#include <string.h>

bool
place_is_name(const char *text)
{
  return remote_is_place(text);
}

vyre_status
place_open(const char *name, const tool_options *o, remote **out)
{
  const remote_options options = {.password = o->redis_password, .wait = (uint32_t)o->redis_wait.value};
  return remote_open(name, &options, out);
}

void
place_close(remote *place)
{
  remote_close(place);
}

vyre_status
place_read_output(remote *place, const uint64_t key[2], vyre_bytes *out)
{
  char hash[REMOTE_HASH], name[REMOTE_KEY];
  redisReply *reply;
  remote_print_hash(key, hash);
  remote_key(place, "output", hash, name);
  VYRE_TRY(remote_ask(place, &reply, "GET", name, NULL));
  vyre_status status = reply->type == REDIS_REPLY_STRING ? vyre_bytes_append(out, reply->str, reply->len) : VYRE_OK;
  freeReplyObject(reply);
  return status;
}

vyre_status
place_write_output(remote *place, const uint64_t key[2], const vyre_bytes *entry)
{
  char hash[REMOTE_HASH], name[REMOTE_KEY];
  remote_commands commands = {0};
  redisReply **replies = NULL;
  remote_print_hash(key, hash);
  remote_key(place, "output", hash, name);
  const remote_part parts[] = {{"SET", 3}, {name, strlen(name)}, {entry->data, entry->size}};
  vyre_status status = remote_add(&commands, parts, 3);
  if (!status)
    status = remote_run(place, &commands, &replies);
  remote_replies_free(replies, commands.count);
  remote_commands_free(&commands);
  return status;
}
