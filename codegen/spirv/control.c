/* Structured control flow.
 *
 * Regions are written in order, with a map from var to its current value (phis.c).  Where the edges to a merge block or a continue
 * target bring different values the block gets a phi.  A loop's head has a phi for each var written in the loop, which the survey
 * has found, and whose second value is patched when the back edge is written.
 *
 * SPIR-V lets a construct be left only for the innermost loop (its merge block or continue target) or the innermost switch inside
 * that loop.  `block` becomes a switch with a default alone.  A `leave` of anything further out sets a flag, leaves the innermost
 * construct that it can, and the flag, a phi like that of a var, is tested behind each construct on the way.  Where nothing but
 * sets would stand between, there is no flag (tails.c).
 *
 * Cost: rows, and what phis.c says.  Limit: 1023 nested constructs, as SPIR-V has.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

void
vyre_spv_label(vyre_spv *s, uint32_t label)
{
  vyre_spv_instruction(s, &s->code, SpvOpLabel, &label, 1);
  s->block = label;
  s->line = 0;
}

void
vyre_spv_branch(vyre_spv *s, uint32_t label)
{
  vyre_spv_instruction(s, &s->code, SpvOpBranch, &label, 1);
}

static void
branch_conditional(vyre_spv *s, uint32_t condition, uint32_t yes, uint32_t no)
{
  uint32_t *words = vyre_spv_room(s, &s->code, 4);
  words[0] = 4u << 16 | SpvOpBranchConditional;
  words[1] = condition;
  words[2] = yes;
  words[3] = no;
}

static void
selection_merge(vyre_spv *s, uint32_t merge, uint32_t hints)
{
  uint32_t *words = vyre_spv_room(s, &s->code, 3);
  words[0] = 3u << 16 | SpvOpSelectionMerge;
  words[1] = merge;
  words[2] = hints;
}

static void
unreachable(vyre_spv *s)
{
  vyre_spv_instruction(s, &s->code, SpvOpUnreachable, NULL, 0);
}

vyre_spv_branching
vyre_spv_if_begin(vyre_spv *s, uint32_t condition)
{
  const vyre_spv_branching result = {s->block, s->next_id++};
  const uint32_t then = s->next_id++;
  selection_merge(s, result.merge, 0);
  branch_conditional(s, condition, then, result.merge);
  vyre_spv_label(s, then);
  return result;
}

uint32_t
vyre_spv_if_end(vyre_spv *s, vyre_spv_branching branching, uint32_t type, uint32_t value, uint32_t otherwise)
{
  const uint32_t operands[6] = {type, s->next_id, value, s->block, otherwise, branching.head};
  vyre_spv_branch(s, branching.merge);
  vyre_spv_label(s, branching.merge);
  if (!type)
    return 0;
  vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
  return s->next_id++;
}

/* ---- leaving ---- */

/* skips_tail: what stands behind the target is not for those who leave. */
static void
write_leave(vyre_spv *s, uint32_t target, bool skips_tail)
{
  vyre_spv_scope *loop = NULL, *selection = NULL, *scope = NULL;
  for (uint32_t i = s->depth; i > 0; i--) {
    scope = &s->scopes[i - 1];
    if (!loop && scope->kind == VYRE_SPV_LOOP)
      loop = scope;
    if (scope->row == target)
      break;
    if (!selection && scope->kind == VYRE_SPV_SWITCH)
      selection = scope;
  }
  if (!scope || scope->row != target) {
    vyre_spv_fail(s, "leave of row %u, which is not around it\nFix: verify the module before writing it", target);
    return;
  }
  /* a switch inside a loop may be left for the loop's end; a loop only so */
  vyre_spv_scope *first = loop ? loop : selection ? selection : scope;
  if (first != scope)
    vyre_spv_assign(s, s->id[target - s->base], vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 1));
  s->skips_tail = skips_tail || first != scope;
  vyre_spv_jump(s, first, &first->merge_edges, first->merge);
  s->skips_tail = false;
}

