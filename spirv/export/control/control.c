/* Writes structured control flow.
 *
 * Regions are written in order.  Each merge block, continue target and case has a list of the edges to it, which bring the values
 * of vars (phis.c).  The phis of a loop's header get their second value when the back edge is written.
 *
 * In SPIR-V, a jump may only leave to the innermost loop (its merge block or continue target), or to the innermost switch inside
 * that loop.  A `block` becomes a switch with only a default.  A `leave` of an outer construct goes to the merge block of the
 * innermost construct that a jump may leave.  A flag, a phi over the edges to that merge block, selects the edges that continue
 * outwards.  If only sets would follow, no flag is needed (tails.c).
 *
 * Cost: rows, and the cost of phis.c.  Limit: 1023 nested constructs, as in SPIR-V.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"
#include "spirv/export/debug/debug.h"

/* ---- jumps out of constructs ---- */

/* Adds an edge from the current block to the end of a construct, or to a region.  It brings the current values or, after a tail,
 * the values at `carry`. */
static void
add_edge(vyre_spv *s, vyre_spv_words *edges, uint32_t to)
{
  const size_t changes = s->changes.count;
  if (s->carry) {
    vyre_spv_add_edge(s, edges, to, s->block, s->carry);
    s->carry = 0;
    return;
  }
  const uint32_t after = vyre_spv_has_tail(s, to) ? vyre_spv_run_tails(s, to) : to;
  vyre_spv_add_edge(s, edges, after, s->block, vyre_spv_values_at(s, after));
  vyre_spv_restore(s, changes);
}

/* Ends the current block with a branch, and records its edge. */
static void
jump(vyre_spv *s, vyre_spv_words *edges, uint32_t to, uint32_t label)
{
  add_edge(s, edges, to);
  vyre_spv_branch(s, label);
  s->dead = true;
}

/* Writes a leave, with the current values or those at `carry`. */
static void
write_leave(vyre_spv *s, uint32_t target)
{
  vyre_spv_scope *loop = NULL, *selection = NULL, *scope = NULL;
  bool found = false;
  for (uint32_t i = s->depth; i > 0 && !found; i--) {
    scope = &s->scopes[i - 1];
    if (!loop && scope->kind == VYRE_SPV_LOOP)
      loop = scope;
    found = scope->row == target || vyre_spv_after_tail(s, scope->row) == target;
    if (!selection && scope->kind == VYRE_SPV_SWITCH)
      selection = scope;
  }
  if (!found) {
    vyre_spv_fail(s, "leave of row %u, which does not contain it\nFix: verify the module before writing it", target);
    return;
  }
  /* A jump in a switch inside a loop may leave to the loop's end. */
  vyre_spv_scope *first = loop ? loop : selection ? selection : scope;
  jump(s, &first->merge_edges, target, first->merge);
}

/* Lists in `leaving` the targets of the edges to the construct's merge block that continue outwards, each with a 0 as the index of
 * its values.  Does not list edges for the construct itself or for `target`, the construct that ends with its tail.  Returns
 * whether there are unlisted edges. */
static bool
find_leaving(vyre_spv *s, const vyre_spv_scope *scope, uint32_t target)
{
  const vyre_spv_words *const edges = &scope->merge_edges;
  bool stays = false;
  s->leaving.count = 0;
  for (size_t at = 0; at < edges->count; at += EDGE_WORDS) {
    const uint32_t to = edges->data[at + EDGE_TO];
    size_t i = 0;
    if (to == scope->row || to == target) {
      stays = true;
      continue;
    }
    while (i < s->leaving.count && s->leaving.data[i] != to)
      i += 2;
    if (i < s->leaving.count)
      continue;
    vyre_spv_push(s, &s->leaving, to);
    vyre_spv_push(s, &s->leaving, 0);
  }
  return stays;
}

/* Returns whether nothing is written after a place with these edges.  In a continuing region, the back edge must follow each block,
 * also one that control does not reach (SPIR-V specification 2.11, "continue construct"). */
static bool
is_dead(const vyre_spv *s, const vyre_spv_words *edges)
{
  return edges->count == 0 && s->continuing == 0;
}

