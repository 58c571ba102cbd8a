/* What the Vulkan target keeps on the disk: compiled kernels come back; whatever is wrong with files, the folder or the driver's
 * calls is a remark, and kernels compile all the same.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "alone.h"
#include "bundle.h"
#include "fake_vulkan.h"
#include "messages.h"
#include "sweep.h"
#include "vyre/target.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "mix.h"

/* Of a file: its data begin after so many bytes, the last 16 of which are their size and XXH3; in Vulkan's header the device's
 * number is here. */
enum { HEADER = 72, SIZE_AT = 56, CHECK_AT = 64, DEVICE_AT = 12, MOST_FILE = 1 << 20, MOST_PATH = 256 };

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static fake_vulkan_set_function set_failure;
static char folder[64], inside[96];

typedef struct seen {
  uint32_t remarks;
  char text[1024]; /* the last one */
  uint64_t hits, misses, compiles;
} seen;

static int
prepare(void **state)
{
  (void)state;
  void *library = dlopen(test_file("unittests/libfake-vulkan.so"), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "fake_vulkan_set") : NULL;
  memcpy(&set_failure, &symbol, sizeof symbol);
  return symbol ? 0 : -1;
}

/* An empty folder, in which the target makes its own. */
static int
make_folder(void **state)
{
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/vyre-cache-XXXXXX");
  if (!mkdtemp(folder))
    return -1;
  snprintf(inside, sizeof inside, "%s/made/vulkan", folder);
  return 0;
}

static int
remove_folder(void **state)
{
  (void)state;
  char command[128];
  set_failure("", VK_SUCCESS);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

static void
hear(void *user, const char *text)
{
  seen *s = user;
  s->remarks++;
  snprintf(s->text, sizeof s->text, "%s", text);
}

static void
count(void *user, const char *name, uint64_t value)
{
  seen *s = user;
  if (strcmp(name, "cache_hits") == 0)
    s->hits = value;
  if (strcmp(name, "cache_misses") == 0)
    s->misses = value;
  if (strcmp(name, "compiles") == 0)
    s->compiles = value;
}

/* Opens a target, compiles so many kernels of their own, runs the last one, closes. */
static seen
use(const char *cache, uint32_t kernels)
{
  seen s = {0};
  const vyre_target_options options = {
      .library = test_file("unittests/libfake-vulkan.so"), .cache = cache, .remark = hear, .remark_user = &s};
  vyre_target *target;
  vyre_kernel kernel = {0};
  vyre_device_buffer buffer;
  assert_ok(ops->open(&options, NULL, &target));
  for (uint32_t i = 0; i < kernels; i++) {
    const vyre_kernel_spec spec = {.id = 7, .size = 4, .bits = i}; /* the code has no such */
    vyre_kernel_desc desc = mix_kernel;
    desc.specs = &spec;
    desc.spec_count = 1;
    vyre_status status = ops->compile(target, &desc, &kernel);
    if (status)
      fail_msg("%s", vyre_status_text(status));
  }
  uint32_t word = 5;
  const mix_push push = {0, 3, 2};
  assert_ok(ops->allocate(target, 4, &buffer));
  const vyre_range all = {.buffer = buffer};
  const vyre_upload upload = {all, &word};
  const vyre_step step = mix_step(kernel, &all, &push);
  const vyre_read read = {all, &word};
  assert_ok(ops->submit(
      target,
      &(vyre_sequence){.uploads = &upload, .upload_count = 1, .steps = &step, .step_count = 1, .reads = &read, .read_count = 1},
      NULL));
  assert_int_equal(word, 17);
  ops->metrics(target, count, &s);
  assert_ok(ops->close(target));
  assert_int_equal(s.compiles, kernels);
  return s;
}

static const char *
given(void)
{
  static char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/made", folder);
  return path;
}

static void
assert_counts(const char *when, const seen *s, uint64_t hits, uint64_t misses, uint32_t remarks)
{
  if (s->hits != hits || s->misses != misses || s->remarks != remarks)
    fail_msg("%s: %d hits, %d misses, %d remarks: %s", when, (int)s->hits, (int)s->misses, (int)s->remarks, s->text);
}

/* How many files there are; the path of the last of them. */
static uint32_t
find_files(char path[MOST_PATH])
{
  uint32_t files = 0;
  DIR *entries = opendir(inside);
  assert_non_null(entries);
  for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      files++;
      snprintf(path, MOST_PATH, "%.95s/%.100s", inside, entry->d_name);
    }
  closedir(entries);
  return files;
}

