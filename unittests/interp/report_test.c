/* What the interpreter reports where it is asked to: undefined rows of relaxed programs, accesses out of bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

static launch
relaxed(const char *text, uint32_t *y, size_t size)
{
  return (launch){.text = text, .buffers = {{"y", y, size}}, .options = {.report_undefined = true}};
}

#define HEAD \
  "program @p relaxed workgroup(8, 1, 1) {\n  buffer %y : u32[8] storage set(0) binding(0)\n  var %s : u32\n  %i = lindex\n"

TEST(undefined_rows_are_reported_where_they_matter)
{
  uint32_t y[8] = {0};
  launch stored = relaxed(HEAD "  %d = udiv 100u32, %i\n  %e = add %d, 1u32\n  store %y[%i], %e\n}\n", y, sizeof y);
  launch_fails(&stored, "(store", "a stored value comes from row", "(udiv %d");
  launch_fails(&stored, "undefined", "on its operands", "in invocation (0, 0, 0)");
  launch condition = relaxed(HEAD "  %d = shl 1u32, add(%i, 25u32)\n  if eq %d, 3u32 { return }\n}\n", y, sizeof y);
  launch_fails(&condition, "(if", "a condition comes from", "in invocation (7, 0, 0)");
  launch access = relaxed(HEAD "  store %y[add(%i, 2u32)], %i\n}\n", y, sizeof y);
  launch_fails(&access, "(store", "out of bounds", "invocation (6, 0, 0)");
  launch address = relaxed(HEAD "  %d = umod 4u32, %i\n  store %y[%d], %i\n}\n", y, sizeof y);
  launch_fails(&address, "(store", "an address comes from", "(umod %d");
  launch through_var = relaxed(HEAD "  set %s, udiv(1u32, %i)\n  %t = get %s\n  store %y[%i], %t\n}\n", y, sizeof y);
  launch_fails(&through_var, "(store", "(udiv", "in invocation (0, 0, 0)");
  launch bound_of_loop = relaxed(HEAD "  for %k = 0u32 to udiv(4u32, %i) { }\n}\n", y, sizeof y);
  launch_fails(&bound_of_loop, "(for", "a loop bound comes from", "(udiv");
}

TEST(undefined_rows_that_do_not_matter_are_silent)
{
  uint32_t y[8] = {0};
  launch picked =
      relaxed(HEAD "  %z = eq %i, 0u32\n  %d = udiv 100u32, %i\n  store %y[%i], select(%z, 4294967295u32, %d)\n}\n", y, sizeof y);
  launch_ok(&picked);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(y[i], i ? 100 / i : 0xffffffff);
  launch unused = relaxed(HEAD "  %d = udiv 100u32, %i\n  if ne %i, 0u32 { store %y[%i], %d }\n}\n", y, sizeof y);
  launch_ok(&unused);
  launch overwritten =
      relaxed(HEAD "  set %s, udiv(1u32, %i)\n  set %s, 5u32\n  %t = get %s\n  store %y[%i], %t\n}\n", y, sizeof y);
  launch_ok(&overwritten);
  /* Without the report the strict meaning holds, and strict programs have nothing to report. */
  launch strict = {.text = "program @p workgroup(8, 1, 1) {\n  buffer %y : u32[8] storage set(0) binding(0)\n  %i = lindex\n"
                           "  store %y[%i], udiv(100u32, %i)\n  store %y[add(%i, 8u32)], 1u32\n}\n",
                   .buffers = {{"y", y, sizeof y}},
                   .options = {.report_undefined = true}};
  launch_ok(&strict);
  assert_int_equal(y[0], 0xffffffff);
  launch quiet = relaxed(HEAD "  store %y[%i], udiv(100u32, %i)\n}\n", y, sizeof y);
  quiet.options.report_undefined = false;
  y[0] = 0;
  launch_ok(&quiet);
  assert_int_equal(y[0], 0xffffffff);
}

TEST(the_first_undefined_row_is_named)
{
  uint32_t y[8] = {0};
  launch chain =
      relaxed(HEAD "  %first = udiv 100u32, %i\n  %second = shl %first, add(%i, 40u32)\n  store %y[%i], %second\n}\n", y, sizeof y);
  launch_fails(&chain, "(store", "(udiv %first", "in invocation (0, 0, 0)");
}

TEST(the_report_changes_no_value)
{
  uint32_t y[8][2];
  for (uint32_t reported = 0; reported < 2; reported++) {
    memset(y, 0, sizeof y);
    launch l = {.text = "program @p relaxed flush_f32 rtz_f32 workgroup(8, 1, 1) {\n"
                        "  buffer %y : f32x2[8] storage set(0) binding(0)\n"
                        "  %tiny = bitcast add(lindex, 5u32) : f32\n"
                        "  %cut = convert add(lindex, 16777219u32) : f32\n" /* 2^24 + 3: between two that an f32 holds */
                        "  store %y[lindex], join(fmin(%tiny, 1.0f32), %cut)\n"
                        "}\n",
                .buffers = {{"y", y, sizeof y}},
                .options = {.report_undefined = reported != 0}};
    launch_ok(&l);
    for (uint32_t i = 0; i < 8; i++) {
      assert_int_equal(y[i][0], 0);
      assert_int_equal(y[i][1], 0x4b800001 + (i + 1) / 2);
    }
  }
}

/* In a strict program too, each kind of access, by the buffer that it leaves. */
TEST(bounds_are_checked_where_asked_for)
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
    char text[1024], said[128];
    uint32_t y[8] = {0};
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
    snprintf(said, sizeof said, ": the access to %s is out of bounds in invocation (3, 0, 0)", cases[k].buffer);
    launch_fails(&l, "program @p, row", cases[k].op, said);
  }
}
