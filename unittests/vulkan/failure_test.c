/* Failures of the library and the driver below the Vulkan target: each function is missing once, and each function that can fail
 * fails once.  Every error names the function, nothing stays allocated, and the leak checker reports nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "vulkan.h"

#include "fake_vulkan.h"
#include "leaks.h"
#include "mix.h"
#include "sweep.h"

#include <dirent.h>
#include <link.h>

static const fake_vulkan *fake;
static bool validates;

static int
prepare(void **state)
{
  (void)state;
  fake = fake_vulkan_open(test_file(FAKE_VULKAN));
  return fake ? 0 : -1;
}

/* ---- all uses of a target ------------------------------------------------------------------------------------------------ */

enum { SLOTS = 4, IN_ONE = 16, ALL = 79 };

/* A step that sets the first word of its buffer to the push constant `term`.  ranges[1] and ranges[2] are the texels of its
 * images. */
typedef struct used {
  vyre_target *target;
  vyre_range ranges[SLOTS - 1];
  mix_push push;
  vyre_step step;
} used;

static vyre_status
make_used(vyre_target *target, used *u)
{
  static const vyre_image image = {.dim = VYRE_IMAGE_2D, .format = 3, .extent = {2, 1, 1}, .layers = 1};
  static const vyre_kernel_slot slots[SLOTS] = {
      {.kind = VYRE_SLOT_STORAGE},
      {.set = 1, .kind = VYRE_SLOT_STORAGE_IMAGE, .images = &image},
      {.set = 1, .binding = 1, .kind = VYRE_SLOT_UNIFORM_TEXELS, .images = &image},
      {.set = 1, .binding = 2, .kind = VYRE_SLOT_SAMPLER, .sampler = VYRE_SAMPLER_LINEAR}};
  vyre_kernel_desc desc = mix_kernel;
  vyre_device_buffer buffer, texels;
  vyre_kernel kernel;
  desc.slots = slots;
  desc.slot_count = SLOTS;
  VYRE_TRY(ops->allocate(target, 8, &buffer));
  VYRE_TRY(ops->allocate(target, 8, &texels));
  VYRE_TRY(ops->compile(target, &desc, &kernel));
  *u = (used){.target = target, .ranges = {{buffer, 0, 0}, {texels, 0, 0}, {texels, 0, 0}}};
  u->step = mix_step(kernel, u->ranges, &u->push);
  u->step.buffer_count = SLOTS - 1;
  return VYRE_OK;
}

/* The second submission reuses the objects of the first one. */
static vyre_status
submit_twice(used *u)
{
  for (uint32_t round = 2; round <= 3; round++) {
    uint32_t got[2] = {0}, seven = 7;
    const vyre_fill fill = {u->ranges[0], 9};
    const vyre_upload upload = {{u->ranges[0].buffer, 4, 4}, &seven};
    const vyre_read read = {u->ranges[0], got};
    const vyre_sequence sequence = {&fill, 1, &upload, 1, &u->step, 1, &read, 1, NULL, 0, NULL, NULL};
    u->push.term = round;
    VYRE_TRY(ops->submit(u->target, &sequence, NULL));
    assert_int_equal(got[0], round);
    assert_int_equal(got[1], 7);
  }
  return VYRE_OK;
}

/* Begins several sequences, so that copies use the separate queue, if there is one. */
static vyre_status
begin_several(used *u)
{
  enum { SEVERAL = 3 };
  static uint32_t got[SEVERAL]; /* if a call fails before the wait, closing the target may write them */
  const uint32_t words[2] = {1, 2};
  const vyre_upload upload = {u->ranges[0], words};
  vyre_ticket tickets[SEVERAL];
  vyre_read reads[SEVERAL];
  for (uint32_t i = 0; i < SEVERAL; i++) {
    reads[i] = (vyre_read){{u->ranges[0].buffer, 0, 4}, &got[i]};
    const vyre_sequence sequence = {NULL, 0, &upload, 1, &u->step, 1, &reads[i], 1, NULL, 0, NULL, NULL};
    VYRE_TRY(ops->begin(u->target, &sequence, &tickets[i]));
  }
  for (uint32_t i = SEVERAL; i-- > 0;) {
    VYRE_TRY(ops->wait(u->target, tickets[i], NULL));
    assert_int_equal(got[i], u->push.term);
  }
  return VYRE_OK;
}

