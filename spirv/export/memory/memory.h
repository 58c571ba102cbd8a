/* Functions shared by the files about memory: variables.c, addresses.c, memory.c, atomics.c, zeros.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_MEMORY_H
#define VYRE_CODEGEN_SPIRV_MEMORY_H

#include "spirv/export/export.h"

static inline uint32_t
vyre_spv_boolean(vyre_spv *s)
{
  return vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1));
}

/* ---- variables.c ---- */

uint32_t vyre_spv_storage_class(vyre_spv *s, uint32_t buffer);
bool vyre_spv_has_layout(const vyre_spv *s, uint32_t buffer);

/* ---- addresses.c ---- */

/* An address as an operand: the pointer and, in a strict program, the condition that it is in bounds, or 0 if it always is. */
typedef struct vyre_spv_address {
  uint32_t pointer, guard;
  bool branch; /* no access may be executed if the condition is false */
} vyre_spv_address;

static inline uint32_t
vyre_spv_buffer_of(const vyre_spv *s, uint32_t path)
{
  while (vyre_spv_opcode(s, path) == VYRE_OP_at)
    path = s->a[path];
  return path;
}
/* Returns the id of the type at the end of a path, with its layout in memory. */
uint32_t vyre_spv_pointee(vyre_spv *s, uint32_t path, uint32_t buffer);
/* Returns the OpArrayLength of the runtime array at `path`. */
uint32_t vyre_spv_array_length(vyre_spv *s, uint32_t path);
void vyre_spv_address_of(vyre_spv *s, uint32_t path, vyre_spv_address *out);
void vyre_spv_at(vyre_spv *s, uint32_t row);

/* ---- atomics.c ---- */

void vyre_spv_atomic(vyre_spv *s, uint32_t row);
void vyre_spv_barrier(vyre_spv *s, uint32_t imm);

#endif
