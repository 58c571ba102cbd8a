/* Subgroup rows: every op on every kind that it accepts, with every group operation, and with some lanes inactive.  Strict
 * programs have any operands, relaxed programs only defined ones.  Validated, run, and compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export_support.h"

#include <spirv/unified1/spirv.h>

static vyre_row
build(export_case *c, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b)
{
  return vyre_build(&c->b, op, type, 0, imm, 0, a, b, VYRE_NONE);
}

/* Returns an input whose sums and products are exact in any order. */
static vyre_row
input(export_case *c, vyre_opcode op, vyre_type type)
{
  if (!vyre_kind_is_float(VYRE_TYPE_KIND(type)) || (op != VYRE_OP_subgroup_add && op != VYRE_OP_subgroup_mul))
    return export_input(c, type);
  vyre_row word = export_input(c, VYRE_TYPE(VYRE_U32, VYRE_TYPE_LANES(type)));
  word = vyre_build_imm(&c->b, VYRE_OP_and, word, op == VYRE_OP_subgroup_add ? 15 : 1);
  return vyre_build_convert(&c->b, VYRE_OP_convert, type, vyre_build_imm(&c->b, VYRE_OP_add, word, 1));
}

/* Outputs the rows of an op.  `b` is the lane, the distance or the mask. */
static void
moved(export_case *c, vyre_opcode op, vyre_type type, vyre_row b)
{
  const vyre_row value = export_input(c, type);
  c->to_come.label = vyre_op_infos[op].text;
  if (op != VYRE_OP_subgroup_quad_swap) {
    export_output(c, build(c, op, type, 0, value, b));
    return;
  }
  for (uint32_t k = 0; k < 3; k++)
    export_output(c, build(c, op, type, 0, value, export_u32(c, k)));
}

static void
combined(export_case *c, vyre_opcode op, vyre_type type)
{
  c->to_come.label = vyre_op_infos[op].text;
  c->to_come.zeros_agree = vyre_kind_is_float(VYRE_TYPE_KIND(type));
  c->to_come.denormals = EXPORT_DENORMALS_ALIKE;
  for (uint32_t group = VYRE_GROUP_REDUCE; group <= VYRE_GROUP_EXCLUSIVE; group++)
    export_output(c, build(c, op, type, VYRE_GROUP(group, 0), input(c, op, type), VYRE_NONE));
  c->to_come.zeros_agree = false;
  c->to_come.denormals = EXPORT_DENORMALS_FLUSHED;
}

/* Opens a branch that lanes 2, 7 and 12 do not enter, nor lanes that a random word selects. */
static vyre_row
open_branch(export_case *c, uint32_t mode)
{
  export_open_wide(c, mode);
  const vyre_row other = vyre_build_imm(&c->b, VYRE_OP_ne, vyre_build_imm(&c->b, VYRE_OP_umod, c->gid, 5), 2);
  const vyre_row odd = vyre_build_imm(&c->b, VYRE_OP_and, export_input(c, U32), 3);
  return vyre_build_if(&c->b, vyre_build_binary(&c->b, VYRE_OP_and, other, vyre_build_imm(&c->b, VYRE_OP_ne, odd, 3)));
}

static void
close_branch(export_case *c, vyre_row branch)
{
  vyre_builder_leave(&c->b, branch);
  export_run(c, NULL);
  export_close(c);
}

TEST(moves_of_strict_programs)
{
  for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++) {
    const vyre_type type = VYRE_TYPE(kind, 1 + kind % 4);
    export_case c;
    const vyre_row branch = open_branch(&c, 0);
    const vyre_row anything = export_input(&c, U32);
    const vyre_row small = vyre_build_imm(&c.b, VYRE_OP_and, export_input(&c, U32), 9);
    for (uint32_t op = VYRE_OP_subgroup_broadcast; op <= VYRE_OP_subgroup_quad_swap; op++) {
      if (op == VYRE_OP_subgroup_first)
        export_output(&c, build(&c, (vyre_opcode)op, type, 0, export_input(&c, type), VYRE_NONE));
      if (vyre_op_infos[op].operands != 2 || vyre_op_infos[op].klass != VYRE_CLASS_ANY)
        continue;
      moved(&c, (vyre_opcode)op, type, anything);
      moved(&c, (vyre_opcode)op, type, small);
      moved(&c, (vyre_opcode)op, type, export_u32(&c, 3));
    }
    for (uint32_t cluster = 1; cluster <= 32; cluster *= 4)
      export_output(
          &c, build(&c, VYRE_OP_subgroup_rotate, type, VYRE_GROUP(VYRE_GROUP_CLUSTERED, cluster), export_input(&c, type), small));
    close_branch(&c, branch);
  }
}

