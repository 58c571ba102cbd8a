/* What optimizing does to a shader's run time: the example shaders on Vulkan, as glslang made them and as vyre writes them again.
 *
 *   bench-run [-rounds=N] [-passes=PIPELINE] [-device=NAME] [-only=SHADER] FOLDER
 *
 * A measurement is one submission of as many dispatches as take the least time or more (-least=MS, 50), of a pipeline that has run
 * before.  Each round measures the shader before, the same again (A/A), and after; buffers are written anew before each.  What
 * counts is the processor time of the whole process where the device is a CPU, so that other programs disturb little, else the
 * device's own time.  Medians are compared; slower is what is above the noise: the greater of 1 percent and three times what the
 * two medians of A/A differ by.  Exits with 1 if a shader got slower.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "vyre/glsl.h"
#include "vyre/ir.h"
#include "vyre/passmgr.h"
#include "vyre/spirv.h"
#include "vyre/target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_BUFFERS = 4, MOST_ROUNDS = 101, MOST_STEPS = 4096 };

/* The contents of a buffer: words up to 255, floats in [-1, 1), the particles of that shader, nothing, or the words given. */
typedef enum contents { WORDS, FLOATS, PARTICLES, NOTHING, GIVEN } contents;

typedef struct buffer_setup {
  contents contents;
  uint32_t words;
} buffer_setup;

typedef struct setup {
  const char *file;
  uint32_t groups[3];
  buffer_setup buffers[MOST_BUFFERS]; /* by set and binding */
  uint32_t given[16];                 /* of a uniform buffer */
  uint32_t push[4], push_size;
} setup;

enum { ONE = 0x3f800000, HALF = 0x3f000000 };

static const setup setups[] = {
    {"saxpy", {16384}, {{FLOATS, 1 << 20}, {FLOATS, 1 << 20}}, {0}, {0x3f000000, 1 << 20}, 8},
    {"matmul", {32, 32}, {{FLOATS, 1 << 16}, {FLOATS, 1 << 16}, {NOTHING, 1 << 16}}, {0}, {256, 256, 256}, 12},
    {"reduce", {8192}, {{WORDS, 1 << 20}, {NOTHING, 8192 * 3}}, {0}, {0}, 0},
    {"scan", {4096}, {{WORDS, 1 << 20}, {NOTHING, 1 << 20}, {NOTHING, 4096}}, {0}, {0}, 0},
    {"compact", {8192}, {{WORDS, 1 << 20}, {NOTHING, 1 << 20}, {NOTHING, 8192 * 3}}, {0}, {0}, 0},
    {"histogram", {256}, {{WORDS, 1 << 20}, {NOTHING, 256}, {NOTHING, 2}}, {0}, {0}, 0},
    {"sha256", {1024}, {{WORDS, 8 << 16}, {NOTHING, 8 << 16}}, {0}, {0}, 0},
    {"mandelbrot", {64, 64}, {{GIVEN, 8}, {NOTHING, 1 << 18}}, {0xbf000000, 0, 0x3c000000, 512, 512, 64}, {0}, 0},
    {"blur", {32, 128}, {{FLOATS, 4 << 18}, {NOTHING, 4 << 18}}, {0}, {512, 512}, 8},
    {"particles",
     {8192},
     {{PARTICLES, 16 << 18}, {GIVEN, 16}},
     {0, 0, ONE, 0, 0, ONE, 0, 0, ONE, 0, 0, 0, 0, 0xc11ccccd, 0, HALF},
     {0x3c23d70a, 1 << 18},
     8},
};
#define SETUPS (sizeof(setups) / sizeof(*setups))

typedef struct bench {
  const vyre_target_ops *ops;
  vyre_target *target;
  bool device_is_cpu;
  vyre_pipeline *pipeline;
  vyre_module *module;
  unsigned rounds;
  double least_ms;
  const char *folder;
} bench;

