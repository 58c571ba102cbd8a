/* Arithmetic on integers.  Kinds of 8 and 16 bits are computed in 32 bits and truncated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "vyre/dot.h"

static uint64_t
ones(vyre_kind kind)
{
  return UINT64_MAX >> (64 - vyre_kind_bits(kind));
}

reg
pgen_cut(gen *g, vyre_kind kind, reg r)
{
  return is_narrow(kind) ? MAKE32(g, "and.b32", r, lit(ones(kind))) : r;
}

reg
pgen_signed(gen *g, vyre_kind kind, reg r)
{
  return is_narrow(kind) ? MAKE32(g, "bfe.s32", r, lit(0), lit(vyre_kind_bits(kind))) : r;
}

reg
pgen_int_op(gen *g, vyre_kind kind, const char *name, const char *sign, reg a, reg b)
{
  char text[64];
  pgen_format(text, "%s.%s%u", name, sign, is_long(kind) ? 64u : 32u);
  return pgen_make(g, is_long(kind) ? REG_64 : REG_32, text, REGS(a, b));
}

static reg
unary(gen *g, vyre_kind kind, const char *name, const char *sign, reg a)
{
  char text[64];
  pgen_format(text, "%s.%s%u", name, sign, is_long(kind) ? 64u : 32u);
  return pgen_make(g, is_long(kind) ? REG_64 : REG_32, text, REGS(pgen_in_register(g, is_long(kind) ? REG_64 : REG_32, a)));
}

static reg
test(gen *g, vyre_kind kind, const char *relation, const char *sign, reg a, reg b)
{
  char text[64];
  pgen_format(text, "setp.%s.%s%u", relation, sign, is_long(kind) ? 64u : 32u);
  return pgen_make(g, REG_PRED, text, REGS(a, b));
}

static reg
choose(gen *g, vyre_kind kind, reg yes, reg no, reg p)
{
  return pgen_select(g, is_long(kind) ? REG_64 : REG_32, yes, no, p);
}

/* Returns -1, MIN and the like, in the width of the computation. */
static reg
signed_literal(vyre_kind kind, uint64_t bits)
{
  return lit(is_long(kind) ? bits : (uint32_t)bits);
}

/* ---- division ------------------------------------------------------------------------------------------------------------- */

/* Returns whether no division by 0 or -1 needs a defined result. */
static bool
is_plain_divisor(const gen *g, uint32_t row, vyre_kind kind)
{
  uint64_t bits;
  return !g->strict || (code_right_constant(&g->w, row, &bits) && bits != 0 && bits != ones(kind));
}

static reg
divide_unsigned(gen *g, uint32_t row, vyre_kind kind, reg a, reg b, bool remainder)
{
  const reg r = pgen_int_op(g, kind, remainder ? "rem" : "div", "u", a, b);
  if (is_plain_divisor(g, row, kind))
    return r;
  return choose(g, kind, remainder ? lit(0) : lit(ones(kind)), r, test(g, kind, "eq", "u", b, lit(0)));
}

/* Divides by 1 instead of 0 and -1, and then selects the defined result. */
static reg
divide_signed(gen *g, uint32_t row, vyre_kind kind, reg a, reg b, bool remainder)
{
  a = pgen_signed(g, kind, a);
  b = pgen_signed(g, kind, b);
  if (is_plain_divisor(g, row, kind))
    return pgen_int_op(g, kind, remainder ? "rem" : "div", "s", a, b);
  const reg zero = test(g, kind, "eq", "s", b, lit(0)), minus = test(g, kind, "eq", "s", b, signed_literal(kind, UINT64_MAX));
  const reg by = choose(g, kind, lit(1), b, PRED(g, "or.pred", zero, minus));
  const reg r = pgen_int_op(g, kind, remainder ? "rem" : "div", "s", a, by);
  if (remainder)
    return r;
  const reg negated = choose(g, kind, unary(g, kind, "neg", "s", a), r, minus);
  return choose(g, kind, signed_literal(kind, UINT64_MAX), negated, zero);
}

static reg
modulo(gen *g, uint32_t row, vyre_kind kind, reg a, reg b)
{
  const reg r = divide_signed(g, row, kind, a, b, true), right = pgen_signed(g, kind, b);
  const reg apart = test(g, kind, "lt", "s", pgen_int_op(g, kind, "xor", "b", r, right), lit(0));
  const reg adjust = PRED(g, "and.pred", test(g, kind, "ne", "s", r, lit(0)), apart);
  return choose(g, kind, pgen_int_op(g, kind, "add", "s", r, right), r, adjust);
}

