/* Calls of foreign code, which restore the state of the process afterwards.
 *
 * The umask belongs to the process, and the system has no call that only reads it.  The first foreign call notes the umask, from
 * /proc if possible.  Calls of other threads that begin before the first one ends share the note.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"
#include "vyre/io.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One word, so that a fork in any thread leaves it consistent: calls begun (32 bits), active calls (16), the noted umask (16). */
#define BEGUN      (UINT64_C(1) << 32)
#define ACTIVE     (UINT64_C(1) << 16)
#define ALL_ACTIVE (UINT64_C(0xffff) << 16)
#define UMASK      UINT64_C(0xffff)

static _Atomic uint64_t foreign;

static_assert(sizeof(sigset_t) <= sizeof((vyre_foreign_call){0}.signals), "a signal mask has room");

/* Returns the umask of the process.  Without /proc it sets the umask 077 for a moment, which affects files that other threads
 * create at that time. */
static mode_t
read_umask(void)
{
  char text[1024];
  const int fd = vyre_file_open(VYRE_FILE_HERE, "/proc/self/status", VYRE_FILE_READS);
  const ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
  if (fd >= 0)
    close(fd);
  text[size > 0 ? size : 0] = '\0';
  const char *found = strstr(text, "\nUmask:");
  if (found)
    return (mode_t)strtoul(found + sizeof("\nUmask:") - 1, NULL, 8);
  const mode_t mask = umask(077);
  umask(mask);
  return mask;
}

void
vyre_foreign_begin(vyre_foreign_call *out)
{
  sigset_t signals;
  vyre_environment_enter(&out->floats);
  pthread_sigmask(SIG_SETMASK, NULL, &signals);
  memcpy(out->signals, &signals, sizeof signals);
  uint64_t before = atomic_load(&foreign), after;
  do {
    const uint64_t mask = before & ALL_ACTIVE ? before & UMASK : read_umask();
    after = ((before & ~UMASK) + BEGUN + ACTIVE) | mask;
  } while (!atomic_compare_exchange_weak(&foreign, &before, after));
}

void
vyre_foreign_end(const vyre_foreign_call *call)
{
  sigset_t signals;
  umask((mode_t)(atomic_load(&foreign) & UMASK));
  atomic_fetch_sub(&foreign, ACTIVE);
  memcpy(&signals, call->signals, sizeof signals);
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  vyre_environment_leave(&call->floats);
}

uint64_t
vyre_foreign_mark(void)
{
  return atomic_load(&foreign);
}

bool
vyre_foreign_umask(uint64_t mark, uint32_t *out_umask)
{
  const uint64_t now = atomic_load(&foreign);
  *out_umask = (uint32_t)(now & UMASK);
  return (mark & ALL_ACTIVE) != 0 || now / BEGUN != mark / BEGUN;
}
