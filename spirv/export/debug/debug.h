/* NonSemantic.Shader.DebugInfo.100 as it is written, where the input has instructions of it: scopes, and variables of the source.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_DEBUG_H
#define VYRE_CODEGEN_SPIRV_DEBUG_H

#include "spirv/export/export.h"

/* ---- debug_info.c ---- */

void vyre_spv_begin_debug(vyre_spv *s);
void vyre_spv_end_debug(vyre_spv *s); /* all programs have been written */
void vyre_spv_debug_variable(vyre_spv *s, uint32_t row, uint32_t spirv_id, uint32_t id);
void vyre_spv_debug_definition(vyre_spv *s, uint32_t function); /* of the program at hand */
/* What goes from one position to the next, if either has a scope.  False: an OpLine, or nothing, is to do that. */
bool vyre_spv_debug_place(vyre_spv *s, const vyre_spv_position *from, const vyre_spv_position *to);
/* The DebugScope of a place, or of a variable's function; false: `from` is in it. */
bool vyre_spv_debug_enter(vyre_spv *s, const vyre_spv_position *from, const vyre_scope_info *to);
/* A function or block, or that of a variable: what was written for it; 0: nothing. */
uint32_t vyre_spv_debug_entity(vyre_spv *s, const vyre_scope_info *info);
uint32_t vyre_spv_debug_local(vyre_spv *s, const vyre_scope_info *info); /* what was written for a variable; 0: nothing */
/* An instruction of the set, after what is in `to`; its id. */
uint32_t vyre_spv_debug_put(vyre_spv *s, vyre_spv_words *to, uint32_t instruction, const uint32_t *operands, size_t count);

/* ---- debug_values.c ---- */

void vyre_spv_find_values(vyre_spv *s);       /* at a program's start: which variables have all of their values */
void vyre_spv_declare_variables(vyre_spv *s); /* those that are in memory */
void vyre_spv_tell_value(vyre_spv *s, uint32_t row, uint32_t id);
/* What the row is a value of has the value `id` from here on. */
static inline void
vyre_spv_tell(vyre_spv *s, uint32_t row, uint32_t id)
{
  if (s->has_values)
    vyre_spv_tell_value(s, row, id);
}

#endif
