/* Every pure op, strict and relaxed, on each kind and number of lanes that it accepts: validated, run, and compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "export_support.h"

#include "vyre/dot.h"

#include <spirv/unified1/spirv.h>

static const vyre_kind kinds[] = {VYRE_BOOL, VYRE_I32, VYRE_U32, VYRE_F32};
static const vyre_kind other_kinds[] = {VYRE_I8, VYRE_U8, VYRE_I16, VYRE_U16, VYRE_F16, VYRE_F64, VYRE_I64, VYRE_U64};

/* Returns 0 if the results must be equal, UINT32_MAX if they are not compared.  Relaxed programs are compared only if ops.def
 * gives a result for all operands and the device computes it exactly. */
static uint32_t
tolerance_of(vyre_opcode op, uint32_t mode)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  if (op == VYRE_OP_fma || info->fold != VYRE_FOLD_EXACT)
    return UINT32_MAX;
  if (mode == VYRE_PROGRAM_RELAXED && info->undefined != VYRE_UNDEFINED_NEVER)
    return UINT32_MAX;
  /* not specified by SPIR-V: ties, signs of zero, clamps of NaN */
  if (mode == VYRE_PROGRAM_RELAXED && (op == VYRE_OP_round || op == VYRE_OP_nmin || op == VYRE_OP_nmax || op == VYRE_OP_nclamp))
    return UINT32_MAX;
  return 0;
}

/* Returns whether -0 and +0 are equal.  The order of -0 and +0 depends on the device, and so does the sign of a double that a
 * driver for processors without vectors of 512 bits rounds through integers. */
static bool
zeros_agree(vyre_opcode op, vyre_kind kind)
{
  const bool rounds = op == VYRE_OP_round || op == VYRE_OP_roundeven || op == VYRE_OP_trunc;
  return vyre_kind_is_float(kind) && (op < VYRE_OP_fmin || (kind == VYRE_F64 && rounds));
}

/* Returns the error that Vulkan allows a device.  A division has 2.5 ULP, at most 5 steps where steps become finer, for divisors
 * in a range.  A root is 1 / inversesqrt, whose result is 2 ULP off. */
static uint32_t
device_tolerance(vyre_opcode op)
{
  return op == VYRE_OP_fdiv ? 5 : op == VYRE_OP_sqrt ? 10 : 0;
}

/* Under DenormPreserve, arithmetic keeps denormals.  By Vulkan's list, FAbs, FSign, comparisons, minima and maxima keep them too,
 * but NVIDIA's driver 580 flushes their operands. */
static export_denormals
denormals_of(vyre_opcode op)
{
  const bool arithmetic = op == VYRE_OP_add || op == VYRE_OP_sub || op == VYRE_OP_mul || op == VYRE_OP_neg;
  return arithmetic ? EXPORT_DENORMALS_KEPT : EXPORT_DENORMALS_FLUSHED;
}

/* Returns whether a word, as an unsigned number, lies between two numbers. */
static vyre_row
is_within(export_case *c, vyre_row value, uint64_t from, uint64_t to)
{
  const vyre_type type = VYRE_ROW_TYPE(vyre_module_view(c->module)->op[value.id]),
                  result = VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(type));
  const vyre_row above = vyre_build_binary(&c->b, VYRE_OP_sub, value, vyre_build_const(&c->b, type, from));
  return vyre_build(&c->b, VYRE_OP_ule, result, 0, 0, 0, above, vyre_build_const(&c->b, type, to - from), VYRE_NONE);
}

