/* Writes the kept entry points of other stages than compute (spirv/import/module/stages.c) after the programs, with new ids.
 *
 * A type of the programs is shared, because SPIR-V forbids duplicate types other than aggregates and pointers.  Constants without
 * decorations and debug information are shared, too.  All other instructions are written again; there may be several variables of
 * one binding and several specialization constants of one number.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/debug/debug.h"

#include <string.h>

/* FORWARD: used before its declaration; STRIPPED: a set that -strip removes */
enum { DECORATED = 1, FORWARD = 2, STRING = 4, STRIPPED = 8 };

typedef struct stages {
  vyre_spv *s;
  const vyre_word_list *kept;
  uint8_t *kinds; /* of the current instruction */
  uint32_t bound;
  uint32_t *ids; /* id in the output by id in the input, or 0 */
  uint8_t *marks;
} stages;

/* Returns whether it is an instruction that the input always keeps (debug.c). */
static bool
is_debug(const uint32_t *words)
{
  const uint32_t op = words[0] & 0xffffu;
  return vyre_words_is_debug(words) || vyre_words_is_reflected(words) || op == SpvOpString || op == SpvOpSource ||
         op == SpvOpSourceContinued || op == SpvOpSourceExtension || op == SpvOpModuleProcessed;
}

static bool
is_decoration(uint32_t op)
{
  return op == SpvOpDecorate || op == SpvOpDecorateId || op == SpvOpDecorateString || op == SpvOpMemberDecorate ||
         op == SpvOpMemberDecorateString;
}

/* Returns whether there are kept entry points, and SPIR-V's grammar has all of their instructions.  Finds the id bound.  debug.c
 * writes the other kept instructions. */
static bool
check(stages *g)
{
  bool any = false;
  for (uint32_t at = 0, count; at < g->kept->count; at += count) {
    const uint32_t *words = g->kept->words + at, op = words[0] & 0xffffu;
    count = words[0] >> 16;
    if (count == 0 || count > g->kept->count - at)
      return false;
    if (is_debug(words))
      continue;
    any = true;
    if (!g->kinds)
      g->kinds = vyre_spv_memory(g->s, 0x10000);
    if (!g->kinds || !vyre_words_kinds(words, count, g->kinds)) {
      vyre_spv_fail(g->s, "instruction %u of the entry points of other stages is not valid SPIR-V\nFix: read the module again", op);
      return false;
    }
    for (uint32_t k = 1; k < count; k++) {
      if (g->kinds[k] == VYRE_WORD_KIND_LITERAL)
        continue;
      if (words[k] == 0 || words[k] >= VYRE_WORDS_MOST_IDS) {
        vyre_spv_fail(g->s, "an instruction of the entry points of other stages has the invalid id %u\nFix: read the module again",
                      words[k]);
        return false;
      }
      g->bound = words[k] >= g->bound ? words[k] + 1 : g->bound;
    }
  }
  return any;
}

static const char *
set_of(const uint32_t *import)
{
  size_t length;
  return vyre_words_string(import + 2, (import[0] >> 16) - 2, &length);
}

static bool
make_maps(stages *g)
{
  g->ids = vyre_spv_memory(g->s, g->bound * sizeof(*g->ids));
  g->marks = vyre_spv_memory(g->s, g->bound);
  if (!g->ids || !g->marks)
    return false;
  memset(g->ids, 0, g->bound * sizeof(*g->ids));
  memset(g->marks, 0, g->bound);
  for (uint32_t at = 0; at < g->kept->count; at += g->kept->words[at] >> 16) {
    const uint32_t *words = g->kept->words + at, op = words[0] & 0xffffu;
    if (is_decoration(op))
      g->marks[words[1]] |= DECORATED;
    if (op == SpvOpTypeForwardPointer)
      g->marks[words[1]] |= FORWARD;
    if (op == SpvOpString && words[0] >> 16 > 1 && words[1] < g->bound)
      g->marks[words[1]] |= STRING;
    const char *set = op == SpvOpExtInstImport ? set_of(words) : NULL;
    if (set && vyre_words_set_says_nothing(set))
      g->marks[words[1]] |= STRIPPED;
  }
  return true;
}

static uint32_t
id_of(stages *g, uint32_t id)
{
  if (!g->ids[id])
    g->ids[id] = g->marks[id] & STRING ? vyre_spv_string(g->s, id) : g->s->next_id++;
  return g->ids[id];
}

