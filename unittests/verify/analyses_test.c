/* Loops, dominance, levels: programs that a careless analysis handles wrongly, and random programs compared with definitions by
 * links; columns that are shown, dropped and poisoned, and reports of wrong values.
 *
 * In the texts, the name of a value states its expected property in its innermost loop.  yes.. runs in each iteration, no.. does
 * not; move.. may be hoisted, stay.. may not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../module.h"
#include "random_program.h"
#include "vyre/verify.h"
#include "vyre/view.h"

/* Parses a valid text.  Returns its module with all analyses. */
static vyre_module *
analyse(const char *text)
{
  vyre_module *m = parse(text);
  vyre_verify_errors errors = {0};
  assert_ok(vyre_verify(m, &errors));
  assert_ok(vyre_module_make_analyses(m, VYRE_ANALYSES));
  assert_ok(vyre_verify_analyses(m, VYRE_ANALYSES));
  return m;
}

/* ---- loops ---------------------------------------------------------------------------------------------------------------- */

/* Checks the properties that the names of the program state, and returns their number. */
static uint32_t
check_names(const char *text)
{
  vyre_module *m = analyse(text);
  const vyre_view *v = vyre_module_view(m);
  uint32_t checked = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    const char *name = vyre_row_name(m, (vyre_row){row});
    if (!name || !v->loop[row])
      continue;
    const bool runs = vyre_row_surely_runs(v, row, v->loop[row]), moves = vyre_row_may_move(v, row, v->loop[row]);
    if (!strncmp(name, "yes", 3) ? !runs : !strncmp(name, "no", 2) ? runs : false)
      fail_msg("%%%s: surely runs: %d", name, runs);
    if (!strncmp(name, "move", 4) ? !moves : !strncmp(name, "stay", 4) ? moves : false)
      fail_msg("%%%s: may move: %d", name, moves);
    checked += !strncmp(name, "yes", 3) || !strncmp(name, "no", 2) || !strncmp(name, "move", 4) || !strncmp(name, "stay", 4);
  }
  vyre_module_destroy(m);
  return checked;
}

#define HEAD                                                                                                                       \
  "program @p%s workgroup(4, 1, 1) { buffer %%x : u32[] storage rw set(0) binding(0) buffer %%w : u32[] storage ro set(0) "        \
  "binding(1)"                                                                                                                     \
  " buffer %%f : u32[] storage rw coherent set(0) binding(2) var %%s : u32 var %%t : u32 %%i = gid.x %%n = load %%w[0] %%c = ult " \
  "%%i, 3u32\n"

typedef struct body {
  bool relaxed;
  const char *text;
  uint32_t names; /* number of names that state a property */
} body;

static void
check_bodies(const body *bodies, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s }", bodies[i].relaxed ? " relaxed" : "", bodies[i].text);
    assert_int_equal(check_names(text), bodies[i].names);
  }
}

TEST(rows_of_loop_bodies_that_surely_run)
{
  static const body bodies[] = {
      {false, "loop { %yes = add %i, 1u32 } continuing { %no = add %i, 2u32 breakif %c }", 2},
      {false, "for %k = 0u32 to 4u32 { %yes = add %k, 1u32 }", 1},
      {false, "for %k = 4u32 to 4u32 { %no = add %k, 1u32 }", 1},
      {false, "for %k = 0u32 to %n { %no = add %k, 1u32 }", 1},
      {false, "for %k = -1i32 to 0i32 { %yes = add %k, 1i32 }", 1}, /* bounds are compared in their type */
      {false, "for %k = 0i32 to -1i32 { %no = add %k, 1i32 }", 1},
      {false, "for %k = 0u32 to 0xffffffffu32 { %yes = add %k, 1u32 }", 1},
      {false, "for %k = 0u32 to 4u32 { if %c { %no = add %k, 1u32 } %yes = add %k, 2u32 }", 2},
  };
  check_bodies(bodies, sizeof bodies / sizeof *bodies);
}

