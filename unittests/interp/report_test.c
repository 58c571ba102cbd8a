/* Reports of the interpreter that are optional: undefined rows of relaxed programs, and accesses out of bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

static uint32_t y[8];

/* A launch of a relaxed program on y, with 8 invocations. */
#define RELAXED(...)                                                                                                    \
  {                                                                                                                     \
    .text = "program @p relaxed workgroup(8, 1, 1) {\n  buffer %y : u32[8] storage set(0) binding(0)\n  var %s : u32\n" \
            "  %i = lindex\n" __VA_ARGS__ "}\n",                                                                        \
    .buffers = {{"y", y, sizeof y}}, .options = {                                                                       \
      .report_undefined = true                                                                                          \
    }                                                                                                                   \
  }

TEST(undefined_rows_with_an_effect_are_reported)
{
  const launch_case cases[] = {
      {RELAXED("  %d = udiv 100u32, %i\n  %e = add %d, 1u32\n  store %y[%i], %e\n"),
       {"(store", "undefined: a stored value comes from row", "(udiv %d"}},
      {RELAXED("  %d = udiv 100u32, %i\n  store %y[%i], %d\n"), {"undefined", "on its operands", "in invocation (0, 0, 0)"}},
      {RELAXED("  %d = shl 1u32, add(%i, 25u32)\n  if eq %d, 3u32 { return }\n"),
       {"(if", "a condition comes from", "in invocation (7, 0, 0)"}},
      {RELAXED("  store %y[add(%i, 2u32)], %i\n"), {"(store", "out of bounds", "invocation (6, 0, 0)"}},
      {RELAXED("  %d = umod 4u32, %i\n  store %y[%d], %i\n"), {"(store", "an address comes from", "(umod %d"}},
      {RELAXED("  set %s, udiv(1u32, %i)\n  %t = get %s\n  store %y[%i], %t\n"), {"(store", "(udiv", "in invocation (0, 0, 0)"}},
      {RELAXED("  for %k = 0u32 to udiv(4u32, %i) { }\n"), {"(for", "a loop bound comes from", "(udiv"}},
      /* The message names the first undefined row. */
      {RELAXED("  %first = udiv 100u32, %i\n  %second = shl %first, add(%i, 40u32)\n  store %y[%i], %second\n"),
       {"(store", "(udiv %first", "in invocation (0, 0, 0)"}},
  };
  LAUNCH_CHECK(cases);
}

TEST(undefined_rows_without_an_effect_are_not_reported)
{
  const launch_case cases[] = {
      {RELAXED("  %d = udiv 100u32, %i\n  if ne %i, 0u32 { store %y[%i], %d }\n"), {NULL}},
      {RELAXED("  set %s, udiv(1u32, %i)\n  set %s, 5u32\n  %t = get %s\n  store %y[%i], %t\n"), {NULL}},
      {RELAXED("  %z = eq %i, 0u32\n  %d = udiv 100u32, %i\n  store %y[%i], select(%z, 4294967295u32, %d)\n"), {NULL}},
  };
  LAUNCH_CHECK(cases);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(y[i], i ? 100 / i : 0xffffffff);
  /* Without the report, the program has its strict meaning.  Strict programs have no undefined rows. */
  launch strict = {.text = "program @p workgroup(8, 1, 1) {\n  buffer %y : u32[8] storage set(0) binding(0)\n  %i = lindex\n"
                           "  store %y[%i], udiv(100u32, %i)\n  store %y[add(%i, 8u32)], 1u32\n}\n",
                   .buffers = {{"y", y, sizeof y}},
                   .options = {.report_undefined = true}};
  launch quiet = RELAXED("  store %y[%i], udiv(100u32, %i)\n");
  quiet.options.report_undefined = false;
  y[0] = 0;
  launch_ok(&strict);
  assert_int_equal(y[0], 0xffffffff);
  y[0] = 0;
  launch_ok(&quiet);
  assert_int_equal(y[0], 0xffffffff);
}

TEST(the_report_changes_no_value)
{
  uint32_t pairs[8][2];
  for (uint32_t reported = 0; reported < 2; reported++) {
    memset(pairs, 0, sizeof pairs);
    launch l = {.text = "program @p relaxed flush_f32 rtz_f32 workgroup(8, 1, 1) {\n"
                        "  buffer %y : f32x2[8] storage set(0) binding(0)\n"
                        "  %tiny = bitcast add(lindex, 5u32) : f32\n"
                        "  %cut = convert add(lindex, 16777219u32) : f32\n" /* 2^24 + 3 is not an f32 */
                        "  store %y[lindex], join(fmin(%tiny, 1.0f32), %cut)\n"
                        "}\n",
                .buffers = {{"y", pairs, sizeof pairs}},
                .options = {.report_undefined = reported != 0}};
    launch_ok(&l);
    for (uint32_t i = 0; i < 8; i++) {
      assert_int_equal(pairs[i][0], 0);
      assert_int_equal(pairs[i][1], 0x4b800001 + (i + 1) / 2);
    }
  }
}

/* Checks each kind of access in a strict program.  The message names the buffer. */
TEST(bounds_are_checked_on_request)
{
  static const struct {
    const char *access, *buffer, *op;
  } cases[] = {{"%v = load %y[add(%i, 5u32)]", "buffer %y", "(load %v, test.vir:6:3)"},
               {"store %y[add(%i, 5u32)], 1u32", "buffer %y", "(store, test.vir:6:3)"},
               {"%v = atomic_add %y[add(%i, 5u32)], 1u32", "buffer %y", "(atomic_add %v, test.vir:6:3)"},
               {"copy %t[%i], %y[add(%i, 5u32)]", "buffer %y", "(copy, test.vir:6:3)"},
               {"copy %y[add(%i, 5u32)], %t[%i]", "buffer %y", "(copy, test.vir:6:3)"},
               {"async_copy %t[add(%i, 5u32)], %y[%i]", "buffer %t", "(async_copy, test.vir:6:3)"}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[1024], expected[128];
    snprintf(text, sizeof text,
             "program @p workgroup(4, 1, 1) {\n"
             "  buffer %%y : u32[8] storage set(0) binding(0)\n"
             "  buffer %%t : u32[8] workgroup\n"
             "  buffer %%unused : u32[8] private\n"
             "  %%i = lindex\n"
             "  %s\n"
             "}\n",
             cases[k].access);
    launch l = {.text = text, .buffers = {{"y", y, sizeof y}}};
    launch_ok(&l);
    l.options.check_bounds = true;
    snprintf(expected, sizeof expected, ": the access to %s is out of bounds in invocation (3, 0, 0)", cases[k].buffer);
    launch_fails(&l, "program @p, row", cases[k].op, expected);
  }
}
