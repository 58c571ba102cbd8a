/* Memory: shared, private, constant and bound buffers, layouts, bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

TEST(a_tree_reduction_sums)
{
  uint32_t x[4 * 128], sums[4] = {0};
  for (uint32_t i = 0; i < 4 * 128; i++)
    x[i] = i * i + 3;
  launch l = {.text = "program @reduce workgroup(128, 1, 1) {\n"
                      "  buffer %x : u32[] storage ro set(0) binding(0) buffer %y : u32[] storage set(0) binding(1)\n"
                      "  buffer %tile : u32[128] workgroup var %stride : u32 %i = lindex %w = wid %v = load %x[gid.x]\n"
                      "  store %tile[%i], %v barrier workgroup set %stride, 64u32\n"
                      "  loop {\n"
                      "    %s = get %stride\n"
                      "    if ult %i, %s { %a = load %tile[%i] %b = load %tile[add(%i, %s)] store %tile[%i], add(%a, %b) }\n"
                      "    barrier workgroup\n"
                      "  } continuing {\n"
                      "    %t = get %stride set %stride, ushr(%t, 1u32) breakif ult(%t, 2u32)\n"
                      "  }\n"
                      "  if eq %i, 0u32 { %sum = load %tile[0] store %y[%w.x], %sum }\n"
                      "}\n",
              .groups = {4, 1, 1},
              .buffers = {{"x", x, sizeof x}, {"y", sums, sizeof sums}}};
  launch_ok(&l);
  for (uint32_t g = 0; g < 4; g++) {
    uint32_t want = 0;
    for (uint32_t i = 0; i < 128; i++)
      want += x[g * 128 + i];
    assert_int_equal(sums[g], want);
  }
}

TEST(a_prefix_sum_scans)
{
  uint32_t x[100], want[100], sum = 0;
  for (uint32_t i = 0; i < 100; i++) {
    x[i] = (i * 2654435761u) >> 24;
    want[i] = sum += x[i];
  }
  launch l = {.text = "program @scan workgroup(100, 1, 1) {\n"
                      "  buffer %x : u32[] storage set(0) binding(0) buffer %tile : u32[100] workgroup %i = lindex\n"
                      "  %v = load %x[%i] store %tile[%i], %v barrier workgroup\n"
                      "  for %k = 0u32 to 7u32 {\n"
                      "    %step = shl(1u32, %k) %mine = load %tile[%i] %other = load %tile[sub(%i, %step)] barrier workgroup\n"
                      "    store %tile[%i], add(%mine, %other) barrier workgroup\n"
                      "  }\n"
                      "  %r = load %tile[%i] store %x[%i], %r\n"
                      "}\n",
              .buffers = {{"x", x, sizeof x}}};
  launch_ok(&l); /* what lies before the tile reads as zero */
  assert_memory_equal(x, want, sizeof x);
}

TEST(out_of_bounds_reads_zero_and_writes_nothing)
{
  struct {
    uint32_t inner[2][3];
    uint32_t vector[4];
    uint32_t tail[5];
  } s;
  uint32_t y[16];
  memset(&s, 0x11, sizeof s);
  memset(y, 0xee, sizeof y);
  launch l = {.text = "struct @S block { inner : u32[2][3], vector : u32x4 @24, tail : u32[] }\n"
                      "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %s : @S storage set(0) binding(0)\n"
                      "  buffer %y : u32[] storage set(0) binding(1)\n"
                      "  %zero = wid.x\n"
                      "  %a = load %s.inner[%zero][add(%zero, 3u32)]\n" /* the next row of the matrix is no part of this one */
                      "%b = load %s.inner[add(%zero, 2u32)][0] %c = load %s.vector[add(%zero, 4u32)]\n"
                      "%d = load %s.tail[add(%zero, 5u32)] %e = load %s.tail[sub(bitcast(%zero : i32), 1i32)]\n"
                      "%f = load %s.tail[add(%zero, 4u32)] %n = length %s.tail store %y[0], %a store %y[1], %b store %y[2], %c\n"
                      "store %y[3], %d store %y[4], %e store %y[5], %f store %y[6], %n\n"
                      "store %s.inner[%zero][add(%zero, 3u32)], 7u32 store %s.inner[add(%zero, 4294967295u32)][0], 7u32\n"
                      "store %s.vector[add(%zero, 4u32)], 7u32 store %s.tail[add(%zero, 5u32)], 7u32\n"
                      "store %y[add(%zero, 16u32)], 7u32 store %s.tail[add(%zero, 4u32)], 9u32 }\n",
              .buffers = {{"s", &s, sizeof s}, {"y", y, sizeof y}}};
  /* std430 would put the vector at 32: the text says 24 so that the C struct is the same */
  launch_ok(&l);
  const uint32_t want[7] = {0, 0, 0, 0, 0, 0x11111111, 5};
  assert_memory_equal(y, want, sizeof want);
  assert_int_equal(y[7], 0xeeeeeeee);
  for (uint32_t i = 0; i < 14; i++)
    assert_int_equal(((uint32_t *)&s)[i], 0x11111111);
  assert_int_equal(s.tail[4], 9);
}

