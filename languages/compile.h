/* Compilation of a shader by glslang or SPIRV-Tools, within vyre-glsl.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTENDS_GLSL_COMPILE_H
#define VYRE_FRONTENDS_GLSL_COMPILE_H

#include "glslang.h"

#include <string>
#include <vector>

/* Receives the results. */
struct glsl_sink {
  void (*log)(const char *line);
  void (*words)(const std::vector<unsigned int> &words);
};

/* Compiles a shader, after glslang::InitializeProcess.  most_expansion 0 means no limit. */
glsl_result glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                         const glsl_sink &sink);

/* Assembles SPIR-V with SPIRV-Tools. */
glsl_result assembly_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                             const glsl_sink &sink);

/* Validates a module and applies passes of SPIRV-Tools.  The defines of the options are flags of spirv-opt. */
glsl_result spirv_tools_run(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                            const glsl_sink &sink);

/* Limits the size of a single allocation from now on.  A larger one ends the process with GLSL_TOO_LARGE.  0 means no limit. */
void glsl_bound_string(size_t bytes);

#endif
