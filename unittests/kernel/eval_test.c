/* Compares the kernels' evaluator (passes/cf/eval.vir), compiled to C, to ir/eval.  Runs every op and kind on edge values and
 * random values, and unary ops of f16 on all values.
 *
 *   VYRE_TEST_POINTS=N        random points of each op and kind, ten times as many for two operands of f16; a long run has 10000000
 *   unit-kernel-eval [TEST]   runs only tests whose names match TEST
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include <time.h>

#include "eval/lanes.h"
#include "vyre/ir.h"
#include "vyre/phases.h"

enum { BATCH = 4096, MOST_EDGES = 256 };

extern const vyre_phases eval_cases_phases;

/* ---- running the kernel ----------------------------------------------------------------------------------------------------- */

static uint32_t given[7 * (BATCH + 1)], got[3 * (BATCH + 1)];
static uint32_t facts[16][VYRE_OP__COUNT];
static vyre_c_buffer buffers[16];
static double kernel_seconds, eval_seconds;
static uint64_t lane_count;

/* Returns the fact of an op whose name in kernel files is `word`: "op_" and a field of vyre_op_info.  Returns UINT32_MAX for other
 * names. */
static uint32_t
fact_of(const char *word, uint32_t op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  return strcmp(word, "op_flags") == 0      ? info->flags
         : strcmp(word, "op_klass") == 0    ? info->klass
         : strcmp(word, "op_rule") == 0     ? info->rule
         : strcmp(word, "op_fold") == 0     ? info->fold
         : strcmp(word, "op_mirrored") == 0 ? info->mirrored
         : strcmp(word, "op_compares") == 0 ? info->compares
                                            : UINT32_MAX;
}

static int
prepare(void **state)
{
  const vyre_phases *phases = &eval_cases_phases;
  const vyre_phase *phase = &phases->phases[0];
  (void)state;
  assert_in_range(phase->use_count, 1, 16);
  for (uint32_t i = 0; i < phase->use_count; i++) {
    const vyre_phase_memory *memory = &phases->memory[phase->uses[i]];
    for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
      facts[i][op] = fact_of(memory->name, op);
    buffers[i] = memory->kind == VYRE_MEMORY_FACT     ? (vyre_c_buffer){facts[i], sizeof facts[i]}
                 : strcmp(memory->name, "given") == 0 ? (vyre_c_buffer){given, sizeof given}
                                                      : (vyre_c_buffer){got, sizeof got};
  }
  return 0;
}

static double
seconds_now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Evaluates up to BATCH lanes.  Their results are in `got` from row 1 on. */
static void
run_kernel(vyre_opcode op, vyre_kind from, vyre_kind to, const uint64_t *x, const uint64_t *y, const uint64_t *z, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t *words = &given[7 * (i + 1)];
    const uint64_t lanes[3] = {x[i], y[i], z[i]};
    words[0] = (uint32_t)op | (uint32_t)from << 16 | (uint32_t)to << 24;
    for (uint32_t k = 0; k < 3; k++) {
      words[1 + 2 * k] = (uint32_t)lanes[k];
      words[2 + 2 * k] = (uint32_t)(lanes[k] >> 32);
    }
  }
  const vyre_c_dispatch dispatch = {{count, 1, 1}, 0, count, buffers};
  const double start = seconds_now();
  assert_int_equal(eval_cases_phases.phases[0].rows(&dispatch), 0);
  kernel_seconds += seconds_now() - start;
  lane_count += count;
}

static uint64_t
lane_got(uint32_t i)
{
  return (uint64_t)got[3 * (i + 1) + 2] << 32 | got[3 * (i + 1) + 1];
}

