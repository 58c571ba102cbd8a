/* Steps: order, grids, parts of grids, grids from buffers, repeats.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

/* Submits steps and repeats, reads `count` words of a buffer, and asserts one wait and the bytes. */
static vyre_timing
submit_steps(const conform *c, const vyre_step *steps, uint32_t step_count, const vyre_repeat *repeats, uint32_t repeat_count,
             vyre_repeat_end *ends, vyre_device_buffer buffer, uint32_t *out, uint32_t count)
{
  const vyre_read read = {words_of(buffer, 0, count), out};
  const vyre_timing timing =
      submit(c, (vyre_sequence){STEPS(steps, step_count), READS(&read, 1), REPEATS(repeats, repeat_count, ends)});
  assert_int_equal(timing.waits, 1);
  assert_int_equal(timing.bytes_up, 0);
  assert_int_equal(timing.bytes_down, count * 4 + repeat_count * sizeof *ends);
  return timing;
}

/* Returns the result of x = x * 3 + k for each k.  It shows which steps ran, and in which order. */
static uint32_t
digits(uint32_t x, const uint32_t *ks, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    x = x * 3 + ks[i];
  return x;
}

static vyre_step
digit_step(vyre_kernel kernel, const vyre_range *range, const uint32_t *k)
{
  vyre_step step = step_of(kernel, range, 1);
  step.push = k;
  step.push_size = sizeof *k;
  return step;
}

CONFORM(steps_run_in_order, NEEDS_KERNELS)
{
  static const uint32_t ks[] = {1, 2, 0, 2, 1, 1, 2};
  const uint32_t one = 1;
  const vyre_range range = whole(buffer_with(c, &one, 1));
  const vyre_kernel kernel = kernel_of(c, "digit");
  vyre_step steps[7];
  uint32_t out;
  for (uint32_t i = 0; i < 7; i++)
    steps[i] = digit_step(kernel, &range, &ks[i]);
  const vyre_timing timing = submit_steps(c, steps, 7, NULL, 0, NULL, range.buffer, &out, 1);
  assert_int_equal(out, digits(1, ks, 7));
  assert_int_equal(timing.launches, 7);
}

/* Two steps may run at the same time, on different buffers.  The third step runs after both. */
CONFORM(steps_beside_each_other_end_before_the_next, NEEDS_KERNELS)
{
  static const uint32_t ks[] = {1, 2};
  const uint32_t word = 4, push[2] = {0, 100};
  const vyre_range a = whole(buffer_with(c, &word, 1)), b = whole(buffer_with(c, &word, 1));
  const vyre_range both[] = {b, a};
  const vyre_kernel kernel = kernel_of(c, "digit");
  vyre_step steps[] = {digit_step(kernel, &a, &ks[0]), digit_step(kernel, &b, &ks[1]), {.groups = {1, 1, 1}}};
  uint32_t out;
  steps[1].beside = true;
  steps[2].kernel = kernel_of(c, "add");
  steps[2].buffers = both;
  steps[2].buffer_count = 2;
  steps[2].push = push;
  steps[2].push_size = sizeof push;
  assert_int_equal(submit_steps(c, steps, 3, NULL, 0, NULL, a.buffer, &out, 1).launches, 3);
  assert_int_equal(out, 14 + 100);
  read_words(c, b.buffer, &out, 1);
  assert_int_equal(out, 14);
}

CONFORM(workgroups_have_memory_and_barriers, NEEDS_KERNELS)
{
  uint32_t words[640], out[10];
  for (uint32_t i = 0; i < 640; i++)
    words[i] = i * i;
  const vyre_range ranges[] = {whole(buffer_with(c, words, 640)), whole(buffer_of(c, sizeof out))};
  const vyre_step step = {.kernel = kernel_of(c, "sum"), .buffers = ranges, .buffer_count = 2, .groups = {10, 1, 1}};
  submit_steps(c, &step, 1, NULL, 0, NULL, ranges[1].buffer, out, 10);
  for (uint32_t i = 0; i < 10; i++) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 64; k++)
      sum += words[i * 64 + k];
    assert_int_equal(out[i], sum);
  }
}

CONFORM(atomics_of_all_invocations_count, NEEDS_KERNELS)
{
  const vyre_range range = whole(buffer_of_zeros(c, 1));
  const vyre_step step = step_of(kernel_of(c, "count"), &range, 500);
  uint32_t out;
  submit_steps(c, &step, 1, NULL, 0, NULL, range.buffer, &out, 1);
  assert_int_equal(out, 500 * 64);
}