TEST(layouts_are_as_declared)
{
  float m[64], y[24];
  for (uint32_t i = 0; i < 64; i++)
    m[i] = (float)i;
  launch l = {.text = "struct @M block {\n"
                      "  column : mat3(f32x2, stride 16), row : mat3(f32x2, stride 16, row_major) @64,\n"
                      "  wide : f32[3, stride 12] @100\n"
                      "}\n"
                      "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %m : @M uniform set(0) binding(0) buffer %y : f32[] storage set(0) binding(1)\n"
                      "  %c = load %m.column[2] %r = load %m.row[2] %l = load %m.row[1][1] %w = load %m.wide[2]\n"
                      "  store %y[0], %c.x store %y[1], %c.y store %y[2], %r.x store %y[3], %r.y store %y[4], %l store %y[5], %w\n"
                      "}\n",
              .buffers = {{"m", m, sizeof m}, {"y", y, sizeof y}}};
  launch_ok(&l);
  const float want[6] = {8, 9, 16 + 2, 16 + 4 + 2, 16 + 4 + 1, 25 + 6};
  assert_memory_equal(y, want, sizeof want);
}

TEST(a_part_of_an_element_is_no_element)
{
  uint32_t x[3] = {1, 2, 3}, y[3] = {9, 9, 9};
  launch l = {.text = "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %x : u32x2[] storage set(0) binding(0)\n"
                      "  buffer %y : u32[] storage set(0) binding(1)\n"
                      "  %n = length %x\n"
                      "  %inside = load %x[wid.x][0]\n"
                      "  %half = load %x[add(wid.x, 1u32)][0]\n" /* its bytes are there, its element is not */
                      "store %y[0], %n store %y[1], %inside store %y[2], %half }\n",
              .buffers = {{"x", x, sizeof x}, {"y", y, sizeof y}}};
  launch_ok(&l);
  const uint32_t want[3] = {1, 1, 0};
  assert_memory_equal(y, want, sizeof want);
}

TEST(the_last_column_may_end_with_the_buffer)
{
  const float m[6] = {1, 2, 0, 0, 3, 4}; /* two rows, 16 bytes apart: 24 bytes hold both */
  float y[2] = {0};
  launch l = {.text = "struct @M block { m : mat2(f32x2, stride 16, row_major) }\n"
                      "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %m : @M storage ro set(0) binding(0) buffer %y : f32x2[] storage set(0) binding(1)\n"
                      "  %c = load %m.m[1] store %y[0], %c\n"
                      "}\n",
              .buffers = {{"m", (void *)(uintptr_t)m, sizeof m}, {"y", y, sizeof y}}};
  launch_ok(&l);
  assert_true(y[0] == 2 && y[1] == 4);
}

