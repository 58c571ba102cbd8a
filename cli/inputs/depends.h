/* The files that an output comes from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_DEPENDS_H
#define VYRE_CLI_INPUTS_DEPENDS_H

#include "cli/tool_options.h"

#include "vyre/io.h"

/* `is_there`: else one that is made there would be read. */
typedef void (*depends_visit)(void *user, const char *path, bool is_there);
/* Those of the command line that any output comes from, but for inputs: pipeline, cost model, plugins. */
void depends_each_of_all(const tool_options *options, depends_visit visit, void *user);
/* What a text of that kind includes, if it is one that can. */
VYRE_MUST_USE vyre_status depends_each_included(const tool_options *options, const char *path, vyre_input_kind kind,
                                                depends_visit visit, void *user);
/* -MD: writes "OUTPUT: FILES". */
VYRE_MUST_USE vyre_status depends_write(const tool_options *options, const char *path, vyre_input_kind kind, const char *output);

#endif
