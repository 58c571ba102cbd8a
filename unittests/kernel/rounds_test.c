/* Rounds of a repeat or fixpoint that run in one submission to a device give the same modules, counts and errors as plain C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "forms.h"

static form forms[] = {{.name = "by programs", .target = &FORMS_TARGET, .fused = true, .by_program = true},
                       {.name = "by levels", .target = &FORMS_TARGET, .fused = true, .by_level = true},
                       {.name = "lazily", .target = &FORMS_TARGET, .fused = true, .by_program = true, .lazy = true},
                       {.name = "one by one", .target = &FORMS_TARGET}};
enum { FORMS = sizeof forms / sizeof *forms, BY_PROGRAM = 0, LAZY = 2 };

static int
open_forms(void **state)
{
  (void)state;
  forms_open(forms, FORMS);
  return 0;
}

static int
close_forms(void **state)
{
  (void)state;
  forms_close(forms, FORMS);
  return 0;
}

static vyre_bytes
binary_of_text(const char *text)
{
  vyre_module *module = parse(text);
  vyre_bytes bytes = binary_of(module);
  vyre_module_destroy(module);
  return bytes;
}

/* Returns a module with a program for each literal.  rounds.peel changes program i in the first literals[i] - 1 rounds. */
static vyre_bytes
programs_of(const uint32_t *literals, uint32_t count)
{
  vyre_bytes text = {0};
  for (uint32_t i = 0; i < count; i++)
    assert_ok(vyre_bytes_printf(&text,
                                "program @p%u workgroup(1, 1, 1) {\n  buffer %%out : u32[] storage rw set(0) binding(0)\n"
                                "  %%dead = add gid.y, 500u32\n  %%named = select(ult(gid.x, 5u32), %uu32, 200u32)\n"
                                "  store %%out[gid.x], %%named\n}\n",
                                i, literals[i]));
  vyre_bytes binary = binary_of_text(text.data);
  vyre_bytes_free(&text);
  return binary;
}

/* Runs the pipeline.  Returns a count of the report, and in *out_waits the number of waits. */
static uint64_t
count(const vyre_bytes *input, const char *text, vyre_device *device, const char *pass, const char *what, uint64_t *out_waits)
{
  vyre_report *report;
  vyre_module *module = new_module();
  assert_ok(vyre_report_create(NULL, &report));
  assert_ok(vyre_vir0_read(module, input->data, input->size, "input", NULL, 0));
  assert_ok(run_passes(forms_registry(), text, module,
                       &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .report = report, .device = device}));
  const uint64_t amount = vyre_report_count(report, pass, what);
  *out_waits = vyre_report_count(report, "(device)", "host waits");
  vyre_module_destroy(module);
  vyre_report_destroy(report);
  return amount;
}

TEST(rounds_that_one_submission_holds_are_one_wait)
{
  static const uint32_t literals[] = {3, 1, 2};
  vyre_bytes input = programs_of(literals, 3);
  uint64_t waits;
  assert_int_equal(count(&input, "fixpoint(rounds.peel,dce)", forms[BY_PROGRAM].device, "fixpoint", "rounds", &waits), 3);
  assert_int_equal(waits, 1);
  assert_int_equal(count(&input, "fixpoint(canon,cf,shash,cid,pm,dce)", forms[BY_PROGRAM].device, "fixpoint", "rounds", &waits), 2);
  assert_int_equal(waits, 1);
  count(&input, "repeat<9>(rounds.peel,dce)", forms[BY_PROGRAM].device, "fixpoint", "rounds", &waits);
  assert_int_equal(waits, 1);
  count(&input, "fixpoint(rounds.peel,dce)", forms[LAZY].device, "fixpoint", "rounds", &waits);
  assert_int_equal(waits, 2); /* the second one is the readback of changes */
  vyre_bytes_free(&input);
}

/* Programs end after different rounds, in one submission or in several, and also at the limit of rounds. */
TEST(programs_retire_in_different_rounds)
{
  static const uint32_t literals[][6] = {{1, 2, 3, 4, 5, 6}, {3, 1, 3, 1, 9, 9}, {12, 1, 1, 1, 1, 5}, {2, 2, 2, 2, 2, 2}, {1}};
  static const char *const texts[] = {"fixpoint(rounds.peel)",
                                      "fixpoint(rounds.peel,dce)",
                                      "fixpoint(rounds.peel,canon,cf,shash,cid,pm,dce),cse",
                                      "fixpoint(dce,rounds.peel,canon,cf,shash,cid,pm),cse",
                                      "fixpoint<max=2;on-limit=quiet>(rounds.peel,dce)",
                                      "fixpoint<max=4;on-limit=quiet>(dce,rounds.peel)",
                                      "fixpoint<max=5;on-limit=error>(rounds.peel)",
                                      "fixpoint<max=6;on-limit=quiet>(rounds.peel,fixpoint(rounds.peel,dce))",
                                      "fixpoint(rounds.peel,shash,cid),cse",
                                      "repeat<2>(rounds.peel,shash,cid),cse",
                                      "repeat<7>(rounds.peel,dce),canon",
                                      "repeat<40>(rounds.peel)"};
  for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
    vyre_bytes input = programs_of(literals[i], literals[i][1] ? 6 : 1);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
      forms_compare("literals", (uint32_t)i, &input, texts[k], forms, FORMS);
    vyre_bytes_free(&input);
  }
}

