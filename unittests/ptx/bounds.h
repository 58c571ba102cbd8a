/* The greatest errors that functions of an f32 may have in PTX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_BOUNDS_H
#define VYRE_UNITTESTS_PTX_BOUNDS_H

#include "vyre/ir.h"

/* Returns the bound on the operation's error, in units in the last place of the exact result.  Bounds are the measurements of
 * singles_test.c, rounded up.  docs/ptx.md lists them. */
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
