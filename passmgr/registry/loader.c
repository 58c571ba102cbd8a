/* Loads the shared objects of plugins by absolute path, with RTLD_NOW and RTLD_LOCAL.  So missing symbols are reported at once, and
 * the symbols of one plugin are invisible to others.
 *
 * Plugins are never unloaded, because a pass may have left pointers to its code.  A truncated file is detected here, because the
 * dynamic linker would crash.  Other damage is not detected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "passmgr/pipeline/pipeline.h"
#include "base/files/paths.h"
#include "vyre/environment.h"
#include "vyre/io.h"

static vyre_status
cannot_load(const char *path, const char *why)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "cannot load plugin '%s': %s%s", path, why,
                    strstr(why, "\nFix: ") ? "" : "\nFix: give the path of a vyre plugin for this system");
}

/* Returns the absolute path in `out`, with links resolved if the file exists.  Returns false if it does not fit. */
static bool
absolute(const char *path, char out[PATH_MAX])
{
  if (realpath(path, out))
    return true;
  if (path_is_whole(path))
    return (size_t)snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
  char here[PATH_MAX];
  if (!getcwd(here, sizeof(here)))
    return false;
  size_t folder = strlen(here), name = strlen(path);
  if (folder + name + 2 > PATH_MAX)
    return false;
  memcpy(out, here, folder);
  out[folder] = '/';
  memcpy(out + folder + 1, path, name + 1);
  return true;
}

static vyre_status
check_file(const char *path, struct stat *out)
{
  if (stat(path, out) != 0)
    return VYRE_OK; /* dlopen reports the error */
  if (S_ISDIR(out->st_mode))
    return cannot_load(path, "it is a directory\nFix: name a plugin in it, or load it as a plugin directory");
  if (!S_ISREG(out->st_mode))
    return cannot_load(path, "it is not a regular file\nFix: name the shared object of a plugin");
  int fd = vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_READS);
  if (fd < 0)
    return cannot_load(path, strerror(errno));
  bool whole = vyre_library_is_whole(fd, (uint64_t)out->st_size);
  close(fd);
  return whole ? VYRE_OK : cannot_load(path, "the file is truncated\nFix: build or copy the plugin again");
}

static vyre_status
not_a_plugin(void *library, const char *path)
{
  static const struct {
    const char *symbol, *what;
  } others[] = {
      {"vyre_plugin_query_v2", "a plugin for a newer vyre"}, {"llvmGetPassPluginInfo", "an LLVM plugin"},
      {"mlirGetPassPluginInfo", "an MLIR plugin"},           {"mlirGetDialectPluginInfo", "an MLIR plugin"},
      {"plugin_is_GPL_compatible", "a GCC plugin"},
  };
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    if (dlsym(library, others[i].symbol))
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "'%s' is not a vyre plugin: it does not export '" VYRE_PLUGIN_ENTRY
                        "' (found '%s': %s)\nFix: load a plugin that is built for this vyre",
                        path, others[i].symbol, others[i].what);
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "'%s' is not a vyre plugin: it does not export '" VYRE_PLUGIN_ENTRY "'\n"
                    "Fix: define it with VYRE_PLUGIN of vyre/plugin.h",
                    path);
}

static bool
is_loaded(const vyre_registry *registry, const struct stat *file)
{
  for (uint32_t i = 0; i < registry->plugin_count; i++) {
    const vyre_plugin_record *plugin = registry->plugins[i];
    if (plugin->is_file && plugin->device == file->st_dev && plugin->inode == file->st_ino)
      return true;
  }
  return false;
}

vyre_status
vyre_registry_load(vyre_registry *registry, const char *path, vyre_origin origin)
{
  VYRE_FOREIGN_CALL;
  char full[PATH_MAX];
  struct stat file = {0};
  if (!absolute(path, full))
    return cannot_load(path, "the path is too long");
  VYRE_TRY(check_file(full, &file));
  if (is_loaded(registry, &file))
    return VYRE_OK;
  vyre_plugin_code_load(full);
  void *library = dlopen(full, RTLD_NOW | RTLD_LOCAL);
  vyre_plugin_code_load(NULL);
  if (!library)
    return cannot_load(full, dlerror());
  void *symbol = dlsym(library, VYRE_PLUGIN_ENTRY);
  if (!symbol)
    return not_a_plugin(library, full);
  vyre_plugin_query query;
  memcpy(&query, &symbol, sizeof(query)); /* ISO C cannot convert it */
  VYRE_TRY(vyre_registry_add(registry, query, full, origin));
  vyre_plugin_record *record = registry->plugins[registry->plugin_count - 1];
  record->is_file = true;
  record->device = file.st_dev;
  record->inode = file.st_ino;
  return VYRE_OK;
}

