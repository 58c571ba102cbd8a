/* Identifiers.
 *
 * A row without a name is v and its number.  Names of rows are unique in their program.  A row's number is appended to a name
 * that C reserves, that is not an identifier, or that may equal a generated one (v12, sum_x, sum_n, vyre_load_u32): sum_x
 * becomes sum_x_r12.  So identifiers are unique without a table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <stdio.h>

/* Keywords, names of the headers, and functions that the text calls. */
static const char keywords[] =
    " auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof "
    "bool true false memcpy memset fabs fabsf fmod floor floorf ceil ceilf trunc truncf nearbyint nearbyintf sqrt sqrtf "
    "fma fmaf rintf copysign copysignf signbit isnan isinf isfinite ldexp frexp modf sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh exp exp2 log log2 atan2 pow main linux unix i386 ";

/* Local variables of the text. */
static const char own[] =
    " d g gx n alone begin until rest inside at to of to_in of_in li lx ly lz wx wy wz where first last lane from "
    "sum any self vote same mask leader ";

static bool
may_begin(char c)
{
  return code_is_letter(c) || c == '_';
}

bool
cgen_clean_name(const char *text, char name[CODE_NAME])
{
  return code_clean_name(text, "v_", may_begin, name);
}

static bool
is_one_of(const char *words, const char *name)
{
  char spaced[CODE_NAME + 3];
  snprintf(spaced, sizeof(spaced), " %s ", name);
  return strstr(words, spaced) != NULL;
}

static bool
ends_with(const char *name, const char *end)
{
  return strlen(name) > strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0;
}

bool
cgen_is_reserved(const char *name)
{
  return is_one_of(keywords, name) || strncmp(name, "vyre_", 5) == 0 || name[0] == '_' || ends_with(name, "_t") || /* as int32_t */
         ends_with(name, "_groups") || ends_with(name, "_state") || ends_with(name, "_n") || /* a function's own definitions */
         strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(name);              /* macros */
}

/* Returns whether a row's name may equal a generated identifier. */
static bool
is_risky(const char *name)
{
  const char *end = strrchr(name, '_');
  if (cgen_is_reserved(name) || is_one_of(own, name))
    return true;
  if (name[0] == 'v' && name[1] && name[1 + strspn(name + 1, "0123456789")] == '\0')
    return true;
  if (!end)
    return false;
  if (strchr("xyzwn", end[1]) && end[1] && !end[2])
    return true;
  end += end[1] == 'r';
  return end[1 + strspn(end + 1, "0123456789")] == '\0';
}

const char *
cgen_name(const cgen *g, uint32_t row, char name[CODE_NAME])
{
  const char *given = vyre_row_name(g->module, (vyre_row){row});
  const uint32_t number = row - g->program;
  if (!given || !*given) {
    snprintf(name, CODE_NAME, "v%u", number);
    return name;
  }
  if (!cgen_clean_name(given, name) || is_risky(name)) {
    const size_t length = strlen(name);
    snprintf(name + length, CODE_NAME - length, "_r%u", number);
  }
  return name;
}

void
cgen_put_name(cgen *g, uint32_t row, uint32_t part, uint32_t lane)
{
  const bool spilled = g->spilled[row - g->program] != 0;
  char name[CODE_NAME];
  cgen_put(g, "%s%s", spilled ? "g." : "", cgen_name(g, row, name));
  if (part != UINT32_MAX)
    cgen_put(g, "_%u", part);
  if (lane != UINT32_MAX)
    cgen_put(g, "_%c", "xyzw"[lane & 3u]);
  cgen_put(g, spilled ? "[li]" : "");
}
