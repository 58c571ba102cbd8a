/* Compares vyre with libSPIRV-Tools-opt on shaders, in one process.  Measures the size of the output, and the times of both in
 * turns: vyre's import, passes and export, and the peer's parser, comparable passes and emitter.
 *
 *   bench-shaders [-passes=PIPELINE] [-rounds=N] [-each] [-ops] [-batch=N] FILE.spv|FILE.comp ...
 *
 * Sizes are instructions and lanes (reduction.c): of each shader with -each, by instruction with -ops.  A time is the sum over
 * all files, as the median over the rounds.  -rounds=0 measures no times.  One module is cleared for each file and the passes
 * are loaded once, as in a program that optimizes many shaders.  Modules that vyre or a peer refuses are counted and not
 * compared.  -batch reads the files repeatedly into one table of up to N programs, seals the table once, and writes each
 * program.  The A/A line compares vyre with itself and shows the noise.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "peer.h"
#include "reduction.h"
#include "vyre/glsl.h"
#include "vyre/io.h"
#include "vyre/ir.h"
#include "vyre/passmgr.h"
#include "vyre/spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-shaders";

typedef struct shader {
  const char *path;
  vyre_bytes words;
} shader;

static void
read_shader(shader *s)
{
  vyre_bytes text = {0};
  bench_check(vyre_input_load(s->path, &text));
  if (vyre_spirv_is(text.data, text.size)) {
    s->words = text;
    return;
  }
  bench_check(vyre_glsl_compile(text.data, text.size, s->path, NULL, (vyre_diagnostics){0}, &s->words));
  vyre_bytes_free(&text);
}

/* The parts of import and export, in order. */
enum { PART_CLEAR, PART_IMPORT, PART_SEAL, PART_EXPORT, PARTS };

static void
add_part(uint64_t parts[PARTS], int part, uint64_t *start)
{
  const uint64_t now = bench_now();
  parts[part] += now - *start;
  *start = now;
}

/* Measures import and export in parts.  Reading the clock takes time, so the whole is measured separately. */
static void
time_parts(vyre_module *module, const shader *shaders, size_t count, uint64_t parts[PARTS])
{
  vyre_bytes out = {0};
  memset(parts, 0, PARTS * sizeof(*parts));
  for (size_t i = 0; i < count; i++) {
    uint64_t start = bench_now();
    vyre_module_clear(module);
    add_part(parts, PART_CLEAR, &start);
    bench_check(vyre_spirv_read(module, shaders[i].words.data, shaders[i].words.size, shaders[i].path));
    add_part(parts, PART_IMPORT, &start);
    bench_check(vyre_module_seal(module, NULL));
    add_part(parts, PART_SEAL, &start);
    out.size = 0;
    bench_check(vyre_spirv_write(module, 0, NULL, &out));
    add_part(parts, PART_EXPORT, &start);
  }
  vyre_bytes_free(&out);
}

static vyre_status
run_vyre(vyre_module *module, const shader *s, const vyre_pipeline *pipeline, vyre_bytes *out)
{
  vyre_module_clear(module);
  VYRE_TRY(vyre_spirv_read(module, s->words.data, s->words.size, s->path));
  VYRE_TRY(vyre_module_seal(module, NULL));
  if (pipeline)
    VYRE_TRY(vyre_pipeline_run(pipeline, module, NULL));
  out->size = 0;
  return vyre_spirv_write(module, 0, NULL, out);
}

enum { VYRE_IO, PEER_IO, VYRE_PASSES, PEER_PASSES, VYRE_AGAIN, KINDS };

static void
run_kind(int kind, vyre_module *module, const shader *shaders, size_t count, const vyre_pipeline *pipeline, vyre_bytes *out)
{
  for (size_t i = 0; i < count; i++) {
    const uint32_t *words = (const uint32_t *)(const void *)shaders[i].words.data;
    bool ok = true;
    switch (kind) {
    case VYRE_IO:
      bench_check(run_vyre(module, &shaders[i], NULL, out));
      break;
    case PEER_IO:
      ok = peer_optimize(words, shaders[i].words.size / 4, PEER_NONE, NULL, NULL);
      break;
    case PEER_PASSES:
      ok = peer_optimize(words, shaders[i].words.size / 4, PEER_LIKE, NULL, NULL);
      break;
    default:
      bench_check(run_vyre(module, &shaders[i], pipeline, out));
      break;
    }
    if (!ok)
      bench_check(VYRE_ERROR(VYRE_CODE_INPUT, "spirv-opt refuses '%s'", shaders[i].path));
  }
}

/* Runs a kind three times to warm up caches and heap, and then once more.  Returns the nanoseconds of the last run. */
static uint64_t
time_kind(int kind, vyre_module *module, const shader *shaders, size_t count, const vyre_pipeline *pipeline)
{
  vyre_bytes out = {0};
  for (int i = 0; i < 3; i++)
    run_kind(kind, module, shaders, count, pipeline, &out);
  const uint64_t start = bench_now();
  run_kind(kind, module, shaders, count, pipeline, &out);
  const uint64_t end = bench_now();
  vyre_bytes_free(&out);
  return end - start;
}

