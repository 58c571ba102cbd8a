/* Shared declarations of VIR0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VIR0_H
#define VYRE_IR_VIR0_H

#include <assert.h>

#include "table/table.h"
#include "vyre/vir0.h"

static_assert(sizeof(vyre_vir0_header) == 64 && sizeof(vyre_vir0_section) == 64, "frozen with version 1");
static_assert(VYRE_VIR0_LAST - VYRE_VIR0_OP == COLUMN_LAST - COLUMN_OP, "columns in the table's order");
static_assert(VYRE_VIR0_PLACE - VYRE_VIR0_NAME == COLUMN_PLACE - COLUMN_NAME, "side columns in the table's order");
static_assert(VYRE_VIR0_KIND__COUNT == 30, "new kinds need a name, and a reader");

/* Words of an entry. */
enum {
  VIR0_TYPE_WORDS = 9,
  VIR0_MEMBER_WORDS = 4,
  VIR0_INPUT_WORDS = 7,
  VIR0_PROGRAM_WORDS = 3,
  VIR0_BUFFER_WORDS = 4,
  VIR0_EXTRA_WORDS = 4,
  VIR0_SCOPE_WORDS = 9,
};

/* Limits of nesting. They exceed those of text and SPIR-V, so that modules from both can be written. They are small enough for
 * recursive functions and for the indentation of text. */
#define VIR0_MAX_TYPE_DEPTH 255u
#define VIR0_MAX_ROW_DEPTH  (2 * VYRE_MOST_NESTING + 1) /* control rows, their regions and the program */

typedef struct vir0_kind_info {
  const char *name;    /* NULL if the number is not a kind */
  uint32_t entry_size; /* in bytes; section sizes are multiples of it */
} vir0_kind_info;

extern const vir0_kind_info vir0_kinds[VYRE_VIR0_KIND__COUNT];

/* A section of the file being read. */
typedef struct vir0_part {
  const char *data; /* any alignment */
  uint64_t offset;  /* in the file */
  uint32_t count;   /* in entries */
} vir0_part;

typedef struct vir0_reader {
  vyre_module *module;
  const char *data, *path;
  size_t size;
  vyre_vir0_header header;
  vir0_part parts[VYRE_VIR0_KIND__COUNT];
} vir0_reader;

/* Returns the error for entry `at` of a section. */
vyre_status vir0_damaged(const vir0_reader *r, uint32_t kind, uint32_t at, const char *format, ...) VYRE_PRINTF(4, 5);
/* find.c: checks the header, the section table and the hashes, and fills `parts`. */
vyre_status vir0_open(vir0_reader *r, const char *const *known, uint32_t known_count);
/* tables.c: reads the side tables, the strings first, the others after the columns. */
vyre_status vir0_read_strings(vir0_reader *r);
vyre_status vir0_read_tables(vir0_reader *r);

/* depth.c: return the first type (from 256 on), or the first row, that nests too deep, or 0. Types refer only to types before them;
 * rows are in program order. `depths` is scratch memory, a word for each type. */
uint32_t vir0_deep_type(const vyre_module *module, uint32_t *depths);
uint32_t vir0_deep_row(const vyre_module *module);

/* Returns a word of an entry. */
static inline uint32_t
vir0_word(const vir0_part *part, size_t index)
{
  uint32_t word;
  __builtin_memcpy(&word, part->data + index * sizeof(word), sizeof(word));
  return word;
}

/* Returns whether `string` is 0 or the offset of a text of the module. */
static inline bool
vir0_is_string(const vyre_module *module, uint32_t string)
{
  return string == 0 || (string < module->texts_size && module->texts[string - 1] == '\0');
}

#endif
