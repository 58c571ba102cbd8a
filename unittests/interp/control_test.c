/* Control flow that ends a run, and the ids of invocations.  unittests/spirv/import_control.c tests divergent control flow.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

TEST(ids_enumerate_the_grid)
{
  uint32_t out[2 * 3 * 2 * 4 * 2][4];
  launch l = {.text = "program @p workgroup(4, 2, 1) {\n"
                      "  buffer %y : u32x4[] storage set(0) binding(0) %g = gid %w = wid %n = groups %l = lid\n"
                      "  %flat = add(mul(add(mul(add(mul(%w.z, %n.y), %w.y), %n.x), %w.x), 8u32), lindex)\n"
                      "  store %y[%flat], join(%g, add(mul(lindex, 100u32), add(mul(%l.y, 10u32), %l.x)))\n"
                      "}\n",
              .groups = {2, 3, 2},
              .buffers = {{"y", out, sizeof out}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 2 * 3 * 2 * 8; i++) {
    const uint32_t group = i / 8, local = i % 8;
    assert_int_equal(out[i][0], group % 2 * 4 + local % 4);
    assert_int_equal(out[i][1], group / 2 % 3 * 2 + local / 4);
    assert_int_equal(out[i][2], group / 6);
    assert_int_equal(out[i][3], local * 100 + local / 4 * 10 + local % 4);
  }
}

TEST(ids_enumerate_a_workgroup_of_three_axes)
{
  uint32_t out[24][4];
  launch l = {.text = "program @p workgroup(2, 3, 4) {\n"
                      "  buffer %y : u32x4[] storage set(0) binding(0) %l = lid\n"
                      "  store %y[lindex], join(gid, add(mul(%l.z, 100u32), add(mul(%l.y, 10u32), %l.x)))\n"
                      "}\n",
              .buffers = {{"y", out, sizeof out}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 24; i++) {
    assert_int_equal(out[i][0], i % 2);
    assert_int_equal(out[i][1], i / 2 % 3);
    assert_int_equal(out[i][2], i / 6);
    assert_int_equal(out[i][3], i / 6 * 100 + i / 2 % 3 * 10 + i % 2);
  }
}

/* ---- errors that end a run ------------------------------------------------------------------------------------------ */

TEST(a_barrier_that_not_all_reach_is_an_error)
{
  const launch_case cases[] = {
      {{.text = "program @half workgroup(96, 2, 1) { %l = lid if ult %l.x, 70u32 { barrier workgroup } }\n", .groups = {3, 1, 1}},
       {"program @half, row", "(barrier", "not reached by invocation (70, 0, 0) of workgroup (0, 0, 0), global (70, 0, 0)"}},
      /* Some invocations have left the loop already. */
      {{.text = "program @p workgroup(8, 1, 1) { %i = lindex for %k = 0u32 to add(%i, 1u32) { barrier workgroup } }\n"},
       {"barrier", "non-uniform control flow", "invocation (0, 0, 0)"}},
      /* A condition that is equal in all invocations of a workgroup is uniform.  A memory barrier does not wait. */
      {{.text = "program @p workgroup(8, 1, 1) {\n"
                "  %w = wid if eq %w.x, 1u32 { barrier workgroup }\n"
                "  if eq lindex, 1u32 { barrier invocation workgroup acq_rel workgroup_memory }\n"
                "}\n",
        .groups = {3, 1, 1}},
       {NULL}},
      /* The barrier does not wait for returned invocations. */
      {{.text = "program @p workgroup(96, 1, 1) { if eq umod(lindex, 5u32), 2u32 { return } barrier workgroup }\n"}, {NULL}},
  };
  LAUNCH_CHECK(cases);
}

TEST(an_endless_loop_ends_at_the_step_budget)
{
  const launch_case cases[] = {
      {{.text = "program @spin workgroup(100, 1, 1) {\n"
                "  var %s : u32 %i = lindex\n"
                "  if eq %i, 67u32 { loop { %t = get %s  set %s, add(%t, 1u32) } continuing { breakif false } }\n"
                "}\n",
        .options = {.steps = 10000}},
       {"program @spin, row", "10000 rows", "invocation (67, 0, 0)"}},
      {{.text = "program @p workgroup(1, 1, 1) { loop { } continuing { } }\n", .options = {.steps = 1000}},
       {"endless", "(loop", "1000 rows"}},
      {{.text = "program @p workgroup(1, 1, 1) { for %k = 0u32 to 4u32 step 0u32 { } }\n", .options = {.steps = 1000}},
       {"endless", "(for", "1000 rows"}},
      /* The budget is per invocation: both arms together exceed it. */
      {{.text = "program @p workgroup(2, 1, 1) {\n"
                "  var %s : u32\n"
                "  if eq lindex, 0u32 { for %k = 0u32 to 100u32 { set %s, %k } } else { for %j = 0u32 to 100u32 { set %s, %j } }\n"
                "}\n",
        .options = {.steps = 320}},
       {NULL}},
  };
  LAUNCH_CHECK(cases);
  /* The budget is exact: one row less ends the run. */
  launch straight = {.text = "program @p workgroup(1, 1, 1) {\n  %a = add(lindex, 1u32)\n  %b = add(%a, 1u32)\n}\n"};
  launch_ok(&straight);
  straight.options.steps = straight.stats.rows;
  launch_ok(&straight);
  straight.options.steps--;
  launch_fails(&straight, "still running", "rows", "invocation (0, 0, 0)");
}

TEST(traps_and_invalid_workgroup_sizes_are_errors)
{
  const launch_case cases[] = {
      {{.text = "program @p workgroup(2, 3, 4) {\n"
                "  %g = gid\n"
                "  if and(eq(%g.z, 6u32), and(eq(%g.y, 4u32), eq(%g.x, 1u32))) { trap }\n"
                "}\n",
        .groups = {1, 2, 2}},
       {"trap in invocation (1, 1, 2)", "of workgroup (0, 1, 1)", "global (1, 4, 6)"}},
      {{.text = "program @p workgroup(8, 1, 1) { if eq lindex, 5u32 { trap } }\n"},
       {"(trap", "trap in invocation (5, 0, 0)", "program @p"}},
      {{.text = "program @p {\n  spec %n : u32 = 0u32 id(1)\n  workgroup 4u32, %n, 1u32\n}\n"},
       {"workgroup", "4 x 0 x 1", "use 1 to 65536"}},
      {{.text = "program @p workgroup(65536, 65536, 1) { }\n"}, {"workgroup", "65536 x 65536 x 1", "use 1 to 65536"}},
  };
  LAUNCH_CHECK(cases);
}

TEST(rows_are_counted_by_active_invocation)
{
  launch l = {.text = "program @p workgroup(10, 1, 1) { var %s : u32 %i = lindex if ult %i, 3u32 { set %s, %i } }\n",
              .groups = {4, 1, 1}};
  launch_ok(&l);
  launch none = {.text = "program @p workgroup(10, 1, 1) { var %s : u32 %i = lindex if ult %i, 0u32 { set %s, %i } }\n",
                 .groups = {4, 1, 1}};
  launch_ok(&none);
  assert_true(l.stats.rows == none.stats.rows + 4 * 3);
}
