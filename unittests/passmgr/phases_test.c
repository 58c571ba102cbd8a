/* Passes with phases: their descriptors, their memory, and the results of their steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../pipeline.h"

/* ---- a pass of one phase ------------------------------------------------------------------------------------------------- */

enum { OP, LEVEL, FLAGS, SIDE, TABLE, COUNTER, MANY, VERDICT, MEMORIES };

static uint32_t calls, rows_seen;
static bool writes_op;
static uint32_t least_turns; /* number of calls in which the phase adds to its counter */

/* A phase as if compiled to C: its buffers are in the order of its uses. */
static uint32_t
touch(const vyre_c_dispatch *d)
{
  uint32_t *op = d->buffers[OP].data, *counter = d->buffers[COUNTER].data;
  const uint32_t *level = d->buffers[LEVEL].data, *flags = d->buffers[FLAGS].data;
  calls++;
  rows_seen += (uint32_t)d->count;
  assert_true(d->buffers[OP].bytes == d->buffers[LEVEL].bytes);
  assert_true(d->buffers[SIDE].bytes == 2 * d->buffers[OP].bytes);
  assert_true(d->buffers[MANY].bytes == 5 * sizeof(uint32_t));
  assert_int_equal(*(uint32_t *)d->buffers[VERDICT].data, UINT32_MAX);
  assert_int_equal(flags[VYRE_OP_add], vyre_op_infos[VYRE_OP_add].flags);
  assert_int_equal(((uint32_t *)d->buffers[TABLE].data)[2], 77);
  assert_true(level[1] == 0);
  if (writes_op)
    for (uint64_t i = 0; i < d->count; i++)
      op[i + 1] |= 0;
  *counter += calls <= least_turns;
  return 0;
}

static const uint8_t uses[MEMORIES] = {OP, LEVEL, FLAGS, SIDE, TABLE, COUNTER, MANY, VERDICT};

static struct {
  vyre_phase_memory memory[MEMORIES];
  uint8_t writes[MEMORIES];
  vyre_phase phase;
  vyre_phase_step steps[4];
  vyre_phases phases;
  vyre_pass pass;
  const vyre_pass *list[1];
  vyre_plugin plugin;
} p;

static const char *refused_before; /* a name that the host refuses before the phases, or NULL */
static const char *refused_after;  /* a name that the host refuses after the phases, or NULL */

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  (void)module;
  uint32_t *table = ctx->host->memory(ctx, "table", 3);
  uint32_t *many = ctx->host->memory(ctx, "many", 5);
  if (!table || !many)
    return ctx->host->out_of_memory(ctx);
  table[2] = 77;
  assert_ptr_equal(ctx->host->memory(ctx, "many", 5), many); /* a second call returns the same memory */
  if (refused_before)
    assert_null(ctx->host->memory(ctx, refused_before, 0));
  return VYRE_OK;
}

static vyre_status
finish(vyre_pass_ctx *ctx, const vyre_module *module)
{
  (void)module;
  assert_non_null(ctx->host->memory(ctx, "counter", 0));
  assert_non_null(ctx->host->memory(ctx, "many", 0));
  if (refused_after)
    assert_null(ctx->host->memory(ctx, refused_after, 0));
  return VYRE_OK;
}

static void
make_good(void)
{
  static const vyre_phase_memory memory[MEMORIES] = {
      {"op", NULL, VYRE_MEMORY_COLUMN, 1},     {"level", NULL, VYRE_MEMORY_COLUMN, 1},
      {"op_flags", NULL, VYRE_MEMORY_FACT, 1}, {"side", NULL, VYRE_MEMORY_SIDE, 2},
      {"table", NULL, VYRE_MEMORY_TABLE, 1},   {"counter", "turns", VYRE_MEMORY_COUNTER, 1},
      {"many", NULL, VYRE_MEMORY_COUNTER, 0},  {"verdict", NULL, VYRE_MEMORY_VERDICT, 1}};
  memset(&p, 0, sizeof p);
  memcpy(p.memory, memory, sizeof memory);
  p.phase = (vyre_phase){"touch", VYRE_DIRECTION_UP, MEMORIES, uses, p.writes, touch, touch};
  p.phases = (vyre_phases){sizeof(vyre_phases), MEMORIES, 1, 1, p.memory, &p.phase, p.steps, NULL, 0, 0, 0, 0};
  p.pass = (vyre_pass){.struct_size = sizeof(vyre_pass),
                       .name = "t.touch",
                       .summary = "s",
                       .phases = &p.phases,
                       .prepare = prepare,
                       .finish = finish};
  p.list[0] = &p.pass;
  p.plugin = (vyre_plugin){sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "t", "1", 1, VYRE_OPSET_ANY, p.list, 1};
  calls = rows_seen = 0;
  least_turns = 0;
  writes_op = false;
  refused_before = refused_after = NULL;
}

