/* Alias classes, program by program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_ALIASES_H
#define VYRE_IR_ALIASES_H

#include "vyre/ir.h"

typedef struct buffer_key buffer_key;

typedef struct aliases {
  const vyre_module *module;
  const vyre_allocator *allocator;
  uint8_t *shared; /* owned; by type: whether a member at any depth is coherent or volatile */
  uint32_t types;
  buffer_key *keys; /* owned; the buffers of a program, in order of rows */
  uint32_t count, room;
} aliases;

/* Returns false if memory runs out. The caller must call aliases_end in either case. */
bool aliases_begin(aliases *k, const vyre_module *module);
/* Adds a buffer of the program. Returns false if memory runs out. */
bool aliases_add(aliases *k, uint32_t buffer);
/* Sets out[row - first] for each added buffer, and removes the buffers. */
void aliases_find(aliases *k, uint32_t first, uint32_t *out);
void aliases_end(aliases *k);

#endif
