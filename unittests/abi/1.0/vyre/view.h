/* Helpers of the plugin interface 1.0, frozen: include/vyre/view.h as it was, without its comments.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_VIEW_H
#define VYRE_VIEW_H

#include "vyre/types.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline uint32_t
vyre_op_of(const vyre_view *view, uint32_t row)
{
  return VYRE_ROW_OP(view->op[row]);
}

static inline bool
vyre_row_is_const(const vyre_view *view, uint32_t row)
{
  return vyre_op_of(view, row) == VYRE_OP_const;
}

static inline bool
vyre_row_is_loop(const vyre_view *view, uint32_t row)
{
  return vyre_op_of(view, row) == VYRE_OP_for || vyre_op_of(view, row) == VYRE_OP_loop;
}

static inline uint32_t
vyre_buffer_of(const vyre_view *view, uint32_t path)
{
  while (vyre_op_of(view, path) == VYRE_OP_at)
    path = view->a[path];
  return path;
}

static inline uint32_t
vyre_op_flags_of(const vyre_view *view, uint32_t row)
{
  return vyre_op_info_of(view, VYRE_ROW_OP(view->op[row]))->flags;
}

static inline bool
vyre_row_is_pure(const vyre_view *view, uint32_t row)
{
  return (vyre_op_flags_of(view, row) & VYRE_OP_PURE) != 0 && (VYRE_ROW_FLAGS(view->op[row]) & VYRE_ROW_DECO) == 0;
}

static inline bool
vyre_row_is_value(const vyre_view *view, uint32_t row)
{
  const uint32_t flags = vyre_op_flags_of(view, row);
  const bool is_pure = (flags & VYRE_OP_PURE) != 0, is_read = (flags & (VYRE_OP_READS | VYRE_OP_IDENTITY)) == VYRE_OP_READS;
  const bool is_plain = (VYRE_ROW_FLAGS(view->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) == 0;
  return (is_pure | is_read) & is_plain;
}

static inline uint64_t
vyre_row_imm(const vyre_view *view, uint32_t row)
{
  return (uint64_t)view->imm_hi[row] << 32 | view->imm[row];
}

static inline uint32_t
vyre_view_after(const vyre_view *view, uint32_t row)
{
  if (view->first[row])
    return view->first[row];
  while (row && !view->next[row])
    row = view->parent[row];
  return row ? view->next[row] : 0;
}

static inline uint32_t
vyre_program_of(const vyre_view *view, uint32_t row)
{
  while (row && VYRE_ROW_OP(view->op[row]) != VYRE_OP_program)
    row = view->parent[row];
  return row;
}

static inline bool
vyre_row_may_be_undefined(const vyre_view *view, uint32_t row)
{
  const uint64_t imm = vyre_row_imm(view, row);
  const bool literal = (VYRE_ROW_FLAGS(view->op[row]) & VYRE_ROW_IMM) != 0;
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[view->a[row]])));
  const uint32_t when = vyre_op_info_of(view, VYRE_ROW_OP(view->op[row]))->undefined;
  if (when == VYRE_UNDEFINED_NEVER)
    return false;
  if (literal && when == VYRE_UNDEFINED_DIV_BY_0 && imm != 0)
    return false;
  if (literal && when == VYRE_UNDEFINED_DIV_OVERFLOW && imm != 0 && bits != 0 && imm != UINT64_MAX >> (64 - bits))
    return false;
  if (literal && when == VYRE_UNDEFINED_SHIFT_RANGE && imm < bits)
    return false;
  if (literal && when == VYRE_UNDEFINED_LANE_RANGE && imm < VYRE_TYPE_LANES(VYRE_ROW_TYPE(view->op[view->a[row]])))
    return false;
  return (view->imm[vyre_program_of(view, row)] & VYRE_PROGRAM_RELAXED) != 0;
}

static inline bool
vyre_row_may_speculate(const vyre_view *view, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(view->op[row]);
  const vyre_op_info *info = vyre_op_info_of(view, op);
  if ((info->flags & VYRE_OP_PURE) == 0 && !vyre_op_has_version(info))
    return false;
  if ((VYRE_ROW_FLAGS(view->op[row]) & VYRE_ROW_VOLATILE) != 0 || op == VYRE_OP_opaque_pure || op == VYRE_OP_opaque_read)
    return false;
  switch ((vyre_undefined)info->undefined) {
  case VYRE_UNDEFINED_OUT_OF_BOUNDS:
  case VYRE_UNDEFINED_DIV_BY_0:
  case VYRE_UNDEFINED_DIV_OVERFLOW:
  case VYRE_UNDEFINED_LANE_RANGE:
    return !vyre_row_may_be_undefined(view, row);
  default:
    return true;
  }
}

static inline const vyre_join *
vyre_join_of(const vyre_view *view, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? &view->joins[version & ~VYRE_JOIN] : NULL;
}

static inline uint32_t
vyre_version_row(const vyre_view *view, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? view->joins[version & ~VYRE_JOIN].row : version;
}

static inline bool
vyre_row_dominates(const vyre_view *view, uint32_t x, uint32_t y)
{
  const uint32_t scope = (vyre_op_flags_of(view, x) & VYRE_OP_REGION) != 0 ? x : view->parent[x];
  return x < y && y <= view->end[scope];
}

static inline uint32_t
vyre_loops_innermost_first(const vyre_view *view)
{
  return view->loop_next[0];
}

static inline uint32_t
vyre_loops_next(const vyre_view *view, uint32_t loop)
{
  return view->loop_next[loop];
}

static inline bool
vyre_loops_contain(const vyre_view *view, uint32_t loop, uint32_t row)
{
  do
    row = view->parent[row];
  while (row && row != loop);
  return row != 0;
}

static inline uint32_t
vyre_body_first(const vyre_view *view, uint32_t loop)
{
  return view->first[loop];
}

static inline uint32_t
vyre_body_next(const vyre_view *view, uint32_t loop, uint32_t row)
{
  if (view->first[row])
    return view->first[row];
  while (row != loop && !view->next[row])
    row = view->parent[row];
  return row == loop ? 0 : view->next[row];
}

static inline bool
vyre_loop_surely_runs(const vyre_view *view, uint32_t loop)
{
  const uint32_t from = view->a[loop], to = view->b[loop];
  if (VYRE_ROW_OP(view->op[loop]) == VYRE_OP_loop)
    return true;
  if (VYRE_ROW_OP(view->op[from]) != VYRE_OP_const || VYRE_ROW_OP(view->op[to]) != VYRE_OP_const)
    return false;
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[from]));
  const uint64_t bias = vyre_kind_is_signed(kind) ? UINT64_C(1) << (vyre_kind_bits(kind) - 1) : 0;
  return (vyre_row_imm(view, from) ^ bias) < (vyre_row_imm(view, to) ^ bias);
}

static inline bool
vyre_row_surely_runs(const vyre_view *view, uint32_t row, uint32_t loop)
{
  const uint32_t exit = view->loop_exit[loop];
  return view->parent[row] == view->first[loop] && (exit == 0 || row < exit) && vyre_loop_surely_runs(view, loop);
}

static inline bool
vyre_row_may_move(const vyre_view *view, uint32_t row, uint32_t loop)
{
  const vyre_op_info *info = vyre_op_info_of(view, VYRE_ROW_OP(view->op[row]));
  if ((VYRE_ROW_FLAGS(view->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) != 0)
    return false;
  if (vyre_op_has_version(info)) {
    if (view->version[row] == 0 || vyre_loops_contain(view, loop, vyre_version_row(view, view->version[row])))
      return false;
  } else if ((info->flags & VYRE_OP_PURE) == 0) {
    return false;
  }
  return vyre_row_may_speculate(view, row) || vyre_row_surely_runs(view, row, loop);
}

#ifdef __cplusplus
}
#endif
#endif
