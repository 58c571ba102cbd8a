/* GLSL to SPIR-V through glslang's C++ interface: its C interface takes neither file names nor an includer.
 *
 * Threads: compile may be called by several at once; glslang keeps its state per thread once the process is initialized.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glslang.h"

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
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace
{

std::string
folder_of(const std::string &path)
{
  const std::string::size_type slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

/* "x.glsl" is looked for beside the file that includes it, then in the -I folders; <x.glsl> in the -I folders alone. */
class folder_includer : public glslang::TShader::Includer
{
public:
  folder_includer(const char *path, const vyre_glsl_options *options) : root_(path), options_(options)
  {
  }

  IncludeResult *
  includeLocal(const char *header, const char *includer, size_t depth) override
  {
    /* glslang leaves the includer's name empty at the top. */
    const std::string from = includer && includer[0] ? includer : root_;
    IncludeResult *found = depth <= max_depth ? open(folder_of(from) + "/" + header) : nullptr;
    return found ? found : includeSystem(header, includer, depth);
  }

  IncludeResult *
  includeSystem(const char *header, const char *, size_t depth) override
  {
    if (depth > max_depth)
      return nullptr;
    for (uint32_t i = 0; i < options_->include_dir_count; i++)
      if (IncludeResult *found = open(std::string(options_->include_dirs[i]) + "/" + header))
        return found;
    return nullptr;
  }

  void
  releaseInclude(IncludeResult *result) override
  {
    if (result)
      delete static_cast<std::string *>(result->userData);
    delete result;
  }

private:
  static constexpr size_t max_depth = 100; /* a file that includes itself ends here */

  static IncludeResult *
  open(const std::string &path)
  {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return nullptr;
    std::unique_ptr<std::string> text(new std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
    if (file.bad())
      return nullptr;
    IncludeResult *result = new IncludeResult(path, text->data(), text->size(), text.get());
    text.release();
    return result;
  }

  std::string root_;
  const vyre_glsl_options *options_;
};

std::string
preamble_of(const vyre_glsl_options *options)
{
  std::string preamble = "#extension GL_GOOGLE_include_directive : enable\n";
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
log_lines(const vyre_glslang_sink *sink, const char *text)
{
  const std::string all = text ? text : "";
  for (std::string::size_type at = 0; at < all.size();) {
    std::string::size_type end = all.find('\n', at);
    if (end == std::string::npos)
      end = all.size();
    if (end > at)
      sink->log(sink->user, all.substr(at, end - at).c_str());
    at = end + 1;
  }
}

void
set_target(glslang::TShader *shader, vyre_glsl_env env)
{
  static const struct {
    glslang::EShTargetClientVersion vulkan;
    glslang::EShTargetLanguageVersion spirv;
  } targets[VYRE_GLSL_ENV__COUNT] = {/* ORDER: vyre_glsl_env */
                                     {glslang::EShTargetVulkan_1_2, glslang::EShTargetSpv_1_5},
                                     {glslang::EShTargetVulkan_1_0, glslang::EShTargetSpv_1_0},
                                     {glslang::EShTargetVulkan_1_1, glslang::EShTargetSpv_1_3},
                                     {glslang::EShTargetVulkan_1_3, glslang::EShTargetSpv_1_6}};
  shader->setEnvClient(glslang::EShClientVulkan, targets[env].vulkan);
  shader->setEnvTarget(glslang::EShTargetSpv, targets[env].spirv);
}

vyre_glslang_result
compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options, const vyre_glslang_sink *sink)
{
  static std::once_flag once;
  std::call_once(once, [] { glslang::InitializeProcess(); });

  const int text_length = static_cast<int>(length);
  const std::string preamble = preamble_of(options);
  const EShMessages messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);

  glslang::TShader shader(EShLangCompute);
  shader.setStringsWithLengthsAndNames(&text, &text_length, &path, 1);
  shader.setPreamble(preamble.c_str());
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  set_target(&shader, options->target_env);

  folder_includer includer(path, options);
  const bool parsed = shader.parse(GetDefaultResources(), 460, ENoProfile, false, false, messages, includer);
  log_lines(sink, shader.getInfoLog());
  if (!parsed)
    return VYRE_GLSLANG_REJECTED;

  glslang::TProgram program;
  program.addShader(&shader);
  const bool linked = program.link(messages);
  log_lines(sink, program.getInfoLog());
  if (!linked)
    return VYRE_GLSLANG_REJECTED;

  std::vector<unsigned int> words;
  /* TShader::setDebugInfo would do this too, but makes invalid modules of some shaders. */
  if (options->debug)
    program.getIntermediate(EShLangCompute)->setSourceFile(path);
  spv::SpvBuildLogger logger;
  glslang::SpvOptions spv_options;
  spv_options.generateDebugInfo = options->debug;
  spv_options.disableOptimizer = true;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &logger, &spv_options);
  log_lines(sink, logger.getAllMessages().c_str());
  if (words.empty())
    return VYRE_GLSLANG_REJECTED;
  return sink->words(sink->user, words.data(), words.size()) ? VYRE_GLSLANG_OK : VYRE_GLSLANG_OUT_OF_MEMORY;
}

} // namespace

extern "C" __attribute__((visibility("default"))) vyre_glslang_result
vyre_glslang_compile_shader(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                            const vyre_glslang_sink *sink)
{
  try {
    return compile(text, length, path, options, sink);
  } catch (const std::bad_alloc &) {
    return VYRE_GLSLANG_OUT_OF_MEMORY;
  } catch (...) {
    return VYRE_GLSLANG_FAILED;
  }
}
