/* Removes `set`s whose value reaches no `get`: a walk over the state graph from all `get`s does not visit them.
 *
 * Versions stay valid.  The one exception is a variable whose state a loop's header joins only because of the removed `set`s.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sets.h"

typedef struct walk {
  const vyre_view *v;
  bool *seen;             /* by row, then by join; not bytes, because stores to them could change the other fields */
  bool *joined;           /* by variable, whether a `get` sees a join at a loop's header */
  uint32_t *kept;         /* by variable, the last `set` that stays */
  uint32_t *until;        /* by variable, the end of the loop in which a later `set` must stay, or 0 */
  uint32_t *stack, depth; /* seen joins whose parts are not marked yet */
  uint32_t waiting;       /* the number of variables whose `until` is not 0 */
} walk;

static void
mark_version(walk *w, uint32_t version)
{
  const uint32_t join = version & ~VYRE_JOIN;
  if ((version & VYRE_JOIN) == 0) {
    w->seen[version] = true;
    return;
  }
  if (w->seen[w->v->rows + join])
    return;
  w->seen[w->v->rows + join] = true;
  w->stack[w->depth++] = join;
}

/* Marks the `set`s that the `get` sees. */
static void
mark_get(walk *w, uint32_t get)
{
  const vyre_view *v = w->v;
  mark_version(w, v->version[get]);
  while (w->depth) {
    const vyre_join *join = &v->joins[w->stack[--w->depth]];
    w->joined[v->a[get]] |= vyre_row_is_loop(v, v->parent[join->row]);
    for (uint32_t part = 0; part < join->count; part++)
      mark_version(w, v->parts[join->first + part].version);
  }
}

/* Records that the `set` stays.  Returns false if a removed `set` before it has no later one that stays in its loop. */
static bool
note_kept(walk *w, uint32_t set)
{
  const uint32_t var = w->v->a[set], until = w->until[var];
  w->kept[var] = set;
  w->until[var] = 0;
  w->waiting -= until != 0;
  return until == 0 || set <= until;
}

/* Records that the `set` is removed.  Unless an earlier `set` of its loop stays, a later one must. */
static void
note_removed(walk *w, uint32_t set)
{
  const vyre_view *v = w->v;
  const uint32_t var = v->a[set], loop = w->joined[var] ? vyre_loop_around(v, set) : 0, until = w->until[var];
  if (loop == 0 || w->kept[var] > loop)
    return;
  w->waiting += until == 0;
  w->until[var] = until && until < v->end[loop] ? until : v->end[loop];
}

vyre_status
sets_remove(vyre_pass_ctx *ctx, vyre_module *module, const stops *at, uint64_t *removed, bool *preserved)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  walk w = {.v = v, .seen = host->alloc(ctx, sizeof(bool) * ((size_t)v->rows + v->join_count))};
  w.stack = host->alloc(ctx, sizeof(uint32_t) * (v->join_count + 1));
  w.joined = host->alloc(ctx, sizeof(bool) * v->rows);
  w.kept = host->alloc(ctx, sizeof(uint32_t) * v->rows);
  w.until = host->alloc(ctx, sizeof(uint32_t) * v->rows);
  if (!w.seen || !w.stack || !w.joined || !w.kept || !w.until)
    return host->out_of_memory(ctx);
  for (uint32_t i = 0; i < at->count; i++)
    if (vyre_op_of(v, at->rows[i]) == VYRE_OP_get)
      mark_get(&w, at->rows[i]);
  for (uint32_t i = 0; i < at->count; i++) {
    const uint32_t row = at->rows[i];
    if (vyre_op_of(v, row) != VYRE_OP_set)
      continue;
    if (w.seen[row]) {
      *preserved &= note_kept(&w, row);
      continue;
    }
    note_removed(&w, row);
    host->kill(module, row);
    ++*removed;
  }
  *preserved &= w.waiting == 0;
  return VYRE_OK;
}
