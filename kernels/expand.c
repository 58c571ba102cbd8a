/* Expands a kernel file to `.vir` text, and maps messages about that text to the file.
 *
 * Functions and phases keep their text.  The columns that a function uses become additional parameters, and additional arguments of
 * its calls.  Names of numbers become numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 64 }; /* nested calls of an expression, as deep as the parser accepts */

typedef struct expander {
  kernel_expansion *out;
  kernel_file *file;
  text_lexer lexer;
  uint32_t copied; /* the file before this offset has been copied or skipped */
  vyre_status status;
  struct {
    uint32_t depth; /* the depth of the brackets around the call's arguments */
    uint64_t names;
    bool has_arguments;
  } calls[MOST_CALLS]; /* and indices that become arguments */
  uint32_t call_count, depth;
  bool is_written; /* the word before the token writes to its operand */
} expander;

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static void
note_piece(expander *e, uint32_t from, uint32_t length)
{
  const kernel_piece piece = {(uint32_t)e->out->text.size, from, length};
  if (!e->status)
    e->status = vyre_bytes_append(&e->out->pieces, &piece, sizeof piece);
}

/* Copies the file's text up to `at`. */
static void
copy_to(expander *e, uint32_t end)
{
  if (end <= e->copied)
    return;
  note_piece(e, e->copied, end - e->copied);
  if (!e->status)
    e->status = vyre_bytes_append(&e->out->text, e->file->text + e->copied, end - e->copied);
  e->copied = end;
}

static void
leave_out_to(expander *e, uint32_t end)
{
  e->copied = end;
}

#define ADD(e, ...)                                                  \
  do {                                                               \
    if (!(e)->status)                                                \
      (e)->status = vyre_bytes_printf(&(e)->out->text, __VA_ARGS__); \
  } while (0)

static void
add_name(expander *e, uint32_t name)
{
  const kernel_name *n = &e->file->names[name];
  if (n->word)
    ADD(e, "%%%s", n->word);
  else
    ADD(e, "%%%.*s", (int)n->text.length, e->file->text + n->text.at);
}

/* Appends the names of the set: parameters such as "%op : path u32[], %a : path u32[]", or arguments if `type` is empty.  Begins
 * with a comma if `comma` is true. */
static void
add_names(expander *e, uint64_t names, bool comma, const char *type)
{
  note_piece(e, e->copied, 0);
  for (uint32_t name = 0; name < e->file->name_count; name++) {
    if ((names >> name & 1) == 0)
      continue;
    if (comma)
      ADD(e, ", ");
    add_name(e, name);
    ADD(e, "%s", type);
    comma = true;
  }
}

/* ---- functions ----------------------------------------------------------------------------------------------------------- */

/* Expands a name with an @: the call of a function, or a number. */
static void
expand_global(expander *e)
{
  const text_token token = e->lexer.token;
  const kernel_function *called = kernel_find_function(e->file, &token);
  uint32_t value;
  if (!called && kernel_constant(e->file, e->file->text + token.name, token.name_length, &value)) {
    copy_to(e, token.start);
    note_piece(e, token.start, 0);
    ADD(e, "%uu32", value);
    leave_out_to(e, token.start + token.length);
    return;
  }
  text_lexer ahead = e->lexer;
  text_lex(&ahead);
  if (!called || called->names == 0 || ahead.token.kind != TOKEN_MARK || ahead.token.mark != '(' || e->call_count == MOST_CALLS)
    return; /* the parser reports the error */
  text_lex(&ahead);
  e->calls[e->call_count].depth = e->depth + 1;
  e->calls[e->call_count].names = called->names;
  e->calls[e->call_count].has_arguments = ahead.token.kind != TOKEN_MARK || ahead.token.mark != ')';
  e->call_count++;
}

/* Expands a read of %version[%row] to one of %version[@row.if_accesses(%row, ...)].  The check of phases rejects writes. */
static void
expand_name(expander *e)
{
  const kernel_function *filter = kernel_filter_of_column(e->file, kernel_find_name(e->file, &e->lexer.token, e->file->text));
  text_lexer ahead = e->lexer;
  text_lex(&ahead);
  if (!filter || e->is_written || ahead.token.kind != TOKEN_MARK || ahead.token.mark != '[' || e->call_count == MOST_CALLS)
    return;
  copy_to(e, ahead.token.start + ahead.token.length);
  note_piece(e, e->copied, 0);
  ADD(e, "@%.*s(", (int)filter->name.length, e->file->text + filter->name.at);
  note_piece(e, e->copied, 0);
  e->calls[e->call_count].depth = e->depth + 1;
  e->calls[e->call_count].names = filter->names;
  e->calls[e->call_count].has_arguments = true;
  e->call_count++;
}