/* ---- products, saturation ------------------------------------------------------------------------------------------------- */

/* Returns the high half of the product, in the kind's bits. */
static reg
high(gen *g, vyre_kind kind, bool is_signed, reg a, reg b)
{
  if (!is_narrow(kind))
    return pgen_int_op(g, kind, "mul.hi", is_signed ? "s" : "u", a, b);
  if (is_signed)
    a = pgen_signed(g, kind, a), b = pgen_signed(g, kind, b);
  return MAKE32(g, "shr.u32", MAKE32(g, "mul.lo.u32", a, b), lit(vyre_kind_bits(kind)));
}

static reg
clamp_narrow(gen *g, vyre_kind kind, reg r)
{
  const uint32_t top = (uint32_t)(ones(kind) >> 1);
  return MAKE32(g, "max.s32", MAKE32(g, "min.s32", r, lit(top)), lit(~top));
}

/* Returns the greatest value if `of` is not negative, otherwise the least. */
static reg
extreme(gen *g, vyre_kind kind, reg of)
{
  const uint32_t bits = vyre_kind_bits(kind);
  return pgen_int_op(g, kind, "xor", "b",
                     pgen_make(g, is_long(kind) ? REG_64 : REG_32, is_long(kind) ? "shr.s64" : "shr.s32", REGS(of, lit(bits - 1))),
                     lit(ones(kind) >> 1));
}

static reg
saturate_signed(gen *g, vyre_kind kind, vyre_opcode op, reg a, reg b)
{
  const char *name = op == VYRE_OP_saddsat ? "add" : op == VYRE_OP_ssubsat ? "sub" : "mul.lo";
  a = pgen_signed(g, kind, pgen_in_register(g, is_long(kind) ? REG_64 : REG_32, a));
  b = pgen_signed(g, kind, b);
  const reg r = pgen_int_op(g, kind, name, "s", a, b);
  if (is_narrow(kind))
    return clamp_narrow(g, kind, r);
  if (op == VYRE_OP_smulsat) {
    const reg above = pgen_int_op(g, kind, "mul.hi", "s", a, b);
    const reg sign = pgen_make(g, r.klass, is_long(kind) ? "shr.s64" : "shr.s32", REGS(r, lit(vyre_kind_bits(kind) - 1)));
    const reg over = test(g, kind, "ne", "s", above, sign);
    return choose(g, kind, extreme(g, kind, pgen_int_op(g, kind, "xor", "b", a, b)), r, over);
  }
  const reg apart = pgen_int_op(g, kind, "xor", "b", a, b), moved = pgen_int_op(g, kind, "xor", "b", a, r);
  const reg may = op == VYRE_OP_saddsat ? unary(g, kind, "not", "b", apart) : apart;
  const reg over = test(g, kind, "lt", "s", pgen_int_op(g, kind, "and", "b", may, moved), lit(0));
  return choose(g, kind, extreme(g, kind, a), r, over);
}

static reg
saturate_unsigned(gen *g, vyre_kind kind, vyre_opcode op, reg a, reg b)
{
  if (op == VYRE_OP_usubsat)
    return pgen_int_op(g, kind, "sub", "u", pgen_int_op(g, kind, "max", "u", a, b), b);
  const reg r = pgen_int_op(g, kind, op == VYRE_OP_uaddsat ? "add" : "mul.lo", "u", a, b);
  if (is_narrow(kind))
    return MAKE32(g, "min.u32", r, lit(ones(kind)));
  const reg over = op == VYRE_OP_uaddsat ? test(g, kind, "lt", "u", r, a)
                                         : test(g, kind, "ne", "u", pgen_int_op(g, kind, "mul.hi", "u", a, b), lit(0));
  return choose(g, kind, lit(ones(kind)), r, over);
}

static reg
difference(gen *g, vyre_kind kind, bool is_signed, reg a, reg b)
{
  const char *sign = is_signed ? "s" : "u";
  if (is_signed)
    a = pgen_signed(g, kind, a), b = pgen_signed(g, kind, b);
  const reg least = pgen_int_op(g, kind, "min", sign, a, b);
  return pgen_int_op(g, kind, "sub", sign, pgen_int_op(g, kind, "max", sign, a, b), least);
}

static reg
sign_of(gen *g, vyre_kind kind, reg a)
{
  a = pgen_signed(g, kind, a);
  const reg some = choose(g, kind, lit(1), lit(0), test(g, kind, "gt", "s", a, lit(0)));
  return choose(g, kind, signed_literal(kind, UINT64_MAX), some, test(g, kind, "lt", "s", a, lit(0)));
}

