/* Rules as a flat table of u32, and matching with it.  This is everything that a pass needs at run time, on any machine.
 *
 *   head       RULES_TABLE_...: offsets of the parts
 *   classes    for each opcode a small number: 0 if no pattern has it as an operand of its root, 1 for literals, 2 for a right
 *              operand that equals the left one.  From 3 on, classes are for immediates, by their hash
 *   roots      for each opcode the offset of its block, 0 if no pattern begins with it
 *   literals   for each literal 16 pairs of words: its bits in each kind
 *   blocks     the words of a set of candidates, the number of candidates, and the offset of their list.  Sets follow for each
 *              kind of operand a, each class of a, and each class of b.  Candidates in all three sets are tried, in order
 *   programs   for each candidate RULES_CODE words, which are tested one by one
 *
 * A candidate is a rule with one order of the operands of its commuting ops.  Matching reads a row and the rows reached through
 * its operands, and writes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_TABLE_H
#define VYRE_PASSES_RULES_TABLE_H

#include "rules.h"

enum { RULES_TABLE_CLASSES, RULES_TABLE_ROOTS, RULES_TABLE_LITERALS, RULES_TABLE_CLASS_COUNT, RULES_TABLE_RULES, RULES_TABLE_HEAD };

enum {
  RULES_REGISTERS = 12,
  RULES_SCALAR = 15, /* instead of a register: a scalar */
  RULES_STACK = 4,
  RULES_CLASS_LITERAL = 1,
  RULES_CLASS_SAME = 2,
  RULES_CLASS_IMMEDIATE = 3, /* the first of RULES_IMMEDIATES classes */
  RULES_IMMEDIATES = 16,     /* 4 bits of a hash */
  RULES_MADE = 16,           /* rows that a replacement may make */
};

/* Codes, which test the rows of a match one after the other.  Each code is a word | fields | code 4 |, unless stated otherwise. The
 * comments list the fields with their lowest bits, and then the test.  `dst`, `src` and `reg` are numbers of registers, and
 * register 0 is the root.  `which` is 0 to 2 for operand a to c of the row in `src`, and `dst` receives this operand. */
typedef enum rules_code {
  RULES_ROW = VIR_CODE_ROW,   /* op 14.., which 12, src 8, dst 4: the operand is a row with the op */
  RULES_BIND = VIR_CODE_BIND, /* which 12, src 8, dst 4: any operand */
  RULES_SAME = VIR_CODE_SAME, /* which 12, src 8, reg 4: an operand equal to reg */
  RULES_IS = VIR_CODE_IS,     /* literal 16.., which 12, src 8: that literal */
  RULES_TAKE = VIR_CODE_TAKE, /* which 12, src 8, dst 4: a literal */
  RULES_KIND = VIR_CODE_KIND, /* kinds 16.., computes 12, reg 8, var 4: reg has one of the kinds, which the variable stores */
  RULES_KIND_SAME = VIR_CODE_KIND_SAME, /* reg 8, var 4: reg has the variable's kind */
  RULES_LANES = VIR_CODE_LANES,         /* reg 8, reg 4: equally many lanes, or one lane for RULES_SCALAR */
  RULES_WIDTH = VIR_CODE_WIDTH,         /* number 16.., right 12, relation 8, left 4: rules_width */
  RULES_WHEN = VIR_CODE_WHEN,           /* an expression follows: it must be true */
  RULES_PAYS,                           /* pairs 16..: then for each row that dies with the root, | parent 8 | reg 0 | */
  RULES_FORWARD = VIR_CODE_FORWARD,     /* reg 4: the row in the register replaces the root */
  RULES_LITERALLY = VIR_CODE_LITERALLY, /* an expression follows: its value replaces the root as a literal */
  RULES_MAKE = VIR_CODE_MAKE,           /* expressions 8, rows 4: then offsets of the expressions, then two words for each row */
} rules_code;

/* Steps of an expression, which work on a stack.  Each is a word | fields | step 4 |, with fields as in rules_code.  A kind is
 * 0..15, or 16 + a kind variable. */
typedef enum rules_step {
  RULES_PUSH = VIR_STEP_PUSH,                 /* reg 4: pushes the literal in the register */
  RULES_PUSH_LITERAL = VIR_STEP_PUSH_LITERAL, /* literal 16.., kind 4: pushes a literal of the table */
  RULES_APPLY = VIR_STEP_APPLY,               /* op 16.., operands 14, to 9, from 4: applies the op; `from` and `to` are kinds */
  RULES_APPLY_CALL = VIR_STEP_CALL,           /* function 16.., from 4: applies the function */
  RULES_END = VIR_STEP_END,                   /* kind 4: ends the expression, whose value has the kind */
} rules_step;

