/* `half` changes the results of relaxed rows only, and these as the interpreter computes them in f16.
 *
 * The test marks rows of a random program as relaxed.  It makes two programs of it: by the pass, and by itself, with each relaxed
 * row on its own between conversions.  Both give the same bits.  VYRE_SEED and VYRE_RUNS in the environment set the first seed and
 * the number of programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipelines.h"

#include "vyre/view.h"

static const char *const pipelines[] = {"half", "half,half", "half,dce,half", "half,default<O2>", "half,default<O3>"};

/* Changes that the pass must have made, at least once in `programs` programs. */
static const struct {
  const char *name;
  uint32_t programs;
} changes[] = {{"rows computed in f16", 1}, {"rows moved as f16", 4}, {"comparisons of f16", 30}};

/* The ops that are computed in f16 if they are relaxed. */
static const char *const computed[] = {
    "add",   "sub",      "mul",   "neg",       "fdiv",        "frem",    "fmod",    "fma",        "fabs",      "fsign",
    "fmin",  "fmax",     "nmin",  "nmax",      "fclamp",      "nclamp",  "convert", "round",      "roundeven", "trunc",
    "floor", "ceil",     "fract", "sqrt",      "rsqrt",       "radians", "degrees", "sin",        "cos",       "tan",
    "asin",  "acos",     "atan",  "sinh",      "cosh",        "tanh",    "asinh",   "acosh",      "atanh",     "exp",
    "exp2",  "log",      "log2",  "atan2",     "pow",         "step",    "fmix",    "smoothstep", "ldexp",     "dot",
    "norm",  "distance", "cross", "normalize", "faceforward", "reflect", "refract"};

static bool
is_computed(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  if (VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) != VYRE_F32 || (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_RELAXED) == 0 ||
      (op == VYRE_OP_convert && VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[v->a[row]])) == VYRE_F16))
    return false;
  for (size_t i = 0; i < sizeof computed / sizeof computed[0]; i++)
    if (strcmp(vyre_op_infos[op].text, computed[i]) == 0)
      return true;
  return false;
}

/* Marks most rows that compute or move floats. */
static void
relax_rows(vyre_module *module, uint64_t random)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t share = 1 + random_below(&random, 8);
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) == VYRE_F32 && vyre_op_of(v, row) >= VYRE_OP_join &&
        random_below(&random, 8) < share)
      vyre_row_rewrite(module, (vyre_row){row}, v->op[row] | VYRE_ROW(0, 0, VYRE_ROW_RELAXED), v->imm[row], v->imm_hi[row],
                       (vyre_row){v->a[row]}, (vyre_row){v->b[row]}, (vyre_row){v->c[row]});
}

static vyre_row
half_of(vyre_builder *b, uint32_t row)
{
  const vyre_type type = VYRE_ROW_TYPE(vyre_module_view(b->module)->op[row]);
  if (VYRE_TYPE_KIND(type) != VYRE_F32)
    return (vyre_row){row};
  return vyre_build_convert(b, VYRE_OP_convert, VYRE_TYPE(VYRE_F16, VYRE_TYPE_LANES(type)), (vyre_row){row});
}

/* Computes the row in f16 from converted operands, and converts the result. */
static void
round_row(vyre_module *module, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  vyre_builder b = {.module = module};
  vyre_builder_before(&b, (vyre_row){row});
  uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM)
    operands[1] = vyre_build_const(&b, type, vyre_row_imm(v, row)).id;
  vyre_row halves[3] = {{0}, {0}, {0}};
  for (int k = 0; k < 3; k++)
    if (operands[k])
      halves[k] = half_of(&b, operands[k]);
  const vyre_row half = vyre_build(&b, (vyre_opcode)vyre_op_of(v, row), VYRE_TYPE(VYRE_F16, VYRE_TYPE_LANES(type)), 0, 0, 0,
                                   halves[0], halves[1], halves[2]);
  vyre_row_rewrite(module, (vyre_row){row}, VYRE_ROW(VYRE_OP_convert, type, 0), 0, 0, half, VYRE_NONE, VYRE_NONE);
}