TEST(rows_after_exits_do_not_surely_run)
{
  static const body bodies[] = {
      {false, "for %k = 0u32 to 4u32 { %yes = add %k, 1u32 if %c { break } %no = add %k, 2u32 }", 2},
      {false, "loop { %yes = add %i, 1u32 if %c { continue } %no = add %i, 2u32 } continuing { breakif %c }", 2},
      {false, "for %k = 0u32 to 4u32 { %yes = add %k, 1u32 if %c { trap } %no = add %k, 2u32 }", 2},
      /* through a switch and a block */
      {false, "for %k = 0u32 to 4u32 { switch %i { case 1u32 { block %b { if %c { break } } } } %no = add %k, 2u32 }", 1},
      /* break and continue of an inner loop do not end an iteration of the outer loop, but a return does */
      {false, "for %k = 0u32 to 4u32 { for %l = 0u32 to 4u32 { if %c { break } %no = add %l, 1u32 } %yes = add %k, 2u32 }", 2},
      {false, "for %k = 0u32 to 4u32 { loop { if %c { continue } } continuing { breakif %c } %yes = add %k, 2u32 }", 1},
      {false,
       "for %k = 0u32 to 4u32 { %yes = add %k, 1u32 for %l = 0u32 to 4u32 { %yes1 = add %l, 1u32 for %m = 0u32 to %n { if %c { "
       "return } } %no = add %l, 1u32 } %no1 = add %k, 2u32 }",
       4},
      /* a leave ends only its block */
      {false, "for %k = 0u32 to 4u32 { block %b { if %c { leave %b } store %x[0], %k } %yes = add %k, 2u32 }", 1},
      {false, "block %b { for %k = 0u32 to 4u32 { %yes = add %k, 1u32 if %c { leave %b } %no = add %k, 2u32 } }", 2},
      {false,
       "for %k = 0u32 to 4u32 { block %b { for %l = 0u32 to 4u32 { if %c { leave %b } %no = add %l, 2u32 } } %yes = add %k, 2u32 }",
       2},
      {false,
       "%q = switch %i { case 1u32 { for %k = 0u32 to 4u32 { for %l = 0u32 to 4u32 { if %c { leave %q } } %no = add %k, 2u32 } } }",
       1},
      /* the first of several exits counts, also if that of an inner loop is found later */
      {false,
       "for %k = 0u32 to 4u32 { for %l = 0u32 to 4u32 { if %c { return } } %no = add %k, 2u32 if %c { break } %no1 = add %k, 3u32 "
       "}",
       2},
      {false, "for %k = 0u32 to 4u32 { if %c { break } for %l = 0u32 to 4u32 { if %c { return } } %no = add %k, 2u32 }", 1},
  };
  check_bodies(bodies, sizeof bodies / sizeof *bodies);
}

