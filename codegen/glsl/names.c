/* Identifiers of rows, types and members.
 *
 * Letters, digits and single underscores are kept, and other characters become an underscore.  A number is appended to
 * keywords, to functions that the text calls, and to identifiers in use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <stdio.h>
#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_malloc(size)       glsl_resize(g, NULL, 0, size)
#define uthash_free(memory, size) glsl_resize(g, memory, size, 0)
#include <uthash.h>

#define LONGEST 64u

typedef struct glsl_word {
  UT_hash_handle hh;
  char key[]; /* "word", or "scope.word" */
} glsl_word;

/* Words that are not identifiers. */
static const char keywords[] =
    " active asm atomic_uint attribute bool break buffer case cast centroid class coherent common const continue default "
    "discard do double else enum extern external false filter fixed flat float for goto half highp if in inline inout "
    "input int interface invariant layout long lowp mediump namespace noinline noperspective out output partition patch "
    "precise precision public readonly resource restrict return sample sampler shared short sizeof smooth static struct "
    "subroutine superp switch template this true typedef uint uniform union unsigned using varying void volatile while "
    "writeonly ";

/* Functions that main may call.  A variable would hide them, a member does not. */
static const char functions[] =
    " abs acos acosh all any asin asinh atan atanh atomicAdd atomicAnd atomicCompSwap atomicExchange atomicLoad atomicMax "
    "atomicMin atomicOr atomicStore atomicXor barrier bitCount bitfieldExtract bitfieldInsert bitfieldReverse ceil clamp "
    "controlBarrier cos cosh cross degrees determinant distance dot doubleBitsToInt64 doubleBitsToUint64 equal exp exp2 "
    "faceforward findLSB findMSB float16BitsToInt16 float16BitsToUint16 floatBitsToInt floatBitsToUint floor fma fract "
    "frexp greaterThan greaterThanEqual groupMemoryBarrier imulExtended int16BitsToFloat16 int64BitsToDouble "
    "intBitsToFloat inverse inversesqrt isinf isnan ldexp length lessThan lessThanEqual log log2 main matrixCompMult max "
    "memoryBarrier memoryBarrierBuffer memoryBarrierShared min mix mod modf normalize not notEqual outerProduct pack16 "
    "pack32 pack64 packDouble2x32 packHalf2x16 packSnorm2x16 packSnorm4x8 packUint2x32 packUnorm2x16 packUnorm4x8 pow "
    "radians reflect refract round roundEven sign sin sinh smoothstep sqrt step tan tanh transpose trunc uaddCarry "
    "uint16BitsToFloat16 uint64BitsToDouble uintBitsToFloat umulExtended unpack16 unpack32 unpack8 unpackDouble2x32 "
    "unpackHalf2x16 unpackSnorm2x16 unpackSnorm4x8 unpackUint2x32 unpackUnorm2x16 unpackUnorm4x8 usubBorrow ";

/* Returns whether a word begins like a type of GLSL: perhaps a letter, the type's name, and a digit, Buffer or Cube.  Also
 * returns whether it has another reserved prefix. */
static bool
begins_reserved(const char *word)
{
  static const char *const types[] = {"vec", "8vec", "16vec", "64vec", "mat",     "16mat",
                                      "int", "uint", "float", "image", "sampler", "texture"};
  if (strncmp(word, "gl_", 3) == 0 || strncmp(word, "vyre_", 5) == 0 || strncmp(word, "subgroup", 8) == 0)
    return true;
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
    for (uint32_t skip = 0; skip < 2 && word[0]; skip++) {
      const size_t length = strlen(types[i]);
      const char *behind = word + skip + length;
      if (strncmp(word + skip, types[i], length) == 0 &&
          ((*behind >= '0' && *behind <= '9') || strncmp(behind, "Buffer", 6) == 0 || strncmp(behind, "Cube", 4) == 0))
        return true;
    }
  return false;
}

static bool
is_reserved(const char *word, uint32_t scope)
{
  char spaced[LONGEST + 16];
  snprintf(spaced, sizeof(spaced), " %s ", word);
  return strstr(keywords, spaced) || (scope == 0 && strstr(functions, spaced));
}

static bool
is_taken(const glsl *g, const char *key)
{
  const glsl_word *word;
  HASH_FIND_STR(g->words, key, word);
  return word != NULL;
}

static size_t
size_of(const char *key)
{
  return sizeof(glsl_word) + strlen(key) + 1;
}

/* Adds "scope.word", or "word" in scope 0.  Returns the word. */
static const char *
add_word(glsl *g, const char *key, size_t scope_length)
{
  glsl_word *word = glsl_resize(g, NULL, 0, size_of(key));
  if (!word)
    return "";
  memcpy(word->key, key, strlen(key) + 1);
  HASH_ADD_STR(g->words, key, word);
  if (!word->hh.tbl) { /* out of memory */
    glsl_resize(g, word, size_of(key), 0);
    return "";
  }
  return word->key + scope_length;
}

bool
glsl_reserve_word(glsl *g, const char *word)
{
  return !is_taken(g, word) && *add_word(g, word, 0);
}

void
glsl_free_words(glsl *g)
{
  glsl_word *word, *next;
  HASH_ITER(hh, g->words, word, next)
  {
    HASH_DEL(g->words, word);
    glsl_resize(g, word, size_of(word->key), 0);
  }
}

/* Keeps letters, digits and single underscores of `base`.  Returns the length. */
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

const char *
glsl_identifier(glsl *g, const char *base, uint32_t scope)
{
  char key[LONGEST + 48];
  const size_t prefix = scope ? (size_t)snprintf(key, sizeof(key), "%u.", scope) : 0;
  char *word = key + prefix;
  size_t n = clean(base, word);
  if (begins_reserved(word)) {
    memmove(word + 2, word, n + 1);
    memcpy(word, "v_", 2);
    n += 2;
  }
  if (n > 0 && !is_reserved(word, scope) && !is_taken(g, key))
    return add_word(g, key, prefix);
  if (n == 0)
    word[n++] = 'v';
  else if (n < LONGEST && word[n - 1] != '_')
    word[n++] = '_'; /* the word is reserved or in use */
  word[n] = '\0';
  if (n > 1 && !is_reserved(word, scope) && !is_taken(g, key))
    return add_word(g, key, prefix);
  uint32_t first = 0, *number = n == 1 && !scope ? &g->next_unnamed : &first;
  for (;;) {
    snprintf(word + n, 16, "%u", (*number)++);
    if (!is_reserved(word, scope) && !is_taken(g, key))
      return add_word(g, key, prefix);
  }
}

const char *
glsl_row_name(glsl *g, uint32_t row)
{
  const char **name = &g->name[row - g->program];
  if (!*name) {
    const char *own = vyre_row_name(g->module, (vyre_row){row});
    *name = glsl_identifier(g, own ? own : "", 0);
  }
  return *name;
}
