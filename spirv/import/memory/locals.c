/* Function variables as values.
 *
 * Each scalar or vector of a variable with only constant indices is a leaf, and so is each OpPhi: the edges into its block store to
 * it, and the block reads it.  A leaf has a current row while its value is known.  It is written to a `var` only where control flow
 * merges:
 *
 *  - if a construct changes the leaf on some edge to its end, each such edge sets the var, and a `set` before the construct serves
 * the other edges.  After the construct, the value is in the var;
 *  - if a loop may store to the leaf (flow_loop_writes), a `set` precedes the loop; its body and its continuing region begin with
 * the value in the var.
 *
 * A variable of a function that is called in a loop is unset at each call.  Its value is then the value of a var that is never
 * set, so that the loop does not carry the leaf's own var.
 *
 * Changes are logged.  Each region begins with the values from before its construct, and undoing a region costs time linear in its
 * changes.
 *
 * All gets must be known to decide which leaves have a var.  So at the end, sets of other leaves are removed, and operands are
 * filled in.
 *
 * SPIR-V only requires that definitions dominate uses.  A value that is used after its region has ended escapes: it is set just
 * after its row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_malloc(size)       import_memory_of(m, size)
#define uthash_free(memory, size) /* freed with the import's memory */
#include <uthash.h>

struct escape {
  UT_hash_handle hh;
  uint32_t row, var, get;
};

static leaf *
leaf_at(import *m, uint32_t index)
{
  return AT(leaf, m->locals, index);
}

/* ---- escapes ---- */

/* Returns whether the row's region is open.  Inner regions have greater indices in `open`, and most rows are in one of the last. */
static bool
is_region_open(const import *m, uint32_t row)
{
  const uint32_t parent = m->view->parent[row];
  const uint32_t *open = m->open.data;
  for (uint32_t k = m->open.count; k > 0; k--)
    if (open[k - 1] == parent)
      return true;
  return false;
}

/* Returns the opaque type of a value.  A `get` has no var yet, so its leaf has the type.  Rows of `got` are in ascending order. */
static vyre_type_id
opaque_type(import *m, uint32_t row)
{
  if (VYRE_ROW_OP(m->view->op[row]) != VYRE_OP_get || m->view->a[row])
    return vyre_row_type_id(m->module, (vyre_row){row});
  uint32_t from = 0, to = m->got.count;
  while (to - from > 1) {
    const uint32_t middle = from + (to - from) / 2;
    if (AT(set_row, m->got, middle)->row <= row)
      from = middle;
    else
      to = middle;
  }
  return import_make_type(m, leaf_at(m, AT(set_row, m->got, from)->leaf)->opaque, 0, false);
}

static uint32_t
escape_region(import *m, uint32_t row)
{
  vyre_type type = VYRE_ROW_TYPE(m->view->op[row]);
  vyre_kind kind = VYRE_TYPE_KIND(type);
  if (kind == VYRE_TUPLE || kind == VYRE_PATH || kind == VYRE_VOID) {
    import_uncovered(m, "a value is used where it is not visible");
    return 0;
  }
  struct escape *e;
  HASH_FIND(hh, m->escapes, &row, sizeof(row), e);
  if (!e) {
    const vyre_type_id opaque = kind == VYRE_OPAQUE ? opaque_type(m, row) : 0;
    uint32_t var = (opaque ? vyre_build_opaque_var(&m->b, opaque) : vyre_build_unset_var(&m->b, type)).id;
    vyre_builder b = import_builder(m);
    uint32_t next = m->view->next[row];
    if (next)
      vyre_builder_before(&b, (vyre_row){next});
    else
      vyre_builder_at_end(&b, (vyre_row){m->view->parent[row]});
    vyre_build_set(&b, (vyre_row){var}, (vyre_row){row});
    e = import_memory_of(m, sizeof(*e));
    if (!e)
      return 0;
    *e = (struct escape){.row = row, .var = var};
    HASH_ADD(hh, m->escapes, row, sizeof(row), e);
  }
  if (e->get == 0 || !is_region_open(m, e->get))
    e->get = vyre_build_get(&m->b, (vyre_row){e->var}).id;
  return e->get;
}

bool
import_is_visible(const import *m, uint32_t row)
{
  return is_region_open(m, row);
}

uint32_t
import_visible_from(import *m, uint32_t row)
{
  if (row == 0 || is_region_open(m, row))
    return row;
  return escape_region(m, row);
}

/* ---- leaves ---- */

uint32_t
locals_add(import *m, uint32_t type_id, uint32_t name)
{
  const spv_type *t = import_value_type(m, type_id);
  if (!t)
    return NONE;
  uint32_t first = m->locals.count, count = t->leaves;
  if (first > m->most_words) {
    import_too_many_leaves(m);
    return NONE;
  }
  leaf *leaves = count ? list_add(m, &m->locals, sizeof(leaf), count) : NULL;
  if (count && !leaves)
    return NONE;
  for (uint32_t k = 0; k < count; k++)
    leaves[k] = (leaf){.type = t->form == FORM_VALUE ? t->value : import_leaf_type(m, type_id, k), .name = name};
  for (uint32_t k = 0; m->has_opaque && k < count; k++)
    leaves[k].opaque = import_leaf_id(m, type_id, k);
  return first;
}

