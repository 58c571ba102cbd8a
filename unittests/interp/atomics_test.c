/* Atomics: what each combines, in which order, on which types, and under float modes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

#include <math.h>

TEST(atomics_count_and_combine)
{
  uint32_t bins[8] = {0}, y[14] = {0}, old[256];
  y[1] = 0xffffffff;
  y[3] = 0x7fffffff;
  y[5] = 0xffffffff;
  launch l = {.text = "program @histogram workgroup(64, 1, 1) {\n"
                      "  buffer %bins : u32[8] storage set(0) binding(0) buffer %y : u32[] storage set(0) binding(1)\n"
                      "  buffer %z : i32[] storage set(0) binding(1) buffer %old : u32[] storage set(0) binding(2) %i = gid.x\n"
                      "  %n = atomic_add %bins[umod(mul(%i, %i), 8u32)], 1u32 %sum = atomic_add %y[0], %i\n"
                      "  %umin = atomic_umin %y[1], add(%i, 5u32) %umax = atomic_umax %y[2], %i\n"
                      "  %smin = atomic_smin %z[3], sub(bitcast(%i : i32), 100i32)\n"
                      "  %smax = atomic_smax %z[4], sub(bitcast(%i : i32), 300i32)\n"
                      "  %and = atomic_and %y[5], not(shl(1u32, umod(%i, 30u32)))\n"
                      "  %or = atomic_or %y[6], shl(1u32, umod(%i, 5u32)) %xor = atomic_xor %y[7], %i\n"
                      "  %sub = atomic_sub %y[8], 1u32 %cas = atomic_compare_exchange %y[9], %i, add(%i, 0u32)\n"
                      "  %won = atomic_compare_exchange %y[10], add(%i, 1u32), 0u32 %swap = atomic_exchange %y[11], %i\n"
                      "  atomic_store %y[12], %i %far = atomic_add %y[1000], 1u32 %seen = atomic_load %y[10]\n"
                      "  store %old[%i], add(add(%sum, %far), mul(%swap, 65536u32)) if eq %i, 255u32 { store %y[13], %seen }\n"
                      "}\n",
              .groups = {4, 1, 1},
              .buffers = {{"bins", bins, sizeof bins}, {"y", y, sizeof y}, {"old", old, sizeof old}}};
  launch_ok(&l);
  uint32_t want[8] = {0}, sum = 0;
  for (uint32_t i = 0; i < 256; i++) {
    want[i * i % 8]++;
    assert_int_equal(old[i], sum + (i ? i - 1 : 0) * 65536u); /* by invocation, in order */
    sum += i;
  }
  assert_memory_equal(bins, want, sizeof bins);
  const uint32_t all[14] = {sum, 5, 255, (uint32_t)-100, 0, 0xc0000000, 31, 0, (uint32_t)-256, 0, 1, 255, 255, 1};
  for (uint32_t i = 0; i < 14; i++)
    if (y[i] != all[i])
      fail_msg("y[%u] is 0x%x, not 0x%x", i, y[i], all[i]);
}

TEST(atomics_on_64_bits)
{
  uint64_t y[12] = {0, UINT64_MAX, 0, 0, 1, 0, UINT64_MAX}, old[8];
  launch l = {.text = "program @wide workgroup(4, 1, 1) {\n"
                      "  buffer %y : u64[] storage set(0) binding(0)\n"
                      "  buffer %old : u64[] storage set(0) binding(1)\n"
                      "  %i = gid.x\n"
                      "  %w = add(convert(%i : u64), 0x100000000u64)\n"
                      "  %sum = atomic_add %y[0], %w\n"
                      "  %umin = atomic_umin %y[1], %w\n"
                      "  %umax = atomic_umax %y[2], %w\n"
                      "  %smin = atomic_smin %y[3], neg(%w)\n"
                      "  %smax = atomic_smax %y[4], neg(%w)\n"
                      "  %sub = atomic_sub %y[5], %w\n"
                      "  %and = atomic_and %y[6], not(%w)\n"
                      "  %or = atomic_or %y[7], %w\n"
                      "  %cas = atomic_compare_exchange %y[8], %w, 0u64\n"
                      "  %low = atomic_compare_exchange %y[9], %w, 0x100000000u64\n" /* 0 is not it, whatever its low half */
                      "%swap = atomic_exchange %y[10], %w %far = atomic_add %y[1000], %w\n"
                      "store %old[%i], add(%sum, add(%far, %low)) }\n",
              .groups = {2, 1, 1},
              .buffers = {{"y", y, sizeof y}, {"old", old, sizeof old}}};
  launch_ok(&l);
  const uint64_t high = UINT64_C(1) << 32, sum = 8 * high + 28;
  const uint64_t all[12] = {sum, high, high + 7, 0 - (high + 7), 1, 0 - sum, ~(high + 7), high + 7, high, 0, high + 7};
  for (uint32_t i = 0; i < 12; i++)
    if (y[i] != all[i])
      fail_msg("y[%u] is 0x%llx, not 0x%llx", i, (unsigned long long)y[i], (unsigned long long)all[i]);
  uint64_t seen = 0;
  for (uint64_t i = 0; i < 8; seen += high + i++)
    assert_true(old[i] == seen); /* by invocation, in order */
}

static uint32_t
bits(float value)
{
  uint32_t result;
  memcpy(&result, &value, 4);
  return result;
}