/* Begins a repeat whose end the device determines, in five submissions. */
static vyre_status
begin_repeat(used *u)
{
  static vyre_repeat_end end; /* closing the target may also write it */
  const uint32_t word = 5;
  const vyre_upload upload = {{u->ranges[0].buffer, 4, 4}, &word};
  const vyre_repeat repeat = {0, 1, ALL, {u->ranges[0].buffer, 4, 4}};
  const vyre_sequence sequence = {NULL, 0, &upload, 1, &u->step, 1, NULL, 0, &repeat, 1, &end, NULL};
  vyre_ticket ticket;
  bool done = false;
  u->target->most_iterations = IN_ONE;
  VYRE_TRY(ops->begin(u->target, &sequence, &ticket));
  while (!done)
    VYRE_TRY(ops->poll(u->target, ticket, &done));
  VYRE_TRY(ops->wait(u->target, ticket, NULL));
  assert_int_equal(end.iterations, ALL);
  assert_int_equal(end.word, 5);
  return VYRE_OK;
}

static vyre_status
use(vyre_target *target)
{
  used u;
  VYRE_TRY(make_used(target, &u));
  VYRE_TRY(submit_twice(&u));
  VYRE_TRY(begin_several(&u));
  return begin_repeat(&u);
}

static vyre_target *
open_fake(uint32_t timeout)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(FAKE_VULKAN), .timeout = timeout};
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  return target;
}

/* ---- leaks --------------------------------------------------------------------------------------------------------------- */

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

/* Requires that all created objects are destroyed, and that files, threads and libraries are not more than after the first call.
 * Requires neither if the missing function destroys devices or instances. */
static void
assert_nothing_left(const char *missing)
{
  static const char *const names[] = {"open files", "threads", "libraries"};
  static uint32_t before[3];
  uint32_t now[3] = {count_entries("/proc/self/fd"), count_entries("/proc/self/task"), 0};
  const bool can_destroy = strcmp(missing, "vkDestroyDevice") != 0 && strcmp(missing, "vkDestroyInstance") != 0;
  dl_iterate_phdr(count_library, &now[2]);
  if (can_destroy && fake->left())
    fail_msg("not every object that %s created is destroyed", fake->left());
  for (uint32_t i = 0; i < 3; i++) {
    if (before[i] == 0 || !can_destroy)
      before[i] = now[i];
    if (now[i] > before[i] && !sweep_is_sparse()) /* drivers of GPUs keep some */
      fail_msg("there are %u %s instead of %u", now[i], names[i], before[i]);
  }
}

static vyre_status
open_use_close(const char *missing)
{
  test_memory memory;
  const vyre_allocator allocator = test_allocator(&memory, 0);
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_file(FAKE_VULKAN), .validate = validates && test_validates()};
  vyre_target *target;
  fake->count(NULL);
  vyre_status status = ops->open(&options, &allocator, &target);
  if (!status) {
    status = use(target);
    status = vyre_status_join(status, ops->close(target));
  }
  assert_int_equal(memory.out, 0);
  assert_nothing_left(missing);
  return status;
}

/* ---- sweeps -------------------------------------------------------------------------------------------------------------- */

static void
assert_named(const char *name, VkResult result, const char *text)
{
  fake->set(name, result);
  vyre_status status = open_use_close(result == VK_SUCCESS ? name : "");
  if (strstr(vyre_status_text(status), "validation layer has"))
    fail_msg("%s: %s", name, vyre_status_text(status));
  assert_fails(status, VYRE_CODE_DEVICE, name, text);
  hang_progress();
}

TEST(a_use_without_failures_succeeds)
{
  assert_ok(open_use_close(""));
}