/* Prints the medians of the parts over the rounds, in nanoseconds for each instruction of a function body. */
static void
print_parts(vyre_module *module, const shader *shaders, size_t count, unsigned rounds, size_t body)
{
  static const char *const names[PARTS] = {"clear", "import", "seal", "export"};
  uint64_t *times[PARTS], parts[PARTS];
  for (int part = 0; part < PARTS; part++)
    times[part] = bench_allocate(rounds, sizeof(uint64_t));
  for (unsigned round = 0; round < rounds + 2; round++) { /* the first two warm up */
    time_parts(module, shaders, count, parts);
    for (int part = 0; part < PARTS && round >= 2; part++)
      times[part][round - 2] = parts[part];
  }
  printf("of import and export:");
  for (int part = 0; part < PARTS; part++) {
    printf("%s %s %.1f", part ? "," : "", names[part], (double)bench_median(times[part], rounds) / (double)body);
    free(times[part]);
  }
  printf(" ns/inst\n");
}

/* Imports all programs into one table and exports them.  The second round reuses the memory. */
static void
run_batch(const shader *shaders, size_t count, size_t programs)
{
  vyre_module *module = bench_module();
  vyre_bytes out = {0};
  uint64_t times[4] = {0};
  for (int round = 0; round < 2; round++) {
    vyre_module_clear(module);
    times[0] = bench_now();
    for (size_t i = 0; i < programs; i++)
      bench_check(vyre_spirv_read(module, shaders[i % count].words.data, shaders[i % count].words.size, shaders[i % count].path));
    times[1] = bench_now();
    bench_check(vyre_module_seal(module, NULL));
    times[2] = bench_now();
    for (uint32_t i = 0; i < vyre_module_input_count(module); i++) {
      out.size = 0;
      bench_check(vyre_spirv_write(module, i, NULL, &out));
    }
    times[3] = bench_now();
  }
  const double n = (double)programs;
  printf("%9zu %10u %12.0f %12.0f %12.0f\n", programs, vyre_module_view(module)->rows, (double)(times[1] - times[0]) / n,
         (double)(times[2] - times[1]) / n, (double)(times[3] - times[2]) / n);
  vyre_bytes_free(&out);
  vyre_module_destroy(module);
}

static void
run_batches(const shader *shaders, size_t count, size_t most)
{
  static const size_t sizes[] = {10, 1000, 50000};
  printf("\none table of many\n%9s %10s %12s %12s %12s   ns a program\n", "programs", "rows", "import", "seal", "export");
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && sizes[i] <= most; i++)
    run_batch(shaders, count, sizes[i]);
}

/* ---- reduction -------------------------------------------------------------------------------------------------------------- */

typedef struct measured {
  reduction *result;
  size_t at;
  reduction_form form;
} measured;

static void
measure(void *user, const uint32_t *words, size_t count)
{
  const measured *m = user;
  reduction_measure(m->result, m->at, m->form, words, count);
}

/* Measures each shader before, after vyre, and after each peer. */
static void
measure_all(vyre_module *module, const shader *shaders, const vyre_pipeline *pipeline, reduction *r)
{
  vyre_bytes out = {0};
  for (size_t i = 0; i < r->count; i++) {
    const uint32_t *words = (const uint32_t *)(const void *)shaders[i].words.data;
    const size_t count = shaders[i].words.size / 4;
    reduction_entry *e = &r->entries[i];
    e->path = shaders[i].path;
    reduction_measure(r, i, REDUCTION_BEFORE, words, count);
    const vyre_status status = run_vyre(module, &shaders[i], pipeline, &out);
    if (status)
      fprintf(stderr, "%s: %s\n", shaders[i].path, vyre_status_text(status));
    else
      reduction_measure(r, i, REDUCTION_VYRE, (const uint32_t *)(const void *)out.data, out.size / 4);
    e->refused[REDUCTION_VYRE] = status != NULL;
    vyre_status_free(status);
    e->refused[REDUCTION_LIKE] = !peer_optimize(words, count, PEER_LIKE, measure, &(measured){r, i, REDUCTION_LIKE});
    e->refused[REDUCTION_O] = !peer_optimize(words, count, PEER_O, measure, &(measured){r, i, REDUCTION_O});
  }
  vyre_bytes_free(&out);
}

/* Keeps the shaders that both sides can process.  Returns the sum of their instructions. */
static size_t
keep_compared(shader *shaders, const reduction *r, size_t *count)
{
  size_t kept = 0, body = 0;
  for (size_t i = 0; i < r->count; i++) {
    const reduction_entry *e = &r->entries[i];
    if (e->refused[REDUCTION_VYRE] || e->refused[REDUCTION_LIKE]) {
      vyre_bytes_free(&shaders[i].words);
      continue;
    }
    shaders[kept++] = shaders[i];
    body += e->sizes[REDUCTION_BEFORE].instructions;
  }
  *count = kept;
  return body;
}

