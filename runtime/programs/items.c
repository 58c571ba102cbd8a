/* Items of programs: the choice between interpreted and compiled, publishing, and waiting.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

#include "base/clock.h"
#include "protocol/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_STEPS = 1 << 30 };

/* The slot in the ticket of a compiled item, which has no slot of the ring for its caller. */
#define NO_SLOT UINT32_MAX

/* ---- checks --------------------------------------------------------------------------------------------------------------- */

static vyre_status
check_item(const vyre_mega_programs *p, const vyre_mega_program_item *i, uint64_t *out_count, bool *out_whole)
{
  VYRE_TRY(programs_check(p, i->program));
  const registered *r = &p->entries[i->program];
  const uint64_t all = (uint64_t)i->groups[0] * i->groups[1] * i->groups[2];
  if (i->buffer_count != r->buffers)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %" PRIu32 " buffers for program %" PRIu32 ", which has %" PRIu32 "\n"
                      "Fix: give a range for each buffer of the program",
                      i->buffer_count, i->program, r->buffers);
  if ((i->groups[0] | i->groups[1] | i->groups[2]) >> 16 && (all >> 31 || all * r->lanes >> 31))
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: the grid has 2^31 invocations or more\nFix: divide it into several dispatches");
  *out_count = i->first || i->count ? i->count : all * r->lanes;
  *out_whole = all && *out_count == all * r->lanes;
  if (all * r->lanes >> 31 || *out_count > all * r->lanes || i->first > all * r->lanes - *out_count)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: invocations %" PRIu32 " to %" PRIu64 " are not in a grid of %" PRIu64 ", which is at most 2^31\n"
                      "Fix: choose invocations inside the grid",
                      i->first, i->first + *out_count, all * r->lanes);
  for (uint32_t k = 0; k < i->buffer_count; k++)
    VYRE_TRY(vyre_status_note(i->buffers[k].size >> 32 ? VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: the buffer has 4 GiB or more\n"
                                                                                     "Fix: use a smaller one")
                                                       : programs_check_range(p, i->buffers[k]),
                              "buffer %" PRIu32, k));
  return VYRE_OK;
}

/* ---- interpreted or compiled ---------------------------------------------------------------------------------------------- */

/* Returns whether two ranges share a block, which moves between host and device as a whole. */
static bool
overlaps(vyre_mega_range a, vyre_mega_range b)
{
  return a.size && b.size && a.at / ROOM_ALIGN <= (b.at + b.size - 1) / ROOM_ALIGN &&
         b.at / ROOM_ALIGN <= (a.at + a.size - 1) / ROOM_ALIGN;
}

/* Returns whether two items share memory that one of them writes. */
static bool
conflicts(const vyre_mega_range *a, uint32_t a_count, uint64_t a_written, const item *b, uint64_t b_written)
{
  for (uint32_t i = 0; i < a_count; i++)
    for (uint32_t k = 0; k < b->buffer_count; k++)
      if (((a_written >> i | b_written >> k) & 1) != 0 && overlaps(a[i], b->buffers[k]))
        return true;
  return false;
}

/* Returns whether a dispatch on copies of the item's buffers has the item's effect.  The interpreter defines accesses beyond a
 * range, a kernel does not. */
static bool
may_be_copied(const vyre_mega_program_item *i, const program_kernel *kernel)
{
  const uint64_t written = kernel->written;
  for (const program_slot *s = kernel->slots; s < kernel->slots + kernel->slot_count; s++)
    for (uint32_t n = s->first; n < s->first + s->count; n++)
      if (i->buffers[n].size == 0 || i->buffers[n].size < s->least)
        return false;
  for (uint32_t a = 0; a < i->buffer_count; a++) {
    for (uint32_t b = 0; b < a; b++)
      if (((written >> a | written >> b) & 1) != 0 && overlaps(i->buffers[a], i->buffers[b]))
        return false;
  }
  return true;
}

static bool
is_in_flight(const vyre_mega_programs *p, const item *i)
{
  if (i->state == ITEM_ON_KERNEL)
    return !i->is_published || !live_has_ended(p->live, i->ticket.slot);
  return i->state != ITEM_FREE && i->state != ITEM_ENDED;
}

