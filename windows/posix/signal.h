/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_SIGNAL_H
#define VYRE_WINDOWS_SIGNAL_H

#include_next <signal.h>

/* Numbers that messages know; none is raised. */
#define SIGKILL 9
#define SIGBUS  10

#endif
