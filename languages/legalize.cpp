/* Rewrites modules of HLSL that Vulkan does not allow, with SPIRV-Tools' passes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compilation.h"

#include <spirv-tools/optimizer.hpp>

namespace
{

spv_target_env
env_of(vyre_glsl_env env)
{
  switch (env) {
  case VYRE_GLSL_VULKAN_1_0:
    return SPV_ENV_VULKAN_1_0;
  case VYRE_GLSL_VULKAN_1_1:
    return SPV_ENV_VULKAN_1_1;
  case VYRE_GLSL_VULKAN_1_3:
    return SPV_ENV_VULKAN_1_3;
  case VYRE_GLSL_OPENGL_4_5:
    return SPV_ENV_OPENGL_4_5;
  default:
    return SPV_ENV_VULKAN_1_2;
  }
}

} // namespace

bool
legalize(const compilation &c, const glsl_sink &sink, std::vector<unsigned int> *words)
{
  spvtools::ValidatorOptions rules; /* of a module that is not rewritten yet */
  rules.SetSkipBlockLayout(true);
  rules.SetRelaxLogicalPointer(true);
  rules.SetBeforeHlslLegalization(true);
  spvtools::OptimizerOptions options;
  options.set_validator_options(rules);
  options.set_run_validator(true);
  spvtools::Optimizer optimizer(env_of(c.options->target_env));
  std::string messages;
  optimizer.SetMessageConsumer([&messages](spv_message_level_t, const char *, const spv_position_t &, const char *message) {
    messages += std::string("ERROR: ") + message + "\n";
  });
  optimizer.RegisterLegalizationPasses();
  const bool done = optimizer.Run(words->data(), words->size(), words, options);
  if (!done)
    log_lines(sink, messages.c_str());
  return done;
}
