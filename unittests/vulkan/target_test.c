/* The Vulkan target on whatever device there is, under the validation layer.  No device is a failure, not a skip.
 * Over 600 lines, as it is one list of cases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../test.h"
#include "bundle.h"
#include "messages.h"
#include "sweep.h"
#include "vyre/target.h"

#include <spirv-tools/libspirv.h>

static const vyre_target_ops *const ops = &vyre_target_vulkan;

/* ---- helpers ------------------------------------------------------------------------------------------------------------- */

/* It failed with that code, its text has all of these words and a Fix line without options. */
static void
assert_fails(vyre_status status, vyre_code code, const char *word1, const char *word2)
{
  assert_non_null(status);
  const char *text = vyre_status_text(status);
  if (vyre_status_code(status) != code || !strstr(text, word1) || !strstr(text, word2) || !has_fix(text))
    print_error("code %d: %s\n", (int)vyre_status_code(status), text);
  assert_int_equal(vyre_status_code(status), code);
  assert_non_null(strstr(text, word1));
  assert_non_null(strstr(text, word2));
  assert_true(has_fix(text));
  vyre_status_free(status);
}

static vyre_target *
open_checked(void)
{
  vyre_target_options options = {.library = test_library(VULKAN_LIBRARY), .validate = test_validates()};
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  return target;
}

static vyre_device_buffer
allocate(vyre_target *target, uint64_t size)
{
  vyre_device_buffer buffer;
  assert_ok(ops->allocate(target, size, &buffer));
  assert_int_not_equal(buffer.id, 0);
  return buffer;
}

static spv_binary
assemble(const char *text)
{
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  spv_binary binary = NULL;
  spv_diagnostic diagnostic = NULL;
  spv_result_t result = spvTextToBinary(context, text, strlen(text), &binary, &diagnostic);
  if (diagnostic)
    spvDiagnosticPrint(diagnostic);
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  assert_int_equal(result, SPV_SUCCESS);
  return binary;
}

/* y[i] = x[i] * factor + add, for i below x's length: x in set 0 binding 3, y in set 2 binding 1, factor a specialization constant
 * (id 7), add a push constant at offset 4, the workgroup's size in x another specialization constant (id 9). */
static const char scale_text[] = "OpCapability Shader\n"
                                 "OpMemoryModel Logical GLSL450\n"
                                 "OpEntryPoint GLCompute %main \"scale\" %gid %x %y %push\n"
                                 "OpExecutionMode %main LocalSize 1 1 1\n"
                                 "OpDecorate %gid BuiltIn GlobalInvocationId\n"
                                 "OpDecorate %factor SpecId 7\n"
                                 "OpDecorate %width SpecId 9\n"
                                 "OpDecorate %size BuiltIn WorkgroupSize\n"
                                 "OpDecorate %array ArrayStride 4\n"
                                 "OpDecorate %block Block\n"
                                 "OpMemberDecorate %block 0 Offset 0\n"
                                 "OpDecorate %x DescriptorSet 0\n"
                                 "OpDecorate %x Binding 3\n"
                                 "OpDecorate %y DescriptorSet 2\n"
                                 "OpDecorate %y Binding 1\n"
                                 "OpDecorate %pushes Block\n"
                                 "OpMemberDecorate %pushes 0 Offset 0\n"
                                 "OpMemberDecorate %pushes 1 Offset 4\n"
                                 "%void = OpTypeVoid\n"
                                 "%function = OpTypeFunction %void\n"
                                 "%bool = OpTypeBool\n"
                                 "%u32 = OpTypeInt 32 0\n"
                                 "%u32x3 = OpTypeVector %u32 3\n"
                                 "%zero = OpConstant %u32 0\n"
                                 "%one = OpConstant %u32 1\n"
                                 "%factor = OpSpecConstant %u32 2\n"
                                 "%width = OpSpecConstant %u32 1\n"
                                 "%size = OpSpecConstantComposite %u32x3 %width %one %one\n"
                                 "%array = OpTypeRuntimeArray %u32\n"
                                 "%block = OpTypeStruct %array\n"
                                 "%block_ptr = OpTypePointer StorageBuffer %block\n"
                                 "%u32_ptr = OpTypePointer StorageBuffer %u32\n"
                                 "%pushes = OpTypeStruct %u32 %u32\n"
                                 "%pushes_ptr = OpTypePointer PushConstant %pushes\n"
                                 "%push_ptr = OpTypePointer PushConstant %u32\n"
                                 "%input_ptr = OpTypePointer Input %u32x3\n"
                                 "%x = OpVariable %block_ptr StorageBuffer\n"
                                 "%y = OpVariable %block_ptr StorageBuffer\n"
                                 "%push = OpVariable %pushes_ptr PushConstant\n"
                                 "%gid = OpVariable %input_ptr Input\n"
                                 "%main = OpFunction %void None %function\n"
                                 "%entry = OpLabel\n"
                                 "%id = OpLoad %u32x3 %gid\n"
                                 "%i = OpCompositeExtract %u32 %id 0\n"
                                 "%n = OpArrayLength %u32 %x 0\n"
                                 "%in = OpULessThan %bool %i %n\n"
                                 "OpSelectionMerge %done None\n"
                                 "OpBranchConditional %in %work %done\n"
                                 "%work = OpLabel\n"
                                 "%from = OpAccessChain %u32_ptr %x %zero %i\n"
                                 "%value = OpLoad %u32 %from\n"
                                 "%product = OpIMul %u32 %value %factor\n"
                                 "%add_ptr = OpAccessChain %push_ptr %push %one\n"
                                 "%add = OpLoad %u32 %add_ptr\n"
                                 "%sum = OpIAdd %u32 %product %add\n"
                                 "%to = OpAccessChain %u32_ptr %y %zero %i\n"
                                 "OpStore %to %sum\n"
                                 "OpBranch %done\n"
                                 "%done = OpLabel\n"
                                 "OpReturn\n"
                                 "OpFunctionEnd\n";

