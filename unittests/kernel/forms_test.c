/* Compares the phases of GPU passes on the CPU to plain C, with one, two and eight threads, each in a sequence of its own and fused
 * with its neighbours.  Modules, counts and errors are equal.
 *
 *   unit-kernel-forms [COUNT]      runs COUNT small modules
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "forms.h"

static uint32_t small; /* number of modules of two programs */

static form forms[] = {{.name = "by phases", .target = &vyre_target_cpu, .threads = 1},
                       {.name = "by phases in sequences", .target = &vyre_target_cpu, .threads = 1, .fused = true},
                       {.name = "by phases with 2 threads", .target = &vyre_target_cpu, .threads = 2},
                       {.name = "by phases with 8 threads, in sequences", .target = &vyre_target_cpu, .threads = 8, .fused = true}};
enum { FORMS = sizeof forms / sizeof *forms };

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

TEST(forms_agree_on_small_modules)
{
  uint32_t changed[FORMS_PIPELINES] = {0};
  for (uint32_t seed = 1; seed <= small; seed++) {
    vyre_bytes input = forms_random(seed, 2);
    for (uint32_t i = 0; i < FORMS_PIPELINES; i++)
      changed[i] += forms_compare("seed", seed, &input, forms_pipelines[i], forms, FORMS);
    assert_false(forms_compare("seed", seed, &input, "sweeps.check", forms, FORMS));
    vyre_bytes_free(&input);
  }
  for (uint32_t i = 0; i < FORMS_PIPELINES; i++)
    if (changed[i] < small / 10)
      fail_msg("%s changed only %u modules of %u", forms_pipelines[i], changed[i], small);
}

/* Threads process whole programs. */
TEST(forms_agree_on_many_programs)
{
  for (uint32_t seed = 1; seed <= budget_part(2); seed++) {
    vyre_bytes input = forms_random(1000 + seed, budget_part(80));
    for (uint32_t i = 0; i < FORMS_PIPELINES; i++)
      forms_compare("many programs, seed", seed, &input, forms_pipelines[i], forms, FORMS);
    assert_false(forms_compare("many programs, seed", seed, &input, "sweeps.check", forms, FORMS));
    vyre_bytes_free(&input);
  }
}

/* Threads process parts of levels. */
TEST(forms_agree_on_one_large_program)
{
  const uint32_t rows = budget_part(40000);
  vyre_bytes input = forms_grown(rows, rows);
  for (uint32_t i = 0; i < FORMS_PIPELINES; i++)
    forms_compare("one program", 0, &input, forms_pipelines[i], forms, FORMS);
  assert_false(forms_compare("one program", 0, &input, "sweeps.check", forms, FORMS));
  vyre_bytes_free(&input);
}

TEST(programs_do_not_depend_on_their_neighbours)
{
  forms_compare_batches(budget_part(40), forms, FORMS);
}

/* A planted fault: a pass that adds the number of programs to each literal, once. */
static vyre_status
count_neighbours(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t programs = 0;
  *out = VYRE_UNCHANGED;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    programs++;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_const || v->imm[row] >= 1000)
      continue;
    ctx->host->rewrite(module, row, v->op[row], v->imm[row] + 1000 * programs, v->imm_hi[row], 0, 0, 0);
    *out = VYRE_CHANGED;
  }
  return VYRE_OK;
}

static const vyre_pass counts = {
    .struct_size = sizeof(vyre_pass), .name = "fault.counts", .summary = "count programs", .run = count_neighbours};
VYRE_PLUGIN("fault", "1.0", &counts)

TEST(a_pass_that_depends_on_neighbours_is_found)
{
  vyre_registry *passes = registry_with(vyre_plugin_query_v1, "fault", VYRE_ORIGIN_OUTSIDE);
  vyre_bytes inputs[2] = {forms_random(1, 1), forms_random(2, 1)};
  uint64_t retired = 0;
  assert_int_equal(forms_find_neighbour(passes, inputs, 1, "fixpoint(fault.counts)", NULL, &retired), 1);
  assert_int_equal(forms_find_neighbour(passes, inputs, 2, "fixpoint(fault.counts)", NULL, &retired), 0);
  vyre_bytes_free(&inputs[0]);
  vyre_bytes_free(&inputs[1]);
  vyre_registry_destroy(passes);
}

int
main(int count, char **arguments)
{
  small = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : budget_part(100);
  return test_run(open_forms, close_forms);
}
