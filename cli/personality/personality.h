/* Personalities: the command lines of other tools, translated to command lines of vyre-passmgr.
 *
 * vyre-passmgr has the personality of a tool if it is started under the tool's name (a link), or if its first argument is -as=NAME.
 * A personality is a table of the tool's flags.  It maps names, forms of values and defaults.  The work itself is that of options
 * of vyre-passmgr, and each of these can be used without a personality, too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_PERSONALITY_PERSONALITY_H
#define VYRE_CLI_PERSONALITY_PERSONALITY_H

#include "cli/options/option_table.h"

/* The forms of a flag, which may be combined. */
enum {
  FOREIGN_NONE = 1,   /* --flag */
  FOREIGN_EQUAL = 2,  /* --flag=VALUE */
  FOREIGN_JOINED = 4, /* -fVALUE */
  FOREIGN_NEXT = 8,   /* -f VALUE */
};

typedef enum foreign_state {
  FOREIGN_DONE,
  FOREIGN_WITHOUT_EFFECT, /* accepted, because the result is the same without the flag; `parse` may still add an option */
  FOREIGN_REFUSED
} foreign_state;

typedef struct personality personality;
typedef struct personality_line personality_line;
typedef struct foreign_flag foreign_flag;

/* A flag of another tool.  The rows are in NAME.def. */
struct foreign_flag {
  const char *name; /* as it is typed, with its dashes */
  uint32_t forms;   /* of FOREIGN_NONE and so on */
  foreign_state state;
  /* DONE without `parse`: the options of vyre-passmgr, separated by blanks, with the value in place of {}.  DONE with `parse`: the
   * effect, for help.  Otherwise the reason. */
  const char *text;
  vyre_status (*parse)(personality_line *line, const foreign_flag *flag, const char *value); /* value: NULL if absent */
  int slot; /* in personality_line.kept, if `parse` keeps the value */
};

enum { PERSONALITY_KEPT = 24 };

struct personality {
  const char *name, *also; /* `also` is a second name of the tool, or NULL */
  const char *usage;       /* usage of the imitated tool: "[options] INPUT -o OUTPUT" */
  const char *about;       /* lines before the flags in -help */
  const foreign_flag *flags;
  size_t count;
  int failure, misuse;  /* exit codes of the imitated tool: for a failed input or output, and for a wrong command line */
  bool folds_case;      /* the case of --flags does not matter */
  bool runs_each_input; /* vyre-passmgr runs once for each input, with a command line of its own */
  /* Adds an argument that is not a flag.  NULL for personality_add_input. */
  vyre_status (*add_input)(personality_line *line, const char *name);
  /* Adds the tool's defaults after all flags.  May be NULL. */
  vyre_status (*finish)(personality_line *line);
};

/* A command line during translation, and its result. */
struct personality_line {
  const personality *as; /* NULL without a personality */
  name_list arguments;   /* the translated options; after translation the whole command line, with the program and a final NULL */
  name_list origins;     /* of each argument: the user's flag, or NULL for the inputs and defaults */
  name_list inputs;
  const char *flag;    /* the user's flag that is being translated */
  vyre_bytes passes;   /* the pipeline so far, owned */
  vyre_bytes printed;  /* if not empty, the tool prints this text and ends with exit code 0; owned */
  option_texts texts;  /* the texts of all lists */
  uint32_t depth;      /* nesting depth of files with flags */
  uint32_t index;      /* index of the input, with runs_each_input */
  bool level_is_given; /* the flags choose the optimization, so VYRE_OPT does not */
  /* Values of flags that a personality keeps for its finish, in slots of its own, and those that precede the input.  Borrowed. */
  const char *kept[PERSONALITY_KEPT], *kept_of_input[PERSONALITY_KEPT];
  /* the arguments that are being translated, and the index of the last one that was used */
  int argc, at;
  char **argv; /* borrowed */
};

/* Finds the personality and translates the command line for the input with that index.  Without a personality, leaves *out empty.
 * Returns USAGE for a wrong command line; then out->as is set nevertheless. */
VYRE_MUST_USE vyre_status personality_translate(int argc, char **argv, uint32_t index, personality_line *out);
/* Returns the number of runs of vyre-passmgr that the command line needs, at least 1. */
uint32_t personality_runs(const personality_line *line);
void personality_free(personality_line *line);
/* Returns the tool's exit code for an exit code of vyre-passmgr.  A bug (70) stays. */
int personality_exit_code(const personality_line *line, int code);

/* ---- for the functions of flags ------------------------------------------------------------------------------------------ */

/* Translates the arguments, which may be those of a file. */
VYRE_MUST_USE vyre_status personality_parse(personality_line *line, int argc, char **argv);
/* Returns the next argument as a further value of the current flag, or NULL if there is none. */
const char *personality_next(personality_line *line);
/* Adds an input. */
VYRE_MUST_USE vyre_status personality_add_input(personality_line *line, const char *name);
/* Adds the options in the text of a row, each with the value in place of {}. */
VYRE_MUST_USE vyre_status personality_add_options(personality_line *line, const foreign_flag *flag, const char *value);
/* Adds an option of vyre-passmgr, formatted.  "-passes=..." appends to the pipeline. */
VYRE_MUST_USE vyre_status personality_add(personality_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the first added option that begins with `prefix`, or NULL. */
const char *personality_find(const personality_line *line, const char *prefix);
/* Appends the help of a personality to line->printed: its flags, by state.  Has the type of `parse`. */
VYRE_MUST_USE vyre_status personality_help(personality_line *line, const foreign_flag *flag, const char *value);
/* Appends the versions of the tool's name and of vyre.  Has the type of `parse`. */
VYRE_MUST_USE vyre_status personality_version(personality_line *line, const foreign_flag *flag, const char *value);

extern const personality personality_spirv_opt, personality_glslc, personality_glslang;

#endif
