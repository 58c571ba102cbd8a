/* Parses command lines by a table of options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "option_table.h"

#include "base/grow.h"
#include "base/suggest.h"
#include "vyre/io.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16 }; /* nested response files */

static void *
field_of(void *fields, const option_row *o)
{
  return (char *)fields + o->field;
}

vyre_status
name_list_append(name_list *list, const char *name)
{
  if (!vyre_grow(NULL, &list->names, &list->capacity, list->count + 1, sizeof *list->names))
    return VYRE_OUT_OF_MEMORY("for the command line");
  list->names[list->count++] = name;
  return VYRE_OK;
}

/* Adds a text from malloc and owns it.  Frees the text on failure. */
static vyre_status
keep_text(option_texts *texts, char *text)
{
  if (!text || !vyre_grow(NULL, &texts->texts, &texts->capacity, texts->count + 1, sizeof *texts->texts)) {
    free(text);
    return VYRE_OUT_OF_MEMORY("for the command line");
  }
  texts->texts[texts->count++] = text;
  return VYRE_OK;
}

vyre_status
name_list_append_copy(name_list *list, const char *name, option_texts *texts)
{
  char *copy = strdup(name);
  VYRE_TRY(keep_text(texts, copy));
  return name_list_append(list, copy);
}

void
name_list_free(name_list *list)
{
  free(list->names);
  *list = (name_list){0};
}

void
option_texts_free(option_texts *texts)
{
  for (uint32_t i = 0; i < texts->count; i++)
    free(texts->texts[i]);
  free(texts->texts);
  *texts = (option_texts){0};
}

static vyre_status
unknown(const option_table *table, const char *argument, size_t dashes, size_t length)
{
  vyre_suggestion near = {.word = argument + dashes, .length = length};
  const int shown = (int)(dashes + (length > 200 ? 200 : length));
  for (size_t i = 0; i < table->count; i++)
    if (table->rows[i].help)
      vyre_suggest(&near, table->rows[i].name);
  if (near.best)
    return VYRE_ERROR(VYRE_CODE_USAGE, "unknown option '%.*s'; did you mean '-%s'?\nFix: -help lists the options", shown, argument,
                      near.best);
  return VYRE_ERROR(VYRE_CODE_USAGE, "unknown option '%.*s'\nFix: -help lists the options", shown, argument);
}

static const option_row *
find(const option_table *table, const char *name, size_t length)
{
  for (size_t i = 0; i < table->count; i++) {
    const option_row *o = &table->rows[i];
    if (o->kind != OPTION_SECTION && strlen(o->name) == length && memcmp(o->name, name, length) == 0)
      return o;
  }
  for (size_t i = 0; i < table->count; i++) /* -DNAME, -Ifolder */
    if ((table->rows[i].flags & OPTION_JOINED) && length > 1 && table->rows[i].name[0] == name[0])
      return &table->rows[i];
  return NULL;
}

static bool
is_word(const char *words, const char *value)
{
  const size_t length = strlen(value);
  for (; *words; words += strcspn(words, "|"), words += *words == '|')
    if (strcspn(words, "|") == length && memcmp(words, value, length) == 0)
      return true;
  return false;
}

/* Returns the error "-emit is vir, spirv or c, not 'x'". */
static vyre_status
unknown_word(const option_row *o, const char *shown, const char *value)
{
  char words[256] = "";
  size_t used = 0;
  for (const char *at = o->value; *at && used < sizeof(words);) {
    const size_t length = strcspn(at, "|");
    const bool is_last = at[length] == '\0';
    const char *before = at == o->value ? "" : is_last ? " or " : ", ";
    used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%.*s", before, (int)length, at);
    at += length + !is_last;
  }
  return VYRE_ERROR(VYRE_CODE_USAGE, "-%s is %s, not '%.200s'\nFix: use one of these words", shown, words, value);
}

static vyre_status
store_number(const option_row *o, const char *shown, const char *value, option_number *out)
{
  const bool is_hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
  char *end;
  errno = 0;
  const unsigned long long number = strtoull(value, &end, is_hex ? 16 : 10);
  if (value[0] < '0' || value[0] > '9' || *end || errno || number < o->least || number > o->most)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-%s must be a number from %" PRIu64 " to %" PRIu64 ", not '%.200s'\nFix: give a number in this range", shown,
                      o->least, o->most, value);
  *out = (option_number){value, number};
  return VYRE_OK;
}

/* Adds NAME or NAME=VALUE to the list of settings.  `value` is NULL for a setting without a value. */
static vyre_status
add_setting(const option_table *table, const option_row *o, const char *value, void *fields)
{
  vyre_bytes text = {0};
  vyre_status status = vyre_bytes_printf(&text, value ? "%s=%s" : "%s", o->name, value);
  if (!status)
    status = name_list_append_copy(field_of(fields, o), text.data, (void *)((char *)fields + table->files));
  vyre_bytes_free(&text);
  return status;
}

