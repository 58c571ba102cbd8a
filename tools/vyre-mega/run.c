/* Runs a queue on a target: by dispatches of as many items as the ring has slots, or live, item by item.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct run {
  const mega_options *options;
  const mega_queue *queue;
  vyre_mega *mega;
  vyre_mega_log *log; /* or NULL */
  uint64_t *numbers;  /* by line: the item's number in the log */
  uint32_t slots, faults;
} run;

static vyre_status
log_line(run *r, uint32_t k)
{
  return r->log ? vyre_mega_log_item(r->log, &r->queue->lines[k].item, &r->numbers[k]) : VYRE_OK;
}

/* Returns whether the item ended as DONE, or as in its log. */
static bool
is_right(const mega_line *line, const vyre_mega_slot *slot)
{
  return line->is_known ? line->state == (uint32_t)slot->state && line->reason == slot->reason : slot->state == VYRE_MEGA_DONE;
}

static vyre_status
end_line(run *r, uint32_t k, const vyre_mega_slot *slot)
{
  const mega_line *line = &r->queue->lines[k];
  printf("%" PRIu32 ": %.*s: %s", line->number, (int)line->length, line->text, vyre_mega_state_text((uint32_t)slot->state));
  if (slot->state == VYRE_MEGA_FAULT)
    printf(", reason 0x%" PRIx32 ": %s", slot->reason, vyre_mega_reason_text(slot->reason));
  if (line->is_known && !is_right(line, slot))
    printf(", and was %s, reason 0x%" PRIx32, vyre_mega_state_text(line->state), line->reason);
  printf("\n");
  r->faults += !is_right(line, slot);
  return r->log ? vyre_mega_log_end(r->log, r->numbers[k], slot) : VYRE_OK;
}

static void
print_control(const void *image, size_t size, const vyre_mega_control *control)
{
  printf("done %" PRIu32 ", faults %" PRIu32 ", epoch %" PRIu32 ", debug records lost %" PRIu32 "\n", control->done,
         control->faults, control->epoch, control->debug_lost);
  for (uint32_t op = 0; op < VYRE_MEGA_TABLE; op++)
    if (control->metrics[op])
      printf("op %" PRIu32 ": %" PRIu32 "\n", op, control->metrics[op]);
  for (uint32_t i = 0; image && i < control->observables; i++) {
    uint32_t value;
    vyre_status_free(vyre_mega_observable(image, size, i, &value)); /* cannot fail: i is below their number */
    if (value)
      printf("observable %" PRIu32 ": %" PRIu32 "\n", i, value);
  }
}

static void
print_records(const vyre_mega_results *results)
{
  for (uint32_t i = 0; i < results->record_count; i++) {
    const vyre_mega_record *record = &results->records[i];
    printf("debug: %" PRIu32 " %" PRIu32 " %" PRIu32 ", slot %" PRIu32 "\n", record->format, record->args[0], record->args[1],
           record->base / VYRE_MEGA_SLOT_WORDS);
  }
}

/* ---- by dispatches ------------------------------------------------------------------------------------------------------- */

typedef struct images {
  unsigned char *control, *ring, debug[VYRE_MEGA_DEBUG_BYTES];
  size_t control_size, ring_size;
  vyre_mega_output output;
  vyre_mega_results results;
} images;

