/* Sealing: names, versions, damaged links, ten million rows.  seal_model_test.c tests the order of rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "program_test.h"

#include <time.h>

/* ---- data that sealing keeps ---- */

PROGRAM_TEST(versions_follow_their_rows)
{
  vyre_row var = vyre_build_var(&b, F32);
  vyre_row dead = build_gid(&b);
  vyre_row set = vyre_build_set(&b, var, vyre_build_const(&b, F32, ONE_F32)), get = vyre_build_get(&b, var),
           lost = vyre_build_get(&b, var);
  vyre_row plain = vyre_build(&b, VYRE_OP_part, F32, 0, 0, 77, get, VYRE_NONE, VYRE_NONE), last = vyre_build_get(&b, var);
  uint32_t map[32];
  assert_null(vyre_module_seal(m, map));
  dead = row_of(map[dead.id]), set = row_of(map[set.id]), get = row_of(map[get.id]), lost = row_of(map[lost.id]);
  plain = row_of(map[plain.id]), last = row_of(map[last.id]);
  assert_null(vyre_module_make_analyses(m, VYRE_VERSIONS));
  assert_int_equal(v->version[get.id], set.id);
  ((uint32_t *)(uintptr_t)v->version)[lost.id] = dead.id; /* no analysis computes this version */
  assert_false(vyre_module_has_only_gaps(m)); /* sealed */
  vyre_row_kill(m, dead);
  assert_false(vyre_module_has_only_gaps(m)); /* the version of `lost` is removed */
  assert_null(vyre_module_seal(m, map));
  assert_int_not_equal(map[set.id], set.id);
  assert_int_equal(map[last.id], v->rows - 1);
  assert_int_equal(v->version[map[last.id]], map[set.id]);
  assert_int_equal(v->version[map[get.id]], map[set.id]);
  assert_int_equal(v->version[map[lost.id]], 0);
  assert_int_equal(v->imm_hi[map[plain.id]], 77);
  assert_int_equal(map[dead.id], 0);
  assert_true(vyre_module_lost_versions(m));
  const uint32_t kept = map[last.id], old_set = map[set.id];
  vyre_row_kill(m, row_of(map[plain.id]));
  assert_true(vyre_module_has_only_gaps(m));
  assert_null(vyre_module_seal(m, map)); /* in place */
  assert_false(vyre_module_lost_versions(m));
  assert_int_equal(map[kept], kept - 1);
  assert_int_equal(v->version[map[kept]], map[old_set]);
  const uint32_t first_get = map[kept] - 2, new_set = map[old_set];
  vyre_row_kill(m, row_of(map[kept]));
  assert_null(vyre_module_seal(m, NULL));
  assert_int_equal(v->version[first_get], new_set);
  vyre_row_kill(m, row_of(new_set));
  assert_false(vyre_module_has_only_gaps(m));
  assert_null(vyre_module_seal(m, NULL));
  assert_true(vyre_module_lost_versions(m)); /* of the first get */
  vyre_module_drop_analyses(m, VYRE_VERSIONS, false);
  vyre_row_kill(m, row_of(v->rows - 1));
  assert_true(vyre_module_has_only_gaps(m)); /* without versions, only ids matter */
  vyre_builder_at_end(&b, row_of(v->first[0]));
  build_gid(&b);
  assert_false(vyre_module_has_only_gaps(m)); /* the new row's id is not in program order */
}

