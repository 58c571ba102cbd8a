/* Compares the phases of cf and cid to their plain C: cf folds each op, and cid finds classes although many rows compete for few
 * slots.  forms_test.c compares the other passes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../pipeline.h"
#include "random_program.h"

#include "vyre/view.h"

/* Returns a registry with the pass `name`, and with `other` unless it is NULL. */
static vyre_registry *
load(const char *name, const char *other)
{
  vyre_registry *registry;
  char path[500];
  assert_ok(vyre_registry_create(NULL, &registry));
  snprintf(path, sizeof path, VYRE_TEST_PASSES "/%s.so", name);
  assert_ok(vyre_registry_load(registry, path, VYRE_ORIGIN_CORE));
  snprintf(path, sizeof path, VYRE_TEST_PASSES "/%s.so", other ? other : name);
  assert_ok(vyre_registry_load(registry, path, VYRE_ORIGIN_CORE));
  return registry;
}

static void
check_columns(uint32_t seed, const vyre_view *v, const vyre_view *w)
{
  const uint32_t *const columns[][2] = {{v->op, w->op}, {v->imm, w->imm}, {v->imm_hi, w->imm_hi},
                                        {v->a, w->a},   {v->b, w->b},     {v->c, w->c}};
  assert_int_equal(v->rows, w->rows);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    for (uint32_t row = 1; row < v->rows; row++)
      if (columns[i][0][row] != columns[i][1][row])
        fail_msg("seed %u: column %zu of row %u is %u, not %u", seed, i, row, columns[i][0][row], columns[i][1][row]);
}

/* ---- cf ------------------------------------------------------------------------------------------------------------------ */

/* Returns the bits of a literal: often a small or a negative number, or the float 1, otherwise random bits. */
static uint64_t
random_literal(uint64_t *random, vyre_kind kind)
{
  const uint64_t one = kind == VYRE_F16 ? 0x3c00 : kind == VYRE_F32 ? 0x3f800000 : UINT64_C(0x3ff0000000000000);
  const uint64_t mask = UINT64_MAX >> (64 - vyre_kind_bits(kind));
  switch (test_random(random, 4)) {
  case 0:
    return vyre_kind_is_float(kind) ? one : test_random(random, 5) & mask;
  case 1:
    return (0 - (uint64_t)test_random(random, 5)) & mask;
  default:
    return ((uint64_t)test_random(random, UINT32_MAX) << 32 ^ (uint64_t)test_random(random, UINT32_MAX) << 20 ^
            test_random(random, 1u << 20)) &
           mask;
  }
}

/* Replaces `of_8` in 8 of the loads, gets and built-ins by literals, so that their users can be folded. */
static void
make_literals(vyre_module *module, uint32_t seed, uint32_t of_8)
{
  const vyre_view *v = vyre_module_view(module);
  uint64_t random = seed;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
    const bool is_given = op == VYRE_OP_load || op == VYRE_OP_get || vyre_op_is_invocation(op);
    if (!is_given || !vyre_kind_is_scalar(VYRE_TYPE_KIND(type)) || test_random(&random, 8) >= of_8)
      continue;
    const uint64_t bits = random_literal(&random, VYRE_TYPE_KIND(type));
    vyre_row_rewrite(module, row_of(row), VYRE_ROW(VYRE_OP_const, type, 0), (uint32_t)bits, (uint32_t)(bits >> 32), VYRE_NONE,
                     VYRE_NONE, VYRE_NONE);
  }
}

/* Returns two random programs with many foldable rows. */
static vyre_module *
foldable(uint32_t seed)
{
  static const uint32_t of_8[] = {8, 8, 6, 3, 0};
  vyre_module *module = new_module();
  random_program_build(module, seed, RANDOM_WIDE | (seed & 1));
  random_program_build(module, seed / 2, seed & 2);
  assert_ok(vyre_module_seal(module, NULL));
  make_literals(module, seed, of_8[seed % (sizeof of_8 / sizeof *of_8)]);
  return module;
}

/* Stores the op of each row, or the op of the tuple if the row is a part. */
static void
note_ops(const vyre_view *v, uint32_t *out)
{
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    out[row] = VYRE_ROW_OP(v->op[op == VYRE_OP_part ? v->a[row] : row]);
  }
}

