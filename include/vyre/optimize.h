/* Optimizing a shader in one call: bytes in, bytes out.
 *
 *     vyre_bytes out = {0};
 *     const vyre_optimize_options options = {.struct_size = sizeof options};
 *     vyre_status status = vyre_optimize(&options, spirv, size, &out);
 *
 * Registries, pipelines and modules are kept between calls, so that later calls only process their shader. GLSL, HLSL and
 * SPIRV-Cross run in processes of their own (vyre/glsl.h), which stay until this process ends.
 *
 * Threads: any number of threads may call all functions at a time, except vyre_optimize_end. A process may fork.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_OPTIMIZE_H
#define VYRE_OPTIMIZE_H

#include "vyre/run.h"
#include "vyre/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are borrowed for the call. A field that is 0 or NULL has its default. Later versions add fields at the end. */
typedef struct vyre_optimize_options {
  size_t struct_size; /* sizeof(vyre_optimize_options), so that a newer library reads an older struct */
  /* A pipeline (docs/passmgr.md). NULL: "default<O2>". "" runs no pass; then SPIR-V is not changed, and a text is compiled only. */
  const char *passes;
  /* The output: "spirv" (the default), "spvasm", "glsl", "hlsl", "msl", "reflection" (JSON), "vir", "c" or "ptx". */
  const char *emit;
  /* Name of the input. It begins messages, its ending helps to detect the language and the stage, and #include searches its folder.
   * NULL: "shader". */
  const char *path;
  /* Shared objects with passes, which are loaded once in the process. */
  const char *const *plugins;
  uint32_t plugin_count;
  uint32_t max_growth;                /* as vyre_module_set_growth; 0 for the default */
  vyre_specialization specialization; /* values of specialization constants */
  /* For texts. The names are those of the options -x, -target-env, -fshader-stage and -fentry-point of vyre-passmgr. */
  const char *language, *target_env, *stage, *entry_point;
  const char *const *defines; /* NAME or NAME=VALUE */
  uint32_t define_count;
  uint32_t include_dir_count;
  const char *const *include_dirs;
  bool debug;                      /* keeps the lines of a text as debug information */
  bool strip;                      /* omits names, lines and sources of SPIR-V */
  bool keep_vectors;               /* as vyre_module_set_keeps_vectors: smaller SPIR-V */
  vyre_diagnostics diagnostics;    /* receives remarks, warnings, and the errors of a text; without it, the status has the first */
  const vyre_allocator *allocator; /* for the module, which is not kept then */
} vyre_optimize_options;

/* Optimizes a shader and appends the output to `out`. The kind of the input is detected as by vyre_input_detect. A module that vyre
 * cannot convert, and stages other than compute, come out unchanged, with a remark. options may be NULL. Errors: INPUT for the
 * shader, USAGE for the options. */
VYRE_MUST_USE vyre_status vyre_optimize(const vyre_optimize_options *options, const void *data, size_t size, vyre_bytes *out);

/* One shader of many. */
typedef struct vyre_optimize_item {
  const char *path; /* borrowed; NULL for the path in the options */
  const void *data; /* borrowed */
  size_t size;
  vyre_bytes out;     /* the output is appended to this array; the caller frees it with vyre_bytes_free */
  vyre_status status; /* set by the call; the caller frees it with vyre_status_free */
  /* Receives the messages of this shader, on the thread that optimizes it. If `emit` is NULL, the diagnostics of the options do. */
  vyre_diagnostics diagnostics;
} vyre_optimize_item;

/* Optimizes many shaders on at most `threads` threads (0: as many as there are processors), the caller's included. `item_size` is
 * sizeof(vyre_optimize_item). Each item has a status of its own. Returns USAGE for wrong options, before any item is read, and
 * INPUT if a shader failed. Messages to the diagnostics of the options are emitted one at a time. */
VYRE_MUST_USE vyre_status vyre_optimize_many(const vyre_optimize_options *options, vyre_optimize_item *items, size_t item_size,
                                             uint32_t count, uint32_t threads);

/* Frees everything that is kept between calls: at most 64 pipelines, 64 modules of 32 MiB, and a registry for each list of plugins.
 * Later calls work as before. No call may be in progress, and no callback of one may call this function. */
void vyre_optimize_end(void);

#ifdef __cplusplus
}
#endif
#endif
