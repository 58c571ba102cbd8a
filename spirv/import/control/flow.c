/* Walks the blocks of a function as the structured constructs that their merge instructions declare.
 *
 * The construct stack has the constructs around the current block.  A branch to the merge block, the continue target or another
 * case of one of them ends the region.  It becomes the region's end if that leads there, otherwise a break, continue, leave or
 * fallthrough. An `if` that is left from a nested construct is put into a `block` when the jump is found.  Any other branch
 * continues in the same region, once for each block.  A second such branch to a block is unstructured, and an error.
 *
 * Front ends write `a || b` as a branch on not(a) and a phi of a and b.  So an `if` on a negation with rows in both arms becomes an
 * `if` on the negated value with exchanged arms.  A phi operand that is the condition itself becomes a literal on the condition's
 * edge.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <string.h>

/* ---- regions and constructs ---- */

void
flow_open(import *m, uint32_t region, uint32_t *out_serial)
{
  *out_serial = m->serial;
  if (m->open.count >= IMPORT_MAX_DEPTH)
    import_uncovered(m, "constructs and calls nest more than %u deep", IMPORT_MAX_DEPTH);
  uint32_t *open = list_add(m, &m->open, sizeof(uint32_t), 1);
  if (!open)
    return;
  *open = region;
  m->serial = ++m->serial_last;
  m->region = region;
  vyre_builder_at_end(&m->b, (vyre_row){region});
}

static void
continue_in_last(import *m)
{
  m->region = *AT(uint32_t, m->open, m->open.count - 1);
  vyre_builder_at_end(&m->b, (vyre_row){m->region});
}

void
flow_close(import *m, uint32_t mark, uint32_t serial)
{
  locals_undo(m, mark);
  if (m->open.count > 1)
    m->open.count--;
  m->serial = serial;
  continue_in_last(m);
}

uint32_t
flow_push(import *m, construct_kind kind, uint32_t row)
{
  construct *c = list_add(m, &m->constructs, sizeof(construct), 1);
  if (!c)
    return NONE;
  *c = (construct){
      .kind = (uint8_t)kind,
      .merge = NONE,
      .next = NONE,
      .header = NONE,
      .row = row,
      .depth = m->open.count,
      .mark = m->log.count,
      .leaf_limit = m->locals.count,
      .fell = NONE,
  };
  return m->constructs.count - 1;
}

/* Pops the last construct, whose regions are closed. */
void
flow_pop(import *m)
{
  uint32_t c = m->constructs.count - 1;
  m->open.count = CONSTRUCT(m, c)->depth;
  continue_in_last(m);
  if (CONSTRUCT(m, c)->kind != CONSTRUCT_LOOP)
    locals_join(m, c);
  m->constructs.count--;
}

void
flow_opened(import *m, uint32_t index, uint32_t depth, uint32_t region)
{
  if (!list_add(m, &m->open, sizeof(uint32_t), 1))
    return;
  uint32_t *open = m->open.data;
  memmove(open + depth + 1, open + depth, (m->open.count - 1 - depth) * sizeof(uint32_t));
  open[depth] = region;
  for (uint32_t k = index + 1; k < m->constructs.count; k++)
    CONSTRUCT(m, k)->depth++;
}

/* Puts a block around an existing `if` or loop row. */
static void
wrap(import *m, uint32_t index)
{
  construct *c = CONSTRUCT(m, index);
  if (c->block_row)
    return;
  vyre_builder b = import_builder(m);
  vyre_builder_before(&b, (vyre_row){c->row});
  vyre_row made = vyre_build_block(&b);
  vyre_row region = vyre_region_of(m->module, made, 0);
  vyre_row_unlink(m->module, (vyre_row){c->row});
  vyre_row_insert(m->module, (vyre_row){c->row}, region, VYRE_NONE);
  c->block_row = made.id;
  flow_opened(m, index, c->depth, region.id);
}