/* Returns whether Vulkan specifies the error of a division by the value: from 2^-126 to 2^126, for f16 from 2^-14 to 2^14. */
static vyre_row
has_specified_error(export_case *c, vyre_row value, vyre_type type)
{
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(type)), fraction = bits == 16 ? 10 : bits == 32 ? 23 : 52;
  const uint64_t bias = bits == 16 ? 15 : bits == 32 ? 127 : 1023, most = bits == 16 ? 14 : 126;
  const vyre_type plain = VYRE_TYPE(bits == 16 ? VYRE_U16 : bits == 32 ? VYRE_U32 : VYRE_U64, VYRE_TYPE_LANES(type));
  const vyre_row size = vyre_build_binary(&c->b, VYRE_OP_and, vyre_build_convert(&c->b, VYRE_OP_bitcast, plain, value),
                                          vyre_build_const(&c->b, plain, (UINT64_C(1) << (bits - 1)) - 1));
  return is_within(c, size, (bias - most) << fraction, (bias + most) << fraction);
}

/* Outputs the op on rows, and with literals as its right operand. */
static void
uniform_op(export_case *c, uint32_t op, vyre_type type, uint32_t mode, const vyre_row operands[3])
{
  static const uint64_t literals[4] = {0, 1, 32, UINT64_MAX}, float_literals[4] = {0x3f800000, 0x3fc00000, 0x3f000000, 0xc2280000};
  static const uint64_t half_literals[4] = {0x3c00, 0x3e00, 0x3800, 0xd140};
  static const uint64_t double_literals[4] = {0x3ff0000000000000, 0x3ff8000000000000, 0x3fe0000000000000, 0xc045000000000000};
  const vyre_op_info *info = &vyre_op_infos[op];
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const vyre_type result = VYRE_TYPE(info->rule == VYRE_RULE_BOOL ? VYRE_BOOL : kind, VYRE_TYPE_LANES(type));
  c->to_come.label = info->text;
  c->to_come.tolerance = tolerance_of((vyre_opcode)op, mode);
  c->to_come.device_tolerance = device_tolerance((vyre_opcode)op);
  c->to_come.denormals = denormals_of((vyre_opcode)op);
  c->to_come.zeros_agree = zeros_agree((vyre_opcode)op, kind);
  export_fixed_where(c, op == VYRE_OP_fdiv ? has_specified_error(c, operands[1], type) : VYRE_NONE);
  export_output(c, vyre_build(&c->b, (vyre_opcode)op, result, 0, 0, 0, operands[0], info->operands > 1 ? operands[1] : VYRE_NONE,
                              info->operands > 2 ? operands[2] : VYRE_NONE));
  export_fixed_where(c, VYRE_NONE);
  for (uint32_t i = 0; (info->flags & VYRE_OP_TAKES_IMM) && i < 4; i++) {
    const uint64_t bits = kind == VYRE_F32    ? float_literals[i]
                          : kind == VYRE_F16  ? half_literals[i]
                          : kind == VYRE_F64  ? double_literals[i]
                          : kind == VYRE_BOOL ? i & 1
                                              : literals[i] & UINT64_MAX >> (64 - vyre_kind_bits(kind));
    if (mode == 0 || info->undefined == VYRE_UNDEFINED_NEVER)
      export_output(c, vyre_build(&c->b, (vyre_opcode)op, result, VYRE_ROW_IMM, (uint32_t)bits, (uint32_t)(bits >> 32), operands[0],
                                  VYRE_NONE, VYRE_NONE));
  }
}

static void
open_with_inputs(export_case *c, uint32_t mode, vyre_type type, vyre_row operands[3])
{
  export_open(c, mode);
  for (int i = 0; i < 3; i++)
    operands[i] = export_input(c, type);
}

/* Returns whether SPIR-V has the function: some of GLSL.std.450 exist only for f16 and f32, quantization only for f32. */
static bool
has_width(vyre_opcode op, vyre_kind kind)
{
  if (op == VYRE_OP_quantize16)
    return kind == VYRE_F32;
  return kind != VYRE_F64 || op < VYRE_OP_radians || op > VYRE_OP_pow;
}

/* Returns the output words for which a program has room.  Programs of 64-bit integers that run on a device are short, because
 * NVIDIA's driver 580 computes wrong saturating sums next to divisions. */
