/* The rows that a walk over the program's state visits, in program order: rows that read or write, contain rows, or jump.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_STOPS_H
#define VYRE_PASSES_STATE_STOPS_H

#include "vyre/plugin.h"

typedef struct stops {
  uint32_t *rows, count;
} stops;

/* Lists the stops of a sealed module.  The list is valid until rows move.  O(rows). */
static inline vyre_status
stops_find(vyre_pass_ctx *ctx, const vyre_view *view, stops *out)
{
  const uint32_t stop = VYRE_OP_READS | VYRE_OP_WRITES | VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS;
  uint32_t *rows = ctx->host->alloc(ctx, sizeof(uint32_t) * view->rows), count = 0;
  if (!rows)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 1; row < view->rows; row++) {
    rows[count] = row;
    count += (vyre_op_flags_of(view, row) & stop) != 0;
  }
  *out = (stops){rows, count};
  return VYRE_OK;
}

#endif