/* The length of a buffer in a kernel is that of the bound range. */
CONFORM(kernels_access_only_their_range, NEEDS_KERNELS)
{
  const uint32_t align = c->info.storage_align < 4 ? 1 : c->info.storage_align / 4;
  const uint32_t push[2] = {0, 1}, total = 64 + align;
  uint32_t *words = calloc(total, sizeof *words), *out = calloc(total, sizeof *out);
  for (uint32_t i = 0; i < total; i++)
    words[i] = 1000 + i;
  const vyre_device_buffer x = buffer_with(c, words, total), y = buffer_with(c, words, total);
  const vyre_range ranges[] = {words_of(x, align, 5), words_of(y, align, 64)};
  const vyre_step step = {.kernel = kernel_of(c, "add"),
                          .buffers = ranges,
                          .buffer_count = 2,
                          .push = push,
                          .push_size = sizeof push,
                          .groups = {1, 1, 1}};
  submit_steps(c, &step, 1, NULL, 0, NULL, y, out, total);
  for (uint32_t i = 0; i < total; i++)
    assert_int_equal(out[i], 1000 + i + (i >= align && i < align + 5));
  free(words);
  free(out);
}

/* ---- grids --------------------------------------------------------------------------------------------------------------- */

enum { MARKS = 64 };

/* Asserts that the `count` marks from `first` on are their index plus one, and that all others are 0. */
static void
assert_marked(const uint32_t out[MARKS], uint32_t first, uint32_t count)
{
  for (uint32_t i = 0; i < MARKS; i++)
    assert_int_equal(out[i], i >= first && i < first + count ? i + 1 : 0);
}

CONFORM(grids_have_three_axes, NEEDS_KERNELS)
{
  static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {5, 3, 2}, {1, 4, 1}, {1, 1, 7}, {4, 4, 4}};
  const vyre_kernel kernel = kernel_of(c, "mark");
  for (uint32_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    const vyre_range range = whole(buffer_of_zeros(c, MARKS));
    vyre_step step = step_of(kernel, &range, 1);
    uint32_t out[MARKS];
    memcpy(step.groups, grids[i], sizeof step.groups);
    assert_int_equal(submit_steps(c, &step, 1, NULL, 0, NULL, range.buffer, out, MARKS).launches, 1);
    assert_marked(out, 0, grids[i][0] * grids[i][1] * grids[i][2]);
  }
}

CONFORM(a_grid_without_groups_runs_nothing, NEEDS_KERNELS)
{
  static const uint32_t grids[][3] = {{0, 1, 1}, {3, 0, 1}, {3, 3, 0}, {0, 0, 0}};
  const vyre_range range = whole(buffer_of_zeros(c, MARKS));
  vyre_step steps[4];
  uint32_t out[MARKS];
  for (uint32_t i = 0; i < 4; i++) {
    steps[i] = step_of(kernel_of(c, "mark"), &range, 1);
    memcpy(steps[i].groups, grids[i], sizeof steps[i].groups);
  }
  submit_steps(c, steps, 4, NULL, 0, NULL, range.buffer, out, MARKS);
  assert_marked(out, 0, 0);
}

/* Workgroups of a part have their numbers of the whole grid. */
CONFORM(a_part_of_a_grid_runs, NEEDS_KERNELS | VYRE_TARGET_PARTS)
{
  static const uint64_t parts[][2] = {{0, 1}, {5, 7}, {29, 1}, {0, 30}, {0, 0}};
  const vyre_kernel kernel = kernel_of(c, "mark");
  for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const vyre_range range = whole(buffer_of_zeros(c, MARKS));
    vyre_step step = step_of(kernel, &range, 5);
    uint32_t out[MARKS];
    step.groups[1] = 3;
    step.groups[2] = 2;
    step.first = parts[i][0];
    step.count = parts[i][1];
    submit_steps(c, &step, 1, NULL, 0, NULL, range.buffer, out, MARKS);
    assert_marked(out, (uint32_t)parts[i][0], parts[i][1] ? (uint32_t)parts[i][1] : 30);
  }
}

/* The device reads the grid when the step begins, after the step that writes it. */
CONFORM(a_buffer_sets_the_grid, NEEDS_KERNELS | VYRE_TARGET_INDIRECT)
{
  static const uint32_t sizes[] = {0, 1, 9, 40};
  const vyre_kernel set_grid = kernel_of(c, "set_grid"), mark = kernel_of(c, "mark");
  for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const uint32_t words[4] = {50, 60, 70, sizes[i]};
    const vyre_range groups = whole(buffer_with(c, words, 4)), range = whole(buffer_of_zeros(c, MARKS));
    vyre_step steps[2] = {step_of(set_grid, &groups, 1), step_of(mark, &range, 40)};
    uint32_t out[MARKS];
    steps[1].indirect = words_of(groups.buffer, 0, 3);
    submit_steps(c, steps, 2, NULL, 0, NULL, range.buffer, out, MARKS);
    assert_marked(out, 0, sizes[i]);
  }
}