static uint32_t
room_for(vyre_kind kind, bool here)
{
  enum { MOST = 44 }; /* words of one op: four lanes of 64 bits, five times, and a word for each lane */
  return here && (kind == VYRE_I64 || kind == VYRE_U64) ? 24 : EXPORT_SLOTS - MOST;
}

/* Tests ops whose operands all have one type, as many in a program as it has room for.  Most of the test's time is the driver's
 * compilation, which splits vectors.  So the device runs only scalars and, in a full test without GLSL, strict vectors of one
 * size for each kind. */
static void
uniform_ops(uint32_t mode, vyre_type type)
{
  export_case c;
  vyre_row operands[3];
  const uint32_t lanes = VYRE_TYPE_LANES(type), kind = VYRE_TYPE_KIND(type);
  const bool here = lanes == 1 || (budget_share() == 1 && export_is_direct() && lanes == 2 + kind % 3 && mode == 0);
  open_with_inputs(&c, mode, type, operands);
  c.interpreted = !here;
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    if (!info->text || (info->rule != VYRE_RULE_SAME && info->rule != VYRE_RULE_BOOL) || !(info->flags & VYRE_OP_PURE) ||
        !vyre_class_has((vyre_class)info->klass, VYRE_TYPE_KIND(type)) || (op == VYRE_OP_cross && VYRE_TYPE_LANES(type) != 3) ||
        !has_width((vyre_opcode)op, VYRE_TYPE_KIND(type)))
      continue;
    if (c.stores >= room_for(VYRE_TYPE_KIND(type), here)) {
      export_run(&c, NULL);
      export_close(&c);
      open_with_inputs(&c, mode, type, operands);
      c.interpreted = !here;
    }
    uniform_op(&c, op, type, mode, operands);
  }
  export_run(&c, NULL);
  export_close(&c);
}

TEST(strict_ops_of_one_type)
{
  for (size_t k = 0; k < 4; k++)
    for (uint32_t lanes = 1; lanes <= 4; lanes++)
      uniform_ops(0, VYRE_TYPE(kinds[k], lanes));
}

TEST(relaxed_ops_of_one_type)
{
  for (size_t k = 0; k < 4; k++)
    for (uint32_t lanes = 1; lanes <= 4; lanes++)
      uniform_ops(VYRE_PROGRAM_RELAXED, VYRE_TYPE(kinds[k], lanes));
}

TEST(ops_of_other_widths)
{
  for (size_t k = 0; k < sizeof(other_kinds) / sizeof(*other_kinds); k++)
    for (uint32_t lanes = 1; lanes <= 4; lanes++) {
      uniform_ops(0, VYRE_TYPE(other_kinds[k], lanes));
      uniform_ops(VYRE_PROGRAM_RELAXED, VYRE_TYPE(other_kinds[k], lanes));
    }
}

static vyre_row
build(export_case *c, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b, vyre_row third)
{
  return vyre_build(&c->b, op, type, 0, imm, 0, a, b, third);
}

/* Returns an index that is in range half of the time. */
static vyre_row
small_index(export_case *c, vyre_type type)
{
  const vyre_row word = export_input(c, U32);
  const vyre_row small = vyre_build_imm(&c->b, VYRE_OP_and, word, 0x80000007u);
  return type == U32 ? small : vyre_build_convert(&c->b, VYRE_OP_bitcast, type, small);
}

