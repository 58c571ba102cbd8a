/* Opens the driver's library, finds its functions by their versioned names, and starts the driver.
 *
 * Three things can be missing, and each has its own message: the library, a symbol, or a device. The device `sim` is the
 * simulator, a library in the folder of vyre's own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_VERSION = 11080 /* the first driver that accepts PTX 7.8 */ };

static bool
chooses_simulator(const vyre_target_options *options)
{
  return options->device && strcmp(options->device, "sim") == 0;
}

const char *
cuda_wanted_device(const vyre_target_options *options)
{
  return chooses_simulator(options) ? NULL : options->device;
}

/* Opens the simulator in the folder of the object with this code, or in ../lib, as the build and an installation have it. */
static void *
open_simulator(char path[PATH_MAX])
{
  static const char *const folders[] = {"", "../lib/"};
  Dl_info here;
  void *found = NULL;
  static const int anchor;
  if (!dladdr(&anchor, &here) || !here.dli_fname)
    return NULL;
  const char *slash = strrchr(here.dli_fname, '/');
  const int length = slash ? (int)(slash - here.dli_fname) + 1 : 0;
  for (size_t i = 0; i < sizeof folders / sizeof *folders && !found; i++) {
    snprintf(path, PATH_MAX, "%.*s%s%s", length, here.dli_fname, folders[i], CUDA_SIM_LIBRARY);
    found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return found;
}

static vyre_status
open_library(const vyre_target_options *options, cuda_library *library)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", options->library ? options->library : "libcuda.so.1");
  library->handle = !options->library && chooses_simulator(options) ? open_simulator(path) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle)
    return VYRE_ERROR(VYRE_CODE_DEVICE,
                      "cuda: no library: %s\n"
                      "Fix: install the NVIDIA driver (Debian: nvidia-driver, libcuda1), choose the device 'sim', or use another "
                      "target",
                      dlerror());
#define CUDA_SYM(name, parameters)                                                                        \
  {                                                                                                       \
    void *symbol = dlsym(library->handle, #name);                                                         \
    if (!symbol)                                                                                          \
      return VYRE_ERROR(VYRE_CODE_DEVICE,                                                                 \
                        "cuda: no symbol: the library '%s' lacks %s\n"                                    \
                        "Fix: install the NVIDIA driver 520 (CUDA 11.8) or later, or use another target", \
                        path, #name);                                                                     \
    memcpy(&library->call.name, &symbol, sizeof symbol);                                                  \
  }
#include "targets/cuda/api/symbols.def"
  library->is_emulated = dlsym(library->handle, CUDA_SIM_SYMBOL) != NULL;
  void *messages = dlsym(library->handle, "vyre_cuda_sim_messages"), *clear = dlsym(library->handle, "vyre_cuda_sim_clear");
  if (messages && clear) {
    memcpy(&library->messages, &messages, sizeof messages);
    memcpy(&library->clear, &clear, sizeof clear);
  }
  return VYRE_OK;
}

static vyre_status
start_driver(cuda_library *library)
{
  const cuda_result result = library->call.cuInit(0);
  if (result == CUDA_NO_DEVICE)
    return cuda_no_device("the driver's library finds no NVIDIA GPU");
  VYRE_TRY(cuda_library_status(library, NULL, result, "cuInit", "starting the driver"));
  VYRE_TRY(CUDA_QUERY(library, cuDriverGetVersion, (&library->version), "reading the driver's version"));
  if (library->version >= LEAST_VERSION)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "cuda: the driver is for CUDA %d.%d, but vyre needs 11.8\nFix: install the NVIDIA driver 520 or later",
                    library->version / 1000, library->version % 1000 / 10);
}

vyre_status
cuda_library_open(const vyre_target_options *options, cuda_library *out)
{
  *out = (cuda_library){0};
  cuda_library library = {0};
  vyre_status status = open_library(options, &library);
  if (!status)
    status = start_driver(&library);
  if (status)
    cuda_library_close(&library);
  else
    *out = library;
  return status;
}

void
cuda_library_close(cuda_library *library)
{
  if (library->handle)
    dlclose(library->handle);
  *library = (cuda_library){0};
}