TEST(reductions_and_scans)
{
  for (uint32_t mode = 0; mode < 2; mode++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++) {
      const vyre_type type = VYRE_TYPE(kind, 1 + (kind + mode) % 4);
      export_case c;
      const vyre_row branch = open_branch(&c, mode);
      for (uint32_t op = VYRE_OP_subgroup_add; op <= VYRE_OP_subgroup_xor; op++)
        if (vyre_class_has((vyre_class)vyre_op_infos[op].klass, (vyre_kind)kind) &&
            (mode == 0 || (op != VYRE_OP_subgroup_fmin && op != VYRE_OP_subgroup_fmax)))
          combined(&c, (vyre_opcode)op, type);
      close_branch(&c, branch);
    }
}

TEST(clustered_reductions)
{
  static const vyre_opcode ops[] = {VYRE_OP_subgroup_add, VYRE_OP_subgroup_umax, VYRE_OP_subgroup_smin, VYRE_OP_subgroup_fmin,
                                    VYRE_OP_subgroup_or};
  static const vyre_kind kinds[] = {VYRE_F32, VYRE_U32, VYRE_I32, VYRE_F32, VYRE_BOOL};
  for (uint32_t mode = 0; mode < 2; mode++) {
    export_case c;
    const vyre_row branch = open_branch(&c, mode);
    c.not_on_device = !(export_device()->subgroup_operations & VYRE_DEVICE_SUBGROUP_CLUSTERED);
    for (uint32_t i = 0; i < 5; i++)
      for (uint32_t cluster = 1; cluster <= (mode ? 8 : 64); cluster *= 2) {
        const vyre_type type = VYRE_TYPE(kinds[i], 1);
        c.to_come.label = vyre_op_infos[ops[i]].text;
        c.to_come.zeros_agree = kinds[i] == VYRE_F32;
        c.to_come.denormals = EXPORT_DENORMALS_ALIKE;
        export_output(&c, build(&c, ops[i], type, VYRE_GROUP(VYRE_GROUP_CLUSTERED, cluster),
                                i == 3 ? export_input(&c, type) : input(&c, VYRE_OP_subgroup_add, type), VYRE_NONE));
      }
    close_branch(&c, branch);
  }
}

/* Relaxed programs use the instructions themselves, here with defined operands. */
TEST(moves_of_relaxed_programs)
{
  export_case c;
  export_open_wide(&c, VYRE_PROGRAM_RELAXED);
  const vyre_type types[3] = {U32, VYRE_TYPE(VYRE_F32, 3), BOOL};
  const vyre_row lane = build(&c, VYRE_OP_subgroup_lane, U32, 0, VYRE_NONE, VYRE_NONE);
  const vyre_row five = vyre_build_imm(&c.b, VYRE_OP_and, vyre_build_imm(&c.b, VYRE_OP_or, c.gid, UINT32_MAX), 5);
  for (uint32_t t = 0; t < 3; t++) {
    moved(&c, VYRE_OP_subgroup_broadcast, types[t], export_u32(&c, 6));
    moved(&c, VYRE_OP_subgroup_broadcast, types[t], five); /* not a constant: written as a shuffle */
    moved(&c, VYRE_OP_subgroup_shuffle, types[t], vyre_build_imm(&c.b, VYRE_OP_and, export_input(&c, U32), 7));
    moved(&c, VYRE_OP_subgroup_shuffle_xor, types[t], vyre_build_imm(&c.b, VYRE_OP_and, export_input(&c, U32), 7));
    moved(&c, VYRE_OP_subgroup_shuffle_up, types[t], vyre_build_binary(&c.b, VYRE_OP_umin, lane, export_u32(&c, 3)));
    moved(&c, VYRE_OP_subgroup_shuffle_down, types[t],
          vyre_build_imm(&c.b, VYRE_OP_and, vyre_build_imm(&c.b, VYRE_OP_xor, lane, 7), 2));
    moved(&c, VYRE_OP_subgroup_rotate, types[t], export_u32(&c, 11));
    moved(&c, VYRE_OP_subgroup_quad_broadcast, types[t], export_u32(&c, 3));
    moved(&c, VYRE_OP_subgroup_quad_broadcast, types[t], vyre_build_imm(&c.b, VYRE_OP_and, five, 3));
    moved(&c, VYRE_OP_subgroup_quad_swap, types[t], VYRE_NONE);
  }
  export_run(&c, NULL);
  assert_true(!export_is_direct() || export_count(&c, SpvOpGroupNonUniformBroadcast) == 3);
  assert_true(!export_is_direct() || export_count(&c, SpvOpGroupNonUniformShuffle) == 3 * 4);
  assert_true(!export_is_direct() || export_count(&c, SpvOpGroupNonUniformShuffleUp) == 3);
  assert_true(!export_is_direct() || export_count(&c, SpvOpGroupNonUniformQuadSwap) == 9);
  assert_true(!export_is_direct() || export_count(&c, SpvOpGroupNonUniformBallot) == 0);
  export_close(&c);
}

TEST_MAIN(export_device_open, export_device_close)