TEST(lanes_extracted_and_inserted)
{
  for (uint32_t lanes = 2; lanes <= 4; lanes++) {
    for (size_t k = 0; k < 4; k++) {
      export_case c;
      export_open(&c, 0);
      const vyre_type type = VYRE_TYPE(kinds[k], lanes), scalar = VYRE_TYPE(kinds[k], 1);
      const vyre_row vector = export_input(&c, type), value = export_input(&c, scalar);
      const vyre_row unsigned_index = small_index(&c, U32), signed_index = small_index(&c, I32);
      export_output(&c, build(&c, VYRE_OP_lane, scalar, 0, vector, unsigned_index, VYRE_NONE));
      export_output(&c, build(&c, VYRE_OP_lane, scalar, 0, vector, signed_index, VYRE_NONE));
      export_output(&c, vyre_build_lane(&c.b, vector, lanes - 1));
      export_output(&c, build(&c, VYRE_OP_insert, type, 0, vector, value, unsigned_index));
      export_output(&c, build(&c, VYRE_OP_insert, type, 0, vector, value, signed_index));
      export_output(&c, build(&c, VYRE_OP_insert, type, 0, vector, value, export_u32(&c, 1)));
      export_output(&c, build(&c, VYRE_OP_insert, type, 0, vector, value, export_u32(&c, 7)));
      export_run(&c, NULL);
      export_close(&c);
    }
  }
}

TEST(vectors_joined_and_shuffled)
{
  for (size_t k = 0; k < 4; k++) {
    export_case c;
    export_open(&c, VYRE_PROGRAM_RELAXED);
    const vyre_kind kind = kinds[k];
    const vyre_row one = export_input(&c, VYRE_TYPE(kind, 1)), two = export_input(&c, VYRE_TYPE(kind, 2));
    const vyre_row three = export_input(&c, VYRE_TYPE(kind, 3)), four = export_input(&c, VYRE_TYPE(kind, 4));
    export_output(&c, build(&c, VYRE_OP_join, VYRE_TYPE(kind, 3), 0, two, one, VYRE_NONE));
    export_output(&c, build(&c, VYRE_OP_join, VYRE_TYPE(kind, 4), 0, one, one, two));
    export_output(&c, build(&c, VYRE_OP_splat, VYRE_TYPE(kind, 4), 0, one, VYRE_NONE, VYRE_NONE));
    export_output(&c, build(&c, VYRE_OP_shuffle, VYRE_TYPE(kind, 4), 0x0123, four, VYRE_NONE, VYRE_NONE));
    export_output(&c, build(&c, VYRE_OP_shuffle, VYRE_TYPE(kind, 4), 0x4152, three, two, VYRE_NONE));
    export_output(&c, build(&c, VYRE_OP_shuffle, VYRE_TYPE(kind, 2), 0x46, one, three, VYRE_NONE));
    const vyre_row constants[2] = {vyre_build_const(&c.b, VYRE_TYPE(kind, 1), 1), vyre_build_const(&c.b, VYRE_TYPE(kind, 1), 0)};
    const vyre_row pair = build(&c, VYRE_OP_join, VYRE_TYPE(kind, 2), 0, constants[0], constants[1], VYRE_NONE);
    export_output(&c, build(&c, VYRE_OP_join, VYRE_TYPE(kind, 4), 0, pair, constants[0], constants[1]));
    export_run(&c, NULL);
    export_close(&c);
  }
}

TEST(selections)
{
  for (size_t k = 0; k < 4; k++) {
    export_case c;
    export_open(&c, 0);
    for (uint32_t lanes = 1; lanes <= 3; lanes++) {
      const vyre_type type = VYRE_TYPE(kinds[k], lanes);
      const vyre_row scalar = export_input(&c, BOOL), vector = export_input(&c, VYRE_TYPE(VYRE_BOOL, lanes));
      const vyre_row yes = export_input(&c, type), no = export_input(&c, type);
      export_output(&c, vyre_build_select(&c.b, scalar, yes, no));
      export_output(&c, vyre_build_select(&c.b, vector, yes, no));
      if (lanes > 1)
        export_output(&c, build(&c, VYRE_OP_any, BOOL, 0, vector, VYRE_NONE, VYRE_NONE));
      if (lanes > 1)
        export_output(&c, build(&c, VYRE_OP_all, BOOL, 0, vector, VYRE_NONE, VYRE_NONE));
    }
    export_run(&c, NULL);
    export_close(&c);
  }
}

