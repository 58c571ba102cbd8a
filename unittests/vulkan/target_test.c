/* Kernels that the Vulkan target refuses: damaged modules, modules with needs that the device lacks, and modules that the
 * validation layer reports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "fake_vulkan.h"
#include "mix.h"

#include <spirv-tools/libspirv.h>

static vyre_target *target;

static int
prepare(void **state)
{
  (void)state;
  const vyre_target_options options = {.struct_size = sizeof options, .validate = test_validates()};
  assert_ok(ops->open(&options, NULL, &target));
  return 0;
}

static int
finish(void **state)
{
  (void)state;
  assert_ok(ops->close(target));
  return 0;
}

static void
refuse(vyre_target *by, const vyre_kernel_desc *desc, const char *word1, const char *word2)
{
  vyre_kernel kernel = {1};
  assert_fails(ops->compile(by, desc, &kernel), VYRE_CODE_INPUT, word1, word2);
  assert_int_equal(kernel.id, 0);
}

/* ---- damaged ------------------------------------------------------------------------------------------------------------- */

TEST(incomplete_modules_are_refused)
{
  vyre_kernel_desc bad = mix_kernel;
  bad.size = 4 * 5 - 1;
  refuse(target, &bad, "not SPIR-V", "'mix'");
  bad.code = "not a valid SPIR-V file!";
  bad.size = 24;
  refuse(target, &bad, "not SPIR-V", "magic number");
  bad = mix_kernel;
  bad.size -= 4;
  refuse(target, &bad, "ends before", "entry point 'main'");
  for (; bad.size > 0; bad.size -= 4) /* truncated modules do not reach the layer or the driver */
    refuse(target, &bad, "vulkan: kernel 'mix'", "Fix");
}

TEST(descriptions_that_do_not_fit_the_module_or_the_device_are_refused)
{
  const vyre_kernel_slot far[] = {mix_slot, {.set = UINT32_MAX, .kind = VYRE_SLOT_STORAGE}};
  vyre_kernel_desc bad = mix_kernel;
  bad.entry = "mai";
  refuse(target, &bad, "no compute entry point 'mai'", "name an entry point of the module");
  bad = mix_kernel;
  bad.workgroup[1] = 0x40000000;
  refuse(target, &bad, "invocations in y of a workgroup", "allows");
  bad = mix_kernel;
  bad.slots = far;
  bad.slot_count = 2;
  refuse(target, &bad, "descriptor sets", "allows");
}

/* The first set beyond the limit is refused, but no set before it.  Each set may use the same binding numbers. */
TEST(sets_up_to_the_limit_are_accepted)
{
  vyre_kernel_slot slots[] = {mix_slot, {.set = 1, .kind = VYRE_SLOT_STORAGE}};
  vyre_kernel_desc desc = mix_kernel;
  vyre_kernel kernel;
  vyre_status status = VYRE_OK;
  char needed[64], allowed[64];
  desc.slots = slots;
  desc.slot_count = 2;
  for (; !status && slots[1].set < 0x10000; slots[1].set += !status)
    status = ops->compile(target, &desc, &kernel);
  snprintf(needed, sizeof needed, "needs %u descriptor sets", slots[1].set + 1);
  snprintf(allowed, sizeof allowed, "allows %u\n", slots[1].set);
  assert_fails(status, VYRE_CODE_INPUT, needed, allowed);
}

/* ---- missing features ---------------------------------------------------------------------------------------------------- */

/* Opens a device without features or properties, because `function` of the driver does nothing. */
static vyre_target *
open_without(const char *function)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(FAKE_VULKAN)};
  const fake_vulkan *fake = fake_vulkan_open(options.library);
  vyre_target *lacking;
  assert_non_null(fake);
  fake->set(function, VK_NOT_READY);
  assert_ok(ops->open(&options, NULL, &lacking));
  fake->set("", VK_SUCCESS);
  return lacking;
}

#define FEATURES   "vkGetPhysicalDeviceFeatures2"
#define PROPERTIES "vkGetPhysicalDeviceProperties2"

/* Requires that the kernel of mix.comp with `instruction` before all others is refused. */
static void
refuse_with(vyre_target *by, const uint32_t *instruction, const char *word)
{
  static uint32_t words[sizeof mix_words / 4 + 8];
  const uint32_t length = instruction[0] >> 16;
  vyre_kernel_desc desc = mix_kernel;
  memcpy(words, mix_words, 5 * 4);
  memcpy(words + 5, instruction, length * 4);
  memcpy(words + 5 + length, mix_words + 5, sizeof mix_words - 5 * 4);
  desc.code = words;
  desc.size += length * 4;
  refuse(by, &desc, word, "'mix'");
}

TEST(a_capability_that_the_device_lacks_is_named)
{
  static const struct {
    const char *without;
    uint32_t capability;
    const char *name;
  } needs[] = {{FEATURES, 11, "needs Int64, "},
               {FEATURES, 9, "(shaderFloat16)"},
               {FEATURES, 4448, "(storageBuffer8BitAccess)"},
               {FEATURES, 12, "needs Int64Atomics, "},
               {FEATURES, 6033, "(shaderBufferFloat32AtomicAdd)"},
               {FEATURES, 49, "needs StorageImageExtendedFormats, "},
               {FEATURES, 5302, "(runtimeDescriptorArray)"},
               {FEATURES, 5347, "(bufferDeviceAddress)"},
               {FEATURES, 6019, "(shaderIntegerDotProduct)"},
               {PROPERTIES, 61, "needs GroupNonUniform, "},
               {PROPERTIES, 63, "(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT)"},
               {PROPERTIES, 67, "needs GroupNonUniformClustered, "},
               {PROPERTIES, 6026, "needs GroupNonUniformRotateKHR, "}};
  static const uint32_t zeros[] = {5u << 16 | 59u, 1, 2, 4, 3}; /* OpVariable, Workgroup, with an initializer */
  vyre_target *without[2] = {open_without(FEATURES), open_without(PROPERTIES)};
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    const uint32_t capability[] = {2u << 16 | 17u, needs[i].capability}; /* OpCapability */
    refuse_with(without[strcmp(needs[i].without, PROPERTIES) == 0], capability, needs[i].name);
  }
  refuse_with(without[0], zeros, "(shaderZeroInitializeWorkgroupMemory)");
  for (uint32_t i = 0; i < 2; i++)
    assert_ok(ops->close(without[i]));
}

