/* What the generators of code that computes addresses share: C and PTX.
 *
 * rows.c     what they ask of rows, and the error that names one
 * layout.c   where things lie in memory; the order of a dispatch's buffers
 * places.c   paths: where they lead, and what their indices are held against
 *
 * Nothing here writes code.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_COMMON_H
#define VYRE_CODEGEN_COMMON_H

#include "vyre/ir.h"
#include "vyre/run.h"
#include "vyre/view.h"

#include <stdarg.h>

/* ---- rows.c ---- */
/* "program @x, row 7 %v: TEXT", an error of the input. */
vyre_status code_error(const vyre_module *module, uint32_t program, uint32_t row, const char *format, va_list arguments);
/* Refuses a program with rows that only SPIR-V has, by the name of their instruction: "OpImageWrite has no PTX". */
vyre_status code_refuse_opaque(const vyre_module *module, uint32_t program, const char *language);
/* What combining by a subgroup's operation begins with, as bits: add 0, mul 1, and the like. */
uint64_t code_identity(vyre_opcode op, vyre_kind kind);
/* Counts, for each row of a program, the rows up to it that write, have effects, are convergent or begin regions. */
void code_count_writes(const vyre_view *v, uint32_t program, uint32_t end, uint32_t *out);
double code_half_value(uint32_t bits); /* of an f16 that is finite */

/* ---- layout.c ---- */
/* Where a type lies in memory of the program's own. */
typedef struct code_type {
  uint64_t count, size; /* elements or members; bytes, cut at 2^40 */
  uint32_t align;
} code_type;

#define CODE_UNBOUNDED UINT32_MAX /* as open_descriptors: the number is known when the code runs */

/* A program's memory: those above `v` are the caller's to set, before anything is asked. */
typedef struct code_memory {
  const vyre_module *module;
  uint32_t program;
  const vyre_spec_value *specs; /* these and in_bounds are borrowed */
  uint32_t spec_count;
  const uint8_t *in_bounds;  /* by row: not 0 of a buffer or path whose accesses are in bounds; NULL: of none */
  bool all_in_bounds;        /* all accesses are */
  bool has_push;             /* push constants are one of the dispatch's buffers */
  uint32_t open_descriptors; /* how many elements an array of descriptors has whose length is open */
  const vyre_view *v;
  uint32_t end;     /* the program's rows: before this one */
  code_type *types; /* by type id less 256; owned */
} code_memory;

/* Errors: no memory, an array's length that is not constant.  What was made then is freed by code_memory_free, too. */
VYRE_MUST_USE vyre_status code_memory_make(code_memory *m);
void code_memory_free(code_memory *m);

/* The value of a const or spec row under the specialization values; false: it is another one. */
bool code_constant(const code_memory *m, uint32_t row, uint64_t *out);
bool code_right_constant(const code_memory *m, uint32_t row, uint64_t *out); /* of its right operand, be it a row or a literal */

uint64_t code_count_of(const code_memory *m, vyre_type_id type);
uint64_t code_own_size(const code_memory *m, vyre_type_id type);
uint64_t code_own_offset(const code_memory *m, const vyre_type_info *info, uint32_t member);

bool code_is_bound(const code_memory *m, uint32_t buffer);        /* a storage or uniform buffer */
bool code_is_outside(const code_memory *m, uint32_t buffer);      /* given with the dispatch: one of these, or push constants */
bool code_is_overlaid(const code_memory *m, uint32_t buffer);     /* a workgroup block that begins where others do */
bool code_is_own(const code_memory *m, uint32_t buffer);          /* lies as code_type says; else as its type does */
uint64_t code_buffer_size(const code_memory *m, uint32_t buffer); /* of what is overlaid, that of the largest such block */
const vyre_buffer_info *code_buffer_info(const code_memory *m, uint32_t buffer);

/* The k-th of the dispatch's buffers: the first row of its set and binding.  0: there are only k. */
uint32_t code_buffer_row(const vyre_module *module, uint32_t program, bool has_push, uint32_t k);
uint32_t code_slot_of(const code_memory *m, uint32_t buffer);       /* its place among them */
uint64_t code_descriptors(const code_memory *m, vyre_type_id type); /* elements of an array of descriptors */
/* Returns whether the binding of a buffer row has descriptors whose number is known only when the code runs. */
bool code_is_table(const code_memory *m, uint32_t buffer);
/* Returns the number of descriptors of the bindings before that slot; a table counts as one. */
uint32_t code_first_descriptor(const code_memory *m, uint32_t slot);

/* ---- places.c ---- */
#define CODE_MOST_TERMS 64u
typedef struct code_term {
  uint32_t index;  /* a row */
  uint64_t stride; /* bytes; of a descriptor how many descriptors */
  uint64_t bound;  /* index < bound; 0: the runtime array's length */
} code_term;

/* Where a path leads: to fixed + the sum of index * stride over its terms, in bytes from its buffer's start.  A step with a literal
 * adds to a number that is known here; any other is a term, with a bound that the index is held against.  Only what a dispatch
 * brings is measured as a whole, too: its size is known when the code runs. */
typedef struct code_place {
  uint32_t buffer;
  uint32_t access; /* vyre_access bits of the buffer and of the members on the path */
  bool vouched;    /* in bounds, as the caller says */
  vyre_type_id type;
  uint32_t lane_stride;
  uint64_t fixed;
  bool never;                 /* out of bounds, as literals say */
  bool open;                  /* within an element of a runtime array */
  uint64_t head, open_stride; /* where that begins; its stride */
  bool open_literal;          /* its index is open_index, else that of the first term */
  uint64_t open_index;
  uint64_t beyond;  /* most bytes from its element's start to here */
  uint32_t choices; /* steps that choose a descriptor yet */
  bool chosen;      /* there were such steps: the descriptor is choice + the sum over its picks */
  uint64_t choice;
  code_term picks[8], terms[CODE_MOST_TERMS];
  uint32_t pick_count, term_count;
} code_place;

/* False: it cannot be said; then *problem (static) says why, and *where is the row. */
bool code_place_of(const code_memory *m, uint32_t path, code_place *out, uint32_t *where, const char **problem);
/* Bytes that an access of so many lanes there touches. */
uint64_t code_extent(const code_place *p, uint32_t lanes, vyre_kind kind);
/* What a step from an array or matrix into its k-th part adds for each k; *lane_stride: between the part's lanes. */
uint64_t code_part_stride(const code_memory *m, uint32_t buffer, const vyre_type_info *info, uint32_t *lane_stride);
uint64_t code_member_offset(const code_memory *m, uint32_t buffer, const vyre_type_info *info, uint32_t member);

#endif
