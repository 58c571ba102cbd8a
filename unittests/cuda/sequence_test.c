/* Sequences on the CUDA target: costs of each kind, as commands and as graphs, counted by the simulator.  Also tests repeats, grid
 * barriers, and a kernel that waits for the host.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "cuda.h"
#include "target.h"

static const vyre_target_ops *const ops = &vyre_target_cuda;

/* ---- costs --------------------------------------------------------------------------------------------------------------- */

/* A sequence over two buffers of 64 words: the number of its entries of each kind. */
typedef struct kind {
  uint32_t fills, uploads, steps, reads;
} kind;

/* Counters of the simulator.  The target's own counters must be equal. */
enum { WAITS, KERNELS, GRAPHS, UP, DOWN, FILLED, COUNTED, DEVICE_BYTES = COUNTED, PINNED_BYTES, LAUNCHES, COSTS };
static const char *const names[COSTS] = {"waits",        "kernels",      "graphs",       "bytes_up",      "bytes_down",
                                         "bytes_filled", "device_bytes", "pinned_bytes", "cuLaunchKernel"};
static const char *const own_names[COUNTED] = {"waits", "launches", "graph_launches", "bytes_up", "bytes_down", "bytes_filled"};

typedef struct costs {
  uint64_t by_simulator[COSTS], by_target[COUNTED], allocations;
} costs;

static costs
costs_until_now(const vyre_target *target)
{
  costs c = {.allocations = test_metric(target, "allocations")};
  for (uint32_t i = 0; i < COSTS; i++)
    c.by_simulator[i] = sim.count(names[i]);
  for (uint32_t i = 0; i < COUNTED; i++)
    c.by_target[i] = test_metric(target, own_names[i]);
  return c;
}

/* Submits a sequence of that kind, and checks its costs.  Stores the costs in `out_costs`, and the words it reads in `out`. */
static void
submit_kind(vyre_target *target, kind k, vyre_kernel add, const vyre_device_buffer buffers[2], uint32_t value,
            uint64_t out_costs[COSTS], uint32_t out[2][64])
{
  const vyre_range both[2] = {test_range(buffers[0]), test_range(buffers[1])};
  uint32_t words[64], push[4];
  vyre_fill fills[2];
  vyre_upload uploads[2];
  vyre_step steps[4];
  vyre_read reads[2];
  for (uint32_t i = 0; i < 64; i++)
    words[i] = value + i;
  for (uint32_t i = 0; i < 2; i++) {
    fills[i] = (vyre_fill){both[i], value};
    uploads[i] = (vyre_upload){both[i], words};
    reads[i] = (vyre_read){both[i], out[i]};
  }
  for (uint32_t i = 0; i < 4; i++) {
    push[i] = value * (i + 1);
    steps[i] = test_step(add, both, 1, &push[i]);
    steps[i].buffer_count = 2;
  }
  const vyre_sequence sequence = {fills, k.fills, uploads, k.uploads, steps, k.steps, reads, k.reads, NULL, 0, NULL, NULL};
  vyre_timing timing;
  const costs before = costs_until_now(target);
  test_ok(ops->submit(target, &sequence, &timing));
  const costs after = costs_until_now(target);
  for (uint32_t i = 0; i < COSTS; i++)
    out_costs[i] = after.by_simulator[i] - before.by_simulator[i];
  for (uint32_t i = 0; i < COUNTED; i++)
    if (after.by_target[i] - before.by_target[i] != out_costs[i])
      fail_msg("the target does not count the same %s as the simulator", names[i]);
  assert_int_equal(after.allocations != before.allocations, out_costs[DEVICE_BYTES] != 0 || out_costs[PINNED_BYTES] != 0);
  const uint64_t named[COUNTED] = {1, k.steps, out_costs[GRAPHS], 256 * k.uploads, 256 * k.reads, 256 * k.fills};
  for (uint32_t i = 0; i < COUNTED; i++)
    if (out_costs[i] != named[i])
      fail_msg("%d %s instead of %d", (int)out_costs[i], names[i], (int)named[i]);
  assert_true(timing.waits == 1 && timing.batches == 1 && timing.launches == k.steps && timing.bytes_up == named[UP] &&
              timing.bytes_down == named[DOWN] && timing.bytes_filled == named[FILLED]);
}

