/* A GPU pass does the same in each of its forms: as plain C, by its phases with one thread, two, and eight, and on a device, by
 * itself and in one sequence with its neighbours.  Same modules to the byte, same counts, same errors.
 *
 *   unit-kernel-forms [COUNT [DEVICES [ROWS]]]      of so many small modules; on the device so many of them, and of so many rows
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program.h"
#include "random_program.h"
#include "resident.h"
#include "vyre/passmgr.h"
#include "vyre/vir0.h"

#ifdef VYRE_SANITIZED
enum { LARGE = 1, PROGRAMS = 60, ROWS = 20000 };
static uint32_t small = 30, on_device = 3, device_rows = 1000;
#else
enum { LARGE = 3, PROGRAMS = 80, ROWS = 40000 };
static uint32_t small = 150, on_device = 12, device_rows = 3000;
#endif

static vyre_registry *registry;

typedef struct form {
  const char *name;
  const vyre_target_ops *target;
  uint32_t threads;
  bool fused;
  uint64_t room; /* bytes that the device takes; 0: all that it can */
  vyre_device *device;
} form;

/* The validation layer has threads of its own, which race. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_VULKAN
#endif
#endif

static form forms[] = {{.name = "by phases", .target = &vyre_target_cpu, .threads = 1},
                       {.name = "by phases in sequences", .target = &vyre_target_cpu, .threads = 1, .fused = true},
                       {.name = "by phases with 2 threads", .target = &vyre_target_cpu, .threads = 2},
                       {.name = "by phases with 8 threads, in sequences", .target = &vyre_target_cpu, .threads = 8, .fused = true},
#ifndef NO_VULKAN
                       {.name = "on a device", .target = &vyre_target_vulkan},
                       {.name = "in sequences on a device", .target = &vyre_target_vulkan, .fused = true},
                       {.name = "with a device that has no room", .target = &vyre_target_vulkan, .fused = true, .room = 4096}
#endif
};
enum { FORMS = sizeof forms / sizeof *forms };

static void
check(vyre_status status)
{
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

static int
load_passes(void **state)
{
  static const char *const passes[] = {"canon",  "cf",  "cid",  "cprop",  "cse", "dbe",   "dce",
                                       "expand", "dse", "licm", "limits", "pm",  "shash", "simplify"};
  char path[500];
  (void)state;
  if (vyre_registry_create(NULL, &registry))
    return -1;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    snprintf(path, sizeof path, VYRE_TEST_PASSES "/%s.so", passes[i]);
    check(vyre_registry_load(registry, path, VYRE_ORIGIN_CORE));
  }
  check(vyre_registry_load(registry, VYRE_TEST_PLUGINS "/sweeps.so", VYRE_ORIGIN_OUTSIDE));
  for (uint32_t i = 0; i < FORMS; i++) {
    const vyre_target_options options = {.validate = forms[i].target == &vyre_target_vulkan, .threads = forms[i].threads};
    check(vyre_device_open(forms[i].target, &options, NULL, &forms[i].device));
    if (forms[i].room)
      forms[i].device->info.max_storage = forms[i].room;
  }
  return 0;
}

static int
end_passes(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  for (uint32_t i = 0; i < FORMS; i++)
    check(vyre_device_close(forms[i].device));
  return 0;
}

/* ---- one run ------------------------------------------------------------------------------------------------------------- */

/* Of the report: what a device did, and cid's comparisons, which are those of a table that its phases do not have. */
static bool
is_of_its_form(const char *line, size_t length)
{
  static const char *const words[] = {"comparisons", "(device)", "no pass counted"};
  bool is = false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    is = is || memmem(line, length, words[i], strlen(words[i]));
  return is;
}

