/* What a driver made of kernels, by AMD's in Mesa, whose null device needs no card and runs nothing: every figure of every part is
 * there, and each call that fails is named.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/target.h"

#include "bundle.h"
#include "fake_vulkan.h"
#include "messages.h"
#include "mix.h"

#include <dlfcn.h>

#define RADV "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json" /* of mesa-vulkan-drivers */

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static fake_vulkan_set_function set_failure;
static fake_vulkan_set_once_function set_once;
static fake_vulkan_has_failed_function has_failed;
static fake_vulkan_say_function say;
static int64_t live_bytes;
static int32_t left = -1; /* allocations that go well before one that fails; negative: all do */

static void
find(void *library, const char *name, void *out)
{
  void *symbol = dlsym(library, name);
  assert_non_null(symbol);
  memcpy(out, &symbol, sizeof symbol);
}

static int
prepare(void **state)
{
  (void)state;
  setenv("RADV_FORCE_FAMILY", "navi21", 1);
  setenv("VK_ICD_FILENAMES", RADV, 1);
  setenv("VK_DRIVER_FILES", RADV, 1);
  assert_non_null(dlopen("libvulkan_radeon.so", RTLD_NOW | RTLD_LOCAL)); /* stays: what its globals hold is no leak */
  void *library = dlopen(test_file(FAKE_VULKAN), RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  find(library, "fake_vulkan_set", &set_failure);
  find(library, "fake_vulkan_set_once", &set_once);
  find(library, "fake_vulkan_has_failed", &has_failed);
  find(library, "fake_vulkan_say", &say);
  return 0;
}

static void *
resize(void *user, void *data, size_t old_size, size_t size)
{
  (void)user;
  const bool fails = size > old_size && left >= 0 && left-- == 0;
  if (fails)
    return NULL;
  live_bytes += (int64_t)size - (int64_t)old_size;
  const vyre_allocator *real = vyre_allocator_default();
  return real->resize(real->user, data, old_size, size);
}

typedef struct seen {
  struct {
    char part[32], name[64], text[64];
    vyre_figure_kind kind;
    uint64_t u64;
    double f64;
    bool is_true;
  } items[128];
  uint32_t count;
} seen;

static void
see(void *user, const vyre_kernel_figure *figure)
{
  seen *s = user;
  assert_true(s->count < 128);
  snprintf(s->items[s->count].part, sizeof s->items[0].part, "%s", figure->part);
  snprintf(s->items[s->count].name, sizeof s->items[0].name, "%s", figure->name);
  snprintf(s->items[s->count].text, sizeof s->items[0].text, "%s", figure->text);
  s->items[s->count].kind = figure->kind;
  s->items[s->count].u64 = figure->u64;
  s->items[s->count].f64 = figure->f64;
  s->items[s->count++].is_true = figure->is_true;
}

static vyre_status
open_radv(bool statistics, vyre_target **out)
{
  vyre_allocator allocator = *vyre_allocator_default();
  allocator.resize = resize;
  const vyre_target_options options = {
      .library = test_file(FAKE_VULKAN), .validate = test_validates(), .statistics = statistics, .cache = "/nonexistent"};
  return ops->open(&options, &allocator, out);
}

static vyre_status
ask(seen *out)
{
  vyre_target *target;
  vyre_kernel kernel;
  *out = (seen){0};
  VYRE_TRY(open_radv(true, &target));
  vyre_status status = ops->compile(target, &mix_kernel, &kernel);
  if (!status)
    status = ops->statistics(target, kernel, see, out);
  return vyre_status_join(status, ops->close(target));
}

static void
assert_fails(vyre_status status, vyre_code code, const char *word)
{
  const char *text = vyre_status_text(status);
  if (!status || vyre_status_code(status) != code || !strstr(text, word) || !has_fix(text))
    fail_msg("'%s' was to be said, and this was: %s", word, text);
  vyre_status_free(status);
}

TEST(amds_compiler_tells_what_it_made)
{
  static const char *const wanted[] = {"Subgroup size", "SGPRs", "VGPRs", "Code size", "Instructions", "Latency"};
  seen s;
  uint64_t length = 0;
  assert_ok(ask(&s));
  assert_string_equal(s.items[0].name, "compile_ns");
  assert_true(s.items[0].u64 > 0);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    uint32_t found = 0;
    for (uint32_t k = 0; k < s.count; k++)
      if (strcmp(s.items[k].name, wanted[i]) == 0) {
        found++;
        assert_true(s.items[k].u64 > 0);
        assert_int_equal(s.items[k].kind, VYRE_FIGURE_U64);
        assert_string_equal(s.items[k].part, ""); /* it is one program */
        assert_true(s.items[k].text[0] != '\0');
        length = strcmp(wanted[i], "Instructions") == 0 ? s.items[k].u64 : length;
      }
    assert_int_equal(found, 1);
  }
  assert_true(length > 1); /* else it found that the kernel does nothing */
}

