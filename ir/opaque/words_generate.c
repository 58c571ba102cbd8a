/* Generates spirv-words.inc from SPIRV-Headers' grammar and newer.def, at build time: words_generate spirv.core.grammar.json >
 * spirv-words.inc
 *
 * An instruction's operands are letters, which ir/opaque/words.c reads:
 *
 *     t  the result's type.                      s  a string.
 *     r  the result.                             p  two ids.
 *     i  an id.                                  q  a literal and an id.
 *     l  a literal.                              u  an id and a literal.
 *     n  a literal with as many words as         o  an opcode and the operands of its instruction after
 *        its type.                                  the result.
 *
 * An upper case letter is an enumeration whose values have operands. After a letter, `?` means optional, and `*` any number.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/words.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2048, LETTERS = 24, SHAPES = 512 };

typedef struct instruction {
  unsigned opcode;
  char name[96], operands[64];
  vyre_words_effect effect;
} instruction;

static const struct {
  unsigned opcode;
  const char *name, *operands;
  vyre_words_effect effect;
} newer_instructions[] = {
#define NEWER_INSTRUCTION(number, name, operands, effect) {number, "Op" name, operands, VYRE_WORDS_##effect},
#include "newer.def"
};

static const struct {
  const char *kind;
  int mask;
  unsigned value;
  const char *operands;
} newer_values[] = {
#define NEWER_VALUE(kind, mask, value, operands) {kind, mask, value, operands},
#include "newer.def"
};

typedef struct enumeration {
  char kind[64];
  int mask, used; /* used: a value has parameters */
  char letter;
} enumeration;

static char *text;
static instruction instructions[MOST];
static unsigned instruction_count;
static enumeration enumerations[256];
static unsigned enumeration_count;

static void
fail(const char *what)
{
  fprintf(stderr, "words_generate: %s\n", what);
  exit(1);
}

/* ---- a walk over JSON: finds values by key in an object's text ---- */

/* Returns the position after the value that begins at p. */
static const char *
skip_value(const char *p)
{
  int depth = 0;
  for (;; p++) {
    if (*p == '\0')
      fail("the grammar is cut short");
    if (*p == '"')
      for (p++; *p != '"'; p++)
        p += *p == '\\';
    else if (*p == '{' || *p == '[')
      depth++;
    else if ((*p == '}' || *p == ']') && depth-- == 0)
      return p;
    if (depth == 0 && strchr(",}]", p[1]) && p[1])
      return p + 1;
  }
}

static const char *
skip_blanks(const char *p)
{
  return p + strspn(p, " \t\r\n,");
}

/* Returns the value of `key` in the object at p, or NULL. */
static const char *
find_member(const char *p, const char *key)
{
  const size_t length = strlen(key);
  for (p = skip_blanks(p + 1); *p == '"'; p = skip_blanks(p)) {
    const int found = strncmp(p + 1, key, length) == 0 && p[1 + length] == '"';
    p = strchr(strchr(p + 1, '"'), ':');
    p = skip_blanks(p + 1);
    if (found)
      return p;
    p = skip_value(p);
  }
  return NULL;
}

/* Return the first element of the array at p, and the element after p. Return NULL at the end. */
static const char *
first_of(const char *p)
{
  p = p ? skip_blanks(p + 1) : NULL;
  return p && *p != ']' ? p : NULL;
}

static const char *
next_of(const char *p)
{
  p = skip_blanks(skip_value(p));
  return *p != ']' ? p : NULL;
}

static void
read_string(const char *object, const char *key, char *out, size_t capacity)
{
  const char *p = find_member(object, key);
  size_t length = 0;
  if (p && *p == '"')
    for (p++; p[length] && p[length] != '"' && length + 1 < capacity;)
      length++;
  if (p)
    memcpy(out, p, length);
  out[length] = '\0';
}

/* ---- output ---- */

static enumeration *
find_enumeration(const char *kind)
{
  for (unsigned i = 0; i < enumeration_count; i++)
    if (strcmp(enumerations[i].kind, kind) == 0)
      return &enumerations[i];
  return NULL;
}

