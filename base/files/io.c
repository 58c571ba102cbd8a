/* Reading and writing files.  A regular file is written to a temporary file in its folder, which is renamed when write and
 * close have succeeded; everything else is written directly.
 *
 * Limits: a process that is killed in between, without a handler that calls vyre_file_abandon, leaves a file called .vyre-PID-N.
 * Nothing is synced.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"
#include "vyre/io.h"

#include "base/files/names.h"
#include "base/files/read.h"
#include "base/files/temporaries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)1 << 31)
#define CHUNK      ((size_t)1 << 16)

#define PERMISSIONS  ((mode_t)0777)
#define SPECIAL_BITS ((mode_t)07000) /* setuid, setgid, sticky: not applied to new contents */

static vyre_status
failed(const char *verb, const char *path, int error)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "cannot %s '%s': %s\nFix: %s", verb, path, strerror(error), file_advice(error));
}

/* Returns the descriptor that a name like /dev/stdout or /proc/self/fd/5 refers to, or -1 for other names. */
static int
named_fd(const char *path)
{
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "/dev/stdin") == 0)
    return STDIN_FILENO;
  if (strcmp(path, "/dev/stdout") == 0)
    return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0)
    return STDERR_FILENO;
  for (int i = 0; i < 2; i++) {
    size_t length = strlen(folders[i]);
    if (strncmp(path, folders[i], length) != 0 || path[length] < '0' || path[length] > '9')
      continue;
    char *end;
    long fd = strtol(path + length, &end, 10);
    return *end == '\0' && fd <= INT_MAX ? (int)fd : -1;
  }
  return -1;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static vyre_status
read_all(int fd, const char *path, size_t expected, vyre_bytes *out)
{
  size_t start = out->size;
  VYRE_TRY(vyre_bytes_reserve(out, start + expected + 1));
  for (;;) {
    if (out->capacity - out->size < 2)
      VYRE_TRY(vyre_bytes_reserve(out, out->size + (out->size - start) / 2 + CHUNK));
    ssize_t got = read(fd, out->data + out->size, out->capacity - out->size - 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return failed("read", path, errno);
    if (got == 0)
      break;
    out->size += (size_t)got;
    out->data[out->size] = '\0';
    if (out->size - start > MOST_BYTES)
      return VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': it has more than 2 GiB\nFix: split it", path);
  }
  return VYRE_OK;
}

/* Returns the kind of a file for messages, or NULL for a regular file.  Callers handle folders. */
static const char *
special_kind(mode_t mode)
{
  return S_ISREG(mode) ? NULL : S_ISFIFO(mode) ? "a FIFO" : S_ISSOCK(mode) ? "a socket" : "a device";
}

static vyre_status
check_readable(const char *path, bool is_plain, const struct stat *file)
{
  const char *what = special_kind(file->st_mode);
  if (S_ISDIR(file->st_mode))
    return failed("read", path, EISDIR);
  if (what)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': it is %s, not a file\nFix: give a file%s", path, what,
                      is_plain ? "" : ", or - with the contents on standard input");
  if ((uint64_t)file->st_size > MOST_BYTES)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': it has more than 2 GiB\nFix: split it", path);
  return VYRE_OK;
}

/* Checks the file before it is opened, because opening has effects on some devices, and after, because it may have been replaced.
 */
static vyre_status
read_path(const char *path, bool is_plain, vyre_bytes *out)
{
  struct stat file;
  if (stat(path, &file) != 0)
    return failed("read", path, errno);
  VYRE_TRY(check_readable(path, is_plain, &file));
  int fd = vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_READS);
  if (fd < 0)
    return failed("read", path, errno);
  vyre_status status = fstat(fd, &file) != 0 ? failed("read", path, errno) : check_readable(path, is_plain, &file);
  if (!status)
    status = read_all(fd, path, (size_t)file.st_size + 1, out);
  close(fd);
  return status;
}

/* If `is_plain` is false, standard input and named descriptors may be any kind of file, because the caller has opened them. */
vyre_status
io_read(const char *path, bool is_plain, vyre_bytes *out)
{
  const bool is_input = !is_plain && strcmp(path, "-") == 0;
  const int fd = is_input ? STDIN_FILENO : is_plain ? -1 : named_fd(path);
  return fd >= 0 ? read_all(fd, is_input ? "standard input" : path, CHUNK, out) : read_path(path, is_plain, out);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

/* Returns 0 or errno. */
static int
write_all(int fd, const char *data, size_t size)
{
  while (size) {
    ssize_t wrote = write(fd, data, size);
    if (wrote < 0 && errno != EINTR)
      return errno;
    if (wrote > 0) {
      data += wrote;
      size -= (size_t)wrote;
    }
  }
  return 0;
}

static vyre_status
write_open_fd(int fd, const char *path, const void *data, size_t size)
{
  int error = write_all(fd, data, size);
  return error ? failed("write", path, error) : VYRE_OK;
}

/* Writes an existing device, FIFO or the like, or a regular file in a folder where no file can be created.  Messages name the file
 * `shown`. */
static vyre_status
write_direct(const char *path, const char *shown, const struct stat *old, const void *data, size_t size)
{
  const bool is_regular = S_ISREG(old->st_mode);
  int fd = vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_WRITES);
  if (fd < 0)
    return failed("write", shown, errno);
  int error = is_regular && ftruncate(fd, 0) != 0 ? errno : 0;
  if (!error && is_regular && (old->st_mode & SPECIAL_BITS) && fchmod(fd, old->st_mode & PERMISSIONS) != 0)
    error = errno;
  if (!error)
    error = write_all(fd, data, size);
  if (error && is_regular && ftruncate(fd, 0) != 0)
    error = errno; /* the partial contents cannot be removed */
  if (close(fd) != 0 && !error)
    error = errno;
  return error ? failed("write", shown, error) : VYRE_OK;
}

