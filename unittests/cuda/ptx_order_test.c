/* Orders of accesses to device memory.  If no instruction orders two accesses, some schedules of the simulator show it.
 *
 * One block passes a word to another one by a flag.  The reader reads the word once before, and the writer waits for an answer
 * before it ends, so that a late access of either is not hidden.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_fixture.h"

enum { SEEDS = 40 };

#define HEAD(parameters)                            \
  PTX_HEAD ".visible .entry k(" parameters ")\n{\n" \
           ".reg .b32 %%r<12>; .reg .b64 %%x<12>; .reg .pred %%p<4>;\n"

/* ---- a word and a flag --------------------------------------------------------------------------------------------------- */

typedef struct side {
  bool is_ordered;
  const char *text;
} side;

/* The instructions set the flag at %x2 after the word at %x1 is written. */
static const side writers[] = {
    {false, "st.relaxed.gpu.global.u32 [%x2], 1;"},
    {false, "st.volatile.global.u32 [%x2], 1;"},
    {false, "red.relaxed.gpu.global.add.u32 [%x2], 1;"},
    {false, "red.global.add.u32 [%x2], 1;"},
    {false, "atom.acquire.gpu.global.exch.b32 %r5, [%x2], 1;"},
    {true, "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%x2], 1;"},
    {true, "fence.sc.sys; st.volatile.global.u32 [%x2], 1;"},
    {true, "membar.gl; st.volatile.global.u32 [%x2], 1;"},
    {true, "membar.sys; red.global.add.u32 [%x2], 1;"},
    {true, "st.release.gpu.global.u32 [%x2], 1;"},
    {true, "st.release.sys.global.u32 [%x2], 1;"},
    {true, "red.release.gpu.global.add.u32 [%x2], 1;"},
    {true, "atom.release.gpu.global.add.u32 %r5, [%x2], 1;"},
    {true, "atom.acq_rel.gpu.global.exch.b32 %r5, [%x2], 1;"},
    {true, "atom.acq_rel.sys.global.cas.b32 %r5, [%x2], 0, 1;"},
};

/* The first text reads the flag to %r2 until it is 1, and the second text follows. */
static const struct {
  side ask;
  const char *then;
} readers[] = {
    {{false, "ld.relaxed.gpu.global.u32 %r2, [%x2];"}, ""},
    {{false, "ld.volatile.global.u32 %r2, [%x2];"}, ""},
    {{false, "ld.acquire.cta.global.u32 %r2, [%x2];"}, ""}, /* the writer is in another block */
    {{false, "ld.relaxed.gpu.global.u32 %r2, [%x2];"}, "fence.acq_rel.cta;"},
    {{false, "ld.volatile.global.u32 %r2, [%x2];"}, "membar.cta;"},
    {{false, "atom.relaxed.gpu.global.add.u32 %r2, [%x2], 0;"}, ""},
    {{false, "atom.release.gpu.global.add.u32 %r2, [%x2], 0;"}, ""},
    {{true, "ld.relaxed.gpu.global.u32 %r2, [%x2];"}, "fence.acq_rel.gpu;"},
    {{true, "ld.volatile.global.u32 %r2, [%x2];"}, "fence.sc.gpu;"},
    {{true, "ld.volatile.global.u32 %r2, [%x2];"}, "membar.gl;"},
    {{true, "ld.acquire.gpu.global.u32 %r2, [%x2];"}, ""},
    {{true, "ld.acquire.sys.global.u32 %r2, [%x2];"}, ""},
    {{true, "atom.acquire.gpu.global.add.u32 %r2, [%x2], 0;"}, ""},
    {{true, "atom.acq_rel.gpu.global.add.u32 %r2, [%x2], 0;"}, ""},
};

static const char passes[] = HEAD(".param .u64 word, .param .u64 flag, .param .u64 answer") //
    "ld.param.u64 %%x1, [word]; ld.param.u64 %%x2, [flag]; ld.param.u64 %%x3, [answer];\n"
    "mov.u32 %%r1, %%ctaid.x; setp.ne.u32 %%p1, %%r1, 0;\n@%%p1 bra $read;\n"
    "st.global.u32 [%%x1], 42;\n%s\n"
    "$ends: ld.relaxed.gpu.global.u32 %%r3, [%%x3]; setp.eq.u32 %%p2, %%r3, 0;\n@%%p2 bra $ends;\n"
    "ret;\n"
    "$read: ld.global.u32 %%r4, [%%x1];\n"
    "$asks: %s setp.eq.u32 %%p2, %%r2, 0;\n@%%p2 bra $asks;\n%s\n"
    "ld.global.u32 %%r4, [%%x1]; add.u32 %%r4, %%r4, 1; st.relaxed.gpu.global.u32 [%%x3], %%r4;\n"
    "ret;\n}\n";

