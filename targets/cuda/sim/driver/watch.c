/* Detects host accesses to pinned memory that a copy writes, until the host has waited for the copy.
 *
 * Pinned memory is mapped twice, for the host and for the device. The host's pages of such a destination are protected. An access
 * raises SIGSEGV. The handler notes an access to one of the copy's bytes. It also unprotects the pages, so that the rest of the
 * copy is no longer watched. Registered memory is mapped only once and is not watched.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct sim_watch {
  sim_watch *next;
  sim_memory *memory; /* counted reference */
  uint64_t first, size;
  uint32_t place;
  uint64_t number;
  bool is_open;    /* whether the pages are accessible again */
  bool is_touched; /* whether an access to byte `touched` of the memory is still to be reported */
  uint64_t touched;
  char label[SIM_LABEL];
};

static struct sigaction before; /* the previous handler */

static uint8_t *
pages_of(const uint8_t *host, uint64_t size, size_t *out_size)
{
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)host & ~(page - 1);
  *out_size = ((uintptr_t)host + size + page - 1) / page * page - first;
  return (uint8_t *)(uintptr_t)host - ((uintptr_t)host - first);
}

static void
protect(const sim_watch *watch, int protection)
{
  size_t size;
  uint8_t *pages = pages_of(watch->memory->host + watch->first, watch->size, &size);
  mprotect(pages, size, protection);
}

static void
free_watch(sim_watch *watch)
{
  sim_memory_release(watch->memory);
  free(watch);
}

/* Handles an access to address `user`: unprotects watched pages that contain it. Returns whether there are any. Runs in a signal
 * handler, so it must not allocate. */
static bool
touch(sim_context *context, const void *user)
{
  const uint8_t *at = user;
  bool is_ours = false;
  for (sim_watch *watch = context->watches; watch; watch = watch->next) {
    size_t size;
    const uint8_t *host = watch->memory->host + watch->first, *pages = pages_of(host, watch->size, &size);
    if (watch->is_open || at < pages || at >= pages + size)
      continue;
    is_ours = watch->is_open = true;
    watch->is_touched = at >= host && at < host + watch->size;
    watch->touched = watch->first + (uint64_t)(at - host);
    protect(watch, PROT_READ | PROT_WRITE);
  }
  return is_ours;
}

bool
sim_watch_report(sim_context *context, const void *user)
{
  (void)user;
  for (sim_watch *watch = context->watches; watch; watch = watch->next) {
    if (watch->is_touched)
      sim_report("race: the host uses byte %llu of pinned memory %u before it has waited for %s, which writes the byte",
                 (unsigned long long)watch->touched, watch->memory->number, watch->label);
    watch->is_touched = false;
  }
  return false;
}

/* Handles SIGSEGV. Acquires the lock, because the interrupted thread runs the program's code and cannot hold it. */
static void
handle(int number, siginfo_t *info, void *user)
{
  pthread_mutex_lock(&sim.lock);
  const bool is_ours = sim_context_any(touch, info->si_addr);
  pthread_mutex_unlock(&sim.lock);
  if (is_ours)
    return;
  if (before.sa_flags & SA_SIGINFO && before.sa_sigaction)
    before.sa_sigaction(number, info, user);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
  else
    sigaction(number, &before, NULL); /* the access is repeated and ends the process */
}

/* Installs the handler, again if the program has replaced it. */
static void
install_handler(void)
{
  struct sigaction now, ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (sigaction(SIGSEGV, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO && now.sa_sigaction == handle))
    return;
  before = now;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, NULL);
}

void
sim_watch_add(sim_context *context, const sim_work *work, uint32_t place, uint64_t number)
{
  sim_memory *memory = work->to.memory;
  if (work->kind != SIM_COPY || !memory || memory->kind != SIM_PINNED)
    return;
  install_handler();
  sim_watch *watch = sim_allocate(sizeof *watch);
  watch->memory = memory;
  sim_memory_retain(memory);
  watch->first = work->to.offset;
  watch->size = work->size;
  watch->place = place;
  watch->number = number;
  memcpy(watch->label, work->label, sizeof watch->label);
  watch->next = context->watches;
  context->watches = watch;
  protect(watch, PROT_NONE);
}

void
sim_watch_prune(sim_context *context, bool all)
{
  bool changes = false;
  sim_watch_report(context, NULL);
  for (sim_watch **link = &context->watches; *link;) {
    sim_watch *watch = *link;
    if (!all && context->host.at[watch->place] < watch->number) {
      link = &watch->next;
      continue;
    }
    protect(watch, PROT_READ | PROT_WRITE);
    *link = watch->next;
    free_watch(watch);
    changes = true;
  }
  for (const sim_watch *watch = context->watches; watch && changes; watch = watch->next)
    if (!watch->is_open)
      protect(watch, PROT_NONE); /* the ended watches may share pages with this one */
}
