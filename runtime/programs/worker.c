/* The thread that compiles programs and runs compiled items, one by one.
 *
 * A dispatch that failed is repeated once, after the device was opened again if it was lost.  If it fails again, the kernel
 * interprets the item, and from then on the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

#include "vyre/environment.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 256, SHORT_NS = 20000, LONG_NS = 1000000, MESSAGE = 1024 };

void
programs_pause(uint32_t *calls)
{
  const uint32_t n = (*calls)++;
  if (n < SPINS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = n < 4 * SPINS ? SHORT_NS : LONG_NS}, NULL);
}

/* ---- compiling ------------------------------------------------------------------------------------------------------------ */

/* Leaves a program interpreted, and reports why. */
static void
refuse(vyre_mega_programs *p, uint32_t program, vyre_status status)
{
  registered *r = &p->entries[program];
  char text[MESSAGE];
  const char *reason = vyre_status_text(status);
  r->way = PROGRAM_REFUSED;
  free(r->reason);
  r->reason = strdup(reason);
  if (p->options.remark) {
    snprintf(text, sizeof text, "megakernel: program %" PRIu32 " stays interpreted: %.*s", program, (int)strcspn(reason, "\n"),
             reason);
    p->options.remark(p->options.remark_user, text);
  }
  vyre_status_free(status);
}

/* Opens a lost device again, and forgets the kernels that were compiled for it. */
static vyre_status
recover(vyre_mega_programs *p)
{
  const program_device *d = &p->device;
  if (!d->ops->is_lost || !d->ops->is_lost(d->target))
    return VYRE_OK;
  programs_lock(p);
  for (program_kernel *k = p->unused; k; k = k->next)
    k->kernel = (vyre_kernel){0};
  for (uint32_t i = 0; i < p->options.programs; i++)
    if (p->entries[i].kernel)
      p->entries[i].kernel->kernel = (vyre_kernel){0};
  pthread_mutex_unlock(&p->lock);
  return d->ops->recover(d->target);
}

/* Compiles a program if it has no kernel.  Tries again on a device that was lost. */
static vyre_status
compile(vyre_mega_programs *p, program_kernel *k)
{
  vyre_status status = k->kernel.id ? VYRE_OK : program_kernel_compile(&p->device, k);
  const bool is_lost = status && p->device.ops->is_lost && p->device.ops->is_lost(p->device.target);
  if (!is_lost)
    return status;
  vyre_status again = recover(p);
  if (again)
    return vyre_status_join(status, again);
  vyre_status_free(status);
  return program_kernel_compile(&p->device, k);
}

/* Compiles a wanted program.  Called with the lock, which it releases meanwhile. */
static void
compile_wanted(vyre_mega_programs *p, uint32_t program)
{
  registered *r = &p->entries[program];
  r->in_flight++; /* keeps the program */
  pthread_mutex_unlock(&p->lock);
  vyre_status status = compile(p, r->kernel);
  programs_lock(p);
  if (status)
    refuse(p, program, status);
  else
    r->way = PROGRAM_COMPILED;
  r->in_flight--;
  programs_free(p, program);
  pthread_cond_broadcast(&p->changed);
}

vyre_status
vyre_mega_programs_compile(vyre_mega_programs *programs, uint32_t program)
{
  vyre_mega_programs *p = programs;
  programs_lock(p);
  vyre_status status = programs_check(p, program);
  if (!status && !p->has_worker)
    status =
        VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: there is no target for compiled items\nFix: set `compile_target` of the options");
  if (status)
    return programs_unlock(p, status);
  registered *r = &p->entries[program];
  r->in_flight++; /* keeps the program */
  if (r->way == PROGRAM_INTERPRETED) {
    r->way = PROGRAM_WANTED;
    pthread_cond_broadcast(&p->changed);
  }
  while (r->way == PROGRAM_WANTED)
    pthread_cond_wait(&p->changed, &p->lock);
  if (r->way == PROGRAM_REFUSED)
    status = VYRE_ERROR(VYRE_CODE_INPUT, "%s", r->reason ? r->reason : "the program cannot be compiled\nFix: leave it interpreted");
  r->in_flight--;
  programs_free(p, program);
  return programs_unlock(p, status);
}

