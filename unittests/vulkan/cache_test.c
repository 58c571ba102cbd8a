/* The Vulkan target's cache of compiled kernels in files, which the next target uses.  If a file is damaged, the folder is
 * unusable or a driver's call fails, the target emits a remark and compiles the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"
#include "mix.h"
#include "sweep.h"
#include "vyre/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The layout of a file: a header, whose last 16 bytes are the size and the XXH3 of the data, and the data.  The data begin with
 * Vulkan's header, which contains the device's number. */
enum { HEADER = 72, SIZE_AT = 56, CHECK_AT = 64, DEVICE_AT = 12, MOST_PATH = 256 };

static const fake_vulkan *fake;
static char folder[64]; /* of the test */
static char made[80];   /* the folder that the target creates */
static char inside[96]; /* the folder of its files */

static int
make_folder(void **state)
{
  (void)state;
  fake = fake_vulkan_open(test_file("unittests/libfake-vulkan.so"));
  snprintf(folder, sizeof folder, "/tmp/vyre-cache-XXXXXX");
  if (!fake || !mkdtemp(folder))
    return -1;
  snprintf(made, sizeof made, "%s/made", folder);
  snprintf(inside, sizeof inside, "%s/vulkan", made);
  return 0;
}

static int
remove_folder(void **state)
{
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

/* ---- a target ------------------------------------------------------------------------------------------------------------ */

typedef struct seen {
  uint32_t remarks;
  char text[1024]; /* the last remark */
  uint64_t hits, misses, compiles;
} seen;

static void
keep_remark(void *user, const char *text)
{
  seen *s = user;
  s->remarks++;
  snprintf(s->text, sizeof s->text, "%s", text);
}

static void
keep_metric(void *user, const char *name, uint64_t value)
{
  seen *s = user;
  if (strcmp(name, "cache_hits") == 0)
    s->hits = value;
  if (strcmp(name, "cache_misses") == 0)
    s->misses = value;
  if (strcmp(name, "compiles") == 0)
    s->compiles = value;
}

/* Opens a target, compiles `kernels` different kernels, runs the last one, and closes the target. */
static seen
use(const char *cache, uint32_t kernels)
{
  seen s = {0};
  const vyre_target_options options = {.struct_size = sizeof options,
                                       .library = test_file("unittests/libfake-vulkan.so"),
                                       .cache = cache,
                                       .remark = keep_remark,
                                       .remark_user = &s};
  vyre_target *target;
  vyre_kernel kernel = {0};
  vyre_device_buffer buffer;
  assert_ok(ops->open(&options, NULL, &target));
  for (uint32_t i = 0; i < kernels; i++) {
    const vyre_kernel_spec spec = {.id = 7, .size = 4, .bits = i}; /* not a constant of the code */
    vyre_kernel_desc desc = mix_kernel;
    desc.specs = &spec;
    desc.spec_count = 1;
    assert_ok(ops->compile(target, &desc, &kernel));
  }
  uint32_t word = 5;
  const mix_push push = {0, 3, 2};
  assert_ok(ops->allocate(target, 4, &buffer));
  const vyre_range all = {.buffer = buffer};
  const vyre_upload upload = {all, &word};
  const vyre_step step = mix_step(kernel, &all, &push);
  const vyre_read read = {all, &word};
  assert_ok(ops->submit(target, &(vyre_sequence){NULL, 0, &upload, 1, &step, 1, &read, 1, NULL, 0, NULL, NULL}, NULL));
  assert_int_equal(word, 17);
  ops->metrics(target, keep_metric, &s);
  assert_ok(ops->close(target));
  assert_int_equal(s.compiles, kernels);
  return s;
}

/* Uses `kernels` kernels, and requires these counts, and `words` in the last remark. */
static void
check_use(const char *when, const char *cache, uint32_t kernels, uint64_t hits, uint64_t misses, uint32_t remarks,
          const char *words)
{
  const seen s = use(cache, kernels);
  if (s.hits != hits || s.misses != misses || s.remarks != remarks || !strstr(s.text, words))
    fail_msg("%s: %d hits, %d misses, %d remarks: %s", when, (int)s.hits, (int)s.misses, (int)s.remarks, s.text);
}

/* ---- files --------------------------------------------------------------------------------------------------------------- */

/* Returns the number of files, and the path of the last one. */
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

static vyre_bytes
load(const char *path)
{
  vyre_bytes file = {0};
  assert_ok(vyre_file_read(path, &file));
  assert_true(file.size > HEADER);
  return file;
}

/* Compiles one kernel and returns its file. */
static vyre_bytes
load_file_of_one(char path[MOST_PATH])
{
  use(made, 1);
  assert_int_equal(find_files(path), 1);
  return load(path);
}

static void
save(const char *path, const void *data, size_t size)
{
  assert_ok(vyre_file_write(path, data, size));
}

TEST_WITH(compiled_kernels_are_used_again, make_folder, remove_folder)
{
  char path[MOST_PATH];
  check_use("the first time", made, 3, 0, 3, 0, "");
  assert_int_equal(find_files(path), 3);
  check_use("the second time", made, 4, 3, 1, 0, "");
  assert_int_equal(find_files(path), 4);
  check_use("without a folder", NULL, 2, 0, 0, 0, "");
}

/* Writes these bytes as the kernel's only file.  The target does not use the file, reports the reason in one remark, and writes
 * the file again.  Not every driver compiles a kernel twice to the same bytes. */
static void
check_replaced(const char *what, const char *path, const void *data, size_t size, const vyre_bytes *right, const char *words)
{
  save(path, data, size);
  const seen s = use(made, 1);
  if (s.hits != 0 || s.misses != 1 || s.remarks != 1 || !strstr(s.text, words) || !strstr(s.text, "compiled again") ||
      strchr(s.text, '\n'))
    fail_msg("%s: %d hits, %d misses, %d remarks: '%s'", what, (int)s.hits, (int)s.misses, (int)s.remarks, s.text);
  uint64_t size_and_check[2];
  vyre_bytes now = load(path);
  assert_memory_equal(now.data, right->data, SIZE_AT);
  memcpy(size_and_check, now.data + SIZE_AT, sizeof size_and_check);
  assert_int_equal(size_and_check[0], now.size - HEADER);
  assert_int_equal(size_and_check[1], XXH3_64bits(now.data + HEADER, now.size - HEADER));
  vyre_bytes_free(&now);
  hang_progress();
}

TEST_WITH(damaged_files_are_replaced, make_folder, remove_folder)
{
  char path[MOST_PATH];
  vyre_bytes right = load_file_of_one(path);
  unsigned char *wrong = calloc(1, right.size + 1); /* the right file, except for one change */
  assert_non_null(wrong);
  memcpy(wrong, right.data, right.size);
  const uint32_t stride = sweep_stride((uint32_t)right.size);
  for (size_t at = 0; at < right.size; at += stride) {
    wrong[at] ^= 0x10;
    check_replaced("one bit", path, wrong, right.size, &right,
                   at < 12         ? "another version of vyre"
                   : at < SIZE_AT  ? "another kernel or device"
                   : at < CHECK_AT ? "differs from its header"
                                   : "damaged");
    wrong[at] ^= 0x10;
  }
  for (size_t cut = 0, step; cut < right.size; cut += step) {
    step = stride > 1 ? stride : cut + 7 < HEADER ? 7 : 1;
    check_replaced("cut", path, wrong, cut, &right, cut < HEADER ? "truncated" : "differs from its header");
  }
  check_replaced("longer", path, wrong, right.size + 1, &right, "differs from its header");
  free(wrong);
  vyre_bytes_free(&right);
}

/* Puts the size and the check of the data into the header. */
static void
seal(char *file, uint64_t size)
{
  const uint64_t size_and_check[] = {size, XXH3_64bits(file + HEADER, size)};
  memcpy(file + SIZE_AT, size_and_check, sizeof size_and_check);
}

/* The files are undamaged, but must not be passed to the driver. */
TEST_WITH(files_of_another_device_or_kernel_are_replaced, make_folder, remove_folder)
{
  enum { FEW = 20 };
  char path[MOST_PATH], path2[MOST_PATH];
  vyre_bytes right = load_file_of_one(path), wrong = load(path);
  wrong.data[HEADER + DEVICE_AT]++;
  seal(wrong.data, wrong.size - HEADER);
  check_replaced("data of another device", path, wrong.data, wrong.size, &right, "another device or driver");
  seal(wrong.data, FEW);
  check_replaced("no header of Vulkan's", path, wrong.data, HEADER + FEW, &right, "shorter than Vulkan's header");
  assert_int_equal(remove(path), 0);
  use(made, 2);
  assert_int_equal(remove(path), 0);
  assert_int_equal(find_files(path2), 1);
  vyre_bytes other = load(path2);
  check_replaced("another kernel's", path, other.data, other.size, &right, "another kernel or device");
  assert_int_equal(remove(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  const seen s = use(made, 1);
  assert_int_equal(s.misses, 1);
  assert_int_equal(s.remarks, 2); /* one for the read, and one for the write */
  vyre_bytes_free(&right);
  vyre_bytes_free(&wrong);
  vyre_bytes_free(&other);
}

/* ---- folders and calls --------------------------------------------------------------------------------------------------- */

TEST_WITH(an_unusable_folder_is_reported_once, make_folder, remove_folder)
{
  char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/file", folder);
  save(path, "x", 1);
  check_use("a file", path, 3, 0, 0, 1, "cannot be created: Not a directory");
  /* No byte can be written, as on a full disk. */
  const struct rlimit none = {0, RLIM_INFINITY};
  struct rlimit before;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
  const seen s = use(made, 3);
  setrlimit(RLIMIT_FSIZE, &before);
  assert_true(s.hits == 0 && s.misses == 3 && s.remarks == 1);
  assert_non_null(strstr(s.text, "cannot be written: File too large"));
  assert_int_equal(find_files(path), 0);
  if (geteuid() == 0)
    return; /* root may write anywhere */
  assert_int_equal(chmod(inside, 0500), 0);
  check_use("a read-only folder", made, 3, 0, 3, 1, "");
  assert_int_equal(chmod(inside, 0700), 0);
}

/* Kernels are compiled if calls for kept kernels fail. */
TEST_WITH(calls_for_kept_kernels_may_fail, make_folder, remove_folder)
{
  static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_UNKNOWN, VK_INCOMPLETE};
  static const char *const calls[] = {"vkCreatePipelineCache", "vkGetPipelineCacheData"};
  char path[MOST_PATH], words[64];
  for (uint32_t i = 0; i < 2 * sizeof results / sizeof *results; i++) {
    fake->set(calls[i % 2], results[i / 2]);
    snprintf(words, sizeof words, "%s failed", calls[i % 2]);
    check_use("failing", made, 2, 0, 2, 2, words);
    assert_int_equal(find_files(path), 0);
  }
  fake->set("", VK_SUCCESS);
  use(made, 2);
  fake->set(calls[0], VK_ERROR_UNKNOWN);
  check_use("the files are refused", made, 2, 0, 2, 4, calls[0]); /* both with and without the file's data */
}

/* ---- processes ----------------------------------------------------------------------------------------------------------- */

enum { SHARED_KERNELS = 40 };

/* Processes that write the same files, and read each other's.  They run new programs, because no driver needs to work in a forked
 * process that has used it. */
TEST_WITH(processes_share_the_folder, make_folder, remove_folder)
{
  enum { PROCESSES = 3 };
  pid_t children[PROCESSES];
  char path[MOST_PATH];
  for (uint32_t i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0) {
      execl("/proc/self/exe", "unit-vulkan-cache", "share", made, (char *)NULL);
      _exit(2);
    }
  }
  for (uint32_t i = 0; i < PROCESSES; i++) {
    int result;
    assert_int_equal(waitpid(children[i], &result, 0), children[i]);
    assert_int_equal(result, 0);
  }
  assert_int_equal(find_files(path), SHARED_KERNELS);
  check_use("afterwards", made, SHARED_KERNELS, SHARED_KERNELS, 0, 0, "");
}

/* ---- least recently used files ------------------------------------------------------------------------------------------- */

static void
set_age(const char *path, time_t seconds)
{
  const struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Makes a sparse file that was last used `ago` seconds ago. */
static void
make_file(const char *name, off_t size, time_t ago)
{
  char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/%s", inside, name);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(file >= 0);
  assert_int_equal(ftruncate(file, size), 0);
  close(file);
  set_age(path, ago);
}

static bool
file_exists(const char *name)
{
  char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/%s", inside, name);
  return access(path, F_OK) == 0;
}

TEST_WITH(least_recently_used_files_are_removed, make_folder, remove_folder)
{
  static const struct {
    const char *name;
    off_t size;
    time_t ago;
    bool stays;
  } files[] = {{"00000000000000000000000000000001.pipeline", 100 << 20, 300, true},
               {"00000000000000000000000000000002.pipeline", 100 << 20, 5000, false},
               {"00000000000000000000000000000003.pipeline", 100 << 20, 200, true},
               {".00000000000000000000000000000004.pipeline.1.2", 10, 5000, false},
               {"foreign file", 400 << 20, 9000, true}};
  char path[MOST_PATH];
  use(made, 1);
  assert_int_equal(find_files(path), 1);
  const char *kept = strrchr(path, '/') + 1;
  make_file(kept, 0, 9000);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    make_file(files[i].name, files[i].size, files[i].ago);
  check_use("one is damaged", made, 1, 0, 1, 1, ""); /* its file is written again, and is the newest */
  assert_true(file_exists(kept));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (file_exists(files[i].name) != files[i].stays)
      fail_msg("'%s' %s", files[i].name, files[i].stays ? "is removed" : "stays");
}

TEST_WITH(a_used_file_is_not_the_least_recently_used, make_folder, remove_folder)
{
  static const char young[] = "00000000000000000000000000000001.pipeline";
  char path[MOST_PATH];
  use(made, 1);
  assert_int_equal(find_files(path), 1);
  set_age(path, 9000);
  make_file(young, (256 << 20) - 1, 100);
  check_use("one file exists", made, 2, 1, 1, 0, ""); /* uses the first file, and writes another */
  assert_int_equal(access(path, F_OK), 0);
  assert_false(file_exists(young));
}

/* Arguments: the name of a test, or "share" and the folder that this process shares with others. */
int
main(int argc, char **argv)
{
  if (argc <= 2)
    return run_alone(argc, argv, NULL);
  const seen s = use(argv[2], SHARED_KERNELS);
  return s.remarks == 0 && s.hits + s.misses == SHARED_KERNELS ? 0 : 1;
}
