/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_MALLOC_H
#define VYRE_WINDOWS_MALLOC_H

#include_next <malloc.h>

/* Options of the heap of glibc, which Windows does not have. */
enum { M_MMAP_THRESHOLD, M_TRIM_THRESHOLD };
#define mallopt(what, value) ((void)(what), (void)(value))

#endif
