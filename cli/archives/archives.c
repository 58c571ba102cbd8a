/* Docs at archives.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "archives.h"

#include "base/grow.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foz.h"
#include "vyre/io.h"

static const char ending[] = ".foz";
enum { ENDING = sizeof ending - 1 };

bool
archives_is_name(const char *path)
{
  const size_t length = strlen(path);
  return length > ENDING && strcmp(path + length - ENDING, ending) == 0;
}

/* Returns the length of the archive's name in "a.foz/KEY" or "a.foz", or 0 for another name. */
static size_t
name_length(const char *input)
{
  const char *slash = strrchr(input, '/');
  const size_t length = slash ? (size_t)(slash - input) : 0;
  if (archives_is_name(input))
    return strlen(input);
  return length > ENDING && memcmp(slash - ENDING, ending, ENDING) == 0 ? length : 0;
}

/* Returns the archive of the input and its key there.  The key is "" if the input is an archive without shaders. */
static const foz *
find(const archives *a, const char *input, const char **out_key)
{
  const size_t length = name_length(input);
  for (uint32_t i = 0; i < a->count && length; i++)
    if (strlen(a->all[i]->path) == length && memcmp(a->all[i]->path, input, length) == 0) {
      *out_key = input[length] ? input + length + 1 : "";
      return a->all[i];
    }
  return NULL;
}

const char *
archives_path(const archives *a, const char *input)
{
  const char *key;
  const foz *archive = find(a, input, &key);
  return archive ? archive->path : NULL;
}

const char *
archives_path_at(const archives *a, uint32_t index)
{
  return a->all[index]->path;
}

bool
archives_has_module(const archives *a, const char *input)
{
  const char *key;
  return find(a, input, &key) && *key;
}

/* Opens an archive.  A file that cannot be read is reported when its input is processed. */
static vyre_status
open_one(archives *a, const char *path)
{
  if (!vyre_grow(NULL, &a->all, &a->capacity, a->count + 1, sizeof *a->all))
    return VYRE_OUT_OF_MEMORY("for the archives");
  vyre_status status = foz_open(path, &a->all[a->count]);
  if (vyre_status_is_out_of_memory(status))
    return status;
  a->count += !status;
  vyre_status_free(status);
  return VYRE_OK;
}

/* Appends "FILE/KEY" for each shader in the file's order, or the archive's own name if it has no shader. */
static vyre_status
append_shaders(name_list *to, const foz *archive, const char *input, option_texts *texts)
{
  char name[PATH_MAX + FOZ_KEY + 2];
  const uint32_t before = to->count;
  for (uint32_t i = 0; i < archive->count; i++) {
    const foz_entry *e = &archive->entries[i];
    if (!e->is_module || foz_find(archive, e->key) != i)
      continue;
    snprintf(name, sizeof name, "%.*s/%s", PATH_MAX, archive->path, e->key);
    VYRE_TRY(name_list_append_copy(to, name, texts));
  }
  return to->count == before ? name_list_append(to, input) : VYRE_OK;
}

static bool
is_folder(const char *path)
{
  struct stat file;
  return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

static vyre_status
expand_one(name_list *to, const char *input, option_texts *texts, archives *a)
{
  char path[PATH_MAX];
  const char *key;
  const size_t length = name_length(input);
  if (length == 0 || length >= sizeof path)
    return name_list_append(to, input);
  snprintf(path, sizeof path, "%.*s", (int)length, input);
  if (is_folder(path)) /* a folder may have such a name */
    return name_list_append(to, input);
  if (!find(a, path, &key))
    VYRE_TRY(open_one(a, path));
  const foz *archive = find(a, path, &key);
  return !archive || input[length] ? name_list_append(to, input) : append_shaders(to, archive, input, texts);
}

vyre_status
archives_expand(name_list *inputs, option_texts *texts, archives *out)
{
  name_list all = {0};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < inputs->count && !status; i++)
    status = expand_one(&all, inputs->names[i], texts, out);
  if (status) {
    free(all.names);
    return status;
  }
  free(inputs->names);
  *inputs = all;
  return VYRE_OK;
}

