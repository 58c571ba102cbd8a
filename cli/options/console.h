/* What the programs say on a terminal or in a pipe, and the exit code that they end with.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_CONSOLE_H
#define VYRE_CLI_OPTIONS_CONSOLE_H

#include "option_table.h"

/* Returns the word of a severity: "note", "remark", "warning", "error". */
const char *console_severity(vyre_severity severity);

/* Prints each on standard error. */
extern const vyre_diagnostics console_diagnostics;

/* One, with a line end after it, in pieces. */
void console_format(const vyre_diagnostic *diagnostic, void (*say)(void *user, const char *text, size_t length), void *user);

/* The answer to -help=FORMAT, on standard output. */
VYRE_MUST_USE vyre_status console_help(const option_table *table, const char *format, const char *version);

/* Says why the program fails, frees the status, and gives its exit code; 0 for VYRE_OK. */
VYRE_MUST_USE int console_complain(const char *program, vyre_status status);

/* Ends a program: returns `code`, or the code of `status`, or 1 if standard output or standard error could not be written.  Reports
 * go to standard error, too. */
VYRE_MUST_USE int console_end(const char *program, vyre_status status, int code);

#endif
