/* See watch_log.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "watch_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- logs ---------------------------------------------------------------------------------------------------------------- */

static void *
grow(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
  if (count <= *capacity)
    return array;
  *capacity = count < 64 ? 64 : 2 * count;
  void *grown = realloc(array, *capacity * size);
  if (!grown)
    abort();
  return grown;
}

void
watch_free(watch_log *log)
{
  free(log->entries);
  free(log->uses);
  free(log->parts);
  *log = (watch_log){0};
}

watch_entry *
watch_add(watch_log *log, watch_kind kind, uint32_t queue, const char *name)
{
  log->entries = grow(log->entries, &log->entry_capacity, log->entry_count + 1, sizeof *log->entries);
  watch_entry *entry = &log->entries[log->entry_count++];
  *entry =
      (watch_entry){.kind = kind, .queue = queue, .name = name, .first = kind == WATCH_BARRIER ? log->part_count : log->use_count};
  return entry;
}

void
watch_add_use(watch_log *log, watch_use use)
{
  log->uses = grow(log->uses, &log->use_capacity, log->use_count + 1, sizeof *log->uses);
  log->uses[log->use_count++] = use;
  log->entries[log->entry_count - 1].count++;
}

void
watch_add_part(watch_log *log, watch_part part)
{
  log->parts = grow(log->parts, &log->part_capacity, log->part_count + 1, sizeof *log->parts);
  log->parts[log->part_count++] = part;
  log->entries[log->entry_count - 1].count++;
}

void
watch_append(watch_log *log, const watch_log *commands, uint32_t queue)
{
  for (uint32_t i = 0; i < commands->entry_count; i++) {
    const watch_entry *from = &commands->entries[i];
    watch_entry *to = watch_add(log, from->kind, queue, from->name);
    to->from = from->from;
    to->to = from->to;
    to->group = from->group ? from->group + log->group_count : 0;
    for (uint32_t k = 0; k < from->count; k++)
      if (from->kind == WATCH_BARRIER)
        watch_add_part(log, commands->parts[from->first + k]);
      else
        watch_add_use(log, commands->uses[from->first + k]);
  }
  log->group_count += commands->group_count;
}

/* ---- bytes --------------------------------------------------------------------------------------------------------------- */

enum { TRANSFER, COMPUTE, INDIRECT, HOST, STAGES };

static const VkPipelineStageFlags stage_bits[STAGES] = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                                        VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_PIPELINE_STAGE_HOST_BIT};

/* A use of some bytes that later uses are checked against. */
typedef struct kept_use {
  uint32_t entry, group, queue;
  VkPipelineStageFlags stage;
  VkAccessFlags access;
  bool writes, is_available, is_known; /* is_known: the host knows that the use is done */
  uint32_t hidden_by;                  /* the group whose write hides it from other groups; 0 if there is none */
  bool is_hidden;                      /* by a write of the other queue, except from its own queue */
  VkPipelineStageFlags after[WATCH_QUEUES];
  VkAccessFlags visible[WATCH_QUEUES][STAGES];
  uint64_t signalled[WATCH_QUEUES]; /* the first value signalled after it; 0 if there is none */
} kept_use;

/* Bytes between two neighbouring ends of ranges.  Each use and part of the log covers all of them or none. */
typedef struct piece {
  uint32_t resource;
  uint64_t first, end;
  kept_use *uses;
  uint32_t count, capacity;
} piece;

typedef struct machine {
  const watch_log *log;
  piece *pieces;
  uint32_t piece_count, piece_capacity;
  uint32_t omitted, omitted_part; /* an entry, and one of its parts; UINT32_MAX for all */
  uint32_t hazards;
  char *text; /* NULL if no text is needed */
  size_t room;
} machine;

static bool
touches(const piece *p, uint32_t resource, uint64_t first, uint64_t end)
{
  return resource == WATCH_ANY || (resource == p->resource && first < p->end && p->first < end);
}

/* Splits the piece that contains `at`. */
static void
cut(machine *m, uint32_t resource, uint64_t at)
{
  for (uint32_t i = 0; i < m->piece_count; i++) {
    piece *p = &m->pieces[i];
    if (p->resource != resource || at <= p->first || at >= p->end)
      continue;
    const piece rest = {.resource = resource, .first = at, .end = p->end};
    p->end = at;
    m->pieces = grow(m->pieces, &m->piece_capacity, m->piece_count + 1, sizeof *m->pieces);
    m->pieces[m->piece_count++] = rest;
    return;
  }
}