void
flow_hints(import *m, uint32_t merge, uint32_t row)
{
  const uint32_t *words = m->words + merge;
  const bool loop = (words[0] & 0xffffu) == SpvOpLoopMerge;
  const uint32_t at = m->at, control = loop ? 3 : 2, hints = words[control];
  const uint32_t unrolled = VYRE_HINT_UNROLL | VYRE_HINT_PEEL_COUNT | VYRE_HINT_PARTIAL_COUNT;
  uint32_t count = 0, multiple = 0;
  if (!hints)
    return;
  for (uint32_t left = loop ? hints & VYRE_HINT_LITERALS : 0; left; left &= left - 1) {
    count++;
    if (left & -left & VYRE_HINT_ITERATION_MULTIPLE)
      multiple = control + count;
  }
  m->at = merge;
  if (hints >> (loop ? VYRE_HINT_BITS : 2u))
    import_uncovered(m, "control 0x%x has bits that are not supported", hints);
  else if (loop && (hints & VYRE_HINT_DONT_UNROLL) && (hints & unrolled))
    import_fail(m, "loop control 0x%x both requests and forbids unrolling", hints);
  else if (import_needs(m, control + 1 + count) && multiple && words[multiple] == 0)
    import_fail(m, "an iteration multiple of 0");
  else if (!failed(m))
    vyre_row_set_hints(m->module, (vyre_row){row}, hints, words + control + 1);
  m->at = at;
}

void
flow_jump_out(import *m, uint32_t index)
{
  const construct *c = CONSTRUCT(m, index);
  if (c->kind == CONSTRUCT_IF || c->kind == CONSTRUCT_LOOP) {
    wrap(m, index);
    c = CONSTRUCT(m, index);
    vyre_build_jump(&m->b, VYRE_OP_leave, (vyre_row){c->block_row});
  } else {
    vyre_build_jump(&m->b, VYRE_OP_leave, (vyre_row){c->row});
    CONSTRUCT(m, index)->leaves++;
  }
}

static bool
not_structured(import *m, uint32_t target)
{
  return import_uncovered(m,
                          "the branch to label %u does not follow the rules of structured control flow\n"
                          "Fix: check the module with spirv-val",
                          AT(block, m->blocks, target)->label);
}

/* Returns whether a jump to the end of construct `index` leaves no continuing region. */
static bool
may_leave(const import *m, uint32_t index)
{
  for (uint32_t k = index + 1; k < m->constructs.count; k++)
    if (CONSTRUCT(m, k)->kind == CONSTRUCT_LOOP && CONSTRUCT(m, k)->phase == PHASE_CONTINUING)
      return false;
  return true;
}

static bool
is_innermost_loop(const import *m, uint32_t index)
{
  for (uint32_t k = index + 1; k < m->constructs.count; k++)
    if (CONSTRUCT(m, k)->kind == CONSTRUCT_LOOP)
      return false;
  return true;
}

/* ---- branches ---- */

static uint32_t
goto_continue(import *m, uint32_t index, uint32_t target)
{
  construct *c = CONSTRUCT(m, index);
  if (c->phase == PHASE_BODY && target != c->header && m->region == c->region && AT(block, m->blocks, target)->preds == 1) {
    c->phase = PHASE_INLINE; /* the only edge to it, so it continues the body */
    return target;
  }
  c->continued = true;
  locals_edge(m, index, NULL);
  if (m->region == c->region)
    return NONE;
  if (c->phase == PHASE_CONTINUING || !is_innermost_loop(m, index))
    not_structured(m, target);
  else
    vyre_build_jump(&m->b, VYRE_OP_continue, VYRE_NONE);
  return NONE;
}

static uint32_t
goto_break(import *m, uint32_t index, uint32_t target)
{
  construct *c = CONSTRUCT(m, index);
  c->edges++;
  if (c->phase == PHASE_CONTINUING || !may_leave(m, index)) {
    not_structured(m, target);
    return NONE;
  }
  locals_edge(m, index, NULL);
  if (is_innermost_loop(m, index))
    vyre_build_jump(&m->b, VYRE_OP_break, VYRE_NONE);
  else
    flow_jump_out(m, index);
  return NONE;
}

static uint32_t
goto_merge(import *m, uint32_t index, uint32_t target)
{
  if (!may_leave(m, index)) {
    not_structured(m, target);
    return NONE;
  }
  uint32_t l = CONSTRUCT(m, index)->joined;
  CONSTRUCT(m, index)->edges++;
  locals_edge(m, index, &l);
  CONSTRUCT(m, index)->joined = l;
  if (m->region != CONSTRUCT(m, index)->region || CONSTRUCT(m, index)->case_block)
    flow_jump_out(m, index);
  return NONE;
}

static bool
continues(const construct *c, uint32_t target)
{
  return c->phase == PHASE_BODY ? target == c->next : target == c->header;
}

