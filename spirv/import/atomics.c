/* Atomics: on a scalar of a buffer, with a scope and semantics that are constants.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

typedef struct atomic {
  uint16_t op, vyre;
  uint8_t pointer, value; /* indices of their operands; value 0: the constant `given` */
  int8_t given;
} atomic;

static const atomic atomics[] = {
    {SpvOpAtomicLoad, VYRE_OP_atomic_load, 3, 0, 0},         {SpvOpAtomicStore, VYRE_OP_atomic_store, 1, 4, 0},
    {SpvOpAtomicExchange, VYRE_OP_atomic_exchange, 3, 6, 0}, {SpvOpAtomicCompareExchange, VYRE_OP_atomic_compare_exchange, 3, 7, 0},
    {SpvOpAtomicIIncrement, VYRE_OP_atomic_add, 3, 0, 1},    {SpvOpAtomicIDecrement, VYRE_OP_atomic_sub, 3, 0, 1},
    {SpvOpAtomicIAdd, VYRE_OP_atomic_add, 3, 6, 0},          {SpvOpAtomicISub, VYRE_OP_atomic_sub, 3, 6, 0},
    {SpvOpAtomicSMin, VYRE_OP_atomic_smin, 3, 6, 0},         {SpvOpAtomicUMin, VYRE_OP_atomic_umin, 3, 6, 0},
    {SpvOpAtomicSMax, VYRE_OP_atomic_smax, 3, 6, 0},         {SpvOpAtomicUMax, VYRE_OP_atomic_umax, 3, 6, 0},
    {SpvOpAtomicAnd, VYRE_OP_atomic_and, 3, 6, 0},           {SpvOpAtomicOr, VYRE_OP_atomic_or, 3, 6, 0},
    {SpvOpAtomicXor, VYRE_OP_atomic_xor, 3, 6, 0},           {SpvOpAtomicFAddEXT, VYRE_OP_atomic_fadd, 3, 6, 0},
    {SpvOpAtomicFMinEXT, VYRE_OP_atomic_fmin, 3, 6, 0},      {SpvOpAtomicFMaxEXT, VYRE_OP_atomic_fmax, 3, 6, 0},
};

static bool
takes_atomic(vyre_opcode op, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  return VYRE_TYPE_LANES(type) == 1 && vyre_class_has((vyre_class)vyre_op_infos[op].klass, kind) &&
         (vyre_kind_is_float(kind) || vyre_kind_bits(kind) >= 32);
}

bool
import_atomic(import *m, uint32_t op, const uint32_t *words)
{
  const atomic *a = NULL;
  for (size_t k = 0; k < sizeof(atomics) / sizeof(*atomics); k++)
    if (atomics[k].op == op)
      a = &atomics[k];
  if (!a)
    return import_uncovered(m, "not covered");
  bool compares = op == SpvOpAtomicCompareExchange;
  uint32_t scope, semantics;
  if (!import_needs(m, compares ? 9u : a->value ? a->value + 1u : 6u))
    return false;
  if (!import_literal(m, words[a->pointer + 1], &scope) || !import_literal(m, words[a->pointer + 2], &semantics))
    return import_uncovered(m, "its scope or semantics are no constants");
  const pointer *p = import_pointer(m, words[a->pointer]);
  const spv_type *t = p ? import_type(m, p->type) : NULL;
  if (!t)
    return false;
  vyre_type type = t->form == FORM_VALUE ? t->value : 0;
  if (!import_is_plain_path(p) || import_is_read_only(AT(global, m->globals, p->first)->space) ||
      !takes_atomic((vyre_opcode)a->vyre, type))
    return import_uncovered(m, "it accesses something else than %s of a buffer",
                            vyre_op_infos[a->vyre].klass == VYRE_CLASS_FLOAT ? "a float"
                                                                             : "a float, or an integer of 32 or 64 bits,");
  uint32_t flags = import_access_flags(m, p, 0, a->vyre != VYRE_OP_atomic_load);
  uint32_t path = import_path(m, m->ids[words[a->pointer]].value), operand = 0, comparator = 0;
  if (a->value)
    operand = import_cast(m, import_row(m, words[a->value]), type);
  else if (a->given)
    operand = vyre_build_const(&m->b, type, (uint64_t)a->given).id;
  if (compares)
    comparator = import_cast(m, import_row(m, words[8]), type);
  if (failed(m))
    return false;
  bool stores = op == SpvOpAtomicStore;
  uint32_t row =
      vyre_build(&m->b, (vyre_opcode)a->vyre, stores ? (vyre_type)0 : type, flags & VYRE_ROW_VOLATILE,
                 VYRE_ORDER(0, scope, semantics & VYRE_SEMANTICS), 0, (vyre_row){path}, (vyre_row){operand}, (vyre_row){comparator})
          .id;
  if (stores)
    return !failed(m);
  const spv_type *result = import_value_type(m, words[1]);
  if (result)
    import_set(m, words[2], import_cast(m, row, result->value));
  return !failed(m);
}
