/* Functions shared by the files that write control flow: constructs (control.c), vars as values (phis.c) and as variables
 * (demote.c), and the survey.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_CONTROL_H
#define VYRE_CODEGEN_SPIRV_CONTROL_H

#include "spirv/export/export.h"

/* Returns whether the var of a get or set is a function variable. */
static inline bool
vyre_spv_is_in_memory(const vyre_spv *s, uint32_t row)
{
  const uint32_t var = s->a[row];
  return s->demoted && var > s->base && var < row && (s->use[var - s->base] & VYRE_SPV_IN_MEMORY) != 0;
}

/* ---- blocks.c ---- */

void vyre_spv_branch_conditional(vyre_spv *s, uint32_t condition, uint32_t yes, uint32_t no);
void vyre_spv_selection_merge(vyre_spv *s, uint32_t merge, uint32_t hints);
void vyre_spv_unreachable(vyre_spv *s);
/* Appends the labels of a case, each with its block: no labels, a const row, or a tuple of const rows. */
void vyre_spv_push_labels(vyre_spv *s, vyre_spv_words *words, uint32_t labels, uint32_t label);

/* ---- demote.c ---- */

enum { VYRE_SPV_PHI_WORDS = 3, VYRE_SPV_EDGE_WORDS = 2, VYRE_SPV_GET_WORDS = 4, VYRE_SPV_SET_WORDS = 3 };
/* After vyre_spv_find_joins: moves the vars that become variables from `vars` to `declared`, and removes their joins. */
void vyre_spv_demote(vyre_spv *s);
void vyre_spv_demoted_var(vyre_spv *s, uint32_t var); /* writes its OpVariable at the program's start */
void vyre_spv_demoted_get(vyre_spv *s, uint32_t row);
void vyre_spv_demoted_set(vyre_spv *s, uint32_t row);

/* ---- tails.c ---- */

/* Returns whether the rows from `row` (which may be 0) to the end of its region are few and write no instruction: gets, sets,
 * constants. */
bool vyre_spv_is_silent(vyre_spv *s, uint32_t row);
/* After vyre_spv_demote: marks the construct if the rows after it are a tail that ends where `target` ends.  Returns whether they
 * are. */
bool vyre_spv_claim_tail(vyre_spv *s, uint32_t construct, uint32_t target);
static inline bool
vyre_spv_has_tail(const vyre_spv *s, uint32_t construct)
{
  return (s->use[construct - s->base] & VYRE_SPV_HAS_TAIL) != 0;
}
/* Returns the construct that ends where the tail of this construct ends, or 0 if this construct has no tail. */
static inline uint32_t
vyre_spv_after_tail(const vyre_spv *s, uint32_t construct)
{
  return vyre_spv_has_tail(s, construct) ? s->parent[s->parent[construct]] : 0;
}

/* Applies the tails after the construct to the vars.  Returns the construct whose end is reached.  The caller restores the vars. */
uint32_t vyre_spv_run_tails(vyre_spv *s, uint32_t construct);

/* ---- live.c ---- */

/* The kinds of events: row * VYRE_SPV_EVENTS + kind.  A get or set has the index of the var in `vars` instead of a row. */
enum {
  VYRE_SPV_GETS,
  VYRE_SPV_SETS,
  VYRE_SPV_JUMPS,
  VYRE_SPV_BEGINS_REGION,
  VYRE_SPV_ENDS_REGION,
  VYRE_SPV_BEGINS, /* a construct */
  VYRE_SPV_ENDS,
  VYRE_SPV_EVENTS = 8
};
/* After the survey: lists in `joins` the vars that may need phis, as (row, count, vars...) by construct or region. */
void vyre_spv_find_joins(vyre_spv *s);

/* ---- phis.c ---- */

void vyre_spv_begin_vars(vyre_spv *s); /* gives the vars their initial values, and the constructs and regions their joins */
void vyre_spv_restore(vyre_spv *s, size_t changes); /* restores the values that the vars had when `changes` had that count */
void vyre_spv_get(vyre_spv *s, uint32_t row);
void vyre_spv_set(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_set_to(vyre_spv *s, uint32_t row);  /* after a `set`: returns the id of the value that it gives its var */
void vyre_spv_debug_joins(vyre_spv *s, uint32_t row); /* writes the debug values of the joins at `row`, after all its phis */
/* After an `if` whose arm was written without debug values: marks the values of the arm's sets without a join as undefined. */
void vyre_spv_debug_lost_sets(vyre_spv *s, uint32_t row, uint32_t arm);

/* Opens a construct that jumps can leave.  Returns NULL if out of memory.  The pointer is valid until the next call. */
vyre_spv_scope *vyre_spv_open_scope(vyre_spv *s, uint32_t row, uint32_t kind);
/* Records that from here on, code in the innermost scope does not dominate all jumps out of the scope. */
void vyre_spv_begin_branches(vyre_spv *s);

/* An edge to a block, in a list:
 *
 *   - EDGE_TO: the construct whose end it reaches, or the region;
 *   - EDGE_BLOCK: the block from which it comes;
 *   - EDGE_VALUES: the index in `carried` of the values that it brings to the joins of EDGE_TO. */
enum { EDGE_TO, EDGE_BLOCK, EDGE_VALUES, EDGE_WORDS };
void vyre_spv_add_edge(vyre_spv *s, vyre_spv_words *edges, uint32_t to, uint32_t block, uint32_t values);
/* Returns the index in `carried` of the current values of the joins of a construct or region. */
uint32_t vyre_spv_values_at(vyre_spv *s, uint32_t row);

/* Writes the phis that the joins of `to` need in the block of the edges, for an edge from the block to `to`.  Returns the index of
 * the joins' values in `carried`.  Ids smaller than `known` dominate all of the edges. */
uint32_t vyre_spv_collect_joins(vyre_spv *s, const vyre_spv_words *edges, uint32_t known, uint32_t to);
/* Writes the phis of the joins of `row` at the current block, and makes them the values of the vars. */
void vyre_spv_merge_joins(vyre_spv *s, const vyre_spv_words *edges, uint32_t known, uint32_t row);
/* Returns the id of a bool phi: whether the executed edge leads to the target. */
uint32_t vyre_spv_leave_flag(vyre_spv *s, const vyre_spv_words *edges, uint32_t target);

/* Begins the phis of a loop's header, and returns their word in `code`.  vyre_spv_patch_phis adds the back edge from the current
 * block, with the values at index `values`.  If not `live`, the back edge is never executed. */
size_t vyre_spv_header_phis(vyre_spv *s, uint32_t body, uint32_t before);
void vyre_spv_patch_phis(vyre_spv *s, uint32_t body, size_t start, uint32_t values, bool live);

#endif
