/* Structured control flow, and vars as SSA values.
 *
 * One survey of the program's rows finds, for each control construct, which vars are written in it.  Then regions are written in
 * order with a map from var to its current value.  Every edge to a merge block, or to a continue target, notes the values of the
 * construct's written vars; where they differ the block gets a phi.  A loop's head has a phi for each var written in the loop,
 * whose second value is patched when the back edge is written.  A var that is set only where the loop is then left has none.  Phis
 * that nothing uses go at the end.
 *
 * SPIR-V lets a construct be left only for the innermost loop (its merge block or continue target) or the innermost switch inside
 * that loop.  `block` becomes a switch with a default alone.  A `leave` of anything further out sets a flag, leaves the innermost
 * construct that it can, and the flag, a phi like that of a var, is tested behind each construct on the way.
 *
 * Cost: rows, plus written vars times edges.  Limit: 1023 nested constructs, as SPIR-V has.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

#include <string.h>

/* ---- survey
 * -------------------------------------------------------------------------------------------------------------------------- */

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
  default:
    if (op >= VYRE_OP_atomic_load && op <= VYRE_OP_atomic_xor)
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
  vyre_spv_words nest = {0}; /* a row with children, where its part of `open` begins, the jumps before it */
  s->value_count = s->jumps = 0;
  s->vars.count = s->current.count = s->stamps.count = s->open.count = s->written.count = 0;
  for (uint32_t row = s->base + 1; row < s->end && !vyre_spv_failed(s); row++) {
    s->row = row;
    while (nest.count && nest.data[nest.count - 3] != s->parent[row]) {
      nest.count -= 3;
      survey_end(s, nest.data + nest.count);
    }
    survey_row(s, row);
    if (vyre_op_infos[vyre_spv_opcode(s, row)].flags & (VYRE_OP_REGIONS | VYRE_OP_REGION)) {
      vyre_spv_push(s, &nest, row);
      vyre_spv_push(s, &nest, (uint32_t)s->open.count);
      vyre_spv_push(s, &nest, s->jumps);
      if (nest.count / 6 > VYRE_SPV_DEPTH)
        vyre_spv_fail(s, "control flow nests deeper than SPIR-V's limit of %u", VYRE_SPV_DEPTH);
    }
  }
  for (; nest.count && !vyre_spv_failed(s); nest.count -= 3)
    survey_end(s, nest.data + nest.count - 3);
  vyre_spv_words_free(s, &nest);
  s->row = 0;
}

/* ---- values and edges
 * ------------------------------------------------------------------------------------------------------------------- */

static bool
is_flag(const vyre_spv *s, uint32_t value)
{
  return vyre_spv_opcode(s, s->vars.data[value]) != VYRE_OP_var;
}

static uint32_t
type_of(vyre_spv *s, uint32_t value)
{
  return vyre_spv_value_type(s, is_flag(s, value) ? VYRE_TYPE(VYRE_BOOL, 1) : vyre_spv_row_type(s, s->vars.data[value]));
}

static uint32_t
or_zero(vyre_spv *s, uint32_t value, uint32_t id)
{
  return id ? id : vyre_spv_null(s, type_of(s, value));
}

static vyre_spv_scope *
open_scope(vyre_spv *s, uint32_t row, uint32_t kind)
{
  if (s->depth == s->scope_capacity) {
    const uint32_t capacity = s->scope_capacity ? s->scope_capacity * 2 : 16;
    vyre_spv_scope *scopes =
        s->allocator->resize(s->allocator->user, s->scopes, s->scope_capacity * sizeof(*scopes), capacity * sizeof(*scopes));
    if (!scopes) {
      s->out_of_memory = true;
      return NULL;
    }
    for (uint32_t i = s->scope_capacity; i < capacity; i++)
      scopes[i] = (vyre_spv_scope){0};
    s->scopes = scopes;
    s->scope_capacity = capacity;
  }
  vyre_spv_scope *scope = &s->scopes[s->depth++];
  const uint32_t *written = s->written.data + s->aux[row - s->base];
  scope->row = row;
  scope->kind = kind;
  scope->merge = s->next_id++;
  scope->next = kind == VYRE_SPV_LOOP ? s->next_id++ : 0;
  scope->var_count = written[0];
  scope->head_count = written[1];
  scope->vars = written + 2;
  scope->merge_edges.count = scope->next_edges.count = scope->saved.count = 0;
  return scope;
}