/* ---- running -------------------------------------------------------------------------------------------------------------- */

/* Runs an item on copies of its buffers, at most twice. */
static vyre_status
run_on_copies(vyre_mega_programs *p, const item *i, program_kernel *k, unsigned char *const *data)
{
  const uint32_t *groups = &i->published.args[PROGRAM_ARG_GROUPS_X];
  VYRE_TRY(compile(p, k));
  vyre_status status = program_kernel_run(&p->device, k, groups, i->buffers, data);
  if (!status)
    return VYRE_OK;
  vyre_status again = recover(p);
  if (!again)
    again = compile(p, k);
  if (!again)
    again = program_kernel_run(&p->device, k, groups, i->buffers, data);
  if (!again) {
    vyre_status_free(status);
    return VYRE_OK;
  }
  return vyre_status_join(vyre_status_join(status, again), recover(p)); /* for other programs */
}

static vyre_status
run_item(vyre_mega_programs *p, const item *i, program_kernel *k)
{
  unsigned char *data[PROGRAM_MOST_BUFFERS];
  uint64_t bytes = 0;
  for (uint32_t n = 0; n < i->buffer_count; n++)
    bytes += (i->buffers[n].size + 15) & ~UINT64_C(15);
  unsigned char *copies = malloc(bytes + 1), *at = copies;
  if (!copies)
    return VYRE_OUT_OF_MEMORY("for the buffers of an item");
  for (uint32_t n = 0; n < i->buffer_count; n++) {
    data[n] = at;
    at += (i->buffers[n].size + 15) & ~UINT64_C(15);
    live_memory_read(p->live, i->buffers[n].at, data[n], i->buffers[n].size);
  }
  vyre_status status = run_on_copies(p, i, k, data);
  for (uint32_t n = 0; n < i->buffer_count && !status; n++)
    if (k->written >> n & 1)
      live_memory_write(p->live, i->buffers[n].at, data[n], i->buffers[n].size);
  free(copies);
  return status;
}

static bool
is_stopped(vyre_mega_programs *p)
{
  programs_lock(p);
  const bool stops = p->stops;
  pthread_mutex_unlock(&p->lock);
  return stops;
}

/* Interprets an item, and waits for its end.  Returns false if the kernel or the worker ended first. */
static bool
interpret(vyre_mega_programs *p, const item *i, vyre_mega_slot *out)
{
  vyre_mega_ticket ticket;
  vyre_status status = VYRE_OK;
  bool is_published = false, is_ended = false;
  for (uint32_t calls = 0; !status && !is_ended && !is_stopped(p); programs_pause(&calls)) {
    if (!is_published)
      status = vyre_mega_live_publish(p->live, &i->published, &ticket, &is_published);
    else
      status = live_wait_until(p->live, ticket, 0, out, &is_ended);
  }
  vyre_status_free(status);
  return is_ended;
}

/* Runs an item whose NOP has ended.  Called with the lock, which it releases meanwhile. */
static void
run_ready(vyre_mega_programs *p, item *i)
{
  registered *r = &p->entries[i->program];
  if (i->end.state != VYRE_MEGA_DONE || r->is_removed) {
    i->end.reason = i->end.state == VYRE_MEGA_DONE ? VYRE_MEGA_REASON_PROGRAM : i->end.reason;
    i->end.state = VYRE_MEGA_FAULT;
    i->state = ITEM_ENDED;
    return;
  }
  i->state = ITEM_RUNS;
  const bool is_refused = r->way == PROGRAM_REFUSED; /* after the failure of another item */
  pthread_mutex_unlock(&p->lock);
  vyre_mega_slot end = i->end;
  vyre_status status = is_refused ? VYRE_OK : run_item(p, i, r->kernel);
  const bool is_done = !is_refused && !status;
  if (!is_done && !interpret(p, i, &end)) {
    end.state = VYRE_MEGA_FAULT;
    end.reason = VYRE_MEGA_REASON_LOST;
  }
  programs_lock(p);
  p->compiled += is_done;
  if (status)
    refuse(p, i->program, status);
  i->end = end;
  i->state = ITEM_ENDED;
}

