/* vyre-prove: proves rewrite rules.
 *
 * A rule is checked for each choice of kinds, in strict and in relaxed programs, and with 1 to 4 lanes if an op is not lane by
 * lane. A question that z3 does not answer within its limit is checked by evaluation: at all points if the variables have at most
 * 24 bits together, otherwise at samples.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_PROVE_H
#define VYRE_TOOLS_PROVE_H

#include "rules.h"

#include <stdio.h>

/* A claim about a rule: it holds for these kinds, with that number of lanes, in strict or in relaxed programs. */
typedef struct question {
  const rules_rule *rule;
  vyre_kind kinds[RULES_KINDS];
  uint32_t lanes; /* lanes of all operands except those that the rule declares as scalars */
  bool relaxed;
  bool open; /* the ledger records that z3 has no answer, so the claim is only evaluated */
} question;

typedef enum answer { UNASKED, PROVEN, REFUTED, UNKNOWN } answer;

typedef struct question_list {
  question *data; /* owned */
  uint32_t count, capacity;
} question_list;

/* question.c: appends the claims of a rule, without equivalent ones.  Integers of both signs have the same terms.  If no op can be
 * undefined or hide an undefined operand, the relaxed claim equals the strict one. */
void questions_of(const rules_rule *rule, question_list *list);
/* Writes the question's kinds, such as "u32, f32, 2 lanes, relaxed". */
void question_write_kinds(FILE *to, const question *q);
/* Returns false if the question is only evaluated: it is open, or calls a function of constants that SMT-LIB does not have. */
bool question_is_for_z3(const question *q);

/* smt.c: writes the negation of the claim, so that the claim holds if the answer is `unsat`. */
void question_write(FILE *to, const question *q);
/* Requests the values of the rule's variables and of both sides, after a `sat`. */
void question_write_values(FILE *to, const question *q);

/* check.c: evaluates both sides at that number of points, or at all points if the variables have at most 24 bits together.  For an
 * open question the bound is 16 bits, because the ledger has the longer check.  Returns false after reporting a point at which the
 * sides differ. */
bool question_check(const question *q, uint64_t points, FILE *report);

/* ledger.c: the rules that hold, by the hash of their text.  Each line is `hash proven|checked=POINTS name`. */
typedef struct ledger ledger;
/* Returns NULL after a report if the file cannot be read. */
ledger *ledger_read(const char *file, bool may_be_missing, FILE *report);
/* Returns whether the ledger has the unchanged rule.  *out_points is the number of evaluated points, or 0 if z3 has proven it. */
bool ledger_has(const ledger *known, const rules_rule *rule, uint64_t *out_points);
bool ledger_write(const char *file, const rules_set *set, const bool *holds, const uint64_t *points, FILE *report);
/* Reports each line whose rule no longer exists or has changed.  Returns their number. */
uint32_t ledger_stale(const ledger *known, const rules_set *set, FILE *report);
void ledger_free(ledger *known);

#endif
