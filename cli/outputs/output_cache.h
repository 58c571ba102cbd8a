/* The cache of -output-cache: a folder of outputs, by a hash of their dependences.  These are the input and its includes, the
 * pipeline and its files, options, plugins, and vyre itself.
 *
 * Processes may share a folder, because an entry appears whole, by a rename.  A damaged entry counts as absent.  A failure of the
 * cache never fails an input.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OUTPUTS_OUTPUT_CACHE_H
#define VYRE_CLI_OUTPUTS_OUTPUT_CACHE_H

#include "cli/process.h"

typedef struct output_cache {
  const char *folder;  /* borrowed */
  vyre_bytes pipeline; /* its canonical text */
  uint64_t base[2];    /* the hash of the dependences that all inputs share */
} output_cache;

/* Creates the folder and hashes the shared dependences.  Returns INPUT if the folder cannot be created. */
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
/* Finds the output and its messages.  Returns whether they are cached. */
bool output_cache_find(const output_cache *cache, const output_key *key, work *w);
void output_cache_keep(const output_cache *cache, const output_key *key, const work *w);

#endif
