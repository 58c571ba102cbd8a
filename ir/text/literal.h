/* Reads and writes scalar types and literals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_LITERAL_H
#define VYRE_IR_TEXT_LITERAL_H

#include "vyre/types.h"

typedef enum text_literal_problem {
  LITERAL_GOOD,
  LITERAL_NO_TYPE,  /* a number alone, as the brackets of a path use it */
  LITERAL_BAD_TYPE, /* the suffix is not a scalar type */
  LITERAL_BAD_NUMBER,
  LITERAL_FRACTION, /* an integer with a fraction or exponent */
  LITERAL_RANGE,
  LITERAL_LONG,
  LITERAL_NAN_BITS, /* the bits do not encode a NaN */
} text_literal_problem;

typedef struct text_literal {
  vyre_type type;
  uint64_t bits;       /* of one lane */
  uint32_t type_start; /* offset of the type in the text */
} text_literal;

#define TEXT_MAX_NUMBER 1000u /* bytes */

/* Reads a type such as "f32", "u32x3" or "bool". Returns 0 if the text is not a type. */
vyre_type text_read_type(const char *text, size_t length);
/* Reads a token that may be a literal: a number, "true", "inff32". Sets `out` even if there is a problem. */
text_literal_problem text_read_literal(const char *text, uint32_t length, text_literal *out);
/* Reads decimal digits, or 0x and hexadecimal digits. Returns false if the text is not a u64. */
bool text_read_integer(const char *text, uint32_t length, uint64_t *out);
/* The functions below write into a buffer of 48 bytes and return the length. */
uint32_t text_write_type(vyre_type type, char *out);
uint32_t text_write_literal(vyre_type type, uint64_t bits, char *out);
uint32_t text_write_u64(uint64_t value, char *out);
/* Returns the range of a kind as text, such as "0 to 255". */
const char *text_range(vyre_kind kind);

#endif
