/* The keywords of ops and the syntax of their operands, shared by parser and printer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_OP_H
#define VYRE_IR_TEXT_OP_H

#include "vyre/types.h"

typedef struct text_bit_word {
  const char *word; /* NULL ends the list */
  uint32_t bits;
} text_bit_word;

extern const text_bit_word text_flag_words[];
extern const text_bit_word text_mode_words[]; /* of programs */
extern const char *const text_scope_words[];  /* indexed by the SPIR-V scope */
extern const text_bit_word text_semantics_words[];

/* Returns the order that an op has if its text states none. */
uint32_t text_default_order(vyre_opcode op);
/* Returns the memory semantics of a barrier whose text states only a scope. */
uint32_t text_barrier_semantics(uint32_t scope);
/* Returns whether the op's imm is an order. */
bool text_has_order(vyre_opcode op);

/* Returns whether the op's imm is a number after the operands: the index of a part, or the optional count of async_wait (default
 * 0). */
bool text_accepts_number(vyre_opcode op);

typedef enum text_need { NEED_VALUE, NEED_PATH, NEED_VAR, NEED_TUPLE } text_need;

text_need text_need_of(vyre_opcode op, uint32_t operand);

#endif