/* Those who leave and those who stay change places: the values of now and those in scope->left. */
static void
swap_left(vyre_spv *s, const vyre_spv_scope *scope)
{
  for (uint32_t i = 0; i < scope->left.count && !vyre_spv_failed(s); i++) {
    const uint32_t id = s->vars[scope->vars[i]].id;
    vyre_spv_assign(s, scope->vars[i], scope->left.data[i]);
    scope->left.data[i] = id;
  }
}

/* Behind a construct: leaves that crossed it go on. */
static void
go_on_leaving(vyre_spv *s, const vyre_spv_scope *scope)
{
  const uint32_t *const vars = scope->vars, count = scope->var_count;
  const uint32_t always = vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 1);
  for (uint32_t i = 0; i < count && !s->dead && !vyre_spv_failed(s); i++) {
    const uint32_t flag = vyre_spv_is_flag(s, vars[i]) ? s->vars[vars[i]].id : 0, target = s->vars[vars[i]].row;
    if (!flag)
      continue;
    if (flag == always) {
      write_leave(s, target, false);
      vyre_spv_assign(s, vars[i], 0);
      return;
    }
    const uint32_t leaving = s->next_id++, staying = s->next_id++;
    vyre_spv_push(s, &s->flags, flag);
    selection_merge(s, staying, 0);
    branch_conditional(s, flag, leaving, staying);
    vyre_spv_label(s, leaving);
    swap_left(s, scope);
    write_leave(s, target, false);
    vyre_spv_label(s, staying);
    swap_left(s, scope);
    s->dead = false;
    vyre_spv_assign(s, vars[i], 0);
  }
}

/* The construct's merge block, and what its end means for those around it. */
static void
close_scope(vyre_spv *s, vyre_spv_scope *scope)
{
  const uint32_t row = scope->row;
  if (s->outer_loop == row)
    s->outer_loop = 0;
  vyre_spv_meet(s, scope, &scope->merge_edges, scope->merge);
  s->depth--;
  if (s->dead)
    unreachable(s);
  else if (scope->var_count)
    go_on_leaving(s, scope);
  if ((s->use[row - s->base] & VYRE_SPV_CROSSED) && !vyre_spv_failed(s))
    vyre_spv_assign(s, s->id[row - s->base], 0);
}

/* ---- constructs ---- */

/* An arm of an `if`: its region, or nothing if there is none.  The block that goes on to the merge block; 0: none does. */
static uint32_t
write_arm(vyre_spv *s, uint32_t region, uint32_t label, uint32_t merge, uint32_t head)
{
  if (!s->first[region])
    return head;
  vyre_spv_label(s, label);
  vyre_spv_region(s, region);
  if (s->dead)
    return 0;
  vyre_spv_branch(s, merge);
  return s->block;
}

/* The innermost loop. */
static vyre_spv_scope *
loop_around(vyre_spv *s)
{
  for (uint32_t i = s->depth; i > 0; i--)
    if (s->scopes[i - 1].kind == VYRE_SPV_LOOP)
      return &s->scopes[i - 1];
  return NULL;
}

/* `if c { break }`, or continue, or in the other arm, is a branch without a merge block of its own. */
static bool
write_conditional_jump(vyre_spv *s, uint32_t condition, uint32_t then, uint32_t otherwise)
{
  const uint32_t arm = s->first[then] ? then : otherwise, row = s->first[arm];
  const vyre_opcode op = vyre_spv_opcode(s, row);
  vyre_spv_scope *loop = loop_around(s);
  if (s->first[then ^ otherwise ^ arm] || (op != VYRE_OP_break && op != VYRE_OP_continue) || !loop)
    return false;
  const uint32_t target = op == VYRE_OP_break ? loop->merge : loop->next, on = s->next_id++;
  vyre_spv_add_edge(s, loop, op == VYRE_OP_break ? &loop->merge_edges : &loop->next_edges, s->block);
  branch_conditional(s, condition, arm == then ? target : on, arm == then ? on : target);
  vyre_spv_label(s, on);
  return true;
}

