/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <spirv-tools/optimizer.hpp>
#include <vector>

namespace
{

bool
optimize(const uint32_t *words, size_t count, peer_passes passes, std::vector<uint32_t> *out)
{
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  if (passes == PEER_O)
    optimizer.RegisterPerformancePasses();
  if (passes == PEER_LIKE)
    optimizer.RegisterPass(spvtools::CreateMergeReturnPass())
        .RegisterPass(spvtools::CreateInlineExhaustivePass())
        .RegisterPass(spvtools::CreateEliminateDeadFunctionsPass())
        .RegisterPass(spvtools::CreatePrivateToLocalPass())
        .RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
        .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
        .RegisterPass(spvtools::CreateAggressiveDCEPass())
        .RegisterPass(spvtools::CreateScalarReplacementPass(100))
        .RegisterPass(spvtools::CreateSSARewritePass())
        .RegisterPass(spvtools::CreateSimplificationPass())
        .RegisterPass(spvtools::CreateCCPPass())
        .RegisterPass(spvtools::CreateAggressiveDCEPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  return optimizer.Run(words, count, out, options);
}

} // namespace

extern "C" bool
peer_optimize(const uint32_t *words, size_t count, peer_passes passes, size_t *out_words)
{
  std::vector<uint32_t> out;
  if (!optimize(words, count, passes, &out))
    return false;
  *out_words = out.size();
  return true;
}

extern "C" size_t
peer_body_size(const uint32_t *words, size_t count)
{
  enum { FUNCTION = 54, FUNCTION_PARAMETER = 55, FUNCTION_END = 56, LABEL = 248, LINE = 8, NO_LINE = 317 };
  size_t body = 0;
  bool inside = false;
  for (size_t at = 5; at < count && (words[at] >> 16) != 0; at += words[at] >> 16) {
    const uint32_t op = words[at] & 0xffffu;
    inside = op == FUNCTION || (inside && op != FUNCTION_END);
    if (inside && op != FUNCTION && op != FUNCTION_PARAMETER && op != LABEL && op != LINE && op != NO_LINE)
      body++;
  }
  return body;
}

extern "C" size_t
peer_optimized_body_size(const uint32_t *words, size_t count, peer_passes passes)
{
  std::vector<uint32_t> out;
  return optimize(words, count, passes, &out) ? peer_body_size(out.data(), out.size()) : 0;
}
