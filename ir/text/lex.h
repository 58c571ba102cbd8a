/* The lexer of `.vir` text. It produces one token at a time and neither copies the text nor allocates.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_LEX_H
#define VYRE_IR_TEXT_LEX_H

#include "vyre/types.h"

typedef enum text_token_kind {
  TOKEN_END,
  TOKEN_NAME,     /* %x, %"a b" */
  TOKEN_NUMBERED, /* %12 */
  TOKEN_GLOBAL,   /* @x, @"a b" */
  TOKEN_WORD,
  TOKEN_STRING,
  TOKEN_NUMBER, /* 12, 2.0f32, -1i32, nan(0x7fc00000)f32 */
  TOKEN_ARROW,  /* -> */
  TOKEN_MARK,   /* one of { } ( ) [ ] , : = . */
  TOKEN_BAD,    /* `problem` describes the error */
} text_token_kind;

typedef struct text_token {
  text_token_kind kind;
  char mark;
  bool first_on_line;
  uint32_t start, length;     /* range of the whole token, bytes in the text */
  uint32_t name, name_length; /* range without sigil and quotes, for names and strings */
  bool escaped;               /* the name contains escapes */
  uint32_t number;            /* for TOKEN_NUMBERED */
  const char *problem;
} text_token;

typedef struct text_lexer {
  const char *text;
  uint32_t length;
  uint32_t cursor; /* position after `token` */
  uint32_t behind; /* end of the previous token */
  text_token token;
} text_lexer;

/* Advances to the next token. */
void text_lex(text_lexer *lexer);
bool text_is_word_byte(char byte); /* letters, digits, _ and $ */
bool text_is_identifier(const char *text, size_t length);
/* Like text_is_identifier, but dots may follow the first letter. */
bool text_is_dotted(const char *text, size_t length);
/* Writes a name without its escapes into `out`, which has room for `length` bytes. Returns the new length. */
uint32_t text_unescape(const char *text, uint32_t length, char *out);
/* Writes a byte in the form that a quoted name uses, without a terminating zero. Returns the number of bytes. */
uint32_t text_escape(char byte, char out[8]);

#endif
