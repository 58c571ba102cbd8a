/* Sweeps: something goes wrong at one place after the other, and for each a device is opened.
 *
 * The driver of a GPU takes as long for that as lavapipe does for a hundred, and what a sweep tries is the target's, not the
 * driver's: there it goes to some of the places, spread over all of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_SWEEP_H
#define VYRE_UNITTESTS_SWEEP_H

#include "../budget.h"
#include "../test.h"
#include "messages.h"
#include "vyre/target.h"

enum { SWEEP_FEW = 8 };

/* Whether it is on a GPU. */
static inline bool
sweep_is_sparse(void)
{
  static vyre_device_info info;
  if (info.name[0] == '\0') {
    vyre_target *target;
    assert_ok(vyre_target_vulkan.open(NULL, NULL, &target));
    vyre_target_vulkan.describe(target, &info);
    assert_ok(vyre_target_vulkan.close(target));
  }
  return info.kind != VYRE_DEVICE_CPU;
}

/* Returns the distance between two of the places that are tried. */
static inline uint32_t
sweep_stride(uint32_t places)
{
  if (places <= SWEEP_FEW || !sweep_is_sparse())
    return budget_step();
  const uint32_t stride = (places + SWEEP_FEW - 1) / SWEEP_FEW;
  print_message("  one of every %u places\n", stride);
  return stride;
}

#endif
