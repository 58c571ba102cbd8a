/* Compares each pure op on each kind and under each float mode, as PTX in the simulator, to the interpreter.  Results have equal
 * bits, except for functions such as sin and pow, which are within the bounds of bounds.h.  Float ops also run on all
 * combinations of extreme values.  ptxas compiles each op.
 *
 * A program is one op (op_program.h).  Ops that take a literal have a second program with one.
 *
 *   VYRE_RUNS=N               ptxas compiles each op for N architectures; the default is one, in turn
 *   VYRE_PARTS=N VYRE_PART=K  runs only part K of N parts of the programs
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"
#include "op_program.h"
#include "ptxas.h"
#include "run_ptx.h"

#include "eval/scalar.h"

#include "vyre/verify.h"

#include <math.h>

#define FLUSH   (VYRE_PROGRAM_FLUSH_16 | VYRE_PROGRAM_FLUSH_32 | VYRE_PROGRAM_FLUSH_64)
#define TO_ZERO (VYRE_PROGRAM_TO_ZERO_16 | VYRE_PROGRAM_TO_ZERO_32 | VYRE_PROGRAM_TO_ZERO_64)

static const uint32_t architectures[] = {75, 80, 90, 100};
/* The last two are modes of one kind, so a conversion between kinds has different modes on both sides. */
static const uint32_t modes[] = {0, FLUSH, TO_ZERO, FLUSH | TO_ZERO, VYRE_PROGRAM_TO_ZERO_32, VYRE_PROGRAM_FLUSH_32};

/* ---- results ---------------------------------------------------------------------------------------------------------------- */

/* Returns `x`, or the greatest number instead of infinity.  Rounding toward zero returns it for an overflow. */
static double
bounded(vyre_kind kind, double x)
{
  const double greatest = kind == VYRE_F64 ? 0x1.fffffffffffffp1023 : kind == VYRE_F32 ? 0x1.fffffep127 : 65504.0;
  return isinf(x) ? copysign(greatest, x) : x;
}

/* Returns whether `is` is near enough to libm's result `want` for operands `x` and `y`.  An f32 may differ by the bounds of
 * bounds.h, an f16 by its last bit, and an f64 by a few bits.  Rounding toward zero adds a unit in the last place. */
static bool
is_near(vyre_opcode op, vyre_kind kind, uint32_t mode, uint64_t is, uint64_t want, uint64_t x, uint64_t y)
{
  const bool cut = (mode & vyre_mode_to_zero(kind)) != 0, flush = (mode & vyre_mode_flush(kind)) != 0;
  double a = double_of_lane(kind, is), b = double_of_lane(kind, want);
  const double angle = double_of_lane(kind, x), ulps = ulps_of(op) + (cut ? 1.5 : 0.5);
  const double step = kind == VYRE_F64 ? 0x1p-50 : kind == VYRE_F32 ? ulps * 0x1p-23 : cut ? 0x1p-9 : 0x1p-10;
  double least = kind == VYRE_F64 ? 0x1p-1050 : kind == VYRE_F32 ? 0x1p-149 : 0x1p-24;
  const bool turns = op == VYRE_OP_sin || op == VYRE_OP_cos || op == VYRE_OP_tan;
  if (cut) {
    a = bounded(kind, a);
    b = bounded(kind, b);
  }
  if (flush)
    least = kind == VYRE_F64 ? 0x1p-1022 : kind == VYRE_F32 ? 0x1p-126 : 0x1p-14;
  if (is == want || (turns && kind == VYRE_F64 && fabs(angle) >= 0x1p30))
    return true;
  if (op == VYRE_OP_pow && (isnan(angle) || isnan(double_of_lane(kind, y)))) /* libm's 1^NaN and NaN^0 are 1 of quiet NaNs only */
    return true;
  if (isnan(a) || isnan(b) || isinf(b) || isinf(a))
    return op == VYRE_OP_pow && isinf(a) != isinf(b) && !isnan(a) && !isnan(b) && fabs(isinf(a) ? b : a) > 1e300;
  if (op == VYRE_OP_pow && kind == VYRE_F64) /* the error grows with the exponent */
    return fabs(a - b) <= fabs(b) * 0x1p-41 + least;
  return fabs(a - b) <= fabs(b) * step * 1.01 + least * 1.01 + (turns && kind == VYRE_F64 ? 0x1p-53 : 0.0);
}

