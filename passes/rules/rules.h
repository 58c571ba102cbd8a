/* Rewrite rules as typed trees.
 *
 *   mul-pow2 (int): mul(x, C) => shl(x, log2(C)) where is_pow2(C)
 *
 * docs/rules-format.md has the format.  This header is used by all programs that read rules: the compiler of the passes, the
 * prover, the tests, and the generator of docs/rules.md.  It is not part of the plugin ABI: pm, expand and simplify link the
 * library.
 *
 * A rule describes one lane: its ops work lane by lane, and literals are splats.  Ops that do not (any, all, lane, splat) relate
 * nodes of different lanes classes, see rules_node.
 *
 * Threads: a set is written by the thread that parses it.  After that any thread may read it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_H
#define VYRE_PASSES_RULES_H

#include "rules-constants.h"
#include "vyre/types.h"

enum {
  RULES_NODES = 64, /* nodes of a rule; node 0 is unused */
  RULES_VARIABLES = 8,
  RULES_KINDS = 8,
  RULES_CONDITIONS = 8,
  RULES_WIDTHS = 4,
  RULES_NAME = 48, /* bytes of a name, with its terminator */
  RULES_MOST = 4096,
  RULES_TEXT = 1 << 20, /* bytes of a file */
};

/* Allocates zeroed memory for sets and tables.  The owner frees all of it at once.  Returns NULL if memory runs out. */
typedef struct rules_memory {
  void *(*allocate)(void *user, size_t bytes);
  void *user;
} rules_memory;

typedef enum rules_sort {
  RULES_NONE,
  RULES_VARIABLE, /* x: a row or a literal */
  RULES_CONSTANT, /* C: a literal, a splat for more than one lane */
  RULES_LITERAL,  /* 0, -1, true, 0.5, ones, least, greatest, bits, top */
  RULES_OP,       /* add(x, y) */
  RULES_CALL,     /* udiv_magic(C): in replacements and conditions, over constants */
} rules_sort;

typedef enum rules_literal {
  RULES_INTEGER, /* of any kind; for a float kind, that number */
  RULES_FLOAT,   /* of float kinds */
  RULES_ONES,    /* all bits set; true for bool */
  RULES_SMIN,    /* `least`: 100...0 */
  RULES_SMAX,    /* `greatest`: 011...1 */
  RULES_BITS,    /* the kind's width in bits */
  RULES_TOP,     /* the kind's width in bits, minus 1 */
} rules_literal;

/* Functions of a constant that no op computes: rules_call. */
typedef enum rules_function {
  RULES_UDIV_MAGIC = VIR_RULES_UDIV_MAGIC, /* if udiv_fits(C): x / C = umulhi(x, udiv_magic(C)) >> udiv_shift(C) */
  RULES_UDIV_SHIFT = VIR_RULES_UDIV_SHIFT,
  /* Whether the shorter form holds.  Otherwise, with t = umulhi(x, udiv_magic(C)): x / C = ((x - t >> 1) + t) >> udiv_shift(C) */
  RULES_UDIV_FITS = VIR_RULES_UDIV_FITS,
  RULES_SDIV_MAGIC = VIR_RULES_SDIV_MAGIC, /* for signed division: see docs/rules-format.md */
  RULES_SDIV_SHIFT = VIR_RULES_SDIV_SHIFT,
  RULES_INVERSE = VIR_RULES_INVERSE, /* the inverse of an odd number, modulo 2^bits */
  RULES_FUNCTION__COUNT
} rules_function;

typedef struct rules_node {
  uint8_t sort;
  uint8_t operands;
  uint8_t kind;                    /* index into rules_rule.kinds: the kind of its value */
  uint8_t lanes;                   /* lanes class: 0 is one lane; nodes of one class have equally many lanes */
  uint8_t variable;                /* VARIABLE, CONSTANT: index into rules_rule.variables */
  bool constant;                   /* computed when the rule matches: from constants and literals only */
  bool truth;                      /* INTEGER: written as `true` or `false`, which have kind bool */
  uint8_t given_kind, given_lanes; /* classes that the pattern's ops imply; matching checks all further relations */
  uint16_t given_mask;             /* kinds that the pattern's ops allow, likewise */
  uint16_t op;                     /* OP: vyre_opcode; CALL: rules_function; LITERAL: rules_literal */
  uint8_t operand[3];              /* nodes of the rule, 0 if absent */
  uint32_t at;                     /* its position, in bytes of the file */
  uint64_t bits;                   /* INTEGER: two's complement; FLOAT: a double's */
} rules_node;

