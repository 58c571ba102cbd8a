/* Classes agree with their definition for all hashes, bad hashes cost a bounded number of comparisons, and cse leaves no row that
 * is dominated by an equal one.
 *
 * classes_by_definition compares each row with every earlier class of its program, in quadratic time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_run.h"

#include "vyre/passmgr.h"

#define U32 VYRE_TYPE(VYRE_U32, 1)

/* ---- the definition ------------------------------------------------------------------------------------------------------ */

static bool
are_equal(const vyre_view *v, const uint32_t *canonical, uint32_t x, uint32_t y)
{
  const uint32_t xa = canonical[v->a[x]], xb = canonical[v->b[x]], ya = canonical[v->a[y]], yb = canonical[v->b[y]];
  const bool commutes = (vyre_op_info_of(v, VYRE_ROW_OP(v->op[x]))->flags & VYRE_OP_COMMUTES) != 0;
  return v->op[x] == v->op[y] && v->imm[x] == v->imm[y] && v->imm_hi[x] == v->imm_hi[y] && v->version[x] == v->version[y] &&
         ((xa == ya && xb == yb) || (commutes && xa == yb && xb == ya)) && canonical[v->c[x]] == canonical[v->c[y]];
}

static bool
may_be_equal(const vyre_view *v, uint32_t row)
{
  const vyre_op_info *info = vyre_op_info_of(v, VYRE_ROW_OP(v->op[row]));
  const bool is_read = (info->flags & VYRE_OP_READS) != 0 && (info->flags & VYRE_OP_IDENTITY) == 0;
  return ((info->flags & VYRE_OP_PURE) || is_read) && !(VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE));
}

static uint32_t *
classes_by_definition(const vyre_view *v)
{
  uint32_t *canonical = calloc(v->rows, sizeof *canonical);
  assert_non_null(canonical);
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    const uint32_t end = vyre_program_end(v, program);
    for (uint32_t row = program; row < end; row++) {
      canonical[row] = row;
      for (uint32_t x = program; x < row && canonical[row] == row && may_be_equal(v, row); x++)
        if (canonical[x] == x && may_be_equal(v, x) && are_equal(v, canonical, x, row))
          canonical[row] = x;
    }
  }
  return canonical;
}

/* ---- passes -------------------------------------------------------------------------------------------------------------- */

static uint64_t classes_seen, hashes_shared;

static vyre_status
run_check(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t *wanted = classes_by_definition(v);
  *out = VYRE_UNCHANGED;
  assert_memory_equal(v->canonical, wanted, v->rows * sizeof *wanted);
  for (uint32_t row = 0; row < v->rows; row++) {
    assert_int_equal(v->hash[row], v->hash[wanted[row]]);
    classes_seen += wanted[row] == row;
    for (uint32_t x = 0; x < row && wanted[row] == row; x++)
      hashes_shared += wanted[x] == x && v->hash[x] == v->hash[row] && vyre_program_of(v, x) == vyre_program_of(v, row);
  }
  free(wanted);
  return VYRE_OK;
}

/* Asserts that no row dominates an equal one. */
static vyre_status
run_merged(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  for (uint32_t y = 1; y < v->rows; y++)
    for (uint32_t x = 1; x < y; x++)
      if (v->canonical[x] == v->canonical[y])
        assert_false(vyre_row_dominates(v, x, y));
  return VYRE_OK;
}

static uint32_t hash_bits; /* number of bits of the bad hash */

static vyre_status
run_bad_hash(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t *hash = ctx->host->column(ctx, VYRE_HASHES);
  *out = VYRE_UNCHANGED;
  if (!hash)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 0; row < v->rows; row++)
    hash[row] = VYRE_ROW_OP(v->op[row]) & ((1u << hash_bits) - 1);
  return VYRE_OK;
}

static const vyre_pass check_pass = {.struct_size = sizeof(vyre_pass),
                                     .name = "check",
                                     .summary = "s",
                                     .requires_ = VYRE_VERSIONS | VYRE_HASHES | VYRE_CLASSES,
                                     .run = run_check};
static const vyre_pass merged_pass = {.struct_size = sizeof(vyre_pass),
                                      .name = "merged",
                                      .summary = "s",
                                      .requires_ = VYRE_CLASSES | VYRE_DOMINANCE,
                                      .run = run_merged};
static const vyre_pass bad_hash_pass = {
    .struct_size = sizeof(vyre_pass), .name = "bad-hash", .summary = "s", .provides = VYRE_HASHES, .run = run_bad_hash};

static const vyre_plugin *
query_checks(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&check_pass, &merged_pass};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "checks", "1", 1, VYRE_OPSET_VERSION, passes, 2};
  (void)host;
  return &plugin;
}

static const vyre_plugin *
query_bad_hash(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&bad_hash_pass};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "bad", "1", 1, VYRE_OPSET_VERSION, passes, 1};
  (void)host;
  return &plugin;
}

