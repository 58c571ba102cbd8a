/* The personality of glslangValidator and glslang.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "personality.h"

#include "base/files/names.h"
#include "cli/personality/compilers.h"
#include "vyre/glsl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Values that are kept until all flags are known. */
enum {
  MODULE,
  ENVIRONMENT,
  VERSION,
  LANGUAGE,
  ENTRY_POINT,
  STAGE,
  STANDARD_INPUT,
  OUTPUT,
  WORDS,
  VARIABLE,
  PREPROCESS,
  DEPFILE,
  DEBUG,
  UNOPTIMIZED,
  SIZE,
  LINK,
  REFLECTION,
  LISTING,
  QUIET,
  NO_WARNINGS,
  AUTO_MAP
};

/* ---- the target ---------------------------------------------------------------------------------------------------------- */

/* Keeps the environment of a flag that makes a module, unless an earlier flag has set one of the same client. */
static void
set_client(personality_line *line, const char *flag, const char *environment)
{
  const char *before = line->kept[ENVIRONMENT];
  line->kept[MODULE] = flag;
  if (!before || strncmp(before, environment, 6) != 0)
    line->kept[ENVIRONMENT] = environment;
}

static vyre_status
check_semantics(const foreign_flag *flag, const char *value)
{
  return !value || strcmp(value, "100") == 0
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_USAGE, "the version of %s is 100, not '%.100s'\nFix: write %s", flag->name, value, flag->name);
}

static vyre_status
add_vulkan(personality_line *line, const foreign_flag *flag, const char *value)
{
  set_client(line, flag->name, "vulkan1.0");
  return check_semantics(flag, value);
}

static vyre_status
add_opengl(personality_line *line, const foreign_flag *flag, const char *value)
{
  set_client(line, flag->name, "opengl4.5");
  return check_semantics(flag, value);
}

static vyre_status
add_client(personality_line *line, const foreign_flag *flag, const char *value)
{
  const bool is_vulkan = strcmp(value, "vulkan100") == 0;
  if (!is_vulkan && strcmp(value, "opengl100") != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s is vulkan100 or opengl100, not '%.100s'\nFix: use one of these", flag->name, value);
  set_client(line, flag->name, is_vulkan ? "vulkan1.0" : "opengl4.5");
  return VYRE_OK;
}

static vyre_status
add_environment(personality_line *line, const foreign_flag *flag, const char *value)
{
  vyre_glsl_env env;
  if (strncmp(value, "spirv", 5) == 0) {
    line->kept[VERSION] = value + 5;
    return VYRE_OK;
  }
  line->kept[MODULE] = flag->name;
  line->kept[ENVIRONMENT] = strcmp(value, "opengl") == 0 ? "opengl4.5" : value;
  return vyre_status_note(vyre_glsl_env_parse(line->kept[ENVIRONMENT], &env), "for %s", flag->name);
}

static vyre_status
add_listing(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)value;
  if (!line->kept[MODULE])
    set_client(line, flag->name, "vulkan1.0");
  if (!line->kept[LISTING])
    line->kept[LISTING] = flag->name;
  return VYRE_OK;
}

/* ---- other flags --------------------------------------------------------------------------------------------------------- */

static vyre_status
add_define(personality_line *line, const foreign_flag *flag, const char *value)
{
  if (value)
    return personality_add(line, "-D=%s", value);
  line->kept[LANGUAGE] = flag->name;
  return VYRE_OK;
}

static vyre_status
add_stdin(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)value;
  line->kept[STANDARD_INPUT] = flag->name;
  return personality_add_input(line, "-");
}

static vyre_status
keep_bindings(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)value;
  line->kept[AUTO_MAP] = flag->name;
  return personality_add(line, "-auto-map-bindings");
}

static vyre_status
keep_locations(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)value;
  line->kept[AUTO_MAP] = flag->name;
  return personality_add(line, "-auto-map-locations");
}

static vyre_status
keep_reflection(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)value;
  return personality_add(line, "-reflection=%s", flag->name + sizeof "--reflect-" - 1);
}

static bool
is_number(const char *text)
{
  return text && text[0] >= '0' && text[0] <= '9';
}

/* Adds an option with the value and as many of the next arguments as `wants` accepts. */
static vyre_status
add_words(personality_line *line, const char *option, const char *value, uint32_t count, bool only_numbers)
{
  vyre_bytes text = {0};
  vyre_status status = vyre_bytes_printf(&text, "%s%s", option, value);
  for (uint32_t i = 0; i < count && !status && compilers_has_words(line, 1); i++) {
    if (only_numbers && !is_number(line->argv[line->at + 1]))
      break;
    status = vyre_bytes_printf(&text, " %s", personality_next(line));
  }
  if (!status)
    status = personality_add(line, "%s", text.data);
  vyre_bytes_free(&text);
  return status;
}

