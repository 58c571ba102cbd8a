/* The laws in ops.def compared with the evaluator: each listed law holds, and each law that holds is listed.  Tested on all pairs
 * of 8-bit integers, on bools, and on f16 values of every class.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir_test.h"

#include "vyre/eval.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint64_t halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x3c00, 0xbc00, 0x4000, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};

/* Returns the result of the op for two scalars of a kind. */
static uint64_t
computed(vyre_opcode op, vyre_kind kind, uint64_t x, uint64_t y)
{
  const vyre_kind result = vyre_op_infos[op].rule == VYRE_RULE_BOOL ? VYRE_BOOL : kind;
  vyre_value a = {{x}}, b = {{y}}, out[VYRE_EVAL_PARTS];
  const vyre_eval_operand operands[3] = {{.value = &a, .type = VYRE_TYPE(kind, 1)}, {.value = &b, .type = VYRE_TYPE(kind, 1)}};
  bool undefined;
  assert_true(vyre_eval(VYRE_ROW(op, VYRE_TYPE(result, 1), 0), 0, 0, operands, out, &undefined));
  return out[0].lane[0];
}

static bool
is_binary(uint32_t op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  return info->text && (info->flags & VYRE_OP_PURE) && info->operands == 2 && info->klass != VYRE_CLASS_NONE &&
         (info->rule == VYRE_RULE_SAME || info->rule == VYRE_RULE_BOOL);
}

static vyre_kind
narrow_int(vyre_class klass)
{
  return vyre_class_has(klass, VYRE_U8) ? VYRE_U8 : vyre_class_has(klass, VYRE_I8) ? VYRE_I8 : VYRE_VOID;
}

static bool
self_holds(vyre_opcode op, vyre_kind kind, uint64_t values, vyre_self self)
{
  for (uint64_t x = 0; x < values; x++)
    if (computed(op, kind, x, x) != (self == VYRE_SELF_LEFT ? x : self == VYRE_SELF_ONE))
      return false;
  return true;
}

static bool
absorbs_holds(vyre_opcode op, vyre_kind kind, uint64_t values, vyre_absorbs absorbs)
{
  const uint64_t literal = vyre_absorbs_bits(absorbs, kind);
  for (uint64_t x = 0; x < values; x++)
    if (computed(op, kind, x, literal) != literal || computed(op, kind, literal, x) != literal)
      return false;
  return true;
}

TEST(laws_of_equal_operands_and_absorbing_literals_hold)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    const vyre_kind kind = is_binary(op) ? narrow_int((vyre_class)info->klass) : VYRE_VOID;
    if (kind == VYRE_VOID && (info->self || info->absorbs))
      fail_msg("%s has a law of integers, but accepts no integers", info->text);
    for (uint32_t self = VYRE_SELF_ZERO; kind && self <= VYRE_SELF_LEFT; self++)
      if (self_holds((vyre_opcode)op, kind, 256, (vyre_self)self) != (info->self == self))
        fail_msg("%s of equal operands: not %u", info->text, info->self);
    for (uint32_t it = VYRE_ABSORBS_ZERO; kind && it <= VYRE_ABSORBS_GREATEST; it++)
      if (((info->flags & VYRE_OP_COMMUTES) != 0 && absorbs_holds((vyre_opcode)op, kind, 256, (vyre_absorbs)it)) !=
          (info->absorbs == it)) /* 0 % x is 0 too, but x % 0 is undefined in relaxed programs */
        fail_msg("%s does not absorb %u", info->text, info->absorbs);
    if (kind == VYRE_VOID || !vyre_class_has((vyre_class)info->klass, VYRE_BOOL))
      continue;
    assert_true(info->self == VYRE_SELF_NONE || self_holds((vyre_opcode)op, VYRE_BOOL, 2, (vyre_self)info->self));
    assert_true(info->absorbs == VYRE_ABSORBS_NONE || absorbs_holds((vyre_opcode)op, VYRE_BOOL, 2, (vyre_absorbs)info->absorbs));
  }
}

