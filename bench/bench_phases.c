/* Compares the two forms of GPU passes as the manager runs them: plain C, and phases compiled to C.
 *
 *   bench-phases [-rounds=N] [-min=ROWS] [-max=ROWS] [-only=PASS]
 *
 * Each run begins with a fresh module: one program of all the rows, or programs of 1,000 rows ("in 1000s").  A round runs
 * plain C, the phases by one thread and by two, and plain C again (A/A, which shows the noise).  Times include the analyses
 * that a form requires, and sealing.  Exits with 1 if the forms produce different modules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "base/clock.h"
#include "vyre/passmgr.h"
#include "vyre/vir0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-phases";

enum { SMALL = 1000, FORMS = 4 };

static const uint32_t threads[FORMS] = {0, 1, 2, 0}; /* threads of the phases; 0 for plain C */
static vyre_device *devices[FORMS];

/* The passes with both forms, and shash, which has phases only. */
static const char *const passes[] = {"canon", "cf", "pm", "shash", "cid", "dce", "simplify"};

/* Runs a pass in one form and returns the nanoseconds.  Appends the resulting module to `out` unless `out` is NULL. */
static uint64_t
run_form(vyre_registry *registry, vyre_module *module, const char *pass, uint32_t rows, uint32_t rows_a_program, uint32_t form,
         vyre_bytes *out)
{
  bench_fill(module, rows, rows_a_program);
  const uint64_t time = bench_run_pipeline(
      registry, module, pass, &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = devices[form]},
      clock_now);
  if (out)
    bench_check(vyre_vir0_write(module, NULL, 0, out));
  return time;
}

/* Returns whether plain C and the phases produce the same module. */
static bool
compare_forms(vyre_registry *registry, vyre_module *module, const char *pass, uint32_t rows, uint32_t rows_a_program)
{
  bool same = true;
  vyre_bytes plain = {0}, other = {0};
  run_form(registry, module, pass, rows, rows_a_program, 0, &plain);
  for (uint32_t form = 1; form < FORMS - 1; form++) {
    other.size = 0;
    run_form(registry, module, pass, rows, rows_a_program, form, &other);
    same &= other.size == plain.size && memcmp(other.data, plain.data, plain.size) == 0;
  }
  if (!same)
    fprintf(stderr, "bench-phases: %s leaves different modules of %u rows\n", pass, rows);
  vyre_bytes_free(&plain);
  vyre_bytes_free(&other);
  return same;
}

static void
measure(vyre_registry *registry, vyre_module *module, const char *pass, uint32_t rows, uint32_t rows_a_program, uint32_t rounds)
{
  static uint64_t times[FORMS][BENCH_MOST_ROUNDS];
  double median[FORMS];
  for (uint32_t round = 0; round < rounds; round++)
    for (uint32_t form = 0; form < FORMS; form++)
      times[form][round] = run_form(registry, module, pass, rows, rows_a_program, form, NULL);
  for (uint32_t form = 0; form < FORMS; form++)
    median[form] = (double)bench_median(times[form], rounds) / rows;
  printf("| %s%s | %u | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f |\n", pass, rows_a_program == rows ? "" : " in 1000s", rows,
         median[0], median[1], median[2], median[1] / median[0], median[2] / median[0], median[3] / median[0]);
  fflush(stdout);
}

int
main(int count, char **arguments)
{
  bench_options options = {.about = "Compares GPU passes as plain C and as phases compiled to C.\n",
                           .rounds = 11,
                           .min = 1000,
                           .max = 1000000,
                           .unit = "rows"};
  vyre_module *module = bench_module();
  vyre_registry *registry = bench_registry();
  bool good = true;
  bench_parse(count, arguments, &options);
  for (uint32_t i = 0; i < FORMS; i++)
    if (threads[i]) {
      const vyre_target_options with = {.struct_size = sizeof with, .threads = threads[i]};
      bench_check(vyre_device_open(&vyre_target_cpu, &with, NULL, &devices[i]));
    }
  printf("| ns a row | rows | plain | phases | two threads | phases / plain | two threads / plain | A/A |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    for (uint32_t rows = options.min; rows <= options.max && (!options.only || strcmp(options.only, passes[i]) == 0); rows *= 10)
      for (uint32_t one = 0; one < 2; one++) {
        const uint32_t rows_a_program = one || rows < SMALL ? rows : SMALL;
        good &= compare_forms(registry, module, passes[i], rows, rows_a_program);
        if (one == 0 || rows > SMALL)
          measure(registry, module, passes[i], rows, rows_a_program, options.rounds);
      }
  for (uint32_t i = 0; i < FORMS; i++)
    bench_check(vyre_device_close(devices[i]));
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return good ? 0 : 1;
}
