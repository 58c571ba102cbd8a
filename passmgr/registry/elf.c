/* Detects truncated shared objects, on which the dynamic linker crashes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

bool
vyre_library_is_whole(int file, uint64_t size)
{
  ElfW(Ehdr) header;
  if (pread(file, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
    return true;
  for (unsigned i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) segment;
    off_t at = (off_t)(header.e_phoff + i * sizeof(segment));
    if (at < 0 || pread(file, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
      return false;
    if (segment.p_type == PT_LOAD && (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz))
      return false;
  }
  return true;
}
