/* SPIR-V's grammar, read from a table that words_generate.c makes from SPIRV-Headers' grammar and newer.def.
 *
 * Cost: a name by linear search, an opcode by binary search, an instruction's kinds in one pass over its words.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/words.h"

#include <string.h>

typedef struct instruction {
  uint32_t opcode;
  const char *name, *operands; /* letters of words_generate.c */
  uint32_t shape;
  vyre_words_effect effect;
} instruction;

typedef struct enumerant {
  char letter;
  bool mask;
  uint32_t value;
  const char *operands;
} enumerant;

static const instruction instructions[] = {
#define WORDS_INSTRUCTIONS
#include "spirv-words.inc"
#undef WORDS_INSTRUCTIONS
};
#define INSTRUCTIONS (sizeof(instructions) / sizeof(*instructions))

const uint8_t vyre_words_shapes[VYRE_WORDS_SHAPES] = {
#define WORDS_SHAPES
#include "spirv-words.inc"
#undef WORDS_SHAPES
};

static const enumerant enumerants[] = {
#define WORDS_ENUMERANTS
#include "spirv-words.inc"
#undef WORDS_ENUMERANTS
};
#define ENUMERANTS (sizeof(enumerants) / sizeof(*enumerants))

static const instruction *
find_instruction(uint32_t opcode)
{
  size_t low = 0, high = INSTRUCTIONS;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (instructions[middle].opcode < opcode)
      low = middle + 1;
    else
      high = middle;
  }
  return low < INSTRUCTIONS && instructions[low].opcode == opcode ? &instructions[low] : NULL;
}

const char *
vyre_words_name(uint32_t opcode)
{
  const instruction *i = find_instruction(opcode);
  return i ? i->name + 2 : NULL;
}

const char *
vyre_words_full_name(uint32_t opcode)
{
  const instruction *i = find_instruction(opcode);
  return i ? i->name : NULL;
}

uint32_t
vyre_words_shape(uint32_t opcode)
{
  const instruction *i = find_instruction(opcode);
  return i ? i->shape : 0;
}

bool
vyre_words_is_type(uint32_t opcode)
{
  const instruction *i = find_instruction(opcode);
  return i && strncmp(i->name, "OpType", 6) == 0;
}

vyre_words_effect
vyre_words_effect_of(uint32_t opcode)
{
  const instruction *i = find_instruction(opcode);
  return i ? i->effect : VYRE_WORDS_ANY;
}

uint32_t
vyre_words_find(const char *name, size_t length)
{
  for (size_t i = 0; i < INSTRUCTIONS; i++)
    if (strncmp(instructions[i].name + 2, name, length) == 0 && instructions[i].name[2 + length] == '\0')
      return instructions[i].opcode;
  return UINT32_MAX;
}

typedef struct reader {
  const uint32_t *words;
  uint32_t at, count;
  uint8_t *out;
} reader;

static bool
read_word(reader *r, vyre_word_kind kind)
{
  if (r->at >= r->count)
    return false;
  r->out[r->at++] = (uint8_t)kind;
  return true;
}

static bool
read_string(reader *r)
{
  size_t length;
  if (!vyre_words_string(r->words + r->at, r->count - r->at, &length))
    return false;
  for (size_t k = 0; k <= length / sizeof(uint32_t); k++)
    (void)read_word(r, VYRE_WORD_KIND_LITERAL);
  return true;
}

static bool read_operands(reader *r, const char *letters);

/* Reads the value of an enumeration and its operands. A mask has operands by ascending bits. If several names have one value, the
 * first counts. */
static bool
read_enumeration(reader *r, char letter)
{
  const uint32_t value = r->at < r->count ? r->words[r->at] : 0;
  uint32_t seen = 0;
  if (!read_word(r, VYRE_WORD_KIND_LITERAL))
    return false;
  for (size_t i = 0; i < ENUMERANTS; i++) {
    const enumerant *e = &enumerants[i];
    if (e->letter != letter || (e->mask ? (value & ~seen & e->value) == 0 : value != e->value))
      continue;
    seen |= e->value;
    if (!read_operands(r, e->operands))
      return false;
    if (!e->mask)
      return true;
  }
  return true;
}

/* Reads the operation of an OpSpecConstantOp, which cannot be OpSpecConstantOp itself. */
static bool
read_operation(reader *r)
{
  const instruction *i = r->at < r->count && r->words[r->at] != (r->words[0] & 0xffffu) ? find_instruction(r->words[r->at]) : NULL;
  return i && strncmp(i->operands, "tr", 2) == 0 && read_word(r, VYRE_WORD_KIND_LITERAL) && read_operands(r, i->operands + 2);
}

static bool
read_operand(reader *r, char letter)
{
  switch (letter) {
  case 't':
    return read_word(r, VYRE_WORD_KIND_TYPE);
  case 'r':
    return read_word(r, VYRE_WORD_KIND_RESULT);
  case 'i':
    return read_word(r, VYRE_WORD_KIND_ID);
  case 'l':
    return read_word(r, VYRE_WORD_KIND_LITERAL);
  case 'n': /* the last operand */
    while (r->at < r->count)
      (void)read_word(r, VYRE_WORD_KIND_LITERAL);
    return true;
  case 's':
    return read_string(r);
  case 'p':
    return read_word(r, VYRE_WORD_KIND_ID) && read_word(r, VYRE_WORD_KIND_ID);
  case 'q':
    return read_word(r, VYRE_WORD_KIND_LITERAL) && read_word(r, VYRE_WORD_KIND_ID);
  case 'u':
    return read_word(r, VYRE_WORD_KIND_ID) && read_word(r, VYRE_WORD_KIND_LITERAL);
  case 'o':
    return read_operation(r);
  default:
    return read_enumeration(r, letter);
  }
}

static bool
read_operands(reader *r, const char *letters)
{
  for (; *letters; letters++) {
    const char letter = *letters;
    if (letters[1] == '*') {
      letters++;
      while (r->at < r->count)
        if (!read_operand(r, letter))
          return false;
    } else if (letters[1] == '?') {
      letters++;
      if (r->at < r->count && !read_operand(r, letter))
        return false;
    } else if (!read_operand(r, letter)) {
      return false;
    }
  }
  return true;
}

bool
vyre_words_kinds(const uint32_t *words, uint32_t count, uint8_t *out)
{
  const instruction *i = find_instruction(words[0] & 0xffffu);
  reader r = {words, 1, count, out};
  return i && read_operands(&r, i->operands) && r.at == count;
}

const char *
vyre_words_string(const uint32_t *words, uint32_t count, size_t *out_length)
{
  const char *text = (const char *)words, *zero = count ? memchr(text, 0, (size_t)count * sizeof(*words)) : NULL;
  *out_length = zero ? (size_t)(zero - text) : 0;
  return zero ? text : NULL;
}
