/* Control flow.
 *
 * All lanes of a workgroup follow one program counter.  A lane that leaves a region early waits for an instruction after it: each
 * construct ends in a JOIN that activates the lanes waiting there.  `next` is the nearest such instruction around a row, where
 * execution continues if no lane is active.
 *
 *     if      JUMP_IF not c to else; then; JUMP to end; else: JOIN; else region; end: JOIN
 *     loop    head: body; again: JOIN; continuing region; LOOP to head; end: JOIN
 *     switch  a JUMP_IF to each case; JUMP to the default; each case: JOIN; region; JUMP to end; end: JOIN
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lower.h"

static void lower_region(lowerer *l, frame *within, uint32_t region, label next);

/* Emits a jump of all active lanes, after which execution continues at `next`. */
static void
jump(lowerer *l, label to, label next)
{
  lower_append(l, (instruction){.op = PROGRAM_JUMP, .i = to, .j = next});
}

/* Emits a jump of the active lanes whose condition is `when`. */
static void
jump_if(lowerer *l, operand condition, bool when, label to, label next)
{
  lower_append(l,
               (instruction){.op = PROGRAM_JUMP_IF, .x = condition, .y = condition, .z = condition, .i = to, .j = next, .k = when});
}

static void
join(lowerer *l, label at, label next)
{
  lower_place(l, at);
  lower_append(l, (instruction){.op = PROGRAM_JOIN, .j = next});
}

static void
lower_if(lowerer *l, frame *within, uint32_t row, label next)
{
  const uint32_t then_region = vyre_region_with(l->v, row, VYRE_THEN), else_region = vyre_region_with(l->v, row, VYRE_ELSE);
  const label end = lower_label(l), otherwise = else_region ? lower_label(l) : end;
  jump_if(l, lower_lane(l, l->v->a[row], 0), false, otherwise, otherwise);
  if (then_region)
    lower_region(l, within, then_region, otherwise);
  if (else_region) {
    jump(l, end, otherwise);
    join(l, otherwise, end);
    lower_region(l, within, else_region, end);
  }
  join(l, end, next);
}

static void
lower_block(lowerer *l, frame *within, uint32_t row, label next)
{
  frame here = {.outer = within, .row = row, .end = lower_label(l)};
  const uint32_t region = vyre_region_with(l->v, row, VYRE_BLOCK);
  if (region)
    lower_region(l, &here, region, here.end);
  join(l, here.end, next);
}

static void
lower_loop(lowerer *l, frame *within, uint32_t row, label next)
{
  frame here = {.outer = within, .row = row, .is_loop = true, .end = lower_label(l), .again = lower_label(l)};
  const uint32_t body = vyre_region_with(l->v, row, VYRE_BODY), continuing = vyre_region_with(l->v, row, VYRE_CONTINUING);
  const label head = lower_label(l);
  lower_open(l);
  lower_place(l, head);
  if (body)
    lower_region(l, &here, body, here.again);
  join(l, here.again, here.end);
  if (continuing)
    lower_region(l, &here, continuing, here.end);
  lower_append(l, (instruction){.op = PROGRAM_LOOP, .i = head, .j = UINT32_MAX});
  lower_close(l);
  join(l, here.end, next);
}

static void
lower_for(lowerer *l, frame *within, uint32_t row, label next)
{
  const vyre_view *v = l->v;
  frame here = {.outer = within, .row = row, .is_loop = true, .end = lower_label(l), .again = lower_label(l)};
  const uint32_t body = v->first[row];
  const vyre_kind kind = VYRE_TYPE_KIND(code_row_type(v, v->a[row]));
  const bool is_wide = lower_is_wide(kind);
  const label head = lower_label(l);
  const operand index = lower_register(l, is_wide), to = lower_lane(l, v->b[row], 0), by = lower_lane(l, v->c[row], 0);
  lower_move(l, index, lower_lane(l, v->a[row], 0), is_wide);
  lower_define(l, body, &index, 1);
  lower_open(l);
  lower_place(l, head);
  jump_if(l, lower_op(l, row, vyre_kind_is_signed(kind) ? VYRE_OP_slt : VYRE_OP_ult, kind, VYRE_BOOL, index, to, index), false,
          here.end, here.end);
  lower_region(l, &here, body, here.again);
  join(l, here.again, here.end);
  lower_move(l, index, lower_op(l, row, VYRE_OP_add, kind, kind, index, by, index), is_wide);
  lower_append(l, (instruction){.op = PROGRAM_LOOP, .i = head, .j = UINT32_MAX});
  lower_close(l);
  join(l, here.end, next);
}

/* Emits jumps to the cases. */
static void
lower_choice(lowerer *l, uint32_t row, const label *cases, label end)
{
  const vyre_view *v = l->v;
  const vyre_kind kind = VYRE_TYPE_KIND(code_row_type(v, v->a[row]));
  const operand selector = lower_lane(l, v->a[row], 0);
  label other = end;
  uint32_t k = 0;
  for (uint32_t c = v->first[row]; c; c = v->next[c], k++) {
    vyre_labels labels = vyre_labels_of(v, c);
    for (uint32_t value; (value = vyre_next_label(v, &labels)) != 0;)
      jump_if(l, lower_op(l, row, VYRE_OP_eq, kind, VYRE_BOOL, selector, lower_lane(l, value, 0), selector), true, cases[k],
              cases[0]);
    if ((v->imm[c] & VYRE_CASE_DEFAULT) != 0)
      other = cases[k];
  }
  jump(l, other, cases[0]);
}