void
locals_unset(import *m, uint32_t first)
{
  for (uint32_t k = first; k < m->locals.count; k++)
    if (vyre_kind_is_scalar(VYRE_TYPE_KIND(leaf_at(m, k)->type))) {
      leaf_at(m, k)->current = LEAF_UNSET;
      leaf_at(m, k)->dirty = true;
    }
}

/* Returns a row with an unset value of the type.  A vector is a join, whose lanes can be set without other rows. */
static uint32_t
unset_value(import *m, vyre_type type)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  uint32_t *const scalar = &m->unset[VYRE_TYPE_KIND(type)];
  vyre_builder b = import_builder_at(m, m->first_body);
  if (*scalar == 0)
    *scalar = vyre_build_get(&b, vyre_build_unset_var(&m->b, VYRE_TYPE(VYRE_TYPE_KIND(type), 1))).id;
  const vyre_row one = {*scalar};
  const vyre_row parts[4] = {one, one, one, one};
  const vyre_row pair = lanes > 1 ? vyre_build_join(&b, parts, 2) : one;
  const vyre_row more[3] = {pair, one, one};
  return lanes > 2 ? vyre_build_join(&b, more, lanes - 1).id : pair.id;
}

uint32_t
locals_current(import *m, uint32_t index)
{
  const leaf *l = leaf_at(m, index);
  return l->current == LEAF_UNSET ? unset_value(m, l->type) : l->current;
}

/* Changes the leaf's value and logs the change.  `store`: constructs must join it. */
static void
change_leaf(import *m, uint32_t index, uint32_t row, bool dirty, bool store)
{
  leaf *l = leaf_at(m, index);
  if (!store || l->logged != m->serial) {
    change *c = list_add(m, &m->log, sizeof(change), 1);
    if (!c)
      return;
    *c = (change){index, l->current, l->logged, l->dirty, store};
    if (store)
      l->logged = m->serial;
  }
  l->current = row;
  l->dirty = dirty;
}

void
locals_undo(import *m, uint32_t mark)
{
  while (m->log.count > mark) {
    const change *c = AT(change, m->log, --m->log.count);
    leaf *l = leaf_at(m, c->leaf);
    l->current = c->current;
    l->logged = c->logged;
    l->dirty = c->dirty;
  }
}

/* Adds the leaf to those that may have a var.  Vars are made at the end, when all gets are known. */
static void
request_var(import *m, uint32_t index)
{
  leaf *l = leaf_at(m, index);
  if (l->wanted)
    return;
  uint32_t *wanted = list_add(m, &m->wanted, sizeof(uint32_t), 1);
  if (wanted)
    *wanted = index;
  l->wanted = true;
}

static void
set_var(import *m, vyre_builder *b, uint32_t index, uint32_t row, uint32_t next)
{
  request_var(m, index);
  set_row *s = list_add(m, &m->sets, sizeof(set_row), 1);
  if (!s)
    return;
  *s = (set_row){vyre_build_set(b, VYRE_NONE, (vyre_row){row}).id, index};
  if (leaf_at(m, index)->debug && leaf_at(m, index)->current != LEAF_UNSET)
    import_debug_set(m, leaf_at(m, index)->debug - 1, s->row, row, next);
}

uint32_t
locals_get(import *m, uint32_t index)
{
  request_var(m, index);
  leaf *l = leaf_at(m, index);
  uint32_t row = vyre_build(&m->b, VYRE_OP_get, l->type, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE).id;
  l->gets++;
  set_row *got = list_add(m, &m->got, sizeof(set_row), 1);
  if (got)
    *got = (set_row){row, index};
  change_leaf(m, index, row, false, false);
  return row;
}

/* Checks that flow_loop_writes has found the leaf.  An error is better than a loop body with stale values. */
static bool
is_foreseen(const import *m, uint32_t index)
{
  if (!m->loop || AT(leaf, m->locals, index)->loop == m->loop)
    return true;
  for (uint32_t k = m->constructs.count; k > 0; k--)
    if (CONSTRUCT(m, k - 1)->kind == CONSTRUCT_LOOP)
      return index >= CONSTRUCT(m, k - 1)->leaf_limit;
  return true;
}

void
locals_write(import *m, uint32_t index, uint32_t row)
{
  if (!is_foreseen(m, index))
    import_uncovered(m, "a store in a loop was not foreseen, which is a bug of vyre\nFix: report this");
  change_leaf(m, index, row, true, true);
  if (leaf_at(m, index)->debug)
    import_debug_write(m, leaf_at(m, index)->debug - 1, row);
}

void
locals_to_var(import *m, uint32_t index)
{
  const leaf *l = leaf_at(m, index);
  if (l->dirty)
    set_var(m, &m->b, index, import_visible(m, locals_current(m, index)), 0);
  change_leaf(m, index, 0, false, true);
}

