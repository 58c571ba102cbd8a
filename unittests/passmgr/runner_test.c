/* Runs of pipelines: order and counts compared with a model, results and claims of passes, analyses, folding, memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "../pipeline.h"
#include "../test_allocator.h"
#include "passmgr/registry/context.h"

/* ---- passes: each run appends a letter to `ran`; pass b reports a change while `changes` is not 0 ------------------------ */

static char ran[20000];
static size_t ran_count;
static uint32_t changes;

static void
note(char letter)
{
  assert_true(ran_count < sizeof(ran) - 1);
  ran[ran_count++] = letter;
  ran[ran_count] = '\0';
}

static vyre_status
run_a(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  note('a');
  ctx->host->count(ctx, "runs", 1);
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

static vyre_status
run_b(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  note('b');
  *out = changes ? VYRE_CHANGED : VYRE_UNCHANGED;
  changes -= changes > 0;
  return VYRE_OK;
}

static vyre_status
run_error(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  *out = VYRE_UNCHANGED;
  vyre_status first = ctx->host->error(ctx, 0, "not this one");
  (void)first;
  for (int i = 0; i < 40; i++) { /* more statuses than the manager keeps */
    vyre_status dropped = ctx->host->error(ctx, 0, "nor this");
    (void)dropped;
  }
  return ctx->host->error(ctx, 1000000, "it is broken"); /* not a row */
}

static vyre_status
run_dropped_error(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  vyre_status dropped = ctx->host->error(ctx, 0, "never mind");
  (void)dropped;
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

static vyre_status
run_foreign(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  static int nothing;
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return (vyre_status)(void *)&nothing;
}

/* Adds a row, but reports no change. */
static vyre_status
run_lie(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *view = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  ctx->host->constant(module, view->last[view->first[0]], VYRE_TYPE(VYRE_U32, 1), 123456);
  return VYRE_OK;
}

static vyre_status
run_grow(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *view = ctx->host->view(module);
  *out = VYRE_CHANGED;
  void *scratch = ctx->host->alloc(ctx, 100);
  if (!scratch)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < 40; i++)
    ctx->host->constant(module, view->last[view->first[0]], VYRE_TYPE(VYRE_U32, 1), 1000 + i);
  ctx->host->count(ctx, "rows", 40);
  return VYRE_OK;
}

static vyre_status
run_huge(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  *out = VYRE_UNCHANGED;
  return ctx->host->alloc(ctx, SIZE_MAX - 3) ? VYRE_OK : ctx->host->out_of_memory(ctx);
}

/* Asserts that allocated memory is zero and not shared, for any contents that earlier passes left. */
static vyre_status
run_scratch(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  static const size_t sizes[] = {100, 70000, 1, 300000, 65536};
  enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
  static size_t turn;
  unsigned char *memory[COUNT];
  (void)module;
  *out = VYRE_UNCHANGED;
  turn++;
  for (size_t i = 0; i < COUNT; i++) {
    const size_t size = sizes[(i + turn) % COUNT];
    memory[i] = ctx->host->alloc(ctx, size);
    assert_non_null(memory[i]);
    assert_true((uintptr_t)memory[i] % 16 == 0);
    for (size_t k = 0; k < size; k++)
      assert_int_equal(memory[i][k], 0);
    memset(memory[i], (int)i + 1, size);
  }
  for (size_t i = 0; i < COUNT; i++)
    for (size_t k = 0; k < sizes[(i + turn) % COUNT]; k++)
      assert_int_equal(memory[i][k], i + 1);
  return VYRE_OK;
}

/* Removes the last row of the first program. */
static vyre_status
run_cut(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *view = ctx->host->view(module);
  ctx->host->kill(module, view->last[view->first[0]]);
  *out = VYRE_CHANGED;
  return VYRE_OK;
}

/* Notes whether the table has removed rows. */
static vyre_status
run_look(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *view = ctx->host->view(module);
  bool any = false;
  for (uint32_t row = 1; row < view->rows; row++)
    any |= vyre_op_of(view, row) == VYRE_OP_null;
  note(any ? 'r' : 's');
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

#define PASS(id, text) static const vyre_pass id = {.struct_size = sizeof(vyre_pass), .name = text, .summary = "s", .run = run_##id}
PASS(a, "a");
PASS(b, "b");
PASS(error, "error");
PASS(dropped_error, "dropped-error");
PASS(foreign, "foreign");
PASS(lie, "lie");
PASS(grow, "grow");
PASS(huge, "huge");
PASS(scratch, "scratch");
PASS(cut, "remove");
PASS(look, "look");
#define SKIPS .struct_size = sizeof(vyre_pass), .flags = VYRE_PASS_SKIPS_REMOVED, .summary = "s", .run = run_look
static const vyre_pass skips = {SKIPS, .name = "skips"}, requires = {SKIPS, .name = "requires", .requires_ = VYRE_LOOPS};
VYRE_PLUGIN("t", "1", &a, &b, &error, &dropped_error, &foreign, &lie, &grow, &huge, &scratch, &cut, &look, &skips, &requires)

/* ---- setup --------------------------------------------------------------------------------------------------------------- */

static vyre_registry *registry;
static char warning[700];

static void
emit(void *user, const vyre_diagnostic *diagnostic)
{
  (void)user;
  assert_int_equal(diagnostic->severity, VYRE_WARNING);
  snprintf(warning, sizeof(warning), "%s", diagnostic->message);
}

static int
begin(void **state)
{
  (void)state;
  ran_count = 0;
  ran[0] = warning[0] = '\0';
  changes = 0;
  registry = registry_with(vyre_plugin_query_v1, "t.so", VYRE_ORIGIN_CORE);
  return 0;
}

static int
end(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

#define RUNNER_TEST(name) TEST_WITH(name, begin, end)

static vyre_module *
make_module(void)
{
  vyre_builder builder;
  vyre_module *module = new_module();
  vyre_build_program(module, "p", 0, vyre_module_add_input(module, "p"), &builder);
  return module;
}

static vyre_status
run_text(const char *text, const vyre_pipeline_options *options)
{
  vyre_module *module = make_module();
  vyre_status status = run_passes(registry, text, module, options);
  assert_true(status || vyre_module_is_sealed(module));
  vyre_module_destroy(module);
  return status;
}

static void
fails_with(const char *text, const vyre_pipeline_options *options, const char *message)
{
  vyre_status status = run_text(text, options);
  assert_string_equal(vyre_status_text(status), message);
  assert_error(status, VYRE_CODE_INPUT, "");
}

/* ---- order: random pipelines compared with a model ----------------------------------------------------------------------- */

typedef struct model {
  uint64_t random;
  uint32_t changes;
  uint32_t fixpoints; /* number of fixpoints around the current node */
  uint32_t epoch;     /* changes so far */
  char text[8000];
  char expected[sizeof(ran)];
  size_t expected_count;
} model;

typedef struct tree {
  char kind; /* a, b, ( group, r repeat, f fixpoint */
  uint32_t times;
  uint32_t settled; /* 1 + the epoch of its last run without a change, or 0 */
  struct tree *children[3];
  uint32_t count;
} tree;

static tree nodes[4000];
static uint32_t node_count;

static tree *
grow_tree(model *m, int depth)
{
  tree *t = &nodes[node_count++];
  *t = (tree){.kind = "aab(rf"[test_random(&m->random, depth > 0 ? 6 : 3)], .times = 1 + test_random(&m->random, 3)};
  if (t->kind == 'a' || t->kind == 'b')
    return t;
  t->count = 1 + test_random(&m->random, 3);
  for (uint32_t i = 0; i < t->count; i++)
    t->children[i] = grow_tree(m, depth - 1);
  return t;
}

static void
write_tree(const tree *t, char *text, size_t size)
{
  size_t used = strlen(text);
  if (t->kind == 'a' || t->kind == 'b') {
    snprintf(text + used, size - used, "%c", t->kind);
    return;
  }
  if (t->kind == 'r')
    snprintf(text + used, size - used, "repeat<%u>", t->times);
  if (t->kind == 'f')
    snprintf(text + used, size - used, "fixpoint<%u;quiet>", t->times);
  snprintf(text + strlen(text), size - strlen(text), "(");
  for (uint32_t i = 0; i < t->count; i++) {
    if (i)
      snprintf(text + strlen(text), size - strlen(text), ",");
    write_tree(t->children[i], text, size);
  }
  snprintf(text + strlen(text), size - strlen(text), ")");
}

static bool
model_run(model *m, tree *t)
{
  bool changed = false;
  if (t->kind == 'a' || t->kind == 'b') {
    if (m->fixpoints > 0 && t->settled == m->epoch + 1)
      return false;
    m->expected[m->expected_count++] = t->kind;
    if (t->kind == 'b' && m->changes > 0) {
      m->changes--;
      changed = true;
    }
    m->epoch += changed;
    t->settled = changed ? 0 : m->epoch + 1;
    return changed;
  }
  m->fixpoints += t->kind == 'f';
  uint32_t times = t->kind == '(' ? 1 : t->times;
  for (uint32_t round = 0; round < times; round++) {
    bool again = false;
    for (uint32_t i = 0; i < t->count; i++)
      again |= model_run(m, t->children[i]);
    changed |= again;
    if (t->kind == 'f' && !again)
      break;
  }
  m->fixpoints -= t->kind == 'f';
  return changed;
}

RUNNER_TEST(passes_run_in_the_order_of_a_model)
{
  static model m;
  m.random = 3;
  for (int i = 0; i < 300; i++) {
    node_count = 0;
    m.text[0] = '\0';
    m.expected_count = m.epoch = 0;
    tree *t = grow_tree(&m, 4);
    write_tree(t, m.text, sizeof(m.text));
    changes = m.changes = test_random(&m.random, 6);
    model_run(&m, t);
    m.expected[m.expected_count] = '\0';
    ran_count = 0;
    ran[0] = '\0';
    assert_null(run_text(m.text, NULL));
    assert_string_equal(ran, m.expected);
  }
}

RUNNER_TEST(fixpoint_reports_a_change_in_its_last_round)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options, .diagnostics = {emit, NULL}};
  changes = 100;
  assert_null(run_text("fixpoint<3>(a,b)", &options));
  assert_string_equal(ran, "ababab");
  assert_string_equal(warning, "fixpoint<max=3>(a,b) still changed the module in round 3");
  changes = 100;
  warning[0] = '\0';
  assert_null(run_text("fixpoint<3;quiet>(b)", &options));
  assert_string_equal(warning, "");
  changes = 2; /* settles in the last round */
  assert_null(run_text("fixpoint<3;on-limit=error>(b)", &options));
  changes = 100;
  fails_with("fixpoint<2;on-limit=error>(b)", &options,
             "fixpoint<max=2;on-limit=error>(b) still changed the module in round 2\nFix: raise max, or set on-limit=warn");
}

/* ---- results of passes --------------------------------------------------------------------------------------------------- */

RUNNER_TEST(errors_of_passes_are_reported)
{
  fails_with("a,error", NULL, "pass 'error': it is broken\n  in pass 'error', run 2 of the pipeline" VYRE_PASS_FIX);
  fails_with("foreign", NULL,
             "plugin 't' pass 'foreign' failed without a message\n  in pass 'foreign', run 1 of the pipeline" VYRE_PASS_FIX);
  fails_with("huge", NULL,
             "out of memory in pass 'huge'\n  in pass 'huge', run 1 of the pipeline\n"
             "Fix: close other programs, or raise the limit of memory (ulimit -v)");
  assert_null(run_text("dropped-error,a", NULL)); /* a status that the pass does not return is not an error */
  assert_string_equal(ran, "aa");
}

RUNNER_TEST(an_unreported_change_is_found)
{
  const vyre_pipeline_options checked = {.struct_size = sizeof checked, .check_changed = true};
  fails_with("lie", &checked,
             "pass 'lie' (t.so) reported that it changed nothing, but it changed the module\n  in pass 'lie', run 1 of the "
             "pipeline" VYRE_PASS_FIX);
}

RUNNER_TEST(passes_that_accept_removed_rows_run_before_the_seal)
{
  const vyre_pipeline_options twice = {.struct_size = sizeof twice, .run_twice = true};
  assert_null(run_text("grow,remove,skips,skips,look,skips", NULL));
  assert_string_equal(ran, "rrss");
  ran_count = 0;
  assert_null(run_text("grow,remove,look,remove,requires,repeat<2>(remove,skips),skips,remove,repeat<1>(skips)", NULL));
  assert_string_equal(ran, "ssrrss");
  ran_count = 0;
  assert_null(
      run_text("grow,remove,skips,requires,skips", NULL)); /* analyses need a seal, also after a pass that changed nothing */
  assert_string_equal(ran, "rss");
  ran_count = 0;
  assert_null(run_text("grow,skips,remove,grow,skips", NULL)); /* new rows need a seal */
  assert_string_equal(ran, "ss");
  ran_count = 0;
  assert_null(run_text("grow,remove,skips", &twice)); /* observed runs are sealed */
  assert_string_equal(ran, "ss");
}

RUNNER_TEST(scratch_memory_is_zero_and_not_shared)
{
  assert_null(run_text("repeat<20>(scratch,a,grow,scratch)", NULL));
}

RUNNER_TEST(runs_rounds_and_counters_are_reported)
{
  vyre_report *report;
  assert_null(vyre_report_create(NULL, &report));
  const vyre_pipeline_options options = {.struct_size = sizeof options, .report = report};
  changes = 3;
  assert_null(run_text("repeat<5>(a),fixpoint(b)", &options));
  assert_null(run_text("a", &options));
  assert_int_equal(vyre_report_count(report, "a", "runs"), 6);
  assert_int_equal(vyre_report_count(report, "b", "runs"), 0);
  assert_int_equal(vyre_report_count(report, "fixpoint", "rounds"), 4);
  vyre_report_add_time(report, "read", 0, 1000000);
  vyre_bytes text = {0};
  assert_null(vyre_report_times(report, &text));
  assert_non_null(strstr(text.data, "        6        0  a\n"));
  assert_non_null(strstr(text.data, "        4        3  b\n"));
  assert_non_null(strstr(text.data, "  (read)\n"));
  vyre_bytes_free(&text);
  vyre_report_destroy(report);
}

#define THREADS 4

static void *
run_in_thread(void *argument)
{
  vyre_module *module = make_module();
  vyre_status status = vyre_pipeline_run(argument, module, NULL);
  vyre_module_destroy(module);
  return status;
}

/* The threads run one pipeline on a module each. */
RUNNER_TEST(threads_share_a_pipeline)
{
  vyre_pipeline *pipeline;
  pthread_t threads[THREADS];
  static const char text[] = "repeat<50>(grow,no-op,verify)";
  assert_null(vyre_pipeline_parse(registry, text, sizeof(text) - 1, "-passes", &pipeline));
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, pipeline), 0);
  for (int i = 0; i < THREADS; i++) {
    void *status;
    assert_int_equal(pthread_join(threads[i], &status), 0);
    assert_string_equal(vyre_status_text(status), "");
  }
  vyre_pipeline_destroy(pipeline);
}