static const vyre_kernel_slot scale_slots[] = {
    {.set = 2, .binding = 1, .kind = VYRE_SLOT_STORAGE},
    {.set = 0, .binding = 3, .kind = VYRE_SLOT_STORAGE},
};

static vyre_kernel_desc
scale_desc(spv_binary binary)
{
  return (vyre_kernel_desc){
      .label = "scale.spvasm",
      .code = binary->code,
      .size = binary->wordCount * 4,
      .entry = "scale",
      .workgroup = {1, 1, 1},
      .slots = scale_slots,
      .slot_count = 2,
      .push_size = 8,
  };
}

static vyre_kernel
compile_scale(vyre_target *target, const vyre_kernel_spec *specs, uint32_t spec_count, uint32_t width)
{
  spv_binary binary = assemble(scale_text);
  vyre_kernel_desc desc = scale_desc(binary);
  desc.specs = specs;
  desc.spec_count = spec_count;
  desc.workgroup[0] = width;
  vyre_kernel kernel;
  assert_ok(ops->compile(target, &desc, &kernel));
  spvBinaryDestroy(binary);
  return kernel;
}

/* ---- copies -------------------------------------------------------------------------------------------------------------- */

TEST(fills_uploads_and_reads_come_in_that_order)
{
  vyre_target *target = open_checked();
  vyre_device_buffer buffer = allocate(target, 26); /* not whole words */
  unsigned char upload[5] = {1, 2, 3, 4, 5};
  unsigned char got[26], part[3];
  memset(got, 0xee, sizeof got);
  vyre_fill fills[] = {{{buffer, 0, 0}, 0x11111111}, {{buffer, 8, 4}, 0x22222222}, {{buffer, 8, 8}, 0x33333333}};
  vyre_upload uploads[] = {{{buffer, 9, 5}, upload}, {{buffer, 10, 2}, upload}};
  vyre_read reads[] = {{{buffer, 0, 0}, got}, {{buffer, 11, 3}, part}};
  vyre_sequence sequence = {
      .fills = fills, .fill_count = 3, .uploads = uploads, .upload_count = 2, .reads = reads, .read_count = 2};
  vyre_timing timing;
  assert_ok(ops->submit(target, &sequence, &timing));
  unsigned char expected[26];
  memset(expected, 0x11, sizeof expected);
  memset(expected + 8, 0x33, 8);
  memcpy(expected + 9, (unsigned char[]){1, 1, 2, 4, 5}, 5);
  assert_memory_equal(got, expected, sizeof got);
  assert_memory_equal(part, expected + 11, 3);
  assert_int_equal(timing.waits, 1);
  assert_int_equal(timing.launches, 0);
  assert_int_equal(timing.bytes_up, 7);
  assert_int_equal(timing.bytes_down, 29);
  assert_int_equal(timing.bytes_filled, 26 + 4 + 8);
  vyre_device_info info;
  ops->describe(target, &info);
  assert_int_equal(timing.allocations, info.capabilities & VYRE_TARGET_SHARED ? 1 : 2); /* staging: after a fill, and down */
  assert_true(timing.host_ns > 0);
  assert_ok(ops->submit(target, &sequence, &timing));
  assert_int_equal(timing.allocations, 0); /* it stays */
  assert_ok(ops->free(target, buffer));
  assert_ok(ops->close(target));
}