/* ---- running passes ------------------------------------------------------------------------------------------------------ */

static vyre_registry *
open_registry(bool bad_hash)
{
  vyre_registry *registry;
  assert_null(vyre_registry_create(NULL, &registry));
  assert_null(vyre_registry_add(registry, query_checks, "checks", VYRE_ORIGIN_CORE));
  assert_null(vyre_registry_load(registry, VYRE_TEST_PASSES "/cid.so", VYRE_ORIGIN_CORE));
  assert_null(vyre_registry_load(registry, VYRE_TEST_PASSES "/cse.so", VYRE_ORIGIN_CORE));
  if (bad_hash)
    assert_null(vyre_registry_add(registry, query_bad_hash, "bad", VYRE_ORIGIN_CORE));
  else
    assert_null(vyre_registry_load(registry, VYRE_TEST_PASSES "/shash.so", VYRE_ORIGIN_CORE));
  return registry;
}

static vyre_report *report;

static int
open_report(void **state)
{
  (void)state;
  assert_null(vyre_report_create(NULL, &report));
  hash_bits = 0;
  return 0;
}

static int
free_report(void **state)
{
  (void)state;
  vyre_report_destroy(report);
  return 0;
}

/* Defines a test that starts with an empty report and with hashes of 0 bits. */
#define CLASSES_TEST(name) TEST_WITH(name, open_report, free_report)

/* Runs the pipeline `text` on the module, and destroys the module. */
static void
run_over(const vyre_registry *registry, const char *text, vyre_module *module, uint32_t seed)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options, .check_changed = true, .report = report};
  vyre_pipeline *pipeline;
  assert_ok(vyre_module_seal(module, NULL), "seal", seed);
  assert_ok(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline), text, seed);
  assert_ok(vyre_pipeline_run(pipeline, module, &options), text, seed);
  vyre_pipeline_destroy(pipeline);
  vyre_module_destroy(module);
}

/* Begins a program whose first row is lindex. */
static vyre_module *
begin(vyre_builder *b, vyre_row *x)
{
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 1u << 20, &module));
  vyre_build_program(module, "p", 0, vyre_module_add_input(module, "p"), b);
  *x = vyre_build(b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  return module;
}

/* Returns a module of two random programs. */
static vyre_module *
make_random(uint32_t seed)
{
  vyre_module *module;
  assert_ok(vyre_module_create(NULL, 1u << 20, &module), "create", seed);
  random_program_build(module, seed, seed & 1);
  random_program_build(module, seed / 2, false);
  return module;
}

CLASSES_TEST(classes_agree_with_their_definition)
{
  vyre_registry *good = open_registry(false), *bad = open_registry(true);
  const uint32_t first = budget_number("VYRE_SEED", 1), runs = budget_runs(200);
  for (uint32_t seed = first; seed != first + runs; seed++)
    run_over(good, "check,cse,check,merged", make_random(seed), seed);
  print_message("%llu classes, %llu pairs of them with one hash\n", (unsigned long long)classes_seen,
                (unsigned long long)hashes_shared);
  assert_true(classes_seen > 50 * (uint64_t)runs);
  assert_true(hashes_shared <= 1 + classes_seen / 100000);
  for (uint32_t seed = first; seed != first + runs; seed++) {
    hash_bits = seed % 4; /* with 0 bits all hashes are equal */
    run_over(bad, "check,cse,merged", make_random(seed), seed);
  }
  vyre_registry_destroy(good);
  vyre_registry_destroy(bad);
}

/* Each pair of rows has one difference: the order of operands, the third operand, the type, a flag, a half of the literal, or
 * decorations. */
CLASSES_TEST(rows_with_one_difference_are_not_equal)
{
  static const char text[] =
      "program @p { %x = lindex %y = subgroup_lane %c = ult %x, %y %d = ult %y, %x %s0 = sub %x, %y %s1 = sub %y, %x\n"
      "%s2 = select %c, %x, %y %s3 = select %c, %y, %x %s4 = select %d, %y, %x %s5 = select %d, %y, %y\n"
      "%b0 = bitcast %x : f32 %b1 = bitcast %x : i32 %m0 = mul relaxed %x, %y %m1 = mul %x, %y %m2 = mul %y, %x deco(1)\n"
      "%m3 = mul %x, %y deco(1) %w = convert %x : u64 %a0 = add %w, 7u64 %a1 = add %w, 0x700000007u64 %a2 = add %w, 0x700000000u64 "
      "}";
  for (int bad = 0; bad < 2; bad++) {
    vyre_registry *registry = open_registry(bad);
    vyre_module *module;
    assert_null(vyre_module_create(NULL, 4096, &module));
    assert_null(vyre_text_parse(module, text, strlen(text), "p", (vyre_diagnostics){0}));
    hashes_shared = 0;
    run_over(registry, "check,cse", module, 0);
    assert_int_equal(vyre_report_count(report, "cse", "rows merged"), 0);
    assert_true(bad || hashes_shared == 0);
    vyre_registry_destroy(registry);
  }
}