static const kind kinds[] = {
    {0, 1, 0, 0}, {0, 2, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 2}, {2, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 4, 0},
    {0, 0, 3, 1}, {0, 0, 3, 2}, {0, 1, 1, 1}, {0, 2, 3, 2}, {2, 0, 3, 2}, {1, 2, 4, 2}, {2, 2, 0, 2},
};

/* A sequence costs one wait, and its own bytes and launches.  From the second time on it is a graph and allocates nothing, and from
 * the third time on it has no separate launches. */
TEST(each_kind_of_sequence_costs_what_it_names)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    vyre_target *target = test_open(NULL);
    const vyre_kernel add = test_compile(target, TEST_ADD);
    const vyre_device_buffer buffers[2] = {test_buffer(target, 64, 1), test_buffer(target, 64, 2)};
    for (uint32_t round = 0; round < 4; round++) {
      uint32_t out[2][64];
      uint64_t c[COSTS];
      submit_kind(target, kinds[i], add, buffers, round, c, out);
      if (kinds[i].fills == 0) /* a fill with another value needs another graph */
        assert_true(c[GRAPHS] == (round > 0) && (round < 2 || c[LAUNCHES] == 0));
      if (round > 0)
        assert_true(c[DEVICE_BYTES] == 0 && c[PINNED_BYTES] == 0);
    }
    test_close(target);
  }
}