/* ---- repeats ------------------------------------------------------------------------------------------------------------- */

CONFORM(steps_repeat_a_number_of_times, NEEDS_KERNELS)
{
  static const uint32_t ks[] = {1, 2, 0, 2};
  static const uint32_t wanted[] = {1, 2, 0, 2, 0, 2, 0, 2}; /* the middle two, three times */
  const uint32_t one = 1;
  const vyre_range range = whole(buffer_with(c, &one, 1));
  const vyre_kernel kernel = kernel_of(c, "digit");
  const vyre_repeat repeats[] = {{1, 2, 3, {{0}, 0, 0}}, {3, 1, 1, {{0}, 0, 0}}};
  vyre_repeat_end ends[2] = {{9, 9}, {9, 9}};
  vyre_step steps[4];
  uint32_t out;
  for (uint32_t i = 0; i < 4; i++)
    steps[i] = digit_step(kernel, &range, &ks[i]);
  steps[3].push = &ks[1];
  const vyre_timing timing = submit_steps(c, steps, 4, repeats, 2, ends, range.buffer, &out, 1);
  assert_int_equal(out, digits(1, (const uint32_t[]){1, 2, 0, 2, 0, 2, 0, 2}, 8));
  assert_int_equal(out, digits(1, wanted, 8));
  assert_int_equal(timing.launches, 8);
  assert_int_equal(ends[0].iterations, 3);
  assert_int_equal(ends[0].word, 0);
  assert_int_equal(ends[1].iterations, 1);
}

/* The steps repeat until a word is 0, at most `times` times.  If the word is not 0 then, later steps do not run, and the caller can
 * continue. */
CONFORM(steps_repeat_until_a_word_is_zero, NEEDS_KERNELS)
{
  static const struct {
    uint32_t left, times, iterations, word;
  } cases[] = {{5, 100, 5, 0}, {5, 5, 5, 0}, {5, 3, 3, 2}, {1, 9, 1, 0}, {0, 9, 1, 0}, {7, 1, 1, 6}};
  const vyre_kernel down = kernel_of(c, "down"), digit = kernel_of(c, "digit");
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint32_t zero = 0, k = 1;
    const vyre_range left = whole(buffer_with(c, &cases[i].left, 1)), x = whole(buffer_of_zeros(c, 1));
    const vyre_step steps[] = {step_of(down, &left, 1), digit_step(digit, &x, &k), digit_step(digit, &x, &zero)};
    const vyre_repeat repeat = {0, 2, cases[i].times, left};
    vyre_repeat_end end = {9, 9};
    uint32_t out, wanted = 0;
    const vyre_timing timing = submit_steps(c, steps, 3, &repeat, 1, &end, x.buffer, &out, 1);
    assert_int_equal(end.iterations, cases[i].iterations);
    assert_int_equal(end.word, cases[i].word);
    for (uint32_t n = 0; n < cases[i].iterations; n++)
      wanted = wanted * 3 + 1;
    assert_int_equal(out, cases[i].word ? wanted : wanted * 3);
    assert_int_equal(timing.launches, cases[i].iterations * 2 + !cases[i].word);
  }
}

/* If a repeat ends before its word is 0, later repeats have no iterations. */
CONFORM(repeats_after_an_unfinished_one_are_skipped, NEEDS_KERNELS)
{
  const uint32_t seven = 7, one = 1, k = 2;
  const vyre_range left = whole(buffer_with(c, &seven, 1)), x = whole(buffer_with(c, &one, 1));
  const vyre_kernel down = kernel_of(c, "down"), digit = kernel_of(c, "digit");
  const vyre_step steps[] = {digit_step(digit, &x, &k), step_of(down, &left, 1), digit_step(digit, &x, &k)};
  const vyre_repeat repeats[] = {{0, 1, 2, {{0}, 0, 0}}, {1, 1, 4, left}, {2, 1, 3, {{0}, 0, 0}}};
  vyre_repeat_end ends[3] = {{9, 9}, {9, 9}, {9, 9}};
  uint32_t out;
  submit_steps(c, steps, 3, repeats, 3, ends, x.buffer, &out, 1);
  assert_int_equal(out, (1 * 3 + 2) * 3 + 2);
  assert_int_equal(ends[0].iterations, 2);
  assert_int_equal(ends[1].iterations, 4);
  assert_int_equal(ends[1].word, 3);
  assert_int_equal(ends[2].iterations, 0);
  assert_int_equal(ends[2].word, 0);
  submit_steps(c, steps, 3, repeats, 3, ends, x.buffer, &out, 1); /* continues */
  assert_int_equal(ends[1].iterations, 3);
  assert_int_equal(ends[1].word, 0);
  assert_int_equal(ends[2].iterations, 3);
}

