/* Links, the logs of JIT options, and the detection of images. The result of a link is a header and the PTX text. It stands for a
 * cubin, and only this driver loads it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAGIC "\177vyrebin"

typedef struct cubin {
  char magic[8];
  uint32_t sm, driver;
  uint64_t size, digest; /* of the text that follows, with its terminator */
} cubin;

typedef struct link {
  sim_object object;
  sim_jit jit;
  char *text;  /* owned, or NULL until a text is added */
  cubin *made; /* owned, or NULL until the link is complete */
} link;

cuda_result
sim_jit_options(unsigned int count, const cuda_jit_option *options, void **values, sim_jit *out)
{
  *out = (sim_jit){0};
  if (count && (!options || !values))
    return SIM_REFUSE(CUDA_INVALID_VALUE, "%s: %u options, but no arrays of them", sim_call_name(sim_called_now), count);
  for (unsigned i = 0; i < count; i++)
    switch (options[i]) {
    case CUDA_JIT_INFO_LOG:
      out->info = values[i];
      break;
    case CUDA_JIT_INFO_LOG_SIZE:
      out->info_size = (size_t)(uintptr_t)values[i];
      out->info_written = &values[i];
      break;
    case CUDA_JIT_ERROR_LOG:
      out->error = values[i];
      break;
    case CUDA_JIT_ERROR_LOG_SIZE:
      out->error_size = (size_t)(uintptr_t)values[i];
      out->error_written = &values[i];
      break;
    default:
      return SIM_REFUSE(CUDA_INVALID_VALUE, "%s: the simulator does not support option %d", sim_call_name(sim_called_now),
                        (int)options[i]);
    }
  return CUDA_OK;
}

static void
write_log(char *log, size_t size, void **written, const char *text)
{
  const size_t length = strlen(text);
  if (log && size)
    snprintf(log, size, "%s", text);
  if (written)
    *written = (void *)(uintptr_t)(length < size ? length : size); /* NOLINT(performance-no-int-to-ptr): a number */
}

void
sim_jit_write(const sim_jit *jit, const char *info, const char *error)
{
  write_log(jit->info, jit->info_size, jit->info_written, info);
  write_log(jit->error, jit->error_size, jit->error_written, error);
}

/* ---- PTX and the driver's version ---------------------------------------------------------------------------------------- */

/* Returns the newest PTX version that the driver supports (major * 10 + minor), by its CUDA version. */
static uint32_t
ptx_version(void)
{
  static const uint8_t of_12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
  const uint32_t major = sim.driver / 1000, minor = sim.driver % 1000 / 10;
  if (major < 12)
    return 70 + (minor < 8 ? minor : 8);
  return major == 12 && minor < sizeof of_12 ? of_12[minor] : 90;
}

static uint32_t
text_version(const char *text)
{
  unsigned major, minor;
  const char *at = strstr(text, ".version");
  return at && sscanf(at, ".version %u.%u", &major, &minor) == 2 ? major * 10 + minor : 0;
}

cuda_result
sim_ptx_compile(const char *text, const sim_jit *jit, ptx_module **out)
{
  char log[1024] = "";
  *out = ptx_module_parse(text, strlen(text), sim.device.sm, ptx_version(), log, sizeof log);
  char info[64];
  snprintf(info, sizeof info, "info: compiled for sm_%u", sim.device.sm);
  sim_jit_write(jit, *out ? info : "", log);
  if (*out)
    return CUDA_OK;
  return text_version(text) > ptx_version() ? CUDA_UNSUPPORTED_PTX_VERSION : CUDA_INVALID_PTX;
}

cuda_result
sim_image_text(const void *image, char **out)
{
  cubin head;
  const uint8_t *first = image;
  if (memcmp(first, MAGIC, strnlen((const char *)first, sizeof head.magic)) != 0 || *first == 0) {
    if (*first != '/' && *first != '.' && *first != ' ' && *first != '\n' && *first != '\t' && *first != '\r')
      return CUDA_INVALID_IMAGE;
    *out = strdup(image);
    return *out ? CUDA_OK : CUDA_OUT_OF_MEMORY;
  }
  memcpy(&head, image, sizeof head);
  if (head.sm != sim.device.sm)
    return CUDA_NO_BINARY_FOR_GPU;
  const char *text = (const char *)image + sizeof head;
  if (head.size == 0 || head.size > (uint64_t)1 << 32 || XXH3_64bits(text, head.size) != head.digest || text[head.size - 1])
    return CUDA_INVALID_IMAGE;
  *out = strdup(text);
  return *out ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

SIM_ENTRY(cuLinkCreate_v2, SIM_CURRENT, (unsigned int count, cuda_jit_option *options, void **values, cuda_link *out),
          (count, options, values, out))
{
  sim_jit jit;
  const cuda_result result = sim_jit_options(count, options, values, &jit);
  if (result || !out)
    return result ? result : CUDA_INVALID_VALUE;
  link *made = sim_object_new(SIM_LINK, sim_context_current(), sizeof *made);
  made->jit = jit;
  *out = sim_handle(made);
  return CUDA_OK;
}

SIM_ENTRY(cuLinkAddData_v2, SIM_CURRENT,
          (cuda_link handle, cuda_jit_input kind, void *data, size_t size, const char *name, unsigned int count,
           cuda_jit_option *options, void **values),
          (handle, kind, data, size, name, count, options, values))
{
  (void)name;
  sim_jit jit;
  SIM_FOUND(link, found, sim_object_get(SIM_LINK, handle));
  SIM_TRY(sim_jit_options(count, options, values, &jit));
  if (kind != CUDA_JIT_INPUT_PTX || !data || size == 0 || found->text)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuLinkAddData_v2: the simulator links only one PTX text");
  char *text = strndup(data, size);
  if (!text)
    return CUDA_OUT_OF_MEMORY;
  ptx_module *module;
  const cuda_result compiled = sim_ptx_compile(text, &found->jit, &module);
  if (compiled) {
    free(text);
    return compiled;
  }
  ptx_module_free(module);
  found->text = text;
  return CUDA_OK;
}

SIM_ENTRY(cuLinkComplete, SIM_CURRENT, (cuda_link handle, void **out, size_t *size), (handle, out, size))
{
  SIM_FOUND(link, found, sim_object_get(SIM_LINK, handle));
  if (!out || !found->text)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuLinkComplete: no PTX text was added");
  const size_t length = strlen(found->text) + 1;
  free(found->made);
  found->made = sim_allocate(sizeof(cubin) + length);
  *found->made = (cubin){.magic = MAGIC, .sm = sim.device.sm, .driver = sim.driver, .size = length};
  found->made->digest = XXH3_64bits(found->text, length);
  memcpy(found->made + 1, found->text, length);
  *out = found->made;
  if (size)
    *size = sizeof(cubin) + length;
  return CUDA_OK;
}

void
sim_link_free(void *gone)
{
  link *freed = gone;
  free(freed->text);
  free(freed->made);
  sim_object_free(freed);
}

SIM_ENTRY(cuLinkDestroy, SIM_CURRENT, (cuda_link handle), (handle))
{
  SIM_FOUND(link, gone, sim_object_get(SIM_LINK, handle));
  sim_link_free(gone);
  return CUDA_OK;
}
