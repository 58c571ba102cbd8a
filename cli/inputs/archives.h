/* Archives among the inputs: FILE.foz is all compute shaders that are in it, and FILE.foz/KEY one of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_ARCHIVES_H
#define VYRE_CLI_INPUTS_ARCHIVES_H

#include "foz.h"
#include "cli/options/option_table.h"

typedef struct archives {
  foz **all; /* owned */
  uint32_t count;
} archives;

/* Opens them, and replaces the name of each by those of its shaders, which are the texts'.  One that is none, or has none, stays,
 * and reading it tells why. */
VYRE_MUST_USE vyre_status archives_expand(name_list *inputs, option_texts *texts, archives *out);
void archives_close(archives *a);
/* Tells of those whose last entry is left out. */
void archives_warn(const archives *a, vyre_diagnostics diagnostics);
/* The archive that the input is of, and its key there ("": it is the archive, which has no shader); NULL: of none. */
const foz *archives_find(const archives *a, const char *input, const char **out_key);
/* Appends what the input is: a file, or a module of an archive. */
VYRE_MUST_USE vyre_status archives_read(const archives *a, const char *input, vyre_bytes *out);
/* The bytes of that, unpacked, as far as they are known before it is read. */
uint64_t archives_size(const archives *a, const char *input);
/* Whether it is an archive's name. */
bool archives_is_name(const char *path);

#endif
