/* Reading a kernel file: what it declares, its functions and phases, and the sequence in which phases run.
 *
 * Functions are not understood here, only looked through: for the names of columns that they use, and for what they call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"
#include "vyre/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ERRORS = 20, MOST_PATH = 1024 };

typedef struct reader {
  kernel_file *file;
  text_lexer lexer;
  uint32_t source;    /* of the file, which is read here */
  bool in_while;      /* steps that stand in a `repeat while` */
  uint32_t times;     /* that the repeats around the step come to */
  vyre_status status; /* why a file that it includes could not be read */
} reader;

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

uint32_t
kernel_line_of(const kernel_file *file, uint32_t at, uint32_t *out_line, uint32_t *out_start)
{
  uint32_t source = 0;
  for (uint32_t i = 1; i < file->source_count; i++)
    source = at >= file->sources[i].text.at ? i : source;
  uint32_t start = file->sources[source].text.at;
  const uint32_t last = start + file->sources[source].text.length;
  *out_line = 1;
  for (uint32_t i = start; i < at && i < last; i++)
    if (file->text[i] == '\n') {
      ++*out_line;
      start = i + 1;
    }
  *out_start = start;
  return source;
}

bool
kernel_error(kernel_file *file, kernel_text where, const char *fix, const char *format, ...)
{
  char message[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  uint32_t line, start;
  const uint32_t source = kernel_line_of(file, where.at, &line, &start);
  const uint32_t last = file->sources[source].text.at + file->sources[source].text.length;
  const char *end = memchr(file->text + start, '\n', last - start);
  const vyre_diagnostic diagnostic = {.severity = VYRE_SEVERE,
                                      .file = kernel_source_path(file, source),
                                      .line = line,
                                      .column = where.at - start + 1,
                                      .length = where.length,
                                      .message = message,
                                      .source = file->text + start,
                                      .source_length = end ? (size_t)(end - file->text) - start : last - start,
                                      .fix = fix};
  if (file->errors++ < MOST_ERRORS && file->diagnostics.emit)
    file->diagnostics.emit(file->diagnostics.user, &diagnostic);
  return false;
}

static kernel_text
here(const reader *r)
{
  return (kernel_text){r->lexer.token.start, r->lexer.token.length};
}

static bool
expected(reader *r, const char *what)
{
  const text_token *token = &r->lexer.token;
  if (token->kind == TOKEN_END)
    return kernel_error(r->file, here(r), NULL, "expected %s, but the text ends", what);
  return kernel_error(r->file, here(r), NULL, "expected %s, found '%.*s'", what, (int)(token->length < 60 ? token->length : 60),
                      r->file->text + token->start);
}

/* ---- tokens -------------------------------------------------------------------------------------------------------------- */

static bool
is_text(const reader *r, kernel_text text, const char *word)
{
  return text.length == strlen(word) && memcmp(r->file->text + text.at, word, text.length) == 0;
}

static bool
is_word(const reader *r, const char *word)
{
  return r->lexer.token.kind == TOKEN_WORD && is_text(r, here(r), word);
}

static bool
take_word(reader *r, const char *word)
{
  if (!is_word(r, word))
    return false;
  text_lex(&r->lexer);
  return true;
}

static bool
is_mark(const reader *r, char mark)
{
  return r->lexer.token.kind == TOKEN_MARK && r->lexer.token.mark == mark;
}

static bool
take_mark(reader *r, char mark)
{
  if (!is_mark(r, mark))
    return false;
  text_lex(&r->lexer);
  return true;
}

static bool
take_integer(reader *r, uint32_t least, uint32_t most, uint32_t *out)
{
  const text_token *token = &r->lexer.token;
  char text[13] = {0}, *end = text;
  const bool good = token->kind == TOKEN_NUMBER && token->length < sizeof text && r->file->text[token->start] != '-';
  memcpy(text, r->file->text + token->start, good ? token->length : 0);
  const uint64_t value = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
  if (!good || *end || value < least || value > most)
    return kernel_error(r->file, here(r), NULL, "expected a number from %u to %u", least, most);
  *out = (uint32_t)value;
  text_lex(&r->lexer);
  return true;
}

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

/* side %x : u32[2]    side %x[] : u32    table %x : u32    counter %x "rows merged"    counter %x[]    verdict %x */
static bool
read_declaration(reader *r, kernel_kind kind)
{
  kernel_file *file = r->file;
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_NAME)
    return expected(r, "a name, like %count");
  if (kernel_find_name(file, &name, file->text) != UINT32_MAX)
    return kernel_error(file, here(r), "give it another name", "%%%.*s is the name of something else", (int)name.name_length,
                        file->text + name.name);
  if (file->name_count == KERNEL_MOST_NAMES)
    return kernel_error(file, here(r), NULL, "there are more than %d names in all", KERNEL_MOST_NAMES);
  text_lex(&r->lexer);
  kernel_name declared = {.kind = kind, .text = {name.name, name.name_length}, .stride = 1};
  if ((kind == KERNEL_COUNTER || kind == KERNEL_SIDE) && take_mark(r, '[')) {
    declared.stride = 0;
    if (!take_mark(r, ']'))
      return expected(r, "']'");
  } else if (kind == KERNEL_COUNTER && r->lexer.token.kind == TOKEN_STRING) {
    declared.label = (kernel_text){r->lexer.token.name, r->lexer.token.name_length};
    text_lex(&r->lexer);
  }
  if (kind == KERNEL_SIDE || kind == KERNEL_TABLE) {
    if (!take_mark(r, ':') || !take_word(r, "u32"))
      return expected(r, "': u32'");
    if (kind == KERNEL_SIDE && declared.stride && take_mark(r, '[') &&
        (!take_integer(r, 1, 16, &declared.stride) || !take_mark(r, ']')))
      return false;
  }
  file->names[file->name_count++] = declared;
  return true;
}

