/* A target that interprets the SPIR-V kernels of devices.  The interpreter stops at accesses out of bounds and at data races,
 * such as by a missing barrier, which a device does not report.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_KERNEL_INTERPRETED_H
#define VYRE_UNITTESTS_KERNEL_INTERPRETED_H

#include "vyre/target.h"

/* Returns the CPU target's table, changed for kernels as SPIR-V.  Only one target may be open at a time. */
const vyre_target_ops *interpreted_target(void);

#endif