/* Returns the number of schedules in which the reader sees the old word. */
static uint32_t
count_stale(const char *text)
{
  uint32_t stale = 0;
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    uint32_t word = 7, flag = 0, answer = 0;
    ptx_test t = {.text = text, .launch = {.grid = {2}, .is_cooperative = true, .seed = seed}};
    ptx_test_buffer(&t, 0, &word, sizeof word);
    ptx_test_buffer(&t, 1, &flag, sizeof flag);
    ptx_test_buffer(&t, 2, &answer, sizeof answer);
    ptx_test_ok(&t);
    assert_int_equal(word, 42);
    assert_true(answer == 43 || answer == 8);
    stale += answer == 8;
  }
  return stale;
}

TEST(both_sides_must_order_their_accesses)
{
  for (size_t w = 0; w < sizeof writers / sizeof *writers; w++)
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++) {
      char text[2048];
      snprintf(text, sizeof text, passes, writers[w].text, readers[r].ask.text, readers[r].then);
      const uint32_t stale = count_stale(text);
      if ((stale == 0) != (writers[w].is_ordered && readers[r].ask.is_ordered))
        fail_msg("in %u of %d schedules the reader sees the old word, of\n%s", stale, SEEDS, text);
    }
}

/* ---- a thread's own accesses --------------------------------------------------------------------------------------------- */

/* A thread sees its stores in order by any instruction and in all schedules. */
TEST(a_thread_sees_its_own_stores)
{
  static const struct {
    const char *text;
    uint32_t word, seen;
  } cases[] = {{"atom.relaxed.gpu.global.add.u32 %r2, [%x1+4], 1;", 43, 42},
               {"atom.relaxed.gpu.global.exch.b32 %r2, [%x1+4], 5;", 5, 42},
               {"red.relaxed.gpu.global.add.u32 [%x1+4], 3; ld.relaxed.gpu.global.u32 %r2, [%x1+4];", 45, 45},
               {"ld.global.u32 %r2, [%x1+4];", 42, 42},
               {"ld.relaxed.gpu.global.u32 %r2, [%x1+4];", 42, 42},
               {"ld.volatile.global.u32 %r2, [%x1+4];", 42, 42},
               {"ld.global.v2.u32 {%r3, %r2}, [%x1];", 42, 42},
               {"st.global.u32 [%x1+4], 6; ld.global.u32 %r2, [%x1+4];", 6, 6},
               {"st.relaxed.gpu.global.u32 [%x1+4], 6; ld.global.u32 %r2, [%x1+4];", 6, 6},
               {"st.global.u8 [%x1+4], 7; ld.global.u32 %r2, [%x1+4];", 7, 7}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
      char text[1024];
      uint32_t words[2] = {7, 7}, out = 0;
      snprintf(text, sizeof text,
               HEAD(".param .u64 words, .param .u64 out") //
               "ld.param.u64 %%x1, [words]; ld.param.u64 %%x2, [out]; ld.global.u32 %%r1, [%%x1+4];\n"
               "st.global.u32 [%%x1+4], 42; %s\nst.global.u32 [%%x2], %%r2;\nret;\n}\n",
               cases[i].text);
      ptx_test t = {.text = text, .launch = {.seed = seed}};
      ptx_test_buffer(&t, 0, words, sizeof words);
      ptx_test_buffer(&t, 1, &out, sizeof out);
      ptx_test_ok(&t);
      if (words[1] != cases[i].word || out != cases[i].seen)
        fail_msg("seed %u: %s reads %u and leaves %u", seed, cases[i].text, out, words[1]);
    }
}

/* ---- barriers of a block ------------------------------------------------------------------------------------------------- */

enum { THREADS = 96 };

/* A thread reads the word of the next thread, writes its own word, and reads the next one again. */
static const char neighbours[] = HEAD(".param .u64 words, .param .u64 out") //
    "ld.param.u64 %%x1, [words]; ld.param.u64 %%x2, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ntid.x;\n"
    "mul.wide.u32 %%x3, %%r1, 4; add.s64 %%x4, %%x1, %%x3; add.s64 %%x5, %%x2, %%x3;\n"
    "add.u32 %%r3, %%r1, 1; rem.u32 %%r3, %%r3, %%r2; mul.wide.u32 %%x3, %%r3, 4; add.s64 %%x6, %%x1, %%x3;\n"
    "ld.global.u32 %%r4, [%%x6];\n%s\n"
    "add.u32 %%r5, %%r1, 100; st.global.u32 [%%x4], %%r5;\n%s\n"
    "ld.global.u32 %%r4, [%%x6]; st.global.u32 [%%x5], %%r4;\nret;\n}\n";

