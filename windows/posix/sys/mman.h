/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_SYS_MMAN_H
#define VYRE_WINDOWS_SYS_MMAN_H

#include <stddef.h>

/* Reserves address space, for which mprotect commits memory from the start on.  Mapping files is not supported. */
#define PROT_NONE     0
#define PROT_READ     1
#define PROT_WRITE    2
#define MAP_PRIVATE   0
#define MAP_ANONYMOUS 0
#define MAP_NORESERVE 0
#define MAP_FAILED    ((void *)0)
#define MADV_HUGEPAGE 0
void *mmap(void *address, size_t bytes, int access, int flags, int file, long long offset);
int mprotect(void *start, size_t bytes, int access);
int munmap(void *memory, size_t bytes);
#define madvise(memory, bytes, what) ((void)(memory), (void)(bytes))

#endif
