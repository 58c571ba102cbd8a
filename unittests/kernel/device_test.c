/* Compares GPU passes on a device to plain C, each in a sequence of its own and fused with its neighbours.  The device is Vulkan's,
 * CUDA's simulator, or the interpreter, which reports races and accesses out of bounds.  Modules, counts and errors are equal.
 *
 *   unit-kernel-device [COUNT [ROWS]]      runs COUNT small modules, and large modules of ROWS rows
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "forms.h"
#include "interpreted.h"

#ifdef FORMS_FEW /* the device is a slow simulator */
enum { SLOWNESS = 4 };
#else
enum { SLOWNESS = 1 };
#endif
static uint32_t small, rows; /* numbers of modules of two programs, and of rows of large ones */

static form forms[] = {
    {.name = "by the interpreter", .fused = true},
    {.name = "by programs on a device", .target = &FORMS_TARGET, .by_program = true},
    {.name = "in sequences on a device", .target = &FORMS_TARGET, .fused = true, .by_level = true},
    {.name = "in lazy sequences by programs", .target = &FORMS_TARGET, .fused = true, .by_program = true, .lazy = true},
    {.name = "with a device that has no room", .target = &FORMS_TARGET, .fused = true, .room = 4096},
    {.name = "by small workgroups", .target = &FORMS_TARGET, .by_program = true, .workgroup = 32},
    {.name = "by large workgroups", .target = &FORMS_TARGET, .by_program = true, .workgroup = 256}};
enum {
  ALL_FORMS = sizeof forms / sizeof *forms,
  FORMS = 5,
  INTERPRETED = 0,
  FUSED = 2,
  LAZY = 3,
  ROOMLESS = 4,
  STAYING = 3000 /* rows */
};

static int
open_forms(void **state)
{
  (void)state;
  forms[INTERPRETED].target = interpreted_target();
  forms_open(forms, ALL_FORMS);
  return 0;
}

static int
close_forms(void **state)
{
  (void)state;
  forms_close(forms, ALL_FORMS);
  return 0;
}

/* Compares all pipelines in the forms on a device. */
static void
compare_all(const char *what, uint32_t seed, const vyre_bytes *input)
{
  for (uint32_t k = 0; k < FORMS_PIPELINES; k++)
    forms_compare(what, seed, input, forms_pipelines[k], forms + 1, FORMS - 1);
  forms_compare(what, seed, input, "sweeps.check", forms + 1, FORMS - 1);
}

TEST(forms_agree_on_small_modules)
{
  for (uint32_t seed = 1; seed <= small; seed++) {
    vyre_bytes input = forms_random(seed, 2);
    compare_all("seed", seed, &input);
    vyre_bytes_free(&input);
  }
}

/* A workgroup processes whole programs. */
TEST(forms_agree_on_many_programs)
{
  vyre_bytes input = forms_random(1001, budget_part(80 / SLOWNESS));
  compare_all("many programs, seed", 1, &input);
  vyre_bytes_free(&input);
}

/* Levels have fewer or more rows than a workgroup has invocations. */
TEST(forms_agree_for_other_workgroup_sizes)
{
  static const char *const pipelines[] = {"cid,cse", "dce", "sweeps.everything", "sweeps.check"};
  if (!(forms[FUSED].device->info.forms >> VYRE_KERNEL_SPIRV & 1))
    skip(); /* the size is a literal in PTX */
  vyre_bytes input = forms_grown(16 * 200, 200);
  for (size_t k = 0; k < sizeof pipelines / sizeof *pipelines; k++)
    forms_compare("workgroups", 0, &input, pipelines[k], forms + FORMS, ALL_FORMS - FORMS);
  vyre_bytes_free(&input);
}

/* Each level is a dispatch, and each program is processed by a workgroup. */
TEST(forms_agree_on_large_modules)
{
  for (uint32_t i = 0; i < 2; i++) {
    vyre_bytes input = forms_grown(rows, i ? 50 : rows);
    compare_all(i ? "programs of 50 rows" : "one program, rows", rows, &input);
    vyre_bytes_free(&input);
  }
}

/* Kernels run by level, and by program. */
TEST(kernels_have_no_race_and_no_access_out_of_bounds)
{
  for (uint32_t seed = 1; seed <= budget_part(2); seed++) {
    vyre_bytes input = seed % 2 ? forms_random(seed, budget_part(4 / SLOWNESS)) : forms_grown(16 * 40, 40);
    forms[INTERPRETED].device->info.max_iterations = seed % 2 ? FORMS_BOUND : 0;
    for (uint32_t k = 0; k < FORMS_PIPELINES; k++)
      forms_compare("interpreted, seed", seed, &input, forms_pipelines[k], &forms[INTERPRETED], 1);
    forms_compare("interpreted, seed", seed, &input, "sweeps.check", &forms[INTERPRETED], 1);
    vyre_bytes_free(&input);
  }
}