/* Returns whether equal instructions may, or must, be one. */
static bool
is_shared(const stages *g, uint32_t op, uint32_t result)
{
  if (g->ids[result] || g->marks[result])
    return false;
  switch (op) {
  case SpvOpTypeStruct:
  case SpvOpTypeArray:
  case SpvOpTypeRuntimeArray:
    return false;
  case SpvOpConstant:
  case SpvOpConstantTrue:
  case SpvOpConstantFalse:
  case SpvOpConstantNull:
  case SpvOpConstantComposite:
    return true;
  default:
    return vyre_words_is_type(op);
  }
}

/* Returns the id that debug_info.c wrote for the set, or for an instruction of a set, or 0. */
static uint32_t
debug_of(stages *g, const uint32_t *words)
{
  const uint32_t op = words[0] & 0xffffu;
  if (!g->s->debug_set)
    return 0;
  if (op == SpvOpExtInst)
    return vyre_spv_made_of(g->s, VYRE_SPV_A_DEBUG, words[2], 0)->id;
  const char *name = op == SpvOpExtInstImport ? set_of(words) : NULL;
  return name && strcmp(name, VYRE_DEBUG_SET) == 0 ? g->s->debug_set : 0;
}

/* Returns whether -strip removes the instruction. */
static bool
is_stripped(const stages *g, const uint32_t *words)
{
  const uint32_t op = words[0] & 0xffffu;
  return g->s->strip && (op == SpvOpLine || op == SpvOpNoLine || (op == SpvOpExtInstImport && g->marks[words[1]] & STRIPPED) ||
                         (op == SpvOpExtInst && g->marks[words[3]] & STRIPPED));
}

/* Appends the instruction with new ids to `to`, unless it may be shared and an equal one exists. */
static void
put(stages *g, vyre_spv_words *to, const uint32_t *words)
{
  const uint32_t count = words[0] >> 16, op = words[0] & 0xffffu;
  vyre_spv_words *scratch = &g->s->scratch;
  uint32_t result = 0;
  bool typed = false;
  (void)vyre_words_kinds(words, count, g->kinds);
  for (uint32_t k = 1; k < count; k++) {
    typed |= g->kinds[k] == VYRE_WORD_KIND_TYPE;
    result = g->kinds[k] == VYRE_WORD_KIND_RESULT ? words[k] : result;
  }
  const uint32_t debug = to == &g->s->globals || to == &g->s->imports ? debug_of(g, words) : 0;
  if (debug) {
    g->ids[result] = debug;
    return;
  }
  const bool shared = to == &g->s->globals && result && is_shared(g, op, result);
  scratch->count = 0;
  for (uint32_t k = 1; k < count; k++)
    if (!shared || g->kinds[k] != VYRE_WORD_KIND_RESULT)
      vyre_spv_push(g->s, scratch, g->kinds[k] == VYRE_WORD_KIND_LITERAL ? words[k] : id_of(g, words[k]));
  if (shared)
    g->ids[result] = vyre_spv_intern(g->s, op, typed, scratch->data, scratch->count, NULL, 0, NULL);
  else
    vyre_spv_instruction(g->s, to, op, scratch->data, scratch->count);
}

/* Returns the section of an instruction before the functions, or NULL if it is not written. */
static vyre_spv_words *
section_of(vyre_spv *s, const uint32_t *words)
{
  const uint32_t op = words[0] & 0xffffu;
  switch (op) {
  case SpvOpEntryPoint:
    return &s->entries;
  case SpvOpExecutionMode:
  case SpvOpExecutionModeId:
    return &s->modes;
  case SpvOpExtInstImport:
    return &s->imports;
  case SpvOpName:
  case SpvOpMemberName:
    return s->strip ? NULL : &s->names;
  default:
    return is_decoration(op) ? &s->decorations : &s->globals;
  }
}

void
vyre_spv_stages(vyre_spv *s, const vyre_input *input)
{
  stages g = {.s = s, .kept = &input->kept};
  if (vyre_spv_failed(s) || !check(&g) || !make_maps(&g))
    return;
  for (int declared = 0; declared < 2; declared++) /* declarations first, because they may be shared */
    for (uint32_t at = 0, inside = 0; at < g.kept->count && !vyre_spv_failed(s); at += g.kept->words[at] >> 16) {
      const uint32_t *words = g.kept->words + at, op = words[0] & 0xffffu;
      inside |= op == SpvOpFunction;
      vyre_spv_words *to = is_debug(words) ? NULL : inside ? &s->code : section_of(s, words);
      if (to && declared == (to != &s->globals && to != &s->imports) && !is_stripped(&g, words))
        put(&g, to, words);
      inside &= op != SpvOpFunctionEnd;
    }
}
