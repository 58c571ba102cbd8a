/* Every pure op, strict and relaxed, on each kind and number of lanes that it takes: validated, run, and compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export_support.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

static bool
takes(vyre_class klass, vyre_kind kind)
{
  switch (klass) {
  case VYRE_CLASS_ANY:
    return true;
  case VYRE_CLASS_BOOL:
    return kind == VYRE_BOOL;
  case VYRE_CLASS_UINT:
    return kind == VYRE_U32;
  case VYRE_CLASS_SINT:
    return kind == VYRE_I32;
  case VYRE_CLASS_INT:
    return kind == VYRE_U32 || kind == VYRE_I32;
  case VYRE_CLASS_FLOAT:
    return kind == VYRE_F32;
  case VYRE_CLASS_NUM:
    return kind != VYRE_BOOL;
  case VYRE_CLASS_BITS:
    return kind != VYRE_F32;
  default:
    return false;
  }
}

static const vyre_kind kinds[] = {VYRE_BOOL, VYRE_I32, VYRE_U32, VYRE_F32};

/* Relaxed programs are compared only where ops.def gives a result for all operands and the device computes it exactly. */
static uint32_t
tolerance_of(vyre_opcode op, uint32_t mode)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  if (op == VYRE_OP_fma || info->fold != VYRE_FOLD_EXACT)
    return UINT32_MAX;
  if (mode == VYRE_PROGRAM_RELAXED && info->undefined != VYRE_UNDEFINED_NEVER)
    return UINT32_MAX;
  /* open in SPIR-V: halves, signs of zero, rounding of a division */
  if (mode == VYRE_PROGRAM_RELAXED && (op == VYRE_OP_round || op == VYRE_OP_nmin || op == VYRE_OP_nmax || op == VYRE_OP_nclamp))
    return UINT32_MAX;
  return 0;
}

/* Ops whose operands all have one type: with rows, and with a literal on the right. */
static void
uniform_ops(uint32_t mode)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    if (!info->text || (info->rule != VYRE_RULE_SAME && info->rule != VYRE_RULE_BOOL) || !(info->flags & VYRE_OP_PURE))
      continue;
    for (size_t k = 0; k < 4; k++) {
      for (uint32_t lanes = op == VYRE_OP_cross ? 3 : 1; takes(info->klass, kinds[k]) && lanes <= (op == VYRE_OP_cross ? 3u : 4u); lanes++) {
        export_case c;
        export_open(&c, mode);
        c.tolerance = tolerance_of((vyre_opcode)op, mode);
        const vyre_type type = VYRE_TYPE(kinds[k], lanes);
        const vyre_type result = VYRE_TYPE(info->rule == VYRE_RULE_BOOL ? VYRE_BOOL : kinds[k], lanes);
        vyre_row operands[3] = {{0}};
        for (uint32_t i = 0; i < info->operands; i++)
          operands[i] = export_input(&c, type);
        export_output(&c, vyre_build(&c.b, (vyre_opcode)op, result, 0, 0, 0, operands[0], operands[1], operands[2]));
        for (uint32_t i = 0; info->flags & VYRE_OP_TAKES_IMM && i < 5; i++) {
          static const uint32_t literals[5] = {0, 1, 31, 32, 0xffffffff};
          const uint32_t bits = kinds[k] == VYRE_F32 ? i * 0x3f000000u : kinds[k] == VYRE_BOOL ? i & 1 : literals[i];
          const bool undefined = mode && info->undefined != VYRE_UNDEFINED_NEVER;
          if (!undefined)
            export_output(&c, vyre_build(&c.b, (vyre_opcode)op, result, VYRE_ROW_IMM, bits, 0, operands[0], VYRE_NONE, VYRE_NONE));
        }
        print_message("%s %u x%u\n", info->text, (unsigned)kinds[k], lanes);
        export_run(&c, NULL);
        export_close(&c);
      }
    }
  }
}

static void
ops_of_one_type_strict(void **state)
{
  (void)state;
  uniform_ops(0);
}

static void
ops_of_one_type_relaxed(void **state)
{
  (void)state;
  uniform_ops(VYRE_PROGRAM_RELAXED);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ops_of_one_type_strict),
    cmocka_unit_test(ops_of_one_type_relaxed),
  };
  return cmocka_run_group_tests(tests, export_device_open, export_device_close);
}
