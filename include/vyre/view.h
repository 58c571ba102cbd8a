/* Helpers over a module's columns, and queries of its analyses. Everything is inline, so a file that includes this header imports
 * no symbols.
 *
 * Rows that a pass makes get ids after all others, and rows that it moves keep their ids. So id order is program order only until
 * then. Functions that follow links are always right. Functions that compare ids are right for rows that existed when the pass
 * began and have not moved; for newer rows they return false.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_VIEW_H
#define VYRE_VIEW_H

#include "vyre/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

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

/* Returns whether the initial value of a variable is zero: it is neither unset nor opaque. */
static inline bool
vyre_var_is_zero(const vyre_view *view, uint32_t var)
{
  return (view->imm_hi[var] & VYRE_ACCESS_UNSET) == 0 && vyre_kind_is_scalar(VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[var])));
}

static inline bool
vyre_row_is_loop(const vyre_view *view, uint32_t row)
{
  return vyre_op_of(view, row) == VYRE_OP_for || vyre_op_of(view, row) == VYRE_OP_loop;
}

/* Returns the buffer that a path leads into, or the row itself if it is not a path. O(length of the path). */
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

/* Returns whether the row is only a value: it may be merged, folded or removed. */
static inline bool
vyre_row_is_pure(const vyre_view *view, uint32_t row)
{
  return (vyre_op_flags_of(view, row) & VYRE_OP_PURE) != 0 && (VYRE_ROW_FLAGS(view->op[row]) & VYRE_ROW_DECO) == 0;
}

/* Returns whether the row may equal another row: it is pure, or a read with a version that is not volatile, and has no
 * decorations. */
