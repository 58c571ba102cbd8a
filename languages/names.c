/* Parses the names of target environments, languages and stages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/glsl.h"

#include <string.h>

vyre_status
vyre_glsl_env_parse(const char *name, vyre_glsl_env *out)
{
  static const char *const names[VYRE_GLSL_ENV__COUNT] = {
      [VYRE_GLSL_OPENGL_4_5] = "opengl4.5", [VYRE_GLSL_VULKAN_1_2] = "vulkan1.2", [VYRE_GLSL_VULKAN_1_0] = "vulkan1.0",
      [VYRE_GLSL_VULKAN_1_1] = "vulkan1.1", [VYRE_GLSL_VULKAN_1_3] = "vulkan1.3",
  };
  for (int env = 0; env < VYRE_GLSL_ENV__COUNT; env++)
    if (strcmp(name, names[env]) == 0) {
      *out = (vyre_glsl_env)env;
      return VYRE_OK;
    }
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "'%s' is not a target environment\n"
                    "Fix: use vulkan1.0, vulkan1.1, vulkan1.2 (the default), vulkan1.3 or opengl4.5",
                    name);
}

vyre_status
vyre_glsl_language_parse(const char *name, vyre_glsl_language *out)
{
  static const char *const names[VYRE_LANGUAGE__COUNT] = {
      [VYRE_LANGUAGE_GLSL] = "glsl", [VYRE_LANGUAGE_HLSL] = "hlsl", [VYRE_LANGUAGE_ASSEMBLY] = "spvasm"};
  for (int language = VYRE_LANGUAGE_GLSL; language < VYRE_LANGUAGE__COUNT; language++)
    if (strcmp(name, names[language]) == 0) {
      *out = (vyre_glsl_language)language;
      return VYRE_OK;
    }
  return VYRE_ERROR(VYRE_CODE_USAGE, "'%.100s' is not a language\nFix: use glsl, hlsl or spvasm", name);
}

/* Names of glslc, and names of glslangValidator, which are also extensions of files. */
static const char *const stages[VYRE_STAGE__COUNT][2] = {
#define GLSL_STAGE(id, name, extension, constant) [VYRE_STAGE_##id] = {name, extension},
#include "stages.def"
};

vyre_status
vyre_glsl_stage_parse(const char *name, vyre_glsl_stage *out)
{
  for (int stage = VYRE_STAGE_COMPUTE; stage < VYRE_STAGE__COUNT; stage++)
    if (strcmp(name, stages[stage][0]) == 0 || strcmp(name, stages[stage][1]) == 0) {
      *out = (vyre_glsl_stage)stage;
      return VYRE_OK;
    }
  return VYRE_ERROR(
      VYRE_CODE_USAGE,
      "'%.100s' is not a stage\nFix: use compute (comp), vertex (vert), tesscontrol (tesc), tesseval (tese), geometry (geom), "
      "fragment (frag), task, mesh, rgen, rint, rahit, rchit, rmiss or rcall",
      name);
}

vyre_glsl_stage
vyre_glsl_stage_of(const char *path)
{
  size_t length = strlen(path);
  if (length > 5 && (strcmp(path + length - 5, ".glsl") == 0 || strcmp(path + length - 5, ".hlsl") == 0))
    length -= 5;
  for (int stage = VYRE_STAGE_COMPUTE; stage < VYRE_STAGE__COUNT; stage++) {
    const size_t size = strlen(stages[stage][1]);
    if (length > size && path[length - size - 1] == '.' && strncmp(path + length - size, stages[stage][1], size) == 0)
      return (vyre_glsl_stage)stage;
  }
  return VYRE_STAGE_AUTO;
}