/* Notes whether the next token is the operand of a store or atomic: `store %op[%i], 1u32` or `atomic_add(%op[%i], 1u32)`. */
static void
note_write(expander *e)
{
  static const char store[] = "store", atomic[] = "atomic_", load[] = "atomic_load";
  const text_token *token = &e->lexer.token;
  const char *word = e->file->text + token->start;
  if (token->kind == TOKEN_WORD)
    e->is_written = (token->length == sizeof store - 1 && memcmp(word, store, sizeof store - 1) == 0) ||
                    (token->length >= sizeof atomic - 1 && memcmp(word, atomic, sizeof atomic - 1) == 0 &&
                     (token->length != sizeof load - 1 || memcmp(word, load, sizeof load - 1) != 0));
  else if (token->kind != TOKEN_MARK || token->mark != '(')
    e->is_written = false;
}

static void
expand_mark(expander *e)
{
  const char mark = e->lexer.token.mark;
  e->depth += mark == '(' || mark == '[';
  if (mark != ')' && mark != ']')
    return;
  if (e->call_count && e->calls[e->call_count - 1].depth == e->depth) {
    e->call_count--;
    copy_to(e, e->lexer.token.start);
    add_names(e, e->calls[e->call_count].names, e->calls[e->call_count].has_arguments, "");
    if (mark == ']')
      ADD(e, ")");
  }
  e->depth--;
}

/* Expands a function from after its name to its end. */
static void
expand_function(expander *e, const kernel_function *f)
{
  if (f->is_phase) { /* `phase @p up (%i)` loses the direction, and the row gets a type */
    leave_out_to(e, f->head.at);
    copy_to(e, f->head.at + f->head.length);
    note_piece(e, e->copied, 0);
    ADD(e, " : u32");
  } else {
    copy_to(e, f->head.at + f->head.length);
  }
  add_names(e, f->names, f->has_parameters, " : path u32[]");
  e->lexer.cursor = f->body.at;
  e->call_count = e->depth = 0;
  e->depth = 1; /* the body begins with the parenthesis that closes the parameters */
  for (text_lex(&e->lexer); e->lexer.token.start < f->body.at + f->body.length && e->lexer.token.kind != TOKEN_END;
       text_lex(&e->lexer)) {
    if (e->lexer.token.kind == TOKEN_GLOBAL)
      expand_global(e);
    else if (e->lexer.token.kind == TOKEN_NAME)
      expand_name(e);
    else if (e->lexer.token.kind == TOKEN_MARK)
      expand_mark(e);
    note_write(e);
  }
  copy_to(e, f->body.at + f->body.length);
}

static void
expand_functions(expander *e)
{
  for (uint32_t i = 0; i < e->file->function_count; i++) {
    const kernel_function *f = &e->file->functions[i];
    leave_out_to(e, f->name.at);
    note_piece(e, f->name.at, 0);
    ADD(e, "\nfunc @");
    copy_to(e, f->name.at + f->name.length);
    expand_function(e, f);
  }
}

/* ---- programs ------------------------------------------------------------------------------------------------------------ */

static void
add_buffer(expander *e, uint32_t name)
{
  const kernel_kind kind = e->file->names[name].kind;
  const bool is_read = kind == KERNEL_LINK || kind == KERNEL_ANALYSIS || kind == KERNEL_FACT || kind == KERNEL_TABLE;
  ADD(e, "  buffer ");
  add_name(e, name);
  ADD(e, " : u32[] storage %s set(%d) binding(%u)\n", is_read ? "ro" : "rw", KERNEL_MEMORY_SET, name);
}