typedef struct shader {
  const setup *setup;
  vyre_kernel_slot slots[MOST_BUFFERS];
  uint32_t slot_count, workgroup[3];
  vyre_device_buffer buffers[MOST_BUFFERS];
  uint32_t *data[MOST_BUFFERS];
  vyre_kernel before, after;
  uint32_t steps;
} shader;

static void
stop(vyre_status status)
{
  bench_check("bench-run", status);
}

static uint64_t
now_of_process(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the shaders ---- */

static void
compile_file(const bench *b, const char *name, vyre_bytes *words)
{
  char path[1024], part[4096];
  vyre_bytes text = {0};
  size_t got;
  snprintf(path, sizeof path, "%s/%s.comp", b->folder, name);
  FILE *file = fopen(path, "rb");
  if (!file)
    stop(VYRE_ERROR(VYRE_CODE_INPUT, "cannot open '%s'", path));
  while ((got = fread(part, 1, sizeof part, file)) > 0)
    stop(vyre_bytes_append(&text, part, got));
  fclose(file);
  stop(vyre_glsl_compile(text.data, text.size, path, NULL, (vyre_diagnostics){0}, words));
  vyre_bytes_free(&text);
}

static int
by_binding(const void *a, const void *b)
{
  const vyre_kernel_slot *x = a, *y = b;
  return x->set != y->set ? (x->set < y->set ? -1 : 1) : x->binding < y->binding ? -1 : x->binding > y->binding;
}

/* Slots and workgroup size of the module's program. */
static void
read_interface(const bench *b, shader *s)
{
  const vyre_view *v = vyre_module_view(b->module);
  for (uint32_t row = v->first[v->first[0]]; row; row = v->next[row]) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]), sizes[3] = {v->a[row], v->b[row], v->c[row]};
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
    if (op == VYRE_OP_workgroup)
      for (int k = 0; k < 3; k++)
        s->workgroup[k] = v->imm[sizes[k]]; /* a const, or a spec's default */
    if (op != VYRE_OP_buffer || (space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_UNIFORM) || s->slot_count == MOST_BUFFERS)
      continue;
    const vyre_buffer_info *info = vyre_buffer_info_of(b->module, (vyre_row){row});
    s->slots[s->slot_count++] = (vyre_kernel_slot){
        .set = info->set, .binding = info->binding, .kind = space == VYRE_SPACE_UNIFORM ? VYRE_SLOT_UNIFORM : VYRE_SLOT_STORAGE};
  }
  qsort(s->slots, s->slot_count, sizeof *s->slots, by_binding);
}

static vyre_kernel
compile_kernel(const bench *b, const shader *s, const vyre_bytes *words, const char *label)
{
  const vyre_kernel_desc desc = {
      .label = label,
      .form = VYRE_KERNEL_SPIRV,
      .code = words->data,
      .size = words->size,
      .entry = "main",
      .workgroup = {s->workgroup[0], s->workgroup[1], s->workgroup[2]},
      .slots = s->slots,
      .slot_count = s->slot_count,
      .push_size = s->setup->push_size,
  };
  vyre_kernel kernel;
  stop(b->ops->compile(b->target, &desc, &kernel));
  return kernel;
}

static void
fill(const setup *of, uint32_t index, uint32_t *words)
{
  const buffer_setup *buffer = &of->buffers[index];
  for (uint32_t i = 0; i < buffer->words; i++) {
    const uint32_t random = (i * 0x9e3779b9u) ^ (i * 0x85ebca6bu) >> 15;
    const float value = (float)(random >> 8) / 8388608.0f - 1.0f;
    const bool is_kind = i % 16 == 7, is_age = i % 16 == 12;
    words[i] = 0;
    if (buffer->contents == WORDS)
      words[i] = random >> 24;
    else if (buffer->contents == PARTICLES && (is_kind || is_age))
      words[i] = is_kind ? i / 16 % 4 : 0;
    else if (buffer->contents == FLOATS || buffer->contents == PARTICLES)
      memcpy(&words[i], &value, sizeof value);
    else if (buffer->contents == GIVEN)
      words[i] = of->given[i];
  }
}

