/* The parts of file reading that all systems share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/files/read.h"

#include <errno.h>
#include <string.h>

const char *
file_advice(int error)
{
  switch (error) {
  case ENOENT:
    return "check the path";
  case ENOTDIR:
    return "check the folders of the path";
  case EISDIR:
    return "give the path of a file";
  case EACCES:
  case EPERM:
    return "change its permissions, or give another path";
  case EROFS:
    return "give a path that can be written";
  case ENOSPC:
#ifdef EDQUOT /* not on Windows */
  case EDQUOT:
#endif
    return "free space, or give a path on another disk";
  case EFBIG:
    return "raise the limit of the size of files (ulimit -f)";
  case EMFILE:
  case ENFILE:
    return "close files, or raise the limit of open files (ulimit -n)";
  default:
    return "check the path and the disk, or give another path";
  }
}

vyre_status
io_is_utf16(const char *path)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': the text is UTF-16\nFix: save it as UTF-8",
                    strcmp(path, "-") == 0 ? "standard input" : path);
}

vyre_status
io_remove_mark(const char *path, vyre_bytes *text, size_t from)
{
  const int mark = text->size > from ? vyre_text_mark(text->data + from, text->size - from) : 0;
  if (mark < 0)
    return io_is_utf16(path);
  if (mark == 0)
    return VYRE_OK;
  const size_t begin = from + (size_t)mark;
  memmove(text->data + from, text->data + begin, text->size - begin);
  text->size -= (size_t)mark;
  text->data[text->size] = '\0'; /* there is room, because the text became shorter */
  return VYRE_OK;
}

vyre_status
vyre_file_read_as(const char *path, uint32_t flags, vyre_bytes *out)
{
  const size_t before = out->size;
  vyre_status status = io_read(path, flags & VYRE_FILE_PLAIN, out);
  if (!status && (flags & VYRE_FILE_TEXT))
    status = io_remove_mark(path, out, before);
  return vyre_bytes_undo(out, before, status);
}

vyre_status
vyre_file_read(const char *path, vyre_bytes *out)
{
  return vyre_file_read_as(path, 0, out);
}

vyre_status
vyre_file_write(const char *path, const void *data, size_t size)
{
  return vyre_file_write_as(path, 0, data, size);
}