/* Stores a value.  `shown` is the option in messages, without its first dash. */
static vyre_status
store(const option_row *o, const char *shown, const char *value, void *fields)
{
  void *field = field_of(fields, o);
  if (o->kind == OPTION_LIST)
    return name_list_append(field, value);
  if (o->kind == OPTION_CUSTOM)
    return o->parse(value, fields);
  const char **text = o->kind == OPTION_NUMBER ? &((option_number *)field)->text : field;
  if (*text && !(o->flags & OPTION_LAST))
    return VYRE_ERROR(VYRE_CODE_USAGE, "option '-%s' is given twice\nFix: give it once", shown);
  if (o->kind == OPTION_NUMBER)
    return store_number(o, shown, value, field);
  if (o->kind == OPTION_WORD && !is_word(o->value, value))
    return unknown_word(o, shown, value);
  *text = value;
  return VYRE_OK;
}

/* Parses the option at argv[*at] and the value that may follow it. */
static vyre_status
parse_option(const option_table *table, int argc, char **argv, int *at, void *fields)
{
  const char *argument = argv[*at];
  const size_t dashes = argument[1] == '-' ? 2 : 1;
  const char *name = argument + dashes;
  const size_t length = strcspn(name, "=");
  const option_row *o = find(table, name, length);
  const char *shown = table->origins && table->origins[*at] ? table->origins[*at] + 1 : o ? o->name : name;
  if (!o)
    return unknown(table, argument, dashes, length);
  if (o->flags & OPTION_ABSENT)
    return VYRE_ERROR(VYRE_CODE_USAGE, "option '-%s' is not supported on Windows\nFix: leave it out, or use vyre on Linux", shown);
  const char *value = name[length] == '=' ? name + length + 1 : NULL;
  if (o->kind == OPTION_FLAG || (o->kind == OPTION_SETTING && !o->value)) {
    if (value)
      return VYRE_ERROR(VYRE_CODE_USAGE, "option '-%s' takes no value\nFix: write -%s", shown, shown);
    if (o->kind == OPTION_SETTING)
      return add_setting(table, o, NULL, fields);
    *(bool *)field_of(fields, o) = true;
    return VYRE_OK;
  }
  if ((o->flags & OPTION_JOINED) && strlen(o->name) < length)
    value = name + 1;
  if (!value)
    value = o->alone;
  if (!value && *at + 1 < argc && (argv[*at + 1][0] != '-' || argv[*at + 1][1] == '\0'))
    value = argv[++*at];
  if (!value || (value[0] == '\0' && !(o->flags & OPTION_EMPTY)))
    return VYRE_ERROR(VYRE_CODE_USAGE, "option '-%s' needs a value\nFix: -%s=%s", shown, shown, o->value);
  return o->kind == OPTION_SETTING ? add_setting(table, o, value, fields) : store(o, shown, value, fields);
}

bool
option_table_is_safe(const option_table *table, const char *argument)
{
  const size_t dashes = argument[0] != '-' ? 0 : argument[1] == '-' ? 2 : 1, length = strcspn(argument + dashes, "=");
  const option_row *o = dashes ? find(table, argument + dashes, length) : NULL;
  if (!o || !(o->flags & OPTION_SAFE))
    return false;
  const char *value = argument + dashes + length;
  const bool is_whole = *value || o->kind == OPTION_FLAG || o->alone || strlen(o->name) < length;
  return is_whole && value[*value == '='] != '@'; /* an option that is not whole has its value in the next argument */
}

/* ---- response files ------------------------------------------------------------------------------------------------------ */

/* Returns the next argument at *at, unquoted in place, or NULL at the end. */
static char *
cut_argument(char **at)
{
  char *from = *at + strspn(*at, " \t\r\n"), *to = from, *begin = from, quote = '\0';
  if (!*from)
    return NULL;
  for (; *from && (quote || !strchr(" \t\r\n", *from)); from++) {
    if (*from == quote)
      quote = '\0';
    else if (!quote && (*from == '"' || *from == '\''))
      quote = *from;
    else
      *to++ = *from == '\\' && from[1] ? *++from : *from;
  }
  *at = from + (*from != '\0');
  *to = '\0';
  return begin;
}

static vyre_status parse(const option_table *table, int argc, char **argv, void *fields, uint32_t depth);

static vyre_status
parse_text(const option_table *table, char *text, void *fields, uint32_t depth)
{
  char **argv = malloc((strlen(text) / 2 + 3) *
                       sizeof *argv); /* an argument and a blank are two bytes; then the program, a last argument and NULL */
  int argc = 1;
  if (!argv)
    return VYRE_OUT_OF_MEMORY("for the command line");
  argv[0] = NULL; /* the program */
  while ((argv[argc] = cut_argument(&text)))
    argc++;
  option_table without = *table;
  without.origins = NULL;
  vyre_status status = parse(&without, argc, argv, fields, depth);
  free(argv);
  return status;
}

