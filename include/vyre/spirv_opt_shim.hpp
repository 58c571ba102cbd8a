/* Implements the class spvtools::Optimizer of SPIRV-Tools by vyre. A program includes this header in place of
 * spirv-tools/optimizer.hpp, and links libvyre in place of libSPIRV-Tools-opt:
 *
 *     spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
 *     optimizer.RegisterPerformancePasses();
 *     bool is_optimized = optimizer.Run(words.data(), words.size(), &words);
 *
 * Passes run in the order of registration. vyre's pipelines replace these passes:
 *
 *     default<O2>    RegisterPerformancePasses, and RegisterSizePasses, which keeps vectors
 *     cprop          CCP
 *     dbe            DeadBranchElim, IfConversion
 *     dce            AggressiveDCE
 *     licm           LoopInvariantCodeMotion
 *     simplify       Simplification, StrengthReduction, InsertExtractElim, RedundancyElimination, LocalRedundancyElimination
 *
 * SPIRV-Tools, in a separate process, executes all other passes, and validates the input. If vyre keeps a module unchanged, for
 * example a graphics shader, SPIRV-Tools executes the replaced passes, too.
 *
 * Limits:
 * - For SetAllowLocalSizeId, SetUniformBufferStandardLayout, and limits other than the id bound, Run returns false with a message.
 * - AggressiveDCE that preserves the interface is skipped if vyre keeps the module unchanged.
 * - There is no Create function for a pass without a flag in spirv-opt, and no PassToken for a pass of the program.
 * - Run does not accept a spv_optimizer_options, and ValidatorOptions does not convert to a spv_validator_options.
 * - GetPassNames returns one name for RegisterPerformancePasses. SetTimeReport prints wall time only.
 *
 * SpirvTools and Context are those of SPIRV-Tools, if it is installed. A program that uses them links libSPIRV-Tools, too. The
 * names of this header are in inline namespaces, so that libraries of the program may use the optimizer of SPIRV-Tools.
 *
 * Threads: any number of threads may call the const functions of an optimizer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_SPIRV_OPT_SHIM_HPP
#define VYRE_SPIRV_OPT_SHIM_HPP

#include "vyre/glsl.h"
#include "vyre/vyre.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <ostream>
#include <unordered_map>

#ifdef INCLUDE_SPIRV_TOOLS_OPTIMIZER_HPP_
#error "vyre/spirv_opt_shim.hpp replaces spirv-tools/optimizer.hpp: include only one of them"
#endif
#define INCLUDE_SPIRV_TOOLS_OPTIMIZER_HPP_ /* a later include of that header has no effect */

/* clang-format off */
#if __has_include(<spirv-tools/libspirv.hpp>)
#ifdef INCLUDE_SPIRV_TOOLS_LIBSPIRV_HPP_
#error "include vyre/spirv_opt_shim.hpp before spirv-tools/libspirv.hpp"
#endif
/* This header defines its own ValidatorOptions and OptimizerOptions, because those of SPIRV-Tools do not return their settings. */
#define ValidatorOptions SpirvToolsValidatorOptions
#define OptimizerOptions SpirvToolsOptimizerOptions
#include <spirv-tools/libspirv.hpp>
#undef ValidatorOptions
#undef OptimizerOptions
static_assert(SPV_ENV_UNIVERSAL_1_3 == 17 && SPV_ENV_VULKAN_1_3 == 25, "spv_target_env has other values");
#else /* declarations of SPIRV-Tools that users of the optimizer need */
enum spv_target_env {
  SPV_ENV_UNIVERSAL_1_0, SPV_ENV_VULKAN_1_0, SPV_ENV_UNIVERSAL_1_1, SPV_ENV_OPENCL_2_1, SPV_ENV_OPENCL_2_2, SPV_ENV_OPENGL_4_0,
  SPV_ENV_OPENGL_4_1, SPV_ENV_OPENGL_4_2, SPV_ENV_OPENGL_4_3, SPV_ENV_OPENGL_4_5, SPV_ENV_UNIVERSAL_1_2, SPV_ENV_OPENCL_1_2,
  SPV_ENV_OPENCL_EMBEDDED_1_2, SPV_ENV_OPENCL_2_0, SPV_ENV_OPENCL_EMBEDDED_2_0, SPV_ENV_OPENCL_EMBEDDED_2_1,
  SPV_ENV_OPENCL_EMBEDDED_2_2, SPV_ENV_UNIVERSAL_1_3, SPV_ENV_VULKAN_1_1, SPV_ENV_WEBGPU_0, SPV_ENV_UNIVERSAL_1_4,
  SPV_ENV_VULKAN_1_1_SPIRV_1_4, SPV_ENV_UNIVERSAL_1_5, SPV_ENV_VULKAN_1_2, SPV_ENV_UNIVERSAL_1_6, SPV_ENV_VULKAN_1_3, SPV_ENV_MAX
};
enum spv_message_level_t { SPV_MSG_FATAL, SPV_MSG_INTERNAL_ERROR, SPV_MSG_ERROR, SPV_MSG_WARNING, SPV_MSG_INFO, SPV_MSG_DEBUG };
enum spv_validator_limit { spv_validator_limit_max_id_bound = 8 };
struct spv_position_t { std::size_t line, column, index; };
namespace spvtools
{
using MessageConsumer = std::function<void(spv_message_level_t, const char *, const spv_position_t &, const char *)>;
}
#endif

