/* Write generations: each written column gets a new one, and no other column does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir_test.h"

#include "vyre/batch.h"
#include "vyre/view.h"
#include "vyre/vir0.h"

enum { COLUMNS = 16, MOST_ROWS = 4096 };

/* The contents and generations of a module's columns. */
typedef struct snapshot {
  uint32_t rows;
  uint32_t cells[COLUMNS][MOST_ROWS];
  bool is_shown[COLUMNS];
  uint64_t generation[COLUMNS];
} snapshot;

static snapshot before, after;

static const char *const names[COLUMNS] = {"op",   "imm",   "imm_hi", "a",       "b",    "c",   "parent", "prev",
                                           "next", "first", "last",   "version", "loop", "end", "level",  "depth"};

static void
take(vyre_module *m, snapshot *out)
{
  const vyre_view *v = vyre_module_view(m);
  const uint32_t *const columns[COLUMNS] = {v->op,   v->imm,   v->imm_hi, v->a,       v->b,    v->c,   v->parent, v->prev,
                                            v->next, v->first, v->last,   v->version, v->loop, v->end, v->level,  v->depth};
  out->rows = v->rows;
  assert_true(v->rows < MOST_ROWS);
  for (uint32_t i = 0; i < COLUMNS; i++) {
    out->is_shown[i] = columns[i] != NULL;
    out->generation[i] = columns[i] ? vyre_module_generation(m, columns[i]) : 0;
    if (columns[i])
      memcpy(out->cells[i], columns[i], v->rows * sizeof(uint32_t));
  }
}

/* Asserts that each column whose contents differ has another generation. */
static void
compare(const char *edit)
{
  for (uint32_t i = 0; i < COLUMNS; i++)
    if (before.is_shown[i] && after.is_shown[i] &&
        (before.rows != after.rows || memcmp(before.cells[i], after.cells[i], before.rows * sizeof(uint32_t)) != 0) &&
        before.generation[i] == after.generation[i])
      fail_msg("%s changed column %s, whose generation is the same", edit, names[i]);
}

static uint32_t
any_row(const vyre_view *v, uint32_t *seed)
{
  return v->rows > 1 ? 1 + next_random(seed) % (v->rows - 1) : 0;
}

/* Returns a placed row in a region, or 0. */
static uint32_t
any_placed(const vyre_view *v, uint32_t *seed)
{
  const uint32_t row = any_row(v, seed);
  return row && v->parent[row] && vyre_op_of(v, row) != VYRE_OP_region ? row : 0;
}

static vyre_row
build(vyre_module *m, uint32_t *seed)
{
  const vyre_view *v = vyre_module_view(m);
  const uint32_t place = any_placed(v, seed);
  vyre_builder b = {.module = m};
  if (!place)
    return VYRE_NONE;
  vyre_builder_before(&b, row_of(place));
  return build_value(&b);
}

static void
rewrite(vyre_module *m, uint32_t *seed)
{
  const vyre_view *v = vyre_module_view(m);
  const uint32_t row = any_placed(v, seed);
  vyre_row_rewrite(m, row_of(row), v->op[row], next_random(seed), 0, row_of(v->a[row]), VYRE_NONE, row_of(v->c[row]));
}

static void
forward(vyre_module *m, uint32_t *seed)
{
  const vyre_view *v = vyre_module_view(m);
  uint32_t fwd[MOST_ROWS];
  for (uint32_t row = 0; row < v->rows; row++)
    fwd[row] = row;
  fwd[any_placed(v, seed)] = any_placed(v, seed);
  vyre_module_forward(m, fwd);
}

static void
set_aside(vyre_module *m, uint32_t *seed)
{
  bool taken[16] = {false};
  vyre_aside *aside;
  assert_ok(vyre_module_seal(m, NULL));
  for (uint32_t i = 0; i < vyre_count_programs(vyre_module_view(m)); i++)
    taken[i] = next_random(seed) & 1;
  assert_ok(vyre_module_set_aside(m, taken, &aside));
  take(m, &after);
  compare("set_aside");
  before = after;
  assert_ok(vyre_module_put_back(m, aside));
  vyre_aside_destroy(aside);
}

enum { EDITS = 14 };
static const char *const edits[EDITS] = {"build", "rewrite",     "set_operand", "move_before", "kill",   "unlink",    "forward",
                                         "clone", "decorations", "hints",       "seal",        "settle", "set_aside", "workgroup"};

