/* The modules of a megakernel's parts: the kernel, and the stages of handlers with barriers for the whole grid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_PARTS_H
#define VYRE_RUNTIME_PARTS_H

#include "source.h"
#include "vyre/ir.h"
#include "vyre/text.h"

typedef struct mega_parts {
  const vyre_mega_program *program;
  const vyre_mega_form *form;
  vyre_diagnostics to; /* messages of the parser, with places in the user's file */
} mega_parts;

/* Makes the verified module of a part.  In the program of a handler, `return` before a barrier stores the result and ends the
 * invocation. */
VYRE_MUST_USE vyre_status mega_part_make(const mega_parts *parts, const mega_part *part, vyre_module **out);

/* Finds the handlers with barriers for the whole grid.  Stores an element for each handler, or one for `fused`, or NULL if no
 * handler has one.  The caller frees it. */
VYRE_MUST_USE vyre_status mega_find_staged(const mega_parts *parts, bool **out);

/* Returns the number of handlers, 1 with `fused`; the name of a handler's function; the first handler with the same function. */
uint32_t mega_handler_count(const vyre_mega_program *program);
const char *mega_handler_function(const vyre_mega_program *program, uint32_t handler);
uint32_t mega_handler_first(const vyre_mega_program *program, uint32_t handler);

#endif
