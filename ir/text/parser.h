/* The state of the parser, shared by its files:
 *
 * - parse.c: module and programs.
 * - statement.c: regions and control.
 * - operand.c: values. op.c, words.c: ops. infer.c: result types.
 * - type.c: memory types. declare.c: declarations. function.c: functions.
 * - error.c: messages and tokens.
 *
 * A parsing function that cannot interpret the text reports an error and returns false; the caller then skips the statement. A
 * semantic error, such as an undefined name or a type that does not match, is reported and the value marked `bad`; later uses of
 * the value report nothing more.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_PARSER_H
#define VYRE_IR_TEXT_PARSER_H

#include "lex.h"
#include "memory.h"
#include "symbols.h"
#include "vyre/text.h"

#define TEXT_MAX_ERRORS  20u
#define TEXT_MAX_DEPTH   64u /* of expressions and function calls */
#define TEXT_MAX_REGIONS 1024u
#define TEXT_MAX_INLINED (16u << 20) /* bytes of function bodies inlined into one program */
#define TEXT_OP_SLOTS    1024u

/* Scopes of the names of the whole text. Programs and calls use numbers from SCOPE_FIRST; the scope of a struct's members is its
 * type. */
enum { SCOPE_STRUCT = 1, SCOPE_FUNCTION, SCOPE_PROGRAM, SCOPE_FIRST };

typedef enum frame_kind {
  FRAME_PROGRAM,
  FRAME_FUNCTION,
  FRAME_THEN,
  FRAME_ELSE,
  FRAME_FOR,
  FRAME_LOOP,
  FRAME_CONTINUING,
  FRAME_BLOCK,
  FRAME_SWITCH,
  FRAME_CASE,
} frame_kind;

/* An open region. */
typedef struct text_frame {
  uint8_t kind;
  bool chained;     /* the else of an `else if`, closed together with that `if` */
  bool ended;       /* contains a jump, so no statement may follow */
  uint32_t control; /* the control row that owns the region */
  uint32_t region;  /* the region row */
  uint32_t at;      /* offset of its opening brace */
} text_frame;

typedef struct text_parameter {
  uint32_t at, length; /* range of the name */
  vyre_type type;      /* VYRE_PATH for paths */
  vyre_type_id path;   /* the type that a path refers to */
} text_parameter;

typedef struct text_function {
  uint32_t name, name_length;
  uint32_t body, body_end; /* offsets after the opening and after the closing brace */
  uint32_t first_parameter, parameter_count;
  vyre_type result; /* VYRE_VOID if the function has no result */
  bool early;       /* has a return inside a construct, or a trap in its outermost region */
  bool active;      /* being inlined, so a call is a recursion */
  bool bad;
} text_function;

/* A slot of the hash table of op names. */
typedef struct text_op_slot {
  uint16_t op; /* 0 for an empty slot */
  uint16_t length;
} text_op_slot;

/* A value, or a literal that does not have a row yet. */
typedef struct text_operand {
  uint32_t row;
  vyre_type type;
  bool literal;
  bool bad;
  bool fresh; /* the row was built for this expression */
  uint64_t bits;
  uint32_t start, length; /* range in the text */
} text_operand;

/* A call being inlined. */
typedef struct text_call {
  uint32_t function;
  size_t base;         /* number of frames that belong to the caller */
  uint32_t var, block; /* result variable and block of a function with early returns */
  text_operand result;
} text_call;

typedef struct text_words {
  uint32_t *data;
  uint32_t count, capacity;
} text_words;

