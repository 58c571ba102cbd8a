/* Kernels in the simulator: control flow, memory, barriers, warps, calls, and faults.  Each fault is reported at its line, in each
 * schedule or in some.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_fixture.h"

enum { SEEDS = 30, OUT = 128 };

#define ENTRY(parameters) PTX_HEAD ".visible .entry k(" parameters ")\n{\n"

/* Each thread adds its number and that of the next thread, through shared memory. */
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

TEST(barriers_order_shared_memory)
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

/* Lanes have different numbers of iterations.  Each sums the odd numbers up to its own. */
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

TEST(diverged_lanes_converge)
{
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[64];
    ptx_test t = {.text = loops, .launch = {.block = {64}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
    for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(out[i], ((i + 1) / 2) * ((i + 1) / 2)); /* sum of the odd numbers up to i */
  }
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

/* A kernel whose body computes a value for each thread in %r9.  The thread's number is in %r1, the output's address in %x3. */
#define VALUE(functions, body)                                                                                               \
  PTX_HEAD functions ".visible .entry k(.param .u64 out)\n{\n"                                                               \
                     ".reg .b32 %r<12>; .reg .b64 %x<9>; .reg .pred %p<9>; .reg .b16 %h<5>; .reg .f32 %f<5>;\n"              \
                     "ld.param.u64 %x1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %x2, %r1, 4; add.s64 %x3, %x1, %x2;\n" body \
                     "st.global.u32 [%x3], %r9;\nret;\n}\n"
#define AND_MARK "mov.u32 %r9, %r4;\n@%p1 add.u32 %r9, %r9, 1000;\n"
#define FUNCTION                                                                                                      \
  ".func (.param .b32 y) f(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\nmad.lo.u32 %r2, %r1, 3, 4;\n" \
  "st.param.b32 [y], %r2;\nret;\n}\n"
#define REGISTERS ".func (.reg .b32 y) f(.reg .b32 x, .reg .b32 z)\n{\nmad.lo.u32 y, x, 3, z;\nret;\n}\n"
#define CALL "{\n.param .b32 a; .param .b32 b;\nst.param.b32 [a], %r9;\ncall.uni (b), f, (a);\nld.param.b32 %r9, [b];\n}\n"

typedef enum value {
  UP,
  DOWN,
  CROSSWISE,
  FROM,
  BALLOT,
  MATCHED,
  HALVES,
  LANES,
  CALLED,
  REGISTERED,
  SWITCHED,
  OWN,
  COUNTED,
  PACKED,
  VALUES
} value;

static const struct {
  const char *text;
  uint32_t threads;
} values[VALUES] = {
    [UP] = {VALUE("", "shfl.sync.up.b32 %r4|%p1, %r1, 3, 0x1800, -1;\n" AND_MARK), 64},
    [DOWN] = {VALUE("", "shfl.sync.down.b32 %r4|%p1, %r1, 5, 31, -1;\n" AND_MARK), 64},
    [CROSSWISE] = {VALUE("", "mov.u32 %r4, %r1; shfl.sync.bfly.b32 %r4|%p1, %r4, 9, 31, -1;\n" AND_MARK), 96},
    [FROM] = {VALUE("", "shfl.sync.idx.b32 %r4|%p1, %r1, 7, 0x101f, -1;\n" AND_MARK), 64},
    [BALLOT] = {VALUE("", "and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; vote.sync.ballot.b32 %r9, !%p1, -1;\n"), 64},
    [MATCHED] = {VALUE("", "and.b32 %r4, %r1, 3; match.any.sync.b32 %r9, %r4, -1;\n"), 64},
    [HALVES] = {VALUE("", "and.b32 %r4, %r1, 31; setp.lt.u32 %p1, %r4, 16; mov.u32 %r5, 0xffff;\n@!%p1 mov.u32 %r5, 0xffff0000;\n"
                          "setp.eq.u32 %p2, 0, 0; vote.sync.ballot.b32 %r9, %p2, %r5;\n"),
                64},
    [LANES] = {VALUE("", "mov.u32 %r4, %laneid; mov.u32 %r5, %warpid; mad.lo.u32 %r9, %r5, 100, %r4;\n"), 96},
    [CALLED] = {VALUE(FUNCTION,
                      "mov.u32 %r9, %r1;\n" CALL "and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0;\n@%p1 bra over;\n" CALL "over:\n"),
                64},
    [REGISTERED] = {VALUE(REGISTERS, "mov.u32 %r9, %r1;\ncall.uni (%r9), f, (%r9, 4);\n"), 64},
    [SWITCHED] = {VALUE("", "and.b32 %r4, %r1, 3;\nts: .branchtargets A, B, C, B;\nbrx.idx %r4, ts;\nA: mov.u32 %r9, 7; bra D;\n"
                            "B: mov.u32 %r9, 30; bra D;\nC: mov.u32 %r9, 200;\nD:\n"),
                  64},
    [OWN] = {VALUE("", ".local .align 8 .b8 a[16];\nmov.u64 %x4, a; cvta.local.u64 %x5, %x4; mul.lo.u32 %r4, %r1, 10;\n"
                       "st.u32 [%x5+4], %r4; ld.local.u32 %r9, [a+4]; add.u32 %r9, %r9, 3;\n"),
             64},
    [COUNTED] = {VALUE("",
                       ".shared .u32 n;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [n], 100;\nbar.sync 0;\n"
                       "setp.lt.u32 %p2, %r1, 22; bar.red.popc.u32 %r4, 1, %p2;\nld.shared.u32 %r5, [n]; add.u32 %r9, %r4, %r5;\n"),
                 64},
    [PACKED] = {VALUE("", "cvt.u16.u32 %h1, %r1; not.b16 %h2, %h1; mov.b32 %r9, {%h1, %h2};\n"), 64},
};

/* Stores the expected values of thread i. */
static void
write_expected(uint32_t expected[VALUES], uint32_t i)
{
  const uint32_t targets[] = {7, 30, 200, 30};
  expected[UP] = i % 8 < 3 ? i : i - 3 + 1000;
  expected[DOWN] = i % 32 + 5 > 31 ? i : i + 5 + 1000;
  expected[CROSSWISE] = (i ^ 9) + 1000;
  expected[FROM] = (i & ~15u) + 7 + 1000;
  expected[BALLOT] = 0xaaaaaaaa;
  expected[MATCHED] = 0x11111111u << i % 4;
  expected[HALVES] = i % 32 < 16 ? 0x0000ffff : 0xffff0000;
  expected[LANES] = i % 32 + 100 * (i / 32);
  expected[CALLED] = i % 2 ? (i * 3 + 4) * 3 + 4 : i * 3 + 4;
  expected[REGISTERED] = i * 3 + 4;
  expected[SWITCHED] = targets[i % 4];
  expected[OWN] = i * 10 + 3;
  expected[COUNTED] = 22 + 100;
  expected[PACKED] = (0xffff0000u - (i << 16)) | i;
}

/* Runs the text with `threads` threads and `out` as output. */
static bool
run(ptx_test *t, const char *text, uint32_t threads, uint64_t seed, uint32_t out[OUT])
{
  memset(out, 0, OUT * sizeof *out);
  *t = (ptx_test){.text = text, .launch = {.block = {threads}, .seed = seed}};
  ptx_test_buffer(t, 0, out, 64 * sizeof *out);
  return ptx_test_run(t);
}

TEST(threads_compute_values_together_and_alone)
{
  for (value v = 0; v < VALUES; v++)
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      uint32_t out[OUT] = {0}, expected[VALUES];
      ptx_test t = {.text = values[v].text, .launch = {.block = {values[v].threads}, .seed = seed}};
      ptx_test_buffer(&t, 0, out, sizeof out);
      ptx_test_ok(&t);
      for (uint32_t i = 0; i < values[v].threads; i++) {
        write_expected(expected, i);
        if (out[i] != expected[v])
          fail_msg("seed %llu, thread %u: 0x%x, not 0x%x, of\n%s", (unsigned long long)seed, i, out[i], expected[v],
                   values[v].text);
      }
    }
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
    assert_int_equal(out[3], 0); /* 120 increments modulo 10 */
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

/* ---- faults -------------------------------------------------------------------------------------------------------------- */

/* The body begins in line 9.  The thread is %r1; its word of the output of 64 words is at %x3, and its word of shared memory at
 * %r3. */
#define BODY(text)                                                                                            \
  PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"                                                          \
           ".reg .b32 %r<9>; .reg .b64 %x<9>; .reg .pred %p<5>; .shared .align 8 .b32 s[64];\n"               \
           "ld.param.u64 %x1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %x2, %r1, 4; add.s64 %x3, %x1, %x2;\n" \
           "mov.u32 %r2, s; cvt.u32.u64 %r3, %x2; add.u32 %r3, %r2, %r3;\n" text "ret;\n}\n"

/* A line of 0 is any line.  If the words are NULL, there is no fault. */
static const struct {
  uint32_t threads;
  ptx_fault_kind kind;
  uint32_t line;
  const char *words, *text;
} faults[] = {
    {64, PTX_FAULT_ADDRESS, 9, "a write of 4 bytes outside of global memory", BODY("st.global.u32 [%x3+4], %r1;\n")},
    {1, PTX_FAULT_MISALIGNED, 9, "16 bytes", BODY("ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%x1+252];\n")},
    {1, PTX_FAULT_ADDRESS, 9, "a read of 4 bytes outside of generic memory", BODY("ld.u32 %r4, [%x1+256];\n")},
    {64, PTX_FAULT_ADDRESS, 9, "outside of shared memory", BODY("st.shared.u32 [%r3+4], %r1;\n")},
    {1, PTX_FAULT_ADDRESS, 9, "outside of shared memory", BODY("mov.u32 %r4, 0; ld.shared.u32 %r4, [%r4];\n")},
    {1, PTX_FAULT_ADDRESS, 9, "outside of generic memory", BODY("mov.u64 %x4, 0; st.u32 [%x4], %r1;\n")},
    {1, PTX_FAULT_MISALIGNED, 9, "a read of 2 bytes", BODY("ld.global.u16 %r4, [%x1+1];\n")},
    {1, PTX_FAULT_MISALIGNED, 9, "8 bytes", BODY("atom.global.add.u64 %x4, [%x1+4], 1;\n")},
    {1, PTX_FAULT_ADDRESS, 10, "local memory", BODY(".local .b32 own[2];\nmov.u64 %x4, own; st.local.u32 [%x4+8], %r1;\n")},
    {32, PTX_FAULT_TRAP, 10, "trap", BODY("setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;\n")},
    {1, PTX_FAULT_POISON, 9, "a stored value", BODY("st.global.u32 [%x3], %r7;\n")},
    {1, PTX_FAULT_POISON, 9, "a guard", BODY("@%p1 bra over;\nover:\n")},
    {1, PTX_FAULT_POISON, 10, "an address", BODY("add.s64 %x5, %x6, 4;\nld.global.u32 %r4, [%x5];\n")},
    {1, PTX_FAULT_POISON, 10, "a stored value", BODY("ld.shared.u32 %r4, [%r3];\nst.global.u32 [%x3], %r4;\n")},
    {1, PTX_FAULT_POISON, 9, "never written", BODY("atom.shared.add.u32 %r4, [%r3], 1;\n")},
    {2, PTX_FAULT_POISON, 10, "stored", BODY("shfl.sync.idx.b32 %r4, %r1, 7, 31, 0x3;\nst.global.u32 [%x3], %r4;\n")},
    {1, 0, 0, NULL,
     BODY("setp.eq.u32 %p1, %r1, 99; and.pred %p2, %p1, %p3;\n@%p2 trap;\nselp.u32 %r4, %r7, %r1, %p1;\n"
          "st.global.u32 [%x3], %r4;\n")},
    {2, PTX_FAULT_RACE, 9, "writes a byte that thread", BODY("st.shared.u32 [%r2], %r1;\n")},
    /* Without a barrier before the neighbour's word, the second of both accesses is reported. */
    {64, PTX_FAULT_RACE, 0, "", BODY("st.shared.u32 [%r3], %r1;\nxor.b32 %r4, %r3, 4;\nld.shared.u32 %r5, [%r4];\n")},
    {64, 0, 0, NULL,
     BODY("st.shared.u32 [%r3], %r1;\nbar.sync 0;\nxor.b32 %r4, %r3, 4;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%x3], %r5;\n")},
    {32, 0, 0, NULL, BODY("st.shared.u32 [%r3], %r1;\nbar.warp.sync -1;\nxor.b32 %r4, %r3, 4;\nld.shared.u32 %r5, [%r4];\n")},
    {64, PTX_FAULT_RACE, 0, "a byte that thread",
     BODY("st.shared.u32 [%r3], %r1;\nbar.warp.sync -1;\nxor.b32 %r4, %r3, 128;\nld.shared.u32 %r5, [%r4];\n")},
    {64, PTX_FAULT_DIVERGED, 11, "31 of 32 threads", BODY("setp.ge.u32 %p1, %r1, 31;\n@%p1 ret;\nbar.sync 0, 32;\n")},
    {32, PTX_FAULT_DIVERGED, 14, "different barriers",
     BODY("setp.eq.u32 %p1, %r1, 3;\n@%p1 bra other;\nbar.sync 0;\nret;\nother:\nbar.sync 0;\n")},
    {32, PTX_FAULT_DIVERGED, 0, "which waits in line",
     BODY("setp.eq.u32 %p1, %r1, 3;\n@%p1 bra over;\nshfl.sync.idx.b32 %r4, %r1, 0, 31, -1;\nbra over2;\nover:\n"
          "bar.warp.sync -1;\nover2:\n")},
    {1, PTX_FAULT_DIVERGED, 9, "does not have the lane itself", BODY("vote.sync.ballot.b32 %r4, %p1, 2;\n")},
};

TEST(each_fault_is_reported_at_its_line)
{
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      uint32_t out[OUT];
      ptx_test t;
      const bool is_good = run(&t, faults[i].text, faults[i].threads, seed, out);
      if (is_good != !faults[i].words || (!is_good && (t.fault.kind != faults[i].kind || !strstr(t.fault.text, faults[i].words) ||
                                                       (faults[i].line && t.fault.line != faults[i].line))))
        fail_msg("seed %llu: refused: '%s', or fault %d in line %u: '%s', of\n%s", (unsigned long long)seed, t.log,
                 (int)t.fault.kind, t.fault.line, t.fault.text, faults[i].text);
    }
}

