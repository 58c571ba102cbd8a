/* Shared declarations of the split: facts about the whole program (survey.c), one segment (segment.c), and the rows that keep state
 * across cuts (keep.c).
 *
 * Rows of a segment's module have the same ids as in the whole module until it is sealed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_H
#define SPLIT_H

#include "vyre/split.h"

#include "table/table.h"

#define SPLIT_NO_SLOT UINT32_MAX

/* The role of a row in the segments after its own. */
typedef enum split_role {
  SPLIT_VALUE,     /* kept if it is used after a cut */
  SPLIT_ANEW,      /* recomputed there from its operands: integers over built-ins and constants, paths, tuples, handles */
  SPLIT_FIXED,     /* present in every segment: declarations, constants, built-ins, and operands of lengths and workgroup sizes */
  SPLIT_CONTAINER, /* a block that contains a cut, or its region */
} split_role;

/* Facts about a row. */
typedef struct split_row {
  uint32_t segment;                /* number of cuts before it */
  uint32_t end;                    /* the last row inside the row, inclusive; the row itself if there is none */
  uint8_t role;                    /* split_role */
  uint32_t slot;                   /* the first of the words that hold its value between segments, or SPLIT_NO_SLOT */
  uint32_t first_write, last_read; /* of memory, the first segment that writes it; the last segment that needs it */
} split_row;

typedef struct split {
  const vyre_module *module;
  const vyre_view *view;
  uint32_t program, end; /* its row, and the row after its last one */
  split_row *rows;       /* by row */
  uint32_t row_count;
  uint32_t *cuts; /* barriers, in program order */
  uint32_t cut_count;
  uint32_t first_return, returned; /* the first segment that ends invocations, or UINT32_MAX; the word that records the end */
  uint32_t invocation_words, group_words;
  uint32_t set, binding;
} split;

static inline bool
split_is_container(const split *s, uint32_t row)
{
  return row == s->program || s->rows[row].role == SPLIT_CONTAINER;
}

/* Returns whether the op ends an invocation, which then does nothing in later segments. A target that does not stop at a trap
 * continues without it. */
static inline bool
split_is_end(uint32_t op)
{
  return op == VYRE_OP_return || op == VYRE_OP_trap;
}

/* Returns whether the row's value or memory is kept. */
static inline bool
split_is_kept(const split *s, uint32_t row)
{
  return s->rows[row].slot != SPLIT_NO_SLOT;
}

/* ---- survey.c: computes all of `split` that split.c does not set ----------------------------------------------------------- */

VYRE_MUST_USE vyre_status split_survey(split *s);
/* Returns the variable, or the private or workgroup memory, that the row accesses through the operand, or 0. */
uint32_t split_accessed(const split *s, uint32_t row, uint32_t operand, bool *out_reads, bool *out_writes);
VYRE_MUST_USE vyre_status split_refuse(const split *s, uint32_t row, const char *what, const char *fix);

/* ---- segment.c ------------------------------------------------------------------------------------------------------------- */

/* Reduces `module`, a copy of the whole module, to a segment. */
VYRE_MUST_USE vyre_status split_make(const split *s, uint32_t segment, vyre_module *module);

/* ---- keep.c ---------------------------------------------------------------------------------------------------------------- */

/* The location of word w: buffer[origin + stride * w]. */
typedef struct split_place {
  vyre_row buffer, origin, stride;
} split_place;

/* Returns the number of words that keep a row's value, or 0 if it cannot be kept. */
uint32_t split_words(const vyre_module *module, uint32_t row);
/* Returns the number of words that keep memory of the type, or 0 if it cannot be kept. */
uint32_t split_memory_words(const vyre_module *module, vyre_type_id type);
/* Builds rows that keep a value. */
void split_store(vyre_builder *builder, const split_place *place, uint32_t word, vyre_row value);
/* Builds rows that load the kept value of row `like` of the whole module. In the segment, its operands may be removed. */
vyre_row split_load(vyre_builder *builder, const split_place *place, uint32_t word, const split *s, uint32_t like);
void split_store_word(vyre_builder *builder, const split_place *place, uint32_t word, vyre_row value);
vyre_row split_load_word(vyre_builder *builder, const split_place *place, uint32_t word);
/* Builds rows that copy memory to or from the kept words. If `lane` and `lanes` are not 0, `lanes` invocations divide the work, and
 * `lane` is the number of this one. */
void split_copy(vyre_builder *builder, const split_place *place, uint32_t word, vyre_row memory, bool is_load, vyre_row lane,
                vyre_row lanes);

#endif
