/* Sealing compared with a model that is independent of the table: a tree of nodes with the same random edits as the module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir_test.h"

enum { MOST_NODES = 4000 };

/* The model of a row: a list of children in order, and operands by node. */
typedef struct node {
  int parent, first, last, prev, next; /* -1 if there is none */
  bool alive, linked;
  uint32_t mark; /* the row's imm, which identifies the row */
  int a, c;
} node;

typedef struct model {
  node nodes[MOST_NODES];
  uint32_t ids[MOST_NODES]; /* node -> row */
  int count;
} model;

static void
model_unlink(model *t, int i)
{
  node *n = &t->nodes[i];
  if (!n->linked)
    return;
  if (n->prev >= 0)
    t->nodes[n->prev].next = n->next;
  else
    t->nodes[n->parent].first = n->next;
  if (n->next >= 0)
    t->nodes[n->next].prev = n->prev;
  else
    t->nodes[n->parent].last = n->prev;
  n->linked = false;
  n->parent = n->prev = n->next = -1;
}

static void
model_insert(model *t, int i, int parent, int before)
{
  node *n = &t->nodes[i];
  n->linked = true;
  n->parent = parent;
  n->next = before;
  n->prev = before >= 0 ? t->nodes[before].prev : t->nodes[parent].last;
  if (n->prev >= 0)
    t->nodes[n->prev].next = i;
  else
    t->nodes[parent].first = i;
  if (before >= 0)
    t->nodes[before].prev = i;
  else
    t->nodes[parent].last = i;
}

static void
model_kill(model *t, int i)
{
  t->nodes[i].alive = false;
  for (int child = t->nodes[i].first; child >= 0; child = t->nodes[child].next)
    model_kill(t, child);
}

static bool
is_inside(const model *t, int i, int root)
{
  for (; i >= 0; i = t->nodes[i].parent)
    if (i == root)
      return true;
  return false;
}

/* Compares the model with the table.  Writes the row of each node, or 0 if the node was dropped. */
static void
check_against(const model *t, const vyre_module *m, uint32_t *ids)
{
  const vyre_view *v = vyre_module_view(m);
  memset(ids, 0, MOST_NODES * sizeof(*ids));
  uint32_t row = 0;
  int at = 0;
  for (;;) {
    ids[at] = row;
    if (at)
      assert_int_equal(v->imm[row], t->nodes[at].mark);
    row = vyre_row_after(v, row, 0);
    if (t->nodes[at].first >= 0) {
      at = t->nodes[at].first;
    } else {
      while (at != 0 && t->nodes[at].next < 0)
        at = t->nodes[at].parent;
      if (at == 0)
        break;
      at = t->nodes[at].next;
    }
    assert_int_not_equal(row, 0);
  }
  assert_int_equal(row, 0);
  for (int i = 1; i < t->count; i++) {
    if (!ids[i])
      continue;
    assert_int_equal(v->a[ids[i]], t->nodes[i].a < 0 ? 0 : ids[t->nodes[i].a]); /* a dropped operand is 0 */
    assert_int_equal(v->c[ids[i]], t->nodes[i].c < 0 ? 0 : ids[t->nodes[i].c]);
    char name[16];
    snprintf(name, sizeof(name), "n%u", t->nodes[i].mark);
    const char *kept = vyre_row_name(m, row_of(ids[i]));
    assert_true(t->nodes[i].mark % 3 ? kept == NULL : kept != NULL && strcmp(kept, name) == 0);
    assert_int_equal(vyre_row_spec_id(m, row_of(ids[i])), t->nodes[i].mark % 7 ? UINT32_MAX : t->nodes[i].mark);
  }
}

static void
add_node(model *t, vyre_module *m, int parent, int before, uint32_t *seed)
{
  int i = t->count++;
  t->nodes[i] = (node){-1, -1, -1, -1, -1, true, false, (uint32_t)i, -1, -1};
  vyre_builder b = {.module = m};
  if (before >= 0)
    vyre_builder_before(&b, row_of(t->ids[before]));
  else
    vyre_builder_at_end(&b, row_of(t->ids[parent]));
  int a = (int)(next_random(seed) % (uint32_t)i), c = (int)(next_random(seed) % (uint32_t)i);
  a = a && t->ids[a] ? a : -1;
  c = c && t->ids[c] ? c : -1;
  vyre_row row = vyre_build(&b, VYRE_OP_select, F32, 0, (uint32_t)i, 0, row_of(a < 0 ? 0 : t->ids[a]), VYRE_NONE,
                            row_of(c < 0 ? 0 : t->ids[c]));
  t->nodes[i].a = a;
  t->nodes[i].c = c;
  t->ids[i] = row.id;
  char name[16];
  if (i % 3 == 0)
    vyre_row_set_name(m, row, name, (size_t)snprintf(name, sizeof(name), "n%d", i));
  if (i % 7 == 0)
    vyre_row_set_spec_id(m, row, (uint32_t)i);
  model_insert(t, i, parent, before);
}