TEST(rows_that_may_be_hoisted)
{
  static const body bodies[] = {
      /* a row that may be undefined is hoisted only if it surely runs; in strict programs no row is undefined */
      {true, "for %k = 0u32 to %n { %stay = load %w[%n] }", 1},
      {false, "for %k = 0u32 to %n { %move = load %w[%n] }", 1},
      {true, "for %k = 0u32 to 4u32 { %move = load %w[%n] if %c { break } %stay = load %w[%n] }", 2},
      {true,
       "for %k = 0u32 to %n { %stay = udiv %n, %i %move = udiv %n, 7u32 %move1 = shl %n, %i %move2 = fmin convert(%n : f32), "
       "1.0f32 }",
       4},
      {true,
       "for %k = 0i32 to 4i32 { if %c { %stay = sdiv %k, -1i32 %stay1 = sdiv %k, 0i32 %move = sdiv %k, 3i32 %move1 = add %k, 1i32 "
       "} }",
       4},
      {true, "for %k = 0u32 to %n { %stay = lane gid, %n %move = lane gid, 2u32 %stay1 = lane gid, 3u32 }", 3},
      /* a read is hoisted if its version is outside the loop: a set, a join, a head, a set in an arm, an inner loop */
      {false, "for %k = 0u32 to 4u32 { %stay = get %s %up = add %stay, 1u32 set %s, %up %move = get %t }", 2},
      {false, "for %k = 0u32 to 4u32 { if %c { set %s, %k } %stay = get %s }", 1},
      {false, "for %k = 0u32 to 4u32 { for %l = 0u32 to 4u32 { %move = get %s } %stay = get %s set %s, %k }", 2},
      {false, "set %s, %i for %k = 0u32 to 4u32 { %move = get %s if %c { %move1 = get %s } }", 2},
      {false, "for %k = 0u32 to 4u32 { %stay = load %x[0] %move = load %w[0] store %x[1], %k }", 2},
      /* a spin loop must read again, and a barrier in a loop makes writes of others visible */
      {false, "loop { %stay = load %f[0] } continuing { breakif %c }", 1},
      {false, "loop { %stay = load volatile %w[0] } continuing { breakif %c }", 1},
      {false, "for %k = 0u32 to 4u32 { %stay = load %x[0] barrier device acq_rel uniform_memory }", 1},
      /* effects, decorations, regions */
      {false, "for %k = 0u32 to 4u32 { %stay = atomic_add %x[0], 1u32 %stay1 = add %i, 1u32 deco(42) %move = add %i, 1u32 }", 3},
  };
  check_bodies(bodies, sizeof bodies / sizeof *bodies);
}

/* ---- random programs compared with definitions ---------------------------------------------------------------------------- */

static bool
is_loop(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_for || VYRE_ROW_OP(v->op[row]) == VYRE_OP_loop;
}

static bool
is_inside(const vyre_view *v, uint32_t row, uint32_t around)
{
  for (row = v->parent[row]; row; row = v->parent[row])
    if (row == around)
      return true;
  return false;
}

static uint32_t
loop_around(const vyre_view *v, uint32_t row)
{
  for (row = v->parent[row]; row && !is_loop(v, row);)
    row = v->parent[row];
  return row;
}

static bool
dominates(const vyre_view *v, uint32_t x, uint32_t y)
{
  if (x == y)
    return false;
  if (vyre_op_infos[VYRE_ROW_OP(v->op[x])].flags & VYRE_OP_REGION)
    return is_inside(v, y, x);
  for (uint32_t next = x; next; next = v->next[next])
    if (next == y || is_inside(v, y, next))
      return true;
  return false;
}

static uint32_t
level_of(const vyre_view *v, uint32_t row)
{
  uint32_t level = 0;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t least = operands[i] ? level_of(v, operands[i]) + 1 : 0;
    level = least > level ? least : level;
  }
  return level;
}

static bool
ends_trip(const vyre_view *v, uint32_t jump, uint32_t loop)
{
  switch (VYRE_ROW_OP(v->op[jump])) {
  case VYRE_OP_break:
  case VYRE_OP_continue:
    return loop_around(v, jump) == loop;
  case VYRE_OP_leave:
    return is_inside(v, loop, v->a[jump]);
  case VYRE_OP_return:
  case VYRE_OP_trap:
    return true;
  default:
    return false;
  }
}

static uint32_t
exit_of(const vyre_view *v, uint32_t loop)
{
  for (uint32_t region = v->first[loop]; region; region = v->next[region])
    for (uint32_t row = v->first[region]; row; row = v->next[row])
      for (uint32_t jump = row; jump < v->rows && (jump == row || is_inside(v, jump, row)); jump++)
        if (ends_trip(v, jump, loop))
          return row;
  return 0;
}

