/* Images with buffers on the device.  A bit for each control word and slot marks changes that are not uploaded yet.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include <stdlib.h>
#include <string.h>

struct vyre_mega_mirror {
  vyre_mega *mega;
  vyre_mega_control_desc desc;
  unsigned char *images[MEGA_BUFFERS], *down[MEGA_BUFFERS];
  size_t sizes[MEGA_BUFFERS];
  vyre_mega_row row;
  bool *is_set, *is_new; /* by control word; by slot */
  bool is_reset;         /* the device's contents are missing or unknown, so everything is uploaded */
  uint32_t losses;       /* the mega's losses when the buffers were made */
  vyre_upload *uploads;
  vyre_read *reads;
};

/* Allocates missing buffers.  Buffers of a reopened target are missing, even if another user reopened the target. */
static vyre_status
make_buffers(vyre_mega_mirror *m, vyre_mega_stats *stats)
{
  if (m->losses != m->mega->losses) {
    for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
      m->row.buffers[k].buffer = (vyre_device_buffer){0};
    m->losses = m->mega->losses;
    m->is_reset = true;
  }
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    vyre_range *range = &m->row.buffers[k];
    if (range->buffer.id)
      continue;
    VYRE_TRY(m->mega->ops->allocate(m->mega->target, m->sizes[k], &range->buffer));
    range->size = m->sizes[k];
    stats->device_allocation_bytes += m->sizes[k];
    stats->device_allocation_events++;
  }
  return VYRE_OK;
}

static vyre_status
allocate(vyre_mega_mirror *m)
{
  bool has_all = true;
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    m->images[k] = calloc(1, m->sizes[k]);
    m->down[k] = malloc(m->sizes[k]);
    has_all &= m->images[k] && m->down[k];
  }
  m->is_set = calloc(m->sizes[0] / 4, sizeof *m->is_set);
  m->is_new = calloc(m->desc.slots, sizeof *m->is_new);
  m->uploads = calloc(m->sizes[0] / 4 + m->desc.slots + MEGA_BUFFERS, sizeof *m->uploads);
  m->reads = calloc((size_t)m->desc.slots + MEGA_BUFFERS, sizeof *m->reads);
  if (!has_all || !m->is_set || !m->is_new || !m->uploads || !m->reads)
    return VYRE_OUT_OF_MEMORY("for a mirror");
  VYRE_TRY(make_buffers(m, &(vyre_mega_stats){0}));
  return vyre_mega_mirror_reset(m);
}

vyre_status
vyre_mega_mirror_create(vyre_mega *mega, uint32_t observables, uint32_t tenants, vyre_mega_mirror **out)
{
  *out = NULL;
  if (vyre_mega_control_size(observables) == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: too many observables\nFix: use at most %d", VYRE_MEGA_MOST_OBSERVABLES);
  vyre_mega_mirror *m = calloc(1, sizeof *m);
  if (!m)
    return VYRE_OUT_OF_MEMORY("for a mirror");
  *m = (vyre_mega_mirror){.mega = mega,
                          .losses = mega->losses,
                          .desc = {.tenants = tenants, .slots = mega->options.slots, .observables = observables},
                          .sizes = {vyre_mega_control_size(observables), vyre_mega_ring_size(mega->options.slots),
                                    VYRE_MEGA_DEBUG_BYTES, VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_BYTES}};
  vyre_status status = allocate(m);
  if (status)
    return vyre_status_join(status, vyre_mega_mirror_destroy(m));
  *out = m;
  return VYRE_OK;
}

vyre_status
vyre_mega_mirror_destroy(vyre_mega_mirror *m)
{
  vyre_status status = VYRE_OK;
  if (!m)
    return VYRE_OK;
  mega_forget_stale(m->mega);
  for (uint32_t k = 0; k < MEGA_BUFFERS; k++) {
    if (m->row.buffers[k].buffer.id && m->losses == m->mega->losses)
      status = vyre_status_join(status, m->mega->ops->free(m->mega->target, m->row.buffers[k].buffer));
    free(m->images[k]);
    free(m->down[k]);
  }
  free(m->is_set);
  free(m->is_new);
  free(m->uploads);
  free(m->reads);
  free(m);
  return status;
}

vyre_status
vyre_mega_mirror_publish(vyre_mega_mirror *m, uint32_t slot, const vyre_mega_item *item)
{
  VYRE_TRY(vyre_mega_publish_io(m->images[1], m->sizes[1], slot, item));
  m->is_new[slot] = true;
  return VYRE_OK;
}

vyre_status
vyre_mega_mirror_set(vyre_mega_mirror *m, uint32_t word, uint32_t value)
{
  VYRE_TRY(vyre_mega_control_set(m->images[0], m->sizes[0], word, value));
  m->is_set[word] = true;
  return VYRE_OK;
}

vyre_status
vyre_mega_mirror_reset(vyre_mega_mirror *m)
{
  VYRE_TRY(vyre_mega_control_encode(&m->desc, m->images[0], m->sizes[0]));
  for (uint32_t k = 1; k < MEGA_BUFFERS; k++)
    memset(m->images[k], 0, m->sizes[k]);
  m->is_reset = true;
  return VYRE_OK;
}

const void *
vyre_mega_mirror_image(const vyre_mega_mirror *m, uint32_t k, size_t *out_size)
{
  *out_size = k < MEGA_BUFFERS ? m->sizes[k] : 0;
  return k < MEGA_BUFFERS ? m->images[k] : NULL;
}

/* ---- one launch ---------------------------------------------------------------------------------------------------------- */

static uint32_t
state_of(const vyre_mega_mirror *m, uint32_t slot)
{
  uint32_t state;
  memcpy(&state, m->images[1] + (size_t)slot * VYRE_MEGA_SLOT_BYTES, sizeof state);
  return state;
}

static vyre_range
part(const vyre_mega_mirror *m, uint32_t k, size_t offset, size_t size)
{
  return (vyre_range){m->row.buffers[k].buffer, offset, size};
}

static uint32_t
list_uploads(const vyre_mega_mirror *m)
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < MEGA_BUFFERS && m->is_reset; k++)
    m->uploads[count++] = (vyre_upload){m->row.buffers[k], m->images[k]};
  for (uint32_t word = 0; word < m->sizes[0] / 4 && !m->is_reset; word++)
    if (m->is_set[word])
      m->uploads[count++] = (vyre_upload){part(m, 0, word * 4, 4), m->images[0] + (size_t)word * 4};
  for (uint32_t slot = 0; slot < m->desc.slots && !m->is_reset; slot++)
    if (m->is_new[slot])
      m->uploads[count++] = (vyre_upload){part(m, 1, slot * (size_t)VYRE_MEGA_SLOT_BYTES, VYRE_MEGA_SLOT_BYTES),
                                          m->images[1] + (size_t)slot * VYRE_MEGA_SLOT_BYTES};
  return count;
}

