/* Contexts. Each thread has a stack of contexts, whose top is current.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
  uint32_t count;
  uint64_t ids[SIM_STACK]; /* may include destroyed contexts, because numbers are not reused */
} stack;

sim_context *
sim_context_current(void)
{
  return stack.count ? sim_object_find(SIM_CONTEXT, stack.ids[stack.count - 1]) : NULL;
}

SIM_ENTRY(cuCtxCreate_v2, SIM_READY, (cuda_context * context, unsigned int flags, cuda_device device), (context, flags, device))
{
  if (!context || flags & ~0xffu)
    return CUDA_INVALID_VALUE;
  if (device < 0 || (uint32_t)device >= sim.device_count)
    return CUDA_INVALID_DEVICE;
  if (sim.lost)
    return sim.lost;
  if (stack.count == SIM_STACK)
    return SIM_REFUSE(CUDA_OUT_OF_MEMORY, "cuCtxCreate_v2: this thread has already pushed %d contexts", SIM_STACK);
  sim_context *made = sim_object_new(SIM_CONTEXT, NULL, sizeof *made);
  made->device = device;
  made->legacy = sim_stream_new(made, SIM_LEGACY, true);
  if (!made->legacy) {
    sim_object_free(made);
    return CUDA_OUT_OF_MEMORY;
  }
  sim.contexts++;
  stack.ids[stack.count++] = made->object.id;
  *context = sim_handle(made);
  return CUDA_OK;
}

SIM_ENTRY(cuCtxPushCurrent_v2, SIM_READY, (cuda_context context), (context))
{
  sim_context *pushed = sim_object_get_any(SIM_CONTEXT, context);
  if (!pushed)
    return CUDA_INVALID_CONTEXT;
  if (stack.count == SIM_STACK)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuCtxPushCurrent_v2: this thread has already pushed %d contexts", SIM_STACK);
  stack.ids[stack.count++] = pushed->object.id;
  return CUDA_OK;
}

SIM_ENTRY(cuCtxPopCurrent_v2, SIM_READY, (cuda_context * context), (context))
{
  sim_context *current = sim_context_current();
  if (!stack.count)
    return SIM_REFUSE(CUDA_INVALID_CONTEXT, "cuCtxPopCurrent_v2: this thread has no current context");
  stack.count--;
  if (context)
    *context = current ? sim_handle(current) : NULL;
  return CUDA_OK;
}

SIM_ENTRY(cuCtxGetCurrent, SIM_READY, (cuda_context * context), (context))
{
  sim_context *current = sim_context_current();
  if (!context)
    return CUDA_INVALID_VALUE;
  *context = current ? sim_handle(current) : NULL;
  return CUDA_OK;
}

SIM_ENTRY(cuCtxSetCurrent, SIM_READY, (cuda_context context), (context))
{
  sim_context *set = context ? sim_object_get_any(SIM_CONTEXT, context) : NULL;
  if (context && !set)
    return CUDA_INVALID_CONTEXT;
  if (stack.count)
    stack.count--;
  if (set)
    stack.ids[stack.count++] = set->object.id;
  return CUDA_OK;
}

SIM_ENTRY(cuCtxSynchronize, SIM_CURRENT | SIM_UNSAFE, (void), ())
{
  return sim_wait_context(sim_context_current());
}

void
sim_context_waited(sim_context *context, const sim_clock *clock)
{
  sim_clock_join(&context->host, clock);
  sim_uses_prune(context, false);
  sim_watch_prune(context, false);
}

void
sim_context_fail(sim_context *context, cuda_result error)
{
  if (!sim_is_sticky(error) || context->error)
    return;
  context->error = error;
  if (sim.is_lost_whole)
    sim.lost = error;
  pthread_cond_broadcast(&sim.changed);
}

/* ---- destruction --------------------------------------------------------------------------------------------------------- */

static void
report_leak(void *object)
{
  const sim_object *leaked = object;
  if (object != (void *)leaked->context->legacy)
    sim_report("cuCtxDestroy_v2: the %s %u was not destroyed before its context", sim_kind_name(leaked->kind), sim_number(leaked));
}

static void
report_leaks(sim_context *context)
{
  static const sim_kind kinds[] = {SIM_STREAM, SIM_EVENT, SIM_MODULE, SIM_GRAPH, SIM_EXEC, SIM_LINK};
  for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    sim_object_each(kinds[i], context, report_leak);
}

static void
free_stream(void *object)
{
  sim_capture_drop(object);
  sim_object_free(object);
}

static void
free_event(void *object)
{
  sim_object_hide(object);
  sim_event_release(object);
}

static void
stop(sim_context *context)
{
  bool runs = false;
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    runs |= context->queues[i].given != context->queues[i].done;
  if (runs && !context->error)
    sim_report("cuCtxDestroy_v2: streams of the context still have work");
  context->stops = true;
  pthread_cond_broadcast(&sim.changed);
  sim_wait_threads(context);
}

SIM_ENTRY(cuCtxDestroy_v2, SIM_READY, (cuda_context context), (context))
{
  sim_context *gone = sim_object_get_any(SIM_CONTEXT, context);
  if (!gone)
    return CUDA_INVALID_CONTEXT;
  stop(gone);
  if (!gone->error)
    report_leaks(gone);
  sim_uses_prune(gone, true);
  sim_watch_prune(gone, true);
  sim_object_each(SIM_STREAM, gone, free_stream);
  sim_object_each(SIM_EXEC, gone, sim_exec_free);
  sim_object_each(SIM_GRAPH, gone, sim_graph_free);
  sim_object_each(SIM_LINK, gone, sim_link_free);
  sim_object_each(SIM_MODULE, gone, sim_module_close);
  sim_object_each(SIM_EVENT, gone, free_event);
  sim_memory_close(gone, !gone->error);
  if (stack.count && stack.ids[stack.count - 1] == gone->object.id)
    stack.count--;
  const cuda_result error = gone->error;
  sim_object_free(gone);
  sim.contexts--;
  return error;
}

/* Reports contexts that still exist when the process ends. */
__attribute__((destructor)) static void
report_contexts(void)
{
  if (sim.contexts)
    sim_report("the process ends, and %u contexts were not destroyed", sim.contexts);
}
