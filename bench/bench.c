/* Runs of cases in turns, their medians, and the noise between them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include "base/clock.h"
#include "cli/options/console.h"
#include "program.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CASES = 64, BYTES_A_ROW = 44 };

uint64_t
bench_now(void)
{
  return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

void
bench_check(vyre_status status)
{
  if (!status)
    return;
  fprintf(stderr, "%s: error: %s\n", bench_name, vyre_status_text(status));
  exit((int)vyre_status_code(status));
}

void *
bench_allocate(size_t count, size_t size)
{
  void *memory = calloc(count, size);
  if (!memory)
    bench_check(VYRE_OUT_OF_MEMORY("for a benchmark"));
  return memory;
}

const vyre_target_ops *
bench_target(const char *name)
{
  const vyre_target_ops *ops = vyre_target_find(name);
  if (!ops)
    bench_check(VYRE_ERROR(VYRE_CODE_USAGE, "unknown target '%.100s'\nFix: choose cpu, vulkan or cuda", name));
  return ops;
}

/* ---- arguments ----------------------------------------------------------------------------------------------------------- */

void
bench_parse_rows(const bench_usage *usage, int count, char **arguments, void *fields)
{
  char form[64];
  snprintf(form, sizeof form, "[options]%s%s", usage->files ? " " : "", usage->files ? usage->files : "");
  const option_table table = {.program = bench_name,
                              .usage = form,
                              .about = usage->about,
                              .after = "bench/README.md describes the tables.\n",
                              .rows = usage->rows,
                              .count = usage->count,
                              .inputs = offsetof(bench_line, files),
                              .files = offsetof(bench_line, texts)};
  const bench_line *line = fields;
  bench_check(option_table_parse(&table, count, arguments, fields));
  if (line->help) {
    bench_check(console_help(&table, line->help, VYRE_VERSION));
    exit(console_end(bench_name, VYRE_OK, 0));
  }
  if (line->files.count && !usage->files)
    bench_check(VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is not an option\nFix: -help lists the options", line->files.names[0]));
  if (!line->files.count && usage->needs_files)
    bench_check(VYRE_ERROR(VYRE_CODE_USAGE, "no files\nFix: give the shaders to measure; -help lists the options"));
}

/* The fields of the options of benchmarks with sizes. */
typedef struct sizes_line {
  bench_line line;
  option_number rounds, min, max, program;
  const char *only;
} sizes_line;

void
bench_parse(int count, char **arguments, bench_options *options)
{
  enum { MOST = 1000000000 };
#define SIZE(field, text)                                                                                        \
  {                                                                                                              \
    .name = #field, OPTION_NUMBER, offsetof(sizes_line, field), "N", text, OPTION_LAST, .least = 1, .most = MOST \
  }
  const option_row rows[] = {
      SIZE(rounds, "measure at most N rounds; above 101 is 101, and large sizes have fewer"),
      SIZE(min, "begin with this size"),
      SIZE(max, "end with this size"),
      {.name = "only", OPTION_TEXT, offsetof(sizes_line, only), "CASE", "measure only cases whose names contain CASE", OPTION_LAST},
      BENCH_HELP_ROWS,
      SIZE(program, "fill the module with programs of N rows"),
  };
#undef SIZE
  const bench_usage usage = {.about = options->about,
                             .files = options->takes_files ? "[FILE.spv...]" : NULL,
                             .rows = rows,
                             .count = sizeof rows / sizeof *rows - !options->program};
  sizes_line line = {.rounds = {.value = options->rounds},
                     .min = {.value = options->min},
                     .max = {.value = options->max},
                     .program = {.value = options->program},
                     .only = options->only};
  mallopt(M_MMAP_THRESHOLD, 32 << 20); /* as vyre-passmgr does; the peers in this process use it too */
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  bench_parse_rows(&usage, count, arguments, &line);
  options->rounds = line.rounds.value < BENCH_MOST_ROUNDS ? (uint32_t)line.rounds.value : BENCH_MOST_ROUNDS;
  options->min = (uint32_t)line.min.value;
  options->max = (uint32_t)line.max.value;
  options->program = (uint32_t)line.program.value;
  options->only = line.only;
  options->files = line.line.files;
}

/* ---- times --------------------------------------------------------------------------------------------------------------- */

static int
compare_times(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void
bench_sort(uint64_t *times, size_t count)
{
  qsort(times, count, sizeof *times, compare_times);
}

uint64_t
bench_median(uint64_t *times, size_t count)
{
  bench_sort(times, count);
  return times[count / 2];
}

/* Returns the number of rounds: fewer for large sizes. */
static uint32_t
rounds_for(const bench_options *options, uint32_t size)
{
  uint32_t rounds = size >= 1000000 ? 30000000 / size : options->rounds;
  rounds = rounds < options->rounds ? rounds : options->rounds;
  return rounds < 3 ? 3 : rounds;
}

static void
print_line(const char *name, uint32_t size, double median, double spread, double relative, double slope)
{
  char growth[16] = "";
  if (!isnan(slope))
    snprintf(growth, sizeof(growth), "%.2f", slope);
  printf("%-34s %9u %11.3f %7.0f%% %9.2f %9.1f %8.1f %6s\n", name, size, median * 1e-6, spread * 100, median / size,
         (double)size / median * 1e3, relative, growth);
}

/* Inserts the first case again, half a round later.  Directly after itself it would have warm caches. */
static uint32_t
add_twin(bench_case *chosen, uint32_t count, uint32_t *base)
{
  uint32_t middle = (count + 1) / 2;
  memmove(chosen + middle + 1, chosen + middle, (count - middle) * sizeof(*chosen));
  chosen[middle] = (bench_case){"(A/A: as the first)", chosen[0].run};
  *base += *base >= middle;
  return count + 1;
}

static double
slope_of(double from, double to, uint32_t from_size, uint32_t to_size)
{
  return log(to / from) / log((double)to_size / from_size);
}

/* Prints the growth of each case's time from the least size to the greatest, relative to the baseline's. */
static bool
print_growth(const bench_case *cases, uint32_t count, uint32_t base, const double *from, const double *to, uint32_t from_size,
             uint32_t to_size, double most)
{
  bool good = true;
  double memory = to[base] / from[base] * from_size / to_size;
  printf("%-34s %12s %12s %8s %8s %6s\n", "growth", "ns, least", "ns, greatest", "ratio", "/ base's", "slope");
  for (uint32_t i = 0; i < count; i++) {
    double slope = slope_of(from[i], to[i], from_size, to_size), ratio = to[i] / from[i] * from_size / to_size;
    printf("%-34s %12.2f %12.2f %8.2f %8.2f %6.2f%s\n", cases[i].name, from[i] / from_size, to[i] / to_size, ratio, ratio / memory,
           slope, slope > most ? "  OVER THE LIMIT" : "");
    good &= slope <= most;
  }
  printf("%s from %u to %u: %s %.2f\n", good ? "linear" : "NOT LINEAR", from_size, to_size,
         good ? "every slope is within" : "a slope is over", most);
  return good;
}

bool
bench_run(const bench_case *cases, uint32_t count, const char *baseline, void *user, const bench_options *options)
{
  static uint64_t times[MOST_CASES][BENCH_MOST_ROUNDS];
  bench_case chosen[MOST_CASES];
  double before[MOST_CASES], first[MOST_CASES];
  uint32_t chosen_count = 0, base = 0, size_before = 0, first_size = 0;
  for (uint32_t i = 0; i < count && chosen_count < MOST_CASES - 1; i++) {
    bool is_base = strcmp(cases[i].name, baseline) == 0;
    if (!is_base && options->only && !strstr(cases[i].name, options->only))
      continue;
    if (is_base)
      base = chosen_count;
    chosen[chosen_count++] = cases[i];
  }
  chosen_count = add_twin(chosen, chosen_count, &base);
  printf("%-34s %9s %11s %8s %9s %9s %8s %6s\n", "case", options->unit, "median ms", "spread", "ns each", "M each/s", "x base",
         "slope");
  for (uint64_t size = 1000; size <= options->max && size <= UINT32_MAX; size *= 10) {
    if (size < options->min)
      continue;
    uint32_t rounds = rounds_for(options, (uint32_t)size);
    for (uint32_t round = 0; round < rounds; round++)
      for (uint32_t i = 0; i < chosen_count; i++)
        times[i][round] = chosen[i].run(user, (uint32_t)size);
    for (uint32_t i = 0; i < chosen_count; i++)
      bench_sort(times[i], rounds);
    double base_median = (double)times[base][rounds / 2];
    for (uint32_t i = 0; i < chosen_count; i++) {
      double median = (double)times[i][rounds / 2];
      double spread = (double)(times[i][rounds - 1 - rounds / 4] - times[i][rounds / 4]) / median;
      double slope = size_before ? slope_of(before[i], median, size_before, (uint32_t)size) : (double)NAN;
      print_line(chosen[i].name, (uint32_t)size, median, spread, median / base_median, slope);
      before[i] = median;
      if (!first_size)
        first[i] = median;
    }
    size_before = (uint32_t)size;
    first_size = first_size ? first_size : size_before;
    printf("\n");
    fflush(stdout);
  }
  if (options->most_slope <= 0 || first_size == size_before)
    return true;
  return print_growth(chosen, chosen_count, base, first, before, first_size, size_before, options->most_slope);
}

/* ---- passes and targets -------------------------------------------------------------------------------------------------- */

void
bench_fill(vyre_module *module, uint32_t rows, uint32_t each)
{
  vyre_module_clear(module);
  while (vyre_module_view(module)->rows < rows && !vyre_module_status(module))
    bench_grow(module, rows < each ? rows : each, BENCH_DEEPEST);
  bench_check(vyre_module_seal(module, NULL));
}

uint64_t
bench_run_copy(void *user, uint32_t rows)
{
  static char *memory;
  static size_t size;
  (void)user;
  if (size != (size_t)rows * BYTES_A_ROW) {
    size = (size_t)rows * BYTES_A_ROW;
    free(memory);
    memory = bench_allocate(2, size);
    memset(memory, 1, 2 * size);
  }
  const uint64_t start = bench_now();
  memcpy(memory, memory + size, size);
  __asm__ volatile("" : : "r"(memory) : "memory"); /* reads the copy, so that the compiler keeps it */
  return bench_now() - start;
}

vyre_module *
bench_module(void)
{
  vyre_module *module;
  bench_check(vyre_module_create(NULL, 0, &module));
  return module;
}

vyre_registry *
bench_registry(void)
{
  vyre_registry *registry;
  bench_check(vyre_registry_create(NULL, &registry));
  bench_check(vyre_registry_load_core(registry));
  return registry;
}

uint64_t
bench_run_pipeline(const vyre_registry *registry, vyre_module *module, const char *text, const vyre_pipeline_options *how,
                   uint64_t (*now)(void))
{
  vyre_pipeline *pipeline;
  bench_check(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  const uint64_t start = now();
  bench_check(vyre_pipeline_run(pipeline, module, how));
  const uint64_t time = now() - start;
  vyre_pipeline_destroy(pipeline);
  return time;
}

vyre_kernel
bench_compile_copy(const vyre_target_ops *ops, vyre_target *target, const char *text, uint32_t invocations)
{
  static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE, .is_read_only = true},
                                           {.binding = 1, .kind = VYRE_SLOT_STORAGE}};
  vyre_device_info info;
  vyre_bytes code = {0};
  vyre_kernel kernel;
  vyre_module *module = bench_module();
  ops->describe(target, &info);
  const bool is_ptx = info.forms >> VYRE_KERNEL_PTX & 1u;
  bench_check(vyre_text_parse(module, text, strlen(text), "copy.vir", (vyre_diagnostics){0}));
  if (is_ptx)
    bench_check(
        vyre_ptx_write(module, (vyre_row){0}, &(vyre_ptx_options){.struct_size = sizeof(vyre_ptx_options), .name = "copy"}, &code));
  else
    bench_check(vyre_spirv_write(module, 0, NULL, &code));
  const vyre_kernel_desc desc = {.label = "copy",
                                 .form = is_ptx ? VYRE_KERNEL_PTX : VYRE_KERNEL_SPIRV,
                                 .code = code.data,
                                 .size = code.size,
                                 .entry = "copy",
                                 .workgroup = {invocations, 1, 1},
                                 .slots = slots,
                                 .slot_count = 2};
  bench_check(ops->compile(target, &desc, &kernel));
  vyre_bytes_free(&code);
  vyre_module_destroy(module);
  return kernel;
}
