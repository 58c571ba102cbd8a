/* The phases of passes do what the passes do: run by the interpreter over the columns of random programs, each gives the columns
 * that its plain C gives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts.h"
#include "kernel.h"
#include "random_program.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/verify.h"

enum { PROGRAMS = 150 };

/* ---- kernel files ----------------------------------------------------------------------------------------------------------- */

typedef struct phases {
  kernel_file file;
  vyre_module *module; /* a program a phase */
} phases;

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  char text[2000];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  print_message("%s", text);
}

static void
check(vyre_status status)
{
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

static phases *
load(const char *path)
{
  phases *p = calloc(1, sizeof *p);
  kernel_expansion expansion;
  check(kernel_read(&p->file, path, (vyre_diagnostics){print_diagnostic, NULL}));
  check(kernel_expand(&p->file, &expansion));
  check(vyre_module_create(NULL, 1u << 16, &p->module));
  check(vyre_text_parse_lines(p->module, expansion.text.data, expansion.text.size, path,
                              (vyre_diagnostics){kernel_emit, &expansion}));
  check(kernel_check(&expansion, p->module));
  kernel_expansion_free(&expansion);
  return p;
}

static void
unload(phases *p)
{
  vyre_module_destroy(p->module);
  kernel_file_free(&p->file);
  free(p);
}

/* ---- running them ----------------------------------------------------------------------------------------------------------- */

/* Each name's memory. */
typedef struct memory {
  uint32_t *words[KERNEL_MOST_NAMES];
  uint32_t counts[KERNEL_MOST_NAMES];
} memory;

static uint32_t
name_of(const phases *p, const char *word)
{
  for (uint32_t i = 0; i < p->file.name_count; i++) {
    const kernel_name *n = &p->file.names[i];
    if (n->word ? strcmp(n->word, word) == 0
                : n->text.length == strlen(word) && memcmp(p->file.text + n->text.at, word, n->text.length) == 0)
      return i;
  }
  fail_msg("there is no %s", word);
  return 0;
}

static const uint32_t *
column_of(const vyre_view *v, const char *word)
{
  const struct {
    const char *word;
    const uint32_t *column;
  } columns[] = {{"op", v->op},     {"imm", v->imm},     {"imm_hi", v->imm_hi}, {"a", v->a},
                 {"b", v->b},       {"c", v->c},         {"parent", v->parent}, {"prev", v->prev},
                 {"next", v->next}, {"first", v->first}, {"last", v->last},     {"version", v->version},
                 {"loop", v->loop}, {"end", v->end},     {"level", v->level},   {"depth", v->depth}};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (strcmp(columns[i].word, word) == 0)
      return columns[i].column;
  return NULL;
}

static memory
take_memory(const phases *p, const vyre_view *v)
{
  memory m = {0};
  for (uint32_t i = 0; i < p->file.name_count; i++) {
    const kernel_name *n = &p->file.names[i];
    const uint32_t *column = n->word ? column_of(v, n->word) : NULL;
    m.counts[i] = n->kind == KERNEL_FACT                                   ? (uint32_t)VYRE_OP__COUNT
                  : n->kind == KERNEL_COUNTER || n->kind == KERNEL_VERDICT ? 1
                                                                           : v->rows * n->stride;
    m.words[i] = calloc(m.counts[i], sizeof(uint32_t));
    for (uint32_t k = 0; k < m.counts[i]; k++)
      m.words[i][k] = n->kind == KERNEL_FACT      ? fact_of(n->word, k)
                      : n->kind == KERNEL_VERDICT ? UINT32_MAX
                      : column                    ? column[k]
                                                  : 0;
  }
  return m;
}

static void
free_memory(memory *m)
{
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    free(m->words[i]);
}

/* One phase after the other: sequences without levels and repeats. */
static void
run_phases(const phases *p, memory *m, uint32_t rows)
{
  const vyre_view *v = vyre_module_view(p->module);
  uint32_t step = 0;
  for (uint32_t program = v->first[0]; step < p->file.step_count; program = v->next[program], step++) {
    vyre_binding bindings[KERNEL_MOST_NAMES];
    uint32_t count = 0;
    assert_int_equal(p->file.steps[step].kind, KERNEL_RUN);
    for (uint32_t row = v->first[program]; row; row = v->next[row])
      if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer) {
        const uint32_t name = vyre_buffer_info_of(p->module, (vyre_row){row})->binding;
        bindings[count++] = (vyre_binding){{row}, m->words[name], m->counts[name] * sizeof(uint32_t), 0};
      }
    const vyre_dispatch dispatch = {{program}, {rows - 1, 1, 1}, bindings, count, NULL, 0};
    check(vyre_interp_run(p->module, &dispatch, NULL, NULL));
  }
}

