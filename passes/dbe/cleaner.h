/* The state of dbe's sweep, and the edits of rows, jumps and regions that its constructs share.
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
  uint32_t rows;   /* elements of the columns below: the rows at the start.  rows that dbe adds are beyond */
  uint32_t *jumps; /* by construct, the last break, continue or leave that names it; a list through `link` */
  uint32_t *link;
  uint32_t *twin; /* by row of an arm, the corresponding row of the other arm; NULL until needed */
  /* For code that adds rows, NULL until needed.  By row: the last visited block with a leave in the row, and the map of
   * host->clone, which is 0 between calls. */
  uint32_t *leaving, *copies;
  uint32_t room;      /* elements of both */
  uint32_t *forward;  /* by row, the row that replaces its uses; NULL until needed */
  uint8_t *completes; /* by construct, whether control may reach the row after it */
  bool out_of_memory;
  uint64_t constructs, jumps_removed, unreachable;
} cleaner;

/* Allocates a zeroed column, unless it exists.  Few modules need these columns.  Returns false if memory runs out. */
bool cleaner_allocate(cleaner *k, uint32_t **column);

/* ---- queries ------------------------------------------------------------------------------------------------------------- */

/* Returns whether the row's position matters.  Paths, and literals and built-ins without decorations, have no position, because
 * text writes them where they are used. */
static inline bool
cleaner_has_place(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  const bool is_leaf = op == VYRE_OP_const || vyre_op_is_invocation(op);
  return op != VYRE_OP_at && (!is_leaf || (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_DECO) != 0);
}

/* Returns the first row from `row` on, in its region, whose position matters, or 0.  If a region has no such row, its other rows
 * are unused, because they are not visible outside it. */
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

/* Returns whether the region's last row has the op. */
bool cleaner_ends_in(const vyre_view *v, uint32_t region, uint32_t op);

/* Returns whether control may run off the region's end. */
bool cleaner_completes(const cleaner *k, uint32_t region);

/* Returns whether a jump of the op names the construct. */
bool cleaner_has_jump(const cleaner *k, uint32_t construct, uint32_t op);

/* ---- edits --------------------------------------------------------------------------------------------------------------- */

/* Removes the rows after a construct that control never leaves by its end. */
void cleaner_drop_unreachable(cleaner *k, uint32_t row);

/* Removes the construct, or one region of it, and all rows in it. */
void cleaner_drop(cleaner *k, uint32_t row);

/* Replaces the construct by the rows of one of its regions. */
void cleaner_replace_by_region(cleaner *k, uint32_t construct, uint32_t region);

/* Removes a jump to the end of the construct, which control reaches without it.  Constructs around it now complete, and an `if`
 * that held only the jump is removed. */
void cleaner_drop_jump(cleaner *k, uint32_t jump, uint32_t construct);

/* Replaces the condition of an `if`, or the selector of a `switch`, by a literal if it is the value of a variable that is known. */
void cleaner_find_operand(cleaner *k, uint32_t row);

/* Removes jumps of the op whose target control reaches without them. */
void cleaner_drop_redundant_jumps(cleaner *k, uint32_t construct, uint32_t op);

/* Turns the construct into a block with that one region.  Jumps that name the construct become leaves. */
void cleaner_convert_to_block(cleaner *k, uint32_t row, uint32_t region);

/* ---- one construct, after the constructs in it --------------------------------------------------------------------------- */

void cleaner_block(cleaner *k, uint32_t block);
/* Makes room in `leaving` and `copies` for that many more rows.  Returns false if memory runs out. */
bool cleaner_make_room(cleaner *k, uint32_t more);
void cleaner_nest(cleaner *k, uint32_t block); /* moves rows, if that removes all leaves of the block (nest.c) */
void cleaner_if(cleaner *k, uint32_t row);     /* defined in arms.c */
void cleaner_switch(cleaner *k, uint32_t row); /* defined in cases.c */
void cleaner_for(cleaner *k, uint32_t row);    /* defined in trips.c */
void cleaner_loop(cleaner *k, uint32_t row);

#endif