static void
add_edge(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t block)
{
  vyre_spv_push(s, edges, block);
  for (uint32_t i = 0; i < scope->var_count; i++)
    vyre_spv_push(s, edges, s->current.data[scope->vars[i]]);
}

/* The branch that ends the block being written. */
static void
jump(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t label)
{
  add_edge(s, scope, edges, s->block);
  vyre_spv_branch(s, label);
  s->dead = true;
}

static void
save(vyre_spv *s, vyre_spv_scope *scope)
{
  for (uint32_t i = 0; i < scope->var_count; i++)
    vyre_spv_push(s, &scope->saved, s->current.data[scope->vars[i]]);
}

static void
restore(vyre_spv *s, const vyre_spv_scope *scope)
{
  for (uint32_t i = 0; i < scope->var_count && !s->out_of_memory; i++)
    s->current.data[scope->vars[i]] = scope->saved.data[i];
  s->dead = false;
}

/* Begins the block that `edges` lead to, with the phis it needs.  None lead there: it is unreachable, and nothing follows. */
static void
meet(vyre_spv *s, const vyre_spv_scope *scope, const vyre_spv_words *edges, uint32_t label)
{
  const uint32_t stride = scope->var_count + 1;
  const size_t count = edges->count / stride;
  vyre_spv_label(s, label);
  s->dead = count == 0;
  if (vyre_spv_failed(s) || count == 0)
    return;
  for (uint32_t i = 0; i < scope->var_count; i++) {
    const uint32_t value = scope->vars[i], *first = edges->data + 1 + i;
    bool same = true;
    for (size_t edge = 1; edge < count && same; edge++)
      same = first[edge * stride] == first[0];
    if (same) {
      s->current.data[value] = first[0];
      continue;
    }
    const uint32_t type = type_of(s, value), id = s->next_id++;
    if (count * 2 + 3 > 0xffff) {
      vyre_spv_fail(s, "a phi of %zu edges", count);
      return;
    }
    for (size_t edge = 0; edge < count; edge++)
      or_zero(s, value, first[edge * stride]); /* constants are made before the instruction is begun */
    vyre_spv_push(s, &s->code, (uint32_t)(count * 2 + 3) << 16 | SpvOpPhi);
    vyre_spv_push(s, &s->code, type);
    vyre_spv_push(s, &s->code, id);
    for (size_t edge = 0; edge < count; edge++) {
      vyre_spv_push(s, &s->code, or_zero(s, value, first[edge * stride]));
      vyre_spv_push(s, &s->code, edges->data[edge * stride]);
    }
    s->current.data[value] = id;
  }
}

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
  const uint32_t operands[3] = {condition, yes, no};
  vyre_spv_instruction(s, &s->code, SpvOpBranchConditional, operands, 3);
}

