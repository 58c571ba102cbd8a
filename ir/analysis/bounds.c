/* Decides whether an access through a path is surely in bounds, in strict and relaxed programs.
 *
 * Each step must select a member, or an element, column or lane below a literal length, and the program must declare the size of
 * the memory. That excludes storage, whose buffers the caller sizes; uniform and push memory is as large as declared. Some indices
 * that are not literals have known bounds: and, umod and umin with a literal, and the index of a `for` between literals. O(steps).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"
#include "vyre/view.h"

/* Returns the value of a literal up to INT32_MAX, or -1. */
static int64_t
small_literal(const vyre_view *v, uint32_t row)
{
  if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_const || v->imm_hi[row] != 0 || v->imm[row] > INT32_MAX)
    return -1;
  return v->imm[row];
}

/* Returns an unsigned upper bound (exclusive) of the index, or UINT32_MAX if none is known. */
static uint32_t
index_limit(const vyre_view *v, uint32_t index)
{
  const bool literal = (VYRE_ROW_FLAGS(v->op[index]) & VYRE_ROW_IMM) != 0 && v->imm_hi[index] == 0 && v->imm[index] < UINT32_MAX;
  const uint32_t loop = v->parent[index];
  switch (VYRE_ROW_OP(v->op[index])) {
  case VYRE_OP_and:
  case VYRE_OP_umin:
    return literal ? v->imm[index] + 1 : UINT32_MAX;
  case VYRE_OP_umod:
    return literal && v->imm[index] ? v->imm[index] : UINT32_MAX;
  case VYRE_OP_body: {
    const int64_t from = small_literal(v, v->a[loop]), to = small_literal(v, v->b[loop]), step = small_literal(v, v->c[loop]);
    return from >= 0 && to >= 0 && step >= 0 && to + step <= INT32_MAX ? (uint32_t)to : UINT32_MAX;
  }
  default:
    return UINT32_MAX;
  }
}

/* In the type table, a length that is not a literal is 0. */
static bool
step_in_bounds(const vyre_module *module, uint32_t at)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t base = v->a[at];
  const vyre_type_info info = vyre_type_get(module, VYRE_ROW_OP(v->op[base]) == VYRE_OP_at ? v->imm_hi[base] : v->imm[base]);
  const uint32_t count = info.form == VYRE_FORM_VALUE ? VYRE_TYPE_LANES(info.element) : info.count;
  if (info.form == VYRE_FORM_STRUCT)
    return true;
  return VYRE_ROW_FLAGS(v->op[at]) & VYRE_ROW_IMM ? v->imm[at] < count : index_limit(v, v->b[at]) <= count;
}

bool
vyre_path_in_bounds(const vyre_module *module, uint32_t path)
{
  const vyre_view *v = vyre_module_view(module);
  for (; VYRE_ROW_OP(v->op[path]) == VYRE_OP_at; path = v->a[path])
    if (!step_in_bounds(module, path))
      return false;
  return VYRE_BUFFER_SPACE(v->imm_hi[path]) != VYRE_SPACE_STORAGE;
}
