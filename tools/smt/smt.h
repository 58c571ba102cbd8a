/* The meaning of ops in SMT-LIB: terms over single lanes, and queries to z3.
 *
 * Integers and their bits are bit vectors, bools Bool, floats FloatingPoint, or bit vectors too where bits are moved (`raw`). Terms
 * use constants and helpers of their kind (zero, ones, least, ...), which smt_prelude defines.  `suffix` is appended to their
 * names, so that several kinds can be used in one question.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_SMT_H
#define VYRE_TOOLS_SMT_H

#include "vyre/types.h"

#include <stdio.h>

/* An op of terms.def.  Operands are x, y and z.  The parts of a tuple operand z are z and z1. */
typedef struct smt_op {
  vyre_opcode op;
  uint32_t kinds; /* 1 << kind of the first operand; integers of both signs have their term under the unsigned kind */
  const char *relaxed, *result, *second;
} smt_op;

extern const smt_op smt_ops[];
extern const uint32_t smt_op_count;

/* Returns NULL if there is no term. */
const smt_op *smt_find(vyre_opcode op, vyre_kind kind);

void smt_sort(FILE *to, vyre_kind kind, bool raw);
void smt_prelude(FILE *to, vyre_kind kind, bool raw, const char *suffix);
/* Writes a term of terms.def, with its $ letters replaced for the kind.  A term that begins with @ is expanded over the bits. */
void smt_term(FILE *to, vyre_kind kind, const char *term, const char *suffix);
/* Writes the `convert` of x, or with `undefined` the condition in which a relaxed program's is undefined. */
void smt_convert(FILE *to, vyre_kind from, vyre_kind kind, bool undefined, const char *suffix);

/* Runs z3 ($Z3, or `z3`) on the text that `write` writes.  Returns its answer, owned by the caller, or NULL after a report. */
char *smt_solve(void (*write)(FILE *to, void *context), void *context, FILE *report);

#endif
