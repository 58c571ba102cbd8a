/* What the Vulkan target says of devices, and which of them it takes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vulkan.h"

#include "bundle.h"
#include "fake_vulkan.h"
#include "messages.h"

#include <dlfcn.h>
#include <inttypes.h>

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static fake_vulkan_devices_function set_devices;
static fake_vulkan_say_function say;
static fake_vulkan_set_function set_failure;

static int
prepare(void **state)
{
  (void)state;
  void *library = dlopen(test_file("unittests/libfake-vulkan.so"), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "fake_vulkan_devices") : NULL;
  memcpy(&set_devices, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_say") : NULL;
  memcpy(&say, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_set") : NULL;
  memcpy(&set_failure, &symbol, sizeof symbol);
  return symbol ? 0 : -1;
}

static void
assert_no_device(const char *wanted, const char *word)
{
  vyre_target_options options = {.library = test_file("unittests/libfake-vulkan.so"), .device = wanted};
  vyre_target *target;
  vyre_status status = ops->open(&options, NULL, &target);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  if (!strstr(vyre_status_text(status), word) || !has_fix(vyre_status_text(status)))
    fail_msg("'%s' is not in: %s", word, vyre_status_text(status));
  vyre_status_free(status);
}

TEST(a_name_may_have_the_word_of_a_kind)
{
  static const fake_vulkan_device devices[] = {
      {"Discrete Simulator", VK_PHYSICAL_DEVICE_TYPE_CPU, VK_API_VERSION_1_3, true},
      {"other", VK_PHYSICAL_DEVICE_TYPE_OTHER, VK_API_VERSION_1_3, true},
  };
  fake_vulkan_list list = {devices, 2, 2};
  vyre_target_options options = {.library = test_file("unittests/libfake-vulkan.so"), .device = "discrete"};
  vyre_target *target;
  vyre_device_info info;
  set_devices(&list);
  assert_ok(ops->open(&options, NULL, &target));
  ops->describe(target, &info);
  assert_int_equal(info.index, 0);
  assert_ok(ops->close(target));
  assert_no_device("virtual", "none that fits 'virtual'");
  set_devices(NULL);
}

enum { MIB = 1 << 20 };

/* The first memory type of the device's own memory. */
static uint32_t
own_memory_type(const vyre_target *target)
{
  uint32_t type = 0;
  while (!(target->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT))
    type++;
  return type;
}

