/* Devices of the Vulkan target: reported properties, the choice of a device, and errors of opening one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vulkan.h"

#include "bundle.h"
#include "fake_vulkan.h"
#include "../messages.h"

#include <inttypes.h>

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static const char *library; /* owned */
static const fake_vulkan *fake;

static int
prepare(void **state)
{
  (void)state;
  library = strdup(test_file("unittests/libfake-vulkan.so"));
  fake = fake_vulkan_open(library);
  return fake ? 0 : -1;
}

static vyre_target *
open_device(const char *wanted, bool validate, vyre_device_info *info)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = library, .device = wanted, .validate = validate};
  vyre_target *target;
  assert_ok(ops->open(&options, NULL, &target));
  ops->describe(target, info);
  return target;
}

static void
refuse(const char *file, const char *wanted, const char *word1, const char *word2)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = file, .device = wanted};
  vyre_target *target;
  assert_fails(ops->open(&options, NULL, &target), VYRE_CODE_DEVICE, word1, word2);
  assert_null(target);
}

/* ---- choice of a device -------------------------------------------------------------------------------------------------- */

typedef struct listing {
  uint32_t count;
  vyre_device_info infos[16];
} listing;

static void
add_info(void *user, const vyre_device_info *info)
{
  listing *list = user;
  assert_int_equal(info->index, list->count);
  if (list->count < 16)
    list->infos[list->count++] = *info;
}

enum { SLOW, OLD, DRAWING, GOOD, GUEST, LATE, SIMULATOR, DEVICES };

/* Usable devices have compute and Vulkan 1.2.  A discrete device comes first, then an integrated one, a virtual one, and the
 * processor. */
static const struct {
  fake_vulkan_device device;
  vyre_device_kind kind;
  bool is_usable;
} known[DEVICES] = {
    [SLOW] = {{"slow one", VK_PHYSICAL_DEVICE_TYPE_CPU, VK_API_VERSION_1_3, true}, VYRE_DEVICE_CPU, true},
    [OLD] = {{"old one", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_API_VERSION_1_1, true}, VYRE_DEVICE_DISCRETE, false},
    [DRAWING] = {{"drawing one", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_API_VERSION_1_2, false}, VYRE_DEVICE_DISCRETE, false},
    [GOOD] = {{"good one", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, VK_API_VERSION_1_2, true}, VYRE_DEVICE_INTEGRATED, true},
    [GUEST] = {{"guest one", VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_API_VERSION_1_2, true}, VYRE_DEVICE_VIRTUAL, true},
    [LATE] = {{"late one", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, VK_API_VERSION_1_2, true}, VYRE_DEVICE_INTEGRATED, true},
    [SIMULATOR] = {{"Discrete Simulator", VK_PHYSICAL_DEVICE_TYPE_CPU, VK_API_VERSION_1_3, true}, VYRE_DEVICE_CPU, true},
};

TEST(the_best_usable_device_or_the_named_one_is_opened)
{
  static const struct {
    const char *wanted;
    uint32_t index;
  } named[] = {
      {NULL, GOOD}, {"GUEST", GUEST}, {"Virtual", GUEST}, {"integrated", GOOD},   {"cpu", SLOW},
      {"5", LATE},  {"good", GOOD},   {"late", LATE},     {"discrete", SIMULATOR}}; /* a name: no usable device is discrete */
  static const char *const refused[][2] = {{"old", "1 'old one' (lacks compute or Vulkan 1.2)"},
                                           {"2", "none that fits '2'"},
                                           {"7", "none that fits '7'"},
                                           {"drawing", "none that fits 'drawing'"}};
  fake_vulkan_device devices[DEVICES];
  fake_vulkan_list list = {devices, DEVICES, DEVICES};
  const vyre_target_options options = {.struct_size = sizeof options, .library = library};
  listing seen = {0};
  for (uint32_t i = 0; i < DEVICES; i++)
    devices[i] = known[i].device;
  fake->devices(&list);
  assert_ok(ops->list(&options, add_info, &seen));
  assert_int_equal(seen.count, DEVICES);
  for (uint32_t i = 0; i < DEVICES; i++)
    if (seen.infos[i].usable != known[i].is_usable || seen.infos[i].kind != known[i].kind)
      fail_msg("%s: usable %d, kind %d", devices[i].name, seen.infos[i].usable, (int)seen.infos[i].kind);
  for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
    vyre_device_info info;
    vyre_target *target = open_device(named[i].wanted, false, &info);
    if (info.index != named[i].index || strcmp(info.name, devices[info.index].name) != 0)
      fail_msg("'%s' opens %u '%s'", named[i].wanted ? named[i].wanted : "(none)", info.index, info.name);
    assert_ok(ops->close(target));
  }
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    refuse(library, refused[i][0], refused[i][1], "no device");
  list.count = list.count_again = SIMULATOR; /* without the device whose name has the word */
  refuse(library, "discrete", "none that fits 'discrete'", "no device");
  list.count_again--; /* a device was removed between two queries */
  refuse(library, NULL, "VK_INCOMPLETE", "");
  list.count = list.count_again = 0;
  refuse(library, NULL, "no device", "");
  fake->devices(NULL);
}

