/* What the driver made of kernels, kept on the disk: a file for each kernel and device, so that the next process compiles less.
 *
 * A file is a header and then what vkGetPipelineCacheData gave.  All of it is checked before the driver sees any of it: drivers
 * trust their own data.  A file is written under another name in the same folder and renamed, so that whoever reads sees all of it
 * or none, and of several writers the last one stays.  It is not synced to the disk: one that a crash cut short is found by its
 * size.  Nothing here fails a kernel: what goes wrong is a remark, and the kernel is compiled without the file.
 *
 * limits: files of 64 MiB, a folder of 256 MiB, of which those go first that nobody used for longest.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MOST_FILE   (UINT64_C(64) << 20)
#define MOST_FOLDER (UINT64_C(256) << 20)
#define ABANDONED   3600 /* seconds after which nobody writes a temporary file any more */
#define VERSION     1u
#define ENDING      ".pipeline"
#define REMARK_SIZE 1024
#define KEY_DIGITS  32
#define NAME_SIZE   128

static const char magic[8] = "vyrepipe";

/* In this machine's byte order: the version tells that of another. */
typedef struct file_header {
  char magic[8];
  uint32_t version;
  vulkan_identity device;
  uint64_t key[2]; /* of the kernel */
  uint64_t size;   /* bytes after the header, */
  uint64_t check;  /* and their XXH3 */
} file_header;

static_assert(sizeof(file_header) == 72, "a header has no gaps");

static void VYRE_PRINTF(2, 3) say(const vyre_target *target, const char *format, ...)
{
  const vulkan_cache *cache = &target->cache;
  char text[REMARK_SIZE];
  va_list arguments;
  if (!cache->remark)
    return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  cache->remark(cache->remark_user, text);
}

/* Once: it would be the same for each kernel. */
static void
say_not_kept(vyre_target *target, const char *what, int error)
{
  if (!target->cache.is_told)
    say(target, "vulkan: compiled kernels are not kept: the folder '%.700s' cannot be %s: %s", target->cache.folder, what,
        strerror(error));
  target->cache.is_told = true;
}

/* What the API's status says in its first line. */
static void
say_status(const vyre_target *target, vyre_status status, const char *then)
{
  const char *text = vyre_status_text(status);
  say(target, "%.*s; %s", (int)strcspn(text, "\n"), text, then);
  vyre_status_free(status);
}

/* ---- the folder ---------------------------------------------------------------------------------------------------------- */

vyre_status
vulkan_cache_open(vyre_target *target, const vyre_target_options *options)
{
  vulkan_cache *cache = &target->cache;
  *cache = (vulkan_cache){.remark = options->remark, .remark_user = options->remark_user, .descriptor = -1};
  if (!options->cache)
    return VYRE_OK;
  cache->folder_size = strlen(options->cache) + sizeof "/vulkan";
  cache->folder = target_resize(&target->base.allocator, NULL, 0, cache->folder_size);
  if (!cache->folder)
    return VYRE_OUT_OF_MEMORY("for a Vulkan target");
  snprintf(cache->folder, cache->folder_size, "%s/vulkan", options->cache);
  return VYRE_OK;
}

/* All folders of the path; one that is there is no error. */
static int
make_folders(char *path)
{
  int result = 0;
  for (char *at = path + 1;; at++) {
    const char c = *at;
    if (c != '/' && c != '\0')
      continue;
    *at = '\0';
    result = mkdir(path, 0700);
    *at = c;
    if (c == '\0')
      return result == 0 || errno == EEXIST ? 0 : -1;
  }
}

