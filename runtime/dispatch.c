/* Dispatches a megakernel over sets of device buffers (vyre_mega_row), or over images in the host's memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[MEGA_MOST_BUFFERS] = {"control", "ring", "debug log", "IO queue", "data"};

uint64_t
vyre_mega_rate(uint64_t bytes, uint64_t latency_ns)
{
  uint64_t product;
  if (latency_ns == 0)
    return 0;
  if (!__builtin_mul_overflow(bytes, UINT64_C(1000000000), &product))
    return product / latency_ns;
  const uint64_t whole = bytes / latency_ns; /* the remainder is less than a billionth of the result */
  return whole > UINT64_MAX / UINT64_C(1000000000) ? UINT64_MAX : whole * UINT64_C(1000000000);
}

/* ---- one submission ------------------------------------------------------------------------------------------------------ */

static uint32_t
reads_of(const vyre_mega *mega)
{
  return mega->options.reports_control ? 1 : MEGA_BUFFERS;
}

/* Memory of one submission.  Readbacks go to separate memory, so that an error does not change the caller's. */
typedef struct submission {
  vyre_step *steps;
  mega_launch *launches;
  vyre_upload *uploads;
  vyre_read *reads;
  unsigned char *data;
} submission;

static void
free_submission(submission *s)
{
  free(s->steps);
  free(s->launches);
  free(s->uploads);
  free(s->reads);
  free(s->data);
}

static vyre_status
make_submission(const vyre_mega *mega, const vyre_mega_row *rows, uint32_t count, submission *s)
{
  size_t bytes = 1;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < reads_of(mega); k++)
      bytes += rows[i].buffers[k].size;
  s->steps = calloc((size_t)count * mega_step_count(mega), sizeof *s->steps);
  s->launches = calloc(count, sizeof *s->launches);
  s->uploads = calloc((size_t)count * MEGA_BUFFERS, sizeof *s->uploads);
  s->reads = calloc((size_t)count * MEGA_BUFFERS, sizeof *s->reads);
  s->data = malloc(bytes);
  return s->steps && s->launches && s->uploads && s->reads && s->data ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a dispatch");
}

/* Refuses ranges without a size.  They would mean the rest of the buffer, whose size is unknown here. */
static vyre_status
check_row(const vyre_mega *mega, const vyre_mega_row *row)
{
  const uint64_t sizes[] = {VYRE_MEGA_CONTROL_WORDS * 4, vyre_mega_ring_size(mega->options.slots), VYRE_MEGA_DEBUG_BYTES,
                            VYRE_MEGA_IO_BYTES, 4};
  for (uint32_t k = 0; k < MEGA_BUFFERS + (mega_has_data(mega) ? 1u : 0u); k++) {
    const uint64_t size = row->buffers[k].size;
    if (row->buffers[k].buffer.id == 0 || size < sizes[k] || size % 4 || ((k == 1 || k == 2) && size != sizes[k]))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: its %s has %" PRIu64 " bytes, but needs %s %" PRIu64 "\nFix: pass a range of that size",
                        names[k], size, k == 1 || k == 2 ? "exactly" : "at least", sizes[k]);
  }
  return VYRE_OK;
}

static vyre_status
reserve_outputs(const vyre_mega *mega, const vyre_mega_row *rows, uint32_t count, vyre_mega_output *outputs)
{
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < reads_of(mega); k++)
      VYRE_TRY(vyre_bytes_reserve(&outputs[i].images[k], (size_t)rows[i].buffers[k].size));
  return VYRE_OK;
}

static void
put_outputs(const vyre_mega *mega, const submission *s, uint32_t count, vyre_mega_output *outputs, vyre_mega_stats *stats)
{
  for (uint32_t i = 0; i < count; i++) {
    outputs[i].count = reads_of(mega);
    for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
      outputs[i].images[k].size = 0;
    for (uint32_t k = 0; k < reads_of(mega); k++) {
      const vyre_read *read = &s->reads[i * reads_of(mega) + k];
      vyre_bytes *to = &outputs[i].images[k];
      memcpy(to->data, read->data, (size_t)read->range.size);
      to->size = (size_t)read->range.size;
      to->data[to->size] = '\0';
      stats->output_bytes += read->range.size;
      stats->output_buffers++;
    }
  }
}

