/* Fossilize archives (.foz): what a Vulkan application's pipelines were made of.  Entries have a tag, which says what they are, and
 * a key; those of shader modules are SPIR-V.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_ARCHIVES_FOZ_H
#define VYRE_CLI_ARCHIVES_FOZ_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stdint.h>

#define FOZ_KEY 16 /* hexadecimal digits */

typedef struct foz_entry {
  size_t at;                        /* of its name, in the file */
  uint32_t stored, form, sum, size; /* bytes in the file and unpacked; how it is packed; 0: there is no sum */
  char key[FOZ_KEY + 1];
  bool is_module; /* a compute shader, or a module that cannot be read */
} foz_entry;

typedef struct foz_key {
  char key[FOZ_KEY + 1];
  uint32_t entry;
} foz_key;

typedef struct foz {
  char *path; /* owned */
  vyre_bytes bytes;
  foz_entry *entries; /* owned, in the file's order */
  foz_key *modules;   /* owned; sorted */
  uint32_t count, capacity, module_count;
  size_t cut; /* bytes of the last entry, which is not whole and left out: who wrote it was ended; 0: it is whole */
} foz;

/* Reads it whole.  INPUT: it is none, or an entry before the last one is not whole. */
VYRE_MUST_USE vyre_status foz_open(const char *path, foz **out);
/* The same of bytes that are there, which it takes, on failure too; the path is for messages. */
VYRE_MUST_USE vyre_status foz_take(const char *path, vyre_bytes *bytes, foz **out);
void foz_close(foz *archive);
/* The first entry of a module with that key; UINT32_MAX: there is none. */
uint32_t foz_find(const foz *archive, const char *key);
/* Appends the SPIR-V of the module with that key.  INPUT: there is none, or it is damaged. */
VYRE_MUST_USE vyre_status foz_read(const foz *archive, const char *key, vyre_bytes *out);
/* Appends an archive of the same entries in the same order, with words[i] in the place of entry i's where that is not NULL or
 * empty; those are not packed. */
VYRE_MUST_USE vyre_status foz_write(const foz *archive, const vyre_bytes *words, vyre_bytes *out);

#endif