static vyre_status
observe_nothing(void *user, const vyre_observation *at)
{
  (void)user;
  (void)at;
  return VYRE_OK;
}

/* Runs with an allocator whose fail_at-th call fails, and with a report if `reported` is true.  Returns whether the run
 * succeeded. */
static bool
run_with_failure(test_memory *memory, uint64_t fail_at, bool reported)
{
  static const char text[] = "grow,repeat<2>(a,grow)";
  vyre_allocator allocator = test_allocator(memory, fail_at);
  vyre_registry *mine = NULL;
  vyre_pipeline *pipeline = NULL;
  vyre_module *module = NULL;
  vyre_report *report = NULL;
  vyre_builder builder;
  vyre_status status = vyre_registry_create(&allocator, &mine);
  if (!status)
    status = vyre_registry_add(mine, vyre_plugin_query_v1, "t.so", VYRE_ORIGIN_CORE);
  if (!status)
    status = vyre_pipeline_parse(mine, text, sizeof(text) - 1, "-passes", &pipeline);
  if (!status && reported)
    status = vyre_report_create(&allocator, &report);
  if (!status)
    status = vyre_module_create(&allocator, 4096, &module);
  if (!status) {
    vyre_build_program(module, "p", 0, vyre_module_add_input(module, "p"), &builder);
    status = vyre_module_status(module);
  }
  const vyre_pipeline_options options = {.struct_size = sizeof options, .report = report, .observe = observe_nothing};
  if (!status)
    status = vyre_pipeline_run(pipeline, module, &options);
  const bool success = !status;
  vyre_status_free(status);
  vyre_report_destroy(report);
  vyre_module_destroy(module);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(mine);
  assert_int_equal(memory->out, 0);
  return success;
}

