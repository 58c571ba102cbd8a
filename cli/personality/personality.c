/* Docs at personality.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "personality.h"

#include "base/files/names.h"
#include "base/suggest.h"
#include "cli/options/levels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const personality *const personalities[] = {&personality_spirv_opt, &personality_glslc, &personality_glslang};

enum { PERSONALITIES = sizeof personalities / sizeof *personalities };

/* ---- options of vyre-passmgr --------------------------------------------------------------------------------------------- */

static vyre_status
add_text(personality_line *line, const char *text)
{
  if (strncmp(text, "-passes=", 8) == 0)
    return vyre_bytes_printf(&line->passes, "%s%s", line->passes.size ? "," : "", text + 8);
  VYRE_TRY(name_list_append_copy(&line->arguments, text, &line->texts));
  return name_list_append(&line->origins, line->flag);
}

vyre_status
personality_add(personality_line *line, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (!text)
    return VYRE_OUT_OF_MEMORY("for the command line");
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  vyre_status status = add_text(line, text);
  free(text);
  return status;
}

const char *
personality_find(const personality_line *line, const char *prefix)
{
  for (uint32_t i = 0; i < line->arguments.count; i++)
    if (strncmp(line->arguments.names[i], prefix, strlen(prefix)) == 0)
      return line->arguments.names[i];
  return NULL;
}

vyre_status
personality_add_options(personality_line *line, const foreign_flag *flag, const char *value)
{
  for (const char *at = flag->text; *at;) {
    const int length = (int)strcspn(at, " ");
    const char *place = strstr(at, "{}");
    if (place && place < at + length)
      VYRE_TRY(personality_add(line, "%.*s%s%.*s", (int)(place - at), at, value ? value : "", (int)(at + length - place - 2),
                               place + 2));
    else
      VYRE_TRY(personality_add(line, "%.*s", length, at));
    at += length + (at[length] == ' ');
  }
  return VYRE_OK;
}

/* ---- flags of the tool --------------------------------------------------------------------------------------------------- */

/* Returns whether the argument begins with the name of the flag. */
static bool
begins_with_name(const personality *as, const foreign_flag *flag, const char *argument)
{
  const size_t length = strlen(flag->name);
  return as->folds_case && flag->name[1] == '-' ? strncasecmp(argument, flag->name, length) == 0
                                                : strncmp(argument, flag->name, length) == 0;
}

/* Returns the value of an argument in one of the forms of the flag with a value in the same argument, or NULL. */
static const char *
value_in(const personality *as, const foreign_flag *flag, const char *argument)
{
  const size_t length = strlen(flag->name);
  if (!begins_with_name(as, flag, argument))
    return NULL;
  if (argument[length] == '=' && (flag->forms & FOREIGN_EQUAL))
    return argument + length + 1;
  return argument[length] && (flag->forms & FOREIGN_JOINED) ? argument + length : NULL;
}

/* Finds the row of an argument: an exact name, otherwise the longest name with a value. */
static const foreign_flag *
find_flag(const personality *as, const char *argument, const char **out_value)
{
  const foreign_flag *best = NULL;
  *out_value = NULL;
  for (size_t i = 0; i < as->count; i++) {
    const foreign_flag *flag = &as->flags[i];
    if (strlen(flag->name) == strlen(argument) && begins_with_name(as, flag, argument) &&
        (flag->forms & (FOREIGN_NONE | FOREIGN_NEXT))) {
      *out_value = NULL;
      return flag;
    }
    const char *value = value_in(as, flag, argument);
    if (value && (!best || strlen(flag->name) > strlen(best->name))) {
      best = flag;
      *out_value = value;
    }
  }
  return best;
}

/* Returns the error of an argument that no row matches: a flag in a wrong form, or another flag. */
static vyre_status
unknown(const personality *as, const char *argument)
{
  vyre_suggestion near = {.word = argument, .length = strcspn(argument, "=")};
  for (size_t i = 0; i < as->count; i++) {
    const char *name = as->flags[i].name;
    const uint32_t forms = as->flags[i].forms;
    if (strlen(name) == near.length && memcmp(name, argument, near.length) == 0)
      return VYRE_ERROR(VYRE_CODE_USAGE, "%s of %s %s\nFix: write %s%s", name, as->name,
                        argument[near.length] ? "takes no value" : "needs a value", name,
                        argument[near.length]    ? ""
                        : forms & FOREIGN_EQUAL  ? "=VALUE"
                        : forms & FOREIGN_JOINED ? "VALUE"
                                                 : " VALUE");
    vyre_suggest(&near, name);
  }
  if (near.best && near.length > 3) /* each flag of one letter is near another one */
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "%s has no flag '%.200s'; did you mean '%s'?\nFix: vyre-passmgr -as=%s -help lists the flags", as->name,
                      argument, near.best, as->name);
  return VYRE_ERROR(VYRE_CODE_USAGE, "%s has no flag '%.200s'\nFix: vyre-passmgr -as=%s -help lists the flags", as->name, argument,
                    as->name);
}

const char *
personality_next(personality_line *line)
{
  return line->at + 1 < line->argc ? line->argv[++line->at] : NULL;
}

vyre_status
personality_add_input(personality_line *line, const char *name)
{
  if (line->inputs.count == line->index)
    memcpy(line->kept_of_input, line->kept, sizeof line->kept);
  return name_list_append_copy(&line->inputs, name, &line->texts);
}

