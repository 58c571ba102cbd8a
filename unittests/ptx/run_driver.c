/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "run_driver.h"

#include "targets/cuda/api/api.h"
#include "bundle.h"

#include <dlfcn.h>

enum { MOST_RANGES = 128, MOST_PARAMETERS = 3, ALIGN = 256, OLDEST = 75 };

static struct {
  cuda_api call;
  cuda_context context; /* NULL until open_driver */
  uint32_t architecture;
  cuda_address memory;
  uint64_t size;
  driver_range ranges[MOST_RANGES]; /* of the last driver_copy */
  uint32_t count;
} driver;

#define OK(what) check((what), #what)

static void
check(cuda_result result, const char *what)
{
  if (result != CUDA_OK)
    fail_msg("%s returns %d", what, (int)result);
}

bool
run_by_driver(void)
{
  return test_on_device() || getenv("VYRE_TEST_BY_DRIVER");
}

static void
open_driver(void)
{
  cuda_device device;
  int major = 0, minor = 0;
  if (driver.context)
    return;
  const char *path = test_library("lib/libvyre-cuda-sim.so");
  void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail_msg("%s", dlerror());
#define CUDA_SYM(name, parameters)                     \
  {                                                    \
    void *symbol = dlsym(library, #name);              \
    assert_non_null(symbol);                           \
    memcpy(&driver.call.name, &symbol, sizeof symbol); \
  }
#include "targets/cuda/api/symbols.def"
  OK(driver.call.cuInit(0));
  OK(driver.call.cuDeviceGet(&device, 0));
  OK(driver.call.cuDeviceGetAttribute(&major, CUDA_CAPABILITY_MAJOR, device));
  OK(driver.call.cuDeviceGetAttribute(&minor, CUDA_CAPABILITY_MINOR, device));
  OK(driver.call.cuCtxCreate_v2(&driver.context, 0, device));
  driver.architecture = (uint32_t)(10 * major + minor);
}

uint32_t
driver_architecture(void)
{
  open_driver();
  return driver.architecture;
}

void
driver_copy(driver_range *ranges, uint32_t count)
{
  uint64_t size = 0;
  open_driver();
  assert_true(count <= MOST_RANGES);
  for (uint32_t i = 0; i < count; i++)
    size += (ranges[i].size + 2 * ALIGN - 1) / ALIGN * ALIGN;
  if (size > driver.size) {
    if (driver.size)
      OK(driver.call.cuMemFree_v2(driver.memory));
    OK(driver.call.cuMemAlloc_v2(&driver.memory, size));
    driver.size = size;
  }
  size = 0;
  for (uint32_t i = 0; i < count; i++) {
    ranges[i].address = driver.memory + size;
    size += (ranges[i].size + 2 * ALIGN - 1) / ALIGN * ALIGN;
    if (ranges[i].size)
      OK(driver.call.cuMemcpyHtoDAsync_v2(ranges[i].address, ranges[i].data, ranges[i].size, NULL));
  }
  OK(driver.call.cuStreamSynchronize(NULL));
  memcpy(driver.ranges, ranges, count * sizeof *ranges);
  driver.count = count;
}

void
driver_run(const vyre_bytes *text, const char *name, const uint32_t grid[3], const uint32_t block[3], void *data,
           const uint32_t *offsets, uint32_t count)
{
  void *cubin, *parameters[MOST_PARAMETERS];
  size_t size;
  cuda_link link;
  cuda_module module;
  cuda_function function;
  assert_true(count <= MOST_PARAMETERS);
  char *terminated = calloc(1, text->size + 1);
  assert_non_null(terminated);
  memcpy(terminated, text->data, text->size);
  OK(driver.call.cuLinkCreate_v2(0, NULL, NULL, &link));
  OK(driver.call.cuLinkAddData_v2(link, CUDA_JIT_INPUT_PTX, terminated, text->size + 1, name, 0, NULL, NULL));
  OK(driver.call.cuLinkComplete(link, &cubin, &size));
  OK(driver.call.cuModuleLoadDataEx(&module, cubin, 0, NULL, NULL));
  OK(driver.call.cuModuleGetFunction(&function, module, name));
  for (uint32_t i = 0; i < count; i++)
    parameters[i] = (char *)data + offsets[i];
  OK(driver.call.cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, NULL, parameters, NULL));
  for (uint32_t i = 0; i < driver.count; i++)
    if (driver.ranges[i].size)
      OK(driver.call.cuMemcpyDtoHAsync_v2(driver.ranges[i].data, driver.ranges[i].address, driver.ranges[i].size, NULL));
  OK(driver.call.cuStreamSynchronize(NULL));
  OK(driver.call.cuModuleUnload(module));
  OK(driver.call.cuLinkDestroy(link));
  free(terminated);
}
