/* Scalar cases of lane by lane ops, each expected value written by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EVAL_CASES_H
#define EVAL_CASES_H

#include "vyre/types.h"

typedef struct eval_case {
  vyre_opcode op;
  vyre_kind kind; /* of the operands */
  vyre_kind to;   /* result; VYRE_VOID: as the op's rule says */
  uint64_t a, b, c;
  uint64_t want;
  bool undefined; /* for a relaxed program */
} eval_case;

extern const eval_case eval_cases[];
extern const uint32_t eval_case_count;

#endif
