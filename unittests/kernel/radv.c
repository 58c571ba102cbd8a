/* AMD's compiler without a card: docs at radv.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "radv.h"

#include "leaks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <volk.h>

struct radv {
  VkInstance instance;
  VkDevice device;
  VkDescriptorSetLayout set;
  VkPipelineLayout layout;
};

static vyre_status
check(VkResult result, const char *what)
{
  return result == VK_SUCCESS ? VYRE_OK : VYRE_ERROR(VYRE_CODE_DEVICE, "radv: %s: %d", what, (int)result);
}

static vyre_status
open_device(radv *r, const char *family)
{
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  uint32_t count = 1;
  VYRE_TRY(check(volkInitialize(), "no loader library: install libvulkan1"));
  VYRE_TRY(check(vkCreateInstance(&instance, NULL, &r->instance), "no driver " RADV_ICD ": install mesa-vulkan-drivers"));
  volkLoadInstance(r->instance);
  VkResult result = vkEnumeratePhysicalDevices(r->instance, &count, &physical);
  if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "radv: there is no null device of family %s", family);
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, .pipelineExecutableInfo = VK_TRUE};
  const VkPhysicalDeviceFeatures features = {.shaderInt64 = VK_TRUE};
  const char *const extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &statistics,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = &extension,
                                     .pEnabledFeatures = &features};
  VYRE_TRY(check(vkCreateDevice(physical, &device, NULL, &r->device), "vkCreateDevice"));
  volkLoadDevice(r->device);
  return VYRE_OK;
}

static vyre_status
open_layout(radv *r, uint32_t push_size)
{
  const VkDescriptorSetLayoutBinding bindings[] = {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
                                                   {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
  const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 2, .pBindings = bindings};
  VYRE_TRY(check(vkCreateDescriptorSetLayout(r->device, &set, NULL, &r->set), "vkCreateDescriptorSetLayout"));
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size};
  const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &r->set,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
  return check(vkCreatePipelineLayout(r->device, &layout, NULL, &r->layout), "vkCreatePipelineLayout");
}

vyre_status
radv_open(const char *family, uint32_t push_size, radv **out)
{
  setenv("RADV_FORCE_FAMILY", family, 1);
  setenv("VK_ICD_FILENAMES", RADV_ICD, 1);
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
  *out = calloc(1, sizeof **out);
  if (!*out)
    return VYRE_OUT_OF_MEMORY("opening radv");
  VULKAN_LEAKS_BEGIN();
  vyre_status status = open_device(*out, family);
  VULKAN_LEAKS_END();
  return status ? status : open_layout(*out, push_size);
}

void
radv_close(radv *r)
{
  if (r->device) {
    vkDestroyPipelineLayout(r->device, r->layout, NULL);
    vkDestroyDescriptorSetLayout(r->device, r->set, NULL);
    vkDestroyDevice(r->device, NULL);
  }
  if (r->instance)
    vkDestroyInstance(r->instance, NULL);
  free(r);
}

static void
take(radv_figures *out, const VkPipelineExecutableStatisticKHR *s)
{
  const struct {
    const char *name;
    uint64_t *to;
  } figures[] = {{"Instructions", &out->instructions},
                 {"SGPRs", &out->sgprs},
                 {"VGPRs", &out->vgprs},
                 {"Spilled SGPRs", &out->spilled_sgprs},
                 {"Spilled VGPRs", &out->spilled_vgprs},
                 {"Scratch size", &out->scratch},
                 {"LDS size", &out->lds},
                 {"Code size", &out->code},
                 {"Latency", &out->latency}};
  _Static_assert(sizeof figures / sizeof *figures == RADV_FIGURES, "radv.h");
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    if (strcasecmp(s->name, figures[i].name) == 0) {
      *figures[i].to = s->value.u64;
      out->count++;
    }
}

static vyre_status
read_figures(const radv *r, VkPipeline pipeline, radv_figures *out)
{
  const VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline};
  VkPipelineExecutableStatisticKHR statistics[32];
  uint32_t count = sizeof statistics / sizeof *statistics;
  for (uint32_t i = 0; i < count; i++)
    statistics[i] = (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
  VYRE_TRY(
      check(vkGetPipelineExecutableStatisticsKHR(r->device, &info, &count, statistics), "vkGetPipelineExecutableStatisticsKHR"));
  for (uint32_t i = 0; i < count; i++)
    take(out, &statistics[i]);
  return VYRE_OK;
}

vyre_status
radv_compile(const radv *r, const vyre_bytes *code, const char *entry, radv_figures *out)
{
  *out = (radv_figures){.words = code->size / 4};
  const VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = code->size,
                                           .pCode = (const uint32_t *)(const void *)code->data};
  VkShaderModule shader;
  VYRE_TRY(check(vkCreateShaderModule(r->device, &module, NULL, &shader), "vkCreateShaderModule"));
  const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                            .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR,
                                            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                      .module = shader,
                                                      .pName = entry},
                                            .layout = r->layout};
  VkPipeline pipeline = VK_NULL_HANDLE;
  vyre_status status =
      check(vkCreateComputePipelines(r->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline), "vkCreateComputePipelines");
  if (!status)
    status = read_figures(r, pipeline, out);
  vkDestroyPipeline(r->device, pipeline, NULL);
  vkDestroyShaderModule(r->device, shader, NULL);
  return status;
}