/* Sequences may differ only in a repeat's count, with a word that ends the repeat and without. */
CONFORM(a_repeat_may_change_its_count_between_submissions, NEEDS_KERNELS)
{
  static const uint32_t times[] = {3, 5, 3, 5, 2, 3, 5};
  const vyre_kernel down = kernel_of(c, "down"), digit = kernel_of(c, "digit");
  for (uint32_t has_word = 0; has_word < 2; has_word++) {
    const uint32_t k = 1, most = 1000;
    const vyre_range left = whole(buffer_with(c, &most, 1)), x = whole(buffer_of_zeros(c, 1));
    const vyre_step steps[] = {digit_step(digit, &x, &k), step_of(down, &left, 1)};
    uint32_t wanted = 0, out;
    for (uint32_t i = 0; i < 3 * sizeof times / sizeof *times; i++) {
      const uint32_t count = times[i / 3];
      const vyre_repeat repeat = {0, 2, count, has_word ? left : (vyre_range){{0}, 0, 0}};
      vyre_repeat_end end = {9, 9};
      submit_steps(c, steps, 2, &repeat, 1, &end, x.buffer, &out, 1);
      for (uint32_t n = 0; n < count; n++)
        wanted = wanted * 3 + 1;
      assert_int_equal(out, wanted);
      assert_int_equal(end.iterations, count);
    }
  }
}

/* Each repeat ends if its own word is 0.  Steps between repeats run once. */
CONFORM(each_repeat_ends_by_its_own_word, NEEDS_KERNELS)
{
  static const uint32_t lefts[][2] = {{3, 5}, {5, 3}, {1, 7}, {4, 1}};
  const vyre_kernel down = kernel_of(c, "down"), digit = kernel_of(c, "digit");
  for (uint32_t i = 0; i < 3 * sizeof lefts / sizeof *lefts; i++) {
    const uint32_t zero = 0, one = 1, two = 2;
    const vyre_range first = whole(buffer_with(c, &lefts[i / 3][0], 1)), second = whole(buffer_with(c, &lefts[i / 3][1], 1));
    const vyre_range x = whole(buffer_of_zeros(c, 1));
    const vyre_step steps[] = {digit_step(digit, &x, &one), step_of(down, &first, 1), digit_step(digit, &x, &zero),
                               digit_step(digit, &x, &two), step_of(down, &second, 1)};
    const vyre_repeat repeats[] = {{0, 2, 20, first}, {3, 2, 20, second}};
    vyre_repeat_end ends[2] = {{9, 9}, {9, 9}};
    uint32_t wanted = 0, out;
    submit_steps(c, steps, 5, repeats, 2, ends, x.buffer, &out, 1);
    for (uint32_t n = 0; n < lefts[i / 3][0]; n++)
      wanted = wanted * 3 + 1;
    wanted = wanted * 3;
    for (uint32_t n = 0; n < lefts[i / 3][1]; n++)
      wanted = wanted * 3 + 2;
    assert_int_equal(out, wanted);
    for (uint32_t k = 0; k < 2; k++) {
      assert_int_equal(ends[k].iterations, lefts[i / 3][k]);
      assert_int_equal(ends[k].word, 0);
    }
  }
}

/* A step whose buffer has more workgroups than its limit does nothing, and the sequence fails. */
CONFORM(an_indirect_grid_above_its_limit_is_an_error, NEEDS_ITS_OWN | NEEDS_KERNELS | VYRE_TARGET_INDIRECT)
{
  static const uint32_t words[3] = {3, 2, 1};
  const vyre_range groups = whole(buffer_with(c, words, 3)), range = whole(buffer_of_zeros(c, MARKS));
  vyre_step step = step_of(kernel_of(c, "mark"), &range, 3);
  uint32_t out[MARKS];
  const vyre_read read = {range, out};
  const vyre_sequence sequence = {STEPS(&step, 1), READS(&read, 1)};
  step.indirect = groups;
  memset(out, 0x77, sizeof out);
  refused(c, c->ops->submit(c->target, &sequence, NULL), VYRE_CODE_INPUT, "groups");
  assert_int_equal(out[0], 0x77777777);
  read_words(c, range.buffer, out, MARKS);
  assert_marked(out, 0, 0);
  step.groups[1] = 2;
  submit(c, sequence);
  assert_marked(out, 0, 6);
}
