/* Kernels that run as they should: control, memory, barriers, warps, calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_fixture.h"

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

TEST(shared_memory_and_barriers)
{
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

TEST(lanes_part_and_meet)
{
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[64];
    ptx_test t = {.text = loops, .launch = {.block = {64}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
    for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(out[i], ((i + 1) / 2) * ((i + 1) / 2)); /* the odd numbers to i */
  }
}

/* One value a thread, of a body that leaves it in %r9; the thread is %r1, the output's address in %x3. */
#define VALUE(functions, body)                                                                                               \
  PTX_HEAD functions ".visible .entry k(.param .u64 out)\n{\n"                                                               \
                     ".reg .b32 %r<12>; .reg .b64 %x<9>; .reg .pred %p<9>; .reg .b16 %h<5>; .reg .f32 %f<5>;\n"              \
                     "ld.param.u64 %x1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %x2, %r1, 4; add.s64 %x3, %x1, %x2;\n" body \
                     "st.global.u32 [%x3], %r9;\nret;\n}\n"

static void
gives(const char *text, uint32_t threads, uint32_t (*expected)(uint32_t thread))
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[128] = {0};
    ptx_test t = {.text = text, .launch = {.block = {threads}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
    for (uint32_t i = 0; i < threads; i++)
      if (out[i] != expected(i))
        fail_msg("seed %llu, thread %u: 0x%x, not 0x%x, of\n%s", (unsigned long long)seed, i, out[i], expected(i), text);
  }
}

static uint32_t
shuffled_up(uint32_t i)
{
  return i % 8 < 3 ? i : i - 3 + 1000;
}

static uint32_t
shuffled_down(uint32_t i)
{
  return i % 32 + 5 > 31 ? i : i + 5 + 1000;
}

static uint32_t
shuffled_crosswise(uint32_t i)
{
  return (i ^ 9) + 1000;
}

static uint32_t
shuffled_from(uint32_t i)
{
  return (i & ~15u) + 7 + 1000;
}

static uint32_t
ballot(uint32_t i)
{
  (void)i;
  return 0xaaaaaaaa;
}

static uint32_t
matched(uint32_t i)
{
  return 0x11111111u << i % 4;
}

static uint32_t
is_in_two(uint32_t i)
{
  return i % 32 < 16 ? 0x0000ffff : 0xffff0000;
}

static uint32_t
lanes(uint32_t i)
{
  return i % 32 + 100 * (i / 32);
}

TEST(warps)
{
#define AND_MARK "mov.u32 %r9, %r4;\n@%p1 add.u32 %r9, %r9, 1000;\n"
  gives(VALUE("", "shfl.sync.up.b32 %r4|%p1, %r1, 3, 0x1800, -1;\n" AND_MARK), 64, shuffled_up);
  gives(VALUE("", "shfl.sync.down.b32 %r4|%p1, %r1, 5, 31, -1;\n" AND_MARK), 64, shuffled_down);
  gives(VALUE("", "mov.u32 %r4, %r1; shfl.sync.bfly.b32 %r4|%p1, %r4, 9, 31, -1;\n" AND_MARK), 96, shuffled_crosswise);
  gives(VALUE("", "shfl.sync.idx.b32 %r4|%p1, %r1, 7, 0x101f, -1;\n" AND_MARK), 64, shuffled_from);
  gives(VALUE("", "and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; vote.sync.ballot.b32 %r9, !%p1, -1;\n"), 64, ballot);
  gives(VALUE("", "and.b32 %r4, %r1, 3; match.any.sync.b32 %r9, %r4, -1;\n"), 64, matched);
  gives(VALUE("", "and.b32 %r4, %r1, 31; setp.lt.u32 %p1, %r4, 16; mov.u32 %r5, 0xffff;\n@!%p1 mov.u32 %r5, 0xffff0000;\n"
                  "setp.eq.u32 %p2, 0, 0; vote.sync.ballot.b32 %r9, %p2, %r5;\n"),
        64, is_in_two);
  gives(VALUE("", "mov.u32 %r4, %laneid; mov.u32 %r5, %warpid; mad.lo.u32 %r9, %r5, 100, %r4;\n"), 96, lanes);
}

static uint32_t
called(uint32_t i)
{
  return i % 2 ? (i * 3 + 4) * 3 + 4 : i * 3 + 4;
}