static size_t
load(const char *path, unsigned char *out)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t size = fread(out, 1, MOST_FILE, file);
  fclose(file);
  return size;
}

static void
save(const char *path, const unsigned char *data, size_t size)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

TEST_WITH(what_was_compiled_comes_back, make_folder, remove_folder)
{
  char path[MOST_PATH];
  seen s = use(given(), 3);
  assert_counts("the first time", &s, 0, 3, 0);
  assert_int_equal(find_files(path), 3);
  s = use(given(), 4);
  assert_counts("the second time", &s, 3, 1, 0);
  assert_int_equal(find_files(path), 4);
  s = use(NULL, 2);
  assert_counts("without a folder", &s, 0, 0, 0);
}

/* The kernel's one file is not used, one remark says why, and it is whole and of that kernel again: not every driver compiles twice
 * to the same bytes. */
static void
assert_made_anew(const char *what, const char *path, const unsigned char *right, const char *word)
{
  static unsigned char now[MOST_FILE];
  uint64_t size_and_check[2];
  seen s = use(given(), 1);
  assert_counts(what, &s, 0, 1, 1);
  if (!strstr(s.text, word) || !strstr(s.text, "made anew") || strchr(s.text, '\n'))
    fail_msg("%s: '%s'", what, s.text);
  const size_t size = load(path, now);
  assert_true(size > HEADER && size < MOST_FILE);
  assert_memory_equal(now, right, SIZE_AT);
  memcpy(size_and_check, now + SIZE_AT, sizeof size_and_check);
  assert_int_equal(size_and_check[0], size - HEADER);
  assert_int_equal(size_and_check[1], XXH3_64bits(now + HEADER, size - HEADER));
}

TEST_WITH(files_that_are_wrong_are_made_anew, make_folder, remove_folder)
{
  static unsigned char right[MOST_FILE], wrong[MOST_FILE];
  char path[MOST_PATH];
  use(given(), 1);
  assert_int_equal(find_files(path), 1);
  const size_t size = load(path, right);
  assert_true(size > HEADER && size < MOST_FILE);
  const uint32_t stride = sweep_stride((uint32_t)size);
  for (size_t at = 0; at < size; at += stride) {
    memcpy(wrong, right, size);
    wrong[at] ^= 0x10;
    save(path, wrong, size);
    assert_made_anew("one bit", path, right,
                     at < 12         ? "none of this version's"
                     : at < SIZE_AT  ? "of another kernel or device"
                     : at < CHECK_AT ? "another size"
                                     : "damaged");
  }
  for (size_t cut = 0; cut<size; cut += stride> 1 ? stride : cut + 7 < HEADER ? 7 : 1) {
    save(path, right, cut);
    assert_made_anew("cut", path, right, cut < HEADER ? "cut short" : "another size");
  }
  memcpy(wrong, right, size);
  save(path, wrong, size + 1);
  assert_made_anew("longer", path, right, "another size");
}

