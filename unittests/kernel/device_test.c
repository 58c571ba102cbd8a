/* Kernels for devices, run on the Vulkan target with all memory in one arena, in both forms: rows level by level, and a workgroup a
 * program.  Each gives the memory that the interpreter leaves, and the columns that the pass's plain C gives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

enum { PROGRAMS = 7, MOST_TABLE = 600, LARGE = 50000 };

static runner device, interpreter; /* that the tests share */

static int
open_device(void **state)
{
  (void)state;
  const vyre_target_options options = {.validate = true};
  runner_open(&device, &options);
  runner_open(&interpreter, NULL);
  return 0;
}

static int
close_device(void **state)
{
  (void)state;
  runner_close(&device);
  runner_close(&interpreter);
  return 0;
}

/* ---- orders -------------------------------------------------------------------------------------------------------------- */

static int
compare_rows(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* One level's rows, however they are ordered: those of the programs from `first` to before `end` that are on it. */
static uint32_t
check_level(const uint32_t *key, uint32_t level, uint32_t first, uint32_t end, uint32_t *rows, uint32_t count)
{
  uint32_t k = 0;
  qsort(rows, count, sizeof *rows, compare_rows);
  for (uint32_t row = first; row < end; row++)
    if (key[row] == level) {
      assert_true(k < count);
      assert_int_equal(rows[k++], row);
    }
  assert_int_equal(k, count);
  return k;
}

static void
check_order(runner *r, const vyre_view *v, uint32_t which)
{
  const uint32_t *key = which & BY_DEPTH ? v->depth : v->level;
  uint32_t *order, *starts, *firsts, placed = 0, number = 0;
  runner_order(r, v, which, &order, &starts, &firsts);
  if (which & BY_PROGRAM) {
    for (uint32_t program = v->first[0]; program; program = v->next[program], number++) {
      const uint32_t end = v->next[program] ? v->next[program] : v->rows;
      for (uint32_t i = firsts[number]; i < firsts[number + 1]; i++)
        placed += check_level(key, i - firsts[number], program, end, order + starts[i], starts[i + 1] - starts[i]);
    }
  } else {
    for (uint32_t i = 0; starts[i] < v->rows - 1; i++)
      placed += check_level(key, i, 1, v->rows, order + starts[i], starts[i + 1] - starts[i]);
  }
  assert_int_equal(placed, v->rows - 1);
  free(order);
  free(starts);
  free(firsts);
}

static void
orders(void **state)
{
  /* one program, one of a few levels; many, with more than a workgroup scans; and so many that sums of sums are needed */
  const uint32_t shapes[][3] = {{1, 40, 4}, {1, 3000, 3000}, {3, 1000, 8}, {1500, 20, 4}, {2, 40000, 900}};
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    vyre_module *m = phases_grown(shapes[i][0], shapes[i][1], shapes[i][2]);
    must(vyre_module_make_analyses(m, VYRE_LEVELS));
    for (uint32_t which = 0; which < BY_OWN; which++) {
      check_order(&device, vyre_module_view(m), which);
      if (vyre_module_view(m)->rows < 5000)
        check_order(&interpreter, vyre_module_view(m), which);
    }
    vyre_module_destroy(m);
  }
}

/* ---- sequences ----------------------------------------------------------------------------------------------------------- */

static void
compare_memory(const phases *p, const phases_memory *is, const phases_memory *should, const char *form)
{
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    for (uint32_t k = 0; k < is->counts[i]; k++)
      if (is->words[i][k] != should->words[i][k]) {
        const kernel_name *n = &p->file.names[i];
        fail_msg("%s: %.*s[%u] is %u, not %u", form, n->word ? (int)strlen(n->word) : (int)n->text.length,
                 n->word ? n->word : p->file.text + n->text.at, k, is->words[i][k], should->words[i][k]);
      }
}

/* Both forms leave what the interpreter leaves, which becomes `m`. */
static void
run_both(const phases *p, const runner_pass *pass, phases_memory *m, const vyre_view *v)
{
  static const char *const forms[] = {"level by level", "program by program"};
  phases_memory copies[2] = {phases_copy(m), phases_copy(m)};
  phases_run(p, m, v);
  for (uint32_t form = 0; form < 2; form++) {
    runner_figures figures = {0};
    if (v->rows < 5000) { /* that no barrier is missing, and each access in bounds, a device does not tell */
      phases_memory copy = phases_copy(&copies[form]);
      runner_run(&interpreter, pass, &copy, v, form == 1, &figures);
      compare_memory(p, &copy, m, forms[form]);
      phases_free(&copy);
    }
    figures = (runner_figures){0};
    runner_run(&device, pass, &copies[form], v, form == 1, &figures);
    compare_memory(p, &copies[form], m, forms[form]);
    if (v->rows > LARGE)
      print_message("%.*s, %s: %u rows, %u kernels in %u submissions, %.1f ms, on the device %.1f ms\n",
                    (int)p->file.functions[p->file.function_count - 1].name.length,
                    p->file.text + p->file.functions[p->file.function_count - 1].name.at, forms[form], v->rows, figures.launches,
                    figures.submits, (double)figures.host_ns / 1e6, (double)figures.device_ns / 1e6);
    phases_free(&copies[form]);
  }
}

