/* SPDX-License-Identifier: Apache-2.0 */
#include "sight.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#include "cli/inputs/depends.h"
#include "cli/inputs/hasher.h"

static int
compare_items(const void *left, const void *right)
{
  return strcmp(((const sight_item *)left)->path, ((const sight_item *)right)->path);
}

static void
free_items(sight_items *list)
{
  for (uint32_t i = 0; i < list->count; i++)
    free(list->all[i].path);
  free(list->all);
  *list = (sight_items){0};
}

void
sight_free(sight *s)
{
  free_items(&s->files);
  free_items(&s->inputs);
}

static vyre_status
add_item(sight_items *to, const char *path, const uint64_t hash[2])
{
  char *copy = NULL;
  if (!vyre_grow(NULL, &to->all, &to->capacity, to->count + 1, sizeof *to->all) || !(copy = strdup(path)))
    return VYRE_OUT_OF_MEMORY("for -watch");
  to->all[to->count++] = (sight_item){copy, {hash[0], hash[1]}};
  return VYRE_OK;
}

const sight_item *
sight_find(const sight_items *sorted, const char *path)
{
  const sight_item key = {(char *)(uintptr_t)path, {0}};
  return sorted->count ? bsearch(&key, sorted->all, sorted->count, sizeof key, compare_items) : NULL;
}

void
sight_sort(sight_items *list)
{
  uint32_t kept = 0;
  qsort(list->all, list->count, sizeof *list->all, compare_items);
  for (uint32_t i = 0; i < list->count; i++) {
    if (kept && strcmp(list->all[kept - 1].path, list->all[i].path) == 0)
      free(list->all[i].path);
    else
      list->all[kept++] = list->all[i];
  }
  list->count = kept;
}

bool
sight_is_same(const uint64_t a[2], const uint64_t b[2])
{
  return a[0] == b[0] && a[1] == b[1];
}

/* ---- hashing ------------------------------------------------------------------------------------------------------------- */

/* The state of hashing an input, or the files that all inputs depend on. */
typedef struct looking {
  sight_items *files;
  hasher hash;
  vyre_status status;
} looking;

static void
hash_bytes(looking *to, const char *path, const vyre_bytes *bytes)
{
  uint64_t hash[2] = {0};
  if (bytes) {
    hasher one;
    hasher_begin(&one);
    hasher_add_text(&one, path); /* so that the hash of an empty file is not 0 */
    hasher_add(&one, bytes->data, bytes->size);
    hasher_end(&one, hash);
  }
  hasher_add_text(&to->hash, path);
  hasher_add(&to->hash, hash, sizeof hash);
  to->status = vyre_status_join(to->status, add_item(to->files, path, hash));
}

static void
hash_file(void *user, const char *path, bool is_there)
{
  vyre_bytes bytes = {0};
  vyre_status status = is_there ? vyre_file_read(path, &bytes) : VYRE_OK;
  hash_bytes(user, path, is_there && !status ? &bytes : NULL);
  vyre_status_free(status); /* the run reports it */
  vyre_bytes_free(&bytes);
}

/* Hashes the command line without inputs, and the files that it names. */
static vyre_status
hash_options(int argc, char **argv, const tool_options *o, sight *out)
{
  looking common = {.files = &out->files};
  vyre_bytes given = {0};
  const char *texts[] = {o->passes, o->passes_file, o->emit, o->output, o->outdir, o->depfile, o->dep_target};
  hasher_begin(&common.hash);
  common.status = options_print_shaping(o, &given);
  hasher_add(&common.hash, given.data, given.size);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    hasher_add_text(&common.hash, texts[i] ? texts[i] : "");
  depends_each_of_all(o, hash_file, &common);
  for (uint32_t i = 0; o->output && archives_is_name(o->output) && i < o->archives.count;
       i++) /* the whole archive is written again */
    hash_file(&common, archives_path_at(&o->archives, i), true);
  hasher_end(&common.hash, out->common);
  for (int i = 1; i < argc; i++) /* a file of arguments, whose arguments are hashed above */
    if (argv[i][0] == '@')
      hash_file(&common, argv[i] + 1, true);
  vyre_bytes_free(&given);
  return common.status;
}

static vyre_status
hash_input(const tool_options *o, const char *path, const char *place, sight *out)
{
  looking input = {.files = &out->files};
  uint64_t hash[2] = {0};
  vyre_bytes bytes = {0};
  const bool is_module = archives_has_module(&o->archives, path); /* the run reports a damaged archive */
  vyre_status status = is_module ? archives_read(&o->archives, path, &bytes) : vyre_input_load(path, &bytes);
  const bool is_there = !status;
  vyre_status_free(status); /* the run reports it */
  hasher_begin(&input.hash);
  hasher_add(&input.hash, out->common, sizeof out->common);
  hasher_add_text(&input.hash, place);
  hash_bytes(&input, path, is_there ? &bytes : NULL);
  if (is_there) /* an unreadable include is hashed when it becomes readable */
    vyre_status_free(depends_each_included(
        o, path, vyre_input_detect_as(path, bytes.data ? bytes.data : "", bytes.size, o->compile.language), hash_file, &input));
  vyre_bytes_free(&bytes);
  if (is_there)
    hasher_end(&input.hash, hash);
  return vyre_status_join(input.status, add_item(&out->inputs, path, hash));
}

vyre_status
sight_refresh(int argc, char **argv, const tool_options *o, const outputs *places, sight *out)
{
  sight_free(out);
  VYRE_TRY(hash_options(argc, argv, o, out));
  for (uint32_t i = 0; i < o->inputs.count; i++)
    VYRE_TRY(hash_input(o, o->inputs.names[i], o->outdir ? places->places[i] : "", out));
  sight_sort(&out->files);
  return VYRE_OK;
}