static inline bool
vyre_row_is_value(const vyre_view *view, uint32_t row)
{
  const uint32_t flags = vyre_op_flags_of(view, row);
  const bool is_pure = (flags & VYRE_OP_PURE) != 0, is_read = (flags & (VYRE_OP_READS | VYRE_OP_IDENTITY)) == VYRE_OP_READS;
  const bool is_plain = (VYRE_ROW_FLAGS(view->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) == 0;
  return (is_pure | is_read) & is_plain; /* no branches: the results are not predictable */
}

static inline uint64_t
vyre_row_imm(const vyre_view *view, uint32_t row)
{
  return (uint64_t)view->imm_hi[row] << 32 | view->imm[row];
}

/* Returns whether an operand of a row is a literal, and stores its bits. `operand` is 0 for a, 1 for b and 2 for c. The literal is
 * either in the row itself (VYRE_ROW_IMM, operand b) or in a `const` row: `x * 2.0` has the first form, `pow(x, 2.0)` the second.
 * A literal of a vector has these bits in every lane. */
static inline bool
vyre_row_literal(const vyre_view *view, uint32_t row, uint32_t operand, uint64_t *out_bits)
{
  const uint32_t source = (operand == 0 ? view->a : operand == 1 ? view->b : view->c)[row];
  const bool is_immediate = operand == 1 && (VYRE_ROW_FLAGS(view->op[row]) & VYRE_ROW_IMM) != 0;
  const bool is_literal = is_immediate || vyre_row_is_const(view, source);
  if (is_literal)
    *out_bits = vyre_row_imm(view, is_immediate ? row : source);
  return is_literal;
}

/* Returns the type that determines the row's cost: the widest scalar kind among its result and operands, with the most lanes that
 * any of them has. Of kinds of equal width the result's counts. Returns a type of kind VYRE_VOID if none of them is a scalar or
 * vector. */
static inline vyre_type
vyre_row_works_on(const vyre_view *view, uint32_t row)
{
  const uint32_t rows[] = {row, view->a[row], view->b[row], view->c[row]};
  vyre_kind kind = VYRE_VOID;
  uint32_t lanes = 1;
  for (uint32_t i = 0; i < 4; i++) {
    const vyre_type type = VYRE_ROW_TYPE(view->op[rows[i]]);
    if (vyre_kind_bits(VYRE_TYPE_KIND(type)) == 0)
      continue;
    if (vyre_kind_bits(VYRE_TYPE_KIND(type)) > vyre_kind_bits(kind))
      kind = VYRE_TYPE_KIND(type);
    lanes = VYRE_TYPE_LANES(type) > lanes ? VYRE_TYPE_LANES(type) : lanes;
  }
  return VYRE_TYPE(kind, lanes);
}

/* Returns the next row in program order: the row's first child if there is one, otherwise the row that follows. Returns 0 at the
 * end of the module. */
static inline uint32_t
vyre_view_after(const vyre_view *view, uint32_t row)
{
  if (view->first[row])
    return view->first[row];
  while (row && !view->next[row])
    row = view->parent[row];
  return row ? view->next[row] : 0;
}

/* Returns the program that contains the row; a program contains itself. O(depth). */
static inline uint32_t
vyre_program_of(const vyre_view *view, uint32_t row)
{
  while (row && VYRE_ROW_OP(view->op[row]) != VYRE_OP_program)
    row = view->parent[row];
  return row;
}

/* O(programs). */
static inline uint32_t
vyre_count_programs(const vyre_view *view)
{
  uint32_t count = 0;
  for (uint32_t program = view->first[0]; program; program = view->next[program])
    count++;
  return count;
}

/* Returns the row after a program's last row. The module is sealed. */
static inline uint32_t
vyre_program_end(const vyre_view *view, uint32_t program)
{
  return view->next[program] ? view->next[program] : view->rows;
}

/* Returns the innermost loop around the row, or 0 if there is none. O(depth). */
static inline uint32_t
vyre_loop_around(const vyre_view *view, uint32_t row)
{
  do
    row = view->parent[row];
  while (row && !vyre_row_is_loop(view, row));
  return row;
}

/* Returns the construct that a jump ends or continues. For `return` and `trap`, returns the program. O(depth). */
static inline uint32_t
vyre_jump_target(const vyre_view *view, uint32_t jump)
{
  switch (vyre_op_of(view, jump)) {
  case VYRE_OP_leave:
    return view->a[jump];
  case VYRE_OP_fallthrough:
    return view->parent[view->parent[jump]];
  case VYRE_OP_return:
  case VYRE_OP_trap:
    return vyre_program_of(view, jump);
  default:
    return vyre_loop_around(view, jump);
  }
}

/* Returns the construct's region with the role, or 0 if there is none. */
static inline uint32_t
vyre_region_with(const vyre_view *view, uint32_t control, vyre_role role)
{
  for (uint32_t row = view->first[control]; row; row = view->next[row])
    if (vyre_op_of(view, row) == VYRE_OP_region && view->imm[row] == (uint32_t)role)
      return row;
  return 0;
}

/* Returns the row that is part k of a tuple row: a, b or c, or a part of the nested tuple in c. Returns 0 if the module is damaged
 * and c is not a tuple. */
static inline uint32_t
vyre_tuple_part(const vyre_view *view, uint32_t tuple, uint32_t k)
{
  for (; k >= 2 && VYRE_TUPLE_COUNT(view->imm[tuple]) > 3; k -= 2) {
    tuple = view->c[tuple];
    if (tuple >= view->rows || vyre_op_of(view, tuple) != VYRE_OP_tuple)
      return 0;
  }
  return k == 0 ? view->a[tuple] : k == 1 ? view->b[tuple] : k == 2 ? view->c[tuple] : 0;
}

/* An iterator over the labels of a case. */
typedef struct vyre_labels {
  uint32_t rest, left, k; /* the current tuple or the only label, the number of remaining labels, the index of the next label in
                           * `rest` */
} vyre_labels;

static inline vyre_labels
vyre_labels_of(const vyre_view *view, uint32_t region)
{
  vyre_labels labels = {view->a[region], 0, 0};
  if (labels.rest)
    labels.left = vyre_op_of(view, labels.rest) == VYRE_OP_tuple ? VYRE_TUPLE_COUNT(view->imm[labels.rest]) : 1;
  return labels;
}

/* Returns the row of the next label, or 0 at the end. */
static inline uint32_t
vyre_next_label(const vyre_view *view, vyre_labels *labels)
{
  if (labels->left == 0)
    return 0;
  if (vyre_op_of(view, labels->rest) != VYRE_OP_tuple) {
    labels->left = 0;
    return labels->rest;
  }
  if (labels->k == 2 && labels->left > 1) {
    labels->rest = view->c[labels->rest];
    labels->k = 0;
  }
  labels->left--;
  return vyre_tuple_part(view, labels->rest, labels->k++);
}

/* Returns whether the row would have an undefined result or effect in a relaxed program for some operands. A literal operand or a
 * missing one may rule this out. */
static inline bool
vyre_row_may_be_undefined_if_relaxed(const vyre_view *view, uint32_t row)
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
  if (when == VYRE_UNDEFINED_DOT_OVERFLOW && view->c[row] == 0)
    return false;
  if (literal && when == VYRE_UNDEFINED_LANE_RANGE && imm < VYRE_TYPE_LANES(VYRE_ROW_TYPE(view->op[view->a[row]])))
    return false;
  return true;
}

/* Returns whether the row can have an undefined result or effect. O(depth). */
static inline bool
vyre_row_may_be_undefined(const vyre_view *view, uint32_t row)
{
  return vyre_row_may_be_undefined_if_relaxed(view, row) && (view->imm[vyre_program_of(view, row)] & VYRE_PROGRAM_RELAXED) != 0;
}

