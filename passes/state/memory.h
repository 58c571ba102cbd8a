/* The contents of memory at a read or write, found by following versions backward (docs/ir.md, "Versions").
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_MEMORY_H
#define VYRE_PASSES_STATE_MEMORY_H

#include "vyre/plugin.h"

/* The writes of a construct between its start and one of its joins. */
typedef struct memory_construct {
  uint32_t before; /* the version before the construct, 0 if it is not known */
  uint32_t buffer; /* the buffer of all writes */
  uint32_t steps;  /* a bit for each first step of their paths: 1 << (step & 31) */
  bool is_memory;  /* the join is a version of memory, not of a variable */
} memory_construct;

typedef struct memory {
  vyre_pass_ctx *ctx;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *alias;       /* by row, the alias class of a buffer, with VYRE_ALIAS_SHARED if it is shared */
  const uint32_t *klass; /* by row, borrowed: rows of one class have one value; NULL if only a row equals itself */
  /* By join, or NULL.  If present, a search passes joins by these summaries alone and never visits writes after its start. */
  const memory_construct *constructs;
} memory;

typedef struct memory_state {
  uint32_t since; /* the version of the last change: a write, a join, or the buffer at the start; 0 if it is not known */
  uint32_t value; /* the row that was stored there, 0 if it is not known */
} memory_state;

typedef enum memory_relation { MEMORY_SAME, MEMORY_DISJOINT, MEMORY_OVERLAP } memory_relation;

/* Prepares queries about a module that has versions. */
vyre_status memory_make(memory *m, vyre_pass_ctx *ctx, vyre_module *module);

/* Computes m->constructs.  Call it before a walk that changes rows.  O(joins). */
vyre_status memory_summarize_constructs(memory *m);

/* Returns the bit of the path's first step, or all bits if that step is not a literal.  *out_buffer is the path's buffer. */
uint32_t memory_first_step(const memory *m, uint32_t path, uint32_t *out_buffer);

/* Returns whether a load of the program from the path is surely in bounds.  In a strict program a load out of bounds gives zero,
 * whatever was stored. */
bool memory_is_there(const memory *m, uint32_t program, uint32_t path);

/* Returns whether a row that makes a version writes only through its path. */
bool memory_writes_path_only(const memory *m, uint32_t write);

/* Compares two paths in the same iteration of all loops around both. */
memory_relation memory_compare(const memory *m, uint32_t p, uint32_t q);

/* Compares two paths of different iterations of the loop, in which rows of the loop may have different values. */
memory_relation memory_compare_iterations(const memory *m, uint32_t p, uint32_t q, uint32_t loop);

/* Returns whether the access is plain.  A plain access may be removed, and other invocations change its memory only at
 * synchronization. */
bool memory_is_plain(const memory *m, uint32_t row, uint32_t path);

/* Returns the last write that can have changed the place, going back from `version` of its alias class.  Two states of one path
 * with equal `since` have equal contents if one of their rows dominates the other.  Visits a bounded number of versions. */
memory_state memory_at(const memory *m, uint32_t version, uint32_t path);

/* Returns whether the value of a load may be searched: a plain access of a scalar or vector. */
bool memory_can_follow(const memory *m, uint32_t load);

/* The known value of a load. */
typedef struct memory_load {
  uint32_t row; /* a row with the same value, 0 if none is known */
  bool is_literal;
  uint64_t bits; /* the literal of all lanes */
} memory_load;

/* Returns the value of a load of the program, given the state of its location. */
memory_load memory_loaded(const memory *m, uint32_t load, uint32_t program, const memory_state *state);

#endif