static void
cut_range(machine *m, uint32_t resource, uint64_t first, uint64_t end)
{
  bool found = resource == WATCH_ANY;
  for (uint32_t i = 0; i < m->piece_count && !found; i++)
    found = m->pieces[i].resource == resource;
  if (!found) {
    m->pieces = grow(m->pieces, &m->piece_capacity, m->piece_count + 1, sizeof *m->pieces);
    m->pieces[m->piece_count++] = (piece){.resource = resource, .end = UINT64_MAX};
  }
  if (resource != WATCH_ANY) {
    cut(m, resource, first);
    cut(m, resource, end);
  }
}

static void
cut_all(machine *m)
{
  const watch_log *log = m->log;
  for (uint32_t i = 0; i < log->use_count; i++)
    cut_range(m, log->uses[i].resource, log->uses[i].first, log->uses[i].end);
  for (uint32_t i = 0; i < log->part_count; i++)
    cut_range(m, log->parts[i].resource, log->parts[i].first, log->parts[i].end);
}

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

static bool
is_ordered(const kept_use *old, const watch_entry *entry, const watch_use *use)
{
  uint32_t stage = 0;
  while (stage_bits[stage] != use->stage)
    stage++;
  const bool is_after = stage == HOST || old->is_known || (old->after[entry->queue] & use->stage);
  return is_after && (!old->writes || (use->access & ~old->visible[entry->queue][stage]) == 0);
}

static void
report_hazard(machine *m, const kept_use *old, uint32_t index, const piece *p)
{
  m->hazards++;
  if (!m->text || m->hazards > 1)
    return;
  const watch_entry *entry = &m->log->entries[index];
  snprintf(m->text, m->room,
           "%s (entry %" PRIu32 ", queue %" PRIu32 ") is not ordered after %s (entry %" PRIu32 ", queue %" PRIu32
           ", stage %#x access %#x) at resource %" PRIu32 " bytes %" PRIu64 " to %" PRIu64,
           entry->name, index, entry->queue, m->log->entries[old->entry].name, old->entry, old->queue, old->stage, old->access,
           p->resource, p->first, p->end);
}

static void
check_use(machine *m, uint32_t index, const watch_use *use)
{
  const watch_entry *entry = &m->log->entries[index];
  for (uint32_t i = 0; i < m->piece_count; i++) {
    const piece *p = &m->pieces[i];
    if (!touches(p, use->resource, use->first, use->end))
      continue;
    for (uint32_t k = 0; k < p->count; k++) {
      const kept_use *old = &p->uses[k];
      const bool is_beside = entry->group && entry->group == old->group;
      const bool is_seen = (!old->hidden_by || old->hidden_by == entry->group) && (!old->is_hidden || old->queue == entry->queue);
      if ((old->writes || use->writes) && !is_beside && is_seen && !is_ordered(old, entry, use))
        report_hazard(m, old, index, p);
    }
  }
}

static void
keep_use(piece *p, uint32_t index, const watch_entry *entry, const watch_use *use)
{
  uint32_t kept = 0;
  for (uint32_t k = 0; k < p->count; k++) {
    kept_use *old = &p->uses[k];
    const bool is_beside = old->entry == index || (entry->group && entry->group == old->group);
    if (use->writes && old->queue != entry->queue) {
      old->is_hidden = true;
    } else if (use->writes && !is_beside) {
      if (!entry->group || (old->hidden_by && old->hidden_by != entry->group))
        continue; /* uses ordered after the new write are ordered after the old use */
      old->hidden_by = entry->group;
    }
    p->uses[kept++] = *old;
  }
  p->count = kept;
  p->uses = grow(p->uses, &p->capacity, p->count + 1, sizeof *p->uses);
  p->uses[p->count++] = (kept_use){.entry = index,
                                   .group = entry->group,
                                   .queue = entry->queue,
                                   .stage = use->stage,
                                   .access = use->access,
                                   .writes = use->writes};
}

/* Returns whether two uses by a copy, whose regions have no order, overlap and one of them writes. */
static bool
overlap(const watch_use *a, const watch_use *b)
{
  return a->stage == VK_PIPELINE_STAGE_TRANSFER_BIT && (a->writes || b->writes) && a->resource == b->resource &&
         a->first < b->end && b->first < a->end;
}

