/* Row functions of GPU passes, generated as C, against the same passes written by hand.
 *
 *   bench-kernels [-rounds=N] [-min=ROWS] [-max=ROWS] [-only=PASS]
 *
 * vyre-kernelc makes programs of the passes' kernel files, which are compiled as vyre itself is, by the compiler that built it
 * (VYRE_BENCH_CFLAGS in the environment: others than -O3; VYRE_BENCH_KEEP keeps the files).
 * What is measured of the passes in C is their function alone, without the manager around it.  Each run of a round begins with a
 * fresh copy of all columns.  Measured are, in turn: the generated function in one call; in two calls, as threads would (its
 * atomics are real then); in one call again (A/A); the pass.  What they leave is compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "program.h"
#include "vyre/c.h"
#include "vyre/ir.h"
#include "vyre/passmgr.h"
#include "vyre/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = 3, MOST_BUFFERS = 32, MOST_ROUNDS = 1010 };

typedef enum run_kind { ONE_CALL, TWO_CALLS, ONE_CALL_AGAIN, PLAIN, RUNS } run_kind;

typedef struct kernel {
  const char *name; /* of the pass */
  const vyre_pass *plain;
  uint32_t (*function)(const vyre_c_dispatch *);
  uint32_t count;
  char names[MOST_BUFFERS][32];
  uint32_t *words[MOST_BUFFERS];
  size_t capacity[MOST_BUFFERS]; /* words */
  uint64_t times[RUNS][MOST_ROUNDS];
} kernel;

static kernel kernels[KERNELS] = {{.name = "limits"}, {.name = "canon"}, {.name = "shash"}};
static uint32_t round_now, warmth;

static void
check(vyre_status status)
{
  bench_check("bench-kernels", status);
}

/* ---- making them ---------------------------------------------------------------------------------------------------------- */

/* The module of a pass's only phase. */
static vyre_module *
read_kernel(const char *pass)
{
  char command[1000], part[4096];
  vyre_bytes text = {0};
  vyre_module *module;
  snprintf(command, sizeof command, "%s -emit=vir %s/passes/%s/%s.vir", VYRE_BENCH_KERNELC, VYRE_SOURCE, pass, pass);
  FILE *pipe = popen(command, "r");
  for (size_t got; pipe && (got = fread(part, 1, sizeof part, pipe)) > 0;)
    check(vyre_bytes_append(&text, part, got));
  if (!pipe || pclose(pipe) != 0)
    check(VYRE_ERROR(VYRE_CODE_INPUT, "this failed: %s", command));
  check(vyre_module_create(NULL, 1u << 16, &module));
  check(vyre_text_parse(module, text.data, text.size, pass, (vyre_diagnostics){0}));
  vyre_bytes_free(&text);
  return module;
}

static void *
compile(const vyre_bytes *text, const char *pass)
{
  char source[64], object[64], command[512];
  snprintf(source, sizeof source, "/tmp/vyre-bench-%ld-%s.c", (long)getpid(), pass);
  snprintf(object, sizeof object, "/tmp/vyre-bench-%ld-%s.so", (long)getpid(), pass);
  FILE *file = fopen(source, "w");
  if (!file || fwrite(text->data, 1, text->size, file) != text->size || fclose(file) != 0)
    check(VYRE_ERROR(VYRE_CODE_INPUT, "cannot write '%s'", source));
  const char *flags = getenv("VYRE_BENCH_CFLAGS");
  snprintf(command, sizeof command, "%s -std=c17 %s -fno-tree-slp-vectorize -ffp-contract=off -fPIC -shared -o %s %s -lm",
           VYRE_BENCH_CC, flags ? flags : "-O3", object, source);
  void *library = system(command) == 0 ? dlopen(object, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library)
    check(VYRE_ERROR(VYRE_CODE_INPUT, "this failed: %s", command));
  if (!getenv("VYRE_BENCH_KEEP")) {
    unlink(source);
    unlink(object);
  }
  return library;
}

static void
make_kernel(kernel *k)
{
  vyre_module *module = read_kernel(k->name);
  const vyre_row program = {vyre_module_view(module)->first[0]};
  vyre_row row;
  vyre_bytes text = {0};
  uint8_t *in_bounds = calloc(vyre_module_view(module)->rows, 1);
  for (; k->count < MOST_BUFFERS && (row = vyre_c_buffer_row(module, program, k->count)).id; k->count++) {
    if (in_bounds)
      in_bounds[row.id] = 1;
    snprintf(k->names[k->count], sizeof k->names[0], "%s", vyre_row_name(module, row));
  }
  check(vyre_c_write(module, program, &(vyre_c_options){.name = "row", .in_bounds = in_bounds}, &text));
  free(in_bounds);
  *(void **)&k->function = dlsym(compile(&text, k->name), "row");
  vyre_bytes_free(&text);
  vyre_module_destroy(module);
}

