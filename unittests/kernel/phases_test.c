/* The phases of passes do what the passes do: run by the interpreter over the columns of random programs, each gives the columns
 * that its plain C gives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"

enum { PROGRAMS = 150 };

static void
canon(void **state)
{
  static const char *const columns[] = {"op", "imm", "imm_hi", "a", "b", "c"};
  phases *p = phases_load(VYRE_SOURCE "/passes/canon/canon.vir");
  uint64_t changed = 0;
  (void)state;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = phases_random(seed);
    const vyre_view *v = vyre_module_view(m);
    vyre_report *report;
    phases_memory words = phases_take(p, v, 3);
    phases_run(p, &words, v);
    must(vyre_report_create(NULL, &report));
    must(phases_run_plain("canon", "canon", m, report));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
      phases_compare(columns[i], seed, phases_words(p, &words, columns[i]), phases_column(v, columns[i]), v->rows);
    assert_int_equal(phases_words(p, &words, "exchanged")[0], vyre_report_count(report, "canon", "operands exchanged"));
    const uint64_t shortened = vyre_report_count(report, "canon", "lanes taken nearer to where they are made");
    assert_int_equal(phases_words(p, &words, "shortened")[0], shortened);
    changed += shortened;
    vyre_report_destroy(report);
    phases_free(&words);
    vyre_module_destroy(m);
  }
  assert_true(changed > PROGRAMS / 4);
  phases_unload(p);
}

static void
shash(void **state)
{
  phases *p = phases_load(VYRE_SOURCE "/passes/shash/shash.vir");
  (void)state;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    vyre_module *m = phases_random(seed);
    const vyre_view *v = vyre_module_view(m);
    must(vyre_module_make_analyses(m, VYRE_VERSIONS));
    phases_memory words = phases_take(p, v, 3);
    phases_run(p, &words, v);
    must(phases_run_plain("shash", "hashes", m, NULL));
    phases_compare("hash", seed, phases_words(p, &words, "hash"), phases_hashes, v->rows);
    free(phases_hashes);
    phases_free(&words);
    vyre_module_destroy(m);
  }
  phases_unload(p);
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
  phases *p = phases_load(VYRE_SOURCE "/passes/limits/limits.vir");
  uint32_t over = 0;
  (void)state;
  for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
    const uint32_t which = seed % (sizeof cases / sizeof *cases);
    vyre_module *m = phases_random(seed);
    const vyre_view *v = vyre_module_view(m);
    must(vyre_module_make_analyses(m, VYRE_LEVELS | VYRE_DOMINANCE));
    phases_memory words = phases_take(p, v, 3);
    memcpy(phases_words(p, &words, "most"), cases[which].most, sizeof cases[which].most);
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

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(canon), cmocka_unit_test(shash), cmocka_unit_test(limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
