/* Lane by lane ops over arrays of lanes, for vyre_eval and the interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_EVAL_LANES_H
#define VYRE_IR_EVAL_LANES_H

#include "vyre/types.h"

/* Computes out[i] = op(a[i], b[i], c[i]) for n lanes. `from` is the kind of a, `to` that of the result. Operands that the op lacks
 * are not read. The scalars of ubfe and sbfe, and the condition of select, must be given for each lane. `out` may be one of the
 * operands. Returns false if the op is not lane by lane, or has no meaning for the kind. */
bool vyre_eval_lanes(vyre_opcode op, vyre_kind from, vyre_kind to, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                     uint64_t *out, size_t n);

/* Returns whether vyre_eval_lanes computes the op. */
bool vyre_eval_is_lanewise(vyre_opcode op);

/* Computes the bitfield insert of one lane. */
uint64_t vyre_eval_bitfield_insert(unsigned bits, uint64_t base, uint64_t insert, uint64_t offset, uint64_t count);

#endif
