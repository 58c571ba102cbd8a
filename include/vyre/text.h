/* `.vir` text: parsing and printing.  The grammar is in docs/ir.md.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEXT_H
#define VYRE_TEXT_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the programs of the text to the module as one input called `path`, and seals.  Every error found is emitted (at most 20);
 * the status then counts them.  After an error the module is fit only to be cleared or destroyed. */
VYRE_MUST_USE vyre_status vyre_text_parse(vyre_module *module, const char *text, size_t length, const char *path,
                                          vyre_diagnostics diagnostics);

/* The same, and each row has the line and column of its statement, for messages while it runs (8 bytes a row, and 4 a line). */
VYRE_MUST_USE vyre_status vyre_text_parse_lines(vyre_module *module, const char *text, size_t length, const char *path,
                                                vyre_diagnostics diagnostics);

/* Messages to print at their rows (the verifier's), sorted by row. */
typedef struct vyre_text_note {
  uint32_t row;
  const char *message; /* borrowed */
} vyre_text_note;

typedef struct vyre_text_options {
  uint32_t program; /* this program alone; 0: all */
  bool lines;       /* source lines as comments */
  bool rows;        /* row ids as comments */
  bool analyses;    /* row ids, and the analyses that the view shows, as comments */
  const vyre_text_note *notes;
  uint32_t note_count;
} vyre_text_options;

/* Appends to `out`.  The module must be sealed (the verifier prints unsealed ones too, as far as they can be walked).
 * options NULL: defaults. */
VYRE_MUST_USE vyre_status vyre_text_print(const vyre_module *module, const vyre_text_options *options, vyre_bytes *out);

/* "f32x4", "u32", "bool"; a literal: "2.0f32", "true", "0xffu32", "nan(0x7fc00001)f32"; both into a buffer of 48 bytes. */
const char *vyre_text_type(vyre_type type, char buffer[48]);
const char *vyre_text_literal(vyre_type type, uint64_t bits, char buffer[48]);

#ifdef __cplusplus
}
#endif
#endif
