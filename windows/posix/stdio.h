/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_STDIO_H
#define VYRE_WINDOWS_STDIO_H

#include_next <stdio.h>

#define flockfile   _lock_file
#define funlockfile _unlock_file

#endif
