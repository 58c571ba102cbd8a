/* Subgroup rows: which lanes are active, and what is undefined.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "subgroup_fixture.h"

/* A relaxed program that is undefined, which the report says of this op; the strict one and an unreported run go through. */
static void
undefined(const char *body, uint32_t size, const char *op, const char *where)
{
  char text[8192];
  launch l = prepare(text, "relaxed", body, size);
  l.options.report_undefined = true;
  launch_fails(&l, op, "undefined", where);
  l.options.report_undefined = false;
  launch_ok(&l);
  run(body, size);
}

static void
defined(const char *body, uint32_t size)
{
  char text[8192];
  launch l = prepare(text, "relaxed", body, size);
  l.options.report_undefined = true;
  launch_ok(&l);
}

/* ---- active lanes ---------------------------------------------------------------------------------------------------- */

/* Each `look` adds the ballot of the active lanes, rotated, to what the lane has seen. */
#define LOOK "set %s, add(mul(get %s, 31u32), lane(subgroup_ballot(true), 0u32))\n"

static uint32_t seen[N];

static void
look(const bool active[N], uint32_t size)
{
  for (uint32_t i = 0; i < N; i++) {
    uint32_t mask = 0;
    for (uint32_t j = i / size * size; j < i / size * size + size && j < N; j++)
      mask |= (uint32_t)active[j] << (j % size);
    if (active[i])
      seen[i] = seen[i] * 31 + mask;
  }
}

static void
check_seen(const char *body, uint32_t size)
{
  char text[4096];
  snprintf(text, sizeof text, "block %%end {\n%s}\n%%r = get %%s\nstore %%y[%%i], %%r\n", body);
  run(text, size);
  for (uint32_t i = 0; i < N; i++)
    if (results[i] != seen[i])
      fail_msg("in subgroups of %u, invocation %u saw 0x%x, not 0x%x:\n%s", size, i, results[i], seen[i], body);
}

TEST(lanes_leave_and_meet)
{
  fill_values(small);
  for (uint32_t size = 4; size <= 32; size *= 2) {
    bool active[N], part[N];
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < N; i++)
      active[i] = true;
    look(active, size);
    for (uint32_t i = 0; i < N; i++)
      part[i] = i % 3 == 0;
    look(part, size);
    for (uint32_t i = 0; i < N; i++)
      part[i] = i % 3 != 0;
    look(part, size);
    look(active, size); /* after the arms */
    for (uint32_t i = 0; i < N; i++)
      active[i] = i % 5 != 2;
    look(active, size); /* some have left */
    check_seen(LOOK "if eq umod(%i, 3u32), 0u32 {\n" LOOK "} else {\n" LOOK "}\n" LOOK
                    "if eq umod(%i, 5u32), 2u32 { leave %end }\n" LOOK,
               size);
  }
}

/* The active lanes of a loop are those that still iterate; a lane that continues is back in the next iteration. */
TEST(loops_lose_lanes)
{
  fill_values(small); /* 1 to 5 */
  for (uint32_t size = 4; size <= 32; size *= 2) {
    bool all[N], in[N], part[N];
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < N; i++)
      all[i] = in[i] = true;
    for (uint32_t k = 0; k < 6; k++) {
      for (uint32_t i = 0; i < N; i++)
        in[i] = in[i] && k < values[i];
      look(in, size);
      for (uint32_t i = 0; i < N; i++)
        part[i] = in[i] && i % 4 != k;
      look(part, size); /* after the continue */
      for (uint32_t i = 0; i < N; i++)
        in[i] = in[i] && !(part[i] && i % 7 == 3);
    }
    look(all, size);
    check_seen("for %k = 0u32 to %v {\n" LOOK "if eq umod(%i, 4u32), %k { continue }\n" LOOK
               "if eq umod(%i, 7u32), 3u32 { break }\n}\n" LOOK,
               size);
  }
}

