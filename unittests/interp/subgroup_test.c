/* Subgroup rows: what each lane gets, and from which.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "subgroup_fixture.h"

static void
check_each(const char *what, uint32_t size, uint32_t (*want)(uint32_t i, uint32_t size))
{
  for (uint32_t i = 0; i < N; i++)
    if (results[i] != want(i, size))
      fail_msg("%s in subgroups of %u: invocation %u gets 0x%x, not 0x%x", what, size, i, results[i], want(i, size));
}

/* ---- built-ins ------------------------------------------------------------------------------------------------------ */

TEST(places_follow_the_index)
{
  static const uint32_t sizes[] = {1, 4, 16, 32, 64, 128};
  for (uint32_t k = 0; k < 6; k++) {
    const uint32_t size = sizes[k];
    run("store %y[%i], or(or(subgroup_lane, shl(subgroup_id, 8u32)), or(shl(subgroup_size, 16u32), shl(subgroups, 24u32)))\n",
        size);
    for (uint32_t i = 0; i < N; i++)
      assert_int_equal(results[i], i % size | i / size << 8 | size << 16 | (N + size - 1) / size << 24);
  }
  run("store %y[%i], subgroup_lane\n", 0);
  assert_int_equal(results[33], 1); /* 32 unless said otherwise */
}

TEST(masks_are_of_the_whole_subgroup)
{
  static const char *const names[] = {"eq", "ge", "gt", "le", "lt"};
  for (uint32_t k = 0; k < 5; k++)
    for (uint32_t size = 8; size <= 128; size *= 4)
      for (uint32_t word = 0; word < 4; word++) {
        char body[256];
        snprintf(body, sizeof body, "store %%y[%%i], lane(subgroup_%s_mask, %uu32)\n", names[k], word);
        run(body, size);
        for (uint32_t i = 0; i < N; i++) {
          uint32_t want = 0;
          for (uint32_t bit = 0; bit < 32; bit++) {
            const uint32_t lane = word * 32 + bit, own = i % size;
            const bool in[5] = {lane == own, lane >= own, lane > own, lane <= own, lane < own};
            want |= (uint32_t)(in[k] && lane < size) << bit;
          }
          assert_int_equal(results[i], want);
        }
      }
}

TEST(sizes_are_powers_of_two)
{
  for (uint32_t size = 3; size <= 256; size += size == 3 ? 253 : 1) {
    char text[8192];
    launch l = prepare(text, "", "store %y[%i], subgroup_size\n", size);
    launch_fails(&l, "a subgroup cannot have", "lanes", "power of two, 1 to 128");
  }
}

/* ---- votes and ballots ---------------------------------------------------------------------------------------------- */

static bool
votes(uint32_t i)
{
  return values[i] % 3 == 0;
}

/* The lowest word of the ballot of a subgroup, of those in `in`. */
static uint32_t
ballot_of(uint32_t i, uint32_t size, bool (*in)(uint32_t))
{
  uint32_t mask = 0;
  for (uint32_t k = i / size * size; k < (i / size + 1) * size && k < N; k++)
    mask |= (uint32_t)in(k) << (k % size);
  return mask;
}

static uint32_t
want_ballot(uint32_t i, uint32_t size)
{
  return ballot_of(i, size, votes);
}

TEST(ballots_count_those_who_are_there)
{
  fill_values(scattered);
  run("%b = subgroup_ballot eq(umod(%v, 3u32), 0u32)\nstore %y[%i], %b.x\n", 16);
  check_each("ballot", 16, want_ballot);
  run("%b = subgroup_ballot eq(umod(%v, 3u32), 0u32)\nstore %y[%i], %b.x\n", 32);
  check_each("ballot", 32, want_ballot);
  run("%b = subgroup_ballot true\nstore %y[%i], %b.y\n", 64); /* 40 of 64 lanes are there */
  assert_int_equal(results[7], 0xff);
}

