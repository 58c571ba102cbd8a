/* Writes a row as several instructions that compute with the type of the row's operands, for guards.c and expand.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_OPERATION_H
#define VYRE_CODEGEN_SPIRV_OPERATION_H

#include "spirv/export/export.h"

typedef struct operation {
  vyre_spv *s;
  vyre_type type;            /* of the operands */
  uint32_t type_id, bool_id; /* bool_id: one bool per lane */
  uint32_t bits;             /* per lane */
  uint64_t ones, minimum;    /* integers of `bits` bits: all ones, only the top bit */
  uint32_t a, b;             /* ids; b is 0 if there is none */
  bool is_literal;           /* b is a literal with this value */
  uint64_t value;
} operation;

/* Returns the operation of a row.  The caller sets operand b. */
static inline operation
operation_of(vyre_spv *s, uint32_t row)
{
  const vyre_type type = vyre_spv_row_type(s, s->a[row]);
  operation o = {.s = s, .type = type, .bits = vyre_kind_bits(VYRE_TYPE_KIND(type))};
  o.type_id = vyre_spv_value_type(s, type);
  o.bool_id = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(type)));
  o.ones = o.bits >= 64 || o.bits == 0 ? UINT64_MAX : (UINT64_C(1) << o.bits) - 1;
  o.minimum = o.bits ? UINT64_C(1) << (o.bits - 1) : 0;
  o.a = vyre_spv_value(s, s->a[row]);
  o.is_literal = vyre_spv_flag(s, row, VYRE_ROW_IMM);
  o.value = vyre_spv_payload(s, row);
  return o;
}

static inline uint32_t
literal(const operation *o, uint64_t value)
{
  return vyre_spv_constant(o->s, o->type, value & o->ones);
}

static inline uint32_t
op(const operation *o, uint32_t opcode, uint32_t a, uint32_t b)
{
  return vyre_spv_op2(o->s, opcode, o->type_id, a, b);
}

static inline uint32_t
compare(const operation *o, uint32_t opcode, uint32_t a, uint32_t b)
{
  return vyre_spv_op2(o->s, opcode, o->bool_id, a, b);
}

static inline uint32_t
choose(const operation *o, uint32_t condition, uint32_t yes, uint32_t no)
{
  return vyre_spv_op3(o->s, SpvOpSelect, o->type_id, condition, yes, no);
}

#endif
