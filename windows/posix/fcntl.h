/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_FCNTL_H
#define VYRE_WINDOWS_FCNTL_H

#include_next <fcntl.h>

#define O_CLOEXEC   _O_NOINHERIT
#define O_DIRECTORY 0 /* folders are never opened on Windows */
#define O_PATH      0

#endif
