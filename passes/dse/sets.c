/* Removes `set`s whose value reaches no `get`: a walk over the state graph from all `get`s does not visit them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sets.h"

typedef struct walk {
  const vyre_view *v;
  bool *seen;             /* by row, then by join; not bytes, because stores to them could change the other fields */
  uint32_t *stack, depth; /* seen joins whose parts are not marked yet */
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

vyre_status
sets_remove(vyre_pass_ctx *ctx, vyre_module *module, const stops *at, uint64_t *removed)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  walk w = {.v = v, .seen = host->alloc(ctx, sizeof(bool) * ((size_t)v->rows + v->join_count))};
  w.stack = host->alloc(ctx, sizeof(uint32_t) * (v->join_count + 1));
  if (!w.seen || !w.stack)
    return host->out_of_memory(ctx);
  for (uint32_t i = 0; i < at->count; i++) {
    if (vyre_op_of(v, at->rows[i]) == VYRE_OP_get)
      mark_version(&w, v->version[at->rows[i]]);
    while (w.depth) {
      const vyre_join *join = &v->joins[w.stack[--w.depth]];
      for (uint32_t part = 0; part < join->count; part++)
        mark_version(&w, v->parts[join->first + part].version);
    }
  }
  for (uint32_t i = 0; i < at->count; i++) {
    const uint32_t row = at->rows[i];
    if (vyre_op_of(v, row) != VYRE_OP_set || w.seen[row])
      continue;
    host->kill(module, row);
    ++*removed;
  }
  return VYRE_OK;
}
