/* `.vir` text: parsing and printing. docs/ir.md has the grammar.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEXT_H
#define VYRE_TEXT_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the programs of the text to the module as one input called `path`, and seals it. Emits every error, at most 20; the
 * status has their number. After an error the module may only be cleared or destroyed. */
VYRE_MUST_USE vyre_status vyre_text_parse(vyre_module *module, const char *text, size_t length, const char *path,
                                          vyre_diagnostics diagnostics);

/* Parses like vyre_text_parse, and stores the line and column of its statement in each row, for messages at run time. Takes 8 bytes
 * for each row and 4 for each line. */
VYRE_MUST_USE vyre_status vyre_text_parse_lines(vyre_module *module, const char *text, size_t length, const char *path,
                                                vyre_diagnostics diagnostics);

/* Messages to print at their rows, for example the verifier's, sorted by row. */
typedef struct vyre_text_note {
  uint32_t row;
  const char *message; /* borrowed */
} vyre_text_note;

typedef struct vyre_text_options {
  size_t struct_size; /* sizeof(vyre_text_options) */
  uint32_t program;   /* the program to print, or 0 for all */
  bool lines;         /* print source lines as comments */
  bool rows;          /* print row ids as comments */
  bool analyses;      /* print row ids and the analyses that the view shows as comments */
  const vyre_text_note *notes;
  uint32_t note_count;
} vyre_text_options;

/* Appends the text to `out`. The module must be sealed; the verifier also prints unsealed modules, as far as their links are valid.
 * options may be NULL for defaults. */
VYRE_MUST_USE vyre_status vyre_text_print(const vyre_module *module, const vyre_text_options *options, vyre_bytes *out);

/* Write a type ("f32x4", "u32", "bool") or a literal ("2.0f32", "true", "0xffu32", "nan(0x7fc00001)f32") to `buffer`, and return
 * it. */
const char *vyre_text_type(vyre_type type, char buffer[48]);
const char *vyre_text_literal(vyre_type type, uint64_t bits, char buffer[48]);

#ifdef __cplusplus
}
#endif
#endif