/* Writes the construct's merge block, from which leaves that crossed the construct continue. */
static void
close_scope(vyre_spv *s, vyre_spv_scope *scope)
{
  const vyre_spv_words *const edges = &scope->merge_edges;
  const uint32_t row = scope->row, known = scope->known ? scope->known : s->next_id, target = vyre_spv_after_tail(s, row);
  vyre_spv_label(s, scope->merge);
  s->depth--;
  vyre_spv_restore(s, scope->changes);
  s->dead = is_dead(s, edges);
  if (edges->count == 0) {
    if (s->dead)
      vyre_spv_unreachable(s);
    return;
  }
  const bool stays = find_leaving(s, scope, target);
  const size_t tests = stays ? s->leaving.count : s->leaving.count - 2;
  uint32_t after_tail = 0;
  for (size_t i = 0; i < s->leaving.count && !vyre_spv_failed(s); i += 2)
    s->leaving.data[i + 1] = vyre_spv_collect_joins(s, edges, known, s->leaving.data[i]);
  if (stays && target)
    after_tail = vyre_spv_collect_joins(s, edges, known, target);
  else if (stays)
    vyre_spv_merge_joins(s, edges, known, scope->row);
  s->scratch.count = 0;
  for (size_t i = 0; i < tests && !vyre_spv_failed(s); i += 2)
    vyre_spv_push(s, &s->scratch, vyre_spv_leave_flag(s, edges, s->leaving.data[i]));
  for (size_t i = 0; i < s->leaving.count && !vyre_spv_failed(s); i += 2) {
    const uint32_t leaving = i < tests ? s->next_id++ : 0, staying = i < tests ? s->next_id++ : 0;
    if (leaving) {
      vyre_spv_selection_merge(s, staying, 0);
      vyre_spv_branch_conditional(s, s->scratch.data[i / 2], leaving, staying);
      vyre_spv_label(s, leaving);
    }
    s->carry = s->leaving.data[i + 1];
    write_leave(s, s->leaving.data[i]);
    if (staying)
      vyre_spv_label(s, staying);
    s->dead = !staying;
  }
  s->carry = after_tail;
  if (stays && !target)
    vyre_spv_debug_joins(s, row);
}

/* ---- constructs ---- */

/* An `if` while it is written. */
typedef struct written_if {
  uint32_t row, head, merge; /* head and merge: labels */
  uint32_t silent;           /* the index in `carried` of the values that the arm without a block brings */
  size_t changes;            /* before the arms */
  vyre_spv_words edges;
} written_if;

/* Writes an arm of an `if`: a block with its region or, if its label is the merge block's, only an edge from the head. */
static void
write_arm(vyre_spv *s, written_if *w, uint32_t region, uint32_t label)
{
  if (label == w->merge) {
    vyre_spv_add_edge(s, &w->edges, w->row, w->head, w->silent);
  } else {
    vyre_spv_label(s, label);
    vyre_spv_region(s, region);
    if (!s->dead)
      jump(s, &w->edges, w->row, w->merge);
    s->dead = false;
    vyre_spv_restore(s, w->changes);
  }
}

/* Returns the innermost loop. */
static vyre_spv_scope *
loop_around(vyre_spv *s)
{
  for (uint32_t i = s->depth; i > 0; i--)
    if (s->scopes[i - 1].kind == VYRE_SPV_LOOP)
      return &s->scopes[i - 1];
  return NULL;
}

/* Writes `if c { break }` or `if c { continue }`, in either arm, as a branch without a merge block of its own. */
static bool
write_conditional_jump(vyre_spv *s, uint32_t condition, uint32_t then, uint32_t otherwise)
{
  const uint32_t arm = s->first[then] ? then : otherwise, row = s->first[arm];
  const vyre_opcode op = vyre_spv_opcode(s, row);
  vyre_spv_scope *loop = loop_around(s);
  if (s->first[then ^ otherwise ^ arm] || (op != VYRE_OP_break && op != VYRE_OP_continue) || !loop)
    return false;
  vyre_spv_begin_branches(s);
  const uint32_t target = op == VYRE_OP_break ? loop->merge : loop->next, on = s->next_id++;
  if (op == VYRE_OP_break)
    add_edge(s, &loop->merge_edges, loop->row);
  else
    add_edge(s, &loop->next_edges, s->last[loop->row]);
  vyre_spv_branch_conditional(s, condition, arm == then ? target : on, arm == then ? on : target);
  vyre_spv_label(s, on);
  return true;
}

/* Begins the block of `edges`, with the phis of the joins at `row`.  If the block is dead, the caller ends it. */
static void
begin_block(vyre_spv *s, const vyre_spv_words *edges, uint32_t label, uint32_t row)
{
  vyre_spv_label(s, label);
  s->dead = is_dead(s, edges);
  if (edges->count) {
    vyre_spv_merge_joins(s, edges, 0, row);
    vyre_spv_debug_joins(s, row);
  }
}