static uint32_t
check_random(uint32_t seed, uint32_t *exits_seen)
{
  vyre_module *m;
  uint32_t loops = 0, before = 0, count = 0;
  assert_ok(vyre_module_create(NULL, 1u << 16, &m));
  random_program_build(m, seed, false);
  random_program_build(m, seed + 1000000, true);
  assert_ok(vyre_module_seal(m, NULL));
  assert_ok(vyre_module_make_analyses(m, VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS));
  assert_ok(vyre_verify_analyses(m, VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS));
  const vyre_view *v = vyre_module_view(m);
  for (uint32_t row = 1; row < v->rows; row++) {
    assert_int_equal(v->loop[row], loop_around(v, row));
    assert_int_equal(v->depth[row], v->parent[row] ? v->depth[v->parent[row]] + 1 : 0);
    assert_int_equal(v->loop_exit[row], is_loop(v, row) ? exit_of(v, row) : 0);
    loops += is_loop(v, row);
    *exits_seen += v->loop_exit[row] != 0;
    if (row % 7 == seed % 7)
      assert_int_equal(v->level[row], level_of(v, row));
    for (uint32_t other = row % 5 + 1; other < v->rows; other += 5)
      assert_int_equal(vyre_row_dominates(v, row, other), dominates(v, row, other));
  }
  for (uint32_t loop = v->loop_next[0]; loop; loop = v->loop_next[loop], count++) {
    assert_true(count == 0 || is_inside(v, before, loop) || before < loop);
    before = loop;
  }
  assert_int_equal(count, loops);
  vyre_module_destroy(m);
  return loops;
}

TEST(random_programs_agree_with_definitions)
{
  uint32_t loops = 0, seen = 0;
  for (uint32_t seed = 1; seed <= budget_part(40); seed++)
    loops += check_random(seed, &seen);
  assert_true(loops > budget_part(100) && seen > budget_part(20) && seen < loops);
}

/* ---- joins --------------------------------------------------------------------------------------------------------------- */

/* Inner joins precede outer joins, though the outer join is found first. */
TEST(inner_joins_precede_outer_joins)
{
  vyre_module *m =
      analyse("program @a { var %s : f32 var %t : f32 %c = ult lindex, 4u32 if %c { if %c { set %s, 1.0f32 } } %g = get %s\n"
              "block { if %c { if %c { set %t, 1.0f32 } } } %h = get %t }");
  const vyre_view *v = vyre_module_view(m);
  assert_int_equal(v->join_count, 1 + 5);
  for (uint32_t i = 1; i < v->join_count; i++)
    for (uint32_t part = 0; part < v->joins[i].count; part++) {
      const uint32_t version = v->parts[v->joins[i].first + part].version;
      assert_true((version & VYRE_JOIN) == 0 || (version & ~VYRE_JOIN) < i);
    }
  vyre_module_destroy(m);
}

/* Each case of a switch sets another variable, so the join of each variable has two parts. */
TEST(a_switch_of_many_vars_has_few_parts)
{
  enum { CASES = 3000 };
  vyre_bytes text = {0};
  assert_null(vyre_bytes_printf(&text, "program @a {\n"));
  for (uint32_t i = 0; i < CASES; i++)
    assert_null(vyre_bytes_printf(&text, "var %%v%u : f32\n", i));
  assert_null(vyre_bytes_printf(&text, "switch lindex {\n"));
  for (uint32_t i = 0; i < CASES; i++)
    assert_null(vyre_bytes_printf(&text, "case %uu32 { set %%v%u, 1.0f32 }\n", i, i));
  assert_null(vyre_bytes_printf(&text, "}\n"));
  for (uint32_t i = 0; i < CASES; i++)
    assert_null(vyre_bytes_printf(&text, "%%g%u = get %%v%u\n", i, i));
  assert_null(vyre_bytes_printf(&text, "}\n"));
  vyre_module *m = analyse(text.data);
  assert_int_equal(vyre_module_view(m)->join_count, 1 + CASES);
  assert_int_equal(vyre_module_view(m)->part_count, 2 * CASES);
  vyre_module_destroy(m);
  vyre_bytes_free(&text);
}

/* ---- shown columns -------------------------------------------------------------------------------------------------------- */

static const char small[] = "program @a { var %s : u32 for %k = 0u32 to 4u32 { %x = add %k, 1u32 %y = add %k, 2u32 %g = get %s } }";