/* ---- times
 * ------------------------------------------------------------------------------------------------------------------- */

static void
print_times(vyre_module *module, const shader *shaders, size_t count, const vyre_pipeline *pipeline, unsigned rounds, size_t body)
{
  static const char *const names[] = {"vyre: import, export", "spirv-opt: parse, emit", "vyre: import, passes, export",
                                      "spirv-opt: the like passes"};
  uint64_t *times[KINDS], median[KINDS];
  for (int kind = 0; kind < KINDS; kind++)
    times[kind] = bench_allocate(rounds, sizeof(uint64_t));
  for (unsigned round = 0; round < rounds; round++)
    for (int kind = 0; kind < KINDS; kind++)
      times[kind][round] = time_kind(kind, module, shaders, count, pipeline);
  for (int kind = 0; kind < KINDS; kind++) {
    median[kind] = bench_median(times[kind], rounds);
    free(times[kind]);
  }

  printf("\n%zu files, %zu body instructions, medians of %u rounds\n%-32s %10s %12s\n", count, body, rounds, "", "ms", "ns/inst");
  for (int kind = 0; kind < VYRE_AGAIN; kind++)
    printf("%-32s %10.3f %12.1f\n", names[kind], (double)median[kind] / 1e6, (double)median[kind] / (double)body);
  printf("ratio, import and export alone:  %.1f\n", (double)median[PEER_IO] / (double)median[VYRE_IO]);
  printf("ratio, with passes:              %.1f\n", (double)median[PEER_PASSES] / (double)median[VYRE_PASSES]);
  printf("A/A (vyre against itself):       %.3f\n", (double)median[VYRE_PASSES] / (double)median[VYRE_AGAIN]);
  print_parts(module, shaders, count, rounds, body);
}

/* ---- the command line ---------------------------------------------------------------------------------------------------- */

typedef struct command_line {
  bench_line line;
  const char *passes;
  option_number rounds, batch;
  bool each, ops;
} command_line;

#define AT(field) offsetof(command_line, field)

static const option_row option_rows[] = {
    {.name = "passes", OPTION_TEXT, AT(passes), "PIPELINE", "run this pipeline. Default: default<O2>", OPTION_LAST},
    {.name = "rounds",
     OPTION_NUMBER,
     AT(rounds),
     "N",
     "measure times in N rounds; 0 for none. Default: 21",
     OPTION_LAST,
     .most = UINT32_MAX},
    {.name = "each", OPTION_FLAG, AT(each), NULL, "print the size of each shader"},
    {.name = "ops", OPTION_FLAG, AT(ops), NULL, "print the sizes by instruction"},
    {.name = "batch",
     OPTION_NUMBER,
     AT(batch),
     "N",
     "also read the files repeatedly into one table of up to N programs",
     OPTION_LAST,
     .most = UINT32_MAX},
    BENCH_HELP_ROWS,
};

static const bench_usage usage = {.about = "Compares vyre with libSPIRV-Tools-opt: the size of the output, and times.\n",
                                  .files = "FILE.spv|FILE.comp...",
                                  .needs_files = true,
                                  .rows = option_rows,
                                  .count = sizeof option_rows / sizeof *option_rows};

int
main(int argc, char **argv)
{
  command_line line = {.passes = "default<O2>", .rounds = {.value = 21}};
  bench_parse_rows(&usage, argc, argv, &line);
  const char *passes = line.passes;
  const uint32_t rounds = (uint32_t)line.rounds.value, batch = (uint32_t)line.batch.value;
  size_t count = line.line.files.count, body;
  shader *shaders = bench_allocate(count, sizeof *shaders);
  reduction *left = bench_allocate(1, sizeof *left);
  vyre_registry *registry = bench_registry();
  vyre_pipeline *pipeline;
  vyre_module *module = bench_module();
  bench_check(vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &pipeline));
  for (size_t i = 0; i < count; i++) {
    shaders[i].path = line.line.files.names[i];
    read_shader(&shaders[i]);
  }

  left->entries = bench_allocate(count, sizeof *left->entries);
  left->count = count;
  measure_all(module, shaders, pipeline, left);
  printf("%zu files, -passes='%s'\n", count, passes);
  reduction_print(left, line.each, line.ops);
  body = keep_compared(shaders, left, &count);
  if (rounds && count)
    print_times(module, shaders, count, pipeline, rounds, body);
  if (batch && count)
    run_batches(shaders, count, batch);

  for (size_t i = 0; i < count; i++)
    vyre_bytes_free(&shaders[i].words);
  free(shaders);
  free(left->entries);
  free(left);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return 0;
}
