/* Barriers of the whole grid, parts of a grid, and async copies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

/* Values circulate through memory of the own and of other workgroups.  Each workgroup has its own tile, each invocation its own
 * array. */
TEST(a_grid_barrier_orders_all_workgroups)
{
  uint32_t x[96] = {0}, y[96][4], wanted[96], next[96];
  launch l = {.text = "program @p workgroup(4, 2, 1) {\n"
                      "  buffer %x : u32[] storage set(0) binding(0) buffer %y : u32x4[] storage set(0) binding(1)\n"
                      "  buffer %tile : u32[8] workgroup buffer %own : u32[2] private %n = groups %w = wid %g = gid\n"
                      "  %group = add(mul(add(mul(%w.z, %n.y), %w.y), %n.x), %w.x) %i = add(mul(%group, 8u32), lindex)\n"
                      "  %all = mul(mul(mul(%n.x, %n.y), %n.z), 8u32) store %x[%i], add(%i, 1u32) store %own[1], %i\n"
                      "  for %k = 0u32 to 3u32 {\n"
                      "    barrier device %far = load %x[umod(add(%i, 9u32), %all)] store %tile[lindex], %far barrier device\n"
                      "    %near = load %tile[umod(add(lindex, 1u32), 8u32)] store %x[%i], %near\n"
                      "  }\n"
                      "  store %y[%i][0], load(%x[%i]) store %y[%i][1], load(%own[1]) store %y[%i][2], load(%own[0])\n"
                      "  store %y[%i][3], add(mul(%g.x, 100u32), add(mul(%g.y, 10u32), %g.z))\n"
                      "}\n",
              .groups = {2, 3, 2},
              .buffers = {{"x", x, sizeof x}, {"y", y, sizeof y}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 96; i++)
    wanted[i] = i + 1;
  for (uint32_t k = 0; k < 3; k++) {
    for (uint32_t i = 0; i < 96; i++)
      next[i] = wanted[(i / 8 * 8 + (i + 1) % 8 + 9) % 96];
    memcpy(wanted, next, sizeof next);
  }
  for (uint32_t i = 0; i < 96; i++) {
    const uint32_t group = i / 8, local = i % 8;
    assert_int_equal(y[i][0], wanted[i]);
    assert_int_equal(y[i][1], i);
    assert_int_equal(y[i][2], 0);
    assert_int_equal(y[i][3], (group % 2 * 4 + local % 4) * 100 + (group / 2 % 3 * 2 + local / 4) * 10 + group / 6);
  }
}

/* Whole workgroups may skip a workgroup barrier, but not a grid barrier.  No barrier waits for returned invocations. */
TEST(all_of_the_grid_must_reach_a_grid_barrier)
{
  const launch_case cases[] = {
      {{.text = "program @half workgroup(4, 1, 1) { %w = wid if eq %w.x, 1u32 { barrier device } }\n", .groups = {3, 1, 1}},
       {"program @half, row", "(barrier", "not reached by invocation (0, 0, 0) of workgroup (0, 0, 0), global (0, 0, 0)"}},
      {{.text = "program @p workgroup(4, 1, 1) {\n"
                "  %w = wid barrier device if eq %w.x, 1u32 { barrier workgroup } if eq %w.x, 2u32 { return }\n"
                "  barrier device\n"
                "}\n",
        .groups = {3, 1, 1}},
       {NULL}},
      {{.text = "program @p workgroup(4, 1, 1) { barrier device %g = gid if ult %g.x, 6u32 { barrier workgroup } }\n",
        .groups = {3, 1, 1}},
       {"(barrier", "every invocation of the workgroup reaches", "invocation (2, 0, 0) of workgroup (1, 0, 0), global (6, 0, 0)"}},
  };
  LAUNCH_CHECK(cases);
}

TEST(a_grid_with_a_grid_barrier_has_a_limit)
{
  static const char text[] = "program @p workgroup(1024, 1, 1) {\n  barrier device\n}\n";
  const launch_case cases[] = {
      {{.text = text, .groups = {1025, 1, 1}}, {"1025 x 1 x 1 workgroups", "1024", "at most 1048576 invocations"}},
      {{.text = text, .groups = {65535, 65535, 65535}},
       {"65535 x 65535 x 65535 workgroups", "barrier device", "at most 1048576 invocations"}},
  };
  LAUNCH_CHECK(cases);
}

TEST(a_part_of_a_grid_runs_only_its_workgroups)
{
  const uint64_t parts[][2] = {{0, 1}, {0, 24}, {5, 0}, {3, 11}, {23, 1}, {24, 0}, {0, 0}};
  for (uint32_t k = 0; k < 7; k++) {
    const uint64_t first = parts[k][0], count = k == 6 ? 24 : parts[k][1];
    uint32_t x[24] = {0};
    launch l = {.text = "program @p workgroup(1, 1, 1) {\n"
                        "  buffer %x : u32[] storage set(0) binding(0) %n = groups %w = wid\n"
                        "  %i = add(mul(add(mul(%w.z, %n.y), %w.y), %n.x), %w.x) store %x[%i], add(%i, 1u32)\n"
                        "}\n",
                .groups = {4, 3, 2},
                .buffers = {{"x", x, sizeof x}},
                .first = first,
                .count = parts[k][1]};
    launch_ok(&l);
    for (uint32_t i = 0; i < 24; i++)
      assert_int_equal(x[i], i >= first && i < first + count ? i + 1 : 0);
  }
}

TEST(a_part_lies_in_its_grid_and_has_no_grid_barrier)
{
  static const char text[] = "program @p workgroup(1, 1, 1) {\n}\n";
  static const char barrier[] = "program @p workgroup(1, 1, 1) {\n  barrier device\n}\n";
  const launch_case cases[] = {
      {{.text = text, .groups = {4, 3, 2}, .first = 20, .count = 5}, {"@p", "5 workgroups from number 20 on", "the grid of 24"}},
      {{.text = text, .groups = {4, 3, 2}, .first = UINT64_MAX, .count = 5}, {"@p", "workgroups from number", "the grid of 24"}},
      {{.text = barrier, .groups = {4, 1, 1}, .first = 1, .count = 2}, {"@p", "cannot run a part of the grid", "whole grid"}},
      {{.text = barrier, .groups = {4, 1, 1}, .count = 4}, {NULL}},
  };
  LAUNCH_CHECK(cases);
}

TEST(async_copies_are_complete_after_their_wait)
{
  uint32_t x[32], y[32] = {0};
  for (uint32_t i = 0; i < 32; i++)
    x[i] = i * i + 1;
  launch l = {.text = "struct @S { a : u32x3, b : u32 }\n"
                      "program @p workgroup(4, 1, 1) {\n"
                      "  buffer %x : @S[] storage ro set(0) binding(0) buffer %y : @S[] storage set(0) binding(1)\n"
                      "  buffer %tile : @S[2][4] workgroup %i = lindex async_copy %tile[0][%i], %x[%i]\n"
                      "  async_copy %tile[1][%i], %x[add(%i, 4u32)] async_wait 1 barrier\n"
                      "  async_copy %y[%i], %tile[0][sub(3u32, %i)] async_wait\n"
                      "  barrier\n"
                      "  copy %y[add(%i, 4u32)], %tile[1][sub(3u32, %i)]\n"
                      "}\n",
              .buffers = {{"x", x, sizeof x}, {"y", y, sizeof y}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 32; i++)
    assert_int_equal(y[i], x[i / 16 * 16 + (3 - i / 4 % 4) * 4 + i % 4]);
}