TEST(a_fault_names_its_thread_and_its_address)
{
  uint32_t out[60];
  ptx_test t = {.text = BODY("st.global.u32 [%x3+0], %r1;\n"), .launch = {.block = {61}}};
  ptx_test_buffer(&t, 0, out, sizeof out);
  ptx_test_fails(&t, PTX_FAULT_ADDRESS, 9, "");
  assert_int_equal(t.fault.thread[0], 60);
  assert_int_equal(t.fault.address, ptx_test_address(0) + 240);
}

/* A barrier without a count does not wait for ended threads. */
TEST(a_barrier_waits_only_for_running_threads)
{
  uint32_t out[OUT];
  ptx_test t;
  assert_true(run(&t, BODY("setp.eq.u32 %p1, %r1, 3;\n@%p1 ret;\nbar.sync 0;\nst.global.u32 [%x1], 7;\n"), 64, 0, out));
  assert_int_equal(out[0], 7);
}

/* A grid barrier: each block increments a counter and waits for the last block. */
static const char grid_barrier[] =
    BODY("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra wait;\natom.release.gpu.add.u32 %r4, [%x1], 1;\nwait:\n"
         "mov.u32 %r5, %nctaid.x;\nspin:\nld.acquire.gpu.u32 %r4, [%x1];\nsetp.lt.u32 %p2, %r4, %r5;\n@%p2 bra spin;\n");

