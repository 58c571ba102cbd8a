/* Options that several programs share: rows for their tables, and the fields of these rows.
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
  name_list include_dirs, defines, settings;
  const char *target_env, *include_root, *language, *entry_point, *stage;
  option_number memory, seconds, expansion; /* 0 for the default */
} option_glsl;

/* `at` gives the offset of a member of option_glsl. */
#define OPTION_GLSL_ROWS(at)                                                                                             \
  {.name = "I", OPTION_LIST, at(include_dirs), "DIR", "search this folder for #include files", OPTION_JOINED},           \
      {.name = "D", OPTION_LIST, at(defines), "NAME[=VALUE]", "define a macro", OPTION_JOINED | OPTION_SAFE},            \
      {.name = "target-env",                                                                                             \
       OPTION_TEXT,                                                                                                      \
       at(target_env),                                                                                                   \
       "vulkan1.0|...|vulkan1.3",                                                                                        \
       "the target environment. Default: vulkan1.2",                                                                     \
       .flags = OPTION_SAFE},                                                                                            \
      {.name = "x",                                                                                                      \
       OPTION_WORD,                                                                                                      \
       at(language),                                                                                                     \
       "glsl|hlsl|spvasm",                                                                                               \
       "the language of the input, unless it is binary SPIR-V or VIR0. Default: by content and extension",               \
       OPTION_SAFE},                                                                                                     \
      {.name = "fentry-point",                                                                                           \
       OPTION_TEXT,                                                                                                      \
       at(entry_point),                                                                                                  \
       "NAME",                                                                                                           \
       "the entry function of HLSL, or the entry point of GLSL, HLSL and MSL output",                                    \
       OPTION_SAFE},                                                                                                     \
      {.name = "e", OPTION_TEXT, at(entry_point), "NAME", NULL},                                                         \
      {.name = "include-root", OPTION_TEXT, at(include_root), "DIR", "refuse #include of files outside of this folder"}, \
      {.name = "glsl-memory",                                                                                            \
       OPTION_NUMBER,                                                                                                    \
       at(memory),                                                                                                       \
       "MIB",                                                                                                            \
       "memory for compiling one shader, in MiB. Default: 1024",                                                         \
       .least = 1,                                                                                                       \
       .most = OPTION_BOUND},                                                                                            \
      {.name = "glsl-seconds",                                                                                           \
       OPTION_NUMBER,                                                                                                    \
       at(seconds),                                                                                                      \
       "N",                                                                                                              \
       "processor time for compiling one shader, in seconds. Default: 60",                                               \
       .least = 1,                                                                                                       \
       .most = OPTION_BOUND},                                                                                            \
  {                                                                                                                      \
    .name = "glsl-expansion", OPTION_NUMBER, at(expansion), "MIB",                                                       \
    "the size of a shader's text after preprocessing, in MiB. Default: 16", .least = 1, .most = OPTION_BOUND             \
  }

/* Defines a row for a setting of vyre/glsl_settings.def.  The arguments after `at` are those of VYRE_GLSL_SETTING. */
#define OPTION_GLSL_SETTING(at, id, setting, form, about) \
  {.name = setting, .kind = OPTION_SETTING, .field = at(settings), .value = form, .help = about, .flags = OPTION_EMPTY},