TEST(conversions)
{
  export_case c;
  export_open(&c, 0);
  for (uint32_t lanes = 1; lanes <= 2; lanes++) {
    for (size_t from = 1; from < 4; from++) {
      const vyre_row value = export_input(&c, VYRE_TYPE(kinds[from], lanes));
      for (size_t to = 1; to < 4; to++) {
        export_output(&c, vyre_build_convert(&c.b, VYRE_OP_convert, VYRE_TYPE(kinds[to], lanes), value));
        export_output(&c, vyre_build_convert(&c.b, VYRE_OP_bitcast, VYRE_TYPE(kinds[to], lanes), value));
      }
    }
  }
  export_run(&c, NULL);
  export_close(&c);
}

/* Dot products of vectors and of packed integers, to every wider type, alone and added to a number.  In relaxed programs only
 * sums that cannot overflow. */
TEST(integer_dot_products)
{
  for (uint32_t mode = 0; mode <= VYRE_PROGRAM_RELAXED; mode += VYRE_PROGRAM_RELAXED)
    for (vyre_opcode op = VYRE_OP_sdot; op <= VYRE_OP_sudot; op++)
      for (vyre_kind kind = VYRE_U8; kind <= VYRE_U64; kind = (vyre_kind)(kind + 2)) {
        export_case c;
        uint32_t fused = 0;
        export_open(&c, mode);
        for (uint32_t lanes = kind == VYRE_U32 ? 1 : 2; lanes <= 4; lanes++)
          for (vyre_kind to = lanes == 1 ? VYRE_U8 : kind; to <= VYRE_U64; to = (vyre_kind)(to + 2)) {
            const vyre_type left = VYRE_TYPE(vyre_kind_with_sign(kind, op != VYRE_OP_udot), lanes);
            const vyre_type right = VYRE_TYPE(vyre_kind_with_sign(kind, op == VYRE_OP_sdot), lanes);
            const vyre_type type = VYRE_TYPE(vyre_kind_with_sign(to, op != VYRE_OP_udot), 1);
            const vyre_dot_shape shape = vyre_dot_shape_of(op, left);
            const bool overflows = vyre_dot_may_overflow(&shape, vyre_kind_bits(to));
            const vyre_row a = export_input(&c, left), b = export_input(&c, right), sum = export_input(&c, type);
            export_output(&c, build(&c, op, type, 0, a, b, VYRE_NONE));
            if (mode && overflows)
              continue;
            export_output(&c, build(&c, op, type, 0, a, b, sum));
            fused += !overflows;
          }
        export_run(&c, NULL);
        assert_true(!export_is_direct() || export_count(&c, SpvOpSDotAccSat + (uint32_t)(op - VYRE_OP_sdot)) == fused);
        export_close(&c);
      }
}

/* Integers of every width, with counts and offsets that may exceed the width. */
TEST(bit_fields)
{
  for (vyre_kind kind = VYRE_I8; kind <= VYRE_U64; kind++) {
    export_case c;
    export_open(&c, 0);
    for (uint32_t lanes = 1; lanes <= 3; lanes++) {
      const vyre_type type = VYRE_TYPE(kind, lanes);
      const vyre_row base = export_input(&c, type), insert = export_input(&c, type);
      for (int i = 0; i < 2; i++) { /* any offset and count, then mostly valid ones */
        const vyre_row words[2] = {export_input(&c, U32), export_input(&c, U32)};
        const vyre_row place[2] = {i ? vyre_build_imm(&c.b, VYRE_OP_and, words[0], 15) : words[0],
                                   i ? vyre_build_imm(&c.b, VYRE_OP_umod, words[1], 11) : words[1]};
        export_output(&c, build(&c, VYRE_OP_ubfe, type, 0, base, place[0], place[1]));
        export_output(&c, build(&c, VYRE_OP_sbfe, type, 0, base, place[0], place[1]));
        export_output(&c, build(&c, VYRE_OP_bfi, type, 0, base, insert, vyre_build_tuple(&c.b, place, 2)));
      }
    }
    export_run(&c, NULL);
    export_close(&c);
  }
}

