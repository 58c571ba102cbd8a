/* Rewrite rules as trees: what a .rules text says, typed.
 *
 *   mul-pow2 (int): mul(x, C) => shl(x, log2(C)) where is_pow2(C)
 *
 * docs/rules-format.md has the format.  Here is what a program that reads rules sees: the passes' compiler, the prover, the tests,
 * the page of docs/rules.md.  Nothing here is part of the plugin ABI; pm and expand link it in.
 *
 * A rule is about one lane: its ops work lane by lane, and literals are splats.  What is no lane-by-lane op (any, all, lane, splat)
 * has its own lanes classes, see rules_node.
 *
 * Threads: a set is written by the one that parses it; read only after that.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_H
#define VYRE_PASSES_RULES_H

#include "rules-constants.h"
#include "vyre/types.h"

enum {
  RULES_NODES = 64, /* of a rule, 0 not used */
  RULES_VARIABLES = 8,
  RULES_KINDS = 8,
  RULES_CONDITIONS = 8,
  RULES_WIDTHS = 4,
  RULES_NAME = 48, /* bytes of a name, its 0 counted */
  RULES_MOST = 4096,
  RULES_TEXT = 1 << 20, /* bytes of a file */
};

/* Allocates the memory of sets, zeroed; its owner frees it all at once.  NULL: out of memory. */
typedef struct rules_memory {
  void *(*take)(void *user, size_t bytes);
  void *user;
} rules_memory;

typedef enum rules_sort {
  RULES_NONE,
  RULES_VARIABLE, /* x: any row, or a literal */
  RULES_CONSTANT, /* C: a literal, a splat for more than one lane */
  RULES_LITERAL,  /* 0, -1, true, 0.5, ones, least, greatest, bits, top */
  RULES_OP,       /* add(x, y) */
  RULES_CALL,     /* udiv_magic(C): in replacements and conditions, over constants */
} rules_sort;

typedef enum rules_literal {
  RULES_INTEGER, /* of any kind: of a float kind that number */
  RULES_FLOAT,   /* of float kinds */
  RULES_ONES,    /* all bits; true */
  RULES_SMIN,    /* `least`: 100...0 */
  RULES_SMAX,    /* `greatest`: 011...1 */
  RULES_BITS,    /* the width */
  RULES_TOP,     /* the width less one */
} rules_literal;

/* Functions of a constant that no op computes: rules_call. */
typedef enum rules_function {
  RULES_UDIV_MAGIC = VIR_RULES_UDIV_MAGIC, /* x / C = umulhi(x, udiv_magic(C)) >> udiv_shift(C), where udiv_fits(C) */
  RULES_UDIV_SHIFT = VIR_RULES_UDIV_SHIFT,
  RULES_UDIV_FITS = VIR_RULES_UDIV_FITS, /* else, with t = umulhi(x, udiv_magic(C)): x / C = ((x - t >> 1) + t) >> udiv_shift(C) */
  RULES_SDIV_MAGIC = VIR_RULES_SDIV_MAGIC, /* the same for signed division: docs/rules-format.md */
  RULES_SDIV_SHIFT = VIR_RULES_SDIV_SHIFT,
  RULES_INVERSE = VIR_RULES_INVERSE, /* of an odd number, modulo 2^bits */
  RULES_FUNCTION__COUNT
} rules_function;

typedef struct rules_node {
  uint8_t sort;
  uint8_t operands;
  uint8_t kind;                    /* of rules_rule.kinds: the kind of its value */
  uint8_t lanes;                   /* lanes class: 0 one lane; nodes of one class have equally many */
  uint8_t variable;                /* VARIABLE, CONSTANT: of rules_rule.variables */
  bool constant;                   /* known when the rule matches: made of constants and literals alone */
  bool truth;                      /* INTEGER: `true` or `false`, which are of kind bool alone */
  uint8_t given_kind, given_lanes; /* classes that hold of every verified match of the pattern: what goes beyond them is checked */
  uint16_t given_mask;             /* kinds that its ops allow it, likewise */
  uint16_t op;                     /* OP: vyre_opcode; CALL: rules_function; LITERAL: rules_literal */
  uint8_t operand[3];              /* nodes of the rule, 0: none */
  uint32_t at;                     /* byte of the file */
  uint64_t bits;                   /* INTEGER: two's complement; FLOAT: a double's */
} rules_node;

