/* Messages of the programs on standard output and standard error, and their exit codes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_CONSOLE_H
#define VYRE_CLI_OPTIONS_CONSOLE_H

#include "option_table.h"

/* Returns the word of a severity: "note", "remark", "warning", "error". */
const char *console_severity(vyre_severity severity);

/* Prints each diagnostic to standard error. */
extern const vyre_diagnostics console_diagnostics;

/* Passes the text of a diagnostic to `print`, in pieces and with a line end. */
void console_format(const vyre_diagnostic *diagnostic, void (*print)(void *user, const char *text, size_t length), void *user);

/* Prints the help to standard output. */
VYRE_MUST_USE vyre_status console_help(const option_table *table, const char *format, const char *version);

/* Prints the error to standard error, frees the status and returns its exit code.  Returns 0 for VYRE_OK. */
VYRE_MUST_USE int console_complain(const char *program, vyre_status status);

/* Ends a program: returns `code`, or the code of `status`, or 1 if standard output or standard error could not be written.  Reports
 * go to standard error, too. */
VYRE_MUST_USE int console_end(const char *program, vyre_status status, int code);

#endif