TEST(columns_are_shown_and_dropped)
{
  vyre_module *m = analyse(small);
  const vyre_view *v = vyre_module_view(m);
  assert_true(v->loop && v->loop_next && v->loop_exit && v->end && v->level && v->depth);
  const uint32_t *level = v->level;
  vyre_module_show_analyses(m, VYRE_LOOPS);
  assert_true(v->loop && v->loop_next && v->loop_exit && !v->end && !v->level && !v->depth);
  vyre_module_show_analyses(m, VYRE_ANALYSES);
  assert_ptr_equal(v->level, level); /* columns do not move */
  vyre_module_drop_analyses(m, VYRE_LEVELS, false);
  vyre_module_show_analyses(m, VYRE_ANALYSES);
  assert_true(v->loop && v->end && !v->level && !v->depth);
  assert_ok(vyre_module_make_analyses(m, VYRE_LEVELS));
  assert_true(v->loop && v->end && v->level == level);
  /* new rows have zero cells, for any earlier contents */
  vyre_builder b = {.module = m};
  vyre_builder_before(&b, (vyre_row){find_name(m, "g")});
  const vyre_row made = vyre_build_imm(&b, VYRE_OP_add, (vyre_row){find_name(m, "y")}, 3);
  assert_int_equal(v->level[made.id], 0);
  assert_int_equal(v->end[made.id], 0);
  assert_false(vyre_row_dominates(v, find_name(m, "x"), made.id));
  assert_false(vyre_row_dominates(v, made.id, find_name(m, "g")));
  assert_true(vyre_loops_contain(v, v->parent[find_name(m, "k")], made.id));
  assert_ok(vyre_module_seal(m, NULL)); /* renumbers rows, so no analysis is valid */
  assert_true(!v->loop && !v->loop_next && !v->loop_exit && !v->end && !v->level && !v->depth);
  assert_ok(vyre_module_make_analyses(m, VYRE_LEVELS | VYRE_LOOPS));
  vyre_row_kill(m, (vyre_row){find_name(m, "x")});
  assert_ok(vyre_module_seal(m, NULL));
  assert_ok(vyre_module_make_analyses(m, VYRE_LEVELS));
  assert_int_equal(level[v->rows], 0);
  vyre_module *copy;
  assert_ok(vyre_module_clone(m, &copy));
  assert_null(vyre_module_view(copy)->level);
  vyre_module_destroy(copy);
  vyre_module_clear(m);
  assert_null(v->level);
  vyre_module_destroy(m);
}

/* The columns of analyses grow with the module, and their new cells are zero. */
TEST(columns_grow_with_the_module)
{
  vyre_module *m = analyse(small);
  const vyre_view *v = vyre_module_view(m);
  vyre_builder b = {.module = m};
  vyre_builder_before(&b, (vyre_row){find_name(m, "g")});
  for (uint32_t i = 0; i < 30000; i++)
    vyre_build_imm(&b, VYRE_OP_add, (vyre_row){find_name(m, "k")}, i);
  assert_ok(vyre_module_status(m));
  assert_int_equal(v->level[v->rows - 1] | v->loop[v->rows - 1] | v->depth[v->rows - 1] | v->end[v->rows - 1], 0);
  vyre_module_destroy(m);
}

static uint32_t commits_left;

static bool
scarce_commit(void *user, void *memory, size_t old_size, size_t new_size)
{
  (void)user;
  return commits_left-- > 0 && vyre_allocator_default()->commit(vyre_allocator_default()->user, memory, old_size, new_size);
}

TEST(analyses_may_run_out_of_memory)
{
  vyre_allocator allocator = *vyre_allocator_default();
  allocator.commit = scarce_commit;
  for (uint32_t at = 0;; at++) {
    vyre_module *m;
    commits_left = 1000;
    assert_ok(vyre_module_create(&allocator, 1u << 16, &m));
    parse_into(m, small);
    commits_left = at;
    vyre_status status = vyre_module_make_analyses(m, VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS);
    const vyre_view *v = vyre_module_view(m);
    assert_true(status ? !v->loop && !v->end && !v->level : v->loop && v->end && v->level);
    const bool enough = !status;
    assert_true(enough || strstr(vyre_status_text(status), "out of memory"));
    vyre_status_free(status);
    vyre_module_destroy(m);
    if (enough) {
      assert_int_equal(at, 6); /* one commit for each column */
      return;
    }
  }
}

