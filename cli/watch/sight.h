/* Snapshots of the contents of all files that outputs depend on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_WATCH_SIGHT_H
#define VYRE_CLI_WATCH_SIGHT_H

#include "cli/outputs/outputs.h"

/* A file, or an input with its includes. */
typedef struct sight_item {
  char *path;       /* owned */
  uint64_t hash[2]; /* 0 if the file does not exist */
} sight_item;

typedef struct sight_items {
  sight_item *all;
  uint32_t count, capacity;
} sight_items;

/* A snapshot. */
typedef struct sight {
  sight_items files, inputs; /* inputs in the order of the command line; in a kept snapshot, sorted by path */
  uint64_t common[2];        /* the hash of the shared dependences */
} sight;

/* Replaces the snapshot by a new one.  `places` has the names of outputs. */
VYRE_MUST_USE vyre_status sight_refresh(int argc, char **argv, const tool_options *o, const outputs *places, sight *out);
void sight_free(sight *s);
/* Sorts a list by path and removes duplicates. */
void sight_sort(sight_items *list);
/* Returns the item of the path in a sorted list, or NULL. */
const sight_item *sight_find(const sight_items *sorted, const char *path);
bool sight_is_same(const uint64_t a[2], const uint64_t b[2]);

#endif
