/* One shader by glslang or SPIRV-Tools, within vyre-glsl.
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

/* glslang::InitializeProcess was called.  most_expansion 0: no bound. */
glsl_result glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                         const glsl_sink &sink);

/* assembly.cpp: the same of SPIR-V's assembly, by SPIRV-Tools. */
glsl_result assembly_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                             const glsl_sink &sink);

/* main: from here on a single allocation of more than that ends the process with GLSL_TOO_LARGE; 0: no bound. */
void glsl_bound_string(size_t bytes);

#endif
