/* The parser's state, for its files: parse.c (module, programs), statement.c (regions, control), operand.c (values),
 * op.c, words.c (ops), infer.c (result types), type.c (types of memory), declare.c (declarations),
 * function.c (functions), error.c (messages).
 *
 * Parsing functions return false when they could not make sense of the text, after saying so; the statement is then skipped.  What
 * is understood but wrong (a name that is not known, a type that does not fit) is reported, the value is `bad` and nothing more is
 * said of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_PARSER_H
#define VYRE_IR_TEXT_PARSER_H

#include "lex.h"
#include "memory.h"
#include "symbols.h"
#include "vyre/text.h"

#define TEXT_MAX_ERRORS  20u
#define TEXT_MAX_DEPTH   64u /* expressions, calls of functions */
#define TEXT_MAX_REGIONS 1000u
#define TEXT_MAX_INLINED (16u << 20) /* bytes of function bodies in one program */
#define TEXT_OP_SLOTS    1024u

/* Scopes of the names that belong to the whole text; programs and calls count on from there, a struct's members have those of its
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
  bool chained;     /* an else whose `if` follows at once: it ends with that */
  bool ended;       /* a jump is in it: nothing may follow */
  uint32_t control; /* the row that it belongs to */
  uint32_t region;  /* the region row */
  uint32_t at;      /* where it was opened */
} text_frame;

typedef struct text_parameter {
  uint32_t at, length; /* name */
  vyre_type type;      /* VYRE_PATH for paths */
  vyre_type_id path;   /* what a path reaches */
} text_parameter;

typedef struct text_function {
  uint32_t name, name_length;
  uint32_t body, body_end; /* after the opening brace, after the closing one */
  uint32_t first_parameter, parameter_count;
  vyre_type result; /* 0: none */
  bool early;       /* a return is inside a construct */
  bool active;      /* being parsed: a call now is a recursion */
  bool bad;
} text_function;

/* A value, or a literal that is no row yet. */
typedef struct text_op_slot {
  uint16_t op; /* 0: free */
  uint16_t length;
} text_op_slot;

typedef struct text_operand {
  uint32_t row;
  vyre_type type;
  bool literal;
  bool bad;
  bool fresh; /* the row was made for this very expression */
  uint64_t bits;
  uint32_t start, length; /* in the text */
} text_operand;

/* The call that is being put in; NULL: the program itself. */
typedef struct text_call {
  uint32_t function;
  size_t base;         /* frames below are the caller's */
  uint32_t var, block; /* of an early return */
  text_operand result;
} text_call;

typedef struct text_words {
  uint32_t *data;
  uint32_t count, capacity;
} text_words;

typedef struct text_parser {
  text_lexer lexer; /* first, so that the current token is near */
  const char *path;
  vyre_diagnostics diagnostics;
  const vyre_allocator *allocator;
  vyre_module *module;
  const vyre_view *view;
  vyre_builder builder;
  uint32_t input;
  vyre_scope line_scope; /* that lines are in */
  uint32_t program;      /* 0: between programs */
  uint32_t scope;        /* of the names in sight */
  uint32_t next_scope;
  uint32_t program_scope;
  text_symbols names;   /* rows of the program and of calls in it */
  text_symbols globals; /* structs, functions, programs */
  text_symbols members; /* of structs, by type */
  text_scalars scalars; /* of types, for initializers */
  text_words numbers;   /* row of each %12, valid if it is of this program */
  text_words stack;     /* rows of lists that are being read */
  text_words lines;     /* where each begins, if rows get their lines; none: they do not */
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
  bool named;        /* the statement at hand gives its row a name */
  uint32_t top_last; /* the program's rows up to this one were looked at */
  bool computed;     /* rows computed from constants are at the top: declarations go after them, as in the text */
  bool in_body;      /* ... but the body has begun */
  uint32_t errors;
  uint32_t last_error; /* where; one message a position */
  bool stop;           /* no memory, or too many errors */
  text_op_slot ops[TEXT_OP_SLOTS];
} text_parser;

/* ---- error.c ---- */
/* At these bytes of the text; `fix` may be NULL.  Returns false. */
bool text_error(text_parser *p, uint32_t start, uint32_t length, const char *fix, const char *format, ...) VYRE_PRINTF(5, 6);
bool text_error_token(text_parser *p, const char *fix, const char *format, ...) VYRE_PRINTF(3, 4);
/* "expected X, found Y" at the current token. */
bool text_expected(text_parser *p, const char *what);
void text_no_memory(text_parser *p);
uint32_t text_line_of(const text_parser *p, uint32_t at);
/* "did you mean 'x'?" into `out`, or NULL. */
const char *text_suggest(char out[96], const char *sigil, const char *name, uint32_t length);

