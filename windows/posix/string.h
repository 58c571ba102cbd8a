/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_STRING_H
#define VYRE_WINDOWS_STRING_H

#include_next <string.h>

void *memmem(const void *where, size_t size, const void *what, size_t length);

#endif