typedef struct made {
  uint64_t count, held;
} made;

static void
add_made(void *user, const char *name, uint64_t value)
{
  made *m = user;
  if (strcmp(name, "compiles") == 0 || strcmp(name, "allocations") == 0)
    m->count += value;
  if (strcmp(name, "sets_held") == 0)
    m->held = value;
}

/* Also, no descriptor set is held between sequences. */
TEST(a_second_run_compiles_and_allocates_nothing)
{
  vyre_bytes input = forms_grown(16 * 40, 40);
  for (uint32_t i = INTERPRETED + 1; i < FORMS; i++) {
    made after[2] = {{0, 0}, {0, 0}};
    for (uint32_t round = 0; round < 2; round++) {
      for (uint32_t k = 0; k < FORMS_PIPELINES; k++) {
        vyre_bytes out = forms_run(&input, forms_pipelines[k], &forms[i]);
        vyre_bytes_free(&out);
      }
      forms[i].device->ops->metrics(forms[i].device->target, add_made, &after[round]);
    }
    if (after[1].count != after[0].count)
      fail_msg("%s: %u kernels and buffers are made in the second run", forms[i].name, (uint32_t)(after[1].count - after[0].count));
    assert_int_equal(after[1].held, 0);
  }
  vyre_bytes_free(&input);
}

TEST(programs_do_not_depend_on_their_neighbours)
{
  enum { LEAST = 8 }; /* with fewer modules none retires */
  const uint32_t modules = budget_part(16 / SLOWNESS);
  forms_compare_batches(modules < LEAST ? LEAST : modules, forms + 1, FORMS - 2);
}

/* Returns the number of bytes that a run uploads to the device. */
static uint64_t
bytes_up(const vyre_bytes *input, const char *text, vyre_device *device)
{
  vyre_report *report;
  vyre_module *module = new_module();
  assert_ok(vyre_report_create(NULL, &report));
  assert_ok(vyre_vir0_read(module, input->data, input->size, "input", NULL, 0));
  assert_ok(run_passes(forms_registry(), text, module,
                       &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .report = report, .device = device}));
  const uint64_t bytes = vyre_report_count(report, "(device)", "bytes up");
  vyre_module_destroy(module);
  vyre_report_destroy(report);
  return bytes;
}

/* Rules, facts of ops, and columns that only the device changed are not uploaded again.  Of the ten columns, at most the levels and
 * their order are. */
TEST(unchanged_columns_stay_on_the_device)
{
  vyre_bytes input = forms_grown(STAYING, 50);
  const uint64_t once = bytes_up(&input, "canon,cf,pm", forms[FUSED].device);
  const uint64_t thrice = bytes_up(&input, "repeat<3>(canon,cf,pm)", forms[FUSED].device);
  assert_in_range(once, 1, 12 * 4 * STAYING);
  assert_in_range(thrice - once, 1, 2 * 4 * 4 * STAYING);
  vyre_bytes_free(&input);
}

/* Returns the number of bytes that a run reads back. */
static uint64_t
bytes_down(vyre_module *module, const char *text, vyre_device *device, uint64_t *out_waits)
{
  vyre_report *report;
  assert_ok(vyre_report_create(NULL, &report));
  assert_ok(run_passes(forms_registry(), text, module,
                       &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .report = report, .device = device}));
  const uint64_t bytes = vyre_report_count(report, "(device)", "bytes down");
  *out_waits = vyre_report_count(report, "(device)", "host waits");
  vyre_report_destroy(report);
  return bytes;
}

TEST(columns_are_read_back_only_if_the_host_needs_them)
{
  vyre_device *device = forms[LAZY].device;
  vyre_bytes input = forms_grown(STAYING / SLOWNESS, 50);
  vyre_module *module = new_module();
  uint64_t waits;
  assert_ok(vyre_vir0_read(module, input.data, input.size, "input", NULL, 0));
  const uint64_t column = vyre_module_view(module)->rows * sizeof(uint32_t);
  assert_true(bytes_down(module, "shash", device, &waits) < column); /* nothing requires hashes */
  assert_int_equal(waits, 1);
  const uint64_t once = bytes_down(module, "shash,cid", device, &waits), used = bytes_down(module, "shash,cid,cse", device, &waits);
  assert_true(once < column && used >= column && used < 2 * column);
  assert_true(waits >= 2);
  uint64_t down = bytes_down(module, "canon,cf,pm,dce", device, &waits);
  assert_true(down > 0 && down < 4 * column); /* changed elements, with a bit for each row of the six columns */
  assert_int_equal(waits, 2);
  for (uint32_t i = 0; i < 4; i++) /* at last, the passes change nothing */
    down = bytes_down(module, "canon,cf,pm,dce", device, &waits);
  assert_true(down < column);
  assert_int_equal(waits, 1);
  vyre_module_destroy(module);
  vyre_bytes_free(&input);
}