/* Publishes lines from `first` on until the ring or a priority's partition is full.  Writes the slot of each. */
static vyre_status
fill_ring(run *r, images *i, uint32_t first, uint32_t *slots, uint32_t *out_count)
{
  uint32_t next[VYRE_MEGA_LEVELS], end[VYRE_MEGA_LEVELS];
  const bool by_priority = r->options->by_priority;
  *out_count = 0;
  for (uint32_t level = 0; level < VYRE_MEGA_LEVELS; level++) {
    VYRE_TRY(vyre_mega_control_word(i->control, i->control_size, VYRE_MEGA_PARTITIONS + level, &next[level]));
    VYRE_TRY(vyre_mega_control_word(i->control, i->control_size, VYRE_MEGA_PARTITIONS + level + 1, &end[level]));
  }
  next[0] = by_priority ? next[0] : 0;
  end[0] = by_priority ? end[0] : r->slots;
  for (uint32_t k = first; k < r->queue->count; k++) {
    const uint32_t level = by_priority ? r->queue->lines[k].item.priority : 0;
    if (next[level] == end[level])
      break;
    slots[(*out_count)++] = next[level];
    VYRE_TRY(vyre_status_note(vyre_mega_publish(i->ring, i->ring_size, next[level]++, &r->queue->lines[k].item), "in line %" PRIu32,
                              r->queue->lines[k].number));
    VYRE_TRY(log_line(r, k));
  }
  return VYRE_OK;
}

static vyre_status
dispatch_all(run *r, images *i, uint32_t *slots)
{
  uint32_t count = 0;
  for (uint32_t first = 0; first < r->queue->count; first += count) {
    VYRE_TRY(vyre_mega_ring_encode(r->slots, i->ring, i->ring_size));
    VYRE_TRY(fill_ring(r, i, first, slots, &count));
    const vyre_mega_input input = {.control = i->control,
                                   .ring = i->ring,
                                   .debug = i->debug,
                                   .control_size = i->control_size,
                                   .ring_size = i->ring_size,
                                   .debug_size = sizeof i->debug};
    VYRE_TRY(vyre_mega_readback(r->mega, &input, &i->output, &i->results, NULL));
    memcpy(i->control, i->results.images[0].data, i->control_size);
    memcpy(i->debug, i->results.images[2].data, sizeof i->debug);
    for (uint32_t k = 0; k < count; k++) {
      vyre_mega_slot slot;
      VYRE_TRY(vyre_mega_slot_read(i->results.images[1].data, i->ring_size, slots[k], &slot));
      VYRE_TRY(end_line(r, first + k, &slot));
    }
  }
  print_records(&i->results);
  print_control(i->control, i->control_size, &i->results.control);
  return VYRE_OK;
}

static vyre_status
run_dispatches(run *r)
{
  images i = {.control_size = vyre_mega_control_size((uint32_t)r->options->observables.value),
              .ring_size = vyre_mega_ring_size(r->slots)};
  const vyre_mega_control_desc desc = {
      .tenants = VYRE_MEGA_TABLE, .slots = r->slots, .observables = (uint32_t)r->options->observables.value};
  uint32_t *slots = calloc(r->slots, sizeof *slots);
  i.control = malloc(i.control_size);
  i.ring = malloc(i.ring_size);
  vyre_status status = slots && i.control && i.ring ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a ring");
  if (!status)
    status = vyre_mega_control_encode(&desc, i.control, i.control_size);
  if (!status)
    status = vyre_mega_debug_encode(i.debug, sizeof i.debug);
  if (!status)
    status = dispatch_all(r, &i, slots);
  vyre_mega_output_free(&i.output);
  vyre_mega_results_free(&i.results);
  free(i.control);
  free(i.ring);
  free(slots);
  return status;
}

