/* spirv-opt's flags, as a pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_SPIRV_OPT_H
#define VYRE_CLI_OPTIONS_SPIRV_OPT_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stddef.h>

/* option_row.take of -O, and option_table.other, of tool_options: each adds to `others`, in the order of the flags.  USAGE: a flag
 * that has nothing here, by its name, and why. */
VYRE_MUST_USE vyre_status spirv_opt_take_level(const char *value, void *fields);
bool spirv_opt_take(const char *name, size_t length, void *fields, vyre_status *out_status);

#endif
