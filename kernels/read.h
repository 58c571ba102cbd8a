/* Reading a kernel file, from inside: read.c the file, what it declares, functions and phases; tokens.c; sequence.c.
 *
 * Functions that return a bool return false after an error that was told to the file's diagnostics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_READ_H
#define VYRE_CODEGEN_KERNEL_READ_H

#include "kernel.h"

typedef struct kernel_reader {
  kernel_file *file;
  text_lexer lexer;
  uint32_t source;    /* of the file, which is read here */
  bool in_while;      /* steps that stand in a `repeat while` */
  uint32_t times;     /* that the repeats around the step come to */
  vyre_status status; /* why a file that it includes could not be read */
} kernel_reader;

/* ---- tokens.c ---- */
kernel_text kernel_here(const kernel_reader *r);               /* the token that is next */
bool kernel_expected(kernel_reader *r, const char *what);      /* the error that something else is next; false */
bool kernel_is_word(const kernel_reader *r, const char *word); /* whether it is next */
bool kernel_take_word(kernel_reader *r, const char *word);     /* and if so, takes it */
bool kernel_is_mark(const kernel_reader *r, char mark);
bool kernel_take_mark(kernel_reader *r, char mark);
bool kernel_take_integer(kernel_reader *r, uint32_t least, uint32_t most, uint32_t *out); /* else an error */

/* ---- sequence.c ---- */
/* From the word `sequence` on. */
bool kernel_read_sequence(kernel_reader *r);

#endif
