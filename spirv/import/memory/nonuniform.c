/* Propagates NonUniform from decorated ids to the accesses that need it.
 *
 * SPIR-V requires the decoration on the operand through which a descriptor is accessed: the access chain, the loaded image, the
 * sampled image.  Some compilers decorate only the index, or only a copy of the index.  Rows have no copies, and passes may replace
 * one value by another.  So the decoration is propagated over ids before rows are made: from an index or its copy, over access
 * chains and loads of handles, to their users.  It is kept on the path (an `at` row) and on the handle, which passes do not change.
 * An additional decoration is correct: the device then reads the descriptor of each lane.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#define MOST_ROUNDS 8u /* over all functions; a longer chain against the order of its instructions makes everything nonuniform */

static bool
is_nonuniform(const import *m, uint32_t id)
{
  return id < m->bound && (m->ids[id].flags & ID_NONUNIFORM) != 0;
}

/* Returns whether the instruction's result is nonuniform because of an operand. */
static bool
inherits_nonuniform(const import *m, const uint32_t *words, uint32_t count, bool everything)
{
  uint32_t last = 4, each = 1; /* operands are words 3 to `last` */
  switch (words[0] & 0xffffu) {
  case SpvOpLoad:
    if (count < 4 || words[1] >= m->bound || !m->ids[words[1]].t || !import_is_opaque_type(m->ids[words[1]].t))
      return false; /* a buffer's content is independent of its address */
    break;
  case SpvOpCopyObject:
  case SpvOpCopyLogical:
  case SpvOpUConvert:
  case SpvOpSConvert:
  case SpvOpBitcast:
  case SpvOpCompositeExtract:
  case SpvOpImage:
  case SpvOpImageTexelPointer:
    break;
  case SpvOpSampledImage:
    last = 5;
    break;
  case SpvOpPhi:
    each = 2;
    last = count;
    break;
  case SpvOpAccessChain:
  case SpvOpInBoundsAccessChain:
  case SpvOpPtrAccessChain:
    last = count;
    break;
  default:
    return false;
  }
  bool any = everything;
  for (uint32_t k = 3; k < last && k < count; k += each)
    any |= is_nonuniform(m, words[k]);
  return any;
}

static bool
mark_nonuniform_id(import *m, uint32_t id)
{
  if (id >= m->bound || (m->ids[id].flags & ID_NONUNIFORM))
    return false;
  m->ids[id].flags |= ID_NONUNIFORM;
  return true;
}

/* Propagates from arguments to parameters.  A function with a nonuniform result has the flag itself. */
static bool
spread_call(import *m, const uint32_t *words, uint32_t count)
{
  bool changed = false;
  const id_info *info = &m->ids[count > 3 && words[3] < m->bound ? words[3] : 0];
  if (info->kind != ID_FUNCTION)
    return false;
  const function *f = AT(function, m->functions, info->value);
  for (uint32_t k = 0; k < f->param_count && 4 + k < count; k++)
    changed |= is_nonuniform(m, words[4 + k]) && mark_nonuniform_id(m, *AT(uint32_t, m->params, f->params + k));
  return ((info->flags & ID_NONUNIFORM) && mark_nonuniform_id(m, words[2])) || changed;
}

static bool
spread_function(import *m, const function *f, bool everything)
{
  bool changed = false;
  for (uint32_t at = f->start; at < f->end; at += m->words[at] >> 16) {
    const uint32_t *words = m->words + at, op = words[0] & 0xffffu, count = words[0] >> 16;
    if (op == SpvOpFunctionCall)
      changed |= spread_call(m, words, count);
    else if (op == SpvOpReturnValue)
      changed |= count > 1 && is_nonuniform(m, words[1]) && mark_nonuniform_id(m, f->id);
    else if (inherits_nonuniform(m, words, count, everything))
      changed |= mark_nonuniform_id(m, words[2]);
  }
  return changed;
}

void
import_spread_nonuniform(import *m)
{
  bool changed = m->has_nonuniform;
  for (uint32_t round = 0; changed && round <= MOST_ROUNDS; round++) {
    changed = false;
    for (uint32_t k = 0; k < m->functions.count; k++)
      changed |= spread_function(m, AT(function, m->functions, k), round == MOST_ROUNDS);
  }
}