PROGRAM_TEST(a_row_that_no_longer_reads_has_no_version)
{
  vyre_row var = vyre_build_var(&b, F32), get = vyre_build_get(&b, var), other = vyre_build_get(&b, var);
  assert_null(vyre_module_seal(m, NULL));
  assert_null(vyre_module_make_analyses(m, VYRE_VERSIONS));
  vyre_row_rewrite(m, get, VYRE_ROW(VYRE_OP_const, F32, 0), ONE_F32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  assert_int_equal(v->version[get.id], 0);
  assert_int_equal(v->version[other.id], var.id);
}

PROGRAM_TEST(a_row_rewritten_to_null_is_dropped_with_its_regions)
{
  vyre_row x = build_gid(&b), test = vyre_build_if(&b, x), in = build_gid(&b);
  vyre_builder_leave(&b, test);
  vyre_row user = vyre_build_unary(&b, VYRE_OP_not, in);
  assert_null(vyre_module_seal(m, NULL)); /* ids are dense already */
  uint32_t map[32];
  vyre_row_rewrite(m, test, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  assert_false(vyre_module_is_sealed(m));
  assert_null(vyre_module_seal(m, map));
  check_sealed(m);
  assert_int_equal(map[in.id], 0);
  assert_int_equal(v->next[map[x.id]], map[user.id]);
  assert_int_equal(v->a[map[user.id]], 0);
  assert_int_equal(v->last[map[program.id]], map[user.id]);
}

MODULE_TEST(programs_follow_one_another)
{
  vyre_builder at[3];
  vyre_row programs[3];
  for (int i = 0; i < 3; i++)
    programs[i] = vyre_build_program(m, "p", 0, 0, &at[i]);
  for (int k = 0; k < 50; k++) /* mixes the rows of all three */
    for (int i = 0; i < 3; i++)
      vyre_build_imm(&at[i], VYRE_OP_add, build_value(&at[i]), (uint32_t)i);
  uint32_t map[512];
  assert_null(vyre_module_seal(m, map));
  check_sealed(m);
  for (uint32_t row = 1; row < v->rows; row++) {
    uint32_t place = row >= map[programs[2].id] ? 2 : row >= map[programs[1].id] ? 1 : 0;
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_add)
      assert_int_equal(v->imm[row], place);
  }
}

/* Rows that constants move down keep their names, and leave no names behind. */
PROGRAM_TEST(names_move_with_their_rows)
{
  vyre_row rows[6];
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
}

MODULE_TEST(names_become_unique_in_program_order)
{
  vyre_builder at[2];
  vyre_row x[2][5], p[2];
  const char *as_programs[2] = {"main_1", "main"}; /* rows may have the name of a program */
  for (int i = 0; i < 2; i++) {
    p[i] = vyre_build_program(m, "main", 0, 0, &at[i]);
    for (int k = 0; k < 5; k++)
      x[i][k] = build_gid(&at[i]);
    vyre_row_set_name(m, x[i][3], "x", 1); /* not in program order */
    vyre_row_set_name(m, x[i][0], "x", 1);
    vyre_row_set_name(m, x[i][1], "x", 1);
    vyre_row_set_name(m, x[i][2], "x_1", 3);
    vyre_row_set_name(m, x[i][4], as_programs[i], strlen(as_programs[i]));
  }
  assert_false(vyre_module_is_sealed(m));
  assert_null(vyre_module_seal(m, NULL)); /* rows are in order: ids do not change */
  assert_string_equal(vyre_row_name(m, p[0]), "main");
  assert_string_equal(vyre_row_name(m, p[1]), "main_1");
  for (int i = 0; i < 2; i++) {
    assert_string_equal(vyre_row_name(m, x[i][0]), "x");
    assert_string_equal(vyre_row_name(m, x[i][1]), "x_2");
    assert_string_equal(vyre_row_name(m, x[i][2]), "x_1");
    assert_string_equal(vyre_row_name(m, x[i][3]), "x_3");
    assert_string_equal(vyre_row_name(m, x[i][4]), as_programs[i]);
  }
  vyre_row_set_name(m, build_gid(&at[0]), "x", 1);
  vyre_row_unlink(m, x[1][1]); /* moved into the other program */
  vyre_row_insert(m, x[1][1], p[0], VYRE_NONE);
  uint32_t map[64];
  assert_null(vyre_module_seal(m, map));
  assert_string_equal(vyre_row_name(m, row_of(map[x[1][1].id])), "x_2_1");
  assert_string_equal(vyre_row_name(m, row_of(map[x[1][1].id] - 1)), "x_4");
}

MODULE_TEST(names_are_made_unique_again_after_edits)
{
  vyre_builder c;
  vyre_build_program(m, "p", 0, 0, &b);
  vyre_row x = build_gid(&b), y = build_gid(&b);
  vyre_row other = vyre_build_program(m, "q", 0, 0, &c), z = build_gid(&c);
  vyre_row_set_name(m, x, "x", 1);
  vyre_row_set_name(m, z, "x", 1);
  assert_null(vyre_module_seal(m, NULL));
  vyre_row_set_name(m, y, "x", 1);
  assert_false(vyre_module_is_sealed(m));
  assert_null(vyre_module_seal(m, NULL));
  assert_string_equal(vyre_row_name(m, y), "x_1");
  vyre_row_unlink(m, x);
  vyre_row_insert(m, x, other, VYRE_NONE);
  uint32_t map[16];
  assert_null(vyre_module_seal(m, map));
  assert_string_equal(vyre_row_name(m, row_of(map[z.id])), "x");
  assert_string_equal(vyre_row_name(m, row_of(map[x.id])), "x_1");
}

PROGRAM_TEST(equal_names_are_made_unique_in_linear_time)
{
  enum { COUNT = 200000 };
  vyre_row last = VYRE_NONE;
  for (int i = 0; i < COUNT; i++)
    vyre_row_set_name(m, last = build_gid(&b), "t", 1);
  assert_null(vyre_module_seal(m, NULL));
  assert_string_equal(vyre_row_name(m, last), "t_199999");
}

PROGRAM_TEST(deep_nesting_seals)
{
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
}

/* ---- links that no edit can make ---- */

/* If rows were only removed, sealing derives links from parents. */
PROGRAM_TEST(a_damaged_parent_is_an_error)
{
  vyre_row dead = build_gid(&b), row = build_gid(&b);
  assert_null(vyre_module_seal(m, NULL));
  vyre_row_kill(m, dead);
  ((uint32_t *)(uintptr_t)v->parent)[row.id] = UINT32_MAX;
  assert_error(vyre_module_seal(m, NULL), VYRE_CODE_INTERNAL, "");
}

TEST(damaged_links_are_an_error)
{
  uint32_t refused = 0;
  for (uint32_t seed = 1, round = 0; round < budget_part(3000); round++) {
    assert_ok(vyre_module_create(NULL, 64, &m));
    v = vyre_module_view(m);
    vyre_build_program(m, "p", 0, 0, &b);
    vyre_build_if(&b, build_gid(&b));
    build_gid(&b);
    vyre_build_loop(&b);
    build_gid(&b);
    const uint32_t *const links[] = {v->parent, v->prev, v->next, v->first, v->last};
    for (uint32_t i = 0; i < 1 + round % 3; i++) {
      uint32_t *link = (uint32_t *)(uintptr_t)&links[next_random(&seed) % 5][next_random(&seed) % v->rows];
      *link = next_random(&seed) % 8 ? next_random(&seed) % v->rows : next_random(&seed) << 8;
    }
    vyre_row_set_operand(m, row_of(4), 0, row_of(3)); /* makes the module unsealed */
    vyre_status status = vyre_module_seal(m, NULL);
    refused += status != NULL;
    if (status)
      assert_error(status, VYRE_CODE_INTERNAL, "tree");
    else
      check_sealed(m); /* the rows that were reached are linked again */
    vyre_module_destroy(m);
  }
  assert_true(refused > budget_part(300));
}

/* ---- size ---- */

static double
seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Builds chains of adds with lines, and a constant now and then, so that sealing has to move all rows. */
static void
build_rows(uint32_t rows)
{
  vyre_build_program(m, "big", 0, 0, &b);
  b.scope = vyre_scope_of_file(m, vyre_string_intern(m, "big.vir", 7));
  vyre_row x = build_value(&b), y = x;
  while (v->rows < rows) {
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

MODULE_TEST(ten_million_rows_build_and_seal)
{
  const uint32_t rows = 10000000;
  double start = seconds();
  build_rows(rows);
  double built = seconds();
  assert_null(vyre_module_seal(m, NULL));
  double sealed = seconds();
  assert_true(v->rows > rows - rows / 60 && v->rows < rows);
  for (uint32_t row = 1; row < v->rows; row++) /* the operands of each chain are intact */
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_add)
      assert_true(v->a[row] < row && v->b[row] < row && v->b[row] != 0);
  assert_true(vyre_module_is_sealed(m));
  print_message("10M rows: build %.2f s, seal %.2f s, %.1f bytes a row committed\n", built - start, sealed - built,
                (double)vyre_module_bytes(m) / rows);
}

/* New rows get the ids of dropped rows, but not the contents of their side tables. */
PROGRAM_TEST(names_and_lines_of_dropped_rows_are_removed)
{
  vyre_row rows[4];
  for (int i = 0; i < 4; i++) {
    rows[i] = build_gid(&b);
    vyre_row_set_name(m, rows[i], &"abcd"[i], 1);
    vyre_row_set_line(m, rows[i], 0, (uint32_t)i + 1, 1);
  }
  for (int i = 1; i < 4; i++)
    vyre_row_kill(m, rows[i]);
  assert_null(vyre_module_seal(m, NULL));
  vyre_builder_at_end(&b, program);
  assert_string_equal(vyre_row_name(m, row_of(v->rows - 1)), "a");
  for (int i = 1; i < 4; i++) {
    vyre_row row = build_gid(&b);
    vyre_string file;
    uint32_t line, column;
    assert_null(vyre_row_name(m, row));
    assert_false(vyre_row_line(m, row, &file, &line, &column));
  }
}