static void
compare(vyre_opcode op, vyre_kind from, vyre_kind to, const uint64_t *x, const uint64_t *y, const uint64_t *z, uint32_t count)
{
  uint64_t should[BATCH];
  run_kernel(op, from, to, x, y, z, count);
  const double start = seconds_now();
  const bool known = vyre_eval_lanes(op, from, to, x, y, z, should, count);
  eval_seconds += seconds_now() - start;
  const bool exact = known && vyre_op_infos[op].fold == VYRE_FOLD_EXACT;
  for (uint32_t i = 0; i < count; i++) {
    if ((got[3 * (i + 1)] != 0) != exact)
      fail_msg("%s of kind %u to %u is %sknown", vyre_op_infos[op].text, from, to, exact ? "not " : "");
    if (exact && lane_got(i) != should[i])
      fail_msg("%s of kind %u to %u: 0x%llx, 0x%llx, 0x%llx give 0x%llx, not 0x%llx", vyre_op_infos[op].text, from, to,
               (unsigned long long)x[i], (unsigned long long)y[i], (unsigned long long)z[i], (unsigned long long)lane_got(i),
               (unsigned long long)should[i]);
  }
}

/* ---- points ----------------------------------------------------------------------------------------------------------------- */

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t
random_bits(void)
{
  uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint64_t
random_points(void)
{
  const char *text = getenv("VYRE_TEST_POINTS");
  return text ? strtoull(text, NULL, 0) : 8000;
}

static uint64_t
mask_of(vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Bits of a float kind's fraction. */
static uint32_t
fraction_bits(vyre_kind kind)
{
  return kind == VYRE_F16 ? 10 : kind == VYRE_F32 ? 23 : 52;
}

/* Sets `edges` to powers of two, their neighbours, values halfway between two of a narrower kind, zeros, infinities and NaNs, with
 * both signs.  Returns their number. */
static uint32_t
float_edges(vyre_kind kind, uint64_t edges[MOST_EDGES])
{
  const uint32_t fraction = fraction_bits(kind), width = vyre_kind_bits(kind);
  const uint64_t infinity = ((UINT64_C(1) << (width - 1 - fraction)) - 1) << fraction, bias = infinity >> (fraction + 1);
  const int64_t exponents[] = {0, 1, -1, 10, -14, -15, -24, -25, 15, 16, 31, 32, 63, 64, -126, -149, 127};
  uint32_t count = 0;
  const uint64_t special[] = {0, 1, 2, 3, infinity - 1, infinity, infinity + 1, infinity | infinity >> 1};
  for (uint32_t i = 0; i < sizeof special / sizeof *special; i++)
    edges[count++] = special[i];
  for (uint32_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
    const int64_t field = exponents[i] + (int64_t)bias;
    if (field < 1 || field >= (int64_t)(infinity >> fraction))
      continue;
    const uint64_t power = (uint64_t)field << fraction;
    edges[count++] = power - 1;
    edges[count++] = power;
    edges[count++] = power + 1;
    edges[count++] = power | UINT64_C(1) << (fraction - 1);
  }
  const uint64_t least = UINT64_C(1) << fraction; /* the least normal number */
  edges[count++] = least - 1;
  edges[count++] = least;
  edges[count++] = least + 1;
  for (uint32_t i = 0, once = count; i < once; i++)
    edges[count++] = edges[i] | UINT64_C(1) << (width - 1);
  assert_in_range(count, 1, MOST_EDGES);
  return count;
}

static uint32_t
int_edges(vyre_kind kind, uint64_t edges[MOST_EDGES])
{
  const uint32_t width = vyre_kind_bits(kind);
  const uint32_t step = width > 16 ? 5 : 1;
  uint32_t count = 0;
  for (uint32_t bit = 0; bit < width; bit += step)
    for (int near = -1; near < 2; near++)
      edges[count++] = ((UINT64_C(1) << bit) + (uint64_t)(int64_t)near) & mask_of(kind);
  for (uint32_t i = 0; i < 3; i++) {
    edges[count++] = mask_of(kind) - i;
    edges[count++] = (mask_of(kind) >> 1) + i;
    edges[count++] = (width - 1 + i) & mask_of(kind);
  }
  return count;
}

/* Returns random bits, an edge or a neighbour of one, few set bits, a small integer, or a neighbour of `other` in value or
 * exponent. */
static uint64_t
random_lane(vyre_kind kind, uint64_t other, const uint64_t *edges, uint32_t edge_count)
{
  const uint64_t bits = random_bits(), mask = mask_of(kind);
  switch (bits >> 61) {
  case 0:
  case 1:
  case 2:
    return random_bits() & mask;
  case 3:
    return edges[(bits & 0xffff) % edge_count];
  case 4:
    return (edges[(bits & 0xffff) % edge_count] + (bits >> 16 & 15) - 8) & mask;
  case 5:
    return (other + (bits & 7) - 4) & mask;
  case 6:
    return (random_bits() & random_bits() & random_bits()) & mask;
  default:
    return kind >= VYRE_F16
               ? (other + (((bits & 127) - 64) << fraction_bits(kind)) + (random_bits() & random_bits() & 0xffff)) & mask
               : (bits & 0xff & mask);
  }
}

static uint32_t
edges_of(vyre_kind kind, uint64_t edges[MOST_EDGES])
{
  edges[0] = 0;
  edges[1] = 1;
  return kind == VYRE_BOOL ? 2 : vyre_kind_is_float(kind) ? float_edges(kind, edges) : int_edges(kind, edges);
}

/* Compares edges and random points.  Lanes that are not operands have garbage. */
static void
compare_points(vyre_opcode op, vyre_kind from, vyre_kind to, uint64_t random)
{
  uint64_t x[BATCH], y[BATCH], z[BATCH], edges[MOST_EDGES];
  const vyre_kind right = op == VYRE_OP_ubfe || op == VYRE_OP_sbfe ? VYRE_U32 : from; /* kind of offset and count */
  uint64_t right_edges[MOST_EDGES];
  const uint32_t edge_count = edges_of(from, edges), right_count = edges_of(right, right_edges);
  const bool unary = vyre_op_infos[op].operands == 1;
  const uint64_t of_edges = unary ? edge_count : (uint64_t)edge_count * right_count;
  for (uint64_t point = 0; point < of_edges + random;) {
    uint32_t count = 0;
    for (; count < BATCH && point < of_edges + random; count++, point++) {
      if (point < of_edges) {
        x[count] = edges[point % edge_count];
        y[count] = unary ? random_bits() : right_edges[point / edge_count];
      } else {
        x[count] = random_lane(from, 0, edges, edge_count);
        y[count] = unary ? random_bits() : random_lane(right, x[count], right_edges, right_count);
      }
      z[count] = vyre_op_infos[op].operands < 3 ? random_bits() : random_lane(right, y[count], right_edges, right_count);
    }
    compare(op, from, to, x, y, z, count);
  }
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------ */

static bool
is_plain(uint32_t op)
{
  return vyre_op_infos[op].text && vyre_eval_is_lanewise((vyre_opcode)op) && vyre_op_infos[op].fold == VYRE_FOLD_EXACT &&
         op != VYRE_OP_convert && op != VYRE_OP_select;
}

static void
compare_kind(vyre_kind kind)
{
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++) {
    if (!is_plain(op))
      continue;
    const bool is_pair_of_halves = kind == VYRE_F16 && vyre_op_infos[op].operands == 2;
    const vyre_kind to = vyre_op_infos[op].rule == VYRE_RULE_BOOL ? VYRE_BOOL : kind;
    const uint64_t lane[1] = {0};
    uint64_t out[1];
    if (!vyre_eval_lanes((vyre_opcode)op, kind, to, lane, lane, lane, out, 1)) {
      compare((vyre_opcode)op, kind, to, lane, lane, lane, 1);
      continue;
    }
    compare_points((vyre_opcode)op, kind, to, random_points() * (is_pair_of_halves ? 10 : 1));
  }
}

TEST(ops_of_narrow_integers_equal_ir_eval)
{
  for (uint32_t kind = VYRE_BOOL; kind <= VYRE_U16; kind++)
    compare_kind((vyre_kind)kind);
}

TEST(ops_of_integers_equal_ir_eval)
{
  for (uint32_t kind = VYRE_I32; kind <= VYRE_U64; kind++)
    compare_kind((vyre_kind)kind);
}

TEST(ops_of_f16_equal_ir_eval)
{
  compare_kind(VYRE_F16);
}

TEST(ops_of_f32_and_f64_equal_ir_eval)
{
  compare_kind(VYRE_F32);
  compare_kind(VYRE_F64);
}

TEST(unary_ops_of_all_f16_values_equal_ir_eval)
{
  uint64_t x[BATCH], garbage[BATCH];
  for (uint32_t half = 0; half < 65536; half += BATCH) {
    for (uint32_t i = 0; i < BATCH; i++) {
      x[i] = half + i;
      garbage[i] = random_bits();
    }
    for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
      if (is_plain(op) && vyre_op_infos[op].operands == 1)
        compare((vyre_opcode)op, VYRE_F16, vyre_op_infos[op].rule == VYRE_RULE_BOOL ? VYRE_BOOL : VYRE_F16, x, garbage, garbage,
                BATCH);
    for (uint32_t to = VYRE_BOOL; to < VYRE_KIND__COUNT; to++)
      compare(VYRE_OP_convert, VYRE_F16, (vyre_kind)to, x, garbage, garbage, BATCH);
    for (uint32_t from = VYRE_I8; from <= VYRE_U16; from++) {
      for (uint32_t i = 0; i < BATCH; i++)
        x[i] = (half + i) & mask_of((vyre_kind)from);
      for (uint32_t to = VYRE_F16; to <= VYRE_F64; to++)
        compare(VYRE_OP_convert, (vyre_kind)from, (vyre_kind)to, x, garbage, garbage, BATCH);
    }
  }
}

TEST(conversions_equal_ir_eval)
{
  const uint64_t lane[1] = {0};
  uint64_t out[1];
  for (uint32_t from = VYRE_BOOL; from <= VYRE_F64; from++)
    for (uint32_t to = 0; to < VYRE_KIND__COUNT; to++)
      if (vyre_eval_lanes(VYRE_OP_convert, (vyre_kind)from, (vyre_kind)to, lane, lane, lane, out, 1))
        compare_points(VYRE_OP_convert, (vyre_kind)from, (vyre_kind)to, random_points());
      else
        compare(VYRE_OP_convert, (vyre_kind)from, (vyre_kind)to, lane, lane, lane, 1);
}

TEST(selects_equal_ir_eval)
{
  uint64_t x[BATCH], y[BATCH], z[BATCH];
  for (uint32_t i = 0; i < BATCH; i++) {
    x[i] = random_bits() & 1;
    y[i] = random_bits();
    z[i] = random_bits();
  }
  for (uint32_t to = VYRE_BOOL; to <= VYRE_F64; to++)
    compare(VYRE_OP_select, VYRE_BOOL, (vyre_kind)to, x, y, z, BATCH);
}

/* Ops that libm computes, and ops that are not lane by lane, are not known. */
TEST(only_exact_ops_of_lanes_are_known)
{
  const uint64_t lane[1] = {0};
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      if (op != VYRE_OP_select)
        compare((vyre_opcode)op, (vyre_kind)kind, (vyre_kind)kind, lane, lane, lane, 1);
}

static int
report(void **state)
{
  (void)state;
  print_message("%llu lanes: %.1f ns a lane, ir/eval %.1f ns\n", (unsigned long long)lane_count,
                1e9 * kernel_seconds / (double)lane_count, 1e9 * eval_seconds / (double)lane_count);
  return 0;
}

int
main(int argc, char **argv)
{
  if (argc > 1)
    cmocka_set_test_filter(argv[1]);
  return test_run(prepare, report);
}