/* What came of it: the module in its binary form, or the error; and the counts. */
static vyre_bytes
run(const vyre_bytes *input, const char *text, const form *f)
{
  vyre_bytes out = {0}, stats = {0};
  vyre_module *module;
  vyre_pipeline *pipeline;
  vyre_report *report;
  check(vyre_module_create(NULL, 1u << 22, &module));
  check(vyre_vir0_read(module, input->data, input->size, "input", NULL, 0));
  check(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  check(vyre_report_create(NULL, &report));
  const vyre_pipeline_options options = {.verify_each = !f->fused, .check_changed = true, .report = report, .device = f->device};
  vyre_status status = vyre_pipeline_run(pipeline, module, &options);
  if (status)
    check(vyre_bytes_printf(&out, "%s", vyre_status_text(status)));
  else
    check(vyre_vir0_write(module, NULL, 0, &out));
  vyre_status_free(status);
  check(vyre_report_stats(report, &stats));
  for (const char *line = stats.data, *end; line && *line; line = end) {
    const size_t length = strcspn(line, "\n");
    end = line + length + (line[length] != 0);
    if (!is_of_its_form(line, length))
      check(vyre_bytes_append(&out, line, length + 1));
  }
  vyre_bytes_free(&stats);
  vyre_report_destroy(report);
  vyre_pipeline_destroy(pipeline);
  vyre_module_destroy(module);
  return out;
}

/* Of all forms of a pipeline, of those on a device if asked; returns whether the plain one changed the module. */
static bool
compare(const char *what, uint32_t seed, const vyre_bytes *input, const char *text, bool with_device)
{
  static const form plain_form = {.name = "as plain C"};
  vyre_bytes plain = run(input, text, &plain_form);
  const bool changed = plain.size < input->size || memcmp(plain.data, input->data, input->size) != 0; /* counts follow */
  for (uint32_t i = 0; i < FORMS; i++) {
    if (forms[i].target == &vyre_target_vulkan && !with_device)
      continue;
    vyre_bytes other = run(input, text, &forms[i]);
    if (other.size != plain.size || memcmp(other.data, plain.data, plain.size) != 0)
      fail_msg("%s %u: %s %s differs from its plain C", what, seed, text, forms[i].name);
    vyre_bytes_free(&other);
  }
  vyre_bytes_free(&plain);
  return changed;
}

static const char *const pipelines[] = {"canon",
                                        "cf",
                                        "cid,cse",
                                        "dce",
                                        "dce<interface>",
                                        "pm",
                                        "limits<rows=150>",
                                        "limits<depth=9>",
                                        "limits<nesting=1>",
                                        "simplify",
                                        "simplify,dce,simplify",
                                        "canon,cf,pm,cid,cse,dce",
                                        "fixpoint(canon,cf,pm)",
                                        "fixpoint(canon,cf,cprop,pm,shash,expand,cid)",
                                        "repeat<2>(simplify)",
                                        "default<O2>"};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines };

static vyre_bytes
bytes_of(vyre_module *module)
{
  vyre_bytes bytes = {0};
  check(vyre_module_seal(module, NULL));
  check(vyre_module_check(module, NULL));
  check(vyre_vir0_write(module, NULL, 0, &bytes));
  vyre_module_destroy(module);
  return bytes;
}

static vyre_bytes
make_random(uint32_t seed, uint32_t programs)
{
  vyre_module *module;
  check(vyre_module_create(NULL, 1u << 22, &module));
  for (uint32_t i = 0; i < programs; i++)
    random_program_build(module, seed * 1000u + i, i & 3u);
  return bytes_of(module);
}

/* ---- modules ------------------------------------------------------------------------------------------------------------- */

static void
small_modules(void **state)
{
  uint32_t changed[PIPELINES] = {0};
  (void)state;
  for (uint32_t seed = 1; seed <= small; seed++) {
    vyre_bytes input = make_random(seed, 2);
    for (uint32_t i = 0; i < PIPELINES; i++)
      changed[i] += compare("seed", seed, &input, pipelines[i], seed <= on_device);
    assert_false(compare("seed", seed, &input, "sweeps.check", seed <= on_device));
    vyre_bytes_free(&input);
  }
  for (uint32_t i = 0; i < PIPELINES; i++)
    if (changed[i] < small / 10)
      fail_msg("%s did something to %u modules of %u", pipelines[i], changed[i], small);
}

/* Threads take whole programs. */
static void
many_programs(void **state)
{
  (void)state;
  for (uint32_t seed = 1; seed <= LARGE; seed++) {
    vyre_bytes input = make_random(1000 + seed, PROGRAMS);
    for (uint32_t i = 0; i < PIPELINES; i++)
      compare("many programs, seed", seed, &input, pipelines[i], seed == 1);
    assert_false(compare("many programs, seed", seed, &input, "sweeps.check", seed == 1));
    vyre_bytes_free(&input);
  }
}

/* So many rows at least, in programs of so many. */
static vyre_bytes
make_grown(uint32_t rows, uint32_t rows_a_program)
{
  vyre_module *module;
  check(vyre_module_create(NULL, 1u << 22, &module));
  while (vyre_module_view(module)->rows < rows)
    bench_grow(module, rows_a_program, BENCH_DEEPEST);
  return bytes_of(module);
}

static void
add_made(void *user, const char *name, uint64_t value)
{
  if (strcmp(name, "compiles") == 0 || strcmp(name, "allocations") == 0)
    *(uint64_t *)user += value;
}

