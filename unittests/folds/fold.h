/* Folds against SMT-LIB: what vyre_eval computes at many points, and z3's value of a term that says what the op means.
 *
 * A case is an op on operands of certain types, with a term for each result lane over all operand lanes.  A check writes, for each
 * case, the disjunction over its points of "the term is not what vyre_eval said"; z3 answers unsat where all of them agree.  Where
 * it does not, each is asked again as "k is this point, and ...", and z3 names k.
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
  uint32_t parts; /* of a tuple, else 0 */
  vyre_type part_type;
} fold_operand;

typedef struct fold_case {
  char name[80];
  vyre_opcode op;
  vyre_kind kind; /* of the operands, or of the first one */
  vyre_type type; /* the result's */
  uint32_t imm;
  fold_operand operands[3];
  uint32_t inputs, outputs; /* lanes of all operands; lanes of the result, part by part */
  uint32_t out_lanes;       /* lanes of one part */
  vyre_kind in[FOLD_INPUTS], out[FOLD_OUTPUTS];
  bool raw;      /* floats are bit vectors to the term: it moves bits */
  bool lanewise; /* the same on vectors, lane by lane */
  char *terms;   /* owned: SMT-LIB definitions of r0, r1, ... and u (undefined in a relaxed program) */
} fold_case;

typedef struct fold_list {
  fold_case *cases; /* owned */
  uint32_t count, capacity;
} fold_list;

typedef bool (*fold_eval)(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3],
                          vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined);

/* Cases: fold_lanes those of terms.def (tools/smt) on operands of one kind, fold_convert conversions, fold_moves what moves lanes
 * and bits or packs. */
void fold_lanes(fold_list *list, uint32_t bits_low, uint32_t bits_high, bool floats);
void fold_convert(fold_list *list);
void fold_moves(fold_list *list);
void fold_list_free(fold_list *list);

/* Makes a case, its names and lanes counted, and gives the stream for its terms; fold_end takes it back. */
FILE *fold_begin(fold_list *list, vyre_opcode op, vyre_kind kind, vyre_type type, uint32_t parts, vyre_type part_type,
                 const fold_operand operands[3], bool raw);
void fold_end(fold_list *list, FILE *terms);
/* The head of a definition, to the result's sort: "(define-fun r0 ((x Float32) ...) Float32 ". */
void fold_head(FILE *to, const fold_case *c, uint32_t output);
void fold_head_undefined(FILE *to, const fold_case *c);
/* What x1 or z is called: the n-th lane of operand k. */
const char *fold_name(uint32_t k, uint32_t n, char out[8]);

/* Points of a case: all of them where its operands have 16 bits and are of 8, else edges and so many random ones.  Owned by the
 * caller. */
uint64_t *fold_points(const fold_case *c, uint32_t random, uint32_t *out_count);

/* Evaluates a case at a point. */
bool fold_run(const fold_case *c, fold_eval eval, bool as_signed, const uint64_t *point, uint64_t *out, bool *out_undefined);

typedef struct fold_counts {
  uint32_t cases, wrong;
  uint64_t points;
} fold_counts;

/* Writes the question for each case to z3 and reports what is wrong, each with its first point.  False: z3 did not answer
 * (reported). */
bool fold_check(const fold_list *list, fold_eval eval, uint32_t random, FILE *report, fold_counts *out);
/* The question of one case: points and what vyre_eval says of them; named: with k. */
void fold_write(FILE *to, const fold_case *c, fold_eval eval, const uint64_t *points, uint32_t count, bool named);
/* Proves by z3 what the op table says of ops, on their terms, and counts what is not so. */
bool fold_laws(FILE *report, fold_counts *out);
/* Ops that fold EXACT and have no case for a kind they take. */
uint32_t fold_missing(const fold_list *list, FILE *report);

#endif
