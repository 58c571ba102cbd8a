/* The meaning of pure ops: cases by hand of ops that fold by libm's functions, laws over the whole table, and totality.
 * unittests/folds compares the meaning of all other ops with z3's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/eval.h"
#include "vyre/ir.h"

#include "eval_shape.h"

#define U32    VYRE_TYPE(VYRE_U32, 1)
#define F32    VYRE_TYPE(VYRE_F32, 1)
#define VEC(n) VYRE_TYPE(VYRE_F32, n)
#define TUPLE  VYRE_TYPE(VYRE_TUPLE, 1)

/* clang-format off */

/* bits of f32 values */
enum {
  ZERO = 0, LEAST = 1 /* denormal */, HALF = 0x3f000000, ONE = 0x3f800000, ONE_5 = 0x3fc00000, TWO = 0x40000000,
  TWO_5 = 0x40200000, THREE = 0x40400000, FOUR = 0x40800000, FIVE = 0x40a00000, FIVE_5 = 0x40b00000, SIX = 0x40c00000,
  SEVEN = 0x40e00000, EIGHT = 0x41000000, TEN = 0x41200000, INF = 0x7f800000, QNAN = 0x7fc00000
};
#define MINUS(x) ((uint32_t)(x) ^ 0x80000000u)

/* ---- scalars -------------------------------------------------------------------------------------------------------- */

typedef struct scalar_case {
  vyre_opcode op;
  uint32_t a, b, c, want;
  bool is_undefined; /* in a relaxed program */
} scalar_case;

#define F1(op, a, want)        {VYRE_OP_##op, a, 0, 0, want, false}
#define F2(op, a, b, want)     {VYRE_OP_##op, a, b, 0, want, false}
#define F3(op, a, b, c, want)  {VYRE_OP_##op, a, b, c, want, false}
#define F1X(op, a, want)       {VYRE_OP_##op, a, 0, 0, want, true}
#define F2X(op, a, b, want)    {VYRE_OP_##op, a, b, 0, want, true}
#define F3X(op, a, b, c, want) {VYRE_OP_##op, a, b, c, want, true}

static const scalar_case scalar_cases[] = {
  F2(frem, MINUS(FIVE_5), TWO, MINUS(ONE_5)), F2(frem, FIVE_5, MINUS(TWO), ONE_5), F2(frem, ONE, ZERO, QNAN),
  F2(frem, ONE, INF, ONE), F2(fmod, MINUS(FIVE_5), TWO, HALF), F2(fmod, FIVE_5, MINUS(TWO), MINUS(HALF)),
  F2(fmod, FOUR, MINUS(TWO), MINUS(ZERO)), F2(fmod, ONE, ZERO, QNAN), F1(fract, TWO_5, HALF), F1(fract, MINUS(TWO_5), HALF),
  F1(fract, INF, QNAN), F1(fract, 0xaedbe6ff, ONE), F1(rsqrt, FOUR, HALF), F1(rsqrt, TWO, 0x3f3504f3), F1X(rsqrt, ZERO, INF),
  F1X(rsqrt, MINUS(ONE), QNAN), F1(radians, 0x42b40000, 0x3fc90fdb), F1(degrees, ONE, 0x42652ee1), F1(sin, ZERO, ZERO),
  F1(sin, ONE, 0x3f576aa4), F1(sin, INF, QNAN), F1(cos, ONE, 0x3f0a5140), F1(tan, ONE, 0x3fc75923), F1(asin, HALF, 0x3f060a92),
  F1X(asin, TWO, QNAN), F1(acos, HALF, 0x3f860a92), F1X(acos, MINUS(TWO), QNAN), F1(atan, ONE, 0x3f490fdb),
  F1(sinh, ONE, 0x3f966cfe), F1(cosh, ONE, 0x3fc583ab), F1(tanh, ONE, 0x3f42f7d6), F1(asinh, ONE, 0x3f61a1b3),
  F1(acosh, TWO, 0x3fa89214), F1X(acosh, HALF, QNAN), F1(atanh, HALF, 0x3f0c9f54), F1X(atanh, ONE, INF), F1X(atanh, TWO, QNAN),
  F1(exp, ONE, 0x402df854), F1(exp, MINUS(INF), ZERO), F1(exp2, THREE, EIGHT), F1(exp2, HALF, 0x3fb504f3),
  F1(log, TEN, 0x40135d8e), F1X(log, ZERO, MINUS(INF)), F1(log2, EIGHT, THREE), F1X(log2, MINUS(ONE), QNAN),
  F2(atan2, ONE, MINUS(ONE), 0x4016cbe4), F2X(atan2, ZERO, ZERO, ZERO), F2(atan2, ZERO, ONE, ZERO),
  F2(atan2, ONE, ZERO, 0x3fc90fdb), F2(pow, TWO, HALF, 0x3fb504f3), F2X(pow, ZERO, ZERO, ONE), F2X(pow, MINUS(TWO), TWO, FOUR),
  F3(fmix, ONE, THREE, HALF, TWO), F3(fmix, ONE, THREE, ZERO, ONE), F3(fmix, ONE, THREE, ONE, THREE),
  F3(smoothstep, ZERO, TWO, ONE, HALF), F3(smoothstep, ZERO, TWO, FIVE, ONE), F3(smoothstep, ZERO, FOUR, ONE, 0x3e200000),
  F3X(smoothstep, TWO, ONE, ONE_5, HALF), F3X(smoothstep, ONE, ONE, ONE, ZERO), F2(ldexp, ONE, 3, EIGHT),
  F2(ldexp, ONE, (uint32_t)-149, LEAST), F2(ldexp, ONE, (uint32_t)-150, ZERO), F2(ldexp, ONE, INT32_MAX, INF),
  F2(ldexp, THREE, 0x80000000, ZERO), F2(ldexp, LEAST, 149, ONE),
};

