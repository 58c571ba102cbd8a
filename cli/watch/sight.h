/* The contents of all files that outputs depend on, at one time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_WATCH_SIGHT_H
#define VYRE_CLI_WATCH_SIGHT_H

#include "cli/outputs/outputs.h"

/* A file, or an input with all that it includes. */
typedef struct sight_item {
  char *path;       /* owned */
  uint64_t hash[2]; /* 0: there is no such file */
} sight_item;

typedef struct sight_items {
  sight_item *all;
  uint32_t count, capacity;
} sight_items;

/* What was found at one time. */
typedef struct sight {
  sight_items files, inputs; /* inputs in their order */
  uint64_t common[2];        /* of what all inputs depend on */
} sight;

/* Replaces the sight by that of the files now.  `places` are the names of outputs. */
VYRE_MUST_USE vyre_status sight_take(int argc, char **argv, const tool_options *o, const outputs *places, sight *out);
void sight_free(sight *s);
/* Sorts a list by paths, each once. */
void sight_sort(sight_items *list);
/* Returns the item of that path in a sorted list; NULL if there is none. */
const sight_item *sight_find(const sight_items *sorted, const char *path);
bool sight_is_same(const uint64_t a[2], const uint64_t b[2]);

#endif
