/* A queue of jobs on a Redis server.
 *
 *   jobs           stream of the jobs that are not finished; its group "workers" holds what workers have claimed
 *   all            hash: job to "SETTINGS INPUT NAME"
 *   results        hash: job to "END CODE OUTPUT TRIES\nMESSAGE"; END is done, failed or aside, and OUTPUT is "-" without one
 *   counts         hash of numbers: done, failed, aside, hits, acknowledged
 *   started        hash: job to the number of its starts after the first claim
 *   settings:HASH  the options of jobs, a line for each, and "plugin SHA256 NAME" for each plugin
 *   input:HASH     bytes of an input
 *   output:HASH    an entry of the output cache
 *   plugin:SHA256  bytes of a plugin
 *   reproducer:JOB a file that fails like a job that was set aside
 *
 * A job is the hash of its settings, input and name, so that a job exists once however often it is submitted.  An output is
 * stored first.  Then a script stores results and acknowledges jobs in one step.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_QUEUE_QUEUE_H
#define VYRE_CLI_QUEUE_QUEUE_H

#include "remote.h"

#include "vyre/glsl.h"

#define QUEUE_GROUP    "workers"
#define QUEUE_RELEASED "released" /* the consumer that holds jobs that wait for another try */

enum { QUEUE_SHA = 65 };

typedef struct queue {
  remote *server; /* owned */
  char jobs[REMOTE_KEY], all[REMOTE_KEY], results[REMOTE_KEY], counts[REMOTE_KEY], started[REMOTE_KEY];
} queue;

/* Connects to the server of the queue and checks it.  The queue need not exist. */
VYRE_MUST_USE vyre_status queue_open(const char *place, const char *password, uint64_t wait, queue *out);
void queue_close(queue *q);
/* Returns whether jobs were ever submitted to the queue. */
VYRE_MUST_USE vyre_status queue_exists(const queue *q, bool *out);
/* Creates the stream and its group, unless they exist. */
VYRE_MUST_USE vyre_status queue_create(const queue *q);
VYRE_MUST_USE vyre_status queue_absent(const queue *q);

/* The parts of a record of `all`.  Hashes are copied, and `name` points into the record. */
typedef struct queue_record {
  char settings[REMOTE_HASH], input[REMOTE_HASH];
  const char *name;
} queue_record;

/* Returns whether the text, which ends with a zero byte, is a record. */
bool queue_parse_record(const char *text, queue_record *out);

typedef enum queue_end { QUEUE_DONE, QUEUE_FAILED, QUEUE_ASIDE } queue_end;

/* A finished job. */
typedef struct queue_result {
  const char *id, *job; /* id: its entry in the stream */
  const char *output;   /* hash of its output, or NULL */
  const char *message;  /* of a failure, or NULL */
  int code;             /* exit code */
  uint64_t tries;
  queue_end end;
  bool is_hit;
} queue_result;

/* The words of the ends in a result, which are also the names of their counts. */
extern const char *const queue_end_words[3];
/* Parses the text of a result, which ends with a zero byte.  `output` receives the hash, or "".  Returns whether it is valid. */
bool queue_parse_result(const char *text, queue_result *out, char output[REMOTE_HASH]);
/* Jobs that ended.  All zero is an empty list. */
typedef struct queue_ends {
  remote_commands commands;   /* to execute before the jobs end: they store outputs */
  vyre_bytes keys, arguments; /* of the script that ends the jobs, in the form of the protocol */
  uint32_t count;             /* the number of jobs */
} queue_ends;

/* Appends a job that ended, and the command that stores `entry` if it is not empty.  A job that has a result or was cancelled keeps
 * its state. */
VYRE_MUST_USE vyre_status queue_add_end(const queue *q, const queue_result *result, const vyre_bytes *entry, queue_ends *to);
/* Sends the commands, stores the results, and acknowledges the jobs.  Then the list is empty. */
VYRE_MUST_USE vyre_status queue_send_ends(const queue *q, queue_ends *ends);
void queue_ends_free(queue_ends *ends);

/* Returns INPUT if a worker could not read the input alone: GLSL or HLSL that includes files. */
VYRE_MUST_USE vyre_status queue_check_input(const char *name, const vyre_bytes *bytes, vyre_glsl_language language);
/* Writes the SHA-256 of bytes as hexadecimal digits. */
void queue_sha256(const vyre_bytes *bytes, char out[QUEUE_SHA]);

#endif
