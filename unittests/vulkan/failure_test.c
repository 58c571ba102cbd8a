/* The Vulkan target when the library or the driver fails: each function that it calls is missing once, and each that can fail does
 * so once. Every time the error names the function, nothing stays allocated, and the leak checker has nothing to say.
 * Over 600 lines, as it is one list of cases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vulkan.h"

#include "alone.h"
#include "bundle.h"
#include "fake_vulkan.h"
#include "leaks.h"
#include "messages.h"
#include "sweep.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>

#include <spirv-tools/libspirv.h>

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static fake_vulkan_set_function set_failure;
static fake_vulkan_devices_function set_devices;
static fake_vulkan_set_once_function set_once;
static fake_vulkan_has_failed_function has_failed;
static fake_vulkan_count_function count_calls;
static fake_vulkan_left_function left;
static spv_binary kernel_code;

/* One storage buffer and one push constant: x[0] = push. */
static const char kernel_text[] = "OpCapability Shader\n"
                                  "OpMemoryModel Logical GLSL450\n"
                                  "OpEntryPoint GLCompute %main \"main\" %x %push\n"
                                  "OpExecutionMode %main LocalSize 1 1 1\n"
                                  "OpDecorate %block Block\n"
                                  "OpMemberDecorate %block 0 Offset 0\n"
                                  "OpDecorate %x DescriptorSet 1\n"
                                  "OpDecorate %x Binding 0\n"
                                  "%void = OpTypeVoid\n"
                                  "%function = OpTypeFunction %void\n"
                                  "%u32 = OpTypeInt 32 0\n"
                                  "%zero = OpConstant %u32 0\n"
                                  "%block = OpTypeStruct %u32\n"
                                  "%block_ptr = OpTypePointer StorageBuffer %block\n"
                                  "%u32_ptr = OpTypePointer StorageBuffer %u32\n"
                                  "%pushes_ptr = OpTypePointer PushConstant %block\n"
                                  "%push_ptr = OpTypePointer PushConstant %u32\n"
                                  "%x = OpVariable %block_ptr StorageBuffer\n"
                                  "%push = OpVariable %pushes_ptr PushConstant\n"
                                  "%main = OpFunction %void None %function\n"
                                  "%entry = OpLabel\n"
                                  "%from = OpAccessChain %push_ptr %push %zero\n"
                                  "%value = OpLoad %u32 %from\n"
                                  "%to = OpAccessChain %u32_ptr %x %zero\n"
                                  "OpStore %to %value\n"
                                  "OpReturn\n"
                                  "OpFunctionEnd\n";