TEST(each_missing_function_is_named)
{
  static const char *const names[] = {
#define VULKAN_INSTANCE_SYM(name) #name,
#define VULKAN_DEVICE_SYM(name)   #name,
#include "symbols.def"
      "vkCreateInstance", "vkEnumerateInstanceVersion", "vkEnumerateInstanceLayerProperties"};
  enum { NAMES = sizeof names / sizeof names[0] };
  const uint32_t stride = sweep_stride(NAMES);
  for (uint32_t i = 0; i < NAMES; i += stride)
    assert_named(names[i], VK_SUCCESS, "vulkan: no symbol: ");
}

/* clang-format off */
static const char *const failing[] = {
    "vkEnumerateInstanceVersion", "vkCreateInstance", "vkEnumeratePhysicalDevices", "vkEnumerateDeviceExtensionProperties",
    "vkCreateDevice", "vkCreateCommandPool", "vkAllocateCommandBuffers", "vkCreateSemaphore", "vkCreateQueryPool", "vkCreateBuffer",
    "vkAllocateMemory", "vkBindBufferMemory", "vkCreateImage", "vkBindImageMemory", "vkCreateImageView", "vkCreateBufferView",
    "vkCreateSampler", "vkMapMemory", "vkCreateDescriptorSetLayout", "vkCreatePipelineLayout", "vkCreateShaderModule",
    "vkCreateComputePipelines", "vkCreateDescriptorPool", "vkAllocateDescriptorSets", "vkResetCommandPool", "vkBeginCommandBuffer",
    "vkEndCommandBuffer", "vkQueueSubmit", "vkWaitSemaphores", "vkGetQueryPoolResults", "vkGetSemaphoreCounterValue",
};
/* clang-format on */
enum { FAILING = sizeof failing / sizeof failing[0] };