static void
prepare(const bench *b, shader *s)
{
  vyre_bytes before = {0}, after = {0};
  compile_file(b, s->setup->file, &before);
  vyre_module_clear(b->module);
  stop(vyre_spirv_read(b->module, before.data, before.size, s->setup->file));
  stop(vyre_module_seal(b->module, NULL));
  read_interface(b, s);
  stop(vyre_pipeline_run(b->pipeline, b->module, NULL));
  stop(vyre_spirv_write(b->module, 0, NULL, &after));
  s->before = compile_kernel(b, s, &before, "before");
  s->after = compile_kernel(b, s, &after, "after");
  for (uint32_t i = 0; i < s->slot_count; i++) {
    const size_t size = s->setup->buffers[i].words * sizeof(uint32_t);
    s->data[i] = malloc(size);
    if (!s->data[i])
      stop(VYRE_OUT_OF_MEMORY("for a buffer"));
    fill(s->setup, i, s->data[i]);
    stop(b->ops->allocate(b->target, size, &s->buffers[i]));
  }
  vyre_bytes_free(&before);
  vyre_bytes_free(&after);
}

static void
release(const bench *b, shader *s)
{
  for (uint32_t i = 0; i < s->slot_count; i++) {
    free(s->data[i]);
    stop(b->ops->free(b->target, s->buffers[i]));
  }
  stop(b->ops->release(b->target, s->before));
  stop(b->ops->release(b->target, s->after));
}

/* ---- measuring ---- */

/* Nanoseconds of `steps` dispatches. */
static uint64_t
measure(const bench *b, const shader *s, vyre_kernel kernel, uint32_t steps)
{
  static vyre_step list[MOST_STEPS];
  vyre_range ranges[MOST_BUFFERS];
  vyre_timing timing;
  for (uint32_t i = 0; i < s->slot_count; i++) {
    ranges[i] = (vyre_range){.buffer = s->buffers[i]};
    stop(vyre_target_write(b->ops, b->target, s->buffers[i], 0, s->setup->buffers[i].words * sizeof(uint32_t), s->data[i]));
  }
  const uint32_t *groups = s->setup->groups;
  const vyre_step step = {
      .kernel = kernel,
      .buffers = ranges,
      .buffer_count = s->slot_count,
      .push = s->setup->push_size ? s->setup->push : NULL,
      .push_size = s->setup->push_size,
      .groups = {groups[0], groups[1] ? groups[1] : 1, groups[2] ? groups[2] : 1},
  };
  for (uint32_t i = 0; i < steps; i++)
    list[i] = step;
  const vyre_sequence sequence = {.steps = list, .step_count = steps};
  const uint64_t start = now_of_process();
  stop(b->ops->submit(b->target, &sequence, &timing));
  const uint64_t used = now_of_process() - start;
  return b->device_is_cpu ? used : timing.device_ns ? timing.device_ns : timing.host_ns;
}

