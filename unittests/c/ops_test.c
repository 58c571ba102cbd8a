/* Compares each float op as C to the interpreter, on all combinations of extreme values.  The bits are equal, because both use
 * the machine's libm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_program.h"
#include "run_c.h"

#include "vyre/ir.h"

#include <dlfcn.h>

enum { MOST_TRIALS = 1000 };

typedef struct gathered {
  vyre_module *module;
  op_trial *trials;
  uint32_t count;
} gathered;

static void
add_one(void *user, op_trial *t)
{
  gathered *all = user;
  if (!vyre_kind_is_float(VYRE_TYPE_KIND(t->part_types[0])) && !vyre_kind_is_float(t->kind))
    return;
  assert_true(all->count < MOST_TRIALS);
  op_program_build(all->module, t, all->count);
  all->trials[all->count++] = *t;
}

static void
check_result(const op_trial *t, const op_memory *m, const op_memory *wanted, uint32_t invocation)
{
  for (uint32_t p = 0; p < t->parts; p++)
    for (uint32_t i = 0; i < VYRE_TYPE_LANES(t->part_types[p]); i++) {
      const uint64_t is = op_memory_result(m, t, invocation, p, i), want = op_memory_result(wanted, t, invocation, p, i);
      if (is != want)
        fail_msg("%s of %u, invocation %u, part %u, lane %u: 0x%llx, not 0x%llx", vyre_op_infos[t->op].text, t->kind, invocation, p,
                 i, (unsigned long long)is, (unsigned long long)want);
    }
}

static void
check_trial(void *library, const vyre_module *module, vyre_row program, op_trial *t)
{
  static op_memory m, wanted;
  vyre_binding bindings[OP_BINDINGS];
  vyre_dispatch dispatch = {.program = program, .groups = {OP_INVOCATIONS / 32, 1, 1}};
  for (uint32_t run = 0; run < op_extreme_runs(t); run++) {
    for (uint32_t i = 0; i < OP_INVOCATIONS; i++) {
      op_extreme_operands(t, run, i);
      op_memory_put(&m, t, i);
    }
    wanted = m;
    op_memory_bind(&wanted, module, &dispatch, bindings);
    assert_ok(vyre_interp_run(module, &dispatch, NULL, NULL), vyre_op_infos[t->op].text);
    op_memory_bind(&m, module, &dispatch, bindings);
    assert_int_equal(run_c(library, module, &dispatch, false), 0);
    for (uint32_t i = 0; i < OP_INVOCATIONS; i++)
      check_result(t, &m, &wanted, i);
  }
}

TEST(float_ops_equal_the_interpreter_on_all_combinations_of_extreme_values)
{
  gathered all = {.trials = calloc(MOST_TRIALS, sizeof(op_trial))};
  vyre_bytes c = {0};
  assert_non_null(all.trials);
  assert_ok(vyre_module_create(NULL, 0, &all.module), "module");
  for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
    op_trial_for_each(add_one, &all, 0, (vyre_kind)kind, false);
  assert_ok(vyre_module_seal(all.module, NULL), "seal");
  assert_ok(vyre_c_write(all.module, VYRE_NONE, NULL, &c), "C");
  void *library = compile_c(&c, 3000);
  const vyre_view *v = vyre_module_view(all.module);
  uint32_t k = 0;
  for (uint32_t program = v->first[0]; program; program = v->next[program], k++)
    check_trial(library, all.module, (vyre_row){program}, &all.trials[k]);
  assert_int_equal(k, all.count);
  print_message("%u programs of one float op\n", all.count);
  dlclose(library);
  vyre_bytes_free(&c);
  vyre_module_destroy(all.module);
  free(all.trials);
}
