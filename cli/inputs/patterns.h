/* Inputs that are patterns, such as 'blur-?.comp', where no shell has made files of them (quoted, in a file of arguments, or too
 * many for a command line).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_PATTERNS_H
#define VYRE_CLI_OPTIONS_PATTERNS_H

#include "cli/options/option_table.h"

/* Each input with one of * ? [ that is no file's name becomes the files that it matches, by their names; the paths are in `texts`
 * then.  USAGE: it matches none. */
VYRE_MUST_USE vyre_status patterns_expand(name_list *inputs, option_texts *texts);

#endif