static const vyre_plugin *
query(const vyre_host *host)
{
  (void)host;
  return &p.plugin;
}

/* ---- descriptors --------------------------------------------------------------------------------------------------------- */

static void
refused(const char *why)
{
  char message[300];
  vyre_registry *registry;
  assert_null(vyre_registry_create(NULL, &registry));
  vyre_status status = vyre_registry_add(registry, query, "t.so", VYRE_ORIGIN_OUTSIDE);
  snprintf(message, sizeof message, "the phases of pass 't.touch' cannot be run: %s", why);
  assert_ptr_equal(strstr(vyre_status_text(status), message), vyre_status_text(status));
  assert_error(status, VYRE_CODE_USAGE, message);
  vyre_registry_destroy(registry);
  make_good();
}

/* Changes one field, and asserts that the phases are refused with the reason. */
#define SPOIL(assignment, why) \
  do {                         \
    assignment;                \
    refused(why);              \
  } while (0)

static const char unlike[] = "they are not as vyre-kernelc of this version makes them\n", unknown[] =
                                                                                              "they use memory that this host "
                                                                                              "does not know\n";

TEST(wrong_memory_is_refused)
{
  make_good();
  SPOIL(p.memory[OP].name = "ops", unknown);
  SPOIL(p.memory[OP].name = NULL, unknown);
  SPOIL(p.memory[FLAGS].name = "op_colour", unknown);
  SPOIL(p.memory[SIDE].kind = VYRE_MEMORY_VERDICT + 1, unknown);
  SPOIL(p.memory[VERDICT].stride = 0, unknown);
  SPOIL(p.memory[SIDE].stride = 17, unknown);
  SPOIL(p.memory[OP].stride = 2, unknown);
  SPOIL(p.memory[FLAGS].stride = 0, unknown);
  SPOIL(p.writes[LEVEL] = 1, "they write a column that the pass does not make\n");
  SPOIL(p.memory[MANY].label = "an array has none", unknown);
  SPOIL(p.phases.memory_count = 65, unlike);
  SPOIL(p.phases.memory_count = 0, "they use no memory");
}

TEST(wrong_phases_are_refused)
{
  make_good();
  SPOIL(p.phases.struct_size = 8, unlike);
  SPOIL(p.phases.phases = NULL, unlike);
  SPOIL(p.phase.rows = NULL, unlike);
  SPOIL(p.phase.listed = NULL, unlike);
  SPOIL(p.phase.name = NULL, unlike);
  SPOIL(p.phase.direction = VYRE_DIRECTION_OUTWARD + 1, unlike);
  SPOIL(p.phase.use_count = MEMORIES + 1, unlike);
  static const uint8_t beyond[] = {MEMORIES};
  p.phase.uses = beyond;
  SPOIL(p.phase.use_count = 1, unlike);
}

