/* The passes, as the manager runs them: with the analyses and columns that they need, and with sealing.
 *
 *   bench-passes [-rounds=N] [-min=ROWS] [-max=ROWS] [-only=CASE]
 *
 * Each pipeline runs over one program of all the rows, and over programs of 1,000 rows ("in 1000s").  Ends with 1 where one does
 * not grow linearly.  The base is a copy loop over as many rows of 44 bytes: what memory alone would take.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "program.h"
#include "vyre/passmgr.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_A_ROW 44u

enum { SMALL = 1000 };

typedef struct bench {
  vyre_module *module; /* used again and again: its memory is there */
  vyre_registry *registry;
  char *memory; /* copied from one half to the other */
  size_t bytes;
} bench;

static void
check(vyre_status status)
{
  bench_check("bench-passes", status);
}

static uint64_t
run_copy(void *user, uint32_t rows)
{
  bench *b = user;
  const size_t half = (size_t)rows * BYTES_A_ROW;
  if (b->bytes < 2 * half) {
    free(b->memory);
    b->memory = calloc(2, half);
    b->bytes = b->memory ? 2 * half : 0;
    if (!b->memory)
      check(VYRE_OUT_OF_MEMORY("for a benchmark"));
  }
  uint64_t start = bench_now();
  memcpy(b->memory + half, b->memory, half);
  uint64_t end = bench_now();
  b->memory[0] = (char)(b->memory[half + half / 2] + 1); /* it is looked at */
  return end - start;
}

static uint64_t
run_pipeline(bench *b, uint32_t rows, uint32_t rows_a_program, const char *text)
{
  const vyre_view *view = vyre_module_view(b->module);
  vyre_pipeline *pipeline;
  vyre_module_clear(b->module);
  while (view->rows < rows && !vyre_module_status(b->module))
    bench_grow(b->module, rows_a_program, BENCH_DEEPEST);
  check(vyre_module_seal(b->module, NULL));
  check(vyre_pipeline_parse(b->registry, text, strlen(text), "-passes", &pipeline));
  uint64_t start = bench_now();
  check(vyre_pipeline_run(pipeline, b->module, NULL));
  uint64_t end = bench_now();
  vyre_pipeline_destroy(pipeline);
  return end - start;
}

/* Pipelines, each with a name for its functions. */
// clang-format off
#define PIPELINES(P)              \
  P(canon, "canon")               \
  P(cf, "cf")                     \
  P(shash, "shash")               \
  P(cid, "cid")                   \
  P(pm, "pm")                     \
  P(expand, "expand")             \
  P(number, "canon,cf,shash,cid") \
  P(cse, "cse")                   \
  P(cprop, "cprop")               \
  P(dbe, "dbe")                   \
  P(licm, "licm")                 \
  P(dse, "dse")                   \
  P(dce, "dce")                   \
  P(limits, "limits")             \
  P(clean, "canon,cf,dce")        \
  P(all, "canon,cf,shash,cid,cse,dce")
// clang-format on

#define FUNCTIONS(name, text)                                   \
  static uint64_t run_##name(void *user, uint32_t rows)         \
  {                                                             \
    return run_pipeline(user, rows, rows, text);                \
  }                                                             \
  static uint64_t run_##name##_small(void *user, uint32_t rows) \
  {                                                             \
    return run_pipeline(user, rows, SMALL, text);               \
  }
PIPELINES(FUNCTIONS)

#define CASES(name, text) {text, run_##name}, {text " in 1000s", run_##name##_small},

int
main(int count, char **arguments)
{
  static const bench_case cases[] = {{"copy 44 bytes a row", run_copy}, PIPELINES(CASES)};
  bench_options options = {.rounds = 21, .min = 10000, .max = 10000000, .unit = "rows", .most_slope = 1.3};
  bench_parse(count, arguments, &options);
  bench b = {0};
  check(vyre_module_create(NULL, 0, &b.module));
  check(vyre_registry_create(NULL, &b.registry));
  check(vyre_registry_load_core(b.registry));
  bool good = bench_run(cases, sizeof(cases) / sizeof(cases[0]), "copy 44 bytes a row", &b, &options);
  vyre_registry_destroy(b.registry);
  vyre_module_destroy(b.module);
  free(b.memory);
  return good ? 0 : 1;
}