/* constant @code.bind = 3 */
static bool
read_constant(reader *r)
{
  kernel_file *file = r->file;
  kernel_number number;
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_GLOBAL)
    return expected(r, "the name of a number, like @most");
  if (kernel_constant(file, file->text + name.name, name.name_length, &number.value))
    return kernel_error(file, here(r), "give it another name", "@%.*s is a number already", (int)name.name_length,
                        file->text + name.name);
  if (file->number_count == KERNEL_MOST_CONSTANTS)
    return kernel_error(file, here(r), NULL, "there are more than %d constants", KERNEL_MOST_CONSTANTS);
  text_lex(&r->lexer);
  number.name = (kernel_text){name.name, name.name_length};
  if (!take_mark(r, '='))
    return expected(r, "'='");
  if (!take_integer(r, 0, UINT32_MAX, &number.value))
    return false;
  file->numbers[file->number_count++] = number;
  return true;
}

/* provides %hash: a column of an analysis that the pass makes. */
static bool
read_provided(reader *r)
{
  kernel_file *file = r->file;
  text_lex(&r->lexer);
  const uint32_t name = kernel_find_name(file, &r->lexer.token, file->text);
  const char *word = name < file->name_count ? file->names[name].word : NULL;
  if (!word || (strcmp(word, "hash") != 0 && strcmp(word, "canonical") != 0))
    return expected(r, "%hash or %canonical");
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

/* What an invocation is, a row function does not know: gid.x and its like. */
static bool
is_invocation(const reader *r)
{
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    if (vyre_op_is_invocation(op) && is_word(r, vyre_op_infos[op].text))
      return true;
  return false;
}

/* To the mark that closes the one which was just opened; the names in between are noted in the function. */
static bool
read_to(reader *r, char open, char close, kernel_function *f)
{
  const kernel_text start = here(r);
  uint32_t depth = 0;
  for (;; text_lex(&r->lexer)) {
    const text_token *token = &r->lexer.token;
    if (token->kind == TOKEN_END)
      return kernel_error(r->file, start, NULL, "this '%c' is not closed", open);
    depth += is_mark(r, open);
    if (is_mark(r, close) && --depth == 0)
      return true;
    const uint32_t name = kernel_find_name(r->file, token, r->file->text);
    if (name != UINT32_MAX) {
      text_lexer ahead = r->lexer;
      text_lex(&ahead);
      if (ahead.token.kind == TOKEN_MARK && (ahead.token.mark == '=' || ahead.token.mark == ':'))
        return kernel_error(r->file, here(r), "give it another name", "this is the name of a column, or of what the file declares");
      f->names |= UINT64_C(1) << name;
    }
    const kernel_function *called = token->kind == TOKEN_GLOBAL ? kernel_find_function(r->file, token) : NULL;
    if (called && called->is_phase)
      return kernel_error(r->file, here(r), "put what both do into a func", "a phase is not called");
    if (called)
      f->names |= called->names;
    if (is_invocation(r))
      return kernel_error(r->file, here(r), "a phase is given its row", "a row function knows nothing of invocations");
  }
}

static bool
read_direction(reader *r, kernel_direction *out)
{
  static const char *const words[] = {"flat", "up", "down", "inward", "outward"};
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
    if (take_word(r, words[i])) {
      *out = (kernel_direction)i;
      return true;
    }
  return expected(r, "flat, up, down, inward or outward");
}

/* func @f(%x : u32) -> u32 { }    phase @p up (%i) { } */
static bool
read_function(reader *r, bool is_phase)
{
  kernel_file *file = r->file;
  kernel_function f = {.is_phase = is_phase};
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_GLOBAL)
    return expected(r, is_phase ? "the name of the phase, like @mark" : "the name of the function, like @max");
  if (is_phase && !text_is_identifier(file->text + name.name, name.name_length))
    return kernel_error(file, here(r), "letters, digits and _ alone", "the name of a phase becomes one of C");
  if (kernel_find_function(file, &name))
    return kernel_error(file, here(r), NULL, "there are two functions or phases @%.*s", (int)name.name_length,
                        file->text + name.name);
  if (file->function_count == KERNEL_MOST_FUNCTIONS)
    return kernel_error(file, here(r), NULL, "there are more than %d functions and phases", KERNEL_MOST_FUNCTIONS);
  f.name = (kernel_text){name.name, name.name_length};
  text_lex(&r->lexer);
  if (is_phase && !read_direction(r, &f.direction))
    return false;
  if (!is_mark(r, '('))
    return expected(r, "'('");
  f.head.at = r->lexer.token.start;
  text_lexer ahead = r->lexer;
  text_lex(&ahead);
  f.has_parameters = ahead.token.kind != TOKEN_MARK;
  const bool one_name = ahead.token.kind == TOKEN_NAME;
  text_lex(&ahead);
  if (is_phase && (!one_name || ahead.token.kind != TOKEN_MARK || ahead.token.mark != ')'))
    return expected(r, "the name of the row in parentheses, like (%i)");
  kernel_function parameters = {0};
  if (!read_to(r, '(', ')', &parameters))
    return false;
  f.head.length = r->lexer.token.start - f.head.at; /* without the ) */
  f.body.at = r->lexer.token.start;
  text_lex(&r->lexer);
  if (is_phase && !is_mark(r, '{'))
    return expected(r, "'{'");
  while (!is_mark(r, '{') && r->lexer.token.kind != TOKEN_END)
    text_lex(&r->lexer);
  if (!read_to(r, '{', '}', &f))
    return false;
  f.body.length = r->lexer.token.start + 1 - f.body.at;
  text_lex(&r->lexer);
  file->functions[file->function_count++] = f;
  return true;
}

