/* Compilation of a shader by glslang or SPIRV-Tools, and writing of a module by SPIRV-Cross, within vyre-glsl.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTENDS_GLSL_COMPILE_H
#define VYRE_FRONTENDS_GLSL_COMPILE_H

#include "glslang.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

/* Callbacks that receive the results of a request. */
struct glsl_sink {
  void (*log)(const char *line);
  void (*text)(const char *text); /* glslang's log in its own form */
  void (*output)(const void *data, size_t bytes);
};

struct glsl_source {
  const char *text;
  size_t length;
  const char *path;
  vyre_glsl_stage stage_of_name; /* the stage if neither the options nor the text give it; may be VYRE_STAGE_AUTO */
};

/* Compiles or preprocesses a shader, or writes the limits, after glslang::InitializeProcess.  most_expansion 0 means no limit. */
glsl_result glsl_compile(const glsl_source &source, const vyre_glsl_options *options, glsl_task task, const glsl_sink &sink);

/* Assembles SPIR-V with SPIRV-Tools. */
glsl_result assembly_compile(const glsl_source &source, const vyre_glsl_options *options, const glsl_sink &sink);
/* Writes the module in the text of the source as SPIR-V assembly, or in the form in which glslang lists modules. */
glsl_result assembly_write(const glsl_source &source, bool as_listing, const glsl_sink &sink);

/* Validates a module and applies passes of SPIRV-Tools.  The defines of the options are flags of spirv-opt. */
glsl_result spirv_tools_run(const glsl_source &source, const vyre_glsl_options *options, const glsl_sink &sink);

/* Opens the library of SPIRV-Cross.  Returns false if it is not installed. */
bool cross_load();

/* A module to write, and the options for it. */
struct cross_request {
  const uint32_t *words;
  size_t count;
  vyre_cross_options options;
};

/* Writes a module with SPIRV-Cross, after cross_load.  A refusal is logged as one text: the reason, and "\nFix: ..." if known. */
glsl_result cross_write(const cross_request &request, const glsl_sink &sink);

/* Changes of a module, and of the text that SPIRV-Cross makes of it. */
struct cross_changes {
  std::vector<uint32_t> words;                            /* the module, or empty if it stays as it is */
  std::vector<std::string> head;                          /* lines of GLSL */
  std::set<std::string> extensions;                       /* of GLSL */
  std::vector<std::pair<uint32_t, uint32_t>> decorations; /* variable, decoration */
};

/* Finds instructions that SPIRV-Cross writes with another meaning, and the changes that prevent it.  Returns the reason to refuse
 * the module, or "". */
std::string cross_prepare(const cross_request &request, cross_changes *out);

/* Returns the indices of the words of each OpSwitch without cases that contains a `continue` of a loop around it. */
std::set<size_t> cross_find_continued(const cross_request &request);

/* Returns whether a value must not have the name in GLSL, HLSL or MSL. */
bool cross_is_reserved(const std::string &name);

/* Limits the size of a single allocation from now on.  A larger one ends the process with GLSL_TOO_LARGE.  0 means no limit. */
void glsl_bound_string(size_t bytes);

#endif
