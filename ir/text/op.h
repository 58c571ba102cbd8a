/* The words of ops that parser and printer share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_OP_H
#define VYRE_IR_TEXT_OP_H

#include "vyre/types.h"

typedef struct text_bit_word {
  const char *word; /* NULL: the end */
  uint32_t bits;
} text_bit_word;

extern const text_bit_word text_flag_words[];
extern const text_bit_word text_mode_words[]; /* of programs */
extern const char *const text_scope_words[];  /* by SPIR-V's number */
extern const text_bit_word text_semantics_words[];

/* The default order. */
uint32_t text_default_order(vyre_opcode op);
/* The semantics of a barrier that gives its scope alone. */
uint32_t text_barrier_semantics(uint32_t scope);
/* Whether imm is an order. */
bool text_has_order(vyre_opcode op);

/* Whether imm is a number after the operands: of a part, or (optional, then 0) of copies. */
bool text_takes_number(vyre_opcode op);

typedef enum text_need { NEED_VALUE, NEED_PATH, NEED_VAR, NEED_TUPLE } text_need;

text_need text_need_of(vyre_opcode op, uint32_t operand);

#endif