/* When it is first needed. */
static bool
open_folder(vyre_target *target)
{
  vulkan_cache *cache = &target->cache;
  if (cache->descriptor >= 0 || !cache->folder || cache->is_told)
    return cache->descriptor >= 0;
  if (make_folders(cache->folder) == 0)
    cache->descriptor = open(cache->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (cache->descriptor < 0)
    say_not_kept(target, "made", errno);
  return cache->descriptor >= 0;
}

/* A file of ours: "<32 digits>.pipeline", or with a '.' before and more after it, a temporary one. */
static bool
is_ours(const char *name, bool *out_temporary)
{
  *out_temporary = name[0] == '.';
  const char *digits = name + *out_temporary, *end = digits + strspn(digits, "0123456789abcdef");
  const size_t ending = sizeof ENDING - 1;
  return end == digits + KEY_DIGITS && strncmp(end, ENDING, ending) == 0 && strlen(name) < NAME_SIZE &&
         (*out_temporary || end[ending] == '\0');
}

static bool
is_older(const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Bytes of all files, and the one that nobody used for longest; "": there is none.  Temporary ones that somebody left go. */
static uint64_t
look_at_files(DIR *entries, char oldest[NAME_SIZE])
{
  struct timespec used = {0};
  uint64_t bytes = 0;
  oldest[0] = '\0';
  rewinddir(entries);
  for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    struct stat found;
    bool is_temporary;
    if (!is_ours(entry->d_name, &is_temporary) || fstatat(dirfd(entries), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(found.st_mode))
      continue;
    if (is_temporary && found.st_mtim.tv_sec < time(NULL) - ABANDONED)
      unlinkat(dirfd(entries), entry->d_name, 0);
    if (is_temporary)
      continue;
    bytes += (uint64_t)found.st_size;
    if (oldest[0] && !is_older(&found.st_mtim, &used))
      continue;
    used = found.st_mtim;
    snprintf(oldest, NAME_SIZE, "%s", entry->d_name);
  }
  return bytes;
}

/* As many go as were added, mostly.  Another process may do the same meanwhile: then more go than need to, which costs a
 * compilation each. */
static void
trim(int folder)
{
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = again >= 0 ? fdopendir(again) : NULL;
  char oldest[NAME_SIZE];
  while (entries && look_at_files(entries, oldest) > MOST_FOLDER && unlinkat(again, oldest, 0) == 0) {
  }
  if (entries)
    closedir(entries);
  else if (again >= 0)
    close(again);
}

void
vulkan_cache_close(vyre_target *target)
{
  vulkan_cache *cache = &target->cache;
  if (!cache->folder)
    return;
  if (cache->is_written)
    trim(cache->descriptor);
  if (cache->descriptor >= 0)
    close(cache->descriptor);
  target_resize(&target->base.allocator, cache->folder, cache->folder_size, 0);
  cache->folder = NULL;
}

/* ---- what a file is of --------------------------------------------------------------------------------------------------- */

static void
add_text(XXH3_state_t *state, const char *text)
{
  XXH3_128bits_update(state, text, strlen(text) + 1);
}

/* All that a pipeline is made of. */
static XXH128_hash_t
key_of(const vyre_kernel_desc *desc)
{
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  const uint64_t counts[] = {desc->size, desc->slot_count, desc->spec_count, desc->push_size};
  XXH3_128bits_update(&state, counts, sizeof counts);
  XXH3_128bits_update(&state, desc->code, desc->size);
  add_text(&state, desc->entry);
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    const vyre_kernel_slot *slot = &desc->slots[i];
    const uint32_t words[] = {slot->set, slot->binding, (uint32_t)slot->kind, target_slot_count(slot)};
    XXH3_128bits_update(&state, words, sizeof words);
  }
  for (uint32_t i = 0; i < desc->spec_count; i++) {
    const uint64_t words[] = {desc->specs[i].id, desc->specs[i].size, desc->specs[i].bits};
    XXH3_128bits_update(&state, words, sizeof words);
  }
  return XXH3_128bits_digest(&state);
}

/* The header of a file of this kernel on this device, but for its data. */
static file_header
header_of(const vyre_target *target, const vyre_kernel_desc *desc)
{
  const XXH128_hash_t key = key_of(desc);
  file_header header = {.version = VERSION, .device = target->choice.identity, .key = {key.low64, key.high64}};
  memcpy(header.magic, magic, sizeof magic);
  return header;
}

/* Those of other devices and drivers have other names. */
static void
name_file(const file_header *header, char name[NAME_SIZE])
{
  const XXH128_hash_t hash = XXH3_128bits(header, offsetof(file_header, size));
  snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 ENDING, (uint64_t)hash.high64, (uint64_t)hash.low64);
}

