/* Which rows are equal values: a number for each class of them.
 *
 * A class is named by its node: the first row that was met of it; of values that only a join makes, the join.  Rows are equal if
 * their op words, payloads, states that they see, and the classes of their operands are; where the op commutes, in either order.
 * Joins of `if`s on equal conditions whose arms bring equal values are equal; one whose edges all bring one value is that.  What
 * comes around a loop is equal to itself alone (Rosen, Wegman, Zadeck, "Global Value Numbers and Redundant Computations", 1988;
 * gates: Tu and Padua, "Gated SSA-Based Demand-Driven Symbolic Analysis", 1995).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_SIMPLIFY_VALUES_H
#define VYRE_PASSES_SIMPLIFY_VALUES_H

#include "../cid/first.h"

/* Nodes are rows, and joins after them. */
typedef struct values {
  const vyre_view *v;
  uint32_t rows;      /* when it was made: the first node that is a join */
  uint32_t *klass;    /* by node */
  uint32_t *kept;     /* by class: the row last found that no earlier one of the class dominates; 0: none */
  uint32_t *seen;     /* by row: the state that a read sees, as far back as it is known to be the same */
  uint32_t *gates[3]; /* by join, of those of `if`s: classes of the condition and of what the arms bring; 0: it is no gate */
  first_table table;
  first_key wanted; /* of the value that is looked for */
  bool out_of_memory;
  uint32_t program, first_join, rows_of_program; /* the table's numbers begin with its rows; then come its joins */
  uint32_t joins;                                /* those before it have classes */
} values;

/* O(rows + joins). */
vyre_status values_make(values *n, vyre_pass_ctx *ctx, const vyre_view *view);

/* Ask for rows of one program after another, each in program order.  Its rows end before `end`. */
void values_begin_program(values *n, uint32_t program, uint32_t end);

/* The class of a row that is a value (vyre_row_is_value), whose operands have theirs. */
uint32_t values_of_row(values *n, uint32_t row);

/* The class of a variable's value in that state; 0: control does not come there, or it is a state of memory.  All rows before those
 * that see the state must have their classes. */
uint32_t values_of_state(values *n, uint32_t version);

#endif