static void
write_if(vyre_spv *s, uint32_t row)
{
  const uint32_t condition = vyre_spv_value(s, s->a[row]), then = s->first[row], otherwise = then ? s->next[then] : 0;
  if (!then || !otherwise || (!s->first[then] && !s->first[otherwise]))
    return;
  if (!s->imm[row] && write_conditional_jump(s, condition, then, otherwise)) /* hints stand in a merge instruction */
    return;
  const uint32_t head = s->block, merge = s->next_id++;
  const uint32_t yes = s->first[then] ? s->next_id++ : merge, no = s->first[otherwise] ? s->next_id++ : merge;
  selection_merge(s, merge, s->imm[row]);
  branch_conditional(s, condition, yes, no);
  vyre_spv_arms arms = vyre_spv_arms_begin(s);
  vyre_spv_arm_end(s, &arms, 0, write_arm(s, then, yes, merge, head));
  vyre_spv_arm_end(s, &arms, 1, write_arm(s, otherwise, no, merge, head));
  vyre_spv_arms_meet(s, &arms, row, merge);
  if (s->dead)
    unreachable(s);
}

/* Hints that the version lacks are left out. */
static void
loop_merge(vyre_spv *s, const vyre_spv_scope *scope)
{
  const uint32_t known = s->version >= 0x10400 ? UINT32_MAX : s->version >= 0x10100 ? 15u : 3u, hints = s->imm[scope->row];
  uint32_t operands[3 + VYRE_HINT_BITS] = {scope->merge, scope->next, hints & known}, count = 3, literal_count, next = 0;
  const uint32_t *literals = vyre_row_hint_literals(s->module, (vyre_row){scope->row}, &literal_count);
  for (uint32_t left = hints & VYRE_HINT_LITERALS; left && next < literal_count; left &= left - 1, next++)
    if (left & -left & known)
      operands[count++] = literals[next];
  vyre_spv_instruction(s, &s->code, SpvOpLoopMerge, operands, count);
}

static void
write_for(vyre_spv *s, uint32_t row)
{
  const uint32_t body_row = s->first[row];
  const vyre_type type = vyre_spv_row_type(s, body_row);
  const uint32_t from = vyre_spv_value(s, s->a[row]), to = vyre_spv_value(s, s->b[row]), step = vyre_spv_value(s, s->c[row]);
  const uint32_t type_id = vyre_spv_value_type(s, type), bool_id = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1));
  vyre_spv_scope *scope = vyre_spv_open_scope(s, row, VYRE_SPV_LOOP);
  if (!scope || vyre_spv_failed(s))
    return;
  const uint32_t depth = s->depth - 1, before = s->block, head = s->next_id++, body = s->next_id++, index = s->next_id++;
  vyre_spv_branch(s, head);
  vyre_spv_label(s, head);
  const size_t phi = s->code.count;
  const uint32_t operands[6] = {type_id, index, from, before, index, 0};
  vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
  const size_t phis = vyre_spv_head_phis(s, scope, before);
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(type));
  const uint32_t inside = vyre_spv_op2(s, is_signed ? SpvOpSLessThan : SpvOpULessThan, bool_id, index, to);
  loop_merge(s, scope);
  branch_conditional(s, inside, body, scope->merge);
  vyre_spv_add_edge(s, scope, &scope->merge_edges, head);
  vyre_spv_label(s, body);
  s->id[body_row - s->base] = index;
  vyre_spv_name(s, body_row, index);
  vyre_spv_region(s, body_row);
  scope = &s->scopes[depth];
  if (!s->dead)
    vyre_spv_jump(s, scope, &scope->next_edges, scope->next);
  vyre_spv_meet(s, scope, &scope->next_edges, scope->next);
  const bool live = !s->dead;
  if (vyre_spv_failed(s))
    return;
  const uint32_t advanced = live ? vyre_spv_op2(s, SpvOpIAdd, type_id, index, step) : index;
  if (!vyre_spv_failed(s)) {
    s->code.data[phi + 5] = advanced;
    s->code.data[phi + 6] = s->block;
  }
  vyre_spv_patch_phis(s, scope, phis, live);
  vyre_spv_branch(s, head);
  close_scope(s, scope);
}

