/* The driver's statistics of one or two programs, and the time to compile them.
 *
 * No program runs.  Each program is compiled several times, two by turns, without the driver's cache, and the median is printed.
 * Both have the specialization values of the first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An empty program, for the driver's least figures. */
static const uint32_t empty_words[] = {
    0x07230203,
    0x00010000,
    0,
    5,
    0, /* SPIR-V 1.0, ids below 5 */
    2u << 16 | 17,
    1, /* OpCapability Shader */
    3u << 16 | 14,
    0,
    1, /* OpMemoryModel Logical GLSL450 */
    5u << 16 | 15,
    5,
    1,
    0x6e69616d,
    0, /* OpEntryPoint GLCompute %1 "main" */
    6u << 16 | 16,
    1,
    17,
    1,
    1,
    1, /* OpExecutionMode %1 LocalSize 1 1 1 */
    2u << 16 | 19,
    2, /* %2 = OpTypeVoid */
    3u << 16 | 33,
    3,
    2, /* %3 = OpTypeFunction %2 */
    5u << 16 | 54,
    2,
    1,
    0,
    3, /* %1 = OpFunction %2 None %3 */
    2u << 16 | 248,
    4, /* OpLabel */
    1u << 16 | 253,
    1u << 16 | 56, /* OpReturn, OpFunctionEnd */
};

/* Returns the figure with the length of the code, under one of the names that drivers use.  Returns NULL if there is none. */
static const run_figure *
find_length(const run_figures *f)
{
  static const char *const words[] = {"Instruction", "Code size", "Binary size"};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    for (uint32_t i = 0; i < f->count; i++)
      if (f->items[i].kind == VYRE_FIGURE_U64 && strncasecmp(f->items[i].name, words[w], strlen(words[w])) == 0)
        return &f->items[i];
  return NULL;
}

/* ---- printing ------------------------------------------------------------------------------------------------------------ */

static double
microseconds(run_figures *f)
{
  return (double)run_figures_median(f) / 1e3;
}

static const char *
value_text(const run_figure *f, char out[32])
{
  if (!f)
    snprintf(out, 32, "-");
  else if (f->kind == VYRE_FIGURE_U64)
    snprintf(out, 32, "%" PRIu64, f->u64);
  else if (f->kind == VYRE_FIGURE_F64)
    snprintf(out, 32, "%g", f->f64);
  else
    snprintf(out, 32, f->is_true ? "yes" : "no");
  return out;
}

static const char *
ratio_text(double first, double second, char out[32])
{
  if (first == second)
    return "1.000";
  if (first == 0)
    return "-";
  snprintf(out, 32, "%.3f", second / first);
  return out;
}

static void
print_pair(const char *name, const run_figure *first, const run_figure *second)
{
  char a[32], b[32], ratio[32];
  printf("%-32s  %20s  %20s  %7s\n", name, value_text(first, a), value_text(second, b),
         first && second ? ratio_text(run_figure_number(first), run_figure_number(second), ratio) : "-");
}

static void
print_one(run_figures *f)
{
  char value[32];
  printf("%-32s  %20s\n", "figure", "value");
  for (uint32_t i = 0; i < f->count; i++)
    printf("%-32s  %20s  %s\n", f->items[i].name, value_text(&f->items[i], value), f->items[i].text ? f->items[i].text : "");
  printf("%-32s  %20.1f  microseconds, the median of %u time%s\n", "compile time", microseconds(f), f->compiles,
         f->compiles == 1 ? "" : "s");
}

static void
print_two(run_figures *first, run_figures *second)
{
  char ratio[32];
  printf("%-32s  %20s  %20s  %7s\n", "figure", "first", "second", "ratio");
  for (uint32_t i = 0; i < first->count; i++)
    print_pair(first->items[i].name, &first->items[i], run_figures_find(second, first->items[i].name));
  for (uint32_t i = 0; i < second->count; i++)
    if (!run_figures_find(first, second->items[i].name))
      print_pair(second->items[i].name, NULL, &second->items[i]);
  const double a = microseconds(first), b = microseconds(second);
  printf("%-32s  %20.1f  %20.1f  %7s\n", "compile time", a, b, ratio_text(a, b, ratio));
}

