/* Compares vyre_eval at many points to z3's values of SMT-LIB terms, which define the ops.
 *
 * A case is an op on operands of certain types, with a term for each result lane over all operand lanes.  A check writes for each
 * case the disjunction over its points of "the term differs from vyre_eval's result".  z3 answers unsat if all points agree.
 * Otherwise the check writes the case again with "and k is this point", and z3 finds k.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLD_H
#define FOLD_H

#include "vyre/eval.h"
#include "vyre/ir.h"

#include <stdio.h>

enum { FOLD_INPUTS = 16, FOLD_OUTPUTS = 16 };

typedef struct fold_operand {
  vyre_type type;
  uint32_t parts; /* of a tuple, 0 otherwise */
  vyre_type part_type;
} fold_operand;

typedef struct fold_case {
  char name[80];
  vyre_opcode op;
  vyre_kind kind; /* of the first operand */
  vyre_type type; /* of the result */
  uint32_t imm;
  fold_operand operands[3];
  uint32_t inputs, outputs; /* lanes of all operands, and of all parts of the result */
  uint32_t out_lanes;       /* lanes of a part of the result */
  vyre_kind in[FOLD_INPUTS], out[FOLD_OUTPUTS];
  bool raw;      /* the op moves bits, so the terms have floats as bit vectors */
  bool lanewise; /* the op computes each lane of vectors alone */
  char *terms;   /* SMT-LIB definitions of r0, r1, ... and u (undefined in a relaxed program), owned */
} fold_case;

typedef struct fold_list {
  fold_case *cases; /* owned */
  uint32_t count, capacity;
} fold_list;

typedef bool (*fold_eval)(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3],
                          vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined);

/* Adds the ops of terms.def (tools/smt) on integers or floats of bits_low to bits_high bits. */
void fold_lanes(fold_list *list, uint32_t bits_low, uint32_t bits_high, bool floats);
/* Adds conversions. */
void fold_convert(fold_list *list);
/* Adds ops that move lanes or bits, pack, or reduce lanes. */
void fold_moves(fold_list *list);
void fold_list_free(fold_list *list);

/* Appends a case with its name and lanes.  Returns a stream for its terms, which fold_end closes. */
FILE *fold_begin(fold_list *list, vyre_opcode op, vyre_kind kind, vyre_type type, uint32_t parts, vyre_type part_type,
                 const fold_operand operands[3], bool raw);
void fold_end(fold_list *list, FILE *terms);
/* Writes the head of a definition, up to the sort of the result: "(define-fun r0 ((x Float32) ...) Float32 ". */
void fold_head(FILE *to, const fold_case *c, uint32_t output);
void fold_head_undefined(FILE *to, const fold_case *c);
/* Returns the name of lane n of operand k, such as x1 or z. */
const char *fold_name(uint32_t k, uint32_t n, char out[8]);

/* Returns points of a case, owned by the caller.  If `random` is at least 1000, the terms are not raw, and the operands have at
 * most 16 bits, 8 each, returns all points.  Otherwise returns edges and `random` random points, a quarter of them if the terms
 * are raw. */
uint64_t *fold_points(const fold_case *c, uint32_t random, uint32_t *out_count);

/* Evaluates a case at a point. */
bool fold_run(const fold_case *c, fold_eval eval, bool as_signed, const uint64_t *point, uint64_t *out, bool *out_undefined);

typedef struct fold_counts {
  uint32_t cases, wrong;
  uint64_t points;
} fold_counts;

/* Checks each case with z3, and reports each wrong case with a point.  Returns false, after a report, if z3 does not answer. */
bool fold_check(const fold_list *list, fold_eval eval, uint32_t random, FILE *report, fold_counts *out);
/* Writes the assertion of a case: its points and the results of `eval`.  With `named`, adds k. */
void fold_write(FILE *to, const fold_case *c, fold_eval eval, const uint64_t *points, uint32_t count, bool named);
/* Proves by z3 on the ops' terms the laws of the op table, and counts wrong laws.  Returns false if z3 does not answer. */
bool fold_laws(FILE *report, fold_counts *out);
/* Reports ops with an exact fold that have no case for a kind of their operands.  Returns their number. */
uint32_t fold_missing(const fold_list *list, FILE *report);

#endif
