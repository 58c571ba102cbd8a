/* The interface of the library of fake_vulkan.c, which tests open instead of the Vulkan library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_FAKE_VULKAN_H
#define VYRE_UNITTESTS_FAKE_VULKAN_H

#include "watch_log.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan.h>

typedef struct fake_vulkan_device {
  const char *name;
  VkPhysicalDeviceType type;
  uint32_t version;
  bool computes;
} fake_vulkan_device;

typedef struct fake_vulkan_list {
  const fake_vulkan_device *devices;
  uint32_t count, count_again; /* numbers of devices that the first and the second query report */
} fake_vulkan_list;

/* Properties that the real device lacks.  All are zero for the properties of the real device. */
typedef struct fake_vulkan_says {
  uint64_t heap_budget, heap_usage; /* of each heap, by VK_EXT_memory_budget, or 0 without the extension */
  bool transfers;                   /* two more queue families: for transfers and video, and only for transfers */
  uint32_t max_storage;             /* bytes of a storage buffer's range, or 0 for the real device's */
  uint32_t parts;                   /* executables of a pipeline, "part 0" and so on, with a statistic of each format, or 0 */
} fake_vulkan_says;

/* The library's functions. */
typedef struct fake_vulkan {
  /* Makes each later call of `name` only return `result`.  Devices that are opened later are affected, and devices whose calls
   * are counted.  If `result` is VK_SUCCESS, devices that are opened later lack the function.  The name "" ends the failure. */
  void (*set)(const char *name, VkResult result);
  /* Makes one call of `name` fail, after `passes` calls that succeed. */
  void (*set_once)(const char *name, VkResult result, uint32_t passes);
  bool (*has_failed)(void);
  /* Makes `count` submissions lose the device, after `first` that succeed.  The environment variable FAKE_VULKAN_LOSE=FIRST,COUNT
   * has the same effect, and FAKE_VULKAN_STORAGE=BYTES sets max_storage. */
  void (*lose)(uint32_t first, uint32_t count);
  /* Replaces the real devices, or restores them if `list` is NULL.  Each device is the first real one under another name.  The
   * order of the queries of properties identifies the devices. */
  void (*devices)(const fake_vulkan_list *list);
  void (*say)(const fake_vulkan_says *says);
  /* Returns the number of calls, since count(NULL), of functions whose names begin with `prefix`.  Only devices opened after the
   * first count() are counted, either all with layers or all without. */
  uint32_t (*count)(const char *prefix);
  /* Returns a function whose created objects are not as many as the destroyed ones since count(NULL), or NULL. */
  const char *(*left)(void);
  const watcher *watcher;
} fake_vulkan;

/* Opens the library, and returns its functions, or NULL. */
static inline const fake_vulkan *
fake_vulkan_open(const char *path)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, "fake_vulkan_functions") : NULL;
}

/* Parts of the library. */
PFN_vkVoidFunction discrete_wrap(const char *name, PFN_vkVoidFunction real);
PFN_vkVoidFunction discrete_wrap_device(VkDevice device, const char *name, PFN_vkVoidFunction real);
PFN_vkVoidFunction watcher_wrap(const char *name, PFN_vkVoidFunction real);

#endif