/* ---- vectors, matrices, pairs --------------------------------------------------------------------------------------- */

/* An operand or a result: a scalar, a vector, or a tuple of `parts` of them. */
typedef struct shape {
  vyre_type type;
  uint32_t parts;
  vyre_type part_type;
  vyre_value values[4];
} shape;

#define S(x)          {F32, 0, 0, {{{x}}}}
#define V2(x, y)      {VEC(2), 0, 0, {{{x, y}}}}
#define V3(x, y, z)   {VEC(3), 0, 0, {{{x, y, z}}}}
#define OF(type, ...) {TUPLE, sizeof((vyre_value[]){__VA_ARGS__}) / sizeof(vyre_value), type, {__VA_ARGS__}}
#define SQUARE        OF(VEC(2), {{ONE, TWO}}, {{THREE, FOUR}})
#define WIDE          OF(VEC(2), {{ONE, TWO}}, {{THREE, FOUR}}, {{FIVE, SIX}})
#define FLOATS        V3(MINUS(TWO_5), SIX, MINUS(ZERO))
#define ODD           V3(INF, INF + 1, LEAST)

typedef struct shaped_case {
  vyre_opcode op;
  shape operands[3], want;
  bool is_undefined;
} shaped_case;

static const shaped_case shaped_cases[] = {
  {VYRE_OP_dot, {V3(ONE, TWO, THREE), V3(FOUR, FIVE, SIX)}, S(0x42000000) /* 4 + 10 + 18 = 32 */, false},
  /* Every product is rounded, also the first: 4097 squared is 16785409, as f32 16785408. */
  {VYRE_OP_dot, {V2(0x45800800, ONE), V2(0x45800800, 0xcb801000)}, S(ZERO), false},
  {VYRE_OP_norm, {V2(THREE, FOUR)}, S(FIVE), false},
  {VYRE_OP_norm, {S(MINUS(THREE))}, S(THREE), false},
  {VYRE_OP_distance, {V2(ZERO, ZERO), V2(THREE, FOUR)}, S(FIVE), false},
  {VYRE_OP_cross, {V3(ONE, TWO, THREE), V3(FOUR, FIVE, SIX)}, V3(MINUS(THREE), SIX, MINUS(THREE)), false},
  {VYRE_OP_normalize, {V2(THREE, FOUR)}, V2(0x3f19999a, 0x3f4ccccd), false},
  {VYRE_OP_normalize, {V2(ZERO, ZERO)}, V2(QNAN, QNAN), false},
  {VYRE_OP_faceforward, {V2(ONE, ZERO), V2(ZERO, ONE), V2(ZERO, ONE)}, V2(MINUS(ONE), MINUS(ZERO)), false},
  {VYRE_OP_faceforward, {V2(ONE, ZERO), V2(ZERO, MINUS(ONE)), V2(ZERO, ONE)}, V2(ONE, ZERO), false},
  {VYRE_OP_faceforward, {V2(ONE, ZERO), V2(ZERO, ONE), V2(ONE, ZERO)}, V2(MINUS(ONE), MINUS(ZERO)) /* dot product 0 */, false},
  {VYRE_OP_reflect, {V2(ONE, MINUS(ONE)), V2(ZERO, ONE)}, V2(ONE, ONE), false},
  /* A ray along the normal keeps its direction for every index.  A ray along the surface keeps it between equal indices, and is
   * reflected totally from the dense side. */
  {VYRE_OP_refract, {V2(ZERO, MINUS(ONE)), V2(ZERO, ONE), S(HALF)}, V2(ZERO, MINUS(ONE)), false},
  {VYRE_OP_refract, {V2(ONE, ZERO), V2(ZERO, ONE), S(ONE)}, V2(ONE, ZERO), false},
  {VYRE_OP_refract, {V2(ONE, ZERO), V2(ZERO, ONE), S(TWO)}, V2(ZERO, ZERO), false},
  {VYRE_OP_matvec, {WIDE, V3(ONE, TWO, ZERO)}, V2(SEVEN, TEN), false},
  {VYRE_OP_vecmat, {V2(ONE, MINUS(ONE)), WIDE}, V3(MINUS(ONE), MINUS(ONE), MINUS(ONE)), false},
  {VYRE_OP_transpose, {WIDE}, OF(VEC(3), {{ONE, THREE, FIVE}}, {{TWO, FOUR, SIX}}), false},
  {VYRE_OP_matmat, {SQUARE, SQUARE}, OF(VEC(2), {{SEVEN, TEN}}, {{0x41700000, 0x41b00000}}) /* 15 22 */, false},
  {VYRE_OP_matmat, {SQUARE, WIDE}, OF(VEC(2), {{SEVEN, TEN}}, {{0x41700000, 0x41b00000}}, {{0x41b80000, 0x42080000}}) /* 23 34 */, false},
  {VYRE_OP_outer, {V2(ONE, MINUS(ONE)), V3(ONE, TWO, ZERO)},
   OF(VEC(2), {{ONE, MINUS(ONE)}}, {{TWO, MINUS(TWO)}}, {{ZERO, MINUS(ZERO)}}), false},
  {VYRE_OP_determinant, {SQUARE}, S(MINUS(TWO)), false},
  {VYRE_OP_determinant, /* upper triangle with 1 2 3 4 in the diagonal */
   {OF(VEC(4), {{ONE}}, {{FIVE, TWO}}, {{SIX, ONE, THREE}}, {{TWO, TWO, TWO, FOUR}})}, S(0x41c00000), false},
  {VYRE_OP_inverse, {SQUARE}, OF(VEC(2), {{MINUS(TWO), ONE}}, {{ONE_5, MINUS(HALF)}}), false},
  {VYRE_OP_modf, {FLOATS}, OF(VEC(3), {{MINUS(HALF), ZERO, MINUS(ZERO)}}, {{MINUS(TWO), SIX, MINUS(ZERO)}}), false},
  {VYRE_OP_modf, {ODD}, OF(VEC(3), {{ZERO, QNAN, LEAST}}, {{INF, QNAN, ZERO}}), false},
  {VYRE_OP_frexp, {FLOATS}, OF(VEC(3), {{0xbf200000, 0x3f400000, MINUS(ZERO)}}, {{2, 3, 0}}), false},
  {VYRE_OP_frexp, {ODD}, OF(VEC(3), {{INF, QNAN, HALF}}, {{0, 0, (uint32_t)-148}}), true},
};

