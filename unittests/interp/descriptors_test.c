/* Arrays of descriptors, unbound descriptors, and unwritten workgroup memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

#define HEAD(mode, type)                                 \
  "struct @B block { first : u32, n : u32[] }\n"         \
  "program @p " mode "workgroup(4, 1, 1) {\n"            \
  "  buffer %y : u32[16] storage set(0) binding(0)\n"    \
  "  buffer %b : @B" type " storage set(0) binding(1)\n" \
  "  %i = lindex\n"

TEST(elements_are_chosen_by_index)
{
  uint32_t y[16] = {0}, b0[4] = {10, 11, 12, 13}, b1[3] = {20, 21, 22}, b2[2] = {30, 31};
  launch l = {.text = HEAD("", "[3]") "  store %y[%i], load(%b[%i].first)\n"
                                      "store %y[add(%i, 4u32)], length %b[%i].n store %y[add(%i, 8u32)], load(%b[1u32].n[%i])\n"
                                      "store %b[%i].n[0u32], %i store %y[add(%i, 12u32)], load(%b[7u32].first) }\n",
              .buffers = {{"y", y, sizeof y}, {"b[2]", b2, sizeof b2}, {"b[0]", b0, sizeof b0}, {"b[1]", b1, sizeof b1}}};
  launch_ok(&l);
  const uint32_t wanted[16] = {10, 20, 30, 0, 3, 2, 1, 0, 21, 22, 0, 0, 0, 0, 0, 0}; /* strict: zero beyond the end */
  assert_memory_equal(y, wanted, sizeof y);
  assert_int_equal(b0[1], 0);
  assert_int_equal(b1[1], 1);
  assert_int_equal(b2[1], 2);
  assert_int_equal(b0[2], 12);
}

TEST(nested_and_unsized_arrays_of_buffers_are_bound_by_element)
{
  uint32_t y[16] = {0}, b[6][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}};
  launch nested = {.text =
                       HEAD("", "[2][3]") "  for %k = 0u32 to 2u32 { store %y[add(mul(%k, 4u32), %i)], load(%b[%k][%i].first) }\n"
                                          "  store %y[12u32], load(%b[1u32][0u32].first)\n}\n",
                   .buffers = {{"y", y, sizeof y}, {"b[0]", b[0], 8}, {"b[2]", b[2], 8}, {"b[3]", b[3], 8}, {"b[5]", b[5], 8}}};
  launch_ok(&nested);
  const uint32_t of_nested[16] = {1, 0, 3, 0, 4, 0, 6, 0, 0, 0, 0, 0, 4, 0, 0, 0};
  assert_memory_equal(y, of_nested, sizeof y);
  launch open = {.text = HEAD("", "[]") "  store %y[%i], load(%b[%i].first)\n  store %y[8u32], load(%b[2u32].first)\n}\n",
                 .buffers = {{"y", y, sizeof y}, {"b[2]", b[2], 8}, {"b[1]", b[1], 8}}};
  launch_ok(&open);
  const uint32_t of_open[5] = {0, 2, 3, 0, 4};
  assert_memory_equal(y, of_open, sizeof of_open);
  assert_int_equal(y[8], 3);
  open.options.check_bounds = true;
  launch_fails(&open, "(load", "the access to buffer %b", "out of bounds in invocation (0, 0, 0)");
  open.text = HEAD("", "[]") "  store %y[%i], load(%b[add(%i, 1u32)].first)\n}\n";
  launch_fails(&open, "(load", "the access to buffer %b is out of bounds", "in invocation (2, 0, 0)");
}

/* An element that begins inside its buffer and ends after it is out of bounds. */
TEST(an_element_across_the_end_is_out_of_bounds)
{
  uint32_t y[4] = {9, 9, 9, 9}, b[4] = {1, 2, 3, 4};
  launch l = {.text = "struct @V block { v : u32x4 }\n"
                      "program @p {\n  buffer %y : u32x4[1] storage set(0) binding(0)\n"
                      "  buffer %b : @V[2] storage set(0) binding(1)\n  store %y[0u32], load(%b[1u32].v)\n}\n",
              .buffers = {{"y", y, sizeof y}, {"b[1]", b, 8}}};
  launch_ok(&l);
  assert_int_equal(y[0], 0);
  l.options.check_bounds = true;
  launch_fails(&l, "(load", "the access to buffer %b[1] is out of bounds", "in invocation (0, 0, 0)");
}

