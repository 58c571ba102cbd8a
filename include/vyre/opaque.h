/* What vyre does not compute with: rows that keep a SPIR-V instruction's words, and types that keep their declaration's.
 *
 * An entry of the type table of form VYRE_FORM_WORDS is an instruction without its ids: its `flags` are the opcode, its
 * `members` the words after type and result, each with its kind (vyre_word) in `access`:
 *
 *   LITERAL   offset is the word itself
 *   TYPE      a type: `type`, written in the mode `offset` (vyre_mode)
 *   VALUE     the next operand row; if `type` is not 0, a composite of that type and mode that is made of the next rows, one a leaf
 *   CONSTANT  a constant of the scalar `type` with the bits `offset`
 *   SET       an extended instruction set: `name`
 *   NAMED     the struct type called `name`: a pointer to the struct that contains the type
 *   STRING    an OpString with the text `name`
 *   LENGTH    a constant that a row gives: the length of the array type `type`, which carries the row as all arrays do
 *   STRIDE    no word of the instruction, but its decoration ArrayStride: `offset` bytes.  Of pointer types; comes last
 *
 * `element` is the type of the result (0: none) and `stride` its mode.  As a type of memory or of values it is an *opaque type*:
 * what OpTypeImage, OpTypePointer and the like declare.  As the imm of a row of op `opaque`, `opaque_pure`, `opaque_read` or
 * `opaque_write` it is what that row does to its operands: a, b, c, or a, b and in c the tuple of all others; values, paths, and
 * opaque values.  The row's result is a scalar or vector, an opaque value, or of a composite the tuple of its leaves.  Being
 * interned, equal instructions are equal types, so that rows are compared as ever.
 *
 * An opaque value is a row of kind VYRE_OPAQUE; vyre_row_type_id tells its type.  It comes from such a row, from memory (buffers of
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

/* The type of that instruction; 0: no memory.  `words` are copied. */
vyre_type_id vyre_type_words(vyre_module *module, uint32_t opcode, vyre_type_id result, vyre_mode mode, const vyre_member *words,
                             uint32_t count);
/* A composite's leaves: scalars, vectors, matrix columns and opaque values, in order.  UINT32_MAX: it has no fixed number. */
uint32_t vyre_type_leaves(const vyre_module *module, vyre_type_id type);
vyre_type_id vyre_type_leaf(const vyre_module *module, vyre_type_id type, uint32_t leaf); /* 0: there is none */
/* The instruction's operand rows; UINT32_MAX: a composite without a fixed number of leaves. */
uint32_t vyre_words_operands(const vyre_module *module, vyre_type_id words);

/* Returns the SPIR-V name of an opaque row's instruction without "Op", NULL of other rows and of unknown instructions. */
const char *vyre_row_instruction(const vyre_module *module, vyre_row row);

/* The type of a row's value: of an opaque one its type's id, of others the type itself. */
vyre_type_id vyre_row_type_id(const vyre_module *module, vyre_row row);
/* The type id of part k of a row of kind tuple; 0: not known. */
vyre_type_id vyre_part_type_id(const vyre_module *module, vyre_row tuple, uint32_t k);
/* How many operands an opaque row has, and the k-th. */
uint32_t vyre_opaque_count(const vyre_view *view, uint32_t row);
uint32_t vyre_opaque_operand(const vyre_view *view, uint32_t row, uint32_t k);

vyre_row vyre_build_opaque(vyre_builder *builder, vyre_opcode op, vyre_type_id words, const vyre_row *operands, uint32_t count,
                           uint32_t flags);
vyre_row vyre_build_opaque_var(vyre_builder *builder, vyre_type_id type); /* at the program's top */

#ifdef __cplusplus
}
#endif
#endif
