/* What control.c, which writes constructs, takes from phis.c, which knows the values of vars.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_CONTROL_H
#define VYRE_CODEGEN_SPIRV_CONTROL_H

#include "export.h"

/* Whether a value is the flag of a leave; else it is a var's. */
static inline bool
vyre_spv_is_flag(const vyre_spv *s, uint32_t value)
{
  return vyre_spv_opcode(s, s->vars[value].row) != VYRE_OP_var;
}
uint32_t vyre_spv_zero_of(vyre_spv *s, uint32_t value);
/* A value's id: where it has none yet, zero of its type. */
static inline uint32_t
vyre_spv_or_zero(vyre_spv *s, uint32_t value, uint32_t id)
{
  return id ? id : vyre_spv_zero_of(s, value);
}
void vyre_spv_note_change(vyre_spv *s, uint32_t value);
/* The value is `id` from here on. */
static inline void
vyre_spv_assign(vyre_spv *s, uint32_t value, uint32_t id)
{
  if (s->vars[value].arm != s->arm)
    vyre_spv_note_change(s, value);
  s->vars[value].id = id;
}

/* The arms of an `if`, each from its begin to its end.  The block that the arm goes on from to the merge block; 0: none. */
typedef struct vyre_spv_arms {
  uint32_t around;        /* the arm that the `if` stands in */
  uint32_t first, second; /* where the changes of each begin */
  uint32_t blocks[2];
} vyre_spv_arms;
vyre_spv_arms vyre_spv_arms_begin(vyre_spv *s);
void vyre_spv_arm_end(vyre_spv *s, vyre_spv_arms *arms, uint32_t which, uint32_t block);
/* Begins the merge block of the `if`, with the phis it needs. */
void vyre_spv_arms_meet(vyre_spv *s, const vyre_spv_arms *arms, uint32_t row, uint32_t label);

/* The id that a `set` gives its var. */
static inline uint32_t
vyre_spv_set_value(vyre_spv *s, uint32_t row)
{
  const uint32_t value = s->b[row];
  if (vyre_spv_opcode(s, value) == VYRE_OP_get && s->id[value - s->base]) /* no use yet */
    return s->id[value - s->base];
  return vyre_spv_value(s, value);
}

/* Whether a get or set is of a var that is a variable. */
static inline bool
vyre_spv_is_in_memory(const vyre_spv *s, uint32_t row)
{
  const uint32_t var = s->a[row];
  return var > s->base && var < row && (s->use[var - s->base] & VYRE_SPV_IN_MEMORY) != 0;
}
/* demote.c.  So many sets and edges may make phis that are too many: then the vars of which they are are marked, and all else that
 * is known of the program's rows is forgotten.  False: there are none. */
bool vyre_spv_may_demote(const vyre_spv *s, uint32_t sets, uint32_t edges);
bool vyre_spv_demote(vyre_spv *s);
void vyre_spv_clear_program(vyre_spv *s); /* what is known by row (module.c) */
void vyre_spv_demoted_get(vyre_spv *s, uint32_t row);
void vyre_spv_demoted_set(vyre_spv *s, uint32_t row);

/* Survey: whether what stands behind the construct is a tail, whose end is that of `target`; then it is marked (tails.c). */
bool vyre_spv_take_tail(vyre_spv *s, uint32_t construct, uint32_t target);
/* The values of the construct's vars, as they are behind its tail. */
void vyre_spv_follow_tail(vyre_spv *s, const vyre_spv_scope *scope, uint32_t *values);

/* A construct that can be left begins.  NULL: no memory.  The pointer holds until the next one begins. */
vyre_spv_scope *vyre_spv_open_scope(vyre_spv *s, uint32_t row, uint32_t kind);
/* An edge from `block` with the values of now. */
void vyre_spv_add_edge(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t block);
/* The branch that ends the block being written, and its edge. */
void vyre_spv_jump(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t label);
/* The values before a switch, for each of its cases. */
void vyre_spv_save(vyre_spv *s, vyre_spv_scope *scope);
void vyre_spv_restore(vyre_spv *s, const vyre_spv_scope *scope);
/* Begins the block that `edges` lead to, with the phis it needs.  None lead there: it is unreachable, and nothing follows.
 * scope->left is made anew. */
void vyre_spv_meet(vyre_spv *s, vyre_spv_scope *scope, const vyre_spv_words *edges, uint32_t label);
/* The phis at a loop's head, the back edge's values to come; where they begin.  Then the back edge, from the block being written:
 * with the values of now if `live`, else it is never taken. */
size_t vyre_spv_head_phis(vyre_spv *s, const vyre_spv_scope *scope, uint32_t before);
void vyre_spv_patch_phis(vyre_spv *s, const vyre_spv_scope *scope, size_t start, bool live);

#endif
