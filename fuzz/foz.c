/* Fuzz target: Fossilize archives.  Each module of an archive is read or refused.  A new archive exchanges the modules that were
 * read, and is read again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cli/archives/foz.h"

enum { MOST_MODULES = 8 };

static const vyre_bytes *
other(const vyre_bytes *read, uint32_t count, uint32_t k)
{
  return &read[(k + 1) % count];
}

/* Writes an archive in which entry k of `entries` has the module of the next one, and reads the archive again. */
static void
write_others(const foz *archive, const vyre_bytes *read, const uint32_t *entries, uint32_t count)
{
  vyre_bytes *words = calloc((size_t)archive->count + 1, sizeof *words), all = {0}, back = {0};
  foz *again;
  if (!words)
    abort();
  for (uint32_t k = 0; k < count; k++)
    words[entries[k]] = *other(read, count, k);
  fuzz_require(foz_write(archive, words, &all), "write");
  fuzz_require(foz_adopt("again", &all, &again), "read what was written");
  if (again->count != archive->count)
    fuzz_fail("%u entries of %u", again->count, archive->count);
  for (uint32_t k = 0; k < count; k++) {
    const vyre_bytes *wanted = other(read, count, k);
    back.size = 0;
    if (!wanted->size || !again->entries[entries[k]].is_module || foz_find(again, again->entries[entries[k]].key) != entries[k])
      continue;
    fuzz_require(foz_read(again, again->entries[entries[k]].key, &back), "read a module that was written");
    if (back.size != wanted->size || memcmp(back.data, wanted->data, back.size) != 0)
      fuzz_fail("module %u is another one", entries[k]);
  }
  vyre_bytes_free(&back);
  foz_close(again);
  free(words);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  vyre_bytes bytes = {0}, read[MOST_MODULES] = {0};
  uint32_t entries[MOST_MODULES], count = 0;
  foz *archive = NULL;
  fuzz_require(vyre_bytes_append(&bytes, data, size), "memory");
  if (!fuzz_allow(foz_adopt("archive", &bytes, &archive), "read"))
    return 0;
  for (uint32_t i = 0; i < archive->count && count < MOST_MODULES; i++) {
    const foz_entry *e = &archive->entries[i];
    read[count].size = 0;
    entries[count] = i;
    if (e->is_module && foz_find(archive, e->key) == i && fuzz_allow(foz_read(archive, e->key, &read[count]), "read a module"))
      count++;
  }
  if (count)
    write_others(archive, read, entries, count);
  for (uint32_t k = 0; k < MOST_MODULES; k++)
    vyre_bytes_free(&read[k]);
  foz_close(archive);
  return 0;
}