/* The continuing region and the back edge. */
static void
write_continuing(vyre_spv *s, uint32_t depth, uint32_t region, uint32_t head, size_t phis)
{
  vyre_spv_scope *scope = &s->scopes[depth];
  vyre_spv_meet(s, scope, &scope->next_edges, scope->next);
  bool live = !s->dead;
  s->break_condition = 0;
  if (live) {
    s->continuing++;
    vyre_spv_region(s, region);
    s->continuing--;
    scope = &s->scopes[depth];
  }
  if (vyre_spv_failed(s))
    return;
  if (live && s->dead) { /* it never ends: its last block, which nothing reaches, holds the back edge that SPIR-V wants */
    if (s->code.data[s->code.count - 1] != (1u << 16 | SpvOpUnreachable))
      vyre_spv_fail(s, "a jump out of a continuing region\nFix: verify the module before writing it");
    s->code.count--;
    live = false;
  }
  vyre_spv_patch_phis(s, scope, phis, live);
  if (live && s->break_condition) {
    vyre_spv_add_edge(s, scope, &scope->merge_edges, s->block);
    branch_conditional(s, s->break_condition, scope->merge, head);
  } else {
    vyre_spv_branch(s, head);
  }
  s->break_condition = 0;
}

static void
write_loop(vyre_spv *s, uint32_t row)
{
  const uint32_t body_row = s->first[row], continuing = body_row ? s->next[body_row] : 0;
  vyre_spv_scope *scope = vyre_spv_open_scope(s, row, VYRE_SPV_LOOP);
  if (!scope || vyre_spv_failed(s))
    return;
  const uint32_t depth = s->depth - 1, before = s->block, head = s->next_id++, body = s->next_id++;
  vyre_spv_branch(s, head);
  vyre_spv_label(s, head);
  const size_t phis = vyre_spv_head_phis(s, scope, before);
  loop_merge(s, scope);
  vyre_spv_branch(s, body);
  vyre_spv_label(s, body);
  vyre_spv_region(s, body_row);
  scope = &s->scopes[depth];
  if (!s->dead)
    vyre_spv_jump(s, scope, &scope->next_edges, scope->next);
  write_continuing(s, depth, continuing, head, phis);
  if (!vyre_spv_failed(s))
    close_scope(s, &s->scopes[depth]);
}

static void
push_label(vyre_spv *s, vyre_spv_words *words, uint32_t row, uint32_t label)
{
  if (vyre_spv_opcode(s, row) != VYRE_OP_const)
    vyre_spv_fail(s, "a case label that is no const row");
  uint32_t literal[2];
  const uint32_t count = vyre_spv_literal(VYRE_TYPE_KIND(vyre_spv_row_type(s, row)), vyre_spv_payload(s, row), literal);
  vyre_spv_append(s, words, literal, count);
  vyre_spv_push(s, words, label);
}

/* The labels of a case: none, a const row, or a tuple of such. */
static void
push_labels(vyre_spv *s, vyre_spv_words *words, uint32_t labels, uint32_t label)
{
  if (labels && vyre_spv_opcode(s, labels) != VYRE_OP_tuple) {
    push_label(s, words, labels, label);
    return;
  }
  uint32_t tuple = labels, left = labels ? VYRE_TUPLE_COUNT(s->imm[labels]) : 0;
  for (; left > 3 && !vyre_spv_failed(s); left -= 2, tuple = s->c[tuple]) {
    push_label(s, words, s->a[tuple], label);
    push_label(s, words, s->b[tuple], label);
  }
  const uint32_t parts[3] = {s->a[tuple], s->b[tuple], s->c[tuple]};
  for (uint32_t k = 0; k < left && k < 3; k++)
    push_label(s, words, parts[k], label);
}