uint32_t
flow_goto(import *m, uint32_t target)
{
  const block *to = AT(block, m->blocks, target);
  if (!to->is_target && !to->is_loop && !to->is_shared) /* no construct ends or continues there */
    return target;
  for (uint32_t k = m->constructs.count; k > m->instance->constructs; k--) {
    const construct *c = CONSTRUCT(m, k - 1);
    if (c->kind == CONSTRUCT_LOOP && continues(c, target))
      return goto_continue(m, k - 1, target);
    if (c->merge == target)
      return c->kind == CONSTRUCT_LOOP ? goto_break(m, k - 1, target) : goto_merge(m, k - 1, target);
    if (c->kind == CONSTRUCT_SWITCH && flow_falls(m, k - 1, target))
      return NONE;
  }
  return target;
}

/* Returns whether an edge to `target` ends the region. */
static bool
is_exit(const import *m, uint32_t target, bool *out_falls)
{
  *out_falls = false;
  for (uint32_t k = m->constructs.count; k > m->instance->constructs; k--) {
    const construct *c = CONSTRUCT(m, k - 1);
    if (c->kind == CONSTRUCT_LOOP && continues(c, target)) {
      *out_falls = m->region == c->region;
      return true;
    }
    if (c->merge == target) {
      *out_falls = c->kind != CONSTRUCT_LOOP && m->region == c->region;
      return true;
    }
    if (c->kind == CONSTRUCT_SWITCH)
      for (uint32_t i = 0; i < c->case_count; i++)
        if (i != c->next && AT(switch_case, m->cases, c->cases + i)->block == target) {
          *out_falls = m->region == c->region;
          return true;
        }
  }
  return false;
}

/* ---- phis ---- */

uint32_t
flow_next_phi(const import *m, uint32_t at)
{
  while ((m->words[at] & 0xffffu) != SpvOpPhi)
    at += m->words[at] >> 16;
  return at;
}

/* Returns a literal for the condition that decides the current edge, or for its negation.  Returns other rows unchanged. */
static uint32_t
resolve_decided(import *m, uint32_t row)
{
  const bool negates = VYRE_ROW_OP(m->view->op[row]) == VYRE_OP_not && m->view->a[row] == m->decides;
  if (m->decides == 0 || (row != m->decides && !negates))
    return row;
  return vyre_build_const(&m->b, VYRE_TYPE(VYRE_BOOL, 1), m->decides_true != negates).id;
}

void
flow_phi_stores(import *m, uint32_t target)
{
  const block *to = AT(block, m->blocks, target);
  uint32_t at = to->start, label = AT(block, m->blocks, m->from)->label, jump = m->at;
  for (uint32_t k = 0; k < to->phis && !failed(m); k++) {
    m->at = at = flow_next_phi(m, at);
    const uint32_t *words = m->words + at;
    uint32_t count = words[0] >> 16, i = 3;
    at += count;
    while (i + 1 < count && words[i + 1] != label)
      i += 2;
    spv_value v;
    const id_info *value = i + 1 < count ? import_id(m, words[i]) : NULL;
    if (i + 1 >= count) {
      import_fail(m, "no value for the edge from label %u", label);
    } else if (value && value->type == words[1] && import_is_in_memory(value->t)) {
      const uint32_t from = import_memory_row(m, words[i]);
      import_copy_rows(m, import_global_row(m, m->ids[words[2]].root), from, 0, 0);
    } else if (import_value(m, words[i], &v)) {
      if (v.type != words[1])
        import_fail(m, "value %u does not have the type of the result", words[i]);
      for (uint32_t j = 0; j < v.count && !failed(m); j++)
        locals_write(m, m->ids[words[2]].root + j, resolve_decided(m, import_leaf(m, words[i], j)));
    }
  }
  m->at = jump;
}

static void
read_phis(import *m, const block *b)
{
  uint32_t at = b->start;
  for (uint32_t k = 0; k < b->phis && !failed(m); k++) {
    m->at = at = flow_next_phi(m, at);
    const uint32_t *words = m->words + at;
    const spv_type *t = import_type(m, words[1]);
    if (t && import_is_in_memory(t)) {
      (void)import_set_memory(m, words[2], import_global_row(m, m->ids[words[2]].root), 0, 0);
      at += words[0] >> 16;
      continue;
    }
    t = t ? import_value_type(m, words[1]) : NULL;
    if (!t)
      return;
    uint32_t first = m->ids[words[2]].root, count = t->leaves;
    if (t->form == FORM_VALUE) {
      import_set(m, words[2], locals_read(m, first));
    } else {
      uint32_t *leaves = import_set_leaves(m, words[2], count);
      for (uint32_t i = 0; leaves && i < count; i++)
        leaves[i] = locals_read(m, first + i);
    }
    at += words[0] >> 16;
  }
}

