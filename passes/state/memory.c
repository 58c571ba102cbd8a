/* Memory is followed backward from who asks: over the rows that may change it, in program order, to the first that can have changed
 * this place.  Two places of one buffer are apart where a member, an index by literals, or an index by one row and two literals
 * (i and i + 1) tells them apart; buffers of two alias classes always; two elements of an array of descriptors never, for they may
 * be bound to one memory.  From one trip of a loop to the next only such an index does as stands outside: x[i + 1] of this trip is
 * x[i] of the next.
 *
 * A write in a construct that was passed ends the search at the construct: it may have run.  At the head of a loop, and of a case
 * that can be fallen into, all that the construct writes is looked at.  The version of a load says where to begin.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

enum { MOST_EVENTS = 64, MOST_STEPS = 16, MOST_LOADS = 16 };

/* ---- paths --------------------------------------------------------------------------------------------------------------- */

typedef struct index {
  uint32_t base; /* 0: a literal */
  uint32_t plus;
} index;

static index
index_of(const memory *m, uint32_t at)
{
  const vyre_view *v = m->v;
  const uint32_t row = v->b[at];
  if (VYRE_ROW_FLAGS(v->op[at]) & VYRE_ROW_IMM)
    return (index){0, v->imm[at]};
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM && vyre_kind_bits(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]))) == 32) {
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_add)
      return (index){v->a[row], v->imm[row]};
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_sub)
      return (index){v->a[row], 0u - v->imm[row]};
  }
  return (index){row, 0};
}

/* The steps of a path, the last one first; 0: too many. */
static uint32_t
steps_of(const memory *m, uint32_t path, uint32_t steps[MOST_STEPS])
{
  uint32_t count = 0;
  for (; vyre_op_of(m->v, path) == VYRE_OP_at; path = m->v->a[path]) {
    if (count == MOST_STEPS - 1)
      return 0;
    steps[count++] = path;
  }
  steps[count++] = path;
  return count;
}

/* The same, but a row from `varies` on need not be one value in both paths. */
static memory_relation
compare(const memory *m, uint32_t p, uint32_t q, uint32_t varies)
{
  uint32_t left[MOST_STEPS], right[MOST_STEPS];
  const uint32_t l = steps_of(m, p, left), r = steps_of(m, q, right);
  if (l == 0 || r == 0 || left[l - 1] != right[r - 1])
    return MEMORY_OVERLAP;
  for (uint32_t i = 2; i <= l && i <= r; i++) {
    const index x = index_of(m, left[l - i]), y = index_of(m, right[r - i]);
    if (x.base != y.base || x.base >= varies)
      return MEMORY_OVERLAP;
    if (x.plus != y.plus) /* of two descriptors nothing is known, not even that one offset in both is one place */
      return i - 2 < m->ctx->host->descriptor_steps(m->module, left[l - 1]) ? MEMORY_OVERLAP : MEMORY_DISJOINT;
  }
  return l == r ? MEMORY_SAME : MEMORY_OVERLAP;
}

memory_relation
memory_compare(const memory *m, uint32_t p, uint32_t q)
{
  return p == q ? MEMORY_SAME : compare(m, p, q, UINT32_MAX);
}

memory_relation
memory_compare_trips(const memory *m, uint32_t p, uint32_t q, uint32_t loop)
{
  return compare(m, p, q, loop);
}

/* ---- what a row may change ----------------------------------------------------------------------------------------------- */

