/* Exceptions for the leak checker.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_VULKAN_LEAKS_H
#define VYRE_TARGETS_VULKAN_LEAKS_H

#include <stdbool.h>

/* Mesa's drivers leak memory while they search for devices. They are unloaded with their instance, so the leak checker cannot name
 * the library. So allocations between VULKAN_LEAKS_BEGIN and VULKAN_LEAKS_END are not checked. */
#if defined(__SANITIZE_ADDRESS__)
#define VULKAN_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VULKAN_HAS_ASAN 1
#endif
#endif
/* The validation layer's synchronization checks leak memory (1.3.239), so they are off if leaks are checked. */
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