static void
edit_once(model *t, vyre_module *m, uint32_t *seed)
{
  int i = 1 + (int)(next_random(seed) % (uint32_t)(t->count - 1 ? t->count - 1 : 1));
  int j = (int)(next_random(seed) % (uint32_t)t->count);
  bool movable = i < t->count && t->nodes[i].alive && t->ids[i];
  bool target = t->nodes[j].alive && t->ids[j] && (j == 0 || t->nodes[j].linked);
  switch (next_random(seed) % 8) {
  case 0:
    if (movable && j && target && !is_inside(t, j, i)) {
      vyre_row_move_before(m, row_of(t->ids[i]), row_of(t->ids[j]));
      model_unlink(t, i);
      model_insert(t, i, t->nodes[j].parent, j);
    }
    break;
  case 1:
    if (movable && next_random(seed) % 4 == 0) {
      vyre_row_kill(m, row_of(t->ids[i]));
      model_unlink(t, i);
      model_kill(t, i);
    }
    break;
  case 2:
    if (movable) {
      vyre_row_unlink(m, row_of(t->ids[i]));
      model_unlink(t, i);
      if (next_random(seed) % 3 && target && !is_inside(t, j, i)) {
        vyre_row_insert(m, row_of(t->ids[i]), row_of(t->ids[j]), VYRE_NONE);
        model_insert(t, i, j, -1);
      }
    }
    break;
  case 3:
    if (movable && j && t->ids[j]) {
      vyre_row_set_operand(m, row_of(t->ids[i]), 0, row_of(t->ids[j]));
      t->nodes[i].a = j;
    }
    break;
  default:
    if (target && t->count < MOST_NODES)
      add_node(t, m, next_random(seed) % 2 || j == 0 ? j : t->nodes[j].parent, -1, seed);
    if (j && target && t->count < MOST_NODES)
      add_node(t, m, t->nodes[j].parent, j, seed);
    break;
  }
}

/* Asserts that the map agrees with `ids`, and drops the nodes and operands whose rows were dropped. */
static void
follow_seal(model *t, const uint32_t *ids, const uint32_t *map)
{
  for (int i = 1; i < t->count; i++) {
    if (t->ids[i])
      assert_int_equal(map[t->ids[i]], ids[i]);
    t->ids[i] = ids[i];
    if (!ids[i])
      t->nodes[i].alive = t->nodes[i].linked = false;
  }
  for (int i = 1; i < t->count; i++) {
    if (t->nodes[i].a >= 0 && !ids[t->nodes[i].a])
      t->nodes[i].a = -1;
    if (t->nodes[i].c >= 0 && !ids[t->nodes[i].c])
      t->nodes[i].c = -1;
  }
}

