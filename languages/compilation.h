/* A shader with its options, within vyre-glsl.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_LANGUAGES_COMPILATION_H
#define VYRE_LANGUAGES_COMPILATION_H

#include "compile.h"
#include "includer.h"
#include "settings.h"

struct compilation {
  const glsl_source *source;        /* borrowed */
  const vyre_glsl_options *options; /* borrowed */
  settings set;
  EShLanguage stage; /* EShLangCount until it is known */
  std::string preamble;
  const char *text; /* text, length and path of the source, which glslang borrows */
  int length;
  const char *path;

  bool
  is_hlsl() const
  {
    return options->language == VYRE_LANGUAGE_HLSL;
  }
};

/* The directive that enables #include, with its line end. */
extern const char include_directive[];

struct spirv_target {
  glslang::EShClient client;
  glslang::EShTargetClientVersion version;
  glslang::EShTargetLanguageVersion spirv;
};

spirv_target compilation_target(const compilation &c);
include_rule compilation_include_rule(const compilation &c);
EShMessages compilation_messages(const compilation &c);
/* Sets the options of a shader, before it is parsed or preprocessed.  The shader borrows `c`. */
void compilation_set_up(const compilation &c, glslang::TShader *shader);

/* Sends glslang's log: in glslang's own form if the setting raw-log is given, otherwise line by line. */
void send_log(const compilation &c, const glsl_sink &sink, const char *log, const char *debug_log);
/* Sends each line of a log. */
void log_lines(const glsl_sink &sink, const char *text);

/* Preprocesses the shader.  Returns GLSL_TOO_LARGE if the result is too long, and GLSL_REJECTED if it has errors, which are in
 * *log. *has_included is whether a file was included. */
glsl_result preprocess(const compilation &c, std::string *out, std::string *log, bool *has_included);
/* Preprocesses the shader and sends the text, without the lines of the preamble, and the messages. */
glsl_result preprocess_and_send(const compilation &c, const glsl_sink &sink);
/* Stores the stage of the first #pragma shader_stage in the preprocessed text, if there is one.  Returns false and sends the errors
 * if these directives are wrong. */
bool find_stage_pragma(const compilation &c, const std::string &text, const glsl_sink &sink, EShLanguage *stage);

/* Rewrites the module of an HLSL shader as glslc does.  Returns false and sends the errors if that fails. */
bool legalize(const compilation &c, const glsl_sink &sink, std::vector<unsigned int> *words);

#endif
