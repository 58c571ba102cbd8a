/* Parses versions of languages and maps of bindings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cross_options.h"

#include <stdlib.h>
#include <string.h>

/* Parses a decimal number of at most 9 digits and moves the text behind it.  Returns false if there is none. */
static bool
read_number(const char **text, uint32_t *out)
{
  const size_t digits = strspn(*text, "0123456789");
  if (digits == 0 || digits > 9)
    return false;
  *out = (uint32_t)strtoul(*text, NULL, 10);
  *text += digits;
  return true;
}

static vyre_status
parse_glsl(const char *text, vyre_cross_options *out)
{
  const char *rest = text;
  if (read_number(&rest, &out->version) && out->version >= 100 && out->version <= 460) {
    out->platform = strcmp(rest, "gl") == 0 ? VYRE_CROSS_OPENGL : strcmp(rest, "es") == 0 ? VYRE_CROSS_ES : VYRE_CROSS_DEFAULT;
    if (out->platform != VYRE_CROSS_DEFAULT || rest[0] == '\0')
      return VYRE_OK;
  }
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "-glsl-version: '%.100s' is not a version of GLSL\n"
                    "Fix: write for example 450 for Vulkan, 430gl for OpenGL or 310es for OpenGL ES",
                    text);
}

/* Parses MAJOR.MINOR of one digit each. */
static vyre_status
parse_version(const char *option, const char *text, const char *example, uint32_t *out)
{
  const bool fits = strlen(text) == 3 && strchr("123456789", text[0]) && text[1] == '.' && strchr("0123456789", text[2]);
  if (!fits)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s: '%.100s' is not a version\nFix: write for example %s", option, text, example);
  *out = (uint32_t)(text[0] - '0') * 10 + (uint32_t)(text[2] - '0');
  return VYRE_OK;
}

/* Parses SET.BINDING=[SPACE.]INDEX or push=[SPACE.]INDEX. */
static vyre_status
parse_binding(const char *text, vyre_cross_binding *out)
{
  const char *at = text;
  *out = (vyre_cross_binding){.set = VYRE_CROSS_PUSH, .space = VYRE_CROSS_SAME_SET};
  const bool is_push = strncmp(at, "push", 4) == 0;
  bool fits = is_push || (read_number(&at, &out->set) && *at++ == '.' && read_number(&at, &out->binding));
  if (is_push)
    at += 4;
  fits = fits && *at++ == '=' && read_number(&at, &out->index);
  if (fits && *at == '.') {
    at++;
    out->space = out->index;
    fits = read_number(&at, &out->index);
  }
  return fits && *at == '\0' ? VYRE_OK
                             : VYRE_ERROR(VYRE_CODE_USAGE,
                                          "-bind: '%.100s' is not a binding\n"
                                          "Fix: write SET.BINDING=INDEX, SET.BINDING=SPACE.INDEX or push=INDEX, as in -bind=0.1=7",
                                          text);
}

/* Parses the options of -bind.  Refuses two for one resource. */
static vyre_status
parse_bindings(const name_list *list, vyre_cross_binding *out)
{
  for (uint32_t i = 0; i < list->count; i++) {
    VYRE_TRY(parse_binding(list->names[i], &out[i]));
    for (uint32_t k = 0; k < i; k++)
      if (out[k].set == out[i].set && out[k].binding == out[i].binding)
        return VYRE_ERROR(VYRE_CODE_USAGE, "-bind=%.100s and -bind=%.100s are for one resource\nFix: give one of them",
                          list->names[k], list->names[i]);
  }
  return VYRE_OK;
}

vyre_status
cross_options_fill(tool_options *o)
{
  vyre_cross_options all = {.struct_size = sizeof all,
                            .entry_point = o->glsl.entry_point,
                            .binding_count = o->bind.count,
                            .most_memory = o->compile.most_memory,
                            .most_seconds = o->compile.most_seconds};
  if (o->bind.count) {
    vyre_cross_binding *bindings = calloc(o->bind.count, sizeof *bindings);
    all.bindings = bindings;
    if (!bindings)
      return VYRE_OUT_OF_MEMORY("for the bindings");
    o->cross[0].bindings = bindings; /* owned */
    VYRE_TRY(parse_bindings(&o->bind, bindings));
  }
  for (int language = 0; language < VYRE_CROSS_LANGUAGE__COUNT; language++) {
    o->cross[language] = all;
    o->cross[language].language = (vyre_cross_language)language;
  }
  if (o->glsl_version)
    VYRE_TRY(parse_glsl(o->glsl_version, &o->cross[VYRE_CROSS_GLSL]));
  if (o->hlsl_model)
    VYRE_TRY(parse_version("hlsl-model", o->hlsl_model, "6.2", &o->cross[VYRE_CROSS_HLSL].version));
  if (o->msl_version)
    VYRE_TRY(parse_version("msl-version", o->msl_version, "2.4", &o->cross[VYRE_CROSS_MSL].version));
  if (o->msl_platform && strcmp(o->msl_platform, "ios") == 0)
    o->cross[VYRE_CROSS_MSL].platform = VYRE_CROSS_IOS;
  return VYRE_OK;
}

void
cross_options_free(tool_options *o)
{
  free((void *)(uintptr_t)o->cross[0].bindings);
  o->cross[0].bindings = NULL;
}