/* ---- running them --------------------------------------------------------------------------------------------------------- */

static const uint32_t *
column_of(const vyre_view *v, const char *word)
{
  const struct {
    const char *word;
    const uint32_t *column;
  } columns[] = {{"op", v->op}, {"imm", v->imm},         {"imm_hi", v->imm_hi}, {"a", v->a},         {"b", v->b},
                 {"c", v->c},   {"version", v->version}, {"end", v->end},       {"level", v->level}, {"depth", v->depth}};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (strcmp(columns[i].word, word) == 0)
      return columns[i].column;
  return NULL;
}

static uint32_t
fact_of(const vyre_op_info *info, const char *word)
{
  return strcmp(word, "op_flags") == 0 ? info->flags : strcmp(word, "op_mirrored") == 0 ? info->mirrored : info->compares;
}

static void
fill(kernel *k, const vyre_view *v, uint32_t i)
{
  static const uint32_t most[] = {1u << 24, 1u << 20, 1023};
  const char *name = k->names[i];
  const uint32_t *column = column_of(v, name);
  const size_t count = v->rows < VYRE_OP__COUNT ? VYRE_OP__COUNT : v->rows;
  if (k->capacity[i] < count) {
    free(k->words[i]);
    k->words[i] = calloc(count, sizeof(uint32_t));
    k->capacity[i] = k->words[i] ? count : 0;
    if (!k->words[i])
      check(VYRE_OUT_OF_MEMORY("for a benchmark"));
  }
  if (column)
    memcpy(k->words[i], column, v->rows * sizeof *column);
  else if (strcmp(name, "most") == 0)
    memcpy(k->words[i], most, sizeof most);
  else if (strncmp(name, "op_", 3) == 0)
    for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
      k->words[i][op] = fact_of(&v->op_infos[op], name);
  else
    memset(k->words[i], strcmp(name, "over") == 0 ? 0xff : 0, v->rows * sizeof(uint32_t));
}

static void
run_generated(kernel *k, const vyre_view *v, run_kind kind)
{
  vyre_c_buffer buffers[MOST_BUFFERS];
  const uint32_t rows = v->rows - 1, part = kind == TWO_CALLS ? rows / 2 : rows;
  for (uint32_t i = 0; i < k->count; i++) {
    fill(k, v, i);
    buffers[i] = (vyre_c_buffer){k->words[i], k->capacity[i] * sizeof(uint32_t)};
  }
  vyre_c_dispatch d = {{rows, 1, 1}, 0, part, buffers};
  const uint64_t start = bench_now();
  uint32_t fault = k->function(&d);
  if (part != rows) {
    d.first = part;
    d.count = rows - part;
    fault |= k->function(&d);
  }
  k->times[kind][round_now] = bench_now() - start;
  if (fault)
    check(VYRE_ERROR(VYRE_CODE_INTERNAL, "%s: fault %u", k->name, fault));
}

/* Columns that the generated function changed are as the pass left them. */
static void
compare(const kernel *k, const vyre_view *v, const uint32_t *hash)
{
  for (uint32_t i = 0; i < k->count; i++) {
    const uint32_t *is = k->words[i], *should = strcmp(k->names[i], "hash") == 0 ? hash : column_of(v, k->names[i]);
    for (uint32_t row = 1; should && row < v->rows; row++)
      if (is[row] != should[row])
        check(VYRE_ERROR(VYRE_CODE_INTERNAL, "%s: %s of row %u is %u, not %u", k->name, k->names[i], row, is[row], should[row]));
  }
}

/* Reads what the pass will, so that it finds the caches as the others did. */
static void
warm(const kernel *k, const vyre_view *v)
{
  uint32_t sum = 0;
  for (uint32_t i = 0; i < k->count; i++)
    for (uint32_t row = 0; column_of(v, k->names[i]) && row < v->rows; row++)
      sum += column_of(v, k->names[i])[row];
  warmth += sum;
}

static vyre_status
run_kernel(kernel *k, vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  for (uint32_t kind = 0; kind < PLAIN; kind++)
    run_generated(k, v, (run_kind)kind);
  warm(k, v);
  const uint64_t start = bench_now();
  vyre_status status = k->plain->run(ctx, module, out);
  k->times[PLAIN][round_now] = bench_now() - start;
  if (!status)
    compare(k, v, k->plain->provides ? ctx->host->column(ctx, VYRE_HASHES) : NULL);
  return status;
}

