/* Passes on a device: where the pass manager sweeps a pass's phases, with all that the pass prepared, kernels for devices do the
 * same on the Vulkan target, in both forms, and leave the same memory.
 *
 *   unit-kernel-device-passes [COUNT | FILE...]      also of so many modules of 100 random programs, or of these programs
 *
 * The linker puts a function of this file before that of the pass manager.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"
#include "runner.h"

#include "context.h"
#include "vyre/io.h"

/* A pass with its kernels. */
typedef struct known_pass {
  const char *name;
  phases *file;
  runner_pass kernels;
  uint32_t sweeps, launches[2];
} known_pass;

static known_pass passes[] = {{.name = "limits"}, {.name = "canon"}, {.name = "dce"}, {.name = "pm"},
                              {.name = "shash"},  {.name = "cid"},   {.name = "cf"},  {.name = "simplify"}};
enum { PASSES = sizeof passes / sizeof *passes };

static runner device;

vyre_status __wrap_vyre_phases_sweep(vyre_context *context, const vyre_view *view, const vyre_phases *descriptor,
                                     vyre_c_buffer *memory);
vyre_status __real_vyre_phases_sweep(vyre_context *context, const vyre_view *view, const vyre_phases *descriptor,
                                     vyre_c_buffer *memory);

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* The descriptor's memory is in the order of names. */
static phases_memory
copy_memory(const known_pass *pass, const vyre_phases *descriptor, const vyre_c_buffer *memory)
{
  phases_memory m = {0};
  uint8_t numbers[KERNEL_MOST_NAMES];
  assert_int_equal(kernel_memory(&pass->file->file, numbers), descriptor->memory_count);
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    if (numbers[i] != UINT8_MAX) {
      const vyre_c_buffer *from = &memory[numbers[i]];
      m.counts[i] = (uint32_t)(from->bytes / sizeof(uint32_t));
      m.words[i] = malloc(from->bytes + 1);
      memcpy(m.words[i], from->data, from->bytes);
    }
  return m;
}

