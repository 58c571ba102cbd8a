/* The state of the printer, shared by its files: print.c (rows, the module), program.c (declarations, control), type.c (types and
 * structs).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_PRINT_PRINTER_H
#define VYRE_IR_TEXT_PRINT_PRINTER_H

#include "ir/text/memory.h"
#include "ir/text/symbols.h"
#include "vyre/text.h"

#include <string.h>

/* Properties of a row, computed before printing. */
enum {
  SEEN = 1,       /* already printed: a second visit means damaged links */
  TUPLE_REST = 2, /* a tuple used as the rest of another, or as labels */
  TUPLE_OWN = 4,  /* a tuple with other uses */
  TARGET = 8,     /* a block or switch that a `leave` names */
  LENGTH = 16,    /* the length of an array: printed by name there, because a typed literal is not allowed */
};

typedef struct text_printer {
  const vyre_module *module;
  const vyre_view *view;
  const vyre_text_options *options;
  const vyre_allocator *allocator;
  vyre_bytes *out;
  vyre_status status;
  uint32_t *numbers; /* number + 1 of each row without a name, or 0 before its definition is printed */
  uint8_t *bits;     /* by row */
  uint32_t next_number;
  uint32_t indent;
  uint32_t workgroup; /* a workgroup row whose operands are not yet printed, or 0 */

  uint32_t type_count;
  uint32_t *type_names; /* by type id - VYRE_FIRST_TYPE: the offset in `names` of the name of a used struct */
  uint8_t *type_bits;
  vyre_bytes names;
  text_scalars scalars;
} text_printer;

void text_print_no_memory(text_printer *t);
char *text_put_room(text_printer *t, size_t size); /* reserves `size` bytes at the end; NULL if memory runs out */

static inline void
text_put(text_printer *t, const char *text, size_t size)
{
  char *room = text_put_room(t, size);
  if (room) {
    memcpy(room, text, size);
    t->out->size += size;
  }
}

static inline void
text_put_text(text_printer *t, const char *text)
{
  text_put(t, text, strlen(text));
}

void text_put_number(text_printer *t, uint64_t number);
void text_put_value_type(text_printer *t, vyre_type type);
void text_put_literal(text_printer *t, vyre_type type, uint64_t bits);
void text_put_indent(text_printer *t);
void text_put_quoted(text_printer *t, const char *text);
/* Prints an operand: the row's name or number, or the expression of a row that is printed inline. */
void text_put_operand(text_printer *t, uint32_t row);

/* Reads of rows that are safe for damaged modules. */
uint32_t text_op_of(const text_printer *t, uint32_t row);
vyre_type text_row_type(const text_printer *t, uint32_t row);
const vyre_op_info *text_info_of(uint32_t op); /* the null op for unknown ops */
uint64_t text_literal_of(const text_printer *t, uint32_t row);
bool text_is_inline(const text_printer *t, uint32_t row); /* printed inside its users */
void text_put_name(text_printer *t, uint32_t row);
void text_put_definition(text_printer *t, uint32_t row); /* numbers a row without a name */
void text_put_operands(text_printer *t, uint32_t row, const vyre_op_info *info);
void text_put_parts(text_printer *t, uint32_t tuple, bool all); /* flattens the rests of the tuple */
void text_put_hints(text_printer *t, uint32_t row);
void text_put_decorations(text_printer *t, uint32_t row);
void text_put_notes(text_printer *t, uint32_t row);
void text_end_line(text_printer *t, uint32_t row); /* comments, line end, messages */
void text_put_row(text_printer *t, uint32_t row);

/* ---- opaque.c ---- */
void text_put_words(text_printer *t, vyre_type_id type, uint32_t row); /* row 0 prints a type */
void text_put_opaque(text_printer *t, uint32_t row);

/* ---- analyses.c ---- */
void text_put_analyses(text_printer *t, uint32_t row); /* after "; row N" */

/* ---- program.c ---- */
void text_put_program(text_printer *t, uint32_t program);

/* ---- type.c ---- */
bool text_prepare_types(text_printer *t);
void text_free_types(text_printer *t);
void text_put_structs(text_printer *t);                       /* structs outside of programs */
void text_put_structs_of(text_printer *t, vyre_type_id type); /* structs of the program that are not yet printed */
void text_put_type(text_printer *t, vyre_type_id type);
void text_put_member(text_printer *t, vyre_type_id type, uint32_t member); /* .name or [2] */
void text_put_access(text_printer *t, uint32_t access);

#endif
