/* Command lines: a table of options gives parsing, checks, -help, a man page and the completions of shells.
 *
 * Options begin with one dash or two, in any order, also after inputs; "--" ends them.  A value follows '=' or is the next
 * argument, which does not begin with a dash then, unless it is "-" alone.  @FILE stands for what is in that file: arguments
 * between blanks and line ends, each as it is or with parts in quotes, and a character after a backslash as it is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_OPTION_TABLE_H
#define VYRE_CLI_OPTIONS_OPTION_TABLE_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What its field is. */
typedef enum option_kind {
  OPTION_SECTION, /* none: a heading of those after it, its name */
  OPTION_FLAG,    /* bool */
  OPTION_TEXT,    /* const char *; NULL: not given */
  OPTION_WORD,    /* the same, one of `value`, "vir|spirv|c" */
  OPTION_NUMBER,  /* option_number; decimal, or hexadecimal after 0x */
  OPTION_LIST,    /* name_list: it may be given more than once */
  OPTION_TAKEN    /* what `take` makes of it: likewise */
} option_kind;

enum {
  OPTION_JOINED = 1,     /* the value may follow the name, which is a letter: -Idir */
  OPTION_LAST = 2,       /* of several the last one counts */
  OPTION_EMPTY = 4,      /* the value may be empty */
  OPTION_KEPT = 8,       /* another run of the same needs it, too */
  OPTION_KEPT_FILE = 16, /* likewise, and it is a path */
  OPTION_ASIDE = 32,     /* what an output is does not depend on it, beside what it is of */
  OPTION_POSIX = 64,     /* not available on Windows: refused there, and not in -help */
  OPTION_SAFE = 128      /* a file that is not trusted may give it: it reads, writes, loads and runs nothing that its value names */
};

#ifndef OPTION_ABSENT /* a build for Windows defines it */
#define OPTION_ABSENT 0
#endif

typedef struct name_list {
  const char **names; /* owned array of borrowed arguments */
  uint32_t count, capacity;
} name_list;

/* What the table's own code allocates. */
typedef struct option_texts {
  char **texts;
  uint32_t count, capacity;
} option_texts;

VYRE_MUST_USE vyre_status name_list_append(name_list *list, const char *name);
/* Appends a copy of the name, which `texts` owns. */
VYRE_MUST_USE vyre_status name_list_append_copy(name_list *list, const char *name, option_texts *texts);

typedef struct option_number {
  const char *text; /* NULL: not given; `value` is what it was before, the default */
  uint64_t value;
} option_number;

typedef struct option_row {
  const char *name;
  option_kind kind;
  size_t field;
  const char *value; /* for -help: FILE, DIR, N, vir|spirv; NULL: of a flag */
  const char *help;  /* NULL: an alias, not listed */
  uint32_t flags;
  uint64_t least, most;                                 /* of a number */
  const char *alone;                                    /* the value where none is given after '='; NULL: it needs one */
  vyre_status (*take)(const char *value, void *fields); /* of OPTION_TAKEN */
} option_row;

typedef struct option_table {
  const char *program, *usage; /* "vyre-run", "[options] FILE" */
  const char *about, *after;   /* lines before and after the options in -help */
  const option_row *rows;
  size_t count;
  size_t inputs; /* the field of what is no option, a name_list */
  size_t files;  /* an option_texts */
  /* Takes an option that the table does not have, and tells so; NULL: there is none. */
  bool (*other)(const char *name, size_t length, void *fields, vyre_status *out_status);
} option_table;

/* Reads all of argv before anything is done, so that the order of options never matters, into *fields, which hold the defaults.
 * Borrows argv.  USAGE: what cannot be. */
VYRE_MUST_USE vyre_status option_table_parse(const option_table *table, int argc, char **argv, void *fields);
/* The memory of the lists; after a failure, too. */
void option_table_free(const option_table *table, void *fields);
/* Appends those that are kept, "-name=value" each on a line after `before`; paths whole.  INPUT: one has a line end. */
VYRE_MUST_USE vyre_status option_table_print_kept(const option_table *table, const void *fields, const char *before,
                                                  vyre_bytes *out);
/* Returns whether a file that is not trusted may give that argument: an OPTION_SAFE of the table, whole, whose value is not @FILE.
 */
bool option_table_is_safe(const option_table *table, const char *argument);
/* Appends those that outputs may depend on: all that are given but for OPTION_ASIDE, OPTION_TAKEN and inputs. */
VYRE_MUST_USE vyre_status option_table_print_shaping(const option_table *table, const void *fields, vyre_bytes *out);

/* ---- option_help.c ------------------------------------------------------------------------------------------------------- */

#define OPTION_HELP_FORMATS "text|man|bash|zsh|fish"
/* The rows of -help; the field is one of OPTION_WORD. */
#define OPTION_HELP_ROWS(field)                                                 \
  {.name = "help",                                                              \
   OPTION_WORD,                                                                 \
   field,                                                                       \
   OPTION_HELP_FORMATS,                                                         \
   "print this; as a manual page; what makes a shell complete options",         \
   .alone = "text"},                                                            \
  {                                                                             \
    .name = "h", OPTION_WORD, field, OPTION_HELP_FORMATS, NULL, .alone = "text" \
  }

/* What -help=FORMAT prints; `version` is for the manual page. */
VYRE_MUST_USE vyre_status option_table_help(const option_table *table, const char *format, const char *version, vyre_bytes *out);

#endif