/* The cases one after another; `next_edges` holds the edge that falls into the next. */
static void
write_cases(vyre_spv *s, uint32_t row, uint32_t depth, uint32_t head, uint32_t first_label)
{
  uint32_t label = first_label;
  for (uint32_t region = s->first[row]; region && !vyre_spv_failed(s); region = s->next[region], label++) {
    vyre_spv_scope *scope = &s->scopes[depth];
    vyre_spv_restore(s, scope);
    vyre_spv_add_edge(s, scope, &scope->next_edges, head);
    vyre_spv_meet(s, scope, &scope->next_edges, label);
    scope->next_edges.count = 0;
    s->fell = false;
    vyre_spv_region(s, region);
    scope = &s->scopes[depth];
    if (s->fell && s->next[region])
      vyre_spv_jump(s, scope, &scope->next_edges, label + 1);
    else if (!s->dead)
      vyre_spv_jump(s, scope, &scope->merge_edges, scope->merge);
    s->fell = false;
  }
}

static void
write_switch(vyre_spv *s, uint32_t row)
{
  const uint32_t selector = vyre_spv_value(s, s->a[row]);
  vyre_spv_scope *scope = vyre_spv_open_scope(s, row, VYRE_SPV_SWITCH);
  if (!scope)
    return;
  const uint32_t depth = s->depth - 1, head = s->block, first_label = s->next_id;
  const size_t start = s->scratch.count;
  vyre_spv_push(s, &s->scratch, selector);
  vyre_spv_push(s, &s->scratch, 0);
  uint32_t otherwise = 0;
  for (uint32_t region = s->first[row]; region; region = s->next[region]) {
    const uint32_t label = s->next_id++;
    if (s->imm[region] & VYRE_CASE_DEFAULT)
      otherwise = label;
    push_labels(s, &s->scratch, s->a[region], label);
  }
  if (vyre_spv_failed(s))
    return;
  s->scratch.data[start + 1] = otherwise ? otherwise : scope->merge;
  vyre_spv_save(s, scope);
  selection_merge(s, scope->merge, s->imm[row]);
  vyre_spv_long_instruction(s, &s->code, SpvOpSwitch, s->scratch.data + start, s->scratch.count - start);
  s->scratch.count = start;
  if (!otherwise)
    vyre_spv_add_edge(s, scope, &scope->merge_edges, head);
  write_cases(s, row, depth, head, first_label);
  if (!vyre_spv_failed(s))
    close_scope(s, &s->scopes[depth]);
}

static void
write_block(vyre_spv *s, uint32_t row)
{
  if (!(s->use[row - s->base] & VYRE_SPV_LEFT)) {
    vyre_spv_region(s, s->first[row]);
    return;
  }
  vyre_spv_scope *scope = vyre_spv_open_scope(s, row, VYRE_SPV_SWITCH);
  if (!scope)
    return;
  const uint32_t depth = s->depth - 1;
  const uint32_t inside = s->next_id++;
  const uint32_t operands[2] = {vyre_spv_u32(s, 0), inside};
  selection_merge(s, scope->merge, 0);
  vyre_spv_instruction(s, &s->code, SpvOpSwitch, operands, 2);
  vyre_spv_label(s, inside);
  vyre_spv_region(s, s->first[row]);
  scope = &s->scopes[depth];
  if (!s->dead)
    vyre_spv_jump(s, scope, &scope->merge_edges, scope->merge);
  if (!vyre_spv_failed(s))
    close_scope(s, scope);
}

