/* Keywords of memory types and the enumeration of their scalars, shared by parser and printer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_MEMORY_H
#define VYRE_IR_TEXT_MEMORY_H

#include "op.h"
#include "vyre/ir.h"

extern const char *const text_space_words[VYRE_SPACE__COUNT];
extern const text_bit_word text_access_words[];

/* The number of scalars of each type of the table. Zero-initialized, it is empty. */
typedef struct text_scalars {
  uint64_t *counts; /* by type id - 256 */
  uint32_t count, capacity;
  const vyre_allocator *allocator;
} text_scalars;

/* Counts the scalars of the types added since the last call. Returns false if memory runs out. */
bool text_scalars_update(text_scalars *scalars, const vyre_module *module, const vyre_allocator *allocator);
void text_scalars_free(text_scalars *scalars);
/* Returns the number of scalars, or UINT64_MAX if it is not fixed or greater than 2^32 - 1. */
uint64_t text_scalar_count(const text_scalars *scalars, const vyre_module *module, vyre_type_id type);

#define TEXT_WALK_DEPTH 256u

/* Enumerates the scalars of a type in layout order. */
typedef struct text_walk {
  const vyre_module *module;
  const text_scalars *scalars;
  bool deep; /* the type nests too deep: the walk has ended */
  uint32_t depth;
  struct {
    vyre_type_id type;
    uint32_t next;
  } frames[TEXT_WALK_DEPTH];
} text_walk;

void text_walk_start(text_walk *walk, const text_scalars *scalars, const vyre_module *module, vyre_type_id type);
vyre_type text_walk_next(text_walk *walk); /* returns 0 at the end */

#endif
