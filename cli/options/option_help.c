/* The help of a table of options: -help, a manual page, and completions for shells.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "option_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HELP_INDENT = 24, HELP_WIDTH = 118 };

static bool
is_listed(const option_row *o)
{
  return o->help && !(o->flags & OPTION_ABSENT);
}

/* Prints an option's form: "-load=FILE" or "-o FILE" if it needs a value, "-stats[=text|json]" if it may have one.  Prints a
 * heading unchanged. */
static int
print_form(const option_row *o, char *out, size_t size)
{
  const char *between = !o->value ? "" : o->alone ? (o->name[1] ? "[=" : "[") : o->name[1] ? "=" : " ";
  return snprintf(out, size, "%s%s%s%s%s", o->kind == OPTION_SECTION ? "" : "-", o->name, between, o->value ? o->value : "",
                  o->alone ? "]" : "");
}

/* ---- -help --------------------------------------------------------------------------------------------------------------- */

/* Prints text in lines of at most HELP_WIDTH columns.  The cursor is at `column`. */
static vyre_status
print_wrapped(const char *text, size_t column, vyre_bytes *out)
{
  while (*text) {
    const size_t length = strcspn(text, " ");
    if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
      VYRE_TRY(vyre_bytes_printf(out, "\n%*s", HELP_INDENT, ""));
      column = HELP_INDENT;
    } else if (column > HELP_INDENT) {
      VYRE_TRY(vyre_bytes_append(out, " ", 1));
      column++;
    }
    VYRE_TRY(vyre_bytes_append(out, text, length));
    column += length;
    text += length + (text[length] == ' ');
  }
  return vyre_bytes_append(out, "\n", 1);
}

static vyre_status
print_text(const option_table *table, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "usage: %s %s\n\n%s", table->program, table->usage, table->about));
  for (size_t i = 0; i < table->count; i++) {
    const option_row *o = &table->rows[i];
    char form[160];
    if (o->kind == OPTION_SECTION)
      VYRE_TRY(vyre_bytes_printf(out, "\n%s:\n", o->name));
    if (o->kind == OPTION_SECTION || !is_listed(o))
      continue;
    if (print_form(o, form, sizeof form) < HELP_INDENT - 3)
      VYRE_TRY(vyre_bytes_printf(out, "  %-*s", HELP_INDENT - 2, form));
    else
      VYRE_TRY(vyre_bytes_printf(out, "  %s\n%*s", form, HELP_INDENT, ""));
    VYRE_TRY(print_wrapped(o->help, HELP_INDENT, out));
  }
  return table->after[0] ? vyre_bytes_printf(out, "\n%s", table->after) : VYRE_OK;
}

/* ---- a manual page ------------------------------------------------------------------------------------------------------- */

/* Prints text literally: without requests of roff, and with hyphens that stay '-'. */
static vyre_status
print_roff(const char *text, vyre_bytes *out)
{
  bool begins = true;
  for (; *text; text++) {
    const char c = *text;
    if (begins && (c == '.' || c == '\''))
      VYRE_TRY(vyre_bytes_append(out, "\\&", 2));
    begins = c == '\n';
    if (c == '\\')
      VYRE_TRY(vyre_bytes_append(out, "\\e", 2));
    else if (c == '-')
      VYRE_TRY(vyre_bytes_append(out, "\\-", 2));
    else
      VYRE_TRY(vyre_bytes_append(out, &c, 1));
  }
  return VYRE_OK;
}

/* Prints a section of lines that roff does not join. */
static vyre_status
print_roff_lines(const char *section, const char *text, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, ".SH %s\n.nf\n", section));
  VYRE_TRY(print_roff(text, out));
  return vyre_bytes_printf(out, ".fi\n");
}