/* An arm with only sets needs no block if the other arm has one: the edge from the head brings the values that the arm sets. */
static void
write_if(vyre_spv *s, uint32_t row)
{
  const uint32_t condition = vyre_spv_value(s, s->a[row]), then = s->first[row], otherwise = then ? s->next[then] : 0;
  if (!then || !otherwise || (!s->first[then] && !s->first[otherwise]))
    return;
  if (!s->imm[row] && write_conditional_jump(s, condition, then, otherwise)) /* hints need a merge instruction */
    return;
  vyre_spv_begin_branches(s);
  const bool skips = vyre_spv_is_silent(s, s->first[otherwise]), jumps = !skips && vyre_spv_is_silent(s, s->first[then]);
  uint32_t list[2 * EDGE_WORDS];
  written_if w = {.row = row, .changes = s->changes.count, .edges = {list, 0, 2 * EDGE_WORDS}};
  s->is_silent = skips || jumps;
  if (s->is_silent) {
    vyre_spv_region(s, skips ? otherwise : then);
    w.silent = vyre_spv_values_at(s, row);
    vyre_spv_restore(s, w.changes);
  }
  s->is_silent = false;
  /* AMD's compiler generates one more instruction for an empty first arm. */
  const uint32_t branch =
      jumps ? vyre_spv_op1(s, SpvOpLogicalNot, vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1)), condition) : condition;
  w.head = s->block;
  w.merge = s->next_id++;
  const uint32_t yes = jumps ? w.merge : s->next_id++, no = skips ? w.merge : s->next_id++;
  vyre_spv_selection_merge(s, w.merge, s->imm[row]);
  vyre_spv_branch_conditional(s, branch, jumps ? no : yes, jumps ? yes : no);
  write_arm(s, &w, then, yes);
  write_arm(s, &w, otherwise, no);
  begin_block(s, &w.edges, w.merge, row);
  if (s->dead)
    vyre_spv_unreachable(s);
  else if (s->has_values && (skips || jumps))
    vyre_spv_debug_lost_sets(s, row, skips ? otherwise : then);
}

/* Omits hints that the SPIR-V version lacks. */
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
  const size_t phis = vyre_spv_header_phis(s, body_row, before);
  vyre_spv_debug_joins(s, body_row);
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(type));
  const uint32_t inside = vyre_spv_op2(s, is_signed ? SpvOpSLessThan : SpvOpULessThan, bool_id, index, to);
  vyre_spv_begin_branches(s);
  loop_merge(s, scope);
  vyre_spv_branch_conditional(s, inside, body, scope->merge);
  add_edge(s, &scope->merge_edges, row);
  vyre_spv_label(s, body);
  s->id[body_row - s->base] = index;
  vyre_spv_name(s, body_row, index);
  vyre_spv_region(s, body_row);
  scope = &s->scopes[depth];
  if (!s->dead)
    jump(s, &scope->next_edges, body_row, scope->next);
  const bool live = scope->next_edges.count != 0;
  vyre_spv_label(s, scope->next);
  const uint32_t around = live ? vyre_spv_collect_joins(s, &scope->next_edges, 0, body_row) : 0;
  if (vyre_spv_failed(s))
    return;
  const uint32_t advanced = live ? vyre_spv_op2(s, SpvOpIAdd, type_id, index, step) : index;
  if (!vyre_spv_failed(s)) {
    s->code.data[phi + 5] = advanced;
    s->code.data[phi + 6] = s->block;
  }
  vyre_spv_patch_phis(s, body_row, phis, around, live);
  vyre_spv_branch(s, head);
  close_scope(s, scope);
}

/* Writes the continuing region and the back edge.  `changes`: at the start of the body. */
static void
write_continuing(vyre_spv *s, uint32_t depth, uint32_t region, uint32_t head, size_t phis, size_t changes)
{
  vyre_spv_scope *scope = &s->scopes[depth];
  vyre_spv_restore(s, changes);
  begin_block(s, &scope->next_edges, scope->next, region);
  const bool live = !s->dead;
  s->breakif = 0;
  if (live) {
    s->continuing++;
    vyre_spv_region(s, region);
    s->continuing--;
    scope = &s->scopes[depth];
  }
  if (vyre_spv_failed(s))
    return;
  if (live && s->dead)
    vyre_spv_fail(s, "a jump out of a continuing region\nFix: verify the module before writing it");
  const uint32_t body = s->first[scope->row];
  vyre_spv_patch_phis(s, body, phis, live ? vyre_spv_values_at(s, body) : 0, live);
  if (live && s->breakif) {
    add_edge(s, &scope->merge_edges, scope->row);
    vyre_spv_branch_conditional(s, vyre_spv_value(s, s->a[s->breakif]), scope->merge, head);
  } else {
    vyre_spv_branch(s, head);
  }
  s->breakif = 0;
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
  const size_t phis = vyre_spv_header_phis(s, body_row, before), changes = s->changes.count;
  vyre_spv_debug_joins(s, body_row);
  loop_merge(s, scope);
  vyre_spv_branch(s, body);
  vyre_spv_label(s, body);
  vyre_spv_region(s, body_row);
  scope = &s->scopes[depth];
  if (!s->dead)
    jump(s, &scope->next_edges, continuing, scope->next);
  write_continuing(s, depth, continuing, head, phis, changes);
  if (!vyre_spv_failed(s))
    close_scope(s, &s->scopes[depth]);
}

