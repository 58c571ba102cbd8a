/* VIR0: the binary form of a whole module, with what text does not carry (lines, execution modes, capabilities, ids).
 *
 * A file is a versioned, checksummed header, then the columns and side tables:
 *
 *   | header 64 | section table, 64 bytes each | section | section | ...        each section starts at a multiple of its alignment
 *
 * Words are in the byte order of the writer, which the header says; a machine of the other order refuses the file.  Bytes
 * between sections are zero, and every other byte is under a hash (XXH3, 64 bits).  The bytes depend on the module's contents
 * alone: not on its history, addresses or time; dropped rows leave no names; versions (an analysis) are not written.
 *
 * Reading copies each column once, into its reserved space, checks every offset, count, string and id, and verifies the rows.  The
 * file is not mapped in place of a column, though alignments in the section table would allow a writer to lay it out so: a private
 * mapping shows what others write to the file after it was verified, and is gone where they truncate it; and the space is the
 * allocator's.  The copy is a small part of a read (docs/ir.md has the figures).
 *
 * Threads: any, on different modules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_VIR0_H
#define VYRE_VIR0_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_VIR0_VERSION    1u
#define VYRE_VIR0_BYTE_ORDER 0x01020304u
#define VYRE_VIR0_NAME_BYTES 24u /* of a section's name, its zero byte counted */

/* The numbers are frozen with version 1, and kinds are appended.  Unless said otherwise a section that is empty is left out. */
typedef enum vyre_vir0_kind {
  VYRE_VIR0_OP = 1, /* columns, a word a row, row 0 counted; all eleven are always there */
  VYRE_VIR0_IMM,
  VYRE_VIR0_IMM_HI, /* 0 in rows that have a version there */
  VYRE_VIR0_A,
  VYRE_VIR0_B,
  VYRE_VIR0_C,
  VYRE_VIR0_PARENT,
  VYRE_VIR0_PREV,
  VYRE_VIR0_NEXT,
  VYRE_VIR0_FIRST,
  VYRE_VIR0_LAST,
  VYRE_VIR0_NAME,          /* a word a row: a string */
  VYRE_VIR0_LINE,          /* a word a row: 0, or a line */
  VYRE_VIR0_PLACE,         /* a word a row: index of a scope from 1 << 10 | column, 1023 being that or more; 0 where the line is */
  VYRE_VIR0_STRINGS = 16,  /* "", then each text with its zero byte, once; a string is the offset of its text */
  VYRE_VIR0_FILES,         /* (string): of the scopes that lines are in, the first is scope 1 */
  VYRE_VIR0_TYPES,         /* (form, flags, element, count, count_row, stride, align, size, name): type 256 and on */
  VYRE_VIR0_MEMBERS,       /* (name, type, offset, access): of all structs, one after another */
  VYRE_VIR0_INPUTS,        /* (path, SPIR-V version, addressing, memory, counts of words: capabilities, extensions, kept) */
  VYRE_VIR0_INPUT_WORDS,   /* those words, of all inputs */
  VYRE_VIR0_PROGRAMS,      /* (input or ~0, entry, count of words): of program rows, in their order */
  VYRE_VIR0_PROGRAM_WORDS, /* execution modes, of all programs */
  VYRE_VIR0_BUFFERS,       /* (set, binding, SPIR-V id, initializer or ~0): of buffer rows, in their order */
  VYRE_VIR0_EXTRAS,        /* (row, spec id or ~0, count of decoration words, has an entry in programs or buffers): by row */
  VYRE_VIR0_DECORATION_WORDS, /* of all extras */
  VYRE_VIR0_INITIALIZERS,     /* (count of words) */
  VYRE_VIR0_INITIALIZER_WORDS,
  VYRE_VIR0_SCOPES, /* (entity, caller, line, call, variable, index, values, order, depth): of each entry of FILES, where some scope
                       is more than a file */
  VYRE_VIR0_KIND__COUNT,
  VYRE_VIR0_NAMED = 0x10000, /* another writer's: known by its name, "pass.what" */
} vyre_vir0_kind;

#define VYRE_VIR0_OPTIONAL 1u /* in a section's flags: a reader skips it if it is unknown; without the flag it refuses the file */

typedef struct vyre_vir0_header {
  char magic[4];       /* "VIR0" */
  uint32_t byte_order; /* VYRE_VIR0_BYTE_ORDER */
  uint32_t version;    /* VYRE_VIR0_VERSION */
  uint32_t opset;      /* VYRE_OPSET_VERSION of the writer; ops are only appended, so a reader takes older ones */
  uint64_t size;       /* of the whole file */
  uint32_t sections;
  uint32_t rows; /* row 0 counted */
  uint32_t header_bytes, section_bytes;
  uint32_t reserved[4]; /* 0 */
  uint64_t hash;        /* of the header, this field being 0, and the section table */
} vyre_vir0_header;

typedef struct vyre_vir0_section {
  uint32_t kind;  /* vyre_vir0_kind */
  uint32_t flags; /* VYRE_VIR0_OPTIONAL */
  uint64_t offset, size;
  uint32_t alignment; /* a power of two, 4 to 65536 */
  uint32_t reserved;  /* 0 */
  uint64_t hash;      /* of its bytes */
  char name[VYRE_VIR0_NAME_BYTES];
} vyre_vir0_section;

/* A section that is not the table's.  Everything is borrowed. */
typedef struct vyre_vir0_named {
  const char *name; /* 1 to 23 printing ASCII characters; no two alike */
  const void *data;
  size_t size;
  bool optional;
} vyre_vir0_named;

/* Appends the module, which is sealed.  `named`: sections besides, or NULL. */
VYRE_MUST_USE vyre_status vyre_vir0_write(const vyre_module *module, const vyre_vir0_named *named, uint32_t count, vyre_bytes *out);

/* By its first four bytes. */
bool vyre_vir0_is(const void *data, size_t size);

/* Reads into a module without rows (new or cleared), which is then sealed and verified, or without rows again after an error, which
 * says what is wrong, the section and byte, and a Fix line.  `known`: names of required sections that the caller understands, or
 * NULL. `path` is for messages.  Data may be at any address and is not kept. */
VYRE_MUST_USE vyre_status vyre_vir0_read(vyre_module *module, const void *data, size_t size, const char *path,
                                         const char *const *known, uint32_t known_count);

/* A named section of a file that vyre_vir0_read took: data and size in it; NULL: there is none. */
const void *vyre_vir0_find(const void *data, size_t size, const char *name, size_t *out_size);

#ifdef __cplusplus
}
#endif
#endif