/* Lists readbacks: control, then active slots, then the other images if required. */
static uint32_t
list_reads(const vyre_mega_mirror *m)
{
  uint32_t count = 0;
  m->reads[count++] = (vyre_read){m->row.buffers[0], m->down[0]};
  for (uint32_t slot = 0; slot < m->desc.slots; slot++)
    if (vyre_mega_state_is_active(state_of(m, slot)))
      m->reads[count++] = (vyre_read){part(m, 1, slot * (size_t)VYRE_MEGA_SLOT_BYTES, VYRE_MEGA_SLOT_BYTES),
                                      m->down[1] + (size_t)slot * VYRE_MEGA_SLOT_BYTES};
  for (uint32_t k = 2; k < MEGA_BUFFERS && !m->mega->options.reports_control; k++)
    m->reads[count++] = (vyre_read){m->row.buffers[k], m->down[k]};
  return count;
}

static void
copy_reads(vyre_mega_mirror *m, uint32_t reads, vyre_mega_stats *stats)
{
  for (uint32_t i = 0; i < reads; i++) {
    const vyre_read *read = &m->reads[i];
    for (uint32_t k = 0; k < MEGA_BUFFERS; k++)
      if (read->range.buffer.id == m->row.buffers[k].buffer.id)
        memcpy(m->images[k] + read->range.offset, read->data, (size_t)read->range.size);
    stats->output_bytes += read->range.size;
    stats->output_buffers++;
  }
  memset(m->is_set, 0, m->sizes[0] / 4 * sizeof *m->is_set);
  memset(m->is_new, 0, m->desc.slots * sizeof *m->is_new);
  m->is_reset = false;
}

/* Dispatches once.  After a failure the device's contents are unknown, so the next dispatch uploads everything. */
static vyre_status
dispatch(vyre_mega_mirror *m, vyre_mega_stats *stats)
{
  mega_launch launch;
  vyre_timing timing = {0};
  VYRE_TRY(mega_compile(m->mega));
  VYRE_TRY(make_buffers(m, stats));
  vyre_sequence sequence = {.uploads = m->uploads, .upload_count = list_uploads(m), .reads = m->reads, .read_count = list_reads(m)};
  mega_add_launch(m->mega, m->row.buffers, &launch, m->mega->steps, &sequence);
  m->is_reset = true;
  VYRE_TRY(m->mega->ops->submit(m->mega->target, &sequence, &timing));
  copy_reads(m, sequence.read_count, stats);
  stats->input_bytes = timing.bytes_up;
  stats->readback_bytes = timing.bytes_down;
  stats->bytes_moved = timing.bytes_up + timing.bytes_down;
  stats->kernel_launches = timing.launches;
  stats->sync_points = timing.waits;
  return VYRE_OK;
}

vyre_status
vyre_mega_mirror_dispatch(vyre_mega_mirror *m, vyre_range data, vyre_mega_stats *stats)
{
  const uint64_t start = clock_now();
  vyre_mega_stats own = {.resident_rows = 1, .resident_handles = MEGA_BUFFERS};
  if (stats)
    *stats = (vyre_mega_stats){0};
  m->row.buffers[MEGA_BUFFERS] = data;
  vyre_status status = dispatch(m, &own);
  if (status) {
    VYRE_TRY(mega_try_again(m->mega, status, &m->row, 1, mega_has_data(m->mega), &own.was_recovered));
    VYRE_TRY(mega_note_again(dispatch(m, &own), own.was_recovered));
  }
  own.latency_ns = clock_now() - start;
  if (stats)
    *stats = own;
  return VYRE_OK;
}
