/* Reads a kernel file: its declarations, functions, phases and sequence.
 *
 * The bodies of functions are only scanned for the names of columns and the calls that they contain.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "read.h"
#include "base/files/names.h"
#include "vyre/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 1024 };

/* ---- names --------------------------------------------------------------------------------------------------------------- */

static const kernel_name columns[] = {
#define KERNEL_COLUMN(column, of) {.kind = KERNEL_##of, .word = #column, .stride = 1},
#include "columns.def"
};

uint32_t
kernel_find_name(const kernel_file *file, const text_token *token, const char *text)
{
  const char *name = text + token->name;
  if (token->kind != TOKEN_NAME)
    return UINT32_MAX;
  for (uint32_t i = 0; i < file->name_count; i++) {
    const kernel_name *n = &file->names[i];
    const char *other = n->word ? n->word : file->text + n->text.at;
    const size_t length = n->word ? strlen(n->word) : n->text.length;
    if (length == token->name_length && memcmp(other, name, length) == 0)
      return i;
  }
  return UINT32_MAX;
}

/* Reads side %x : u32[2], side %x[] : u32, table %x : u32, counter %x "rows merged", counter %x[] or verdict %x. */
static bool
read_declaration(kernel_reader *r, kernel_kind kind)
{
  kernel_file *file = r->file;
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_NAME)
    return kernel_expected(r, "a name, like %count");
  if (kernel_find_name(file, &name, file->text) != UINT32_MAX)
    return kernel_error(file, kernel_here(r), "give it another name", "%%%.*s is already declared", (int)name.name_length,
                        file->text + name.name);
  if (file->name_count == KERNEL_MOST_NAMES)
    return kernel_error(file, kernel_here(r), NULL, "there are more than %d names", KERNEL_MOST_NAMES);
  text_lex(&r->lexer);
  kernel_name declared = {.kind = kind, .text = {name.name, name.name_length}, .stride = 1};
  if ((kind == KERNEL_COUNTER || kind == KERNEL_SIDE) && kernel_accept_mark(r, '[')) {
    declared.stride = 0;
    if (!kernel_accept_mark(r, ']'))
      return kernel_expected(r, "']'");
  } else if (kind == KERNEL_COUNTER && r->lexer.token.kind == TOKEN_STRING) {
    declared.label = (kernel_text){r->lexer.token.name, r->lexer.token.name_length};
    text_lex(&r->lexer);
  }
  if (kind == KERNEL_SIDE || kind == KERNEL_TABLE) {
    if (!kernel_accept_mark(r, ':') || !kernel_accept_word(r, "u32"))
      return kernel_expected(r, "': u32'");
    if (kind == KERNEL_SIDE && declared.stride && kernel_accept_mark(r, '[') &&
        (!kernel_parse_integer(r, 1, 16, &declared.stride) || !kernel_accept_mark(r, ']')))
      return false;
  }
  file->names[file->name_count++] = declared;
  return true;
}

/* Reads constant @code.bind = 3. */
static bool
read_constant(kernel_reader *r)
{
  kernel_file *file = r->file;
  kernel_number number;
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_GLOBAL)
    return kernel_expected(r, "the name of a number, like @most");
  if (kernel_constant(file, file->text + name.name, name.name_length, &number.value))
    return kernel_error(file, kernel_here(r), "give it another name", "@%.*s is already a number", (int)name.name_length,
                        file->text + name.name);
  if (file->number_count == KERNEL_MOST_CONSTANTS)
    return kernel_error(file, kernel_here(r), NULL, "there are more than %d constants", KERNEL_MOST_CONSTANTS);
  text_lex(&r->lexer);
  number.name = (kernel_text){name.name, name.name_length};
  if (!kernel_accept_mark(r, '='))
    return kernel_expected(r, "'='");
  if (!kernel_parse_integer(r, 0, UINT32_MAX, &number.value))
    return false;
  file->numbers[file->number_count++] = number;
  return true;
}

/* Reads provides %hash. */
static bool
read_provided(kernel_reader *r)
{
  kernel_file *file = r->file;
  text_lex(&r->lexer);
  const uint32_t name = kernel_find_name(file, &r->lexer.token, file->text);
  const char *word = name < file->name_count ? file->names[name].word : NULL;
  if (!word || (strcmp(word, "hash") != 0 && strcmp(word, "canonical") != 0))
    return kernel_expected(r, "%hash or %canonical");
  file->names[name].kind = KERNEL_SIDE;
  file->names[name].is_provided = true;
  text_lex(&r->lexer);
  return true;
}

