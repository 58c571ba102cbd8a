/* Implements the disk cache of files.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vyre/io.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MOST_FOLDER (UINT64_C(256) << 20)
#define ABANDONED   3600 /* seconds after which a temporary file has no writer any more */
#define REMARK_SIZE 1024
#define KEY_DIGITS  32
#define NAME_SIZE   128

/* In the machine's byte order. A file with the other byte order has a different version. */
typedef struct file_header {
  char magic[8];
  uint32_t version;
  unsigned char identity[TARGET_FILES_IDENTITY];
  uint64_t key[2]; /* of the kernel */
  uint64_t size;   /* bytes after the header */
  uint64_t check;  /* XXH3 of these bytes */
} file_header;

static_assert(sizeof(file_header) == 72, "a file header has padding");

void
target_files_remark(const target_files *files, const char *format, ...)
{
  char text[REMARK_SIZE], name[16];
  va_list arguments;
  if (!files->remark)
    return;
  snprintf(name, sizeof name, "%s", files->target);
  const int length = snprintf(text, sizeof text, "%s: ", name);
  va_start(arguments, format);
  vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
  va_end(arguments);
  files->remark(files->remark_user, text);
}

/* Reports only the first failure: later kernels would fail in the same way. */
static void
report_not_kept(target_files *files, const char *what, int error)
{
  if (!files->is_reported)
    target_files_remark(files, "compiled kernels are not cached: the folder '%.700s' cannot be %s: %s", files->folder, what,
                        strerror(error));
  files->is_reported = true;
}

/* The text of the status may begin with the target's name, which target_files_remark adds. */
void
target_files_remark_status(const target_files *files, vyre_status status, const char *then)
{
  const char *text = vyre_status_text(status);
  const size_t name = strlen(files->target);
  if (strncmp(text, files->target, name) == 0 && strncmp(text + name, ": ", 2) == 0)
    text += name + 2;
  target_files_remark(files, "%.*s; %s", (int)strcspn(text, "\n"), text, then);
  vyre_status_free(status);
}

/* ---- the folder ---------------------------------------------------------------------------------------------------------- */

vyre_status
target_files_open(target_files *files, const vyre_target_options *options)
{
  files->descriptor = -1;
  files->remark = options->remark;
  files->remark_user = options->remark_user;
  if (!options->cache || options->statistics) /* kernels for statistics are compiled anew */
    return VYRE_OK;
  files->folder_size = strlen(options->cache) + strlen(files->target) + 2;
  files->folder = vyre_allocate(files->allocator, files->folder_size);
  if (!files->folder)
    return VYRE_OUT_OF_MEMORY("for the cache of compiled kernels");
  snprintf(files->folder, files->folder_size, "%s/%s", options->cache, files->target);
  return VYRE_OK;
}

/* Makes all folders of the path. Existing folders are not an error. */
static int
make_folders(char *path)
{
  int result = 0;
  for (char *at = path + 1;; at++) {
    const char c = *at;
    if (c != '/' && c != '\0')
      continue;
    *at = '\0';
    result = mkdir(path, 0700);
    *at = c;
    if (c == '\0')
      return result == 0 || errno == EEXIST ? 0 : -1;
  }
}

bool
target_files_are_kept(target_files *files)
{
  if (files->descriptor >= 0 || !files->folder || files->is_reported)
    return files->descriptor >= 0;
  if (make_folders(files->folder) == 0)
    files->descriptor = vyre_file_open(VYRE_FILE_HERE, files->folder, VYRE_FILE_FOLDER);
  if (files->descriptor < 0)
    report_not_kept(files, "created", errno);
  return files->descriptor >= 0;
}

/* Returns whether the file belongs to the cache: 32 digits and the suffix. A temporary file has a '.' before that and more after
 * it. */
static bool
is_cache_file(const target_files *files, const char *name, bool *out_temporary)
{
  *out_temporary = name[0] == '.';
  const char *digits = name + *out_temporary, *end = digits + strspn(digits, "0123456789abcdef");
  const size_t ending = strlen(files->ending);
  return end == digits + KEY_DIGITS && strncmp(end, files->ending, ending) == 0 && strlen(name) < NAME_SIZE &&
         (*out_temporary || end[ending] == '\0');
}

