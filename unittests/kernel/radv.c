/* Implements radv.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "radv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct radv {
  vyre_target *target;
  uint32_t push_size;
};

vyre_status
radv_open(const char *family, uint32_t push_size, radv **out)
{
  const vyre_target_options options = {.struct_size = sizeof options, .statistics = true};
  setenv("RADV_FORCE_FAMILY", family, 1);
  setenv("VK_ICD_FILENAMES", RADV_ICD, 1);
  setenv("VK_DRIVER_FILES", RADV_ICD, 1);
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
  *out = calloc(1, sizeof **out);
  if (!*out)
    return VYRE_OUT_OF_MEMORY("opening radv");
  (*out)->push_size = push_size;
  return vyre_target_vulkan.open(&options, NULL, &(*out)->target);
}

void
radv_close(radv *r)
{
  vyre_status_free(vyre_target_vulkan.close(r->target));
  free(r);
}

static void
store_figure(void *user, const vyre_kernel_figure *figure)
{
  radv_figures *out = user;
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
    if (strcasecmp(figure->name, figures[i].name) == 0) {
      *figures[i].to = figure->u64;
      out->count++;
    }
}

vyre_status
radv_compile(const radv *r, const vyre_bytes *code, const char *entry, radv_figures *out)
{
  const vyre_kernel_slot slots[] = {{.binding = 0, .kind = VYRE_SLOT_STORAGE}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}};
  const vyre_kernel_desc desc = {.label = "kernel",
                                 .form = VYRE_KERNEL_SPIRV,
                                 .code = code->data,
                                 .size = code->size,
                                 .entry = entry,
                                 .workgroup = {1, 1, 1},
                                 .slots = slots,
                                 .slot_count = 2,
                                 .push_size = r->push_size};
  vyre_kernel kernel;
  *out = (radv_figures){.words = code->size / 4};
  VYRE_TRY(vyre_target_vulkan.compile(r->target, &desc, &kernel));
  vyre_status status = vyre_target_vulkan.statistics(r->target, kernel, store_figure, out);
  return vyre_status_join(status, vyre_target_vulkan.release(r->target, kernel));
}