uint32_t
flow_edge(import *m, uint32_t target)
{
  if (AT(block, m->blocks, target)->phis)
    flow_phi_stores(m, target);
  return failed(m) ? NONE : flow_goto(m, target);
}

/* ---- conditions ---- */

static uint32_t
condition(import *m, uint32_t id)
{
  uint32_t row = import_row(m, id);
  if (row && import_row_type(m, row) != VYRE_TYPE(VYRE_BOOL, 1)) {
    import_fail(m, "condition %u is not a bool", id);
    return 0;
  }
  return row;
}

/* Walks an arm of the `if` row: the edge to `target`, and the blocks after it. */
static void
walk_arm(import *m, uint32_t row, uint32_t k, uint32_t target, uint32_t construct_index)
{
  uint32_t serial, mark = m->log.count, from = m->from, at = m->at;
  uint32_t region = vyre_region_of(m->module, (vyre_row){row}, k).id;
  if (construct_index != NONE)
    CONSTRUCT(m, construct_index)->region = region;
  flow_open(m, region, &serial);
  m->decides = m->view->a[row];
  m->decides_true = k == VYRE_THEN;
  uint32_t next = failed(m) ? NONE : flow_edge(m, target);
  m->decides = 0;
  if (next != NONE)
    flow_walk(m, next, false);
  flow_close(m, mark, serial);
  m->from = from;
  m->at = at;
}

/* Walks both arms; `yes_region` is the region of the first. */
static uint32_t
selection(import *m, uint32_t row, uint32_t yes_region, uint32_t yes, uint32_t no, uint32_t merge)
{
  uint32_t c = flow_push(m, CONSTRUCT_IF, row);
  if (c == NONE)
    return NONE;
  CONSTRUCT(m, c)->merge = merge;
  walk_arm(m, row, yes_region, yes, c);
  if (!failed(m) && (no != yes || no == merge))
    walk_arm(m, row, 1 - yes_region, no, c);
  uint32_t edges = CONSTRUCT(m, c)->edges;
  flow_pop(m);
  return failed(m) || edges == 0 ? NONE : flow_goto(m, merge);
}

/* Walks a selection whose arms meet at `shared`, from where it continues to the merge block. */
static uint32_t
shared_selection(import *m, uint32_t condition_id, uint32_t yes, uint32_t no, uint32_t shared, const block *b)
{
  const uint32_t merge = import_target(m, m->words[b->merge + 1]);
  uint32_t serial;
  vyre_builder saved = m->b;
  const uint32_t block_row = vyre_build_block(&m->b).id;
  m->b = saved;
  const uint32_t c = flow_push(m, CONSTRUCT_BLOCK, block_row);
  if (c == NONE)
    return NONE;
  AT(block, m->blocks, shared)->is_shared = true;
  CONSTRUCT(m, c)->merge = merge;
  CONSTRUCT(m, c)->region = vyre_region_of(m->module, (vyre_row){block_row}, 0).id;
  flow_open(m, CONSTRUCT(m, c)->region, &serial);
  const uint32_t cond = condition(m, condition_id), row = failed(m) ? 0 : vyre_build_if(&m->b, (vyre_row){cond}).id;
  if (row)
    flow_hints(m, b->merge, row);
  const uint32_t next = row ? selection(m, row, VYRE_THEN, yes, no, shared) : NONE;
  if (next != NONE)
    flow_walk(m, next, false);
  const uint32_t edges = CONSTRUCT(m, c)->edges;
  flow_close(m, CONSTRUCT(m, c)->mark, serial);
  flow_pop(m);
  return failed(m) || edges == 0 ? NONE : flow_goto(m, merge);
}

