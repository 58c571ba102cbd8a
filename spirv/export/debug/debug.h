/* Writes NonSemantic.Shader.DebugInfo.100, if the input has such instructions: scopes, and values of source variables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_DEBUG_H
#define VYRE_CODEGEN_SPIRV_DEBUG_H

#include "spirv/export/export.h"

/* ---- debug_info.c ---- */

void vyre_spv_begin_debug(vyre_spv *s);
void vyre_spv_end_debug(vyre_spv *s); /* after all programs */
void vyre_spv_debug_variable(vyre_spv *s, uint32_t row, uint32_t spirv_id, uint32_t id);
void vyre_spv_debug_definition(vyre_spv *s, uint32_t function); /* of the current program */
/* Writes the scope and line changes between two positions.  Returns false if an OpLine can do it, because neither has a scope. */
bool vyre_spv_debug_place(vyre_spv *s, const vyre_spv_position *from, const vyre_spv_position *to);
/* Writes the DebugScope of a position or of a variable's function.  Returns false if `from` has that scope. */
bool vyre_spv_debug_enter(vyre_spv *s, const vyre_spv_position *from, const vyre_scope_info *to);
/* Returns the id that was written for the scope's function or block, or 0 if there is none. */
uint32_t vyre_spv_debug_entity(vyre_spv *s, const vyre_scope_info *info);
/* returns the id that was written for the variable, or 0 */
uint32_t vyre_spv_debug_local(vyre_spv *s, const vyre_scope_info *info);
/* Appends an instruction of the set to `to`, and returns its id. */
uint32_t vyre_spv_debug_put(vyre_spv *s, vyre_spv_words *to, uint32_t instruction, const uint32_t *operands, size_t count);

/* ---- debug_values.c ---- */

void vyre_spv_find_values(vyre_spv *s);       /* at a program's start: finds the variables that still have all of their values */
void vyre_spv_declare_variables(vyre_spv *s); /* those in memory */
void vyre_spv_write_debug_value(vyre_spv *s, uint32_t row, uint32_t id);
/* Writes that the variables of the row have the value `id` from here on. */
static inline void
vyre_spv_debug_value(vyre_spv *s, uint32_t row, uint32_t id)
{
  if (s->has_values)
    vyre_spv_write_debug_value(s, row, id);
}

#endif