TEST(operations_with_two_results)
{
  static const vyre_opcode ops[4] = {VYRE_OP_uaddc, VYRE_OP_usubb, VYRE_OP_umulx, VYRE_OP_smulx};
  export_case c;
  export_open(&c, 0);
  for (uint32_t lanes = 1; lanes <= 2; lanes++) {
    for (int i = 0; i < 4; i++) {
      const vyre_type type = VYRE_TYPE(ops[i] == VYRE_OP_smulx ? VYRE_I32 : VYRE_U32, lanes);
      const vyre_row a = export_input(&c, type), b = export_input(&c, type);
      const vyre_row both = build(&c, ops[i], VYRE_TYPE(VYRE_TUPLE, 1), VYRE_TUPLE_OF(2, type), a, b, VYRE_NONE);
      export_output(&c, vyre_build_part(&c.b, both, 0, type));
      export_output(&c, vyre_build_part(&c.b, both, 1, type));
    }
  }
  export_run(&c, NULL);
  export_close(&c);
}

/* Fills the input with floats between 0.25 and 2, for functions to which Vulkan allows an error. */
static void
fill_moderate_floats(uint32_t words[EXPORT_INVOCATIONS * EXPORT_SLOTS])
{
  for (uint32_t i = 0; i < EXPORT_INVOCATIONS * EXPORT_SLOTS; i++) {
    const float value = 0.25f + (float)((i * 37u) % 101u) / 64.0f;
    memcpy(&words[i], &value, 4);
  }
}

TEST(float_functions)
{
  static uint32_t words[EXPORT_INVOCATIONS * EXPORT_SLOTS];
  const vyre_type tuple = VYRE_TYPE(VYRE_TUPLE, 1);
  fill_moderate_floats(words);
  export_case c;
  export_open(&c, 0);
  c.to_come.tolerance = 64;
  for (uint32_t lanes = 1; lanes <= 3; lanes++) {
    const vyre_type type = VYRE_TYPE(VYRE_F32, lanes), ints = VYRE_TYPE(VYRE_I32, lanes);
    const vyre_row a = export_input(&c, type), b = export_input(&c, type), eta = export_input(&c, F32);
    if (lanes > 1)
      export_output(&c, build(&c, VYRE_OP_dot, F32, 0, a, b, VYRE_NONE));
    export_output(&c, build(&c, VYRE_OP_norm, F32, 0, a, VYRE_NONE, VYRE_NONE));
    export_output(&c, build(&c, VYRE_OP_distance, F32, 0, a, b, VYRE_NONE));
    export_output(&c, build(&c, VYRE_OP_refract, type, 0, vyre_build_unary(&c.b, VYRE_OP_normalize, a),
                            vyre_build_unary(&c.b, VYRE_OP_normalize, b), eta));
    const vyre_row whole = vyre_build_convert(&c.b, VYRE_OP_convert, ints, a);
    export_output(&c, build(&c, VYRE_OP_ldexp, type, 0, a, whole, VYRE_NONE));
    const vyre_row split = build(&c, VYRE_OP_modf, tuple, VYRE_TUPLE_OF(2, type), a, VYRE_NONE, VYRE_NONE);
    export_output(&c, vyre_build_part(&c.b, split, 0, type));
    export_output(&c, vyre_build_part(&c.b, split, 1, type));
    const vyre_row parts = build(&c, VYRE_OP_frexp, tuple, VYRE_TUPLE_OF(2, 0), a, VYRE_NONE, VYRE_NONE);
    export_output(&c, vyre_build_part(&c.b, parts, 0, type));
    export_output(&c, vyre_build_part(&c.b, parts, 1, ints));
  }
  export_run(&c, words);
  export_close(&c);
}