/* The first atomic, on 32 bits, needs no feature. */
static const char atomic_text[] =
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\"\n"
    "OpExecutionMode %%main LocalSize 1 1 1\n"
    "%%bool = OpTypeBool\n%%void = OpTypeVoid\n%%function = OpTypeFunction %%void\n%%u32 = OpTypeInt 32 0\n%%i64 = OpTypeInt 64 1\n"
    "%%f32 = OpTypeFloat 32\n%%f16 = OpTypeFloat 16\n%%halves = OpTypeVector %%f16 2\n"
    "%%zero = OpConstant %%u32 0\n%%one = OpConstant %%u32 1\n%%two = OpConstant %%u32 2\n%%three = OpConstant %%u32 3\n"
    "%%half = OpConstant %%f32 0.5\n%%long = OpConstant %%i64 7\n%%pair = OpConstantNull %%halves\n"
    "%%f32s = OpTypeArray %%f32 %%two\n"
    "%%u32_ptr = OpTypePointer Workgroup %%u32\n%%x = OpVariable %%u32_ptr Workgroup\n"
    "%%f32s_ptr = OpTypePointer Workgroup %%f32s\n%%f32_ptr = OpTypePointer Workgroup %%f32\n%%y = OpVariable %%f32s_ptr "
    "Workgroup\n"
    "%%i64_ptr = OpTypePointer Workgroup %%i64\n%%z = OpVariable %%i64_ptr Workgroup\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%old = OpAtomicIAdd %%u32 %%x %%two %%zero %%one\n%%at = OpAccessChain %%f32_ptr %%y %%one\n%s\nOpReturn\nOpFunctionEnd\n";

/* Only instructions show these needs, not capabilities. */
TEST(an_instruction_that_the_device_lacks_is_named)
{
  static const struct {
    const char *instruction, *name;
  } cases[] = {{"OpAtomicStore %at %two %zero %half", "needs an atomic on floats in workgroup memory, "},
               {"OpAtomicStore %at %two %zero %half", "(shaderSharedFloat32Atomics)"},
               {"OpAtomicStore %z %two %zero %long", "needs an atomic on 64-bit integers in workgroup memory, "},
               {"%sum = OpGroupNonUniformIAdd %i64 %three Reduce %long",
                "needs a subgroup operation on integers that are not of 32 bits, or on f16, "},
               {"%sum = OpGroupNonUniformShuffle %halves %three %pair %one", "(shaderSubgroupExtendedTypes)"},
               {"%same = OpGroupNonUniformAllEqual %bool %three %long", "(shaderSubgroupExtendedTypes)"}};
  vyre_target *lacking = open_without(FEATURES);
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[4096];
    spv_binary binary = NULL;
    const int length = snprintf(text, sizeof text, atomic_text, cases[i].instruction);
    assert_int_equal(spvTextToBinary(context, text, (size_t)length, &binary, NULL), SPV_SUCCESS);
    const vyre_kernel_desc desc = {
        .label = "kernel", .code = binary->code, .size = binary->wordCount * 4, .entry = "main", .workgroup = {1, 1, 1}};
    refuse(lacking, &desc, cases[i].name, "'kernel'");
    spvBinaryDestroy(binary);
  }
  spvContextDestroy(context);
  assert_ok(ops->close(lacking));
}

/* ---- validation ---------------------------------------------------------------------------------------------------------- */

TEST(a_report_of_the_validation_layer_fails_its_call)
{
  enum { INTEGER_MULTIPLY = 132 }; /* the multiplication of floats is the next one */
  static uint32_t wrong[sizeof mix_words / 4];
  const vyre_kernel_slot other = {.binding = 1, .kind = VYRE_SLOT_STORAGE};
  vyre_kernel_desc desc = mix_kernel;
  vyre_kernel kernel;
  if (!test_validates())
    skip(); /* the layer is not installed: bundle.h */
  memcpy(wrong, mix_words, sizeof wrong);
  for (uint32_t at = 5; at < sizeof wrong / 4; at += wrong[at] >> 16)
    wrong[at] += (wrong[at] & 0xffffu) == INTEGER_MULTIPLY; /* has the same operands */
  desc.code = wrong;
  assert_fails(ops->compile(target, &desc, &kernel), VYRE_CODE_DEVICE, "validation layer has", "FMul");
  desc = mix_kernel;
  desc.slots = &other; /* the kernel uses an undeclared buffer */
  assert_fails(ops->compile(target, &desc, &kernel), VYRE_CODE_DEVICE, "validation layer has", "Set 0");
  assert_ok(ops->compile(target, &mix_kernel, &kernel)); /* earlier reports do not fail this call */
}

TEST_MAIN(prepare, finish)
