/* Compiles GLSL and HLSL to SPIR-V with the C++ interface of glslang.  Its C interface supports neither file names nor an includer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glslang.h"

#include "compile.h"
#include "includer.h"
#include "source_texts.h"

#include <set>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include <glslang/MachineIndependent/localintermediate.h>
#include <glslang/Public/ResourceLimits.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace
{

bool
is_hlsl(const vyre_glsl_options *options)
{
  return options->language == VYRE_LANGUAGE_HLSL;
}

EShLanguage
stage_of(const vyre_glsl_options *options)
{
  switch (options->stage) {
  case VYRE_STAGE_VERTEX:
    return EShLangVertex;
  case VYRE_STAGE_TESSELLATION_CONTROL:
    return EShLangTessControl;
  case VYRE_STAGE_TESSELLATION_EVALUATION:
    return EShLangTessEvaluation;
  case VYRE_STAGE_GEOMETRY:
    return EShLangGeometry;
  case VYRE_STAGE_FRAGMENT:
    return EShLangFragment;
  case VYRE_STAGE_TASK:
    return EShLangTask;
  case VYRE_STAGE_MESH:
    return EShLangMesh;
  case VYRE_STAGE_RAY_GENERATION:
    return EShLangRayGen;
  case VYRE_STAGE_INTERSECTION:
    return EShLangIntersect;
  case VYRE_STAGE_ANY_HIT:
    return EShLangAnyHit;
  case VYRE_STAGE_CLOSEST_HIT:
    return EShLangClosestHit;
  case VYRE_STAGE_MISS:
    return EShLangMiss;
  case VYRE_STAGE_CALLABLE:
    return EShLangCallable;
  default:
    return EShLangCompute;
  }
}

EShMessages
messages_of(const vyre_glsl_options *options)
{
  return static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules | (is_hlsl(options) ? EShMsgReadHlsl : EShMsgDefault));
}

std::string
preamble_of(const vyre_glsl_options *options)
{
  std::string preamble = is_hlsl(options) ? "" : "#extension GL_GOOGLE_include_directive : enable\n";
  for (uint32_t i = 0; i < options->define_count; i++) {
    std::string define = options->defines[i];
    const std::string::size_type equals = define.find('=');
    if (equals == std::string::npos)
      define += " 1";
    else
      define[equals] = ' ';
    preamble += "#define " + define + "\n";
  }
  return preamble;
}

void
log_lines(const glsl_sink &sink, const char *text)
{
  const std::string all = text ? text : "";
  for (std::string::size_type at = 0; at < all.size();) {
    std::string::size_type end = all.find('\n', at);
    if (end == std::string::npos)
      end = all.size();
    if (end > at)
      sink.log(all.substr(at, end - at).c_str());
    at = end + 1;
  }
}

struct versions {
  glslang::EShTargetClientVersion vulkan;
  glslang::EShTargetLanguageVersion spirv;
};

versions
versions_of(const vyre_glsl_options *options)
{
  switch (options->target_env) {
  case VYRE_GLSL_VULKAN_1_0:
    return {glslang::EShTargetVulkan_1_0, glslang::EShTargetSpv_1_0};
  case VYRE_GLSL_VULKAN_1_1:
    return {glslang::EShTargetVulkan_1_1, glslang::EShTargetSpv_1_3};
  case VYRE_GLSL_VULKAN_1_3:
    return {glslang::EShTargetVulkan_1_3, glslang::EShTargetSpv_1_6};
  default:
    return {glslang::EShTargetVulkan_1_2, glslang::EShTargetSpv_1_5};
  }
}

/* Sets the options of a shader, before it is parsed or preprocessed.  Borrows its arguments. */
void
set_up(glslang::TShader *shader, const char *const *text, const int *length, const char *const *path, const std::string &preamble,
       const vyre_glsl_options *options)
{
  shader->setStringsWithLengthsAndNames(text, length, path, 1);
  shader->setPreamble(preamble.c_str());
  shader->setEnvInput(is_hlsl(options) ? glslang::EShSourceHlsl : glslang::EShSourceGlsl, stage_of(options),
                      glslang::EShClientVulkan, 100);
  shader->setEnvClient(glslang::EShClientVulkan, versions_of(options).vulkan);
  shader->setEnvTarget(glslang::EShTargetSpv, versions_of(options).spirv);
  if (is_hlsl(options)) {
    shader->setEntryPoint(options->entry_point);
    shader->setSourceEntryPoint(options->entry_point);
    shader->setAutoMapBindings(true);
  }
}

