/* The reader of kernel files: read.c reads the file, its declarations, functions and phases; tokens.c tokens; sequence.c the
 * sequence.
 *
 * Functions that return a bool return false after they have reported an error to the file's diagnostics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_READ_H
#define VYRE_CODEGEN_KERNEL_READ_H

#include "kernel.h"

typedef struct kernel_reader {
  kernel_file *file;
  text_lexer lexer;
  uint32_t source;    /* the current source of the file */
  bool in_while;      /* the current step is inside of `repeat while` */
  uint32_t times;     /* the product of the repeats around the step */
  vyre_status status; /* the error of an include that could not be read */
} kernel_reader;

/* ---- tokens.c ---- */
kernel_text kernel_here(const kernel_reader *r);               /* returns the range of the next token */
bool kernel_expected(kernel_reader *r, const char *what);      /* reports that `what` was expected; returns false */
bool kernel_is_word(const kernel_reader *r, const char *word); /* returns whether the word is next */
bool kernel_accept_word(kernel_reader *r, const char *word);   /* skips the word if it is next; returns whether it was */
bool kernel_is_mark(const kernel_reader *r, char mark);
bool kernel_accept_mark(kernel_reader *r, char mark);
bool kernel_parse_integer(kernel_reader *r, uint32_t least, uint32_t most, uint32_t *out); /* reports any other token */

/* ---- sequence.c ---- */
/* Reads the sequence, from the word `sequence` on. */
bool kernel_read_sequence(kernel_reader *r);

#endif
