/* Writes helper functions above the programs.  The first use of a helper with a kind writes the function for that kind, after the
 * helpers that the function calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <stdio.h>

static const cgen_helper *const tables[] = {cgen_integer_helpers, cgen_float_helpers, cgen_memory_helpers};

/* Returns the helper of that name and kind, and its number.  Returns NULL if no helper has that name and kind. */
static const cgen_helper *
find(const char *name, size_t length, vyre_kind kind, uint32_t *out_number)
{
  *out_number = 0;
  for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
    for (const cgen_helper *h = tables[t]; h->name; h++, ++*out_number)
      if (strlen(h->name) == length && memcmp(h->name, name, length) == 0 && (h->kind == VYRE_VOID || h->kind == kind))
        return h;
  return NULL;
}

static vyre_kind
kind_of_suffix(const char *suffix, size_t length)
{
  for (uint32_t kind = VYRE_BOOL; kind < VYRE_KIND__COUNT; kind++)
    if (vyre_kind_is_scalar((vyre_kind)kind) && strlen(cgen_suffix((vyre_kind)kind)) == length &&
        memcmp(cgen_suffix((vyre_kind)kind), suffix, length) == 0)
      return (vyre_kind)kind;
  return VYRE_VOID;
}

static size_t
word_length(const char *text)
{
  return strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
}

/* Returns the kind of a function's name in a text: "#name_f64" has its own kind, "@name" the kind of the helper. */
static vyre_kind
read_name(const char *text, vyre_kind kind, size_t *out_length)
{
  size_t length = word_length(text + 1);
  if (*text == '#') {
    size_t end = length;
    while (length > 0 && text[length] != '_')
      length--;
    kind = kind_of_suffix(text + length + 1, end - length);
    length--;
  }
  *out_length = length;
  return kind;
}

static void need(cgen *g, const char *name, size_t length, vyre_kind kind);

static void
need_all_in(cgen *g, const char *text, vyre_kind kind)
{
  const bool is_float = vyre_kind_is_float(kind);
  for (const char *at = text; *at; at++) {
    size_t length;
    if (*at == '@' || *at == '#') {
      const vyre_kind other = read_name(at, kind, &length);
      need(g, at + 1, length, other);
    } else if (*at == '$' && at[1] == 'R' && kind == VYRE_F16) {
      need(g, "nearest", 7, VYRE_F16);
    } else if (*at == '$' && at[1] == 'D' && is_float && kind != VYRE_F16) {
      need(g, "bits", 4, kind);
    } else if (*at == '$' && at[1] == 'I' && is_float) {
      if (kind == VYRE_F16)
        need(g, "value", 5, kind);
      else
        need(g, "of_bits", 7, kind);
    }
  }
}

/* Returns the replacement of $ and the letter. */
static const char *
placeholder(char letter, vyre_kind kind, char buffer[32])
{
  const uint32_t bits = vyre_kind_bits(kind);
  const bool wide = bits == 64, single = kind == VYRE_F32;
  switch (letter) {
  case 'U':
  case 'M':
    snprintf(buffer, 32, "uint%u_t", bits);
    return buffer;
  case 'S':
    snprintf(buffer, 32, "int%u_t", bits);
    return buffer;
  case 'P':
    return wide ? "uint64_t" : "uint32_t";
  case 'X':
    return wide ? "vyre_i128" : "int64_t";
  case 'Y':
    return wide ? "vyre_u128" : "uint64_t";
  case 'N':
    snprintf(buffer, 32, "%uu", bits);
    return buffer;
  case 'C':
    snprintf(buffer, 32, "0x1p%u", bits - 1);
    return buffer;
  case 'T':
    return single ? "float" : "double";
  case 'f':
    return single ? "f" : "";
  case 'R':
    return kind == VYRE_F16 ? "vyre_nearest_f16" : "";
  case 'D':
    return kind == VYRE_F16 ? "" : single ? "vyre_bits_f32" : "vyre_bits_f64";
  case 'I':
    return kind == VYRE_F16 ? "vyre_value_f16" : single ? "vyre_of_bits_f32" : "vyre_of_bits_f64";
  default:
    return "?";
  }
}

static void
expand(cgen *g, const cgen_helper *h, vyre_kind kind)
{
  char buffer[32];
  cgen_put(g, "static inline ");
  for (const char *at = h->text; *at;) {
    size_t length;
    if (*at == '$') {
      cgen_put(g, "%s", placeholder(at[1], kind, buffer));
      at += 2;
    } else if (*at == '@' || *at == '#') {
      const vyre_kind other = read_name(at, kind, &length);
      cgen_put(g, "vyre_%.*s_%s", (int)length, at + 1, cgen_suffix(other));
      at += 1 + word_length(at + 1);
    } else if (strncmp(at, "NAME", 4) == 0) {
      cgen_put(g, "vyre_%s_%s", h->name, cgen_suffix(kind));
      at += 4;
    } else {
      length = strcspn(at + 1, "$@#N") + 1;
      cgen_put(g, "%.*s", (int)length, at);
      at += length;
    }
  }
  cgen_put(g, "\n");
}

static void
need(cgen *g, const char *name, size_t length, vyre_kind kind)
{
  uint32_t number;
  const cgen_helper *h = find(name, length, kind, &number);
  vyre_bytes *out = g->w.out;
  if (!h || number >= CGEN_HELPERS) {
    cgen_fail(g, g->program,
              "internal error: no C helper function '%.*s' of kind %s\n"
              "Fix: report this as a bug of vyre",
              (int)length, name, cgen_suffix(kind));
    return;
  }
  if (g->file->helped[number] >> kind & 1)
    return;
  g->file->helped[number] |= UINT32_C(1) << kind;
  need_all_in(g, h->text, kind);
  g->w.out = &g->file->helpers;
  cgen_mark(g, &g->file->helper_marks, CGEN_MARK_BLOCK);
  expand(g, h, kind);
  g->w.out = out;
}

void
cgen_need(cgen *g, const char *name, vyre_kind kind)
{
  need(g, name, strlen(name), cgen_plain(kind));
}

void
cgen_call(cgen *g, const char *name, vyre_kind kind)
{
  cgen_need(g, name, kind);
  cgen_put(g, "vyre_%s_%s(", name, cgen_suffix(cgen_plain(kind)));
}