TEST(every_kind_of_every_part_is_told)
{
  seen s;
  say(&(fake_vulkan_says){.parts = 2});
  assert_ok(ask(&s));
  say(&(fake_vulkan_says){0});
  assert_int_equal(s.count, 1 + 4 + 5); /* the subgroup size is known of the second alone */
  assert_string_equal(s.items[0].part, "");
  for (uint32_t i = 1; i < s.count; i++)
    assert_string_equal(s.items[i].part, i < 5 ? "part 0" : "part 1");
  assert_string_equal(s.items[5].name, "Subgroup size");
  assert_int_equal(s.items[5].u64, 8);
  for (uint32_t first = 1; first < s.count; first += 5) {
    assert_string_equal(s.items[first].name, "yes");
    assert_string_equal(s.items[first].text, first == 1 ? "of part 0" : "of part 1");
    assert_true(s.items[first].kind == VYRE_FIGURE_BOOL && s.items[first].is_true);
    assert_true(s.items[first + 1].kind == VYRE_FIGURE_F64 && s.items[first + 1].f64 == -3);
    assert_true(s.items[first + 2].kind == VYRE_FIGURE_U64 && s.items[first + 2].u64 == UINT64_MAX);
    assert_true(s.items[first + 3].kind == VYRE_FIGURE_F64 && s.items[first + 3].f64 == 0.5);
  }
}

/* An image, which the device has no memory for, and which a kernel that only is looked at does not need. */
TEST(images_are_not_made)
{
  static const vyre_image image = {.dim = VYRE_IMAGE_2D, .format = 33, .extent = {64, 64, 1}, .layers = 1};
  static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE},
                                           {.binding = 1, .kind = VYRE_SLOT_STORAGE_IMAGE, .images = &image}};
  vyre_kernel_desc desc = mix_kernel;
  vyre_target *target;
  vyre_kernel kernel;
  seen s = {0};
  desc.slots = slots;
  desc.slot_count = 2;
  assert_ok(open_radv(true, &target));
  assert_ok(ops->compile(target, &desc, &kernel));
  assert_ok(ops->statistics(target, kernel, see, &s));
  assert_true(s.count > 5);
  assert_ok(ops->close(target));
}

/* Nothing of it is there in a target that runs kernels. */
TEST(without_the_option_there_are_none)
{
  vyre_target *target;
  vyre_kernel kernel;
  seen s = {0};
  assert_ok(open_radv(false, &target));
  assert_ok(ops->compile(target, &mix_kernel, &kernel));
  assert_fails(ops->statistics(target, kernel, see, &s), VYRE_CODE_INPUT, "opened to run kernels");
  assert_int_equal(s.count, 0);
  assert_ok(ops->close(target));
}

static const char *const called[] = {"vkGetPipelineExecutablePropertiesKHR", "vkGetPipelineExecutableStatisticsKHR"};

TEST(each_call_that_fails_is_named)
{
  seen s;
  for (size_t i = 0; i < 2; i++) {
    set_failure(called[i], VK_SUCCESS);
    live_bytes = 0;
    assert_fails(ask(&s), VYRE_CODE_DEVICE, "vulkan: no symbol: ");
    set_failure(called[i], VK_SUCCESS);
    assert_fails(ask(&s), VYRE_CODE_DEVICE, called[i]);
    bool failed = true;
    for (int32_t passes = 0; failed; passes++) {
      set_once(called[i], VK_ERROR_OUT_OF_HOST_MEMORY, passes);
      vyre_status status = ask(&s);
      failed = has_failed();
      assert_true(failed == (passes < 2)); /* how many there are, and what they are */
      if (failed)
        assert_fails(status, VYRE_CODE_DEVICE, called[i]);
      else
        assert_ok(status);
      assert_int_equal(live_bytes, 0);
    }
  }
  set_failure("", VK_SUCCESS);
}

TEST(running_out_of_memory_leaves_nothing)
{
  vyre_target *target;
  vyre_kernel kernel;
  bool failed = true;
  live_bytes = 0;
  assert_ok(open_radv(true, &target));
  assert_ok(ops->compile(target, &mix_kernel, &kernel));
  const int64_t before = live_bytes;
  for (int32_t passes = 0; failed; passes++) {
    seen s = {0};
    left = passes;
    vyre_status status = ops->statistics(target, kernel, see, &s);
    left = -1;
    failed = status != NULL;
    assert_true(failed == (passes < 2));
    assert_true(!failed || vyre_status_is_out_of_memory(status));
    vyre_status_free(status);
    assert_int_equal(live_bytes, before);
  }
  assert_ok(ops->close(target));
  assert_int_equal(live_bytes, 0);
}

TEST_MAIN(prepare, NULL)