TEST(atomics_on_floats)
{
  float y[10] = {1.0f, 0, 0, NAN, NAN, -0.0f, 0.0f, 3.0f, 0x1p24f}, old[8];
  double d[4] = {1.0, 0, 0, 0x1p53};
  uint16_t h[4] = {0x3c00 /* 1 */, 0, 0, 0x6800 /* 2048, where 1 is half a unit */};
  launch l = {.text = "program @floats workgroup(4, 1, 1) {\n"
                      "  buffer %y : f32[] storage set(0) binding(0) buffer %d : f64[] storage set(0) binding(1)\n"
                      "  buffer %h : f16[] storage set(0) binding(2) buffer %old : f32[] storage set(0) binding(3) %i = gid.x\n"
                      "  %f = convert %i : f32 %sum = atomic_fadd %y[0], %f %min = atomic_fmin %y[1], neg(%f)\n"
                      "  %max = atomic_fmax %y[2], %f %from_nan = atomic_fmin %y[3], %f %up_from_nan = atomic_fmax %y[4], %f\n"
                      "  %up = atomic_fmax %y[5], 0.0f32 %down = atomic_fmin %y[6], -0.0f32\n"
                      "  %nan = atomic_fmin %y[7], nan(0x7fc00001)f32 %ties = atomic_fadd %y[8], 1.0f32\n"
                      "  %far = atomic_fadd %y[1000], %f %dsum = atomic_fadd %d[0], convert(%i : f64)\n"
                      "  %dmin = atomic_fmin %d[1], neg(convert(%i : f64)) %dmax = atomic_fmax %d[2], convert(%i : f64)\n"
                      "  %dties = atomic_fadd %d[3], 1.0f64 %hsum = atomic_fadd %h[0], convert(%i : f16)\n"
                      "  %hmin = atomic_fmin %h[1], neg(convert(%i : f16)) %hmax = atomic_fmax %h[2], convert(%i : f16)\n"
                      "  %hties = atomic_fadd %h[3], 1.0f16 %swap = atomic_exchange %y[9], %f %seen = atomic_load %y[9]\n"
                      "  store %old[%i], add(add(%sum, %far), mul(add(%swap, %seen), 1024.0f32)) atomic_store %y[9], 7.0f32\n"
                      "}\n",
              .groups = {2, 1, 1},
              .buffers = {{"y", y, sizeof y}, {"d", d, sizeof d}, {"h", h, sizeof h}, {"old", old, sizeof old}}};
  launch_ok(&l);
  const float want[10] = {29, -7, 7, 0, 7, 0.0f, -0.0f, 3, 0x1p24f, 7};
  for (uint32_t i = 0; i < 10; i++)
    if (bits(y[i]) != bits(want[i]))
      fail_msg("y[%u] is %a, not %a", i, (double)y[i], (double)want[i]);
  const double doubles[4] = {29, -7, 7, 0x1p53};
  assert_memory_equal(d, doubles, sizeof d);
  const uint16_t halves[4] = {0x4f40, 0xc700, 0x4700, 0x6800};
  assert_memory_equal(h, halves, sizeof h);
  /* by invocation, in order; the second workgroup comes after the first, whose last word is 7 */
  const float seen[8] = {1 + 1024 * 3,       1 + 1024 * 3,        2 + 1024 * 4,        4 + 1024 * 5,
                         7 + 1024 * (7 + 7), 11 + 1024 * (4 + 7), 16 + 1024 * (5 + 7), 22 + 1024 * (6 + 7)};
  assert_memory_equal(old, seen, sizeof old);
}

TEST(atomics_keep_to_float_modes)
{
  /* in turn: a sum that rounds up, a denormal sum, a denormal operand, a denormal that is there already, a sum of denormals */
  static const char text[] = "program @modes %s workgroup(1, 1, 1) {\n"
                             "  buffer %%y : f32[] storage set(0) binding(0) %%a = atomic_fadd %%y[0], 0x1.8p-24f32\n"
                             "  %%b = atomic_fadd %%y[1], -0x1p-126f32 %%c = atomic_fmax %%y[2], 0x1p-130f32\n"
                             "  %%d = atomic_fmin %%y[3], 0x1p-126f32 %%e = atomic_fadd %%y[4], 0x1p-127f32\n"
                             "}\n";
  static const struct {
    const char *mode;
    float want[5];
  } cases[] = {{"", {0x1.000002p0f, 0x1p-127f, 0x1p-130f, 0x1p-131f, 0x1p-126f}},
               {"rtz_f32", {1.0f, 0x1p-127f, 0x1p-130f, 0x1p-131f, 0x1p-126f}},
               {"flush_f32", {0x1.000002p0f, 0, 0, 0, 0}}};
  for (size_t i = 0; i < 3; i++) {
    float y[5] = {1.0f, 0x1.8p-126f, 0, 0x1p-131f, 0x1p-127f};
    char made[sizeof text + 16];
    snprintf(made, sizeof made, text, cases[i].mode);
    launch l = {.text = made, .groups = {1, 1, 1}, .buffers = {{"y", y, sizeof y}}};
    launch_ok(&l);
    for (uint32_t k = 0; k < 5; k++)
      if (bits(y[k]) != bits(cases[i].want[k]))
        fail_msg("'%s': y[%u] is %a, not %a", cases[i].mode, k, (double)y[k], (double)cases[i].want[k]);
  }
}
