/* Programs of one operation: each invocation loads the operands scalar by scalar and stores the result.  The tests of a code
 * generator run such a program for every operation and every combination of extreme values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OP_PROGRAM_H
#define OP_PROGRAM_H

#include "eval_shape.h"

#include "vyre/run.h"

#define OP_INVOCATIONS 64u
#define OP_SCALARS     16u /* of an operand or a result: four parts of four lanes */
#define OP_BINDINGS    5u

typedef struct op_trial {
  eval_sample sample;
  uint32_t modes; /* float modes of the program */
  vyre_opcode op;
  vyre_kind kind;
  vyre_type part_types[4]; /* of the result */
  uint32_t parts;
  bool literal;  /* whether the right operand is a literal */
  uint64_t bits; /* of the literal */
} op_trial;

/* One buffer per operand, one for the result, and one for the second result of frexp. */
typedef struct op_memory {
  _Alignas(16) uint8_t bytes[OP_BINDINGS][OP_INVOCATIONS * OP_SCALARS * 8];
} op_memory;

/* Initializes the trial.  Returns false if `literal` is true and the operation accepts no literal. */
bool op_trial_begin(op_trial *t, uint32_t modes, vyre_opcode op, vyre_kind kind, uint32_t lanes, bool literal);
/* Visits each operation that accepts the kind, with one number of lanes.  With `with_literals`, visits each operation that
 * accepts a literal again with a literal.  Visits convert and bitcast once for each kind of result. */
typedef void (*op_visitor)(void *user, op_trial *t);
void op_trial_for_each(op_visitor visit, void *user, uint32_t modes, vyre_kind kind, bool with_literals);

vyre_kind op_operand_kind(const vyre_eval_operand *operand);
/* Appends program @pNUMBER. */
void op_program_build(vyre_module *module, const op_trial *t, uint32_t number);
/* Stores the operands of an invocation. */
void op_memory_put(op_memory *m, const op_trial *t, uint32_t invocation);
/* Returns the bits of a lane of a part of the result. */
uint64_t op_memory_result(const op_memory *m, const op_trial *t, uint32_t invocation, uint32_t part, uint32_t lane);
void op_memory_bind(op_memory *m, const vyre_module *module, vyre_dispatch *dispatch, vyre_binding bindings[OP_BINDINGS]);

/* Returns the number of runs that visit each combination of extreme values of the operands.  Extreme values are zeros, the least
 * and greatest denormals, numbers next to powers of two at both ends and at 1, the greatest numbers, infinities and NaNs, with
 * both signs. */
uint32_t op_extreme_runs(const op_trial *t);
/* Sets the operands of an invocation of a run. */
void op_extreme_operands(op_trial *t, uint32_t run, uint32_t invocation);

#endif
