/* Handlers in the user's text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_SIGNATURE_H
#define VYRE_RUNTIME_SIGNATURE_H

#include "vyre/megakernel.h"

/* Returns a function's name without its @. */
const char *mega_function_name(const char *text);
/* Returns whether two handlers have one function. */
bool mega_is_same_function(const vyre_mega_program *program, uint32_t a, uint32_t b);
/* Returns an error with the user's file and line if a handler is missing or has another signature. */
vyre_status mega_check_signatures(const vyre_mega_program *program);

#endif