/* ---- the sequence -------------------------------------------------------------------------------------------------------- */

static kernel_step *
add_step(reader *r, kernel_step_kind kind)
{
  if (r->file->step_count == KERNEL_MOST_STEPS) {
    kernel_error(r->file, here(r), NULL, "the sequence has more than %d steps", KERNEL_MOST_STEPS);
    return NULL;
  }
  r->file->steps[r->file->step_count] = (kernel_step){.kind = kind};
  return &r->file->steps[r->file->step_count++];
}

static bool
read_phase_step(reader *r)
{
  const kernel_function *phase = kernel_find_function(r->file, &r->lexer.token);
  if (!phase || !phase->is_phase)
    return kernel_error(r->file, here(r), "a sequence stands after its phases", "there is no phase %.*s",
                        (int)r->lexer.token.length, r->file->text + r->lexer.token.start);
  kernel_step *step = add_step(r, KERNEL_RUN);
  if (step)
    step->phase = (uint32_t)(phase - r->file->functions);
  text_lex(&r->lexer);
  return step != NULL;
}

/* repeat 4 { }    repeat while %again { } */
static bool
read_repeat(reader *r)
{
  kernel_step *step = add_step(r, KERNEL_REPEAT);
  text_lex(&r->lexer);
  const kernel_text where = here(r);
  if (!step || !take_word(r, "while"))
    return step && take_integer(r, 1, KERNEL_MOST_TIMES, &step->times);
  if (r->in_while)
    return kernel_error(r->file, where, "let the phases of both add to one counter, and repeat all of them while that grows",
                        "repeat while stands in repeat while: a target's repeats do not stand in each other");
  step->kind = KERNEL_REPEAT_WHILE;
  step->name = kernel_find_name(r->file, &r->lexer.token, r->file->text);
  if (step->name == UINT32_MAX || r->file->names[step->name].kind != KERNEL_COUNTER || r->file->names[step->name].stride == 0)
    return expected(r, "a number, or the name of a counter");
  text_lex(&r->lexer);
  return true;
}

