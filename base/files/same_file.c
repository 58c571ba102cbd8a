/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/same_file.h"

#include "base/files/names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Resolves the links of the longest part of a path that exists, and appends the rest.  Returns false if the path is too
 * long. */
static bool
resolve_folders(const char *path, char out[PATH_MAX])
{
  char whole[PATH_MAX], head[PATH_MAX];
  if ((size_t)snprintf(whole, sizeof whole, "%s%s", path[0] == '/' ? "" : "./", path) >= sizeof whole)
    return false;
  strcpy(head, whole);
  char *end = head + strlen(head);
  while (end > head && !realpath(head, out)) {
    end = strrchr(head, '/');
    *end = '\0';
  }
  if (end == head)
    strcpy(out, "/");
  char *rest = NULL;
  for (char *part = strtok_r(whole + (end - head), "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
    const size_t used = strlen(out);
    if (strcmp(part, ".") != 0 && (size_t)snprintf(out + used, PATH_MAX - used, "/%s", part) >= PATH_MAX - used)
      return false;
  }
  return true;
}

/* Resolves the path that a write would create.  A link may lead to a file that does not exist yet. */
static bool
resolve(const char *path, char out[PATH_MAX])
{
  char at[PATH_MAX], target[PATH_MAX], next[PATH_MAX];
  if ((size_t)snprintf(at, sizeof at, "%s", path) >= sizeof at)
    return false;
  for (int links = 0; links < 40; links++) {
    const ssize_t length = readlink(at, target, sizeof target - 1);
    if (length < 0)
      return resolve_folders(at, out);
    const int folder = target[0] == '/' ? 0 : (int)(path_name(at) - at);
    if ((size_t)snprintf(next, sizeof next, "%.*s%.*s", folder, at, (int)length, target) >= sizeof next)
      return false;
    strcpy(at, next);
  }
  return false;
}

bool
same_file(const char *a, const char *b)
{
  struct stat x, y;
  const bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
  if (has_a != has_b)
    return false;
  if (has_a && (!S_ISREG(x.st_mode) || !S_ISREG(y.st_mode))) /* several writers may share a device */
    return false;
  if (strcmp(a, b) == 0)
    return true;
  char first[PATH_MAX], second[PATH_MAX];
  if (!has_a)
    return resolve(a, first) && resolve(b, second) && strcmp(first, second) == 0;
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool
is_link(const char *path)
{
  struct stat at;
  return lstat(path, &at) == 0 && S_ISLNK(at.st_mode);
}

bool
same_written(const char *a, const char *b)
{
  return (strcmp(path_name(a), path_name(b)) == 0 || is_link(a) || is_link(b)) && same_file(a, b);
}