typedef struct text_parser {
  text_lexer lexer; /* first, so that the current token has a small offset */
  const char *path;
  vyre_diagnostics diagnostics;
  const vyre_allocator *allocator;
  vyre_module *module;
  const vyre_view *view;
  vyre_builder builder;
  uint32_t input;
  vyre_scope line_scope; /* the scope of all line numbers */
  uint32_t program;      /* 0 outside of programs */
  uint32_t scope;        /* of the names being parsed */
  uint32_t next_scope;
  uint32_t program_scope;
  text_symbols names;   /* rows of the program and of inlined calls */
  text_symbols globals; /* structs, functions, programs */
  text_symbols members; /* members of structs, by type */
  text_scalars scalars; /* scalars of types, for initializers */
  text_words numbers;   /* row of each %12; entries of earlier programs are invalid */
  text_words stack;     /* temporary lists of rows */
  text_words lines;     /* offset of each line, or empty if rows do not record lines */
  text_frame *frames;
  uint32_t frame_count, frame_capacity;
  text_function *functions;
  uint32_t function_count, function_capacity;
  text_parameter *parameters;
  uint32_t parameter_count, parameter_capacity;
  vyre_member *struct_members;
  uint32_t struct_member_count, struct_member_capacity;
  text_call *call;
  uint32_t depth;
  uint32_t inlined;
  bool named;        /* the current statement names its row */
  uint32_t top_last; /* last row that text_scan_top examined */
  bool computed;     /* the program starts with computed rows; later declarations stay after them */
  bool in_body;      /* the program's declarations have ended */
  uint32_t errors;
  uint32_t last_error; /* offset + 1 of the last error: one error per position */
  bool stop;           /* memory exhausted or too many errors */
  text_op_slot ops[TEXT_OP_SLOTS];
} text_parser;

/* ---- error.c ---- */
/* Reports an error at a range of the text; `fix` may be NULL. Returns false. */
bool text_error(text_parser *p, uint32_t start, uint32_t length, const char *fix, const char *format, ...) VYRE_PRINTF(5, 6);
bool text_error_token(text_parser *p, const char *fix, const char *format, ...) VYRE_PRINTF(3, 4);
/* Reports "expected X, found Y" at the current token. Returns false. */
bool text_expected(text_parser *p, const char *what);
void text_no_memory(text_parser *p);
uint32_t text_line_of(const text_parser *p, uint32_t at);
/* Writes "did you mean 'x'?" into `out` and returns it, or returns NULL if there is no name. */
const char *text_suggest(char out[96], const char *sigil, const char *name, uint32_t length);

/* ---- tokens: error.c ---- */
static inline bool
text_is_mark(const text_parser *p, char mark)
{
  return p->lexer.token.kind == TOKEN_MARK && p->lexer.token.mark == mark;
}

bool text_is_word(const text_parser *p, const char *word);
bool text_accept_mark(text_parser *p, char mark); /* advances if the mark is present */
bool text_accept_word(text_parser *p, const char *word);
bool text_expect_mark(text_parser *p, char mark);
bool text_expect_integer(text_parser *p, uint64_t most, uint32_t *out);
bool text_push_word(text_parser *p, text_words *words, uint32_t word);
/* Ensures capacity for one more element. Returns false if memory runs out. */
bool text_grow(text_parser *p, void *array, uint32_t *capacity, uint32_t count, size_t size);

/* ---- operand.c ---- */
void text_fill_ops(text_parser *p);
vyre_opcode text_op_at(const text_parser *p, const text_token *token); /* Returns VYRE_OP_null if the token names no op. */
bool text_parse_operand(text_parser *p, text_operand *out);
/* Parses an op at the current token (in op.c). The op of a statement extends to its end; a nested op needs parentheses unless its
 * number of operands is fixed. */