/* In the last round of the fixpoint for seed 19, canon runs, and cid is skipped because nothing changed.  The round is prepared as
 * a sequence first, which clears the column of cid because passes are checked. */
TEST(columns_are_computed_again_if_a_sequence_does_not_fit)
{
  for (uint32_t seed = 17; seed <= 20; seed++) {
    vyre_bytes input = forms_random(seed, 1);
    forms_compare("seed", seed, &input, "fixpoint(canon,cf,shash,cid,pm,dce),cse", forms + ROOMLESS, 1);
    vyre_bytes_free(&input);
  }
}

static vyre_bytes
binary_of_text(const char *text)
{
  vyre_module *module = parse(text);
  vyre_bytes bytes = binary_of(module);
  vyre_module_destroy(module);
  return bytes;
}

/* Returns a program in which the first user of %s has many rows under it.  sweeps.rewire makes it an operand of the relaxed rows.
 */
static vyre_bytes
rewired(uint32_t users, uint32_t relaxed)
{
  enum { DEEP = 20 };
  vyre_bytes text = {0};
  assert_ok(vyre_bytes_printf(&text, "program @rewired {\n  buffer %%x : u32[] storage rw set(0) binding(0)\n"
                                     "  %%s = load %%x[0]\n  %%t = load %%x[1]\n  %%deep0 = add %%t, 3u32\n"));
  for (uint32_t i = 1; i <= DEEP; i++)
    assert_ok(vyre_bytes_printf(&text, "  %%deep%u = xor %%deep%u, %uu32\n", i, i - 1, i));
  assert_ok(vyre_bytes_printf(&text, "  %%first = sub %%s, %%deep%u\n", DEEP));
  for (uint32_t i = 0; i < users; i++)
    assert_ok(vyre_bytes_printf(&text, "  %%user%u = sub%s %%s, %%t\n", i, i >= users - relaxed ? " relaxed" : ""));
  assert_ok(vyre_bytes_printf(&text, "  store %%x[0], %%first\n}\n"));
  vyre_bytes bytes = binary_of_text(text.data);
  vyre_bytes_free(&text);
  return bytes;
}

/* The device returns the one changed element, or the whole columns if most elements changed. */
TEST(levels_are_checked_for_changed_rows)
{
  enum { USERS = 1000 };
  static const uint32_t relaxed[] = {0, 1, USERS};
  for (size_t i = 0; i < sizeof relaxed / sizeof *relaxed; i++) {
    vyre_bytes input = rewired(USERS, relaxed[i]), out = forms_run(&input, "sweeps.rewire", &forms[LAZY]);
    const bool is_error = memmem(out.data, out.size, "are no longer above", 19) != NULL;
    assert_int_equal(is_error, relaxed[i] != 0);
    vyre_bytes_free(&out);
    vyre_bytes_free(&input);
  }
}

/* A repetition without an end is an error, also if it ends on the device. */
TEST(endless_repetitions_are_errors)
{
  vyre_bytes input = forms_grown(16 * 40, 40), out = forms_run(&input, "sweeps.endless", &forms[FUSED + 1]);
  assert_non_null(memmem(out.data, out.size, "still add to counter 'again'", 28));
  forms_compare("endless", 0, &input, "sweeps.endless", forms + 1, FORMS - 2);
  vyre_bytes_free(&out);
  vyre_bytes_free(&input);
}

/* Replaces the kernel of the whole pass in all forms.  The caller owns the copies. */
static void
replace_pass_kernel(const char *name, const vyre_phase_kernel *kernel, vyre_phases *phases, vyre_phase_kernels *kernels,
                    const vyre_phase_kernels **list)
{
  const vyre_pass_record *other;
  vyre_pass_record *record = (vyre_pass_record *)(uintptr_t)vyre_registry_find(forms_registry(), name, strlen(name), &other);
  *phases = *record->pass.phases;
  for (uint32_t i = 0; i < phases->kernels_count; i++) {
    kernels[i] = *phases->kernels[i];
    kernels[i].pass = kernel;
    list[i] = &kernels[i];
  }
  phases->kernels = list;
  record->pass.phases = phases;
}