TEST(packing)
{
  static const struct {
    vyre_opcode op;
    uint32_t lanes;
  } ops[] = {{VYRE_OP_packsnorm4x8, 4},
             {VYRE_OP_packunorm4x8, 4},
             {VYRE_OP_packsnorm2x16, 2},
             {VYRE_OP_packunorm2x16, 2},
             {VYRE_OP_packhalf2x16, 2}};
  static uint32_t words[EXPORT_INVOCATIONS * EXPORT_SLOTS];
  fill_moderate_floats(words);
  export_case c;
  export_open(&c, 0);
  for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
    const vyre_type type = VYRE_TYPE(VYRE_F32, ops[i].lanes);
    const vyre_row packed = build(&c, ops[i].op, U32, 0, export_input(&c, type), VYRE_NONE, VYRE_NONE);
    c.to_come.device_tolerance = 0;
    export_output(&c, packed);
    c.to_come.device_tolerance = device_tolerance(VYRE_OP_fdiv); /* GLSL.std.450 unpacks by a division */
    export_output(&c, build(&c, (vyre_opcode)(ops[i].op + 5), type, 0, packed, VYRE_NONE, VYRE_NONE));
  }
  export_run(&c, words);
  export_close(&c);
}

/* Builds a matrix input, a tuple of its columns. */
static vyre_row
matrix_input(export_case *c, uint32_t columns, uint32_t rows)
{
  vyre_row parts[4];
  for (uint32_t i = 0; i < columns; i++)
    parts[i] = export_input(c, VYRE_TYPE(VYRE_F32, rows));
  const vyre_row tuple = vyre_build_tuple(&c->b, parts, columns);
  return tuple;
}

static void
matrix_output(export_case *c, vyre_row matrix, uint32_t columns, uint32_t rows)
{
  for (uint32_t i = 0; i < columns; i++)
    export_output(c, vyre_build_part(&c->b, matrix, i, VYRE_TYPE(VYRE_F32, rows)));
}

static vyre_row
matrix_op(export_case *c, vyre_opcode op, uint32_t columns, uint32_t rows, vyre_row a, vyre_row b)
{
  return build(c, op, VYRE_TYPE(VYRE_TUPLE, 1), VYRE_TUPLE_OF(columns, VYRE_TYPE(VYRE_F32, rows)), a, b, VYRE_NONE);
}

/* Ties, both limits of f16, and their neighbours, except values that a device may round up to the least normal f16.  In SPIR-V
 * all values above the largest f16 become infinities, and NVIDIA's driver 580 does so before it rounds. */
TEST(quantization_to_f16)
{
  static const uint32_t edges[] = {0x3f801000, 0x3f803000, 0x3f801001, 0x3f802fff, 0x387fc000, 0x38800000, 0x38801000, 0x38803000,
                                   0x477fe000, 0x477fefff, 0x477ff000, 0x47800000, 0x7f800000, 0x80000001, 0x7f800001, 0xc7802000};
  static uint32_t words[EXPORT_INVOCATIONS * EXPORT_SLOTS];
  for (uint32_t i = 0; i < EXPORT_INVOCATIONS; i++)
    words[i * EXPORT_SLOTS] = edges[i];
  export_case c;
  export_open(&c, 0);
  c.to_come.label = "quantize16";
  c.to_come.device_tolerance = export_is_direct() ? 0x2000 : 0; /* OpQuantizeToF16 may round up or down */
  const vyre_row value = export_input(&c, F32), bits = vyre_build_convert(&c.b, VYRE_OP_bitcast, U32, value);
  const vyre_row size = vyre_build_imm(&c.b, VYRE_OP_and, bits, 0x7fffffff);
  const vyre_row is_between = is_within(&c, size, 0x477fe001, 0x477fffff);
  export_fixed_where(&c, vyre_build_unary(&c.b, VYRE_OP_not, is_between));
  export_output(&c, vyre_build_unary(&c.b, VYRE_OP_quantize16, value));
  export_run(&c, words);
  export_close(&c);
}

