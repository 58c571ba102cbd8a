/* Implements queries of processors, memory and threads (sched.h, unistd.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <unistd.h>

#include <windows.h>

int
sched_getaffinity(int process, size_t size, cpu_set_t *out)
{
  DWORD_PTR own = 0, all = 0;
  if (process != 0 || size != sizeof *out || !GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
    return -1;
  out->count = __builtin_popcountll(own);
  return 0;
}

long
sysconf(int what)
{
  SYSTEM_INFO system;
  MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
  GetSystemInfo(&system);
  if (what == _SC_PAGESIZE)
    return (long)system.dwPageSize;
  if (what == _SC_NPROCESSORS_ONLN)
    return (long)system.dwNumberOfProcessors;
  return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / system.dwPageSize) : -1; /* fits for less than 8 TiB */
}

static DWORD first_thread;

__attribute__((constructor)) static void
remember_thread(void)
{
  first_thread = GetCurrentThreadId();
}

int
gettid(void)
{
  const DWORD thread = GetCurrentThreadId();
  return thread == first_thread ? getpid() : (int)thread;
}