static void
compare_memory(const known_pass *pass, const vyre_phases *descriptor, const phases_memory *is, const vyre_c_buffer *should,
               uint32_t form)
{
  uint8_t numbers[KERNEL_MOST_NAMES];
  kernel_memory(&pass->file->file, numbers);
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    for (uint32_t k = 0; k < is->counts[i]; k++) {
      const uint32_t word = ((const uint32_t *)should[numbers[i]].data)[k];
      if (is->words[i][k] != word)
        fail_msg("%s, form %u: %s[%u] is %u, not %u", pass->name, form, descriptor->memory[numbers[i]].name, k, is->words[i][k],
                 word);
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

static void
check_kernel(const known_pass *pass, const kernel_device_kernel *kernel, const vyre_phase_kernel *is)
{
  vyre_bytes code = {0};
  assert_int_equal(kernel != NULL, is->words != NULL);
  if (!kernel)
    return;
  must(kernel_device_write(&pass->kernels.device, (uint32_t)(kernel - pass->kernels.device.kernels), &code));
  assert_int_equal(is->count * sizeof(uint32_t), code.size);
  assert_memory_equal(is->words, code.data, code.size);
  vyre_bytes_free(&code);
}

/* The plugin has the kernels that are run here, each where it belongs. */
static void
check_kernels(const known_pass *pass, const vyre_phases *descriptor)
{
  const kernel_file *file = &pass->file->file;
  uint32_t phase = 0;
  for (uint32_t i = 0; i < file->function_count; i++)
    if (file->functions[i].is_phase) {
      check_kernel(pass, kernel_device_find(&pass->kernels.device, false, false, i), &descriptor->row_kernels[phase]);
      check_kernel(pass, kernel_device_find(&pass->kernels.device, false, true, i), &descriptor->program_kernels[phase]);
      phase++;
    }
  for (uint32_t i = 0; i < file->step_count; i++)
    check_kernel(pass, kernel_device_find(&pass->kernels.device, true, true, i), &descriptor->level_kernels[i]);
}

/* ---- sweeps -------------------------------------------------------------------------------------------------------------- */

/* Levels and depths, which the pass manager has only where it needs them. */
static void
measure(const vyre_view *v, uint32_t *level, uint32_t *depth)
{
  level[0] = depth[0] = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
    level[row] = 0;
    for (uint32_t i = 0; i < 3; i++)
      if (operands[i] && level[operands[i]] >= level[row])
        level[row] = level[operands[i]] + 1;
    depth[row] = v->parent[row] ? depth[v->parent[row]] + 1 : 0;
  }
}

static known_pass *
find_pass(const char *name)
{
  for (uint32_t i = 0; i < PASSES; i++)
    if (strcmp(passes[i].name, name) == 0)
      return &passes[i];
  fail_msg("pass %s is not known here", name);
  return NULL;
}

vyre_status
__wrap_vyre_phases_sweep(vyre_context *context, const vyre_view *view, const vyre_phases *descriptor, vyre_c_buffer *memory)
{
  known_pass *pass = find_pass(context->record->pass.name);
  if (pass->sweeps == 0)
    check_kernels(pass, descriptor);
  uint32_t *level = malloc(view->rows * sizeof *level), *depth = malloc(view->rows * sizeof *depth);
  measure(view, level, depth);
  vyre_view v = *view;
  v.level = level;
  v.depth = depth;
  phases_memory forms[2] = {copy_memory(pass, descriptor, memory), copy_memory(pass, descriptor, memory)};
  for (uint32_t i = 0; i < 2; i++) {
    runner_figures figures = {0};
    runner_run(&device, &pass->kernels, &forms[i], &v, i == 1, &figures);
    pass->launches[i] += figures.launches;
  }
  vyre_status status = __real_vyre_phases_sweep(context, view, descriptor, memory);
  for (uint32_t i = 0; i < 2; i++) {
    compare_memory(pass, descriptor, &forms[i], memory, i);
    phases_free(&forms[i]);
  }
  free(level);
  free(depth);
  pass->sweeps++;
  return status;
}

/* ---- passes -------------------------------------------------------------------------------------------------------------- */

static void
run_pipeline(const vyre_registry *registry, const char *text, vyre_module *module)
{
  const vyre_pipeline_options options = {.phases = true};
  vyre_pipeline *pipeline;
  must(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  must(vyre_pipeline_run(pipeline, module, &options));
  vyre_pipeline_destroy(pipeline);
  vyre_module_destroy(module);
}

/* simplify would leave the others nothing to do. */
static const char *const pipelines[] = {"limits,shash,cf,pm,canon,cse,dce", "simplify"};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines };

static char **given; /* the command line's */
static int given_count;

/* Programs of each kind, all in one. */
static vyre_module *
make_programs(uint32_t seed)
{
  vyre_module *module;
  must(vyre_module_create(NULL, 1u << 22, &module));
  for (uint32_t i = 0; i < 100; i++)
    random_program_build(module, 1000000u + seed * 100 + i, i & 3u);
  must(vyre_module_seal(module, NULL));
  return module;
}

static void
run_given(const vyre_registry *registry)
{
  const uint32_t count = given_count == 1 ? (uint32_t)strtoul(given[0], NULL, 10) : 0;
  for (uint32_t seed = 1; seed <= count; seed++)
    for (uint32_t k = 0; k < PIPELINES; k++)
      run_pipeline(registry, pipelines[k], make_programs(seed));
  for (int i = 0; i < given_count && count == 0; i++)
    for (uint32_t k = 0; k < PIPELINES; k++) {
      vyre_module *module;
      must(vyre_module_create(NULL, 1u << 22, &module));
      vyre_input_kind kind;
      must(vyre_input_read(module, given[i], NULL, (vyre_diagnostics){0}, &kind));
      run_pipeline(registry, pipelines[k], module);
    }
}

/* cse asks for classes, which cid finds, and nothing for hashes but a pipeline that names their pass. */
static void
sweeps_are_the_same_on_a_device(void **state)
{
  static const char *const others[] = {"cse"};
  vyre_registry *registry;
  char path[500];
  (void)state;
  must(vyre_registry_create(NULL, &registry));
  for (uint32_t i = 0; i < PASSES + sizeof others / sizeof *others; i++) {
    snprintf(path, sizeof path, VYRE_TEST_PASSES "/%s.so", i < PASSES ? passes[i].name : others[i - PASSES]);
    must(vyre_registry_load(registry, path, VYRE_ORIGIN_CORE));
  }
  for (uint32_t seed = 1; seed <= 10; seed++)
    for (uint32_t k = 0; k < PIPELINES; k++)
      run_pipeline(registry, pipelines[k], seed % 2 ? phases_random(seed) : phases_foldable(seed));
  run_pipeline(registry, "limits,shash,cse,cf,pm,canon,dce", phases_grown(1, 3000, 40));
  run_pipeline(registry, "limits,shash,cse,cf,pm,canon,dce", phases_grown(80, 50, 12));
  run_pipeline(registry, "simplify", phases_grown(1, 3000, 40));
  run_pipeline(registry, "simplify", phases_grown(80, 50, 12));
  run_given(registry);
  vyre_registry_destroy(registry);
  for (uint32_t i = 0; i < PASSES; i++) {
    print_message("%s: %u sweeps, %u kernels level by level, %u where programs go by themselves\n", passes[i].name,
                  passes[i].sweeps, passes[i].launches[0], passes[i].launches[1]);
    assert_true(passes[i].sweeps >= 12);
  }
}

static int
open_device(void **state)
{
  const vyre_target_options options = {.validate = true};
  char path[500];
  (void)state;
  runner_open(&device, &options);
  for (uint32_t i = 0; i < PASSES; i++) {
    snprintf(path, sizeof path, VYRE_SOURCE "/passes/%s/%s.vir", passes[i].name, passes[i].name);
    passes[i].file = phases_load(path);
    runner_load(&device, passes[i].file, &passes[i].kernels);
  }
  return 0;
}

static int
close_device(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < PASSES; i++) {
    runner_unload(&device, &passes[i].kernels);
    phases_unload(passes[i].file);
  }
  runner_close(&device);
  return 0;
}

int
main(int count, char **arguments)
{
  given = arguments + 1;
  given_count = count - 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps_are_the_same_on_a_device)};
  return cmocka_run_group_tests(tests, open_device, close_device);
}
