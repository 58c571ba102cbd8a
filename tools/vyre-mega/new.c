/* vyre-mega new NAME: makes a folder with a handler, items for it, and a program that keeps its kernel live.
 *
 * The files are those of templates/, with @NAME@ replaced by the name (vyre_make_templates converts them to C).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"
#include "templates.inc"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_NAME = 64 };

static const struct {
  const char *path;
  const char *const *lines;
} files[] = {{"@NAME@.vir", handler_vir}, {"items.txt", items_txt}, {"host.c", host_c}, {"Makefile", Makefile}};

/* Appends a text with its words replaced. */
static vyre_status
fill(const char *name, const char *text, vyre_bytes *out)
{
  static const char word[] = "@NAME@";
  for (const char *at; (at = strstr(text, word)); text = at + sizeof word - 1) {
    VYRE_TRY(vyre_bytes_append(out, text, (size_t)(at - text)));
    VYRE_TRY(vyre_bytes_printf(out, "%s", name));
  }
  return vyre_bytes_printf(out, "%s", text);
}

static vyre_status
write_file(const char *name, const char *path, const char *const *lines)
{
  vyre_bytes to = {0}, text = {0};
  vyre_status status = vyre_bytes_printf(&to, "%s/", name);
  if (!status)
    status = fill(name, path, &to);
  for (; *lines && !status; lines++)
    status = fill(name, *lines, &text);
  if (!status)
    status = vyre_file_write(to.data, text.data ? text.data : "", text.size);
  if (!status)
    printf("wrote %s\n", to.data);
  vyre_bytes_free(&to);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
mega_new(const char *name)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz", others[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  if (strspn(name, letters) == 0 || strspn(name, others) != strlen(name) || strlen(name) >= MOST_NAME)
    return VYRE_ERROR(
        VYRE_CODE_USAGE,
        "'%s' is not a name of a handler\nFix: use at most %d lower-case letters, digits and _, and begin with a letter", name,
        MOST_NAME - 1);
  if (mkdir(name, 0777) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot make the folder %s: %s\nFix: choose another name, or remove the folder", name,
                      strerror(errno));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    VYRE_TRY(write_file(name, files[i].path, files[i].lines));
  printf("Next: cd %s, then `make items` or `make && ./host cpu`.\n", name);
  return VYRE_OK;
}
