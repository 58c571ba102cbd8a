/* How far the functions of an f32 that PTX text computes may be from the right result, in units of its last place.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_BOUNDS_H
#define VYRE_UNITTESTS_PTX_BOUNDS_H

#include "vyre/ir.h"

/* What singles_test.c finds, rounded up; docs/ptx.md has the same numbers. */
static inline double
ulps_of(vyre_opcode op)
{
  switch ((uint32_t)op) {
  case VYRE_OP_rsqrt:
    return 0.0;
  case VYRE_OP_exp:
  case VYRE_OP_exp2:
  case VYRE_OP_log:
    return 1.0;
  case VYRE_OP_log2:
  case VYRE_OP_pow:
    return 1.5;
  case VYRE_OP_asinh:
  case VYRE_OP_acosh:
  case VYRE_OP_atanh:
    return 2.5;
  case VYRE_OP_tan:
    return 3.5;
  default:
    return 2.0;
  }
}

#endif