static vyre_status
submit_sequence(vyre_mega *mega, const vyre_sequence *sequence, vyre_mega_stats *stats)
{
  vyre_timing timing = {0};
  VYRE_TRY(mega->ops->submit(mega->target, sequence, &timing));
  stats->input_bytes += timing.bytes_up;
  stats->readback_bytes += timing.bytes_down;
  stats->bytes_moved += timing.bytes_up + timing.bytes_down;
  stats->kernel_launches += timing.launches;
  stats->sync_points += timing.waits;
  return VYRE_OK;
}

/* Submits the rows together.  With passes, each row has a sequence, because a repeat that does not finish ends its sequence. */
static vyre_status
submit(vyre_mega *mega, const vyre_mega_row *rows, uint32_t count, const void *const *data, submission *s, vyre_mega_stats *stats)
{
  vyre_sequence q = {.uploads = s->uploads, .reads = s->reads};
  unsigned char *at = s->data;
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; data && k < MEGA_BUFFERS; k++)
      s->uploads[q.upload_count++] = (vyre_upload){rows[i].buffers[k], data[i * MEGA_BUFFERS + k]};
    mega_add_launch(mega, rows[i].buffers, &s->launches[i], s->steps, &q);
    for (uint32_t k = 0; k < reads_of(mega); k++) {
      s->reads[i * reads_of(mega) + k] = (vyre_read){rows[i].buffers[k], at};
      q.read_count++;
      at += rows[i].buffers[k].size;
    }
    if (mega->options.passes <= 1 && i + 1 < count)
      continue;
    VYRE_TRY(submit_sequence(mega, &q, stats));
    q = (vyre_sequence){.uploads = s->uploads, .reads = s->reads + (size_t)(i + 1) * reads_of(mega)};
  }
  return VYRE_OK;
}

vyre_status
mega_submit(vyre_mega *mega, const vyre_mega_row *rows, uint32_t count, const void *const *data, vyre_mega_output *outputs,
            vyre_mega_stats *stats)
{
  submission s = {0};
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(check_row(mega, &rows[i]));
  VYRE_TRY(mega_compile(mega));
  vyre_status status = make_submission(mega, rows, count, &s);
  if (!status)
    status = reserve_outputs(mega, rows, count, outputs);
  if (!status)
    status = submit(mega, rows, count, data, &s, stats);
  if (!status)
    put_outputs(mega, &s, count, outputs, stats);
  free_submission(&s);
  return status;
}

/* ---- resident rows ------------------------------------------------------------------------------------------------------- */

/* Ends claimed items, because a launch that ran out of memory may have begun. */
static vyre_status
end_claimed(const vyre_mega *mega, const vyre_mega_row *row)
{
  void *images[MEGA_BUFFERS] = {NULL};
  size_t sizes[MEGA_BUFFERS];
  vyre_read reads[MEGA_BUFFERS];
  vyre_upload uploads[MEGA_BUFFERS];
  vyre_status status = VYRE_OK;
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    sizes[k] = (size_t)row->buffers[k].size;
    images[k] = malloc(sizes[k]);
    if (!images[k] && !status)
      status = VYRE_OUT_OF_MEMORY("for a dispatch that is tried again");
    reads[k] = (vyre_read){row->buffers[k], images[k]};
    uploads[k] = (vyre_upload){row->buffers[k], images[k]};
  }
  if (!status)
    status = mega->ops->submit(mega->target, &(vyre_sequence){.reads = reads, .read_count = MEGA_BUFFERS}, NULL);
  if (!status && mega_end_claimed(images, sizes, mega->options.slots))
    status = mega->ops->submit(mega->target, &(vyre_sequence){.uploads = uploads, .upload_count = MEGA_BUFFERS}, NULL);
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
    free(images[k]);
  return status;
}

