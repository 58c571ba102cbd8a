/* What the tests tell the library of fake_vulkan.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_FAKE_VULKAN_H
#define VYRE_UNITTESTS_FAKE_VULKAN_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

/* From now on that function is missing (VK_SUCCESS), or fails with that result.  "": none. */
__attribute__((visibility("default"))) void fake_vulkan_set(const char *name, VkResult result);
typedef void (*fake_vulkan_set_function)(const char *name, VkResult result);

/* From the next open on it fails once, after so many calls that do not. */
__attribute__((visibility("default"))) void fake_vulkan_set_once(const char *name, VkResult result, int32_t passes);
typedef void (*fake_vulkan_set_once_function)(const char *name, VkResult result, int32_t passes);
__attribute__((visibility("default"))) bool fake_vulkan_has_failed(void);
typedef bool (*fake_vulkan_has_failed_function)(void);

/* From now on these devices replace the real ones; each is the first real one under another name.  NULL: the real
 * ones.  They are told apart by the order in which their properties are asked for. */
typedef struct fake_vulkan_device {
  const char *name;
  VkPhysicalDeviceType type;
  uint32_t version;
  bool computes;
} fake_vulkan_device;
typedef struct fake_vulkan_list {
  const fake_vulkan_device *devices;
  uint32_t count, count_again; /* how many there are when it is asked first, and when they are asked for */
} fake_vulkan_list;
__attribute__((visibility("default"))) void fake_vulkan_devices(const fake_vulkan_list *list);
typedef void (*fake_vulkan_devices_function)(const fake_vulkan_list *list);

/* What the device says of itself, which the real one does not.  All zero: nothing else than that. */
typedef struct fake_vulkan_says {
  uint64_t heap_budget, heap_usage; /* of each heap, by VK_EXT_memory_budget; 0: it has no such extension */
  bool transfers;                   /* it has two more queue families: for transfers and video, and for transfers alone */
  uint32_t max_storage;             /* bytes of a storage buffer's range; 0: the real device's */
  uint32_t
      parts; /* programs that a kernel became, "part 0" and so on, with a figure of each kind of value; 0: what the real one made */
} fake_vulkan_says;
__attribute__((visibility("default"))) void fake_vulkan_say(const fake_vulkan_says *says);
typedef void (*fake_vulkan_say_function)(const fake_vulkan_says *says);

/* Of the submissions from now on, so many after the first ones lose the device.  Programs are told by FAKE_VULKAN_LOSE=FIRST,COUNT,
 * and max_storage by FAKE_VULKAN_STORAGE=BYTES. */
__attribute__((visibility("default"))) void fake_vulkan_lose(uint32_t first, uint32_t count);
typedef void (*fake_vulkan_lose_function)(uint32_t first, uint32_t count);

/* counted.c: calls of functions whose names begin so, since it was called with NULL last.  What is made from the first call on is
 * counted, of one kind of layers at a time. */
__attribute__((visibility("default"))) uint32_t fake_vulkan_count(const char *prefix);
typedef uint32_t (*fake_vulkan_count_function)(const char *prefix);
/* Since then: a function that made more objects than were destroyed, or fewer; NULL: there is none. */
__attribute__((visibility("default"))) const char *fake_vulkan_left(void);
typedef const char *(*fake_vulkan_left_function)(void);
/* Instead of a function, if it is counted. */
PFN_vkVoidFunction counted_wrap(const char *name, PFN_vkVoidFunction real);

/* watcher.h */
struct watcher;
__attribute__((visibility("default"))) const struct watcher *fake_vulkan_watcher(void);
typedef const struct watcher *(*fake_vulkan_watcher_function)(void);

#endif
