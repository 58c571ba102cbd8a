/* Values of specialization constants: -spec, -spec-file and -freeze-spec.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_SPECIALIZE_H
#define VYRE_CLI_INPUTS_SPECIALIZE_H

#include "cli/tool_options.h"

/* Reads the file of -variants: a JSON object of names and their values, {"small": {"0": 64}, "large": {"0": 256}}.  Returns USAGE
 * if the file cannot be read, is not such an object, or a name does not fit into a file's name. */
VYRE_MUST_USE vyre_status variants_read(const char *path, spec_variants *out, option_texts *texts);
void variants_free(spec_variants *variants);
/* Reads a file of values: a JSON object of names or ids, {"0": 64, "USE_WAVES": true}.  Appends "NAME=VALUE" for each member.
 * Returns USAGE if the file cannot be read or is not such an object. */
VYRE_MUST_USE vyre_status spec_file_read(const char *path, name_list *values, option_texts *texts);
/* Returns USAGE if an argument of -spec is not NAME=VALUE. */
VYRE_MUST_USE vyre_status specialize_check(const name_list *values);
/* Returns whether a module is specialized. */
bool is_specialized(const tool_options *options);
/* Specializes a module with the values of -spec-file, of the variant with that index, and of -spec, in this order.  With -freeze-spec
 * makes all specialization constants ordinary constants.  Otherwise as vyre_module_specialize. */
VYRE_MUST_USE vyre_status specialize(const tool_options *options, uint32_t variant, vyre_module *module, const char *path);

#endif