static char
letter_of(const char *kind)
{
  static const char *const known[][2] = {{"IdResultType", "t"},
                                         {"IdResult", "r"},
                                         {"IdRef", "i"},
                                         {"IdScope", "i"},
                                         {"IdMemorySemantics", "i"},
                                         {"LiteralContextDependentNumber", "n"},
                                         {"LiteralString", "s"},
                                         {"PairIdRefIdRef", "p"},
                                         {"PairLiteralIntegerIdRef", "q"},
                                         {"PairIdRefLiteralInteger", "u"},
                                         {"LiteralSpecConstantOpInteger", "o"}};
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
    if (strcmp(known[i][0], kind) == 0)
      return known[i][1][0];
  const enumeration *e = find_enumeration(kind);
  return e && e->used ? e->letter : 'l';
}

static void
operands_of(const char *object, const char *key, char *out, size_t capacity)
{
  size_t length = 0;
  for (const char *p = first_of(find_member(object, key)); p; p = next_of(p)) {
    char kind[64], quantifier[8];
    read_string(p, "kind", kind, sizeof(kind));
    read_string(p, "quantifier", quantifier, sizeof(quantifier));
    if (length + 3 > capacity)
      fail("an instruction has more operands than there is room for");
    out[length++] = letter_of(kind);
    if (quantifier[0])
      out[length++] = quantifier[0];
  }
  out[length] = '\0';
}

/* Copies an operand string of newer.def, and replaces each enumeration's name by its letter. */
static void
newer_operands(const char *from, char *out, size_t capacity)
{
  size_t length = 0;
  for (; *from; from++) {
    char kind[64] = "";
    if (*from == '{')
      sscanf(from, "{%63[^}]}", kind);
    const enumeration *e = kind[0] ? find_enumeration(kind) : NULL;
    if (length + 2 > capacity || (kind[0] && (!e || !e->used)))
      fail("newer.def names an enumeration that is not known, or has too many operands");
    out[length++] = e ? e->letter : *from;
    from += kind[0] ? strlen(kind) + 1 : 0;
  }
  out[length] = '\0';
}

/* Adds the enumerations of newer.def. */
static void
add_enumerations(void)
{
  for (size_t i = 0; i < sizeof(newer_values) / sizeof(*newer_values); i++) {
    enumeration *e = find_enumeration(newer_values[i].kind);
    if (!e && enumeration_count == 256)
      fail("more enumerations than there is room for");
    if (!e) {
      e = &enumerations[enumeration_count++];
      snprintf(e->kind, sizeof(e->kind), "%s", newer_values[i].kind);
      e->mask = newer_values[i].mask;
    }
    e->used = 1;
  }
}

static void
read_enumerations(const char *kinds)
{
  for (const char *p = first_of(kinds); p; p = next_of(p)) {
    char category[32];
    read_string(p, "category", category, sizeof(category));
    if (strcmp(category, "BitEnum") != 0 && strcmp(category, "ValueEnum") != 0)
      continue;
    if (enumeration_count == 256)
      fail("more enumerations than there is room for");
    enumeration *e = &enumerations[enumeration_count++];
    read_string(p, "kind", e->kind, sizeof(e->kind));
    e->mask = category[0] == 'B';
    for (const char *v = first_of(find_member(p, "enumerants")); v; v = next_of(v))
      e->used |= first_of(find_member(v, "parameters")) != NULL;
  }
  add_enumerations();
  char letter = 'A';
  for (unsigned i = 0; i < enumeration_count; i++) {
    if (enumerations[i].used && letter > 'Z')
      fail("more enumerations with operands than letters");
    if (enumerations[i].used)
      enumerations[i].letter = letter++;
  }
}

/* Returns whether the grammar has the value, with operands. */
static int
has_value(const char *kinds, const char *kind, unsigned value)
{
  for (const char *p = first_of(kinds); p; p = next_of(p)) {
    char found[64];
    read_string(p, "kind", found, sizeof(found));
    for (const char *v = strcmp(found, kind) == 0 ? first_of(find_member(p, "enumerants")) : NULL; v; v = next_of(v)) {
      const char *number = find_member(v, "value");
      if (number && strtoul(number + (*number == '"'), NULL, 0) == value && first_of(find_member(v, "parameters")))
        return 1;
    }
  }
  return 0;
}

