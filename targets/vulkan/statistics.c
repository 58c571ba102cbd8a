/* Statistics of compiled kernels: VK_KHR_pipeline_executable_properties. A pipeline may have several programs, its executables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

typedef void emit_figure(void *user, const vyre_kernel_figure *figure);

/* One executable, and the receiver of its figures. */
typedef struct part {
  const vulkan_kernel *kernel;
  uint32_t index;
  const char *name;
  emit_figure *emit;
  void *user;
} part;

static void
emit_value(const part *p, const VkPipelineExecutableStatisticKHR *s)
{
  vyre_kernel_figure figure = {.part = p->name, .name = s->name, .text = s->description, .kind = VYRE_FIGURE_U64};
  switch (s->format) {
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
    figure.kind = VYRE_FIGURE_BOOL;
    figure.is_true = s->value.b32 != VK_FALSE;
    break;
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
    figure.u64 = s->value.u64;
    break;
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
    figure.kind = VYRE_FIGURE_F64;
    figure.f64 = (double)s->value.i64;
    break;
  default:
    figure.kind = VYRE_FIGURE_F64;
    figure.f64 = s->value.f64;
    break;
  }
  p->emit(p->user, &figure);
}

static vyre_status
emit_statistics(vyre_target *target, const part *p)
{
  const VkPipelineExecutableInfoKHR info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = p->kernel->pipeline, .executableIndex = p->index};
  static const char api[] = "vkGetPipelineExecutableStatisticsKHR";
  const char *label = p->kernel->base.label;
  uint32_t count = 0;
  VYRE_TRY(vulkan_status(target, target->call.vkGetPipelineExecutableStatisticsKHR(target->device, &info, &count, NULL), api,
                         "counting the statistics of kernel '%s'", label));
  const size_t size = sizeof(VkPipelineExecutableStatisticKHR) * ((size_t)count + 1);
  VkPipelineExecutableStatisticKHR *got = vyre_allocate(&target->base.allocator, size);
  if (!got)
    return VYRE_OUT_OF_MEMORY("for a kernel's statistics");
  for (uint32_t i = 0; i < count; i++)
    got[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  vyre_status status = vulkan_status(target, target->call.vkGetPipelineExecutableStatisticsKHR(target->device, &info, &count, got),
                                     api, "reading %u statistics of kernel '%s'", count, label);
  for (uint32_t i = 0; i < count && !status; i++)
    emit_value(p, &got[i]);
  vyre_release(&target->base.allocator, got, size);
  return status;
}

static vyre_status
emit_part(vyre_target *target, const part *p, const VkPipelineExecutablePropertiesKHR *properties)
{
  if (properties->subgroupSize)
    p->emit(p->user, &(vyre_kernel_figure){.part = p->name,
                                           .name = "Subgroup size",
                                           .text = "lanes of a subgroup for which the kernel was compiled",
                                           .kind = VYRE_FIGURE_U64,
                                           .u64 = properties->subgroupSize});
  return emit_statistics(target, p);
}

vyre_status
vulkan_statistics(vyre_target *target, const target_kernel *item, emit_figure *emit, void *user)
{
  const vulkan_kernel *kernel = (const vulkan_kernel *)(const void *)item;
  const VkPipelineInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = kernel->pipeline};
  static const char api[] = "vkGetPipelineExecutablePropertiesKHR";
  uint32_t count = 0;
  VYRE_TRY(vulkan_status(target, target->call.vkGetPipelineExecutablePropertiesKHR(target->device, &info, &count, NULL), api,
                         "counting the programs of kernel '%s'", item->label));
  const size_t size = sizeof(VkPipelineExecutablePropertiesKHR) * ((size_t)count + 1);
  VkPipelineExecutablePropertiesKHR *got = vyre_allocate(&target->base.allocator, size);
  if (!got)
    return VYRE_OUT_OF_MEMORY("for a kernel's statistics");
  for (uint32_t i = 0; i < count; i++)
    got[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
  vyre_status status = vulkan_status(target, target->call.vkGetPipelineExecutablePropertiesKHR(target->device, &info, &count, got),
                                     api, "reading %u programs of kernel '%s'", count, item->label);
  for (uint32_t i = 0; i < count && !status; i++)
    status = emit_part(target, &(part){kernel, i, count > 1 ? got[i].name : "", emit, user}, &got[i]);
  vyre_release(&target->base.allocator, got, size);
  return vulkan_collect_messages(target->instance.messages, status);
}
