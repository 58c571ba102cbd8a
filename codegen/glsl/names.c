/* Identifiers: what a row or type is called in GLSL.
 *
 * Letters, digits and single underscores are kept; anything else becomes an underscore.  Words of the language, the functions that
 * vyre's text calls, and what is taken already get a number.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 64u

/* Words that no identifier may be, and functions that main may call. */
static const char reserved[] =
    " abs acos acosh active all any asin asinh asm atan atanh atomicAdd atomicAnd atomicCompSwap atomicExchange atomicLoad "
    "atomicMax "
    "atomicMin atomicOr atomicStore atomicXor atomic_uint attribute barrier bitCount bitfieldExtract bitfieldInsert "
    "bitfieldReverse bool "
    "break buffer case cast ceil centroid clamp class coherent common const continue controlBarrier cos cosh cross default degrees "
    "determinant discard distance do dot double doubleBitsToUint64 else enum equal exp exp2 extern external faceforward false "
    "filter "
    "findLSB findMSB fixed flat float float16BitsToUint16 floatBitsToInt floatBitsToUint floor fma for fract frexp goto "
    "greaterThan "
    "greaterThanEqual groupMemoryBarrier half highp if in inline inout input int intBitsToFloat interface invariant inverse "
    "inversesqrt "
    "isinf isnan layout ldexp length lessThan lessThanEqual log log2 long lowp main matrixCompMult max mediump memoryBarrier "
    "memoryBarrierBuffer memoryBarrierShared min mix mod modf namespace noinline noperspective normalize not notEqual out "
    "outerProduct "
    "output pack16 pack32 pack64 packDouble2x32 packHalf2x16 packSnorm2x16 packSnorm4x8 packUnorm2x16 packUnorm4x8 partition patch "
    "pow "
    "precise precision public radians readonly reflect refract resource restrict return round roundEven sample sampler shared "
    "short "
    "sign sin sinh sizeof smooth smoothstep sqrt static step struct subroutine superp switch tan tanh template this transpose true "
    "trunc "
    "typedef uint uint16BitsToFloat16 uint64BitsToDouble uintBitsToFloat umulExtended imulExtended uaddCarry usubBorrow uniform "
    "union "
    "unpack16 unpack32 unpack8 unpackDouble2x32 unpackHalf2x16 unpackSnorm2x16 unpackSnorm4x8 unpackUnorm2x16 unpackUnorm4x8 "
    "unsigned "
    "using varying void volatile while writeonly ";

static bool
is_reserved(const char *word)
{
  char spaced[LONGEST + 16];
  static const char *const types[] = {"vec",      "mat", "image", "sampler", "texture", "gl_",
                                      "subgroup", "int", "uint",  "float",   "vyre_"};
  const char *tail = word + (*word && strchr("biudf", *word) && strncmp(word + 1, "vec", 3) == 0 ? 1 : 0);
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
    if (strncmp(word, types[i], strlen(types[i])) == 0 || strncmp(tail, types[i], strlen(types[i])) == 0)
      return true; /* more than there are, but none that there is not */
  snprintf(spaced, sizeof(spaced), " %s ", word);
  return strstr(reserved, spaced) != NULL;
}

static uint32_t
slot_of(const char *word)
{
  uint32_t hash = 2166136261u;
  for (; *word; word++)
    hash = (hash ^ (unsigned char)*word) * 16777619u;
  return hash >> 24;
}

static bool
is_taken(const glsl *g, const char *word)
{
  for (uint32_t i = g->slots[slot_of(word)]; i; i = g->words[i].next)
    if (strcmp(glsl_text(g, g->words[i].text), word) == 0)
      return true;
  return false;
}

/* Takes "scope.word" or, in scope 0, "word"; the offset of the word. */
static uint32_t
take(glsl *g, const char *key, size_t scope_length)
{
  const uint32_t text = (uint32_t)g->pool.size, slot = slot_of(key);
  if (g->word_count + 1 >= g->word_capacity) {
    const uint32_t capacity = g->word_capacity ? g->word_capacity * 2 : 64;
    glsl_word *grown = glsl_resize(g, g->words, g->word_capacity * sizeof(*grown), capacity * sizeof(*grown));
    if (!grown)
      return 0;
    g->words = grown;
    g->word_capacity = capacity;
  }
  if (!g->status)
    g->status = vyre_bytes_append(&g->pool, key, strlen(key) + 1);
  if (g->status)
    return 0;
  g->words[++g->word_count] = (glsl_word){text, g->slots[slot]};
  g->slots[slot] = g->word_count;
  return text + (uint32_t)scope_length;
}

bool
glsl_take_word(glsl *g, const char *word)
{
  return !is_taken(g, word) && take(g, word, 0) != 0;
}

/* What is left of `base` when only letters, digits and single underscores are; its length. */
static size_t
clean(const char *base, char *word)
{
  size_t n = 0;
  if (*base >= '0' && *base <= '9')
    word[n++] = '_';
  for (; *base && n < LONGEST; base++) {
    const bool kept = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') || (*base >= '0' && *base <= '9');
    if (kept)
      word[n++] = *base;
    else if (n > 0 && word[n - 1] != '_')
      word[n++] = '_';
  }
  word[n] = '\0';
  return n;
}

uint32_t
glsl_identifier(glsl *g, const char *base, uint32_t scope)
{
  char key[LONGEST + 48];
  const size_t prefix = scope ? (size_t)snprintf(key, sizeof(key), "%u.", scope) : 0;
  char *word = key + prefix;
  size_t n = clean(base, word);
  if (n > 0 && !is_reserved(word) && !is_taken(g, key))
    return take(g, key, prefix);
  if (n == 0 || is_reserved(word)) {
    memmove(word + 1, word, n + 1);
    word[0] = 'v';
    n++;
  }
  if (word[n - 1] >= '0' && word[n - 1] <= '9' && n < LONGEST)
    word[n++] = '_';
  uint32_t first = 0, *number = n == 1 && !scope ? &g->next_unnamed : &first;
  for (;;) {
    snprintf(word + n, 16, "%u", (*number)++);
    if (!is_reserved(word) && !is_taken(g, key))
      return take(g, key, prefix);
  }
}

const char *
glsl_text(const glsl *g, uint32_t name)
{
  return g->pool.data ? g->pool.data + name : "";
}

const char *
glsl_row_name(glsl *g, uint32_t row)
{
  uint32_t *name = &g->name[row - g->program];
  if (!*name) {
    const char *own = vyre_row_name(g->module, (vyre_row){row});
    *name = glsl_identifier(g, own ? own : "", 0);
  }
  return glsl_text(g, *name);
}