TEST(masks_are_read_bit_by_bit)
{
  fill_values(scattered);
  run("%b = subgroup_ballot eq(umod(%v, 3u32), 0u32) %in = subgroup_inverse_ballot %b %five = subgroup_ballot_bit %b, 5u32\n"
      "%far = subgroup_ballot_bit %b, 16u32 %n = subgroup_ballot_count %b %up = subgroup_ballot_count %b inclusive\n"
      "%below = subgroup_ballot_count %b exclusive\n"
      "%all = subgroup_ballot_count splat(0xffffffffu32 : u32x4)\n" /* more bits than lanes */
      "%flags = or(select(%in, 1u32, 0u32), or(select(%five, 2u32, 0u32), select(%far, 4u32, 0u32)))\n"
      "store %y[%i], or(or(%flags, shl(%n, 4u32)), or(or(shl(%up, 10u32), shl(%below, 16u32)), shl(%all, 24u32)))\n",
      16);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t mask = ballot_of(i, 16, votes), lane = i % 16;
    const uint32_t n = (uint32_t)__builtin_popcount(mask), below = (uint32_t)__builtin_popcount(mask & ((1u << lane) - 1));
    const uint32_t up = below + (mask >> lane & 1);
    assert_int_equal(results[i], (mask >> lane & 1) | (mask >> 5 & 1) << 1 | n << 4 | up << 10 | below << 16 | 16u << 24);
  }
  run("%none = subgroup_ballot ne(%v, %v)\n"
      "store %y[%i], and(subgroup_ballot_findmsb(%none), subgroup_ballot_findlsb(%none))\n",
      16);
  assert_int_equal(results[0], UINT32_MAX);
  run("%t = subgroup_ballot uge(subgroup_lane, 3u32)\n"
      "store %y[%i], or(subgroup_ballot_findlsb(%t), shl(subgroup_ballot_findmsb(%t), 8u32))\n",
      16);
  assert_int_equal(results[0], 3 | 15 << 8);
  assert_int_equal(results[N - 1], 3 | 7 << 8); /* the last one has 8 lanes */
}

TEST(votes_are_of_active_lanes)
{
  fill_values(small);
  run("if ult %i, 20u32 {\n"
      "  %same = select(ult(%i, 16u32), 9u32, 3u32)\n"
      "  %all = subgroup_all ult(%i, 16u32)\n"
      "  %any = subgroup_any eq(%i, 18u32)\n"
      "  %eq = subgroup_alleq %same\n"
      "  %el = subgroup_elect\n"
      "  store %y[%i], or(or(select(%all, 1u32, 0u32), select(%any, 2u32, 0u32)), or(select(%eq, 4u32, 0u32), select(%el, 8u32, "
      "0u32)))\n"
      "} else {\n"
      "  store %y[%i], or(select(subgroup_alleq(%i), 4u32, 0u32), select(subgroup_elect(), 8u32, 0u32))\n"
      "}\n",
      16);
  for (uint32_t i = 0; i < 20; i++)
    assert_int_equal(results[i], (i < 16 ? 1 : 2) | 4 | (i == 0 || i == 16 ? 8 : 0));
  for (uint32_t i = 20; i < N; i++)
    assert_int_equal(results[i], i == 20 || i == 32 ? 8 : 0);
}

/* Zeros of both signs are equal, a NaN not even to itself, in any lane of a vector. */
TEST(floats_agree_as_numbers)
{
  run("%zero = select(ult(%i, 3u32), 0.0f32, -0.0f32) %nan = select(eq(%i, 17u32), nan(0x7fc00000)f32, 1.0f32)\n"
      "%a = subgroup_alleq %zero %b = subgroup_alleq join(%zero, %nan)\n"
      "store %y[%i], or(select(%a, 1u32, 0u32), select(%b, 2u32, 0u32))\n",
      16);
  for (uint32_t i = 0; i < N; i++)
    assert_int_equal(results[i], i / 16 == 1 ? 1 : 3);
}

/* ---- values of other lanes ------------------------------------------------------------------------------------------ */

typedef struct move {
  const char *text; /* of %v, given %k = a value of the lane's own */
  uint32_t (*source)(uint32_t lane, uint32_t k, uint32_t size);
} move;

static uint32_t
from_shuffle(uint32_t lane, uint32_t k, uint32_t size)
{
  (void)lane, (void)size;
  return k;
}
static uint32_t
from_xor(uint32_t lane, uint32_t k, uint32_t size)
{
  return k < size ? lane ^ k : size;
}
static uint32_t
from_up(uint32_t lane, uint32_t k, uint32_t size)
{
  return k <= lane ? lane - k : size;
}
static uint32_t
from_down(uint32_t lane, uint32_t k, uint32_t size)
{
  return k < size ? lane + k : size;
}
static uint32_t
from_rotate(uint32_t lane, uint32_t k, uint32_t size)
{
  return (lane + k) % size;
}
static uint32_t
from_rotate4(uint32_t lane, uint32_t k, uint32_t size)
{
  const uint32_t c = size < 4 ? size : 4;
  return lane / c * c + (lane % c + k) % c;
}
static uint32_t
from_quad(uint32_t lane, uint32_t k, uint32_t size)
{
  (void)size;
  return k < 4 ? lane / 4 * 4 + k : 1000;
}
static uint32_t
from_h(uint32_t lane, uint32_t k, uint32_t size)
{
  (void)k, (void)size;
  return lane ^ 1;
}
static uint32_t
from_v(uint32_t lane, uint32_t k, uint32_t size)
{
  (void)k, (void)size;
  return lane ^ 2;
}
static uint32_t
from_d(uint32_t lane, uint32_t k, uint32_t size)
{
  (void)k, (void)size;
  return lane ^ 3;
}