static bool
stop_at_spin(void *user, bool spins)
{
  (void)user;
  return !spins;
}

TEST(blocks_that_wait_for_absent_blocks_hang)
{
  for (uint64_t seed = 0; seed < 6; seed++)
    for (uint32_t is_cooperative = 0; is_cooperative < 2; is_cooperative++) {
      uint32_t out[64] = {0};
      ptx_test t = {
          .text = grid_barrier,
          .launch = {.grid = {4}, .block = {32}, .seed = seed, .is_cooperative = is_cooperative, .goes_on = stop_at_spin}};
      ptx_test_buffer(&t, 0, out, sizeof out);
      assert_int_equal(ptx_test_run(&t), is_cooperative);
      assert_string_equal(t.log, "");
      if (!is_cooperative) {
        assert_int_equal(t.fault.kind, PTX_FAULT_HANG);
        assert_non_null(strstr(t.fault.text, "2 of 4 blocks have not begun"));
      }
    }
}

/* Block 0 writes data and then a flag, and block 1 waits for the flag and reads.  Without both fences, some schedule shows old
 * data. */
#define FLAGGED(writer, reader)                                                                      \
  BODY("mov.u32 %r4, %ctaid.x; setp.ne.u32 %p1, %r4, 0;\n@%p1 bra reader;\n"                         \
       "st.global.u32 [%x1], 1;\n" writer "st.relaxed.gpu.global.u32 [%x1+128], 1;\nret;\nreader:\n" \
       "ld.global.u32 %r5, [%x1];\nspin:\nld.relaxed.gpu.global.u32 %r6, [%x1+128];\n"               \
       "setp.eq.u32 %p2, %r6, 0;\n@%p2 bra spin;\n" reader "ld.global.u32 %r5, [%x1];\nst.global.u32 [%x1+64], %r5;\n")

