/* -output-cache: outputs of whole inputs, kept in a folder by a hash of all that they depend on: the input, what it includes, the
 * pipeline and the files that it names, options, plugins, and vyre itself.
 *
 * Any number of processes may share a folder: an entry appears whole, by a rename.  One that is damaged is none.  A cache never
 * fails an input.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OUTPUTS_OUTPUT_CACHE_H
#define VYRE_CLI_OUTPUTS_OUTPUT_CACHE_H

#include "cli/process.h"

typedef struct output_cache {
  const char *folder;  /* borrowed */
  vyre_bytes pipeline; /* its canonical text */
  uint64_t base[2];    /* of what is the same for all inputs */
} output_cache;

/* Makes the folder.  INPUT: it cannot be made. */
VYRE_MUST_USE vyre_status output_cache_begin(const tool_options *options, const vyre_registry *registry,
                                             const vyre_pipeline *pipeline, output_cache *out);
void output_cache_end(output_cache *cache);

/* What an output depends on.  Not known: it is a text whose #include lines cannot be told for sure, and is not kept. */
typedef struct output_key {
  uint64_t hash[2];
  bool is_known;
} output_key;

output_key output_cache_key(const output_cache *cache, const tool_options *options, const char *path, const vyre_bytes *text);
/* The output, and what was said when it was made. */
bool output_cache_take(const output_cache *cache, const output_key *key, work *w);
void output_cache_keep(const output_cache *cache, const output_key *key, const work *w);

#endif
