/* Each kind of fault is found, at its line, under every schedule or under some.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_fixture.h"

enum { SEEDS = 30 };

/* The body begins in line 9. */
#define BODY(text)                                                                                            \
  PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"                                                          \
           ".reg .b32 %r<9>; .reg .b64 %x<9>; .reg .pred %p<5>; .shared .align 8 .b32 s[64];\n"               \
           "ld.param.u64 %x1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %x2, %r1, 4; add.s64 %x3, %x1, %x2;\n" \
           "mov.u32 %r2, s; cvt.u32.u64 %r3, %x2; add.u32 %r3, %r2, %r3;\n" text "ret;\n}\n"

static void
fails(const char *text, uint32_t threads, ptx_fault_kind kind, uint32_t line, const char *words)
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[64] = {0};
    ptx_test t = {.text = text, .launch = {.block = {threads}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_fails(&t, kind, line, words);
  }
}

static void
passes(const char *text, uint32_t threads)
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[64] = {0};
    ptx_test t = {.text = text, .launch = {.block = {threads}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    ptx_test_ok(&t);
  }
}

TEST(addresses)
{
  fails(BODY("st.global.u32 [%x3+4], %r1;\n"), 64, PTX_FAULT_ADDRESS, 9, "a write of 4 bytes outside of global memory");
  fails(BODY("ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%x1+252];\n"), 1, PTX_FAULT_MISALIGNED, 9, "16 bytes");
  fails(BODY("ld.u32 %r4, [%x1+256];\n"), 1, PTX_FAULT_ADDRESS, 9, "a read of 4 bytes outside of generic memory");
  fails(BODY("st.shared.u32 [%r3+4], %r1;\n"), 64, PTX_FAULT_ADDRESS, 9, "outside of shared memory");
  fails(BODY("mov.u32 %r4, 0; ld.shared.u32 %r4, [%r4];\n"), 1, PTX_FAULT_ADDRESS, 9, "outside of shared memory");
  fails(BODY("mov.u64 %x4, 0; st.u32 [%x4], %r1;\n"), 1, PTX_FAULT_ADDRESS, 9, "outside of generic memory");
  fails(BODY("ld.global.u16 %r4, [%x1+1];\n"), 1, PTX_FAULT_MISALIGNED, 9, "a read of 2 bytes");
  fails(BODY("atom.global.add.u64 %x4, [%x1+4], 1;\n"), 1, PTX_FAULT_MISALIGNED, 9, "8 bytes");
  fails(BODY(".local .b32 own[2];\nmov.u64 %x4, own; st.local.u32 [%x4+8], %r1;\n"), 1, PTX_FAULT_ADDRESS, 10, "local memory");
}

TEST(the_fault_says_who)
{
  uint32_t out[60];
  ptx_test t = {.text = BODY("st.global.u32 [%x3+0], %r1;\n"), .launch = {.block = {61}}};
  ptx_test_buffer(&t, 0, out, sizeof out);
  ptx_test_fails(&t, PTX_FAULT_ADDRESS, 9, "");
  assert_int_equal(t.fault.thread[0], 60);
  assert_int_equal(t.fault.address, ptx_test_address(0) + 240);
}

TEST(traps)
{
  fails(BODY("setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;\n"), 32, PTX_FAULT_TRAP, 10, "trap");
}

TEST(poison)
{
  fails(BODY("st.global.u32 [%x3], %r7;\n"), 1, PTX_FAULT_POISON, 9, "a value that is stored");
  fails(BODY("@%p1 bra over;\nover:\n"), 1, PTX_FAULT_POISON, 9, "a guard");
  fails(BODY("add.s64 %x5, %x6, 4;\nld.global.u32 %r4, [%x5];\n"), 1, PTX_FAULT_POISON, 10, "an address");
  fails(BODY("ld.shared.u32 %r4, [%r3];\nst.global.u32 [%x3], %r4;\n"), 1, PTX_FAULT_POISON, 10, "a value that is stored");
  fails(BODY("atom.shared.add.u32 %r4, [%r3], 1;\n"), 1, PTX_FAULT_POISON, 9, "never written");
  fails(BODY("shfl.sync.idx.b32 %r4, %r1, 7, 31, 0x3;\nst.global.u32 [%x3], %r4;\n"), 2, PTX_FAULT_POISON, 10, "stored");
  passes(BODY("setp.eq.u32 %p1, %r1, 99; and.pred %p2, %p1, %p3;\n@%p2 trap;\nselp.u32 %r4, %r7, %r1, %p1;\n"
              "st.global.u32 [%x3], %r4;\n"),
         1);
}

TEST(races)
{
  fails(BODY("st.shared.u32 [%r2], %r1;\n"), 2, PTX_FAULT_RACE, 9, "it writes what thread");
  /* The neighbour's word without a barrier: whichever comes second is told. */
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint32_t out[64];
    ptx_test t = {.text = BODY("st.shared.u32 [%r3], %r1;\nxor.b32 %r4, %r3, 4;\nld.shared.u32 %r5, [%r4];\n"),
                  .launch = {.block = {64}, .seed = seed}};
    ptx_test_buffer(&t, 0, out, sizeof out);
    assert_false(ptx_test_run(&t));
    assert_int_equal(t.fault.kind, PTX_FAULT_RACE);
  }
  passes(
      BODY("st.shared.u32 [%r3], %r1;\nbar.sync 0;\nxor.b32 %r4, %r3, 4;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%x3], %r5;\n"),
      64);
  passes(BODY("st.shared.u32 [%r3], %r1;\nbar.warp.sync -1;\nxor.b32 %r4, %r3, 4;\nld.shared.u32 %r5, [%r4];\n"), 32);
  fails(BODY("st.shared.u32 [%r3], %r1;\nbar.warp.sync -1;\nxor.b32 %r4, %r3, 128;\nld.shared.u32 %r5, [%r4];\n"), 64,
        PTX_FAULT_RACE, 0, "what thread");
}