/* break and continue: of the innermost loop. */
static void
write_loop_jump(vyre_spv *s, bool is_break)
{
  vyre_spv_scope *scope = loop_around(s);
  if (!scope)
    vyre_spv_fail(s, "a jump outside of any loop\nFix: verify the module before writing it");
  else if (is_break)
    vyre_spv_jump(s, scope, &scope->merge_edges, scope->merge);
  else
    vyre_spv_jump(s, scope, &scope->next_edges, scope->next);
}

/* ---- rows ---- */

static void
write_end(vyre_spv *s, uint32_t row)
{
  /* A trap is an error of the program: it ends.  Where SPIR-V has no return, it is a place never reached. */
  const bool trap = vyre_spv_opcode(s, row) == VYRE_OP_trap;
  vyre_spv_instruction(s, &s->code, trap && s->continuing ? SpvOpUnreachable : SpvOpReturn, NULL, 0);
  s->dead = true;
}

/* A row of an op before gid: declarations, control, memory. */
static void
write_first_row(vyre_spv *s, uint32_t row, vyre_opcode op)
{
  uint32_t value;
  if (s->use[row - s->base] & VYRE_SPV_IN_TAIL)
    return;
  switch (op) {
  case VYRE_OP_workgroup:
  case VYRE_OP_var:
  case VYRE_OP_buffer:
    return;
  case VYRE_OP_get:
    if (vyre_spv_is_in_memory(s, row)) {
      vyre_spv_demoted_get(s, row);
      return;
    }
    value = s->aux[s->a[row] - s->base];
    s->id[row - s->base] = vyre_spv_or_zero(s, value, s->vars[value].id);
    if (s->phis.count)
      vyre_spv_push(s, &s->gets, row);
    return;
  case VYRE_OP_set:
    if (vyre_spv_is_in_memory(s, row)) {
      vyre_spv_demoted_set(s, row);
      return;
    }
    vyre_spv_assign(s, s->aux[s->a[row] - s->base], vyre_spv_set_value(s, row));
    return;
  case VYRE_OP_if:
    write_if(s, row);
    return;
  case VYRE_OP_for:
    write_for(s, row);
    return;
  case VYRE_OP_loop:
    write_loop(s, row);
    return;
  case VYRE_OP_switch:
    write_switch(s, row);
    return;
  case VYRE_OP_block:
    write_block(s, row);
    return;
  case VYRE_OP_break:
  case VYRE_OP_continue:
    write_loop_jump(s, op == VYRE_OP_break);
    return;
  case VYRE_OP_leave:
    value = s->aux[row - s->base];
    write_leave(s, value ? value : s->a[row], value != 0);
    return;
  case VYRE_OP_fallthrough:
    s->fell = true;
    return;
  case VYRE_OP_breakif:
    s->break_condition = vyre_spv_value(s, s->a[row]);
    return;
  case VYRE_OP_return:
  case VYRE_OP_trap:
    write_end(s, row);
    return;
  case VYRE_OP_const:
  case VYRE_OP_spec:
    if (!s->id[row - s->base])
      vyre_spv_row(s, row);
    return;
  default:
    vyre_spv_memory_row(s, row);
    return;
  }
}

static void
write_row(vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  if (s->lined && op > VYRE_OP_buffer && op != VYRE_OP_get && op != VYRE_OP_set)
    vyre_spv_new_line(s, row);
  if (op < VYRE_OP_gid)
    write_first_row(s, row, op);
  else if (vyre_op_is_opaque(op))
    vyre_spv_opaque(s, row);
  else if (!s->id[row - s->base])
    vyre_spv_row(s, row);
}

void
vyre_spv_region(vyre_spv *s, uint32_t region)
{
  if (++s->nesting > VYRE_SPV_DEPTH + 1)
    vyre_spv_fail(s, "control flow nests deeper than SPIR-V's limit of %u", VYRE_SPV_DEPTH);
  for (uint32_t row = s->first[region]; row && !s->dead && !vyre_spv_failed(s); row = s->next[row]) {
    s->row = row;
    write_row(s, row);
  }
  s->nesting--;
}
