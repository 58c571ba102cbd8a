/* Each op in the interpreter computes vyre_eval's value for each invocation.  The interpreter computes a row for a whole
 * workgroup at once, by faster code than vyre_eval's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "op_program.h"
#include "vyre/eval.h"
#include "vyre/ir.h"

/* Chooses operands.  For lane and insert, the lane exists in seven of eight invocations. */
static void
choose_operands(op_trial *t, uint32_t invocation)
{
  eval_randomize(&t->sample);
  if ((t->op == VYRE_OP_lane || t->op == VYRE_OP_insert) && invocation % 8 != 0)
    t->sample.values[t->op == VYRE_OP_lane ? 1 : 2][0].lane[0] &= 3;
  for (uint32_t lane = 0; t->literal && lane < 4; lane++)
    t->sample.values[1][0].lane[lane] = t->bits;
}

static void
check_values(const op_trial *t, const op_memory *m, uint32_t invocation, const vyre_value wanted[VYRE_EVAL_PARTS])
{
  for (uint32_t p = 0; p < t->parts; p++)
    for (uint32_t i = 0; i < VYRE_TYPE_LANES(t->part_types[p]); i++)
      if (op_memory_result(m, t, invocation, p, i) != wanted[p].lane[i])
        fail_msg("%s on kind %u%s, invocation %u, part %u, lane %u: 0x%llx, but vyre_eval gives 0x%llx", vyre_op_infos[t->op].text,
                 t->kind, t->literal ? " and a literal" : "", invocation, p, i,
                 (unsigned long long)op_memory_result(m, t, invocation, p, i), (unsigned long long)wanted[p].lane[i]);
}

static void
check(op_trial *t)
{
  static op_memory m;
  static vyre_value wanted[OP_INVOCATIONS][VYRE_EVAL_PARTS];
  vyre_module *module;
  vyre_binding bindings[OP_BINDINGS];
  bool undefined;
  assert_null(vyre_module_create(NULL, 1024, &module));
  op_program_build(module, t, 0);
  assert_null(vyre_module_seal(module, NULL));
  for (uint32_t i = 0; i < OP_INVOCATIONS; i++) {
    choose_operands(t, i);
    op_memory_put(&m, t, i);
    const uint32_t imm = t->op == VYRE_OP_const ? 1 : t->sample.imm;
    assert_true(vyre_eval(VYRE_ROW(t->op, t->sample.type, 0), imm, 0, t->sample.operands, wanted[i], &undefined));
  }
  vyre_dispatch dispatch = {.program = {vyre_module_view(module)->first[0]}, .groups = {OP_INVOCATIONS / 32, 1, 1}};
  op_memory_bind(&m, module, &dispatch, bindings);
  vyre_status status = vyre_interp_run(module, &dispatch, NULL, NULL);
  if (status)
    fail_msg("%s: %s", vyre_op_infos[t->op].text, vyre_status_text(status));
  for (uint32_t i = 0; i < OP_INVOCATIONS; i++)
    check_values(t, &m, i, wanted[i]);
  vyre_module_destroy(module);
}

TEST(every_op_agrees_with_vyre_eval)
{
  op_trial t;
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      for (uint32_t lanes = op >= VYRE_OP_matvec && op <= VYRE_OP_inverse && op != VYRE_OP_outer ? 2 : 1;
           lanes <= 4 && eval_accepts((vyre_opcode)op, (vyre_kind)kind); lanes++)
        for (uint32_t literal = 0; literal < 2; literal++)
          if (op_trial_begin(&t, 0, (vyre_opcode)op, (vyre_kind)kind, lanes, literal != 0))
            check(&t);
}