TEST(graphs_and_commands_compute_the_same)
{
  uint32_t out[2][16][2][64];
  memset(out, 0, sizeof out);
  for (uint32_t way = 0; way < 2; way++) {
    vyre_target *target = test_open(NULL);
    target->no_graphs = way == 1;
    const vyre_kernel add = test_compile(target, TEST_ADD);
    const vyre_device_buffer buffers[2] = {test_buffer(target, 64, 1), test_buffer(target, 64, 2)};
    uint64_t c[COSTS];
    for (uint32_t round = 0; round < 16; round++)
      submit_kind(target, (kind){0, 1, 3, 2}, add, buffers, 5 * (round / 2), c, out[way][round]);
    assert_int_equal(test_metric(target, "graph_launches"), way == 0 ? 15 : 0);
    assert_int_equal(test_metric(target, "recordings"), way == 0 ? 1 : 0);
    test_close(target);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  assert_int_equal(out[0][4][1][3], 10 + 3 + 30); /* x[3] = 10 + 3, and the last step adds 10 * 3 */
}

/* Changed buffers and grids are updated in the graph.  Unchanged steps are not. */
TEST(changed_parameters_are_updated_in_the_graph)
{
  vyre_target *target = test_open(NULL);
  const vyre_kernel mark = test_compile(target, TEST_MARK);
  const vyre_range ranges[2] = {test_range(test_buffer(target, 64, 0)), test_range(test_buffer(target, 64, 0))};
  for (uint32_t round = 0; round < 10; round++) {
    const uint32_t groups = round < 6 ? 2 + round : 4 + round % 2, which = round < 6 ? round % 2 : 0; /* then only the grid */
    uint32_t out[64];
    vyre_step steps[2] = {test_step(mark, &ranges[which], groups, NULL), test_step(mark, &ranges[1], 1, NULL)};
    const vyre_fill clear[2] = {{ranges[0], 0}, {ranges[1], 0}};
    const vyre_read read = {ranges[which], out};
    const vyre_sequence steps_alone = {.steps = steps, .step_count = 2};
    test_ok(ops->submit(target, &(vyre_sequence){.fills = clear, .fill_count = 2}, NULL));
    const uint64_t changes = sim.count("cuGraphExecKernelNodeSetParams");
    test_ok(ops->submit(target, &steps_alone, NULL));
    if (round > 2) /* the first read allocates staging memory, which drops the graphs */
      assert_int_equal(sim.count("cuGraphExecKernelNodeSetParams") - changes, 1);
    test_ok(ops->submit(target, &(vyre_sequence){.reads = &read, .read_count = 1}, NULL));
    for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(out[i], i < groups ? i + 1 : 0);
  }
  test_close(target);
}

/* A part of a grid uploads its range, and a whole grid does not. */
TEST(parts_and_whole_grids_have_separate_graphs)
{
  vyre_target *target = test_open(NULL);
  const vyre_kernel mark = test_compile(target, TEST_MARK);
  const vyre_range range = test_range(test_buffer(target, 8, 0));
  const uint64_t loads = sim.count("cuModuleLoadDataEx");
  for (uint32_t round = 0; round < 12; round++) {
    const vyre_fill clear = {range, 0};
    uint32_t out[8];
    const vyre_read read = {range, out};
    vyre_step step = test_step(mark, &range, 8, NULL);
    const uint32_t first = round / 2 % 4;
    step.first = round % 2 ? first : 0;
    step.count = round % 2 ? 2 : 0;
    test_ok(ops->submit(target, &(vyre_sequence){&clear, 1, NULL, 0, &step, 1, &read, 1, NULL, 0, NULL, NULL}, NULL));
    for (uint32_t i = 0; i < 8; i++)
      assert_int_equal(out[i], round % 2 == 0 || i == first || i == first + 1 ? i + 1 : 0);
  }
  assert_int_equal(sim.count("cuModuleLoadDataEx"), loads); /* only repeats and grids from buffers load the target's own kernels */
  test_close(target);
}

/* ---- the key of a graph -------------------------------------------------------------------------------------------------- */

enum { VARIATIONS = 19, TIMES_EACH = 4, VARIED_WORDS = 64, VARIED_BUFFERS = 3 };

typedef struct varied {
  vyre_kernel add, digit, mark, down;
  vyre_device_buffer x, y, left;
} varied;

static varied
make_varied(vyre_target *target)
{
  return (varied){test_compile(target, TEST_ADD),      test_compile(target, TEST_DIGIT),     test_compile(target, TEST_MARK),
                  test_compile(target, TEST_DOWN),     test_buffer(target, VARIED_WORDS, 1), test_buffer(target, VARIED_WORDS, 2),
                  test_buffer(target, VARIED_WORDS, 9)};
}

/* Submits one sequence, which differs in one thing for each number but 0, and reads all buffers afterwards. */
static void
submit_varied(vyre_target *target, const varied *v, uint32_t number, uint32_t out[VARIED_BUFFERS][VARIED_WORDS])
{
#define VARIED(k, other, usual) (number == (k) ? (other) : (usual))
  static const vyre_range nothing;
  uint32_t up[8] = {3, 5, VARIED(1, 20, 10), 4}, seen[8];
  const uint32_t pushes[2] = {VARIED(2, 7, 4), VARIED(3, 2, 1)};
  const vyre_range both[2] = {test_words(v->x, VARIED(4, 8, 0), 16), test_words(v->y, VARIED(5, 8, 0), 16)};
  const vyre_range digit = test_words(v->x, VARIED(6, 40, 20), 1), left = test_words(v->left, VARIED(7, 4, 0), 1);
  const vyre_range last = test_words(v->x, 48, 1), mark = test_words(v->y, 32, VARIED(8, 3, 16));
  const vyre_fill fill = {test_words(v->x, VARIED(9, 16, 0), 24), VARIED(10, 8, 6)};
  const vyre_upload uploads[2] = {{test_words(v->left, 0, 4), up}, {test_words(v->left, VARIED(11, 12, 8), 4), up + 4}};
  const vyre_read read = {test_words(v->x, VARIED(12, 20, 0), 8), seen};
  vyre_step steps[5] = {
      {.kernel = v->add, .buffers = both, .buffer_count = 2, .push = &pushes[0], .push_size = 4, .groups = {1, 1, 1}},
      test_step(v->digit, &digit, 1, &pushes[1]),
      test_step(v->down, &left, 1, NULL),
      test_step(v->mark, &mark, VARIED(13, 9, 12), NULL),
      test_step(v->digit, &last, 1, &pushes[1]), /* shows whether the step runs once */
  };
  if (number == 14)
    steps[3].first = 2, steps[3].count = 3;
  if (number == 15) {
    const vyre_step first = steps[1];
    steps[1] = steps[2], steps[2] = first;
  }
  const vyre_repeat repeat = {1, VARIED(16, 1, 2), VARIED(17, 4, 2), VARIED(18, left, nothing)};
  vyre_repeat_end end;
#undef VARIED
  test_ok(ops->submit(target, &(vyre_sequence){&fill, 1, uploads, 2, steps, 5, &read, 1, &repeat, 1, &end, NULL}, NULL));
  const vyre_device_buffer buffers[VARIED_BUFFERS] = {v->x, v->y, v->left};
  for (uint32_t i = 0; i < VARIED_BUFFERS; i++)
    test_ok(vyre_target_read(ops, target, buffers[i], 0, sizeof out[i], out[i]));
  assert_memory_equal(seen, &out[0][number == 12 ? 20 : 0], sizeof seen);
}

/* Alternates two sequences that differ in one property.  The graph of one is not replayed for the other. */
TEST(a_graph_is_replayed_only_for_its_sequence)
{
  static uint32_t out[2][VARIATIONS][TIMES_EACH][2][VARIED_BUFFERS][VARIED_WORDS];
  for (uint32_t way = 0; way < 2; way++) {
    vyre_target *target = test_open(NULL);
    target->no_graphs = way == 1;
    const varied v = make_varied(target);
    for (uint32_t number = 1; number < VARIATIONS; number++)
      for (uint32_t i = 0; i < TIMES_EACH; i++) {
        submit_varied(target, &v, 0, out[way][number][i][0]);
        submit_varied(target, &v, number, out[way][number][i][1]);
      }
    assert_true(way == 1 || test_metric(target, "graph_launches") > VARIATIONS * TIMES_EACH);
    test_close(target);
  }
  for (uint32_t number = 1; number < VARIATIONS; number++)
    for (uint32_t i = 0; i < TIMES_EACH; i++)
      if (memcmp(out[0][number][i], out[1][number][i], sizeof out[0][number][i]) != 0)
        fail_msg("variation %u, time %u: graphs compute other words than commands", number, i);
}

/* ---- begun sequences ----------------------------------------------------------------------------------------------------- */

/* Each sequence sees the writes of those begun earlier, on any stream.  The simulator would report a race. */
TEST(begun_sequences_keep_their_order)
{
  enum { TICKETS = 6 };
  vyre_target *target = test_open(NULL);
  const vyre_kernel digit = test_compile(target, TEST_DIGIT);
  const vyre_range range = test_range(test_buffer(target, 1, 1));
  uint32_t out[TICKETS], wanted = 1;
  vyre_ticket tickets[TICKETS];
  for (uint32_t i = 0; i < TICKETS; i++) {
    const uint32_t push = i % 3;
    const vyre_step step = test_step(digit, &range, 1, &push);
    const vyre_read read = {range, &out[i]};
    test_ok(ops->begin(target, &(vyre_sequence){.steps = &step, .step_count = 1, .reads = &read, .read_count = 1}, &tickets[i]));
  }
  for (uint32_t i = TICKETS; i-- > 0;)
    test_ok(ops->wait(target, tickets[i], NULL));
  for (uint32_t i = 0; i < TICKETS; i++) {
    wanted = wanted * 3 + i % 3;
    assert_int_equal(out[i], wanted);
  }
  test_close(target);
}

/* Each of several repeated sequences launches its own graph. */
TEST(begun_sequences_find_their_graphs)
{
  vyre_target *target = test_open(NULL);
  const uint32_t push = 1;
  const vyre_range ranges[] = {test_range(test_buffer(target, 64, 0)), test_range(test_buffer(target, 1, 0))};
  const vyre_step steps[] = {test_step(test_compile(target, TEST_MARK), &ranges[0], 8, NULL),
                             test_step(test_compile(target, TEST_DIGIT), &ranges[1], 1, &push)};
  for (uint32_t round = 0; round < 6; round++) {
    vyre_ticket tickets[2];
    for (uint32_t i = 0; i < 2; i++)
      test_ok(ops->begin(target, &(vyre_sequence){.steps = &steps[i], .step_count = 1}, &tickets[i]));
    for (uint32_t i = 0; i < 2; i++)
      test_ok(ops->wait(target, tickets[i], NULL));
  }
  assert_int_equal(test_metric(target, "recordings"), 2);
  assert_int_equal(test_metric(target, "graph_launches"), 10);
  test_close(target);
}

/* A kernel waits for a word while another sequence begins and ends.  Then the host sets the word. */
TEST(a_kernel_waits_for_the_host)
{
  static _Alignas(4096) _Atomic uint32_t words[1024];
  vyre_target *target = test_open(NULL);
  vyre_device_buffer bell;
  words[0] = words[1] = 0;
  test_ok(ops->import(target, (void *)words, sizeof words, &bell));
  const vyre_range range = test_range(bell), other = test_range(test_buffer(target, 1, 4));
  const vyre_step waits = test_step(test_compile(target, TEST_BELL), &range, 1, NULL);
  const uint32_t push = 2;
  const vyre_step step = test_step(test_compile(target, TEST_DIGIT), &other, 1, &push);
  uint32_t out = 0;
  vyre_ticket ticket;
  bool is_done = true;
  test_ok(ops->begin(target, &(vyre_sequence){.steps = &waits, .step_count = 1}, &ticket));
  test_ok(test_submit(target, &step, other, &out));
  assert_int_equal(out, 14);
  test_ok(ops->poll(target, ticket, &is_done));
  assert_false(is_done);
  assert_int_equal(words[1], 0);
  words[0] = 7;
  test_ok(ops->wait(target, ticket, NULL));
  assert_int_equal(words[1], 7);
  test_ok(ops->free(target, bell));
  test_close(target);
}

/* ---- grids and repeats --------------------------------------------------------------------------------------------------- */

TEST(a_grid_that_fits_waits_at_its_barrier)
{
  enum { GROUPS = 8 };
  vyre_target *target = test_open(NULL);
  const vyre_kernel meet = test_compile(target, TEST_MEET);
  const vyre_range ranges[] = {test_range(test_buffer(target, GROUPS, 0)), test_range(test_buffer(target, GROUPS, 0))};
  vyre_step step = {.kernel = meet, .buffers = ranges, .buffer_count = 2, .groups = {GROUPS, 1, 1}};
  uint32_t out[GROUPS];
  for (uint32_t round = 0; round < 3; round++) {
    memset(out, 0, sizeof out);
    test_ok(test_submit(target, &step, ranges[1], out));
    for (uint32_t i = 0; i < GROUPS; i++)
      assert_int_equal(out[i], (i + 1) % GROUPS + 1);
  }
  assert_true(sim.count("cuLaunchCooperativeKernel") >= 1);
  step.groups[0] = 1u << 20;
  test_refused(test_submit(target, &step, ranges[1], out), "at once");
  test_close(target);
}

/* Submits a repeat of the first step until the word `left` is 0, then the other steps, and reads the word x. */
static vyre_status
submit_repeat(vyre_target *target, const vyre_step *steps, uint32_t step_count, uint32_t times, vyre_range left, vyre_range x,
              uint32_t *out, vyre_repeat_end *end, vyre_timing *timing)
{
  const vyre_repeat repeat = {0, 1, times, left};
  const vyre_read read = {x, out};
  return ops->submit(target, &(vyre_sequence){NULL, 0, NULL, 0, steps, step_count, &read, 1, &repeat, 1, end, NULL}, timing);
}

/* A long repeat is submitted in parts.  The host waits once for each part, and the count continues. */
TEST(a_long_repeat_continues_in_parts)
{
  static const struct {
    uint32_t left, times, iterations, word, waits;
  } cases[] = {{20, 100, 20, 0, 3}, {20, 20, 20, 0, 3}, {20, 19, 19, 1, 3}, {8, 8, 8, 0, 1}, {9, 8, 8, 1, 1}, {3, 100, 3, 0, 1}};
  vyre_target *target = test_open(NULL);
  target->most_iterations = 8;
  const vyre_kernel down = test_compile(target, TEST_DOWN), digit = test_compile(target, TEST_DIGIT);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint32_t one = 1;
    const vyre_range left = test_range(test_buffer(target, 1, cases[i].left)), x = test_range(test_buffer(target, 1, 0));
    const vyre_step steps[] = {test_step(down, &left, 1, NULL), test_step(digit, &x, 1, &one)};
    vyre_repeat_end end;
    uint32_t out;
    vyre_timing timing;
    test_ok(submit_repeat(target, steps, 2, cases[i].times, left, x, &out, &end, &timing));
    assert_int_equal(end.iterations, cases[i].iterations);
    assert_int_equal(end.word, cases[i].word);
    assert_int_equal(timing.waits, cases[i].waits);
    assert_int_equal(timing.launches, cases[i].iterations + !cases[i].word);
    assert_int_equal(out, cases[i].word ? 0 : 1);
  }
  test_close(target);
}