/* ---- functions ----------------------------------------------------------------------------------------------------------- */

const kernel_function *
kernel_find_function(const kernel_file *file, const text_token *token)
{
  for (uint32_t i = 0; i < file->function_count; i++)
    if (file->functions[i].name.length == token->name_length &&
        memcmp(file->text + file->functions[i].name.at, file->text + token->name, token->name_length) == 0)
      return &file->functions[i];
  return NULL;
}

const kernel_function *
kernel_filter_of_column(const kernel_file *file, uint32_t name)
{
  static const char filter[] = "row.if_accesses";
  const char *column = name < file->name_count ? file->names[name].word : NULL;
  if (!column || strcmp(column, "version") != 0)
    return NULL;
  for (uint32_t i = 0; i < file->function_count; i++)
    if (file->functions[i].name.length == sizeof filter - 1 &&
        memcmp(file->text + file->functions[i].name.at, filter, sizeof filter - 1) == 0)
      return &file->functions[i];
  return NULL;
}

/* Returns whether a word is a built-in of invocations, such as gid.x, which row functions cannot use. */
static bool
is_invocation(const kernel_reader *r)
{
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    if (vyre_op_is_invocation(op) && kernel_is_word(r, vyre_op_infos[op].text))
      return true;
  return false;
}

/* Skips to the closing bracket, and records the names in between in the function. */
static bool
read_to(kernel_reader *r, char open, char close, kernel_function *f)
{
  const kernel_text start = kernel_here(r);
  uint32_t depth = 0;
  for (;; text_lex(&r->lexer)) {
    const text_token *token = &r->lexer.token;
    if (token->kind == TOKEN_END)
      return kernel_error(r->file, start, NULL, "this '%c' is not closed", open);
    depth += kernel_is_mark(r, open);
    if (kernel_is_mark(r, close) && --depth == 0)
      return true;
    const uint32_t name = kernel_find_name(r->file, token, r->file->text);
    if (name != UINT32_MAX) {
      text_lexer ahead = r->lexer;
      text_lex(&ahead);
      if (ahead.token.kind == TOKEN_MARK && (ahead.token.mark == '=' || ahead.token.mark == ':'))
        return kernel_error(r->file, kernel_here(r), "give it another name",
                            "this is the name of a column or of another declaration");
      const kernel_function *filter = kernel_filter_of_column(r->file, name);
      f->names |= UINT64_C(1) << name | (filter ? filter->names : 0);
    }
    const kernel_function *called = token->kind == TOKEN_GLOBAL ? kernel_find_function(r->file, token) : NULL;
    if (called && called->is_phase)
      return kernel_error(r->file, kernel_here(r), "move the common code into a func", "a phase cannot be called");
    if (called)
      f->names |= called->names;
    if (is_invocation(r))
      return kernel_error(r->file, kernel_here(r), "use the row that the phase has as a parameter",
                          "a row function cannot use built-ins of invocations");
  }
}

static bool
read_direction(kernel_reader *r, vyre_direction *out)
{
  static const char *const words[] = {[VYRE_DIRECTION_FLAT] = "flat",
                                      [VYRE_DIRECTION_UP] = "up",
                                      [VYRE_DIRECTION_DOWN] = "down",
                                      [VYRE_DIRECTION_INWARD] = "inward",
                                      [VYRE_DIRECTION_OUTWARD] = "outward"};
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
    if (kernel_accept_word(r, words[i])) {
      *out = (vyre_direction)i;
      return true;
    }
  return kernel_expected(r, "flat, up, down, inward or outward");
}

