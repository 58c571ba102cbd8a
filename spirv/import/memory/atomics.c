/* Atomics on a scalar of a buffer.  The scope and the semantics must be constants.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

/* Returns the op of the instruction, or 0 if it is not supported. */
static vyre_opcode
atomic_of(uint32_t instruction)
{
  switch (instruction) {
#define SPV_ATOMIC(op, instruction) \
  case SpvOp##instruction:          \
    return VYRE_OP_##op;
#include "spirv/ops.def"
  case SpvOpAtomicIIncrement:
    return VYRE_OP_atomic_add;
  case SpvOpAtomicIDecrement:
    return VYRE_OP_atomic_sub;
  default:
    return VYRE_OP_null;
  }
}

static bool
supports_atomic(vyre_opcode op, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  return VYRE_TYPE_LANES(type) == 1 && vyre_class_has((vyre_class)vyre_op_infos[op].klass, kind) &&
         (vyre_kind_is_float(kind) || vyre_kind_bits(kind) >= 32);
}

bool
import_atomic(import *m, uint32_t op, const uint32_t *words)
{
  const vyre_opcode atomic = atomic_of(op);
  if (!atomic)
    return import_uncovered(m, "not supported");
  const bool compares = op == SpvOpAtomicCompareExchange, stores = op == SpvOpAtomicStore;
  const bool counts = op == SpvOpAtomicIIncrement || op == SpvOpAtomicIDecrement;
  const uint32_t *args = words + (stores ? 1 : 3); /* pointer, scope, semantics and the other operands */
  const uint32_t values = op == SpvOpAtomicLoad || counts ? 0 : compares ? 3 : 1;
  uint32_t scope, semantics;
  if (!import_needs(m, (stores ? 4 : 6) + values))
    return false;
  if (!import_literal(m, args[1], &scope) || !import_literal(m, args[2], &semantics))
    return import_uncovered(m, "its scope or semantics are not constants");
  const pointer *p = import_pointer(m, args[0]);
  const spv_type *t = p ? import_type(m, p->type) : NULL;
  if (!t)
    return false;
  vyre_type type = t->form == FORM_VALUE ? t->value : 0;
  if (!import_is_plain_path(p) || import_is_read_only(AT(global, m->globals, p->first)->space) || !supports_atomic(atomic, type))
    return import_uncovered(m, "does not access %s of a buffer",
                            vyre_op_infos[atomic].klass == VYRE_CLASS_FLOAT ? "a float"
                                                                            : "a float, or an integer of 32 or 64 bits,");
  uint32_t flags = import_access_flags(m, p, 0, atomic != VYRE_OP_atomic_load);
  uint32_t path = import_path(m, m->ids[args[0]].value), operand = 0, comparator = 0;
  if (counts)
    operand = vyre_build_const(&m->b, type, 1).id;
  else if (values)
    operand = import_cast(m, import_row(m, args[compares ? 4 : 3]), type);
  if (compares)
    comparator = import_cast(m, import_row(m, args[5]), type);
  if (failed(m))
    return false;
  uint32_t row =
      vyre_build(&m->b, atomic, stores ? (vyre_type)0 : type, flags & VYRE_ROW_VOLATILE,
                 VYRE_ORDER(0, scope, semantics & VYRE_SEMANTICS), 0, (vyre_row){path}, (vyre_row){operand}, (vyre_row){comparator})
          .id;
  if (stores)
    return !failed(m);
  const spv_type *result = import_value_type(m, words[1]);
  if (result)
    import_set(m, words[2], import_cast(m, row, result->value));
  return !failed(m);
}
