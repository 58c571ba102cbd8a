/* Outputs on a Redis server, for the output cache.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_QUEUE_PLACE_H
#define VYRE_CLI_QUEUE_PLACE_H

#include "cli/tool_options.h"

struct remote;

/* Returns whether a value of -output-cache names a place on a server, and not a folder. */
bool place_is_name(const char *text);
/* Connects to the server.  Returns DEVICE if the server does not answer. */
VYRE_MUST_USE vyre_status place_open(const char *name, const tool_options *options, struct remote **out);
void place_close(struct remote *place);
/* Appends the entry of an output, or nothing if the server does not have it. */
VYRE_MUST_USE vyre_status place_read_output(struct remote *place, const uint64_t key[2], vyre_bytes *out);
VYRE_MUST_USE vyre_status place_write_output(struct remote *place, const uint64_t key[2], const vyre_bytes *entry);

#endif
