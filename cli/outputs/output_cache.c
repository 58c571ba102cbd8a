/* An entry is a header, the messages and the output.  It is the file DIR/ab/cdef... or the value of a key on a server.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "output_cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/depfile.h"
#include "base/files/paths.h"
#include "cli/inputs/hasher.h"
#include "cli/queue/place.h"
#include "outputs.h"
#include "passmgr/pipeline/pipeline.h"

typedef struct header {
  char magic[8];
  uint64_t key[2];
  uint64_t kind, said, output; /* the input's kind; bytes of messages and output */
  uint64_t sum[2];             /* a checksum of the rest of the entry */
} header;

static const char magic[8] = "VYREOUT1";

/* ---- hashing ------------------------------------------------------------------------------------------------------------- */

/* Hashes the contents of a file, and not its path: nodes of a cluster may have vyre in different folders.  Reads the file in parts,
 * because fresh memory for a whole program costs more than the hash. */
static vyre_status
add_file(hasher *h, const char *path)
{
  char part[1 << 15];
  struct stat is;
  uint64_t size = 0;
  ssize_t got = -1;
  const bool is_plain = stat(path, &is) == 0 && S_ISREG(is.st_mode);
  const int file = is_plain ? vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_READS) : -1;
  while (file >= 0 && (got = read(file, part, sizeof part)) > 0) {
    XXH3_128bits_update(&h->state, part, (size_t)got);
    size += (uint64_t)got;
  }
  const int error = errno;
  hasher_add(h, &size, sizeof size);
  if (file >= 0)
    close(file);
  return got == 0 ? VYRE_OK : VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': %s\nFix: check the path", path, strerror(error));
}

/* ---- dependences of all inputs ------------------------------------------------------------------------------------------- */

/* Hashes the contents of the library, of this program, and of vyre-glsl beside the library. */
static vyre_status
hash_vyre(hasher *h)
{
  Dl_info library;
  char path[PATH_MAX];
  if (!dladdr((void *)(uintptr_t)vyre_file_read, &library) || !library.dli_fname)
    return VYRE_ERROR(VYRE_CODE_INPUT, "-output-cache: the library of vyre cannot be found\nFix: leave out -output-cache");
  VYRE_TRY(add_file(h, library.dli_fname));
  VYRE_TRY(add_file(h, path_of_program()));
  const char *slash = strrchr(library.dli_fname, '/');
  snprintf(path, sizeof path, "%.*s/vyre/vyre-glsl", slash ? (int)(slash - library.dli_fname) : 1, slash ? library.dli_fname : ".");
  struct stat file;
  return stat(path, &file) == 0 ? add_file(h, path) : VYRE_OK;
}

/* Adds the hash of vyre's own files.  A worker of a queue needs it for each change of options, so the files are read once. */
static vyre_status
add_vyre(hasher *h)
{
  static uint64_t own[2];
  static bool is_known;
  hasher of_files;
  hasher_begin(&of_files);
  if (!is_known)
    VYRE_TRY(hash_vyre(&of_files));
  if (!is_known)
    hasher_end(&of_files, own);
  is_known = true;
  hasher_add(h, own, sizeof own);
  return VYRE_OK;
}

static vyre_status
add_plugins(hasher *h, const vyre_registry *registry)
{
  const char *last = "";
  for (uint32_t i = 0; i < vyre_registry_pass_count(registry); i++) {
    const vyre_pass_info info = vyre_registry_pass(registry, i);
    struct stat file;
    hasher_add_text(h, info.pass->name);
    if (strcmp(last, info.path) != 0 && stat(info.path, &file) == 0)
      VYRE_TRY(add_file(h, info.path));
    last = info.path;
  }
  return VYRE_OK;
}

static vyre_status
open_folder(const char *path)
{
  struct stat folder;
  if (mkdir(path, 0777) != 0 && (errno != EEXIST || (stat(path, &folder) == 0 && !S_ISDIR(folder.st_mode))))
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create the folder '%s': %s\nFix: name a folder that can be written in -output-cache",
                      path, strerror(errno == EEXIST ? ENOTDIR : errno));
  return VYRE_OK;
}

static vyre_status
open_levels(const tool_options *options, output_cache *out)
{
  const name_list *names = &options->output_cache;
  if (names->count > OUTPUT_CACHE_LEVELS)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-output-cache is given more than %d times\nFix: name one folder and one server",
                      OUTPUT_CACHE_LEVELS);
  for (uint32_t i = 0; i < names->count; i++) {
    cache_level *level = &out->levels[i];
    const char *name = names->names[i];
    const bool is_place = place_is_name(name);
    VYRE_TRY(is_place ? place_open(name, options, &level->place) : open_folder(name));
    level->folder = is_place ? NULL : name;
    out->level_count++;
  }
  return VYRE_OK;
}

