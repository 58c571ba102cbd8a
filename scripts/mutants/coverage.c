/* Records the blocks that run.  It is linked into each program and shared object of the tree that coverage.py builds.  The record
 * is a file with a byte for each block, so that it survives any end of the process.  FOLDER has `blocks`, the addresses of the
 * blocks of each program.  The environment variable VYRE_COVERAGE names the folder of the records; without it, nothing is recorded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

extern const char __ehdr_start[] HIDDEN; /* this program's or shared object's ELF header; the linker defines the symbol */

static unsigned char *ran; /* NULL if nothing is recorded */

/* Opens the file of this program or shared object in `folder`: its name is the object's path with '+' for '/'. */
static int
open_own(const char *folder, int flags)
{
  Dl_info info;
  char own[PATH_MAX] = "", path[2 * PATH_MAX];
  if (!dladdr((const void *)__ehdr_start, &info) || !realpath(strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe", own))
    return -1;
  for (char *c = own; *c; c++)
    if (*c == '/')
      *c = '+';
  snprintf(path, sizeof(path), "%s/%s", folder, own);
  return open(path, flags | O_CLOEXEC, 0666);
}

HIDDEN void
__sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end)
{
  if (start == end || *start)
    return;
  uint32_t count = 0;
  for (uint32_t *guard = start; guard < end; guard++)
    *guard = ++count;
  const char *folder = getenv("VYRE_COVERAGE");
  const int file = folder ? open_own(folder, O_RDWR | O_CREAT) : -1;
  if (file < 0)
    return;
  if (ftruncate(file, count) == 0) {
    void *bytes = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ran = bytes == MAP_FAILED ? NULL : bytes;
  }
  close(file);
}

HIDDEN void
__sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
  if (ran && *guard)
    ran[*guard - 1] = 1;
}

/* Addresses of the blocks, each with a word of flags. */
HIDDEN void
__sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end)
{
  const int file = open_own(FOLDER "/blocks", O_WRONLY | O_CREAT | O_EXCL);
  if (file < 0)
    return;
  for (const uintptr_t *pc = start; pc < end; pc += 2) {
    const uint64_t address = *pc - (uintptr_t)__ehdr_start;
    if (write(file, &address, sizeof(address)) != sizeof(address))
      break;
  }
  close(file);
}