/* Whole, but not what a driver may be given. */
TEST_WITH(files_of_others_are_made_anew, make_folder, remove_folder)
{
  static unsigned char right[MOST_FILE], other[MOST_FILE], wrong[MOST_FILE];
  char path[MOST_PATH], path2[MOST_PATH], aside[MOST_PATH];
  use(given(), 1);
  assert_int_equal(find_files(path), 1);
  const size_t size = load(path, right);
  memcpy(wrong, right, size);
  wrong[HEADER + DEVICE_AT] ^= 1;
  const uint64_t check = XXH3_64bits(wrong + HEADER, size - HEADER);
  memcpy(wrong + CHECK_AT, &check, sizeof check);
  save(path, wrong, size);
  assert_made_anew("data of another device", path, right, "another device's");
  const uint64_t few = 20, few_check = XXH3_64bits(right + HEADER, few);
  memcpy(wrong, right, size);
  memcpy(wrong + SIZE_AT, &few, sizeof few);
  memcpy(wrong + CHECK_AT, &few_check, sizeof few_check);
  save(path, wrong, HEADER + few);
  assert_made_anew("no header of Vulkan's", path, right, "no header");
  /* The file of another kernel under this one's name. */
  snprintf(aside, sizeof aside, "%s/aside", folder);
  assert_int_equal(rename(path, aside), 0);
  seen s = use(given(), 2);
  assert_counts("two kernels", &s, 0, 2, 0);
  assert_int_equal(remove(path), 0);
  assert_int_equal(find_files(path2), 1);
  const size_t other_size = load(path2, other);
  save(path, other, other_size);
  assert_made_anew("another kernel's", path, right, "of another kernel or device");
  /* No file at all. */
  assert_int_equal(remove(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  s = use(given(), 1);
  assert_int_equal(s.misses, 1);
  assert_int_equal(s.remarks, 2); /* that it is not read, and not written */
}

TEST_WITH(a_folder_that_cannot_be_used_is_said_once, make_folder, remove_folder)
{
  char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/file", folder);
  save(path, (const unsigned char *)"x", 1);
  seen s = use(path, 3);
  assert_counts("a file is there", &s, 0, 0, 1);
  if (!strstr(s.text, "cannot be made: Not a directory"))
    fail_msg("'%s'", s.text);
  /* No byte may be written: as on a disk that is full. */
  const struct rlimit none = {0, RLIM_INFINITY};
  struct rlimit before;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
  s = use(given(), 3);
  setrlimit(RLIMIT_FSIZE, &before);
  assert_counts("it is full", &s, 0, 3, 1);
  if (!strstr(s.text, "cannot be written: File too large"))
    fail_msg("'%s'", s.text);
  assert_int_equal(find_files(path), 0);
  if (geteuid() == 0)
    return; /* who may write anywhere */
  assert_int_equal(chmod(inside, 0500), 0);
  s = use(given(), 3);
  assert_int_equal(chmod(inside, 0700), 0);
  assert_counts("it is read-only", &s, 0, 3, 1);
}

/* None of these has to do with whether the kernel compiles. */
TEST_WITH(calls_that_fail_are_survived, make_folder, remove_folder)
{
  static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_UNKNOWN, VK_INCOMPLETE};
  char path[MOST_PATH];
  for (uint32_t i = 0; i < sizeof results / sizeof *results; i++) {
    set_failure("vkCreatePipelineCache", results[i]);
    seen s = use(given(), 2);
    assert_counts("none can be made", &s, 0, 2, 2);
    assert_non_null(strstr(s.text, "vkCreatePipelineCache failed"));
    set_failure("vkGetPipelineCacheData", results[i]);
    s = use(given(), 2);
    assert_counts("none can be read", &s, 0, 2, 2);
    assert_non_null(strstr(s.text, "vkGetPipelineCacheData failed"));
    assert_int_equal(find_files(path), 0);
  }
  set_failure("", VK_SUCCESS);
  use(given(), 2);
  set_failure("vkCreatePipelineCache", VK_ERROR_UNKNOWN);
  seen s = use(given(), 2); /* neither with what was kept nor without */
  assert_counts("what was kept is refused", &s, 0, 2, 4);
}

enum { SHARED_KERNELS = 40 };

/* Programs of their own: no driver has to work in a copy of a process that has used it. */
static int
share(const char *cache)
{
  const seen s = use(cache, SHARED_KERNELS);
  return s.remarks == 0 && s.hits + s.misses == SHARED_KERNELS ? 0 : 1;
}

/* Processes that all write the same files, and read those of the others. */
TEST_WITH(processes_share_the_folder, make_folder, remove_folder)
{
  enum { PROCESSES = 3 };
  pid_t children[PROCESSES];
  char path[MOST_PATH];
  for (uint32_t i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0) {
      execl("/proc/self/exe", "unit-vulkan-cache", "share", given(), (char *)NULL);
      _exit(2);
    }
  }
  for (uint32_t i = 0; i < PROCESSES; i++) {
    int result;
    assert_int_equal(waitpid(children[i], &result, 0), children[i]);
    assert_int_equal(result, 0);
  }
  assert_int_equal(find_files(path), SHARED_KERNELS);
  const seen s = use(given(), SHARED_KERNELS);
  assert_counts("afterwards", &s, SHARED_KERNELS, 0, 0);
}