static uint32_t
switched(uint32_t i)
{
  static const uint32_t of[] = {7, 30, 200, 30};
  return of[i % 4];
}

static uint32_t
own(uint32_t i)
{
  return i * 10 + 3;
}

static uint32_t
counted(uint32_t i)
{
  (void)i;
  return 22 + 100;
}

static uint32_t
packed(uint32_t i)
{
  return (0xffff0000u - (i << 16)) | i;
}

#define FUNCTION                                                                                                      \
  ".func (.param .b32 y) f(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\nmad.lo.u32 %r2, %r1, 3, 4;\n" \
  "st.param.b32 [y], %r2;\nret;\n}\n"
#define CALL "{\n.param .b32 a; .param .b32 b;\nst.param.b32 [a], %r9;\ncall.uni (b), f, (a);\nld.param.b32 %r9, [b];\n}\n"

TEST(calls_tables_and_memories)
{
  gives(
      VALUE(FUNCTION, "mov.u32 %r9, %r1;\n" CALL "and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0;\n@%p1 bra over;\n" CALL "over:\n"),
      64, called);
  gives(VALUE("", "and.b32 %r4, %r1, 3;\nts: .branchtargets A, B, C, B;\nbrx.idx %r4, ts;\nA: mov.u32 %r9, 7; bra D;\n"
                  "B: mov.u32 %r9, 30; bra D;\nC: mov.u32 %r9, 200;\nD:\n"),
        64, switched);
  gives(VALUE("", ".local .align 8 .b8 a[16];\nmov.u64 %x4, a; cvta.local.u64 %x5, %x4; mul.lo.u32 %r4, %r1, 10;\n"
                  "st.u32 [%x5+4], %r4; ld.local.u32 %r9, [a+4]; add.u32 %r9, %r9, 3;\n"),
        64, own);
  gives(VALUE("", ".shared .u32 n;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [n], 100;\nbar.sync 0;\n"
                  "setp.lt.u32 %p2, %r1, 22; bar.red.popc.u32 %r4, 1, %p2;\nld.shared.u32 %r5, [n]; add.u32 %r9, %r4, %r5;\n"),
        64, counted);
  gives(VALUE("", "cvt.u16.u32 %h1, %r1; not.b16 %h2, %h1; mov.b32 %r9, {%h1, %h2};\n"), 64, packed);
}

TEST(atomics_add_up)
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[4] = {0, 5, 0xffffffff, 0};
    ptx_test t = {.text =
                      ENTRY(".param .u64 out") ".reg .b32 %r<5>; .reg .b64 %x<4>;\nld.param.u64 %x1, [out]; mov.u32 %r1, %tid.x;\n"
                                               "atom.global.add.u32 %r2, [%x1], %r1;\nred.global.max.s32 [%x1+4], %r1;\n"
                                               "atom.global.min.u32 _, [%x1+8], %r1;\natom.inc.u32 %r3, [%x1+12], 9;\nret;\n}\n",
                  .launch = {.grid = {3}, .block = {40}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
    assert_int_equal(out[0], 3 * 780);
    assert_int_equal(out[1], 39);
    assert_int_equal(out[2], 0);
    assert_int_equal(out[3], 0); /* 120 steps round ten values */
    assert_int_equal(t.counts.atomics, 4 * 120);
  }
}

TEST(variables_have_their_values)
{
  uint32_t out[4] = {0};
  ptx_test t = {.text =
                    PTX_HEAD ".const .f32 half = 0.5;\n.global .align 4 .b8 words[12] = {1, 0, 0, 0, 2, 1};\n"
                             ".global .f32 quarter = -0f3e800000;\n.global .f32 three = 3;\n"
                             ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<5>; .reg .b64 %x<4>;\nld.param.u64 %x1, [out];\n"
                             "ld.global.u32 %r1, [words+4]; ld.const.b32 %r2, [half];\n"
                             "ld.global.b32 %r3, [quarter]; ld.global.b32 %r4, [three];\n"
                             "st.global.v4.u32 [%x1], {%r1, %r2, %r3, %r4};\nret;\n}\n"};
  ptx_test_buffer(&t, 0, out, sizeof out);
  ptx_test_ok(&t);
  assert_int_equal(out[0], 0x102);
  assert_int_equal(out[1], 0x3f000000);
  assert_int_equal(out[2], 0xbe800000);
  assert_int_equal(out[3], 0x40400000);
}
