/* Words and walks of memory types that parser and printer share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_MEMORY_H
#define VYRE_IR_TEXT_MEMORY_H

#include "op.h"
#include "vyre/ir.h"

extern const char *const text_space_words[VYRE_SPACE__COUNT];
extern const text_bit_word text_access_words[];

/* How many scalars each type of the table has; all zero is an empty one. */
typedef struct text_scalars {
  uint64_t *counts; /* by type id - 256 */
  uint32_t count, capacity;
  const vyre_allocator *allocator;
} text_scalars;

/* Counts the types that are new.  False: no memory. */
bool text_scalars_update(text_scalars *scalars, const vyre_module *module, const vyre_allocator *allocator);
void text_scalars_free(text_scalars *scalars);
/* UINT64_MAX: no fixed number, or more than 2^32. */
uint64_t text_scalar_count(const text_scalars *scalars, const vyre_module *module, vyre_type_id type);

#define TEXT_WALK_DEPTH 256u

/* Goes over the scalars of a type in layout order. */
typedef struct text_walk {
  const vyre_module *module;
  const text_scalars *scalars;
  bool deep; /* the type nests too deep: nothing more comes */
  uint32_t depth;
  struct {
    vyre_type_id type;
    uint32_t next;
  } frames[TEXT_WALK_DEPTH];
} text_walk;

void text_walk_start(text_walk *walk, const text_scalars *scalars, const vyre_module *module, vyre_type_id type);
vyre_type text_walk_next(text_walk *walk); /* 0: the end */

#endif