TEST(two_elements_may_share_memory)
{
  uint32_t y[16] = {0}, b[4] = {0};
  launch l = {.text = HEAD("", "[2]") "  if eq %i, 0u32 {\n    store %b[0u32].n[1u32], 5u32\n    store %b[1u32].n[1u32], 7u32\n"
                                      "    store %y[0u32], load(%b[0u32].n[1u32])\n  }\n}\n",
              .buffers = {{"y", y, sizeof y}, {"b[0]", b, sizeof b}, {"b[1]", b, sizeof b}}};
  launch_ok(&l);
  assert_int_equal(y[0], 7);
  l.text = HEAD("", "[2]") "  store %b[and(%i, 1u32)].n[1u32], 5u32\n}\n";
  l.options.check_races = true;
  launch_fails(&l, "(store", "data race on byte 8 of buffer %b", "in");
  uint32_t other[4] = {0};
  launch apart = {.text = HEAD("", "[2]") "  if ult %i, 2u32 { store %b[%i].n[1u32], 5u32 }\n}\n",
                  .buffers = {{"y", y, sizeof y}, {"b[0]", b, sizeof b}, {"b[1]", other, sizeof other}},
                  .options = {.check_races = true}};
  launch_ok(&apart);
}

TEST(accesses_to_unbound_buffers_are_undefined)
{
  uint32_t y[16] = {0}, b[4] = {9, 9, 9, 9};
  static const struct {
    const char *access, *op;
  } cases[] = {
      {"store %y[0u32], load(%b[1u32].first)", "(load"},
      {"store %b[1u32].first, 3u32", "(store"},
      {"store %y[0u32], length %b[1u32].n", "(length"},
      {"copy %y[0u32], %b[1u32].first", "(copy"},
      {"copy %b[1u32].first, %y[0u32]", "(copy"},
      {"atomic_add %b[1u32].first, 1u32", "(atomic_add"},
      {"%d = add %i, 1u32 store %y[0u32], load(%b[%d].first)", "(load"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[1024];
    snprintf(text, sizeof text, "%s  if eq %%i, 0u32 { %s }\n}\n", HEAD("relaxed ", "[2]"), cases[k].access);
    launch l = {.text = text, .buffers = {{"y", y, sizeof y}, {"b[0]", b, sizeof b}}, .options = {.report_undefined = true}};
    launch_fails(&l, cases[k].op, "undefined: the access to buffer %b[1], which is not bound, in invocation (0, 0, 0)", "bind it");
    l.options.report_undefined = false;
    launch_ok(&l);
  }
  launch untouched = {.text = HEAD("relaxed ", "") "  if ugt %i, 7u32 { store %y[0u32], add(load(%b.first), length %b.n) }\n}\n",
                      .buffers = {{"y", y, sizeof y}, {"b", NULL, 0}},
                      .options = {.report_undefined = true}};
  launch_ok(&untouched);
  untouched.text = HEAD("relaxed ", "") "  store %y[0u32], load(%b.first)\n}\n";
  launch_fails(&untouched, "(load", "the access to buffer %b, which is not bound", "in invocation (0, 0, 0)");
  untouched.text = HEAD("", "") "  store %y[%i], add(load(%b.first), length %b.n)\n}\n";
  launch_ok(&untouched);
  assert_int_equal(y[0], 0);
  launch missing = {.text = HEAD("", "[2]") "  store %y[0u32], load(%b[0u32].first)\n}\n", .buffers = {{"y", y, sizeof y}}};
  launch_fails(&missing, "buffer %b", "is not bound", "bind data of the buffer's size");
  launch many = {.text = HEAD("", "[70000]") "  store %y[0u32], load(%b[0u32].first)\n}\n",
                 .buffers = {{"y", y, sizeof y}, {"b[0]", b, sizeof b}}};
  launch_fails(&many, "array of more than 65535 buffers", "make the array shorter", "Fix:");
}

#define TILE                                          \
  "program @p relaxed workgroup(4, 1, 1) {\n"         \
  "  buffer %y : u32[16] storage set(0) binding(0)\n" \
  "  buffer %t : u32x2[4] workgroup\n"                \
  "  buffer %z : u32[4] workgroup = []\n"             \
  "  buffer %p : u32x2[4] private\n"                  \
  "  %i = lindex\n"

TEST(unwritten_workgroup_memory_is_undefined)
{
  uint32_t y[16];
  static const struct {
    const char *text, *op, *message; /* NULL if the run succeeds */
  } cases[] = {
      {"store %y[%i], load(%t[%i].x)", "(store", "a stored value comes from row"},
      {"store %t[%i].x, 1u32 store %y[%i], load(%t[%i].y)", "(store", "a stored value comes from row"},
      {"store %t[%i].x, 1u32 store %y[%i], load(%t[%i].x)", NULL, NULL},
      {"store %t[%i], splat(%i : u32x2) store %y[%i], lane(load(%t[%i]), 1u32)", NULL, NULL},
      {"store %t[%i].x, 1u32 %v = load %t[%i] store %y[%i], %v.x", "(store", "a stored value comes from row"},
      {"%v = load %t[%i].x store %y[%i], select(eq(%i, 99u32), %v, 3u32)", NULL, NULL},
      {"store %y[%i], load(%z[%i])", NULL, NULL},
      {"copy %p[%i], %t[%i]", "(copy", "a value comes from buffer %t, which was not written"},
      {"copy %t[%i], %p[%i] store %y[%i], load(%t[%i].y)", NULL, NULL},
      {"%v = atomic_add %t[%i].x, 1u32", "(atomic_add", "which was not written"},
      {"%v = atomic_compare_exchange %t[%i].x, 1u32, 2u32", "(atomic_compare_exchange", "which was not written"},
      {"atomic_store %t[%i].x, 1u32 %v = atomic_add %t[%i].x, 1u32 store %y[%i], %v", NULL, NULL},
      {"%v = atomic_exchange %t[%i].x, 1u32 store %y[%i], load(%t[%i].x)", NULL, NULL},
      {"%v = atomic_exchange %t[%i].x, 1u32 store %y[%i], %v", "(store", "(atomic_exchange"},
      {"%v = atomic_load %t[%i].x store %y[%i], %v", "(store", "(atomic_load"},
      {"if eq(%i, 0u32) { store %t[0u32].x, 5u32 } barrier store %y[%i], load(%t[0u32].x)", NULL, NULL},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[1024];
    snprintf(text, sizeof text, "%s  %s\n}\n", TILE, cases[k].text);
    launch l = {.text = text, .groups = {2, 1, 1}, .buffers = {{"y", y, sizeof y}}, .options = {.report_undefined = true}};
    if (cases[k].message)
      launch_fails(&l, cases[k].op, cases[k].message, "undefined");
    else
      launch_ok(&l);
    l.options.report_undefined = false;
    launch_ok(&l);
  }
}

/* A workgroup does not read the values that the previous workgroup wrote. */
TEST(workgroup_memory_does_not_outlive_its_workgroup)
{
  uint32_t y[16];
  launch l = {.text = TILE "  if eq(wid.x, 0u32) { store %t[%i].x, %i }\n  store %y[%i], load(%t[%i].x)\n}\n",
              .groups = {2, 1, 1},
              .buffers = {{"y", y, sizeof y}},
              .options = {.report_undefined = true}};
  launch_fails(&l, "(store", "a stored value comes from row", "of workgroup (1, 0, 0)");
  l.groups[0] = 1;
  launch_ok(&l);
}
