/* Fossilize archives (.foz): the objects of a Vulkan application's pipelines.  Entries have a tag, which is their type, and a key.
 * Entries of shader modules are SPIR-V.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_ARCHIVES_FOZ_H
#define VYRE_CLI_ARCHIVES_FOZ_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stdint.h>

#define FOZ_KEY 16 /* hexadecimal digits */

typedef struct foz_entry {
  size_t at;                        /* offset of its name in the file */
  uint32_t stored, form, sum, size; /* bytes in the file, packing, checksum or 0, unpacked bytes */
  char key[FOZ_KEY + 1];
  bool is_module; /* a compute shader, or a shader module that cannot be read, so that its kind is unknown */
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
  size_t cut; /* bytes of an incomplete last entry, which is skipped; 0 if the last entry is complete */
} foz;

/* Reads an archive.  Returns INPUT if the file is not an archive, or an entry before the last one is incomplete. */
VYRE_MUST_USE vyre_status foz_open(const char *path, foz **out);
/* Parses an archive from bytes, and takes ownership of them, also on failure.  The path is for messages. */
VYRE_MUST_USE vyre_status foz_adopt(const char *path, vyre_bytes *bytes, foz **out);
void foz_close(foz *archive);
/* Returns the first module entry with the key, or UINT32_MAX. */
uint32_t foz_find(const foz *archive, const char *key);
/* Appends the SPIR-V of the module with the key.  Returns INPUT if it is absent or damaged. */
VYRE_MUST_USE vyre_status foz_read(const foz *archive, const char *key, vyre_bytes *out);
/* Appends an archive with the same entries in the same order.  words[i], if not empty, replaces the contents of entry i, unpacked.
 */
VYRE_MUST_USE vyre_status foz_write(const foz *archive, const vyre_bytes *words, vyre_bytes *out);

#endif
