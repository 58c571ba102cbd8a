/* The jobs that a worker has claimed, and the parts of a worker.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_QUEUE_CLAIMS_H
#define VYRE_CLI_QUEUE_CLAIMS_H

#include "cli/debug/debug.h"
#include "queue.h"

enum { CLAIM_ID = 48, MOST_CLAIMS = 1024, CONSUMER = 128 };

/* A claimed job. */
typedef struct claim {
  char id[CLAIM_ID]; /* its entry in the stream */
  char job[REMOTE_HASH];
  redisReply *record; /* owned; the names in `is` are in it */
  queue_record is;
  vyre_bytes bytes; /* of the input, owned */
  output_key key;
  uint64_t tries; /* 1 for a new job; otherwise 2 and the number of starts by itself, after the loss of a worker or a crash */
  bool is_ended;
} claim;

/* Numbers about a worker, since it began. */
typedef struct worker_counts {
  uint64_t done, failed, aside, hits, released, reclaimed, bytes_in, bytes_out, busy_ns, idle_ns;
} worker_counts;

typedef struct worker {
  tool *base; /* the options of the command line */
  int argc;
  char **argv;
  queue queue;
  char consumer[CONSUMER];
  claim *claims; /* owned array of MOST_CLAIMS, of which `count` are claimed */
  uint32_t count;
  /* the tool for jobs of `settings`, or without a pipeline before the first one */
  tool *tool;
  char settings[REMOTE_HASH];
  vyre_bytes text;     /* of the settings; lines end with zero bytes */
  arguments arguments; /* parsed for the tool, in `text` and argv */
  output_cache cache;  /* without levels, for the keys of outputs */
  bool is_loaded, has_devices;
  claim *running;         /* the claims of the tool's inputs */
  bool is_apart;          /* each input runs in a process of its own */
  char reproducers[64];   /* a folder, or "" */
  queue_ends ends;        /* not sent yet */
  vyre_status lost;       /* the reason why the worker cannot continue, owned */
  bool is_server_lost;    /* no results can be sent any more */
  uint64_t sent, metered; /* times of the last sending, and of the last file of -stats-file */
  worker_counts counts;
} worker;

enum { MOST_TRIES = 3, MOST_LOSSES = 10 };

/* ---- claims.c ------------------------------------------------------------------------------------------------------------ */

/* Claims up to `most` jobs: those of lost workers if the lease of some has ended, otherwise new ones, for which it waits for
 * `milliseconds`.  The claims of lost workers have more than one try. */
VYRE_MUST_USE vyre_status claims_fetch(worker *w, uint32_t most, uint32_t milliseconds);
/* Sets *out if each job of the queue is finished. */
VYRE_MUST_USE vyre_status claims_is_drained(const worker *w, bool *out);
/* Counts a start of a job that was claimed before. */
VYRE_MUST_USE vyre_status claims_start(const worker *w, const claim *c);
/* Appends the command that makes the job free for all workers at once. */
VYRE_MUST_USE vyre_status claims_add_release(const worker *w, const claim *c, remote_commands *to);
/* Starts a process that renews the leases of this worker until the worker ends. */
VYRE_MUST_USE vyre_status claims_keep_leases(worker *w);
/* Removes the worker from the consumers of the group. */
VYRE_MUST_USE vyre_status claims_leave(const worker *w);
void claims_free(worker *w);

/* ---- jobs.c -------------------------------------------------------------------------------------------------------------- */

/* Processes claims with equal settings. */
VYRE_MUST_USE vyre_status jobs_run(worker *w, claim *claims, uint32_t count);
/* Sends the results of jobs that ended. */
VYRE_MUST_USE vyre_status jobs_send(worker *w);
/* Frees the tool for jobs. */
void jobs_free(worker *w);

/* ---- metrics.c ----------------------------------------------------------------------------------------------------------- */

/* Writes the file of -stats-file, if the last one is some seconds old or `is_last` is set. */
VYRE_MUST_USE vyre_status metrics_write(worker *w, bool is_last);

#endif