static vyre_status
try_rows_again(vyre_mega *mega, vyre_status status, vyre_mega_row *rows, uint32_t count, vyre_mega_output *outputs,
               vyre_mega_stats *stats)
{
  VYRE_TRY(mega_try_again(mega, status, rows, count, true, &stats->was_recovered));
  vyre_status again = VYRE_OK;
  for (uint32_t i = 0; i < count && !stats->was_recovered && !again; i++)
    again = end_claimed(mega, &rows[i]);
  if (!again)
    again = mega_submit(mega, rows, count, NULL, outputs, stats);
  return mega_note_again(again, stats->was_recovered);
}

/* Dispatches rows, with a second try.  Items that ended are not repeated, because their slots have ended. */
static vyre_status
dispatch_rows(vyre_mega *mega, vyre_mega_row *rows, uint32_t count, vyre_mega_output *outputs, vyre_mega_stats *stats)
{
  const uint64_t start = clock_now();
  vyre_mega_stats own = {.resident_rows = count, .resident_handles = (uint64_t)count * MEGA_BUFFERS};
  if (stats)
    *stats = (vyre_mega_stats){0};
  if (count == 0)
    return VYRE_OK;
  vyre_status status = mega_submit(mega, rows, count, NULL, outputs, &own);
  if (status)
    VYRE_TRY(try_rows_again(mega, status, rows, count, outputs, &own));
  own.latency_ns = clock_now() - start;
  if (stats)
    *stats = own;
  return VYRE_OK;
}

vyre_status
vyre_mega_dispatch_resident(vyre_mega *mega, const vyre_mega_row *row, vyre_mega_output *output, vyre_mega_stats *stats)
{
  vyre_mega_row own = *row;
  return dispatch_rows(mega, &own, 1, output, stats);
}

vyre_status
vyre_mega_batch_reserve(vyre_mega_batch *batch, uint32_t rows)
{
  if (rows <= batch->capacity)
    return VYRE_OK;
  vyre_mega_row *more = realloc(batch->rows, rows * sizeof *more);
  if (!more)
    return VYRE_OUT_OF_MEMORY("for rows of a batch");
  batch->rows = more;
  vyre_mega_output *outputs = realloc(batch->outputs, rows * sizeof *outputs);
  if (!outputs)
    return VYRE_OUT_OF_MEMORY("for outputs of a batch");
  memset(outputs + batch->capacity, 0, (rows - batch->capacity) * sizeof *outputs);
  batch->outputs = outputs;
  batch->capacity = rows;
  return VYRE_OK;
}

vyre_status
vyre_mega_batch_add(vyre_mega_batch *batch, const vyre_mega_row *row)
{
  if (batch->count == batch->capacity)
    VYRE_TRY(vyre_mega_batch_reserve(batch, batch->capacity ? 2 * batch->capacity : 4));
  batch->rows[batch->count++] = *row;
  return VYRE_OK;
}

vyre_status
vyre_mega_batch_dispatch(vyre_mega *mega, vyre_mega_batch *batch, vyre_mega_stats *stats)
{
  return dispatch_rows(mega, batch->rows, batch->count, batch->outputs, stats);
}

void
vyre_mega_batch_clear(vyre_mega_batch *batch)
{
  batch->count = 0;
  for (uint32_t i = 0; i < batch->capacity; i++) {
    batch->outputs[i].count = 0;
    for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
      batch->outputs[i].images[k].size = 0;
  }
}

void
vyre_mega_batch_free(vyre_mega_batch *batch)
{
  for (uint32_t i = 0; i < batch->capacity; i++)
    vyre_mega_output_free(&batch->outputs[i]);
  free(batch->rows);
  free(batch->outputs);
  *batch = (vyre_mega_batch){0};
}

void
vyre_mega_output_free(vyre_mega_output *output)
{
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
    vyre_bytes_free(&output->images[k]);
  output->count = 0;
}

/* ---- images of the host -------------------------------------------------------------------------------------------------- */

/* Reuses the buffers of the last dispatch if their sizes are equal.  Otherwise allocates new ones. */
static vyre_status
make_buffers(vyre_mega *mega, const uint64_t sizes[MEGA_BUFFERS], vyre_mega_stats *stats)
{
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    if (mega->sizes[k] == sizes[k])
      continue;
    if (mega->sizes[k])
      VYRE_TRY(mega->ops->free(mega->target, mega->buffers[k]));
    mega->sizes[k] = 0;
    VYRE_TRY(mega->ops->allocate(mega->target, sizes[k], &mega->buffers[k]));
    mega->sizes[k] = sizes[k];
    stats->device_allocation_bytes += sizes[k];
    stats->device_allocation_events++;
  }
  return VYRE_OK;
}

