/* The levels of optimization, for all programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_LEVELS_H
#define VYRE_CLI_OPTIONS_LEVELS_H

#include "vyre/status.h"

/* The levels for help: the value of -O. */
#define LEVEL_FORMS "0|1|2|3|s"

typedef struct level {
  const char *option;   /* of vyre-passmgr, such as "-O2", static; NULL without a level */
  const char *pipeline; /* static, or NULL without a level */
  bool keeps_vectors;   /* -keep-vectors, for smaller output */
} level;

/* Stores a level, which is written as 2, O2 or -O2.  Returns USAGE for another text. */
VYRE_MUST_USE vyre_status level_parse(const char *text, level *out);
/* Does the same for the level of the environment variable VYRE_OPT.  Stores no pipeline if the variable is not set. */
VYRE_MUST_USE vyre_status level_of_environment(level *out);

#endif