/* A row to make is two words.  The first is | register 21.. | kind 16 | op 0 |, and the row has as many lanes as the register.
 * The second has three operands of 8 bits: an index in the low 4 bits and one of these kinds, or 0 if the operand is absent. */
#define RULES_OPERAND_REGISTER   0x10u
#define RULES_OPERAND_MADE       0x20u
#define RULES_OPERAND_EXPRESSION 0x40u
#define RULES_OPERAND_ONE_LANE   0x80u /* with EXPRESSION: the value is a scalar, otherwise it has the row's lanes */

#define RULES_LITERAL_OF 0x80000000u /* a register's value is a row, or this bit and the row whose immediate it is */

/* ---- compiling ------------------------------------------------------------------------------------------------------- */

typedef struct rules_table {
  uint32_t *words; /* in the caller's rules_memory */
  uint32_t count, capacity;
} rules_table;

typedef enum rules_use { RULES_FOR_PM, RULES_FOR_EXPAND } rules_use;

/* Returns the pass that applies the rule: pm if it makes at most one row, in place over existing rows. */
rules_use rules_used_by(const rules_rule *rule);
/* Compiles the rules of the set that the pass applies.  Returns false and the error if a rule is too large or memory runs out. */
bool rules_compile(rules_memory memory, const rules_set *set, rules_use use, rules_table *out, rules_error *out_error);

/* ---- matching -------------------------------------------------------------------------------------------------------- */

typedef struct rules_match {
  uint32_t candidate;             /* the candidate after which the search continues */
  uint32_t rule;                  /* its index in the set */
  uint32_t reg[RULES_SCALAR + 1]; /* register 0 is the root; RULES_SCALAR is row 0 */
  uint8_t kind[RULES_KINDS];
  uint32_t exact, relaxed; /* row flags of new rows: exact if one matched row is, relaxed if all are */
  const uint32_t *action;  /* the word of RULES_PAYS, or of the replacement */
} rules_match;

/* Facts about the program of a row. */
typedef struct rules_scope {
  uint32_t modes;        /* RULES_IN_STRICT or RULES_IN_RELAXED */
  uint32_t kinds;        /* 1 << kind for each kind that rules may compute with; without floats under a float mode */
  const uint32_t *klass; /* by row, borrowed: rows of one class have one value; NULL if only a row equals itself */
} rules_scope;

/* Returns the facts of a program from its mode word, without classes. */
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

/* Returns whether a rule begins with the op. */
static inline bool
rules_has_root(const uint32_t *table, uint32_t op)
{
  return table[table[RULES_TABLE_ROOTS] + op] != 0;
}

/* Returns the class of a right operand that is an immediate.  Only immediates of this class may equal a literal of the class. */
static inline uint32_t
rules_class_of_immediate(uint32_t low, uint32_t high)
{
  return RULES_CLASS_IMMEDIATE + ((low ^ high) * 0x9e3779b1u >> 28);
}

/* Three sets of candidates, of `words` words each: only candidates in all three may match the row.  0 words if no rule begins
 * with its op. */
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
  const uint32_t class_b = (VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM) != 0 ? rules_class_of_immediate(view->imm[row], view->imm_hi[row])
                           : rules_are_same(scope, view->a[row], view->b[row]) ? RULES_CLASS_SAME
                                                                               : classes[VYRE_ROW_OP(b)];
  return (rules_sets){block + 3 + (uint32_t)VYRE_TYPE_KIND(VYRE_ROW_TYPE(a)) * words,
                      block + 3 + (16 + classes[VYRE_ROW_OP(a)]) * words,
                      block + 3 + (16 + table[RULES_TABLE_CLASS_COUNT] + class_b) * words, words};
}

/* Returns whether any candidate may match the row.  For most rows none does. */
static inline bool
rules_may_match(const uint32_t *table, const vyre_view *view, rules_scope scope, uint32_t row)
{
  const rules_sets sets = rules_sets_of(table, view, scope, row);
  for (uint32_t w = 0; w < sets.words; w++)
    if ((sets.kind[w] & sets.a[w] & sets.b[w]) != 0)
      return true;
  return false;
}

/* Finds the first match of the pure row, among the candidates from `candidate` on.  Returns false if there is none. */
bool rules_find(const uint32_t *table, const vyre_view *view, uint32_t row, rules_scope scope, uint32_t candidate,
                rules_match *out);

/* Functions of the value of a register.  They return whether it is a literal, the literal's bits, and the value's type. */
bool rules_value_is_literal(const vyre_view *view, uint32_t value);
uint64_t rules_value_bits(const vyre_view *view, uint32_t value);
vyre_type rules_value_type(const vyre_view *view, uint32_t value);
/* Returns the value of an expression, and its kind. */
uint64_t rules_compute(const uint32_t *table, const vyre_view *view, const rules_match *match, const uint32_t *steps,
                       vyre_kind *out_kind);

#endif
