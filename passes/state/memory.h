/* What memory holds where a row reads or writes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_MEMORY_H
#define VYRE_PASSES_STATE_MEMORY_H

#include "vyre/plugin.h"

/* What the construct writes that a join of memory belongs to, between its front and the join. */
typedef struct memory_construct {
  uint32_t before; /* the state in front of it; 0: not known */
  uint32_t buffer; /* all writes are of this one */
  uint32_t steps;  /* a bit for each first step of their paths: 1 << (step & 31) */
  bool is_memory;  /* the join is one of memory, not of a variable */
} memory_construct;

typedef struct memory {
  vyre_pass_ctx *ctx;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *alias;       /* by row: the class of a buffer, perhaps with VYRE_ALIAS_SHARED */
  const uint32_t *klass; /* by row, borrowed: rows of one class are one value; NULL: each row is one of its own */
  /* By join: joins are passed by these alone, so that no write is looked at that comes after who asks.  NULL: by their parts. */
  const memory_construct *constructs;
} memory;

typedef struct memory_state {
  uint32_t since; /* the version of the last change: a write, a join, the buffer at the start; 0: not known */
  uint32_t value; /* the row that was stored there; 0: none is known */
} memory_state;

typedef enum memory_relation { MEMORY_SAME, MEMORY_DISJOINT, MEMORY_OVERLAP } memory_relation;

/* Of a module with versions. */
vyre_status memory_make(memory *m, vyre_pass_ctx *ctx, vyre_module *module);

/* For a walk in which rows change, before it: fills `constructs`.  O(joins). */
vyre_status memory_look_at_constructs(memory *m);

/* The bit of the path's first step, all bits where it is no literal or there is none; and the path's buffer. */
uint32_t memory_first_step(const memory *m, uint32_t path, uint32_t *out_buffer);

/* Whether the location of a load in that program is surely there: in a strict one a load out of bounds is zero, whatever was
 * stored. */
bool memory_is_there(const memory *m, uint32_t program, uint32_t path);

/* Whether a row that makes a state writes nothing but at its path. */
bool memory_is_of_one_place(const memory *m, uint32_t write);

/* How two paths lie to each other, with each row as it is in one iteration of the loops around both. */
memory_relation memory_compare(const memory *m, uint32_t p, uint32_t q);

/* The same where one is of another iteration of the loop: rows in it are other values then. */
memory_relation memory_compare_iterations(const memory *m, uint32_t p, uint32_t q, uint32_t loop);

/* Whether the row accesses memory that nobody else changes but at synchronization, and may be left out. */
bool memory_is_plain(const memory *m, uint32_t row, uint32_t path);

/* What the place holds in a state of its class: the last write that can have changed it.  Two states of one path with one `since`,
 * of rows of which one dominates the other, are equal.  Looks at a bounded number of states. */
memory_state memory_at(const memory *m, uint32_t version, uint32_t path);

/* Whether it is worth asking what a load is: nobody changes what it loads meanwhile, and it is a scalar or vector. */
bool memory_is_followed(const memory *m, uint32_t load);

/* What a load is. */
typedef struct memory_load {
  uint32_t row; /* another row's value; 0: not known */
  bool is_literal;
  uint64_t bits; /* a literal, in all lanes */
} memory_load;

/* What is known of a load of that program by the state that it sees. */
memory_load memory_loaded(const memory *m, uint32_t load, uint32_t program, const memory_state *state);

#endif