/* There are enough programs that every op with an exact fold is folded. */
TEST(phases_of_cf_fold_every_op_as_plain_c_does)
{
  enum { SEEDS = 1500 };
  static const char *const statistics[] = {"rows folded", "operands replaced"};
  vyre_registry *registry = load("cf", NULL);
  vyre_pipeline_options options[2] = {{.struct_size = sizeof *options}, {.struct_size = sizeof *options}};
  bool is_folded[VYRE_OP__COUNT] = {false};
  assert_ok(vyre_device_open(&vyre_target_cpu, &(vyre_target_options){.struct_size = sizeof(vyre_target_options), .threads = 1},
                             NULL, &options[0].device));
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    vyre_module *modules[2] = {foldable(seed), foldable(seed)};
    const vyre_view *v = vyre_module_view(modules[0]);
    uint32_t *ops = malloc(v->rows * sizeof *ops);
    note_ops(v, ops);
    for (uint32_t i = 0; i < 2; i++) {
      assert_ok(vyre_report_create(NULL, &options[i].report));
      assert_ok(run_passes(registry, "cf", modules[i], &options[i]));
    }
    check_columns(seed, v, vyre_module_view(modules[1]));
    for (uint32_t i = 0; i < 2; i++)
      assert_int_equal(vyre_report_count(options[0].report, "cf", statistics[i]),
                       vyre_report_count(options[1].report, "cf", statistics[i]));
    for (uint32_t row = 1; row < v->rows; row++)
      is_folded[ops[row]] |= VYRE_ROW_OP(v->op[row]) == VYRE_OP_const;
    free(ops);
    for (uint32_t i = 0; i < 2; i++) {
      vyre_report_destroy(options[i].report);
      vyre_module_destroy(modules[i]);
    }
  }
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    if (vyre_op_infos[op].fold == VYRE_FOLD_EXACT && !is_folded[op])
      fail_msg("%s was never folded", vyre_op_infos[op].text);
  assert_ok(vyre_device_close(options[0].device));
  vyre_registry_destroy(registry);
}

/* ---- cid ----------------------------------------------------------------------------------------------------------------- */

static uint32_t *classes; /* a copy by the last run of the pass `classes` */
static uint32_t left;     /* rows without a class after a round, summed over all rounds */

static vyre_status
see_classes(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  classes = malloc(v->rows * sizeof *classes);
  memcpy(classes, v->canonical, v->rows * sizeof *classes);
  return VYRE_OK;
}

/* Reduces the number of slots, so that rows collide. */
static vyre_status
crowd(vyre_pass_ctx *ctx, const vyre_module *module)
{
  (void)module;
  uint32_t *crowding = ctx->host->memory(ctx, "crowding", 1);
  if (!crowding)
    return ctx->host->out_of_memory(ctx);
  *crowding = 31;
  return VYRE_OK;
}

static vyre_status
note_left(vyre_pass_ctx *ctx, const vyre_module *module)
{
  (void)module;
  left += *ctx->host->memory(ctx, "left", 0);
  return VYRE_OK;
}

static const vyre_pass classes_pass = {
    .struct_size = sizeof(vyre_pass), .name = "classes", .summary = "s", .requires_ = VYRE_CLASSES, .run = see_classes};
static vyre_pass crowded_pass; /* the phases of cid with few slots */

static const vyre_plugin *
query_classes(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&classes_pass};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "t", "1", 1, VYRE_OPSET_VERSION, passes, 1};
  (void)host;
  return &plugin;
}

static const vyre_plugin *
query_crowded(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&crowded_pass};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "u", "1", 1, VYRE_OPSET_VERSION, passes, 1};
  (void)host;
  return &plugin;
}

/* Returns a registry in which the crowded pass provides classes. */
static vyre_registry *
load_crowded(const vyre_registry *plain)
{
  for (uint32_t i = 0; i < vyre_registry_pass_count(plain); i++)
    if (strcmp(vyre_registry_pass(plain, i).pass->name, "cid") == 0)
      crowded_pass = *vyre_registry_pass(plain, i).pass;
  crowded_pass.name = "crowded";
  crowded_pass.long_name = NULL;
  crowded_pass.run = NULL;
  crowded_pass.prepare = crowd;
  crowded_pass.finish = note_left;
  vyre_registry *registry = load("shash", NULL);
  assert_ok(vyre_registry_add(registry, query_crowded, "u.so", VYRE_ORIGIN_CORE));
  return registry;
}

/* Rows of few slots collide again and again, and a round finds at most one class of each program and level. */
TEST(phases_of_cid_find_the_classes_of_crowded_rows)
{
  const uint32_t seeds = budget_part(50);
  vyre_registry *plain = load("cid", "shash"), *crowded = load_crowded(plain);
  uint32_t merged = 0, all = 0;
  assert_ok(vyre_registry_add(plain, query_classes, "t.so", VYRE_ORIGIN_CORE));
  assert_ok(vyre_registry_add(crowded, query_classes, "t.so", VYRE_ORIGIN_CORE));
  for (uint32_t seed = 1; seed <= seeds; seed++) {
    vyre_module *module = foldable(seed);
    assert_ok(run_passes(plain, "classes", module, NULL));
    uint32_t *wanted = classes;
    assert_ok(run_passes(crowded, "classes", module, NULL));
    const uint32_t rows = vyre_module_view(module)->rows;
    assert_memory_equal(classes, wanted, rows * sizeof *classes);
    for (uint32_t row = 1; row < rows; row++)
      merged += classes[row] != row;
    all += rows;
    free(wanted);
    free(classes);
    vyre_module_destroy(module);
  }
  assert_true(merged > 3 * seeds);
  assert_true(left > 2 * all);
  vyre_registry_destroy(crowded);
  vyre_registry_destroy(plain);
}