/* Vulkan's own header of the data, as every driver writes it.  NULL: it is of this device. */
static const char *
find_foreign(const vyre_target *target, const unsigned char *data, uint64_t size)
{
  VkPipelineCacheHeaderVersionOne header;
  const vulkan_identity *device = &target->choice.identity;
  if (size < sizeof header)
    return "its data have no header of Vulkan's";
  memcpy(&header, data, sizeof header);
  if (header.headerSize < sizeof header || header.headerSize > size || header.headerVersion != VK_PIPELINE_CACHE_HEADER_VERSION_ONE)
    return "its data have another header than Vulkan's";
  if (header.vendorID != device->vendor || header.deviceID != device->device ||
      memcmp(header.pipelineCacheUUID, device->uuid, sizeof device->uuid) != 0)
    return "its data are another device's";
  return NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static bool
read_all(int file, void *to, size_t size)
{
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(file, (char *)to + done, size - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += (size_t)got;
  }
  return true;
}

/* What is wrong with it; NULL: nothing, and the data are the caller's. */
static const char *
read_data(const vyre_target *target, int file, const file_header *wanted, void **out, uint64_t *out_size)
{
  struct stat found;
  file_header header;
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode))
    return "it is no file";
  if (!read_all(file, &header, sizeof header))
    return "it is cut short";
  if (memcmp(header.magic, magic, sizeof magic) != 0 || header.version != wanted->version)
    return "it is none of this version's";
  if (memcmp(&header, wanted, offsetof(file_header, size)) != 0)
    return "it is of another kernel or device";
  if (header.size > MOST_FILE || (uint64_t)found.st_size != sizeof header + header.size)
    return "it has another size than it says";
  unsigned char *data = target_resize(&target->base.allocator, NULL, 0, (size_t)header.size + 1);
  if (!data)
    return "there is no memory for it";
  const char *wrong = !read_all(file, data, (size_t)header.size)               ? "it is cut short"
                      : XXH3_64bits(data, (size_t)header.size) != header.check ? "it is damaged"
                                                                               : find_foreign(target, data, header.size);
  if (wrong) {
    target_resize(&target->base.allocator, data, (size_t)header.size + 1, 0);
    return wrong;
  }
  *out = data;
  *out_size = header.size;
  return NULL;
}

