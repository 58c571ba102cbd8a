/* Control of lanes that need not meet: labels and branches.
 *
 *     leave, break   to the label after the construct
 *     continue       to the one before a loop's step or continuing region
 *     return         the lane exits
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

uint32_t
ptx_region_of(const gen *g, uint32_t control, vyre_role role)
{
  for (uint32_t row = g->v->first[control]; row; row = g->v->next[row])
    if (op_of(g, row) == VYRE_OP_region && g->v->imm[row] == (uint32_t)role)
      return row;
  return 0;
}

/* ---- pieces ----------------------------------------------------------------------------------------------------------------- */

static uint32_t
body_of(const gen *g, uint32_t row)
{
  uint32_t body = g->v->first[row];
  while (body && op_of(g, body) != VYRE_OP_body)
    body = g->v->next[body];
  return body;
}

/* The index is a register of its own, which each iteration changes. */
void
ptx_for_begin(gen *g, uint32_t row)
{
  ptx_define(g, body_of(g, row), 0, ptx_copy(g, class_of(kind_of(g, g->v->a[row])), ptx_value(g, g->v->a[row], 0)));
}

reg
ptx_for_test(gen *g, uint32_t row)
{
  const uint32_t body = body_of(g, row);
  const vyre_kind kind = kind_of(g, body);
  const bool is_signed = vyre_kind_is_signed(kind);
  reg index = ptx_value(g, body, 0), to = ptx_value(g, g->v->b[row], 0);
  char text[64];
  if (is_signed)
    index = ptx_signed(g, kind, index), to = ptx_signed(g, kind, to);
  return PRED(g, ptx_format(text, "setp.lt.%s%s", is_signed ? "s" : "u", is_long(kind) ? "64" : "32"), index, to);
}

void
ptx_for_step(gen *g, uint32_t row)
{
  const uint32_t body = body_of(g, row);
  const vyre_kind kind = kind_of(g, body);
  const reg index = ptx_value(g, body, 0);
  ptx_move(g, index, ptx_cut(g, kind, ptx_int_op(g, kind, "add", "u", index, ptx_value(g, g->v->c[row], 0))));
}

reg
ptx_case_test(gen *g, uint32_t row, uint32_t region)
{
  const uint32_t labels = g->v->a[region], selector = g->v->a[row];
  const bool several = labels && op_of(g, labels) == VYRE_OP_tuple;
  const uint32_t count = several ? VYRE_TUPLE_COUNT(g->v->imm[labels]) : labels ? 1 : 0;
  const char *op = is_long(kind_of(g, selector)) ? "setp.eq.u64" : "setp.eq.u32";
  reg any = {0};
  for (uint32_t k = 0; k < count; k++) {
    const reg same = PRED(g, op, ptx_value(g, selector, 0), ptx_value(g, several ? ptx_tuple_part(g, labels, k) : labels, 0));
    any = k == 0 ? same : PRED(g, "or.pred", any, same);
  }
  return any;
}

void
ptx_fault(gen *g, uint32_t row)
{
  const char *name = vyre_row_name(g->module, (vyre_row){row});
  const reg asked = PRED(g, "setp.ne.u64", g->dispatch, lit(0));
  bool clean = name != NULL;
  for (const char *c = name; c && *c; c++)
    clean = clean && *c >= ' ' && *c <= '~';
  g->faults++;
  ptx_put(g, "\t@%%p%u red.relaxed.gpu.global.max.u32 [%%d%u+32], %u; // fault %u: trap%s%s\n", asked.number, g->dispatch.number,
          g->faults, g->faults, clean ? " %" : "", clean ? name : "");
}

/* ---- constructs ------------------------------------------------------------------------------------------------------------- */

static void
put_if(gen *g, uint32_t row, uint32_t exit)
{
  const uint32_t yes = ptx_region_of(g, row, VYRE_THEN), no = ptx_region_of(g, row, VYRE_ELSE);
  const bool has_else = no && g->v->first[no];
  const uint32_t other = has_else ? ptx_new_label(g) : exit;
  ptx_branch_unless(g, ptx_value(g, g->v->a[row], 0), other);
  ptx_region(g, yes);
  if (!has_else)
    return;
  ptx_branch(g, exit);
  ptx_label(g, other);
  ptx_region(g, no);
}

static void
put_for(gen *g, uint32_t row, uint32_t exit)
{
  const uint32_t head = ptx_new_label(g), again = ptx_new_label(g);
  g->agains[row - g->program] = again;
  ptx_for_begin(g, row);
  ptx_label(g, head);
  ptx_branch_unless(g, ptx_for_test(g, row), exit);
  ptx_region(g, body_of(g, row));
  ptx_label(g, again);
  ptx_for_step(g, row);
  ptx_branch(g, head);
}

static void
put_loop(gen *g, uint32_t row)
{
  const uint32_t head = ptx_new_label(g), again = ptx_new_label(g), continuing = ptx_region_of(g, row, VYRE_CONTINUING);
  g->agains[row - g->program] = again;
  ptx_label(g, head);
  ptx_region(g, ptx_region_of(g, row, VYRE_BODY));
  ptx_label(g, again);
  if (continuing)
    ptx_region(g, continuing);
  ptx_branch(g, head);
}

static void
put_switch(gen *g, uint32_t row, uint32_t exit)
{
  const uint32_t outer = g->after_case;
  uint32_t label = g->labels, otherwise = exit;
  for (uint32_t region = g->v->first[row]; region; region = g->v->next[region]) {
    const uint32_t here = ptx_new_label(g);
    const reg same = ptx_case_test(g, row, region);
    if (same.klass)
      ptx_branch_if(g, same, here);
    otherwise = g->v->imm[region] & VYRE_CASE_DEFAULT ? here : otherwise;
  }
  ptx_branch(g, otherwise);
  for (uint32_t region = g->v->first[row]; region; region = g->v->next[region]) {
    ptx_label(g, ++label); /* they were made one after the other */
    g->after_case = g->v->next[region] ? label + 1 : exit;
    ptx_region(g, region);
    ptx_branch(g, exit);
  }
  g->after_case = outer;
}

void
ptx_construct(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  if (g->is_wide[row - g->program]) {
    ptx_wide_construct(g, row);
    return;
  }
  const uint32_t exit = ptx_new_label(g);
  g->exits[row - g->program] = exit;
  if (op == VYRE_OP_if)
    put_if(g, row, exit);
  else if (op == VYRE_OP_for)
    put_for(g, row, exit);
  else if (op == VYRE_OP_loop)
    put_loop(g, row);
  else if (op == VYRE_OP_switch)
    put_switch(g, row, exit);
  else
    ptx_region(g, ptx_region_of(g, row, VYRE_BLOCK));
  ptx_label(g, exit);
}

void
ptx_jump(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t target = ptx_target(g, row);
  if (op == VYRE_OP_trap)
    ptx_fault(g, row);
  if (g->wide && (target == g->program || g->is_wide[target - g->program])) {
    ptx_wide_jump(g, row);
    return;
  }
  if (op == VYRE_OP_return || op == VYRE_OP_trap)
    ptx_code(g, "exit", NULL, 0);
  else if (op == VYRE_OP_breakif)
    ptx_branch_if(g, ptx_value(g, g->v->a[row], 0), g->exits[target - g->program]);
  else if (op == VYRE_OP_fallthrough)
    ptx_branch(g, g->after_case);
  else
    ptx_branch(g, op == VYRE_OP_continue ? g->agains[target - g->program] : g->exits[target - g->program]);
}
