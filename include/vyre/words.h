/* SPIR-V's grammar: the names of instructions and the kinds of their words, from the list of SPIRV-Headers and ir/opaque/newer.def.
 *
 * An instruction that vyre does not interpret keeps its words (docs/ir.md, "Opaque rows"). This header says which of them are ids.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WORDS_H
#define VYRE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_WORDS_MOST_IDS 0x400000u /* in a module: SPIR-V's own limit */

typedef enum vyre_word_kind {
  VYRE_WORD_KIND_LITERAL,
  VYRE_WORD_KIND_TYPE,   /* the result's type */
  VYRE_WORD_KIND_RESULT, /* the id that the instruction defines */
  VYRE_WORD_KIND_ID,     /* any other id */
} vyre_word_kind;

/* Returns the name without "Op", or NULL if the grammar has no such instruction. */
const char *vyre_words_name(uint32_t opcode);
/* Returns the name with "Op", or NULL. */
const char *vyre_words_full_name(uint32_t opcode);
/* Returns bit 0 if the instruction has a result, and bit 1 if it has a result type. */
uint32_t vyre_words_shape(uint32_t opcode);
#define VYRE_WORDS_SHAPES 512
/* Results of vyre_words_shape by opcode, for the instructions that most modules consist of. */
extern const uint8_t vyre_words_shapes[VYRE_WORDS_SHAPES];
/* Returns whether the instruction declares a type. */
bool vyre_words_is_type(uint32_t opcode);
/* The effect that newer.def gives for an instruction; VYRE_WORDS_ANY for all others. */
typedef enum vyre_words_effect { VYRE_WORDS_ANY, VYRE_WORDS_PURE, VYRE_WORDS_READ } vyre_words_effect;
vyre_words_effect vyre_words_effect_of(uint32_t opcode);
/* Returns the opcode for the name without "Op", or UINT32_MAX if there is none. */
uint32_t vyre_words_find(const char *name, size_t length);
/* Stores the kind of each word after the first of an instruction of `count` words in out[1] to out[count - 1]. Returns false if the
 * instruction does not fit the grammar. */
bool vyre_words_kinds(const uint32_t *words, uint32_t count, uint8_t *out);
/* Returns the string at `words` and its length in bytes; it has length / 4 + 1 words. Returns NULL if it does not end before
 * words[count]. */
const char *vyre_words_string(const uint32_t *words, uint32_t count, size_t *out_length);

/* Returns whether instructions of the set have no effect on a shader: debug information, and data for tools only. */
bool vyre_words_set_says_nothing(const char *set);

/* ---- NonSemantic.Shader.DebugInfo.100 ---------------------------------------------------------------------------------------- */

#define VYRE_DEBUG_SET "NonSemantic.Shader.DebugInfo.100"

/* Debug instructions are kept as an OpExtInst of each instruction before the functions. Its type and set are 0, and constants
 * replace the ids of constants. */
enum {
  VYRE_DEBUG_UNIT = 1,
  VYRE_DEBUG_COMPOSITE = 10,
  VYRE_DEBUG_GLOBAL = 18,
  VYRE_DEBUG_FUNCTION = 20,
  VYRE_DEBUG_BLOCK = 21,
  VYRE_DEBUG_SCOPE = 23,
  VYRE_DEBUG_NO_SCOPE = 24,
  VYRE_DEBUG_INLINED_AT = 25,
  VYRE_DEBUG_LOCAL = 26,
  VYRE_DEBUG_DECLARE = 28,
  VYRE_DEBUG_VALUE = 29,
  VYRE_DEBUG_EXPRESSION = 31,
  VYRE_DEBUG_SOURCE = 35,
  VYRE_DEBUG_DEFINITION = 101,
  VYRE_DEBUG_LINE = 103,
  VYRE_DEBUG_NO_LINE = 104,
};
#define VYRE_DEBUG_NONE UINT32_MAX /* in place of a constant: DebugInfoNone, or a value that is not a literal */
/* Returns whether a whole instruction has the form in which debug instructions are kept. */
bool vyre_words_is_debug(const uint32_t *words);
/* Returns whether an instruction of the number is kept, and may have `count` operands. */
bool vyre_words_debug_fits(uint32_t instruction, uint32_t count);
/* Returns the kind of operand k of a kept instruction, or 0 if it has no such operand:
 *
 *     s  a string.                          t  an earlier instruction of the set, or 0 for void.
 *     d  an earlier instruction of the set. n  a constant, or VYRE_DEBUG_NONE.
 *     c  a constant.                        l  a length, or 0 if it is unknown.
 *     b  a boolean.                         v  a variable, or 0. */
char vyre_words_debug_kind(uint32_t instruction, uint32_t k);
/* Returns the operand of a scope that is its parent scope, UINT32_MAX if it has no parent, or 0 if the instruction is not a
 * scope. */
uint32_t vyre_words_debug_parent(uint32_t instruction);
#define VYRE_DEBUG_LOCAL_LINE   3 /* operand of a variable: its line */
#define VYRE_DEBUG_LOCAL_PARENT 5 /* operand of a variable: its scope */

/* ---- reflection -------------------------------------------------------------------------------------------------------------- */

/* Reflection: decorations with strings or name ids, and instructions of NonSemantic sets before the functions. Each is kept as an
 * OpExtInst of type 0 and set VYRE_REFLECTED_SET. It has the result in the input or 0, the set, the instruction's opcode, and the
 * operands. An operand is a word (its kind, and the number of following words << 8), and these words. */
typedef enum vyre_reflected {
  VYRE_REFLECTED_LITERAL,     /* words of the instruction */
  VYRE_REFLECTED_NAME,        /* of the instruction set: the words of a string; comes first */
  VYRE_REFLECTED_STRING,      /* the id of a kept OpString */
  VYRE_REFLECTED_VARIABLE,    /* its id in the input, which buffer rows have */
  VYRE_REFLECTED_BUILTIN,     /* a variable: SPIR-V's number of the built-in */
  VYRE_REFLECTED_TYPE,        /* a scalar, vector or void: vyre_type */
  VYRE_REFLECTED_STRUCT,      /* a variable, and the steps from its pointee: member numbers, VYRE_REFLECTED_ELEMENT */
  VYRE_REFLECTED_CONSTANT,    /* a scalar: vyre_type, low bits, high bits */
  VYRE_REFLECTED_ENTRY,       /* a function: the words of the entry point's name */
  VYRE_REFLECTED_INSTRUCTION, /* the result, in the input, of another kept instruction */
} vyre_reflected;
#define VYRE_REFLECTED_SET     UINT32_MAX
#define VYRE_REFLECTED_ELEMENT UINT32_MAX
/* Returns whether a whole instruction has the form in which reflection is kept. */
bool vyre_words_is_reflected(const uint32_t *words);

#ifdef __cplusplus
}
#endif
#endif