bool text_parse_op(text_parser *p, vyre_opcode op, bool is_statement, text_operand *out);
/* Returns whether the current token is a conversion of bf16, and parses it (in bf16.c). */
bool text_is_bf16(const text_parser *p);
bool text_parse_bf16(text_parser *p, text_operand *out);
/* Parses the right side of a statement, where an op does not need parentheses. */
bool text_parse_value(text_parser *p, text_operand *out);
/* Returns the operand's row and builds a const row for a literal. Returns 0 for a bad operand. */
uint32_t text_row_of(text_parser *p, text_operand *operand);
/* Reports an operand that is not a scalar or vector, and marks it bad. */
void text_require_value(text_parser *p, text_operand *operand);
/* Returns the row that the current name token refers to, or 0 after reporting an error. */
uint32_t text_find_row(text_parser *p);
bool text_is_open(const text_parser *p, uint32_t region); /* Returns whether rows in the region are visible. */
/* Defines a name for a row. Row 0 marks a name whose definition had errors, so that its uses are not reported. */
void text_define(text_parser *p, const text_token *name, uint32_t row);
const char *text_describe(const text_parser *p, const text_operand *operand, char out[160]);
bool text_parse_literal(text_parser *p, vyre_type *out_type, uint64_t *out_bits); /* type 0 after a reported error */
bool text_parse_scalar_type(text_parser *p, vyre_type *out);
/* ---- hints.c: the hints after a control keyword, parsed before the control row is built ---- */
typedef struct text_hints {
  uint32_t bits;
  uint32_t literals[VYRE_HINT_BITS];
} text_hints;
bool text_parse_hints(text_parser *p, vyre_opcode op, text_hints *out);
void text_set_hints(text_parser *p, vyre_row control, const text_hints *hints);
/* After the operands: memory orders on the same line, decorations. */
bool text_parse_order(text_parser *p, vyre_opcode op, uint32_t *out);
bool text_parse_decorations(text_parser *p, uint32_t row);
vyre_type text_type_of(const text_parser *p, uint32_t row);

/* ---- infer.c ---- */
/* Infers the result type and payload of an op from its operands. Returns false after reporting an error. */
bool text_infer(text_parser *p, vyre_opcode op, const text_token *at, const text_operand *operands, uint32_t count,
                vyre_type *out_type, uint32_t *out_imm);
vyre_type text_part_type(const text_parser *p, uint32_t tuple, uint32_t part);

/* ---- type.c ---- */
bool text_parse_type(text_parser *p, vyre_type_id *out);
bool text_parse_struct(text_parser *p);
uint32_t text_parse_access(text_parser *p); /* the bits of one keyword, or 0 */
/* Returns the index of the struct's member with the name, or UINT32_MAX if there is none. */
uint32_t text_find_member(const text_parser *p, vyre_type_id type, const char *name, uint32_t length);
const char *text_describe_type(const text_parser *p, vyre_type_id type, char out[96]);
/* Interns a range of the text as a string of the module. */
vyre_string text_intern(text_parser *p, uint32_t at, uint32_t length, bool escaped);
void text_set_name(text_parser *p, uint32_t row, const text_token *name);

/* ---- opaque.c ---- */
bool text_parse_words(text_parser *p, vyre_type_id *out); /* an opaque type, after `spirv` */
bool text_parse_opaque(text_parser *p, vyre_opcode op, uint32_t flags,
                       text_operand *out); /* an opaque row, after its op and flags */

/* ---- declare.c: at the keyword ---- */
bool text_parse_spec(text_parser *p);
bool text_parse_buffer(text_parser *p);
bool text_parse_var(text_parser *p);
bool text_parse_workgroup(text_parser *p);
/* Updates `computed` and `in_body` from the program's rows. Called between statements. */
void text_scan_top(text_parser *p);

/* ---- layout.c: the default layout, for parser and printer ---- */
uint32_t text_default_matrix_stride(vyre_type column, uint32_t columns, bool row_major);
/* Returns the default offset of a member of the type, if the member before it ends at `end`. */
uint32_t text_default_offset(const vyre_module *module, vyre_type_id type, uint64_t end);

/* ---- statement.c ---- */
/* Parses statements until all frames above `base` are closed. */
bool text_parse_statements(text_parser *p, uint32_t base);
bool text_push_frame(text_parser *p, frame_kind kind, uint32_t control, uint32_t region, uint32_t at);

/* ---- function.c ---- */
bool text_parse_function(text_parser *p);
bool text_parse_call(text_parser *p, bool is_statement, text_operand *out);
bool text_parse_return(text_parser *p);

#endif
