/* What the parser's files share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_PARSE_H
#define VYRE_CUDA_SIM_PTX_PARSE_H

#include "targets/cuda/sim/ptx/module.h"

typedef enum ptx_token_kind {
  PTX_TOKEN_END,
  PTX_TOKEN_NAME,
  PTX_TOKEN_WORD, /* .name, without the point */
  PTX_TOKEN_INTEGER,
  PTX_TOKEN_FLOAT,
  PTX_TOKEN_STRING,
  PTX_TOKEN_SIGN, /* one character; << and >> as they are */
} ptx_token_kind;

typedef struct ptx_token {
  ptx_token_kind kind;
  const char *text;
  uint32_t length, line;
  uint64_t value;     /* of a number: the integer, or the bits of a float */
  uint8_t float_bits; /* 32: 0f...; 64: any other */
} ptx_token;

typedef enum ptx_symbol_kind {
  PTX_SYMBOL_REGISTER,
  PTX_SYMBOL_REGISTERS, /* a range: its name is what stands before the numbers */
  PTX_SYMBOL_VARIABLE,
  PTX_SYMBOL_FUNCTION,
  PTX_SYMBOL_LABEL,
  PTX_SYMBOL_TABLE, /* .branchtargets */
} ptx_symbol_kind;

typedef struct ptx_symbol ptx_symbol;
typedef struct ptx_scope ptx_scope;

struct ptx_symbol {
  ptx_symbol_kind kind;
  uint32_t slot, count; /* registers; a label's instruction; a table's entries */
  ptx_word type;
  ptx_variable *variable;
  ptx_function *function;
};

/* A branch that waits for its label. */
typedef struct ptx_reference {
  const char *name;
  uint32_t length, line;
  uint32_t insn; /* whose target it is; or an element of the module's tables */
  bool in_table;
  ptx_scope *scope;
} ptx_reference;

typedef enum ptx_operand_kind {
  PTX_OPERAND_REGISTER,
  PTX_OPERAND_INTEGER,
  PTX_OPERAND_FLOAT,
  PTX_OPERAND_VECTOR,
  PTX_OPERAND_ADDRESS,
  PTX_OPERAND_VARIABLE, /* its address, with an offset */
  PTX_OPERAND_NAME,     /* a label, a function, or nothing */
  PTX_OPERAND_SPECIAL,
  PTX_OPERAND_SINK,
} ptx_operand_kind;

typedef struct ptx_operand {
  ptx_operand_kind kind;
  bool is_negated;
  bool has_second;
  uint8_t float_bits;
  ptx_word type;          /* of a register */
  uint32_t slot;          /* a register; an address's base, which may be a constant */
  uint32_t second;        /* the predicate after | */
  uint64_t value;         /* a number; which special register */
  int64_t offset;         /* of an address or variable */
  ptx_variable *variable; /* whose address it is, or NULL */
  ptx_word base_type;     /* of an address: of its register, or none */
  uint32_t first, count;  /* a vector's elements, further on among the operands */
  ptx_token token;
} ptx_operand;

enum { PTX_OPERANDS = 48, PTX_INSN_WORDS = 16 };

typedef struct ptx_parser {
  const char *at, *end;
  uint32_t line;
  ptx_token token; /* the next one */
  ptx_module *module;
  uint32_t sm, version; /* of the device and the driver */
  bool has_target, has_address_size;
  char *log;
  size_t log_size;
  bool has_failed;
  /* The function that is being read. */
  ptx_function *function;
  ptx_scope *scopes; /* all that there were, the innermost of now first: `scope` */
  ptx_scope *scope;
  uint32_t register_room, constant_room, shared_room, call_room;
  ptx_reference *references;
  uint32_t reference_count, reference_room;
  /* The instruction that is being read. */
  ptx_word words[PTX_INSN_WORDS];
  uint32_t word_count;
  ptx_operand operands[PTX_OPERANDS];
  uint32_t operand_count; /* those of the instruction; elements of vectors stand after them */
  uint32_t operand_end;
  bool at_label; /* the next instruction is where lanes may come from elsewhere */
} ptx_parser;

/* False always: the first error of all is noted. */
bool ptx_error(ptx_parser *parser, uint32_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool ptx_no_memory(ptx_parser *parser);

/* ---- tokens -------------------------------------------------------------------------------------------------------------- */

/* Makes the next token the one after it. */
bool ptx_next(ptx_parser *parser);
bool ptx_is_sign(const ptx_parser *parser, char sign);
bool ptx_is_word(const ptx_parser *parser, const char *word);
bool ptx_token_is(const ptx_token *token, const char *text);
bool ptx_take_sign(ptx_parser *parser, char sign); /* if it is there */
bool ptx_expect_sign(ptx_parser *parser, char sign);
bool ptx_expect_name(ptx_parser *parser, ptx_token *out);
/* A constant expression of integers. */
bool ptx_parse_integer(ptx_parser *parser, uint64_t *out);
char *ptx_copy_text(ptx_parser *parser, const ptx_token *token);
/* The type of that name, or none. */
ptx_word ptx_find_type(const ptx_token *token);
ptx_word ptx_find_word(const ptx_token *token);

/* ---- names --------------------------------------------------------------------------------------------------------------- */

bool ptx_scope_open(ptx_parser *parser);
void ptx_scope_close(ptx_parser *parser);
void ptx_scopes_free(ptx_parser *parser);
/* NULL: the name is taken, or no memory is left, which has been said. */
ptx_symbol *ptx_declare(ptx_parser *parser, const ptx_token *name, ptx_symbol_kind kind);
/* Of this scope and those around it; a name of a range of registers gives its register.  False: there is none. */
bool ptx_find(const ptx_parser *parser, const ptx_scope *scope, const char *name, uint32_t length, ptx_symbol *out);
ptx_symbol *ptx_find_module(const ptx_parser *parser, const ptx_token *name);

/* ---- declarations -------------------------------------------------------------------------------------------------------- */

bool ptx_parse_registers(ptx_parser *parser);
/* From the state space's word to the semicolon. */
bool ptx_parse_variables(ptx_parser *parser, bool is_extern, bool is_visible);
/* `.param` or `.reg` within the parentheses of a function's head. */
bool ptx_parse_parameters(ptx_parser *parser, bool are_results);
bool ptx_add_register(ptx_parser *parser, ptx_word type, uint32_t *out);

/* ---- instructions -------------------------------------------------------------------------------------------------------- */

bool ptx_parse_operands(ptx_parser *parser);
bool ptx_parse_instruction(ptx_parser *parser);
/* Finds the row of the table for the instruction that was read, and what it says of the operands. */
bool ptx_match(ptx_parser *parser, const ptx_token *name, ptx_insn *insn);
/* A return after the last one, whose label may be there. */
bool ptx_add_end(ptx_parser *parser);
bool ptx_parse_call(ptx_parser *parser, ptx_insn *insn);
bool ptx_add_constant(ptx_parser *parser, ptx_constant_kind kind, uint32_t index, uint64_t value, uint32_t *out);
/* The slot of a variable's address, plus an offset. */
bool ptx_add_address(ptx_parser *parser, ptx_variable *variable, uint64_t offset, uint32_t *out);
/* Whether a register of that type may be an operand of an instruction of that type. */
bool ptx_agrees(ptx_word register_type, ptx_word type);

/* ---- the end ------------------------------------------------------------------------------------------------------------- */

/* Lays out what kernels reach: registers, lanes' memory, shared variables. */
bool ptx_link(ptx_parser *parser);

#endif