TEST(write_and_read_are_sequences_of_one)
{
  vyre_target *target = open_checked();
  enum { SIZE = 100000 };
  static unsigned char data[SIZE], got[SIZE];
  for (uint32_t i = 0; i < SIZE; i++)
    data[i] = (unsigned char)(i * 7 + i / 256);
  vyre_device_buffer buffer = allocate(target, SIZE);
  assert_ok(vyre_target_write(ops, target, buffer, 0, SIZE, data));
  assert_ok(vyre_target_read(ops, target, buffer, 1234, SIZE - 1234, got));
  assert_memory_equal(got, data + 1234, SIZE - 1234);
  assert_ok(ops->close(target)); /* the buffer with it */
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

enum { COUNT = 100 };

TEST(a_kernel_sees_its_sets_specialization_and_push_constants)
{
  vyre_target *target = open_checked();
  vyre_kernel_spec specs[] = {
      {.id = 7, .size = 4, .bits = 5}, {.id = 9, .size = 4, .bits = 32}, {.id = 1000, .size = 4, .bits = 1}};
  vyre_kernel kernel = compile_scale(target, specs, 3, 32);
  uint32_t x[COUNT], y[COUNT + 4];
  for (uint32_t i = 0; i < COUNT; i++)
    x[i] = i * 3 + 1;
  vyre_device_buffer xs = allocate(target, sizeof x), ys = allocate(target, sizeof y);
  uint32_t push[2] = {77, 1000};
  vyre_range buffers[] = {{ys, 0, 0}, {xs, 0, 0}};
  vyre_fill fill = {{ys, 0, 0}, 9};
  vyre_upload upload = {{xs, 0, 0}, x};
  vyre_step step = {.kernel = kernel, .buffers = buffers, .buffer_count = 2, .push = push, .push_size = 8, .groups = {4, 1, 1}};
  vyre_read read = {{ys, 0, 0}, y};
  vyre_sequence sequence = {&fill, 1, &upload, 1, &step, 1, &read, 1, NULL, 0, NULL, NULL};
  vyre_timing timing;
  assert_ok(ops->submit(target, &sequence, &timing));
  for (uint32_t i = 0; i < COUNT; i++)
    assert_int_equal(y[i], x[i] * 5 + 1000);
  for (uint32_t i = COUNT; i < COUNT + 4; i++)
    assert_int_equal(y[i], 9);
  assert_int_equal(timing.waits, 1);
  assert_int_equal(timing.launches, 1);
  assert_int_equal(timing.bytes_up, sizeof x);
  assert_int_equal(timing.bytes_down, sizeof y);
  assert_ok(ops->release(target, kernel));
  assert_ok(ops->close(target));
}

TEST(without_values_specialization_constants_keep_their_defaults)
{
  vyre_target *target = open_checked();
  vyre_kernel kernel = compile_scale(target, NULL, 0, 1);
  uint32_t x[2] = {21, 22}, y[2] = {0, 0}, push[2] = {0, 1};
  vyre_device_buffer xs = allocate(target, sizeof x), ys = allocate(target, sizeof y);
  vyre_range buffers[] = {{ys, 0, 0}, {xs, 0, 4}}; /* x is one element long for the kernel */
  vyre_upload uploads[] = {{{xs, 0, 0}, x}, {{ys, 0, 0}, y}};
  vyre_step step = {.kernel = kernel, .buffers = buffers, .buffer_count = 2, .push = push, .push_size = 8, .groups = {2, 1, 1}};
  vyre_read read = {{ys, 0, 0}, y};
  vyre_sequence sequence = {
      .uploads = uploads, .upload_count = 2, .steps = &step, .step_count = 1, .reads = &read, .read_count = 1};
  assert_ok(ops->submit(target, &sequence, NULL));
  assert_int_equal(y[0], 43);
  assert_int_equal(y[1], 0);
  assert_ok(ops->close(target));
}

/* x -> y -> x -> y ...: each step needs what the one before it wrote; 20 launches, one wait. */
TEST(steps_see_what_earlier_ones_wrote_with_one_wait)
{
  enum { STEPS = 20 };
  vyre_target *target = open_checked();
  vyre_kernel kernel = compile_scale(target, &(vyre_kernel_spec){.id = 7, .size = 4, .bits = 3}, 1, 1);
  uint32_t x[COUNT], expected[COUNT], got[COUNT], push[2] = {0, 1};
  for (uint32_t i = 0; i < COUNT; i++)
    x[i] = expected[i] = i;
  vyre_device_buffer xs = allocate(target, sizeof x), ys = allocate(target, sizeof x);
  vyre_range forth[] = {{ys, 0, 0}, {xs, 0, 0}}, back[] = {{xs, 0, 0}, {ys, 0, 0}};
  vyre_step steps[STEPS];
  for (uint32_t i = 0; i < STEPS; i++) {
    steps[i] = (vyre_step){.kernel = kernel,
                           .buffers = i % 2 ? back : forth,
                           .buffer_count = 2,
                           .push = push,
                           .push_size = 8,
                           .groups = {COUNT, 1, 1}};
    for (uint32_t k = 0; k < COUNT; k++)
      expected[k] = expected[k] * 3 + 1;
  }
  vyre_upload upload = {{xs, 0, 0}, x};
  vyre_read read = {{xs, 0, 0}, got};
  vyre_sequence sequence = {
      .uploads = &upload, .upload_count = 1, .steps = steps, .step_count = STEPS, .reads = &read, .read_count = 1};
  vyre_timing timing;
  for (int round = 0; round < 2; round++) {
    assert_ok(ops->submit(target, &sequence, &timing));
    assert_memory_equal(got, expected, sizeof got);
    assert_int_equal(timing.waits, 1);
    assert_int_equal(timing.launches, STEPS);
  }
  assert_int_equal(timing.allocations, 0);
  assert_ok(ops->close(target));
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------- */

TEST(bad_kernels_are_refused)
{
  vyre_target *target = open_checked();
  spv_binary binary = assemble(scale_text);
  vyre_kernel_desc good = scale_desc(binary), bad = good;
  vyre_kernel kernel = {1};
  bad.size = 4 * 5 - 1;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "not SPIR-V", "scale.spvasm");
  assert_int_equal(kernel.id, 0);
  bad = good;
  bad.code = "this is no SPIR-V module";
  bad.size = 24;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "not SPIR-V", "magic number");
  bad = good;
  bad.size -= 4 * 2;
  bad.size += 4;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "ends before", "entry point 'scale'");
  for (; bad.size > 0; bad.size -= 4) /* cut off anywhere: never seen by the layer or the driver */
    assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "vulkan: kernel 'scale.spvasm'", "Fix");
  bad = good;
  bad.entry = "scal";
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "no compute entry point 'scal'", "name one that it has");
  bad = good;
  bad.workgroup[1] = 0x40000000;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "invocations a workgroup in y", "allows");
  bad.workgroup[1] = 0;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "0 invocations", "scale.spvasm");
  vyre_device_info info;
  ops->describe(target, &info);
  bad = good;
  bad.workgroup[0] = bad.workgroup[1] = bad.workgroup[2] = info.max_workgroup[2]; /* each is allowed */
  assert_true((uint64_t)info.max_workgroup[2] * info.max_workgroup[2] * info.max_workgroup[2] > info.max_invocations);
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "invocations a workgroup, ", "allows");
  bad = good;
  bad.push_size = 6;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "6 bytes of push constants", "multiple of 4");
  bad.push_size = 0x10000;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "65536 bytes of push constants", "allows");
  vyre_kernel_slot slots[] = {scale_slots[0], scale_slots[0]};
  bad = good;
  bad.slots = slots;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "set 2 binding 1 twice", "Fix");
  slots[1].set = 0xffffffff;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "descriptor sets", "allows");
  /* the last set that is allowed, and the first that is not; a binding may have its number in each set */
  vyre_kernel_slot more[] = {scale_slots[0], scale_slots[1], {.set = 0, .binding = 1, .kind = VYRE_SLOT_STORAGE}};
  bad = good;
  bad.slots = more;
  bad.slot_count = 3;
  vyre_status status = VYRE_OK;
  for (; !status && more[2].set < 0x10000; more[2].set += !status)
    if (more[2].set != 2)
      status = ops->compile(target, &bad, &kernel);
  char first[64], last[64];
  snprintf(first, sizeof first, "needs %u descriptor sets", more[2].set + 1);
  snprintf(last, sizeof last, "allows %u\n", more[2].set);
  assert_fails(status, VYRE_CODE_INPUT, first, last);
  bad = good;
  bad.specs = &(vyre_kernel_spec){.id = 7, .size = 3};
  bad.spec_count = 1;
  assert_fails(ops->compile(target, &bad, &kernel), VYRE_CODE_INPUT, "constant 7 is 3 bytes", "Fix");
  spvBinaryDestroy(binary);
  assert_ok(ops->close(target));
}