/* Returns whether an item that runs the other way is in flight and conflicts with this one. */
static bool
must_wait(const vyre_mega_programs *p, const vyre_mega_program_item *i, bool is_compiled)
{
  const uint64_t written = p->entries[i->program].kernel->written;
  for (uint32_t n = 0; n < p->options.slots; n++) {
    const item *other = &p->items[n];
    if (other->state != ITEM_FREE && (other->state == ITEM_ON_KERNEL) == is_compiled && is_in_flight(p, other) &&
        conflicts(i->buffers, i->buffer_count, written, other, p->entries[other->program].kernel->written))
      return true;
  }
  return false;
}

/* Counts an item of a program.  After enough items the worker compiles the program. */
static void
count_item(vyre_mega_programs *p, registered *r)
{
  if (++r->items < p->options.compile_after || p->options.compile_after == 0 || r->way != PROGRAM_INTERPRETED)
    return;
  r->way = PROGRAM_WANTED;
  pthread_cond_broadcast(&p->changed);
}

/* ---- publishing ----------------------------------------------------------------------------------------------------------- */

/* Makes the message of an item and writes its bindings. */
static vyre_mega_item
make_message(vyre_mega_programs *p, const vyre_mega_program_item *i, uint32_t number, uint64_t count)
{
  const uint64_t bindings = p->bindings / 4 + (uint64_t)number * PROGRAM_MOST_BUFFERS * 2;
  uint32_t words[PROGRAM_MOST_BUFFERS][2];
  for (uint32_t k = 0; k < i->buffer_count; k++) {
    words[k][0] = (uint32_t)(i->buffers[k].at / 4);
    words[k][1] = (uint32_t)i->buffers[k].size;
  }
  live_memory_write(p->live, bindings * 4, words, (uint64_t)i->buffer_count * 8);
  vyre_mega_item out = {.op = VYRE_MEGA_OP_PROGRAM, .tenant = i->tenant, .priority = i->priority};
  const uint32_t args[PROGRAM_ARG__COUNT] = {
      i->program,   p->entries[i->program].generation,  (uint32_t)bindings, i->first, (uint32_t)count, i->groups[0], i->groups[1],
      i->groups[2], i->steps ? i->steps : DEFAULT_STEPS};
  memcpy(out.args, args, sizeof args);
  return out;
}

/* Claims an item.  *number is options.slots if the item cannot be published now. */
static vyre_status
prepare(vyre_mega_programs *p, const vyre_mega_program_item *i, uint32_t *number)
{
  uint64_t count = 0;
  uint32_t n = 0;
  bool is_whole = false, is_compiled = false;
  *number = p->options.slots;
  VYRE_TRY(check_item(p, i, &count, &is_whole));
  registered *r = &p->entries[i->program];
  while (n < p->options.slots && p->items[n].state != ITEM_FREE)
    n++;
  if (p->has_worker) {
    is_compiled = r->way == PROGRAM_COMPILED && is_whole && may_be_copied(i, r->kernel);
    if (must_wait(p, i, is_compiled))
      return VYRE_OK;
  }
  if (n == p->options.slots)
    return VYRE_OK;
  item *own = &p->items[n];
  vyre_mega_range *buffers = p->has_worker ? malloc(((size_t)i->buffer_count + 1) * sizeof *buffers) : NULL;
  if (p->has_worker && !buffers)
    return VYRE_OUT_OF_MEMORY("for an item");
  for (uint32_t k = 0; buffers && k < i->buffer_count; k++)
    buffers[k] = i->buffers[k];
  *own = (item){.state = is_compiled ? ITEM_NEW : ITEM_ON_KERNEL,
                .program = i->program,
                .turn = own->turn + 1,
                .published = make_message(p, i, n, count),
                .buffers = buffers,
                .buffer_count = i->buffer_count};
  r->in_flight++;
  count_item(p, r);
  *number = n;
  return VYRE_OK;
}

static void
end_item(vyre_mega_programs *p, uint32_t number)
{
  item *i = &p->items[number];
  p->entries[i->program].in_flight--;
  programs_free(p, i->program);
  free(i->buffers);
  *i = (item){.turn = i->turn};
}

/* Records the ticket of an item, or frees an item that was not published. */
static void
note_published(vyre_mega_programs *p, uint32_t number, vyre_mega_ticket ticket, bool is_published, vyre_mega_program_ticket *out)
{
  item *i = &p->items[number];
  *out = (vyre_mega_program_ticket){ticket, number};
  if (!is_published) {
    end_item(p, number);
    return;
  }
  i->ticket = ticket;
  i->is_published = true;
  if (i->state == ITEM_NEW) {
    i->state = ITEM_WAITS;
    out->ticket = (vyre_mega_ticket){NO_SLOT, i->turn};
    pthread_cond_broadcast(&p->changed);
  }
}