/* What it says where it says of no heap more than that. */
static uint64_t
sum_of_own_heaps(const vyre_target *target, uint64_t most)
{
  uint64_t sum = 0;
  for (uint32_t i = 0; i < target->memory.memoryHeapCount; i++) {
    const VkMemoryHeap *heap = &target->memory.memoryHeaps[i];
    if (heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      sum += heap->size < most ? heap->size : most;
  }
  return sum;
}

static void
assert_refused(const vyre_target *target, vyre_status status, const char *left, uint64_t asked)
{
  char words[200];
  const uint32_t heap = target->memory.memoryTypes[own_memory_type(target)].heapIndex;
  snprintf(words, sizeof words, "%s bytes left for this process in memory heap %u, of ", left, heap);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  assert_true(vyre_status_is_out_of_memory(status));
  const char *text = vyre_status_text(status), *found = strstr(text, words);
  snprintf(words, sizeof words, "asking for %" PRIu64 "\n", asked);
  if (!found || !strstr(text, words) || !has_fix(text))
    fail_msg("%s", text);
  vyre_status_free(status);
}

/* Whatever the driver says of what is left, others may take it meanwhile. */
TEST(a_device_says_its_queues_and_what_memory_is_left)
{
  vyre_target_options options = {.library = test_file("unittests/libfake-vulkan.so"), .validate = test_validates()};
  vyre_target *target;
  vyre_device_info info;
  assert_ok(ops->open(&options, NULL, &target));
  ops->describe(target, &info);
  const bool tells = target->choice.extensions >> VULKAN_EXTENSION_MEMORY_BUDGET & 1u;
  const uint32_t type = own_memory_type(target);
  const uint64_t size = target->memory.memoryHeaps[target->memory.memoryTypes[type].heapIndex].size;
  assert_int_equal(info.queues, VYRE_DEVICE_QUEUE_COMPUTE | (target->choice.has_transfer ? VYRE_DEVICE_QUEUE_TRANSFER : 0));
  assert_true(info.kind != VYRE_DEVICE_CPU || (!target->choice.has_transfer && !tells)); /* lavapipe */
  assert_int_equal(info.memory, sum_of_own_heaps(target, UINT64_MAX));
  assert_true(info.memory > 300 * MIB);
  assert_true(tells ? info.budget && info.budget <= info.memory : info.budget == info.memory);
  assert_ok(vulkan_check_budget(target, type, tells ? 1 : size));
  vyre_status status = vulkan_check_budget(target, type, size + 1);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  vyre_status_free(status);
  assert_ok(ops->close(target));
}

TEST(a_device_says_what_another_would)
{
  const fake_vulkan_says nothing = {0}, much = {.heap_budget = 300 * MIB, .heap_usage = 200 * MIB, .transfers = true};
  const vyre_target_options options = {.library = test_file("unittests/libfake-vulkan.so")}; /* the checks know the real one */
  vyre_target *target;
  vyre_device_info info;
  say(&much);
  assert_ok(ops->open(&options, NULL, &target));
  ops->describe(target, &info);
  const uint32_t type = own_memory_type(target);
  assert_int_equal(info.queues, VYRE_DEVICE_QUEUE_COMPUTE | VYRE_DEVICE_QUEUE_TRANSFER);
  /* Lavapipe has one family; then come one that decodes and copies, and one that only copies. */
  assert_true(info.kind != VYRE_DEVICE_CPU || target->choice.queue_families[VULKAN_TRANSFER] == 2);
  assert_int_equal(info.budget, sum_of_own_heaps(target, 300 * MIB));
  assert_ok(vulkan_check_budget(target, type, 100 * MIB));
  assert_refused(target, vulkan_check_budget(target, type, 100 * MIB + 1), "104857600", 100 * MIB + 1);
  say(&(fake_vulkan_says){.heap_budget = 100, .heap_usage = 200}); /* others came, and took some of it */
  assert_refused(target, vulkan_check_budget(target, type, 1), " 0", 1);
  say(&nothing);
  assert_ok(ops->close(target));
}

/* Two writes of one range, and between them a barrier that the driver never sees. */
TEST(the_checks_see_that_a_barrier_is_missing)
{
  if (!test_validates() || VULKAN_LEAKS_CHECKED)
    skip(); /* the layer is not there, or leaks: leaks.h */
  const vyre_target_options options = {.library = test_file("unittests/libfake-vulkan.so"), .validate = test_validates()};
  for (uint32_t is_missing = 0; is_missing < 2; is_missing++) {
    vyre_target *target;
    vyre_device_buffer buffer;
    uint32_t word = 7, got = 0;
    set_failure(is_missing ? "vkCmdPipelineBarrier" : "", VK_NOT_READY); /* which it does not return, and does nothing */
    assert_ok(ops->open(&options, NULL, &target));
    assert_ok(ops->allocate(target, 4, &buffer));
    const vyre_fill fill = {{.buffer = buffer}, 9};
    const vyre_upload upload = {{.buffer = buffer}, &word};
    const vyre_read read = {{.buffer = buffer}, &got};
    vyre_status status = ops->submit(
        target,
        &(vyre_sequence){.fills = &fill, .fill_count = 1, .uploads = &upload, .upload_count = 1, .reads = &read, .read_count = 1},
        NULL);
    if (vyre_status_code(status) != (is_missing ? VYRE_CODE_DEVICE : VYRE_CODE_OK) ||
        (is_missing && !strstr(vyre_status_text(status), "SYNC-HAZARD-WRITE-AFTER-WRITE")))
      fail_msg("%s", vyre_status_text(status));
    vyre_status_free(status);
    assert_ok(ops->close(target));
  }
  set_failure("", VK_SUCCESS);
}

TEST_MAIN(prepare, NULL)