/* ---- the plain passes ------------------------------------------------------------------------------------------------------- */

static uint32_t *hashes; /* that the pass `hashes` saw; owned */

static vyre_status
run_hashes(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  hashes = malloc(v->rows * sizeof *hashes);
  memcpy(hashes, v->hash, v->rows * sizeof *hashes);
  return VYRE_OK;
}

static const vyre_pass hashes_pass = {
    .struct_size = sizeof(vyre_pass), .name = "hashes", .summary = "s", .requires_ = VYRE_HASHES, .run = run_hashes};

static const vyre_plugin *
query_hashes(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&hashes_pass};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "t", "1", 1, 1, passes, 1, 0};
  (void)host;
  return &plugin;
}

static vyre_status
run_pass(const char *pass, const char *text, vyre_module *module, vyre_report *report, bool by_phases)
{
  vyre_registry *registry;
  vyre_pipeline *pipeline;
  char path[500];
  const vyre_pipeline_options options = {.report = report, .phases = by_phases};
  check(vyre_registry_create(NULL, &registry));
  snprintf(path, sizeof path, VYRE_TEST_PASSES "/%s.so", pass);
  check(vyre_registry_load(registry, path, VYRE_ORIGIN_CORE));
  check(vyre_registry_add(registry, query_hashes, "t.so", VYRE_ORIGIN_CORE));
  check(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  vyre_status status = vyre_pipeline_run(pipeline, module, &options);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  return status;
}

static vyre_status
run_plain(const char *pass, const char *text, vyre_module *module, vyre_report *report)
{
  return run_pass(pass, text, module, report, false);
}

/* Two random programs. */
static vyre_module *
make_random(uint32_t seed)
{
  vyre_module *module;
  check(vyre_module_create(NULL, 1u << 18, &module));
  random_program_build(module, seed, seed & 1);
  random_program_build(module, seed / 2, false);
  check(vyre_module_seal(module, NULL));
  return module;
}

static void
compare(const char *what, uint32_t seed, const uint32_t *is, const uint32_t *should, uint32_t rows)
{
  for (uint32_t row = 1; row < rows; row++)
    if (is[row] != should[row])
      fail_msg("seed %u: %s of row %u is %u, not %u", seed, what, row, is[row], should[row]);
}

static const char *const core_columns[] = {"op", "imm", "imm_hi", "a", "b", "c"};

static void
canon(void **state)
{
  phases *p = load(VYRE_SOURCE "/passes/canon/canon.vir");
  uint64_t changed = 0;
  (void)state;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = make_random(seed);
    const vyre_view *v = vyre_module_view(m);
    vyre_report *report;
    memory words = take_memory(p, v);
    run_phases(p, &words, v->rows);
    check(vyre_report_create(NULL, &report));
    check(run_plain("canon", "canon", m, report));
    for (size_t i = 0; i < sizeof core_columns / sizeof *core_columns; i++)
      compare(core_columns[i], seed, words.words[name_of(p, core_columns[i])], column_of(v, core_columns[i]), v->rows);
    assert_int_equal(words.words[name_of(p, "exchanged")][0], vyre_report_count(report, "canon", "operands exchanged"));
    const uint64_t shortened = vyre_report_count(report, "canon", "lanes taken nearer to where they are made");
    assert_int_equal(words.words[name_of(p, "shortened")][0], shortened);
    changed += shortened;
    vyre_report_destroy(report);
    free_memory(&words);
    vyre_module_destroy(m);
  }
  assert_true(changed > PROGRAMS / 4);
  unload(p);
}

/* ---- cf --------------------------------------------------------------------------------------------------------------------- */

