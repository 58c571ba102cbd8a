/* The program vyre-queue.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_QUEUE_VYRE_QUEUE_H
#define VYRE_CLI_QUEUE_VYRE_QUEUE_H

#include "cli/tool_options.h"
#include "queue.h"

/* The command line.  Options that are not those of vyre-queue belong to vyre-passmgr. */
typedef struct queue_line {
  const char *help, *reproducers, *redis_password, *status;
  option_number redis_wait;
  bool version, retries, all;
  name_list inputs; /* the command and the place */
  option_texts responses;
  int argc;             /* of vyre-passmgr */
  const char **argv;    /* owned array of borrowed texts */
  tool_options options; /* parsed from argv */
} queue_line;

/* Appends the settings of the jobs that the options describe, and stores their plugins in the queue `to` unless it is NULL. */
VYRE_MUST_USE vyre_status settings_print(const queue *to, const tool_options *options, vyre_bytes *out);
/* Returns whether one of the options describes jobs. */
bool settings_are_given(const tool_options *options);
void settings_hash(const vyre_bytes *settings, char out[REMOTE_HASH]);

/* The commands. */
VYRE_MUST_USE vyre_status command_submit(queue_line *line, const queue *q, int *out_code);
VYRE_MUST_USE vyre_status command_status(queue_line *line, const queue *q);
VYRE_MUST_USE vyre_status command_collect(queue_line *line, const queue *q, int *out_code);
VYRE_MUST_USE vyre_status command_cancel(queue_line *line, const queue *q);

/* Calls `visit` for each field and value of a hash.  A field may be visited twice while the hash changes. */
typedef vyre_status (*hash_visit)(void *user, const redisReply *field, const redisReply *value);
VYRE_MUST_USE vyre_status queue_each(const queue *q, const char *key, hash_visit visit, void *user);

#endif
