/* What control.c, which writes constructs, takes from phis.c, which knows the values of vars.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_CONTROL_H
#define VYRE_CODEGEN_SPIRV_CONTROL_H

#include "export.h"

/* Whether a value is the flag of a leave; else it is a var's. */
bool vyre_spv_is_flag(const vyre_spv *s, uint32_t value);
/* A value's id: where it has none yet, zero of its type. */
uint32_t vyre_spv_or_zero(vyre_spv *s, uint32_t value, uint32_t id);
/* A construct begins.  NULL: no memory.  The pointer holds until the next one begins. */
vyre_spv_scope *vyre_spv_open_scope(vyre_spv *s, uint32_t row, uint32_t kind);
/* An edge from `block` with the values of now. */
void vyre_spv_add_edge(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t block);
/* The branch that ends the block being written, and its edge. */
void vyre_spv_jump(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t label);
/* The values before a construct, for each of its arms. */
void vyre_spv_save(vyre_spv *s, vyre_spv_scope *scope);
void vyre_spv_restore(vyre_spv *s, const vyre_spv_scope *scope);
/* Begins the block that `edges` lead to, with the phis it needs.  None lead there: it is unreachable, and nothing follows. */
void vyre_spv_meet(vyre_spv *s, const vyre_spv_scope *scope, const vyre_spv_words *edges, uint32_t label);
/* The phis at a loop's head, the back edge's values to come; where they begin.  Then the back edge, from the block being written:
 * with the values of now if `live`, else it is never taken. */
size_t vyre_spv_head_phis(vyre_spv *s, const vyre_spv_scope *scope, uint32_t before);
void vyre_spv_patch_phis(vyre_spv *s, const vyre_spv_scope *scope, size_t start, bool live);

#endif
