/* Reads and writes files, as base/files/io.c does.  Writes a temporary file beside the path, and then replaces the file at the
 * path.
 *
 * Line ends are not converted.
 *
 * Limits: those of base/files/io.c.  A file that another program has opened cannot be replaced.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/io.h"

#include "base/files/paths.h"
#include "base/files/read.h"
#include "base/files/temporaries.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <windows.h>

#define MOST_BYTES ((size_t)1 << 31)
#define CHUNK      ((size_t)1 << 16)

static vyre_status
failed(const char *verb, const char *path, int error)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "cannot %s '%s': %s\nFix: %s", verb, path, strerror(error), file_advice(error));
}

/* Opens a file.  Fails for folders and for paths relative to an open folder, which this implementation does not support. */
int
vyre_file_open(int folder, const char *path, vyre_file_use use)
{
  static const int flags[] = {[VYRE_FILE_READS] = O_RDONLY,
                              [VYRE_FILE_WRITES] = O_WRONLY,
                              [VYRE_FILE_CREATES] = O_WRONLY | O_CREAT | O_EXCL,
                              [VYRE_FILE_UPDATES] = O_RDWR | O_CREAT};
  if (use < VYRE_FILE_FOLDER && folder == VYRE_FILE_HERE)
    return open(path, flags[use] | O_BINARY | O_CLOEXEC, S_IREAD | S_IWRITE);
  errno = ENOTSUP;
  return -1;
}

static vyre_status
read_all(int fd, const char *path, size_t expected, vyre_bytes *out)
{
  const size_t start = out->size;
  VYRE_TRY(vyre_bytes_reserve(out, start + expected + 1));
  for (;;) {
    if (out->capacity - out->size < 2)
      VYRE_TRY(vyre_bytes_reserve(out, out->size + (out->size - start) / 2 + CHUNK));
    const size_t room = out->capacity - out->size - 1;
    const int got = read(fd, out->data + out->size, room > INT_MAX ? INT_MAX : (unsigned)room);
    if (got < 0)
      return failed("read", path, errno);
    if (got == 0)
      return VYRE_OK;
    out->size += (size_t)got;
    out->data[out->size] = '\0';
    if (out->size - start > MOST_BYTES)
      return VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': it has more than 2 GiB\nFix: split it", path);
  }
}

static vyre_status
read_path(const char *path, vyre_bytes *out)
{
  struct stat file;
  if (stat(path, &file) != 0)
    return failed("read", path, errno);
  if (S_ISDIR(file.st_mode))
    return failed("read", path, EISDIR);
  if (!S_ISREG(file.st_mode))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cannot read '%s': it is a device, not a file\nFix: give a file, or - with the contents on standard input",
                      path);
  if ((uint64_t)file.st_size > MOST_BYTES)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': it has more than 2 GiB\nFix: split it", path);
  const int fd = vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_READS);
  if (fd < 0)
    return failed("read", path, errno);
  const vyre_status status = read_all(fd, path, (size_t)file.st_size + 1, out);
  close(fd);
  return status;
}

vyre_status
io_read(const char *path, bool is_plain, vyre_bytes *out)
{
  if (is_plain || strcmp(path, "-") != 0)
    return read_path(path, out);
  _setmode(STDIN_FILENO, O_BINARY);
  return read_all(STDIN_FILENO, "standard input", CHUNK, out);
}

/* Writes all bytes.  Returns 0 or an error number. */
static int
write_all(int fd, const char *data, size_t size)
{
  while (size) {
    const int wrote = write(fd, data, size > CHUNK ? (unsigned)CHUNK : (unsigned)size);
    if (wrote <= 0)
      return errno;
    data += wrote;
    size -= (size_t)wrote;
  }
  return 0;
}

/* Writes all bytes to an open file and closes it.  Returns 0 or an error number. */
static int
write_and_close(int fd, const void *data, size_t size)
{
  const int error = write_all(fd, data, size);
  return close(fd) != 0 && !error ? errno : error;
}

/* Creates and opens the file .vyre-PID-N in the folder of `path`, and stores its path in `out`.  Returns -1 and sets errno after a
 * failure. */
static int
open_beside(const char *path, char out[PATH_MAX])
{
  size_t folder = strlen(path);
  while (folder > 0 && !path_is_mark(path[folder - 1]))
    folder--;
  for (unsigned n = 0; n < 1000; n++) {
    const int length = snprintf(out, PATH_MAX, "%.*s.vyre-%d-%u", (int)folder, path, getpid(), n);
    if (length < 0 || length >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return -1;
    }
    const int fd = vyre_file_open(VYRE_FILE_HERE, out, VYRE_FILE_CREATES);
    if (fd >= 0 || errno != EEXIST)
      return fd;
  }
  errno = EEXIST;
  return -1;
}

static int
write_beside(const char *path, const void *data, size_t size)
{
  char beside[PATH_MAX] = "";
  if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
    return EACCES; /* the file is read-only */
  const uint32_t slot = io_note_temporary(beside);
  const int fd = open_beside(path, beside);
  int error = fd < 0 ? errno : write_and_close(fd, data, size);
  if (!error && !MoveFileExA(beside, path, MOVEFILE_REPLACE_EXISTING))
    error = EACCES;
  if (fd >= 0 && error)
    unlink(beside);
  io_forget_temporary(slot);
  return error;
}

static int
write_device(const char *path, const void *data, size_t size)
{
  const int fd = vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_WRITES);
  return fd < 0 ? errno : write_and_close(fd, data, size);
}

vyre_status
vyre_file_write_as(const char *path, uint32_t flags, const void *data, size_t size)
{
  struct stat old;
  int error;
  if (!(flags & VYRE_FILE_PLAIN) && strcmp(path, "-") == 0) {
    _setmode(STDOUT_FILENO, O_BINARY);
    error = write_all(STDOUT_FILENO, data, size);
    return error ? failed("write", "standard output", error) : VYRE_OK;
  }
  if (path[0] == '\0')
    error = ENOENT;
  else if (stat(path, &old) != 0)
    error = errno == ENOENT ? write_beside(path, data, size) : errno;
  else if (S_ISDIR(old.st_mode))
    error = EISDIR;
  else
    error = S_ISREG(old.st_mode) ? write_beside(path, data, size) : write_device(path, data, size);
  return error ? failed("write", path, error) : VYRE_OK;
}
