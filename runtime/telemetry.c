/* Telemetry of a live kernel: current values, differences, and text for Prometheus.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"
#include "vyre/megakernel_host.h"

#include "live.h"

#include <inttypes.h>
#include <stdlib.h>

static vyre_status
read_control(vyre_mega_live *live, vyre_mega_control *out)
{
  uint32_t words[VYRE_MEGA_CONTROL_WORDS];
  for (uint32_t word = 0; word < VYRE_MEGA_CONTROL_WORDS; word++)
    words[word] = live_word(live->images[0], word);
  VYRE_TRY(vyre_mega_control_decode(words, sizeof words, out));
  out->observables = live->options.observables;
  return VYRE_OK;
}

vyre_status
vyre_mega_telemetry_read(vyre_mega_live *live, vyre_mega_telemetry *out)
{
  vyre_mega_telemetry t = {.ns = clock_now(), .slots = live->slots};
  VYRE_TRY(read_control(live, &t.control));
  VYRE_TRY(vyre_mega_ring_count(live->images[1], live->sizes[1], t.states));
  for (uint32_t state = 0; state < VYRE_MEGA_STATE__COUNT; state++)
    t.depth += vyre_mega_state_is_active(state) ? t.states[state] : 0;
  *out = t;
  return VYRE_OK;
}

vyre_mega_window_stats
vyre_mega_window_between(const vyre_mega_telemetry *from, const vyre_mega_telemetry *to)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_mega_window_stats w = {
      .ns = to->ns - from->ns, .done = to->control.done - from->control.done, .faults = to->control.faults - from->control.faults};
  const uint32_t ended = w.done + w.faults;
  w.rate = w.ns ? (double)ended * 1e9 / (double)w.ns : 0;
  w.occupancy = to->slots ? (double)to->depth / (double)to->slots : 0;
  w.is_idle = ended == 0 && to->depth == 0;
  w.may_be_stuck = ended == 0 && to->depth != 0 && from->depth != 0;
  return w;
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
put(vyre_bytes *out, const char *name, const char *kind, const char *text, uint32_t value)
{
  return vyre_bytes_printf(out, "# HELP vyre_mega_%s %s\n# TYPE vyre_mega_%s %s\nvyre_mega_%s %" PRIu32 "\n", name, text, name,
                           kind, name, value);
}

/* Writes the values of a table, without zeros if the entries have no names. */
static vyre_status
put_table(vyre_bytes *out, const char *name, const char *kind, const char *text, const char *label, const uint32_t *values,
          uint32_t count, const char *(*name_of)(uint32_t))
{
  VYRE_TRY(vyre_bytes_printf(out, "# HELP vyre_mega_%s %s\n# TYPE vyre_mega_%s %s\n", name, text, name, kind));
  for (uint32_t i = 0; i < count; i++)
    if (name_of)
      VYRE_TRY(vyre_bytes_printf(out, "vyre_mega_%s{%s=\"%s\"} %" PRIu32 "\n", name, label, name_of(i), values[i]));
    else if (values[i])
      VYRE_TRY(vyre_bytes_printf(out, "vyre_mega_%s{%s=\"%" PRIu32 "\"} %" PRIu32 "\n", name, label, i, values[i]));
  return VYRE_OK;
}

vyre_status
vyre_mega_telemetry_text(const vyre_mega_telemetry *t, vyre_bytes *out)
{
  const vyre_mega_control *c = &t->control;
  const size_t size = out->size;
  vyre_status status = put(out, "done_total", "counter", "Items that ended DONE.", c->done);
#define NEXT(...) status = status ? status : __VA_ARGS__
  NEXT(put(out, "faults_total", "counter", "Items that ended FAULT.", c->faults));
  NEXT(put(out, "epochs_total", "counter", "Fences.", c->epoch));
  NEXT(put(out, "debug_lost_total", "counter", "Debug records that found no room.", c->debug_lost));
  NEXT(put(out, "slots", "gauge", "Slots of the ring.", t->slots));
  NEXT(put(out, "queue_depth", "gauge", "Slots that wait or are under way.", t->depth));
  NEXT(put_table(out, "slots_by_state", "gauge", "Slots of the ring by state.", "state", t->states, VYRE_MEGA_STATE__COUNT,
                 vyre_mega_state_text));
  NEXT(put_table(out, "priority_total", "counter", "Items that ended, by priority; 0 without priorities.", "priority",
                 c->priorities, VYRE_MEGA_LEVELS, vyre_mega_priority_text));
  NEXT(put_table(out, "op_total", "counter", "Operations that were done, by op code.", "op", c->metrics, VYRE_MEGA_TABLE, NULL));
#undef NEXT
  return vyre_bytes_undo(out, size, status);
}
