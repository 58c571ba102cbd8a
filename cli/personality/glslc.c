/* The personality of glslc (shaderc).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "personality.h"

#include "base/files/names.h"
#include "cli/personality/compilers.h"
#include "vyre/glsl.h"

#include <stdio.h>
#include <string.h>

/* Values that are kept until all flags are known. */
enum {
  STAGE,
  LANGUAGE,
  ENTRY_POINT,
  OUTPUT,
  COMPILE,
  ASSEMBLY,
  PREPROCESS,
  RULE,
  DEPENDS,
  DEPFILE,
  TARGET,
  FORMAT,
  ENVIRONMENT,
  LEVEL,
  DEBUG,
  QUIET
};

/* "-fubo-binding-base [STAGE] N" */
static vyre_status
add_shift(personality_line *line, const foreign_flag *flag, const char *value)
{
  const size_t length = strcspn(flag->name + 2, "-");
  const char *kind = strncmp(flag->name + 2, "cbuffer", 7) == 0 ? "ubo" : flag->name + 2;
  const char *base = value[0] >= '0' && value[0] <= '9' ? NULL : personality_next(line);
  return personality_add(line, "-shift-binding=%.*s %s%s%s", (int)(kind == flag->name + 2 ? length : 3), kind, value,
                         base ? " " : "", base ? base : "");
}

