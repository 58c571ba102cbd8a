/* Statistics of compiled kernels, by AMD's driver in Mesa, whose null device needs no GPU and runs nothing.  Each figure of each
 * part is reported, and each failing call is named.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "fake_vulkan.h"
#include "mix.h"

#define RADV "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json" /* of mesa-vulkan-drivers */

static const fake_vulkan *fake;
static test_memory memory;

static int
prepare(void **state)
{
  (void)state;
  setenv("RADV_FORCE_FAMILY", "navi21", 1);
  setenv("VK_ICD_FILENAMES", RADV, 1);
  setenv("VK_DRIVER_FILES", RADV, 1);
  assert_non_null(dlopen("libvulkan_radeon.so", RTLD_NOW | RTLD_LOCAL)); /* stays open, so that its globals are not leaks */
  fake = fake_vulkan_open(test_file(FAKE_VULKAN));
  return fake ? 0 : -1;
}

typedef struct figure {
  char part[32], name[64], text[64];
  vyre_kernel_figure is; /* its texts are no longer valid */
} figure;

typedef struct seen {
  figure items[128];
  uint32_t count;
} seen;

static void
keep_figure(void *user, const vyre_kernel_figure *is)
{
  seen *s = user;
  assert_true(s->count < 128);
  figure *to = &s->items[s->count++];
  snprintf(to->part, sizeof to->part, "%s", is->part);
  snprintf(to->name, sizeof to->name, "%s", is->name);
  snprintf(to->text, sizeof to->text, "%s", is->text);
  to->is = *is;
}

static vyre_status
open_radv(bool statistics, vyre_target **out)
{
  const vyre_allocator allocator = test_allocator(&memory, 0);
  const vyre_target_options options = {.struct_size = sizeof options,
                                       .library = test_file(FAKE_VULKAN),
                                       .validate = test_validates(),
                                       .statistics = statistics,
                                       .cache = "/nonexistent"};
  return ops->open(&options, &allocator, out);
}

static vyre_status
read_figures(const vyre_kernel_desc *desc, seen *out)
{
  vyre_target *target;
  vyre_kernel kernel;
  *out = (seen){0};
  VYRE_TRY(open_radv(true, &target));
  vyre_status status = ops->compile(target, desc, &kernel);
  if (!status)
    status = ops->statistics(target, kernel, keep_figure, out);
  return vyre_status_join(status, ops->close(target));
}

TEST(amds_compiler_reports_its_figures)
{
  static const char *const wanted[] = {"Subgroup size", "SGPRs", "VGPRs", "Code size", "Instructions", "Latency"};
  seen s;
  assert_ok(read_figures(&mix_kernel, &s));
  assert_string_equal(s.items[0].name, "compile_ns");
  assert_true(s.items[0].is.u64 > 0);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    uint32_t found = 0;
    for (uint32_t k = 0; k < s.count; k++) {
      const figure *f = &s.items[k];
      if (strcmp(f->name, wanted[i]) != 0)
        continue;
      found++;
      assert_int_equal(f->is.kind, VYRE_FIGURE_U64);
      assert_true(f->is.u64 > (strcmp(f->name, "Instructions") == 0)); /* an empty kernel has one instruction */
      assert_string_equal(f->part, "");                                /* a single program has no parts */
      assert_true(f->text[0] != '\0');
    }
    assert_int_equal(found, 1);
  }
}

