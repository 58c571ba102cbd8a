/* Options of GLSL, HLSL and MSL output.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OUTPUTS_CROSS_OPTIONS_H
#define VYRE_CLI_OUTPUTS_CROSS_OPTIONS_H

#include "cli/tool_options.h"

/* Fills `cross` from the options' texts.  Returns USAGE for a wrong text. */
VYRE_MUST_USE vyre_status cross_options_fill(tool_options *options);
void cross_options_free(tool_options *options);

#endif
