/* Control flow of lanes that need not reconverge: labels and branches.
 *
 *     leave, break   to the label after the construct
 *     continue       to the label before a loop's step or continuing region
 *     return         the lane exits, or goes to the next grid barrier
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

/* ---- pieces ----------------------------------------------------------------------------------------------------------------- */

uint32_t
pgen_body_of(const gen *g, uint32_t row)
{
  uint32_t body = g->v->first[row];
  while (body && op_of(g, body) != VYRE_OP_body)
    body = g->v->next[body];
  return body;
}

/* Defines the index as a register of its own, which each iteration changes. */
void
pgen_for_begin(gen *g, uint32_t row)
{
  pgen_define(g, pgen_body_of(g, row), 0, pgen_copy(g, class_of(kind_of(g, g->v->a[row])), pgen_value(g, g->v->a[row], 0)));
}

reg
pgen_for_test(gen *g, uint32_t row)
{
  const uint32_t body = pgen_body_of(g, row);
  const vyre_kind kind = kind_of(g, body);
  const bool is_signed = vyre_kind_is_signed(kind);
  reg index = pgen_value(g, body, 0), to = pgen_value(g, g->v->b[row], 0);
  char text[64];
  if (is_signed)
    index = pgen_signed(g, kind, index), to = pgen_signed(g, kind, to);
  return PRED(g, pgen_format(text, "setp.lt.%s%s", is_signed ? "s" : "u", is_long(kind) ? "64" : "32"), index, to);
}

void
pgen_for_step(gen *g, uint32_t row)
{
  const uint32_t body = pgen_body_of(g, row);
  const vyre_kind kind = kind_of(g, body);
  const reg index = pgen_value(g, body, 0);
  CODE(g, is_long(kind) ? "add.u64" : "add.u32", index, index, pgen_value(g, g->v->c[row], 0));
  if (is_narrow(kind))
    CODE(g, "and.b32", index, index, lit(UINT64_MAX >> (64 - vyre_kind_bits(kind))));
}

reg
pgen_case_test(gen *g, uint32_t row, uint32_t region)
{
  const uint32_t selector = g->v->a[row];
  vyre_labels labels = vyre_labels_of(g->v, region);
  const char *op = is_long(kind_of(g, selector)) ? "setp.eq.u64" : "setp.eq.u32";
  reg any = {0};
  bool is_first = true;
  for (uint32_t label; (label = vyre_next_label(g->v, &labels)) != 0; is_first = false) {
    const reg selected = pgen_value(g, selector, 0), same = PRED(g, op, selected, pgen_value(g, label, 0));
    any = is_first ? same : PRED(g, "or.pred", any, same);
  }
  return any;
}

static void
put_fault(gen *g, uint32_t row)
{
  const char *name = vyre_row_name(g->module, (vyre_row){row});
  const reg has_dispatch = PRED(g, "setp.ne.u64", g->dispatch, lit(0));
  bool clean = name != NULL;
  for (const char *c = name; c && *c; c++)
    clean = clean && *c >= ' ' && *c <= '~';
  g->faults++;
  pgen_put(g, "\t@%%p%u red.relaxed.gpu.global.max.u32 [%%d%u+32], %u; // fault %u: trap%s%s\n", has_dispatch.number,
           g->dispatch.number, g->faults, g->faults, clean ? " %" : "", clean ? name : "");
}

/* ---- constructs ------------------------------------------------------------------------------------------------------------- */

static void
put_if(gen *g, uint32_t row, uint32_t exit)
{
  const uint32_t yes = vyre_region_with(g->v, row, VYRE_THEN), no = vyre_region_with(g->v, row, VYRE_ELSE);
  const bool has_else = no && g->v->first[no];
  const uint32_t other = has_else ? pgen_new_label(g) : exit;
  pgen_branch_unless(g, pgen_value(g, g->v->a[row], 0), other);
  pgen_region(g, yes);
  if (!has_else)
    return;
  pgen_branch(g, exit);
  pgen_label(g, other);
  pgen_region(g, no);
}

static void
put_for(gen *g, uint32_t row, uint32_t exit)
{
  const uint32_t head = pgen_new_label(g), again = pgen_new_label(g);
  g->agains[row - g->program] = again;
  pgen_for_begin(g, row);
  pgen_branch_unless(g, pgen_for_test(g, row), exit);
  pgen_label(g, head);
  pgen_region(g, pgen_body_of(g, row));
  pgen_label(g, again);
  pgen_for_step(g, row);
  pgen_branch_if(g, pgen_for_test(g, row), head);
}

static void
put_loop(gen *g, uint32_t row)
{
  const uint32_t head = pgen_new_label(g), again = pgen_new_label(g), continuing = vyre_region_with(g->v, row, VYRE_CONTINUING);
  g->agains[row - g->program] = again;
  pgen_label(g, head);
  pgen_region(g, vyre_region_with(g->v, row, VYRE_BODY));
  pgen_label(g, again);
  if (continuing)
    pgen_region(g, continuing);
  pgen_branch(g, head);
}

static void
put_switch(gen *g, uint32_t row, uint32_t exit)
{
  const uint32_t outer = g->after_case;
  uint32_t label = g->labels, otherwise = exit;
  for (uint32_t region = g->v->first[row]; region; region = g->v->next[region]) {
    const uint32_t here = pgen_new_label(g);
    const reg same = pgen_case_test(g, row, region);
    if (same.klass)
      pgen_branch_if(g, same, here);
    otherwise = g->v->imm[region] & VYRE_CASE_DEFAULT ? here : otherwise;
  }
  pgen_branch(g, otherwise);
  for (uint32_t region = g->v->first[row]; region; region = g->v->next[region]) {
    pgen_label(g, ++label); /* labels are numbered consecutively */
    g->after_case = g->v->next[region] ? label + 1 : exit;
    pgen_region(g, region);
    pgen_branch(g, exit);
  }
  g->after_case = outer;
}

void
pgen_construct(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  if (g->is_wide[row - g->program]) {
    pgen_wide_construct(g, row);
    return;
  }
  const uint32_t exit = pgen_new_label(g);
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
    pgen_region(g, vyre_region_with(g->v, row, VYRE_BLOCK));
  pgen_label(g, exit);
}

void
pgen_jump(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t target = vyre_jump_target(g->v, row);
  if (op == VYRE_OP_trap)
    put_fault(g, row);
  if (g->wide && g->is_wide[target - g->program]) { /* the target is never the program itself */
    pgen_wide_jump(g, row);
    return;
  }
  if (op == VYRE_OP_return && g->ends_early) {
    pgen_move(g, g->ended, lit(1));
    pgen_branch(g, g->next_grid);
  } else if (op == VYRE_OP_return || op == VYRE_OP_trap)
    pgen_code(g, "exit", NULL, 0);
  else if (op == VYRE_OP_breakif)
    pgen_branch_if(g, pgen_value(g, g->v->a[row], 0), g->exits[target - g->program]);
  else if (op == VYRE_OP_fallthrough)
    pgen_branch(g, g->after_case);
  else
    pgen_branch(g, op == VYRE_OP_continue ? g->agains[target - g->program] : g->exits[target - g->program]);
}