/* clang-format on */

/* Evaluates the op, and compares the lanes of each part of its result. */
static void
check(const shaped_case *c)
{
  vyre_eval_operand operands[3] = {{0}};
  vyre_value out[VYRE_EVAL_PARTS];
  bool is_undefined = !c->is_undefined;
  const shape *want = &c->want;
  const uint32_t lanes = VYRE_TYPE_LANES(want->parts ? want->part_type : want->type);
  for (uint32_t k = 0; k < 3 && c->operands[k].type; k++)
    operands[k] = (vyre_eval_operand){c->operands[k].values, c->operands[k].parts, c->operands[k].type, c->operands[k].part_type};
  const uint32_t imm = want->parts ? VYRE_TUPLE_OF(want->parts, want->part_type) : 0;
  assert_true(vyre_eval(VYRE_ROW(c->op, want->type, 0), imm, 0, operands, out, &is_undefined));
  for (uint32_t p = 0; p < (want->parts ? want->parts : 1); p++)
    for (uint32_t i = 0; i < lanes; i++)
      if (out[p].lane[i] != want->values[p].lane[i])
        fail_msg("%s of 0x%llx: part %u lane %u is 0x%llx, not 0x%llx", vyre_op_infos[c->op].text,
                 (unsigned long long)c->operands[0].values[0].lane[0], p, i, (unsigned long long)out[p].lane[i],
                 (unsigned long long)want->values[p].lane[i]);
  if (is_undefined != c->is_undefined)
    fail_msg("%s: undefined is %d", vyre_op_infos[c->op].text, is_undefined);
}