static uint64_t
random_below(uint64_t *random, uint64_t n)
{
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*random >> 33) % n;
}

/* Bits of a literal: few, small, or any; of floats often 1, and of bool 0 or 1. */
static uint64_t
random_literal(uint64_t *random, vyre_kind kind)
{
  const uint64_t one = kind == VYRE_F16 ? 0x3c00 : kind == VYRE_F32 ? 0x3f800000 : UINT64_C(0x3ff0000000000000);
  const uint64_t mask = UINT64_MAX >> (64 - vyre_kind_bits(kind));
  switch (random_below(random, 4)) {
  case 0:
    return vyre_kind_is_float(kind) ? one : random_below(random, 5) & mask;
  case 1:
    return (0 - random_below(random, 5)) & mask;
  default:
    return (random_below(random, UINT32_MAX) << 32 ^ random_below(random, UINT32_MAX) << 20 ^ random_below(random, 1u << 20)) &
           mask;
  }
}

/* Of what memory and built-ins give, `of_8` in 8 become literals, so that what is made of them can be folded. */
static void
make_literals(vyre_module *module, uint32_t seed, uint32_t of_8)
{
  const vyre_view *v = vyre_module_view(module);
  uint64_t random = seed;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
    const bool is_given = op == VYRE_OP_load || op == VYRE_OP_get || vyre_op_is_invocation(op);
    if (!is_given || !vyre_kind_is_scalar(VYRE_TYPE_KIND(type)) || random_below(&random, 8) >= of_8)
      continue;
    const uint64_t bits = random_literal(&random, VYRE_TYPE_KIND(type));
    vyre_row_rewrite(module, (vyre_row){row}, VYRE_ROW(VYRE_OP_const, type, 0), (uint32_t)bits, (uint32_t)(bits >> 32), VYRE_NONE,
                     VYRE_NONE, VYRE_NONE);
  }
}

static vyre_module *
make_foldable(uint32_t seed)
{
  static const uint32_t of_8[] = {8, 8, 6, 3, 0};
  vyre_module *module;
  check(vyre_module_create(NULL, 1u << 18, &module));
  random_program_build(module, seed, RANDOM_WIDE | (seed & 1));
  random_program_build(module, seed / 2, seed & 2);
  check(vyre_module_seal(module, NULL));
  make_literals(module, seed, of_8[seed % (sizeof of_8 / sizeof *of_8)]);
  return module;
}

static void
cf(void **state)
{
  phases *p = load(VYRE_SOURCE "/passes/cf/cf.vir");
  uint64_t folded = 0, forwarded = 0;
  (void)state;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = make_foldable(seed);
    const vyre_view *v = vyre_module_view(m);
    vyre_report *report;
    memory words = take_memory(p, v);
    run_phases(p, &words, v->rows);
    check(vyre_report_create(NULL, &report));
    check(run_plain("cf", "cf", m, report));
    for (size_t i = 0; i < sizeof core_columns / sizeof *core_columns; i++)
      compare(core_columns[i], seed, words.words[name_of(p, core_columns[i])], column_of(v, core_columns[i]), v->rows);
    assert_int_equal(words.words[name_of(p, "folded")][0], vyre_report_count(report, "cf", "rows folded"));
    assert_int_equal(words.words[name_of(p, "forwarded")][0], vyre_report_count(report, "cf", "operands forwarded"));
    folded += vyre_report_count(report, "cf", "rows folded");
    forwarded += vyre_report_count(report, "cf", "operands forwarded");
    vyre_report_destroy(report);
    free_memory(&words);
    vyre_module_destroy(m);
  }
  assert_true(folded > 20 * PROGRAMS && forwarded > PROGRAMS);
  unload(p);
}

/* What a row computes: of a part that of which it is one. */
static void
note_ops(const vyre_view *v, uint32_t *out)
{
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    out[row] = VYRE_ROW_OP(v->op[op == VYRE_OP_part ? v->a[row] : row]);
  }
}

