/* Tests vyre/spirv_opt_shim.hpp with the shaders of a folder, which is the argument.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.hpp"
#include "vyre/spirv_opt_shim.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace
{

vyre::words
compile(const std::string &text, const char *stage, const std::string &path = "shader")
{
  vyre::options o;
  o.passes = "";
  o.stage = stage;
  o.path = path;
  return vyre::optimize(text, o);
}

/* Compiles the shaders without passes. */
std::vector<vyre::words>
read_modules(const char *folder)
{
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".comp")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<vyre::words> out;
  for (const std::filesystem::path &path : paths) {
    std::ifstream file(path, std::ios::binary);
    out.push_back(compile(std::string(std::istreambuf_iterator<char>(file), {}), "compute", path.string()));
  }
  return out;
}

const char vertex[] = "#version 450\n"
                      "layout(location = 0) in vec4 position;\n"
                      "layout(location = 1) in vec4 unused;\n"
                      "layout(constant_id = 7) const float SCALE = 1;\n"
                      "vec4 scale(vec4 v) { return v * SCALE; }\n"
                      "void main() { vec4 v = scale(position); gl_Position = v + vec4(0); }\n";

/* The messages of an optimizer. */
struct messages {
  std::vector<spv_message_level_t> levels;
  std::string text;

  spvtools::MessageConsumer
  consumer()
  {
    return [this](spv_message_level_t level, const char *, const spv_position_t &, const char *message) {
      levels.push_back(level);
      text += std::string(message) + "\n";
    };
  }
  bool
  have(spv_message_level_t level, const char *part) const
  {
    for (spv_message_level_t each : levels)
      if (each == level)
        return text.find(part) != std::string::npos;
    return false;
  }
};

void
performance_passes_run_in_vyre(const std::vector<vyre::words> &modules)
{
  CHECK(modules.size() > 5);
  for (const vyre::words &module : modules) {
    messages m;
    spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
    optimizer.SetMessageConsumer(m.consumer());
    optimizer.RegisterPerformancePasses();
    vyre::words out, in_place = module;
    CHECK(optimizer.Run(module.data(), module.size(), &out));
    CHECK(out[0] == 0x07230203 && out.size() < module.size() && m.levels.empty());
    CHECK(out == vyre::optimize(module));
    CHECK(optimizer.Run(in_place.data(), in_place.size(), &in_place) && in_place == out);
    CHECK(optimizer.Run(module.data(), module.size(), &in_place, spvtools::ValidatorOptions(), true) && in_place == out);
  }
}

void
size_passes_keep_vectors(const std::vector<vyre::words> &modules)
{
  vyre::options o;
  o.keep_vectors = true;
  for (const vyre::words &module : modules) {
    vyre::words out;
    spvtools::Optimizer optimizer(SPV_ENV_UNIVERSAL_1_6);
    optimizer.RegisterSizePasses();
    CHECK(optimizer.Run(module.data(), module.size(), &out) && out == vyre::optimize(module, o));
  }
}

void
modules_without_passes_are_copied(const vyre::words &module)
{
  vyre::words out;
  const spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  CHECK(optimizer.Run(module.data(), module.size(), &out) && out == module);
  CHECK(optimizer.GetPassNames().empty() && !optimizer.consumer());
}

void
every_registered_pass_runs(const std::vector<vyre::words> &modules)
{
  const std::unordered_map<std::uint32_t, std::string> values = {{0, "1"}, {1, "2"}};
  for (const vyre::words &module : modules) {
    messages m;
    vyre::words out;
    spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
    optimizer.SetMessageConsumer(m.consumer());
    optimizer.RegisterPass(spvtools::CreateNullPass())
        .RegisterPass(spvtools::CreateSetSpecConstantDefaultValuePass(values))
        .RegisterPass(spvtools::CreateFreezeSpecConstantValuePass())
        .RegisterPass(spvtools::CreateMergeReturnPass())
        .RegisterPass(spvtools::CreateInlineExhaustivePass())
        .RegisterPass(spvtools::CreateEliminateDeadFunctionsPass())
        .RegisterPass(spvtools::CreateScalarReplacementPass())
        .RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
        .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
        .RegisterPass(spvtools::CreateSSARewritePass())
        .RegisterPass(spvtools::CreateCCPPass())
        .RegisterPass(spvtools::CreateSimplificationPass())
        .RegisterPass(spvtools::CreateAggressiveDCEPass())
        .RegisterPass(spvtools::CreateAggressiveDCEPass(true))
        .RegisterPass(spvtools::CreateDeadBranchElimPass())
        .RegisterPass(spvtools::CreateLoopInvariantCodeMotionPass())
        .RegisterPass(spvtools::CreateLoopUnrollPass(true))
        .RegisterPass(spvtools::CreateLoopUnrollPass(false, 2))
        .RegisterPass(spvtools::CreateLoopFissionPass(10))
        .RegisterPass(spvtools::CreateReduceLoadSizePass())
        .RegisterPass(spvtools::CreateReduceLoadSizePass(0.5))
        .RegisterPass(spvtools::CreateVectorDCEPass())
        .RegisterPass(spvtools::CreateBlockMergePass())
        .RegisterPass(spvtools::CreateRedundancyEliminationPass())
        .RegisterPass(spvtools::CreateStripDebugInfoPass())
        .RegisterPass(spvtools::CreateCompactIdsPass())
        .SetValidateAfterAll(true);
    CHECK(optimizer.GetPassNames().size() == 26);
    CHECK(std::strcmp(optimizer.GetPassNames()[3], "merge-return") == 0);
    CHECK(std::strcmp(optimizer.GetPassNames()[17], "loop-unroll-partial") == 0);
    CHECK(optimizer.Run(module.data(), module.size(), &out));
    CHECK(out.size() > 5 && out[0] == 0x07230203);
    if (!m.text.empty()) /* shows the reason of a failure above */
      std::fprintf(stderr, "%s", m.text.c_str());
  }
}