TEST(wrong_steps_are_refused)
{
  static const struct {
    uint32_t count;
    vyre_phase_step steps[4];
    bool is_flat;
  } cases[] = {
      {1, {{VYRE_STEP_RUN, 1, 0, 0, 0}}, false},                                           /* there is no second phase */
      {1, {{VYRE_STEP_LEVELS, 0, 0, 0, 0}}, false},                                        /* the end is before the step */
      {2, {{VYRE_STEP_LEVELS, 0, 0, 0, 3}, {VYRE_STEP_RUN, 0, 0, 0, 0}}, false},           /* the end is after the last step */
      {2, {{VYRE_STEP_LEVELS, 0, 0, 0, 2}, {VYRE_STEP_RUN, 0, 0, 0, 0}}, true},            /* a flat phase has no levels */
      {3, {{VYRE_STEP_LEVELS, 0, 0, 0, 3}, {VYRE_STEP_LEVELS, 0, 0, 0, 3}, {0}}, false},   /* levels in levels */
      {2, {{VYRE_STEP_REPEAT_WHILE, 0, 0, SIDE, 2}, {VYRE_STEP_RUN, 0, 0, 0, 0}}, false},  /* a side column is not a counter */
      {2, {{VYRE_STEP_REPEAT_WHILE, 0, 0, MANY, 2}, {VYRE_STEP_RUN, 0, 0, 0, 0}}, false},  /* an array is not a counter */
      {2, {{VYRE_STEP_REPEAT_WHILE, 0, 0, 99, 2}, {VYRE_STEP_RUN, 0, 0, 0, 0}}, false},    /* there is no such memory */
      {2, {{VYRE_STEP_REPEAT_WHILE + 1, 0, 0, 0, 2}, {VYRE_STEP_RUN, 0, 0, 0, 0}}, false}, /* there is no such step */
      {3,                                                                                  /* repeat while in repeat while */
       {{VYRE_STEP_REPEAT_WHILE, 0, 0, COUNTER, 3}, {VYRE_STEP_REPEAT_WHILE, 0, 0, COUNTER, 3}, {VYRE_STEP_RUN, 0, 0, 0, 0}},
       false},
      {4, /* the same, with levels in between */
       {{VYRE_STEP_REPEAT_WHILE, 0, 0, COUNTER, 4},
        {VYRE_STEP_LEVELS, 0, 0, 0, 4},
        {VYRE_STEP_REPEAT_WHILE, 0, 0, COUNTER, 4},
        {VYRE_STEP_RUN, 0, 0, 0, 0}},
       false},
  };
  make_good();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    p.phases.step_count = cases[i].count;
    memcpy(p.steps, cases[i].steps, sizeof cases[i].steps);
    p.phase.direction = cases[i].is_flat ? VYRE_DIRECTION_FLAT : VYRE_DIRECTION_UP;
    refused(unlike);
  }
}

static vyre_status
never(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  (void)out;
  fail();
  return VYRE_OK;
}

