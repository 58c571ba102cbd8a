/* GLSL, HLSL and SPIR-V assembly to SPIR-V, with glslang and SPIRV-Tools. vyre/cross.h writes GLSL, HLSL and MSL.
 *
 * glslang runs in helper processes (the program vyre-glsl, in vyre/ beside libvyre.so), one shader at a time, with limits of memory
 * and time. A shader that exceeds them is an ordinary error. The first call starts a process; concurrent calls start more. The
 * processes wait for the next shader until the caller's process ends or the library is unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_GLSL_H
#define VYRE_GLSL_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The environment of the SPIR-V, by the names of glslc and glslang: vulkan1.2 and so on. */
typedef enum vyre_glsl_env {
  VYRE_GLSL_VULKAN_1_2, /* the default: SPIR-V 1.5 */
  VYRE_GLSL_VULKAN_1_0, /* SPIR-V 1.0 */
  VYRE_GLSL_VULKAN_1_1, /* SPIR-V 1.3 */
  VYRE_GLSL_VULKAN_1_3, /* SPIR-V 1.6 */
  VYRE_GLSL_OPENGL_4_5, /* SPIR-V 1.0 with the rules of OpenGL */
  VYRE_GLSL_ENV__COUNT
} vyre_glsl_env;

/* Parses a name of an environment. An unknown name is a USAGE error that lists the names. */
VYRE_MUST_USE vyre_status vyre_glsl_env_parse(const char *name, vyre_glsl_env *out);

/* The language of a text. */
typedef enum vyre_glsl_language {
  VYRE_LANGUAGE_AUTO, /* by content and name (vyre/io.h); for vyre_glsl_compile, GLSL */
  VYRE_LANGUAGE_GLSL,
  VYRE_LANGUAGE_HLSL,
  VYRE_LANGUAGE_ASSEMBLY, /* SPIR-V assembly, as spirv-dis prints it */
  VYRE_LANGUAGE__COUNT
} vyre_glsl_language;

/* Parses "glsl", "hlsl" or "spvasm". Another name is a USAGE error. */
VYRE_MUST_USE vyre_status vyre_glsl_language_parse(const char *name, vyre_glsl_language *out);

typedef enum vyre_glsl_stage {
  /* By #pragma shader_stage(NAME) in the text, otherwise by the file's name (vyre_glsl_stage_of), otherwise compute. */
  VYRE_STAGE_AUTO,
  VYRE_STAGE_COMPUTE,
  VYRE_STAGE_VERTEX,
  VYRE_STAGE_TESSELLATION_CONTROL,
  VYRE_STAGE_TESSELLATION_EVALUATION,
  VYRE_STAGE_GEOMETRY,
  VYRE_STAGE_FRAGMENT,
  VYRE_STAGE_TASK,
  VYRE_STAGE_MESH,
  VYRE_STAGE_RAY_GENERATION,
  VYRE_STAGE_INTERSECTION,
  VYRE_STAGE_ANY_HIT,
  VYRE_STAGE_CLOSEST_HIT,
  VYRE_STAGE_MISS,
  VYRE_STAGE_CALLABLE,
  VYRE_STAGE__COUNT
} vyre_glsl_stage;

/* Parses a name of a stage, as in glslc and glslangValidator: compute, comp, vertex, vert and so on. An unknown name is a USAGE
 * error that lists the names. */
VYRE_MUST_USE vyre_status vyre_glsl_stage_parse(const char *name, vyre_glsl_stage *out);
/* Returns the stage in a file's name (blur.frag, blur.frag.glsl, blur.frag.hlsl), or VYRE_STAGE_AUTO if it has none. */
vyre_glsl_stage vyre_glsl_stage_of(const char *path);

