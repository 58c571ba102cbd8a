/* The floating-point environment at the border of the library.
 *
 * x86-64 has two units: SSE computes, and the C library reads the rounding mode from the x87 control word.  Both are compared
 * before they are written, because writes are slow and callers are mostly in the default environment.  No x87 instruction of the
 * library raises an exception, so the x87 flags change only where an unmasked one is cleared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"

#include <assert.h>
#include <fenv.h>
#include <string.h>

#if defined(__x86_64__)

#define SSE_FLAGS    0x3fu   /* exceptions that were raised */
#define SSE_DEFAULT  0x1f80u /* all exceptions masked, round to nearest, neither FTZ nor DAZ */
#define X87_CONTROLS 0x0f3fu /* masks, precision, rounding; the rest is reserved */
#define X87_DEFAULT  0x037fu /* all exceptions masked, 64 bits, round to nearest */
#define X87_STATUS   0x80ffu /* exceptions that were raised or are pending, and the busy bit */

typedef struct x87_environment {
  uint32_t control, status, rest[5];
} x87_environment;

void
vyre_environment_enter(vyre_environment *caller)
{
  uint32_t sse;
  uint16_t control, status;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse), "=m"(control) : : "memory");
  caller->words[0] = sse;
  caller->words[1] = control;
  if ((sse & ~SSE_FLAGS) != SSE_DEFAULT) {
    sse = SSE_DEFAULT;
    __asm__ volatile("ldmxcsr %0" : : "m"(sse) : "memory");
  }
  if ((control & X87_CONTROLS) != (X87_DEFAULT & X87_CONTROLS)) {
    control = X87_DEFAULT;
    __asm__ volatile("fnstsw %0\n\tfnclex\n\tfldcw %1" : "=m"(status) : "m"(control) : "memory");
    caller->words[2] = status; /* fnclex clears it, because a pending exception would trap in fldcw */
  }
}

void
vyre_environment_leave(const vyre_environment *caller)
{
  uint32_t sse;
  uint16_t control;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse), "=m"(control) : : "memory");
  if (sse != caller->words[0]) {
    sse = (uint32_t)caller->words[0];
    __asm__ volatile("ldmxcsr %0" : : "m"(sse) : "memory");
  }
  if (control != caller->words[1]) {
    const bool has_status = (caller->words[1] & X87_CONTROLS) != (X87_DEFAULT & X87_CONTROLS);
    x87_environment x87;
    __asm__ volatile("fnstenv %0" : "=m"(x87) : : "memory");
    x87.control = (x87.control & ~0xffffu) | (uint32_t)caller->words[1];
    if (has_status)
      x87.status = (x87.status & ~X87_STATUS) | ((uint32_t)caller->words[2] & X87_STATUS);
    __asm__ volatile("fldenv %0" : : "m"(x87) : "memory");
  }
}

#elif defined(__aarch64__)

void
vyre_environment_enter(vyre_environment *caller)
{
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status) : : "memory");
  caller->words[0] = control;
  caller->words[1] = status;
  if (control)
    __asm__ volatile("msr fpcr, xzr" : : : "memory");
}

void
vyre_environment_leave(const vyre_environment *caller)
{
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status) : : "memory");
  if (control != caller->words[0])
    __asm__ volatile("msr fpcr, %0" : : "r"(caller->words[0]) : "memory");
  if (status != caller->words[1])
    __asm__ volatile("msr fpsr, %0" : : "r"(caller->words[1]) : "memory");
}

#else

static_assert(sizeof(fenv_t) <= sizeof(vyre_environment), "an environment is as large as the C library's");

void
vyre_environment_enter(vyre_environment *caller)
{
  fenv_t now;
  fegetenv(&now);
  memcpy(caller, &now, sizeof now);
  fesetenv(FE_DFL_ENV);
}

void
vyre_environment_leave(const vyre_environment *caller)
{
  fenv_t before;
  memcpy(&before, caller, sizeof before);
  fesetenv(&before);
}

#endif