namespace spvtools
{
inline namespace vyre_shim
{
inline namespace VYRE_CXX_NAMESPACE
{
namespace shim
{
using texts = std::vector<std::string>;

/* The values of --target-env, by spv_target_env. */
constexpr const char *environments[] = {
    "spv1.0", "vulkan1.0", "spv1.1", "opencl2.1", "opencl2.2", "opengl4.0", "opengl4.1", "opengl4.2", "opengl4.3", "opengl4.5",
    "spv1.2", "opencl1.2", "opencl1.2embedded", "opencl2.0", "opencl2.0embedded", "opencl2.1embedded", "opencl2.2embedded",
    "spv1.3", "vulkan1.1", "webgpu0", "spv1.4", "vulkan1.1spv1.4", "spv1.5", "vulkan1.2", "spv1.6", "vulkan1.3", "vulkan1.4"};

/* The flags that vyre replaces, each with the pipeline that replaces the flag. */
constexpr const char *replaced[][2] = {
    {"-O", "default<O2>"},                          {"-Os", "default<O2>"},
    {"--ccp", "cprop"},                             {"--eliminate-dead-branches", "dbe"},
    {"--if-conversion", "dbe"},                     {"--eliminate-dead-code-aggressive", "dce"},
    {"--loop-invariant-code-motion", "licm"},       {"--eliminate-insert-extract", "simplify"},
    {"--local-redundancy-elimination", "simplify"}, {"--redundancy-elimination", "simplify"},
    {"--simplify-instructions", "simplify"},        {"--strength-reduction", "simplify"}};

/* The flags that vyre_spirv_tools_run accepts and that are not passes. */
constexpr const char *settings[] = {
    "--before-hlsl-legalization", "--max-id-bound", "--preserve-bindings", "--preserve-spec-constants", "--relax-block-layout",
    "--relax-logical-pointer", "--relax-struct-store", "--scalar-block-layout", "--skip-block-layout", "--skip-validation",
    "--target-env", "--validate-after-all", "--workgroup-scalar-block-layout"};

/* Settings as flags. A setting without a flag is stored as the name of its function. */
struct flag_set {
  void set(const std::string &flag, bool on)
  {
    flags.erase(std::remove(flags.begin(), flags.end(), flag), flags.end());
    if (on)
      flags.push_back(flag);
  }
  texts flags;
};

} // namespace shim

class ValidatorOptions : public shim::flag_set
{
public:
  void SetBeforeHlslLegalization(bool on) { set("--before-hlsl-legalization", on); }
  void SetRelaxBlockLayout(bool on) { set("--relax-block-layout", on); }
  void SetRelaxLogicalPointer(bool on) { set("--relax-logical-pointer", on); }
  void SetRelaxStructStore(bool on) { set("--relax-struct-store", on); }
  void SetScalarBlockLayout(bool on) { set("--scalar-block-layout", on); }
  void SetSkipBlockLayout(bool on) { set("--skip-block-layout", on); }
  void SetWorkgroupScalarBlockLayout(bool on) { set("--workgroup-scalar-block-layout", on); }
  void SetAllowLocalSizeId(bool on) { set("SetAllowLocalSizeId", on); }
  void SetUniformBufferStandardLayout(bool on) { set("SetUniformBufferStandardLayout", on); }
  void SetFriendlyNames(bool) {} /* has no effect */
  void SetUniversalLimit(spv_validator_limit limit, std::uint32_t value)
  {
    set(limit == spv_validator_limit_max_id_bound ? vyre::spec("--max-id-bound", value) : std::string("SetUniversalLimit"), true);
  }
};

class OptimizerOptions : public shim::flag_set
{
public:
  OptimizerOptions() = default;
  OptimizerOptions(const ValidatorOptions &options, bool on) : validator(options.flags), validates(on) {}
  void set_run_validator(bool on) { validates = on; }
  void set_validator_options(const ValidatorOptions &options) { validator = options.flags; }
  void set_max_id_bound(std::uint32_t bound) { set(vyre::spec("--max-id-bound", bound), true); } /* SPIRV-Tools uses the last bound */
  void set_preserve_bindings(bool on) { set("--preserve-bindings", on); }
  void set_preserve_spec_constants(bool on) { set("--preserve-spec-constants", on); }
  shim::texts validator;
  bool validates = true;
};

class Optimizer
{
public:
  /* A pass, made by a Create...Pass function. */
  struct PassToken {
    std::string flag, name, pipeline; /* the flag of spirv-opt, its name alone, and the pipeline of vyre; all may be empty */

    explicit PassToken(const std::string &of) : flag(of), name(of, of.compare(0, 2, "--") == 0 ? 2 : 0)
    {
      name.erase(std::min(name.find('='), name.size()));
      for (const auto &[replaced, passes] : shim::replaced)
        if (flag == replaced)
          pipeline = passes;
    }
  };

  explicit Optimizer(spv_target_env env) : env_(env) {}
  void SetTargetEnv(spv_target_env env) { env_ = env; }
  void SetMessageConsumer(MessageConsumer consumer) { consumer_ = std::move(consumer); }
  const MessageConsumer &consumer() const { return consumer_; }
  Optimizer &SetPrintAll(std::ostream *out) { print_ = out; return *this; }
  Optimizer &SetTimeReport(std::ostream *out) { times_ = out; return *this; }
  Optimizer &SetValidateAfterAll(bool on) { validates_all_ = on; return *this; }
  Optimizer &RegisterPass(PassToken &&pass) { passes_.push_back(std::move(pass)); return *this; }
  Optimizer &RegisterPerformancePasses() { return RegisterPass(PassToken("-O")); }
  Optimizer &RegisterSizePasses() { return RegisterPass(PassToken("-Os")); }
  Optimizer &RegisterLegalizationPasses() { return RegisterPass(PassToken("--legalize-hlsl")); }

  bool FlagHasValidForm(const std::string &flag) const
  {
    return flag == "-O" || flag == "-Os" || (flag.size() > 2 && flag.compare(0, 2, "--") == 0) ||
           fail("'" + flag + "' does not have the form of a flag: --NAME, --NAME=VALUE, -O or -Os");
  }
  /* Registers the pass of a flag. Runs a flag that vyre does not replace over an empty module, to check that SPIRV-Tools knows it. */
  bool RegisterPassFromFlag(const std::string &flag)
  {
    vyre::words empty = {0x07230203, 0x10000, 0, 1, 0, 0x20011, 1, 0x3000e, 0, 1};
    if (!FlagHasValidForm(flag))
      return false;
    if (std::count(std::begin(shim::settings), std::end(shim::settings), flag.substr(0, flag.find('='))))
      return fail("'" + flag + "' is not the flag of a pass");
    PassToken pass(flag);
    const vyre_code code = pass.pipeline.empty() ? execute({flag, "--skip-validation"}, &empty) : VYRE_CODE_OK;
    if (code == VYRE_CODE_OK || code == VYRE_CODE_INPUT)
      RegisterPass(std::move(pass));
    return code == VYRE_CODE_OK || code == VYRE_CODE_INPUT;
  }
  bool RegisterPassesFromFlags(const std::vector<std::string> &flags)
  {
    return std::all_of(flags.begin(), flags.end(), [this](const std::string &flag) { return RegisterPassFromFlag(flag); });
  }
  std::vector<const char *> GetPassNames() const
  {
    std::vector<const char *> names;
    for (const PassToken &pass : passes_)
      names.push_back(pass.name.c_str());
    return names;
  }
  bool Run(const std::uint32_t *words, std::size_t count, vyre::words *out) const { return Run(words, count, out, {}); }
  bool Run(const std::uint32_t *words, std::size_t count, vyre::words *out, const ValidatorOptions &validator, bool skips) const
  {
    return Run(words, count, out, {validator, !skips});
  }
  /* Optimizes a module. Writes `out` only on success. `out` may own the input. */
  bool Run(const std::uint32_t *words, std::size_t count, vyre::words *out, const OptimizerOptions &options) const
  {
    vyre::words module(words, words + count);
    shim::texts settings = options.flags;
    bool must_validate = options.validates; /* validate before the first pass */
    if (must_validate)
      settings.insert(settings.end(), options.validator.begin(), options.validator.end());
    for (const std::string &setting : settings)
      if (setting[0] != '-')
        return fail("vyre does not have ValidatorOptions::" + setting);
    if (static_cast<std::size_t>(env_) >= std::size(shim::environments))
      return fail("the target environment is unknown");
    settings.push_back(std::string("--target-env=") + shim::environments[env_]);
    if (validates_all_)
      settings.push_back("--validate-after-all");
    const auto run_tools = [&](shim::texts flags, bool validates) {
      flags.insert(flags.end(), settings.begin(), settings.end());
      if (!validates)
        flags.push_back("--skip-validation");
      return execute(flags, &module) == VYRE_CODE_OK;
    };
    auto end = passes_.begin();
    do { /* adjacent passes of the same kind, or one pass if passes are printed or timed */
      const auto at = end, last = passes_.end();
      const bool is_ours = at != last && !at->pipeline.empty();
      bool is_done = false;
      shim::texts flags;
      vyre::options o;
      o.passes.clear();
      for (; end != last && is_ours == !end->pipeline.empty() && (end == at || !(print_ || times_)); ++end) {
        o.passes += (o.passes.empty() ? "" : ",") + end->pipeline;
        o.keep_vectors |= end->name == "-Os";
        if (!end->flag.empty())
          flags.push_back(end->flag);
      }
      if (print_ && at != last)
        print("; IR before pass " + at->name, module);
      const auto start = std::chrono::steady_clock::now();
      if (is_ours) {
        o.path = "module";
        o.on_diagnostic = receiver();
        if (must_validate && !run_tools({}, true))
          return false;
        auto made = vyre::try_optimize(module, o);
        if (!made)
          return fail(made.error());
        is_done = made.value() != module;
        module = std::move(made).value();
      }
      if (is_done ? validates_all_ && !run_tools({}, true) : !run_tools(flags, must_validate && !is_ours))
        return false;
      must_validate = false;
      if (times_ && at != last)
        *times_ << at->name << ": " << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
    } while (end != passes_.end());
    if (print_)
      print("; IR after last pass", module);
    *out = std::move(module);
    return true;
  }

private:
  std::function<void(const vyre::diagnostic &)> receiver() const
  {
    return [this](const vyre::diagnostic &d) {
      constexpr spv_message_level_t levels[] = {SPV_MSG_INFO, SPV_MSG_INFO, SPV_MSG_WARNING, SPV_MSG_ERROR};
      if (consumer_)
        consumer_(levels[d.severity], d.file.c_str(), spv_position_t{d.line, d.column, 0}, d.message.c_str());
    };
  }
  bool fail(const std::string &message) const { return fail(vyre::failure{VYRE_CODE_USAGE, message, {}}); }
  /* Reports a failure, unless an error among its diagnostics was already reported. Returns false. */
  bool fail(const vyre::failure &why) const
  {
    const auto is_error = [](const vyre::diagnostic &d) { return d.severity == VYRE_SEVERE; };
    if (std::none_of(why.diagnostics.begin(), why.diagnostics.end(), is_error))
      receiver()({VYRE_SEVERE, "module", why.message, "", 0, 0, ""});
    return false;
  }
  /* Prints the module as assembly. Prints nothing for an invalid module, because the next step reports the error. */
  void print(const std::string &title, const vyre::words &module) const
  {
    vyre::detail::outputs c{std::vector<vyre_optimize_item>(1)};
    c.status = vyre_assembly_write(module.data(), module.size() * sizeof module[0], "module", false, {}, &c.items[0].out);
    if (!c.status)
      *print_ << title << "\n" << c.items[0].out.data << "\n";
  }
  /* Executes flags of SPIRV-Tools over the module. Reports an error, and returns its code. */
  vyre_code execute(const shim::texts &flags, vyre::words *module) const
  {
    const auto function = receiver();
    vyre_glsl_options limits{};
    limits.struct_size = sizeof limits;
    limits.most_memory = 65536, limits.most_seconds = 86400; /* practically unlimited, as in SPIRV-Tools */
    std::vector<const char *> pointers;
    for (const std::string &flag : flags)
      pointers.push_back(flag.c_str());
    vyre::detail::receiver messages{function};
    vyre::detail::sink sink{&messages};
    vyre::detail::outputs c{std::vector<vyre_optimize_item>(1)};
    vyre_bytes &bytes = c.items[0].out;
    c.status = vyre_spirv_tools_run(module->data(), module->size() * sizeof(std::uint32_t), "module", pointers.data(),
                                    static_cast<std::uint32_t>(flags.size()), &limits, {sink.emit, &sink}, &bytes);
    if (messages.thrown)
      std::rethrow_exception(messages.thrown);
    if (c.status) {
      fail({vyre_status_code(c.status), vyre_status_text(c.status), std::move(sink.kept)});
    } else {
      module->resize(bytes.size / sizeof(std::uint32_t));
      std::memcpy(module->data(), bytes.data, bytes.size);
    }
    return vyre_status_code(c.status);
  }

  std::deque<PassToken> passes_; /* a deque, because GetPassNames returns pointers to the names */
  spv_target_env env_;
  MessageConsumer consumer_;
  std::ostream *print_ = nullptr, *times_ = nullptr; /* borrowed */
  bool validates_all_ = false;
};

/* The passes without parameters: X(NAME, FLAG) for the function CreateNAMEPass. A pass without a flag does nothing. */
#define VYRE_SHIM_PASSES(X)                                                                                                       \
  X(Null, "") X(PropagateLineInfo, "") X(RedundantLineInfoElim, "") X(StripDebugInfo, "--strip-debug") X(CCP, "--ccp")            \
  X(StripReflectInfo, "--strip-reflect") X(StripNonSemanticInfo, "--strip-nonsemantic") X(UnifyConstant, "--unify-const")         \
  X(EliminateDeadFunctions, "--eliminate-dead-functions") X(EliminateDeadMembers, "--eliminate-dead-members")                     \
  X(FlattenDecoration, "--flatten-decorations") X(FreezeSpecConstantValue, "--freeze-spec-const") X(CompactIds, "--compact-ids")  \
  X(FoldSpecConstantOpAndComposite, "--fold-spec-const-op-composite") X(EliminateDeadConstant, "--eliminate-dead-const")          \
  X(StrengthReduction, "--strength-reduction") X(BlockMerge, "--merge-blocks") X(InlineOpaque, "--inline-entry-points-opaque")    \
  X(InlineExhaustive, "--inline-entry-points-exhaustive") X(LocalSingleBlockLoadStoreElim, "--eliminate-local-single-block")      \
  X(DeadBranchElim, "--eliminate-dead-branches") X(LocalMultiStoreElim, "--eliminate-local-multi-store")                          \
  X(LocalAccessChainConvert, "--convert-local-access-chains") X(LocalSingleStoreElim, "--eliminate-local-single-store")           \
  X(InsertExtractElim, "--eliminate-insert-extract") X(DeadInsertElim, "--eliminate-dead-inserts") X(VectorDCE, "--vector-dce")   \
  X(RemoveUnusedInterfaceVariables, "--remove-unused-interface-variables") X(RemoveDuplicates, "--remove-duplicates")             \
  X(CFGCleanup, "--cfg-cleanup") X(DeadVariableElimination, "--eliminate-dead-variables") X(MergeReturn, "--merge-return")        \
  X(LocalRedundancyElimination, "--local-redundancy-elimination") X(LoopInvariantCodeMotion, "--loop-invariant-code-motion")      \
  X(LoopPeeling, "--loop-peeling") X(LoopUnswitch, "--loop-unswitch") X(RedundancyElimination, "--redundancy-elimination")        \
  X(PrivateToLocal, "--private-to-local") X(Workaround1209, "--workaround-1209") X(IfConversion, "--if-conversion")               \
  X(ReplaceInvalidOpcode, "--replace-invalid-opcode") X(Simplification, "--simplify-instructions") X(CodeSinking, "--code-sink")  \
  X(SSARewrite, "--ssa-rewrite") X(ConvertRelaxedToHalf, "--convert-relaxed-to-half") X(RelaxFloatOps, "--relax-float-ops")       \
  X(CopyPropagateArrays, "--copy-propagate-arrays") X(CombineAccessChains, "--combine-access-chains")                             \
  X(UpgradeMemoryModel, "--upgrade-memory-model") X(FixStorageClass, "--fix-storage-class") X(WrapOpKill, "--wrap-opkill")        \
  X(GraphicsRobustAccess, "--graphics-robust-access") X(SpreadVolatileSemantics, "--spread-volatile-semantics")                   \
  X(ReplaceDescArrayAccessUsingVarIndex, "--replace-desc-array-access-using-var-index") X(AmdExtToKhr, "--amd-ext-to-khr")        \
  X(DescriptorScalarReplacement, "--descriptor-scalar-replacement") X(InterpolateFixup, "--interpolate-fixup")                    \
  X(EliminateDeadInputComponentsSafe, "--eliminate-dead-input-components") X(RemoveDontInline, "--remove-dont-inline")            \
  X(FixFuncCallArguments, "--fix-func-call-param")
#define VYRE_SHIM_PASS(name, flag) inline auto Create##name##Pass() { return Optimizer::PassToken(flag); }
VYRE_SHIM_PASSES(VYRE_SHIM_PASS)
#undef VYRE_SHIM_PASS
#undef VYRE_SHIM_PASSES

inline auto CreateLoopFissionPass(std::size_t n) { return Optimizer::PassToken(vyre::spec("--loop-fission", n)); }
inline auto CreateLoopFusionPass(std::size_t n) { return Optimizer::PassToken(vyre::spec("--loop-fusion", n)); }
inline auto CreateScalarReplacementPass(unsigned n = 100) { return Optimizer::PassToken(vyre::spec("--scalar-replacement", n)); }
inline auto CreateReduceLoadSizePass(double n = 0.9) { return Optimizer::PassToken(vyre::spec("--reduce-load-size", n)); }
inline auto CreateLoopUnrollPass(bool fully, int factor = 0)
{
  return Optimizer::PassToken(fully ? std::string("--loop-unroll") : vyre::spec("--loop-unroll-partial", factor));
}
/* Never removes outputs. The pass has no flag if the interface is preserved, because the flag changes the interface. */
inline auto CreateAggressiveDCEPass(bool preserve_interface = false, bool = false)
{
  Optimizer::PassToken pass("--eliminate-dead-code-aggressive");
  pass.flag.erase(preserve_interface ? 0 : pass.flag.size());
  return pass;
}
/* Sets values of specialization constants. The keys are the ids of the constants, the values are texts. */
inline auto CreateSetSpecConstantDefaultValuePass(const std::unordered_map<std::uint32_t, std::string> &values)
{
  std::string list;
  for (const auto &[id, value] : values)
    list += std::to_string(id) + ":" + value + " ";
  return Optimizer::PassToken(vyre::spec("--set-spec-const-default-value", list));
}
/* clang-format on */

} // namespace VYRE_CXX_NAMESPACE
} // namespace vyre_shim
} // namespace spvtools
#endif
