/* SPIR-V's grammar: the names of instructions and what their words are, from SPIRV-Headers' own list and ir/opaque/newer.def.
 *
 * An instruction that vyre does not compute with keeps its words (docs/ir.md, "Opaque rows"); this tells which of them are ids.
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

#define VYRE_WORDS_MOST_IDS 0x400000u /* of a module: SPIR-V's own limit */

typedef enum vyre_word_kind {
  VYRE_WORD_KIND_LITERAL,
  VYRE_WORD_KIND_TYPE,   /* the result's type */
  VYRE_WORD_KIND_RESULT, /* the id that the instruction defines */
  VYRE_WORD_KIND_ID,     /* any other id */
} vyre_word_kind;

/* Without "Op"; NULL: the grammar has no such instruction. */
const char *vyre_words_name(uint32_t opcode);
const char *vyre_words_full_name(uint32_t opcode); /* the same with "Op" */
/* Bit 0: the instruction has a result; bit 1: and a type. */
uint32_t vyre_words_shape(uint32_t opcode);
#define VYRE_WORDS_SHAPES 512
extern const uint8_t
    vyre_words_shapes[VYRE_WORDS_SHAPES]; /* the same by opcode, of the instructions that most modules consist of */
/* Returns whether the instruction declares a type. */
bool vyre_words_is_type(uint32_t opcode);
/* The effect that newer.def gives for an instruction; VYRE_WORDS_ANY for all others. */
typedef enum vyre_words_effect { VYRE_WORDS_ANY, VYRE_WORDS_PURE, VYRE_WORDS_READ } vyre_words_effect;
vyre_words_effect vyre_words_effect_of(uint32_t opcode);
/* The instruction of that name without "Op"; UINT32_MAX: there is none. */
uint32_t vyre_words_find(const char *name, size_t length);
/* The kind of each word after the first of an instruction of `count` words, into out[1] to out[count - 1].  False: it does not
 * fit the grammar. */
bool vyre_words_kinds(const uint32_t *words, uint32_t count, uint8_t *out);
/* The string at `words`, which ends before words[count]; NULL: it does not.  Its length in bytes: it has length / 4 + 1 words. */
const char *vyre_words_string(const uint32_t *words, uint32_t count, size_t *out_length);

/* Whether a shader is the same without the instructions of the set of that name: debug information, and what is for tools alone. */
bool vyre_words_set_says_nothing(const char *set);

/* ---- NonSemantic.Shader.DebugInfo.100 ---------------------------------------------------------------------------------------- */

#define VYRE_DEBUG_SET "NonSemantic.Shader.DebugInfo.100"

/* What is kept of it: an OpExtInst of each instruction before the functions, whose type and set are 0, with constants in the place
 * of their ids. */
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
#define VYRE_DEBUG_NONE UINT32_MAX /* in the place of a constant: DebugInfoNone, or no literal */
/* Whether a whole instruction is one as it is kept. */
bool vyre_words_is_debug(const uint32_t *words);
/* Whether an instruction of that number is kept, and may have so many operands. */
bool vyre_words_debug_fits(uint32_t instruction, uint32_t count);
/* What operand k of a kept instruction is: `s` a string, `d` an instruction of the set before it, `t` the same or 0 for void,
 * `c` a constant, `n` the same or VYRE_DEBUG_NONE, `l` a length, 0 where it is not known, `b` a boolean, `v` a variable, or 0 for
 * none.  0: there is no such operand. */
char vyre_words_debug_kind(uint32_t instruction, uint32_t k);
/* Which operand of a scope is the scope around it; UINT32_MAX: none, 0: it is no scope. */
uint32_t vyre_words_debug_parent(uint32_t instruction);
#define VYRE_DEBUG_LOCAL_LINE   3 /* operands of a variable: where it is declared, */
#define VYRE_DEBUG_LOCAL_PARENT 5 /* and the scope that it is in */

/* ---- reflection -------------------------------------------------------------------------------------------------------------- */

/* Reflection: decorations that are strings or name ids, and instructions of NonSemantic sets before the functions.
 * Each is kept as an OpExtInst of type 0 and set VYRE_REFLECTED_SET: its result in the input or 0, the set, the instruction's
 * opcode, and its operands.  An operand is a word, its kind and how many words follow << 8, and these words. */
typedef enum vyre_reflected {
  VYRE_REFLECTED_LITERAL,     /* words of the instruction */
  VYRE_REFLECTED_NAME,        /* of the instruction set: the words of a string; comes first */
  VYRE_REFLECTED_STRING,      /* the id of an OpString that is kept */
  VYRE_REFLECTED_VARIABLE,    /* its id in the input, which buffer rows carry */
  VYRE_REFLECTED_BUILTIN,     /* a variable: SPIR-V's number of the built-in */
  VYRE_REFLECTED_TYPE,        /* a scalar, vector or void: vyre_type */
  VYRE_REFLECTED_STRUCT,      /* a variable, and the steps from what it points to: members' numbers, VYRE_REFLECTED_ELEMENT */
  VYRE_REFLECTED_CONSTANT,    /* a scalar: vyre_type, low bits, high bits */
  VYRE_REFLECTED_ENTRY,       /* a function: the words of the entry point's name */
  VYRE_REFLECTED_INSTRUCTION, /* the result, in the input, of another one that is kept */
} vyre_reflected;
#define VYRE_REFLECTED_SET     UINT32_MAX
#define VYRE_REFLECTED_ELEMENT UINT32_MAX
/* Returns whether a whole instruction is one as it is kept. */
bool vyre_words_is_reflected(const uint32_t *words);

#ifdef __cplusplus
}
#endif
#endif