/* Writes the cases in order; `next_edges` has the edges that fall through to the next case. */
static void
write_cases(vyre_spv *s, uint32_t row, uint32_t depth, uint32_t head, uint32_t first_label)
{
  uint32_t label = first_label;
  for (uint32_t region = s->first[row]; region && !vyre_spv_failed(s); region = s->next[region], label++) {
    vyre_spv_scope *scope = &s->scopes[depth];
    vyre_spv_restore(s, scope->changes);
    vyre_spv_add_edge(s, &scope->next_edges, region, head, vyre_spv_values_at(s, region));
    begin_block(s, &scope->next_edges, label, region);
    scope->next_edges.count = 0;
    s->fell = false;
    vyre_spv_region(s, region);
    scope = &s->scopes[depth];
    if (s->fell && s->next[region])
      jump(s, &scope->next_edges, s->next[region], label + 1);
    else if (!s->dead)
      jump(s, &scope->merge_edges, row, scope->merge);
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
    vyre_spv_push_labels(s, &s->scratch, s->a[region], label);
  }
  if (vyre_spv_failed(s))
    return;
  vyre_spv_begin_branches(s);
  s->scratch.data[start + 1] = otherwise ? otherwise : scope->merge;
  vyre_spv_selection_merge(s, scope->merge, s->imm[row]);
  vyre_spv_long_instruction(s, &s->code, SpvOpSwitch, s->scratch.data + start, s->scratch.count - start);
  s->scratch.count = start;
  if (!otherwise)
    add_edge(s, &scope->merge_edges, row);
  write_cases(s, row, depth, head, first_label);
  if (!vyre_spv_failed(s))
    close_scope(s, &s->scopes[depth]);
}

static void
write_block(vyre_spv *s, uint32_t row)
{
  const uint32_t region = s->first[row];
  if (!(s->use[row - s->base] & VYRE_SPV_LEFT)) {
    uint32_t list[EDGE_WORDS];
    vyre_spv_words edges = {list, 0, EDGE_WORDS};
    vyre_spv_region(s, region);
    if (!s->dead) {
      add_edge(s, &edges, row);
      vyre_spv_merge_joins(s, &edges, 0, row);
    }
    return;
  }
  vyre_spv_scope *scope = vyre_spv_open_scope(s, row, VYRE_SPV_SWITCH);
  if (!scope)
    return;
  const uint32_t depth = s->depth - 1;
  const uint32_t inside = s->next_id++;
  const uint32_t operands[2] = {vyre_spv_u32(s, 0), inside};
  vyre_spv_selection_merge(s, scope->merge, 0);
  vyre_spv_instruction(s, &s->code, SpvOpSwitch, operands, 2);
  vyre_spv_label(s, inside);
  vyre_spv_region(s, region);
  scope = &s->scopes[depth];
  if (!s->dead)
    jump(s, &scope->merge_edges, row, scope->merge);
  if (!vyre_spv_failed(s))
    close_scope(s, scope);
}

/* Writes a break or continue of the innermost loop. */
static void
write_loop_jump(vyre_spv *s, uint32_t row)
{
  vyre_spv_scope *scope = loop_around(s);
  if (!scope)
    vyre_spv_fail(s, "a jump outside of any loop\nFix: verify the module before writing it");
  else if (vyre_spv_opcode(s, row) == VYRE_OP_break)
    jump(s, &scope->merge_edges, scope->row, scope->merge);
  else
    jump(s, &scope->next_edges, s->last[scope->row], scope->next);
}

static void
write_leave_row(vyre_spv *s, uint32_t row)
{
  write_leave(s, s->a[row]);
}

static void
write_fallthrough(vyre_spv *s, uint32_t row)
{
  (void)row;
  s->fell = true;
}