/* Each op that folds by libm's functions has a case. */
TEST(cases_by_hand)
{
  bool is_covered[VYRE_OP__COUNT] = {false};
  for (size_t i = 0; i < sizeof scalar_cases / sizeof *scalar_cases; i++) {
    const scalar_case *c = &scalar_cases[i];
    const shape b = {c->op == VYRE_OP_ldexp ? VYRE_TYPE(VYRE_I32, 1) : F32, 0, 0, {{{c->b}}}};
    check(&(shaped_case){c->op, {S(c->a), b, S(c->c)}, S(c->want), c->is_undefined});
    is_covered[c->op] = true;
  }
  for (size_t i = 0; i < sizeof shaped_cases / sizeof *shaped_cases; i++) {
    check(&shaped_cases[i]);
    is_covered[shaped_cases[i].op] = true;
  }
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    if (vyre_op_infos[op].text && vyre_op_infos[op].fold == VYRE_FOLD_LIBM && !is_covered[op])
      fail_msg("%s has no case", vyre_op_infos[op].text);
}

TEST(ops_that_do_not_fold_have_no_value)
{
  vyre_value out[VYRE_EVAL_PARTS];
  bool undefined;
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    if (vyre_op_infos[op].text && vyre_op_infos[op].fold == VYRE_FOLD_NONE)
      assert_false(vyre_eval(VYRE_ROW(op, U32, 0), 0, 0, (vyre_eval_operand[3]){{0}}, out, &undefined));
}

TEST(inverses_of_singular_matrices_and_permutations)
{
  const vyre_value singular[2] = {{{ONE, TWO}}, {{TWO, FOUR}}}, cycle[3] = {{{ZERO, ONE}}, {{ZERO, ZERO, ONE}}, {{ONE}}};
  vyre_value out[VYRE_EVAL_PARTS];
  bool undefined = false;
  const uint32_t inverse = VYRE_ROW(VYRE_OP_inverse, TUPLE, 0);
  assert_true(vyre_eval(inverse, 0, 0, (vyre_eval_operand[3]){{singular, 2, TUPLE, VEC(2)}}, out, &undefined));
  assert_true(undefined);
  /* A permutation's inverse is its transpose. */
  assert_true(vyre_eval(inverse, 0, 0, (vyre_eval_operand[3]){{cycle, 3, TUPLE, VEC(3)}}, out, &undefined));
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t i = 0; i < 3; i++)
      assert_int_equal(out[k].lane[i] & 0x7fffffffu, cycle[i].lane[k]);
}

/* ---- laws over the table -------------------------------------------------------------------------------------------- */

