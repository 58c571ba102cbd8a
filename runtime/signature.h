/* Handlers in the user's text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_SIGNATURE_H
#define VYRE_RUNTIME_SIGNATURE_H

#include "vyre/megakernel.h"

/* Returns a function's name without its @. */
const char *mega_function_name(const char *text);
/* Returns an error with the user's file and line if a handler is missing or has another signature. */
vyre_status mega_check_signatures(const vyre_mega_program *program);

#endif
