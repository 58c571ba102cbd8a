/* What the writer of constructs (control.c), vars as values (phis.c) and as variables (demote.c), and the survey share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_CONTROL_H
#define VYRE_CODEGEN_SPIRV_CONTROL_H

#include "spirv/export/export.h"

/* Whether a get or set is of a var that is a variable. */
static inline bool
vyre_spv_is_in_memory(const vyre_spv *s, uint32_t row)
{
  const uint32_t var = s->a[row];
  return var > s->base && var < row && (s->use[var - s->base] & VYRE_SPV_IN_MEMORY) != 0;
}

/* ---- blocks.c ---- */

void vyre_spv_branch_conditional(vyre_spv *s, uint32_t condition, uint32_t yes, uint32_t no);
void vyre_spv_selection_merge(vyre_spv *s, uint32_t merge, uint32_t hints);
void vyre_spv_unreachable(vyre_spv *s);

/* ---- demote.c ---- */

enum { VYRE_SPV_PHI_WORDS = 3, VYRE_SPV_EDGE_WORDS = 2, VYRE_SPV_GET_WORDS = 4, VYRE_SPV_SET_WORDS = 3 };
/* A vyre_join_filter: counts the words of the phi that the join may become; of a var that has too many, no more are asked for. */
bool vyre_spv_count_join(void *writer, uint32_t var, uint32_t row, uint32_t edges);
/* Of what was counted: vars of which there are too many are marked, and all else that is known of the program's rows is forgotten.
 * False: there are none. */
bool vyre_spv_demote(vyre_spv *s);
void vyre_spv_clear_program(vyre_spv *s); /* what is known by row (module.c) */
void vyre_spv_demoted_get(vyre_spv *s, uint32_t row);
void vyre_spv_demoted_set(vyre_spv *s, uint32_t row);

/* ---- tails.c ---- */

/* From the row on, to the end of its region (also 0, none), are few rows, and none of them is an instruction: gets, sets,
 * constants. */
bool vyre_spv_is_silent(vyre_spv *s, uint32_t row);
/* Survey: whether what follows the construct is a tail, whose end is that of `target`; then it is marked. */
bool vyre_spv_take_tail(vyre_spv *s, uint32_t construct, uint32_t target);
/* The construct whose end is that of this one's tail; 0: it has none. */
static inline uint32_t
vyre_spv_after_tail(const vyre_spv *s, uint32_t construct)
{
  return s->use[construct - s->base] & VYRE_SPV_HAS_TAIL ? s->parent[s->parent[construct]] : 0;
}

/* ---- phis.c ---- */

/* Which joins are phis: once the graph is made, and it is known which vars are variables. */
void vyre_spv_find_phis(vyre_spv *s);
void vyre_spv_get(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_set_to(vyre_spv *s, uint32_t row); /* what a `set` gives its var */
void vyre_spv_tell_joins(vyre_spv *s, uint32_t row); /* after all phis there: what the joins are values of */
/* After the `if`, of which nothing was told in that arm: its sets have no value there whose join is not told. */
void vyre_spv_tell_lost(vyre_spv *s, uint32_t row, uint32_t arm);

/* A construct that can be left begins.  NULL: no memory.  The pointer holds until the next one begins. */
vyre_spv_scope *vyre_spv_open_scope(vyre_spv *s, uint32_t row, uint32_t kind);
/* From here on, not all that runs in the innermost scope runs whenever that is left. */
void vyre_spv_begin_branches(vyre_spv *s);

/* An edge in a list of those that lead to a block: the construct, or the region at whose head joins are, for which it is; the row
 * that it is in the graph; the block that it comes from; and the index in `carried` of what it brings; 0: parts of joins say it. */
enum { EDGE_TO, EDGE_FROM, EDGE_BLOCK, EDGE_VALUES, EDGE_WORDS };
void vyre_spv_add_edge(vyre_spv *s, vyre_spv_words *edges, uint32_t to, uint32_t from, uint32_t block);

/* The joins of `to` in a block: of what those edges bring which are for it, or for `through`, a construct with a tail. */
typedef struct vyre_spv_meeting {
  const vyre_spv_words *edges;
  uint32_t known; /* ids below it are known wherever those edges come from */
  uint32_t to, through;
} vyre_spv_meeting;
/* Their values at the start of the block, with phis where they need some; returns their index in `carried`. */
uint32_t vyre_spv_gather(vyre_spv *s, const vyre_spv_meeting *meeting);
/* The same for the joins of the block itself. */
void vyre_spv_meet(vyre_spv *s, const vyre_spv_words *edges, uint32_t known, uint32_t row);
/* Whether the first arm of the `if` brings true, which there is its condition, to a join after it. */
bool vyre_spv_brings_condition(vyre_spv *s, uint32_t row);
/* Whether an edge is for that target, as a phi. */
uint32_t vyre_spv_leave_flag(vyre_spv *s, const vyre_spv_words *edges, uint32_t target);

/* The phis of a loop's header, whose back edge is to come; where they begin.  Then the back edge, from the block being written:
 * with those values, or as parts say; it is never taken if not `live`. */
size_t vyre_spv_header_phis(vyre_spv *s, uint32_t body, uint32_t before);
void vyre_spv_patch_phis(vyre_spv *s, uint32_t body, size_t start, uint32_t values, bool live);

#endif