/* Commands of a part that fails may already run, so the target waits for them before it reuses staging memory. */
TEST(a_part_that_fails_is_waited_for)
{
  vyre_target *target = test_open(NULL);
  target->most_iterations = 2;
  const vyre_range left = test_range(test_buffer(target, 1, 5));
  const vyre_step step = test_step(test_compile(target, TEST_DOWN), &left, 1, NULL);
  vyre_repeat_end end;
  uint32_t out;
  sim.clear();
  assert_true(sim.make_fail("cuEventRecord", 4, CUDA_OUT_OF_MEMORY)); /* after the second part's commands */
  test_refused(submit_repeat(target, &step, 1, 8, left, left, &out, &end, NULL), "cuEventRecord");
  sim.make_fail(NULL, 0, CUDA_OK);
  assert_int_equal(sim.count("cuStreamSynchronize"), 1);
  assert_false(ops->is_lost(target));
  test_ok(submit_repeat(target, &step, 1, 8, left, left, &out, &end, NULL));
  assert_int_equal(end.word, 0);
  assert_int_equal(end.iterations, 1); /* the two parts before decremented four times */
  test_close(target);
}

/* The sequence is a graph from the second round on. */
TEST(a_trap_of_a_program_is_an_error)
{
  vyre_target *target = test_open(NULL);
  const vyre_range range = test_range(test_buffer(target, 1, 9));
  const vyre_kernel kernel = test_compile(target, TEST_TRAP);
  const vyre_step two = test_step(kernel, &range, 2, NULL), one = test_step(kernel, &range, 1, NULL);
  for (uint32_t round = 0; round < 3; round++) {
    uint32_t out = 77;
    test_refused(test_submit(target, &two, range, &out), "kernel 'trap_at' stopped at a trap: fault 3");
    assert_int_equal(out, 77);
    test_ok(test_submit(target, &one, range, &out));
    assert_int_equal(out, 9);
  }
  test_close(target);
}

TEST_MAIN(test_find_simulator, NULL)