static void
check_result(const op_trial *t, const op_memory *m, const op_memory *wanted, uint32_t invocation)
{
  const bool open = t->op >= VYRE_OP_sin && t->op <= VYRE_OP_pow;
  for (uint32_t p = 0; p < t->parts; p++)
    for (uint32_t i = 0; i < VYRE_TYPE_LANES(t->part_types[p]); i++) {
      const vyre_kind kind = VYRE_TYPE_KIND(t->part_types[p]);
      const uint64_t is = op_memory_result(m, t, invocation, p, i), want = op_memory_result(wanted, t, invocation, p, i);
      const vyre_value *v = t->sample.values[0], *w = t->sample.values[1];
      if (is == want || (open && is_near(t->op, kind, t->modes, is, want, v->lane[i], w->lane[i])))
        continue;
      fail_msg("%s of %u, modes %u, lanes %u%s: 0x%llx, not 0x%llx, of 0x%llx 0x%llx 0x%llx", vyre_op_infos[t->op].text, t->kind,
               t->modes, VYRE_TYPE_LANES(t->part_types[p]), t->literal ? ", a literal" : "", (unsigned long long)is,
               (unsigned long long)want, (unsigned long long)v->lane[i], (unsigned long long)w->lane[i],
               (unsigned long long)t->sample.values[2][0].lane[i]);
    }
}

/* Sets x and n so that x * 2^n is next to the middle of two denormal f64 numbers. */
static void
near_middle(vyre_value *x, vyre_value *n, uint32_t lane)
{
  const uint64_t more = eval_random() % 16, kept = eval_random() & 0x3fff;
  x->lane[lane] = (43 + more) << 52 | kept << 38 | UINT64_C(1) << 37 | (eval_random() & 1);
  n->lane[lane] = (uint32_t)-80 - (uint32_t)more;
}

/* Sets the operands to random bits.  In some turns, they are near each other, or ldexp gets exponents with finite results. */
static void
randomize(op_trial *t, uint32_t run, uint32_t turn)
{
  eval_sample *s = &t->sample;
  (void)run;
  const vyre_kind kind = op_operand_kind(&s->operands[0]);
  const uint32_t most = kind == VYRE_F64 ? 2200 : 300;
  const bool near = turn % 4 == 1 && s->operands[1].value && op_operand_kind(&s->operands[1]) == kind;
  eval_randomize(s);
  for (uint32_t k = 0; k < 16; k++)
    if (t->op == VYRE_OP_ldexp && turn % 8 == 7 && kind == VYRE_F64)
      near_middle(&s->values[0][k / 4], &s->values[1][k / 4], k % 4);
    else if (t->op == VYRE_OP_ldexp && turn % 2)
      s->values[1][k / 4].lane[k % 4] = (uint32_t)(eval_random() % (2 * most)) - most;
    else if (near)
      s->values[1][k / 4].lane[k % 4] = eval_cut(kind, s->values[0][k / 4].lane[k % 4] ^ eval_random() >> (64 - turn));
  for (uint32_t k = 0; k < 4 && t->literal; k++)
    s->values[1][0].lane[k] = t->bits;
}