vyre_status
output_cache_begin(const tool_options *options, const vyre_registry *registry, const vyre_pipeline *pipeline, output_cache *out)
{
  hasher h;
  vyre_bytes given = {0};
  *out = (output_cache){.warns = options_show(options, VYRE_WARNING)};
  VYRE_TRY(open_levels(options, out));
  hasher_begin(&h);
  vyre_status status = add_vyre(&h);
  if (!status)
    status = add_plugins(&h, registry);
  if (!status && pipeline)
    status = vyre_pipeline_print(pipeline, &out->pipeline);
  if (!status)
    status = vyre_bytes_append(&out->pipeline, "", 1);
  if (!status)
    status = options_print_shaping(options, &given);
  if (!status && options->cost_model)
    status = add_file(&h, options->cost_model);
  if (!status && options->variants_file)
    status = add_file(&h, options->variants_file);
  if (!status && options->spec_file)
    status = add_file(&h, options->spec_file);
  if (!status) {
    hasher_add_text(&h, out->pipeline.data);
    hasher_add(&h, given.data, given.size);
    hasher_end(&h, out->base);
  }
  vyre_bytes_free(&given);
  return status;
}

void
output_cache_end(output_cache *cache)
{
  for (uint32_t i = 0; i < cache->level_count; i++)
    place_close(cache->levels[i].place);
  vyre_bytes_free(&cache->pipeline);
}

/* ---- dependences of an input --------------------------------------------------------------------------------------------- */

/* Hashes the files that parameters of passes may name, such as rules of pm: every word of the pipeline that names a file. */
static void
add_named_files(hasher *h, const char *pipeline)
{
  for (const char *at = pipeline; *at;) {
    char path[PATH_MAX];
    size_t length = 0;
    const char end = *at == '"' ? '"' : 0;
    at += end != 0;
    while (at[length] && (end ? at[length] != end : vyre_is_atom((unsigned char)at[length])))
      length++;
    struct stat file;
    if (length && length < sizeof path) {
      memcpy(path, at, length);
      path[length] = '\0';
      if (stat(path, &file) == 0 && S_ISREG(file.st_mode))
        vyre_status_free(add_file(h, path));
    }
    at += length;
    at += *at != '\0';
  }
}

typedef struct including {
  hasher *h;
  bool is_sure;
} including;

static void
add_include(void *user, const char *path, const char *text, bool is_sure)
{
  including *to = user;
  if (!text)
    return;
  to->is_sure = to->is_sure && is_sure;
  hasher_add_text(to->h, path);
  hasher_add_text(to->h, text);
}

output_key
output_cache_key(const output_cache *cache, const tool_options *options, const char *path, uint32_t variant, const vyre_bytes *text)
{
  hasher h;
  including to = {&h, true};
  output_key key = {.is_known = true};
  const vyre_input_kind kind = vyre_input_detect_as(path, text->data, text->size, options->compile.language);
  hasher_begin(&h);
  hasher_add(&h, cache->base, sizeof cache->base);
  hasher_add(&h, &variant, sizeof variant);
  hasher_add_text(&h, path); /* lines and messages contain it */
  hasher_add_text(&h, output_words[outputs_form(options, kind)]);
  hasher_add(&h, text->data, text->size);
  add_named_files(&h, cache->pipeline.data);
  if (kind == VYRE_INPUT_GLSL || kind == VYRE_INPUT_HLSL) {
    vyre_status status =
        depfile_each_include(path, text, options->glsl.include_dirs.names, options->glsl.include_dirs.count, add_include, &to);
    key.is_known = !status && to.is_sure;
    vyre_status_free(status);
  }
  hasher_end(&h, key.hash);
  return key;
}

/* ---- entries ------------------------------------------------------------------------------------------------------------- */

static void
sum_of(const char *data, size_t size, uint64_t out[2])
{
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  out[0] = hash.low64;
  out[1] = hash.high64;
}

vyre_status
output_entry_pack(const output_key *key, const work *w, vyre_bytes *out)
{
  header head = {.key = {key->hash[0], key->hash[1]}, .kind = (uint64_t)w->kind, .said = w->said.size, .output = w->output.size};
  const size_t before = out->size;
  memcpy(head.magic, magic, sizeof magic);
  vyre_status status = vyre_bytes_append(out, &head, sizeof head);
  if (!status)
    status = vyre_bytes_append(out, w->said.data, w->said.size);
  if (!status)
    status = vyre_bytes_append(out, w->output.data, w->output.size);
  if (!status) {
    sum_of(out->data + before + sizeof head, out->size - before - sizeof head, head.sum);
    memcpy(out->data + before, &head, sizeof head);
  }
  return vyre_bytes_undo(out, before, status);
}

