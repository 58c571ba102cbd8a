/* Subgroup rows: values of other lanes, active lanes, and undefined results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

enum { N = 40 }; /* invocations: with subgroups of 16, the last has 8 */

static uint32_t results[4 * N], values[N];

/* %x and %y are bound to `values` and `results`, and %v is x[lindex]. */
static launch
prepare(char text[8192], const char *mode, const char *body, uint32_t size)
{
  const int length = snprintf(text, 8192,
                              "program @p %s workgroup(%u, 1, 1) {\n"
                              "  buffer %%x : u32[] storage set(0) binding(0)\n"
                              "  buffer %%y : u32[] storage set(0) binding(1)\n"
                              "  var %%s : u32\n"
                              "  %%i = lindex\n"
                              "  %%v = load %%x[%%i]\n%s}\n",
                              mode, N, body);
  assert_true(length > 0 && length < 8192);
  memset(results, 0xee, sizeof results);
  return (launch){.text = text,
                  .groups = {1, 1, 1},
                  .buffers = {{"x", values, sizeof values}, {"y", results, sizeof results}},
                  .options = {.subgroup = size}};
}

static void
run(const char *body, uint32_t size)
{
  char text[8192];
  launch l = prepare(text, "", body, size);
  launch_ok(&l);
}

static void
fill_values(uint32_t (*of)(uint32_t i))
{
  for (uint32_t i = 0; i < N; i++)
    values[i] = of(i);
}

static uint32_t
scattered(uint32_t i)
{
  return (i * 2654435761u) >> 7;
}

static uint32_t
small(uint32_t i)
{
  return i * 7 % 5 + 1;
}

/* ---- built-ins ------------------------------------------------------------------------------------------------------ */

TEST(subgroups_have_32_lanes_by_default)
{
  run("store %y[%i], or(subgroup_lane, shl(subgroup_size, 8u32))\n", 0);
  assert_int_equal(results[33], 1 | 32 << 8);
  run("store %y[%i], or(or(subgroup_lane, shl(subgroup_id, 8u32)), or(shl(subgroup_size, 16u32), shl(subgroups, 24u32)))\n", 1);
  assert_int_equal(results[33], 33 << 8 | 1 << 16 | 40 << 24);
}

TEST(sizes_are_powers_of_two)
{
  for (uint32_t size = 3; size <= 256; size += size == 3 ? 253 : 1) {
    char text[8192];
    launch l = prepare(text, "", "store %y[%i], subgroup_size\n", size);
    launch_fails(&l, "a subgroup cannot have", "lanes", "power of two from 1 to 128");
  }
}

/* ---- votes and ballots ---------------------------------------------------------------------------------------------- */

TEST(ballots_find_the_first_and_last_lane)
{
  run("%none = subgroup_ballot ne(%v, %v)\n"
      "store %y[%i], and(subgroup_ballot_findmsb(%none), subgroup_ballot_findlsb(%none))\n",
      16);
  assert_int_equal(results[0], UINT32_MAX);
  run("%t = subgroup_ballot uge(subgroup_lane, 3u32) %all = subgroup_ballot_count splat(0xffffffffu32 : u32x4)\n"
      "store %y[%i], or(shl(%all, 16u32), or(subgroup_ballot_findlsb(%t), shl(subgroup_ballot_findmsb(%t), 8u32)))\n",
      16);
  assert_int_equal(results[0], 3 | 15 << 8 | 16 << 16);    /* more bits than lanes */
  assert_int_equal(results[N - 1], 3 | 7 << 8 | 16 << 16); /* the last subgroup has 8 lanes */
}

/* Zeros of both signs are equal.  A NaN in any lane of a vector is not equal to itself. */
TEST(alleq_compares_floats_as_numbers)
{
  run("%zero = select(ult(%i, 3u32), 0.0f32, -0.0f32) %nan = select(eq(%i, 17u32), nan(0x7fc00000)f32, 1.0f32)\n"
      "%a = subgroup_alleq %zero %b = subgroup_alleq join(%zero, %nan)\n"
      "store %y[%i], or(select(%a, 1u32, 0u32), select(%b, 2u32, 0u32))\n",
      16);
  for (uint32_t i = 0; i < N; i++)
    assert_int_equal(results[i], i / 16 == 1 ? 1 : 3);
}

/* ---- values of other lanes ------------------------------------------------------------------------------------------ */

