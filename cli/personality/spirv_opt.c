/* The personality of spirv-opt (SPIRV-Tools).
 *
 * Flags of which vyre has a pass become its pipeline.  SPIRV-Tools itself executes all other flags (-spirv-tools): those before the
 * first pass of vyre on the input, and the others on the output.  For modules that vyre copies, such as graphics shaders, it
 * executes the flags of vyre's pipeline, too.  As spirv-opt does, SPIRV-Tools validates the input.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "personality.h"

#include "vyre/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- flags of SPIRV-Tools ------------------------------------------------------------------------------------------------ */

/* Adds a pass of SPIRV-Tools, on the side of vyre's passes where it is now. */
static vyre_status
add_tools_pass(personality_line *line, const foreign_flag *flag, const char *value)
{
  static const char format[] = "-spirv-tools%s=%s%s%s";
  const char *between = value ? "=" : "", *text = value ? value : "";
  if (line->passes.size == 0)
    return personality_add(line, format, "", flag->name, between, text);
  VYRE_TRY(personality_add(line, format, "-copied", flag->name, between, text));
  return personality_add(line, format, "-after", flag->name, between, text);
}

/* Adds vyre's pipeline for a flag, and the flag itself for modules that vyre copies. */
static vyre_status
add_replaced_pass(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)value;
  VYRE_TRY(personality_add_options(line, flag, NULL));
  return personality_add(line, "-spirv-tools-copied=%s", flag->name);
}

static bool
is_number(const char *value, unsigned long least)
{
  char *end;
  errno = 0;
  const unsigned long number = strtoul(value, &end, 10);
  return value[0] >= '0' && value[0] <= '9' && !*end && !errno && number >= least && number <= INT32_MAX;
}

static vyre_status
add_count_pass(personality_line *line, const foreign_flag *flag, const char *value)
{
  if (!is_number(value, 1))
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s must have a positive integer argument, not '%.100s'\nFix: write %s=N", flag->name, value,
                      flag->name);
  return add_tools_pass(line, flag, value);
}

static vyre_status
add_size_pass(personality_line *line, const foreign_flag *flag, const char *value)
{
  if (value && !is_number(value, 0))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "%s must have no arguments or a non-negative integer argument, not '%.100s'\nFix: write %s or %s=N",
                      flag->name, value, flag->name, flag->name);
  return add_tools_pass(line, flag, value);
}

static vyre_status
add_setting(personality_line *line, const foreign_flag *flag, const char *value)
{
  return personality_add(line, "-spirv-tools=%s%s%s", flag->name, value ? "=" : "", value ? value : "");
}

/* ---- -Oconfig ------------------------------------------------------------------------------------------------------------ */

/* Appends the words of the text, without lines that begin with '#'. */
static vyre_status
cut_words(char *text, personality_line *line, name_list *out)
{
  for (char *next, *at = text; at; at = next) {
    next = strchr(at, '\n');
    if (next)
      *next++ = '\0';
    char *rest;
    for (char *word = at[0] == '#' ? NULL : strtok_r(at, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest))
      VYRE_TRY(name_list_append_copy(out, word, &line->texts));
  }
  return VYRE_OK;
}

static vyre_status
read_config(personality_line *line, const foreign_flag *flag, const char *value)
{
  vyre_bytes text = {0};
  name_list words = {0};
  if (line->depth > 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s=%.200s is in a file of flags\nFix: write the flags of that file", flag->name, value);
  vyre_status status = vyre_file_read_as(value, VYRE_FILE_TEXT, &text);
  if (!status && text.size)
    status = cut_words(text.data, line, &words);
  line->depth++;
  if (!status)
    status = personality_parse(line, (int)words.count, (char **)(uintptr_t)words.names);
  line->depth--;
  name_list_free(&words);
  vyre_bytes_free(&text);
  return vyre_status_note(status, "in '%s'", value);
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

static const foreign_flag flags[] = {
#define FOREIGN_FLAG(flag, form, is, words, function) {.name = flag, .forms = form, .state = is, .text = words, .parse = function},
#include "spirv_opt.def"
};

enum { FLAGS = sizeof flags / sizeof *flags };

static bool
is_setting(const char *argument)
{
  for (size_t i = 0; i < FLAGS; i++)
    if (flags[i].parse == add_setting && strncmp(argument, flags[i].name, strlen(flags[i].name)) == 0)
      return true;
  return false;
}

/* Repeats the settings for another option of passes of SPIRV-Tools, if that option is used. */
static vyre_status
repeat_settings(personality_line *line, const char *other)
{
  static const char option[] = "-spirv-tools=";
  const uint32_t count = personality_find(line, other) ? line->arguments.count : 0;
  for (uint32_t i = 0; i < count; i++) {
    const char *argument = line->arguments.names[i];
    if (strncmp(argument, option, sizeof option - 1) == 0 && is_setting(argument + sizeof option - 1))
      VYRE_TRY(personality_add(line, "%s%s", other, argument + sizeof option - 1));
  }
  return VYRE_OK;
}

/* Adds the tool's defaults: its environment, input from standard input, an output that may replace the input, and no limit that the
 * tool does not have. */
static vyre_status
finish(personality_line *line)
{
  if (!personality_find(line, "-o="))
    return VYRE_ERROR(VYRE_CODE_USAGE, "spirv-opt needs the name of an output\nFix: add -o FILE, or -o - for standard output");
  if (line->inputs.count > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "spirv-opt reads one input, not '%.200s' and '%.200s'\nFix: run it for each input",
                      line->inputs.names[0], line->inputs.names[1]);
  if (!personality_find(line, "-spirv-tools=--target-env="))
    VYRE_TRY(personality_add(line, "-spirv-tools=--target-env=spv1.6"));
  VYRE_TRY(repeat_settings(line, "-spirv-tools-copied="));
  VYRE_TRY(repeat_settings(line, "-spirv-tools-after="));
  VYRE_TRY(personality_add(line, "-emit=spirv"));
  VYRE_TRY(personality_add(line, "-in-place"));
  VYRE_TRY(personality_add(line, "-glsl-seconds=86400"));
  VYRE_TRY(personality_add(line, "-glsl-memory=65536"));
  return line->inputs.count ? VYRE_OK : name_list_append(&line->inputs, "-");
}

const personality personality_spirv_opt = {
    .name = "spirv-opt",
    .usage = "[options] [<input>] -o <output>",
    .about = "Optimizes SPIR-V.  The SPIR-V binary is read from <input>, or from standard input if <input> is - or absent.\n",
    .flags = flags,
    .count = FLAGS,
    .failure = 1,
    .misuse = 1,
    .finish = finish,
};