void
flags_register_passes(const vyre::words &module)
{
  messages m;
  vyre::words out;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_1);
  optimizer.SetMessageConsumer(m.consumer());
  CHECK(optimizer.FlagHasValidForm("-O") && optimizer.FlagHasValidForm("--a=b"));
  CHECK(optimizer.RegisterPassFromFlag("-O"));
  CHECK(optimizer.RegisterPassFromFlag("--eliminate-dead-branches"));
  CHECK(optimizer.RegisterPassFromFlag("--scalar-replacement=0"));
  CHECK(optimizer.RegisterPassesFromFlags({"--loop-unroll", "--legalize-hlsl", "-Os"}));
  CHECK(m.levels.empty() && optimizer.GetPassNames().size() == 6);
  optimizer.SetTargetEnv(SPV_ENV_VULKAN_1_2);
  CHECK(optimizer.Run(module.data(), module.size(), &out) && out.size() < module.size());
  for (const char *flag : {"--absent", "absent", "-absent", "--", "", "--skip-validation", "--target-env=vulkan1.0",
                           "--loop-unroll-partial=x", "--ccp --dce"}) {
    m = {};
    CHECK(!optimizer.RegisterPassFromFlag(flag));
    CHECK(m.have(SPV_MSG_ERROR, flag[0] == '-' && flag[2] == 'l' ? "loop-unroll-partial" : flag));
  }
  CHECK(!optimizer.FlagHasValidForm("O") && !optimizer.RegisterPassesFromFlags({"--ccp", "--absent", "--licm"}));
  CHECK(optimizer.GetPassNames().size() == 7);
}

void
invalid_modules_are_reported(const vyre::words &module)
{
  messages m;
  const vyre::words before(3, 1);
  vyre::words out = before, wrong = module;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.SetMessageConsumer(m.consumer());
  wrong[3] = 2; /* the bound of ids */
  for (int passes = 0; passes < 2; passes++) {
    m = {};
    CHECK(!optimizer.Run(wrong.data(), wrong.size(), &out) && out == before && m.have(SPV_MSG_ERROR, "bound"));
    m = {};
    CHECK(!optimizer.Run(wrong.data(), 4, &out) && m.levels.size() == 1);
    CHECK(!optimizer.Run(nullptr, 0, &out) && out == before);
    optimizer.RegisterPerformancePasses();
  }
  wrong[0] = 0;
  CHECK(!optimizer.Run(wrong.data(), wrong.size(), &out, spvtools::ValidatorOptions(), true) && out == before);
  optimizer.SetTargetEnv(SPV_ENV_VULKAN_1_0); /* has SPIR-V 1.0 only */
  CHECK(!optimizer.Run(module.data(), module.size(), &out));
}

void
graphics_shaders_get_passes_of_spirv_tools()
{
  const vyre::words module = compile(vertex, "vertex");
  vyre::words small, out;
  messages m;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.SetMessageConsumer(m.consumer());
  optimizer.RegisterPerformancePasses();
  CHECK(optimizer.Run(module.data(), module.size(), &small) && small.size() < module.size());
  CHECK(!m.have(SPV_MSG_ERROR, ""));
  spvtools::Optimizer only_dce(SPV_ENV_VULKAN_1_2);
  only_dce.RegisterPass(spvtools::CreateAggressiveDCEPass(true));
  CHECK(only_dce.Run(module.data(), module.size(), &out) && out == module);
  only_dce.RegisterPass(spvtools::CreateAggressiveDCEPass());
  CHECK(only_dce.Run(module.data(), module.size(), &out) && out.size() < module.size());
}

