/* What memory holds where a row reads or writes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_MEMORY_H
#define VYRE_PASSES_STATE_MEMORY_H

#include "flow.h"

typedef struct memory {
  vyre_pass_ctx *ctx;
  vyre_module *module;
  const vyre_view *v;
  const flow_stops *stops; /* borrowed */
  uint32_t *alias;         /* by row: the class of a buffer, perhaps with VYRE_ALIAS_SHARED */
  uint32_t *events;        /* rows that may change memory, in program order */
  uint32_t event_count;
} memory;

typedef struct memory_state {
  uint32_t since; /* a write, the control row of a join, the region row of a head, the buffer at the start; 0: not known */
  uint32_t value; /* the row that was stored there; 0: none is known */
} memory_state;

typedef enum memory_relation { MEMORY_SAME, MEMORY_DISJOINT, MEMORY_OVERLAP } memory_relation;

/* Of a sealed module with versions.  O(stops). */
vyre_status memory_make(memory *m, vyre_pass_ctx *ctx, vyre_module *module, const flow_stops *stops);

/* How two paths lie to each other, with each row as it is in one trip of the loops around both. */
memory_relation memory_compare(const memory *m, uint32_t p, uint32_t q);

/* The same where one is of another trip of the loop: rows in it are other values then. */
memory_relation memory_compare_trips(const memory *m, uint32_t p, uint32_t q, uint32_t loop);

/* Whether the row accesses memory that nobody else changes but at synchronization, and may be left out. */
bool memory_is_plain(const memory *m, uint32_t row, uint32_t path);

/* What is there in front of the row: the last write that can have changed it.  Two states of one path with one `since`, of rows of
 * which one dominates the other, are equal.  Looks at a bounded number of writes. */
memory_state memory_before(const memory *m, uint32_t row, uint32_t path);

/* What a load is. */
typedef struct memory_load {
  uint32_t row; /* another row's value; 0: not known */
  bool is_literal;
  uint64_t bits; /* a literal, in all lanes */
} memory_load;

/* By row: an index into `loads`, 0: of no load, or of one of which nothing is known. */
typedef struct memory_loads {
  uint32_t *of;
  flow_list loads;
} memory_loads;

vyre_status memory_follow(const memory *m, memory_loads *out);

#endif
