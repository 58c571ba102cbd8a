/* A rule being compiled, and the candidates that it becomes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_COMPILE_H
#define VYRE_PASSES_RULES_COMPILE_H

#include "rules_table.h"

typedef struct rules_candidate {
  uint32_t op, next, program; /* next one of the op; 0xffffffff: none */
  uint32_t ops[2];            /* what a and b must be: an opcode, const for a literal, VYRE_OP__ROOM for anything */
  uint32_t kinds;             /* 1 << kind: those that a may have */
  bool same;                  /* b must be what a is */
} rules_candidate;

/* Of one candidate. */
typedef struct rules_writer {
  rules_memory memory;
  const rules_rule *rule;
  rules_table *table;
  uint32_t literals, literal_count; /* kept by the whole table */
  uint64_t (*pool)[16];
  uint32_t flips;
  uint8_t node_register[RULES_NODES], variable_register[RULES_VARIABLES];
  uint32_t registers;
  uint32_t kinds_known; /* 1 << kind variable: a register says it */
  uint32_t expressions[RULES_NODES], expression_kinds[RULES_NODES];
  const char *wrong;
} rules_writer;

void rules_put(rules_writer *writer, uint32_t word);
/* blocks.c: the table around the candidates' programs, which are there. */
void rules_put_tables(rules_writer *writer, rules_candidate *candidates, uint32_t count);

#endif
