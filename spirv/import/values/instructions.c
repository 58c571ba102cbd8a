/* Dispatches each instruction of a block to the file that imports it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

static bool
extended(import *m, const uint32_t *words, uint32_t count)
{
  if (!import_needs(m, 5))
    return false;
  const id_info *set = import_id(m, words[3]);
  if (!set)
    return false;
  if (set->kind != ID_SET)
    return import_fail(m, "id %u is not an instruction set", words[3]);
  if (set->value >= 2) { /* non-semantic or debug information */
    if (import_is_debug(m, words, VYRE_DEBUG_DECLARE, 8))
      import_debug_declare(m, words);
    else if (import_is_debug(m, words, VYRE_DEBUG_VALUE, 8))
      import_debug_value(m, words);
    else
      import_line(m, m->at);
    return true;
  }
  if (set->value == 0)
    return import_opaque(m);
  return import_glsl450(m, words[1], words[2], words[4], words + 5, count - 5);
}

/* OpCopyObject: the copy of a pointer shares the variable's record; other copies are values. */
static bool
copy_object(import *m, const uint32_t *words, uint32_t count)
{
  const spv_type *t = import_type(m, words[1]);
  if (!t)
    return false;
  if (t->form != FORM_POINTER)
    return import_composite(m, SpvOpCopyObject, words[1], words[2], words + 3, count - 3);
  const pointer *p = import_pointer(m, words[3]);
  if (!p)
    return false;
  if (m->ids[words[3]].type != words[1])
    return import_fail(m, "the result type does not match the operands");
  m->ids[words[2]].value = m->ids[words[3]].value;
  m->ids[words[2]].epoch = m->epochs[ID_LOCAL];
  if ((m->ids[words[2]].flags & ID_NONUNIFORM) && !(p->access & POINTER_NONUNIFORM)) { /* the copy itself is decorated */
    const pointer copied = *p;
    pointer *own = list_add(m, &m->pointers, sizeof(pointer), 1);
    if (!own)
      return false;
    *own = copied;
    own->access |= POINTER_NONUNIFORM;
    own->path = 0;
    m->ids[words[2]].value = m->pointers.count - 1;
  }
  return true;
}

static bool
undefined(import *m, const uint32_t *words)
{
  const spv_type *t = import_type(m, words[1]);
  if (t && import_is_in_memory(t))
    return import_set_memory(m, words[2], 0, 0, 0);
  t = t ? import_value_type(m, words[1]) : NULL;
  if (!t)
    return false;
  if (t->form == FORM_VALUE) {
    import_set(m, words[2], import_undefined(m, words[1], 0));
    return !failed(m);
  }
  uint32_t count = t->leaves, *leaves = import_set_leaves(m, words[2], count);
  for (uint32_t k = 0; leaves && k < count; k++)
    leaves[k] = import_undefined(m, words[1], k);
  return !failed(m);
}

/* Makes a composite whose constituents are all the same. */
static bool
replicate(import *m, const uint32_t *words)
{
  const spv_type *t = import_needs(m, 4) ? import_type(m, words[1]) : NULL;
  if (!t || t->count == 0 || t->count > IMPORT_MAX_LEAVES)
    return t && import_uncovered(m, "a composite of type %u is not supported here", words[1]);
  const uint32_t count = t->count;
  uint32_t *constituents = import_memory_of(m, count * sizeof(*constituents));
  for (uint32_t k = 0; constituents && k < count; k++)
    constituents[k] = words[3];
  return constituents && import_composite(m, SpvOpCompositeConstruct, words[1], words[2], constituents, count);
}

#define ORDERS                                                                                            \
  (SpvMemorySemanticsAcquireMask | SpvMemorySemanticsReleaseMask | SpvMemorySemanticsAcquireReleaseMask | \
   SpvMemorySemanticsSequentiallyConsistentMask)

static bool
barrier(import *m, const uint32_t *words, bool control)
{
  uint32_t execution = SpvScopeInvocation, memory, semantics;
  if (!import_needs(m, control ? 4 : 3))
    return false;
  const uint32_t *args = words + (control ? 2 : 1);
  if ((control && !import_literal(m, words[1], &execution)) || !import_literal(m, args[0], &memory) ||
      !import_literal(m, args[1], &semantics))
    return import_uncovered(m, "its scopes or semantics are not constants");
  if (execution < SpvScopeDevice || execution > SpvScopeInvocation || memory > SpvScopeQueueFamily)
    return import_uncovered(m, "scope %u is not supported here", memory > SpvScopeQueueFamily ? memory : execution);
  if (execution == SpvScopeInvocation && (semantics & ORDERS) == 0)
    return import_uncovered(m, "orders no memory accesses");
  vyre_build_barrier(&m->b, VYRE_ORDER(execution, memory, semantics & VYRE_SEMANTICS));
  return true;
}

/* Loads a whole scalar or vector, the common case.  If the value of a variable is known and visible here, the load is that value.
 */
