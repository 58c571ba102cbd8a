/* Rules as a flat table of u32, and the walk over it: what a pass needs when it runs, on any machine.
 *
 *   head       RULES_TABLE_...: offsets of the parts
 *   classes    of each opcode a small number: 0 if it is inside no pattern, 1 for literals, 2 for a right operand that is the left
 *              one
 *   roots      of each opcode the offset of its block; 0: no rule begins with it
 *   literals   of each literal 16 pairs of words: its bits at each kind
 *   blocks     the number of words of a set of candidates, the number of candidates, the offset of their list; then such a set
 *              for each kind of operand a, for each class that a may have, and for each of b: candidates that are in all three
 *              sets are tried, in order
 *   programs   of each candidate: RULES_CODE words, compared one by one
 *
 * A candidate is a rule with the operands of its commuting ops in one order.  A match reads its row and the rows reached through
 * its operands, and writes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_TABLE_H
#define VYRE_PASSES_RULES_TABLE_H

#include "rules.h"

enum { RULES_TABLE_CLASSES, RULES_TABLE_ROOTS, RULES_TABLE_LITERALS, RULES_TABLE_CLASS_COUNT, RULES_TABLE_RULES, RULES_TABLE_HEAD };

enum {
  RULES_REGISTERS = 16, /* the last one is no register: RULES_SCALAR */
  RULES_SCALAR = 15,
  RULES_STACK = 8,
  RULES_CLASS_LITERAL = 1,
  RULES_CLASS_SAME = 2,
  RULES_MADE = 16, /* rows that a replacement may be made of */
};

/* One word each, but where said:  | fields | code 4 |.  `dst`, `src`, `reg` are registers, register 0 the root. */
typedef enum rules_code {
  RULES_ROW = VIR_CODE_ROW,   /* op 14.., which 12, src 8, dst 4: the operand is a row of that op */
  RULES_BIND = VIR_CODE_BIND, /* which 12, src 8, dst 4: any operand */
  RULES_SAME = VIR_CODE_SAME, /* which 12, src 8, reg 4: the same operand again */
  RULES_IS = VIR_CODE_IS,     /* literal 16.., which 12, src 8: that literal */
  RULES_TAKE = VIR_CODE_TAKE, /* which 12, src 8, dst 4: a literal */
  RULES_KIND = VIR_CODE_KIND, /* kinds 16.., computes 12, reg 8, var 4: the kind of reg is one of these, and that of the variable */
  RULES_KIND_SAME = VIR_CODE_KIND_SAME, /* reg 8, var 4 */
  RULES_LANES = VIR_CODE_LANES,         /* reg 8, reg 4: as many lanes; RULES_SCALAR: one */
  RULES_WIDTH = VIR_CODE_WIDTH,         /* number 16.., right 12, relation 8, left 4; right RULES_KINDS: the number */
  RULES_WHEN = VIR_CODE_WHEN,           /* an expression follows: it is true */
  RULES_PAYS,                           /* pairs 16..: then of each row that may go | parent 8 | reg 0 | */
  RULES_FORWARD = VIR_CODE_FORWARD,     /* reg 4: it replaces the root */
  RULES_LITERALLY = VIR_CODE_LITERALLY, /* an expression follows: the root's value */
  RULES_MAKE = VIR_CODE_MAKE,           /* expressions 8, rows 4: then offsets of the expressions, then two words a row */
} rules_code;

/* Expressions, on a stack: | fields | code 4 |.  A kind is one of 0..15, or 16 + a variable. */
typedef enum rules_step {
  RULES_PUSH = VIR_STEP_PUSH,                 /* reg 4: its literal */
  RULES_PUSH_LITERAL = VIR_STEP_PUSH_LITERAL, /* literal 16.., kind 4 */
  RULES_APPLY = VIR_STEP_APPLY,               /* op 16.., operands 14, to 9, from 4 */
  RULES_APPLY_CALL = VIR_STEP_CALL,           /* function 16.., from 4 */
  RULES_END = VIR_STEP_END,                   /* kind 4 */
} rules_step;

/* A row to make: op 0, kind 16, register with as many lanes 21; then three operands of 8 bits. */
#define RULES_OPERAND_REGISTER   0x10u
#define RULES_OPERAND_MADE       0x20u
#define RULES_OPERAND_EXPRESSION 0x40u
#define RULES_OPERAND_ONE_LANE   0x80u /* and an expression: a scalar, else with its row's lanes */

#define RULES_LITERAL_OF 0x80000000u /* a register's value: a row, or this and the row whose immediate it is */

/* ---- making one ------------------------------------------------------------------------------------------------------ */

