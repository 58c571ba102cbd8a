/* Implements sys/mman.h for reserved address space: mmap reserves a range, and mprotect commits memory from its start on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include <windows.h>

void *
mmap(void *address, size_t bytes, int access, int flags, int file, long long offset)
{
  (void)access, (void)flags, (void)file, (void)offset;
  return VirtualAlloc(address, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

int
mprotect(void *start, size_t bytes, int access)
{
  (void)access;
  return VirtualAlloc(start, bytes, MEM_COMMIT, PAGE_READWRITE) ? 0 : -1;
}

int
munmap(void *memory, size_t bytes)
{
  (void)bytes;
  return VirtualFree(memory, 0, MEM_RELEASE) ? 0 : -1;
}
