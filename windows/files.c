/* Implements functions for files and folders (sys/stat.h, stdlib.h, unistd.h, dirent.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <windows.h>

static int
failed(DWORD error)
{
  errno = error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION ? EACCES
          : error == ERROR_FILENAME_EXCED_RANGE                            ? ENAMETOOLONG
                                                                           : ENOENT;
  return -1;
}

int
vyre_stat(const char *path, struct vyre_stat *out)
{
  BY_HANDLE_FILE_INFORMATION info = {0};
  HANDLE file = CreateFileA(path, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (file == INVALID_HANDLE_VALUE)
    return failed(GetLastError());
  const DWORD type = GetFileType(file);
  const bool is_known = type != FILE_TYPE_DISK || GetFileInformationByHandle(file, &info);
  const DWORD error = GetLastError();
  CloseHandle(file);
  if (!is_known)
    return failed(error);
  const uint64_t written = (uint64_t)info.ftLastWriteTime.dwHighDateTime << 32 | info.ftLastWriteTime.dwLowDateTime;
  const int64_t since_1970 = (int64_t)(written - UINT64_C(116444736000000000)); /* in units of 100 ns */
  *out = (struct vyre_stat){
      .st_dev = info.dwVolumeSerialNumber,
      .st_ino = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow,
      .st_mode = type == FILE_TYPE_PIPE                             ? S_IFIFO
                 : type != FILE_TYPE_DISK                           ? S_IFCHR
                 : info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR
                                                                    : S_IFREG,
      .st_size = (int64_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow),
      .st_mtim = {.tv_sec = since_1970 / 10000000, .tv_nsec = (long)(since_1970 % 10000000 * 100)},
  };
  return 0;
}

int
vyre_mkdir(const char *path)
{
  if (CreateDirectoryA(path, NULL))
    return 0;
  const DWORD error = GetLastError();
  failed(error);
  if (error == ERROR_ALREADY_EXISTS)
    errno = EEXIST;
  return -1;
}

static char *
with_slashes(char *path)
{
  for (char *c = path; c && *c; c++)
    *c = *c == '\\' ? '/' : *c;
  return path;
}

char *
vyre_getcwd(char *out, size_t size)
{
  return with_slashes(_getcwd(out, (int)size));
}

char *
realpath(const char *path, char *out)
{
  struct stat file;
  if (stat(path, &file) != 0)
    return NULL;
  const DWORD length = GetFullPathNameA(path, PATH_MAX, out, NULL);
  if (length == 0 || length >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  return with_slashes(out);
}

int
scandir(const char *folder, struct dirent ***out, int (*chooses)(const struct dirent *entry),
        int (*compare)(const struct dirent **a, const struct dirent **b))
{
  DIR *all = opendir(folder);
  struct dirent **found = NULL;
  int count = 0;
  if (!all)
    return -1;
  for (struct dirent *entry; (entry = readdir(all));) {
    if (!chooses(entry))
      continue;
    struct dirent **more = realloc(found, ((size_t)count + 1) * sizeof *more), *copy = malloc(sizeof *copy);
    found = more ? more : found;
    if (!more || !copy) {
      free(copy);
      while (count > 0)
        free(found[--count]);
      free(found);
      closedir(all);
      errno = ENOMEM;
      return -1;
    }
    *copy = *entry;
    found[count++] = copy;
  }
  closedir(all);
  if (count > 1)
    qsort(found, (size_t)count, sizeof *found, (int (*)(const void *, const void *))compare);
  *out = found;
  return count;
}
