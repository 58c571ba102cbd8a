/* The meaning of pure ops: cases by hand, laws over the whole table, and totality.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/eval.h"
#include "vyre/ir.h"

#include "eval_cases.h"
#include "eval_shape.h"

#define U32    VYRE_TYPE(VYRE_U32, 1)
#define I32    VYRE_TYPE(VYRE_I32, 1)
#define F32    VYRE_TYPE(VYRE_F32, 1)
#define VEC(n) VYRE_TYPE(VYRE_F32, n)
#define TUPLE  VYRE_TYPE(VYRE_TUPLE, 1)

enum {
  ONE = 0x3f800000,
  TWO = 0x40000000,
  THREE = 0x40400000,
  FOUR = 0x40800000,
  FIVE = 0x40a00000,
  SIX = 0x40c00000,
  HALF = 0x3f000000
};
#define MINUS(x) ((uint32_t)(x) ^ 0x80000000u)

static bool covered[VYRE_OP__COUNT];

static vyre_value
value(uint64_t x, uint64_t y, uint64_t z, uint64_t w)
{
  return (vyre_value){{x, y, z, w}};
}

/* Runs an op and checks the lanes (of each part) that its result has. */
static void
expect(vyre_opcode op, vyre_type type, uint32_t imm, const vyre_eval_operand *operands, const vyre_value *want, uint32_t parts,
       uint32_t lanes, bool want_undefined)
{
  vyre_eval_operand three[3] = {{0}};
  vyre_value out[VYRE_EVAL_PARTS];
  bool undefined = !want_undefined;
  for (uint32_t k = 0; k < 3; k++)
    three[k] = operands[k];
  covered[op] = true;
  assert_true(vyre_eval(VYRE_ROW(op, type, 0), imm, 0, three, out, &undefined));
  for (uint32_t p = 0; p < parts; p++)
    for (uint32_t i = 0; i < lanes; i++)
      if (out[p].lane[i] != want[p].lane[i]) {
        fail_msg("%s: part %u lane %u is 0x%llx, not 0x%llx", vyre_op_infos[op].text, p, i, (unsigned long long)out[p].lane[i],
                 (unsigned long long)want[p].lane[i]);
      }
  if (undefined != want_undefined)
    fail_msg("%s: undefined is %d", vyre_op_infos[op].text, undefined);
}

__extension__ typedef __int128 int128;

static vyre_kind
result_kind(const eval_case *c)
{
  if (c->to != VYRE_VOID)
    return c->to;
  return vyre_op_infos[c->op].rule == VYRE_RULE_BOOL ? VYRE_BOOL : c->kind;
}

TEST(scalar_cases)
{
  for (uint32_t i = 0; i < eval_case_count; i++) {
    const eval_case *c = &eval_cases[i];
    const bool field = c->op == VYRE_OP_ubfe || c->op == VYRE_OP_sbfe;
    const vyre_type type = VYRE_TYPE(c->kind, 1), second = field ? U32 : c->op == VYRE_OP_ldexp ? I32 : type;
    const vyre_value a = value(c->a, 0, 0, 0), b = value(c->b, 0, 0, 0), d = value(c->c, 0, 0, 0), want = value(c->want, 0, 0, 0);
    const vyre_eval_operand operands[3] = {{&a, 0, type, 0}, {&b, 0, second, 0}, {&d, 0, second, 0}};
    vyre_value out[VYRE_EVAL_PARTS];
    bool undefined;
    covered[c->op] = true;
    assert_true(vyre_eval(VYRE_ROW(c->op, VYRE_TYPE(result_kind(c), 1), 0), 0, 0, operands, out, &undefined));
    if (out[0].lane[0] != c->want || undefined != c->undefined)
      fail_msg("case %u: %s(0x%llx, 0x%llx, 0x%llx) is 0x%llx%s, not 0x%llx%s", i, vyre_op_infos[c->op].text,
               (unsigned long long)c->a, (unsigned long long)c->b, (unsigned long long)c->c, (unsigned long long)out[0].lane[0],
               undefined ? " undefined" : "", (unsigned long long)want.lane[0], c->undefined ? " undefined" : "");
  }
}