typedef struct vyre_glsl_options {
  size_t struct_size;              /* sizeof(vyre_glsl_options) */
  const char *const *include_dirs; /* -I, in order; the including file's own folder comes first */
  uint32_t include_dir_count;
  const char *const *defines; /* -D: NAME or NAME=VALUE */
  uint32_t define_count;
  bool debug; /* OpLine and OpSource */
  vyre_glsl_env target_env;
  /* The folder that contains all #include files and -I folders, after links and `..` are resolved. NULL for no restriction. */
  const char *include_root;
  /* limits for one shader; 0 for the default */
  uint32_t most_memory;    /* address space of glslang's process, in MiB */
  uint32_t most_seconds;   /* processor time */
  uint32_t most_expansion; /* the shader's text with macros and includes expanded, in MiB */
  uint64_t *nanoseconds;   /* the time of compiling is added to it; may be NULL */
  vyre_bytes *words;       /* vyre_input_parse appends the SPIR-V that it compiled a text to; may be NULL */
  vyre_glsl_language language;
  const char *entry_point; /* HLSL: the shader's function; NULL for main. With another front end: the name of the entry point */
  vyre_glsl_stage stage;
  bool debug_info;   /* adds NonSemantic.Shader.DebugInfo.100, which replaces the parts of `debug` that it covers */
  bool debug_source; /* adds the debug information of debug_info, with the source text */
  /* NAME or NAME=VALUE, in order: the settings of vyre/glsl_settings.def */
  const char *const *settings;
  uint32_t setting_count;
  vyre_bytes *log; /* glslang's log is appended to it with the setting raw-log; may be NULL */
} vyre_glsl_options;

#define VYRE_GLSL_MEMORY    1024u
#define VYRE_GLSL_SECONDS   60u
#define VYRE_GLSL_EXPANSION 16u

/* Compiles a shader and appends its SPIR-V words to `out`. Emits glslang's messages with file and line. For HLSL, registers become
 * bindings and spaces become sets. A resource without a register gets a free binding. Code that Vulkan does not allow is rewritten
 * if SPIRV-Tools can. For assembly, the version is that of a comment "; Version: 1.3", as spirv-dis writes it, otherwise that of
 * target_env. Numeric ids are kept. */
VYRE_MUST_USE vyre_status vyre_glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                                            vyre_diagnostics diagnostics, vyre_bytes *out);

/* Appends the text of a shader after preprocessing. Ignores the stage. */
VYRE_MUST_USE vyre_status vyre_glsl_preprocess(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                                               vyre_diagnostics diagnostics, vyre_bytes *out);
/* Appends the versions of glslang and its languages, a line for each. */
VYRE_MUST_USE vyre_status vyre_glsl_versions(vyre_bytes *out);
/* Appends the words of a module as SPIR-V assembly, or in the form in which glslang lists modules. `path` is for messages. */
VYRE_MUST_USE vyre_status vyre_assembly_write(const void *data, size_t size, const char *path, bool as_listing,
                                              vyre_diagnostics diagnostics, vyre_bytes *out);
/* Appends the limits of the setting front-end, a line for each, changed by the setting limits. */
VYRE_MUST_USE vyre_status vyre_glsl_limits(const vyre_glsl_options *options, vyre_bytes *out);
/* Validates a SPIR-V module with SPIRV-Tools and applies passes of SPIRV-Tools to it, in the order of the flags.  The flags are
 * those of spirv-opt: passes (--loop-unroll), rules of the validator (--scalar-block-layout), --target-env=NAME, --skip-validation
 * and so on.  Appends the words of the result to `out`; without passes these are the module's own, except OpNop.  Of `limits`,
 * which may be NULL, uses the limits of memory and time, and `nanoseconds`.  A module that is not valid is an INPUT error, and a
 * flag that SPIRV-Tools does not know is a USAGE error. */
VYRE_MUST_USE vyre_status vyre_spirv_tools_run(const void *data, size_t size, const char *path, const char *const *flags,
                                               uint32_t flag_count, const vyre_glsl_options *limits, vyre_diagnostics diagnostics,
                                               vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
