/* Control in lockstep: each invocation goes its own way, and comes out as if it were alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

enum { N = 150 }; /* more than two words of a mask, and not a multiple of one */

static uint32_t results[N];

/* The text after its head, by workgroups of `size`: which invocations run together makes no difference. */
static void
run_by(const char *body, uint32_t size)
{
  char text[4096];
  const int length = snprintf(text, sizeof text,
                              "program @p workgroup(%u, 1, 1) {\n  buffer %%y : u32[] storage set(0) binding(0)\n%s", size, body);
  assert_true(length > 0 && (size_t)length < sizeof text);
  memset(results, 0xee, sizeof results);
  launch l = {.text = text, .groups = {N / size, 1, 1}, .buffers = {{"y", results, sizeof results}}};
  launch_ok(&l);
}

static void
expect_each(const char *body, uint32_t (*want)(uint32_t i))
{
  static const uint32_t sizes[] = {N, 1, 64 + 11, 3};
  for (uint32_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    run_by(body, sizes[k]);
    for (uint32_t i = 0; i < N; i++)
      if (results[i] != want(i))
        fail_msg("in workgroups of %u, invocation %u gives %u, not %u", sizes[k], i, results[i], want(i));
  }
}

static uint32_t
want_ifs(uint32_t i)
{
  if (i < 75)
    return i % 2 ? i + 1000 : i + 2000;
  return i == 149 ? 7 : 0;
}

TEST(ifs_diverge)
{
  expect_each("var %s : u32 %i = gid.x\n"
              "if ult %i, 75u32 {\n"
              "  if ne and(%i, 1u32), 0u32 { set %s, add(%i, 1000u32) } else { set %s, add(%i, 2000u32) }\n"
              "} else if eq %i, 149u32 { set %s, 7u32 }\n"
              "%r = get %s store %y[%i], %r }\n",
              want_ifs);
}

static uint32_t
want_loops(uint32_t i)
{
  uint32_t s = 0;
  for (uint32_t k = 0; k < i; k++) {
    if (k % 3 == 1)
      continue;
    if (k == 90)
      break;
    for (uint32_t j = 0; j < 4; j++) {
      if (j == (i & 3))
        break;
      s += k * 10 + j;
    }
    s += 1;
  }
  return s;
}

TEST(for_loops_nest)
{
  expect_each("var %s : u32 %i = gid.x\n"
              "for %k = 0u32 to %i {\n"
              "  if eq umod(%k, 3u32), 1u32 { continue } if eq %k, 90u32 { break }\n"
              "  for %j = 0u32 to 4u32 {\n"
              "    if eq %j, and(%i, 3u32) { break } %t = get %s set %s, add(add(%t, mul(%k, 10u32)), %j)\n"
              "  }\n"
              "  %u = get %s set %s, add(%u, 1u32)\n"
              "}\n"
              "%r = get %s store %y[%i], %r }\n",
              want_loops);
}

static uint32_t
want_signed(uint32_t i)
{
  uint32_t s = 0;
  for (int32_t k = -5; k < (int32_t)i - 10; k += 3)
    s += (uint32_t)(k + 100);
  return s;
}

TEST(for_loops_are_signed_by_type)
{
  expect_each("var %s : u32 %i = gid.x %n = sub(bitcast(%i : i32), 10i32)\n"
              "for %k = -5i32 to %n step 3i32 { %t = get %s set %s, add(%t, bitcast(add(%k, 100i32) : u32)) } %r = get %s\n"
              "store %y[%i], %r }\n",
              want_signed);
}

/* Collatz steps: each invocation leaves at another time; the continuing region has effects of its own, after `continue` too. */
static uint32_t
want_collatz(uint32_t i)
{
  uint32_t n = i + 1, steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps;
}

TEST(loops_leave_one_by_one)
{
  expect_each("var %n : u32 var %steps : u32 %i = gid.x set %n, add(%i, 1u32)\n"
              "if ne %i, 0u32 {\n"
              "  loop {\n"
              "    %v = get %n if ne and(%v, 1u32), 0u32 { set %n, add(mul(%v, 3u32), 1u32) continue } set %n, udiv(%v, 2u32)\n"
              "  } continuing {\n"
              "    %c = get %steps set %steps, add(%c, 1u32) %now = get %n breakif eq %now, 1u32\n"
              "  }\n"
              "}\n"
              "%r = get %steps store %y[%i], %r }\n",
              want_collatz);
}

