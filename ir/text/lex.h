/* Tokens of `.vir` text, made one at a time from the text itself: no copy, no list.
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
  TOKEN_BAD,    /* `problem` says what */
} text_token_kind;

typedef struct text_token {
  text_token_kind kind;
  char mark;
  bool first_on_line;
  uint32_t start, length;     /* the whole token in the text */
  uint32_t name, name_length; /* names and strings: without sigil and quotes */
  bool escaped;               /* the name holds backslashes */
  uint32_t number;            /* NUMBERED */
  const char *problem;
} text_token;

typedef struct text_lexer {
  const char *text;
  uint32_t length;
  uint32_t cursor; /* after `token` */
  uint32_t behind; /* end of the token before it */
  text_token token;
} text_lexer;

/* Makes the next token the current one. */
void text_lex(text_lexer *lexer);
bool text_is_word_byte(char byte); /* letters, digits, _ and $ */
bool text_is_identifier(const char *text, size_t length);
/* As an identifier, but dots may follow the first letter. */
bool text_is_dotted(const char *text, size_t length);
/* Takes the escapes out of a name; `out` has room for `length` bytes.  Returns the new length. */
uint32_t text_unescape(const char *text, uint32_t length, char *out);
/* A byte as it is written in a quoted name, not terminated; how many bytes. */
uint32_t text_escape(char byte, char out[8]);

#endif
