/* The phases of passes do what the passes do: run by the interpreter over the columns of random programs, each gives the columns
 * that its plain C gives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "phases.h"

#define PROGRAMS budget_part(150)

static const char *const core_columns[] = {"op", "imm", "imm_hi", "a", "b", "c"};

TEST(canon)
{
  phases *p = phases_load(VYRE_SOURCE "/passes/canon/canon.vir");
  uint64_t changed = 0;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = phases_random(seed);
    const vyre_view *v = vyre_module_view(m);
    vyre_report *report;
    phases_memory words = phases_take(p, v, 3);
    phases_run(p, &words, v);
    must(vyre_report_create(NULL, &report));
    must(phases_run_plain("canon", "canon", m, report));
    for (size_t i = 0; i < sizeof core_columns / sizeof *core_columns; i++)
      phases_compare(core_columns[i], seed, phases_words(p, &words, core_columns[i]), phases_column(v, core_columns[i]), v->rows);
    assert_int_equal(phases_words(p, &words, "exchanged")[0], vyre_report_count(report, "canon", "operands exchanged"));
    const uint64_t shortened = vyre_report_count(report, "canon", "lane sources shortened");
    assert_int_equal(phases_words(p, &words, "shortened")[0], shortened);
    changed += shortened;
    vyre_report_destroy(report);
    phases_free(&words);
    vyre_module_destroy(m);
  }
  assert_true(changed > PROGRAMS / 4);
  phases_unload(p);
}

TEST(cf)
{
  phases *p = phases_load(VYRE_SOURCE "/passes/cf/cf.vir");
  uint64_t folded = 0, replaced = 0;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = phases_foldable(seed);
    const vyre_view *v = vyre_module_view(m);
    vyre_report *report;
    phases_memory words = phases_take(p, v, 3);
    phases_run(p, &words, v);
    must(vyre_report_create(NULL, &report));
    must(phases_run_plain("cf", "cf", m, report));
    for (size_t i = 0; i < sizeof core_columns / sizeof *core_columns; i++)
      phases_compare(core_columns[i], seed, phases_words(p, &words, core_columns[i]), phases_column(v, core_columns[i]), v->rows);
    assert_int_equal(phases_words(p, &words, "folded")[0], vyre_report_count(report, "cf", "rows folded"));
    assert_int_equal(phases_words(p, &words, "replaced")[0], vyre_report_count(report, "cf", "operands replaced"));
    folded += vyre_report_count(report, "cf", "rows folded");
    replaced += vyre_report_count(report, "cf", "operands replaced");
    vyre_report_destroy(report);
    phases_free(&words);
    vyre_module_destroy(m);
  }
  assert_true(folded > 20 * PROGRAMS && replaced > PROGRAMS);
  phases_unload(p);
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
TEST(cf_of_every_op)
{
  static const char *const statistics[] = {"rows folded", "operands replaced"};
  bool is_folded[VYRE_OP__COUNT] = {false};
  for (uint32_t seed = 1; seed <= 1500; seed++) {
    vyre_module *modules[2] = {phases_foldable(seed), phases_foldable(seed)};
    const vyre_view *v = vyre_module_view(modules[0]), *w = vyre_module_view(modules[1]);
    vyre_report *reports[2];
    uint32_t *ops = malloc(v->rows * sizeof *ops);
    note_ops(v, ops);
    for (uint32_t i = 0; i < 2; i++) {
      must(vyre_report_create(NULL, &reports[i]));
      must(phases_run_pass("cf", "cf", modules[i], reports[i], i == 0));
    }
    assert_int_equal(v->rows, w->rows);
    for (size_t i = 0; i < sizeof core_columns / sizeof *core_columns; i++)
      phases_compare(core_columns[i], seed, phases_column(v, core_columns[i]), phases_column(w, core_columns[i]), v->rows);
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

TEST(shash)
{
  phases *p = phases_load(VYRE_SOURCE "/passes/shash/shash.vir");
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = phases_random(seed);
    const vyre_view *v = vyre_module_view(m);
    must(vyre_module_make_analyses(m, VYRE_VERSIONS));
    phases_memory words = phases_take(p, v, 3);
    phases_run(p, &words, v);
    must(phases_run_plain("shash", "hashes", m, NULL));
    phases_compare("hash", seed, phases_words(p, &words, "hash"), phases_seen, v->rows);
    free(phases_seen);
    phases_free(&words);
    vyre_module_destroy(m);
  }
  phases_unload(p);
}

/* Where rows try few slots at first they meet again and again, and a round settles one class of a program and level at most. */
TEST(cid)
{
  phases *p = phases_load(VYRE_SOURCE "/passes/cid/cid.vir");
  uint32_t merged = 0, all[2] = {0}, left[2] = {0};
  for (uint32_t seed = 1; seed <= PROGRAMS / 3; seed++) {
    vyre_module *m = seed % 2 ? phases_random(seed) : phases_foldable(seed);
    const vyre_view *v = vyre_module_view(m);
    must(vyre_module_make_analyses(m, VYRE_VERSIONS | VYRE_LEVELS));
    phases_memory words = phases_take(p, v, 1);
    const bool crowded = seed % 3 == 0;
    phases_words(p, &words, "crowding")[0] = crowded ? 31 : 0;
    phases_run(p, &words, v);
    all[crowded] += v->rows;
    left[crowded] += phases_words(p, &words, "left")[0];
    must(phases_run_plain("cid", "classes", m, NULL));
    phases_compare("canonical", seed, phases_words(p, &words, "canonical"), phases_seen, v->rows);
    for (uint32_t row = 1; row < v->rows; row++)
      merged += phases_seen[row] != row;
    free(phases_seen);
    phases_free(&words);
    vyre_module_destroy(m);
  }
  assert_true(merged > PROGRAMS);
  assert_true(left[0] < all[0] / 10); /* rounds more than one, of all rows */
  assert_true(left[1] > 2 * all[1]);
  phases_unload(p);
}

TEST(limits)
{
  static const struct {
    const char *text, *named;
    uint32_t most[3];
  } cases[] = {{"limits<rows=20>", "limit 'rows'", {20, 1u << 20, 1023}},
               {"limits<depth=4>", "limit 'depth'", {1u << 24, 4, 1023}},
               {"limits<nesting=1>", "limit 'nesting'", {1u << 24, 1u << 20, 1}},
               {"limits", "", {1u << 24, 1u << 20, 1023}}};
  phases *p = phases_load(VYRE_SOURCE "/passes/limits/limits.vir");
  uint32_t over = 0;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    const uint32_t which = seed % (sizeof cases / sizeof *cases);
    vyre_module *m = phases_random(seed);
    const vyre_view *v = vyre_module_view(m);
    must(vyre_module_make_analyses(m, VYRE_LEVELS | VYRE_DOMINANCE));
    phases_memory words = phases_take(p, v, 4);
    uint32_t *most = phases_words(p, &words, "most");
    memcpy(most, cases[which].most, sizeof cases[which].most);
    most[3] = v->rows;
    phases_run(p, &words, v);
    const uint32_t verdict = phases_words(p, &words, "over")[0];
    vyre_status status = phases_run_plain("limits", cases[which].text, m, NULL);
    assert_true((status != NULL) == (verdict != UINT32_MAX));
    if (status) {
      assert_non_null(strstr(vyre_status_text(status), cases[which].named));
      assert_int_equal(verdict & 15u, which + 1);
      over++;
    }
    vyre_status_free(status);
    phases_free(&words);
    vyre_module_destroy(m);
  }
  assert_in_range(over, PROGRAMS / 4, PROGRAMS);
  phases_unload(p);
}
