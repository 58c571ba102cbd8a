/* Converts a CUresult to a vyre_status.
 *
 * Names and texts come from the driver, so codes of later drivers have them too. The fixes are in a table here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct result_fix {
  cuda_result result;
  bool is_end; /* whether it ends the context, which cannot be used any more */
  const char *fix;
} result_fix;

#define RESTART     "recover the target, which makes a new context; if that fails too, restart the process"
#define LOOK_AT     "run the program with the interpreter, or as a strict program, to find the access; " RESTART
#define NEWER       "install a newer NVIDIA driver: 520 (CUDA 11.8) or later"
#define OTHER       "choose another device, or use another target"
#define REPORT      "report this as a bug of vyre"
#define SMALLER     "use smaller buffers, or a device with more memory"
#define WRONG_PTX   "check the kernel with ptxas; if vyre wrote it, " REPORT
#define MAINTAIN    "look at the system log (dmesg), and restart the machine; " RESTART
#define FEWER_LANES "make the workgroup smaller, or use fewer registers or less workgroup memory"

static const result_fix fixes[] = {
    {CUDA_INVALID_VALUE, false, REPORT},
    {CUDA_OUT_OF_MEMORY, false, SMALLER},
    {CUDA_NOT_INITIALIZED, false, REPORT},
    {CUDA_DEINITIALIZED, true, "close targets before the process ends"},
    {CUDA_STUB_LIBRARY, false, "install the NVIDIA driver: the library that was found is the toolkit's stub"},
    {CUDA_CALL_REQUIRES_NEWER_DRIVER, false, NEWER},
    {CUDA_DEVICE_UNAVAILABLE, false, "wait until no other process uses the device exclusively, or " OTHER},
    {CUDA_NO_DEVICE, false, "check that nvidia-smi lists the device and CUDA_VISIBLE_DEVICES includes it, or use another target"},
    {CUDA_INVALID_DEVICE, false, OTHER},
    {CUDA_INVALID_IMAGE, false, WRONG_PTX},
    {CUDA_INVALID_CONTEXT, false, REPORT},
    {CUDA_MAP_FAILED, false, SMALLER},
    {CUDA_NO_BINARY_FOR_GPU, false, WRONG_PTX},
    {CUDA_ECC_UNCORRECTABLE, true, MAINTAIN},
    {CUDA_INVALID_PTX, false, WRONG_PTX},
    {CUDA_JIT_COMPILER_NOT_FOUND, false, "install libnvidia-ptxjitcompiler in the driver's version"},
    {CUDA_UNSUPPORTED_PTX_VERSION, false, NEWER},
    {CUDA_JIT_COMPILATION_DISABLED, false, "unset the environment variable CUDA_DISABLE_PTX_JIT"},
    {CUDA_OPERATING_SYSTEM, false, "raise the limit of locked memory (ulimit -l), or use smaller buffers"},
    {CUDA_INVALID_HANDLE, false, REPORT},
    {CUDA_NOT_FOUND, false, "use an entry that the kernel's text has"},
    {CUDA_NOT_READY, false, REPORT},
    {CUDA_ILLEGAL_ADDRESS, true, LOOK_AT},
    {CUDA_LAUNCH_OUT_OF_RESOURCES, false, FEWER_LANES},
    {CUDA_LAUNCH_TIMEOUT, true, "submit less work at once, or use a device without a display; " RESTART},
    {CUDA_CONTEXT_IS_DESTROYED, true, RESTART},
    {CUDA_ASSERT, true, LOOK_AT},
    {CUDA_HOST_MEMORY_ALREADY_REGISTERED, false, "import each page of memory only once"},
    {CUDA_HARDWARE_STACK_ERROR, true, LOOK_AT},
    {CUDA_ILLEGAL_INSTRUCTION, true, LOOK_AT},
    {CUDA_MISALIGNED_ADDRESS, true, LOOK_AT},
    {CUDA_INVALID_ADDRESS_SPACE, true, LOOK_AT},
    {CUDA_INVALID_PC, true, LOOK_AT},
    {CUDA_LAUNCH_FAILED, true, LOOK_AT},
    {CUDA_COOPERATIVE_LAUNCH_TOO_LARGE, false, "use fewer workgroups, or a kernel without barriers for the whole grid"},
    {CUDA_NOT_PERMITTED, false, OTHER},
    {CUDA_NOT_SUPPORTED, false, OTHER},
    {CUDA_SYSTEM_NOT_READY, false, "start the services that the device needs (nvidia-fabricmanager)"},
    {CUDA_SYSTEM_DRIVER_MISMATCH, false, "restart the machine: the driver's library and its kernel module have different versions"},
    {CUDA_COMPAT_NOT_SUPPORTED_ON_DEVICE, false, "use the driver's own library, not one of a compatibility package"},
    {CUDA_STREAM_CAPTURE_INVALIDATED, false, REPORT},
    {CUDA_GRAPH_EXEC_UPDATE_FAILURE, false, REPORT},
    {CUDA_TIMEOUT, false, "submit less work at once, look for an endless loop with the interpreter, or raise the timeout"},
    {CUDA_UNKNOWN, true, MAINTAIN},
};

vyre_status
cuda_library_status(const cuda_library *library, vyre_target *target, cuda_result result, const char *api, const char *format, ...)
{
  if (result == CUDA_OK)
    return VYRE_OK;
  char asked[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(asked, sizeof asked, format, arguments);
  va_end(arguments);
  result_fix found = {result, false, "install the newest driver, or use another target"};
  for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++)
    found = fixes[i].result == result ? fixes[i] : found;
  if (found.is_end && target)
    target->base.lost = true;
  const char *name = NULL, *text = NULL;
  if (library->call.cuGetErrorName)
    library->call.cuGetErrorName(result, &name);
  if (library->call.cuGetErrorString)
    library->call.cuGetErrorString(result, &text);
  vyre_status status = VYRE_ERROR(VYRE_CODE_DEVICE, "cuda: %s failed: %s (%d), %s, %s\nFix: %s", api, name ? name : "unknown code",
                                  (int)result, text ? text : "no description", asked, found.fix);
  return result == CUDA_OUT_OF_MEMORY ? vyre_status_mark_out_of_memory(status) : status;
}

vyre_status
cuda_no_device(const char *why)
{
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "cuda: no device: %s\n"
                    "Fix: check that nvidia-smi lists the device and CUDA_VISIBLE_DEVICES includes it, or use another target",
                    why);
}

vyre_status
cuda_join_messages(const vyre_target *target, vyre_status status)
{
  const char *text = target->validates ? target->library.messages() : "";
  if (!text[0])
    return status;
  vyre_status said = VYRE_ERROR(VYRE_CODE_DEVICE,
                                "cuda: the simulated driver reports errors:\n%s"
                                "Fix: check the kernel and its buffers against the kernel's declarations; if vyre made it, " REPORT,
                                text);
  target->library.clear();
  return vyre_status_join(status, said);
}
