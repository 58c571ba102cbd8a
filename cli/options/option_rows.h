/* Options that several programs have: rows for their tables, and the fields of these.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_OPTION_ROWS_H
#define VYRE_CLI_OPTIONS_OPTION_ROWS_H

#include "option_table.h"

#include "base/files/cache_folder.h"
#include "vyre/glsl.h"
#include "vyre/target.h"

#include <string.h>

#define OPTION_BOUND 1000000u

typedef struct option_glsl {
  name_list include_dirs, defines;
  const char *target_env, *include_root, *language, *entry_point, *stage;
  option_number memory, seconds, expansion; /* 0: the default */
} option_glsl;

/* `at` gives the offset of a member of option_glsl. */
#define OPTION_GLSL_ROWS(at)                                                                                                    \
  {.name = "I", OPTION_LIST, at(include_dirs), "DIR", "look for #include files there", OPTION_JOINED},                          \
      {.name = "D", OPTION_LIST, at(defines), "NAME[=VALUE]", "define a macro", OPTION_JOINED},                                 \
      {.name = "target-env",                                                                                                    \
       OPTION_TEXT,                                                                                                             \
       at(target_env),                                                                                                          \
       "vulkan1.0|...|vulkan1.3",                                                                                               \
       "what its SPIR-V is for; default vulkan1.2",                                                                             \
       .flags = OPTION_SAFE},                                                                                                   \
      {.name = "x",                                                                                                             \
       OPTION_WORD,                                                                                                             \
       at(language),                                                                                                            \
       "glsl|hlsl|spvasm",                                                                                                      \
       "the language of what is neither SPIR-V nor VIR0; else content and name tell it"},                                       \
      {.name = "fentry-point", OPTION_TEXT, at(entry_point), "NAME", "HLSL: the function that is the shader; default main"},    \
      {.name = "e", OPTION_TEXT, at(entry_point), "NAME", NULL},                                                                \
      {.name = "include-root", OPTION_TEXT, at(include_root), "DIR", "#include reads nothing outside of that folder"},          \
      {.name = "glsl-memory",                                                                                                   \
       OPTION_NUMBER,                                                                                                           \
       at(memory),                                                                                                              \
       "MIB",                                                                                                                   \
       "what compiling one shader may take; default 1024",                                                                      \
       .least = 1,                                                                                                              \
       .most = OPTION_BOUND},                                                                                                   \
      {.name = "glsl-seconds",                                                                                                  \
       OPTION_NUMBER,                                                                                                           \
       at(seconds),                                                                                                             \
       "N",                                                                                                                     \
       "processor time for one shader; default 60",                                                                             \
       .least = 1,                                                                                                              \
       .most = OPTION_BOUND},                                                                                                   \
  {                                                                                                                             \
    .name = "glsl-expansion", OPTION_NUMBER, at(expansion), "MIB", "a shader's text, macros and includes expanded; default 16", \
    .least = 1, .most = OPTION_BOUND                                                                                            \
  }

/* As the library takes them, without `debug`; borrows them.  USAGE: a word that is none. */
VYRE_MUST_USE static inline vyre_status
option_glsl_take(const option_glsl *from, vyre_glsl_options *out)
{
  *out = (vyre_glsl_options){.include_dirs = from->include_dirs.names,
                             .include_dir_count = from->include_dirs.count,
                             .defines = from->defines.names,
                             .define_count = from->defines.count,
                             .include_root = from->include_root,
                             .most_memory = (uint32_t)from->memory.value,
                             .most_seconds = (uint32_t)from->seconds.value,
                             .most_expansion = (uint32_t)from->expansion.value,
                             .language = !from->language                       ? VYRE_LANGUAGE_TOLD
                                         : strcmp(from->language, "hlsl") == 0 ? VYRE_LANGUAGE_HLSL
                                         : strcmp(from->language, "glsl") == 0 ? VYRE_LANGUAGE_GLSL
                                                                               : VYRE_LANGUAGE_ASSEMBLY,
                             .entry_point = from->entry_point};
  if (from->stage)
    VYRE_TRY(vyre_glsl_stage_parse(from->stage, &out->stage));
  return from->target_env ? vyre_glsl_env_parse(from->target_env, &out->target_env) : VYRE_OK;
}

typedef struct option_device {
  const char *device, *library, *cache_dir;
  option_number timeout; /* seconds */
  bool validate;
} option_device;

enum { OPTION_TIMEOUT = 120 }; /* the default of `timeout` */

/* `at` gives the offset of a member of option_device. */
#define OPTION_DEVICE_ROWS(at)                                                                                             \
  {.name = "device",                                                                                                       \
   OPTION_TEXT,                                                                                                            \
   at(device),                                                                                                             \
   "NUMBER|KIND|NAME",                                                                                                     \
   "of the target: by its number, its kind (discrete, integrated, virtual, cpu), or a part of its name",                   \
   OPTION_SAFE | OPTION_KEPT},                                                                                             \
      {.name = "library",                                                                                                  \
       OPTION_TEXT,                                                                                                        \
       at(library),                                                                                                        \
       "FILE",                                                                                                             \
       "of the target: the driver library; default: the platform's",                                                       \
       OPTION_KEPT_FILE},                                                                                                  \
      {.name = "cache-dir",                                                                                                \
       OPTION_TEXT,                                                                                                        \
       at(cache_dir),                                                                                                      \
       "DIR|none",                                                                                                         \
       "where a target keeps what its driver compiled; default: vyre in $XDG_CACHE_HOME or $HOME/.cache",                  \
       OPTION_KEPT},                                                                                                       \
      {.name = "validate",                                                                                                 \
       OPTION_FLAG,                                                                                                        \
       at(validate),                                                                                                       \
       NULL,                                                                                                               \
       "with the target's own checks (Vulkan's validation layer); a message of theirs is an error",                        \
       OPTION_SAFE | OPTION_KEPT},                                                                                         \
  {                                                                                                                        \
    .name = "timeout", OPTION_NUMBER, at(timeout), "SECONDS",                                                              \
    "after which a device that is not done counts as hanging, an error; default 120, 0: never", OPTION_SAFE | OPTION_KEPT, \
    .most = OPTION_BOUND                                                                                                   \
  }

/* Returns the options as a target takes them, without remarks.  Borrows their texts, and `folder` for the path of the cache. */
static inline vyre_target_options
option_device_take(const option_device *from, char *folder, size_t capacity)
{
  return (vyre_target_options){.library = from->library,
                               .device = from->device,
                               .validate = from->validate,
                               .timeout = (uint32_t)from->timeout.value,
                               .cache = vyre_cache_folder(from->cache_dir, folder, capacity)};
}

/* `text` is an OPTION_WORD, `file` an OPTION_TEXT. */
#define OPTION_STATS_ROWS(text, file)                                                                                \
  {.name = "stats",                                                                                                  \
   OPTION_WORD,                                                                                                      \
   text,                                                                                                             \
   "text|json|prometheus",                                                                                           \
   "print what was counted: by passes, and by the target of a device",                                               \
   .alone = "text"},                                                                                                 \
  {                                                                                                                  \
    .name = "stats-file", OPTION_TEXT, file, "FILE", "print that there; -: standard output; default: standard error" \
  }

#endif