/* Returns the order of x and y, one bit.  NaNs are the f16 values beyond the infinities. */
static uint32_t
outcome(uint32_t order, uint64_t x, uint64_t y)
{
  const uint64_t bias = order == VYRE_COMPARES_SIGNED ? 0x80 : 0;
  int64_t l = (int64_t)(x ^ bias), r = (int64_t)(y ^ bias);
  if (order == VYRE_COMPARES_FLOAT) {
    const int64_t a = (int64_t)(x & 0x7fff), b = (int64_t)(y & 0x7fff);
    if (a > 0x7c00 || b > 0x7c00)
      return VYRE_COMPARES_UNORDERED;
    l = x >> 15 ? -a : a;
    r = y >> 15 ? -b : b;
  }
  return l < r ? VYRE_COMPARES_LESS : l > r ? VYRE_COMPARES_GREATER : VYRE_COMPARES_EQUAL;
}

static void
check_comparison(vyre_opcode op, vyre_kind kind, uint32_t order, uint64_t x, uint64_t y)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  const uint64_t is = computed(op, kind, x, y);
  if (is != ((VYRE_COMPARES_OUTCOMES(info->compares) & outcome(order, x, y)) != 0) ||
      is != computed((vyre_opcode)info->mirrored, kind, y, x) || is == computed((vyre_opcode)info->inverse, kind, x, y))
    fail_msg("%s of %u and %u is %u", info->text, (unsigned)x, (unsigned)y, (unsigned)is);
}

TEST(laws_of_comparisons_hold)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    const uint32_t order = VYRE_COMPARES_ORDER(info->compares);
    const bool is_comparison = is_binary(op) && info->rule == VYRE_RULE_BOOL;
    assert_int_equal(info->compares != 0, is_comparison);
    assert_int_equal(info->mirrored != 0, is_comparison);
    assert_int_equal(info->inverse != 0, is_comparison);
    if (!is_comparison)
      continue;
    assert_int_equal(info->mirrored == op, (info->flags & VYRE_OP_COMMUTES) != 0);
    for (size_t i = 0; order == VYRE_COMPARES_FLOAT && i < COUNT(halves) * COUNT(halves); i++)
      check_comparison((vyre_opcode)op, VYRE_F16, order, halves[i / COUNT(halves)], halves[i % COUNT(halves)]);
    for (uint32_t either = VYRE_COMPARES_UNSIGNED; either <= VYRE_COMPARES_SIGNED; either *= 2)
      for (uint64_t i = 0; (order & either) != 0 && i < 0x10000; i++)
        check_comparison((vyre_opcode)op, either == VYRE_COMPARES_SIGNED ? VYRE_I8 : VYRE_U8, either, i >> 8, i & 255);
  }
}

/* The name of such an op ends in the name of the op that it combines by: atomic_umin, umin.  Float minima and maxima ignore
 * NaNs. */
TEST(atomics_and_reductions_name_the_op_that_they_combine_by)
{
  static const char *const exchanges[] = {"atomic_load", "atomic_store", "atomic_exchange", "atomic_compare_exchange"};
  static const char *const floats[][2] = {{"fadd", "add"}, {"fmin", "nmin"}, {"fmax", "nmax"}};
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    bool combines = vyre_op_is_atomic(op) || (op >= VYRE_OP_subgroup_add && op <= VYRE_OP_subgroup_xor);
    for (size_t i = 0; info->text && i < COUNT(exchanges); i++)
      combines &= strcmp(info->text, exchanges[i]) != 0;
    assert_int_equal(info->combines != 0, combines && info->text);
    if (!info->combines)
      continue;
    const char *name = strrchr(info->text, '_') + 1;
    for (size_t i = 0; i < COUNT(floats); i++)
      name = strcmp(name, floats[i][0]) == 0 ? floats[i][1] : name;
    assert_string_equal(vyre_op_infos[info->combines].text, name);
  }
}

/* Every op that rules rewrite has a cost, because rewriting ends by decreasing costs. */
TEST(ops_of_rules_have_a_cost)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    if (info->text && (info->flags & VYRE_OP_PURE) && (info->rule == VYRE_RULE_SAME || info->rule == VYRE_RULE_BOOL))
      assert_int_not_equal(info->cost, 0);
    if (!(info->flags & VYRE_OP_PURE))
      assert_int_equal(info->cost, 0);
  }
}