/* ---- live ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
publish_all(run *r, vyre_mega_live *live)
{
  for (uint32_t k = 0; k < r->queue->count; k++) {
    const mega_line *line = &r->queue->lines[k];
    vyre_mega_ticket ticket;
    vyre_mega_slot slot;
    for (bool published = false; !published; sched_yield())
      VYRE_TRY(vyre_status_note(vyre_mega_live_publish(live, &line->item, &ticket, &published), "in line %" PRIu32, line->number));
    VYRE_TRY(log_line(r, k));
    VYRE_TRY(vyre_mega_live_wait(live, ticket, &slot));
    VYRE_TRY(end_line(r, k, &slot));
  }
  return VYRE_OK;
}

static vyre_status
print_observables(const run *r, vyre_mega_live *live)
{
  for (uint32_t i = 0; i < (uint32_t)r->options->observables.value; i++) {
    uint32_t value;
    VYRE_TRY(vyre_mega_live_word(live, VYRE_MEGA_OBSERVABLES + i, &value));
    if (value)
      printf("observable %" PRIu32 ": %" PRIu32 "\n", i, value);
  }
  return VYRE_OK;
}

static vyre_status
run_live(run *r)
{
  static const char *const ways[] = {"mapped", "in slices", "mirrored, in slices"};
  const vyre_mega_live_options options = {.struct_size = sizeof options, .observables = (uint32_t)r->options->observables.value};
  vyre_mega_live *live;
  vyre_mega_control control;
  mega_watch *watch = NULL;
  VYRE_TRY(vyre_mega_live_start(r->mega, &options, &live));
  printf("live: %s\n", ways[vyre_mega_live_way(live)]);
  vyre_status status = r->options->watches ? mega_watch_start(live, &watch) : VYRE_OK;
  if (!status)
    status = publish_all(r, live);
  if (!status)
    status = print_observables(r, live);
  if (!status && r->options->metrics_path)
    status = mega_write_metrics(live, r->options->metrics_path);
  status = vyre_status_join(status, mega_watch_stop(watch));
  vyre_status end = vyre_mega_live_stop(live, &control, NULL);
  if (!status && !end)
    print_control(NULL, 0, &control);
  return vyre_status_join(status, end);
}

/* ---- the target ---------------------------------------------------------------------------------------------------------- */

static vyre_status
run_on(run *r, vyre_target *target)
{
  const mega_options *o = r->options;
  vyre_bytes source = {0};
  if (o->handlers_path)
    VYRE_TRY(mega_handlers_read(o->handlers_path, &source));
  const vyre_mega_build build = o->is_live       ? o->by_priority ? VYRE_MEGA_PERSISTENT_BY_PRIORITY : VYRE_MEGA_PERSISTENT
                                : o->by_priority ? VYRE_MEGA_BY_PRIORITY
                                                 : VYRE_MEGA_ONCE;
  const vyre_mega_options options = {.struct_size = sizeof options,
                                     .program = {.build = build,
                                                 .source = source.data,
                                                 .source_name = o->handlers_path,
                                                 .handlers = o->handlers.all,
                                                 .handler_count = o->handlers.count},
                                     .slots = r->slots,
                                     .passes = (uint32_t)o->passes.value};
  vyre_status status = vyre_mega_create(o->target, target, &options, &r->mega);
  vyre_bytes_free(&source);
  if (status)
    return status;
  status = o->is_live ? run_live(r) : run_dispatches(r);
  return vyre_status_join(status, vyre_mega_destroy(r->mega));
}

vyre_status
mega_run(const mega_options *options, const mega_queue *queue, uint32_t *out_faults)
{
  char folder[4096];
  static char program[] = "vyre-mega";
  run r = {.options = options, .queue = queue, .slots = options->slots.text ? (uint32_t)options->slots.value : 64};
  vyre_target_options opens = option_device_fill(&options->on, folder, sizeof folder);
  vyre_target *target;
  opens.remark = vyre_target_remark;
  opens.remark_user = program;
  VYRE_TRY(options->target->open(&opens, NULL, &target));
  vyre_status status = options->log_path ? vyre_mega_log_open(options->log_path, &r.log) : VYRE_OK;
  r.numbers = calloc(queue->count, sizeof *r.numbers);
  if (!status && !r.numbers)
    status = VYRE_OUT_OF_MEMORY("for a log");
  if (!status)
    status = run_on(&r, target);
  status = vyre_status_join(status, vyre_mega_log_close(r.log));
  free(r.numbers);
  status = vyre_status_join(status, options->target->close(target));
  *out_faults = r.faults;
  return status;
}