static bool
is_plain_nan(vyre_kind kind, uint64_t lane)
{
  return kind == VYRE_F32   ? (lane & 0x7fffffff) > 0x7f800000
         : kind == VYRE_F16 ? (lane & 0x7fff) > 0x7c00
                            : kind == VYRE_F64 && (lane & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

/* Evaluates every op on random bits and edges, for each kind and width that it accepts.  The result keeps to its width and is the
 * same in a second evaluation.  If the op computes floats, its only NaN is the canonical one. */
TEST(every_op_is_total)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      for (uint32_t lanes = 1; lanes <= 4 && eval_accepts((vyre_opcode)op, (vyre_kind)kind); lanes++)
        for (uint32_t round = 0; round < 60; round++) {
          eval_sample s = {.imm = 0};
          vyre_value out[VYRE_EVAL_PARTS], again[VYRE_EVAL_PARTS];
          bool undefined, undefined_again;
          eval_shape(&s, (vyre_opcode)op, (vyre_kind)kind, lanes);
          eval_randomize(&s);
          const uint32_t word = VYRE_ROW(op, s.type, 0);
          if (!vyre_eval(word, s.imm, 0, s.operands, out, &undefined))
            fail_msg("%s has no meaning on kind %u with %u lanes", vyre_op_infos[op].text, kind, lanes);
          assert_true(vyre_eval(word, s.imm, 0, s.operands, again, &undefined_again));
          assert_memory_equal(out, again, sizeof out);
          assert_int_equal(undefined, undefined_again);
          if (undefined)
            assert_int_not_equal(vyre_op_infos[op].undefined, VYRE_UNDEFINED_NEVER);
          const vyre_kind to = VYRE_TYPE_KIND(s.type);
          for (uint32_t i = 0; to != VYRE_TUPLE && i < VYRE_TYPE_LANES(s.type); i++) {
            const uint64_t lane = out[0].lane[i], nan = to == VYRE_F32   ? 0x7fc00000
                                                        : to == VYRE_F16 ? 0x7e00
                                                                         : UINT64_C(0x7ff8000000000000);
            if (lane != eval_cut(to, lane) ||
                (vyre_op_infos[op].klass == VYRE_CLASS_FLOAT && is_plain_nan(to, lane) && lane != nan))
              fail_msg("%s on kind %u gives 0x%llx", vyre_op_infos[op].text, kind, (unsigned long long)lane);
          }
        }
}

TEST(commuting_ops_are_symmetric)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      for (uint32_t i = 0; i < EVAL_EDGES * EVAL_EDGES && (vyre_op_infos[op].flags & VYRE_OP_COMMUTES) &&
                           eval_accepts((vyre_opcode)op, (vyre_kind)kind);
           i++) {
        eval_sample s = {.imm = 0};
        vyre_value left[VYRE_EVAL_PARTS], right[VYRE_EVAL_PARTS];
        bool undefined_left, undefined_right;
        eval_shape(&s, (vyre_opcode)op, (vyre_kind)kind, 1);
        s.values[0][0].lane[0] = eval_cut((vyre_kind)kind, eval_edges[i / EVAL_EDGES]);
        s.values[1][0].lane[0] = eval_cut((vyre_kind)kind, eval_edges[i % EVAL_EDGES]);
        assert_true(vyre_eval(VYRE_ROW(op, s.type, 0), 0, 0, s.operands, left, &undefined_left));
        const vyre_eval_operand swap = s.operands[0];
        s.operands[0] = s.operands[1];
        s.operands[1] = swap;
        assert_true(vyre_eval(VYRE_ROW(op, s.type, 0), 0, 0, s.operands, right, &undefined_right));
        if (memcmp(left, right, sizeof left) != 0 || undefined_left != undefined_right)
          fail_msg("%s on kind %u does not commute at eval_edges %u and %u", vyre_op_infos[op].text, kind, i / EVAL_EDGES,
                   i % EVAL_EDGES);
      }
}

TEST(associative_ops_are_associative)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_U64; kind++)
      for (uint32_t round = 0;
           round < 300 && (vyre_op_infos[op].flags & VYRE_OP_ASSOC) && eval_accepts((vyre_opcode)op, (vyre_kind)kind); round++) {
        const vyre_type type = VYRE_TYPE(kind, 1);
        const uint32_t word = VYRE_ROW(op, type, 0);
        vyre_value x = {{eval_cut((vyre_kind)kind, eval_random())}}, y = {{eval_cut((vyre_kind)kind, eval_random())}},
                   z = {{eval_cut((vyre_kind)kind, eval_random())}};
        vyre_value inner[VYRE_EVAL_PARTS], left[VYRE_EVAL_PARTS], right[VYRE_EVAL_PARTS];
        bool undefined;
        assert_true(vyre_eval(word, 0, 0, (vyre_eval_operand[3]){{&x, 0, type, 0}, {&y, 0, type, 0}}, inner, &undefined));
        assert_true(vyre_eval(word, 0, 0, (vyre_eval_operand[3]){{inner, 0, type, 0}, {&z, 0, type, 0}}, left, &undefined));
        assert_true(vyre_eval(word, 0, 0, (vyre_eval_operand[3]){{&y, 0, type, 0}, {&z, 0, type, 0}}, inner, &undefined));
        assert_true(vyre_eval(word, 0, 0, (vyre_eval_operand[3]){{&x, 0, type, 0}, {inner, 0, type, 0}}, right, &undefined));
        assert_memory_equal(left, right, sizeof left);
      }
}