static vyre_status
parse_file(const option_table *table, const char *path, void *fields, uint32_t depth)
{
  option_texts *files = (void *)((char *)fields + table->files);
  vyre_bytes bytes = {0};
  if (depth == MOST_DEPTH)
    return VYRE_ERROR(VYRE_CODE_USAGE, "'@%s': files of arguments include each other more than %u deep\nFix: remove the cycle",
                      path, MOST_DEPTH);
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_TEXT, &bytes);
  if (status)
    return vyre_status_add_fix(status, VYRE_CODE_USAGE,
                               "@FILE reads arguments from a file; write ./@FILE for an input of that name");
  char *text = vyre_allocate(NULL, bytes.size + 1);
  if (text && bytes.size)
    memcpy(text, bytes.data, bytes.size);
  status = keep_text(files, text);
  if (!status)
    status = vyre_status_note(parse_text(table, text, fields, depth + 1), "in '@%s'", path);
  vyre_bytes_free(&bytes);
  return status;
}

static vyre_status
parse(const option_table *table, int argc, char **argv, void *fields, uint32_t depth)
{
  name_list *inputs = (void *)((char *)fields + table->inputs);
  bool only_inputs = false;
  for (int at = 1; at < argc; at++) {
    const char *argument = argv[at];
    if (!only_inputs && strcmp(argument, "--") == 0)
      only_inputs = true;
    else if (!only_inputs && argument[0] == '@' && argument[1])
      VYRE_TRY(parse_file(table, argument + 1, fields, depth));
    else if (only_inputs || argument[0] != '-' || argument[1] == '\0')
      VYRE_TRY(name_list_append(inputs, argument));
    else
      VYRE_TRY(parse_option(table, argc, argv, &at, fields));
  }
  return VYRE_OK;
}

vyre_status
option_table_parse(const option_table *table, int argc, char **argv, void *fields)
{
  return parse(table, argc, argv, fields, 0);
}

/* -------------------------------------------------------------------------------------------------------------------------- */

void
option_table_free(const option_table *table, void *fields)
{
  name_list *inputs = (void *)((char *)fields + table->inputs);
  option_texts *files = (void *)((char *)fields + table->files);
  option_texts_free(files);
  name_list_free(inputs);
  for (size_t i = 0; i < table->count; i++)
    if (table->rows[i].kind == OPTION_LIST || table->rows[i].kind == OPTION_SETTING)
      name_list_free(field_of(fields, &table->rows[i])); /* an alias shares the list; the second call frees an empty list */
}

static vyre_status
print_kept(const option_row *o, const char *value, const char *before, vyre_bytes *out)
{
  char full[PATH_MAX];
  if (!value)
    return VYRE_OK;
  if ((o->flags & OPTION_KEPT_FILE) && realpath(value, full))
    value = full;
  if (value[strcspn(value, "\r\n")])
    return VYRE_ERROR(VYRE_CODE_INPUT, "the value of -%s contains a line end\nFix: remove it", o->name);
  return vyre_bytes_printf(out, "%s-%s=%s\n", before, o->name, value);
}

/* Prints the settings of `list` that have the option's name. */
static vyre_status
print_settings(const option_row *o, const name_list *list, const char *before, vyre_bytes *out)
{
  const size_t length = strlen(o->name);
  for (uint32_t i = 0; i < list->count; i++)
    if (strncmp(list->names[i], o->name, length) == 0 && (!list->names[i][length] || list->names[i][length] == '='))
      VYRE_TRY(vyre_bytes_printf(out, "%s-%s\n", before, list->names[i]));
  return VYRE_OK;
}

static vyre_status
print_row(const option_row *o, const void *fields, const char *before, vyre_bytes *out)
{
  const void *field = (const char *)fields + o->field;
  if (o->kind == OPTION_FLAG && *(const bool *)field)
    return vyre_bytes_printf(out, "%s-%s\n", before, o->name);
  if (o->kind == OPTION_TEXT || o->kind == OPTION_WORD)
    return print_kept(o, *(const char *const *)field, before, out);
  if (o->kind == OPTION_NUMBER)
    return print_kept(o, ((const option_number *)field)->text, before, out);
  if (o->kind == OPTION_SETTING)
    return print_settings(o, field, before, out);
  for (uint32_t k = 0; o->kind == OPTION_LIST && k < ((const name_list *)field)->count; k++)
    VYRE_TRY(print_kept(o, ((const name_list *)field)->names[k], before, out));
  return VYRE_OK;
}

vyre_status
option_table_print_kept(const option_table *table, const void *fields, const char *before, vyre_bytes *out)
{
  for (size_t i = 0; i < table->count; i++)
    if (table->rows[i].flags & (OPTION_KEPT | OPTION_KEPT_FILE))
      VYRE_TRY(print_row(&table->rows[i], fields, before, out));
  return VYRE_OK;
}

vyre_status
option_table_print_shaping(const option_table *table, const void *fields, vyre_bytes *out)
{
  for (size_t i = 0; i < table->count; i++)
    if (!(table->rows[i].flags & OPTION_ASIDE))
      VYRE_TRY(print_row(&table->rows[i], fields, "", out));
  return VYRE_OK;
}
