/* Fossilize archives (.foz) among the inputs: FILE.foz stands for all compute shaders in the archive, and FILE.foz/KEY for one of
 * them.  -o FILE.foz writes an archive anew, with the optimized shaders.  Nothing outside of this folder knows the format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_ARCHIVES_ARCHIVES_H
#define VYRE_CLI_ARCHIVES_ARCHIVES_H

#include "cli/options/option_table.h"

typedef struct archives {
  struct foz **all; /* owned */
  uint32_t count, capacity;
} archives;

/* Opens the archives among the inputs, and replaces each by the names of its shaders, which `texts` owns.  The name of a file that
 * is no archive, or that has no shader, stays: an error is reported when that input is read. */
VYRE_MUST_USE vyre_status archives_expand(name_list *inputs, option_texts *texts, archives *out);
void archives_close(archives *a);
/* Tells of those whose last entry is left out. */
void archives_warn(const archives *a, vyre_diagnostics diagnostics);
/* Returns the path of the archive that has the input or is the input, and NULL for another file.  Inputs of one archive get the
 * same pointer. */
const char *archives_path(const archives *a, const char *input);
/* Returns the path of the archive of that index, below `count`. */
const char *archives_path_at(const archives *a, uint32_t index);
/* Returns whether the input is a module of an archive. */
bool archives_has_module(const archives *a, const char *input);
/* Appends what the input is: a file, or a module of an archive. */
VYRE_MUST_USE vyre_status archives_read(const archives *a, const char *input, vyre_bytes *out);
/* The bytes of that, unpacked, as far as they are known before it is read. */
uint64_t archives_size(const archives *a, const char *input);
/* Whether it is an archive's name. */
bool archives_is_name(const char *path);

/* An archive that is written anew. */
typedef struct archive_output {
  const struct foz *from; /* borrowed; NULL: the output is not an archive */
  vyre_bytes *modules;    /* owned, one an entry of `from`; empty: the entry stays */
} archive_output;

/* Begins an archive at `path` from the one that the input is in.  Leaves `out` empty if `path` or the input is of no archive. */
VYRE_MUST_USE vyre_status archive_output_begin(const archives *a, const char *path, const char *input, archive_output *out);
/* Takes the SPIR-V of an input until all are there. */
void archive_output_keep(archive_output *output, const archives *a, const char *input, vyre_bytes *module);
/* Writes the archive, unless no module was kept.  Modules that were not kept are as they were. */
VYRE_MUST_USE vyre_status archive_output_write(const archive_output *output, const char *path, bool *out_written);
void archive_output_free(archive_output *output);

#endif