/* The same cases in lane 2 of a vector, other lanes holding other cases' operands. */
TEST(vector_cases_are_scalar_cases_by_lane)
{
  for (uint32_t i = 0; i + 1 < eval_case_count; i++) {
    const eval_case *c = &eval_cases[i], *next = c + 1;
    const bool field = c->op == VYRE_OP_ubfe || c->op == VYRE_OP_sbfe;
    if (c->op != next->op || c->kind != next->kind || c->to != next->to || field)
      continue;
    const vyre_type type = VYRE_TYPE(c->kind, 3), second = c->op == VYRE_OP_ldexp ? VYRE_TYPE(VYRE_I32, 3) : type;
    const vyre_value a = value(next->a, next->a, c->a, 0), b = value(next->b, next->b, c->b, 0),
                     d = value(next->c, next->c, c->c, 0);
    const vyre_value want = value(next->want, next->want, c->want, 0);
    const vyre_eval_operand operands[3] = {{&a, 0, type, 0}, {&b, 0, second, 0}, {&d, 0, second, 0}};
    expect(c->op, VYRE_TYPE(result_kind(c), 3), 0, operands, &want, 1, 3, c->undefined || next->undefined);
  }
}

TEST(composition)
{
  const vyre_value v = value(10, 11, 12, 13), w = value(20, 21, 22, 23), s = value(7, 0, 0, 0), two = value(2, 0, 0, 0),
                   nine = value(9, 0, 0, 0);
  const vyre_type uvec2 = VYRE_TYPE(VYRE_U32, 2), uvec3 = VYRE_TYPE(VYRE_U32, 3), uvec4 = VYRE_TYPE(VYRE_U32, 4);
  vyre_value want = value(10, 11, 7, 20);
  expect(VYRE_OP_join, uvec4, 0, (vyre_eval_operand[3]){{&v, 0, uvec2, 0}, {&s, 0, U32, 0}, {&w, 0, U32, 0}}, &want, 1, 4, false);
  want = value(7, 10, 11, 12);
  expect(VYRE_OP_join, uvec4, 0, (vyre_eval_operand[3]){{&s, 0, U32, 0}, {&v, 0, uvec3, 0}}, &want, 1, 4, false);
  want = value(7, 7, 7, 0);
  expect(VYRE_OP_splat, uvec3, 0, (vyre_eval_operand[3]){{&s, 0, U32, 0}}, &want, 1, 3, false);
  want = value(12, 0, 0, 0);
  expect(VYRE_OP_lane, U32, 0, (vyre_eval_operand[3]){{&v, 0, uvec3, 0}, {&two, 0, U32, 0}}, &want, 1, 1, false);
  want = value(0, 0, 0, 0);
  expect(VYRE_OP_lane, U32, 0, (vyre_eval_operand[3]){{&v, 0, uvec3, 0}, {&nine, 0, U32, 0}}, &want, 1, 1, true);
  want = value(10, 11, 7, 13);
  expect(VYRE_OP_insert, uvec4, 0, (vyre_eval_operand[3]){{&v, 0, uvec4, 0}, {&s, 0, U32, 0}, {&two, 0, U32, 0}}, &want, 1, 4,
         false);
  expect(VYRE_OP_insert, uvec4, 0, (vyre_eval_operand[3]){{&v, 0, uvec4, 0}, {&s, 0, U32, 0}, {&nine, 0, U32, 0}}, &v, 1, 4, true);
  want = value(13, 20, 10, 23);
  expect(VYRE_OP_shuffle, uvec4, 3 | 4 << 4 | 0 << 8 | 7 << 12, (vyre_eval_operand[3]){{&v, 0, uvec4, 0}, {&w, 0, uvec4, 0}}, &want,
         1, 4, false);
  want = value(11, 11, 0, 0);
  expect(VYRE_OP_shuffle, uvec2, 1 | 1 << 4, (vyre_eval_operand[3]){{&v, 0, uvec4, 0}}, &want, 1, 2, false);
  want = value(5, 5, 5, 0);
  expect(VYRE_OP_const, uvec3, 5, (vyre_eval_operand[3]){{0}}, &want, 1, 3, false);
  const vyre_value yes = value(1, 0, 0, 0), mixed = value(1, 0, 1, 0);
  const vyre_type bvec3 = VYRE_TYPE(VYRE_BOOL, 3);
  expect(VYRE_OP_select, uvec3, 0,
         (vyre_eval_operand[3]){{&yes, 0, VYRE_TYPE(VYRE_BOOL, 1), 0}, {&v, 0, uvec3, 0}, {&w, 0, uvec3, 0}}, &v, 1, 3, false);
  want = value(10, 21, 12, 0);
  expect(VYRE_OP_select, uvec3, 0, (vyre_eval_operand[3]){{&mixed, 0, bvec3, 0}, {&v, 0, uvec3, 0}, {&w, 0, uvec3, 0}}, &want, 1, 3,
         false);
}

