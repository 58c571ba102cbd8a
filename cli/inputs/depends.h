/* The files that an output depends on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_DEPENDS_H
#define VYRE_CLI_INPUTS_DEPENDS_H

#include "cli/tool_options.h"

#include "vyre/io.h"

/* Receives a file.  `is_there` is false for a file that does not exist, but would be read if it did. */
typedef void (*depends_visit)(void *user, const char *path, bool is_there);
/* Visits the files that all outputs depend on: pipeline, cost model and plugins of the command line. */
void depends_each_of_all(const tool_options *options, depends_visit visit, void *user);
/* Visits the files that a GLSL or HLSL text includes.  Visits nothing for other kinds. */
VYRE_MUST_USE vyre_status depends_each_included(const tool_options *options, const char *path, vyre_input_kind kind,
                                                depends_visit visit, void *user);
/* Appends the rule "OUTPUT: FILES" of an output. */
VYRE_MUST_USE vyre_status depends_print(const tool_options *options, const char *path, vyre_input_kind kind, const char *output,
                                        vyre_bytes *out);
/* Writes the file of -MD: "OUTPUT: FILES". */
VYRE_MUST_USE vyre_status depends_write(const tool_options *options, const char *path, vyre_input_kind kind, const char *output);

#endif
