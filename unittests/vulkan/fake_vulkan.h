/* What the tests tell the library of fake_vulkan.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_FAKE_VULKAN_H
#define VYRE_UNITTESTS_FAKE_VULKAN_H

#include <vulkan/vulkan.h>

/* From now on that function is missing (VK_SUCCESS), or fails with that result.  "": none. */
__attribute__((visibility("default"))) void fake_vulkan_set(const char *name, VkResult result);
typedef void (*fake_vulkan_set_function)(const char *name, VkResult result);

#endif