/* A module that is whole but not valid: %y is stored through a pointer of the wrong type. */
TEST(what_validation_says_fails_the_call)
{
  if (!test_validates())
    skip(); /* the layer is not there: bundle.h */
  vyre_target *target = open_checked();
  spv_binary binary = assemble("OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n"
                               "OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%function = OpTypeFunction %void\n"
                               "%u32 = OpTypeInt 32 0\n%f32 = OpTypeFloat 32\n%one = OpConstant %u32 1\n"
                               "%main = OpFunction %void None %function\n%entry = OpLabel\n%bad = OpFAdd %f32 %one %one\n"
                               "OpReturn\nOpFunctionEnd\n");
  vyre_kernel_desc desc = {
      .label = "bad", .code = binary->code, .size = binary->wordCount * 4, .entry = "main", .workgroup = {1, 1, 1}};
  vyre_kernel kernel;
  assert_fails(ops->compile(target, &desc, &kernel), VYRE_CODE_DEVICE, "validation layer has", "FAdd");
  spvBinaryDestroy(binary);
  binary = assemble(scale_text);
  desc = scale_desc(binary);
  desc.slot_count = 1; /* x is used, and not given */
  assert_fails(ops->compile(target, &desc, &kernel), VYRE_CODE_DEVICE, "validation layer has", "Set 0");
  desc = scale_desc(binary);
  assert_ok(ops->compile(target, &desc, &kernel)); /* a message is of its call alone */
  spvBinaryDestroy(binary);
  assert_ok(ops->close(target));
}