/* All rows have the same hash and differ only in their high bits. */
CLASSES_TEST(bad_hashes_cost_a_bounded_number_of_comparisons)
{
  enum { ROWS = 20000, MOST_A_ROW = 24 + 192 };
  vyre_registry *bad = open_registry(true);
  vyre_builder b;
  vyre_row x;
  vyre_module *module = begin(&b, &x);
  for (uint32_t i = 0; i < ROWS; i++)
    vyre_build(&b, VYRE_OP_mul, U32, VYRE_ROW_IMM, i % (ROWS / 2) << 17, 0, x, VYRE_NONE, VYRE_NONE);
  run_over(bad, "cid,cse", module, 0);
  assert_int_equal(vyre_report_count(report, "cse", "rows merged"), ROWS / 2);
  assert_true(vyre_report_count(report, "cid", "comparisons") > ROWS);
  assert_true(vyre_report_count(report, "cid", "comparisons") < (uint64_t)MOST_A_ROW * ROWS);
  vyre_registry_destroy(bad);
}

/* Adds all pairs in both orders.  Each pair is found, also beyond the few slots of the table. */
CLASSES_TEST(either_order_is_found_among_rows_of_one_hash)
{
  enum { LEAVES = 12, PAIRS = LEAVES * (LEAVES - 1) / 2 };
  vyre_registry *bad = open_registry(true);
  vyre_builder b;
  vyre_row x;
  vyre_module *module = begin(&b, &x);
  vyre_row leaves[LEAVES];
  for (uint32_t i = 0; i < LEAVES; i++)
    leaves[i] = vyre_build_imm(&b, VYRE_OP_mul, x, i);
  for (uint32_t i = 0; i < LEAVES; i++)
    for (uint32_t k = 0; k < i; k++)
      vyre_build_binary(&b, VYRE_OP_add, leaves[k], leaves[i]);
  for (uint32_t i = 0; i < LEAVES; i++)
    for (uint32_t k = 0; k < i; k++)
      vyre_build_binary(&b, VYRE_OP_add, leaves[i], leaves[k]);
  run_over(bad, "check,cse", module, 0);
  assert_int_equal(vyre_report_count(report, "cse", "rows merged"), PAIRS);
  vyre_registry_destroy(bad);
}

/* Returns the hash that passes/simplify/values.c computes for a row with one operand and an immediate.  The test needs the same
 * hash so that its rows collide in one slot. */
static uint32_t
hash_in_simplify(uint32_t op, uint32_t imm, uint32_t a)
{
  const uint64_t words[3] = {op | (uint64_t)imm << 32, (uint64_t)a << 32, 0};
  uint64_t hash = 0;
  for (uint32_t i = 0; i < 3; i++) {
    hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return (uint32_t)hash;
}

/* All rows collide in one slot of simplify's table. */
CLASSES_TEST(simplify_finds_equal_rows_in_one_slot)
{
  enum { SUMS = 300, SLOTS = 1024 };
  vyre_registry *registry = open_registry(false);
  vyre_builder b;
  vyre_row x;
  vyre_module *module = begin(&b, &x);
  assert_null(vyre_registry_load(registry, VYRE_TEST_PASSES "/simplify.so", VYRE_ORIGIN_CORE));
  const uint32_t word = VYRE_ROW(VYRE_OP_add, U32, VYRE_ROW_IMM);
  for (uint32_t sums = 0, imm = 1; sums < SUMS; imm++)
    if (hash_in_simplify(word, imm, x.id) % SLOTS == 0) {
      vyre_build(&b, VYRE_OP_add, U32, VYRE_ROW_IMM, imm, 0, x, VYRE_NONE, VYRE_NONE);
      vyre_build(&b, VYRE_OP_add, U32, VYRE_ROW_IMM, imm, 0, x, VYRE_NONE, VYRE_NONE);
      sums++;
    }
  run_over(registry, "simplify", module, 0);
  assert_int_equal(vyre_report_count(report, "simplify", "rows removed"), SUMS);
  vyre_registry_destroy(registry);
}

/* With good hashes, a row is compared with its equals and with hardly any other row. */
CLASSES_TEST(good_hashes_cost_a_comparison_a_merge)
{
  vyre_registry *good = open_registry(false);
  for (uint32_t seed = 1; seed < 50; seed++)
    run_over(good, "cid,cse", make_random(seed), seed);
  const uint64_t merged = vyre_report_count(report, "cse", "rows merged");
  assert_true(merged > 500);
  assert_in_range(vyre_report_count(report, "cid", "comparisons"), merged, 3 * merged);
  vyre_registry_destroy(good);
}