/* "--shift-ubo-binding [STAGE] N", or "... [STAGE] N SET [N SET ...]" */
static vyre_status
add_shift(personality_line *line, const foreign_flag *flag, const char *value)
{
  char option[64];
  snprintf(option, sizeof option, "%.*s ", (int)strcspn(flag->text, " "), flag->text);
  if (is_number(value) && !(compilers_has_words(line, 1) && is_number(line->argv[line->at + 1])))
    return add_words(line, option, value, 0, true);
  return add_words(line, option, value, UINT32_MAX, true);
}

/* "--resource-set-binding [STAGE] SET", or "... STAGE NAME SET BINDING ..." */
static vyre_status
add_resources(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)flag;
  return add_words(line, "-resource-set-binding=", value, is_number(value) ? 0 : UINT32_MAX, false);
}

static vyre_status
add_pair(personality_line *line, const foreign_flag *flag, const char *value)
{
  char option[64];
  snprintf(option, sizeof option, "%.*s", (int)strcspn(flag->text, "{"), flag->text);
  return add_words(line, option, value, 1, false);
}

static vyre_status
add_triple(personality_line *line, const foreign_flag *flag, const char *value)
{
  char option[64];
  snprintf(option, sizeof option, "%.*s", (int)strcspn(flag->text, "{"), flag->text);
  return add_words(line, option, value, 2, false);
}

static vyre_status
print_limits(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)flag, (void)value;
  return vyre_glsl_limits(NULL, &line->printed);
}

static vyre_status
print_versions(personality_line *line, const foreign_flag *flag, const char *value)
{
  VYRE_TRY(vyre_glsl_versions(&line->printed));
  return personality_version(line, flag, value);
}

static vyre_status
print_bare_version(personality_line *line, const foreign_flag *flag, const char *value)
{
  static const char label[] = "Glslang Version: ";
  vyre_bytes text = {0};
  (void)flag, (void)value;
  vyre_status status = vyre_glsl_versions(&text);
  if (!status && text.size > sizeof label)
    status =
        vyre_bytes_printf(&line->printed, "%.*s\n", (int)strcspn(text.data + sizeof label - 1, "\n"), text.data + sizeof label - 1);
  vyre_bytes_free(&text);
  return status;
}

static const foreign_flag flags[] = {
#define KEEP(slot) compilers_keep, slot
#define FOREIGN_FLAG(flag, form, is, words, ...) {.name = flag, .forms = form, .state = is, .text = words, .parse = __VA_ARGS__},
#include "glslang.def"
};

/* ---- inputs and defaults --------------------------------------------------------------------------------------------------- */

/* A file of limits is not a shader. */
static vyre_status
add_input(personality_line *line, const char *name)
{
  return path_ends_with(name, ".conf") ? personality_add(line, "-limits=@%s", name) : personality_add_input(line, name);
}

static vyre_status
check(const personality_line *line, vyre_glsl_stage stage)
{
  const char *const *k = line->kept, *input = line->inputs.names[line->index];
  if (strcmp(input, "-") != 0 && access(input, R_OK) != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "cannot read '%.200s': %s\nFix: name a file that exists", input, strerror(errno));
  if (stage == VYRE_STAGE_AUTO)
    return VYRE_ERROR(VYRE_CODE_USAGE, "the stage of '%.200s' is not known\nFix: name it with -S, or in the file's extension",
                      line->inputs.names[line->index]);
  if (k[PREPROCESS] && (k[MODULE] || k[LINK]))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-E and %s exclude each other\nFix: leave out one of them", k[MODULE] ? k[MODULE] : "-l");
  if (k[REFLECTION] && !k[LINK] && !k[MODULE])
    return VYRE_ERROR(VYRE_CODE_USAGE, "-q needs a linked program\nFix: add -l or -V");
  if ((k[OUTPUT] || k[VERSION]) && !k[MODULE])
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s needs a module\nFix: add -V or -G", k[OUTPUT] ? "-o" : "--target-env");
  if (k[LANGUAGE] && k[ENVIRONMENT] && strcmp(k[ENVIRONMENT], "opengl4.5") == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "HLSL is not compiled for OpenGL\nFix: use -V");
  if (line->inputs.count > 1 && (k[OUTPUT] || k[AUTO_MAP]) && k[MODULE])
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "%s with several inputs is not supported, because each becomes a module of its own\n"
                      "Fix: run the command for each input",
                      k[OUTPUT] ? "-o" : k[AUTO_MAP]);
  return VYRE_OK;
}