typedef struct rules_kind {
  char name[8];   /* "T"; empty: it has none */
  uint16_t kinds; /* 1 << vyre_kind, those it may be */
  bool computes;  /* an op computes with it, so that of a float the program's float mode matters */
} rules_kind;

/* bits(left) RELATION bits(right), or the number if right is RULES_KINDS */
typedef enum rules_relation {
  RULES_LESS = VIR_RELATION_LESS,
  RULES_LESS_EQUAL = VIR_RELATION_LESS_EQUAL,
  RULES_EQUAL = VIR_RELATION_EQUAL,
  RULES_NOT_EQUAL
} rules_relation;
typedef struct rules_width {
  uint8_t left, relation, right, number;
} rules_width;

typedef struct rules_variable {
  char name[16];
  bool constant;
  uint8_t node; /* its first occurrence */
} rules_variable;

#define RULES_IN_STRICT  1u /* applies in strict programs */
#define RULES_IN_RELAXED 2u

typedef struct rules_rule {
  char name[RULES_NAME];
  const char *text; /* borrowed from the file's: from its name to its last token */
  uint32_t length, line;
  uint32_t modes;
  rules_node nodes[RULES_NODES];
  uint8_t node_count; /* 0 counted */
  uint8_t pattern, replacement;
  uint8_t conditions[RULES_CONDITIONS]; /* nodes of kind bool, constant */
  uint8_t condition_count;
  rules_kind kinds[RULES_KINDS];
  uint8_t kind_count;
  uint8_t lanes_count; /* classes, 0 (one lane) counted */
  rules_width widths[RULES_WIDTHS];
  uint8_t width_count;
  rules_variable variables[RULES_VARIABLES];
  uint8_t variable_count;
  uint8_t rows; /* that the replacement is made of, the root counted; 0: it is an operand or a constant */
} rules_rule;

typedef struct rules_set {
  rules_rule *rules; /* in the memory given */
  uint32_t count, capacity;
  const char *file; /* borrowed: what errors call it */
} rules_set;

typedef struct rules_error {
  uint32_t line, column;
  char message[256], fix[192];
} rules_error;

/* Reads a text and appends its rules to the set; `text` must outlive it.  False: the first error.  Rules are typed and checked
 * (docs/rules-format.md), and each makes what it rewrites smaller (rules_shrinks). */
bool rules_parse(rules_memory memory, const char *file, const char *text, size_t length, rules_set *set, rules_error *out_error);

/* The types that a rule applies at: the next choice of a kind for each of rule->kinds, in order; `kinds` zeroed: the first.
 * False: there are no more.  Fewer than 1 << 12 of them. */
bool rules_next_typing(const rules_rule *rule, vyre_kind kinds[RULES_KINDS]);

/* The bits of a literal node at a kind. */
uint64_t rules_literal_bits(const rules_node *node, vyre_kind kind);
/* The value of a constant node, given the bits of the constants among rule->variables: ops as vyre_eval computes them, strictly. */
bool rules_evaluate(const rules_rule *rule, uint32_t node, const vyre_kind kinds[RULES_KINDS],
                    const uint64_t variables[RULES_VARIABLES], uint64_t *out);
/* A function of a constant of the kind. */
uint64_t rules_call(rules_function function, vyre_kind kind, uint64_t constant);
const char *rules_function_name(rules_function function);

/* Whether two nodes are one term. */
bool rules_same(const rules_rule *rule, uint32_t x, uint32_t y);
/* The node of the pattern that is the same term as this one of the replacement, so that its row is there; 0: none. */
uint32_t rules_in_pattern(const rules_rule *rule, uint32_t node);

/* The termination measure (docs/rules-format.md): the weight of the op as a rule's term, and as what its row costs. */
uint32_t rules_weight(uint32_t op);
/* Whether each use makes the program smaller by the measure; `out_why` (may be NULL) gets the reason if not. */
bool rules_shrinks(const rules_rule *rule, const char **out_why);

#endif