static vyre_status
print_man(const option_table *table, const char *version, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, ".TH %s 1 \"\" \"vyre %s\"\n.SH NAME\n%s \\- ", table->program, version, table->program));
  const size_t first = strcspn(table->about, ".:\n");
  char name[256];
  snprintf(name, sizeof name, "%.*s\n", (int)first, table->about);
  name[0] = (char)tolower((unsigned char)name[0]);
  VYRE_TRY(print_roff(name, out));
  VYRE_TRY(vyre_bytes_printf(out, ".SH SYNOPSIS\n.B %s\n", table->program));
  VYRE_TRY(print_roff(table->usage, out));
  VYRE_TRY(vyre_bytes_append(out, "\n", 1));
  VYRE_TRY(print_roff_lines("DESCRIPTION", table->about, out));
  VYRE_TRY(vyre_bytes_printf(out, ".SH OPTIONS\n"));
  for (size_t i = 0; i < table->count; i++) {
    const option_row *o = &table->rows[i];
    char form[160];
    if (o->kind != OPTION_SECTION && !is_listed(o))
      continue;
    print_form(o, form, sizeof form);
    VYRE_TRY(vyre_bytes_printf(out, o->kind == OPTION_SECTION ? ".SS " : ".TP\n.B "));
    VYRE_TRY(print_roff(form, out));
    VYRE_TRY(vyre_bytes_append(out, "\n", 1));
    if (o->help) {
      VYRE_TRY(print_roff(o->help, out));
      VYRE_TRY(vyre_bytes_append(out, "\n", 1));
    }
  }
  return table->after[0] ? print_roff_lines("NOTES", table->after, out) : VYRE_OK;
}

/* ---- shells -------------------------------------------------------------------------------------------------------------- */

typedef enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH } shell;
typedef enum value_is { VALUE_OTHER, VALUE_WORDS, VALUE_FILE, VALUE_FOLDER } value_is;

static value_is
value_of(const option_row *o)
{
  return o->kind == OPTION_WORD                          ? VALUE_WORDS
         : o->value && strncmp(o->value, "FILE", 4) == 0 ? VALUE_FILE
         : o->value && strncmp(o->value, "DIR", 3) == 0  ? VALUE_FOLDER
                                                         : VALUE_OTHER;
}

static vyre_status
print_words(const char *words, vyre_bytes *out)
{
  for (; *words; words++)
    VYRE_TRY(vyre_bytes_append(out, *words == '|' ? " " : words, 1));
  return VYRE_OK;
}

/* Prints the first sentence of an option's help for a string in single quotes.  Escapes characters that end a description in zsh.
 */
static vyre_status
print_described(shell of, const char *help, vyre_bytes *out)
{
  const char *const end = strstr(help, ". ");
  const size_t sentence = end ? (size_t)(end - help) : strlen(help), clause = strcspn(help, ";");
  const size_t length = clause < sentence ? clause : sentence;
  for (size_t i = 0; i < length; i++) {
    const char c = help[i];
    if (c == '\'')
      VYRE_TRY(vyre_bytes_printf(out, of == SHELL_FISH ? "\\'" : "'\\''"));
    else if (c == '\\' || (of == SHELL_ZSH && (c == '[' || c == ']' || c == ':')))
      VYRE_TRY(vyre_bytes_printf(out, "\\%c", c));
    else
      VYRE_TRY(vyre_bytes_append(out, &c, 1));
  }
  return VYRE_OK;
}

/* Bash splits words at '='. */
static const char bash_begin[] = "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                                 "  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
                                 "  [[ $word == = ]] && word=\n"
                                 "  before=${before/#--/-}\n"
                                 "  case $before in\n";

static vyre_status
print_bash(const option_table *table, vyre_bytes *out)
{
  char function[64];
  snprintf(function, sizeof function, "_%s", table->program);
  for (char *c = function; *c; c++)
    *c = *c == '-' ? '_' : *c;
  VYRE_TRY(vyre_bytes_printf(out, "# bash completion of %s\n%s() {\n%s", table->program, function, bash_begin));
  for (size_t i = 0; i < table->count; i++) {
    const option_row *o = &table->rows[i];
    const value_is is = value_of(o);
    if (o->kind == OPTION_SECTION || is == VALUE_OTHER)
      continue;
    VYRE_TRY(vyre_bytes_printf(out, "    -%s) COMPREPLY=($(compgen -%c ", o->name,
                               is == VALUE_WORDS  ? 'W'
                               : is == VALUE_FILE ? 'f'
                                                  : 'd'));
    if (is == VALUE_WORDS) {
      VYRE_TRY(vyre_bytes_printf(out, "'"));
      VYRE_TRY(print_words(o->value, out));
      VYRE_TRY(vyre_bytes_printf(out, "' "));
    }
    VYRE_TRY(vyre_bytes_printf(out, "-- \"$word\")); return ;;\n"));
  }
  VYRE_TRY(vyre_bytes_printf(out, "  esac\n  [[ $word == -* ]] || { COMPREPLY=($(compgen -f -- \"$word\")); return; }\n"
                                  "  [[ $word == --* ]] && word=${word:1}\n  COMPREPLY=($(compgen -W '"));
  bool is_first = true;
  for (size_t i = 0; i < table->count; i++) {
    const option_row *o = &table->rows[i];
    if (o->kind == OPTION_SECTION || !is_listed(o))
      continue;
    VYRE_TRY(vyre_bytes_printf(out, "%s-%s%s", is_first ? "" : " ", o->name, o->value && !o->alone ? "=" : ""));
    is_first = false;
  }
  return vyre_bytes_printf(out,
                           "' -- \"$word\"))\n  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n}\n"
                           "complete -o filenames -F %s %s\n",
                           function, table->program);
}