static int
prepare(void **state)
{
  (void)state;
  void *library = dlopen(test_file(FAKE_VULKAN), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "fake_vulkan_set") : NULL;
  memcpy(&set_failure, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_set_once") : NULL;
  memcpy(&set_once, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_has_failed") : NULL;
  memcpy(&has_failed, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_count") : NULL;
  memcpy(&count_calls, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_left") : NULL;
  memcpy(&left, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_devices") : NULL;
  memcpy(&set_devices, &symbol, sizeof symbol);
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  spv_result_t result = spvTextToBinary(context, kernel_text, strlen(kernel_text), &kernel_code, NULL);
  spvContextDestroy(context);
  return symbol && result == SPV_SUCCESS ? 0 : -1;
}

static int
finish(void **state)
{
  (void)state;
  spvBinaryDestroy(kernel_code);
  return 0;
}

static int64_t live_bytes;

static void *
counting_resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  (void)user;
  const vyre_allocator *real = vyre_allocator_default();
  void *result = real->resize(real->user, memory, old_size, new_size);
  if (result || new_size == 0)
    live_bytes += (int64_t)new_size - (int64_t)old_size;
  return result;
}

/* What is begun, with steps that the device decides on, in five submissions. */
static vyre_status
use_control(vyre_target *target, vyre_kernel kernel, vyre_device_buffer buffer, vyre_device_buffer texels)
{
  const uint32_t zero = 0, word = 5;
  const vyre_range range = {buffer, 0, 0}, ranges[] = {range, {texels, 0, 0}, {texels, 0, 0}};
  const vyre_upload upload = {{buffer, 4, 4}, &word};
  const vyre_step step = {
      .kernel = kernel, .buffers = ranges, .buffer_count = 3, .push = &zero, .push_size = 4, .groups = {1, 1, 1}};
  enum { IN_ONE = 16, ALL = 79 };
  const vyre_repeat repeat = {0, 1, ALL, {buffer, 4, 4}};
  static vyre_repeat_end end; /* where a call fails before the wait, it may be written when the target is closed */
  const vyre_sequence sequence = {
      .uploads = &upload, .upload_count = 1, .steps = &step, .step_count = 1, .repeats = &repeat, .repeat_count = 1, .ends = &end};
  vyre_ticket ticket;
  bool done = false;
  target->most_iterations = IN_ONE;
  VYRE_TRY(ops->begin(target, &sequence, &ticket));
  while (!done)
    VYRE_TRY(ops->poll(target, ticket, &done));
  VYRE_TRY(ops->wait(target, ticket, NULL));
  assert_int_equal(end.iterations, ALL);
  assert_int_equal(end.word, 5);
  return VYRE_OK;
}

/* Several are begun, so that copies go by a queue of their own where there is one. */
static vyre_status
use_begun(vyre_target *target, vyre_kernel kernel, vyre_device_buffer buffer, vyre_device_buffer texels)
{
  const uint32_t word = 11;
  uint32_t got[3] = {0};
  const vyre_range ranges[] = {{buffer, 0, 0}, {texels, 0, 0}, {texels, 0, 0}};
  const vyre_upload upload = {{buffer, 0, 8}, (const uint32_t[]){1, 2}};
  const vyre_step step = {
      .kernel = kernel, .buffers = ranges, .buffer_count = 3, .push = &word, .push_size = 4, .groups = {1, 1, 1}};
  vyre_ticket tickets[3];
  vyre_read reads[3];
  for (uint32_t i = 0; i < 3; i++) {
    reads[i] = (vyre_read){{buffer, 0, 4}, &got[i]};
    const vyre_sequence sequence = {
        .uploads = &upload, .upload_count = 1, .steps = &step, .step_count = 1, .reads = &reads[i], .read_count = 1};
    VYRE_TRY(ops->begin(target, &sequence, &tickets[i]));
  }
  for (uint32_t i = 3; i-- > 0;) {
    VYRE_TRY(ops->wait(target, tickets[i], NULL));
    assert_int_equal(got[i], word);
  }
  return VYRE_OK;
}

/* All that the target can do; the second submission uses what the first left. */
static vyre_status
use(vyre_target *target)
{
  vyre_device_buffer buffer, texels;
  vyre_kernel kernel;
  VYRE_TRY(ops->allocate(target, 8, &buffer));
  VYRE_TRY(ops->allocate(target, 8, &texels));
  const vyre_image image = {.dim = VYRE_IMAGE_2D, .format = 3, .extent = {2, 1, 1}, .layers = 1};
  const vyre_kernel_slot slots[] = {{.set = 1, .binding = 0, .kind = VYRE_SLOT_STORAGE},
                                    {.binding = 0, .kind = VYRE_SLOT_STORAGE_IMAGE, .images = &image},
                                    {.binding = 1, .kind = VYRE_SLOT_UNIFORM_TEXELS, .images = &image},
                                    {.binding = 2, .kind = VYRE_SLOT_SAMPLER, .sampler = VYRE_SAMPLER_LINEAR}};
  vyre_kernel_desc desc = {
      .label = "kernel",
      .code = kernel_code->code,
      .size = kernel_code->wordCount * 4,
      .entry = "main",
      .workgroup = {1, 1, 1},
      .slots = slots,
      .slot_count = 4,
      .push_size = 4,
  };
  VYRE_TRY(ops->compile(target, &desc, &kernel));
  for (uint32_t round = 1; round <= 2; round++) {
    uint32_t got[2] = {0}, one = 7;
    const vyre_range range = {buffer, 0, 0}, ranges[] = {range, {texels, 0, 0}, {texels, 0, 0}};
    vyre_fill fill = {range, 9};
    vyre_upload upload = {{buffer, 4, 4}, &one};
    vyre_step step = {.kernel = kernel, .buffers = ranges, .buffer_count = 3, .push = &round, .push_size = 4, .groups = {1, 1, 1}};
    vyre_read read = {range, got};
    vyre_sequence sequence = {&fill, 1, &upload, 1, &step, 1, &read, 1, NULL, 0, NULL, NULL};
    vyre_timing timing;
    VYRE_TRY(ops->submit(target, &sequence, &timing));
    assert_int_equal(got[0], round);
    assert_int_equal(got[1], 7);
  }
  VYRE_TRY(use_begun(target, kernel, buffer, texels));
  return use_control(target, kernel, buffer, texels);
}

static bool validates;

static int
count_library(struct dl_phdr_info *info, size_t size, void *user)
{
  (void)info;
  (void)size;
  ++*(uint32_t *)user;
  return 0;
}

static uint32_t
count_entries(const char *folder)
{
  uint32_t entries = 0;
  DIR *open = opendir(folder);
  assert_non_null(open);
  while (readdir(open))
    entries++;
  closedir(open);
  return entries;
}

/* What was made is destroyed, and the process has as many files, threads and libraries as after the first time; but where the
 * function that destroys is the one that is missing. */
static void
assert_nothing_left(const char *missing)
{
  static const char *const names[] = {"open files", "threads", "libraries"};
  static uint32_t before[3];
  uint32_t now[3] = {count_entries("/proc/self/fd"), count_entries("/proc/self/task"), 0};
  const bool can_destroy = !missing || (strcmp(missing, "vkDestroyDevice") != 0 && strcmp(missing, "vkDestroyInstance") != 0);
  dl_iterate_phdr(count_library, &now[2]);
  if (can_destroy && left())
    fail_msg("not all is destroyed that %s made", left());
  for (uint32_t i = 0; i < 3; i++) {
    if (before[i] == 0 || !can_destroy)
      before[i] = now[i];
    if (now[i] > before[i] && !sweep_is_sparse()) /* whose drivers keep what they like */
      fail_msg("there are %u %s, and were %u", now[i], names[i], before[i]);
  }
}

/* `missing`: the function that is not there, if one is. */
static vyre_status
open_use_close(const char *missing)
{
  vyre_allocator allocator = *vyre_allocator_default();
  allocator.resize = counting_resize;
  vyre_target_options options = {.library = test_file(FAKE_VULKAN), .validate = validates && test_validates()};
  vyre_target *target;
  live_bytes = 0;
  count_calls(NULL);
  vyre_status status = ops->open(&options, &allocator, &target);
  if (!status) {
    status = use(target);
    status = vyre_status_join(status, ops->close(target));
  }
  assert_int_equal(live_bytes, 0);
  assert_nothing_left(missing);
  return status;
}

static void
assert_fails(const char *name, VkResult result, const char *word)
{
  set_failure(name, result);
  vyre_status status = open_use_close(result == VK_SUCCESS ? name : NULL);
  const char *text = vyre_status_text(status);
  if (vyre_status_code(status) != VYRE_CODE_DEVICE || !strstr(text, name) || !strstr(text, word) || !has_fix(text) ||
      strstr(text, "validation layer has"))
    fail_msg("%s: %d '%s'", name, (int)vyre_status_code(status), text);
  vyre_status_free(status);
}

TEST(with_nothing_failing_all_goes_well)
{
  set_failure("", VK_SUCCESS);
  vyre_status status = open_use_close(NULL);
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

TEST(each_function_that_is_missing_is_named)
{
  static const char *const names[] = {
#define VULKAN_INSTANCE_SYM(name) #name,
#define VULKAN_DEVICE_SYM(name)   #name,
#include "symbols.def"
      "vkCreateInstance", "vkEnumerateInstanceVersion", "vkEnumerateInstanceLayerProperties"};
  enum { NAMES = sizeof names / sizeof names[0] };
  const uint32_t stride = sweep_stride(NAMES);
  for (uint32_t i = 0; i < NAMES; i += stride) {
    assert_fails(names[i], VK_SUCCESS, "vulkan: no symbol: ");
    hang_progress();
  }
}

static const char *const failing[] = {
    "vkEnumerateInstanceVersion",
    "vkCreateInstance",
    "vkEnumeratePhysicalDevices",
    "vkEnumerateDeviceExtensionProperties",
    "vkCreateDevice",
    "vkCreateCommandPool",
    "vkAllocateCommandBuffers",
    "vkCreateSemaphore",
    "vkCreateQueryPool",
    "vkCreateBuffer",
    "vkAllocateMemory",
    "vkBindBufferMemory",
    "vkCreateImage",
    "vkBindImageMemory",
    "vkCreateImageView",
    "vkCreateBufferView",
    "vkCreateSampler",
    "vkMapMemory",
    "vkCreateDescriptorSetLayout",
    "vkCreatePipelineLayout",
    "vkCreateShaderModule",
    "vkCreateComputePipelines",
    "vkCreateDescriptorPool",
    "vkAllocateDescriptorSets",
    "vkResetCommandPool",
    "vkBeginCommandBuffer",
    "vkEndCommandBuffer",
    "vkQueueSubmit",
    "vkWaitSemaphores",
    "vkGetQueryPoolResults",
    "vkGetSemaphoreCounterValue",
};
enum { FAILING = sizeof failing / sizeof failing[0] };

TEST(each_function_that_fails_is_named_with_its_code)
{
  static const struct {
    VkResult result;
    const char *text;
  } codes[] = {{VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY (-1)"},
               {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN (-13)"},
               {(VkResult)-424242, "a code unknown to vyre (-424242)"}};
  const uint32_t stride = sweep_stride(3 * FAILING);
  for (uint32_t i = 0; i < 3 * FAILING; i += stride) {
    assert_fails(failing[i % FAILING], codes[i / FAILING].result, codes[i / FAILING].text);
    hang_progress();
  }
}

/* The call of that function after so many of it fails, and whether there was one.  Where memory is short the target may find some.
 */
static bool
fail_call(const char *name, int32_t passes)
{
  set_once(name, VK_ERROR_OUT_OF_DEVICE_MEMORY, passes);
  vyre_status status = open_use_close(NULL);
  const bool failed = has_failed();
  const char *text = vyre_status_text(status);
  const bool is_right = status ? strstr(text, name) && strstr(text, "VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)") && has_fix(text) &&
                                     !strstr(text, "validation layer has") && vyre_status_is_out_of_memory(status)
                               : !failed || strcmp(name, "vkAllocateMemory") == 0;
  if (!is_right)
    fail_msg("%s, call %d: '%s'", name, (int)passes, text);
  vyre_status_free(status);
  return failed;
}

/* Each call of each function fails once, wherever in the use of the target it is. */
TEST(each_call_that_fails_is_named)
{
  const uint32_t most_calls = validates || sweep_is_sparse() ? 4 : 16; /* of those that are called that often, and by polling */
  const uint32_t stride = sweep_stride(FAILING * most_calls);
  bool ended[FAILING] = {false};
  for (uint32_t i = 0; i < FAILING * most_calls; i += stride) {
    ended[i % FAILING] = ended[i % FAILING] || !fail_call(failing[i % FAILING], (int32_t)(i / FAILING));
    hang_progress();
  }
  set_failure("", VK_SUCCESS);
}

/* With the layer, which says what is left when its device is destroyed. */
TEST(nothing_is_left_by_a_failure)
{
  if (!test_validates())
    skip(); /* it is what was tried before */
  validates = true;
  each_call_that_fails_is_named(state);
  validates = false;
}

typedef struct need {
  uint32_t capability;
  const char *name;
} need;

/* The kernel with one instruction more, before all others. */
static void
assert_refused(vyre_target *target, const uint32_t *instruction, uint32_t length, const char *name)
{
  uint32_t words[512] = {0};
  const size_t count = kernel_code->wordCount;
  assert_true(count + length <= 512);
  memcpy(words, kernel_code->code, 5 * 4);
  memcpy(words + 5, instruction, length * 4);
  memcpy(words + 5 + length, kernel_code->code + 5, (count - 5) * 4);
  vyre_kernel_slot slot = {.set = 1, .binding = 0, .kind = VYRE_SLOT_STORAGE};
  vyre_kernel_desc desc = {.label = "kernel",
                           .code = words,
                           .size = (count + length) * 4,
                           .entry = "main",
                           .workgroup = {1, 1, 1},
                           .slots = &slot,
                           .slot_count = 1,
                           .push_size = 4};
  vyre_kernel kernel;
  vyre_status status = ops->compile(target, &desc, &kernel);
  if (vyre_status_code(status) != VYRE_CODE_INPUT || !strstr(vyre_status_text(status), name))
    fail_msg("%s: '%s'", name, vyre_status_text(status));
  vyre_status_free(status);
}

/* A device that says it has nothing, because it is not asked: what the kernel needs is named before a driver sees it. */
static void
assert_needs_are_named(const char *not_asked, const need *needs, size_t need_count)
{
  static const uint32_t zeros[] = {5u << 16 | 59u, 1, 2, 4, 3}; /* OpVariable, Workgroup, with an initializer */
  const bool has_features = strcmp(not_asked, "vkGetPhysicalDeviceFeatures2") != 0;
  set_failure(not_asked, VK_NOT_READY);
  vyre_target_options options = {.library = test_file(FAKE_VULKAN)};
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  for (size_t i = 0; i < need_count; i++)
    assert_refused(target, (uint32_t[]){2u << 16 | 17u, needs[i].capability}, 2, needs[i].name); /* OpCapability */
  if (!has_features)
    assert_refused(target, zeros, 5, "(shaderZeroInitializeWorkgroupMemory)");
  assert_ok(ops->close(target));
  set_failure("", VK_SUCCESS);
}

TEST(a_feature_that_is_missing_is_named)
{
  static const need needs[] = {{11, "needs Int64, "},
                               {9, "(shaderFloat16)"},
                               {4448, "(storageBuffer8BitAccess)"},
                               {12, "needs Int64Atomics, "},
                               {6033, "(shaderBufferFloat32AtomicAdd)"},
                               {49, "needs StorageImageExtendedFormats, "},
                               {5302, "(runtimeDescriptorArray)"},
                               {5347, "(bufferDeviceAddress)"},
                               {6019, "(shaderIntegerDotProduct)"}};
  assert_needs_are_named("vkGetPhysicalDeviceFeatures2", needs, sizeof needs / sizeof needs[0]);
}

TEST(a_subgroup_operation_that_is_missing_is_named)
{
  static const need needs[] = {{61, "needs GroupNonUniform, "},
                               {63, "(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT)"},
                               {67, "needs GroupNonUniformClustered, "},
                               {6026, "needs GroupNonUniformRotateKHR, "}};
  assert_needs_are_named("vkGetPhysicalDeviceProperties2", needs, sizeof needs / sizeof needs[0]);
}

typedef struct seen_devices {
  uint32_t count;
  bool usable[8];
  vyre_device_kind kinds[8];
} seen_devices;

static void
see_device(void *user, const vyre_device_info *info)
{
  seen_devices *seen = user;
  assert_int_equal(info->index, seen->count);
  assert_true(seen->count < 8);
  seen->usable[seen->count] = info->usable;
  seen->kinds[seen->count++] = info->kind;
}

static void
assert_no_device(const char *wanted, const char *word)
{
  vyre_target_options options = {.library = test_file(FAKE_VULKAN), .device = wanted};
  vyre_target *target;
  vyre_status status = ops->open(&options, NULL, &target);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  if (!strstr(vyre_status_text(status), word) || !has_fix(vyre_status_text(status)))
    fail_msg("'%s' is not in: %s", word, vyre_status_text(status));
  vyre_status_free(status);
}

/* Discrete before integrated before virtual before the processor, of those that have compute and Vulkan 1.2. */
TEST(the_best_usable_device_is_taken)
{
  static const fake_vulkan_device devices[] = {
      {"slow one", VK_PHYSICAL_DEVICE_TYPE_CPU, VK_API_VERSION_1_3, true},
      {"old one", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_API_VERSION_1_1, true},
      {"drawing one", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_API_VERSION_1_2, false},
      {"good one", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, VK_API_VERSION_1_2, true},
      {"guest one", VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_API_VERSION_1_2, true},
      {"late one", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, VK_API_VERSION_1_2, true},
  };
  static const vyre_device_kind kinds[] = {VYRE_DEVICE_CPU,        VYRE_DEVICE_DISCRETE, VYRE_DEVICE_DISCRETE,
                                           VYRE_DEVICE_INTEGRATED, VYRE_DEVICE_VIRTUAL,  VYRE_DEVICE_INTEGRATED};
  fake_vulkan_list list = {devices, 6, 6};
  vyre_target_options options = {.library = test_file(FAKE_VULKAN)};
  vyre_target *target;
  vyre_device_info info;
  seen_devices seen = {0};
  set_devices(&list);
  assert_ok(ops->list(&options, see_device, &seen));
  assert_int_equal(seen.count, 6);
  for (uint32_t i = 0; i < 6; i++) {
    assert_int_equal(seen.usable[i], i != 1 && i != 2);
    assert_int_equal(seen.kinds[i], kinds[i]);
  }
  assert_ok(ops->open(&options, NULL, &target));
  ops->describe(target, &info);
  assert_string_equal(info.name, "good one");
  assert_int_equal(info.index, 3);
  assert_ok(ops->close(target));
  static const struct {
    const char *wanted;
    uint32_t index;
  } named[] = {{"GUEST", 4}, {"Virtual", 4}, {"integrated", 3}, {"cpu", 0}, {"5", 5}};
  for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
    options.device = named[i].wanted;
    assert_ok(ops->open(&options, NULL, &target));
    ops->describe(target, &info);
    assert_int_equal(info.index, named[i].index);
    assert_ok(ops->close(target));
  }
  assert_no_device("discrete", "none that fits 'discrete'"); /* neither of them can be used */
  assert_no_device("old", "1 'old one' (lacks compute or Vulkan 1.2)");
  assert_no_device("2", "none that fits '2'");
  assert_no_device("6", "none that fits '6'");
  list.count_again = 5; /* one was taken out meanwhile */
  assert_no_device(NULL, "VK_INCOMPLETE");
  list = (fake_vulkan_list){devices, 0, 0};
  assert_no_device(NULL, "no device");
  set_devices(NULL);
}

static const char atomic_text[] = "OpCapability Shader\n"
                                  "OpMemoryModel Logical GLSL450\n"
                                  "OpEntryPoint GLCompute %main \"main\"\n"
                                  "OpExecutionMode %main LocalSize 1 1 1\n"
                                  "%void = OpTypeVoid\n"
                                  "%function = OpTypeFunction %void\n"
                                  "%u32 = OpTypeInt 32 0\n"
                                  "%f32 = OpTypeFloat 32\n"
                                  "%i64 = OpTypeInt 64 1\n"
                                  "%zero = OpConstant %u32 0\n"
                                  "%one = OpConstant %u32 1\n"
                                  "%two = OpConstant %u32 2\n"
                                  "%three = OpConstant %u32 3\n"
                                  "%half = OpConstant %f32 0.5\n"
                                  "%f16 = OpTypeFloat 16\n"
                                  "%halves = OpTypeVector %f16 2\n"
                                  "%pair = OpConstantNull %halves\n"
                                  "%long = OpConstant %i64 7\n"
                                  "%u32_ptr = OpTypePointer Workgroup %u32\n"
                                  "%f32s = OpTypeArray %f32 %two\n"
                                  "%f32s_ptr = OpTypePointer Workgroup %f32s\n"
                                  "%f32_ptr = OpTypePointer Workgroup %f32\n"
                                  "%i64_ptr = OpTypePointer Workgroup %i64\n"
                                  "%x = OpVariable %u32_ptr Workgroup\n"
                                  "%y = OpVariable %f32s_ptr Workgroup\n"
                                  "%z = OpVariable %i64_ptr Workgroup\n"
                                  "%main = OpFunction %void None %function\n"
                                  "%entry = OpLabel\n"
                                  "%old = OpAtomicIAdd %u32 %x %two %zero %one\n"
                                  "%at = OpAccessChain %f32_ptr %y %one\n"
                                  "OpAtomicStore %s\n"
                                  "OpReturn\n"
                                  "OpFunctionEnd\n";

/* No capability says that a kernel has these; its instructions do.  The first one, on 32 bits, needs nothing. */
TEST(an_atomic_that_is_missing_is_named)
{
  static const struct {
    const char *operands, *name;
  } cases[] = {{"%at %two %zero %half", "needs an atomic on floats in workgroup memory, "},
               {"%at %two %zero %half", "(shaderSharedFloat32Atomics)"},
               {"%z %two %zero %long", "needs an atomic on 64-bit integers in workgroup memory, "},
               {"%x %two %zero %one\n%sum = OpGroupNonUniformIAdd %i64 %three Reduce %long",
                "needs a subgroup operation on integers that are not of 32 bits, or on f16, "},
               {"%x %two %zero %one\n%sum = OpGroupNonUniformShuffle %halves %three %pair %one", "(shaderSubgroupExtendedTypes)"}};
  set_failure("vkGetPhysicalDeviceFeatures2", VK_NOT_READY);
  vyre_target_options options = {.library = test_file(FAKE_VULKAN)};
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[4096];
    char *at = strstr(strcpy(text, atomic_text), "%s\n");
    sprintf(at, "%s\nOpReturn\nOpFunctionEnd\n", cases[i].operands);
    spv_binary binary = NULL;
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
    assert_int_equal(spvTextToBinary(context, text, strlen(text), &binary, NULL), SPV_SUCCESS);
    spvContextDestroy(context);
    vyre_kernel_desc desc = {
        .label = "kernel", .code = binary->code, .size = binary->wordCount * 4, .entry = "main", .workgroup = {1, 1, 1}};
    vyre_kernel kernel;
    vyre_status status = ops->compile(target, &desc, &kernel);
    if (vyre_status_code(status) != VYRE_CODE_INPUT || !strstr(vyre_status_text(status), cases[i].name))
      fail_msg("%s: '%s'", cases[i].operands, vyre_status_text(status));
    vyre_status_free(status);
    spvBinaryDestroy(binary);
  }
  assert_ok(ops->close(target));
  set_failure("", VK_SUCCESS);
}

/* Nothing of it can be destroyed, as it may still run: the leak checker is not asked. */
TEST(a_device_that_hangs_is_left)
{
  set_failure("vkWaitSemaphores", VK_TIMEOUT);
  vyre_target_options options = {.library = test_file(FAKE_VULKAN), .timeout = 1};
  vyre_target *target;
  VULKAN_LEAKS_BEGIN();
  assert_ok(ops->open(&options, NULL, &target));
  vyre_status status = use(target);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  assert_non_null(strstr(vyre_status_text(status), "VK_TIMEOUT"));
  assert_non_null(strstr(vyre_status_text(status), "give it more time"));
  assert_true(has_fix(vyre_status_text(status)));
  vyre_status_free(status);
  set_failure("", VK_SUCCESS);
  if (*state) {
    assert_true(ops->is_lost(target));
    assert_ok(ops->recover(target));
    assert_ok(use(target));
  }
  assert_ok(ops->close(target));
  VULKAN_LEAKS_END();
}

static bool is_recovering;
TEST_OF(a_device_that_hangs_is_left, is_recovering);

TEST(a_lost_device_stays_lost)
{
  static const char *const names[] = {"vkWaitSemaphores", "vkQueueSubmit", "vkGetSemaphoreCounterValue"};
  for (uint32_t i = 0; i < 3; i++) {
    set_failure(names[i], VK_ERROR_DEVICE_LOST);
    vyre_target_options options = {.library = test_file(FAKE_VULKAN)};
    vyre_target *target;
    assert_ok(ops->open(&options, NULL, &target));
    vyre_status status = use(target);
    assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
    assert_non_null(strstr(vyre_status_text(status), "VK_ERROR_DEVICE_LOST"));
    vyre_status_free(status);
    status = use(target);
    assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
    assert_non_null(strstr(vyre_status_text(status), "was lost in an earlier call"));
    vyre_status_free(status);
    assert_ok(ops->close(target));
    set_failure("", VK_SUCCESS);
    assert_ok(ops->open(&options, NULL, &target)); /* and opens again */
    assert_ok(use(target));
    assert_ok(ops->close(target));
  }
}

TEST(a_lost_device_is_made_anew)
{
  set_failure("vkWaitSemaphores", VK_ERROR_DEVICE_LOST);
  vyre_target_options options = {.library = test_file(FAKE_VULKAN)};
  vyre_target *target, *other;
  assert_ok(ops->open(&options, NULL, &target));
  vyre_device_buffer buffer;
  assert_ok(ops->allocate(target, 16, &buffer));
  vyre_ticket ticket;
  uint32_t got = 0;
  const vyre_read read = {{buffer, 0, 4}, &got};
  assert_ok(ops->begin(target, &(vyre_sequence){.reads = &read, .read_count = 1}, &ticket));
  vyre_status_free(use(target));
  assert_true(ops->is_lost(target));
  set_failure("", VK_SUCCESS);
  assert_ok(ops->open(NULL, NULL, &other)); /* by another library, whose functions are not this target's */
  set_failure("vkCmdCopyBuffer", VK_SUCCESS);
  vyre_status status = ops->recover(target);
  assert_non_null(strstr(vyre_status_text(status), "lacks vkCmdCopyBuffer"));
  vyre_status_free(status);
  assert_true(ops->is_lost(target));
  set_failure("", VK_SUCCESS);
  assert_ok(ops->recover(target));
  assert_false(ops->is_lost(target));
  status = ops->free(target, buffer);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  vyre_status_free(status);
  assert_ok(use(target));
  assert_ok(ops->close(other));
  assert_ok(ops->close(target));
}

static VKAPI_ATTR VkResult VKAPI_CALL
allocate_nothing(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *allocator, VkDeviceMemory *memory)
{
  (void)device, (void)info, (void)allocator, (void)memory;
  return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* An allocation that fails is tried again after the memory of unused submissions is freed. */
TEST(an_allocation_that_fails_twice_is_an_error)
{
  set_failure("", VK_SUCCESS);
  vyre_target_options options = {.library = test_file(FAKE_VULKAN)};
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  assert_ok(use(target));
  assert_non_null(target->base.unused);
  const PFN_vkAllocateMemory real = target->call.vkAllocateMemory;
  target->call.vkAllocateMemory = allocate_nothing;
  vyre_device_buffer buffer;
  vyre_status status = ops->allocate(target, 1u << 20, &buffer);
  assert_true(vyre_status_is_out_of_memory(status));
  assert_non_null(strstr(vyre_status_text(status), "VK_ERROR_OUT_OF_DEVICE_MEMORY"));
  vyre_status_free(status);
  assert_null(target->base.unused);
  target->call.vkAllocateMemory = real;
  assert_ok(use(target));
  assert_ok(ops->close(target));
}

int
main(int argc, char **argv)
{
  return run_alone(argc, argv, prepare, finish);
}
