/* Opaque rows and types: instructions and type declarations of SPIR-V that vyre keeps as words.
 *
 * A type of form VYRE_FORM_WORDS is an instruction without its ids. Its `flags` are the opcode. Its `members` are the words after
 * type and result, each with its kind (vyre_word) in `access`:
 *
 *     LITERAL   `offset` is the word itself.
 *     TYPE      The type `type`, written in the mode `offset` (vyre_mode).
 *     VALUE     The next operand row. If `type` is not 0, a composite of that type and mode: the next rows, one for each leaf.
 *     CONSTANT  A constant of the scalar `type` with the bits `offset`.
 *     SET       An extended instruction set, called `name`.
 *     NAMED     The struct type called `name`: a pointer to the struct that contains the type.
 *     STRING    An OpString with the text `name`.
 *     LENGTH    A constant given by a row: the length of the array type `type`, which has the row like every array.
 *     STRIDE    Not a word, but the decoration ArrayStride of a pointer type: `offset` bytes. Comes last.
 *
 * `element` is the result's type, or 0 without a result, and `stride` its mode. As a type of memory or values, the entry is an
 * opaque type, such as OpTypeImage or OpTypePointer declares. As the imm of a row of op `opaque`, `opaque_pure`, `opaque_read` or
 * `opaque_write`, it is the row's operation. The row's operands are a, b and c, or a, b and in c the tuple of all others; they are
 * values, paths and opaque values. Its result is a scalar or vector, an opaque value, or the tuple of a composite's leaves. Entries
 * are interned, so equal instructions have equal ids and rows compare as usual.
 *
 * An opaque value is a row of kind VYRE_OPAQUE, whose type is vyre_row_type_id. It comes from such a row, from memory (buffers in
 * space `handle` hold images and the like), or from a var, whose imm is the type.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_OPAQUE_H
#define VYRE_OPAQUE_H

#include "vyre/ir.h"
#include "vyre/words.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_word {
  VYRE_WORD_LITERAL,
  VYRE_WORD_TYPE,
  VYRE_WORD_VALUE,
  VYRE_WORD_CONSTANT,
  VYRE_WORD_SET,
  VYRE_WORD_NAMED,
  VYRE_WORD_LENGTH,
  VYRE_WORD_STRIDE,
  VYRE_WORD_STRING,
  VYRE_WORD__COUNT
} vyre_word;

/* How a type is declared in SPIR-V: without layout, with it, or with it and as a Block. */
typedef enum vyre_mode { VYRE_MODE_BARE, VYRE_MODE_LAYOUT, VYRE_MODE_BLOCK } vyre_mode;

/* Returns the type entry for an instruction, or 0 if memory runs out. The words are copied. */
vyre_type_id vyre_type_words(vyre_module *module, uint32_t opcode, vyre_type_id result, vyre_mode mode, const vyre_member *words,
                             uint32_t count);
/* Returns the number of a composite's leaves: scalars, vectors, matrix columns and opaque values, in order. Returns UINT32_MAX if
 * the number is not fixed. */
uint32_t vyre_type_leaves(const vyre_module *module, vyre_type_id type);
/* Returns the type of a composite's leaf by its index, or 0 if the composite has no such leaf. */
vyre_type_id vyre_type_leaf(const vyre_module *module, vyre_type_id type, uint32_t leaf);
/* Returns the number of the instruction's operand rows, or UINT32_MAX if a composite among them has no fixed number of leaves. */
uint32_t vyre_words_operands(const vyre_module *module, vyre_type_id words);

/* Returns the SPIR-V name of an opaque row's instruction without "Op". Returns NULL for other rows and unknown instructions. */
const char *vyre_row_instruction(const vyre_module *module, vyre_row row);

/* Returns the type id of a row's value: for an opaque value that of its type, otherwise the type byte. */
vyre_type_id vyre_row_type_id(const vyre_module *module, vyre_row row);
/* Returns the type id of part k of a row of kind tuple, or 0 if it is unknown. */
vyre_type_id vyre_part_type_id(const vyre_module *module, vyre_row tuple, uint32_t k);
/* Return the number of operands of an opaque row, and its k-th operand. */
uint32_t vyre_opaque_count(const vyre_view *view, uint32_t row);
uint32_t vyre_opaque_operand(const vyre_view *view, uint32_t row, uint32_t k);

/* Builds an opaque row with the given instruction and operands. */
vyre_row vyre_build_opaque(vyre_builder *builder, vyre_opcode op, vyre_type_id words, const vyre_row *operands, uint32_t count,
                           uint32_t flags);
/* Builds a var of an opaque type at the program's top. */
vyre_row vyre_build_opaque_var(vyre_builder *builder, vyre_type_id type);

#ifdef __cplusplus
}
#endif
#endif