TEST(bits_across_lanes)
{
  const vyre_value mixed = value(1, 0, 1, 0), full = value(1, 1, 1, 0), none = value(0, 0, 0, 1);
  const vyre_value yes = value(1, 0, 0, 0), no = value(0, 0, 0, 0);
  const vyre_type bvec3 = VYRE_TYPE(VYRE_BOOL, 3), one = VYRE_TYPE(VYRE_BOOL, 1);
  expect(VYRE_OP_any, one, 0, (vyre_eval_operand[3]){{&mixed, 0, bvec3, 0}}, &yes, 1, 1, false);
  expect(VYRE_OP_any, one, 0, (vyre_eval_operand[3]){{&none, 0, bvec3, 0}}, &no, 1, 1, false);
  expect(VYRE_OP_all, one, 0, (vyre_eval_operand[3]){{&mixed, 0, bvec3, 0}}, &no, 1, 1, false);
  expect(VYRE_OP_all, one, 0, (vyre_eval_operand[3]){{&full, 0, bvec3, 0}}, &yes, 1, 1, false);
  const vyre_value words = value(0x44332211, 0x88776655, 0, 0), whole = value(UINT64_C(0x8877665544332211), 0, 0, 0),
                   nan = value(0xffc12345, 0, 0, 0);
  const vyre_type uvec2 = VYRE_TYPE(VYRE_U32, 2), u64 = VYRE_TYPE(VYRE_U64, 1), shorts = VYRE_TYPE(VYRE_U16, 4);
  expect(VYRE_OP_bitcast, u64, 0, (vyre_eval_operand[3]){{&words, 0, uvec2, 0}}, &whole, 1, 1, false);
  expect(VYRE_OP_bitcast, uvec2, 0, (vyre_eval_operand[3]){{&whole, 0, u64, 0}}, &words, 1, 2, false);
  const vyre_value quarters = value(0x2211, 0x4433, 0x6655, 0x8877);
  expect(VYRE_OP_bitcast, shorts, 0, (vyre_eval_operand[3]){{&words, 0, uvec2, 0}}, &quarters, 1, 4, false);
  expect(VYRE_OP_bitcast, U32, 0, (vyre_eval_operand[3]){{&nan, 0, F32, 0}}, &nan, 1, 1, false);
  const vyre_value base = value(0xffffffff, 0, 0, 0), insert = value(0x12, 0x12, 0, 0);
  vyre_value field[2] = {value(8, 0, 0, 0), value(8, 0, 0, 0)}, want = value(0xffff12ff, 0x1200, 0, 0);
  const vyre_eval_operand bfi[3] = {{&base, 0, uvec2, 0}, {&insert, 0, uvec2, 0}, {field, 2, TUPLE, U32}};
  expect(VYRE_OP_bfi, uvec2, 0, bfi, &want, 1, 2, false);
  field[0] = value(28, 0, 0, 0);
  want = value(0x2fffffff, 0x20000000, 0, 0);
  expect(VYRE_OP_bfi, uvec2, 0, bfi, &want, 1, 2, true);
  field[0] = value(32, 0, 0, 0);
  expect(VYRE_OP_bfi, uvec2, 0, bfi, &base, 1, 2, true);
}

