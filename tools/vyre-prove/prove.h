/* vyre-prove: whether rules hold.
 *
 * A rule is asked about at each choice of kinds that it applies at, with 1 to 4 lanes where it has ops that are not lane by lane,
 * and in strict and in relaxed programs.  What z3 cannot say within its limit is checked by evaluating: at all points
 * where the variables have 24 bits or fewer together, else at samples.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_PROVE_H
#define VYRE_TOOLS_PROVE_H

#include "rules.h"

#include <stdio.h>

/* One claim about a rule: it holds at these kinds, with so many lanes, in strict or in relaxed programs. */
typedef struct question {
  const rules_rule *rule;
  vyre_kind kinds[RULES_KINDS];
  uint32_t lanes; /* of every class but that of scalars */
  bool relaxed;
  bool open; /* z3 has no answer, by the ledger: evaluated only */
} question;

typedef enum answer { UNASKED, PROVEN, REFUTED, UNKNOWN } answer;

typedef struct question_list {
  question *data; /* owned */
  uint32_t count, capacity;
} question_list;

/* question.c: the claims to be proven of a rule, each kind of claim once: integers of both signs have the same terms, and if
 * no op can be undefined or hide an undefined operand, the relaxed claim is the strict one. */
void questions_of(const rules_rule *rule, question_list *list);
void question_write_kinds(FILE *to, const question *q); /* "u32, f32, 2 lanes, relaxed" */
/* Not if it is open, nor if it has a function of a constant that SMT-LIB has not: evaluated only. */
bool question_is_for_z3(const question *q);

/* smt.c: the negation of the claim, so that `unsat` means it holds. */
void question_write(FILE *to, const question *q);
/* Asks for the values of the rule's variables and of both its sides, after a `sat`. */
void question_write_values(FILE *to, const question *q);

/* check.c: evaluates both sides at so many points, or at all where the variables have 24 bits or fewer together, if it is open 16:
 * the ledger has the others.  False: they differ; `report` says where. */
bool question_check(const question *q, uint64_t points, FILE *report);

/* ledger.c: rules that were found to hold, by the hash of their text: `hash proven|checked=POINTS name`, a line each. */
typedef struct ledger ledger;
ledger *ledger_read(const char *file, bool may_be_missing, FILE *report); /* NULL: it cannot be read */
/* Whether the rule, unchanged, is in it; `out_points`: at how many it was evaluated, 0 if z3 has proven it. */
bool ledger_has(const ledger *known, const rules_rule *rule, uint64_t *out_points);
bool ledger_write(const char *file, const rules_set *set, const bool *holds, const uint64_t *points, FILE *report);
/* Reports each line whose rule no longer exists or has changed; returns how many. */
uint32_t ledger_stale(const ledger *known, const rules_set *set, FILE *report);
void ledger_free(ledger *known);

#endif