/* Appends a program whose invocations each execute one row. */
static void
add_program(expander *e, const kernel_function *phase, bool is_listed)
{
  const bool from_end = phase->direction == VYRE_DIRECTION_DOWN || phase->direction == VYRE_DIRECTION_OUTWARD;
  const int length = (int)phase->name.length;
  const char *name = e->file->text + phase->name.at;
  note_piece(e, phase->name.at, 0);
  ADD(e, "\nprogram @%.*s_%s {\n", length, name, is_listed ? "listed" : "rows");
  for (uint32_t i = 0; i < e->file->name_count; i++)
    if (phase->names >> i & 1)
      add_buffer(e, i);
  if (is_listed)
    ADD(e, "  buffer %%\"the list\" : u32[] storage ro set(0) binding(0)\n");
  ADD(e, "  %%\"%s\" = %s\n", KERNEL_OWN_ROW,
      is_listed  ? "load(%\"the list\"[gid.x])"
      : from_end ? "sub(groups.x, gid.x)"
                 : "add(gid.x, 1u32)"); /* begins at row 1, because row 0 is the null row */
  ADD(e, "  @%.*s(%%\"%s\"", length, name, KERNEL_OWN_ROW);
  add_names(e, phase->names, true, "");
  ADD(e, ")\n}\n");
}

vyre_status
kernel_expand_functions(kernel_file *file, kernel_expansion *out)
{
  *out = (kernel_expansion){.file = file};
  expander e = {.out = out, .file = file, .lexer = {.text = file->text, .length = file->length}};
  expand_functions(&e);
  ADD(&e, "\n");
  return e.status;
}

vyre_status
kernel_expand(kernel_file *file, kernel_expansion *out)
{
  expander e = {.out = out, .file = file, .status = kernel_expand_functions(file, out)};
  for (uint32_t listed = 0; listed < 2; listed++)
    for (uint32_t i = 0; i < file->function_count; i++)
      if (file->functions[i].is_phase)
        add_program(&e, &file->functions[i], listed);
  return e.status;
}

void
kernel_expansion_free(kernel_expansion *expansion)
{
  vyre_bytes_free(&expansion->text);
  vyre_bytes_free(&expansion->pieces);
  vyre_bytes_free(&expansion->in_bounds);
}

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

static uint32_t
offset_of(const vyre_bytes *text, uint32_t line, uint32_t column)
{
  const char *at = text->data, *end = at + text->size;
  for (uint32_t i = 1; i < line && at; i++) {
    at = memchr(at, '\n', (size_t)(end - at));
    at = at ? at + 1 : end;
  }
  return (uint32_t)(at - text->data) + (column ? column - 1 : 0);
}

/* Returns the place in the file of a place in the expanded text. */
static kernel_text
place_of(const kernel_expansion *expansion, uint32_t line, uint32_t column, uint32_t length)
{
  const kernel_piece *pieces = (const kernel_piece *)(const void *)expansion->pieces.data;
  const size_t count = expansion->pieces.size / sizeof *pieces;
  const uint32_t at = offset_of(&expansion->text, line, column);
  kernel_text where = {0};
  for (size_t i = 0; i < count && pieces[i].at <= at; i++) {
    const uint32_t into = at - pieces[i].at;
    const bool inside = into < pieces[i].length;
    where = (kernel_text){pieces[i].from + (inside ? into : 0), inside ? length : 1};
  }
  return where;
}

/* Replaces line numbers of the expanded text in a message, because users do not see that text. */
static void
mend_line(const kernel_expansion *expansion, const char *message, char *out, size_t size)
{
  static const char before[] = "first in line ";
  const char *at = strstr(message, before);
  uint32_t line, start;
  snprintf(out, size, "%s", message);
  if (!at)
    return;
  const uint32_t from = place_of(expansion, (uint32_t)strtoul(at + sizeof before - 1, NULL, 10), 1, 1).at;
  const uint32_t source = kernel_line_of(expansion->file, from, &line, &start);
  snprintf(out, size, "%.*sfirst in %s:%u", (int)(at - message), message, kernel_source_path(expansion->file, source), line);
}

void
kernel_emit(void *user, const vyre_diagnostic *diagnostic)
{
  const kernel_expansion *expansion = user;
  char message[400];
  mend_line(expansion, diagnostic->message, message, sizeof message);
  kernel_error(expansion->file, place_of(expansion, diagnostic->line, diagnostic->column, diagnostic->length), diagnostic->fix,
               "%s", message);
}

bool
kernel_error_at(const kernel_expansion *expansion, const vyre_module *module, uint32_t row, const char *fix, const char *format,
                ...)
{
  char message[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  vyre_string file;
  uint32_t line = 1, column = 1;
  vyre_row_line(module, (vyre_row){row}, &file, &line, &column);
  return kernel_error(expansion->file, place_of(expansion, line, column, 1), fix, "%s", message);
}
