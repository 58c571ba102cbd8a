/* SPIR-V's grammar: the names of instructions and what their words are, from SPIRV-Headers' own list.
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

typedef enum vyre_word_kind {
  VYRE_WORD_KIND_LITERAL,
  VYRE_WORD_KIND_TYPE,   /* the result's type */
  VYRE_WORD_KIND_RESULT, /* the id that the instruction defines */
  VYRE_WORD_KIND_ID,     /* any other id */
} vyre_word_kind;

/* Without "Op"; NULL: the grammar has no such instruction. */
const char *vyre_words_name(uint32_t opcode);
/* The instruction of that name without "Op"; UINT32_MAX: there is none. */
uint32_t vyre_words_find(const char *name, size_t length);
/* The kind of each word after the first of an instruction of `count` words, into out[1] to out[count - 1].  False: it does not
 * fit the grammar. */
bool vyre_words_kinds(const uint32_t *words, uint32_t count, uint8_t *out);
/* The string at `words`, which ends before words[count]; NULL: it does not.  Its length in bytes: it has length / 4 + 1 words. */
const char *vyre_words_string(const uint32_t *words, uint32_t count, size_t *out_length);

#ifdef __cplusplus
}
#endif
#endif