/* Plugins of API 1.1 have no kernels of whole passes, and some passes have none. */
TEST(passes_run_without_a_kernel_of_the_whole_pass)
{
  static const vyre_phase_kernel empty = {0};
  static const char *const names[] = {"canon", "cf", "cid", "dce"};
  vyre_bytes input = forms_grown(16 * 40, 40);
  for (uint32_t turn = 0; turn < 2; turn++) {
    const vyre_phases *was[4];
    vyre_phases phases[4];
    vyre_phase_kernels kernels[4][4];
    const vyre_phase_kernels *lists[4][4];
    const vyre_pass_record *other;
    for (uint32_t i = 0; i < 4; i++) {
      was[i] = vyre_registry_find(forms_registry(), names[i], strlen(names[i]), &other)->pass.phases;
      assert_in_range(was[i]->kernels_count, 1, 4);
      replace_pass_kernel(names[i], turn ? &empty : NULL, &phases[i], kernels[i], lists[i]);
    }
    assert_true(forms_compare("without a kernel of the pass", turn, &input, "canon,cf,cid,cse,dce", forms + 1, 3));
    for (uint32_t i = 0; i < 4; i++)
      ((vyre_pass_record *)(uintptr_t)vyre_registry_find(forms_registry(), names[i], strlen(names[i]), &other))->pass.phases =
          was[i];
  }
  vyre_bytes_free(&input);
}

/* A read that becomes a literal has no version, so the device's versions are outdated, although no row is removed. */
TEST(changed_versions_are_uploaded_again)
{
  static const char text[] = "program @p workgroup(1, 1, 1) {\n  buffer %x : u32[4] storage rw set(0) binding(0)\n  var %v : u32\n"
                             "  %i = gid.x\n  %g = get %v\n  store %x[%i], %g\n  set %v, %i\n}\n";
  vyre_bytes input = binary_of_text(text);
  assert_true(forms_compare("a get that is known", 0, &input, "simplify,sweeps.seen", &forms[FUSED], 1));
  vyre_bytes_free(&input);
}

/* One invocation computes all joins of a construct.  If the driver bounds its iterations, the pass runs as plain C. */
TEST(a_pass_with_too_many_iterations_runs_as_plain_c)
{
  enum { VARIABLES = 2000 };
  vyre_bytes text = {0};
  assert_ok(vyre_bytes_printf(&text, "program @p workgroup(1, 1, 1) {\n  buffer %%x : u32[] storage rw set(0) binding(0)\n"));
  for (uint32_t i = 0; i < VARIABLES; i++)
    assert_ok(vyre_bytes_printf(&text, "  var %%v%u : u32\n", i));
  assert_ok(vyre_bytes_printf(&text, "  %%i = gid.x\n  %%c = ult %%i, 5u32\n  if %%c {\n"));
  for (uint32_t i = 0; i < VARIABLES; i++)
    assert_ok(vyre_bytes_printf(&text, "    set %%v%u, %%i\n", i));
  assert_ok(vyre_bytes_printf(&text, "  }\n"));
  for (uint32_t i = 0; i < VARIABLES; i++)
    assert_ok(vyre_bytes_printf(&text, "  store %%x[%u], get(%%v%u)\n", i, i));
  assert_ok(vyre_bytes_printf(&text, "}\n"));
  vyre_bytes input = binary_of_text(text.data);
  vyre_device *device = forms[FUSED].device;
  assert_true(forms_compare("many joins", 0, &input, "simplify", &forms[FUSED], 1));
  assert_true((bytes_up(&input, "simplify", device) == 0) == (device->info.max_iterations != 0));
  assert_true(bytes_up(&input, "canon", device) != 0); /* canon needs no versions */
  vyre_bytes_free(&text);
  vyre_bytes_free(&input);
}

/* The last sequence needs more memory.  The larger memory does not hold the columns of the sequences before it. */
TEST(columns_are_uploaded_again_after_device_memory_grows)
{
  form fresh = {.name = "on a fresh device", .target = &FORMS_TARGET, .fused = true};
  vyre_bytes input = forms_grown(4 * STAYING, 50);
  const vyre_target_options options = forms_options(fresh.target);
  assert_ok(vyre_device_open(fresh.target, &options, NULL, &fresh.device));
  forms_compare("memory grows, rows", 4 * STAYING, &input, "repeat<2>(canon),simplify", &fresh, 1);
  assert_ok(vyre_device_close(fresh.device));
  vyre_bytes_free(&input);
}

int
main(int count, char **arguments)
{
  small = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : budget_part(4 / SLOWNESS);
  rows = count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : budget_part(1200 / SLOWNESS);
  return test_run(open_forms, close_forms);
}
