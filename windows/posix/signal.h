/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_SIGNAL_H
#define VYRE_WINDOWS_SIGNAL_H

#include_next <signal.h>

/* Signals that messages can name.  Windows raises none of them. */
#define SIGKILL 9
#define SIGBUS  10

#endif