/* One case after the other, with the lanes that fall into it. */
TEST(cases_have_their_lanes)
{
  fill_values(small);
  for (uint32_t size = 4; size <= 32; size *= 2) {
    bool all[N], part[N];
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < N; i++) {
      all[i] = true;
      part[i] = values[i] == 1;
    }
    look(part, size);
    for (uint32_t i = 0; i < N; i++)
      part[i] = values[i] == 1 || values[i] == 3;
    look(part, size);
    for (uint32_t i = 0; i < N; i++)
      part[i] = values[i] != 1 && values[i] != 3;
    look(part, size);
    look(all, size);
    check_seen("switch %v {\ncase 1u32 {\n" LOOK "fallthrough }\ncase 3u32 {\n" LOOK "}\ndefault {\n" LOOK "}\n}\n" LOOK, size);
  }
}

/* A return from an arm in a loop is for good. */
TEST(returned_lanes_stay_away)
{
  fill_values(small);
  run("for %k = 0u32 to 3u32 {\n"
      "  if eq umod(%i, 4u32), %k { return } %b = subgroup_ballot true store %y[add(%i, mul(%k, 40u32))], %b.x\n"
      "}\n"
      "%n = subgroup_add 1u32 store %y[add(%i, 120u32)], %n\n",
      16);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t masks[3] = {0xeeee, 0xcccc, 0x8888}, there = i < 32 ? 0xffff : 0xff;
    for (uint32_t k = 0; k < 3; k++)
      assert_int_equal(results[i + 40 * k], i % 4 > k ? masks[k] & there : 0xeeeeeeeeu);
    assert_int_equal(results[i + 120], i % 4 < 3 ? 0xeeeeeeeeu : i < 32 ? 4 : 2);
  }
}

/* Workgroups that run together are subgroups apart; a barrier of the subgroup may be in an arm. */
TEST(subgroups_end_with_their_workgroup)
{
  static uint32_t out[60];
  launch l = {.text = "program @p workgroup(10, 2, 1) {\n"
                      "  buffer %y : u32[] storage set(0) binding(0) %i = add(lindex, mul(wid.x, 20u32))\n"
                      "  if ne lid.x, 3u32 { barrier subgroup } barrier device %b = subgroup_ballot true\n"
                      "  %n = subgroup_ballot_count %b\n"
                      "  store %y[%i], or(%n, or(shl(subgroup_lane, 8u32), shl(subgroup_id, 16u32)))\n"
                      "}\n",
              .groups = {3, 1, 1},
              .buffers = {{"y", out, sizeof out}},
              .options = {.subgroup = 16}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 60; i++)
    assert_int_equal(out[i], (i % 20 < 16 ? 16 : 4) | (i % 20 % 16) << 8 | i % 20 / 16 << 16);
}

/* ---- what is undefined ---------------------------------------------------------------------------------------------- */