void
settings_are_passed_on(const vyre::words &module)
{
  messages m;
  vyre::words out;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.SetMessageConsumer(m.consumer());
  spvtools::ValidatorOptions validator;
  validator.SetScalarBlockLayout(true);
  validator.SetRelaxBlockLayout(true);
  validator.SetRelaxBlockLayout(false);
  validator.SetFriendlyNames(true);
  validator.SetUniversalLimit(spv_validator_limit_max_id_bound, 0x400000);
  spvtools::OptimizerOptions options;
  options.set_validator_options(validator);
  options.set_max_id_bound(0x3fffff);
  options.set_preserve_bindings(true);
  options.set_preserve_spec_constants(true);
  CHECK(optimizer.Run(module.data(), module.size(), &out, options) && m.text.empty());
  validator.SetAllowLocalSizeId(true);
  CHECK(!optimizer.Run(module.data(), module.size(), &out, validator, false) &&
        m.have(SPV_MSG_ERROR, "ValidatorOptions::SetAllowLocalSizeId"));
  CHECK(optimizer.Run(module.data(), module.size(), &out, validator, true));
  options.set_max_id_bound(1);
  CHECK(!optimizer.Run(module.data(), module.size(), &out, options) && m.have(SPV_MSG_ERROR, "max-id-bound"));
  optimizer.SetTargetEnv(SPV_ENV_WEBGPU_0); /* which SPIRV-Tools removed */
  CHECK(!optimizer.Run(module.data(), module.size(), &out) && m.have(SPV_MSG_ERROR, "environment"));
}

/* Validates a shader for OpenCL, which does not allow shaders. */
void
validation_can_be_skipped_or_repeated()
{
  const char *text = "#version 450\nlayout(binding = 0) buffer B { int i; } b;\nvoid main() { b.i += 0; }\n";
  const vyre::words module = compile(text, "compute");
  const spvtools::ValidatorOptions validator;
  for (const char *flag : {"--ccp", "--merge-blocks"}) {
    vyre::words out;
    spvtools::Optimizer optimizer(SPV_ENV_OPENCL_2_2);
    CHECK(optimizer.RegisterPassFromFlag(flag));
    CHECK(!optimizer.Run(module.data(), module.size(), &out));
    CHECK(optimizer.Run(module.data(), module.size(), &out, validator, true));
    optimizer.SetValidateAfterAll(true);
    CHECK(!optimizer.Run(module.data(), module.size(), &out, validator, true));
  }
}

void
modules_and_times_are_printed(const vyre::words &module)
{
  std::ostringstream printed, times;
  vyre::words out;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.RegisterPass(spvtools::CreateCCPPass()).RegisterPass(spvtools::CreateSimplificationPass());
  optimizer.SetPrintAll(&printed).SetTimeReport(&times);
  CHECK(optimizer.Run(module.data(), module.size(), &out));
  CHECK(printed.str().find("; IR before pass ccp\n; SPIR-V") == 0);
  CHECK(printed.str().find("; IR before pass simplify-instructions\n") < printed.str().find("; IR after last pass\n"));
  CHECK(times.str().find("ccp: ") == 0 && times.str().find("\nsimplify-instructions: ") != std::string::npos);
  printed.str("");
  optimizer.SetPrintAll(nullptr).SetTimeReport(nullptr);
  CHECK(optimizer.Run(module.data(), module.size(), &out) && printed.str().empty());
}

void
exceptions_of_consumers_arrive(const vyre::words &module)
{
  vyre::words out, wrong = module;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.SetMessageConsumer([](spv_message_level_t, const char *, const spv_position_t &, const char *) { throw 7; });
  wrong[3] = 2;
  int caught = 0;
  try {
    optimizer.Run(wrong.data(), wrong.size(), &out);
  } catch (int number) {
    caught = number;
  }
  CHECK(caught == 7);
}

void
threads_share_an_optimizer(const vyre::words &module)
{
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.RegisterPass(spvtools::CreateInlineExhaustivePass()).RegisterPerformancePasses();
  vyre::words expected;
  CHECK(optimizer.Run(module.data(), module.size(), &expected));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; i++) {
        vyre::words out;
        CHECK(optimizer.Run(module.data(), module.size(), &out) && out == expected);
      }
    });
  for (std::thread &each : threads)
    each.join();
}

} // namespace

int
main(int count, char **arguments)
{
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  const std::vector<vyre::words> modules = read_modules(arguments[1]);
  performance_passes_run_in_vyre(modules);
  size_passes_keep_vectors(modules);
  modules_without_passes_are_copied(modules.front());
  every_registered_pass_runs(modules);
  flags_register_passes(modules.front());
  invalid_modules_are_reported(modules.front());
  graphics_shaders_get_passes_of_spirv_tools();
  settings_are_passed_on(modules.front());
  validation_can_be_skipped_or_repeated();
  modules_and_times_are_printed(modules.front());
  exceptions_of_consumers_arrive(modules.front());
  threads_share_an_optimizer(modules.front());
  vyre_optimize_end();
  return failures != 0;
}