/* Compiles the program of a trial, and compares `runs` runs.  `set` chooses the operands of each invocation. */
static void
check_trial(vyre_module *module, op_trial *t, uint32_t seed, uint32_t runs,
            void (*set)(op_trial *t, uint32_t run, uint32_t invocation))
{
  static op_memory m, wanted;
  static op_trial all[OP_INVOCATIONS];
  const uint32_t sm = architectures[seed % 4];
  vyre_bytes text = {0};
  vyre_binding bindings[OP_BINDINGS];
  vyre_module_clear(module);
  op_program_build(module, t, 0);
  assert_ok(vyre_module_seal(module, NULL), "seal");
  vyre_dispatch dispatch = {.program = {vyre_module_view(module)->first[0]}, .groups = {OP_INVOCATIONS / 32, 1, 1}};
  write_ptx(module, dispatch.program.id, sm, &text);
  ptx_program ptx = parse_ptx(&text, sm);
  for (uint32_t run = 0; run < runs; run++) {
    for (uint32_t i = 0; i < OP_INVOCATIONS; i++) {
      set(t, run, i);
      op_memory_put(&m, t, i);
      all[i] = *t;
    }
    wanted = m;
    op_memory_bind(&wanted, module, &dispatch, bindings);
    assert_ok(vyre_interp_run(module, &dispatch, NULL, NULL), vyre_op_infos[t->op].text);
    op_memory_bind(&m, module, &dispatch, bindings);
    assert_int_equal(run_ptx(&ptx, module, &dispatch, seed, false, vyre_op_infos[t->op].text), 0);
    for (uint32_t i = 0; i < OP_INVOCATIONS; i++)
      check_result(&all[i], &m, &wanted, i);
  }
  free_ptx(&ptx);
  vyre_bytes_free(&text);
}

/* ---- all ops ---------------------------------------------------------------------------------------------------------------- */

typedef struct gathered {
  vyre_module *module;
  uint32_t count;
} gathered;

static void
run_one(void *user, op_trial *t)
{
  gathered *all = user;
  if (all->count % budget_number("VYRE_PARTS", 1) == budget_number("VYRE_PART", 0))
    check_trial(all->module, t, all->count, 1, randomize);
  all->count++;
}

static void
add_one(void *user, op_trial *t)
{
  gathered *all = user;
  op_program_build(all->module, t, all->count++);
}

TEST(each_op_computes_the_same_as_the_interpreter)
{
  gathered all = {0};
  assert_ok(vyre_module_create(NULL, 0, &all.module), "module");
  for (uint32_t i = 0; i < sizeof modes / sizeof *modes; i++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      op_trial_for_each(run_one, &all, modes[i], (vyre_kind)kind, true);
  print_message("%u programs of one op\n", all.count);
  vyre_module_destroy(all.module);
}

static void
run_extremes(void *user, op_trial *t)
{
  gathered *all = user;
  if (vyre_kind_is_float(VYRE_TYPE_KIND(t->part_types[0])) || vyre_kind_is_float(t->kind))
    if (all->count++ % budget_number("VYRE_PARTS", 1) == budget_number("VYRE_PART", 0))
      check_trial(all->module, t, all->count, op_extreme_runs(t), op_extreme_operands);
}

/* Random operands almost never have both a very large and a very small exponent. */
TEST(float_ops_equal_the_interpreter_on_all_combinations_of_extreme_values)
{
  gathered all = {0};
  assert_ok(vyre_module_create(NULL, 0, &all.module), "module");
  for (uint32_t i = 0; i < sizeof modes / sizeof *modes; i++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      op_trial_for_each(run_extremes, &all, modes[i], (vyre_kind)kind, false);
  print_message("%u programs of one float op\n", all.count);
  vyre_module_destroy(all.module);
}

TEST(ptxas_compiles_each_op)
{
  const uint32_t runs = budget_number("VYRE_RUNS", 1);
  gathered all = {0};
  if (!needs_ptxas())
    return;
  assert_ok(vyre_module_create(NULL, 0, &all.module), "module");
  for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
    for (uint32_t i = 0; i < runs && i < 4; i++) {
      const uint32_t sm = architectures[(kind + i) % 4];
      vyre_bytes text = {0};
      ptxas_result result;
      vyre_module_clear(all.module);
      all.count = 0;
      op_trial_for_each(add_one, &all, modes[(kind + i) % 4], (vyre_kind)kind, true);
      assert_ok(vyre_module_seal(all.module, NULL), "seal");
      write_ptx(all.module, 0, sm, &text);
      check_ptxas(text.data, text.size, sm, "-O1", "all ops of a kind", &result);
      vyre_bytes_free(&text);
    }
  vyre_module_destroy(all.module);
}

int
main(int argc, char **argv)
{
  (void)argv;
  return run_ptx_tests(argc);
}