/* levels { }    levels by %turn { }    levels apart by %turn { } */
static bool
read_levels(reader *r)
{
  kernel_step *step = add_step(r, KERNEL_LEVELS);
  text_lex(&r->lexer);
  if (!step)
    return false;
  step->is_apart = take_word(r, "apart");
  if (!take_word(r, "by"))
    return true;
  step->times = 1;
  step->name = kernel_find_name(r->file, &r->lexer.token, r->file->text);
  if (step->name == UINT32_MAX || r->file->names[step->name].kind != KERNEL_SIDE || r->file->names[step->name].stride != 1)
    return expected(r, "the name of a side column");
  text_lex(&r->lexer);
  return true;
}

static bool
read_steps(reader *r, uint32_t depth)
{
  if (!is_mark(r, '{'))
    return expected(r, "'{'");
  const kernel_text start = here(r);
  text_lex(&r->lexer);
  while (!take_mark(r, '}')) {
    const uint32_t step = r->file->step_count;
    const bool in_while = r->in_while;
    const uint32_t times = r->times;
    const kernel_text where = here(r);
    if (r->lexer.token.kind == TOKEN_GLOBAL) {
      if (!read_phase_step(r))
        return false;
      continue;
    }
    if (r->lexer.token.kind == TOKEN_END)
      return kernel_error(r->file, start, NULL, "this '{' is not closed");
    if (depth == 8)
      return kernel_error(r->file, here(r), NULL, "steps nest deeper than 8");
    if (is_word(r, "repeat") ? !read_repeat(r) : is_word(r, "levels") ? !read_levels(r) : !expected(r, "a phase, levels or repeat"))
      return false;
    r->in_while |= r->file->steps[step].kind == KERNEL_REPEAT_WHILE;
    r->times *= r->file->steps[step].kind == KERNEL_REPEAT ? r->file->steps[step].times : 1;
    if (r->times > KERNEL_MOST_TIMES)
      return kernel_error(r->file, where, "repeat while goes on as long as it must", "repeats in each other come to %u, at most %d",
                          r->times, KERNEL_MOST_TIMES);
    if (!read_steps(r, depth + 1))
      return false;
    r->in_while = in_while;
    r->times = times;
    r->file->steps[step].end = r->file->step_count;
  }
  return true;
}

/* Phases that take turns level by level go the same way. */
static bool
check_levels(reader *r, kernel_text where)
{
  kernel_file *file = r->file;
  for (uint32_t i = 0; i < file->step_count; i++) {
    const kernel_step *levels = &file->steps[i];
    const kernel_function *first = NULL;
    for (uint32_t k = i + 1; levels->kind == KERNEL_LEVELS && k < levels->end; k++) {
      if (file->steps[k].kind == KERNEL_LEVELS)
        return kernel_error(file, where, NULL, "levels stand in levels");
      if (file->steps[k].kind != KERNEL_RUN)
        continue;
      const kernel_function *phase = &file->functions[file->steps[k].phase];
      first = first ? first : phase;
      if (phase->direction == KERNEL_FLAT || phase->direction != first->direction)
        return kernel_error(file, phase->name, "take it out of levels, or give it the direction of the others",
                            "phases that take turns level by level have one direction, which is not flat");
    }
  }
  return true;
}

