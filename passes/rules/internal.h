/* What the files of the rule library share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_INTERNAL_H
#define VYRE_PASSES_RULES_INTERNAL_H

#include "rules.h"

/* Data of a rule that is not needed once it is typed. */
typedef struct rules_reading {
  rules_rule *rule;
  const char *text; /* the whole file */
  size_t length;
  rules_error *error;
  char type_names[RULES_KINDS][8]; /* declared: T (int) */
  uint16_t type_masks[RULES_KINDS];
  uint32_t type_count;
  uint8_t type_of[RULES_NODES];                    /* 1 + the declared type that the text says a node has; 0: it does not say */
  uint8_t left[RULES_WIDTHS], right[RULES_WIDTHS]; /* declared types of rule->widths; right RULES_KINDS: a number */
} rules_reading;

/* Sets the error, at a byte of the file; false. */
bool rules_fail(const rules_reading *reading, uint32_t at, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

typedef struct rules_token {
  const char *text;
  size_t length; /* 0: the end */
  uint32_t at;
} rules_token;

/* lex.c: the next one from *at on, which moves past it; skips blanks and comments. */
rules_token rules_next_token(const char *text, size_t length, size_t *at);
/* A number as a literal: its op and bits. */
bool rules_read_number(const rules_reading *r, const rules_token *t, rules_node *node);
size_t rules_skip_blanks(const char *text, size_t length, size_t at);
bool rules_is_letter(char c); /* that a name begins with */
bool rules_is_digit(char c);

/* types.c: kinds and lanes of all nodes; false: the error is set. */
bool rules_infer(rules_reading *reading);
/* types.c: "int" and the like; 0: no such word. */
uint16_t rules_kinds_named(const char *word, size_t length);

#endif