/* A dispatch a level, and a workgroup a program. */
static void
large_on_a_device(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < 2; i++) {
    vyre_bytes input = make_grown(device_rows, i ? 50 : device_rows);
    for (uint32_t k = 0; k < PIPELINES; k++)
      compare(i ? "programs of 50 rows" : "one program, rows", device_rows, &input, pipelines[k], true);
    vyre_bytes_free(&input);
  }
}

/* More rows than an invocation of some drivers may walk over: they are not for such a device. */
static void
too_large_for_a_driver(void **state)
{
  (void)state;
#ifndef VYRE_SANITIZED
  vyre_bytes input = make_grown(100000, 100000);
  compare("one program, rows", 100000, &input, "simplify", true);
  vyre_bytes_free(&input);
#endif
}

/* What was run before is compiled, and its memory is there. */
static void
a_warm_device_makes_nothing(void **state)
{
  (void)state;
  vyre_bytes input = make_random(1, 20);
  for (uint32_t i = 0; i < FORMS; i++) {
    uint64_t made[2] = {0, 0};
    for (uint32_t round = 0; round < 2; round++) {
      for (uint32_t k = 0; k < PIPELINES; k++) {
        vyre_bytes out = run(&input, pipelines[k], &forms[i]);
        vyre_bytes_free(&out);
      }
      forms[i].device->ops->metrics(forms[i].device->target, add_made, &made[round]);
    }
    uint32_t kernels = 0;
    for (uint32_t k = 0; k < forms[i].device->kernel_capacity; k++)
      kernels += forms[i].device->kernels[k] != NULL;
    assert_int_equal(kernels, forms[i].device->kernel_count);
    if (made[1] != made[0])
      fail_msg("%s: %u kernels and buffers are made in the second run", forms[i].name, (uint32_t)(made[1] - made[0]));
  }
  vyre_bytes_free(&input);
}

/* That went up to a device, by the report. */
static uint64_t
bytes_up(const vyre_bytes *input, const char *text, vyre_device *device)
{
  vyre_report *report;
  vyre_module *module;
  vyre_pipeline *pipeline;
  check(vyre_report_create(NULL, &report));
  check(vyre_module_create(NULL, 1u << 22, &module));
  check(vyre_vir0_read(module, input->data, input->size, "input", NULL, 0));
  check(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  check(vyre_pipeline_run(pipeline, module, &(vyre_pipeline_options){.report = report, .device = device}));
  const uint64_t bytes = vyre_report_count(report, "(device)", "bytes up");
  vyre_pipeline_destroy(pipeline);
  vyre_module_destroy(module);
  vyre_report_destroy(report);
  return bytes;
}

/* What nobody but the device changed does not go up again, nor do rules and facts of ops: of the ten columns the levels at most,
 * with the order that they give. */
static void
what_stays_on_a_device(void **state)
{
  (void)state;
  vyre_bytes input = make_grown(device_rows, 50);
  for (uint32_t i = 0; i < FORMS; i++) {
    if (forms[i].target != &vyre_target_vulkan || !forms[i].fused || forms[i].room)
      continue;
    const uint64_t once = bytes_up(&input, "canon,cf,pm", forms[i].device);
    const uint64_t thrice = bytes_up(&input, "repeat<3>(canon,cf,pm)", forms[i].device);
    assert_in_range(once, 1, 12 * 4 * (uint64_t)device_rows);
    assert_in_range(thrice - once, 1, 2 * 4 * 4 * (uint64_t)device_rows);
  }
  vyre_bytes_free(&input);
}

/* Threads take parts of levels. */
static void
one_program(void **state)
{
  vyre_bytes input = make_grown(ROWS, ROWS);
  (void)state;
  for (uint32_t i = 0; i < PIPELINES; i++)
    compare("one program", 0, &input, pipelines[i], false);
  assert_false(compare("one program", 0, &input, "sweeps.check", false));
  vyre_bytes_free(&input);
}

int
main(int count, char **arguments)
{
  if (count > 1)
    small = (uint32_t)strtoul(arguments[1], NULL, 10);
  if (count > 2)
    on_device = (uint32_t)strtoul(arguments[2], NULL, 10);
  if (count > 3)
    device_rows = (uint32_t)strtoul(arguments[3], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_modules),
                                     cmocka_unit_test(many_programs),
                                     cmocka_unit_test(one_program),
                                     cmocka_unit_test(what_stays_on_a_device),
                                     cmocka_unit_test(large_on_a_device),
                                     cmocka_unit_test(too_large_for_a_driver),
                                     cmocka_unit_test(a_warm_device_makes_nothing)};
  return cmocka_run_group_tests(tests, load_passes, end_passes);
}
