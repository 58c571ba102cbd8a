/* The parser's internals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_PARSE_H
#define VYRE_CUDA_SIM_PTX_PARSE_H

#include "targets/cuda/sim/ptx/module.h"

typedef enum ptx_token_kind {
  PTX_TOKEN_END,
  PTX_TOKEN_NAME,
  PTX_TOKEN_WORD, /* .name, without the dot */
  PTX_TOKEN_INTEGER,
  PTX_TOKEN_FLOAT,
  PTX_TOKEN_STRING,
  PTX_TOKEN_SIGN, /* one character, or << or >> */
} ptx_token_kind;

typedef struct ptx_token {
  ptx_token_kind kind;
  const char *text;
  uint32_t length, line;
  uint64_t value;     /* the integer, or the bits of the float */
  uint8_t float_bits; /* 32 for 0f..., 64 for all other floats */
} ptx_token;

typedef enum ptx_symbol_kind {
  PTX_SYMBOL_REGISTER,
  PTX_SYMBOL_REGISTERS, /* a range of registers, by the common prefix of their names */
  PTX_SYMBOL_VARIABLE,
  PTX_SYMBOL_FUNCTION,
  PTX_SYMBOL_LABEL,
  PTX_SYMBOL_TABLE, /* .branchtargets */
} ptx_symbol_kind;

typedef struct ptx_symbol ptx_symbol;
typedef struct ptx_scope ptx_scope;

struct ptx_symbol {
  ptx_symbol_kind kind;
  uint32_t slot, count; /* range of registers or table entries, or a label's instruction */
  ptx_word type;
  ptx_variable *variable;
  ptx_function *function;
};

/* A use of a label that is not resolved yet. */
typedef struct ptx_reference {
  const char *name;
  uint32_t length, line;
  uint32_t insn; /* the branch, or the index of the entry in the module's tables */
  bool in_table;
  ptx_scope *scope;
} ptx_reference;

typedef enum ptx_operand_kind {
  PTX_OPERAND_REGISTER,
  PTX_OPERAND_INTEGER,
  PTX_OPERAND_FLOAT,
  PTX_OPERAND_VECTOR,
  PTX_OPERAND_ADDRESS,
  PTX_OPERAND_VARIABLE, /* the address of a variable, plus an offset */
  PTX_OPERAND_NAME,     /* a label, a function, or an undeclared name */
  PTX_OPERAND_SPECIAL,
  PTX_OPERAND_SINK,
} ptx_operand_kind;

typedef struct ptx_operand {
  ptx_operand_kind kind;
  bool is_negated;
  bool has_second;
  uint8_t float_bits;
  ptx_word type;          /* of a register */
  uint32_t slot;          /* the register, or the base of the address, which may be a constant */
  uint32_t second;        /* the predicate after | */
  uint64_t value;         /* the number, or the ptx_special */
  int64_t offset;         /* of an address or variable */
  ptx_variable *variable; /* the variable in the address, or NULL */
  ptx_word base_type;     /* type of the address's base register, or PTX_NO_WORD */
  uint32_t first, count;  /* range of a vector's elements in ptx_parser.operands */
  ptx_token token;
} ptx_operand;

enum { PTX_OPERANDS = 48, PTX_INSN_WORDS = 16 };

typedef struct ptx_parser {
  const char *at, *end;
  uint32_t line;
  ptx_token token; /* the next one */
  ptx_module *module;
  uint32_t sm, version; /* the device's architecture and the newest PTX version of the driver */
  bool has_target;
  char *log;
  size_t log_size;
  bool has_failed;
  /* The current function. */
  ptx_function *function;
  ptx_scope *scopes; /* owned: all scopes so far, newest first */
  ptx_scope *scope;  /* the innermost open scope */
  uint32_t register_room, constant_room, shared_room, call_room;
  ptx_reference *references;
  uint32_t reference_count, reference_room;
  /* The current instruction. */
  ptx_word words[PTX_INSN_WORDS];
  uint32_t word_count;
  ptx_operand operands[PTX_OPERANDS];
  uint32_t operand_count; /* operands of the instruction, from 0 on */
  uint32_t operand_end;   /* elements of vectors, from here to the array's end */
  bool at_label;          /* whether the next instruction is a leader */
} ptx_parser;

