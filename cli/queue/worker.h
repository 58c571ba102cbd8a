/* -queue: a worker that processes the jobs of a queue.
 *
 * Builds for Windows have windows/absent.c instead.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_QUEUE_WORKER_H
#define VYRE_CLI_QUEUE_WORKER_H

#include "cli/tool.h"

/* Processes jobs until the queue has none left, or without end with -queue-stay.  `t` has the options of the command line, which is
 * parsed again for each job.  Returns the exit code: 0 even if jobs failed, because the queue has their messages. */
int queue_work(int argc, char **argv, tool *t);

#endif