static vyre_module *
rounded(const vyre_module *module, uint32_t seed, uint64_t *count)
{
  vyre_module *copy;
  assert_ok(vyre_module_clone(module, &copy), "clone", seed);
  const vyre_view *v = vyre_module_view(copy);
  const bool may_change = (v->imm[v->first[0]] & VYRE_PROGRAM_FLOAT_MODES) == 0;
  for (uint32_t row = 1, rows = v->rows; row < rows && may_change; row++)
    if (is_computed(v, row)) {
      round_row(copy, row);
      ++*count;
    }
  assert_ok(vyre_module_seal(copy, NULL), "seal", seed);
  return copy;
}

/* Returns whether the program executes nothing undefined. */
static bool
is_defined(const vyre_module *module, uint32_t seed)
{
  memory unused;
  vyre_status status = random_program_run(module, seed, true, 0, &unused);
  const bool defined = !status;
  vyre_status_free(status);
  return defined;
}

static void
check(const vyre_module *module, const memory *wanted, const vyre_pipeline *pipeline, const char *text, uint32_t seed,
      vyre_report *report)
{
  const vyre_pipeline_options options = {
      .struct_size = sizeof options, .verify_each = true, .check_changed = true, .report = report};
  vyre_module *after;
  memory got;
  assert_ok(vyre_module_clone(module, &after), text, seed);
  assert_ok(vyre_pipeline_run(pipeline, after, &options), text, seed);
  run_program(after, seed, text, &got);
  if (memcmp(&got, wanted, sizeof got) != 0) {
    for (uint32_t i = 0; i < OUT_WORDS; i++)
      if (got.out[i] != wanted->out[i])
        print_error("seed %u, %s: out[%u] is 0x%08x, should be 0x%08x\n", seed, text, i, got.out[i], wanted->out[i]);
    print_module(module);
    print_module(after);
    fail();
  }
  vyre_module_destroy(after);
}

TEST(relaxed_rows_are_computed_in_f16)
{
  enum { COUNT = sizeof pipelines / sizeof pipelines[0] };
  vyre_pipeline *parsed[COUNT];
  vyre_registry *registry = parse_pipelines(pipelines, COUNT, parsed);
  uint32_t seed = budget_number("VYRE_SEED", 1), runs = budget_runs(400), different = 0;
  uint64_t count = 0;
  vyre_report *report;
  assert_null(vyre_report_create(NULL, &report));
  for (uint32_t end = seed + runs; seed != end; seed++) {
    vyre_module *module = random_module(seed, seed % 4 * RANDOM_RELAXED);
    memory exact, wanted;
    relax_rows(module, seed);
    run_program(module, seed, "as built", &exact);
    vyre_module *reference = rounded(module, seed, &count);
    run_program(reference, seed, "rounded", &wanted);
    different += memcmp(&exact, &wanted, sizeof exact) != 0;
    const bool defined = is_defined(reference, seed);
    for (uint32_t p = 0; p < COUNT; p++)
      if (defined || !strstr(pipelines[p], "default")) /* which may choose other values of undefined rows */
        check(module, &wanted, parsed[p], pipelines[p], seed, report);
    vyre_module_destroy(reference);
    vyre_module_destroy(module);
  }
  print_message("%llu rows, results of %u of %u programs\n", (unsigned long long)count, different, runs);
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    const uint64_t made = vyre_report_count(report, "half", changes[i].name);
    print_message("%llu %s\n", (unsigned long long)made, changes[i].name);
    assert_true(made * changes[i].programs > runs);
  }
  vyre_report_destroy(report);
  assert_true(count > runs);
  assert_true(different * 10 > runs);
  free_pipelines(registry, parsed, COUNT);
}