TEST(a_pass_needs_phases_or_a_run_function)
{
  vyre_registry *registry;
  make_good();
  p.pass.phases = NULL;
  assert_null(vyre_registry_create(NULL, &registry));
  assert_error(vyre_registry_add(registry, query, "t.so", VYRE_ORIGIN_OUTSIDE), VYRE_CODE_USAGE,
               "pass 't.touch' has no run function");
  p.pass.run = never;
  assert_error(vyre_registry_add(registry, query, "t.so", VYRE_ORIGIN_OUTSIDE), VYRE_CODE_USAGE,
               "pass 't.touch' has prepare or finish, but no phases");
  vyre_registry_destroy(registry);
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

/* Runs the pass on the program, and returns its status and its report. */
static vyre_status
run_over(const char *text, uint32_t threads, vyre_report **out_report)
{
  vyre_registry *registry = registry_with(query, "t.so", VYRE_ORIGIN_OUTSIDE);
  vyre_module *module = parse(text);
  const vyre_target_options so_many = {.struct_size = sizeof so_many, .threads = threads};
  assert_ok(vyre_report_create(NULL, out_report));
  vyre_pipeline_options options = {.struct_size = sizeof options, .verify_each = true, .report = *out_report};
  assert_ok(vyre_device_open(&vyre_target_cpu, &so_many, NULL, &options.device));
  vyre_status status = run_passes(registry, "t.touch", module, &options);
  assert_ok(vyre_device_close(options.device));
  vyre_module_destroy(module);
  vyre_registry_destroy(registry);
  return status;
}

static vyre_status
run(vyre_report **out_report)
{
  return run_over("program @p {\n"
                  "  buffer %x : u32[] storage rw set(0) binding(0)\n"
                  "  %v = load %x[0]\n"
                  "  store %x[1], add(add(%v, 1u32), %v)\n"
                  "}\n",
                  1, out_report);
}

/* Runs the pass, and returns whether it reported a change. */
static bool
runs(void)
{
  vyre_report *report;
  uint64_t changed;
  assert_ok(run(&report));
  assert_int_equal(vyre_report_runs(report, "t.touch", &changed), 1);
  vyre_report_destroy(report);
  return changed != 0;
}

TEST(a_pass_may_consist_of_phases)
{
  make_good();
  assert_false(runs());
  assert_int_equal(calls, 1);
  assert_true(rows_seen > 5);
}

/* A count of a labelled counter is a change if the phases write columns of the table. */
TEST(counters_report_changes)
{
  make_good();
  least_turns = 1;
  assert_false(runs());
  make_good();
  least_turns = 1;
  p.writes[OP] = 1;
  assert_true(runs());
  make_good();
  p.writes[OP] = 1;
  assert_false(runs());
  make_good();
  least_turns = 1;
  p.writes[OP] = 1;
  p.memory[COUNTER].label = NULL;
  assert_false(runs());
}

TEST(repeats_end)
{
  make_good();
  p.phases.step_count = 2;
  p.steps[0] = (vyre_phase_step){VYRE_STEP_REPEAT, 0, 5, 0, 2};
  assert_false(runs());
  assert_int_equal(calls, 5);
  make_good();
  p.phases.step_count = 2;
  p.steps[0] = (vyre_phase_step){VYRE_STEP_REPEAT_WHILE, 0, 0, COUNTER, 2};
  least_turns = 3;
  assert_false(runs());
  assert_int_equal(calls, 4);
  make_good();
  p.phases.step_count = 2;
  p.steps[0] = (vyre_phase_step){VYRE_STEP_REPEAT_WHILE, 0, 0, COUNTER, 2};
  least_turns = UINT32_MAX;
  vyre_report *report;
  assert_error(run(&report), VYRE_CODE_INPUT, "pass 't.touch': its phases still add to counter 'counter' in iteration ");
  vyre_report_destroy(report);
}

/* Lists of rows visit each row once, level by level. */
TEST(levels_visit_all_rows)
{
  make_good();
  p.phases.step_count = 2;
  p.steps[0] = (vyre_phase_step){VYRE_STEP_LEVELS, 0, 0, 0, 2};
  assert_false(runs());
  const uint32_t levels = calls, rows = rows_seen;
  assert_true(levels > 3);
  make_good();
  assert_false(runs());
  assert_int_equal(rows_seen, rows);
}

static _Atomic uint32_t parts;

static uint32_t
count_part(const vyre_c_dispatch *d)
{
  parts += d->count > 4000;
  return 0;
}

/* Two threads share the only program of a module.  In a directed phase they share its levels. */
TEST(threads_share_one_program)
{
  enum { ROWS = 10000 };
  vyre_bytes text = {0};
  vyre_report *report;
  assert_ok(vyre_bytes_printf(&text, "program @p {\n  buffer %%x : u32[] storage rw set(0) binding(0)\n  %%v = load %%x[0]\n"));
  for (uint32_t i = 0; i < ROWS; i++)
    assert_ok(vyre_bytes_printf(&text, "%%w%u = not %%v\n", i));
  assert_ok(vyre_bytes_printf(&text, "}\n"));
  for (uint32_t directed = 0; directed < 2; directed++) {
    make_good();
    p.phase.rows = p.phase.listed = count_part;
    p.phase.direction = directed ? VYRE_DIRECTION_UP : VYRE_DIRECTION_FLAT;
    parts = 0;
    assert_ok(run_over(text.data, 2, &report));
    assert_int_equal(parts, 2);
    vyre_report_destroy(report);
  }
  vyre_bytes_free(&text);
}

TEST(other_memory_is_refused)
{
  static const char *const before[] = {"op", "op_flags", "counter", "verdict", "nothing"}, *const after[] = {"op", "side", "table",
                                                                                                             "nothing"};
  for (size_t i = 0; i < sizeof before / sizeof *before + sizeof after / sizeof *after; i++) {
    const size_t count = sizeof before / sizeof *before;
    const char *name = i < count ? before[i] : after[i - count];
    char message[200];
    vyre_report *report;
    make_good();
    refused_before = i < count ? name : NULL;
    refused_after = i < count ? NULL : name;
    snprintf(message, sizeof message, "made an invalid call of its host: host->memory: '%s' is not a table or side column", name);
    assert_error(run(&report), VYRE_CODE_INPUT, message);
    vyre_report_destroy(report);
  }
}