/* Moves of %v, where %k is a value of each lane. */
enum { SHUFFLE, BROADCAST, XOR, UP, DOWN, ROTATE, ROTATE_4, QUAD, QUAD_H, QUAD_V, QUAD_D, MOVES };
static const char *const moves[MOVES] = {
    [SHUFFLE] = "subgroup_shuffle %v, %k",
    [BROADCAST] = "subgroup_broadcast %v, %k", /* in a strict program each lane uses its own %k */
    [XOR] = "subgroup_shuffle_xor %v, %k",
    [UP] = "subgroup_shuffle_up %v, %k",
    [DOWN] = "subgroup_shuffle_down %v, %k",
    [ROTATE] = "subgroup_rotate %v, %k",
    [ROTATE_4] = "subgroup_rotate %v, %k clustered(4)",
    [QUAD] = "subgroup_quad_broadcast %v, %k",
    [QUAD_H] = "subgroup_quad_swap %v, 0u32",
    [QUAD_V] = "subgroup_quad_swap %v, 1u32",
    [QUAD_D] = "subgroup_quad_swap %v, 2u32",
};

/* Returns the lane that the value comes from; `size` or more if there is none. */
static uint32_t
source_of(uint32_t move, uint32_t lane, uint32_t k, uint32_t size)
{
  const uint32_t cluster = size < 4 ? size : 4;
  switch (move) {
  case SHUFFLE:
  case BROADCAST:
    return k;
  case XOR:
    return k < size ? lane ^ k : size;
  case UP:
    return k <= lane ? lane - k : size;
  case DOWN:
    return k < size ? lane + k : size;
  case ROTATE:
    return (lane + k) % size;
  case ROTATE_4:
    return lane / cluster * cluster + (lane % cluster + k) % cluster;
  case QUAD:
    return k < 4 ? lane / 4 * 4 + k : 1000;
  default:
    return lane ^ (move - QUAD_H + 1);
  }
}

/* All lanes are active, or every third one is inactive.  Indices are small, beyond the subgroup, and near the greatest u32. */
TEST(moves_read_the_right_lane)
{
  static const uint32_t sizes[] = {1, 2, 8, 16, 64};
  static const char *const indices[] = {"umod(%v, 5u32)", "umod(%v, 70u32)", "0xffffffffu32", "not(%i)"};
  fill_values(scattered);
  for (uint32_t m = 0; m < MOVES; m++)
    for (uint32_t k = 0; k < 5; k++)
      for (uint32_t form = 0; form < 8; form++) {
        char body[512];
        const bool some = form >= 4;
        snprintf(body, sizeof body, "%%k = or(%s, 0u32)\n%s %%r = %s\n store %%y[%%i], %%r\n}\n", indices[form % 4],
                 some ? "if ne umod(%i, 3u32), 1u32 {" : "block {", moves[m]);
        run(body, sizes[k]);
        for (uint32_t i = 0; i < N; i++) {
          const uint32_t key[4] = {values[i] % 5, values[i] % 70, UINT32_MAX, ~i}, size = sizes[k];
          const uint32_t from = source_of(m, i % size, key[form % 4], size), j = i / size * size + from;
          const bool there = from < size && j < N && !(some && j % 3 == 1);
          const uint32_t want = some && i % 3 == 1 ? 0xeeeeeeeeu : there ? values[j] : 0;
          if (results[i] != want)
            fail_msg("%s in subgroups of %u, index %s: invocation %u gets %u, not %u", moves[m], size, indices[form % 4], i,
                     results[i], want);
        }
      }
}

/* Moves do not change the bits of vectors and of other kinds. */
TEST(moves_keep_the_bits_of_all_kinds)
{
  fill_values(scattered);
  run("%w = join(%v, not(%v), neg(%v)) %m = subgroup_shuffle_xor %w, 1u32 %b = subgroup_shuffle_xor eq(%m, %w), 1u32\n"
      "%h = subgroup_shuffle_up convert(%v : u16), 1u32 %d = subgroup_shuffle_up convert(%v : u64), 1u32 %n = any(%b)\n"
      "%sum = add(add(%m.x, mul(%m.y, 3u32)), mul(%m.z, 5u32))\n"
      "store %y[%i], add(select(%n, 0u32, %sum), add(convert(%h : u32), convert(ushr(shl(%d, 40u64), 40u64) : u32)))\n",
      16);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t x = values[i ^ 1], below = i % 16 ? values[i - 1] : 0;
    assert_int_equal(results[i], x + ~x * 3 - x * 5 + (below & 0xffff) + (below & 0xffffff));
  }
}

/* ---- reductions and scans ------------------------------------------------------------------------------------------- */