typedef struct rules_table {
  uint32_t *words; /* in the memory given */
  uint32_t count, capacity;
} rules_table;

typedef enum rules_use { RULES_FOR_PM, RULES_FOR_EXPAND } rules_use;

/* How the rule is applied: one row in place over existing rows, or more. */
rules_use rules_used_by(const rules_rule *rule);
/* The table of the set's rules for one of them; other rules are left out.  False: the error. */
bool rules_compile(rules_memory memory, const rules_set *set, rules_use use, rules_table *out, rules_error *out_error);

/* ---- walking it ------------------------------------------------------------------------------------------------------ */

typedef struct rules_match {
  uint32_t candidate;            /* go on from the next one */
  uint32_t rule;                 /* its number in the set */
  uint32_t reg[RULES_REGISTERS]; /* 0 the root */
  uint8_t kind[RULES_KINDS];
  uint32_t exact, relaxed; /* row flags of what is made: if one was exact, if all were relaxed */
  const uint32_t *action;  /* from RULES_PAYS on, or after it */
} rules_match;

/* Facts of the program that a row is in. */
typedef struct rules_scope {
  uint32_t modes;        /* RULES_IN_STRICT or RULES_IN_RELAXED */
  uint32_t kinds;        /* 1 << kind: those that may be computed with; no floats under a float mode */
  const uint32_t *klass; /* by row: rows of one class are one value; NULL: each row is the same as itself alone */
} rules_scope;

static inline rules_scope
rules_scope_of(uint32_t program_mode)
{
  const uint32_t floats = 1u << VYRE_F16 | 1u << VYRE_F32 | 1u << VYRE_F64;
  return (rules_scope){program_mode & VYRE_PROGRAM_RELAXED ? RULES_IN_RELAXED : RULES_IN_STRICT,
                       program_mode & VYRE_PROGRAM_FLOAT_MODES ? ~floats : ~0u, NULL};
}

static inline bool
rules_are_same(rules_scope scope, uint32_t x, uint32_t y)
{
  return x == y || (scope.klass && scope.klass[x] == scope.klass[y]);
}

/* The three sets of candidates whose common ones may match the row; `words` of each.  0 words: no rule begins with its op. */
typedef struct rules_sets {
  const uint32_t *kind, *a, *b;
  uint32_t words;
} rules_sets;

static inline rules_sets
rules_sets_of(const uint32_t *table, const vyre_view *view, rules_scope scope, uint32_t row)
{
  const uint32_t word = view->op[row], root = table[table[RULES_TABLE_ROOTS] + VYRE_ROW_OP(word)];
  if (root == 0)
    return (rules_sets){NULL, NULL, NULL, 0};
  const uint32_t *classes = table + table[RULES_TABLE_CLASSES], *block = table + root;
  const uint32_t a = view->op[view->a[row]], b = view->op[view->b[row]], words = block[0];
  const uint32_t class_b = (VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM) != 0          ? RULES_CLASS_LITERAL
                           : rules_are_same(scope, view->a[row], view->b[row]) ? RULES_CLASS_SAME
                                                                               : classes[VYRE_ROW_OP(b)];
  return (rules_sets){block + 3 + (uint32_t)VYRE_TYPE_KIND(VYRE_ROW_TYPE(a)) * words,
                      block + 3 + (16 + classes[VYRE_ROW_OP(a)]) * words,
                      block + 3 + (16 + table[RULES_TABLE_CLASS_COUNT] + class_b) * words, words};
}

/* Whether any candidate is left at the row: for most rows there is none. */
static inline bool
rules_may_match(const uint32_t *table, const vyre_view *view, rules_scope scope, uint32_t row)
{
  const rules_sets sets = rules_sets_of(table, view, scope, row);
  for (uint32_t w = 0; w < sets.words; w++)
    if ((sets.kind[w] & sets.a[w] & sets.b[w]) != 0)
      return true;
  return false;
}

/* The first match at the row among the candidates from `candidate` on.  `row` is pure. */
bool rules_find(const uint32_t *table, const vyre_view *view, uint32_t row, rules_scope scope, uint32_t candidate,
                rules_match *out);

/* Of a register's value: whether it is a literal, its bits, its type. */
bool rules_value_is_literal(const vyre_view *view, uint32_t value);
uint64_t rules_value_bits(const vyre_view *view, uint32_t value);
vyre_type rules_value_type(const vyre_view *view, uint32_t value);
/* An expression's value, and its kind. */
uint64_t rules_compute(const uint32_t *table, const vyre_view *view, const rules_match *match, const uint32_t *steps,
                       vyre_kind *out_kind);

#endif
