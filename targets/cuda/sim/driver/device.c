/* Simulated devices. All are equal: a device of one architecture with few multiprocessors.
 *
 * The limits come from the table of compute capabilities in the CUDA programming guide.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdio.h>
#include <string.h>

static const sim_device architectures[] = {
    {.sm = 75, .processor_threads = 1024, .processor_blocks = 16, .processor_shared = 64 << 10},
    {.sm = 80, .processor_threads = 2048, .processor_blocks = 32, .processor_shared = 164 << 10},
    {.sm = 86, .processor_threads = 1536, .processor_blocks = 16, .processor_shared = 100 << 10},
    {.sm = 87, .processor_threads = 1536, .processor_blocks = 16, .processor_shared = 164 << 10},
    {.sm = 89, .processor_threads = 1536, .processor_blocks = 24, .processor_shared = 100 << 10},
    {.sm = 90, .processor_threads = 2048, .processor_blocks = 32, .processor_shared = 228 << 10},
    {.sm = 100, .processor_threads = 2048, .processor_blocks = 32, .processor_shared = 228 << 10},
    {.sm = 120, .processor_threads = 1536, .processor_blocks = 24, .processor_shared = 100 << 10},
};

enum { BLOCK_SHARED = 48 << 10, REGISTERS = 64 << 10 };

bool
sim_device_fill(uint32_t sm, sim_device *out)
{
  for (uint32_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
    if (architectures[i].sm != sm)
      continue;
    *out = architectures[i];
    out->processor_registers = REGISTERS;
    out->block_shared = BLOCK_SHARED;
    return true;
  }
  return false;
}

/* Checks the output pointer and the device of a query. */
static cuda_result
check(const void *out, cuda_device device)
{
  if (!out)
    return CUDA_INVALID_VALUE;
  return device >= 0 && (uint32_t)device < sim.device_count ? CUDA_OK : CUDA_INVALID_DEVICE;
}

SIM_ENTRY(cuDeviceGetCount, SIM_READY, (int *count), (count))
{
  if (!count)
    return CUDA_INVALID_VALUE;
  *count = (int)sim.device_count;
  return CUDA_OK;
}

SIM_ENTRY(cuDeviceGet, SIM_READY, (cuda_device * device, int ordinal), (device, ordinal))
{
  SIM_TRY(check(device, ordinal));
  *device = ordinal;
  return CUDA_OK;
}

SIM_ENTRY(cuDeviceGetName, SIM_READY, (char *name, int length, cuda_device device), (name, length, device))
{
  SIM_TRY(check(length > 0 ? name : NULL, device));
  snprintf(name, (size_t)length, "simulated sm_%u device", sim.device.sm);
  return CUDA_OK;
}

SIM_ENTRY(cuDeviceGetUuid_v2, SIM_READY, (cuda_uuid * uuid, cuda_device device), (uuid, device))
{
  SIM_TRY(check(uuid, device));
  memcpy(uuid->bytes, "vyre simulated", 14);
  uuid->bytes[14] = (char)sim.device.sm;
  uuid->bytes[15] = (char)device;
  return CUDA_OK;
}

SIM_ENTRY(cuDeviceTotalMem_v2, SIM_READY, (size_t * bytes, cuda_device device), (bytes, device))
{
  SIM_TRY(check(bytes, device));
  *bytes = sim.device.memory;
  return CUDA_OK;
}

static int64_t
attribute_of(cuda_device_attribute attribute)
{
  switch (attribute) {
  case CUDA_MAX_THREADS_PER_BLOCK:
  case CUDA_MAX_BLOCK_X:
  case CUDA_MAX_BLOCK_Y:
    return 1024;
  case CUDA_MAX_BLOCK_Z:
    return 64;
  case CUDA_MAX_GRID_X:
    return 0x7fffffff;
  case CUDA_MAX_GRID_Y:
  case CUDA_MAX_GRID_Z:
    return 65535;
  case CUDA_MAX_SHARED_PER_BLOCK:
    return sim.device.block_shared;
  case CUDA_WARP_SIZE:
    return 32;
  case CUDA_MULTIPROCESSORS:
    return sim.device.processors;
  case CUDA_INTEGRATED:
    return 0;
  case CUDA_CAN_MAP_HOST_MEMORY:
  case CUDA_UNIFIED_ADDRESSING:
  case CUDA_COOPERATIVE_LAUNCH:
  case CUDA_HOST_REGISTER_SUPPORTED:
    return 1;
  case CUDA_MEMORY_CLOCK: /* the simulated device has no clocks, caches and registers */
  case CUDA_MEMORY_BUS:
  case CUDA_L2_CACHE:
  case CUDA_REGISTERS_PER_MULTIPROCESSOR:
    return 0;
  case CUDA_COMPUTE_MODE:
    return CUDA_MODE_DEFAULT;
  case CUDA_CAPABILITY_MAJOR:
    return sim.device.sm / 10;
  case CUDA_CAPABILITY_MINOR:
    return sim.device.sm % 10;
  }
  return -1;
}

SIM_ENTRY(cuDeviceGetAttribute, SIM_READY, (int *value, cuda_device_attribute attribute, cuda_device device),
          (value, attribute, device))
{
  SIM_TRY(check(value, device));
  const int64_t found = attribute_of(attribute);
  if (found < 0)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuDeviceGetAttribute: the simulator does not support attribute %d", (int)attribute);
  *value = (int)found;
  return CUDA_OK;
}
