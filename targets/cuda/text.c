/* What is read of a kernel's PTX before the driver sees it.
 *
 * The driver takes a kernel's parameters from wherever a launch points to, as many bytes as the text says, and tells of nothing
 * that is wrong there.  So the text's parameters are held against the description: PTX ISA 7.8, "Kernel Function Parameters".
 * Nothing else of PTX is understood here; the rest is the driver's to refuse.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct scan {
  const char *at, *end;
} scan;

/* ---- tokens -------------------------------------------------------------------------------------------------------------- */

static bool
starts_with(const scan *s, const char *text)
{
  const size_t length = strlen(text);
  return (size_t)(s->end - s->at) >= length && memcmp(s->at, text, length) == 0;
}

static void
skip_past(scan *s, const char *text)
{
  while (s->at < s->end && !starts_with(s, text))
    s->at++;
  s->at += s->at < s->end ? strlen(text) : 0;
}

static void
skip_space(scan *s)
{
  for (;;) {
    while (s->at < s->end && isspace((unsigned char)*s->at))
      s->at++;
    if (starts_with(s, "//"))
      skip_past(s, "\n");
    else if (starts_with(s, "/*"))
      skip_past(s, "*/");
    else
      return;
  }
}

static bool
is_of_word(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

/* The next word, or one character that is of none; of nothing when the text is over. */
static scan
take(scan *s)
{
  skip_space(s);
  scan token = {s->at, s->at};
  while (s->at < s->end && is_of_word(*s->at))
    s->at++;
  if (s->at == token.at && s->at < s->end)
    s->at++;
  token.end = s->at;
  return token;
}

static bool
is(scan token, const char *text)
{
  return (size_t)(token.end - token.at) == strlen(text) && memcmp(token.at, text, strlen(text)) == 0;
}

static uint64_t
number(scan token)
{
  uint64_t value = 0;
  for (; token.at < token.end && isdigit((unsigned char)*token.at); token.at++)
    value = value < UINT32_MAX ? 10 * value + (uint64_t)(*token.at - '0') : value;
  return value;
}

/* ---- parameters ---------------------------------------------------------------------------------------------------------- */

/* Bytes of ".u64" and the like; 0: it is no type. */
static uint64_t
size_of_type(scan token)
{
  if (token.end - token.at < 3 || token.at[0] != '.' || !strchr("usbf", token.at[1]))
    return 0;
  const scan bits = {token.at + 2, token.end};
  const uint64_t size = number(bits);
  return size % 8 ? 0 : size / 8;
}

enum { MOST_PARAMETERS = 8 };

typedef struct parameters {
  uint32_t count;
  uint64_t sizes[MOST_PARAMETERS];
} parameters;

/* ".param .align 8 .b8 name[16]", up to the comma or the parenthesis after it, which it returns. */
static scan
read_parameter(scan *s, uint64_t *out_size)
{
  scan token = take(s);
  uint64_t size = 0, elements = 1;
  for (; token.at < token.end && !is(token, ",") && !is(token, ")"); token = take(s)) {
    if (is(token, ".align") || is(token, ".ptr"))
      take(s);
    else if (is(token, "["))
      elements = number(take(s));
    else if (size_of_type(token))
      size = size_of_type(token);
  }
  *out_size = size * elements;
  return token;
}

/* Goes past the entry's name; false: the text has none of that name. */
static bool
find_entry(scan *s, const char *name)
{
  for (scan token = take(s); token.at < token.end; token = take(s))
    if (is(token, ".entry") && is(take(s), name))
      return true;
  return false;
}

static parameters
read_parameters(scan s)
{
  parameters found = {0};
  scan token = take(&s);
  if (!is(token, "("))
    return found;
  while (token.at < token.end && !is(token, ")")) {
    uint64_t size;
    token = read_parameter(&s, &size);
    if (size && found.count < MOST_PARAMETERS)
      found.sizes[found.count++] = size;
  }
  return found;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

/* Braces that are open at the end, and what comments say. */
static int64_t
count_braces(scan s)
{
  int64_t depth = 0;
  for (scan token = take(&s); token.at < token.end; token = take(&s))
    depth += is(token, "{") ? 1 : is(token, "}") ? -1 : 0;
  return depth;
}

static bool
contains(scan s, const char *text)
{
  while (s.at < s.end && !starts_with(&s, text))
    s.at++;
  return s.at < s.end;
}

static vyre_status
check_parameters(const vyre_kernel_desc *desc, const parameters *has)
{
  uint64_t descriptors = 0;
  for (uint32_t i = 0; i < desc->slot_count; i++)
    descriptors += target_slot_count(&desc->slots[i]);
  parameters wanted = {.count = 1, .sizes = {sizeof(uint64_t)}};
  if (descriptors)
    wanted.sizes[wanted.count++] = sizeof(vyre_ptx_buffer) * descriptors;
  if (desc->push_size)
    wanted.sizes[wanted.count++] = desc->push_size;
  bool is_same = wanted.count == has->count;
  uint64_t total = 0;
  for (uint32_t i = 0; i < wanted.count; i++) {
    is_same = is_same && wanted.sizes[i] == (has->sizes[i] + 3) / 4 * 4; /* push constants are given as whole words */
    total = (total + 15) / 16 * 16 + wanted.sizes[i];
  }
  if (total > VYRE_PTX_PARAMETERS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' has %llu bytes of parameters, and CUDA takes %d\n"
                      "Fix: use fewer buffers, or less push constants",
                      desc->label, (unsigned long long)total, VYRE_PTX_PARAMETERS);
  if (is_same)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "cuda: kernel '%s': the entry '%s' has %u parameters, of %llu, %llu and %llu bytes, and the description makes "
                    "them %u, of %llu, %llu and %llu\n"
                    "Fix: give the slots and push constants of the program that the text was written from",
                    desc->label, desc->entry, has->count, (unsigned long long)has->sizes[0], (unsigned long long)has->sizes[1],
                    (unsigned long long)has->sizes[2], wanted.count, (unsigned long long)wanted.sizes[0],
                    (unsigned long long)wanted.sizes[1], (unsigned long long)wanted.sizes[2]);
}

vyre_status
cuda_text_read(const vyre_kernel_desc *desc, cuda_text *out)
{
  const char *code = desc->code;
  const scan all = {code, code + desc->size};
  scan first = all, entry = all;
  if (memchr(code, '\0', desc->size))
    return VYRE_ERROR(VYRE_CODE_INPUT, "cuda: kernel '%s' has a byte 0 in its PTX\nFix: give its text without an end", desc->label);
  if (!is(take(&first), ".version") || count_braces(all) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' is no whole PTX text: it begins without .version, or a brace is not closed\n"
                      "Fix: give the text as it was written, all of it",
                      desc->label);
  if (!find_entry(&entry, desc->entry))
    return VYRE_ERROR(VYRE_CODE_INPUT, "cuda: kernel '%s' has no entry '%s' in its PTX\nFix: give the name of one that it has",
                      desc->label, desc->entry);
  out->meets = contains(all, "// grid barrier");
  out->tells = contains(all, "// fault");
  const parameters has = read_parameters(entry);
  return check_parameters(desc, &has);
}