/* Fills the library's GLSL options, except `debug`.  Borrows the texts.  Returns USAGE for an unknown word. */
VYRE_MUST_USE static inline vyre_status
option_glsl_fill(const option_glsl *from, vyre_glsl_options *out)
{
  *out = (vyre_glsl_options){.struct_size = sizeof(vyre_glsl_options),
                             .include_dirs = from->include_dirs.names,
                             .include_dir_count = from->include_dirs.count,
                             .defines = from->defines.names,
                             .define_count = from->defines.count,
                             .settings = from->settings.names,
                             .setting_count = from->settings.count,
                             .include_root = from->include_root,
                             .most_memory = (uint32_t)from->memory.value,
                             .most_seconds = (uint32_t)from->seconds.value,
                             .most_expansion = (uint32_t)from->expansion.value,
                             .language = !from->language                       ? VYRE_LANGUAGE_AUTO
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
#define OPTION_DEVICE_ROWS(at)                                                                                   \
  {.name = "device",                                                                                             \
   OPTION_TEXT,                                                                                                  \
   at(device),                                                                                                   \
   "NUMBER|KIND|NAME",                                                                                           \
   "the device: its number, its kind (discrete, integrated, virtual, cpu), or a part of its name",               \
   OPTION_SAFE | OPTION_KEPT},                                                                                   \
      {.name = "library",                                                                                        \
       OPTION_TEXT,                                                                                              \
       at(library),                                                                                              \
       "FILE",                                                                                                   \
       "the driver library of the target. Default: that of the platform",                                        \
       OPTION_KEPT_FILE},                                                                                        \
      {.name = "cache-dir",                                                                                      \
       OPTION_TEXT,                                                                                              \
       at(cache_dir),                                                                                            \
       "DIR|none",                                                                                               \
       "keep compiled kernels in DIR. Default: vyre in $XDG_CACHE_HOME or $HOME/.cache",                         \
       OPTION_KEPT},                                                                                             \
      {.name = "validate",                                                                                       \
       OPTION_FLAG,                                                                                              \
       at(validate),                                                                                             \
       NULL,                                                                                                     \
       "run with the target's own checks (the validation layer of Vulkan), whose messages are errors",           \
       OPTION_SAFE | OPTION_KEPT},                                                                               \
  {                                                                                                              \
    .name = "timeout", OPTION_NUMBER, at(timeout), "SECONDS",                                                    \
    "fail if the device does not finish within SECONDS; 0 means never. Default: 120", OPTION_SAFE | OPTION_KEPT, \
    .most = OPTION_BOUND                                                                                         \
  }

/* Returns the options of a target, without a callback for remarks.  Borrows the texts, and `folder` for the path of the cache. */
static inline vyre_target_options
option_device_fill(const option_device *from, char *folder, size_t capacity)
{
  return (vyre_target_options){.struct_size = sizeof(vyre_target_options),
                               .library = from->library,
                               .device = from->device,
                               .validate = from->validate,
                               .timeout = (uint32_t)from->timeout.value,
                               .cache = vyre_cache_folder(from->cache_dir, folder, capacity)};
}

/* Rows for -stats and -stats-file.  `text` is the field of an OPTION_WORD, `file` of an OPTION_TEXT. */
#define OPTION_STATS_ROWS(text, file)                                                                    \
  {.name = "stats",                                                                                      \
   OPTION_WORD,                                                                                          \
   text,                                                                                                 \
   "text|json|prometheus",                                                                               \
   "print the counters of passes and of the device's target",                                            \
   .alone = "text",                                                                                      \
   .flags = OPTION_ASIDE},                                                                               \
  {                                                                                                      \
    .name = "stats-file", OPTION_TEXT, file, "FILE",                                                     \
    "write the statistics to FILE; - is standard output. Default: standard error", .flags = OPTION_ASIDE \
  }

enum { OPTION_LEASE = 30, OPTION_REDIS_WAIT = 60 }; /* the defaults of -queue-lease and -redis-wait, in seconds */

/* Rows for the connection to a Redis server.  `password` is the field of an OPTION_TEXT, `wait` of an OPTION_NUMBER. */
#define OPTION_REDIS_ROWS(password, wait)                                                                               \
  {.name = "redis-password",                                                                                            \
   OPTION_TEXT,                                                                                                         \
   password,                                                                                                            \
   "FILE",                                                                                                              \
   "read the password for the Redis server from FILE",                                                                  \
   .flags = OPTION_ASIDE | OPTION_POSIX},                                                                               \
  {                                                                                                                     \
    .name = "redis-wait", OPTION_NUMBER, wait, "SECONDS",                                                               \
    "how long to wait for a Redis server that does not answer any more. Default: 60", .least = 1, .most = OPTION_BOUND, \
    .flags = OPTION_ASIDE | OPTION_POSIX                                                                                \
  }

#endif
