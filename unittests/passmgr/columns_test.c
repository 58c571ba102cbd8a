/* Columns that passes provide.  They are computed for passes that require them, once while they are valid, and are hidden from
 * other passes.  Checks of changes compare and poison them.  Passes that may not provide columns are refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../pipeline.h"
#include "../test_allocator.h"
#include "passmgr/registry/context.h"

/* ---- the passes -------------------------------------------------------------------------------------------------------- */

/* The hash of a row is three times its number plus the mode of the program in the high half.  Classes follow from hashes.  Each
 * run appends a letter to `ran`. */

static char ran[100];
static size_t ran_count;
static bool leave_a_gap;
static uint32_t seen;        /* the hash of row 2 */
static const uint32_t *held; /* classes that a pass keeps after its run */

static void
note(char letter)
{
  assert_true(ran_count < sizeof(ran) - 1);
  ran[ran_count++] = letter;
  ran[ran_count] = '\0';
}

static uint32_t
hash_of(const vyre_view *v, uint32_t row)
{
  return 3 * row + (v->imm[row] << 16);
}

static vyre_status
run_hasher(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  note('h');
  assert_null(v->hash); /* the view has only required columns, not the column that the pass fills */
  assert_null(v->canonical);
  assert_null(ctx->host->column(ctx, VYRE_CLASSES)); /* provided by another pass */
  assert_null(ctx->host->column(ctx, VYRE_COLUMNS));
  assert_null(ctx->host->column(ctx, 0));
  uint32_t *hash = ctx->host->column(ctx, VYRE_HASHES);
  if (!hash)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 0; row < v->rows; row++)
    if (!leave_a_gap || row != 2)
      hash[row] = hash_of(v, row);
  return VYRE_OK;
}

static vyre_status
run_sorter(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  note('c');
  assert_non_null(v->hash);
  assert_null(v->canonical);
  seen = v->hash[2];
  uint32_t *canonical = ctx->host->column(ctx, VYRE_CLASSES);
  if (!canonical)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = 0; row < v->rows; row++)
    canonical[row] = (v->hash[row] & 0xffffu) / 3;
  return VYRE_OK;
}

static vyre_status
run_user(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  note('u');
  assert_null(v->hash);
  assert_non_null(v->canonical);
  assert_null(ctx->host->column(ctx, VYRE_CLASSES));
  held = v->canonical;
  for (uint32_t row = 0; row < v->rows; row++)
    assert_int_equal(v->canonical[row], row);
  return VYRE_OK;
}

static vyre_status
run_look(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  assert_null(v->hash);
  assert_null(v->canonical);
  seen = held ? held[1] : 0;
  return VYRE_OK;
}

/* Changes the mode of the program, and thereby the hash of its row. */
static vyre_status
run_change(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_CHANGED;
  ctx->host->rewrite(module, 1, v->op[1], v->imm[1] ^ VYRE_PROGRAM_RELAXED, 0, 0, 0, 0);
  return VYRE_OK;
}

static vyre_status
run_grow(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_CHANGED;
  ctx->host->constant(module, v->last[v->first[0]], VYRE_TYPE(VYRE_U32, 1), 1000 + v->rows);
  return VYRE_OK;
}

#define PASS(id, text, function, ...) \
  static const vyre_pass id = {.struct_size = sizeof(vyre_pass), .name = text, .summary = "s", .run = run_##function, __VA_ARGS__}
PASS(hasher, "hasher", hasher, .requires_ = VYRE_VERSIONS, .provides = VYRE_HASHES);
PASS(sorter, "sorter", sorter, .requires_ = VYRE_HASHES, .provides = VYRE_CLASSES);
PASS(user, "user", user, .requires_ = VYRE_CLASSES);
PASS(look, "look", look, .requires_ = VYRE_DOMINANCE);
PASS(change, "change", change, .preserves = VYRE_ANALYSES);
PASS(keep, "keep", change, .preserves = VYRE_ANALYSES | VYRE_CLASSES);
PASS(lie, "lie", change, .preserves = VYRE_ANALYSES | VYRE_COLUMNS);
PASS(grow, "grow", grow, .preserves = VYRE_ANALYSES | VYRE_COLUMNS);
PASS(spoiler, "spoiler", change, .provides = VYRE_HASHES);
VYRE_PLUGIN("t", "1", &hasher, &sorter, &user, &look, &change, &keep, &lie, &grow)

static const vyre_plugin *
query_alone(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&sorter, &user};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "alone", "1", 1, 1, passes, 2};
  (void)host;
  return &plugin;
}

