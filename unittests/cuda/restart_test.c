/* The CUDA target on a driver that makes no new context after one was lost, as NVIDIA's mostly do: a test of its own, because no
 * other one could follow in its process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "target.h"

static const vyre_target_ops *const ops = &vyre_target_cuda;

TEST(a_process_that_must_be_restarted_is_told_so)
{
  setenv("VYRE_CUDA_SIM_STICKY", "process", 1);
  vyre_target *target = test_open(NULL);
  test_refused(test_run_wild(target), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  test_refused(ops->recover(target), "the process must be restarted");
  assert_true(ops->is_lost(target));
  test_refused(ops->recover(target), "the process must be restarted");
  test_ok(ops->close(target));
}

TEST_MAIN(test_find_simulator, NULL)
