/* VIR0: the binary form of a whole module, including data that text lacks (lines, execution modes, capabilities, ids).
 *
 * A file is a versioned, checksummed header, then the columns and side tables:
 *
 *     | header, 64 bytes | section table, 64 bytes each | section | section | ...
 *
 * Each section starts at a multiple of its alignment.
 *
 * Words have the byte order of the writer, which the header names; a machine of the other order refuses the file. Bytes between
 * sections are zero, and every other byte is covered by a hash (XXH3, 64 bits). The bytes depend only on the module's contents: not
 * on its history, on addresses or on time. Dropped rows leave no names, and versions (an analysis) are not written.
 *
 * Reading copies each column once into its reserved space, checks every offset, count, string and id, and verifies the rows. The
 * file is not mapped in place of a column, although the alignments in the section table would allow it. A private mapping shows
 * later writes by others and faults if they truncate the file, and the space belongs to the allocator. The copy is a small part of
 * a read (docs/ir.md has the figures).
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
#define VYRE_VIR0_NAME_BYTES 24u /* of a section's name with its zero byte */

/* Kinds of sections. The numbers are frozen with version 1, and new kinds are appended. An empty section is omitted unless its
 * comment says otherwise. */
typedef enum vyre_vir0_kind {
  VYRE_VIR0_OP = 1, /* columns, a word for each row, including row 0; all eleven are always present */
  VYRE_VIR0_IMM,
  VYRE_VIR0_IMM_HI, /* 0 in rows with a version */
  VYRE_VIR0_A,
  VYRE_VIR0_B,
  VYRE_VIR0_C,
  VYRE_VIR0_PARENT,
  VYRE_VIR0_PREV,
  VYRE_VIR0_NEXT,
  VYRE_VIR0_FIRST,
  VYRE_VIR0_LAST,
  VYRE_VIR0_NAME,             /* a word for each row: a string */
  VYRE_VIR0_LINE,             /* a word for each row: its source line, or 0 */
  VYRE_VIR0_PLACE,            /* a word for each row: index of a scope from 1 << 10 | column, at most 1023; 0 without a line */
  VYRE_VIR0_STRINGS = 16,     /* "", then each text once with its zero byte; a string is the offset of its text */
  VYRE_VIR0_FILES,            /* (string): the files of scopes, from scope 1 on */
  VYRE_VIR0_TYPES,            /* (form, flags, element, count, count_row, stride, align, size, name): types from id 256 on */
  VYRE_VIR0_MEMBERS,          /* (name, type, offset, access): of all structs, one after another */
  VYRE_VIR0_INPUTS,           /* (path, SPIR-V version, addressing, memory, counts of words: capabilities, extensions, kept) */
  VYRE_VIR0_INPUT_WORDS,      /* those words, of all inputs */
  VYRE_VIR0_PROGRAMS,         /* (input or ~0, entry, count of words): of program rows, in their order */
  VYRE_VIR0_PROGRAM_WORDS,    /* execution modes, of all programs */
  VYRE_VIR0_BUFFERS,          /* (set, binding, SPIR-V id, initializer or ~0): of buffer rows, in their order */
  VYRE_VIR0_EXTRAS,           /* (row, spec id or ~0, count of decoration words, has an entry in programs or buffers): by row */
  VYRE_VIR0_DECORATION_WORDS, /* of all extras */
  VYRE_VIR0_INITIALIZERS,     /* (count of words) */
  VYRE_VIR0_INITIALIZER_WORDS,
  VYRE_VIR0_SCOPES, /* (entity, caller, line, call, variable, index, values, order, depth): for each entry of FILES */
  VYRE_VIR0_KIND__COUNT,
  VYRE_VIR0_NAMED = 0x10000, /* a section of another writer, identified by its name, "pass.what" */
} vyre_vir0_kind;

#define VYRE_VIR0_OPTIONAL 1u /* a flag: readers skip an unknown section; without it they refuse the file */

typedef struct vyre_vir0_header {
  char magic[4];       /* "VIR0" */
  uint32_t byte_order; /* VYRE_VIR0_BYTE_ORDER */
  uint32_t version;    /* VYRE_VIR0_VERSION */
  uint32_t opset;      /* VYRE_OPSET_VERSION of the writer; readers accept older ones, because ops are only appended */
  uint64_t size;       /* of the whole file, in bytes */
  uint32_t sections;
  uint32_t rows; /* including row 0 */
  uint32_t header_bytes, section_bytes;
  uint32_t reserved[4]; /* 0 */
  uint64_t hash;        /* of the section table and of the header with this field 0 */
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

/* A section of another writer. All pointers are borrowed. */
typedef struct vyre_vir0_named {
  const char *name; /* 1 to 23 printable ASCII characters, unique in the file */
  const void *data;
  size_t size;
  bool optional;
} vyre_vir0_named;

/* Appends a sealed module. `named` are additional sections, or NULL. */
VYRE_MUST_USE vyre_status vyre_vir0_write(const vyre_module *module, const vyre_vir0_named *named, uint32_t count, vyre_bytes *out);

/* Returns whether the data begins with VIR0's magic number. */
bool vyre_vir0_is(const void *data, size_t size);

/* Reads into an empty module (new or cleared), which is then sealed and verified. After an error the module is empty again, and the
 * message has the section, the byte and a Fix line. `known` has the names of required sections that the caller understands, or is
 * NULL. `path` is for messages. The data may have any alignment and is not kept. */
VYRE_MUST_USE vyre_status vyre_vir0_read(vyre_module *module, const void *data, size_t size, const char *path,
                                         const char *const *known, uint32_t known_count);

/* Returns a named section of a file that vyre_vir0_read accepted, and stores its size. The result points into `data`. Returns NULL
 * if the section does not exist. */
const void *vyre_vir0_find(const void *data, size_t size, const char *name, size_t *out_size);

#ifdef __cplusplus
}
#endif
#endif