/* A dot product by exact arithmetic in 128 bits; the products and sums of 64 bits are taken modulo 2^64. */
static void
expect_dot(vyre_opcode op, vyre_type operand, vyre_kind to, const vyre_value *a, const vyre_value *b, const vyre_value *c)
{
  const uint32_t packed = VYRE_TYPE_LANES(operand) == 1, lanes = packed ? 4 : VYRE_TYPE_LANES(operand);
  const uint32_t from = packed ? 8 : vyre_kind_bits(VYRE_TYPE_KIND(operand)), bits = vyre_kind_bits(to);
  const int128 most = op == VYRE_OP_udot ? ((int128)1 << bits) - 1 : ((int128)1 << (bits - 1)) - 1;
  const int128 least = op == VYRE_OP_udot ? 0 : -((int128)1 << (bits - 1)), half = (int128)1 << (from - 1);
  int128 low = 0, above = 0, below = 0;
  for (uint32_t k = 0; k < lanes; k++) {
    int128 x = packed ? (int128)(a->lane[0] >> 8 * k & 0xff) : (int128)a->lane[k];
    int128 y = packed ? (int128)(b->lane[0] >> 8 * k & 0xff) : (int128)b->lane[k];
    x -= op != VYRE_OP_udot && x >= half ? 2 * half : 0;
    y -= op == VYRE_OP_sdot && y >= half ? 2 * half : 0;
    const bool huge = x > 0 && y > 0 && x > most / y; /* the product may exceed 128 bits */
    above = huge || above > most ? most + 1 : above + (x * y > 0 ? x * y : 0);
    below += !huge && x * y < 0 ? (x * y < 2 * least ? 2 * least : x * y) : 0;
    low += (int128)(uint64_t)((uint64_t)x * (uint64_t)y);
  }
  uint64_t sum = (uint64_t)low & (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
  vyre_value want = value(sum, 0, 0, 0);
  if (c) {
    int128 total = (int128)sum, added = (int128)c->lane[0];
    total -= total > most ? (int128)1 << bits : 0;
    added -= added > most ? (int128)1 << bits : 0;
    total += added;
    total = total > most ? most : total < least ? least : total;
    want = value((uint64_t)total & (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1), 0, 0, 0);
  }
  const vyre_type type = VYRE_TYPE(to, 1);
  const vyre_eval_operand operands[3] = {{a, 0, operand, 0}, {b, 0, operand, 0}, {c, 0, c ? type : 0, 0}};
  expect(op, type, 0, operands, &want, 1, 1, c && (above > most || below < least));
}

TEST(integer_dot_products)
{
  const vyre_value low = value(0x80808080, 0, 0, 0), high = value(0x7f7f7f7f, 0, 0, 0), mixed = value(0xff017f80, 0, 0, 0);
  vyre_value want = value(0x10000, 0, 0, 0);
  expect(VYRE_OP_sdot, U32, 0, (vyre_eval_operand[3]){{&low, 0, U32, 0}, {&low, 0, U32, 0}}, &want, 1, 1, false);
  want = value(0xffff0200, 0, 0, 0); /* 4 * -128 * 127 */
  expect(VYRE_OP_sudot, U32, 0, (vyre_eval_operand[3]){{&low, 0, U32, 0}, {&high, 0, U32, 0}}, &want, 1, 1, false);
  want = value(0xff80, 0, 0, 0); /* (128 + 127 + 1 + 255) * 128 */
  expect(VYRE_OP_udot, U32, 0, (vyre_eval_operand[3]){{&mixed, 0, U32, 0}, {&low, 0, U32, 0}}, &want, 1, 1, false);
  for (uint32_t round = 0; round < 40000; round++) {
    const vyre_opcode op = (vyre_opcode)(VYRE_OP_sdot + round % 3);
    const uint32_t width = (uint32_t)(eval_random() >> 7) % 4, to = width + (uint32_t)(eval_random() >> 7) % (4 - width);
    const bool packed = eval_random() % 4 == 1, adds = (eval_random() >> 9) % 2 != 0;
    const vyre_type operand = packed ? U32 : VYRE_TYPE(VYRE_U8 + 2 * width, 2 + (uint32_t)(eval_random() >> 8) % 3);
    const vyre_kind kind = (vyre_kind)(VYRE_U8 + 2 * to);
    vyre_value v[3];
    for (uint32_t k = 0; k < 3; k++)
      for (uint32_t i = 0; i < 4; i++) {
        const vyre_kind of = k == 2 ? kind : VYRE_TYPE_KIND(operand);
        const uint64_t top = UINT64_C(1) << (vyre_kind_bits(of) - 1), edges[] = {0, 1, top - 1, top, top + 1, UINT64_MAX};
        const uint64_t any = eval_random();
        v[k].lane[i] = eval_cut(of, (any >> 5) % 3 ? edges[(any >> 10) % 6] : any);
      }
    expect_dot(op, operand, kind, &v[0], &v[1], adds ? &v[2] : NULL);
  }
}

TEST(results_in_pairs)
{
  const vyre_value x = value(0xffffffff, 5, 0x80000000, 0), y = value(0xffffffff, 7, 0x80000000, 0);
  const vyre_type u3 = VYRE_TYPE(VYRE_U32, 3), i3 = VYRE_TYPE(VYRE_I32, 3), f3 = VEC(3);
  const vyre_eval_operand u[3] = {{&x, 0, u3, 0}, {&y, 0, u3, 0}}, s[3] = {{&x, 0, i3, 0}, {&y, 0, i3, 0}};
  expect(VYRE_OP_uaddc, TUPLE, VYRE_TUPLE_OF(2, u3), u, (vyre_value[]){value(0xfffffffe, 12, 0, 0), value(1, 0, 1, 0)}, 2, 3,
         false);
  expect(VYRE_OP_usubb, TUPLE, VYRE_TUPLE_OF(2, u3), u, (vyre_value[]){value(0, 0xfffffffe, 0, 0), value(0, 1, 0, 0)}, 2, 3, false);
  expect(VYRE_OP_umulx, TUPLE, VYRE_TUPLE_OF(2, u3), u, (vyre_value[]){value(1, 35, 0, 0), value(0xfffffffe, 0, 0x40000000, 0)}, 2,
         3, false);
  expect(VYRE_OP_smulx, TUPLE, VYRE_TUPLE_OF(2, i3), s, (vyre_value[]){value(1, 35, 0, 0), value(0, 0, 0x40000000, 0)}, 2, 3,
         false);
  const vyre_value f = value(0xc0200000 /* -2.5 */, SIX, 0x80000000, 0), odd = value(0x7f800000, 0x7f800001, 1, 0);
  expect(VYRE_OP_modf, TUPLE, VYRE_TUPLE_OF(2, f3), (vyre_eval_operand[3]){{&f, 0, f3, 0}},
         (vyre_value[]){value(MINUS(HALF), 0, 0x80000000, 0), value(MINUS(TWO), SIX, 0x80000000, 0)}, 2, 3, false);
  expect(VYRE_OP_modf, TUPLE, VYRE_TUPLE_OF(2, f3), (vyre_eval_operand[3]){{&odd, 0, f3, 0}},
         (vyre_value[]){value(0, 0x7fc00000, 1, 0), value(0x7f800000, 0x7fc00000, 0, 0)}, 2, 3, false);
  expect(VYRE_OP_frexp, TUPLE, VYRE_TUPLE_OF(2, 0), (vyre_eval_operand[3]){{&f, 0, f3, 0}},
         (vyre_value[]){value(0xbf200000, 0x3f400000, 0x80000000, 0), value(2, 3, 0, 0)}, 2, 3, false);
  expect(VYRE_OP_frexp, TUPLE, VYRE_TUPLE_OF(2, 0), (vyre_eval_operand[3]){{&odd, 0, f3, 0}},
         (vyre_value[]){value(0x7f800000, 0x7fc00000, HALF, 0), value(0, 0, (uint32_t)-148, 0)}, 2, 3, true);
}

TEST(packing)
{
  const vyre_value v = value(ONE, MINUS(TWO), 0, HALF), nan = value(0x7fc00000, HALF, 0, 0);
  const vyre_eval_operand four[3] = {{&v, 0, VEC(4), 0}}, two[3] = {{&v, 0, VEC(2), 0}}, odd[3] = {{&nan, 0, VEC(2), 0}};
  vyre_value want = value(0x4000817f, 0, 0, 0); /* 127, -127, 0, 63.5 to even */
  expect(VYRE_OP_packsnorm4x8, U32, 0, four, &want, 1, 1, false);
  want = value(0x800000ff, 0, 0, 0); /* 255, 0, 0, 127.5 to even */
  expect(VYRE_OP_packunorm4x8, U32, 0, four, &want, 1, 1, false);
  want = value(0x80017fff, 0, 0, 0);
  expect(VYRE_OP_packsnorm2x16, U32, 0, two, &want, 1, 1, false);
  const vyre_value ties = value(0x3b810204, 0x3b008081, 0, 0); /* 0.5 by 127 and by 255 */
  want = value(0, 0, 0, 0);
  expect(VYRE_OP_packsnorm4x8, U32, 0, (vyre_eval_operand[3]){{&(vyre_value){{ties.lane[0]}}, 0, VEC(4), 0}}, &want, 1, 1, false);
  expect(VYRE_OP_packunorm4x8, U32, 0, (vyre_eval_operand[3]){{&(vyre_value){{ties.lane[1]}}, 0, VEC(4), 0}}, &want, 1, 1, false);
  want = value(0x0000ffff, 0, 0, 0);
  expect(VYRE_OP_packunorm2x16, U32, 0, two, &want, 1, 1, false);
  want = value(0xc0003c00, 0, 0, 0);
  expect(VYRE_OP_packhalf2x16, U32, 0, two, &want, 1, 1, false);
  want = value(0x38007e00, 0, 0, 0);
  expect(VYRE_OP_packhalf2x16, U32, 0, odd, &want, 1, 1, false);
  const vyre_value tiny = value(0x33800000, 0xb3000001, 0, 0); /* 2^-24, just over -2^-25 */
  want = value(0x80010001, 0, 0, 0);
  expect(VYRE_OP_packhalf2x16, U32, 0, (vyre_eval_operand[3]){{&tiny, 0, VEC(2), 0}}, &want, 1, 1, false);
  const vyre_value word = value(0x80017fff, 0, 0, 0), halves = value(0x80013c00, 0, 0, 0);
  const vyre_eval_operand packed[3] = {{&word, 0, U32, 0}};
  want = value(0xbc010204 /* -1/127 */, ONE, 0x3c010204, MINUS(ONE));
  expect(VYRE_OP_unpacksnorm4x8, VEC(4), 0, packed, &want, 1, 4, false);
  want = value(ONE, 0x3efefeff, 0x3b808081, 0x3f008081); /* 255, 127, 1, 128 by 255 */
  expect(VYRE_OP_unpackunorm4x8, VEC(4), 0, packed, &want, 1, 4, false);
  want = value(ONE, MINUS(ONE), 0, 0);
  expect(VYRE_OP_unpacksnorm2x16, VEC(2), 0, packed, &want, 1, 2, false);
  want = value(0x3effff00, 0x3f000180, 0, 0); /* 32767 and 32769 by 65535 */
  expect(VYRE_OP_unpackunorm2x16, VEC(2), 0, packed, &want, 1, 2, false);
  want = value(ONE, 0xb3800000, 0, 0);
  expect(VYRE_OP_unpackhalf2x16, VEC(2), 0, (vyre_eval_operand[3]){{&halves, 0, U32, 0}}, &want, 1, 2, false);
}

TEST(vectors)
{
  const vyre_value v = value(ONE, TWO, THREE, 0), w = value(FOUR, FIVE, SIX, 0), a = value(THREE, FOUR, 0, 0),
                   s = value(MINUS(THREE), 0, 0, 0);
  const vyre_eval_operand vw[3] = {{&v, 0, VEC(3), 0}, {&w, 0, VEC(3), 0}};
  vyre_value want = value(0x42000000, 0, 0, 0); /* 4 + 10 + 18 = 32 */
  expect(VYRE_OP_dot, F32, 0, vw, &want, 1, 1, false);
  /* Every product is rounded, the first too: 4097 squared is 16785409, as f32 16785408. */
  const vyre_value big = value(0x45800800, ONE, 0, 0), less = value(0x45800800, 0xcb801000, 0, 0);
  want = value(0, 0, 0, 0);
  expect(VYRE_OP_dot, F32, 0, (vyre_eval_operand[3]){{&big, 0, VEC(2), 0}, {&less, 0, VEC(2), 0}}, &want, 1, 1, false);
  want = value(FIVE, 0, 0, 0);
  expect(VYRE_OP_norm, F32, 0, (vyre_eval_operand[3]){{&a, 0, VEC(2), 0}}, &want, 1, 1, false);
  want = value(THREE, 0, 0, 0);
  expect(VYRE_OP_norm, F32, 0, (vyre_eval_operand[3]){{&s, 0, F32, 0}}, &want, 1, 1, false);
  const vyre_value zero = value(0, 0, 0, 0);
  want = value(FIVE, 0, 0, 0);
  expect(VYRE_OP_distance, F32, 0, (vyre_eval_operand[3]){{&zero, 0, VEC(2), 0}, {&a, 0, VEC(2), 0}}, &want, 1, 1, false);
  want = value(MINUS(THREE), SIX, MINUS(THREE), 0);
  expect(VYRE_OP_cross, VEC(3), 0, vw, &want, 1, 3, false);
  want = value(0x3f19999a, 0x3f4ccccd, 0, 0);
  expect(VYRE_OP_normalize, VEC(2), 0, (vyre_eval_operand[3]){{&a, 0, VEC(2), 0}}, &want, 1, 2, false);
  want = value(0x7fc00000, 0x7fc00000, 0, 0);
  expect(VYRE_OP_normalize, VEC(2), 0, (vyre_eval_operand[3]){{&zero, 0, VEC(2), 0}}, &want, 1, 2, false);
  const vyre_value x = value(ONE, 0, 0, 0), y = value(0, ONE, 0, 0), slope = value(ONE, MINUS(ONE), 0, 0),
                   two = value(TWO, 0, 0, 0);
  const vyre_value half = value(HALF, 0, 0, 0), down = value(0, MINUS(ONE), 0, 0);
  want = value(MINUS(ONE), 0x80000000, 0, 0);
  expect(VYRE_OP_faceforward, VEC(2), 0, (vyre_eval_operand[3]){{&x, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}}, &want,
         1, 2, false);
  expect(VYRE_OP_faceforward, VEC(2), 0, (vyre_eval_operand[3]){{&x, 0, VEC(2), 0}, {&down, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}}, &x,
         1, 2, false);
  want = value(MINUS(ONE), 0x80000000, 0, 0); /* neither side: away */
  expect(VYRE_OP_faceforward, VEC(2), 0, (vyre_eval_operand[3]){{&x, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}, {&x, 0, VEC(2), 0}}, &want,
         1, 2, false);
  want = value(ONE, ONE, 0, 0);
  expect(VYRE_OP_reflect, VEC(2), 0, (vyre_eval_operand[3]){{&slope, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}}, &want, 1, 2, false);
  /* Straight down goes on straight down, whatever the index; along the surface from the dense side all is reflected. */
  expect(VYRE_OP_refract, VEC(2), 0, (vyre_eval_operand[3]){{&down, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}, {&half, 0, F32, 0}}, &down,
         1, 2, false);
  const vyre_value one = value(ONE, 0, 0, 0); /* along the surface, the same index on both sides: it goes on, just so */
  expect(VYRE_OP_refract, VEC(2), 0, (vyre_eval_operand[3]){{&x, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}, {&one, 0, F32, 0}}, &x, 1, 2,
         false);
  want = value(0, 0, 0, 0);
  expect(VYRE_OP_refract, VEC(2), 0, (vyre_eval_operand[3]){{&x, 0, VEC(2), 0}, {&y, 0, VEC(2), 0}, {&two, 0, F32, 0}}, &want, 1, 2,
         false);
}

TEST(matrices)
{
  /* columns (1 2) (3 4) (5 6): 2 rows, 3 columns */
  const vyre_value m[3] = {value(ONE, TWO, 0, 0), value(THREE, FOUR, 0, 0), value(FIVE, SIX, 0, 0)};
  const vyre_value v3 = value(ONE, TWO, 0, 0), v2 = value(ONE, MINUS(ONE), 0, 0);
  const vyre_eval_operand wide = {m, 3, TUPLE, VEC(2)}, square = {m, 2, TUPLE, VEC(2)};
  vyre_value want = value(0x40e00000 /* 7 */, 0x41200000 /* 10 */, 0, 0);
  expect(VYRE_OP_matvec, VEC(2), 0, (vyre_eval_operand[3]){wide, {&v3, 0, VEC(3), 0}}, &want, 1, 2, false);
  want = value(MINUS(ONE), MINUS(ONE), MINUS(ONE), 0);
  expect(VYRE_OP_vecmat, VEC(3), 0, (vyre_eval_operand[3]){{&v2, 0, VEC(2), 0}, wide}, &want, 1, 3, false);
  expect(VYRE_OP_transpose, TUPLE, VYRE_TUPLE_OF(2, VEC(3)), (vyre_eval_operand[3]){wide},
         (vyre_value[]){value(ONE, THREE, FIVE, 0), value(TWO, FOUR, SIX, 0)}, 2, 3, false);
  /* (1 3; 2 4) squared is (7 15; 10 22) */
  expect(VYRE_OP_matmat, TUPLE, VYRE_TUPLE_OF(2, VEC(2)), (vyre_eval_operand[3]){square, square},
         (vyre_value[]){value(0x40e00000, 0x41200000, 0, 0), value(0x41700000, 0x41b00000, 0, 0)}, 2, 2, false);
  expect(VYRE_OP_matmat, TUPLE, VYRE_TUPLE_OF(3, VEC(2)), (vyre_eval_operand[3]){square, wide},
         (vyre_value[]){value(0x40e00000, 0x41200000, 0, 0), value(0x41700000, 0x41b00000, 0, 0),
                        value(0x41b80000 /* 23 */, 0x42080000 /* 34 */, 0, 0)},
         3, 2, false);
  expect(VYRE_OP_outer, TUPLE, VYRE_TUPLE_OF(3, VEC(2)), (vyre_eval_operand[3]){{&v2, 0, VEC(2), 0}, {&v3, 0, VEC(3), 0}},
         (vyre_value[]){value(ONE, MINUS(ONE), 0, 0), value(TWO, MINUS(TWO), 0, 0), value(0, 0x80000000, 0, 0)}, 3, 2, false);
  want = value(MINUS(TWO), 0, 0, 0);
  expect(VYRE_OP_determinant, F32, 0, (vyre_eval_operand[3]){square}, &want, 1, 1, false);
  expect(VYRE_OP_inverse, TUPLE, VYRE_TUPLE_OF(2, VEC(2)), (vyre_eval_operand[3]){square},
         (vyre_value[]){value(MINUS(TWO), ONE, 0, 0), value(0x3fc00000, MINUS(HALF), 0, 0)}, 2, 2, false);
  const vyre_value singular[2] = {value(ONE, TWO, 0, 0), value(TWO, FOUR, 0, 0)};
  vyre_value out[VYRE_EVAL_PARTS];
  bool undefined = false;
  assert_true(
      vyre_eval(VYRE_ROW(VYRE_OP_inverse, TUPLE, 0), 0, 0, (vyre_eval_operand[3]){{singular, 2, TUPLE, VEC(2)}}, out, &undefined));
  assert_true(undefined);
  /* upper triangle with 1 2 3 4 in the diagonal */
  const vyre_value four[4] = {value(ONE, 0, 0, 0), value(FIVE, TWO, 0, 0), value(SIX, ONE, THREE, 0), value(TWO, TWO, TWO, FOUR)};
  want = value(0x41c00000, 0, 0, 0);
  expect(VYRE_OP_determinant, F32, 0, (vyre_eval_operand[3]){{four, 4, TUPLE, VEC(4)}}, &want, 1, 1, false);
  /* A permutation's inverse is its transpose. */
  const vyre_value cycle[3] = {value(0, ONE, 0, 0), value(0, 0, ONE, 0), value(ONE, 0, 0, 0)};
  assert_true(
      vyre_eval(VYRE_ROW(VYRE_OP_inverse, TUPLE, 0), 0, 0, (vyre_eval_operand[3]){{cycle, 3, TUPLE, VEC(3)}}, out, &undefined));
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

/* Random and edge bits into every op, on every kind and width it takes: a result that keeps to its width, the same again, and if
 * the op computes floats, no NaN but the canonical one.  Sanitizers look on. */
TEST(every_op_is_total)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      for (uint32_t lanes = 1; lanes <= 4 && eval_takes((vyre_opcode)op, (vyre_kind)kind); lanes++)
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
                           eval_takes((vyre_opcode)op, (vyre_kind)kind);
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

TEST(associative_ops_are)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_U64; kind++)
      for (uint32_t round = 0;
           round < 300 && (vyre_op_infos[op].flags & VYRE_OP_ASSOC) && eval_takes((vyre_opcode)op, (vyre_kind)kind); round++) {
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

/* Runs last: each op that is a function has a case of its own above. */
TEST(every_op_was_tested)
{
  vyre_value out[VYRE_EVAL_PARTS];
  bool undefined;
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    if (!info->text)
      continue;
    if (info->fold != VYRE_FOLD_NONE && !covered[op])
      fail_msg("%s has no case", info->text);
    if (info->fold == VYRE_FOLD_NONE)
      assert_false(vyre_eval(VYRE_ROW(op, U32, 0), 0, 0, (vyre_eval_operand[3]){{0}}, out, &undefined));
  }
}
