/* Memory: contents, sizes, and separation of buffers.  Layouts, copies and tables are compared with other targets
 * (lit-tests/Export/c-memory.vir).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

#define XY                                             \
  "program @p workgroup(1, 1, 1) {\n"                  \
  "  buffer %x : u32x4[4] storage set(0) binding(0)\n" \
  "  buffer %y : u32x4[] storage set(0) binding(1)\n"  \
  "  %i = add wid.x, 2u32 store %y[1], load(%x[%i])\n" \
  "  store %y[2], load(%x[add(%i, 1u32)]) store %x[%i], load(%x[0])\n"

enum { WORDS = 16 };
#define E 0xeeeeeeeeu /* not stored to */

/* `x` is in %x before and after the run, `y` in %y after the run.  %y is filled with E before. */
typedef struct words_case {
  const char *name, *text;
  uint32_t groups, x_words, x[WORDS], y[WORDS];
} words_case;

static const words_case cases[] = {
    {"a part of an element at the end of the buffer is out of bounds",
     "program @p workgroup(1, 1, 1) {\n"
     "  buffer %x : u32x2[] storage set(0) binding(0) buffer %y : u32[] storage set(0) binding(1)\n"
     "  store %y[0], length(%x) store %y[1], load(%x[wid.x][0]) store %y[2], load(%x[add(wid.x, 1u32)][0])\n"
     "}\n",
     1,
     3,
     {1, 2, 3},
     {1, 1, 0, E, E, E, E, E, E, E, E, E, E, E, E, E}},
    {"a buffer may end with its last column: two rows, 16 bytes apart, are 24 bytes",
     "struct @M { m : mat2(f32x2, stride 16, row_major) }\n"
     "program @p workgroup(1, 1, 1) {\n"
     "  buffer %x : @M storage ro set(0) binding(0) buffer %y : f32x2[] storage set(0) binding(1)\n"
     "  store %y[0], load(%x.m[1])\n"
     "}\n",
     1,
     6,
     {1, 2, 0, 0, 3, 4},
     {2, 4, E, E, E, E, E, E, E, E, E, E, E, E, E, E}},
    {"buffers with equal set and binding share memory, others do not",
     "program @p workgroup(1, 1, 1) {\n"
     "  buffer %y : u32[] storage set(0) binding(1)\n"
     "  buffer %x : u32[] storage set(1) binding(1)\n"
     "  buffer %same : u32[] storage set(1) binding(1)\n" /* not bound itself */
     "  store %y[1], 7u32 store %y[0], load(%same[0])\n"
     "}\n",
     1,
     2,
     {5, 6},
     {5, 7, E, E, E, E, E, E, E, E, E, E, E, E, E, E}},
    {"private memory is separate for each invocation, and zero again in the next workgroup",
     "program @p workgroup(4, 1, 1) {\n"
     "  buffer %x : u32[4] storage set(0) binding(0) buffer %y : u32[] storage set(0) binding(1)\n"
     "  buffer %mine : u32[4] private var %s : u32 %i = lindex\n"
     "  %before = load %mine[1] %zero = get %s store %mine[1], add(%i, 5u32) set %s, %i\n"
     "  store %y[gid.x], add(add(%before, %zero), load(%mine[1]))\n"
     "}\n",
     2,
     4,
     {0},
     {5, 6, 7, 8, 5, 6, 7, 8, E, E, E, E, E, E, E, E}},
    {"a vector that is bound only in part is out of bounds as a whole",
     XY "}\n",
     1,
     10,
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
     {E, E, E, E, 0, 0, 0, 0, 0, 0, 0, 0, E, E, E, E}},
    {"a copy of a row-major matrix that is not square writes no gaps",
     "struct @T block { c : mat3(f32x2, stride 16, row_major), d : u32 @32 }\n"
     "program @p workgroup(1, 1, 1) {\n"
     "  buffer %x : @T storage set(0) binding(0) buffer %y : @T storage set(0) binding(1)\n"
     "  copy %y, %x\n"
     "}\n",
     1,
     10,
     {100, 101, 102, 103, 104, 105, 106, 107, 108, 109},
     {100, 101, 102, E, 104, 105, 106, E, 108, E, E, E, E, E, E, E}},
};

TEST(programs_store_the_expected_words)
{
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const words_case *c = &cases[k];
    uint32_t x[WORDS], y[WORDS];
    memcpy(x, c->x, sizeof x);
    memset(y, 0xee, sizeof y);
    launch l = {.text = c->text, .groups = {c->groups, 1, 1}, .buffers = {{"x", x, c->x_words * 4}, {"y", y, sizeof y}}};
    launch_ok(&l);
    assert_memory_equal(x, c->x, sizeof x);
    for (uint32_t i = 0; i < WORDS; i++)
      if (y[i] != c->y[i])
        fail_msg("%s: y[%u] is 0x%x, not 0x%x", c->name, i, y[i], c->y[i]);
  }
}

TEST(short_and_missing_buffers_are_named)
{
  uint32_t x[16] = {0}, y[16];
  const launch_case failing[] = {
      {{.text = "program @p workgroup(1, 1, 1) { buffer %y : u32[] storage set(0) binding(0) store %y[0], 1u32 }\n"},
       {"%y", "not bound", "buffer"}},
      {{.text = XY "}\n", .buffers = {{"x", x, 40}, {"y", y, sizeof y}}, .options = {.check_bounds = true}},
       {"%x", "out of bounds", "load"}},
  };
  LAUNCH_CHECK(failing);
}

TEST(f32_float_modes_affect_only_f32_arithmetic)
{
  uint64_t y[6] = {0};
  launch l = {.text = "program @p flush_f32 rtz_f32 workgroup(1, 1, 1) {\n"
                      "  buffer %y : u64[] storage set(0) binding(0)\n"
                      "  %f = bitcast add(wid.x, 5u32) : f32\n"
                      "  %cut = bitcast add(wid.x, 1069547521u32) : f32\n" /* 0x3fc00001: its square is not an f32 */
                      "  %square = mul %cut, %cut\n"
                      "  %wide = convert add(wid.x, 1u32) : f64\n"
                      "  %tenth = fdiv %wide, 10.0f64\n" /* rounds up: f64 is not truncated */
                      "%kept = select eq(wid.x, 0u32), %f, 1.0f32 %pair = join %f, %f %turned = transpose tuple(%pair, %pair)\n"
                      "%part = part %turned, 1 %outer = outer join(%cut, 1.0e-30f32), join(%cut, 1.0e-10f32)\n"
                      "%first = part %outer, 0 %second = part %outer, 1 %minus = mul %f, -1.0f32\n"
                      "store %y[0], bitcast(join(%square, %kept) : u64) store %y[1], bitcast(%tenth : u64)\n"
                      "store %y[2], bitcast(%part : u64) store %y[3], bitcast(%first : u64) store %y[4], bitcast(%second : u64)\n"
                      "store %y[5], bitcast(join(%minus, %f) : u64) }\n",
              .buffers = {{"y", y, sizeof y}}};
  launch_ok(&l);
  assert_int_equal((uint32_t)y[0], 0x40100001);
  assert_int_equal(y[0] >> 32, 5); /* copied, not computed */
  assert_int_equal(y[1], 0x3fb999999999999a);
  assert_int_equal(y[2], (uint64_t)5 << 32 | 5);
  assert_int_equal((uint32_t)y[3], 0x40100001);
  assert_int_equal(y[4] >> 32, 0); /* 1e-40, flushed: one part of a tuple */
  assert_int_equal((uint32_t)y[5], 0x80000000);
  assert_int_equal(y[5] >> 32, 5);
}