TEST(listed_devices_are_opened_by_index_and_by_name)
{
  listing list = {0};
  assert_ok(ops->list(NULL, add_info, &list));
  assert_true(list.count > 0);
  for (uint32_t i = 0; i < list.count; i++) {
    const vyre_device_info *listed = &list.infos[i];
    vyre_device_info info;
    char part[256];
    if (!listed->usable)
      continue;
    snprintf(part, sizeof part, "%u", i);
    assert_ok(ops->close(open_device(part, false, &info)));
    info.budget = listed->budget; /* other processes may use the device */
    assert_memory_equal(&info, listed, sizeof info);
    snprintf(part, sizeof part, "%.6s", listed->name);
    for (char *c = part; *c; c++)
      *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    assert_ok(ops->close(open_device(part, false, &info)));
    assert_true(info.max_invocations >= 128 && info.max_push >= 128 && info.max_shared >= 16384);
    assert_in_range(info.subgroup, 1, 128);
  }
}

static void
set_or_unset(const char *name, const char *value)
{
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

TEST(a_missing_library_symbol_and_device_have_three_messages)
{
  const char *files = getenv("VK_ICD_FILENAMES"), *drivers = getenv("VK_DRIVER_FILES");
  const vyre_target_options options = {.struct_size = sizeof options};
  vyre_target *target;
  refuse("libno-such-vulkan.so.1", NULL, "no library", "libno-such-vulkan.so.1");
  refuse("libm.so.6", NULL, "no symbol", "vkGetInstanceProcAddr");
  refuse(NULL, "no such device", "no device", "there are: 0 '");
  refuse(NULL, "4711", "no device", "4711");
  files = files ? strdup(files) : NULL;
  drivers = drivers ? strdup(drivers) : NULL;
  unsetenv("VK_DRIVER_FILES");
  setenv("VK_ICD_FILENAMES", "/nonexistent/icd.json", 1);
  refuse(NULL, NULL, "no device", "mesa-vulkan-drivers");
  assert_fails(ops->list(&options, NULL, NULL), VYRE_CODE_DEVICE, "no device", "mesa-vulkan-drivers");
  set_or_unset("VK_ICD_FILENAMES", files);
  set_or_unset("VK_DRIVER_FILES", drivers);
  assert_ok(ops->open(&options, NULL, &target));
  assert_ok(ops->close(target));
  assert_ok(ops->close(NULL));
}

/* ---- queues and memory --------------------------------------------------------------------------------------------------- */

enum { MIB = 1 << 20 };

/* Returns the first memory type of the device's own memory. */
static uint32_t
own_memory_type(const vyre_target *target)
{
  uint32_t type = 0;
  while (!(target->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT))
    type++;
  return type;
}

/* Returns the sum of the device's own heaps, each counted as at most `most`. */
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
assert_short(vyre_target *target, uint64_t requested, uint64_t left)
{
  char words[2][100];
  const uint32_t type = own_memory_type(target);
  vyre_status status = vulkan_check_budget(target, type, requested);
  assert_true(vyre_status_is_out_of_memory(status));
  snprintf(words[0], sizeof words[0], " %" PRIu64 " bytes left for this process in memory heap %u, of ", left,
           target->memory.memoryTypes[type].heapIndex);
  snprintf(words[1], sizeof words[1], "but %" PRIu64 " are needed\n", requested);
  assert_fails(status, VYRE_CODE_DEVICE, words[0], words[1]);
}

/* Other processes may use memory between two queries of the budget. */
TEST(a_device_reports_its_queues_and_its_memory)
{
  vyre_device_info info;
  vyre_target *target = open_device(NULL, test_validates(), &info);
  const bool has_budget = target->choice.extensions >> VULKAN_EXTENSION_MEMORY_BUDGET & 1u;
  const uint32_t type = own_memory_type(target);
  const uint64_t size = target->memory.memoryHeaps[target->memory.memoryTypes[type].heapIndex].size;
  assert_int_equal(info.queues, VYRE_DEVICE_QUEUE_COMPUTE | (target->choice.has_transfer ? VYRE_DEVICE_QUEUE_TRANSFER : 0));
  assert_true(info.kind != VYRE_DEVICE_CPU || (!target->choice.has_transfer && !has_budget)); /* lavapipe */
  assert_int_equal(info.memory, sum_of_own_heaps(target, UINT64_MAX));
  assert_true(info.memory > 300 * MIB);
  assert_true(has_budget ? info.budget && info.budget <= info.memory : info.budget == info.memory);
  assert_ok(vulkan_check_budget(target, type, has_budget ? 1 : size));
  vyre_status status = vulkan_check_budget(target, type, size + 1);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  vyre_status_free(status);
  assert_ok(ops->close(target));
}

TEST(a_device_with_a_budget_and_a_queue_for_transfers_reports_them)
{
  vyre_device_info info;
  fake->say(&(fake_vulkan_says){.heap_budget = 300 * MIB, .heap_usage = 200 * MIB, .transfers = true});
  vyre_target *target = open_device(NULL, false, &info); /* without the validation layer, which knows the real device */
  assert_int_equal(info.queues, VYRE_DEVICE_QUEUE_COMPUTE | VYRE_DEVICE_QUEUE_TRANSFER);
  /* Lavapipe has one queue family.  The fake adds family 1, which decodes and copies, and family 2, which only copies. */
  assert_true(info.kind != VYRE_DEVICE_CPU || target->choice.queue_families[VULKAN_TRANSFER] == 2);
  assert_int_equal(info.budget, sum_of_own_heaps(target, 300 * MIB));
  assert_ok(vulkan_check_budget(target, own_memory_type(target), 100 * MIB));
  assert_short(target, 100 * MIB + 1, 100 * MIB);
  fake->say(&(fake_vulkan_says){.heap_budget = 100, .heap_usage = 200}); /* other processes now use more */
  assert_short(target, 1, 0);
  fake->say(&(fake_vulkan_says){0});
  assert_ok(ops->close(target));
}

/* Writes a range twice.  The fake does not pass the barrier between the writes on to the driver. */
TEST(the_validation_layer_reports_a_missing_barrier)
{
  if (!test_validates() || VULKAN_LEAKS_CHECKED)
    skip(); /* the layer is not installed, or its leaks would fail the test (leaks.h) */
  for (uint32_t is_missing = 0; is_missing < 2; is_missing++) {
    vyre_device_info info;
    vyre_device_buffer buffer;
    uint32_t word = 7, got = 0;
    fake->set(is_missing ? "vkCmdPipelineBarrier" : "", VK_NOT_READY); /* the call does nothing */
    vyre_target *target = open_device(NULL, true, &info);
    assert_ok(ops->allocate(target, 4, &buffer));
    const vyre_range all = {buffer, 0, 0};
    const vyre_fill fill = {all, 9};
    const vyre_upload upload = {all, &word};
    const vyre_read read = {all, &got};
    const vyre_sequence sequence = {&fill, 1, &upload, 1, NULL, 0, &read, 1, NULL, 0, NULL, NULL};
    vyre_status status = ops->submit(target, &sequence, NULL);
    if (is_missing)
      assert_fails(status, VYRE_CODE_DEVICE, "SYNC-HAZARD-WRITE-AFTER-WRITE", "");
    else
      assert_ok(status);
    assert_ok(ops->close(target));
  }
  fake->set("", VK_SUCCESS);
}

TEST_MAIN(prepare, NULL)