static int
compare_times(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static double
median_ms(uint64_t *times, unsigned count)
{
  qsort(times, count, sizeof *times, compare_times);
  return (double)times[count / 2] / 1e6;
}

/* True: not slower. */
static bool
compare(const bench *b, const setup *of)
{
  enum { BEFORE, AFTER, AGAIN, KINDS };
  uint64_t times[KINDS][MOST_ROUNDS];
  shader s = {.setup = of, .steps = 1};
  prepare(b, &s);
  measure(b, &s, s.after, 1); /* the driver compiles when it first runs */
  measure(b, &s, s.before, 1);
  while (s.steps < MOST_STEPS && (double)measure(b, &s, s.before, s.steps) < b->least_ms * 1.1e6)
    s.steps = s.steps * 2 < MOST_STEPS ? s.steps * 2 : MOST_STEPS;
  for (unsigned round = 0; round < b->rounds; round++) {
    times[BEFORE][round] = measure(b, &s, s.before, s.steps);
    times[AFTER][round] = measure(b, &s, s.after, s.steps);
    times[AGAIN][round] = measure(b, &s, s.before, s.steps);
  }
  const double before = median_ms(times[BEFORE], b->rounds), after = median_ms(times[AFTER], b->rounds),
               again = median_ms(times[AGAIN], b->rounds);
  const double noise = fmax(0.01, 3 * fabs(again / before - 1)), ratio = after / ((before + again) / 2);
  const char *verdict = ratio > 1 + noise ? "SLOWER" : ratio < 1 - noise ? "faster" : "the same";
  printf("%-12s %10u %10.1f %10.1f %8.3f %8.3f  %s\n", of->file, s.steps, before, after, ratio, again / before, verdict);
  fflush(stdout);
  release(b, &s);
  return ratio <= 1 + noise;
}

int
main(int argc, char **argv)
{
  bench b = {.ops = &vyre_target_vulkan, .rounds = 11, .least_ms = 50};
  const char *passes = "canon,cf,dce", *only = NULL;
  vyre_target_options options = {0};
  vyre_registry *registry;
  vyre_device_info info;
  bool good = true;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "-rounds=", 8) == 0)
      b.rounds = (unsigned)strtoul(argv[i] + 8, NULL, 10);
    else if (strncmp(argv[i], "-least=", 7) == 0)
      b.least_ms = strtod(argv[i] + 7, NULL);
    else if (strncmp(argv[i], "-passes=", 8) == 0)
      passes = argv[i] + 8;
    else if (strncmp(argv[i], "-device=", 8) == 0)
      options.device = argv[i] + 8;
    else if (strncmp(argv[i], "-only=", 6) == 0)
      only = argv[i] + 6;
    else
      b.folder = argv[i];
  }
  size_t chosen = 0;
  for (size_t i = 0; i < SETUPS; i++)
    chosen += !only || strcmp(only, setups[i].file) == 0;
  if (!chosen) {
    fprintf(stderr, "bench-run: no shader '%s'\nFix: one of", only);
    for (size_t i = 0; i < SETUPS; i++)
      fprintf(stderr, " %s", setups[i].file);
    fprintf(stderr, "\n");
  }
  if (!chosen || !b.folder || b.rounds == 0 || b.rounds > MOST_ROUNDS) {
    fprintf(stderr, "usage: bench-run [-rounds=N] [-least=MS] [-passes=PIPELINE] [-device=NAME] [-only=SHADER] FOLDER\n");
    return VYRE_CODE_USAGE;
  }
  stop(vyre_module_create(NULL, 0, &b.module));
  stop(vyre_registry_create(NULL, &registry));
  stop(vyre_registry_load_core(registry));
  stop(vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &b.pipeline));
  stop(b.ops->open(&options, NULL, &b.target));
  b.ops->describe(b.target, &info);
  b.device_is_cpu = info.kind == VYRE_DEVICE_CPU;
  printf("%s, %s; %u rounds of dispatches of at least %g ms of %s\n", info.name, passes, b.rounds, b.least_ms,
         b.device_is_cpu ? "processor time" : "device time");
  printf("%-12s %10s %10s %10s %8s %8s\n", "", "dispatches", "before ms", "after ms", "ratio", "A/A");
  for (size_t i = 0; i < SETUPS; i++)
    if (!only || strcmp(only, setups[i].file) == 0)
      good = compare(&b, &setups[i]) && good;
  printf("%s\n", good ? "none is slower beyond the noise" : "some are slower");
  stop(b.ops->close(b.target));
  vyre_pipeline_destroy(b.pipeline);
  vyre_registry_destroy(registry);
  vyre_module_destroy(b.module);
  return good ? 0 : 1;
}
