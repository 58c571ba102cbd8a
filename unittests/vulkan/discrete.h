/* A device that lavapipe is not, made of it by fake_vulkan.c: memory that the host does not see and memory of the host's, a queue
 * family that copies alone, storage ranges of 64 KiB.  Both queues are the real one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_DISCRETE_H
#define VYRE_UNITTESTS_DISCRETE_H

#include <vulkan/vulkan.h>

enum { DISCRETE_STORAGE_RANGE = 1 << 16 };

/* Instead of a function of an instance; of a device. */
PFN_vkVoidFunction discrete_wrap(const char *name, PFN_vkVoidFunction real);
PFN_vkVoidFunction discrete_wrap_device(VkDevice device, const char *name, PFN_vkVoidFunction real);

#endif