/* Reads func @f(%x : u32) -> u32 { } or phase @p up (%i) { }. */
static bool
read_function(kernel_reader *r, bool is_phase)
{
  kernel_file *file = r->file;
  kernel_function f = {.is_phase = is_phase};
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_GLOBAL)
    return kernel_expected(r, is_phase ? "the name of the phase, like @mark" : "the name of the function, like @max");
  if (is_phase && !text_is_identifier(file->text + name.name, name.name_length))
    return kernel_error(file, kernel_here(r), "use letters, digits and _", "the name of a phase must be a name in C");
  if (kernel_find_function(file, &name))
    return kernel_error(file, kernel_here(r), NULL, "@%.*s is already a function or phase", (int)name.name_length,
                        file->text + name.name);
  if (file->function_count == KERNEL_MOST_FUNCTIONS)
    return kernel_error(file, kernel_here(r), NULL, "there are more than %d functions and phases", KERNEL_MOST_FUNCTIONS);
  f.name = (kernel_text){name.name, name.name_length};
  text_lex(&r->lexer);
  if (is_phase && !read_direction(r, &f.direction))
    return false;
  if (!kernel_is_mark(r, '('))
    return kernel_expected(r, "'('");
  f.head.at = r->lexer.token.start;
  text_lexer ahead = r->lexer;
  text_lex(&ahead);
  f.has_parameters = ahead.token.kind != TOKEN_MARK;
  const bool one_name = ahead.token.kind == TOKEN_NAME;
  text_lex(&ahead);
  if (is_phase && (!one_name || ahead.token.kind != TOKEN_MARK || ahead.token.mark != ')'))
    return kernel_expected(r, "the name of the row in parentheses, like (%i)");
  kernel_function parameters = {0};
  if (!read_to(r, '(', ')', &parameters))
    return false;
  f.head.length = r->lexer.token.start - f.head.at; /* without the ) */
  f.body.at = r->lexer.token.start;
  text_lex(&r->lexer);
  if (is_phase && !kernel_is_mark(r, '{'))
    return kernel_expected(r, "'{'");
  while (!kernel_is_mark(r, '{') && r->lexer.token.kind != TOKEN_END)
    text_lex(&r->lexer);
  if (!read_to(r, '{', '}', &f))
    return false;
  f.body.length = r->lexer.token.start + 1 - f.body.at;
  text_lex(&r->lexer);
  file->functions[file->function_count++] = f;
  return true;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

const char *
kernel_source_path(const kernel_file *file, uint32_t source)
{
  return (const char *)file->paths.data + file->sources[source].path;
}

/* Appends the text of the file at the path. */
static vyre_status
add_source(kernel_file *file, const char *path)
{
  kernel_source *source = &file->sources[file->source_count];
  *source = (kernel_source){{(uint32_t)file->bytes.size, 0}, (uint32_t)file->paths.size};
  VYRE_TRY(vyre_bytes_append(&file->paths, path, strlen(path) + 1));
  VYRE_TRY(file->source_count ? vyre_file_read_as(path, VYRE_FILE_TEXT, &file->bytes) : kernel_add_prelude(&file->bytes));
  if (file->bytes.size > UINT32_MAX / 2)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the file has more than 2 GiB\nFix: split it", path);
  source->text.length = (uint32_t)file->bytes.size - source->text.at;
  file->source_count++;
  VYRE_TRY(vyre_bytes_append(&file->bytes, "\n", 1)); /* so that the end of this file is not the start of the next one */
  file->text = file->bytes.data;
  file->length = (uint32_t)file->bytes.size;
  return VYRE_OK;
}

static bool read_source(kernel_file *file, uint32_t source, vyre_status *out_status);

/* Shortens a/../b to b, so that each file has one path. */
static void
shorten_path(char *path)
{
  for (char *up = strstr(path, "/../"); up; up = strstr(up, "/../")) {
    char *folder = up;
    while (folder > path && folder[-1] != '/')
      folder--;
    if (folder == up || strncmp(folder, "../", 3) == 0 || strncmp(folder, "./", 2) == 0) {
      up++;
      continue;
    }
    memmove(folder, up + 4, strlen(up + 4) + 1);
    up = path;
  }
}

