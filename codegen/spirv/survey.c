/* The survey of a program before it is written: what is set where, and which rows are used how.  One pass over its rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

static uint32_t
new_value(vyre_spv *s, uint32_t row)
{
  vyre_spv_push(s, &s->vars, row);
  vyre_spv_push(s, &s->current, 0);
  vyre_spv_push(s, &s->stamps, 0);
  return s->value_count++;
}

/* `open` holds pairs: a value that is written, and what that write reaches.  0: whatever follows; a construct's row: what follows
 * that; NOWHERE: nothing. */
#define NOWHERE UINT32_MAX

static void
push_write(vyre_spv *s, uint32_t value)
{
  vyre_spv_push(s, &s->open, value);
  vyre_spv_push(s, &s->open, 0);
}

static void
use_pointer(vyre_spv *s, uint32_t path)
{
  if (path > s->base && path < s->end)
    s->use[path - s->base] |= VYRE_SPV_USED_POINTER;
}

static void
use_matrix(vyre_spv *s, uint32_t row)
{
  if (row > s->base && row < s->end)
    s->use[row - s->base] |= VYRE_SPV_USED_MATRIX;
}

static bool
is_left_by_leave(vyre_opcode op)
{
  return op == VYRE_OP_loop || op == VYRE_OP_for || op == VYRE_OP_switch || op == VYRE_OP_block;
}

/* A leave writes its target's flag, if it has to cross another construct. */
static void
survey_leave(vyre_spv *s, uint32_t row)
{
  const uint32_t target = s->a[row];
  bool crosses = false;
  if (target <= s->base || target >= s->end)
    return;
  s->use[target - s->base] |= VYRE_SPV_LEFT;
  for (uint32_t at = s->parent[row]; at != target && at > s->base; at = s->parent[at])
    crosses |= is_left_by_leave(vyre_spv_opcode(s, at));
  if (!crosses)
    return;
  if (!(s->use[target - s->base] & VYRE_SPV_CROSSED)) {
    s->use[target - s->base] |= VYRE_SPV_CROSSED;
    s->id[target - s->base] = new_value(s, target);
  }
  push_write(s, s->id[target - s->base]);
}

static void
survey_row(vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  switch (op) {
  case VYRE_OP_var:
    s->aux[row - s->base] = new_value(s, row);
    break;
  case VYRE_OP_set:
    if (s->a[row] <= s->base || s->a[row] >= row || vyre_spv_opcode(s, s->a[row]) != VYRE_OP_var)
      vyre_spv_fail(s, "a set of row %u, which is no var\nFix: verify the module before writing it", s->a[row]);
    else
      push_write(s, s->aux[s->a[row] - s->base]);
    break;
  case VYRE_OP_leave:
    survey_leave(s, row);
    s->jumps++;
    break;
  case VYRE_OP_break:
  case VYRE_OP_continue:
  case VYRE_OP_fallthrough:
    s->jumps++;
    break;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy:
    use_pointer(s, s->b[row]);
    use_pointer(s, s->a[row]);
    break;
  case VYRE_OP_matmat:
    use_matrix(s, s->a[row]);
    use_matrix(s, s->b[row]);
    break;
  case VYRE_OP_vecmat:
    use_matrix(s, s->b[row]);
    break;
  case VYRE_OP_matvec:
  case VYRE_OP_transpose:
  case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    use_matrix(s, s->a[row]);
    break;
  case VYRE_OP_load:
  case VYRE_OP_store:
    use_pointer(s, s->a[row]);
    break;
  case VYRE_OP_opaque:
  case VYRE_OP_opaque_pure:
  case VYRE_OP_opaque_read:
  case VYRE_OP_opaque_write:
    vyre_spv_survey_opaque(s, row);
    break;
  default:
    if (vyre_op_is_atomic(op))
      use_pointer(s, s->a[row]);
    break;
  }
}

/* What follows the jump that a region ends with: 0 is what follows the region, and a loop's next round. */
static uint32_t
reach_of(const vyre_spv *s, uint32_t last)
{
  uint32_t at;
  switch (last ? vyre_spv_opcode(s, last) : VYRE_OP_null) {
  case VYRE_OP_return:
  case VYRE_OP_trap:
    return NOWHERE;
  case VYRE_OP_leave:
    return s->a[last];
  case VYRE_OP_break:
    for (at = s->parent[last]; at > s->base; at = s->parent[at])
      if (vyre_spv_opcode(s, at) == VYRE_OP_loop || vyre_spv_opcode(s, at) == VYRE_OP_for)
        return at;
    return 0;
  default:
    return 0;
  }
}

