/* The compilation of a rule, and the candidates that it becomes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_COMPILE_H
#define VYRE_PASSES_RULES_COMPILE_H

#include "rules_table.h"

typedef struct rules_candidate {
  uint32_t op, next, program; /* `next` is the op's next candidate, 0xffffffff after the last; `program` is an offset */
  uint32_t ops[2];            /* required ops of a and b: an opcode, const for a literal, VYRE_OP__ROOM for any */
  uint32_t kinds;             /* 1 << kind for the kinds that a may have */
  bool same;                  /* b must equal a */
  uint32_t literal;           /* the literal that b must be, UINT32_MAX if there is none */
} rules_candidate;

/* The state of one candidate, and the pool of literals of the whole table. */
typedef struct rules_writer {
  rules_memory memory;
  const rules_rule *rule;
  rules_table *table;
  uint32_t literal_count; /* literals of the table so far */
  uint64_t (*pool)[16];
  uint32_t flips;
  uint8_t node_register[RULES_NODES], variable_register[RULES_VARIABLES];
  uint32_t registers;
  uint32_t kinds_known; /* 1 << kind variable for those that a register determines */
  uint32_t expressions[RULES_NODES];
  const char *wrong; /* the error, NULL if there is none; borrowed */
} rules_writer;

/* Appends a word.  Sets `wrong` if memory runs out. */
void rules_put(rules_writer *writer, uint32_t word);
/* blocks.c: writes the parts of the table around the candidates' programs, which are written before. */
void rules_put_tables(rules_writer *writer, rules_candidate *candidates, uint32_t count);

#endif
