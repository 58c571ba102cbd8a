/* GLSL compute shaders in and out, shaders of other stages, HLSL and SPIR-V's assembly in: to SPIR-V by glslang and SPIRV-Tools,
 * and from a program of a module.
 *
 * glslang runs in processes of its own (the program vyre-glsl, in vyre/ beside libvyre.so), one a shader, with bounds of memory and
 * time: a shader that is too much for it is an error like any other.  They are started by the first call, one for each of those
 * that run at once, and wait for the next one until the process ends or the library is unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_GLSL_H
#define VYRE_GLSL_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the SPIR-V is for, as glslang and spirv-opt name it: vulkan1.2 and so on. */
typedef enum vyre_glsl_env {
  VYRE_GLSL_VULKAN_1_2, /* the default: SPIR-V 1.5 */
  VYRE_GLSL_VULKAN_1_0, /* SPIR-V 1.0 */
  VYRE_GLSL_VULKAN_1_1, /* SPIR-V 1.3 */
  VYRE_GLSL_VULKAN_1_3, /* SPIR-V 1.6 */
  VYRE_GLSL_ENV__COUNT
} vyre_glsl_env;

/* By name; an unknown name is a USAGE error that lists them. */
VYRE_MUST_USE vyre_status vyre_glsl_env_parse(const char *name, vyre_glsl_env *out);

/* Of a text that is compiled. */
typedef enum vyre_glsl_language {
  VYRE_LANGUAGE_TOLD, /* by content and name (vyre/io.h); vyre_glsl_compile takes it for GLSL */
  VYRE_LANGUAGE_GLSL,
  VYRE_LANGUAGE_HLSL,
  VYRE_LANGUAGE_ASSEMBLY, /* SPIR-V's, as spirv-dis prints it */
  VYRE_LANGUAGE__COUNT
} vyre_glsl_language;

typedef enum vyre_glsl_stage {
  VYRE_STAGE_TOLD, /* by the name, as vyre_glsl_stage_of says; else compute */
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

/* By the names that glslc and glslangValidator have: compute, comp, vertex, vert and so on; an unknown name is a USAGE error that
 * lists them. */
VYRE_MUST_USE vyre_status vyre_glsl_stage_parse(const char *name, vyre_glsl_stage *out);
/* Of a file's name: blur.frag, blur.frag.glsl, blur.frag.hlsl.  TOLD: it says none. */
vyre_glsl_stage vyre_glsl_stage_of(const char *path);

typedef struct vyre_glsl_options {
  const char *const *include_dirs; /* -I, in order; the including file's own folder comes first */
  uint32_t include_dir_count;
  const char *const *defines; /* -D: NAME or NAME=VALUE */
  uint32_t define_count;
  bool debug; /* OpLine and OpSource */
  vyre_glsl_env target_env;
  /* A folder: #include reads only what is in it, whatever links and `..` say, and -I folders must be in it too.  NULL:
   * none */
  const char *include_root;
  /* What one shader may take; 0: the default. */
  uint32_t most_memory;    /* of glslang's process, MiB of address space */
  uint32_t most_seconds;   /* of processor time */
  uint32_t most_expansion; /* the shader's text with macros and includes expanded, MiB */
  uint64_t *nanoseconds;   /* how long compiling takes is added there; NULL: nowhere */
  vyre_glsl_language language;
  const char *entry_point; /* HLSL: the function that is the shader; NULL: main */
  vyre_glsl_stage stage;
  bool debug_info;   /* beside what `debug` asks for: NonSemantic.Shader.DebugInfo.100, in its place where it says the same */
  bool debug_source; /* the same, with the source's text */
} vyre_glsl_options;

#define VYRE_GLSL_MEMORY    1024u
#define VYRE_GLSL_SECONDS   60u
#define VYRE_GLSL_EXPANSION 16u

/* Appends SPIR-V words to `out`.  glslang's messages are emitted with file and line.  Of HLSL, registers are bindings, spaces sets,
 * what has no register gets a binding that is free, and what Vulkan does not allow is rewritten where SPIRV-Tools can. Of assembly
 * the version is that of a comment as spirv-dis writes it ("; Version: 1.3"), else that of target_env; numbers of ids stay. */
VYRE_MUST_USE vyre_status vyre_glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                                            vyre_diagnostics diagnostics, vyre_bytes *out);

/* Appends a program of a sealed and verified module as the text of a GLSL compute shader (version 460, with the extensions that it
 * needs) that computes the same.  Names and bindings stay; precision hints and source lines do not.  What GLSL cannot say is an
 * error that names the row. */
VYRE_MUST_USE vyre_status vyre_glsl_write(const vyre_module *module, vyre_row program, vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
