/* Atomics on floats: their results, their order, and float modes.  Integer atomics are compared with other targets
 * (lit-tests/Export/c-memory.vir) and with C (unittests/spirv/import_memory.c, import_types.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

#include <math.h>

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
  /* by invocation, in order; the second workgroup follows the first, whose last word is 7 */
  const float seen[8] = {1 + 1024 * 3,       1 + 1024 * 3,        2 + 1024 * 4,        4 + 1024 * 5,
                         7 + 1024 * (7 + 7), 11 + 1024 * (4 + 7), 16 + 1024 * (5 + 7), 22 + 1024 * (6 + 7)};
  assert_memory_equal(old, seen, sizeof old);
}

TEST(atomics_follow_float_modes)
{
  /* in turn: a sum that rounds up, a denormal sum, a denormal operand, a denormal in memory, a sum of denormals */
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