/* Creates folder/.vyre-PID-N for path, and returns its descriptor and its name in `out`.  Returns -1 on failure, with errno set. */
static int
open_beside(const char *path, char out[PATH_MAX])
{
  const int folder = (int)(path_name(path) - path);
  for (unsigned n = 0; n < 1000; n++) {
    int length = snprintf(out, PATH_MAX, "%.*s.vyre-%ld-%u", folder, path, (long)getpid(), n);
    if (length < 0 || length >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int fd = vyre_file_open(VYRE_FILE_HERE, out, VYRE_FILE_CREATES);
    if (fd >= 0 || errno != EEXIST)
      return fd;
  }
  errno = EEXIST;
  return -1;
}

static vyre_status
write_beside(const char *path, const char *shown, const struct stat *old, const void *data, size_t size)
{
  char beside[PATH_MAX] = "";
  if (old && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
    return failed("write", shown, errno);          /* a rename would ignore the file's permissions */
  const uint32_t slot = io_note_temporary(beside); /* before the file exists */
  const uint64_t mark = vyre_foreign_mark();
  int fd = open_beside(path, beside);
  if (fd < 0)
    io_forget_temporary(slot);
  if (fd < 0 && old && (errno == EACCES || errno == EPERM || errno == EROFS))
    return write_direct(path, shown, old, data, size);
  if (fd < 0)
    return failed("write", shown, errno);
  int error = write_all(fd, data, size);
  uint32_t mask;
  if (!error && old && fchmod(fd, old->st_mode & PERMISSIONS) != 0)
    error = errno;
  else if (!error && !old && vyre_foreign_umask(mark, &mask) && fchmod(fd, (mode_t)(0666 & ~mask)) != 0)
    error = errno; /* a plugin in another thread may have set the umask */
  if (close(fd) != 0 && !error)
    error = errno;
  if (!error && rename(beside, path) != 0)
    error = errno;
  if (error)
    unlink(beside);
  io_forget_temporary(slot);
  return error ? failed("write", shown, error) : VYRE_OK;
}

/* Follows symbolic links of the path's last name, but not of its folders.  Does not follow names of descriptors like /dev/fd/5.
 * The final target need not exist.  Returns false if there are too many links or the path is too long. */
static bool
resolve_links(const char *path, char out[PATH_MAX])
{
  if ((size_t)snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
    return false;
  for (int hops = 0; hops < 40; hops++) {
    char target[PATH_MAX], joined[PATH_MAX];
    ssize_t length = named_fd(out) >= 0 ? -1 : readlink(out, target, sizeof(target) - 1);
    if (length < 0)
      return true;
    target[length] = '\0';
    const int folder = target[0] != '/' ? (int)(path_name(out) - out) : 0;
    if ((size_t)folder + (size_t)length >= sizeof(joined))
      return false;
    memcpy(joined, out, (size_t)folder);
    memcpy(joined + folder, target, (size_t)length + 1);
    memcpy(out, joined, (size_t)folder + (size_t)length + 1);
  }
  return false;
}

vyre_status
vyre_file_write_as(const char *path, uint32_t flags, const void *data, size_t size)
{
  char target[PATH_MAX];
  if (path[0] == '\0')
    return failed("write", path, ENOENT);
  if (flags & VYRE_FILE_PLAIN)
    return write_beside(path, path, NULL, data, size);
  if (!resolve_links(path, target))
    return failed("write", path, ELOOP);
  const bool is_output = strcmp(path, "-") == 0;
  int fd = is_output ? STDOUT_FILENO : named_fd(target);
  if (fd >= 0)
    return write_open_fd(fd, is_output ? "standard output" : path, data, size);
  struct stat old;
  if (stat(target, &old) != 0)
    return errno == ENOENT ? write_beside(target, path, NULL, data, size) : failed("write", path, errno);
  if (S_ISDIR(old.st_mode))
    return failed("write", path, EISDIR);
  if (S_ISREG(old.st_mode))
    return write_beside(target, path, &old, data, size);
  return write_direct(target, path, &old, data, size);
}