static uint32_t
want_switch(uint32_t i)
{
  uint32_t s = 0;
  switch (i % 7) {
  case 0:
    s = 100;
    break;
  case 1:
    s = 1; /* falls through */
  case 2:
  case 5:
    s = s * 10 + 2;
    break;
  case 3:
    s = 3; /* falls through */
  default:
    s += 50;
    if (i > 100)
      break;
    s += 5;
  }
  return s;
}

TEST(switches_fall_and_leave)
{
  expect_each("var %s : u32 %i = gid.x\n"
              "%which = switch umod(%i, 7u32) {\n"
              "  case 0u32 { set %s, 100u32 } case 1u32 { set %s, 1u32 fallthrough }\n"
              "  case 2u32, 5u32 { %a = get %s  set %s, add(mul(%a, 10u32), 2u32) } case 3u32 { set %s, 3u32 fallthrough }\n"
              "  default {\n"
              "    %b = get %s set %s, add(%b, 50u32) if ugt %i, 100u32 { leave %which } %c = get %s set %s, add(%c, 5u32)\n"
              "  }\n"
              "}\n"
              "%r = get %s store %y[%i], %r }\n",
              want_switch);
}

static uint32_t
want_no_default(uint32_t i)
{
  return i == 3 ? 30 : i == 140 ? 31 : 9;
}

TEST(a_switch_without_default_may_match_nothing)
{
  expect_each("var %s : u32 %i = gid.x set %s, 9u32\n"
              "switch %i { case 3u32 { set %s, 30u32 } case 140u32, 1000u32, 1001u32, 1002u32, 1003u32 { set %s, 31u32 } }\n"
              "%r = get %s store %y[%i], %r }\n",
              want_no_default);
}

/* An inlined early return out of two loops; `break` and `continue` inside a switch mean the loop. */
static uint32_t
want_block(uint32_t i)
{
  uint32_t s = 0;
  for (uint32_t k = 0; k < 10; k++)
    for (uint32_t j = 0; j < 10; j++) {
      if (k * 10 + j == i)
        return s + 1000;
      if (j == 7)
        break;
      if (j == 2)
        continue;
      s++;
    }
  return s;
}

TEST(blocks_are_left_from_any_depth)
{
  expect_each("var %s : u32 %i = gid.x\n"
              "block %found {\n"
              "  for %k = 0u32 to 10u32 {\n"
              "    for %j = 0u32 to 10u32 {\n"
              "      if eq add(mul(%k, 10u32), %j), %i { %a = get %s set %s, add(%a, 1000u32) leave %found }\n"
              "      switch %j { case 7u32 { break } case 2u32 { continue } } %b = get %s set %s, add(%b, 1u32)\n"
              "    }\n"
              "  }\n"
              "}\n"
              "%r = get %s store %y[%i], %r }\n",
              want_block);
}

static uint32_t
want_default_first(uint32_t i)
{
  return i % 4 == 1 ? 20 : i % 4 == 2 ? 31 : 10 + i;
}

/* The default is first, the last case is none. */
TEST(a_default_stands_anywhere)
{
  expect_each("var %s : u32 %i = gid.x\n"
              "switch umod(%i, 4u32) {\n"
              "  default { set %s, add(%i, 10u32) } case 1u32 { set %s, 20u32 } case 2u32 { set %s, 31u32 }\n"
              "}\n"
              "%r = get %s store %y[%i], %r }\n",
              want_default_first);
}

static uint32_t
want_return(uint32_t i)
{
  return i % 5 == 2 ? 0xeeeeeeee : i;
}

TEST(returned_invocations_do_nothing_more)
{
  expect_each("%i = gid.x for %k = 0u32 to 3u32 { if eq umod(%i, 5u32), 2u32 { return } } barrier workgroup store %y[%i], %i }\n",
              want_return);
}

TEST(ids_count_the_grid)
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

TEST(ids_count_a_workgroup_of_three_axes)
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

/* ---- what stops a run ----------------------------------------------------------------------------------------------- */

