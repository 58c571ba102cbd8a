/* Declarations shared by the files of the rule library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_INTERNAL_H
#define VYRE_PASSES_RULES_INTERNAL_H

#include "rules.h"

/* A rule being read: data that is not needed after typing. */
typedef struct rules_reading {
  rules_rule *rule;
  const char *text; /* the whole file, borrowed */
  size_t length;
  rules_error *error;
  char type_names[RULES_KINDS][8]; /* declared types: T in (T int) */
  uint16_t type_masks[RULES_KINDS];
  uint32_t type_count;
  uint8_t type_of[RULES_NODES];                    /* by node, 1 + its declared type, 0 if the text gives none */
  uint8_t left[RULES_WIDTHS], right[RULES_WIDTHS]; /* declared types of rule->widths; right is RULES_KINDS for a number */
} rules_reading;

/* Sets the error, at a byte of the file.  `fix` may be NULL for a reference to the documentation.  Returns false. */
bool rules_fail(const rules_reading *reading, uint32_t at, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

typedef struct rules_token {
  const char *text;
  size_t length; /* 0 at the end */
  uint32_t at;
} rules_token;

/* lex.c: returns the next token from *at on, and moves *at past it.  Skips blanks and comments. */
rules_token rules_next_token(const char *text, size_t length, size_t *at);
/* Reads a number into the op and bits of a literal node.  Sets an error and returns false if the number is wrong. */
bool rules_read_number(const rules_reading *r, const rules_token *t, rules_node *node);
size_t rules_skip_blanks(const char *text, size_t length, size_t at);
bool rules_is_letter(char c); /* Returns whether a name may begin with the character. */
bool rules_is_digit(char c);

/* types.c: infers kinds and lanes of all nodes.  Returns false if it sets an error. */
bool rules_infer(rules_reading *reading);
/* types.c: returns the kinds that a word such as "int" names, 0 if it names none. */
uint16_t rules_kinds_named(const char *word, size_t length);

#endif
