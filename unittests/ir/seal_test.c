/* Sealing: against a model that knows nothing of the table, on random edits; names; versions; damaged links; ten million rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir_test.h"

#include <stdio.h>
#include <time.h>

/* ---- random edits, compared with a tree of nodes ---- */

enum { MOST_NODES = 4000 };

/* A row as the model sees it: a child list by sibling order, operands by node. */
typedef struct node {
  int parent, first, last, prev, next; /* -1: none */
  bool alive, linked;
  uint32_t mark; /* what the row holds in imm: who it is */
  int a, c;
} node;

typedef struct model {
  node nodes[MOST_NODES];
  uint32_t ids[MOST_NODES]; /* node -> row */
  int count;
} model;

static uint32_t
next_random(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

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

/* Walks the model and the table side by side; writes which node is which row now. */
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
    assert_int_equal(v->a[ids[i]], t->nodes[i].a < 0 ? 0 : ids[t->nodes[i].a]); /* what was dropped is 0 */
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

/* The map says the same as the model; what is gone is gone for the model too. */
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
lose_once(model *t, vyre_module *m, uint32_t *seed)
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

static void
random_edits_seal_to_what_a_model_says(void **state)
{
  (void)state;
  static model t;
  static uint32_t ids[MOST_NODES], map[MOST_NODES + 1];
  for (uint32_t round = 0; round < 60; round++) {
    uint32_t seed = round * 7919 + 1;
    vyre_module *m = new_module();
    const vyre_view *v = vyre_module_view(m);
    t.count = 1;
    t.nodes[0] = (node){-1, -1, -1, -1, -1, true, true, 0, -1, -1};
    t.ids[0] = 0;
    for (uint32_t step = 0; step < 40 + round * 20; step++) {
      edit_once(&t, m, &seed);
      if (next_random(&seed) % 64 && step + 1 < 40 + round * 20)
        continue;
      uint32_t before = v->rows;
      bool twice = next_random(&seed) % 2;
      assert_null(vyre_module_seal(m, map));
      check_sealed(m);
      check_against(&t, m, ids);
      follow_seal(&t, ids, map);
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

/* Where nothing but that happens, those that are left move up in place. */
static void
rows_that_go_leave_the_others_in_order(void **state)
{
  (void)state;
  static model t;
  static uint32_t ids[MOST_NODES], map[MOST_NODES + 1];
  for (uint32_t round = 0; round < 60; round++) {
    uint32_t seed = round * 7919 + 1;
    vyre_module *m = new_module();
    t.count = 1;
    t.nodes[0] = (node){-1, -1, -1, -1, -1, true, true, 0, -1, -1};
    t.ids[0] = 0;
    while (t.count < 300)
      add_node(&t, m, (int)(next_random(&seed) % (uint32_t)t.count), -1, &seed);
    for (uint32_t step = 0; step < 40; step++) {
      for (uint32_t i = step ? 1 + step % 4 : 0; i > 0; i--)
        lose_once(&t, m, &seed);
      assert_null(vyre_module_seal(m, map));
      check_sealed(m);
      check_against(&t, m, ids);
      follow_seal(&t, ids, map);
    }
    vyre_module_destroy(m);
  }
}

/* ---- what sealing keeps ---- */

static void
versions_follow_their_rows(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  const vyre_view *v = vyre_module_view(m);
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  vyre_row var = vyre_build_var(&b, F32);
  vyre_row dead = build_gid(&b);
  vyre_row set = vyre_build_set(&b, var, vyre_build_const(&b, F32, ONE_F32)), get = vyre_build_get(&b, var),
           lost = vyre_build_get(&b, var);
  vyre_row plain = vyre_build(&b, VYRE_OP_part, F32, 0, 0, set.id, get, VYRE_NONE, VYRE_NONE); /* reads nothing: imm_hi is no row */
  vyre_row_rewrite(m, get, v->op[get.id], 0, set.id, var, VYRE_NONE, VYRE_NONE);
  vyre_row_rewrite(m, lost, v->op[lost.id], 0, dead.id, var, VYRE_NONE, VYRE_NONE);
  vyre_row_kill(m, dead);
  vyre_row last = vyre_build(&b, VYRE_OP_get, F32, 0, 0, set.id, var, VYRE_NONE, VYRE_NONE);
  uint32_t map[32];
  assert_null(vyre_module_seal(m, map));
  assert_int_not_equal(map[set.id], set.id);
  assert_int_equal(map[last.id], v->rows - 1);
  assert_int_equal(v->imm_hi[map[last.id]], map[set.id]);
  assert_int_equal(v->imm_hi[map[get.id]], map[set.id]);
  assert_int_equal(v->imm_hi[map[lost.id]], 0);
  assert_int_equal(v->imm_hi[map[plain.id]], set.id);
  assert_int_equal(map[dead.id], 0);
  assert_true(vyre_module_lost_versions(m));
  const uint32_t kept = map[last.id], old_set = map[set.id];
  vyre_row_kill(m, row_of(map[plain.id]));
  assert_null(vyre_module_seal(m, map)); /* in place */
  assert_false(vyre_module_lost_versions(m));
  assert_int_equal(map[kept], kept - 1);
  assert_int_equal(v->imm_hi[map[kept]], map[old_set]);
  const uint32_t first_get = map[kept] - 2, new_set = map[old_set];
  vyre_row_kill(m, row_of(map[kept]));
  assert_null(vyre_module_seal(m, NULL));
  assert_int_equal(v->imm_hi[first_get], new_set);
  vyre_row_kill(m, row_of(new_set));
  assert_null(vyre_module_seal(m, NULL));
  assert_true(vyre_module_lost_versions(m)); /* of the first get */
  vyre_module_destroy(m);
}

static void
a_row_rewritten_to_null_is_dropped_with_all_in_it(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  const vyre_view *v = vyre_module_view(m);
  vyre_builder b;
  vyre_row program = vyre_build_program(m, "p", 0, 0, &b);
  vyre_row x = build_gid(&b), test = vyre_build_if(&b, x), in = build_gid(&b);
  vyre_builder_leave(&b, test);
  vyre_row user = vyre_build_unary(&b, VYRE_OP_not, in);
  assert_null(vyre_module_seal(m, NULL)); /* dense already */
  uint32_t map[32];
  vyre_row_rewrite(m, test, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  assert_false(vyre_module_is_sealed(m));
  assert_null(vyre_module_seal(m, map));
  check_sealed(m);
  assert_int_equal(map[in.id], 0);
  assert_int_equal(v->next[map[x.id]], map[user.id]);
  assert_int_equal(v->a[map[user.id]], 0);
  assert_int_equal(v->last[map[program.id]], map[user.id]);
  vyre_module_destroy(m);
}

static void
programs_follow_one_another(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  const vyre_view *v = vyre_module_view(m);
  vyre_builder b[3];
  vyre_row programs[3];
  for (int i = 0; i < 3; i++)
    programs[i] = vyre_build_program(m, "p", 0, 0, &b[i]);
  for (int k = 0; k < 50; k++) /* rows of all three mixed */
    for (int i = 0; i < 3; i++)
      vyre_build_imm(&b[i], VYRE_OP_add, build_value(&b[i]), (uint32_t)i);
  uint32_t map[512];
  assert_null(vyre_module_seal(m, map));
  check_sealed(m);
  for (uint32_t row = 1; row < v->rows; row++) {
    uint32_t program = row >= map[programs[2].id] ? 2 : row >= map[programs[1].id] ? 1 : 0;
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_add)
      assert_int_equal(v->imm[row], program);
  }
  vyre_module_destroy(m);
}

/* Rows that constants push down take their names along, and leave none where they were. */
static void
names_go_where_their_rows_go(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_row rows[6];
  vyre_build_program(m, "p", 0, 0, &b);
  for (int i = 0; i < 6; i++)
    rows[i] = build_gid(&b);
  vyre_row_set_name(m, rows[0], "first", 5);
  vyre_row_set_name(m, rows[3], "fourth", 6);
  vyre_build_const(&b, F32, ONE_F32);
  vyre_build_const(&b, F32, 0);
  uint32_t map[16];
  assert_null(vyre_module_seal(m, map));
  for (int i = 0; i < 6; i++) {
    const char *name = vyre_row_name(m, row_of(map[rows[i].id]));
    assert_int_equal(map[rows[i].id], rows[i].id + 2);
    if (i % 3)
      assert_null(name);
    else
      assert_string_equal(name, i ? "fourth" : "first");
  }
  assert_null(vyre_row_name(m, row_of(rows[0].id)));
  vyre_module_destroy(m);
}

static void
names_become_unique_in_program_order(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  vyre_builder b[2];
  vyre_row x[2][5], p[2];
  const char *as_programs[2] = {"main_1", "main"}; /* a program's name is no row's */
  for (int i = 0; i < 2; i++) {
    p[i] = vyre_build_program(m, "main", 0, 0, &b[i]);
    for (int k = 0; k < 5; k++)
      x[i][k] = build_gid(&b[i]);
    vyre_row_set_name(m, x[i][3], "x", 1); /* given in another order than they stand in */
    vyre_row_set_name(m, x[i][0], "x", 1);
    vyre_row_set_name(m, x[i][1], "x", 1);
    vyre_row_set_name(m, x[i][2], "x_1", 3);
    vyre_row_set_name(m, x[i][4], as_programs[i], strlen(as_programs[i]));
  }
  assert_false(vyre_module_is_sealed(m));
  assert_null(vyre_module_seal(m, NULL)); /* already in order: ids stay */
  assert_string_equal(vyre_row_name(m, p[0]), "main");
  assert_string_equal(vyre_row_name(m, p[1]), "main_1");
  for (int i = 0; i < 2; i++) {
    assert_string_equal(vyre_row_name(m, x[i][0]), "x");
    assert_string_equal(vyre_row_name(m, x[i][1]), "x_2");
    assert_string_equal(vyre_row_name(m, x[i][2]), "x_1");
    assert_string_equal(vyre_row_name(m, x[i][3]), "x_3");
    assert_string_equal(vyre_row_name(m, x[i][4]), as_programs[i]);
  }
  vyre_row_inherit(m, build_gid(&b[0]), x[0][0]);
  vyre_row_unlink(m, x[1][1]); /* from one program into the other */
  vyre_row_insert(m, x[1][1], p[0], VYRE_NONE);
  uint32_t map[64];
  assert_null(vyre_module_seal(m, map));
  assert_string_equal(vyre_row_name(m, row_of(map[x[1][1].id])), "x_2_1");
  assert_string_equal(vyre_row_name(m, row_of(map[x[1][1].id] - 1)), "x_4");
  vyre_module_destroy(m);
}

static void
names_are_looked_at_again_only_when_they_may_double(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  vyre_builder b, c;
  vyre_build_program(m, "p", 0, 0, &b);
  vyre_row x = build_gid(&b), y = build_gid(&b);
  vyre_row other = vyre_build_program(m, "q", 0, 0, &c), z = build_gid(&c);
  vyre_row_set_name(m, x, "x", 1);
  vyre_row_set_name(m, z, "x", 1);
  assert_null(vyre_module_seal(m, NULL));
  vyre_row_inherit(m, y, x);
  assert_false(vyre_module_is_sealed(m));
  assert_null(vyre_module_seal(m, NULL));
  assert_string_equal(vyre_row_name(m, y), "x_1");
  vyre_row_unlink(m, x);
  vyre_row_insert(m, x, other, VYRE_NONE);
  uint32_t map[16];
  assert_null(vyre_module_seal(m, map));
  assert_string_equal(vyre_row_name(m, row_of(map[z.id])), "x");
  assert_string_equal(vyre_row_name(m, row_of(map[x.id])), "x_1");
  vyre_module_destroy(m);
}

static void
doubled_names_cost_no_more_than_others(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  enum { COUNT = 200000 };
  vyre_row last = VYRE_NONE;
  for (int i = 0; i < COUNT; i++)
    vyre_row_set_name(m, last = build_gid(&b), "t", 1);
  assert_null(vyre_module_seal(m, NULL));
  assert_string_equal(vyre_row_name(m, last), "t_199999");
  vyre_module_destroy(m);
}

static void
deep_nesting_seals(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_row program = vyre_build_program(m, "p", 0, 0, &b);
  for (int i = 0; i < 300000; i++)
    vyre_build_block(&b);
  vyre_build_const(&b, F32, 0); /* out of order */
  vyre_builder_at_end(&b, program);
  vyre_row end = build_gid(&b);
  uint32_t *map = test_malloc(vyre_module_view(m)->rows * sizeof(*map));
  assert_null(vyre_module_seal(m, map));
  check_sealed(m);
  assert_int_equal(map[end.id], vyre_module_view(m)->rows - 1);
  test_free(map);
  vyre_module_destroy(m);
}

/* ---- links that no edit makes ---- */

/* Where rows only went, links follow from parents. */
static void
a_damaged_parent_is_an_error(void **state)
{
  (void)state;
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  vyre_row dead = build_gid(&b), row = build_gid(&b);
  assert_null(vyre_module_seal(m, NULL));
  vyre_row_kill(m, dead);
  ((uint32_t *)(uintptr_t)vyre_module_view(m)->parent)[row.id] = UINT32_MAX;
  vyre_status status = vyre_module_seal(m, NULL);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INTERNAL);
  vyre_status_free(status);
  vyre_module_destroy(m);
}

static void
damaged_links_are_an_error(void **state)
{
  (void)state;
  uint32_t refused = 0;
  for (uint32_t seed = 1, round = 0; round < 3000; round++) {
    vyre_module *m;
    assert_null(vyre_module_create(NULL, 64, &m));
    vyre_builder b;
    vyre_build_program(m, "p", 0, 0, &b);
    vyre_build_if(&b, build_gid(&b));
    build_gid(&b);
    vyre_build_loop(&b);
    build_gid(&b);
    const vyre_view *v = vyre_module_view(m);
    const uint32_t *const links[] = {v->parent, v->prev, v->next, v->first, v->last};
    for (uint32_t i = 0; i < 1 + round % 3; i++) {
      uint32_t *link = (uint32_t *)(uintptr_t)&links[next_random(&seed) % 5][next_random(&seed) % v->rows];
      *link = next_random(&seed) % 8 ? next_random(&seed) % v->rows : next_random(&seed) << 8;
    }
    vyre_row_set_operand(m, row_of(4), 0, row_of(3)); /* not sealed: */
    vyre_status status = vyre_module_seal(m, NULL);
    if (status) {
      assert_int_equal(vyre_status_code(status), VYRE_CODE_INTERNAL);
      assert_non_null(strstr(vyre_status_text(status), "tree"));
      refused++;
    } else {
      check_sealed(m); /* what could be walked was linked anew */
    }
    vyre_status_free(status);
    vyre_module_destroy(m);
  }
  assert_true(refused > 300);
}

/* ---- size ---- */

static double
seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Chains of adds under names and lines, a constant now and then, so that sealing has all to move. */
static void
build_rows(vyre_module *m, uint32_t rows)
{
  vyre_builder b;
  vyre_build_program(m, "big", 0, 0, &b);
  b.file = vyre_string_intern(m, "big.vir", 7);
  vyre_row x = build_value(&b), y = x;
  while (vyre_module_view(m)->rows < rows) {
    b.line++;
    vyre_row z = vyre_build_binary(&b, VYRE_OP_add, x, y);
    x = y;
    y = z;
    if ((b.line & 15) == 0)
      vyre_build_const(&b, U32, b.line);
    if ((b.line & 63) == 0)
      vyre_row_kill(m, build_gid(&b));
  }
}

static void
ten_million_rows_build_and_seal(void **state)
{
  (void)state;
  const uint32_t rows = 10000000;
  vyre_module *m = new_module();
  double start = seconds();
  build_rows(m, rows);
  double built = seconds();
  assert_null(vyre_module_seal(m, NULL));
  double sealed = seconds();
  const vyre_view *v = vyre_module_view(m);
  assert_true(v->rows > rows - rows / 60 && v->rows < rows);
  for (uint32_t row = 1; row < v->rows; row++) /* every link of a chain stayed */
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_add)
      assert_true(v->a[row] < row && v->b[row] < row && v->b[row] != 0);
  assert_true(vyre_module_is_sealed(m));
  print_message("10M rows: build %.2f s, seal %.2f s, %.1f bytes a row committed\n", built - start, sealed - built,
                (double)vyre_module_bytes(m) / rows);
  vyre_module_destroy(m);
}

/* New rows take the places of dropped ones, and nothing that stood beside those. */
static void
what_dropped_rows_had_is_gone(void **state)
{
  (void)state;
  vyre_module *m;
  vyre_builder b;
  vyre_row rows[4];
  assert_null(vyre_module_create(NULL, 1 << 10, &m));
  vyre_row program = vyre_build_program(m, "p", 0, vyre_module_add_input(m, "p"), &b);
  for (int i = 0; i < 4; i++) {
    rows[i] = build_gid(&b);
    vyre_row_set_name(m, rows[i], &"abcd"[i], 1);
    vyre_row_set_line(m, rows[i], 0, (uint32_t)i + 1, 1);
  }
  for (int i = 1; i < 4; i++)
    vyre_row_kill(m, rows[i]);
  assert_null(vyre_module_seal(m, NULL));
  vyre_builder_at_end(&b, program);
  assert_string_equal(vyre_row_name(m, (vyre_row){vyre_module_view(m)->rows - 1}), "a");
  for (int i = 1; i < 4; i++) {
    vyre_row row = build_gid(&b);
    vyre_string file;
    uint32_t line, column;
    assert_null(vyre_row_name(m, row));
    assert_false(vyre_row_line(m, row, &file, &line, &column));
  }
  vyre_module_destroy(m);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_edits_seal_to_what_a_model_says),
      cmocka_unit_test(rows_that_go_leave_the_others_in_order),
      cmocka_unit_test(versions_follow_their_rows),
      cmocka_unit_test(names_go_where_their_rows_go),
      cmocka_unit_test(a_row_rewritten_to_null_is_dropped_with_all_in_it),
      cmocka_unit_test(programs_follow_one_another),
      cmocka_unit_test(what_dropped_rows_had_is_gone),
      cmocka_unit_test(names_become_unique_in_program_order),
      cmocka_unit_test(names_are_looked_at_again_only_when_they_may_double),
      cmocka_unit_test(doubled_names_cost_no_more_than_others),
      cmocka_unit_test(deep_nesting_seals),
      cmocka_unit_test(damaged_links_are_an_error),
      cmocka_unit_test(a_damaged_parent_is_an_error),
      cmocka_unit_test(ten_million_rows_build_and_seal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
