/* A parsed pipeline: a tree in arrays, with names and parameters resolved.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_PIPELINE_PIPELINE_H
#define VYRE_PASSMGR_PIPELINE_PIPELINE_H

#include "passmgr/registry/registry.h"

#define VYRE_PIPELINE_TEXT     65536u /* bytes */
#define VYRE_PIPELINE_DEPTH    32u    /* of parentheses */
#define VYRE_PIPELINE_ELEMENTS 4096u
#define VYRE_PIPELINE_REPEATS  1000000u /* product of nested repeat and fixpoint counts */

typedef enum vyre_node_kind { VYRE_NODE_ROOT, VYRE_NODE_PASS, VYRE_NODE_REPEAT, VYRE_NODE_FIXPOINT } vyre_node_kind;

typedef struct vyre_node {
  vyre_node_kind kind;
  uint32_t next, first;           /* next sibling and first child, or 0 */
  uint32_t values;                /* index of the values of its parameters */
  const vyre_pass_record *record; /* the pass of a VYRE_NODE_PASS */
} vyre_node;

struct vyre_pipeline {
  vyre_allocator allocator;
  const vyre_registry *registry; /* the source of passes that provide required columns */
  vyre_node *nodes;              /* node 0 is the root, which has no text; groups in parentheses have no node */
  uint32_t node_count, node_capacity;
  uint64_t *values;
  uint32_t value_count, value_capacity;
  char *texts; /* zero-terminated texts; the value of a text parameter is an offset, and offset 0 is the empty text */
  uint32_t text_size, text_capacity;
};

/* The parameters of a pass or a combinator. */
typedef struct vyre_schema {
  const char *kind; /* "pass", "combinator" */
  const char *name, *summary;
  const vyre_param *params;
  uint32_t count;
} vyre_schema;

extern const vyre_schema vyre_combinators[2]; /* repeat, fixpoint */

/* The expansion of `default<level>`. */
typedef struct vyre_default {
  const char *level, *text;
} vyre_default;

enum { VYRE_DEFAULTS = 4 };
extern const vyre_default vyre_defaults[VYRE_DEFAULTS];

vyre_schema vyre_node_schema(const vyre_node *node);

/* Returns the values of a node's parameters, in the order of its schema, or NULL if there are none. */
static inline uint64_t *
vyre_node_values(const vyre_pipeline *pipeline, const vyre_node *node)
{
  return pipeline->values ? pipeline->values + node->values : NULL;
}

enum { VYRE_ON_LIMIT_WARN, VYRE_ON_LIMIT_ERROR, VYRE_ON_LIMIT_QUIET };
enum { VYRE_WHILE_CHANGES, VYRE_WHILE_BRANCHES };

/* Returns whether no pass comes after the node's, except in rounds of a fixpoint that few programs need. */
bool vyre_pipeline_is_last(const vyre_pipeline *pipeline, const vyre_node *node);
enum { VYRE_REPEAT_N = 0, VYRE_FIXPOINT_MAX = 0, VYRE_FIXPOINT_ON_LIMIT = 1, VYRE_FIXPOINT_WHILE = 2 };

/* The text being parsed. */
typedef struct vyre_parser {
  const vyre_registry *registry;
  const char *name; /* "-passes" */
  const char *text;
  size_t length, at;
  uint32_t depth, elements;
  uint64_t repeats; /* product of the counts around the current element */
  vyre_pipeline *pipeline;
  uint64_t rules;      /* in the expansion of default<level;rules=FILE>: the value for each pass with that parameter, otherwise 0 */
  bool has_used_rules; /* a pass has that parameter */
} vyre_parser;

/* Returns the error "name:line:column: message", with the line, a caret under `length` characters from `at` on, and the fix, if
 * any. */
vyre_status vyre_parser_fail(const vyre_parser *parser, size_t at, size_t length, const char *fix, const char *format, ...)
    VYRE_PRINTF(5, 6);
void vyre_parser_skip_blanks(vyre_parser *parser);
/* Describes the next character for messages, in a buffer of 16 bytes: "'x'" or "the end". */
const char *vyre_parser_found(const vyre_parser *parser, char buffer[16]);
int vyre_parser_peek(const vyre_parser *parser); /* returns the next character, or -1 at the end */

/* Parses parameters, from after '<' to after '>'.  `values` has the default of each parameter, and `seen` is false for each. */
VYRE_MUST_USE vyre_status vyre_parse_params(vyre_parser *parser, const vyre_schema *schema, uint64_t *values, bool *seen);

bool vyre_is_atom(int c); /* returns whether a value may contain the character without quotes */

/* Prints an element, with its children if `with_children` is set. */
VYRE_MUST_USE vyre_status vyre_print_node(const vyre_pipeline *pipeline, uint32_t node, bool with_children, vyre_bytes *out);

#endif