static const move moves[] = {
    {"subgroup_shuffle %v, %k", from_shuffle},
    {"subgroup_broadcast %v, %k", from_shuffle}, /* strict: each lane's own */
    {"subgroup_shuffle_xor %v, %k", from_xor},
    {"subgroup_shuffle_up %v, %k", from_up},
    {"subgroup_shuffle_down %v, %k", from_down},
    {"subgroup_rotate %v, %k", from_rotate},
    {"subgroup_rotate %v, %k clustered(4)", from_rotate4},
    {"subgroup_quad_broadcast %v, %k", from_quad},
    {"subgroup_quad_swap %v, 0u32", from_h},
    {"subgroup_quad_swap %v, 1u32", from_v},
    {"subgroup_quad_swap %v, 2u32", from_d},
};

/* All lanes, then every third asleep; indices near, far, and beyond everything. */
TEST(values_come_from_the_right_lane)
{
  static const uint32_t sizes[] = {1, 2, 8, 16, 64};
  static const char *const indices[] = {"umod(%v, 5u32)", "umod(%v, 70u32)", "0xffffffffu32", "not(%i)"};
  fill_values(scattered);
  for (size_t m = 0; m < sizeof moves / sizeof *moves; m++)
    for (uint32_t k = 0; k < 5; k++)
      for (uint32_t form = 0; form < 8; form++) {
        char body[512];
        const bool some = form >= 4;
        snprintf(body, sizeof body, "%%k = or(%s, 0u32)\n%s %%r = %s\n store %%y[%%i], %%r\n}\n", indices[form % 4],
                 some ? "if ne umod(%i, 3u32), 1u32 {" : "block {", moves[m].text);
        run(body, sizes[k]);
        for (uint32_t i = 0; i < N; i++) {
          const uint32_t key[4] = {values[i] % 5, values[i] % 70, UINT32_MAX, ~i}, size = sizes[k];
          const uint32_t from = moves[m].source(i % size, key[form % 4], size), j = i / size * size + from;
          const bool there = from < size && j < N && !(some && j % 3 == 1);
          const uint32_t want = some && i % 3 == 1 ? 0xeeeeeeeeu : there ? values[j] : 0;
          if (results[i] != want)
            fail_msg("%s in subgroups of %u, index %s: invocation %u gets %u, not %u", moves[m].text, size, indices[form % 4], i,
                     results[i], want);
        }
      }
}

static uint32_t
want_first(uint32_t i, uint32_t size)
{
  (void)size;
  return i < 5 ? 0xeeeeeeeeu : values[i < 16 ? 5 : i / 16 * 16];
}

TEST(first_is_the_lowest_active_lane)
{
  fill_values(scattered);
  run("if uge %i, 5u32 {\n  %r = subgroup_first %v\n  store %y[%i], %r\n}\n", 16);
  check_each("first", 16, want_first);
}

/* Vectors and other kinds move as they are. */
TEST(all_kinds_move)
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

/* ---- sums and the like ---------------------------------------------------------------------------------------------- */

typedef struct combiner {
  const char *op;
  uint32_t start;
  uint32_t (*step)(uint32_t x, uint32_t y);
} combiner;

static uint32_t
step_add(uint32_t x, uint32_t y)
{
  return x + y;
}
static uint32_t
step_mul(uint32_t x, uint32_t y)
{
  return x * y;
}
static uint32_t
step_umin(uint32_t x, uint32_t y)
{
  return x < y ? x : y;
}
static uint32_t
step_umax(uint32_t x, uint32_t y)
{
  return x > y ? x : y;
}
static uint32_t
step_and(uint32_t x, uint32_t y)
{
  return x & y;
}
static uint32_t
step_or(uint32_t x, uint32_t y)
{
  return x | y;
}
static uint32_t
step_xor(uint32_t x, uint32_t y)
{
  return x ^ y;
}

static const combiner combiners[] = {
    {"add", 0, step_add},   {"mul", 1, step_mul},          {"umin", UINT32_MAX, step_umin},
    {"umax", 0, step_umax}, {"and", UINT32_MAX, step_and}, {"or", 0, step_or},
    {"xor", 0, step_xor},
};