static void
selection_merge(vyre_spv *s, uint32_t merge)
{
  const uint32_t operands[2] = {merge, SpvSelectionControlMaskNone};
  vyre_spv_instruction(s, &s->code, SpvOpSelectionMerge, operands, 2);
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
  selection_merge(s, result.merge);
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

/* ---- leaving
 * ------------------------------------------------------------------------------------------------------------------------------ */

static void
write_leave(vyre_spv *s, uint32_t target)
{
  vyre_spv_scope *loop = NULL, *selection = NULL, *scope = NULL;
  for (uint32_t i = s->depth; i > 0; i--) {
    scope = &s->scopes[i - 1];
    if (scope->row == target)
      break;
    if (!loop && scope->kind == VYRE_SPV_LOOP)
      loop = scope;
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
    s->current.data[s->id[target - s->base]] = vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 1);
  jump(s, first, &first->merge_edges, first->merge);
}

/* Behind a construct: leaves that crossed it go on. */
static void
go_on_leaving(vyre_spv *s, const uint32_t *vars, uint32_t count)
{
  const uint32_t always = vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 1);
  for (uint32_t i = 0; i < count && !s->dead && !vyre_spv_failed(s); i++) {
    const uint32_t flag = is_flag(s, vars[i]) ? s->current.data[vars[i]] : 0, target = s->vars.data[vars[i]];
    if (!flag)
      continue;
    if (flag == always) {
      write_leave(s, target);
      s->current.data[vars[i]] = 0;
      return;
    }
    const uint32_t leaving = s->next_id++, staying = s->next_id++;
    selection_merge(s, staying);
    branch_conditional(s, flag, leaving, staying);
    vyre_spv_label(s, leaving);
    write_leave(s, target);
    vyre_spv_label(s, staying);
    s->dead = false;
    s->current.data[vars[i]] = 0;
  }
}

/* The construct's merge block, and what its end means for those around it. */
static void
close_scope(vyre_spv *s, vyre_spv_scope *scope)
{
  const uint32_t *vars = scope->vars, count = scope->var_count, row = scope->row;
  const bool left = scope->kind != VYRE_SPV_SELECTION;
  meet(s, scope, &scope->merge_edges, scope->merge);
  s->depth--;
  if (s->dead)
    unreachable(s);
  else if (left && count)
    go_on_leaving(s, vars, count);
  if (left && (s->use[row - s->base] & VYRE_SPV_CROSSED) && !vyre_spv_failed(s))
    s->current.data[s->id[row - s->base]] = 0;
}

/* ---- constructs
 * ----------------------------------------------------------------------------------------------------------------------------- */

/* An arm of a selection: its region, or nothing if there is none. */
static void
write_arm(vyre_spv *s, uint32_t row_depth, uint32_t region, uint32_t label, uint32_t head)
{
  vyre_spv_scope *scope = &s->scopes[row_depth];
  if (!s->first[region]) {
    add_edge(s, scope, &scope->merge_edges, head);
    return;
  }
  vyre_spv_label(s, label);
  vyre_spv_region(s, region);
  scope = &s->scopes[row_depth];
  if (!s->dead)
    jump(s, scope, &scope->merge_edges, scope->merge);
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
  add_edge(s, loop, op == VYRE_OP_break ? &loop->merge_edges : &loop->next_edges, s->block);
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
  if (write_conditional_jump(s, condition, then, otherwise))
    return;
  vyre_spv_scope *scope = open_scope(s, row, VYRE_SPV_SELECTION);
  if (!scope)
    return;
  const uint32_t depth = s->depth - 1, head = s->block;
  const uint32_t yes = s->first[then] ? s->next_id++ : scope->merge, no = s->first[otherwise] ? s->next_id++ : scope->merge;
  save(s, scope);
  selection_merge(s, scope->merge);
  branch_conditional(s, condition, yes, no);
  write_arm(s, depth, then, yes, head);
  restore(s, &s->scopes[depth]);
  write_arm(s, depth, otherwise, no, head);
  close_scope(s, &s->scopes[depth]);
}

/* The head's phis: one a var that may come round changed, the back edge's value and block to come.  Returns where they begin. */
static size_t
write_head_phis(vyre_spv *s, const vyre_spv_scope *scope, uint32_t before)
{
  const size_t start = s->code.count;
  for (uint32_t i = 0; i < scope->head_count && !vyre_spv_failed(s); i++) {
    const uint32_t value = scope->vars[i];
    const uint32_t type = type_of(s, value), initial = or_zero(s, value, s->current.data[value]), id = s->next_id++;
    const uint32_t operands[6] = {type, id, initial, before, id, 0};
    vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
    s->current.data[value] = id;
  }
  return start;
}

