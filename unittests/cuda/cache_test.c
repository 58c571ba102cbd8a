/* What the CUDA target keeps of compiled kernels: once in a process, and in files that are checked before they are used.  How files
 * are written and go is common to all targets, and tested by unit-vulkan-cache.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <dirent.h>

static const vyre_target_ops *const ops = &vyre_target_cuda;
static char folder[] = "/tmp/vyre-cuda-cache-XXXXXX";
static char heard[4096];

static void
hear(void *user, const char *text)
{
  (void)user;
  const size_t length = strlen(heard);
  snprintf(heard + length, sizeof heard - length, "%s\n", text);
}

static vyre_target *
open_with_folder(void)
{
  const vyre_target_options options = {.cache = folder, .remark = hear};
  heard[0] = '\0';
  return test_open(&options);
}

static void
assert_compiles(uint64_t hits, uint64_t misses)
{
  vyre_target *target = open_with_folder();
  const uint32_t push = 2;
  uint32_t out = 0;
  const vyre_range range = test_range(test_buffer(target, 1, 5));
  const vyre_step step = test_step(test_compile(target, TEST_DIGIT), &range, 1, &push);
  const vyre_read read = {range, &out};
  test_ok(ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1, .reads = &read, .read_count = 1}, NULL));
  assert_int_equal(out, 17);
  assert_int_equal(test_metric(target, "cache_hits"), hits);
  assert_int_equal(test_metric(target, "cache_misses"), misses);
  assert_int_equal(sim.count("cuLinkComplete"), misses);
  test_close(target);
}

/* The only file of the folder. */
static void
find_file(char path[512])
{
  char name[256];
  uint32_t count = 0;
  snprintf(name, sizeof name, "%s/cuda", folder);
  DIR *entries = opendir(name);
  assert_non_null(entries);
  for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
    if (strstr(entry->d_name, ".cubin")) {
      snprintf(path, 512, "%s/%s", name, entry->d_name);
      count++;
    }
  closedir(entries);
  assert_int_equal(count, 1);
}

TEST(what_was_compiled_is_found_again)
{
  assert_compiles(0, 1);
  assert_string_equal(heard, "");
  assert_compiles(1, 0);
  assert_string_equal(heard, "");
}

TEST(a_damaged_file_is_made_anew)
{
  char path[512];
  find_file(path);
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  fseek(file, -1, SEEK_END);
  const int last = fgetc(file);
  fseek(file, -1, SEEK_END);
  fputc(last ^ 1, file);
  fclose(file);
  assert_compiles(0, 1);
  assert_non_null(strstr(heard, "cuda: the compiled kernel '"));
  assert_non_null(strstr(heard, "it is damaged; it is made anew"));
  assert_compiles(1, 0);
}

/* One that is whole, and that the driver does not take. */
TEST(a_file_that_the_driver_refuses_is_made_anew)
{
  sim.make_fail("cuModuleLoadDataEx", 1, CUDA_INVALID_IMAGE);
  vyre_target *target = open_with_folder();
  test_compile(target, TEST_DIGIT);
  sim.make_fail(NULL, 0, CUDA_OK);
  assert_int_equal(test_metric(target, "cache_hits"), 0);
  assert_int_equal(test_metric(target, "cache_misses"), 1);
  assert_non_null(strstr(heard, "it is compiled again"));
  test_close(target);
}

TEST(another_architecture_has_files_of_its_own)
{
  setenv("VYRE_CUDA_SIM_SM", "90", 1);
  assert_compiles(0, 1);
  assert_compiles(1, 0);
  unsetenv("VYRE_CUDA_SIM_SM");
  assert_compiles(1, 0);
}

/* Of one text, however many kernels have it. */
TEST(a_module_is_loaded_once)
{
  vyre_target *target = test_open(NULL);
  const vyre_kernel first = test_compile(target, TEST_DIGIT), second = test_compile(target, TEST_DIGIT);
  assert_int_equal(sim.count("cuModuleLoadDataEx"), 1);
  assert_int_not_equal(first.id, second.id);
  test_ok(ops->release(target, first));
  assert_int_equal(sim.count("cuModuleUnload"), 0);
  test_ok(ops->release(target, second));
  assert_int_equal(sim.count("cuModuleUnload"), 1);
  test_close(target);
}

/* The driver's own words are in the error. */
TEST(what_the_compiler_says_is_told)
{
  static const char text[] = ".version 7.8\n.target sm_75\n.address_size 64\n"
                             ".visible .entry wrong(.param .u64 dispatch)\n{\n  frobnicate.u32 %r1;\n  ret;\n}\n";
  const vyre_kernel_desc desc = {.label = "wrong.ptx",
                                 .form = VYRE_KERNEL_PTX,
                                 .code = text,
                                 .size = sizeof text - 1,
                                 .entry = "wrong",
                                 .workgroup = {1, 1, 1}};
  vyre_target *target = test_open(NULL);
  vyre_kernel kernel;
  vyre_status status = ops->compile(target, &desc, &kernel);
  assert_non_null(strstr(vyre_status_text(status), "kernel 'wrong.ptx'"));
  assert_non_null(strstr(vyre_status_text(status), "the driver's compiler says: line 6: "));
  test_refused(status, "CUDA_ERROR_INVALID_PTX (218)");
  test_close(target);
}

/* Parameters that are not those of the text would be read from beside them. */
TEST(parameters_are_those_of_the_text)
{
  vyre_target *target = test_open(NULL);
  vyre_kernel kernel;
  vyre_kernel_desc desc = *test_kernel_desc(TEST_ADD);
  desc.slot_count = 1;
  test_refused(ops->supports(target, &desc), "has 3 parameters, of 8, 32 and 4 bytes");
  desc = *test_kernel_desc(TEST_ADD);
  desc.push_size = 8;
  test_refused(ops->compile(target, &desc, &kernel), "makes them 3, of 8, 32 and 8");
  desc = *test_kernel_desc(TEST_ADD);
  desc.entry = "ad";
  test_refused(ops->supports(target, &desc), "no entry 'ad'");
  desc = *test_kernel_desc(TEST_ADD);
  desc.size -= 3;
  test_refused(ops->supports(target, &desc), "no whole PTX text");
  test_close(target);
}

static int
prepare(void **state)
{
  return mkdtemp(folder) ? test_find_simulator(state) : -1;
}

static int
clean(void **state)
{
  char command[100];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

TEST_MAIN(prepare, clean)
