/* The keywords of ops that parser and printer share, and the kinds of operands that each op requires.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

const text_bit_word text_flag_words[] = {
    {"exact", VYRE_ROW_EXACT},       {"relaxed", VYRE_ROW_RELAXED},       {"volatile", VYRE_ROW_VOLATILE},
    {"coherent", VYRE_ROW_COHERENT}, {"nonuniform", VYRE_ROW_NONUNIFORM}, {NULL, 0},
};

const text_bit_word text_mode_words[] = {
    {"relaxed", VYRE_PROGRAM_RELAXED},    {"flush_f16", VYRE_PROGRAM_FLUSH_16},
    {"flush_f32", VYRE_PROGRAM_FLUSH_32}, {"flush_f64", VYRE_PROGRAM_FLUSH_64},
    {"rtz_f16", VYRE_PROGRAM_TO_ZERO_16}, {"rtz_f32", VYRE_PROGRAM_TO_ZERO_32},
    {"rtz_f64", VYRE_PROGRAM_TO_ZERO_64}, {NULL, 0},
};

const char *const text_scope_words[] = {"cross_device", "device", "workgroup", "subgroup", "invocation", "queue_family", NULL};

const text_bit_word text_semantics_words[] = {
    {"acquire", 0x2},
    {"release", 0x4},
    {"acq_rel", 0x8},
    {"seq_cst", 0x10},
    {"uniform_memory", 0x40},
    {"subgroup_memory", 0x80},
    {"workgroup_memory", 0x100},
    {"cross_workgroup_memory", 0x200},
    {"atomic_counter_memory", 0x400},
    {"image_memory", 0x800},
    {"output_memory", 0x1000},
    {"make_available", 0x2000},
    {"make_visible", 0x4000},
    {"volatile_memory", 0x8000},
    {"nontemporal", VYRE_NONTEMPORAL},
    {"non_private", VYRE_NON_PRIVATE},
    {NULL, 0},
};

uint32_t
text_barrier_semantics(uint32_t scope)
{
  /* acq_rel workgroup_memory. Device scope adds uniform_memory (storage), the only memory that workgroups share. */
  return scope == 1 ? 0x148u : 0x108u;
}

uint32_t
text_default_order(vyre_opcode op)
{
  if (op == VYRE_OP_barrier)
    return VYRE_ORDER(2, 2, text_barrier_semantics(2));
  return vyre_op_is_atomic(op) ? VYRE_ORDER(0, 1, 0) : 0;
}

bool
text_accepts_number(vyre_opcode op)
{
  return op == VYRE_OP_part || op == VYRE_OP_async_wait;
}

bool
text_has_order(vyre_opcode op)
{
  return op == VYRE_OP_barrier || op == VYRE_OP_load || op == VYRE_OP_store || op == VYRE_OP_copy || vyre_op_is_atomic(op);
}

text_need
text_need_of(vyre_opcode op, uint32_t operand)
{
  switch (op) {
  case VYRE_OP_copy:
  case VYRE_OP_async_copy:
    return NEED_PATH;
  case VYRE_OP_get:
  case VYRE_OP_set:
    return operand == 0 ? NEED_VAR : NEED_VALUE;
  case VYRE_OP_part:
  case VYRE_OP_matmat:
  case VYRE_OP_transpose:
  case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    return NEED_TUPLE;
  case VYRE_OP_matvec:
    return operand == 0 ? NEED_TUPLE : NEED_VALUE;
  case VYRE_OP_vecmat:
    return operand == 1 ? NEED_TUPLE : NEED_VALUE;
  case VYRE_OP_bfi:
    return operand == 2 ? NEED_TUPLE : NEED_VALUE;
  case VYRE_OP_at:
  case VYRE_OP_length:
    return operand == 0 ? NEED_PATH : NEED_VALUE;
  default:
    return text_has_order(op) && operand == 0 ? NEED_PATH : NEED_VALUE;
  }
}
