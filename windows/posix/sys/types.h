/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_SYS_TYPES_H
#define VYRE_WINDOWS_SYS_TYPES_H

#include_next <sys/types.h>

/* Wide enough for the identity of a file. */
#define ino_t unsigned long long

#endif
