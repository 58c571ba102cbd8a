/* OpSwitch: one case row for each target, ordered so that a case falls through only to the next one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns the case of the block, which is made if necessary, or NONE on failure. */
static uint32_t
case_of(import *m, uint32_t c, uint32_t target, uint32_t stamp)
{
  block *b = AT(block, m->blocks, target);
  if (b->stamp == stamp)
    return b->case_index;
  switch_case *added = list_add(m, &m->cases, sizeof(switch_case), 1);
  if (!added)
    return NONE;
  *added = (switch_case){.block = target};
  b->stamp = stamp;
  b->case_index = CONSTRUCT(m, c)->case_count++;
  return b->case_index;
}

static bool
add_label(import *m, switch_case *k, uint64_t literal)
{
  if (m->case_labels.count == 0 && !list_add(m, &m->case_labels, sizeof(case_label), 1))
    return false;
  case_label *l = list_add(m, &m->case_labels, sizeof(case_label), 1);
  if (!l)
    return false;
  *l = (case_label){.literal = literal, .next = k->labels};
  k->labels = m->case_labels.count - 1;
  k->label_count++;
  return true;
}

static int
compare_literals(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Checks that no literal occurs twice, because SPIR-V does not define which label is selected. */
static bool
has_literals_once(import *m, const uint32_t *words, uint32_t count, vyre_kind kind)
{
  const uint32_t literal_words = import_literal_words(kind), literals = (count - 3) / (1 + literal_words);
  uint64_t *sorted = import_memory_of(m, (literals + 1) * sizeof(*sorted));
  for (uint32_t k = 0; sorted && k < literals; k++)
    sorted[k] = import_literal_bits(words + 3 + k * (1 + literal_words), kind);
  if (sorted)
    qsort(sorted, literals, sizeof(*sorted), compare_literals);
  for (uint32_t k = 1; sorted && k < literals; k++)
    if (sorted[k] == sorted[k - 1])
      return import_uncovered(m, "the literal %" PRIu64 " occurs twice", sorted[k]);
  return sorted != NULL;
}

/* Collects the cases.  A literal whose target is the merge block needs a case only if the default has another target. */
static bool
collect(import *m, uint32_t c, const uint32_t *words, uint32_t count, vyre_kind kind, uint32_t stamp)
{
  uint32_t other = import_target(m, words[2]), merge = CONSTRUCT(m, c)->merge;
  uint32_t literal_words = import_literal_words(kind);
  for (uint32_t k = 3; k + literal_words < count; k += 1 + literal_words) {
    uint32_t target = import_target(m, words[k + literal_words]);
    if (target == merge && other == merge)
      continue;
    uint32_t index = case_of(m, c, target, stamp);
    if (index == NONE ||
        !add_label(m, AT(switch_case, m->cases, CONSTRUCT(m, c)->cases + index), import_literal_bits(words + k, kind)))
      return false;
  }
  if (other == merge) {
    CONSTRUCT(m, c)->edges++; /* no match: the edge of the switch row itself */
    return true;
  }
  uint32_t index = case_of(m, c, other, stamp);
  if (index == NONE)
    return false;
  AT(switch_case, m->cases, CONSTRUCT(m, c)->cases + index)->is_default = true;
  return true;
}

/* Returns the case that a default without literals falls through to, if any.  Walks from its block, up to cases and the ends of
 * constructs. */
static uint32_t
default_falls_to(import *m, uint32_t c, uint32_t from)
{
  const construct *o = CONSTRUCT(m, c);
  uint32_t first = m->stack.count, stamp = ++m->stamp, found = NONE;
  for (uint32_t k = m->instance->constructs; k < m->constructs.count; k++) {
    const construct *around = CONSTRUCT(m, k);
    uint32_t ends[3] = {around->merge, around->kind == CONSTRUCT_LOOP ? around->next : NONE, around->header};
    for (uint32_t i = 0; i < 3; i++)
      if (ends[i] != NONE)
        AT(block, m->blocks, ends[i])->stamp = stamp;
  }
  uint32_t *start = list_add(m, &m->stack, sizeof(uint32_t), 1);
  if (!start)
    return NONE;
  *start = from;
  AT(block, m->blocks, from)->stamp = stamp;
  for (uint32_t k = first; k < m->stack.count && found == NONE; k++) {
    const block *b = AT(block, m->blocks, *AT(uint32_t, m->stack, k));
    for (uint32_t i = 0; i < b->successor_count && found == NONE; i++) {
      uint32_t to = *AT(uint32_t, m->successors, b->successors + i);
      block *next = AT(block, m->blocks, to);
      if (next->stamp == stamp)
        continue;
      next->stamp = stamp;
      if (next->case_index < o->case_count && AT(switch_case, m->cases, o->cases + next->case_index)->block == to) {
        found = next->case_index;
        break;
      }
      uint32_t *added = list_add(m, &m->stack, sizeof(uint32_t), 1);
      if (!added)
        return NONE;
      *added = to;
    }
  }
  m->stack.count = first;
  return found;
}

/* Wraps the current case for a jump from a nested construct to the next case: puts the rows so far into a block, which the jump
 * leaves.  The case falls through after the block. */
static void
wrap_case(import *m, uint32_t index)
{
  construct *c = CONSTRUCT(m, index);
  if (c->case_block)
    return;
  uint32_t region = c->region, next;
  vyre_builder b = m->b;
  vyre_builder_before(&b, (vyre_row){m->view->first[region]});
  vyre_row made = vyre_build_block(&b), inside = vyre_region_of(m->module, made, 0);
  for (uint32_t row = m->view->next[made.id]; row; row = next) {
    next = m->view->next[row];
    vyre_row_unlink(m->module, (vyre_row){row});
    vyre_row_insert(m->module, (vyre_row){row}, inside, VYRE_NONE);
  }
  c->case_block = made.id;
  c->region = inside.id;
  flow_opened(m, index, c->depth + 1, inside.id);
}

bool
flow_falls(import *m, uint32_t index, uint32_t target)
{
  construct *c = CONSTRUCT(m, index);
  uint32_t to = AT(block, m->blocks, target)->case_index;
  if (to >= c->case_count || to == c->next || AT(switch_case, m->cases, c->cases + to)->block != target)
    return false;
  if (AT(switch_case, m->cases, c->cases + to)->done || (c->fell != NONE && c->fell != to))
    return !import_uncovered(m, "a case falls through to one that does not follow it\nFix: check the module with spirv-val");
  c->fell = to;
  uint32_t l = c->fell_leaves;
  locals_edge(m, index, &l);
  CONSTRUCT(m, index)->fell_leaves = l;
  if (m->region != CONSTRUCT(m, index)->region) {
    wrap_case(m, index);
    vyre_build_jump(&m->b, VYRE_OP_leave, (vyre_row){CONSTRUCT(m, index)->case_block});
  } else if (!CONSTRUCT(m, index)->case_block) {
    vyre_build_jump(&m->b, VYRE_OP_fallthrough, VYRE_NONE);
  }
  return true;
}

static uint32_t
labels_row(import *m, const switch_case *k, vyre_type type)
{
  if (k->label_count == 0)
    return 0;
  uint32_t first = m->stack.count, label = k->labels;
  if (!list_add(m, &m->stack, sizeof(uint32_t), k->label_count))
    return 0;
  for (uint32_t i = k->label_count; i > 0; i--, label = AT(case_label, m->case_labels, label)->next)
    *AT(uint32_t, m->stack, first + i - 1) = vyre_build_const(&m->b, type, AT(case_label, m->case_labels, label)->literal).id;
  uint32_t row = *AT(uint32_t, m->stack, first);
  if (k->label_count > 1) {
    static_assert(sizeof(vyre_row) == sizeof(uint32_t), "rows are passed as ids");
    row = vyre_build_tuple(&m->b, (const vyre_row *)AT(uint32_t, m->stack, first), k->label_count).id;
  }
  m->stack.count = first;
  return row;
}

static void
walk_case(import *m, uint32_t c, uint32_t row, uint32_t index, vyre_type type)
{
  switch_case *k = AT(switch_case, m->cases, CONSTRUCT(m, c)->cases + index);
  k->done = true;
  switch_case made = *k;
  uint32_t mark = m->log.count, from = m->from, at = m->at, serial;
  bool fallen = CONSTRUCT(m, c)->fell == index;
  vyre_builder before = m->b;
  vyre_builder_before(&before, (vyre_row){row});
  vyre_builder saved = m->b;
  m->b = before;
  uint32_t labels = labels_row(m, &made, type);
  m->b = saved;
  uint32_t region = vyre_build_case(&m->b, (vyre_row){row}, (vyre_row){labels}, made.is_default).id;
  m->b = saved;
  CONSTRUCT(m, c)->region = region;
  CONSTRUCT(m, c)->next = index;
  CONSTRUCT(m, c)->case_block = 0;
  flow_open(m, region, &serial);
  if (fallen)
    locals_fall(m, c);
  CONSTRUCT(m, c)->fell = NONE;
  CONSTRUCT(m, c)->fell_leaves = 0;
  if (made.block == CONSTRUCT(m, c)->merge)
    (void)flow_goto(m, made.block);
  else
    flow_walk(m, made.block, false);
  if (CONSTRUCT(m, c)->case_block) {
    m->open.count = CONSTRUCT(m, c)->depth + 1;
    vyre_builder_at_end(&m->b, (vyre_row){region});
    vyre_build_jump(&m->b, VYRE_OP_fallthrough, VYRE_NONE);
  }
  flow_close(m, mark, serial);
  m->from = from;
  m->at = at;
}

/* Walks the cases in order, except that a case which the last one falls through to comes next. */
static void
walk_cases(import *m, uint32_t c, uint32_t row, vyre_type type)
{
  uint32_t count = CONSTRUCT(m, c)->case_count, other = NONE, before = NONE;
  const switch_case *last = count ? AT(switch_case, m->cases, CONSTRUCT(m, c)->cases + count - 1) : NULL;
  if (last && last->is_default && last->label_count == 0 && last->block != CONSTRUCT(m, c)->merge) {
    before = default_falls_to(m, c, last->block);
    other = count - 1;
  }
  for (uint32_t k = 0; k < count && !failed(m);) {
    uint32_t fell = CONSTRUCT(m, c)->fell;
    if (fell != NONE) {
      walk_case(m, c, row, fell, type);
    } else if (AT(switch_case, m->cases, CONSTRUCT(m, c)->cases + k)->done) {
      k++;
    } else if (k == before && !AT(switch_case, m->cases, CONSTRUCT(m, c)->cases + other)->done) {
      walk_case(m, c, row, other, type);
    } else {
      walk_case(m, c, row, k, type);
    }
  }
}

uint32_t
flow_switch(import *m, uint32_t index)
{
  const block *b = AT(block, m->blocks, index);
  const uint32_t *words = m->words + m->at;
  uint32_t count = words[0] >> 16, at = m->at;
  if (!b->merge || b->is_loop) {
    import_uncovered(m, "no OpSelectionMerge precedes it\nFix: check the module with spirv-val");
    return NONE;
  }
  uint32_t selector = import_row(m, words[1]), merge = import_target(m, m->words[b->merge + 1]);
  vyre_type type = selector ? import_row_type(m, selector) : 0;
  vyre_kind kind = VYRE_TYPE_KIND(type);
  if (failed(m) || !vyre_kind_is_int(kind) || VYRE_TYPE_LANES(type) != 1) {
    import_fail(m, "selector %u is not an integer", words[1]);
    return NONE;
  }
  /* Phis of the targets have the same operand on each edge from this block. */
  uint32_t stamp = ++m->stamp;
  for (uint32_t k = 2; k < count && !failed(m); k += 1 + import_literal_words(kind)) {
    block *to = AT(block, m->blocks, import_target(m, words[k]));
    if (to->stamp == stamp)
      continue;
    to->stamp = stamp;
    flow_phi_stores(m, import_target(m, words[k]));
  }
  vyre_builder saved = m->b;
  uint32_t row = vyre_build_switch(&m->b, (vyre_row){selector}).id;
  flow_hints(m, b->merge, row);
  m->b = saved;
  uint32_t c = flow_push(m, CONSTRUCT_SWITCH, row);
  if (c == NONE || failed(m))
    return NONE;
  uint32_t cases = m->cases.count, labels = m->case_labels.count;
  CONSTRUCT(m, c)->merge = merge;
  CONSTRUCT(m, c)->cases = cases;
  stamp = ++m->stamp;
  if (has_literals_once(m, words, count, kind) && collect(m, c, words, count, kind, stamp))
    walk_cases(m, c, row, type);
  m->at = at;
  m->cases.count = cases;
  m->case_labels.count = labels ? labels : m->case_labels.count;
  const uint32_t edges = CONSTRUCT(m, c)->edges, leaves = CONSTRUCT(m, c)->leaves;
  flow_pop(m);
  const uint32_t only = m->view->first[row];
  if (only && only == m->view->last[row] && (m->view->imm[only] & VYRE_CASE_DEFAULT) && !failed(m))
    import_nest_returns(m, row, leaves);
  return failed(m) || edges == 0 ? NONE : flow_goto(m, merge);
}