static bool
is_older(const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Returns the bytes of all files, and finds the least recently used one, or "" if there is none. Removes abandoned temporary
 * files. */
static uint64_t
measure_files(const target_files *files, DIR *entries, char oldest[NAME_SIZE])
{
  struct timespec used = {0};
  uint64_t bytes = 0;
  oldest[0] = '\0';
  rewinddir(entries);
  for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    struct stat found;
    bool is_temporary;
    if (!is_cache_file(files, entry->d_name, &is_temporary) ||
        fstatat(dirfd(entries), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(found.st_mode))
      continue;
    if (is_temporary && found.st_mtim.tv_sec < time(NULL) - ABANDONED)
      unlinkat(dirfd(entries), entry->d_name, 0);
    if (is_temporary)
      continue;
    bytes += (uint64_t)found.st_size;
    if (oldest[0] && !is_older(&found.st_mtim, &used))
      continue;
    used = found.st_mtim;
    snprintf(oldest, NAME_SIZE, "%s", entry->d_name);
  }
  return bytes;
}

/* Removes the least recently used files until the rest fits. Two processes that do so at the same time may remove more than
 * necessary, which costs a compilation for each file. */
static void
trim(const target_files *files)
{
  const int again = vyre_file_open(files->descriptor, ".", VYRE_FILE_FOLDER);
  DIR *entries = again >= 0 ? fdopendir(again) : NULL;
  char oldest[NAME_SIZE];
  while (entries && measure_files(files, entries, oldest) > MOST_FOLDER && unlinkat(again, oldest, 0) == 0) {
  }
  if (entries)
    closedir(entries);
  else if (again >= 0)
    close(again);
}

void
target_files_close(target_files *files)
{
  if (!files->folder)
    return;
  if (files->is_written)
    trim(files);
  if (files->descriptor >= 0)
    close(files->descriptor);
  vyre_release(files->allocator, files->folder, files->folder_size);
  files->folder = NULL;
}

/* ---- the identity of a file ---------------------------------------------------------------------------------------------- */

/* Returns the header of a file for the key on this device, without the fields of the data. */
static file_header
header_of(const target_files *files, const uint64_t key[2])
{
  file_header header = {.version = files->version, .key = {key[0], key[1]}};
  memcpy(header.magic, files->magic, sizeof header.magic);
  memcpy(header.identity, files->identity, sizeof header.identity);
  return header;
}

/* Hashes the header, so that the files of other devices and drivers have different names. */
static void
name_file(const target_files *files, const file_header *header, char name[NAME_SIZE])
{
  const XXH128_hash_t hash = XXH3_128bits(header, offsetof(file_header, size));
  snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 "%s", (uint64_t)hash.high64, (uint64_t)hash.low64, files->ending);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static bool
read_all(int file, void *to, size_t size)
{
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(file, (char *)to + done, size - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += (size_t)got;
  }
  return true;
}

typedef const char *find_foreign(const void *user, const unsigned char *data, uint64_t size);

/* Returns the reason why the file is not valid, or NULL if it is; the caller then owns the data. */
static const char *
read_data(const target_files *files, int file, const file_header *wanted, find_foreign *find, const void *user, void **out,
          uint64_t *out_size)
{
  struct stat found;
  file_header header;
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode))
    return "it is not a regular file";
  if (!read_all(file, &header, sizeof header))
    return "it is truncated";
  if (memcmp(header.magic, wanted->magic, sizeof header.magic) != 0 || header.version != wanted->version)
    return "another version of vyre wrote it";
  if (memcmp(&header, wanted, offsetof(file_header, size)) != 0)
    return "it belongs to another kernel or device";
  if (header.size > TARGET_FILES_MOST || (uint64_t)found.st_size != sizeof header + header.size)
    return "its size differs from its header";
  unsigned char *data = target_resize(files->allocator, NULL, 0, (size_t)header.size + 1);
  if (!data)
    return "there is not enough memory to read it";
  const char *wrong = !read_all(file, data, (size_t)header.size)               ? "it is truncated"
                      : XXH3_64bits(data, (size_t)header.size) != header.check ? "it is damaged"
                      : find                                                   ? find(user, data, header.size)
                                                                               : NULL;
  if (wrong) {
    vyre_release(files->allocator, data, (size_t)header.size + 1);
    return wrong;
  }
  *out = data;
  *out_size = header.size;
  return NULL;
}

bool
target_files_read(const target_files *files, const uint64_t key[2], find_foreign *find, const void *user, void **out,
                  uint64_t *out_size)
{
  const file_header wanted = header_of(files, key);
  char name[NAME_SIZE];
  name_file(files, &wanted, name);
  const int file = vyre_file_open(files->descriptor, name, VYRE_FILE_READS);
  const int error = errno;
  if (file < 0 && error == ENOENT)
    return false;
  const char *wrong = file < 0 ? strerror(error) : read_data(files, file, &wanted, find, user, out, out_size);
  if (wrong)
    target_files_remark(files, "the compiled kernel '%.500s/%s' is not used: %s; the kernel is compiled again", files->folder, name,
                        wrong);
  else
    futimens(file, NULL); /* fails if the file is not writable */
  if (file >= 0)
    close(file);
  return !wrong;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

static bool
write_all(int file, const void *from, size_t size)
{
  for (size_t done = 0; done < size;) {
    const ssize_t put = write(file, (const char *)from + done, size - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    done += (size_t)put;
  }
  return true;
}

void
target_files_write(target_files *files, const uint64_t key[2], const void *data, uint64_t size)
{
  file_header header = header_of(files, key);
  char name[NAME_SIZE], temporary[2 * NAME_SIZE];
  name_file(files, &header, name);
  snprintf(temporary, sizeof temporary, ".%s.%ld.%" PRIx64, name, (long)getpid(), clock_now());
  header.size = size;
  header.check = XXH3_64bits(data, (size_t)size);
  const int file = vyre_file_open(files->descriptor, temporary, VYRE_FILE_CREATES);
  bool is_done =
      file >= 0 && fchmod(file, 0600) == 0 && write_all(file, &header, sizeof header) && write_all(file, data, (size_t)size);
  int error = errno;
  if (file >= 0 && close(file) != 0 && is_done) {
    is_done = false;
    error = errno;
  }
  if (is_done && renameat(files->descriptor, temporary, files->descriptor, name) != 0) {
    is_done = false;
    error = errno;
  }
  if (!is_done && file >= 0)
    unlinkat(files->descriptor, temporary, 0);
  if (!is_done)
    report_not_kept(files, "written", error);
  files->is_written |= is_done;
}
