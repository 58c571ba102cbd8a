/* Command lines.  A table of options drives parsing, checks, -help, a manual page and the completions of shells.
 *
 * Options begin with one dash or two, in any order, also after inputs.  "--" ends the options.  A value follows '=' or is the next
 * argument, which must not begin with a dash unless it is "-".  @FILE is replaced by the arguments in that file, separated by
 * blanks and line ends, with quotes and backslashes as in a shell.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_OPTION_TABLE_H
#define VYRE_CLI_OPTIONS_OPTION_TABLE_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of an option's field. */
typedef enum option_kind {
  OPTION_SECTION, /* no field: the name is a heading of the options after it */
  OPTION_FLAG,    /* bool */
  OPTION_TEXT,    /* const char *, NULL if absent */
  OPTION_WORD,    /* const char *, one of the words of `value`: "vir|spirv|c" */
  OPTION_NUMBER,  /* option_number, decimal or hexadecimal after 0x */
  OPTION_LIST,    /* name_list; the option may be repeated */
  OPTION_SETTING, /* name_list, which several options share: NAME or NAME=VALUE is added; may be repeated */
  OPTION_CUSTOM   /* parsed by `parse`; the option may be repeated */
} option_kind;

enum {
  OPTION_JOINED = 1,     /* the value may follow the one-letter name directly: -Idir */
  OPTION_LAST = 2,       /* may be repeated, and the last one counts */
  OPTION_EMPTY = 4,      /* the value may be empty */
  OPTION_KEPT = 8,       /* part of a reproducer */
  OPTION_KEPT_FILE = 16, /* part of a reproducer, and a path */
  OPTION_ASIDE = 32,     /* does not change the bytes of an output, or names files whose contents are hashed */
  OPTION_POSIX = 64,     /* not supported on Windows, and not in -help there */
  OPTION_SAFE = 128      /* allowed in an untrusted file: does not read, write, load or run anything that its value names */
};

#ifndef OPTION_ABSENT /* a build for Windows defines it */
#define OPTION_ABSENT 0
#endif

typedef struct name_list {
  const char **names; /* owned array of borrowed arguments */
  uint32_t count, capacity;
} name_list;

/* Texts that the parser allocates. */
typedef struct option_texts {
  char **texts;
  uint32_t count, capacity;
} option_texts;

VYRE_MUST_USE vyre_status name_list_append(name_list *list, const char *name);
/* Appends a copy of the name, which `texts` owns. */
VYRE_MUST_USE vyre_status name_list_append_copy(name_list *list, const char *name, option_texts *texts);
void name_list_free(name_list *list);
void option_texts_free(option_texts *texts);

typedef struct option_number {
  const char *text; /* NULL if absent; then `value` keeps the default */
  uint64_t value;
} option_number;

typedef struct option_row {
  const char *name;
  option_kind kind;
  size_t field;
  const char *value; /* the value's form in -help: FILE, DIR, N, vir|spirv; NULL for a flag */
  const char *help;  /* NULL for an alias, which is not listed */
  uint32_t flags;
  uint64_t least, most;                                  /* the range of a number */
  const char *alone;                                     /* the value of the option without '='; NULL if it needs a value */
  vyre_status (*parse)(const char *value, void *fields); /* parses an OPTION_CUSTOM */
} option_row;

typedef struct option_table {
  const char *program, *usage; /* "vyre-run", "[options] FILE" */
  const char *about, *after;   /* lines before and after the options in -help */
  const option_row *rows;
  size_t count;
  size_t inputs; /* the field for arguments that are not options, a name_list */
  size_t files;  /* the field for allocated texts, an option_texts */
  /* For each argument the text that messages show instead of the option's name, with one dash or two; or NULL.  The array may be
   * NULL.  Files of arguments have no such texts. */
  const char *const *origins;
} option_table;

/* Parses argv into *fields, which hold the defaults.  Borrows argv.  Returns USAGE for a wrong command line. */
VYRE_MUST_USE vyre_status option_table_parse(const option_table *table, int argc, char **argv, void *fields);
/* Frees the lists, also after a failed parse. */
void option_table_free(const option_table *table, void *fields);
/* Appends the options of a reproducer, "-name=value", each on a line after `before`, with absolute paths.  Returns INPUT if a value
 * contains a line end. */
VYRE_MUST_USE vyre_status option_table_print_kept(const option_table *table, const void *fields, const char *before,
                                                  vyre_bytes *out);
/* Returns whether an untrusted file may contain the argument.  The option must be OPTION_SAFE, and its value must be in the same
 * argument and must not begin with '@'. */
bool option_table_is_safe(const option_table *table, const char *argument);
/* Appends the given options that outputs may depend on: all except OPTION_ASIDE, OPTION_CUSTOM and inputs. */
VYRE_MUST_USE vyre_status option_table_print_shaping(const option_table *table, const void *fields, vyre_bytes *out);

/* ---- option_help.c ------------------------------------------------------------------------------------------------------- */

#define OPTION_HELP_FORMATS "text|man|bash|zsh|fish"
/* Rows for -help and -h.  `field` is the field of an OPTION_WORD. */
#define OPTION_HELP_ROWS(field)                                                 \
  {.name = "help",                                                              \
   OPTION_WORD,                                                                 \
   field,                                                                       \
   OPTION_HELP_FORMATS,                                                         \
   "print this help, a manual page, or completions for a shell",                \
   .alone = "text"},                                                            \
  {                                                                             \
    .name = "h", OPTION_WORD, field, OPTION_HELP_FORMATS, NULL, .alone = "text" \
  }

/* Appends the help in that format.  The manual page contains `version`. */
VYRE_MUST_USE vyre_status option_table_help(const option_table *table, const char *format, const char *version, vyre_bytes *out);

#endif
