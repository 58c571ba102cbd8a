/* Reads properties of a kernel's PTX before the driver gets it.
 *
 * At a launch, the driver copies as many bytes of parameters as the text declares, and detects no mismatch. So the declared
 * parameters are compared with the description: PTX ISA 7.8, "Kernel Function Parameters". Other errors of the text are left to
 * the driver.
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
is_word_char(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

/* Reads the next token: a word or a single character. At the end of the text the token is empty. */
static scan
next_token(scan *s)
{
  skip_space(s);
  scan token = {s->at, s->at};
  while (s->at < s->end && is_word_char(*s->at))
    s->at++;
  if (s->at == token.at && s->at < s->end)
    s->at++;
  token.end = s->at;
  return token;
}

static bool
token_is(scan token, const char *text)
{
  return (size_t)(token.end - token.at) == strlen(text) && memcmp(token.at, text, strlen(text)) == 0;
}

static uint64_t
parse_number(scan token)
{
  uint64_t value = 0;
  for (; token.at < token.end && isdigit((unsigned char)*token.at); token.at++)
    value = value < UINT32_MAX ? 10 * value + (uint64_t)(*token.at - '0') : value;
  return value;
}

/* ---- parameters ---------------------------------------------------------------------------------------------------------- */

/* Returns the bytes of a type such as ".u64", or 0 if the token is not a type. */
static uint64_t
size_of_type(scan token)
{
  if (token.end - token.at < 3 || token.at[0] != '.' || !strchr("usbf", token.at[1]))
    return 0;
  const scan bits = {token.at + 2, token.end};
  const uint64_t size = parse_number(bits);
  return size % 8 ? 0 : size / 8;
}

enum { MOST_PARAMETERS = 8 };

typedef struct parameters {
  uint32_t count;
  uint64_t sizes[MOST_PARAMETERS];
} parameters;

/* Reads a parameter such as ".param .align 8 .b8 name[16]", and returns the comma or parenthesis after it. */
static scan
read_parameter(scan *s, uint64_t *out_size)
{
  scan token = next_token(s);
  uint64_t size = 0, elements = 1;
  for (; token.at < token.end && !token_is(token, ",") && !token_is(token, ")"); token = next_token(s)) {
    if (token_is(token, ".align") || token_is(token, ".ptr"))
      next_token(s);
    else if (token_is(token, "["))
      elements = parse_number(next_token(s));
    else if (size_of_type(token))
      size = size_of_type(token);
  }
  *out_size = size * elements;
  return token;
}

/* Skips past the entry's name. Returns false if the text has no such entry. */
static bool
find_entry(scan *s, const char *name)
{
  for (scan token = next_token(s); token.at < token.end; token = next_token(s))
    if (token_is(token, ".entry") && token_is(next_token(s), name))
      return true;
  return false;
}

static parameters
read_parameters(scan s)
{
  parameters found = {0};
  scan token = next_token(&s);
  if (!token_is(token, "("))
    return found;
  while (token.at < token.end && !token_is(token, ")")) {
    uint64_t size;
    token = read_parameter(&s, &size);
    if (size && found.count < MOST_PARAMETERS)
      found.sizes[found.count++] = size;
  }
  return found;
}

/* ---- the whole text ------------------------------------------------------------------------------------------------------ */

/* Returns the number of braces that are still open at the end of the text. Ignores comments. */
static int64_t
count_braces(scan s)
{
  int64_t depth = 0;
  for (scan token = next_token(&s); token.at < token.end; token = next_token(&s))
    depth += token_is(token, "{") ? 1 : token_is(token, "}") ? -1 : 0;
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
    is_same = is_same && wanted.sizes[i] == (has->sizes[i] + 3) / 4 * 4; /* push constants are rounded up to whole words */
    total = (total + 15) / 16 * 16 + wanted.sizes[i];
  }
  if (total > VYRE_PTX_PARAMETERS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' has %llu bytes of parameters, but CUDA allows %d\n"
                      "Fix: use fewer buffers or push constants",
                      desc->label, (unsigned long long)total, VYRE_PTX_PARAMETERS);
  if (is_same)
    return VYRE_OK;
  return VYRE_ERROR(
      VYRE_CODE_INPUT,
      "cuda: kernel '%s': the entry '%s' has %u parameters of %llu, %llu and %llu bytes, but the description needs %u of "
      "%llu, %llu and %llu bytes\n"
      "Fix: pass the slots and push constants of the program that the text was compiled from",
      desc->label, desc->entry, has->count, (unsigned long long)has->sizes[0], (unsigned long long)has->sizes[1],
      (unsigned long long)has->sizes[2], wanted.count, (unsigned long long)wanted.sizes[0], (unsigned long long)wanted.sizes[1],
      (unsigned long long)wanted.sizes[2]);
}

vyre_status
cuda_text_read(const vyre_kernel_desc *desc, cuda_text *out)
{
  const char *code = desc->code;
  const scan all = {code, code + desc->size};
  scan first = all, entry = all;
  if (memchr(code, '\0', desc->size))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' has a zero byte in its PTX\nFix: pass the text without its terminating zero", desc->label);
  if (!token_is(next_token(&first), ".version") || count_braces(all) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cuda: kernel '%s' is not complete PTX text: it does not begin with .version, or a brace is not closed\n"
                      "Fix: pass the whole text",
                      desc->label);
  if (!find_entry(&entry, desc->entry))
    return VYRE_ERROR(VYRE_CODE_INPUT, "cuda: kernel '%s' has no entry '%s' in its PTX\nFix: use an entry that it has", desc->label,
                      desc->entry);
  out->has_grid_barriers = contains(all, "// grid barrier");
  out->has_faults = contains(all, "// fault");
  const parameters has = read_parameters(entry);
  return check_parameters(desc, &has);
}
