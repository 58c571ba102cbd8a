/* Compiles and runs PTX with a CUDA driver: the machine's driver if test_on_device(), otherwise the simulated one.
 *
 * Compiles with the driver's linker, as the CUDA target does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_RUN_DRIVER_H
#define VYRE_UNITTESTS_PTX_RUN_DRIVER_H

#include "vyre/ptx.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns whether tests of PTX use the driver: they run on a device, or VYRE_TEST_BY_DRIVER is in the environment. */
bool run_by_driver(void);
/* Returns the newest architecture that the device supports, such as 75 for sm_75. */
uint32_t driver_architecture(void);

/* Memory of the host that the kernel uses by a copy on the device. */
typedef struct driver_range {
  void *data;
  uint64_t size;
  uint64_t address; /* of the copy, a multiple of 256; set by driver_copy */
} driver_range;

/* Copies the ranges to the device, and sets their addresses. */
void driver_copy(driver_range *ranges, uint32_t count);
/* Compiles the text, runs the kernel, whose parameters are at these offsets in `data`, and copies the ranges back.  A failed call
 * fails the test. */
void driver_run(const vyre_bytes *text, const char *name, const uint32_t grid[3], const uint32_t block[3], void *data,
                const uint32_t *offsets, uint32_t count);

#endif
