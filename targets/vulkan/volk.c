/* volk's own source, compiled as a part of ours: it declares Vulkan's functions as pointers and fills them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define VOLK_IMPLEMENTATION
#include <volk.h>