TEST(barriers_that_not_all_come_to)
{
  fails(BODY("setp.ge.u32 %p1, %r1, 31;\n@%p1 ret;\nbar.sync 0, 32;\n"), 64, PTX_FAULT_DIVERGED, 11, "31 of 32 threads");
  fails(BODY("setp.eq.u32 %p1, %r1, 3;\n@%p1 bra other;\nbar.sync 0;\nret;\nother:\nbar.sync 0;\n"), 32, PTX_FAULT_DIVERGED, 14,
        "different barriers");
  fails(BODY("setp.eq.u32 %p1, %r1, 3;\n@%p1 bra over;\nshfl.sync.idx.b32 %r4, %r1, 0, 31, -1;\nbra over2;\nover:\n"
             "bar.warp.sync -1;\nover2:\n"),
        32, PTX_FAULT_DIVERGED, 0, "which waits in line");
  fails(BODY("vote.sync.ballot.b32 %r4, %p1, 2;\n"), 1, PTX_FAULT_DIVERGED, 9, "without the lane itself");
}

/* One without a count is for the threads that have not ended. */
TEST(barriers_that_all_come_to_who_are_left)
{
  uint32_t out[64] = {0};
  ptx_test t = {.text = BODY("setp.eq.u32 %p1, %r1, 3;\n@%p1 ret;\nbar.sync 0;\nst.global.u32 [%x1], 7;\n"),
                .launch = {.grid = {1}, .block = {64}}};
  ptx_test_buffer(&t, 0, out, sizeof out);
  ptx_test_ok(&t);
  assert_int_equal(out[0], 7);
}

/* A barrier of the grid: blocks count up and wait for the last one. */
static const char grid_barrier[] =
    BODY("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra wait;\natom.release.gpu.add.u32 %r4, [%x1], 1;\nwait:\n"
         "mov.u32 %r5, %nctaid.x;\nspin:\nld.acquire.gpu.u32 %r4, [%x1];\nsetp.lt.u32 %p2, %r4, %r5;\n@%p2 bra spin;\n");

static bool
stop_at_spin(void *user, bool spins)
{
  (void)user;
  return !spins;
}

TEST(hangs)
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

/* Block 0 writes data and then a flag; block 1 waits for the flag and reads.  Without the fences some schedule shows old data. */
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

TEST(weak_accesses_are_late_without_fences)
{
  assert_int_equal(stale_results(FLAGGED("fence.acq_rel.gpu;", "fence.acq_rel.gpu;")), 0);
  assert_true(stale_results(FLAGGED("", "fence.acq_rel.gpu;")) > 0);
  assert_true(stale_results(FLAGGED("fence.acq_rel.gpu;", "")) > 0);
}

TEST(refusals)
{
  ptx_test_refused("add.u32 %r1, %r2;", "line 1: unknown directive 'add'");
  ptx_test_refused(".version 9.9\n.target sm_75\n", "above the driver's");
  ptx_test_refused(".version 7.8\n.target sm_100\n", "sm_100 needs PTX 8.6");
  ptx_test_refused(BODY("redux.sync.add.u32 %r4, %r1, -1;\n"), "line 9: this form of 'redux' needs PTX 7.0 and sm_80");
  ptx_test_refused(BODY("wmma.load.a %r4, %r1;\n"), "line 9: unknown word '.load' of 'wmma'");
  ptx_test_refused(BODY(".reg .b8 %b;\n"), "line 9: a register has 16 bits or more");
  ptx_test_refused(BODY(".reg .u8 %b;\n"), "line 9: a register has 16 bits or more");
  ptx_test_refused(BODY(".reg .s8 %b;\n"), "line 9: a register has 16 bits or more");
  ptx_test_refused(BODY("5;\n"), "line 9: unexpected '5'");
  ptx_test_refused(".version 7.0\n.target sm_75\n.address_size 64\n.global .f32 x = y;\n",
                   "line 4: an address as an initial value is not known here");
  ptx_test_refused(".version 7.0\n.target sm_75\n.address_size 64\n.global .f32 x = {;\n", "line 4: an initial value is missing");
  ptx_test_refused(PTX_HEAD ".global .align 2 .b32 g;\n", "an alignment is below that of the type"); /* ptxas takes it */
  ptx_test_refused(BODY("bra nowhere;\n"), "line 9: there is no label 'nowhere'");
  ptx_test_refused(BODY("add.u32 %x1, %r1, %r2;\n"), "line 9: operands of 'add' do not agree");
  ptx_test_refused(PTX_HEAD ".func f()\n{\ncall f, ();\nret;\n}\n.entry k()\n{\ncall f, ();\nret;\n}\n", "calls itself");
}