static bool
is_event(const memory *m, uint32_t row)
{
  const uint32_t op = vyre_op_of(m->v, row), flags = vyre_op_flags_of(m->v, row);
  if (op == VYRE_OP_set || op == VYRE_OP_get)
    return false;
  if (flags & VYRE_OP_WRITES)
    return true;
  return (flags & VYRE_OP_READS) != 0 && (flags & VYRE_OP_CONVERGENT) == 0 &&
         (VYRE_ROW_FLAGS(m->v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0;
}

static bool
is_ordered(const memory *m, uint32_t row)
{
  return (VYRE_ORDER_SEMANTICS(m->v->imm[row]) & 0x1eu) != 0;
}

bool
memory_is_plain(const memory *m, uint32_t row, uint32_t path)
{
  const uint32_t buffer = vyre_buffer_of(m->v, path);
  return (VYRE_ROW_FLAGS(m->v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) == 0 &&
         (m->alias[buffer] & VYRE_ALIAS_SHARED) == 0 && VYRE_BUFFER_SPACE(m->v->imm_hi[buffer]) != VYRE_SPACE_HANDLE;
}

/* What the event may do to a place: SAME is a plain store of it, DISJOINT nothing.  In any trip of the loop; 0: in the same one. */
static memory_relation
relation(const memory *m, uint32_t event, uint32_t path, uint32_t loop)
{
  const vyre_view *v = m->v;
  const uint32_t op = vyre_op_of(m->v, event), buffer = vyre_buffer_of(m->v, path);
  const bool own = VYRE_BUFFER_SPACE(v->imm_hi[buffer]) == VYRE_SPACE_PRIVATE;
  memory_relation places = MEMORY_OVERLAP;
  if (op == VYRE_OP_barrier || (vyre_op_is_atomic(op) && is_ordered(m, event)))
    return own ? MEMORY_DISJOINT : MEMORY_OVERLAP;
  if (op == VYRE_OP_store || op == VYRE_OP_copy || op == VYRE_OP_load || vyre_op_is_atomic(op)) {
    const uint32_t to = v->a[event], other = vyre_buffer_of(m->v, to);
    if (((m->alias[buffer] ^ m->alias[other]) & ~VYRE_ALIAS_SHARED) != 0)
      return op == VYRE_OP_copy && !memory_is_plain(m, event, v->b[event]) ? MEMORY_OVERLAP : MEMORY_DISJOINT;
    if (op != VYRE_OP_load)
      places = loop ? memory_compare_trips(m, to, path, loop) : memory_compare(m, to, path);
    if (places == MEMORY_SAME && (op != VYRE_OP_store || !memory_is_plain(m, event, to)))
      return MEMORY_OVERLAP;
  }
  return places;
}

/* How many events stand up to that row, itself counted. */
static uint32_t
events_up_to(const memory *m, uint32_t row)
{
  uint32_t low = 0, high = m->event_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (m->events[middle] <= row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- the search ---------------------------------------------------------------------------------------------------------- */

typedef struct search {
  const memory *m;
  uint32_t path;
  uint32_t at;    /* the row in front of which the state is looked for, ... */
  uint32_t event; /* ... and how many events may have run before it */
  uint32_t left;  /* events that may be looked at yet */
} search;

/* The rows in front of it in its region.  True: the search is over. */
static bool
search_region(search *s, uint32_t region, memory_state *out)
{
  const vyre_view *v = s->m->v;
  for (; s->event > 0 && s->m->events[s->event - 1] > region; s->event--) {
    const uint32_t event = s->m->events[s->event - 1];
    const memory_relation r = s->left == 0 ? MEMORY_OVERLAP : relation(s->m, event, s->path, 0);
    if (r == MEMORY_DISJOINT) {
      s->left--;
      continue;
    }
    uint32_t outer = event;
    while (v->parent[outer] != region)
      outer = v->parent[outer];
    out->since = s->left ? outer : 0;
    out->value = s->left && r == MEMORY_SAME && outer == event ? v->b[event] : 0;
    return true;
  }
  return false;
}

/* Whether nothing in the construct changes the place; in a loop an earlier trip may have, where its indices were others. */
static bool
leaves_alone(search *s, uint32_t construct)
{
  const uint32_t loop = vyre_row_is_loop(s->m->v, construct) ? construct : 0;
  for (uint32_t i = events_up_to(s->m, construct); i < s->m->event_count && s->m->events[i] <= s->m->v->end[construct]; i++)
    if (s->left == 0 || relation(s->m, s->m->events[i], s->path, loop) != MEMORY_DISJOINT)
      return false;
    else
      s->left--;
  return true;
}

/* From the start of a region to in front of its construct.  True: the search is over. */
static bool
search_outside(search *s, uint32_t region, memory_state *out)
{
  const vyre_view *v = s->m->v;
  const uint32_t construct = v->parent[region], op = vyre_op_of(s->m->v, construct), before = v->prev[region];
  if (vyre_op_of(s->m->v, region) == VYRE_OP_program) {
    out->since = vyre_buffer_of(s->m->v, s->path);
    return true;
  }
  const bool falls = op == VYRE_OP_switch && before && vyre_op_of(s->m->v, v->last[before]) == VYRE_OP_fallthrough;
  if ((op == VYRE_OP_loop || op == VYRE_OP_for || falls) && !leaves_alone(s, construct)) {
    out->since = s->left ? region : 0;
    return true;
  }
  s->event = events_up_to(s->m, construct);
  s->at = construct;
  return false;
}

static memory_state
run_search(search *s, uint32_t head)
{
  memory_state found = {0, 0};
  if (head && search_outside(s, head, &found))
    return found;
  while (!search_region(s, s->m->v->parent[s->at], &found) && !search_outside(s, s->m->v->parent[s->at], &found))
    ;
  return found;
}

memory_state
memory_before(const memory *m, uint32_t row, uint32_t path)
{
  const vyre_view *v = m->v;
  const uint32_t version = vyre_op_of(m->v, row) == VYRE_OP_load ? v->version[row] : 0;
  const uint32_t buffer = vyre_buffer_of(v, path), space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
  if (space == VYRE_SPACE_PUSH || space == VYRE_SPACE_CONSTANT) /* nothing writes it: no event is looked at */
    return (memory_state){buffer, 0};
  search s = {m, path, row, 0, MOST_EVENTS};
  if (version == 0) {
    s.event = events_up_to(m, row - 1);
    return run_search(&s, 0);
  }
  const uint32_t flags = vyre_op_flags_of(v, version);
  if (vyre_op_of(m->v, version) == VYRE_OP_buffer)
    return (memory_state){vyre_buffer_of(m->v, path), 0};
  if (flags & VYRE_OP_REGION)
    return run_search(&s, version);
  s.at = version;
  s.event = events_up_to(m, v->end[version]);
  return run_search(&s, 0);
}

vyre_status
memory_make(memory *m, vyre_pass_ctx *ctx, vyre_module *module, const flow_stops *stops)
{
  const vyre_view *v = ctx->host->view(module);
  *m = (memory){.ctx = ctx, .module = module, .v = v, .stops = stops};
  m->alias = ctx->host->alloc(ctx, sizeof(uint32_t) * v->rows);
  m->events = ctx->host->alloc(ctx, sizeof(uint32_t) * stops->count);
  if (!m->alias || !m->events || !ctx->host->aliases(module, m->alias))
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < stops->count; i++)
    if (is_event(m, stops->rows[i]))
      m->events[m->event_count++] = stops->rows[i];
  return VYRE_OK;
}

/* ---- loads --------------------------------------------------------------------------------------------------------------- */

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

static bool
is_forwardable(const memory *m, uint32_t row)
{
  const vyre_view *v = m->v;
  return vyre_op_of(m->v, row) == VYRE_OP_load && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_DECO) == 0 &&
         memory_is_plain(m, row, v->a[row]) && VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) <= VYRE_F64 && v->version[row] != 0;
}

/* In a strict program a load out of bounds is zero, whatever was stored there. */
static bool
is_there(const memory *m, uint32_t program, uint32_t path)
{
  return (m->v->imm[program] & VYRE_PROGRAM_RELAXED) != 0 || m->ctx->host->in_bounds(m->module, path);
}

/* What the load is, by the state that it sees. */
static memory_load
known_load(const memory *m, uint32_t row, uint32_t program, const memory_state *state)
{
  memory_load load = {0, false, 0};
  if (state->value && is_there(m, program, m->v->a[row]))
    load.row = state->value;
  else if (state->since && vyre_op_of(m->v, state->since) == VYRE_OP_buffer)
    load.is_literal = m->ctx->host->initial(m->module, m->v->a[row], &load.bits);
  return load;
}

vyre_status
memory_follow(const memory *m, memory_loads *out)
{
  const vyre_host *host = m->ctx->host;
  const vyre_view *v = m->v;
  flow f = {.ctx = m->ctx};                                           /* for the list */
  uint32_t *latest = host->alloc(m->ctx, sizeof(uint32_t) * v->rows); /* by what `since` names: the last load in that state */
  uint32_t *next = host->alloc(m->ctx, sizeof(uint32_t) * v->rows);
  uint32_t program = 0;
  *out = (memory_loads){.of = host->alloc(m->ctx, sizeof(uint32_t) * v->rows), .loads = {.size = sizeof(memory_load)}};
  if (!latest || !next || !out->of || !flow_append(&f, &out->loads))
    return host->out_of_memory(m->ctx);
  for (uint32_t i = 0; i < m->stops->count; i++) {
    const uint32_t row = m->stops->rows[i];
    if (vyre_op_of(m->v, row) == VYRE_OP_program)
      program = row;
    if (!is_forwardable(m, row))
      continue;
    const memory_state state = memory_before(m, row, v->a[row]);
    memory_load load = known_load(m, row, program, &state);
    if (state.since && load.row == 0 && !load.is_literal) {
      load.row = loaded_before(m, row, latest[state.since], next);
      if (load.row == 0) {
        next[row] = latest[state.since];
        latest[state.since] = row;
        continue;
      }
    }
    memory_load *noted = load.row || load.is_literal ? flow_append(&f, &out->loads) : NULL;
    if (f.out_of_memory)
      return host->out_of_memory(m->ctx);
    if (noted) {
      *noted = load;
      out->of[row] = out->loads.count - 1;
    }
  }
  return VYRE_OK;
}
