/* Sets whose value reaches no get, over the phis of flow.h.
 *
 * Most modules have none, and the graph costs more than all else here.  So each set is first followed forward to the next access of
 * its variable: where that is a get, the set is seen.  Only if one may not be, the graph is made.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sets.h"

/* A get or set, in program order. */
typedef struct access {
  uint32_t row;
  uint32_t next; /* of the same variable; 0: none */
} access;

typedef struct walk {
  const vyre_view *v;
  flow_list accesses;
  uint32_t *first, *last; /* by var: access */
  uint32_t var;           /* at hand */
  uint32_t left;          /* steps that may be made yet */
} walk;

enum { MOST_STEPS = 64 };

static uint32_t
row_of(const walk *w, uint32_t index)
{
  return FLOW_AT(access, w->accesses, index)->row;
}

static bool
is_get(const walk *w, uint32_t index)
{
  return index && vyre_op_of(w->v, row_of(w, index)) == VYRE_OP_get;
}

/* The first access behind a row, from one on; 0: none. */
static uint32_t
access_behind(walk *w, uint32_t from, uint32_t row)
{
  for (; from && row_of(w, from) <= row && w->left; w->left--)
    from = FLOW_AT(access, w->accesses, from)->next;
  return from;
}

static bool is_seen_from(walk *w, uint32_t region, uint32_t next);

/* Whether it is seen from in front of a construct on, in which the next access is a set. */
static bool
is_seen_through(walk *w, uint32_t construct, uint32_t next)
{
  const vyre_view *v = w->v;
  const uint32_t op = vyre_op_of(v, construct), yes = v->first[construct], no = v->last[construct];
  if (is_seen_from(w, yes, next))
    return true;
  if (op == VYRE_OP_if)
    return is_seen_from(w, no, access_behind(w, next, no));
  return op == VYRE_OP_for && is_seen_from(w, v->parent[construct], access_behind(w, next, v->end[construct]));
}

/* The same from the end of a region. */
static bool
is_seen_behind(walk *w, uint32_t region, uint32_t next)
{
  const vyre_view *v = w->v;
  const uint32_t control = v->parent[region], last = v->last[region];
  const bool jumps = last && (vyre_op_flags_of(v, last) & VYRE_OP_ENDS) != 0, repeats = vyre_row_is_loop(v, control);
  if (control == 0 || (jumps && vyre_op_of(v, last) != VYRE_OP_breakif))
    return false;
  if (vyre_op_of(v, control) == VYRE_OP_loop && region != v->last[control])
    return is_seen_from(w, v->last[control], next);
  if (repeats && is_seen_from(w, v->first[control], access_behind(w, w->first[w->var], control)))
    return true;
  if (vyre_op_of(v, control) == VYRE_OP_loop && !jumps)
    return false;
  return is_seen_from(w, v->parent[control], access_behind(w, next, v->end[control]));
}

/* Whether a get comes next on one of the ways from within the region, where `next` is the next access in program order; only a
 * bounded number of them is tried. */
static bool
is_seen_from(walk *w, uint32_t region, uint32_t next)
{
  const vyre_view *v = w->v;
  uint32_t outer = row_of(w, next);
  if (w->left == 0)
    return false;
  w->left--;
  if (next == 0 || outer > v->end[region])
    return is_seen_behind(w, region, next);
  if (is_get(w, next) || v->parent[outer] == region)
    return is_get(w, next);
  while (v->parent[outer] != region)
    outer = v->parent[outer];
  return is_seen_through(w, outer, next);
}

static bool
is_surely_seen(walk *w, uint32_t set)
{
  const uint32_t row = row_of(w, set);
  w->left = MOST_STEPS;
  w->var = w->v->a[row];
  return is_seen_from(w, w->v->parent[row], FLOW_AT(access, w->accesses, set)->next);
}

static bool
note_access(flow *f, walk *w, uint32_t row)
{
  const uint32_t var = w->v->a[row];
  access *new = flow_append(f, &w->accesses);
  if (!new)
    return false;
  *new = (access){row, 0};
  const uint32_t index = w->accesses.count - 1;
  if (w->last[var])
    FLOW_AT(access, w->accesses, w->last[var])->next = index;
  else
    w->first[var] = index;
  w->last[var] = index;
  return true;
}

/* Whether each set is surely seen. */
static vyre_status
all_seen(vyre_pass_ctx *ctx, const vyre_view *v, const flow_stops *stops, bool *out)
{
  flow f = {.ctx = ctx}; /* for the list */
  walk w = {.v = v, .accesses = {.size = sizeof(access)}};
  *out = false;
  w.first = ctx->host->alloc(ctx, sizeof(uint32_t) * v->rows);
  w.last = ctx->host->alloc(ctx, sizeof(uint32_t) * v->rows);
  if (!w.first || !w.last || !flow_reserve(&f, &w.accesses, stops->count / 2 + 1) || !flow_append(&f, &w.accesses))
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < stops->count; i++) {
    const uint32_t op = vyre_op_of(v, stops->rows[i]);
    if ((op == VYRE_OP_get || op == VYRE_OP_set) && !note_access(&f, &w, stops->rows[i]))
      return ctx->host->out_of_memory(ctx);
  }
  *out = true;
  for (uint32_t i = 1; i < w.accesses.count && *out; i++)
    *out = is_get(&w, i) || is_surely_seen(&w, i);
  return VYRE_OK;
}

/* Marks what the gets see, through phis. */
static void
mark_seen(const flow *f, const flow_stops *stops, uint8_t *seen, uint32_t *stack)
{
  uint32_t depth = 0;
  for (uint32_t s = 0; s < stops->count; s++) {
    const uint32_t row = stops->rows[s];
    if (flow_op(f, row) != VYRE_OP_get || seen[f->of[row]])
      continue;
    seen[f->of[row]] = 1;
    stack[depth++] = f->of[row];
    while (depth) {
      const uint32_t node = stack[--depth];
      if (node < f->rows)
        continue;
      for (uint32_t i = FLOW_AT(flow_block, f->blocks, flow_phi_of(f, node)->block)->in, next; i; i = next) {
        const flow_edge *edge = FLOW_AT(flow_edge, f->edges, i);
        const uint32_t source = flow_source(f, edge, node);
        next = edge->next_in;
        if (seen[source])
          continue;
        seen[source] = 1;
        stack[depth++] = source;
      }
    }
  }
}

vyre_status
sets_remove(vyre_pass_ctx *ctx, vyre_module *module, const flow_stops *stops, uint64_t *removed)
{
  const vyre_host *host = ctx->host;
  flow f;
  bool none;
  VYRE_TRY(all_seen(ctx, host->view(module), stops, &none));
  if (none)
    return VYRE_OK;
  VYRE_TRY(flow_make(&f, ctx, host->view(module), stops));
  const uint32_t nodes = f.rows + f.phis.count;
  uint8_t *seen = host->alloc(ctx, nodes);
  uint32_t *stack = host->alloc(ctx, sizeof(uint32_t) * nodes);
  if (!seen || !stack)
    return host->out_of_memory(ctx);
  mark_seen(&f, stops, seen, stack);
  for (uint32_t i = 0; i < stops->count; i++) {
    const uint32_t row = stops->rows[i];
    if (flow_op(&f, row) != VYRE_OP_set || seen[row])
      continue;
    host->kill(module, row);
    ++*removed;
  }
  return VYRE_OK;
}