/* Returns whether the preprocessed text, a string of glslang, is too large.  Errors in it are reported when it is parsed. */
bool
is_too_large(const char *text, int length, const char *path, const vyre_glsl_options *options, const std::string &preamble)
{
  const size_t most = static_cast<size_t>(options->most_expansion) << 20;
  glslang::TShader shader(stage_of(options));
  set_up(&shader, &text, &length, &path, preamble, options);
  module_strings strings;
  folder_includer includer(path, options, &strings);
  std::string expanded;
  glsl_bound_string(2 * most); /* a growing string doubles, so one of more than twice the limit is too long */
  const bool done =
      shader.preprocess(GetDefaultResources(), 460, ENoProfile, false, false, messages_of(options), &expanded, includer);
  glsl_bound_string(0);
  return done && expanded.size() > most;
}

/* Returns whether a string used by an extended instruction, such as debugPrintf, is still broken after its repair
 * (module_strings.h).  glslang sign-extends bytes outside of ASCII, so that the rest of their word is ones, which UTF-8 never
 * contains. */
bool
has_broken_text(const std::vector<unsigned int> &words)
{
  constexpr unsigned int op_string = 7, op_ext_inst = 12;
  std::set<unsigned int> broken;
  for (size_t at = 5, count; at < words.size() && (count = words[at] >> 16) != 0 && count <= words.size() - at; at += count) {
    const unsigned int op = words[at] & 0xffff;
    for (size_t i = at + 2; i < at + count; i++)
      if (op == op_string && words[i] >> 24 == 0xff)
        broken.insert(words[at + 1]);
      else if (op == op_ext_inst && i > at + 4 && broken.count(words[i]) != 0)
        return true;
  }
  return false;
}

/* Gives glslang placeholders for the texts of the shader and of its includes.  Files that #line names get an empty text, because
 * glslang fails without a text. */
void
add_texts(glslang::TIntermediate *intermediate, const char *text, size_t length, const module_strings &strings, source_texts *texts)
{
  const std::string own = texts->add(std::string(text, length));
  const std::map<std::string, std::string> included = intermediate->getIncludeText();
  intermediate->addSourceText(own.data(), own.size());
  for (const auto &file : included) {
    const std::string placeholder = texts->add(file.second);
    intermediate->addIncludeText(file.first.c_str(), placeholder.data(), placeholder.size());
  }
  for (const std::string &name : strings.line_names())
    if (included.count(name) == 0)
      intermediate->addIncludeText(name.c_str(), "", 0);
}

} // namespace

glsl_result
glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options, const glsl_sink &sink)
{
  const int text_length = static_cast<int>(length);
  const std::string preamble = preamble_of(options);
  if (options->most_expansion && is_too_large(text, text_length, path, options, preamble))
    return GLSL_TOO_LARGE;

  glslang::TShader shader(stage_of(options));
  set_up(&shader, &text, &text_length, &path, preamble, options);
  shader.setDebugInfo(options->debug_info); /* for blocks */
  module_strings strings;
  strings.add(path);
  strings.add_literals(std::string(text, length));
  strings.add_literals(preamble);
  folder_includer includer(path, options, &strings);
  const EShMessages messages = messages_of(options);
  const bool parsed = shader.parse(GetDefaultResources(), 460, ENoProfile, false, false, messages, includer);
  log_lines(sink, shader.getInfoLog());
  if (!parsed)
    return GLSL_REJECTED;

  glslang::TProgram program;
  program.addShader(&shader);
  const bool linked = program.link(messages) && (!is_hlsl(options) || program.mapIO());
  log_lines(sink, program.getInfoLog());
  if (!linked)
    return GLSL_REJECTED;

  std::vector<unsigned int> words;
  /* TShader::setDebugInfo would do this too, but makes invalid modules of some shaders, where they have no debug instructions. */
  if (options->debug)
    program.getIntermediate(stage_of(options))->setSourceFile(path);
  source_texts texts;
  if (options->debug_source)
    add_texts(program.getIntermediate(stage_of(options)), text, length, strings, &texts);
  /* Otherwise glslang decorates buffers of HLSL with BufferBlock, which SPIR-V 1.4 removed. */
  if (versions_of(options).spirv >= glslang::EShTargetSpv_1_4)
    program.getIntermediate(stage_of(options))->setUseStorageBuffer();
  spv::SpvBuildLogger logger;
  glslang::SpvOptions spv_options;
  spv_options.generateDebugInfo = options->debug;
  spv_options.emitNonSemanticShaderDebugInfo = options->debug_info;
  spv_options.emitNonSemanticShaderDebugSource = options->debug_source;
  spv_options.disableOptimizer = !is_hlsl(options); /* modules of HLSL may be invalid without it */
  glslang::GlslangToSpv(*program.getIntermediate(stage_of(options)), words, &logger, &spv_options);
  log_lines(sink, logger.getAllMessages().c_str());
  if (words.empty())
    return GLSL_REJECTED;
  strings.repair(&words);
  if (has_broken_text(words)) {
    sink.log("ERROR: a string has characters outside of ASCII, which glslang cannot write\nFix: write the string without "
             "hexadecimal and octal escapes");
    return GLSL_REJECTED;
  }
  if (options->debug_source)
    texts.put(&words);
  sink.words(words);
  return GLSL_OK;
}