TEST(bad_sequences_are_refused)
{
  vyre_target *target = open_checked();
  vyre_kernel kernel = compile_scale(target, NULL, 0, 1);
  vyre_device_buffer buffer = allocate(target, 64), gone = allocate(target, 64);
  assert_ok(ops->free(target, gone));
  assert_fails(ops->free(target, gone), VYRE_CODE_INPUT, "no buffer of this target", "Fix");
  vyre_device_buffer again = allocate(target, 64); /* the slot, not the number */
  assert_true(again.id != gone.id);
  unsigned char data[128] = {0};
  vyre_device_buffer none = {0}, far = {12345};
  assert_fails(vyre_target_write(ops, target, none, 0, 4, data), VYRE_CODE_INPUT, "no buffer", "upload 0");
  assert_fails(vyre_target_write(ops, target, far, 0, 4, data), VYRE_CODE_INPUT, "no buffer", "upload 0");
  assert_fails(vyre_target_read(ops, target, gone, 0, 4, data), VYRE_CODE_INPUT, "no buffer", "read 0");
  assert_fails(vyre_target_read(ops, target, buffer, 61, 4, data), VYRE_CODE_INPUT, "4 bytes from offset 61", "buffer of 64");
  assert_fails(vyre_target_read(ops, target, buffer, 64, 0, data), VYRE_CODE_INPUT, "offset 64", "not empty");
  assert_fails(vyre_target_read(ops, target, buffer, UINT64_MAX, 2, data), VYRE_CODE_INPUT, "buffer of 64", "Fix");
  assert_fails(vyre_target_read(ops, target, buffer, 2, UINT64_MAX, data), VYRE_CODE_INPUT, "buffer of 64", "Fix");
  vyre_fill fill = {{buffer, 2, 4}, 0};
  vyre_sequence sequence = {.fills = &fill, .fill_count = 1};
  assert_fails(ops->submit(target, &sequence, NULL), VYRE_CODE_INPUT, "whole words", "fill 0");
  vyre_range buffers[] = {{buffer, 0, 0}, {buffer, 0, 0}};
  vyre_step step = {.kernel = kernel, .buffers = buffers, .buffer_count = 1, .push = data, .push_size = 8, .groups = {1, 1, 1}};
  sequence = (vyre_sequence){.steps = &step, .step_count = 1};
  assert_fails(ops->submit(target, &sequence, NULL), VYRE_CODE_INPUT, "takes 2 buffers", "step 0");
  step.buffer_count = 2;
  step.push_size = 4;
  assert_fails(ops->submit(target, &sequence, NULL), VYRE_CODE_INPUT, "8 bytes of push constants", "step 0");
  step.push_size = 8;
  step.groups[1] = 0xffffffff;
  assert_fails(ops->submit(target, &sequence, NULL), VYRE_CODE_INPUT, "workgroups in y", "scale.spvasm");
  step.groups[1] = 1;
  buffers[1] = (vyre_range){buffer, 1, 8};
  assert_fails(ops->submit(target, &sequence, NULL), VYRE_CODE_INPUT, "set 0 binding 3", "multiple of");
  buffers[1] = (vyre_range){buffer, 0, 0};
  assert_ok(ops->submit(target, &sequence, NULL));
  assert_ok(ops->release(target, kernel));
  assert_fails(ops->submit(target, &sequence, NULL), VYRE_CODE_INPUT, "no kernel", "step 0");
  assert_fails(ops->release(target, kernel), VYRE_CODE_INPUT, "no kernel", "Fix");
  assert_ok(ops->submit(target, &(vyre_sequence){0}, NULL));
  assert_ok(ops->close(target));
}

