/* What the leak checker is not asked about.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_VULKAN_LEAKS_H
#define VYRE_TARGETS_VULKAN_LEAKS_H

#include <stdbool.h>

/* Mesa's drivers do not free all that they make while they look for devices, and are unloaded with their instance, after which a
 * leak checker cannot tell the owner: so leaks of those two calls are not checked. */
#if defined(__SANITIZE_ADDRESS__)
#define VULKAN_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VULKAN_HAS_ASAN 1
#endif
#endif
/* The layer's checks of synchronization do not free all that they make (1.3.239): they are off where leaks are checked. */
#if defined(VULKAN_HAS_ASAN)
#define VULKAN_LEAKS_CHECKED true
#include <sanitizer/lsan_interface.h>
#define VULKAN_LEAKS_BEGIN() __lsan_disable()
#define VULKAN_LEAKS_END()   __lsan_enable()
#else
#define VULKAN_LEAKS_CHECKED false
#define VULKAN_LEAKS_BEGIN() ((void)0)
#define VULKAN_LEAKS_END()   ((void)0)
#endif

#endif