static vyre_status
parse_argument(personality_line *line, const char *argument)
{
  const char *value;
  if (argument[0] != '-' || argument[1] == '\0')
    return (line->as->add_input ? line->as->add_input : personality_add_input)(line, argument);
  const foreign_flag *flag = find_flag(line->as, argument, &value);
  if (!flag)
    return unknown(line->as, argument);
  if (!value && !(flag->forms & FOREIGN_NONE) && !(value = personality_next(line)))
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s of %s needs a value\nFix: write it after the flag", flag->name, line->as->name);
  if (flag->state == FOREIGN_REFUSED)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s of %s is not supported: %s\nFix: leave it out", flag->name, line->as->name, flag->text);
  line->flag = flag->name;
  vyre_status status = flag->parse                   ? flag->parse(line, flag, value)
                       : flag->state == FOREIGN_DONE ? personality_add_options(line, flag, value)
                                                     : VYRE_OK;
  line->flag = NULL;
  return status;
}

vyre_status
personality_parse(personality_line *line, int argc, char **argv)
{
  const personality_line outer = *line;
  vyre_status status = VYRE_OK;
  line->argc = argc;
  line->argv = argv;
  for (line->at = 0; line->at < argc && line->printed.size == 0 && !status; line->at++)
    status = parse_argument(line, argv[line->at]);
  line->argc = outer.argc;
  line->argv = outer.argv;
  line->at = outer.at;
  return status;
}

/* ---- the command line ---------------------------------------------------------------------------------------------------- */

static bool
is_named(const personality *as, const char *name, size_t length)
{
  return (strlen(as->name) == length && memcmp(as->name, name, length) == 0) ||
         (as->also && strlen(as->also) == length && memcmp(as->also, name, length) == 0);
}

static const personality *
find_personality(const char *name, size_t length)
{
  for (size_t i = 0; i < PERSONALITIES; i++)
    if (is_named(personalities[i], name, length))
      return personalities[i];
  return NULL;
}

static vyre_status
unknown_personality(const char *name)
{
  vyre_bytes names = {0};
  vyre_status status = VYRE_OK;
  for (size_t i = 0; i < PERSONALITIES && !status; i++)
    status = vyre_bytes_printf(&names, "%s%s", i ? ", " : "", personalities[i]->name);
  if (!status)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "-as names a tool that vyre-passmgr does not replace: '%.100s'\nFix: use one of %s", name,
                        names.data);
  vyre_bytes_free(&names);
  return status;
}

/* Adds the pipeline, which VYRE_OPT gives if the flags did not, and the inputs. */
static vyre_status
finish(personality_line *line)
{
  if (line->as->finish)
    VYRE_TRY(line->as->finish(line));
  if (line->passes.size == 0 && !line->level_is_given) {
    level given;
    VYRE_TRY(level_of_environment(&given));
    if (given.pipeline && strcmp(given.pipeline, "default<O0>") != 0)
      VYRE_TRY(personality_add(line, "-passes=%s", given.pipeline));
    if (given.keeps_vectors)
      VYRE_TRY(personality_add(line, "-keep-vectors"));
  }
  if (line->passes.size) {
    vyre_bytes option = {0};
    vyre_status status = vyre_bytes_printf(&option, "-passes=%s", line->passes.data);
    if (!status)
      status = name_list_append_copy(&line->arguments, option.data, &line->texts);
    vyre_bytes_free(&option);
    VYRE_TRY(status);
    VYRE_TRY(name_list_append(&line->origins, NULL));
  }
  VYRE_TRY(add_text(line, "--"));
  for (uint32_t i = 0; i < line->inputs.count; i++)
    if (!line->as->runs_each_input || i == line->index)
      VYRE_TRY(add_text(line, line->inputs.names[i]));
  VYRE_TRY(name_list_append(&line->arguments, NULL));
  line->arguments.count--;
  return VYRE_OK;
}

vyre_status
personality_translate(int argc, char **argv, uint32_t index, personality_line *out)
{
  *out = (personality_line){.index = index};
  if (argc < 1)
    return VYRE_OK;
  const char *program = path_name(argv[0]);
  const size_t length = strlen(program) - (path_ends_with(program, ".exe") ? 4 : 0);
  out->as = find_personality(program, length);
  int at = 1;
  if (argc > 1 && (strncmp(argv[1], "-as=", 4) == 0 || strncmp(argv[1], "--as=", 5) == 0)) {
    const char *name = strchr(argv[at++], '=') + 1;
    out->as = find_personality(name, strlen(name));
    if (!out->as)
      return unknown_personality(name);
  }
  if (!out->as)
    return VYRE_OK;
  if (at == 2 && argc > 2 && strcmp(argv[2] + strspn(argv[2], "-"), "help") == 0)
    return personality_help(out, NULL, NULL);
  VYRE_TRY(add_text(out, argv[0]));
  VYRE_TRY(personality_parse(out, argc - at, argv + at));
  return out->printed.size ? VYRE_OK : finish(out);
}

uint32_t
personality_runs(const personality_line *line)
{
  return line->as && line->as->runs_each_input && line->inputs.count ? line->inputs.count : 1;
}

void
personality_free(personality_line *line)
{
  name_list_free(&line->arguments);
  name_list_free(&line->origins);
  name_list_free(&line->inputs);
  option_texts_free(&line->texts);
  vyre_bytes_free(&line->passes);
  vyre_bytes_free(&line->printed);
}

int
personality_exit_code(const personality_line *line, int code)
{
  return !line->as                                             ? code
         : code == VYRE_CODE_USAGE                             ? line->as->misuse
         : code == VYRE_CODE_INPUT || code == VYRE_CODE_DEVICE ? line->as->failure
                                                               : code;
}