TEST(matrices)
{
  static uint32_t words[EXPORT_INVOCATIONS * EXPORT_SLOTS];
  fill_moderate_floats(words);
  for (uint32_t columns = 2; columns <= 4; columns++) {
    for (uint32_t rows = 2; rows <= 4; rows++) {
      export_case c;
      export_open(&c, columns == rows ? 0 : VYRE_PROGRAM_RELAXED);
      c.to_come.tolerance = 4096;
      c.to_come.label = "matrix";
      const vyre_row m = matrix_input(&c, columns, rows), n = matrix_input(&c, 2, columns);
      const vyre_row across = export_input(&c, VYRE_TYPE(VYRE_F32, columns)), down = export_input(&c, VYRE_TYPE(VYRE_F32, rows));
      export_output(&c, build(&c, VYRE_OP_matvec, VYRE_TYPE(VYRE_F32, rows), 0, m, across, VYRE_NONE));
      export_output(&c, build(&c, VYRE_OP_vecmat, VYRE_TYPE(VYRE_F32, columns), 0, down, m, VYRE_NONE));
      matrix_output(&c, matrix_op(&c, VYRE_OP_matmat, 2, rows, m, n), 2, rows);
      const vyre_row turned = matrix_op(&c, VYRE_OP_transpose, rows, columns, m, VYRE_NONE);
      export_output(&c, build(&c, VYRE_OP_matvec, VYRE_TYPE(VYRE_F32, columns), 0, turned, down, VYRE_NONE));
      matrix_output(&c, matrix_op(&c, VYRE_OP_outer, columns, rows, down, across), columns, rows);
      if (columns == rows) {
        c.to_come.tolerance = UINT32_MAX; /* ill-conditioned */
        export_output(&c, build(&c, VYRE_OP_determinant, F32, 0, m, VYRE_NONE, VYRE_NONE));
        matrix_output(&c, matrix_op(&c, VYRE_OP_inverse, columns, rows, m, VYRE_NONE), columns, rows);
      }
      export_run(&c, words);
      assert_true(!export_is_direct() || export_count(&c, SpvOpTypeMatrix) > 0);
      export_close(&c);
    }
  }
}

/* A vector times a splat is one instruction, and strict arithmetic is decorated NoContraction. */
TEST(multiplication_by_a_splat)
{
  for (uint32_t mode = 0; mode < 2; mode++) {
    export_case c;
    export_open(&c, mode);
    const vyre_type type = VYRE_TYPE(VYRE_F32, 3);
    const vyre_row vector = export_input(&c, type), scalar = export_input(&c, F32);
    export_output(&c, vyre_build_imm(&c.b, VYRE_OP_mul, vector, 0x40000000));
    const vyre_row splat = build(&c, VYRE_OP_splat, type, 0, scalar, VYRE_NONE, VYRE_NONE);
    export_output(&c, build(&c, VYRE_OP_mul, type, 0, splat, vector, VYRE_NONE));
    export_output(&c, vyre_build(&c.b, VYRE_OP_mul, type, VYRE_ROW_EXACT, 0, 0, vector, vector, VYRE_NONE));
    export_run(&c, NULL);
    assert_true(!export_is_direct() || export_count(&c, SpvOpVectorTimesScalar) == 2);
    assert_true(!export_is_direct() || export_count(&c, SpvOpFMul) == 1);
    unsigned exact = 0;
    const uint32_t *code = (const uint32_t *)(const void *)c.code.data;
    for (size_t at = 5; at < c.code.size / 4; at += code[at] >> 16)
      exact += (code[at] & 0xffff) == SpvOpDecorate && code[at + 2] == SpvDecorationNoContraction;
    assert_true(!export_is_direct() || exact == (mode ? 1 : 3));
    export_close(&c);
  }
}

TEST_MAIN(export_device_open, export_device_close)
