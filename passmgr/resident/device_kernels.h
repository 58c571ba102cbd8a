/* Programs of the manager's own for devices, compiled from `.vir` by embed_kernels.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_DEVICE_KERNELS_H
#define VYRE_PASSMGR_RESIDENT_DEVICE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* A program over the arena, with `uint32_t` push constants.  The sizes are in bytes. */
typedef struct device_program {
  const char *name; /* the entry point in both forms */
  const uint32_t *spirv;
  size_t spirv_size;
  const uint32_t *ptx;
  size_t ptx_size;
} device_program;

/* changes.vir */
extern const device_program vyre_program_save, vyre_program_pack, vyre_program_round;

#endif
