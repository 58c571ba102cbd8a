/* The meaning of pure ops on values: what the interpreter computes and what folding may use.
 *
 * The strict meaning, always: total and deterministic (docs/ir.md, "Meaning").  NaN results have the canonical quiet bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_EVAL_H
#define VYRE_EVAL_H

#include "vyre/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A scalar is its bits, zero-extended, in a u64: bool 0 or 1, i8 -1 is 0xff, f32 its 32 bits.  A value has up to 4 lanes; a tuple
 * is an array of values. */
typedef struct vyre_value {
  uint64_t lane[4];
} vyre_value;

typedef struct vyre_eval_operand {
  const vyre_value *value; /* a value; of a tuple: its parts */
  uint32_t parts;          /* tuple: how many */
  vyre_type type;
  vyre_type part_type; /* tuple: the type of the parts where they have one */
} vyre_eval_operand;

/* Most parts of a tuple result: matrices, frexp, extended products. */
#define VYRE_EVAL_PARTS 4

/* Computes a pure row (op word, payload, operands; with flag IMM the literal is given as operands[1]).  Writes one value, or the
 * parts of a tuple, and whether a relaxed program's row is undefined on these operands.  False: the op is no function of its
 * operands (memory, ids, control, tuple, part). */
bool vyre_eval(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3],
               vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined);

#ifdef __cplusplus
}
#endif
#endif