static void
write_breakif(vyre_spv *s, uint32_t row)
{
  s->breakif = row;
}

/* ---- rows ---- */

/* Writes OpReturn for a return or a trap.  Writes nothing for a trap in a continuing region, where SPIR-V does not allow OpReturn:
 * execution continues, because such a trap is undefined behavior. */
static void
write_end(vyre_spv *s, uint32_t row)
{
  if (s->continuing && vyre_spv_opcode(s, row) == VYRE_OP_trap)
    return;
  vyre_spv_instruction(s, &s->code, SpvOpReturn, NULL, 0);
  s->dead = true;
}

static void
write_declaration(vyre_spv *s, uint32_t row)
{
  (void)s;
  (void)row; /* written at the start of the program */
}

static void
write_get(vyre_spv *s, uint32_t row)
{
  if (vyre_spv_is_in_memory(s, row))
    vyre_spv_demoted_get(s, row);
  else
    vyre_spv_get(s, row);
}

static void
write_set(vyre_spv *s, uint32_t row)
{
  if (vyre_spv_is_in_memory(s, row))
    vyre_spv_demoted_set(s, row);
  else
    vyre_spv_set(s, row);
}

static void
write_const(vyre_spv *s, uint32_t row)
{
  if (!s->id[row - s->base])
    s->id[row - s->base] = vyre_spv_splat_here(s, vyre_spv_row_type(s, row), vyre_spv_payload(s, row));
}

static void
write_spec(vyre_spv *s, uint32_t row)
{
  if (!s->id[row - s->base])
    vyre_spv_row(s, row);
}

/* The functions that write ops before gid.  NULL means vyre_spv_memory_row. */
static void (*const writers[VYRE_OP_gid])(vyre_spv *s, uint32_t row) = {
    [VYRE_OP_workgroup] = write_declaration,
    [VYRE_OP_var] = write_declaration,
    [VYRE_OP_buffer] = write_declaration,
    [VYRE_OP_get] = write_get,
    [VYRE_OP_set] = write_set,
    [VYRE_OP_if] = write_if,
    [VYRE_OP_for] = write_for,
    [VYRE_OP_loop] = write_loop,
    [VYRE_OP_switch] = write_switch,
    [VYRE_OP_block] = write_block,
    [VYRE_OP_break] = write_loop_jump,
    [VYRE_OP_continue] = write_loop_jump,
    [VYRE_OP_leave] = write_leave_row,
    [VYRE_OP_fallthrough] = write_fallthrough,
    [VYRE_OP_breakif] = write_breakif,
    [VYRE_OP_return] = write_end,
    [VYRE_OP_trap] = write_end,
    [VYRE_OP_const] = write_const,
    [VYRE_OP_spec] = write_spec,
};

static void
write_row(vyre_spv *s, uint32_t row, vyre_opcode op)
{
  if (op < VYRE_OP_gid)
    (writers[op] ? writers[op] : vyre_spv_memory_row)(s, row);
  else if (vyre_op_is_opaque(op))
    vyre_spv_opaque(s, row);
  else if (!s->id[row - s->base])
    vyre_spv_row(s, row);
}

/* Writes a row with its source position and the values of source variables. */
static void
write_row_and_debug(vyre_spv *s, uint32_t row, vyre_opcode op)
{
  const bool is_value = (op == VYRE_OP_get || op == VYRE_OP_set) && !vyre_spv_is_in_memory(s, row); /* writes no instruction */
  if (s->lined && op > VYRE_OP_buffer && !is_value)
    vyre_spv_new_line(s, row);
  write_row(s, row, op);
  if (s->has_values && (op > VYRE_OP_buffer || op == VYRE_OP_const))
    vyre_spv_write_debug_value(s, row, op == VYRE_OP_set && is_value ? vyre_spv_set_to(s, row) : s->id[row - s->base]);
}

void
vyre_spv_region(vyre_spv *s, uint32_t region)
{
  if (++s->nesting > VYRE_SPV_DEPTH + 1)
    vyre_spv_fail(s, "control flow nests deeper than SPIR-V's limit of %u\nFix: nest fewer constructs", VYRE_SPV_DEPTH);
  const bool has_debug = s->lined || s->has_values;
  /* the tail after such a construct writes no instruction */
  for (uint32_t row = s->first[region]; row && !s->dead && !s->carry && !vyre_spv_failed(s); row = s->next[row]) {
    const vyre_opcode op = vyre_spv_opcode(s, row);
    s->row = row;
    if (has_debug)
      write_row_and_debug(s, row, op);
    else
      write_row(s, row, op);
  }
  s->nesting--;
}