/* Refuses two inputs of one stage, which glslang links to one module. */
static vyre_status
check_stages(const personality_line *line, vyre_glsl_stage stage)
{
  for (uint32_t i = 0; i < line->index; i++)
    if (line->kept[STAGE] || vyre_glsl_stage_of(line->inputs.names[i]) == stage)
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "'%.200s' and '%.200s' have the same stage, and vyre does not link them\n"
                        "Fix: put both texts in one file",
                        line->inputs.names[i], line->inputs.names[line->index]);
  return VYRE_OK;
}

static vyre_status
add_outputs(personality_line *line, const char *stage)
{
  const char *const *k = line->kept;
  if (!k[MODULE])
    VYRE_TRY(personality_add(line, "-no-spirv"));
  if (k[PREPROCESS]) {
    VYRE_TRY(personality_add(line, "-emit=preprocessed"));
    return personality_add(line, "-o=-");
  }
  if (k[LINK])
    VYRE_TRY(personality_add(line, "-link"));
  VYRE_TRY(personality_add(line, "-emit=spirv"));
  VYRE_TRY(k[OUTPUT] ? personality_add(line, "-o=%s", k[OUTPUT]) : personality_add(line, "-o=%s.spv", stage));
  if (!k[MODULE])
    return personality_add(line, "-no-output");
  if (k[WORDS] && !k[VARIABLE])
    VYRE_TRY(personality_add(line, "-words=hex"));
  if (k[VARIABLE])
    VYRE_TRY(personality_add(line, "-variable=%s", k[VARIABLE]));
  if (k[LISTING])
    VYRE_TRY(personality_add(line, "-print-spirv=%s", strcmp(k[LISTING], "-H") == 0 ? "listing" : "assembly"));
  return k[DEPFILE] ? personality_add(line, "-MF=%s", k[DEPFILE]) : VYRE_OK;
}

static const char *
name_stage(vyre_glsl_stage stage)
{
  static const char *const names[] = {"",     "comp", "vert", "tesc",  "tese",  "geom",  "frag", "task",
                                      "mesh", "rgen", "rint", "rahit", "rchit", "rmiss", "rcall"};
  return names[stage];
}

static vyre_status
finish(personality_line *line)
{
  const char *const *k = line->kept;
  vyre_glsl_stage stage;
  if (line->inputs.count == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input file\nFix: name a file, or add --stdin and -S");
  const char *input = line->inputs.names[line->index];
  if (k[STAGE])
    VYRE_TRY(vyre_status_note(vyre_glsl_stage_parse(k[STAGE], &stage), "for -S"));
  else
    stage = vyre_glsl_stage_of(input);
  VYRE_TRY(check(line, stage));
  if (k[MODULE] || k[LINK])
    VYRE_TRY(check_stages(line, stage));
  VYRE_TRY(add_outputs(line, name_stage(stage)));
  VYRE_TRY(personality_add(line, "-compile-only"));
  VYRE_TRY(personality_add(line, "-front-end=glslang"));
  VYRE_TRY(personality_add(line, "-raw-log"));
  VYRE_TRY(personality_add(line, "-fshader-stage=%s", name_stage(stage)));
  VYRE_TRY(personality_add(line, "-x=%s", k[LANGUAGE] || (!k[STAGE] && path_ends_with(input, ".hlsl")) ? "hlsl" : "glsl"));
  if (k[ENTRY_POINT])
    VYRE_TRY(personality_add(line, "-fentry-point=%s", k[ENTRY_POINT]));
  if (k[ENVIRONMENT])
    VYRE_TRY(personality_add(line, "-target-env=%s", k[ENVIRONMENT]));
  if (k[VERSION])
    VYRE_TRY(personality_add(line, "-target-spv=%s", k[VERSION]));
  if (k[DEBUG])
    VYRE_TRY(personality_add(line, "%s", k[DEBUG]));
  if (k[UNOPTIMIZED])
    VYRE_TRY(personality_add(line, "-no-legalize"));
  if (k[NO_WARNINGS])
    VYRE_TRY(personality_add(line, "-suppress-warnings"));
  if (k[REFLECTION])
    VYRE_TRY(personality_add(line, "-reflection=default"));
  if (!k[QUIET] && !k[PREPROCESS])
    VYRE_TRY(personality_add(line, k[MODULE] || k[LINK] || line->inputs.count > 1 ? "-print-name=always" : "-print-name=with-log"));
  line->level_is_given = k[UNOPTIMIZED] != NULL;
  return k[SIZE] && k[MODULE] ? compilers_optimize(line, "-Os", false) : VYRE_OK;
}

const personality personality_glslang = {
    .name = "glslangValidator",
    .also = "glslang",
    .usage = "[options] FILE...",
    .about = "The flags of glslangValidator, as vyre-passmgr executes them.\n",
    .flags = flags,
    .count = sizeof flags / sizeof *flags,
    .failure = 2,
    .misuse = 1,
    .folds_case = true,
    .runs_each_input = true,
    .add_input = add_input,
    .finish = finish,
};
