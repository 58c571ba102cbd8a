/* Computes how many blocks a multiprocessor holds at once, limited by its threads, blocks, registers and shared memory.
 *
 * A multiprocessor has four parts with a quarter of the registers each. A warp's registers are in one part, in units of 256, so a
 * remainder in each part stays unused. Shared memory has units of 128 or 256 bytes. From sm_80 on, the driver reserves 1 KiB of it
 * for each block. These are the rules of CUDA's occupancy calculator (cuda_occupancy.h in the toolkit).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/round.h"
#include "targets/cuda/sim/driver/driver.h"

enum { WARP = 32, PARTS = 4, REGISTER_UNIT = 256, MOST_REGISTERS = 255, MOST_THREADS = 1024 };

__attribute__((visibility("default"))) vyre_cuda_sim_blocks_function vyre_cuda_sim_blocks;

static uint32_t
least(uint64_t a, uint64_t b)
{
  return (uint32_t)(a < b ? a : b);
}

uint32_t
sim_most_warps(const sim_device *device, uint32_t registers)
{
  const uint64_t each = least(registers ? registers : 1, MOST_REGISTERS), a_warp = round_up(each * WARP, REGISTER_UNIT);
  return (uint32_t)(device->processor_registers / PARTS / a_warp * PARTS);
}

uint32_t
sim_blocks(const sim_device *device, uint32_t registers, uint64_t threads, uint64_t shared)
{
  if (threads == 0 || threads > MOST_THREADS || shared > device->block_shared)
    return 0;
  const uint64_t warps = round_up(threads, WARP) / WARP, reserved = device->sm >= 80 ? 1024 : 0,
                 taken = round_up(shared + reserved, device->sm >= 80 ? 128 : 256);
  uint32_t blocks = device->processor_blocks;
  blocks = least(blocks, device->processor_threads / (warps * WARP));
  blocks = least(blocks, sim_most_warps(device, registers) / warps);
  return taken ? least(blocks, device->processor_shared / taken) : blocks;
}

uint32_t
vyre_cuda_sim_blocks(uint32_t sm, uint32_t registers, uint32_t threads, uint32_t shared)
{
  sim_device device;
  return sim_device_fill(sm, &device) ? sim_blocks(&device, registers, threads, shared) : 0;
}
