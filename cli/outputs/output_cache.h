/* The cache of -output-cache: outputs by a hash of their dependences.  These are the input and its includes, the pipeline and its
 * files, options, plugins, and vyre itself.  A level of the cache is a folder or a place on a Redis server.
 *
 * Processes may share a level, because an entry appears whole.  A damaged entry counts as absent.  A failure of the cache never
 * fails an input.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OUTPUTS_OUTPUT_CACHE_H
#define VYRE_CLI_OUTPUTS_OUTPUT_CACHE_H

#include "cli/process.h"

#include <stdatomic.h>

enum { OUTPUT_CACHE_LEVELS = 4 };

/* A level of the cache.  Either `folder` or `place` is set. */
typedef struct cache_level {
  const char *folder; /* borrowed */
  struct remote *place;
  atomic_bool is_lost; /* the server failed, and is not used any more */
} cache_level;

typedef struct output_cache {
  cache_level levels[OUTPUT_CACHE_LEVELS]; /* in the order of lookups */
  uint32_t level_count;
  bool warns;          /* prints a warning for a server that fails */
  vyre_bytes pipeline; /* its canonical text */
  uint64_t base[2];    /* the hash of the dependences that all inputs share */
} output_cache;

/* Opens the levels and hashes the shared dependences.  Returns INPUT if a folder cannot be created, and DEVICE if a server does not
 * answer. */
VYRE_MUST_USE vyre_status output_cache_begin(const tool_options *options, const vyre_registry *registry,
                                             const vyre_pipeline *pipeline, output_cache *out);
void output_cache_end(output_cache *cache);

/* The key of an output.  It is not known if the #include lines of a text depend on macros.  Such an output is not cached. */
typedef struct output_key {
  uint64_t hash[2];
  bool is_known;
} output_key;

output_key output_cache_key(const output_cache *cache, const tool_options *options, const char *path, uint32_t variant,
                            const vyre_bytes *text);
/* Finds the output and its messages.  Returns whether they are cached.  Copies an entry to the levels before its own. */
bool output_cache_find(output_cache *cache, const output_key *key, work *w);
void output_cache_keep(output_cache *cache, const output_key *key, const work *w);

/* Appends the entry of an output: a header with a checksum, the messages, and the output. */
VYRE_MUST_USE vyre_status output_entry_pack(const output_key *key, const work *w, vyre_bytes *out);
/* Appends the messages and the output of an entry to the work, and sets its kind.  Returns false for an entry that is damaged, or
 * that belongs to another key. */
bool output_entry_unpack(const void *entry, size_t size, const uint64_t key[2], work *w);

#endif