TEST(each_failing_function_is_named_with_its_code)
{
  static const struct {
    VkResult result;
    const char *text;
  } codes[] = {{VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY (-1)"},
               {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN (-13)"},
               {(VkResult)-424242, "a code unknown to vyre (-424242)"}};
  const uint32_t stride = sweep_stride(3 * FAILING);
  for (uint32_t i = 0; i < 3 * FAILING; i += stride)
    assert_named(failing[i % FAILING], codes[i / FAILING].result, codes[i / FAILING].text);
}

/* Fails the call of `name` after `passes` others, and returns whether there was such a call.  After a failed allocation the
 * target may free unused memory and succeed. */
static bool
fail_call(const char *name, uint32_t passes)
{
  fake->set_once(name, VK_ERROR_OUT_OF_DEVICE_MEMORY, passes);
  vyre_status status = open_use_close("");
  const bool failed = fake->has_failed();
  const char *text = vyre_status_text(status);
  const bool is_right = status ? strstr(text, name) && strstr(text, "VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)") && has_fix(text) &&
                                     !strstr(text, "validation layer has") && vyre_status_is_out_of_memory(status)
                               : !failed || strcmp(name, "vkAllocateMemory") == 0;
  if (!is_right)
    fail_msg("%s, call %u: '%s'", name, passes, text);
  vyre_status_free(status);
  hang_progress();
  return failed;
}

/* Fails each call of each function once, anywhere in the use of the target. */
TEST(each_failing_call_is_named)
{
  const uint32_t most_calls = validates || sweep_is_sparse() ? 4 : 16; /* failing calls of each function, as polling repeats some */
  const uint32_t stride = sweep_stride(FAILING * most_calls);
  bool ended[FAILING] = {false};
  for (uint32_t i = 0; i < FAILING * most_calls; i += stride)
    ended[i % FAILING] = ended[i % FAILING] || !fail_call(failing[i % FAILING], i / FAILING);
  fake->set("", VK_SUCCESS);
}

/* The validation layer reports remaining objects when its device is destroyed. */
TEST(failures_leave_no_objects)
{
  if (!test_validates())
    skip(); /* the same as the previous test */
  validates = true;
  each_failing_call_is_named(state);
  validates = false;
}

/* ---- loss ---------------------------------------------------------------------------------------------------------------- */

/* No object of the device can be destroyed, because the device may still run, so the leak checker is off. */
TEST(a_hanging_device_is_not_destroyed)
{
  fake->set("vkWaitSemaphores", VK_TIMEOUT);
  fake->count(NULL);
  VULKAN_LEAKS_BEGIN();
  vyre_target *target = open_fake(1);
  assert_fails(use(target), VYRE_CODE_DEVICE, "VK_TIMEOUT", "give it more time");
  fake->set("", VK_SUCCESS);
  if (*state) {
    assert_true(ops->is_lost(target));
    assert_ok(ops->recover(target));
    assert_ok(use(target));
  }
  assert_ok(ops->close(target));
  VULKAN_LEAKS_END();
  assert_int_equal(fake->count("vkDestroyDevice"), *state ? 1 : 0); /* the recreated device */
}

static bool is_recovering;
TEST_OF(a_hanging_device_is_not_destroyed, is_recovering);

TEST(a_lost_device_stays_lost)
{
  static const char *const names[] = {"vkWaitSemaphores", "vkQueueSubmit", "vkGetSemaphoreCounterValue"};
  for (uint32_t i = 0; i < 3; i++) {
    fake->set(names[i], VK_ERROR_DEVICE_LOST);
    vyre_target *target = open_fake(0);
    assert_fails(use(target), VYRE_CODE_DEVICE, "VK_ERROR_DEVICE_LOST", names[i]);
    fake->set("", VK_SUCCESS);
    assert_fails(use(target), VYRE_CODE_DEVICE, "was lost in an earlier call", "");
    assert_ok(ops->close(target));
    target = open_fake(0);
    assert_ok(use(target));
    assert_ok(ops->close(target));
  }
}

TEST(a_lost_device_can_be_recovered)
{
  fake->set("vkWaitSemaphores", VK_ERROR_DEVICE_LOST);
  vyre_target *target = open_fake(0), *other;
  vyre_device_buffer buffer;
  vyre_ticket ticket;
  uint32_t got = 0;
  assert_ok(ops->allocate(target, 16, &buffer));
  const vyre_read read = {{buffer, 0, 4}, &got};
  assert_ok(ops->begin(target, &(vyre_sequence){.reads = &read, .read_count = 1}, &ticket));
  vyre_status_free(use(target));
  assert_true(ops->is_lost(target));
  fake->set("", VK_SUCCESS);
  assert_ok(ops->open(NULL, NULL, &other)); /* another library, which must not replace this target's functions */
  fake->set("vkCmdCopyBuffer", VK_SUCCESS);
  assert_fails(ops->recover(target), VYRE_CODE_DEVICE, "lacks vkCmdCopyBuffer", "");
  assert_true(ops->is_lost(target));
  fake->set("", VK_SUCCESS);
  assert_ok(ops->recover(target));
  assert_false(ops->is_lost(target));
  assert_fails(ops->free(target, buffer), VYRE_CODE_INPUT, "not a buffer", "");
  assert_ok(use(target));
  assert_ok(ops->close(other));
  assert_ok(ops->close(target));
}

/* A failed allocation is tried again after the memory of unused submissions is freed. */
TEST(an_allocation_that_fails_twice_is_an_error)
{
  vyre_device_buffer buffer;
  fake->count(NULL); /* makes the fake replace functions of the device, so that they can fail later */
  vyre_target *target = open_fake(0);
  assert_ok(use(target));
  assert_non_null(target->base.unused);
  fake->set("vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY);
  vyre_status status = ops->allocate(target, 1u << 20, &buffer);
  assert_true(vyre_status_is_out_of_memory(status));
  assert_fails(status, VYRE_CODE_DEVICE, "VK_ERROR_OUT_OF_DEVICE_MEMORY", "");
  assert_null(target->base.unused);
  fake->set("", VK_SUCCESS);
  assert_ok(use(target));
  assert_ok(ops->close(target));
}

int
main(int argc, char **argv)
{
  return run_alone(argc, argv, prepare);
}
