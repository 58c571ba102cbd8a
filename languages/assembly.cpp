/* Assembles SPIR-V with SPIRV-Tools.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <cstring>

#include <glslang/SPIRV/disassemble.h>
#include <spirv-tools/libspirv.h>

#include <sstream>

namespace
{

/* Returns the version in a comment "; Version: 1.3" at the start, as spirv-dis writes it, or 0. */
unsigned
version_of(const char *text, size_t length)
{
  static const char word[] = "; Version: 1.";
  constexpr size_t size = sizeof word - 1;
  for (size_t at = 0; at < length && (text[at] == ';' || text[at] == '\n' || text[at] == '\r');) {
    if (length - at > size && std::memcmp(text + at, word, size) == 0 && text[at + size] >= '0' && text[at + size] <= '6')
      return 100 + static_cast<unsigned>(text[at + size] - '0');
    const void *end = std::memchr(text + at, '\n', length - at);
    at = end ? static_cast<size_t>(static_cast<const char *>(end) - text) + 1 : length;
  }
  return 0;
}

spv_target_env
env_of(const char *text, size_t length, vyre_glsl_env env)
{
  static const spv_target_env by_version[] = {SPV_ENV_UNIVERSAL_1_0, SPV_ENV_UNIVERSAL_1_1, SPV_ENV_UNIVERSAL_1_2,
                                              SPV_ENV_UNIVERSAL_1_3, SPV_ENV_UNIVERSAL_1_4, SPV_ENV_UNIVERSAL_1_5,
                                              SPV_ENV_UNIVERSAL_1_6};
  const unsigned version = version_of(text, length);
  if (version)
    return by_version[version - 100];
  switch (env) {
  case VYRE_GLSL_VULKAN_1_0:
  case VYRE_GLSL_OPENGL_4_5:
    return SPV_ENV_UNIVERSAL_1_0;
  case VYRE_GLSL_VULKAN_1_1:
    return SPV_ENV_UNIVERSAL_1_3;
  case VYRE_GLSL_VULKAN_1_3:
    return SPV_ENV_UNIVERSAL_1_6;
  default:
    return SPV_ENV_UNIVERSAL_1_5;
  }
}

} // namespace

glsl_result
assembly_compile(const glsl_source &source, const vyre_glsl_options *options, const glsl_sink &sink)
{
  spv_context context = spvContextCreate(env_of(source.text, source.length, options->target_env));
  spv_binary binary = nullptr;
  spv_diagnostic wrong = nullptr;
  const spv_result_t result = spvTextToBinaryWithOptions(context, source.text, source.length,
                                                         SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS, &binary, &wrong);
  if (result == SPV_SUCCESS)
    sink.output(binary->code, binary->wordCount * sizeof *binary->code);
  else
    sink.log(("ERROR: " + std::string(source.path) + ":" + std::to_string(wrong ? wrong->position.line + 1 : 1) + ": " +
              (wrong ? wrong->error : "not SPIR-V's assembly"))
                 .c_str());
  return result == SPV_SUCCESS ? GLSL_OK : GLSL_REJECTED; /* the memory is not freed, because the process ends */
}

glsl_result
assembly_write(const glsl_source &source, bool as_listing, const glsl_sink &sink)
{
  std::vector<unsigned int> words(source.length / sizeof(unsigned int)); /* a copy, because the text is not aligned */
  std::memcpy(words.data(), source.text, words.size() * sizeof words[0]);
  if (as_listing) {
    std::ostringstream out;
    spv::Disassemble(out, words);
    sink.output(out.str().data(), out.str().size());
    return GLSL_OK;
  }
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
  spv_text text = nullptr;
  spv_diagnostic wrong = nullptr;
  if (spvBinaryToText(context, words.data(), words.size(),
                      SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES, &text, &wrong) != SPV_SUCCESS) {
    sink.log((std::string("ERROR: ") + (wrong ? wrong->error : "the module has no assembly")).c_str());
    return GLSL_REJECTED;
  }
  sink.output(text->str, text->length);
  return GLSL_OK;
}