TEST(each_kind_of_figure_of_each_part_is_reported)
{
  seen s;
  fake->say(&(fake_vulkan_says){.parts = 2});
  assert_ok(read_figures(&mix_kernel, &s));
  fake->say(&(fake_vulkan_says){0});
  assert_int_equal(s.count, 1 + 4 + 5); /* only the second part has a subgroup size */
  assert_string_equal(s.items[0].part, "");
  for (uint32_t i = 1; i < s.count; i++)
    assert_string_equal(s.items[i].part, i < 5 ? "part 0" : "part 1");
  assert_string_equal(s.items[5].name, "Subgroup size");
  assert_int_equal(s.items[5].is.u64, 8);
  for (uint32_t first = 1; first < s.count; first += 5) {
    const figure *f = &s.items[first];
    assert_string_equal(f[0].name, "yes");
    assert_string_equal(f[0].text, first == 1 ? "of part 0" : "of part 1");
    assert_true(f[0].is.kind == VYRE_FIGURE_BOOL && f[0].is.is_true);
    assert_true(f[1].is.kind == VYRE_FIGURE_F64 && f[1].is.f64 == -3);
    assert_true(f[2].is.kind == VYRE_FIGURE_U64 && f[2].is.u64 == UINT64_MAX);
    assert_true(f[3].is.kind == VYRE_FIGURE_F64 && f[3].is.f64 == 0.5);
  }
}

/* The device has no memory for an image, but the kernel does not run and needs none. */
TEST(images_are_not_created)
{
  static const vyre_image image = {.dim = VYRE_IMAGE_2D, .format = 33, .extent = {64, 64, 1}, .layers = 1};
  static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE},
                                           {.binding = 1, .kind = VYRE_SLOT_STORAGE_IMAGE, .images = &image}};
  vyre_kernel_desc desc = mix_kernel;
  seen s;
  desc.slots = slots;
  desc.slot_count = 2;
  assert_ok(read_figures(&desc, &s));
  assert_true(s.count > 5);
}

TEST(a_target_that_runs_kernels_has_no_figures)
{
  vyre_target *target;
  vyre_kernel kernel;
  seen s = {0};
  assert_ok(open_radv(false, &target));
  assert_ok(ops->compile(target, &mix_kernel, &kernel));
  assert_fails(ops->statistics(target, kernel, keep_figure, &s), VYRE_CODE_INPUT, "opened to run kernels", "");
  assert_int_equal(s.count, 0);
  assert_ok(ops->close(target));
}

TEST(each_failing_call_is_named)
{
  static const char *const called[] = {"vkGetPipelineExecutablePropertiesKHR", "vkGetPipelineExecutableStatisticsKHR"};
  seen s;
  for (size_t i = 0; i < 2; i++) {
    fake->set(called[i], VK_SUCCESS);
    assert_fails(read_figures(&mix_kernel, &s), VYRE_CODE_DEVICE, "vulkan: no symbol: ", called[i]);
    for (uint32_t passes = 0; passes < 3; passes++) { /* one call returns the number, and one the entries */
      fake->set_once(called[i], VK_ERROR_OUT_OF_HOST_MEMORY, passes);
      vyre_status status = read_figures(&mix_kernel, &s);
      assert_int_equal(fake->has_failed(), passes < 2);
      if (passes < 2)
        assert_fails(status, VYRE_CODE_DEVICE, called[i], "");
      else
        assert_ok(status);
      assert_int_equal(memory.out, 0);
    }
  }
  fake->set("", VK_SUCCESS);
}

TEST(exhausted_memory_leaks_nothing)
{
  vyre_target *target;
  vyre_kernel kernel;
  assert_ok(open_radv(true, &target));
  assert_ok(ops->compile(target, &mix_kernel, &kernel));
  const size_t before = memory.out;
  for (uint32_t place = 1; place <= 3; place++) {
    seen s = {0};
    memory.calls = 0;
    memory.fail_at = place;
    vyre_status status = ops->statistics(target, kernel, keep_figure, &s);
    memory.fail_at = 0;
    assert_int_equal(vyre_status_is_out_of_memory(status), place < 3);
    assert_int_equal(status != NULL, place < 3);
    vyre_status_free(status);
    assert_int_equal(memory.out, before);
  }
  assert_ok(ops->close(target));
  assert_int_equal(memory.out, 0);
}

TEST_MAIN(prepare, NULL)
