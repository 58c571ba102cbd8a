/* The CUDA target's caches of compiled kernels: loaded modules, and files that are checked before use.  unit-vulkan-cache tests
 * writing and removing of files, which targets have in common.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <glob.h>

static const vyre_target_ops *const ops = &vyre_target_cuda;
static char folder[] = "/tmp/vyre-cuda-cache-XXXXXX";
static char remarks[4096];

static void
append_remark(void *user, const char *text)
{
  (void)user;
  const size_t length = strlen(remarks);
  snprintf(remarks + length, sizeof remarks - length, "%s\n", text);
}

static vyre_target *
open_with_folder(void)
{
  const vyre_target_options options = {.struct_size = sizeof options, .cache = folder, .remark = append_remark};
  remarks[0] = '\0';
  return test_open(&options);
}

static void
assert_compiles(uint64_t hits, uint64_t misses)
{
  vyre_target *target = open_with_folder();
  test_works(target);
  assert_int_equal(test_metric(target, "cache_hits"), hits);
  assert_int_equal(test_metric(target, "cache_misses"), misses);
  assert_int_equal(sim.count("cuLinkComplete"), misses);
  test_close(target);
}

TEST(compiled_kernels_are_found_again)
{
  assert_compiles(0, 1);
  assert_string_equal(remarks, "");
  assert_compiles(1, 0);
  assert_string_equal(remarks, "");
}

TEST(a_damaged_file_is_replaced)
{
  char pattern[64];
  glob_t files;
  snprintf(pattern, sizeof pattern, "%s/cuda/*.cubin", folder);
  assert_int_equal(glob(pattern, 0, NULL, &files), 0);
  assert_int_equal(files.gl_pathc, 1);
  FILE *file = fopen(files.gl_pathv[0], "r+b");
  assert_non_null(file);
  globfree(&files);
  fseek(file, -1, SEEK_END);
  const int last = fgetc(file);
  fseek(file, -1, SEEK_END);
  fputc(last ^ 1, file);
  fclose(file);
  assert_compiles(0, 1);
  assert_non_null(strstr(remarks, "cuda: the compiled kernel '"));
  assert_non_null(strstr(remarks, "it is damaged; the kernel is compiled again"));
  assert_compiles(1, 0);
}

/* The file is valid, but the driver refuses its image. */
TEST(a_file_that_the_driver_refuses_is_compiled_again)
{
  sim.make_fail("cuModuleLoadDataEx", 1, CUDA_INVALID_IMAGE);
  vyre_target *target = open_with_folder();
  test_compile(target, TEST_DIGIT);
  sim.make_fail(NULL, 0, CUDA_OK);
  assert_int_equal(test_metric(target, "cache_hits"), 0);
  assert_int_equal(test_metric(target, "cache_misses"), 1);
  assert_non_null(strstr(remarks, "the kernel is compiled again"));
  test_close(target);
}

TEST(each_architecture_has_its_own_files)
{
  setenv("VYRE_CUDA_SIM_SM", "90", 1);
  assert_compiles(0, 1);
  assert_compiles(1, 0);
  unsetenv("VYRE_CUDA_SIM_SM");
  assert_compiles(1, 0);
}

TEST(a_text_of_several_kernels_is_loaded_once)
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

TEST(an_error_has_the_compilers_message)
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
  assert_non_null(strstr(vyre_status_text(status), "the driver's compiler reports: line 6: "));
  test_refused(status, "CUDA_ERROR_INVALID_PTX (218)");
  test_close(target);
}

/* With other parameters, the driver would read beyond them. */
TEST(parameters_must_match_the_text)
{
  static const struct {
    uint32_t slots, push, cut;
    const char *entry, *word;
  } cases[] = {{1, 4, 0, "add", "has 3 parameters of 8, 32 and 4 bytes"},
               {2, 8, 0, "add", "needs 3 of 8, 32 and 8 bytes"},
               {2, 4, 0, "ad", "no entry 'ad'"},
               {2, 4, 3, "add", "not complete PTX text"}};
  vyre_target *target = test_open(NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_kernel kernel;
    vyre_kernel_desc desc = *test_kernel_desc(TEST_ADD);
    desc.slot_count = cases[i].slots;
    desc.push_size = cases[i].push;
    desc.size -= cases[i].cut;
    desc.entry = cases[i].entry;
    test_refused(ops->supports(target, &desc), cases[i].word);
    test_refused(ops->compile(target, &desc, &kernel), cases[i].word);
  }
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