/* Reads `include "FILE"`.  The path is relative to the folder of the including file, and each file is included once. */
static bool
read_include(kernel_reader *r)
{
  kernel_file *file = r->file;
  char path[MOST_PATH];
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_STRING || name.escaped)
    return kernel_expected(r, "the path of a file in quotes");
  const char *own = kernel_source_path(file, r->source);
  const bool is_absolute = name.name_length && file->text[name.name] == '/';
  const int folder = is_absolute ? 0 : (int)(path_name(own) - own);
  const int length = snprintf(path, sizeof path, "%.*s%.*s", folder, own, (int)name.name_length, file->text + name.name);
  if (length < 0 || (size_t)length >= sizeof path)
    return kernel_error(file, kernel_here(r), NULL, "this path is too long");
  shorten_path(path);
  text_lex(&r->lexer);
  for (uint32_t i = 1; i < file->source_count; i++)
    if (strcmp(kernel_source_path(file, i), path) == 0)
      return true;
  if (file->source_count == KERNEL_MOST_SOURCES)
    return kernel_error(file, (kernel_text){name.start, name.length}, NULL, "more than %d files", KERNEL_MOST_SOURCES - 1);
  r->status = add_source(file, path);
  if (r->status)
    return kernel_error(file, (kernel_text){name.start, name.length}, "a path is relative to the file that includes it",
                        "this file cannot be read");
  const bool good = read_source(file, file->source_count - 1, &r->status);
  r->lexer.text = file->text; /* it may have moved */
  return good;
}

static bool
read_item(kernel_reader *r)
{
  if (kernel_is_word(r, "include"))
    return read_include(r);
  if (kernel_is_word(r, "side"))
    return read_declaration(r, KERNEL_SIDE);
  if (kernel_is_word(r, "table"))
    return read_declaration(r, KERNEL_TABLE);
  if (kernel_is_word(r, "counter"))
    return read_declaration(r, KERNEL_COUNTER);
  if (kernel_is_word(r, "verdict"))
    return read_declaration(r, KERNEL_VERDICT);
  if (kernel_is_word(r, "constant"))
    return read_constant(r);
  if (kernel_is_word(r, "provides"))
    return read_provided(r);
  if (kernel_is_word(r, "func"))
    return read_function(r, false);
  if (kernel_is_word(r, "phase"))
    return read_function(r, true);
  if (kernel_is_word(r, "sequence"))
    return kernel_read_sequence(r);
  return kernel_expected(r, "include, side, table, counter, verdict, constant, provides, func, phase or sequence");
}

/* Refuses names in quotes, which are reserved for the programs around phases. */
static bool
check_names(const kernel_reader *r)
{
  kernel_reader ahead = *r;
  const text_token *token = &ahead.lexer.token;
  for (text_lex(&ahead.lexer); token->kind != TOKEN_END; text_lex(&ahead.lexer))
    if ((token->kind == TOKEN_NAME || token->kind == TOKEN_GLOBAL) && r->file->text[token->start + 1] == '"')
      return kernel_error(r->file, kernel_here(&ahead), "use letters, digits, _ and $",
                          "a kernel file cannot have names in quotes");
  return true;
}

static bool
read_source(kernel_file *file, uint32_t source, vyre_status *out_status)
{
  const kernel_text text = file->sources[source].text;
  kernel_reader r = {.file = file,
                     .lexer = {.text = file->text, .length = text.at + text.length, .cursor = text.at},
                     .source = source,
                     .times = 1};
  if (!check_names(&r))
    return false;
  text_lex(&r.lexer);
  while (r.lexer.token.kind != TOKEN_END)
    if (!read_item(&r)) { /* later errors would be consequences */
      *out_status = r.status;
      return false;
    }
  return true;
}

vyre_status
kernel_read(kernel_file *file, const char *path, vyre_diagnostics diagnostics)
{
  *file = (kernel_file){.path = path, .diagnostics = diagnostics};
  file->name_count = sizeof columns / sizeof *columns;
  memcpy(file->names, columns, sizeof columns);
  VYRE_TRY(add_source(file, "prelude"));
  VYRE_TRY(add_source(file, path));
  vyre_status status = VYRE_OK;
  bool good = read_source(file, 0, &status) && read_source(file, 1, &status);
  const kernel_text own = file->sources[1].text;
  bool runs = false;
  for (uint32_t i = 0; i < file->step_count; i++)
    runs |= file->steps[i].kind == VYRE_STEP_RUN;
  if (good && !runs)
    good = kernel_error(file, (kernel_text){own.at + own.length, 0}, "add sequence { @phase } at the end of the file",
                        "the file has no sequence that runs a phase");
  if (good || status)
    return status;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %u error%s\nFix: correct the marked places; docs/gpu-passes.md describes the language",
                    path, file->errors, file->errors == 1 ? "" : "s");
}

void
kernel_file_free(kernel_file *file)
{
  vyre_bytes_free(&file->bytes);
  vyre_bytes_free(&file->paths);
}
