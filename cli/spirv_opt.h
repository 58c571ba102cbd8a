/* Flags of spirv-opt, translated to a pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_SPIRV_OPT_H
#define VYRE_CLI_OPTIONS_SPIRV_OPT_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Callbacks for the option table: `parse` of -O, and `other`.  Both append to `others` of tool_options, in the order of the flags.
 * They return USAGE for a flag that no pass implements. */
VYRE_MUST_USE vyre_status spirv_opt_add_level(const char *value, void *fields);
bool spirv_opt_add_flag(const char *name, size_t length, void *fields, vyre_status *out_status);

#endif