/* ---- the passes, with the measuring around their function ------------------------------------------------------------------ */

#define RUN(number)                                                                   \
  static vyre_status run_##number(vyre_pass_ctx *c, vyre_module *m, vyre_result *out) \
  {                                                                                   \
    return run_kernel(&kernels[number], c, m, out);                                   \
  }
RUN(0)
RUN(1)
RUN(2)

static const vyre_plugin *
query(const vyre_host *host)
{
  static vyre_status (*const runs[KERNELS])(vyre_pass_ctx *, vyre_module *, vyre_result *) = {run_0, run_1, run_2};
  static vyre_pass passes[KERNELS];
  static const vyre_pass *list[KERNELS];
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "bench", "1", 1, 1, list, KERNELS, 0};
  for (uint32_t i = 0; i < KERNELS; i++) {
    char path[1000];
    vyre_plugin_query plain;
    snprintf(path, sizeof path, "%s/%s.so", VYRE_BENCH_PASSES, kernels[i].name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return NULL;
    *(void **)&plain = dlsym(library, "vyre_plugin_query_v1");
    kernels[i].plain = plain(host)->passes[0];
    passes[i] = *kernels[i].plain;
    passes[i].run = runs[i];
    passes[i].requires_ |= VYRE_DOMINANCE; /* `end`, of limits' kernel */
    list[i] = &passes[i];
  }
  return &plugin;
}

/* ---- all ------------------------------------------------------------------------------------------------------------------ */

static int
compare_times(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static double
median(uint64_t *times, uint32_t count)
{
  qsort(times, count, sizeof *times, compare_times);
  return (double)times[count / 2];
}

/* A small run takes not much longer than asking for the time. */
static double
clock_cost(void)
{
  uint64_t times[MOST_ROUNDS];
  for (uint32_t i = 0; i < MOST_ROUNDS; i++) {
    const uint64_t start = bench_now();
    times[i] = bench_now() - start;
  }
  return median(times, MOST_ROUNDS);
}

static void
measure(kernel *k, vyre_registry *registry, vyre_module *module, uint32_t rows, uint32_t rounds)
{
  double times[RUNS];
  vyre_pipeline *pipeline;
  check(vyre_pipeline_parse(registry, k->name, strlen(k->name), "-passes", &pipeline));
  for (round_now = 0; round_now < rounds; round_now++) {
    vyre_module_clear(module);
    while (vyre_module_view(module)->rows < rows && !vyre_module_status(module))
      bench_grow(module, rows, BENCH_DEEPEST);
    check(vyre_module_seal(module, NULL));
    check(vyre_pipeline_run(pipeline, module, NULL));
  }
  vyre_pipeline_destroy(pipeline);
  for (uint32_t kind = 0; kind < RUNS; kind++)
    times[kind] = (median(k->times[kind], rounds) - clock_cost()) / vyre_module_view(module)->rows;
  printf("%-8s %9u %10.2f %10.2f %10.2f %10.2f %10.2f\n", k->name, rows, times[ONE_CALL], times[ONE_CALL_AGAIN], times[TWO_CALLS],
         times[PLAIN], times[ONE_CALL] / times[PLAIN]);
}

int
main(int count, char **arguments)
{
  bench_options options = {.rounds = 41, .min = 1000, .max = 1000000, .unit = "rows"};
  vyre_registry *registry;
  vyre_module *module;
  bench_parse(count, arguments, &options);
  check(vyre_module_create(NULL, 0, &module));
  check(vyre_registry_create(NULL, &registry));
  check(vyre_registry_add(registry, query, "bench-kernels", VYRE_ORIGIN_CORE));
  printf("%-8s %9s %10s %10s %10s %10s %10s\n", "ns a row", "rows", "generated", "A/A", "two calls", "plain", "gen/plain");
  for (uint32_t i = 0; i < KERNELS; i++) {
    if (options.only && !strstr(kernels[i].name, options.only))
      continue;
    make_kernel(&kernels[i]);
    for (uint32_t rows = options.min; rows <= options.max; rows *= 10)
      measure(&kernels[i], registry, module, rows, rows >= 1000000 ? 11 : rows >= 100000 ? options.rounds : options.rounds * 10);
    for (uint32_t b = 0; b < kernels[i].count; b++)
      free(kernels[i].words[b]);
  }
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return warmth == 0x12345678u; /* it is looked at */
}