static uint32_t
bits_of(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* The sum is rounded after each lane, from the lowest on: 2^24 + 1 + 1 is 2^24, 1 + 1 + 2^24 is not. */
TEST(floats_add_in_order)
{
  run("%big = select(eq(subgroup_lane, 0u32), 16777216.0f32, 1.0f32)\n"
      "%last = select(eq(subgroup_lane, 3u32), 16777216.0f32, 1.0f32) %a = subgroup_add %big %b = subgroup_add %last\n"
      "%c = subgroup_add -0.0f32 %d = subgroup_mul 2.0f32 exclusive store %y[%i], bitcast(%a : u32)\n"
      "store %y[add(%i, 40u32)], bitcast(%b : u32) store %y[add(%i, 80u32)], bitcast(%c : u32)\n"
      "store %y[add(%i, 120u32)], bitcast(%d : u32)\n",
      4);
  for (uint32_t i = 0; i < N; i++) {
    assert_int_equal(results[i], bits_of(16777216.0f));
    assert_int_equal(results[i + 40], bits_of(16777220.0f)); /* 3 + 2^24 to even */
    assert_int_equal(results[i + 80], 0x80000000u);
    assert_int_equal(results[i + 120], bits_of((float)(1u << i % 4)));
  }
}

TEST(minima_and_maxima_ignore_nans)
{
  run("%f = select(eq(subgroup_lane, 1u32), nan(0x7fa00001)f32, convert(add(%i, 1u32) : f32)) %a = subgroup_fmin %f\n"
      "%b = subgroup_fmax %f exclusive %c = subgroup_fmin nan(0x7fa00001)f32\n"
      "%d = subgroup_fmin select(ult(subgroup_lane, 2u32), 0.0f32, -0.0f32) store %y[%i], bitcast(%a : u32)\n"
      "store %y[add(%i, 40u32)], bitcast(%b : u32) store %y[add(%i, 80u32)], bitcast(%c : u32)\n"
      "store %y[add(%i, 120u32)], bitcast(%d : u32)\n",
      4);
  for (uint32_t i = 0; i < N; i++) {
    const float first = (float)(i / 4 * 4 + 1);
    assert_int_equal(results[i], bits_of(first));
    assert_int_equal(results[i + 40], i % 4 == 0 ? 0xff800000u : bits_of(i % 4 == 3 ? first + 2 : first));
    assert_int_equal(results[i + 80], 0x7fc00000u);
    assert_int_equal(results[i + 120], 0x80000000u);
  }
}

/* Uses lanes of all four words of a mask. */
TEST(the_largest_subgroup_has_128_lanes)
{
  static uint32_t y[8 * 128];
  launch l = {.text = "program @p workgroup(128, 1, 1) {\n"
                      "  buffer %y : u32x4[] storage set(0) binding(0) %i = lindex %b = subgroup_ballot eq(umod(%i, 3u32), 0u32)\n"
                      "  %n = subgroup_ballot_count %b %k = subgroup_ballot_findmsb %b %s = subgroup_shuffle_xor %i, 127u32\n"
                      "  %m = select(subgroup_inverse_ballot(%b), 1u32, 0u32) store %y[shl(%i, 1u32)], %b\n"
                      "  store %y[add(shl(%i, 1u32), 1u32)], join(join(%n, %k), join(%s, %m))\n"
                      "}\n",
              .groups = {1, 1, 1},
              .buffers = {{"y", y, sizeof y}},
              .options = {.subgroup = 128}};
  launch_ok(&l);
  uint32_t mask[4] = {0};
  for (uint32_t i = 0; i < 128; i += 3)
    mask[i / 32] |= 1u << i % 32;
  for (uint32_t i = 0; i < 128; i++) {
    const uint32_t want[4] = {43, 126, i ^ 127u, i % 3 == 0};
    assert_memory_equal(y + 8 * (size_t)i, mask, sizeof mask);
    assert_memory_equal(y + 8 * (size_t)i + 4, want, sizeof want);
  }
}

/* Additions flush denormal operands and results, and truncate sums.  A shuffle changes no bits. */
TEST(subgroup_ops_follow_float_modes)
{
  char text[8192];
  launch l = prepare(text, "flush_f32",
                     "%a = subgroup_add 0x1p-130f32 %b = subgroup_shuffle_xor 0x1p-130f32, 1u32 store %y[%i], bitcast(%a : u32)\n"
                     "store %y[add(%i, 40u32)], bitcast(%b : u32)\n",
                     4);
  launch_ok(&l);
  assert_int_equal(results[5], 0);
  assert_int_equal(results[45], 0x00080000u);
  l = prepare(text, "flush_f32", "%a = subgroup_add 0x1p-127f32\nstore %y[%i], bitcast(%a : u32)\n", 4);
  launch_ok(&l);
  assert_int_equal(results[5], 0); /* the sum of all four is not a denormal */
  l = prepare(text, "flush_f32",
              "%a = subgroup_alleq select(eq(subgroup_lane, 0u32), 0x1p-130f32, -0x1p-131f32)\n"
              "store %y[%i], select(%a, 3u32, 4u32)\n",
              4);
  launch_ok(&l);
  assert_int_equal(results[5], 3);
  l = prepare(text, "rtz_f32",
              "%a = subgroup_add select(eq(subgroup_lane, 0u32), 16777216.0f32, 1.5f32)\n"
              "store %y[%i], bitcast(%a : u32)\n",
              2);
  launch_ok(&l);
  assert_int_equal(results[5], bits_of(16777216.0f));
}

/* ---- active lanes ---------------------------------------------------------------------------------------------------- */

/* A return from an arm in a loop is final. */
TEST(returned_lanes_stay_inactive)
{
  fill_values(small);
  run("for %k = 0u32 to 3u32 {\n"
      "  if eq umod(%i, 4u32), %k { return } %b = subgroup_ballot true store %y[add(%i, mul(%k, 40u32))], %b.x\n"
      "}\n"
      "%n = subgroup_add 1u32 store %y[add(%i, 120u32)], %n\n",
      16);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t masks[3] = {0xeeee, 0xcccc, 0x8888}, there = i < 32 ? 0xffff : 0xff;
    for (uint32_t k = 0; k < 3; k++)
      assert_int_equal(results[i + 40 * k], i % 4 > k ? masks[k] & there : 0xeeeeeeeeu);
    assert_int_equal(results[i + 120], i % 4 < 3 ? 0xeeeeeeeeu : i < 32 ? 4 : 2);
  }
}