static void
run_command(machine *m, uint32_t index)
{
  const watch_entry *entry = &m->log->entries[index];
  const watch_use *uses = &m->log->uses[entry->first];
  for (uint32_t i = 0; i < entry->count; i++) {
    check_use(m, index, &uses[i]);
    for (uint32_t k = 0; k < i; k++)
      if (overlap(&uses[k], &uses[i]) && m->hazards++ == 0 && m->text)
        snprintf(m->text, m->room, "%s (entry %" PRIu32 "): its regions overlap", entry->name, index);
  }
  for (uint32_t i = 0; i < entry->count; i++)
    for (uint32_t k = 0; k < m->piece_count; k++)
      if (touches(&m->pieces[k], uses[i].resource, uses[i].first, uses[i].end))
        keep_use(&m->pieces[k], index, entry, &uses[i]);
}

/* ---- barriers ------------------------------------------------------------------------------------------------------------ */

static void
make_visible(kept_use *use, const watch_entry *entry, const watch_part *part, bool is_before)
{
  if ((use->stage & entry->from) && use->queue == entry->queue && (use->access & part->from))
    use->is_available = true;
  for (uint32_t s = 0; s < STAGES && use->is_available && is_before; s++)
    if (entry->to & stage_bits[s])
      use->visible[entry->queue][s] |= part->to;
}

/* Runs the layout change of a barrier, which is a write and must be ordered after all earlier uses. */
static void
make_layout(machine *m, uint32_t index, const watch_part *part, piece *p)
{
  const watch_entry *entry = &m->log->entries[index];
  for (uint32_t k = 0; k < p->count; k++) {
    const kept_use *old = &p->uses[k];
    const bool is_before = (old->queue == entry->queue && (old->stage & entry->from)) || (old->after[entry->queue] & entry->from);
    if (!(is_before || old->is_known) || (old->writes && !old->is_available && !(old->access & part->from)))
      report_hazard(m, old, index, p);
  }
  p->count = 0;
  const watch_use layout = {.stage = entry->to, .access = part->to, .writes = true};
  keep_use(p, index, entry, &layout);
  p->uses[0].is_available = true;
  p->uses[0].after[entry->queue] = entry->to;
  make_visible(&p->uses[0], entry, part, true);
}

static void
run_barrier(machine *m, uint32_t index)
{
  const watch_entry *entry = &m->log->entries[index];
  for (uint32_t i = 0; i < m->piece_count; i++) {
    piece *p = &m->pieces[i];
    for (uint32_t k = 0; k < p->count; k++) {
      kept_use *use = &p->uses[k];
      const bool is_before =
          (use->queue == entry->queue && (use->stage & entry->from)) || (use->after[entry->queue] & entry->from) != 0;
      for (uint32_t n = 0; n < entry->count && use->writes; n++) {
        const watch_part *part = &m->log->parts[entry->first + n];
        if (!(m->omitted == index && m->omitted_part == n) && !part->is_layout &&
            touches(p, part->resource, part->first, part->end))
          make_visible(use, entry, part, is_before);
      }
      if (is_before)
        use->after[entry->queue] |= entry->to;
    }
    for (uint32_t n = 0; n < entry->count; n++) {
      const watch_part *part = &m->log->parts[entry->first + n];
      if (part->is_layout && touches(p, part->resource, part->first, part->end))
        make_layout(m, index, part, p);
    }
  }
}

/* ---- queues and the host ------------------------------------------------------------------------------------------------- */

static void
run_signal(const watch_entry *entry, kept_use *use)
{
  if ((use->queue == entry->queue || use->after[entry->queue]) && !use->signalled[entry->queue])
    use->signalled[entry->queue] = entry->value;
}

/* Runs the wait of a batch for the other queue. */
static void
run_wait(const watch_entry *entry, kept_use *use)
{
  const uint64_t signalled = use->signalled[1 - entry->queue];
  if (!signalled || signalled > entry->value || use->queue == entry->queue)
    return;
  use->is_available = true;
  use->after[entry->queue] = ~(VkPipelineStageFlags)0;
  for (uint32_t s = 0; s < STAGES; s++)
    use->visible[entry->queue][s] = s == HOST ? 0 : ~(VkAccessFlags)0;
}

