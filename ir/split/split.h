/* The parts of the split: what is known of the whole program (survey.c), one segment (segment.c), and the rows that keep what
 * crosses a cut (keep.c).
 *
 * Rows of a segment's module have the numbers that they have in the whole, until it is sealed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_H
#define SPLIT_H

#include "vyre/split.h"

#include "table/table.h"

#define SPLIT_NO_SLOT UINT32_MAX

/* What a row is to the segments after its own. */
typedef enum split_role {
  SPLIT_VALUE,     /* kept, where it is used after a cut */
  SPLIT_ANEW,      /* made anew there from its operands: integers over built-ins and constants, paths, tuples, handles */
  SPLIT_FIXED,     /* in every segment: declarations, constants, built-ins, and what lengths and workgroup sizes are made of */
  SPLIT_CONTAINER, /* a block, or its region, that has a cut in it */
} split_role;

/* Of a row. */
typedef struct split_row {
  uint32_t segment;                /* how many cuts are before it */
  uint32_t end;                    /* the last row in it */
  uint8_t role;                    /* split_role */
  uint32_t slot;                   /* the first word that keeps it */
  uint32_t first_write, last_read; /* of a value the last segment that needs it */
} split_row;

typedef struct split {
  const vyre_module *module;
  const vyre_view *view;
  uint32_t program, end; /* its row, and the one after all of it */
  split_row *rows;       /* by row */
  uint32_t row_count;
  uint32_t *cuts; /* barriers, in program order */
  uint32_t cut_count;
  uint32_t first_return, returned; /* the first segment with a `return`, UINT32_MAX none; the word that keeps who did */
  uint32_t invocation_words, group_words;
  uint32_t set, binding;
} split;

static inline bool
split_is_container(const split *s, uint32_t row)
{
  return row == s->program || s->rows[row].role == SPLIT_CONTAINER;
}

/* Ends an invocation, which then takes no part in later segments; a target that does not stop at a trap goes on without it. */
static inline bool
split_is_end(uint32_t op)
{
  return op == VYRE_OP_return || op == VYRE_OP_trap;
}

/* Whether the row is kept: memory and variables, too. */
static inline bool
split_is_kept(const split *s, uint32_t row)
{
  return s->rows[row].slot != SPLIT_NO_SLOT;
}

/* ---- survey.c: all of `split` but what split.c makes ----------------------------------------------------------------------- */

VYRE_MUST_USE vyre_status split_survey(split *s);
/* The variable, or memory of an invocation's or a workgroup's own, that the row accesses by that operand; 0: none. */
uint32_t split_accessed(const split *s, uint32_t row, uint32_t operand, bool *out_reads, bool *out_writes);
VYRE_MUST_USE vyre_status split_refuse(const split *s, uint32_t row, const char *what, const char *fix);

/* ---- segment.c ------------------------------------------------------------------------------------------------------------- */

/* Turns a copy of the module into the segment's. */
VYRE_MUST_USE vyre_status split_make(const split *s, uint32_t segment, vyre_module *module);

/* ---- keep.c ---------------------------------------------------------------------------------------------------------------- */

/* Where a word is: buffer[origin + stride * word]. */
typedef struct split_place {
  vyre_row buffer, origin, stride;
} split_place;

/* Words that keep a row's value; 0: it cannot be kept. */
uint32_t split_words(const vyre_module *module, uint32_t row);
/* The same of memory of that type, its lengths known. */
uint32_t split_memory_words(const vyre_module *module, vyre_type_id type);
/* Makes rows that keep a value. */
void split_store(vyre_builder *builder, const split_place *place, uint32_t word, vyre_row value);
/* Makes rows that load the value of row `like` of the whole module: in the segment, its operands may be gone. */
vyre_row split_load(vyre_builder *builder, const split_place *place, uint32_t word, const split *s, uint32_t like);
void split_store_word(vyre_builder *builder, const split_place *place, uint32_t word, vyre_row value);
vyre_row split_load_word(vyre_builder *builder, const split_place *place, uint32_t word);
/* Rows that copy memory to or from there.  `lane` and `lanes` not 0: by so many invocations, of which this is one. */
void split_copy(vyre_builder *builder, const split_place *place, uint32_t word, vyre_row memory, bool is_load, vyre_row lane,
                vyre_row lanes);

#endif
