/* Ops that work lane by lane, over arrays of lanes: what vyre_eval and the interpreter share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_EVAL_LANES_H
#define VYRE_IR_EVAL_LANES_H

#include "vyre/types.h"

/* out[i] = op(a[i], b[i], c[i]) for n lanes.  `from` is the kind of a, `to` the result's.  Operands that the op lacks are not read;
 * ubfe and sbfe want their scalars given once a lane, select its condition.  `out` may be one of the operands.  False: the op is
 * not of this sort, or has no meaning on this kind. */
bool vyre_eval_lanes(vyre_opcode op, vyre_kind from, vyre_kind to, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                     uint64_t *out, size_t n);

/* Whether vyre_eval_lanes computes the op. */
bool vyre_eval_is_lanewise(vyre_opcode op);

/* One lane's bitfield insert. */
uint64_t vyre_eval_bitfield_insert(unsigned bits, uint64_t base, uint64_t insert, uint64_t offset, uint64_t count);

#endif