TEST(memory_that_is_not_there_is_an_error)
{
  vyre_target_options options = {.library =
                                     test_library(VULKAN_LIBRARY)}; /* unchecked: the layer refuses what the driver should answer */
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  vyre_device_info info;
  ops->describe(target, &info);
  vyre_device_buffer buffer;
  assert_fails(ops->allocate(target, 0, &buffer), VYRE_CODE_INPUT, "0 bytes", "Fix");
  assert_fails(ops->allocate(target, UINT64_MAX, &buffer), VYRE_CODE_INPUT, "at most", "use smaller buffers");
  assert_int_equal(buffer.id, 0);
  buffer = allocate(target, 16); /* it is still whole */
  assert_ok(ops->free(target, buffer));
  assert_ok(ops->close(target));
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

TEST(what_is_missing_gives_three_messages)
{
  vyre_target *target;
  vyre_target_options options = {.library = "libno-such-vulkan.so.1"};
  assert_fails(ops->open(&options, NULL, &target), VYRE_CODE_DEVICE, "no library", "libno-such-vulkan.so.1");
  assert_null(target);
  options.library = "libm.so.6";
  assert_fails(ops->open(&options, NULL, &target), VYRE_CODE_DEVICE, "no symbol", "vkGetInstanceProcAddr");
  options.library = NULL;
  options.device = "no such device";
  assert_fails(ops->open(&options, NULL, &target), VYRE_CODE_DEVICE, "no device", "there are: 0 '");
  options.device = "4711";
  assert_fails(ops->open(&options, NULL, &target), VYRE_CODE_DEVICE, "no device", "4711");
  options.device = NULL;
  const char *files = getenv("VK_ICD_FILENAMES"), *drivers = getenv("VK_DRIVER_FILES");
  char *old_files = files ? strdup(files) : NULL, *old_drivers = drivers ? strdup(drivers) : NULL;
  unsetenv("VK_DRIVER_FILES");
  setenv("VK_ICD_FILENAMES", "/nonexistent/icd.json", 1);
  assert_fails(ops->open(&options, NULL, &target), VYRE_CODE_DEVICE, "no device", "mesa-vulkan-drivers");
  assert_fails(ops->list(&options, NULL, NULL), VYRE_CODE_DEVICE, "no device", "mesa-vulkan-drivers");
  unsetenv("VK_ICD_FILENAMES");
  if (old_files)
    setenv("VK_ICD_FILENAMES", old_files, 1);
  if (old_drivers)
    setenv("VK_DRIVER_FILES", old_drivers, 1);
  free(old_files);
  free(old_drivers);
  assert_ok(ops->open(&options, NULL, &target)); /* and nothing sticks */
  assert_ok(ops->close(target));
  assert_ok(ops->close(NULL));
}

typedef struct listing {
  uint32_t count;
  vyre_device_info infos[16];
} listing;

static void
take_info(void *user, const vyre_device_info *info)
{
  listing *list = user;
  assert_int_equal(info->index, list->count);
  if (list->count < 16)
    list->infos[list->count++] = *info;
}

TEST(devices_are_listed_and_taken_by_index_or_name)
{
  listing list = {0};
  assert_ok(ops->list(NULL, take_info, &list));
  assert_true(list.count > 0);
  for (uint32_t i = 0; i < list.count; i++) {
    if (!list.infos[i].usable)
      continue;
    char part[256];
    snprintf(part, sizeof part, "%u", i);
    vyre_target *target;
    vyre_device_info info;
    vyre_target_options options = {.device = part};
    assert_ok(ops->open(&options, NULL, &target));
    ops->describe(target, &info);
    info.budget = list.infos[i].budget; /* others use the device meanwhile */
    assert_memory_equal(&info, &list.infos[i], sizeof info);
    assert_ok(ops->close(target));
    snprintf(part, sizeof part, "%.6s", info.name);
    for (char *c = part; *c; c++)
      *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    assert_ok(ops->open(&options, NULL, &target));
    assert_ok(ops->close(target));
    assert_true(info.max_invocations >= 128 && info.max_push >= 128 && info.max_shared >= 16384);
    assert_true(info.subgroup >= 1 && info.subgroup <= 128);
  }
}

/* ---- every allocation of ours fails once --------------------------------------------------------------------------------- */

typedef struct counting {
  uint32_t until_failure;
  int64_t live;
} counting;

static void *
counting_resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  counting *count = user;
  if (new_size > old_size) {
    if (count->until_failure == 0)
      return NULL;
    count->until_failure--;
  }
  const vyre_allocator *real = vyre_allocator_default();
  void *result = real->resize(real->user, memory, old_size, new_size);
  count->live += (int64_t)new_size - (int64_t)old_size;
  return result;
}

