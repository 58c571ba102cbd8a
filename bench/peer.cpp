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
        .RegisterPass(spvtools::CreateAggressiveDCEPass())
        .RegisterPass(spvtools::CreateSimplificationPass())
        .RegisterPass(spvtools::CreateCCPPass())
        .RegisterPass(spvtools::CreateRedundancyEliminationPass())
        .RegisterPass(spvtools::CreateLoopInvariantCodeMotionPass())
        .RegisterPass(spvtools::CreateDeadBranchElimPass())
        .RegisterPass(spvtools::CreateAggressiveDCEPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  return optimizer.Run(words, count, out, options);
}

} // namespace

extern "C" bool
peer_optimize(const uint32_t *words, size_t count, peer_passes passes, peer_visit visit, void *user)
{
  std::vector<uint32_t> out;
  if (!optimize(words, count, passes, &out))
    return false;
  if (visit)
    visit(user, out.data(), out.size());
  return true;
}