TEST(dropped_columns_are_poisoned)
{
  vyre_module *m = analyse(small);
  const vyre_view *v = vyre_module_view(m);
  const uint32_t *level = v->level, *loop = v->loop, *version = v->version, g = find_name(m, "g");

  vyre_module_drop_analyses(m, VYRE_LEVELS | VYRE_VERSIONS, true);
  for (uint32_t row = 0; row < v->rows; row++)
    assert_int_equal(level[row], UINT32_MAX);
  assert_int_equal(version[g], UINT32_MAX);
  assert_ptr_equal(v->loop, loop);
  assert_ok(vyre_verify_analyses(m, VYRE_LOOPS | VYRE_DOMINANCE));
  assert_error(vyre_verify_analyses(m, VYRE_LEVELS), VYRE_CODE_INTERNAL, "");
  assert_ok(vyre_module_make_analyses(m, VYRE_ANALYSES));
  assert_ok(vyre_verify_analyses(m, VYRE_ANALYSES));
  assert_int_not_equal(v->version[g], UINT32_MAX);
  vyre_module_destroy(m);
}

TEST(wrong_cells_are_reported)
{
  vyre_module *m = analyse(small);
  const vyre_view *v = vyre_module_view(m);
  const uint32_t y = find_name(m, "y"), k = find_name(m, "k");
  const struct {
    const uint32_t *column;
    uint32_t row, wrong;
    const char *message;
  } cases[] = {
      {v->version, find_name(m, "g"), 1, "the version of %g (u32) is recorded as "},
      {v->loop, y, 0, "the innermost loop around %y (u32) is recorded as none, but it is row "},
      {v->loop_next, 0, 0, "the loop after row 0 is recorded as none, but it is row "},
      {v->loop_exit, v->parent[k], y, " (for) is recorded as %y (u32), but it is none"},
      {v->end, k, y, "the last row in %k (u32) is recorded as %y (u32), but it is %g (u32)"},
      {v->level, y, 7, "the operand level of %y (u32) is recorded as 7, but it is 1"},
      {v->depth, y, 0, "the depth of %y (u32) is recorded as 0, but it is 3"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t *cell = (uint32_t *)cases[i].column + cases[i].row, right = *cell;
    *cell = cases[i].wrong;
    assert_error(vyre_verify_analyses(m, VYRE_ANALYSES), VYRE_CODE_INPUT, cases[i].message);
    *cell = right;
  }
  assert_ok(vyre_verify_analyses(m, VYRE_ANALYSES));
  vyre_module_destroy(m);
}

static void
expect_other_states(const vyre_module *m)
{
  assert_error(vyre_verify_analyses(m, VYRE_VERSIONS), VYRE_CODE_INPUT, "the states that are joined at row");
}

TEST(wrong_parts_of_a_join_are_reported)
{
  vyre_module *m =
      analyse("program @a { var %s : u32 %c = ult lindex, 4u32 if %c { set %s, 1u32 } else { set %s, 2u32 } %g = get %s }");
  const vyre_view *v = vyre_module_view(m);
  const vyre_join *found = vyre_join_of(v, v->version[find_name(m, "g")]);
  assert_non_null(found);
  assert_int_equal(found->count, 2);
  vyre_join *join = (vyre_join *)found;
  vyre_part *part = (vyre_part *)v->parts + join->first;
  const vyre_part right = *part;
  part->version = part[1].version;
  expect_other_states(m);
  *part = right;
  part->edge = part[1].edge;
  expect_other_states(m);
  *part = right;
  join->count = 1;
  expect_other_states(m);
  join->count = 2;
  assert_ok(vyre_verify_analyses(m, VYRE_ANALYSES));
  vyre_module_destroy(m);
}
