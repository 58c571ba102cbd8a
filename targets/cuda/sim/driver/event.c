/* The calls for events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>

SIM_ENTRY(cuEventCreate, SIM_CURRENT, (cuda_event * event, unsigned int flags), (event, flags))
{
  if (!event || flags & ~3u)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuEventCreate: flags 0x%x", flags);
  sim_event *made = sim_object_new(SIM_EVENT, sim_context_current(), sizeof *made);
  made->references = 1;
  made->has_time = !(flags & CUDA_EVENT_NO_TIME);
  *event = sim_handle(made);
  return CUDA_OK;
}

void
sim_event_release(sim_event *event)
{
  if (--event->references)
    return;
  sim_capture_forget(event);
  free(event->nodes);
  free(event);
}

SIM_ENTRY(cuEventDestroy_v2, SIM_CURRENT, (cuda_event event), (event))
{
  SIM_FOUND(sim_event, gone, sim_object_get(SIM_EVENT, event));
  sim_object_hide(gone);
  sim_event_release(gone);
  return CUDA_OK;
}

SIM_ENTRY(cuEventRecord, SIM_CURRENT, (cuda_event event, cuda_stream stream), (event, stream))
{
  SIM_FOUND(sim_stream, recording, sim_stream_get(stream));
  SIM_FOUND(sim_event, recorded, sim_object_get(SIM_EVENT, event));
  if (recording->capture)
    return sim_capture_record(recording, recorded);
  SIM_TRY(recording->is_blocking ? sim_capture_implicit(recording->object.context, recording) : CUDA_OK);
  sim_capture_forget(recorded);
  sim_op *op = sim_op_new(recording);
  op->event = recorded;
  op->record = ++recorded->record;
  recorded->references++;
  recorded->clock = op->clock;
  sim_queue_put(recording, op);
  return CUDA_OK;
}

void
sim_event_recorded(sim_event *event, uint64_t record)
{
  event->done = record;
  event->time = clock_now();
}

/* Gets an event for a query or a wait. An event that was recorded in a capture stands for nodes of a graph and allows neither. */
static cuda_result
get_real(cuda_event event, sim_event **out)
{
  *out = sim_object_get(SIM_EVENT, event);
  if (!*out)
    return CUDA_INVALID_HANDLE;
  if ((*out)->capture)
    return sim_capture_forbid((*out)->capture, CUDA_CAPTURED_EVENT, "the event was recorded in a capture");
  return CUDA_OK;
}

SIM_ENTRY(cuEventQuery, SIM_CURRENT, (cuda_event event), (event))
{
  sim_event *asked;
  SIM_TRY(get_real(event, &asked));
  return sim_query_clock(asked->object.context, &asked->clock);
}

SIM_ENTRY(cuEventSynchronize, SIM_CURRENT, (cuda_event event), (event))
{
  sim_event *waited;
  SIM_TRY(get_real(event, &waited));
  return sim_host_wait(waited->object.context, &waited->clock);
}

SIM_ENTRY(cuEventElapsedTime, SIM_CURRENT, (float *milliseconds, cuda_event start, cuda_event end), (milliseconds, start, end))
{
  sim_event *first, *last;
  cuda_result result = milliseconds ? get_real(start, &first) : CUDA_INVALID_VALUE;
  if (result == CUDA_OK)
    result = get_real(end, &last);
  if (result)
    return result;
  if (!first->has_time || !last->has_time)
    return SIM_REFUSE(CUDA_INVALID_HANDLE, "cuEventElapsedTime: an event was created without timing");
  if (!first->record || !last->record)
    return SIM_REFUSE(CUDA_INVALID_HANDLE, "cuEventElapsedTime: an event was never recorded");
  if (first->done != first->record || last->done != last->record)
    return CUDA_NOT_READY;
  *milliseconds = (float)((double)(int64_t)(last->time - first->time) / 1e6);
  return CUDA_OK;
}