static void
lower_switch(lowerer *l, frame *within, uint32_t row, label next)
{
  const vyre_view *v = l->v;
  frame here = {.outer = within, .row = row, .end = lower_label(l)};
  uint32_t count = 0;
  for (uint32_t c = v->first[row]; c; c = v->next[c])
    count++;
  label *cases = code_resize(&l->w, NULL, 0, ((size_t)count + 1) * sizeof *cases);
  if (!cases)
    return;
  for (uint32_t k = 0; k < count; k++)
    cases[k] = lower_label(l);
  cases[count] = here.end;
  lower_choice(l, row, cases, here.end);
  uint32_t k = 0;
  for (uint32_t c = v->first[row]; c; c = v->next[c], k++) {
    here.again = cases[k + 1];
    join(l, cases[k], cases[k + 1]);
    lower_region(l, &here, c, cases[k + 1]);
    jump(l, here.end, cases[k + 1]);
  }
  join(l, here.end, next);
  code_resize(&l->w, cases, ((size_t)count + 1) * sizeof *cases, 0);
}

/* ---- jumps and barriers --------------------------------------------------------------------------------------------------- */

static void
lower_jump(lowerer *l, frame *within, uint32_t row, label next)
{
  const vyre_opcode op = code_op(l->v, row);
  frame *to = within;
  if (op == VYRE_OP_return) {
    lower_append(l, (instruction){.op = PROGRAM_JUMP, .i = PROGRAM_NEVER, .j = next});
    return;
  }
  if (op == VYRE_OP_leave)
    while (to && to->row != l->v->a[row])
      to = to->outer;
  else if (op == VYRE_OP_fallthrough)
    while (to && code_op(l->v, to->row) != VYRE_OP_switch)
      to = to->outer;
  else
    while (to && !to->is_loop)
      to = to->outer;
  if (!to)
    lower_fail(l, row, "the jump is not in a construct that it can end\nFix: run the verifier on the module");
  else if (op == VYRE_OP_breakif)
    jump_if(l, lower_lane(l, l->v->a[row], 0), true, to->end, to->end);
  else
    jump(l, op == VYRE_OP_continue || op == VYRE_OP_fallthrough ? to->again : to->end, next);
}

static void
lower_barrier(lowerer *l, uint32_t row)
{
  const uint32_t scope = VYRE_ORDER_EXECUTION(l->v->imm[row]);
  if (scope == 1)
    lower_fail(l, row,
               "a barrier for the whole grid is not interpreted on devices, because items are independent\n"
               "Fix: split the program (vyre_split_grid), and register its segments");
  else
    lower_append(l, (instruction){.op = scope == 3 || scope == 4 ? PROGRAM_SYNC : PROGRAM_BARRIER});
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

static void
lower_row(lowerer *l, frame *within, uint32_t row, label next)
{
  const vyre_opcode op = code_op(l->v, row);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_workgroup: case VYRE_OP_var: case VYRE_OP_buffer: case VYRE_OP_at: case VYRE_OP_async_wait: return;
  case VYRE_OP_if: lower_if(l, within, row, next); return;
  case VYRE_OP_for: lower_for(l, within, row, next); return;
  case VYRE_OP_loop: lower_loop(l, within, row, next); return;
  case VYRE_OP_switch: lower_switch(l, within, row, next); return;
  case VYRE_OP_block: lower_block(l, within, row, next); return;
  case VYRE_OP_return: case VYRE_OP_break: case VYRE_OP_continue: case VYRE_OP_leave: case VYRE_OP_fallthrough: case VYRE_OP_breakif:
    lower_jump(l, within, row, next);
    return;
  case VYRE_OP_trap: lower_append(l, (instruction){.op = PROGRAM_TRAP}); return;
  case VYRE_OP_barrier: lower_barrier(l, row); return;
  case VYRE_OP_load: case VYRE_OP_store: case VYRE_OP_copy: case VYRE_OP_async_copy: case VYRE_OP_length: case VYRE_OP_set:
    lower_access(l, row);
    return;
  /* clang-format on */
  default:
    if (op >= VYRE_OP_atomic_load && op <= VYRE_OP_atomic_fmax)
      lower_access(l, row);
    else if (vyre_op_is_subgroup(op))
      lower_group(l, row);
    else
      lower_value(l, row);
  }
}

static void
lower_region(lowerer *l, frame *within, uint32_t region, label next)
{
  for (uint32_t row = l->v->first[region]; row && !l->w.status; row = l->v->next[row])
    lower_row(l, within, row, next);
}

/* Makes registers for variables, with their initial zeros. */
static void
start_variables(lowerer *l)
{
  for (uint32_t row = l->program + 1; row < l->end; row++) {
    const vyre_type type = code_row_type(l->v, row);
    const bool is_wide = lower_is_wide(VYRE_TYPE_KIND(type));
    operand r[4];
    if (code_op(l->v, row) != VYRE_OP_var)
      continue;
    for (uint32_t k = 0; k < VYRE_TYPE_LANES(type); k++) {
      r[k] = lower_register(l, is_wide);
      lower_move(l, r[k], lower_constant(l, 0, is_wide), is_wide);
    }
    lower_define(l, row, r, VYRE_TYPE_LANES(type));
  }
}

void
lower_program(lowerer *l)
{
  const label end = lower_label(l);
  if (!lower_plan_memory(l))
    return;
  lower_append(l, (instruction){.op = PROGRAM_BEGIN});
  lower_start_memory(l);
  start_variables(l);
  lower_region(l, NULL, l->program, end);
  lower_place(l, end);
  lower_append(l, (instruction){.op = PROGRAM_END});
}