/* Workgroups that run together have separate subgroups.  A subgroup barrier may be in an arm. */
TEST(a_subgroup_is_part_of_one_workgroup)
{
  static uint32_t out[60];
  launch l = {.text = "program @p workgroup(10, 2, 1) {\n"
                      "  buffer %y : u32[] storage set(0) binding(0) %i = add(lindex, mul(wid.x, 20u32))\n"
                      "  if ne lid.x, 3u32 { barrier subgroup } barrier device %b = subgroup_ballot true\n"
                      "  %n = subgroup_ballot_count %b\n"
                      "  store %y[%i], or(%n, or(shl(subgroup_lane, 8u32), shl(subgroup_id, 16u32)))\n"
                      "}\n",
              .groups = {3, 1, 1},
              .buffers = {{"y", out, sizeof out}},
              .options = {.subgroup = 16}};
  launch_ok(&l);
  for (uint32_t i = 0; i < 60; i++)
    assert_int_equal(out[i], (i % 20 < 16 ? 16 : 4) | (i % 20 % 16) << 8 | i % 20 / 16 << 16);
}

/* ---- undefined results ---------------------------------------------------------------------------------------------- */

#define BAD "%bad = select(eq(%i, 2u32), shl(%v, 32u32), %v)\n"

/* Relaxed programs with subgroups of `size` lanes, and the row and place that the report names.  Both are NULL if nothing is
 * undefined. */
