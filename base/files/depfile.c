/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/depfile.h"

#include "base/grow.h"
#include "base/files/names.h"
#include "vyre/io.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

vyre_status
depfile_add_path(vyre_bytes *text, const char *path)
{
  vyre_status status = NULL;
  for (; *path && !status; path++)
    status = vyre_bytes_printf(text, *path == '$' ? "$%c" : *path == ' ' || *path == '#' || *path == ':' ? "\\%c" : "%c", *path);
  return status;
}

/* Paths in the order of their discovery. */
typedef struct paths {
  char **all;
  uint32_t count, capacity;
} paths;

typedef struct inclusion {
  paths files; /* existing files; all but the first are includes */
  paths missing;
  const char *const *folders;
  uint32_t folder_count;
} inclusion;

static bool
is_file(const char *path)
{
  struct stat file;
  return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

static vyre_status
add(paths *to, const char *path)
{
  for (uint32_t i = 0; i < to->count; i++)
    if (strcmp(to->all[i], path) == 0)
      return VYRE_OK;
  char *copy = NULL;
  if (!vyre_grow(NULL, &to->all, &to->capacity, to->count + 1, sizeof *to->all) || !(copy = strdup(path)))
    return VYRE_OUT_OF_MEMORY("for a dependency file");
  to->all[to->count++] = copy;
  return VYRE_OK;
}

static void
free_paths(paths *p)
{
  for (uint32_t i = 0; i < p->count; i++)
    free(p->all[i]);
  free(p->all);
}

/* Adds the path.  If the file does not exist, also adds the path with slashes for the backslashes of the included name, which
 * begins at `name`. */
static vyre_status
add_candidate(inclusion *to, char *path, size_t name, bool *out_found)
{
  *out_found = is_file(path);
  VYRE_TRY(add(*out_found ? &to->files : &to->missing, path));
  char *at = *out_found ? NULL : strchr(path + name, '\\');
  if (!at)
    return VYRE_OK;
  for (; at; at = strchr(at, '\\'))
    *at = '/';
  *out_found = is_file(path);
  return add(*out_found ? &to->files : &to->missing, path);
}

/* Searches an include in the folder of `from` if it is in quotes, then in the folders of -I. */
static vyre_status
add_found(inclusion *to, const char *from, const char *name, size_t length, bool is_local)
{
  char path[PATH_MAX];
  bool is_found = false;
  if (is_local) {
    const int folder = (int)(path_name(from) - from);
    if ((size_t)snprintf(path, sizeof path, "%.*s%.*s", folder, from, (int)length, name) < sizeof path)
      VYRE_TRY(add_candidate(to, path, (size_t)folder, &is_found));
  }
  for (uint32_t i = 0; i < to->folder_count && !is_found; i++)
    if ((size_t)snprintf(path, sizeof path, "%s/%.*s", to->folders[i], (int)length, name) < sizeof path)
      VYRE_TRY(add_candidate(to, path, strlen(to->folders[i]) + 1, &is_found));
  return VYRE_OK;
}

/* Returns the number of times that the text contains "include", with continued lines joined. */
static uint32_t
count_words(const char *text, size_t length)
{
  static const char word[] = "include";
  uint32_t count = 0, matched = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\\' && i + 1 < length && (text[i + 1] == '\n' || text[i + 1] == '\r')) {
      i += text[i + 1] == '\r' && i + 2 < length && text[i + 2] == '\n' ? 2 : 1;
      continue;
    }
    matched = text[i] == word[matched] ? matched + 1 : text[i] == word[0];
    count += word[matched] == '\0';
    matched = word[matched] ? matched : 0;
  }
  return count;
}

/* Adds the includes of a text.  Sets *out_sure if the text has no others, because each "include" is part of an #include or
 * #extension line. */
static vyre_status
scan(inclusion *to, const char *from, const char *text, bool *out_sure)
{
  uint32_t seen = 0;
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    const char *word = at + strspn(at, " \t");
    if (*word != '#')
      continue;
    word += 1 + strspn(word + 1, " \t");
    const uint32_t words = count_words(at, strcspn(at, "\n"));
    if (strncmp(word, "extension", 9) == 0)
      seen += words;
    if (strncmp(word, "include", 7) != 0)
      continue;
    word += 7 + strspn(word + 7, " \t");
    const size_t length = *word == '"' ? strcspn(word + 1, "\"\n") : *word == '<' ? strcspn(word + 1, ">\n") : 0;
    seen += length ? words : 0;
    if (length)
      VYRE_TRY(add_found(to, from, word + 1, length, *word == '"'));
  }
  *out_sure = seen == count_words(text, strlen(text));
  return VYRE_OK;
}

vyre_status
depfile_each_include(const char *path, const vyre_bytes *text, const char *const *include_dirs, uint32_t include_dir_count,
                     depfile_visit visit, void *user)
{
  inclusion found = {.folders = include_dirs, .folder_count = include_dir_count};
  const paths *files = &found.files;
  vyre_status status = add(&found.files, path);
  for (uint32_t i = 0; i < files->count && !status; i++) {
    vyre_bytes content = {0};
    bool is_sure = false;
    status = i || !text ? vyre_file_read_as(files->all[i], VYRE_FILE_TEXT, &content)
                        : vyre_bytes_append(&content, text->data, text->size);
    if (!status)
      status = vyre_bytes_append(&content, "", 1);
    if (!status)
      status = scan(&found, files->all[i], content.data, &is_sure);
    if (!status)
      visit(user, files->all[i], content.data, is_sure);
    vyre_bytes_free(&content);
  }
  for (uint32_t i = 0; i < found.missing.count && !status; i++)
    visit(user, found.missing.all[i], NULL, true);
  free_paths(&found.files);
  free_paths(&found.missing);
  return status;
}
