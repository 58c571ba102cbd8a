/* Operations that may be computed in half precision (SPIR-V's RelaxedPrecision), for `half` and `relax`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_HALVES_H
#define VYRE_PASSES_STATE_HALVES_H

#include "vyre/plugin.h"

_Static_assert(VYRE_OP_smoothstep == VYRE_OP_round + 30 && VYRE_OP_select == VYRE_OP_join + 5, "the ranges below");

/* Returns whether the op computes a scalar or vector of floats, and has the same meaning on f16. */
static inline bool
halves_computes(uint32_t op)
{
  switch (op) {
  case VYRE_OP_add:
  case VYRE_OP_sub:
  case VYRE_OP_mul:
  case VYRE_OP_neg:
  case VYRE_OP_fdiv:
  case VYRE_OP_frem:
  case VYRE_OP_fmod:
  case VYRE_OP_fma:
  case VYRE_OP_fabs:
  case VYRE_OP_fsign:
  case VYRE_OP_fmin:
  case VYRE_OP_fmax:
  case VYRE_OP_nmin:
  case VYRE_OP_nmax:
  case VYRE_OP_fclamp:
  case VYRE_OP_nclamp:
  case VYRE_OP_convert:
  case VYRE_OP_ldexp:
  case VYRE_OP_dot:
  case VYRE_OP_norm:
  case VYRE_OP_distance:
  case VYRE_OP_cross:
  case VYRE_OP_normalize:
  case VYRE_OP_faceforward:
  case VYRE_OP_reflect:
  case VYRE_OP_refract:
    return true;
  default:
    return op >= VYRE_OP_round && op <= VYRE_OP_smoothstep;
  }
}

/* Returns whether the op computes nothing: it moves lanes or selects between values. */
static inline bool
halves_moves(uint32_t op)
{
  return op >= VYRE_OP_join && op <= VYRE_OP_select;
}

#endif
