/* A target that runs kernels for devices, as SPIR-V, by the interpreter, which stops at an access out of bounds and at a data race:
 * that no barrier is missing, and no invocation goes astray, a device does not tell.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_KERNEL_INTERPRETED_H
#define VYRE_UNITTESTS_KERNEL_INTERPRETED_H

#include "vyre/target.h"

/* The CPU target's table, but for the form of kernels.  One is open at a time. */
const vyre_target_ops *interpreted_target(void);

#endif