static uint32_t
combined(const combiner *c, uint32_t i, uint32_t size, uint32_t cluster, uint32_t group, bool some)
{
  const uint32_t begin = i / size * size + i % size / cluster * cluster;
  const uint32_t end = group == VYRE_GROUP_INCLUSIVE ? i + 1 : group == VYRE_GROUP_EXCLUSIVE ? i : begin + cluster;
  uint32_t sum = c->start;
  for (uint32_t j = begin; j < end && j < N && j < i / size * size + size; j++)
    if (!(some && j % 3 == 1))
      sum = c->step(sum, values[j]);
  return sum;
}

TEST(lanes_combine)
{
  static const char *const words[] = {"", "inclusive", "exclusive", "clustered(4)", "clustered(1)", "clustered(64)"};
  static const uint32_t clusters[] = {64, 64, 64, 4, 1, 64};
  fill_values(scattered);
  for (size_t m = 0; m < sizeof combiners / sizeof *combiners; m++)
    for (uint32_t size = 2; size <= 32; size *= 4)
      for (uint32_t form = 0; form < 12; form++) {
        const uint32_t word = form % 6, group = word < 3 ? word : VYRE_GROUP_CLUSTERED;
        const uint32_t cluster = clusters[word] < size ? clusters[word] : size;
        const bool some = form >= 6;
        char body[512];
        snprintf(body, sizeof body, "%s %%r = subgroup_%s %%v %s\n store %%y[%%i], %%r\n}\n",
                 some ? "if ne umod(%i, 3u32), 1u32 {" : "block {", combiners[m].op, words[word]);
        run(body, size);
        for (uint32_t i = 0; i < N; i++) {
          const uint32_t want = some && i % 3 == 1 ? 0xeeeeeeeeu : combined(&combiners[m], i, size, cluster, group, some);
          if (results[i] != want)
            fail_msg("subgroup_%s %s in subgroups of %u: invocation %u gets %u, not %u", combiners[m].op, words[word], size, i,
                     results[i], want);
        }
      }
}

/* Signed, narrow, wide, bool, vectors; what an exclusive scan starts with. */
TEST(all_kinds_combine)
{
  fill_values(scattered);
  run("%s8 = subgroup_smin bitcast(convert(%v : u8) : i8) %m64 = subgroup_smax sub(convert(%v : i64), 0x100000000i64) inclusive\n"
      "%b = subgroup_xor ult(umod(%v, 7u32), 3u32) %e8 = subgroup_smin bitcast(convert(%v : u8) : i8) exclusive\n"
      "%v2 = subgroup_add join(%v, %i) exclusive store %y[%i], convert(%s8 : u32)\n"
      "store %y[add(%i, 40u32)], convert(sub(%m64, -0x100000000i64) : u32)\n"
      "store %y[add(%i, 80u32)], or(select(%b, 1u32, 0u32), shl(and(convert(%e8 : u32), 255u32), 8u32))\n"
      "store %y[add(%i, 120u32)], xor(%v2.x, %v2.y)\n",
      8);
  for (uint32_t i = 0; i < N; i++) {
    int8_t least = INT8_MAX, before = INT8_MAX;
    uint32_t greatest = 0, odd = 0, sum = 0, sum_i = 0;
    for (uint32_t j = i / 8 * 8; j < i / 8 * 8 + 8; j++) {
      const int8_t own = (int8_t)(uint8_t)values[j];
      least = own < least ? own : least;
      before = j < i && own < before ? own : before;
      greatest = j <= i && values[j] > greatest ? values[j] : greatest;
      odd ^= values[j] % 7 < 3;
      sum += j < i ? values[j] : 0;
      sum_i += j < i ? j : 0;
    }
    assert_int_equal(results[i], (uint32_t)(int32_t)least);
    assert_int_equal(results[i + 40], greatest);
    assert_int_equal(results[i + 80], odd | (uint32_t)(uint8_t)before << 8);
    assert_int_equal(results[i + 120], sum ^ sum_i);
  }
}

static uint32_t
bits_of(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Rounded after each lane, from the lowest on: 2^24 + 1 + 1 is 2^24, 1 + 1 + 2^24 is not. */
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

TEST(minima_take_the_other_for_a_nan)
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

/* Lanes of all four words of a mask. */
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

/* Denormals are flushed on the way in and out, sums cut, as everywhere in such a program. */
TEST(float_modes_hold)
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
  assert_int_equal(results[5], 0); /* the sum of four would be no denormal */
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