/* The data of the kernel's file, which is then the one that was used last.  False: there is none that is good. */
static bool
read_file(const vyre_target *target, const file_header *wanted, void **out, uint64_t *out_size)
{
  char name[NAME_SIZE];
  name_file(wanted, name);
  const int file = openat(target->cache.descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int error = errno;
  if (file < 0 && error == ENOENT)
    return false;
  const char *wrong = file < 0 ? strerror(error) : read_data(target, file, wanted, out, out_size);
  if (wrong)
    say(target, "vulkan: the compiled kernel '%.500s/%s' is not used: %s; it is made anew", target->cache.folder, name, wrong);
  else
    futimens(file, NULL); /* where it may be written to */
  if (file >= 0)
    close(file);
  return !wrong;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

static bool
write_all(int file, const void *from, size_t size)
{
  for (size_t done = 0; done < size;) {
    const ssize_t put = write(file, (const char *)from + done, size - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    done += (size_t)put;
  }
  return true;
}

static void
write_file(vyre_target *target, file_header *header, const void *data, uint64_t size)
{
  vulkan_cache *cache = &target->cache;
  char name[NAME_SIZE], temporary[2 * NAME_SIZE];
  name_file(header, name);
  snprintf(temporary, sizeof temporary, ".%s.%ld.%" PRIx64, name, (long)getpid(), target_now());
  header->size = size;
  header->check = XXH3_64bits(data, (size_t)size);
  const int file = openat(cache->descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool is_done = file >= 0 && write_all(file, header, sizeof *header) && write_all(file, data, (size_t)size);
  int error = errno;
  if (file >= 0 && close(file) != 0 && is_done) {
    is_done = false;
    error = errno;
  }
  if (is_done && renameat(cache->descriptor, temporary, cache->descriptor, name) != 0) {
    is_done = false;
    error = errno;
  }
  if (!is_done && file >= 0)
    unlinkat(cache->descriptor, temporary, 0);
  if (!is_done)
    say_not_kept(target, "written", error);
  cache->is_written |= is_done;
}

/* What the driver has of it now. */
static vyre_status
get_data(vyre_target *target, const vulkan_cached *cached, const char *label, void **out, size_t *out_size, size_t *out_capacity)
{
  const struct VolkDeviceTable *call = &target->call;
  *out_capacity = *out_size = 0;
  VYRE_TRY(vulkan_status(target, call->vkGetPipelineCacheData(target->device, cached->handle, out_size, NULL),
                         "vkGetPipelineCacheData", "for kernel '%s'", label));
  if (*out_size > MOST_FILE)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "vulkan: kernel '%s' has %zu bytes of compiled code", label, *out_size);
  *out_capacity = *out_size + 1;
  *out = target_resize(&target->base.allocator, NULL, 0, *out_capacity);
  if (!*out)
    return VYRE_OUT_OF_MEMORY("for a kernel's compiled code");
  return vulkan_status(target, call->vkGetPipelineCacheData(target->device, cached->handle, out_size, *out),
                       "vkGetPipelineCacheData", "for kernel '%s', %zu bytes", label, *out_size);
}

static void
keep(vyre_target *target, const vyre_kernel_desc *desc, const vulkan_cached *cached)
{
  void *data = NULL;
  size_t size, capacity;
  vyre_status status = get_data(target, cached, desc->label, &data, &size, &capacity);
  const char *foreign = status ? NULL : find_foreign(target, data, size);
  if (status) {
    say_status(target, status, "it is not kept");
  } else if (foreign) {
    say(target, "vulkan: what the driver compiled of kernel '%.500s' is not kept: %s", desc->label, foreign);
  } else {
    file_header header = header_of(target, desc);
    write_file(target, &header, data, size);
  }
  if (data)
    target_resize(&target->base.allocator, data, capacity, 0);
}

/* ---- around a compilation ------------------------------------------------------------------------------------------------ */

static VkPipelineCache
make(vyre_target *target, const vyre_kernel_desc *desc, const void *data, uint64_t size, const char *otherwise)
{
  VkPipelineCache made = VK_NULL_HANDLE;
  const VkPipelineCacheCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = (size_t)size, .pInitialData = data};
  vyre_status status =
      vulkan_status(target, target->call.vkCreatePipelineCache(target->device, &info, NULL, &made), "vkCreatePipelineCache",
                    "for kernel '%s', %" PRIu64 " bytes that were kept", desc->label, size);
  if (!status)
    return made;
  say_status(target, status, otherwise);
  return VK_NULL_HANDLE;
}

void
vulkan_cache_begin(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *out)
{
  *out = (vulkan_cached){0};
  if (!open_folder(target))
    return;
  const file_header wanted = header_of(target, desc);
  void *data = NULL;
  uint64_t size = 0;
  if (read_file(target, &wanted, &data, &size)) {
    out->handle = make(target, desc, data, size, "it is compiled again");
    out->is_found = out->handle != VK_NULL_HANDLE;
    target_resize(&target->base.allocator, data, (size_t)size + 1, 0);
  }
  if (out->is_found) {
    target->base.counters.cache_hits++;
    return;
  }
  target->base.counters.cache_misses++;
  out->handle = make(target, desc, NULL, 0, "it is not kept");
}

void
vulkan_cache_end(vyre_target *target, const vyre_kernel_desc *desc, vulkan_cached *cached, bool is_compiled)
{
  if (!cached->handle)
    return;
  if (is_compiled && !cached->is_found)
    keep(target, desc, cached);
  target->call.vkDestroyPipelineCache(target->device, cached->handle, NULL);
  cached->handle = VK_NULL_HANDLE;
}
