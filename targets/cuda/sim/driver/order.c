/* The order of operations, and races between unordered ones.
 *
 * An operation is ordered after earlier ones of its stream and events for which the stream waits. It is also ordered after all
 * operations for which the host waited before the submission. Two unordered operations race if they use the same bytes and one of
 * them writes. Strong accesses of kernels (atomic, volatile, relaxed, acquire or release) do not race with each other.
 *
 * The uses of a finished operation are compared with those of earlier unordered ones. They are kept until the host has waited for
 * the operation and all pending operations are ordered after it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 4096 }; /* operations; more replace the oldest ones */

void
sim_clock_join(sim_clock *clock, const sim_clock *other)
{
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    if (clock->at[i] < other->at[i])
      clock->at[i] = other->at[i];
}

void
sim_uses_add(sim_uses *uses, sim_memory *memory, uint64_t first, uint64_t size, uint8_t access, uint32_t node)
{
  sim_grow(&uses->spans, &uses->capacity, uses->count, sizeof *uses->spans);
  sim_memory_retain(memory);
  uses->spans[uses->count++] = (sim_span){.memory = memory, .first = first, .end = first + size, .access = access, .node = node};
}

static void
free_uses(sim_uses *uses)
{
  for (uint32_t i = 0; i < uses->count; i++) {
    sim_memory_release(uses->spans[i].memory);
    free(uses->spans[i].marks);
  }
  free(uses->spans);
  free(uses);
}

static bool
conflicts(uint8_t a, uint8_t b)
{
  const uint8_t writes = SIM_WRITES | SIM_WRITES_STRONGLY, weak = SIM_READS | SIM_WRITES;
  return a && b && ((a | b) & writes) && ((a | b) & weak);
}

/* Returns the first byte on which the spans conflict, or UINT64_MAX if there is none. */
static uint64_t
find_conflict(const sim_span *a, const sim_span *b)
{
  const uint64_t first = a->first > b->first ? a->first : b->first, end = a->end < b->end ? a->end : b->end;
  if (a->memory != b->memory || first >= end)
    return UINT64_MAX;
  if (!a->marks && !b->marks)
    return conflicts(a->access, b->access) ? first : UINT64_MAX;
  for (uint64_t at = first; at < end; at++)
    if (conflicts(a->marks ? a->marks[at] : a->access, b->marks ? b->marks[at] : b->access))
      return at;
  return UINT64_MAX;
}

static void
report_race(const char *first, const char *second, const sim_memory *memory, uint64_t at)
{
  sim_report("race: %s and %s use byte %llu of memory %u, one writes it, and nothing orders them", first, second,
             (unsigned long long)at, memory->number);
}

static void
compare(const sim_uses *before, const sim_uses *uses)
{
  for (uint32_t i = 0; i < before->count; i++)
    for (uint32_t k = 0; k < uses->count; k++) {
      const uint64_t at = find_conflict(&before->spans[i], &uses->spans[k]);
      if (at != UINT64_MAX) {
        report_race(before->label, uses->label, uses->spans[k].memory, at);
        return;
      }
    }
}

void
sim_uses_done(sim_context *context, sim_uses *uses)
{
  uint32_t kept = 0;
  sim_uses **oldest = &context->uses;
  for (sim_uses *before = context->uses; before; before = before->next, kept++)
    if (uses->clock.at[before->place] < before->number && before->clock.at[uses->place] < uses->number)
      compare(before, uses);
  uses->next = context->uses;
  context->uses = uses;
  if (kept < MOST_KEPT)
    return;
  while ((*oldest)->next)
    oldest = &(*oldest)->next;
  free_uses(*oldest);
  *oldest = NULL;
}

void
sim_uses_within(const sim_uses *uses, bool (*is_ordered)(const void *user, uint32_t a, uint32_t b), const void *user)
{
  for (uint32_t i = 0; i < uses->count; i++)
    for (uint32_t k = i + 1; k < uses->count; k++) {
      const sim_span *a = &uses->spans[i], *b = &uses->spans[k];
      if (a->node == b->node || a->memory != b->memory || is_ordered(user, a->node, b->node))
        continue;
      const uint64_t at = find_conflict(a, b);
      if (at != UINT64_MAX)
        sim_report("race: nodes %u and %u of %s use byte %llu of memory %u, one writes it, and nothing orders them", a->node,
                   b->node, uses->label, (unsigned long long)at, a->memory->number);
    }
}

const sim_uses *
sim_uses_unwaited(const sim_context *context, const sim_memory *memory)
{
  for (const sim_uses *uses = context->uses; uses; uses = uses->next)
    for (uint32_t i = 0; i < uses->count && context->host.at[uses->place] < uses->number; i++)
      if (uses->spans[i].memory == memory)
        return uses;
  return NULL;
}

/* Returns whether all pending and later operations are ordered after this one. */
static bool
is_before_all(const sim_context *context, const sim_uses *uses)
{
  if (context->host.at[uses->place] < uses->number)
    return false;
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    for (const sim_op *op = context->queues[i].stream ? context->queues[i].stream->first : NULL; op; op = op->next)
      if (op->clock.at[uses->place] < uses->number)
        return false;
  return true;
}

void
sim_uses_prune(sim_context *context, bool all)
{
  sim_uses **at = &context->uses;
  while (*at) {
    sim_uses *uses = *at;
    if (all || is_before_all(context, uses)) {
      *at = uses->next;
      free_uses(uses);
    } else
      at = &uses->next;
  }
}