vyre_status
vyre_mega_programs_publish(vyre_mega_programs *programs, const vyre_mega_program_item *given, vyre_mega_program_ticket *ticket,
                           bool *out_published)
{
  uint32_t number;
  vyre_mega_ticket own = {0};
  *out_published = false;
  programs_lock(programs);
  VYRE_TRY(programs_unlock(programs, prepare(programs, given, &number)));
  if (number == programs->options.slots)
    return live_check_end(programs->live); /* the items that this one waits for may have no end */
  vyre_mega_item message = programs->items[number].published;
  if (programs->items[number].state == ITEM_NEW)
    message.op = VYRE_MEGA_OP_NOP;
  vyre_status status = vyre_mega_live_publish(programs->live, &message, &own, out_published);
  programs_lock(programs);
  note_published(programs, number, own, *out_published, ticket);
  return programs_unlock(programs, status);
}

/* ---- waiting -------------------------------------------------------------------------------------------------------------- */

/* Frees an item that has ended. */
static void
note_end(vyre_mega_programs *p, vyre_mega_program_ticket ticket)
{
  programs_lock(p);
  if (ticket.item < p->options.slots && p->items[ticket.item].state == ITEM_ON_KERNEL)
    end_item(p, ticket.item);
  pthread_mutex_unlock(&p->lock);
}

static vyre_status
poll_compiled(vyre_mega_programs *p, vyre_mega_program_ticket ticket, vyre_mega_slot *out, bool *out_ended)
{
  const item *i = &p->items[ticket.item < p->options.slots ? ticket.item : 0];
  if (ticket.item >= p->options.slots || i->state < ITEM_WAITS || i->turn != ticket.ticket.turn)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the ticket of item %" PRIu32 " is stale\nFix: do not poll an item after its end", ticket.item);
  if (i->state == ITEM_ENDED) {
    *out = i->end;
    *out_ended = true;
    end_item(p, ticket.item);
  }
  return VYRE_OK;
}

vyre_status
vyre_mega_programs_poll(vyre_mega_programs *programs, vyre_mega_program_ticket ticket, vyre_mega_slot *out, bool *out_ended)
{
  *out_ended = false;
  if (ticket.ticket.slot == NO_SLOT) {
    programs_lock(programs);
    return programs_unlock(programs, poll_compiled(programs, ticket, out, out_ended));
  }
  VYRE_TRY(vyre_mega_live_poll(programs->live, ticket.ticket, out, out_ended));
  if (*out_ended)
    note_end(programs, ticket);
  return VYRE_OK;
}

vyre_status
vyre_mega_programs_wait_for(vyre_mega_programs *programs, vyre_mega_program_ticket ticket, uint64_t limit_ns, vyre_mega_slot *out,
                            bool *out_ended)
{
  const uint64_t now = clock_now(), deadline = limit_ns < UINT64_MAX - now ? now + limit_ns : UINT64_MAX;
  if (ticket.ticket.slot == NO_SLOT) {
    for (uint32_t calls = 0;; programs_pause(&calls)) {
      const bool is_late = deadline != UINT64_MAX && clock_now() >= deadline;
      VYRE_TRY(vyre_mega_programs_poll(programs, ticket, out, out_ended));
      if (*out_ended || is_late)
        return VYRE_OK;
    }
  }
  VYRE_TRY(live_wait_until(programs->live, ticket.ticket, deadline, out, out_ended));
  if (*out_ended)
    note_end(programs, ticket);
  return VYRE_OK;
}

vyre_status
vyre_mega_programs_wait(vyre_mega_programs *programs, vyre_mega_program_ticket ticket, vyre_mega_slot *out)
{
  bool ended;
  return vyre_mega_programs_wait_for(programs, ticket, UINT64_MAX, out, &ended);
}

void
vyre_mega_programs_count(vyre_mega_programs *programs, vyre_mega_programs_counts *out)
{
  const unsigned char *image = programs->image;
  out->items = word_acquire(image, PROGRAM_HEAD_ITEMS);
  out->faults = word_acquire(image, PROGRAM_HEAD_FAULTS);
  out->steps = word_acquire(image, PROGRAM_HEAD_STEPS) | (uint64_t)word_acquire(image, PROGRAM_HEAD_STEPS_HIGH) << 32;
  programs_lock(programs);
  out->compiled = programs->compiled;
  pthread_mutex_unlock(&programs->lock);
}