/* Returns whether the row may be speculated, that is, executed where it was not executed before. It must have no effect, and if it
 * is undefined, then only its unused value. `relaxed` says whether the row's program is relaxed. In a relaxed program, accesses,
 * divisions and lane indices are undefined behaviour in SPIR-V, and may not be speculated if they can be undefined. Opaque rows are
 * never speculated. */
static inline bool
vyre_row_may_speculate_in(const vyre_view *view, uint32_t row, bool relaxed)
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
    return !relaxed || !vyre_row_may_be_undefined_if_relaxed(view, row);
  default:
    return true;
  }
}

/* Returns the same for a row whose program is not known. O(depth) if the answer depends on the program, otherwise O(1). */
static inline bool
vyre_row_may_speculate(const vyre_view *view, uint32_t row)
{
  if (vyre_row_may_speculate_in(view, row, true))
    return true;
  return vyre_row_may_speculate_in(view, row, false) && (view->imm[vyre_program_of(view, row)] & VYRE_PROGRAM_RELAXED) == 0;
}

/* ---- versions: require VYRE_VERSIONS ------------------------------------------------------------------------------------- */

/* Returns the join that a version is, or NULL if it is a row. */
static inline const vyre_join *
vyre_join_of(const vyre_view *view, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? &view->joins[version & ~VYRE_JOIN] : NULL;
}

/* Returns the row at which a state begins: a write, the row of the program's start, a construct, or a region that is a head. It
 * precedes every row that sees the state and lies in a region around that row. */
static inline uint32_t
vyre_version_row(const vyre_view *view, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? view->joins[version & ~VYRE_JOIN].row : version;
}

/* ---- dominance: requires VYRE_DOMINANCE ---------------------------------------------------------------------------------- */

/* Returns whether x strictly dominates y: whenever y runs, x has run since its region was last entered. Control is structured, so
 * nesting alone decides. A region row dominates the rows in it. Compares ids. O(1). */
static inline bool
vyre_row_dominates(const vyre_view *view, uint32_t x, uint32_t y)
{
  const uint32_t scope = (vyre_op_flags_of(view, x) & VYRE_OP_REGION) != 0 ? x : view->parent[x];
  return x < y && y <= view->end[scope];
}

/* ---- loops: require VYRE_LOOPS ------------------------------------------------------------------------------------------- */

/* Iterates over every `for` and `loop` of the module. Each loop follows the loops inside it; otherwise program order. Ends with
 * 0. */
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

/* Returns whether the loop contains the row, at any depth. A loop does not contain itself. Follows links, O(depth). */
static inline bool
vyre_loops_contain(const vyre_view *view, uint32_t loop, uint32_t row)
{
  do
    row = view->parent[row];
  while (row && row != loop);
  return row != 0;
}

/* Iterates over the rows in a loop at every depth, in program order. Ends with 0. Follows links, so call vyre_body_next before the
 * row is moved. */
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

/* Returns whether the loop makes at least one iteration whenever it is reached: it is a `loop`, or a `for` whose literal bounds are
 * not empty. */
static inline bool
vyre_loop_surely_runs(const vyre_view *view, uint32_t loop)
{
  const uint32_t from = view->a[loop], to = view->b[loop];
  if (VYRE_ROW_OP(view->op[loop]) == VYRE_OP_loop)
    return true;
  if (VYRE_ROW_OP(view->op[from]) != VYRE_OP_const || VYRE_ROW_OP(view->op[to]) != VYRE_OP_const)
    return false;
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[from]));
  const uint64_t bias = vyre_kind_is_signed(kind) ? UINT64_C(1) << (vyre_kind_bits(kind) - 1) : 0; /* makes signed order unsigned */
  return (vyre_row_imm(view, from) ^ bias) < (vyre_row_imm(view, to) ^ bias);
}

/* Returns whether the row runs whenever the loop is reached. The row is directly in the body, the loop surely runs, and no break,
 * continue, leave, return or trap ends an iteration before the row. Compares ids. The answer is conservative; licm knows more
 * cases. */
static inline bool
vyre_row_surely_runs(const vyre_view *view, uint32_t row, uint32_t loop)
{
  const uint32_t exit = view->loop_exit[loop];
  return view->parent[row] == view->first[loop] && (exit == 0 || row < exit) && vyre_loop_surely_runs(view, loop);
}

/* Returns whether the row itself may be hoisted to before its loop; the caller checks that its operands are defined there. The row
 * is pure, or a read whose state begins before the loop. It may be speculated, or surely runs. Requires VYRE_LOOPS and
 * VYRE_VERSIONS. */
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