TEST(rows_of_one_binding_share_its_memory)
{
  uint32_t wrong[1] = {77}, x[1] = {5}, y[2] = {0};
  launch l = {.text = "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %wrong : u32[] storage set(0) binding(1)\n"
                      "  buffer %y : u32[] storage set(0) binding(0)\n"
                      "  buffer %x : u32[] storage set(1) binding(1)\n"
                      "  buffer %same : u32[] storage set(1) binding(1)\n" /* given as %x alone */
                      "%v = load %same[0] %w = load %wrong[0] store %y[0], %v store %y[1], %w }\n",
              .buffers = {{"wrong", wrong, sizeof wrong}, {"y", y, sizeof y}, {"x", x, sizeof x}}};
  launch_ok(&l);
  assert_int_equal(y[0], 5);
  assert_int_equal(y[1], 77);
}

TEST(initializers_hold_wide_words)
{
  uint64_t y[3] = {0};
  launch l = {.text = "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %table : u64[3] constant = [4294967298u64, 1152921504606846976u64, 7u64]\n"
                      "  buffer %y : u64[] storage set(0) binding(0)\n"
                      "  for %i = 0u32 to 3u32 { %v = load %table[%i] store %y[%i], %v }\n"
                      "}\n",
              .buffers = {{"y", y, sizeof y}}};
  launch_ok(&l);
  const uint64_t want[3] = {(uint64_t)1 << 32 | 2, (uint64_t)1 << 60, 7};
  assert_memory_equal(y, want, sizeof want);
}

TEST(other_programs_of_the_module_need_nothing)
{
  uint32_t y[1] = {0};
  launch l = {.text = "program @first workgroup(1, 1, 1) { buffer %y : u32[] storage set(0) binding(0) store %y[0], 3u32 }\n"
                      "program @second workgroup(1, 1, 1) { buffer %z : u32[] storage set(0) binding(1) store %z[0], 4u32 }\n",
              .buffers = {{"y", y, sizeof y}}};
  launch_ok(&l);
  assert_int_equal(y[0], 3);
}

