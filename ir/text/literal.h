/* Scalar types and literals, to and from text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_LITERAL_H
#define VYRE_IR_TEXT_LITERAL_H

#include "vyre/types.h"

typedef enum text_literal_problem {
  LITERAL_GOOD,
  LITERAL_NO_TYPE,  /* a number alone: in the brackets of a path it is right */
  LITERAL_BAD_TYPE, /* no scalar type after the number */
  LITERAL_BAD_NUMBER,
  LITERAL_FRACTION, /* of an integer type, with a fraction or exponent */
  LITERAL_RANGE,
  LITERAL_LONG,
  LITERAL_NAN_BITS, /* the bits are those of no NaN */
} text_literal_problem;

typedef struct text_literal {
  vyre_type type;
  uint64_t bits;       /* of one lane */
  uint32_t type_start; /* where the type begins in the text */
} text_literal;

#define TEXT_MAX_NUMBER 1000u /* bytes */

/* "f32", "u32x3", "bool"; 0: none. */
vyre_type text_read_type(const char *text, size_t length);
/* A token that may be a literal: a number, "true", "inff32".  Whatever its problem, `out` is set. */
text_literal_problem text_read_literal(const char *text, uint32_t length, text_literal *out);
/* Digits or 0x digits; false: not a u64. */
bool text_read_integer(const char *text, uint32_t length, uint64_t *out);
/* Into a buffer of 48 bytes; the length. */
uint32_t text_write_type(vyre_type type, char *out);
uint32_t text_write_literal(vyre_type type, uint64_t bits, char *out);
uint32_t text_write_u64(uint64_t value, char *out);
/* "0 to 255", "-128 to 127": what an integer type can hold. */
const char *text_range(vyre_kind kind);

#endif