/* A file without blocks, last used so many seconds ago. */
static void
make_file(const char *name, off_t size, time_t ago)
{
  char path[MOST_PATH];
  struct timespec times[2] = {{time(NULL) - ago, 0}, {time(NULL) - ago, 0}};
  snprintf(path, sizeof path, "%s/%s", inside, name);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(file >= 0);
  assert_int_equal(ftruncate(file, size), 0);
  assert_int_equal(futimens(file, times), 0);
  close(file);
}

static bool
is_there(const char *name)
{
  char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/%s", inside, name);
  return access(path, F_OK) == 0;
}

TEST_WITH(what_was_not_used_for_longest_goes, make_folder, remove_folder)
{
  static const char *const names[] = {"00000000000000000000000000000001.pipeline", "00000000000000000000000000000002.pipeline",
                                      "00000000000000000000000000000003.pipeline", ".00000000000000000000000000000004.pipeline.1.2",
                                      "somebody else's"};
  char path[MOST_PATH];
  use(given(), 1);
  assert_int_equal(find_files(path), 1);
  const char *kept = strrchr(path, '/') + 1;
  make_file(kept, 0, 9000);
  make_file(names[0], 100 << 20, 300);
  make_file(names[1], 100 << 20, 5000);
  make_file(names[2], 100 << 20, 200);
  make_file(names[3], 10, 5000);
  make_file(names[4], 400 << 20, 9000);
  const seen s = use(given(), 1); /* writes it anew: it is the newest now */
  assert_counts("one is damaged", &s, 0, 1, 1);
  assert_true(is_there(kept));
  assert_true(is_there(names[0]));
  assert_false(is_there(names[1]));
  assert_true(is_there(names[2]));
  assert_false(is_there(names[3]));
  assert_true(is_there(names[4]));
}

TEST_WITH(what_is_used_is_not_the_oldest, make_folder, remove_folder)
{
  static const char young[] = "00000000000000000000000000000001.pipeline";
  static unsigned char data[MOST_FILE];
  char path[MOST_PATH];
  use(given(), 1);
  assert_int_equal(find_files(path), 1);
  const size_t size = load(path, data);
  make_file(strrchr(path, '/') + 1, 0, 9000);
  struct timespec times[2] = {{time(NULL) - 9000, 0}, {time(NULL) - 9000, 0}};
  save(path, data, size);
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
  make_file(young, (256 << 20) - 1, 100);
  const seen s = use(given(), 2); /* uses the first, writes another */
  assert_counts("one is there", &s, 1, 1, 0);
  assert_int_equal(access(path, F_OK), 0);
  assert_false(is_there(young));
}

/* Arguments: a test's name, or "share" and the folder of which it is one of several processes. */
int
main(int argc, char **argv)
{
  if (argc > 2)
    return share(argv[2]);
  return run_alone(argc, argv, prepare, NULL);
}
