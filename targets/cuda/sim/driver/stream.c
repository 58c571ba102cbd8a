/* The calls for streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>

sim_stream *
sim_stream_new(sim_context *context, uint32_t place, bool is_blocking)
{
  sim_stream *made = sim_object_new(SIM_STREAM, context, sizeof *made);
  made->place = place;
  made->is_blocking = is_blocking;
  made->clock = context->host;
  made->clock.at[place] = context->queues[place].given;
  if (!sim_start_thread(made)) {
    sim_object_free(made);
    return NULL;
  }
  context->queues[place].stream = made;
  context->stream_count++;
  return made;
}

SIM_ENTRY(cuStreamCreate, SIM_CURRENT, (cuda_stream * stream, unsigned int flags), (stream, flags))
{
  sim_context *context = sim_context_current();
  if (!stream || flags & ~(unsigned)CUDA_STREAM_NON_BLOCKING)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuStreamCreate: flags 0x%x", flags);
  uint32_t place = 1;
  while (place < SIM_STREAMS && context->queues[place].stream)
    place++;
  if (place == SIM_STREAMS)
    return SIM_REFUSE(CUDA_OUT_OF_MEMORY, "cuStreamCreate: a context has at most %d streams in the simulator", SIM_STREAMS - 1);
  sim_stream *made = sim_stream_new(context, place, !(flags & CUDA_STREAM_NON_BLOCKING));
  if (!made)
    return CUDA_OUT_OF_MEMORY;
  *stream = sim_handle(made);
  return CUDA_OK;
}

sim_stream *
sim_stream_get(cuda_stream stream)
{
  if (stream)
    return sim_object_get(SIM_STREAM, stream);
  return sim_context_current()->legacy;
}

/* The stream's pending operations still run. */
SIM_ENTRY(cuStreamDestroy_v2, SIM_CURRENT, (cuda_stream stream), (stream))
{
  sim_stream *gone = stream ? sim_object_get(SIM_STREAM, stream) : NULL;
  if (!gone)
    return CUDA_INVALID_HANDLE;
  if (gone->capture)
    sim_report("cuStreamDestroy_v2: stream %u still captures", sim_number(gone));
  sim_capture_drop(gone);
  gone->object.context->stream_count--;
  gone->closes = gone->is_destroyed = true;
  sim_object_hide(gone); /* the stream's thread frees it */
  pthread_cond_broadcast(&sim.changed);
  return CUDA_OK;
}

/* Gets a stream for a query or a wait. A capturing stream allows neither. */
static cuda_result
get_idle(cuda_stream stream, sim_stream **out)
{
  *out = sim_stream_get(stream);
  if (!*out)
    return CUDA_INVALID_HANDLE;
  if ((*out)->capture)
    return sim_capture_forbid((*out)->capture, CUDA_STREAM_CAPTURE_UNSUPPORTED, "the stream captures");
  return (*out)->is_blocking ? sim_capture_implicit((*out)->object.context, *out) : CUDA_OK;
}

SIM_ENTRY(cuStreamQuery, SIM_CURRENT, (cuda_stream stream), (stream))
{
  sim_stream *asked;
  SIM_TRY(get_idle(stream, &asked));
  return sim_query_clock(asked->object.context, &asked->clock);
}

SIM_ENTRY(cuStreamSynchronize, SIM_CURRENT, (cuda_stream stream), (stream))
{
  sim_stream *waited;
  SIM_TRY(get_idle(stream, &waited));
  return sim_host_wait(waited->object.context, &waited->clock);
}

SIM_ENTRY(cuStreamWaitEvent, SIM_CURRENT, (cuda_stream stream, cuda_event event, unsigned int flags), (stream, event, flags))
{
  SIM_FOUND(sim_stream, waits, sim_stream_get(stream));
  SIM_FOUND(sim_event, found, sim_object_get(SIM_EVENT, event));
  if (flags)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuStreamWaitEvent: flags must be 0");
  if (found->capture || waits->capture)
    return sim_capture_wait(waits, found);
  sim_clock_join(&waits->clock, &found->clock);
  return CUDA_OK;
}