/* Prints an argument of _arguments: '*-load=[help]:FILE:_files'. */
static vyre_status
print_zsh_row(const option_row *o, vyre_bytes *out)
{
  const value_is is = value_of(o);
  const bool is_again = o->kind == OPTION_LIST || o->kind == OPTION_SETTING || o->kind == OPTION_CUSTOM;
  VYRE_TRY(vyre_bytes_printf(out, " \\\n  '%s-%s%s[", is_again ? "*" : "", o->name,
                             !o->value                  ? ""
                             : o->alone                 ? "=-"
                             : o->flags & OPTION_JOINED ? "+"
                                                        : "="));
  VYRE_TRY(print_described(SHELL_ZSH, o->help, out));
  if (!o->value)
    return vyre_bytes_printf(out, "]'");
  VYRE_TRY(vyre_bytes_printf(out, o->alone ? "]::value:" : "]:value:"));
  if (is == VALUE_WORDS) {
    VYRE_TRY(vyre_bytes_printf(out, "("));
    VYRE_TRY(print_words(o->value, out));
    return vyre_bytes_printf(out, ")'");
  }
  return vyre_bytes_printf(out, "%s'", is == VALUE_FILE ? "_files" : is == VALUE_FOLDER ? "_files -/" : "");
}

static vyre_status
print_zsh(const option_table *table, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "#compdef %s\n_arguments", table->program));
  for (size_t i = 0; i < table->count; i++)
    if (table->rows[i].kind != OPTION_SECTION && table->rows[i].help)
      VYRE_TRY(print_zsh_row(&table->rows[i], out));
  return vyre_bytes_printf(out, " \\\n  '*:input:_files'\n");
}

static vyre_status
print_fish(const option_table *table, vyre_bytes *out)
{
  for (size_t i = 0; i < table->count; i++) {
    const option_row *o = &table->rows[i];
    const value_is is = value_of(o);
    if (o->kind == OPTION_SECTION || !is_listed(o))
      continue;
    const char *value = !o->value || o->alone ? ""
                        : is == VALUE_FILE    ? " -r -F"
                        : is == VALUE_FOLDER  ? " -x -a '(__fish_complete_directories)'"
                                              : " -x";
    VYRE_TRY(vyre_bytes_printf(out, "complete -c %s -o %s%s", table->program, o->name, value));
    if (is == VALUE_WORDS) {
      VYRE_TRY(vyre_bytes_printf(out, " -a '"));
      VYRE_TRY(print_words(o->value, out));
      VYRE_TRY(vyre_bytes_printf(out, "'"));
    }
    VYRE_TRY(vyre_bytes_printf(out, " -d '"));
    VYRE_TRY(print_described(SHELL_FISH, o->help, out));
    VYRE_TRY(vyre_bytes_printf(out, "'\n"));
  }
  return VYRE_OK;
}

vyre_status
option_table_help(const option_table *table, const char *format, const char *version, vyre_bytes *out)
{
  return strcmp(format, "man") == 0    ? print_man(table, version, out)
         : strcmp(format, "bash") == 0 ? print_bash(table, out)
         : strcmp(format, "zsh") == 0  ? print_zsh(table, out)
         : strcmp(format, "fish") == 0 ? print_fish(table, out)
                                       : print_text(table, out);
}
