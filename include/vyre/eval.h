/* The meaning of pure ops on values. The interpreter and constant folding use it.
 *
 * It is always the strict meaning, total and deterministic (docs/ir.md, "Meaning"). NaN results have the canonical quiet bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_EVAL_H
#define VYRE_EVAL_H

#include "vyre/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value of up to 4 lanes. Each lane has the scalar's bits, zero-extended: bool 0 or 1, i8 -1 is 0xff, f32 its 32 bits. A tuple is
 * an array of values. */
typedef struct vyre_value {
  uint64_t lane[4];
} vyre_value;

typedef struct vyre_eval_operand {
  const vyre_value *value; /* the value, or the parts of a tuple */
  uint32_t parts;          /* tuple: number of parts */
  vyre_type type;
  vyre_type part_type; /* tuple: the common type of the parts, or 0 */
} vyre_eval_operand;

/* Most parts of a tuple result: matrices, frexp, extended products. */
#define VYRE_EVAL_PARTS 4

/* Computes a pure row from its op word, payload and operands. With flag IMM, operands[1] is the literal. Stores one value or the
 * parts of a tuple, and whether the row would be undefined in a relaxed program. Returns false if the result does not depend on the
 * operands alone (memory, ids, control), or the op is tuple or part. */
bool vyre_eval(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3],
               vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined);

#ifdef __cplusplus
}
#endif
#endif