static uint32_t
count_old_neighbours(const char *between)
{
  uint32_t old = 0;
  char text[2048];
  snprintf(text, sizeof text, neighbours, between, between);
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    uint32_t words[THREADS] = {0}, out[THREADS];
    ptx_test t = {.text = text, .launch = {.block = {THREADS}, .seed = seed}};
    ptx_test_buffer(&t, 0, words, sizeof words);
    ptx_test_buffer(&t, 1, out, sizeof out);
    ptx_test_ok(&t);
    for (uint32_t i = 0; i < THREADS; i++) {
      assert_true(out[i] == 0 || out[i] == 100 + (i + 1) % THREADS);
      old += out[i] == 0;
    }
  }
  return old;
}

TEST(a_barrier_orders_a_block)
{
  assert_int_equal(count_old_neighbours("bar.sync 0;"), 0);
  assert_int_equal(count_old_neighbours("barrier.sync 3;"), 0);
  assert_int_equal(count_old_neighbours("bar.sync 1, 96;"), 0);
  assert_true(count_old_neighbours("") > 0);
  assert_true(count_old_neighbours("bar.warp.sync -1;") > 0); /* the next thread may be in another warp */
}

/* ---- barriers of a grid -------------------------------------------------------------------------------------------------- */

enum { BLOCKS = 5 };

/* Each block reads the word of the next block, writes its own word, waits at a grid barrier, and reads the next one again. */
static const char meeting[] = HEAD(".param .u64 words, .param .u64 out, .param .u64 counter") //
    "ld.param.u64 %%x1, [words]; ld.param.u64 %%x2, [out]; ld.param.u64 %%x7, [counter];\n"
    "mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%nctaid.x; mov.u32 %%r8, %%tid.x; mov.u32 %%r9, %%ntid.x;\n"
    "mad.lo.u32 %%r6, %%r1, %%r9, %%r8; mul.wide.u32 %%x3, %%r6, 4; add.s64 %%x4, %%x1, %%x3; add.s64 %%x5, %%x2, %%x3;\n"
    "add.u32 %%r3, %%r1, 1; rem.u32 %%r3, %%r3, %%r2; mad.lo.u32 %%r3, %%r3, %%r9, %%r8;\n"
    "mul.wide.u32 %%x3, %%r3, 4; add.s64 %%x6, %%x1, %%x3;\n"
    "ld.global.u32 %%r4, [%%x6]; add.u32 %%r5, %%r1, 100; st.global.u32 [%%x4], %%r5;\n"
    "bar.sync 0;\nsetp.ne.u32 %%p1, %%r8, 0;\n@%%p1 bra $met;\n"
    "%s\n$wait: %s setp.lt.u32 %%p2, %%r7, %%r2;\n@%%p2 bra $wait;\n"
    "$met: bar.sync 0;\n"
    "ld.global.u32 %%r4, [%%x6]; st.global.u32 [%%x5], %%r4;\nret;\n}\n";

typedef struct grid {
  char text[2048];
  uint32_t words[BLOCKS * THREADS], out[BLOCKS * THREADS], counter;
} grid;

static ptx_test
make_grid(grid *g, const char *arrive, const char *ask, uint32_t seed)
{
  ptx_test t = {.text = g->text, .launch = {.grid = {BLOCKS}, .block = {THREADS}, .seed = seed}};
  *g = (grid){.counter = 0};
  snprintf(g->text, sizeof g->text, meeting, arrive, ask);
  ptx_test_buffer(&t, 0, g->words, sizeof g->words);
  ptx_test_buffer(&t, 1, g->out, sizeof g->out);
  ptx_test_buffer(&t, 2, &g->counter, sizeof g->counter);
  return t;
}

static uint32_t
count_old_blocks(const char *arrive, const char *ask)
{
  uint32_t old = 0;
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    grid g;
    ptx_test t = make_grid(&g, arrive, ask, seed);
    t.launch.is_cooperative = true;
    ptx_test_ok(&t);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
      assert_true(g.out[i] == 0 || g.out[i] == 100 + (i / THREADS + 1) % BLOCKS);
      old += g.out[i] == 0;
    }
  }
  return old;
}

#define ARRIVE "atom.acq_rel.gpu.global.add.u32 %r7, [%x7], 1;"
#define ASK    "ld.acquire.gpu.global.u32 %r7, [%x7];"

TEST(a_grid_barrier_orders_resident_blocks)
{
  assert_int_equal(count_old_blocks(ARRIVE, ASK), 0);
  assert_int_equal(count_old_blocks("membar.gl; red.global.add.u32 [%x7], 1;", "ld.volatile.global.u32 %r7, [%x7]; membar.gl;"), 0);
  assert_true(count_old_blocks("red.relaxed.gpu.global.add.u32 [%x7], 1;", "ld.relaxed.gpu.global.u32 %r7, [%x7];") > 0);
}

TEST(a_grid_barrier_without_all_blocks_hangs)
{
  for (uint32_t seed = 0; seed < 4; seed++) {
    grid g;
    ptx_test t = make_grid(&g, ARRIVE, ASK, seed);
    t.launch.resident = 1 + seed;
    ptx_test_fails(&t, PTX_FAULT_HANG, 0, "blocks have not begun");
  }
}