static void
write_enumerations(const char *kinds)
{
  printf("#ifdef WORDS_ENUMERANTS\n");
  for (const char *p = first_of(kinds); p; p = next_of(p)) {
    char kind[64];
    read_string(p, "kind", kind, sizeof(kind));
    const enumeration *e = find_enumeration(kind);
    for (const char *v = e && e->used ? first_of(find_member(p, "enumerants")) : NULL; v; v = next_of(v)) {
      char operands[64];
      const char *value = find_member(v, "value");
      operands_of(v, "parameters", operands, sizeof(operands));
      if (operands[0] && value)
        printf("{'%c', %d, %luu, \"%s\"},\n", e->letter, e->mask, strtoul(value + (*value == '"'), NULL, 0), operands);
    }
  }
  for (size_t i = 0; i < sizeof(newer_values) / sizeof(*newer_values); i++) {
    char operands[64];
    const enumeration *e = find_enumeration(newer_values[i].kind);
    newer_operands(newer_values[i].operands, operands, sizeof(operands));
    if (!has_value(kinds, e->kind, newer_values[i].value))
      printf("{'%c', %d, %uu, \"%s\"},\n", e->letter, e->mask, newer_values[i].value, operands);
  }
  printf("#endif\n");
}

static int
by_opcode(const void *left, const void *right)
{
  const instruction *l = left, *r = right;
  if (l->opcode != r->opcode)
    return (l->opcode > r->opcode) - (l->opcode < r->opcode);
  return strcmp(l->name, r->name);
}

/* Merges newer.def into the instructions of the grammar. */
static void
add_instructions(void)
{
  const unsigned of_grammar = instruction_count;
  for (size_t k = 0; k < sizeof(newer_instructions) / sizeof(*newer_instructions); k++) {
    instruction made = {.opcode = newer_instructions[k].opcode, .effect = newer_instructions[k].effect};
    int known = 0;
    snprintf(made.name, sizeof(made.name), "%s", newer_instructions[k].name);
    newer_operands(newer_instructions[k].operands, made.operands, sizeof(made.operands));
    for (unsigned i = 0; i < of_grammar; i++) {
      if (instructions[i].opcode != made.opcode)
        continue;
      known = 1;
      instructions[i].effect = made.effect;
      if (strlen(made.operands) > strlen(instructions[i].operands))
        memcpy(instructions[i].operands, made.operands, sizeof(made.operands));
    }
    if (!known && instruction_count == MOST)
      fail("more instructions than there is room for");
    if (!known)
      instructions[instruction_count++] = made;
  }
}

/* Returns bit 0 if the instruction has a result, and bit 1 if it has a result type. */
static int
shape_of(const instruction *i)
{
  return strncmp(i->operands, "tr", 2) == 0 ? 3 : i->operands[0] == 'r';
}

/* Returns whether instruction i is the first one with its number. Only the first is written. */
static int
is_first(unsigned i)
{
  return i == 0 || instructions[i].opcode != instructions[i - 1].opcode;
}

static void
write_instructions(const char *list)
{
  for (const char *p = first_of(list); p; p = next_of(p)) {
    const char *opcode = find_member(p, "opcode");
    if (instruction_count == MOST || !opcode)
      fail("an instruction without number, or more than there is room for");
    instruction *i = &instructions[instruction_count++];
    i->opcode = (unsigned)strtoul(opcode, NULL, 0);
    read_string(p, "opname", i->name, sizeof(i->name));
    operands_of(p, "operands", i->operands, sizeof(i->operands));
  }
  add_instructions();
  qsort(instructions, instruction_count, sizeof(*instructions), by_opcode);
  printf("#ifdef WORDS_INSTRUCTIONS\n");
  for (unsigned i = 0; i < instruction_count; i++)
    if (is_first(i))
      printf("{%u, \"%s\", \"%s\", %d, %d},\n", instructions[i].opcode, instructions[i].name, instructions[i].operands,
             shape_of(&instructions[i]), instructions[i].effect);
  printf("#endif\n#ifdef WORDS_SHAPES\n");
  for (unsigned i = 0; i < instruction_count; i++)
    if (is_first(i) && instructions[i].opcode < SHAPES)
      printf("[%u] = %d,\n", instructions[i].opcode, shape_of(&instructions[i]));
  printf("#endif\n");
}

int
main(int argc, char **argv)
{
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  const size_t capacity = 16u << 20;
  text = malloc(capacity);
  if (!file || !text)
    fail("usage: words_generate spirv.core.grammar.json");
  text[fread(text, 1, capacity - 1, file)] = '\0';
  fclose(file);
  const char *top = skip_blanks(text);
  const char *kinds = find_member(top, "operand_kinds"), *list = find_member(top, "instructions");
  if (!kinds || !list)
    fail("this is not a grammar of SPIR-V");
  read_enumerations(kinds);
  write_instructions(list);
  write_enumerations(kinds);
  free(text);
  return 0;
}