static vyre_status
check_input(const vyre_mega *mega, const vyre_mega_input *input)
{
  const bool has_priorities =
      mega->options.program.build == VYRE_MEGA_BY_PRIORITY || mega->options.program.build == VYRE_MEGA_PERSISTENT_BY_PRIORITY;
  VYRE_TRY(vyre_mega_control_validate(input->control, input->control_size, has_priorities ? mega->options.slots : 0));
  VYRE_TRY(vyre_mega_ring_validate(input->ring, input->ring_size, mega->options.slots));
  VYRE_TRY(vyre_mega_debug_validate(input->debug, input->debug_size));
  return input->io ? vyre_mega_io_validate(input->io, input->io_size) : VYRE_OK;
}

static vyre_status
dispatch(vyre_mega *mega, const vyre_mega_input *input, vyre_range users, vyre_mega_output *output, vyre_mega_stats *stats)
{
  const void *data[MEGA_BUFFERS] = {input->control, input->ring, input->debug, input->io ? input->io : mega->no_io};
  const uint64_t sizes[MEGA_BUFFERS] = {input->control_size, input->ring_size, input->debug_size,
                                        input->io ? input->io_size : sizeof mega->no_io};
  vyre_mega_row row = {.buffers = {[MEGA_BUFFERS] = users}};
  VYRE_TRY(make_buffers(mega, sizes, stats));
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
    row.buffers[k] = (vyre_range){mega->buffers[k], 0, sizes[k]};
  return mega_submit(mega, &row, 1, data, output, stats);
}

vyre_status
vyre_mega_dispatch(vyre_mega *mega, const vyre_mega_input *input, vyre_mega_output *output, vyre_mega_stats *stats)
{
  const uint64_t start = clock_now();
  vyre_mega_stats own = {0};
  if (stats)
    *stats = own;
  VYRE_TRY(check_input(mega, input));
  vyre_status status = dispatch(mega, input, input->data, output, &own);
  if (status) {
    vyre_mega_row row = {.buffers = {[MEGA_BUFFERS] = input->data}};
    VYRE_TRY(mega_try_again(mega, status, &row, 1, mega_has_data(mega), &own.was_recovered));
    VYRE_TRY(mega_note_again(dispatch(mega, input, row.buffers[MEGA_BUFFERS], output, &own), own.was_recovered));
  }
  own.latency_ns = clock_now() - start;
  if (stats)
    *stats = own;
  return VYRE_OK;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------------ */

static vyre_status
decode(const vyre_mega_output *output, vyre_mega_results *out)
{
  const vyre_bytes *i = output->images;
  VYRE_TRY(vyre_mega_control_decode(i[0].data, i[0].size, &out->control));
  if (output->count < MEGA_BUFFERS)
    return VYRE_OK;
  VYRE_TRY(vyre_mega_ring_count(i[1].data, i[1].size, out->states));
  VYRE_TRY(vyre_mega_debug_decode(i[2].data, i[2].size, out->records, &out->record_count));
  return vyre_mega_io_validate(i[3].data, i[3].size);
}

vyre_status
vyre_mega_readback(vyre_mega *mega, const vyre_mega_input *input, vyre_mega_output *output, vyre_mega_results *results,
                   vyre_mega_stats *stats)
{
  vyre_mega_results fresh = {0};
  VYRE_TRY(vyre_mega_dispatch(mega, input, output, stats));
  VYRE_TRY(decode(output, &fresh));
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    fresh.images[k] = output->images[k];
    output->images[k] = results->images[k];
    output->images[k].size = 0;
  }
  *results = fresh;
  return VYRE_OK;
}

void
vyre_mega_results_free(vyre_mega_results *results)
{
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
    vyre_bytes_free(&results->images[k]);
  *results = (vyre_mega_results){0};
}
