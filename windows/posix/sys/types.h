/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_SYS_TYPES_H
#define VYRE_WINDOWS_SYS_TYPES_H

#include_next <sys/types.h>

/* Windows identifies a file by 64 bits. */
#define ino_t unsigned long long

#endif
