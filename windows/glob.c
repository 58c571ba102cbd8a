/* Implements glob.h: finds names that match *, ? and [ab], folder by folder.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <glob.h>

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns whether c matches the bracket expression at `set`.  *out_end is the end of the expression.  Without a closing bracket,
 * only
 * "[" matches. */
static bool
is_one_of(const char *set, char c, const char **out_end)
{
  const bool is_other = set[1] == '!';
  const char *at = set + 1 + is_other, *first = at;
  bool found = false;
  for (; *at && (*at != ']' || at == first); at++)
    if (at[1] == '-' && at[2] && at[2] != ']') {
      found |= *at <= c && c <= at[2];
      at += 2;
    } else {
      found |= *at == c;
    }
  *out_end = *at ? at + 1 : set + 1;
  return *at ? found != is_other : c == '[';
}

static bool
matches(const char *pattern, const char *name)
{
  for (; *pattern && *pattern != '*'; name++) {
    const char *end = pattern + 1;
    if (!*name || (*pattern == '[' ? !is_one_of(pattern, *name, &end) : *pattern != '?' && *pattern != *name))
      return false;
    pattern = end;
  }
  if (!*pattern)
    return !*name;
  for (;; name++) {
    if (matches(pattern + 1, name))
      return true;
    if (!*name)
      return false;
  }
}

static int
append(glob_t *to, const char *path)
{
  char **all = realloc(to->gl_pathv, (to->gl_pathc + 1) * sizeof *all), *copy = strdup(path);
  if (all)
    to->gl_pathv = all;
  if (!all || !copy) {
    free(copy);
    return GLOB_NOSPACE;
  }
  all[to->gl_pathc++] = copy;
  return 0;
}

/* Finds the paths that begin with the first `length` bytes of `path` and then match the pattern. */
static int
find(char path[PATH_MAX], size_t length, const char *pattern, glob_t *to)
{
  char part[PATH_MAX];
  const size_t size = strcspn(pattern, "/");
  const char *rest = pattern + size + strspn(pattern + size, "/");
  if (!*pattern)
    return access(path, F_OK) == 0 ? append(to, path) : 0;
  if (length + size + 2 > PATH_MAX)
    return 0;
  memcpy(part, pattern, size);
  part[size] = '\0';
  if (!strpbrk(part, "*?[")) {
    sprintf(path + length, "%s%s", part, pattern[size] ? "/" : "");
    return find(path, length + size + (pattern[size] != '\0'), rest, to);
  }
  path[length] = '\0';
  DIR *folder = opendir(length ? path : ".");
  int ended = 0;
  for (struct dirent *entry; folder && !ended && (entry = readdir(folder));) {
    const size_t used = strlen(entry->d_name);
    if ((entry->d_name[0] == '.' && part[0] != '.') || !matches(part, entry->d_name) || length + used + 2 > PATH_MAX)
      continue;
    sprintf(path + length, "%s%s", entry->d_name, pattern[size] ? "/" : "");
    ended = find(path, length + used + (pattern[size] != '\0'), rest, to);
  }
  if (folder)
    closedir(folder);
  return ended;
}

static int
by_bytes(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

int
glob(const char *pattern, int flags, int (*on_error)(const char *path, int error), glob_t *out)
{
  char path[PATH_MAX] = "";
  (void)flags, (void)on_error;
  *out = (glob_t){0};
  size_t begin = strspn(pattern, "/");
  if (pattern[0] && pattern[1] == ':')
    begin = 2 + strspn(pattern + 2, "/");
  if (begin >= sizeof path)
    return GLOB_NOMATCH;
  memcpy(path, pattern, begin);
  int ended = find(path, begin, pattern + begin, out);
  if (!ended && out->gl_pathc == 0)
    ended = GLOB_NOMATCH;
  if (ended)
    globfree(out);
  else
    qsort(out->gl_pathv, out->gl_pathc, sizeof *out->gl_pathv, by_bytes);
  return ended;
}

void
globfree(glob_t *found)
{
  for (size_t i = 0; i < found->gl_pathc; i++)
    free(found->gl_pathv[i]);
  free(found->gl_pathv);
  *found = (glob_t){0};
}