/* "-fresource-set-binding [STAGE] REGISTER SET BINDING ..." */
static vyre_status
add_resources(personality_line *line, const foreign_flag *flag, const char *value)
{
  vyre_bytes text = {0};
  vyre_glsl_stage stage;
  vyre_status none = vyre_glsl_stage_parse(value, &stage), status = vyre_bytes_printf(&text, "%s", value);
  uint32_t words = !none ? 0 : 1; /* of registers, sets and bindings */
  (void)flag;
  vyre_status_free(none);
  while (!status && (words % 3 != 0 || words == 0 || compilers_has_words(line, 3))) {
    const char *next = compilers_has_words(line, 1) ? personality_next(line) : NULL;
    if (!next)
      break; /* the compiler refuses the number of words */
    status = vyre_bytes_printf(&text, " %s", next);
    words++;
  }
  if (!status)
    status = personality_add(line, "-resource-set-binding=%s", text.data);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
print_limits(personality_line *line, const foreign_flag *flag, const char *value)
{
  static const char *const settings[] = {"front-end=glslc"};
  const vyre_glsl_options options = {.struct_size = sizeof options, .settings = settings, .setting_count = 1};
  (void)flag, (void)value;
  return vyre_glsl_limits(&options, &line->printed);
}

static vyre_status
print_version(personality_line *line, const foreign_flag *flag, const char *value)
{
  static const char label[] = "Glslang Version: ";
  vyre_bytes text = {0};
  vyre_status status = vyre_bytes_printf(&line->printed, "shaderc: ");
  if (!status)
    status = personality_version(line, flag, value);
  if (!status)
    status = vyre_glsl_versions(&text);
  if (!status && text.size > sizeof label)
    status = vyre_bytes_printf(&line->printed, "spirv-tools\nglslang %.*s\n\nTarget: SPIR-V 1.0\n",
                               (int)strcspn(text.data + sizeof label - 1, "\n"), text.data + sizeof label - 1);
  vyre_bytes_free(&text);
  return status;
}

static const foreign_flag flags[] = {
#define KEEP(slot) compilers_keep, slot
#define FOREIGN_FLAG(flag, form, is, words, ...) {.name = flag, .forms = form, .state = is, .text = words, .parse = __VA_ARGS__},
#include "glslc.def"
};

/* ---- defaults ------------------------------------------------------------------------------------------------------------ */

static bool
only_preprocesses(const personality_line *line)
{
  return line->kept[PREPROCESS] || line->kept[RULE];
}

static vyre_status
check_format(const personality_line *line)
{
  const char *format = line->kept[FORMAT];
  if (!format)
    return VYRE_OK;
  if (strcmp(format, "bin") != 0 && strcmp(format, "num") != 0 && strcmp(format, "c") != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-mfmt is bin, num or c, not '%.100s'\nFix: use one of these words", format);
  if (line->kept[ASSEMBLY] || only_preprocesses(line))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-mfmt is the form of SPIR-V, but %s writes text\nFix: leave out -mfmt",
                      line->kept[RULE]         ? line->kept[RULE]
                      : line->kept[PREPROCESS] ? line->kept[PREPROCESS]
                                               : line->kept[ASSEMBLY]);
  return VYRE_OK;
}

static vyre_status
check(const personality_line *line)
{
  const char *const *k = line->kept;
  const bool has_file_each = k[COMPILE] || k[ASSEMBLY] || only_preprocesses(line);
  if (line->inputs.count == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input files\nFix: name a file, or - for standard input");
  uint32_t streams = 0;
  for (uint32_t i = 0; i < line->inputs.count; i++)
    streams += strcmp(line->inputs.names[i], "-") == 0;
  if (streams > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "standard input is named twice\nFix: name it once");
  if (line->inputs.count > 1 && !has_file_each)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "several inputs cannot be linked to one module\nFix: add -c, which writes a module for each");
  if (line->inputs.count > 1 && k[OUTPUT] && !(only_preprocesses(line) && strcmp(k[OUTPUT], "-") == 0))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-o is one output, but there are several inputs\nFix: leave out -o, or run glslc for each input");
  if (k[RULE] && k[DEPENDS])
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s and %s exclude each other\nFix: leave out one of them", k[RULE], k[DEPENDS]);
  if ((k[DEPFILE] || k[TARGET]) && !k[RULE] && !k[DEPENDS])
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s needs -M or -MD\nFix: add -MD", k[DEPFILE] ? "-MF" : "-MT");
  if ((k[DEPFILE] || k[TARGET]) && line->inputs.count > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s is for one input\nFix: run glslc for each input", k[DEPFILE] ? "-MF" : "-MT");
  if (k[LANGUAGE] && strcmp(k[LANGUAGE], "glsl") != 0 && strcmp(k[LANGUAGE], "hlsl") != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-x is glsl or hlsl, not '%.100s'\nFix: use one of these words", k[LANGUAGE]);
  return check_format(line);
}

/* Stores the output's name without -o: of a.vert a.vert.spv, and of a.glsl a.spv, in the working folder. */
static vyre_status
name_output(const char *input, const char *ending, vyre_bytes *out)
{
  const char *name = path_name(input), *dot = strrchr(name, '.');
  const bool stays = !dot || (vyre_glsl_stage_of(name) && !path_ends_with(name, ".glsl") && !path_ends_with(name, ".hlsl"));
  return vyre_bytes_printf(out, "%.*s%s", (int)(stays ? strlen(name) : (size_t)(dot - name)), name, ending);
}

static vyre_status
add_outputs(personality_line *line, const char *input)
{
  const char *const *k = line->kept;
  vyre_bytes name = {0};
  vyre_status status = k[OUTPUT] && !only_preprocesses(line)
                           ? vyre_bytes_printf(&name, "%s", k[OUTPUT])
                           : name_output(input, k[ASSEMBLY] && !only_preprocesses(line) ? ".spvasm" : ".spv", &name);
  const char *output = k[OUTPUT] ? k[OUTPUT] : only_preprocesses(line) ? "-" : k[COMPILE] || k[ASSEMBLY] ? name.data : "a.spv";
  if (!status)
    status = personality_add(line, "-o=%s", output);
  if (!status)
    status = personality_add(line, "-emit=%s",
                             path_ends_with(input, ".spvasm") ? "spirv"
                             : k[RULE]                        ? "depends"
                             : k[PREPROCESS]                  ? "preprocessed"
                             : k[ASSEMBLY]                    ? "spvasm"
                                                              : "spirv");
  if (!status && (k[RULE] || k[DEPENDS]))
    status = personality_add(line, "-MT=%s", k[TARGET] ? k[TARGET] : name.data);
  if (!status && k[DEPENDS])
    status = k[DEPFILE] ? personality_add(line, "-MF=%s", k[DEPFILE]) : personality_add(line, "-MF=%s.d", name.data);
  if (!status && k[FORMAT])
    status = personality_add(line, "-words=%s", k[FORMAT]);
  vyre_bytes_free(&name);
  return status;
}

static vyre_status
finish(personality_line *line)
{
  const char *const *k = line->kept;
  VYRE_TRY(check(line));
  const char *input = line->inputs.names[line->index], *const *own = line->kept_of_input;
  VYRE_TRY(add_outputs(line, input));
  if (path_ends_with(input, ".spvasm") && (k[ASSEMBLY] || only_preprocesses(line))) /* glslc ignores assembly then */
    VYRE_TRY(personality_add(line, "-no-output"));
  VYRE_TRY(personality_add(line, "-compile-only"));
  VYRE_TRY(personality_add(line, "-short-messages"));
  VYRE_TRY(personality_add(line, "-front-end=glslc"));
  VYRE_TRY(personality_add(line, "-target-env=%s",
                           !k[ENVIRONMENT] || strcmp(k[ENVIRONMENT], "vulkan") == 0 ? "vulkan1.0"
                           : strcmp(k[ENVIRONMENT], "opengl") == 0                  ? "opengl4.5"
                                                                                    : k[ENVIRONMENT]));
  VYRE_TRY(personality_add(line, "-x=%s",
                           path_ends_with(input, ".spvasm") ? "spvasm"
                           : own[LANGUAGE]                  ? own[LANGUAGE]
                           : path_ends_with(input, ".hlsl") ? "hlsl"
                                                            : "glsl"));
  VYRE_TRY(personality_add(line, "-fentry-point=%s", own[ENTRY_POINT] ? own[ENTRY_POINT] : "main"));
  if (own[STAGE])
    VYRE_TRY(personality_add(line, "-fshader-stage=%s", own[STAGE]));
  if (k[DEBUG])
    VYRE_TRY(personality_add(line, "-g"));
  VYRE_TRY(personality_add(line, k[QUIET] || k[RULE] ? "-w" : "-Wall"));
  if (!k[LEVEL] || only_preprocesses(line))
    return VYRE_OK;
  line->level_is_given = true;
  if (strcmp(k[LEVEL], "-O0") == 0)
    return VYRE_OK;
  return compilers_optimize(line, k[LEVEL], !k[DEBUG]);
}

const personality personality_glslc = {
    .name = "glslc",
    .usage = "[options] FILE...",
    .about = "The flags of glslc (shaderc), as vyre-passmgr executes them.\n",
    .flags = flags,
    .count = sizeof flags / sizeof *flags,
    .failure = 1,
    .misuse = 1,
    .runs_each_input = true,
    .finish = finish,
};