static inline bool
load(import *m, const uint32_t *words)
{
  const id_info *info = &m->ids[words[0] >> 16 >= 4 && words[3] < m->bound ? words[3] : 0];
  if (info->holds != HOLDS_POINTER || info->epoch != m->epochs[info->kind])
    return import_load(m, words);
  const pointer *p = AT(pointer, m->pointers, info->value);
  if (!p->single || p->type != words[1])
    return import_load(m, words);
  const uint32_t row = p->base == BASE_LEAVES ? locals_current(m, p->first) : 0, parent = m->view->parent[row];
  const bool known = row != 0 && (parent == m->region || parent == m->program || import_is_visible(m, row));
  import_set(m, words[2], known ? row : import_load_single(m, info->value, import_memory_operands(m, words, 4)));
  return !failed(m);
}

/* Sets the id's value to the row of import_plain if the operands have one leaf each.  Returns false in other cases. */
static inline bool
set_plain(import *m, const operation *o, uint32_t id, const uint32_t *args)
{
  const bool two = o->operands == 2;
  const id_info *const info = &m->ids[id];
  if (info->holds != HOLDS_ROW)
    return false;
  const uint32_t a = import_row(m, args[0]), b = two && a ? import_row(m, args[1]) : 0;
  if (!a || (two && !b) || !import_may_read(o, VYRE_TYPE_KIND(import_row_type(m, a))))
    return false;
  const uint32_t row = import_plain(m, o, info->t->value, import_row_flags(m, id), a, b);
  if (row)
    import_set(m, id, row);
  return row != 0;
}

static inline bool
instruction(import *m, const uint32_t *words)
{
  const uint32_t op = words[0] & 0xffffu, count = words[0] >> 16;
  const operation *o = op < IMPORT_OPERATIONS ? &import_operations[op] : NULL;
  if (o && o->vyre) { /* the result or the first operand decides, as in import_needs_opaque */
    const bool opaque = m->has_opaque && count > 3 && (import_is_opaque(m, words[2]) || import_is_opaque(m, words[3]));
    if (opaque)
      return import_opaque(m);
    return (o->form == OP_PLAIN && count >= 3u + o->operands && set_plain(m, o, words[2], words + 3)) ||
           import_operation(m, o, words[1], words[2], words + 3, count - 3);
  }
  if (m->has_opaque && import_needs_opaque(m, op, words, count))
    return import_opaque(m);
  switch (op) {
  case SpvOpLine:
  case SpvOpNoLine:
    import_line(m, m->at);
    return true;
  case SpvOpNop:
  case SpvOpPhi: /* read at the start of the block */
  case SpvOpFunctionParameter:
    return true;
  case SpvOpVariable:
    return import_variable(m);
  case SpvOpAccessChain:
  case SpvOpInBoundsAccessChain:
    return import_access_chain(m);
  case SpvOpLoad:
    return load(m, words);
  case SpvOpStore: {
    const bool stored = import_store(m, words);
    m->stored = m->view->rows;
    return stored;
  }
  case SpvOpCopyMemory:
    return import_copy_memory(m, words);
  case SpvOpArrayLength:
    return import_array_length(m, words);
  case SpvOpFunctionCall:
    return import_call(m);
  case SpvOpExtInst:
    return extended(m, words, count);
  case SpvOpUndef:
    return undefined(m, words);
  case SpvOpControlBarrier:
    return barrier(m, words, true);
  case SpvOpMemoryBarrier:
    return barrier(m, words, false);
  case SpvOpCopyObject:
    return import_needs(m, 4) && copy_object(m, words, count);
  case SpvOpCompositeConstruct:
  case SpvOpCompositeExtract:
  case SpvOpCompositeInsert:
  case SpvOpVectorShuffle:
  case SpvOpVectorExtractDynamic:
  case SpvOpVectorInsertDynamic:
  case SpvOpSelect:
    return import_composite(m, op, words[1], words[2], words + 3, count - 3);
  case SpvOpCopyLogical:
    if (m->copied && count == 4 && words[3] == m->copied_value) { /* the store copies the memory */
      m->copied_value = words[2];
      return true;
    }
    return import_composite(m, op, words[1], words[2], words + 3, count - 3);
  default:
    break;
  }
  if ((op >= SpvOpAtomicLoad && op <= SpvOpAtomicXor) || op == SpvOpAtomicFAddEXT || op == SpvOpAtomicFMinEXT ||
      op == SpvOpAtomicFMaxEXT)
    return import_atomic(m, op, words);
  if (import_is_subgroup(op) && !import_is_other_group(m, op, words, count))
    return import_subgroup(m, op);
  if (op == IMPORT_CONSTRUCT_REPLICATE)
    return replicate(m, words);
  o = import_operation_of(op);
  return o ? import_operation(m, o, words[1], words[2], words + 3, count - 3) : import_opaque(m);
}

bool
import_instructions(import *m, uint32_t at, uint32_t end)
{
  const uint32_t *const all = m->words;
  for (uint32_t next; at < end; at = next) {
    const uint32_t *words = all + at;
    next = at + (words[0] >> 16);
    m->at = at;
    m->rows_before = m->view->rows;
    if (m->rows_before > m->most_rows || m->leaves.count > m->most_leaves)
      return import_too_many_leaves(m);
    if (!instruction(m, words) || failed(m))
      return false;
  }
  m->at = at;
  return true;
}