RUNNER_TEST(every_allocation_may_fail)
{
  for (int reported = 0; reported < 2; reported++) {
    test_memory memory;
    uint64_t lost = 0, fail_at = 0;
    do {
      fail_at++;
      assert_true(fail_at < 2000);
      lost += run_with_failure(&memory, fail_at, reported) && memory.calls >= fail_at && memory.refused == 0;
    } while (memory.calls >= fail_at);
    assert_true(fail_at > 20);
    /* A failure without an error may only lose entries of a report. */
    assert_true(reported ? lost > 0 && lost < 16 : lost == 0);
  }
}

/* ---- folding ------------------------------------------------------------------------------------------------------------- */

static const vyre_host *host;

static const vyre_pass host_pass = {.struct_size = sizeof(vyre_pass), .name = "host", .summary = "s", .run = run_a};
static const vyre_pass *const host_passes[] = {&host_pass};
static const vyre_plugin host_plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "h", "1", 1, 1, host_passes, 1};

static const vyre_plugin *
host_query(const vyre_host *table)
{
  host = table;
  return &host_plugin;
}

/* Asserts that %r folds to lanes of the type in a program with the mode and the rows, or does not fold if the type is 0. */
static void
folds(const char *mode, const char *rows, vyre_type type, const uint64_t *lanes)
{
  char program[300];
  vyre_type got = 0;
  uint64_t values[4] = {0};
  snprintf(program, sizeof(program), "program @p %s { %s }", mode, rows);
  vyre_module *module = parse(program);
  if (host->fold(module, find_name(module, "r"), &got, values) != (type != 0) || got != type)
    fail_msg("%s: type 0x%x", program, got);
  for (uint32_t i = 0; type && i < VYRE_TYPE_LANES(type); i++)
    assert_int_equal(values[i], lanes[i]);
  vyre_module_destroy(module);
}