TEST(a_barrier_that_not_all_reach_is_an_error)
{
  launch l = {.text = "program @half workgroup(96, 2, 1) { %l = lid if ult %l.x, 70u32 { barrier workgroup } }\n",
              .groups = {3, 1, 1}};
  launch_fails(&l, "program @half, row", "(barrier",
               "not reached by invocation (70, 0, 0) of workgroup (0, 0, 0), global (70, 0, 0)");
  /* In a loop that some have left already. */
  launch loop = {.text = "program @p workgroup(8, 1, 1) { %i = lindex for %k = 0u32 to add(%i, 1u32) { barrier workgroup } }\n"};
  launch_fails(&loop, "barrier", "non-uniform control flow", "invocation (0, 0, 0)");
  /* A condition that is the same for all of a workgroup is uniform; a memory barrier does not wait. */
  launch uniform = {.text = "program @p workgroup(8, 1, 1) {\n"
                            "  %w = wid if eq %w.x, 1u32 { barrier workgroup }\n"
                            "  if eq lindex, 1u32 { barrier invocation workgroup acq_rel workgroup_memory }\n"
                            "}\n",
                    .groups = {3, 1, 1}};
  launch_ok(&uniform);
}

TEST(an_endless_loop_ends_at_the_step_budget)
{
  launch l = {.text = "program @spin workgroup(100, 1, 1) {\n"
                      "  var %s : u32 %i = lindex\n"
                      "  if eq %i, 67u32 { loop { %t = get %s  set %s, add(%t, 1u32) } continuing { breakif false } }\n"
                      "}\n",
              .options = {.steps = 10000}};
  launch_fails(&l, "program @spin, row", "10000 rows", "invocation (67, 0, 0)");
  launch empty = {.text = "program @p workgroup(1, 1, 1) { loop { } continuing { } }\n", .options = {.steps = 1000}};
  launch_fails(&empty, "endless", "(loop", "1000 rows");
  launch zero_step = {.text = "program @p workgroup(1, 1, 1) { for %k = 0u32 to 4u32 step 0u32 { } }\n",
                      .options = {.steps = 1000}};
  launch_fails(&zero_step, "endless", "(for", "1000 rows");
  /* So many are allowed, and not one more. */
  launch straight = {.text = "program @p workgroup(1, 1, 1) {\n  %a = add(lindex, 1u32)\n  %b = add(%a, 1u32)\n}\n"};
  launch_ok(&straight);
  launch enough = straight, short_by_one = straight;
  enough.options.steps = straight.stats.rows;
  launch_ok(&enough);
  short_by_one.options.steps = straight.stats.rows - 1;
  launch_fails(&short_by_one, "still running", "rows", "invocation (0, 0, 0)");
  /* The budget is each invocation's own: both arms together need more than it. */
  launch arms = {
      .text = "program @p workgroup(2, 1, 1) {\n"
              "  var %s : u32\n"
              "  if eq lindex, 0u32 { for %k = 0u32 to 100u32 { set %s, %k } } else { for %j = 0u32 to 100u32 { set %s, %j } }\n"
              "}\n",
      .options = {.steps = 320}};
  launch_ok(&arms);
}

TEST(an_error_names_the_invocation_in_three_ways)
{
  launch l = {.text =
                  "program @p workgroup(2, 3, 4) {\n  %g = gid\n  %z = eq %g.z, 6u32\n  %y = eq %g.y, 4u32\n  %x = eq %g.x, 1u32\n"
                  "  if and(%z, and(%y, %x)) { trap }\n}\n",
              .groups = {1, 2, 2}};
  launch_fails(&l, "invocation (1, 1, 2)", "of workgroup (0, 1, 1)", "global (1, 4, 6)");
}

TEST(a_trap_is_an_error)
{
  launch l = {.text = "program @p workgroup(8, 1, 1) {\n"
                      "  if eq lindex, 5u32 { trap }\n"
                      "}\n"};
  launch_fails(&l, "(trap", "trap in invocation (5, 0, 0)", "program @p");
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

TEST(a_workgroup_without_invocations_is_an_error)
{
  launch none = {.text = "program @p {\n  spec %n : u32 = 0u32 id(1)\n  workgroup 4u32, %n, 1u32\n}\n"};
  launch_fails(&none, "workgroup", "4 x 0 x 1", "take 1 to 65536");
  launch many = {.text = "program @p workgroup(65536, 65536, 1) { }\n"};
  launch_fails(&many, "workgroup", "65536 x 65536 x 1", "take 1 to 65536");
}
