/* Connections to a Redis server.
 *
 * A place is redis://[USER@]HOST[:PORT]/NAME.  All keys of a place begin with "vyre:{NAME}:", so that a cluster keeps them on one
 * server.  Errors of the server are DEVICE errors.
 *
 * A command that gets no reply is sent again over a new connection, so each command must have the same effect when it is executed
 * twice.  Any thread may use a remote.  A forked process opens connections of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_QUEUE_REMOTE_H
#define VYRE_CLI_QUEUE_REMOTE_H

#include "vyre/status.h"

#include <hiredis/hiredis.h>

typedef struct remote remote;

typedef struct remote_options {
  const char *password; /* the path of a file with the password, or NULL */
  uint32_t wait;        /* seconds for which a command waits for a server that does not answer */
  bool is_queue;        /* the server must have the commands of a queue, and must not evict keys */
} remote_options;

/* Returns whether the text begins like a place. */
bool remote_is_place(const char *text);
/* Connects to the server and checks it.  Returns USAGE for a place that is not valid. */
VYRE_MUST_USE vyre_status remote_open(const char *place, const remote_options *options, remote **out);
void remote_close(remote *r);
/* The name of the place, and HOST:PORT for messages. */
const char *remote_name(const remote *r);
const char *remote_server(const remote *r);
/* Returns how often a connection was lost and opened again. */
uint64_t remote_reconnections(const remote *r);

/* Commands that are sent together.  All zero is an empty list. */
typedef struct remote_commands {
  vyre_bytes wire; /* in the form of the protocol, owned */
  uint32_t count;
} remote_commands;

/* A part of a command. */
typedef struct remote_part {
  const char *data;
  size_t size;
} remote_part;

/* Appends a part in the form of the protocol. */
VYRE_MUST_USE vyre_status remote_print_part(remote_part part, vyre_bytes *out);
/* Appends a command of `count` parts, followed by `more` parts that are printed already. */
VYRE_MUST_USE vyre_status remote_add_printed(remote_commands *to, const remote_part *parts, size_t count, const vyre_bytes *printed,
                                             size_t more);
/* Appends a command of `count` parts. */
VYRE_MUST_USE vyre_status remote_add(remote_commands *to, const remote_part *parts, size_t count);
/* Appends a command of texts, which ends with NULL. */
VYRE_MUST_USE vyre_status remote_add_texts(remote_commands *to, ...);
void remote_commands_free(remote_commands *commands);

/* Sends the commands and waits for all replies.  The caller frees *out with remote_replies_free.  If a reply is an error, returns
 * the error, and *out is NULL. */
VYRE_MUST_USE vyre_status remote_run(remote *r, const remote_commands *commands, redisReply ***out);
void remote_replies_free(redisReply **replies, uint32_t count);
/* Sends one command of texts, which ends with NULL.  The caller frees *out with freeReplyObject. */
VYRE_MUST_USE vyre_status remote_ask(remote *r, redisReply **out, ...);

/* Writes "vyre:{NAME}:KIND" or "vyre:{NAME}:KIND:ID". */
enum { REMOTE_KEY = 160 };
void remote_key(const remote *r, const char *kind, const char *id, char out[REMOTE_KEY]);
/* Fills *out with a hash as 32 hexadecimal digits. */
enum { REMOTE_HASH = 33 };
void remote_print_hash(const uint64_t hash[2], char out[REMOTE_HASH]);

#endif