static void
edit(vyre_module *m, uint32_t which, uint32_t *seed)
{
  static const uint32_t words[] = {42, 0};
  const vyre_view *v = vyre_module_view(m);
  const uint32_t row = any_placed(v, seed), next = v->next[row];
  uint32_t map[MOST_ROWS] = {0};
  vyre_builder b = {.module = m};
  switch (which) {
  case 0:
    build(m, seed);
    break;
  case 1:
    rewrite(m, seed);
    break;
  case 2:
    vyre_row_set_operand(m, row_of(row), next_random(seed) % 3, row_of(any_placed(v, seed)));
    break;
  case 3:
    vyre_row_move_before(m, row_of(next), row_of(row));
    break;
  case 4:
    if (v->first[row] == 0 && vyre_op_of(v, row) != VYRE_OP_workgroup)
      vyre_row_kill(m, row_of(row));
    break;
  case 5:
    if (v->first[row] == 0 && vyre_op_of(v, row) != VYRE_OP_workgroup)
      vyre_row_unlink(m, row_of(row));
    break;
  case 6:
    forward(m, seed);
    break;
  case 7:
    if (row && v->first[row] == 0 && vyre_op_of(v, row) != VYRE_OP_workgroup)
      vyre_row_clone(m, row_of(row), row_of(row), map, MOST_ROWS);
    break;
  case 8:
    vyre_row_set_decorations(m, row_of(row), words, next_random(seed) & 2);
    break;
  case 9:
    vyre_row_set_hints(m, row_of(row), next_random(seed) & 3, NULL);
    break;
  case 10:
    assert_ok(vyre_module_seal(m, NULL));
    break;
  case 11:
    if (v->first[row] == 0 && vyre_op_of(v, row) != VYRE_OP_workgroup)
      vyre_row_rewrite(m, row_of(row), VYRE_ROW(VYRE_OP_null, 0, 0), 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    take(m, &after);
    compare("removal");
    before = after;
    vyre_module_settle_rows(m);
    break;
  case 12:
    set_aside(m, seed);
    break;
  default:
    if (row) {
      vyre_builder_before(&b, row_of(row));
      vyre_build_workgroup(&b, row_of(v->a[row]), row_of(v->b[row]), VYRE_NONE);
    }
    break;
  }
}

static vyre_module *
make_programs(void)
{
  vyre_module *m = new_module();
  for (uint32_t i = 0; i < 3; i++) {
    vyre_builder b;
    char name[8] = {'p', (char)('0' + i)};
    vyre_build_program(m, name, VYRE_PROGRAM_RELAXED, UINT32_MAX, &b);
    vyre_row x = build_value(&b), y = build_value(&b), condition = vyre_build_binary(&b, VYRE_OP_ult, x, y);
    vyre_row branch = vyre_build_if(&b, condition);
    vyre_build_binary(&b, VYRE_OP_add, x, vyre_build_const(&b, U32, i));
    vyre_builder_leave(&b, branch);
    vyre_build_binary(&b, VYRE_OP_mul, x, y);
  }
  assert_ok(vyre_module_seal(m, NULL));
  return m;
}

TEST(each_edit_gives_the_columns_that_it_changes_new_generations)
{
  uint32_t seed = 7, made[EDITS] = {0};
  for (uint32_t round = 0; round < 400; round++) {
    vyre_module *m = make_programs();
    for (uint32_t i = 0; i < 12; i++) {
      const uint32_t which = next_random(&seed) % EDITS;
      take(m, &before);
      edit(m, which, &seed);
      take(m, &after);
      compare(edits[which]);
      made[which] += before.rows != after.rows || memcmp(before.cells, after.cells, sizeof before.cells) != 0;
    }
    vyre_module_destroy(m);
  }
  for (uint32_t i = 0; i < EDITS; i++) /* edits that change nothing test nothing */
    if (made[i] == 0)
      fail_msg("%s changed no column", edits[i]);
}

TEST(a_sealed_module_keeps_its_generations)
{
  vyre_module *m = make_programs(), *copy;
  assert_ok(vyre_module_make_analyses(m, VYRE_ANALYSES));
  take(m, &before);
  assert_ok(vyre_module_seal(m, NULL));
  assert_ok(vyre_module_clone(m, &copy));
  take(m, &after);
  assert_memory_equal(before.generation, after.generation, sizeof before.generation);
  take(copy, &after); /* another module has others */
  for (uint32_t i = 0; i < COLUMNS; i++)
    assert_true(before.generation[i] != after.generation[i]);
  assert_ok(vyre_module_make_analyses(m, VYRE_LEVELS)); /* only these columns are new */
  take(m, &after);
  for (uint32_t i = 0; i < COLUMNS; i++)
    assert_true((before.generation[i] == after.generation[i]) ==
                (strcmp(names[i], "level") != 0 && strcmp(names[i], "depth") != 0));
  before = after;
  vyre_module_mark_written(m, vyre_module_view(m)->imm);
  take(m, &after);
  for (uint32_t i = 0; i < COLUMNS; i++)
    assert_true((before.generation[i] == after.generation[i]) == (i != 1));
  assert_int_equal(vyre_module_generation(m, before.cells[0]), 0); /* not a column */
  vyre_module_destroy(copy);
  vyre_module_destroy(m);
}

TEST(a_module_that_is_read_again_has_new_generations)
{
  vyre_module *m = make_programs(), *to = new_module();
  vyre_bytes bytes = {0};
  assert_ok(vyre_vir0_write(m, NULL, 0, &bytes));
  take(to, &before);
  assert_ok(vyre_vir0_read(to, bytes.data, bytes.size, "test", NULL, 0));
  take(to, &after);
  compare("vir0_read");
  before = after;
  vyre_module_clear(to);
  take(to, &after);
  compare("clear");
  vyre_bytes_free(&bytes);
  vyre_module_destroy(to);
  vyre_module_destroy(m);
}

TEST(analyses_are_kept_until_the_module_may_differ)
{
  vyre_module *m = make_programs();
  const vyre_view *v = vyre_module_view(m);
  for (uint32_t i = 0; i < 4; i++) {
    assert_ok(vyre_module_make_analyses(m, VYRE_VERSIONS | VYRE_LEVELS));
    vyre_module_keep_analyses(m, VYRE_LEVELS | VYRE_LOOPS); /* loops were not made */
    assert_true(!v->level && !v->version);
    assert_int_equal(vyre_module_kept_analyses(m), VYRE_LEVELS);
    if (i == 0)
      vyre_row_set_operand(m, row_of(v->rows - 1), 0, row_of(v->a[v->rows - 1]));
    else if (i == 1)
      vyre_program_info_of(m, row_of(1));
    else if (i == 2)
      vyre_buffer_info_of(m, row_of(1));
    else
      vyre_row_kill(m, row_of(v->rows - 1));
    assert_int_equal(vyre_module_kept_analyses(m), 0);
    assert_ok(vyre_module_seal(m, NULL));
    assert_int_equal(vyre_module_kept_analyses(m), 0);
  }
  vyre_module_destroy(m);
}

TEST_MAIN(NULL, NULL)
