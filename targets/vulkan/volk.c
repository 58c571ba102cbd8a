/* Compiles volk's source, which declares Vulkan's functions as pointers and loads them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define VOLK_IMPLEMENTATION
#include <volk.h>
