/* Checks whether a .dll file is complete.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "passmgr/registry/registry.h"

#include <fcntl.h>
#include <io.h>
#include <stdio.h>

#include <windows.h>

static bool
read_at(int file, uint64_t at, void *out, unsigned size)
{
  return _lseeki64(file, (int64_t)at, SEEK_SET) >= 0 && read(file, out, size) == (int)size;
}

bool
vyre_library_is_whole(int file, uint64_t size)
{
  IMAGE_DOS_HEADER dos;
  struct {
    DWORD signature;
    IMAGE_FILE_HEADER file;
  } header;
  _setmode(file, _O_BINARY);
  if (!read_at(file, 0, &dos, sizeof dos) || dos.e_magic != IMAGE_DOS_SIGNATURE)
    return true;
  if (!read_at(file, (uint64_t)dos.e_lfanew, &header, sizeof header))
    return false;
  const uint64_t sections = (uint64_t)dos.e_lfanew + sizeof header + header.file.SizeOfOptionalHeader;
  for (unsigned i = 0; i < header.file.NumberOfSections; i++) {
    IMAGE_SECTION_HEADER section;
    if (!read_at(file, sections + i * sizeof section, &section, sizeof section) ||
        (uint64_t)section.PointerToRawData + section.SizeOfRawData > size)
      return false;
  }
  return true;
}