static void
remove_once(model *t, vyre_module *m, uint32_t *seed)
{
  const int i = 1 + (int)(next_random(seed) % (uint32_t)t->count);
  if (i >= t->count || !t->nodes[i].alive || t->ids[i] == 0)
    return;
  const uint32_t way = next_random(seed) % 5;
  if (way == 0)
    vyre_row_unlink(m, row_of(t->ids[i]));
  else if (way < 3)
    vyre_row_kill(m, row_of(t->ids[i]));
  else
    vyre_row_rewrite(m, row_of(t->ids[i]), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  model_unlink(t, i);
  if (way)
    model_kill(t, i);
}

/* Returns a module that has only row 0, and its model. */
static vyre_module *
new_model(model *t)
{
  t->count = 1;
  t->nodes[0] = (node){-1, -1, -1, -1, -1, true, true, 0, -1, -1};
  t->ids[0] = 0;
  return new_module();
}

/* Seals the module, compares it with the model, and updates the rows of the model. */
static void
seal_both(model *t, vyre_module *m, uint32_t ids[MOST_NODES], uint32_t map[MOST_NODES + 1])
{
  assert_null(vyre_module_seal(m, map));
  check_sealed(m);
  check_against(t, m, ids);
  follow_seal(t, ids, map);
}

TEST(random_edits_agree_with_a_model)
{
  static model t;
  static uint32_t ids[MOST_NODES], map[MOST_NODES + 1];
  for (uint32_t round = 0; round < 60; round++) {
    uint32_t seed = round * 7919 + 1;
    vyre_module *m = new_model(&t);
    const vyre_view *v = vyre_module_view(m);
    for (uint32_t step = 0; step < 40 + round * 20; step++) {
      edit_once(&t, m, &seed);
      if (next_random(&seed) % 64 && step + 1 < 40 + round * 20)
        continue;
      uint32_t before = v->rows;
      bool twice = next_random(&seed) % 2;
      seal_both(&t, m, ids, map);
      assert_true(v->rows <= before);
      if (twice) {
        assert_null(vyre_module_seal(m, map));
        for (uint32_t row = 0; row < v->rows; row++)
          assert_int_equal(map[row], row);
        check_against(&t, m, ids);
      }
    }
    vyre_module_destroy(m);
  }
}

/* Without additions and moves, sealing moves the remaining rows up in place. */
TEST(removed_rows_leave_the_others_in_order)
{
  static model t;
  static uint32_t ids[MOST_NODES], map[MOST_NODES + 1];
  for (uint32_t round = 0; round < 60; round++) {
    uint32_t seed = round * 7919 + 1;
    vyre_module *m = new_model(&t);
    while (t.count < 300)
      add_node(&t, m, (int)(next_random(&seed) % (uint32_t)t.count), -1, &seed);
    for (uint32_t step = 0; step < 40; step++) {
      for (uint32_t i = step ? 1 + step % 4 : 0; i > 0; i--)
        remove_once(&t, m, &seed);
      seal_both(&t, m, ids, map);
    }
    vyre_module_destroy(m);
  }
}

/* Moves the node and those after it in its parent to the end of another parent, or to before its first child. */
static void
move_rest(model *t, vyre_module *m, int i, int to, bool is_first)
{
  const int before = is_first ? t->nodes[to].first : -1;
  for (int k = i; k >= 0; k = t->nodes[k].next)
    if (is_inside(t, to, k))
      return;
  if (to == t->nodes[i].parent)
    return;
  vyre_rows_move(m, row_of(t->ids[i]), row_of(t->ids[to]), row_of(before < 0 ? 0 : t->ids[before]));
  for (int k = i, next; k >= 0; k = next) {
    next = t->nodes[k].next;
    model_unlink(t, k);
    model_insert(t, k, to, before);
  }
}

static void
move_once(model *t, vyre_module *m, uint32_t *seed)
{
  const int i = 1 + (int)(next_random(seed) % (uint32_t)(t->count - 1)), near = i + (int)(next_random(seed) % 9) - 4;
  const int j = next_random(seed) % 2 ? 1 + (int)(next_random(seed) % (uint32_t)(t->count - 1)) : near;
  if (j < 1 || j >= t->count || !t->ids[i] || !t->ids[j])
    return;
  if (next_random(seed) % 4 == 0 && t->nodes[i].parent > 0) {
    move_rest(t, m, i, j, next_random(seed) % 2);
  } else if (!is_inside(t, j, i)) {
    vyre_row_move_before(m, row_of(t->ids[i]), row_of(t->ids[j]));
    model_unlink(t, i);
    model_insert(t, i, t->nodes[j].parent, j);
  }
}

/* Without additions, sealing keeps the rows before the first one that moved and after the last one. */
TEST(moved_rows_agree_with_a_model)
{
  static model t;
  static uint32_t ids[MOST_NODES], map[MOST_NODES + 1];
  for (uint32_t round = 0; round < 60; round++) {
    uint32_t seed = round * 7919 + 1;
    vyre_module *m = new_model(&t);
    while (t.count < 200)
      add_node(&t, m, (int)(next_random(&seed) % (uint32_t)t.count), -1, &seed);
    for (uint32_t step = 0; step < 60; step++) {
      for (uint32_t i = step ? 1 + step % 3 : 0; i > 0; i--)
        move_once(&t, m, &seed);
      if (step % 20 == 10)
        remove_once(&t, m, &seed);
      seal_both(&t, m, ids, map);
    }
    vyre_module_destroy(m);
  }
}