static uint32_t
stale_results(const char *text)
{
  uint32_t stale = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    uint32_t out[64] = {0};
    ptx_test t = {.text = text, .launch = {.grid = {2}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
    stale += out[16] == 0;
  }
  return stale;
}

TEST(weak_accesses_may_be_late_without_fences)
{
  assert_int_equal(stale_results(FLAGGED("fence.acq_rel.gpu;", "fence.acq_rel.gpu;")), 0);
  assert_true(stale_results(FLAGGED("", "fence.acq_rel.gpu;")) > 0);
  assert_true(stale_results(FLAGGED("fence.acq_rel.gpu;", "")) > 0);
}

TEST(wrong_texts_are_refused)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
      {"add.u32 %r1, %r2;", "line 1: unknown directive 'add'"},
      {".version 9.9\n.target sm_75\n", "above the driver's"},
      {".version 7.8\n.target sm_100\n", "sm_100 needs PTX 8.6"},
      {BODY("redux.sync.add.u32 %r4, %r1, -1;\n"), "line 9: this form of 'redux' needs PTX 7.0 and sm_80"},
      {BODY("wmma.load.a %r4, %r1;\n"), "line 9: unknown word '.load' of 'wmma'"},
      {BODY(".reg .b8 %b;\n"), "line 9: a register has at least 16 bits"},
      {BODY(".reg .u8 %b;\n"), "line 9: a register has at least 16 bits"},
      {BODY(".reg .s8 %b;\n"), "line 9: a register has at least 16 bits"},
      {BODY("5;\n"), "line 9: unexpected '5'"},
      {".version 7.0\n.target sm_75\n.address_size 64\n.global .f32 x = y;\n",
       "line 4: the simulator does not support addresses as initial values"},
      {".version 7.0\n.target sm_75\n.address_size 64\n.global .f32 x = {;\n", "line 4: an initial value is missing"},
      {PTX_HEAD ".global .align 2 .b32 g;\n", "the alignment is smaller than the type's"},
      {BODY("bra nowhere;\n"), "line 9: there is no label 'nowhere'"},
      {BODY("add.u32 %x1, %r1, %r2;\n"), "line 9: the operands do not fit 'add'"},
      {PTX_HEAD ".entry k(.reg .b32 x)\n{\nret;\n}\n", "line 4: a kernel cannot have parameters in registers"},
      {PTX_HEAD ".func f()\n{\ncall f, ();\nret;\n}\n.entry k()\n{\ncall f, ();\nret;\n}\n", "calls itself"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    ptx_test_refused(cases[i].text, cases[i].words);
}