static bool
read_sequence(reader *r)
{
  const kernel_text where = here(r);
  text_lex(&r->lexer);
  if (r->file->step_count)
    return kernel_error(r->file, where, NULL, "there are two sequences");
  return read_steps(r, 0) && check_levels(r, where);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

const char *
kernel_source_path(const kernel_file *file, uint32_t source)
{
  return (const char *)file->paths.data + file->sources[source].path;
}

/* Appends the text of a file that is at that path. */
static vyre_status
add_source(kernel_file *file, const char *path)
{
  kernel_source *source = &file->sources[file->source_count];
  *source = (kernel_source){{(uint32_t)file->bytes.size, 0}, (uint32_t)file->paths.size};
  VYRE_TRY(vyre_bytes_append(&file->paths, path, strlen(path) + 1));
  VYRE_TRY(file->source_count ? vyre_file_read(path, &file->bytes) : kernel_add_prelude(&file->bytes));
  if (file->bytes.size > UINT32_MAX / 2)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: too long", path);
  source->text.length = (uint32_t)file->bytes.size - source->text.at;
  file->source_count++;
  VYRE_TRY(vyre_bytes_append(&file->bytes, "\n", 1)); /* so that where it ends is not where the next one begins */
  file->text = file->bytes.data;
  file->length = (uint32_t)file->bytes.size;
  return VYRE_OK;
}

static bool read_source(kernel_file *file, uint32_t source, vyre_status *out_status);

/* Takes out a folder that the path leaves again at once, so that a file has one path: a/../b is b. */
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

/* include "FILE": relative to the folder of the file that says so; each file once. */
static bool
read_include(reader *r)
{
  kernel_file *file = r->file;
  char path[MOST_PATH];
  text_lex(&r->lexer);
  const text_token name = r->lexer.token;
  if (name.kind != TOKEN_STRING || name.escaped)
    return expected(r, "the path of a file in quotes");
  const char *own = kernel_source_path(file, r->source), *slash = strrchr(own, '/');
  const bool is_absolute = name.name_length && file->text[name.name] == '/';
  const int folder = slash && !is_absolute ? (int)(slash + 1 - own) : 0;
  const int length = snprintf(path, sizeof path, "%.*s%.*s", folder, own, (int)name.name_length, file->text + name.name);
  if (length < 0 || (size_t)length >= sizeof path)
    return kernel_error(file, here(r), NULL, "this path is too long");
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
read_item(reader *r)
{
  if (is_word(r, "include"))
    return read_include(r);
  if (is_word(r, "side"))
    return read_declaration(r, KERNEL_SIDE);
  if (is_word(r, "table"))
    return read_declaration(r, KERNEL_TABLE);
  if (is_word(r, "counter"))
    return read_declaration(r, KERNEL_COUNTER);
  if (is_word(r, "verdict"))
    return read_declaration(r, KERNEL_VERDICT);
  if (is_word(r, "constant"))
    return read_constant(r);
  if (is_word(r, "provides"))
    return read_provided(r);
  if (is_word(r, "func"))
    return read_function(r, false);
  if (is_word(r, "phase"))
    return read_function(r, true);
  if (is_word(r, "sequence"))
    return read_sequence(r);
  return expected(r, "include, side, table, counter, verdict, constant, provides, func, phase or sequence");
}

/* Names in quotes are those of the programs around phases: the row at hand is known by its name. */
static bool
check_names(const reader *r)
{
  reader ahead = *r;
  const text_token *token = &ahead.lexer.token;
  for (text_lex(&ahead.lexer); token->kind != TOKEN_END; text_lex(&ahead.lexer))
    if ((token->kind == TOKEN_NAME || token->kind == TOKEN_GLOBAL) && r->file->text[token->start + 1] == '"')
      return kernel_error(r->file, here(&ahead), "letters, digits, _ and $ alone", "a kernel file has no names in quotes");
  return true;
}

static bool
read_source(kernel_file *file, uint32_t source, vyre_status *out_status)
{
  const kernel_text text = file->sources[source].text;
  reader r = {.file = file,
              .lexer = {.text = file->text, .length = text.at + text.length, .cursor = text.at},
              .source = source,
              .times = 1};
  if (!check_names(&r))
    return false;
  text_lex(&r.lexer);
  while (r.lexer.token.kind != TOKEN_END)
    if (!read_item(&r)) { /* what follows is the consequence */
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
    runs |= file->steps[i].kind == KERNEL_RUN;
  if (good && !runs)
    good = kernel_error(file, (kernel_text){own.at + own.length, 0}, "sequence { @phase } at the end of the file",
                        "there is no sequence that runs a phase");
  if (good || status)
    return status;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %u error%s", path, file->errors, file->errors == 1 ? "" : "s");
}

void
kernel_file_free(kernel_file *file)
{
  vyre_bytes_free(&file->bytes);
  vyre_bytes_free(&file->paths);
}
