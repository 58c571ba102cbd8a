/* Kernels that run as they should: control, memory, barriers, warps, calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { SEEDS = 20 };

#define ENTRY(parameters) PTX_HEAD ".visible .entry k(" parameters ")\n{\n"

/* Sums of neighbours through shared memory: each thread's own and the next one's number. */
static const char sums[] = ENTRY(".param .u64 out") //
    "  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
    "  .shared .align 4 .b8 part[1024];\n"
    "  ld.param.u64 %rd1, [out];\n"
    "  cvta.to.global.u64 %rd1, %rd1;\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x;\n"
    "  shl.b32 %r4, %r1, 2;\n"
    "  mov.u32 %r5, part; add.s32 %r5, %r5, %r4;\n"
    "  st.shared.u32 [%r5], %r1;\n"
    "  bar.sync 0;\n"
    "  add.s32 %r6, %r1, 1; setp.eq.u32 %p1, %r6, %r2; @%p1 mov.u32 %r6, 0;\n"
    "  shl.b32 %r6, %r6, 2; mov.u32 %r7, part; add.s32 %r7, %r7, %r6;\n"
    "  ld.shared.u32 %r8, [%r7];\n"
    "  add.s32 %r8, %r8, %r1;\n"
    "  mad.lo.s32 %r3, %r3, %r2, %r1;\n"
    "  mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "  st.global.u32 [%rd1], %r8;\n"
    "  ret;\n}\n";

static void
shared_memory_and_barriers(void **state)
{
  (void)state;
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[5 * 200];
    ptx_test t = {.text = sums, .launch = {.grid = {5}, .block = {200}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
    for (uint32_t i = 0; i < 1000; i++)
      assert_int_equal(out[i], i % 200 + (i % 200 + 1) % 200);
    assert_int_equal(t.counts.barriers, 5);
    assert_int_equal(t.counts.stores, 2000);
    assert_int_equal(t.counts.loads, 2000);
  }
}

/* Lanes loop for different times, and each adds what it counted. */
static const char loops[] = ENTRY(".param .u64 out") //
    "  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
    "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
    "$L_head:\n"
    "  setp.gt.u32 %p1, %r3, %r1; @%p1 bra $L_end;\n"
    "  and.b32 %r4, %r3, 1; setp.ne.u32 %p2, %r4, 0;\n"
    "  @!%p2 bra $L_even;\n"
    "  add.s32 %r2, %r2, %r3;\n"
    "$L_even:\n"
    "  add.s32 %r3, %r3, 1; bra.uni $L_head;\n"
    "$L_end:\n"
    "  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r2;\n"
    "}\n";

static void
lanes_part_and_meet(void **state)
{
  (void)state;
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[64];
    ptx_test t = {.text = loops, .launch = {.block = {64}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
    for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(out[i], ((i + 1) / 2) * ((i + 1) / 2)); /* the odd numbers to i */
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shared_memory_and_barriers),
      cmocka_unit_test(lanes_part_and_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
