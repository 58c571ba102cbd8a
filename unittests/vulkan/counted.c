/* Calls of a device's functions are counted: each goes through a function of its own, which hands on whatever it is given; that
 * works with the calling conventions there are for up to six arguments that are no floats, and is for tests alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include <string.h>

/* clang-format off */
#define COUNTED(X)                                                                                                        \
  X(vkAllocateCommandBuffers)                                                                                             \
  X(vkAllocateDescriptorSets)                                                                                             \
  X(vkAllocateMemory)                                                                                                     \
  X(vkBeginCommandBuffer)                                                                                                 \
  X(vkCreateBuffer) X(vkCreateBufferView) X(vkCreateCommandPool) X(vkCreateComputePipelines) X(vkCreateDescriptorPool)    \
      X(vkCreateDescriptorSetLayout) X(vkCreateImage) X(vkCreateImageView) X(vkCreatePipelineLayout) X(vkCreateQueryPool) \
          X(vkCreateSampler) X(vkCreateSemaphore) X(vkCreateShaderModule) X(vkMapMemory) X(vkQueueSubmit)                 \
              X(vkUpdateDescriptorSets) X(vkWaitSemaphores)
/* clang-format on */

typedef uint64_t any_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

#define X(name) COUNT_##name,
enum { COUNTED(X) COUNTS };
#undef X

static bool counts;
static uint32_t counters[COUNTS];
static any_function *reals[COUNTS];

#define X(name)                                                                                        \
  static uint64_t count_##name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) \
  {                                                                                                    \
    counters[COUNT_##name]++;                                                                          \
    return reals[COUNT_##name](a, b, c, d, e, f);                                                      \
  }
COUNTED(X)
#undef X

static const struct {
  const char *name;
  any_function *function;
} functions[COUNTS] = {
#define X(name) {#name, count_##name},
    COUNTED(X)
#undef X
};

uint32_t
fake_vulkan_count(const char *prefix)
{
  uint32_t sum = 0;
  for (uint32_t i = 0; i < COUNTS; i++) {
    if (!prefix)
      counters[i] = 0;
    else if (strncmp(functions[i].name, prefix, strlen(prefix)) == 0)
      sum += counters[i];
  }
  counts = true;
  return sum;
}

PFN_vkVoidFunction
counted_wrap(const char *name, PFN_vkVoidFunction real)
{
  for (uint32_t i = 0; i < COUNTS && counts && real; i++)
    if (strcmp(functions[i].name, name) == 0) {
      memcpy(&reals[i], &real, sizeof real);
      memcpy(&real, &functions[i].function, sizeof real);
      return real;
    }
  return real;
}