/* Prints a note if the driver removed the whole program, and if figures are left out. */
static void
print_notes(const run_program *program, const run_figures *f, const run_figures *empty)
{
  const run_figure *length = find_length(f), *least = find_length(empty);
  if (length && least && length->u64 <= least->u64)
    printf("note: %s: the driver removed the whole program: %s is %" PRIu64 ", as for an empty program\n", program->path,
           length->name, length->u64);
  if (f->left_out)
    printf("note: %s: %u more figures are left out\n", program->path, f->left_out);
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

typedef struct asked {
  run_kernel kernels[2];
  run_figures figures[2], empty;
} asked;

static vyre_status
measure_all(const run_options *options, vyre_target *target, const run_program *const *programs, uint32_t count, asked *a)
{
  const vyre_target_ops *ops = options->target;
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(run_kernel_prepare(options, ops, target, programs[i], &a->kernels[i]));
  if (a->kernels[0].desc.form == VYRE_KERNEL_SPIRV) {
    a->kernels[1].desc.specs = a->kernels[0].desc.specs; /* by id, because the second may have lost the names */
    a->kernels[1].desc.spec_count = a->kernels[0].desc.spec_count;
    const run_kernel empty = {.desc = {.label = "an empty program",
                                       .form = VYRE_KERNEL_SPIRV,
                                       .code = empty_words,
                                       .size = sizeof empty_words,
                                       .entry = "main",
                                       .workgroup = {1, 1, 1}}};
    VYRE_TRY(run_figures_query(ops, target, &empty, &a->empty)); /* first, because a process's first compilation takes longer */
  }
  return vyre_status_note(run_figures_query_all(ops, target, (const run_kernel *const[]){&a->kernels[0], &a->kernels[1]}, count,
                                                (run_figures *const[]){&a->figures[0], &a->figures[1]}),
                          "-device= chooses another device, -validate enables checks");
}

static void
print_all(const run_options *options, vyre_target *target, const run_program *const *programs, uint32_t count, asked *a)
{
  vyre_device_info info;
  options->target->describe(target, &info);
  printf("device: %s (%s)\n", info.name, info.driver);
  if (count == 1) {
    print_one(&a->figures[0]);
  } else {
    printf("first: %s\nsecond: %s\n", programs[0]->path, programs[1]->path);
    print_two(&a->figures[0], &a->figures[1]);
  }
  for (uint32_t i = 0; i < count; i++)
    print_notes(programs[i], &a->figures[i], &a->empty);
  const run_figure *first = run_figures_find(&a->figures[0], "Subgroup size"),
                   *second = run_figures_find(&a->figures[1], "Subgroup size");
  if (first && second && first->u64 != second->u64)
    printf("note: the driver chose different subgroup sizes, so the figures are not comparable\n");
}

vyre_status
run_statistics(const run_options *options, const run_program *first, const run_program *second)
{
  const run_program *const programs[] = {first, second};
  const uint32_t count = second ? 2 : 1;
  vyre_target *target;
  run_figures_begin();
  asked *a = calloc(1, sizeof *a);
  if (!a)
    return VYRE_OUT_OF_MEMORY("for the driver's figures");
  vyre_status status = run_device_open(options, options->target, &target);
  if (!status) {
    status = measure_all(options, target, programs, count, a);
    if (!status)
      print_all(options, target, programs, count, a);
    if (options->report)
      vyre_report_target_add(options->report, options->target, target);
    status = vyre_status_join(status, options->target->close(target));
  }
  for (uint32_t i = 0; i < 2; i++) {
    run_kernel_free(&a->kernels[i]);
    run_figures_free(&a->figures[i]);
  }
  run_figures_free(&a->empty);
  free(a);
  return status;
}
