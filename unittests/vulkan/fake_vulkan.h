/* The interface of the library of fake_vulkan.c, which tests open in place of the Vulkan library.
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
  uint32_t count, count_again; /* the number of devices that the first query reports, and the second one */
} fake_vulkan_list;

/* Properties that the real device does not have.  All zero: the real device's. */
typedef struct fake_vulkan_says {
  uint64_t heap_budget, heap_usage; /* of each heap, by VK_EXT_memory_budget; 0: without the extension */
  bool transfers;                   /* two more queue families: for transfers and video, and for transfers alone */
  uint32_t max_storage;             /* bytes of a storage buffer's range; 0: the real device's */
  uint32_t parts; /* executables of a pipeline, "part 0" and so on, with a statistic of each format; 0: the real ones */
} fake_vulkan_says;

/* The library's functions. */
typedef struct fake_vulkan {
  /* Makes each later call of that function do nothing but return the result, of devices that are opened afterwards, and of others
   * whose calls are counted.  If the result is VK_SUCCESS, devices that are opened afterwards lack the function.  "": no function.
   */
  void (*set)(const char *name, VkResult result);
  /* The same for one call alone, after `passes` that succeed. */
  void (*set_once)(const char *name, VkResult result, uint32_t passes);
  bool (*has_failed)(void);
  /* Makes `count` submissions after the first ones lose the device.  The environment variable FAKE_VULKAN_LOSE=FIRST,COUNT does,
   * too, and FAKE_VULKAN_STORAGE=BYTES is max_storage. */
  void (*lose)(uint32_t first, uint32_t count);
  /* Replaces the real devices: each device is the first real one under another name.  NULL: the real ones.  They are recognized by
   * the order of the queries of their properties. */
  void (*devices)(const fake_vulkan_list *list);
  void (*say)(const fake_vulkan_says *says);
  /* Returns the number of calls of functions whose names begin with `prefix` since count(NULL).  Calls of devices that are opened
   * after the first count() are counted, with or without layers, but not of both kinds at a time. */
  uint32_t (*count)(const char *prefix);
  /* Returns a function that made more objects than were destroyed since count(NULL), or fewer.  Returns NULL if there is none. */
  const char *(*left)(void);
  const watcher *watcher;
} fake_vulkan;

/* Returns the functions of the library in that file. */
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