/* The back edge comes from the block being written.  live: with the values of now; else it is never taken. */
static void
patch_head_phis(vyre_spv *s, const vyre_spv_scope *scope, size_t start, bool live)
{
  for (uint32_t i = 0; i < scope->head_count && !vyre_spv_failed(s); i++) {
    const uint32_t value = scope->vars[i];
    if (live)
      s->code.data[start + 5] = or_zero(s, value, s->current.data[value]);
    s->code.data[start + 6] = s->block;
    start += 7;
  }
}

static void
loop_merge(vyre_spv *s, const vyre_spv_scope *scope)
{
  const uint32_t operands[3] = {scope->merge, scope->next, SpvLoopControlMaskNone};
  vyre_spv_instruction(s, &s->code, SpvOpLoopMerge, operands, 3);
}

static void
write_for(vyre_spv *s, uint32_t row)
{
  const uint32_t body_row = s->first[row];
  const vyre_type type = vyre_spv_row_type(s, body_row);
  const uint32_t from = vyre_spv_value(s, s->a[row]), to = vyre_spv_value(s, s->b[row]), step = vyre_spv_value(s, s->c[row]);
  const uint32_t type_id = vyre_spv_value_type(s, type), bool_id = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1));
  vyre_spv_scope *scope = open_scope(s, row, VYRE_SPV_LOOP);
  if (!scope || vyre_spv_failed(s))
    return;
  const uint32_t depth = s->depth - 1, before = s->block, head = s->next_id++, body = s->next_id++, index = s->next_id++;
  vyre_spv_branch(s, head);
  vyre_spv_label(s, head);
  const size_t phi = s->code.count;
  const uint32_t operands[6] = {type_id, index, from, before, index, 0};
  vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
  const size_t phis = write_head_phis(s, scope, before);
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(type));
  const uint32_t inside = vyre_spv_op2(s, is_signed ? SpvOpSLessThan : SpvOpULessThan, bool_id, index, to);
  loop_merge(s, scope);
  branch_conditional(s, inside, body, scope->merge);
  add_edge(s, scope, &scope->merge_edges, head);
  vyre_spv_label(s, body);
  s->id[body_row - s->base] = index;
  const char *name = s->strip ? NULL : vyre_row_name(s->module, (vyre_row){body_row});
  if (name)
    vyre_spv_text(s, &s->names, SpvOpName, &index, 1, name);
  vyre_spv_region(s, body_row);
  scope = &s->scopes[depth];
  if (!s->dead)
    jump(s, scope, &scope->next_edges, scope->next);
  meet(s, scope, &scope->next_edges, scope->next);
  const bool live = !s->dead;
  if (vyre_spv_failed(s))
    return;
  const uint32_t advanced = live ? vyre_spv_op2(s, SpvOpIAdd, type_id, index, step) : index;
  if (!vyre_spv_failed(s)) {
    s->code.data[phi + 5] = advanced;
    s->code.data[phi + 6] = s->block;
  }
  patch_head_phis(s, scope, phis, live);
  vyre_spv_branch(s, head);
  close_scope(s, scope);
}

/* The continuing region and the back edge. */
static void
write_continuing(vyre_spv *s, uint32_t depth, uint32_t region, uint32_t head, size_t phis)
{
  vyre_spv_scope *scope = &s->scopes[depth];
  meet(s, scope, &scope->next_edges, scope->next);
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
  patch_head_phis(s, scope, phis, live);
  if (live && s->break_condition) {
    add_edge(s, scope, &scope->merge_edges, s->block);
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
  vyre_spv_scope *scope = open_scope(s, row, VYRE_SPV_LOOP);
  if (!scope || vyre_spv_failed(s))
    return;
  const uint32_t depth = s->depth - 1, before = s->block, head = s->next_id++, body = s->next_id++;
  vyre_spv_branch(s, head);
  vyre_spv_label(s, head);
  const size_t phis = write_head_phis(s, scope, before);
  loop_merge(s, scope);
  vyre_spv_branch(s, body);
  vyre_spv_label(s, body);
  vyre_spv_region(s, body_row);
  scope = &s->scopes[depth];
  if (!s->dead)
    jump(s, scope, &scope->next_edges, scope->next);
  write_continuing(s, depth, continuing, head, phis);
  if (!vyre_spv_failed(s))
    close_scope(s, &s->scopes[depth]);
}

static void
push_label(vyre_spv *s, vyre_spv_words *words, uint32_t row, uint32_t label)
{
  if (vyre_spv_opcode(s, row) != VYRE_OP_const)
    vyre_spv_fail(s, "a case label that is no const row");
  vyre_spv_push(s, words, s->imm[row]);
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
    restore(s, scope);
    add_edge(s, scope, &scope->next_edges, head);
    meet(s, scope, &scope->next_edges, label);
    scope->next_edges.count = 0;
    s->fell = false;
    vyre_spv_region(s, region);
    scope = &s->scopes[depth];
    if (s->fell && s->next[region])
      jump(s, scope, &scope->next_edges, label + 1);
    else if (!s->dead)
      jump(s, scope, &scope->merge_edges, scope->merge);
    s->fell = false;
  }
}