/* ---- constructs ---- */

static bool
add_joined(import *m, uint32_t index, uint32_t *l)
{
  if (m->joins.count == 0 && !list_add(m, &m->joins, sizeof(joined), 1))
    return false;
  joined *j = list_add(m, &m->joins, sizeof(joined), 1);
  if (!j)
    return false;
  *j = (joined){index, *l};
  *l = m->joins.count - 1;
  return true;
}

void
locals_edge(import *m, uint32_t c, uint32_t *l)
{
  uint32_t seen = ++m->stamp, limit = CONSTRUCT(m, c)->leaf_limit;
  for (uint32_t k = CONSTRUCT(m, c)->mark; k < m->log.count && !failed(m); k++) {
    change e = *AT(change, m->log, k);
    leaf *changed = leaf_at(m, e.leaf);
    if (!e.store || e.leaf >= limit || changed->edge == seen)
      continue;
    changed->edge = seen;
    if (changed->dirty) /* and it remains dirty for other edges, because this one ends here */
      set_var(m, &m->b, e.leaf, import_visible(m, locals_current(m, e.leaf)), 0);
    if (l && !add_joined(m, e.leaf, l))
      return;
  }
}

static void
set_before(import *m, uint32_t c, uint32_t index, uint32_t row)
{
  const construct *o = CONSTRUCT(m, c);
  vyre_builder b = import_builder(m);
  const uint32_t first = o->block_row ? o->block_row : o->row;
  vyre_builder_before(&b, (vyre_row){first});
  set_var(m, &b, index, row, first);
}

void
locals_join(import *m, uint32_t c)
{
  uint32_t edges = CONSTRUCT(m, c)->edges, first = CONSTRUCT(m, c)->joined;
  for (uint32_t k = first; k; k = AT(joined, m->joins, k)->next)
    leaf_at(m, AT(joined, m->joins, k)->leaf)->count++;
  for (uint32_t k = first; k && !failed(m); k = AT(joined, m->joins, k)->next) {
    uint32_t index = AT(joined, m->joins, k)->leaf;
    leaf *l = leaf_at(m, index);
    if (l->count == 0) /* it has been processed */
      continue;
    const bool always = l->count == edges;
    l->count = 0;
    if (l->dirty && !always)
      set_before(m, c, index, locals_current(m, index));
    change_leaf(m, index, 0, false, true);
  }
}

void
locals_fall(import *m, uint32_t c)
{
  for (uint32_t k = CONSTRUCT(m, c)->fell_leaves; k && !failed(m); k = AT(joined, m->joins, k)->next) {
    uint32_t index = AT(joined, m->joins, k)->leaf;
    const leaf *l = leaf_at(m, index);
    if (l->dirty)
      set_before(m, c, index, locals_current(m, index));
    change_leaf(m, index, 0, false, true);
  }
}

static void
make_var(import *m, leaf *l)
{
  if (VYRE_TYPE_KIND(l->type) == VYRE_OPAQUE)
    l->var = vyre_build_opaque_var(&m->b, import_make_type(m, l->opaque, 0, false)).id;
  else
    l->var = vyre_build_unset_var(&m->b, l->type).id;
  if (l->name)
    import_name_row(m, l->var, l->name);
}

/* Makes the vars that some row reads, and removes the sets of other leaves, such as temporaries that a loop stores to. */
void
locals_finish(import *m)
{
  bool carries = false;
  for (uint32_t k = 0; k < m->wanted.count && !failed(m); k++) {
    leaf *l = leaf_at(m, *AT(uint32_t, m->wanted, k));
    l->carried = l->gets && vyre_kind_is_scalar(VYRE_TYPE_KIND(l->type)) && VYRE_TYPE_LANES(l->type) > 1 &&
                 !vyre_module_keeps_vectors(m->module);
    carries |= l->carried;
    l->edge = 0; /* searches have ended, and lanes.c keeps an index there */
    if (l->gets && !l->carried)
      make_var(m, l);
  }
  for (uint32_t k = 0; k < m->got.count; k++) {
    const set_row *s = AT(set_row, m->got, k);
    const uint32_t var = leaf_at(m, s->leaf)->var;
    if (var)
      vyre_row_set_operand(m->module, (vyre_row){s->row}, 0, (vyre_row){var});
  }
  for (uint32_t k = 0; k < m->sets.count; k++) {
    const set_row *s = AT(set_row, m->sets, k);
    const leaf *l = leaf_at(m, s->leaf);
    if (l->gets == 0)
      vyre_row_rewrite(m->module, (vyre_row){s->row}, VYRE_ROW(VYRE_OP_null, 0, 0), 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    else if (l->var)
      vyre_row_set_operand(m->module, (vyre_row){s->row}, 0, (vyre_row){l->var});
  }
  if (m->debug_variables.count)
    import_debug_finish(m);
  if (carries)
    locals_split(m);
}
