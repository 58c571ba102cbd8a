/* Reads columns back late, and only if the host needs them.
 *
 * In a lazy sequence the host first gets the counters.  If they report a change, it gets the changed elements (changes.c) or the
 * columns, whichever are fewer bytes.  If they report no change, the table on the device equals the host's, and
 * its columns stay there.  Columns that the sequence provides become pending until a pass on the host or another sequence requires
 * them (vyre_sequence_fetch).  Until all readbacks are done, the host's memory is unchanged, so a sequence on a lost device can
 * restart.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sequence_parts.h"

#include <string.h>

/* Returns whether an option compares the module with the results of passes, or prints it. */
static bool
is_compared(const vyre_pipeline_options *o)
{
  return o->verify_each || o->run_twice || o->observe || o->check_changed;
}

void
vyre_readback_choose(sequence *s)
{
  uint64_t words = 0;
  for (uint32_t i = 0; i < s->block_count; i++)
    words += s->blocks[i].column && s->blocks[i].is_read_back ? s->blocks[i].words : 0;
  s->is_lazy = words * sizeof(uint32_t) >= s->device->lazy_bytes && !is_compared(&s->members[0].context->options);
}

/* Returns whether a pass that writes the table counted a change. */
static bool
is_changed(const sequence *s)
{
  for (uint32_t i = 0; i < s->count; i++) {
    const sequence_member *m = &s->members[i];
    for (uint32_t k = 0; k < m->pass.phases->memory_count && m->context->record->phases_write; k++) {
      const vyre_phase_memory *memory = &m->pass.phases->memory[k];
      if (memory->kind == VYRE_MEMORY_COUNTER && memory->label && *(const uint32_t *)s->reads[s->blocks[m->blocks[k]].read].data)
        return true;
    }
  }
  return false;
}

/* Returns whether the `finish` of a pass requires the column. */
static bool
is_required(const sequence *s, uint32_t analysis)
{
  bool is = false;
  for (uint32_t i = 0; i < s->count; i++) {
    const vyre_pass *pass = &s->members[i].context->record->pass;
    is = is || (pass->finish && (pass->requires_ & analysis));
  }
  return is;
}

vyre_status
vyre_readback_late(sequence *s, vyre_timing *timing)
{
  vyre_device *device = s->device;
  const bool changed = is_changed(s);
  bool is_packed = false;
  vyre_read *reads = sequence_allocate(s, 1 + (size_t)s->late_count, sizeof *reads);
  uint32_t count = 0, pending = 0;
  if (!reads)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  if (changed)
    VYRE_TRY(vyre_changes_find(s, reads, &is_packed));
  count = is_packed;
  s->extent = !changed ? SEQUENCE_READ_NONE : is_packed ? SEQUENCE_READ_LIST : SEQUENCE_READ_COLUMNS;
  for (uint32_t i = 0; i < s->late_count; i++) {
    const sequence_block *b = &s->blocks[s->late[i]];
    const uint32_t analysis = b->column->analysis;
    if (analysis ? is_required(s, analysis) : changed && !is_packed) {
      reads[count++] = (vyre_read){vyre_arena_range(s, b->at, b->words), b->host};
      vyre_module_mark_written(s->module, b->host);
    } else {
      pending |= analysis;
    }
  }
  if (count)
    VYRE_TRY(device->ops->submit(device->target, &(vyre_sequence){.reads = reads, .read_count = count}, timing));
  if (is_packed)
    vyre_changes_apply(s);
  device->pending |= pending;
  return VYRE_OK;
}

vyre_status
vyre_readback_pending(vyre_device *device, vyre_module *module, uint32_t analyses, vyre_timing *timing, uint32_t *out_missing)
{
  const uint32_t wanted = device->pending & analyses;
  const vyre_view *view = vyre_module_view(module);
  vyre_read reads[DEVICE_COLUMNS];
  uint32_t count = 0, found = 0;
  *out_missing = wanted;
  device->pending &= ~wanted;
  vyre_module_show_analyses(module, wanted);
  for (uint32_t i = 0; i < device->column_count && device->rows == view->rows; i++) {
    const device_column *c = &device->columns[i];
    uint32_t *host;
    memcpy(&host, (const char *)view + c->column, sizeof host);
    if ((c->analysis & wanted) == 0 || !host || c->generation != vyre_module_generation(module, host))
      continue;
    const vyre_range range = {device->arena, vyre_arena_column(device, i) * sizeof(uint32_t), view->rows * sizeof(uint32_t)};
    reads[count++] = (vyre_read){range, host};
    found |= c->analysis;
  }
  if (count)
    VYRE_TRY(device->ops->submit(device->target, &(vyre_sequence){.reads = reads, .read_count = count}, timing));
  *out_missing = wanted & ~found;
  return VYRE_OK;
}