static bool
is_valid(const char *entry, size_t size, const uint64_t key[2], header *out)
{
  uint64_t sum[2];
  if (size < sizeof *out)
    return false;
  memcpy(out, entry, sizeof *out);
  const size_t rest = size - sizeof *out;
  sum_of(entry + sizeof *out, rest, sum);
  return memcmp(out->magic, magic, sizeof magic) == 0 && memcmp(out->key, key, sizeof out->key) == 0 && out->said <= rest &&
         out->output == rest - out->said && memcmp(out->sum, sum, sizeof sum) == 0;
}

bool
output_entry_unpack(const void *entry, size_t size, const uint64_t key[2], work *w)
{
  header head;
  if (!is_valid(entry, size, key, &head))
    return false;
  const char *said = (const char *)entry + sizeof head;
  const size_t before = w->said.size;
  vyre_status status = vyre_bytes_append(&w->said, said, head.said);
  if (!status)
    status = vyre_bytes_undo(&w->said, before, vyre_bytes_append(&w->output, said + head.said, head.output));
  const bool is_there = !status;
  vyre_status_free(status);
  if (is_there)
    w->kind = (vyre_input_kind)head.kind;
  return is_there;
}

/* ---- levels -------------------------------------------------------------------------------------------------------------- */

/* Writes the path of an entry.  Returns whether its folder exists and is a folder, not a link to one outside of the cache. */
static bool
name_entry(const char *in, const output_key *key, bool makes_folder, char path[PATH_MAX])
{
  struct stat folder;
  const int length = snprintf(path, PATH_MAX, "%s/%02x", in, (unsigned)(key->hash[1] >> 56));
  if (length < 0 || length > PATH_MAX - 40 || (makes_folder && mkdir(path, 0777) != 0 && errno != EEXIST) ||
      lstat(path, &folder) != 0 || !S_ISDIR(folder.st_mode))
    return false;
  snprintf(path + length, (size_t)(PATH_MAX - length), "/%016" PRIx64 "%016" PRIx64, key->hash[1], key->hash[0]);
  return true;
}

/* Stops using a server that failed. */
static void
lose_server(const output_cache *cache, cache_level *level, vyre_status why)
{
  if (why && !atomic_exchange(&level->is_lost, true) && cache->warns)
    fprintf(stderr, "vyre-passmgr: warning: -output-cache is not used any more: %s\n", vyre_status_text(why));
  vyre_status_free(why);
}

/* Appends the bytes of an entry, or nothing if the level does not have it. */
static void
read_entry(const output_cache *cache, cache_level *level, const output_key *key, vyre_bytes *out)
{
  char path[PATH_MAX];
  struct stat file;
  if (level->place && !level->is_lost)
    lose_server(cache, level, place_read_output(level->place, key->hash, out));
  else if (level->folder && name_entry(level->folder, key, false, path) && lstat(path, &file) == 0 && S_ISREG(file.st_mode))
    vyre_status_free(vyre_file_read_as(path, VYRE_FILE_PLAIN, out));
}

/* Writes an entry.  If that fails, the next run makes the output again. */
static void
write_entry(const output_cache *cache, cache_level *level, const output_key *key, const vyre_bytes *entry)
{
  char path[PATH_MAX];
  if (level->place && !level->is_lost)
    lose_server(cache, level, place_write_output(level->place, key->hash, entry));
  else if (level->folder && name_entry(level->folder, key, true, path))
    vyre_status_free(vyre_file_write_as(path, VYRE_FILE_PLAIN, entry->data, entry->size));
}

bool
output_cache_find(output_cache *cache, const output_key *key, work *w)
{
  vyre_bytes entry = {0};
  bool is_there = false;
  for (uint32_t i = 0; i < cache->level_count && key->is_known && !is_there; i++) {
    entry.size = 0;
    read_entry(cache, &cache->levels[i], key, &entry);
    is_there = output_entry_unpack(entry.data, entry.size, key->hash, w);
    for (uint32_t k = 0; k < i && is_there; k++)
      write_entry(cache, &cache->levels[k], key, &entry);
  }
  vyre_bytes_free(&entry);
  return is_there;
}

void
output_cache_keep(output_cache *cache, const output_key *key, const work *w)
{
  vyre_bytes entry = {0};
  if (!key->is_known)
    return;
  vyre_status status = output_entry_pack(key, w, &entry);
  for (uint32_t i = 0; i < cache->level_count && !status; i++)
    write_entry(cache, &cache->levels[i], key, &entry);
  vyre_status_free(status);
  vyre_bytes_free(&entry);
}