/* ---- tokens: error.c ---- */
static inline bool
text_is_mark(const text_parser *p, char mark)
{
  return p->lexer.token.kind == TOKEN_MARK && p->lexer.token.mark == mark;
}

bool text_is_word(const text_parser *p, const char *word);
bool text_take_mark(text_parser *p, char mark); /* if it is there */
bool text_take_word(text_parser *p, const char *word);
bool text_expect_mark(text_parser *p, char mark);
bool text_expect_integer(text_parser *p, uint64_t most, uint32_t *out);
bool text_push_word(text_parser *p, text_words *words, uint32_t word);
/* Room for one more element; false: no memory. */
bool text_grow(text_parser *p, void *array, uint32_t *capacity, uint32_t count, size_t size);

/* ---- operand.c ---- */
void text_fill_ops(text_parser *p);
vyre_opcode text_op_at(const text_parser *p, const text_token *token); /* VYRE_OP_null: no op */
bool text_parse_operand(text_parser *p, text_operand *out);
/* At an op; op.c.  A statement's own op runs on to its end, one inside takes its number of operands or has parentheses. */
bool text_parse_op(text_parser *p, vyre_opcode op, bool is_statement, text_operand *out);
/* The right side of a statement: an op without parentheses may run on. */
bool text_parse_value(text_parser *p, text_operand *out);
/* The operand's row, a const row for a literal. */
uint32_t text_row_of(text_parser *p, text_operand *operand);
/* Reports unless the operand is a scalar or vector. */
void text_want_value(text_parser *p, text_operand *operand);
/* The row that the current name token names; reports errors.  0: bad. */
uint32_t text_find_row(text_parser *p);
bool text_is_open(const text_parser *p, uint32_t region); /* rows in it can be seen */
/* Gives a name to a row (0: an error, so that uses of it are not reported). */
void text_define(text_parser *p, const text_token *name, uint32_t row);
const char *text_describe(const text_parser *p, const text_operand *operand, char out[160]);
bool text_parse_literal(text_parser *p, vyre_type *out_type, uint64_t *out_bits); /* type 0: reported, go on */
bool text_parse_scalar_type(text_parser *p, vyre_type *out);
/* hints.c: the hints after a control word, kept until the row is made. */
typedef struct text_hints {
  uint32_t bits;
  uint32_t literals[VYRE_HINT_BITS];
} text_hints;
bool text_parse_hints(text_parser *p, vyre_opcode op, text_hints *out);
void text_set_hints(text_parser *p, vyre_row control, const text_hints *hints);
/* After the operands: orders on the same line, decorations. */
bool text_parse_order(text_parser *p, vyre_opcode op, uint32_t *out);
bool text_parse_decorations(text_parser *p, uint32_t row);
vyre_type text_type_of(const text_parser *p, uint32_t row);

/* ---- infer.c ---- */
/* Result type and payload of an op on these operands, its rule being SAME, BOOL or OWN; false after a message. */
bool text_infer(text_parser *p, vyre_opcode op, const text_token *at, const text_operand *operands, uint32_t count,
                vyre_type *out_type, uint32_t *out_imm);
vyre_type text_part_type(const text_parser *p, uint32_t tuple, uint32_t part);

/* ---- type.c ---- */
bool text_parse_type(text_parser *p, vyre_type_id *out);
bool text_parse_struct(text_parser *p);
uint32_t text_take_access(text_parser *p); /* one word's bits, 0: none is there */
uint32_t text_find_member(const text_parser *p, vyre_type_id type, const char *name, uint32_t length); /* UINT32_MAX: none */
const char *text_describe_type(const text_parser *p, vyre_type_id type, char out[96]);
/* A name of the text as a string of the module. */
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
/* Between statements of a program: whether its top still lasts. */
void text_look_at_top(text_parser *p);

/* ---- layout.c: the default layout, for parser and printer ---- */
uint32_t text_default_matrix_stride(vyre_type column, uint32_t columns, bool row_major);
/* The offset of a member after one that ends at `end`. */
uint32_t text_default_offset(const vyre_module *module, vyre_type_id type, uint64_t end);

/* ---- statement.c ---- */
/* Statements until all frames above `base` are closed. */
bool text_parse_statements(text_parser *p, uint32_t base);
bool text_push_frame(text_parser *p, frame_kind kind, uint32_t control, uint32_t region, uint32_t at);

/* ---- function.c ---- */
bool text_parse_function(text_parser *p);
bool text_parse_call(text_parser *p, bool is_statement, text_operand *out);
bool text_parse_return(text_parser *p);

#endif