typedef struct fold_case {
  const char *rows;
  vyre_type type;
  uint64_t lanes[2];
} fold_case;

RUNNER_TEST(literals_fold)
{
  static const fold_case cases[] = {
      {"%r = add 2u32, 3u32", U32, {5}},
      {"%r = fdiv 0.5f32, 0.5f32", F32, {0x3f800000}},
      {"%r = ult 2u32, 3u32", BOOL, {1}},
      {"%r = select false, 2u32, 3u32", U32, {3}},
      {"%r = mul join(2u32, 3u32), join(0xffffffffu32, 2u32)", VYRE_TYPE(VYRE_U32, 2), {0xfffffffe, 6}},
      {"%p = join 2u32, 3u32 %r = lane %p, 1u32", U32, {3}},
      {"%p = umulx 0xffffffffu32, 0xffffffffu32 %r = part %p, 0", U32, {1}},
      {"%p = umulx 0xffffffffu32, 0xffffffffu32 %r = part %p, 1", U32, {0xfffffffe}},
      {"%r = bfi 0u32, 0xffffffffu32, tuple(4u32, 2u32)", U32, {0x30}},
      {"%r = umulx 0xffffffffu32, 0xffffffffu32", 0, {0}}, /* only its parts fold */
      {"%r = const 2u32", 0, {0}},
      {"%r = tuple 4u32, 2u32", 0, {0}},
      {"spec %r : u32 = 5u32 id(1)", 0, {0}},
      {"spec %s : u32 = 5u32 id(1) %r = add %s, 3u32", 0, {0}},
      {"%r = sin 0.5f32", 0, {0}}, /* computed by libm */
      {"%r = add 2u32, 3u32 deco(42)", 0, {0}},
  };
  assert_ok(vyre_registry_add(registry, host_query, "h.so", VYRE_ORIGIN_CORE));
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    folds("", cases[i].rows, cases[i].type, cases[i].lanes);
}

RUNNER_TEST(float_modes_prevent_only_folds_of_floats)
{
  static const char *const modes[] = {"flush_f16", "rtz_f16", "flush_f32", "rtz_f32", "flush_f64", "rtz_f64"};
  static const fold_case cases[] = {
      {"%r = mul 0.5f32, 0.5f32", 0, {0}},
      {"%r = flt 0.5f32, 0.5f32", 0, {0}},
      {"%r = convert 0.5f32 : u32", 0, {0}},
      {"%r = convert 2u32 : f32", 0, {0}},
      {"%r = bitcast 0.5f32 : u32", U32, {0x3f000000}},
      {"%r = mul 2u32, 2u32", U32, {4}},
  };
  assert_ok(vyre_registry_add(registry, host_query, "h.so", VYRE_ORIGIN_CORE));
  for (size_t mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++)
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
      folds(modes[mode], cases[i].rows, cases[i].type, cases[i].lanes);
}