/* A region ends: if by a jump, the one in it, what was written in it reaches only what that jump goes to. */
static void
survey_close_region(vyre_spv *s, uint32_t region, size_t start, uint32_t jumps)
{
  const uint32_t reach = reach_of(s, s->last[region]);
  if (jumps > (reach != NOWHERE))
    return;
  for (size_t i = start; reach && i < s->open.count; i += 2)
    if (s->open.data[i + 1] == 0)
      s->open.data[i + 1] = reach;
}

/* A construct ends: its part of `open`, without repetitions, is kept in `written`, those that reach the back edge of a loop first,
 * and stays for the construct around it. */
static void
survey_close(vyre_spv *s, uint32_t row, size_t start)
{
  const bool crossed = (s->use[row - s->base] & VYRE_SPV_CROSSED) != 0;
  size_t kept = start;
  for (size_t i = start; i < s->open.count; i += 2) {
    const uint32_t value = s->open.data[i], reach = s->open.data[i + 1], seen = s->stamps.data[value];
    if (crossed && value == s->id[row - s->base])
      continue;
    if (seen >= start && seen < kept && s->open.data[seen] == value) {
      if (s->open.data[seen + 1] != reach)
        s->open.data[seen + 1] = 0;
      continue;
    }
    s->stamps.data[value] = (uint32_t)kept;
    s->open.data[kept++] = value;
    s->open.data[kept++] = reach;
  }
  s->open.count = kept;
  s->aux[row - s->base] = (uint32_t)s->written.count;
  vyre_spv_push(s, &s->written, (uint32_t)(kept - start) / 2);
  vyre_spv_push(s, &s->written, 0);
  uint32_t heads = 0;
  for (int tail = 0; tail < 2; tail++) {
    for (size_t i = start; i < kept && !vyre_spv_failed(s); i += 2) {
      const uint32_t value = s->open.data[i];
      const bool head = s->open.data[i + 1] == 0 && vyre_spv_opcode(s, s->vars.data[value]) == VYRE_OP_var;
      if (head != (tail == 0))
        continue;
      heads += head;
      vyre_spv_push(s, &s->written, value);
    }
  }
  if (!vyre_spv_failed(s))
    s->written.data[s->aux[row - s->base] + 1] = heads;
  for (size_t i = start; i < kept && !vyre_spv_failed(s); i += 2)
    if (s->open.data[i + 1] == row)
      s->open.data[i + 1] = 0;
}

static void
survey_end(vyre_spv *s, const uint32_t open[3])
{
  const uint32_t row = open[0], start = open[1];
  if (vyre_spv_failed(s))
    return;
  if (vyre_op_infos[vyre_spv_opcode(s, row)].flags & VYRE_OP_REGIONS)
    survey_close(s, row, start);
  else
    survey_close_region(s, row, start, s->jumps - open[2]);
}

void
vyre_spv_survey(vyre_spv *s)
{
  vyre_spv_words *const nest = &s->scratch; /* a row with children, where its part of `open` begins, the jumps before it */
  s->value_count = s->jumps = 0;
  nest->count = s->vars.count = s->current.count = s->stamps.count = s->open.count = s->written.count = 0;
  for (uint32_t row = s->base + 1; row < s->end && !vyre_spv_failed(s); row++) {
    const vyre_opcode op = vyre_spv_opcode(s, row);
    const uint32_t flags = vyre_op_infos[op].flags;
    if ((flags & VYRE_OP_PURE) && (op < VYRE_OP_matvec || op > VYRE_OP_inverse))
      continue; /* most rows, and they tell nothing */
    s->row = row;
    while (nest->count && nest->data[nest->count - 3] != s->parent[row]) {
      nest->count -= 3;
      survey_end(s, nest->data + nest->count);
    }
    survey_row(s, row);
    if (flags & (VYRE_OP_REGIONS | VYRE_OP_REGION)) {
      vyre_spv_push(s, nest, row);
      vyre_spv_push(s, nest, (uint32_t)s->open.count);
      vyre_spv_push(s, nest, s->jumps);
      if (nest->count / 6 > VYRE_SPV_DEPTH)
        vyre_spv_fail(s, "control flow nests deeper than SPIR-V's limit of %u", VYRE_SPV_DEPTH);
    }
  }
  for (; nest->count && !vyre_spv_failed(s); nest->count -= 3)
    survey_end(s, nest->data + nest->count - 3);
  s->row = 0;
}