TEST(relaxed_programs_are_reported)
{
  fill_values(small);
  undefined("%r = subgroup_broadcast %v, %v\nstore %y[%i], %r\n", 16, "subgroup_broadcast", "a stored value");
  undefined("%r = subgroup_broadcast %v, 16u32\nstore %y[%i], %r\n", 16, "subgroup_broadcast", "a stored value");
  undefined("if ugt %i, 2u32 {\n%r = subgroup_broadcast %v, 1u32\nstore %y[%i], %r\n}\n", 16, "subgroup_broadcast",
            "a stored value");
  undefined("%r = subgroup_shuffle_up %v, 1u32\nstore %y[%i], %r\n", 16, "subgroup_shuffle_up", "invocation (0, 0, 0)");
  undefined("%r = subgroup_shuffle_down %v, 1u32\nstore %y[%i], %r\n", 16, "subgroup_shuffle_down", "invocation (15, 0, 0)");
  undefined("%r = subgroup_shuffle %v, 8u32\nstore %y[%i], %r\n", 16, "subgroup_shuffle", "invocation (32, 0, 0)");
  undefined("%r = subgroup_rotate %v, %v\nstore %y[%i], %r\n", 8, "subgroup_rotate", "a stored value");
  undefined("%r = subgroup_rotate %v, 1u32 clustered(16)\nstore %y[%i], %r\n", 8, "subgroup_rotate", "a stored value");
  undefined("%r = subgroup_quad_broadcast %v, 4u32\nstore %y[%i], %r\n", 8, "subgroup_quad_broadcast", "a stored value");
  undefined("if ne %i, 5u32 {\n%r = subgroup_quad_swap %v, 0u32\nstore %y[%i], %r\n}\n", 8, "subgroup_quad_swap",
            "invocation (4, 0, 0)");
  undefined("%r = subgroup_add %v clustered(16)\nstore %y[%i], %r\n", 8, "subgroup_add", "a stored value");
  undefined("%f = select(eq(%i, 6u32), nan(0x7fc00000)f32, 1.0f32)\n%r = subgroup_fmin %f inclusive\n"
            "store %y[%i], bitcast(%r : u32)\n",
            8, "subgroup_fmin", "invocation (6, 0, 0)");
  undefined("%f = select(eq(%i, 6u32), nan(0x7fc00000)f32, 1.0f32)\n%r = subgroup_fmax %f exclusive\n"
            "store %y[%i], bitcast(%r : u32)\n",
            8, "subgroup_fmax", "invocation (7, 0, 0)");
  undefined("%b = subgroup_inverse_ballot splat(%v : u32x4)\nstore %y[%i], select(%b, 1u32, 0u32)\n", 8, "subgroup_inverse_ballot",
            "a stored value");
  undefined("%b = subgroup_ballot_bit subgroup_eq_mask, 8u32\nstore %y[%i], select(%b, 1u32, 0u32)\n", 8, "subgroup_ballot_bit",
            "a stored value");
  undefined("%b = subgroup_ballot_findlsb splat(0u32 : u32x4)\nstore %y[%i], %b\n", 8, "subgroup_ballot_findlsb", "a stored value");
  undefined("%b = subgroup_ballot_findmsb subgroup_gt_mask\nstore %y[%i], %b\n", 8, "subgroup_ballot_findmsb",
            "invocation (7, 0, 0)");
}

/* An undefined operand of one lane reaches those that read it, and no others. */
TEST(undefined_travels_between_lanes)
{
#define BAD "%bad = select(eq(%i, 2u32), shl(%v, 32u32), %v)\n"
  fill_values(small);
  undefined(BAD "%r = subgroup_add %bad\nstore %y[%i], %r\n", 8, "shl", "invocation (0, 0, 0)");
  undefined(BAD "%r = subgroup_add %bad inclusive\nstore %y[%i], %r\n", 8, "shl", "invocation (2, 0, 0)");
  undefined(BAD "%r = subgroup_add %bad exclusive\nstore %y[%i], %r\n", 8, "shl", "invocation (3, 0, 0)");
  undefined(BAD "%r = subgroup_add %bad clustered(2)\nstore %y[%i], %r\n", 8, "shl", "invocation (2, 0, 0)");
  undefined(BAD "%r = subgroup_shuffle_xor %bad, 1u32\nstore %y[%i], %r\n", 8, "shl", "invocation (3, 0, 0)");
  undefined(BAD "%r = subgroup_ballot eq(%bad, 0u32)\nstore %y[%i], %r.x\n", 8, "shl", "invocation (0, 0, 0)");
  undefined("%r = subgroup_shuffle %v, ushr(%v, 32u32)\nstore %y[%i], %r\n", 8, "ushr", "a stored value");
  defined(BAD "%r = subgroup_first %bad\nstore %y[%i], %r\n", 8);
  defined(BAD "%r = subgroup_elect\nstore %y[%i], select(%r, 1u32, 0u32)\n", 8);
  defined(BAD "if ne %i, 2u32 {\n%r = subgroup_add %bad\nstore %y[%i], %r\n}\n", 8);
  defined("%r = subgroup_rotate %v, 1u32\nstore %y[%i], %r\n", 8);
  defined("if ult %i, 20u32 {\n%r = subgroup_broadcast %v, 0u32\nstore %y[%i], %r\n}\n", 16);
}
