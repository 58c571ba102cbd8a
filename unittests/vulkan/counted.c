/* Calls of a driver's functions are counted, and what they made and destroyed: each goes through a function of its own, which hands
 * on whatever it is given; that works with the calling conventions there are for up to six arguments that are no floats, and is for
 * tests alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include <string.h>

/* What is made, by which function it goes, and which of that one's arguments it is. */
#define OBJECTS(X)                                                \
  X(vkAllocateMemory, vkFreeMemory, b)                            \
  X(vkCreateBuffer, vkDestroyBuffer, b)                           \
  X(vkCreateBufferView, vkDestroyBufferView, b)                   \
  X(vkCreateCommandPool, vkDestroyCommandPool, b)                 \
  X(vkCreateComputePipelines, vkDestroyPipeline, b)               \
  X(vkCreateDescriptorPool, vkDestroyDescriptorPool, b)           \
  X(vkCreateDescriptorSetLayout, vkDestroyDescriptorSetLayout, b) \
  X(vkCreateDevice, vkDestroyDevice, a)                           \
  X(vkCreateImage, vkDestroyImage, b)                             \
  X(vkCreateImageView, vkDestroyImageView, b)                     \
  X(vkCreateInstance, vkDestroyInstance, a)                       \
  X(vkCreatePipelineLayout, vkDestroyPipelineLayout, b)           \
  X(vkCreateQueryPool, vkDestroyQueryPool, b)                     \
  X(vkCreateSampler, vkDestroySampler, b)                         \
  X(vkCreateSemaphore, vkDestroySemaphore, b)                     \
  X(vkCreateShaderModule, vkDestroyShaderModule, b)

/* Those that make nothing which goes by itself. */
#define OTHERS(X)             \
  X(vkAllocateCommandBuffers) \
  X(vkAllocateDescriptorSets) \
  X(vkBeginCommandBuffer)     \
  X(vkMapMemory)              \
  X(vkQueueSubmit)            \
  X(vkUpdateDescriptorSets)   \
  X(vkWaitSemaphores)

typedef uint64_t any_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

#define X(name)                       COUNT_##name,
#define MADE(make, destroy, argument) COUNT_##make, COUNT_##destroy,
enum { OBJECTS(MADE) OTHERS(X) COUNTS };
#undef MADE
#undef X

static bool counts;
static uint32_t counters[COUNTS];
static uint32_t effects[COUNTS]; /* of those calls, the ones that made or destroyed one */
static any_function *reals[COUNTS];

#define COUNTED(name, effect)                                                                          \
  static uint64_t count_##name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) \
  {                                                                                                    \
    const uint64_t result = reals[COUNT_##name](a, b, c, d, e, f);                                     \
    counters[COUNT_##name]++;                                                                          \
    effects[COUNT_##name] += (effect) ? 1 : 0;                                                         \
    return result;                                                                                     \
  }
#define X(name) COUNTED(name, false)
#define MADE(make, destroy, argument)          \
  COUNTED(make, (int32_t)result == VK_SUCCESS) \
  COUNTED(destroy, argument != 0)
OBJECTS(MADE)
OTHERS(X)
#undef MADE
#undef X

static const struct {
  const char *name;
  any_function *function;
} functions[COUNTS] = {
#define X(name)                       {#name, count_##name},
#define MADE(make, destroy, argument) X(make) X(destroy)
    OBJECTS(MADE) OTHERS(X)
#undef MADE
#undef X
};

uint32_t
fake_vulkan_count(const char *prefix)
{
  uint32_t sum = 0;
  for (uint32_t i = 0; i < COUNTS; i++) {
    if (!prefix)
      counters[i] = effects[i] = 0;
    else if (strncmp(functions[i].name, prefix, strlen(prefix)) == 0)
      sum += counters[i];
  }
  counts = true;
  return sum;
}

const char *
fake_vulkan_left(void)
{
#define MADE(make, destroy, argument)                    \
  if (effects[COUNT_##make] != effects[COUNT_##destroy]) \
    return #make;
  OBJECTS(MADE)
#undef MADE
  return NULL;
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
