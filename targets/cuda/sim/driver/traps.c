/* Names without their version, which are other functions of older drivers: who calls one took the wrong symbol.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

/* clang-format off */
#define TRAPS(X)                                                                                                          \
  X(cuDeviceGetUuid) X(cuDeviceTotalMem) X(cuCtxCreate) X(cuCtxDestroy) X(cuCtxPushCurrent) X(cuCtxPopCurrent)            \
  X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemHostRegister) X(cuMemHostGetDevicePointer) X(cuMemcpyHtoDAsync)       \
  X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuStreamDestroy)            \
  X(cuEventDestroy) X(cuModuleGetGlobal) X(cuLinkCreate) X(cuLinkAddData) X(cuStreamBeginCapture) X(cuStreamGetCaptureInfo)
/* clang-format on */

#define X(name)                                                                                             \
  __attribute__((visibility("default"))) cuda_result name(void);                                            \
  cuda_result name(void)                                                                                    \
  {                                                                                                         \
    pthread_mutex_lock(&sim.lock);                                                                          \
    sim_tell(#name ": this is an older function than the one that cuda.h calls so, which is " #name "_v2"); \
    pthread_mutex_unlock(&sim.lock);                                                                        \
    return CUDA_NOT_SUPPORTED;                                                                              \
  }
TRAPS(X)
#undef X