/* Runs the items whose NOPs have ended.  Returns whether a NOP had ended, and stores whether other items wait. */
static bool
run_items(vyre_mega_programs *p, bool *out_waits)
{
  bool is_busy = false;
  *out_waits = false;
  for (uint32_t n = 0; n < p->options.slots && !p->stops; n++) {
    item *i = &p->items[n];
    bool ended = false;
    if (i->state != ITEM_WAITS)
      continue;
    vyre_status status = live_wait_until(p->live, i->ticket, 0, &i->end, &ended);
    if (status) /* the kernel ended */
      i->end = (vyre_mega_slot){.state = VYRE_MEGA_FAULT, .reason = VYRE_MEGA_REASON_LOST};
    if (ended || status)
      run_ready(p, i);
    is_busy = is_busy || ended || status;
    *out_waits = *out_waits || i->state == ITEM_WAITS;
    vyre_status_free(status);
  }
  return is_busy;
}

/* Destroys the kernels of removed programs.  Called with the lock, which it releases meanwhile. */
static void
destroy_unused(vyre_mega_programs *p)
{
  while (p->unused) {
    program_kernel *k = p->unused;
    p->unused = k->next;
    pthread_mutex_unlock(&p->lock);
    vyre_status_free(program_kernel_destroy(&p->device, k)); /* the next item reports a lost device */
    programs_lock(p);
  }
}

/* Returns a program that is to be compiled, or UINT32_MAX. */
static uint32_t
find_wanted(const vyre_mega_programs *p)
{
  for (uint32_t i = 0; i < p->options.programs; i++)
    if (p->entries[i].is_used && p->entries[i].way == PROGRAM_WANTED)
      return i;
  return UINT32_MAX;
}

static void *
work(void *user)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_mega_programs *p = user;
  uint32_t calls = 0;
  programs_lock(p);
  while (!p->stops) {
    bool waits;
    destroy_unused(p);
    if (run_items(p, &waits)) {
      calls = 0;
      continue;
    }
    const uint32_t wanted = find_wanted(p);
    if (wanted != UINT32_MAX)
      compile_wanted(p, wanted);
    else if (waits) {
      pthread_mutex_unlock(&p->lock);
      programs_pause(&calls);
      programs_lock(p);
    } else if (!p->stops && !p->unused)
      pthread_cond_wait(&p->changed, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

vyre_status
programs_start_worker(vyre_mega_programs *p)
{
  p->device = (program_device){p->mega->ops, p->options.compile_target};
  p->has_worker = pthread_create(&p->worker, NULL, work, p) == 0;
  return p->has_worker
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_DEVICE, "megakernel: cannot create a thread for compiled items\nFix: use fewer threads");
}

vyre_status
programs_stop_worker(vyre_mega_programs *p)
{
  vyre_status status = VYRE_OK;
  if (!p->has_worker)
    return VYRE_OK;
  programs_lock(p);
  p->stops = true;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->worker, NULL);
  for (program_kernel *k = p->unused, *next; k; k = next) {
    next = k->next;
    status = vyre_status_join(status, program_kernel_destroy(&p->device, k));
  }
  for (uint32_t i = 0; i < p->options.programs; i++) {
    status = vyre_status_join(status, program_kernel_destroy(&p->device, p->entries[i].kernel));
    free(p->entries[i].reason);
  }
  for (uint32_t n = 0; n < p->options.slots; n++)
    free(p->items[n].buffers);
  return status;
}
