/* Handlers in the user's text: their signatures, and places of messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_SIGNATURE = 512 };

static const char *
name_of_source(const vyre_mega_program *program)
{
  return program->source_name ? program->source_name : "handlers";
}

const char *
mega_function_name(const char *text)
{
  return text && *text == '@' ? text + 1 : text;
}

bool
mega_is_same_function(const vyre_mega_program *program, uint32_t a, uint32_t b)
{
  return strcmp(mega_function_name(program->handlers[a].function), mega_function_name(program->handlers[b].function)) == 0;
}

static bool
is_in_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* Returns the next character that is neither white space nor in a comment. */
static const char *
skip_blank(const char *at)
{
  for (;;) {
    while (isspace((unsigned char)*at))
      at++;
    if (*at != ';')
      return at;
    at += strcspn(at, "\n");
  }
}

/* Returns the text after "func @NAME", or NULL if the source does not declare the function. */
static const char *
find_function(const char *source, const char *name)
{
  const size_t length = strlen(name);
  for (const char *at = skip_blank(source); *at; at = skip_blank(at)) {
    if (strncmp(at, "func", 4) != 0 || is_in_name(at[4]) || (at != source && is_in_name(at[-1]))) {
      at += strcspn(at, " \t\r\n;") ? strcspn(at, " \t\r\n;") : 1;
      continue;
    }
    at = skip_blank(at + 4);
    if (*at == '@' && strncmp(at + 1, name, length) == 0 && !is_in_name(at[1 + length]))
      return at + 1 + length;
  }
  return NULL;
}

/* Writes the types of a signature without white space, comments and names: "(pathu32[],u32)->u32". */
static void
read_signature(const char *at, char out[MOST_SIGNATURE])
{
  size_t n = 0;
  bool is_name = false;
  for (at = skip_blank(at); *at && *at != '{' && n < MOST_SIGNATURE - 1; at = skip_blank(at + 1)) {
    is_name = (is_name || *at == '%') && *at != ':';
    if (!is_name && *at != ':')
      out[n++] = *at;
  }
  out[n] = '\0';
}

static uint32_t
count_lines(const char *from, const char *to)
{
  uint32_t lines = 0;
  for (; from < to; from++)
    lines += *from == '\n';
  return lines;
}

static vyre_status
check_function(const vyre_mega_program *program, const char *function)
{
  char signature[MOST_SIGNATURE];
  const bool has_data = program->has_data || program->has_programs;
  const char *wanted = has_data ? "(pathu32[],pathu32[],pathu32[],pathu32[],pathu32[],u32,u32,u32,u32,u32)->u32"
                                : "(pathu32[],pathu32[],pathu32[],pathu32[],u32,u32,u32,u32,u32)->u32";
  const char *name = mega_function_name(function), *at = program->source ? find_function(program->source, name) : NULL;
  const char *data = has_data ? "%data : path u32[], " : "";
  if (!at)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: no function @%s, which an op code names\nFix: declare it, or name another function",
                      name_of_source(program), name);
  read_signature(at, signature);
  if (strcmp(signature, wanted) == 0)
    return VYRE_OK;
  return VYRE_ERROR(
      VYRE_CODE_INPUT,
      "%s:%" PRIu32 ": @%s does not have the parameters and the result of a handler\n"
      "Fix: func @%s(%%control : path u32[], %%ring : path u32[], %%debug : path u32[], %%io : path u32[], %s%%base : u32, "
      "%%op : u32, %%a0 : u32, %%a1 : u32, %%a2 : u32) -> u32",
      name_of_source(program), count_lines(program->source, at) + 1, name, name, data);
}

vyre_status
mega_check_signatures(const vyre_mega_program *program)
{
  if (program->fused)
    return check_function(program, program->fused);
  for (uint32_t i = 0; i < program->handler_count; i++)
    VYRE_TRY(check_function(program, program->handlers[i].function));
  return VYRE_OK;
}

void
vyre_mega_source_locate(const vyre_mega_program *program, const vyre_bytes *text, vyre_diagnostic *diagnostic)
{
  const char *from = program->source && text->data ? strstr(text->data, program->source) : NULL;
  if (!from)
    return;
  const uint32_t first = count_lines(text->data, from) + 1, lines = count_lines(program->source, strchr(program->source, '\0')) + 1;
  if (diagnostic->line < first || diagnostic->line >= first + lines)
    return;
  diagnostic->file = name_of_source(program);
  diagnostic->line -= first - 1;
}
