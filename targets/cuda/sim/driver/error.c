/* Names and texts of error codes, and the sticky ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

static const struct {
  cuda_result code;
  const char *name, *text;
} errors[] = {
    {CUDA_OK, "CUDA_SUCCESS", "no error"},
#define SIM_ERROR(name, text) {CUDA_##name, "CUDA_ERROR_" #name, text},
#include "targets/cuda/sim/driver/errors.def"
};

enum { ERRORS = sizeof errors / sizeof *errors };

static cuda_result
find(cuda_result error, const char **name, const char **text)
{
  *name = *text = NULL;
  for (uint32_t i = 0; i < ERRORS && !*name; i++)
    if (errors[i].code == error) {
      *name = errors[i].name;
      *text = errors[i].text;
    }
  return *name ? CUDA_OK : CUDA_INVALID_VALUE;
}

SIM_ENTRY(cuGetErrorName, SIM_ALWAYS, (cuda_result error, const char **name), (error, name))
{
  const char *text;
  return find(error, name, &text);
}

SIM_ENTRY(cuGetErrorString, SIM_ALWAYS, (cuda_result error, const char **text), (error, text))
{
  const char *name;
  return find(error, &name, text);
}

/* Returns whether cuda.h says that the process must be terminated to use CUDA again after this error. */
bool
sim_is_sticky(cuda_result error)
{
  switch (error) {
  case CUDA_ECC_UNCORRECTABLE:
  case CUDA_ILLEGAL_ADDRESS:
  case CUDA_LAUNCH_TIMEOUT:
  case CUDA_ASSERT:
  case CUDA_HARDWARE_STACK_ERROR:
  case CUDA_ILLEGAL_INSTRUCTION:
  case CUDA_MISALIGNED_ADDRESS:
  case CUDA_INVALID_ADDRESS_SPACE:
  case CUDA_INVALID_PC:
  case CUDA_LAUNCH_FAILED:
    return true;
  default:
    return false;
  }
}