/* ---- all ------------------------------------------------------------------------------------------------------------------ */

static reg
signed_pair(gen *g, vyre_kind kind, const char *name, reg a, reg b)
{
  const reg right = pgen_signed(g, kind, b);
  return pgen_int_op(g, kind, name, "s", pgen_signed(g, kind, a), right);
}

/* Computes a result that is not truncated yet. */
static bool
arithmetic(gen *g, uint32_t row, vyre_kind kind, reg a, reg b, reg c, reg *out)
{
  const vyre_opcode op = op_of(g, row);
  reg low;
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_add: *out = pgen_int_op(g, kind, "add", "u", a, b); return true;
  case VYRE_OP_sub: *out = pgen_int_op(g, kind, "sub", "u", a, b); return true;
  case VYRE_OP_mul: *out = pgen_int_op(g, kind, "mul.lo", "u", a, b); return true;
  case VYRE_OP_neg: *out = unary(g, kind, "neg", "s", a); return true;
  case VYRE_OP_udiv: *out = divide_unsigned(g, row, kind, a, b, false); return true;
  case VYRE_OP_umod: *out = divide_unsigned(g, row, kind, a, b, true); return true;
  case VYRE_OP_sdiv: *out = divide_signed(g, row, kind, a, b, false); return true;
  case VYRE_OP_srem: *out = divide_signed(g, row, kind, a, b, true); return true;
  case VYRE_OP_smod: *out = modulo(g, row, kind, a, b); return true;
  case VYRE_OP_sabs: a = pgen_signed(g, kind, a); *out = pgen_int_op(g, kind, "max", "s", a, unary(g, kind, "neg", "s", a)); return true;
  case VYRE_OP_ssign: *out = sign_of(g, kind, a); return true;
  case VYRE_OP_umin: *out = pgen_int_op(g, kind, "min", "u", a, b); return true;
  case VYRE_OP_umax: *out = pgen_int_op(g, kind, "max", "u", a, b); return true;
  case VYRE_OP_smin: *out = signed_pair(g, kind, "min", a, b); return true;
  case VYRE_OP_smax: *out = signed_pair(g, kind, "max", a, b); return true;
  case VYRE_OP_uclamp: *out = pgen_int_op(g, kind, "min", "u", pgen_int_op(g, kind, "max", "u", a, b), c); return true;
  case VYRE_OP_sclamp:
    low = signed_pair(g, kind, "max", a, b);
    *out = pgen_int_op(g, kind, "min", "s", low, pgen_signed(g, kind, c));
    return true;
  case VYRE_OP_umulhi: *out = high(g, kind, false, a, b); return true;
  case VYRE_OP_smulhi: *out = high(g, kind, true, a, b); return true;
  case VYRE_OP_uaddsat: case VYRE_OP_usubsat: case VYRE_OP_umulsat: *out = saturate_unsigned(g, kind, op, a, b); return true;
  case VYRE_OP_saddsat: case VYRE_OP_ssubsat: case VYRE_OP_smulsat: *out = saturate_signed(g, kind, op, a, b); return true;
  case VYRE_OP_uabsdiff: *out = difference(g, kind, false, a, b); return true;
  case VYRE_OP_sabsdiff: *out = difference(g, kind, true, a, b); return true;
  default: return false;
  }
  /* clang-format on */
}

bool
pgen_integer(gen *g, uint32_t row, uint32_t lane, reg *out)
{
  const vyre_view *v = g->v;
  const vyre_kind kind = kind_of(g, v->a[row]);
  reg r;
  if (!vyre_kind_is_int(kind))
    return false;
  const reg a = pgen_value(g, v->a[row], lane), b = v->b[row] || has_literal(g, row) ? pgen_right(g, row, lane) : (reg){0};
  const reg c = v->c[row] ? pgen_value(g, v->c[row], lane) : (reg){0};
  if (!arithmetic(g, row, kind, a, b, c, &r))
    return false;
  *out = pgen_cut(g, kind, r);
  return true;
}

/* Returns a component of an integer dot product, in a register of the result's kind. */
static reg
dot_component(gen *g, uint32_t operand, uint32_t k, bool is_signed, vyre_kind to)
{
  const vyre_kind kind = kind_of(g, operand);
  const reg value = pgen_value(g, operand, k), r = is_signed ? pgen_signed(g, kind, value) : value;
  return !is_long(to) || is_long(kind) ? r : MAKE64(g, is_signed ? "cvt.s64.s32" : "cvt.u64.u32", pgen_in_register(g, REG_32, r));
}