static const struct {
  const char *text;
  uint32_t size;
  const char *op, *where;
} reports[] = {
    {"%r = subgroup_broadcast %v, %v\nstore %y[%i], %r\n", 16, "subgroup_broadcast", "a stored value"},
    {"%r = subgroup_broadcast %v, 16u32\nstore %y[%i], %r\n", 16, "subgroup_broadcast", "a stored value"},
    {"if ugt %i, 2u32 {\n%r = subgroup_broadcast %v, 1u32\nstore %y[%i], %r\n}\n", 16, "subgroup_broadcast", "a stored value"},
    {"%r = subgroup_shuffle_up %v, 1u32\nstore %y[%i], %r\n", 16, "subgroup_shuffle_up", "invocation (0, 0, 0)"},
    {"%r = subgroup_shuffle_down %v, 1u32\nstore %y[%i], %r\n", 16, "subgroup_shuffle_down", "invocation (15, 0, 0)"},
    {"%r = subgroup_shuffle %v, 8u32\nstore %y[%i], %r\n", 16, "subgroup_shuffle", "invocation (32, 0, 0)"},
    {"%r = subgroup_rotate %v, %v\nstore %y[%i], %r\n", 8, "subgroup_rotate", "a stored value"},
    {"%r = subgroup_rotate %v, 1u32 clustered(16)\nstore %y[%i], %r\n", 8, "subgroup_rotate", "a stored value"},
    {"%r = subgroup_quad_broadcast %v, 4u32\nstore %y[%i], %r\n", 8, "subgroup_quad_broadcast", "a stored value"},
    {"if ne %i, 5u32 {\n%r = subgroup_quad_swap %v, 0u32\nstore %y[%i], %r\n}\n", 8, "subgroup_quad_swap", "invocation (4, 0, 0)"},
    {"%r = subgroup_add %v clustered(16)\nstore %y[%i], %r\n", 8, "subgroup_add", "a stored value"},
    {"%f = select(eq(%i, 6u32), nan(0x7fc00000)f32, 1.0f32)\n%r = subgroup_fmin %f inclusive\n"
     "store %y[%i], bitcast(%r : u32)\n",
     8, "subgroup_fmin", "invocation (6, 0, 0)"},
    {"%f = select(eq(%i, 6u32), nan(0x7fc00000)f32, 1.0f32)\n%r = subgroup_fmax %f exclusive\n"
     "store %y[%i], bitcast(%r : u32)\n",
     8, "subgroup_fmax", "invocation (7, 0, 0)"},
    {"%b = subgroup_inverse_ballot splat(%v : u32x4)\nstore %y[%i], select(%b, 1u32, 0u32)\n", 8, "subgroup_inverse_ballot",
     "a stored value"},
    {"%b = subgroup_ballot_bit subgroup_eq_mask, 8u32\nstore %y[%i], select(%b, 1u32, 0u32)\n", 8, "subgroup_ballot_bit",
     "a stored value"},
    {"%b = subgroup_ballot_findlsb splat(0u32 : u32x4)\nstore %y[%i], %b\n", 8, "subgroup_ballot_findlsb", "a stored value"},
    {"%b = subgroup_ballot_findmsb subgroup_gt_mask\nstore %y[%i], %b\n", 8, "subgroup_ballot_findmsb", "invocation (7, 0, 0)"},
    {BAD "%r = subgroup_add %bad\nstore %y[%i], %r\n", 8, "shl", "invocation (0, 0, 0)"},
    {BAD "%r = subgroup_add %bad inclusive\nstore %y[%i], %r\n", 8, "shl", "invocation (2, 0, 0)"},
    {BAD "%r = subgroup_add %bad exclusive\nstore %y[%i], %r\n", 8, "shl", "invocation (3, 0, 0)"},
    {BAD "%r = subgroup_add %bad clustered(2)\nstore %y[%i], %r\n", 8, "shl", "invocation (2, 0, 0)"},
    {BAD "%r = subgroup_shuffle_xor %bad, 1u32\nstore %y[%i], %r\n", 8, "shl", "invocation (3, 0, 0)"},
    {BAD "%r = subgroup_ballot eq(%bad, 0u32)\nstore %y[%i], %r.x\n", 8, "shl", "invocation (0, 0, 0)"},
    {"%r = subgroup_shuffle %v, ushr(%v, 32u32)\nstore %y[%i], %r\n", 8, "ushr", "a stored value"},
    {BAD "%r = subgroup_first %bad\nstore %y[%i], %r\n", 8, NULL, NULL},
    {BAD "%r = subgroup_elect\nstore %y[%i], select(%r, 1u32, 0u32)\n", 8, NULL, NULL},
    {BAD "if ne %i, 2u32 {\n%r = subgroup_add %bad\nstore %y[%i], %r\n}\n", 8, NULL, NULL},
    {"%r = subgroup_rotate %v, 1u32\nstore %y[%i], %r\n", 8, NULL, NULL},
    {"if ult %i, 20u32 {\n%r = subgroup_broadcast %v, 0u32\nstore %y[%i], %r\n}\n", 16, NULL, NULL},
};

TEST(undefined_results_are_reported)
{
  fill_values(small);
  for (size_t k = 0; k < sizeof reports / sizeof *reports; k++) {
    char text[8192];
    launch l = prepare(text, "relaxed", reports[k].text, reports[k].size);
    l.options.report_undefined = true;
    if (reports[k].op)
      launch_fails(&l, reports[k].op, "undefined", reports[k].where);
    else
      launch_ok(&l);
    l.options.report_undefined = false;
    launch_ok(&l);
    run(reports[k].text, reports[k].size);
  }
}
