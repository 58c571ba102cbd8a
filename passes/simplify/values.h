/* Global value numbering: a class for each set of equal values.
 *
 * A class is named by its node: the first row of the class that was visited, or a join for values that only a join
 * defines.  Rows are equal if their op words, payloads, the versions that they see, and the classes of their operands are
 * equal.  Operands of commuting ops compare in either order.  Joins of `if`s are equal if their conditions are, and their arms
 * bring equal values.  A join whose edges all bring one value equals that value.  A value carried around a loop equals only
 * itself (Rosen, Wegman, Zadeck, "Global Value Numbers and Redundant Computations", 1988; gates: Tu and Padua, "Gated SSA-Based
 * Demand-Driven Symbolic Analysis", 1995).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_SIMPLIFY_VALUES_H
#define VYRE_PASSES_SIMPLIFY_VALUES_H

#include "../cid/first.h"
#include "../state/memory.h"

/* Equal values have equal keys. */
typedef struct values_key {
  uint64_t pair[FIRST_WORDS / 2];
} values_key;

/* A node is a row, or a join, numbered after all rows. */
typedef struct values {
  const vyre_view *v;
  uint32_t rows;      /* number of rows at the start; node `rows` is the first join */
  uint32_t *klass;    /* by node, its class, 0 if not computed */
  uint32_t *kept;     /* by class, the last row found that no earlier row of the class dominates, 0 if there is none */
  uint32_t *seen;     /* by row, the version that a read sees, moved back across writes that do not change its memory */
  uint32_t *gates[3]; /* by join of an `if`, the classes of the condition and of the arms' values; 0 if it is not a gate */
  first_table table;
  values_key wanted; /* the key being looked up */
  bool out_of_memory;
  uint32_t program, first_join, rows_of_program; /* the table numbers the program's rows first, then its joins */
  uint32_t joins;                                /* joins of variables before this one have classes */
  const memory_construct *constructs;            /* by join, borrowed */
} values;

/* Allocates the columns for a module.  O(rows + joins). */
vyre_status values_make(values *n, vyre_pass_ctx *ctx, const vyre_view *view);

/* Starts a program, whose rows end before `end`.  Programs, and the rows in them, must be visited in program order. */
void values_begin_program(values *n, uint32_t program, uint32_t end);

/* Returns the class of a row that is a value (vyre_row_is_value).  Its operands must have classes. */
uint32_t values_of_row(values *n, uint32_t row);

/* Returns the class of a variable's value in a version.  Returns 0 if control does not reach the version, or it is one of
 * memory.  All rows before the readers of the version must have classes. */
uint32_t values_of_state(values *n, uint32_t version);

#endif