/* Returns the low bits of the sum of products. */
static reg
dot_sum(gen *g, uint32_t row, vyre_kind kind, const vyre_dot_shape *shape)
{
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  char text[64];
  if (shape->packed) { /* 32 bits hold every sum */
    const reg x = pgen_in_register(g, REG_32, pgen_value(g, a, 0)), y = pgen_in_register(g, REG_32, pgen_value(g, b, 0));
    pgen_format(text, "dp4a.%c32.%c32", shape->left_signed ? 's' : 'u', shape->right_signed ? 's' : 'u');
    const reg sum = MAKE32(g, text, x, y, lit(0));
    return !is_long(kind) ? sum : MAKE64(g, shape->left_signed ? "cvt.s64.s32" : "cvt.u64.u32", sum);
  }
  reg sum = {0};
  for (uint32_t k = 0; k < shape->lanes; k++) {
    const reg x = dot_component(g, a, k, shape->left_signed, kind), y = dot_component(g, b, k, shape->right_signed, kind);
    const reg product = pgen_int_op(g, kind, "mul.lo", "u", x, y);
    sum = k ? pgen_int_op(g, kind, "add", "u", sum, product) : product;
  }
  return sum;
}

bool
pgen_integer_dot(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  if (!vyre_op_is_int_dot(op))
    return false;
  const vyre_kind kind = kind_of(g, row);
  const vyre_dot_shape shape = vyre_dot_shape_of(op, VYRE_ROW_TYPE(g->v->op[g->v->a[row]]));
  reg r = pgen_cut(g, kind, dot_sum(g, row, kind, &shape));
  if (g->v->c[row]) {
    const reg c = pgen_value(g, g->v->c[row], 0);
    r = shape.left_signed ? saturate_signed(g, kind, VYRE_OP_saddsat, r, c) : saturate_unsigned(g, kind, VYRE_OP_uaddsat, r, c);
  }
  pgen_define(g, row, 0, pgen_cut(g, kind, r));
  return true;
}

bool
pgen_integer_pair(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  if (op < VYRE_OP_uaddc || op > VYRE_OP_smulx)
    return false;
  const uint32_t x = g->v->a[row], y = g->v->b[row];
  const vyre_kind kind = kind_of(g, x);
  for (uint32_t k = 0; k < lanes_of(g, x); k++) {
    const reg a = pgen_value(g, x, k), b = pgen_value(g, y, k);
    const bool adds = op == VYRE_OP_uaddc, subtracts = op == VYRE_OP_usubb;
    const reg first = pgen_cut(g, kind, pgen_int_op(g, kind, adds ? "add" : subtracts ? "sub" : "mul.lo", "u", a, b));
    reg second;
    if (adds || subtracts)
      second = choose(g, kind, lit(1), lit(0), test(g, kind, "lt", "u", adds ? first : a, adds ? a : b));
    else
      second = pgen_cut(g, kind, high(g, kind, op == VYRE_OP_smulx, a, b));
    pgen_define_part(g, row, 0, k, first);
    pgen_define_part(g, row, 1, k, second);
  }
  return true;
}

reg
pgen_combine_integers(gen *g, vyre_opcode op, vyre_kind kind, reg a, reg b)
{
  if (kind == VYRE_BOOL)
    return PRED(g, op == VYRE_OP_and ? "and.pred" : op == VYRE_OP_or ? "or.pred" : "xor.pred", a, b);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_add: return pgen_cut(g, kind, pgen_int_op(g, kind, "add", "u", a, b));
  case VYRE_OP_mul: return pgen_cut(g, kind, pgen_int_op(g, kind, "mul.lo", "u", a, b));
  case VYRE_OP_umin: return pgen_int_op(g, kind, "min", "u", a, b);
  case VYRE_OP_umax: return pgen_int_op(g, kind, "max", "u", a, b);
  case VYRE_OP_smin: return pgen_cut(g, kind, signed_pair(g, kind, "min", a, b));
  case VYRE_OP_smax: return pgen_cut(g, kind, signed_pair(g, kind, "max", a, b));
  case VYRE_OP_and: return pgen_int_op(g, kind, "and", "b", a, b);
  case VYRE_OP_or: return pgen_int_op(g, kind, "or", "b", a, b);
  default: return pgen_int_op(g, kind, "xor", "b", a, b);
  }
  /* clang-format on */
}
