/* Docs at same_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "same_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *
file_base(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The path, with all links in what of it is there.  False: it is too long. */
static bool
resolve(const char *path, char out[PATH_MAX])
{
  char head[PATH_MAX];
  if ((size_t)snprintf(head, sizeof head, "%s%s", path[0] == '/' ? "" : "./", path) >= sizeof head)
    return false;
  char *end = head + strlen(head);
  while (end > head && !realpath(head, out)) {
    end = strrchr(head, '/');
    *end = '\0';
  }
  if (end == head)
    strcpy(out, "/");
  char *rest = NULL;
  snprintf(head, sizeof head, "%s%s", path[0] == '/' ? "" : "./", path);
  for (char *part = strtok_r(end, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
    const size_t used = strlen(out);
    if (strcmp(part, ".") != 0 && (size_t)snprintf(out + used, PATH_MAX - used, "/%s", part) >= PATH_MAX - used)
      return false;
  }
  return true;
}

bool
same_file(const char *a, const char *b)
{
  struct stat x, y;
  if (strcmp(a, b) == 0)
    return true;
  const bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
  if (has_a != has_b)
    return false;
  if (has_a && (!S_ISREG(x.st_mode) || !S_ISREG(y.st_mode))) /* a terminal takes what all say */
    return false;
  char first[PATH_MAX], second[PATH_MAX];
  if (!has_a)
    return resolve(a, first) && resolve(b, second) && strcmp(first, second) == 0;
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