static void
write_switch(vyre_spv *s, uint32_t row)
{
  const uint32_t selector = vyre_spv_value(s, s->a[row]);
  vyre_spv_scope *scope = open_scope(s, row, VYRE_SPV_SWITCH);
  if (!scope)
    return;
  const uint32_t depth = s->depth - 1, head = s->block, first_label = s->next_id;
  vyre_spv_words words = {0};
  vyre_spv_push(s, &words, selector);
  vyre_spv_push(s, &words, 0);
  uint32_t otherwise = 0;
  for (uint32_t region = s->first[row]; region; region = s->next[region]) {
    const uint32_t label = s->next_id++;
    if (s->imm[region] & VYRE_CASE_DEFAULT)
      otherwise = label;
    push_labels(s, &words, s->a[region], label);
  }
  if (!vyre_spv_failed(s))
    words.data[1] = otherwise ? otherwise : scope->merge;
  save(s, scope);
  selection_merge(s, scope->merge);
  vyre_spv_instruction(s, &s->code, SpvOpSwitch, words.data, words.count);
  vyre_spv_words_free(s, &words);
  if (!otherwise)
    add_edge(s, scope, &scope->merge_edges, head);
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
  vyre_spv_scope *scope = open_scope(s, row, VYRE_SPV_SWITCH);
  if (!scope)
    return;
  const uint32_t depth = s->depth - 1;
  const uint32_t inside = s->next_id++;
  const uint32_t operands[2] = {vyre_spv_u32(s, 0), inside};
  selection_merge(s, scope->merge);
  vyre_spv_instruction(s, &s->code, SpvOpSwitch, operands, 2);
  vyre_spv_label(s, inside);
  vyre_spv_region(s, s->first[row]);
  scope = &s->scopes[depth];
  if (!s->dead)
    jump(s, scope, &scope->merge_edges, scope->merge);
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
    jump(s, scope, &scope->merge_edges, scope->merge);
  else
    jump(s, scope, &scope->next_edges, scope->next);
}

/* ---- rows
 * ---------------------------------------------------------------------------------------------------------------------------------
 */

static void
write_line(vyre_spv *s, uint32_t row)
{
  vyre_string file;
  uint32_t line, column;
  if (!vyre_row_line(s->module, (vyre_row){row}, &file, &line, &column)) {
    if (s->line)
      vyre_spv_instruction(s, &s->code, SpvOpNoLine, NULL, 0);
    s->line = 0;
    return;
  }
  if (s->line == line && s->column == column && s->line_file == file)
    return;
  uint32_t operands[3] = {0, line, column};
  for (size_t i = 0; i < s->files.count; i += 2)
    if (s->files.data[i] == file)
      operands[0] = s->files.data[i + 1];
  if (!operands[0]) {
    operands[0] = s->next_id++;
    vyre_spv_push(s, &s->files, file);
    vyre_spv_push(s, &s->files, operands[0]);
    vyre_spv_text(s, &s->strings, SpvOpString, operands, 1, vyre_string_text(s->module, file));
  }
  vyre_spv_instruction(s, &s->code, SpvOpLine, operands, 3);
  s->line = line;
  s->column = column;
  s->line_file = file;
}

