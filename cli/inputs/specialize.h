/* Values of specialization constants: -spec, -spec-file and -freeze-spec.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_SPECIALIZE_H
#define VYRE_CLI_INPUTS_SPECIALIZE_H

#include "cli/tool_options.h"

/* Reads a file of values: a JSON object of names or ids, {"0": 64, "USE_WAVES": true}.  Appends "NAME=VALUE" for each member.
 * Returns USAGE if the file cannot be read or is not such an object. */
VYRE_MUST_USE vyre_status spec_file_read(const char *path, name_list *values, option_texts *texts);
/* Returns USAGE if an argument of -spec is not NAME=VALUE. */
VYRE_MUST_USE vyre_status specialize_check(const name_list *values);
/* Sets the defaults of the module's specialization constants, and with -freeze-spec makes all of them constants.  The module is
 * sealed, and is sealed again.  Returns INPUT if the module lacks a constant that -spec names, if a value does not fit the type, or
 * if a part of the module is not converted.  Constants that only the file names may be missing.  O(rows). */
VYRE_MUST_USE vyre_status specialize(const tool_options *options, vyre_module *module, const char *path);

#endif