TEST(copies_go_between_layouts)
{
  uint32_t x[16], y[16];
  for (uint32_t i = 0; i < 16; i++) {
    x[i] = 100 + i;
    y[i] = 0;
  }
  launch l = {.text = "struct @T { a : u32x3, b : u32[2], c : mat2(f32x2, row_major) }\n"
                      "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %x : @T storage set(0) binding(0) buffer %y : @T storage set(0) binding(1)\n"
                      "  buffer %t : @T private copy %t, %x %b = load %t.b[1] store %t.b[1], add(%b, 1000u32) copy %y, %t\n"
                      "}\n",
              .buffers = {{"x", x, sizeof x}, {"y", y, sizeof y}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 3; i++)
    assert_int_equal(y[i], x[i]);
  assert_int_equal(y[3], x[3]);
  assert_int_equal(y[4], x[4] + 1000);
  for (uint32_t i = 6; i < 10; i++)
    assert_int_equal(y[i], x[i]);
  assert_int_equal(y[5], 0); /* the gap */
}

TEST(private_memory_is_each_invocations_own)
{
  uint32_t y[4 * 2 * 2];
  launch l = {.text = "program @p workgroup(4, 1, 1) {\n"
                      "  buffer %y : u32x2[] storage set(0) binding(0) buffer %mine : u32[4] private\n"
                      "  buffer %table : u32[4] constant = [11u32, 22u32, 33u32, 44u32] var %s : u32 %i = lindex\n"
                      "  %before = load %mine[1] %zero = get %s store %mine[1], add(%i, 5u32) set %s, %i %after = load %mine[1]\n"
                      "  %t = load %table[%i] store %y[gid.x], join(add(add(%before, %zero), %after), %t)\n"
                      "}\n",
              .groups = {2, 1, 1}, /* zero again at the start of each */
              .buffers = {{"y", y, sizeof y}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 8; i++) {
    assert_int_equal(y[2 * i], i % 4 + 5);
    assert_int_equal(y[2 * i + 1], (i % 4 + 1) * 11);
  }
}

TEST(specialization_sizes_workgroup_and_arrays)
{
  uint32_t y[64];
  const char *text = "program @p {\n"
                     "  spec %n : u32 = 4u32 id(3) spec %scale : u32 = 10u32 id(9) %twice = mul %n, 2u32\n"
                     "  workgroup %n, 2u32, 1u32 buffer %y : u32[] storage set(0) binding(0)\n"
                     "  buffer %tile : u32[%twice] workgroup %i = lindex store %tile[%i], mul(%i, %scale) barrier workgroup\n"
                     "  %next = load %tile[add(%i, 1u32)] store %y[%i], %next\n"
                     "}\n";
  memset(y, 0xee, sizeof y);
  launch l = {.text = text, .buffers = {{"y", y, sizeof y}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(y[i], i == 7 ? 0 : (i + 1) * 10);
  assert_int_equal(y[8], 0xeeeeeeee);
  launch other = {.text = text, .buffers = {{"y", y, sizeof y}}, .specs = {{3, 16}, {9, 2}}, .spec_count = 2};
  launch_ok(&other);
  for (uint32_t i = 0; i < 32; i++)
    assert_int_equal(y[i], i == 31 ? 0 : (i + 1) * 2);
}

TEST(tuples_and_vectors_in_rows)
{
  float y[64 * 4];
  launch l = {.text = "program @p workgroup(64, 1, 1) {\n"
                      "  buffer %y : f32x4[] storage set(0) binding(0) %i = lindex %f = convert %i : f32\n"
                      "  %m = tuple join(%f, 2.0f32), join(0.0f32, %f) %sq = matmat %m, %m %p = part %sq, 0 %t = transpose %m\n"
                      "  %q = part %t, 1 %v = join %p, %q %w = shuffle %v, [3, 2, 1, 0] : f32x4 %odd = ne and(%i, 1u32), 0u32\n"
                      "  %e = select %odd, %w, %v store %y[%i], insert(%e, 9.0f32, %i)\n"
                      "}\n",
              .buffers = {{"y", y, sizeof y}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 64; i++) {
    /* columns (f 2) (0 f): the square's first is (f*f, 2f + 2f); the transpose's second is (2, f) */
    const float f = (float)i, v[4] = {f * f, 4 * f, 2, f};
    for (uint32_t k = 0; k < 4; k++)
      assert_true(y[4 * i + k] == (k == i ? 9.0f : i & 1 ? v[3 - k] : v[k]));
  }
}

TEST(float_modes_flush_and_cut)
{
  static const char *const body = "workgroup(2, 1, 1) {\n"
                                  "  buffer %x : u32[] storage set(0) binding(0) buffer %y : u32x4[] storage set(0) binding(1)\n"
                                  "  %b = load %x[lindex] %f = bitcast %b : f32 %p = mul %f, 1.0f32\n"
                                  "  %q = fdiv 1.0f32, add(%f, 3.0f32) %z = feq %f, 0.0f32 %v = join %f, %p, %q\n"
                                  "  %w = bitcast %v : u32x3 store %y[lindex], join(%w, select(%z, 1u32, 0u32))\n"
                                  "}\n";
  uint32_t x[2] = {0x00000005, 0};
  uint32_t y[3][2][4];
  static const char *const modes[3] = {"", "flush_f32 ", "rtz_f32 "};
  char text[1024];
  for (int k = 0; k < 3; k++) {
    snprintf(text, sizeof text, "program @p %s%s", modes[k], body);
    launch l = {.text = text, .buffers = {{"x", x, sizeof x}, {"y", y[k], sizeof y[k]}}};
    launch_ok(&l);
  }
  const uint32_t want[3][4] = {{5, 5, 0x3eaaaaab, 0}, {5, 0, 0x3eaaaaab, 1}, {5, 5, 0x3eaaaaaa, 0}};
  for (int k = 0; k < 3; k++)
    assert_memory_equal(y[k][0], want[k], sizeof want[k]);
}

TEST(float_modes_are_about_f32_arithmetic_alone)
{
  uint64_t y[6] = {0};
  launch l = {.text = "program @p flush_f32 rtz_f32 workgroup(1, 1, 1) {\n"
                      "  buffer %y : u64[] storage set(0) binding(0)\n"
                      "  %f = bitcast add(wid.x, 5u32) : f32\n"
                      "  %cut = bitcast add(wid.x, 1069547521u32) : f32\n" /* 0x3fc00001: its square lies between two */
                      "  %square = mul %cut, %cut\n"
                      "  %wide = convert add(wid.x, 1u32) : f64\n"
                      "  %tenth = fdiv %wide, 10.0f64\n" /* rounds up: f64 is not cut */
                      "%kept = select eq(wid.x, 0u32), %f, 1.0f32 %pair = join %f, %f %turned = transpose tuple(%pair, %pair)\n"
                      "%part = part %turned, 1 %outer = outer join(%cut, 1.0e-30f32), join(%cut, 1.0e-10f32)\n"
                      "%first = part %outer, 0 %second = part %outer, 1 %minus = mul %f, -1.0f32\n"
                      "store %y[0], bitcast(join(%square, %kept) : u64) store %y[1], bitcast(%tenth : u64)\n"
                      "store %y[2], bitcast(%part : u64) store %y[3], bitcast(%first : u64) store %y[4], bitcast(%second : u64)\n"
                      "store %y[5], bitcast(join(%minus, %f) : u64) }\n",
              .buffers = {{"y", y, sizeof y}}};
  launch_ok(&l);
  assert_int_equal((uint32_t)y[0], 0x40100001);
  assert_int_equal(y[0] >> 32, 5); /* moved, not computed */
  assert_int_equal(y[1], 0x3fb999999999999a);
  assert_int_equal(y[2], (uint64_t)5 << 32 | 5);
  assert_int_equal((uint32_t)y[3], 0x40100001);
  assert_int_equal(y[4] >> 32, 0); /* 1e-40, flushed: one part of a tuple */
  assert_int_equal((uint32_t)y[5], 0x80000000);
  assert_int_equal(y[5] >> 32, 5);
}

TEST(a_buffer_without_data_is_an_error)
{
  launch l = {.text = "program @p workgroup(1, 1, 1) { buffer %y : u32[] storage set(0) binding(0) store %y[0], 1u32 }\n"};
  launch_fails(&l, "%y", "not bound", "buffer");
}

/* Less is bound than the type has: a vector of which a part alone is there is out of bounds as a whole. */
TEST(a_vector_is_there_as_a_whole)
{
  uint32_t x[16], y[12], want[16];
  for (uint32_t i = 0; i < 16; i++)
    x[i] = want[i] = i + 1;
  memset(y, 0xee, sizeof y);
  launch l = {.text = "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %x : u32x4[4] storage set(0) binding(0) buffer %y : u32x4[] storage set(0) binding(1)\n"
                      "  %i = add wid.x, 2u32 store %y[0], load(%x[1]) store %y[1], load(%x[%i])\n"
                      "  store %y[2], load(%x[add(%i, 1u32)]) store %x[%i], load(%x[0])\n"
                      "}\n",
              .buffers = {{"x", x, 40}, {"y", y, sizeof y}}};
  launch_ok(&l);
  assert_memory_equal(x, want, sizeof x);
  assert_memory_equal(y, want + 4, 16);
  for (uint32_t i = 4; i < 12; i++)
    assert_int_equal(y[i], 0);
  l.options.check_bounds = true;
  launch_fails(&l, "%x", "out of bounds", "load");
}

/* Rows of a matrix that is not square, with gaps: all of it is copied, and nothing beside it. */
TEST(matrices_of_rows_are_copied_whole)
{
  static const bool is_copied[10] = {true, true, true, false, true, true, true, false, true, false};
  uint32_t x[10], y[10];
  for (uint32_t i = 0; i < 10; i++) {
    x[i] = 100 + i;
    y[i] = 0;
  }
  launch l = {.text = "struct @T block { c : mat3(f32x2, stride 16, row_major), d : u32 @32 }\n"
                      "program @p workgroup(1, 1, 1) {\n"
                      "  buffer %x : @T storage set(0) binding(0)\n"
                      "  buffer %y : @T storage set(0) binding(1)\n"
                      "  copy %y, %x\n"
                      "}\n",
              .buffers = {{"x", x, sizeof x}, {"y", y, sizeof y}}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 10; i++)
    assert_int_equal(y[i], is_copied[i] ? x[i] : 0);
}
