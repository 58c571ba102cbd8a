/* Outputs that the compiler of a shader makes without the table: its module, its text after preprocessing, and its dependences.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_COMPILED_H
#define VYRE_CLI_COMPILED_H

#include "cli/process.h"

/* Returns whether the output of the source needs no table.  `source` has its bytes and its kind. */
bool compiled_is_enough(const process *p, const vyre_source *source);
/* Makes the output of such a source. */
VYRE_MUST_USE vyre_status compiled_write(const process *p, const vyre_source *source, vyre_bytes *out);
/* Replaces the SPIR-V of an output by a text, for -words, -variable and -emit=spvasm.  Prints SPIR-V for -print-spirv. */
VYRE_MUST_USE vyre_status compiled_finish(const tool_options *options, const vyre_source *source, vyre_bytes *out);

#endif