static const vyre_plugin *
query_spoiler(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&spoiler};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "spoiler", "1", 1, 1, passes, 1};
  (void)host;
  return &plugin;
}

/* ---- running passes ------------------------------------------------------------------------------------------------------ */

static vyre_status
run_with(vyre_plugin_query query, const char *text, const vyre_pipeline_options *options)
{
  vyre_registry *registry = registry_with(query, "t.so", VYRE_ORIGIN_CORE);
  vyre_module *module = parse("program @p { }");
  ran_count = 0;
  ran[0] = '\0';
  vyre_status status = run_passes(registry, text, module, options);
  assert_null(vyre_module_view(module)->hash);
  assert_null(vyre_module_view(module)->canonical);
  vyre_module_destroy(module);
  vyre_registry_destroy(registry);
  return status;
}

static const vyre_pipeline_options checked = {.struct_size = sizeof checked, .verify_each = true, .check_changed = true};

static void
runs(const char *text, const char *expected)
{
  assert_ok(run_with(vyre_plugin_query_v1, text, NULL));
  assert_string_equal(ran, expected);
  assert_ok(run_with(vyre_plugin_query_v1, text, &checked));
}

static void
fails(vyre_plugin_query query, const char *text, const char *message)
{
  vyre_status status = run_with(query, text, &checked);
  assert_string_equal(vyre_status_text(status), message);
  vyre_status_free(status);
}

TEST(columns_are_computed_for_passes_that_require_them)
{
  runs("user", "hcu");
  runs("sorter", "hc");
  runs("hasher,sorter,user", "hcu"); /* the columns are computed once */
  runs("user,user", "hcuu");
  runs("sorter,look,user", "hcu"); /* a fresh column is hidden from a pass that does not require it */
}

TEST(a_change_invalidates_columns)
{
  runs("user,change,user", "hcuhcu");
  runs("user,keep,user", "hcuu");    /* classes are preserved, */
  runs("user,keep,sorter", "hcuhc"); /* hashes are not */
  runs("user,grow,user", "hcuhcu");  /* rows are renumbered, so no column is preserved */
}

TEST(a_column_that_is_wrongly_preserved_is_named)
{
  fails(vyre_plugin_query_v1, "user,lie",
        "the hash of @p (program) is recorded as 3, but it is 65539\n"
        "  after 'lie', which declares that it preserves this analysis\n"
        "  in pass 'lie', run 2 of the pipeline\n"
        "Fix: correct the pass, or remove the analysis from those that it preserves");
}

TEST(unfilled_cells_are_poisoned)
{
  leave_a_gap = true;
  vyre_status status = run_with(vyre_plugin_query_v1, "sorter", &checked);
  leave_a_gap = false;
  assert_null(status);
  assert_int_equal(seen, UINT32_MAX);
}

TEST(dropped_columns_are_poisoned)
{
  const vyre_pipeline_options unverified = {.struct_size = sizeof unverified,
                                            .check_changed = true}; /* verification would reuse the memory of columns */
  assert_null(run_with(vyre_plugin_query_v1, "user,look", &unverified));
  assert_int_equal(seen, 1);
  assert_null(run_with(vyre_plugin_query_v1, "user,change,look", &unverified));
  assert_int_equal(seen, UINT32_MAX);
}

TEST(a_provider_must_not_change_the_module)
{
  fails(query_spoiler, "spoiler",
        "pass 'spoiler' (t.so) provides a column, but reported that it changed the module\n"
        "  in pass 'spoiler', run 1 of the pipeline" VYRE_PASS_FIX);
}

TEST(a_required_column_without_provider_is_an_error)
{
  fails(query_alone, "user",
        "-passes:1:1: pass 'user' requires hashes, which no pass provides\n"
        "    user\n"
        "    ^~~~\n"
        "Fix: load a plugin that provides them");
}

static vyre_status
run_within(const vyre_allocator *allocator, void *registry)
{
  vyre_module *module;
  vyre_builder builder;
  ran_count = 0;
  VYRE_TRY(vyre_module_create(allocator, 4096, &module));
  vyre_build_program(module, "p", 0, vyre_module_add_input(module, "p"), &builder);
  vyre_status status = vyre_module_status(module);
  if (!status)
    status = run_passes(registry, "user,keep,user", module, &checked);
  vyre_module_destroy(module);
  return status;
}

TEST(every_allocation_may_fail)
{
  vyre_registry *registry = registry_with(vyre_plugin_query_v1, "t.so", VYRE_ORIGIN_CORE);
  assert_in_range(test_each_failure(run_within, registry, false, 1), 10, 1000);
  vyre_registry_destroy(registry);
}