typedef struct rules_kind {
  char name[8];   /* "T", empty if it has none */
  uint16_t kinds; /* 1 << vyre_kind for each kind that it may be */
  bool computes;  /* whether an op computes with it, so that a program's float mode matters */
} rules_kind;

/* The condition bits(left) RELATION bits(right), or RELATION number if right is RULES_KINDS. */
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
  uint8_t node; /* its first occurrence, a node */
} rules_variable;

#define RULES_IN_STRICT  1u /* the rule applies in strict programs */
#define RULES_IN_RELAXED 2u

typedef struct rules_rule {
  char name[RULES_NAME];
  const char *text; /* borrowed from the file's text: from the rule's name to its last token */
  uint32_t length, line;
  uint32_t modes;
  rules_node nodes[RULES_NODES];
  uint8_t node_count; /* number of nodes, including node 0 */
  uint8_t pattern, replacement;
  uint8_t conditions[RULES_CONDITIONS]; /* nodes, constant and of kind bool */
  uint8_t condition_count;
  rules_kind kinds[RULES_KINDS];
  uint8_t kind_count;
  uint8_t lanes_count; /* number of lanes classes, including class 0 */
  rules_width widths[RULES_WIDTHS];
  uint8_t width_count;
  rules_variable variables[RULES_VARIABLES];
  uint8_t variable_count;
  uint8_t rows; /* rows that the replacement makes, including the root; 0 if it is an operand or a constant */
} rules_rule;

typedef struct rules_set {
  rules_rule *rules; /* in the caller's rules_memory */
  uint32_t count, capacity;
  const char *file; /* borrowed: the name in errors */
} rules_set;

typedef struct rules_error {
  uint32_t line, column;
  char message[256], fix[192];
} rules_error;

enum { RULES_MOST_ERRORS = 20 };

typedef struct rules_errors {
  rules_error items[RULES_MOST_ERRORS]; /* in the order of the text, one of each faulty rule */
  uint32_t count;                       /* of all faulty rules; only the first RULES_MOST_ERRORS have items */
} rules_errors;

/* Returns the number of items. */
static inline uint32_t
rules_errors_kept(const rules_errors *errors)
{
  return errors->count < RULES_MOST_ERRORS ? errors->count : RULES_MOST_ERRORS;
}

/* Parses a text and appends its valid rules to the set.  `text` must outlive the set.  Returns false if a rule is faulty.  Rules
 * are typed and checked (docs/rules-format.md), and each makes the program smaller (rules_shrinks). */
bool rules_parse(rules_memory memory, const char *file, const char *text, size_t length, rules_set *set, rules_errors *out);

/* Advances to the next choice of a kind for each of rule->kinds, in order.  Zeroed `kinds` start the enumeration.  Returns false
 * after the last choice.  There are fewer than 1 << 12. */
bool rules_next_typing(const rules_rule *rule, vyre_kind kinds[RULES_KINDS]);

/* Returns the bits of a literal node of a kind. */
uint64_t rules_literal_bits(const rules_node *node, vyre_kind kind);
/* Computes the value of a constant node from the bits of the constants among rule->variables.  Ops have their strict results, by
 * vyre_eval.  Returns false if the node is not computable. */
bool rules_evaluate(const rules_rule *rule, uint32_t node, const vyre_kind kinds[RULES_KINDS],
                    const uint64_t variables[RULES_VARIABLES], uint64_t *out);
/* Returns the value of a function of a constant of the kind. */
uint64_t rules_call(rules_function function, vyre_kind kind, uint64_t constant);
const char *rules_function_name(rules_function function);

/* Returns whether two nodes are equal terms. */
bool rules_same(const rules_rule *rule, uint32_t x, uint32_t y);
/* Returns the pattern's node that is the same term as a node of the replacement, so that its row exists.  Returns 0 if there is
 * none. */
uint32_t rules_in_pattern(const rules_rule *rule, uint32_t node);

/* Returns the weight of an op in the termination measure (docs/rules-format.md), which is also its row's cost. */
uint32_t rules_weight(uint32_t op);
/* Returns whether each use makes the program smaller by the measure.  If not, *out_why gets the reason; out_why may be NULL. */
bool rules_shrinks(const rules_rule *rule, const char **out_why);

#endif