static int
is_plugin_file(const struct dirent *entry)
{
  static const char ending[] = VYRE_PLUGIN_ENDING;
  size_t length = strlen(entry->d_name), tail = sizeof(ending) - 1;
  return entry->d_name[0] != '.' && length > tail && strcmp(entry->d_name + length - tail, ending) == 0;
}

static int
by_bytes(const struct dirent **a, const struct dirent **b)
{
  return strcmp((*a)->d_name, (*b)->d_name); /* independent of the locale */
}

vyre_status
vyre_registry_load_folder(vyre_registry *registry, const char *folder, vyre_origin origin)
{
  VYRE_FOREIGN_CALL;
  struct dirent **entries;
  int count = scandir(folder, &entries, is_plugin_file, by_bytes);
  if (count < 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "cannot read the plugin folder '%s': %s\nFix: name a folder that can be read", folder,
                      strerror(errno));
  vyre_status status = VYRE_OK;
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX];
    if (!status && (size_t)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) >= sizeof(path))
      status = cannot_load(entries[i]->d_name, "the path is too long");
    if (!status)
      status = vyre_registry_load(registry, path, origin);
    free(entries[i]);
  }
  free(entries);
  return status;
}

enum { CORE_PATH = PATH_MAX + 32 };

/* Finds the folder of the core passes: beside the library, or below the prefix of a program that contains the library. */
static vyre_status
find_core(char path[CORE_PATH])
{
  static const char *const below[] = {"vyre/passes", "../lib/vyre/passes", "../" VYRE_LIBDIR "/vyre/passes"};
  char own[PATH_MAX];
  if (!vyre_own_folder(own, sizeof(own)))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "cannot find the folder of the library of vyre\nFix: mount /proc, or load the core passes with "
                      "vyre_registry_load_folder");
  for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
    snprintf(path, CORE_PATH, "%s/%s", own, below[i]);
    struct stat folder;
    if (stat(path, &folder) == 0 || errno != ENOENT)
      return VYRE_OK;
  }
  return VYRE_ERROR(
      VYRE_CODE_USAGE,
      "cannot find the core passes: '%s/%s', '%s/%s' and '%s/%s' do not exist\nFix: install vyre with cmake --install, or load "
      "their folder with vyre_registry_load_folder (pkg-config --variable=passdir vyre prints it)",
      own, below[0], own, below[1], own, below[2]);
}

vyre_status
vyre_registry_load_core(vyre_registry *registry)
{
  char path[CORE_PATH];
  VYRE_TRY(find_core(path));
  return vyre_registry_load_folder(registry, path, VYRE_ORIGIN_CORE);
}

/* Loads the core pass whose file has the name, if there is one. */
static vyre_status
load_if_core(vyre_registry *registry, const char *folder, const char *name, size_t length)
{
  char path[CORE_PATH + 64];
  if (length > 32)
    return VYRE_OK;
  snprintf(path, sizeof path, "%s/%.*s%s", folder, (int)length, name, VYRE_PLUGIN_ENDING);
  return access(path, F_OK) == 0 ? vyre_registry_load(registry, path, VYRE_ORIGIN_CORE) : VYRE_OK;
}

static vyre_status
load_words(vyre_registry *registry, const char *folder, const char *text, size_t length)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (size_t at = 0, word; at < length; at += word ? word : 1) {
    for (word = 0; at + word < length && text[at + word] && strchr(letters, text[at + word]); word++)
      ;
    if (word)
      VYRE_TRY(load_if_core(registry, folder, text + at, word));
  }
  return VYRE_OK;
}

vyre_status
vyre_registry_load_core_named(vyre_registry *registry, const char *text, size_t length)
{
  char folder[CORE_PATH];
  VYRE_TRY(find_core(folder));
  for (size_t i = 0; i < VYRE_DEFAULTS; i++) {
    const vyre_default *level = &vyre_defaults[i];
    for (size_t at = 0; at + 2 <= length; at++)
      if (text[at + 1] == level->level[1] && (text[at] & ~0x20) == level->level[0])
        VYRE_TRY(load_words(registry, folder, level->text, strlen(level->text)));
  }
  return load_words(registry, folder, text, length);
}