static void
run_known(const machine *m, const watch_entry *entry, piece *p)
{
  uint32_t kept = 0;
  for (uint32_t k = 0; k < p->count; k++) {
    kept_use *use = &p->uses[k];
    const bool is_host = use->stage == VK_PIPELINE_STAGE_HOST_BIT && !use->signalled[use->queue]; /* logged by the wait itself */
    if (is_host || (use->signalled[entry->queue] && use->signalled[entry->queue] <= entry->value))
      use->is_known = true;
    const bool is_staging = p->resource < 64 && (m->log->staging >> p->resource & 1u);
    if (!use->is_known || !is_staging)
      p->uses[kept++] = *use;
  }
  p->count = kept;
}

static void
run_entry(machine *m, uint32_t index)
{
  const watch_entry *entry = &m->log->entries[index];
  if (entry->kind == WATCH_COMMAND) {
    run_command(m, index);
  } else if (entry->kind == WATCH_BARRIER) {
    run_barrier(m, index);
  } else {
    for (uint32_t i = 0; i < m->piece_count; i++) {
      for (uint32_t k = 0; k < m->pieces[i].count; k++)
        if (entry->kind == WATCH_SIGNAL)
          run_signal(entry, &m->pieces[i].uses[k]);
        else if (entry->kind == WATCH_WAIT)
          run_wait(entry, &m->pieces[i].uses[k]);
      if (entry->kind == WATCH_KNOWN)
        run_known(m, entry, &m->pieces[i]);
    }
  }
}

/* Runs the log without the omitted part, and returns the number of hazards. */
static uint32_t
run(machine *m, uint32_t omitted, uint32_t part)
{
  m->omitted = omitted;
  m->omitted_part = part;
  m->hazards = 0;
  for (uint32_t i = 0; i < m->piece_count; i++)
    m->pieces[i].count = 0;
  const bool is_one = omitted != UINT32_MAX; /* one hazard is enough */
  for (uint32_t i = 0; i < m->log->entry_count && !(is_one && m->hazards); i++)
    if (i != omitted || part != UINT32_MAX)
      run_entry(m, i);
  return m->hazards;
}

/* ---- entry --------------------------------------------------------------------------------------------------------------- */

static void
check_part(machine *m, uint32_t index, uint32_t part, watch_report *out)
{
  const watch_entry *entry = &m->log->entries[index];
  if (run(m, index, part)) {
    out->needed++;
    return;
  }
  if (out->idle++ == 0) {
    int length = snprintf(
        out->text, sizeof out->text, "the barrier before entry %" PRIu32 " (%s, queue %" PRIu32 ", stages %#x to %#x) is idle",
        index + 1, index + 1 < m->log->entry_count ? m->log->entries[index + 1].name : "-", entry->queue, entry->from, entry->to);
    if (part != UINT32_MAX && length > 0) {
      const watch_part *p = &m->log->parts[entry->first + part];
      snprintf(out->text + length, sizeof out->text - (size_t)length,
               ": memory barrier %" PRIu32 " of %" PRIu32 ", resource %" PRIu32 " bytes %" PRIu64 " to %" PRIu64
               ", access %#x to %#x",
               part, entry->count, p->resource, p->first, p->end, p->from, p->to);
    }
  }
}

static void
check_entry(machine *m, uint32_t index, bool is_exact, watch_report *out)
{
  const watch_entry *entry = &m->log->entries[index];
  bool has_layout = false;
  for (uint32_t k = 0; k < entry->count && entry->kind == WATCH_BARRIER; k++)
    has_layout |= m->log->parts[entry->first + k].is_layout;
  out->commands += entry->kind == WATCH_COMMAND;
  out->waits += entry->kind == WATCH_WAIT;
  if (entry->kind == WATCH_WAIT && is_exact)
    out->needed_waits += run(m, index, UINT32_MAX) != 0;
  if (entry->kind != WATCH_BARRIER || has_layout)
    return;
  out->barriers++;
  out->parts += entry->count;
  out->pure += entry->count == 0;
  if (!is_exact)
    return;
  check_part(m, index, UINT32_MAX, out);
  for (uint32_t k = 0; k < entry->count; k++)
    check_part(m, index, k, out);
}

void
watch_check(const watch_log *log, bool is_exact, watch_report *out)
{
  *out = (watch_report){0};
  machine m = {.log = log, .text = out->text, .room = sizeof out->text};
  cut_all(&m);
  out->hazards = run(&m, UINT32_MAX, UINT32_MAX);
  m.text = NULL;
  for (uint32_t i = 0; i < log->entry_count; i++)
    check_entry(&m, i, is_exact && !out->hazards, out);
  for (uint32_t i = 0; i < m.piece_count; i++)
    free(m.pieces[i].uses);
  free(m.pieces);
}