/* The k-th module; NULL: there are no more. */
static vyre_module *
make_module(uint32_t k)
{
#ifdef VYRE_TEST_LARGE
  return k == 0 ? phases_grown(1, 100000, 1000) : k == 1 ? phases_grown(2000, 50, 12) : NULL;
#else
  return k < PROGRAMS ? phases_random(k + 1) : k == PROGRAMS ? phases_grown(4, 1000, 60) : NULL;
#endif
}

/* The kernel file's sequence on each of them. */
static void
for_each_module(void (*check)(phases *p, const runner_pass *pass, vyre_module *m, uint32_t seed), const char *path)
{
  phases *p = phases_load(path);
  runner_pass pass;
  vyre_module *m;
  runner_load(&device, p, &pass);
  for (uint32_t k = 0; (m = make_module(k)) != NULL; k++) {
    must(vyre_module_make_analyses(m, VYRE_ANALYSES));
    check(p, &pass, m, k);
    vyre_module_destroy(m);
  }
  runner_unload(&device, &pass);
  phases_unload(p);
}

static void
check_canon(phases *p, const runner_pass *pass, vyre_module *m, uint32_t seed)
{
  static const char *const columns[] = {"op", "imm", "imm_hi", "a", "b", "c"};
  const vyre_view *v = vyre_module_view(m);
  vyre_report *report;
  phases_memory words = phases_take(p, v, 0);
  run_both(p, pass, &words, v);
  must(vyre_report_create(NULL, &report));
  must(phases_run_plain("canon", "canon", m, report));
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    phases_compare(columns[i], seed, phases_words(p, &words, columns[i]), phases_column(v, columns[i]), v->rows);
  const uint32_t exchanged = phases_words(p, &words, "exchanged")[0], shortened = phases_words(p, &words, "shortened")[0];
  assert_int_equal(exchanged, vyre_report_count(report, "canon", "operands exchanged"));
  assert_int_equal(shortened, vyre_report_count(report, "canon", "lanes taken nearer to where they are made"));
  assert_true(v->rows < LARGE || (exchanged > 1000 && shortened > 100));
  vyre_report_destroy(report);
  phases_free(&words);
}

static void
canon(void **state)
{
  (void)state;
  for_each_module(check_canon, VYRE_SOURCE "/passes/canon/canon.vir");
}

static void
check_shash(phases *p, const runner_pass *pass, vyre_module *m, uint32_t seed)
{
  const vyre_view *v = vyre_module_view(m);
  phases_memory words = phases_take(p, v, 0);
  run_both(p, pass, &words, v);
  must(phases_run_plain("shash", "hashes", m, NULL));
  phases_compare("hash", seed, phases_words(p, &words, "hash"), phases_seen, v->rows);
  free(phases_seen);
  phases_free(&words);
}

static void
shash(void **state)
{
  (void)state;
  for_each_module(check_shash, VYRE_SOURCE "/passes/shash/shash.vir");
}

static void
check_limits(phases *p, const runner_pass *pass, vyre_module *m, uint32_t seed)
{
  const vyre_view *v = vyre_module_view(m);
  const uint32_t most[4] = {1u << 24, seed % 2 ? 4 : 1u << 20, 1023, v->rows};
  phases_memory words = phases_take(p, v, 4);
  memcpy(phases_words(p, &words, "most"), most, sizeof most);
  run_both(p, pass, &words, v);
  vyre_status status = phases_run_plain("limits", seed % 2 ? "limits<depth=4>" : "limits", m, NULL);
  assert_int_equal(status != NULL, seed % 2);
  assert_int_equal(phases_words(p, &words, "over")[0] != UINT32_MAX, seed % 2);
  vyre_status_free(status);
  phases_free(&words);
}

static void
limits(void **state)
{
  (void)state;
  for_each_module(check_limits, VYRE_SOURCE "/passes/limits/limits.vir");
}

/* Of six `levels` two have a form by program: in three of the others rows see what other programs do, in one a counter says how
 * long. */
static void
check_forms(const runner_pass *pass)
{
  uint32_t levels = 0;
  for (uint32_t i = 0; i < pass->device.count; i++)
    levels += pass->device.kernels[i].is_levels;
  assert_int_equal(levels, 2);
}

static void
check_everything(phases *p, const runner_pass *pass, vyre_module *m, uint32_t seed)
{
  const vyre_view *v = vyre_module_view(m);
  phases_memory words = phases_take(p, v, MOST_TABLE);
  for (uint32_t i = 0; i < MOST_TABLE; i++)
    phases_words(p, &words, "weights")[i] = ((i + 1) * 2654435761u + seed) >> 28;
  words.counts[phases_name(p, "nothing")] = 0;
  run_both(p, pass, &words, v);
  check_forms(pass);
  assert_true(phases_words(p, &words, "changed")[0] > v->rows / 32);
  assert_true(v->rows < LARGE || phases_words(p, &words, "first_odd")[0] % 16 == 5);
  phases_free(&words);
}

static void
everything(void **state)
{
  (void)state;
  for_each_module(check_everything, VYRE_SOURCE "/unittests/kernel/device.vir");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(canon), cmocka_unit_test(shash),
                                     cmocka_unit_test(limits), cmocka_unit_test(everything)};
  return cmocka_run_group_tests(tests, open_device, close_device);
}