static vyre_status
open_run_close(const vyre_allocator *allocator, spv_binary binary)
{
  vyre_target_options options = {.library = test_library(VULKAN_LIBRARY)};
  vyre_target *target;
  VYRE_TRY(ops->open(&options, allocator, &target));
  vyre_device_buffer buffer;
  vyre_kernel kernel;
  vyre_kernel_desc desc = scale_desc(binary);
  desc.specs = &(vyre_kernel_spec){.id = 7, .size = 4, .bits = 3};
  desc.spec_count = 1;
  vyre_status status = ops->allocate(target, 64, &buffer);
  if (!status)
    status = ops->compile(target, &desc, &kernel);
  if (!status) {
    vyre_range buffers[] = {{buffer, 0, 0}, {buffer, 0, 0}};
    vyre_step step = {
        .kernel = kernel, .buffers = buffers, .buffer_count = 2, .push = "abcdefgh", .push_size = 8, .groups = {1, 1, 1}};
    status = ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1}, NULL);
    const vyre_repeat repeat = {0, 1, 3, {buffer, 0, 4}};
    vyre_repeat_end end;
    vyre_ticket ticket;
    if (!status)
      status = ops->begin(
          target, &(vyre_sequence){.steps = &step, .step_count = 1, .repeats = &repeat, .repeat_count = 1, .ends = &end}, &ticket);
    if (!status)
      status = ops->wait(target, ticket, NULL);
  }
  return vyre_status_join(status, ops->close(target));
}

TEST(running_out_of_host_memory_anywhere_leaves_nothing)
{
  spv_binary binary = assemble(scale_text);
  counting count = {.until_failure = UINT32_MAX};
  vyre_allocator allocator = *vyre_allocator_default();
  allocator.resize = counting_resize;
  allocator.user = &count;
  assert_ok(open_run_close(&allocator, binary));
  const uint32_t places = UINT32_MAX - count.until_failure, stride = sweep_stride(places);
  assert_int_equal(count.live, 0);
  assert_true(places > 5);
  for (uint32_t place = 0; place < places; place += stride) {
    count.until_failure = place;
    vyre_status status = open_run_close(&allocator, binary);
    assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
    assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    vyre_status_free(status);
    assert_int_equal(count.live, 0);
  }
  spvBinaryDestroy(binary);
}
