/* What each load is: the value that was stored, or an earlier load of the same place in the same state.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "loads.h"

enum { MOST_LOADS = 16 };

/* An earlier load of the same place in the same state, visible here; 0: none. */
static uint32_t
loaded_before(const memory *m, uint32_t load, uint32_t candidate, const uint32_t *next)
{
  const vyre_view *v = m->v;
  for (uint32_t i = 0; candidate && i < MOST_LOADS; candidate = next[candidate], i++)
    if (v->op[candidate] == v->op[load] && vyre_row_dominates(v, candidate, load) &&
        memory_compare(m, v->a[candidate], v->a[load]) == MEMORY_SAME)
      return candidate;
  return 0;
}

vyre_status
loads_follow(const memory *m, const flow_stops *stops, loads *out)
{
  const vyre_host *host = m->ctx->host;
  const vyre_view *v = m->v;
  const uint32_t states = v->rows + v->join_count;
  flow f = {.ctx = m->ctx};                                          /* for the list */
  uint32_t *latest = host->alloc(m->ctx, sizeof(uint32_t) * states); /* by what `since` names: the last load in that state */
  uint32_t *next = host->alloc(m->ctx, sizeof(uint32_t) * v->rows);
  uint32_t program = 0;
  *out = (loads){.of = host->alloc(m->ctx, sizeof(uint32_t) * v->rows), .known = {.size = sizeof(memory_load)}};
  if (!latest || !next || !out->of || !flow_append(&f, &out->known))
    return host->out_of_memory(m->ctx);
  for (uint32_t i = 0; i < stops->count; i++) {
    const uint32_t row = stops->rows[i], op = vyre_op_of(v, row);
    if (op == VYRE_OP_program)
      program = row;
    if (op != VYRE_OP_load || !memory_is_followed(m, row))
      continue;
    const memory_state state = memory_at(m, v->version[row], v->a[row]);
    const uint32_t since = state.since & VYRE_JOIN ? v->rows + (state.since & ~VYRE_JOIN) : state.since;
    memory_load load = memory_loaded(m, row, program, &state);
    if (since && load.row == 0 && !load.is_literal) {
      load.row = loaded_before(m, row, latest[since], next);
      if (load.row == 0) {
        next[row] = latest[since];
        latest[since] = row;
        continue;
      }
    }
    memory_load *noted = load.row || load.is_literal ? flow_append(&f, &out->known) : NULL;
    if (f.out_of_memory)
      return host->out_of_memory(m->ctx);
    if (noted) {
      *noted = load;
      out->of[row] = out->known.count - 1;
    }
  }
  return VYRE_OK;
}