static void
write_end(vyre_spv *s, uint32_t row)
{
  /* A trap is an error of the program: it ends.  Where SPIR-V has no return, it is a place never reached. */
  const bool trap = vyre_spv_opcode(s, row) == VYRE_OP_trap;
  vyre_spv_instruction(s, &s->code, trap && s->continuing ? SpvOpUnreachable : SpvOpReturn, NULL, 0);
  s->dead = true;
}

static void
write_row(vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  if (!s->strip && op > VYRE_OP_buffer && op != VYRE_OP_get && op != VYRE_OP_set)
    write_line(s, row);
  switch (op) {
  case VYRE_OP_workgroup:
  case VYRE_OP_var:
  case VYRE_OP_buffer:
    return;
  case VYRE_OP_get:
    s->id[row - s->base] = or_zero(s, s->aux[s->a[row] - s->base], s->current.data[s->aux[s->a[row] - s->base]]);
    return;
  case VYRE_OP_set:
    s->current.data[s->aux[s->a[row] - s->base]] = vyre_spv_value(s, s->b[row]);
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
    write_leave(s, s->a[row]);
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
  default:
    if (op == VYRE_OP_barrier || (op >= VYRE_OP_at && op <= VYRE_OP_atomic_xor))
      vyre_spv_memory_row(s, row);
    else if (!s->id[row - s->base])
      vyre_spv_row(s, row);
    return;
  }
}

void
vyre_spv_region(vyre_spv *s, uint32_t region)
{
  for (uint32_t row = s->first[region]; row && !s->dead && !vyre_spv_failed(s); row = s->next[row]) {
    s->row = row;
    write_row(s, row);
  }
}

/* ---- phis that nothing uses
 * --------------------------------------------------------------------------------------------------------------- */

/* A word of an instruction may be an id or a literal; a literal that looks like a phi's id keeps that phi. */
static void
mark(vyre_spv *s, uint32_t word, uint32_t first_id)
{
  uint32_t *offset = word - first_id < s->marks.count ? &s->marks.data[word - first_id] : NULL;
  if (offset && *offset) {
    vyre_spv_push(s, &s->scratch, *offset);
    *offset = 0;
  }
}

void
vyre_spv_sweep(vyre_spv *s, size_t start, uint32_t first_id)
{
  bool any = false;
  uint32_t *code = s->code.data;
  s->marks.count = s->scratch.count = 0;
  /* `marks`: by id, where the phi stands, until it is found to be used */
  for (uint32_t id = first_id; id < s->next_id; id++)
    vyre_spv_push(s, &s->marks, 0);
  if (vyre_spv_failed(s))
    return;
  for (size_t at = start; at < s->code.count; at += code[at] >> 16) {
    if ((code[at] & 0xffff) != SpvOpPhi)
      continue;
    s->marks.data[code[at + 2] - first_id] = (uint32_t)at;
    any = true;
  }
  for (size_t at = start; any && at < s->code.count; at += code[at] >> 16)
    for (size_t i = 1; (code[at] & 0xffff) != SpvOpPhi && i < code[at] >> 16; i++)
      mark(s, code[at + i], first_id);
  while (s->scratch.count && !vyre_spv_failed(s)) {
    const size_t at = s->scratch.data[--s->scratch.count];
    for (size_t i = 3; i < code[at] >> 16; i += 2)
      mark(s, code[at + i], first_id);
  }
  if (vyre_spv_failed(s) || !any)
    return;
  size_t kept = start;
  for (size_t at = start, count; at < s->code.count; at += count) {
    count = code[at] >> 16;
    if ((code[at] & 0xffff) == SpvOpPhi && s->marks.data[code[at + 2] - first_id])
      continue;
    memmove(code + kept, code + at, count * 4);
    kept += count;
  }
  s->code.count = kept;
}
