/* Validates SPIR-V with SPIRV-Tools, and applies passes of its optimizer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <cstdlib>
#include <cstring>

#include <spirv-tools/optimizer.hpp>

namespace
{

const glsl_sink *messages; /* the consumer of SPIRV-Tools has no argument of its own */

void
consume(spv_message_level_t level, const char *, const spv_position_t &, const char *message)
{
  std::string text = (level <= SPV_MSG_ERROR ? "ERROR: " : "WARNING: ") + std::string(message);
  text.erase(text.find_last_not_of("\n ") + 1);
  if (level <= SPV_MSG_WARNING)
    messages->log(text.c_str());
}

/* The settings that the flags make. */
struct settings {
  std::vector<std::string> passes;
  spvtools::ValidatorOptions validator;
  spvtools::OptimizerOptions optimizer;
  spv_target_env env = SPV_ENV_UNIVERSAL_1_6;
  bool validates_each = false;
};

struct rule {
  const char *flag;
  void (spvtools::ValidatorOptions::*set)(bool);
};

constexpr rule rules[] = {
    {"--before-hlsl-legalization", &spvtools::ValidatorOptions::SetBeforeHlslLegalization},
    {"--relax-block-layout", &spvtools::ValidatorOptions::SetRelaxBlockLayout},
    {"--relax-logical-pointer", &spvtools::ValidatorOptions::SetRelaxLogicalPointer},
    {"--relax-struct-store", &spvtools::ValidatorOptions::SetRelaxStructStore},
    {"--scalar-block-layout", &spvtools::ValidatorOptions::SetScalarBlockLayout},
    {"--skip-block-layout", &spvtools::ValidatorOptions::SetSkipBlockLayout},
    {"--workgroup-scalar-block-layout", &spvtools::ValidatorOptions::SetWorkgroupScalarBlockLayout},
};

/* Sets a rule of the validator.  Returns false if the flag is not such a rule. */
bool
set_rule(const char *flag, spvtools::ValidatorOptions *validator)
{
  for (const rule &each : rules)
    if (std::strcmp(flag, each.flag) == 0) {
      (validator->*each.set)(true);
      return true;
    }
  return false;
}

/* Returns the value of a flag "NAME=VALUE", or NULL if the flag has another name. */
const char *
value_of(const char *flag, const char *name)
{
  const size_t length = std::strlen(name);
  return std::strncmp(flag, name, length) == 0 && flag[length] == '=' ? flag + length + 1 : nullptr;
}

/* Applies a flag to the settings of the validator or of the optimizer.  Returns false if its value is wrong. */
bool
add_flag(const char *flag, settings *out, const glsl_sink &sink)
{
  const char *value;
  if (set_rule(flag, &out->validator))
    return true;
  if (std::strcmp(flag, "--skip-validation") == 0)
    out->optimizer.set_run_validator(false);
  else if (std::strcmp(flag, "--preserve-bindings") == 0)
    out->optimizer.set_preserve_bindings(true);
  else if (std::strcmp(flag, "--preserve-spec-constants") == 0)
    out->optimizer.set_preserve_spec_constants(true);
  else if (std::strcmp(flag, "--validate-after-all") == 0)
    out->validates_each = true;
  else if ((value = value_of(flag, "--max-id-bound")) != nullptr) {
    const uint32_t bound = static_cast<uint32_t>(std::strtoul(value, nullptr, 0));
    if (bound < 0x3fffff) {
      sink.log("ERROR: --max-id-bound must be at least 4194303");
      return false;
    }
    out->optimizer.set_max_id_bound(bound);
    out->validator.SetUniversalLimit(spv_validator_limit_max_id_bound, bound);
  } else if ((value = value_of(flag, "--target-env")) != nullptr) {
    if (!spvParseTargetEnv(value, &out->env)) {
      sink.log(("ERROR: '" + std::string(value) + "' is not a target environment of SPIRV-Tools").c_str());
      return false;
    }
  } else {
    if (std::strcmp(flag, "--legalize-hlsl") == 0)
      out->validator.SetBeforeHlslLegalization(true);
    out->passes.emplace_back(flag);
  }
  return true;
}

} // namespace

glsl_result
spirv_tools_run(const glsl_source &source, const vyre_glsl_options *options, const glsl_sink &sink)
{
  settings given;
  messages = &sink;
  for (uint32_t i = 0; i < options->define_count; i++)
    if (!add_flag(options->defines[i], &given, sink))
      return GLSL_WRONG_FLAG;
  spvtools::Optimizer optimizer(given.env);
  optimizer.SetMessageConsumer(consume);
  optimizer.SetValidateAfterAll(given.validates_each);
  if (!optimizer.RegisterPassesFromFlags(given.passes))
    return GLSL_WRONG_FLAG;
  given.optimizer.set_validator_options(given.validator);
  std::vector<uint32_t> words(source.length / sizeof(uint32_t)), out;
  std::memcpy(words.data(), source.text, words.size() * sizeof(uint32_t));
  if (!optimizer.Run(words.data(), words.size(), &out, given.optimizer))
    return GLSL_REJECTED;
  sink.output(out.data(), out.size() * sizeof out[0]);
  return GLSL_OK;
}
