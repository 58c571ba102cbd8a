/* Inputs that are patterns, such as 'blur-?.comp', and that no shell has expanded.  They are quoted, come from a file of arguments,
 * or have more matches than a command line can hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_PATTERNS_H
#define VYRE_CLI_OPTIONS_PATTERNS_H

#include "cli/options/option_table.h"

/* Replaces each input with * ? or [ that is not a file's name by the files that it matches, sorted by name.  `texts` owns the
 * paths. Returns USAGE for a pattern without a match. */
VYRE_MUST_USE vyre_status patterns_expand(name_list *inputs, option_texts *texts);

#endif
