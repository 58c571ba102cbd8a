/* Programs as PTX, compiled and run by a CUDA driver: the machine's own where test_on_device, else the simulated one.
 *
 * Compiled as the target does it: by the driver's linker.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_RUN_DRIVER_H
#define VYRE_UNITTESTS_PTX_RUN_DRIVER_H

#include "vyre/ptx.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether tests of PTX are to be run so: for a device, or because VYRE_TEST_BY_DRIVER is in the environment. */
bool run_by_driver(void);
/* What the text may be written for at most: 75 for sm_75. */
uint32_t driver_architecture(void);

/* Memory of the host that the kernel is given a copy of, and that the copy comes back to. */
typedef struct driver_range {
  void *data;
  uint64_t size;
  uint64_t address; /* out: the copy's, a multiple of 256 */
} driver_range;

/* Has copies of them made. */
void driver_copy(driver_range *ranges, uint32_t count);
/* Runs the kernel, whose parameters are at these offsets in `data`, and has the copies come back.  A call that fails fails the
 * test. */
void driver_run(const vyre_bytes *text, const char *name, const uint32_t grid[3], const uint32_t block[3], void *data,
                const uint32_t *offsets, uint32_t count);

#endif