uint32_t
archives_warn(const archives *a, vyre_diagnostics diagnostics)
{
  char text[120];
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    if (a->all[i]->cut == 0 || a->all[i]->module_count == 0) /* reading reports an archive without modules */
      continue;
    snprintf(text, sizeof text, "the last entry is incomplete and is skipped: %zu bytes", a->all[i]->cut);
    const vyre_diagnostic diagnostic = {.severity = VYRE_WARNING, .file = a->all[i]->path, .message = text};
    diagnostics.emit(diagnostics.user, &diagnostic);
    count++;
  }
  return count;
}

void
archives_close(archives *a)
{
  for (uint32_t i = 0; i < a->count; i++)
    foz_close(a->all[i]);
  free(a->all);
  *a = (archives){0};
}

/* Returns why the archive could not be opened. */
static vyre_status
open_error(const char *path)
{
  foz *archive = NULL;
  vyre_status status = foz_open(path, &archive);
  foz_close(archive);
  return status ? status : VYRE_ERROR(VYRE_CODE_INPUT, "'%s' has changed while it was read\nFix: run the command again", path);
}

vyre_status
archives_read(const archives *a, const char *input, vyre_bytes *out)
{
  char path[PATH_MAX];
  const char *key;
  const foz *archive = find(a, input, &key);
  const size_t length = name_length(input);
  if (archive && *key)
    return foz_read(archive, key, out);
  if (archive)
    return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' has no compute shader%s\nFix: leave it out", input,
                      archive->cut ? ", and its last entry is incomplete" : "");
  if (length == 0 || length >= sizeof path)
    return vyre_input_load(input, out);
  snprintf(path, sizeof path, "%.*s", (int)length, input);
  return is_folder(path) ? vyre_file_read(input, out) : open_error(path);
}

uint64_t
archives_size(const archives *a, const char *input)
{
  const char *key;
  struct stat file;
  const foz *archive = find(a, input, &key);
  const uint32_t entry = archive ? foz_find(archive, key) : UINT32_MAX;
  if (entry != UINT32_MAX)
    return archive->entries[entry].size;
  return stat(input, &file) == 0 && S_ISREG(file.st_mode) ? (uint64_t)file.st_size : 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

vyre_status
archive_output_begin(const archives *a, const char *path, const char *input, archive_output *out)
{
  const char *key;
  out->from = path && archives_is_name(path) ? find(a, input, &key) : NULL;
  out->modules = out->from ? calloc((size_t)out->from->count + 1, sizeof *out->modules) : NULL;
  return out->modules || !out->from ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the inputs");
}

void
archive_output_keep(archive_output *output, const archives *a, const char *input, vyre_bytes *module)
{
  const char *key;
  const foz *archive = find(a, input, &key);
  const uint32_t entry = archive ? foz_find(archive, key) : UINT32_MAX;
  if (entry == UINT32_MAX)
    return;
  vyre_bytes_free(&output->modules[entry]);
  output->modules[entry] = *module;
  *module = (vyre_bytes){0};
}

vyre_status
archive_output_write(const archive_output *output, const char *path, bool *out_written)
{
  vyre_bytes all = {0};
  *out_written = false;
  for (uint32_t i = 0; output->from && i < output->from->count; i++)
    *out_written |= output->modules[i].size > 0;
  if (!*out_written)
    return VYRE_OK;
  vyre_status status = foz_write(output->from, output->modules, &all);
  if (!status)
    status = vyre_file_write(path, all.data, all.size);
  vyre_bytes_free(&all);
  return status;
}

void
archive_output_free(archive_output *output)
{
  for (uint32_t i = 0; output->modules && i < output->from->count; i++)
    vyre_bytes_free(&output->modules[i]);
  free(output->modules);
}
