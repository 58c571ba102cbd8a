/* Pinned rows: rows that give a type's length or a workgroup's size, and their operands.  They must stay constant expressions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_PINNED_H
#define VYRE_PASSES_STATE_PINNED_H

#include "vyre/plugin.h"

static inline void
pinned_mark(void *user, uint32_t row)
{
  ((bool *)user)[row] = true;
}

/* Returns by row of a sealed module whether it is pinned, or NULL if memory runs out.  O(rows). */
static inline const bool *
pinned_find(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const vyre_view *v = ctx->host->view(module);
  bool *pinned = ctx->host->alloc(ctx, sizeof(bool) * v->rows);
  if (!pinned)
    return NULL;
  ctx->host->each_pinned(module, pinned_mark, pinned);
  for (uint32_t row = v->rows; row-- > 1;) /* users follow their operands */
    if (pinned[row] || VYRE_ROW_OP(v->op[row]) == VYRE_OP_workgroup)
      pinned[v->a[row]] = pinned[v->b[row]] = pinned[v->c[row]] = true;
  return pinned;
}

#endif