/* Stores the first error in the log. Returns false. */
bool ptx_error(ptx_parser *parser, uint32_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool ptx_no_memory(ptx_parser *parser);

/* ---- tokens -------------------------------------------------------------------------------------------------------------- */

/* Advances to the next token. */
bool ptx_next(ptx_parser *parser);
bool ptx_is_sign(const ptx_parser *parser, char sign);
bool ptx_is_word(const ptx_parser *parser, const char *word);
bool ptx_token_is(const ptx_token *token, const char *text);
/* Skips the current token if it is that sign. Returns false if it is another token, or if reading the next token fails. */
bool ptx_accept_sign(ptx_parser *parser, char sign);
bool ptx_expect_sign(ptx_parser *parser, char sign);
bool ptx_expect_name(ptx_parser *parser, ptx_token *out);
/* Parses a constant expression of integers. */
bool ptx_parse_integer(ptx_parser *parser, uint64_t *out);
char *ptx_copy_text(ptx_parser *parser, const ptx_token *token);
/* Return the type or the word of that name, or PTX_NO_WORD. */
ptx_word ptx_find_type(const ptx_token *token);
ptx_word ptx_find_word(const ptx_token *token);

/* ---- names --------------------------------------------------------------------------------------------------------------- */

bool ptx_scope_open(ptx_parser *parser);
void ptx_scope_close(ptx_parser *parser);
void ptx_scopes_free(ptx_parser *parser);
/* Declares a name in the innermost scope. Returns NULL after an error: the name is already declared, or memory ran out. */
ptx_symbol *ptx_declare(ptx_parser *parser, const ptx_token *name, ptx_symbol_kind kind);
/* Finds a name in a scope and those around it. Resolves a name of a register range to its register. Returns false if there is
 * none. */
bool ptx_find(const ptx_parser *parser, const ptx_scope *scope, const char *name, uint32_t length, ptx_symbol *out);
ptx_symbol *ptx_find_module(const ptx_parser *parser, const ptx_token *name);

/* ---- declarations -------------------------------------------------------------------------------------------------------- */

bool ptx_parse_registers(ptx_parser *parser);
/* Parses a declaration of variables from the word of the state space to the semicolon. */
bool ptx_parse_variables(ptx_parser *parser, bool is_extern, bool is_visible);
/* Parses the `.param` and `.reg` declarations in parentheses of a function's head. */
bool ptx_parse_parameters(ptx_parser *parser, bool are_results);
bool ptx_add_register(ptx_parser *parser, ptx_word type, uint32_t *out);

/* ---- instructions -------------------------------------------------------------------------------------------------------- */

bool ptx_parse_operands(ptx_parser *parser);
bool ptx_parse_instruction(ptx_parser *parser);
/* Finds the form of the parsed instruction in the table, and decodes the operands. */
bool ptx_match(ptx_parser *parser, const ptx_token *name, ptx_insn *insn);
/* Adds a return after the last instruction, to which a label may refer. */
bool ptx_add_end(ptx_parser *parser);
bool ptx_parse_call(ptx_parser *parser, ptx_insn *insn);
bool ptx_add_constant(ptx_parser *parser, ptx_constant_kind kind, uint32_t index, uint64_t value, uint32_t *out);
/* Stores the slot of a constant: the variable's address plus an offset. */
bool ptx_add_address(ptx_parser *parser, ptx_variable *variable, uint64_t offset, uint32_t *out);
/* Returns whether a register may be an operand of an instruction with the type. */
bool ptx_agrees(ptx_word register_type, ptx_word type);

/* ---- linking ------------------------------------------------------------------------------------------------------------- */

/* Lays out the registers, lane memory and shared variables of the functions that each kernel reaches. */
bool ptx_link(ptx_parser *parser);

#endif