/* Ends a continue construct: branches to the header or leaves the loop. */
static bool
ends_loop(import *m, uint32_t cond, uint32_t yes, uint32_t no)
{
  if (m->constructs.count <= m->instance->constructs)
    return false;
  uint32_t index = m->constructs.count - 1;
  const construct *c = CONSTRUCT(m, index);
  if (c->kind != CONSTRUCT_LOOP || c->phase != PHASE_CONTINUING || m->region != c->region)
    return false;
  if (!(yes == c->header && no == c->merge) && !(yes == c->merge && no == c->header))
    return false;
  uint32_t merge = c->merge;
  flow_phi_stores(m, yes);
  flow_phi_stores(m, no);
  CONSTRUCT(m, index)->edges++;
  locals_edge(m, index, NULL);
  if (yes != merge)
    cond = vyre_build_unary(&m->b, VYRE_OP_not, (vyre_row){cond}).id;
  vyre_build_jump(&m->b, VYRE_OP_breakif, (vyre_row){cond});
  return true;
}

static uint32_t
branch_conditional(import *m, const block *b, const uint32_t *words)
{
  uint32_t yes = import_target(m, words[2]), no = import_target(m, words[3]);
  uint32_t cond = condition(m, words[1]);
  if (!cond || failed(m))
    return NONE;
  bool selects = b->merge && !b->is_loop;
  if (yes == no && !selects)
    return flow_edge(m, yes);
  if (ends_loop(m, cond, yes, no))
    return NONE;
  uint32_t merge = selects ? import_target(m, m->words[b->merge + 1]) : NONE;
  const uint32_t shared = selects ? flow_shared(m, yes, no, merge) : NONE;
  if (shared != NONE)
    return shared_selection(m, words[1], yes, no, shared, b);
  if (yes == no && yes != merge) /* both edges lead to one block */
    cond = vyre_build_const(&m->b, VYRE_TYPE(VYRE_BOOL, 1), 1).id;
  const bool has_arms = selects && (no != merge || AT(block, m->blocks, merge)->phis);
  const bool negated = has_arms && VYRE_ROW_OP(m->view->op[cond]) == VYRE_OP_not;
  if (negated)
    cond = import_visible(m, m->view->a[cond]);
  uint32_t row = vyre_build_if(&m->b, (vyre_row){cond}).id; /* the arms set the builder's position */
  if (selects) {
    flow_hints(m, b->merge, row);
    return selection(m, row, negated ? VYRE_ELSE : VYRE_THEN, yes, no, merge);
  }
  bool yes_falls, no_falls;
  bool yes_exits = is_exit(m, yes, &yes_falls), no_exits = is_exit(m, no, &no_falls);
  if (yes_exits && !(no_exits && yes_falls)) {
    walk_arm(m, row, 0, yes, NONE);
    return failed(m) ? NONE : flow_edge(m, no);
  }
  if (no_exits) {
    walk_arm(m, row, 1, no, NONE);
    return failed(m) ? NONE : flow_edge(m, yes);
  }
  walk_arm(m, row, 0, yes, NONE);
  if (!failed(m))
    walk_arm(m, row, 1, no, NONE);
  return NONE;
}

/* ---- blocks ---- */

static uint32_t
terminate(import *m, const block *b)
{
  m->at = b->end;
  const uint32_t *words = m->words + b->end;
  switch (words[0] & 0xffffu) {
  case SpvOpBranch:
    return flow_edge(m, import_target(m, words[1]));
  case SpvOpBranchConditional:
    return branch_conditional(m, b, words);
  case SpvOpSwitch:
    return flow_switch(m, m->from);
  case SpvOpReturn:
    import_return(m, 0, true);
    return NONE;
  case SpvOpReturnValue:
    import_return(m, words[1], true);
    return NONE;
  default:
    import_return(m, 0, false);
    return NONE; /* OpUnreachable: undefined, so any end is correct */
  }
}

void
flow_walk(import *m, uint32_t at, bool header)
{
  while (at != NONE && !failed(m)) {
    block *b = AT(block, m->blocks, at);
    if (!header) {
      if (b->visited == m->instance->epoch) {
        not_structured(m, at);
        return;
      }
      b->visited = m->instance->epoch;
      if (b->is_loop) {
        at = flow_loop(m, at);
        continue;
      }
    }
    header = false;
    m->from = at;
    m->stored = m->labelled = m->view->rows;
    if (b->phis)
      read_phis(m, b);
    uint32_t end = b->merge ? b->merge : b->end;
    if (failed(m) || !import_instructions(m, b->start, end))
      return;
    m->from = at;
    at = failed(m) ? NONE : terminate(m, b);
  }
}
