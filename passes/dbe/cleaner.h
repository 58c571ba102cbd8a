/* What the constructs of dbe share: the state of the sweep, and what is done to rows, jumps and regions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_DBE_CLEANER_H
#define VYRE_PASSES_DBE_CLEANER_H

#include "vyre/plugin.h"

typedef struct cleaner {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *jumps; /* by construct: breaks, continues and leaves that name it, the last one first, as a list through `link` */
  uint32_t *link;
  uint32_t *twin;     /* by row of an arm: the row of the other arm that corresponds; made when it is needed, as is: */
  uint32_t *forward;  /* by row: what its uses become */
  uint8_t *completes; /* by construct: control may come to what follows it */
  bool out_of_memory;
  uint64_t constructs, jumps_gone, unreachable;
} cleaner;

/* A column that few modules need; false: out of memory. */
bool cleaner_need(cleaner *k, uint32_t **column);

/* ---- questions ----------------------------------------------------------------------------------------------------------- */

/* The position of paths, and of literals that came of folding, does not matter: text has them where they are used. */
static inline bool
cleaner_has_place(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  return op != VYRE_OP_at && (op != VYRE_OP_const || (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_DECO) != 0);
}

/* From that row on the first in its region whose position matters; 0: none.  If a region has no such row the others are unused,
 * because they are not visible outside. */
static inline uint32_t
cleaner_next_placed(const vyre_view *v, uint32_t row)
{
  while (row && !cleaner_has_place(v, row))
    row = v->next[row];
  return row;
}

static inline bool
cleaner_is_empty(const vyre_view *v, uint32_t region)
{
  return cleaner_next_placed(v, v->first[region]) == 0;
}

/* Whether the region's last row has that op. */
bool cleaner_ends_in(const vyre_view *v, uint32_t region, uint32_t op);

/* Whether control may run off the region's end. */
bool cleaner_completes(const cleaner *k, uint32_t region);

/* Whether a jump of that op names the construct. */
bool cleaner_has_jump(const cleaner *k, uint32_t construct, uint32_t op);

/* ---- edits --------------------------------------------------------------------------------------------------------------- */

/* Removes the rows after a construct that control does not come out of. */
void cleaner_drop_behind(cleaner *k, uint32_t row);

/* Removes the construct, or one region of it, with all in it. */
void cleaner_drop(cleaner *k, uint32_t row);

/* The region's rows replace its construct. */
void cleaner_take_region(cleaner *k, uint32_t construct, uint32_t region);

/* Removes jumps of that op to where control goes anyhow. */
void cleaner_drop_needless_jumps(cleaner *k, uint32_t construct, uint32_t op);

/* The construct becomes a block of that region of its, each jump that names it a leave. */
void cleaner_become_block(cleaner *k, uint32_t row, uint32_t region);

/* ---- one construct, those in it done ------------------------------------------------------------------------------------- */

void cleaner_block(cleaner *k, uint32_t block);
void cleaner_if(cleaner *k, uint32_t row);     /* arms.c */
void cleaner_switch(cleaner *k, uint32_t row); /* cases.c */
void cleaner_for(cleaner *k, uint32_t row);    /* trips.c */
void cleaner_loop(cleaner *k, uint32_t row);

#endif
