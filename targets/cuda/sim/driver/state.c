/* Global state: the lock, entry and exit of calls, the environment, and random draws.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) extern const int vyre_cuda_sim_is_here;
const int vyre_cuda_sim_is_here = 1; /* CUDA_SIM_SYMBOL */

sim_state sim = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

_Thread_local sim_call sim_called_now;

cuda_result
sim_enter(sim_call call, unsigned needs)
{
  pthread_mutex_lock(&sim.lock);
  sim_called_now = call;
  const cuda_result injected = sim_called(call);
  const sim_context *context = needs & SIM_CURRENT ? sim_context_current() : NULL;
  if (injected) {
    if (context)
      sim_context_fail(sim_context_current(), injected);
    return injected;
  }
  if (needs && !sim.is_ready)
    return SIM_REFUSE(CUDA_NOT_INITIALIZED, "%s: cuInit was not called", sim_call_name(call));
  if (!(needs & SIM_CURRENT))
    return CUDA_OK;
  if (!context)
    return SIM_REFUSE(CUDA_INVALID_CONTEXT, "%s: the thread has no current context", sim_call_name(call));
  if (context->error)
    return context->error;
  return needs & SIM_UNSAFE ? sim_capture_unsafe() : CUDA_OK;
}

cuda_result
sim_leave(cuda_result result)
{
  pthread_mutex_unlock(&sim.lock);
  return result;
}

uint64_t
sim_draw(uint64_t bound)
{
  uint64_t x = sim.seed + ++sim.draws * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return (x ^ x >> 31) % bound;
}

static uint64_t
read_number(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
  const char *said = getenv(name);
  if (!said || !*said)
    return otherwise;
  char *end;
  const uint64_t number = strtoull(said, &end, 0);
  if (*end == 0 && number >= least && number <= most)
    return number;
  sim_report("%s=%s is not a number from %llu to %llu", name, said, (unsigned long long)least, (unsigned long long)most);
  return otherwise;
}

static void
read_environment(void)
{
  const uint32_t sm = (uint32_t)read_number("VYRE_CUDA_SIM_SM", 75, 999, 80);
  if (!sim_device_fill(sm, &sim.device)) {
    sim_report("VYRE_CUDA_SIM_SM=%u is unknown; using 80", sm);
    sim_device_fill(80, &sim.device);
  }
  sim.device_count = (uint32_t)read_number("VYRE_CUDA_SIM_DEVICES", 0, SIM_MOST_DEVICES, 1);
  sim.device.processors = (uint32_t)read_number("VYRE_CUDA_SIM_PROCESSORS", 1, 1024, 4);
  sim.device.memory = read_number("VYRE_CUDA_SIM_MEMORY", 1, (uint64_t)1 << 46, (uint64_t)4 << 30);
  sim.driver = (uint32_t)read_number("VYRE_CUDA_SIM_DRIVER", 11000, 99000, sim.device.sm >= 100 ? 12080 : 11080);
  sim.seed = read_number("VYRE_CUDA_SIM_SEED", 0, UINT64_MAX, 1);
  sim.watchdog = read_number("VYRE_CUDA_SIM_WATCHDOG", 0, 1000000, 0) * 1000000000u;
  const char *sticky = getenv("VYRE_CUDA_SIM_STICKY"), *failing = getenv("VYRE_CUDA_SIM_FAIL");
  sim.is_lost_whole = sticky && strcmp(sticky, "process") == 0;
  if (failing && *failing)
    sim_fail_from(failing);
}

SIM_ENTRY(cuInit, SIM_ALWAYS, (unsigned int flags), (flags))
{
  if (flags != 0)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuInit: flags must be 0");
  if (sim.contexts == 0) {
    sim.draws = 0;
    sim.lost = CUDA_OK;
    read_environment();
  }
  if (sim.device_count == 0)
    return CUDA_NO_DEVICE;
  sim.is_ready = true;
  return CUDA_OK;
}

SIM_ENTRY(cuDriverGetVersion, SIM_ALWAYS, (int *version), (version))
{
  if (!version)
    return CUDA_INVALID_VALUE;
  if (!sim.driver) /* before cuInit */
    read_environment();
  *version = (int)sim.driver;
  return CUDA_OK;
}

/* ---- traps --------------------------------------------------------------------------------------------------------------- */

/* Functions without their version suffix. They differ from those of the same name in cuda.h, so a call is an error. */
/* clang-format off */
#define TRAPS(X)                                                                                                          \
  X(cuDeviceGetUuid) X(cuDeviceTotalMem) X(cuCtxCreate) X(cuCtxDestroy) X(cuCtxPushCurrent) X(cuCtxPopCurrent)            \
  X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemHostRegister) X(cuMemHostGetDevicePointer) X(cuMemcpyHtoDAsync)       \
  X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuStreamDestroy)            \
  X(cuEventDestroy) X(cuModuleGetGlobal) X(cuLinkCreate) X(cuLinkAddData) X(cuStreamBeginCapture) X(cuStreamGetCaptureInfo)
/* clang-format on */

#define X(name)                                                                                  \
  __attribute__((visibility("default"))) cuda_result name(void);                                 \
  cuda_result name(void)                                                                         \
  {                                                                                              \
    pthread_mutex_lock(&sim.lock);                                                               \
    sim_report(#name ": the symbol is an older function; cuda.h maps the name to " #name "_v2"); \
    pthread_mutex_unlock(&sim.lock);                                                             \
    return CUDA_NOT_SUPPORTED;                                                                   \
  }
TRAPS(X)
#undef X
