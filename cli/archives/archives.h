/* Fossilize archives (.foz) as inputs and output.  FILE.foz names all compute shaders of an archive, FILE.foz/KEY one of them.
 * -o FILE.foz writes the archive with optimized shaders.  Only this folder knows the format.
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
 * is not an archive, or that has no shader, stays, and reading that input reports the error. */
VYRE_MUST_USE vyre_status archives_expand(name_list *inputs, option_texts *texts, archives *out);
void archives_close(archives *a);
/* Warns of archives whose last entry is incomplete and skipped. */
uint32_t archives_warn(const archives *a, vyre_diagnostics diagnostics);
/* Returns the path of the archive that has the input or is the input, and NULL for another file.  Inputs of one archive get the
 * same pointer. */
const char *archives_path(const archives *a, const char *input);
/* Returns the path of the archive of that index, below `count`. */
const char *archives_path_at(const archives *a, uint32_t index);
/* Returns whether the input is a module of an archive. */
bool archives_has_module(const archives *a, const char *input);
/* Appends the contents of an input: a file, or a module of an archive. */
VYRE_MUST_USE vyre_status archives_read(const archives *a, const char *input, vyre_bytes *out);
/* Returns the bytes of a file, or of a module's unpacked entry, or 0 if they are not known before the input is read. */
uint64_t archives_size(const archives *a, const char *input);
/* Returns whether the path has the extension of an archive. */
bool archives_is_name(const char *path);

/* An archive that the tool writes. */
typedef struct archive_output {
  const struct foz *from; /* borrowed; NULL if the output is not an archive */
  vyre_bytes *modules;    /* owned, by entry of `from`; empty for an entry that stays unchanged */
} archive_output;

/* Begins an archive at `path` from the archive of the input.  Leaves `out` empty if `path` or the input is not an archive. */
VYRE_MUST_USE vyre_status archive_output_begin(const archives *a, const char *path, const char *input, archive_output *out);
/* Moves the SPIR-V of an input into the archive. */
void archive_output_keep(archive_output *output, const archives *a, const char *input, vyre_bytes *module);
/* Writes the archive, unless no module was added.  Other modules stay unchanged. */
VYRE_MUST_USE vyre_status archive_output_write(const archive_output *output, const char *path, bool *out_written);
void archive_output_free(archive_output *output);

#endif