/* After each round, program 0 is as before, but passes report changes.  So the rounds end for the other programs only. */
TEST(changes_that_no_row_shows_are_not_the_end)
{
  static const uint32_t literals[] = {150, 7, 1};
  static const char *const texts[] = {
      "fixpoint<max=9;on-limit=quiet>(rounds.swap<from=150;to=151>,rounds.swap<from=151;to=150>)",
      "fixpoint<max=9;on-limit=quiet>(rounds.peel,rounds.swap<from=150;to=151>,rounds.swap<from=151;to=150>,dce)"};
  for (uint32_t programs = 1; programs <= 3; programs++) {
    vyre_bytes input = programs_of(literals, programs);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
      assert_true(forms_compare("programs", programs, &input, texts[k], forms, FORMS) == (k > 0 && programs > 1) || k > 0);
    vyre_bytes_free(&input);
  }
}

TEST(a_change_that_no_pass_reports_is_an_error)
{
  static const uint32_t literals[] = {77};
  vyre_bytes input = programs_of(literals, 1);
  for (uint32_t i = 0; i < FORMS - 1; i++) {
    vyre_bytes out = forms_run(&input, "fixpoint(rounds.swap<from=60;to=61>,rounds.silent)", &forms[i]);
    assert_non_null(memmem(out.data, out.size, "reports no change, but the module changed", 41));
    vyre_bytes_free(&out);
  }
  vyre_bytes_free(&input);
}

#define HEAD                                                                             \
  "program @p workgroup(1, 1, 1) {\n  buffer %x : u32[4] storage rw set(0) binding(0)\n" \
  "  buffer %y : u32[] storage rw set(0) binding(1)\n  %one = load %x[1u32]\n"
#define TAIL "  %two = load %x[1u32]\n  store %y[0u32], %one\n  store %y[1u32], %two\n}\n"

/* Without the rows that a round removes, both loads have one version, and later rounds count them as equal. */
TEST(versions_are_not_older_than_removed_rows)
{
  static const char *const texts[] = {HEAD "  store %x[0u32], 199u32\n" TAIL,                        /* a store is a version */
                                      HEAD "  store %x[0u32], 198u32\n" TAIL,                        /* a pass reports the loss */
                                      HEAD "  if ult gid.x, 3u32 { store %x[0u32], 199u32 }\n" TAIL, /* a part of a join */
                                      HEAD "  %read = load coherent %x[2u32]\n" TAIL /* a read that counts as a write */};
  static const char *const pipelines[] = {"fixpoint(rounds.peel,shash,cid,rounds.twins,rounds.drop,dce,rounds.retype)",
                                          "repeat<3>(shash,cid,rounds.twins,rounds.drop,dce,rounds.retype)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    vyre_bytes input = binary_of_text(texts[i]);
    for (size_t k = 0; k < sizeof pipelines / sizeof *pipelines; k++) {
      const uint64_t rounds = k || i == 1 ? 3 : 2; /* the second round removes the literal that was a store */
      uint64_t waits;
      assert_true(forms_compare("versions", (uint32_t)i, &input, pipelines[k], forms, FORMS - 1));
      assert_int_equal(
          count(&input, pipelines[k], forms[BY_PROGRAM].device, "rounds.twins", "loads that equal another one", &waits),
          rounds - 1);
      assert_int_equal(waits, rounds); /* the first submission ends with the round that lost versions, and others have one round */
    }
    vyre_bytes_free(&input);
  }
}

/* The first device has the columns from before the second one changed few of their elements. */
TEST(changes_of_another_device_are_uploaded)
{
  form *first = &forms[BY_PROGRAM], *second = &forms[LAZY];
  static const uint32_t literals[] = {300, 9,   300, 300, 300, 300, 300, 300, 300, 300,
                                      300, 300, 300, 300, 300, 300, 300, 300, 300, 300};
  vyre_bytes input = programs_of(literals, sizeof literals / sizeof *literals), results[2];
  for (uint32_t i = 0; i < 2; i++) {
    vyre_module *module = new_module();
    vyre_pipeline_options options = {.struct_size = sizeof options};
    assert_ok(vyre_vir0_read(module, input.data, input.size, "input", NULL, 0));
    for (uint32_t turn = 0; turn < 6; turn++) {
      options.device = i == 0 ? NULL : turn % 2 ? second->device : first->device;
      assert_ok(run_passes(forms_registry(), "rounds.peel", module, &options));
    }
    results[i] = binary_of(module);
    vyre_module_destroy(module);
  }
  assert_int_equal(results[0].size, results[1].size);
  assert_memory_equal(results[0].data, results[1].data, results[0].size);
  vyre_bytes_free(&results[0]);
  vyre_bytes_free(&results[1]);
  vyre_bytes_free(&input);
}

int
main(void)
{
  return test_run(open_forms, close_forms);
}