/* As C, which is fast, so that every op which is exact is folded. */
static void
cf_of_every_op(void **state)
{
  static const char *const statistics[] = {"rows folded", "operands forwarded"};
  bool is_folded[VYRE_OP__COUNT] = {false};
  (void)state;
  for (uint32_t seed = 1; seed <= 10 * PROGRAMS; seed++) {
    vyre_module *modules[2] = {make_foldable(seed), make_foldable(seed)};
    const vyre_view *v = vyre_module_view(modules[0]), *w = vyre_module_view(modules[1]);
    vyre_report *reports[2];
    uint32_t *ops = malloc(v->rows * sizeof *ops);
    note_ops(v, ops);
    for (uint32_t i = 0; i < 2; i++) {
      check(vyre_report_create(NULL, &reports[i]));
      check(run_pass("cf", "cf", modules[i], reports[i], i == 0));
    }
    assert_int_equal(v->rows, w->rows);
    for (size_t i = 0; i < sizeof core_columns / sizeof *core_columns; i++)
      compare(core_columns[i], seed, column_of(v, core_columns[i]), column_of(w, core_columns[i]), v->rows);
    for (uint32_t i = 0; i < 2; i++)
      assert_int_equal(vyre_report_count(reports[0], "cf", statistics[i]), vyre_report_count(reports[1], "cf", statistics[i]));
    for (uint32_t row = 1; row < v->rows; row++)
      is_folded[ops[row]] |= VYRE_ROW_OP(v->op[row]) == VYRE_OP_const;
    free(ops);
    for (uint32_t i = 0; i < 2; i++) {
      vyre_report_destroy(reports[i]);
      vyre_module_destroy(modules[i]);
    }
  }
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    if (vyre_op_infos[op].fold == VYRE_FOLD_EXACT && !is_folded[op])
      fail_msg("%s was never folded", vyre_op_infos[op].text);
}

static void
shash(void **state)
{
  phases *p = load(VYRE_SOURCE "/passes/shash/shash.vir");
  (void)state;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = make_random(seed);
    const vyre_view *v = vyre_module_view(m);
    check(vyre_module_make_analyses(m, VYRE_VERSIONS));
    memory words = take_memory(p, v);
    run_phases(p, &words, v->rows);
    check(run_plain("shash", "hashes", m, NULL));
    compare("hash", seed, words.words[name_of(p, "hash")], hashes, v->rows);
    free(hashes);
    free_memory(&words);
    vyre_module_destroy(m);
  }
  unload(p);
}

static void
limits(void **state)
{
  static const struct {
    const char *text, *named;
    uint32_t most[3];
  } cases[] = {{"limits<rows=20>", "limit 'rows'", {20, 1u << 20, 1023}},
               {"limits<depth=4>", "limit 'depth'", {1u << 24, 4, 1023}},
               {"limits<nesting=1>", "limit 'nesting'", {1u << 24, 1u << 20, 1}},
               {"limits", "", {1u << 24, 1u << 20, 1023}}};
  phases *p = load(VYRE_SOURCE "/passes/limits/limits.vir");
  uint32_t over = 0;
  (void)state;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    const uint32_t which = seed % (sizeof cases / sizeof *cases);
    vyre_module *m = make_random(seed);
    const vyre_view *v = vyre_module_view(m);
    check(vyre_module_make_analyses(m, VYRE_LEVELS | VYRE_DOMINANCE));
    memory words = take_memory(p, v);
    uint32_t *most = words.words[name_of(p, "most")];
    memcpy(most, cases[which].most, sizeof cases[which].most);
    most[3] = v->rows;
    run_phases(p, &words, v->rows);
    const uint32_t verdict = words.words[name_of(p, "over")][0];
    vyre_status status = run_plain("limits", cases[which].text, m, NULL);
    assert_true((status != NULL) == (verdict != UINT32_MAX));
    if (status) {
      assert_non_null(strstr(vyre_status_text(status), cases[which].named));
      assert_int_equal(verdict & 15u, which + 1);
      over++;
    }
    vyre_status_free(status);
    free_memory(&words);
    vyre_module_destroy(m);
  }
  assert_in_range(over, PROGRAMS / 4, PROGRAMS);
  unload(p);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(canon), cmocka_unit_test(cf), cmocka_unit_test(cf_of_every_op),
                                     cmocka_unit_test(shash), cmocka_unit_test(limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
