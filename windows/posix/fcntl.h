/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_FCNTL_H
#define VYRE_WINDOWS_FCNTL_H

#include_next <fcntl.h>

#define O_CLOEXEC   _O_NOINHERIT
#define O_DIRECTORY 0 /* a folder is not opened, which nobody here counts on */
#define O_PATH      0

#endif
